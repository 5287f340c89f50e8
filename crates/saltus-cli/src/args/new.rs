//! `saltus new` and `saltus completions`

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// The name of the package; a folder of that name is made
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The folder in which it is made; default: the working folder
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
