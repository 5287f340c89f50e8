//! Which relations guard the resets of states: what a contact is made of.
//!
//! Comes in: the sorted event system. Goes out: for each relation, by slot, the conditions of when-clauses with `reinit` or a law of restitution that depend on
//! it through any number of discrete variables, and the states that those reset.

use crate::layout::Layout;
use crate::tape::Sign;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::{Builtin, Expr, ExprId, Ir, UnaryOp, VarId};
use saltus_model::Slot;
use saltus_structure::{Action, Step, StructuredSystem};

/// Of one relation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guarded {
    /// A condition, and the value of its slot for which it holds.
    pub(crate) conditions: Vec<(Slot, bool)>,
    pub(crate) resets: Vec<Slot>,
}

pub(crate) fn guarded(
    system: &StructuredSystem,
    layout: &Layout,
    impact_flags: &[VarId],
) -> FxHashMap<Slot, Guarded> {
    let ir = &system.flat.ir;
    let mut definitions: FxHashMap<Slot, ExprId> = FxHashMap::default();
    for step in &system.event {
        match step {
            Step::Assign {
                assignment,
                discrete: true,
            } => {
                definitions.insert(layout.slot(assignment.var), assignment.value);
            }
            Step::Block(block) => {
                let discrete = block.discrete.iter();
                definitions.extend(discrete.map(|a| (layout.slot(a.var), a.value)));
            }
            Step::Assign { .. } | Step::Action { .. } => {}
        }
    }
    let flags: FxHashSet<Slot> = impact_flags.iter().map(|v| layout.slot(*v)).collect();
    let resets = system.event.iter().filter_map(|step| match step {
        Step::Action {
            guard: Some(guard),
            action: Action::Reinit { var, .. },
            ..
        } => Some((*guard, Some(layout.slot(*var)))),
        Step::Assign { assignment, .. } if flags.contains(&layout.slot(assignment.var)) => {
            Some((assignment.value, None))
        }
        _ => None,
    });
    let relations: FxHashSet<Slot> = (system.crossings.iter())
        .map(|c| layout.slot(c.relation))
        .collect();
    let mut result: FxHashMap<Slot, Guarded> = FxHashMap::default();
    for (guard, reset) in resets {
        for condition in edges(ir, guard) {
            let (slot, sign) = layout.place(condition);
            let holds = (slot, sign == Sign::Plain);
            for relation in reached(ir, layout, slot, &definitions, &relations) {
                let of = result.entry(relation).or_default();
                if !of.conditions.contains(&holds) {
                    of.conditions.push(holds);
                }
                if let Some(reset) = reset.filter(|reset| !of.resets.contains(reset)) {
                    of.resets.push(reset);
                }
            }
        }
    }
    result
}

/// The conditions by whose edge a guard becomes true; those of earlier branches stand in a negation.
fn edges(ir: &Ir, guard: ExprId) -> Vec<VarId> {
    let (mut found, mut stack) = (Vec::new(), vec![guard]);
    while let Some(id) = stack.pop() {
        match ir.expr(id) {
            Expr::Unary(UnaryOp::Not, _) => {}
            Expr::Builtin(Builtin::Pre, _) => {}
            // An edge is the condition and not what it was before.
            Expr::Var(condition) => found.push(*condition),
            _ => ir.for_each_child(id, |child| stack.push(child)),
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The relations that a discrete variable depends on.
fn reached(
    ir: &Ir,
    layout: &Layout,
    from: Slot,
    definitions: &FxHashMap<Slot, ExprId>,
    relations: &FxHashSet<Slot>,
) -> Vec<Slot> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut stack = vec![from];
    while let Some(slot) = stack.pop() {
        if !seen.insert(slot) {
            continue;
        }
        if relations.contains(&slot) {
            found.push(slot);
        } else if let Some(&value) = definitions.get(&slot) {
            stack.extend(ir.variables_of(value).iter().map(|v| layout.slot(*v)));
        }
    }
    found.sort_unstable_by_key(|slot| slot.0);
    found
}
