//! States that an algebraic block couples all with all: implicit methods use the sparse DAE form. Masses with temperatures T on nodes that store
//! nothing; between the nodes and to both ends flows what the cubes of their potentials u differ by.

use saltus::Session;
use saltus_model::{Instance, Model, System};

const N: usize = 40;

fn network() -> String {
    format!(
        "model Network
  parameter Integer n = {N};
  Real T[n](each fixed = true, start = {{2 + sin(i*{pi}/(n + 1)) for i in 1:n}});
  Real u[n](each start = 1.26);
  discrete Real k(start = 100, fixed = true);
equation
  for i in 1:n loop
    der(T[i]) = k*(u[i]^3 - T[i]);
    0 = (if i > 1 then u[i-1]^3 else 2) - 2*u[i]^3 + (if i < n then u[i+1]^3 else 2) + T[i] - u[i]^3;
  end for;
  when T[20] < 2.5 then
    k = 200;
  end when;
end Network;
",
        pi = std::f64::consts::PI
    )
}

/// The sine over the masses decays with k(1 - 1/(3 - 2 cos θ)), θ = π/(n + 1). The time of the event, and T[20] at time t after it.
fn exact(t: f64) -> (f64, f64) {
    let theta = std::f64::consts::PI / (N as f64 + 1.0);
    let rate = 100.0 * (1.0 - 1.0 / (3.0 - 2.0 * theta.cos()));
    let height = (20.0 * theta).sin();
    let event = (height / 0.5).ln() / rate;
    (event, 2.0 + 0.5 * (-2.0 * rate * (t - event)).exp())
}

#[test]
fn both_forms_give_the_same_motion_and_events() {
    let mut session = Session::new();
    session.set_text("network.mo", network());
    let model = session.compile("Network").expect("a correct model");
    let (event, end) = exact(2.0);
    for solver in ["bdf", "radau", "esdirk", "auto", "dopri5"] {
        let experiment = model.experiment().stop_time(2.0).tolerance(1e-8);
        let experiment = experiment.solver(solver).expect("a solver of that name");
        let run = experiment.simulate().expect("the model can be simulated");
        let error = run.last("T[20]").expect("a state") - end;
        assert!(error.abs() < 2e-7, "{solver}: {error}");
        let times: Vec<f64> = run.events().iter().map(|e| e.time).collect();
        let found = times.iter().any(|t| (t - event).abs() < 2e-7);
        assert!(found, "{solver}: events at {times:?}, not at {event}");
        let s = &run.statistics;
        // Differences for the states alone would need one evaluation per state and Jacobian.
        let plain = s.rhs_evaluations < 8 * s.steps + N as u64;
        assert!(solver != "bdf" || (plain && s.jacobians > 2), "{s:?}");
    }
}

#[test]
fn the_jacobian_of_the_dae_form_is_that_of_its_functions() {
    let mut session = Session::new();
    session.set_text("network.mo", network());
    let compiled = session.compile("Network").expect("a correct model");
    let mut instance = compiled.compiled().instantiate();
    let mut values = instance.bind(0.0, &[]).expect("parameters");
    let system = instance.system(&values);
    let form = system.dae_form().expect("the block couples all states");
    let states: usize = system
        .state_pattern()
        .map_or(0, |p| p.iter().map(Vec::len).sum());
    assert_eq!((form.unknowns.len(), states), (N, N * N));
    let entries: usize = form.pattern.iter().map(Vec::len).sum();
    // f: T and u of the same mass; g: T, u and both neighbours.
    assert_eq!(entries, 2 * N + N + 3 * N - 2);
    let mut jacobian = vec![0.0; entries];
    assert_eq!(system.dae_jacobian(&mut values, &mut jacobian), Ok(true));
    let mut given = jacobian.iter();
    let columns = system.states().iter().map(|s| s.value);
    for (slot, rows) in columns
        .chain(form.unknowns.iter().copied())
        .zip(&form.pattern)
    {
        let x = values.get(slot);
        let mut at = |x: f64| {
            let mut out = vec![0.0; 2 * N];
            values.set(slot, x);
            system
                .dae_functions(&mut values, &mut out)
                .expect("defined");
            out
        };
        // Central differences err by about h² and ε/h of the values: both far below h of the slopes.
        let h = f64::EPSILON.cbrt();
        let (right, left) = (at(x + h), at(x - h));
        values.set(slot, x);
        for (row, (right, left)) in right.iter().zip(left).enumerate() {
            let slope = (right - left) / (2.0 * h);
            let expected = if rows.contains(&(row as u32)) {
                *given.next().expect("an entry")
            } else {
                0.0
            };
            assert!((slope - expected).abs() < h * slope.abs().max(1.0));
        }
    }
}
