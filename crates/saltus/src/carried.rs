//! The source of a compiled model, carried with it: values that the structure depends on can be changed where the source is not.
//!
//! Comes in: the session that compiled a model, and the files that it read. Goes out: bytes, and from them a session on a world that answers for these files as the
//! original did. The texts that were read are carried; of other files of the same libraries the names are, so that a name is looked up as before. Reading such
//! a file is an error. Files that are no source (tables) are those of the world around.

use crate::error::Error;
use crate::session::{BoundInputs, Session};
use crate::texts::Given;
use crate::world::{Stamp, World, entries_below};
use saltus_ir::flat::InlineMethod;
use saltus_syntax::SourceMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Packages inside of packages; deeper folders are not looked at.
const DEPTH_MAX: usize = 64;
/// Highest level of `miniz_oxide` that is still fast.
const COMPRESSION: u8 = 6;

/// Where a model can be compiled from.
pub(crate) enum Source {
    Session(Session),
    Carried {
        bytes: Vec<u8>,
        /// Permissions, and files that are no source.
        around: Session,
        opened: OnceLock<Session>,
    },
}

impl Source {
    pub(crate) fn carried(bytes: Vec<u8>, around: Session) -> Source {
        Source::Carried {
            bytes,
            around,
            opened: OnceLock::new(),
        }
    }

    pub(crate) fn session(&self) -> Result<&Session, Error> {
        match self {
            Source::Session(session) => Ok(session),
            Source::Carried {
                bytes,
                around,
                opened,
            } => match opened.get() {
                Some(session) => Ok(session),
                None => {
                    let session = open(bytes, around)?;
                    Ok(opened.get_or_init(|| session))
                }
            },
        }
    }

    /// As bytes, with the files of one compilation.
    pub(crate) fn pack(&self, sources: &SourceMap) -> Vec<u8> {
        match self {
            Source::Session(session) => Pack::new(session, sources).to_bytes(),
            Source::Carried { bytes, .. } => bytes.clone(),
        }
    }
}

/// What is carried.
#[derive(Serialize, Deserialize)]
struct Pack {
    /// Absolute paths.
    libraries: Vec<String>,
    inlined: Vec<(String, InlineMethod)>,
    inputs: BoundInputs,
    /// Name, text, and whether its classes are at the top level in any case.
    given: Vec<(String, String, bool)>,
    /// Files of the libraries by absolute path; `None`: only its name is known.
    files: BTreeMap<String, Option<String>>,
}

