//! Libraries by name and version: the store of the user, the project's `saltus.toml` and `saltus.lock`, and where libraries come from.
//!
//! The store holds folders `Name Version` side by side, so that it is a folder with libraries like any other. The lock has the SHA-256 of each library's files: what is
//! there must be what was added, wherever it is copied to.

pub(crate) mod checksum;
pub(crate) mod index;
pub(crate) mod project;
pub(crate) mod source;
pub(crate) mod unpack;

use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// The store of the user: `SALTUS_STORE`, else `saltus/libraries` in the folder for data.
pub(crate) fn store() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(store) = set("SALTUS_STORE") {
        return Some(PathBuf::from(store));
    }
    let data = set("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(".local/share")))?;
    Some(data.join("saltus/libraries"))
}

/// Folders with libraries that a command finds by itself: those that the project carries, then the store.
pub(crate) fn folders() -> Vec<PathBuf> {
    let vendored = project::Project::around().map(|project| project.vendor());
    let all = vendored.into_iter().chain(store());
    all.filter(|folder| folder.is_dir()).collect()
}

/// A library in a folder: its name and version as its own text says.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) folder: PathBuf,
    /// What it is written for.
    pub(crate) uses: Vec<(String, String)>,
}

/// Reads what a library says of itself.
pub(crate) fn read(folder: &Path) -> Result<Found, Failure> {
    let file = folder.join("package.mo");
    let about = saltus::language::library_info(&file.to_string_lossy())
        .map_err(|e| Failure::command_line(format!("`{}`: {e}", file.display())))?;
    Ok(Found {
        name: about.name,
        version: about.version.unwrap_or_else(|| "0".to_owned()),
        folder: folder.to_owned(),
        uses: about.uses,
    })
}

/// The libraries directly in a folder; the folder itself, if it is one.
pub(crate) fn libraries_in(folder: &Path) -> Result<Vec<Found>, Failure> {
    if folder.join("package.mo").is_file() {
        return Ok(vec![read(folder)?]);
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|e| Failure::command_line(format!("`{}`: {e}", folder.display())))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.join("package.mo").is_file())
        .collect();
    folders.sort();
    folders.iter().map(|folder| read(folder)).collect()
}

/// Where a library of this name and version is, of the folders that are searched.
pub(crate) fn installed(name: &str, version: &str) -> Option<PathBuf> {
    // Both may come from a lock of somebody else.
    if !is_plain(name) || !is_plain(version) {
        return None;
    }
    folders()
        .into_iter()
        .map(|folder| folder.join(format!("{name} {version}")))
        .find(|folder| folder.join("package.mo").is_file())
}

/// A name that a folder may have: no path, nothing hidden.
pub(crate) fn is_plain(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(allowed)
}
