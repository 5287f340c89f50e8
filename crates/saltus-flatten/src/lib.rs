//! From a class tree to a [`saltus_ir::FlatModel`]: lookup, inheritance, modifiers, redeclaration, instances, typing,
//! connections (DESIGN section 8, specification chapters 4 to 9).
//!
//! Comes in: a [`tree::ClassTree`] of parsed files and the name of a class. Goes out: a flat model and diagnostics.
//!
//! | room | what it owns |
//! |---|---|
//! | `tree` | classes by name, files parsed at first lookup |
//! | `core` | the data of instantiation: instances, lexical scopes, modifier layers |
//! | `elaborate` | elements of a class with inheritance and redeclaration |
//! | `lookup` | names to elements |
//! | `instantiate` | components, arrays of components, conditional components, inner/outer |
//! | `typing` | syntax expressions to typed IR expressions |
//! | `functions` | function classes to IR functions |
//! | `equations` | equation and algorithm sections |
//! | `connects` | connect-equations to pairs of connector elements |
//! | `connect` | connection sets, streams, expandable connectors, overconstrained graph |
//! | `constraints` | constraining types of what is replaceable |
//! | `discrete` | values of variables that change at events only |
//! | `confidence` | how far start values are to be trusted |
//! | `clocks` | clocked partitions |
//! | `query` | names and members without a top model, for editors |
//! | `flatten` | the driver |

pub mod clocks;
mod confidence;
pub mod connect;
mod connects;
mod constraints;
pub mod core;
mod discrete;
pub mod elaborate;
pub mod equations;
pub mod flatten;
mod fold;
pub mod functions;
pub mod instantiate;
pub mod lookup;
pub mod query;
mod restrictions;
pub mod tree;
pub mod typing;
mod versions;

pub use core::FlattenOptions;
pub use flatten::{Flattened, flatten};
pub use tree::{ClassTree, FileArena, Files};
pub use versions::{compare as compare_versions, library_uses, library_version};
