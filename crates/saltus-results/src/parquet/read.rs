//! Reading Parquet: files of this program, and those that pandas, Polars and pyarrow write by default.
//!
//! Comes in: a file. Goes out: its numeric columns, row group by row group. Read are flat columns (required or optional) of doubles, floats, integers and truth values, plain or with a
//! dictionary, uncompressed or with Snappy; nulls become NaN. Anything else is an error that names it.

use std::io::{Read, Seek, SeekFrom};

use super::decode::{Field, read_struct};
use super::{MAGIC, TRAILER_LEN};
use crate::{ReadError, ResultTable, SeriesId, Source, Variable};

/// Where the columns are.
pub(crate) struct ParquetLayout {
    groups: Vec<Vec<Chunk>>,
    /// The column of time, and that of each series.
    time: usize,
    series: Vec<usize>,
}

/// A column of a row group.
#[derive(Clone, Copy)]
struct Chunk {
    offset: u64,
    n_bytes: u64,
    n_values: usize,
    kind: Kind,
    codec: i64,
    is_optional: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Int32,
    Int64,
    Float,
    Double,
    Other,
}

impl Kind {
    fn of(number: i64) -> Kind {
        match number {
            0 => Kind::Boolean,
            1 => Kind::Int32,
            2 => Kind::Int64,
            4 => Kind::Float,
            5 => Kind::Double,
            _ => Kind::Other,
        }
    }
}

/// Descriptions and columns beyond this are damaged.
const BYTES_MAX: u64 = 4 << 30;

fn wrong(what: impl Into<String>) -> ReadError {
    ReadError::format(what)
}

/// So many bytes from a position on.
fn bytes_at(source: &mut (impl Read + Seek), at: u64, n: u64) -> Result<Vec<u8>, ReadError> {
    if n > BYTES_MAX {
        return Err(wrong("a part of the file is too long"));
    }
    source
        .seek(SeekFrom::Start(at))
        .map_err(|e| ReadError::io(&e))?;
    let mut bytes = Vec::new();
    let read = source.take(n).read_to_end(&mut bytes);
    read.map_err(|e| ReadError::io(&e))?;
    match bytes.len() as u64 == n {
        true => Ok(bytes),
        false => Err(wrong("the file is shorter than its description says")),
    }
}

impl ParquetLayout {
    pub(crate) fn open(
        source: &mut (impl Read + Seek),
    ) -> Result<(ParquetLayout, ResultTable), ReadError> {
        let len = source
            .seek(SeekFrom::End(0))
            .map_err(|e| ReadError::io(&e))?;
        let end = len
            .checked_sub(TRAILER_LEN as u64)
            .ok_or_else(|| wrong("it is no Parquet file"))?;
        let trailer = bytes_at(source, end, TRAILER_LEN as u64)?;
        if &trailer[4..] != MAGIC {
            return Err(wrong("it is no Parquet file, or not complete"));
        }
        let length = u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]);
        let begin = end
            .checked_sub(u64::from(length))
            .ok_or_else(|| wrong("its description is damaged"))?;
        let description = bytes_at(source, begin, u64::from(length))?;
        let description = read_struct(&mut &description[..])
            .ok_or_else(|| wrong("its description is damaged"))?;
        let schema = description.list(2);
        let n_leaves = schema.len().saturating_sub(1);
        if schema
            .iter()
            .skip(1)
            .any(|column| column.int(5).is_some_and(|n| n > 0))
        {
            return Err(wrong("its columns are nested"));
        }
        let columns: Vec<(String, Kind, bool)> = (schema.iter().skip(1))
            .map(|column| {
                let kind = Kind::of(column.int(1).unwrap_or(-1));
                (column.text(4), kind, column.int(3) == Some(1))
            })
            .collect();
        let mut groups = Vec::new();
        for group in description.list(4) {
            let chunks: Option<Vec<Chunk>> = (group.list(1).iter().zip(&columns))
                .map(|(chunk, (_, kind, is_optional))| {
                    let about = chunk.structure(3)?;
                    let data = about.int(9)?;
                    let offset = about
                        .int(11)
                        .filter(|at| *at > 0 && *at < data)
                        .unwrap_or(data);
                    Some(Chunk {
                        offset: u64::try_from(offset).ok()?,
                        n_bytes: u64::try_from(about.int(7)?).ok()?,
                        n_values: usize::try_from(about.int(5)?).ok()?,
                        kind: *kind,
                        codec: about.int(4).unwrap_or(0),
                        is_optional: *is_optional,
                    })
                })
                .collect();
            let chunks = chunks.filter(|chunks| chunks.len() == n_leaves);
            groups.push(chunks.ok_or_else(|| wrong("its description is damaged"))?);
        }
        let is_number = |k: &usize| columns[*k].1 != Kind::Other;
        let named = (0..columns.len()).find(|k| columns[*k].0.eq_ignore_ascii_case("time"));
        let time = named
            .filter(is_number)
            .or_else(|| (0..columns.len()).find(is_number));
        let time = time.ok_or_else(|| wrong("it has no column of numbers"))?;
        let mut outline = ResultTable::default();
        let mut series = Vec::new();
        for k in (0..columns.len()).filter(|k| *k != time).filter(is_number) {
            let id = outline.push_empty_series();
            let variable = Variable::plain(Source::Series { id, negated: false });
            outline
                .push_variable(&columns[k].0, variable)
                .map_err(|e| wrong(e.to_string()))?;
            series.push(k);
        }
        Ok((
            ParquetLayout {
                groups,
                time,
                series,
            },
            outline,
        ))
    }

    pub(crate) fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// The time and the wanted trajectories of a row group.
    pub(crate) fn read_group(
        &self,
        source: &mut (impl Read + Seek),
        group: usize,
        wanted: &[SeriesId],
    ) -> Result<Vec<Vec<f64>>, ReadError> {
        let chunks = &self.groups[group];
        let columns =
            std::iter::once(self.time).chain(wanted.iter().map(|id| self.series[id.index()]));
        let columns: Result<Vec<Vec<f64>>, ReadError> =
            columns.map(|k| read_chunk(source, &chunks[k])).collect();
        let columns = columns?;
        match columns
            .iter()
            .all(|column| column.len() == columns[0].len())
        {
            true => Ok(columns),
            false => Err(wrong("its columns have different lengths")),
        }
    }
}

