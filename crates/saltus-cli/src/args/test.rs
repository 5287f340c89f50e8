//! `saltus test`

use std::path::PathBuf;

use clap::Args;

use super::AccessArgs;
use super::values::positive;

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// A library by name or folder, a package of one, or a folder of files
    #[arg(value_name = "LIBRARY | FOLDER")]
    pub(crate) target: String,
    /// A folder with libraries, searched before MODELICAPATH (repeatable)
    #[arg(long = "library", value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    /// Reference results: the layout of the Modelica Association, files Qualified.Name.csv, or samples Qualified_Name.txt; default: the library's own, in
    /// Resources/ReferenceResults/Dymola
    #[arg(long, value_name = "DIR")]
    pub(crate) reference: Option<PathBuf>,
    /// Only models with a reference
    #[arg(long)]
    pub(crate) referenced_only: bool,
    /// Only models whose name matches; `*` and `?` stand for any text and one character (repeatable)
    #[arg(long = "filter", value_name = "GLOB")]
    pub(crate) filters: Vec<String>,
    /// Models that run at the same time; default: number of cores
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Seconds per model, compiling included
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0, value_parser = positive)]
    pub(crate) timeout: f64,
    /// Megabytes of address space per model (Unix only)
    #[arg(long, value_name = "MB", default_value_t = 6000)]
    pub(crate) memory: u64,
    /// Write a report: .json, .xml (JUnit), .html with pictures or .md by its ending (repeatable); a run that was ended goes on
    /// from the journal beside the first
    #[arg(long = "report", value_name = "FILE")]
    pub(crate) reports: Vec<PathBuf>,
    /// An earlier JSON report: say who moved, and fail only if a model came less far
    #[arg(long, value_name = "OLD.json")]
    pub(crate) baseline: Option<PathBuf>,
    /// Keep the result files in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Run all models again, also those of a run that was ended
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// No line per model
    #[arg(long)]
    pub(crate) quiet: bool,
}
