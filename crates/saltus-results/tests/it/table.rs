use saltus_results::{Glob, ResultTable, Side};

use crate::sample_table;

#[test]
fn interpolation_keeps_both_sides_of_an_event() {
    let table = sample_table();
    let x = table.signal("x").unwrap();
    assert_eq!(x.at(0.05, Side::Left), Some(0.75));
    assert_eq!(x.at(0.1, Side::Left), Some(0.5));
    assert_eq!(x.at(0.1, Side::Right), Some(-0.425));
    assert_eq!(x.at(0.0, Side::Left), Some(1.0));
    assert_eq!(x.at(0.3, Side::Right), Some(1e-300));
    assert_eq!(x.at(0.31, Side::Left), None);
    assert_eq!(x.at(f64::NAN, Side::Left), None);
}

#[test]
fn aliases_and_constants_have_values_in_every_row() {
    let table = sample_table();
    let alias = table.signal("frame.phi[1, 2]").unwrap();
    assert_eq!(alias.to_vec(), [-1.0, -0.5, 0.425, -1e-300]);
    assert_eq!(table.signal("mu").unwrap().to_vec(), [0.85; 4]);
    assert_eq!(table.signal("time").unwrap().last(), Some(0.3));
    assert!(table.signal("nothing").is_none());
}

#[test]
fn a_wrong_name_finds_its_neighbours() {
    let mut table = ResultTable::new(vec![0.0]);
    for name in ["inertia1.w", "inertia2.w", "spring.phi_rel"] {
        table.push_column(name, vec![0.0]).unwrap();
    }
    assert_eq!(
        table.similar_names("inertia.w", 2),
        ["inertia1.w", "inertia2.w"]
    );
}

#[test]
fn globs_know_stars_and_question_marks_only() {
    let yes = [
        ("*", "a.b"),
        ("a*", "a"),
        ("*.w", "inertia.w"),
        ("a[1,*]", "a[1,2]"),
        ("?.x", "b.x"),
        ("*a*b*", "xxaxxbxx"),
        ("der(*)", "der(x)"),
    ];
    for (pattern, name) in yes {
        assert!(Glob::new(pattern).matches(name), "{pattern} {name}");
    }
    let no = [
        ("*.w", "inertia.w2"),
        ("a[12]", "a1"),
        ("?", ""),
        ("", "a"),
        ("a*b", "ac"),
    ];
    for (pattern, name) in no {
        assert!(!Glob::new(pattern).matches(name), "{pattern} {name}");
    }
}
