//! Access to the disk, for the class tree and for external functions; to the environment, the clock and commands, for external functions.
//!
//! Functions of a model read everything and change files in the working folder; the rest is refused unless it is permitted ([`crate::permissions`]), by a message that names
//! the option of the program for it.

use crate::permissions::{DeclaredForeign, Permissions, Use};
use crate::world::World;
use saltus_ir::external::{Change, FileKind, Host, Order};
use saltus_ir::func::ForeignCode;
use std::io::{Read as _, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(unix)]
use {
    crate::foreign::Foreign,
    saltus_ir::Value,
    saltus_ir::eval::ExternalError,
    saltus_ir::external::{ForeignCall, ForeignReply},
};

/// Largest source file that is read.
const FILE_SIZE_MAX: u64 = 512 << 20;

/// The bytes of a file. Pipes and devices are no files: they may have nothing to read, or no end.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if !about.is_file() {
        let what = if about.is_dir() {
            "it is a folder"
        } else {
            "it is a pipe or a device, not a file"
        };
        return Err(what.to_owned());
    }
    let size = about.len();
    if size > FILE_SIZE_MAX {
        return Err(format!(
            "the file has {size} bytes, more than {FILE_SIZE_MAX}"
        ));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    // It may grow meanwhile.
    let opened = std::fs::File::open(path);
    opened
        .and_then(|file| file.take(FILE_SIZE_MAX).read_to_end(&mut bytes))
        .map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// Files of a run: tables and the like. `modelica://Library/path` is looked for in the library folders.
pub(crate) struct RunFiles {
    /// Learns which files are read.
    pub(crate) world: Arc<dyn World>,
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders of the model's own files: a package that is one file has its resources beside it.
    pub(crate) beside: Vec<PathBuf>,
    /// Folders of the libraries that the model uses, of which several versions may be there.
    pub(crate) packages: Vec<PathBuf>,
    pub(crate) permissions: Permissions,
    /// Files that the model was read from.
    pub(crate) sources: Vec<PathBuf>,
    /// The external functions of the model that are not built in.
    pub(crate) declared: Vec<DeclaredForeign>,
    /// What the external functions of the model include.
    pub(crate) brought: Vec<ForeignCode>,
    #[cfg(unix)]
    pub(crate) foreign: Foreign,
}

impl Host for RunFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let resolved = self.resolve(path)?;
        self.world.note_read(&resolved);
        read(&resolved).map_err(|why| self.unreadable(path, &resolved, &why))
    }

    fn full_path(&self, path: &str) -> Result<String, String> {
        let full = std::path::absolute(self.resolve(path)?).map_err(|e| e.to_string())?;
        Ok(full.display().to_string())
    }

    fn kind(&self, path: &str) -> FileKind {
        let Ok(resolved) = self.resolve(path) else {
            return FileKind::Missing;
        };
        match std::fs::metadata(resolved) {
            Err(_) => FileKind::Missing,
            Ok(there) if there.is_dir() => FileKind::Directory,
            Ok(there) if there.is_file() => FileKind::Regular,
            Ok(_) => FileKind::Special,
        }
    }

    fn folder(&self, path: &str) -> Result<String, String> {
        let full = (self.resolve(path)?.canonicalize()).map_err(|e| format!("`{path}`: {e}"))?;
        if !full.is_dir() {
            return Err(format!("`{path}` is not a folder"));
        }
        Ok(full.display().to_string())
    }

    fn list(&self, path: &str) -> Result<Vec<String>, String> {
        let entries =
            std::fs::read_dir(self.resolve(path)?).map_err(|e| format!("`{path}`: {e}"))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| format!("`{path}`: {e}"))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), String> {
        let inside = self.writable(path, Use::Content)?;
        let mut options = std::fs::OpenOptions::new();
        (options.create(true).write(true))
            .append(append)
            .truncate(!append);
        // The path has no links; one that was made since is not followed.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
        let opened = options.open(inside);
        opened
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|e| format!("`{path}` cannot be written: {e}"))
    }

    fn change(&self, change: &Change<'_>) -> Result<(), String> {
        match *change {
            Change::MakeFolder(path) => std::fs::create_dir(self.writable(path, Use::Entry)?)
                .map_err(|e| format!("the folder `{path}` cannot be made: {e}")),
            Change::RemoveFolder(path) => std::fs::remove_dir(self.writable(path, Use::Entry)?)
                .map_err(|e| format!("the folder `{path}` cannot be removed: {e}")),
            Change::RemoveFile(path) => {
                match std::fs::remove_file(self.writable(path, Use::Entry)?) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        Err(format!("`{path}` cannot be removed: {e}"))
                    }
                    _ => Ok(()),
                }
            }
            Change::Rename { from, to } => std::fs::rename(
                self.writable(from, Use::Entry)?,
                self.writable(to, Use::Entry)?,
            )
            .map_err(|e| format!("`{from}` cannot be renamed to `{to}`: {e}")),
            Change::Copy { from, to } => {
                let target = self.writable(to, Use::Entry)?;
                if target.symlink_metadata().is_ok() {
                    return Err(format!(
                        "`{from}` cannot be copied: `{to}` is there already"
                    ));
                }
                let source = self.resolve(from)?;
                if !source.is_file() {
                    return Err(format!("`{from}` cannot be copied: there is no such file"));
                }
                std::fs::copy(source, target)
                    .map(|_| ())
                    .map_err(|e| format!("`{from}` cannot be copied to `{to}`: {e}"))
            }
        }
    }

    /// In the working folder, where a model may write.
    fn temporary_name(&self) -> Result<String, String> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let here = working_folder()?;
        for _ in 0..TEMPORARY_NAMES_MAX {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = here.join(format!("saltus-tmp-{}-{n}", std::process::id()));
            if !path.exists() {
                return Ok(path.display().to_string());
            }
        }
        Err("no name for a temporary file is free in the working folder".into())
    }

    fn variable(&self, name: &str) -> Option<String> {
        // Such names are none, and the system may not bear them.
        if name.is_empty() || name.contains(['=', '\0']) {
            return None;
        }
        std::env::var_os(name).map(|content| content.to_string_lossy().into_owned())
    }

    #[cfg(unix)]
    fn clock(&self) -> Result<saltus_ir::external::Clock, String> {
        let now = (std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH))
            .map_err(|_| "the clock stands before 1970".to_string())?;
        let seconds = now.as_secs() as libc::time_t;
        // SAFETY: all zeros are a valid value of this plain structure.
        let mut local: libc::tm = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live variables of this function.
        if unsafe { libc::localtime_r(&seconds, &mut local) }.is_null() {
            return Err("the system does not know the local time".into());
        }
        Ok(saltus_ir::external::Clock {
            milliseconds: i64::from(now.subsec_millis()),
            second: i64::from(local.tm_sec),
            minute: i64::from(local.tm_min),
            hour: i64::from(local.tm_hour),
            day: i64::from(local.tm_mday),
            month: i64::from(local.tm_mon) + 1,
            year: i64::from(local.tm_year) + 1900,
        })
    }

    fn process(&self) -> Result<i64, String> {
        Ok(i64::from(std::process::id()))
    }

    fn command(&self, order: &Order<'_>) -> Result<(i64, Vec<String>), String> {
        let text = order.text;
        if !self.permissions.system {
            return Err(format!(
                "the model would run the command `{text}`; the option `--allow-system` permits commands"
            ));
        }
        let (shell, flag) = if cfg!(windows) {
            ("cmd", "/C")
        } else {
            ("sh", "-c")
        };
        let output = std::process::Command::new(shell)
            .args([flag, text])
            .current_dir(order.folder.unwrap_or("."))
            .envs(
                order
                    .environment
                    .iter()
                    .map(|(name, content)| (name, content)),
            )
            .stdin(std::process::Stdio::null())
            .output()
            .map_err(|e| format!("the command `{text}` cannot be run: {e}"))?;
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let lines = said.iter().flat_map(|text| text.lines()).map(str::to_owned);
        // One that a signal has ended has no code.
        let code = output.status.code().map_or(-1, i64::from);
        Ok((code, lines.collect()))
    }

    fn brought(&self) -> &[ForeignCode] {
        &self.brought
    }

    #[cfg(unix)]
    fn foreign(&self, call: &ForeignCall<'_>) -> Result<ForeignReply, ExternalError> {
        (self.permissions.foreign)
            .permits(call, &self.declared)
            .map_err(ExternalError::Forbidden)?;
        let args: Vec<Value> = call.args.iter().map(|arg| self.with_paths(arg)).collect();
        let call = ForeignCall {
            args: &args,
            ..*call
        };
        self.foreign.call(&call, &|uri| self.resolve(uri))
    }
}

