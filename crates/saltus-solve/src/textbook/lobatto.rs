//! Lobatto IIIC of order 4 on the implicit form F(t, x, x') = 0.
//!
//! Three stages at 0, 1/2 and 1, of which the last is the end of the step; L-stable (Hairer and Wanner, Solving ODEs II, IV.5). The stages are solved in
//! `three_stage`. The interpolant is the cubic whose derivatives at the nodes are those of the stages, x + h Σ b_i(θ) X'_i with b_i(θ) = ∫ l_i: of order 3,
//! it ends where the step ends and stays within the solution that it damps. The step is judged by the defect of the interpolant, filtered like the error of
//! the other implicit methods: an estimate O(h⁴) that covers the interpolant.

use super::explicit::elementary;
use crate::control::Control;
use crate::error::SolveError;
use crate::implicit::filtered_defect;
use crate::integrator::{IntegratorStatistics, Problem, SolverName};
use crate::one_step::{Attempt, Discontinuity, LastInterval, OneStepMethod, Point, Trial};
use crate::scale::Tolerances;
use crate::three_stage::{Solved, Stages, Tableau};

/// Where the defect is taken. For x' = f(t) it is proportional to θ(θ - 1/2)(θ - 1), for x' = Ax to (θ - 1/4)(θ - 1)²: far from the zeros of both.
const DEFECT_AT: f64 = 0.7;
/// A⁻¹
const INVERSE: [[f64; 3]; 3] = [[3.0, 4.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -4.0, 3.0]];

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct LobattoIIIC;

impl Tableau for LobattoIIIC {
    const C: [f64; 3] = [0.0, 0.5, 1.0];
    const T: [[f64; 3]; 3] = [
        [
            0.455_410_041_101_028_5,
            -0.602_705_020_550_514_2,
            -0.430_932_122_920_322_6,
        ],
        [
            0.207_398_305_535_640_44,
            0.177_550_847_232_179_8,
            0.519_449_908_001_139_5,
        ],
        [1.0, 1.0, 0.0],
    ];
    const TI: [[f64; 3]; 3] = [
        [
            0.923_466_503_113_136_9,
            0.766_101_551_858_351_2,
            0.420_555_918_138_176_7,
        ],
        [
            -0.923_466_503_113_136_9,
            -0.766_101_551_858_351_2,
            0.579_444_081_861_823_3,
        ],
        [
            -5.306_214_809_504_117e-2,
            1.881_093_442_936_076,
            -0.365_970_557_574_274_5,
        ],
    ];
    const GAMMA: f64 = 2.625_816_818_958_466_7;
    const ALPHA: f64 = 1.687_091_590_520_766_6;
    const BETA: f64 = 2.508_731_754_924_880_5;
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct LobattoMethod {
    stages: Stages<LobattoIIIC>,
    /// h X'_i of the three stages, for the step `dense_step`.
    slopes: [Vec<f64>; 3],
    dense_step: f64,
}

/// b_i(θ) and their derivatives, the polynomials of Lagrange.
fn weights(theta: f64) -> ([f64; 3], [f64; 3]) {
    let b = [
        theta * (1.0 - theta * (1.5 - theta * (2.0 / 3.0))),
        theta * theta * (2.0 - theta * (4.0 / 3.0)),
        theta * theta * (-0.5 + theta * (2.0 / 3.0)),
    ];
    let l = [
        (1.0 - 2.0 * theta) * (1.0 - theta),
        4.0 * theta * (1.0 - theta),
        theta * (2.0 * theta - 1.0),
    ];
    (b, l)
}

impl LobattoMethod {
    /// The defect of the interpolant at θ.
    fn defect<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        (t, theta): (f64, f64),
        x_old: &[f64],
        error_weights: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<f64, SolveError> {
        let (b, l) = weights(theta);
        let stages = &mut self.stages;
        for (i, x) in x_old.iter().enumerate() {
            let [s1, s2, s3] = [0, 1, 2].map(|s| self.slopes[s][i]);
            stages.stage[i] = x + (b[0] * s1 + b[1] * s2 + b[2] * s3);
            stages.stage_dx[i] = (l[0] * s1 + l[1] * s2 + l[2] * s3) / self.dense_step;
        }
        let at = (t, &stages.stage[..], &stages.stage_dx[..]);
        let (matrix, room) = (&mut stages.real, &mut stages.r[0]);
        filtered_defect(problem, at, matrix, error_weights, room, statistics)
    }
}

impl OneStepMethod for LobattoMethod {
    const NAME: SolverName = SolverName::Lobatto;
    const CONTROL: Control = elementary(0.25);
    const ERROR_ORDER: i32 = 4;
    const DEGREE: usize = 3;

