use std::io::Write as _;
use std::path::PathBuf;

use crate::args::CompileArgs;
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message};
use crate::files;
use crate::outputs::Outputs;

/// `saltus compile`
pub(crate) fn compile(args: &CompileArgs) -> Outcome {
    let log = engine::read_log();
    let (session, class) = engine::open_logged(&args.target, &log)?;
    let output = (args.output.clone())
        .unwrap_or_else(|| PathBuf::from(format!("{}.saltus", engine::file_stem(&class))));
    if !engine::is_compiled(&output) {
        return Err(Failure::command_line(format!(
            "--output: `{}`: a compiled model ends with .saltus",
            output.display()
        )));
    }
    files::check_writable(&output)?;
    let model = engine::compile(&session, &args.target, &class)?;
    let mut model = crate::given::with_settings(model, &args.settings)?;
    if args.without_source {
        model = model.without_source();
    }
    let mut outputs = Outputs::default();
    outputs.add("--output", [&output]);
    outputs.check_not_read(&log.all())?;
    let bytes = model.to_bytes();
    files::write_file(&output, |out| out.write_all(&bytes))?;
    let warnings = model.warnings().to_string();
    if !args.quiet {
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
