//! Results that are written while the run goes on, so that memory does not grow with its length and a run that ends
//! unexpectedly leaves what it has computed.

use std::io;

use crate::ResultTable;

/// Rows are handed to the file in pieces of about this size.
pub(crate) const PIECE_BYTES: usize = 256 << 10;

/// A result file in the making. After every call of `flush`, and whenever the process ends between two calls, the file can be
/// read: it holds a beginning of the rows, at least those before the last `flush`.
pub trait RowSink {
    /// Names, descriptions and constants: a table without rows, and the time of the first row. Called once, first.
    fn begin(&mut self, outline: &ResultTable, time_start: f64) -> io::Result<()>;

    /// The values of the trajectories at a time.
    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()>;

    /// Hands over all rows so far.
    fn flush(&mut self) -> io::Result<()>;
}

/// Hands all rows of a table to a sink.
pub(crate) fn write_all(table: &ResultTable, sink: &mut dyn RowSink) -> io::Result<()> {
    let time_start = table.time().first().copied().unwrap_or(0.0);
    sink.begin(table, time_start)?;
    let series: Vec<&[f64]> = table.all_series().collect();
    let mut row = Vec::with_capacity(series.len());
    for (i, &time) in table.time().iter().enumerate() {
        row.clear();
        row.extend(series.iter().map(|values| values[i]));
        sink.row(time, &row)?;
    }
    sink.flush()
}
