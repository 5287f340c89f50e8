//! Backward differentiation formulas of order 1 to 5 with variable step size on the implicit form F(t, x, x') = 0.
//!
//! Method: the fixed-leading-coefficient form (Jackson, Sacks-Davis, ACM TOMS 6 (1980) 295), with the formulas, error estimates
//! and rules for order and step size of Brenan, Campbell, Petzold, Numerical Solution of Initial-Value Problems in DAEs,
//! chapter 5. For a step from t_n to t_{n+1} = t_n + h at order k:
//!
//! - ψ_i(n) = t_n - t_{n-i}, and the modified divided differences φ_1(n) = x_n,
//!   φ_i(n) = ψ_1(n)···ψ_{i-1}(n) [x_n, …, x_{n-i+1}];
//! - α_i = h/ψ_i(n+1), β_i = Π_{j<i} ψ_j(n+1)/ψ_j(n), φ*_i = β_i φ_i(n), γ_1 = 0, γ_i = γ_{i-1} + α_{i-1}/h,
//!   σ_1 = 1, σ_i = (i-1) α_i σ_{i-1};
//! - predictor: x⁰ = Σ_{i≤k+1} φ*_i and x'⁰ = Σ_{i≤k+1} γ_i φ*_i, the polynomial through the last k+1 points;
//! - corrector: F(t_{n+1}, x⁰ + e, x'⁰ + α e) = 0 with α = (Σ_{j≤k} 1/j)/h, which depends on the order and on this step
//!   size only; modified Newton with the matrix F_x + α̂ F_x' of an earlier α̂, its correction multiplied by 2/(1 + α/α̂);
//! - error: max(α_{k+1}, |α_{k+1} - Σ_{j≤k} 1/j + Σ_{i≤k} α_i|)·‖e‖, of the interpolant and of the formula;
//! - new differences: φ_{k+2} = e, φ_{k+1} = φ*_{k+1} + e, φ_j = φ*_j + φ_{j+1}.
//!
//! The interpolant over the step is the polynomial through x_{n+1}, …, x_{n+1-k}: it is continuous from step to step. F_x and F_x'
//! are evaluated at the predicted point and kept apart: a new α costs a factorisation, not a Jacobian.

use crate::control::{
    ATTEMPTS_MAX, SHRINK_ON_FAULT, all_finite, initial_step_size, step_size_least, trial_step,
};
use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem, StepError, StepLimits};
use crate::jacobian::{IterationMatrix, Jacobian};
use crate::one_step::Start;
use crate::scale::{EPS, Tolerances, nominal_magnitude, rms};

