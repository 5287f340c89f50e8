//! The files of a world that is not the computer, for functions of a model: they are read and nothing else.

use crate::disk::inside_library;
use crate::world::World;
use saltus_ir::external::{FileKind, Host};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) struct WorldFiles {
    pub(crate) world: Arc<dyn World>,
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders of the libraries that the model uses.
    pub(crate) packages: Vec<PathBuf>,
}

impl WorldFiles {
    /// The path of a file; `modelica://Library/path` is looked for in the folders of the libraries.
    fn resolve(&self, path: &str) -> String {
        let Some(rest) = path.strip_prefix("modelica://") else {
            return path.to_owned();
        };
        let (class, path) = rest.split_once('/').unwrap_or((rest, ""));
        let package = class.split('.').next().unwrap_or(class);
        let insides = inside_library(class, path);
        let is_of_package = |folder: &&PathBuf| {
            let name = folder.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.split(' ').next() == Some(package))
        };
        let used = self.packages.iter().filter(is_of_package).cloned();
        let plain = self.libraries.iter().map(|library| library.join(package));
        let candidates = (used.chain(plain))
            .flat_map(|folder| insides.iter().map(move |inside| folder.join(inside)))
            .map(|path| path.display().to_string());
        let mut there =
            candidates.filter(|path| self.world.is_file(path) || self.world.is_dir(path));
        there.next().unwrap_or_else(|| rest.to_owned())
    }
}

impl Host for WorldFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let read = self.world.read(&self.resolve(path));
        read.map_err(|why| format!("`{path}` cannot be read: {why}"))
    }

    fn full_path(&self, path: &str) -> Result<String, String> {
        Ok(self.world.absolute(&self.resolve(path)))
    }

    fn kind(&self, path: &str) -> FileKind {
        let path = self.resolve(path);
        if self.world.is_file(&path) {
            FileKind::Regular
        } else if self.world.is_dir(&path) {
            FileKind::Directory
        } else {
            FileKind::Missing
        }
    }

    fn folder(&self, path: &str) -> Result<String, String> {
        let resolved = self.resolve(path);
        match self.world.is_dir(&resolved) {
            true => Ok(self.world.absolute(&resolved)),
            false => Err(format!("`{path}` is not a folder")),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, String> {
        let entries = self.world.list(&self.resolve(path));
        let entries = entries.map_err(|why| format!("`{path}`: {why}"))?;
        Ok(entries.into_iter().map(|(name, _)| name).collect())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.world.variable(name)
    }
}
