//! Markdown with Modelica in it, as test cases.
//!
//! A case is a fenced `modelica` block; it belongs to the last heading above it. Comments in the block say what the compiler
//! must answer, on the line that the message points at:
//!
//! - `// error: [code]` or `// warning: [code]`: this message is expected (several codes: `[a] [b]`),
//! - `// FIXME error: [code]`: the specification wants this message, the compiler does not give it today (the case fails when it does),
//! - `// FIXME wrong error: [code]`: the compiler gives this message today although the model is right.
//!
//! A fenced block `flat` after it is the printed flat model, a block `result` has lines `variable at time = value`, which are checked
//! in a run (`// FIXME is value` after one: what the compiler gives today; `// FIXME fails: [code]` above them: the run fails
//! today); a block `text` is prose. The class under test is the last top-level class of the block.

use saltus::{Diagnostics, Error, Session, Severity};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Result lines must hold to this, relative to the larger of the value and 1.
const RESULT_TOLERANCE: f64 = 1e-6;
/// Tolerance of the runs that result lines are checked in.
const RUN_TOLERANCE: f64 = 1e-9;

/// Root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the crate is two folders below the root")
}

/// One `modelica` block with what is expected of it.
pub(crate) struct Case {
    /// `file:line heading`, the line that of the block's first line.
    pub(crate) name: String,
    pub(crate) text: String,
    flat: Option<Block>,
    result: Option<Block>,
}

struct Block {
    text: String,
    /// Lines of the file between the fences, from 0, end exclusive.
    lines: std::ops::Range<usize>,
}

/// The cases of a Markdown file.
pub(crate) fn cases(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()));
    let shown = file
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut cases: Vec<Case> = Vec::new();
    let mut heading = String::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        if let Some(title) = line.strip_prefix('#') {
            title
                .trim_start_matches('#')
                .trim()
                .clone_into(&mut heading);
        }
        let Some(kind) = line.strip_prefix("```") else {
            continue;
        };
        let start = at;
        while at < lines.len() && lines[at] != "```" {
            at += 1;
        }
        assert!(at < lines.len(), "{shown}:{start}: the block is not closed");
        let block = Block {
            text: lines[start..at].join("\n"),
            lines: start..at,
        };
        at += 1;
        match (kind, cases.last_mut()) {
            ("modelica", _) => cases.push(Case {
                name: format!("{shown}:{} {heading}", start + 1),
                text: block.text,
                flat: None,
                result: None,
            }),
            ("flat", Some(case)) if case.flat.is_none() => case.flat = Some(block),
            ("result", Some(case)) if case.result.is_none() => case.result = Some(block),
            ("text", _) => {}
            (kind, _) => panic!("{shown}:{start}: unexpected block `{kind}`"),
        }
    }
    cases
}

/// A message as tests see it: line, severity word, code.
type Seen = (u32, &'static str, String);

#[derive(Default)]
struct Expected {
    messages: BTreeSet<Seen>,
    /// Asked for by the specification, not given today.
    missing: BTreeSet<Seen>,
}

fn expected(text: &str) -> Expected {
    let mut out = Expected::default();
    for (line, number) in text.lines().zip(1..) {
        for comment in line.split("//").skip(1) {
            let comment = comment.trim();
            let (missing, kind) = match comment.split_once(':').map(|(head, _)| head) {
                Some("error" | "FIXME wrong error") => (false, "error"),
                Some("warning" | "FIXME wrong warning") => (false, "warning"),
                Some("FIXME error") => (true, "error"),
                Some("FIXME warning") => (true, "warning"),
                _ => continue,
            };
            let codes: Vec<&str> = comment
                .split('[')
                .skip(1)
                .filter_map(|rest| rest.split(']').next())
                .collect();
            assert!(!codes.is_empty(), "no [code] in `{line}`");
            let set = if missing {
                &mut out.missing
            } else {
                &mut out.messages
            };
            set.extend(
                codes
                    .into_iter()
                    .map(|code| (number, kind, code.to_owned())),
            );
        }
    }
    out
}

/// Codes that the text must give today.
pub(crate) fn given_codes(text: &str) -> BTreeSet<String> {
    expected(text)
        .messages
        .into_iter()
        .map(|(_, _, code)| code)
        .collect()
}

fn seen(diagnostics: &Diagnostics) -> BTreeSet<Seen> {
    diagnostics
        .list
        .iter()
        .filter_map(|d| {
            let kind = match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => return None,
            };
            Some((diagnostics.line_of(d).unwrap_or(0), kind, d.code.to_owned()))
        })
        .collect()
}

