//! What a model may reach outside of itself: files, the environment, the clock, commands, code in other languages.
//!
//! The facade implements it and decides what is allowed; without an implementation everything is refused. Paths that come here are absolute, relative to the
//! working folder of the process, or URIs `modelica://…`.

use super::foreign::{ForeignCall, ForeignReply};
use crate::eval::ExternalError;
use crate::func::ForeignCode;

/// What a model may reach outside of itself.
pub trait Host: Send + Sync {
    /// The bytes of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// The absolute path.
    fn full_path(&self, path: &str) -> Result<String, String> {
        Ok(path.to_string())
    }

    fn kind(&self, path: &str) -> FileKind {
        let _ = path;
        FileKind::Missing
    }

    /// The absolute path of a folder that is there, without links and `..`.
    fn folder(&self, path: &str) -> Result<String, String> {
        Err(no_files(path))
    }

    /// The names in a folder, sorted.
    fn list(&self, path: &str) -> Result<Vec<String>, String> {
        Err(no_files(path))
    }

    /// Writes a file, or appends to it.
    fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), String> {
        let _ = (bytes, append);
        Err(format!(
            "`{path}` cannot be written: this run has no access to files"
        ))
    }

    /// Changes what is in folders.
    fn change(&self, change: &Change<'_>) -> Result<(), String> {
        Err(no_files(change.path()))
    }

    /// The path of a file that is not there, where a model may write.
    fn temporary_name(&self) -> Result<String, String> {
        Err("there is no temporary file: this run has no access to files".into())
    }

    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// The local time.
    fn clock(&self) -> Result<Clock, String> {
        Err("this run has no access to the clock".into())
    }

    /// The number of the process.
    fn process(&self) -> Result<i64, String> {
        Err("this run has no access to the number of its process".into())
    }

    /// Runs a command of the operating system: its exit code and what it printed.
    fn command(&self, order: &Order<'_>) -> Result<(i64, Vec<String>), String> {
        Err(format!(
            "the command `{}` cannot be run: this run has no access to the operating system",
            order.text
        ))
    }

    /// Calls a function that is not written in Rust or Modelica.
    fn foreign(&self, call: &ForeignCall<'_>) -> Result<ForeignReply, ExternalError> {
        Err(ExternalError::Missing(format!(
            "the external function `{}` is not built in, and this run has no access to other code",
            call.name
        )))
    }

    /// The code that the external functions of the model bring with them, in a fixed order.
    fn brought(&self) -> &[ForeignCode] {
        &[]
    }
}

fn no_files(path: &str) -> String {
    format!("`{path}` cannot be reached: this run has no access to files")
}

/// As in `Modelica.Utilities.Types.FileType`, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    Missing,
    Regular,
    Directory,
    Special,
}

/// A change in folders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<'a> {
    MakeFolder(&'a str),
    /// An empty one.
    RemoveFolder(&'a str),
    /// One that is not there is no error.
    RemoveFile(&'a str),
    Rename {
        from: &'a str,
        to: &'a str,
    },
    /// A file that is there already is an error.
    Copy {
        from: &'a str,
        to: &'a str,
    },
}

impl<'a> Change<'a> {
    /// The path that is named first.
    pub fn path(&self) -> &'a str {
        match self {
            Change::MakeFolder(path) | Change::RemoveFolder(path) | Change::RemoveFile(path) => {
                path
            }
            Change::Rename { from, .. } | Change::Copy { from, .. } => from,
        }
    }
}

/// A local time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    pub milliseconds: i64,
    pub second: i64,
    pub minute: i64,
    pub hour: i64,
    pub day: i64,
    /// From 1.
    pub month: i64,
    pub year: i64,
}

/// A command, where it is run and what it finds in the environment besides that of the process.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    pub text: &'a str,
    /// `None`: the working folder of the process.
    pub folder: Option<&'a str>,
    pub environment: &'a [(String, String)],
}

/// No access to anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!(
            "`{path}` cannot be read: this run has no access to files"
        ))
    }
}
