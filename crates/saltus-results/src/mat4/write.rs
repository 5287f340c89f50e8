//! Writing: a table at once, or rows as they come.

use std::io::{self, Seek, SeekFrom, Write};

use super::{COLUMNS_AT, HEADER_LEN, ROWS, TYPE_BYTES, TYPE_F64, TYPE_I32, TYPE_TEXT};
use crate::stream::{Medium, PIECE_BYTES, write_all, write_counted};
use crate::{ResultTable, RowSink, Source, Variable};

const CLASS_ROWS: [&str; 4] = ["Atrajectory", "1.1", "", "binTrans"];

/// Writes the whole table.
pub fn write_mat(table: &ResultTable, out: impl Write) -> io::Result<()> {
    let time_end = table.time().last().copied();
    let head = Head::new(
        table,
        table.time().first().copied(),
        time_end,
        table.n_rows(),
    )?;
    let mut rows = WholeFile { out, head };
    write_all(table, &mut rows)
}

/// All up to the rows, and where the numbers are that change with them.
struct Head {
    bytes: Vec<u8>,
    /// Position of the number of rows, and of the time of the last.
    count_at: u64,
    time_end_at: u64,
    /// Bytes of a row.
    row_len: u64,
}

impl Head {
    fn new(
        table: &ResultTable,
        time_start: Option<f64>,
        time_end: Option<f64>,
        n_rows: usize,
    ) -> io::Result<Head> {
        let time_start = time_start.unwrap_or(0.0);
        let time_end = time_end.unwrap_or(time_start);
        let mut names = vec!["time".to_owned()];
        let mut descriptions = vec!["Time in [s]".to_owned()];
        let mut info: Vec<i32> = vec![0, 1, 0, -1];
        let mut constants = vec![time_start];
        for (name, variable) in table.variables() {
            names.push(name.to_owned());
            descriptions.push(description_with_unit(variable));
            match variable.source {
                Source::Constant(value) => {
                    constants.push(value);
                    info.extend([1, matrix_row(constants.len())?, 0, 0]);
                }
                Source::Series { id, negated } => {
                    let row = matrix_row(id.index() + 2)?; // row 1 is time
                    info.extend([2, if negated { -row } else { row }, 0, -1]);
                }
            }
        }

        let mut out = Vec::new();
        write_class(&mut out)?;
        write_text_columns(&mut out, "name", &names)?;
        write_text_columns(&mut out, "description", &descriptions)?;
        write_header(&mut out, TYPE_I32, 4, names.len(), "dataInfo")?;
        for value in &info {
            out.extend(value.to_le_bytes());
        }
        write_header(&mut out, TYPE_F64, constants.len(), 2, "data_1")?;
        let mut time_end_at = 0;
        for column_time in [time_start, time_end] {
            time_end_at = out.len() as u64;
            out.extend(column_time.to_le_bytes());
            for value in &constants[1..] {
                out.extend(value.to_le_bytes());
            }
        }
        let count_at = (out.len() + COLUMNS_AT) as u64;
        write_header(&mut out, TYPE_F64, table.n_series() + 1, n_rows, ROWS)?;
        Ok(Head {
            bytes: out,
            count_at,
            time_end_at,
            row_len: 8 * (table.n_series() as u64 + 1),
        })
    }
}

fn push_row(bytes: &mut Vec<u8>, time: f64, series: &[f64]) {
    bytes.extend(time.to_le_bytes());
    for value in series {
        bytes.extend(value.to_le_bytes());
    }
}

/// The rows of a table whose number is known: no place is written twice.
struct WholeFile<W: Write> {
    out: W,
    /// Head, and rows that are still to be written.
    head: Head,
}

impl<W: Write> RowSink for WholeFile<W> {
    fn begin(&mut self, _outline: &ResultTable, _time_start: f64) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        push_row(&mut self.head.bytes, time, series);
        if self.head.bytes.len() >= PIECE_BYTES {
            self.out.write_all(&self.head.bytes)?;
            self.head.bytes.clear();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.head.bytes)?;
        self.head.bytes.clear();
        self.out.flush()
    }
}

