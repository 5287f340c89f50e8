//! All integration tests of the crate, one binary.

mod allocations;
mod blocks;
mod event_steps;
mod integrators;
mod lemke;
mod linear;
mod location;
mod roots;
mod stiff;
mod textbook;
