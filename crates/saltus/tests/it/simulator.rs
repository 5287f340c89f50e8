//! Runs from inside: stepped, looked at, given inputs, saved and restored.

use crate::mdtest::{class_of, root};
use crate::models::{Expect, FOLDERS};
use saltus::results::{EventKind, Side};
use saltus::{Error, Experiment, Input, Model, Progressed, Run, Session, Simulator, State, Value};

fn compile(text: &str) -> Model {
    let mut session = Session::new();
    session.set_text("model.mo", text);
    let class = class_of(text);
    session.compile(&class).unwrap_or_else(|e| panic!("{e}"))
}

/// A generator of numbers in [0, 1) (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }
}

/// Rows, events and counters of a run, in all digits.
#[derive(PartialEq)]
pub(crate) struct Seen {
    rows: Vec<Vec<u64>>,
    events: Vec<String>,
    counters: String,
    failure: Option<String>,
}

impl Seen {
    pub(crate) fn of(outcome: Result<Run, Error>) -> Seen {
        let (run, failure) = match outcome {
            Ok(run) => (run, None),
            Err(Error::Run(why, run)) => (*run, Some(why.to_string())),
            Err(error) => panic!("{error}"),
        };
        let table = &run.table;
        let rows = (0..table.n_rows())
            .map(|row| {
                let series = (table.variables()).map(|(name, _)| {
                    table
                        .signal(name)
                        .map_or(0, |signal| signal.row(row).to_bits())
                });
                [table.time()[row].to_bits()]
                    .into_iter()
                    .chain(series)
                    .collect()
            })
            .collect();
        let mut statistics = run.statistics.clone();
        statistics.seconds = Default::default();
        statistics.peak_rss_mb = 0.0;
        statistics.unresolved.clear();
        Seen {
            rows,
            events: run.events().iter().map(|e| format!("{e:?}")).collect(),
            counters: format!("{statistics:?}"),
            failure,
        }
    }

    /// The later part of the same run follows.
    fn then(&mut self, later: Seen) {
        self.rows.extend(later.rows);
        self.events.extend(later.events);
        self.counters = later.counters;
        self.failure = later.failure;
    }

    pub(crate) fn compare(&self, other: &Seen, folder: &str) {
        assert_eq!(self.failure, other.failure, "{folder}");
        for (k, (a, b)) in self.rows.iter().zip(&other.rows).enumerate() {
            let time = f64::from_bits(a[0]);
            assert!(a == b, "{folder}: row {k} at time {time} differs");
        }
        assert_eq!(self.rows.len(), other.rows.len(), "{folder}");
        assert_eq!(self.events, other.events, "{folder}");
        assert_eq!(self.counters, other.counters, "{folder}");
    }
}

/// The same run in pieces: stopped at random places, looked at, now and then saved, written, read, and taken up by the same or by another simulator.
fn in_pieces<'m>(
    make: impl Fn() -> Experiment<'m>,
    (start, stop): (f64, f64),
    random: &mut Random,
) -> Seen {
    let mut simulator = make().simulator().unwrap_or_else(|e| panic!("{e}"));
    let mut seen: Option<Seen> = None;
    let mut add = |finished: Result<Run, Error>| match &mut seen {
        None => seen = Some(Seen::of(finished)),
        Some(seen) => seen.then(Seen::of(finished)),
    };
    while !simulator.is_finished() {
        let ahead = simulator.time() + random.next() * random.next() * 0.2 * (stop - start);
        let gone = match random.below(6) {
            0 => simulator.step(),
            1 => simulator.advance_to_event(ahead.min(stop)),
            2 => simulator.advance_to(simulator.time()),
            _ => simulator.advance_to(ahead.min(stop)),
        };
        if gone.is_err() {
            break;
        }
        if random.below(2) == 0 {
            // Looking may see what the run has not come to yet: an assertion that fails.
            if let Ok(states) = simulator.states() {
                assert!(states.iter().all(|state| state.1.is_finite()));
            }
        }
        match random.below(5) {
            0 => {
                let state = simulator.save().unwrap_or_else(|e| panic!("{e}"));
                let state = State::from_bytes(&state.to_bytes()).unwrap_or_else(|e| panic!("{e}"));
                let mut other = make().simulator().unwrap_or_else(|e| panic!("{e}"));
                other.restore(&state).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(other.time(), simulator.time());
                add(std::mem::replace(&mut simulator, other).finish());
            }
            1 => {
                // There and back again: what happens in between has not been.
                let state = simulator.save().unwrap_or_else(|e| panic!("{e}"));
                let mut other = make().simulator().unwrap_or_else(|e| panic!("{e}"));
                other.restore(&state).unwrap_or_else(|e| panic!("{e}"));
                let _ = other.advance_to((state.time() + 0.3 * (stop - start)).min(stop));
                if other.restore(&state).is_ok() {
                    assert_eq!(other.time(), simulator.time());
                }
            }
            _ => {}
        }
    }
    add(simulator.finish());
    seen.unwrap_or_else(|| panic!("there is at least one piece"))
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    let only = std::env::var("SALTUS_MODEL").ok();
    let mut random = Random(20_240_613);
    for folder in FOLDERS {
        if only.as_deref().is_some_and(|only| only != *folder) {
            continue;
        }
        let path = root().join("models").join(folder);
        let read = |name: &str| {
            let file = path.join(name);
            std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
        };
        let (text, expect) = (read("model.mo"), Expect::parse(&read("expect.toml")));
        let mut session = Session::new();
        session.add_library_path(root().join("library"));
        session.set_text("model.mo", text.clone());
        let model = session.compile(&class_of(&text));
        let model = model.unwrap_or_else(|e| panic!("{folder}: {e}"));
        let make = || {
            (model.experiment())
                .start_time(expect.start_time)
                .stop_time(expect.stop_time)
                .tolerance(expect.tolerance)
                .intervals(40)
        };
        let whole = Seen::of(make().simulate());
        let span = (expect.start_time, expect.stop_time);
        for _ in 0..2 {
            in_pieces(make, span, &mut random).compare(&whole, folder);
        }
    }
}

