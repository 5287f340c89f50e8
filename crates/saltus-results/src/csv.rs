//! CSV results.
//!
//! **Written**: a header of quoted names (a quote inside a name is doubled), `time` first; every variable, constants
//! too; numbers as the shortest decimals that read back to the same bits; both sides of an event as two rows of
//! equal time; lines end with `\n`.
//!
//! **Read**: the above, and what Dymola, OpenModelica and the reference results of the Modelica Association contain:
//! `Time` for `time`, names without quotes, `,` `;` or tab as separator, `\r\n`, a byte order mark, `true`/`false`,
//! a separator at the end of every line. A file with quoted names that does not end with a line break was cut off while it was written:
//! what is after the last one is no row.

use std::io::{self, Write};

use crate::stream::{Medium, PIECE_BYTES, Uncuttable, write_all, write_counted};
use crate::{ReadError, ResultTable, RowSink, Source, TableError};

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

/// Reads a CSV result. The first column must be the time.
pub fn read_csv(bytes: &[u8]) -> Result<ResultTable, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|e| ReadError::Line {
        line: 1 + bytes[..e.valid_up_to()]
            .iter()
            .filter(|&&b| b == b'\n')
            .count(),
        what: "the text is not UTF-8".into(),
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line))
        .filter(|(_, line)| !line.trim().is_empty());
    let (header_line, header) = lines.next().ok_or(ReadError::Line {
        line: 1,
        what: "the file is empty".into(),
    })?;
    let (separator, names) = split_header(header_line, header)?;
    // All tools that write quoted names end every line.
    let was_cut = header.trim_end().ends_with('"') && !text.ends_with('\n');
    let last_line = if was_cut {
        text.lines().count()
    } else {
        usize::MAX
    };

    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for (line, row) in lines.filter(|(line, _)| *line != last_line) {
        read_row(line, row, separator, &mut columns)?;
    }
    let mut columns = columns.into_iter();
    let time = columns.next().expect("a header has at least one name");
    if let Some(i) = time.windows(2).position(|w| w[1] < w[0]) {
        return Err(ReadError::Line {
            line: header_line + i + 2,
            what: format!("time goes back from {} to {}", time[i], time[i + 1]),
        });
    }
    let mut table = ResultTable::new(time);
    for (name, values) in names.into_iter().skip(1).zip(columns) {
        table
            .push_column(name, values)
            .map_err(|e: TableError| ReadError::Line {
                line: header_line,
                what: e.to_string(),
            })?;
    }
    Ok(table)
}

/// Finds the separator and the names.
fn split_header(line: usize, header: &str) -> Result<(char, Vec<String>), ReadError> {
    let separator = find_separator(header);
    let mut names = split_quoted(header, separator).map_err(|what| ReadError::Line {
        line,
        what: what.into(),
    })?;
    if names.len() > 1 && names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    let first = &names[0];
    if !first.eq_ignore_ascii_case("time") {
        return Err(ReadError::Line {
            line,
            what: format!("the first column is `{first}`, expected `time`"),
        });
    }
    Ok((separator, names))
}

/// The first separator character outside quotes and brackets (`a[1,2]` may stand without quotes).
fn find_separator(header: &str) -> char {
    let (mut quoted, mut depth) = (false, 0_usize);
    for c in header.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            ',' | ';' | '\t' if !quoted && depth == 0 => return c,
            _ => {}
        }
    }
    ','
}

/// Splits a header at separators that are outside quotes and brackets; doubled quotes are one.
fn split_quoted(header: &str, separator: char) -> Result<Vec<String>, &'static str> {
    let mut fields = vec![String::new()];
    let (mut quoted, mut depth) = (false, 0_usize);
    let mut chars = header.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("there is always a last field");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            c if c == separator && !quoted && depth == 0 => fields.push(String::new()),
            c => {
                if !quoted && c == '[' {
                    depth += 1;
                } else if !quoted && c == ']' {
                    depth = depth.saturating_sub(1);
                }
                field.push(c);
            }
        }
    }
    if quoted {
        return Err("a quoted name does not end");
    }
    for field in &mut fields {
        if field.trim().len() != field.len() {
            *field = field.trim().to_owned();
        }
    }
    Ok(fields)
}

fn read_row(
    line: usize,
    row: &str,
    separator: char,
    columns: &mut [Vec<f64>],
) -> Result<(), ReadError> {
    let mut found = 0;
    for field in row.split(separator) {
        let field = field.trim().trim_matches('"');
        if found == columns.len() {
            if field.is_empty() {
                continue; // a separator at the end of the line
            }
            return Err(ReadError::Line {
                line,
                what: format!("more than {} values", columns.len()),
            });
        }
        let value = parse_number(field).ok_or_else(|| ReadError::Line {
            line,
            what: format!("`{}` is not a number", shortened(field)),
        })?;
        if found == 0 && !value.is_finite() {
            return Err(ReadError::Line {
                line,
                what: format!("the time is `{}`", shortened(field)),
            });
        }
        columns[found].push(value);
        found += 1;
    }
    if found < columns.len() {
        return Err(ReadError::Line {
            line,
            what: format!("{found} values, but the header has {} names", columns.len()),
        });
    }
    Ok(())
}

fn parse_number(field: &str) -> Option<f64> {
    match field {
        "true" | "True" | "TRUE" => Some(1.0),
        "false" | "False" | "FALSE" => Some(0.0),
        // Visual C's names for values that are not numbers, as older tools wrote them.
        "1.#QNAN" | "-1.#IND" | "1.#IND" => Some(f64::NAN),
        "1.#INF" => Some(f64::INFINITY),
        "-1.#INF" => Some(f64::NEG_INFINITY),
        _ => field.parse().ok(),
    }
}

/// A piece of the user's text short enough for a message.
fn shortened(field: &str) -> String {
    const CHARS_MAX: usize = 40;
    if field.chars().count() <= CHARS_MAX {
        field.to_owned()
    } else {
        let mut text: String = field.chars().take(CHARS_MAX).collect();
        text.push('…');
        text
    }
}
