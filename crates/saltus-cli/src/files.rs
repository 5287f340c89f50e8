//! Reading and writing files, with messages that name the file.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use saltus::replace::{Replacement, ResultMedium, create_beside, replace_file};
use saltus_results::{
    CsvWriter, MatWriter, Medium as _, ParquetWriter, ResultReader, ResultTable, RowSink,
    Uncuttable,
};

use crate::exit::Failure;

/// The formats a result can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResultFormat {
    Csv,
    Mat,
    Parquet,
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
            Some("parquet") => Ok(ResultFormat::Parquet),
            _ => Err(Failure::command_line(format!(
                "`{}`: a result file ends with .csv, .mat or .parquet (`-` is CSV on standard output)",
                path.display()
            ))),
        }
    }
}

/// The result of a run that is being written. The file appears under its name when its first row is in it, in one instant, and can be
/// read from then on. Until then an earlier result of the same name stays; after that it is kept beside, until the run has come to a good end.
pub(crate) struct ResultFile {
    path: PathBuf,
    format: ResultFormat,
    rows: Option<Box<dyn RowSink + Send>>,
    replacement: Option<Replacement>,
}

impl ResultFile {
    pub(crate) fn new(path: &Path) -> Result<ResultFile, Failure> {
        Ok(ResultFile {
            path: path.to_owned(),
            format: ResultFormat::of(path)?,
            rows: None,
            replacement: None,
        })
    }

    fn rows(&mut self) -> io::Result<&mut Box<dyn RowSink + Send>> {
        (self.rows.as_mut()).ok_or_else(|| io::Error::other("rows before the head of the result"))
    }

    fn is_published(&self) -> bool {
        (self.replacement.as_ref()).is_none_or(Replacement::is_published)
    }

    /// The run has come to an end. Gives the name of the earlier result if it is kept: the run could not be completed.
    pub(crate) fn end(&mut self, completed: bool) -> Option<String> {
        let replacement = self.replacement.as_mut()?;
        if completed {
            replacement.discard_previous();
        }
        let previous = replacement.previous()?;
        // Beside the file that was asked for, unless that is a link.
        let beside = self.path.with_file_name(previous.file_name()?);
        let is_there = beside.is_file() && !self.path.is_symlink();
        let shown = if is_there { &beside } else { previous };
        Some(shown.display().to_string())
    }
}

impl RowSink for ResultFile {
    fn begin(&mut self, outline: &ResultTable, time_start: f64) -> io::Result<()> {
        let mut rows: Box<dyn RowSink + Send> = if self.format == ResultFormat::StandardOutput {
            Box::new(CsvWriter::new(Uncuttable(StandardOutput)))
        } else {
            let (replacement, file) = Replacement::create(&self.path)?;
            let medium = ResultMedium::new(&replacement, file);
            self.replacement = Some(replacement);
            match self.format {
                ResultFormat::Mat => Box::new(MatWriter::new(medium)),
                ResultFormat::Parquet => Box::new(ParquetWriter::new(medium)),
                ResultFormat::Csv | ResultFormat::StandardOutput => {
                    Box::new(CsvWriter::new(medium))
                }
            }
        };
        rows.begin(outline, time_start)?;
        self.rows = Some(rows);
        Ok(())
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        self.rows()?.row(time, series)?;
        if !self.is_published() {
            self.rows()?.flush()?;
            if let Some(replacement) = &mut self.replacement {
                replacement.publish_and_keep()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.rows()?.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.rows()?.finish()
    }

    fn time_written(&self) -> Option<f64> {
        // What has no name is gone with the program.
        let rows = self.rows.as_ref().filter(|_| self.is_published());
        rows.and_then(|rows| rows.time_written())
    }
}

/// The event log: lines that are written while the run goes on. The file appears under its name with its first lines. Where no more can be written it is cut to whole lines.
pub(crate) struct EventFile {
    path: PathBuf,
    /// Lines that are still to be written.
    lines: Vec<u8>,
    /// Length of the file.
    end: u64,
    file: Option<(Replacement, ResultMedium)>,
}

impl EventFile {
    pub(crate) fn new(path: &Path) -> EventFile {
        EventFile {
            path: path.to_owned(),
            lines: Vec::new(),
            end: 0,
            file: None,
        }
    }

    pub(crate) fn end(&mut self, completed: bool) {
        if let Some((replacement, _)) = &mut self.file
            && completed
        {
            replacement.discard_previous();
        }
    }
}

/// Events are handed to the file in pieces of about this size.
const LINES_BYTES: usize = 64 << 10;

impl Write for EventFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lines.extend(bytes);
        if self.lines.len() >= LINES_BYTES && self.lines.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        if lines.is_empty() {
            return Ok(());
        }
        let (replacement, medium) = match &mut self.file {
            Some(file) => file,
            none => {
                let (replacement, file) = Replacement::create(&self.path)?;
                let medium = ResultMedium::new(&replacement, file);
                none.insert((replacement, medium))
            }
        };
        if let Err(e) = medium.write_all(&lines) {
            // Why no more could be written says more than that it could not be cut.
            let _ = medium.cut(self.end);
            return Err(e);
        }
        self.end += lines.len() as u64;
        replacement.publish_and_keep()
    }
}

/// Standard output, for which a reader that has seen enough is no error.
struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match io::stdout().lock().write(bytes) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match io::stdout().lock().flush() {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Writes a file. If that fails, an earlier one stays as it was.
pub(crate) fn write_file(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>,
) -> Result<(), Failure> {
    replace_file(path, content)
        .map_err(|e| Failure::command_line(format!("`{}` cannot be written: {e}", path.display())))
}

/// Finds out before a long run whether a file could be written after it. What is there stays as it is.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(());
    }
    let refused = |why: &dyn std::fmt::Display| {
        Failure::command_line(format!("`{}` cannot be written: {why}", path.display()))
    };
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(refused(&"it is a folder")),
        // Opening a pipe waits for its reader.
        Ok(there) if !there.is_file() => Ok(()),
        Ok(_) => (fs::OpenOptions::new().write(true).open(path))
            .map(|_| ())
            .map_err(|e| refused(&e)),
        Err(_) => {
            if let Some(folder) = path.parent()
                && !folder.as_os_str().is_empty()
                && !folder.is_dir()
            {
                let why = format!("there is no folder `{}`", folder.display());
                return Err(refused(&why));
            }
            // Under another name: whoever waits for the file must not see one that goes away again.
            let created = create_beside(path);
            created
                .and_then(|(probe, _)| fs::remove_file(probe))
                .map_err(|e| refused(&e))
        }
    }
}

/// Opens a result; its rows are read when they are asked for.
pub(crate) fn open_result(path: &Path) -> Result<ResultReader<fs::File>, Failure> {
    let file = fs::File::open(path).map_err(|e| unreadable(path, &e))?;
    ResultReader::open(&path.to_string_lossy(), file).map_err(|e| unreadable(path, &e))
}

pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| unreadable(path, &e))
}

pub(crate) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::command_line(format!("`{}` cannot be read: {error}", path.display()))
}
