//! Tables, files, texts and random numbers against values computed by hand.

use super::tables::{Curve, Extrapolation, Matrix, Smoothness, Surface, TimeEvents, TimeTable};
use super::*;

impl Objects {
    /// Calls a function that is built in.
    pub(super) fn invoke(&mut self, name: &str, args: &[Value]) -> Result<Reply, String> {
        self.built_in(name, args)?
            .ok_or_else(|| format!("`{name}` is not built in"))
    }
}

pub(super) fn matrix(columns: usize, data: &[f64]) -> Matrix {
    Matrix {
        rows: data.len() / columns,
        columns,
        data: data.to_vec(),
    }
}

const KINDS: [Smoothness; 6] = [
    Smoothness::LinearSegments,
    Smoothness::ContinuousDerivative,
    Smoothness::ConstantSegments,
    Smoothness::MonotoneContinuousDerivative1,
    Smoothness::MonotoneContinuousDerivative2,
    Smoothness::ModifiedContinuousDerivative,
];

fn curve(data: &[f64], smoothness: Smoothness, extrapolation: Extrapolation) -> Curve {
    Curve::new(&matrix(2, data), &[2], smoothness, extrapolation, false).unwrap()
}

fn close(a: f64, b: f64) {
    assert!(
        (a - b).abs() <= 1e-12 * b.abs().max(1.0),
        "{a} instead of {b}"
    );
}

/// Unequal steps, a flat piece and a peak.
const DATA: [f64; 12] = [0.0, 0.0, 1.0, 1.0, 3.0, 4.0, 4.0, 4.0, 6.0, 2.0, 7.0, 3.0];

#[test]
fn every_kind_passes_through_the_points() {
    for kind in KINDS {
        let c = curve(&DATA, kind, Extrapolation::HoldLastPoint);
        for p in DATA.chunks(2) {
            assert_eq!(c.value(1, p[0]).unwrap().y, p[1], "{kind:?} at {}", p[0]);
        }
    }
}

#[test]
fn values_inside_follow_the_method() {
    let at = |kind, u| {
        curve(&DATA, kind, Extrapolation::HoldLastPoint)
            .value(1, u)
            .unwrap()
    };
    let jet = at(Smoothness::LinearSegments, 2.0);
    assert_eq!((jet.y, jet.d1), (2.5, 1.5));
    let jet = at(Smoothness::ConstantSegments, 2.0);
    assert_eq!((jet.y, jet.d1), (1.0, 0.0));
    // Secants: 1, 1.5, 0, -1, 1. On [1, 3]: cubic with h = 2, secant 1.5, at its middle y = (y0 + y1)/2 + h·(m0 - m1)/8.
    let middle = |m0: f64, m1: f64| 2.5 + 0.25 * (m0 - m1);
    // Akima at 1: secants 0.5, 1, 1.5, 0 (the first continued): (1.5·1 + 0.5·1.5)/2; at 3: 1, 1.5, 0, -1: (1·1.5 + 0.5·0)/1.5.
    close(
        at(Smoothness::ContinuousDerivative, 2.0).y,
        middle(2.25 / 2.0, 1.0),
    );
    // Fritsch-Butland at 1: h = 1, 2: 3·3/(5/1 + 4/1.5); at 3 zero, next to a flat piece.
    close(
        at(Smoothness::MonotoneContinuousDerivative1, 2.0).y,
        middle(9.0 / (5.0 + 4.0 / 1.5), 0.0),
    );
    // Steffen at 1: parabola (1·2 + 1.5·1)/3, below twice the smaller secant.
    close(
        at(Smoothness::MonotoneContinuousDerivative2, 2.0).y,
        middle(3.5 / 3.0, 0.0),
    );
    // Modified Akima at 1: weights 1.5 + 0.75 and 0.5 + 0.75; at 3: 1 + 0.5 and 0.5 + 1.25.
    let m0 = (2.25 * 1.0 + 1.25 * 1.5) / 3.5;
    let m1 = 1.5 * 1.5 / 3.25;
    close(
        at(Smoothness::ModifiedContinuousDerivative, 2.0).y,
        middle(m0, m1),
    );
}

