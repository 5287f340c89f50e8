//! Results of a run: collected, written, read back, compared.
//!
//! Comes in: rows of slot values from the run loop ([`Recorder`], or [`Streamer`] to a [`RowSink`]), or the bytes of a result file. Goes out: a
//! [`ResultTable`], its CSV, MAT v4 and Parquet forms, the event log (JSON lines), the statistics (JSON) and the
//! [`Comparison`] with a reference.
//!
//! Nothing here opens a file: writers take `impl Write`, readers take bytes or `impl Read + Seek`.
//!
//! **Rows.** Time never decreases. Both sides of an event are two rows of equal time, the left limit first.

mod compare;
mod csv;
mod event;
mod glob;
mod mat4;
mod parquet;
mod reader;
mod recorder;
mod recover;
mod sampled;
mod signals;
mod stats;
mod stream;
mod table;

pub use compare::{
    Comparison, Coverage, SignalComparison, SignalVerdict, TubeOptions, Verdict, compare,
    compare_all, compare_files, median_spacing, tube_around,
};
pub use csv::{CsvWriter, push_csv_name, push_csv_number, read_csv, write_csv};
pub use event::{
    Cause, Change, EventKind, EventRecord, Impulse, read_events, write_event, write_events,
};
pub use glob::Glob;
pub use mat4::{MatMatrix, MatWriter, read_mat, write_mat, write_mat_matrices};
pub use parquet::{ParquetColumn, ParquetWriter, write_parquet, write_parquet_columns};
pub use reader::{ResultReader, read_result};
pub use recorder::{Recorder, Selection, Streamer};
pub use recover::{Recovered, recover};
pub use sampled::{compare_sampled, is_sampled, read_sampled};
pub use signals::parse_comparison_signals;
pub use stats::{Blocks, EventCounts, Functions, MethodSteps, Seconds, Statistics, Unresolved};
pub use stream::{Medium, RowSink, Uncuttable};
pub use table::{ReadError, ResultTable, SeriesId, Side, Signal, Source, TableError, Variable};

pub use saltus_model::{ValueType, VariableKind};
