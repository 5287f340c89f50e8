//! Modelica functions as tapes, and how they are called.
//!
//! Comes in: a function and the shape of its arguments. Goes out: a [`FunctionCode`], made once for each shape
//! ([`FunctionTable`]): array sizes, function arguments, Integer, Boolean and String constants and constant arrays and records
//! belong to the shape; Real numbers are inputs. The algorithm becomes operations on registers ([`crate::lower`]); the
//! registers of a call lie behind those of its caller, so that calls allocate nothing.
//!
//! Code of a function computes what the evaluator of `saltus-ir` computes, or gives up: at a failed assertion, an argument outside
//! the domain of an operation, a variable without a value. The evaluator then carries out the call from its start and says what
//! is wrong. A function for which there is no code at all (strings, effects, recursion) is always evaluated.
//!
//! Derivatives: the code runs on dual numbers. A function that iterates until a Real number which it computes itself is good enough has
//! difference quotients instead, because the number of passes, and with it the derivative of the last one, says little about the
//! derivative of the limit (see `lower/function/iteration.rs`).

use crate::calls::{Arg, CallSite, Target, difference_step};
use crate::code::Tier;
use crate::layout::Layout;
use crate::lower::{LowerError, lower_function};
use crate::num::Num;
use crate::tape::{Reg, Tape};
use crate::work::{Context, Work};
use rustc_hash::FxHashMap;
use saltus_ir::flat::FlatModel;
use saltus_ir::func::FunctionBody;
use saltus_ir::{Base, FuncId, Value};
use saltus_model::{Fault, FaultKind, Values};
use std::cell::RefCell;
use std::ops::RangeFrom;

/// Shapes of arguments for which a function gets code with all constants; later ones have numbers as inputs.
const SHAPES_MAX: u32 = 24;
/// Functions that call each other to this depth have code.
const CALL_DEPTH_MAX: u32 = 40;

/// The code of a function for one shape of arguments.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct FunctionCode {
    pub(crate) tape: Tape,
    /// Each output on the registers of the tape.
    pub(crate) outputs: Vec<Arg>,
    /// Derivatives are difference quotients.
    pub(crate) iterates: bool,
    #[serde(skip)]
    pub(crate) tiers: Tiers,
}

/// Machine code on plain numbers, and with two, four, eight directions.
#[derive(Debug, Default)]
pub(crate) struct Tiers([Tier; 4]);

impl Tiers {
    fn of(&self, lanes: usize) -> &Tier {
        match lanes {
            0 => &self.0[0],
            1..=2 => &self.0[1],
            3..=4 => &self.0[2],
            _ => &self.0[3],
        }
    }
}

impl FunctionCode {
    /// Runs the code on registers whose first ones are the inputs.
    fn run<N: Num>(
        &self,
        cx: &Context,
        work: &mut Work,
        regs: &mut [N],
        values: &mut Values,
    ) -> Result<(), Box<Fault>> {
        let tape = &self.tape;
        match self.tiers.of(N::LANES).code(&cx.how, tape, N::LANES) {
            Some(code) => {
                let no_seeds = std::ptr::null();
                code.run(tape, cx, work, regs, values, &mut [], 0, no_seeds)
            }
            None => tape.run(tape.whole(), cx, work, regs, values, &mut [], 0),
        }
    }
}

/// Carries out a call from `tape`; results go to registers.
pub(crate) fn call<N: Num>(
    cx: &Context,
    work: &mut Work,
    tape: &Tape,
    site: &CallSite,
    regs: &mut [N],
    values: &mut Values,
) -> Result<(), FaultKind> {
    if let Some(target) = &site.target {
        let function = &cx.functions[target.function as usize];
        let (own, behind) = regs.split_at_mut(tape.n_regs as usize);
        let done = if N::LANES > 0 && function.iterates {
            differences(cx, work, function, target, site, own, values)
        } else {
            for (to, (from, _)) in behind.iter_mut().zip(&target.inputs) {
                *to = own[*from as usize];
            }
            let status = function.run(cx, work, behind, values);
            if status.is_ok() {
                for ((to, n), (from, _)) in results(site, function) {
                    let from = &behind[from as usize..][..n as usize];
                    own[to as usize..][..n as usize].copy_from_slice(from);
                }
            }
            status
        };
        if done.is_ok() {
            return Ok(());
        }
        work.gave_up += 1;
    }
    crate::calls::call(cx, work, site, regs, values)
}

/// Registers of the caller and of the function, of each output that is used.
fn results<'a>(
    site: &'a CallSite,
    function: &'a FunctionCode,
) -> impl Iterator<Item = ((Reg, u32), (Reg, u32))> + 'a {
    let pairs = site.outputs.iter().zip(&function.tape.outputs);
    pairs.filter_map(|(to, from)| to.map(|to| (to, *from)))
}

