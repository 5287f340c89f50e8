//! Which files the page may see and change: those of the opened folder, the opened file, and, to be read only, those of the library folders.
//!
//! Comes in: paths from the page, which nobody trusts. Goes out: real paths without links that lead elsewhere, or a refusal.

use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};

/// Files and folders of the opened folder that are listed; more are not looked at.
const LISTED_MAX: usize = 5000;
/// Folders inside each other that are listed.
const DEPTH_MAX: usize = 12;

/// What was given on the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Opened {
    File(PathBuf),
    Folder(PathBuf),
    /// The qualified name of a class in a library.
    Class(String),
}

pub struct Workspace {
    pub(crate) opened: Option<Opened>,
    /// Real paths: where may be written.
    folder: Option<PathBuf>,
    file: Option<PathBuf>,
    /// Real paths of folders that may be read.
    libraries: Vec<PathBuf>,
}

/// A file of the opened folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) path: String,
    /// Below the opened folder.
    pub(crate) name: String,
}

impl Workspace {
    /// Fails if what is opened is not there.
    pub fn new(opened: Option<Opened>, libraries: &[PathBuf]) -> io::Result<Workspace> {
        let (mut folder, mut file) = (None, None);
        match &opened {
            Some(Opened::Folder(path)) => folder = Some(path.canonicalize()?),
            Some(Opened::File(path)) => file = Some(path.canonicalize()?),
            Some(Opened::Class(_)) | None => {}
        }
        let real = libraries.iter().filter_map(|dir| dir.canonicalize().ok());
        Ok(Workspace {
            libraries: real.collect(),
            opened,
            folder,
            file,
        })
    }

    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The real path of a Modelica text that may be read.
    pub(crate) fn readable(&self, path: &str) -> Result<PathBuf, String> {
        let refused = || {
            format!("`{path}` is outside of the opened folder and of the libraries, or not there")
        };
        let real = Path::new(path).canonicalize().map_err(|_| refused())?;
        let in_library = self.libraries.iter().any(|dir| real.starts_with(dir));
        match is_modelica(&real) && (in_library || self.is_own(&real)) {
            true => Ok(real),
            false => Err(refused()),
        }
    }

    /// Where a text may be written: in the opened folder, or the opened file. Relative paths are below the opened folder.
    pub(crate) fn writable(&self, path: &str) -> Result<PathBuf, String> {
        let refused = || match (&self.folder, &self.file) {
            (None, None) => {
                "nothing can be saved: start `saltus studio` with a file or folder".to_owned()
            }
            _ => format!("`{path}` is not in what was opened, or does not end with .mo"),
        };
        let given = match &self.folder {
            Some(folder) => folder.join(path),
            None => PathBuf::from(path),
        };
        // Of a file that is not there yet, its folder.
        let real = match given.canonicalize() {
            Ok(real) => real,
            Err(_) if given.is_symlink() => return Err(refused()),
            Err(_) => {
                let (Some(folder), Some(name)) = (given.parent(), given.file_name()) else {
                    return Err(refused());
                };
                folder.canonicalize().map_err(|_| refused())?.join(name)
            }
        };
        match is_modelica(&real) && self.is_own(&real) && !real.is_dir() {
            true => Ok(real),
            false => Err(refused()),
        }
    }

    fn is_own(&self, real: &Path) -> bool {
        let in_folder = (self.folder.as_ref()).is_some_and(|folder| real.starts_with(folder));
        in_folder || self.file.as_deref() == Some(real)
    }

    /// The Modelica texts of the opened folder.
    pub(crate) fn files(&self) -> Vec<Entry> {
        let mut out = Vec::new();
        if let Some(folder) = &self.folder {
            list(folder, folder, 0, &mut out);
        }
        out
    }
}

fn is_modelica(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "mo")
}

fn list(root: &Path, folder: &Path, depth: usize, out: &mut Vec<Entry>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if out.len() >= LISTED_MAX {
            return;
        }
        let is_hidden = (path.file_name()).is_none_or(|n| n.to_string_lossy().starts_with('.'));
        if is_hidden || path.is_symlink() {
            continue;
        }
        if path.is_dir() && depth < DEPTH_MAX {
            list(root, &path, depth + 1, out);
        } else if is_modelica(&path) {
            let name = path.strip_prefix(root).unwrap_or(&path);
            out.push(Entry {
                name: name.display().to_string(),
                path: path.display().to_string(),
            });
        }
    }
}
