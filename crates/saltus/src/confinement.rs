//! Confinement of the process: from a moment on, it changes files in some folders only, whatever code runs in it.
//!
//! Linux does it (Landlock); the kernel refuses what foreign code of a model tries elsewhere, and everything that such code starts is confined too. Confinement cannot be
//! taken back. What stays possible: reading files, using the network, running programs (confined as well), and writing to files that were open before.

use crate::private_folder::PrivateFolder;
use std::io;
use std::path::{Path, PathBuf};

/// What a confined process may still change.
#[derive(Clone, Debug, Default)]
pub struct Writable {
    /// Folders with all that is in them.
    pub folders: Vec<PathBuf>,
    /// Single files that are there: devices, pipes.
    pub files: Vec<PathBuf>,
}

/// How far the process is confined.
pub enum Confinement {
    /// The folder is for intermediate files; it is removed when this is dropped.
    Confined(PrivateFolder),
    /// The system has no means for it; nothing has changed.
    Unavailable,
}

/// Confines the calling thread and all that it starts from now on. To confine the process, call it before any other thread is there.
pub fn confine(writable: &Writable) -> io::Result<Confinement> {
    platform::confine(writable)
}

/// Devices that programs open for writing and that keep nothing.
#[cfg(target_os = "linux")]
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/ptmx",
];

#[cfg(target_os = "linux")]
mod platform {
    use super::{Confinement, DEVICES, Path, PrivateFolder, Writable, io};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::fs::OpenOptionsExt;

    // The kernel's interface, linux/landlock.h. Later versions know more rights.
    const CREATE_RULESET_VERSION: u32 = 1;
    const RULE_PATH_BENEATH: u32 = 1;
    const WRITE_FILE: u64 = 1 << 1;
    const REMOVE_DIR: u64 = 1 << 4;
    const REMOVE_FILE: u64 = 1 << 5;
    /// Making devices, folders, files, sockets, pipes, block devices and links.
    const MAKE: u64 = 0b111_1111 << 6;
    /// Since version 2: moving between folders.
    const REFER: u64 = 1 << 13;
    /// Since version 3.
    const TRUNCATE: u64 = 1 << 14;
    const VERSION_OF_TRUNCATE: i64 = 3;
    /// Since version 6: signals to processes outside.
    const SCOPE_SIGNAL: u64 = 1 << 1;
    const VERSION_OF_SCOPES: i64 = 6;

    #[repr(C)]
    #[derive(Default)]
    struct Ruleset {
        handled_files: u64,
        handled_network: u64,
        scoped: u64,
    }

    #[repr(C, packed)]
    struct PathBeneath {
        allowed: u64,
        parent: i32,
    }

    /// A system call that returns a number, or the error.
    fn checked(returned: libc::c_long) -> io::Result<libc::c_long> {
        if returned < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(returned)
        }
    }

    pub(super) fn confine(writable: &Writable) -> io::Result<Confinement> {
        // SAFETY: asks for the version; no memory is involved.
        let version = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<Ruleset>(),
                0_usize,
                CREATE_RULESET_VERSION,
            )
        };
        // Without the right to truncate, a file could be emptied: then nothing is promised.
        if version < VERSION_OF_TRUNCATE {
            return Ok(Confinement::Unavailable);
        }
        let all = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE | REFER | TRUNCATE;
        let attributes = Ruleset {
            handled_files: all,
            handled_network: 0,
            scoped: if version >= VERSION_OF_SCOPES {
                SCOPE_SIGNAL
            } else {
                0
            },
        };
        // SAFETY: the structure lives during the call, and its size is given; a kernel that knows less of it accepts zeros in the rest.
        let made = checked(unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const attributes,
                size_of::<Ruleset>(),
                0_u32,
            )
        })?;
        // SAFETY: the kernel gave this descriptor to us alone.
        let rules = unsafe { OwnedFd::from_raw_fd(made as i32) };

        let scratch = PrivateFolder::new("run")?;
        allow(&rules, scratch.path(), all)?;
        // Only to remove the folder at the end.
        let around = scratch.path().parent().unwrap_or(Path::new("/"));
        allow(&rules, around, REMOVE_DIR)?;
        for folder in &writable.folders {
            allow(&rules, folder, all)?;
        }
        for file in &writable.files {
            allow(&rules, file, WRITE_FILE | TRUNCATE)?;
        }
        for device in DEVICES.iter().filter(|d| Path::new(d).exists()) {
            allow(&rules, Path::new(device), WRITE_FILE | TRUNCATE)?;
        }
        // SAFETY: no memory is involved.
        checked(libc::c_long::from(unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        }))?;
        // SAFETY: no memory is involved; the descriptor is open.
        checked(unsafe {
            libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32)
        })?;
        scratch.becomes_root();
        Ok(Confinement::Confined(scratch))
    }

    fn allow(rules: &OwnedFd, path: &Path, allowed: u64) -> io::Result<()> {
        let place = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_CLOEXEC)
            .open(path)
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        let rule = PathBeneath {
            allowed,
            parent: place.as_raw_fd(),
        };
        // SAFETY: the structure lives during the call, and both descriptors are open.
        checked(unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                rules.as_raw_fd(),
                RULE_PATH_BENEATH,
                &raw const rule,
                0_u32,
            )
        })
        .map(|_| ())
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::{Confinement, Writable, io};

    pub(super) fn confine(_writable: &Writable) -> io::Result<Confinement> {
        Ok(Confinement::Unavailable)
    }
}
