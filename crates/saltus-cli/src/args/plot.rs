//! `saltus plot`

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct PlotArgs {
    /// A result file, .csv or .mat
    #[arg(required_unless_present_any = ["steps", "timeline"])]
    pub(crate) result: Option<PathBuf>,
    /// Names of variables
    #[arg(required_unless_present_any = ["steps", "timeline"])]
    pub(crate) variables: Vec<String>,
    /// Draw the step sizes of a run instead, from the file of `simulate --steps`
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["result", "over", "timeline"])]
    pub(crate) steps: Option<PathBuf>,
    /// Draw what happened when instead, a row for each kind and cause, from the event log of `simulate --events`
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["result", "over", "events"])]
    pub(crate) timeline: Option<PathBuf>,
    /// The picture; .png too if the program was built with the feature `png`
    #[arg(long, short, value_name = "FILE.svg")]
    pub(crate) output: PathBuf,
    /// Event log of the run; its times are drawn as faint lines
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Draw over this variable instead of time: a phase plot
    #[arg(long, value_name = "NAME", conflicts_with = "events")]
    pub(crate) over: Option<String>,
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Width in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = saltus_plot::WIDTH_DEFAULT)]
    pub(crate) width: u32,
    /// Height in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = saltus_plot::HEIGHT_DEFAULT)]
    pub(crate) height: u32,
}
