//! From the lists of the flat model to equations in event and initial form: algorithms become equations, events are
//! extracted, when-clauses and clocked partitions become discrete equations.

use crate::clocked::{add_partition, declare_clocked_variables};
use crate::events::{Context, Extractor};
use crate::rewrite::Forms;
use crate::system::Action;
use crate::whens::{declare_when_variables, finish_when, prepare_when};
use crate::work::{Class, Eq, GuardedAction, Kind, Work};
use saltus_ir::flat::{Algorithm, Assert, Origin, WhenAction};
use saltus_ir::scalar::{AlgorithmEquations, Section, algorithm_to_equations};
use saltus_ir::{Base, Expr, ExprId, VarId};
use saltus_syntax::Diagnostic;

/// Fills `work.equations`, `initial_equations`, `actions`, `crossings`, `time_events`, `delays`. The lists of the flat model are empty after.
pub(crate) fn collect(work: &mut Work) {
    let equations = std::mem::take(&mut work.flat.equations);
    let initial_equations = std::mem::take(&mut work.flat.initial_equations);
    let whens = std::mem::take(&mut work.flat.whens);
    let algorithms = std::mem::take(&mut work.flat.algorithms);
    let initial_algorithms = std::mem::take(&mut work.flat.initial_algorithms);
    let asserts = std::mem::take(&mut work.flat.asserts);
    let partitions = std::mem::take(&mut work.flat.partitions);

    let algorithms = read_algorithms(work, &algorithms, Section::Normal);
    let initial_algorithms = read_algorithms(work, &initial_algorithms, Section::Initial);
    declare_when_variables(work, &whens);
    declare_clocked_variables(work, &partitions);
    for (algorithm, _) in &algorithms {
        declare_algorithm_variables(work, algorithm);
    }

    let mut forms = Forms::default();
    let mut extractor = Extractor::new(work);
    for equation in &equations {
        let lhs = extractor.extract(equation.lhs, Context::Events, equation.origin);
        let rhs = extractor.extract(equation.rhs, Context::Events, equation.origin);
        let called = (
            extractor.extract_as_is(equation.lhs, Context::Events, equation.origin),
            extractor.extract_as_is(equation.rhs, Context::Events, equation.origin),
        );
        let ir = &extractor.work.flat.ir;
        // `u = sign(x)` with a Real `u` is an equation between Real quantities.
        let followed = if ir.base(lhs) == Base::Real || ir.base(rhs) == Base::Real {
            (lhs, rhs)
        } else {
            (
                extractor.follow(lhs, equation.origin),
                extractor.follow(rhs, equation.origin),
            )
        };
        let is_followed = followed != (lhs, rhs);
        let (lhs, rhs) = followed;
        push_equation(extractor.work, lhs, rhs, equation.origin);
        if !is_followed
            && called != (lhs, rhs)
            && let Some(eq) = extractor.work.equations.last_mut()
        {
            eq.late = Some(called);
        }
    }
    for (algorithm, origin) in &algorithms {
        for &(var, value) in &algorithm.equations {
            let value = extractor.extract(value, Context::Algorithm, *origin);
            let is_real = extractor.work.flat.variables[var].base == Base::Real;
            let value = if is_real {
                value
            } else {
                extractor.follow(value, *origin)
            };
            let lhs = extractor.work.var(var);
            if extractor.work.class(var) == Class::Discrete {
                let kind = Kind::Assign {
                    var,
                    discrete: true,
                };
                extractor.work.equations.push(Eq {
                    lhs,
                    rhs: value,
                    initial: None,
                    late: None,
                    kind,
                    origin: *origin,
                });
            } else {
                push_equation(extractor.work, lhs, value, *origin);
            }
        }
    }
    let prepared: Vec<_> = whens
        .into_iter()
        .map(|when| prepare_when(&mut extractor, &mut forms, when))
        .collect();
    for (algorithm, _) in &algorithms {
        add_algorithm_actions(&mut extractor, algorithm);
    }
    let of_algorithms = |sections: &[(AlgorithmEquations, Origin)]| -> Vec<Assert> {
        (sections.iter())
            .flat_map(|(algorithm, _)| algorithm.asserts.clone())
            .collect()
    };
    add_asserts(&mut extractor, &asserts, Holds::Always);
    add_asserts(&mut extractor, &of_algorithms(&algorithms), Holds::Always);
    let at_start = of_algorithms(&initial_algorithms);
    add_asserts(&mut extractor, &at_start, Holds::AtStart);
    for (k, partition) in partitions.iter().enumerate() {
        add_partition(&mut extractor, &mut forms, k, partition);
    }
    for when in prepared {
        finish_when(&mut extractor, when);
    }
    for equation in &initial_equations {
        let lhs = extractor.extract(equation.lhs, Context::Initial, equation.origin);
        let rhs = extractor.extract(equation.rhs, Context::Initial, equation.origin);
        let kind = kind_of(extractor.work, lhs, rhs);
        extractor.work.initial_equations.push(Eq {
            lhs,
            rhs,
            initial: None,
            late: None,
            kind,
            origin: equation.origin,
        });
    }
    for (algorithm, origin) in &initial_algorithms {
        for &(var, value) in &algorithm.equations {
            let rhs = extractor.extract(value, Context::Initial, *origin);
            let lhs = extractor.work.var(var);
            let kind = kind_of(extractor.work, lhs, rhs);
            extractor.work.initial_equations.push(Eq {
                lhs,
                rhs,
                initial: None,
                late: None,
                kind,
                origin: *origin,
            });
        }
    }
    split_forms(work, &mut forms);
}