#[test]
fn steffen_limits_steep_neighbours() {
    // Secants 0.1 and 10: the parabola's slope would be 5.05, the limit is twice the smaller.
    let c = curve(
        &[0.0, 0.0, 1.0, 0.1, 2.0, 10.1],
        Smoothness::MonotoneContinuousDerivative2,
        Extrapolation::HoldLastPoint,
    );
    close(c.value(1, 1.0).unwrap().d1, 0.2);
}

#[test]
fn derivatives_agree_with_differences() {
    let h = 1e-5;
    for kind in KINDS {
        let c = curve(&DATA, kind, Extrapolation::LastTwoPoints);
        for u in [-2.0, 0.4, 1.7, 3.3, 5.1, 6.6, 9.0] {
            let (left, jet, right) = (
                c.value(1, u - h).unwrap(),
                c.value(1, u).unwrap(),
                c.value(1, u + h).unwrap(),
            );
            assert!(
                (jet.d1 - (right.y - left.y) / (2.0 * h)).abs() < 1e-8,
                "{kind:?} at {u}"
            );
            assert!(
                (jet.d2 - (right.d1 - left.d1) / (2.0 * h)).abs() < 1e-6,
                "{kind:?} at {u}"
            );
        }
    }
}

#[test]
fn extrapolation_kinds() {
    let data = [1.0, 2.0, 2.0, 4.0, 4.0, 5.0];
    for kind in [Smoothness::LinearSegments, Smoothness::ConstantSegments] {
        let at = |extrapolation, u| curve(&data, kind, extrapolation).value(1, u);
        assert_eq!(at(Extrapolation::HoldLastPoint, 0.0).unwrap().y, 2.0);
        assert_eq!(at(Extrapolation::HoldLastPoint, 9.0).unwrap().y, 5.0);
        assert_eq!(at(Extrapolation::LastTwoPoints, 0.0).unwrap().y, 0.0);
        assert_eq!(at(Extrapolation::LastTwoPoints, 6.0).unwrap().y, 6.0);
        assert!(at(Extrapolation::NoExtrapolation, 4.0).is_ok());
        let message = at(Extrapolation::NoExtrapolation, 4.1).unwrap_err();
        assert!(
            message.contains("4.1") && message.contains("1 .. 4"),
            "{message}"
        );
    }
    let periodic = curve(&data, Smoothness::LinearSegments, Extrapolation::Periodic);
    close(periodic.value(1, 1.5).unwrap().y, 3.0);
    close(periodic.value(1, 1.5 + 3.0 * 7.0).unwrap().y, 3.0);
    close(periodic.value(1, 1.5 - 3.0 * 5.0).unwrap().y, 3.0);
    // Splines go on with the slope at their end.
    let spline = curve(
        &data,
        Smoothness::MonotoneContinuousDerivative1,
        Extrapolation::LastTwoPoints,
    );
    close(spline.value(1, 0.0).unwrap().y, 0.0);
}

#[test]
fn small_and_wrong_tables() {
    for kind in KINDS {
        let one = curve(&[3.0, 7.0], kind, Extrapolation::NoExtrapolation);
        assert_eq!(one.value(1, 99.0).unwrap().y, 7.0);
        let two = curve(&[0.0, 1.0, 2.0, 5.0], kind, Extrapolation::HoldLastPoint);
        assert_eq!(
            two.value(1, 1.0).unwrap().y,
            if kind == Smoothness::ConstantSegments {
                1.0
            } else {
                3.0
            }
        );
    }
    let new = |data: &[f64], column: i64, jumps: bool| {
        Curve::new(
            &matrix(2, data),
            &[column],
            Smoothness::LinearSegments,
            Extrapolation::HoldLastPoint,
            jumps,
        )
    };
    assert!(
        new(&[1.0, 0.0, 1.0, 0.0], 2, false)
            .unwrap_err()
            .contains("strictly increasing")
    );
    assert!(new(&[1.0, 0.0, 1.0, 0.0], 2, true).is_ok());
    assert!(
        new(&[1.0, 0.0, 0.0, 0.0], 2, true)
            .unwrap_err()
            .contains("row 1")
    );
    assert!(new(&[1.0, 0.0], 3, true).unwrap_err().contains("column 3"));
    assert!(
        curve(
            &[0.0, 1.0],
            Smoothness::LinearSegments,
            Extrapolation::HoldLastPoint
        )
        .value(2, 0.0)
        .is_err()
    );
}

