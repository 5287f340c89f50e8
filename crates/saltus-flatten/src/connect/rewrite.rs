//! Replacing nodes in everything that was collected.
//!
//! Children of a hash-consed node are older than the node, so that going through the reachable nodes by ascending id visits
//! children first: no recursion.

use super::sets::Sets;
use crate::core::{Flattener, InstId, Res, Sections};
use rustc_hash::FxHashMap;
use saltus_ir::flat::WhenAction;
use saltus_ir::func::{Access, Statement, StatementKind, Target};
use saltus_ir::{Builtin, Expr, ExprId, Ir, Sub};

/// Calls `f` on every expression of the collected equations, algorithms and asserts.
pub(crate) fn for_each_root(sections: &mut Sections<'_>, f: &mut impl FnMut(&mut ExprId)) {
    for equation in sections
        .equations
        .iter_mut()
        .chain(&mut sections.initial_equations)
    {
        f(&mut equation.lhs);
        f(&mut equation.rhs);
    }
    for branch in sections
        .whens
        .iter_mut()
        .flat_map(|when| &mut when.branches)
    {
        branch.conditions.iter_mut().for_each(&mut *f);
        for action in &mut branch.body {
            match action {
                WhenAction::Assign { value, .. } | WhenAction::Reinit { value, .. } => f(value),
                WhenAction::Assert(assert) => {
                    f(&mut assert.condition);
                    f(&mut assert.message);
                }
                WhenAction::Terminate {
                    guard,
                    message: done,
                    ..
                }
                | WhenAction::Call {
                    guard, call: done, ..
                } => {
                    guard.iter_mut().for_each(&mut *f);
                    f(done);
                }
            }
        }
    }
    for algorithm in sections
        .algorithms
        .iter_mut()
        .chain(&mut sections.initial_algorithms)
    {
        in_statements(&mut algorithm.statements, f);
    }
    for assert in &mut sections.asserts {
        f(&mut assert.condition);
        f(&mut assert.message);
    }
}

/// Calls `f` on every expression of statements, nested ones included.
pub(crate) fn in_statements(statements: &mut [Statement], f: &mut impl FnMut(&mut ExprId)) {
    for statement in statements {
        match &mut statement.kind {
            StatementKind::Assign { target, value } => {
                in_target(target, f);
                f(value);
            }
            StatementKind::MultiAssign { targets, call } => {
                targets
                    .iter_mut()
                    .flatten()
                    .for_each(|target| in_target(target, f));
                f(call);
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    f(condition);
                    in_statements(body, f);
                }
                in_statements(otherwise, f);
            }
            StatementKind::For { range, body, .. } => {
                f(range);
                in_statements(body, f);
            }
            StatementKind::While { condition, body } => {
                f(condition);
                in_statements(body, f);
            }
            StatementKind::When { branches } => {
                for (conditions, body) in branches {
                    conditions.iter_mut().for_each(&mut *f);
                    in_statements(body, f);
                }
            }
            StatementKind::Break | StatementKind::Return => {}
            StatementKind::Assert {
                condition, message, ..
            } => {
                f(condition);
                f(message);
            }
            StatementKind::Terminate { message } => f(message),
            StatementKind::Reinit { value, .. } => f(value),
            StatementKind::Call(call) => f(call),
        }
    }
}

fn in_target(target: &mut Target, f: &mut impl FnMut(&mut ExprId)) {
    for access in &mut target.access {
        if let Access::Index(subs) = access {
            for sub in subs.iter_mut() {
                if let Sub::At(index) = sub {
                    f(index);
                }
            }
        }
    }
}

/// The node that each of `nodes` (children first) becomes: children replaced, then `f` on the old and the new node.
pub(crate) fn rewrite(
    ir: &mut Ir,
    nodes: &[ExprId],
    mut f: impl FnMut(&mut Ir, ExprId, ExprId) -> ExprId,
) -> FxHashMap<ExprId, ExprId> {
    let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for &node in nodes {
        let rebuilt = ir.map_children(node, |_, child| new.get(&child).copied().unwrap_or(child));
        let replaced = f(ir, node, rebuilt);
        if replaced != node {
            new.insert(node, replaced);
        }
    }
    new
}

impl<'a> Flattener<'a> {
    /// Replaces `inStream`, `actualStream`, `cardinality`, `isRoot` and `rooted` in everything collected.
    pub(super) fn replace_connection_operators(&mut self, sets: &Sets) -> Res<()> {
        let mut roots = Vec::new();
        for_each_root(&mut self.sections, &mut |root| roots.push(*root));
        let nodes = self.ir.reachable(&roots);
        let mut values: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for &node in &nodes {
            if let Some(value) = self.operator_value(sets, node)? {
                values.insert(node, value);
            }
        }
        if values.is_empty() {
            return Ok(());
        }
        let new = rewrite(&mut self.ir, &nodes, |ir, node, rebuilt| {
            if let Some(&value) = values.get(&node) {
                return value;
            }
            match *ir.expr(rebuilt) {
                Expr::If(condition, then, otherwise) => match ir.as_boolean(condition) {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None => rebuilt,
                },
                _ => rebuilt,
            }
        });
        for_each_root(&mut self.sections, &mut |root| {
            if let Some(&value) = new.get(root) {
                *root = value;
            }
        });
        Ok(())
    }

    /// What an operator on connections becomes; `None` for other nodes.
    fn operator_value(&mut self, sets: &Sets, node: ExprId) -> Res<Option<ExprId>> {
        if let Some(value) = self.stream_value(sets, node)? {
            return Ok(Some(value));
        }
        let &Expr::Builtin(builtin, ref args) = self.ir.expr(node) else {
            return Ok(None);
        };
        let connector = args.first().and_then(|&arg| match self.ir.expr(arg) {
            Expr::Integer(id) => u32::try_from(*id).ok().map(InstId),
            _ => None,
        });
        Ok(match (builtin, connector) {
            (Builtin::Cardinality, Some(inst)) => Some(self.ir.integer(self.cardinality(inst))),
            (Builtin::IsRoot, Some(inst)) => Some(self.ir.boolean(self.is_root(inst))),
            (Builtin::Rooted, Some(inst)) => Some(self.ir.boolean(self.rooted(inst))),
            _ => None,
        })
    }
}
