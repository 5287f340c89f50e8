//! What implicit one-step methods share: the Jacobian and how long it serves, and the convergence of their simplified Newton
//! iteration (Hairer and Wanner, Solving ODEs II, IV.8).
//!
//! A Jacobian serves as long as the iteration converges fast enough with it, over steps and over jumps of the states. An iteration
//! that fails with an old one is repeated with a new one before the step is made smaller. When the function f itself may have changed it is
//! thrown away even though the iteration might converge: the error estimates are filtered with it, and a matrix that is much stiffer than f
//! hides the error.

use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem};
use crate::jacobian::{IterationMatrix, Jacobian};
use crate::one_step::{Discontinuity, Point};
use crate::scale::{EPS, rms};

/// The step size (and with it the factorisation) is kept when the new one is within these bounds.
const KEEP_RATIO: std::ops::RangeInclusive<f64> = 1.0..=1.2;
/// Factors serve a step size that differs by no more than this.
const SAME_SIZE_REL: f64 = 1e-12;
/// An iteration that contracts less diverges.
const CONTRACTION_MAX: f64 = 0.99;

/// ‖M⁻¹ F(t, u, u')‖ for the factors M of a step's iteration matrix: the defect of an interpolant (t, u, u'), of which the part that a
/// stiff problem damps at once is taken out. `residual` is work space.
pub(crate) fn filtered_defect<P: Problem + ?Sized>(
    problem: &mut P,
    (t, u, rate): (f64, &[f64], &[f64]),
    matrix: &mut IterationMatrix<f64>,
    weights: &[f64],
    residual: &mut [f64],
    statistics: &mut IntegratorStatistics,
) -> Result<f64, SolveError> {
    statistics.rhs_evaluations += 1;
    problem.residual(t, u, rate, residual)?;
    matrix.solve(residual);
    Ok(rms(residual, weights))
}

/// Norm of the error that an iteration may leave, in units of the tolerance of the error test with this relative part.
pub(crate) fn newton_tolerance(rel: f64) -> f64 {
    (10.0 * EPS / rel).max(0.03f64.min(rel.sqrt()))
}

/// Where the Jacobian was evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
enum Age {
    Missing,
    /// At an earlier step.
    Old,
    /// In an earlier segment: the states have jumped since.
    BeforeRestart,
    /// At the point from which the present step starts.
    Current,
}

/// The Jacobian of a method and the factors made from it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Matrices {
    jacobian: Jacobian,
    age: Age,
    /// Step size of the factors.
    factored: Option<f64>,
    /// Contraction up to which the Jacobian is kept.
    contraction_keep: f64,
    /// Bound of the Jacobian's eigenvalues.
    lipschitz: f64,
    sums: Vec<f64>,
}

impl Matrices {
    pub(crate) fn new(n: usize, contraction_keep: f64) -> Matrices {
        Matrices {
            jacobian: Jacobian::default(),
            age: Age::Missing,
            factored: None,
            contraction_keep,
            lipschitz: f64::INFINITY,
            sums: vec![0.0; n],
        }
    }

    pub(crate) fn jacobian(&self) -> &Jacobian {
        &self.jacobian
    }

    /// v := F_x' v, with the Jacobian in use.
    pub(crate) fn times_rate(&mut self, v: &mut [f64]) {
        self.jacobian.times_rate(v);
    }

