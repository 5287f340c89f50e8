//! The trapezoidal rule on semi-explicit DAEs x' = f(t, x, y), 0 = g(t, x, y), with Newton's method over all unknowns of a step, and of a step whose
//! size is one of them (equations 25 to 29 and 35 to 43).
//!
//! An event step keeps the event variable, a state or an algebraic one, at its threshold and has Δ in its place. What Newton's method finds is a prediction, which is
//! put into the formula once more (29, 39). An ordinary differential equation is a DAE without y ([`as_dae`]).

use super::{EventStep, EventStepError};
use crate::error::SolveError;
use crate::integrator::Problem;
use crate::linear::DenseLu;
use crate::scale::EPS;

/// Iterations of Newton's method.
const ITERATIONS_MAX: u32 = 50;
/// It has converged when its correction is below this many units of round-off of the unknowns …
const CONVERGED_ULPS: f64 = 4.0;
/// … or no longer shrinks and is below this many.
const STAGNATED_ULPS: f64 = 1e6;
/// Difference quotients are taken over this part of an unknown: the square root of round-off.
const DIFFERENCE_REL: f64 = 1.5e-8;

/// A semi-explicit differential-algebraic system.
pub trait SemiExplicit {
    fn n_x(&self) -> usize;
    fn n_y(&self) -> usize;

    /// dx = f(t, x, y)
    fn f(&mut self, t: f64, x: &[f64], y: &[f64], dx: &mut [f64]) -> Result<(), SolveError>;

    /// r = g(t, x, y)
    fn g(&mut self, t: f64, x: &[f64], y: &[f64], r: &mut [f64]) -> Result<(), SolveError>;
}

/// What reaches a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventVariable {
    State { index: usize, threshold: f64 },
    Algebraic { index: usize, threshold: f64 },
}

/// An ODE as a DAE without algebraic variables.
pub fn as_dae<P: Problem>(problem: &mut P) -> impl SemiExplicit + '_ {
    OdeAsDae(problem)
}

struct OdeAsDae<'a, P>(&'a mut P);

impl<P: Problem> SemiExplicit for OdeAsDae<'_, P> {
    fn n_x(&self) -> usize {
        self.0.n_states()
    }

    fn n_y(&self) -> usize {
        0
    }

    fn f(&mut self, t: f64, x: &[f64], _: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.0.derivatives(t, x, dx)
    }

    fn g(&mut self, _: f64, _: &[f64], _: &[f64], _: &mut [f64]) -> Result<(), SolveError> {
        Ok(())
    }
}

/// Newton's method over x and y of a step of given size, or over all of these but the event variable, and the step size.
#[derive(Debug)]
pub struct Newton {
    n_x: usize,
    n_y: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    dx0: Vec<f64>,
    dx: Vec<f64>,
    residual: Vec<f64>,
    beside: Vec<f64>,
    matrix: Vec<f64>,
    lu: DenseLu,
}

impl Newton {
    pub fn new(n_x: usize, n_y: usize) -> Newton {
        let n = n_x + n_y;
        Newton {
            n_x,
            n_y,
            x: vec![0.0; n_x],
            y: vec![0.0; n_y],
            dx0: vec![0.0; n_x],
            dx: vec![0.0; n_x],
            residual: vec![0.0; n],
            beside: vec![0.0; n],
            matrix: vec![0.0; n * n],
            lu: DenseLu::new(n),
        }
    }

    /// (36) and (41): -x + x₀ + Δ/2 (f(t₀ + Δ, x, y) + f₀), and g.
    fn evaluate<D: SemiExplicit + ?Sized>(
        &mut self,
        dae: &mut D,
        (t0, x0): (f64, &[f64]),
        step: f64,
        beside: bool,
    ) -> Result<(), SolveError> {
        dae.f(t0 + step, &self.x, &self.y, &mut self.dx)?;
        let out = if beside {
            &mut self.beside
        } else {
            &mut self.residual
        };
        for i in 0..self.n_x {
            out[i] = -self.x[i] + x0[i] + 0.5 * step * (self.dx[i] + self.dx0[i]);
        }
        dae.g(t0 + step, &self.x, &self.y, &mut out[self.n_x..])
    }

    /// The unknown of column k: all of x and y, but the step in the place of the event variable.
    fn unknown(&mut self, k: usize, held: Option<usize>, step: &mut f64) -> f64 {
        if held == Some(k) {
            *step
        } else if k < self.n_x {
            self.x[k]
        } else {
            self.y[k - self.n_x]
        }
    }

    fn set(&mut self, k: usize, held: Option<usize>, step: &mut f64, value: f64) {
        if held == Some(k) {
            *step = value;
        } else if k < self.n_x {
            self.x[k] = value;
        } else {
            self.y[k - self.n_x] = value;
        }
    }

