//! Order of the methods and of their interpolants, exactness for polynomials, landing, fault recovery.

use saltus_solve::{
    Discontinuity, Dopri5, Integrator, Problem, Radau, SolveError, SolverName, Start, StepError,
    StepLimits, Tolerances,
};

struct Ode<F> {
    n: usize,
    f: F,
}

impl<F: FnMut(f64, &[f64], &mut [f64]) -> Result<(), SolveError>> Problem for Ode<F> {
    fn n_states(&self) -> usize {
        self.n
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (self.f)(t, x, dx)
    }
}

fn ode<F: FnMut(f64, &[f64], &mut [f64])>(n: usize, mut f: F) -> impl Problem {
    Ode {
        n,
        f: move |t, x: &[f64], dx: &mut [f64]| -> Result<(), SolveError> {
            f(t, x, dx);
            Ok(())
        },
    }
}

/// x' = x cos t, x = exp(sin t).
fn growth() -> impl Problem {
    ode(1, |t, x, dx| dx[0] = x[0] * t.cos())
}

fn exact(t: f64) -> f64 {
    t.sin().exp()
}

/// x'' = -x: linear and autonomous, so that the simplified Newton iteration of the implicit method is exact after one step.
fn oscillator() -> impl Problem {
    ode(2, |_, x, dx| {
        dx[0] = x[1];
        dx[1] = -x[0];
    })
}

/// All methods that a name stands for.
const METHODS: [SolverName; 5] = [
    SolverName::Dopri5,
    SolverName::Dop853,
    SolverName::Radau,
    SolverName::Esdirk,
    SolverName::Bdf,
];

const IMPLICIT: [SolverName; 2] = [SolverName::Radau, SolverName::Esdirk];

/// Tolerances that accept every step and leave the step size to the limits.
const LOOSE: Tolerances = Tolerances { rel: 1.0, abs: 1.0 };

fn begin(solver: SolverName, t: f64, problem: &mut impl Problem) -> Integrator {
    let mut integrator = Integrator::new(solver, LOOSE, &[1e3, 1e3]);
    let limits = StepLimits {
        time_end: t + 100.0,
        step_size_max: 100.0,
    };
    integrator
        .begin(problem, t, &[t.cos(), -t.sin()], limits)
        .expect("starts");
    integrator
}

/// Error at t = 4 after steps of equal size.
fn global_error(solver: SolverName, steps: u32) -> f64 {
    let mut problem = oscillator();
    let mut integrator = begin(solver, 0.0, &mut problem);
    for k in 1..=steps {
        integrator
            .step_whole(&mut problem, 4.0 * f64::from(k) / f64::from(steps))
            .expect("steps");
    }
    assert_eq!(integrator.statistics().steps, u64::from(steps));
    (integrator.state()[0] - 4.0f64.cos()).hypot(integrator.state()[1] + 4.0f64.sin())
}

/// Largest error of the interpolant inside one step from the exact solution.
fn interpolation_error(solver: SolverName, h: f64) -> f64 {
    let mut problem = oscillator();
    let t = 0.3;
    let mut integrator = begin(solver, t, &mut problem);
    integrator
        .step_whole(&mut problem, t + h)
        .expect("one step");
    let mut x = [0.0; 2];
    (1..20).fold(0.0, |worst: f64, k| {
        let t = t + f64::from(k) / 20.0 * h;
        integrator.interpolate(t, &mut x);
        worst.max((x[0] - t.cos()).hypot(x[1] + t.sin()))
    })
}

fn measured_order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

#[test]
fn measured_order_is_the_theory() {
    for (solver, order, steps) in [
        (SolverName::Dopri5, 5.0, 40),
        (SolverName::Dop853, 8.0, 8),
        (SolverName::Radau, 5.0, 16),
        (SolverName::Esdirk, 5.0, 16),
        (SolverName::Euler, 1.0, 2000),
        (SolverName::Rk4, 4.0, 40),
        (SolverName::RungeKuttaSimpson, 4.0, 40),
        (SolverName::Rkf45, 4.0, 40),
        (SolverName::BackwardEuler, 1.0, 2000),
        (SolverName::Trapezoidal, 2.0, 200),
        (SolverName::Lobatto, 4.0, 40),
    ] {
        let found = measured_order(global_error(solver, steps), global_error(solver, 2 * steps));
        assert!((found - order).abs() < 0.2, "{solver:?}: {found}");
    }
}

