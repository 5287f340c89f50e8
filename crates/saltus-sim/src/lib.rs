//! Runs a model: initial values, continuous segments, events, output.
//!
//! Comes in: an [`saltus_model::Instance`], [`Options`], a [`Recorder`]. Goes out: rows and events to the recorder, a
//! [`RunSummary`]; on failure a [`RunFailure`] with the error and the summary of what was computed up to there.
//!
//! | file | what it owns |
//! |---|---|
//! | `run` | the run as a sum type, the only loop over time |
//! | `event_step` | the event step (DESIGN 5.4); nobody else writes `pre`, relations or reinitialised states |
//! | `restart` | which side a function at zero takes, and whether the integrator restarts (DESIGN 5.3, 5.5) |
//! | `init` | bind, initial system, homotopy |
//! | `calendar` | communication points and step ends |
//! | `watch` | events that accumulate |
//! | `point` | evaluation of the model at one point |

mod calendar;
mod error;
mod event_step;
mod init;
mod options;
mod point;
mod record;
mod restart;
mod run;
mod watch;

pub use error::{Oscillation, Phase, RunFailure, SimError};
pub use options::{Clock, Environment, OptionError, Options, OutputGrid};
pub use record::{
    Cause, ChangedValue, EventKind, EventRecord, NoteRecord, Recorder, RowKind, RunStatistics,
    RunSummary, Silent,
};
pub use run::simulate;
pub use saltus_solve::SolverName;