const ORDER_MAX: usize = 5;
/// φ_1 … φ_{k+2} for the highest order.
const DIFFERENCES: usize = ORDER_MAX + 2;
/// Iterations of the modified Newton method.
const NEWTON_MAX: u32 = 4;
/// Part of the user's tolerance that one step may use. The steps of a multistep method are short and the errors of neighbours have
/// one sign, so they add up: with the whole tolerance the end values of the standard stiff set are off by 2 to 80 tolerances (those of
/// IDA and CVODE by 2 to 150), with a tenth by less than the 10 that the one-step methods keep (docs/solvers.md).
const STEP_SHARE: f64 = 0.1;
/// The share is not taken below this many ulps: differences of the history are round-off there.
const STEP_SHARE_ULPS: f64 = 100.0;
/// The Newton iteration ends when its error is estimated below this part of what the error test allows, whose factor of ‖e‖ is
/// at most 1: the error test does not see it.
const NEWTON_FRACTION: f64 = 0.1;
/// A contraction above this is a failure of the iteration.
const CONTRACTION_MAX: f64 = 0.9;
/// Factor of the first correction in the convergence test while no contraction is known for the matrix in use.
const FACTOR_UNKNOWN: f64 = 100.0;
/// A first correction below this many ulps of the state is round-off.
const ROUND_OFF_ULPS: f64 = 100.0;
/// The factors are kept while α/α̂ is within these bounds: (1 - r)/(1 + r) and its inverse for a contraction r = 1/4.
const ALPHA_RATIO: std::ops::RangeInclusive<f64> = 0.6..=1.0 / 0.6;
/// F_x is made again with new factors after this many steps, earlier only if Newton fails.
const JACOBIAN_AGE_MAX: u32 = 20;
/// Step sizes that differ by less count as equal.
const SAME_STEP_REL: f64 = 1e-9;
/// The step size for an error e at order k is h (2 e + this)^(-1/(k+1)).
const ERROR_FLOOR: f64 = 1e-4;
/// Bounds of the step size factor after accepted and after rejected steps.
const GROWTH: f64 = 2.0;
const SHRINK: std::ops::RangeInclusive<f64> = 0.5..=0.9;
const SHRINK_REJECTED: std::ops::RangeInclusive<f64> = 0.25..=0.9;
/// A step cut to less than this part of the one before says nothing about higher derivatives: differences over it are round-off.
const SLIVER: f64 = 1e-3;
/// Rejections by the error test at one step after which the order is 1.
const REJECTIONS_TO_ORDER_ONE: u32 = 3;
/// Step size factor after a Newton failure with a matrix made at this step, and after repeated rejections.
const SHRINK_HARD: f64 = 0.25;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bdf {
    tolerances: Tolerances,
    nominal: Vec<f64>,
    t_old: f64,
    /// t_n, t_{n-1}, …; times before the start are as if steps of the first size had been taken.
    times: [f64; DIFFERENCES],
    /// φ_1(n), φ_2(n), …; the first is the state.
    phi: [Vec<f64>; DIFFERENCES],
    x_old: Vec<f64>,
    /// Order of the next step and of the last one.
    order: usize,
    order_last: usize,
    /// Holds the order, for tests.
    pinned: bool,
    /// Size of the last step and the number of steps with its size and order.
    step_size_last: f64,
    equal_steps: u32,
    step_size_next: f64,
    started: bool,
    first: bool,
    /// The last step was only there to land somewhere.
    after_sliver: bool,
    /// Order and step size rise with every step until the first sign that one is too high.
    rising: bool,
    weights: Vec<f64>,
    /// Derivative at the start, then the predicted one.
    dx: Vec<f64>,
    predicted: Vec<f64>,
    /// x - x⁰
    correction: Vec<f64>,
    trial: Vec<f64>,
    trial_dx: Vec<f64>,
    residual: Vec<f64>,
    jacobian: Jacobian,
    /// Steps since the Jacobian was made; `None`: there is none.
    jacobian_age: Option<u32>,
    matrix: IterationMatrix<f64>,
    /// α of the factors; `None`: there are none.
    alpha_factored: Option<f64>,
    alpha_last: f64,
    /// r/(1 - r) for the contraction r of the matrix in use.
    newton_factor: f64,
    statistics: IntegratorStatistics,
}

/// Coefficients of one step.
struct Coefficients {
    /// α of the corrector.
    alpha: f64,
    beta: [f64; DIFFERENCES],
    gamma: [f64; DIFFERENCES],
    sigma: [f64; DIFFERENCES],
    /// Factor of ‖e‖ in the error test.
    error: f64,
}

/// Error estimates after the Newton iteration.
struct Estimates {
    /// The number of the error test.
    test: f64,
    /// Estimate for the order below if it is to be taken, else for this order.
    best: f64,
    lower: bool,
    /// (order + 1) times the estimate, for this order and the one below.
    scaled: f64,
    scaled_below: f64,
}

/// The tolerances of one step.
fn inner_tolerances(tolerances: Tolerances) -> Tolerances {
    let smallest = tolerances.rel.min(STEP_SHARE_ULPS * EPS);
    let rel = (STEP_SHARE * tolerances.rel).max(smallest);
    Tolerances {
        rel,
        abs: rel * tolerances.abs / tolerances.rel,
    }
}

impl Bdf {
    pub fn new(tolerances: Tolerances, nominal: &[f64]) -> Bdf {
        let n = nominal.len();
        let zeros = || vec![0.0; n];
        Bdf {
            tolerances: inner_tolerances(tolerances),
            nominal: nominal.iter().map(|v| nominal_magnitude(*v)).collect(),
            t_old: 0.0,
            times: [0.0; DIFFERENCES],
            phi: std::array::from_fn(|_| zeros()),
            x_old: zeros(),
            order: 1,
            order_last: 1,
            pinned: false,
            step_size_last: 0.0,
            equal_steps: 0,
            step_size_next: 0.0,
            started: false,
            first: true,
            after_sliver: false,
            rising: true,
            weights: zeros(),
            dx: zeros(),
            predicted: zeros(),
            correction: zeros(),
            trial: zeros(),
            trial_dx: zeros(),
            residual: zeros(),
            jacobian: Jacobian::default(),
            jacobian_age: None,
            matrix: IterationMatrix::new(),
            alpha_factored: None,
            alpha_last: 0.0,
            newton_factor: FACTOR_UNKNOWN,
            statistics: IntegratorStatistics::default(),
        }
    }