/// Values, and (f(x + h·d) - f(x - h·d)) / 2h for each lane d.
fn differences<N: Num>(
    cx: &Context,
    work: &mut Work,
    function: &FunctionCode,
    target: &Target,
    site: &CallSite,
    regs: &mut [N],
    values: &mut Values,
) -> Result<(), Box<Fault>> {
    let mut frame = std::mem::take(&mut work.frame);
    let mut side = std::mem::take(&mut work.side);
    frame.resize(frame.len().max(function.tape.frame as usize), 0.0);
    let mut at = |step: f64, lane: usize, regs: &[N], frame: &mut [f64], work: &mut Work| {
        for (to, (from, real)) in frame.iter_mut().zip(&target.inputs) {
            let n = &regs[*from as usize];
            *to = n.value();
            if *real && step != 0.0 && n.lanes()[lane] != 0.0 {
                *to += step * n.lanes()[lane];
            }
        }
        function.run(cx, work, frame, values)
    };
    let mut status = at(0.0, 0, regs, &mut frame, work);
    if status.is_ok() {
        for ((to, n), (from, _)) in results(site, function) {
            for i in 0..n {
                regs[(to + i) as usize] = N::constant(frame[(from + i) as usize]);
            }
        }
    }
    for lane in 0..N::LANES {
        if status.is_err() {
            break;
        }
        let inputs = target.inputs.iter().filter(|(_, real)| *real);
        let moves = inputs.map(|(reg, _)| {
            let n = &regs[*reg as usize];
            (n.value(), n.lanes()[lane])
        });
        let Some(h) = difference_step(moves) else {
            continue;
        };
        status = at(h, lane, regs, &mut frame, work);
        if status.is_err() {
            break;
        }
        side.clear();
        for (_, (from, n)) in results(site, function) {
            side.extend_from_slice(&frame[from as usize..][..n as usize]);
        }
        status = at(-h, lane, regs, &mut frame, work);
        if status.is_err() {
            break;
        }
        let mut right = side.iter();
        for ((to, n), (from, _)) in results(site, function) {
            for (i, right) in (0..n).zip(&mut right) {
                let left = frame[(from + i) as usize];
                regs[(to + i) as usize].set_lane(lane, (right - left) / (2.0 * h));
            }
        }
    }
    work.frame = frame;
    work.side = side;
    status
}

/// What became of the functions that a model calls while it runs.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct FunctionReport {
    /// Functions with code, counted once for each shape of arguments.
    pub coded: usize,
    /// Functions that are evaluated, with the reason; in the order of their names.
    pub evaluated: Vec<(String, String)>,
}

/// The functions of a program while it is made.
#[derive(Default)]
pub(crate) struct FunctionTable {
    codes: Vec<FunctionCode>,
    /// By function and shape of the arguments. `None`: there is no code, or it is being made.
    known: FxHashMap<(FuncId, String), Option<u32>>,
    shapes: FxHashMap<FuncId, u32>,
    depth: u32,
    /// Functions that only the evaluator can carry out, with the reason.
    evaluated: FxHashMap<FuncId, LowerError>,
}

impl FunctionTable {
    pub(crate) fn finish(self, flat: &FlatModel) -> (Vec<FunctionCode>, FunctionReport) {
        let named = self.evaluated.into_iter();
        let mut evaluated: Vec<(String, String)> = named
            .map(|(f, reason)| (flat.ir.functions[f].name.as_str().to_owned(), reason))
            .collect();
        evaluated.sort();
        let report = FunctionReport {
            coded: self.codes.len(),
            evaluated,
        };
        (self.codes, report)
    }

    pub(crate) fn code(&self, function: u32) -> &FunctionCode {
        &self.codes[function as usize]
    }
}

/// The code for a call of `function`, and its inputs; `None` if there is no code for it.
pub(crate) fn target(
    table: &RefCell<FunctionTable>,
    flat: &FlatModel,
    layout: &Layout,
    function: FuncId,
    args: &mut [Arg],
    constant: &mut dyn FnMut(f64) -> Reg,
) -> Option<Target> {
    let f = &flat.ir.functions[function];
    if f.impure || !matches!(f.body, FunctionBody::Algorithm(_)) {
        return None;
    }
    if args.len() != f.inputs.len() || args.iter().any(has_expressions) {
        return None;
    }
    let many = table.borrow().shapes.get(&function).copied() >= Some(SHAPES_MAX);
    for arg in &mut *args {
        *arg = with_inputs(
            std::mem::replace(arg, Arg::Record(Vec::new())),
            many,
            constant,
        );
    }
    let shapes: Vec<Arg> = {
        let mut next = 0..;
        args.iter().map(|a| renumbered(a, &mut next)).collect()
    };
    let key = (function, format!("{shapes:?}"));
    let known = table.borrow().known.get(&key).copied();
    let number = match known {
        Some(number) => number?,
        None => {
            {
                let mut table = table.borrow_mut();
                if table.depth >= CALL_DEPTH_MAX {
                    return None;
                }
                table.depth += 1;
                *table.shapes.entry(function).or_default() += 1;
                table.known.insert(key.clone(), None);
            }
            let code = lower_function(flat, layout, table, function, shapes);
            let mut table = table.borrow_mut();
            table.depth -= 1;
            match code {
                Ok(code) => {
                    let number = table.codes.len() as u32;
                    table.codes.push(code);
                    table.known.insert(key, Some(number));
                    number
                }
                Err(reason) => {
                    table.evaluated.insert(function, reason);
                    return None;
                }
            }
        }
    };
    let mut inputs = Vec::new();
    args.iter().for_each(|a| input_leaves(a, &mut inputs));
    Some(Target {
        function: number,
        inputs,
    })
}

