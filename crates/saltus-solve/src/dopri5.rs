//! DOPRI5: the pair of Dormand and Prince, order 5 with embedded order 4, first-same-as-last, and the dense output of order 4
//! of Hairer, Nørsett and Wanner (Solving ODEs I, II.5 and II.6). Step sizes by the PI controller of II.4 there (β = 0.04).
//! Stiffness is detected by the estimate h·λ ≈ h‖k7 - k6‖/‖x7 - x6‖ against the stability boundary 3.25 (Solving ODEs II, IV.2).

use crate::control::{Control, Law};
use crate::error::SolveError;
use crate::explicit::{AlternatingOutput, StageRows, StiffnessDetector, stage_rows};
use crate::integrator::{IntegratorStatistics, Problem, SolverName};
use crate::one_step::{Attempt, LastInterval, OneStep, OneStepMethod, Point, Trial};
use crate::scale::Tolerances;

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

/// Size of h·λ from which stability limits the step: three quarters of the boundary on the negative real axis that the source uses, because the
/// controller holds the step a little inside it.
const STABILITY_BOUNDARY: f64 = 0.75 * 3.25;

/// The integrator.
pub type Dopri5 = OneStep<Dopri5Method>;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Dopri5Method {
    k: [Vec<f64>; 7],
    /// Argument of the last stage.
    argument: Vec<f64>,
    /// Coefficients of the interpolant, without the state at the start.
    dense: Vec<[f64; 4]>,
    stiffness: StiffnessDetector,
}

impl OneStepMethod for Dopri5Method {
    const NAME: SolverName = SolverName::Dopri5;
    const CONTROL: Control = Control {
        exponent: 0.2,
        law: Law::ProportionalIntegral { beta: 0.04 },
        safety: 0.9,
        quotient_min: 0.1,
        quotient_max: 5.0,
        error_floor: 1e-4,
    };
    const ERROR_ORDER: i32 = 5;
    const DEGREE: usize = 4;
    const KEEPS_STEP_SIZE: bool = true;

    fn new(n: usize, _: Tolerances) -> Dopri5Method {
        Dopri5Method {
            k: stage_rows(n),
            argument: vec![0.0; n],
            dense: vec![[0.0; 4]; n],
            stiffness: StiffnessDetector::default(),
        }
    }

    fn take_over(&mut self) {
        self.stiffness = StiffnessDetector::default();
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        // Few components are worth code of their own: loops without counters, stages in registers.
        match point.x.len() {
            1 => self.attempt_small::<P, 1>(problem, point, trial, statistics),
            2 => self.attempt_small::<P, 2>(problem, point, trial, statistics),
            3 => self.attempt_small::<P, 3>(problem, point, trial, statistics),
            4 => self.attempt_small::<P, 4>(problem, point, trial, statistics),
            _ => {
                let Dopri5Method {
                    k,
                    argument,
                    dense,
                    stiffness,
                } = self;
                let outcome = Outcome { dense, stiffness };
                attempt_in(k, argument, problem, point, trial, outcome, statistics)
            }
        }
    }

    #[inline]
    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        let theta1 = 1.0 - theta;
        let at = |x: f64, d: &[f64; 4]| {
            x + theta * (d[0] + theta1 * (d[1] + theta * (d[2] + theta1 * d[3])))
        };
        // Few components without the preparations of a loop: events are located with hundreds of these.
        match (out, &*step.x_old, &*self.dense) {
            ([out], [x], [d]) => *out = at(*x, d),
            ([out1, out2], [x1, x2], [d1, d2]) => {
                *out1 = at(*x1, d1);
                *out2 = at(*x2, d2);
            }
            (out, x_old, dense) => {
                for ((out, x), d) in out.iter_mut().zip(x_old).zip(dense) {
                    *out = at(*x, d);
                }
            }
        }
    }
}

impl Dopri5Method {
    fn attempt_small<P: Problem + ?Sized, const N: usize>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        let mut k = [[0.0; N]; 7];
        let mut argument = [0.0; N];
        let outcome = Outcome {
            dense: &mut self.dense,
            stiffness: &mut self.stiffness,
        };
        attempt_in(
            &mut k,
            &mut argument,
            problem,
            point,
            trial,
            outcome,
            statistics,
        )
    }
}

/// What a step that is accepted leaves behind.
struct Outcome<'a> {
    dense: &'a mut [[f64; 4]],
    stiffness: &'a mut StiffnessDetector,
}

