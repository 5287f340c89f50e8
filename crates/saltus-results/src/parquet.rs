//! Parquet results: one column of doubles for time and for each variable, texts where a table has them.
//!
//! Written is the plain part of the format (version 2.9 of its specification): required columns, pages with the encoding PLAIN, no compression, no statistics, and the
//! description at the end in Thrift's compact protocol. Any reader of Parquet reads it; reading it back is not done here.
//!
//! ```text
//! PAR1 (column chunks of a row group)* description length-of-description PAR1
//! ```
//!
//! **While a run goes on** rows of the last group stay in memory. `flush` writes that group and the description behind it; the next one writes the longer group over both, until it is long
//! enough and another one begins. So a file can be read after every `flush`; a process that is killed in the middle of one leaves a file that cannot.

use std::io::{self, Seek, SeekFrom, Write};

use crate::stream::write_all;
use crate::{ResultTable, RowSink, Source};

const MAGIC: &[u8; 4] = b"PAR1";
/// A row group with more bytes is complete.
const GROUP_BYTES: usize = 16 << 20;
const CREATED_BY: &str = concat!("saltus version ", env!("CARGO_PKG_VERSION"));

/// A column of a table that is complete.
pub enum ParquetColumn {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl ParquetColumn {
    #[expect(
        clippy::len_without_is_empty,
        reason = "a column without rows is nothing special"
    )]
    pub fn len(&self) -> usize {
        match self {
            ParquetColumn::Numbers(values) => values.len(),
            ParquetColumn::Texts(values) => values.len(),
        }
    }

    fn physical_type(&self) -> PhysicalType {
        match self {
            ParquetColumn::Numbers(_) => PhysicalType::Double,
            ParquetColumn::Texts(_) => PhysicalType::ByteArray,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            ParquetColumn::Numbers(values) => plain(values),
            ParquetColumn::Texts(values) => {
                let mut out = Vec::new();
                for text in values {
                    out.extend((text.len() as u32).to_le_bytes());
                    out.extend(text.as_bytes());
                }
                out
            }
        }
    }
}

/// Writes a result.
pub fn write_parquet(table: &ResultTable, out: impl Write + Seek) -> io::Result<()> {
    write_all(table, &mut ParquetWriter::new(out))
}

/// Writes a table of numbers and texts with columns of equal length.
pub fn write_parquet_columns(
    columns: &[(String, ParquetColumn)],
    out: &mut impl Write,
) -> io::Result<()> {
    let n_rows = columns.first().map_or(0, |(_, column)| column.len());
    if columns.iter().any(|(_, column)| column.len() != n_rows) {
        return Err(io::Error::other("columns of different length"));
    }
    let schema: Vec<(String, PhysicalType)> = (columns.iter())
        .map(|(name, column)| (name.clone(), column.physical_type()))
        .collect();
    let mut bytes = MAGIC.to_vec();
    let mut groups = Vec::new();
    if n_rows > 0 {
        let chunks = columns.iter().map(|(_, column)| column.bytes());
        groups.push(push_group(&mut bytes, 0, chunks, n_rows));
    }
    push_description(&mut bytes, &schema, &groups);
    out.write_all(&bytes)
}

/// Writes rows as they come.
pub struct ParquetWriter<W: Write + Seek> {
    out: W,
    schema: Vec<(String, PhysicalType)>,
    sources: Vec<Source>,
    /// Groups that are complete, and where the next one begins.
    groups: Vec<Group>,
    end: u64,
    /// The values of each column in the group in the making.
    columns: Vec<Vec<f64>>,
}

impl<W: Write + Seek> ParquetWriter<W> {
    pub fn new(out: W) -> ParquetWriter<W> {
        ParquetWriter {
            out,
            schema: Vec::new(),
            sources: Vec::new(),
            groups: Vec::new(),
            end: MAGIC.len() as u64,
            columns: Vec::new(),
        }
    }

