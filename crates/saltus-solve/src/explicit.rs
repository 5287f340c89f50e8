//! Stages of explicit Runge–Kutta methods, and the detection of stiffness that they share.

use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem};
use crate::one_step::{OneStep, OneStepMethod, Point, Trial};

/// The derivatives k_j of the stages, one row each: vectors, or arrays where the number of components is known when the code is compiled.
pub(crate) trait StageRows {
    fn row(&self, j: usize) -> &[f64];
    fn row_mut(&mut self, j: usize) -> &mut [f64];

    /// `each(i, Σ c_j k_j[i])` for all components i. Inlined, so that the sum over a constant `c` is unrolled.
    #[inline(always)]
    fn combine<const M: usize>(&self, c: &[f64; M], mut each: impl FnMut(usize, f64)) {
        let n = self.row(0).len();
        for i in 0..n {
            let mut sum = c[0] * self.row(0)[i];
            for (j, c) in c.iter().enumerate().skip(1) {
                if *c != 0.0 {
                    sum += c * self.row(j)[i];
                }
            }
            each(i, sum);
        }
    }

    /// k_M = f(t, x + h Σ a_j k_j)
    #[inline(always)]
    fn evaluate<P: Problem + ?Sized, const M: usize>(
        &mut self,
        problem: &mut P,
        (t, x, h): (f64, &[f64], f64),
        a: &[f64; M],
        argument: &mut [f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        self.combine(a, |i, slope| argument[i] = x[i] + h * slope);
        statistics.rhs_evaluations += 1;
        problem.derivatives(t, argument, self.row_mut(M))
    }
}

impl<const S: usize> StageRows for [Vec<f64>; S] {
    #[inline(always)]
    fn row(&self, j: usize) -> &[f64] {
        &self[j]
    }

    #[inline(always)]
    fn row_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self[j]
    }
}

impl<const S: usize, const N: usize> StageRows for [[f64; N]; S] {
    #[inline(always)]
    fn row(&self, j: usize) -> &[f64] {
        &self[j]
    }

    #[inline(always)]
    fn row_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self[j]
    }
}

/// Rows for `S` stages of `n` components.
pub(crate) fn stage_rows<const S: usize>(n: usize) -> [Vec<f64>; S] {
    std::array::from_fn(|_| vec![0.0; n])
}

/// A method with the dense output of Hairer's explicit methods: u = x + θ(d₀ + θ₁(d₁ + θ(d₂ + …))) with θ₁ = 1 - θ.
pub(crate) trait AlternatingOutput {
    /// The d of state `i`.
    fn coefficients(&self, i: usize) -> &[f64];

    /// du/dθ of state `i`.
    fn rate(&self, i: usize, theta: f64) -> f64 {
        let (mut sum, mut rate) = (0.0, 0.0);
        for (j, d) in self.coefficients(i).iter().enumerate().rev() {
            let (factor, sign) = if j % 2 == 0 {
                (theta, 1.0)
            } else {
                (1.0 - theta, -1.0)
            };
            let inner = d + sum;
            (sum, rate) = (factor * inner, sign * inner + factor * rate);
        }
        rate
    }
}

/// h·‖f(t, u) - u'‖ in tolerances, for the derivative `dx` that the model has on the interpolant u at a time inside the last step. Where the motion
/// between the stages is what the stages say it is of the size of the error estimate; where they have missed something it is what was missed, as an
/// error over the whole step. An explicit step is not much longer than 1/|λ|, so there is no stiff part to filter out.
pub(crate) fn defect<M: OneStepMethod + AlternatingOutput>(
    integrator: &OneStep<M>,
    t: f64,
    dx: &[f64],
) -> f64 {
    let start = integrator.time_old();
    let h = integrator.time() - start;
    let theta = (t - start) / h;
    let mut sum = 0.0;
    for (i, (dx, weight)) in dx.iter().zip(integrator.weights()).enumerate() {
        let defect = (h * dx - integrator.method.rate(i, theta)) / weight;
        sum += defect * defect;
    }
    (sum / dx.len().max(1) as f64).sqrt()
}

/// Steps at the stability boundary that make a problem stiff, and steps inside it that reset the count.
const STIFF_STEPS: u32 = 15;
const NONSTIFF_STEPS: u32 = 6;

/// A step goes nowhere if its length is below this part of h·x'.
const CANCELLED: f64 = 0.2;

/// Hairer's detector (Solving ODEs II, IV.2): the last stage and the new point are two points at the same time near the solution,
/// so ρ = ‖f(x_new) - k‖/‖x_new - argument of k‖ estimates the dominant eigenvalue, and h·ρ at the boundary of the stability
/// region means that stability limits the step.
///
/// Where f is not smooth at an equilibrium (√|x| and its regularisations), stages on both sides of it see other eigenvalues than the
/// last two, but they cancel: the method has a fixed point at which x' is not zero, with h·x' as large as the tolerance lets it be. A step that
/// goes nowhere although x' would carry it by more than its tolerance is at the boundary too.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
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
        let (mut moved, mut carried) = (0.0, 0.0);
        let n = argument.len();
        let (x, dx, weights) = (&point.x[..n], &point.dx[..n], &point.weights[..n]);
        let (x_new, dx_new) = (&trial.x[..n], &trial.dx[..n]);
        for (i, k_last) in (0..n).zip(k_last) {
            let per_weight = 1.0 / weights[i];
            let slope = (dx_new[i] - k_last) * per_weight;
            let distance = (x_new[i] - argument[i]) * per_weight;
            numerator += slope * slope;
            denominator += distance * distance;
            let step = (x_new[i] - x[i]) * per_weight;
            let rate = dx[i] * per_weight;
            moved += step * step;
            carried += rate * rate;
        }
        let h = trial.h;
        carried *= h * h;
        let cancelled = carried > point.x.len() as f64 && moved < CANCELLED * CANCELLED * carried;
        let at_boundary =
            cancelled || denominator > 0.0 && h * h * numerator > boundary * boundary * denominator;
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
