//! The contract between whoever provides a model and the simulator (DESIGN section 4).
//!
//! Comes in: a [`Model`] (compiled Modelica, hand-written Rust, an imported FMU). Goes out: nothing; these are
//! traits and plain data. The solver does not know Modelica, the model does not know integrators: a [`System`]
//! publishes a *schedule* of [`Section`]s, and one driver in `saltus-solve` walks it. Compiled functions only
//! compute, they never call back into the solver.
//!
//! **Slots.** Every variable has one slot in one array of `f64` for the whole run. Booleans are 0/1, enumerations
//! their ordinal, Integers whole numbers. Slot 0 is time. `pre` has the same layout.

pub mod automaton;
pub mod calendar;
mod colour;
pub mod hand;
pub mod info;
pub mod inputs;
pub mod interned;
pub mod ode;
pub mod system;
pub mod values;

pub use colour::colour_columns;
pub use info::*;
pub use inputs::*;
pub use system::*;
pub use values::*;
