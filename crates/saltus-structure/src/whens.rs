//! When-clauses (specification 8.3.5): `v = if edge(c1) then e1 elseif … else pre(v)`, and guarded actions.

use crate::events::{Context, Extractor};
use crate::restart::Impact;
use crate::rewrite::Forms;
use crate::system::Action;
use crate::work::{Class, Eq, GuardedAction, Kind, Work};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use saltus_ir::flat::{Origin, When, WhenAction};
use saltus_ir::func::FunctionBody;
use saltus_ir::{Base, Expr, ExprId, VarId};
use saltus_syntax::Diagnostic;

/// Makes the variables that when-clauses assign discrete, and reports those assigned in two.
pub(crate) fn declare_when_variables(work: &mut Work, whens: &[When]) {
    let mut first: FxHashMap<VarId, (usize, Origin)> = FxHashMap::default();
    for (k, when) in whens.iter().enumerate() {
        for action in when.branches.iter().flat_map(|b| &b.body) {
            match *action {
                WhenAction::Assign { var, origin, .. } => {
                    let &mut (seen, seen_origin) = first.entry(var).or_insert((k, origin));
                    if seen != k {
                        let name = work.name(var);
                        work.error(
                            Diagnostic::error(
                                "assigned-in-two-whens",
                                origin.span,
                                format!("`{name}` is set in two when-clauses"),
                            )
                            .secondary(seen_origin.span, "it is set here too")
                            .help("combine them with `elsewhen`"),
                        );
                    }
                    if work.class(var) == Class::Continuous {
                        work.class[var.0 as usize] = Class::Discrete;
                    }
                }
                WhenAction::Reinit { var, .. } => work.reinit_vars.push(var),
                WhenAction::Assert(_) | WhenAction::Terminate { .. } | WhenAction::Call { .. } => {}
            }
        }
    }
}

/// `reinit(x, e)` where a when-clause is active at the start is the initial equation `x = e` (specification 8.6).
fn add_initial_value(extractor: &mut Extractor<'_>, var: VarId, value: ExprId, origin: Origin) {
    let rhs = extractor.extract(value, Context::Initial, origin);
    let lhs = extractor.work.var(var);
    extractor.work.initial_equations.push(Eq {
        lhs,
        rhs,
        initial: None,
        late: None,
        kind: Kind::Continuous,
        origin,
    });
}

/// A when-clause whose conditions have been extracted.
pub(crate) struct PreparedWhen {
    when: When,
    /// For each branch: the edge expression, and whether it is active at initialisation.
    edges: Vec<(ExprId, bool)>,
}

/// Extracts the conditions. They come before all bodies, so that bodies can use their relations.
pub(crate) fn prepare_when(
    extractor: &mut Extractor<'_>,
    forms: &mut Forms,
    when: When,
) -> PreparedWhen {
    let mut prepared = Vec::new();
    for branch in &when.branches {
        let work = &mut *extractor.work;
        let mut edge = work.flat.ir.boolean(false);
        let mut initially = false;
        for &condition in &branch.conditions {
            let condition = extractor.extract(condition, Context::Events, when.origin);
            let at_start = forms.initial(extractor.work, condition);
            initially |= extractor.work.flat.ir.as_boolean(at_start) == Some(true)
                && crate::rewrite::contains(
                    &extractor.work.flat.ir,
                    condition,
                    saltus_ir::Builtin::Initial,
                );
            let in_event = forms.event(extractor.work, condition);
            let rises = extractor.edge(in_event);
            edge = extractor.work.flat.ir.or(edge, rises);
        }
        prepared.push((edge, initially));
    }
    PreparedWhen {
        when,
        edges: prepared,
    }
}

