//! Matrices in files: the text format of the Modelica Standard Library, CSV, and MATLAB level 4 and level 5 files (versions
//! 4, 6 and 7).
//!
//! Comes in: the bytes of a file. Goes out: one matrix, found by its name (CSV files have one matrix and no name).

use super::tables::Matrix;

/// How a file's bytes are to be read, besides its name.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// Name of the matrix.
    pub name: &'a str,
    /// Column delimiter of CSV files.
    pub delimiter: char,
    /// Lines to skip at the top of CSV files.
    pub header_lines: usize,
}

/// Most elements a matrix may have (1 GiB).
const ELEMENTS_MAX: usize = 1 << 27;

pub fn read_matrix(path: &str, bytes: &[u8], reading: &Reading) -> Result<Matrix, String> {
    let ending = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    let found = match ending.as_str() {
        "csv" => csv(bytes, reading),
        "mat" => mat(bytes, reading.name),
        _ => text(bytes, reading.name),
    };
    found.map_err(|e| format!("table file `{path}`: {e}"))
}

/// Rows and columns of the matrix, for functions that ask for the size first.
pub fn matrix_size(path: &str, bytes: &[u8], name: &str) -> Result<(usize, usize), String> {
    read_matrix(
        path,
        bytes,
        &Reading {
            name,
            delimiter: ',',
            header_lines: 0,
        },
    )
    .map(|m| (m.rows, m.columns))
}

/// `#1`, then for each matrix `double name(rows,columns)` and its numbers row by row; `#` starts a comment.
fn text(bytes: &[u8], name: &str) -> Result<Matrix, String> {
    let content = String::from_utf8_lossy(bytes);
    if !content.trim_start_matches('\u{feff}').starts_with("#1") {
        return Err("the first line of a text file with tables must be `#1`".into());
    }
    let mut lines = content.lines().skip(1);
    let mut seen = Vec::new();
    while let Some(line) = lines.next() {
        let Some((found, rows, columns, rest)) = text_header(line) else {
            continue;
        };
        if found != name {
            seen.push(found.to_string());
            continue;
        }
        let n = rows
            .checked_mul(columns)
            .filter(|n| *n <= ELEMENTS_MAX)
            .ok_or("the table is too large")?;
        let mut data = Vec::with_capacity(n);
        let mut current = rest;
        loop {
            let line = current.split('#').next().unwrap_or("");
            for word in line
                .split([' ', '\t', ',', ';', '\r'])
                .filter(|w| !w.is_empty())
            {
                if data.len() == n {
                    break;
                }
                let number = word
                    .parse::<f64>()
                    .map_err(|_| format!("`{word}` in table `{name}` is not a number"))?;
                data.push(number);
            }
            if data.len() == n {
                return Ok(Matrix {
                    rows,
                    columns,
                    data,
                });
            }
            current = lines
                .next()
                .ok_or_else(|| format!("table `{name}` has {} of {n} numbers", data.len()))?;
        }
    }
    Err(format!("there is no table `{name}`{}", listed(&seen)))
}

fn listed(seen: &[String]) -> String {
    if seen.is_empty() {
        String::new()
    } else {
        format!(", only {}", seen.join(", "))
    }
}

/// Name, rows, columns and what follows on the line.
fn text_header(line: &str) -> Option<(&str, usize, usize, &str)> {
    let line = line.trim_start();
    let rest = ["double", "float"]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let (name, rest) = rest.split_once('(')?;
    let (size, rest) = rest.split_once(')')?;
    let (rows, columns) = size.split_once(',')?;
    Some((
        name.trim(),
        rows.trim().parse().ok()?,
        columns.trim().parse().ok()?,
        rest,
    ))
}

fn csv(bytes: &[u8], reading: &Reading) -> Result<Matrix, String> {
    let content = String::from_utf8_lossy(bytes);
    let mut data = Vec::new();
    let (mut rows, mut columns) = (0, 0);
    for (number, line) in content.lines().enumerate().skip(reading.header_lines) {
        if line.trim().is_empty() {
            continue;
        }
        let before = data.len();
        for field in line.split(reading.delimiter) {
            let field = field.trim().trim_matches('"');
            data.push(
                field
                    .parse::<f64>()
                    .map_err(|_| format!("line {}: `{field}` is not a number", number + 1))?,
            );
        }
        let width = data.len() - before;
        if rows > 0 && width != columns {
            return Err(format!(
                "line {} has {width} columns, the lines before {columns}",
                number + 1
            ));
        }
        columns = width;
        rows += 1;
        if data.len() > ELEMENTS_MAX {
            return Err("the table is too large".into());
        }
    }
    if rows == 0 {
        Err("there are no numbers".into())
    } else {
        Ok(Matrix {
            rows,
            columns,
            data,
        })
    }
}