const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const DATA_PAGE_V2: i64 = 3;
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE_DICTIONARY: i64 = 8;

fn read_chunk(source: &mut (impl Read + Seek), chunk: &Chunk) -> Result<Vec<f64>, ReadError> {
    let damaged = || wrong("a page is damaged");
    let bytes = bytes_at(source, chunk.offset, chunk.n_bytes)?;
    let mut rest = &bytes[..];
    let mut dictionary: Vec<f64> = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    while values.len() < chunk.n_values {
        let head = read_struct(&mut rest).ok_or_else(damaged)?;
        let size = |field: u8| head.int(field).and_then(|n| usize::try_from(n).ok());
        let (full, stored) = (size(2).ok_or_else(damaged)?, size(3).ok_or_else(damaged)?);
        let page = rest.get(..stored).ok_or_else(damaged)?;
        rest = &rest[stored..];
        match head.int(1) {
            Some(DICTIONARY_PAGE) => {
                let about = head.structure(7).ok_or_else(damaged)?;
                let n = about
                    .int(1)
                    .and_then(|n| usize::try_from(n).ok())
                    .ok_or_else(damaged)?;
                let page = unpacked(page, full, chunk.codec)?;
                dictionary = plain_values(&page, chunk.kind, n).ok_or_else(damaged)?;
            }
            Some(DATA_PAGE) => {
                let about = head.structure(5).ok_or_else(damaged)?;
                let n = about
                    .int(1)
                    .and_then(|n| usize::try_from(n).ok())
                    .ok_or_else(damaged)?;
                let page = unpacked(page, full, chunk.codec)?;
                let mut data = &page[..];
                let present = match chunk.is_optional {
                    false => vec![true; n],
                    true => {
                        let (length, after) = data.split_first_chunk::<4>().ok_or_else(damaged)?;
                        let length = u32::from_le_bytes(*length) as usize;
                        let levels = after.get(..length).ok_or_else(damaged)?;
                        data = &after[length..];
                        levels_of(levels, n).ok_or_else(damaged)?
                    }
                };
                push_page(
                    &mut values,
                    data,
                    about.int(2),
                    chunk.kind,
                    &dictionary,
                    &present,
                )?;
            }
            Some(DATA_PAGE_V2) => {
                let about = head.structure(8).ok_or_else(damaged)?;
                let count = |field| about.int(field).and_then(|n| usize::try_from(n).ok());
                let n = count(1).ok_or_else(damaged)?;
                let (definition, repetition) = (count(5).unwrap_or(0), count(6).unwrap_or(0));
                let head_len = definition + repetition;
                let levels = page.get(repetition..head_len).ok_or_else(damaged)?;
                let present = match chunk.is_optional {
                    true => levels_of(levels, n).ok_or_else(damaged)?,
                    false => vec![true; n],
                };
                let is_packed = about.flag(7).unwrap_or(true);
                let codec = if is_packed { chunk.codec } else { 0 };
                let data = unpacked(&page[head_len..], full.saturating_sub(head_len), codec)?;
                push_page(
                    &mut values,
                    &data,
                    about.int(4),
                    chunk.kind,
                    &dictionary,
                    &present,
                )?;
            }
            _ => {}
        }
    }
    Ok(values)
}

