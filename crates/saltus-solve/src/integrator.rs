//! One face for all integrators: accepted steps with an interpolant, restarts, statistics.
//!
//! Comes in: a [`Problem`], a start point, limits for each step. Goes out: after [`Integrator::step`] the interval
//! `[time_old, time]`, the state at its end and an interpolant over it. `auto` changes between explicit and implicit
//! methods by their cost (module `auto`).

use crate::auto::{Auto, ImplicitStep};
use crate::bdf::Bdf;
use crate::dop853::Dop853;
use crate::dopri5::Dopri5;
use crate::error::SolveError;
use crate::esdirk::Esdirk;
use crate::explicit::defect;
use crate::one_step::{Discontinuity, Start};
use crate::radau::Radau;
use crate::scale::Tolerances;
use crate::textbook::{Textbook, stepper};

/// A step whose interpolant is not accurate where it is needed is taken again with at least this part of its size …
const SHORTER_MIN: f64 = 0.1;
/// … and with this power of the error, which is of order 4.
const INTERPOLANT_EXPONENT: f64 = -0.25;
const INTERPOLANT_SAFETY: f64 = 0.9;

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

    /// For the explicit form x' = f(t, x, y(t, x)) with g(t, x, y) = 0: for each state, then each component of y, the rows of (f, g) that
    /// it influences. Given where it is much sparser than [`Problem::pattern`]: linear systems of implicit methods are then solved
    /// with y as further unknowns.
    fn dae_pattern(&self) -> Option<&[Vec<u32>]> {
        None
    }

    /// d(f, g)/d(x, y) at y(t, x), in the order of [`Problem::dae_pattern`]. `Ok(false)`: not known there.
    fn dae_jacobian(&mut self, _t: f64, _x: &[f64], _out: &mut [f64]) -> Result<bool, SolveError> {
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
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
    /// A tolerance is zero, negative or not finite.
    Tolerances(Tolerances),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum SolverName {
    Auto,
    Dopri5,
    Dop853,
    Radau,
    Esdirk,
    Bdf,
    Euler,
    Rk4,
    RungeKuttaSimpson,
    Rkf45,
    BackwardEuler,
    Trapezoidal,
    Lobatto,
}

impl SolverName {
    /// What a run is well served by.
    pub const PRODUCTION: [SolverName; 6] = [
        SolverName::Auto,
        SolverName::Dopri5,
        SolverName::Dop853,
        SolverName::Radau,
        SolverName::Esdirk,
        SolverName::Bdf,
    ];

    /// The methods of the source documents, for study and comparison.
    pub const TEXTBOOK: [SolverName; 7] = [
        SolverName::Euler,
        SolverName::Rk4,
        SolverName::RungeKuttaSimpson,
        SolverName::Rkf45,
        SolverName::BackwardEuler,
        SolverName::Trapezoidal,
        SolverName::Lobatto,
    ];

    pub fn all() -> impl Iterator<Item = SolverName> {
        (SolverName::PRODUCTION.into_iter()).chain(SolverName::TEXTBOOK)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            SolverName::Auto => "auto",
            SolverName::Dopri5 => "dopri5",
            SolverName::Dop853 => "dop853",
            SolverName::Radau => "radau",
            SolverName::Esdirk => "esdirk",
            SolverName::Bdf => "bdf",
            SolverName::Euler => "euler",
            SolverName::Rk4 => "rk4",
            SolverName::RungeKuttaSimpson => "runge-kutta-simpson",
            SolverName::Rkf45 => "rkf45",
            SolverName::BackwardEuler => "backward-euler",
            SolverName::Trapezoidal => "trapezoidal",
            SolverName::Lobatto => "lobatto",
        }
    }

    /// The method solves no equations and needs no Jacobian. `auto` may.
    pub fn is_explicit(self) -> bool {
        match self {
            SolverName::Dopri5
            | SolverName::Dop853
            | SolverName::Euler
            | SolverName::Rk4
            | SolverName::RungeKuttaSimpson
            | SolverName::Rkf45 => true,
            SolverName::Auto
            | SolverName::Radau
            | SolverName::Esdirk
            | SolverName::Bdf
            | SolverName::BackwardEuler
            | SolverName::Trapezoidal
            | SolverName::Lobatto => false,
        }
    }

    pub fn from_name(name: &str) -> Option<SolverName> {
        SolverName::all().find(|solver| solver.as_str() == name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct IntegratorStatistics {
    pub steps: u64,
    pub steps_rejected: u64,
    pub rhs_evaluations: u64,
    pub jacobians: u64,
    pub factorizations: u64,
    /// Changes from an explicit to an implicit method.
    pub stiff_switches: u64,
}

impl IntegratorStatistics {
    /// An accepted step is rejected after all.
    pub(crate) fn take_back(&mut self) {
        self.steps -= 1;
        self.steps_rejected += 1;
    }

    fn add(&mut self, other: &IntegratorStatistics) {
        self.steps += other.steps;
        self.steps_rejected += other.steps_rejected;
        self.rhs_evaluations += other.rhs_evaluations;
        self.jacobians += other.jacobians;
        self.factorizations += other.factorizations;
        self.stiff_switches += other.stiff_switches;
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Method {
    Dopri5(Box<Dopri5>),
    Dop853(Box<Dop853>),
    Radau(Box<Radau>),
    Esdirk(Box<Esdirk>),
    Bdf(Box<Bdf>),
    Textbook(Box<Textbook>),
}

macro_rules! on_method {
    ($self:expr, $m:ident => $body:expr) => {
        match $self {
            Method::Dopri5($m) => $body,
            Method::Dop853($m) => $body,
            Method::Radau($m) => $body,
            Method::Esdirk($m) => $body,
            Method::Bdf($m) => $body,
            Method::Textbook($m) => $body,
        }
    };
}

/// The same for calls that evaluate the problem. Only the cheapest method is compiled for every type of problem; the others call it
/// through a table, which costs nothing beside their own work.
macro_rules! on_method_with {
    ($self:expr, $problem:ident, $m:ident => $body:expr) => {
        match $self {
            Method::Dopri5($m) => $body,
            Method::Dop853($m) => on_method_with!(dynamic $problem, $body),
            Method::Radau($m) => on_method_with!(dynamic $problem, $body),
            Method::Esdirk($m) => on_method_with!(dynamic $problem, $body),
            Method::Bdf($m) => on_method_with!(dynamic $problem, $body),
            Method::Textbook($m) => on_method_with!(dynamic $problem, $body),
        }
    };
    (dynamic $problem:ident, $body:expr) => {{
        let $problem: &mut dyn Problem = $problem;
        $body
    }};
}

impl Method {
    fn new(name: SolverName, tolerances: Tolerances, nominal: &[f64]) -> Method {
        match name {
            SolverName::Auto => Method::new(Auto::new(tolerances).explicit(), tolerances, nominal),
            SolverName::Dopri5 => Method::Dopri5(Box::new(Dopri5::new(tolerances, nominal))),
            SolverName::Dop853 => Method::Dop853(Box::new(Dop853::new(tolerances, nominal))),
            SolverName::Radau => Method::Radau(Box::new(Radau::new(tolerances, nominal))),
            SolverName::Esdirk => Method::Esdirk(Box::new(Esdirk::new(tolerances, nominal))),
            SolverName::Bdf => Method::Bdf(Box::new(Bdf::new(tolerances, nominal))),
            SolverName::Euler
            | SolverName::Rk4
            | SolverName::RungeKuttaSimpson
            | SolverName::Rkf45
            | SolverName::BackwardEuler
            | SolverName::Trapezoidal
            | SolverName::Lobatto => {
                let made = stepper(name, tolerances, nominal);
                Method::Textbook(made.expect("these are the methods of that module"))
            }
        }
    }

    fn name(&self) -> SolverName {
        match self {
            Method::Dopri5(_) => SolverName::Dopri5,
            Method::Dop853(_) => SolverName::Dop853,
            Method::Radau(_) => SolverName::Radau,
            Method::Esdirk(_) => SolverName::Esdirk,
            Method::Bdf(_) => SolverName::Bdf,
            Method::Textbook(m) => m.name(),
        }
    }

    fn is_explicit(&self) -> bool {
        self.name().is_explicit()
    }

    /// Stability limits the step of an explicit method.
    fn is_stiff(&self) -> bool {
        match self {
            Method::Dopri5(m) => m.is_stiff(),
            Method::Dop853(m) => m.is_stiff(),
            Method::Radau(_) | Method::Esdirk(_) | Method::Bdf(_) | Method::Textbook(_) => false,
        }
    }
}

/// An integrator for one set of states.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Integrator {
    /// Methods used so far; they keep their work space and statistics when they are left.
    methods: Vec<Method>,
    active: usize,
    /// How the method is chosen, if the user has not.
    auto: Option<Auto>,
    tolerances: Tolerances,
    nominal: Vec<f64>,
    stiff_switches: u64,
    fixed_step: Option<f64>,
}

impl Integrator {
    pub fn new(name: SolverName, tolerances: Tolerances, nominal: &[f64]) -> Integrator {
        Integrator {
            methods: vec![Method::new(name, tolerances, nominal)],
            active: 0,
            auto: (name == SolverName::Auto).then(|| Auto::new(tolerances)),
            tolerances,
            nominal: nominal.to_vec(),
            stiff_switches: 0,
            fixed_step: None,
        }
    }

    /// All steps have this size, whatever their error, but those that land on a limit. False if the method has no such steps: only those of
    /// [`SolverName::TEXTBOOK`] have.
    #[must_use]
    pub fn set_fixed_step(&mut self, step_size: f64) -> bool {
        self.fixed_step = Some(step_size);
        match self.method_mut() {
            Method::Textbook(m) => m.set_fixed_step(step_size),
            _ => self.fixed_step = None,
        }
        self.fixed_step.is_some()
    }

    /// As new, for another run of the same states: explicit methods keep their memory.
    pub fn reset(&mut self) {
        self.methods.truncate(1);
        self.active = 0;
        self.stiff_switches = 0;
        if self.auto.is_some() {
            self.auto = Some(Auto::new(self.tolerances));
        }
        match &mut self.methods[0] {
            Method::Dopri5(m) => m.reset(),
            Method::Dop853(m) => m.reset(),
            other @ (Method::Radau(_)
            | Method::Esdirk(_)
            | Method::Bdf(_)
            | Method::Textbook(_)) => {
                *other = Method::new(other.name(), self.tolerances, &self.nominal);
            }
        }
        if let (Method::Textbook(m), Some(step_size)) = (&mut self.methods[0], self.fixed_step) {
            m.set_fixed_step(step_size);
        }
    }

    #[inline]
    fn method(&self) -> &Method {
        &self.methods[self.active]
    }

    #[inline]
    fn method_mut(&mut self) -> &mut Method {
        &mut self.methods[self.active]
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
        let start = Start {
            t,
            x,
            dx: None,
            change: Discontinuity::Dynamics,
        };
        self.begin_after(problem, start, limits)
    }

    /// The same, with what is known about the point and the discontinuity: the Jacobian outlives a jump of the states.
    pub fn begin_after<P: Problem>(
        &mut self,
        problem: &mut P,
        start: Start<'_>,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        if !self.tolerances.usable() {
            return Err(StepError::Tolerances(self.tolerances));
        }
        self.choose_method_after_discontinuity();
        on_method_with!(self.method_mut(), problem, m => m.begin(problem, start, limits))
    }

    /// Goes back to the start of the last step, to take it again with this size.
    pub fn begin_again<P: Problem>(
        &mut self,
        problem: &mut P,
        step_size: f64,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        let t = self.time_old();
        let mut x = vec![0.0; self.n_states()];
        self.interpolate(t, &mut x);
        let start = Start {
            t,
            x: &x,
            dx: None,
            change: Discontinuity::States,
        };
        on_method_with!(self.method_mut(), problem, m => {
            m.begin(problem, start, limits)?;
            m.take_back(step_size);
            Ok(())
        })
    }

    /// The interpolant of a step begins with the derivatives of the model.
    pub fn interpolates_derivatives(&self) -> bool {
        self.method().is_explicit()
    }

    /// Takes one accepted step, with its interpolant.
    pub fn step<P: Problem>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        self.choose_method(problem);
        let evaluations = self.evaluations();
        on_method_with!(self.method_mut(), problem, m => m.step(problem, limits))?;
        self.judge_step(evaluations);
        Ok(())
    }

    /// Takes one accepted step. DOP853 and RKF4(5) evaluate the problem for their interpolants: [`Integrator::complete_interpolant`] must be called
    /// before [`Integrator::interpolate`] inside the step.
    pub fn step_bare<P: Problem>(
        &mut self,
        problem: &mut P,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        self.choose_method(problem);
        let evaluations = self.evaluations();
        match self.method_mut() {
            Method::Dop853(m) => {
                let problem: &mut dyn Problem = problem;
                m.step_bare(problem, limits)
            }
            Method::Textbook(m) => {
                let problem: &mut dyn Problem = problem;
                m.step_bare(problem, limits)
            }
            other => on_method_with!(other, problem, m => m.step(problem, limits)),
        }?;
        self.judge_step(evaluations);
        Ok(())
    }

    /// Whether [`Integrator::interpolate`] can be called at this time of the last step: at its ends, or if its interpolant is complete.
    pub fn can_interpolate(&self, t: f64) -> bool {
        t == self.time()
            || t == self.time_old()
            || match self.method() {
                Method::Dop853(m) => m.is_interpolant_complete(),
                Method::Textbook(m) => m.is_interpolant_complete(),
                Method::Dopri5(_) | Method::Radau(_) | Method::Esdirk(_) | Method::Bdf(_) => true,
            }
    }

    /// Makes the interpolant of the last step ready, if it is not.
    pub fn complete_interpolant<P: Problem>(&mut self, problem: &mut P) -> Result<(), SolveError> {
        match self.method_mut() {
            Method::Dop853(m) => {
                let problem: &mut dyn Problem = problem;
                m.complete_interpolant(problem)
            }
            Method::Textbook(m) => {
                let problem: &mut dyn Problem = problem;
                m.complete_interpolant(problem)
            }
            Method::Dopri5(_) | Method::Radau(_) | Method::Esdirk(_) | Method::Bdf(_) => Ok(()),
        }
    }

    /// Before a step: leaves an explicit method that stability limits or that is to be compared, and an implicit one that an explicit one would beat.
    #[inline]
    fn choose_method<P: Problem>(&mut self, problem: &P) {
        let Some(auto) = &mut self.auto else {
            return;
        };
        if self.methods[self.active].is_stiff() || auto.wants_implicit() {
            auto.see_pattern(problem.dae_pattern().or(problem.pattern()));
            let implicit = auto.leave_explicit();
            self.stiff_switches += 1;
            self.change_to(implicit);
        } else if auto.leaves_implicit() {
            let explicit = auto.explicit();
            self.change_to(explicit);
        } else if let Some(implicit) = auto.next_implicit() {
            self.change_to(implicit);
        }
    }

    #[inline]
    fn evaluations(&self) -> u64 {
        on_method!(self.method(), m => m.statistics().rhs_evaluations)
    }

    /// After an accepted step that began with `evaluations`.
    #[inline]
    fn judge_step(&mut self, evaluations: u64) {
        let Some(auto) = &mut self.auto else {
            return;
        };
        let method = &self.methods[self.active];
        let (step_size, lipschitz, after) = on_method!(method, m => {
            (m.time() - m.time_old(), m.lipschitz(), m.statistics().rhs_evaluations)
        });
        if method.is_explicit() {
            auto.after_explicit(after - evaluations, step_size);
        } else {
            auto.after_implicit(ImplicitStep {
                method: method.name(),
                step_size,
                evaluations: after - evaluations,
                lipschitz,
            });
        }
    }

    #[inline]
    fn choose_method_after_discontinuity(&mut self) {
        let current = self.method().name();
        let explicit = self.method().is_explicit();
        let Some(auto) = &mut self.auto else {
            return;
        };
        if explicit {
            auto.forget_trials();
            return;
        }
        let next = auto.after_discontinuity(current);
        if next != current {
            let step_size = on_method!(self.method(), m => m.step_size_next());
            self.active = self.place_of(next);
            on_method!(self.method_mut(), m => m.expect_step_size(step_size));
        }
    }

    /// The place of a method among those in use; made if it is not.
    fn place_of(&mut self, name: SolverName) -> usize {
        match self.methods.iter().position(|m| m.name() == name) {
            Some(known) => known,
            None => {
                let method = Method::new(name, self.tolerances, &self.nominal);
                self.methods.push(method);
                self.methods.len() - 1
            }
        }
    }

    /// Goes on with another method from the present point.
    fn change_to(&mut self, name: SolverName) {
        let to = self.place_of(name);
        if to == self.active {
            return;
        }
        let [from, target] = self
            .methods
            .get_disjoint_mut([self.active, to])
            .expect("two different methods");
        let (t, x, dx, step_size) = on_method!(from, m => {
            (m.time(), m.state(), m.derivative(), m.step_size_next())
        });
        on_method!(target, m => m.continue_from(t, x, dx, step_size));
        self.active = to;
    }

    /// Takes one step to `time_end`, whatever size was planned; the usual error control applies.
    pub fn step_whole<P: Problem>(
        &mut self,
        problem: &mut P,
        time_end: f64,
    ) -> Result<(), StepError> {
        let size = time_end - self.time();
        on_method!(self.method_mut(), m => m.set_step_size(size));
        self.step(
            problem,
            StepLimits {
                time_end,
                step_size_max: size,
            },
        )
    }

    #[inline]
    pub fn time(&self) -> f64 {
        on_method!(self.method(), m => m.time())
    }

    /// Start of the last step.
    #[inline]
    pub fn time_old(&self) -> f64 {
        on_method!(self.method(), m => m.time_old())
    }

    #[inline]
    pub fn state(&self) -> &[f64] {
        on_method!(self.method(), m => m.state())
    }

    /// The state at a time of the last step, by the method's interpolant; the ends are exact.
    #[inline]
    pub fn interpolate(&self, t: f64, out: &mut [f64]) {
        // The cheapest method without a call.
        match self.method() {
            Method::Dopri5(m) => m.interpolate(t, out),
            _ => self.interpolate_by_any(t, out),
        }
    }

    /// The same where it is at hand, in `room` elsewhere.
    #[inline(always)]
    pub fn at<'a>(&'a self, t: f64, room: &'a mut [f64]) -> &'a [f64] {
        match self.method() {
            Method::Dopri5(m) => m.at(t, room),
            _ => {
                self.interpolate_by_any(t, room);
                room
            }
        }
    }

    #[inline(never)]
    fn interpolate_by_any(&self, t: f64, out: &mut [f64]) {
        on_method!(self.method(), m => m.interpolate(t, out));
    }

    /// The size with which the last step has to be taken again for its interpolant to be accurate up to `t`; `None` if it is. An implicit
    /// method damps a fast transient to the end of the step, but its interpolant crosses it as it likes.
    pub fn step_size_to_interpolate<P: Problem>(
        &mut self,
        problem: &mut P,
        t: f64,
    ) -> Result<Option<f64>, SolveError> {
        // In a transient that the step has passed over, the error is largest where the step begins.
        let start = self.time_old();
        let mut error = 0.0f64;
        for share in [0.0, 0.5, 1.0] {
            error = error.max(self.interpolant_error(problem, start + share * (t - start))?);
        }
        Ok((error > 1.0).then(|| self.step_size_for(error)))
    }

    /// The size of a step whose interpolant has an error of a little less than 1, where that of the last one has this error.
    pub fn step_size_for(&self, error: f64) -> f64 {
        let share = INTERPOLANT_SAFETY * error.powf(INTERPOLANT_EXPONENT);
        self.step_size() * share.max(SHORTER_MIN)
    }

    /// The next step has at most this size.
    pub fn limit_step_size(&mut self, step_size: f64) {
        on_method!(self.method_mut(), m => {
            if m.step_size_next() > step_size {
                m.set_step_size(step_size);
            }
        });
    }

    /// The defect of the interpolant at a time inside the last step, in tolerances over the whole step, for the derivative `dx` that the model has on it there;
    /// `None` for methods whose interpolants are not compared.
    pub fn defect(&self, t: f64, dx: &[f64]) -> Option<f64> {
        match self.method() {
            Method::Dopri5(m) => Some(defect(m, t, dx)),
            Method::Dop853(m) => Some(defect(m, t, dx)),
            Method::Radau(_) | Method::Esdirk(_) | Method::Bdf(_) | Method::Textbook(_) => None,
        }
    }

    /// Estimate of the error of the interpolant at a time inside the last step, in units of the tolerance; zero for methods whose error test covers
    /// it.
    pub fn interpolant_error<P: Problem>(
        &mut self,
        problem: &mut P,
        t: f64,
    ) -> Result<f64, SolveError> {
        let problem: &mut dyn Problem = problem;
        match self.method_mut() {
            Method::Radau(m) => m.interpolant_error(problem, t),
            Method::Esdirk(m) => m.interpolant_error(problem, t),
            Method::Textbook(m) => m.interpolant_error(problem, t),
            Method::Dopri5(_) | Method::Dop853(_) | Method::Bdf(_) => Ok(0.0),
        }
    }

    /// Degree of the interpolant of the last step as a polynomial in time: that many values beyond the first determine every
    /// function that is affine in states and time.
    pub fn dense_degree(&self) -> usize {
        on_method!(self.method(), m => m.dense_degree())
    }

    /// The three inner Bernstein coefficients of degree 4 of state `i` over the last step, without the straight line between its ends;
    /// `None` where the method's interpolant has another degree.
    #[inline]
    pub fn bow(&self, i: usize) -> Option<[f64; 3]> {
        match self.method() {
            Method::Dopri5(m) => Some(m.bow(i)),
            Method::Dop853(_)
            | Method::Radau(_)
            | Method::Esdirk(_)
            | Method::Bdf(_)
            | Method::Textbook(_) => None,
        }
    }

    /// Size of the last step.
    pub fn step_size(&self) -> f64 {
        self.time() - self.time_old()
    }

    /// Changes from an explicit to an implicit method.
    pub fn stiff_switches(&self) -> u64 {
        self.stiff_switches
    }

    /// Work of all methods used.
    pub fn statistics(&self) -> IntegratorStatistics {
        let mut sum = IntegratorStatistics {
            stiff_switches: self.stiff_switches,
            ..IntegratorStatistics::default()
        };
        for method in &self.methods {
            sum.add(on_method!(method, m => m.statistics()));
        }
        sum
    }

    /// Rejected steps of all methods used.
    #[inline]
    pub fn steps_rejected(&self) -> u64 {
        let of = |method: &Method| on_method!(method, m => m.statistics().steps_rejected);
        self.methods.iter().map(of).sum()
    }

    /// The methods used and the steps that each took, in the order of their first use.
    pub fn methods_used(&self) -> impl Iterator<Item = (SolverName, u64)> {
        self.methods
            .iter()
            .map(|method| (method.name(), on_method!(method, m => m.statistics().steps)))
    }

    /// The method in use now.
    pub fn method_name(&self) -> &'static str {
        self.method().name().as_str()
    }

    pub fn n_states(&self) -> usize {
        self.nominal.len()
    }
}
