//! What a run hands out: rows, events, notes, statistics.

use saltus_model::interned::Text;
use saltus_model::{ModelInfo, Site, Slot, Values};
use saltus_solve::{BlockNote, SolverName};
use std::sync::Arc;

/// Receives a run as it is computed. Both sides of an event are rows of equal time.
pub trait Recorder {
    fn row(&mut self, values: &Values, kind: RowKind);

    fn event(&mut self, event: &EventRecord);

    /// False: `event` is not called, and no record is made for it.
    fn wants_events(&self) -> bool {
        true
    }

    /// True: nothing more can be taken, and the run ends as if it was cancelled.
    fn is_closed(&self) -> bool {
        false
    }

    /// Warnings and printed text of the model.
    fn message(&mut self, _time: f64, _site: Site, _text: &str) {}

    /// An accepted step.
    fn step(&mut self, _step: &StepRecord) {}

    /// A mode was structured: there are more slots and places than before, those known keep their numbers.
    fn grown(&mut self, _info: &Arc<ModelInfo>) {}

    /// Something the user should know about how a result came about.
    fn note(&mut self, _note: &NoteRecord) {}
}

impl<R: Recorder + ?Sized> Recorder for &mut R {
    fn row(&mut self, values: &Values, kind: RowKind) {
        (**self).row(values, kind);
    }

    fn event(&mut self, event: &EventRecord) {
        (**self).event(event);
    }

    fn wants_events(&self) -> bool {
        (**self).wants_events()
    }

    fn is_closed(&self) -> bool {
        (**self).is_closed()
    }

    fn message(&mut self, time: f64, site: Site, text: &str) {
        (**self).message(time, site, text);
    }

    fn step(&mut self, step: &StepRecord) {
        (**self).step(step);
    }

    fn grown(&mut self, info: &Arc<ModelInfo>) {
        (**self).grown(info);
    }

    fn note(&mut self, note: &NoteRecord) {
        (**self).note(note);
    }
}

/// A recorder that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Recorder for Silent {
    fn row(&mut self, _values: &Values, _kind: RowKind) {}

    fn event(&mut self, _event: &EventRecord) {}

    fn wants_events(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum RowKind {
    /// After initialisation.
    Initial,
    /// A point of the output grid.
    Grid,
    BeforeEvent,
    AfterEvent,
    /// End of the run.
    Final,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    Initial,
    Time,
    State,
    /// Inputs were given other values.
    Input,
    Terminal,
    /// A crossing function came to zero and turned back.
    Touch,
    /// Other variables became the states. All values stay.
    Selection,
    /// The solution of a system of equations came to its end, and another one was taken.
    Fold,
    /// The motion goes on along other surfaces than before, or leaves them all.
    Sliding,
    /// Infinitely many events have come to their limit, or a rest after that ends.
    Zeno,
}

impl EventKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Initial => "initial",
            EventKind::Time => "time",
            EventKind::State => "state",
            EventKind::Input => "input",
            EventKind::Terminal => "terminal",
            EventKind::Touch => "touch",
            EventKind::Selection => "step",
            EventKind::Fold => "fold",
            EventKind::Sliding => "sliding",
            EventKind::Zeno => "zeno",
        }
    }
}

/// A relation, a `sample` or a clock that made an event happen.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Cause {
    pub site: Site,
    /// The relation in model terms.
    pub text: String,
    /// The crossing function just before and at the event; of a time event, which is when it is due, 0 and 0.
    pub value_left: f64,
    pub value_right: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChangedValue {
    pub slot: Slot,
    pub before: f64,
    pub after: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct EventRecord {
    pub time: f64,
    pub kind: EventKind,
    /// How the time was found: `chandrupatla`, `calendar`.
    pub method: &'static str,
    pub causes: Vec<Cause>,
    /// Discrete variables, relations and reinitialised states that differ on the two sides.
    pub changed: Vec<ChangedValue>,
    /// What was an impulse at this instant, with its weight.
    pub impulses: Vec<(Slot, f64)>,
    /// Passes of the event iteration.
    pub iterations: u32,
    /// Evaluations of the crossing functions to isolate and locate it.
    pub evaluations: u64,
    /// The integrator had to restart.
    pub restarted: bool,
    pub mode: u32,
}

/// One accepted step of the integrator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StepRecord {
    /// Where it ends.
    pub time: f64,
    pub step_size: f64,
    /// Attempts that were rejected before it.
    pub rejected: u64,
    pub method: &'static str,
}

/// A stretch of small steps at a discontinuity that is no event.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct CreepRecord {
    pub time_start: f64,
    pub time_end: f64,
    pub steps: u64,
    pub steps_rejected: u64,
    pub step_size_min: f64,
    /// The longest of the steps before.
    pub step_size_before: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum NoteRecord {
    /// Without events: the integrator crept over a discontinuity.
    Creeping(CreepRecord),
    /// A system of equations was solved in a way the user should know about.
    Block { time: f64, note: BlockNote },
    /// The simplified equations of `homotopy` did not lead to the actual ones, which were solved directly.
    NoHomotopy,
    /// The initial system has no solution with all start values that are not fixed: slot, start value, initial value of those that gave way.
    Released { moved: Vec<(Slot, f64, f64)> },
    /// The solution of a system of equations came to its end for the first time, and another one was taken.
    Fold { time: f64 },
    /// For the first time, what the conditions select leaves unknowns free: these switches were held, each as it says.
    Held { time: f64, switches: Vec<String> },
    /// The automatic solver went over to the implicit method.
    Stiff { time: f64 },
}

/// The statistics of DESIGN 6 that the simulator knows.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RunStatistics {
    pub seconds_initialize: f64,
    pub seconds_simulate: f64,
    pub states: usize,
    pub crossing_functions: usize,
    pub blocks_linear: usize,
    pub blocks_nonlinear: usize,
    pub blocks_largest: usize,
    pub modes_structured: u64,
    /// Method in use at the end.
    #[serde(with = "saltus_model::interned")]
    pub solver: Text,
    /// Methods used and the steps of each, in the order of their first use.
    pub methods: Vec<(SolverName, u64)>,
    pub steps: u64,
    pub steps_rejected: u64,
    pub rhs_evaluations: u64,
    pub jacobians: u64,
    pub factorizations: u64,
    pub events_time: u64,
    pub events_state: u64,
    pub events_input: u64,
    /// Events raised by accepted steps (state sets); none yet.
    pub events_step: u64,
    pub event_iterations: u64,
    pub sliding_segments: u64,
    pub zeno_points: u64,
    pub touches: u64,
    pub restarts: u64,
}

#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RunSummary {
    /// Last time for which a row was recorded.
    pub time_reached: f64,
    /// The model ended the run with `terminate`.
    pub terminated: Option<(Site, String)>,
    pub statistics: RunStatistics,
}
