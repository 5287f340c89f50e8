//! Reading: names and constants at once, rows as they are asked for.

use std::io::{Read, Seek, SeekFrom};

use saltus_model::{ValueType, VariableKind};

use super::{COLUMNS_AT, HEADER_LEN, ROWS};
use crate::{ReadError, ResultTable, SeriesId, Source, Variable};

/// Rows are read in pieces of about this size.
const PIECE_BYTES: usize = 1 << 20;

/// Where the rows of a file are.
pub(crate) struct MatLayout {
    /// The first element of the matrix of the rows.
    at: u64,
    element: Element,
    n_rows: u64,
    /// Values of a row, time included.
    n_values: usize,
    /// The values of a row are side by side; else all values of a variable are.
    by_row: bool,
    /// The place of each trajectory in a row.
    places: Vec<usize>,
}

/// What an element of a matrix is.
#[derive(Clone, Copy)]
struct Element {
    kind: i32,
    width: usize,
    big_endian: bool,
}

/// The matrices that a result consists of.
#[derive(Default)]
struct MatFile {
    matrices: Vec<Matrix>,
}

struct Matrix {
    name: String,
    rows: usize,
    columns: usize,
    element: Element,
    at: u64,
    /// Empty for the matrix of the rows.
    content: Vec<u8>,
}

impl MatLayout {
    /// Reads everything but the rows. The outline is a table without rows.
    pub(crate) fn open(
        source: &mut (impl Read + Seek),
    ) -> Result<(MatLayout, ResultTable), ReadError> {
        let file = MatFile::read(source, Ending::Whole)?;
        MatLayout::of(&file)
    }

    /// The same for a file that may end before the rows that it promises: those count that are there.
    pub(crate) fn open_cut(source: &mut (impl Read + Seek)) -> Result<MatLayout, ReadError> {
        let file = MatFile::read(source, Ending::AfterAnyRow)?;
        Ok(MatLayout::of(&file)?.0)
    }

    fn of(file: &MatFile) -> Result<(MatLayout, ResultTable), ReadError> {
        let transposed = file.is_transposed()?;
        let names = file.texts("name", transposed)?;
        let descriptions = file.texts("description", transposed)?;
        let info = file.by_variable("dataInfo", transposed)?;
        let data_1 = file.by_variable("data_1", !transposed)?;
        let data_2 = file.by_variable(ROWS, !transposed)?;
        if info.n != names.len() || descriptions.len() != names.len() || info.len < 2 {
            return Err(ReadError::format(
                "`name`, `description` and `dataInfo` disagree about the number of variables",
            ));
        }
        if data_2.n == 0 {
            return Err(ReadError::format("`data_2` has no time"));
        }
        let mut outline = ResultTable::default();
        let mut places = Vec::new();
        let mut ids: Vec<Option<SeriesId>> = vec![None; data_2.n];
        for (i, (name, description)) in names.into_iter().zip(descriptions).enumerate() {
            let (matrix, signed_row) = (info.value(i, 0) as i64, info.value(i, 1) as i64);
            let row = signed_row.unsigned_abs() as usize;
            if row == 1 && name.eq_ignore_ascii_case("time") {
                continue;
            }
            let out_of_range =
                || ReadError::format(format!("the data of `{name}` is not in the file"));
            let index = row.checked_sub(1).ok_or_else(out_of_range)?;
            let source = if matrix == 1 {
                if index >= data_1.n || data_1.len == 0 {
                    return Err(out_of_range());
                }
                let value = data_1.value(index, 0);
                Source::Constant(if signed_row < 0 { -value } else { value })
            } else {
                let id = match ids.get(index).ok_or_else(out_of_range)? {
                    Some(id) => *id,
                    None => {
                        places.push(index);
                        *ids[index].insert(outline.push_empty_series())
                    }
                };
                Source::Series {
                    id,
                    negated: signed_row < 0,
                }
            };
            outline
                .push_variable(name, variable(&description, source))
                .map_err(|e| ReadError::format(e.to_string()))?;
        }
        let layout = MatLayout {
            at: data_2.matrix.at,
            element: data_2.matrix.element,
            n_rows: data_2.len as u64,
            n_values: data_2.n,
            by_row: transposed,
            places,
        };
        Ok((layout, outline))
    }

