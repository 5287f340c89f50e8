//! Results that are written while the run goes on, so that memory does not grow with its length and a run that ends
//! unexpectedly leaves what it has computed.

use std::fs::File;
use std::io::{self, Cursor, Seek, SeekFrom, Write};

use crate::ResultTable;

/// Rows are handed to the file in pieces of about this size.
pub(crate) const PIECE_BYTES: usize = 256 << 10;

/// A result file in the making. After every call of `flush`, and whenever the process ends between two calls, the file can be
/// read: it holds a beginning of the rows, at least those before the last `flush`. After an error the file is cut to whole rows.
pub trait RowSink {
    /// Names, descriptions and constants: a table without rows, and the time of the first row. Called once, first.
    fn begin(&mut self, outline: &ResultTable, time_start: f64) -> io::Result<()>;

    /// The values of the trajectories at a time.
    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()>;

    /// Hands over all rows so far.
    fn flush(&mut self) -> io::Result<()>;

    /// The time of the last row that the file has; `None` if that is not known.
    fn time_written(&self) -> Option<f64> {
        None
    }

    /// Hands over all rows and removes what the file has only while it is written. Nothing is written after that.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// Where a result is written.
pub trait Medium: Write {
    /// Drops everything from a position on, as far as the medium can, and goes on writing there.
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// Makes the file longer, with zeros.
    fn extend(&mut self, len: u64) -> io::Result<()>;
}

impl Medium for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.seek(SeekFrom::Start(len)).map(|_| ())
    }

    fn extend(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }
}

impl Medium for Cursor<Vec<u8>> {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.get_mut().truncate(len as usize);
        self.set_position(len);
        Ok(())
    }

    fn extend(&mut self, len: u64) -> io::Result<()> {
        self.get_mut().resize(len as usize, 0);
        Ok(())
    }
}

impl<M: Medium + ?Sized> Medium for &mut M {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        (**self).cut(len)
    }

    fn extend(&mut self, len: u64) -> io::Result<()> {
        (**self).extend(len)
    }
}

/// A stream that cannot be cut: standard output, a pipe, a device.
pub struct Uncuttable<W: Write>(pub W);

impl<W: Write> Write for Uncuttable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write + Seek> Seek for Uncuttable<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl<W: Write> Medium for Uncuttable<W> {
    fn cut(&mut self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn extend(&mut self, _len: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Writes as many bytes as the medium takes: their number, and the reason if it is not all of them.
pub(crate) fn write_counted(out: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match out.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(n) => written += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return (written, Err(e)),
        }
    }
    (written, Ok(()))
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
    sink.finish()
}
