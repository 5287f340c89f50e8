//! Saltus: compiles Modelica models and simulates them, made for models with discontinuities.
//!
//! ```
//! let mut session = saltus::Session::new();
//! session.set_text(
//!     "Decay.mo",
//!     "model Decay
//!        Real x(start = 1, fixed = true);
//!      equation
//!        der(x) = -x;
//!      end Decay;",
//! );
//! let model = session.compile("Decay")?;
//! let run = model.experiment().stop_time(2.0).tolerance(1e-9).simulate()?;
//! assert!((run.last("x")? - (-2.0f64).exp()).abs() < 1e-7);
//! # Ok::<(), saltus::Error>(())
//! ```
//!
//! The stages behind it: text, syntax tree, flat model, structured system, compiled model, run, results. Each is a crate of its own;
//! this one owns the way through them and the only access to disk, clock and environment.

pub mod automaton;
mod browse;
mod carried;
mod collector;
pub mod confinement;
mod cost;
mod diagram;
mod disk;
mod engine;
mod error;
mod experiment;
mod explain_failure;
mod file;
#[cfg(unix)]
mod foreign;
mod format;
mod input;
pub mod journal;
pub mod language;
mod linear;
mod measure;
mod mode_view;
mod model;
pub mod ode;
mod output;
mod permissions;
pub mod private_folder;
mod read_log;
pub mod replace;
mod run;
pub mod sampling;
mod schedule;
mod session;
mod similar;
mod simulator;
mod solver_alias;
mod start_from;
mod state;
mod structure_view;
mod sweep;
mod texts;
mod value;
mod variation;
mod world;
mod world_files;
mod wrong_option;

pub use browse::{ClassSource, ClassView, DiagnosticView, Documentation, PlaceView};
pub use cost::{BlockCost, CostView, LineCost};
pub use diagram::{DiagramComponent, DiagramView};
pub use error::{Diagnostics, Error};
pub use experiment::Experiment;
pub use format::format;
pub use input::{Input, Interpolation};
pub use linear::Linearization;
pub use measure::{Crossing, EventClass, Measure};
pub use mode_view::{ModeView, ModesView, TransitionView};
pub use model::{Model, Variable};
pub use output::{Progress, ProgressObserver};
pub use read_log::{LoggedDisk, ReadLog};
pub use run::Run;
pub use session::{Session, Stage, StageTimes};
pub use simulator::Simulator;
pub use state::State;
pub use structure_view::{
    BlockView, CrossingView, EquationView, JacobianView, PatternView, StateSetView, StateView,
    StructureView,
};
pub use sweep::{Sweep, SweepRun};
pub use value::Value;
pub use world::{Disk, Memory, Stamp, World};

pub use saltus_codegen::{Execution, ModeSummary};
pub use saltus_control::{Control, Progress as WorkProgress, Stage as WorkStage};
pub use saltus_ir::units;
pub use saltus_model::{
    Causality, ModelInfo, Settable, SlotRole, Start, ValueType, VariableInfo, VariableKind,
};
pub use saltus_plot as plot;
pub use saltus_results as results;
pub use saltus_sim::{CreepRecord, Progressed, StepRecord};
pub use saltus_syntax::{Diagnostic, Severity};

/// The version of Saltus.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
