//! Linear dependence of an expression on one variable, and explicit solution for it.

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

impl Ir {
    /// `(a, b)` with `e = a·var + b` and `a`, `b` free of `var`; `None` if `e` is not (seen to be) linear.
    ///
    /// Sees through `+`, `-`, `*`, `/`, `if` with a condition free of `var`, `noEvent`, `smooth` and `homotopy`.
    pub fn linear_coefficients(&mut self, e: ExprId, var: VarId) -> Option<(ExprId, ExprId)> {
        let zero = self.real(0.0);
        let one = self.real(1.0);
        // Only nodes that depend on `var` are in here; `None` where the dependence is not linear.
        let mut memo: FxHashMap<ExprId, Option<(ExprId, ExprId)>> = FxHashMap::default();
        for id in self.reachable(&[e]) {
            if self.is_var_node(id, var) {
                let scalar = matches!(self.expr(id), Expr::Var(_));
                memo.insert(id, scalar.then_some((one, zero)));
                continue;
            }
            let mut depends = false;
            self.for_each_child(id, |child| depends |= memo.contains_key(&child));
            if depends {
                let coefficients = self.linear_node(id, zero, &memo);
                memo.insert(id, coefficients);
            }
        }
        memo.get(&e).copied().unwrap_or(Some((zero, e)))
    }

    fn linear_node(
        &mut self,
        id: ExprId,
        zero: ExprId,
        memo: &FxHashMap<ExprId, Option<(ExprId, ExprId)>>,
    ) -> Option<(ExprId, ExprId)> {
        let of = |e: ExprId| memo.get(&e).copied().unwrap_or(Some((zero, e)));
        let free = |e: ExprId| !memo.contains_key(&e);
        let expr = self.expr(id).clone();
        match expr {
            Expr::Unary(UnaryOp::Neg, x) => {
                let (a, b) = of(x)?;
                Some((self.neg(a), self.neg(b)))
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) => {
                let ((ax, bx), (ay, by)) = (of(x)?, of(y)?);
                Some((self.binary(op, ax, ay), self.binary(op, bx, by)))
            }
            Expr::Binary(BinaryOp::Mul, x, y) => {
                let (linear, factor, left) = if free(y) { (x, y, false) } else { (y, x, true) };
                if !free(factor) {
                    return None;
                }
                let (a, b) = of(linear)?;
                let mut scale = |e| {
                    if left {
                        self.mul(factor, e)
                    } else {
                        self.mul(e, factor)
                    }
                };
                Some((scale(a), scale(b)))
            }
            Expr::Binary(BinaryOp::Div, x, y) if free(y) => {
                let (a, b) = of(x)?;
                Some((self.div(a, y), self.div(b, y)))
            }
            Expr::If(c, t, e) if free(c) => {
                let ((at, bt), (ae, be)) = (of(t)?, of(e)?);
                Some((self.if_(c, at, ae), self.if_(c, bt, be)))
            }
            Expr::Builtin(Builtin::NoEvent, args) => {
                let (a, b) = of(args[0])?;
                Some((self.no_event(a), self.no_event(b)))
            }
            Expr::Builtin(Builtin::Smooth, args) => {
                let (a, b) = of(args[1])?;
                Some((
                    self.call_builtin(Builtin::Smooth, &[args[0], a]),
                    self.call_builtin(Builtin::Smooth, &[args[0], b]),
                ))
            }
            Expr::Builtin(Builtin::Homotopy, args) => {
                let ((a0, b0), (a1, b1)) = (of(args[0])?, of(args[1])?);
                Some((
                    self.call_builtin(Builtin::Homotopy, &[a0, a1]),
                    self.call_builtin(Builtin::Homotopy, &[b0, b1]),
                ))
            }
            _ => None,
        }
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
