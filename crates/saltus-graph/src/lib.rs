//! Algorithms on integer graphs: matching, Dulmage-Mendelsohn parts, Pantelides' algorithm in its signature-matrix
//! form, strongly connected components, tearing.
//!
//! Comes in: adjacency lists of `u32`. Goes out: index lists. Nothing here knows equations or variables; rows are
//! what `saltus-structure` calls equations, columns what it calls unknowns. No function recurses, and all results
//! depend on the order of the input only.

pub mod dulmage_mendelsohn;
pub mod matching;
pub mod pantelides;
pub mod scc;
pub mod tearing;

pub use dulmage_mendelsohn::{DulmageMendelsohn, dulmage_mendelsohn};
pub use matching::{Matcher, Matching, maximum_matching};
pub use pantelides::{Differentiation, pantelides};
pub use scc::strongly_connected_components;
pub use tearing::{TearProblem, Tearing, tear};