fn read_algorithms(
    work: &mut Work,
    algorithms: &[Algorithm],
    section: Section,
) -> Vec<(AlgorithmEquations, Origin)> {
    let mut read = Vec::new();
    for algorithm in algorithms {
        let (ir, variables) = (&mut work.flat.ir, &work.flat.variables);
        match algorithm_to_equations(ir, variables, algorithm, section) {
            Ok(equations) => read.push((equations, algorithm.origin)),
            Err(why) => work.error(
                Diagnostic::error(
                    "algorithm-not-supported",
                    algorithm.origin.span,
                    "this algorithm section cannot be turned into equations",
                )
                .note(format!("{why}")),
            ),
        }
    }
    read
}

/// A Real that an algorithm sets in a when-statement starts from its `pre` value: it is discrete.
fn declare_algorithm_variables(work: &mut Work, algorithm: &AlgorithmEquations) {
    for &(var, value) in &algorithm.equations {
        if work.class(var) == Class::Continuous
            && work.pre_incidence(&[value]).binary_search(&var).is_ok()
        {
            work.class[var.0 as usize] = Class::Discrete;
        }
    }
    for action in &algorithm.actions {
        if let WhenAction::Reinit { var, .. } = action.action {
            work.reinit_vars.push(var);
        }
    }
}