/// Adds the equations and actions of a when-clause.
pub(crate) fn finish_when(extractor: &mut Extractor<'_>, prepared: PreparedWhen) {
    let PreparedWhen { when, edges } = prepared;
    // Per variable the value in each branch.
    let mut values: IndexMap<VarId, (Vec<Option<ExprId>>, Origin)> = IndexMap::new();
    let mut before = extractor.work.flat.ir.boolean(false);
    let mut initial_taken = false;
    for (k, branch) in when.branches.iter().enumerate() {
        let (edge, initially) = edges[k];
        let initially = initially && !initial_taken;
        initial_taken |= initially;
        let ir = &mut extractor.work.flat.ir;
        let no_earlier = ir.not(before);
        let guard = ir.and(no_earlier, edge);
        before = ir.or(before, edge);
        for action in &branch.body {
            let inside = match action {
                WhenAction::Terminate {
                    guard: Some(inside),
                    origin,
                    ..
                }
                | WhenAction::Call {
                    guard: Some(inside),
                    origin,
                    ..
                } => extractor.extract(*inside, Context::When, *origin),
                _ => extractor.work.flat.ir.boolean(true),
            };
            let guard = extractor.work.flat.ir.and(guard, inside);
            let (action, origin) = match action {
                WhenAction::Assign { var, value, origin } => {
                    let value = extractor.extract(*value, Context::When, *origin);
                    let entry = values
                        .entry(*var)
                        .or_insert_with(|| (vec![None; when.branches.len()], *origin));
                    entry.0[k] = Some(value);
                    continue;
                }
                WhenAction::Reinit { var, value, origin } => {
                    if initially {
                        add_initial_value(extractor, *var, *value, *origin);
                    }
                    let value = extractor.extract(*value, Context::When, *origin);
                    (Action::Reinit { var: *var, value }, *origin)
                }
                WhenAction::Assert(assert) => (
                    Action::Assert {
                        condition: extractor.extract(
                            assert.condition,
                            Context::When,
                            assert.origin,
                        ),
                        message: extractor.extract(assert.message, Context::When, assert.origin),
                        level: assert.level,
                    },
                    assert.origin,
                ),
                WhenAction::Terminate {
                    message, origin, ..
                } => (
                    Action::Terminate {
                        message: extractor.extract(*message, Context::When, *origin),
                    },
                    *origin,
                ),
                WhenAction::Call { call, origin, .. } if is_restitution(extractor.work, *call) => {
                    add_impact(extractor, *call, guard, *origin);
                    continue;
                }
                WhenAction::Call { call, origin, .. } => (
                    Action::Call {
                        call: extractor.extract(*call, Context::When, *origin),
                    },
                    *origin,
                ),
            };
            let initial = initially && !matches!(action, Action::Reinit { .. });
            let ir = &mut extractor.work.flat.ir;
            let initial = ir.boolean(initial);
            let initial = ir.and(initial, inside);
            extractor.work.actions.push(GuardedAction {
                event: guard,
                initial,
                action,
                origin,
            });
        }
    }
    let active_at_start = edges.iter().position(|(_, initially)| *initially);
    for (var, (branch_values, origin)) in values {
        let work = &mut *extractor.work;
        let lhs = work.var(var);
        let kept = work.pre(var);
        let mut rhs = kept;
        for (k, value) in branch_values.iter().enumerate().rev() {
            let value = match value {
                Some(value) => *value,
                None => kept,
            };
            rhs = work.flat.ir.if_(edges[k].0, value, rhs);
        }
        let at_start = match active_at_start.and_then(|k| branch_values[k]) {
            Some(value) => value,
            None => kept,
        };
        work.equations.push(Eq {
            lhs,
            rhs,
            initial: Some((lhs, at_start)),
            late: None,
            kind: Kind::Assign {
                var,
                discrete: true,
            },
            origin,
        });
    }
}

/// The external name of the function that states a law of restitution. It is not called: it becomes an equation for the instant.
const RESTITUTION: &str = "saltus_restitution";

fn is_restitution(work: &Work, call: ExprId) -> bool {
    let ir = &work.flat.ir;
    let Expr::Call { function, .. } = ir.expr(call) else {
        return false;
    };
    match &ir.functions[*function].body {
        FunctionBody::External(external) => external.name.as_str() == RESTITUTION,
        _ => false,
    }
}

/// `restitution(approach, coefficient, carrier)`: a flag that is true in the pass in which the when-clause becomes active.
fn add_impact(extractor: &mut Extractor<'_>, call: ExprId, guard: ExprId, origin: Origin) {
    let Expr::Call { args, .. } = extractor.work.flat.ir.expr(call).clone() else {
        return;
    };
    let &[approach, coefficient, carrier] = &*args else {
        return;
    };
    let mut extracted = |e| extractor.extract(e, Context::When, origin);
    let (approach, coefficient, carrier) = (
        extracted(approach),
        extracted(coefficient),
        extracted(carrier),
    );
    let work = &mut *extractor.work;
    let name = format!("$impact[{}]", work.impacts.len() + 1);
    let flag = work.new_var(&name, Base::Boolean, Class::Discrete, origin.span);
    work.auxiliary.push(flag);
    let (lhs, never) = (work.var(flag), work.flat.ir.boolean(false));
    work.equations.push(Eq {
        lhs,
        rhs: guard,
        initial: Some((lhs, never)),
        late: None,
        kind: Kind::Assign {
            var: flag,
            discrete: true,
        },
        origin,
    });
    work.impacts.push(Impact {
        flag,
        approach,
        coefficient,
        carrier,
        origin,
    });
}
