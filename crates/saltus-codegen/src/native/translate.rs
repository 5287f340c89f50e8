//! Operations of a tape as Cranelift instructions.
//!
//! Comes in: a piece of a tape with its [`Plan`]. Goes out: the body of one machine function that returns 0, or one more
//! than the number of the operation that failed. Dual numbers are a double and vectors of two lanes; the formulas are
//! those of [`crate::num`], and lanes of numbers that do not depend on the unknowns, +0 by definition, are left out.

use super::plan::{Place, Plan, loops};
use super::shims::{self, Running, Shim1, Shim2, ShimPair};
use crate::num::Dual;
use crate::tape::{Op, Reg, Tape};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, F64X2, I32, I64X2};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Function, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use rustc_hash::FxHashMap;
use saltus_ir::{BinaryOp, Builtin};
use std::ops::Range;

/// Most vectors of two lanes that a dual number has.
const VECTORS_MAX: usize = 4;
/// Bytes of a double.
const DOUBLE: i32 = 8;

/// Directional derivatives, two per vector.
pub(super) type Lanes = [Value; VECTORS_MAX];

/// A number while the function is built.
#[derive(Clone, Copy)]
pub(super) struct Num {
    pub(super) x: Value,
    /// `None`: +0 in every lane.
    pub(super) d: Option<Lanes>,
}

#[derive(Clone, Copy)]
struct NumVariable {
    x: Variable,
    d: Option<[Variable; VECTORS_MAX]>,
}

/// Builds the function; `None` if an operation has no translation.
pub(super) fn piece(
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    tape: &Tape,
    plan: &Plan,
    range: Range<usize>,
    lanes: usize,
) -> Option<()> {
    let pointer = isa.pointer_type();
    let call_conv = isa.default_call_conv();
    function.signature.call_conv = call_conv;
    function.signature.params = vec![AbiParam::new(pointer); 6];
    function.signature.returns = vec![AbiParam::new(I32)];
    let mut b = FunctionBuilder::new(function, context);
    let mut signature = |params: &[Type], results: &[Type]| {
        let mut s = Signature::new(call_conv);
        s.params = params.iter().map(|t| AbiParam::new(*t)).collect();
        s.returns = results.iter().map(|t| AbiParam::new(*t)).collect();
        b.import_signature(s)
    };
    let (one, two) = (signature(&[F64], &[F64]), signature(&[F64, F64], &[F64]));
    let pair = signature(&[F64, pointer, pointer], &[]);
    let single = signature(&[pointer, I32], &[I32]);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let params = b.block_params(entry).to_vec();
    let failed = b.create_block();
    b.append_block_param(failed, I32);
    b.set_cold_block(failed);
    let mut t = Translate {
        b,
        tape,
        plan,
        vectors: lanes / 2,
        pointer,
        slots: params[0],
        pre: params[1],
        out: params[2],
        regs: params[3],
        running: params[4],
        seeds: params[5],
        one,
        two,
        pair,
        single,
        failed,
        values: FxHashMap::default(),
        truths: FxHashMap::default(),
        variables: FxHashMap::default(),
        cache: FxHashMap::default(),
        blocks: FxHashMap::default(),
        loops: loops(tape),
        headers: FxHashMap::default(),
        ended: false,
    };
    t.body(range)?;
    t.b.switch_to_block(failed);
    t.b.seal_block(failed);
    let at = t.b.block_params(failed)[0];
    t.b.ins().return_(&[at]);
    t.b.finalize(isa.frontend_config());
    Some(())
}

pub(super) struct Translate<'a> {
    pub(super) b: FunctionBuilder<'a>,
    pub(super) tape: &'a Tape,
    plan: &'a Plan,
    /// Vectors of a dual number; 0 for plain numbers.
    vectors: usize,
    pointer: Type,
    slots: Value,
    pre: Value,
    out: Value,
    regs: Value,
    running: Value,
    seeds: Value,
    one: SigRef,
    two: SigRef,
    pair: SigRef,
    single: SigRef,
    /// Returns its argument.
    failed: Block,
    values: FxHashMap<Reg, Num>,
    /// Truth values as machine Booleans.
    truths: FxHashMap<Reg, Value>,
    variables: FxHashMap<Reg, NumVariable>,
    /// Registers in memory, and those made again, as far as they are known on the way to here.
    cache: FxHashMap<Reg, Num>,
    /// Where jumps land.
    blocks: FxHashMap<usize, Block>,
    /// Where loops begin, with the last jump back to there.
    loops: FxHashMap<usize, usize>,
    /// The blocks they begin with, as long as there are jumps back to come.
    headers: FxHashMap<usize, Block>,
    /// The current block has its last instruction.
    ended: bool,
}