    /// Holds the order, with the values before the start given: `values[i]` is the state at `times[i]`, newest first, one more
    /// than the order.
    #[cfg(test)]
    fn pinned(tolerances: Tolerances, nominal: &[f64], times: &[f64], values: &[Vec<f64>]) -> Bdf {
        let mut bdf = Bdf::new(tolerances, nominal);
        bdf.order = times.len() - 1;
        bdf.order_last = bdf.order;
        bdf.pinned = true;
        bdf.first = false;
        bdf.started = true;
        bdf.rising = false;
        let h = times[0] - times[1];
        bdf.times = std::array::from_fn(|i| match times.get(i) {
            Some(t) => *t,
            None => times[0] - i as f64 * h,
        });
        bdf.t_old = times[0];
        bdf.step_size_last = h;
        bdf.step_size_next = h;
        for i in 0..nominal.len() {
            let mut column: Vec<f64> = values.iter().map(|x| x[i]).collect();
            let mut product = 1.0;
            for k in 0..times.len() {
                bdf.phi[k][i] = product * column[0];
                for j in 0..column.len() - 1 {
                    column[j] = (column[j] - column[j + 1]) / (times[j] - times[j + k + 1]);
                }
                column.pop();
                product *= bdf.times[0] - bdf.times[k + 1];
            }
        }
        bdf.update_weights();
        bdf
    }

