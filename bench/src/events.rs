//! Event problems: the simulator on models written against the contract, against the programs of [`crate::hand`].

use crate::hand;
use crate::measure::interleaved;
use saltus_model::{Instance, Model, Slot, Values};
use saltus_sim::{
    Environment, EventKind, EventRecord, Options, OutputGrid, Recorder, RowKind, SolverName,
    simulate,
};
use saltus_testkit::problems::{
    restitution_ball, restitution_ball_time, spring_ball, spring_ball_time,
};
use saltus_testkit::{Crossing, OdeProblem};
use std::hint::black_box;

/// One line of the table.
pub(crate) struct Comparison {
    pub(crate) name: &'static str,
    pub(crate) events: usize,
    pub(crate) seconds: f64,
    pub(crate) seconds_hand: f64,
    /// Largest error of an event's time.
    pub(crate) error: f64,
    pub(crate) error_hand: f64,
}

/// Keeps the times of state events.
#[derive(Default)]
struct Times(Vec<f64>);

impl Recorder for Times {
    fn row(&mut self, _values: &Values, _kind: RowKind) {}

    fn event(&mut self, event: &EventRecord) {
        if event.kind == EventKind::State {
            self.0.push(event.time);
        }
    }
}

/// Keeps the last state.
#[derive(Default)]
struct Last(f64);

impl Recorder for Last {
    fn row(&mut self, values: &Values, _kind: RowKind) {
        self.0 = values.get(Slot(1));
    }

    fn event(&mut self, _event: &EventRecord) {}

    fn wants_events(&self) -> bool {
        false
    }
}

fn options(stop_time: f64, tolerance: f64) -> Options {
    Options {
        stop_time,
        tolerance,
        output: OutputGrid::Intervals(1),
        solver: SolverName::Dopri5,
        ..Options::default()
    }
}

fn run<I: Instance>(instance: &mut I, options: &Options, recorder: &mut dyn Recorder) {
    if let Err(failure) = simulate(instance, options, &Environment::default(), recorder) {
        panic!("a benchmark failed: {:?}", failure.error);
    }
}

/// Runs a model and its peer `repeats` times per round; `peer` is given what to do at events.
fn compare<M: Model>(
    name: &'static str,
    model: &M,
    options: &Options,
    repeats: u32,
    exact: &[f64],
    peer: impl Fn(&mut dyn FnMut(f64)),
    peer_timed: impl Fn(),
) -> Comparison {
    let mut times = Times::default();
    run(&mut model.instantiate(), options, &mut times);
    let mut times_hand = Vec::new();
    peer(&mut |t| times_hand.push(t));
    let mut instance = model.instantiate();
    let seconds = interleaved(&mut [
        &mut || {
            for _ in 0..repeats {
                let mut last = Last::default();
                run(&mut instance, options, &mut last);
                black_box(last.0);
            }
        },
        &mut || {
            for _ in 0..repeats {
                peer_timed();
            }
        },
    ]);
    Comparison {
        name,
        events: times.0.len(),
        seconds: seconds[0] / f64::from(repeats),
        seconds_hand: seconds[1] / f64::from(repeats),
        error: largest_error(&times.0, exact),
        error_hand: largest_error(&times_hand, exact),
    }
}

/// Infinite where the number of events differs.
fn largest_error(times: &[f64], exact: &[f64]) -> f64 {
    if times.len() != exact.len() {
        return f64::INFINITY;
    }
    (times.iter().zip(exact)).fold(0.0, |largest: f64, (t, exact)| {
        largest.max((t - exact).abs())
    })
}

/// Spring-contact ball, 100 s.
pub(crate) fn spring() -> Comparison {
    let tolerance = 1e-9;
    let exact: Vec<f64> = (1..)
        .map(spring_ball_time)
        .take_while(|t| *t < hand::spring::STOP)
        .collect();
    compare(
        "spring-contact ball, 100 s",
        &spring_ball(),
        &options(hand::spring::STOP, tolerance),
        50,
        &exact,
        |event| {
            hand::spring_ball(tolerance, event);
        },
        || {
            black_box(hand::spring_ball(black_box(tolerance), |_| {}));
        },
    )
}