impl Translate<'_> {
    fn body(&mut self, range: Range<usize>) -> Option<()> {
        for pc in range.clone() {
            self.arrive(pc);
            self.open_loop(pc);
            if !self.ended {
                self.operation(pc)?;
            }
            self.close_loop(pc);
        }
        self.arrive(range.end);
        if !self.ended {
            let zero = self.b.ins().iconst(I32, 0);
            self.b.ins().return_(&[zero]);
        }
        Some(())
    }

    /// Begins a new block if jumps land here.
    fn arrive(&mut self, pc: usize) {
        if let Some(block) = self.blocks.remove(&pc) {
            if !self.ended {
                self.b.ins().jump(block, &[]);
            }
            self.begin(block);
            self.cache.clear();
        }
    }

    /// Begins the first block of a loop if one starts here.
    fn open_loop(&mut self, pc: usize) {
        if self.loops.contains_key(&pc) && !self.ended {
            let header = self.b.create_block();
            self.b.ins().jump(header, &[]);
            self.b.switch_to_block(header);
            self.headers.insert(pc, header);
            self.cache.clear();
        }
    }

    /// After the last jump back, all predecessors of a loop's first block exist.
    fn close_loop(&mut self, pc: usize) {
        if let Op::Jump { to } = self.tape.ops[pc]
            && self.loops.get(&(to as usize)) == Some(&pc)
            && let Some(header) = self.headers.remove(&(to as usize))
        {
            self.b.seal_block(header);
        }
    }

    /// Goes on in a block all of whose predecessors exist.
    fn begin(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
        self.ended = false;
    }

    fn target(&mut self, to: u32) -> Block {
        let b = &mut self.b;
        *self
            .blocks
            .entry(to as usize)
            .or_insert_with(|| b.create_block())
    }

    fn operation(&mut self, pc: usize) -> Option<()> {
        let op = self.tape.ops[pc];
        match op {
            Op::Const { .. } => {}
            Op::Load { dst, slot } => {
                if !matches!(self.plan.places[dst as usize], Place::Again(_)) {
                    let x = self.load(self.slots, slot);
                    self.define(dst, Num { x, d: None });
                }
            }
            Op::Pre { dst, slot } => {
                if !matches!(self.plan.places[dst as usize], Place::Again(_)) {
                    let x = self.load(self.pre, slot);
                    self.define(dst, Num { x, d: None });
                }
            }
            Op::Unknown {
                dst,
                slot,
                direction,
            } => {
                let x = self.load(self.slots, slot);
                let d = self.seed(direction);
                self.define(dst, Num { x, d });
            }
            Op::Store { src, slot } => {
                let x = self.get(src)?.x;
                let offset = DOUBLE.checked_mul(slot as i32)?;
                self.b
                    .ins()
                    .store(MemFlagsData::trusted(), x, self.slots, offset);
                let finite = self.constant(src).is_some_and(f64::is_finite);
                if !finite && !self.truths.contains_key(&src) {
                    // x - x is 0 for a finite x, else NaN.
                    let zero = self.b.ins().fsub(x, x);
                    let bad = self.b.ins().fcmp(FloatCC::Unordered, zero, zero);
                    self.fail_if(bad, pc, &[]);
                }
            }
            Op::Copy { dst, src } => {
                let value = self.get(src)?;
                self.define(dst, value);
                if let Some(&truth) = self.truths.get(&src) {
                    self.define_truth(dst, truth);
                }
            }
            Op::Neg { dst, a } => {
                let a = self.get(a)?;
                let x = self.b.ins().fneg(a.x);
                let d = a.d.map(|d| {
                    let zero = self.zeros();
                    self.lanes(|t, i| t.b.ins().fsub(zero[i], d[i]))
                });
                self.define(dst, Num { x, d });
            }
            Op::Add { dst, a, b } => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                let x = self.b.ins().fadd(a.x, b.x);
                let d = self.combine(a.d, b.d);
                self.define(dst, Num { x, d });
            }
            Op::Sub { dst, a, b } => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                let x = self.b.ins().fsub(a.x, b.x);
                let d = match (a.d, b.d) {
                    (None, None) => None,
                    // d - 0 is d.
                    (Some(p), None) => Some(p),
                    (p, Some(q)) => {
                        let p = p.unwrap_or_else(|| self.zeros());
                        Some(self.lanes(|t, i| t.b.ins().fsub(p[i], q[i])))
                    }
                };
                self.define(dst, Num { x, d });
            }
            Op::Mul { dst, a, b } => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                let x = self.b.ins().fmul(a.x, b.x);
                let p = a.d.map(|d| self.times(d, b.x));
                let q = b.d.map(|d| self.times(d, a.x));
                let d = self.combine(p, q);
                self.define(dst, Num { x, d });
            }
            Op::Div { dst, a, b } => {
                let (x, y) = (self.get(a)?, self.get(b)?);
                if self.constant(b).is_none_or(|c| c == 0.0) {
                    let zero = self.number(0.0);
                    let bad = self.b.ins().fcmp(FloatCC::Equal, y.x, zero);
                    self.fail_if(bad, pc, &[a, b]);
                }
                let q = self.b.ins().fdiv(x.x, y.x);
                let p_lanes = x.d.map(|d| {
                    let one = self.number(1.0);
                    let slope = self.b.ins().fdiv(one, y.x);
                    self.times(d, slope)
                });
                let q_lanes = y.d.map(|d| {
                    let minus = self.b.ins().fneg(q);
                    let slope = self.b.ins().fdiv(minus, y.x);
                    self.times(d, slope)
                });
                let d = self.combine(p_lanes, q_lanes);
                self.define(dst, Num { x: q, d });
            }
            Op::Not { dst, a } => {
                let truth = match self.truths.get(&a).copied() {
                    Some(truth) => {
                        let one = self.b.ins().iconst(cranelift_codegen::ir::types::I8, 1);
                        self.b.ins().bxor(truth, one)
                    }
                    None => {
                        let a = self.get(a)?.x;
                        let zero = self.number(0.0);
                        self.b.ins().fcmp(FloatCC::Equal, a, zero)
                    }
                };
                self.define_boolean(dst, truth);
            }
            Op::Math1 { f, dst, a } => self.function1(pc, f, dst, a)?,
            Op::SinCos { sin, cos, a } => self.sin_cos(sin, cos, a)?,
            Op::Math2 { f, dst, a, b } => self.function2(pc, f, dst, a, b)?,
            Op::Binary {
                f: BinaryOp::Pow,
                dst,
                a,
                b,
            } => self.power(pc, dst, a, b)?,
            Op::Binary { f, dst, a, b } => {
                let truth = self.relation(f, a, b)?;
                self.define_boolean(dst, truth);
            }
            Op::ToInteger { .. }
            | Op::FloorToInteger { .. }
            | Op::FromInteger { .. }
            | Op::IntegerBinary { .. }
            | Op::IntegerRelation { .. }
            | Op::IntegerMath1 { .. }
            | Op::IntegerMath2 { .. } => self.integer_operation(pc)?,
            Op::Select { dst, c, e } => {
                let keep = self.truth(c)?;
                let (a, b) = (self.get(dst)?, self.get(e)?);
                let x = self.b.ins().select(keep, a.x, b.x);
                let d = match (a.d, b.d) {
                    (None, None) => None,
                    (p, q) => {
                        let p = p.unwrap_or_else(|| self.zeros());
                        let q = q.unwrap_or_else(|| self.zeros());
                        Some(self.lanes(|t, i| t.b.ins().select(keep, p[i], q[i])))
                    }
                };
                self.define(dst, Num { x, d });
            }
            Op::Jump { to } => {
                let to = match self.headers.get(&(to as usize)) {
                    Some(&header) => header,
                    None => self.target(to),
                };
                self.b.ins().jump(to, &[]);
                self.ended = true;
            }
            Op::JumpIfNot { c, to } => {
                let (c, to) = (self.truth(c)?, self.target(to));
                let next = self.b.create_block();
                self.b.ins().brif(c, next, &[], to, &[]);
                self.begin(next);
            }
            Op::JumpIf { c, to } => {
                let (c, to) = (self.truth(c)?, self.target(to));
                let next = self.b.create_block();
                self.b.ins().brif(c, to, &[], next, &[]);
                self.begin(next);
            }
            Op::CheckIndex { a, n } => {
                let k = self.get(a)?.x;
                let (low, high) = (self.number(1.0), self.number(f64::from(n)));
                let above = self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, k, low);
                let below = self.b.ins().fcmp(FloatCC::LessThanOrEqual, k, high);
                let fraction = self.fraction(k);
                let zero = self.number(0.0);
                let whole = self.b.ins().fcmp(FloatCC::Equal, fraction, zero);
                let inside = self.b.ins().band(above, below);
                let good = self.b.ins().band(inside, whole);
                self.fail_unless(good, pc, &[a]);
            }
            Op::Fail => {
                let at = self.b.ins().iconst(I32, pc as i64 + 1);
                self.b.ins().jump(self.failed, &[BlockArg::Value(at)]);
                self.ended = true;
            }
            Op::Check { c } => {
                let holds = self.truth(c)?;
                self.fail_unless(holds, pc, &[c]);
            }
            Op::Out { src, index } => {
                let value = self.get(src)?;
                let offset = self.offset(index)?;
                self.put(self.out, offset, value, self.vectors > 0);
            }
            Op::Assert { c, assert } if !self.tape.asserts[assert as usize].warning => {
                let holds = self.truth(c)?;
                self.fail_unless(holds, pc, &[c]);
            }
            Op::Gather { .. }
            | Op::GatherSlots { .. }
            | Op::Scatter { .. }
            | Op::Lookup { .. }
            | Op::Call { .. }
            | Op::Table { .. }
            | Op::Evaluate { .. }
            | Op::Delay { .. }
            | Op::Assert { .. }
            | Op::Reinit { .. }
            | Op::Terminate { .. }
            | Op::Override { .. } => self.interpret(pc)?,
        }
        Some(())
    }

    // ---- registers ----

    pub(super) fn get(&mut self, reg: Reg) -> Option<Num> {
        match self.plan.places[reg as usize] {
            Place::Value => self.values.get(&reg).copied(),
            Place::Variable => {
                let variable = self.variable(reg);
                let x = self.b.use_var(variable.x);
                let d = variable.d.map(|d| self.lanes(|t, i| t.b.use_var(d[i])));
                Some(Num { x, d })
            }
            Place::Memory => {
                if let Some(&value) = self.cache.get(&reg) {
                    return Some(value);
                }
                let value = self.fetch(reg)?;
                self.cache.insert(reg, value);
                Some(value)
            }
            Place::Again(pc) => {
                if let Some(&value) = self.cache.get(&reg) {
                    return Some(value);
                }
                let x = match self.tape.ops[pc as usize] {
                    Op::Const { value, .. } => self.number(value),
                    Op::Load { slot, .. } => self.load(self.slots, slot),
                    Op::Pre { slot, .. } => self.load(self.pre, slot),
                    _ => return None,
                };
                let value = Num { x, d: None };
                self.cache.insert(reg, value);
                Some(value)
            }
        }
    }

    pub(super) fn define(&mut self, reg: Reg, value: Num) {
        self.truths.remove(&reg);
        let value = self.as_planned(reg, value);
        match self.plan.places[reg as usize] {
            Place::Value => {
                self.values.insert(reg, value);
            }
            Place::Variable => {
                let variable = self.variable(reg);
                self.b.def_var(variable.x, value.x);
                if let (Some(to), Some(from)) = (variable.d, value.d) {
                    for i in 0..self.vectors {
                        self.b.def_var(to[i], from[i]);
                    }
                }
            }
            Place::Memory => {
                // The offset was computed for a register file of this size before.
                if let Some(offset) = self.offset(reg) {
                    self.put(self.regs, offset, value, false);
                }
                self.cache.insert(reg, value);
            }
            Place::Again(_) => {}
        }
    }

    /// Lanes exactly where the plan has them.
    fn as_planned(&mut self, reg: Reg, value: Num) -> Num {
        let d = self
            .plan
            .is_active(reg)
            .then(|| value.d.unwrap_or_else(|| self.zeros()));
        Num { x: value.x, d }
    }

    /// A truth value, as number and as machine Boolean.
    pub(super) fn define_boolean(&mut self, reg: Reg, truth: Value) {
        let (yes, no) = (self.number(1.0), self.number(0.0));
        let x = self.b.ins().select(truth, yes, no);
        self.define(reg, Num { x, d: None });
        self.define_truth(reg, truth);
    }

    fn define_truth(&mut self, reg: Reg, truth: Value) {
        if self.plan.places[reg as usize] == Place::Value {
            self.truths.insert(reg, truth);
        }
    }

    /// Is the register's value not 0?
    fn truth(&mut self, reg: Reg) -> Option<Value> {
        if let Some(&truth) = self.truths.get(&reg) {
            return Some(truth);
        }
        let x = self.get(reg)?.x;
        let zero = self.number(0.0);
        Some(self.b.ins().fcmp(FloatCC::NotEqual, x, zero))
    }

    fn variable(&mut self, reg: Reg) -> NumVariable {
        if let Some(&variable) = self.variables.get(&reg) {
            return variable;
        }
        let x = self.b.declare_var(F64);
        let d = self.plan.is_active(reg).then(|| {
            std::array::from_fn(|i| {
                if i < self.vectors {
                    self.b.declare_var(F64X2)
                } else {
                    x
                }
            })
        });
        let variable = NumVariable { x, d };
        self.variables.insert(reg, variable);
        variable
    }

    /// The number that a register always holds.
    fn constant(&self, reg: Reg) -> Option<f64> {
        match self.plan.places[reg as usize] {
            Place::Again(pc) => match self.tape.ops[pc as usize] {
                Op::Const { value, .. } => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    // ---- memory ----

    /// Place of number `index` in the register file or the results.
    fn offset(&self, index: u32) -> Option<i32> {
        let size = DOUBLE * (1 + 2 * self.vectors as i32);
        size.checked_mul(i32::try_from(index).ok()?)
    }

    fn load(&mut self, from: Value, slot: u32) -> Value {
        // Slots number at most as many as fit the value array; see `Plan::n_slots`.
        let offset = DOUBLE * slot as i32;
        self.b
            .ins()
            .load(F64, MemFlagsData::trusted(), from, offset)
    }

    fn fetch(&mut self, reg: Reg) -> Option<Num> {
        let offset = self.offset(reg)?;
        let x = self
            .b
            .ins()
            .load(F64, MemFlagsData::trusted(), self.regs, offset);
        let d = self.plan.is_active(reg).then(|| {
            self.lanes(|t, i| {
                let at = offset + DOUBLE + 2 * DOUBLE * i as i32;
                t.b.ins().load(F64X2, vector_memory(), t.regs, at)
            })
        });
        Some(Num { x, d })
    }

    /// Writes a number; lanes if it has some or `all` is asked for.
    fn put(&mut self, to: Value, offset: i32, value: Num, all: bool) {
        self.b
            .ins()
            .store(MemFlagsData::trusted(), value.x, to, offset);
        let lanes = match value.d {
            Some(d) => d,
            None if all => self.zeros(),
            None => return,
        };
        for (i, lane) in lanes.iter().enumerate().take(self.vectors) {
            let at = offset + DOUBLE + 2 * DOUBLE * i as i32;
            self.b.ins().store(vector_memory(), *lane, to, at);
        }
    }

    // ---- faults and the interpreter ----

    pub(super) fn fail_if(&mut self, bad: Value, pc: usize, operands: &[Reg]) {
        let (next, cold) = self.check_blocks();
        self.b.ins().brif(bad, cold, &[], next, &[]);
        self.failing(cold, next, pc, operands);
    }

    pub(super) fn fail_unless(&mut self, good: Value, pc: usize, operands: &[Reg]) {
        let (next, cold) = self.check_blocks();
        self.b.ins().brif(good, next, &[], cold, &[]);
        self.failing(cold, next, pc, operands);
    }

    fn check_blocks(&mut self) -> (Block, Block) {
        let (next, cold) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        (next, cold)
    }

    /// The way out of operation `pc`, with its operands in the register file; then goes on in `next`.
    fn failing(&mut self, cold: Block, next: Block, pc: usize, operands: &[Reg]) {
        self.begin(cold);
        for &reg in operands {
            self.spill(reg);
        }
        let at = self.b.ins().iconst(I32, pc as i64 + 1);
        self.b.ins().jump(self.failed, &[BlockArg::Value(at)]);
        self.begin(next);
    }

    /// Puts a register into the register file, lanes included.
    fn spill(&mut self, reg: Reg) -> Option<()> {
        let whole = self.vectors == 0 || self.plan.is_active(reg);
        if self.plan.places[reg as usize] == Place::Memory && whole {
            return Some(());
        }
        let value = self.uncached(reg)?;
        let offset = self.offset(reg)?;
        self.put(self.regs, offset, value, self.vectors > 0);
        Some(())
    }

    /// A register's value, without a memory of it: what is loaded in a cold block is not known after it.
    fn uncached(&mut self, reg: Reg) -> Option<Num> {
        let known = self.cache.contains_key(&reg);
        let value = self.get(reg);
        if !known {
            self.cache.remove(&reg);
        }
        value
    }

    /// Lets the interpreter carry out this operation.
    fn interpret(&mut self, pc: usize) -> Option<()> {
        let op = self.tape.ops[pc];
        let mut operands = Vec::new();
        self.tape.reads(&op, |reg| operands.push(reg));
        for reg in operands {
            self.spill(reg)?;
        }
        let address = match self.vectors {
            0 => {
                shims::operation::<f64> as extern "C" fn(*mut Running<'_, f64>, u32) -> u32 as usize
            }
            1 => {
                shims::operation::<Dual<2>> as extern "C" fn(*mut Running<'_, Dual<2>>, u32) -> u32
                    as usize
            }
            2 => {
                shims::operation::<Dual<4>> as extern "C" fn(*mut Running<'_, Dual<4>>, u32) -> u32
                    as usize
            }
            4 => {
                shims::operation::<Dual<8>> as extern "C" fn(*mut Running<'_, Dual<8>>, u32) -> u32
                    as usize
            }
            _ => return None,
        };
        let callee = self.b.ins().iconst(self.pointer, address as i64);
        let number = self.b.ins().iconst(I32, pc as i64);
        let call = self
            .b
            .ins()
            .call_indirect(self.single, callee, &[self.running, number]);
        let status = self.b.inst_results(call)[0];
        self.fail_if(status, pc, &[]);
        let mut results = Vec::new();
        self.tape.writes(&op, |reg| results.push(reg));
        for reg in results {
            let value = self.fetch(reg)?;
            if self.plan.places[reg as usize] == Place::Memory {
                self.cache.insert(reg, value);
            } else {
                self.define(reg, value);
            }
        }
        Some(())
    }

    // ---- lanes ----

    fn lanes(&mut self, mut f: impl FnMut(&mut Self, usize) -> Value) -> Lanes {
        let first = f(self, 0);
        let mut lanes = [first; VECTORS_MAX];
        for (i, lane) in lanes.iter_mut().enumerate().take(self.vectors).skip(1) {
            *lane = f(self, i);
        }
        lanes
    }

    fn zeros(&mut self) -> Lanes {
        let zero = self.number(0.0);
        let zero = self.b.ins().splat(F64X2, zero);
        [zero; VECTORS_MAX]
    }

    /// Directions of unknown `index`: they lie `index` numbers before those of unknown 0.
    fn seed(&mut self, index: u32) -> Option<Lanes> {
        if self.vectors == 0 {
            return None;
        }
        let start = -DOUBLE * index as i32;
        Some(self.lanes(|t, i| {
            let at = start + 2 * DOUBLE * i as i32;
            t.b.ins().load(F64X2, vector_memory(), t.seeds, at)
        }))
    }

    /// p + q, where a missing one is +0.
    fn combine(&mut self, p: Option<Lanes>, q: Option<Lanes>) -> Option<Lanes> {
        if p.is_none() && q.is_none() {
            return None;
        }
        let p = p.unwrap_or_else(|| self.zeros());
        let q = q.unwrap_or_else(|| self.zeros());
        Some(self.lanes(|t, i| t.b.ins().fadd(p[i], q[i])))
    }

    /// d·slope, and +0 where d is zero.
    fn times(&mut self, d: Lanes, slope: Value) -> Lanes {
        let slope = self.b.ins().splat(F64X2, slope);
        let zero = self.zeros()[0];
        self.lanes(|t, i| {
            let product = t.b.ins().fmul(d[i], slope);
            let is_zero = t.b.ins().fcmp(FloatCC::Equal, d[i], zero);
            let bits = t.b.ins().bitcast(I64X2, bits_of_vector(), product);
            let kept = t.b.ins().band_not(bits, is_zero);
            t.b.ins().bitcast(F64X2, bits_of_vector(), kept)
        })
    }

    // ---- functions ----

    pub(super) fn number(&mut self, x: f64) -> Value {
        self.b.ins().f64const(x)
    }

    fn fraction(&mut self, x: Value) -> Value {
        let whole = self.b.ins().trunc(x);
        self.b.ins().fsub(x, whole)
    }

    fn call1(&mut self, f: Shim1, x: Value) -> Value {
        let callee = self.b.ins().iconst(self.pointer, f as usize as i64);
        let call = self.b.ins().call_indirect(self.one, callee, &[x]);
        self.b.inst_results(call)[0]
    }

    fn call2(&mut self, f: Shim2, x: Value, y: Value) -> Value {
        let callee = self.b.ins().iconst(self.pointer, f as usize as i64);
        let call = self.b.ins().call_indirect(self.two, callee, &[x, y]);
        self.b.inst_results(call)[0]
    }

    fn sin_cos(&mut self, sin: Reg, cos: Reg, a: Reg) -> Option<()> {
        let arg = self.get(a)?;
        let (to_sin, to_cos) = (self.offset(sin)?, self.offset(cos)?);
        let f: ShimPair = shims::sin_cos;
        let callee = self.b.ins().iconst(self.pointer, f as usize as i64);
        let places = [to_sin, to_cos].map(|at| self.b.ins().iadd_imm_s(self.regs, i64::from(at)));
        let args = [arg.x, places[0], places[1]];
        self.b.ins().call_indirect(self.pair, callee, &args);
        let flags = MemFlagsData::trusted();
        let s = self.b.ins().load(F64, flags, self.regs, to_sin);
        let c = self.b.ins().load(F64, flags, self.regs, to_cos);
        let d_sin = arg.d.map(|d| self.times(d, c));
        let d_cos = arg.d.map(|d| {
            let slope = self.b.ins().fneg(s);
            self.times(d, slope)
        });
        self.define(sin, Num { x: s, d: d_sin });
        self.define(cos, Num { x: c, d: d_cos });
        Some(())
    }

    fn relation(&mut self, f: BinaryOp, a: Reg, b: Reg) -> Option<Value> {
        let condition = match f {
            BinaryOp::And | BinaryOp::Or => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                return Some(if f == BinaryOp::And {
                    self.b.ins().band(a, b)
                } else {
                    self.b.ins().bor(a, b)
                });
            }
            BinaryOp::Lt => FloatCC::LessThan,
            BinaryOp::Le => FloatCC::LessThanOrEqual,
            BinaryOp::Gt => FloatCC::GreaterThan,
            BinaryOp::Ge => FloatCC::GreaterThanOrEqual,
            BinaryOp::Eq => FloatCC::Equal,
            BinaryOp::Ne => FloatCC::NotEqual,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::MatMul
            | BinaryOp::Div
            | BinaryOp::Pow
            | BinaryOp::MatPow => return None,
        };
        let (a, b) = (self.get(a)?, self.get(b)?);
        Some(self.b.ins().fcmp(condition, a.x, b.x))
    }

    /// As `check_builtin` and `builtin1` of the scalar kernel, and the slope of the interpreter.
    fn function1(&mut self, pc: usize, f: Builtin, dst: Reg, a: Reg) -> Option<()> {
        let arg = self.get(a)?;
        let x = arg.x;
        let bad = match f {
            Builtin::Sqrt => {
                let zero = self.number(0.0);
                Some(self.b.ins().fcmp(FloatCC::LessThan, x, zero))
            }
            Builtin::Asin | Builtin::Acos => {
                let one = self.number(1.0);
                let size = self.b.ins().fabs(x);
                Some(self.b.ins().fcmp(FloatCC::GreaterThan, size, one))
            }
            Builtin::Log | Builtin::Log10 => {
                let zero = self.number(0.0);
                Some(self.b.ins().fcmp(FloatCC::LessThanOrEqual, x, zero))
            }
            _ => None,
        };
        if let Some(bad) = bad {
            self.fail_if(bad, pc, &[a]);
        }
        let y = match f {
            Builtin::Abs => self.b.ins().fabs(x),
            Builtin::Sqrt => self.b.ins().sqrt(x),
            Builtin::Ceil => self.b.ins().ceil(x),
            Builtin::Floor | Builtin::Integer => self.b.ins().floor(x),
            Builtin::Sign => {
                let (zero, one, minus) = (self.number(0.0), self.number(1.0), self.number(-1.0));
                let (above, below) = (
                    self.b.ins().fcmp(FloatCC::GreaterThan, x, zero),
                    self.b.ins().fcmp(FloatCC::LessThan, x, zero),
                );
                let same = self.b.ins().fmul(x, zero);
                let rest = self.b.ins().select(below, minus, same);
                self.b.ins().select(above, one, rest)
            }
            _ => self.call1(shims::function(f)?, x),
        };
        let d = match arg.d {
            None => None,
            Some(d) => {
                let slope = match f {
                    Builtin::Abs => {
                        let (zero, one, minus) =
                            (self.number(0.0), self.number(1.0), self.number(-1.0));
                        let below = self.b.ins().fcmp(FloatCC::LessThan, x, zero);
                        self.b.ins().select(below, minus, one)
                    }
                    Builtin::Sqrt => {
                        let half = self.number(0.5);
                        self.b.ins().fdiv(half, y)
                    }
                    Builtin::Exp => y,
                    Builtin::Sign | Builtin::Ceil | Builtin::Floor | Builtin::Integer => {
                        self.number(0.0)
                    }
                    _ => self.call2(shims::slope(f)?, x, y),
                };
                Some(self.times(d, slope))
            }
        };
        self.define(dst, Num { x: y, d });
        Some(())
    }

    /// As `check_builtin` and `builtin2` of the scalar kernel, and the slopes of the interpreter.
    fn function2(&mut self, pc: usize, f: Builtin, dst: Reg, a: Reg, b: Reg) -> Option<()> {
        let (left, right) = (self.get(a)?, self.get(b)?);
        let (x, y) = (left.x, right.x);
        if matches!(f, Builtin::Div | Builtin::Mod | Builtin::Rem)
            && self.constant(b).is_none_or(|c| c == 0.0)
        {
            let zero = self.number(0.0);
            let bad = self.b.ins().fcmp(FloatCC::Equal, y, zero);
            self.fail_if(bad, pc, &[a, b]);
        }
        let (z, slopes) = match f {
            Builtin::Atan2 => {
                let z = self.call2(shims::atan2, x, y);
                let (xx, yy) = (self.b.ins().fmul(x, x), self.b.ins().fmul(y, y));
                let n = self.b.ins().fadd(xx, yy);
                let minus = self.b.ins().fneg(x);
                (z, (self.b.ins().fdiv(y, n), self.b.ins().fdiv(minus, n)))
            }
            Builtin::Min | Builtin::Max => {
                let condition = if f == Builtin::Min {
                    FloatCC::LessThanOrEqual
                } else {
                    FloatCC::GreaterThanOrEqual
                };
                let first = self.b.ins().fcmp(condition, x, y);
                let nan = self.b.ins().fcmp(FloatCC::Unordered, y, y);
                let take = self.b.ins().bor(first, nan);
                let z = self.b.ins().select(take, x, y);
                let (zero, one) = (self.number(0.0), self.number(1.0));
                let p = self.b.ins().select(first, one, zero);
                let q = self.b.ins().select(first, zero, one);
                (z, (p, q))
            }
            Builtin::Div | Builtin::Mod | Builtin::Rem => {
                let quotient = self.b.ins().fdiv(x, y);
                let whole = if f == Builtin::Mod {
                    self.b.ins().floor(quotient)
                } else {
                    self.b.ins().trunc(quotient)
                };
                let (zero, one) = (self.number(0.0), self.number(1.0));
                if f == Builtin::Div {
                    (whole, (zero, zero))
                } else {
                    let multiple = self.b.ins().fmul(whole, y);
                    let rest = self.b.ins().fsub(x, multiple);
                    (rest, (one, self.b.ins().fneg(whole)))
                }
            }
            _ => return None,
        };
        let p = left.d.map(|d| self.times(d, slopes.0));
        let q = right.d.map(|d| self.times(d, slopes.1));
        let d = self.combine(p, q);
        self.define(dst, Num { x: z, d });
        Some(())
    }

    fn power(&mut self, pc: usize, dst: Reg, a: Reg, b: Reg) -> Option<()> {
        let (left, right) = (self.get(a)?, self.get(b)?);
        let (x, y) = (left.x, right.x);
        let exponent = self.constant(b);
        let zero = self.number(0.0);
        // A negative base needs a whole exponent, a zero one an exponent that is not negative.
        if exponent.is_none_or(|e| e.fract() != 0.0) {
            let fraction = self.fraction(y);
            let broken = self.b.ins().fcmp(FloatCC::NotEqual, fraction, zero);
            let negative = self.b.ins().fcmp(FloatCC::LessThan, x, zero);
            let bad = self.b.ins().band(negative, broken);
            self.fail_if(bad, pc, &[a, b]);
        }
        if exponent.is_none_or(|e| e < 0.0) {
            let at_zero = self.b.ins().fcmp(FloatCC::Equal, x, zero);
            let down = self.b.ins().fcmp(FloatCC::LessThan, y, zero);
            let bad = self.b.ins().band(at_zero, down);
            self.fail_if(bad, pc, &[a, b]);
        }
        let z = if exponent == Some(2.0) {
            self.b.ins().fmul(x, x)
        } else {
            self.call2(shims::power, x, y)
        };
        let p = left.d.map(|d| {
            let slope = self.call2(shims::power_slope_base, x, y);
            self.times(d, slope)
        });
        let q = right.d.map(|d| {
            let slope = self.call2(shims::power_slope_exponent, x, z);
            self.times(d, slope)
        });
        let d = self.combine(p, q);
        self.define(dst, Num { x: z, d });
        Some(())
    }
}

/// Lanes lie behind a double: not on a multiple of their own size.
fn vector_memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

fn bits_of_vector() -> MemFlagsData {
    MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little)
}
