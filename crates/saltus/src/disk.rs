//! Access to the disk, for the class tree and for external functions.

use saltus_flatten::Files;
use saltus_ir::external::Host;
use std::path::{Path, PathBuf};

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
}

impl Host for RunFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        read(&self.resolve(path))
    }
}

impl RunFiles {
    fn resolve(&self, path: &str) -> PathBuf {
        let Some(rest) = path.strip_prefix("modelica://") else {
            return PathBuf::from(path);
        };
        let found = self
            .libraries
            .iter()
            .map(|l| l.join(rest))
            .find(|p| p.exists());
        found.unwrap_or_else(|| PathBuf::from(rest))
    }
}
