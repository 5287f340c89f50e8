//! `cargo xtask compliance`: agreement with the ModelicaCompliance library, case by case.
//!
//! Comes in: the folder that contains `ModelicaCompliance`, the release binary. Each case says by its annotation whether it
//! should pass (`TestCase(shouldPass = …, section = {…})`). Goes out: agreement per chapter of the specification, the cases
//! that disagree with their first message, those that crashed or did not end, and on wish a JSON report.
//!
//! A case that should pass agrees if it was simulated to its end; one that should not agrees if it was refused with a
//! diagnostic. An end without a diagnostic (crash, hang) never agrees. Every case runs in a process of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use saltus_regression::{self, Case, Limits, ModelReport, Setup, Target, run_cases};
use saltus_syntax::ast::{ArgumentKind, ClassBody, ClassDef, ElementKind};
use saltus_syntax::{FileId, parse};

use crate::msl::{build_binary, say};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder that contains the library's folder `ModelicaCompliance`
    #[arg(long, value_name = "DIR")]
    library: PathBuf,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Cases that run at the same time; default: number of cores
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Seconds per case
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    timeout: f64,
    /// Megabytes of address space per case (Unix only)
    #[arg(long, value_name = "MB", default_value_t = 4000)]
    memory: u64,
    /// Write the report as JSON
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// The program; default: built from this repository
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

/// What a case says about itself.
struct Expectation {
    should_pass: bool,
    /// First number of the first section named; empty if none is.
    chapter: String,
}

/// How a case ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Refused,
    Crashed,
    Hung,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let root = options.library.join("ModelicaCompliance");
    if !root.is_dir() {
        return Err(format!(
            "{} has no folder `ModelicaCompliance`",
            options.library.display()
        ));
    }
    let mut found = BTreeMap::new();
    collect(&root, &mut found)?;
    if let Some(part) = &options.filter {
        found.retain(|name, _| name.contains(part.as_str()));
    }
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => build_binary()?,
    };
    let cases: Vec<Case> = (found.keys())
        .map(|name| Case {
            name: name.clone(),
            target: Target::Class,
            reference: None,
            settings: Default::default(),
        })
        .collect();
    let libraries = [options.library.clone()];
    let setup = Setup {
        binary: &binary,
        libraries: &libraries,
        allow_write: &[],
        allow_system: false,
        // The suite tests external functions.
        allow_foreign: true,
        jobs: options.jobs.unwrap_or_else(saltus_regression::cores),
        limits: Limits {
            seconds: options.timeout,
            memory_mb: options.memory,
        },
        keep: None,
        journal: None,
        pictures: false,
        cancel: None,
    };
    let outcome = run_cases(&cases, &setup, &|_, _| {})?;
    say(&table(&outcome.report.models, &found));
    if let Some(path) = &options.json {
        outcome.write(path, "ModelicaCompliance", None)?;
    }
    Ok(())
}

