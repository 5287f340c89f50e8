//! What an FMU shows of a model: variables with their value references.
//!
//! The description is written by the program that exports, values are served by the library inside of the FMU. Both call [`Interface::new`] on the same model
//! and get the same numbers: 0 is time, then follow the variables in the order of the model, one number each, also for aliases. Variables that
//! results hide are hidden here too, unless they are inputs or outputs.

use saltus::{Causality, Model, ValueType, VariableInfo};

pub type ValueReference = u32;

/// The value reference of time.
pub const TIME: ValueReference = 0;

#[derive(Debug)]
pub struct Interface {
    variables: Vec<VariableInfo>,
}

impl Interface {
    pub fn new(model: &Model) -> Interface {
        let is_shown = |v: &&VariableInfo| !v.hidden || v.causality != Causality::Local;
        let shown = model.info().variables.iter().filter(is_shown);
        Interface {
            variables: shown.cloned().collect(),
        }
    }

    /// The variable with this number; time has none.
    pub fn variable(&self, reference: ValueReference) -> Option<&VariableInfo> {
        let index = (reference as usize).checked_sub(1)?;
        self.variables.get(index)
    }

    /// All variables but time, with their numbers.
    pub fn variables(&self) -> impl Iterator<Item = (ValueReference, &VariableInfo)> {
        (1..).zip(&self.variables)
    }
}

/// How the standard counts the type: enumerations are Integers with names.
pub fn is_integer(ty: ValueType) -> bool {
    matches!(ty, ValueType::Integer | ValueType::Enumeration)
}

/// The value that an input has if nobody gives it one.
pub fn input_start(ty: ValueType) -> f64 {
    match ty {
        // Literals count from 1.
        ValueType::Enumeration => 1.0,
        _ => 0.0,
    }
}
