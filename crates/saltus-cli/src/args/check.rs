//! `saltus check`

use clap::Args;

use super::{Format, LimitArgs, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// json: one object with all that was found, places included
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
