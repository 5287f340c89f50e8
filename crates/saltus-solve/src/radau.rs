//! Radau IIA of order 5 on the implicit form F(t, x, x') = 0.
//!
//! Method: Hairer and Wanner, Solving ODEs II, IV.8 (transformation, simplified Newton, error estimate, predictive step size
//! control), written for F(t, x, x') instead of M x' = f: the stages x + Z_i with derivatives X'_i = (1/h) Σ (A⁻¹)_ij Z_j
//! fulfil F(t + c_i h, x + Z_i, X'_i) = 0. With A⁻¹ = T Λ T⁻¹ the Newton system splits into a real one with
//! (γ/h) F_x' + F_x and a complex one with ((α + iβ)/h) F_x' + F_x. The interpolant is the collocation polynomial.
//! F_x is made by differences; F_x' is the identity for the default form.

use crate::error::SolveError;
use crate::integrator::{
    ATTEMPTS_MAX, IntegratorStatistics, Problem, SHRINK_ON_FAULT, StepError, StepLimits,
    initial_step_size, step_size_min, trial_step,
};
use crate::jacobian::{IterationMatrix, Jacobian};
use crate::linear::Complex;
use crate::scale::{EPS, Tolerances, nominal_magnitude, rms};

/// √6, written out because `sqrt` is not a constant function.
const SQRT6: f64 = 2.449_489_742_783_178;
const C1: f64 = (4.0 - SQRT6) / 10.0;
const C2: f64 = (4.0 + SQRT6) / 10.0;
/// Coefficients of the error estimate.
const DD: [f64; 3] = [
    -(13.0 + 7.0 * SQRT6) / 3.0,
    (-13.0 + 7.0 * SQRT6) / 3.0,
    -1.0 / 3.0,
];
/// Eigenvectors of A⁻¹ (real, then real and imaginary part).
const T: [[f64; 3]; 3] = [
    [
        9.123_239_487_089_295e-2,
        -0.141_255_295_020_954_2,
        -3.002_919_410_514_742_4e-2,
    ],
    [
        0.241_717_932_707_107,
        0.204_129_352_293_799_93,
        0.382_942_112_757_261_9,
    ],
    [0.966_048_182_615_093, 1.0, 0.0],
];
const TI: [[f64; 3]; 3] = [
    [
        4.325_579_890_063_155,
        0.339_199_251_815_809_86,
        0.541_770_539_935_874_9,
    ],
    [
        -4.178_718_591_551_905,
        -0.327_682_820_761_062_4,
        0.476_623_554_500_550_44,
    ],
    [
        -0.502_872_634_945_786_9,
        2.571_926_949_855_605,
        -0.596_039_204_828_225,
    ],
];
/// Eigenvalues γ and α ± iβ of A⁻¹.
const GAMMA: f64 = 3.637_834_252_744_496;
const ALPHA: f64 = 2.681_082_873_627_752;
const BETA: f64 = 3.050_430_199_247_410_5;

const SAFETY: f64 = 0.9;
/// Iterations of the simplified Newton method.
const NEWTON_MAX: u32 = 7;
/// Bounds of the step size factor h/h_new.
const QUOTIENT_MIN: f64 = 1.0 / 8.0;
const QUOTIENT_MAX: f64 = 5.0;
/// Below this contraction the Jacobian is kept.
const CONTRACTION_KEEP: f64 = 1e-3;
/// The step size (and with it the factorisation) is kept when the new one is within these bounds.
const KEEP_RATIO: std::ops::RangeInclusive<f64> = 1.0..=1.2;

#[derive(Debug)]
pub struct Radau {
    /// The tolerances of the inner error test: the estimate is of order 3, so they are transformed as the source does.
    rel: f64,
    abs: f64,
    newton_tolerance: f64,
    nominal: Vec<f64>,
    t: f64,
    t_old: f64,
    step_size_next: f64,
    started: bool,
    x: Vec<f64>,
    dx: Vec<f64>,
    weights: Vec<f64>,
    /// Stage increments and their transforms.
    z: [Vec<f64>; 3],
    w: [Vec<f64>; 3],
    /// Residuals of the stages, then the right-hand sides of the Newton systems.
    r: [Vec<f64>; 3],
    stage: Vec<f64>,
    stage_dx: Vec<f64>,
    complex: Vec<Complex>,
    jacobian: Jacobian,
    real: IterationMatrix<f64>,
    imaginary: IterationMatrix<Complex>,
    /// Interpolant: state at the end and three divided differences, over the step `dense_step`.
    dense: [Vec<f64>; 4],
    dense_step: f64,
    reuse: Reuse,
    first: bool,
    accepted: Option<(f64, f64)>,
    faccon: f64,
    statistics: IntegratorStatistics,
}

