//! Runs of Modelica models: text in, a run with its readings out.

use saltus::results::EventKind;
use saltus::{Error, Model, Run, Session};
use saltus_plot::{Line, ModeGraph, ModeNode, ModeTransition};

/// The text of a model of the repository's `models`.
macro_rules! repository_model {
    ($name:literal) => {
        include_str!(concat!("../../../models/", $name, "/model.mo"))
    };
}
/// The text of a model of this crate.
macro_rules! study_model {
    ($name:literal) => {
        include_str!(concat!("../models/", $name, ".mo"))
    };
}
pub(crate) use {repository_model, study_model};

/// The classes of the library that models of studies use.
const LIBRARY: [(&str, &str); 3] = [
    (
        "Saltus/package.mo",
        include_str!("../../../library/Saltus/package.mo"),
    ),
    (
        "Saltus/Impact/package.mo",
        include_str!("../../../library/Saltus/Impact/package.mo"),
    ),
    (
        "Saltus/Impact/restitution.mo",
        include_str!("../../../library/Saltus/Impact/restitution.mo"),
    ),
];

/// Settings of a run.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) start: f64,
    pub(crate) stop: f64,
    pub(crate) tolerance: f64,
    pub(crate) intervals: u32,
    pub(crate) solver: &'a str,
    pub(crate) events: bool,
    pub(crate) record_steps: bool,
    pub(crate) sets: &'a [(&'a str, f64)],
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Setup {
            start: 0.0,
            stop: 1.0,
            tolerance: 1e-9,
            intervals: 500,
            solver: "auto",
            events: true,
            record_steps: false,
            sets: &[],
        }
    }
}

/// Compiles the class of a text that begins with it.
pub(crate) fn compile(text: &str) -> Result<Model, Error> {
    let mut words = text.split_whitespace();
    let class = words
        .nth(1)
        .ok_or_else(|| Error::Usage("a text without a class".to_owned()))?;
    let mut session = Session::new();
    if text.contains("Saltus.") {
        for (name, text) in LIBRARY {
            session.set_text(name, text);
        }
    }
    session.set_text(format!("{class}.mo"), text);
    session.compile(class)
}

pub(crate) fn simulate(model: &Model, setup: Setup<'_>) -> Result<Run, Error> {
    let mut experiment = model
        .experiment()
        .start_time(setup.start)
        .stop_time(setup.stop)
        .tolerance(setup.tolerance)
        .intervals(setup.intervals)
        .events(setup.events)
        .record_steps(setup.record_steps)
        .solver(setup.solver)?;
    for &(name, value) in setup.sets {
        experiment = experiment.set(name, value);
    }
    experiment.simulate()
}

pub(crate) fn run(text: &str, setup: Setup<'_>) -> Result<Run, Error> {
    simulate(&compile(text)?, setup)
}

fn values(run: &Run, name: &str) -> Result<Vec<f64>, Error> {
    let signal = run.table.signal(name);
    let signal = signal.ok_or_else(|| Error::Usage(format!("the result has no `{name}`")))?;
    Ok(signal.to_vec())
}

/// A variable over time.
pub(crate) fn points(run: &Run, name: &str) -> Result<Vec<(f64, f64)>, Error> {
    let time = run.table.time().iter().copied();
    Ok(time.zip(values(run, name)?).collect())
}

/// A variable over another one.
pub(crate) fn path(run: &Run, over: &str, name: &str) -> Result<Vec<(f64, f64)>, Error> {
    Ok((values(run, over)?.into_iter())
        .zip(values(run, name)?)
        .collect())
}

/// A variable over time, to be drawn.
pub(crate) fn line(run: &Run, name: &str, unit: &str) -> Result<Line, Error> {
    Ok(Line::new(name, unit, points(run, name)?))
}

/// Times at which a variable jumps.
pub(crate) fn jumps(run: &Run, name: &str) -> Result<Vec<f64>, Error> {
    jumps_above(run, name, 0.0)
}

/// Times at which a variable jumps by more than a height.
pub(crate) fn jumps_above(run: &Run, name: &str, height: f64) -> Result<Vec<f64>, Error> {
    let points = points(run, name)?;
    let mut times: Vec<f64> = (points.windows(2))
        .filter(|pair| pair[0].0 == pair[1].0 && (pair[0].1 - pair[1].1).abs() > height)
        .map(|pair| pair[0].0)
        .collect();
    times.dedup();
    Ok(times)
}

/// Times of the events at which something flips.
pub(crate) fn event_times(run: &Run) -> Vec<f64> {
    let mut times: Vec<f64> = (run.events().iter())
        .filter(|event| {
            matches!(
                event.kind,
                EventKind::Time | EventKind::State | EventKind::Sliding | EventKind::Fold
            )
        })
        .map(|event| event.time)
        .collect();
    times.dedup();
    times
}

/// Errors of a variable in all rows, right limits at events, against a closed form.
pub(crate) fn errors_of(
    run: &Run,
    name: &str,
    exact: impl Fn(f64) -> f64,
) -> Result<Vec<f64>, Error> {
    let points = points(run, name)?;
    let last_of_instant = |k: &usize| points.get(k + 1).is_none_or(|next| next.0 != points[*k].0);
    Ok((0..points.len())
        .filter(last_of_instant)
        .map(|k| (points[k].1 - exact(points[k].0)).abs())
        .collect())
}

/// Sizes of the accepted steps over the times of their ends, to be drawn in decades.
pub(crate) fn step_sizes(run: &Run, name: &str) -> Line {
    let points = run.steps.iter().map(|step| (step.time, step.step_size));
    Line::new(name, "s", points.collect())
}

/// The modes that a discrete variable tells, with shares of the time and transitions taken. Values without a name are not drawn.
pub(crate) fn mode_graph(
    run: &Run,
    variable: &str,
    names: &[(f64, &str)],
    title: &str,
) -> Result<ModeGraph, Error> {
    let points = points(run, variable)?;
    let number = |value: f64| names.iter().position(|(known, _)| *known == value);
    let mut shares = vec![0.0; names.len()];
    let mut counts = vec![vec![0; names.len()]; names.len()];
    for pair in points.windows(2) {
        let (from, to) = (number(pair[0].1), number(pair[1].1));
        if let Some(from) = from {
            shares[from] += pair[1].0 - pair[0].0;
            if let Some(to) = to.filter(|to| *to != from) {
                counts[from][to] += 1;
            }
        }
    }
    let whole = run.time_reached - run.time_start;
    let mode = |(share, (_, name)): (f64, &(f64, &str))| ModeNode {
        name: (*name).to_owned(),
        share: share / whole,
    };
    let pairs = (0..names.len()).flat_map(|from| (0..names.len()).map(move |to| (from, to)));
    Ok(ModeGraph {
        title: title.to_owned(),
        modes: shares.into_iter().zip(names).map(mode).collect(),
        transitions: pairs
            .filter(|&(from, to)| counts[from][to] > 0)
            .map(|(from, to)| ModeTransition {
                from,
                to,
                count: counts[from][to],
                condition: String::new(),
            })
            .collect(),
    })
}
