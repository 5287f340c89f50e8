//! `saltus show`

use clap::{Args, ValueEnum};

use super::{AccessArgs, LimitArgs, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// What to print
    #[arg(long, value_enum)]
    pub(crate) stage: Stage,
    /// How: text, and for structure, mode and jacobian also json and svg
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub(crate) format: ShowFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ShowFormat {
    Text,
    Json,
    /// Incidence as written and sorted, digraph with causal, torn and residual edges
    Svg,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Stage {
    /// The syntax tree
    Ast,
    /// The flat model: variables and scalar equations
    Flat,
    /// States, blocks in order, torn variables, events
    Structure,
    /// Modes that a run enters: what selects them, their states, index and systems of equations
    Mode,
    /// What the check of units finds, before equations are counted
    Units,
    /// Which derivatives depend on which states, and the same for the unknowns of blocks
    Jacobian,
}
