//! Why a computation could not be completed: typed, with values, without names (the model's info resolves slots and sites).

use saltus_model::{BlockId, Fault, ScheduleKind, Site, Slot};

/// A point at which the model could not be evaluated.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SolveError {
    /// Model code refused: assertion, domain, range, external function.
    Fault(Fault),
    /// A quantity is NaN or infinite.
    NonFinite {
        slot: Slot,
    },
    /// The derivative of a state, by its index, is NaN or infinite.
    NonFiniteDerivative {
        state: usize,
    },
    Newton(Box<NewtonFailure>),
    Linear(Box<LinearFailure>),
    Mixed(Box<MixedFailure>),
    Contradiction(Box<Contradiction>),
}

impl SolveError {
    /// At a trial point a smaller step may help.
    pub fn recoverable(&self) -> bool {
        match self {
            SolveError::Fault(fault) => fault.recoverable,
            SolveError::NonFinite { .. }
            | SolveError::NonFiniteDerivative { .. }
            | SolveError::Newton(_)
            | SolveError::Linear(_)
            | SolveError::Mixed(_)
            | SolveError::Contradiction(_) => true,
        }
    }
}

impl From<Fault> for SolveError {
    fn from(fault: Fault) -> SolveError {
        SolveError::Fault(fault)
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum NewtonReason {
    /// The bound on iterations was reached.
    Iterations,
    /// No fraction of the step reduces the residual.
    Damping,
    /// The Jacobian is singular where the iteration came to rest, and the residual is not zero there.
    Singular { rank: usize },
    /// The equations could not be evaluated near the iterate.
    Evaluation(Box<SolveError>),
}

/// A nonlinear block that was not solved: what is needed to name it, its unknowns and the equations that are not met.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NewtonFailure {
    pub schedule: ScheduleKind,
    pub block: BlockId,
    pub reason: NewtonReason,
    pub iterations: u32,
    /// Last iterate.
    pub unknowns: Vec<(Slot, f64)>,
    /// Where the iteration began.
    pub guesses: Vec<f64>,
    /// Start values of the initial system that were released in vain.
    pub released: Vec<Slot>,
    /// Residuals at the last iterate with the place of their equation.
    pub residuals: Vec<(Site, f64)>,
    /// Places of the other equations of the block.
    pub inner: Vec<Site>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum LinearReason {
    /// The equations contradict each other, or round-off does not allow to find their solution; the rank of their matrix.
    Rank(usize),
    /// Round-off in the unknowns has grown to the size of this inner variable.
    Amplified(Slot),
}

/// A linear block without a solution (or one that round-off does not allow to find).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LinearFailure {
    pub schedule: ScheduleKind,
    pub block: BlockId,
    pub reason: LinearReason,
    pub unknowns: Vec<(Slot, f64)>,
    pub residuals: Vec<(Site, f64)>,
    /// Places of the other equations of the block.
    pub inner: Vec<Site>,
}

/// A mixed block for which no consistent set of discrete values was found.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MixedFailure {
    pub schedule: ScheduleKind,
    pub block: BlockId,
    /// Sets of discrete values that were tried.
    pub tried: u32,
    /// Discrete values that never came to rest: the two values seen last.
    pub oscillating: Vec<(Slot, f64, f64)>,
    /// If the Real unknowns could not be solved for the last set.
    pub cause: Option<SolveError>,
}

/// Initial conditions that cannot all hold, whatever the start values that are not fixed: at the values that come nearest (least squares) these
/// are not met.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Contradiction {
    pub violated: Vec<Violated>,
    /// Conditions and equations that the violated ones contradict.
    pub others: Vec<Site>,
    /// Start values that were released in vain.
    pub released: Vec<Slot>,
    /// Unknowns at these values.
    pub unknowns: Vec<(Slot, f64)>,
}

/// A condition that is not met.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Violated {
    pub site: Site,
    /// Left and right side, where they are known apart.
    pub sides: Option<(f64, f64)>,
    /// Left side minus right side.
    pub residual: f64,
}
