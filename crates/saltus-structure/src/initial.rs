//! The initial system (specification 8.6): all equations of the model with `initial()` true, initial equations, fixed start
//! values; where that leaves freedom, more start values by their confidence (8.6.2), each with a note. These may be released if the system has no
//! solution with them. Conditions that find nothing left to determine are checked when the system is solved: redundant ones do no harm.
//!
//! A variable that is determined by its start value has no step: its value is there before the initial system runs. `pre(v)` is the
//! start value of `v` in the same way, unless an initial equation speaks of `v` or `pre(v)`: then it is an unknown `$pre(v)`.

use crate::balance::solvable_unknowns;
use crate::collect::lone_variables;
use crate::parameters::is_fixed;
use crate::rewrite::substitute;
use crate::sort::{Sorted, sort};
use crate::system::{Action, Assignment, InitialCheck, InitialConditions, Said, Step};
use crate::text::{equation_text, expr_text};
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{Matcher, maximum_matching, strongly_connected_components};
use saltus_ir::flat::{Origin, StateSelect};
use saltus_ir::func::AssertLevel;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Id, Ir, VarId};
use saltus_syntax::Name;

/// Most conditions that a message about a contradiction lists beside the one that was left over.
const OTHERS_MAX: usize = 12;

pub(crate) struct InitialSystem {
    pub(crate) steps: Vec<Step>,
    pub(crate) notes: Vec<(Option<VarId>, String)>,
    pub(crate) conditions: InitialConditions,
}

/// A row of the initial system.
#[derive(Clone)]
enum Condition {
    Equation(Eq),
    /// The variable has its start value.
    Start(VarId),
}

