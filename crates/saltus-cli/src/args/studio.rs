//! `saltus studio`

use std::path::PathBuf;

use clap::Args;

use super::common::AccessArgs;

/// What is opened, and how the page is reached.
#[derive(Args, Debug)]
pub(crate) struct StudioArgs {
    /// A Modelica file, a folder, or the qualified name of a class in a library; without it the start page
    #[arg(value_name = "FILE.mo | FOLDER | qualified.Name")]
    pub(crate) target: Option<String>,
    /// A folder with libraries, searched before MODELICAPATH (repeatable)
    #[arg(long = "library", value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// The port of the page, on this computer only; 0: a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Only print the address, the token included; do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

impl StudioArgs {
    /// A file in each place where the page may save.
    pub(crate) fn writes(&self) -> Vec<PathBuf> {
        let target = self.target.iter().map(PathBuf::from);
        target
            .map(|path| match path.is_dir() {
                true => path.join("package.mo"),
                false => path,
            })
            .filter(|path| path.extension().is_some_and(|ending| ending == "mo"))
            .collect()
    }
}
