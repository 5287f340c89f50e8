//! Step sizes: the controllers of all one-step methods, the trial step that lands on its limit, the first step size.
//!
//! Comes in: error norms of trial steps (1 is the tolerance). Goes out: the quotient h/h_new. Methods and sources: the PI
//! controller of Hairer, Nørsett and Wanner, Solving ODEs I, II.4 (Gustafsson 1991), for explicit methods, and the predictive
//! controller of Gustafsson (1994), Solving ODEs II, IV.8, for implicit ones.

use crate::error::SolveError;
use crate::integrator::{Problem, StepLimits};
use crate::scale::{STEP_SHARE_MIN, STEP_ULPS, mean_square, time_resolution};

/// A step is lengthened by at most this factor to land on its limit.
pub(crate) const STRETCH: f64 = 1.1;
/// Step size factor after the model could not be evaluated at a trial point.
pub(crate) const SHRINK_ON_FAULT: f64 = 0.25;
/// Attempts at one step; every one is smaller, so the smallest step size is reached long before.
pub(crate) const ATTEMPTS_MAX: u32 = 400;
/// h^q ‖x'‖ of the first step in units of the tolerance: the source's value at the start, and one at restarts, where the last step size
/// bounds it as well (0.01 makes an orbit with 300 restarts 10 to 25 % dearer, and neither has a step rejected).
const START_SHARE: f64 = 0.01;
const RESTART_SHARE: f64 = 1.0;
/// Constants of the source for the first step size, where it has numbers for states and times of size 1. The Euler step is this part of the
/// time in which the states would move by their own size …
const EULER_SHARE: f64 = 0.01;
/// … or this part of the span if the derivative is as good as zero, in tolerances a second, or the state says nothing.
const EULER_SHARE_BLIND: f64 = 1e-6;
const DERIVATIVE_ZERO: f64 = 1e-10;
/// States that move by less than this many tolerances over the span stand still: there is nothing to divide by.
const STANDS_STILL: f64 = 1e-15;
/// Growth from the Euler step to the first step, and its part if the states stand still.
const EULER_GROWTH: f64 = 100.0;
const EULER_STILL: f64 = 1e-3;
/// On restart the second derivative is estimated over this part of the last step size.
const RESTART_PROBE: f64 = 0.01;
/// After a discontinuity the old step size is trusted up to this multiple of the estimate for a start from nothing: as far as one
/// accepted step would let it grow.
const RESTART_GROWTH: f64 = 10.0;

/// How the error of the last step enters the next size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Law {
    /// h/h_new = err^(e - 0.75β) / err_last^β / safety, with e = `exponent`.
    ProportionalIntegral { beta: f64 },
    /// The larger of err^e/safety and (h_last/h)·(err²/err_last)^e/safety: the trend of the last two steps goes on.
    Predictive,
}

/// Constants of a method's step size control.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Control {
    /// 1/q, where the error estimate is O(h^q).
    pub exponent: f64,
    pub law: Law,
    pub safety: f64,
    /// Bounds of h/h_new.
    pub quotient_min: f64,
    pub quotient_max: f64,
    /// Errors below this count as this in the memory of the controller.
    pub error_floor: f64,
}

/// Size and error of the last accepted step of a segment.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct LastStep {
    step_size: f64,
    error: f64,
    /// Its logarithm: a step then needs one power, not two.
    error_ln: f64,
}

impl Control {
    /// After an accepted step of size `h`: the quotient h/h_new, and what to remember. `effort` ≤ 1 lowers the safety factor after a hard
    /// iteration.
    #[inline]
    pub(crate) fn after_accepted(
        &self,
        h: f64,
        error: f64,
        effort: f64,
        last: Option<LastStep>,
    ) -> (f64, LastStep) {
        let floored = error.max(self.error_floor);
        let (quotient, error_ln) = match self.law {
            Law::ProportionalIntegral { beta } => {
                let error_ln = error.ln();
                let floor_ln = self.error_floor.ln();
                let last_ln = last.map_or(floor_ln, |last| last.error_ln);
                let power = (self.exponent - 0.75 * beta) * error_ln - beta * last_ln;
                let quotient = power.exp() / (self.safety * effort);
                (quotient, error_ln.max(floor_ln))
            }
            Law::Predictive => {
                let now = error.powf(self.exponent) / (self.safety * effort);
                let quotient = match last {
                    None => now,
                    Some(last) => now.max(
                        last.step_size / h * (error * error / last.error).powf(self.exponent)
                            / self.safety,
                    ),
                };
                (quotient, 0.0)
            }
        };
        let remembered = LastStep {
            step_size: h,
            error: floored,
            error_ln,
        };
        (
            quotient.clamp(self.quotient_min, self.quotient_max),
            remembered,
        )
    }

