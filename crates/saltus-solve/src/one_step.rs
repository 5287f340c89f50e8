//! What all one-step methods share: set-up, the step loop with its rejections, step size control, landing, statistics.
//!
//! A method is a [`OneStepMethod`]: how one trial step is computed and its error measured, and the interpolant over it.
//! [`OneStep`] makes an integrator of it:
//! ```text
//! step:  repeat                                    (at most ATTEMPTS_MAX times, every trial smaller than the last)
//!          t_new from the planned size and the limits (lands exactly, stretched by at most 10 %)
//!          trial: x(t_new) and its error in units of the tolerance
//!          error ≤ 1: complete the trial (derivative at t_new, interpolant); plan the next size; done
//!          otherwise, or if the model cannot be evaluated: smaller size
//! ```
//! After an accepted step the interval is `[time_old, time]`, and `state` belongs to its end. A failed step changes neither.

use crate::control::{
    ATTEMPTS_MAX, Control, LastStep, SHRINK_ON_FAULT, all_finite, initial_step_size,
    step_size_least, trial_step,
};
use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem, SolverName, StepError, StepLimits};
use crate::scale::{Tolerances, nominal_magnitude};

/// A fixed step that ends within this part of its size before the limit lands on it: the sum of many steps is off by round-off.
const LANDING_REL: f64 = 1e-6;

/// The point from which a step is tried.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Point {
    pub t: f64,
    pub x: Vec<f64>,
    /// f(t, x), or the derivative that the last stage of an implicit method has there.
    pub dx: Vec<f64>,
    /// Tolerance of each component at `x`.
    pub weights: Vec<f64>,
    pub nominal: Vec<f64>,
    pub tolerances: Tolerances,
    /// No step of this segment has been accepted yet.
    pub first: bool,
}

impl Point {
    /// Tolerance of component `i` over a step from `x` to `x_new`.
    #[inline]
    pub(crate) fn weight_over(&self, i: usize, x_new: f64) -> f64 {
        self.tolerances
            .weight(self.x[i].abs().max(x_new.abs()), self.nominal[i])
    }

    fn update_weights(&mut self) {
        for ((weight, x), nominal) in self.weights.iter_mut().zip(&self.x).zip(&self.nominal) {
            *weight = self.tolerances.weight(*x, *nominal);
        }
    }
}

/// A trial step.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Trial {
    pub t_new: f64,
    pub h: f64,
    /// A larger trial from the same point was rejected.
    pub repeated: bool,
    /// The error decides; without it the step is taken as it is and needs no estimate.
    pub controlled: bool,
    /// State at the end, filled by [`OneStepMethod::attempt`].
    pub x: Vec<f64>,
    /// Derivative there, filled by `attempt` or by [`OneStepMethod::complete`].
    pub dx: Vec<f64>,
    /// Error estimate of each component, filled by `attempt`.
    pub error: Vec<f64>,
}

/// How a trial ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Attempt {
    /// Computed. `error` is 1 at the tolerance; `effort` ≤ 1 asks for a smaller next step after a hard iteration.
    Computed { error: f64, effort: f64 },
    /// No solution found, or one whose interpolant is useless: try this multiple of the step size.
    Again(f64),
}

/// The step that the interpolant is for.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct LastInterval {
    pub t_old: f64,
    pub t: f64,
    pub x_old: Vec<f64>,
}

/// What a discontinuity changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discontinuity {
    /// The states jumped; f is the same function as before.
    States,
    /// f may be another function.
    Dynamics,
}

/// Where an integration begins, or begins again after a discontinuity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Start<'a> {
    pub t: f64,
    pub x: &'a [f64],
    /// The derivative there, if it is known.
    pub dx: Option<&'a [f64]>,
    /// What the discontinuity changed.
    pub change: Discontinuity,
}

