//! States that are chosen during the run: conserved quantities over many choices, and what the log says of them.

use crate::mdtest::root;
use saltus::results::EventKind;
use saltus::{Model, Session};

fn pendulum() -> Model {
    let file = root().join("models/pendulum-cartesian-over/model.mo");
    let mut session = Session::new();
    let class = session.load_file(file).expect("the model");
    session.compile(&class).expect("compiled")
}

#[test]
fn the_pendulum_keeps_its_energy_from_any_start() {
    let compiled = pendulum();
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut uniform = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as f64 / (1u64 << 53) as f64
    };
    for case in 0..40 {
        let (angle, speed, g) = (
            std::f64::consts::TAU * uniform(),
            20.0 * uniform() - 10.0,
            20.0 * uniform(),
        );
        let run = compiled
            .experiment()
            .set("g", g)
            .set("x", angle.sin())
            .set("y", -angle.cos())
            .set("vx", speed * angle.cos())
            .set("vy", speed * angle.sin())
            .stop_time(5.0)
            .tolerance(1e-10)
            .simulate()
            .unwrap_or_else(|e| panic!("case {case}: {e}"));
        let exact = speed * speed / 2.0 - g * angle.cos();
        for time in [1.0, 2.5, 5.0] {
            let energy = run.at("energy", time).expect("a variable");
            let scale = 1.0 + speed * speed + g;
            assert!(
                (energy - exact).abs() < 1e-7 * scale,
                "case {case} at {time}: {energy}, not {exact}"
            );
            let drift = run.at("drift", time).expect("a variable");
            assert!(drift.abs() < 1e-10, "case {case} at {time}: drift {drift}");
        }
    }
}

#[test]
fn a_change_of_states_is_logged_and_costs_no_small_steps() {
    let compiled = pendulum();
    let run = compiled
        .experiment()
        .stop_time(10.0)
        .tolerance(1e-9)
        .record_steps(true)
        .simulate()
        .expect("a result");
    let changes: Vec<_> = (run.events().iter())
        .filter(|e| e.kind == EventKind::Step)
        .collect();
    // Four in each of the 7.7 turns.
    assert!((28..=34).contains(&changes.len()), "{}", changes.len());
    let names = ["set1.state[1](x)", "set1.state[1](y)"];
    for (k, change) in changes.iter().enumerate() {
        let found: Vec<(&str, f64)> = (change.changed.iter())
            .map(|c| (c.variable.as_str(), c.after))
            .collect();
        let x = if k % 2 == 0 { 0.0 } else { 1.0 };
        assert_eq!(found, [(names[0], x), (names[1], 1.0 - x)]);
    }
    // The step size goes on: no attempt is rejected more than twice.
    assert!(run.steps.iter().all(|step| step.rejected <= 2));
    assert!(run.statistics.steps < 300, "{}", run.statistics.steps);
}

#[test]
fn every_solver_passes_changes_of_states() {
    let compiled = pendulum();
    for solver in ["dopri5", "dop853", "radau", "esdirk", "bdf"] {
        let run = compiled
            .experiment()
            .solver(solver)
            .expect("a solver")
            .stop_time(10.0)
            .tolerance(1e-9)
            .simulate()
            .unwrap_or_else(|e| panic!("{solver}: {e}"));
        let x = run.last("x").expect("a variable");
        assert!((x + 0.915_728_346_704).abs() < 2e-5, "{solver}: {x}");
    }
}