impl Pack {
    fn new(session: &Session, sources: &SourceMap) -> Pack {
        let world = &**session.world();
        let absolute = |path: &PathBuf| world.absolute(&path.to_string_lossy());
        let libraries: Vec<String> = session.library_paths().iter().map(absolute).collect();
        let given: Vec<&Given> = session.given_texts().collect();
        let mut files = BTreeMap::new();
        for library in &libraries {
            note_library(world, library, sources, &mut files);
        }
        for file in sources.files() {
            if given.iter().all(|given| given.name != file.name) {
                files.insert(world.absolute(&file.name), Some(file.text.clone()));
            }
        }
        Pack {
            libraries,
            inlined: session.inlined().to_vec(),
            inputs: session.bound_inputs().clone(),
            given: (given.into_iter())
                .map(|given| {
                    (
                        given.name.clone(),
                        given.text.to_string(),
                        given.is_top_level,
                    )
                })
                .collect(),
            files,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let plain = match postcard::to_stdvec(self) {
            Ok(bytes) => bytes,
            Err(error) => unreachable!("writing to memory: {error}"),
        };
        miniz_oxide::deflate::compress_to_vec(&plain, COMPRESSION)
    }
}

/// Names of the sources of a library folder: of libraries that were read all of them, of others that they are there.
fn note_library(
    world: &dyn World,
    library: &str,
    sources: &SourceMap,
    files: &mut BTreeMap<String, Option<String>>,
) {
    for (name, is_dir) in world.list(library).unwrap_or_default() {
        let path = format!("{library}/{name}");
        if !is_dir {
            note_file(path, files);
            continue;
        }
        let package = format!("{path}/package.mo");
        let is_read = |file: &saltus_syntax::SourceFile| world.absolute(&file.name) == package;
        if sources.files().any(is_read) {
            note_package(world, &path, files, DEPTH_MAX);
        } else if world.is_file(&package) {
            files.insert(package, None);
        }
    }
}

fn note_package(
    world: &dyn World,
    folder: &str,
    files: &mut BTreeMap<String, Option<String>>,
    depth: usize,
) {
    for (name, is_dir) in world.list(folder).unwrap_or_default() {
        let path = format!("{folder}/{name}");
        if !is_dir {
            note_file(path, files);
        } else if depth > 0 && world.is_file(&format!("{path}/package.mo")) {
            note_package(world, &path, files, depth - 1);
        }
    }
}

fn note_file(path: String, files: &mut BTreeMap<String, Option<String>>) {
    if path.ends_with(".mo") {
        files.insert(path, None);
    }
}

fn open(bytes: &[u8], around: &Session) -> Result<Session, Error> {
    let unreadable = |why: String| {
        Error::Usage(format!(
            "the source that the compiled model carries cannot be read: {why}"
        ))
    };
    let plain = miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, PLAIN_MAX)
        .map_err(|error| unreadable(error.to_string()))?;
    let pack: Pack = postcard::from_bytes(&plain).map_err(|error| unreadable(error.to_string()))?;
    let texts = (pack.given.into_iter())
        .map(|(name, text, is_top_level)| Given {
            name,
            text: text.into(),
            is_top_level,
        })
        .collect();
    let libraries: Vec<PathBuf> = pack.libraries.iter().map(PathBuf::from).collect();
    let world = CarriedWorld {
        roots: pack.libraries,
        files: pack.files,
        around: around.world().clone(),
    };
    Ok(around.on_carried(Arc::new(world), texts, libraries, pack.inlined, pack.inputs))
}

/// Largest source that is taken out of a compiled model, in bytes.
const PLAIN_MAX: usize = 1 << 30;

/// The files of a compiled model; others are those of the world around.
struct CarriedWorld {
    /// Library folders, absolute.
    roots: Vec<String>,
    files: BTreeMap<String, Option<String>>,
    around: Arc<dyn World>,
}

impl CarriedWorld {
    /// Sources below the library folders are answered for, and nothing else.
    fn answers_for(&self, path: &str) -> bool {
        let path = self.absolute(path);
        let is_below = |root: &String| {
            let rest = path.strip_prefix(root.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.roots.iter().any(is_below)
    }

    fn is_source(path: &str) -> bool {
        path.ends_with(".mo")
    }
}

impl World for CarriedWorld {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match self.files.get(&self.absolute(path)) {
            Some(Some(text)) => Ok(text.clone().into_bytes()),
            Some(None) => Err(
                "the compiled model does not carry this file; compile the model again from its source".to_owned(),
            ),
            None if self.answers_for(path) && Self::is_source(path) => {
                Err("the compiled model does not know this file".to_owned())
            }
            None => self.around.read(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        if !self.answers_for(path) {
            return self.around.list(path);
        }
        let folder = self.absolute(path);
        let entries = entries_below(&folder, self.files.keys().map(String::as_str));
        match entries.is_empty() {
            true => Err("the compiled model does not know this folder".to_owned()),
            false => Ok(entries.into_iter().collect()),
        }
    }

    fn is_dir(&self, path: &str) -> bool {
        match self.answers_for(path) {
            true => self.list(path).is_ok(),
            false => self.around.is_dir(path),
        }
    }

    fn is_file(&self, path: &str) -> bool {
        match self.answers_for(path) && Self::is_source(path) {
            true => self.files.contains_key(&self.absolute(path)),
            false => self.around.is_file(path),
        }
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        match self.files.contains_key(&self.absolute(path)) {
            true => None,
            false => self.around.stamp(path),
        }
    }

    fn absolute(&self, path: &str) -> String {
        self.around.absolute(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.around.variable(name)
    }

    fn note_read(&self, path: &Path) {
        self.around.note_read(path);
    }

    fn seconds(&self) -> f64 {
        self.around.seconds()
    }

    fn is_computer(&self) -> bool {
        self.around.is_computer()
    }
}
