//! Tests through the facade: language cases (`spec/`), whole models (`models/`), error pages (`docs/errors/`), hostile input.

mod automaton;
mod dae_form;
mod errors;
mod event_search;
mod event_snapshot;
mod function_derivatives;
mod inline;
mod library;
mod mdtest;
mod messages;
mod mode_cost;
mod model;
mod models;
mod networks;
mod noise;
mod ode;
mod robust;
mod session;
mod settings;
mod show;
mod spec;
mod state_sets;
mod stiff_events;
mod switches;
mod variation;
mod versions;