    pub(crate) fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Where the last row ends; `None` for files in which rows are not side by side.
    pub(crate) fn end(&self) -> Option<u64> {
        let row_len = (self.n_values * self.element.width) as u64;
        self.by_row.then(|| self.at + self.n_rows * row_len)
    }

    /// The place of the number of rows in the file, and the number as it is written there.
    pub(crate) fn count(&self) -> Result<(u64, [u8; 4]), ReadError> {
        let n_rows = i32::try_from(self.n_rows)
            .map_err(|_| ReadError::format("more rows than the format can count"))?;
        let bytes = match self.element.big_endian {
            true => n_rows.to_be_bytes(),
            false => n_rows.to_le_bytes(),
        };
        let name_len = ROWS.len() + 1;
        Ok((self.at - (name_len + HEADER_LEN - COLUMNS_AT) as u64, bytes))
    }

    /// Reads the times of some rows, and the values of some trajectories in them, row by row.
    pub(crate) fn read_rows(
        &self,
        source: &mut (impl Read + Seek),
        first: u64,
        wanted: &[SeriesId],
        rows: &mut Vec<f64>,
    ) -> Result<(), ReadError> {
        let width = self.element.width;
        let row_len = self.n_values * width;
        let n = ((PIECE_BYTES / row_len).max(1) as u64).min(self.n_rows - first) as usize;
        let places = || std::iter::once(0).chain(wanted.iter().map(|id| self.places[id.index()]));
        let stride = wanted.len() + 1;
        rows.clear();
        let mut read_at = |at: u64, len: usize| {
            let mut bytes = vec![0; len];
            (source.seek(SeekFrom::Start(at)))
                .and_then(|_| source.read_exact(&mut bytes))
                .map_err(|e| ReadError::io(&e))?;
            Ok(bytes)
        };
        if self.by_row {
            let bytes = read_at(self.at + first * row_len as u64, n * row_len)?;
            for row in bytes.chunks_exact(row_len) {
                rows.extend(places().map(|p| self.element.value(&row[p * width..][..width])));
            }
        } else {
            rows.resize(n * stride, 0.0);
            for (k, place) in places().enumerate() {
                let begin = (place as u64 * self.n_rows + first) * width as u64;
                let bytes = read_at(self.at + begin, n * width)?;
                for (row, value) in bytes.chunks_exact(width).enumerate() {
                    rows[row * stride + k] = self.element.value(value);
                }
            }
        }
        Ok(())
    }
}

fn variable(description: &str, source: Source) -> Variable {
    let (description, unit, display_unit) = split_unit(description);
    let kind = match source {
        Source::Constant(_) => VariableKind::Parameter,
        Source::Series { .. } => VariableKind::Continuous,
    };
    Variable {
        description,
        unit,
        display_unit,
        ty: ValueType::Real,
        kind,
        source,
    }
}

/// Takes `[unit]` or `[unit|displayUnit]` off the end of a description; what follows `:#` is a tool's private note.
fn split_unit(text: &str) -> (String, String, String) {
    let text = text.split(":#").next().unwrap_or(text).trim_end();
    let split = text
        .strip_suffix(']')
        .and_then(|body| body.rsplit_once('['));
    match split {
        Some((description, units)) => {
            let (unit, display) = units.split_once('|').unwrap_or((units, ""));
            (
                description.trim_end().to_owned(),
                unit.to_owned(),
                display.to_owned(),
            )
        }
        None => (text.to_owned(), String::new(), String::new()),
    }
}

/// A matrix seen as `n` items of `len` values.
struct Items<'a> {
    matrix: &'a Matrix,
    /// An item is a column (else a row).
    by_column: bool,
    n: usize,
    len: usize,
}

