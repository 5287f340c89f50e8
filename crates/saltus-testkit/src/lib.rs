//! Problems with known solutions, written by hand against the contract, so that no crate's tests wait for the code generator.
//!
//! [`OdeProblem`] makes a model from closures; [`HandModel`] from data and a [`Code`]; [`mock_fmu`] is a component behind an FMI-like
//! interface, seen through the same contract.

pub mod allocations;
pub mod blocks;
pub mod delay;
pub mod mock_fmu;
pub mod problems;
pub mod stiff;

pub use saltus_model::hand::{Code, HandInstance, HandModel, Layout};
pub use saltus_model::ode::{At, Crossing, Jump, OdeProblem};
