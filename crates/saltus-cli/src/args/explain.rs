//! `saltus explain`

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The word in brackets after `error`; without it, all codes are listed
    #[arg(value_name = "error-code")]
    pub(crate) code: Option<String>,
}
