//! Scripts of a library that say how its models are run: the lines `simulateModel(…);` of `Resources/Scripts/**/*.mos`.
//!
//! Comes in: the folder of a library. Goes out: settings of the cases that a script names, and cases for models that have a script but no experiment annotation. Of a script
//! only these calls are read; plots and everything else is for the tool that it was written for. The integrator named there is not taken over:
//! what is asked for by `method` is a tool's own, and `tolerance` says what the result must be.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cases::{Case, Target};

/// What a script says of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RunSettings {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub tolerance: Option<f64>,
}

/// Where libraries keep such scripts.
const SCRIPTS: &str = "Resources/Scripts";

/// Deeper folders than this hold no scripts.
const DEPTH_MAX: usize = 32;

/// Takes over what the scripts of a library say. Models that a script runs and that are no cases yet become cases; the list stays sorted.
pub fn add_scripts(root: &Path, cases: &mut Vec<Case>) {
    // `Name 1.2.3` is a folder of the library `Name`.
    let folder = root.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let library = folder.split(' ').next().unwrap_or("").to_owned() + ".";
    let mut files = Vec::new();
    find_scripts(&root.join(SCRIPTS), 0, &mut files);
    files.sort();
    for file in files {
        // A script that cannot be read says nothing: its model is still a case by its annotation.
        let Ok(bytes) = fs::read(&file) else { continue };
        for (name, settings) in simulated(&String::from_utf8_lossy(&bytes)) {
            match cases.binary_search_by(|case| case.name.cmp(&name)) {
                Ok(at) => cases[at].settings = settings,
                Err(_) if !name.starts_with(&library) => {}
                Err(at) => {
                    let (target, reference) = (Target::Class, None);
                    let case = Case {
                        name,
                        target,
                        reference,
                        settings,
                    };
                    cases.insert(at, case);
                }
            }
        }
    }
}

fn find_scripts(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() && depth < DEPTH_MAX {
            find_scripts(&path, depth + 1, files);
        } else if path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("mos"))
        {
            files.push(path);
        }
    }
}

/// The models that a script simulates. A model with a modification in its name is another one than that of the library and is left out.
fn simulated(text: &str) -> Vec<(String, RunSettings)> {
    const CALL: &str = "simulateModel(";
    let lines = text
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices(CALL) {
        let rest = &code[at + CALL.len()..];
        let Some(inside) = rest
            .find(");")
            .or_else(|| rest.find(')'))
            .map(|end| &rest[..end])
        else {
            continue;
        };
        let mut settings = RunSettings::default();
        let mut name = None;
        for argument in arguments(inside) {
            let text = |value: &str| value.trim().trim_matches('"').to_owned();
            match argument.split_once('=') {
                None if name.is_none() => name = Some(text(argument)),
                Some((key, value)) => match key.trim() {
                    "problem" => name = Some(text(value)),
                    "startTime" => settings.start_time = value.trim().parse().ok(),
                    "stopTime" => settings.stop_time = value.trim().parse().ok(),
                    "tolerance" => settings.tolerance = value.trim().parse().ok(),
                    _ => {}
                },
                None => {}
            }
        }
        let is_plain = |name: &String| {
            name.split('.').all(|part| {
                !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_')
            })
        };
        found.extend(name.filter(is_plain).map(|name| (name, settings)));
    }
    found
}

/// The arguments of a call; commas in texts do not part them.
fn arguments(inside: &str) -> Vec<&str> {
    let mut in_text = false;
    let parts = inside.split(move |c| {
        in_text ^= c == '"';
        c == ',' && !in_text
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_simulate_model_are_read() {
        let text = "simulateModel(\"L.Examples.A\", method=\"Cvode\",\n  tolerance=1e-06, stopTime=3.6e3, resultFile=\"A\");\n\
            // simulateModel(\"L.Old\", stopTime=1);\ncreatePlot(id=1, y={\"a, b\"});\nsimulateModel(problem = \"L.B\", startTime = 86400, stopTime = 2*86400);\n\
            simulateModel(\"L.C(k=2)\");";
        let a = RunSettings {
            start_time: None,
            stop_time: Some(3600.0),
            tolerance: Some(1e-6),
        };
        let b = RunSettings {
            start_time: Some(86400.0),
            stop_time: None,
            tolerance: None,
        };
        assert_eq!(
            simulated(text),
            [("L.Examples.A".to_owned(), a), ("L.B".to_owned(), b)]
        );
    }
}
