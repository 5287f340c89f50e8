//! Explicit methods: Euler, the classical Runge–Kutta method, the same judged by Simpson's rule, Runge–Kutta–Fehlberg 4(5).

use crate::control::{Control, Law};
use crate::error::SolveError;
use crate::explicit::{StageRows, stage_rows};
use crate::integrator::{IntegratorStatistics, Problem, SolverName};
use crate::one_step::{Attempt, LastInterval, OneStepMethod, Point, Trial};
use crate::scale::Tolerances;

/// h_new = 0.9 h err^(-1/q), without memory: the elementary control of textbooks, for an error estimate O(h^q).
pub(super) const fn elementary(exponent: f64) -> Control {
    Control {
        exponent,
        law: Law::ProportionalIntegral { beta: 0.0 },
        safety: 0.9,
        quotient_min: 0.2,
        quotient_max: 5.0,
        error_floor: 1e-4,
    }
}

/// Norm of `trial.error` in units of the tolerance over the step.
pub(super) fn error_norm(point: &Point, trial: &Trial) -> f64 {
    let n = trial.error.len();
    let sum: f64 = (0..n)
        .map(|i| (trial.error[i] / point.weight_over(i, trial.x[i])).powi(2))
        .sum();
    (sum / n.max(1) as f64).sqrt()
}

/// x + h f. The error is half of h (f_new - f), the difference to Heun's method; the interpolant is the straight line.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct EulerMethod {
    difference: Vec<f64>,
}

impl OneStepMethod for EulerMethod {
    const NAME: SolverName = SolverName::Euler;
    const CONTROL: Control = elementary(0.5);
    const ERROR_ORDER: i32 = 2;
    const DEGREE: usize = 1;
    const KEEPS_STEP_SIZE: bool = true;

    fn new(n: usize, _: Tolerances) -> EulerMethod {
        EulerMethod {
            difference: vec![0.0; n],
        }
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        for i in 0..point.x.len() {
            trial.x[i] = point.x[i] + trial.h * point.dx[i];
            self.difference[i] = trial.x[i] - point.x[i];
        }
        statistics.rhs_evaluations += 1;
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        for i in 0..point.x.len() {
            trial.error[i] = 0.5 * trial.h * (trial.dx[i] - point.dx[i]);
        }
        let error = error_norm(point, trial);
        Ok(Attempt::Computed { error, effort: 1.0 })
    }

    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        for ((out, x), d) in out.iter_mut().zip(&step.x_old).zip(&self.difference) {
            *out = x + theta * d;
        }
    }
}

/// A polynomial of degree 4 over a step: θ(d0 + θ₁(d1 + θ(d2 + θ₁ d3))) with θ₁ = 1 - θ, without the state at the start. The first three
/// belong to the cubic through the values and derivatives at both ends.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Quartic {
    dense: Vec<[f64; 4]>,
}

impl Quartic {
    fn new(n: usize) -> Quartic {
        Quartic {
            dense: vec![[0.0; 4]; n],
        }
    }

    /// The cubic of Hermite.
    fn set_cubic(&mut self, point: &Point, trial: &Trial) {
        for (i, d) in self.dense.iter_mut().enumerate() {
            let difference = trial.x[i] - point.x[i];
            let spline = trial.h * point.dx[i] - difference;
            *d = [
                difference,
                spline,
                difference - trial.h * trial.dx[i] - spline,
                0.0,
            ];
        }
    }

    /// Bends the cubic so that it goes through these states in the middle; θ²θ₁² is 1/16 there.
    fn set_middle(&mut self, x_old: &[f64], middle: &[f64]) {
        for ((d, x), middle) in self.dense.iter_mut().zip(x_old).zip(middle) {
            d[3] = 16.0 * (middle - quartic_at(*x, d, 0.5));
        }
    }

    fn interpolate(&self, x_old: &[f64], theta: f64, out: &mut [f64]) {
        for ((out, x), d) in out.iter_mut().zip(x_old).zip(&self.dense) {
            *out = quartic_at(*x, d, theta);
        }
    }
}

fn quartic_at(x: f64, d: &[f64; 4], theta: f64) -> f64 {
    let theta1 = 1.0 - theta;
    x + theta * (d[0] + theta1 * (d[1] + theta * (d[2] + theta1 * d[3])))
}

const RK4_A2: [f64; 1] = [0.5];
const RK4_A3: [f64; 2] = [0.0, 0.5];
const RK4_A4: [f64; 3] = [0.0, 0.0, 1.0];
const RK4_B: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

/// Steps of the classical method.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Classical {
    k: [Vec<f64>; 4],
    argument: Vec<f64>,
}

impl Classical {
    fn new(n: usize) -> Classical {
        Classical {
            k: stage_rows(n),
            argument: vec![0.0; n],
        }
    }

