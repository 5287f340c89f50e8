//! Inlining of functions that ask for it after index reduction (`LateInline`, `InlineAfterIndexReduction`).
//!
//! The inlined form shows which elements of array arguments an equation really contains, so it is what the passes work on. The
//! form with calls is kept beside it: where calls remain in the inlined one, the `derivative` annotations of the late ones are
//! used for index reduction, and the result is inlined in turn.

use rustc_hash::FxHashMap;
use saltus_ir::func::Inline;
use saltus_ir::scalar::{InlineMode, Shaped, inline_call};
use saltus_ir::{Builtin, Expr, ExprId, Ir};

/// Calls nested in inlined bodies are inlined to this depth.
const ROUNDS_MAX: usize = 16;

/// The expression with late functions inlined; the same id if there are none.
pub(crate) fn inline_late(ir: &mut Ir, e: ExprId) -> ExprId {
    inline(ir, e, |inline| inline == Inline::Late)
}

/// A derivative with everything inlined that asks for it: the functions of `derivative` annotations come in only now.
pub(crate) fn inline_derivative(ir: &mut Ir, e: ExprId) -> ExprId {
    inline(ir, e, |inline| {
        matches!(inline, Inline::Late | Inline::Always)
    })
}

fn inline(ir: &mut Ir, e: ExprId, wanted: fn(Inline) -> bool) -> ExprId {
    let mut e = e;
    for _ in 0..ROUNDS_MAX {
        let new = inline_round(ir, e, wanted);
        if new == e {
            break;
        }
        e = new;
    }
    e
}

fn inline_round(ir: &mut Ir, e: ExprId, wanted: fn(Inline) -> bool) -> ExprId {
    if !ir.functions.iter().any(|(_, f)| wanted(f.inline)) {
        return e;
    }
    let nodes = ir.reachable(&[e]);
    let is_wanted = |&id: &ExprId| match ir.expr(id) {
        Expr::Call { function, .. } => wanted(ir.functions[*function].inline),
        _ => false,
    };
    if !nodes.iter().any(is_wanted) {
        return e;
    }
    let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    // Outputs of the calls that could be inlined, by their original node.
    let mut outputs: FxHashMap<ExprId, Vec<Shaped>> = FxHashMap::default();
    for id in nodes {
        let new = match *ir.expr(id) {
            Expr::Call { function, ref args } if wanted(ir.functions[function].inline) => {
                let args: Vec<ExprId> = args.iter().map(|a| memo[a]).collect();
                match inline_call(ir, function, &args, InlineMode::Policy) {
                    Ok(inlined) => {
                        let whole = inlined.first().and_then(|first| rebuild(ir, id, first));
                        outputs.insert(id, inlined);
                        whole
                    }
                    Err(_) => None,
                }
            }
            Expr::Output { call, index } => outputs
                .get(&call)
                .and_then(|o| o.get(index as usize))
                .cloned()
                .and_then(|o| rebuild(ir, id, &o)),
            Expr::Leaf { of, index } => {
                let shaped = match *ir.expr(of) {
                    Expr::Output { call, index } => {
                        outputs.get(&call).and_then(|o| o.get(index as usize))
                    }
                    _ => outputs.get(&of).and_then(|o| o.first()),
                };
                shaped.and_then(|s| s.leaves.get(index as usize)).copied()
            }
            _ => None,
        };
        let new = match new {
            Some(new) => new,
            None => ir.rebuild_folded(id, &memo),
        };
        memo.insert(id, new);
    }
    memo[&e]
}

/// The value of an output as one node of the type of `like`.
fn rebuild(ir: &mut Ir, like: ExprId, shaped: &Shaped) -> Option<ExprId> {
    if ir.ty(like).is_scalar() && shaped.leaves.len() == 1 {
        return Some(shaped.leaves[0]);
    }
    ir.rebuild_from_leaves(ir.type_id(like), &shaped.leaves)
}

/// `noEvent(e)` as `e`: in extracted expressions no relation makes an event.
pub(crate) fn without_no_event(ir: &mut Ir, e: ExprId) -> ExprId {
    if !crate::rewrite::contains(ir, e, Builtin::NoEvent) {
        return e;
    }
    let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in ir.reachable(&[e]) {
        let inner = match ir.expr(id) {
            Expr::Builtin(Builtin::NoEvent, args) => Some(memo[&args[0]]),
            _ => None,
        };
        let new = match inner {
            Some(inner) => inner,
            None => ir.rebuild_folded(id, &memo),
        };
        memo.insert(id, new);
    }
    memo[&e]
}
