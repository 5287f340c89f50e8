//! Results written while a run goes on: what a process leaves that is killed at any moment, or whose disk is full.

use std::io;

use saltus_results::{
    CsvWriter, MatWriter, ParquetWriter, ResultTable, RowSink, Source, Variable, read_csv,
    read_mat, write_csv, write_mat,
};

use crate::disk::Disk;
use crate::foreign::{mat_rows, parquet_columns};

/// Two trajectories, three variables of them, and a constant.
fn outline() -> ResultTable {
    let mut table = ResultTable::default();
    fill(&mut table, Vec::new(), Vec::new());
    table
}

fn fill(table: &mut ResultTable, xs: Vec<f64>, ys: Vec<f64>) {
    let id = table.push_series(xs).unwrap();
    let series = |negated| Variable::plain(Source::Series { id, negated });
    table.push_variable("x", series(false)).unwrap();
    table.push_variable("minus_x", series(true)).unwrap();
    table.push_column("y", ys).unwrap();
    table
        .push_variable("p", Variable::plain(Source::Constant(2.5)))
        .unwrap();
}

fn x(i: usize) -> f64 {
    (i as f64).sqrt()
}

fn y(i: usize) -> f64 {
    1.0 / (1.0 + i as f64)
}

/// The rows of a file are a beginning of those that were written.
fn rows_of(table: &ResultTable) -> usize {
    let of = |name: &str| table.signal(name).unwrap();
    for i in 0..table.n_rows() {
        assert_eq!(table.time()[i], i as f64);
        assert_eq!(of("x").row(i), x(i));
        assert_eq!(of("minus_x").row(i), -x(i));
        assert_eq!(of("y").row(i), y(i));
    }
    table.n_rows()
}

fn write_rows(sink: &mut dyn RowSink, n: usize, flush_every: usize) -> io::Result<()> {
    sink.begin(&outline(), 0.0)?;
    let written = (0..n).try_for_each(|i| {
        sink.row(i as f64, &[x(i), y(i)])?;
        if i % flush_every == flush_every - 1 {
            sink.flush()?;
        }
        Ok(())
    });
    // As after a run: the file is ended although it could not be written.
    let finished = sink.finish();
    written.and(finished)
}

/// The rows that other tools find in a MAT file.
fn mat_rows_of(bytes: &[u8]) -> Result<usize, String> {
    let rows = mat_rows(bytes)?;
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row[..], [i as f64, x(i), y(i)]);
    }
    Ok(rows.len())
}

/// The rows that other tools find in a Parquet file.
fn parquet_rows_of(bytes: &[u8]) -> Result<usize, String> {
    let columns = parquet_columns(bytes)?;
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["time", "x", "minus_x", "y", "p"]);
    let n = columns[0].1.len();
    for i in 0..n {
        let row: Vec<f64> = columns.iter().map(|(_, values)| values[i]).collect();
        assert_eq!(row, [i as f64, x(i), -x(i), y(i), 2.5]);
    }
    Ok(n)
}

#[test]
fn a_mat_file_can_be_read_at_any_moment() {
    for page in [32, 4096] {
        for (n, flush_every) in [(12, 1), (50, 7)] {
            let disk = Disk::watched(page);
            write_rows(&mut MatWriter::new(disk.clone()), n, flush_every).unwrap();
            let states = disk.states();
            // The file gets its name with the first row in it.
            let named = states
                .iter()
                .position(|b| mat_rows_of(b).is_ok_and(|n| n > 0));
            let (mut last, mut n_unreadable) = (0, 0);
            for bytes in &states[named.unwrap()..] {
                let n = rows_of(&read_mat(bytes).unwrap());
                assert!(n >= last);
                last = n;
                // Between the two short writes only this library reads the file.
                match mat_rows_of(bytes) {
                    Ok(strict) => assert_eq!(strict, n),
                    Err(_) => n_unreadable += 1,
                }
            }
            assert_eq!(last, n);
            // The first of the two writes may end at a page and then be two.
            let n_pieces = n.div_ceil(flush_every);
            assert!(
                n_unreadable <= 2 * n_pieces,
                "{n_unreadable} of {}",
                states.len()
            );
            assert!(states.len() > 4 * n_pieces);
        }
    }
}

#[test]
fn a_parquet_file_can_be_read_at_any_moment() {
    for page in [32, 4096] {
        for (n, flush_every, group_bytes) in [(30, 1, 10_000), (100, 7, 1000), (100, 50, 200)] {
            let disk = Disk::watched(page);
            let mut writer = ParquetWriter::new(disk.clone()).group_bytes(group_bytes);
            write_rows(&mut writer, n, flush_every).unwrap();
            let states = disk.states();
            let named = states.iter().position(|b| parquet_rows_of(b).is_ok());
            let mut last = 0;
            for (i, bytes) in states.iter().enumerate().skip(named.unwrap()) {
                let n = parquet_rows_of(bytes).unwrap_or_else(|e| panic!("state {i}: {e}"));
                assert!(n >= last);
                last = n;
            }
            assert_eq!(last, n);
        }
    }
}

