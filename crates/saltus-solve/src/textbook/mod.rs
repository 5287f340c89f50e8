//! The methods of the source documents, by name: Euler, classical Runge–Kutta, Runge–Kutta–Simpson, Runge–Kutta–Fehlberg 4(5), backward Euler, the
//! trapezoidal rule, Lobatto IIIC. All are one-step methods like the others, with error estimate and interpolant, and run with controlled or with fixed
//! steps; they are for study and comparison, not for speed.

mod explicit;
mod lobatto;
mod theta;

use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem, SolverName, StepError, StepLimits};
use crate::one_step::{OneStep, OneStepMethod, Start};
use crate::scale::Tolerances;
use std::ops::{Deref, DerefMut};

pub type Euler = OneStep<explicit::EulerMethod>;
pub type Rk4 = OneStep<explicit::Rk4Method>;
pub type RungeKuttaSimpson = OneStep<explicit::RungeKuttaSimpsonMethod>;
pub type Rkf45 = OneStep<explicit::Rkf45Method>;
pub type BackwardEuler = OneStep<theta::ThetaMethod<theta::Backward>>;
pub type Trapezoidal = OneStep<theta::ThetaMethod<theta::Trapezoid>>;
pub type Lobatto = OneStep<lobatto::LobattoMethod>;

/// What the face of all integrators needs of one of them, callable without its type.
pub(crate) trait Stepper: std::fmt::Debug {
    fn name(&self) -> SolverName;
    fn begin(
        &mut self,
        problem: &mut dyn Problem,
        start: Start<'_>,
        limits: StepLimits,
    ) -> Result<(), StepError>;
    fn continue_from(&mut self, t: f64, x: &[f64], dx: &[f64], step_size: f64);
    fn expect_step_size(&mut self, step_size: f64);
    fn set_step_size(&mut self, step_size: f64);
    fn set_fixed_step(&mut self, step_size: f64);
    fn take_back(&mut self, step_size: f64);
    fn step(&mut self, problem: &mut dyn Problem, limits: StepLimits) -> Result<(), StepError>;
    fn step_bare(&mut self, problem: &mut dyn Problem, limits: StepLimits)
    -> Result<(), StepError>;
    fn is_interpolant_complete(&self) -> bool;
    fn complete_interpolant(&mut self, problem: &mut dyn Problem) -> Result<(), SolveError>;
    fn interpolant_error(&mut self, problem: &mut dyn Problem, t: f64) -> Result<f64, SolveError>;
    fn interpolate(&self, t: f64, out: &mut [f64]);
    fn dense_degree(&self) -> usize;
    fn time(&self) -> f64;
    fn time_old(&self) -> f64;
    fn state(&self) -> &[f64];
    fn derivative(&self) -> &[f64];
    fn step_size_next(&self) -> f64;
    fn lipschitz(&self) -> f64;
    fn statistics(&self) -> &IntegratorStatistics;
}

impl<M: OneStepMethod + std::fmt::Debug> Stepper for OneStep<M> {
    fn name(&self) -> SolverName {
        M::NAME
    }

    fn begin(
        &mut self,
        problem: &mut dyn Problem,
        start: Start<'_>,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        OneStep::begin(self, problem, start, limits)
    }

    fn continue_from(&mut self, t: f64, x: &[f64], dx: &[f64], step_size: f64) {
        OneStep::continue_from(self, t, x, dx, step_size);
    }

    fn expect_step_size(&mut self, step_size: f64) {
        OneStep::expect_step_size(self, step_size);
    }

    fn set_step_size(&mut self, step_size: f64) {
        OneStep::set_step_size(self, step_size);
    }

    fn set_fixed_step(&mut self, step_size: f64) {
        OneStep::set_fixed_step(self, step_size);
    }

    fn take_back(&mut self, step_size: f64) {
        OneStep::take_back(self, step_size);
    }

    fn step(&mut self, problem: &mut dyn Problem, limits: StepLimits) -> Result<(), StepError> {
        OneStep::step(self, problem, limits)
    }

