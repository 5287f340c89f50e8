//! Reading and writing files, with messages that name the file.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use saltus_results::{CsvWriter, MatWriter, ParquetWriter, ResultTable, RowSink, read_result};

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

/// The result of a run that is being written. The file appears under its name with everything but the rows in it, in one instant, and can be
/// read from then on; until then an earlier result of the same name stays.
pub(crate) struct ResultFile {
    path: PathBuf,
    format: ResultFormat,
    rows: Option<Box<dyn RowSink>>,
}

impl ResultFile {
    pub(crate) fn new(path: &Path) -> Result<ResultFile, Failure> {
        Ok(ResultFile {
            path: path.to_owned(),
            format: ResultFormat::of(path)?,
            rows: None,
        })
    }

    /// Opens the file with the head of the result in it.
    fn open(&self, outline: &ResultTable, time_start: f64) -> io::Result<Box<dyn RowSink>> {
        let begin = |mut rows: Box<dyn RowSink>| {
            rows.begin(outline, time_start)?;
            rows.flush()?;
            Ok(rows)
        };
        if self.format == ResultFormat::StandardOutput {
            return begin(Box::new(CsvWriter::new(StandardOutput)));
        }
        let on = |file| -> Box<dyn RowSink> {
            match self.format {
                ResultFormat::Mat => Box::new(MatWriter::new(file)),
                ResultFormat::Parquet => Box::new(ParquetWriter::new(file)),
                ResultFormat::Csv | ResultFormat::StandardOutput => Box::new(CsvWriter::new(file)),
            }
        };
        // A device or a pipe is not replaced; a link is followed.
        let place = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        if fs::metadata(&place).is_ok_and(|m| !m.is_file()) {
            return begin(on(fs::OpenOptions::new().write(true).open(&place)?));
        }
        let part = part_of(&place);
        let opened = fs::File::create(&part)
            .and_then(|file| begin(on(file)))
            .and_then(|rows| fs::rename(&part, &place).map(|()| rows));
        if opened.is_err() {
            // Whatever there is of it is of no use.
            let _ = fs::remove_file(&part);
        }
        opened
    }
}

impl RowSink for ResultFile {
    fn begin(&mut self, outline: &ResultTable, time_start: f64) -> io::Result<()> {
        self.rows = Some(self.open(outline, time_start)?);
        Ok(())
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        match &mut self.rows {
            Some(rows) => rows.row(time, series),
            None => Err(io::Error::other("rows before the head of the result")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.rows.as_mut().map_or(Ok(()), |rows| rows.flush())
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

/// The name of a file in the making, beside `path` and of this process alone.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    PathBuf::from(name)
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
            let probe = part_of(path);
            let created = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&probe);
            created
                .and_then(|_| fs::remove_file(&probe))
                .map_err(|e| refused(&e))
        }
    }
}

/// A file that is written through a buffer while the run goes on.
pub(crate) fn create(path: &Path) -> Result<BufWriter<fs::File>, Failure> {
    fs::File::create(path)
        .map(BufWriter::new)
        .map_err(|e| Failure::command_line(format!("`{}` cannot be written: {e}", path.display())))
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
