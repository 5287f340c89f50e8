//! Stages of explicit Runge–Kutta methods, and the detection of stiffness that they share.

use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem};
use crate::one_step::{Point, Trial};

/// Derivatives of `S` stages.
#[derive(Debug)]
pub(crate) struct Stages<const S: usize> {
    /// k of each component: all stages of a component lie together.
    pub(crate) k: Vec<[f64; S]>,
    /// Argument of the stage evaluated last.
    pub(crate) argument: Vec<f64>,
    dx: Vec<f64>,
}

impl<const S: usize> Stages<S> {
    pub(crate) fn new(n: usize) -> Stages<S> {
        Stages {
            k: vec![[0.0; S]; n],
            argument: vec![0.0; n],
            dx: vec![0.0; n],
        }
    }

    /// k_0 = dx, the derivative at the start of the step.
    #[inline]
    pub(crate) fn start(&mut self, dx: &[f64]) {
        for (k, dx) in self.k.iter_mut().zip(dx) {
            k[0] = *dx;
        }
    }

    /// k_s = f(t, x + h Σ a_j k_j), the sum over the length of `a`. Inlined, so that the loop over a constant `a` is unrolled.
    #[inline(always)]
    pub(crate) fn evaluate<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        (t, x, h): (f64, &[f64], f64),
        s: usize,
        a: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        for ((argument, x), k) in self.argument.iter_mut().zip(x).zip(&self.k) {
            *argument = x + h * dot(a, k);
        }
        statistics.rhs_evaluations += 1;
        problem.derivatives(t, &self.argument, &mut self.dx)?;
        for (k, dx) in self.k.iter_mut().zip(&self.dx) {
            k[s] = *dx;
        }
        Ok(())
    }

    /// x_new = x + h Σ b_j k_j
    #[inline(always)]
    pub(crate) fn advance(&self, x: &[f64], h: f64, b: &[f64], x_new: &mut [f64]) {
        for ((new, x), k) in x_new.iter_mut().zip(x).zip(&self.k) {
            *new = x + h * dot(b, k);
        }
    }

    /// k_s = f(t, x_new), kept in `trial.dx` as well.
    #[inline(always)]
    pub(crate) fn evaluate_end<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        s: usize,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        statistics.rhs_evaluations += 1;
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        for (k, dx) in self.k.iter_mut().zip(&trial.dx) {
            k[s] = *dx;
        }
        Ok(())
    }
}

/// Σ c_j k_j over the length of `c`.
#[inline(always)]
pub(crate) fn dot(c: &[f64], k: &[f64]) -> f64 {
    c.iter().zip(k).map(|(c, k)| c * k).sum()
}

/// Steps at the stability boundary that make a problem stiff, and steps inside it that reset the count.
const STIFF_STEPS: u32 = 15;
const NONSTIFF_STEPS: u32 = 6;

/// Hairer's detector (Solving ODEs II, IV.2): the last stage and the new point are two points at the same time near the solution,
/// so ρ = ‖f(x_new) - k‖/‖x_new - argument of k‖ estimates the dominant eigenvalue, and h·ρ at the boundary of the stability
/// region means that stability limits the step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StiffnessDetector {
    stiff: u32,
    nonstiff: u32,
}

impl StiffnessDetector {
    /// Looks at a step about to be accepted: `k_last` and `argument` of the last stage at t_new, `trial` the new point.
    #[inline]
    pub(crate) fn observe(
        &mut self,
        point: &Point,
        trial: &Trial,
        argument: &[f64],
        k_last: impl Iterator<Item = f64>,
        boundary: f64,
    ) {
        let (mut numerator, mut denominator) = (0.0, 0.0);
        for (i, k_last) in k_last.enumerate() {
            let weight = point.weights[i];
            let slope = (trial.dx[i] - k_last) / weight;
            let distance = (trial.x[i] - argument[i]) / weight;
            numerator += slope * slope;
            denominator += distance * distance;
        }
        let h = trial.h;
        let at_boundary =
            denominator > 0.0 && h * h * numerator > boundary * boundary * denominator;
        if at_boundary {
            self.nonstiff = 0;
            self.stiff += 1;
        } else {
            self.nonstiff += 1;
            if self.nonstiff == NONSTIFF_STEPS {
                self.stiff = 0;
            }
        }
    }

    #[inline]
    pub(crate) fn is_stiff(&self) -> bool {
        self.stiff >= STIFF_STEPS
    }
}
