//! The run-time values of one run.

use crate::Inputs;
use crate::interned::Text;

/// Index into the value array. Slot 0 is time.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct Slot(pub u32);

impl Slot {
    pub const TIME: Slot = Slot(0);

    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Values of all slots, now and before the event iteration, and what event code asked for.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Values {
    pub v: Vec<f64>,
    /// `pre` of every slot. Written only by the event step.
    pub pre: Vec<f64>,
    pub actions: Actions,
    /// What moves the inputs between events.
    pub inputs: Inputs,
}

/// Requests of event code, collected during one pass and carried out by the event step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Actions {
    /// `reinit(slot, value)`
    pub reinits: Vec<(Slot, f64)>,
    pub terminate: Option<(Site, String)>,
    /// Warnings and printed text: assertions of level warning, `print`.
    pub messages: Vec<(Site, String)>,
    /// Assertions of level warning that are violated now, by number.
    pub warned: Vec<bool>,
}

impl Actions {
    pub fn clear(&mut self) {
        self.reinits.clear();
        self.terminate = None;
        self.messages.clear();
    }

    /// Notes whether an assertion of level warning holds; true if it has just been violated.
    pub fn newly_violated(&mut self, number: usize, holds: bool) -> bool {
        if self.warned.len() <= number {
            self.warned.resize(number + 1, false);
        }
        let before = std::mem::replace(&mut self.warned[number], !holds);
        !holds && !before
    }

    /// Nothing was asked for.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.reinits.is_empty() && self.terminate.is_none() && self.messages.is_empty()
    }
}

impl Values {
    pub fn new(n_slots: usize) -> Values {
        Values {
            v: vec![0.0; n_slots],
            pre: vec![0.0; n_slots],
            actions: Actions::default(),
            inputs: Inputs::default(),
        }
    }

    /// Time goes on, and the inputs with it.
    #[inline]
    pub fn set_time(&mut self, t: f64) {
        self.v[0] = t;
        if !self.inputs.is_empty() {
            self.move_inputs(t);
        }
    }

    #[inline]
    pub fn time(&self) -> f64 {
        self.v[0]
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> f64 {
        self.v[slot.index()]
    }

    #[inline]
    pub fn set(&mut self, slot: Slot, value: f64) {
        self.v[slot.index()] = value;
    }
}

/// A place in the model that a message can name: index into [`crate::ModelInfo::sites`].
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct Site(pub u32);

/// Why model code could not deliver a value. Recoverable faults at a trial point make the step smaller; at an
/// accepted point they are errors.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Fault {
    pub recoverable: bool,
    pub site: Site,
    pub kind: FaultKind,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum FaultKind {
    /// `assert(condition, message)` failed.
    Assertion {
        message: String,
        /// What the condition reads, each as `name = value`; the first few.
        values: Vec<String>,
        /// The function that states the condition, if one does.
        function: Option<String>,
    },
    /// A function was evaluated outside its domain: `sqrt(-1)`, `1/0`.
    Domain {
        #[serde(with = "crate::interned")]
        function: Text,
        argument: f64,
    },
    /// The result is NaN or infinite.
    NonFinite { slot: Slot },
    /// An external or table function reported an error.
    External(String),
    /// An external function is not there.
    Missing(String),
    /// An external function needs a permission that the user has not given.
    Forbidden(String),
    /// The model code is not defined here (table out of range, array index).
    Range(String),
    /// An Integer that does not fit its place.
    IntegerOverflow(String),
    /// The values select a mode that cannot be structured; `code` names the error.
    Mode {
        #[serde(with = "crate::interned")]
        code: Text,
        message: String,
        notes: Vec<String>,
    },
}

impl FaultKind {
    /// A failed assertion of which only the message is known.
    pub fn assertion(message: impl Into<String>) -> FaultKind {
        FaultKind::Assertion {
            message: message.into(),
            values: Vec::new(),
            function: None,
        }
    }
}

/// Result of model code.
pub type Status = Result<(), Fault>;
