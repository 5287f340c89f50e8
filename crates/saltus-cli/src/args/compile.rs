//! `saltus compile`

use std::path::PathBuf;

use clap::Args;

use super::{LimitArgs, Setting, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct CompileArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Value of a parameter or start value (repeatable); it can be set again when the model is run
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<Setting>,
    /// The compiled model; default: <Model>.saltus
    #[arg(long, short, value_name = "FILE.saltus")]
    pub(crate) output: Option<PathBuf>,
    /// Leave the source out: what the structure depends on can then no longer be set
    #[arg(long)]
    pub(crate) without_source: bool,
    /// No text but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}
