//! Radau IIA of order 5 on the implicit form F(t, x, x') = 0.
//!
//! Method: Hairer and Wanner, Solving ODEs II, IV.8 (transformation, simplified Newton, error estimate, predictive step size
//! control), written for F(t, x, x') instead of M x' = f; the stages are solved in `three_stage`. The interpolant is the collocation polynomial.
//! F_x is made by differences; F_x' is the identity for the default form.

use crate::control::{Control, Law};
use crate::error::SolveError;
use crate::implicit::filtered_defect;
use crate::integrator::{IntegratorStatistics, Problem, SolverName};
use crate::one_step::{Attempt, Discontinuity, LastInterval, OneStep, OneStepMethod, Point, Trial};
use crate::scale::{Tolerances, rms, time_resolution};
use crate::three_stage::{Solved, Stages, Tableau};

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

/// An error of which the second filtering leaves less than this part belongs to something that fades within the step …
const FADING_SHARE: f64 = 0.5;
/// … if its time is less than this part of the step: what lasts longer is seen by the stages.
const FADING_STEP: f64 = 0.2;
/// What fades within this many units of time resolution is a jump.
const FADING_ULPS: f64 = 1024.0;

/// Errors below this are not distinguished.
const ERROR_MIN: f64 = 1e-10;

/// The integrator.
pub type Radau = OneStep<RadauMethod>;

/// The tableau.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct RadauIIA;

impl Tableau for RadauIIA {
    const C: [f64; 3] = [C1, C2, 1.0];
    const T: [[f64; 3]; 3] = T;
    const TI: [[f64; 3]; 3] = TI;
    const GAMMA: f64 = GAMMA;
    const ALPHA: f64 = ALPHA;
    const BETA: f64 = BETA;
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct RadauMethod {
    stages: Stages<RadauIIA>,
    /// Interpolant: state at the end and three divided differences, over the step `dense_step`.
    dense: [Vec<f64>; 4],
    dense_step: f64,
    /// Weights of the error test in units of those of the tolerance that was asked for.
    inner_share: f64,
}

impl OneStepMethod for RadauMethod {
    const NAME: SolverName = SolverName::Radau;
    const CONTROL: Control = Control {
        exponent: 0.25,
        law: Law::Predictive,
        safety: 0.9,
        quotient_min: 1.0 / 8.0,
        quotient_max: 5.0,
        error_floor: 1e-2,
    };
    const ERROR_ORDER: i32 = 4;
    const DEGREE: usize = 3;

    fn new(n: usize, tolerances: Tolerances) -> RadauMethod {
        RadauMethod {
            stages: Stages::new(n, RadauMethod::inner_tolerances(tolerances).rel),
            dense: std::array::from_fn(|_| vec![0.0; n]),
            dense_step: 1.0,
            inner_share: RadauMethod::inner_tolerances(tolerances).rel / tolerances.rel,
        }
    }

    /// The estimate is of order 3, so the tolerances are transformed as the source does.
    fn inner_tolerances(tolerances: Tolerances) -> Tolerances {
        let rel = 0.1 * tolerances.rel.powf(2.0 / 3.0);
        Tolerances {
            rel,
            abs: rel * tolerances.abs / tolerances.rel,
        }
    }

    fn restart(&mut self, change: Discontinuity) {
        self.stages.restart(change);
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        // Stage increments from the last step's collocation polynomial; zero in the first step.
        let (dense, ratio) = (&self.dense, trial.h / self.dense_step);
        let start = |i: usize, c: [f64; 3]| {
            if point.first {
                return [0.0; 3];
            }
            let [d1, d2, d3] = [1, 2, 3].map(|k| dense[k][i]);
            let at = |s: f64| s * (d1 + (s - (C2 - 1.0)) * (d2 + (s - (C1 - 1.0)) * d3));
            c.map(|c| at(c * ratio))
        };
        let effort = match (self.stages).solve(problem, point, trial, start, statistics)? {
            Solved::Converged { effort } => effort,
            Solved::Again(factor) => return Ok(Attempt::Again(factor)),
        };
        let error = match self.error_norm(problem, point, trial, statistics)? {
            Judged::Error(error) => error,
            Judged::Transient { scale } => return Ok(Attempt::Again(scale / trial.h)),
        };
        for i in 0..point.x.len() {
            trial.x[i] = point.x[i] + self.stages.z[2][i];
        }
        Ok(Attempt::Computed { error, effort })
    }

