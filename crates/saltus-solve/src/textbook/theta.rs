//! Backward Euler and the trapezoidal rule: x_new = x + h (θ f_new + (1 - θ) f) with θ = 1 and θ = 1/2, on the implicit form.
//!
//! Comes in: a point with its derivative. The predictor is Euler's step; the corrector is Newton's iteration with the matrix F_x'/(θh) + F_x, shared
//! with the other implicit methods (`implicit`). The trapezoidal rule is that of the dissertation (2.2.2): what Newton's iteration finds is put into the
//! formula once more, x_new = x + h/2 (f(t_new, x̃) + f), equation (25).

use super::explicit::{elementary, error_norm};
use crate::control::{Control, all_finite};
use crate::error::SolveError;
use crate::implicit::{Matrices, Monitor, Verdict, filtered_defect, newton_tolerance};
use crate::integrator::{IntegratorStatistics, Problem, SolverName};
use crate::jacobian::IterationMatrix;
use crate::one_step::{Attempt, Discontinuity, LastInterval, OneStepMethod, Point, Trial};
use crate::scale::{Tolerances, rms};

/// Iterations of the simplified Newton method.
const NEWTON_MAX: u32 = 10;
/// Below this contraction the Jacobian is kept.
const CONTRACTION_KEEP: f64 = 1e-3;
/// The closing evaluation multiplies what Newton's iteration left by hλ. Where that is more than this part of the tolerance, the iterate itself is taken.
const CLOSING_MAX: f64 = 0.1;

/// A rule of the family.
pub trait Rule {
    const NAME: SolverName;
    const THETA: f64;
    const CONTROL: Control;
    const ERROR_ORDER: i32;
    const DEGREE: usize;
}

/// θ = 1. The error is that of the filtered difference to the trapezoidal rule; the interpolant is the straight line.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Backward;

impl Rule for Backward {
    const NAME: SolverName = SolverName::BackwardEuler;
    const THETA: f64 = 1.0;
    const CONTROL: Control = elementary(0.5);
    const ERROR_ORDER: i32 = 2;
    const DEGREE: usize = 1;
}

/// θ = 1/2. The error is the filtered difference to Simpson's rule with f in the middle of the interpolant, the parabola with the derivatives of
/// both ends.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Trapezoid;

impl Rule for Trapezoid {
    const NAME: SolverName = SolverName::Trapezoidal;
    const THETA: f64 = 0.5;
    const CONTROL: Control = elementary(1.0 / 3.0);
    const ERROR_ORDER: i32 = 3;
    const DEGREE: usize = 2;
}

/// One implicit stage at the end of the step.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(bound = "")]
pub struct ThetaMethod<R> {
    matrices: Matrices,
    matrix: IterationMatrix<f64>,
    monitor: Monitor,
    residual: Vec<f64>,
    rate: Vec<f64>,
    /// Work space, and the interpolant: the difference over the step and its bend.
    stage: Vec<f64>,
    difference: Vec<f64>,
    bend: Vec<f64>,
    dense_step: f64,
    rule: std::marker::PhantomData<R>,
}

impl<R: Rule> ThetaMethod<R> {
    fn newton<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Verdict, SolveError> {
        let h = trial.h;
        for i in 0..point.x.len() {
            trial.x[i] = point.x[i] + h * point.dx[i];
        }
        self.monitor.start(self.matrices.trusted());
        loop {
            for i in 0..point.x.len() {
                let slope = (trial.x[i] - point.x[i]) / h;
                self.rate[i] = (slope - (1.0 - R::THETA) * point.dx[i]) / R::THETA;
            }
            statistics.rhs_evaluations += 1;
            problem.residual(trial.t_new, &trial.x, &self.rate, &mut self.residual)?;
            all_finite(&self.residual)?;
            self.matrix.solve(&mut self.residual);
            let size = rms(&self.residual, &point.weights);
            let verdict = self.monitor.observe(size);
            if !matches!(verdict, Verdict::Continue | Verdict::Converged) {
                return Ok(verdict);
            }
            for (x, correction) in trial.x.iter_mut().zip(&self.residual) {
                *x -= correction;
            }
            if verdict == Verdict::Converged {
                return Ok(verdict);
            }
        }
    }

