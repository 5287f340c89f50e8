//! Blocks of equations: large ones on a sparse pattern, solutions that stay.

use saltus_model::{Instance, Model, ScheduleKind};
use saltus_solve::{Accuracy, Driver, Guess, Tolerances};
use saltus_testkit::blocks::{
    BRATU_FIRST, SCALAR_UNKNOWN, bratu, bratu_exact, linear_system, scalar_equation,
};

#[test]
fn thousands_of_unknowns_need_only_their_pattern() {
    let n = 5000;
    for exact in [true, false] {
        let model = bratu(n, exact);
        let mut instance = model.instantiate();
        let mut values = instance.bind(0.0, &[]).expect("has values");
        let system = instance.system(&values);
        let mut driver = Driver::new(system, model.info(), Tolerances::new(1e-6));
        driver
            .run(
                system,
                ScheduleKind::Derivatives,
                &mut values,
                Accuracy::Trial,
                Guess::Current,
            )
            .expect("is solved");
        for i in 0..n {
            let z = (i as f64 + 1.0) / (n as f64 + 1.0);
            let found = values.v[BRATU_FIRST.index() + i];
            let error = (found - bratu_exact(z)).abs();
            assert!(error < 1e-7, "{i}: {found} {error:e}");
        }
        // Three colours and the point itself per Jacobian by differences.
        let counters = driver.counters;
        assert!(counters.newton_iterations < 8, "{counters:?}");
        let differences = if exact { 0 } else { 4 * counters.jacobians };
        assert!(
            counters.residuals <= 2 + counters.newton_iterations + differences,
            "{counters:?}"
        );
    }
}

#[test]
fn a_solution_that_is_solved_for_again_stays_the_same() {
    // The second is a cubic near a triple root: its residual is round-off in a wide neighbourhood, in which better points may be found
    // a few times, each at least twice as good.
    let equations: [(fn(f64, f64) -> f64, usize); 2] = [
        (|u, k| (k * u).cos() - u, 0),
        (
            |u, k| ((u - 6.0) * u + 12.0) * u - 8.0 + 1e-3 * (u - 1.9 - 0.01 * k),
            10,
        ),
    ];
    for (which, (g, settling)) in equations.into_iter().enumerate() {
        for k in 0..200 {
            let k = 0.5 + 0.01 * f64::from(k);
            let model = scalar_equation(1.0, false, (-10.0, 10.0), move |u, _| Ok(g(u, k)));
            let mut instance = model.instantiate();
            let mut values = instance.bind(0.0, &[]).expect("has values");
            let system = instance.system(&values);
            let mut driver = Driver::new(system, model.info(), Tolerances::new(1e-6));
            let mut solve = || {
                let (kind, how) = (ScheduleKind::Event, Accuracy::Tight);
                let solved = driver.run(system, kind, &mut values, how, Guess::Current);
                solved.expect("is solved");
                values.get(SCALAR_UNKNOWN)
            };
            let first = (0..settling).fold(solve(), |_, _| solve());
            for _ in 0..5 {
                assert_eq!(solve().to_bits(), first.to_bits(), "{which}, k = {k}");
            }
        }
    }
}

#[test]
fn a_matrix_that_changes_at_events_only_is_factored_once_between_them() {
    let rows: [&[f64]; 2] = [&[2.0, 1.0], &[1.0, 3.0]];
    let model = linear_system(&rows, &[3.0, 4.0]);
    let mut instance = model.instantiate();
    let mut values = instance.bind(0.0, &[]).expect("has values");
    let system = instance.system(&values);
    let mut driver = Driver::new(system, model.info(), Tolerances::new(1e-6));
    let mut jacobians = |kind, forget: bool| {
        if forget {
            driver.forget_factors();
        }
        let before = driver.counters.jacobians;
        let solved = driver.run(system, kind, &mut values, Accuracy::Trial, Guess::Current);
        solved.expect("is solved");
        driver.counters.jacobians - before
    };
    assert_eq!(jacobians(ScheduleKind::Outputs, false), 1);
    assert_eq!(jacobians(ScheduleKind::Outputs, false), 0);
    assert_eq!(jacobians(ScheduleKind::Event, false), 1);
    assert_eq!(jacobians(ScheduleKind::Outputs, true), 1);
}

/// Enthalpies of 1e5 times flows of 1e3 leave steps of 1e-8, in which no change of the unknown is seen: closer to zero than half a step nothing comes.
#[test]
fn residuals_that_are_round_off_of_large_terms_count_as_zero() {
    for (scale, step) in [(1e8, 1.5e-8), (-3e7, 4e-9), (1e6, 2e-10)] {
        for k in 0..100 {
            let w = 1e-5 * (1.0 + f64::from(k));
            let equation = move |u: f64| (scale + (u + 0.1 * u * u * u)) - (scale + w);
            let model = scalar_equation(0.0, false, (-10.0, 10.0), move |u, _| Ok(equation(u)));
            let mut instance = model.instantiate();
            let mut values = instance.bind(0.0, &[]).expect("has values");
            let system = instance.system(&values);
            let mut driver = Driver::new(system, model.info(), Tolerances::new(1e-6));
            let (kind, how) = (ScheduleKind::Event, Accuracy::Tight);
            let solved = driver.run(system, kind, &mut values, how, Guess::Current);
            solved.unwrap_or_else(|error| panic!("{scale:e}, {w:e}: {error:?}"));
            let u = values.get(SCALAR_UNKNOWN);
            let error = u + 0.1 * u * u * u - w;
            assert!(error.abs() <= 4.0 * step, "{scale:e}, {w:e}: {error:e}");
        }
    }
}

/// A parabola that does not reach zero: its least value may be as small as it likes, it is no round-off.
#[test]
fn a_small_residual_that_is_no_round_off_is_no_solution() {
    for least in [1e-4, 1e-8, 1e-10, 1e-12] {
        let model = scalar_equation(1.0, false, (-10.0, 10.0), move |u, _| Ok(u * u + least));
        let mut instance = model.instantiate();
        let mut values = instance.bind(0.0, &[]).expect("has values");
        let system = instance.system(&values);
        let mut driver = Driver::new(system, model.info(), Tolerances::new(1e-6));
        let (kind, how) = (ScheduleKind::Event, Accuracy::Tight);
        let solved = driver.run(system, kind, &mut values, how, Guess::Current);
        assert!(solved.is_err(), "{least:e}: {}", values.get(SCALAR_UNKNOWN));
    }
}