/// What of the last step's matrices still holds.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Reuse {
    Nothing,
    Jacobian,
    /// Factors for this step size.
    Factors(f64),
}

/// How the Newton iteration of a step ended.
enum Newton {
    Converged {
        iterations: u32,
        contraction: f64,
    },
    /// Try again with this multiple of the step size.
    Slow(f64),
    Diverged,
}

impl Radau {
    pub fn new(tolerances: Tolerances, nominal: &[f64]) -> Radau {
        let n = nominal.len();
        let zeros = || vec![0.0; n];
        let rel = 0.1 * tolerances.rel.powf(2.0 / 3.0);
        Radau {
            rel,
            abs: rel * tolerances.abs / tolerances.rel,
            newton_tolerance: (10.0 * EPS / rel).max(0.03f64.min(rel.sqrt())),
            nominal: nominal.iter().map(|v| nominal_magnitude(*v)).collect(),
            t: 0.0,
            t_old: 0.0,
            step_size_next: 0.0,
            started: false,
            x: zeros(),
            dx: zeros(),
            weights: zeros(),
            z: std::array::from_fn(|_| zeros()),
            w: std::array::from_fn(|_| zeros()),
            r: std::array::from_fn(|_| zeros()),
            stage: zeros(),
            stage_dx: zeros(),
            complex: vec![Complex::default(); n],
            jacobian: Jacobian::default(),
            real: IterationMatrix::new(),
            imaginary: IterationMatrix::new(),
            dense: std::array::from_fn(|_| zeros()),
            dense_step: 1.0,
            reuse: Reuse::Nothing,
            first: true,
            accepted: None,
            faccon: 1.0,
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
            .derivatives(t, &self.x, &mut self.dx)
            .map_err(fatal)?;
        self.statistics.rhs_evaluations += 2;
        self.update_weights();
        let last = self.started.then_some(self.step_size_next);
        self.step_size_next = initial_step_size(
            problem,
            t,
            &self.x,
            &self.dx,
            &self.weights,
            4.0,
            limits,
            last,
            &mut self.stage,
            &mut self.stage_dx,
        )
        .map_err(fatal)?;
        self.reset_history();
        Ok(())
    }

    /// Begins at a point whose derivative is known, with a step size from another method.
    pub fn continue_from(&mut self, t: f64, x: &[f64], dx: &[f64], step_size: f64) {
        self.x.copy_from_slice(x);
        self.dx.copy_from_slice(dx);
        self.t = t;
        self.t_old = t;
        self.update_weights();
        self.step_size_next = step_size;
        self.reset_history();
    }

    fn reset_history(&mut self) {
        self.started = true;
        self.first = true;
        self.accepted = None;
        self.faccon = 1.0;
        self.reuse = Reuse::Nothing;
    }

    pub fn step<P: Problem>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        let wanted = self.step_size_next;
        let mut rejected = false;
        let mut cause: Option<Box<SolveError>> = None;
        let fatal = |time, error| StepError::Fatal {
            time,
            error: Box::new(error),
        };
        for _ in 0..ATTEMPTS_MAX {
            let (t_new, landed) = trial_step(self.t, self.step_size_next, limits);
            let h = t_new - self.t;
            if h < step_size_min(self.t) && !landed || t_new <= self.t {
                break;
            }
            if self.reuse == Reuse::Nothing {
                self.jacobian
                    .update(
                        problem,
                        self.t,
                        &self.x,
                        &self.dx,
                        &self.nominal,
                        &mut self.statistics,
                    )
                    .map_err(|error| fatal(self.t, error))?;
                self.reuse = Reuse::Jacobian;
            }
            let fresh_jacobian = self.reuse == Reuse::Jacobian;
            if !matches!(self.reuse, Reuse::Factors(size) if (size - h).abs() <= 1e-12 * h)
                && !self.factor(h)
            {
                self.retry(h * 0.5, &mut rejected);
                continue;
            }
            let (iterations, contraction) = match self.newton(problem, h, t_new) {
                Ok(Newton::Converged {
                    iterations,
                    contraction,
                }) => (iterations, contraction),
                Ok(Newton::Slow(factor)) => {
                    self.after_newton_failure(fresh_jacobian);
                    self.retry(h * factor, &mut rejected);
                    continue;
                }
                Ok(Newton::Diverged) => {
                    self.after_newton_failure(fresh_jacobian);
                    self.retry(h * 0.5, &mut rejected);
                    continue;
                }
                Err(error) if error.recoverable() => {
                    cause = Some(Box::new(error));
                    self.after_newton_failure(fresh_jacobian);
                    self.retry(h * SHRINK_ON_FAULT, &mut rejected);
                    continue;
                }
                Err(error) => return Err(fatal(self.t, error)),
            };
            let error = match self.error_norm(problem, h, rejected) {
                Ok(error) => error,
                Err(error) if error.recoverable() => f64::INFINITY,
                Err(error) => return Err(fatal(self.t, error)),
            };
            let limit = f64::from(1 + 2 * NEWTON_MAX) / f64::from(iterations + 2 * NEWTON_MAX);
            let safety = SAFETY.min(SAFETY * limit);
            let mut quotient = (error.powf(0.25) / safety).clamp(QUOTIENT_MIN, QUOTIENT_MAX);
            if error < 1.0 {
                match self.finish(problem, h, t_new) {
                    Ok(()) => {}
                    Err(error) if error.recoverable() => {
                        cause = Some(Box::new(error));
                        self.retry(h * SHRINK_ON_FAULT, &mut rejected);
                        continue;
                    }
                    Err(error) => return Err(fatal(self.t, error)),
                }
                if let Some((h_last, error_last)) = self.accepted {
                    let predicted = (h_last / h) * (error * error / error_last).powf(0.25) / SAFETY;
                    quotient = quotient.max(predicted.clamp(QUOTIENT_MIN, QUOTIENT_MAX));
                }
                self.accepted = Some((h, error.max(1e-2)));
                let mut next = h / quotient;
                if rejected {
                    next = next.min(h);
                }
                let keep = contraction <= CONTRACTION_KEEP;
                if keep && KEEP_RATIO.contains(&(next / h)) {
                    next = h;
                    self.reuse = Reuse::Factors(h);
                } else {
                    self.reuse = if keep {
                        Reuse::Jacobian
                    } else {
                        Reuse::Nothing
                    };
                }
                if h < wanted && !rejected {
                    next = next.max(wanted);
                }
                self.step_size_next = next;
                return Ok(());
            }
            cause = None;
            let next = if self.first { 0.1 * h } else { h / quotient };
            if !fresh_jacobian {
                self.reuse = Reuse::Nothing;
            }
            self.retry(next, &mut rejected);
        }
        Err(StepError::TooSmall {
            time: self.t,
            step_size: self.step_size_next,
            state: self.worst_state(),
            cause,
        })
    }

