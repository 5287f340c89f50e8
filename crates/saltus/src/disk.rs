//! Access to the disk, for the class tree and for external functions.

use saltus_flatten::Files;
use saltus_ir::external::{FileKind, Host};
use std::io::Write;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use {
    crate::foreign::Foreign,
    saltus_ir::eval::ExternalError,
    saltus_ir::external::{ForeignCall, ForeignReply},
};

/// Largest source file that is read.
const FILE_SIZE_MAX: u64 = 512 << 20;

pub(crate) struct Disk;

impl Files for Disk {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        read(Path::new(path))
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        let entries = std::fs::read_dir(path).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| e.to_string())?;
            // Names that are not UTF-8 cannot be class names.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            out.push((name, entry.path().is_dir()));
        }
        out.sort();
        Ok(out)
    }

    fn is_dir(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }

    fn is_file(&self, path: &str) -> bool {
        Path::new(path).is_file()
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let size = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
    if size > FILE_SIZE_MAX {
        return Err(format!(
            "the file has {size} bytes, more than {FILE_SIZE_MAX}"
        ));
    }
    std::fs::read(path).map_err(|e| e.to_string())
}

/// Files of a run: tables and the like. `modelica://Library/path` is looked for in the library folders.
pub(crate) struct RunFiles {
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders of the model's own files: a package that is one file has its resources beside it.
    pub(crate) beside: Vec<PathBuf>,
    #[cfg(unix)]
    pub(crate) foreign: Foreign,
}

impl Host for RunFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        read(&self.resolve(path))
    }

    fn full_path(&self, path: &str) -> Result<String, String> {
        let full = std::path::absolute(self.resolve(path)).map_err(|e| e.to_string())?;
        Ok(full.display().to_string())
    }

    fn kind(&self, path: &str) -> FileKind {
        match std::fs::metadata(self.resolve(path)) {
            Err(_) => FileKind::Missing,
            Ok(there) if there.is_dir() => FileKind::Directory,
            Ok(there) if there.is_file() => FileKind::Regular,
            Ok(_) => FileKind::Special,
        }
    }

    fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), String> {
        let inside = inside_working_folder(path)?;
        let opened = std::fs::OpenOptions::new()
            .create(true)
            .write(true)
            .append(append)
            .truncate(!append)
            .open(inside);
        opened
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|e| format!("`{path}` cannot be written: {e}"))
    }

    fn remove(&self, path: &str) -> Result<(), String> {
        match std::fs::remove_file(inside_working_folder(path)?) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("`{path}` cannot be removed: {e}"))
            }
            _ => Ok(()),
        }
    }

    #[cfg(unix)]
    fn foreign(&self, call: &ForeignCall<'_>) -> Result<ForeignReply, ExternalError> {
        self.foreign.call(call, &|uri| self.resolve(uri))
    }
}

/// Models change files in the working folder and below it only, wherever links lead.
fn inside_working_folder(path: &str) -> Result<PathBuf, String> {
    let here = std::env::current_dir()
        .and_then(|folder| folder.canonicalize())
        .map_err(|e| format!("there is no working folder: {e}"))?;
    let full = here.join(path);
    // The file need not be there, its folder must be.
    let target = match full.canonicalize() {
        Ok(there) => Some(there),
        Err(_) => (full.parent().and_then(|folder| folder.canonicalize().ok()))
            .zip(full.file_name())
            .map(|(folder, name)| folder.join(name)),
    };
    match target {
        Some(target) if target.starts_with(&here) => Ok(target),
        Some(_) => Err(format!(
            "models may change files in the working folder only, and `{path}` is outside"
        )),
        None => Err(format!(
            "`{path}` cannot be written: there is no such folder"
        )),
    }
}

impl RunFiles {
    fn resolve(&self, path: &str) -> PathBuf {
        let Some(rest) = path.strip_prefix("modelica://") else {
            return PathBuf::from(path);
        };
        let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
        let in_library = |library: &PathBuf| {
            let plain = library.join(rest);
            let single = library.join(format!("{package}.mo")).is_file();
            let beside = single.then(|| library.join(inside));
            [Some(plain), beside].into_iter().flatten()
        };
        let found = (self.libraries.iter().flat_map(in_library))
            .chain(self.beside.iter().map(|folder| folder.join(inside)))
            .find(|p| p.exists());
        found.unwrap_or_else(|| PathBuf::from(rest))
    }
}
