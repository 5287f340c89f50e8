//! Numerical methods on the contract of `saltus-model`: integrators with dense output, Newton and linear solves, the walk
//! through a schedule, isolation and location of crossings. Nothing here knows Modelica, files, clocks or events.
//!
//! Comes in: a [`saltus_model::System`] or a [`Problem`] x' = f(t, x). Goes out: accepted steps with an interpolant, solved
//! blocks, located roots, or typed errors ([`SolveError`], [`StepError`]).

mod auto;
pub mod bdf;
mod complementarity;
pub mod control;
pub mod dop853;
pub mod dopri5;
pub mod driver;
pub mod error;
pub mod esdirk;
pub mod event_step;
mod explicit;
mod implicit;
pub mod integrator;
mod jacobian;
pub mod lemke;
pub mod linear;
pub mod newton;
pub mod one_step;
#[cfg(test)]
mod order_conditions;
pub mod radau;
pub mod released;
pub mod roots;
pub mod scale;
mod several;
mod sides;
pub mod textbook;
mod three_stage;

pub use bdf::Bdf;
pub use dop853::Dop853;
pub use dopri5::Dopri5;
pub use driver::{Accuracy, BlockNote, Branch, Counters, Driver, Effort, Guess, Noted};
pub use error::{
    Contradiction, LinearFailure, LinearReason, MixedFailure, NewtonFailure, NewtonReason,
    SolveError, Violated,
};
pub use esdirk::Esdirk;
pub use integrator::{
    Form, Integrator, IntegratorStatistics, Problem, SolverName, StepError, StepLimits,
};
pub use one_step::{Discontinuity, Start};
pub use radau::Radau;
pub use released::{NotReleased, Released};
pub use roots::{
    CrossingFunctions, Detection, EventSearch, Isolation, Located, LocationMethod, SignRule, Touch,
    first_crossing,
};
pub use scale::Tolerances;
pub use several::SeveralSolutions;