fn has_expressions(arg: &Arg) -> bool {
    match arg {
        Arg::Expr(_) => true,
        Arg::Scalar { .. } | Arg::Constant(_) => false,
        Arg::Array { elems, .. } => elems.iter().any(has_expressions),
        Arg::Record(fields) => fields.iter().any(has_expressions),
        Arg::Function(_, bound) => bound.iter().any(|(_, a)| has_expressions(a)),
    }
}

/// Real constants become inputs, but for those in constant arrays and records; with `many` all numbers do.
fn with_inputs(arg: Arg, many: bool, constant: &mut dyn FnMut(f64) -> Reg) -> Arg {
    match arg {
        Arg::Constant(value) => match scalar_input(&value, many) {
            Some((x, base)) => Arg::Scalar {
                reg: constant(x),
                base,
            },
            None if many && matches!(value, Value::Array(_) | Value::Record(_)) => {
                with_inputs(exploded(&value), many, constant)
            }
            None => Arg::Constant(value),
        },
        Arg::Array { dims, elems } => Arg::Array {
            dims,
            elems: elems
                .into_iter()
                .map(|a| with_inputs(a, many, constant))
                .collect(),
        },
        Arg::Record(fields) => Arg::Record(
            fields
                .into_iter()
                .map(|a| with_inputs(a, many, constant))
                .collect(),
        ),
        Arg::Function(f, bound) => Arg::Function(
            f,
            bound
                .into_iter()
                .map(|(k, a)| (k, with_inputs(a, many, constant)))
                .collect(),
        ),
        other @ (Arg::Scalar { .. } | Arg::Expr(_)) => other,
    }
}

fn scalar_input(value: &Value, many: bool) -> Option<(f64, Base)> {
    match value {
        Value::Real(x) => Some((*x, Base::Real)),
        Value::Integer(i) if many => Some((*i as f64, Base::Integer)),
        Value::Boolean(b) if many => Some((f64::from(u8::from(*b)), Base::Boolean)),
        Value::Enum(id, k) if many => Some((f64::from(*k), Base::Enum(*id))),
        _ => None,
    }
}

/// A constant array or record as its parts.
pub(crate) fn exploded(value: &Value) -> Arg {
    match value {
        Value::Array(a) => Arg::Array {
            dims: a.dims.clone(),
            elems: a.elems.iter().cloned().map(Arg::Constant).collect(),
        },
        Value::Record(fields) => Arg::Record(fields.iter().cloned().map(Arg::Constant).collect()),
        scalar => Arg::Constant(scalar.clone()),
    }
}

/// The same on registers in leaf order.
fn renumbered(arg: &Arg, next: &mut RangeFrom<Reg>) -> Arg {
    match arg {
        Arg::Scalar { base, .. } => Arg::Scalar {
            reg: next.next().unwrap_or(Reg::MAX),
            base: *base,
        },
        Arg::Array { dims, elems } => Arg::Array {
            dims: dims.clone(),
            elems: elems.iter().map(|a| renumbered(a, next)).collect(),
        },
        Arg::Record(fields) => Arg::Record(fields.iter().map(|a| renumbered(a, next)).collect()),
        Arg::Function(f, bound) => Arg::Function(
            *f,
            bound
                .iter()
                .map(|(k, a)| (*k, renumbered(a, next)))
                .collect(),
        ),
        Arg::Constant(_) | Arg::Expr(_) => arg.clone(),
    }
}

fn input_leaves(arg: &Arg, out: &mut Vec<(Reg, bool)>) {
    match arg {
        Arg::Scalar { reg, base } => out.push((*reg, *base == Base::Real)),
        Arg::Array { elems, .. } => elems.iter().for_each(|a| input_leaves(a, out)),
        Arg::Record(fields) => fields.iter().for_each(|a| input_leaves(a, out)),
        Arg::Function(_, bound) => bound.iter().for_each(|(_, a)| input_leaves(a, out)),
        Arg::Constant(_) | Arg::Expr(_) => {}
    }
}
