//! Random input for the whole of Saltus.
//!
//! - [`text`]: mutations of real texts and sentences of the grammar; none may panic or hang.
//! - [`corrupt`]: damaged result files and states.
//! - [`semantic`]: random hybrid programs ([`program`], [`generate`]), run and compared with an interpreter of their own ([`interpret`]).
//!
//! A case is a seed: the same number gives the same case everywhere. `cargo xtask fuzz` runs them by the hour, the tests of this crate a
//! thousand of each kind.

pub mod corrupt;
pub mod generate;
pub mod interpret;
pub mod program;
pub mod random;
pub mod semantic;
pub mod shrink;
pub mod text;
