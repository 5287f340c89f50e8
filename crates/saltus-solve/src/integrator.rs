//! One face for all integrators: accepted steps with an interpolant, restarts, statistics.
//!
//! Comes in: a [`Problem`], a start point, limits for each step. Goes out: after [`Integrator::step`] the interval
//! `[time_old, time]`, the state at its end and an interpolant over it. `auto` begins with DOPRI5 and changes to Radau IIA when
//! Hairer's estimate of h·λ says that stability, not accuracy, limits the step (Solving ODEs II, IV.2); it does not change back.

use crate::bdf::Bdf;
use crate::dopri5::Dopri5;
use crate::error::SolveError;
use crate::radau::Radau;
use crate::scale::{STEP_ULPS, Tolerances, rms, time_resolution};

/// A step is lengthened by at most this factor to land on its limit.
pub(crate) const STRETCH: f64 = 1.1;
/// Step size factor after the model could not be evaluated at a trial point.
pub(crate) const SHRINK_ON_FAULT: f64 = 0.25;
/// Attempts at one step; every one is smaller, so the smallest step size is reached long before.
pub(crate) const ATTEMPTS_MAX: u32 = 400;
/// On restart the second derivative is estimated over this part of the last step size.
const RESTART_PROBE: f64 = 0.01;

/// An initial value problem. The explicit form is what the contract provides; implicit methods work on the form
/// F(t, x, x') = 0, whose default is x' - f(t, x).
pub trait Problem {
    fn n_states(&self) -> usize;

    /// dx = f(t, x)
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError>;

    /// The same with inner blocks solved to round-off, for difference quotients.
    fn derivatives_precise(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.derivatives(t, x, dx)
    }

    /// out = F(t, x, dx)
    fn residual(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &[f64],
        out: &mut [f64],
    ) -> Result<(), SolveError> {
        self.derivatives(t, x, out)?;
        for (out, dx) in out.iter_mut().zip(dx) {
            *out = dx - *out;
        }
        Ok(())
    }

    /// For each state column the rows of F it may influence, through x or x'; `None`: all.
    fn pattern(&self) -> Option<&[Vec<u32>]> {
        None
    }

    /// Which of the two forms the problem is given in.
    fn form(&self) -> Form {
        Form::Explicit
    }

    /// dF/dx (for the explicit form -df/dx) in the order of [`Problem::pattern`], column by column; dense column-major without a
    /// pattern. `Ok(false)`: the problem has none, differences are used.
    fn jacobian(
        &mut self,
        _t: f64,
        _x: &[f64],
        _dx: &[f64],
        _out: &mut [f64],
    ) -> Result<bool, SolveError> {
        Ok(false)
    }

    /// dF/dx' likewise; asked for only in the implicit form, where dF/dx is given.
    fn jacobian_rate(
        &mut self,
        _t: f64,
        _x: &[f64],
        _dx: &[f64],
        _out: &mut [f64],
    ) -> Result<bool, SolveError> {
        Ok(false)
    }
}

/// The form of a [`Problem`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// x' = f(t, x): `residual` is x' - f and dF/dx' the identity.
    Explicit,
    /// F(t, x, x') = 0 by `residual`; `derivatives` gives an x' that fulfils it at a consistent point, from which a method starts.
    Implicit,
}

/// What a step has to respect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLimits {
    /// The step may end here but not beyond; it lands exactly.
    pub time_end: f64,
    /// Largest step size.
    pub step_size_max: f64,
}

/// No step could be taken.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError {
    /// The step size fell below the resolution of time. `state` is the index of the largest error, `cause` why the model could
    /// not be evaluated, if that was the reason.
    TooSmall {
        time: f64,
        step_size: f64,
        state: Option<usize>,
        cause: Option<Box<SolveError>>,
    },
    /// The model failed in a way that a smaller step cannot cure.
    Fatal { time: f64, error: Box<SolveError> },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SolverName {
    Auto,
    Dopri5,
    Radau,
    Bdf,
}

