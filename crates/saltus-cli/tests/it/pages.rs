//! The pages of `docs/errors`: every code has one, and the model on it triggers the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{saltus_in, scratch};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = fs::read_dir(repository().join("docs/errors"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .map(|path| {
            let code = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (code, fs::read_to_string(path).unwrap())
        })
        .collect();
    pages.sort();
    pages
}

/// The first fenced block of Modelica text.
fn example(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("```modelica\n")?;
    Some(rest.split_once("```")?.0)
}

/// Codes whose example cannot trigger them yet, each with the reason.
const NOT_YET: &[(&str, &str)] = &[];

#[test]
fn every_example_triggers_its_code() {
    let folder = scratch("pages");
    let mut wrong = Vec::new();
    for (code, page) in pages() {
        let Some(text) = example(&page) else { continue };
        let file = format!("{code}.mo");
        fs::write(folder.join(&file), text).unwrap();
        let output = format!("{code}.csv");
        let ran = saltus_in(
            &folder,
            &["simulate", &file, "--output", &output, "--max-wall", "20"],
        );
        let marks = [format!("error[{code}]"), format!("warning[{code}]")];
        let triggered = marks.iter().any(|mark| ran.stderr.contains(mark));
        let expected = !NOT_YET.iter().any(|(known, _)| *known == code);
        if triggered != expected {
            let first = ran.stderr.lines().next().unwrap_or("no message").to_owned();
            wrong.push(format!("{code}: exit {:?}, {first}", ran.exit));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} pages:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_code_has_a_page() {
    let known: BTreeSet<String> = pages().into_iter().map(|(code, _)| code).collect();
    let mut used = BTreeSet::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        collect_codes(&entry.unwrap().path().join("src"), &mut used);
    }
    assert!(used.len() > 30, "the search found only {used:?}");
    let missing: Vec<&String> = used.difference(&known).collect();
    assert!(missing.is_empty(), "no page in docs/errors for {missing:?}");
}

/// Codes in the calls that make diagnostics: a literal with a hyphen as first argument.
fn collect_codes(folder: &Path, used: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_codes(&path, used);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            // Tests inside files make up codes.
            let code_only = text.split("#[cfg(test)]").next().unwrap_or(&text);
            for call in ["error(", "warning(", "placeless(", ".at("] {
                for (at, _) in code_only.match_indices(call) {
                    used.extend(literal_code(&code_only[at + call.len()..]));
                }
            }
        }
    }
}

fn literal_code(arguments: &str) -> Option<String> {
    let (word, _) = arguments.trim_start().strip_prefix('"')?.split_once('"')?;
    let is_code = word.contains('-') && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    is_code.then(|| word.to_owned())
}
