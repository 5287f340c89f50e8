//! Metamorphic tests: every model of `models/` in variants that must not change its curves.
//!
//! A variant is made from the text by the test itself: the model as a component, as an array, twice with different parameters, beside
//! devices that make events of their own, with its relations and equations spelled in another way, in another unit or origin of time. No expected
//! number is known here; the run of the model alone is the reference.

mod rewrite;

use crate::mdtest::{class_of, root};
use crate::models::{Expect, FOLDERS};
use rewrite::{Rewrite, rewrite};
use saltus::results::Side;
use saltus::{Error, Run, Session, Value};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two runs of one model with other steps may differ by this many tolerances of the integrator, relative to the largest value of the signal.
const TOLERANCES: f64 = 3e3;
/// Rows nearer than this part of the run to an event are not compared: its time may differ by round-off.
const NEAR_EVENT: f64 = 1e-5;
/// Rows of a run.
const INTERVALS: u32 = 200;
/// Two runs at very small tolerances differ by round-off that the motion amplifies; relative to the largest value of the signal.
const ROUND_OFF: f64 = 1e-7;
/// Models whose text says more than its curves, or less: their variants are other models.
///
/// Free potentials and conditions that contradict each other by a rounded number have no unique solution. Integrators inside of the model (`inline`)
/// make errors that depend on all that is inlined with it. One model measures the round-off of its own times.
const NOT_COMPARABLE: &[&str] = &[
    "free-potentials",
    "redundant-conditions",
    "rectifier-inductance-inlined",
    "rectifier-inductance-mixed",
    "sample-beside-floor",
    // While both block, the voltage of each is free.
    "thyristors-in-series",
];
/// The largest part of the models to which a rewrite may not apply.
const INAPPLICABLE: f64 = 0.35;

/// A text to compile and how its names and times relate to those of the model.
struct Variant {
    text: String,
    /// Each is compared with the reference.
    prefixes: Vec<&'static str>,
    /// Time of the variant = origin + factor · time of the model.
    origin: f64,
    factor: f64,
}

