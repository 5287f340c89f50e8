use std::io::Write as _;
use std::path::PathBuf;

use saltus_fmi::{Export, FmiVersion};

use crate::args::{ExportArgs, FmiStandard};
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message};
use crate::files;
use crate::fmu_runtime::fmu_runtime;
use crate::outputs::Outputs;

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
    let model = crate::given::with_settings(model, &args.settings)?;
    let mut outputs = Outputs::default();
    outputs.add("--output", [&output]);
    outputs.check_not_read(&log.all())?;
    let version = match args.fmi {
        FmiStandard::V2 => FmiVersion::V2,
        FmiStandard::V3 => FmiVersion::V3,
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
