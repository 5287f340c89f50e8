//! What a run cost, as `--stats` writes it. The field names are a promise to users.

use crate::ReadError;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    pub model: String,
    pub saltus_version: String,
    pub seconds: Seconds,
    pub equations: usize,
    pub unknowns: usize,
    pub states: usize,
    pub crossing_functions: usize,
    pub blocks: Blocks,
    pub modes_structured: usize,
    #[serde(default)]
    pub functions: Functions,
    /// Method in use at the end.
    pub solver: String,
    /// All methods used, in the order of their first use.
    #[serde(default)]
    pub methods: Vec<MethodSteps>,
    pub steps: u64,
    pub steps_rejected: u64,
    pub rhs_evaluations: u64,
    pub jacobians: u64,
    pub factorizations: u64,
    pub events: EventCounts,
    pub sliding_segments: u64,
    pub zeno_points: u64,
    /// Variables that vary, but by less than 500 times the accuracy asked for.
    #[serde(default)]
    pub unresolved: Vec<Unresolved>,
    /// NaN (`null`) where the system does not tell.
    #[serde(deserialize_with = "crate::event::null_as_nan")]
    pub peak_rss_mb: f64,
}

/// Wall-clock seconds of each stage.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Seconds {
    pub parse: f64,
    pub flatten: f64,
    pub structure: f64,
    pub codegen: f64,
    pub initialize: f64,
    pub simulate: f64,
    pub total: f64,
}

/// Equation blocks with more than one unknown, or solved by iteration; `largest` counts unknowns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Blocks {
    pub linear: usize,
    pub nonlinear: usize,
    pub largest: usize,
}

/// Functions that the equations call: how many have code (counted once for each shape of arguments), and the names of those
/// that only the evaluator can carry out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Functions {
    pub coded: usize,
    pub evaluated: Vec<String>,
}

/// Accepted steps of one integration method.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MethodSteps {
    pub name: String,
    pub steps: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EventCounts {
    pub time: u64,
    pub state: u64,
    pub step: u64,
    pub iterations: u64,
}

/// A variable whose curve is not resolved by the tolerance of the run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Unresolved {
    pub variable: String,
    /// Largest less smallest value.
    pub range: f64,
    /// The middle between them.
    pub around: f64,
    /// The accuracy asked for, in its unit.
    pub accuracy: f64,
}

impl Statistics {
    /// From its JSON text.
    pub fn from_json(text: &str) -> Result<Statistics, ReadError> {
        serde_json::from_str(text).map_err(|error| ReadError::format(error.to_string()))
    }

    /// The JSON text, indented, with a final newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data has a JSON form");
        text.push('\n');
        text
    }
}