impl Items<'_> {
    /// A value of an item; both must be inside.
    fn value(&self, item: usize, index: usize) -> f64 {
        let (row, column) = if self.by_column {
            (index, item)
        } else {
            (item, index)
        };
        let Matrix { rows, element, .. } = *self.matrix;
        let at = (column * rows + row) * element.width;
        element.value(&self.matrix.content[at..at + element.width])
    }

    /// Text from character codes: UTF-8 if it is, else Latin-1; without the padding.
    fn text(&self, item: usize) -> String {
        let bytes: Vec<u8> = (0..self.len).map(|i| self.value(item, i) as u8).collect();
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|e| e.into_bytes().iter().map(|&b| char::from(b)).collect());
        text.trim_end_matches(['\0', ' ']).to_owned()
    }
}

/// How a file may end.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    /// Behind a matrix.
    Whole,
    /// Inside of the matrix of the rows.
    AfterAnyRow,
}

/// The matrices of a result.
const MATRICES: [&str; 6] = ["Aclass", "name", "description", "dataInfo", "data_1", ROWS];

impl MatFile {
    /// Reads the matrices of a result, all but the rows themselves. What follows them may be what a write that was cut off has left, and is not looked at.
    fn read(source: &mut (impl Read + Seek), ending: Ending) -> Result<MatFile, ReadError> {
        let len = source
            .seek(SeekFrom::End(0))
            .map_err(|e| ReadError::io(&e))?;
        let mut file = MatFile::default();
        let mut at = 0;
        while at < len && !MATRICES.iter().all(|name| file.find(name).is_ok()) {
            let (matrix, end) = read_matrix(source, at, len, ending)?;
            at = end;
            if MATRICES.contains(&matrix.name.as_str()) {
                file.matrices.push(matrix);
            }
        }
        Ok(file)
    }

    fn find(&self, name: &str) -> Result<&Matrix, ReadError> {
        self.matrices
            .iter()
            .find(|m| m.name == name)
            .ok_or_else(|| {
                ReadError::format(format!(
                    "no matrix `{name}`: not a Modelica result in the MAT v4 format"
                ))
            })
    }

    fn is_transposed(&self) -> Result<bool, ReadError> {
        let class = self.find("Aclass")?;
        let rows = Items {
            matrix: class,
            by_column: false,
            n: class.rows,
            len: class.columns,
        };
        let text = |i| (i < rows.n).then(|| rows.text(i));
        match text(3).as_deref() {
            _ if text(0).as_deref() != Some("Atrajectory") => Err(ReadError::format(
                "the file holds no trajectories (its class is not `Atrajectory`)",
            )),
            Some("binTrans") => Ok(true),
            Some("binNormal") | None => Ok(false),
            Some(other) => Err(ReadError::format(format!("unknown layout `{other}`"))),
        }
    }

    /// The matrix with one item per variable: columns, or rows.
    fn by_variable(&self, name: &str, by_column: bool) -> Result<Items<'_>, ReadError> {
        let matrix = self.find(name)?;
        let (n, len) = if by_column {
            (matrix.columns, matrix.rows)
        } else {
            (matrix.rows, matrix.columns)
        };
        Ok(Items {
            matrix,
            by_column,
            n,
            len,
        })
    }

    fn texts(&self, name: &str, by_column: bool) -> Result<Vec<String>, ReadError> {
        let items = self.by_variable(name, by_column)?;
        Ok((0..items.n).map(|i| items.text(i)).collect())
    }
}

const TRUNCATED: &str = "the file ends in the middle of a matrix";
/// The names of the matrices of a result are short.
const NAME_LEN_MAX: u64 = 1000;
/// Names, descriptions and constants are kept in memory.
const HEAD_BYTES_MAX: u64 = 1 << 30;

