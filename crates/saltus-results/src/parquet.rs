//! Parquet results: one column of doubles for time and for each variable, texts where a table has them.
//!
//! Written is the plain part of the format (version 2.9 of its specification): required columns, pages with the encoding PLAIN, no compression, no statistics, and the
//! description at the end in Thrift's compact protocol. Any reader of Parquet reads it. Read is more than that: see [`read`].
//!
//! ```text
//! PAR1 (column chunks of a row group)* description length-of-description PAR1
//! ```

mod decode;
mod description;
mod read;
mod snappy;
#[cfg(test)]
mod tests;
mod thrift;
mod writer;

use std::io::{self, Seek, Write};

use crate::ResultTable;
use crate::stream::{Medium, write_all};
use description::{PhysicalType, describe, group_at};

pub(crate) use read::ParquetLayout;
pub use writer::ParquetWriter;

const MAGIC: &[u8; 4] = b"PAR1";
/// Length of the description and the magic word.
const TRAILER_LEN: usize = 8;

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
pub fn write_parquet(table: &ResultTable, out: impl Medium + Seek) -> io::Result<()> {
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
        let (chunks, group) = group_at(bytes.len() as u64, chunks, n_rows);
        bytes.extend(chunks);
        groups.push(group);
    }
    let description = describe(&schema, &groups);
    bytes.extend(&description);
    bytes.extend(trailer(description.len())?);
    out.write_all(&bytes)
}

/// The end of a file whose description begins so many bytes before it.
fn trailer(length: usize) -> io::Result<[u8; TRAILER_LEN]> {
    let length = u32::try_from(length)
        .map_err(|_| io::Error::other("the description is too long for the Parquet format"))?;
    let mut bytes = [0; TRAILER_LEN];
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..].copy_from_slice(MAGIC);
    Ok(bytes)
}

fn plain(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}