/// Reads numbers from bytes in order.
struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        if n > self.rest.len() {
            return Err("the file ends in the middle of a matrix".into());
        }
        let (head, tail) = self.rest.split_at(n);
        self.rest = tail;
        Ok(head)
    }

    fn u32(&mut self) -> Result<u32, String> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

fn mat(bytes: &[u8], name: &str) -> Result<Matrix, String> {
    if bytes.starts_with(b"MATLAB 5.0") || bytes.starts_with(b"MATLAB 7") {
        return mat5(bytes, name);
    }
    let mut seen = Vec::new();
    let mut b = Bytes { rest: bytes };
    while !b.rest.is_empty() {
        let kind = b.u32()?;
        let (rows, columns, imaginary, name_length) = (
            b.u32()? as usize,
            b.u32()? as usize,
            b.u32()?,
            b.u32()? as usize,
        );
        let (m, o, p, t) = (kind / 1000, kind / 100 % 10, kind / 10 % 10, kind % 10);
        if m != 0 || o != 0 || p > 5 || t > 2 || kind > 9999 || name_length == 0 {
            return Err("not a little-endian MATLAB level 4 file".into());
        }
        let n = rows
            .checked_mul(columns)
            .filter(|n| *n <= ELEMENTS_MAX)
            .ok_or("a matrix is too large")?;
        let found = b.take(name_length)?;
        let found =
            String::from_utf8_lossy(found.split(|c| *c == 0).next().unwrap_or(&[])).to_string();
        let width = [8, 4, 4, 2, 2, 1][p as usize];
        let data = b.take(n * width)?;
        if imaginary != 0 {
            b.take(n * width)?;
        }
        if found == name {
            if t != 0 || imaginary != 0 {
                return Err(format!("matrix `{name}` is not a full real matrix"));
            }
            let numbers: Vec<f64> = data.chunks(width).map(|c| number(c, p)).collect();
            return Ok(by_rows(rows, columns, &numbers));
        }
        seen.push(found);
    }
    Err(format!("there is no matrix `{name}`{}", listed(&seen)))
}

/// One number of a level 4 file, by its precision code.
fn number(c: &[u8], precision: u32) -> f64 {
    match precision {
        0 => f64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]),
        1 => f64::from(f32::from_le_bytes([c[0], c[1], c[2], c[3]])),
        2 => f64::from(i32::from_le_bytes([c[0], c[1], c[2], c[3]])),
        3 => f64::from(i16::from_le_bytes([c[0], c[1]])),
        4 => f64::from(u16::from_le_bytes([c[0], c[1]])),
        _ => f64::from(c[0]),
    }
}

fn by_rows(rows: usize, columns: usize, by_columns: &[f64]) -> Matrix {
    let data = (0..rows)
        .flat_map(|i| (0..columns).map(move |j| by_columns[j * rows + i]))
        .collect();
    Matrix {
        rows,
        columns,
        data,
    }
}

/// A data element of a level 5 file: type, bytes.
fn element<'a>(b: &mut Bytes<'a>) -> Result<(u32, &'a [u8]), String> {
    let tag = b.u32()?;
    if tag >> 16 != 0 {
        // Small element: length and type in one word, data in the next.
        let data = b.take(4)?;
        let n = (tag >> 16) as usize;
        return Ok((
            tag & 0xffff,
            data.get(..n).ok_or("a small element is too long")?,
        ));
    }
    let n = b.u32()? as usize;
    let data = b.take(n)?;
    // Compressed elements stand without padding.
    let padding = if tag == MAT5_COMPRESSED {
        0
    } else {
        (8 - n % 8) % 8
    };
    b.take(padding.min(b.rest.len()))?;
    Ok((tag, data))
}

/// A matrix element of a level 5 file, its data not yet read.
struct Mat5<'a> {
    name: String,
    class: u8,
    dims: &'a [u8],
    rest: Bytes<'a>,
}

fn mat5_matrix(data: &[u8]) -> Result<Mat5<'_>, String> {
    let mut rest = Bytes { rest: data };
    let (_, flags) = element(&mut rest)?;
    let (_, dims) = element(&mut rest)?;
    let (_, name) = element(&mut rest)?;
    Ok(Mat5 {
        name: String::from_utf8_lossy(name).to_string(),
        class: flags.first().copied().unwrap_or(0),
        dims,
        rest,
    })
}

