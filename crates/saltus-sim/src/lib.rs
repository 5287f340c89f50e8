//! Runs a model: initial values, continuous segments, events, output.
//!
//! Comes in: an [`saltus_model::Instance`], [`Options`], a [`Recorder`]. Goes out: rows and events to the recorder, a
//! [`RunSummary`]; on failure a [`RunFailure`] with the error and the summary of what was computed up to there.
//!
//! A problem written in Rust, event-correct in ten lines (the facade's `ode` module needs fewer still):
//!
//! ```
//! use saltus_model::Model;
//! use saltus_sim::{Control, EventKind, EventRecord, Options, Recorder, RowKind, simulate};
//! use saltus_model::ode::{Crossing, OdeProblem};
//!
//! struct Bounces(Vec<f64>);
//! impl Recorder for Bounces {
//!     fn row(&mut self, _values: &saltus_model::Values, _kind: RowKind) {}
//!     fn event(&mut self, event: &EventRecord) {
//!         self.0.extend((event.kind == EventKind::State).then_some(event.time));
//!     }
//! }
//!
//! let ball = OdeProblem::new("ball", &[("x", 1.0), ("v", 0.0)], |at, dx| {
//!     dx[0] = at.x[1];
//!     dx[1] = -9.81;
//! })
//! .crossings(&[Crossing::below("x < 0").affine()], |at, r| r[0] = at.x[0])
//! .on_event(|jump| if jump.became_true(0) { jump.x[1] *= -0.85 })
//! .build();
//! let mut bounces = Bounces(Vec::new());
//! let options = Options { stop_time: 2.0, ..Options::default() };
//! let summary = simulate(&mut ball.instantiate(), &options, &Control::default(), &mut bounces).unwrap();
//! assert_eq!(summary.statistics.events_state, 3);
//! assert!((bounces.0[0] - (2.0f64 / 9.81).sqrt()).abs() < 1e-12);
//! ```
//!
//! | file | what it owns |
//! |---|---|
//! | `run` | the run as a sum type, the only loop over time |
//! | `simulator` | a run that is owned: stepped, looked at, given inputs, saved and restored |
//! | `event_step` | the event step (DESIGN 5.4); nobody else writes `pre`, relations or reinitialised states |
//! | `restart` | which side a function at zero takes, and whether the integrator restarts (DESIGN 5.3, 5.5) |
//! | `init` | bind, initial system, homotopy |
//! | `calendar` | communication points and step ends |
//! | `work` | the work space of a run, which the next one uses again |
//! | `watch` | events that accumulate |
//! | `sliding` | the motion along surfaces to which the motions on both sides lead (DESIGN 5.6) |
//! | `contact` | contacts, each with its own speeds: when one closes |
//! | `zeno` | the rest at contacts that are closed |
//! | `constrained` | motions bound by either: initial value problem, values, crossing functions |
//! | `surface`, `field` | surfaces, rates of their functions, the model at points of one's own choice |
//! | `creep` | small steps at discontinuities that are no events |
//! | `choose` | which mode follows where that is not plain |
//! | `jump` | entering a mode, with impulses |
//! | `point` | evaluation of the model at one point |

mod calendar;
mod choose;
mod constrained;
mod contact;
mod creep;
mod error;
mod event_step;
mod field;
mod guard;
mod init;
mod inline;
mod jump;
mod options;
mod point;
mod record;
mod resolve;
mod restart;
mod run;
mod simulator;
mod sliding;
mod surface;
mod watch;
mod work;
mod zeno;

pub use error::{Oscillation, Phase, RunFailure, SimError};
pub use options::{OptionError, Options, OutputGrid, StartPoint, Zeno};
pub use record::{
    Cause, ChangedValue, CreepRecord, EventKind, EventRecord, NoteRecord, Recorder, RowKind,
    RunStatistics, RunSummary, Silent, StepRecord,
};
pub use run::{Progressed, RunState, Simulation, simulate};
pub use saltus_control::Control;
pub use saltus_solve::{LocationMethod, SolverName};
pub use simulator::Simulator;