/// Builds and sorts the initial system. `unknowns`: all representatives that equations determine; `states`: those among them
/// that start values should rather fix.
pub(crate) fn initial_system(
    work: &mut Work,
    unknowns: &[VarId],
    states: &[VarId],
) -> Option<InitialSystem> {
    let pre_vars = pre_unknowns(work);
    let mut columns: Vec<VarId> = unknowns.to_vec();
    columns.extend(
        work.flat
            .variables
            .ids()
            .filter(|&v| matches!(work.class(v), Class::FreeParameter | Class::Held)),
    );
    columns.extend(pre_vars.iter().map(|(_, p)| *p));
    let mut place = vec![u32::MAX; work.flat.variables.len()];
    columns
        .iter()
        .enumerate()
        .for_each(|(k, v)| place[v.index()] = k as u32);

    let model = model_equations(work, &pre_vars);
    let extra = std::mem::take(&mut work.initial_equations);
    let extra: Vec<Eq> = extra
        .into_iter()
        .map(|eq| with_pre_variables(work, &pre_vars, eq))
        .collect();
    let row_of = |work: &mut Work, eq: &Eq| -> Vec<u32> {
        initial_solvable(work, eq)
            .into_iter()
            .map(|v| place[v.index()])
            .filter(|&c| c != u32::MAX)
            .collect()
    };
    let rows: Vec<Vec<u32>> = model.iter().map(|eq| row_of(work, eq)).collect();
    let matching = maximum_matching(&rows, columns.len());
    if !matching.covers_rows() {
        // The message of the sort names what is wrong.
        let mut solvable = |work: &mut Work, eq: &Eq| initial_solvable(work, eq);
        sort(work, &model, &columns, Sorted::Start, &mut solvable);
        return None;
    }
    let mut matcher = Matcher::with_matching(rows, columns.len(), &matching);
    let mut taken: Vec<Condition> = model.into_iter().map(Condition::Equation).collect();
    let mut dropped: Vec<(Condition, Vec<u32>)> = Vec::new();
    // In the first way that determines something more.
    let mut offer = |matcher: &mut Matcher, ways: Vec<(Condition, Vec<u32>)>| {
        for (condition, row) in &ways {
            if matcher.try_row(row.clone()) {
                taken.push(condition.clone());
                return;
            }
        }
        dropped.extend(ways.into_iter().next());
    };
    // What is fixed before the start is said first: an initial equation for the same variable, or for one that is an alias of it, is then
    // checked, and no loop of assignments closes through it.
    for &(v, pre) in &pre_vars {
        if is_fixed(work, v) == Some(true) {
            offer(
                &mut matcher,
                vec![(Condition::Start(pre), vec![place[pre.index()]])],
            );
        }
    }
    let mut stated = Vec::with_capacity(extra.len());
    for eq in extra {
        let row = row_of(work, &eq);
        stated.push(Said {
            text: equation_text(work, eq.lhs, eq.rhs),
            origin: eq.origin,
        });
        let mut ways = Vec::new();
        if let Some(definition) = discrete_definition(work, &pre_vars, &eq) {
            let row = row_of(work, &definition);
            ways.push((Condition::Equation(definition), row));
        }
        ways.push((Condition::Equation(eq), row));
        offer(&mut matcher, ways);
    }
    let state_set: FxHashSet<VarId> = states.iter().copied().collect();
    let mut fixed: Vec<VarId> = columns
        .iter()
        .copied()
        .filter(|&v| matches!(work.class(v), Class::Continuous | Class::Held))
        .filter(|&v| is_fixed(work, v) == Some(true))
        .collect();
    fixed.sort_by_key(|v| {
        (
            !state_set.contains(v),
            work.flat.variables[*v].start_confidence,
            *v,
        )
    });
    for var in fixed {
        // A start value that depends on a parameter to be found is an equation like any other.
        let (condition, row) = match start_equation(work, var) {
            Some(eq) => {
                let row = row_of(work, &eq);
                (Condition::Equation(eq), row)
            }
            None => (Condition::Start(var), vec![place[var.index()]]),
        };
        offer(&mut matcher, vec![(condition, row)]);
    }
    let mut checks = Vec::new();
    let mut check_steps = Vec::new();
    for (condition, row) in dropped {
        let others: Vec<Said> = (matcher.in_the_way(&row).into_iter())
            .rev()
            .take(OTHERS_MAX)
            .map(|r| said(work, &taken[r as usize]))
            .collect();
        consistency_check(work, condition, others, &mut checks, &mut check_steps);
    }
    let n_stated = taken.len();
    let notes = complete(
        work,
        &mut matcher,
        &mut taken,
        &columns,
        &place,
        &state_set,
        &pre_vars,
    );

    let guesses = (taken[n_stated..].iter())
        .filter_map(|condition| match condition {
            Condition::Start(var) if work.class(*var) == Class::Continuous => {
                Some((*var, work.flat.variables[*var].start_confidence))
            }
            _ => None,
        })
        .collect();
    let mut equations = Vec::new();
    let mut given: FxHashSet<VarId> = FxHashSet::default();
    for condition in taken {
        match condition {
            Condition::Equation(eq) => equations.push(eq),
            Condition::Start(var) => {
                given.insert(var);
            }
        }
    }
    let open: Vec<VarId> = columns
        .iter()
        .copied()
        .filter(|v| !given.contains(v))
        .collect();
    let mut solvable = |work: &mut Work, eq: &Eq| initial_solvable(work, eq);
    let mut steps = sort(work, &equations, &open, Sorted::Start, &mut solvable)?;
    steps.extend(check_steps);
    add_actions(work, &pre_vars, &mut steps);
    Some(InitialSystem {
        steps,
        notes,
        conditions: InitialConditions {
            guesses,
            checks,
            equations: stated,
            memory: pre_vars,
        },
    })
}