impl SolverName {
    pub const ALL: [SolverName; 4] = [
        SolverName::Auto,
        SolverName::Dopri5,
        SolverName::Radau,
        SolverName::Bdf,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            SolverName::Auto => "auto",
            SolverName::Dopri5 => "dopri5",
            SolverName::Radau => "radau",
            SolverName::Bdf => "bdf",
        }
    }

    pub fn from_name(name: &str) -> Option<SolverName> {
        SolverName::ALL
            .into_iter()
            .find(|solver| solver.as_str() == name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IntegratorStatistics {
    pub steps: u64,
    pub steps_rejected: u64,
    pub rhs_evaluations: u64,
    pub jacobians: u64,
    pub factorizations: u64,
    /// Changes from the explicit to the implicit method.
    pub stiff_switches: u64,
}

impl IntegratorStatistics {
    fn add(&mut self, other: &IntegratorStatistics) {
        self.steps += other.steps;
        self.steps_rejected += other.steps_rejected;
        self.rhs_evaluations += other.rhs_evaluations;
        self.jacobians += other.jacobians;
        self.factorizations += other.factorizations;
        self.stiff_switches += other.stiff_switches;
    }
}

#[derive(Debug)]
enum Method {
    Dopri5(Box<Dopri5>),
    Radau(Box<Radau>),
    Bdf(Box<Bdf>),
}

/// An integrator for one set of states.
#[derive(Debug)]
pub struct Integrator {
    method: Method,
    name: SolverName,
    tolerances: Tolerances,
    nominal: Vec<f64>,
    /// Work of methods that were left.
    past: IntegratorStatistics,
}

macro_rules! on_method {
    ($self:expr, $m:ident => $body:expr) => {
        match $self {
            Method::Dopri5($m) => $body,
            Method::Radau($m) => $body,
            Method::Bdf($m) => $body,
        }
    };
}

impl Integrator {
    pub fn new(name: SolverName, tolerances: Tolerances, nominal: &[f64]) -> Integrator {
        let method = match name {
            SolverName::Radau => Method::Radau(Box::new(Radau::new(tolerances, nominal))),
            SolverName::Bdf => Method::Bdf(Box::new(Bdf::new(tolerances, nominal))),
            SolverName::Auto | SolverName::Dopri5 => {
                Method::Dopri5(Box::new(Dopri5::new(tolerances, nominal)))
            }
        };
        Integrator {
            method,
            name,
            tolerances,
            nominal: nominal.to_vec(),
            past: IntegratorStatistics::default(),
        }
    }

    /// Begins (or begins again after a discontinuity) at a point. The first step size comes from Hairer's estimate, and after a
    /// discontinuity from the last step size where the derivatives allow it.
    pub fn begin<P: Problem>(
        &mut self,
        problem: &mut P,
        t: f64,
        x: &[f64],
        limits: StepLimits,
    ) -> Result<(), StepError> {
        on_method!(&mut self.method, m => m.begin(problem, t, x, limits))
    }

    /// Takes one accepted step.
    pub fn step<P: Problem>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        if self.name == SolverName::Auto
            && let Method::Dopri5(explicit) = &self.method
            && explicit.is_stiff()
        {
            let mut implicit = Box::new(Radau::new(self.tolerances, &self.nominal));
            implicit.continue_from(
                explicit.time(),
                explicit.state(),
                explicit.derivative(),
                explicit.step_size_next(),
            );
            self.past.add(explicit.statistics());
            self.past.stiff_switches += 1;
            self.method = Method::Radau(implicit);
        }
        on_method!(&mut self.method, m => m.step(problem, limits))
    }

    /// Takes one step to `time_end`, whatever size was planned; the usual error control applies.
    pub fn step_whole<P: Problem>(
        &mut self,
        problem: &mut P,
        time_end: f64,
    ) -> Result<(), StepError> {
        let size = time_end - self.time();
        on_method!(&mut self.method, m => m.set_step_size(size));
        self.step(
            problem,
            StepLimits {
                time_end,
                step_size_max: size,
            },
        )
    }

    pub fn time(&self) -> f64 {
        on_method!(&self.method, m => m.time())
    }

    /// Start of the last step.
    pub fn time_old(&self) -> f64 {
        on_method!(&self.method, m => m.time_old())
    }

    pub fn state(&self) -> &[f64] {
        on_method!(&self.method, m => m.state())
    }

    /// The state at a time of the last step, by the method's interpolant; the ends are exact.
    pub fn interpolate(&self, t: f64, out: &mut [f64]) {
        on_method!(&self.method, m => m.interpolate(t, out));
    }

    /// Degree of the interpolant of the last step as a polynomial in time: that many values beyond the first determine every
    /// function that is affine in states and time.
    pub fn dense_degree(&self) -> usize {
        on_method!(&self.method, m => m.dense_degree())
    }

    /// Size of the last step.
    pub fn step_size(&self) -> f64 {
        self.time() - self.time_old()
    }

    pub fn statistics(&self) -> IntegratorStatistics {
        let mut sum = self.past;
        sum.add(on_method!(&self.method, m => m.statistics()));
        sum
    }

    /// The method in use now.
    pub fn method_name(&self) -> &'static str {
        match self.method {
            Method::Dopri5(_) => SolverName::Dopri5.as_str(),
            Method::Radau(_) => SolverName::Radau.as_str(),
            Method::Bdf(_) => SolverName::Bdf.as_str(),
        }
    }

    /// The method in use has an explicit derivative at the current point (for auto's statistics and restarts).
    pub fn n_states(&self) -> usize {
        self.nominal.len()
    }
}

