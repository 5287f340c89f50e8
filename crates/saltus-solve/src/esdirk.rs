//! ESDIRK5(4)7L[2]SA2 of Kennedy and Carpenter (Diagonally implicit Runge–Kutta methods for stiff ODEs, Applied Numerical
//! Mathematics 146, 2019): order 5 with embedded order 4, seven stages of which the first is explicit, L-stable, stiffly accurate, stage
//! order 2, all nodes inside the step. For stiff problems with many events: one real matrix, no history.
//!
//! On F(t, x, x') = 0 the stages X_i = x + Z_i with Z_i = h Σ_j a_ij k_j fulfil F(t + c_i h, X_i, k_i) = 0, one after the other, each by
//! simplified Newton with the same matrix F_x'/(γh) + F_x. All rows of the tableau have a_i1 = a_i2, so k_1 and k_2 enter only as
//! y_2 = h(k_1 + k_2) = Z_2/γ; with y_i = h k_i = (Z_i - Σ_{1<j<i} a_ij y_j)/γ everything that is computed from the stages stays bounded for
//! h·λ → -∞, where h k_1 does not.
//!
//! Dense output: x(θ) = x + Σ_{i>1} b_i(θ) y_i with b_i of degree 5. The seven conditions Σ b_i = θ (with b_1 = b_2), Σ b c^q = θ^(q+1)/(q+1)
//! for q = 1..4, and Σ b_i a_ij c_j² = θ⁴/12 determine it: order 4 (stage order 2 makes the other conditions redundant), continuous, exact at
//! the ends. |R(z, θ)| ≤ 1 for all z ≤ 0 and θ in [0, 1] (tested).
//!
//! Error estimate: (F_x'/(γh) + F_x)⁻¹ F_x'/(γh), for the explicit form (1 - γhJ)⁻¹, of the difference to the embedded solution, as Shampine's filter for stiff methods (Solving ODEs II, IV.8):
//! without it the stage order 2 of fast components, whose own error is damped, decides the step size (Robertson at 1e-8: 1810 steps against
//! 526, both with an error of 4e-9).

use crate::control::{Control, Law, all_finite};
use crate::error::SolveError;
use crate::implicit::{Matrices, Monitor, Verdict, filtered_defect};
use crate::integrator::{IntegratorStatistics, Problem, SolverName};
use crate::jacobian::IterationMatrix;
use crate::one_step::{Attempt, Discontinuity, LastInterval, OneStep, OneStepMethod, Point, Trial};
use crate::scale::{EPS, Tolerances, rms};

/// Stages that are solved for: the second to the seventh.
const S: usize = 6;
const GAMMA: f64 = 23.0 / 125.0;
const C: [f64; S] = [
    46.0 / 125.0,
    7_121_331_996_143.0 / 11_335_814_405_378.0,
    49.0 / 353.0,
    3_706_679_970_760.0 / 5_295_570_149_437.0,
    347.0 / 382.0,
    1.0,
];
/// a_ij for j = 2..i-1 of the stages i = 3..7; a_i1 = a_i2, a_ii = γ.
const A3: [f64; 1] = [791_020_047_304.0 / 3_561_426_431_547.0];
const A4: [f64; 2] = [
    -158_159_076_358.0 / 11_257_294_102_345.0,
    -85_517_644_447.0 / 5_003_708_988_389.0,
];
const A5: [f64; 3] = [
    -1_653_327_111_580.0 / 4_048_416_487_981.0,
    1_514_767_744_496.0 / 9_099_671_765_375.0,
    14_283_835_447_591.0 / 12_247_432_691_556.0,
];
const A6: [f64; 4] = [
    -4_540_011_970_825.0 / 8_418_487_046_959.0,
    -1_790_937_573_418.0 / 7_393_406_387_169.0,
    10_819_093_665_085.0 / 7_266_595_846_747.0,
    4_109_463_131_231.0 / 7_386_972_500_302.0,
];
const A7: [f64; 5] = [
    -188_593_204_321.0 / 4_778_616_380_481.0,
    2_809_310_203_510.0 / 10_304_234_040_467.0,
    1_021_729_336_898.0 / 2_364_210_264_653.0,
    870_612_361_811.0 / 2_470_410_392_208.0,
    -1_307_970_675_534.0 / 8_059_683_598_661.0,
];
const ROWS: [&[f64]; S] = [&[], &A3, &A4, &A5, &A6, &A7];
/// Weights of order 4 for y_2..y_7.
const B4: [f64; S] = [
    -582_099_335_757.0 / 7_214_068_459_310.0,
    615_023_338_567.0 / 3_362_626_566_945.0,
    3_192_122_436_311.0 / 6_174_152_374_399.0,
    6_156_034_052_041.0 / 14_430_468_657_929.0,
    -1_011_318_518_279.0 / 9_693_750_372_484.0,
    1_914_490_192_573.0 / 13_754_262_428_401.0,
];
/// Difference of the weights of order 5 and 4.
const E: [f64; S] = [
    A7[0] - B4[0],
    A7[1] - B4[1],
    A7[2] - B4[2],
    A7[3] - B4[3],
    A7[4] - B4[4],
    GAMMA - B4[5],
];
/// b_i(θ) for y_2..y_7, powers 1 to 5 of θ.
const DENSE: [[f64; 5]; S] = [
    [
        1.295_518_607_324_251,
        -7.070_087_369_461_767,
        13.777_994_310_426_784,
        -11.725_131_287_313_973,
        3.682_239_669_914_964,
    ],
    [
        -2.072_488_331_141_823,
        9.125_273_500_760_37,
        -2.926_883_627_549_863_3,
        -11.868_917_471_362_88,
        8.015_652_419_544_438,
    ],
    [
        -0.858_527_834_237_022_8,
        11.042_326_900_383_16,
        -25.359_436_882_355_727,
        23.186_830_263_111_506,
        -7.579_027_274_381_629,
    ],
    [
        1.182_839_589_073_634,
        -6.173_148_621_452_688,
        3.581_061_260_978_834_6,
        8.388_045_417_270_304,
        -6.626_381_559_637_195,
    ],
    [
        0.444_077_037_262_391_7,
        -0.126_538_087_803_705_43,
        -6.905_406_303_050_632,
        11.602_690_666_543_115,
        -5.177_108_923_735_109,
    ],
    [
        -0.286_937_675_605_682_45,
        0.272_261_047_036_397_9,
        4.054_676_931_123_82,
        -7.858_386_300_934_104,
        4.002_385_998_379_569,
    ],
];

