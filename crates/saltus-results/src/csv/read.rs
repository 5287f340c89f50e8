//! Reading: the header at once, rows as they are asked for.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use crate::{ReadError, ResultTable, SeriesId, Source, Variable};

/// No line is longer: a file with such a line is no result.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// Where the rows of a file are and what is in them.
pub(crate) struct CsvLayout {
    /// Where the line behind the header begins, and its number, from 1.
    at: u64,
    line: usize,
    separator: u8,
    n_columns: usize,
    /// All tools that write quoted names end every line: a last line without its end was cut off.
    ends_every_line: bool,
}

/// The place of the next row in a file.
pub(crate) struct CsvRows {
    line: usize,
    text: Vec<u8>,
    time: f64,
}

impl CsvLayout {
    /// Reads the header. The outline is a table without rows.
    pub(crate) fn open(
        source: &mut (impl Read + Seek),
    ) -> Result<(CsvLayout, ResultTable), ReadError> {
        let mut lines = BufReader::new(source);
        let (mut at, mut line, mut bytes) = (0, 0, Vec::new());
        loop {
            let n = read_line(&mut lines, &mut bytes, line + 1)?;
            if n == 0 {
                return Err(ReadError::line(1, "the file is empty"));
            }
            at += n as u64;
            line += 1;
            if line == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            if !bytes.trim_ascii().is_empty() {
                break;
            }
        }
        let header = std::str::from_utf8(&bytes).map_err(|_| not_utf8(line))?;
        let (separator, names) = split_header(line, header)?;
        let mut outline = ResultTable::default();
        let n_columns = names.len();
        for name in names.into_iter().skip(1) {
            let id = outline.push_empty_series();
            let series = Variable::plain(Source::Series { id, negated: false });
            outline
                .push_variable(name, series)
                .map_err(|e| ReadError::line(line, e.to_string()))?;
        }
        let layout = CsvLayout {
            at,
            line,
            // One of three ASCII characters.
            separator: separator as u8,
            n_columns,
            ends_every_line: header.trim_end().ends_with('"'),
        };
        Ok((layout, outline))
    }

    pub(crate) fn ends_every_line(&self) -> bool {
        self.ends_every_line
    }

    /// Goes to the first row.
    pub(crate) fn first_row(&self, source: &mut impl Seek) -> Result<CsvRows, ReadError> {
        source
            .seek(SeekFrom::Start(self.at))
            .map_err(|e| ReadError::io(&e))?;
        Ok(CsvRows {
            line: self.line,
            text: Vec::new(),
            time: f64::NEG_INFINITY,
        })
    }

    /// Reads the time of the next row, and the values of some trajectories in it (by increasing number); `false` if there is none.
    pub(crate) fn read_row(
        &self,
        source: &mut impl BufRead,
        rows: &mut CsvRows,
        wanted: &[SeriesId],
        row: &mut Vec<f64>,
    ) -> Result<bool, ReadError> {
        loop {
            let n = read_line(source, &mut rows.text, rows.line + 1)?;
            rows.line += 1;
            if n == 0 || self.ends_every_line && !rows.text.ends_with(b"\n") {
                return Ok(false);
            }
            if !rows.text.trim_ascii().is_empty() {
                break;
            }
        }
        self.split_row(rows.line, &rows.text, wanted, row)?;
        let time = row[0];
        if time < rows.time {
            let what = format!("time goes back from {} to {time}", rows.time);
            return Err(ReadError::line(rows.line, what));
        }
        rows.time = time;
        Ok(true)
    }

    fn split_row(
        &self,
        line: usize,
        text: &[u8],
        wanted: &[SeriesId],
        row: &mut Vec<f64>,
    ) -> Result<(), ReadError> {
        row.clear();
        let mut wanted = wanted.iter().map(|id| id.index() + 1).peekable();
        let mut found = 0;
        for field in text.trim_ascii_end().split(|&b| b == self.separator) {
            if found == self.n_columns {
                if field.trim_ascii().is_empty() {
                    continue; // a separator at the end of the line
                }
                let what = format!("more than {} values", self.n_columns);
                return Err(ReadError::line(line, what));
            }
            if found == 0 || wanted.peek() == Some(&found) {
                let field = std::str::from_utf8(field).map_err(|_| not_utf8(line))?;
                let field = field.trim().trim_matches('"');
                let value = parse_number(field).ok_or_else(|| {
                    ReadError::line(line, format!("`{}` is not a number", shortened(field)))
                })?;
                if found == 0 && !value.is_finite() {
                    let what = format!("the time is `{}`", shortened(field));
                    return Err(ReadError::line(line, what));
                }
                row.push(value);
                if found > 0 {
                    wanted.next();
                }
            }
            found += 1;
        }
        if found < self.n_columns {
            let what = format!(
                "{found} values, but the header has {} names",
                self.n_columns
            );
            return Err(ReadError::line(line, what));
        }
        Ok(())
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

fn not_utf8(line: usize) -> ReadError {
    ReadError::line(line, "the text is not UTF-8")
}

/// Reads a line with its end; the number of its bytes.
fn read_line(
    source: &mut impl BufRead,
    text: &mut Vec<u8>,
    line: usize,
) -> Result<usize, ReadError> {
    text.clear();
    let n = (source.take(LINE_BYTES_MAX))
        .read_until(b'\n', text)
        .map_err(|e| ReadError::io(&e))?;
    if n as u64 == LINE_BYTES_MAX {
        let what = format!("a line of more than {LINE_BYTES_MAX} bytes");
        return Err(ReadError::line(line, what));
    }
    Ok(n)
}

/// Finds the separator and the names.
fn split_header(line: usize, header: &str) -> Result<(char, Vec<String>), ReadError> {
    let separator = find_separator(header);
    let mut names = split_quoted(header, separator).map_err(|what| ReadError::line(line, what))?;
    if names.len() > 1 && names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    let first = &names[0];
    if !first.eq_ignore_ascii_case("time") {
        return Err(ReadError::line(
            line,
            format!(
                "the first column is `{}`, expected `time`",
                shortened(first)
            ),
        ));
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