    /// `out` = one step from (t, x), whose derivative is `dx`, to `t_new`. Three evaluations.
    fn step<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        (t, x, dx): (f64, &[f64], &[f64]),
        t_new: f64,
        out: &mut [f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        let (k, argument) = (&mut self.k, &mut self.argument[..]);
        let h = t_new - t;
        let middle = t + 0.5 * h;
        k[0].copy_from_slice(dx);
        k.evaluate(problem, (middle, x, h), &RK4_A2, argument, statistics)?;
        k.evaluate(problem, (middle, x, h), &RK4_A3, argument, statistics)?;
        k.evaluate(problem, (t_new, x, h), &RK4_A4, argument, statistics)?;
        k.combine(&RK4_B, |i, slope| out[i] = x[i] + h * slope);
        Ok(())
    }
}

/// Two classical steps of half the size, with the state and the derivative between them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct HalfSteps {
    steps: Classical,
    middle: Vec<f64>,
    middle_dx: Vec<f64>,
    interpolant: Quartic,
}

impl HalfSteps {
    fn new(n: usize) -> HalfSteps {
        HalfSteps {
            steps: Classical::new(n),
            middle: vec![0.0; n],
            middle_dx: vec![0.0; n],
            interpolant: Quartic::new(n),
        }
    }

    /// The state and the derivative at the end. Eight evaluations.
    fn take<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        let t = point.t + 0.5 * trial.h;
        let from = (point.t, &point.x[..], &point.dx[..]);
        (self.steps).step(problem, from, t, &mut self.middle, statistics)?;
        statistics.rhs_evaluations += 2;
        problem.derivatives(t, &self.middle, &mut self.middle_dx)?;
        let from = (t, &self.middle[..], &self.middle_dx[..]);
        (self.steps).step(problem, from, trial.t_new, &mut trial.x, statistics)?;
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        self.interpolant.set_cubic(point, trial);
        self.interpolant.set_middle(&point.x, &self.middle);
        Ok(())
    }
}

/// The classical method of order 4. With error control a step is two steps of half its size, and the difference to one of the whole
/// size over 15 is the error (Hairer, Nørsett, Wanner, Solving ODEs I, II.4); without, it is one step. The interpolant goes through values and
/// derivatives at both ends, and through the state in the middle where there is one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Rk4Method {
    halves: HalfSteps,
    whole: Vec<f64>,
}

impl OneStepMethod for Rk4Method {
    const NAME: SolverName = SolverName::Rk4;
    const CONTROL: Control = elementary(0.2);
    const ERROR_ORDER: i32 = 5;
    const DEGREE: usize = 4;
    const KEEPS_STEP_SIZE: bool = true;

    fn new(n: usize, _: Tolerances) -> Rk4Method {
        Rk4Method {
            halves: HalfSteps::new(n),
            whole: vec![0.0; n],
        }
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        let from = (point.t, &point.x[..], &point.dx[..]);
        let steps = &mut self.halves.steps;
        if !trial.controlled {
            steps.step(problem, from, trial.t_new, &mut trial.x, statistics)?;
            statistics.rhs_evaluations += 1;
            problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
            self.halves.interpolant.set_cubic(point, trial);
            trial.error.fill(0.0);
            return Ok(Attempt::Computed {
                error: 0.0,
                effort: 1.0,
            });
        }
        steps.step(problem, from, trial.t_new, &mut self.whole, statistics)?;
        self.halves.take(problem, point, trial, statistics)?;
        for i in 0..point.x.len() {
            trial.error[i] = (trial.x[i] - self.whole[i]) / 15.0;
        }
        let error = error_norm(point, trial);
        Ok(Attempt::Computed { error, effort: 1.0 })
    }

    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        (self.halves.interpolant).interpolate(&step.x_old, theta, out);
    }
}

/// Two classical steps of half the size, judged by Simpson's rule over both, x + h/6 (f + 4 f_middle + f_new): the method with which the
/// textbook's train engine creeps across its switchings (section 9.2). Both formulas see f at the same few points of time: what
/// switches there and back between two of them is seen by neither, and the step is accepted.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct RungeKuttaSimpsonMethod {
    halves: HalfSteps,
}

impl OneStepMethod for RungeKuttaSimpsonMethod {
    const NAME: SolverName = SolverName::RungeKuttaSimpson;
    const CONTROL: Control = elementary(0.2);
    const ERROR_ORDER: i32 = 5;
    const DEGREE: usize = 4;
    const KEEPS_STEP_SIZE: bool = true;

    fn new(n: usize, _: Tolerances) -> RungeKuttaSimpsonMethod {
        RungeKuttaSimpsonMethod {
            halves: HalfSteps::new(n),
        }
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        self.halves.take(problem, point, trial, statistics)?;
        for i in 0..point.x.len() {
            let sum = point.dx[i] + 4.0 * self.halves.middle_dx[i] + trial.dx[i];
            trial.error[i] = trial.x[i] - (point.x[i] + trial.h / 6.0 * sum);
        }
        let error = error_norm(point, trial);
        Ok(Attempt::Computed { error, effort: 1.0 })
    }

    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        (self.halves.interpolant).interpolate(&step.x_old, theta, out);
    }
}

