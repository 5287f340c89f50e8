//! Function calls from a tape by the evaluator: arguments from registers to values and back. Functions with code are called by
//! [`crate::functions`]; table look-ups go without that detour.
//!
//! Derivatives of a call with respect to a block's unknowns are central difference quotients in the direction of each lane;
//! table look-ups have exact ones.

use crate::num::Num;
use crate::tape::{Reg, domain_fault};
use crate::work::{Context, Texts, Work};
use saltus_ir::external::TableFunction;
use saltus_ir::func::{ExternalArg, FunctionBody};
use saltus_ir::ops::double_of;
use saltus_ir::{Base, Expr, ExprId, FuncId, Ir, TypeId, Value};
use saltus_model::{FaultKind, Values};
use std::ops::RangeFrom;

/// An argument of a call: how its value is made from registers.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Arg {
    Scalar {
        reg: Reg,
        base: Base,
    },
    /// Row-major.
    Array {
        dims: Vec<usize>,
        elems: Vec<Arg>,
    },
    Record(Vec<Arg>),
    Constant(Value),
    /// Computed by the evaluator from the slots.
    Expr(ExprId),
    Function(FuncId, Vec<(u32, Arg)>),
}

impl Arg {
    /// Registers in leaf order; constants and evaluated parts have none.
    pub(crate) fn leaves(&self, out: &mut Vec<Reg>) {
        match self {
            Arg::Scalar { reg, .. } => out.push(*reg),
            Arg::Array { elems, .. } => elems.iter().for_each(|e| e.leaves(out)),
            Arg::Record(fields) => fields.iter().for_each(|f| f.leaves(out)),
            Arg::Constant(_) | Arg::Expr(_) => {}
            Arg::Function(_, bound) => bound.iter().for_each(|(_, a)| a.leaves(out)),
        }
    }

    pub(crate) fn same_shape(&self, other: &Arg) -> bool {
        match (self, other) {
            (Arg::Scalar { .. }, Arg::Scalar { .. }) => true,
            (Arg::Array { dims: a, elems: x }, Arg::Array { dims: b, elems: y }) => {
                a == b && x.iter().zip(y).all(|(x, y)| x.same_shape(y))
            }
            (Arg::Record(x), Arg::Record(y)) => {
                x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.same_shape(y))
            }
            _ => false,
        }
    }

    /// The same shape on other registers, in leaf order.
    pub(crate) fn with_registers(&self, next: &mut RangeFrom<Reg>) -> Option<Arg> {
        Some(match self {
            Arg::Scalar { base, .. } => Arg::Scalar {
                reg: next.next()?,
                base: *base,
            },
            Arg::Array { dims, elems } => Arg::Array {
                dims: dims.clone(),
                elems: elems
                    .iter()
                    .map(|e| e.with_registers(next))
                    .collect::<Option<_>>()?,
            },
            Arg::Record(fields) => Arg::Record(
                fields
                    .iter()
                    .map(|f| f.with_registers(next))
                    .collect::<Option<_>>()?,
            ),
            Arg::Constant(_) | Arg::Expr(_) | Arg::Function(..) => return None,
        })
    }
}

/// A call with the registers of its arguments and of those outputs that are used.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct CallSite {
    pub(crate) function: FuncId,
    pub(crate) args: Vec<Arg>,
    /// First register and number of leaves.
    pub(crate) outputs: Vec<Option<(Reg, u32)>>,
    /// The code of the function; without it the evaluator carries out the call.
    pub(crate) target: Option<Target>,
}

/// The code that a call runs, and where its inputs are.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Target {
    /// Number of the function among those of the program.
    pub(crate) function: u32,
    /// The registers of the inputs, and whether they are Real: Integers and Booleans do not move with the unknowns.
    pub(crate) inputs: Vec<(Reg, bool)>,
}

