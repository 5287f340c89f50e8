use crate::args::ShowArgs;
use crate::engine;
use crate::exit::{Exit, Outcome, print};

/// `saltus show`
pub(crate) fn show(args: ShowArgs) -> Outcome {
    print(&engine::show(
        &args.target,
        &args.access,
        args.stage,
        args.format,
    )?)?;
    Ok(Exit::Done)
}
