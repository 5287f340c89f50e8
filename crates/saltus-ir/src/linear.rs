//! Linear dependence of an expression on variables, and explicit solution for one of them.

use crate::expr::{BinaryOp, Builtin, Expr, Ir, UnaryOp};
use crate::{ExprId, VarId};
use rustc_hash::FxHashMap;

/// `value` solves an equation for a variable; `divisor` is what it divides by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solution {
    pub value: ExprId,
    /// The coefficient of the variable. The solution holds only where this is not zero: a non-zero literal is safe,
    /// anything else is the caller's decision.
    pub divisor: ExprId,
}

/// A linear dependence on some variables: their coefficients, and the part free of them last.
pub type LinearForm<const N: usize> = [ExprId; N];

impl Ir {
    /// `(a, b)` with `e = a·var + b` and `a`, `b` free of `var`; `None` if `e` is not (seen to be) linear. `pre(var)` is
    /// another quantity.
    ///
    /// Sees through `+`, `-`, `*`, `/`, `if` with a condition free of `var`, `noEvent`, `smooth` and `homotopy`.
    pub fn linear_coefficients(&mut self, e: ExprId, var: VarId) -> Option<(ExprId, ExprId)> {
        let variable = [self.real(1.0), self.real(0.0)];
        let form = self.linear_form(e, |v| (v == var).then_some(variable))?;
        Some(form.map_or_else(|| (variable[1], e), |[a, b]| (a, b)))
    }

    /// The dependence of `e` on variables that have a form themselves: `of` gives it, and `None` for all others. `Some(None)`: it
    /// depends on none of them; `None`: not (seen to be) linear.
    pub fn linear_form<const N: usize>(
        &mut self,
        e: ExprId,
        of: impl Fn(VarId) -> Option<LinearForm<N>>,
    ) -> Option<Option<LinearForm<N>>> {
        // Only nodes that depend on the variables are in here; `None` where the dependence is not linear.
        let mut memo: FxHashMap<ExprId, Option<LinearForm<N>>> = FxHashMap::default();
        for id in self.reachable(&[e]) {
            match *self.expr(id) {
                Expr::Var(v) => {
                    if let Some(form) = of(v) {
                        memo.insert(id, Some(form));
                    }
                    continue;
                }
                Expr::VarArray(first) => {
                    let n = self.leaf_count(self.type_id(id));
                    let has = |k: usize| of(VarId(first.0 + k as u32)).is_some();
                    if n.is_none_or(|n| (0..n).any(has)) {
                        memo.insert(id, None);
                    }
                    continue;
                }
                Expr::Builtin(Builtin::Pre, _) => continue,
                _ => {}
            }
            let mut depends = false;
            self.for_each_child(id, |child| depends |= memo.contains_key(&child));
            if depends {
                let form = self.linear_node(id, &memo);
                memo.insert(id, form);
            }
        }
        match memo.remove(&e) {
            None => Some(None),
            Some(form) => form.map(Some),
        }
    }

    fn linear_node<const N: usize>(
        &mut self,
        id: ExprId,
        memo: &FxHashMap<ExprId, Option<LinearForm<N>>>,
    ) -> Option<LinearForm<N>> {
        let zero = self.real(0.0);
        let free = |e: ExprId| !memo.contains_key(&e);
        let of = |e: ExprId| match memo.get(&e) {
            Some(form) => *form,
            None => {
                let mut form = [zero; N];
                form[N - 1] = e;
                Some(form)
            }
        };
        let expr = self.expr(id).clone();
        Some(match expr {
            Expr::Unary(UnaryOp::Neg, x) => of(x)?.map(|e| self.neg(e)),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) => {
                let (x, y) = (of(x)?, of(y)?);
                std::array::from_fn(|k| self.binary(op, x[k], y[k]))
            }
            Expr::Binary(BinaryOp::Mul, x, y) if free(y) => of(x)?.map(|e| self.mul(e, y)),
            Expr::Binary(BinaryOp::Mul, x, y) if free(x) => of(y)?.map(|e| self.mul(x, e)),
            Expr::Binary(BinaryOp::Div, x, y) if free(y) => of(x)?.map(|e| self.div(e, y)),
            Expr::If(c, t, e) if free(c) => {
                let (t, e) = (of(t)?, of(e)?);
                std::array::from_fn(|k| self.if_(c, t[k], e[k]))
            }
            Expr::Builtin(Builtin::NoEvent, args) => of(args[0])?.map(|e| self.no_event(e)),
            Expr::Builtin(Builtin::Smooth, args) => {
                of(args[1])?.map(|e| self.call_builtin(Builtin::Smooth, &[args[0], e]))
            }
            Expr::Builtin(Builtin::Homotopy, args) => {
                let (actual, simplified) = (of(args[0])?, of(args[1])?);
                std::array::from_fn(|k| {
                    self.call_builtin(Builtin::Homotopy, &[actual[k], simplified[k]])
                })
            }
            _ => return None,
        })
    }

    /// Solves `lhs = rhs` for `var` where both sides are linear in it; `None` otherwise or if it cancels.
    pub fn solve_for(&mut self, lhs: ExprId, rhs: ExprId, var: VarId) -> Option<Solution> {
        let (al, bl) = self.linear_coefficients(lhs, var)?;
        let (ar, br) = self.linear_coefficients(rhs, var)?;
        // al·v + bl = ar·v + br; the sign is chosen so that `v = rhs` and `lhs = v` come out without a minus.
        let (divisor, numerator) = if self.is_zero(al) {
            (self.sub(ar, al), self.sub(bl, br))
        } else {
            (self.sub(al, ar), self.sub(br, bl))
        };
        if self.is_zero(divisor) {
            return None;
        }
        let value = self.div(numerator, divisor);
        Some(Solution { value, divisor })
    }
}
