//! All integration tests of the crate, one binary.

mod blocks;
mod integrators;
mod linear;
mod roots;
mod stiff;