/// Number of scalars in a value of this type.
pub(crate) fn leaf_count(ir: &Ir, ty: TypeId) -> Option<usize> {
    let ty = ir.type_of_id(ty);
    let n: usize = ty.known_dims()?.iter().product();
    let each = match ty.base {
        Base::Record(r) => {
            let mut sum = 0;
            for field in &ir.records[r].fields {
                sum += leaf_count(ir, field.ty)?;
            }
            sum
        }
        _ => 1,
    };
    Some(n * each)
}

/// Carries out a call; results go to registers.
pub(crate) fn call<N: Num>(
    cx: &Context,
    work: &mut Work,
    site: &CallSite,
    regs: &mut [N],
    values: &mut Values,
) -> Result<(), FaultKind> {
    let args = build_args(cx, work, site, values, &mut |reg| {
        regs[reg as usize].value()
    })?;
    let results = crate::evaluate::call(cx, work, site.function, args)?;
    let mut numbers = Vec::new();
    for (output, place) in site.outputs.iter().enumerate() {
        let Some((base, n)) = place else { continue };
        numbers.clear();
        leaves_of(work, results.get(output), *n, &mut numbers)?;
        for (i, &x) in numbers.iter().enumerate() {
            regs[*base as usize + i] = N::constant(x);
        }
    }
    let lanes = regs.first().map_or(0, |r| r.lanes().len());
    if lanes > 0 {
        directional(cx, work, site, regs, values, lanes)?;
    }
    Ok(())
}

/// Step of the central difference, relative to the argument: the cube root of the machine epsilon balances truncation and
/// rounding.
const DIFFERENCE_STEP: f64 = 6.0e-6;

/// The step along a direction that keeps every argument within a small relative distance, from the value and the lane of each; no
/// step if no argument moves.
pub(crate) fn difference_step(moves: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let h = moves.fold(f64::INFINITY, |h, (x, d)| {
        if d == 0.0 {
            h
        } else {
            h.min(DIFFERENCE_STEP * x.abs().max(1.0) / d.abs())
        }
    });
    (h < f64::INFINITY).then_some(h)
}

/// Directional derivatives of a call's results: (f(x + h·d) - f(x - h·d)) / 2h, per lane.
fn directional<N: Num>(
    cx: &Context,
    work: &mut Work,
    site: &CallSite,
    regs: &mut [N],
    values: &mut Values,
    lanes: usize,
) -> Result<(), FaultKind> {
    let mut inputs = Vec::new();
    site.args.iter().for_each(|a| real_leaves(a, &mut inputs));
    for lane in 0..lanes {
        let moves = inputs.iter().map(|&reg| {
            let n = &regs[reg as usize];
            (n.value(), n.lanes()[lane])
        });
        let Some(h) = difference_step(moves) else {
            continue;
        };
        let mut side = |step: f64, work: &mut Work| -> Result<Vec<f64>, FaultKind> {
            let args = build_args(cx, work, site, values, &mut |reg| {
                let n = &regs[reg as usize];
                let d = n.lanes()[lane];
                if d == 0.0 {
                    n.value()
                } else {
                    n.value() + step * d
                }
            })?;
            let results = crate::evaluate::call(cx, work, site.function, args)?;
            let mut out = Vec::new();
            for (output, place) in site.outputs.iter().enumerate() {
                if let Some((_, n)) = place {
                    leaves_of(work, results.get(output), *n, &mut out)?;
                }
            }
            Ok(out)
        };
        // One-sided where the function is not defined on the other side.
        let (right, left) = (side(h, work), side(-h, work));
        let mut centre = Vec::new();
        for (base, n) in site.outputs.iter().flatten() {
            centre.extend((0..*n).map(|i| regs[(base + i) as usize].value()));
        }
        let (right, left, width) = match (right, left) {
            (Ok(right), Ok(left)) => (right, left, 2.0 * h),
            (Ok(right), Err(_)) => (right, centre, h),
            (Err(_), Ok(left)) => (centre, left, h),
            (Err(kind), Err(_)) => return Err(kind),
        };
        let mut k = 0;
        for (base, n) in site.outputs.iter().flatten() {
            for i in 0..*n {
                regs[(base + i) as usize].set_lane(lane, (right[k] - left[k]) / width);
                k += 1;
            }
        }
    }
    Ok(())
}

