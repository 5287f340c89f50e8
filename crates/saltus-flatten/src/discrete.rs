//! Variables that can only change at events have values that do so too (specification 3.8.4, 4.5.1).
//!
//! Comes in: the flat model after clocks were told apart. Goes out: an error for each equation that gives a Boolean, Integer,
//! enumeration or `discrete` variable a value that changes between events: one of `noEvent`, or of a function whose arguments are
//! continuous.
//!
//! Only what is continuous beyond doubt is refused: `time`, differentiated variables, and variables that explicit
//! equations compute from these. A Real variable that a when-clause or a clock sets may be declared like any other.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::{FlatModel, Variability, WhenAction};
use saltus_ir::{Builtin, Expr, ExprId, VarId};
use saltus_syntax::Diagnostic;

/// Rounds in which continuity spreads through explicit equations. What lies further is let through.
const ROUNDS_MAX: usize = 20;

pub(crate) fn check_discrete(model: &FlatModel) -> Vec<Diagnostic> {
    let assigned = assigned_elsewhere(model);
    let is_discrete = |v: VarId| {
        model.variables[v].variability == Variability::Discrete && !assigned.contains(&v)
    };
    let suspects = (model.equations.iter()).any(|e| {
        [e.lhs, e.rhs]
            .iter()
            .any(|&s| matches!(*model.ir.expr(s), Expr::Var(v) if is_discrete(v)))
    });
    if !suspects {
        return Vec::new();
    }
    let continuous = continuous_variables(model);
    let elsewhere = alone_in_own_type(model);
    let mut known = FxHashMap::default();
    let mut errors = Vec::new();
    for equation in &model.equations {
        for (side, value) in [(equation.lhs, equation.rhs), (equation.rhs, equation.lhs)] {
            let Expr::Var(v) = *model.ir.expr(side) else {
                continue;
            };
            if !is_discrete(v)
                || !changes(model, &continuous, &mut known, value, false)
                || (model.ir.base(value) != model.variables[v].base && elsewhere.contains(&v))
            {
                continue;
            }
            errors.push(
                Diagnostic::error(
                    "variability-violation",
                    equation.origin.span,
                    format!(
                        "`{}` can only change at events, but this value changes between them",
                        model.variables[v].name
                    ),
                )
                .help("remove `noEvent`, give functions only arguments that change at events, or assign it in a when-clause"),
            );
            break;
        }
    }
    errors
}

/// Variables that stand alone on a side of an equation of their own type. `der(x) = n` with an Integer `n` that another equation
/// determines says something about `x` (specification 3.8: an equation is solved only for what may vary as much as it does).
fn alone_in_own_type(model: &FlatModel) -> FxHashSet<VarId> {
    let sides = (model.equations.iter()).flat_map(|e| [(e.lhs, e.rhs), (e.rhs, e.lhs)]);
    sides
        .filter_map(|(side, other)| match *model.ir.expr(side) {
            Expr::Var(v) if model.ir.base(other) == model.variables[v].base => Some(v),
            _ => None,
        })
        .collect()
}

/// Variables of when-clauses, algorithms and clocks: an equation in which they stand determines something else.
fn assigned_elsewhere(model: &FlatModel) -> FxHashSet<VarId> {
    let in_whens = (model.whens.iter())
        .flat_map(|when| &when.branches)
        .flat_map(|branch| &branch.body)
        .filter_map(|action| match action {
            WhenAction::Assign { var, .. } => Some(*var),
            _ => None,
        });
    let in_algorithms = (model.algorithms.iter()).flat_map(|a| a.outputs.iter().copied());
    let clocked = (model.partitions.iter()).flat_map(|p| p.variables.iter().copied());
    in_whens.chain(in_algorithms).chain(clocked).collect()
}

/// States, and what explicit equations compute from them or from time.
fn continuous_variables(model: &FlatModel) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    let mut seen = FxHashSet::default();
    for equation in &model.equations {
        let mut todo = vec![equation.lhs, equation.rhs];
        while let Some(e) = todo.pop() {
            if !seen.insert(e) {
                continue;
            }
            if let Expr::Builtin(Builtin::Der, args) = model.ir.expr(e)
                && let Expr::Var(v) = *model.ir.expr(args[0])
            {
                found.insert(v);
            }
            model.ir.for_each_child(e, |c| todo.push(c));
        }
    }
    for _ in 0..ROUNDS_MAX {
        let n_before = found.len();
        let mut known = FxHashMap::default();
        for equation in &model.equations {
            if let Expr::Var(v) = *model.ir.expr(equation.lhs)
                && model.variables[v].variability == Variability::Continuous
                && !found.contains(&v)
                && changes(model, &found, &mut known, equation.rhs, false)
            {
                found.insert(v);
            }
        }
        if found.len() == n_before {
            break;
        }
    }
    found
}

/// Whether a value changes between events; inside `noEvent` relations do.
fn changes(
    model: &FlatModel,
    continuous: &FxHashSet<VarId>,
    known: &mut FxHashMap<(ExprId, bool), bool>,
    e: ExprId,
    no_event: bool,
) -> bool {
    // Without recursion: sums of connections are as deep as the connections are many.
    let todo = (model.ir).reachable_until(&[e], |id| known.contains_key(&(id, no_event)));
    for id in todo {
        for quiet in [false, true] {
            let answer = changes_by_parts(model, continuous, known, id, quiet);
            known.insert((id, quiet), answer);
        }
    }
    known[&(e, no_event)]
}

/// The same for an expression whose parts are known.
fn changes_by_parts(
    model: &FlatModel,
    continuous: &FxHashSet<VarId>,
    known: &FxHashMap<(ExprId, bool), bool>,
    e: ExprId,
    no_event: bool,
) -> bool {
    let go = |e: ExprId, no_event: bool| known[&(e, no_event)];
    match model.ir.expr(e) {
        Expr::Time => true,
        Expr::Var(v) => continuous.contains(v),
        Expr::Binary(op, a, b) if op.is_relation() => {
            no_event && (go(*a, no_event) || go(*b, no_event))
        }
        // Libraries give Integer and Boolean outputs beside Real ones.
        Expr::Output { .. } | Expr::Leaf { .. } => false,
        Expr::Call { function, .. } if model.ir.functions[*function].outputs.len() > 1 => false,
        Expr::If(c, a, b) => [c, a, b].iter().any(|part| go(**part, no_event)),
        Expr::Builtin(builtin, args) => match builtin {
            Builtin::NoEvent => args.iter().any(|&a| go(a, true)),
            Builtin::Der => true,
            Builtin::Pre
            | Builtin::Edge
            | Builtin::Change
            | Builtin::Initial
            | Builtin::Terminal
            | Builtin::Sample
            | Builtin::Sign
            | Builtin::Size
            | Builtin::Ndims
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
            | Builtin::Clock => false,
            Builtin::Ceil | Builtin::Floor | Builtin::Integer | Builtin::Div => {
                no_event && args.iter().any(|&a| go(a, no_event))
            }
            _ => args.iter().any(|&a| go(a, no_event)),
        },
        _ => {
            let mut any = false;
            model.ir.for_each_child(e, |c| any = any || go(c, no_event));
            any
        }
    }
}
