//! Rewriting of expressions: substitution that knows `pre`, and the event and initial forms of an expression.

use crate::work::{Class, Work};
use rustc_hash::FxHashMap;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Ir, UnaryOp, VarId};

/// `e` with variables replaced. Under `pre` a replacement must be a variable, a negated variable or something that does not
/// change at the event (then `pre` falls away).
pub(crate) fn substitute(
    ir: &mut Ir,
    e: ExprId,
    map: &mut dyn FnMut(&mut Ir, VarId) -> Option<ExprId>,
    memo: &mut FxHashMap<ExprId, ExprId>,
) -> ExprId {
    if let Some(&done) = memo.get(&e) {
        return done;
    }
    for id in ir.reachable_until(&[e], |id| memo.contains_key(&id)) {
        let new = match *ir.expr(id) {
            Expr::Var(v) => map(ir, v).unwrap_or(id),
            Expr::VarArray(first) => {
                let n = ir.leaf_count(ir.type_id(id)).unwrap_or(0);
                let mut news: FxHashMap<VarId, ExprId> = FxHashMap::default();
                for k in 0..n as u32 {
                    let v = VarId(first.0 + k);
                    if let Some(new) = map(ir, v) {
                        news.insert(v, new);
                    }
                }
                if news.is_empty() {
                    id
                } else {
                    ir.substitute(id, &mut |v| news.get(&v).copied())
                }
            }
            Expr::Builtin(Builtin::Pre, ref args) => {
                let arg = memo[&args[0]];
                pre_of(ir, arg)
            }
            _ => ir.rebuild_folded(id, memo),
        };
        memo.insert(id, new);
    }
    memo[&e]
}

/// `pre(e)` for a variable, a negated variable, or what does not change.
pub(crate) fn pre_of(ir: &mut Ir, e: ExprId) -> ExprId {
    match *ir.expr(e) {
        Expr::Var(_) => {
            let ty = ir.type_id(e);
            ir.add(Expr::Builtin(Builtin::Pre, Box::new([e])), ty)
        }
        Expr::Unary(UnaryOp::Neg, inner) => {
            let inner = pre_of(ir, inner);
            ir.neg(inner)
        }
        Expr::Unary(UnaryOp::Not, inner) => {
            let inner = pre_of(ir, inner);
            ir.not(inner)
        }
        _ => e,
    }
}

/// The two forms of an expression, remembered by node.
#[derive(Default)]
pub(crate) struct Forms {
    event: FxHashMap<ExprId, ExprId>,
    initial: FxHashMap<ExprId, ExprId>,
}

impl Forms {
    /// For the event system: `initial()` is false, `homotopy` its actual argument, `edge` and `change` are written out.
    pub(crate) fn event(&mut self, work: &mut Work, e: ExprId) -> ExprId {
        in_form(&mut work.flat.ir, e, None, false, &mut self.event)
    }

    /// For the initial system: `initial()` is true, `homotopy(a, s)` is λ·a + (1-λ)·s with the variable λ, nothing has an
    /// edge or changes.
    pub(crate) fn initial(&mut self, work: &mut Work, e: ExprId) -> ExprId {
        if work.homotopy.is_none() {
            // As long as there is no λ, nothing that has been written in this form contains `homotopy`.
            let ir = &work.flat.ir;
            let new = ir.reachable_until(&[e], |id| self.initial.contains_key(&id));
            if new
                .into_iter()
                .any(|id| is_builtin(ir, id, Builtin::Homotopy))
            {
                let span = work.flat.span;
                work.homotopy = Some(work.new_var("$homotopy", Base::Real, Class::Flag, span));
            }
        }
        in_form(&mut work.flat.ir, e, work.homotopy, true, &mut self.initial)
    }
}

pub(crate) fn contains(ir: &Ir, e: ExprId, what: Builtin) -> bool {
    ir.reachable(&[e])
        .into_iter()
        .any(|id| is_builtin(ir, id, what))
}

fn is_builtin(ir: &Ir, id: ExprId, what: Builtin) -> bool {
    matches!(ir.expr(id), Expr::Builtin(b, _) if *b == what)
}

fn in_form(
    ir: &mut Ir,
    e: ExprId,
    lambda: Option<VarId>,
    initial: bool,
    memo: &mut FxHashMap<ExprId, ExprId>,
) -> ExprId {
    if let Some(&done) = memo.get(&e) {
        return done;
    }
    for id in ir.reachable_until(&[e], |id| memo.contains_key(&id)) {
        let homotopy = match *ir.expr(id) {
            Expr::Builtin(Builtin::Initial, _) => {
                memo.insert(id, ir.boolean(initial));
                continue;
            }
            Expr::Builtin(op @ (Builtin::Edge | Builtin::Change), ref args) => {
                let now = args[0];
                // A when-clause fires at the start only by `initial()`.
                let new = if initial && op == Builtin::Edge {
                    ir.boolean(false)
                } else {
                    let before = pre_of(ir, now);
                    if op == Builtin::Edge {
                        let not_before = ir.not(before);
                        ir.and(now, not_before)
                    } else {
                        ir.binary(BinaryOp::Ne, now, before)
                    }
                };
                memo.insert(id, new);
                continue;
            }
            Expr::Builtin(Builtin::Homotopy, ref args) => Some((memo[&args[0]], memo[&args[1]])),
            _ => None,
        };
        let new = match (homotopy, lambda) {
            (Some((actual, simplified)), Some(lambda)) if initial && actual != simplified => {
                let lambda = ir.var(lambda, Base::Real);
                let one = ir.real(1.0);
                let rest = ir.sub(one, lambda);
                let a = ir.mul(lambda, actual);
                let s = ir.mul(rest, simplified);
                ir.add_(a, s)
            }
            (Some((actual, _)), _) => actual,
            (None, _) => ir.rebuild_folded(id, memo),
        };
        memo.insert(id, new);
    }
    memo[&e]
}
