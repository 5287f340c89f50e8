//! Trees of registers and constants: sizes, parts, conversions.

use crate::calls::Arg;
use crate::functions::exploded;
use saltus_ir::eval::coerce;
use saltus_ir::{Base, Value};

/// Integers become Real where `base` is Real.
pub(super) fn coerced(arg: Arg, base: Base) -> Arg {
    if base != Base::Real {
        return arg;
    }
    match arg {
        Arg::Scalar {
            reg,
            base: Base::Integer,
        } => Arg::Scalar {
            reg,
            base: Base::Real,
        },
        Arg::Array { dims, elems } => Arg::Array {
            dims,
            elems: elems.into_iter().map(|a| coerced(a, base)).collect(),
        },
        Arg::Constant(value) => Arg::Constant(coerce(value, base)),
        other => other,
    }
}

pub(super) fn dims_of(arg: &Arg) -> &[usize] {
    match arg {
        Arg::Array { dims, .. } => dims,
        Arg::Constant(Value::Array(a)) => &a.dims,
        _ => &[],
    }
}

/// A constant in parts; anything else as it is.
pub(super) fn opened(arg: Arg) -> Arg {
    match &arg {
        Arg::Constant(value @ (Value::Array(_) | Value::Record(_))) => exploded(value),
        _ => arg,
    }
}

/// An array of this size.
pub(super) fn sized(dims: &[usize]) -> Value {
    Value::array(
        dims.to_vec(),
        vec![Value::Integer(0); dims.iter().product()],
    )
}

pub(super) fn elements(arg: Arg) -> Vec<Arg> {
    match opened(arg) {
        Arg::Array { elems, .. } => elems,
        scalar => vec![scalar],
    }
}

pub(super) fn base_of(arg: &Arg) -> Option<Base> {
    match arg {
        Arg::Scalar { base, .. } => Some(*base),
        Arg::Constant(value) => match value {
            Value::Real(_) => Some(Base::Real),
            Value::Integer(_) => Some(Base::Integer),
            Value::Boolean(_) => Some(Base::Boolean),
            Value::Enum(id, _) => Some(Base::Enum(*id)),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn is_numbers(arg: &Arg) -> bool {
    match arg {
        Arg::Scalar { base, .. } => *base != Base::String,
        Arg::Array { elems, .. } => elems.iter().all(is_numbers),
        Arg::Record(fields) => fields.iter().all(is_numbers),
        Arg::Constant(_) | Arg::Expr(_) | Arg::Function(..) => false,
    }
}

/// Elements in a shape; a single one without dimensions is itself.
pub(super) fn shaped(dims: Vec<usize>, mut elems: Vec<Arg>) -> Option<Arg> {
    if elems.len() != dims.iter().product::<usize>() {
        return None;
    }
    if dims.is_empty() {
        return elems.pop();
    }
    Some(Arg::Array { dims, elems })
}

/// Equal values as the rows of one array.
pub(super) fn stacked(parts: Vec<Arg>) -> Option<Arg> {
    let inner = dims_of(parts.first()?).to_vec();
    if parts.iter().any(|p| dims_of(p) != inner) {
        return None;
    }
    let mut dims = vec![parts.len()];
    dims.extend(inner);
    shaped(dims, parts.into_iter().flat_map(elements).collect())
}