    /// Makes a Jacobian if there is none. True if new factors are needed for steps of size `h`.
    pub(crate) fn prepare<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        h: f64,
        statistics: &mut IntegratorStatistics,
    ) -> Result<bool, SolveError> {
        if self.age == Age::Missing {
            self.jacobian.update(
                problem,
                point.t,
                &point.x,
                &point.dx,
                &point.nominal,
                statistics,
            )?;
            self.lipschitz = self.jacobian.norm(&point.weights, &mut self.sums);
            self.age = Age::Current;
            self.factored = None;
        }
        Ok(!self
            .factored
            .is_some_and(|size| (size - h).abs() <= SAME_SIZE_REL * h))
    }

    /// Bound of the eigenvalues of the Jacobian in use.
    pub(crate) fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    /// Factors for this step size exist.
    pub(crate) fn factored(&mut self, h: f64) {
        self.factored = Some(h);
    }

    /// True if the iteration failed with a Jacobian that is not of this point; it has been thrown away.
    pub(crate) fn renew(&mut self) -> bool {
        let renewable = self.age != Age::Current;
        if renewable {
            self.age = Age::Missing;
        }
        renewable
    }

    /// The Jacobian is of the present segment.
    pub(crate) fn trusted(&self) -> bool {
        self.age != Age::BeforeRestart
    }

    /// A new segment begins.
    pub(crate) fn restart(&mut self, change: Discontinuity) {
        self.age = match change {
            Discontinuity::States if self.age != Age::Missing => Age::BeforeRestart,
            Discontinuity::States | Discontinuity::Dynamics => Age::Missing,
        };
    }

    /// A step of size `h` was accepted and its iteration contracted like this. Returns the size to plan: `h` itself if that is
    /// not much less than `next`, to keep the factors.
    pub(crate) fn plan(&mut self, h: f64, next: f64, contraction: f64) -> f64 {
        if contraction > self.contraction_keep {
            self.age = Age::Missing;
            return next;
        }
        self.age = Age::Old;
        if KEEP_RATIO.contains(&(next / h)) {
            h
        } else {
            next
        }
    }
}

/// What the size of a correction says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// Apply the correction and go on.
    Continue,
    /// Apply the correction and stop.
    Converged,
    /// Does not converge within the bound; try this multiple of the step size.
    Slow(f64),
    Diverged,
}

impl Verdict {
    /// Step size factor after a failed iteration.
    pub(crate) fn shrink(self) -> f64 {
        match self {
            Verdict::Slow(factor) => factor,
            Verdict::Diverged | Verdict::Continue | Verdict::Converged => 0.5,
        }
    }
}

/// Convergence of a simplified Newton iteration, from the norms of its corrections in units of the error weights.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Monitor {
    /// Norm of the error of an iterate that is good enough.
    tolerance: f64,
    iterations_max: u32,
    iterations: u32,
    size_last: f64,
    rate_last: f64,
    contraction: f64,
    /// θ/(1 - θ): error of an iterate over its last correction.
    eta: f64,
}

impl Monitor {
    pub(crate) fn new(tolerance: f64, iterations_max: u32) -> Monitor {
        Monitor {
            tolerance,
            iterations_max,
            iterations: 0,
            size_last: 0.0,
            rate_last: 0.0,
            contraction: 0.0,
            eta: 1.0,
        }
    }

    pub(crate) fn restart(&mut self) {
        self.eta = 1.0;
    }

    /// A new iteration. Its contraction is expected to be that of the last one, unless the matrix is not to be trusted.
    pub(crate) fn start(&mut self, trusted: bool) {
        self.iterations = 0;
        self.contraction = 0.0;
        self.eta = if trusted {
            self.eta.max(EPS).powf(0.8)
        } else {
            f64::INFINITY
        };
    }

    pub(crate) fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Contraction seen; 0 if one correction was enough.
    pub(crate) fn contraction(&self) -> f64 {
        self.contraction
    }

    /// Judges the correction of norm `size`.
    pub(crate) fn observe(&mut self, size: f64) -> Verdict {
        self.iterations += 1;
        if !size.is_finite() {
            return Verdict::Diverged;
        }
        if self.iterations > 1 {
            let rate = size / self.size_last;
            self.contraction = if self.iterations == 2 {
                rate
            } else {
                (rate * self.rate_last).sqrt()
            };
            self.rate_last = rate;
            if self.contraction >= CONTRACTION_MAX {
                return Verdict::Diverged;
            }
            self.eta = self.contraction / (1.0 - self.contraction);
        }
        let converged = self.eta * size <= self.tolerance || size == 0.0;
        if converged {
            return Verdict::Converged;
        }
        if self.iterations >= self.iterations_max {
            return Verdict::Diverged;
        }
        if self.iterations > 1 {
            let left = (self.iterations_max - self.iterations) as i32;
            let predicted = self.eta * size * self.contraction.powi(left - 1) / self.tolerance;
            if predicted >= 1.0 {
                let bounded = predicted.clamp(1e-4, 20.0);
                return Verdict::Slow(0.8 * bounded.powf(-1.0 / f64::from(3 + left)));
            }
        }
        self.size_last = size.max(EPS);
        Verdict::Continue
    }
}
