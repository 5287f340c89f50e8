//! Folders for intermediate files that nobody else can prepare or read.
//!
//! The operating system makes the folder under a name that was free, with access for this account alone. A name that exists already is never used, so another
//! account cannot make the folder first and place files in it. The folder is removed with all that is in it when the value is dropped.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where folders are made instead of the temporary folder of the system, once it is set.
static ROOT: OnceLock<PathBuf> = OnceLock::new();

/// A folder of this process alone.
pub struct PrivateFolder {
    path: PathBuf,
}

impl PrivateFolder {
    /// Makes a folder in the temporary folder of the system. `purpose` is part of its name.
    pub fn new(purpose: &str) -> io::Result<PrivateFolder> {
        match ROOT.get() {
            Some(root) => PrivateFolder::new_in(root, purpose),
            None => PrivateFolder::new_in(&std::env::temp_dir(), purpose),
        }
    }

    /// Makes a folder in another folder.
    pub fn new_in(parent: &Path, purpose: &str) -> io::Result<PrivateFolder> {
        let made = make(parent, purpose);
        made.map(|path| PrivateFolder { path })
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", parent.display())))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on all folders of [`PrivateFolder::new`] are made in this one. The first call decides.
    pub(crate) fn becomes_root(&self) {
        // A second call finds the first folder, which serves as well.
        let _ = ROOT.set(self.path.clone());
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(unix)]
fn make(parent: &Path, purpose: &str) -> io::Result<PathBuf> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStringExt;
    let pattern = parent.join(format!("saltus-{purpose}-XXXXXX"));
    let mut bytes = CString::new(pattern.into_os_string().into_vec())?.into_bytes_with_nul();
    // SAFETY: the pattern ends with a zero and is changed in place, in its own length.
    let made = unsafe { libc::mkdtemp(bytes.as_mut_ptr().cast()) };
    if made.is_null() {
        return Err(io::Error::last_os_error());
    }
    bytes.pop();
    Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Names that are tried.
#[cfg(not(unix))]
const NAMES_MAX: u64 = 100;

#[cfg(not(unix))]
fn make(parent: &Path, purpose: &str) -> io::Result<PathBuf> {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new();
    for n in 0..NAMES_MAX {
        let name = format!("saltus-{purpose}-{:016x}", random.hash_one(n));
        let path = parent.join(name);
        match std::fs::create_dir(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::PrivateFolder;

    #[test]
    fn a_folder_is_new_private_and_removed() {
        let first = PrivateFolder::new("test").unwrap();
        let second = PrivateFolder::new("test").unwrap();
        assert_ne!(first.path(), second.path());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(first.path())
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        std::fs::write(first.path().join("x"), "x").unwrap();
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
        assert!(second.path().is_dir());
    }
}
