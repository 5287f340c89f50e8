//! Steps, once under way, allocate nothing.

use saltus_solve::{Integrator, Problem, SolveError, SolverName, StepLimits, Tolerances};
use saltus_testkit::allocations::{Counting, allocations};
use saltus_testkit::stiff::{Heat, VAN_DER_POL};
#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Oscillator;

impl Problem for Oscillator {
    fn n_states(&self) -> usize {
        2
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (VAN_DER_POL.f)(t, x, dx);
        Ok(())
    }
}

struct Lines(Heat);

impl Problem for Lines {
    fn n_states(&self) -> usize {
        self.0.n_states()
    }

    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.0.derivatives(x, dx);
        Ok(())
    }

    fn pattern(&self) -> Option<&[Vec<u32>]> {
        Some(self.0.pattern())
    }
}

/// Allocations after the first step until the end, and the steps, Jacobians and factorisations of that time.
fn count(solver: SolverName, problem: &mut impl Problem, start: &[f64], time_end: f64) -> u64 {
    let limits = StepLimits {
        time_end,
        step_size_max: time_end,
    };
    let mut integrator = Integrator::new(solver, Tolerances::new(1e-5), &vec![1.0; start.len()]);
    integrator
        .begin(problem, 0.0, start, limits)
        .expect("starts");
    integrator.step(problem, limits).expect("steps");
    let before = allocations();
    while integrator.time() < time_end {
        integrator.step(problem, limits).expect("steps");
    }
    let after = allocations();
    let statistics = integrator.statistics();
    assert!(
        statistics.steps > 10 && statistics.factorizations > 5,
        "{solver:?} {statistics:?}"
    );
    after - before
}

#[test]
fn implicit_steps_allocate_nothing() {
    for solver in [SolverName::Bdf, SolverName::Radau, SolverName::Esdirk] {
        assert_eq!(count(solver, &mut Oscillator, VAN_DER_POL.start, 2.0), 0);
        let heat = Heat::new(200);
        let mut x = vec![0.0; 200];
        heat.exact(0.0, &mut x);
        assert_eq!(count(solver, &mut Lines(heat), &x, 0.3), 0, "{solver:?}");
    }
}

#[test]
fn explicit_steps_and_restarts_allocate_nothing() {
    for solver in [
        SolverName::Dopri5,
        SolverName::Dop853,
        SolverName::Radau,
        SolverName::Esdirk,
    ] {
        struct Growth;
        impl Problem for Growth {
            fn n_states(&self) -> usize {
                1
            }
            fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
                dx[0] = x[0] * t.cos();
                Ok(())
            }
        }
        let limits = StepLimits {
            time_end: 20.0,
            step_size_max: 20.0,
        };
        let mut integrator = Integrator::new(solver, Tolerances::new(1e-5), &[1.0]);
        integrator
            .begin(&mut Growth, 0.0, &[1.0], limits)
            .expect("starts");
        integrator.step(&mut Growth, limits).expect("steps");
        let before = allocations();
        let mut x = [0.0];
        while integrator.time() < 20.0 {
            integrator.step(&mut Growth, limits).expect("steps");
            let t = 0.5 * (integrator.time() + integrator.time_old());
            integrator.interpolate(t, &mut x);
            let (t, x) = (integrator.time(), [integrator.state()[0]]);
            if t < 20.0 {
                integrator
                    .begin(&mut Growth, t, &x, limits)
                    .expect("starts again");
            }
        }
        assert_eq!(allocations() - before, 0, "{solver:?}");
    }
}