/// Iterations of the simplified Newton method for one stage.
const NEWTON_MAX: u32 = 7;
/// Below this contraction the Jacobian is kept.
const CONTRACTION_KEEP: f64 = 1e-2;
/// The iteration of a stage stops at this part of the error tolerance.
const NEWTON_FRACTION: f64 = 0.01;
/// The last step's interpolant predicts stages up to so many of its own lengths ahead.
const EXTRAPOLATION_MAX: f64 = 1.5;

/// The integrator.
pub type Esdirk = OneStep<EsdirkMethod>;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct EsdirkMethod {
    /// y_2..y_7 of each component.
    y: Vec<[f64; S]>,
    /// Increments Z_2..Z_7 of each component.
    z: Vec<[f64; S]>,
    /// Those of the last accepted step, and its size.
    dense: Vec<[f64; S]>,
    dense_step: f64,
    /// Weights that predict Z_i from Z_2..Z_{i-1}: the polynomial through them and 0.
    predictor: [[f64; S]; S],
    /// Part of Z_i that is known before stage i is solved.
    known: Vec<f64>,
    increment: Vec<f64>,
    stage: Vec<f64>,
    stage_dx: Vec<f64>,
    r: Vec<f64>,
    matrices: Matrices,
    matrix: IterationMatrix<f64>,
    monitor: Monitor,
    /// Largest contraction and number of iterations in the stages of the step.
    contraction: f64,
    iterations: u32,
}

impl OneStepMethod for EsdirkMethod {
    const NAME: SolverName = SolverName::Esdirk;
    const CONTROL: Control = Control {
        exponent: 0.2,
        law: Law::Predictive,
        safety: 0.9,
        quotient_min: 1.0 / 8.0,
        quotient_max: 5.0,
        error_floor: 1e-2,
    };
    const ERROR_ORDER: i32 = 5;
    const DEGREE: usize = 5;

