//! What implicit methods of three stages share: the simplified Newton iteration on the implicit form F(t, x, x') = 0.
//!
//! Method: Hairer and Wanner, Solving ODEs II, IV.8. The stages x + Z_i with derivatives X'_i = (1/h) Σ (A⁻¹)_ij Z_j fulfil
//! F(t + c_i h, x + Z_i, X'_i) = 0. Where A⁻¹ = T Λ T⁻¹ has one real eigenvalue γ and a pair α ± iβ, the Newton system splits into a real
//! one with (γ/h) F_x' + F_x and a complex one with ((α + iβ)/h) F_x' + F_x.

use crate::control::all_finite;
use crate::error::SolveError;
use crate::implicit::{Matrices, Monitor, Verdict, newton_tolerance};
use crate::integrator::{IntegratorStatistics, Problem};
use crate::jacobian::IterationMatrix;
use crate::linear::Complex;
use crate::one_step::{Discontinuity, Point, Trial};

/// Iterations of the simplified Newton method.
pub(crate) const NEWTON_MAX: u32 = 7;
/// Below this contraction the Jacobian is kept.
const CONTRACTION_KEEP: f64 = 1e-3;

/// The coefficients of a method.
pub(crate) trait Tableau {
    /// Nodes c.
    const C: [f64; 3];
    /// Eigenvectors of A⁻¹ (real, then real and imaginary part), and the inverse of their matrix.
    const T: [[f64; 3]; 3];
    const TI: [[f64; 3]; 3];
    /// Eigenvalues γ and α ± iβ of A⁻¹.
    const GAMMA: f64;
    const ALPHA: f64;
    const BETA: f64;
}

/// The stages of a step and what solves them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(bound = "")]
pub(crate) struct Stages<K> {
    /// Stage increments and their transforms.
    pub(crate) z: [Vec<f64>; 3],
    w: [Vec<f64>; 3],
    /// Residuals of the stages, then the right-hand sides of the Newton systems.
    pub(crate) r: [Vec<f64>; 3],
    pub(crate) stage: Vec<f64>,
    pub(crate) stage_dx: Vec<f64>,
    complex: Vec<Complex>,
    pub(crate) matrices: Matrices,
    /// Factors of (γ/h) F_x' + F_x.
    pub(crate) real: IterationMatrix<f64>,
    imaginary: IterationMatrix<Complex>,
    monitor: Monitor,
    tableau: std::marker::PhantomData<K>,
}

/// How the stages were found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Solved {
    /// `effort` ≤ 1 is lower after a hard iteration.
    Converged { effort: f64 },
    /// Not at this step size: try this multiple.
    Again(f64),
}

impl<K: Tableau> Stages<K> {
    /// For `n` states and the relative tolerance of the error test.
    pub(crate) fn new(n: usize, rel: f64) -> Stages<K> {
        let zeros = || vec![0.0; n];
        Stages {
            z: std::array::from_fn(|_| zeros()),
            w: std::array::from_fn(|_| zeros()),
            r: std::array::from_fn(|_| zeros()),
            stage: zeros(),
            stage_dx: zeros(),
            complex: vec![Complex::default(); n],
            matrices: Matrices::new(n, CONTRACTION_KEEP),
            real: IterationMatrix::new(),
            imaginary: IterationMatrix::new(),
            monitor: Monitor::new(newton_tolerance(rel), NEWTON_MAX),
            tableau: std::marker::PhantomData,
        }
    }

    pub(crate) fn restart(&mut self, change: Discontinuity) {
        self.matrices.restart(change);
        self.monitor.restart();
    }

    /// The size planned after an accepted step of size `h`.
    pub(crate) fn plan(&mut self, h: f64, next: f64) -> f64 {
        self.matrices.plan(h, next, self.monitor.contraction())
    }

