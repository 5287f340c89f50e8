//! Array functions on values (specification 10.3 and 10.6).

use super::{
    ELEMENTS_MAX, EvalErrorKind, Result, binary, coerce, fail, math2, neutral, reduce_pair,
};
use crate::expr::{BinaryOp, Builtin, Reduction};
use crate::types::Base;
use crate::value::{ArrayValue, Value};
use std::sync::Arc;

/// Any array function; `base` is the scalar type of its result.
pub(super) fn builtin(op: Builtin, args: &[Value], base: Base) -> Result<Value> {
    match (op, args) {
        (Builtin::Size, [a]) => {
            let sizes: Vec<Value> = dims(a).iter().map(|&n| Value::Integer(n as i64)).collect();
            Ok(Value::array(vec![sizes.len()], sizes))
        }
        (Builtin::Size, [a, dim]) => size(dims(a), dim),
        (Builtin::Ndims, [a]) => Ok(Value::Integer(dims(a).len() as i64)),
        (Builtin::Fill, [value, sizes @ ..]) => {
            let mut all = sizes.iter().map(length).collect::<Result<Vec<_>>>()?;
            let n = count(&all)?;
            all.extend(dims(value));
            count(&all)?;
            let elems = match value {
                Value::Array(array) => std::iter::repeat_n(&array.elems, n)
                    .flatten()
                    .cloned()
                    .collect(),
                scalar => vec![scalar.clone(); n],
            };
            Ok(Value::array(all, elems))
        }
        (Builtin::Transpose, [a]) => {
            let array = matrix(a, "transpose")?;
            let (rows, cols) = (array.dims[0], array.dims[1]);
            let stride: usize = array.dims[2..].iter().product();
            let mut elems = Vec::with_capacity(array.elems.len());
            for j in 0..cols {
                for i in 0..rows {
                    let at = (i * cols + j) * stride;
                    elems.extend_from_slice(&array.elems[at..at + stride]);
                }
            }
            let mut all = vec![cols, rows];
            all.extend(&array.dims[2..]);
            Ok(Value::array(all, elems))
        }
        (Builtin::Cross, [a, b]) => {
            let (x, y) = (vector(a, "cross", Some(3))?, vector(b, "cross", Some(3))?);
            let minor = |i: usize, j: usize| {
                let p = binary(BinaryOp::Mul, &x.elems[i], &y.elems[j])?;
                let q = binary(BinaryOp::Mul, &x.elems[j], &y.elems[i])?;
                binary(BinaryOp::Sub, &p, &q)
            };
            Ok(Value::array(
                vec![3],
                vec![minor(1, 2)?, minor(2, 0)?, minor(0, 1)?],
            ))
        }
        (Builtin::Skew, [a]) => {
            let v = vector(a, "skew", Some(3))?;
            let [x, y, z] = [&v.elems[0], &v.elems[1], &v.elems[2]]
                .map(|v| v.as_f64().ok_or(EvalErrorKind::Type("skew")));
            let (x, y, z) = (x?, y?, z?);
            let elems = [0.0, -z, y, z, 0.0, -x, -y, x, 0.0].map(Value::Real);
            Ok(Value::array(vec![3, 3], elems.to_vec()))
        }
        (Builtin::Identity, [n]) => {
            let n = length(n)?;
            count(&[n, n])?;
            let elems = (0..n * n)
                .map(|k| Value::Integer(i64::from(k / n == k % n)))
                .collect();
            Ok(coerce(Value::array(vec![n, n], elems), base))
        }
        (Builtin::Diagonal, [a]) => {
            let v = vector(a, "diagonal", None)?;
            let n = v.elems.len();
            count(&[n, n])?;
            let zero = if matches!(v.elems.first(), Some(Value::Integer(_))) {
                Value::Integer(0)
            } else {
                Value::Real(0.0)
            };
            let elems = (0..n * n)
                .map(|k| {
                    if k / n == k % n {
                        v.elems[k / n].clone()
                    } else {
                        zero.clone()
                    }
                })
                .collect();
            Ok(Value::array(vec![n, n], elems))
        }
        (Builtin::OuterProduct, [a, b]) => {
            let (x, y) = (
                vector(a, "outerProduct", None)?,
                vector(b, "outerProduct", None)?,
            );
            count(&[x.elems.len(), y.elems.len()])?;
            let mut elems = Vec::with_capacity(x.elems.len() * y.elems.len());
            for p in &x.elems {
                for q in &y.elems {
                    elems.push(binary(BinaryOp::Mul, p, q)?);
                }
            }
            Ok(Value::array(vec![x.elems.len(), y.elems.len()], elems))
        }
        (Builtin::Symmetric, [a]) => {
            let array = matrix(a, "symmetric")?;
            let (rows, cols) = (array.dims[0], array.dims[1]);
            if rows != cols {
                return mismatch("symmetric", &array.dims, &[cols, cols]);
            }
            let elems = (0..rows * cols).map(|k| {
                let (i, j) = (k / cols, k % cols);
                array.elems[i.min(j) * cols + i.max(j)].clone()
            });
            Ok(Value::array(vec![rows, cols], elems.collect()))
        }
        (Builtin::Linspace, [from, to, n]) => {
            let n = length(n)?;
            let (Some(from), Some(to)) = (from.as_f64(), to.as_f64()) else {
                return fail(EvalErrorKind::Type("linspace"));
            };
            let at = |k: usize| {
                if k == 0 {
                    from
                } else {
                    from + (to - from) * k as f64 / (n - 1) as f64
                }
            };
            Ok(Value::array(
                vec![n],
                (0..n).map(|k| Value::Real(at(k))).collect(),
            ))
        }
        (Builtin::Cat, [axis, parts @ ..]) => cat(axis, parts, base),
        (Builtin::Sum, [a]) => reduce(Reduction::Sum, a, base),
        (Builtin::Product, [a]) => reduce(Reduction::Product, a, base),
        (Builtin::Min, [a]) => reduce(Reduction::Min, a, base),
        (Builtin::Max, [a]) => reduce(Reduction::Max, a, base),
        (Builtin::Min | Builtin::Max, [a, b]) => math2(op, a, b),
        (Builtin::Scalar, [Value::Array(array)]) => match array.elems.as_slice() {
            [element] => Ok(element.clone()),
            _ => mismatch("scalar", &array.dims, &[1]),
        },
        (Builtin::Scalar, [scalar]) => Ok(scalar.clone()),
        (Builtin::Vector, [a]) => {
            let elems = elements(a);
            Ok(Value::array(vec![elems.len()], elems))
        }
        (Builtin::Matrix, [a]) => {
            let elems = elements(a);
            let shape = match dims(a) {
                [] => vec![1, 1],
                [n] => vec![*n, 1],
                [m, n, ..] => vec![*m, *n],
            };
            if shape.iter().product::<usize>() != elems.len() {
                return mismatch("matrix", dims(a), &shape);
            }
            Ok(Value::array(shape, elems))
        }
        (Builtin::Promote, [a, n]) => {
            let n = length(n)?;
            let mut shape = dims(a).to_vec();
            shape.resize(shape.len().max(n), 1);
            Ok(Value::array(shape, elements(a)))
        }
        _ => fail(EvalErrorKind::Unsupported(op.name())),
    }
}