/// Disagreements, then the agreement per chapter and in all.
fn table(models: &[ModelReport], found: &BTreeMap<String, Expectation>) -> String {
    let mut text = String::new();
    let mut chapters: BTreeMap<(usize, &str), [usize; 2]> = BTreeMap::new();
    let mut ends = [0_usize; 2];
    for model in models {
        let expected = &found[&model.name];
        let outcome = outcome(model);
        let agrees = match outcome {
            Outcome::Passed => expected.should_pass,
            Outcome::Refused => !expected.should_pass,
            Outcome::Crashed | Outcome::Hung => false,
        };
        let number = expected.chapter.parse().unwrap_or(usize::MAX);
        let count = chapters.entry((number, &expected.chapter)).or_default();
        count[0] += usize::from(agrees);
        count[1] += 1;
        ends[0] += usize::from(outcome == Outcome::Crashed);
        ends[1] += usize::from(outcome == Outcome::Hung);
        if agrees {
            continue;
        }
        let what = match outcome {
            Outcome::Passed => "accepted",
            Outcome::Refused => "refused",
            Outcome::Crashed => "CRASH",
            Outcome::Hung => "HANG",
        };
        let why = model.error.as_ref().map_or(String::new(), |error| {
            format!("  [{}] {}", error.code, error.message)
        });
        text.push_str(&format!(
            "{what:9} {:4} {}{why}\n",
            expected.chapter, model.name
        ));
    }
    text.push('\n');
    let percent = |[good, all]: [usize; 2]| 100.0 * good as f64 / all.max(1) as f64;
    let mut sum = [0, 0];
    for ((_, chapter), count) in &chapters {
        let name = if chapter.is_empty() { "none" } else { chapter };
        text.push_str(&format!(
            "chapter {name:5} {:4} of {:4}  {:5.1} %\n",
            count[0],
            count[1],
            percent(*count)
        ));
        sum = [sum[0] + count[0], sum[1] + count[1]];
    }
    text.push_str(&format!(
        "in all        {:4} of {:4}  {:5.1} %; {} crashed, {} did not end",
        sum[0],
        sum[1],
        percent(sum),
        ends[0],
        ends[1]
    ));
    text
}

fn outcome(model: &ModelReport) -> Outcome {
    match (&model.error, model.exit) {
        (None, Some(0)) => Outcome::Passed,
        (Some(error), _) if error.code == "timeout" || error.code == "wall-clock" => Outcome::Hung,
        // Every refusal has a code; `bug` and `crash` are those of the test runner.
        (Some(error), Some(_)) if !matches!(error.code.as_str(), "" | "bug" | "crash") => {
            Outcome::Refused
        }
        _ => Outcome::Crashed,
    }
}

/// The cases of a folder: every file has at most one.
fn collect(folder: &Path, found: &mut BTreeMap<String, Expectation>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "mo") {
            let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let text = String::from_utf8_lossy(&bytes);
            if let Some(expected) = expectation(&text) {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                found.insert(class_name(&text, &stem), expected);
            }
        }
    }
    Ok(())
}

/// From the text: a case whose point is a syntax error may have an annotation that no parser reaches.
fn expectation(text: &str) -> Option<Expectation> {
    let (_, rest) = text.split_once("TestCase(shouldPass")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let (head, _) = value.split_once(')')?;
    let chapter = (head.split_once("section"))
        .and_then(|(_, sections)| sections.split_once('"'))
        .map_or("", |(_, number)| {
            let end = number.find(|c: char| !c.is_alphanumeric()).unwrap_or(0);
            &number[..end]
        });
    Some(Expectation {
        should_pass: head.starts_with("true"),
        chapter: chapter.to_owned(),
    })
}

/// The class with the annotation, or the one that the file is named after.
fn class_name(text: &str, stem: &str) -> String {
    let parsed = parse(FileId(0), text);
    let mut parts: Vec<String> = (parsed.definition.within.iter().flatten())
        .flat_map(|path| &path.parts)
        .map(|part| part.name.to_string())
        .collect();
    let inside = (parsed.definition.classes.iter())
        .find_map(|class| case_in(class))
        .unwrap_or_else(|| stem.to_owned());
    parts.push(inside);
    parts.join(".")
}

fn case_in(class: &ClassDef) -> Option<String> {
    let own = class.name.name.as_str();
    let is_case = class.annotation.iter().flat_map(|a| &a.args).any(|arg| {
        matches!(&arg.kind, ArgumentKind::Modify { path, .. }
            if path.parts[0].name.as_str() == "__ModelicaAssociation")
    });
    if is_case {
        return Some(own.to_owned());
    }
    let ClassBody::Composition { parts, .. } = &class.body else {
        return None;
    };
    parts
        .elements
        .iter()
        .find_map(|element| match &element.kind {
            ElementKind::Class { def, .. } => Some(format!("{own}.{}", case_in(def)?)),
            _ => None,
        })
}
