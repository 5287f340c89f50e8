//! `saltus plot`

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct PlotArgs {
    /// A result file, .mat, .csv or .parquet
    #[arg(required_unless_present_any = ["steps", "timeline"])]
    pub(crate) result: Option<PathBuf>,
    /// Names of variables, `*` and `?` as in `--variables`; further result files are drawn over the first
    #[arg(required_unless_present_any = ["steps", "timeline"])]
    pub(crate) variables: Vec<String>,
    /// Draw the step sizes of a run instead, from the file of `simulate --steps`
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["result", "over", "timeline"])]
    pub(crate) steps: Option<PathBuf>,
    /// Draw what happened when instead, a row for each kind and cause, from the event log of `simulate --events`
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["result", "over", "events"])]
    pub(crate) timeline: Option<PathBuf>,
    /// The picture, .svg, .pdf or .png by its ending; default: a plot in the terminal
    #[arg(long, short, value_name = "FILE", required_unless_present = "result")]
    pub(crate) output: Option<PathBuf>,
    /// Event log of the run; its times are drawn as faint lines, many as their density
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Draw over this variable instead of time: a phase plot
    #[arg(long, value_name = "NAME", conflicts_with = "events")]
    pub(crate) over: Option<String>,
    /// A reference: it and the tube around it, as `saltus compare` has it, are drawn behind the result
    #[arg(long, value_name = "REFERENCE", conflicts_with = "over")]
    pub(crate) compare: Option<PathBuf>,
    /// Draw values in the units in which they are computed, not in their display units
    #[arg(long)]
    pub(crate) plain_units: bool,
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Width in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = saltus_plot::WIDTH_DEFAULT)]
    pub(crate) width: u32,
    /// Height in pixels; default: by the number of panels
    #[arg(long, value_name = "PIXELS", default_value_t = saltus_plot::HEIGHT_DEFAULT)]
    pub(crate) height: u32,
}