/// The size and the end of the next trial step: lands on `time_end` exactly, stretches by at most 10 % to do so, and halves
/// the way rather than leave a sliver.
pub(crate) fn trial_step(t: f64, wanted: f64, limits: StepLimits) -> (f64, bool) {
    let wanted = wanted.min(limits.step_size_max);
    let remaining = limits.time_end - t;
    if wanted * STRETCH >= remaining {
        (limits.time_end, true)
    } else if wanted * 2.0 > remaining {
        (t + 0.5 * remaining, false)
    } else {
        (t + wanted, false)
    }
}

/// Smallest step size at `t`.
pub(crate) fn step_size_min(t: f64) -> f64 {
    STEP_ULPS * time_resolution(t, 0.0)
}

/// Initial step size, at most the last one after a discontinuity (Hairer, Nørsett, Wanner, Solving ODEs I, II.4): from the sizes of the state, its derivative and the second
/// derivative of an Euler step, for a method of order `order`. Fixed numbers of the source are taken relative to the span.
/// `euler` and `dx1` are work space.
#[expect(
    clippy::too_many_arguments,
    reason = "one formula, called from two places with their work space"
)]
pub(crate) fn initial_step_size<P: Problem>(
    problem: &mut P,
    t: f64,
    x: &[f64],
    dx: &[f64],
    weights: &[f64],
    order: f64,
    limits: StepLimits,
    step_size_last: Option<f64>,
    euler: &mut [f64],
    dx1: &mut [f64],
) -> Result<f64, SolveError> {
    let span = (limits.time_end - t).min(limits.step_size_max);
    let d0 = rms(x, weights);
    let d1 = rms(dx, weights);
    if x.is_empty() {
        return Ok(span);
    }
    // A state below its weight says nothing about the time scale.
    let mut h0 = match step_size_last {
        Some(last) => RESTART_PROBE * last,
        None if d0 < 1.0 || d1 < 1e-10 => 1e-6 * span,
        None => 0.01 * d0 / d1,
    };
    h0 = h0.min(span);
    for _ in 0..20 {
        for i in 0..x.len() {
            euler[i] = x[i] + h0 * dx[i];
        }
        match problem.derivatives(t + h0, euler, dx1) {
            Ok(()) => break,
            Err(error) if error.recoverable() => h0 *= 0.1,
            Err(error) => return Err(error),
        }
    }
    for (d, dx) in dx1.iter_mut().zip(dx) {
        *d -= dx;
    }
    let d2 = rms(dx1, weights) / h0;
    let largest = d1.max(d2);
    let h1 = if largest * span <= 1e-15 {
        (1e-6 * span).max(h0 * 1e-3)
    } else {
        (0.01 / largest).powf(1.0 / order)
    };
    let h = match step_size_last {
        Some(last) => last.min(h1),
        None => (100.0 * h0).min(h1),
    };
    Ok(h.min(span).max(2.0 * step_size_min(t)))
}
