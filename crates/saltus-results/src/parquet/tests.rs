use super::thrift::Thrift;
use super::*;
use crate::{RowSink, Source};
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
    writer.finish().unwrap();
    assert_eq!(at_once.into_inner(), often.into_inner());
}

#[test]
fn what_is_written_is_read_back() {
    let mut table = ResultTable::new((0..5000).map(|k| f64::from(k) * 0.5).collect());
    let values: Vec<f64> = (0..5000).map(|k| f64::from(k).sin()).collect();
    let series = table.push_series(values.clone()).unwrap();
    let plain = |negated| {
        crate::Variable::plain(Source::Series {
            id: series,
            negated,
        })
    };
    table.push_variable("a[1,2]", plain(false)).unwrap();
    table.push_variable("der(b)", plain(true)).unwrap();
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = ParquetWriter::new(&mut bytes).group_bytes(10_000);
    crate::stream::write_all(&table, &mut writer).unwrap();
    let read = crate::read_result("r.parquet", bytes.get_ref()).unwrap();
    assert_eq!(read.time(), table.time());
    assert_eq!(read.signal("a[1,2]").unwrap().to_vec(), values);
    assert_eq!(read.signal("der(b)").unwrap().row(7), -values[7]);
    let damaged = &bytes.get_ref()[..bytes.get_ref().len() - 1];
    assert!(crate::read_result("r.parquet", damaged).is_err());
}
