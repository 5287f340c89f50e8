use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use saltus_fmi::{Export, FmiVersion};

use crate::args::{AccessArgs, LimitArgs, Setting, TargetArgs};
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message};
use crate::files;
use crate::fmu_runtime::fmu_runtime;
use crate::outputs::Outputs;

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// The version of the standard, 2.0 or 3.0
    #[arg(long, value_enum, value_name = "2|3")]
    pub(crate) fmi: Version,
    /// Interfaces of the FMU: cs (co-simulation: with our integrators and events)
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "cs",
        default_value = "cs"
    )]
    pub(crate) kind: Vec<Kind>,
    /// Value of a parameter or start value (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<Setting>,
    /// The FMU; default: <Model>.fmu
    #[arg(long, short, value_name = "FILE.fmu")]
    pub(crate) output: Option<PathBuf>,
    /// Put the text of the model into the FMU
    #[arg(long)]
    pub(crate) include_sources: bool,
    /// No text but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Version {
    #[value(name = "2", alias = "2.0")]
    V2,
    #[value(name = "3", alias = "3.0")]
    V3,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// Co-simulation
    Cs,
}

/// `saltus export`
pub(crate) fn export(args: &ExportArgs) -> Outcome {
    let log = engine::read_log();
    let (mut session, class) = engine::open_logged(&args.target, &log)?;
    engine::permit(&mut session, &args.access)?;
    let output = (args.output.clone())
        .unwrap_or_else(|| PathBuf::from(format!("{}.fmu", engine::file_stem(&class))));
    if output.extension().is_none_or(|ending| ending != "fmu") {
        return Err(Failure::command_line(format!(
            "--output: `{}`: an FMU ends with .fmu",
            output.display()
        )));
    }
    files::check_writable(&output)?;
    let runtime = fmu_runtime().map_err(Failure::command_line)?;
    let model = engine::compile(&session, &args.target, &class)?;
    let model = engine::with_settings(model, &args.settings)?;
    let mut outputs = Outputs::default();
    outputs.add("--output", [&output]);
    outputs.check_not_read(&log.all())?;
    let version = match args.fmi {
        Version::V2 => FmiVersion::V2,
        Version::V3 => FmiVersion::V3,
    };
    let export = Export::new(&model, version).with_sources(args.include_sources);
    let bytes = export.to_bytes(&runtime).map_err(engine::failure)?;
    files::write_file(&output, |out| out.write_all(&bytes))?;
    if !args.quiet {
        let warnings = model.warnings().to_string();
        if !warnings.is_empty() {
            message(warnings.trim_end());
        }
        message(&format!(
            "{class}: {} bytes; {}",
            bytes.len(),
            output.display()
        ));
    }
    Ok(Exit::Done)
}