const LAG: &str = "
model Lag
  input Real u;
  input Boolean on(start = true);
  input Integer n[2](start = {1, 1});
  output Real y = 2*x;
  Real x(start = 0, fixed = true);
  Integer switched(start = 0, fixed = true);
  Boolean high = x > 0.5;
equation
  der(x) = if on then u - x else 0;
  when change(on) then
    switched = pre(switched) + n[2];
  end when;
end Lag;
";

#[test]
fn inputs_change_by_events_and_nowhere_else() {
    let model = compile(LAG);
    let mut lag = model.simulator().unwrap();
    let refused = lag.initialise().unwrap_err().to_string();
    assert!(
        refused.contains("error[input-without-value]: the input `u` has no value"),
        "{refused}"
    );
    assert!(refused.contains("model.mo:3"), "{refused}");
    lag.set_input("u", 1.0).unwrap();
    lag.advance_to(1.0).unwrap();
    let at_one = 1.0 - (-1.0f64).exp();
    assert!((lag.get("x").unwrap() - at_one).abs() < 1e-6);
    assert!(
        (lag.interpolate("x", 0.999, Side::Right).unwrap() - (1.0 - (-0.999f64).exp())).abs()
            < 1e-6
    );
    // The same value again is no event.
    lag.set_input("u", 1.0).unwrap();
    lag.advance_to(1.5).unwrap();
    assert!(!lag.events().iter().any(|e| e.kind == EventKind::Input));
    // The boundary of the surface was crossed on the way.
    assert_eq!(lag.value("high").unwrap(), Value::Boolean(true));
    lag.set_input("on", false).unwrap();
    lag.set_input("n", [5, 7]).unwrap();
    lag.set_input("u", 3.0).unwrap();
    lag.advance_to(2.0).unwrap();
    let held = 1.0 - (-1.5f64).exp();
    assert!((lag.get("x").unwrap() - held).abs() < 1e-6);
    assert_eq!(lag.get("switched").unwrap(), 7.0);
    assert_eq!(lag.value("n").unwrap(), Value::from([5, 7]));
    let events: Vec<(f64, &str)> = (lag.events().iter())
        .filter(|e| e.kind == EventKind::Input)
        .map(|e| (e.time, e.changed[0].variable.as_str()))
        .collect();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].0, 1.5);
    // A ramp from here on.
    lag.set_input("on", true).unwrap();
    lag.set_input("u", Input::ramp(held, 2.0)).unwrap();
    lag.advance_to(3.0).unwrap();
    // x' = x0 + 2(t - 2) - x
    let ramp = held + 2.0 * (1.0 - 1.0 + (-1.0f64).exp());
    assert!(
        (lag.get("x").unwrap() - ramp).abs() < 1e-5,
        "{}",
        lag.get("x").unwrap()
    );
    assert_eq!(lag.outputs().unwrap()[0].0, "y");
}

#[test]
fn wrong_inputs_are_refused() {
    let model = compile(LAG);
    let mut lag = model.simulator().unwrap();
    for (name, input, expected) in [
        (
            "u",
            Input::from(true),
            "`u` is a Real, and true is a Boolean",
        ),
        (
            "on",
            Input::from(1.0),
            "`on` is a Boolean, and 1.0 is a Real",
        ),
        ("on", Input::ramp(0.0, 1.0), "`on` is not Real"),
        ("n", Input::from([1, 2, 3]), "`n` has 2 elements"),
        ("x", Input::from(1.0), "`x` is no input of the model"),
        ("v", Input::from(1.0), "the model has no variable `v`"),
    ] {
        let refused = lag.set_input(name, input).unwrap_err().to_string();
        assert!(refused.contains(expected), "{name}: {refused}");
    }
    lag.set_input("u", 1.0).unwrap();
    lag.advance_to(1.0).unwrap();
    let back = lag.advance_to(0.5).unwrap_err().to_string();
    assert!(
        back.contains("stands at time 1 and cannot go back to 0.5"),
        "{back}"
    );
    assert!(model.experiment().simulate().is_err());
    assert!(model.experiment().input("u", 0.0).simulate().is_ok());
}

