//! Stages of explicit Runge–Kutta methods, and the detection of stiffness that they share.

use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem};
use crate::one_step::{Point, Trial};

/// Derivatives of `S` stages.
#[derive(Debug)]
pub(crate) struct Stages<const S: usize> {
    pub(crate) k: [Vec<f64>; S],
    /// Argument of the stage evaluated last.
    pub(crate) argument: Vec<f64>,
}

impl<const S: usize> Stages<S> {
    pub(crate) fn new(n: usize) -> Stages<S> {
        Stages {
            k: std::array::from_fn(|_| vec![0.0; n]),
            argument: vec![0.0; n],
        }
    }

    /// k_0 = dx, the derivative at the start of the step.
    #[inline]
    pub(crate) fn start(&mut self, dx: &[f64]) {
        self.k[0].copy_from_slice(dx);
    }

    /// k_M = f(t, x + h Σ a_j k_j). Inlined, so that the sum over a constant `a` is unrolled.
    #[inline(always)]
    pub(crate) fn evaluate<P: Problem + ?Sized, const M: usize>(
        &mut self,
        problem: &mut P,
        (t, x, h): (f64, &[f64], f64),
        a: &[f64; M],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        let mut argument = std::mem::take(&mut self.argument);
        let target = &mut argument[..x.len()];
        self.combine(a, |i, slope| target[i] = x[i] + h * slope);
        self.argument = argument;
        statistics.rhs_evaluations += 1;
        problem.derivatives(t, &self.argument, &mut self.k[M])
    }

    /// `each(i, Σ c_j k_j[i])` for all components i.
    #[inline(always)]
    pub(crate) fn combine<const M: usize>(&self, c: &[f64; M], mut each: impl FnMut(usize, f64)) {
        let n = self.n();
        let k: [&[f64]; M] = std::array::from_fn(|j| &self.k[j][..n]);
        for i in 0..n {
            let mut sum = c[0] * k[0][i];
            for j in 1..M {
                if c[j] != 0.0 {
                    sum += c[j] * k[j][i];
                }
            }
            each(i, sum);
        }
    }

    #[inline(always)]
    fn n(&self) -> usize {
        self.k[0].len()
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
        self.k[s].copy_from_slice(&trial.dx);
        Ok(())
    }
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
