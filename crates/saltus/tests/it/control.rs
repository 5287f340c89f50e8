//! Compilations and runs that are ended from outside, in every stage.
//!
//! The clock of these tests is the processor time of the working thread, so that other work on the computer does not matter.

use saltus::{Control, Error, Session, WorkStage};
use std::fmt::Write as _;
use std::sync::Arc;

/// How much later than asked work may end, in seconds. Without optimisation everything takes several times as long.
const LATE_MAX: f64 = if cfg!(debug_assertions) { 0.4 } else { 0.1 };

/// Seconds that this thread has had a processor; `None` where the system does not tell.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds)
}

fn control() -> Control {
    Control::with_clock(Arc::new(|| processor_seconds().unwrap_or(0.0)))
}

/// A model that gives every stage of the compiler something to do: long text, components, a large algebraic loop, long expressions.
fn long_model(n: usize) -> String {
    let mut text = String::from(
        "model Cell\n  Real u(start = 1), i, q(start = 0.1, fixed = true);\nequation\n  der(q) = i - q;\n  u = q + i + 0.1*i*i*i;\nend Cell;\n\
         model Long\n",
    );
    let _ = writeln!(text, "  Cell c[{n}];");
    for k in 1..=n {
        let _ = writeln!(text, "  Real v{k}(start = 0.5), w{k};");
    }
    text.push_str("equation\n");
    for k in 1..=n {
        let next = k % n + 1;
        let _ = writeln!(
            text,
            "  v{k} = 0.3*cos(v{next}) + 0.1*w{k} + 0.01*sin(time);\n  w{k} = 0.2*sin(v{k})*exp(-v{next}) + c[{k}].q;\n  c[{k}].u = 1 + 0.1*v{k};"
        );
    }
    text.push_str("end Long;\n");
    text
}

#[test]
fn compilations_end_soon_in_every_stage() {
    if processor_seconds().is_none() {
        return;
    }
    let text = long_model(500);
    let mut stages = Vec::new();
    let mut seconds = 0.003;
    // Each attempt comes a little further than the one before.
    for _ in 0..40 {
        let mut session = Session::new();
        session.set_text("long.mo", text.clone());
        let control = control();
        control.limit(seconds);
        let before = processor_seconds().unwrap_or(0.0);
        let outcome = session.compile_under(&control, "Long");
        let late = processor_seconds().unwrap_or(0.0) - before - seconds;
        let stage = control.progress().map(|progress| progress.stage);
        match outcome {
            Ok(_) => break,
            Err(Error::Stopped(found)) => assert_eq!(found.error_codes(), ["wall-clock"]),
            Err(other) => panic!("{other}"),
        }
        assert!(
            late < LATE_MAX,
            "{late} s late after {seconds} s in {stage:?}"
        );
        stages.extend(stage);
        seconds *= 1.35;
    }
    // Code is made so fast that an attempt rarely ends in it.
    for stage in [WorkStage::Flatten, WorkStage::Structure] {
        assert!(stages.contains(&stage), "never ended in {stage:?}");
    }
}

/// An initial system that Newton's method does not solve fast, and a long run.
#[test]
fn initialisation_and_run_end_soon() {
    if processor_seconds().is_none() {
        return;
    }
    let mut session = Session::new();
    session.set_text("long.mo", long_model(300));
    let model = session.compile("Long").unwrap_or_else(|e| panic!("{e}"));
    let mut stages = Vec::new();
    for seconds in [0.0001, 0.001, 0.01, 0.1, 0.5] {
        let control = control();
        control.limit(seconds);
        let before = processor_seconds().unwrap_or(0.0);
        let outcome = (model.experiment().stop_time(1e6).control(&control)).simulate();
        let late = processor_seconds().unwrap_or(0.0) - before - seconds;
        match outcome {
            Err(Error::Run(found, _)) => assert_eq!(found.error_codes(), ["wall-clock"]),
            Ok(_) => panic!("such a run is not over in {seconds} s"),
            Err(other) => panic!("{other}"),
        }
        assert!(late < LATE_MAX, "{late} s late after {seconds} s");
        stages.extend(control.progress().map(|progress| progress.stage));
    }
    assert!(stages.contains(&WorkStage::Run), "{stages:?}");
}

#[test]
fn what_was_cancelled_before_does_not_begin() {
    let mut session = Session::new();
    session.set_text("M.mo", "model M Real x = time; end M;");
    let control = Control::new();
    control.cancel();
    let found = session.check_under(&control, "M");
    assert_eq!(found.error_codes(), ["cancelled"]);
    // The session is as it was.
    assert!(!session.check("M").has_errors());
    let runs = session.compile("M").unwrap_or_else(|e| panic!("{e}"));
    let runs = runs.sweep().control(&control).run();
    assert!(runs.unwrap_or_else(|e| panic!("{e}")).is_empty());
}
