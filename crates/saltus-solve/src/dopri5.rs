//! DOPRI5: the pair of Dormand and Prince, order 5 with embedded order 4, first-same-as-last, and the dense output of order 4
//! of Hairer, Nørsett and Wanner (Solving ODEs I, II.5 and II.6). Step sizes by the PI controller of II.4 there (β = 0.04).
//! Stiffness is detected by the estimate h·λ ≈ h‖k7 - k6‖/‖x7 - x6‖ against the stability boundary 3.25 (Solving ODEs II, IV.2).

use crate::error::SolveError;
use crate::integrator::{
    ATTEMPTS_MAX, IntegratorStatistics, Problem, SHRINK_ON_FAULT, StepError, StepLimits,
    initial_step_size, step_size_min, trial_step,
};
use crate::scale::{Tolerances, nominal_magnitude, rms};

const C: [f64; 6] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0];
const A2: [f64; 1] = [0.2];
const A3: [f64; 2] = [3.0 / 40.0, 9.0 / 40.0];
const A4: [f64; 3] = [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0];
const A5: [f64; 4] = [
    19372.0 / 6561.0,
    -25360.0 / 2187.0,
    64448.0 / 6561.0,
    -212.0 / 729.0,
];
const A6: [f64; 5] = [
    9017.0 / 3168.0,
    -355.0 / 33.0,
    46732.0 / 5247.0,
    49.0 / 176.0,
    -5103.0 / 18656.0,
];
/// Weights of order 5 for k1..k6 (k2 has none).
const B: [f64; 6] = [
    35.0 / 384.0,
    0.0,
    500.0 / 1113.0,
    125.0 / 192.0,
    -2187.0 / 6784.0,
    11.0 / 84.0,
];
/// Difference to the weights of order 4, k1..k7.
const E: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
/// Dense output, k1..k7.
const D: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

const SAFETY: f64 = 0.9;
/// Stabilisation exponent of the PI controller.
const BETA: f64 = 0.04;
const SHRINK_MAX: f64 = 5.0;
const GROWTH_MAX: f64 = 10.0;
/// Boundary of the stability region on the negative real axis, as the source uses it.
const STABILITY_BOUNDARY: f64 = 3.25;
/// Steps at the boundary that make the problem stiff, and steps inside it that reset the count.
const STIFF_STEPS: u32 = 15;
const NONSTIFF_STEPS: u32 = 6;

#[derive(Debug)]
pub struct Dopri5 {
    tolerances: Tolerances,
    nominal: Vec<f64>,
    t: f64,
    t_old: f64,
    step_size_next: f64,
    started: bool,
    x: Vec<f64>,
    x_new: Vec<f64>,
    stage: Vec<f64>,
    weights: Vec<f64>,
    /// Stage derivatives k1..k7.
    k: [Vec<f64>; 7],
    /// Coefficients of the interpolant.
    dense: [Vec<f64>; 5],
    error_old: f64,
    stiff_count: u32,
    nonstiff_count: u32,
    statistics: IntegratorStatistics,
}

impl Dopri5 {
    pub fn new(tolerances: Tolerances, nominal: &[f64]) -> Dopri5 {
        let n = nominal.len();
        let zeros = || vec![0.0; n];
        Dopri5 {
            tolerances,
            nominal: nominal.iter().map(|v| nominal_magnitude(*v)).collect(),
            t: 0.0,
            t_old: 0.0,
            step_size_next: 0.0,
            started: false,
            x: zeros(),
            x_new: zeros(),
            stage: zeros(),
            weights: zeros(),
            k: std::array::from_fn(|_| zeros()),
            dense: std::array::from_fn(|_| zeros()),
            error_old: 1e-4,
            stiff_count: 0,
            nonstiff_count: 0,
            statistics: IntegratorStatistics::default(),
        }
    }

