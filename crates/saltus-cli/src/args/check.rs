//! `saltus check`

use clap::Args;

use super::{LimitArgs, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
