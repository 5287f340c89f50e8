//! Which steps of the event system are needed for derivatives, for crossing functions, and for the rest.

use crate::block::degree;
use crate::system::{Action, Crossing, CrossingClass, Step, TimeEvent};
use crate::work::{Class, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::{Expr, ExprId, Id, VarId};

#[derive(Default)]
pub(crate) struct Schedules {
    pub(crate) derivatives: Vec<usize>,
    pub(crate) crossing_steps: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) feeds_derivatives: Vec<bool>,
}

/// Expressions of a step.
fn expressions(step: &Step) -> Vec<ExprId> {
    match step {
        Step::Assign { assignment, .. } => vec![assignment.value],
        Step::Block(block) => block
            .inner
            .iter()
            .map(|a| a.value)
            .chain(block.residuals.iter().map(|r| r.0))
            .chain(block.discrete.iter().map(|a| a.value))
            .collect(),
        Step::Action { guard, action, .. } => {
            let mut all: Vec<ExprId> = guard.iter().copied().collect();
            match action {
                Action::Reinit { value, .. } => all.push(*value),
                Action::Assert {
                    condition, message, ..
                } => all.extend([*condition, *message]),
                Action::Terminate { message } => all.push(*message),
                Action::Call { call } => all.push(*call),
            }
            all
        }
    }
}

/// Variables that a step determines continuously; empty for discrete steps.
pub(crate) fn determines(work: &Work, step: &Step) -> Vec<VarId> {
    match step {
        Step::Assign { discrete: true, .. } | Step::Action { .. } => Vec::new(),
        Step::Assign { assignment, .. } => vec![assignment.var],
        Step::Block(block) => {
            let vars: Vec<VarId> = block
                .unknowns
                .iter()
                .copied()
                .chain(block.inner.iter().map(|a| a.var))
                .collect();
            let continuous = vars
                .iter()
                .any(|&v| matches!(work.class(v), Class::Continuous | Class::Delayed));
            if continuous { vars } else { Vec::new() }
        }
    }
}

/// How the steps of the event system hang together.
struct Flow {
    /// The step that determines each variable continuously.
    step_of: Vec<usize>,
    continuous: Vec<bool>,
    reads: Vec<Vec<VarId>>,
    in_derivatives: Vec<bool>,
}

fn flow(work: &mut Work, event: &[Step], states: &[(VarId, VarId)]) -> Flow {
    let mut step_of = vec![usize::MAX; work.flat.variables.len()];
    let mut continuous = vec![false; event.len()];
    for (k, step) in event.iter().enumerate() {
        for v in determines(work, step) {
            step_of[v.index()] = k;
            continuous[k] = true;
        }
    }
    let reads: Vec<Vec<VarId>> = event
        .iter()
        .map(|step| work.incidence(&expressions(step)))
        .collect();
    let mut in_derivatives = vec![false; event.len()];
    let seeds: Vec<VarId> = states.iter().map(|s| s.1).collect();
    reach(&seeds, &step_of, &reads, &mut in_derivatives);
    Flow {
        step_of,
        continuous,
        reads,
        in_derivatives,
    }
}

/// The steps that the derivatives need.
pub(crate) fn derivative_steps(
    work: &mut Work,
    event: &[Step],
    states: &[(VarId, VarId)],
) -> Vec<bool> {
    flow(work, event, states).in_derivatives
}

/// Marks the relations that only continuous equations read, the derivatives among them: no discrete variable, condition, `pre` or delay.
pub(crate) fn mark_sliding(
    work: &mut Work,
    event: &[Step],
    feeds_derivatives: &[bool],
    representative: impl Fn(VarId) -> VarId,
    crossings: &mut [Crossing],
) {
    // The steps share much of what they read, so it is gone through once for all of them.
    let mut all: Vec<ExprId> = Vec::new();
    let mut read_by_discrete: Vec<ExprId> = Vec::new();
    let mut discrete: FxHashSet<VarId> = FxHashSet::default();
    for step in event {
        let own = expressions(step);
        match step {
            Step::Assign {
                discrete: false, ..
            } => {}
            Step::Assign { .. } | Step::Action { .. } => read_by_discrete.extend(&own),
            Step::Block(block) => {
                read_by_discrete.extend(block.discrete.iter().map(|a| a.value));
                discrete.extend(block.discrete.iter().map(|a| a.var));
            }
        }
        all.extend(own);
    }
    discrete.extend(work.pre_incidence(&all));
    for event in &work.time_events {
        if let TimeEvent::Threshold { at, .. } = event {
            read_by_discrete.push(*at);
        }
    }
    for delay in &work.delays {
        read_by_discrete.extend([delay.expr, delay.delay_time, delay.delay_max]);
    }
    discrete.extend(work.incidence(&read_by_discrete));
    for crossing in crossings {
        let relation = representative(crossing.relation);
        crossing.slides = feeds_derivatives[relation.index()]
            && !discrete.contains(&relation)
            && !discrete.contains(&crossing.relation);
    }
}

