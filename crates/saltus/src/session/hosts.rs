//! What functions of a model may reach, while it is compiled and while it runs.

use super::Session;
use crate::disk::{CompileFiles, RunFiles};
use crate::permissions::declared_foreign;
use crate::world_files::WorldFiles;
use saltus_ir::external::Host;
use saltus_ir::func::{ForeignCode, FunctionBody};
use saltus_structure::StructuredSystem;
use saltus_syntax::SourceMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

    /// What functions of the model may reach when it runs.
    pub(super) fn run_host(&self, system: &StructuredSystem, sources: &SourceMap) -> Arc<dyn Host> {
        let packages = self.used_packages(sources);
        if !self.given.texts.world.is_computer() {
            return Arc::new(self.world_files(packages));
        }
        Arc::new(RunFiles {
            packages,
            sources: files_of(sources),
            declared: declared_foreign(system, sources),
            brought: foreign_code(system),
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
