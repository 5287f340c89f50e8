//! A whole library through the server, if `SALTUS_LIBRARY` names the folder of one: every file opened in turn, completion and definition at many places.
//! `SALTUS_LIBRARY_STRIDE` takes every nth file. Prints what it measured.

use crate::Client;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Places in all.
const COMPLETIONS: usize = 500;
const DEFINITIONS: usize = 2000;

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut todo = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
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

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap_or_default();
    let kb: f64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0.0);
    kb / 1024.0
}

fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values
        .get((share * last as f64) as usize)
        .copied()
        .unwrap_or(0.0)
}

/// Places of identifiers behind which completion is asked: the word and where it begins.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_text = false;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => in_text = !in_text,
            b'\\' if in_text => at += 1,
            b'/' if !in_text && bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b if !in_text && (b.is_ascii_alphabetic() || b == b'_') => {
                let end = text[at..]
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .map_or(text.len(), |n| at + n);
                if end - at >= 4 {
                    found.push((at, text[at..end].to_owned()));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn position(text: &str, at: usize) -> Value {
    let line = text[..at].matches('\n').count();
    let begin = text[..at].rfind('\n').map_or(0, |n| n + 1);
    json!({ "line": line, "character": text[begin..at].encode_utf16().count() })
}

#[test]
fn a_whole_library_is_served() {
    let Some(library) = std::env::var_os("SALTUS_LIBRARY") else {
        return;
    };
    let folder = PathBuf::from(library);
    let stride = std::env::var("SALTUS_LIBRARY_STRIDE")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let files: Vec<PathBuf> = files_below(&folder).into_iter().step_by(stride).collect();
    let around = folder.display().to_string();
    let mut client = Client::new(None, &[around.as_str()]);
    let (mut opened, mut checked) = (Vec::new(), Vec::new());
    let (mut defined, mut unknown) = (Vec::new(), Vec::new());
    let (mut offered, mut completions) = (Vec::new(), [0_usize; 3]);
    let mut codes = std::collections::BTreeMap::<String, usize>::new();
    for (n, file) in files.iter().enumerate() {
        let Ok(text) = std::fs::read_to_string(file) else {
            continue;
        };
        let uri = format!("file://{}", file.display());
        let start = Instant::now();
        client.open(&uri, &text);
        client.wait_for(&uri, |_| true);
        opened.push(start.elapsed().as_secs_f64());
        if n % 8 == 0 {
            // The second publication is that of the classes.
            client.diagnostics.clear();
            let found = client.wait_for(&uri, |_| true);
            checked.push(start.elapsed().as_secs_f64());
            for diagnostic in found.iter().filter(|d| d["severity"] == 1) {
                let code = diagnostic["code"].as_str().unwrap_or_default();
                *codes.entry(code.to_owned()).or_default() += 1;
                eprintln!(
                    "{} {}: {}",
                    file.display(),
                    code,
                    diagnostic["message"]
                        .as_str()
                        .unwrap_or_default()
                        .lines()
                        .next()
                        .unwrap_or_default()
                );
            }
        }
        let words = words(&text);
        let begin = text.find("annotation").unwrap_or(text.len());
        let words: Vec<_> = words.into_iter().filter(|(at, _)| *at < begin).collect();
        if !words.is_empty() {
            for k in 0..(DEFINITIONS / files.len() + 1) {
                let (at, word) = &words[(n * 7919 + k * 31) % words.len()];
                if is_keyword(word) {
                    continue;
                }
                let start = Instant::now();
                let found = client.ask_at("textDocument/definition", &uri, &position(&text, *at));
                defined.push(start.elapsed().as_secs_f64());
                if found.is_null() {
                    unknown.push(format!("{}: {word}", file.display()));
                }
            }
            let (at, word) = &words[(n * 104_729) % words.len()];
            // The name in a declaration is new: it cannot be offered.
            let is_new = is_declared(&text, *at);
            if !is_new && completions[0] < COMPLETIONS && !is_keyword(word) {
                // All but two letters are cut.
                let cut = format!("{}{}", &text[..at + 2], &text[at + word.len()..]);
                client.change(&uri, json!([{ "text": cut }]));
                let start = Instant::now();
                let found =
                    client.ask_at("textDocument/completion", &uri, &position(&text, at + 2));
                offered.push(start.elapsed().as_secs_f64());
                let items = found["items"].as_array().cloned().unwrap_or_default();
                let rank = items.iter().position(|item| {
                    item["label"]
                        .as_str()
                        .is_some_and(|label| label == word || label.ends_with(&format!(".{word}")))
                });
                completions[0] += 1;
                completions[1] += usize::from(rank.is_some());
                completions[2] += usize::from(rank.is_some_and(|rank| rank < 5));
                if rank.is_none() {
                    let line = text[..*at].rfind('\n').map_or(0, |n| n + 1);
                    let rest = text[line..].lines().next().unwrap_or_default();
                    eprintln!("not offered: {word} in {}: {rest}", file.display());
                }
            }
        }
        client.tell(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri } }),
        );
        client.diagnostics.clear();
    }
    for place in unknown.iter().take(60) {
        eprintln!("no definition: {place}");
    }
    eprintln!(
        "{} files; errors {codes:?}; peak memory {:.0} MB (with the test)",
        files.len(),
        resident_mb()
    );
    eprintln!(
        "open to syntax p95 {:.3} s; to classes p95 {:.3} s",
        percentile(&mut opened, 0.95),
        percentile(&mut checked, 0.95)
    );
    eprintln!(
        "definition: {} asked, {} without answer, p95 {:.3} s",
        defined.len(),
        unknown.len(),
        percentile(&mut defined, 0.95)
    );
    eprintln!(
        "completion: {} asked, {} offered, {} in the first five, p95 {:.3} s",
        completions[0],
        completions[1],
        completions[2],
        percentile(&mut offered, 0.95)
    );
}

/// Behind a name, with white space between them.
fn is_declared(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end();
    let last: String = before
        .chars()
        .rev()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let last: String = last.chars().rev().collect();
    let is_word = last.starts_with(|c: char| c.is_alphabetic()) && !is_modifier_word(&last);
    before.len() < at && (is_word || before.ends_with(']'))
        || matches!(
            last.as_str(),
            "model" | "block" | "package" | "record" | "function" | "type" | "connector" | "within"
        )
}

fn is_modifier_word(word: &str) -> bool {
    is_keyword(word) && !matches!(word, "Real" | "Integer" | "Boolean" | "String")
        || matches!(word, "if" | "in" | "and" | "or" | "not" | "end" | "for")
}

fn is_keyword(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "algorithm",
        "annotation",
        "assert",
        "block",
        "Boolean",
        "class",
        "connect",
        "connector",
        "constant",
        "constrainedby",
        "discrete",
        "each",
        "else",
        "elseif",
        "elsewhen",
        "encapsulated",
        "enumeration",
        "equation",
        "expandable",
        "extends",
        "external",
        "false",
        "final",
        "flow",
        "function",
        "import",
        "impure",
        "initial",
        "inner",
        "input",
        "Integer",
        "loop",
        "model",
        "operator",
        "outer",
        "output",
        "package",
        "parameter",
        "partial",
        "protected",
        "public",
        "pure",
        "Real",
        "record",
        "redeclare",
        "replaceable",
        "return",
        "stream",
        "String",
        "then",
        "true",
        "type",
        "when",
        "while",
        "within",
        "time",
    ];
    WORDS.contains(&word)
}
