//! `cargo xtask fuzz [minutes]`: random input until the time is over, or a number of cases of each kind.
//!
//! Kinds: random discrete and hybrid programs against an interpreter of their own, mutated and generated texts, damaged files. Goes out: a
//! line per kind with what became of the cases; each fault is made smaller and written to `target/fuzz`, from where it is kept as a test
//! (`crates/saltus-fuzz/corpus` for texts, `models` for programs).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use saltus_fuzz::generate::Family;
use saltus_fuzz::semantic::{self, Outcome};
use saltus_fuzz::{corrupt, shrink, text};

use crate::msl::say;

/// Cases of a kind before the next kind has its turn.
const BATCH: u64 = 100;
/// Tries to make one fault smaller.
const TRIES_MAX: usize = 600;
/// Faults of one kind that are made smaller; the rest is counted.
const KEPT_MAX: usize = 20;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Minutes
    #[arg(default_value_t = 5.0)]
    minutes: f64,
    /// First seed
    #[arg(long, default_value_t = 1_000_000)]
    seed: u64,
    /// End after so many cases of each kind
    #[arg(long, value_name = "N")]
    cases: Option<u64>,
    /// Only these kinds: discrete, hybrid, text, files (repeatable)
    #[arg(long = "kind", value_name = "NAME")]
    kinds: Vec<String>,
}

/// What became of the cases of a kind.
#[derive(Default)]
struct Tally {
    cases: u64,
    counts: BTreeMap<String, u64>,
    faults: usize,
    slowest: Duration,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let folder = PathBuf::from("target/fuzz");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    // A panic is counted: its message would hide the table.
    std::panic::set_hook(Box::new(|_| {}));
    let corpus = text::corpus(Path::new(".")).map_err(|e| e.to_string())?;
    let originals = corrupt::originals().map_err(|e| e.to_string())?;
    let wanted = |kind: &str| options.kinds.is_empty() || options.kinds.iter().any(|k| k == kind);
    let kinds: Vec<&str> = ["discrete", "hybrid", "text", "files"]
        .into_iter()
        .filter(|k| wanted(k))
        .collect();
    let mut tallies: Vec<Tally> = kinds.iter().map(|_| Tally::default()).collect();
    let end = Instant::now() + Duration::from_secs_f64(options.minutes * 60.0);
    let mut seed = options.seed;
    let enough = |tally: &Tally| options.cases.is_some_and(|n| tally.cases >= n);
    while Instant::now() < end && !tallies.iter().all(enough) {
        for (kind, tally) in kinds.iter().zip(&mut tallies) {
            for seed in seed..seed + BATCH {
                let start = Instant::now();
                let (outcome, fault) = match *kind {
                    "discrete" => program(Family::Discrete, seed, tally.faults < KEPT_MAX),
                    "hybrid" => program(Family::Hybrid, seed, tally.faults < KEPT_MAX),
                    "text" => one_text(&corpus, seed, tally.faults < KEPT_MAX),
                    _ => damaged(&originals, seed),
                };
                tally.cases += 1;
                tally.slowest = tally.slowest.max(start.elapsed());
                *tally.counts.entry(outcome).or_default() += 1;
                if let Some(content) = fault {
                    tally.faults += 1;
                    let file = folder.join(format!("{kind}-{seed}.mo"));
                    fs::write(&file, content).map_err(|e| e.to_string())?;
                    say(&format!("fault: {}", file.display()));
                }
            }
        }
        seed += BATCH;
    }
    let mut faults = 0;
    for (kind, tally) in kinds.iter().zip(&tallies) {
        let slowest = tally.slowest.as_secs_f64();
        say(&format!(
            "{kind}: {} cases, slowest {slowest:.1} s, {} faults",
            tally.cases, tally.faults
        ));
        for (outcome, count) in &tally.counts {
            say(&format!("  {count:>8}  {outcome}"));
        }
        faults += tally.faults;
    }
    say(&format!(
        "seeds from {} below {seed}; largest resident memory {} MB",
        options.seed,
        peak_megabytes()
    ));
    match faults {
        0 => Ok(()),
        n => Err(format!("{n} faults, see {}", folder.display())),
    }
}

fn program(family: Family, seed: u64, small: bool) -> (String, Option<String>) {
    let (program, outcome) = semantic::case(family, seed);
    let name = match &outcome {
        Outcome::Agrees => return ("agrees".to_owned(), None),
        Outcome::Unclear(why) => return (format!("left out: {why:?}"), None),
        Outcome::Refused(why) => format!("refused: {}", why.split(':').next().unwrap_or_default()),
        Outcome::Differs(_) => "differs".to_owned(),
        Outcome::Panicked => "panicked".to_owned(),
    };
    if !small {
        return (name, Some(format!("// {outcome:?}\n{}", program.text())));
    }
    let alike = |a: &Outcome| std::mem::discriminant(a) == std::mem::discriminant(&outcome);
    let small = shrink::shrink(&program, TRIES_MAX, |p| alike(&semantic::check(p)));
    (
        name,
        Some(format!(
            "// {:?}\n{}",
            semantic::check(&small),
            small.text()
        )),
    )
}

fn one_text(corpus: &[String], seed: u64, small: bool) -> (String, Option<String>) {
    let case = text::generate(corpus, seed);
    let outcome = text::check(&case);
    let name = format!("{outcome:?}").to_lowercase();
    if !outcome.is_fault() {
        return (name, None);
    }
    let tries = if small && outcome == text::Outcome::Panicked {
        TRIES_MAX
    } else {
        0
    };
    (name, Some(text::minimise(&case, outcome, tries)))
}

fn damaged(originals: &[(String, Vec<u8>)], seed: u64) -> (String, Option<String>) {
    let (name, bytes) = &originals[(seed % originals.len() as u64) as usize];
    let damaged = corrupt::damage(bytes, seed);
    let ending = name.rsplit('.').next().unwrap_or(name);
    match corrupt::survives(name, &damaged) {
        true => (format!("{ending} answered"), None),
        false => (
            format!("{ending} panicked"),
            Some(format!("// {name}, seed {seed}")),
        ),
    }
}

/// Where the operating system tells it.
fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| {
        rest.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .ok()
    });
    kilobytes.unwrap_or(0) / 1024
}
