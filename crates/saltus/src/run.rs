//! Finished runs.

use crate::error::{Diagnostics, Error};
use saltus_results::{EventRecord, ResultTable, Statistics};
use saltus_sim::{CreepRecord, StepRecord};

/// A finished run, or what there is of one that failed.
pub struct Run {
    /// The rows, as far as they were kept.
    pub table: ResultTable,
    /// The events, if they were kept.
    pub event_log: Vec<EventRecord>,
    pub statistics: Statistics,
    /// Warnings of the model and notes on how the result came about.
    pub warnings: Diagnostics,
    pub time_start: f64,
    /// Time up to which the result is complete.
    pub time_reached: f64,
    /// The message of `terminate`, if the model ended the run.
    pub terminated: Option<String>,
    /// Initialisation was completed.
    pub initialised: bool,
    /// The accepted steps, if they were asked for ([`Experiment::record_steps`]).
    pub steps: Vec<StepRecord>,
    /// Without events: where the integrator crept over a discontinuity.
    pub creeping: Vec<CreepRecord>,
}

impl Run {
    /// The last value of a variable.
    pub fn last(&self, name: &str) -> Result<f64, Error> {
        self.signal(name)?
            .last()
            .ok_or_else(|| Error::Usage("the result has no rows".to_owned()))
    }

    /// A variable at a time inside the run, right limit at events, linear between rows.
    pub fn at(&self, name: &str, time: f64) -> Result<f64, Error> {
        let value = self.signal(name)?.at(time, saltus_results::Side::Right);
        value.ok_or_else(|| Error::Usage(format!("time {time} is outside the run")))
    }

    fn signal(&self, name: &str) -> Result<saltus_results::Signal<'_>, Error> {
        self.table.signal(name).ok_or_else(|| {
            let similar = self.table.similar_names(name, 1);
            let hint = similar
                .first()
                .map_or(String::new(), |s| format!("; did you mean `{s}`?"));
            Error::Usage(format!("the result has no variable `{name}`{hint}"))
        })
    }

    pub fn events(&self) -> &[EventRecord] {
        &self.event_log
    }
}
