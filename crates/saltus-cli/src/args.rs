//! The command line: the verbs here, the arguments of each in a file of its own.

mod check;
mod common;
mod compare;
mod compile;
mod convert;
mod explain;
mod export;
mod fmu;
mod format;
mod lib;
mod linearize;
mod list;
mod lsp;
mod new;
mod plot;
mod show;
mod simulate;
mod studio;
mod study;
mod sweep;
mod test;
mod values;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use check::CheckArgs;
pub(crate) use common::{AccessArgs, GivenArgs, LimitArgs, SetArgs, TargetArgs};
pub(crate) use compare::{CompareArgs, Format, RecoverArgs};
pub(crate) use compile::CompileArgs;
pub(crate) use convert::ConvertArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::{ExportArgs, FmiStandard};
pub(crate) use fmu::{FmuArgs, FmuInfoArgs, FmuKindArg, FmuVerb, ForeignFmuArgs};
pub(crate) use format::FormatArgs;
pub(crate) use lib::{LibAddArgs, LibArgs, LibRemoveArgs, LibUpdateArgs, LibVerb};
pub(crate) use linearize::{LinearizeArgs, ProfileArgs, SteadyStateArgs};
pub(crate) use list::ListArgs;
pub(crate) use lsp::LspArgs;
pub(crate) use new::{CompletionsArgs, NewArgs};
pub(crate) use plot::PlotArgs;
pub(crate) use show::{ShowArgs, ShowFormat, Stage};
pub(crate) use simulate::SimulateArgs;
pub(crate) use studio::StudioArgs;
pub(crate) use study::StudyArgs;
pub(crate) use sweep::{AxisValues, NamedMeasure, SamplingArg, Shard, SweepArgs};
pub(crate) use test::TestArgs;
pub(crate) use values::{InputRequest, PlotRequest, Setting, StartFrom};

/// Compiles Modelica models and simulates them, jumps included.
#[derive(Parser, Debug)]
#[command(name = "saltus", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Colours in messages; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, global = true, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Parse, flatten, count and verify a model
    Check(CheckArgs),
    /// Compile a model into a file that runs on any machine, without the source
    Compile(CompileArgs),
    /// Run a model
    Simulate(Box<SimulateArgs>),
    /// List what can be set: name, value, unit, range, type, description
    Parameters(Box<ListArgs>),
    /// List what is computed: name, start value, unit, range, type, description
    Variables(Box<ListArgs>),
    /// The linear system near a point of the run: A, B, C, D, poles, zeros
    Linearize(Box<LinearizeArgs>),
    /// The point at which nothing moves, and whether it is stable
    SteadyState(Box<SteadyStateArgs>),
    /// Where the time of a run goes: stages, steps, events by cause, blocks, the most expensive lines
    Profile(Box<ProfileArgs>),
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
    /// Rewrite a library for another version of one that it uses, by the scripts of that version
    Convert(ConvertArgs),
    /// Make an FMU of a model: a file that other simulators run
    Export(Box<ExportArgs>),
    /// Look at an FMU
    Fmu(FmuArgs),
    /// Install libraries by name and version, with a lock
    Lib(LibArgs),
    /// Serve editors: the language server protocol over standard input and output
    Lsp(LspArgs),
    /// Explain an error code
    Explain(ExplainArgs),
    /// See, change and understand models in the browser; prints the address of the page first
    Studio(StudioArgs),
    /// Make a package: a model, a test with its reference, a saltus.toml
    New(NewArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

impl Command {
    /// The limits of commands that only compile.
    pub(crate) fn limits(&self) -> Option<&LimitArgs> {
        match self {
            Command::Check(args) => Some(&args.limits),
            Command::Compile(args) => Some(&args.limits),
            Command::Export(args) => Some(&args.limits),
            Command::Show(args) => Some(&args.limits),
            Command::Parameters(args) | Command::Variables(args) => Some(&args.limits),
            Command::Linearize(args) => Some(&args.limits),
            Command::SteadyState(args) => Some(&args.limits),
            Command::Profile(args) => Some(&args.limits),
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
