//! `saltus simulate`

use std::path::PathBuf;

use clap::Args;

use super::values::{finite, positive};
use super::{AccessArgs, ForeignFmuArgs, PlotRequest, SetArgs, StartFrom, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) fmu: ForeignFmuArgs,
    /// Default: experiment annotation, else 0
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) start_time: Option<f64>,
    /// Default: experiment annotation, else 1
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) stop_time: Option<f64>,
    /// Relative tolerance; default: experiment annotation, else 1e-6
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// Distance of output points; default: experiment annotation, else 500 intervals
    #[arg(long, value_name = "SECONDS", value_parser = positive, conflicts_with = "intervals")]
    pub(crate) interval: Option<f64>,
    /// Number of output intervals
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) intervals: Option<u32>,
    /// The integrator: auto, dopri5, dop853, radau, esdirk or bdf; for study euler, rk4, runge-kutta-simpson, rkf45, backward-euler, trapezoidal or
    /// lobatto
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    /// How events are located in their brackets; `saltus study event-methods` compares the methods
    #[arg(long, value_name = "NAME")]
    pub(crate) event_method: Option<String>,
    /// How events are noticed within a step: all (every root of the interpolant), or the textbook's sign-change, derivative or sturm, which may miss some
    #[arg(long, value_name = "NAME")]
    pub(crate) event_detection: Option<String>,
    /// How the first of several events in a step is told apart: together, or the textbook's regula-falsi or golden-section
    #[arg(long, value_name = "NAME")]
    pub(crate) event_isolation: Option<String>,
    /// Where infinitely many events come to a limit: continue (at rest) or stop
    #[arg(long, value_name = "WHAT")]
    pub(crate) zeno: Option<String>,
    /// Step of the integrators of --inline; default: annotation of the model, else the distance of output points
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) inline_step: Option<f64>,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    /// Result file, .csv, .mat or .parquet by its ending; `-` is CSV on standard output; default: <Model>_res.mat
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only variables that match, hidden ones too; `*` and `?` stand for any text and one character (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) variables: Vec<String>,
    /// Event log, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Statistics as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) stats: Option<PathBuf>,
    /// Sizes of the accepted steps, CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) steps: Option<PathBuf>,
    /// A picture of variables over time, .svg, .pdf or .png; without a file a plot in the terminal (repeatable)
    #[arg(long = "plot", value_name = "VAR,VAR[=FILE.svg]")]
    pub(crate) plots: Vec<PlotRequest>,
    /// Begin where an earlier run has been, at its end or at a time inside it; the initial equations are not used
    #[arg(long, value_name = "RESULT[@TIME]")]
    pub(crate) start_from: Option<StartFrom>,
    /// Integrate across discontinuities without locating them
    #[arg(long)]
    pub(crate) no_events: bool,
    /// Interpret the model, never compile it to machine code; the result is the same
    #[arg(long)]
    pub(crate) interpret: bool,
    /// Compile all of the model to machine code at once, not only what runs often; the result is the same
    #[arg(long, conflicts_with = "interpret")]
    pub(crate) native: bool,
    /// Give up after so many seconds, compiling included; what was computed is kept
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) max_wall: Option<f64>,
    /// Run again whenever a file changes that the model is read from, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// No text but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}
