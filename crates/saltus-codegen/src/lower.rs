//! Expressions to a tape.
//!
//! Comes in: scalar expressions of the structured system. Goes out: a [`Tape`]. Equal (hash-consed) nodes are computed once
//! per tape. Branches of `if`, and right sides of `and` and `or`, are skipped by jumps when they may fault or are long; what
//! was computed inside a skipped part is forgotten at its end (`Scope`). Arrays and records occur as arguments of calls, as
//! bases of subscripts and in reductions; they become trees of registers ([`Arg`]). What has no tape form is handed to the
//! evaluator as a whole ([`Op::Evaluate`]). Algorithms of functions are lowered by [`function`].
//!
//! Strict operands are visited with an explicit stack, so that long sums do not use the machine's stack; nesting of lazy
//! parts and of arrays is bounded by [`DEPTH_MAX`].

mod function;
mod integers;

pub(crate) use function::lower_function;

use crate::calls::{Arg, CallSite, leaf_count, table_call};
use crate::functions::{self, FunctionTable};
use crate::layout::Layout;
use crate::tape::{AssertSite, Op, Reg, Sign, Tape};
use integers::View;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::FlatModel;
use saltus_ir::ops::double_of;
use saltus_ir::{
    Base, BinaryOp, Builtin, Expr, ExprId, FuncId, Ir, Sub, TypeId, UnaryOp, Value, VarId,
};
use saltus_model::{Site, Slot};
use std::cell::RefCell;
use std::collections::hash_map::Entry;

/// Deepest nesting of `if`, `and`, `or` and array constructors.
const DEPTH_MAX: u32 = 400;
/// A branch with at most this many operations that cannot fault is computed without a jump.
const EAGER_MAX: usize = 12;

/// Why an expression has no code.
pub(crate) type LowerError = String;

#[derive(Clone, Copy)]
enum Key {
    Expr(ExprId),
    Integer(ExprId),
    Call(ExprId),
    Slot(u32, bool),
    Trigonometric(Reg),
}

pub(crate) struct Lower<'a> {
    flat: &'a FlatModel,
    layout: &'a Layout,
    tape: Tape,
    memo: FxHashMap<ExprId, Reg>,
    /// Registers with the 64 bits of Integer expressions.
    integers: FxHashMap<ExprId, Reg>,
    calls: FxHashMap<ExprId, u32>,
    /// Register that holds a slot's value (`true`: its `pre`).
    slots: FxHashMap<(u32, bool), Reg>,
    /// The operation that computes the sine or cosine of a register.
    trigonometric: FxHashMap<Reg, usize>,
    trail: Vec<Key>,
    /// Unknowns of the block, with their direction.
    unknowns: FxHashMap<u32, u32>,
    /// Slots whose value depends on the unknowns.
    active: FxHashSet<u32>,
    functions: &'a RefCell<FunctionTable>,
    /// In the code of a function.
    locals: Option<Box<function::Locals>>,
    site: Site,
    depth: u32,
}

/// What a call node's outputs are.
struct Scope(usize);

