//! Algorithms of functions to tapes.
//!
//! Comes in: a function and the shape of its arguments. Goes out: a [`FunctionCode`]. A local variable stands for the value it has
//! at this place ([`Binding`]): a tree of registers, or a constant. An assignment binds the variable anew; registers are not
//! changed. Where branches meet, and around loops, the variables that are assigned there get registers of their own, which
//! each branch and each pass writes (the φ of static single assignment). What is constant with the constants bound so far is
//! computed by the evaluator here and now: sizes, ranges, conditions, table data. Short loops over constant ranges are
//! unrolled.
//!
//! An error means: this function is left to the evaluator.

mod constants;
mod iteration;
mod parts;
mod shapes;
mod statements;
mod values;

use crate::calls::Arg;
use crate::functions::{FunctionCode, FunctionTable, Tiers};
use crate::layout::Layout;
use crate::lower::{Lower, LowerError};
use crate::tape::{Op, Reg};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::eval::zero_value;
use saltus_ir::flat::FlatModel;
use saltus_ir::func::FunctionBody;
use saltus_ir::{Base, Dim, ExprId, FuncId, LocalId, Type, Value};
use saltus_model::Site;
use shapes::{coerced, dims_of};
use std::cell::RefCell;

/// A loop is unrolled if this bounds the number of passes times the nodes of its body.
const UNROLL_MAX: usize = 6_000;
/// Passes that a loop inside a loop is taken to have when the nodes of a body are counted.
const INNER_PASSES: usize = 8;
/// Longest code of a function.
const OPS_MAX: usize = 60_000;
/// Passes of one loop, after which the evaluator takes over.
const PASSES_MAX: f64 = 1e6;
/// Sums and products of Integers are computed on doubles: up to this size, 2^53, the result is exact.
const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;
/// Elements of an array that a loop or a comprehension makes.
const ELEMENTS_MAX: usize = 10_000;

/// What a local variable is at the present place.
#[derive(Clone, Debug)]
enum Binding {
    Unassigned,
    Known(Arg),
    /// Assigned on some of the ways to here: where the flag holds.
    Maybe(Reg, Arg),
}

/// The state of a function that is being lowered.
#[derive(Debug, Default)]
pub(super) struct Locals {
    bindings: FxHashMap<LocalId, Binding>,
    /// Whether an expression is constant with the present bindings.
    constant: FxHashMap<ExprId, bool>,
    /// Iterators of comprehensions around the expression that is examined.
    iterators: FxHashSet<LocalId>,
    loops: Vec<Loop>,
    /// Jumps to the end of the function.
    returns: Vec<usize>,
    results: Vec<LocalId>,
    /// The registers that the results get at the end.
    outputs: Vec<Option<Arg>>,
    iterates: bool,
}

/// A loop whose passes are made at run time.
#[derive(Debug)]
struct Loop {
    carried: Vec<Carried>,
    breaks: Vec<usize>,
}

/// A variable on registers that several places write.
#[derive(Clone, Debug)]
struct Carried {
    local: LocalId,
    flag: Option<Reg>,
    arg: Arg,
}

impl Carried {
    fn binding(&self) -> Binding {
        match self.flag {
            Some(flag) => Binding::Maybe(flag, self.arg.clone()),
            None => Binding::Known(self.arg.clone()),
        }
    }
}

/// The code of `function` for arguments of these shapes, whose registers are numbered from 0 in leaf order.
pub(crate) fn lower_function(
    flat: &FlatModel,
    layout: &Layout,
    functions: &RefCell<FunctionTable>,
    function: FuncId,
    args: Vec<Arg>,
) -> Result<FunctionCode, LowerError> {
    let mut lower = Lower::new(flat, layout, functions, Site(0));
    lower.locals = Some(Box::default());
    let mut leaves = Vec::new();
    args.iter().for_each(|a| a.leaves(&mut leaves));
    lower.tape.is_function = true;
    lower.tape.n_inputs = leaves.len() as u32;
    lower.tape.n_regs = leaves.len() as u32;
    let f = &flat.ir.functions[function];
    let FunctionBody::Algorithm(body) = &f.body else {
        return Err("a function without an algorithm".into());
    };
    for (&input, arg) in f.inputs.iter().zip(args) {
        let ty = flat.ir.type_of_id(flat.ir.locals[input].ty);
        lower.check_size(ty, &arg)?;
        let arg = coerced(arg, ty.base);
        lower.bind(input, Binding::Known(arg));
    }
    let own: Vec<LocalId> = f.outputs.iter().chain(&f.protected).copied().collect();
    lower.initialise(own)?;
    lower.locals_mut().outputs = vec![None; f.outputs.len()];
    lower.locals_mut().results = f.outputs.clone();
    if lower.statements(body)? {
        lower.give_outputs()?;
    }
    let state = lower
        .locals
        .take()
        .expect("a function has locals, set above");
    for jump in state.returns {
        lower.land(jump);
    }
    let mut outputs = Vec::new();
    for arg in state.outputs {
        // None where every way through the function fails.
        let arg = arg.ok_or("a function that never returns")?;
        let mut regs = Vec::new();
        arg.leaves(&mut regs);
        let base = regs.first().copied().unwrap_or(0);
        lower.tape.outputs.push((base, regs.len() as u32));
        outputs.push(arg);
    }
    Ok(FunctionCode {
        tape: lower.finish(),
        outputs,
        iterates: state.iterates,
        tiers: Tiers::default(),
    })
}

