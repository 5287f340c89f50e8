//! Inline integration (textbook 9.11): formulas of integrators as equations of the model.
//!
//! Comes in: the collected equations, before aliases are looked for and anything is sorted. Goes out: for each chosen variable x with derivative x'
//! an equation more between the two, with the values at the beginning of the step known; x is then no candidate for a state, and x' an unknown like any other:
//!
//! ```text
//! t = time + dt                                                    dt = h_min in the event step, else 0
//! h = max(t - t_old, h_min)
//! backward Euler    x = x_old + h x'
//! trapezoidal rule  x = x_old + h (w x' + (1 - w) x'_old)          w = 1/2; 1 where a step begins
//! Radau IIA         x_i = x_old + h Σ_j a_ij x'_j                  at the stages t_old + c_i h, c_s = 1
//! ```
//! h runs from zero to the step size: at every time the formula has its own step, so that an event is located on the formula itself, and the
//! simulator takes t_old, x_old and x'_old along at the end of each step (`inline.rs` in `saltus-sim`). h_min, a small part of a step, keeps apart what only the
//! derivative tells where a step begins; the event step is a step of that size into the new equations, the time of the continuous ones included.
//! For the stages of Radau IIA before the last one all continuous equations are there once more, with relations and discrete variables as they are.
//!
//! In the initial system x_old has the part that x has elsewhere: its start value is that of x, fixed or not.
//!
//! Sources: Cellier, Kofman, Continuous System Simulation, 9.11; Elmqvist, Otter, Cellier 1995 (inline integration); coefficients: Hairer, Wanner,
//! Solving Ordinary Differential Equations II, IV.5.

use crate::rewrite::{contains, substitute};
use crate::system::{Action, Inlined, InlinedState};
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::FxHashMap;
use saltus_ir::flat::{InlineMethod, Origin};
use saltus_ir::{Base, Builtin, Expr, ExprId, VarId};
use saltus_syntax::{Diagnostic, Name};

/// Coefficients of a method of Radau IIA: the matrix a_ij and the abscissae c_i.
struct Radau {
    a: Vec<Vec<f64>>,
    c: Vec<f64>,
}

