//! `test_data/ok/*.mo` parse without a message and print as the `.ast` beside them; `test_data/err/*.mo` give the
//! messages of the `.err` beside them, and below a line `---` what could be read.
//! `SALTUS_BLESS=1` writes the expected files.

use crate::parse_named;
use saltus_syntax::{print_ast, render};
use std::fs;
use std::path::{Path, PathBuf};

fn sources_in(folder: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test_data")
        .join(folder);
    let entries = fs::read_dir(&dir).expect("the folder of test data");
    let mut files: Vec<PathBuf> = entries
        .map(|e| e.expect("a readable folder").path())
        .collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "mo"));
    files.sort();
    assert!(
        files.len() >= 25,
        "{folder} has lost test data: {} files",
        files.len()
    );
    files
}

/// Runs `produce` on every file of the folder and compares with the file of the other extension.
fn check(folder: &str, extension: &str, produce: impl Fn(&str, &str) -> String) {
    let bless = std::env::var_os("SALTUS_BLESS").is_some();
    let mut failures = Vec::new();
    for file in sources_in(folder) {
        let name = file
            .file_name()
            .expect("a file name")
            .to_string_lossy()
            .into_owned();
        let actual = produce(&name, &fs::read_to_string(&file).expect("a readable file"));
        let expected_file = file.with_extension(extension);
        if bless {
            fs::write(&expected_file, &actual).expect("a writable file");
        } else if fs::read_to_string(&expected_file).ok().as_deref() != Some(&actual) {
            failures.push(format!("---- {name} ----\n{actual}"));
        }
    }
    let n = failures.len();
    assert!(
        failures.is_empty(),
        "{n} files differ (SALTUS_BLESS=1 accepts)\n{}",
        failures.join("\n")
    );
}

#[test]
fn valid_sources_print_as_expected_and_parse_again_to_the_same() {
    check("ok", "ast", |name, text| {
        let (sources, parsed) = parse_named(name, text);
        let messages: Vec<String> = parsed
            .diagnostics
            .iter()
            .map(|d| render(d, &sources))
            .collect();
        assert!(messages.is_empty(), "{}", messages.join("\n"));
        let printed = print_ast(&parsed.definition);
        let (sources, again) = parse_named(name, &printed);
        let messages: Vec<String> = again
            .diagnostics
            .iter()
            .map(|d| render(d, &sources))
            .collect();
        assert!(
            messages.is_empty(),
            "the printed form does not parse:\n{}",
            messages.join("\n")
        );
        assert_eq!(print_ast(&again.definition), printed, "{name}");
        printed
    });
}

#[test]
fn invalid_sources_give_the_expected_messages() {
    check("err", "err", |name, text| {
        let (sources, parsed) = parse_named(name, text);
        assert!(!parsed.diagnostics.is_empty(), "{name} gives no message");
        let messages: Vec<String> = parsed
            .diagnostics
            .iter()
            .map(|d| render(d, &sources))
            .collect();
        format!(
            "{}\n---\n{}",
            messages.join("\n"),
            print_ast(&parsed.definition)
        )
    });
}
