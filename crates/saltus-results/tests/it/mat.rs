use saltus_results::{ResultTable, Source, read_mat, write_mat};

use crate::sample_table;

fn written(table: &ResultTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_mat(table, &mut bytes).unwrap();
    bytes
}

#[test]
fn names_units_signs_and_values_survive_the_round_trip() {
    let table = sample_table();
    let back = read_mat(&written(&table)).unwrap();
    assert_eq!(back, table);
    assert_eq!(back.n_series(), 2);
    let Source::Series { negated, .. } = back.variable("frame.phi[1,2]").unwrap().source else {
        panic!("the alias became a constant");
    };
    assert!(negated);
}

#[test]
fn the_layout_is_that_of_the_modelica_tools() {
    let bytes = written(&sample_table());
    // Aclass: text, 4 rows, 11 columns, the rows side by side.
    assert_eq!(bytes[..4], 51_i32.to_le_bytes());
    assert_eq!(bytes[4..8], 4_i32.to_le_bytes());
    assert_eq!(bytes[8..12], 11_i32.to_le_bytes());
    assert_eq!(&bytes[20..27], b"Aclass\0");
    assert_eq!(&bytes[27..39], b"A1 bt. ir1 n");
    let position = |name: &[u8]| {
        bytes
            .windows(name.len())
            .position(|w| w == name)
            .unwrap_or_else(|| panic!("no {}", String::from_utf8_lossy(name)))
    };
    let names: [&[u8]; 5] = [
        b"\0name\0",
        b"description\0",
        b"dataInfo\0",
        b"data_1\0",
        b"data_2\0",
    ];
    let places = names.map(position);
    assert!(places.is_sorted());
    let info: Vec<i32> = bytes[places[2] + 9..]
        .as_chunks::<4>()
        .0
        .iter()
        .take(20)
        .map(|b| i32::from_le_bytes(*b))
        .collect();
    assert_eq!(info[..4], [0, 1, 0, -1]); // time
    assert_eq!(info[4..8], [2, 2, 0, -1]); // x
    assert_eq!(info[8..12], [2, -2, 0, -1]); // the negated alias
    assert_eq!(info[12..16], [1, 2, 0, 0]); // the parameter
}

/// A matrix by columns, as a file of another tool would hold it.
fn matrix(
    out: &mut Vec<u8>,
    big_endian: bool,
    kind: i32,
    rows: i32,
    columns: i32,
    name: &str,
    data: &[u8],
) {
    let kind = if big_endian { kind + 1000 } else { kind };
    for value in [kind, rows, columns, 0, name.len() as i32 + 1] {
        out.extend(if big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }
    out.extend(name.bytes().chain([0]));
    out.extend(data);
}

fn text_rows(rows: &[&str], width: usize) -> Vec<u8> {
    let mut data = Vec::new();
    for column in 0..width {
        for row in rows {
            data.push(row.as_bytes().get(column).copied().unwrap_or(b' '));
        }
    }
    data
}

#[test]
fn files_that_are_not_transposed_single_precision_or_big_endian_are_read() {
    for big_endian in [false, true] {
        let mut file = Vec::new();
        let mut put = |kind, rows, columns, name: &str, data: &[u8]| {
            matrix(&mut file, big_endian, kind, rows, columns, name, data);
        };
        let int = |v: i32| {
            if big_endian {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let single = |v: f32| {
            if big_endian {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let class = ["Atrajectory", "1.1", "", "binNormal"];
        put(51, 4, 11, "Aclass", &text_rows(&class, 11));
        put(51, 3, 4, "name", &text_rows(&["Time", "p", "x"], 4));
        let descriptions = ["Time in [s]", "gain:#(type=Real)", "pos [m|mm]"];
        put(51, 3, 17, "description", &text_rows(&descriptions, 17));
        let info: Vec<u8> = [0, 1, 2, 1, 2, -2, 0, 0, 0, -1, 0, -1]
            .into_iter()
            .flat_map(int)
            .collect();
        put(20, 3, 4, "dataInfo", &info);
        let data_1: Vec<u8> = [0.0, 1.0, 3.5, 3.5].into_iter().flat_map(single).collect();
        put(10, 2, 2, "data_1", &data_1);
        let data_2: Vec<u8> = [0.0, 0.5, 1.0, 7.0, 8.0, 9.0]
            .into_iter()
            .flat_map(single)
            .collect();
        put(10, 3, 2, "data_2", &data_2);

        let table = read_mat(&file).unwrap();
        assert_eq!(table.time(), [0.0, 0.5, 1.0]);
        assert_eq!(table.signal("p").unwrap().to_vec(), [3.5; 3]);
        assert_eq!(table.signal("x").unwrap().to_vec(), [-7.0, -8.0, -9.0]);
        let x = table.variable("x").unwrap();
        assert_eq!(
            (
                x.description.as_str(),
                x.unit.as_str(),
                x.display_unit.as_str()
            ),
            ("pos", "m", "mm")
        );
        assert_eq!(table.variable("p").unwrap().description, "gain");
    }
}

#[test]
fn damaged_files_give_errors_and_nothing_else() {
    let good = written(&sample_table());
    for len in 0..good.len() {
        assert!(read_mat(&good[..len]).is_err(), "cut at {len}");
    }
    // Every byte of the headers and of the data, turned over: an error or a table, but no panic.
    for i in 0..good.len() {
        let mut bad = good.clone();
        bad[i] ^= 0xff;
        let _ = read_mat(&bad).map(|table| table.n_rows());
    }
    let mut huge = Vec::new();
    matrix(&mut huge, false, 51, 0, i32::MAX, "name", &[]);
    assert!(read_mat(&huge).is_err());
}
