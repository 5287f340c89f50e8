//! A thousand cases of each kind, and everything that was once a fault (`corpus/`).

use saltus_fuzz::generate::Family;
use saltus_fuzz::semantic::{self, Outcome};
use saltus_fuzz::{corrupt, shrink, text};
use std::path::Path;

/// Cases of each kind; `SALTUS_FUZZ_CASES` asks for more.
fn cases() -> u64 {
    let asked = std::env::var("SALTUS_FUZZ_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

/// Faults that are made smaller and shown; the rest is counted.
const SHOWN_MAX: usize = 8;
/// Tries to make one fault smaller.
const TRIES_MAX: usize = 300;

fn programs_agree(family: Family) {
    let mut compared = 0;
    let mut faults = Vec::new();
    for seed in 0..cases() {
        let (program, outcome) = semantic::case(family, seed);
        match outcome {
            Outcome::Agrees => compared += 1,
            Outcome::Unclear(_) => {}
            fault => faults.push((seed, program, fault)),
        }
    }
    let shown: Vec<String> = (faults.iter().take(SHOWN_MAX))
        .map(|(seed, program, fault)| {
            let alike = |o: &Outcome| std::mem::discriminant(o) == std::mem::discriminant(fault);
            let small = shrink::shrink(program, TRIES_MAX, |p| alike(&semantic::check(p)));
            let fault = semantic::check(&small);
            format!("seed {seed}: {fault:?}\n{}", small.text())
        })
        .collect();
    let n = faults.len();
    assert!(faults.is_empty(), "{n} faults\n{}", shown.join("\n"));
    assert!(
        compared * 4 > cases(),
        "only {compared} cases have an answer to compare with"
    );
}

#[test]
fn discrete_programs_agree_with_the_interpreter() {
    programs_agree(Family::Discrete);
}

#[test]
fn hybrid_programs_agree_with_the_interpreter() {
    programs_agree(Family::Hybrid);
}

#[test]
fn damaged_files_are_answered() {
    let originals = corrupt::originals().expect("the model is sound");
    for (name, bytes) in &originals {
        for seed in 0..cases() {
            let damaged = corrupt::damage(bytes, seed);
            assert!(corrupt::survives(name, &damaged), "{name}, seed {seed}");
        }
    }
}

#[test]
fn texts_are_answered() {
    let corpus = text::corpus(&root()).expect("the repository can be read");
    for seed in 0..cases() {
        let case = text::generate(&corpus, seed);
        let outcome = text::check(&case);
        assert!(!outcome.is_fault(), "seed {seed}: {outcome:?}\n{case}");
    }
}

#[test]
fn what_was_once_a_fault_is_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (path, case) in text::files(&folder, "mo").expect("the corpus can be read") {
        let outcome = text::check(&case);
        assert!(!outcome.is_fault(), "{}: {outcome:?}", path.display());
    }
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