    fn new(n: usize, tolerances: Tolerances) -> LobattoMethod {
        LobattoMethod {
            stages: Stages::new(n, tolerances.rel),
            slopes: std::array::from_fn(|_| vec![0.0; n]),
            dense_step: 1.0,
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
        // The last interpolant goes on; zero in the first step.
        let (slopes, ratio) = (&self.slopes, trial.h / self.dense_step);
        let (end, _) = weights(1.0);
        let start = |i: usize, c: [f64; 3]| {
            if point.first {
                return [0.0; 3];
            }
            c.map(|c| {
                let (b, _) = weights(1.0 + c * ratio);
                (0..3).map(|s| (b[s] - end[s]) * slopes[s][i]).sum()
            })
        };
        let effort = match (self.stages).solve(problem, point, trial, start, statistics)? {
            Solved::Converged { effort } => effort,
            Solved::Again(factor) => return Ok(Attempt::Again(factor)),
        };
        for i in 0..point.x.len() {
            let z = [0, 1, 2].map(|s| self.stages.z[s][i]);
            for (slopes, row) in self.slopes.iter_mut().zip(&INVERSE) {
                slopes[i] = row[0] * z[0] + row[1] * z[1] + row[2] * z[2];
            }
            trial.x[i] = point.x[i] + z[2];
        }
        self.dense_step = trial.h;
        trial.error.fill(0.0);
        if !trial.controlled {
            return Ok(Attempt::Computed { error: 0.0, effort });
        }
        let at = (point.t + DEFECT_AT * trial.h, DEFECT_AT);
        let error = self.defect(problem, at, &point.x, &point.weights, statistics)?;
        trial.error.copy_from_slice(&self.stages.r[0]);
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
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)
    }

    fn plan(&mut self, h: f64, next: f64) -> f64 {
        self.stages.plan(h, next)
    }

    fn lipschitz(&self) -> f64 {
        self.stages.matrices.lipschitz()
    }

    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        let (b, _) = weights(theta);
        let [s1, s2, s3] = &self.slopes;
        for i in 0..out.len() {
            out[i] = step.x_old[i] + (b[0] * s1[i] + b[1] * s2[i] + b[2] * s3[i]);
        }
    }

    fn interpolant_error<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        step: &LastInterval,
        t: f64,
        error_weights: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<f64, SolveError> {
        let theta = (t - step.t_old) / (step.t - step.t_old);
        self.defect(problem, (t, theta), &step.x_old, error_weights, statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_conditions::assert_order;

    fn tableau() -> Vec<Vec<f64>> {
        vec![
            vec![1.0 / 6.0, -1.0 / 3.0, 1.0 / 6.0],
            vec![1.0 / 6.0, 5.0 / 12.0, -1.0 / 12.0],
            vec![1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
        ]
    }

    type Matrix = [[f64; 3]; 3];

    fn product(p: &Matrix, q: &Matrix) -> Matrix {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| p[i][k] * q[k][j]).sum()))
    }

    fn assert_identity(m: &Matrix) {
        for (i, row) in m.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((value - expected).abs() < 1e-14, "{i} {j} {value}");
            }
        }
    }

    #[test]
    fn order_conditions_of_the_method_and_of_the_interpolant() {
        let a = tableau();
        assert_order(&a, &a[2].clone(), 1.0, 4);
        for theta in [0.25, 0.5, 0.8] {
            assert_order(&a, &weights(theta).0, theta, 3);
        }
    }

    #[test]
    fn transformation_is_that_of_the_matrix() {
        type K = LobattoIIIC;
        let a: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| tableau()[i][j]));
        let lambda = [
            [K::GAMMA, 0.0, 0.0],
            [0.0, K::ALPHA, -K::BETA],
            [0.0, K::BETA, K::ALPHA],
        ];
        assert_identity(&product(&product(&product(&K::T, &lambda), &K::TI), &a));
        assert_identity(&product(&INVERSE, &a));
    }

    #[test]
    fn the_interpolant_is_stable_at_every_point_of_the_step() {
        // x' = λx, z = hλ: (I - zA) K = z 1 for K_i = h X'_i/x, and the interpolant is 1 + Σ b_i K_i.
        let a = tableau();
        let mut largest = 0.0f64;
        for power in -30..=80 {
            let z = -(10.0f64.powf(f64::from(power) / 10.0));
            let mut matrix = vec![0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    matrix[3 * j + i] = f64::from(u8::from(i == j)) - z * a[i][j];
                }
            }
            let mut lu = crate::linear::DenseLu::new(3);
            assert!(lu.factor(&matrix));
            let mut k = [z; 3];
            lu.solve(&mut k);
            for step in 0..=1000 {
                let (b, _) = weights(f64::from(step) / 1000.0);
                let value = 1.0 + b[0] * k[0] + b[1] * k[1] + b[2] * k[2];
                largest = largest.max(value.abs());
            }
            let end = 1.0 + (k[0] + 4.0 * k[1] + k[2]) / 6.0;
            assert!(power < 80 || end.abs() < 1e-6, "L-stable: {end}");
        }
        assert!(largest <= 1.0 + 1e-9, "{largest}");
    }
}