/// An initial equation between continuous quantities that gives its value to a discrete variable or to its `pre`: it stands alone on a side, and its start
/// value is not fixed. Where it is fixed, the equation is a condition for what stands on the other side.
fn discrete_definition(work: &mut Work, pre_vars: &[(VarId, VarId)], eq: &Eq) -> Option<Eq> {
    let defines = |work: &Work, v: VarId| {
        let with_start = pre_vars.iter().find(|(_, pre)| *pre == v);
        let with_start = with_start.map_or(v, |(variable, _)| *variable);
        work.class(v) == Class::Discrete
            && work.flat.variables[v].base == Base::Real
            && is_fixed(work, with_start) != Some(true)
    };
    if eq.kind != Kind::Continuous
        || !(lone_variables(work, eq.lhs, eq.rhs).into_iter()).any(|v| defines(work, v))
    {
        return None;
    }
    Some(Eq {
        kind: Kind::Discrete,
        ..eq.clone()
    })
}

/// `var = start`, if the start value depends on a parameter that the initial system determines.
fn start_equation(work: &mut Work, var: VarId) -> Option<Eq> {
    let start = work.flat.variables[var].start?;
    let free = (work.flat.ir.variables_of(start).into_iter())
        .any(|v| work.class(v) == Class::FreeParameter);
    if !free || !matches!(work.class(var), Class::Continuous | Class::Held) {
        return None;
    }
    let origin = declaration(work, var);
    Some(Eq {
        lhs: work.var(var),
        rhs: start,
        initial: None,
        late: None,
        kind: Kind::Continuous,
        origin,
    })
}

/// Discrete variables of which initial equations say something, each with the unknown that stands for its `pre`.
fn pre_unknowns(work: &mut Work) -> Vec<(VarId, VarId)> {
    let roots: Vec<ExprId> = work
        .initial_equations
        .iter()
        .flat_map(|eq| [eq.lhs, eq.rhs])
        .collect();
    let mut vars: Vec<VarId> = work.pre_incidence(&roots);
    vars.extend(work.incidence(&roots));
    vars.retain(|&v| work.class(v) == Class::Discrete);
    vars.sort_unstable();
    vars.dedup();
    let mut result = Vec::with_capacity(vars.len());
    for v in vars {
        let (name, base, span) = (work.name(v), work.flat.variables[v].base, work.span(v));
        let pre = work.new_var(&format!("$pre({name})"), base, Class::Discrete, span);
        let source = work.flat.variables[v].clone();
        let variable = &mut work.flat.variables[pre];
        variable.start = source.start;
        variable.start_confidence = source.start_confidence;
        result.push((v, pre));
    }
    result
}

/// The equations of the model in their initial form.
fn model_equations(work: &mut Work, pre_vars: &[(VarId, VarId)]) -> Vec<Eq> {
    let mut model = Vec::with_capacity(work.equations.len());
    for k in 0..work.equations.len() {
        let eq = &work.equations[k];
        if matches!(eq.kind, Kind::Clocked { .. }) {
            continue;
        }
        let (lhs, rhs) = eq.initial.unwrap_or((eq.lhs, eq.rhs));
        let eq = Eq {
            lhs,
            rhs,
            initial: None,
            late: None,
            kind: eq.kind.clone(),
            origin: eq.origin,
        };
        let eq = with_pre_variables(work, pre_vars, eq);
        model.push(eq);
    }
    for (var, origin) in work.clocked_vars.clone() {
        if !work.class(var).is_unknown() {
            continue;
        }
        let (lhs, rhs) = (work.var(var), work.pre(var));
        let eq = Eq {
            lhs,
            rhs,
            initial: None,
            late: None,
            kind: Kind::Assign {
                var,
                discrete: true,
            },
            origin,
        };
        model.push(with_pre_variables(work, pre_vars, eq));
    }
    model
}