pub(super) fn size(dims: &[usize], dim: &Value) -> Result<Value> {
    let Value::Integer(k) = *dim else {
        return fail(EvalErrorKind::Type("the dimension of `size`"));
    };
    match usize::try_from(k)
        .ok()
        .and_then(|k| dims.get(k.checked_sub(1)?))
    {
        Some(&n) => Ok(Value::Integer(n as i64)),
        None => fail(EvalErrorKind::IndexOutOfRange {
            index: k,
            size: dims.len(),
        }),
    }
}

pub(super) fn mat_mul(a: &Value, b: &Value) -> Result<Value> {
    let (Value::Array(a), Value::Array(b)) = (a, b) else {
        return fail(EvalErrorKind::Type("a matrix product"));
    };
    let (rows, inner, cols, shape) = match (a.dims.as_slice(), b.dims.as_slice()) {
        ([n], [m]) if n == m => (1, *n, 1, vec![]),
        ([r, n], [m]) if n == m => (*r, *n, 1, vec![*r]),
        ([n], [m, c]) if n == m => (1, *n, *c, vec![*c]),
        ([r, n], [m, c]) if n == m => (*r, *n, *c, vec![*r, *c]),
        _ => return mismatch("a product", &a.dims, &b.dims),
    };
    let integer = |x: &ArrayValue| matches!(x.elems.first(), Some(Value::Integer(_)));
    let zero = if integer(a) && integer(b) {
        Value::Integer(0)
    } else {
        Value::Real(0.0)
    };
    let mut elems = Vec::with_capacity(rows * cols);
    for i in 0..rows {
        for j in 0..cols {
            let mut sum: Option<Value> = None;
            for k in 0..inner {
                let product = binary(
                    BinaryOp::Mul,
                    &a.elems[i * inner + k],
                    &b.elems[k * cols + j],
                )?;
                sum = Some(match sum {
                    None => product,
                    Some(sum) => binary(BinaryOp::Add, &sum, &product)?,
                });
            }
            elems.push(sum.unwrap_or_else(|| zero.clone()));
        }
    }
    if shape.is_empty() {
        Ok(elems.swap_remove(0))
    } else {
        Ok(Value::array(shape, elems))
    }
}

