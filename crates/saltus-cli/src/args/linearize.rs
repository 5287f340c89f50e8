//! `saltus linearize`, `saltus steady-state` and `saltus profile`

use std::path::PathBuf;

use clap::Args;

use super::values::{finite, positive};
use super::{AccessArgs, Format, LimitArgs, SetArgs, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct LinearizeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// The time of the run at which the model is linearised; default: its start
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) at: Option<f64>,
    /// Where nothing moves, instead of a time of the run
    #[arg(long, conflicts_with = "at")]
    pub(crate) at_rest: bool,
    /// Relative tolerance of the run to that time; default: experiment annotation, else 1e-6
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// The integrator
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// A, B, C, D, names, poles and zeros as .json or .mat (repeatable)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    /// A Bode plot of every input and output
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) bode: Option<PathBuf>,
    /// Poles and zeros in the complex plane
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) poles: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SteadyStateArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Variables that are shown beside the states; `*` and `?` stand for any text and one character (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) variables: Vec<String>,
    /// Relative tolerance where the model runs for a while; default: experiment annotation, else 1e-6
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// The integrator
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Default: experiment annotation, else 0
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) start_time: Option<f64>,
    /// Default: experiment annotation, else 1
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) stop_time: Option<f64>,
    /// Relative tolerance; default: experiment annotation, else 1e-6
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// The integrator
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    /// Lines, blocks and causes of events that are listed
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