    pub fn begin<P: Problem>(
        &mut self,
        problem: &mut P,
        t: f64,
        x: &[f64],
        limits: StepLimits,
    ) -> Result<(), StepError> {
        self.x.copy_from_slice(x);
        self.t = t;
        self.t_old = t;
        let fatal = |error| StepError::Fatal {
            time: t,
            error: Box::new(error),
        };
        problem
            .derivatives(t, &self.x, &mut self.k[0])
            .map_err(fatal)?;
        self.statistics.rhs_evaluations += 2;
        self.update_weights();
        let last = self.started.then_some(self.step_size_next);
        let [k1, k2, ..] = &mut self.k;
        self.step_size_next = initial_step_size(
            problem,
            t,
            &self.x,
            k1,
            &self.weights,
            5.0,
            limits,
            last,
            &mut self.stage,
            k2,
        )
        .map_err(fatal)?;
        self.started = true;
        self.error_old = 1e-4;
        Ok(())
    }

    pub fn step<P: Problem>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        let wanted = self.step_size_next;
        let mut rejected = false;
        let mut cause = None;
        for _ in 0..ATTEMPTS_MAX {
            let (t_new, landed) = trial_step(self.t, self.step_size_next, limits);
            let h = t_new - self.t;
            if h < step_size_min(self.t) && !landed || t_new <= self.t {
                break;
            }
            match self.stages(problem, t_new, h) {
                Ok(()) => {}
                Err(error) if error.recoverable() => {
                    cause = Some(Box::new(error));
                    self.statistics.steps_rejected += 1;
                    self.step_size_next = h * SHRINK_ON_FAULT;
                    rejected = true;
                    if self.step_size_next < step_size_min(self.t) {
                        break;
                    }
                    continue;
                }
                Err(error) => {
                    return Err(StepError::Fatal {
                        time: self.t,
                        error: Box::new(error),
                    });
                }
            }
            let error = self.error_norm(h);
            let exponent = 0.2 - BETA * 0.75;
            let raw = error.powf(exponent);
            if error <= 1.0 {
                let factor =
                    (raw / self.error_old.powf(BETA) / SAFETY).clamp(1.0 / GROWTH_MAX, SHRINK_MAX);
                self.error_old = error.max(1e-4);
                let mut next = h / factor;
                if rejected {
                    next = next.min(h);
                } else if h < wanted {
                    // Cut short to land: the size that was wanted is still right.
                    next = next.max(wanted);
                }
                self.accept(t_new, h);
                self.step_size_next = next;
                return Ok(());
            }
            rejected = true;
            cause = None;
            self.statistics.steps_rejected += 1;
            let factor = if error.is_finite() {
                (raw / SAFETY).min(SHRINK_MAX)
            } else {
                1.0 / SHRINK_ON_FAULT
            };
            self.step_size_next = h / factor;
        }
        Err(StepError::TooSmall {
            time: self.t,
            step_size: self.step_size_next,
            state: self.worst_state(),
            cause,
        })
    }

    /// Stage derivatives, the new state in `x_new` and its derivative in k7.
    fn stages<P: Problem>(
        &mut self,
        problem: &mut P,
        t_new: f64,
        h: f64,
    ) -> Result<(), SolveError> {
        let coefficients: [&[f64]; 5] = [&A2, &A3, &A4, &A5, &A6];
        for (s, a) in coefficients.into_iter().enumerate() {
            let stage = s + 1;
            let (done, rest) = self.k.split_at_mut(stage);
            for i in 0..self.x.len() {
                let mut sum = 0.0;
                for (a, k) in a.iter().zip(done.iter()) {
                    sum += a * k[i];
                }
                self.stage[i] = self.x[i] + h * sum;
            }
            let t = if stage == 5 {
                t_new
            } else {
                self.t + C[stage] * h
            };
            self.statistics.rhs_evaluations += 1;
            problem.derivatives(t, &self.stage, &mut rest[0])?;
        }
        for i in 0..self.x.len() {
            let sum = combine(&B, &self.k, i);
            self.x_new[i] = self.x[i] + h * sum;
        }
        self.statistics.rhs_evaluations += 1;
        problem.derivatives(t_new, &self.x_new, &mut self.k[6])
    }

    fn error_norm(&mut self, h: f64) -> f64 {
        let n = self.x.len();
        if n == 0 {
            return 0.0;
        }
        let mut sum = 0.0;
        for i in 0..n {
            let e = combine(&E, &self.k, i);
            let size = self.x[i].abs().max(self.x_new[i].abs());
            let scaled = h * e / self.tolerances.weight(size, self.nominal[i]);
            sum += scaled * scaled;
        }
        (sum / n as f64).sqrt()
    }

    fn worst_state(&self) -> Option<usize> {
        let size = |i: usize| {
            let e = combine(&E, &self.k, i);
            e.abs() / self.tolerances.weight(self.x[i], self.nominal[i])
        };
        (0..self.x.len()).max_by(|&a, &b| size(a).total_cmp(&size(b)))
    }

    fn accept(&mut self, t_new: f64, h: f64) {
        self.statistics.steps += 1;
        self.detect_stiffness(h);
        for i in 0..self.x.len() {
            let difference = self.x_new[i] - self.x[i];
            let bspl = h * self.k[0][i] - difference;
            self.dense[0][i] = self.x[i];
            self.dense[1][i] = difference;
            self.dense[2][i] = bspl;
            self.dense[3][i] = difference - h * self.k[6][i] - bspl;
            let sum = combine(&D, &self.k, i);
            self.dense[4][i] = h * sum;
        }
        self.t_old = self.t;
        self.t = t_new;
        std::mem::swap(&mut self.x, &mut self.x_new);
        let [first, .., last] = &mut self.k;
        std::mem::swap(first, last);
        self.update_weights();
    }

    /// `stage` still holds the argument of k6, `x_new` that of k7.
    fn detect_stiffness(&mut self, h: f64) {
        let (mut numerator, mut denominator) = (0.0, 0.0);
        for i in 0..self.x.len() {
            numerator += (self.k[6][i] - self.k[5][i]).powi(2) / self.weights[i].powi(2);
            denominator += (self.x_new[i] - self.stage[i]).powi(2) / self.weights[i].powi(2);
        }
        let at_boundary =
            denominator > 0.0 && h * (numerator / denominator).sqrt() > STABILITY_BOUNDARY;
        if at_boundary {
            self.nonstiff_count = 0;
            self.stiff_count += 1;
        } else {
            self.nonstiff_count += 1;
            if self.nonstiff_count == NONSTIFF_STEPS {
                self.stiff_count = 0;
            }
        }
    }

    pub fn is_stiff(&self) -> bool {
        self.stiff_count >= STIFF_STEPS
    }

    fn update_weights(&mut self) {
        for i in 0..self.x.len() {
            self.weights[i] = self.tolerances.weight(self.x[i], self.nominal[i]);
        }
    }

    /// Plans the size of the next step.
    pub fn set_step_size(&mut self, step_size: f64) {
        self.step_size_next = step_size;
    }

    pub fn time(&self) -> f64 {
        self.t
    }

    pub fn time_old(&self) -> f64 {
        self.t_old
    }

    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// f at the current point.
    pub fn derivative(&self) -> &[f64] {
        &self.k[0]
    }

    pub fn step_size_next(&self) -> f64 {
        self.step_size_next
    }

    pub fn statistics(&self) -> &IntegratorStatistics {
        &self.statistics
    }

    /// Degree of the interpolant in time.
    pub fn dense_degree(&self) -> usize {
        4
    }

    pub fn interpolate(&self, t: f64, out: &mut [f64]) {
        if t == self.t {
            out.copy_from_slice(&self.x);
            return;
        }
        let theta = (t - self.t_old) / (self.t - self.t_old);
        let theta1 = 1.0 - theta;
        let [d0, d1, d2, d3, d4] = &self.dense;
        for i in 0..out.len() {
            out[i] = d0[i] + theta * (d1[i] + theta1 * (d2[i] + theta * (d3[i] + theta1 * d4[i])));
        }
    }

    /// Size of a vector in the current weights.
    pub fn weighted_norm(&self, v: &[f64]) -> f64 {
        rms(v, &self.weights)
    }
}

/// Σ c_s k_s for component `i`; the weights of k2 are zero.
#[inline]
fn combine(c: &[f64], k: &[Vec<f64>; 7], i: usize) -> f64 {
    let mut sum = c[0] * k[0][i];
    for (c, k) in c.iter().zip(k).skip(2) {
        sum += c * k[i];
    }
    sum
}