fn add_algorithm_actions(extractor: &mut Extractor<'_>, algorithm: &AlgorithmEquations) {
    for guarded in &algorithm.actions {
        let (action, origin) = match &guarded.action {
            WhenAction::Assign { .. } => unreachable!("assignments of algorithms are equations"),
            WhenAction::Reinit { var, value, origin } => (
                Action::Reinit {
                    var: *var,
                    value: extractor.extract(*value, Context::When, *origin),
                },
                *origin,
            ),
            WhenAction::Assert(assert) => (
                Action::Assert {
                    condition: extractor.extract(assert.condition, Context::When, assert.origin),
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
            WhenAction::Call { call, origin, .. } => (
                Action::Call {
                    call: extractor.extract(*call, Context::When, *origin),
                },
                *origin,
            ),
        };
        let guard = extractor.extract(guarded.guard, Context::Algorithm, origin);
        extractor.work.actions.push(GuardedAction {
            event: guard,
            initial: guard,
            action,
            origin,
        });
    }
}

/// When an assertion must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Always,
    /// It stands in an initial section.
    AtStart,
}

fn add_asserts(extractor: &mut Extractor<'_>, asserts: &[Assert], holds: Holds) {
    let context = match holds {
        Holds::Always => Context::Quiet,
        Holds::AtStart => Context::Initial,
    };
    for assert in asserts {
        let condition = extractor.extract(assert.condition, context, assert.origin);
        let message = extractor.extract(assert.message, context, assert.origin);
        let ir = &mut extractor.work.flat.ir;
        let (event, initial) = (ir.boolean(holds == Holds::Always), ir.boolean(true));
        extractor.work.actions.push(GuardedAction {
            event,
            initial,
            action: Action::Assert {
                condition,
                message,
                level: assert.level,
            },
            origin: assert.origin,
        });
    }
}

fn push_equation(work: &mut Work, lhs: ExprId, rhs: ExprId, origin: Origin) {
    let kind = kind_of(work, lhs, rhs);
    work.equations.push(Eq {
        lhs,
        rhs,
        initial: None,
        late: None,
        kind,
        origin,
    });
}

fn kind_of(work: &mut Work, lhs: ExprId, rhs: ExprId) -> Kind {
    let real = work.flat.ir.base(lhs) == Base::Real || work.flat.ir.base(rhs) == Base::Real;
    if real
        && work
            .incidence(&[lhs, rhs])
            .iter()
            .any(|&v| work.class(v) == Class::Continuous)
    {
        Kind::Continuous
    } else {
        Kind::Discrete
    }
}

/// Writes out `initial()`, `homotopy`, `edge` and `change` in both forms.
fn split_forms(work: &mut Work, forms: &mut Forms) {
    let mut equations = std::mem::take(&mut work.equations);
    for eq in &mut equations {
        let (lhs, rhs) = eq.initial.unwrap_or((eq.lhs, eq.rhs));
        let initial = (forms.initial(work, lhs), forms.initial(work, rhs));
        eq.lhs = forms.event(work, eq.lhs);
        eq.rhs = forms.event(work, eq.rhs);
        eq.late = eq
            .late
            .map(|(lhs, rhs)| (forms.event(work, lhs), forms.event(work, rhs)));
        eq.initial = (initial != (eq.lhs, eq.rhs)).then_some(initial);
    }
    work.equations = equations;
    let mut equations = std::mem::take(&mut work.initial_equations);
    for eq in &mut equations {
        eq.lhs = forms.initial(work, eq.lhs);
        eq.rhs = forms.initial(work, eq.rhs);
    }
    work.initial_equations = equations;
    let mut actions = std::mem::take(&mut work.actions);
    for guarded in &mut actions {
        guarded.event = forms.event(work, guarded.event);
        guarded.initial = forms.initial(work, guarded.initial);
        map_action(&mut guarded.action, |e| forms.event(work, e));
    }
    work.actions = actions;
    let mut crossings = std::mem::take(&mut work.crossings);
    for crossing in &mut crossings {
        crossing.function = forms.event(work, crossing.function);
    }
    work.crossings = crossings;
    let mut delays = std::mem::take(&mut work.delays);
    for delay in &mut delays {
        delay.expr = forms.event(work, delay.expr);
        delay.delay_time = forms.event(work, delay.delay_time);
        delay.delay_max = forms.event(work, delay.delay_max);
    }
    work.delays = delays;
}

pub(crate) fn map_action(action: &mut Action, mut f: impl FnMut(ExprId) -> ExprId) {
    match action {
        Action::Reinit { value, .. } => *value = f(*value),
        Action::Assert {
            condition, message, ..
        } => {
            *condition = f(*condition);
            *message = f(*message);
        }
        Action::Terminate { message } => *message = f(*message),
        Action::Call { call } => *call = f(*call),
    }
}

/// Variables that a discrete equation may be solved for: alone on a side, or alone under `not`.
pub(crate) fn lone_variables(work: &mut Work, lhs: ExprId, rhs: ExprId) -> Vec<VarId> {
    let ir = &work.flat.ir;
    let mut vars = Vec::new();
    for side in [lhs, rhs] {
        match *ir.expr(side) {
            Expr::Var(v) => vars.push(v),
            Expr::Unary(_, inner) => {
                if let Expr::Var(v) = *ir.expr(inner) {
                    vars.push(v);
                }
            }
            _ => {}
        }
    }
    vars.dedup();
    // `x = f(x)` is no definition of x.
    vars.retain(|&v| {
        let own = |e: ExprId| match *work.flat.ir.expr(e) {
            Expr::Var(w) => w == v,
            Expr::Unary(_, inner) => *work.flat.ir.expr(inner) == Expr::Var(v),
            _ => false,
        };
        let other = if own(lhs) { rhs } else { lhs };
        !work.flat.ir.depends_on(other, v) || only_under_pre(work, other, v)
    });
    if vars.is_empty() && work.flat.ir.base(lhs) == Base::Integer {
        for v in work.incidence(&[lhs, rhs]) {
            if let Some(solution) = crate::sort::solve_linear(work, lhs, rhs, v)
                && work
                    .flat
                    .ir
                    .as_number(solution.divisor)
                    .is_some_and(|d| d.abs() == 1.0)
            {
                vars.push(v);
            }
        }
    }
    vars
}

fn only_under_pre(work: &mut Work, e: ExprId, var: VarId) -> bool {
    !work.incidence(&[e]).contains(&var)
}
