//! `saltus convert`

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// What is written for an older version: a library by name or folder, a folder of files, or a file
    #[arg(value_name = "LIBRARY | FOLDER | FILE.mo")]
    pub(crate) target: String,
    /// The version that it is to be written for
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: String,
    /// The used library whose version changes
    #[arg(long, value_name = "NAME", default_value = "Modelica")]
    pub(crate) of: String,
    /// The version that the text is written for; default: what its annotation `uses` says
    #[arg(long, value_name = "VERSION")]
    pub(crate) from: Option<String>,
    /// A folder with libraries, searched before MODELICAPATH: the new version must be in one (repeatable)
    #[arg(long = "library", value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    /// Write the converted files into this folder and leave the old ones as they are
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Only say what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}