    /// Equation (25) with the iterate x̃ on its right side, and the derivative at the point taken.
    fn close<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        statistics.rhs_evaluations += 1;
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        if R::THETA == 1.0 {
            return Ok(());
        }
        let explicit = 1.0 - R::THETA;
        for i in 0..point.x.len() {
            let slope = R::THETA * trial.dx[i] + explicit * point.dx[i];
            self.stage[i] = point.x[i] + trial.h * slope;
            self.residual[i] = self.stage[i] - trial.x[i];
        }
        if rms(&self.residual, &point.weights) <= CLOSING_MAX {
            trial.x.copy_from_slice(&self.stage);
            statistics.rhs_evaluations += 1;
            problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        }
        Ok(())
    }

    fn set_interpolant(&mut self, point: &Point, trial: &Trial) {
        for i in 0..point.x.len() {
            self.difference[i] = trial.x[i] - point.x[i];
            self.bend[i] = if R::DEGREE == 1 {
                0.0
            } else {
                0.5 * trial.h * (trial.dx[i] - point.dx[i])
            };
        }
        self.dense_step = trial.h;
    }

    /// M⁻¹ F_x' applied to a difference of slopes d: about h θ d where the problem is not stiff.
    fn filter(&mut self, slopes: &mut [f64]) {
        self.matrices.times_rate(slopes);
        self.matrix.solve(slopes);
        for slope in slopes {
            *slope /= R::THETA;
        }
    }

    fn estimate_error<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        if R::THETA == 1.0 {
            for i in 0..point.x.len() {
                trial.error[i] = 0.5 * (trial.dx[i] - point.dx[i]);
            }
        } else {
            for i in 0..point.x.len() {
                self.stage[i] = point.x[i] + 0.5 * self.difference[i] - 0.25 * self.bend[i];
            }
            statistics.rhs_evaluations += 1;
            let t = point.t + 0.5 * trial.h;
            problem.derivatives(t, &self.stage, &mut self.rate)?;
            // Simpson's rule less the trapezoidal one: (f + 4 f_middle + f_new)/6 - (f + f_new)/2
            for i in 0..point.x.len() {
                trial.error[i] = (2.0 * self.rate[i] - point.dx[i] - trial.dx[i]) / 3.0;
            }
        }
        let mut slopes = std::mem::take(&mut trial.error);
        self.filter(&mut slopes);
        trial.error = slopes;
        Ok(())
    }
}

impl<R: Rule> OneStepMethod for ThetaMethod<R> {
    const NAME: SolverName = R::NAME;
    const CONTROL: Control = R::CONTROL;
    const ERROR_ORDER: i32 = R::ERROR_ORDER;
    const DEGREE: usize = R::DEGREE;

    fn new(n: usize, tolerances: Tolerances) -> ThetaMethod<R> {
        let zeros = || vec![0.0; n];
        ThetaMethod {
            matrices: Matrices::new(n, CONTRACTION_KEEP),
            matrix: IterationMatrix::new(),
            monitor: Monitor::new(newton_tolerance(tolerances.rel), NEWTON_MAX),
            residual: zeros(),
            rate: zeros(),
            stage: zeros(),
            difference: zeros(),
            bend: zeros(),
            dense_step: 1.0,
            rule: std::marker::PhantomData,
        }
    }

    fn restart(&mut self, change: Discontinuity) {
        self.matrices.restart(change);
        self.monitor.restart();
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        let h = trial.h;
        loop {
            if self.matrices.prepare(problem, point, h, statistics)? {
                statistics.factorizations += 1;
                let jacobian = self.matrices.jacobian();
                if !self.matrix.factor(jacobian, 1.0 / (R::THETA * h)) {
                    return Ok(Attempt::Again(0.5));
                }
                self.matrices.factored(h);
            }
            match self.newton(problem, point, trial, statistics) {
                Ok(Verdict::Converged) => break,
                Err(error) if !error.recoverable() => return Err(error),
                // With a Jacobian of an earlier point the failure says nothing about the step.
                _ if self.matrices.renew() => {}
                Ok(verdict) => return Ok(Attempt::Again(verdict.shrink())),
                Err(error) => return Err(error),
            }
        }
        self.close(problem, point, trial, statistics)?;
        self.set_interpolant(point, trial);
        let most = f64::from(2 * NEWTON_MAX);
        let effort = (1.0 + most) / (f64::from(self.monitor.iterations()) + most);
        if !trial.controlled {
            trial.error.fill(0.0);
            return Ok(Attempt::Computed { error: 0.0, effort });
        }
        self.estimate_error(problem, point, trial, statistics)?;
        let error = error_norm(point, trial);
        Ok(Attempt::Computed { error, effort })
    }

    fn plan(&mut self, h: f64, next: f64) -> f64 {
        self.matrices.plan(h, next, self.monitor.contraction())
    }

    fn lipschitz(&self) -> f64 {
        self.matrices.lipschitz()
    }

    /// x + θ difference - θ(1 - θ) bend
    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        let bent = theta * (1.0 - theta);
        let parts = step.x_old.iter().zip(&self.difference).zip(&self.bend);
        for (out, ((x, difference), bend)) in out.iter_mut().zip(parts) {
            *out = x + theta * difference - bent * bend;
        }
    }

    fn interpolant_error<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        step: &LastInterval,
        t: f64,
        weights: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<f64, SolveError> {
        let theta = (t - step.t_old) / (step.t - step.t_old);
        let mut stage = std::mem::take(&mut self.stage);
        self.interpolate(step, theta, &mut stage);
        self.stage = stage;
        for i in 0..weights.len() {
            self.rate[i] =
                (self.difference[i] - (1.0 - 2.0 * theta) * self.bend[i]) / self.dense_step;
        }
        let at = (t, &self.stage[..], &self.rate[..]);
        let (matrix, room) = (&mut self.matrix, &mut self.residual);
        filtered_defect(problem, at, matrix, weights, room, statistics)
    }
}