    fn new(n: usize, tolerances: Tolerances) -> EsdirkMethod {
        let zeros = || vec![0.0; n];
        EsdirkMethod {
            y: vec![[0.0; S]; n],
            z: vec![[0.0; S]; n],
            dense: vec![[0.0; S]; n],
            dense_step: 1.0,
            predictor: stage_predictor(),
            known: zeros(),
            increment: zeros(),
            stage: zeros(),
            stage_dx: zeros(),
            r: zeros(),
            matrices: Matrices::new(n, CONTRACTION_KEEP),
            matrix: IterationMatrix::new(),
            monitor: Monitor::new(
                (10.0 * EPS / tolerances.rel).max(NEWTON_FRACTION),
                NEWTON_MAX,
            ),
            contraction: 0.0,
            iterations: 0,
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
                if !(self.matrix).factor(self.matrices.jacobian(), 1.0 / (GAMMA * h)) {
                    return Ok(Attempt::Again(0.5));
                }
                self.matrices.factored(h);
            }
            match self.stages(problem, point, trial, statistics) {
                Ok(Verdict::Converged) => break,
                Err(error) if !error.recoverable() => return Err(error),
                // With a Jacobian of an earlier point the failure says nothing about the step.
                _ if self.matrices.renew() => {}
                Ok(verdict) => return Ok(Attempt::Again(verdict.shrink())),
                Err(error) => return Err(error),
            }
        }
        let n = point.x.len();
        let mut sum = 0.0;
        for i in 0..n {
            trial.x[i] = point.x[i] + self.z[i][S - 1];
            trial.dx[i] = self.y[i][S - 1] / h;
            trial.error[i] = dot(&E, &self.y[i]) / (GAMMA * h);
        }
        self.matrices.times_rate(&mut trial.error);
        self.matrix.solve(&mut trial.error);
        for i in 0..n {
            let scaled = trial.error[i] / point.weight_over(i, trial.x[i]);
            sum += scaled * scaled;
        }
        let most = f64::from(2 * NEWTON_MAX);
        Ok(Attempt::Computed {
            error: (sum / n.max(1) as f64).sqrt(),
            effort: (1.0 + most) / (f64::from(self.iterations.max(1)) + most),
        })
    }

    fn complete<P: Problem + ?Sized>(
        &mut self,
        _: &mut P,
        _: &Point,
        trial: &mut Trial,
        _: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        self.dense.copy_from_slice(&self.y);
        self.dense_step = trial.h;
        Ok(())
    }

    fn plan(&mut self, h: f64, next: f64) -> f64 {
        self.matrices.plan(h, next, self.contraction)
    }

    fn lipschitz(&self) -> f64 {
        self.matrices.lipschitz()
    }

    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        let b = dense_weights(theta);
        for ((out, x), y) in out.iter_mut().zip(&step.x_old).zip(&self.dense) {
            *out = x + dot(&b, y);
        }
    }

    /// The defect of the interpolant, filtered: ‖(F_x'/(γh) + F_x)⁻¹ F(t, u, u')‖.
    fn interpolant_error<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        step: &LastInterval,
        t: f64,
        weights: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<f64, SolveError> {
        let theta = (t - step.t_old) / (step.t - step.t_old);
        let (b, rate) = (dense_weights(theta), dense_rates(theta));
        for i in 0..weights.len() {
            self.stage[i] = step.x_old[i] + dot(&b, &self.dense[i]);
            self.stage_dx[i] = dot(&rate, &self.dense[i]) / self.dense_step;
        }
        let at = (t, &self.stage[..], &self.stage_dx[..]);
        filtered_defect(
            problem,
            at,
            &mut self.matrix,
            weights,
            &mut self.r,
            statistics,
        )
    }
}

impl EsdirkMethod {
    /// Solves the stages one after the other; stops at the first that fails.
    fn stages<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Verdict, SolveError> {
        let h = trial.h;
        self.contraction = 0.0;
        self.iterations = 0;
        for (s, c) in C.into_iter().enumerate() {
            self.predict(s, point, h);
            self.monitor.start(s > 0 || self.matrices.trusted());
            let t = if s == S - 1 {
                trial.t_new
            } else {
                point.t + c * h
            };
            let verdict = self.newton(problem, point, t, h, statistics)?;
            if verdict != Verdict::Converged {
                return Ok(verdict);
            }
            self.contraction = self.contraction.max(self.monitor.contraction());
            self.iterations = self.iterations.max(self.monitor.iterations());
            for i in 0..point.x.len() {
                self.z[i][s] = self.increment[i];
                self.y[i][s] = match s {
                    0 => self.increment[i],
                    _ => self.increment[i] - self.known[i],
                } / GAMMA;
            }
        }
        Ok(Verdict::Converged)
    }

    /// The known part of Z_s and a first value of all of it: from the stages before, or from the last step.
    fn predict(&mut self, s: usize, point: &Point, h: f64) {
        let n = point.x.len();
        if s > 0 {
            for i in 0..n {
                self.known[i] = dot(ROWS[s], &self.y[i]);
                self.increment[i] = dot(&self.predictor[s][..s], &self.z[i]);
            }
            return;
        }
        let ratio = C[0] * h / self.dense_step;
        let end = dense_weights(1.0);
        let ahead = dense_weights(1.0 + ratio);
        let extrapolate = !point.first && ratio <= EXTRAPOLATION_MAX;
        for i in 0..n {
            self.known[i] = GAMMA * h * point.dx[i];
            self.increment[i] = match extrapolate {
                true => dot(&ahead, &self.dense[i]) - dot(&end, &self.dense[i]),
                false => 0.0,
            };
        }
    }

