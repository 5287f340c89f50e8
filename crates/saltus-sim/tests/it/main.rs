//! All integration tests of the crate, one binary.

mod again;
mod allocations;
mod common;
mod crossings;
mod event_step;
mod failures;
mod initial;
mod sliding;
mod solvers;
mod tight;
mod truth;
mod zeno;