pub(crate) fn schedules(
    work: &mut Work,
    event: &[Step],
    states: &[(VarId, VarId)],
    crossings: &[Crossing],
) -> Schedules {
    let n_vars = work.flat.variables.len();
    let Flow {
        step_of,
        continuous,
        reads,
        in_derivatives,
    } = flow(work, event, states);
    let mut in_crossings = in_derivatives.clone();
    let functions: Vec<ExprId> = crossings.iter().map(|c| c.function).collect();
    let seeds = work.incidence(&functions);
    reach(&seeds, &step_of, &reads, &mut in_crossings);
    let mut schedules = Schedules {
        feeds_derivatives: vec![false; n_vars],
        ..Schedules::default()
    };
    for k in 0..event.len() {
        if in_derivatives[k] {
            schedules.derivatives.push(k);
            reads[k]
                .iter()
                .for_each(|v| schedules.feeds_derivatives[v.index()] = true);
            // When the event is over, the left limit of a discrete variable is its value: where that changed, so did this.
            for v in work.pre_incidence(&expressions(&event[k])) {
                schedules.feeds_derivatives[v.index()] = true;
            }
        } else if in_crossings[k] {
            schedules.crossing_steps.push(k);
        } else if continuous[k] || is_plain_assert(&event[k]) {
            schedules.outputs.push(k);
        }
    }
    for &(_, der) in states {
        schedules.feeds_derivatives[der.index()] = true;
    }
    schedules
}

fn is_plain_assert(step: &Step) -> bool {
    matches!(
        step,
        Step::Action {
            guard: None,
            action: Action::Assert { .. },
            ..
        }
    )
}

/// Marks the continuous steps that `seeds` depend on.
fn reach(seeds: &[VarId], step_of: &[usize], reads: &[Vec<VarId>], marked: &mut [bool]) {
    let mut stack: Vec<usize> = Vec::new();
    let visit = |v: &VarId, stack: &mut Vec<usize>, marked: &mut [bool]| {
        let k = step_of[v.index()];
        if k != usize::MAX && !std::mem::replace(&mut marked[k], true) {
            stack.push(k);
        }
    };
    seeds.iter().for_each(|v| visit(v, &mut stack, marked));
    while let Some(k) = stack.pop() {
        reads[k].iter().for_each(|v| visit(v, &mut stack, marked));
    }
}

/// Crossing functions that can change between events, with their class.
pub(crate) fn classify_crossings(
    work: &mut Work,
    crossings: Vec<Crossing>,
    states: &FxHashSet<VarId>,
) -> Vec<Crossing> {
    let degrees: FxHashMap<VarId, u8> = states.iter().map(|&v| (v, 1)).collect();
    let mut result = Vec::with_capacity(crossings.len());
    for mut crossing in crossings {
        let vars = work.incidence(&[crossing.function]);
        let changing: Vec<VarId> = vars
            .iter()
            .copied()
            .filter(|&v| {
                matches!(
                    work.class(v),
                    Class::Continuous | Class::Delayed | Class::Input
                )
            })
            .collect();
        let ir = &work.flat.ir;
        let timed = ir
            .reachable(&[crossing.function])
            .into_iter()
            .any(|id| matches!(ir.expr(id), Expr::Time));
        if changing.is_empty() && !timed {
            continue;
        }
        let affine = changing.iter().all(|v| states.contains(v))
            && degree(ir, crossing.function, &degrees, 1) <= 1;
        crossing.class = if affine {
            CrossingClass::Affine
        } else {
            CrossingClass::General
        };
        result.push(crossing);
    }
    result
}
