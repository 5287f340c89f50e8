//! The command line: the verbs here, the arguments of each in a file of its own.

mod check;
mod common;
mod compare;
mod compile;
mod explain;
mod export;
mod fmu;
mod format;
mod plot;
mod show;
mod simulate;
mod study;
mod sweep;
mod test;
mod values;

use clap::{Parser, Subcommand};

pub(crate) use check::CheckArgs;
pub(crate) use common::{AccessArgs, LimitArgs, TargetArgs};
pub(crate) use compare::{CompareArgs, Format, RecoverArgs};
pub(crate) use compile::CompileArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::{ExportArgs, FmiStandard};
pub(crate) use fmu::{FmuArgs, FmuInfoArgs, FmuKindArg, FmuVerb, ForeignFmuArgs};
pub(crate) use format::FormatArgs;
pub(crate) use plot::PlotArgs;
pub(crate) use show::{ShowArgs, ShowFormat, Stage};
pub(crate) use simulate::SimulateArgs;
pub(crate) use study::StudyArgs;
pub(crate) use sweep::{Axis, SweepArgs};
pub(crate) use test::TestArgs;
pub(crate) use values::{PlotRequest, Setting, StartFrom};

/// Compiles Modelica models and simulates them, jumps included.
#[derive(Parser, Debug)]
#[command(name = "saltus", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Parse, flatten, count and verify a model
    Check(CheckArgs),
    /// Compile a model into a file that runs on any machine, without the source
    Compile(CompileArgs),
    /// Run a model
    Simulate(Box<SimulateArgs>),
    /// Print a stage of a model's translation
    Show(ShowArgs),
    /// Draw variables of a result as SVG
    Plot(PlotArgs),
    /// Compare a result with a reference inside a tube; exit code 0 equal, 1 different
    Compare(CompareArgs),
    /// Cut results of runs that were killed behind their last whole row, for readers that need that
    Recover(RecoverArgs),
    /// Run all models of a library that have an experiment annotation; exit code 0 if all pass
    Test(Box<TestArgs>),
    /// Run a model with all combinations of values, on all cores, into one table
    Sweep(Box<SweepArgs>),
    /// Run studies of methods and models: tables, checks, pictures; exit code 0 if all numbers are right
    Study(StudyArgs),
    /// Lay out Modelica texts
    Format(FormatArgs),
    /// Make an FMU of a model: a file that other simulators run
    Export(Box<ExportArgs>),
    /// Look at an FMU
    Fmu(FmuArgs),
    /// Explain an error code
    Explain(ExplainArgs),
}

impl Command {
    /// The limits of commands that only compile.
    pub(crate) fn limits(&self) -> Option<&LimitArgs> {
        match self {
            Command::Check(args) => Some(&args.limits),
            Command::Compile(args) => Some(&args.limits),
            Command::Export(args) => Some(&args.limits),
            Command::Show(args) => Some(&args.limits),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