fn radau(method: InlineMethod) -> Option<Radau> {
    let r = 6.0f64.sqrt();
    match method {
        InlineMethod::BackwardEuler | InlineMethod::Trapezoidal => None,
        InlineMethod::Radau3 => Some(Radau {
            a: vec![vec![5.0 / 12.0, -1.0 / 12.0], vec![0.75, 0.25]],
            c: vec![1.0 / 3.0, 1.0],
        }),
        InlineMethod::Radau5 => Some(Radau {
            a: vec![
                vec![
                    (88.0 - 7.0 * r) / 360.0,
                    (296.0 - 169.0 * r) / 1800.0,
                    (-2.0 + 3.0 * r) / 225.0,
                ],
                vec![
                    (296.0 + 169.0 * r) / 1800.0,
                    (88.0 + 7.0 * r) / 360.0,
                    (-2.0 - 3.0 * r) / 225.0,
                ],
                vec![(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0],
            ],
            c: vec![(4.0 - r) / 10.0, (4.0 + r) / 10.0, 1.0],
        }),
    }
}

/// A chosen variable.
#[derive(Clone, Copy)]
struct Chosen {
    var: VarId,
    der: VarId,
    method: InlineMethod,
}

/// Writes the formulas that are asked for into the equations.
pub(crate) fn inline_integrators(work: &mut Work) {
    let chosen = chosen(work);
    if chosen.is_empty() || !work.errors.is_empty() {
        return;
    }
    if let Some(impact) = work.impacts.first() {
        let span = impact.origin.span;
        work.error(
            Diagnostic::error(
                "inline-not-possible",
                span,
                "a law of restitution needs states: nothing can be inlined beside it",
            )
            .help("reset the velocity with `reinit`, or do not inline"),
        );
        return;
    }
    let Some(tableau) = tableau(work, &chosen) else {
        return;
    };
    let origin = Origin {
        span: work.flat.span,
        component: Name::new(""),
    };
    let time_old = new_known(work, "$t_old");
    let step_min = new_known(work, "$h_min");
    let ahead = new_known(work, "$dt");
    let t = move_time(work, ahead, origin);
    let h = work.new_var("$h", Base::Real, Class::Continuous, origin.span);
    let (old, least) = (work.var(time_old), work.var(step_min));
    let since = work.flat.ir.sub(t, old);
    let longest = (work.flat.ir).call_builtin(Builtin::Max, &[since, least]);
    // Where it changes branches is the beginning of a step, and no event.
    let size = (work.flat.ir).call_builtin(Builtin::NoEvent, &[longest]);
    let h_node = work.var(h);
    add_equation(work, h_node, size, origin);

    let maps = stages(work, &tableau.c, [t, h_node], origin);
    let mut states = Vec::with_capacity(chosen.len());
    for &one in &chosen {
        states.push(add_formula(work, one, &tableau, h_node, &maps));
        work.der.remove(&one.var);
        work.reinit_vars.retain(|&v| v != one.var);
    }
    for guarded in &mut work.actions {
        if let Action::Reinit { var, .. } = &mut guarded.action
            && let Some(state) = states.iter().find(|state| state.value == *var)
        {
            *var = state.value_old;
        }
    }
    work.inlined = Some(Inlined {
        time_old,
        step_min,
        ahead,
        states,
        step: work.flat.experiment.inline_step,
    });
}

/// The differentiated variables that are to be inlined, in their order.
fn chosen(work: &mut Work) -> Vec<Chosen> {
    let mut chosen = Vec::new();
    for var in work.flat.variables.ids().collect::<Vec<_>>() {
        let asked = work.flat.variables[var].inline;
        let Some(&der) = work.der.get(&var) else {
            if asked.is_some_and(|inline| inline.named) {
                refuse_named(work, var);
            }
            continue;
        };
        let method = asked.map(|inline| inline.method);
        if let Some(method) = method.or(work.flat.experiment.inline) {
            chosen.push(Chosen { var, der, method });
        }
    }
    chosen
}

fn refuse_named(work: &mut Work, var: VarId) {
    let mut names: Vec<String> = (work.flat.variables.ids())
        .filter(|v| work.der.contains_key(v))
        .map(|v| format!("`{}`", work.name(v)))
        .collect();
    names.truncate(NAMES_MAX);
    let name = work.name(var);
    let mut diagnostic = Diagnostic::error(
        "inline-not-possible",
        work.span(var),
        format!("`{name}` cannot be inlined: its derivative is not in the equations"),
    );
    if !names.is_empty() {
        diagnostic = diagnostic.help(format!("differentiated are {}", names.join(", ")));
    }
    work.error(diagnostic);
}

/// Names that a message lists.
const NAMES_MAX: usize = 10;

/// The stages of all: one, unless a method of Radau is among the chosen, which then needs all differentiated variables.
fn tableau(work: &mut Work, chosen: &[Chosen]) -> Option<Radau> {
    let mut of_radau = chosen.iter().filter(|one| radau(one.method).is_some());
    let Some(first) = of_radau.next().copied() else {
        return Some(Radau {
            a: vec![vec![1.0]],
            c: vec![1.0],
        });
    };
    if let Some(other) = of_radau.find(|one| one.method != first.method).copied() {
        let text = format!(
            "`{}` and `{}` are inlined by different methods of Radau, whose stages are not at the same times",
            work.name(first.var),
            work.name(other.var)
        );
        let span = work.span(other.var);
        work.error(Diagnostic::error("inline-not-possible", span, text));
        return None;
    }
    let left = (work.flat.variables.ids())
        .find(|v| work.der.contains_key(v) && !chosen.iter().any(|one| one.var == *v));
    if let Some(left) = left {
        let text = format!(
            "`{}` is not inlined: the stages of {} inside the step need it there",
            work.name(left),
            first.method.as_str()
        );
        let span = work.span(left);
        work.error(
            Diagnostic::error("inline-not-possible", span, text)
                .help("inline it as well, by any method, or use backward-euler or trapezoidal"),
        );
        return None;
    }
    if !work.delays.is_empty() {
        let text = format!(
            "a model with `delay` cannot be inlined by {}",
            first.method.as_str()
        );
        let span = work.flat.span;
        work.error(
            Diagnostic::error("inline-not-possible", span, text)
                .help("use backward-euler or trapezoidal"),
        );
        return None;
    }
    radau(first.method)
}

/// A quantity that the simulator writes.
fn new_known(work: &mut Work, name: &str) -> VarId {
    let span = work.flat.span;
    work.new_var(name, Base::Real, Class::Flag, span)
}

fn add_equation(work: &mut Work, lhs: ExprId, rhs: ExprId, origin: Origin) {
    work.equations.push(Eq {
        lhs,
        rhs,
        initial: None,
        late: None,
        kind: Kind::Continuous,
        origin,
    });
}

fn is_continuous(eq: &Eq) -> bool {
    match eq.kind {
        Kind::Continuous => true,
        Kind::Assign { discrete, .. } => !discrete,
        Kind::Discrete | Kind::Clocked { .. } => false,
    }
}

/// Gives the continuous equations and crossing functions a time of their own, `time + ahead`.
fn move_time(work: &mut Work, ahead: VarId, origin: Origin) -> ExprId {
    let moved = work.new_var("$time", Base::Real, Class::Continuous, origin.span);
    let (moved, time, ahead) = (work.var(moved), work.flat.ir.time(), work.var(ahead));
    let mut memo = FxHashMap::default();
    memo.insert(time, moved);
    let mut at_moved =
        |work: &mut Work, e: ExprId| substitute(&mut work.flat.ir, e, &mut |_, _| None, &mut memo);
    let mut equations = std::mem::take(&mut work.equations);
    for eq in equations.iter_mut().filter(|eq| is_continuous(eq)) {
        eq.lhs = at_moved(work, eq.lhs);
        eq.rhs = at_moved(work, eq.rhs);
        for pair in [&mut eq.initial, &mut eq.late] {
            *pair = pair.map(|(lhs, rhs)| (at_moved(work, lhs), at_moved(work, rhs)));
        }
    }
    work.equations = equations;
    let mut crossings = std::mem::take(&mut work.crossings);
    for crossing in &mut crossings {
        crossing.function = at_moved(work, crossing.function);
    }
    work.crossings = crossings;
    let value = work.flat.ir.add_(time, ahead);
    add_equation(work, moved, value, origin);
    moved
}

/// The continuous equations once more for each stage before the last; for each of them what its variables are there.
fn stages(
    work: &mut Work,
    c: &[f64],
    shared: [ExprId; 2],
    origin: Origin,
) -> Vec<FxHashMap<VarId, VarId>> {
    let [now, h] = shared;
    let variables: Vec<VarId> = (work.flat.variables.ids())
        .filter(|&v| work.class(v) == Class::Continuous)
        .filter(|&v| {
            !shared
                .iter()
                .any(|&s| *work.flat.ir.expr(s) == Expr::Var(v))
        })
        .collect();
    let equations: Vec<Eq> = (work.equations.iter())
        .filter(|eq| is_continuous(eq) && !shared.contains(&eq.lhs))
        .cloned()
        .collect();
    let mut maps = Vec::new();
    for (k, &c) in c[..c.len() - 1].iter().enumerate() {
        let mut map = FxHashMap::default();
        for &v in &variables {
            let name = format!("$stage{}({})", k + 1, work.name(v));
            let span = work.span(v);
            let copy = work.new_var(&name, Base::Real, Class::Continuous, span);
            let source = work.flat.variables[v].clone();
            let variable = &mut work.flat.variables[copy];
            variable.start = source.start;
            variable.start_confidence = source.start_confidence;
            variable.nominal = source.nominal;
            map.insert(v, copy);
        }
        let name = format!("$time{}", k + 1);
        let time = work.new_var(&name, Base::Real, Class::Continuous, origin.span);
        let time = work.var(time);
        let rest = work.flat.ir.real(1.0 - c);
        let back = work.flat.ir.mul(rest, h);
        let there = work.flat.ir.sub(now, back);
        add_equation(work, time, there, origin);
        let mut memo = FxHashMap::default();
        memo.insert(now, time);
        let mut at_stage = |work: &mut Work, e: ExprId| {
            let mut of_var = |ir: &mut saltus_ir::Ir, v: VarId| {
                map.get(&v).map(|&copy| ir.var(copy, Base::Real))
            };
            substitute(&mut work.flat.ir, e, &mut of_var, &mut memo)
        };
        for eq in &equations {
            let mut both = |work: &mut Work, pair: (ExprId, ExprId)| {
                (at_stage(work, pair.0), at_stage(work, pair.1))
            };
            let (lhs, rhs) = both(work, (eq.lhs, eq.rhs));
            let initial = eq.initial.map(|pair| both(work, pair));
            let late = eq.late.map(|pair| both(work, pair));
            let kind = match eq.kind {
                Kind::Assign { var, discrete } => Kind::Assign {
                    var: map.get(&var).copied().unwrap_or(var),
                    discrete,
                },
                ref other => other.clone(),
            };
            work.equations.push(Eq {
                lhs,
                rhs,
                initial,
                late,
                kind,
                origin: eq.origin,
            });
        }
        maps.push(map);
    }
    maps
}

/// The formula of one variable, at all stages.
fn add_formula(
    work: &mut Work,
    Chosen { var, der, method }: Chosen,
    tableau: &Radau,
    h: ExprId,
    maps: &[FxHashMap<VarId, VarId>],
) -> InlinedState {
    let (name, span) = (work.name(var), work.span(var));
    let origin = Origin {
        span,
        component: Name::new(""),
    };
    let value_old = work.new_var(&format!("$old({name})"), Base::Real, Class::Held, span);
    let source = work.flat.variables[var].clone();
    let old = &mut work.flat.variables[value_old];
    old.start = source.start;
    old.start_confidence = source.start_confidence;
    old.fixed = source.fixed;
    old.nominal = source.nominal;
    work.flat.variables[var].fixed = None;
    let mut memory = None;
    if method == InlineMethod::Trapezoidal {
        let derivative = new_known(work, &format!("$old(der({name}))"));
        let weight = new_known(work, &format!("$weight({name})"));
        memory = Some((derivative, weight));
    }
    let x_old = work.var(value_old);
    let at = |work: &mut Work, stage: usize, v: VarId| {
        let there = maps.get(stage).and_then(|map| map.get(&v).copied());
        work.var(there.unwrap_or(v))
    };
    for (i, row) in tableau.a.iter().enumerate() {
        let slope = match (radau(method), memory) {
            (Some(_), _) => {
                let mut sum = work.flat.ir.real(0.0);
                for (j, &a) in row.iter().enumerate() {
                    let dx = at(work, j, der);
                    let a = work.flat.ir.real(a);
                    let term = work.flat.ir.mul(a, dx);
                    sum = work.flat.ir.add_(sum, term);
                }
                sum
            }
            (None, memory) => {
                let dx = at(work, i, der);
                let mean = match memory {
                    None => dx,
                    Some((derivative, weight)) => {
                        let (before, w) = (work.var(derivative), work.var(weight));
                        let ir = &mut work.flat.ir;
                        let one = ir.real(1.0);
                        let rest = ir.sub(one, w);
                        let new = ir.mul(w, dx);
                        let old = ir.mul(rest, before);
                        ir.add_(new, old)
                    }
                };
                let c = work.flat.ir.real(tableau.c[i]);
                work.flat.ir.mul(c, mean)
            }
        };
        let x = at(work, i, var);
        let change = work.flat.ir.mul(h, slope);
        let end = work.flat.ir.add_(x_old, change);
        debug_assert!(!contains(&work.flat.ir, end, Builtin::Der));
        add_equation(work, x, end, origin);
    }
    InlinedState {
        value: var,
        derivative: der,
        value_old,
        memory,
        method,
    }
}