    fn complete<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        _: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        statistics.rhs_evaluations += 1;
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        for i in 0..trial.x.len() {
            let [z1, z2, z3] = [0, 1, 2].map(|s| self.stages.z[s][i]);
            let d1 = (z2 - z3) / (C2 - 1.0);
            let ak = (z1 - z2) / (C1 - C2);
            let third = (ak - z1 / C1) / C2;
            let d2 = (ak - d1) / (C1 - 1.0);
            self.dense[0][i] = trial.x[i];
            self.dense[1][i] = d1;
            self.dense[2][i] = d2;
            self.dense[3][i] = d2 - third;
        }
        self.dense_step = trial.h;
        Ok(())
    }

    fn plan(&mut self, h: f64, next: f64) -> f64 {
        self.stages.plan(h, next)
    }

    fn lipschitz(&self) -> f64 {
        self.stages.matrices.lipschitz()
    }

    fn interpolate(&self, _: &LastInterval, theta: f64, out: &mut [f64]) {
        let s = theta - 1.0;
        let [d0, d1, d2, d3] = &self.dense;
        for i in 0..out.len() {
            out[i] = d0[i] + s * (d1[i] + (s - (C2 - 1.0)) * (d2[i] + (s - (C1 - 1.0)) * d3[i]));
        }
    }

    /// The defect of the collocation polynomial, filtered: ‖(γ/h F_x' + F_x)⁻¹ F(t, u, u')‖.
    fn interpolant_error<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        step: &LastInterval,
        t: f64,
        weights: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<f64, SolveError> {
        let h = self.dense_step;
        let theta = (t - step.t_old) / (step.t - step.t_old);
        let (s, p, q) = (theta - 1.0, theta - C2, theta - C1);
        let [d0, d1, d2, d3] = &self.dense;
        let stages = &mut self.stages;
        for i in 0..weights.len() {
            let inner = d2[i] + q * d3[i];
            stages.stage[i] = d0[i] + s * (d1[i] + p * inner);
            stages.stage_dx[i] = (d1[i] + p * inner + s * (inner + p * d3[i])) / h;
        }
        let at = (t, &stages.stage[..], &stages.stage_dx[..]);
        let (matrix, room) = (&mut stages.real, &mut stages.r[0]);
        filtered_defect(problem, at, matrix, weights, room, statistics)
    }
}

/// The error of a first step filtered once and twice, in units of the tolerance. An event may put the state beside its slow motion.
/// A stiff method brings it back within one step of any length, with a right end and an interpolant that is wrong inside by as much as the state was
/// beside: rows, and events located on it, would be wrong. So the step is taken again in the time ‖e‖/‖x'₀‖ in which that fades, and the
/// next ones grow.
struct FadingNorms {
    error: f64,
    filtered: f64,
}

impl FadingNorms {
    /// That time, if the step of size `h` is much longer.
    fn time_scale(&self, point: &Point, h: f64) -> Option<f64> {
        let scale = self.error / rms(&point.dx, &point.weights);
        let fades = self.filtered < FADING_SHARE * self.error
            && scale < FADING_STEP * h
            && scale > FADING_ULPS * time_resolution(point.t, h);
        fades.then_some(scale)
    }
}

/// What the error estimate of a trial says.
enum Judged {
    Error(f64),
    /// The step is too long for what begins with it, which fades within about this time.
    Transient {
        scale: f64,
    },
}

impl RadauMethod {
    /// ‖(γ/h F_x' + F_x)⁻¹ F_x' (x'₀ + Σ e_i Z_i/h)‖; in first and repeated steps filtered a second time, with -F(t, x + e, x'₀) added for the error e of
    /// the first.
    ///
    /// For x' = λx with hλ → -∞ the first estimate tends to |x₀| and the second to 0, and the source accepts such a step. The collocation
    /// polynomial is wrong by up to |x₀| inside it, and by 0.37 |x₀| where it swings through after the first node: see [`FadingNorms`].
    fn error_norm<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Judged, SolveError> {
        let (n, h) = (point.x.len(), trial.h);
        let stages = &mut self.stages;
        for i in 0..n {
            let sum =
                (DD[0] * stages.z[0][i] + DD[1] * stages.z[1][i] + DD[2] * stages.z[2][i]) / h;
            trial.error[i] = sum + point.dx[i];
        }
        stages.matrices.times_rate(&mut trial.error);
        stages.r[1].copy_from_slice(&trial.error);
        stages.real.solve(&mut trial.error);
        let error = at_least(ERROR_MIN, rms(&trial.error, &point.weights));
        let visible = point.first && error * self.inner_share >= 1.0;
        let doubtful = error >= 1.0 && (point.first || trial.repeated);
        if !visible && !doubtful {
            return Ok(Judged::Error(error));
        }
        for i in 0..n {
            stages.stage[i] = point.x[i] + trial.error[i];
        }
        statistics.rhs_evaluations += 1;
        // Σ e_i Z_i/h + f(t, x + e) for the explicit form
        problem.residual(point.t, &stages.stage, &point.dx, &mut stages.r[2])?;
        for i in 0..n {
            trial.error[i] = stages.r[1][i] - stages.r[2][i];
        }
        stages.real.solve(&mut trial.error);
        let filtered = at_least(ERROR_MIN, rms(&trial.error, &point.weights));
        if visible && trial.controlled {
            let norms = FadingNorms { error, filtered };
            if let Some(scale) = norms.time_scale(point, h) {
                return Ok(Judged::Transient { scale });
            }
        }
        // A step that the first estimate accepts is not judged by the second.
        Ok(Judged::Error(if error < 1.0 { error } else { filtered }))
    }
}