/// `pre(v)` as the unknown `$pre(v)` where there is one.
fn with_pre_variables(work: &mut Work, pre_vars: &[(VarId, VarId)], mut eq: Eq) -> Eq {
    if pre_vars.is_empty() {
        return eq;
    }
    eq.lhs = replace_pre(work, pre_vars, eq.lhs);
    eq.rhs = replace_pre(work, pre_vars, eq.rhs);
    // `v = pre(v)` may determine either.
    if let (Kind::Assign { var, .. }, Expr::Var(p)) = (&eq.kind, work.flat.ir.expr(eq.rhs))
        && pre_vars.binary_search(&(*var, *p)).is_ok()
    {
        eq.kind = Kind::Discrete;
    }
    eq
}

fn replace_pre(work: &mut Work, pre_vars: &[(VarId, VarId)], e: ExprId) -> ExprId {
    let ir = &work.flat.ir;
    let has = ir
        .reachable(&[e])
        .into_iter()
        .any(|id| matches!(ir.expr(id), Expr::Builtin(Builtin::Pre, _)));
    if !has {
        return e;
    }
    let bases: FxHashMap<VarId, (VarId, Base)> = pre_vars
        .iter()
        .map(|&(v, p)| (v, (p, work.flat.variables[p].base)))
        .collect();
    let ir: &mut Ir = &mut work.flat.ir;
    let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in ir.reachable(&[e]) {
        let pre = match ir.expr(id) {
            Expr::Builtin(Builtin::Pre, args) => match ir.expr(args[0]) {
                Expr::Var(v) => bases.get(v).copied(),
                _ => None,
            },
            _ => None,
        };
        let new = match pre {
            Some((p, base)) => ir.var(p, base),
            None => ir.rebuild_folded(id, &memo),
        };
        memo.insert(id, new);
    }
    memo[&e]
}

/// Unknowns that an equation of the initial system may be solved for.
fn initial_solvable(work: &mut Work, eq: &Eq) -> Vec<VarId> {
    let is_unknown = |work: &Work, v: VarId| {
        matches!(
            work.class(v),
            Class::Continuous
                | Class::Discrete
                | Class::Delayed
                | Class::FreeParameter
                | Class::Held
        )
    };
    match eq.kind {
        Kind::Continuous => {
            let real = |work: &Work, v: VarId| {
                work.flat.variables[v].base == Base::Real
                    && matches!(
                        work.class(v),
                        Class::Continuous | Class::FreeParameter | Class::Held
                    )
            };
            work.nonzero_incidence(&[eq.lhs, eq.rhs])
                .into_iter()
                .filter(|&v| real(work, v))
                .collect()
        }
        Kind::Discrete => {
            let real =
                work.flat.ir.base(eq.lhs) == Base::Real || work.flat.ir.base(eq.rhs) == Base::Real;
            let mut vars = lone_variables(work, eq.lhs, eq.rhs);
            if real {
                let free: Vec<VarId> = work
                    .incidence(&[eq.lhs, eq.rhs])
                    .into_iter()
                    .filter(|&v| work.class(v) == Class::FreeParameter && !vars.contains(&v))
                    .collect();
                vars.extend(free);
            }
            vars.retain(|&v| is_unknown(work, v));
            vars
        }
        Kind::Assign { .. } | Kind::Clocked { .. } => solvable_unknowns(work, eq),
    }
}

