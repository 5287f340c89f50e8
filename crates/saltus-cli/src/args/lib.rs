//! `saltus lib`

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct LibArgs {
    #[command(subcommand)]
    pub(crate) verb: LibVerb,
}

#[derive(Subcommand, Debug)]
pub(crate) enum LibVerb {
    /// Install libraries and note them in saltus.toml and saltus.lock; without names, all of the lock
    Add(LibAddArgs),
    /// Take libraries out of the project
    Remove(LibRemoveArgs),
    /// List the libraries of the project and of the store
    List,
    /// Take the newest versions of the index
    Update(LibUpdateArgs),
    /// Copy the project's libraries beside it, into its folder `libraries`
    Vendor,
    /// Show which library uses which
    Tree,
}

#[derive(Args, Debug)]
pub(crate) struct LibAddArgs {
    /// Name@version of an index, a folder, a .zip file, an address of one, or a git address (URL.git#revision)
    #[arg(value_name = "NAME@VERSION | FOLDER | FILE.zip | URL")]
    pub(crate) libraries: Vec<String>,
    /// The index: a file, a folder with index.toml, or a URL; default: SALTUS_INDEX
    #[arg(long, value_name = "FILE | FOLDER | URL")]
    pub(crate) index: Option<String>,
    /// The SHA-256 that the archive must have
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct LibRemoveArgs {
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Delete them from the store, too
    #[arg(long)]
    pub(crate) purge: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LibUpdateArgs {
    /// Which; default: all
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// The index: a file, a folder with index.toml, or a URL; default: SALTUS_INDEX
    #[arg(long, value_name = "FILE | FOLDER | URL")]
    pub(crate) index: Option<String>,
}

impl LibArgs {
    /// The folder of the store must be there to be written.
    pub(crate) fn store() -> Option<PathBuf> {
        crate::installed::store()
    }
}
