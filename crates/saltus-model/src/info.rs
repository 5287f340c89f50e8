//! What a model says about itself: names, units, attributes, places in the source.

use crate::interned::Text;
use crate::{Site, Slot, Values};
use std::sync::Arc;

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ModelInfo {
    pub name: String,
    pub description: String,
    /// Attributes of each slot (after binding some may have been updated by the instance).
    pub slots: Vec<SlotInfo>,
    /// The variables as the user knows them; several may share a slot.
    pub variables: Vec<VariableInfo>,
    pub sites: Vec<SiteInfo>,
    /// The enumeration types of its variables.
    pub enumerations: Vec<EnumerationInfo>,
    pub experiment: Experiment,
    /// Counts for statistics.
    pub n_equations: usize,
    pub n_unknowns: usize,
    /// Slot of the homotopy parameter λ (1 = actual); `None` if the model has no `homotopy`.
    pub homotopy: Option<Slot>,
    /// Slot that is 1 while `initial()` holds, and 1 while `terminal()` holds.
    pub initial: Option<Slot>,
    pub terminal: Option<Slot>,
    /// Integrators that are equations of the model.
    pub inline: Option<InlineInfo>,
}

/// Integrators that are equations of the model: between the values where a step began and the present ones, at any time within the step. The
/// simulator writes all slots but `value` and `derivative`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InlineInfo {
    /// Where the step began.
    pub time_old: Slot,
    /// The least step that the formulas take, in seconds.
    pub step_min: Slot,
    /// How far the time of the continuous equations is ahead, in seconds.
    pub ahead: Slot,
    pub states: Vec<InlineSlots>,
    /// The step that the model asks for, in seconds.
    pub step: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InlineSlots {
    pub value: SignedSlot,
    pub derivative: SignedSlot,
    /// The value where the step began.
    pub value_old: Slot,
    /// Of the trapezoidal rule: the derivative where the step began, and the weight of the one at its end.
    pub memory: Option<(Slot, Slot)>,
    /// Order of the error that a step of size h adds, less one.
    pub order: u32,
    #[serde(with = "crate::interned")]
    pub method: Text,
}

/// A variable that is a slot, or the negated one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SignedSlot {
    pub slot: Slot,
    pub negated: bool,
}

impl SignedSlot {
    pub fn get(self, values: &Values) -> f64 {
        let value = values.get(self.slot);
        if self.negated { -value } else { value }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum SlotRole {
    Time,
    Constant,
    Parameter,
    Input,
    State,
    Derivative,
    /// Continuous, not a state.
    Algebraic,
    /// Discrete-time variable of the model (Boolean, Integer, enumeration, discrete Real).
    Discrete,
    /// Truth value of a relation (0/1). Written only by the event step.
    Relation,
    /// Anything else internal: when-conditions, sample flags, call results.
    Auxiliary,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SlotInfo {
    pub name: String,
    pub role: SlotRole,
    pub min: f64,
    pub max: f64,
    pub nominal: f64,
    /// Where it is declared.
    pub site: Site,
    /// The equation that determines it at events.
    pub equation: Option<Site>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ValueType {
    Real,
    Integer,
    Boolean,
    Enumeration,
    String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum VariableKind {
    Constant,
    Parameter,
    Discrete,
    Continuous,
}

/// How a variable takes part in what is around the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Causality {
    #[default]
    Local,
    /// Its value comes from outside.
    Input,
    /// It is there to be read from outside.
    Output,
}

/// Whether a variable can be given another value without compiling the model again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Settable {
    /// At the start of a run: a parameter, or a start value.
    Value,
    /// Not: the structure of the model depends on it; the reason.
    Structural(#[serde(with = "crate::interned")] Text),
    /// Not at all: it is `final`.
    Final,
    /// Not at all: it is a constant, or has no start value of its own.
    No,
}

/// What the declaration says of the value at the start of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Start {
    /// It is the value that the declaration gives, whatever other parameters are: a parameter, or a variable that is `fixed`.
    Exact,
    /// A start value that gives way where the equations ask for another one.
    Guess,
    /// It follows from other parameters, or from equations.
    #[default]
    Computed,
}

/// An enumeration type.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EnumerationInfo {
    pub name: String,
    /// The literal with the number k has the value k + 1.
    pub literals: Vec<String>,
}

/// A variable of the model as results show it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct VariableInfo {
    pub name: String,
    pub description: String,
    pub unit: String,
    pub display_unit: String,
    pub ty: ValueType,
    pub kind: VariableKind,
    pub slot: Slot,
    /// The value is the negated slot.
    pub negated: bool,
    /// Not written to results unless asked for by name (HideResult, internal).
    pub hidden: bool,
    pub settable: Settable,
    pub causality: Causality,
    /// Index into [`ModelInfo::enumerations`].
    pub enumeration: Option<u32>,
    /// A value is given in the declaration: a binding, or a start value.
    pub has_value: bool,
    pub start: Start,
    pub site: Site,
}

/// A place in the source, already resolved to text, and the equation or declaration there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SiteInfo {
    /// Shared by all places in it.
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    /// The equation, relation or declaration in model terms.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Experiment {
    pub start_time: f64,
    pub stop_time: f64,
    pub tolerance: f64,
    /// Output interval; `None`: 500 intervals.
    pub interval: Option<f64>,
}

impl Default for Experiment {
    fn default() -> Self {
        Experiment {
            start_time: 0.0,
            stop_time: 1.0,
            tolerance: 1e-6,
            interval: None,
        }
    }
}
