//! Studies: methods and models of the source documents run, their numbers set beside the printed ones and checked.
//!
//! Comes in: the name of a study. Goes out: a [`Report`] with tables, checks and pictures, as Markdown and SVG text. Nothing here prints or touches files.

mod ball;
mod comparison;
mod event_methods;
mod filament;
mod hybrid;
mod report;
mod rotor;
mod train;

pub use report::{Check, Picture, Report, Table};

/// A study, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Study {
    EventMethods,
    BouncingBall,
    FilamentPendulum,
    RotorStator,
    TrainEngine,
}

impl Study {
    pub const ALL: [Study; 5] = [
        Study::EventMethods,
        Study::BouncingBall,
        Study::FilamentPendulum,
        Study::RotorStator,
        Study::TrainEngine,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Study::EventMethods => "event-methods",
            Study::BouncingBall => "bouncing-ball",
            Study::FilamentPendulum => "filament-pendulum",
            Study::RotorStator => "rotor-stator",
            Study::TrainEngine => "train-engine",
        }
    }

    pub fn from_name(name: &str) -> Option<Study> {
        (Study::ALL.into_iter()).find(|study| study.as_str() == name)
    }

    /// Runs it.
    pub fn run(self) -> Report {
        match self {
            Study::EventMethods => event_methods::study(),
            Study::BouncingBall => ball::study(),
            Study::FilamentPendulum => filament::study(),
            Study::RotorStator => rotor::study(),
            Study::TrainEngine => train::study(),
        }
    }
}