/// Registers of the Real arguments: Integers and Booleans do not move with the unknowns.
fn real_leaves(arg: &Arg, out: &mut Vec<Reg>) {
    match arg {
        Arg::Scalar {
            reg,
            base: Base::Real,
        } => out.push(*reg),
        Arg::Array { elems, .. } => elems.iter().for_each(|e| real_leaves(e, out)),
        Arg::Record(fields) => fields.iter().for_each(|f| real_leaves(f, out)),
        Arg::Function(_, bound) => bound.iter().for_each(|(_, a)| real_leaves(a, out)),
        Arg::Scalar { .. } | Arg::Constant(_) | Arg::Expr(_) => {}
    }
}

fn build_args(
    cx: &Context,
    work: &mut Work,
    site: &CallSite,
    values: &mut Values,
    read: &mut dyn FnMut(Reg) -> f64,
) -> Result<Vec<Value>, FaultKind> {
    site.args
        .iter()
        .map(|a| build(cx, work, a, values, read))
        .collect()
}

fn build(
    cx: &Context,
    work: &mut Work,
    arg: &Arg,
    values: &mut Values,
    read: &mut dyn FnMut(Reg) -> f64,
) -> Result<Value, FaultKind> {
    Ok(match arg {
        Arg::Scalar { reg, base } => from_number(&work.texts, read(*reg), *base),
        Arg::Array { dims, elems } => {
            let mut out = Vec::with_capacity(elems.len());
            for elem in elems {
                out.push(build(cx, work, elem, values, read)?);
            }
            Value::array(dims.clone(), out)
        }
        Arg::Record(fields) => {
            let mut out = Vec::with_capacity(fields.len());
            for field in fields {
                out.push(build(cx, work, field, values, read)?);
            }
            Value::Record(out.into())
        }
        Arg::Constant(value) => value.clone(),
        Arg::Expr(e) => crate::evaluate::expression(cx, work, *e, values)?,
        Arg::Function(f, bound) => {
            let mut out = Vec::with_capacity(bound.len());
            for (position, arg) in bound {
                out.push((*position, build(cx, work, arg, values, read)?));
            }
            Value::Function(*f, out.into())
        }
    })
}

/// A slot's number as a value of its type.
pub(crate) fn from_number(texts: &Texts, x: f64, base: Base) -> Value {
    match base {
        Base::Real | Base::Clock | Base::Record(_) | Base::Function => Value::Real(x),
        Base::Integer => Value::Integer(x as i64),
        Base::Boolean => Value::Boolean(x != 0.0),
        Base::Enum(id) => Value::Enum(id, x as u32),
        Base::String => Value::String(texts.get(x)),
        Base::Object(_) => Value::Object(x as u32),
    }
}

/// The scalars of a result, in leaf order.
fn leaves_of(
    work: &mut Work,
    value: Option<&Option<Value>>,
    n: u32,
    out: &mut Vec<f64>,
) -> Result<(), FaultKind> {
    let before = out.len();
    match value {
        Some(Some(value)) => flatten(work, value, out)?,
        _ => {
            return Err(FaultKind::Range(
                "a function did not assign one of its outputs".into(),
            ));
        }
    }
    let found = out.len() - before;
    if found != n as usize {
        return Err(FaultKind::Range(format!(
            "a function returned {found} numbers where {n} were expected"
        )));
    }
    Ok(())
}