    /// Iterates from the values in x, y and `step`. `held` is the place of the event variable in (x, y).
    fn solve<D: SemiExplicit + ?Sized>(
        &mut self,
        dae: &mut D,
        from: (f64, &[f64]),
        held: Option<usize>,
        step: &mut f64,
    ) -> Result<u32, EventStepError> {
        let n = self.n_x + self.n_y;
        let step_scale = step.abs();
        let mut size_last = f64::INFINITY;
        for iteration in 1..=ITERATIONS_MAX {
            self.evaluate(dae, from, *step, false)?;
            for k in 0..n {
                let value = self.unknown(k, held, step);
                let scale = if held == Some(k) {
                    step_scale
                } else {
                    value.abs().max(1.0)
                };
                let moved = value + DIFFERENCE_REL * scale;
                self.set(k, held, step, moved);
                self.evaluate(dae, from, *step, true)?;
                self.set(k, held, step, value);
                for row in 0..n {
                    let rise = self.beside[row] - self.residual[row];
                    self.matrix[k * n + row] = rise / (moved - value);
                }
            }
            if !self.lu.factor(&self.matrix) {
                return Err(EventStepError::Singular);
            }
            self.lu.solve(&mut self.residual);
            let mut size = 0.0f64;
            for k in 0..n {
                let value = self.unknown(k, held, step);
                let correction = self.residual[k];
                let scale = if held == Some(k) {
                    step_scale
                } else {
                    value.abs().max(1.0)
                };
                size = size.max((correction / scale).abs());
                self.set(k, held, step, value - correction);
            }
            if size <= CONVERGED_ULPS * EPS
                || size >= 0.5 * size_last && size <= STAGNATED_ULPS * EPS
            {
                return Ok(iteration);
            }
            if !size.is_finite() {
                return Err(EventStepError::NotConverged {
                    iterations: iteration,
                    correction: size,
                });
            }
            size_last = size;
        }
        Err(EventStepError::NotConverged {
            iterations: ITERATIONS_MAX,
            correction: size_last,
        })
    }

    /// x₀ + Δ/2 (f(t₀ + Δ, x̃, ỹ) + f₀), equations (29) and (39).
    fn close<D: SemiExplicit + ?Sized>(
        &mut self,
        dae: &mut D,
        (t0, x0): (f64, &[f64]),
        step: f64,
    ) -> Result<Vec<f64>, SolveError> {
        dae.f(t0 + step, &self.x, &self.y, &mut self.dx)?;
        let slopes = self.dx.iter().zip(&self.dx0);
        let closed = x0.iter().zip(slopes);
        Ok(closed
            .map(|(x, (new, old))| x + 0.5 * step * (new + old))
            .collect())
    }

    fn start<D: SemiExplicit + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        (x, y): (&[f64], &[f64]),
    ) -> Result<(), SolveError> {
        dae.f(t, x, y, &mut self.dx0)?;
        self.x.copy_from_slice(x);
        self.y.copy_from_slice(y);
        Ok(())
    }
}

/// One step of given size (25, 35) from consistent values.
pub fn trapezoidal_step<D: SemiExplicit + ?Sized>(
    dae: &mut D,
    newton: &mut Newton,
    t: f64,
    (x, y): (&[f64], &[f64]),
    mut step_size: f64,
) -> Result<EventStep, EventStepError> {
    newton.start(dae, t, (x, y))?;
    let iterations = newton.solve(dae, (t, x), None, &mut step_size)?;
    finish(dae, newton, (t, x), None, step_size, iterations)
}

/// The step to the event (28, 38, 43) from consistent values at `t` just before it; Newton's method begins with Δ = `step_guess`, such as the size of the step over
/// the event.
pub fn trapezoidal_event<D: SemiExplicit + ?Sized>(
    dae: &mut D,
    newton: &mut Newton,
    t: f64,
    (x, y): (&[f64], &[f64]),
    event: EventVariable,
    step_guess: f64,
) -> Result<EventStep, EventStepError> {
    newton.start(dae, t, (x, y))?;
    let held = match event {
        EventVariable::State { index, threshold } => {
            newton.x[index] = threshold;
            index
        }
        EventVariable::Algebraic { index, threshold } => {
            newton.y[index] = threshold;
            newton.n_x + index
        }
    };
    let mut step_size = step_guess;
    let iterations = newton.solve(dae, (t, x), Some(held), &mut step_size)?;
    if step_size < 0.0 {
        return Err(EventStepError::MovesAway);
    }
    finish(dae, newton, (t, x), Some(event), step_size, iterations)
}

fn finish<D: SemiExplicit + ?Sized>(
    dae: &mut D,
    newton: &mut Newton,
    from: (f64, &[f64]),
    event: Option<EventVariable>,
    step_size: f64,
    iterations: u32,
) -> Result<EventStep, EventStepError> {
    let x = newton.close(dae, from, step_size)?;
    let deviation = match event {
        Some(EventVariable::State { index, threshold }) => x[index] - threshold,
        // The residual of its equation at the states of the closing formula.
        Some(EventVariable::Algebraic { index, .. }) => {
            let rest = &mut newton.residual[newton.n_x..];
            dae.g(from.0 + step_size, &x, &newton.y, rest)?;
            rest[index]
        }
        None => 0.0,
    };
    Ok(EventStep {
        step_size,
        x,
        y: newton.y.clone(),
        deviation,
        iterations,
    })
}