/// One step with its error, the stages in `k`; the interpolant if the error is small enough.
#[inline(always)]
fn attempt_in<P: Problem + ?Sized>(
    k: &mut impl StageRows,
    argument: &mut [f64],
    problem: &mut P,
    point: &Point,
    trial: &mut Trial,
    outcome: Outcome<'_>,
    statistics: &mut IntegratorStatistics,
) -> Result<Attempt, SolveError> {
    let (t, h) = (point.t, trial.h);
    k.row_mut(0).copy_from_slice(&point.dx);
    // All vectors have the length of a row.
    let n = k.row(0).len();
    let x = &point.x[..n];
    k.evaluate(problem, (t + C[1] * h, x, h), &A2, argument, statistics)?;
    k.evaluate(problem, (t + C[2] * h, x, h), &A3, argument, statistics)?;
    k.evaluate(problem, (t + C[3] * h, x, h), &A4, argument, statistics)?;
    k.evaluate(problem, (t + C[4] * h, x, h), &A5, argument, statistics)?;
    k.evaluate(problem, (trial.t_new, x, h), &A6, argument, statistics)?;
    let x_new = &mut trial.x[..n];
    k.combine(&B, |i, slope| x_new[i] = x[i] + h * slope);
    statistics.rhs_evaluations += 1;
    problem.derivatives(trial.t_new, x_new, k.row_mut(6))?;
    trial.dx.copy_from_slice(k.row(6));
    let error_of = &mut trial.error[..n];
    let nominal = &point.nominal[..n];
    let mut sum = 0.0;
    k.combine(&E, |i, error| {
        let error = h * error;
        error_of[i] = error;
        let size = x[i].abs().max(x_new[i].abs());
        let scaled = error / point.tolerances.weight(size, nominal[i]);
        sum += scaled * scaled;
    });
    let error = (sum / n.max(1) as f64).sqrt();
    if error <= 1.0 {
        let k6 = k.row(5).iter().copied();
        outcome
            .stiffness
            .observe(point, trial, argument, k6, STABILITY_BOUNDARY);
        let (x_new, dense) = (&trial.x[..n], &mut outcome.dense[..n]);
        k.combine(&D, |i, curvature| {
            let difference = x_new[i] - x[i];
            let spline = h * k.row(0)[i] - difference;
            dense[i] = [
                difference,
                spline,
                difference - h * k.row(6)[i] - spline,
                h * curvature,
            ];
        });
    }
    Ok(Attempt::Computed { error, effort: 1.0 })
}

impl AlternatingOutput for Dopri5Method {
    fn coefficients(&self, i: usize) -> &[f64] {
        &self.dense[i]
    }
}

impl Dopri5 {
    /// State `i` over the last step without the straight line between its ends, θθ₁(d1 + θ d2 + θθ₁ d3): the three inner Bernstein
    /// coefficients of degree 4. Those of θθ₁ are 1/4, 1/3, 1/4, of θ²θ₁ 0, 1/6, 1/4, of θ²θ₁² 0, 1/6, 0.
    #[inline]
    pub(crate) fn bow(&self, i: usize) -> [f64; 3] {
        let [_, d1, d2, d3] = self.method.dense[i];
        [
            0.25 * d1,
            d1 * (1.0 / 3.0) + (d2 + d3) * (1.0 / 6.0),
            0.25 * (d1 + d2),
        ]
    }

    #[inline]
    pub(crate) fn is_stiff(&self) -> bool {
        self.method.stiffness.is_stiff()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_conditions::{assert_order, square};

    #[test]
    fn order_conditions_of_the_pair_and_of_the_interpolant() {
        let a = square(&[&[], &A2, &A3, &A4, &A5, &A6, &B]);
        let mut b = B.to_vec();
        b.push(0.0);
        assert_order(&a, &b, 1.0, 5);
        let embedded: Vec<f64> = b.iter().zip(E).map(|(b, e)| b - e).collect();
        assert_order(&a, &embedded, 1.0, 4);
        for theta in [0.2, 0.5, 0.9f64] {
            // The weights are what the interpolant makes of unit derivatives.
            let weights: Vec<f64> = (0..7)
                .map(|s| {
                    let unit = |i: usize| f64::from(u8::from(i == s));
                    let difference = b[s];
                    let spline = unit(0) - difference;
                    let third = difference - unit(6) - spline;
                    let theta1 = 1.0 - theta;
                    theta * (difference + theta1 * (spline + theta * (third + theta1 * D[s])))
                })
                .collect();
            assert_order(&a, &weights, theta, 4);
        }
    }
}