impl<'a> Lower<'a> {
    pub(crate) fn new(
        flat: &'a FlatModel,
        layout: &'a Layout,
        functions: &'a RefCell<FunctionTable>,
        site: Site,
    ) -> Lower<'a> {
        Lower {
            flat,
            layout,
            tape: Tape::default(),
            memo: FxHashMap::default(),
            integers: FxHashMap::default(),
            calls: FxHashMap::default(),
            slots: FxHashMap::default(),
            trigonometric: FxHashMap::default(),
            trail: Vec::new(),
            unknowns: FxHashMap::default(),
            active: FxHashSet::default(),
            functions,
            locals: None,
            site,
            depth: 0,
        }
    }

    /// Code of a block: these slots are its unknowns, each with the number of the direction in which derivatives with respect to it
    /// are taken.
    pub(crate) fn with_unknowns(
        mut self,
        unknowns: impl Iterator<Item = (Slot, u32)> + Clone,
    ) -> Lower<'a> {
        self.active = unknowns.clone().map(|(slot, _)| slot.0).collect();
        self.unknowns = unknowns
            .map(|(slot, direction)| (slot.0, direction))
            .collect();
        self
    }

    pub(crate) fn finish(mut self) -> Tape {
        let functions = self.functions.borrow();
        let behind = self.tape.calls.iter().filter_map(|call| {
            let target = call.target.as_ref()?;
            Some(functions.code(target.function).tape.frame)
        });
        self.tape.frame = self.tape.n_regs + behind.max().unwrap_or(0);
        drop(functions);
        self.tape
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tape.ops.is_empty()
    }

    pub(crate) fn set_site(&mut self, site: Site) {
        self.site = site;
    }

    // ---- statements ----

    /// `var := value`
    pub(crate) fn assign(&mut self, var: VarId, value: ExprId) -> Result<(), LowerError> {
        let src = self.lower_for(var, value)?;
        self.store(var, src);
        Ok(())
    }

    /// A value that a variable keeps.
    fn lower_for(&mut self, var: VarId, value: ExprId) -> Result<Reg, LowerError> {
        match self.flat.variables[var].base {
            Base::Integer => self.lower_kept(value),
            _ => self.lower(value),
        }
    }

    /// `var := value`, unless a value is given from outside.
    pub(crate) fn assign_overridable(
        &mut self,
        var: VarId,
        value: ExprId,
    ) -> Result<(), LowerError> {
        let computed = self.lower_for(var, value)?;
        let src = self.alloc();
        self.emit(Op::Copy {
            dst: src,
            src: computed,
        });
        self.emit(Op::Override {
            src,
            slot: self.layout.slot(var).0,
        });
        self.store(var, src);
        Ok(())
    }

    /// Consecutive assignments `v := if c then a else b` of the same condition, with one jump.
    pub(crate) fn assign_together(
        &mut self,
        condition: ExprId,
        items: &[(VarId, ExprId, ExprId, ExprId, Site)],
    ) -> Result<(), LowerError> {
        let c = self.lower(condition)?;
        let targets: Vec<Reg> = items.iter().map(|_| self.alloc()).collect();
        for (var, ..) in items {
            self.forget_if_read(self.layout.slot(*var).0);
        }
        let skip = self.jump(Op::JumpIfNot { c, to: 0 });
        self.branch_of_group(items, &targets, |item| item.1)?;
        let end = self.jump(Op::Jump { to: 0 });
        self.land(skip);
        self.branch_of_group(items, &targets, |item| item.2)?;
        self.land(end);
        for ((var, _, _, whole, _), &reg) in items.iter().zip(&targets) {
            self.remember_slot(self.layout.slot(*var).0, false, reg);
            self.remember(*whole, reg);
        }
        Ok(())
    }

    fn branch_of_group(
        &mut self,
        items: &[(VarId, ExprId, ExprId, ExprId, Site)],
        targets: &[Reg],
        value: impl Fn(&(VarId, ExprId, ExprId, ExprId, Site)) -> ExprId,
    ) -> Result<(), LowerError> {
        let scope = self.enter();
        for (item, &dst) in items.iter().zip(targets) {
            self.site = item.4;
            let src = self.lower_for(item.0, value(item))?;
            self.emit(Op::Copy { dst, src });
            let slot = self.layout.slot(item.0).0;
            self.emit(Op::Store { src: dst, slot });
            self.mark_stored(slot);
            self.remember_slot(slot, false, dst);
        }
        self.leave(scope);
        Ok(())
    }

    pub(crate) fn out(&mut self, value: ExprId, index: usize) -> Result<(), LowerError> {
        let src = self.lower(value)?;
        self.emit(Op::Out {
            src,
            index: index as u32,
        });
        Ok(())
    }

    pub(crate) fn out_constant(&mut self, value: f64, index: u32) {
        let src = self.constant(value);
        self.emit(Op::Out { src, index });
    }

    /// The value of a variable.
    pub(crate) fn out_value(&mut self, var: VarId, index: usize) {
        let src = self.load(var);
        self.emit(Op::Out {
            src,
            index: index as u32,
        });
    }

    /// Runs `body` only where `guard` holds.
    pub(crate) fn guarded(
        &mut self,
        guard: Option<ExprId>,
        body: impl FnOnce(&mut Self) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let Some(guard) = guard else {
            return body(self);
        };
        let c = self.lower(guard)?;
        let skip = self.jump(Op::JumpIfNot { c, to: 0 });
        let scope = self.enter();
        body(self)?;
        self.leave(scope);
        self.land(skip);
        Ok(())
    }

    pub(crate) fn assertion(
        &mut self,
        condition: ExprId,
        message: ExprId,
        warning: bool,
        number: u32,
    ) -> Result<(), LowerError> {
        let c = self.lower(condition)?;
        self.tape.asserts.push(AssertSite {
            condition,
            message,
            warning,
            number,
        });
        self.emit(Op::Assert {
            c,
            assert: self.tape.asserts.len() as u32 - 1,
        });
        Ok(())
    }

    pub(crate) fn reinit(&mut self, var: VarId, value: ExprId) -> Result<(), LowerError> {
        let src = self.lower(value)?;
        let (slot, sign) = self.layout.place(var);
        let src = self.signed(src, sign);
        self.emit(Op::Reinit { src, slot: slot.0 });
        Ok(())
    }

    pub(crate) fn terminate(&mut self, message: ExprId) {
        self.tape.messages.push(message);
        self.emit(Op::Terminate {
            message: self.tape.messages.len() as u32 - 1,
        });
    }

    /// A call for its effect.
    pub(crate) fn effect(&mut self, call: ExprId) -> Result<(), LowerError> {
        match self.ir().expr(call) {
            Expr::Call { .. } => self.call_site(call).map(|_| ()),
            Expr::Output { call, .. } | Expr::Leaf { of: call, .. } => {
                let call = *call;
                self.effect(call)
            }
            _ => self.lower(call).map(|_| ()),
        }
    }

    // ---- bookkeeping ----

    fn ir(&self) -> &'a Ir {
        &self.flat.ir
    }

    pub(crate) fn alloc(&mut self) -> Reg {
        self.alloc_many(1)
    }

    fn alloc_many(&mut self, n: usize) -> Reg {
        let reg = self.tape.n_regs;
        self.tape.n_regs += n as u32;
        reg
    }

    pub(crate) fn emit(&mut self, op: Op) {
        saltus_control::checkpoint();
        self.tape.ops.push(op);
        self.tape.sites.push(self.site);
    }

    pub(crate) fn jump(&mut self, op: Op) -> usize {
        self.emit(op);
        self.tape.ops.len() - 1
    }

    /// Lets the jump at `from` land here.
    pub(crate) fn land(&mut self, from: usize) {
        let here = self.tape.ops.len() as u32;
        match &mut self.tape.ops[from] {
            Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } => *to = here,
            _ => unreachable!("only jumps are landed"),
        }
    }

    fn enter(&mut self) -> Scope {
        self.depth += 1;
        Scope(self.trail.len())
    }

    fn leave(&mut self, scope: Scope) {
        self.depth -= 1;
        self.leave_branch(scope);
    }

    /// What was computed since is not known any more.
    fn leave_branch(&mut self, scope: Scope) {
        for key in self.trail.drain(scope.0..) {
            match key {
                Key::Expr(e) => {
                    self.memo.remove(&e);
                }
                Key::Integer(e) => {
                    self.integers.remove(&e);
                }
                Key::Call(e) => {
                    self.calls.remove(&e);
                }
                Key::Slot(slot, pre) => {
                    self.slots.remove(&(slot, pre));
                }
                Key::Trigonometric(reg) => {
                    self.trigonometric.remove(&reg);
                }
            }
        }
    }

    /// A value that is known already stays where it is: its register may come from further out and outlives this scope.
    fn remember(&mut self, expr: ExprId, reg: Reg) {
        if let Entry::Vacant(place) = self.memo.entry(expr) {
            place.insert(reg);
            self.trail.push(Key::Expr(expr));
        }
    }

    fn remember_slot(&mut self, slot: u32, pre: bool, reg: Reg) {
        if self.slots.insert((slot, pre), reg).is_none() {
            self.trail.push(Key::Slot(slot, pre));
        }
    }

    /// A slot that was read is about to change: nothing computed so far may be used again.
    fn forget_if_read(&mut self, slot: u32) {
        if self.slots.contains_key(&(slot, false)) {
            self.memo.clear();
            self.integers.clear();
            self.calls.clear();
            self.slots.clear();
        }
    }

    fn mark_stored(&mut self, slot: u32) {
        if !self.unknowns.is_empty() {
            self.active.insert(slot);
        }
    }

    pub(crate) fn store(&mut self, var: VarId, src: Reg) {
        let (slot, sign) = self.layout.place(var);
        let src = self.signed(src, sign);
        self.forget_if_read(slot.0);
        self.emit(Op::Store { src, slot: slot.0 });
        self.mark_stored(slot.0);
        self.remember_slot(slot.0, false, src);
    }

    fn signed(&mut self, src: Reg, sign: Sign) -> Reg {
        match sign {
            Sign::Plain => src,
            Sign::Negated => {
                let dst = self.alloc();
                self.emit(Op::Neg { dst, a: src });
                dst
            }
            Sign::Complement => {
                let dst = self.alloc();
                self.emit(Op::Not { dst, a: src });
                dst
            }
        }
    }

    fn load(&mut self, var: VarId) -> Reg {
        let (slot, sign) = self.layout.place(var);
        let reg = self.load_slot(slot.0);
        self.signed(reg, sign)
    }

    fn load_slot(&mut self, slot: u32) -> Reg {
        if let Some(&reg) = self.slots.get(&(slot, false)) {
            return reg;
        }
        let dst = self.alloc();
        self.emit(match self.unknowns.get(&slot) {
            Some(&direction) => Op::Unknown {
                dst,
                slot,
                direction,
            },
            None => Op::Load { dst, slot },
        });
        self.remember_slot(slot, false, dst);
        dst
    }

    fn load_pre(&mut self, var: VarId) -> Reg {
        let (slot, sign) = self.layout.place(var);
        let reg = match self.slots.get(&(slot.0, true)) {
            Some(&reg) => reg,
            None => {
                let dst = self.alloc();
                self.emit(Op::Pre { dst, slot: slot.0 });
                self.remember_slot(slot.0, true, dst);
                dst
            }
        };
        self.signed(reg, sign)
    }

    pub(crate) fn constant(&mut self, value: f64) -> Reg {
        let dst = self.alloc();
        self.emit(Op::Const { dst, value });
        dst
    }

    // ---- scalars ----

    /// Code for a scalar expression; its register.
    pub(crate) fn lower(&mut self, root: ExprId) -> Result<Reg, LowerError> {
        if let Some(&reg) = self.memo.get(&root) {
            return Ok(reg);
        }
        self.compute(root, View::Number)?;
        self.memo
            .get(&root)
            .copied()
            .ok_or_else(|| "an expression reads what it assigns".to_string())
    }

    fn has_register(&self, e: ExprId, view: View) -> bool {
        match view {
            View::Number => self.memo.contains_key(&e),
            View::Integer => self.integers.contains_key(&e),
        }
    }

    /// Gives an expression a register in this view.
    fn compute(&mut self, root: ExprId, view: View) -> Result<(), LowerError> {
        if self.depth > DEPTH_MAX {
            return Err(format!("nested more than {DEPTH_MAX} levels deep"));
        }
        let mut stack = vec![(root, view)];
        let mut pending = Vec::new();
        while let Some(&(top, view)) = stack.last() {
            if self.has_register(top, view) {
                stack.pop();
                continue;
            }
            if view == View::Number
                && let Some(x) = self.known_number(top)
            {
                let reg = self.constant(x);
                self.remember(top, reg);
                stack.pop();
                continue;
            }
            if view == View::Integer
                && let Some(reg) = self.known_integer(top)
            {
                self.remember_integer(top, reg);
                stack.pop();
                continue;
            }
            pending.clear();
            match view {
                View::Integer => self.integer_operands(top, &mut pending),
                View::Number if self.is_computed(top) => pending.push((top, View::Integer)),
                View::Number => self.strict_children(top, &mut pending),
            }
            pending.retain(|(e, view)| !self.has_register(*e, *view));
            if !pending.is_empty() {
                stack.append(&mut pending);
                continue;
            }
            match view {
                View::Integer => {
                    let reg = self.emit_integer(top)?;
                    self.remember_integer(top, reg);
                }
                View::Number => {
                    let reg = match self.integers.get(&top) {
                        Some(&reg) if self.is_computed(top) => self.number_of_integer(reg),
                        _ => self.emit_node(top)?,
                    };
                    self.remember(top, reg);
                }
            }
            stack.pop();
        }
        Ok(())
    }

    /// Scalar operands that are always evaluated.
    fn strict_children(&self, e: ExprId, out: &mut Vec<(ExprId, View)>) {
        let ir = self.ir();
        let first = out.len();
        let mut plain = |e: ExprId| out.push((e, View::Number));
        match ir.expr(e) {
            Expr::Unary(_, a) => plain(*a),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, a, _) => plain(*a),
            Expr::Binary(_, a, b)
                if !is_string(ir, *a) && ir.ty(*a).is_scalar() && ir.ty(*b).is_scalar() =>
            {
                plain(*b);
                plain(*a);
            }
            Expr::If(c, ..) if ir.as_boolean(*c).is_none() => plain(*c),
            Expr::Builtin(f, args) => match f {
                _ if (f.is_math1() || f.is_math2())
                    && args.iter().all(|a| ir.ty(*a).is_scalar()) =>
                {
                    args.iter().rev().for_each(|a| plain(*a));
                }
                Builtin::NoEvent | Builtin::Ordinal | Builtin::EnumOf => plain(args[0]),
                Builtin::Smooth if args.len() == 2 => plain(args[1]),
                _ => {}
            },
            _ => {}
        }
        if let Expr::Binary(op, a, b) = ir.expr(e)
            && self.compares_integers(*op, *a, *b)
        {
            let sides = &mut out[first..];
            sides.iter_mut().for_each(|side| side.1 = View::Integer);
            out.retain(|(e, _)| !matches!(ir.expr(*e), Expr::Integer(_)));
        }
    }

    /// Code for one node whose strict operands have registers.
    fn emit_node(&mut self, e: ExprId) -> Result<Reg, LowerError> {
        let ir = self.ir();
        if !ir.ty(e).is_scalar() {
            return Err("an array where a scalar is needed".into());
        }
        if self.locals.is_some()
            && matches!(
                ir.expr(e),
                Expr::Local(_)
                    | Expr::Call { .. }
                    | Expr::Output { .. }
                    | Expr::Index { .. }
                    | Expr::Field { .. }
                    | Expr::Reduce { .. }
            )
        {
            return match self.registers(e)? {
                Some(Arg::Scalar { reg, .. }) => Ok(reg),
                _ => self.evaluate(e),
            };
        }
        match ir.expr(e) {
            Expr::Real(bits) => Ok(self.constant(f64::from_bits(*bits))),
            Expr::Integer(i) => Ok(self.constant(*i as f64)),
            Expr::Boolean(b) => Ok(self.constant(f64::from(u8::from(*b)))),
            Expr::Enum(_, k) => Ok(self.constant(f64::from(*k))),
            Expr::Time => Ok(self.load_slot(0)),
            Expr::Var(v) => Ok(self.load(*v)),
            Expr::Unary(op, a) => {
                let a = self.lower(*a)?;
                let reg = self.signed(
                    a,
                    if *op == UnaryOp::Neg {
                        Sign::Negated
                    } else {
                        Sign::Complement
                    },
                );
                Ok(if self.is_whole(e) {
                    self.whole_number(reg)
                } else {
                    reg
                })
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                self.short_circuit(*op, *a, *b)
            }
            Expr::Binary(op, a, b) => {
                if is_string(ir, *a) {
                    return self.string_relation(e, *op, *a, *b);
                }
                if !ir.ty(*a).is_scalar() || !ir.ty(*b).is_scalar() {
                    return match self.registers(e)? {
                        Some(Arg::Scalar { reg, .. }) => Ok(reg),
                        _ => self.evaluate(e),
                    };
                }
                if self.is_whole(e) {
                    return self.integer(*op, *a, *b);
                }
                if self.compares_integers(*op, *a, *b) {
                    let (f, a, b) = (*op, self.lower_integer(*a)?, self.lower_integer(*b)?);
                    let dst = self.alloc();
                    self.emit(Op::IntegerRelation { f, dst, a, b });
                    return Ok(dst);
                }
                let (a, b) = (self.lower(*a)?, self.lower(*b)?);
                Ok(self.binary(*op, a, b))
            }
            Expr::If(c, t, f) => match self.known_truth(*c) {
                Some(true) => self.lower(*t),
                Some(false) => self.lower(*f),
                None => self.conditional(*c, *t, *f, View::Number),
            },
            Expr::Builtin(f, args) => self.builtin(e, *f, args),
            Expr::Call { .. } | Expr::Output { .. } | Expr::Leaf { .. } => {
                if is_string(ir, e) {
                    return self.evaluate(e);
                }
                let (node, index) = match ir.expr(e) {
                    Expr::Leaf { of, index } => (*of, *index as usize),
                    _ => (e, 0),
                };
                match ir.expr(node) {
                    Expr::Call { .. } | Expr::Output { .. } => {
                        let (base, n) = self.call_output(node)?;
                        if index >= n {
                            return Err("a leaf beyond the end of a call's result".into());
                        }
                        Ok(base + index as u32)
                    }
                    _ => match self.registers(node)? {
                        Some(arg) => {
                            let mut leaves = Vec::new();
                            arg.leaves(&mut leaves);
                            leaves
                                .get(index)
                                .copied()
                                .ok_or_else(|| "a leaf beyond the end of an array".to_string())
                        }
                        None => self.evaluate(e),
                    },
                }
            }
            Expr::Index { base, subs } => self.index(e, *base, subs),
            Expr::Field { .. } | Expr::Reduce { .. } => match self.tree(e)? {
                Some(Arg::Scalar { reg, .. }) => Ok(reg),
                _ => self.evaluate(e),
            },
            Expr::String(_) => self.evaluate(e),
            Expr::Local(l) => Err(format!(
                "`{}` has no value here",
                ir.locals[*l].name.as_str()
            )),
            Expr::VarArray(_)
            | Expr::Array(_)
            | Expr::Range { .. }
            | Expr::Record { .. }
            | Expr::Comprehension { .. }
            | Expr::Function { .. } => {
                Err("an array, record or function where a scalar is needed".into())
            }
        }
    }

    /// An Integer in the code of a function, where zero has no sign, as for the evaluator.
    fn is_whole(&self, e: ExprId) -> bool {
        self.locals.is_some() && self.ir().base(e) == Base::Integer
    }

    fn binary(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Reg {
        let dst = self.alloc();
        self.emit(match op {
            BinaryOp::Add => Op::Add { dst, a, b },
            BinaryOp::Sub => Op::Sub { dst, a, b },
            BinaryOp::Mul | BinaryOp::MatMul => Op::Mul { dst, a, b },
            BinaryOp::Div => Op::Div { dst, a, b },
            BinaryOp::MatPow => Op::Binary {
                f: BinaryOp::Pow,
                dst,
                a,
                b,
            },
            f => Op::Binary { f, dst, a, b },
        });
        dst
    }

    /// Texts are numbers in a table, equal texts have equal numbers; order needs the texts.
    fn string_relation(
        &mut self,
        e: ExprId,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
    ) -> Result<Reg, LowerError> {
        if !matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            return self.evaluate(e);
        }
        let (a, b) = (self.lower(a)?, self.lower(b)?);
        Ok(self.binary(op, a, b))
    }

    fn lower_in(&mut self, e: ExprId, view: View) -> Result<Reg, LowerError> {
        match view {
            View::Number => self.lower(e),
            View::Integer => self.lower_integer(e),
        }
    }

    /// `if c then t else f`. A chain of conditions is one loop: each is reached where those before do not hold.
    fn conditional(
        &mut self,
        c: ExprId,
        t: ExprId,
        f: ExprId,
        view: View,
    ) -> Result<Reg, LowerError> {
        let dst = self.alloc();
        let (mut c, mut t, mut f) = (self.lower(c)?, t, f);
        let mut scopes = Vec::new();
        let mut ends = Vec::new();
        loop {
            if self.is_eager(&[t, f]) {
                let (t, e) = (self.lower_in(t, view)?, self.lower_in(f, view)?);
                self.emit(Op::Copy { dst, src: t });
                self.emit(Op::Select { dst, c, e });
                break;
            }
            let skip = self.jump(Op::JumpIfNot { c, to: 0 });
            self.branch(t, dst, view)?;
            ends.push(self.jump(Op::Jump { to: 0 }));
            self.land(skip);
            match *self.ir().expr(f) {
                Expr::If(next, then, other)
                    if !self.has_register(f, view) && self.known_truth(next).is_none() =>
                {
                    scopes.push(Scope(self.trail.len()));
                    (c, t, f) = (self.lower(next)?, then, other);
                }
                _ => {
                    self.branch(f, dst, view)?;
                    break;
                }
            }
        }
        for scope in scopes.into_iter().rev() {
            self.leave_branch(scope);
        }
        ends.into_iter().for_each(|end| self.land(end));
        Ok(dst)
    }

    fn branch(&mut self, value: ExprId, dst: Reg, view: View) -> Result<(), LowerError> {
        let scope = self.enter();
        let src = self.lower_in(value, view)?;
        self.emit(Op::Copy { dst, src });
        self.leave(scope);
        Ok(())
    }

    fn short_circuit(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Result<Reg, LowerError> {
        let left = self.lower(a)?;
        if self.is_eager(&[b]) {
            let right = self.lower(b)?;
            return Ok(self.binary(op, left, right));
        }
        let dst = self.alloc();
        self.emit(Op::Copy { dst, src: left });
        let end = self.jump(match op {
            BinaryOp::And => Op::JumpIfNot { c: left, to: 0 },
            _ => Op::JumpIf { c: left, to: 0 },
        });
        self.branch(b, dst, View::Number)?;
        self.land(end);
        Ok(dst)
    }

    /// Short and unable to fault: cheaper to compute than to skip.
    fn is_eager(&self, roots: &[ExprId]) -> bool {
        let ir = self.ir();
        let mut stack = roots.to_vec();
        let mut n = 0;
        while let Some(e) = stack.pop() {
            if self.memo.contains_key(&e) {
                continue;
            }
            n += 1;
            if n > EAGER_MAX || !ir.ty(e).is_scalar() || is_string(ir, e) {
                return false;
            }
            // A result may not fit.
            if self.is_operator(e) {
                return false;
            }
            match ir.expr(e) {
                Expr::Real(_)
                | Expr::Integer(_)
                | Expr::Boolean(_)
                | Expr::Enum(..)
                | Expr::Time
                | Expr::Var(_)
                | Expr::Local(_) => {}
                Expr::Unary(_, a) => stack.push(*a),
                Expr::Binary(op, a, b) => {
                    use BinaryOp::*;
                    match op {
                        Add | Sub | Mul | Lt | Le | Gt | Ge | Eq | Ne | And | Or => {
                            stack.extend([*a, *b])
                        }
                        Div if ir.as_number(*b).is_some_and(|y| y != 0.0) => stack.push(*a),
                        Div | Pow | MatMul | MatPow => return false,
                    }
                }
                Expr::Builtin(f, args) => match f {
                    Builtin::Abs | Builtin::Sign | Builtin::Min | Builtin::Max
                        if args.len() <= 2 =>
                    {
                        stack.extend(args.iter());
                    }
                    Builtin::NoEvent | Builtin::Pre => stack.extend(args.iter()),
                    _ => return false,
                },
                _ => return false,
            }
        }
        true
    }

    fn builtin(&mut self, e: ExprId, f: Builtin, args: &[ExprId]) -> Result<Reg, LowerError> {
        let ir = self.ir();
        let scalars = args.iter().all(|a| ir.ty(*a).is_scalar());
        match f {
            _ if f.is_math1() && args.len() == 1 && scalars => {
                let a = self.lower(args[0])?;
                if let Some(reg) = self.other_of_pair(f, a) {
                    return Ok(reg);
                }
                let dst = self.alloc();
                self.emit(Op::Math1 { f, dst, a });
                Ok(if self.is_whole(e) {
                    self.whole_number(dst)
                } else {
                    dst
                })
            }
            _ if f.is_math2() && args.len() == 2 && scalars => {
                let (a, b) = (self.lower(args[0])?, self.lower(args[1])?);
                let dst = self.alloc();
                self.emit(Op::Math2 { f, dst, a, b });
                Ok(if self.is_whole(e) {
                    self.whole_number(dst)
                } else {
                    dst
                })
            }
            Builtin::NoEvent | Builtin::Ordinal => self.lower(args[0]),
            Builtin::Homotopy | Builtin::Exact if self.locals.is_some() => self.lower(args[0]),
            Builtin::Smooth if args.len() == 2 => self.lower(args[1]),
            Builtin::EnumOf => {
                let a = self.lower(args[0])?;
                if let Base::Enum(id) = ir.base(e) {
                    let n = ir.enums[id].literals.len() as u32;
                    self.emit(Op::CheckIndex { a, n });
                }
                Ok(a)
            }
            Builtin::Pre => match ir.expr(args[0]) {
                Expr::Var(v) => Ok(self.load_pre(*v)),
                Expr::Unary(UnaryOp::Neg, a) if matches!(ir.expr(*a), Expr::Var(_)) => {
                    let Expr::Var(v) = ir.expr(*a) else {
                        unreachable!("just matched")
                    };
                    let reg = self.load_pre(*v);
                    Ok(self.signed(reg, Sign::Negated))
                }
                Expr::Unary(UnaryOp::Not, a) if matches!(ir.expr(*a), Expr::Var(_)) => {
                    let Expr::Var(v) = ir.expr(*a) else {
                        unreachable!("just matched")
                    };
                    let reg = self.load_pre(*v);
                    Ok(self.signed(reg, Sign::Complement))
                }
                Expr::Real(_) | Expr::Integer(_) | Expr::Boolean(_) | Expr::Enum(..) => {
                    self.lower(args[0])
                }
                _ => Err("`pre` of something that is not a variable".into()),
            },
            Builtin::Edge | Builtin::Change => match ir.expr(args[0]) {
                Expr::Var(v) => {
                    let (now, before) = (self.load(*v), self.load_pre(*v));
                    if f == Builtin::Change {
                        return Ok(self.binary(BinaryOp::Ne, now, before));
                    }
                    let not_before = self.signed(before, Sign::Complement);
                    Ok(self.binary(BinaryOp::And, now, not_before))
                }
                _ => Err(format!(
                    "`{}` of something that is not a variable",
                    f.name()
                )),
            },
            Builtin::SemiLinear if args.len() == 3 => {
                let x = self.lower(args[0])?;
                let (plus, minus) = (self.lower(args[1])?, self.lower(args[2])?);
                let zero = self.constant(0.0);
                let c = self.binary(BinaryOp::Ge, x, zero);
                let slope = self.alloc();
                self.emit(Op::Copy {
                    dst: slope,
                    src: plus,
                });
                self.emit(Op::Select {
                    dst: slope,
                    c,
                    e: minus,
                });
                Ok(self.binary(BinaryOp::Mul, x, slope))
            }
            Builtin::Delay if args.len() == 5 => {
                let Expr::Integer(delay) = ir.expr(args[0]) else {
                    return Err("a `delay` without its number".into());
                };
                let (value, time) = (self.lower(args[1])?, self.lower(args[2])?);
                let extra = self.lower(args[3])?;
                let dst = self.alloc();
                self.emit(Op::Delay {
                    dst,
                    delay: *delay as u32,
                    value,
                    time,
                    extra,
                });
                Ok(dst)
            }
            Builtin::Sum | Builtin::Product | Builtin::Min | Builtin::Max => {
                self.reduce(e, f, args)
            }
            Builtin::Scalar => match self.registers(args[0])? {
                Some(arg) => {
                    let mut leaves = Vec::new();
                    arg.leaves(&mut leaves);
                    if leaves.len() == 1 {
                        Ok(leaves[0])
                    } else {
                        Err("`scalar` of an array with several elements".into())
                    }
                }
                None => self.evaluate(e),
            },
            Builtin::Size | Builtin::Ndims | Builtin::ToString => self.evaluate(e),
            Builtin::Der
            | Builtin::Initial
            | Builtin::Terminal
            | Builtin::Sample
            | Builtin::Homotopy
            | Builtin::InStream
            | Builtin::ActualStream
            | Builtin::Cardinality
            | Builtin::IsRoot
            | Builtin::Rooted
            | Builtin::Delay
            | Builtin::SpatialDistribution
            | Builtin::Previous
            | Builtin::Hold
            | Builtin::ClockSample
            | Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock
            | Builtin::Interval
            | Builtin::FirstTick
            | Builtin::Clock => Err(format!("`{}` is not supported at this place", f.name())),
            _ => self.evaluate(e),
        }
    }

    /// The sine of a register whose cosine is computed already, or the other way round: one operation gives both. Otherwise
    /// remembers that this one comes next.
    fn other_of_pair(&mut self, f: Builtin, a: Reg) -> Option<Reg> {
        if !matches!(f, Builtin::Sin | Builtin::Cos) {
            return None;
        }
        let Some(&at) = self.trigonometric.get(&a) else {
            self.trigonometric.insert(a, self.tape.ops.len());
            self.trail.push(Key::Trigonometric(a));
            return None;
        };
        let other = self.alloc();
        let op = &mut self.tape.ops[at];
        match *op {
            Op::Math1 { f: first, dst, a } if first != f => {
                let (sin, cos) = if f == Builtin::Sin {
                    (other, dst)
                } else {
                    (dst, other)
                };
                *op = Op::SinCos { sin, cos, a };
                Some(other)
            }
            Op::SinCos { sin, cos, .. } => Some(if f == Builtin::Sin { sin } else { cos }),
            _ => None,
        }
    }

    /// `sum(a)`, `product(a)`, `min(a)`, `max(a)` of an array.
    fn reduce(&mut self, e: ExprId, f: Builtin, args: &[ExprId]) -> Result<Reg, LowerError> {
        let ir = self.ir();
        let [array] = args else {
            return self.evaluate(e);
        };
        let Some(arg) = self.registers(*array)? else {
            return self.evaluate(e);
        };
        let mut leaves = Vec::new();
        arg.leaves(&mut leaves);
        let mut leaves = leaves.into_iter();
        let Some(mut sum) = leaves.next() else {
            return self.evaluate(e);
        };
        let base = ir.base(e);
        for b in leaves {
            sum = match f {
                Builtin::Sum => self.typed_binary(BinaryOp::Add, (sum, base), (b, base)),
                Builtin::Product => self.typed_binary(BinaryOp::Mul, (sum, base), (b, base)),
                _ => {
                    let dst = self.alloc();
                    self.emit(Op::Math2 { f, dst, a: sum, b });
                    dst
                }
            };
        }
        Ok(sum)
    }

    /// The evaluator computes the whole expression from the slots.
    fn evaluate(&mut self, e: ExprId) -> Result<Reg, LowerError> {
        self.evaluable()?;
        self.note_inexact(e);
        let dst = self.alloc();
        self.tape.exprs.push(e);
        self.emit(Op::Evaluate {
            dst,
            expr: self.tape.exprs.len() as u32 - 1,
        });
        Ok(dst)
    }

    /// What the evaluator computes has no derivative with respect to the block's unknowns.
    fn note_inexact(&mut self, e: ExprId) {
        if self.active.is_empty() || self.tape.inexact {
            return;
        }
        let mut reads = Vec::new();
        crate::depend::reads(self.flat, e, &mut reads);
        self.tape.inexact = reads
            .iter()
            .any(|v| self.active.contains(&self.layout.slot(*v).0));
    }

    // ---- subscripts ----

    fn index(&mut self, e: ExprId, base: ExprId, subs: &[Sub]) -> Result<Reg, LowerError> {
        let ir = self.ir();
        let (Some(dims), Some(at)) = (ir.ty(base).known_dims(), scalar_subs(ir, subs)) else {
            return self.evaluate(e);
        };
        if dims.len() != at.len()
            || at
                .iter()
                .any(|s| !matches!(ir.base(*s), Base::Integer | Base::Enum(_)))
        {
            return self.evaluate(e);
        }
        // Slots are gathered directly as long as they are known to this tape.
        let direct = match ir.expr(base) {
            Expr::VarArray(first) => {
                let n: usize = dims.iter().product();
                let places: Vec<_> = (0..n)
                    .map(|i| self.layout.place(VarId(first.0 + i as u32)))
                    .collect();
                let free = places.iter().all(|(s, _)| !self.active.contains(&s.0));
                free.then(|| {
                    places
                        .iter()
                        .map(|(s, sign)| (s.0, *sign))
                        .collect::<Vec<_>>()
                })
            }
            _ => None,
        };
        let constant: Option<Vec<i64>> = at.iter().map(|s| whole(ir, *s)).collect();
        if let Some(constant) = constant {
            let linear = linear_index(&constant, &dims)?;
            return match ir.expr(base) {
                Expr::VarArray(first) => Ok(self.load(VarId(first.0 + linear as u32))),
                Expr::Array(items) if dims.len() == 1 => self.lower(items[linear]),
                _ => match self.registers(base)? {
                    Some(Arg::Array { elems, .. }) => match &elems[linear] {
                        Arg::Scalar { reg, .. } => Ok(*reg),
                        _ => self.evaluate(e),
                    },
                    _ => self.evaluate(e),
                },
            };
        }
        let list = match direct {
            Some(_) => None,
            None => match self.registers(base)? {
                Some(arg @ Arg::Array { .. }) => {
                    let mut leaves = Vec::new();
                    arg.leaves(&mut leaves);
                    Some(leaves)
                }
                _ => return self.evaluate(e),
            },
        };
        let mut linear: Option<Reg> = None;
        for (sub, &n) in at.iter().zip(&dims) {
            let a = self.lower(*sub)?;
            self.emit(Op::CheckIndex { a, n: n as u32 });
            let one = self.constant(1.0);
            let from_zero = self.binary(BinaryOp::Sub, a, one);
            linear = Some(match linear {
                None => from_zero,
                Some(before) => {
                    let n = self.constant(n as f64);
                    let scaled = self.binary(BinaryOp::Mul, before, n);
                    self.binary(BinaryOp::Add, scaled, from_zero)
                }
            });
        }
        let Some(index) = linear else {
            return self.evaluate(e);
        };
        let dst = self.alloc();
        match (direct, list) {
            (Some(slots), _) => {
                self.tape.slot_lists.push(slots);
                self.emit(Op::GatherSlots {
                    dst,
                    list: self.tape.slot_lists.len() as u32 - 1,
                    index,
                });
            }
            (None, Some(regs)) => {
                self.tape.gathers.push(regs);
                self.emit(Op::Gather {
                    dst,
                    list: self.tape.gathers.len() as u32 - 1,
                    index,
                });
            }
            (None, None) => unreachable!("one of both lists is made above"),
        }
        Ok(dst)
    }

    // ---- arrays, records, calls ----

    /// An expression of any type as a tree of registers; `None` if only the evaluator can compute it.
    fn tree(&mut self, e: ExprId) -> Result<Option<Arg>, LowerError> {
        if self.depth > DEPTH_MAX {
            return Err(format!("nested more than {DEPTH_MAX} levels deep"));
        }
        self.depth += 1;
        let tree = self.tree_inner(e);
        self.depth -= 1;
        tree
    }

    fn tree_inner(&mut self, e: ExprId) -> Result<Option<Arg>, LowerError> {
        let ir = self.ir();
        let ty = ir.ty(e).clone();
        if let Some(value) = constant_value(ir, e, 0).or_else(|| self.known_value(e)) {
            return Ok(Some(Arg::Constant(value)));
        }
        if self.locals.is_some()
            && let Some(tree) = self.function_tree(e)?
        {
            return Ok(Some(tree));
        }
        if ty.is_scalar() {
            match ty.base {
                Base::String => {
                    return Ok(match ir.expr(e) {
                        Expr::Var(v) => Some(Arg::Scalar {
                            reg: self.load(*v),
                            base: Base::String,
                        }),
                        _ => None,
                    });
                }
                Base::Record(_) | Base::Function => {}
                base => match ir.expr(e) {
                    Expr::Binary(op, a, b) if !ir.ty(*a).is_scalar() || !ir.ty(*b).is_scalar() => {
                        return self.array_binary(*op, *a, *b);
                    }
                    Expr::Field { .. } => {}
                    Expr::Reduce { .. } => return Ok(None),
                    _ => {
                        return Ok(Some(Arg::Scalar {
                            reg: self.lower_kept(e)?,
                            base,
                        }));
                    }
                },
            }
        }
        match ir.expr(e) {
            Expr::VarArray(first) => {
                let Some(dims) = ty.known_dims() else {
                    return Ok(None);
                };
                let n: usize = dims.iter().product();
                let elems = (0..n)
                    .map(|i| Arg::Scalar {
                        reg: self.load(VarId(first.0 + i as u32)),
                        base: ty.base,
                    })
                    .collect();
                Ok(Some(Arg::Array { dims, elems }))
            }
            Expr::Array(items) => {
                let Some(dims) = ty.known_dims() else {
                    return Ok(None);
                };
                let mut elems = Vec::new();
                for item in items {
                    match self.tree(*item)? {
                        Some(Arg::Array { elems: inner, .. }) => elems.extend(inner),
                        Some(Arg::Constant(Value::Array(a))) => {
                            elems.extend(a.elems.iter().map(|v| Arg::Constant(v.clone())));
                        }
                        Some(other) => elems.push(other),
                        None => return Ok(None),
                    }
                }
                if elems.len() != dims.iter().product::<usize>() {
                    return Ok(None);
                }
                Ok(Some(Arg::Array { dims, elems }))
            }
            Expr::Record { fields, .. } => {
                let mut out = Vec::new();
                for field in fields {
                    out.push(match self.tree(*field)? {
                        Some(arg) => arg,
                        None => self.whole(*field)?,
                    });
                }
                Ok(Some(Arg::Record(out)))
            }
            Expr::Field { base, index } => Ok(match self.tree(*base)? {
                Some(Arg::Record(mut fields)) if (*index as usize) < fields.len() => {
                    Some(fields.swap_remove(*index as usize))
                }
                _ => None,
            }),
            Expr::Call { .. } | Expr::Output { .. } => {
                if leaf_count(ir, ir.type_id(e)).is_none() || has_strings(ir, ir.type_id(e)) {
                    return Ok(None);
                }
                let (base, _) = self.call_output(e)?;
                let mut next = base;
                Ok(result_tree(ir, ir.type_id(e), &mut next))
            }
            Expr::Function { function, bound } => {
                let mut inputs = Vec::new();
                for (position, value) in bound {
                    let arg = match self.tree(*value)? {
                        Some(arg) => arg,
                        None => self.whole(*value)?,
                    };
                    inputs.push((*position, arg));
                }
                Ok(Some(Arg::Function(*function, inputs)))
            }
            Expr::Unary(op, a) => {
                let Some(Arg::Array { dims, elems }) = self.registers(*a)? else {
                    return Ok(None);
                };
                let sign = if *op == UnaryOp::Neg {
                    Sign::Negated
                } else {
                    Sign::Complement
                };
                let mut out = Vec::with_capacity(elems.len());
                for elem in elems {
                    let Arg::Scalar { reg, base } = elem else {
                        return Ok(None);
                    };
                    out.push(Arg::Scalar {
                        reg: self.signed(reg, sign),
                        base,
                    });
                }
                Ok(Some(Arg::Array { dims, elems: out }))
            }
            Expr::Binary(op, a, b) => self.array_binary(*op, *a, *b),
            Expr::Builtin(Builtin::NoEvent, args) => self.tree(args[0]),
            Expr::Builtin(Builtin::Smooth, args) if args.len() == 2 => self.tree(args[1]),
            Expr::Builtin(Builtin::Fill, args) => {
                let Some(dims) = ty.known_dims() else {
                    return Ok(None);
                };
                if !ir.ty(args[0]).is_scalar() {
                    return Ok(None);
                }
                let Some(value) = self.tree(args[0])? else {
                    return Ok(None);
                };
                let n: usize = dims.iter().product();
                Ok(Some(Arg::Array {
                    dims,
                    elems: vec![value; n],
                }))
            }
            Expr::Builtin(Builtin::Transpose, args) => Ok(match self.registers(args[0])? {
                Some(Arg::Array { dims, elems }) if dims.len() == 2 => {
                    let (n, m) = (dims[0], dims[1]);
                    let elems = (0..m)
                        .flat_map(|j| (0..n).map(move |i| (i, j)))
                        .map(|(i, j)| elems[i * m + j].clone());
                    Some(Arg::Array {
                        dims: vec![m, n],
                        elems: elems.collect(),
                    })
                }
                _ => None,
            }),
            Expr::Index { base, subs } => self.array_index(*base, subs),
            Expr::If(c, t, f) => {
                let (c, t, f) = (*c, *t, *f);
                self.array_if(c, t, f)
            }
            _ => Ok(None),
        }
    }

    /// Like `tree`, with constants in registers too.
    fn registers(&mut self, e: ExprId) -> Result<Option<Arg>, LowerError> {
        let tree = self.tree(e)?;
        Ok(tree.and_then(|t| self.unfold_constants(t)))
    }

    fn unfold_constants(&mut self, arg: Arg) -> Option<Arg> {
        Some(match arg {
            Arg::Constant(value) => match &value {
                Value::Array(a) => Arg::Array {
                    dims: a.dims.clone(),
                    elems: a
                        .elems
                        .iter()
                        .map(|v| self.unfold_constants(Arg::Constant(v.clone())))
                        .collect::<Option<_>>()?,
                },
                Value::Real(x) => Arg::Scalar {
                    reg: self.constant(*x),
                    base: Base::Real,
                },
                Value::Integer(i) => Arg::Scalar {
                    reg: self.constant(double_of(*i).ok()?),
                    base: Base::Integer,
                },
                Value::Boolean(b) => Arg::Scalar {
                    reg: self.constant(f64::from(u8::from(*b))),
                    base: Base::Boolean,
                },
                Value::Enum(id, k) => Arg::Scalar {
                    reg: self.constant(f64::from(*k)),
                    base: Base::Enum(*id),
                },
                Value::Record(_) => {
                    let parts = functions::exploded(&value);
                    return self.unfold_constants(parts);
                }
                _ => return None,
            },
            Arg::Array { dims, elems } => Arg::Array {
                dims,
                elems: elems
                    .into_iter()
                    .map(|a| self.unfold_constants(a))
                    .collect::<Option<_>>()?,
            },
            Arg::Record(fields) => Arg::Record(
                fields
                    .into_iter()
                    .map(|a| self.unfold_constants(a))
                    .collect::<Option<_>>()?,
            ),
            other => other,
        })
    }

    fn array_binary(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
    ) -> Result<Option<Arg>, LowerError> {
        let (Some(a), Some(b)) = (self.registers(a)?, self.registers(b)?) else {
            return Ok(None);
        };
        if op == BinaryOp::MatMul {
            return Ok(self.matrix_product(&a, &b));
        }
        if op == BinaryOp::MatPow {
            return Ok(None);
        }
        let base = |x: Base, y: Base| {
            if op.is_relation() {
                Base::Boolean
            } else if op == BinaryOp::Div
                || op == BinaryOp::Pow
                || x == Base::Real
                || y == Base::Real
            {
                Base::Real
            } else {
                x
            }
        };
        let (dims, pairs): (Vec<usize>, Vec<(Arg, Arg)>) = match (a, b) {
            (
                Arg::Array { dims, elems },
                Arg::Array {
                    dims: other,
                    elems: right,
                },
            ) if dims == other => (dims, elems.into_iter().zip(right).collect()),
            (Arg::Array { dims, elems }, right @ Arg::Scalar { .. }) => (
                dims,
                elems.into_iter().map(|e| (e, right.clone())).collect(),
            ),
            (left @ Arg::Scalar { .. }, Arg::Array { dims, elems }) => {
                (dims, elems.into_iter().map(|e| (left.clone(), e)).collect())
            }
            _ => return Ok(None),
        };
        let mut out = Vec::with_capacity(pairs.len());
        for (x, y) in pairs {
            let (Arg::Scalar { reg: a, base: ta }, Arg::Scalar { reg: b, base: tb }) = (x, y)
            else {
                return Ok(None);
            };
            out.push(Arg::Scalar {
                reg: self.typed_binary(op, (a, ta), (b, tb)),
                base: base(ta, tb),
            });
        }
        Ok(Some(Arg::Array { dims, elems: out }))
    }

    /// Products of vectors and matrices (specification 10.6.5).
    fn matrix_product(&mut self, a: &Arg, b: &Arg) -> Option<Arg> {
        let (
            Arg::Array {
                dims: da,
                elems: ea,
            },
            Arg::Array {
                dims: db,
                elems: eb,
            },
        ) = (a, b)
        else {
            return None;
        };
        let (rows, inner) = match da.as_slice() {
            [n] => (1, *n),
            [m, n] => (*m, *n),
            _ => return None,
        };
        let (inner_b, columns) = match db.as_slice() {
            [n] => (*n, 1),
            [n, k] => (*n, *k),
            _ => return None,
        };
        if inner != inner_b || inner == 0 {
            return None;
        }
        let mut out = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                let mut sum: Option<(Reg, Base)> = None;
                for k in 0..inner {
                    let (Arg::Scalar { reg: x, base: tx }, Arg::Scalar { reg: y, base: ty }) =
                        (&ea[i * inner + k], &eb[k * columns + j])
                    else {
                        return None;
                    };
                    let base = if *tx == Base::Real { Base::Real } else { *ty };
                    let product = self.typed_binary(BinaryOp::Mul, (*x, *tx), (*y, *ty));
                    sum = Some(match sum {
                        None => (product, base),
                        Some(s) => (self.typed_binary(BinaryOp::Add, s, (product, base)), base),
                    });
                }
                let (reg, base) = sum?;
                out.push(Arg::Scalar { reg, base });
            }
        }
        Some(match (da.len(), db.len()) {
            (1, 1) => out.pop()?,
            (2, 1) => Arg::Array {
                dims: vec![rows],
                elems: out,
            },
            (1, 2) => Arg::Array {
                dims: vec![columns],
                elems: out,
            },
            _ => Arg::Array {
                dims: vec![rows, columns],
                elems: out,
            },
        })
    }

    /// A part of an array by constant subscripts and colons.
    fn array_index(&mut self, base: ExprId, subs: &[Sub]) -> Result<Option<Arg>, LowerError> {
        let ir = self.ir();
        let Some(Arg::Array { dims, elems }) = self.registers(base)? else {
            return Ok(None);
        };
        if subs.len() > dims.len() {
            return Ok(None);
        }
        // Chosen positions per dimension, and whether the dimension stays.
        let mut chosen: Vec<(Vec<usize>, bool)> = Vec::new();
        for (k, &n) in dims.iter().enumerate() {
            chosen.push(match subs.get(k) {
                None | Some(Sub::All) => ((0..n).collect(), true),
                Some(Sub::At(e)) => match constant_value(ir, *e, 0) {
                    Some(Value::Integer(i)) if i >= 1 && i as usize <= n => {
                        (vec![i as usize - 1], false)
                    }
                    Some(Value::Array(a)) if a.dims.len() == 1 => {
                        let at: Option<Vec<usize>> = a
                            .elems
                            .iter()
                            .map(|v| {
                                v.as_i64()
                                    .filter(|i| *i >= 1 && *i as usize <= n)
                                    .map(|i| i as usize - 1)
                            })
                            .collect();
                        let Some(at) = at else { return Ok(None) };
                        (at, true)
                    }
                    _ => return Ok(None),
                },
            });
        }
        let out_dims: Vec<usize> = chosen
            .iter()
            .filter(|(_, keep)| *keep)
            .map(|(at, _)| at.len())
            .collect();
        let mut positions = vec![0usize];
        for ((at, _), &n) in chosen.iter().zip(&dims) {
            positions = positions
                .iter()
                .flat_map(|p| at.iter().map(move |i| p * n + i))
                .collect();
        }
        let mut out: Vec<Arg> = positions.into_iter().map(|p| elems[p].clone()).collect();
        Ok(if out_dims.is_empty() {
            out.pop()
        } else {
            Some(Arg::Array {
                dims: out_dims,
                elems: out,
            })
        })
    }

    /// `if c then a else b` of arrays or records of equal shape, by jumps.
    fn array_if(&mut self, c: ExprId, t: ExprId, f: ExprId) -> Result<Option<Arg>, LowerError> {
        match self.known_truth(c) {
            Some(true) => return self.tree(t),
            Some(false) => return self.tree(f),
            None => {}
        }
        let c = self.lower(c)?;
        let skip = self.jump(Op::JumpIfNot { c, to: 0 });
        let scope = self.enter();
        let then = self.registers(t)?;
        let mut leaves = Vec::new();
        if let Some(then) = &then {
            then.leaves(&mut leaves);
        }
        let base = self.alloc_many(leaves.len());
        for (i, &src) in leaves.iter().enumerate() {
            self.emit(Op::Copy {
                dst: base + i as u32,
                src,
            });
        }
        self.leave(scope);
        let end = self.jump(Op::Jump { to: 0 });
        self.land(skip);
        let scope = self.enter();
        let other = self.registers(f)?;
        let mut other_leaves = Vec::new();
        if let Some(other) = &other {
            other.leaves(&mut other_leaves);
        }
        if other_leaves.len() == leaves.len() {
            for (i, &src) in other_leaves.iter().enumerate() {
                self.emit(Op::Copy {
                    dst: base + i as u32,
                    src,
                });
            }
        }
        self.leave(scope);
        self.land(end);
        Ok(match (then, other) {
            (Some(then), Some(other)) if then.same_shape(&other) => {
                then.with_registers(&mut (base..))
            }
            _ => None,
        })
    }

    /// The argument computed by the evaluator.
    fn whole(&mut self, e: ExprId) -> Result<Arg, LowerError> {
        self.evaluable()?;
        self.note_inexact(e);
        Ok(Arg::Expr(e))
    }

    /// Registers of the output that a `Call` or `Output` node stands for: first register and number.
    fn call_output(&mut self, node: ExprId) -> Result<(Reg, usize), LowerError> {
        let ir = self.ir();
        let (call, output) = match ir.expr(node) {
            Expr::Call { .. } => (node, 0),
            Expr::Output { call, index } => (*call, *index as usize),
            _ => return Err("a call's output of something that is not a call".into()),
        };
        let known = leaf_count(ir, ir.type_id(node));
        if known == Some(1)
            && output == 0
            && !self.calls.contains_key(&call)
            && let Some(reg) = self.table(call)?
        {
            self.remember(call, reg);
            return Ok((reg, 1));
        }
        let site = self.call_site(call)? as usize;
        if let Some((base, n)) = self.tape.calls[site].outputs.get(output).copied().flatten() {
            return Ok((base, n as usize));
        }
        let coded = self.coded_output(site, output).map(|(_, n)| n);
        let n = coded
            .or(known)
            .ok_or("a call whose result size is not known")?;
        if known.is_some_and(|known| known != n) {
            self.tape.calls[site].target = None;
        }
        let base = self.alloc_many(n);
        let outputs = &mut self.tape.calls[site].outputs;
        if outputs.len() <= output {
            outputs.resize(output + 1, None);
        }
        outputs[output] = Some((base, n as u32));
        Ok((base, n))
    }

    /// The call, emitted at its first use in this scope.
    fn call_site(&mut self, call: ExprId) -> Result<u32, LowerError> {
        if let Some(&site) = self.calls.get(&call) {
            return Ok(site);
        }
        let ir = self.ir();
        let Expr::Call { function, args } = ir.expr(call) else {
            return Err("an output of something that is not a call".into());
        };
        let mut inputs = Vec::with_capacity(args.len());
        for arg in args {
            inputs.push(match self.tree(*arg)? {
                Some(arg) => arg,
                None => self.whole(*arg)?,
            });
        }
        let site = self.call(*function, inputs)?;
        if self.calls.insert(call, site).is_none() {
            self.trail.push(Key::Call(call));
        }
        Ok(site)
    }

    /// A call with these arguments, by the function's code if it has some.
    fn call(&mut self, function: FuncId, mut args: Vec<Arg>) -> Result<u32, LowerError> {
        let (function, bound) = self.callee(function, args)?;
        args = bound;
        if self.locals.is_some() && self.ir().functions[function].impure {
            return Err("a call of an impure function".into());
        }
        let (table, flat, layout) = (self.functions, self.flat, self.layout);
        let target = functions::target(table, flat, layout, function, &mut args, &mut |x| {
            self.constant(x)
        });
        self.tape.calls.push(CallSite {
            function,
            args,
            outputs: Vec::new(),
            target,
        });
        let site = self.tape.calls.len() as u32 - 1;
        self.emit(Op::Call { call: site });
        Ok(site)
    }

    /// An output of a call by the function's code: its shape, and the number of its leaves.
    fn coded_output(&self, site: usize, output: usize) -> Option<(Arg, usize)> {
        let target = self.tape.calls[site].target.as_ref()?;
        let functions = self.functions.borrow();
        let code = functions.code(target.function);
        let shape = code.outputs.get(output)?.clone();
        let (_, n) = *code.tape.outputs.get(output)?;
        Some((shape, n as usize))
    }

    /// A table look-up without the evaluator.
    fn table(&mut self, call: ExprId) -> Result<Option<Reg>, LowerError> {
        let ir = self.ir();
        let Expr::Call { function, args } = ir.expr(call) else {
            return Ok(None);
        };
        let Some(mut table) = table_call(ir, *function, args) else {
            return Ok(None);
        };
        for (place, arg) in &mut table.args {
            *place = self.lower(*arg)?;
        }
        table.dst = self.alloc();
        let dst = table.dst;
        self.tape.tables.push(table);
        self.emit(Op::Table {
            call: self.tape.tables.len() as u32 - 1,
        });
        Ok(Some(dst))
    }
}