    fn n_pending(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Writes the last group and the description.
    fn write_tail(&mut self) -> io::Result<()> {
        let n_rows = self.n_pending();
        let mut bytes = Vec::new();
        let pending = (n_rows > 0).then(|| {
            let chunks = self.columns.iter().map(|values| plain(values));
            push_group(&mut bytes, self.end, chunks, n_rows)
        });
        let group_end = self.end + bytes.len() as u64;
        let all: Vec<&Group> = self.groups.iter().chain(&pending).collect();
        push_description(&mut bytes, &self.schema, &all);
        self.out.seek(SeekFrom::Start(self.end))?;
        self.out.write_all(&bytes)?;
        self.out.flush()?;
        if n_rows * self.columns.len() * size_of::<f64>() >= GROUP_BYTES {
            self.groups.extend(pending);
            self.end = group_end;
            self.columns.iter_mut().for_each(Vec::clear);
        }
        Ok(())
    }
}

impl<W: Write + Seek> RowSink for ParquetWriter<W> {
    fn begin(&mut self, outline: &ResultTable, _time_start: f64) -> io::Result<()> {
        self.schema.push(("time".to_owned(), PhysicalType::Double));
        for (name, variable) in outline.variables() {
            self.schema.push((name.to_owned(), PhysicalType::Double));
            self.sources.push(variable.source);
        }
        self.columns = vec![Vec::new(); self.schema.len()];
        self.out.write_all(MAGIC)
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        self.columns[0].push(time);
        for (column, source) in self.columns[1..].iter_mut().zip(&self.sources) {
            column.push(source.value(series));
        }
        if self.n_pending() * self.columns.len() * size_of::<f64>() >= GROUP_BYTES {
            self.write_tail()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_tail()
    }
}

fn plain(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Types of the format, by their numbers there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PhysicalType {
    Double = 5,
    ByteArray = 6,
}

const REQUIRED: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const UNCOMPRESSED: i32 = 0;
const DATA_PAGE: i32 = 0;
const UTF8: i32 = 0;

/// What the description says of a row group.
struct Group {
    chunks: Vec<Chunk>,
    n_rows: usize,
}

struct Chunk {
    offset: u64,
    /// With the head of its page.
    n_bytes: usize,
}

/// Appends the column chunks of a group whose first byte is at `offset` of the file, less what is in `bytes` already.
fn push_group(
    bytes: &mut Vec<u8>,
    offset: u64,
    chunks: impl Iterator<Item = Vec<u8>>,
    n_rows: usize,
) -> Group {
    let chunks = chunks
        .map(|data| {
            let begin = bytes.len();
            let mut head = Thrift::default();
            head.int(1, DATA_PAGE);
            head.int(2, data.len() as i32);
            head.int(3, data.len() as i32);
            head.begin_struct(5);
            head.int(1, n_rows as i32);
            head.int(2, PLAIN);
            head.int(3, RLE);
            head.int(4, RLE);
            head.end_struct();
            bytes.extend(head.finish());
            bytes.extend(data);
            Chunk {
                offset: offset + begin as u64,
                n_bytes: bytes.len() - begin,
            }
        })
        .collect();
    Group { chunks, n_rows }
}

fn push_description<G: std::borrow::Borrow<Group>>(
    bytes: &mut Vec<u8>,
    schema: &[(String, PhysicalType)],
    groups: &[G],
) {
    let n_rows: usize = groups.iter().map(|g| g.borrow().n_rows).sum();
    let mut out = Thrift::default();
    out.int(1, 2);
    out.begin_list(2, schema.len() + 1);
    out.begin_element();
    out.text(4, "schema");
    out.int(5, schema.len() as i32);
    out.end_struct();
    for (name, physical) in schema {
        out.begin_element();
        out.int(1, *physical as i32);
        out.int(3, REQUIRED);
        out.text(4, name);
        if *physical == PhysicalType::ByteArray {
            out.int(6, UTF8);
        }
        out.end_struct();
    }
    out.long(3, n_rows as i64);
    out.begin_list(4, groups.len());
    for group in groups {
        let group = group.borrow();
        let n_bytes: usize = group.chunks.iter().map(|c| c.n_bytes).sum();
        out.begin_element();
        out.begin_list(1, group.chunks.len());
        for (chunk, (name, physical)) in group.chunks.iter().zip(schema) {
            out.begin_element();
            out.long(2, chunk.offset as i64);
            out.begin_struct(3);
            out.int(1, *physical as i32);
            out.ints(2, &[PLAIN, RLE]);
            out.texts(3, &[name]);
            out.int(4, UNCOMPRESSED);
            out.long(5, group.n_rows as i64);
            out.long(6, chunk.n_bytes as i64);
            out.long(7, chunk.n_bytes as i64);
            out.long(9, chunk.offset as i64);
            out.end_struct();
            out.end_struct();
        }
        out.long(2, n_bytes as i64);
        out.long(3, group.n_rows as i64);
        out.end_struct();
    }
    out.text(6, CREATED_BY);
    let description = out.finish();
    let length = description.len() as u32;
    bytes.extend(description);
    bytes.extend(length.to_le_bytes());
    bytes.extend(MAGIC);
}

/// Structures in Thrift's compact protocol: a field is its distance from the one before and its type in one byte, then its value; integers are zigzag
/// numbers of seven bits a byte.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    /// The last field of the structure being written, and of those around it.
    field: u8,
    outer: Vec<u8>,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Longer lists have their size behind the head.
const SHORT_LIST: usize = 15;

impl Thrift {
    fn head(&mut self, field: u8, ty: u8) {
        self.bytes.push((field - self.field) << 4 | ty);
        self.field = field;
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    fn binary(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn list_head(&mut self, n: usize, ty: u8) {
        if n < SHORT_LIST {
            self.bytes.push((n as u8) << 4 | ty);
        } else {
            self.bytes.push(0xF0 | ty);
            self.varint(n as u64);
        }
    }

    fn int(&mut self, field: u8, value: i32) {
        self.head(field, I32);
        self.zigzag(i64::from(value));
    }

    fn long(&mut self, field: u8, value: i64) {
        self.head(field, I64);
        self.zigzag(value);
    }

    fn text(&mut self, field: u8, text: &str) {
        self.head(field, BINARY);
        self.binary(text);
    }

    fn ints(&mut self, field: u8, values: &[i32]) {
        self.head(field, LIST);
        self.list_head(values.len(), I32);
        values.iter().for_each(|&v| self.zigzag(i64::from(v)));
    }

    fn texts(&mut self, field: u8, texts: &[&String]) {
        self.head(field, LIST);
        self.list_head(texts.len(), BINARY);
        texts.iter().for_each(|text| self.binary(text));
    }

    /// A list of structures, each between `begin_element` and `end_struct`.
    fn begin_list(&mut self, field: u8, n: usize) {
        self.head(field, LIST);
        self.list_head(n, STRUCT);
    }

    fn begin_element(&mut self) {
        self.outer.push(std::mem::take(&mut self.field));
    }

    fn begin_struct(&mut self, field: u8) {
        self.head(field, STRUCT);
        self.begin_element();
    }

    fn end_struct(&mut self) {
        self.bytes.push(0);
        self.field = self.outer.pop().expect("a structure was begun");
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Values of a column of doubles, found by the head of its page: `n` rows from the `k`-th chunk on.
    fn doubles(bytes: &[u8]) -> Vec<f64> {
        bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect()
    }

    #[test]
    fn integers_are_zigzag_numbers_of_seven_bits() {
        let mut out = Thrift::default();
        out.int(1, -1);
        out.long(3, 150);
        // Field 1 of type 5, zigzag(-1) = 1; field 3 of type 6, zigzag(150) = 300 = 0b10_0101100.
        assert_eq!(out.finish(), [0x15, 1, 0x26, 0xAC, 0x02, 0]);
    }

    #[test]
    fn a_table_of_two_columns_has_the_bytes_of_the_format() {
        let columns = [
            ("x".to_owned(), ParquetColumn::Numbers(vec![1.5, -2.0])),
            (
                "s".to_owned(),
                ParquetColumn::Texts(vec!["done".into(), "no".into()]),
            ),
        ];
        let mut bytes = Vec::new();
        write_parquet_columns(&columns, &mut bytes).unwrap();
        assert_eq!(&bytes[..4], MAGIC);
        assert_eq!(&bytes[bytes.len() - 4..], MAGIC);
        // The head of the first page: 2 values, 16 bytes.
        let head = [
            0x15, 0, 0x15, 32, 0x15, 32, 0x2C, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0,
        ];
        assert_eq!(&bytes[4..4 + head.len()], head);
        let data = &bytes[4 + head.len()..];
        assert_eq!(doubles(&data[..16]), [1.5, -2.0]);
        let texts = data[16 + 17..].to_vec();
        assert_eq!(&texts[..8], b"\x04\0\0\0done");
        let tail = &bytes[bytes.len() - 8..];
        let length = u32::from_le_bytes(tail[..4].try_into().unwrap()) as usize;
        assert!(length < bytes.len() - 12);
    }

    #[test]
    fn a_file_is_the_same_whenever_it_is_flushed() {
        let mut table = ResultTable::new(vec![0.0, 0.5, 1.0]);
        let series = table.push_series(vec![1.0, 2.0, 3.0]).unwrap();
        let source = Source::Series {
            id: series,
            negated: true,
        };
        table
            .push_variable("x", crate::Variable::plain(source))
            .unwrap();
        let mut at_once = Cursor::new(Vec::new());
        write_parquet(&table, &mut at_once).unwrap();
        let mut often = Cursor::new(Vec::new());
        let mut writer = ParquetWriter::new(&mut often);
        writer.begin(&table, 0.0).unwrap();
        for (time, x) in [(0.0, 1.0), (0.5, 2.0), (1.0, 3.0)] {
            writer.flush().unwrap();
            writer.row(time, &[x]).unwrap();
        }
        writer.flush().unwrap();
        assert_eq!(at_once.into_inner(), often.into_inner());
    }
}
