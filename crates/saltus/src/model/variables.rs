//! What a user can set and see of a model.

use super::Model;
use crate::error::Error;
use crate::value::Value;
use saltus_model::{Causality, Settable, ValueType, VariableInfo, VariableKind};

/// Whole numbers up to this one are exact.
const WHOLE_MAX: f64 = (1u64 << 53) as f64;

/// A variable, parameter or constant of a [`Model`], a scalar: the elements of an array are variables of their own.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// As in results: `a.b[2].c[1,3]`.
    pub name: String,
    pub description: String,
    pub ty: ValueType,
    pub kind: VariableKind,
    pub causality: Causality,
    pub unit: String,
    pub display_unit: String,
    /// Without a limit: negative infinity.
    pub min: f64,
    /// Without a limit: infinity.
    pub max: f64,
    /// The size of a usual value.
    pub nominal: f64,
    /// Of a parameter its value, of a variable its start value. `None` if it cannot be evaluated before a run.
    pub value: Option<Value>,
    /// The literals of an enumeration.
    pub literals: Vec<String>,
    /// A value can be given ([`Model::with`]).
    pub settable: bool,
    /// A value needs another compilation; why.
    pub structural: Option<&'static str>,
    /// Not shown unless asked for.
    pub hidden: bool,
}

impl Model {
    /// All variables, parameters and constants, in the order of the model.
    pub fn variables(&self) -> Vec<Variable> {
        self.described(|_| true)
    }

    pub fn parameters(&self) -> Vec<Variable> {
        self.described(|v| v.kind == VariableKind::Parameter && !v.hidden)
    }

    /// The inputs of the whole model: their values come from outside.
    pub fn inputs(&self) -> Vec<Variable> {
        self.described(|v| v.causality == Causality::Input)
    }

    /// The outputs of the whole model.
    pub fn outputs(&self) -> Vec<Variable> {
        self.described(|v| v.causality == Causality::Output)
    }

    /// A number as a value of the type that the variable has: 1 of a Boolean is true, of an enumeration the first literal. A number that is none of the type
    /// stays a Real, which [`Model::with`] refuses.
    pub fn value_of_number(&self, name: &str, number: f64) -> Result<Value, Error> {
        let is_whole = number.fract() == 0.0 && number.abs() <= WHOLE_MAX;
        Ok(match self.find_variable(name)?.ty {
            ValueType::Integer | ValueType::Enumeration if is_whole => {
                Value::Integer(number as i64)
            }
            ValueType::Boolean if number == 0.0 || number == 1.0 => Value::Boolean(number == 1.0),
            _ => Value::Real(number),
        })
    }

    /// One of them.
    pub fn describe(&self, variable: &VariableInfo) -> Variable {
        self.described_one(variable)
    }

    fn described(&self, wanted: impl Fn(&VariableInfo) -> bool) -> Vec<Variable> {
        (self.info().variables.iter())
            .filter(|v| wanted(v))
            .map(|v| self.described_one(v))
            .collect()
    }

    fn described_one(&self, v: &VariableInfo) -> Variable {
        let (min, max) = self.range_of(v);
        Variable {
            name: v.name.clone(),
            description: v.description.clone(),
            ty: v.ty,
            kind: v.kind,
            causality: v.causality,
            unit: v.unit.clone(),
            display_unit: v.display_unit.clone(),
            min,
            max,
            nominal: self.nominal_of(v),
            value: self.start_of(v),
            literals: self.literals_of(v).to_vec(),
            settable: matches!(v.settable, Settable::Value | Settable::Structural(_)),
            structural: match v.settable {
                Settable::Structural(why) => Some(why),
                Settable::Value | Settable::Final | Settable::No => None,
            },
            hidden: v.hidden,
        }
    }

    pub(super) fn literals_of(&self, v: &VariableInfo) -> &[String] {
        match v.enumeration {
            Some(k) => &self.info().enumerations[k as usize].literals,
            None => &[],
        }
    }

    /// Least and largest value.
    pub(super) fn range_of(&self, v: &VariableInfo) -> (f64, f64) {
        let Some(bound) = self.bound() else {
            return (f64::NEG_INFINITY, f64::INFINITY);
        };
        let slot = &bound.info.slots[v.slot.index()];
        match v.negated {
            false => (slot.min, slot.max),
            true => (-slot.max, -slot.min),
        }
    }

    fn nominal_of(&self, v: &VariableInfo) -> f64 {
        let nominal = |bound: &super::Bound| bound.info.slots[v.slot.index()].nominal;
        self.bound().map_or(1.0, nominal)
    }

    pub(super) fn start_of(&self, v: &VariableInfo) -> Option<Value> {
        let bound = self.bound()?;
        match v.ty {
            ValueType::String => Some(Value::String(bound.texts.get(&v.slot)?.to_string())),
            _ => Some(typed(self, v, bound.values.get(v.slot))),
        }
    }
}

/// The value of a variable whose slot has this number.
pub(crate) fn typed(model: &Model, v: &VariableInfo, number: f64) -> Value {
    let number = signed(v, number);
    match v.ty {
        ValueType::Real | ValueType::String => Value::Real(number),
        ValueType::Integer => Value::Integer(number as i64),
        ValueType::Boolean => Value::Boolean(number != 0.0),
        ValueType::Enumeration => {
            let literal = model.literals_of(v).get((number as usize).wrapping_sub(1));
            match literal {
                Some(literal) => Value::String(literal.clone()),
                None => Value::Integer(number as i64),
            }
        }
    }
}

/// The number of a variable whose slot has this number, and the other way round.
pub(crate) fn signed(v: &VariableInfo, number: f64) -> f64 {
    match (v.negated, v.ty) {
        (false, _) => number,
        (true, ValueType::Boolean) => 1.0 - number,
        (true, _) => -number,
    }
}
