//! Results written while a run goes on.

use std::cell::RefCell;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::rc::Rc;

use saltus_results::{
    CsvWriter, MatWriter, ResultTable, RowSink, Source, Variable, read_csv, read_mat, write_csv,
    write_mat,
};

/// A file that shows every write, and that may have a size limit.
#[derive(Clone)]
struct Disk {
    file: Rc<RefCell<Cursor<Vec<u8>>>>,
    /// The file after each write.
    states: Rc<RefCell<Vec<Vec<u8>>>>,
    bytes_max: usize,
}

impl Disk {
    fn new(bytes_max: usize) -> Disk {
        Disk {
            file: Rc::default(),
            states: Rc::default(),
            bytes_max,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.file.borrow().get_ref().clone()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut file = self.file.borrow_mut();
        let room = self.bytes_max.saturating_sub(file.position() as usize);
        if room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let n = file.write(&bytes[..bytes.len().min(room)])?;
        self.states.borrow_mut().push(file.get_ref().clone());
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.borrow_mut().seek(to)
    }
}

fn outline() -> ResultTable {
    let mut table = ResultTable::default();
    let id = table.push_series(Vec::new()).unwrap();
    let series = |negated| Variable::plain(Source::Series { id, negated });
    table.push_variable("x", series(false)).unwrap();
    table.push_variable("minus_x", series(true)).unwrap();
    table
        .push_variable("p", Variable::plain(Source::Constant(2.5)))
        .unwrap();
    table
}

fn x(i: usize) -> f64 {
    (i as f64).sqrt()
}

/// The rows of a file are a beginning of those that were written.
fn rows_of(table: &ResultTable) -> usize {
    let x_of_file = table.signal("x").unwrap();
    for i in 0..table.n_rows() {
        assert_eq!(table.time()[i], i as f64);
        assert_eq!(x_of_file.row(i), x(i));
    }
    assert_eq!(table.signal("minus_x").unwrap().row(0), -x(0));
    table.n_rows()
}

fn write_rows(sink: &mut dyn RowSink, n: usize, flush_every: usize) -> io::Result<()> {
    sink.begin(&outline(), 0.0)?;
    for i in 0..n {
        sink.row(i as f64, &[x(i)])?;
        if i % flush_every == flush_every - 1 {
            sink.flush()?;
        }
    }
    sink.flush()
}

#[test]
fn a_mat_file_can_be_read_after_every_write() {
    let disk = Disk::new(usize::MAX);
    write_rows(&mut MatWriter::new(disk.clone()), 100, 7).unwrap();
    let states = disk.states.borrow();
    let mut last = 0;
    // The head is one write.
    for bytes in states.iter().filter(|b| b.len() > 400) {
        let table = read_mat(bytes).unwrap();
        if table.n_rows() > 0 {
            let n = rows_of(&table);
            assert!(n >= last);
            last = n;
        }
    }
    assert_eq!(last, 100);
    assert!(states.len() > 30);
}

#[test]
fn a_mat_file_that_was_cut_in_a_row_ends_before_it() {
    let disk = Disk::new(usize::MAX);
    write_rows(&mut MatWriter::new(disk.clone()), 10, 100).unwrap();
    let states = disk.states.borrow();
    // The rows are there, their number is not: as after the end of the process between the two writes, or within the first.
    let head = states[0].len();
    let rows = &states[1];
    assert_eq!(rows.len(), head + 10 * 16);
    for cut in head..=rows.len() {
        assert_eq!(read_mat(&rows[..cut]).unwrap().n_rows(), 0);
    }
}

#[test]
fn a_full_disk_keeps_the_rows_that_fit() {
    let whole = Disk::new(usize::MAX);
    write_rows(&mut MatWriter::new(whole.clone()), 100, 10).unwrap();
    let head = whole.states.borrow()[0].len();
    for room in [0, 1, 15, 16, 17, 160, 16 * 55 + 3] {
        let disk = Disk::new(head + room);
        let error = write_rows(&mut MatWriter::new(disk.clone()), 100, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let table = read_mat(&disk.bytes()).unwrap();
        assert_eq!(table.n_rows(), room / 16);
        if room >= 16 {
            rows_of(&table);
        }
    }
}

#[test]
fn a_csv_file_that_was_cut_anywhere_holds_the_whole_lines() {
    let disk = Disk::new(usize::MAX);
    write_rows(&mut CsvWriter::new(disk.clone()), 20, 3).unwrap();
    let bytes = disk.bytes();
    let head = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    for cut in head..=bytes.len() {
        let table = read_csv(&bytes[..cut]).unwrap();
        let lines = bytes[..cut].iter().filter(|&&b| b == b'\n').count() - 1;
        assert_eq!(table.n_rows(), lines, "cut at {cut}");
        if lines > 0 {
            rows_of(&table);
        }
    }
}

#[test]
fn a_file_without_quotes_needs_no_last_line_break() {
    let table = read_csv(b"time,x\n0,1\n1,2.5").unwrap();
    assert_eq!(table.signal("x").unwrap().last(), Some(2.5));
}

#[test]
fn streamed_and_whole_files_are_the_same() {
    let mut table = ResultTable::new((0..50).map(|i| i as f64).collect());
    let id = table.push_series((0..50).map(x).collect()).unwrap();
    let series = |negated| Variable::plain(Source::Series { id, negated });
    table.push_variable("x", series(false)).unwrap();
    table.push_variable("minus_x", series(true)).unwrap();
    table
        .push_variable("p", Variable::plain(Source::Constant(2.5)))
        .unwrap();
    let (mut mat, mut csv) = (Vec::new(), Vec::new());
    write_mat(&table, &mut mat).unwrap();
    write_csv(&table, &mut csv).unwrap();
    let disk = Disk::new(usize::MAX);
    write_rows(&mut MatWriter::new(disk.clone()), 50, 4).unwrap();
    assert_eq!(disk.bytes(), mat);
    let disk = Disk::new(usize::MAX);
    write_rows(&mut CsvWriter::new(disk.clone()), 50, 4).unwrap();
    assert_eq!(disk.bytes(), csv);
}
