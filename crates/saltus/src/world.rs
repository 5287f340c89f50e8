//! Everything outside: files, environment, clock. A [`Session`](crate::Session) reaches it through this trait and in no other way.

use crate::disk;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// What a session can see of the world. [`Disk`] is the computer's, [`Memory`] is a set of texts.
///
/// A product with files of its own (an archive, a browser) implements this trait:
///
/// ```
/// use saltus::{Session, World};
///
/// struct OneFile;
/// impl World for OneFile {
///     fn read(&self, path: &str) -> Result<Vec<u8>, String> {
///         match path {
///             "/lib/Decay.mo" => Ok(b"model Decay Real x(start = 1, fixed = true); equation der(x) = -x; end Decay;".to_vec()),
///             _ => Err("there is no such file".to_owned()),
///         }
///     }
///     fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
///         match path {
///             "/lib" => Ok(vec![("Decay.mo".to_owned(), false)]),
///             _ => Err("there is no such folder".to_owned()),
///         }
///     }
/// }
/// let mut session = Session::with_world(OneFile);
/// session.add_library_path("/lib");
/// assert_eq!(session.compile("Decay")?.info().name, "Decay");
/// # Ok::<(), saltus::Error>(())
/// ```
pub trait World: Send + Sync {
    /// The bytes of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Entries of a folder, sorted by name: the name, and whether it is a folder.
    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String>;

    fn is_dir(&self, path: &str) -> bool {
        self.list(path).is_ok()
    }

    fn is_file(&self, path: &str) -> bool {
        self.read(path).is_ok()
    }

    /// Changes whenever the file does; `None`: unknown, the file is read and compared.
    fn stamp(&self, path: &str) -> Option<Stamp> {
        let _ = path;
        None
    }

    /// The path from the root, without `.` and `..`. Links are not followed.
    fn absolute(&self, path: &str) -> String {
        normalise(path)
    }

    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Called for each file that a function of a model reads from the computer directly.
    fn note_read(&self, path: &Path) {
        let _ = path;
    }

    /// Wall-clock seconds from any fixed instant; they only ever grow.
    fn seconds(&self) -> f64 {
        0.0
    }

    /// True: functions of a model use the computer's files and commands directly, within the permissions of the session. Otherwise they only read
    /// the files of this world.
    fn is_computer(&self) -> bool {
        false
    }
}

/// Size of a file and when it was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    pub bytes: u64,
    pub nanoseconds: u128,
}

/// The stamp of a file that was changed more recently than this is not relied upon.
const STAMP_AGE_MIN: Duration = Duration::from_secs(1);

/// The files of the computer.
#[derive(Clone, Copy, Default, Debug)]
pub struct Disk;

impl World for Disk {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        disk::read(Path::new(path))
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
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            out.push((name, path.is_dir() && !(is_link && leads_back(&path))));
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

    fn stamp(&self, path: &str) -> Option<Stamp> {
        let about = std::fs::metadata(path).ok()?;
        let modified = about.modified().ok()?;
        // A file may change twice within the resolution of the file system's clock.
        if modified.elapsed().ok()? < STAMP_AGE_MIN {
            return None;
        }
        Some(Stamp {
            bytes: about.len(),
            nanoseconds: modified.duration_since(UNIX_EPOCH).ok()?.as_nanos(),
        })
    }

    fn absolute(&self, path: &str) -> String {
        match std::path::absolute(path) {
            Ok(full) => normalise(&full.to_string_lossy()),
            Err(_) => normalise(path),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn seconds(&self) -> f64 {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_secs_f64()
    }

    fn is_computer(&self) -> bool {
        true
    }
}

/// A link to one of the folders through which it is reached: whoever followed it would never come to an end.
fn leads_back(link: &Path) -> bool {
    let (Ok(full), Ok(target)) = (std::path::absolute(link), link.canonicalize()) else {
        return false;
    };
    let mut folders = full.ancestors().skip(1);
    folders.any(|folder| folder.canonicalize().is_ok_and(|real| real == target))
}

/// Files that are in memory only: tests, editors, a browser.
///
/// ```
/// use saltus::{Memory, Session};
///
/// let mut world = Memory::default();
/// world.add("/lib/Tanks/package.mo", "package Tanks end Tanks;");
/// world.add("/lib/Tanks/Empty.mo", "within Tanks; model Empty Real h = 0; end Empty;");
/// let mut session = Session::with_world(world);
/// session.add_library_path("/lib");
/// assert_eq!(session.compile("Tanks.Empty")?.info().n_equations, 1);
/// # Ok::<(), saltus::Error>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct Memory {
    files: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    /// Adds a file, or replaces it.
    pub fn add(&mut self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.insert(normalise(path), content.into());
    }
}

impl World for Memory {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let file = self.files.get(&normalise(path));
        file.cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        let folder = normalise(path);
        let entries = entries_below(&folder, self.files.keys().map(String::as_str));
        match entries.is_empty() {
            true => Err("no such folder".to_owned()),
            false => Ok(entries.into_iter().collect()),
        }
    }

    fn is_file(&self, path: &str) -> bool {
        self.files.contains_key(&normalise(path))
    }
}

/// What lies directly in a folder, given the paths of files: names, and whether each is a folder. All paths are normalised.
pub(crate) fn entries_below<'p>(
    folder: &str,
    paths: impl Iterator<Item = &'p str>,
) -> BTreeMap<String, bool> {
    paths
        .filter_map(|path| path.strip_prefix(folder))
        .filter_map(|rest| match folder.ends_with('/') || folder.is_empty() {
            true => Some(rest),
            false => rest.strip_prefix('/'),
        })
        .map(|rest| match rest.split_once('/') {
            Some((name, _)) => (name.to_owned(), true),
            None => (rest.to_owned(), false),
        })
        .collect()
}

/// A path without `.`, `..` and double separators, by its text alone.
pub(crate) fn normalise(path: &str) -> String {
    let path = if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if is_rooted => {}
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    if is_rooted {
        format!("/{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_without_dots() {
        for (path, expected) in [
            ("a/./b//c.mo", "a/b/c.mo"),
            ("/lib/Modelica/../Modelica/Blocks", "/lib/Modelica/Blocks"),
            ("../a", "../a"),
            ("/../a", "/a"),
            ("", ""),
        ] {
            assert_eq!(normalise(path), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_in_memory_lists_its_own_entries_only() {
        let mut world = Memory::default();
        for path in ["/lib/A/package.mo", "/lib/A/B/package.mo", "/lib/AB.mo"] {
            world.add(path, "");
        }
        let entry = |name: &str, is_dir| (name.to_owned(), is_dir);
        assert_eq!(
            world.list("/lib"),
            Ok(vec![entry("A", true), entry("AB.mo", false)])
        );
        assert_eq!(
            world.list("/lib/A"),
            Ok(vec![entry("B", true), entry("package.mo", false)])
        );
        assert!(!world.is_dir("/other") && !world.is_file("/lib/A"));
    }
}