/// The larger of both; a norm that is not a number stays one.
fn at_least(floor: f64, norm: f64) -> f64 {
    if norm < floor { floor } else { norm }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_conditions::assert_order;

    fn tableau() -> Vec<Vec<f64>> {
        let s = SQRT6;
        vec![
            vec![
                (88.0 - 7.0 * s) / 360.0,
                (296.0 - 169.0 * s) / 1800.0,
                (-2.0 + 3.0 * s) / 225.0,
            ],
            vec![
                (296.0 + 169.0 * s) / 1800.0,
                (88.0 + 7.0 * s) / 360.0,
                (-2.0 - 3.0 * s) / 225.0,
            ],
            vec![(16.0 - s) / 36.0, (16.0 + s) / 36.0, 1.0 / 9.0],
        ]
    }

    /// Value at θ of the polynomial through 0 at 0 and the increments z at the nodes.
    fn collocation(z: [f64; 3], theta: f64) -> f64 {
        let nodes = [C1, C2, 1.0];
        (0..3)
            .map(|i| {
                let mut weight = theta / nodes[i];
                for j in (0..3).filter(|&j| j != i) {
                    weight *= (theta - nodes[j]) / (nodes[i] - nodes[j]);
                }
                weight * z[i]
            })
            .sum()
    }

    #[test]
    fn order_conditions_of_the_method_and_of_the_interpolant() {
        let a = tableau();
        assert_order(&a, &a[2].clone(), 1.0, 5);
        for theta in [0.25, 0.5, 0.8] {
            let weights: Vec<f64> = (0..3)
                .map(|s| collocation([a[0][s], a[1][s], a[2][s]], theta))
                .collect();
            assert_order(&a, &weights, theta, 3);
        }
    }

    /// x(θ)/x(0) of one step for x' = λx, z = hλ: (I - zA) Z = z A 1.
    fn stability(z: f64, theta: f64) -> f64 {
        let a = tableau();
        let mut m = [[0.0; 4]; 3];
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] = f64::from(u8::from(i == j)) - z * a[i][j];
            }
            m[i][3] = z * a[i].iter().sum::<f64>();
        }
        for k in 0..3 {
            let pivot = (k..3)
                .max_by(|&p, &q| m[p][k].abs().total_cmp(&m[q][k].abs()))
                .expect("rows are left");
            m.swap(k, pivot);
            let row = m[k];
            for (i, other) in m.iter_mut().enumerate() {
                if i != k {
                    let factor = other[k] / row[k];
                    for (target, value) in other.iter_mut().zip(row) {
                        *target -= factor * value;
                    }
                }
            }
        }
        let z = std::array::from_fn(|i| m[i][3] / m[i][i]);
        1.0 + collocation(z, theta)
    }

    #[test]
    fn the_interpolant_is_stable_at_every_point_of_the_step() {
        let mut largest = 0.0f64;
        for power in -30..=80 {
            let z = -(10.0f64.powf(f64::from(power) / 10.0));
            for k in 0..=1000 {
                largest = largest.max(stability(z, f64::from(k) / 1000.0).abs());
            }
        }
        assert!(largest <= 1.0 + 1e-9, "{largest}");
        assert!(stability(-1e8, 1.0).abs() < 1e-6, "L-stable");
    }

    #[test]
    fn transformation_is_that_of_the_radau_matrix() {
        let a: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| tableau()[i][j]));
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