const C: [f64; 5] = [1.0 / 4.0, 3.0 / 8.0, 12.0 / 13.0, 1.0, 1.0 / 2.0];
const A2: [f64; 1] = [1.0 / 4.0];
const A3: [f64; 2] = [3.0 / 32.0, 9.0 / 32.0];
const A4: [f64; 3] = [1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0];
const A5: [f64; 4] = [439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0];
const A6: [f64; 5] = [
    -8.0 / 27.0,
    2.0,
    -3544.0 / 2565.0,
    1859.0 / 4104.0,
    -11.0 / 40.0,
];
/// Weights of order 4.
const B: [f64; 5] = [
    25.0 / 216.0,
    0.0,
    1408.0 / 2565.0,
    2197.0 / 4104.0,
    -1.0 / 5.0,
];
/// Weights of order 5 less those of order 4.
const E: [f64; 6] = [
    1.0 / 360.0,
    0.0,
    -128.0 / 4275.0,
    -2197.0 / 75240.0,
    1.0 / 50.0,
    2.0 / 55.0,
];
/// Where the interpolant gets the model's derivative: θ²θ₁² has the slope 3/16 there.
const BEND: f64 = 0.25;
const BEND_SLOPE: f64 = 3.0 / 16.0;

/// The pair of Fehlberg, NASA TR R-315 (1969); the solution of order 4 is taken, that of order 5 gives the error. The interpolant of order 4
/// takes one further evaluation, at a quarter of the cubic through values and derivatives at both ends.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Rkf45Method {
    k: [Vec<f64>; 6],
    argument: Vec<f64>,
    interpolant: Quartic,
    /// Times of the last trial, for the bend of the interpolant.
    t: f64,
    h: f64,
}

impl OneStepMethod for Rkf45Method {
    const NAME: SolverName = SolverName::Rkf45;
    const CONTROL: Control = elementary(0.2);
    const ERROR_ORDER: i32 = 5;
    const DEGREE: usize = 4;
    const KEEPS_STEP_SIZE: bool = true;

    fn new(n: usize, _: Tolerances) -> Rkf45Method {
        Rkf45Method {
            k: stage_rows(n),
            argument: vec![0.0; n],
            interpolant: Quartic::new(n),
            t: 0.0,
            h: 0.0,
        }
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        let (t, x, h) = (point.t, &point.x[..], trial.h);
        let (k, argument) = (&mut self.k, &mut self.argument[..]);
        k[0].copy_from_slice(&point.dx);
        k.evaluate(problem, (t + C[0] * h, x, h), &A2, argument, statistics)?;
        k.evaluate(problem, (t + C[1] * h, x, h), &A3, argument, statistics)?;
        k.evaluate(problem, (t + C[2] * h, x, h), &A4, argument, statistics)?;
        k.evaluate(problem, (trial.t_new, x, h), &A5, argument, statistics)?;
        k.evaluate(problem, (t + C[4] * h, x, h), &A6, argument, statistics)?;
        k.combine(&B, |i, slope| trial.x[i] = x[i] + h * slope);
        k.combine(&E, |i, slope| trial.error[i] = h * slope);
        let error = error_norm(point, trial);
        Ok(Attempt::Computed { error, effort: 1.0 })
    }

    fn complete<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        statistics.rhs_evaluations += 1;
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        self.interpolant.set_cubic(point, trial);
        (self.t, self.h) = (point.t, trial.h);
        Ok(())
    }

    fn complete_interpolant<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        x_old: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        let (quarter, slope) = (&mut self.argument, &mut self.k[1]);
        self.interpolant.interpolate(x_old, BEND, quarter);
        statistics.rhs_evaluations += 1;
        problem.derivatives(self.t + BEND * self.h, quarter, slope)?;
        for (d, slope) in self.interpolant.dense.iter_mut().zip(slope) {
            // d/dθ of the cubic: d0 + (1 - 2θ) d1 + θ(2 - 3θ) d2
            let cubic = d[0] + (1.0 - 2.0 * BEND) * d[1] + BEND * (2.0 - 3.0 * BEND) * d[2];
            d[3] = (self.h * *slope - cubic) / BEND_SLOPE;
        }
        Ok(())
    }

    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        self.interpolant.interpolate(&step.x_old, theta, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_conditions::{assert_order, square};

    #[test]
    fn order_conditions_of_the_classical_method_and_of_fehlbergs_pair() {
        let a = square(&[&[], &RK4_A2, &RK4_A3, &RK4_A4]);
        assert_order(&a, &RK4_B, 1.0, 4);
        let a = square(&[&[], &A2, &A3, &A4, &A5, &A6]);
        let mut b = B.to_vec();
        b.push(0.0);
        assert_order(&a, &b, 1.0, 4);
        let higher: Vec<f64> = b.iter().zip(E).map(|(b, e)| b + e).collect();
        assert_order(&a, &higher, 1.0, 5);
    }
}