/// Writes rows as they come.
///
/// The number of rows stands in front of them, and readers expect a whole matrix or the end of the file behind the last one. Both must change with every piece of rows, and
/// no write changes both. So the rows in the making are hidden in a *filler*: a matrix of bytes without a name that follows the rows that count and goes to the end of the file.
///
/// ```text
/// … data_2: head with n, n rows | filler: head, zeros                          a piece of k rows is to be written
/// … data_2: head with n, n rows | filler: head, rows but for 20 bytes, zeros   written into the filler
/// … data_2: head with n, n rows | filler: head, rows …,   head, zeros          the next filler, inside of the old one
/// … data_2: head with n + k, n + k rows                 | filler: head, zeros  20 bytes and the number: two short writes
/// ```
///
/// A process that is killed leaves a file that any reader of the format reads, with `n` or `n + k` rows and an extra matrix of zeros; between the two short writes `n` rows are
/// followed by bytes that are no matrix, which this reader ignores and [`crate::recover`] removes. The end of the run removes the filler.
pub struct MatWriter<W: Medium + Seek> {
    out: W,
    head: Option<Head>,
    /// Rows that are still to be written.
    piece: Vec<u8>,
    /// Rows handed over and counted in the file.
    n_rows: u64,
    time_written: Option<f64>,
    /// Where the filler ends; `None`: there is none.
    len: Option<u64>,
}

/// The filler has room for this many pieces when it is made longer.
const FILLER_PIECES: u64 = 4;

