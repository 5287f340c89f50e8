//! Results that were not ended.

use std::io::Cursor;

use saltus_results::{
    Recovered, ResultReader, ResultTable, read_result, recover, write_csv, write_mat,
};

use crate::foreign::mat_rows;

fn table(n: usize) -> ResultTable {
    let mut table = ResultTable::new((0..n).map(|i| i as f64 / 4.0).collect());
    for (name, shift) in [("x", 1.0), ("y", -2.5), ("z", 100.0)] {
        let values = (0..n).map(|i| (i as f64 * 0.3).sin() + shift);
        table.push_column(name, values.collect()).unwrap();
    }
    table
}

fn mat(n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_mat(&table(n), &mut bytes).unwrap();
    bytes
}

#[test]
fn a_mat_file_that_was_cut_anywhere_has_its_whole_rows_again() {
    let whole = mat(20);
    let head = whole.len() - 20 * 4 * 8;
    for cut in head..=whole.len() {
        let mut file = Cursor::new(whole[..cut].to_vec());
        let n = (cut - head) / 32;
        let found = recover("r.mat", &mut file).unwrap();
        assert_eq!(
            (found.rows, found.removed),
            (n as u64, ((cut - head) % 32) as u64)
        );
        let bytes = file.into_inner();
        assert_eq!(mat_rows(&bytes).unwrap().len(), n);
        assert_eq!(
            read_result("r.mat", &bytes).unwrap().time(),
            table(n).time()
        );
    }
    // What is behind the rows is removed; a whole file stays as it is.
    let mut file = Cursor::new([&whole[..], b"something else"].concat());
    let found = recover("r.mat", &mut file).unwrap();
    let expected = Recovered {
        rows: 20,
        time_end: Some(4.75),
        removed: 14,
    };
    assert_eq!(found, expected);
    assert_eq!(file.into_inner(), whole);
}

#[test]
fn a_csv_file_that_was_cut_anywhere_ends_with_a_line() {
    let mut whole = Vec::new();
    write_csv(&table(10), &mut whole).unwrap();
    let head = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
    for cut in head..=whole.len() {
        let mut file = Cursor::new(whole[..cut].to_vec());
        let found = recover("r.csv", &mut file).unwrap();
        let bytes = file.into_inner();
        assert!(bytes.ends_with(b"\n") && whole.starts_with(&bytes));
        assert_eq!(bytes.len() as u64 + found.removed, cut as u64);
        assert_eq!(
            read_result("r.csv", &bytes).unwrap().n_rows() as u64,
            found.rows
        );
    }
    // Other tools leave the last line without an end.
    let mut other = Cursor::new(b"time,x\n0,1\n1,2.5".to_vec());
    let found = recover("r.csv", &mut other).unwrap();
    assert_eq!((found.rows, found.removed), (2, 0));
}

#[test]
fn what_is_no_result_is_not_touched() {
    for bytes in [&b"no result"[..], &[0; 100], &mat(3)[..50]] {
        let mut file = Cursor::new(bytes.to_vec());
        assert!(recover("r.mat", &mut file).is_err());
        assert_eq!(file.into_inner(), bytes);
    }
}

#[test]
fn some_variables_or_some_rows_are_read_without_the_others() {
    let whole = table(1000);
    let (mut csv, mut names) = (Vec::new(), Vec::new());
    write_csv(&whole, &mut csv).unwrap();
    for (name, bytes) in [("r.mat", mat(1000)), ("r.csv", csv)] {
        names.push(name);
        let mut reader = ResultReader::open(name, Cursor::new(bytes)).unwrap();
        assert_eq!(reader.outline().variables().len(), 3);
        let some = reader
            .read(&["z".into(), "x".into(), "none".into()])
            .unwrap();
        assert_eq!(some.variables().len(), 2);
        assert_eq!(some.time(), whole.time());
        for name in ["x", "z"] {
            assert_eq!(
                some.signal(name).unwrap().to_vec(),
                whole.signal(name).unwrap().to_vec()
            );
        }
        // The rows around a time.
        for time in [Some(0.0), Some(10.3), Some(20.25), Some(249.75), None] {
            let around = reader.read_around(time).unwrap();
            assert!(around.n_rows() <= 5);
            assert_eq!(around.time().last(), whole.time().last());
            let at = time.unwrap_or(249.75);
            for side in [saltus_results::Side::Left, saltus_results::Side::Right] {
                let value = |table: &ResultTable| table.signal("y").unwrap().at(at, side).unwrap();
                assert_eq!(value(&around), value(&whole));
            }
        }
        // Fewer rows with the same extremes.
        let thin = reader.read_thinned(&["x".into()], 100).unwrap();
        assert!((50..=110).contains(&thin.n_rows()), "{}", thin.n_rows());
        let extremes = |table: &ResultTable| {
            let x = table.signal("x").unwrap().to_vec();
            x.iter().fold((f64::MAX, f64::MIN), |(low, high), v| {
                (low.min(*v), high.max(*v))
            })
        };
        assert_eq!(extremes(&thin), extremes(&whole));
        assert_eq!(thin.time().first(), whole.time().first());
        assert_eq!(thin.time().last(), whole.time().last());
        assert!(thin.time().is_sorted());
    }
    assert_eq!(names.len(), 2);
}
