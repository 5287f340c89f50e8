//! Arguments of `saltus export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{AccessArgs, LimitArgs, Setting, TargetArgs};

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
    pub(crate) fmi: FmiStandard,
    /// Interfaces of the FMU: cs (co-simulation: with our integrators and events)
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "cs",
        default_value = "cs"
    )]
    pub(crate) kind: Vec<FmuKind>,
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
pub(crate) enum FmiStandard {
    #[value(name = "2", alias = "2.0")]
    V2,
    #[value(name = "3", alias = "3.0")]
    V3,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FmuKind {
    /// Co-simulation
    Cs,
}
