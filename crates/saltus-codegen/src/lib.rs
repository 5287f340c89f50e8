//! From a structured system to something that runs, behind the contract of `saltus-model`.
//!
//! Comes in: a [`StructuredSystem`]. Goes out: a [`CompiledModel`] with one slot per representative variable, whose code is
//! a register tape ([`tape`]), on plain numbers for values and on dual numbers for exact Jacobians of blocks. An interpreter
//! walks it; code that runs often is translated to machine code ([`native`]) with the same results, bit for bit.

mod calendar;
mod calls;
mod code;
mod delay;
mod depend;
mod eliminate;
mod evaluate;
mod functions;
mod guards;
mod layout;
mod light;
mod lower;
mod model;
mod modes;
mod native;
mod num;
mod passes;
mod program;
mod sets;
mod tape;
mod text;
mod transport;
mod verify;
mod work;

pub use code::Execution;
pub use functions::FunctionReport;
pub use model::{CompiledInstance, CompiledModel, CompiledSystem, Content};
pub use modes::ModeSummary;
pub use native::foreign::{Bridge, Bridges, CallError, Guard, Returned};

use saltus_structure::StructuredSystem;
use saltus_syntax::{Diagnostic, SourceMap};

/// Compiles a structured system. Errors name what has no code.
pub fn compile(
    system: StructuredSystem,
    sources: &SourceMap,
) -> Result<CompiledModel, Vec<Diagnostic>> {
    program::build(system, layout::Sites::new(sources), layout::Slots::Own).map(CompiledModel::new)
}