/// Adds the values of a page; what is not present is NaN.
fn push_page(
    values: &mut Vec<f64>,
    data: &[u8],
    encoding: Option<i64>,
    kind: Kind,
    dictionary: &[f64],
    present: &[bool],
) -> Result<(), ReadError> {
    let damaged = || wrong("a page is damaged");
    let n = present.iter().filter(|p| **p).count();
    let found = match encoding {
        Some(PLAIN) => plain_values(data, kind, n).ok_or_else(damaged)?,
        Some(PLAIN_DICTIONARY | RLE_DICTIONARY) => {
            let (width, runs) = data.split_first().ok_or_else(damaged)?;
            let numbers = runs_of(runs, *width, n).ok_or_else(damaged)?;
            let value = |k: u32| dictionary.get(k as usize).copied();
            numbers
                .into_iter()
                .map(value)
                .collect::<Option<Vec<f64>>>()
                .ok_or_else(damaged)?
        }
        other => {
            return Err(wrong(format!(
                "a column has the encoding {}, which is not read: write it plain or with a dictionary",
                other.unwrap_or(-1)
            )));
        }
    };
    let mut found = found.into_iter();
    for is_present in present {
        values.push(if *is_present {
            found.next().ok_or_else(damaged)?
        } else {
            f64::NAN
        });
    }
    Ok(())
}

fn plain_values(data: &[u8], kind: Kind, n: usize) -> Option<Vec<f64>> {
    fn each<const W: usize>(data: &[u8], n: usize, read: fn([u8; W]) -> f64) -> Option<Vec<f64>> {
        let (words, _) = data.as_chunks::<W>();
        Some(words.get(..n)?.iter().map(|w| read(*w)).collect())
    }
    match kind {
        Kind::Double => each(data, n, f64::from_le_bytes),
        Kind::Float => each(data, n, |w| f64::from(f32::from_le_bytes(w))),
        Kind::Int32 => each(data, n, |w| f64::from(i32::from_le_bytes(w))),
        Kind::Int64 => each(data, n, |w| i64::from_le_bytes(w) as f64),
        Kind::Boolean => (0..n)
            .map(|k| Some(f64::from(data.get(k / 8)? >> (k % 8) & 1)))
            .collect(),
        Kind::Other => None,
    }
}

/// Definition levels of one bit.
fn levels_of(bytes: &[u8], n: usize) -> Option<Vec<bool>> {
    Some(
        runs_of(bytes, 1, n)?
            .into_iter()
            .map(|level| level == 1)
            .collect(),
    )
}

/// The hybrid of run lengths and packed bits.
fn runs_of(mut bytes: &[u8], width: u8, n: usize) -> Option<Vec<u32>> {
    let mut out = Vec::new();
    let width = usize::from(width);
    if width > 32 {
        return None;
    }
    while out.len() < n {
        let head = super::decode::varint(&mut bytes)?;
        if head & 1 == 0 {
            let length = usize::try_from(head >> 1).ok()?.min(n - out.len());
            let n_bytes = width.div_ceil(8);
            let mut value = [0; 4];
            value[..n_bytes].copy_from_slice(bytes.get(..n_bytes)?);
            bytes = &bytes[n_bytes..];
            out.extend(std::iter::repeat_n(u32::from_le_bytes(value), length));
        } else {
            let groups = usize::try_from(head >> 1).ok()?;
            let n_bytes = groups.checked_mul(width)?;
            let packed = bytes.get(..n_bytes.min(bytes.len()))?;
            bytes = &bytes[packed.len()..];
            for k in 0..(8 * groups).min(n - out.len()) {
                let bit = |b: usize| packed.get(b / 8).map(|byte| u32::from(byte >> (b % 8) & 1));
                let value = (0..width).try_fold(0, |v, i| Some(v | bit(k * width + i)? << i))?;
                out.push(value);
            }
        }
    }
    Some(out)
}

fn unpacked(page: &[u8], full: usize, codec: i64) -> Result<Vec<u8>, ReadError> {
    const NAMES: [&str; 8] = [
        "none",
        "Snappy",
        "gzip",
        "LZO",
        "Brotli",
        "LZ4",
        "Zstandard",
        "LZ4",
    ];
    match codec {
        0 => Ok(page.to_vec()),
        1 => super::snappy::unpack(page, full).ok_or_else(|| wrong("a page is damaged")),
        other => {
            let name = usize::try_from(other)
                .ok()
                .and_then(|k| NAMES.get(k))
                .unwrap_or(&"unknown");
            Err(wrong(format!(
                "it is compressed with {name}, which is not read: write it with Snappy or without compression"
            )))
        }
    }
}

impl Field {
    fn text(&self, field: u8) -> String {
        self.bytes(field)
            .map_or_else(String::new, |b| String::from_utf8_lossy(b).into_owned())
    }
}
