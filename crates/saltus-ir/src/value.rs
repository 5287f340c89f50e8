//! Values of expressions at compile time and inside functions.

use crate::{EnumId, FuncId};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Value {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(Arc<str>),
    Enum(EnumId, u32),
    /// Row-major elements (scalars or records); `dims` may contain 0.
    Array(Arc<ArrayValue>),
    Record(Arc<[Value]>),
    /// An external object, by its number in the [`crate::external::Objects`] table.
    Object(u32),
    Function(FuncId, Arc<[(u32, Value)]>),
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ArrayValue {
    pub dims: Vec<usize>,
    pub elems: Vec<Value>,
}

/// Sizes of numbers that are written without exponent.
const PLAIN: std::ops::Range<f64> = 1e-4..1e7;

impl Value {
    pub fn array(dims: Vec<usize>, elems: Vec<Value>) -> Value {
        debug_assert_eq!(
            dims.iter().product::<usize>(),
            elems.len(),
            "array value size"
        );
        Value::Array(Arc::new(ArrayValue { dims, elems }))
    }

    /// The number, of Real, Integer, Boolean (0/1) and enumeration (ordinal) values: the form used in slots.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Real(x) => Some(*x),
            Value::Integer(i) => Some(*i as f64),
            Value::Boolean(b) => Some(f64::from(u8::from(*b))),
            Value::Enum(_, k) => Some(f64::from(*k)),
            Value::Object(k) => Some(f64::from(*k)),
            Value::String(_) | Value::Array(_) | Value::Record(_) | Value::Function(..) => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Integer(i) => Some(*i),
            Value::Boolean(b) => Some(i64::from(*b)),
            Value::Enum(_, k) => Some(i64::from(*k)),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Boolean(b) => Some(*b),
            _ => None,
        }
    }

    /// A scalar as a message shows it; `None` for arrays, records, objects and functions.
    pub fn scalar_text(&self, ir: &crate::Ir) -> Option<String> {
        match self {
            Value::Real(x) if *x == 0.0 || PLAIN.contains(&x.abs()) => Some(x.to_string()),
            Value::Real(x) => Some(format!("{x:e}")),
            Value::Integer(i) => Some(i.to_string()),
            Value::Boolean(b) => Some(b.to_string()),
            Value::String(text) => Some(format!("\"{text}\"")),
            Value::Enum(id, k) => {
                let declared = ir.enums.get(*id)?;
                let literal = declared.literals.get((*k as usize).checked_sub(1)?)?;
                Some(format!("{}.{}", declared.name, literal))
            }
            Value::Array(_) | Value::Record(_) | Value::Object(_) | Value::Function(..) => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(s) => Some(s),
            _ => None,
        }
    }
}
