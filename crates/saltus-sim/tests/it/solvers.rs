//! Choice of method, statistics, restarts.

use crate::common::{STEPS_ADD_UP, assert_times, options, run};
use saltus_model::Slot;
use saltus_model::ode::OdeProblem;
use saltus_sim::{EventKind, LocationMethod, NoteRecord, Options, OutputGrid, SolverName};
use saltus_testkit::problems::{oscillator, spring_ball, spring_ball_time, van_der_pol};

#[test]
fn auto_stays_explicit_on_smooth_problems_and_says_when_it_changes() {
    let (summary, memory) = run(&oscillator(), &options(50.0, 1e-6, SolverName::Auto));
    assert_eq!(summary.statistics.solver, "dopri5");
    assert_eq!(memory.notes, []);
    let (summary, memory) = run(&van_der_pol(), &options(2.0, 1e-4, SolverName::Auto));
    assert_eq!(summary.statistics.solver, "radau");
    assert!(matches!(memory.notes[..], [NoteRecord::Stiff { .. }]));
    let [
        (SolverName::Dopri5, explicit),
        (SolverName::Radau, implicit),
    ] = summary.statistics.methods[..]
    else {
        panic!("{:?}", summary.statistics.methods)
    };
    assert_eq!(explicit + implicit, summary.statistics.steps);
}

#[test]
fn error_follows_the_tolerance() {
    for (solver, factor) in [
        (SolverName::Dopri5, 100.0),
        (SolverName::Dop853, 100.0),
        (SolverName::Radau, 100.0),
        (SolverName::Esdirk, 100.0),
        // Many more steps, whose errors add up in an undamped motion.
        (SolverName::Bdf, 1000.0),
    ] {
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
            let (_, memory) = run(&oscillator(), &options(10.0, tolerance, solver));
            let error = (memory.last(Slot(1)) - 10.0f64.cos()).abs();
            assert!(
                error < factor * tolerance,
                "{solver:?} {tolerance}: {error}"
            );
        }
    }
}

/// The methods of the source documents run models with events like the others.
#[test]
fn textbook_methods_pass_events() {
    let expected: Vec<f64> = (1..=4).map(spring_ball_time).collect();
    let stop = 0.5 * (spring_ball_time(4) + spring_ball_time(5));
    for (solver, tolerance, late) in [
        (SolverName::Euler, 1e-5, 5e-2),
        (SolverName::Rk4, 1e-9, 1e-7),
        (SolverName::RungeKuttaSimpson, 1e-9, 1e-7),
        (SolverName::Rkf45, 1e-9, 1e-7),
        (SolverName::BackwardEuler, 1e-5, 5e-2),
        (SolverName::Trapezoidal, 1e-8, 1e-5),
        (SolverName::Lobatto, 1e-8, 1e-5),
    ] {
        let (summary, memory) = run(&spring_ball(), &options(stop, tolerance, solver));
        assert_times(&memory.times(EventKind::State), &expected, late);
        assert_eq!(summary.statistics.solver, solver.as_str());
    }
}

/// Whatever the method of location, the event is at the root of the interpolant.
#[test]
fn methods_of_location_find_the_same_events() {
    let stop = 0.5 * (spring_ball_time(6) + spring_ball_time(7));
    for solver in [SolverName::Dopri5, SolverName::Radau] {
        let times = |event_method: LocationMethod| {
            let options = Options {
                event_method,
                ..options(stop, 1e-8, solver)
            };
            run(&spring_ball(), &options).1.times(EventKind::State)
        };
        let expected = times(LocationMethod::Bisection);
        assert_eq!(expected.len(), 6);
        for method in LocationMethod::ALL {
            let found = times(method);
            assert_eq!(found.len(), 6, "{method:?}");
            // What the first is off by, the others inherit.
            let ulp = expected[0].next_up() - expected[0];
            assert!((found[0] - expected[0]).abs() <= 4.0 * ulp, "{method:?}");
            assert_times(&found, &expected, 1e-12);
        }
    }
}

/// x' = sech²((t - c)/w)/w has the integral tanh((t - c)/w): a peak of width w that explicit steps of length 1 pass over between two stages, with
/// error estimates that see its flanks at most. Rows inside the steps show it.
#[test]
fn what_rows_show_between_stages_is_not_missed() {
    const WIDTH: f64 = 0.02;
    const TOLERANCE: f64 = 1e-6;
    let centres = || (1..=20).map(|k| 5.0 * f64::from(k) + (2.7 * f64::from(k)).sin());
    let peaks = OdeProblem::new("peaks", &[("x", 0.0)], move |at, dx| {
        let slope = |c: f64| 1.0 / (WIDTH * ((at.t - c) / WIDTH).cosh().powi(2));
        dx[0] = centres().map(slope).sum();
    });
    let peaks = peaks.build();
    let exact = 2.0 * centres().count() as f64;
    let error_with = |solver, rows| {
        let mut options = options(105.0, TOLERANCE, solver);
        options.output = OutputGrid::Intervals(rows);
        let (_, memory) = run(&peaks, &options);
        (memory.last(Slot(1)) - exact).abs()
    };
    for solver in [SolverName::Dopri5, SolverName::Dop853] {
        for rows in [1000, 5000, 20_000] {
            let error = error_with(solver, rows);
            assert!(
                error < STEPS_ADD_UP * TOLERANCE * (exact + 1.0),
                "{solver:?}, {rows} rows: {error}"
            );
        }
        // Where no row looks, most peaks are missed: the promise is about rows.
        assert!(error_with(solver, 1) > 0.5 * exact);
    }
}