fn time_table(
    data: &[f64],
    smoothness: Smoothness,
    extrapolation: Extrapolation,
    events: TimeEvents,
) -> TimeTable {
    let curve = Curve::new(&matrix(2, data), &[2], smoothness, extrapolation, true).unwrap();
    TimeTable::new(curve, 0.0, 0.0, events)
}

/// Event times from `from`, as a model finds them, until there are none or `n`.
fn events(t: &TimeTable, from: f64, n: usize) -> Vec<f64> {
    let mut out = Vec::new();
    let mut now = from;
    while out.len() < n {
        now = t.next_event(now);
        if now == tables::NO_EVENT {
            break;
        }
        out.push(now);
    }
    out
}

const STEP: [f64; 8] = [0.0, 0.0, 1.0, 1.0, 1.0, 5.0, 2.0, 6.0];

#[test]
fn time_events_are_where_they_are_wanted() {
    let hold = |events| {
        time_table(
            &STEP,
            Smoothness::LinearSegments,
            Extrapolation::HoldLastPoint,
            events,
        )
    };
    assert_eq!(events(&hold(TimeEvents::Always), -1.0, 9), [0.0, 1.0, 2.0]);
    assert_eq!(
        events(&hold(TimeEvents::AtDiscontinuities), -1.0, 9),
        [0.0, 1.0]
    );
    assert_eq!(
        events(&hold(TimeEvents::NoTimeEvents), 0.0, 9),
        Vec::<f64>::new()
    );
    let periodic = time_table(
        &STEP,
        Smoothness::LinearSegments,
        Extrapolation::Periodic,
        TimeEvents::Always,
    );
    assert_eq!(events(&periodic, 0.0, 5), [1.0, 2.0, 3.0, 4.0, 5.0]);
    let periodic = time_table(
        &STEP,
        Smoothness::LinearSegments,
        Extrapolation::Periodic,
        TimeEvents::AtDiscontinuities,
    );
    assert_eq!(events(&periodic, 0.5, 4), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_jump_has_two_sides() {
    let t = time_table(
        &STEP,
        Smoothness::LinearSegments,
        Extrapolation::HoldLastPoint,
        TimeEvents::Always,
    );
    // Before the event at 1 has happened, next and pre(next) are both 1; the table goes on from the left.
    assert_eq!(t.value(1, 1.0, 1.0, 1.0).unwrap().y, 1.0);
    assert_eq!(t.value(1, 1.1, 1.0, 1.0).unwrap().y, 1.1);
    // In the event next moves on.
    assert_eq!(t.value(1, 1.0, 2.0, 1.0).unwrap().y, 5.0);
    assert_eq!(t.value(1, 1.5, 2.0, 2.0).unwrap().y, 5.5);
    // Constant pieces jump at every point.
    let t = time_table(
        &STEP,
        Smoothness::ConstantSegments,
        Extrapolation::HoldLastPoint,
        TimeEvents::Always,
    );
    assert_eq!(t.value(1, 2.0, 2.0, 2.0).unwrap().y, 5.0);
    assert_eq!(t.value(1, 2.0, tables::NO_EVENT, 2.0).unwrap().y, 6.0);
}

#[test]
fn a_periodic_table_has_a_seam() {
    let t = time_table(
        &STEP,
        Smoothness::LinearSegments,
        Extrapolation::Periodic,
        TimeEvents::Always,
    );
    assert_eq!(t.value(1, 4.0, 4.0, 4.0).unwrap().y, 6.0);
    assert_eq!(t.value(1, 4.0, 5.0, 4.0).unwrap().y, 0.0);
    assert_eq!(t.value(1, 4.5, 5.0, 5.0).unwrap().y, 0.5);
    // A period that is not a binary fraction: the right side of every event, after many periods.
    let data: Vec<f64> = STEP.chunks(2).flat_map(|p| [0.1 * p[0], p[1]]).collect();
    let t = time_table(
        &data,
        Smoothness::LinearSegments,
        Extrapolation::Periodic,
        TimeEvents::Always,
    );
    let times = events(&t, 0.0, 20_000);
    assert_eq!(times.len(), 20_000);
    for (k, &time) in times.iter().enumerate() {
        assert!((time - 0.1 * (k + 1) as f64).abs() < 1e-9);
        let next = t.next_event(time);
        let (left, right) = if k % 2 == 0 { (1.0, 5.0) } else { (6.0, 0.0) };
        assert!(
            (t.value(1, time, time, time).unwrap().y - left).abs() < 1e-8,
            "left of event {k} at {time}"
        );
        assert!(
            (t.value(1, time, next, time).unwrap().y - right).abs() < 1e-8,
            "right of event {k} at {time}"
        );
    }
}

#[test]
fn start_and_shift_of_a_time_table() {
    let curve = Curve::new(
        &matrix(2, &[0.0, 1.0, 1.0, 3.0]),
        &[2],
        Smoothness::LinearSegments,
        Extrapolation::HoldLastPoint,
        true,
    );
    let t = TimeTable::new(curve.unwrap(), 2.5, 2.0, TimeEvents::Always);
    assert_eq!(events(&t, 0.0, 9), [2.5, 3.0]);
    assert_eq!(t.value(1, 1.0, 2.5, 2.5).unwrap().y, 0.0);
    assert_eq!(t.value(1, 2.5, 2.5, 2.5).unwrap().y, 0.0);
    assert_eq!(t.value(1, 2.5, 3.0, 2.5).unwrap().y, 2.0);
    assert_eq!(
        t.value(1, 7.0, tables::NO_EVENT, tables::NO_EVENT)
            .unwrap()
            .y,
        3.0
    );
}

#[test]
fn surfaces() {
    // z = 2x + 3y + xy on a grid is met exactly by every smooth kind, inside and, going on straight, outside.
    let (x, y) = ([0.0, 1.0, 2.5, 3.0], [0.0, 2.0, 3.0, 5.0]);
    let z = |x: f64, y: f64| 2.0 * x + 3.0 * y + x * y;
    let mut data = vec![0.0];
    data.extend(y);
    for x in x {
        data.push(x);
        data.extend(y.map(|y| z(x, y)));
    }
    let table = matrix(5, &data);
    for kind in [
        Smoothness::LinearSegments,
        Smoothness::ContinuousDerivative,
        Smoothness::ModifiedContinuousDerivative,
    ] {
        let s = Surface::new(&table, kind, Extrapolation::LastTwoPoints).unwrap();
        for (u, v) in [
            (0.3, 1.0),
            (2.0, 4.0),
            (-1.0, 2.5),
            (1.5, 7.0),
            (4.0, 6.0),
            (-2.0, -3.0),
        ] {
            let jet = s.value(u, v).unwrap();
            close(jet.z, z(u, v));
            close(jet.gradient[0], 2.0 + v);
            close(jet.gradient[1], 3.0 + u);
            close(jet.second[1], 1.0);
        }
        let hold = Surface::new(&table, kind, Extrapolation::HoldLastPoint).unwrap();
        close(hold.value(9.0, 1.0).unwrap().z, z(3.0, 1.0));
        assert_eq!(hold.value(9.0, 1.0).unwrap().gradient[0], 0.0);
        let periodic = Surface::new(&table, kind, Extrapolation::Periodic).unwrap();
        close(
            periodic.value(3.0 * 4.0 + 0.5, -5.0 + 1.0).unwrap().z,
            z(0.5, 1.0),
        );
        let none = Surface::new(&table, kind, Extrapolation::NoExtrapolation).unwrap();
        assert!(none.value(3.1, 0.0).unwrap_err().contains("first"));
    }
    let constant = Surface::new(
        &table,
        Smoothness::ConstantSegments,
        Extrapolation::HoldLastPoint,
    )
    .unwrap();
    assert_eq!(constant.value(1.9, 2.9).unwrap().z, z(1.0, 2.0));
    assert_eq!(constant.value(3.0, 5.0).unwrap().z, z(3.0, 5.0));
    assert!(
        Surface::new(
            &table,
            Smoothness::MonotoneContinuousDerivative1,
            Extrapolation::HoldLastPoint
        )
        .is_err()
    );
}

#[test]
fn bicubic_derivatives_agree_with_differences() {
    let (x, y) = ([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 3.0]);
    let mut data = vec![0.0];
    data.extend(y);
    for x in x {
        data.push(x);
        data.extend(y.map(|y| (x * 1.3_f64).sin() * y.exp() + x * x));
    }
    let s = Surface::new(
        &matrix(4, &data),
        Smoothness::ContinuousDerivative,
        Extrapolation::LastTwoPoints,
    )
    .unwrap();
    let h = 1e-5;
    for (u, v) in [(0.5, 0.5), (3.1, 2.2), (-1.0, 0.4), (1.2, 4.0), (5.0, 4.0)] {
        let jet = s.value(u, v).unwrap();
        let (e, w) = (s.value(u + h, v).unwrap(), s.value(u - h, v).unwrap());
        let (n, d) = (s.value(u, v + h).unwrap(), s.value(u, v - h).unwrap());
        let near = |a: f64, b: f64| {
            assert!(
                (a - b).abs() < 1e-4 * b.abs().max(1.0),
                "{a} instead of {b} at {u}, {v}"
            )
        };
        near(jet.gradient[0], (e.z - w.z) / (2.0 * h));
        near(jet.gradient[1], (n.z - d.z) / (2.0 * h));
        near(jet.second[0], (e.gradient[0] - w.gradient[0]) / (2.0 * h));
        near(jet.second[1], (n.gradient[0] - d.gradient[0]) / (2.0 * h));
        near(jet.second[2], (n.gradient[1] - d.gradient[1]) / (2.0 * h));
    }
}

struct OneFile(&'static str, Vec<u8>);

impl Host for OneFile {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == self.0 {
            Ok(self.1.clone())
        } else {
            Err(format!("no `{path}`"))
        }
    }
}

pub(super) fn string(s: &str) -> Value {
    Value::String(s.into())
}

/// `CombiTable1D_init3` from a file.
fn table_from(
    file: &'static str,
    bytes: &[u8],
    name: &str,
    delimiter: &str,
    header: i64,
) -> Result<(Objects, Value), String> {
    let mut objects = Objects::new(Arc::new(OneFile(file, bytes.to_vec())));
    let args = [
        string(file),
        string(name),
        Value::array(vec![0, 0], Vec::new()),
        Value::Integer(0),
        Value::Integer(0),
        integers(&[2]),
        Value::Integer(1),
        Value::Integer(1),
        Value::Integer(1),
        Value::Boolean(false),
        string(delimiter),
        Value::Integer(header),
    ];
    let id = objects
        .invoke("ModelicaStandardTables_CombiTable1D_init3", &args)?
        .result
        .ok_or("no object")?;
    Ok((objects, id))
}

fn at(found: Result<(Objects, Value), String>, u: f64) -> f64 {
    let (mut objects, id) = found.unwrap();
    let args = [id, Value::Integer(1), Value::Real(u)];
    let reply = objects
        .invoke("ModelicaStandardTables_CombiTable1D_getValue", &args)
        .unwrap();
    reply.result.and_then(|v| v.as_f64()).unwrap()
}

#[test]
fn tables_come_from_text_csv_and_matlab_files() {
    let text = b"#1\n# comment\ndouble other(1,1)\n7\ndouble tab(3,2)  # this one\n0 1 # first\n 1\t3\n2,5\n";
    assert_eq!(at(table_from("a.txt", text, "tab", ",", 0), 0.5), 2.0);
    assert!(
        table_from("a.txt", text, "nix", ",", 0)
            .err()
            .unwrap()
            .contains("only other, tab")
    );
    assert!(
        table_from("a.txt", b"double tab(1,2)\n1 2", "tab", ",", 0)
            .err()
            .unwrap()
            .contains("`#1`")
    );
    assert!(
        table_from("a.txt", b"#1\ndouble tab(2,2)\n1 2", "tab", ",", 0)
            .err()
            .unwrap()
            .contains("2 of 4")
    );
    assert_eq!(
        at(
            table_from("a.csv", b"time;x\n0;1\n1;3\n", "Values", ";", 1),
            0.5
        ),
        2.0
    );
    assert!(
        table_from("a.csv", b"0,1\n1\n", "Values", ",", 0)
            .err()
            .unwrap()
            .contains("line 2")
    );
    // Level 4: two matrices, column by column.
    let mut mat = Vec::new();
    for (name, data) in [("other\0", vec![9.0]), ("tab\0", vec![0.0, 1.0, 1.0, 3.0])] {
        let n = if data.len() == 1 { 1 } else { 2 };
        for word in [0_u32, n, n, 0, name.len() as u32] {
            mat.extend(word.to_le_bytes());
        }
        mat.extend(name.as_bytes());
        data.iter().for_each(|x: &f64| mat.extend(x.to_le_bytes()));
    }
    assert_eq!(at(table_from("a.mat", &mat, "tab", ",", 0), 0.5), 2.0);
    assert!(table_from("a.mat", &mat[..40], "tab", ",", 0).is_err());
    // Level 5, uncompressed.
    let element = |kind: u32, data: &[u8]| {
        let mut out = Vec::new();
        out.extend(kind.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(data);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    };
    let words = |w: &[u32]| w.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let numbers: Vec<u8> = [0.0, 1.0, 1.0, 3.0]
        .iter()
        .flat_map(|x: &f64| x.to_le_bytes())
        .collect();
    let body = [
        element(6, &words(&[6, 0])),
        element(5, &words(&[2, 2])),
        element(1, b"tab"),
        element(9, &numbers),
    ]
    .concat();
    let mut mat5 = b"MATLAB 5.0 MAT-file".to_vec();
    mat5.resize(124, b' ');
    mat5.extend([0, 1, b'I', b'M']);
    mat5.extend(element(14, &body));
    assert_eq!(at(table_from("b.mat", &mat5, "tab", ",", 0), 0.5), 2.0);
}

#[test]
fn compressed_data_is_unpacked() {
    // zlib of "hello hello hello hello\n" with fixed codes, and one stored block.
    let fixed = [
        0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0xb9, 0x00, 0x70, 0xbe,
        0x08, 0xbb,
    ];
    assert_eq!(
        inflate::inflate(&fixed).unwrap(),
        b"hello hello hello hello\n"
    );
    let stored = [
        0x78, 0x01, 0x01, 0x03, 0x00, 0xfc, 0xff, b'a', b'b', b'c', 0x02, 0x4d, 0x01, 0x27,
    ];
    assert_eq!(inflate::inflate(&stored).unwrap(), b"abc");
    for n in 0..fixed.len() {
        assert!(inflate::inflate(&fixed[..n]).is_err());
    }
}

#[test]
fn compressed_data_with_a_wrong_checksum_is_refused() {
    let stored = [
        0x78, 0x01, 0x01, 0x03, 0x00, 0xfc, 0xff, b'a', b'b', b'c', 0x02, 0x4d, 0x01, 0x27,
    ];
    // Content, then checksum.
    for damaged in 7..stored.len() {
        let mut bytes = stored;
        bytes[damaged] ^= 1;
        let error = inflate::inflate(&bytes).unwrap_err();
        assert!(error.contains("checksum"), "{error}");
    }
}

#[test]
fn texts() {
    assert_eq!(strings::substring("größe", 2, 4).unwrap(), "röß");
    assert!(strings::substring("abc", 2, 9).is_err());
    assert_eq!(
        [
            strings::compare("a", "B", true),
            strings::compare("a", "B", false),
            strings::compare("a", "A", false)
        ],
        [3, 1, 2]
    );
    assert_eq!(strings::scan_integer(" -12 x", 1, false), (5, -12));
    assert_eq!(strings::scan_integer(" -12 x", 1, true), (1, 0));
    assert_eq!(strings::scan_integer("1.5", 1, false), (1, 0));
    assert_eq!(strings::scan_real("x 1.5e-3,", 2, false), (9, 1.5e-3));
    assert_eq!(strings::scan_real(".", 1, false), (1, 0.0));
    assert_eq!(
        strings::scan_string(" \"a \\\" b\" c", 1),
        (10, "a \\\" b".into())
    );
    assert_eq!(strings::scan_identifier("  ab_1+", 1), (7, "ab_1".into()));
    assert_eq!(strings::skip_white_space("a  b", 2), 4);
}

#[test]
fn random_numbers_repeat_and_stay_between_0_and_1() {
    let mut state = vec![1, 0];
    let (first, x) = random::xorshift64star(&state).unwrap();
    // 1 → (1 << 25 | 1) shifted and multiplied: by exact arithmetic.
    let bits = 33_554_433_u64.wrapping_mul(2_685_821_657_736_338_717);
    assert_eq!(
        first,
        [
            i64::from(bits as u32 as i32),
            i64::from((bits >> 32) as u32 as i32)
        ]
    );
    close(x, (bits as i64) as f64 / 2f64.powi(64) + 0.5);
    let mut sum = 0.0;
    for _ in 0..10_000 {
        let (next, x) = random::xorshift64star(&state).unwrap();
        assert!(x > 0.0 && x <= 1.0);
        state = next;
        sum += x;
    }
    assert!((sum / 10_000.0 - 0.5).abs() < 0.02);
    assert!(random::xorshift128plus(&[1, 2]).is_err());
    let long: Vec<i64> = (1..=33).collect();
    let (next, _) = random::xorshift1024star(&long).unwrap();
    assert_eq!((next.len(), next[32]), (33, 2));
}

/// Knows two folders and one variable, and takes no change.
struct TwoFolders;

impl Host for TwoFolders {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Ok(format!("{path}\nend").into_bytes())
    }

    fn folder(&self, path: &str) -> Result<String, String> {
        match path {
            "." | "/home" => Ok("/home".into()),
            "sub" | "/home/sub" => Ok("/home/sub".into()),
            "/home/sub/.." => Ok("/home".into()),
            _ => Err(format!("`{path}` is not a folder")),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "SHELL").then(|| "C:\\sh".into())
    }
}

#[test]
fn the_working_folder_and_the_environment_are_those_of_a_run() {
    let mut one = Objects::new(Arc::new(TwoFolders));
    let mut other = Objects::new(Arc::new(TwoFolders));
    let call = |objects: &mut Objects, name: &str, args: &[Value]| {
        objects
            .invoke(&format!("ModelicaInternal_{name}"), args)
            .unwrap()
    };
    let zero = [Value::Integer(0)];
    call(&mut one, "chdir", &[string("sub")]);
    assert_eq!(
        call(&mut one, "getcwd", &zero).result,
        Some(string("/home/sub"))
    );
    assert_eq!(
        call(&mut other, "getcwd", &zero).result,
        Some(string("/home"))
    );
    // Relative paths are those of the folder; others stay.
    for (path, read) in [
        ("a.txt", "/home/sub/a.txt"),
        ("/b", "/b"),
        ("modelica://P/c", "modelica://P/c"),
    ] {
        let line = [string(path), Value::Integer(1), Value::Boolean(true)];
        let reply = call(&mut one, "readLine", &line);
        assert_eq!(reply.result, Some(string(read)));
        assert_eq!(reply.written, [(2, Value::Boolean(false))]);
    }
    call(&mut one, "chdir", &[string("..")]);
    assert_eq!(
        call(&mut one, "getcwd", &zero).result,
        Some(string("/home"))
    );
    assert!(
        one.invoke("ModelicaInternal_chdir", &[string("nowhere")])
            .is_err()
    );

    let variable = |objects: &mut Objects, name: &str| {
        let args = [
            string(name),
            Value::Boolean(true),
            string(""),
            Value::Boolean(false),
        ];
        call(objects, "getenv", &args).written
    };
    assert_eq!(
        variable(&mut one, "SHELL"),
        [(2, string("C:/sh")), (3, Value::Boolean(true))]
    );
    for content in ["1", "2"] {
        call(
            &mut one,
            "setenv",
            &[string("X"), string(content), Value::Boolean(true)],
        );
    }
    assert_eq!(
        variable(&mut one, "X"),
        [(2, string("2")), (3, Value::Boolean(true))]
    );
    assert_eq!(
        variable(&mut other, "X"),
        [(2, string("")), (3, Value::Boolean(false))]
    );
}

#[test]
fn what_reaches_outside_is_refused_by_name() {
    let mut objects = Objects::new(Arc::new(NoHost));
    for (name, said) in [
        ("ModelicaInternal_rmdir", "no access to files"),
        ("ModelicaInternal_mkdir", "no access to files"),
        ("ModelicaInternal_removeFile", "no access to files"),
        ("ModelicaInternal_chdir", "no access to files"),
        ("ModelicaInternal_getcwd", "no access to files"),
        ("ModelicaInternal_getTime", "no access to the clock"),
        ("ModelicaInternal_unheard", "`ModelicaInternal_unheard`"),
        ("system", "the command `x` cannot be run"),
        ("my_function", "`my_function`"),
    ] {
        let message = objects
            .invoke(name, &[string("x"), Value::Boolean(false)])
            .unwrap_err();
        assert!(message.contains(said), "{message}");
    }
    let message = objects.invoke("exit", &[Value::Integer(3)]).unwrap_err();
    assert!(message.contains("`exit` with status 3"), "{message}");
    objects
        .invoke("ModelicaInternal_print", &[string("hello"), string("")])
        .unwrap();
    assert_eq!(objects.take_messages(), ["hello"]);
    assert_eq!(
        objects
            .invoke("hypot", &[Value::Real(3.0), Value::Integer(4)])
            .unwrap()
            .result,
        Some(Value::Real(5.0))
    );
    assert!(objects.invoke("log", &[Value::Real(-1.0)]).is_err());
}

/// Numbers in [-1, 1] that are the same in every run.
pub(super) fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

#[test]
fn a_spectrum_is_that_of_its_cosines() {
    for n in [2, 6, 40, 98, 400] {
        let u: Vec<f64> = (0..n)
            .map(|j| {
                let t = std::f64::consts::TAU * f64::from(j) / f64::from(n);
                1.5 + 3.0 * (t + 0.7).cos()
            })
            .collect();
        let (a, phi) = fourier::real_spectrum(&u).unwrap();
        assert_eq!(a.len() as i32, n / 2 + 1);
        // The library divides by n/2 + 1.
        let tone = f64::from(n) / f64::from(n + 2);
        assert!((a[0] - 2.0 * 1.5 * tone).abs() < 1e-13);
        if n > 2 {
            assert!((a[1] - 3.0 * tone).abs() < 1e-13 && (phi[1] - 0.7).abs() < 1e-13);
            assert!(a[2..].iter().all(|x| x.abs() < 1e-12));
        }
    }
    // Parseval: the mean square.
    let u = noise(60, 11);
    let (a, _) = fourier::real_spectrum(&u).unwrap();
    let mean = u.iter().map(|x| x * x).sum::<f64>() / 60.0;
    let inside: f64 = a[1..30].iter().map(|x| 2.0 * x * x).sum();
    let sum = inside + a[0].powi(2) + a[30].powi(2);
    assert!((sum * (31.0 / 60.0_f64).powi(2) - mean).abs() < 1e-14);
    assert!(fourier::real_spectrum(&[1.0, 2.0, 3.0]).is_none());
}

#[test]
fn a_written_matrix_is_read_back() {
    // The second is longer than one block of a zlib stream.
    for m in [matrix(3, &noise(6, 5)), matrix(100, &noise(20_000, 6))] {
        for version in ["4", "6", "7"] {
            let version = MatVersion::from_name(version).unwrap();
            let one = matrix(1, &[7.0]);
            let mut bytes = files::mat_bytes(version, "first", &one, false).unwrap();
            bytes.extend(files::mat_bytes(version, "second", &m, true).unwrap());
            for (name, expected) in [("first", &one), ("second", &m)] {
                let reading = Reading {
                    name,
                    delimiter: ',',
                    header_lines: 0,
                };
                let found = files::read_matrix("m.mat", &bytes, &reading).unwrap();
                assert_eq!(found, *expected, "{version:?}");
            }
        }
    }
    assert_eq!(MatVersion::from_name("5"), None);
}
