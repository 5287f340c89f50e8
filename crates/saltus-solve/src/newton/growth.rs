//! What round-off of a linear block's unknowns does to the variables that are computed from them.
//!
//! The inner assignments of a torn block are an elimination whose pivots were chosen before the coefficients were known. The unknowns u may
//! be solved for to round-off, and yet a chain of inner variables v(u) carry nothing of the solution, because each link multiplies
//! the error of the one before. Comes in: a solved block. It is evaluated once more at u + δ·s·u with signs s; then |Δv|·ε/δ is the
//! error that v has, and an error of the size of v itself makes the solution worthless. The structure keeps the growth small for the
//! parameters of the model as written; this is the check for those of the run.

use super::BlockSolve;
use crate::error::SolveError;
use crate::scale::{AMPLIFIED_REL, EPS};
use saltus_model::{BlockInfo, ModelInfo, ScheduleKind, System};

/// Fewer inner assignments do not amplify much.
const INNER_MIN: usize = 12;
/// Relative change of the unknowns: far above round-off.
const CHANGE: f64 = 1.0 / (1u32 << 20) as f64;

/// Storage for the check: the inner variables, empty for blocks that are not watched.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Watched {
    values: Vec<f64>,
    nominal: Vec<f64>,
}

impl Watched {
    pub(super) fn new(block: &BlockInfo, info: &ModelInfo, nominal: fn(f64) -> f64) -> Watched {
        let inner = &block.determines[block.unknowns.len().min(block.determines.len())..];
        let watched = block.linear && inner.len() >= INNER_MIN;
        let nominals = inner.iter().map(|s| nominal(info.slots[s.index()].nominal));
        let nominal: Vec<f64> = nominals.filter(|_| watched).collect();
        Watched {
            values: vec![0.0; nominal.len()],
            nominal,
        }
    }
}

impl<S: System> BlockSolve<'_, S> {
    /// An error if round-off has grown to the size of the solution. Looked at when events and initial values are computed.
    pub(crate) fn watch_growth(&mut self) -> Result<(), SolveError> {
        let at_event = matches!(self.schedule, ScheduleKind::Event | ScheduleKind::Initial);
        if !at_event || self.work.watched.values.is_empty() {
            return Ok(());
        }
        let n = self.info.unknowns.len();
        let inner = &self.info.determines[n..];
        for (kept, slot) in self.work.watched.values.iter_mut().zip(inner) {
            *kept = self.values.get(*slot);
        }
        for (i, slot) in self.info.unknowns.iter().enumerate() {
            let u = self.values.get(*slot);
            let way = if i % 2 == 0 { CHANGE } else { -CHANGE };
            self.work.u[i] = u;
            self.work.trial[i] = u + way * u;
        }
        let changed = self.residual_at_trial();
        let watched = &self.work.watched;
        let grown = (inner.iter().zip(&watched.values).zip(&watched.nominal))
            .map(|((slot, kept), nominal)| {
                let error = (self.values.get(*slot) - kept).abs() * (EPS / CHANGE);
                (*slot, error / (kept.abs() + nominal))
            })
            .find(|(_, relative)| relative.is_nan() || *relative > AMPLIFIED_REL);
        // The block as it was solved.
        for (slot, u) in self.info.unknowns.iter().zip(&self.work.u) {
            self.values.set(*slot, *u);
        }
        for (slot, kept) in inner.iter().zip(&self.work.watched.values) {
            self.values.set(*slot, *kept);
        }
        match (changed, grown) {
            (Ok(()), None) => Ok(()),
            (Ok(()), Some((slot, _))) => Err(self.amplified(slot)),
            // Beside the solution it cannot be evaluated: nothing is known, and the solution itself is finite.
            (Err(error), _) if error.recoverable() => Ok(()),
            (Err(error), _) => Err(error),
        }
    }
}
