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

mod read;
mod write;

pub(crate) use read::{CsvLayout, CsvRows};
pub use write::{CsvWriter, push_csv_name, push_csv_number, write_csv};

use crate::reader::read_whole;
use crate::{ReadError, ResultTable};

/// Reads a CSV result. The first column must be the time.
pub fn read_csv(bytes: &[u8]) -> Result<ResultTable, ReadError> {
    read_whole("result.csv", bytes)
}
