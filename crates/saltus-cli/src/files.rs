//! Reading and writing files, with messages that name the file.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use saltus_results::{ResultTable, read_result, write_csv, write_mat};

use crate::exit::Failure;

/// The formats a result can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResultFormat {
    Csv,
    Mat,
    /// CSV on standard output.
    StandardOutput,
}

impl ResultFormat {
    /// The format that a path asks for.
    pub(crate) fn of(path: &Path) -> Result<ResultFormat, Failure> {
        if path == Path::new("-") {
            return Ok(ResultFormat::StandardOutput);
        }
        let ending = path.extension().map(|e| e.to_ascii_lowercase());
        match ending.as_ref().and_then(|e| e.to_str()) {
            Some("csv") => Ok(ResultFormat::Csv),
            Some("mat") => Ok(ResultFormat::Mat),
            _ => Err(Failure::command_line(format!(
                "`{}`: a result file ends with .csv or .mat (`-` is CSV on standard output)",
                path.display()
            ))),
        }
    }
}

pub(crate) fn write_table(path: &Path, table: &ResultTable) -> Result<(), Failure> {
    match ResultFormat::of(path)? {
        ResultFormat::Csv => write_file(path, |out| write_csv(table, out)),
        ResultFormat::Mat => write_file(path, |out| write_mat(table, out)),
        ResultFormat::StandardOutput => {
            let out = BufWriter::new(io::stdout().lock());
            match write_csv(table, out) {
                Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Failure::command_line(format!("standard output: {e}")))
                }
                _ => Ok(()),
            }
        }
    }
}

/// Writes a file through a buffer.
pub(crate) fn write_file(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let written = fs::File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.flush()
    });
    written
        .map_err(|e| Failure::command_line(format!("`{}` cannot be written: {e}", path.display())))
}

/// Finds out before a long run that a file could not be written after it.
pub(crate) fn check_folder(path: &Path) -> Result<(), Failure> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Failure::command_line(format!(
                "`{}` cannot be written: there is no folder `{}`",
                path.display(),
                folder.display()
            )))
        }
        _ => Ok(()),
    }
}

pub(crate) fn read_table(path: &Path) -> Result<ResultTable, Failure> {
    let bytes = fs::read(path).map_err(|e| unreadable(path, &e))?;
    read_result(&path.to_string_lossy(), &bytes).map_err(|e| unreadable(path, &e))
}

pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| unreadable(path, &e))
}

pub(crate) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::command_line(format!("`{}` cannot be read: {error}", path.display()))
}