fn is_string(ir: &Ir, e: ExprId) -> bool {
    ir.base(e) == Base::String
}

/// A literal, or an array of literals.
fn constant_value(ir: &Ir, e: ExprId, depth: u32) -> Option<Value> {
    Some(match ir.expr(e) {
        Expr::Real(bits) => Value::Real(f64::from_bits(*bits)),
        Expr::Integer(i) => Value::Integer(*i),
        Expr::Boolean(b) => Value::Boolean(*b),
        Expr::Enum(id, k) => Value::Enum(*id, *k),
        Expr::String(s) => Value::String(s.as_str().into()),
        Expr::Array(items) if depth < DEPTH_MAX => {
            let dims = ir.ty(e).known_dims()?;
            let mut elems = Vec::with_capacity(dims.iter().product());
            for item in items {
                match constant_value(ir, *item, depth + 1)? {
                    Value::Array(a) => elems.extend(a.elems.iter().cloned()),
                    scalar => elems.push(scalar),
                }
            }
            if elems.len() != dims.iter().product::<usize>() {
                return None;
            }
            Value::array(dims, elems)
        }
        _ => return None,
    })
}

fn scalar_subs(ir: &Ir, subs: &[Sub]) -> Option<Vec<ExprId>> {
    subs.iter()
        .map(|s| match s {
            Sub::At(e) if ir.ty(*e).is_scalar() => Some(*e),
            _ => None,
        })
        .collect()
}

