//! Event problems: the simulator on models written against the contract, against the programs of [`crate::hand`].

use crate::hand;
use crate::measure::interleaved;
use crate::report::{Section, seconds};
use saltus_model::{Instance, Model, Slot, Values};
use saltus_sim::{
    Control, EventKind, EventRecord, Options, OutputGrid, Recorder, RowKind, RunSummary,
    Simulation, SolverName,
};
use saltus_testkit::problems::{
    restitution_ball, restitution_ball_time, spring_ball, spring_ball_time,
};
use saltus_testkit::{Crossing, OdeProblem};
use std::hint::black_box;

/// The benchmarks of this file.
pub(crate) const NAMES: [&str; 5] = ["spring", "bounces", "hysteresis", "modelica", "sweep"];

/// One line of the table.
struct Comparison {
    name: &'static str,
    /// Events of all runs.
    events: usize,
    runs: usize,
    /// Of all runs together.
    seconds: f64,
    seconds_hand: f64,
    /// Largest error of an event's time.
    error: f64,
    error_hand: f64,
}

impl Comparison {
    fn row(&self) -> Vec<String> {
        vec![
            self.name.to_owned(),
            self.events.to_string(),
            seconds(self.seconds),
            seconds(self.seconds_hand),
            format!("**{:.2}**", self.seconds / self.seconds_hand),
            format!("{:.0} ns", 1e9 * self.seconds / self.events as f64),
            format!("{:.0}", self.runs as f64 / self.seconds),
            format!("{:.1e}", self.error),
            format!("{:.1e}", self.error_hand),
        ]
    }
}

/// The benchmarks that `asked` names, in one table.
pub(crate) fn events(asked: impl Fn(&str) -> bool) -> Section {
    let rows = NAMES
        .into_iter()
        .filter(|name| asked(name))
        .map(|name| {
            let comparison = match name {
                "spring" => spring(),
                "bounces" => bounces(),
                "hysteresis" => hysteresis(),
                "modelica" => modelica(),
                "sweep" => sweep(),
                _ => unreachable!("every name has its benchmark"),
            };
            comparison.row()
        })
        .collect();
    Section {
        title: "Events".to_owned(),
        text: "DOPRI5 with events, against a program written by hand for the problem (`bench/src/hand.rs`: the same method, arrays on the stack, sign test at the end of each step, regula falsi on the dense output). Both at the same tolerance; errors are those of the event times.".to_owned(),
        header: vec![
            "problem",
            "events",
            "time",
            "hand-written",
            "ratio",
            "per event",
            "runs a second",
            "largest error",
            "hand-written",
        ],
        rows,
        picture: None,
    }
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

fn run<I: Instance>(
    simulation: &mut Simulation<I>,
    options: &Options,
    recorder: &mut dyn Recorder,
) -> RunSummary {
    simulation
        .run(options, &Control::default(), recorder)
        .unwrap_or_else(|failure| panic!("a benchmark failed: {:?}", failure.error))
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
    run(
        &mut Simulation::new(model.instantiate()),
        options,
        &mut times,
    );
    let mut times_hand = Vec::new();
    peer(&mut |t| times_hand.push(t));
    let mut simulation = Simulation::new(model.instantiate());
    let seconds = interleaved(&mut [
        &mut || {
            for _ in 0..repeats {
                let mut last = Last::default();
                run(&mut simulation, options, &mut last);
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
        runs: 1,
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
fn spring() -> Comparison {
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
fn bounces() -> Comparison {
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
fn hysteresis() -> Comparison {
    hysteresis_of("hysteresis current control, 1 s", &hysteresis_model())
}

fn hysteresis_of<M: Model>(name: &'static str, model: &M) -> Comparison {
    let (stop, tolerance) = (hand::hysteresis::STOP, 1e-6);
    let mut exact = Vec::new();
    hand::hysteresis_exact(|t| exact.push(t));
    compare(
        name,
        model,
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

/// The same in Modelica, through the compiler.
const HYSTERESIS: &str = "
model HysteresisControl
  parameter Real U = 100;
  parameter Real R = 1;
  parameter Real L = 1e-3;
  parameter Real amplitude = 10;
  parameter Real band = 0.5041;
  constant Real pi = 3.14159265358979323846;
  Real i(start = 0, fixed = true);
  Real reference;
  discrete Real u(start = U, fixed = true);
equation
  reference = amplitude*sin(2*pi*50*time);
  L*der(i) = u - R*i;
  when i > reference + band then
    u = -U;
  elsewhen i < reference - band then
    u = U;
  end when;
end HysteresisControl;
";

fn modelica() -> Comparison {
    let mut session = saltus::Session::new();
    session.set_text("HysteresisControl.mo", HYSTERESIS);
    let (system, warnings, _) = session
        .structure("HysteresisControl")
        .unwrap_or_else(|error| panic!("{error}"));
    let model = saltus_codegen::compile(system, warnings.sources())
        .unwrap_or_else(|list| panic!("{list:?}"));
    hysteresis_of("the same in Modelica", &model)
}

/// 10 000 runs of the ball with restitution, dropped from heights between 0.5 and 1.5, 3 s each.
fn sweep() -> Comparison {
    const RUNS: usize = 10_000;
    const STOP: f64 = 3.0;
    const TOLERANCE: f64 = 1e-9;
    let model = restitution_ball();
    let mut options = options(STOP, TOLERANCE);
    let height = |k: usize| 0.5 + k as f64 / RUNS as f64;
    let mut simulation = Simulation::new(model.instantiate());
    let mut events = 0;
    let seconds = interleaved(&mut [
        &mut || {
            events = 0;
            for k in 0..RUNS {
                options.overrides.clear();
                options.overrides.push((Slot(1), height(k)));
                let mut last = Last::default();
                let summary = run(&mut simulation, &options, &mut last);
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
    let (error, error_hand) = sweep_errors(&model, &mut options, height(RUNS / 2), STOP);
    Comparison {
        name: "10 000 runs of the restitution ball, 3 s each",
        events,
        runs: RUNS,
        seconds: seconds[0],
        seconds_hand: seconds[1],
        error,
        error_hand,
    }
}

/// Errors of the event times of one run of the sweep; they scale with the root of the height.
fn sweep_errors<M: Model>(model: &M, options: &mut Options, height: f64, stop: f64) -> (f64, f64) {
    let exact: Vec<f64> = (1..)
        .map(|n| height.sqrt() * restitution_ball_time(n))
        .take_while(|t| *t < stop)
        .collect();
    options.overrides.clear();
    options.overrides.push((Slot(1), height));
    let mut times = Times::default();
    run(
        &mut Simulation::new(model.instantiate()),
        options,
        &mut times,
    );
    let mut times_hand = Vec::new();
    hand::restitution_ball(height, stop, options.tolerance, |t| times_hand.push(t));
    (
        largest_error(&times.0, &exact),
        largest_error(&times_hand, &exact),
    )
}
