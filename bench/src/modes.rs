//! What modes cost: a model that could change its structure and does not, against the same without the switch; and a change of structure, against an event
//! without one.

use crate::measure::interleaved;
use crate::report::{Section, seconds};
use saltus_model::Model;
use saltus_sim::{Control, Options, OutputGrid, RunStatistics, Silent, Simulation, SolverName};

/// An inductor behind an ideal diode that always conducts.
const CONDUCTS: &str = "
model Circuit
  Real u = 5 + sin(100*time), i(start = 0, fixed = true), v(start = 0, fixed = true), ud, s(start = 1);
  Boolean off = s < -1;
equation
  u = 2*i + 0.01*der(i) + ud + v;
  1e-3*der(v) = i - v/5;
  ud = if off then s + 1 else 0;
  i = if off then 0 else s + 1;
end Circuit;
";

/// The same with a diode that would be a resistor where it blocks, so that its structure is always the same.
const WITHOUT: &str = "
model Circuit
  Real u = 5 + sin(100*time), i(start = 0, fixed = true), v(start = 0, fixed = true), ud, s(start = 1);
  Boolean off = s < -1;
equation
  u = 2*i + 0.01*der(i) + ud + v;
  1e-3*der(v) = i - v/5;
  ud = if off then s + 1 else 0;
  i = s + 1;
end Circuit;
";

/// A flow that is stopped, which takes its state away with an impulse, and let go again, 1 000 times a second.
const STOPPED: &str = "
model Pipe
  Real q(start = 0, fixed = true), dp;
  Boolean open(start = true, fixed = true);
equation
  der(q) = 1 - q - dp;
  when sample(1e-3, 1e-3) then
    open = not pre(open);
  end when;
  0 = if open then dp else q;
end Pipe;
";

/// The same with a resistance, so that it stays a state.
const RESISTED: &str = "
model Pipe
  Real q(start = 0, fixed = true), dp;
  Boolean open(start = true, fixed = true);
equation
  der(q) = 1 - q - dp;
  when sample(1e-3, 1e-3) then
    open = not pre(open);
  end when;
  dp = if open then 0 else 10*q;
end Pipe;
";

fn compile(text: &str, class: &str) -> impl Model {
    let mut session = saltus::Session::new();
    session.set_text("modes.mo", text);
    let (system, warnings, _) =
        (session.structure(class)).unwrap_or_else(|error| panic!("{error}"));
    saltus_codegen::compile(system, warnings.sources()).unwrap_or_else(|list| panic!("{list:?}"))
}

/// Median seconds of two models over the same time, interleaved, and the statistics of each.
fn both(texts: [&str; 2], class: &str, stop_time: f64) -> ([f64; 2], [RunStatistics; 2]) {
    let options = Options {
        stop_time,
        output: OutputGrid::Intervals(1),
        solver: SolverName::Dopri5,
        ..Options::default()
    };
    let models = texts.map(|text| compile(text, class));
    let mut simulations = models.each_ref().map(|m| Simulation::new(m.instantiate()));
    let mut statistics = [RunStatistics::default(), RunStatistics::default()];
    let [a, b] = &mut simulations;
    let [of_a, of_b] = &mut statistics;
    let run = |simulation: &mut Simulation<_>, to: &mut RunStatistics| {
        let summary = simulation
            .run(&options, &Control::default(), &mut Silent)
            .unwrap_or_else(|failure| panic!("a benchmark failed: {:?}", failure.error));
        *to = summary.statistics;
    };
    let times = interleaved(&mut [&mut || run(a, of_a), &mut || run(b, of_b)]);
    ([times[0], times[1]], statistics)
}

pub(crate) fn modes() -> Section {
    let mut rows = Vec::new();
    let mut row = |what: &str, times: [f64; 2], [a, b]: &[RunStatistics; 2], outcome: String| {
        let of = |s: &RunStatistics| {
            let events = s.events_time + s.events_state;
            format!("{}, {}, {}", s.steps, s.rhs_evaluations, events)
        };
        rows.push(vec![
            what.to_owned(),
            seconds(times[0]),
            seconds(times[1]),
            of(a),
            of(b),
            outcome,
        ]);
    };
    let (times, statistics) = both([CONDUCTS, WITHOUT], "Circuit", 100.0);
    row(
        "a diode that always conducts, ideal beside leaky",
        times,
        &statistics,
        format!("ratio {:.3}", times[0] / times[1]),
    );
    let (times, statistics) = both([STOPPED, RESISTED], "Pipe", 10.0);
    let entries = statistics[0].events_time as f64;
    row(
        "a flow that is stopped, beside one that is resisted",
        times,
        &statistics,
        format!("{} more an event", seconds((times[0] - times[1]) / entries)),
    );
    Section {
        title: "Modes".to_owned(),
        text: "What a structure that could change costs while it does not, and what a change of it costs: half of the changes take a state away with an impulse. Steps, evaluations of the right-hand side and events of both."
            .to_owned(),
        header: vec!["", "with", "without", "with: steps, evaluations, events", "without", ""],
        rows,
        picture: None,
    }
}
