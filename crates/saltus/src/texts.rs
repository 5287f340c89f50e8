//! The texts of a session: those that were given, laid over the files of the world, each parsed once.
//!
//! A file keeps its number and its tree as long as its text stays the same. A changed file keeps its number and gets a new tree; models that were
//! compiled before hold on to the old one. So memory does not grow with the number of edits.

use crate::world::{Stamp, World, entries_below};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use saltus_flatten::Files;
use saltus_syntax::{Diagnostic, FileId, ParsedFile, SourceFile};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A text that was given.
#[derive(Clone)]
pub(crate) struct Given {
    /// As the user wrote its path.
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    /// Its classes are at the top level whatever folder it is in.
    pub(crate) is_top_level: bool,
}

/// What is known of a file whose text was read.
#[derive(Clone)]
struct Kept {
    stamp: Option<Stamp>,
    parsed: Arc<ParsedFile>,
}

#[derive(Clone, Default)]
struct Trees {
    /// By absolute path.
    kept: FxHashMap<String, Kept>,
    n_files: u32,
    /// Numbers of files that were removed.
    free: Vec<FileId>,
}

pub(crate) struct Texts {
    pub(crate) world: Arc<dyn World>,
    /// By absolute path, in the order in which they were given.
    given: IndexMap<String, Given>,
    trees: Mutex<Trees>,
}

/// The texts as they are now; the trees are shared, and what is parsed later is not.
impl Clone for Texts {
    fn clone(&self) -> Texts {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        Texts {
            world: self.world.clone(),
            given: self.given.clone(),
            trees: Mutex::new(trees.clone()),
        }
    }
}

impl Texts {
    pub(crate) fn new(world: Arc<dyn World>) -> Texts {
        Texts {
            world,
            given: IndexMap::new(),
            trees: Mutex::default(),
        }
    }

    pub(crate) fn set(&mut self, given: Given) {
        self.given.insert(self.world.absolute(&given.name), given);
    }

    /// True if the text was there.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let key = self.world.absolute(name);
        let trees = self.trees.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = trees.kept.remove(&key) {
            trees.free.push(kept.parsed.file);
        }
        self.given.shift_remove(&key).is_some()
    }

    pub(crate) fn given(&self) -> impl Iterator<Item = &Given> {
        self.given.values()
    }

    /// A given text that lies in a package of one of these library folders is found there, as a file of the package is. The classes of all others
    /// are top-level classes.
    pub(crate) fn is_in_library(&self, given: &Given, libraries: &[String]) -> bool {
        if given.is_top_level {
            return false;
        }
        let path = self.world.absolute(&given.name);
        libraries.iter().any(|library| {
            let library = self.world.absolute(library);
            let inside = path
                .strip_prefix(&library)
                .map(|rest| rest.trim_start_matches('/'));
            let package = inside.and_then(|rest| rest.split_once('/'));
            package.is_some_and(|(package, _)| {
                self.is_file(&format!("{library}/{package}/package.mo"))
            })
        })
    }

    /// The tree of a text. Its number is the one that the path has had before.
    fn tree(&self, path: &str, name: &str, stamp: Option<Stamp>, text: &str) -> Arc<ParsedFile> {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match trees.kept.get_mut(path) {
            Some(kept) if kept.parsed.source.text == text && kept.parsed.source.name == name => {
                kept.stamp = stamp;
                return kept.parsed.clone();
            }
            Some(kept) => kept.parsed.file,
            None => trees.free.pop().unwrap_or_else(|| {
                trees.n_files += 1;
                FileId(trees.n_files - 1)
            }),
        };
        let source = Arc::new(SourceFile::new(name, text));
        let parsed = Arc::new(ParsedFile::new(file, source));
        let kept = Kept {
            stamp,
            parsed: parsed.clone(),
        };
        trees.kept.insert(path.to_owned(), kept);
        parsed
    }

    /// The tree of a file that has not changed since it was read last.
    fn unchanged(&self, path: &str, name: &str, stamp: Stamp) -> Option<Arc<ParsedFile>> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = trees.kept.get(path)?;
        let same = kept.stamp == Some(stamp) && kept.parsed.source.name == name;
        same.then(|| kept.parsed.clone())
    }

    fn is_given(&self, path: &str) -> bool {
        !self.given.is_empty() && self.given.contains_key(&self.world.absolute(path))
    }

    /// Entries that given texts add to a folder.
    fn given_below(&self, path: &str) -> BTreeMap<String, bool> {
        if self.given.is_empty() {
            return BTreeMap::new();
        }
        let folder = self.world.absolute(path);
        entries_below(&folder, self.given.keys().map(String::as_str))
    }
}

impl Files for Texts {
    fn parsed(&self, path: &str) -> Result<Arc<ParsedFile>, Box<Diagnostic>> {
        let key = self.world.absolute(path);
        if let Some(given) = self.given.get(&key) {
            return Ok(self.tree(&key, &given.name, None, &given.text));
        }
        let stamp = self.world.stamp(path);
        if let Some(parsed) = stamp.and_then(|stamp| self.unchanged(&key, path, stamp)) {
            return Ok(parsed);
        }
        let bytes = self.world.read(path).map_err(|why| {
            let message = format!("cannot read `{path}`: {why}");
            Box::new(Diagnostic::placeless("file-not-found", message))
        })?;
        let text = saltus_syntax::source::decode(path, bytes)?;
        Ok(self.tree(&key, path, stamp, &text))
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        let given = self.given_below(path);
        match self.world.list(path) {
            Ok(entries) if given.is_empty() => Ok(entries),
            Ok(entries) => {
                let all: BTreeMap<String, bool> = given.into_iter().chain(entries).collect();
                Ok(all.into_iter().collect())
            }
            Err(_) if !given.is_empty() => Ok(given.into_iter().collect()),
            Err(why) => Err(why),
        }
    }

    fn is_dir(&self, path: &str) -> bool {
        self.world.is_dir(path) || !self.given_below(path).is_empty()
    }

    fn is_file(&self, path: &str) -> bool {
        self.is_given(path) || self.world.is_file(path)
    }
}