/// Name of the last top-level class; `M` where the text cannot be read.
pub(crate) fn class_of(text: &str) -> String {
    let file = saltus_syntax::SourceMap::default().add("case.mo".to_owned(), text.to_owned());
    let parsed = saltus_syntax::parse(file, text);
    let within = match &parsed.definition.within {
        Some(Some(path)) => path.parts.iter().map(|p| format!("{}.", p.name)).collect(),
        _ => String::new(),
    };
    match parsed.definition.classes.last() {
        Some(class) => format!("{within}{}", class.name.name),
        None => "M".to_owned(),
    }
}

/// Everything that is said about the text on the way to a compiled model, and the flat model if there is one.
pub(crate) fn diagnose(text: &str) -> (Option<String>, Diagnostics) {
    let mut session = Session::new();
    session.set_text("case.mo", text);
    let class = class_of(text);
    let flat = match session.flatten(&class) {
        Ok(flat) => saltus_ir::print::print_flat(&flat.model),
        Err(error) => return (None, model_error(error)),
    };
    match session.compile(&class) {
        Ok(compiled) => (Some(flat), compiled.warnings().clone()),
        Err(error) => (Some(flat), model_error(error)),
    }
}

pub(crate) fn model_error(error: Error) -> Diagnostics {
    match error {
        Error::Model(diagnostics) | Error::Run(diagnostics, _) | Error::Stopped(diagnostics) => {
            diagnostics
        }
        Error::Usage(message) => panic!("the test uses the facade wrongly: {message}"),
    }
}

/// Checks all cases of a file; with `SALTUS_BLESS` set writes the flat models of those that have a `flat` block.
pub(crate) fn check_file(file: &Path) {
    let bless = std::env::var_os("SALTUS_BLESS").is_some();
    let filter = std::env::var("SALTUS_CASE").unwrap_or_default();
    let mut blessed: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let mut failures = String::new();
    let mut n_failed = 0;
    let cases = cases(file);
    for case in cases.iter().filter(|c| c.name.contains(&filter)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| check_case(case)));
        let problem = match outcome {
            Ok(Ok(flat)) => {
                let Some(block) = &case.flat else { continue };
                let Some(flat) = flat else { continue };
                if block.text.trim() == flat.trim() {
                    continue;
                }
                if bless {
                    blessed.push((block.lines.clone(), flat));
                    continue;
                }
                difference(&block.text, &flat)
            }
            Ok(Err(problem)) => problem,
            Err(panic) => {
                let what = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("no message");
                format!("the compiler panicked: {what}\n")
            }
        };
        n_failed += 1;
        let _ = write!(failures, "\n--- {}\n{problem}", case.name);
    }
    if !blessed.is_empty() {
        write_blocks(file, blessed);
    }
    assert!(
        n_failed == 0,
        "{n_failed} of {} cases of {} failed\n{failures}",
        cases.len(),
        file.display()
    );
}

/// Compares messages and results; gives the flat model back for comparison.
fn check_case(case: &Case) -> Result<Option<String>, String> {
    let expected = expected(&case.text);
    let (flat, diagnostics) = diagnose(&case.text);
    let seen = seen(&diagnostics);
    let mut problem = String::new();
    for (line, kind, code) in expected.messages.difference(&seen) {
        let _ = writeln!(
            problem,
            "expected but not given:  line {line}: {kind} [{code}]"
        );
    }
    for (line, kind, code) in seen.difference(&expected.messages) {
        let fixed = expected.missing.contains(&(*line, kind, code.clone()));
        let what = if fixed {
            "given now, remove the FIXME"
        } else {
            "given but not expected"
        };
        let _ = writeln!(problem, "{what}:  line {line}: {kind} [{code}]");
    }
    if !problem.is_empty() {
        let _ = writeln!(
            problem,
            "in\n{}\nmessages\n{diagnostics}",
            numbered(&case.text)
        );
        return Err(problem);
    }
    if diagnostics.has_errors() {
        return if case.flat.is_some() || case.result.is_some() {
            Err("a model with errors has no flat model and no result\n".to_owned())
        } else {
            Ok(flat)
        };
    }
    if case.flat.is_some() && flat.is_none() {
        return Err("there is no flat model\n".to_owned());
    }
    if let Some(block) = &case.result {
        check_result(&case.text, &block.text)?;
    }
    Ok(flat)
}

