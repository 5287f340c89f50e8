//! Defined behaviour on bad input: non-finite values, assertions, options, limits from outside.

use crate::common::{Memory, options, try_run};
use saltus_model::{FaultKind, Model, Slot};
use saltus_sim::{
    Control, OptionError, Options, OutputGrid, Phase, SimError, SolverName, simulate,
};
use saltus_solve::SolveError;
use saltus_testkit::blocks::{assertion, fallible};
use saltus_testkit::problems::{hysteresis_limiter, oscillator, restitution_ball};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn a_non_finite_derivative_names_its_slot() {
    for solver in [SolverName::Dopri5, SolverName::Radau] {
        // The solution 1/(1 - t) leaves every bound at t = 1; from x = 1e6 on the model returns NaN.
        let model = fallible(1.0, |_, x| Ok(if x > 1e6 { f64::NAN } else { x * x }));
        let (result, memory) = try_run(&model, &options(2.0, 1e-6, solver));
        let failure = result.expect_err("blows up");
        let SimError::StepTooSmall {
            time,
            cause: Some(cause),
            ..
        } = failure.error
        else {
            panic!("{:?}", failure.error)
        };
        assert!((time - 1.0).abs() < 1e-4, "{time}");
        assert_eq!(*cause, SolveError::NonFinite { slot: Slot(2) });
        assert!(memory.rows.len() > 40, "what was computed stays");
        assert!(failure.summary.statistics.steps > 10);
        assert!(failure.summary.time_reached > 0.9);
    }
}

#[test]
fn an_assertion_beyond_the_solution_only_makes_steps_smaller() {
    for solver in [SolverName::Dopri5, SolverName::Radau] {
        // x = e^-t stays above zero, but trial stages of a large step do not.
        let model = fallible(1.0, |_, x: f64| {
            if x >= 0.0 {
                Ok(-50.0 * x)
            } else {
                Err(assertion("x >= 0"))
            }
        });
        let mut options = options(1.0, 1e-3, solver);
        options.output = OutputGrid::Intervals(1);
        let (result, memory) = try_run(&model, &options);
        result.expect("recoverable");
        assert!(memory.last(Slot(1)).abs() < 1e-3);
    }
}

#[test]
fn an_assertion_on_the_solution_is_an_error_with_its_text() {
    let model = fallible(0.0, |_, x| {
        if x <= 0.5 {
            Ok(1.0)
        } else {
            Err(assertion("x <= 0.5"))
        }
    });
    let (result, _) = try_run(&model, &options(1.0, 1e-6, SolverName::Dopri5));
    let error = result.expect_err("asserted").error;
    let SimError::StepTooSmall {
        time,
        cause: Some(cause),
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert!((time - 0.5).abs() < 1e-12, "{time}");
    assert!(
        matches!(*cause, SolveError::Fault(fault) if fault.kind == FaultKind::assertion("x <= 0.5"))
    );
}

#[test]
fn an_assertion_at_the_start_is_an_error() {
    let (result, _) = try_run(
        &fallible(0.0, |_, _| Err(assertion("never"))),
        &options(1.0, 1e-6, SolverName::Dopri5),
    );
    let error = result.expect_err("asserted").error;
    assert!(
        matches!(
            error,
            SimError::Evaluation {
                phase: Phase::Initial,
                error: SolveError::Fault(_),
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn options_without_meaning_are_refused() {
    let refuse = |options: Options| match try_run(&oscillator(), &options)
        .0
        .expect_err("refused")
        .error
    {
        SimError::Options(error) => error,
        other => panic!("{other:?}"),
    };
    let base = Options::default();
    assert!(matches!(
        refuse(Options {
            stop_time: -1.0,
            ..base.clone()
        }),
        OptionError::Times { .. }
    ));
    assert!(matches!(
        refuse(Options {
            stop_time: f64::NAN,
            ..base.clone()
        }),
        OptionError::Times { .. }
    ));
    assert!(matches!(
        refuse(Options {
            tolerance: 0.0,
            ..base.clone()
        }),
        OptionError::Tolerance(_)
    ));
    assert!(matches!(
        refuse(Options {
            tolerance: f64::NAN,
            ..base.clone()
        }),
        OptionError::Tolerance(_)
    ));
    assert!(matches!(
        refuse(Options {
            output: OutputGrid::Interval(0.0),
            ..base.clone()
        }),
        OptionError::Output(_)
    ));
    assert!(matches!(
        refuse(Options {
            output: OutputGrid::Intervals(0),
            ..base.clone()
        }),
        OptionError::Output(_)
    ));
    assert!(matches!(
        refuse(Options {
            step_size_max: Some(0.0),
            ..base
        }),
        OptionError::StepSizeMax(_)
    ));
}

#[test]
fn clock_and_cancel_flag_end_a_run() {
    let mut memory = Memory::default();
    let options = Options {
        wall_seconds_max: Some(1.0),
        stop_time: 1e6,
        ..Options::default()
    };
    let ticks = AtomicU32::new(0);
    let clock = move || 0.3 * f64::from(ticks.fetch_add(1, Ordering::Relaxed));
    let clocked = Control::with_clock(Arc::new(clock));
    let result = simulate(
        &mut oscillator().instantiate(),
        &options,
        &clocked,
        &mut memory,
    );
    assert!(
        matches!(result.expect_err("late").error, SimError::WallClock { seconds, .. } if seconds > 1.0)
    );
    let cancelled = Control::new();
    cancelled.cancel();
    let result = simulate(
        &mut oscillator().instantiate(),
        &options,
        &cancelled,
        &mut memory,
    );
    assert!(matches!(
        result.expect_err("cancelled").error,
        SimError::Cancelled { .. }
    ));
}

#[test]
fn output_grid_is_made_by_multiplication_and_ends_at_the_stop_time() {
    let options = Options {
        output: OutputGrid::Interval(0.1),
        ..options(1.05, 1e-6, SolverName::Dopri5)
    };
    let (_, memory) = try_run(&oscillator(), &options);
    let times: Vec<f64> = memory.rows.iter().map(|row| row.1[0]).collect();
    let mut expected: Vec<f64> = (0..=10).map(|k| f64::from(k) * 0.1).collect();
    expected.push(1.05);
    assert_eq!(times, expected);
    for (_, row) in &memory.rows {
        assert!((row[1] - row[0].cos()).abs() < 1e-5);
    }
}

#[test]
fn without_events_relations_follow_and_nothing_is_located() {
    let options = Options {
        events: false,
        ..options(10.0, 1e-6, SolverName::Dopri5)
    };
    let (result, memory) = try_run(&hysteresis_limiter(), &options);
    let summary = result.expect("runs");
    assert!(summary.statistics.events_state >= 3);
    assert!((memory.last(Slot(1)) - 2.0 * 10.0f64.cos()).abs() < 1e-4);
}

#[test]
fn same_input_gives_the_same_bytes() {
    let bits = || {
        let (_, memory) = try_run(&restitution_ball(), &options(5.0, 1e-7, SolverName::Auto));
        memory
            .rows
            .iter()
            .flat_map(|row| row.1.iter().map(|v| v.to_bits()))
            .collect::<Vec<_>>()
    };
    assert_eq!(bits(), bits());
}