    /// h/h_new after a step with an error above the tolerance.
    pub(crate) fn after_rejected(&self, error: f64) -> f64 {
        let exponent = match self.law {
            Law::ProportionalIntegral { beta } => self.exponent - 0.75 * beta,
            Law::Predictive => self.exponent,
        };
        if error.is_finite() {
            (error.powf(exponent) / self.safety).min(self.quotient_max)
        } else {
            1.0 / SHRINK_ON_FAULT
        }
    }
}

/// The end of the next trial step and whether that is the limit: lands on `time_end` exactly, stretches by at most 10 % to do
/// so, and halves the way rather than leave a sliver.
#[inline]
pub(crate) fn trial_step(t: f64, wanted: f64, limits: StepLimits) -> (f64, bool) {
    let wanted = wanted.min(limits.step_size_max);
    let remaining = limits.time_end - t;
    if wanted * STRETCH >= remaining {
        (limits.time_end, true)
    } else if wanted * 2.0 > remaining {
        (t + 0.5 * remaining, false)
    } else {
        (t + wanted, false)
    }
}

/// An error that names the first state whose value, derivative or residual is NaN or infinite.
#[inline]
pub(crate) fn all_finite(v: &[f64]) -> Result<(), SolveError> {
    match v.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(state) => Err(SolveError::NonFiniteDerivative { state }),
    }
}

/// Smallest step size at `t`.
#[inline]
fn step_size_min(t: f64) -> f64 {
    STEP_ULPS * time_resolution(t, 0.0)
}

/// The same for a run whose largest step is known: near time zero floats are finer than any run can need.
#[inline]
pub(crate) fn step_size_least(t: f64, step_size_max: f64) -> f64 {
    let least = step_size_min(t);
    if step_size_max.is_finite() {
        least.max(STEP_SHARE_MIN * step_size_max)
    } else {
        least
    }
}

/// Initial step size, at most the last one after a discontinuity (Hairer, Nørsett, Wanner, Solving ODEs I, II.4): from the sizes of
/// the state, its derivative and the second derivative of an Euler step, for a method whose error estimate is O(h^`order`). Fixed numbers
/// of the source are taken relative to the span. Costs one evaluation. `euler` and `dx1` are work space.
#[expect(
    clippy::too_many_arguments,
    reason = "one formula, called from two places with their work space"
)]
pub(crate) fn initial_step_size<P: Problem + ?Sized>(
    problem: &mut P,
    t: f64,
    x: &[f64],
    dx: &[f64],
    weights: &[f64],
    order: i32,
    limits: StepLimits,
    step_size_last: Option<f64>,
    euler: &mut [f64],
    dx1: &mut [f64],
) -> Result<f64, SolveError> {
    all_finite(x)?;
    all_finite(dx)?;
    let span = (limits.time_end - t).min(limits.step_size_max);
    if x.is_empty() {
        return Ok(span);
    }
    let d1_squared = mean_square(dx, weights);
    let mut h0 = match step_size_last {
        Some(last) => RESTART_PROBE * last,
        None => {
            let (d0, d1) = (mean_square(x, weights).sqrt(), d1_squared.sqrt());
            // A state below its weight says nothing about the time scale.
            if d0 < 1.0 || d1 < DERIVATIVE_ZERO {
                EULER_SHARE_BLIND * span
            } else {
                EULER_SHARE * d0 / d1
            }
        }
    };
    h0 = h0.min(span);
    for _ in 0..20 {
        for i in 0..x.len() {
            euler[i] = x[i] + h0 * dx[i];
        }
        match problem.derivatives(t + h0, euler, dx1) {
            Ok(()) => break,
            Err(error) if error.recoverable() => h0 *= 0.1,
            Err(error) => return Err(error),
        }
    }
    for (d, dx) in dx1.iter_mut().zip(dx) {
        *d -= dx;
    }
    let d2_squared = mean_square(dx1, weights) / (h0 * h0);
    let largest_squared = d1_squared.max(d2_squared);
    let by_derivatives = |share: f64| {
        let largest = largest_squared.sqrt();
        if largest * span <= STANDS_STILL {
            (EULER_SHARE_BLIND * span).max(EULER_STILL * h0)
        } else {
            (share / largest).powf(1.0 / f64::from(order))
        }
    };
    let h = match step_size_last {
        // Roots and powers are needed only where the last size is too large.
        Some(last)
            if (last / RESTART_GROWTH).powi(2 * order) * largest_squared
                <= RESTART_SHARE * RESTART_SHARE =>
        {
            last
        }
        Some(last) => last.min(RESTART_GROWTH * by_derivatives(RESTART_SHARE)),
        None => (EULER_GROWTH * h0).min(by_derivatives(START_SHARE)),
    };
    Ok(h.min(span).max(2.0 * step_size_least(t, span)))
}
