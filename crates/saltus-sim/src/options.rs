//! What the user chooses for one run.

use saltus_model::{Experiment, Signal, Slot};
use saltus_solve::{EventSearch, LocationMethod, SolverName};

/// What happens where infinitely many events come to a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Zeno {
    /// The motion rests there until the free motion points away.
    #[default]
    Continue,
    /// The run ends with an error.
    Stop,
}

/// Where rows are written between events.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum OutputGrid {
    /// Every so many seconds, and at the end.
    Interval(f64),
    /// This many intervals of equal length.
    Intervals(u32),
    /// Nowhere: whoever steps the run looks for himself.
    None,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Options {
    pub start_time: f64,
    /// Infinity: the run goes on as long as it is asked to; `span` then says how long is long.
    pub stop_time: f64,
    /// The length of a run without an end, in seconds: steps are at most a tenth of it.
    pub span: Option<f64>,
    pub tolerance: f64,
    pub output: OutputGrid,
    pub solver: SolverName,
    /// How events are located in their brackets.
    pub event_method: LocationMethod,
    /// How they are noticed and told apart.
    pub event_search: EventSearch,
    /// Largest step size the integrator may take; `None`: a tenth of the span.
    pub step_size_max: Option<f64>,
    /// Step of integrators that are equations of the model, in seconds; `None`: what the model says, else the interval of the output.
    pub inline_step: Option<f64>,
    /// Stop with an error after so many seconds on the clock of the control.
    pub wall_seconds_max: Option<f64>,
    /// False: relations follow their functions during the steps and nothing is located (`--no-events`).
    pub events: bool,
    pub zeno: Zeno,
    /// Values of parameters and start values.
    pub overrides: Vec<(Slot, f64)>,
    /// Inputs at the start.
    pub inputs: Vec<(Slot, Signal)>,
    pub start: StartPoint,
}

/// Where a run begins.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum StartPoint {
    /// At a solution of the initial system.
    InitialSystem,
    /// Where another run has been: right limits of states, discrete variables and whatever else is known there. The initial system is
    /// not solved, `initial()` is false, events of the start time have been.
    Values(Vec<(Slot, f64)>),
}

impl Default for Options {
    fn default() -> Options {
        Options::from(Experiment::default())
    }
}

impl From<Experiment> for Options {
    fn from(experiment: Experiment) -> Options {
        Options {
            start_time: experiment.start_time,
            stop_time: experiment.stop_time,
            span: None,
            tolerance: experiment.tolerance,
            output: match experiment.interval {
                Some(interval) => OutputGrid::Interval(interval),
                None => OutputGrid::Intervals(Options::INTERVALS),
            },
            solver: SolverName::Auto,
            event_method: LocationMethod::default(),
            event_search: EventSearch::default(),
            step_size_max: None,
            inline_step: None,
            wall_seconds_max: None,
            events: true,
            zeno: Zeno::Continue,
            overrides: Vec::new(),
            inputs: Vec::new(),
            start: StartPoint::InitialSystem,
        }
    }
}

/// An option without meaning.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OptionError {
    /// Start and stop must be finite, and stop not before start.
    Times {
        start: f64,
        stop: f64,
    },
    /// Between 1e-14 and 1.
    Tolerance(f64),
    /// Positive and finite, at most [`Options::ROWS_MAX`] rows.
    Output(OutputGrid),
    StepSizeMax(f64),
    /// Positive and finite, at most [`Options::ROWS_MAX`] of them in the run.
    InlineStep(f64),
}

impl Options {
    /// Rows that a grid may ask for.
    pub const ROWS_MAX: f64 = 1e9;
    pub const TOLERANCE_MIN: f64 = 1e-14;

    /// Rows that a run has if nothing else is said.
    pub const INTERVALS: u32 = 500;

    /// The length of the run, or what stands for it.
    pub fn span(&self) -> f64 {
        match self.stop_time - self.start_time {
            open if open == f64::INFINITY => self.span.unwrap_or(1.0),
            span => span,
        }
    }

    /// Seconds between rows; without rows what they would be if nothing else was said.
    pub fn output_interval(&self) -> f64 {
        match self.output {
            OutputGrid::Interval(interval) => interval,
            OutputGrid::Intervals(n) => self.span() / f64::from(n),
            OutputGrid::None => self.span() / f64::from(Options::INTERVALS),
        }
    }

    pub fn check(&self) -> Result<(), OptionError> {
        let (start, stop) = (self.start_time, self.stop_time);
        let is_open = stop == f64::INFINITY && self.output == OutputGrid::None;
        if !(start.is_finite() && (stop.is_finite() || is_open) && stop >= start) {
            return Err(OptionError::Times { start, stop });
        }
        if !(self.tolerance >= Options::TOLERANCE_MIN && self.tolerance <= 1.0) {
            return Err(OptionError::Tolerance(self.tolerance));
        }
        let grid_fits = match self.output {
            OutputGrid::Interval(interval) => {
                interval > 0.0
                    && interval.is_finite()
                    && (stop - start) / interval <= Options::ROWS_MAX
            }
            OutputGrid::Intervals(n) => n > 0,
            OutputGrid::None => true,
        };
        if !grid_fits {
            return Err(OptionError::Output(self.output));
        }
        match self.step_size_max {
            Some(size) if size.is_nan() || size <= 0.0 => Err(OptionError::StepSizeMax(size)),
            _ => Ok(()),
        }
    }
}
