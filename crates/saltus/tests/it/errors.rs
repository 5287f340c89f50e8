//! The pages of `docs/errors/`: the example of each page must give the code that the page is about.

use crate::mdtest::{cases, class_of, diagnose, given_codes, root};
use saltus::{Diagnostics, Error, Session};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Codes whose cause is not a model text: files, options, limits of size and time.
const WITHOUT_EXAMPLE: &[&str] = &[
    "file-not-found",
    "file-too-large",
    "not-utf8",
    "wrong-option",
    "wall-clock",
    "creeping",
    "cancelled",
    "result-not-written",
    "start-incomplete",
    "too-many-modes",
    "out-of-memory",
    "solver-alias",
    // A model has none: only a program that steps a run meets it.
    "not-running",
];

/// FIXME: pages that need an example that gives their code, with what their first example gives today (nothing: no example).
const FIXME: &[(&str, &str)] = &[
    ("not-supported", ""),
    ("too-deep", ""),
    ("unsupported-expression", ""),
];

/// Bound on one run of an example.
const WALL_SECONDS_MAX: f64 = 20.0;

fn pages() -> Vec<(String, PathBuf)> {
    let mut pages: Vec<(String, PathBuf)> = std::fs::read_dir(root().join("docs/errors"))
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .map(|path| {
            (
                path.file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                path,
            )
        })
        .filter(|(code, _)| code != "README")
        .collect();
    pages.sort();
    pages
}

/// Codes of everything that is said on the way from text to the end of a run with the settings of the model.
fn codes(text: &str) -> BTreeSet<&'static str> {
    let (_, diagnostics) = diagnose(text);
    let mut codes: BTreeSet<&'static str> = all(&diagnostics);
    if diagnostics.has_errors() {
        return codes;
    }
    let mut session = Session::new();
    session.set_text("page.mo", text);
    let compiled = match session.compile(&class_of(text)) {
        Ok(compiled) => compiled,
        Err(error) => {
            codes.extend(error_codes(&error));
            return codes;
        }
    };
    codes.extend(compiled.range_warnings().iter().map(|d| d.code));
    match compiled.experiment().max_wall(WALL_SECONDS_MAX).simulate() {
        Ok(run) => codes.extend(all(&run.warnings)),
        Err(error) => codes.extend(error_codes(&error)),
    }
    codes
}

fn all(diagnostics: &Diagnostics) -> BTreeSet<&'static str> {
    diagnostics.list.iter().map(|d| d.code).collect()
}

fn error_codes(error: &Error) -> BTreeSet<&'static str> {
    match error {
        Error::Model(diagnostics) | Error::Stopped(diagnostics) => all(diagnostics),
        Error::Run(diagnostics, run) => all(diagnostics)
            .into_iter()
            .chain(all(&run.warnings))
            .collect(),
        Error::Usage(message) => panic!("{message}"),
    }
}

#[test]
fn the_first_example_of_each_page_gives_its_code() {
    let mut problem = String::new();
    for (code, path) in pages() {
        if WITHOUT_EXAMPLE.contains(&code.as_str()) {
            continue;
        }
        let given = match cases(&path).into_iter().next() {
            Some(case) => codes(&case.text),
            None => BTreeSet::from([""]),
        };
        let today = FIXME
            .iter()
            .find(|(page, _)| *page == code)
            .map(|(_, today)| *today);
        if given.contains(code.as_str()) && today.is_some() {
            let _ = writeln!(
                problem,
                "{code}: its example gives it now, remove the FIXME"
            );
        } else if !given.contains(today.unwrap_or(code.as_str())) {
            let _ = writeln!(problem, "{code}: its example gives {given:?}");
        }
    }
    assert!(problem.is_empty(), "\n{problem}");
}

#[test]
fn each_code_of_the_language_tests_has_a_page() {
    let pages: BTreeSet<String> = pages().into_iter().map(|(code, _)| code).collect();
    let mut problem = String::new();
    for file in std::fs::read_dir(root().join("spec")).expect("the folder exists") {
        let path = file.expect("the folder can be read").path();
        for code in cases(&path).iter().flat_map(|case| given_codes(&case.text)) {
            if !pages.contains(&code) {
                let _ = writeln!(problem, "{code}: no page (used in {})", path.display());
            }
        }
    }
    assert!(problem.is_empty(), "\n{problem}");
}