    /// Solves for the stage increments, from `start(c)`, the expected increment of component i at node c.
    pub(crate) fn solve<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &Trial,
        mut start: impl FnMut(usize, [f64; 3]) -> [f64; 3],
        statistics: &mut IntegratorStatistics,
    ) -> Result<Solved, SolveError> {
        let h = trial.h;
        loop {
            if self.matrices.prepare(problem, point, h, statistics)? {
                statistics.factorizations += 1;
                if !self.factor(h) {
                    return Ok(Solved::Again(0.5));
                }
                self.matrices.factored(h);
            }
            self.set_starting_values(&mut start);
            match self.newton(problem, point, trial, statistics) {
                Ok(Verdict::Converged) => break,
                Err(error) if !error.recoverable() => return Err(error),
                // With a Jacobian of an earlier point the failure says nothing about the step.
                _ if self.matrices.renew() => {}
                Ok(verdict) => return Ok(Solved::Again(verdict.shrink())),
                Err(error) => return Err(error),
            }
        }
        let most = f64::from(2 * NEWTON_MAX);
        let effort = (1.0 + most) / (f64::from(self.monitor.iterations()) + most);
        Ok(Solved::Converged { effort })
    }

    fn factor(&mut self, h: f64) -> bool {
        let jacobian = self.matrices.jacobian();
        self.real.factor(jacobian, K::GAMMA / h)
            && (self.imaginary).factor(jacobian, Complex::new(K::ALPHA / h, K::BETA / h))
    }

    fn set_starting_values(&mut self, start: &mut impl FnMut(usize, [f64; 3]) -> [f64; 3]) {
        for i in 0..self.stage.len() {
            let z = start(i, K::C);
            for s in 0..3 {
                self.z[s][i] = z[s];
                self.w[s][i] = K::TI[s][0] * z[0] + K::TI[s][1] * z[1] + K::TI[s][2] * z[2];
            }
        }
    }

    fn newton<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Verdict, SolveError> {
        let (n, h) = (point.x.len(), trial.h);
        self.monitor.start(self.matrices.trusted());
        loop {
            for s in 0..3 {
                for i in 0..n {
                    self.stage[i] = point.x[i] + self.z[s][i];
                    // X' = (1/h) T Λ W
                    let [w1, w2, w3] = [self.w[0][i], self.w[1][i], self.w[2][i]];
                    let scaled = [
                        K::GAMMA * w1,
                        K::ALPHA * w2 - K::BETA * w3,
                        K::BETA * w2 + K::ALPHA * w3,
                    ];
                    self.stage_dx[i] =
                        (K::T[s][0] * scaled[0] + K::T[s][1] * scaled[1] + K::T[s][2] * scaled[2])
                            / h;
                }
                let t = if K::C[s] == 1.0 {
                    trial.t_new
                } else {
                    point.t + K::C[s] * h
                };
                statistics.rhs_evaluations += 1;
                problem.residual(t, &self.stage, &self.stage_dx, &mut self.r[s])?;
                all_finite(&self.r[s])?;
            }
            for i in 0..n {
                let [r1, r2, r3] = [self.r[0][i], self.r[1][i], self.r[2][i]];
                self.r[0][i] = -(K::TI[0][0] * r1 + K::TI[0][1] * r2 + K::TI[0][2] * r3);
                let re = -(K::TI[1][0] * r1 + K::TI[1][1] * r2 + K::TI[1][2] * r3);
                let im = -(K::TI[2][0] * r1 + K::TI[2][1] * r2 + K::TI[2][2] * r3);
                self.complex[i] = Complex::new(re, im);
            }
            self.real.solve(&mut self.r[0]);
            self.imaginary.solve(&mut self.complex);
            let mut sum = 0.0;
            for i in 0..n {
                let weight = point.weights[i];
                sum += (self.r[0][i] / weight).powi(2)
                    + (self.complex[i].re / weight).powi(2)
                    + (self.complex[i].im / weight).powi(2);
            }
            let verdict = self.monitor.observe((sum / (3 * n.max(1)) as f64).sqrt());
            if !matches!(verdict, Verdict::Continue | Verdict::Converged) {
                return Ok(verdict);
            }
            for i in 0..n {
                self.w[0][i] += self.r[0][i];
                self.w[1][i] += self.complex[i].re;
                self.w[2][i] += self.complex[i].im;
                let [w1, w2, w3] = [self.w[0][i], self.w[1][i], self.w[2][i]];
                for (z, row) in self.z.iter_mut().zip(&K::T) {
                    z[i] = row[0] * w1 + row[1] * w2 + row[2] * w3;
                }
            }
            if verdict == Verdict::Converged {
                return Ok(verdict);
            }
        }
    }
}
