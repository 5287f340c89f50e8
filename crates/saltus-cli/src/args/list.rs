//! `saltus parameters` and `saltus variables`

use clap::Args;

use super::{AccessArgs, Format, LimitArgs, SetArgs, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Only names that match; `*` and `?` stand for any text and one character (repeatable)
    #[arg(long = "filter", value_name = "GLOB")]
    pub(crate) filters: Vec<String>,
    /// Protected and hidden ones, too
    #[arg(long)]
    pub(crate) all: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
