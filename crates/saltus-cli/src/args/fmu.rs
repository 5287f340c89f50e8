//! Arguments of `saltus fmu`, and those of `saltus simulate` for FMUs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
pub(crate) struct FmuArgs {
    #[command(subcommand)]
    pub(crate) verb: FmuVerb,
}

#[derive(Subcommand, Debug)]
pub(crate) enum FmuVerb {
    /// Say what an FMU is and what its variables are; nothing of it is run
    Info(FmuInfoArgs),
}

#[derive(Args, Debug)]
pub(crate) struct FmuInfoArgs {
    #[arg(value_name = "FILE.fmu")]
    pub(crate) fmu: PathBuf,
}

/// How an FMU is run.
#[derive(Args, Debug)]
pub(crate) struct ForeignFmuArgs {
    /// Let the FMU run: its library can do whatever you can do
    #[arg(long)]
    pub(crate) allow_fmu: bool,
    /// Run the FMU in a process of its own: if it crashes, what was computed stays
    #[arg(long)]
    pub(crate) isolate: bool,
    /// Interface of the FMU: cs (its own integrator) or me (ours); default: cs if it has it
    #[arg(long, value_enum)]
    pub(crate) fmu_kind: Option<FmuKindArg>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FmuKindArg {
    Cs,
    Me,
}
