//! Numerical methods on the contract of `saltus-model`: integrators with dense output, Newton and linear solves, the walk
//! through a schedule, isolation and location of crossings. Nothing here knows Modelica, files, clocks or events.
//!
//! Comes in: a [`saltus_model::System`] or a [`Problem`] x' = f(t, x). Goes out: accepted steps with an interpolant, solved
//! blocks, located roots, or typed errors ([`SolveError`], [`StepError`]).

pub mod bdf;
pub mod dopri5;
pub mod driver;
pub mod error;
pub mod integrator;
mod jacobian;
pub mod linear;
pub mod newton;
pub mod radau;
pub mod roots;
pub mod scale;

pub use bdf::Bdf;
pub use dopri5::Dopri5;
pub use driver::{Accuracy, BlockNote, Counters, Driver, Guess};
pub use error::{LinearFailure, MixedFailure, NewtonFailure, NewtonReason, SolveError};
pub use integrator::{
    Form, Integrator, IntegratorStatistics, Problem, SolverName, StepError, StepLimits,
};
pub use radau::Radau;
pub use roots::{CrossingFunctions, Isolation, Located, SignRule, Touch, first_crossing};
pub use scale::Tolerances;