#[test]
fn dense_output_has_its_order() {
    // Local error: one power more than the order of the interpolant, 4 for DOPRI5, ESDIRK, RK4 and RKF4(5), 7 for DOP853, 3 for the collocation
    // polynomial and Lobatto IIIC.
    for (solver, power, h) in [
        (SolverName::Dopri5, 5.0, 0.1),
        (SolverName::Dop853, 8.0, 0.4),
        (SolverName::Radau, 4.0, 0.1),
        (SolverName::Esdirk, 5.0, 0.1),
        (SolverName::Euler, 2.0, 0.01),
        (SolverName::Rk4, 5.0, 0.1),
        (SolverName::RungeKuttaSimpson, 5.0, 0.1),
        (SolverName::Rkf45, 5.0, 0.1),
        (SolverName::BackwardEuler, 2.0, 0.01),
        (SolverName::Trapezoidal, 3.0, 0.05),
        (SolverName::Lobatto, 4.0, 0.1),
    ] {
        let found = measured_order(
            interpolation_error(solver, h),
            interpolation_error(solver, 0.5 * h),
        );
        assert!((found - power).abs() < 0.2, "{solver:?}: {found}");
    }
}

/// One step over (0, 1) of x' = (d) t^(d-1), x = t^d.
fn polynomial_error(solver: SolverName, degree: i32) -> f64 {
    let mut integrator = Integrator::new(
        solver,
        Tolerances {
            rel: 1e-13,
            abs: 1e-13,
        },
        &[1e16],
    );
    let mut problem = ode(1, move |t, _, dx| {
        dx[0] = f64::from(degree) * t.powi(degree - 1)
    });
    let limits = StepLimits {
        time_end: 1.0,
        step_size_max: 1.0,
    };
    integrator
        .begin(&mut problem, 0.0, &[0.0], limits)
        .expect("starts");
    integrator.step_whole(&mut problem, 1.0).expect("one step");
    assert_eq!(integrator.time(), 1.0);
    (integrator.state()[0] - 1.0).abs()
}

#[test]
fn exact_for_polynomials_of_the_order_and_not_beyond() {
    for (solver, order) in [
        (SolverName::Dopri5, 5),
        (SolverName::Dop853, 8),
        (SolverName::Radau, 5),
        (SolverName::Esdirk, 5),
        (SolverName::Euler, 1),
        (SolverName::Rk4, 4),
        (SolverName::RungeKuttaSimpson, 4),
        (SolverName::Rkf45, 4),
        (SolverName::BackwardEuler, 1),
        (SolverName::Trapezoidal, 2),
        (SolverName::Lobatto, 4),
    ] {
        for degree in 1..=order {
            let error = polynomial_error(solver, degree);
            assert!(error < 1e-14, "{solver:?} {degree}: {error}");
        }
        let error = polynomial_error(solver, order + 1);
        assert!(error > 1e-6, "{solver:?}: {error}");
    }
}

#[test]
fn steps_land_on_their_limit_without_slivers() {
    for solver in METHODS {
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[1.0]);
        let mut problem = growth();
        let mut limits = StepLimits {
            time_end: 0.1,
            step_size_max: 0.5,
        };
        integrator
            .begin(&mut problem, 0.0, &[1.0], limits)
            .expect("starts");
        let mut sizes = Vec::new();
        for k in 1..=30 {
            limits.time_end = f64::from(k) * 0.1;
            while integrator.time() < limits.time_end {
                integrator.step(&mut problem, limits).expect("steps");
                // Multistep methods begin with steps as small as this.
                if k > 5 {
                    sizes.push(integrator.step_size());
                }
            }
            assert_eq!(integrator.time(), f64::from(k) * 0.1);
        }
        let small = sizes.iter().filter(|h| **h < 0.02).count();
        assert_eq!(small, 0, "{solver:?} {sizes:?}");
    }
}