#[test]
fn flushed_rows_are_in_the_file() {
    let disk = Disk::bounded(4096, usize::MAX);
    let mut parquet = ParquetWriter::new(disk.clone()).group_bytes(500);
    parquet.begin(&outline(), 0.0).unwrap();
    for i in 0..200 {
        parquet.row(i as f64, &[x(i), y(i)]).unwrap();
        if i % 3 == 0 {
            parquet.flush().unwrap();
            assert_eq!(parquet_rows_of(&disk.bytes()), Ok(i + 1));
        }
    }
}

/// Writes to disks of every size; the rows that the file then has.
fn on_full_disks(
    write: &dyn Fn(Disk) -> io::Result<()>,
    rows: &dyn Fn(&[u8]) -> Result<usize, String>,
) -> Vec<usize> {
    const PAGE: usize = 64;
    let whole = Disk::bounded(PAGE, usize::MAX);
    write(whole.clone()).unwrap();
    let mut found = Vec::new();
    let mut begun = false;
    for pages_max in 0..whole.n_pages() {
        let disk = Disk::bounded(PAGE, pages_max);
        // A little more may be needed on the way than at the end.
        if let Err(error) = write(disk.clone()) {
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
        // A file whose head does not fit never gets its name.
        let read = rows(&disk.bytes());
        begun |= read.is_ok();
        if begun {
            found.push(read.unwrap_or_else(|e| panic!("{pages_max} pages: {e}")));
        }
    }
    assert!(found.is_sorted(), "{found:?}");
    found
}

#[test]
fn a_full_disk_keeps_the_rows_that_fit() {
    let own_mat = |bytes: &[u8]| rows_of(&read_mat(bytes).unwrap());
    let mat = |bytes: &[u8]| {
        let n = mat_rows_of(bytes)?;
        assert_eq!(n, own_mat(bytes));
        Ok(n)
    };
    let csv = |bytes: &[u8]| {
        let table = read_csv(bytes).map_err(|e| e.to_string())?;
        assert!(bytes.ends_with(b"\n"));
        Ok(rows_of(&table))
    };
    let found = on_full_disks(&|disk| write_rows(&mut MatWriter::new(disk), 200, 10), &mat);
    // A page of 64 bytes has two rows of 24 and a part of a third one.
    assert!(found.windows(2).all(|w| w[1] - w[0] <= 6), "{found:?}");
    assert!(*found.last().unwrap() > 180);
    let found = on_full_disks(&|disk| write_rows(&mut CsvWriter::new(disk), 200, 10), &csv);
    assert!(found.windows(2).all(|w| w[1] - w[0] <= 6), "{found:?}");
    let found = on_full_disks(
        &|disk| write_rows(&mut ParquetWriter::new(disk).group_bytes(800), 200, 7),
        &parquet_rows_of,
    );
    // A row group of 20 rows, or what was flushed of it.
    assert!(found.windows(2).all(|w| w[1] - w[0] <= 20), "{found:?}");
    // The descriptions take as much room as groups that small.
    assert!(*found.last().unwrap() > 100, "{found:?}");
}

#[test]
fn a_csv_file_that_was_cut_anywhere_holds_the_whole_lines() {
    let disk = Disk::bounded(4096, usize::MAX);
    write_rows(&mut CsvWriter::new(disk.clone()), 20, 3).unwrap();
    let bytes = disk.bytes();
    let head = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    for cut in head..=bytes.len() {
        let table = read_csv(&bytes[..cut]).unwrap();
        let lines = bytes[..cut].iter().filter(|&&b| b == b'\n').count() - 1;
        assert_eq!(table.n_rows(), lines, "cut at {cut}");
        rows_of(&table);
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
    fill(
        &mut table,
        (0..50).map(x).collect(),
        (0..50).map(y).collect(),
    );
    let (mut mat, mut csv) = (Vec::new(), Vec::new());
    write_mat(&table, &mut mat).unwrap();
    write_csv(&table, &mut csv).unwrap();
    let disk = Disk::bounded(4096, usize::MAX);
    write_rows(&mut MatWriter::new(disk.clone()), 50, 4).unwrap();
    assert_eq!(disk.bytes(), mat);
    let disk = Disk::bounded(4096, usize::MAX);
    write_rows(&mut CsvWriter::new(disk.clone()), 50, 4).unwrap();
    assert_eq!(disk.bytes(), csv);
}
