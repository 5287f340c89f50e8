//! The linear register tape and its interpreter.
//!
//! Comes in: a [`Tape`] made by [`crate::lower`]. Goes out: values in slots, residuals, requests of event code. A tape is a
//! list of operations on registers; registers are written before they are read on every path (the lowering keeps a scope
//! per branch). Jumps backward occur in functions only, and their loops are counted, so a run ends. The same interpreter runs
//! on `f64` and on dual numbers ([`Num`]). A function that is called has its registers behind those of its caller
//! ([`Tape::frame`]).
//!
//! Faults: a domain error or a non-finite stored value stops the tape with the place of the operation.

use crate::num::Num;
use crate::work::{Context, Memory, Work};
use saltus_ir::ops::{self, DomainError};
use saltus_ir::{BinaryOp, Builtin, UnaryOp};
use saltus_model::{Fault, FaultKind, Site, Slot, Values};
use std::ops::Range;

pub(crate) type Reg = u32;

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Op {
    Const {
        dst: Reg,
        value: f64,
    },
    Load {
        dst: Reg,
        slot: u32,
    },
    /// An unknown of the block this tape belongs to, and the number of its direction. Unknowns that no residual shares may have the same.
    Unknown {
        dst: Reg,
        slot: u32,
        direction: u32,
    },
    Pre {
        dst: Reg,
        slot: u32,
    },
    /// Stores and checks that the value is finite.
    Store {
        src: Reg,
        slot: u32,
    },
    Copy {
        dst: Reg,
        src: Reg,
    },
    Neg {
        dst: Reg,
        a: Reg,
    },
    Add {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Sub {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Mul {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Div {
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Not {
        dst: Reg,
        a: Reg,
    },
    /// A mathematical built-in of one argument.
    Math1 {
        f: Builtin,
        dst: Reg,
        a: Reg,
    },
    /// Sine and cosine of the same number.
    SinCos {
        sin: Reg,
        cos: Reg,
        a: Reg,
    },
    /// A mathematical built-in of two arguments.
    Math2 {
        f: Builtin,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// Power, relations, `and`, `or`.
    Binary {
        f: BinaryOp,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// The Integer that a number of Integer type is. Its 64 bits take the place of the double's; so for all operations on Integers.
    ToInteger {
        dst: Reg,
        a: Reg,
    },
    /// `integer(a)`
    FloorToInteger {
        dst: Reg,
        a: Reg,
    },
    /// The double nearest to an Integer; `kept`: for a variable, which must be equal to it.
    FromInteger {
        dst: Reg,
        a: Reg,
        kept: bool,
    },
    /// `+`, `-`, `*` of Integers.
    IntegerBinary {
        f: BinaryOp,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// A relation between Integers; the result is a truth value as everywhere.
    IntegerRelation {
        f: BinaryOp,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// `abs`, `sign` of an Integer.
    IntegerMath1 {
        f: Builtin,
        dst: Reg,
        a: Reg,
    },
    /// `div`, `mod`, `rem`, `min`, `max` of Integers.
    IntegerMath2 {
        f: Builtin,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// `dst := if c then dst else e`, after `dst` has got the then-value.
    Select {
        dst: Reg,
        c: Reg,
        e: Reg,
    },
    Jump {
        to: u32,
    },
    JumpIfNot {
        c: Reg,
        to: u32,
    },
    JumpIf {
        c: Reg,
        to: u32,
    },
    /// Element `index` of a list of registers; see [`Tape::gathers`].
    Gather {
        dst: Reg,
        list: u32,
        index: Reg,
    },
    /// Element `index` of a list of slots.
    GatherSlots {
        dst: Reg,
        list: u32,
        index: Reg,
    },
    /// Element `index` of a list of registers gets `src`.
    Scatter {
        list: u32,
        index: Reg,
        src: Reg,
    },
    /// Element `index` of a list of constants; see [`Tape::constants`].
    Lookup {
        dst: Reg,
        list: u32,
        index: Reg,
    },
    /// Gives up where `c` does not hold: the evaluator then carries out the whole call. Only in functions.
    Check {
        c: Reg,
    },
    /// Gives up.
    Fail,
    /// Checks `1 ≤ a ≤ n` and that `a` is whole.
    CheckIndex {
        a: Reg,
        n: u32,
    },
    /// A function call through the evaluator; see [`Tape::calls`].
    Call {
        call: u32,
    },
    /// A table function without detour; see [`crate::calls::TableCall`].
    Table {
        call: u32,
    },
    /// A whole expression by the evaluator; see [`Tape::exprs`].
    Evaluate {
        dst: Reg,
        expr: u32,
    },
    Delay {
        dst: Reg,
        delay: u32,
        value: Reg,
        time: Reg,
        /// The longest delay; for a transport the direction.
        extra: Reg,
    },
    /// `out[index] := src`
    Out {
        src: Reg,
        index: u32,
    },
    Assert {
        c: Reg,
        assert: u32,
    },
    Reinit {
        src: Reg,
        slot: u32,
    },
    Terminate {
        message: u32,
    },
    /// `src := override of slot`, if there is one.
    Override {
        src: Reg,
        slot: u32,
    },
}

/// Code with what its operations refer to.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Tape {
    pub(crate) ops: Vec<Op>,
    /// The place of each operation.
    pub(crate) sites: Vec<Site>,
    pub(crate) n_regs: u32,
    /// Registers of this tape and, behind them, of the deepest chain of functions that it calls.
    pub(crate) frame: u32,
    pub(crate) is_function: bool,
    /// In a function: how many registers are its inputs. They come first.
    pub(crate) n_inputs: u32,
    /// In a function: first register and number of each output.
    pub(crate) outputs: Vec<(Reg, u32)>,
    /// Lists for `Gather` and `Scatter` (registers).
    pub(crate) gathers: Vec<Vec<Reg>>,
    /// Lists for `Lookup`.
    pub(crate) constants: Vec<Vec<f64>>,
    /// Lists for `GatherSlots`: slot and whether the value is negated.
    pub(crate) slot_lists: Vec<Vec<(u32, Sign)>>,
    pub(crate) calls: Vec<crate::calls::CallSite>,
    pub(crate) tables: Vec<crate::calls::TableCall>,
    pub(crate) exprs: Vec<saltus_ir::ExprId>,
    pub(crate) asserts: Vec<AssertSite>,
    pub(crate) messages: Vec<saltus_ir::ExprId>,
    /// An operation depends on the block's unknowns in a way that dual numbers do not follow.
    pub(crate) inexact: bool,
}

/// How the value of a variable follows from its slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Sign {
    Plain,
    /// Minus the slot.
    Negated,
    /// One minus the slot (Boolean).
    Complement,
}

impl Sign {
    pub(crate) fn apply(self, x: f64) -> f64 {
        match self {
            Sign::Plain => x,
            Sign::Negated => -x,
            Sign::Complement => 1.0 - x,
        }
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct AssertSite {
    pub(crate) condition: saltus_ir::ExprId,
    pub(crate) message: saltus_ir::ExprId,
    pub(crate) warning: bool,
    /// Number of this assertion in the model, for warning once per violation.
    pub(crate) number: u32,
}

impl Tape {
    /// Interprets the operations in `range`; a run of the whole tape has all of them.
    pub(crate) fn run<N: Num>(
        &self,
        range: Range<usize>,
        cx: &Context,
        work: &mut Work,
        regs: &mut [N],
        values: &mut Values,
        out: &mut [N],
        first: usize,
    ) -> Result<(), Box<Fault>> {
        let ops = &self.ops[..range.end];
        let mut pc = range.start;
        while let Some(op) = ops.get(pc) {
            pc += 1;
            match *op {
                Op::Const { dst, value } => regs[dst as usize] = N::constant(value),
                Op::Load { dst, slot } => regs[dst as usize] = N::constant(values.v[slot as usize]),
                Op::Unknown {
                    dst,
                    slot,
                    direction,
                } => {
                    regs[dst as usize] =
                        N::seed(values.v[slot as usize], direction as usize, first);
                }
                Op::Pre { dst, slot } => {
                    regs[dst as usize] = N::constant(values.pre[slot as usize])
                }
                Op::Store { src, slot } => {
                    let x = regs[src as usize].value();
                    values.v[slot as usize] = x;
                    if !x.is_finite() {
                        return Err(self.fault(pc, FaultKind::NonFinite { slot: Slot(slot) }));
                    }
                }
                Op::Copy { dst, src } => regs[dst as usize] = regs[src as usize],
                Op::Neg { dst, a } => regs[dst as usize] = regs[a as usize].neg(),
                Op::Add { dst, a, b } => {
                    regs[dst as usize] = regs[a as usize].add(regs[b as usize])
                }
                Op::Sub { dst, a, b } => {
                    regs[dst as usize] = regs[a as usize].sub(regs[b as usize])
                }
                Op::Mul { dst, a, b } => {
                    regs[dst as usize] = regs[a as usize].mul(regs[b as usize])
                }
                Op::Div { dst, a, b } => {
                    let (x, y) = (regs[a as usize], regs[b as usize]);
                    if y.value() == 0.0 {
                        return Err(self.domain(
                            pc,
                            DomainError::DivisionByZero {
                                numerator: x.value(),
                            },
                        ));
                    }
                    let q = x.value() / y.value();
                    regs[dst as usize] = N::chain2(x, y, q, || (1.0 / y.value(), -q / y.value()));
                }
                Op::Not { dst, a } => {
                    regs[dst as usize] =
                        N::constant(ops::unary(UnaryOp::Not, regs[a as usize].value()))
                }
                Op::Math1 { f, dst, a } => match math1(f, regs[a as usize]) {
                    Ok(x) => regs[dst as usize] = x,
                    Err(e) => return Err(self.domain(pc, e)),
                },
                Op::SinCos { sin, cos, a } => {
                    let x = regs[a as usize];
                    let (s, c) = sin_cos(x.value());
                    regs[sin as usize] = x.chain(s, || c);
                    regs[cos as usize] = x.chain(c, || -s);
                }
                Op::Math2 { f, dst, a, b } => match math2(f, regs[a as usize], regs[b as usize]) {
                    Ok(x) => regs[dst as usize] = x,
                    Err(e) => return Err(self.domain(pc, e)),
                },
                Op::Binary { f, dst, a, b } => {
                    match binary(f, regs[a as usize], regs[b as usize]) {
                        Ok(x) => regs[dst as usize] = x,
                        Err(e) => return Err(self.domain(pc, e)),
                    }
                }
                Op::ToInteger { dst, a } => {
                    // Whole and in range, as every number of Integer type.
                    let n = regs[a as usize].value() as i64;
                    regs[dst as usize] = integer(n);
                }
                Op::FloorToInteger { dst, a } => {
                    match ops::floor_to_integer(regs[a as usize].value()) {
                        Ok(n) => regs[dst as usize] = integer(n),
                        Err(e) => return Err(self.domain(pc, e)),
                    }
                }
                Op::FromInteger { dst, a, kept } => {
                    let n = integer_in(regs[a as usize]);
                    let x = if kept {
                        ops::double_of(n)
                    } else {
                        Ok(n as f64)
                    };
                    match x {
                        Ok(x) => regs[dst as usize] = N::constant(x),
                        Err(e) => return Err(self.domain(pc, e)),
                    }
                }
                Op::IntegerBinary { f, dst, a, b } => {
                    let (a, b) = (integer_in(regs[a as usize]), integer_in(regs[b as usize]));
                    match operands_fit(ops::integer_binary(f, a, b)) {
                        Ok(n) => regs[dst as usize] = integer(n),
                        Err(e) => return Err(self.domain(pc, e)),
                    }
                }
                Op::IntegerRelation { f, dst, a, b } => {
                    let (a, b) = (integer_in(regs[a as usize]), integer_in(regs[b as usize]));
                    let holds = operands_fit(ops::integer_relation(f, a, b));
                    regs[dst as usize] = N::constant(f64::from(u8::from(holds)));
                }
                Op::IntegerMath1 { f, dst, a } => {
                    let a = integer_in(regs[a as usize]);
                    match operands_fit(ops::integer_builtin1(f, a)) {
                        Ok(n) => regs[dst as usize] = integer(n),
                        Err(e) => return Err(self.domain(pc, e)),
                    }
                }
                Op::IntegerMath2 { f, dst, a, b } => {
                    let (a, b) = (integer_in(regs[a as usize]), integer_in(regs[b as usize]));
                    match operands_fit(ops::integer_builtin2(f, a, b)) {
                        Ok(n) => regs[dst as usize] = integer(n),
                        Err(e) => return Err(self.domain(pc, e)),
                    }
                }
                Op::Select { dst, c, e } => {
                    if regs[c as usize].value() == 0.0 {
                        regs[dst as usize] = regs[e as usize];
                    }
                }
                Op::Jump { to } => pc = to as usize,
                Op::JumpIfNot { c, to } => {
                    if regs[c as usize].value() == 0.0 {
                        pc = to as usize;
                    }
                }
                Op::JumpIf { c, to } => {
                    if regs[c as usize].value() != 0.0 {
                        pc = to as usize;
                    }
                }
                Op::Gather { dst, list, index } => {
                    let k = regs[index as usize].value();
                    let reg = self.gathers[list as usize][k as usize];
                    regs[dst as usize] = regs[reg as usize];
                }
                Op::GatherSlots { dst, list, index } => {
                    let k = regs[index as usize].value();
                    let (slot, sign) = self.slot_lists[list as usize][k as usize];
                    regs[dst as usize] = N::constant(sign.apply(values.v[slot as usize]));
                }
                Op::Scatter { list, index, src } => {
                    let k = regs[index as usize].value();
                    let reg = self.gathers[list as usize][k as usize];
                    regs[reg as usize] = regs[src as usize];
                }
                Op::Lookup { dst, list, index } => {
                    let k = regs[index as usize].value();
                    regs[dst as usize] = N::constant(self.constants[list as usize][k as usize]);
                }
                Op::Check { c } => {
                    if regs[c as usize].value() == 0.0 {
                        return Err(self.fault(pc, FaultKind::Range(String::new())));
                    }
                }
                Op::Fail => {
                    return Err(self.fault(pc, FaultKind::Range(String::new())));
                }
                Op::CheckIndex { a, n } => {
                    let k = regs[a as usize].value();
                    if !(k >= 1.0 && k <= f64::from(n) && k.fract() == 0.0) {
                        return Err(self.fault(
                            pc,
                            FaultKind::Range(format!("index {k} is not in 1 .. {n}")),
                        ));
                    }
                }
                Op::Call { call } => {
                    let site = &self.calls[call as usize];
                    crate::functions::call(cx, work, self, site, regs, values)
                        .map_err(|kind| self.fault(pc, kind))?;
                    // What a function says is said by its outermost caller.
                    if !self.is_function && work.objects.has_messages() {
                        let site = self.sites[pc - 1];
                        values
                            .actions
                            .messages
                            .extend(work.objects.take_messages().into_iter().map(|m| (site, m)));
                    }
                }
                Op::Table { call } => {
                    crate::calls::table(work, &self.tables[call as usize], regs)
                        .map_err(|kind| self.fault(pc, kind))?;
                }
                Op::Evaluate { dst, expr } => {
                    let x =
                        crate::calls::evaluate_scalar(cx, work, self.exprs[expr as usize], values)
                            .map_err(|kind| self.fault(pc, kind))?;
                    regs[dst as usize] = N::constant(x);
                }
                Op::Delay {
                    dst,
                    delay,
                    value,
                    time,
                    extra,
                } => {
                    let current = regs[value as usize].value();
                    let d = regs[time as usize].value();
                    let extra = regs[extra as usize].value();
                    let memory = &work.delays[delay as usize];
                    let x = memory.value(values.v[0], d, extra, current);
                    // The delayed value does not depend on the unknowns now, unless the delay is zero.
                    regs[dst as usize] = if d == 0.0 && matches!(memory, Memory::Delay(_)) {
                        regs[value as usize]
                    } else {
                        N::constant(x)
                    };
                }
                Op::Out { src, index } => out[index as usize] = regs[src as usize],
                Op::Assert { c, assert } => {
                    let site = &self.asserts[assert as usize];
                    let holds = regs[c as usize].value() != 0.0;
                    if site.warning {
                        if (values.actions).newly_violated(site.number as usize, holds) {
                            let text = crate::calls::message(cx, work, site.message, values);
                            values.actions.messages.push((self.sites[pc - 1], text));
                        }
                    } else if !holds {
                        let text = crate::calls::message(cx, work, site.message, values);
                        let read = crate::evaluate::values_read(cx, work, site.condition, values);
                        let kind = FaultKind::Assertion {
                            message: text,
                            values: read,
                            function: None,
                        };
                        return Err(self.fault(pc, kind));
                    }
                }
                Op::Reinit { src, slot } => {
                    let x = regs[src as usize].value();
                    if !x.is_finite() {
                        return Err(self.fault(pc, FaultKind::NonFinite { slot: Slot(slot) }));
                    }
                    values.actions.reinits.push((Slot(slot), x));
                }
                Op::Terminate { message } => {
                    let text =
                        crate::calls::message(cx, work, self.messages[message as usize], values);
                    values.actions.terminate = Some((self.sites[pc - 1], text));
                }
                Op::Override { src, slot } => {
                    if let Some(&x) = work.overrides.get(&slot) {
                        regs[src as usize] = N::constant(x);
                    }
                }
            }
        }
        Ok(())
    }

    /// In a function: the registers through which it is called.
    pub(crate) fn interface(&self) -> impl Iterator<Item = usize> {
        let outputs = self.outputs.iter().flat_map(|(base, n)| *base..base + n);
        (0..self.n_inputs).chain(outputs).map(|reg| reg as usize)
    }

    /// All operations.
    pub(crate) fn whole(&self) -> Range<usize> {
        0..self.ops.len()
    }

    /// Calls `read` with each register that an operation reads.
    pub(crate) fn reads(&self, op: &Op, mut read: impl FnMut(Reg)) {
        match *op {
            Op::Copy { src, .. }
            | Op::Store { src, .. }
            | Op::Out { src, .. }
            | Op::Reinit { src, .. }
            | Op::Override { src, .. } => read(src),
            Op::Neg { a, .. }
            | Op::Not { a, .. }
            | Op::Math1 { a, .. }
            | Op::SinCos { a, .. }
            | Op::ToInteger { a, .. }
            | Op::FloorToInteger { a, .. }
            | Op::FromInteger { a, .. }
            | Op::IntegerMath1 { a, .. }
            | Op::CheckIndex { a, .. } => read(a),
            Op::Add { a, b, .. }
            | Op::Sub { a, b, .. }
            | Op::Mul { a, b, .. }
            | Op::Div { a, b, .. }
            | Op::Math2 { a, b, .. }
            | Op::IntegerBinary { a, b, .. }
            | Op::IntegerRelation { a, b, .. }
            | Op::IntegerMath2 { a, b, .. }
            | Op::Binary { a, b, .. } => {
                read(a);
                read(b);
            }
            Op::Select { dst, c, e } => {
                read(dst);
                read(c);
                read(e);
            }
            Op::JumpIfNot { c, .. }
            | Op::JumpIf { c, .. }
            | Op::Assert { c, .. }
            | Op::Check { c } => read(c),
            Op::Gather { list, index, .. } => {
                self.gathers[list as usize].iter().for_each(|r| read(*r));
                read(index);
            }
            Op::Scatter { list, index, src } => {
                self.gathers[list as usize].iter().for_each(|r| read(*r));
                read(index);
                read(src);
            }
            Op::GatherSlots { index, .. } | Op::Lookup { index, .. } => read(index),
            Op::Call { call } => {
                let mut leaves = Vec::new();
                let args = &self.calls[call as usize].args;
                args.iter().for_each(|a| a.leaves(&mut leaves));
                leaves.into_iter().for_each(read);
            }
            Op::Table { call } => {
                let args = &self.tables[call as usize].args;
                args.iter().for_each(|(r, _)| read(*r));
            }
            Op::Delay {
                value, time, extra, ..
            } => {
                read(value);
                read(time);
                read(extra);
            }
            Op::Const { .. }
            | Op::Load { .. }
            | Op::Unknown { .. }
            | Op::Pre { .. }
            | Op::Jump { .. }
            | Op::Fail
            | Op::Evaluate { .. }
            | Op::Terminate { .. } => {}
        }
    }

    /// Calls `write` with each register that an operation writes.
    pub(crate) fn writes(&self, op: &Op, mut write: impl FnMut(Reg)) {
        match *op {
            Op::Const { dst, .. }
            | Op::Load { dst, .. }
            | Op::Unknown { dst, .. }
            | Op::Pre { dst, .. }
            | Op::Copy { dst, .. }
            | Op::Neg { dst, .. }
            | Op::Add { dst, .. }
            | Op::Sub { dst, .. }
            | Op::Mul { dst, .. }
            | Op::Div { dst, .. }
            | Op::Not { dst, .. }
            | Op::Math1 { dst, .. }
            | Op::Math2 { dst, .. }
            | Op::Binary { dst, .. }
            | Op::ToInteger { dst, .. }
            | Op::FloorToInteger { dst, .. }
            | Op::FromInteger { dst, .. }
            | Op::IntegerBinary { dst, .. }
            | Op::IntegerRelation { dst, .. }
            | Op::IntegerMath1 { dst, .. }
            | Op::IntegerMath2 { dst, .. }
            | Op::Select { dst, .. }
            | Op::Gather { dst, .. }
            | Op::GatherSlots { dst, .. }
            | Op::Lookup { dst, .. }
            | Op::Evaluate { dst, .. }
            | Op::Delay { dst, .. } => write(dst),
            Op::Override { src, .. } => write(src),
            Op::Scatter { list, .. } => {
                self.gathers[list as usize].iter().for_each(|r| write(*r));
            }
            Op::SinCos { sin, cos, .. } => {
                write(sin);
                write(cos);
            }
            Op::Call { call } => {
                for (base, n) in self.calls[call as usize].outputs.iter().flatten() {
                    (*base..base + n).for_each(&mut write);
                }
            }
            Op::Table { call } => write(self.tables[call as usize].dst),
            Op::Store { .. }
            | Op::Jump { .. }
            | Op::JumpIfNot { .. }
            | Op::JumpIf { .. }
            | Op::CheckIndex { .. }
            | Op::Check { .. }
            | Op::Fail
            | Op::Out { .. }
            | Op::Assert { .. }
            | Op::Reinit { .. }
            | Op::Terminate { .. } => {}
        }
    }

    #[cold]
    fn fault(&self, pc: usize, kind: FaultKind) -> Box<Fault> {
        Box::new(Fault {
            // Another point does not bring a function that is not there, nor a permission.
            recoverable: !matches!(kind, FaultKind::Missing(_) | FaultKind::Forbidden(_)),
            site: self.sites[pc - 1],
            kind,
        })
    }

    #[cold]
    fn domain(&self, pc: usize, error: DomainError) -> Box<Fault> {
        self.fault(pc, domain_fault(error))
    }
}

/// A domain error of the scalar kernel in the terms of the contract.
pub(crate) fn domain_fault(error: DomainError) -> FaultKind {
    match error {
        DomainError::DivisionByZero { .. } => FaultKind::Domain {
            function: "/",
            argument: 0.0,
        },
        DomainError::Function { op, argument } => FaultKind::Domain {
            function: op.name(),
            argument,
        },
        DomainError::Power { base, .. } => FaultKind::Domain {
            function: "^",
            argument: base,
        },
        DomainError::IntegerOverflow | DomainError::InexactInteger { .. } => {
            FaultKind::IntegerOverflow(error.to_string())
        }
    }
}

/// A register that holds an Integer.
fn integer<N: Num>(n: i64) -> N {
    N::constant(integer_bits(n))
}

/// The Integer in a register.
fn integer_in<N: Num>(register: N) -> i64 {
    register.value().to_bits() as i64
}

/// The double with the bits of an Integer.
pub(crate) fn integer_bits(n: i64) -> f64 {
    f64::from_bits(n as u64)
}

fn operands_fit<T>(result: Option<T>) -> T {
    result.expect("the lowering makes operations on Integers of operators that Integers have")
}

fn math1<N: Num>(f: Builtin, a: N) -> Result<N, DomainError> {
    let x = a.value();
    ops::check_builtin(f, x, 0.0)?;
    let Some(y) = ops::builtin1(f, x) else {
        unreachable!("the lowering makes `Math1` of mathematical functions of one argument only");
    };
    Ok(a.chain(y, || slope1(f, x, y)))
}

/// Both at once, as every way to run a tape computes them.
#[inline]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}

/// Slope of y = f(x).
pub(crate) fn slope1(f: Builtin, x: f64, y: f64) -> f64 {
    match f {
        Builtin::Abs => {
            if x < 0.0 {
                -1.0
            } else {
                1.0
            }
        }
        Builtin::Sqrt => 0.5 / y,
        Builtin::Sin => x.cos(),
        Builtin::Cos => -x.sin(),
        Builtin::Tan => 1.0 + y * y,
        Builtin::Asin => 1.0 / (1.0 - x * x).sqrt(),
        Builtin::Acos => -1.0 / (1.0 - x * x).sqrt(),
        Builtin::Atan => 1.0 / (1.0 + x * x),
        Builtin::Sinh => x.cosh(),
        Builtin::Cosh => x.sinh(),
        Builtin::Tanh => 1.0 - y * y,
        Builtin::Exp => y,
        Builtin::Log => 1.0 / x,
        Builtin::Log10 => 1.0 / (x * std::f64::consts::LN_10),
        // sign, ceil, floor: piecewise constant.
        _ => 0.0,
    }
}

fn math2<N: Num>(f: Builtin, a: N, b: N) -> Result<N, DomainError> {
    let (x, y) = (a.value(), b.value());
    ops::check_builtin(f, x, y)?;
    let Some(z) = ops::builtin2(f, x, y) else {
        unreachable!("the lowering makes `Math2` of mathematical functions of two arguments only");
    };
    Ok(N::chain2(a, b, z, || match f {
        Builtin::Atan2 => {
            let n = x * x + y * y;
            (y / n, -x / n)
        }
        Builtin::Min if x <= y => (1.0, 0.0),
        Builtin::Max if x >= y => (1.0, 0.0),
        Builtin::Min | Builtin::Max => (0.0, 1.0),
        Builtin::Mod => (1.0, -(x / y).floor()),
        Builtin::Rem => (1.0, -(x / y).trunc()),
        _ => (0.0, 0.0),
    }))
}

fn binary<N: Num>(f: BinaryOp, a: N, b: N) -> Result<N, DomainError> {
    let (x, y) = (a.value(), b.value());
    ops::check_binary(f, x, y)?;
    let z = ops::binary(f, x, y);
    if f != BinaryOp::Pow {
        return Ok(N::constant(z));
    }
    Ok(N::chain2(a, b, z, || {
        (power_slope_base(x, y), power_slope_exponent(x, z))
    }))
}

/// Slope of x^y in x.
pub(crate) fn power_slope_base(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        0.0
    } else {
        y * ops::pow(x, y - 1.0)
    }
}

/// Slope of z = x^y in y.
pub(crate) fn power_slope_exponent(x: f64, z: f64) -> f64 {
    if x > 0.0 { z * x.ln() } else { 0.0 }
}