#[test]
fn a_multistep_method_survives_slivers() {
    // Pairs and triples of limits one unit of time resolution apart, as two calendars with the same period make them.
    let run = |copies: u32| {
        let mut integrator = Integrator::new(SolverName::Bdf, Tolerances::new(1e-6), &[1.0, 1.0]);
        let mut problem = oscillator();
        let mut limits = StepLimits {
            time_end: 0.5,
            step_size_max: 0.5,
        };
        integrator
            .begin(&mut problem, 0.0, &[1.0, 0.0], limits)
            .expect("starts");
        for k in 1..=20 {
            limits.time_end = f64::from(k) * 0.5;
            for _ in 0..copies {
                while integrator.time() < limits.time_end {
                    integrator.step(&mut problem, limits).expect("steps");
                }
                limits.time_end = limits.time_end.next_up();
            }
        }
        let t = integrator.time();
        let error = (integrator.state()[0] - t.cos()).hypot(integrator.state()[1] + t.sin());
        (integrator.statistics().steps, error)
    };
    let (steps, error) = run(1);
    let (steps_pairs, error_pairs) = run(2);
    let (_, error_triples) = run(3);
    assert!(steps_pairs < steps + 40, "{steps} {steps_pairs}");
    assert!(
        error.max(error_pairs).max(error_triples) < 2e-4,
        "{error} {error_pairs} {error_triples}"
    );
}

#[test]
fn a_recoverable_fault_shrinks_the_step_and_a_wall_is_reported_with_its_cause() {
    for solver in METHODS {
        let slot = saltus_model::Slot(4);
        let mut problem = Ode {
            n: 1,
            f: |t: f64, _: &[f64], dx: &mut [f64]| {
                dx[0] = 1.0;
                if t > 0.5 {
                    Err(SolveError::NonFinite { slot })
                } else {
                    Ok(())
                }
            },
        };
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[1.0]);
        let limits = StepLimits {
            time_end: 1.0,
            step_size_max: 1.0,
        };
        integrator
            .begin(&mut problem, 0.0, &[0.0], limits)
            .expect("starts");
        let error = loop {
            if let Err(error) = integrator.step(&mut problem, limits) {
                break error;
            }
        };
        let StepError::TooSmall { time, cause, .. } = error else {
            panic!("{error:?}")
        };
        assert!((time - 0.5).abs() < 1e-13, "{solver:?} {time}");
        assert_eq!(cause.as_deref(), Some(&SolveError::NonFinite { slot }));
    }
}

#[test]
fn stiff_decay_costs_implicit_methods_few_steps_and_stays_bounded() {
    for solver in IMPLICIT {
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[1.0]);
        let mut problem = ode(1, |t, x, dx| dx[0] = -1e6 * (x[0] - t.cos()));
        let limits = StepLimits {
            time_end: 10.0,
            step_size_max: 10.0,
        };
        integrator
            .begin(&mut problem, 0.0, &[2.0], limits)
            .expect("starts");
        while integrator.time() < 10.0 {
            integrator.step(&mut problem, limits).expect("steps");
        }
        assert!((integrator.state()[0] - 10.0f64.cos()).abs() < 1e-5);
        assert!(
            integrator.statistics().steps < 100,
            "{solver:?} {:?}",
            integrator.statistics()
        );
    }
}

#[test]
fn restarts_from_interpolated_values_stay_bounded_when_stiff() {
    for solver in IMPLICIT {
        // λh = -1e6 at every restart, 1e4 restarts from inside the step.
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-4), &[1.0]);
        let lambda = 1e6;
        let mut problem = ode(1, move |_, x, dx| dx[0] = -lambda * x[0]);
        let (mut t, mut x) = (0.0, [1.0]);
        for _ in 0..10_000 {
            let limits = StepLimits {
                time_end: t + 1.0,
                step_size_max: 1.0,
            };
            integrator
                .begin(&mut problem, t, &x, limits)
                .expect("starts");
            integrator.step_whole(&mut problem, t + 1.0).expect("steps");
            t += 0.7;
            integrator.interpolate(t.min(integrator.time()), &mut x);
            t = t.min(integrator.time());
            assert!(x[0].abs() <= 1.0, "{solver:?}");
        }
    }
}

