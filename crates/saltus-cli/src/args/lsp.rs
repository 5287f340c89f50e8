//! `saltus lsp`

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct LspArgs {
    /// A folder with libraries, searched before MODELICAPATH (repeatable)
    #[arg(long = "library", value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    /// Speak over standard input and output; the default, and the only way
    #[arg(long)]
    pub(crate) stdio: bool,
}
