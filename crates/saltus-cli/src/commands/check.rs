use crate::args::{CheckArgs, Format};
use crate::engine;
use crate::exit::{Exit, Outcome, message, print};

/// `saltus check`
pub(crate) fn check(args: CheckArgs) -> Outcome {
    if args.format == Format::Json {
        let (text, is_right) = engine::check_json(&args.target)?;
        print(&text)?;
        return Ok(if is_right { Exit::Done } else { Exit::Model });
    }
    let report = engine::check(&args.target)?;
    if !report.messages.is_empty() {
        message(report.messages.trim_end());
    }
    print(&report.summary)?;
    Ok(Exit::Done)
}