    fn step_bare(
        &mut self,
        problem: &mut dyn Problem,
        limits: StepLimits,
    ) -> Result<(), StepError> {
        OneStep::step_bare(self, problem, limits)
    }

    fn is_interpolant_complete(&self) -> bool {
        OneStep::is_interpolant_complete(self)
    }

    fn complete_interpolant(&mut self, problem: &mut dyn Problem) -> Result<(), SolveError> {
        OneStep::complete_interpolant(self, problem)
    }

    fn interpolant_error(&mut self, problem: &mut dyn Problem, t: f64) -> Result<f64, SolveError> {
        OneStep::interpolant_error(self, problem, t)
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        OneStep::interpolate(self, t, out);
    }

    fn dense_degree(&self) -> usize {
        OneStep::dense_degree(self)
    }

    fn time(&self) -> f64 {
        OneStep::time(self)
    }

    fn time_old(&self) -> f64 {
        OneStep::time_old(self)
    }

    fn state(&self) -> &[f64] {
        OneStep::state(self)
    }

    fn derivative(&self) -> &[f64] {
        OneStep::derivative(self)
    }

    fn step_size_next(&self) -> f64 {
        OneStep::step_size_next(self)
    }

    fn lipschitz(&self) -> f64 {
        OneStep::lipschitz(self)
    }

    fn statistics(&self) -> &IntegratorStatistics {
        OneStep::statistics(self)
    }
}

/// One of the methods. It is behind a pointer wherever it is kept.
#[expect(clippy::large_enum_variant, reason = "one for a run")]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Textbook {
    Euler(Euler),
    Rk4(Rk4),
    RungeKuttaSimpson(RungeKuttaSimpson),
    Rkf45(Rkf45),
    BackwardEuler(BackwardEuler),
    Trapezoidal(Trapezoidal),
    Lobatto(Lobatto),
}

impl Deref for Textbook {
    type Target = dyn Stepper;

    fn deref(&self) -> &(dyn Stepper + 'static) {
        match self {
            Textbook::Euler(m) => m,
            Textbook::Rk4(m) => m,
            Textbook::RungeKuttaSimpson(m) => m,
            Textbook::Rkf45(m) => m,
            Textbook::BackwardEuler(m) => m,
            Textbook::Trapezoidal(m) => m,
            Textbook::Lobatto(m) => m,
        }
    }
}

impl DerefMut for Textbook {
    fn deref_mut(&mut self) -> &mut (dyn Stepper + 'static) {
        match self {
            Textbook::Euler(m) => m,
            Textbook::Rk4(m) => m,
            Textbook::RungeKuttaSimpson(m) => m,
            Textbook::Rkf45(m) => m,
            Textbook::BackwardEuler(m) => m,
            Textbook::Trapezoidal(m) => m,
            Textbook::Lobatto(m) => m,
        }
    }
}

/// The method of a name; `None` for a name of another module.
pub(crate) fn stepper(
    name: SolverName,
    tolerances: Tolerances,
    nominal: &[f64],
) -> Option<Box<Textbook>> {
    Some(Box::new(match name {
        SolverName::Euler => Textbook::Euler(Euler::new(tolerances, nominal)),
        SolverName::Rk4 => Textbook::Rk4(Rk4::new(tolerances, nominal)),
        SolverName::RungeKuttaSimpson => {
            Textbook::RungeKuttaSimpson(RungeKuttaSimpson::new(tolerances, nominal))
        }
        SolverName::Rkf45 => Textbook::Rkf45(Rkf45::new(tolerances, nominal)),
        SolverName::BackwardEuler => {
            Textbook::BackwardEuler(BackwardEuler::new(tolerances, nominal))
        }
        SolverName::Trapezoidal => Textbook::Trapezoidal(Trapezoidal::new(tolerances, nominal)),
        SolverName::Lobatto => Textbook::Lobatto(Lobatto::new(tolerances, nominal)),
        SolverName::Auto
        | SolverName::Dopri5
        | SolverName::Dop853
        | SolverName::Radau
        | SolverName::Esdirk
        | SolverName::Bdf => return None,
    }))
}