impl Variant {
    fn new(text: String, prefixes: &[&'static str]) -> Variant {
        Variant {
            text,
            prefixes: prefixes.to_vec(),
            origin: 0.0,
            factor: 1.0,
        }
    }
}

/// A model of `models/`.
struct Subject {
    text: String,
    class: String,
    expect: Expect,
}

#[test]
fn a_component_moves_as_the_model_alone() {
    check(&[], |subject| {
        let class = &subject.class;
        let text = format!("{}\nmodel Variant {class} c; end Variant;\n", subject.text);
        Some(Variant::new(text, &["c."]))
    });
}

#[test]
fn the_elements_of_an_array_move_as_the_model_alone() {
    if !takes_long() {
        return;
    }
    check(&["generator-bridge"], |subject| {
        let class = &subject.class;
        let text = format!(
            "{}\nmodel Variant {class} c[3]; end Variant;\n",
            subject.text
        );
        Some(Variant::new(text, &["c[1].", "c[2].", "c[3]."]))
    });
}

#[test]
fn a_copy_with_other_parameters_beside_it_changes_nothing() {
    if !takes_long() {
        return;
    }
    check(&["generator-bridge"], |subject| {
        let class = &subject.class;
        let modifier = other_parameter(subject)?;
        let text = format!(
            "{}\nmodel Variant {class} c; {class} other({modifier}); end Variant;\n",
            subject.text
        );
        Some(Variant::new(text, &["c."]))
    });
}

#[test]
fn events_beside_it_change_nothing() {
    if !takes_long() {
        return;
    }
    check(
        &[
            "clutch-leaves-peak",
            "generator-bridge",
            "multivibrator",
            "stack-of-four-frictions",
            "stiff-decay",
            "subscript-outside-inlined",
            "three-masses",
            "transport-profile",
        ],
        |subject| {
            let class = &subject.class;
            let span = subject.expect.stop_time - subject.expect.start_time;
            let start = subject.expect.start_time;
            // A ball that comes to rest after a third of the run, a thermostat of some fifty switchings, a sampler of 1000 ticks.
            let text = format!(
                "{}\nmodel Variant
  {class} c;
  parameter Real besideSpan = {span:?};
  Real besideHeight(start = 1, fixed = true), besideSpeed(start = 0, fixed = true);
  Real besideHeat(start = 20, fixed = true);
  Boolean besideOn(start = true, fixed = true);
  Integer besideTicks(start = 0, fixed = true);
  Boolean besideFlag = sin(40*(time - {start:?})/besideSpan) > 0.3;
equation
  der(besideHeight) = besideSpeed;
  der(besideSpeed) = -162*3/besideSpan^2;
  when besideHeight < 0 then
    reinit(besideSpeed, -0.4*pre(besideSpeed));
  end when;
  der(besideHeat) = (if besideOn then 30 else -25)*8/besideSpan;
  besideOn = besideHeat < 19 or pre(besideOn) and besideHeat < 21;
  when sample({start:?}, besideSpan/1000) then
    besideTicks = pre(besideTicks) + 1;
  end when;
end Variant;\n",
                subject.text
            );
            Some(Variant::new(text, &["c."]))
        },
    );
}

#[test]
fn mirrored_relations_mean_the_same() {
    check(&[], |subject| rewritten(subject, Rewrite::Mirror));
}

#[test]
fn negated_relations_mean_the_same() {
    check(&[], |subject| rewritten(subject, Rewrite::Negate));
}

#[test]
fn equations_in_another_order_and_turned_around_mean_the_same() {
    check(&["generator-bridge"], |subject| {
        rewritten(subject, Rewrite::Turn)
    });
}

#[test]
fn the_origin_of_time_does_not_matter() {
    if !takes_long() {
        return;
    }
    check(
        &[
            "bridge-six-pulse",
            "bridge-twelve-pulse",
            "generator-bridge",
            "stiff-decay",
        ],
        |subject| {
            let origin = 16.0;
            let variant = rewritten(subject, Rewrite::Shift { origin })?;
            Some(Variant { origin, ..variant })
        },
    );
}

#[test]
fn the_unit_of_time_does_not_matter() {
    if !takes_long() {
        return;
    }
    let factor = 1.0 / 1024.0;
    check(
        &["parallelogram-stretched", "third-derivative"],
        |subject| {
            let variant = rewritten(subject, Rewrite::Stretch { factor })?;
            Some(Variant { factor, ..variant })
        },
    );
    let factor = 1024.0;
    // The interval of `sample-once` overflows.
    let known = ["parallelogram-stretched", "sample-once", "third-derivative"];
    check(&known, |subject| {
        let variant = rewritten(subject, Rewrite::Stretch { factor })?;
        Some(Variant { factor, ..variant })
    });
}

/// The variants that take minutes run with `SALTUS_CASES` only.
fn takes_long() -> bool {
    std::env::var_os("SALTUS_CASES").is_some()
}

fn rewritten(subject: &Subject, how: Rewrite) -> Option<Variant> {
    let text = rewrite(&subject.text, how)?;
    (text != subject.text).then(|| Variant::new(text, &[""]))
}

/// A modification of the first Real parameter whose change by 3 % leaves a model that runs.
fn other_parameter(subject: &Subject) -> Option<String> {
    let model = compile(&subject.text, &subject.class).ok()?;
    for parameter in model.parameters() {
        let is_plain = parameter.settable && !parameter.name.contains(['.', '[']);
        let Some(Value::Real(value)) = parameter.value else {
            continue;
        };
        if !is_plain || value == 0.0 {
            continue;
        }
        let modifier = format!("{} = {:?}", parameter.name, value * 1.03125);
        let text = format!(
            "{}\nmodel Variant extends {}({modifier}); end Variant;\n",
            subject.text, subject.class
        );
        if run(subject, &Variant::new(text, &[""])).is_ok() {
            return Some(modifier);
        }
    }
    None
}

/// Runs all models and their variants, on all cores, and reports every difference.
///
/// `known` are models that differ today (FIXME); the test fails as soon as one of them does not.
fn check(known: &[&str], variant: impl Fn(&Subject) -> Option<Variant> + Sync) {
    let filter = std::env::var("SALTUS_CASE").unwrap_or_default();
    let folders: Vec<&'static str> = (FOLDERS.iter().copied())
        .filter(|folder| folder.contains(&filter) && !NOT_COMPARABLE.contains(folder))
        .collect();
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(String::new());
    let inapplicable = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let subject = Subject::read(folder);
                    let Some(variant) = variant(&subject) else {
                        inapplicable.fetch_add(1, Ordering::Relaxed);
                        continue;
                    };
                    let problem = catch_unwind(AssertUnwindSafe(|| difference(&subject, &variant)))
                        .unwrap_or_else(|_| "a panic".to_owned());
                    if problem.is_empty()
                        == (known.contains(folder) && std::env::var_os("SALTUS_ALL").is_none())
                    {
                        let mut problems = problems.lock().expect("no thread has failed");
                        let _ = match problem.as_str() {
                            "" => writeln!(problems, "{folder}: equal now, remove it from `known`"),
                            _ => writeln!(problems, "{folder}: {problem}"),
                        };
                    }
                }
            });
        }
    });
    let problems = problems.into_inner().expect("no thread has failed");
    assert!(problems.is_empty(), "{problems}");
    let inapplicable = inapplicable.into_inner() as f64;
    assert!(
        !filter.is_empty() || inapplicable <= INAPPLICABLE * folders.len() as f64,
        "the variant does not apply to {inapplicable} of {} models",
        folders.len()
    );
}

