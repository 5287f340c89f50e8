//! Options of a run that make no sense, in words.

use saltus_sim::{OptionError, Options, OutputGrid};

/// What is wrong, and what would be right.
pub(crate) fn sentence(error: &OptionError) -> String {
    match *error {
        OptionError::Times { start, stop } if start.is_finite() && stop.is_finite() => format!(
            "the stop time of {stop} s is before the start time of {start} s: choose a later stop time"
        ),
        OptionError::Times { start, stop } => {
            format!("start time ({start} s) and stop time ({stop} s) must be finite numbers")
        }
        OptionError::Tolerance(tolerance) => format!(
            "a tolerance of {tolerance} is not possible: choose one from {:e} to 1, usually 1e-6",
            Options::TOLERANCE_MIN
        ),
        OptionError::Output(OutputGrid::Interval(interval)) => format!(
            "an output interval of {interval} s is not possible: it must be above 0 and give at most {:e} rows",
            Options::ROWS_MAX
        ),
        OptionError::Output(_) => "a run has at least one output interval".to_owned(),
        OptionError::StepSizeMax(size) => {
            format!("a largest step of {size} s is not possible: it must be above 0")
        }
        OptionError::InlineStep(step) => format!(
            "a step of {step} s for inlined integrators is not possible: it must be above 0 and give at most {:e} steps",
            Options::ROWS_MAX
        ),
    }
}
