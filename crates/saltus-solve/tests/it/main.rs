//! All integration tests of the crate, one binary.

mod integrators;
mod linear;
mod roots;
mod stiff;
