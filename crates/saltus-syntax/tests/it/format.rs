//! The formatter: pairs of texts, and what holds for every text.
//!
//! `test_data/format/NAME.mo` and what becomes of it, `NAME.out` (written anew with `SALTUS_BLESS=1`). `SALTUS_LIBRARIES`, folders separated by `:`, adds
//! all files of libraries that are installed.

use proptest::prelude::*;
use saltus_syntax::format::{edits, format};
use saltus_syntax::lossless::same_content;
use std::path::{Path, PathBuf};

fn check_stable(name: &str, text: &str) -> String {
    let once = format(text);
    assert!(same_content(text, &once), "{name}: other tokens\n{once}");
    let twice = format(&once);
    assert!(
        twice == once,
        "{name}: not stable\n{}",
        first_difference(&once, &twice)
    );
    once
}

fn first_difference(a: &str, b: &str) -> String {
    let lines = a.lines().zip(b.lines()).enumerate();
    let differ = lines.into_iter().find(|(_, (a, b))| a != b);
    differ.map_or("one is longer".to_owned(), |(i, (a, b))| {
        format!("line {}:\n{a:?}\n{b:?}", i + 1)
    })
}

#[test]
fn formats_as_recorded() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/format");
    let mut n_pairs = 0;
    for path in files_below(&dir) {
        let text = std::fs::read_to_string(&path).expect("a test file");
        let name = path.display().to_string();
        let formatted = check_stable(&name, &text);
        let expected = path.with_extension("out");
        if std::env::var_os("SALTUS_BLESS").is_some() {
            std::fs::write(&expected, &formatted).expect("a test file");
        }
        let expected = std::fs::read_to_string(&expected).expect("a test file");
        assert_eq!(formatted, expected, "{name}");
        n_pairs += 1;
    }
    assert!(n_pairs > 0);
}

#[test]
fn libraries_keep_their_content() {
    let Some(libraries) = std::env::var_os("SALTUS_LIBRARIES") else {
        return;
    };
    for folder in std::env::split_paths(&libraries) {
        let (mut n_files, mut n_bytes, mut n_lines, mut n_changed) = (0, 0, 0, 0);
        let mut seconds = 0.0;
        for path in files_below(&folder) {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let start = std::time::Instant::now();
            let once = format(&text);
            seconds += start.elapsed().as_secs_f64();
            check_stable(&path.display().to_string(), &text);
            n_files += 1;
            n_bytes += text.len();
            n_lines += text.lines().count();
            n_changed += edits(&text).len();
            let _ = once;
        }
        eprintln!(
            "{}: {n_files} files, {n_changed} gaps in {n_lines} lines change, {:.0} MB/s",
            folder.display(),
            n_bytes as f64 / 1e6 / seconds
        );
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut todo = vec![dir.to_owned()];
    let mut files = Vec::new();
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "mo") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_soup_keeps_its_content(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        assert!(same_content(&text, &format(&text)), "other tokens in {text:?}");
    }
}

/// Tokens, comments, white space and breakage.
const PIECES: &[&str] = &[
    " ",
    " ",
    "\n",
    "\n\n\n",
    "\r\n",
    "\t",
    "  ",
    "model",
    "end",
    "if",
    "then",
    "else",
    "for",
    "loop",
    "equation",
    "initial",
    "algorithm",
    "when",
    "annotation",
    "redeclare",
    "package",
    "operator",
    "import",
    "extends",
    "M",
    "x",
    "'q'",
    "\"s\"",
    "\"a\nb\"",
    "1",
    "1.",
    ".5",
    "2e3",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ";",
    ":",
    ":=",
    "=",
    "==",
    "<",
    ">",
    "<>",
    "+",
    "-",
    "*",
    "/",
    "^",
    ".",
    ".+",
    ".*",
    "// c \n",
    "/* d */",
    "/* e\n f */",
    "/*",
    "\"",
    "§",
    "\u{feff}",
    "der",
    "true",
    "external",
    "public",
];