/// Reads one matrix of a file with `len` bytes; returns it and where it ends.
fn read_matrix(
    source: &mut (impl Read + Seek),
    at: u64,
    len: u64,
    ending: Ending,
) -> Result<(Matrix, u64), ReadError> {
    let truncated = || ReadError::format(TRUNCATED);
    let name_at = at + HEADER_LEN as u64;
    if name_at > len {
        return Err(truncated());
    }
    let mut header = [0; HEADER_LEN];
    (source.seek(SeekFrom::Start(at)))
        .and_then(|_| source.read_exact(&mut header))
        .map_err(|e| ReadError::io(&e))?;
    let (fields, _) = header.as_chunks::<4>();
    let big_endian = !(0..1000).contains(&i32::from_le_bytes(fields[0]));
    let field = |i: usize| {
        if big_endian {
            i32::from_be_bytes(fields[i])
        } else {
            i32::from_le_bytes(fields[i])
        }
    };
    let kind = field(0);
    if kind / 1000 != i32::from(big_endian) || kind % 1000 / 100 != 0 {
        return Err(ReadError::format("not a MAT v4 file"));
    }
    let size = |value: i32, what: &str| {
        u64::try_from(value)
            .map_err(|_| ReadError::format(format!("negative {what} in a matrix header")))
    };
    let (rows, columns) = (
        size(field(1), "row count")?,
        size(field(2), "column count")?,
    );
    let name_len = size(field(4), "name length")?;
    if field(3) != 0 {
        return Err(ReadError::format(
            "complex matrices do not belong in a result",
        ));
    }
    let element = Element::new(kind % 100 / 10, big_endian)?;
    let content_at = name_at + name_len;
    let content_len = (rows * columns)
        .checked_mul(element.width as u64)
        .ok_or_else(truncated)?;
    let end = content_at.checked_add(content_len).ok_or_else(truncated)?;
    if name_len > NAME_LEN_MAX || content_at > len {
        return Err(truncated());
    }
    if content_len == 0 && rows.max(columns) > len {
        return Err(ReadError::format("an empty matrix claims to be huge"));
    }
    let mut name = vec![0; name_len as usize];
    source
        .read_exact(&mut name)
        .map_err(|e| ReadError::io(&e))?;
    let name = String::from_utf8_lossy(&name)
        .trim_end_matches('\0')
        .to_owned();
    let (mut columns, mut end) = (columns, end);
    if end > len {
        if name != ROWS || ending == Ending::Whole || rows == 0 {
            return Err(truncated());
        }
        columns = (len - content_at) / (rows * element.width as u64);
        end = len;
    }
    let mut content = Vec::new();
    if MATRICES.contains(&name.as_str()) && name != ROWS {
        if content_len > HEAD_BYTES_MAX {
            return Err(ReadError::format(format!(
                "`{name}` has {content_len} bytes"
            )));
        }
        content.resize(content_len as usize, 0);
        source
            .read_exact(&mut content)
            .map_err(|e| ReadError::io(&e))?;
    }
    let matrix = Matrix {
        name,
        rows: rows as usize,
        columns: columns as usize,
        element,
        at: content_at,
        content,
    };
    Ok((matrix, end))
}

impl Element {
    fn new(kind: i32, big_endian: bool) -> Result<Element, ReadError> {
        let width = match kind {
            0 => 8,
            1 | 2 => 4,
            3 | 4 => 2,
            5 => 1,
            _ => return Err(ReadError::format("unknown element type in a matrix header")),
        };
        Ok(Element {
            kind,
            width,
            big_endian,
        })
    }

    fn value(self, bytes: &[u8]) -> f64 {
        let mut b = [0_u8; 8];
        for (i, &byte) in bytes.iter().enumerate() {
            let at = if self.big_endian {
                bytes.len() - 1 - i
            } else {
                i
            };
            b[at] = byte;
        }
        match self.kind {
            0 => f64::from_le_bytes(b),
            1 => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            2 => f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            3 => f64::from(i16::from_le_bytes([b[0], b[1]])),
            4 => f64::from(u16::from_le_bytes([b[0], b[1]])),
            _ => f64::from(b[0]),
        }
    }
}
