//! The heat equation by the method of lines: time, work and error of the implicit methods for n = 1000 and 20 000.

#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

use saltus_solve::{Integrator, Problem, SolveError, SolverName, StepLimits, Tolerances};
use saltus_testkit::stiff::Heat;
use std::time::Instant;

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

fn main() {
    const TIME_END: f64 = 0.1;
    println!("solver      n  tolerance  seconds  steps  rejected   rhs  jac  factor   error");
    for n in [1000, 20_000] {
        for solver in [SolverName::Bdf, SolverName::Radau] {
            for tolerance in [1e-4, 1e-6, 1e-8] {
                let mut problem = Lines(Heat::new(n));
                let mut x = vec![0.0; n];
                problem.0.exact(0.0, &mut x);
                let limits = StepLimits {
                    time_end: TIME_END,
                    step_size_max: TIME_END,
                };
                let clock = Instant::now();
                let mut integrator =
                    Integrator::new(solver, Tolerances::new(tolerance), &vec![1.0; n]);
                integrator
                    .begin(&mut problem, 0.0, &x, limits)
                    .expect("starts");
                while integrator.time() < TIME_END {
                    integrator.step(&mut problem, limits).expect("steps");
                }
                let seconds = clock.elapsed().as_secs_f64();
                problem.0.exact(TIME_END, &mut x);
                let error = (integrator.state().iter().zip(&x))
                    .fold(0.0f64, |worst, (found, exact)| {
                        worst.max((found - exact).abs())
                    });
                let s = integrator.statistics();
                println!(
                    "{:6} {n:6}  {tolerance:9.0e} {seconds:8.3} {:6} {:9} {:5} {:4} {:7} {error:8.1e}",
                    solver.as_str(),
                    s.steps,
                    s.steps_rejected,
                    s.rhs_evaluations,
                    s.jacobians,
                    s.factorizations,
                );
            }
        }
    }
}