#[test]
fn columns_that_share_no_row_are_differenced_together() {
    struct Chain(Vec<Vec<u32>>);
    impl Problem for Chain {
        fn n_states(&self) -> usize {
            self.0.len()
        }
        fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
            let n = x.len();
            for i in 0..n {
                let left = if i > 0 { x[i - 1] } else { 1.0 };
                let right = if i + 1 < n { x[i + 1] } else { 0.0 };
                dx[i] = 1e4 * (left - 2.0 * x[i] + right);
            }
            Ok(())
        }
        fn pattern(&self) -> Option<&[Vec<u32>]> {
            Some(&self.0)
        }
    }
    let n = 40u32;
    let mut problem = Chain(
        (0..n)
            .map(|i| (i.saturating_sub(1)..=(i + 1).min(n - 1)).collect())
            .collect(),
    );
    let mut integrator = Integrator::new(
        SolverName::Radau,
        Tolerances::new(1e-6),
        &vec![1.0; n as usize],
    );
    let limits = StepLimits {
        time_end: 1.0,
        step_size_max: 1.0,
    };
    integrator
        .begin(&mut problem, 0.0, &vec![0.0; n as usize], limits)
        .expect("starts");
    while integrator.time() < 1.0 {
        integrator.step(&mut problem, limits).expect("steps");
    }
    for (i, x) in integrator.state().iter().enumerate() {
        let exact = 1.0 - (i as f64 + 1.0) / (f64::from(n) + 1.0);
        assert!((x - exact).abs() < 1e-5, "{i}: {x} {exact}");
    }
    let statistics = integrator.statistics();
    let per_jacobian = 4;
    assert!(
        statistics.rhs_evaluations
            < 12 * (statistics.steps + statistics.steps_rejected)
                + per_jacobian * statistics.jacobians
    );
}

#[test]
fn methods_can_be_used_alone() {
    let mut problem = growth();
    let limits = StepLimits {
        time_end: 1.0,
        step_size_max: 1.0,
    };
    let start = Start {
        t: 0.0,
        x: &[1.0],
        dx: None,
        change: Discontinuity::Dynamics,
    };
    let mut explicit = Dopri5::new(Tolerances::new(1e-8), &[1.0]);
    explicit.begin(&mut problem, start, limits).expect("starts");
    let mut implicit = Radau::new(Tolerances::new(1e-8), &[1.0]);
    implicit.begin(&mut problem, start, limits).expect("starts");
    while explicit.time() < 1.0 {
        explicit.step(&mut problem, limits).expect("steps");
    }
    while implicit.time() < 1.0 {
        implicit.step(&mut problem, limits).expect("steps");
    }
    assert!((explicit.state()[0] - exact(1.0)).abs() < 1e-7);
    assert!((implicit.state()[0] - exact(1.0)).abs() < 1e-7);
}

fn evaluations_counted(count: &std::cell::Cell<u64>) -> impl Problem + '_ {
    ode(1, move |t: f64, x: &[f64], dx: &mut [f64]| {
        count.set(count.get() + 1);
        dx[0] = x[0] * t.cos();
    })
}

#[test]
fn a_restart_costs_two_evaluations_and_keeps_the_step_size() {
    let limits = StepLimits {
        time_end: 10.0,
        step_size_max: 10.0,
    };
    for solver in METHODS {
        let count = std::cell::Cell::new(0);
        let mut problem = evaluations_counted(&count);
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[1.0]);
        integrator
            .begin(&mut problem, 0.0, &[1.0], limits)
            .expect("starts");
        for _ in 0..10 {
            integrator.step(&mut problem, limits).expect("steps");
        }
        assert_eq!(
            count.get(),
            integrator.statistics().rhs_evaluations,
            "{solver:?}"
        );
        let before = count.get();
        let (t, x, h) = (
            integrator.time(),
            [integrator.state()[0]],
            integrator.step_size(),
        );
        integrator
            .begin(&mut problem, t, &x, limits)
            .expect("starts again");
        assert_eq!(count.get() - before, 2, "{solver:?}");
        integrator.step(&mut problem, limits).expect("steps");
        let first = integrator.step_size() / h;
        // A multistep method begins again at order 1.
        let smallest = if solver == SolverName::Bdf { 1e-3 } else { 0.1 };
        assert!(first > smallest, "{solver:?} {first}");
    }
}

#[test]
fn the_interpolant_of_dop853_costs_three_evaluations_and_only_when_asked_for() {
    let limits = StepLimits {
        time_end: 1.0,
        step_size_max: 0.5,
    };
    let count = std::cell::Cell::new(0);
    let mut problem = evaluations_counted(&count);
    let mut integrator = Integrator::new(SolverName::Dop853, Tolerances::new(1e-10), &[1.0]);
    integrator
        .begin(&mut problem, 0.0, &[1.0], limits)
        .expect("starts");
    integrator.step_bare(&mut problem, limits).expect("steps");
    let bare = count.get();
    assert_eq!(bare, 2 + 12);
    for _ in 0..2 {
        integrator
            .complete_interpolant(&mut problem)
            .expect("completes");
        assert_eq!(count.get(), bare + 3);
    }
    let t = 0.4 * integrator.time();
    let mut x = [0.0];
    integrator.interpolate(t, &mut x);
    assert!((x[0] - exact(t)).abs() < 1e-11);
}