impl Lower<'_> {
    fn locals_mut(&mut self) -> &mut Locals {
        self.locals.get_or_insert_default()
    }

    /// Whether the evaluator can compute expressions here: not from the registers of a function.
    pub(super) fn evaluable(&self) -> Result<(), LowerError> {
        match self.locals {
            None => Ok(()),
            Some(_) => Err("an expression that only the evaluator can compute".into()),
        }
    }

    // ---- bindings ----

    fn bind(&mut self, local: LocalId, binding: Binding) {
        self.memo.clear();
        self.integers.clear();
        self.calls.clear();
        let state = self.locals_mut();
        state.constant.clear();
        state.bindings.insert(local, binding);
    }

    /// The value of a local; gives up at run time where it has none.
    fn local(&mut self, local: LocalId) -> Result<Arg, LowerError> {
        let name = || self.flat.ir.locals[local].name.as_str().to_owned();
        let Some(state) = &self.locals else {
            return Err(format!("`{}` has no value here", name()));
        };
        match state.bindings.get(&local) {
            Some(Binding::Known(arg)) => Ok(arg.clone()),
            Some(Binding::Maybe(flag, arg)) => {
                let (flag, arg) = (*flag, arg.clone());
                self.emit(Op::Check { c: flag });
                Ok(arg)
            }
            Some(Binding::Unassigned) => {
                let ty = self.ir().type_of_id(self.ir().locals[local].ty).clone();
                self.give_up();
                let zero = zero_value(self.ir(), ty.base, &[]).filter(|_| ty.is_scalar());
                zero.map(Arg::Constant)
                    .ok_or_else(|| format!("`{}` is read before it is assigned", name()))
            }
            None => Err(format!("`{}` has no value here", name())),
        }
    }

    /// From here on the evaluator carries out the call.
    fn give_up(&mut self) {
        self.emit(Op::Fail);
    }

    fn initialise(&mut self, mut pending: Vec<LocalId>) -> Result<(), LowerError> {
        while !pending.is_empty() {
            let mut waiting = Vec::new();
            for &local in &pending {
                let declaration = &self.ir().locals[local];
                let sizes = declaration.dims.iter().flatten().copied();
                let mut needs = Vec::new();
                for e in sizes.chain(declaration.default) {
                    self.free_locals(e, &mut needs);
                }
                if needs
                    .iter()
                    .any(|l| *l != local && pending.contains(l) && !self.has(*l))
                {
                    waiting.push(local);
                } else {
                    let binding = self.initial(local)?;
                    self.bind(local, binding);
                }
            }
            if waiting.len() == pending.len() {
                return Err("initial values that depend on each other".into());
            }
            pending = waiting;
        }
        Ok(())
    }

    fn has(&self, local: LocalId) -> bool {
        (self.locals.as_ref()).is_some_and(|state| state.bindings.contains_key(&local))
    }

    fn initial(&mut self, local: LocalId) -> Result<Binding, LowerError> {
        let ir = self.ir();
        let declaration = &ir.locals[local];
        let ty = ir.type_of_id(declaration.ty);
        if let Some(default) = declaration.default {
            let value = self.value(default)?;
            return Ok(Binding::Known(coerced(value, ty.base)));
        }
        if ty.is_scalar() && !matches!(ty.base, Base::Record(_)) {
            return Ok(Binding::Unassigned);
        }
        let mut dims = Vec::new();
        for (k, dim) in ty.dims.iter().enumerate() {
            dims.push(match (dim, declaration.dims.get(k)) {
                (Dim::Known(n), _) => *n as usize,
                (Dim::Unknown, Some(Some(size))) => match self.known_value(*size) {
                    Some(Value::Integer(n)) if n >= 0 && n as usize <= ELEMENTS_MAX => n as usize,
                    _ => return Err("an array whose size is not known".into()),
                },
                (Dim::Unknown, _) => 0,
            });
        }
        let zero = zero_value(ir, ty.base, &dims).ok_or("a variable without a zero")?;
        Ok(Binding::Known(Arg::Constant(zero)))
    }

    fn check_size(&self, ty: &Type, arg: &Arg) -> Result<(), LowerError> {
        let dims = dims_of(arg);
        let fits = dims.len() == ty.dims.len()
            && dims.iter().zip(&ty.dims).all(|(&n, d)| match d {
                Dim::Known(known) => *known as usize == n,
                Dim::Unknown => true,
            });
        if fits {
            Ok(())
        } else {
            Err("an array of another size than declared".into())
        }
    }
}