impl Subject {
    fn read(folder: &'static str) -> Subject {
        let path = root().join("models").join(folder);
        let read = |name: &str| {
            std::fs::read_to_string(path.join(name)).unwrap_or_else(|e| panic!("{folder}: {e}"))
        };
        let text = read("model.mo");
        Subject {
            class: class_of(&text),
            expect: Expect::parse(&read("expect.toml")),
            text,
        }
    }
}

fn compile(text: &str, class: &str) -> Result<saltus::Model, Error> {
    let mut session = Session::new();
    session.add_library_path(root().join("library"));
    session.set_text("model.mo", text);
    session.compile(class)
}

fn run(subject: &Subject, variant: &Variant) -> Result<Run, Error> {
    let expect = &subject.expect;
    let time = |time: f64| variant.origin + variant.factor * time;
    compile(&variant.text, &class_of(&variant.text))?
        .experiment()
        .start_time(time(expect.start_time))
        .stop_time(time(expect.stop_time))
        .tolerance(expect.tolerance)
        .intervals(INTERVALS)
        .simulate()
}

/// How the variant differs from the model; empty if it does not.
fn difference(subject: &Subject, variant: &Variant) -> String {
    let alone = Variant::new(subject.text.clone(), &[""]);
    let (reference, other) = (run(subject, &alone), run(subject, variant));
    let (reference, other) = match (reference, other) {
        (Ok(reference), Ok(other)) => (reference, other),
        (Err(Error::Run(why, reference)), Err(Error::Run(why_other, other))) => {
            if why.error_codes() != why_other.error_codes() {
                return format!("fails otherwise:\n{why}\n{why_other}");
            }
            (*reference, *other)
        }
        (Err(_), Err(_)) => return String::new(),
        (Ok(_), Err(why)) => return format!("the variant fails:\n{why}"),
        (Err(why), Ok(_)) => return format!("only the variant does not fail:\n{why}"),
    };
    let span = reference.time_reached - reference.time_start;
    let is_near_event = |time: f64| {
        let near = |event: f64| (event - time).abs() <= NEAR_EVENT * span;
        reference.events().iter().any(|event| near(event.time))
    };
    let times: Vec<f64> = (0..=INTERVALS)
        .map(|k| reference.time_start + span * f64::from(k) / f64::from(INTERVALS))
        .filter(|time| !is_near_event(*time))
        .collect();
    let mut problem = String::new();
    for prefix in &variant.prefixes {
        for (name, variable) in reference.table.variables() {
            let signal = reference.table.signal_of(variable.source);
            let (renamed, factor) = match name.strip_prefix("der(") {
                Some(state) => (format!("der({prefix}{state}"), variant.factor),
                None if name.contains('(') || name == "time" => continue,
                None => (format!("{prefix}{name}"), 1.0),
            };
            let Some(found) = other.table.signal(&renamed) else {
                continue;
            };
            let values = |signal: &saltus::results::Signal<'_>, time: f64| {
                signal.at(time, Side::Right).unwrap_or(f64::NAN)
            };
            let scale = (0..signal.to_vec().len())
                .map(|row| signal.row(row).abs())
                .fold(f64::MIN_POSITIVE, f64::max);
            let worst = (times.iter())
                .map(|time| {
                    let there = variant.origin + variant.factor * time;
                    let (a, b) = (values(&signal, *time), factor * values(&found, there));
                    ((a - b).abs(), *time, a, b)
                })
                .fold((0.0, 0.0, 0.0, 0.0), |worst, next| {
                    if next.0 > worst.0 || next.0.is_nan() {
                        next
                    } else {
                        worst
                    }
                });
            let allowed = (TOLERANCES * subject.expect.tolerance).max(ROUND_OFF) * scale.max(1.0);
            if worst.0.is_nan() || worst.0 > allowed {
                let _ = writeln!(
                    problem,
                    "{renamed} at {}: {} alone, {} in the variant ({:.1e} off, {allowed:.1e} allowed)",
                    worst.1, worst.2, worst.3, worst.0
                );
                if problem.lines().count() > 3 {
                    return problem;
                }
            }
        }
    }
    problem
}
