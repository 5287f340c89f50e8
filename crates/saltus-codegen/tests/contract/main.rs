//! Small structured systems, written by hand, through the contract.

mod allocation;
mod builder;
mod direct;
mod events;
mod expressions;
mod functions;
mod integers;
mod native;
mod systems;
