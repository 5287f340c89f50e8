//! `saltus compare` and `saltus recover`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::not_negative;

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// A result file, .csv or .mat
    pub(crate) result: PathBuf,
    /// The reference, .csv or .mat
    pub(crate) reference: PathBuf,
    /// Names to compare, one per line; default: all variables of the reference
    #[arg(long, value_name = "FILE")]
    pub(crate) signals: Option<PathBuf>,
    /// Half-height of the tube as a share of the signal's range
    #[arg(long, value_name = "SHARE", default_value = "0.002", value_parser = not_negative)]
    pub(crate) tolerance: f64,
    /// Smallest half-height of the tube as a share of the signal's size: what the reference resolves
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = not_negative)]
    pub(crate) resolution: f64,
    /// Half-width of the tube as a share of the duration, and at most two rows of the reference
    #[arg(long, value_name = "SHARE", default_value = "0.002", value_parser = not_negative)]
    pub(crate) time_tolerance: f64,
    /// Share of the time that a signal may be outside
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = not_negative)]
    pub(crate) allow_outside: f64,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    /// Result files, .csv or .mat
    #[arg(required = true, value_name = "RESULT")]
    pub(crate) results: Vec<PathBuf>,
}
