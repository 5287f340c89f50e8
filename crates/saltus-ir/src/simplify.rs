//! Constructors that fold: every rewrite builds its nodes through them.
//!
//! Comes in: operands that are nodes of the [`Ir`]. Goes out: a node with the same value. Folding uses the scalar
//! kernel [`crate::ops`], so a folded value is the value at run time. What is outside the domain of an operation is
//! not folded: the error belongs to the run. Identities are those that are exact for finite numbers (`x + 0`,
//! `x * 1`, `--x`, …) and, as in every symbolic tool, `x * 0 = 0` and `x - x = 0`.

use crate::expr::{BinaryOp, Builtin, Expr, Ir, Sub, UnaryOp};
use crate::ops;
use crate::types::{Base, Dim, Type};
use crate::{ExprId, TypeId, VarId};
use rustc_hash::FxHashMap;

impl Ir {
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        let ty = self.type_id(a);
        self.unary_typed(UnaryOp::Neg, a, ty)
    }

    pub fn not(&mut self, a: ExprId) -> ExprId {
        let ty = self.type_id(a);
        self.unary_typed(UnaryOp::Not, a, ty)
    }

    /// `a + b` (named so because `add` interns a node).
    pub fn add_(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::Mul, a, b)
    }

    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::Div, a, b)
    }

    pub fn pow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::Pow, a, b)
    }

    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::And, a, b)
    }

    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::Or, a, b)
    }

    /// `if c then t else e`, of the type of `t` (Real if only one branch is Integer).
    pub fn if_(&mut self, c: ExprId, t: ExprId, e: ExprId) -> ExprId {
        let ty = if self.base(t) == Base::Integer && self.base(e) == Base::Real {
            self.type_id(e)
        } else {
            self.type_id(t)
        };
        self.if_typed(c, t, e, ty)
    }

    /// A built-in with a scalar result; array functions need [`Ir::builtin_typed`].
    pub fn call_builtin(&mut self, op: Builtin, args: &[ExprId]) -> ExprId {
        let base = self.builtin_base(op, args);
        let ty = self.scalar_type(base);
        self.builtin_typed(op, args, ty)
    }

    /// `noEvent(e)`, or `e` where nothing in it can make an event.
    pub fn no_event(&mut self, e: ExprId) -> ExprId {
        if self.makes_events(e) {
            let ty = self.type_id(e);
            self.add(Expr::Builtin(Builtin::NoEvent, Box::new([e])), ty)
        } else {
            e
        }
    }

    /// Any operator; the type follows from the operands (specification 3.4, 10.6).
    pub fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.binary_type(op, a, b);
        let ty = self.intern_type(ty);
        self.binary_typed(op, a, b, ty)
    }

    pub fn unary_typed(&mut self, op: UnaryOp, a: ExprId, ty: TypeId) -> ExprId {
        let folded = match op {
            UnaryOp::Neg => self.fold_neg(a),
            UnaryOp::Not => self.fold_not(a),
        };
        folded.unwrap_or_else(|| self.add(Expr::Unary(op, a), ty))
    }

    pub fn binary_typed(&mut self, op: BinaryOp, a: ExprId, b: ExprId, ty: TypeId) -> ExprId {
        let scalar = self.ty(a).is_scalar() && self.ty(b).is_scalar();
        let folded = if scalar {
            self.fold_binary(op, a, b)
        } else {
            None
        };
        folded.unwrap_or_else(|| self.add(Expr::Binary(op, a, b), ty))
    }

    pub fn if_typed(&mut self, c: ExprId, t: ExprId, e: ExprId, ty: TypeId) -> ExprId {
        if let Some(condition) = self.as_boolean(c) {
            return if condition { t } else { e };
        }
        if t == e {
            return t;
        }
        match (self.as_boolean(t), self.as_boolean(e)) {
            (Some(true), Some(false)) => return c,
            (Some(false), Some(true)) => return self.not(c),
            _ => {}
        }
        if let Expr::Unary(UnaryOp::Not, positive) = *self.expr(c) {
            return self.if_typed(positive, e, t, ty);
        }
        self.add(Expr::If(c, t, e), ty)
    }

    pub fn builtin_typed(&mut self, op: Builtin, args: &[ExprId], ty: TypeId) -> ExprId {
        match self.fold_builtin(op, args, ty) {
            Some(folded) => folded,
            None => self.add(Expr::Builtin(op, args.into()), ty),
        }
    }

    /// Adds a node, folded if it can be.
    pub fn add_folded(&mut self, expr: Expr, ty: TypeId) -> ExprId {
        match expr {
            Expr::Unary(op, a) => self.unary_typed(op, a, ty),
            Expr::Binary(op, a, b) => self.binary_typed(op, a, b, ty),
            Expr::If(c, t, e) => self.if_typed(c, t, e, ty),
            Expr::Builtin(op, args) => self.builtin_typed(op, &args, ty),
            Expr::Field { base, index } => match self.expr(base) {
                Expr::Record { fields, .. } if self.ty(base).is_scalar() => fields[index as usize],
                _ => self.add(Expr::Field { base, index }, ty),
            },
            Expr::Index { base, subs } => match self.fold_index(base, &subs) {
                Some(element) => element,
                None => self.add(Expr::Index { base, subs }, ty),
            },
            other => self.add(other, ty),
        }
    }

    /// The expression with every node folded.
    pub fn simplify(&mut self, e: ExprId) -> ExprId {
        let mut memo = FxHashMap::default();
        for id in self.reachable(&[e]) {
            let new = self.rebuild_folded(id, &memo);
            memo.insert(id, new);
        }
        memo[&e]
    }

    /// `e` with variables replaced where `map` gives an expression (of the same type), folded.
    ///
    /// Also under `der`, `pre`, `edge` and `change`, which then have an expression as argument.
    pub fn substitute(
        &mut self,
        e: ExprId,
        map: &mut dyn FnMut(VarId) -> Option<ExprId>,
    ) -> ExprId {
        let mut memo = FxHashMap::default();
        self.substitute_all(&[e], map, &mut memo);
        memo[&e]
    }

    /// As [`Ir::substitute`] for several expressions, with the results in `memo` (and taken from it).
    pub fn substitute_all(
        &mut self,
        roots: &[ExprId],
        map: &mut dyn FnMut(VarId) -> Option<ExprId>,
        memo: &mut FxHashMap<ExprId, ExprId>,
    ) {
        for id in self.reachable(roots) {
            if memo.contains_key(&id) {
                continue;
            }
            let new = match *self.expr(id) {
                Expr::Var(v) => map(v).unwrap_or(id),
                Expr::VarArray(first) => self.substitute_var_array(id, first, map),
                _ => self.rebuild_folded(id, memo),
            };
            memo.insert(id, new);
        }
    }

    fn substitute_var_array(
        &mut self,
        id: ExprId,
        first: VarId,
        map: &mut dyn FnMut(VarId) -> Option<ExprId>,
    ) -> ExprId {
        let Some(bases) = self.leaf_bases(self.type_id(id)) else {
            return id;
        };
        let mut changed = false;
        let mut leaves = Vec::with_capacity(bases.len());
        for (k, base) in bases.into_iter().enumerate() {
            let v = VarId(first.0 + k as u32);
            let new = map(v);
            changed |= new.is_some();
            leaves.push(match new {
                Some(new) => new,
                None => self.var(v, base),
            });
        }
        if changed {
            self.rebuild_from_leaves(self.type_id(id), &leaves)
                .unwrap_or(id)
        } else {
            id
        }
    }

    /// The node with its children replaced as in `memo` (which holds all of them), folded.
    pub fn rebuild_folded(&mut self, id: ExprId, memo: &FxHashMap<ExprId, ExprId>) -> ExprId {
        let mut expr = self.expr(id).clone();
        expr.for_each_child_mut(|child| *child = memo[child]);
        self.add_folded(expr, self.type_id(id))
    }

    /// The variables in `e`, ascending, each once.
    pub fn variables_of(&self, e: ExprId) -> Vec<VarId> {
        let mut vars = Vec::new();
        for id in self.reachable(&[e]) {
            match *self.expr(id) {
                Expr::Var(v) => vars.push(v),
                Expr::VarArray(first) => {
                    let n = self.leaf_count(self.type_id(id)).unwrap_or(0) as u32;
                    vars.extend((0..n).map(|k| VarId(first.0 + k)));
                }
                _ => {}
            }
        }
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    pub fn depends_on(&self, e: ExprId, var: VarId) -> bool {
        self.reachable(&[e])
            .into_iter()
            .any(|id| self.is_var_node(id, var))
    }

    /// Whether the node itself (not its children) refers to `var`.
    pub(crate) fn is_var_node(&self, id: ExprId, var: VarId) -> bool {
        match *self.expr(id) {
            Expr::Var(v) => v == var,
            Expr::VarArray(first) => {
                var >= first
                    && ((var.0 - first.0) as usize)
                        < self.leaf_count(self.type_id(id)).unwrap_or(usize::MAX)
            }
            _ => false,
        }
    }

    /// Whether a relation of Reals or another event-making operation is in `e` outside `noEvent`.
    pub fn makes_events(&self, e: ExprId) -> bool {
        let mut stack = vec![e];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.expr(id) {
                Expr::Binary(op, a, b)
                    if op.is_relation()
                        && (self.base(*a) == Base::Real || self.base(*b) == Base::Real) =>
                {
                    return true;
                }
                Expr::Builtin(op, _) if op.makes_events() || *op == Builtin::Sample => return true,
                Expr::Builtin(Builtin::NoEvent, _) => continue,
                _ => {}
            }
            self.for_each_child(id, |child| stack.push(child));
        }
        false
    }

    pub fn is_zero(&self, e: ExprId) -> bool {
        self.as_number(e) == Some(0.0)
    }

    pub fn is_one(&self, e: ExprId) -> bool {
        self.as_number(e) == Some(1.0)
    }

    /// A literal node: number, Boolean, String or enumeration literal.
    pub fn is_literal(&self, e: ExprId) -> bool {
        matches!(
            self.expr(e),
            Expr::Real(_) | Expr::Integer(_) | Expr::Boolean(_) | Expr::String(_) | Expr::Enum(..)
        )
    }

    /// The value of a literal used as a subscript: Integer, Boolean (`false` is 1, `true` is 2) or enumeration.
    pub fn as_subscript(&self, e: ExprId) -> Option<i64> {
        match *self.expr(e) {
            Expr::Integer(i) => Some(i),
            Expr::Boolean(b) => Some(i64::from(b) + 1),
            Expr::Enum(_, k) => Some(i64::from(k)),
            _ => None,
        }
    }

    /// The type of an operator's result.
    pub fn binary_type(&self, op: BinaryOp, a: ExprId, b: ExprId) -> Type {
        let (ta, tb) = (self.ty(a), self.ty(b));
        let base = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::MatMul => {
                arithmetic_base(ta.base, tb.base)
            }
            BinaryOp::Div | BinaryOp::Pow | BinaryOp::MatPow => Base::Real,
            _ => Base::Boolean,
        };
        let dims = match op {
            BinaryOp::MatMul => match (ta.dims.as_slice(), tb.dims.as_slice()) {
                ([m, _], [_, n]) => vec![*m, *n],
                ([m, _], [_]) => vec![*m],
                ([_], [_, n]) => vec![*n],
                _ => vec![],
            },
            _ => broadcast_dims(&ta.dims, &tb.dims),
        };
        Type { base, dims }
    }

    fn builtin_base(&self, op: Builtin, args: &[ExprId]) -> Base {
        let all_integer = args.iter().all(|&a| self.base(a) == Base::Integer);
        match op {
            Builtin::Abs
            | Builtin::Min
            | Builtin::Max
            | Builtin::Div
            | Builtin::Mod
            | Builtin::Rem
            | Builtin::Sum
            | Builtin::Product
                if all_integer && !args.is_empty() =>
            {
                Base::Integer
            }
            Builtin::Min | Builtin::Max => match args.first().map(|&a| self.base(a)) {
                Some(base @ (Base::Boolean | Base::Enum(_))) => base,
                _ => Base::Real,
            },
            Builtin::Sign
            | Builtin::Integer
            | Builtin::Ordinal
            | Builtin::Size
            | Builtin::Ndims
            | Builtin::Cardinality => Base::Integer,
            Builtin::Edge
            | Builtin::Change
            | Builtin::Initial
            | Builtin::Terminal
            | Builtin::Sample
            | Builtin::IsRoot
            | Builtin::Rooted
            | Builtin::FirstTick => Base::Boolean,
            Builtin::ToString => Base::String,
            Builtin::Clock => Base::Clock,
            Builtin::Pre
            | Builtin::NoEvent
            | Builtin::Homotopy
            | Builtin::Previous
            | Builtin::Hold
            | Builtin::ClockSample
            | Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock
            | Builtin::Scalar
            | Builtin::Exact
            | Builtin::Fill => args.first().map_or(Base::Real, |&a| self.base(a)),
            Builtin::Smooth => args.get(1).map_or(Base::Real, |&a| self.base(a)),
            _ => Base::Real,
        }
    }

    fn number(&mut self, base: Base, value: f64) -> Option<ExprId> {
        match base {
            Base::Integer => ops::floor_to_integer(value).ok().map(|i| self.integer(i)),
            _ if value.is_finite() => Some(self.real(value)),
            _ => None,
        }
    }

    fn zero_of(&mut self, base: Base) -> ExprId {
        if base == Base::Integer {
            self.integer(0)
        } else {
            self.real(0.0)
        }
    }

    fn fold_neg(&mut self, a: ExprId) -> Option<ExprId> {
        match *self.expr(a) {
            Expr::Real(bits) => {
                let value = f64::from_bits(bits);
                // The sign of a zero literal has no use in a model.
                Some(self.real(if value == 0.0 { 0.0 } else { -value }))
            }
            Expr::Integer(i) => i.checked_neg().map(|i| self.integer(i)),
            Expr::Unary(UnaryOp::Neg, b) => Some(b),
            Expr::Binary(BinaryOp::Sub, x, y) => {
                Some(self.binary_typed(BinaryOp::Sub, y, x, self.type_id(a)))
            }
            _ => None,
        }
    }

    fn fold_not(&mut self, a: ExprId) -> Option<ExprId> {
        match *self.expr(a) {
            Expr::Boolean(b) => Some(self.boolean(!b)),
            Expr::Unary(UnaryOp::Not, b) => Some(b),
            _ => None,
        }
    }

    fn negated(&self, e: ExprId) -> Option<ExprId> {
        match *self.expr(e) {
            Expr::Unary(UnaryOp::Neg, inner) => Some(inner),
            _ => None,
        }
    }

    fn fold_binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::MatMul
            | BinaryOp::Div
            | BinaryOp::Pow
            | BinaryOp::MatPow => self.fold_arithmetic(op, a, b),
            BinaryOp::And => self.fold_connective(a, b, false),
            BinaryOp::Or => self.fold_connective(a, b, true),
            _ => self.fold_relation(op, a, b),
        }
    }

    fn fold_arithmetic(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        let (base_a, base_b) = (self.base(a), self.base(b));
        if let (BinaryOp::Add, Expr::String(x), Expr::String(y)) = (op, self.expr(a), self.expr(b))
        {
            let text = format!("{x}{y}");
            return Some(self.string(&text));
        }
        if !base_a.is_numeric() || !base_b.is_numeric() {
            return None;
        }
        let base = arithmetic_base(base_a, base_b);
        let (na, nb) = (self.as_number(a), self.as_number(b));
        if let (Some(x), Some(y)) = (na, nb) {
            if let (Expr::Integer(i), Expr::Integer(j)) = (self.expr(a), self.expr(b))
                && let Some(result) = ops::integer_binary(op, *i, *j)
            {
                return result.ok().map(|k| self.integer(k));
            }
            ops::check_binary(op, x, y).ok()?;
            return self.number(Base::Real, ops::binary(op, x, y));
        }
        match op {
            BinaryOp::Add => {
                if na == Some(0.0) && base_b == base {
                    Some(b)
                } else if nb == Some(0.0) && base_a == base {
                    Some(a)
                } else if let Some(y) = self.negated(b) {
                    Some(self.sub(a, y))
                } else {
                    self.negated(a).map(|x| self.sub(b, x))
                }
            }
            BinaryOp::Sub => {
                if a == b {
                    Some(self.zero_of(base))
                } else if nb == Some(0.0) && base_a == base {
                    Some(a)
                } else if na == Some(0.0) && base_b == base {
                    Some(self.neg(b))
                } else {
                    self.negated(b).map(|y| self.add_(a, y))
                }
            }
            BinaryOp::Mul | BinaryOp::MatMul => self.fold_product(a, b, base),
            BinaryOp::Div => {
                if na == Some(0.0) {
                    Some(self.real(0.0))
                } else if nb == Some(1.0) && base_a == Base::Real {
                    Some(a)
                } else if nb == Some(-1.0) && base_a == Base::Real {
                    Some(self.neg(a))
                } else if let Some(x) = self.negated(a) {
                    let quotient = self.div(x, b);
                    Some(self.neg(quotient))
                } else {
                    None
                }
            }
            BinaryOp::Pow | BinaryOp::MatPow => {
                if nb == Some(0.0) || na == Some(1.0) {
                    Some(self.real(1.0))
                } else if nb == Some(1.0) && base_a == Base::Real {
                    Some(a)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn fold_product(&mut self, a: ExprId, b: ExprId, base: Base) -> Option<ExprId> {
        let (na, nb) = (self.as_number(a), self.as_number(b));
        if na == Some(0.0) || nb == Some(0.0) {
            return Some(self.zero_of(base));
        }
        for (literal, other) in [(na, b), (nb, a)] {
            if literal == Some(1.0) && self.base(other) == base {
                return Some(other);
            }
            if literal == Some(-1.0) && self.base(other) == base {
                return Some(self.neg(other));
            }
        }
        match (self.negated(a), self.negated(b)) {
            (Some(x), Some(y)) => Some(self.mul(x, y)),
            (Some(x), None) if nb.is_some() => {
                let factor = self.neg(b);
                Some(self.mul(x, factor))
            }
            (None, Some(y)) if na.is_some() => {
                let factor = self.neg(a);
                Some(self.mul(factor, y))
            }
            (Some(x), None) => {
                let product = self.mul(x, b);
                Some(self.neg(product))
            }
            (None, Some(y)) => {
                let product = self.mul(a, y);
                Some(self.neg(product))
            }
            (None, None) => None,
        }
    }

    /// `and` has the neutral element `true`, `or` has `false`; `absorbing` is the other value.
    fn fold_connective(&mut self, a: ExprId, b: ExprId, absorbing: bool) -> Option<ExprId> {
        for (literal, other) in [(a, b), (b, a)] {
            if let Some(value) = self.as_boolean(literal) {
                return Some(if value == absorbing { literal } else { other });
            }
        }
        (a == b).then_some(a)
    }

    fn fold_relation(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        use std::cmp::Ordering;
        let ordering = match (self.expr(a), self.expr(b)) {
            (Expr::Integer(x), Expr::Integer(y)) => Some(x.cmp(y)),
            (Expr::Boolean(x), Expr::Boolean(y)) => Some(x.cmp(y)),
            (Expr::Enum(_, x), Expr::Enum(_, y)) => Some(x.cmp(y)),
            (Expr::String(x), Expr::String(y)) => Some(x.as_str().cmp(y.as_str())),
            _ if a == b => Some(Ordering::Equal),
            _ => match (self.as_number(a), self.as_number(b)) {
                (Some(x), Some(y)) => x.partial_cmp(&y),
                _ => None,
            },
        }?;
        let holds = relation_holds(op, ordering)?;
        Some(self.boolean(holds))
    }

    fn fold_index(&mut self, base: ExprId, subs: &[Sub]) -> Option<ExprId> {
        let mut element = base;
        for sub in subs {
            let Sub::At(e) = sub else { return None };
            let i = self.as_subscript(*e)?;
            let Expr::Array(elements) = self.expr(element) else {
                return None;
            };
            element = *elements.get(usize::try_from(i).ok()?.checked_sub(1)?)?;
        }
        Some(element)
    }

    fn fold_builtin(&mut self, op: Builtin, args: &[ExprId], ty: TypeId) -> Option<ExprId> {
        match (op, args) {
            (Builtin::Size, [array, dim]) => {
                let k = usize::try_from(self.as_subscript(*dim)?).ok()?;
                match self.ty(*array).dims.get(k.checked_sub(1)?)? {
                    Dim::Known(n) => {
                        let n = i64::from(*n);
                        Some(self.integer(n))
                    }
                    Dim::Unknown => None,
                }
            }
            (Builtin::Ndims, [array]) => {
                let n = self.ty(*array).dims.len() as i64;
                Some(self.integer(n))
            }
            _ if args.iter().any(|&a| !self.ty(a).is_scalar()) => None,
            (Builtin::Ordinal, [e]) => match *self.expr(*e) {
                Expr::Enum(_, k) => Some(self.integer(i64::from(k))),
                _ => None,
            },
            (Builtin::EnumOf, [i]) => {
                let Base::Enum(id) = self.type_of_id(ty).base else {
                    return None;
                };
                let k = match *self.expr(*i) {
                    Expr::Integer(k) => u32::try_from(k).ok()?,
                    _ => return None,
                };
                let n = self.enums[id].literals.len();
                (k >= 1 && k as usize <= n)
                    .then(|| self.add_scalar(Expr::Enum(id, k), Base::Enum(id)))
            }
            (Builtin::Min | Builtin::Max | Builtin::Homotopy, [a, b]) if a == b => Some(*a),
            (
                Builtin::Min | Builtin::Max | Builtin::Sum | Builtin::Product | Builtin::Scalar,
                [a],
            ) => Some(*a),
            (Builtin::NoEvent, [a]) => match self.expr(*a) {
                Expr::Var(_) | Expr::Time | Expr::Local(_) | Expr::Builtin(Builtin::NoEvent, _) => {
                    Some(*a)
                }
                _ if self.is_literal(*a) => Some(*a),
                _ => None,
            },
            (Builtin::Smooth, [_, a]) => match self.expr(*a) {
                Expr::Var(_) | Expr::Time | Expr::Local(_) => Some(*a),
                _ if self.is_literal(*a) => Some(*a),
                _ => None,
            },
            (Builtin::Pre | Builtin::Previous | Builtin::Hold | Builtin::NoClock, [a])
                if self.is_literal(*a) =>
            {
                Some(*a)
            }
            (Builtin::Edge | Builtin::Change, [a]) if self.is_literal(*a) => {
                Some(self.boolean(false))
            }
            (Builtin::Der, [a]) if self.is_literal(*a) => Some(self.real(0.0)),
            (Builtin::Der, [a]) if matches!(self.expr(*a), Expr::Time) => Some(self.real(1.0)),
            (Builtin::SemiLinear, [x, plus, minus]) => {
                let slope = if plus == minus || self.as_number(*x)? >= 0.0 {
                    *plus
                } else {
                    *minus
                };
                Some(self.mul(*x, slope))
            }
            (_, [a]) if op.is_math1() => self.fold_math1(op, *a),
            (_, [a, b]) if op.is_math2() => self.fold_math2(op, *a, *b),
            _ => None,
        }
    }

    fn fold_math1(&mut self, op: Builtin, a: ExprId) -> Option<ExprId> {
        if let Expr::Integer(i) = *self.expr(a)
            && let Some(result) = ops::integer_builtin1(op, i)
        {
            return result.ok().map(|k| self.integer(k));
        }
        if op == Builtin::Abs
            && let Some(x) = self.negated(a)
        {
            return Some(self.call_builtin(op, &[x]));
        }
        let x = self.as_number(a)?;
        ops::check_builtin(op, x, 0.0).ok()?;
        let base = if matches!(op, Builtin::Sign | Builtin::Integer) {
            Base::Integer
        } else {
            Base::Real
        };
        self.number(base, ops::builtin1(op, x)?)
    }

    fn fold_math2(&mut self, op: Builtin, a: ExprId, b: ExprId) -> Option<ExprId> {
        if let (Expr::Integer(i), Expr::Integer(j)) = (self.expr(a), self.expr(b))
            && let Some(result) = ops::integer_builtin2(op, *i, *j)
        {
            return result.ok().map(|k| self.integer(k));
        }
        let (x, y) = (self.as_number(a)?, self.as_number(b)?);
        ops::check_builtin(op, x, y).ok()?;
        self.number(Base::Real, ops::builtin2(op, x, y)?)
    }
}

/// Whether a relation holds for operands in the given order; `None` if `op` is not a relation.
pub(crate) fn relation_holds(op: BinaryOp, ordering: std::cmp::Ordering) -> Option<bool> {
    Some(match op {
        BinaryOp::Lt => ordering.is_lt(),
        BinaryOp::Le => ordering.is_le(),
        BinaryOp::Gt => ordering.is_gt(),
        BinaryOp::Ge => ordering.is_ge(),
        BinaryOp::Eq => ordering.is_eq(),
        BinaryOp::Ne => ordering.is_ne(),
        _ => return None,
    })
}

fn arithmetic_base(a: Base, b: Base) -> Base {
    match (a, b) {
        (Base::Integer, Base::Integer) => Base::Integer,
        (Base::String, _) => Base::String,
        _ => Base::Real,
    }
}

fn broadcast_dims(a: &[Dim], b: &[Dim]) -> Vec<Dim> {
    match (a, b) {
        ([], dims) | (dims, []) => dims.to_vec(),
        _ => a
            .iter()
            .zip(b)
            .map(|(&x, &y)| if x == Dim::Unknown { y } else { x })
            .collect(),
    }
}
