//! From a structured system to something that runs, behind the contract of `saltus-model`.
//!
//! Comes in: a [`StructuredSystem`]. Goes out: a [`CompiledModel`] with one slot per representative variable, whose code is
//! a register tape ([`tape`]) walked by an interpreter, on plain numbers for values and on dual numbers for exact Jacobians
//! of blocks.

mod calendar;
mod calls;
mod delay;
mod depend;
mod evaluate;
mod layout;
mod lower;
mod model;
mod num;
mod program;
mod tape;
mod text;
mod work;

pub use model::{CompiledInstance, CompiledModel, CompiledSystem};

use saltus_structure::StructuredSystem;
use saltus_syntax::{Diagnostic, SourceMap};

/// Compiles a structured system. Errors name what has no code.
pub fn compile(
    system: StructuredSystem,
    sources: &SourceMap,
) -> Result<CompiledModel, Vec<Diagnostic>> {
    program::build(system, sources).map(CompiledModel::new)
}
