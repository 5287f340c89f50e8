//! The event log of a model beside it, in `events.txt`: what happened, why, what jumped, which impulses, in which mode it went on.
//!
//! Texts must be equal, numbers to the digits that are written. `SALTUS_BLESS=1 cargo test -p saltus` writes the files anew; whoever does so
//! reads the differences.

use saltus::Run;
use saltus_results::EventRecord;
use std::fmt::Write as _;
use std::path::Path;

/// Events that are written out; of the others there is the number of each kind.
const WRITTEN_MAX: usize = 24;
/// Jumps that are written of an event.
const JUMPS_MAX: usize = 8;
/// Six digits are written; a last digit may fall on either side. Relative to the larger of the value and 1: what is smaller is round-off of what it was computed from.
const DIGITS: f64 = 2e-5;

/// Says in `problem` how the log differs from the one stored in `folder`.
pub(crate) fn compare(folder: &Path, run: &Run, problem: &mut String) {
    let stored = folder.join("events.txt");
    let printed = print(run.events());
    if std::env::var_os("SALTUS_BLESS").is_some() {
        std::fs::write(&stored, printed).expect("written");
        return;
    }
    let expected = std::fs::read_to_string(&stored).unwrap_or_default();
    let (found, wanted): (Vec<&str>, Vec<&str>) =
        (printed.lines().collect(), expected.lines().collect());
    if found.len() != wanted.len() {
        let _ = writeln!(problem, "event log: expected\n{expected}\nfound\n{printed}");
        return;
    }
    for (found, wanted) in found.iter().zip(wanted) {
        if !agree(found, wanted) {
            let _ = writeln!(problem, "event log: expected\n{wanted}\nfound\n{found}");
        }
    }
}

/// Word by word: numbers by value, all else literally.
fn agree(found: &str, wanted: &str) -> bool {
    let (found, wanted): (Vec<&str>, Vec<&str>) = (
        found.split_whitespace().collect(),
        wanted.split_whitespace().collect(),
    );
    found.len() == wanted.len()
        && (found.iter().zip(&wanted)).all(|(f, w)| match (f.parse::<f64>(), w.parse::<f64>()) {
            (Ok(f), Ok(w)) => {
                (f - w).abs() <= DIGITS * w.abs().max(1.0) || (f.is_nan() && w.is_nan())
            }
            _ => f == w,
        })
}

fn print(events: &[EventRecord]) -> String {
    let mut out = String::new();
    for event in events.iter().take(WRITTEN_MAX) {
        let _ = write!(out, "{:.6} {}", event.time, event.kind.as_str());
        let causes: Vec<&str> = event.cause.iter().map(|c| c.expression.as_str()).collect();
        if !causes.is_empty() {
            let _ = write!(out, " by {}", causes.join(" and "));
        }
        let _ = writeln!(out, " , mode {}", event.mode);
        for jump in event.changed.iter().take(JUMPS_MAX) {
            let (before, after) = (jump.before, jump.after);
            let _ = writeln!(out, "    {} : {before:.6} -> {after:.6}", jump.variable);
        }
        if event.changed.len() > JUMPS_MAX {
            let _ = writeln!(out, "    and {} more", event.changed.len() - JUMPS_MAX);
        }
        for impulse in &event.impulses {
            let _ = writeln!(
                out,
                "    impulse {} : {:.6}",
                impulse.variable, impulse.value
            );
        }
    }
    let rest = &events[events.len().min(WRITTEN_MAX)..];
    let mut kinds: Vec<&str> = rest.iter().map(|event| event.kind.as_str()).collect();
    kinds.sort_unstable();
    for same in kinds.chunk_by(|a, b| a == b) {
        let _ = writeln!(out, "and {} more of kind {}", same.len(), same[0]);
    }
    out
}
