//! From a flat model to a sorted, index-reduced system (DESIGN sections 4 and 5).
//!
//! Comes in: a [`saltus_ir::FlatModel`]. Goes out: a [`StructuredSystem`]: aliases gone, relations turned into
//! discrete unknowns with crossing functions, index reduced, equations sorted into blocks and torn, an initial system
//! beside it. `saltus-codegen` turns it into code.

pub mod system;

pub use system::*;
