//! Studies: methods and models of the source documents run, their numbers set beside the printed ones and checked.
//!
//! Comes in: the name of a study. Goes out: a [`Report`] with tables, checks and pictures, as Markdown and SVG text. Nothing here prints or touches files.

mod ball;
mod comparison;
mod delays;
mod diodes;
mod event_methods;
mod filament;
mod four_quadrant;
mod friction;
mod hybrid;
mod hysteresis;
mod impacts;
mod lecture;
mod linear;
mod location;
mod piecewise;
mod rectifiers;
mod report;
mod robot;
mod rotor;
mod runs;
mod steps;
mod train;

pub use report::{Check, Picture, Report, Table};

macro_rules! studies {
    ($($variant:ident $name:literal $run:expr;)*) => {
        /// A study, by name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Study {
            $($variant,)*
        }

        impl Study {
            pub const ALL: &[Study] = &[$(Study::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Study::$variant => $name,)*
                }
            }

            /// Runs it. Where a model cannot be run, the report has a check that fails.
            pub fn run(self) -> Report {
                let report: Result<Report, saltus::Error> = match self {
                    $(Study::$variant => $run,)*
                };
                report.unwrap_or_else(|e| Report::of_failure(self.as_str(), e.to_string()))
            }
        }
    };
}

studies! {
    EventMethods "event-methods" Ok(event_methods::study());
    BouncingBall "bouncing-ball" Ok(ball::study());
    FilamentPendulum "filament-pendulum" Ok(filament::study());
    RotorStator "rotor-stator" Ok(rotor::study());
    StepSize "step-size" steps::study();
    Location "location" Ok(location::study());
    Piecewise "piecewise" piecewise::study();
    TrainEngine "train-engine" train::study();
    FourQuadrant "four-quadrant" four_quadrant::study();
    Rectifiers "rectifiers" rectifiers::study();
    Diodes "diodes" diodes::study();
    Robot "robot" robot::study();
    Hysteresis "hysteresis" hysteresis::study();
    Friction "friction" friction::study();
    Impacts "impacts" impacts::study();
    Delays "delays" delays::study();
    Lecture "lecture" lecture::study();
}

impl Study {
    pub fn from_name(name: &str) -> Option<Study> {
        let mut all = Study::ALL.iter().copied();
        all.find(|study| study.as_str() == name)
    }
}
