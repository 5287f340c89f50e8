//! `saltus study`

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// Which one (`saltus study list` names them); default: all
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Where pages and pictures are written; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "study")]
    pub(crate) output: PathBuf,
}
