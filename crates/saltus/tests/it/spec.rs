//! The language cases of `spec/`, one test per chapter of the specification.

use crate::mdtest::{check_file, root};

macro_rules! chapters {
    ($($name:ident: $file:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            check_file(&root().join("spec").join($file));
        })*

        const FILES: &[&str] = &[$($file),*];
    };
}

chapters! {
    chapter_02_lexical_structure: "02-lexical-structure.md",
    chapter_03_operators_and_expressions: "03-operators-and-expressions.md",
    chapter_04_classes_and_types: "04-classes-and-types.md",
    chapter_05_scoping_and_lookup: "05-scoping-and-lookup.md",
    chapter_06_interfaces: "06-interfaces.md",
    chapter_07_inheritance_and_modification: "07-inheritance-and-modification.md",
    chapter_08_equations: "08-equations.md",
    chapter_09_connectors: "09-connectors.md",
    chapter_10_arrays: "10-arrays.md",
    chapter_11_algorithms: "11-algorithms.md",
    chapter_12_functions: "12-functions.md",
    chapter_13_packages: "13-packages.md",
    chapter_14_operator_records: "14-operator-records.md",
    chapter_15_streams: "15-streams.md",
    chapter_16_clocks: "16-clocks.md",
    chapter_18_annotations: "18-annotations.md",
}

#[test]
fn every_chapter_file_is_tested() {
    let mut files: Vec<String> = std::fs::read_dir(root().join("spec"))
        .expect("the folder exists")
        .map(|entry| {
            entry
                .expect("the folder can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".md") && name != "README.md")
        .collect();
    files.sort();
    assert_eq!(files, FILES);
}

#[test]
fn there_are_enough_cases_and_enough_of_them_are_errors() {
    let cases: Vec<_> = FILES
        .iter()
        .flat_map(|file| crate::mdtest::cases(&root().join("spec").join(file)))
        .collect();
    let n_errors = cases
        .iter()
        .filter(|case| !crate::mdtest::given_codes(&case.text).is_empty())
        .count();
    assert!(cases.len() >= 380, "{} cases", cases.len());
    assert!(
        n_errors >= 180,
        "{n_errors} of {} cases give an error",
        cases.len()
    );
}
