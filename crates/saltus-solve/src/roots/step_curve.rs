//! A crossing function over the last step of an integrator, as a curve for the methods of `location`.
//!
//! By *interpolation* the states come from the step's dense output; by *repetition* from one step of the method of another size from the same start, as the textbook
//! has it: the event is then as accurate as the integration. A crossing function can be carried as an extra state ([`WithCrossing`], equations 9.30), for which
//! dense output and Nordsieck vector are available like for any other.

use super::interpolation::{node, polynomial_through};
use super::location::Curve;
use crate::error::SolveError;
use crate::integrator::{Integrator, Problem, SolverName, StepError, StepLimits};
use crate::scale::Tolerances;

/// A function of time and states that is zero at an event.
pub trait Crossing {
    fn value(&self, t: f64, x: &[f64]) -> f64;

    /// Its rate along a motion with the derivative `dx`.
    fn rate(&self, t: f64, x: &[f64], dx: &[f64]) -> f64;
}

/// State `index` less a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    pub index: usize,
    pub threshold: f64,
}

impl Crossing for Threshold {
    fn value(&self, _: f64, x: &[f64]) -> f64 {
        x[self.index] - self.threshold
    }

    fn rate(&self, _: f64, _: &[f64], dx: &[f64]) -> f64 {
        dx[self.index]
    }
}

/// Where the states inside of a step come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    Interpolate,
    Reintegrate,
}

impl Between {
    pub const ALL: [Between; 2] = [Between::Interpolate, Between::Reintegrate];

    pub fn as_str(self) -> &'static str {
        match self {
            Between::Interpolate => "interpolate",
            Between::Reintegrate => "reintegrate",
        }
    }
}

/// The curve of a crossing function over the last step.
pub struct StepCurve<'a, P, C: ?Sized> {
    problem: &'a mut P,
    crossing: &'a C,
    /// The step, with its interpolant.
    step: &'a Integrator,
    /// Takes the step again.
    again: Option<Integrator>,
    x_old: Vec<f64>,
    x: Vec<f64>,
    dx: Vec<f64>,
    /// Time of `x`.
    at: f64,
    /// Steps repeated, and evaluations of the derivatives for rates.
    pub repeated: u32,
    pub rhs_evaluations: u32,
}

impl<'a, P: Problem, C: Crossing + ?Sized> StepCurve<'a, P, C> {
    /// The last step of an integrator with this method, whose interpolant is complete. `None` if its steps cannot be repeated with another size: only those of the
    /// textbook methods can.
    pub fn new(
        step: &'a Integrator,
        solver: SolverName,
        problem: &'a mut P,
        crossing: &'a C,
        between: Between,
    ) -> Option<StepCurve<'a, P, C>> {
        let n = step.n_states();
        let again = match between {
            Between::Interpolate => None,
            Between::Reintegrate => {
                let mut again = Integrator::new(solver, Tolerances::new(REPEATED), &vec![1.0; n]);
                if !again.set_fixed_step(f64::INFINITY) {
                    return None;
                }
                Some(again)
            }
        };
        let mut x_old = vec![0.0; n];
        step.interpolate(step.time_old(), &mut x_old);
        Some(StepCurve {
            problem,
            crossing,
            step,
            again,
            x_old,
            x: vec![0.0; n],
            dx: vec![0.0; n],
            at: f64::NAN,
            repeated: 0,
            rhs_evaluations: 0,
        })
    }

    /// The states at a time of the step.
    pub fn state(&mut self, t: f64) -> Result<&[f64], SolveError> {
        if self.at != t {
            let start = self.step.time_old();
            match &mut self.again {
                Some(again) if t > start && t < self.step.time() => {
                    self.repeated += 1;
                    let limits = StepLimits {
                        time_end: t,
                        step_size_max: f64::INFINITY,
                    };
                    let taken = again
                        .begin(self.problem, start, &self.x_old, limits)
                        .and_then(|()| again.step(self.problem, limits));
                    taken.map_err(cause)?;
                    self.x.copy_from_slice(again.state());
                }
                _ => self.step.interpolate(t, &mut self.x),
            }
            self.at = t;
        }
        Ok(&self.x)
    }
}

/// Tolerance of Newton's iteration in a repeated step.
const REPEATED: f64 = 1e-12;

fn cause(error: StepError) -> SolveError {
    match error {
        StepError::Fatal { error, .. } => *error,
        StepError::TooSmall {
            cause: Some(error), ..
        } => *error,
        StepError::TooSmall { state, .. } => SolveError::NonFiniteDerivative {
            state: state.unwrap_or(0),
        },
        StepError::Tolerances(_) => unreachable!("a constant of this file"),
    }
}

impl<P: Problem, C: Crossing + ?Sized> Curve for StepCurve<'_, P, C> {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        self.state(t)?;
        Ok(self.crossing.value(t, &self.x))
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        self.state(t)?;
        self.rhs_evaluations += 1;
        self.problem.derivatives(t, &self.x, &mut self.dx)?;
        Ok(self.crossing.rate(t, &self.x, &self.dx))
    }

    /// That of the interpolant, be the states repeated or not.
    fn polynomial(&mut self, left: f64, right: f64) -> Result<Vec<f64>, SolveError> {
        let degree = self.step.dense_degree();
        let mut values = Vec::with_capacity(degree + 1);
        for k in 0..=degree {
            let t = left + node(k, degree) * (right - left);
            self.step.interpolate(t, &mut self.x);
            values.push(self.crossing.value(t, &self.x));
        }
        self.at = f64::NAN;
        Ok(polynomial_through(&values))
    }
}

/// A problem with a crossing function as one more state (9.30b), the last one. Its initial value is that of the function (9.30a), to which
/// it may be set again at any point: what its integration adds is the drift.
#[derive(Debug)]
pub struct WithCrossing<P, C> {
    pub problem: P,
    pub crossing: C,
}

impl<P: Problem, C: Crossing> WithCrossing<P, C> {
    /// The states with the function's value behind them.
    pub fn extended(&self, t: f64, x: &[f64]) -> Vec<f64> {
        let mut extended = x.to_vec();
        extended.push(self.crossing.value(t, x));
        extended
    }
}

impl<P: Problem, C: Crossing> Problem for WithCrossing<P, C> {
    fn n_states(&self) -> usize {
        self.problem.n_states() + 1
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        let n = self.problem.n_states();
        let (own, extra) = dx.split_at_mut(n);
        self.problem.derivatives(t, &x[..n], own)?;
        extra[0] = self.crossing.rate(t, &x[..n], own);
        Ok(())
    }
}
