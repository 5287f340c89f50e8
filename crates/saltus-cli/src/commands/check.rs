use crate::args::CheckArgs;
use crate::engine;
use crate::exit::{Exit, Outcome, message, print};

/// `saltus check`
pub(crate) fn check(args: CheckArgs) -> Outcome {
    let report = engine::check(&args.target)?;
    if !report.messages.is_empty() {
        message(report.messages.trim_end());
    }
    print(&report.summary)?;
    Ok(Exit::Done)
}
