//! Which files were looked at: those that were read, folders that were listed, and paths at which nothing was found. A result holds as long as all of them are as they
//! were.

use crate::world::{Disk, Stamp, World};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

type Observer = Box<dyn Fn(&Path) + Send>;

/// A list of paths that several sessions may share.
#[derive(Clone, Default)]
pub struct ReadLog(Arc<Mutex<Looked>>);

#[derive(Default)]
struct Looked {
    seen: FxHashSet<PathBuf>,
    /// Those that nobody has asked for yet.
    new: Vec<PathBuf>,
    observer: Option<Observer>,
}

impl ReadLog {
    /// A log that passes each path on when it is seen first.
    pub fn with_observer(observer: impl Fn(&Path) + Send + 'static) -> ReadLog {
        let log = ReadLog::default();
        log.lock().observer = Some(Box::new(observer));
        log
    }

    pub(crate) fn note(&self, path: &Path) {
        let mut looked = self.lock();
        if looked.seen.contains(path) {
            return;
        }
        // The working folder may change.
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        looked.seen.insert(path.to_owned());
        if let Some(observer) = &looked.observer {
            observer(&full);
        }
        looked.new.push(full);
    }

    /// All paths that were noted, sorted.
    pub fn all(&self) -> Vec<PathBuf> {
        let looked = self.lock();
        let mut paths: Vec<PathBuf> = looked.seen.iter().cloned().collect();
        paths.sort();
        paths
    }

    /// Paths that were noted since the last call.
    pub fn take_new(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.lock().new)
    }

    fn lock(&self) -> MutexGuard<'_, Looked> {
        // A panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The files of the computer, with a list of those that were looked at.
pub struct LoggedDisk {
    log: ReadLog,
}

impl LoggedDisk {
    pub fn new(log: &ReadLog) -> LoggedDisk {
        LoggedDisk { log: log.clone() }
    }
}

impl World for LoggedDisk {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.log.note(Path::new(path));
        Disk.read(path)
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        self.log.note(Path::new(path));
        Disk.list(path)
    }

    fn is_dir(&self, path: &str) -> bool {
        Disk.is_dir(path)
    }

    fn is_file(&self, path: &str) -> bool {
        let is_there = Disk.is_file(path);
        if !is_there {
            self.log.note(Path::new(path));
        }
        is_there
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.log.note(Path::new(path));
        Disk.stamp(path)
    }

    fn absolute(&self, path: &str) -> String {
        Disk.absolute(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        Disk.variable(name)
    }

    fn note_read(&self, path: &Path) {
        self.log.note(path);
    }

    fn seconds(&self) -> f64 {
        Disk.seconds()
    }

    fn is_computer(&self) -> bool {
        true
    }
}