const MAT5_MATRIX: u32 = 14;
const MAT5_COMPRESSED: u32 = 15;
/// Class of a structure; numbers have the classes 6 to 15.
const MAT5_STRUCT: u8 = 2;

/// Level 5, versions 6 and 7; `name` may lead into structures, `s.a`.
fn mat5(bytes: &[u8], name: &str) -> Result<Matrix, String> {
    if bytes.len() < 128 || &bytes[126..128] != b"IM" {
        return Err("not a little-endian MATLAB level 5 file".into());
    }
    let mut path = name.split('.');
    let first = path.next().unwrap_or("");
    let mut b = Bytes {
        rest: &bytes[128..],
    };
    let mut seen = Vec::new();
    while b.rest.len() >= 8 {
        let (kind, data) = element(&mut b)?;
        let unpacked;
        let (kind, data) = if kind == MAT5_COMPRESSED {
            unpacked = super::inflate::inflate(data)?;
            element(&mut Bytes { rest: &unpacked })?
        } else {
            (kind, data)
        };
        if kind != MAT5_MATRIX {
            continue;
        }
        let mut matrix = mat5_matrix(data)?;
        if matrix.name != first {
            seen.push(matrix.name);
            continue;
        }
        for field in path {
            matrix = mat5_field(matrix, field)?;
        }
        return mat5_numbers(matrix, name);
    }
    Err(format!("there is no matrix `{name}`{}", listed(&seen)))
}

/// A field of a structure.
fn mat5_field<'a>(mut matrix: Mat5<'a>, field: &str) -> Result<Mat5<'a>, String> {
    if matrix.class != MAT5_STRUCT {
        return Err(format!(
            "`{}` is not a structure, so it has no field `{field}`",
            matrix.name
        ));
    }
    let (_, width) = element(&mut matrix.rest)?;
    let width = width
        .first()
        .copied()
        .filter(|w| *w > 0)
        .ok_or("a structure without field names")? as usize;
    let (_, names) = element(&mut matrix.rest)?;
    for name in names.chunks(width) {
        let (_, data) = element(&mut matrix.rest)?;
        if name.split(|c| *c == 0).next() == Some(field.as_bytes()) {
            return mat5_matrix(data);
        }
    }
    Err(format!("`{}` has no field `{field}`", matrix.name))
}

fn mat5_numbers(mut matrix: Mat5, name: &str) -> Result<Matrix, String> {
    let dims = matrix.dims;
    if !(6..=15).contains(&matrix.class) || dims.len() != 8 {
        return Err(format!("matrix `{name}` is not a full numeric matrix"));
    }
    let size =
        |i: usize| u32::from_le_bytes([dims[i], dims[i + 1], dims[i + 2], dims[i + 3]]) as usize;
    let (rows, columns) = (size(0), size(4));
    let (kind, data) = element(&mut matrix.rest)?;
    let width = match kind {
        1 | 2 => 1,
        3 | 4 => 2,
        5..=7 => 4,
        9 => 8,
        _ => {
            return Err(format!(
                "matrix `{name}` has the unknown number type {kind}"
            ));
        }
    };
    let numbers: Vec<f64> = data
        .chunks_exact(width)
        .map(|c| match kind {
            1 => f64::from(c[0] as i8),
            2 => f64::from(c[0]),
            3 => f64::from(i16::from_le_bytes([c[0], c[1]])),
            4 => f64::from(u16::from_le_bytes([c[0], c[1]])),
            5 => f64::from(i32::from_le_bytes([c[0], c[1], c[2], c[3]])),
            6 => f64::from(u32::from_le_bytes([c[0], c[1], c[2], c[3]])),
            7 => f64::from(f32::from_le_bytes([c[0], c[1], c[2], c[3]])),
            _ => f64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]),
        })
        .collect();
    if rows.checked_mul(columns) != Some(numbers.len()) {
        return Err(format!(
            "matrix `{name}` has {} numbers instead of {rows}·{columns}",
            numbers.len()
        ));
    }
    Ok(by_rows(rows, columns, &numbers))
}

/// A matrix as a MAT v4 file holds it: a header of five 32-bit integers, the name, the numbers by columns.
fn mat4_bytes(name: &str, matrix: &Matrix) -> Result<Vec<u8>, String> {
    let size = |n: usize| i32::try_from(n).map_err(|_| format!("matrix `{name}` is too large"));
    let header = [
        0,
        size(matrix.rows)?,
        size(matrix.columns)?,
        0,
        size(name.len() + 1)?,
    ];
    let mut bytes: Vec<u8> = header.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend(name.bytes().chain([0]));
    for j in 0..matrix.columns {
        for i in 0..matrix.rows {
            bytes.extend(matrix.at(i, j).to_le_bytes());
        }
    }
    Ok(bytes)
}