#[test]
fn a_derivative_that_is_not_finite_is_reported_with_time_and_state() {
    for bad in [f64::NAN, f64::INFINITY] {
        for solver in METHODS {
            let limits = StepLimits {
                time_end: 1.0,
                step_size_max: 1.0,
            };
            let mut problem = ode(2, move |t, x, dx| {
                dx[0] = -x[0];
                dx[1] = if t > 0.5 { bad } else { 1.0 };
            });
            let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[1.0, 1.0]);
            integrator
                .begin(&mut problem, 0.0, &[1.0, 0.0], limits)
                .expect("starts");
            let error = loop {
                if let Err(error) = integrator.step(&mut problem, limits) {
                    break error;
                }
            };
            let StepError::TooSmall { time, cause, .. } = error else {
                panic!("{solver:?} {error:?}")
            };
            assert!((time - 0.5).abs() < 1e-13, "{solver:?} {time}");
            assert_eq!(
                cause.as_deref(),
                Some(&SolveError::NonFiniteDerivative { state: 1 }),
                "{solver:?} {bad}"
            );
            assert_eq!(
                integrator.time(),
                time,
                "{solver:?}: what was reached stays"
            );

            let mut never = ode(1, move |_, _, dx| dx[0] = bad);
            let error = Integrator::new(solver, Tolerances::new(1e-6), &[1.0])
                .begin(&mut never, 0.0, &[1.0], limits)
                .expect_err("has no derivative");
            let expected = SolveError::NonFiniteDerivative { state: 0 };
            assert_eq!(
                error,
                StepError::Fatal {
                    time: 0.0,
                    error: Box::new(expected)
                },
                "{solver:?}"
            );
        }
    }
}

#[test]
fn tolerances_without_meaning_are_an_error() {
    let limits = StepLimits {
        time_end: 1.0,
        step_size_max: 1.0,
    };
    for solver in METHODS {
        for bad in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
            let tolerances = Tolerances {
                rel: 1e-6,
                abs: bad,
            };
            for tolerances in [Tolerances::new(bad), tolerances] {
                let error = Integrator::new(solver, tolerances, &[1.0])
                    .begin(&mut growth(), 0.0, &[1.0], limits)
                    .expect_err("cannot be met");
                assert!(
                    matches!(error, StepError::Tolerances(_)),
                    "{solver:?} {bad} {error:?}"
                );
            }
        }
    }
}

#[test]
fn a_solution_that_ends_is_an_error_where_it_ends() {
    // x' = x², x = 1/(1 - t)
    for solver in METHODS {
        let mut problem = ode(1, |_, x, dx| dx[0] = x[0] * x[0]);
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[1.0]);
        let limits = StepLimits {
            time_end: 2.0,
            step_size_max: 1.0,
        };
        integrator
            .begin(&mut problem, 0.0, &[1.0], limits)
            .expect("starts");
        let error = (0..100_000).find_map(|_| integrator.step(&mut problem, limits).err());
        let Some(StepError::TooSmall { time, state, .. }) = error else {
            panic!("{solver:?} {error:?} at {}", integrator.time())
        };
        assert!((time - 1.0).abs() < 1e-3, "{solver:?} {time}");
        assert_eq!(state, Some(0));
    }
}

#[test]
fn no_states_are_no_problem() {
    for solver in METHODS {
        let mut problem = ode(0, |_, _, _| {});
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[]);
        let limits = StepLimits {
            time_end: 1.0,
            step_size_max: 0.3,
        };
        integrator
            .begin(&mut problem, 0.0, &[], limits)
            .expect("starts");
        while integrator.time() < 1.0 {
            integrator.step(&mut problem, limits).expect("steps");
        }
        assert_eq!(integrator.time(), 1.0, "{solver:?}");
    }
}

fn run_auto(
    problem: &mut impl Problem,
    tolerance: f64,
    start: &[f64],
    time_end: f64,
) -> (Integrator, Vec<SolverName>) {
    let limits = StepLimits {
        time_end,
        step_size_max: time_end,
    };
    let nominal = vec![1.0; start.len()];
    let mut integrator = Integrator::new(SolverName::Auto, Tolerances::new(tolerance), &nominal);
    integrator
        .begin(problem, 0.0, start, limits)
        .expect("starts");
    while integrator.time() < time_end {
        integrator.step(problem, limits).expect("steps");
    }
    let used = integrator.methods_used().map(|(name, _)| name).collect();
    (integrator, used)
}