impl<W: Medium + Seek> MatWriter<W> {
    /// `out` must be empty and is written from its beginning.
    pub fn new(out: W) -> MatWriter<W> {
        MatWriter {
            out,
            head: None,
            piece: Vec::new(),
            n_rows: 0,
            time_written: None,
            len: None,
        }
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> (usize, io::Result<()>) {
        match self.out.seek(SeekFrom::Start(at)) {
            Ok(_) => write_counted(&mut self.out, bytes),
            Err(e) => (0, Err(e)),
        }
    }

    /// Writes a filler that begins at a position and has room for the next piece. Until the rows before it count it is inside of the filler before.
    fn write_filler(&mut self, at: u64, row_len: u64) -> io::Result<()> {
        let filled = self.try_filler(at, PIECE_BYTES as u64 + row_len);
        if filled.is_err() {
            // The file may not be longer than its rows, by a limit on its size: the next piece is appended.
            self.len = None;
            self.out.cut(at)?;
        }
        Ok(())
    }

    fn try_filler(&mut self, at: u64, n_bytes: u64) -> io::Result<()> {
        let room = n_bytes + 2 * HEADER_LEN as u64;
        let mut len = self.len.unwrap_or(at);
        if at + room > len {
            let longer = at + room + FILLER_PIECES * PIECE_BYTES as u64 - len;
            // Zeros are matrices without rows and columns, if their number is a multiple of a head.
            len += longer.next_multiple_of(HEADER_LEN as u64);
            self.out.extend(len)?;
            self.len = Some(len);
        }
        let n_zeros = (len - at) as usize - HEADER_LEN;
        let mut head = Vec::with_capacity(HEADER_LEN);
        for value in [TYPE_BYTES, matrix_row(n_zeros)?, 1, 0, 0] {
            head.extend(value.to_le_bytes());
        }
        self.write_at(at, &head).1
    }

    /// Writes the rows that wait, then their number. If no more can be written, the rows that could be count, and the file ends behind them.
    fn write_piece(&mut self) -> io::Result<()> {
        let piece = std::mem::take(&mut self.piece);
        let (Some(head), false) = (&self.head, piece.is_empty()) else {
            return Ok(());
        };
        let row_len = head.row_len;
        let begin = head.bytes.len() as u64 + self.n_rows * row_len;
        let first = piece.len().min(HEADER_LEN);
        let (n, mut written) = self.write_at(begin + first as u64, &piece[first..]);
        let n_new = (first + n) as u64 / row_len;
        if written.is_ok() {
            written = self.write_filler(begin + piece.len() as u64, row_len);
        }
        if n_new > 0 {
            let counted = match self.write_at(begin, &piece[..first]).1 {
                Ok(()) => self.count(n_new, &piece),
                failed => failed,
            };
            written = written.and(counted);
        }
        if written.is_err() {
            // Why no more could be written says more than that it could not be cut.
            let _ = self.close();
        }
        written
    }

    /// Counts rows that are in the file.
    fn count(&mut self, n_new: u64, piece: &[u8]) -> io::Result<()> {
        let Some(Head {
            count_at,
            time_end_at,
            row_len,
            ..
        }) = self.head
        else {
            return Ok(());
        };
        let n_rows = self.n_rows + n_new;
        let count = i32::try_from(n_rows)
            .map_err(|_| io::Error::other("too many rows for the MAT v4 format"))?;
        self.write_at(count_at, &count.to_le_bytes()).1?;
        self.n_rows = n_rows;
        let at = ((n_new - 1) * row_len) as usize;
        let (time, _) = (piece[at..].split_first_chunk()).expect("a row begins with its time");
        self.time_written = Some(f64::from_le_bytes(*time));
        self.write_at(time_end_at, time).1
    }

    /// Ends the file behind the rows that count.
    fn close(&mut self) -> io::Result<()> {
        let Some(head) = &self.head else {
            return Ok(());
        };
        let end = head.bytes.len() as u64 + self.n_rows * head.row_len;
        self.len = None;
        self.out.cut(end)
    }
}

impl<W: Medium + Seek> RowSink for MatWriter<W> {
    fn begin(&mut self, outline: &ResultTable, time_start: f64) -> io::Result<()> {
        let head = Head::new(outline, Some(time_start), None, 0)?;
        self.out.write_all(&head.bytes)?;
        let (end, row_len) = (head.bytes.len() as u64, head.row_len);
        self.head = Some(head);
        self.write_filler(end, row_len)
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        push_row(&mut self.piece, time, series);
        if self.piece.len() >= PIECE_BYTES {
            self.write_piece()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_piece()?;
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write_piece()?;
        self.close()?;
        self.out.flush()
    }

    fn time_written(&self) -> Option<f64> {
        self.time_written
    }
}

fn matrix_row(row: usize) -> io::Result<i32> {
    i32::try_from(row).map_err(|_| io::Error::other("too many variables for the MAT v4 format"))
}

fn description_with_unit(variable: &Variable) -> String {
    let Variable {
        description,
        unit,
        display_unit,
        ..
    } = variable;
    let unit = match (unit.as_str(), display_unit.as_str()) {
        ("", "") => return description.clone(),
        (unit, "") => format!("[{unit}]"),
        (unit, display) if unit == display => format!("[{unit}]"),
        (unit, display) => format!("[{unit}|{display}]"),
    };
    if description.is_empty() {
        unit
    } else {
        format!("{description} {unit}")
    }
}

fn write_header(
    out: &mut impl Write,
    kind: i32,
    rows: usize,
    columns: usize,
    name: &str,
) -> io::Result<()> {
    let name_len = name.len() + 1;
    for value in [
        kind,
        matrix_row(rows)?,
        matrix_row(columns)?,
        0,
        name_len as i32,
    ] {
        out.write_all(&value.to_le_bytes())?;
    }
    out.write_all(name.as_bytes())?;
    out.write_all(&[0])
}

/// A matrix for a file that is no result.
pub enum MatMatrix<'m> {
    /// Row by row.
    Numbers(&'m [Vec<f64>]),
    /// One text in each row.
    Texts(&'m [String]),
}

/// Writes named matrices, as MATLAB, scipy and the linear systems of Dymola have them: elements by columns.
pub fn write_mat_matrices(
    matrices: &[(&str, MatMatrix<'_>)],
    out: &mut impl Write,
) -> io::Result<()> {
    for (name, matrix) in matrices {
        match matrix {
            MatMatrix::Numbers(rows) => {
                let n_columns = rows.first().map_or(0, Vec::len);
                write_header(out, TYPE_F64, rows.len(), n_columns, name)?;
                for column in 0..n_columns {
                    for row in *rows {
                        out.write_all(&row[column].to_le_bytes())?;
                    }
                }
            }
            MatMatrix::Texts(texts) => {
                let width = texts.iter().map(String::len).max().unwrap_or(0);
                write_header(out, TYPE_TEXT, texts.len(), width, name)?;
                for column in 0..width {
                    for text in *texts {
                        out.write_all(&[text.as_bytes().get(column).copied().unwrap_or(b' ')])?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// `Aclass` is the one matrix with a text per row.
fn write_class(out: &mut impl Write) -> io::Result<()> {
    let width = CLASS_ROWS[0].len();
    write_header(out, TYPE_TEXT, CLASS_ROWS.len(), width, "Aclass")?;
    for column in 0..width {
        for row in CLASS_ROWS {
            out.write_all(&[row.as_bytes().get(column).copied().unwrap_or(b' ')])?;
        }
    }
    Ok(())
}

/// A text per column, padded with zero bytes.
fn write_text_columns(out: &mut impl Write, name: &str, texts: &[String]) -> io::Result<()> {
    let height = texts.iter().map(String::len).max().unwrap_or(0).max(1);
    write_header(out, TYPE_TEXT, height, texts.len(), name)?;
    let mut column = vec![0; height];
    for text in texts {
        column.fill(0);
        column[..text.len()].copy_from_slice(text.as_bytes());
        out.write_all(&column)?;
    }
    Ok(())
}
