//! States that an algebraic block of their number couples all with all, with and without the DAE form.
//!
//! n masses sit on nodes that store nothing; between the nodes, and to both ends, flows what the cubes of their potentials differ by.
//! The Jacobian of the states alone is full: it costs n evaluations, n² numbers and n³ operations. A sine over the masses decays
//! exponentially, which gives the error.

use crate::measure::thread_seconds;
use crate::report::{Section, seconds};
use saltus::Session;
use saltus_model::{Model, Slot, Values};
use saltus_sim::{
    Control, EventRecord, Options, OutputGrid, Recorder, RowKind, SolverName, simulate,
};

/// With more states the full matrix takes minutes.
const FULL_MAX: usize = 1000;
const TOLERANCES: [f64; 2] = [1e-4, 1e-6];
const STOP: f64 = 1.0;
/// Rate of the masses; that of the sine is a small part of it.
const RATE: f64 = 1e3;
/// Half waves over the masses per state, so that the sine decays in the time simulated whatever their number.
const WAVES: f64 = 0.02;

fn text(n: usize) -> String {
    format!(
        "model Network
  parameter Integer n = {n};
  parameter Real k = {RATE}, theta = {theta};
  Real T[n](each fixed = true, start = {{2 + sin(i*theta) for i in 1:n}});
  Real u[n](each start = 1.26);
equation
  for i in 1:n loop
    der(T[i]) = k*(u[i]^3 - T[i]);
    0 = (if i > 1 then u[i-1]^3 else 2) - 2*u[i]^3 + (if i < n then u[i+1]^3 else 2) + T[i] - u[i]^3;
  end for;
end Network;
",
        theta = theta(n)
    )
}

fn theta(n: usize) -> f64 {
    let waves = (WAVES * n as f64).round().max(1.0);
    waves * std::f64::consts::PI / (n as f64 + 1.0)
}

/// The states at the end.
struct End {
    slots: Vec<Slot>,
    x: Vec<f64>,
}

impl Recorder for End {
    fn row(&mut self, values: &Values, kind: RowKind) {
        if kind == RowKind::Final {
            self.x = self.slots.iter().map(|s| values.get(*s)).collect();
        }
    }

    fn event(&mut self, _event: &EventRecord) {}

    fn wants_events(&self) -> bool {
        false
    }
}

pub(crate) fn network(n: usize) -> Section {
    let mut session = Session::new();
    session.set_text("network.mo", text(n));
    let compiled = session
        .compile("Network")
        .expect("the generated model is correct");
    let variables = &compiled.compiled().info().variables;
    let slots: Vec<Slot> = (1..=n)
        .map(|i| {
            let name = format!("T[{i}]");
            let state = variables.iter().find(|v| v.name == name);
            state.expect("a state").slot
        })
        .collect();
    let theta = theta(n);
    let decay = (-RATE * STOP * (1.0 - 1.0 / (3.0 - 2.0 * theta.cos()))).exp();
    let mut rows = Vec::new();
    let mut times = Vec::new();
    for (form, dae) in [("DAE form", true), ("states alone", false)] {
        if !dae && n > FULL_MAX {
            continue;
        }
        let model = compiled.compiled().clone().with_dae_form(dae);
        for tolerance in TOLERANCES {
            let options = Options {
                stop_time: STOP,
                tolerance,
                output: OutputGrid::Intervals(1),
                solver: SolverName::Bdf,
                ..Options::default()
            };
            let mut end = End {
                slots: slots.clone(),
                x: Vec::new(),
            };
            let mut instance = model.instantiate();
            let start = thread_seconds();
            let run = simulate(&mut instance, &options, &Control::default(), &mut end);
            let time = thread_seconds() - start;
            let statistics = run.expect("the network can be simulated").statistics;
            let exact = (1..=n).map(|i| 2.0 + decay * (i as f64 * theta).sin());
            let differences = exact.zip(&end.x).map(|(exact, x)| (exact - x).abs());
            let error = differences.fold(0.0, f64::max);
            times.push(time);
            rows.push(vec![
                form.to_owned(),
                format!("{tolerance:e}"),
                format!("{error:.1e}"),
                seconds(time),
                statistics.steps.to_string(),
                statistics.rhs_evaluations.to_string(),
                statistics.jacobians.to_string(),
                statistics.factorizations.to_string(),
            ]);
        }
    }
    let text = match times[..] {
        [a, b, c, d] => format!(
            "Time of the states alone against the DAE form, by `bdf`: **{:.1}** at a tolerance of 1e-4, **{:.1}** at 1e-6.",
            c / a,
            d / b
        ),
        _ => "The full matrix of the states alone is not tried at this size.".to_owned(),
    };
    Section {
        title: format!("Network, {n} states coupled by a block of {n} unknowns"),
        text,
        header: vec![
            "form",
            "tolerance",
            "largest error",
            "time",
            "steps",
            "evaluations",
            "Jacobians",
            "factorizations",
        ],
        rows,
        picture: None,
    }
}