/// Versions of MAT files that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatVersion {
    V4,
    /// Level 5, not compressed.
    V6,
    /// Level 5, each matrix in a zlib stream.
    V7,
}

impl MatVersion {
    pub fn from_name(name: &str) -> Option<MatVersion> {
        match name {
            "4" => Some(MatVersion::V4),
            "6" => Some(MatVersion::V6),
            "7" => Some(MatVersion::V7),
            _ => None,
        }
    }
}

/// A file with one matrix, or what is appended to a file for one more.
pub fn mat_bytes(
    version: MatVersion,
    name: &str,
    matrix: &Matrix,
    append: bool,
) -> Result<Vec<u8>, String> {
    if version == MatVersion::V4 {
        return mat4_bytes(name, matrix);
    }
    let mut bytes = if append { Vec::new() } else { mat5_header() };
    let element = mat5_bytes(name, matrix)?;
    match version {
        MatVersion::V7 => push_element(&mut bytes, MAT5_COMPRESSED, &zlib_stored(&element))?,
        MatVersion::V4 | MatVersion::V6 => bytes.extend(element),
    }
    Ok(bytes)
}

const MAT5_INT8: u32 = 1;
const MAT5_INT32: u32 = 5;
const MAT5_UINT32: u32 = 6;
const MAT5_DOUBLE: u32 = 9;
/// Array flags of a full matrix of doubles.
const MAT5_CLASS_DOUBLE: u32 = 6;

/// 116 bytes of text, an empty offset, version 1 and the mark of the byte order.
fn mat5_header() -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file, written by Saltus".to_vec();
    bytes.resize(116, b' ');
    bytes.extend([0; 8]);
    bytes.extend([0x00, 0x01, b'I', b'M']);
    bytes
}

/// Kind, size and content of an element.
fn push_element(bytes: &mut Vec<u8>, kind: u32, content: &[u8]) -> Result<(), String> {
    let size = u32::try_from(content.len()).map_err(|_| "a matrix is too large for a file")?;
    bytes.extend(kind.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(content);
    Ok(())
}

/// A matrix of level 5: flags, dimensions, name, numbers by columns, each at a multiple of eight bytes.
fn mat5_bytes(name: &str, matrix: &Matrix) -> Result<Vec<u8>, String> {
    let size = |n: usize| i32::try_from(n).map_err(|_| format!("matrix `{name}` is too large"));
    let mut body = Vec::new();
    let mut part = |kind: u32, content: &[u8]| -> Result<(), String> {
        push_element(&mut body, kind, content)?;
        body.resize(body.len().next_multiple_of(8), 0);
        Ok(())
    };
    let flags = [MAT5_CLASS_DOUBLE.to_le_bytes(), [0; 4]].concat();
    part(MAT5_UINT32, &flags)?;
    let dims = [size(matrix.rows)?, size(matrix.columns)?].map(i32::to_le_bytes);
    part(MAT5_INT32, &dims.concat())?;
    part(MAT5_INT8, name.as_bytes())?;
    let numbers: Vec<u8> = (0..matrix.columns)
        .flat_map(|j| (0..matrix.rows).flat_map(move |i| matrix.at(i, j).to_le_bytes()))
        .collect();
    part(MAT5_DOUBLE, &numbers)?;
    let mut bytes = Vec::new();
    push_element(&mut bytes, MAT5_MATRIX, &body)?;
    Ok(bytes)
}

/// A zlib stream (RFC 1950) of blocks that are not compressed (RFC 1951, 3.2.4).
fn zlib_stored(content: &[u8]) -> Vec<u8> {
    const BLOCK_MAX: usize = u16::MAX as usize;
    let mut bytes = vec![0x78, 0x01];
    let n_blocks = content.len().div_ceil(BLOCK_MAX).max(1);
    for k in 0..n_blocks {
        let block = &content[k * BLOCK_MAX..content.len().min((k + 1) * BLOCK_MAX)];
        let len = block.len() as u16;
        bytes.push(u8::from(k + 1 == n_blocks));
        bytes.extend(len.to_le_bytes());
        bytes.extend((!len).to_le_bytes());
        bytes.extend(block);
    }
    bytes.extend(super::inflate::adler32(content).to_be_bytes());
    bytes
}
