//! How a variable of a model is a variable of an FMU: causality, variability, initial and start (FMI 2.0.4, section 2.2.7; FMI 3.0.2, section 2.4.7.4).
//!
//! | Saltus | FMI |
//! |---|---|
//! | input | `input`, with a start value, 0 where the model gives none |
//! | output | `output`, calculated |
//! | parameter with a value of its own | `parameter`, `fixed`, exact: can be set before the start |
//! | parameter that follows from others, or is final | `calculatedParameter` |
//! | parameter on which the structure depends | `constant`: another value needs another FMU |
//! | variable with a fixed start value | exact: the start value can be set |
//! | variable with a start value that is a guess | approx |
//! | others | calculated |

use super::Subject;
use crate::interface::{ValueReference, is_integer};
use crate::units;
use saltus::{Causality, Settable, Start, Value, ValueType, Variable, VariableInfo, VariableKind};

/// A variable as it is written.
pub(super) struct Shown {
    pub(super) reference: ValueReference,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) ty: ValueType,
    pub(super) unit: String,
    /// One that can be computed from the unit.
    pub(super) display_unit: Option<String>,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) nominal: f64,
    pub(super) causality: &'static str,
    pub(super) variability: &'static str,
    /// `None`: what the standard prescribes is not written.
    pub(super) initial: Option<&'static str>,
    pub(super) start: Option<Scalar>,
    /// Index into the enumerations of the model.
    pub(super) enumeration: Option<u32>,
    /// Order number of the state whose derivative it is.
    pub(super) derivative_of: Option<ValueReference>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Scalar {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    Text(String),
}

pub(super) fn shown(subject: &Subject<'_>) -> Vec<Shown> {
    (subject.interface.variables())
        .map(|(reference, v)| one(subject, reference, v))
        .collect()
}

fn one(subject: &Subject<'_>, reference: ValueReference, v: &VariableInfo) -> Shown {
    let Variable {
        name,
        description,
        ty,
        unit,
        display_unit,
        min,
        max,
        nominal,
        value,
        literals,
        ..
    } = subject.model.describe(v);
    let value = value.and_then(|value| scalar(ty, value, &literals));
    let (causality, variability, initial, start) = role(v, value);
    let is_shown = |display: &String| units::display(&unit, display).is_some();
    Shown {
        reference,
        name,
        description,
        ty,
        display_unit: Some(display_unit)
            .filter(|d| !unit.is_empty() && !d.is_empty() && is_shown(d)),
        unit,
        min,
        max,
        nominal,
        causality,
        variability,
        initial,
        start,
        enumeration: v.enumeration,
        derivative_of: None,
    }
}

type Role = (
    &'static str,
    &'static str,
    Option<&'static str>,
    Option<Scalar>,
);

fn role(v: &VariableInfo, value: Option<Scalar>) -> Role {
    let moving = match (v.ty, v.kind) {
        (ValueType::Real, VariableKind::Continuous) => "continuous",
        _ => "discrete",
    };
    let can_start = matches!(v.settable, Settable::Value);
    match (v.causality, v.kind) {
        (Causality::Input, _) => {
            let moving = match v.ty {
                ValueType::Real => "continuous",
                _ => "discrete",
            };
            (
                "input",
                moving,
                None,
                Some(value.unwrap_or_else(|| zero(v.ty))),
            )
        }
        (Causality::Local, VariableKind::Constant) => settled(value),
        (Causality::Local, VariableKind::Parameter) => match (v.settable, v.start, value) {
            (Settable::Value, Start::Exact, Some(value)) => {
                ("parameter", "fixed", Some("exact"), Some(value))
            }
            (Settable::Structural(_), _, value) => settled(value),
            _ => ("calculatedParameter", "fixed", Some("calculated"), None),
        },
        (causality, kind) => {
            let causality = match causality {
                Causality::Output => "output",
                _ => "local",
            };
            let moves = matches!(kind, VariableKind::Continuous | VariableKind::Discrete);
            match (v.start, value) {
                (Start::Exact, Some(value)) if can_start && moves => {
                    (causality, moving, Some("exact"), Some(value))
                }
                (Start::Guess, Some(value)) if can_start && moves => {
                    (causality, moving, Some("approx"), Some(value))
                }
                _ => (causality, moving, Some("calculated"), None),
            }
        }
    }
}

/// A value that nobody can change.
fn settled(value: Option<Scalar>) -> Role {
    match value {
        Some(value) => ("local", "constant", Some("exact"), Some(value)),
        None => ("local", "fixed", Some("calculated"), None),
    }
}

fn zero(ty: ValueType) -> Scalar {
    match ty {
        ValueType::Real => Scalar::Real(0.0),
        ValueType::Integer => Scalar::Integer(0),
        // Literals count from 1.
        ValueType::Enumeration => Scalar::Integer(1),
        ValueType::Boolean => Scalar::Boolean(false),
        ValueType::String => Scalar::Text(String::new()),
    }
}

/// The value in the type of the variable; `None` if it is none of its values.
fn scalar(ty: ValueType, value: Value, literals: &[String]) -> Option<Scalar> {
    match (ty, value) {
        (ValueType::Real, value) => value.as_f64().filter(|x| x.is_finite()).map(Scalar::Real),
        (ValueType::Boolean, Value::Boolean(b)) => Some(Scalar::Boolean(b)),
        (ValueType::String, Value::String(text)) => Some(Scalar::Text(text)),
        (ValueType::Enumeration, Value::String(literal)) => {
            let index = literals.iter().position(|known| *known == literal)?;
            Some(Scalar::Integer(index as i64 + 1))
        }
        (ty, Value::Integer(i)) if is_integer(ty) => {
            let is_literal = ty == ValueType::Integer || (1..=literals.len() as i64).contains(&i);
            (is_literal && i32::try_from(i).is_ok()).then_some(Scalar::Integer(i))
        }
        _ => None,
    }
}
