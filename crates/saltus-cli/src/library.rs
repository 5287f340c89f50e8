//! `library/Saltus` inside the program, so that models which use it run wherever the program is. A library of that name in a folder of the computer goes before it.

use std::collections::BTreeSet;
use std::path::Path;

use saltus::{LoggedDisk, Stamp, World};

include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Where the files seem to be. No folder of a computer has the name.
pub(crate) const ROOT: &str = "/<saltus>";

/// The files of the computer, and those inside the program.
pub(crate) struct WithLibrary(pub(crate) LoggedDisk);

/// The path below the root.
fn inside(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(ROOT)?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest.trim_end_matches('/')),
        None => rest.is_empty().then_some(""),
    }
}

fn text(path: &str) -> Option<&'static str> {
    FILES
        .iter()
        .find(|(name, _)| *name == path)
        .map(|(_, text)| *text)
}

/// Names in a folder, and whether they are folders.
fn entries(folder: &str) -> BTreeSet<(String, bool)> {
    let below = |name: &&'static str| match folder {
        "" => Some(*name),
        folder => name.strip_prefix(folder)?.strip_prefix('/'),
    };
    let names = FILES.iter().filter_map(|(name, _)| below(name));
    names
        .map(|name| match name.split_once('/') {
            Some((first, _)) => (first.to_owned(), true),
            None => (name.to_owned(), false),
        })
        .collect()
}

impl World for WithLibrary {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match inside(path) {
            Some(own) => text(own)
                .map(|t| t.as_bytes().to_vec())
                .ok_or_else(|| "no such file".to_owned()),
            None => self.0.read(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        match inside(path).map(entries) {
            Some(found) if found.is_empty() => Err("no such folder".to_owned()),
            Some(found) => Ok(found.into_iter().collect()),
            None => self.0.list(path),
        }
    }

    fn is_dir(&self, path: &str) -> bool {
        match inside(path) {
            Some(own) => !entries(own).is_empty(),
            None => self.0.is_dir(path),
        }
    }

    fn is_file(&self, path: &str) -> bool {
        match inside(path) {
            Some(own) => text(own).is_some(),
            None => self.0.is_file(path),
        }
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        match inside(path) {
            Some(_) => None,
            None => self.0.stamp(path),
        }
    }

    fn absolute(&self, path: &str) -> String {
        match inside(path) {
            Some(_) => path.trim_end_matches('/').to_owned(),
            None => self.0.absolute(path),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }

    fn note_read(&self, path: &Path) {
        self.0.note_read(path);
    }

    fn seconds(&self) -> f64 {
        self.0.seconds()
    }

    fn is_computer(&self) -> bool {
        self.0.is_computer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_a_package_with_its_order() {
        let names = |folder: &str| entries(folder).into_iter().map(|e| e.0).collect::<Vec<_>>();
        assert_eq!(names(""), ["Saltus"]);
        assert!(names("Saltus").contains(&"package.order".to_owned()));
        assert!(text("Saltus/package.mo").is_some_and(|t| t.contains("package Saltus")));
        assert_eq!(inside("/<saltus>/Saltus/Blocks/"), Some("Saltus/Blocks"));
        assert_eq!(inside("/<saltus>x"), None);
    }
}