/// A method: tableau, stages, dense output.
pub trait OneStepMethod {
    const NAME: SolverName;
    const CONTROL: Control;
    /// Power of h in the error estimate, for the first step size.
    const ERROR_ORDER: i32;
    /// Degree of the interpolant in time.
    const DEGREE: usize;
    /// Where states jump and f stays, the last step size is tried as it is. An implicit method would step over the transient that
    /// begins there.
    const KEEPS_STEP_SIZE: bool = false;

    fn new(n: usize, tolerances: Tolerances) -> Self;

    /// The tolerances of the inner error test; the user's unless the estimate is of a much lower order than the method.
    fn inner_tolerances(tolerances: Tolerances) -> Tolerances {
        tolerances
    }

    /// A new segment begins: what was extrapolated from the last step is void, and if the dynamics changed the Jacobian too.
    fn restart(&mut self, _change: Discontinuity) {}

    /// The method goes on where another one was left.
    fn take_over(&mut self) {}

    /// Computes `trial.x` and `trial.error`.
    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError>;

    /// Makes the trial ready to be accepted: `trial.dx`, and the interpolant as far as no evaluation is needed for it. May still
    /// fail, and the trial is then repeated smaller. Nothing is left to do where [`OneStepMethod::attempt`] has done it.
    fn complete<P: Problem + ?Sized>(
        &mut self,
        _problem: &mut P,
        _point: &Point,
        _trial: &mut Trial,
        _statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        Ok(())
    }

    /// Evaluations that only the interpolant over the step needs. Called once per step at most, before or after the trial has
    /// become the last step; `x_old` is its start.
    fn complete_interpolant<P: Problem + ?Sized>(
        &mut self,
        _problem: &mut P,
        _x_old: &[f64],
        _statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        Ok(())
    }

    /// The size planned after an accepted step of size `h`; a method may keep `h` to keep its factors.
    fn plan(&mut self, _h: f64, next: f64) -> f64 {
        next
    }

    /// Bound of the eigenvalues of the Jacobian, if the method has one.
    fn lipschitz(&self) -> f64 {
        f64::INFINITY
    }

    /// Estimate of the interpolant's error at `t`. Explicit methods of this crate need none where events are located: their interpolants have the
    /// derivatives of the model at both ends and the order of the error estimate.
    fn interpolant_error<P: Problem + ?Sized>(
        &mut self,
        _: &mut P,
        _: &LastInterval,
        _t: f64,
        _weights: &[f64],
        _: &mut IntegratorStatistics,
    ) -> Result<f64, SolveError> {
        Ok(0.0)
    }

    /// State at `theta` = (t - t_old)/(t_new - t_old) of the last step.
    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]);
}

/// An integrator made of a one-step method.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct OneStep<M> {
    /// Inner tolerance of the error test over the user's.
    inner_share: f64,
    pub(crate) method: M,
    point: Point,
    trial: Trial,
    interval: LastInterval,
    interpolant_complete: bool,
    step_size_next: f64,
    /// All steps have this size, whatever their error.
    fixed: Option<f64>,
    /// A step size is known from before.
    started: bool,
    last: Option<LastStep>,
    statistics: IntegratorStatistics,
}

impl<M: OneStepMethod> OneStep<M> {
    pub fn new(tolerances: Tolerances, nominal: &[f64]) -> OneStep<M> {
        let n = nominal.len();
        let zeros = || vec![0.0; n];
        OneStep {
            method: M::new(n, tolerances),
            inner_share: M::inner_tolerances(tolerances).rel / tolerances.rel,
            point: Point {
                t: 0.0,
                x: zeros(),
                dx: zeros(),
                weights: zeros(),
                nominal: nominal.iter().map(|v| nominal_magnitude(*v)).collect(),
                tolerances: M::inner_tolerances(tolerances),
                first: true,
            },
            trial: Trial {
                t_new: 0.0,
                h: 0.0,
                repeated: false,
                controlled: true,
                x: zeros(),
                dx: zeros(),
                error: zeros(),
            },
            interval: LastInterval {
                t_old: 0.0,
                t: 0.0,
                x_old: zeros(),
            },
            interpolant_complete: true,
            step_size_next: 0.0,
            fixed: None,
            started: false,
            last: None,
            statistics: IntegratorStatistics::default(),
        }
    }

