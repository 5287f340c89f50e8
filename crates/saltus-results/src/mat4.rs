//! MAT v4 results in the layout of Dymola and OpenModelica.
//!
//! A file is a sequence of matrices, each a header of five little-endian 32-bit integers (type code, rows, columns,
//! imaginary flag, length of the name with its terminating zero), the name, and the elements by columns. The type
//! code is M·1000 + O·100 + P·10 + T: byte order M, always O = 0, element type P, and T = 1 for text.
//!
//! The matrices, in this order (`binTrans`: everything after `Aclass` is stored transposed):
//!
//! | name | content |
//! |---|---|
//! | `Aclass` | `Atrajectory`, `1.1`, empty, `binTrans` |
//! | `name` | the names, one per column, `time` first |
//! | `description` | the descriptions with `[unit]` or `[unit\|displayUnit]` at the end |
//! | `dataInfo` | 4 × n integers: matrix (1 or 2; 0 for time), signed row, interpolation (0 = linear), extrapolation |
//! | `data_1` | constants: one row each, start and end value; the first row is time |
//! | `data_2` | trajectories: one row each, one column per time; the first row is time |
//!
//! A negative row number in `dataInfo` means the negated row: an alias with sign. The reader also takes `binNormal`
//! (not transposed), big-endian files and single precision.

mod read;
mod write;

pub(crate) use read::MatLayout;
pub use write::{MatMatrix, MatWriter, write_mat, write_mat_matrices};

use crate::reader::read_whole;
use crate::{ReadError, ResultTable};

const TYPE_F64: i32 = 0;
const TYPE_I32: i32 = 20;
const TYPE_BYTES: i32 = 50;
const TYPE_TEXT: i32 = 51;

/// The head of a matrix: five integers.
const HEADER_LEN: usize = 20;
/// Where the number of columns is in a head.
const COLUMNS_AT: usize = 8;

/// The matrix of the rows.
const ROWS: &str = "data_2";

/// Reads a MAT v4 result.
pub fn read_mat(bytes: &[u8]) -> Result<ResultTable, ReadError> {
    read_whole("result.mat", bytes)
}