    fn retry(&mut self, step_size: f64, rejected: &mut bool) {
        self.statistics.steps_rejected += 1;
        *rejected = true;
        self.step_size_next = step_size;
        if let Reuse::Factors(_) = self.reuse {
            self.reuse = Reuse::Jacobian;
        }
    }

    fn after_newton_failure(&mut self, fresh_jacobian: bool) {
        self.reuse = if fresh_jacobian {
            Reuse::Jacobian
        } else {
            Reuse::Nothing
        };
    }

    // --- matrices ---------------------------------------------------------------------------------------------------

    fn factor(&mut self, h: f64) -> bool {
        self.statistics.factorizations += 1;
        self.real.factor(&self.jacobian, GAMMA / h)
            && (self.imaginary).factor(&self.jacobian, Complex::new(ALPHA / h, BETA / h))
    }

    // --- one step ---------------------------------------------------------------------------------------------------

    fn newton<P: Problem>(
        &mut self,
        problem: &mut P,
        h: f64,
        t_new: f64,
    ) -> Result<Newton, SolveError> {
        let n = self.x.len();
        self.starting_values(h);
        self.faccon = self.faccon.max(EPS).powf(0.8);
        let mut contraction: f64 = CONTRACTION_KEEP;
        let (mut size_last, mut rate_last) = (0.0f64, 0.0f64);
        for iteration in 1..=NEWTON_MAX {
            for s in 0..3 {
                for i in 0..n {
                    self.stage[i] = self.x[i] + self.z[s][i];
                    // X' = (1/h) T Λ W
                    let [w1, w2, w3] = [self.w[0][i], self.w[1][i], self.w[2][i]];
                    let scaled = [GAMMA * w1, ALPHA * w2 - BETA * w3, BETA * w2 + ALPHA * w3];
                    self.stage_dx[i] =
                        (T[s][0] * scaled[0] + T[s][1] * scaled[1] + T[s][2] * scaled[2]) / h;
                }
                let t = if s == 2 {
                    t_new
                } else {
                    self.t + [C1, C2][s] * h
                };
                self.statistics.rhs_evaluations += 1;
                problem.residual(t, &self.stage, &self.stage_dx, &mut self.r[s])?;
            }
            for i in 0..n {
                let [r1, r2, r3] = [self.r[0][i], self.r[1][i], self.r[2][i]];
                self.r[0][i] = -(TI[0][0] * r1 + TI[0][1] * r2 + TI[0][2] * r3);
                let re = -(TI[1][0] * r1 + TI[1][1] * r2 + TI[1][2] * r3);
                let im = -(TI[2][0] * r1 + TI[2][1] * r2 + TI[2][2] * r3);
                self.complex[i] = Complex::new(re, im);
            }
            self.real.solve(&mut self.r[0]);
            self.imaginary.solve(&mut self.complex);
            let mut sum = 0.0;
            for i in 0..n {
                let weight = self.weights[i];
                sum += (self.r[0][i] / weight).powi(2)
                    + (self.complex[i].re / weight).powi(2)
                    + (self.complex[i].im / weight).powi(2);
            }
            let size = (sum / (3 * n.max(1)) as f64).sqrt();
            if !size.is_finite() {
                return Ok(Newton::Diverged);
            }
            if iteration > 1 && iteration < NEWTON_MAX {
                let rate = size / size_last;
                contraction = if iteration == 2 {
                    rate
                } else {
                    (rate * rate_last).sqrt()
                };
                rate_last = rate;
                if contraction >= 0.99 {
                    return Ok(Newton::Diverged);
                }
                self.faccon = contraction / (1.0 - contraction);
                let left = (NEWTON_MAX - 1 - iteration) as i32;
                let predicted = self.faccon * size * contraction.powi(left) / self.newton_tolerance;
                if predicted >= 1.0 {
                    let bounded = predicted.clamp(1e-4, 20.0);
                    return Ok(Newton::Slow(0.8 * bounded.powf(-1.0 / f64::from(4 + left))));
                }
            }
            size_last = size.max(EPS);
            for i in 0..n {
                self.w[0][i] += self.r[0][i];
                self.w[1][i] += self.complex[i].re;
                self.w[2][i] += self.complex[i].im;
                let [w1, w2, w3] = [self.w[0][i], self.w[1][i], self.w[2][i]];
                for (z, row) in self.z.iter_mut().zip(&T) {
                    z[i] = row[0] * w1 + row[1] * w2 + row[2] * w3;
                }
            }
            if self.faccon * size <= self.newton_tolerance {
                return Ok(Newton::Converged {
                    iterations: iteration,
                    contraction,
                });
            }
        }
        Ok(Newton::Diverged)
    }

