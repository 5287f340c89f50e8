//! Why a run ended early. Typed; slots, sites, blocks and crossings are resolved to names by the facade through `ModelInfo`.

use crate::options::OptionError;
use crate::record::RunSummary;
use saltus_model::{Fault, Site, Slot};
use saltus_solve::{NewtonFailure, SolveError};

/// What the run was doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Binding,
    Initial,
    Continuous,
    Event,
    Output,
}

#[derive(Clone, PartialEq, Debug)]
pub enum SimError {
    Options(OptionError),
    /// Parameters or start values could not be evaluated.
    Bind(Fault),
    /// The model could not be evaluated at a point that the run needs.
    Evaluation {
        time: f64,
        phase: Phase,
        error: SolveError,
    },
    /// A variable is NaN or infinite at an accepted point.
    NonFinite {
        time: f64,
        slot: Slot,
    },
    /// The step size fell below the resolution of time. `state`: the variable with the largest error, `cause`: what
    /// failed at the trial points, if something did.
    StepTooSmall {
        time: f64,
        step_size: f64,
        state: Option<Slot>,
        cause: Option<Box<SolveError>>,
    },
    /// The event iteration did not come to rest.
    EventIteration {
        time: f64,
        iterations: u32,
        oscillating: Vec<Oscillation>,
    },
    /// Events follow each other without time advancing.
    Accumulation {
        time: f64,
        since: f64,
        count: u32,
        relations: Vec<(Slot, Site)>,
    },
    /// No mode agrees with the initial values that follow from it.
    InitialMode {
        time: f64,
    },
    /// The events of a relation accumulated at `limit` (Zeno), and the model does not say how the motion goes on: the
    /// function left zero on the side that the events had kept it from.
    Zeno {
        time: f64,
        limit: f64,
        relation: Slot,
        site: Site,
    },
    /// A contact that has turned the motion back was left on its far side, and the motion goes on there.
    ContactLost {
        time: f64,
        relation: Slot,
        site: Site,
        depth: f64,
    },
    /// The start value of an inlined variable contradicts the equations: it would jump at once.
    InlineStart {
        time: f64,
        slot: Slot,
        start: f64,
        value: f64,
    },
    /// The model announced a time event that is not after the present.
    Calendar {
        time: f64,
        next: f64,
    },
    /// The solution of a system of equations came to its end, and no other was found.
    NoOtherSolution {
        time: f64,
        failure: Box<NewtonFailure>,
    },
    WallClock {
        time: f64,
        seconds: f64,
    },
    Cancelled {
        time: f64,
    },
    /// The run has not begun, or is over: it has no values and cannot go on.
    NotRunning {
        time: f64,
    },
}

/// A slot that keeps changing in the event iteration.
#[derive(Clone, PartialEq, Debug)]
pub struct Oscillation {
    pub slot: Slot,
    /// Its last values, oldest first.
    pub values: Vec<f64>,
}

impl SimError {
    /// Apart, because most evaluations succeed.
    #[cold]
    #[inline(never)]
    pub(crate) fn evaluation(time: f64, phase: Phase, error: SolveError) -> SimError {
        SimError::Evaluation { time, phase, error }
    }

    /// Simulated time of the failure, if the run had begun.
    pub fn time(&self) -> Option<f64> {
        match self {
            SimError::Options(_) | SimError::Bind(_) => None,
            SimError::Evaluation { time, .. }
            | SimError::NonFinite { time, .. }
            | SimError::StepTooSmall { time, .. }
            | SimError::EventIteration { time, .. }
            | SimError::Accumulation { time, .. }
            | SimError::Zeno { time, .. }
            | SimError::ContactLost { time, .. }
            | SimError::InlineStart { time, .. }
            | SimError::Calendar { time, .. }
            | SimError::NoOtherSolution { time, .. }
            | SimError::WallClock { time, .. }
            | SimError::InitialMode { time }
            | SimError::NotRunning { time }
            | SimError::Cancelled { time } => Some(*time),
        }
    }
}

/// A run that could not be completed; rows up to the last accepted step have been recorded.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFailure {
    pub error: SimError,
    pub summary: RunSummary,
}
