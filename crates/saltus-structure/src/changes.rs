//! When the value of an expression changes during a run.

use crate::work::{Class, Work};
use rustc_hash::FxHashMap;
use saltus_ir::{Builtin, Expr, ExprId, VarId};

/// When a value changes during a run, each kind including those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Changes {
    Never,
    AtEvents,
    Continuously,
}

impl Changes {
    /// Of nodes that are listed after their children.
    pub(crate) fn of_all(work: &Work, nodes: &[ExprId]) -> FxHashMap<ExprId, Changes> {
        let mut changes: FxHashMap<ExprId, Changes> = FxHashMap::default();
        for &id in nodes {
            let own = Changes::of(work, id, &changes);
            changes.insert(id, own);
        }
        changes
    }

    /// Of a node whose children are in `known`.
    fn of(work: &Work, id: ExprId, known: &FxHashMap<ExprId, Changes>) -> Changes {
        let ir = &work.flat.ir;
        let of_var = |v: VarId| match work.class(v) {
            Class::Known => Changes::Never,
            Class::FreeParameter | Class::Discrete | Class::Flag | Class::Held => Changes::AtEvents,
            Class::Input | Class::Delayed | Class::Continuous | Class::Unused => {
                Changes::Continuously
            }
        };
        match ir.expr(id) {
            Expr::Var(v) => of_var(*v),
            Expr::VarArray(first) => {
                let n = ir.leaf_count(ir.type_id(id)).unwrap_or(0) as u32;
                let all = (0..n).map(|k| of_var(VarId(first.0 + k)));
                all.max().unwrap_or(Changes::Never)
            }
            Expr::Time | Expr::Builtin(Builtin::Delay | Builtin::Initial, _) => {
                Changes::Continuously
            }
            Expr::Builtin(Builtin::Pre, _) => Changes::AtEvents,
            Expr::Call { function, .. } if ir.functions[*function].impure => Changes::Continuously,
            _ => {
                let mut most = Changes::Never;
                ir.for_each_child(id, |child| most = most.max(known[&child]));
                most
            }
        }
    }
}