    /// Stage increments from the last step's collocation polynomial; zero in the first step.
    fn starting_values(&mut self, h: f64) {
        let n = self.x.len();
        if self.first {
            for s in 0..3 {
                self.z[s].fill(0.0);
                self.w[s].fill(0.0);
            }
            return;
        }
        let ratio = h / self.dense_step;
        for i in 0..n {
            let [_, d1, d2, d3] = [0, 1, 2, 3].map(|k| self.dense[k][i]);
            let at = |s: f64| s * (d1 + (s - (C2 - 1.0)) * (d2 + (s - (C1 - 1.0)) * d3));
            let z = [at(C1 * ratio), at(C2 * ratio), at(ratio)];
            for s in 0..3 {
                self.z[s][i] = z[s];
                self.w[s][i] = TI[s][0] * z[0] + TI[s][1] * z[1] + TI[s][2] * z[2];
            }
        }
    }

    /// ‖(γ/h F_x' + F_x)⁻¹ (x'₀ + Σ e_i Z_i/h)‖, filtered a second time in first and repeated steps.
    fn error_norm<P: Problem>(
        &mut self,
        problem: &mut P,
        h: f64,
        rejected: bool,
    ) -> Result<f64, SolveError> {
        let n = self.x.len();
        if n == 0 {
            return Ok(1e-10);
        }
        for i in 0..n {
            let sum = (DD[0] * self.z[0][i] + DD[1] * self.z[1][i] + DD[2] * self.z[2][i]) / h;
            self.r[1][i] = sum;
            self.r[0][i] = sum + self.dx[i];
        }
        self.real.solve(&mut self.r[0]);
        let error = rms(&self.r[0], &self.weights).max(1e-10);
        if error < 1.0 || !(self.first || rejected) {
            return Ok(error);
        }
        for i in 0..n {
            self.stage[i] = self.x[i] + self.r[0][i];
        }
        self.statistics.rhs_evaluations += 1;
        // -F(t, x + e, x'₀) + x'₀ = f(t, x + e) for the default form
        problem.residual(self.t, &self.stage, &self.dx, &mut self.r[2])?;
        for i in 0..n {
            self.r[0][i] = self.dx[i] - self.r[2][i] + self.r[1][i];
        }
        self.real.solve(&mut self.r[0]);
        Ok(rms(&self.r[0], &self.weights).max(1e-10))
    }

