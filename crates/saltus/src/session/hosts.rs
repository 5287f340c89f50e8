//! What functions of a model may reach, while it is compiled and while it runs.

use super::Session;
use crate::disk::{CompileFiles, RunFiles};
use crate::permissions::{DeclaredForeign, declared_foreign};
use crate::world_files::WorldFiles;
use saltus_ir::external::Host;
use saltus_ir::func::{ForeignCode, FunctionBody};
use saltus_structure::StructuredSystem;
use saltus_syntax::SourceMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the functions of a model use of what is around it; what they may do there is another question.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Surroundings {
    /// Folders with libraries.
    #[serde(with = "paths")]
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders of the model's own files.
    #[serde(with = "paths")]
    pub(crate) beside: Vec<PathBuf>,
    /// Folders of the libraries that the model uses.
    #[serde(with = "paths")]
    pub(crate) packages: Vec<PathBuf>,
    /// Files that the model was read from.
    #[serde(with = "paths")]
    pub(crate) sources: Vec<PathBuf>,
    /// External functions that are not built in. Whose code may run is decided from this, so it is never taken from a file.
    #[serde(skip)]
    pub(crate) declared: Vec<DeclaredForeign>,
    pub(crate) brought: Vec<ForeignCode>,
}

/// Paths in a file are text.
mod paths {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::PathBuf;

    pub(super) fn serialize<S: Serializer>(
        paths: &[PathBuf],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        texts.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        Ok(texts.into_iter().map(PathBuf::from).collect())
    }
}

impl Session {
    /// Folders of the libraries from which texts were read.
    fn used_packages(&self, sources: &SourceMap) -> Vec<PathBuf> {
        let files = sources.files().map(|file| Path::new(&file.name));
        let is_library = |folder: &&Path| {
            let around = folder.parent();
            self.given
                .libraries
                .iter()
                .any(|library| Some(library.as_path()) == around)
        };
        files
            .filter(|file| file.file_name().is_some_and(|name| name == "package.mo"))
            .filter_map(Path::parent)
            .filter(is_library)
            .map(Path::to_path_buf)
            .collect()
    }

    /// Files of a world that is not the computer.
    fn world_files(&self, packages: Vec<PathBuf>) -> WorldFiles {
        WorldFiles {
            world: self.given.texts.world.clone(),
            libraries: self.given.libraries.clone(),
            packages,
        }
    }

    /// What functions may read while the model is compiled.
    pub(super) fn compile_host(&self) -> Arc<dyn Host> {
        if self.given.texts.world.is_computer() {
            Arc::new(CompileFiles(self.run_files()))
        } else {
            Arc::new(self.world_files(Vec::new()))
        }
    }

    /// What the functions of a model that was just structured use of what is around it.
    pub(super) fn surroundings(
        &self,
        system: &StructuredSystem,
        sources: &SourceMap,
    ) -> Surroundings {
        Surroundings {
            libraries: self.given.libraries.clone(),
            beside: self.folders_of_sources(),
            packages: self.used_packages(sources),
            sources: files_of(sources),
            declared: declared_foreign(system, sources),
            brought: foreign_code(system),
        }
    }

    /// What functions of a model may reach when it runs.
    pub(crate) fn run_host(&self, around: &Surroundings) -> Arc<dyn Host> {
        let Surroundings {
            libraries,
            beside,
            packages,
            sources,
            declared,
            brought,
        } = around.clone();
        if !self.given.texts.world.is_computer() {
            return Arc::new(WorldFiles {
                libraries,
                ..self.world_files(packages)
            });
        }
        Arc::new(RunFiles {
            libraries,
            beside,
            packages,
            sources,
            declared,
            brought,
            ..self.run_files()
        })
    }

    fn run_files(&self) -> RunFiles {
        RunFiles {
            world: self.given.texts.world.clone(),
            libraries: self.given.libraries.clone(),
            beside: self.folders_of_sources(),
            packages: Vec::new(),
            permissions: self.given.permissions.clone(),
            sources: Vec::new(),
            declared: Vec::new(),
            brought: Vec::new(),
            #[cfg(unix)]
            foreign: Default::default(),
        }
    }

    /// Where the texts given by file lie; other texts have no place.
    fn folders_of_sources(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for given in self.given.texts.given() {
            let path = Path::new(&given.name);
            if path.is_file()
                && let Some(folder) = path.parent()
                && !folders.iter().any(|known| known == folder)
            {
                folders.push(folder.to_owned());
            }
        }
        folders
    }
}

/// Names of the files that texts were read from; texts that were given without a file have none.
fn files_of(sources: &SourceMap) -> Vec<PathBuf> {
    (sources.files())
        .map(|file| PathBuf::from(&file.name))
        .filter(|path| path.is_file())
        .collect()
}

/// The C code that external functions of the model bring, but for those that are built in; each once, plain source before what needs libraries.
fn foreign_code(system: &StructuredSystem) -> Vec<ForeignCode> {
    let mut codes: Vec<ForeignCode> = Vec::new();
    for (_, function) in system.flat.ir.functions.iter() {
        let FunctionBody::External(external) = &function.body else {
            continue;
        };
        let is_own = !saltus_ir::external::is_of_standard_library(external.name.as_str());
        if is_own && !external.code.include.is_empty() && !codes.contains(&external.code) {
            codes.push(external.code.clone());
        }
    }
    codes.sort_by_key(|code| !code.libraries.is_empty());
    codes
}