    /// F(t, x + Z, (Z - known)/(γh)) = 0 for Z in `increment`.
    fn newton<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        t: f64,
        h: f64,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Verdict, SolveError> {
        let n = point.x.len();
        loop {
            for i in 0..n {
                self.stage[i] = point.x[i] + self.increment[i];
                self.stage_dx[i] = (self.increment[i] - self.known[i]) / (GAMMA * h);
            }
            statistics.rhs_evaluations += 1;
            problem.residual(t, &self.stage, &self.stage_dx, &mut self.r)?;
            all_finite(&self.r)?;
            self.matrix.solve(&mut self.r);
            let verdict = self.monitor.observe(rms(&self.r, &point.weights));
            if !matches!(verdict, Verdict::Continue | Verdict::Converged) {
                return Ok(verdict);
            }
            for (increment, r) in self.increment.iter_mut().zip(&self.r) {
                *increment -= r;
            }
            if verdict == Verdict::Converged {
                return Ok(verdict);
            }
        }
    }
}

/// Σ c_j y_j over the length of `c`.
#[inline(always)]
fn dot(c: &[f64], y: &[f64]) -> f64 {
    c.iter().zip(y).map(|(c, y)| c * y).sum()
}

/// b_2(θ)..b_7(θ)
fn dense_weights(theta: f64) -> [f64; S] {
    DENSE.map(|p| theta * (p[0] + theta * (p[1] + theta * (p[2] + theta * (p[3] + theta * p[4])))))
}

/// b_2'(θ)..b_7'(θ)
fn dense_rates(theta: f64) -> [f64; S] {
    DENSE.map(|p| {
        p[0] + theta
            * (2.0 * p[1] + theta * (3.0 * p[2] + theta * (4.0 * p[3] + theta * 5.0 * p[4])))
    })
}

/// Row s: the weights of Z at the nodes before s in the value at node s of the polynomial through them and (0, 0).
fn stage_predictor() -> [[f64; S]; S] {
    let mut weights = [[0.0; S]; S];
    for s in 1..S {
        for j in 0..s {
            let mut weight = C[s] / C[j];
            for k in (0..s).filter(|&k| k != j) {
                weight *= (C[s] - C[k]) / (C[j] - C[k]);
            }
            weights[s][j] = weight;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_conditions::assert_order;

    /// The whole tableau, with the explicit first stage.
    fn tableau() -> Vec<Vec<f64>> {
        let mut a = vec![vec![0.0; S + 1]];
        for (i, row) in ROWS.iter().enumerate() {
            let mut full = vec![0.0; S + 1];
            full[0] = row.first().copied().unwrap_or(GAMMA);
            full[1..=row.len()].copy_from_slice(row);
            full[i + 1] = GAMMA;
            a.push(full);
        }
        a
    }

    /// Weights of k_1..k_7 from those of y_2..y_7.
    fn with_first(b: [f64; S]) -> Vec<f64> {
        [&b[..1], &b].concat()
    }

    #[test]
    fn order_conditions_of_the_pair_and_of_the_interpolant() {
        let a = tableau();
        for (row, c) in a[1..].iter().zip(C) {
            assert!((row.iter().sum::<f64>() - c).abs() < 1e-14, "{c}");
        }
        assert_order(&a, &a[S].clone(), 1.0, 5);
        assert_order(&a, &with_first(B4), 1.0, 4);
        for theta in [0.15, 0.5, 0.85] {
            assert_order(&a, &with_first(dense_weights(theta)), theta, 4);
        }
        for (at_end, b) in with_first(dense_weights(1.0)).iter().zip(&a[S]) {
            assert!((at_end - b).abs() < 1e-14, "{at_end} {b}");
        }
    }

    /// x(θ)/x(0) of one step for x' = λx, z = hλ, in the variables that the method computes with.
    fn stability(z: f64, theta: f64) -> f64 {
        let mut y = [0.0; S];
        for i in 0..S {
            // Z = known + γ z (1 + Z) with h k_i = z (1 + Z); the second stage knows γ h k_1 = γ z.
            let known = if i == 0 { GAMMA * z } else { dot(ROWS[i], &y) };
            let increment = (known + GAMMA * z) / (1.0 - GAMMA * z);
            y[i] = if i == 0 { increment } else { increment - known } / GAMMA;
        }
        1.0 + dot(&dense_weights(theta), &y)
    }

    #[test]
    fn the_interpolant_is_stable_at_every_point_of_the_step() {
        let mut largest = 0.0f64;
        for power in -30..=80 {
            let z = -(10.0f64.powf(f64::from(power) / 10.0));
            for k in 0..=1000 {
                largest = largest.max(stability(z, f64::from(k) / 1000.0).abs());
            }
            assert!(stability(z, 1.0).abs() < 1.0, "{z}");
        }
        assert!(largest <= 1.0 + 1e-12, "{largest}");
        assert!(stability(-1e8, 1.0).abs() < 1e-6, "L-stable");
    }
}