    fn worst_state(&self) -> Option<usize> {
        let size = |i: usize| (self.r[0][i] / self.weights[i]).abs();
        (0..self.x.len()).max_by(|&a, &b| size(a).total_cmp(&size(b)))
    }

    /// Makes the trial the new point: needs the derivative there, which may fail.
    fn finish<P: Problem>(
        &mut self,
        problem: &mut P,
        h: f64,
        t_new: f64,
    ) -> Result<(), SolveError> {
        let n = self.x.len();
        for i in 0..n {
            self.stage[i] = self.x[i] + self.z[2][i];
        }
        self.statistics.rhs_evaluations += 1;
        problem.derivatives(t_new, &self.stage, &mut self.stage_dx)?;
        std::mem::swap(&mut self.x, &mut self.stage);
        std::mem::swap(&mut self.dx, &mut self.stage_dx);
        for i in 0..n {
            let [z1, z2, z3] = [self.z[0][i], self.z[1][i], self.z[2][i]];
            let d1 = (z2 - z3) / (C2 - 1.0);
            let ak = (z1 - z2) / (C1 - C2);
            let third = (ak - z1 / C1) / C2;
            let d2 = (ak - d1) / (C1 - 1.0);
            self.dense[0][i] = self.x[i];
            self.dense[1][i] = d1;
            self.dense[2][i] = d2;
            self.dense[3][i] = d2 - third;
        }
        self.dense_step = h;
        self.t_old = self.t;
        self.t = t_new;
        self.first = false;
        self.statistics.steps += 1;
        self.update_weights();
        Ok(())
    }

    fn update_weights(&mut self) {
        for i in 0..self.x.len() {
            self.weights[i] = self.rel * self.x[i].abs() + self.abs * self.nominal[i];
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

    pub fn statistics(&self) -> &IntegratorStatistics {
        &self.statistics
    }

    /// Degree of the interpolant in time.
    pub fn dense_degree(&self) -> usize {
        3
    }

    pub fn interpolate(&self, t: f64, out: &mut [f64]) {
        if t == self.t {
            out.copy_from_slice(&self.x);
            return;
        }
        let s = (t - self.t) / self.dense_step;
        let [d0, d1, d2, d3] = &self.dense;
        for i in 0..out.len() {
            out[i] = d0[i] + s * (d1[i] + (s - (C2 - 1.0)) * (d2[i] + (s - (C1 - 1.0)) * d3[i]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transformation_is_that_of_the_radau_matrix() {
        let s = SQRT6;
        let a = [
            [
                (88.0 - 7.0 * s) / 360.0,
                (296.0 - 169.0 * s) / 1800.0,
                (-2.0 + 3.0 * s) / 225.0,
            ],
            [
                (296.0 + 169.0 * s) / 1800.0,
                (88.0 + 7.0 * s) / 360.0,
                (-2.0 - 3.0 * s) / 225.0,
            ],
            [(16.0 - s) / 36.0, (16.0 + s) / 36.0, 1.0 / 9.0],
        ];
        let lambda = [[GAMMA, 0.0, 0.0], [0.0, ALPHA, -BETA], [0.0, BETA, ALPHA]];
        let product = |p: &[[f64; 3]; 3], q: &[[f64; 3]; 3]| -> [[f64; 3]; 3] {
            std::array::from_fn(|i| {
                std::array::from_fn(|j| (0..3).map(|k| p[i][k] * q[k][j]).sum())
            })
        };
        let identity = product(&product(&product(&T, &lambda), &TI), &a);
        for (i, row) in identity.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((value - expected).abs() < 1e-13, "{i} {j} {value}");
            }
        }
    }
}