fn flatten(work: &mut Work, value: &Value, out: &mut Vec<f64>) -> Result<(), FaultKind> {
    match value {
        Value::Array(a) => a.elems.iter().try_for_each(|v| flatten(work, v, out)),
        Value::Record(fields) => fields.iter().try_for_each(|v| flatten(work, v, out)),
        scalar => {
            out.extend(to_number(work, scalar)?);
            Ok(())
        }
    }
}

/// The number by which a scalar value is kept; `None` for arrays and records.
fn to_number(work: &mut Work, value: &Value) -> Result<Option<f64>, FaultKind> {
    Ok(match value {
        Value::String(text) => Some(work.texts.intern(text)),
        Value::Integer(n) => Some(double_of(*n).map_err(domain_fault)?),
        other => other.as_f64(),
    })
}

/// A scalar expression by the evaluator.
pub(crate) fn evaluate_scalar(
    cx: &Context,
    work: &mut Work,
    expr: ExprId,
    values: &mut Values,
) -> Result<f64, FaultKind> {
    let value = crate::evaluate::expression(cx, work, expr, values)?;
    to_number(work, &value)?
        .ok_or_else(|| FaultKind::Range("an array where a number is needed".into()))
}

/// The text of a message; what went wrong with it if it cannot be computed.
pub(crate) fn message(cx: &Context, work: &mut Work, expr: ExprId, values: &mut Values) -> String {
    match crate::evaluate::expression(cx, work, expr, values) {
        Ok(Value::String(text)) => text.to_string(),
        Ok(other) => format!("{other:?}"),
        Err(kind) => format!("(the message could not be computed: {kind:?})"),
    }
}

/// A table function on registers.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct TableCall {
    pub(crate) function: TableFunction,
    /// Register and expression of each argument, in the order of the external function.
    pub(crate) args: Vec<(Reg, ExprId)>,
    pub(crate) dst: Reg,
}

/// The table function behind a Modelica function, if all it does is to pass its scalar inputs on.
pub(crate) fn table_call(ir: &Ir, function: FuncId, args: &[ExprId]) -> Option<TableCall> {
    let f = &ir.functions[function];
    let FunctionBody::External(external) = &f.body else {
        return None;
    };
    let function = TableFunction::by_name(external.name.as_str())?;
    let mut passed = Vec::new();
    for arg in &external.args {
        let ExternalArg::Value(e) = arg else {
            return None;
        };
        let Expr::Local(local) = ir.expr(*e) else {
            return None;
        };
        let position = f.inputs.iter().position(|i| i == local)?;
        let arg = *args.get(position)?;
        if !ir.ty(arg).is_scalar() {
            return None;
        }
        passed.push((0, arg));
    }
    (passed.len() == function.n_args()).then_some(TableCall {
        function,
        args: passed,
        dst: 0,
    })
}

/// Carries out a table look-up, with exact derivatives where dual numbers ask for them.
pub(crate) fn table<N: Num>(
    work: &mut Work,
    call: &TableCall,
    regs: &mut [N],
) -> Result<(), FaultKind> {
    /// No table function has more arguments.
    const ARGS_MAX: usize = 8;
    let mut args = [0.0; ARGS_MAX];
    let n = call.args.len();
    for (arg, (reg, _)) in args.iter_mut().zip(&call.args) {
        *arg = regs[*reg as usize].value();
    }
    let value = work
        .objects
        .table(call.function, &args[..n])
        .map_err(FaultKind::External)?;
    let mut result = N::constant(value);
    let lanes = result.lanes().len();
    for lane in 0..lanes {
        let mut directions = [0.0; ARGS_MAX];
        for (d, (reg, _)) in directions.iter_mut().zip(&call.args) {
            *d = regs[*reg as usize].lanes()[lane];
        }
        if directions.iter().any(|&d| d != 0.0) {
            let derivative = work
                .objects
                .table_derivative(call.function, &args[..n], &directions[..n])
                .map_err(FaultKind::External)?;
            result.set_lane(lane, derivative);
        }
    }
    regs[call.dst as usize] = result;
    Ok(())
}