/// Files of a model while it is compiled: they can be read, and that is all. Compiling has no effects.
pub(crate) struct CompileFiles(pub(crate) RunFiles);

impl Host for CompileFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.read(path)
    }

    fn full_path(&self, path: &str) -> Result<String, String> {
        self.0.full_path(path)
    }

    fn kind(&self, path: &str) -> FileKind {
        self.0.kind(path)
    }

    fn folder(&self, path: &str) -> Result<String, String> {
        self.0.folder(path)
    }

    fn list(&self, path: &str) -> Result<Vec<String>, String> {
        self.0.list(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
}

/// Names for temporary files that are tried.
const TEMPORARY_NAMES_MAX: usize = 1000;

fn working_folder() -> Result<PathBuf, String> {
    std::env::current_dir()
        .and_then(|folder| folder.canonicalize())
        .map_err(|e| format!("there is no working folder: {e}"))
}

impl RunFiles {
    /// The path of what a model may change.
    fn writable(&self, path: &str, how: Use) -> Result<PathBuf, String> {
        let here = working_folder()?;
        self.permissions.writable(path, how, &here, &self.sources)
    }

    /// The path of a file name or URI. A URI stays inside of its library.
    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let Some(rest) = path.strip_prefix("modelica://") else {
            return Ok(PathBuf::from(path));
        };
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let doubled = rest.contains("//");
        if rest.is_empty() || doubled || !Path::new(rest).components().all(is_plain) {
            return Err(format!(
                "`{path}` is not the name of a file in a library: after `modelica://` comes the name of the library and a path inside of it, without `..`"
            ));
        }
        let (class, path) = rest.split_once('/').unwrap_or((rest, ""));
        let package = class.split('.').next().unwrap_or(class);
        let insides = inside_library(class, path);
        let of = |folder: PathBuf| insides.iter().map(move |inside| folder.join(inside));
        let in_library = |library: &PathBuf| {
            let single = library.join(format!("{package}.mo")).is_file();
            let beside = single.then(|| library.clone());
            let versions = versions_of(library, package);
            [Some(library.join(package)), beside]
                .into_iter()
                .flatten()
                .chain(versions)
        };
        let is_of_package = |folder: &&PathBuf| {
            folder
                .file_name()
                .is_some_and(|name| is_version_of(&name.to_string_lossy(), package))
        };
        let used = self.packages.iter().filter(is_of_package).cloned();
        let found = used
            .chain(self.libraries.iter().flat_map(in_library))
            .chain(self.beside.iter().cloned())
            .flat_map(of)
            .find(|p| p.exists());
        Ok(found.unwrap_or_else(|| PathBuf::from(rest)))
    }

    /// The value with paths in place of URIs of files that are there: `loadResource` leaves the URI to those who open the file, and C code cannot.
    #[cfg(unix)]
    fn with_paths(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if text.starts_with("modelica://") => match self.resolve(text) {
                Ok(path) if path.exists() => {
                    let path = std::path::absolute(&path).unwrap_or(path);
                    Value::String(path.to_string_lossy().into())
                }
                // The function says what it misses.
                _ => value.clone(),
            },
            Value::Array(array) => {
                let elems = array.elems.iter().map(|e| self.with_paths(e)).collect();
                Value::array(array.dims.clone(), elems)
            }
            Value::Record(fields) => {
                Value::Record(fields.iter().map(|f| self.with_paths(f)).collect())
            }
            _ => value.clone(),
        }
    }

    /// Says which file was looked for, where, and what can be done.
    fn unreadable(&self, path: &str, resolved: &Path, why: &str) -> String {
        if path.starts_with("modelica://") {
            return format!(
                "`{path}` cannot be read: {why}; it was looked for in the folder of the library; check its name, or the version of the library"
            );
        }
        let place = match std::path::absolute(resolved) {
            Ok(full) if full != resolved => format!(" (as `{}`)", full.display()),
            _ => String::new(),
        };
        format!(
            "`{path}`{place} cannot be read: {why}; give the name from the working folder, a full path, or `modelica://Library/…` for a file of a library"
        )
    }
}

/// Where a resource of a class is inside the folder of its library: a class that has a folder of its own may keep its resources there, `A.B` in `A/B`; else they are those of a
/// class around it (specification 13.5).
pub(crate) fn inside_library(class: &str, path: &str) -> Vec<PathBuf> {
    let nested: Vec<&str> = class.split('.').skip(1).collect();
    let inside = |n: usize| nested[..n].iter().collect::<PathBuf>().join(path);
    (0..=nested.len()).rev().map(inside).collect()
}

/// `Modelica` or `Modelica 4.1.0` for the package `Modelica`.
fn is_version_of(folder: &str, package: &str) -> bool {
    let rest = folder.strip_prefix(package);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Folders `Modelica 4.1.0` of a package with versions, the newest first.
fn versions_of(library: &Path, package: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(library).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut versions: Vec<String> = names
        .filter(|name| name != package && is_version_of(name, package))
        .collect();
    versions.sort_by(|a, b| saltus_flatten::compare_versions(b, a));
    versions
        .into_iter()
        .map(|name| library.join(name))
        .collect()
}