fn numbered(text: &str) -> String {
    text.lines()
        .zip(1..)
        .map(|(line, n)| format!("{n:3} | {line}\n"))
        .collect()
}

/// `variable at time = value`
fn result_line(line: &str) -> Option<(&str, f64, f64)> {
    let (line, today) = match line.split_once("// FIXME is") {
        Some((line, today)) => (line, Some(today)),
        None => (line, None),
    };
    let (left, value) = line.rsplit_once('=')?;
    let (name, time) = left.rsplit_once(" at ")?;
    let value = match today.unwrap_or(value).trim() {
        "true" => 1.0,
        "false" => 0.0,
        number => number.parse().ok()?,
    };
    Some((name.trim(), time.trim().parse().ok()?, value))
}

fn check_result(text: &str, result: &str) -> Result<(), String> {
    let fails_today = result
        .lines()
        .find_map(|l| l.strip_prefix("// FIXME fails: [")?.strip_suffix(']'));
    let lines: Vec<(&str, f64, f64)> = result
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with("//"))
        .map(|l| {
            result_line(l)
                .ok_or_else(|| format!("not of the form `variable at time = value`: {l}\n"))
        })
        .collect::<Result<_, _>>()?;
    let stop = lines.iter().map(|(_, time, _)| *time).fold(0.0, f64::max);
    let stop = if stop > 0.0 { stop } else { 1.0 };
    let mut session = Session::new();
    session.set_text("case.mo", text);
    let compiled = session
        .compile(&class_of(text))
        .map_err(|e| format!("{e}\n"))?;
    let outcome = compiled
        .experiment()
        .stop_time(stop)
        .tolerance(RUN_TOLERANCE)
        .intervals(crate::models::intervals_that_hit(
            0.0,
            stop,
            lines.iter().map(|(_, time, _)| *time),
        ))
        .simulate();
    let run = match (outcome, fails_today) {
        (Ok(run), None) => run,
        (Ok(_), Some(code)) => {
            return Err(format!(
                "does not fail with [{code}] now, remove the FIXME\n"
            ));
        }
        (Err(error), None) => return Err(format!("{error}\n")),
        (Err(error), Some(code)) => {
            let codes = model_error(error).error_codes();
            return if codes == [code] {
                Ok(())
            } else {
                Err(format!("expected to fail with [{code}], got {codes:?}\n"))
            };
        }
    };
    let mut problem = String::new();
    for (name, time, value) in lines {
        match run.at(name, time) {
            Ok(got) if (got - value).abs() <= RESULT_TOLERANCE * value.abs().max(1.0) => {}
            Ok(got) => {
                let _ = writeln!(problem, "{name} at {time}: expected {value}, got {got}");
            }
            Err(error) => {
                let _ = writeln!(problem, "{name} at {time}: {error}");
            }
        }
    }
    if problem.is_empty() {
        Ok(())
    } else {
        Err(problem)
    }
}

/// The two texts line by line, common start and end left out.
fn difference(expected: &str, got: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (
        expected.trim().lines().collect(),
        got.trim().lines().collect(),
    );
    let same_start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let room = a.len().min(b.len()) - same_start;
    let same_end = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take(room)
        .take_while(|(x, y)| x == y)
        .count();
    let mut out = format!(
        "the flat model differs from line {} on (SALTUS_BLESS=1 accepts it)\n",
        same_start + 1
    );
    for line in &a[same_start..a.len() - same_end] {
        let _ = writeln!(out, "- {line}");
    }
    for line in &b[same_start..b.len() - same_end] {
        let _ = writeln!(out, "+ {line}");
    }
    out
}

fn write_blocks(file: &Path, mut blocks: Vec<(std::ops::Range<usize>, String)>) {
    let text = std::fs::read_to_string(file).expect("it was read before");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    blocks.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, flat) in blocks {
        lines.splice(range, flat.trim_end().lines().map(str::to_owned));
    }
    std::fs::write(file, lines.join("\n") + "\n")
        .expect("the repository can be written when blessing");
}