    /// Begins at order 1. The first step size comes from Hairer's estimate; after a discontinuity it is at most the last one.
    pub fn begin<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        start: Start<'_>,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        let Start { t, x, dx, .. } = start;
        self.phi[0].copy_from_slice(x);
        self.x_old.copy_from_slice(x);
        self.times = [t; DIFFERENCES];
        self.t_old = t;
        let fatal = |error| StepError::Fatal {
            time: t,
            error: Box::new(error),
        };
        self.statistics.rhs_evaluations += 1;
        match dx {
            Some(dx) => self.dx.copy_from_slice(dx),
            None => {
                self.statistics.rhs_evaluations += 1;
                problem
                    .derivatives(t, &self.phi[0], &mut self.dx)
                    .map_err(fatal)?;
            }
        }
        self.update_weights();
        let last = self.started.then_some(self.step_size_next);
        self.step_size_next = initial_step_size(
            problem,
            t,
            &self.phi[0],
            &self.dx,
            &self.weights,
            2,
            limits,
            last,
            &mut self.trial,
            &mut self.trial_dx,
        )
        .map_err(fatal)?;
        self.reset_history();
        Ok(())
    }

    /// Begins at a point whose derivative is known, with a step size from another method.
    pub fn continue_from(&mut self, t: f64, x: &[f64], dx: &[f64], step_size: f64) {
        self.phi[0].copy_from_slice(x);
        self.x_old.copy_from_slice(x);
        self.dx.copy_from_slice(dx);
        self.times = [t; DIFFERENCES];
        self.t_old = t;
        self.update_weights();
        self.step_size_next = step_size;
        self.reset_history();
    }

    /// Nothing before this point counts: order 1, a new Jacobian.
    fn reset_history(&mut self) {
        self.started = true;
        self.first = true;
        self.after_sliver = false;
        self.rising = true;
        self.order = 1;
        self.order_last = 1;
        self.equal_steps = 0;
        self.step_size_last = self.step_size_next;
        self.jacobian_age = None;
        self.alpha_factored = None;
    }

    pub fn step<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        let time = self.times[0];
        let least = step_size_least(time, limits.step_size_max);
        self.step_size_next = self.step_size_next.max(2.0 * least);
        let wanted = self.step_size_next;
        let mut rejections = 0;
        let mut tried = false;
        let mut cause: Option<Box<SolveError>> = None;
        for _ in 0..ATTEMPTS_MAX {
            let (t_new, landed) = trial_step(time, self.step_size_next, limits);
            let h = t_new - time;
            if h < least && !landed || t_new <= time {
                break;
            }
            if self.first {
                self.history_of_first_step(h);
            }
            let coefficients = self.coefficients(t_new, h);
            self.predict(&coefficients);
            match self.correct(problem, t_new, coefficients.alpha) {
                Ok(true) => {}
                Ok(false) => {
                    self.reject(h * SHRINK_HARD);
                    tried = true;
                    continue;
                }
                Err(error) if error.recoverable() => {
                    cause = Some(Box::new(error));
                    self.reject(h * SHRINK_ON_FAULT);
                    tried = true;
                    continue;
                }
                Err(error) => {
                    return Err(StepError::Fatal {
                        time,
                        error: Box::new(error),
                    });
                }
            }
            let estimates = self.estimate(&coefficients);
            if estimates.test <= 1.0 && landed && h < SLIVER * self.step_size_last && !self.pinned {
                self.accept_sliver(t_new, h, coefficients.alpha);
                self.step_size_next = wanted;
                return Ok(());
            }
            if estimates.test <= 1.0 {
                self.accept(t_new, h, &coefficients, &estimates);
                if h < wanted && !tried {
                    // Cut short to land: the size that was wanted is still right.
                    self.step_size_next = self.step_size_next.max(wanted.min(GROWTH * h));
                }
                return Ok(());
            }
            cause = None;
            rejections += 1;
            tried = true;
            if estimates.lower {
                self.order -= 1;
            }
            let mut factor = SHRINK_HARD;
            if rejections == 1 {
                factor = clamp(0.9 * self.size_factor(estimates.best), &SHRINK_REJECTED);
            } else if rejections >= REJECTIONS_TO_ORDER_ONE && !self.pinned {
                self.order = 1;
            }
            self.reject(h * factor);
        }
        Err(StepError::TooSmall {
            time,
            step_size: self.step_size_next,
            state: self.worst_state(),
            cause,
        })
    }

    fn reject(&mut self, step_size: f64) {
        self.statistics.steps_rejected += 1;
        self.rising = false;
        self.step_size_next = step_size;
    }

    /// The point before the start lies one step back on the tangent.
    fn history_of_first_step(&mut self, h: f64) {
        let t = self.times[0];
        self.times = std::array::from_fn(|i| t - i as f64 * h);
        let psi = t - self.times[1];
        for (phi, dx) in self.phi[1].iter_mut().zip(&self.dx) {
            *phi = psi * dx;
        }
    }

    fn coefficients(&self, t_new: f64, h: f64) -> Coefficients {
        let k = self.order;
        let psi_old = |i: usize| self.times[0] - self.times[i];
        let psi_new = |i: usize| t_new - self.times[i - 1];
        let mut beta = [1.0; DIFFERENCES];
        let mut gamma = [0.0; DIFFERENCES];
        let mut sigma = [1.0; DIFFERENCES];
        let mut leading = 0.0;
        let mut variable = 0.0;
        for i in 1..=k {
            let alpha = h / psi_new(i);
            leading += 1.0 / i as f64;
            variable += alpha;
            beta[i] = beta[i - 1] * psi_new(i) / psi_old(i);
            gamma[i] = gamma[i - 1] + alpha / h;
            sigma[i] = i as f64 * sigma[i - 1] * h / psi_new(i + 1);
        }
        let alpha_next = h / psi_new(k + 1);
        Coefficients {
            alpha: leading / h,
            beta,
            gamma,
            sigma,
            error: alpha_next.max((alpha_next - leading + variable).abs()),
        }
    }

    fn predict(&mut self, coefficients: &Coefficients) {
        self.predicted.copy_from_slice(&self.phi[0]);
        for j in 1..=self.order {
            add_scaled(&mut self.predicted, coefficients.beta[j], &self.phi[j]);
        }
        // In the first step `dx` is the derivative at the start and has to survive a rejection; the predicted one is the same.
        if !self.first {
            self.dx.fill(0.0);
            for j in 1..=self.order {
                let factor = coefficients.gamma[j] * coefficients.beta[j];
                add_scaled(&mut self.dx, factor, &self.phi[j]);
            }
        }
    }

    // --- Newton -----------------------------------------------------------------------------------------------------

    /// Solves for the correction. `false`: no convergence with a matrix made at this very point.
    fn correct<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        t_new: f64,
        alpha: f64,
    ) -> Result<bool, SolveError> {
        // The first pass may use an old Jacobian, the second does not.
        for _ in 0..2 {
            let outdated = match self.alpha_factored {
                Some(factored) => !ALPHA_RATIO.contains(&(alpha / factored)),
                None => true,
            };
            let mut fresh = false;
            if outdated {
                if self.jacobian_age.is_none_or(|age| age > JACOBIAN_AGE_MAX) {
                    self.jacobian.update(
                        problem,
                        t_new,
                        &self.predicted,
                        &self.dx,
                        &self.nominal,
                        &mut self.statistics,
                    )?;
                    self.jacobian_age = Some(0);
                    fresh = true;
                }
                if !self.factor(alpha) {
                    return Ok(false);
                }
                self.newton_factor = FACTOR_UNKNOWN;
            } else if alpha != self.alpha_last {
                self.newton_factor = FACTOR_UNKNOWN;
            }
            self.alpha_last = alpha;
            let converged = match self.newton(problem, t_new, alpha) {
                Ok(converged) => converged,
                Err(error) if error.recoverable() && !fresh => false,
                Err(error) => return Err(error),
            };
            if converged {
                return Ok(true);
            }
            self.jacobian_age = None;
            self.alpha_factored = None;
            if fresh {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn factor(&mut self, alpha: f64) -> bool {
        self.statistics.factorizations += 1;
        let regular = self.matrix.factor(&self.jacobian, alpha);
        self.alpha_factored = regular.then_some(alpha);
        self.alpha_factored.is_some()
    }

    fn newton<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        t_new: f64,
        alpha: f64,
    ) -> Result<bool, SolveError> {
        let n = self.predicted.len();
        let scale = match self.alpha_factored {
            Some(factored) => 2.0 / (1.0 + alpha / factored),
            None => return Ok(false),
        };
        let round_off = ROUND_OFF_ULPS * EPS * rms(&self.predicted, &self.weights);
        self.correction.fill(0.0);
        let mut size_first = 0.0;
        for iteration in 0..NEWTON_MAX {
            for i in 0..n {
                self.trial[i] = self.predicted[i] + self.correction[i];
                self.trial_dx[i] = self.dx[i] + alpha * self.correction[i];
            }
            self.statistics.rhs_evaluations += 1;
            problem.residual(t_new, &self.trial, &self.trial_dx, &mut self.residual)?;
            all_finite(&self.residual)?;
            self.matrix.solve(&mut self.residual);
            for (e, delta) in self.correction.iter_mut().zip(&mut self.residual) {
                *delta *= scale;
                *e -= *delta;
            }
            let size = rms(&self.residual, &self.weights);
            if !size.is_finite() {
                return Ok(false);
            }
            if size <= round_off {
                return Ok(true);
            }
            if iteration == 0 {
                size_first = size;
            } else {
                let contraction = (size / size_first).powf(1.0 / f64::from(iteration));
                if contraction > CONTRACTION_MAX {
                    return Ok(false);
                }
                self.newton_factor = contraction / (1.0 - contraction);
            }
            if self.newton_factor * size <= NEWTON_FRACTION {
                return Ok(true);
            }
        }
        Ok(false)
    }

    // --- error, order and step size ---------------------------------------------------------------------------------

    /// Estimates of the leading error terms at the orders k, k-1 and k-2 as if the steps had been of equal size; the order is to
    /// be lowered if they do not fall with the order.
    fn estimate(&mut self, coefficients: &Coefficients) -> Estimates {
        let k = self.order;
        let norm = rms(&self.correction, &self.weights);
        let error = coefficients.sigma[k] * norm;
        let mut estimates = Estimates {
            test: coefficients.error * norm,
            best: error,
            lower: false,
            scaled: (k + 1) as f64 * error,
            scaled_below: f64::INFINITY,
        };
        if k > 1 && !self.pinned {
            // ‖e + φ*_{k+1}‖ and ‖e + φ*_{k+1} + φ*_k‖: the differences of one and two orders less at the new point.
            self.trial.copy_from_slice(&self.correction);
            add_scaled(&mut self.trial, coefficients.beta[k], &self.phi[k]);
            let below = coefficients.sigma[k - 1] * rms(&self.trial, &self.weights);
            estimates.scaled_below = k as f64 * below;
            estimates.lower = if k > 2 {
                add_scaled(&mut self.trial, coefficients.beta[k - 1], &self.phi[k - 1]);
                let second = coefficients.sigma[k - 2] * rms(&self.trial, &self.weights);
                estimates.scaled_below.max((k - 1) as f64 * second) <= estimates.scaled
            } else {
                estimates.scaled_below <= 0.5 * estimates.scaled
            };
            if estimates.lower {
                estimates.best = below;
            }
        }
        estimates
    }

    /// Step size factor at the order that is set now.
    fn size_factor(&self, error: f64) -> f64 {
        (2.0 * error + ERROR_FLOOR).powf(-1.0 / (self.order + 1) as f64)
    }

    fn accept(&mut self, t_new: f64, h: f64, coefficients: &Coefficients, estimates: &Estimates) {
        let k = self.order;
        let raised_last = k > self.order_last;
        let same_size = (h - self.step_size_last).abs() <= SAME_STEP_REL * h;
        self.equal_steps = if same_size && k == self.order_last && !self.first {
            self.equal_steps.saturating_add(1)
        } else {
            1
        };
        // The estimate above needs the difference of the step before, at equal steps.
        let usable = k < ORDER_MAX && self.equal_steps as usize >= k + 2 && !raised_last;
        let above = usable.then(|| {
            self.trial.copy_from_slice(&self.correction);
            add_scaled(&mut self.trial, -1.0, &self.phi[k + 1]);
            rms(&self.trial, &self.weights) / (k + 2) as f64
        });
        self.x_old.copy_from_slice(&self.phi[0]);
        self.phi[k + 1].copy_from_slice(&self.correction);
        for j in (1..=k).rev() {
            let (low, high) = self.phi.split_at_mut(j + 1);
            for (phi, next) in low[j].iter_mut().zip(&high[0]) {
                *phi = coefficients.beta[j] * *phi + next;
            }
        }
        for i in 0..self.correction.len() {
            self.phi[0][i] = self.predicted[i] + self.correction[i];
        }
        self.t_old = self.times[0];
        self.times.copy_within(..DIFFERENCES - 1, 1);
        self.times[0] = t_new;
        self.order_last = k;
        self.step_size_last = h;
        self.first = false;
        self.after_sliver = false;
        self.jacobian_age = self.jacobian_age.map(|age| age.saturating_add(1));
        self.statistics.steps += 1;
        self.update_weights();
        self.plan(h, estimates, above);
    }

    /// A step that is only there to land somewhere. The polynomial of the history goes on, moved by the correction, and its points
    /// are set anew at the distance of the last step; x_{n+1-i} of the new history is its value at t_{n+1} - i h. In the first
    /// step, and after a step of the same kind (the derivative would become stale), the history begins here instead.
    fn accept_sliver(&mut self, t_new: f64, h: f64, alpha: f64) {
        let begins = self.first || self.after_sliver;
        self.x_old.copy_from_slice(&self.phi[0]);
        self.t_old = self.times[0];
        if begins {
            for i in 0..self.correction.len() {
                self.phi[0][i] = self.predicted[i] + self.correction[i];
                self.dx[i] += alpha * self.correction[i];
                self.phi[1][i] = h * self.dx[i];
            }
            self.times = std::array::from_fn(|i| t_new - i as f64 * h);
            self.order = 1;
            self.first = true;
            self.rising = true;
        } else {
            self.move_history(t_new, self.step_size_last);
        }
        self.after_sliver = !begins;
        self.order_last = self.order;
        self.equal_steps = 0;
        self.jacobian_age = self.jacobian_age.map(|age| age.saturating_add(1));
        self.statistics.steps += 1;
        self.update_weights();
    }

    /// Points at t_new - i h on the polynomial of the history, moved by the correction; for equal steps the φ are backward
    /// differences ∇ⁱx = Σ_m (-1)ᵐ C(i, m) x_m.
    fn move_history(&mut self, t_new: f64, h: f64) {
        let k = self.order;
        let times: [f64; DIFFERENCES] = std::array::from_fn(|i| t_new - i as f64 * h);
        // basis[m][j]: factor of φ_j at point m.
        let mut basis = [[1.0; DIFFERENCES]; DIFFERENCES];
        for (basis, t) in basis.iter_mut().zip(&times) {
            for j in 1..=k {
                let factor = (t - self.times[j - 1]) / (self.times[0] - self.times[j]);
                basis[j] = basis[j - 1] * factor;
            }
        }
        for i in 0..self.correction.len() {
            let mut points = [0.0; DIFFERENCES];
            for (point, basis) in points.iter_mut().zip(&basis).take(k + 1) {
                *point =
                    self.correction[i] + (0..=k).map(|j| basis[j] * self.phi[j][i]).sum::<f64>();
            }
            self.phi[0][i] = self.predicted[i] + self.correction[i];
            for j in 1..=k {
                for m in 0..=k - j {
                    points[m] -= points[m + 1];
                }
                self.phi[j][i] = points[0];
            }
        }
        self.times = times;
    }

    /// Order and size of the next step.
    fn plan(&mut self, h: f64, estimates: &Estimates, above: Option<f64>) {
        let k = self.order;
        if estimates.lower || k == ORDER_MAX || self.pinned {
            self.rising = false;
        }
        if self.rising {
            self.order = k + 1;
            self.step_size_next = GROWTH * h;
            return;
        }
        let mut error = estimates.best;
        if estimates.lower {
            self.order = k - 1;
        } else if let Some(above) = above
            && !self.pinned
        {
            let scaled_above = (k + 2) as f64 * above;
            if k > 1 && estimates.scaled_below <= estimates.scaled.min(scaled_above) {
                self.order = k - 1;
                error = estimates.scaled_below / k as f64;
            } else if (k > 1 && scaled_above < estimates.scaled)
                || scaled_above < 0.5 * estimates.scaled
            {
                self.order = k + 1;
                error = above;
            }
        }
        let factor = self.size_factor(error);
        self.step_size_next = if factor >= GROWTH {
            GROWTH * h
        } else if factor <= 1.0 {
            h * clamp(factor, &SHRINK)
        } else {
            h
        };
    }

    fn worst_state(&self) -> Option<usize> {
        let size = |i: usize| (self.correction[i] / self.weights[i]).abs();
        (0..self.correction.len()).max_by(|&a, &b| size(a).total_cmp(&size(b)))
    }

    fn update_weights(&mut self) {
        for i in 0..self.weights.len() {
            self.weights[i] = self.tolerances.weight(self.phi[0][i], self.nominal[i]);
        }
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

    /// The derivative of the polynomial at the current point.
    pub fn derivative(&self) -> &[f64] {
        &self.dx
    }

    /// The next [`Bdf::begin`] starts from this size instead of none.
    pub fn expect_step_size(&mut self, step_size: f64) {
        self.step_size_next = step_size;
        self.started = true;
    }

    /// Not known: a multistep method is not left for an explicit one.
    pub(crate) fn lipschitz(&self) -> f64 {
        f64::INFINITY
    }

    pub fn step_size_next(&self) -> f64 {
        self.step_size_next
    }

    pub fn time(&self) -> f64 {
        self.times[0]
    }

    pub fn time_old(&self) -> f64 {
        self.t_old
    }

    pub fn state(&self) -> &[f64] {
        &self.phi[0]
    }

    pub fn statistics(&self) -> &IntegratorStatistics {
        &self.statistics
    }

    /// Degree of the interpolant over the last step.
    pub fn dense_degree(&self) -> usize {
        self.order_last
    }

    /// φ_1 + Σ_{i=1}^{k} φ_{i+1} Π_{j=1}^{i} (t - t_{n+1} + ψ_{j-1})/ψ_j with ψ_0 = 0.
    pub fn interpolate(&self, t: f64, out: &mut [f64]) {
        if t == self.times[0] {
            out.copy_from_slice(&self.phi[0]);
            return;
        }
        if t == self.t_old {
            out.copy_from_slice(&self.x_old);
            return;
        }
        out.copy_from_slice(&self.phi[0]);
        let mut factor = 1.0;
        for j in 1..=self.order_last {
            factor *= (t - self.times[j - 1]) / (self.times[0] - self.times[j]);
            for (out, phi) in out.iter_mut().zip(&self.phi[j]) {
                *out += factor * phi;
            }
        }
    }
}

/// target += factor · vector
fn add_scaled(target: &mut [f64], factor: f64, vector: &[f64]) {
    for (target, value) in target.iter_mut().zip(vector) {
        *target += factor * value;
    }
}

fn clamp(value: f64, bounds: &std::ops::RangeInclusive<f64>) -> f64 {
    value.clamp(*bounds.start(), *bounds.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Oscillator;

    impl Problem for Oscillator {
        fn n_states(&self) -> usize {
            2
        }

        fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
            dx[0] = x[1];
            dx[1] = -x[0];
            Ok(())
        }
    }

    fn exact(t: f64) -> Vec<f64> {
        vec![t.cos(), -t.sin()]
    }

    /// Tolerances that accept every step; Newton ends by round-off because the problem is linear.
    const LOOSE: Tolerances = Tolerances {
        rel: 1e-9,
        abs: 1e-9,
    };

    fn pinned(order: usize, h: f64) -> Bdf {
        let times: Vec<f64> = (0..=order).map(|i| -(i as f64) * h).collect();
        let values: Vec<Vec<f64>> = times.iter().map(|t| exact(*t)).collect();
        Bdf::pinned(LOOSE, &[1e9, 1e9], &times, &values)
    }

    fn distance(x: &[f64], t: f64) -> f64 {
        (x[0] - t.cos()).hypot(x[1] + t.sin())
    }

    /// Error at t = 1 from exact values before the start; steps of one size, or of sizes that alternate as 4 to 5.
    fn global_error(order: usize, steps: u32, alternate: bool) -> f64 {
        let h = 1.0 / f64::from(steps);
        let mut bdf = pinned(order, h);
        for step in 1..=steps {
            let shift = if alternate && step % 2 == 1 {
                -h / 9.0
            } else {
                0.0
            };
            let time_end = f64::from(step) * h + shift;
            bdf.set_step_size(time_end - bdf.time());
            let limits = StepLimits {
                time_end,
                step_size_max: 1.0,
            };
            bdf.step(&mut Oscillator, limits).expect("steps");
        }
        assert_eq!(bdf.statistics().steps, u64::from(steps));
        assert_eq!(bdf.statistics().steps_rejected, 0);
        distance(bdf.state(), bdf.time())
    }

    #[test]
    fn measured_order_is_the_theory_for_equal_and_for_unequal_steps() {
        for alternate in [false, true] {
            for (order, steps) in [(1, 400), (2, 200), (3, 100), (4, 64), (5, 48)] {
                let coarse = global_error(order, steps, alternate);
                let fine = global_error(order, 2 * steps, alternate);
                let found = (coarse / fine).log2();
                assert!(
                    (found - order as f64).abs() < 0.2,
                    "{order} {alternate}: {found} ({coarse} {fine})"
                );
            }
        }
    }

    /// One step of x' = d·t^(d-1) over (1, 2) from exact values of t^d before.
    fn polynomial_error(order: usize, degree: i32) -> f64 {
        struct Power(i32);
        impl Problem for Power {
            fn n_states(&self) -> usize {
                1
            }
            fn derivatives(&mut self, t: f64, _: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
                dx[0] = f64::from(self.0) * t.powi(self.0 - 1);
                Ok(())
            }
        }
        // Unequal steps.
        let times: Vec<f64> = (0..=order)
            .map(|i| 1.0 - 0.1 * (i + i * i) as f64)
            .collect();
        let values: Vec<Vec<f64>> = times.iter().map(|t| vec![t.powi(degree)]).collect();
        let mut bdf = Bdf::pinned(LOOSE, &[1e12], &times, &values);
        bdf.set_step_size(1.0);
        let limits = StepLimits {
            time_end: 2.0,
            step_size_max: 1.0,
        };
        bdf.step(&mut Power(degree), limits).expect("steps");
        assert_eq!(bdf.time(), 2.0);
        (bdf.state()[0] / 2f64.powi(degree) - 1.0).abs()
    }

    #[test]
    fn exact_for_polynomials_of_the_order_and_not_beyond() {
        for order in 1..=ORDER_MAX {
            for degree in 1..=order as i32 {
                let error = polynomial_error(order, degree);
                assert!(error < 1e-12, "{order} {degree}: {error}");
            }
            let error = polynomial_error(order, order as i32 + 1);
            assert!(error > 1e-3, "{order}: {error}");
        }
    }

    #[test]
    fn interpolant_has_one_power_more_than_the_order() {
        for (order, h) in [(1, 0.01), (2, 0.02), (3, 0.03), (4, 0.04), (5, 0.05)] {
            let error = |h: f64| {
                let mut bdf = pinned(order, h);
                let limits = StepLimits {
                    time_end: h,
                    step_size_max: h,
                };
                bdf.step(&mut Oscillator, limits).expect("steps");
                let mut x = [0.0; 2];
                (1..20).fold(0.0, |worst: f64, k| {
                    let t = f64::from(k) / 20.0 * h;
                    bdf.interpolate(t, &mut x);
                    worst.max(distance(&x, t))
                })
            };
            let found = (error(h) / error(0.5 * h)).log2();
            assert!((found - (order + 1) as f64).abs() < 0.2, "{order}: {found}");
        }
    }
}
