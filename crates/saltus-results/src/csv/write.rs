//! Writing: a table at once, or rows as they come.

use std::io::{self, Write};

use crate::stream::{Medium, PIECE_BYTES, Uncuttable, write_all, write_counted};
use crate::{ResultTable, RowSink, Source};

/// Writes the whole table.
pub fn write_csv(table: &ResultTable, out: impl Write) -> io::Result<()> {
    write_all(table, &mut CsvWriter::new(Uncuttable(out)))
}

/// Writes rows as they come. Where no more can be written, the file is cut to whole lines. A process that is killed may leave a part of a line, which is not read as a row.
pub struct CsvWriter<W: Medium> {
    out: W,
    /// Lines that are still to be written.
    text: String,
    /// Length of the file, and the time of its last line.
    end: u64,
    time_written: Option<f64>,
    /// Where the value of each column after time comes from.
    columns: Vec<Source>,
}

impl<W: Medium> CsvWriter<W> {
    pub fn new(out: W) -> CsvWriter<W> {
        CsvWriter {
            out,
            text: String::new(),
            end: 0,
            time_written: None,
            columns: Vec::new(),
        }
    }

    fn write_text(&mut self) -> io::Result<()> {
        let lines = self.text.as_bytes();
        let (n, written) = write_counted(&mut self.out, lines);
        if let Some(last) = lines[..n].iter().rposition(|&b| b == b'\n') {
            self.end += last as u64 + 1;
            let line = lines[..last].rsplit(|&b| b == b'\n').next();
            let time = line.and_then(|line| line.split(|&b| b == b',').next());
            let time = time.and_then(|field| std::str::from_utf8(field).ok()?.parse().ok());
            self.time_written = time.or(self.time_written);
        }
        if written.is_err() {
            // Why no more could be written says more than that it could not be cut.
            let _ = self.out.cut(self.end);
        }
        self.text.clear();
        written
    }
}

impl<W: Medium> RowSink for CsvWriter<W> {
    fn begin(&mut self, outline: &ResultTable, _time_start: f64) -> io::Result<()> {
        push_csv_name(&mut self.text, "time");
        for (name, variable) in outline.variables() {
            self.text.push(',');
            push_csv_name(&mut self.text, name);
            self.columns.push(variable.source);
        }
        self.text.push('\n');
        Ok(())
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        push_csv_number(&mut self.text, time);
        for source in &self.columns {
            self.text.push(',');
            push_csv_number(&mut self.text, source.value(series));
        }
        self.text.push('\n');
        if self.text.len() >= PIECE_BYTES {
            self.write_text()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_text()?;
        self.out.flush()
    }

    fn time_written(&self) -> Option<f64> {
        self.time_written
    }
}

/// Numbers from here on, and below the inverse bound, are written with an exponent.
const PLAIN_MAX: f64 = 1e16;
const PLAIN_MIN: f64 = 1e-5;

/// Appends a quoted name.
pub fn push_csv_name(line: &mut String, name: &str) {
    line.push('"');
    line.push_str(&name.replace('"', "\"\""));
    line.push('"');
}

/// Appends the shortest decimal that reads back to the same value.
pub fn push_csv_number(line: &mut String, value: f64) {
    use std::fmt::Write as _;
    let magnitude = value.abs();
    let written = if value.is_nan() {
        line.push_str("NaN");
        Ok(())
    } else if value == 0.0 || (PLAIN_MIN..PLAIN_MAX).contains(&magnitude) || magnitude.is_infinite()
    {
        write!(line, "{value}")
    } else {
        write!(line, "{value:e}")
    };
    written.expect("writing to a String cannot fail");
}
