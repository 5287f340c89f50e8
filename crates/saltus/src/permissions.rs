//! What functions of a model may do: which files they may change, whether they may run commands, which foreign code may be called.
//!
//! Plain data with questions. Whoever asks is [`crate::disk`]; whoever fills it in is the user, by options of the program or by calls of the facade.
//!
//! Without any permission a function reads files and changes those in the working folder. Even there some files are protected: the sources of the model, and what
//! programs of the user trust ([`PROTECTED_NAMES`]).

use saltus_ir::external::ForeignCall;
use saltus_ir::func::{ForeignCode, FunctionBody};
use saltus_structure::StructuredSystem;
use saltus_syntax::{SourceMap, Span};
use std::path::{Component, Path, PathBuf};

/// What functions of a model may do besides reading, and changing files in the working folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permissions {
    /// Folders in which files may be changed.
    pub(crate) write: Vec<PathBuf>,
    /// Commands of the operating system may be run.
    pub(crate) system: bool,
    pub(crate) foreign: Consent,
}

/// Whose C functions may be called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consent {
    /// Everybody's.
    pub(crate) all: bool,
    /// Those declared in files of these folders.
    pub(crate) folders: Vec<PathBuf>,
}

impl Consent {
    fn covers(&self, file: &str) -> bool {
        let Ok(file) = Path::new(file).canonicalize() else {
            return false;
        };
        let folders = self.folders.iter().filter_map(|f| f.canonicalize().ok());
        folders.into_iter().any(|folder| file.starts_with(folder))
    }

    /// Whether a call is permitted; if not, a message that names the function, its file and the cure. A function that is declared several times needs consent for
    /// each declaration.
    pub(crate) fn permits(
        &self,
        call: &ForeignCall<'_>,
        declared: &[DeclaredForeign],
    ) -> Result<(), String> {
        // Without code there is nothing to run.
        if self.all || call.code.include.is_empty() && call.code.libraries.is_empty() {
            return Ok(());
        }
        let same = |d: &&DeclaredForeign| d.name == call.name && d.code == *call.code;
        let mut declarations: Vec<&DeclaredForeign> = declared.iter().filter(same).collect();
        if declarations.is_empty() {
            // A question to code that a function brings: its text is that code and one piece more.
            let mut brought = call.code.clone();
            brought.include.pop();
            declarations = declared.iter().filter(|d| d.code == brought).collect();
        }
        if declarations.is_empty() {
            return Err(format!(
                "the model would call the C function `{}`; the option `--allow-foreign` permits foreign code",
                call.name
            ));
        }
        match declarations.into_iter().find(|d| !self.covers(&d.file)) {
            Some(declaration) => Err(declaration.refusal()),
            None => Ok(()),
        }
    }
}

/// An external function of the model and where it is declared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeclaredForeign {
    /// In C.
    name: String,
    code: ForeignCode,
    /// In Modelica.
    function: String,
    file: String,
    line: u32,
}

impl DeclaredForeign {
    fn refusal(&self) -> String {
        let DeclaredForeign {
            name,
            function,
            file,
            line,
            ..
        } = self;
        let brought = if self.code.include.is_empty() {
            "C code of a library"
        } else {
            "C code of its annotation"
        };
        format!(
            "`{function}`, declared in {file}:{line}, would run {brought} (the C function `{name}`), which can do whatever you can do; \
             if you trust it, give the option `--allow-foreign`, or name the folder of the library under `[foreign] allow` in `saltus.toml`"
        )
    }
}

/// The external functions of a model that are not built in.
pub(crate) fn declared_foreign(
    system: &StructuredSystem,
    sources: &SourceMap,
) -> Vec<DeclaredForeign> {
    let place = |span: Span| {
        if (span.file.0 as usize) < sources.len() {
            let line = sources.line_col(span.file, span.start).line;
            (sources.file(span.file).name.clone(), line)
        } else {
            (String::new(), 0)
        }
    };
    let functions = system.flat.ir.functions.iter();
    functions
        .filter_map(|(_, function)| {
            let FunctionBody::External(external) = &function.body else {
                return None;
            };
            let (file, line) = place(function.span);
            Some(DeclaredForeign {
                name: external.name.as_str().to_owned(),
                code: external.code.clone(),
                function: function.name.as_str().to_owned(),
                file,
                line,
            })
        })
        .collect()
}

/// Files and folders that a model never changes, wherever they are: version control keeps commands there that it runs later, and Saltus its permissions.
const PROTECTED_NAMES: [&str; 5] = [".git", ".hg", ".svn", ".jj", "saltus.toml"];

/// How a path is going to be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// The content of the file, also through links.
    Content,
    /// The entry of its folder: made, removed or renamed. A link is the entry itself.
    Entry,
}

impl Permissions {
    /// The path of what a model may change: inside of the working folder `here` or of one that is permitted, wherever links lead, and none of the `sources`.
    pub(crate) fn writable(
        &self,
        path: &str,
        how: Use,
        here: &Path,
        sources: &[PathBuf],
    ) -> Result<PathBuf, String> {
        let full = here.join(path);
        let target = real_path(&full, how).map_err(|why| format!("`{path}` {why}"))?;
        let permitted = self.write.iter().filter_map(|f| f.canonicalize().ok());
        // The folder itself stays.
        let inside = std::iter::once(here.to_owned())
            .chain(permitted)
            .filter_map(|folder| target.strip_prefix(folder).ok().map(Path::to_owned))
            .filter(|inside| !inside.as_os_str().is_empty())
            // A folder that is permitted may lie in another: the innermost decides.
            .min_by_key(|inside| inside.components().count());
        let Some(inside) = inside else {
            return Err(format!(
                "models may change files in the working folder only, and `{path}` is outside; the option `--allow-write DIR` permits another folder"
            ));
        };
        let protected = inside.components().find_map(|part| match part {
            Component::Normal(name) => PROTECTED_NAMES
                .into_iter()
                .find(|known| name.eq_ignore_ascii_case(known)),
            _ => None,
        });
        if let Some(name) = protected {
            return Err(format!(
                "`{path}` cannot be changed: models never change `{name}`"
            ));
        }
        if let Some(source) = sources.iter().find(|source| is_part_of(&target, source)) {
            return Err(format!(
                "`{path}` cannot be changed: the model was read from `{}`",
                source.display()
            ));
        }
        Ok(target)
    }
}

/// The path without links and `..`. The file need not be there, its folder must be.
fn real_path(full: &Path, how: Use) -> Result<PathBuf, String> {
    if how == Use::Content {
        match full.canonicalize() {
            Ok(there) => return Ok(there),
            Err(_) if full.is_symlink() => {
                return Err("cannot be written: it is a link to a file that is not there".into());
            }
            Err(_) => {}
        }
    }
    let folder = full.parent().and_then(|folder| folder.canonicalize().ok());
    match folder.zip(full.file_name()) {
        Some((folder, name)) => Ok(folder.join(name)),
        // `..` and the like have no name of their own.
        None => {
            (full.canonicalize()).map_err(|_| "cannot be written: there is no such folder".into())
        }
    }
}

/// Whether changing `target` changes the file `source`: it is the file, another name of it, or a folder that contains it.
fn is_part_of(target: &Path, source: &Path) -> bool {
    let Ok(real) = source.canonicalize() else {
        return false;
    };
    if real.starts_with(target) {
        return true;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
        target.is_file() && identity(target) == identity(&real)
    }
    #[cfg(not(unix))]
    false
}
