use saltus_results::{ReadError, ResultTable, read_csv, write_csv};

use crate::sample_table;

fn written(table: &ResultTable) -> String {
    let mut bytes = Vec::new();
    write_csv(table, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn line_error(text: &str) -> (usize, String) {
    match read_csv(text.as_bytes()).unwrap_err() {
        ReadError::Line { line, what } => (line, what),
        other => panic!("{other}"),
    }
}

#[test]
fn the_text_is_exactly_the_promised_one() {
    assert_eq!(
        written(&sample_table()),
        "\"time\",\"x\",\"frame.phi[1,2]\",\"mu\",\"'say \"\"hé\"\"'\"\n\
         0,1,-1,0.85,1\n\
         0.1,0.5,-0.5,0.85,1\n\
         0.1,-0.425,0.425,0.85,0\n\
         0.3,1e-300,-1e-300,0.85,0\n"
    );
}

#[test]
fn numbers_read_back_to_the_same_bits() {
    let values = vec![
        0.1 + 0.2,
        -0.0,
        5e-324,
        f64::MAX,
        1e16,
        123_456_789.123_456_79,
        f64::INFINITY,
        9.999_999_999_999_999e-6,
        f64::NAN,
    ];
    let mut table = ResultTable::new((0..values.len()).map(|i| i as f64).collect());
    table.push_column("y", values.clone()).unwrap();
    let back = read_csv(written(&table).as_bytes()).unwrap();
    let y = back.signal("y").unwrap().to_vec();
    for (a, b) in values.iter().zip(&y) {
        assert!(
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            "{a} {b}"
        );
    }
}

#[test]
fn every_name_and_value_survives_the_round_trip() {
    let table = sample_table();
    let back = read_csv(written(&table).as_bytes()).unwrap();
    assert_eq!(back.time(), table.time());
    for (name, variable) in table.variables() {
        assert_eq!(
            back.signal(name).unwrap().to_vec(),
            table.signal_of(variable.source).to_vec()
        );
    }
    assert_eq!(back.variables().len(), table.variables().len());
}

#[test]
fn dymolas_reference_files_are_read() {
    let text = "\u{feff}\"Time\",\"clutch.mode\",\"R[1, 2].i\"\r\n0,-1,0\r\n\
                0.00050000000000000001,-1,true\r\n0.00050000000000000001,2,false\r\n";
    let table = read_csv(text.as_bytes()).unwrap();
    assert_eq!(table.time(), [0.0, 0.0005, 0.0005]);
    assert_eq!(
        table.signal("clutch.mode").unwrap().to_vec(),
        [-1.0, -1.0, 2.0]
    );
    assert_eq!(table.signal("R[1,2].i").unwrap().to_vec(), [0.0, 1.0, 0.0]);
}

#[test]
fn other_separators_and_names_without_quotes_are_read() {
    let table = read_csv(b"time;a[1,2];b;\n0;1;2;\n1;3;4;\n").unwrap();
    assert_eq!(table.signal("a[1,2]").unwrap().to_vec(), [1.0, 3.0]);
    let table = read_csv(b"time\ta\n0\t1\n").unwrap();
    assert_eq!(table.signal("a").unwrap().to_vec(), [1.0]);
    let table = read_csv(b"time,a[1,2],b\n0,1,2\n").unwrap();
    assert_eq!(table.signal("b").unwrap().to_vec(), [2.0]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    assert_eq!(line_error(""), (1, "the file is empty".into()));
    assert_eq!(
        line_error("x,y\n1,2\n"),
        (1, "the first column is `x`, expected `time`".into())
    );
    assert_eq!(
        line_error("time,y\n0,1\n\n1\n"),
        (4, "1 values, but the header has 2 names".into())
    );
    assert_eq!(
        line_error("time,y\n0,1,2\n"),
        (2, "more than 2 values".into())
    );
    assert_eq!(
        line_error("time,y\n0,abc\n"),
        (2, "`abc` is not a number".into())
    );
    assert_eq!(
        line_error("time,y\n1,0\n0,0\n"),
        (3, "time goes back from 1 to 0".into())
    );
    assert_eq!(
        line_error("time,y,y\n1,0,0\n"),
        (1, "the name `y` appears twice".into())
    );
    assert_eq!(
        line_error("\"time,y\n"),
        (1, "a quoted name does not end".into())
    );
    assert_eq!(
        line_error("time,y\nNaN,0\n"),
        (2, "the time is `NaN`".into())
    );
    assert!(read_csv(b"time,y\n0,\xff\n").is_err());
}