/// Fixes start values until every unknown is determined: `pre` of discrete variables, start values given for states and for
/// variables that index reduction has taken from the states, other states, others, each by confidence.
fn complete(
    work: &mut Work,
    matcher: &mut Matcher,
    taken: &mut Vec<Condition>,
    columns: &[VarId],
    place: &[u32],
    states: &FxHashSet<VarId>,
    pre_vars: &[(VarId, VarId)],
) -> Vec<(Option<VarId>, String)> {
    let mut notes = Vec::new();
    for &(_, pre) in pre_vars {
        if matcher.try_row(vec![place[pre.index()]]) {
            taken.push(Condition::Start(pre));
        }
    }
    let pre_set: FxHashSet<VarId> = pre_vars.iter().map(|p| p.1).collect();
    // What holds the values of a state set follows from its candidates.
    let held: FxHashSet<VarId> = (work.state_sets.iter())
        .flat_map(|set| set.levels.iter().flat_map(|level| &level.1))
        .copied()
        .collect();
    let mut candidates: Vec<VarId> = columns
        .iter()
        .copied()
        .filter(|v| !pre_set.contains(v) && !held.contains(v))
        .collect();
    let rank = |v: VarId| {
        let variable = &work.flat.variables[v];
        let state = states.contains(&v);
        let wanted = work.inlined.is_some() && variable.state_select >= StateSelect::Prefer;
        let kind = match work.class(v) {
            // A state, or one that could have been: its start value is meant as an initial value.
            _ if (state || wanted || work.der.contains_key(&v)) && variable.start.is_some() => 0,
            _ if state => 1,
            Class::FreeParameter => 2,
            _ if variable.start.is_some() => 3,
            _ if !work.der_name.contains_key(&v) => 4,
            _ => 5,
        };
        (kind, variable.start_confidence, !state, v)
    };
    candidates.sort_by_key(|&v| rank(v));
    for var in candidates {
        if !matcher.try_row(vec![place[var.index()]]) {
            continue;
        }
        taken.push(Condition::Start(var));
        let variable = &work.flat.variables[var];
        let what = if states.contains(&var) {
            "state"
        } else {
            "unknown"
        };
        let inlined = work.inlined.iter().flat_map(|inlined| &inlined.states);
        let name = match inlined.into_iter().find(|state| state.value_old == var) {
            Some(state) => work.name(state.value),
            None => variable.name,
        };
        let value = match variable.start {
            Some(start) => work.flat.text(start),
            None => "0 (default)".to_owned(),
        };
        notes.push((
            Some(var),
            format!(
                "the start value of the {what} `{}` is used as initial condition: {value}",
                name
            ),
        ));
    }
    notes
}

/// A condition in model terms.
fn said(work: &Work, condition: &Condition) -> Said {
    match condition {
        Condition::Equation(eq) => Said {
            text: equation_text(work, eq.lhs, eq.rhs),
            origin: eq.origin,
        },
        Condition::Start(var) => {
            let variable = &work.flat.variables[*var];
            let start = match variable.start {
                Some(start) => expr_text(work, start),
                None => "0".to_owned(),
            };
            Said {
                text: format!("{} = {start}", variable.name),
                origin: declaration(work, *var),
            }
        }
    }
}

fn declaration(work: &Work, var: VarId) -> Origin {
    Origin {
        span: work.span(var),
        component: Name::new(""),
    }
}

/// A condition that was left over is checked after the initial system has been solved.
fn consistency_check(
    work: &mut Work,
    condition: Condition,
    others: Vec<Said>,
    checks: &mut Vec<InitialCheck>,
    steps: &mut Vec<Step>,
) {
    let said = said(work, &condition);
    let origin = said.origin;
    let (lhs, rhs) = match condition {
        Condition::Equation(eq) => (eq.lhs, eq.rhs),
        Condition::Start(var) => {
            let start = match work.flat.variables[var].start {
                Some(start) => start,
                None => work.flat.ir.real(0.0),
            };
            (work.var(var), start)
        }
    };
    let ir = &mut work.flat.ir;
    if ir.base(lhs) != Base::Real && ir.base(rhs) != Base::Real {
        let condition = ir.binary(BinaryOp::Eq, lhs, rhs);
        if ir.as_boolean(condition) != Some(true) {
            let text = format!("`{}` contradicts the other initial conditions", said.text);
            let message = ir.string(&text);
            steps.push(Step::Action {
                guard: None,
                action: Action::Assert {
                    condition,
                    message,
                    level: AssertLevel::Error,
                },
                origin,
            });
        }
        return;
    }
    let number = checks.len() + 1;
    let mut side = |work: &mut Work, name: &str, value: ExprId| {
        let name = format!("${name}({number})");
        let var = work.new_var(&name, Base::Real, Class::Unused, origin.span);
        let assignment = Assignment { var, value, origin };
        steps.push(Step::Assign {
            assignment,
            discrete: false,
        });
        var
    };
    let (left, right) = (
        side(work, "checked_left", lhs),
        side(work, "checked_right", rhs),
    );
    checks.push(InitialCheck {
        left,
        right,
        said,
        others,
    });
}