/// Where inputs are given values by functions, crossings of what depends on them are located as all others are.
#[test]
fn a_function_of_time_is_an_input() {
    let model = compile(
        "model M input Real u; Boolean high(start = false, fixed = true); discrete Real at(start = 0, fixed = true); equation high = u > 0.5; when high then at = time; end when; end M;",
    );
    let run = (model.experiment().stop_time(2.0))
        .input("u", Input::function(|t| t.sin()))
        .simulate()
        .unwrap_or_else(|e| panic!("{e}"));
    let expected = std::f64::consts::FRAC_PI_6;
    assert!(
        (run.last("at").unwrap() - expected).abs() < 1e-9,
        "{}",
        run.last("at").unwrap()
    );
    // A state that went through a file has lost the function.
    let mut simulator = model.simulator().unwrap();
    simulator
        .set_input("u", Input::function(|t| t.sin()))
        .unwrap();
    simulator.advance_to(0.25).unwrap();
    let state = State::from_bytes(&simulator.save().unwrap().to_bytes()).unwrap();
    let mut other = model.simulator().unwrap();
    assert!(
        other
            .restore(&state)
            .unwrap_err()
            .to_string()
            .contains("function of time")
    );
    other.set_input("u", Input::function(|t| t.sin())).unwrap();
    other.restore(&state).unwrap();
    other.advance_to(1.0).unwrap();
    simulator.advance_to(1.0).unwrap();
    assert_eq!(other.get("at").unwrap(), simulator.get("at").unwrap());
}

#[test]
fn a_state_of_another_model_is_refused() {
    let model = compile(LAG);
    let mut lag = model.simulator().unwrap();
    lag.set_input("u", 1.0).unwrap();
    lag.advance_to(1.0).unwrap();
    let state = lag.save().unwrap();
    let other =
        compile("model Other Real x(start = 1, fixed = true); equation der(x) = -x; end Other;");
    let mut other = other.simulator().unwrap();
    let refused = other.restore(&state).unwrap_err().to_string();
    assert!(refused.contains("not one of this `Other`"), "{refused}");
    assert!(State::from_bytes(b"saltus:s").is_err());
}

#[test]
fn a_simulator_stops_at_events_and_goes_to_another_thread() {
    let model = compile(
        "model Ball Real h(start = 1, fixed = true), v(start = 0, fixed = true); equation der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -0.8*pre(v)); end when; end Ball;",
    );
    let mut ball = model.simulator().unwrap();
    assert_eq!(ball.get("h").unwrap(), 1.0);
    assert_eq!(ball.advance_to_event(10.0).unwrap(), Progressed::Event);
    let first = (2.0f64 / 9.81).sqrt();
    assert!((ball.time() - first).abs() < 1e-9);
    let speed = 9.81 * first;
    assert!((ball.interpolate("v", ball.time(), Side::Left).unwrap() + speed).abs() < 1e-6);
    assert!((ball.get("v").unwrap() - 0.8 * speed).abs() < 1e-6);
    let indicators = ball.event_indicators().unwrap();
    assert_eq!(indicators[0].0, "h < 0");
    assert_eq!(ball.states().unwrap().len(), 2);
    assert!((ball.derivatives().unwrap()[1].1 + 9.81).abs() < 1e-12);
    // A state may be given another value, by an event.
    let mut ball = std::thread::spawn(move || ball.set("v", 1.0).map(|()| ball))
        .join()
        .unwrap()
        .unwrap();
    let from = ball.time();
    ball.advance_to(from + 0.1).unwrap();
    let expected = 0.1 - 0.5 * 9.81 * 0.01;
    assert!((ball.get("h").unwrap() - expected).abs() < 1e-6);
}

#[test]
fn steps_lead_to_the_end() {
    let model = compile("model D Real x(start = 1, fixed = true); equation der(x) = -x; end D;");
    let mut decay: Simulator = model.experiment().stop_time(2.0).simulator().unwrap();
    let mut last = 0.0;
    let mut n = 0;
    loop {
        let progressed = decay.step().unwrap();
        assert!(decay.time() >= last);
        last = decay.time();
        if progressed == Progressed::Finished {
            break;
        }
        n += 1;
        assert!(n < 1000);
    }
    assert_eq!(decay.time(), 2.0);
    assert!((decay.get("x").unwrap() - (-2.0f64).exp()).abs() < 1e-5);
    assert!((decay.finish().unwrap().last("x").unwrap() - (-2.0f64).exp()).abs() < 1e-5);
}

#[test]
fn a_run_that_failed_says_so_again() {
    let model = compile(
        "model M Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0, \"empty\"); end M;",
    );
    let mut run = model.simulator().unwrap();
    let first = run.advance_to(2.0).unwrap_err().to_string();
    assert!(first.contains("empty"), "{first}");
    assert_eq!(run.advance_to(3.0).unwrap_err().to_string(), first);
    assert!(run.is_finished());
    assert!(matches!(run.finish(), Err(Error::Run(..))));
}