#[test]
fn auto_takes_the_method_of_order_8_at_tight_tolerances_and_stays_explicit() {
    for (tolerance, expected) in [(1e-6, SolverName::Dopri5), (1e-10, SolverName::Dop853)] {
        let (integrator, used) = run_auto(&mut oscillator(), tolerance, &[1.0, 0.0], 50.0);
        assert_eq!(used, [expected]);
        assert_eq!(integrator.statistics().stiff_switches, 0);
    }
}

#[test]
fn auto_changes_to_an_implicit_method_and_back() {
    // Van der Pol, ε = 1e-6: slow stiff parts and fast jumps, where explicit steps are cheaper.
    let van_der_pol = || {
        ode(2, |_, x, dx| {
            dx[0] = x[1];
            dx[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) / 1e-6;
        })
    };
    let (integrator, used) = run_auto(&mut van_der_pol(), 1e-6, &[2.0, 0.0], 2.0);
    assert_eq!(used, [SolverName::Dopri5, SolverName::Radau]);
    let switches = integrator.statistics().stiff_switches;
    assert!((2..20).contains(&switches), "{switches}");
}

#[test]
fn auto_keeps_a_one_step_method_and_its_jacobian_where_restarts_are_frequent() {
    let mut problem = ode(1, |t, x, dx| dx[0] = -1e4 * (x[0] - t.cos()));
    let mut integrator = Integrator::new(SolverName::Auto, Tolerances::new(1e-6), &[1.0]);
    let limits = StepLimits {
        time_end: 10.0,
        step_size_max: 10.0,
    };
    integrator
        .begin(&mut problem, 0.0, &[1.0], limits)
        .expect("starts");
    let mut x = [0.0];
    let mut restart = 0.01;
    while integrator.time() < 5.0 {
        integrator.step(&mut problem, limits).expect("steps");
        if integrator.time() > restart {
            integrator.interpolate(restart, &mut x);
            integrator
                .begin_after(
                    &mut problem,
                    Start {
                        t: restart,
                        x: &x,
                        dx: None,
                        change: Discontinuity::States,
                    },
                    limits,
                )
                .expect("starts again");
            restart += 0.01;
        }
    }
    assert_eq!(integrator.method_name(), "radau");
    assert!((integrator.state()[0] - integrator.time().cos()).abs() < 1e-3);
    // The restarts change states only.
    assert!(integrator.statistics().jacobians <= 4);
}

/// x' = -λ(x - cos t) - sin t from a point off the slow solution cos t: the transient decays within a small part of the first step.
#[test]
fn the_error_of_the_interpolant_is_seen_in_a_transient_that_the_step_passes_over() {
    const LAMBDA: f64 = 1e6;
    let (tolerance, off) = (1e-6, 1e-3);
    for solver in IMPLICIT {
        let mut problem = ode(1, |t, x, dx| {
            dx[0] = -LAMBDA * (x[0] - t.cos()) - t.sin();
        });
        let mut integrator = Integrator::new(solver, Tolerances::new(tolerance), &[1.0]);
        let limits = StepLimits {
            time_end: 1.0,
            step_size_max: 1.0,
        };
        let run = |integrator: &mut Integrator, problem: &mut _, start: f64, size: f64| {
            (integrator.begin(problem, 0.0, &[start], limits)).expect("starts");
            (integrator.step_whole(problem, size)).expect("the step is accepted");
        };
        // On the slow solution and off it, with steps that resolve the transient and steps that do not.
        for (start, size) in [
            (1.0, 1e-3),
            (1.0 + off, 1e-3),
            (1.0 + off, 1e-4),
            (1.0 + off, 1e-7),
        ] {
            run(&mut integrator, &mut problem, start, size);
            let (mut actual, mut seen) = (0.0f64, 0.0f64);
            let mut x = [0.0];
            let end = integrator.time();
            for k in 0..40 {
                let t = end * f64::from(k) / 40.0;
                integrator.interpolate(t, &mut x);
                let exact = t.cos() + (start - 1.0) * (-LAMBDA * t).exp();
                actual = actual.max((x[0] - exact).abs() / (2.0 * tolerance));
                let estimate = integrator.interpolant_error(&mut problem, t);
                seen = seen.max(estimate.expect("can be evaluated"));
            }
            assert!(
                (actual > 1.0) <= (seen > 1.0) && seen < 100.0 * actual.max(1e-2),
                "{solver:?} step {size}: error {actual}, estimate {seen}"
            );
        }
    }
}
