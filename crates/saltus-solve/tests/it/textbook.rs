//! The methods of the source documents: single steps by their formulas, tolerances met, fixed steps, stiffness. Orders are measured in `integrators`.

use saltus_solve::{Integrator, Problem, SolveError, SolverName, StepLimits, Tolerances};

struct Ode<F>(usize, F);

impl<F: FnMut(f64, &[f64], &mut [f64])> Problem for Ode<F> {
    fn n_states(&self) -> usize {
        self.0
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (self.1)(t, x, dx);
        Ok(())
    }
}

fn fixed(solver: SolverName, step_size: f64, n: usize) -> Integrator {
    let mut integrator = Integrator::new(solver, Tolerances::new(1e-10), &vec![1.0; n]);
    assert!(integrator.set_fixed_step(step_size), "{solver:?}");
    integrator
}

fn run(integrator: &mut Integrator, problem: &mut impl Problem, x: &[f64], time_end: f64) {
    let limits = StepLimits {
        time_end,
        step_size_max: f64::INFINITY,
    };
    integrator.begin(problem, 0.0, x, limits).expect("starts");
    while integrator.time() < time_end {
        integrator.step(problem, limits).expect("steps");
    }
}

/// One step of size h for x' = λx multiplies x by the stability function of the method.
#[test]
fn one_step_is_the_stability_function() {
    for z in [-0.7, 0.4f64] {
        let half = |z: f64| 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)));
        let expected = [
            (SolverName::Euler, 1.0 + z),
            (SolverName::Rk4, half(z)),
            (SolverName::RungeKuttaSimpson, half(0.5 * z).powi(2)),
            (SolverName::Rkf45, half(z) + z.powi(5) / 104.0),
            (SolverName::BackwardEuler, 1.0 / (1.0 - z)),
            (SolverName::Trapezoidal, (1.0 + 0.5 * z) / (1.0 - 0.5 * z)),
            (
                SolverName::Lobatto,
                (1.0 + z / 4.0) / (1.0 - z * (0.75 - z * (0.25 - z / 24.0))),
            ),
        ];
        for (solver, factor) in expected {
            let mut integrator = fixed(solver, 0.5, 1);
            let mut problem = Ode(1, |_: f64, x: &[f64], dx: &mut [f64]| {
                dx[0] = 2.0 * z * x[0]
            });
            run(&mut integrator, &mut problem, &[3.0], 0.5);
            let found = integrator.state()[0] / 3.0;
            assert!(
                (found - factor).abs() < 1e-9,
                "{solver:?} {z}: {found} {factor}"
            );
            assert_eq!(integrator.statistics().steps, 1, "{solver:?}");
        }
    }
}

#[test]
fn fixed_steps_have_their_size_and_land() {
    for solver in SolverName::TEXTBOOK {
        let mut integrator = fixed(solver, 0.1, 2);
        let mut problem = Ode(2, |_: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[1];
            dx[1] = -x[0];
        });
        run(&mut integrator, &mut problem, &[1.0, 0.0], 2.03);
        assert_eq!(integrator.time(), 2.03);
        assert_eq!(integrator.statistics().steps, 21, "{solver:?}");
        assert!((integrator.step_size() - 0.03).abs() < 1e-12);
    }
    for solver in SolverName::PRODUCTION {
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &[1.0]);
        assert!(!integrator.set_fixed_step(0.1), "{solver:?}");
    }
}

/// Without control a step of the classical method costs four evaluations, with control eleven for two halves and the whole.
#[test]
fn evaluations_of_a_step() {
    for (solver, free, controlled) in [
        (SolverName::Euler, 1, 1),
        (SolverName::Rk4, 4, 11),
        (SolverName::RungeKuttaSimpson, 8, 8),
        // With the evaluation for the interpolant.
        (SolverName::Rkf45, 7, 7),
    ] {
        let mut problem = Ode(1, |t: f64, _: &[f64], dx: &mut [f64]| dx[0] = t.cos());
        let mut integrator = fixed(solver, 0.01, 1);
        run(&mut integrator, &mut problem, &[0.0], 1.0);
        let cost = integrator.statistics();
        assert_eq!(cost.rhs_evaluations, 1 + free * cost.steps, "{solver:?}");
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-5), &[1.0]);
        run(&mut integrator, &mut problem, &[0.0], 1.0);
        let cost = integrator.statistics();
        let steps = cost.steps + cost.steps_rejected;
        assert!(
            cost.rhs_evaluations <= 2 + controlled * steps,
            "{solver:?} {cost:?}"
        );
        assert!(cost.rhs_evaluations > controlled * (steps - cost.steps_rejected));
    }
}

/// Quadrature, an orbit, and a nonlinear equation: no estimate is blind to one of them.
#[test]
fn errors_follow_the_tolerance() {
    type Rhs = fn(f64, &[f64], &mut [f64]);
    let problems: [(Rhs, [f64; 2], [f64; 2]); 3] = [
        (
            |_, x, dx| {
                dx[0] = x[1];
                dx[1] = -x[0];
            },
            [1.0, 0.0],
            [5f64.cos(), -5f64.sin()],
        ),
        (
            |t, _, dx| {
                dx[0] = (3.0 * t).cos();
                dx[1] = -(2.0 * t).sin();
            },
            [0.0, 0.5],
            [15f64.sin() / 3.0, 0.5 * 10f64.cos()],
        ),
        (
            |t, x, dx| {
                dx[0] = x[0] * t.cos();
                dx[1] = -x[1] * x[1] * t.cos();
            },
            [1.0, 0.5],
            [5f64.sin().exp(), 1.0 / (2.0 + 5f64.sin())],
        ),
    ];
    for solver in SolverName::TEXTBOOK {
        // Steps of low order are many, and what they add has one sign.
        let (tolerance, most) = match solver {
            SolverName::Euler | SolverName::BackwardEuler => (1e-4, 2000.0),
            SolverName::Trapezoidal => (1e-7, 1000.0),
            _ => (1e-7, 100.0),
        };
        for (k, (rhs, start, end)) in problems.iter().enumerate() {
            let mut integrator = Integrator::new(solver, Tolerances::new(tolerance), &[1.0; 2]);
            run(&mut integrator, &mut Ode(2, rhs), start, 5.0);
            let x = integrator.state();
            let worst = (x[0] - end[0]).abs().max((x[1] - end[1]).abs());
            assert!(worst < most * tolerance, "{solver:?} {k} {worst:e}");
            assert!(worst > 1e-3 * tolerance, "{solver:?} {k} {worst:e}");
        }
    }
}

#[test]
fn implicit_methods_take_stiff_problems_in_few_steps() {
    for (solver, steps) in [
        (SolverName::BackwardEuler, 30_000),
        (SolverName::Trapezoidal, 5_000),
        (SolverName::Lobatto, 200),
    ] {
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-5), &[1.0]);
        let mut problem = Ode(1, |t: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = -1e6 * (x[0].powi(3) - t.cos().powi(3));
        });
        run(&mut integrator, &mut problem, &[1.5], 1.2);
        let error = integrator.state()[0] - 1.2f64.cos();
        assert!(error.abs() < 1e-3, "{solver:?} {error:e}");
        let taken = integrator.statistics().steps;
        assert!(taken < steps, "{solver:?} {taken}");
    }
}
