//! Steps that end at an event because their formula is solved for the step size: R. Karim, State Event Modelling and State Event Handling in System Simulation,
//! dissertation, TU Wien 2016, chapters 2 to 4; numbers of sections and equations are its own.
//!
//! Comes in: the point before the crossing, and what reaches which threshold there. Goes out: the step to the event, the states there, and what it took.
//!
//! ```text
//! explicit Euler          Δ = (a - x_i)/f_i                                                              (2.1.1, equation 15)
//! implicit Euler          Δ = (a - x)/f(a), one autonomous equation; else the root of x + Δ f(t + Δ, a) - a       (2.1.2, 20)
//! any explicit formula    -a + x_i(Δ) = 0 by a root finder: `roots::step_curve` with `Between::Reintegrate`       (2.2.1, 22)
//! trapezoidal rule        Newton's iteration over Δ and all other unknowns, for ODEs, for semi-explicit DAEs      (2.2.2, 3.3.1, 3.3.2)
//! index-reduced DAE       the algebraic variable as one more state: `roots::step_curve::WithCrossing`, with its drift     (3.2)
//! Hénon                   the event variable becomes the independent one                                          (4.1, 4.2)
//! ```
//! The formulas (15) and (20) have the magnitude of the quotient there; without it a variable that moves away from its threshold is noticed.

mod henon;
mod trapezoidal;

use crate::error::SolveError;
use crate::integrator::{Problem, StepError};
use crate::roots::location::{LocationMethod, locate};
use crate::roots::step_curve::Threshold;

pub use henon::{Henon, HenonStep, henon};
pub use trapezoidal::{
    EventVariable, Newton, SemiExplicit, as_dae, trapezoidal_event, trapezoidal_step,
};

/// A step that ends at an event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventStep {
    /// Δ
    pub step_size: f64,
    pub x: Vec<f64>,
    /// Algebraic variables, where there are some.
    pub y: Vec<f64>,
    /// How far the formula itself leaves the event variable from its threshold.
    pub deviation: f64,
    /// Of Newton's method; zero for a formula.
    pub iterations: u32,
}

/// There is no such step.
#[derive(Clone, Debug, PartialEq)]
pub enum EventStepError {
    /// The event variable stands still: there is nothing to divide by.
    StandsStill,
    /// It moves away from its threshold.
    MovesAway,
    /// Newton's matrix is singular.
    Singular,
    NotConverged {
        iterations: u32,
        correction: f64,
    },
    Model(SolveError),
    Step(StepError),
}

impl From<SolveError> for EventStepError {
    fn from(error: SolveError) -> EventStepError {
        EventStepError::Model(error)
    }
}

impl From<StepError> for EventStepError {
    fn from(error: StepError) -> EventStepError {
        EventStepError::Step(error)
    }
}

/// Euler's step to the event (15), (16), from a point with the derivative `dx`.
pub fn explicit_euler(
    x: &[f64],
    dx: &[f64],
    event: Threshold,
) -> Result<EventStep, EventStepError> {
    let step_size = quotient(event.threshold - x[event.index], dx[event.index])?;
    let mut x: Vec<f64> = x.iter().zip(dx).map(|(x, dx)| x + step_size * dx).collect();
    let deviation = x[event.index] - event.threshold;
    x[event.index] = event.threshold;
    Ok(EventStep {
        step_size,
        x,
        y: Vec::new(),
        deviation,
        iterations: 0,
    })
}

/// The implicit Euler step of one equation to its threshold (20). A right side with the time in it makes the equation for Δ implicit: the root of
/// x + Δ f(t + Δ, a) - a in (0, `step_size_max`] is then located.
pub fn implicit_euler<P: Problem>(
    problem: &mut P,
    t: f64,
    x: f64,
    threshold: f64,
    step_size_max: f64,
) -> Result<EventStep, EventStepError> {
    let mut slope = [0.0];
    problem.derivatives(t, &[threshold], &mut slope)?;
    let autonomous = slope[0];
    problem.derivatives(t + step_size_max, &[threshold], &mut slope)?;
    let step_size = if slope[0] == autonomous {
        quotient(threshold - x, autonomous)?
    } else {
        let mut failed = None;
        let residual = |step: f64| {
            let mut slope = [0.0];
            match problem.derivatives(t + step, &[threshold], &mut slope) {
                Ok(()) => x + step * slope[0] - threshold,
                Err(error) => {
                    failed = Some(error);
                    f64::NAN
                }
            }
        };
        let found = locate(LocationMethod::Chandrupatla, residual, 0.0, step_size_max);
        if let Some(error) = failed {
            return Err(EventStepError::Model(error));
        }
        found.ok_or(EventStepError::MovesAway)?.right
    };
    Ok(EventStep {
        step_size,
        x: vec![threshold],
        y: Vec::new(),
        deviation: 0.0,
        iterations: 0,
    })
}

/// A step, which must not go backwards.
fn quotient(way: f64, rate: f64) -> Result<f64, EventStepError> {
    if way == 0.0 {
        return Ok(0.0);
    }
    let step = way / rate;
    if rate == 0.0 || !step.is_finite() {
        Err(EventStepError::StandsStill)
    } else if step < 0.0 {
        Err(EventStepError::MovesAway)
    } else {
        Ok(step)
    }
}