fn add_actions(work: &mut Work, pre_vars: &[(VarId, VarId)], steps: &mut Vec<Step>) {
    for guarded in work.actions.clone() {
        let guard = match work.flat.ir.as_boolean(guarded.initial) {
            Some(false) => continue,
            Some(true) => None,
            None => Some(replace_pre(work, pre_vars, guarded.initial)),
        };
        if matches!(guarded.action, Action::Reinit { .. }) {
            continue;
        }
        let mut action = guarded.action.clone();
        crate::collect::map_action(&mut action, |e| replace_pre(work, pre_vars, e));
        steps.push(Step::Action {
            guard,
            action,
            origin: guarded.origin,
        });
    }
}

/// Start values of unknowns as they stand in the model, and the defaults that are not zero.
pub(crate) fn starts(work: &mut Work, unknowns: &[VarId]) -> Vec<Assignment> {
    let mut starts = Vec::new();
    for &var in unknowns {
        let variable = &work.flat.variables[var];
        let value = match (variable.start, variable.base) {
            (Some(start), _) => start,
            (None, _) if work.class(var) == Class::FreeParameter && variable.binding.is_some() => {
                variable.binding.expect("just tested")
            }
            (None, Base::Enum(id)) => work.flat.ir.add_scalar(Expr::Enum(id, 1), Base::Enum(id)),
            (None, Base::String) => work.flat.ir.string(""),
            (None, _) => continue,
        };
        let origin = declaration(work, var);
        starts.push(Assignment { var, value, origin });
    }
    // Start values in representatives of parameters need no rewriting: parameters are never aliases.
    let mut memo = FxHashMap::default();
    for start in &mut starts {
        start.value = substitute(&mut work.flat.ir, start.value, &mut |_, _| None, &mut memo);
    }
    let starts = in_order_of_need(work, starts);
    without_unfounded(work, starts)
}

/// Without those bindings of parameters that read a free parameter of which nothing is known: a guess made of its zero says nothing, and may not even exist (`1/k`).
fn without_unfounded(work: &mut Work, starts: Vec<Assignment>) -> Vec<Assignment> {
    let mut founded: FxHashSet<VarId> = FxHashSet::default();
    let mut kept = Vec::with_capacity(starts.len());
    for start in starts {
        let is_binding = work.flat.variables[start.var].start.is_none();
        let used = work.incidence(&[start.value]);
        let is_founded = |v: &VarId| work.class(*v) != Class::FreeParameter || founded.contains(v);
        if !is_binding || used.iter().all(is_founded) {
            founded.insert(start.var);
            kept.push(start);
        }
    }
    kept
}

/// What others are made of comes before them: a parameter that depends on a free one has its binding as start value.
fn in_order_of_need(work: &mut Work, starts: Vec<Assignment>) -> Vec<Assignment> {
    let position: FxHashMap<VarId, u32> = (starts.iter().enumerate())
        .map(|(k, start)| (start.var, k as u32))
        .collect();
    let needs: Vec<Vec<u32>> = (starts.iter())
        .map(|start| {
            let used = work.incidence(&[start.value]);
            used.iter()
                .filter_map(|v| position.get(v).copied())
                .collect()
        })
        .collect();
    let mut open: Vec<Option<Assignment>> = starts.into_iter().map(Some).collect();
    (strongly_connected_components(&needs).into_iter().flatten())
        .filter_map(|k| open[k as usize].take())
        .collect()
}
