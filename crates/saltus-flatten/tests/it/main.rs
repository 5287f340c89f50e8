//! Flattening of whole small models: text in, printed equations or error codes out.

mod clocks;
mod connections;
mod expandable;
mod overconstrained;
mod streams;
mod support;
mod typing;