/// Ball with restitution, 60 bounces.
pub(crate) fn bounces() -> Comparison {
    let (stop, tolerance) = (hand::restitution::STOP, 1e-9);
    let exact: Vec<f64> = (1..=60).map(restitution_ball_time).collect();
    compare(
        "restitution ball, 60 bounces",
        &restitution_ball(),
        &options(stop, tolerance),
        200,
        &exact,
        |event| {
            hand::restitution_ball(1.0, stop, tolerance, event);
        },
        || {
            black_box(hand::restitution_ball(
                1.0,
                stop,
                black_box(tolerance),
                |_| {},
            ));
        },
    )
}

/// The hysteresis current control of [`hand::hysteresis`] against the contract.
fn hysteresis_model() -> impl Model {
    use hand::hysteresis::{BAND, INDUCTANCE, RESISTANCE, VOLTAGE, reference};
    OdeProblem::new("HysteresisControl", &[("i", 0.0)], |at, dx| {
        dx[0] = (at.d[0] - RESISTANCE * at.x[0]) / INDUCTANCE;
    })
    .discrete(&[("u", VOLTAGE)])
    .crossings(
        &[
            Crossing::above("i > reference + band").observed(),
            Crossing::below("i < reference - band").observed(),
        ],
        |at, r| {
            let deviation = at.x[0] - reference(at.t);
            r[0] = deviation - BAND;
            r[1] = deviation + BAND;
        },
    )
    .on_event(|jump| {
        if jump.became_true(0) {
            jump.d[0] = -VOLTAGE;
        }
        if jump.became_true(1) {
            jump.d[0] = VOLTAGE;
        }
    })
    .build()
}

/// Hysteresis current control, 98 641 events.
pub(crate) fn hysteresis() -> Comparison {
    let (stop, tolerance) = (hand::hysteresis::STOP, 1e-6);
    let mut exact = Vec::new();
    hand::hysteresis_exact(|t| exact.push(t));
    compare(
        "hysteresis current control, 1 s",
        &hysteresis_model(),
        &options(stop, tolerance),
        1,
        &exact,
        |event| {
            hand::hysteresis_control(tolerance, event);
        },
        || {
            black_box(hand::hysteresis_control(black_box(tolerance), |_| {}));
        },
    )
}

/// Runs of one sweep and how many a second.
pub(crate) struct Sweep {
    pub(crate) runs: usize,
    pub(crate) events: usize,
    pub(crate) runs_a_second: f64,
    pub(crate) runs_a_second_hand: f64,
}

/// 10 000 runs of the ball with restitution, dropped from heights between 0.5 and 1.5, 3 s each.
pub(crate) fn sweep() -> Sweep {
    const RUNS: usize = 10_000;
    const STOP: f64 = 3.0;
    const TOLERANCE: f64 = 1e-9;
    let model = restitution_ball();
    let mut options = options(STOP, TOLERANCE);
    let height = |k: usize| 0.5 + k as f64 / RUNS as f64;
    let mut instance = model.instantiate();
    let mut events = 0;
    let seconds = interleaved(&mut [
        &mut || {
            events = 0;
            for k in 0..RUNS {
                options.overrides.clear();
                options.overrides.push((Slot(1), height(k)));
                let mut last = Last::default();
                let summary = simulate(&mut instance, &options, &Environment::default(), &mut last)
                    .unwrap_or_else(|failure| panic!("a benchmark failed: {:?}", failure.error));
                events += summary.statistics.events_state as usize;
                black_box(last.0);
            }
        },
        &mut || {
            for k in 0..RUNS {
                black_box(hand::restitution_ball(height(k), STOP, TOLERANCE, |_| {}));
            }
        },
    ]);
    Sweep {
        runs: RUNS,
        events,
        runs_a_second: RUNS as f64 / seconds[0],
        runs_a_second_hand: RUNS as f64 / seconds[1],
    }
}