    /// From here on all steps have this size, whatever their error; they are shorter only to land on their limit.
    pub fn set_fixed_step(&mut self, step_size: f64) {
        self.fixed = Some(step_size);
        self.trial.controlled = false;
    }

    /// As new, in the memory that it has. For methods without factors: those keep what belongs to the problem solved before.
    pub(crate) fn reset(&mut self) {
        self.method.take_over();
        self.interpolant_complete = true;
        self.step_size_next = 0.0;
        self.started = false;
        self.last = None;
        self.statistics = IntegratorStatistics::default();
    }

    /// Begins, or begins again after a discontinuity. Costs up to two evaluations: the derivative, which the first step uses, if it is not
    /// known, and one that tests the step size, if f may be another function than before.
    pub fn begin<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        start: Start<'_>,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        let t = start.t;
        self.set_point(t, start.x, start.change);
        let fatal = |error| StepError::Fatal {
            time: t,
            error: Box::new(error),
        };
        match start.dx {
            Some(dx) => self.point.dx.copy_from_slice(dx),
            None => {
                self.statistics.rhs_evaluations += 1;
                problem
                    .derivatives(t, &self.point.x, &mut self.point.dx)
                    .map_err(fatal)?;
            }
        }
        if let Some(fixed) = self.fixed {
            all_finite(start.x).map_err(fatal)?;
            self.step_size_next = fixed;
            self.started = true;
            return Ok(());
        }
        let last = self.started.then_some(self.step_size_next);
        // Where f is the same function, the size that it allowed is still the best guess; the error test judges it.
        if M::KEEPS_STEP_SIZE
            && let (Some(last), Discontinuity::States) = (last, start.change)
        {
            all_finite(start.x).map_err(fatal)?;
            let span = (limits.time_end - t).min(limits.step_size_max);
            self.step_size_next = last
                .min(span)
                .max(2.0 * step_size_least(t, limits.step_size_max));
            return Ok(());
        }
        self.statistics.rhs_evaluations += 1;
        self.step_size_next = initial_step_size(
            problem,
            t,
            &self.point.x,
            &self.point.dx,
            &self.point.weights,
            M::ERROR_ORDER,
            limits,
            last,
            &mut self.trial.x,
            &mut self.trial.dx,
        )
        .map_err(fatal)?;
        self.started = true;
        Ok(())
    }

    /// Begins at a point whose derivative is known, with a step size from another method.
    pub fn continue_from(&mut self, t: f64, x: &[f64], dx: &[f64], step_size: f64) {
        self.set_point(t, x, Discontinuity::Dynamics);
        self.point.dx.copy_from_slice(dx);
        self.method.take_over();
        self.step_size_next = step_size;
        self.started = true;
    }

    /// The next [`OneStep::begin`] starts from this size instead of none.
    pub fn expect_step_size(&mut self, step_size: f64) {
        self.step_size_next = step_size;
        self.started = true;
    }

    fn set_point(&mut self, t: f64, x: &[f64], change: Discontinuity) {
        self.point.t = t;
        self.point.x.copy_from_slice(x);
        self.point.update_weights();
        self.point.first = true;
        self.interval.t_old = t;
        self.interval.t = t;
        self.interval.x_old.copy_from_slice(x);
        self.last = None;
        self.method.restart(change);
    }

    /// Takes one accepted step, with its interpolant.
    pub fn step<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        self.advance(problem, limits, true)
    }

    /// Takes one accepted step. Inside it [`OneStep::complete_interpolant`] must be called before [`OneStep::interpolate`].
    pub fn step_bare<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        self.advance(problem, limits, false)
    }

    fn advance<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
        with_interpolant: bool,
    ) -> Result<(), StepError> {
        if let Some(fixed) = self.fixed {
            return self.advance_fixed(problem, fixed, limits, with_interpolant);
        }
        let t = self.point.t;
        let least = step_size_least(t, limits.step_size_max);
        // A step that had to land at once says nothing about the size of the next one.
        self.step_size_next = self.step_size_next.max(2.0 * least);
        let wanted = self.step_size_next;
        let mut cause = None;
        self.trial.repeated = false;
        for _ in 0..ATTEMPTS_MAX {
            let (t_new, landed) = trial_step(t, self.step_size_next, limits);
            let h = t_new - t;
            if h < least && !landed || t_new <= t || limits.time_end.is_nan() {
                break;
            }
            self.trial.t_new = t_new;
            self.trial.h = h;
            let size = match self.try_step(problem, with_interpolant) {
                Ok(Attempt::Computed { error, effort }) if error <= 1.0 => {
                    let (quotient, last) = M::CONTROL.after_accepted(h, error, effort, self.last);
                    let mut next = self.method.plan(h, h / quotient);
                    if self.trial.repeated {
                        next = next.min(h);
                    } else if h < wanted {
                        // Cut short to land: the size that was wanted is still right.
                        next = next.max(wanted);
                    }
                    self.last = Some(last);
                    self.step_size_next = next;
                    self.accept(with_interpolant);
                    return Ok(());
                }
                Ok(Attempt::Computed { error, .. }) => {
                    let finite = all_finite(&self.trial.error).and(all_finite(&self.trial.x));
                    cause = finite.err().map(Box::new);
                    h / M::CONTROL.after_rejected(error)
                }
                Ok(Attempt::Again(factor)) => {
                    cause = None;
                    h * factor
                }
                Err(error) if error.recoverable() => {
                    cause = Some(Box::new(error));
                    h * SHRINK_ON_FAULT
                }
                Err(error) => {
                    return Err(StepError::Fatal {
                        time: t,
                        error: Box::new(error),
                    });
                }
            };
            self.statistics.steps_rejected += 1;
            self.trial.repeated = true;
            self.step_size_next = size;
            if size < least {
                break;
            }
        }
        let too_small = StepError::TooSmall {
            time: t,
            step_size: self.step_size_next,
            state: self.worst_state(),
            cause,
        };
        Err(too_small)
    }

    /// One step of the fixed size, or to the limit if that is nearer (or as good as there). It cannot be tried again smaller.
    fn advance_fixed<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        fixed: f64,
        limits: StepLimits,
        with_interpolant: bool,
    ) -> Result<(), StepError> {
        let t = self.point.t;
        let size = fixed.min(limits.step_size_max);
        let lands = t + size * (1.0 + LANDING_REL) >= limits.time_end;
        let t_new = if lands { limits.time_end } else { t + size };
        let failed = |state, cause| StepError::TooSmall {
            time: t,
            step_size: t_new - t,
            state,
            cause,
        };
        if t_new.is_nan() || t_new <= t {
            return Err(failed(None, None));
        }
        self.trial.t_new = t_new;
        self.trial.h = t_new - t;
        self.trial.repeated = false;
        match self.try_step(problem, with_interpolant) {
            Ok(Attempt::Computed { .. }) => {
                if let Err(error) = all_finite(&self.trial.x) {
                    return Err(failed(None, Some(Box::new(error))));
                }
                self.method.plan(self.trial.h, fixed);
                self.accept(with_interpolant);
                Ok(())
            }
            Ok(Attempt::Again(_)) => Err(failed(self.worst_state(), None)),
            Err(error) if error.recoverable() => Err(failed(None, Some(Box::new(error)))),
            Err(error) => Err(StepError::Fatal {
                time: t,
                error: Box::new(error),
            }),
        }
    }

    fn try_step<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        with_interpolant: bool,
    ) -> Result<Attempt, SolveError> {
        let (point, trial, statistics) = (&self.point, &mut self.trial, &mut self.statistics);
        let attempt = self.method.attempt(problem, point, trial, statistics)?;
        if let Attempt::Computed { error, .. } = attempt
            && (error <= 1.0 || !trial.controlled)
        {
            self.method.complete(problem, point, trial, statistics)?;
            if with_interpolant {
                self.method
                    .complete_interpolant(problem, &point.x, statistics)?;
            }
        }
        Ok(attempt)
    }

    fn accept(&mut self, with_interpolant: bool) {
        self.statistics.steps += 1;
        self.interval.t_old = self.point.t;
        self.interval.t = self.trial.t_new;
        self.point.t = self.trial.t_new;
        std::mem::swap(&mut self.interval.x_old, &mut self.point.x);
        std::mem::swap(&mut self.point.x, &mut self.trial.x);
        std::mem::swap(&mut self.point.dx, &mut self.trial.dx);
        self.point.first = false;
        self.point.update_weights();
        self.interpolant_complete = with_interpolant;
    }

    fn worst_state(&self) -> Option<usize> {
        let size = |i: usize| (self.trial.error[i] / self.point.weights[i]).abs();
        (0..self.point.x.len()).max_by(|&a, &b| size(a).total_cmp(&size(b)))
    }

    pub(crate) fn is_interpolant_complete(&self) -> bool {
        self.interpolant_complete
    }

    /// Makes the interpolant of the last step ready, if it is not.
    pub fn complete_interpolant<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<(), SolveError> {
        if !self.interpolant_complete {
            self.method.complete_interpolant(
                problem,
                &self.interval.x_old,
                &mut self.statistics,
            )?;
            self.interpolant_complete = true;
        }
        Ok(())
    }

    /// The state at a time of the last step; the ends are exact.
    #[inline]
    pub fn interpolate(&self, t: f64, out: &mut [f64]) {
        let interval = &self.interval;
        if t == interval.t {
            out.copy_from_slice(&self.point.x);
        } else if t == interval.t_old {
            out.copy_from_slice(&interval.x_old);
        } else {
            assert!(
                self.interpolant_complete,
                "complete_interpolant comes before interpolate"
            );
            let theta = (t - interval.t_old) / (interval.t - interval.t_old);
            self.method.interpolate(interval, theta, out);
        }
    }

    /// The same where it is at hand, in `room` elsewhere.
    #[inline(always)]
    pub(crate) fn at<'a>(&'a self, t: f64, room: &'a mut [f64]) -> &'a [f64] {
        let interval = &self.interval;
        if t == interval.t {
            &self.point.x
        } else {
            self.interpolate(t, room);
            room
        }
    }

    /// Degree of the interpolant in time.
    pub fn dense_degree(&self) -> usize {
        M::DEGREE
    }

    /// The last step counts as rejected; the next one has this size.
    pub(crate) fn take_back(&mut self, step_size: f64) {
        self.statistics.take_back();
        self.step_size_next = step_size;
    }

    /// Plans the size of the next step.
    pub fn set_step_size(&mut self, step_size: f64) {
        self.step_size_next = step_size;
    }

    pub fn time(&self) -> f64 {
        self.point.t
    }

    /// Start of the last step.
    pub fn time_old(&self) -> f64 {
        self.interval.t_old
    }

    pub fn state(&self) -> &[f64] {
        &self.point.x
    }

    /// Tolerance of each component at the current point.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.point.weights
    }

    /// The derivative at the current point.
    pub fn derivative(&self) -> &[f64] {
        &self.point.dx
    }

    pub fn step_size_next(&self) -> f64 {
        self.step_size_next
    }

    /// Estimate of the error of the interpolant at a time inside the last step, in units of the tolerance; zero where the error test of the
    /// step covers it.
    pub fn interpolant_error<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        t: f64,
    ) -> Result<f64, SolveError> {
        let (interval, statistics) = (&self.interval, &mut self.statistics);
        if t < interval.t_old || t >= interval.t {
            return Ok(0.0);
        }
        let weights = &self.point.weights;
        let error = (self.method).interpolant_error(problem, interval, t, weights, statistics)?;
        Ok(error * self.inner_share)
    }

    /// Bound of the eigenvalues of the Jacobian; infinite where none is known.
    pub(crate) fn lipschitz(&self) -> f64 {
        self.method.lipschitz()
    }

    pub fn statistics(&self) -> &IntegratorStatistics {
        &self.statistics
    }
}
