//! All integration tests of the crate, one binary.

mod common;
mod truth;