fn whole(ir: &Ir, e: ExprId) -> Option<i64> {
    match ir.expr(e) {
        Expr::Integer(i) => Some(*i),
        Expr::Enum(_, k) => Some(i64::from(*k)),
        _ => None,
    }
}

fn linear_index(at: &[i64], dims: &[usize]) -> Result<usize, LowerError> {
    let mut linear = 0;
    for (&i, &n) in at.iter().zip(dims) {
        if i < 1 || i as usize > n {
            return Err(format!("index {i} is not in 1 .. {n}"));
        }
        linear = linear * n + i as usize - 1;
    }
    Ok(linear)
}

fn has_strings(ir: &Ir, ty: TypeId) -> bool {
    let ty = ir.type_of_id(ty);
    match ty.base {
        Base::String => true,
        Base::Record(r) => ir.records[r].fields.iter().any(|f| has_strings(ir, f.ty)),
        _ => false,
    }
}

/// The result registers of a call in the shape of its type.
fn result_tree(ir: &Ir, ty: TypeId, next: &mut Reg) -> Option<Arg> {
    let ty = ir.type_of_id(ty).clone();
    let element = |next: &mut Reg| match ty.base {
        Base::Record(r) => {
            let fields: Option<Vec<Arg>> = ir.records[r]
                .fields
                .iter()
                .map(|f| result_tree(ir, f.ty, next))
                .collect();
            Some(Arg::Record(fields?))
        }
        base => {
            let reg = *next;
            *next += 1;
            Some(Arg::Scalar { reg, base })
        }
    };
    if ty.dims.is_empty() {
        return element(next);
    }
    let dims = ty.known_dims()?;
    let n: usize = dims.iter().product();
    let elems: Option<Vec<Arg>> = (0..n).map(|_| element(next)).collect();
    Some(Arg::Array {
        dims,
        elems: elems?,
    })
}

/// Whether two consecutive assignments should share the jump of their common condition.
pub(crate) fn shares_jump(ir: &Ir, value: ExprId) -> Option<(ExprId, ExprId, ExprId)> {
    match ir.expr(value) {
        Expr::If(c, t, e) if ir.as_boolean(*c).is_none() && !is_string(ir, value) => {
            Some((*c, *t, *e))
        }
        _ => None,
    }
}