pub(super) fn mat_pow(a: &Value, n: &Value) -> Result<Value> {
    let array = matrix(a, "a matrix power")?;
    let n = length(n)?;
    if array.dims[0] != array.dims[1] {
        return mismatch(
            "a matrix power",
            &array.dims,
            &[array.dims[1], array.dims[1]],
        );
    }
    if n == 0 {
        return builtin(
            Builtin::Identity,
            &[Value::Integer(array.dims[0] as i64)],
            Base::Real,
        );
    }
    let mut result = a.clone();
    for _ in 1..n {
        result = mat_mul(&result, a)?;
    }
    Ok(result)
}

fn cat(axis: &Value, parts: &[Value], base: Base) -> Result<Value> {
    let axis = length(axis)?
        .checked_sub(1)
        .ok_or(EvalErrorKind::Type("the dimension of `cat`"))?;
    let rank = parts
        .iter()
        .map(|p| dims(p).len())
        .max()
        .unwrap_or(0)
        .max(axis + 1);
    let promoted = |p: &Value| {
        let mut shape = dims(p).to_vec();
        shape.resize(rank, 1);
        shape
    };
    let Some(first) = parts.first() else {
        return fail(EvalErrorKind::Type("cat"));
    };
    let mut shape = promoted(first);
    let mut along = 0;
    for part in parts {
        let own = promoted(part);
        if (0..rank).any(|d| d != axis && own[d] != shape[d]) {
            return mismatch("cat", &shape, &own);
        }
        along += own[axis];
    }
    shape[axis] = along;
    let outer: usize = shape[..axis].iter().product();
    let lists: Vec<Vec<Value>> = parts.iter().map(elements).collect();
    let mut elems = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    for o in 0..outer {
        for list in &lists {
            let chunk = list.len() / outer;
            elems.extend_from_slice(&list[o * chunk..(o + 1) * chunk]);
        }
    }
    Ok(coerce(Value::array(shape, elems), base))
}

fn reduce(op: Reduction, a: &Value, base: Base) -> Result<Value> {
    let Value::Array(array) = a else {
        return Ok(a.clone());
    };
    let mut elems = array.elems.iter();
    let Some(first) = elems.next() else {
        return Ok(neutral(op, base));
    };
    let mut result = first.clone();
    for x in elems {
        result = reduce_pair(op, &result, x)?;
    }
    Ok(result)
}

fn dims(a: &Value) -> &[usize] {
    match a {
        Value::Array(array) => &array.dims,
        _ => &[],
    }
}

fn elements(a: &Value) -> Vec<Value> {
    match a {
        Value::Array(array) => array.elems.clone(),
        scalar => vec![scalar.clone()],
    }
}

fn length(n: &Value) -> Result<usize> {
    match n {
        Value::Integer(n) if *n >= 0 => Ok(*n as usize),
        Value::Integer(n) => fail(EvalErrorKind::IndexOutOfRange { index: *n, size: 0 }),
        _ => fail(EvalErrorKind::Type("a size")),
    }
}

fn count(dims: &[usize]) -> Result<usize> {
    match dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d)) {
        Some(n) if n <= ELEMENTS_MAX => Ok(n),
        _ => fail(EvalErrorKind::TooLarge),
    }
}

fn matrix<'a>(a: &'a Value, what: &'static str) -> Result<&'a Arc<ArrayValue>> {
    match a {
        Value::Array(array) if array.dims.len() >= 2 => Ok(array),
        other => mismatch(what, dims(other), &[0, 0]),
    }
}

fn vector<'a>(a: &'a Value, what: &'static str, n: Option<usize>) -> Result<&'a Arc<ArrayValue>> {
    match a {
        Value::Array(array) if array.dims.len() == 1 && n.is_none_or(|n| array.dims[0] == n) => {
            Ok(array)
        }
        other => mismatch(what, dims(other), &[n.unwrap_or(0)]),
    }
}

fn mismatch<T>(what: &'static str, left: &[usize], right: &[usize]) -> Result<T> {
    fail(EvalErrorKind::SizeMismatch {
        what,
        left: left.to_vec(),
        right: right.to_vec(),
    })
}
