//! What it costs that a structure could change (`saltus-bench modes` measures the time).

use crate::switches::compile;
use saltus::Model;
use saltus_testkit::allocations::{Counting, allocations};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An inductor behind a diode that always conducts; `current` says what holds of the current where it would block.
fn circuit(current: &str) -> Model {
    let text = format!(
        "model Circuit
  Real u = 5 + sin(100*time), i(start = 0, fixed = true), v(start = 0, fixed = true), ud, s(start = 1);
  Boolean off = s < -1;
equation
  u = 2*i + 0.01*der(i) + ud + v;
  1e-3*der(v) = i - v/5;
  ud = if off then s + 1 else 0;
  i = {current};
end Circuit;"
    );
    compile(&text, "Circuit")
}

#[test]
fn a_structure_that_does_not_change_costs_no_evaluation() {
    let (ideal, leaky) = (circuit("if off then 0 else s + 1"), circuit("s + 1"));
    for solver in ["dopri5", "radau", "bdf"] {
        let counts = [&ideal, &leaky].map(|compiled| {
            let experiment = compiled.experiment().stop_time(1.0);
            let run = experiment.solver(solver).and_then(|e| e.simulate());
            let s = run.unwrap_or_else(|error| panic!("{error}")).statistics;
            (s.steps, s.rhs_evaluations, s.jacobians, s.factorizations)
        });
        assert_eq!(counts[0], counts[1], "{solver}");
    }
}

#[test]
fn a_structure_that_does_not_change_costs_no_allocation() {
    let ideal = circuit("if off then 0 else s + 1");
    let count = |stop_time: f64| {
        let experiment = ideal.experiment().stop_time(stop_time).intervals(1);
        let before = allocations();
        let run = experiment.solver("dopri5").and_then(|e| e.simulate());
        let run = run.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(run.statistics.events.state, 0);
        (allocations() - before, run.statistics.steps)
    };
    // The first run makes the modes, and is long enough for all of their code to be made for the machine: both belong to the model.
    count(50.0);
    let (shorter, longer) = (count(50.0), count(100.0));
    assert!(longer.1 > shorter.1 + 10_000, "{longer:?} {shorter:?}");
    assert_eq!(longer.0, shorter.0);
}

#[test]
fn modes_that_were_given_up_come_back_as_they_were() {
    // Three inductors behind switches, eight modes; many parameters make each of them large, so that there is room for four.
    let runs = [3, 30_000].map(|parameters| {
        let text = format!(
            "model Three
  parameter Real p[{parameters}] = fill(1, {parameters});
  Real i[3](each start = 0, each fixed = true), u[3];
equation
  for k in 1:3 loop
    der(i[k]) = p[k] - i[k] - u[k];
    0 = if sin(sqrt(k)*time) > 0 then u[k] else i[k];
  end for;
end Three;"
        );
        let experiment = compile(&text, "Three");
        let run = experiment.experiment().stop_time(30.0).simulate();
        run.unwrap_or_else(|error| panic!("{error}"))
    });
    let [kept, given_up] = &runs;
    assert_eq!(kept.statistics.modes_structured, 8);
    assert!(given_up.statistics.modes_structured > 8);
    assert_eq!(kept.event_log.len(), given_up.event_log.len());
    for (a, b) in kept.event_log.iter().zip(&given_up.event_log) {
        assert_eq!((a.time, a.mode), (b.time, b.mode));
        assert_eq!((&a.changed, &a.impulses), (&b.changed, &b.impulses));
    }
}
