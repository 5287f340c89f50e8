//! Index reduction in discretized partitions (specification 16.8.2: a clocked partition with `der` is solved by a method from tick to tick).
//!
//! The equations of such a partition are those of a continuous system; where they tie its states together (an inverse model), the steps of the method cannot
//! all hold. Comes in: partitions with one step, x = pre(x) + h·…, for each variable that is differentiated. Goes out: where these equations are structurally singular,
//! differentiated equations are added, the steps of the variables that are states stay, and the others go. The method is that of
//! the continuous part (`index`), on the equations of the partition alone. A value that comes from outside has no derivative there: it is known at ticks only.
//!
//! An implicit method leaves the steps solvable together with the constraints; nothing is changed then.

use crate::balance::solvable_unknowns;
use crate::index::{Reduced, chains, reduce_index};
use crate::text::equation_text;
use crate::work::{Class, ClockedStep, Eq, Kind, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::maximum_matching;
use saltus_ir::{Base, ExprId, VarId};
use saltus_syntax::Diagnostic;

/// Reduces the index of discretized partitions that need it. Errors are in `work.errors`.
pub(crate) fn reduce_partitions(work: &mut Work) {
    let steps = std::mem::take(&mut work.clocked_steps);
    let mut partitions: Vec<u32> = steps.iter().map(|step| step.partition).collect();
    partitions.dedup();
    let mut dropped: FxHashSet<usize> = FxHashSet::default();
    for partition in partitions {
        let own: Vec<ClockedStep> = (steps.iter().copied())
            .filter(|step| step.partition == partition)
            .collect();
        if is_singular(work, partition) {
            dropped.extend(reduce_partition(work, partition, &own));
        }
    }
    let mut k = 0;
    work.equations.retain(|_| {
        k += 1;
        !dropped.contains(&(k - 1))
    });
}

fn is_of(eq: &Eq, partition: u32) -> bool {
    matches!(eq.kind, Kind::Clocked { partition: of, .. } if of == partition)
}

/// Whether its equations leave an unknown open.
fn is_singular(work: &mut Work, partition: u32) -> bool {
    let equations: Vec<Eq> = (work.equations.iter())
        .filter(|eq| is_of(eq, partition))
        .cloned()
        .collect();
    let mut column: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut rows: Vec<Vec<u32>> = Vec::with_capacity(equations.len());
    for eq in &equations {
        let numbers = solvable_unknowns(work, eq).into_iter().map(|v| {
            let next = column.len() as u32;
            *column.entry(v).or_insert(next)
        });
        rows.push(numbers.collect());
    }
    !maximum_matching(&rows, column.len()).covers_rows()
}

/// Returns the steps that go.
fn reduce_partition(work: &mut Work, partition: u32, steps: &[ClockedStep]) -> Vec<usize> {
    let before = work.clone();
    let is_step: FxHashSet<usize> = steps.iter().map(|step| step.equation).collect();
    let kept: Vec<usize> = (0..work.equations.len())
        .filter(|k| is_of(&work.equations[*k], partition) && !is_step.contains(k))
        .filter(|&k| work.flat.ir.base(work.equations[k].lhs) == Base::Real)
        .collect();
    let Some(reduced) = as_continuous(work, partition, steps, &kept) else {
        // Singular for other reasons is told in the terms of the whole model.
        let errors = std::mem::take(&mut work.errors);
        let of_model = |error: &Diagnostic| error.code == "structurally-singular";
        *work = before;
        (work.errors).extend(errors.into_iter().filter(|error| !of_model(error)));
        return Vec::new();
    };
    let added = work.equations.split_off(kept.len());
    let derivatives = std::mem::replace(&mut work.der, before.der);
    let n_before = before.flat.variables.len();
    work.equations = before.equations;
    (work.class[..n_before]).copy_from_slice(&before.class);
    refuse_memory(work, &reduced, &kept);
    let origin = work.equations[steps[0].equation].origin;
    let kind = work.equations[steps[0].equation].kind.clone();
    for i in n_before..work.flat.variables.len() {
        let var = VarId(i as u32);
        work.class[i] = Class::Discrete;
        work.partition.insert(var, partition);
        work.clocked_vars.push((var, origin));
    }
    work.equations.extend(added.into_iter().map(|eq| Eq {
        initial: None,
        late: None,
        kind: kind.clone(),
        ..eq
    }));
    let mut gone = is_step;
    for (state, derivative, _) in reduced.states {
        match steps.iter().find(|step| step.state == state) {
            Some(step) => {
                gone.remove(&step.equation);
            }
            None => add_step(work, steps, &derivatives, state, derivative),
        }
    }
    gone.into_iter().collect()
}

/// The equations of a partition, without its steps, with their index reduced as if they were all of the model. What other equations determine is an input.
fn as_continuous(
    work: &mut Work,
    partition: u32,
    steps: &[ClockedStep],
    kept: &[usize],
) -> Option<Reduced> {
    let n_sets = work.state_sets.len();
    work.equations = kept
        .iter()
        .map(|&k| Eq {
            kind: Kind::Continuous,
            ..work.equations[k].clone()
        })
        .collect();
    work.der = (steps.iter())
        .map(|step| (step.state, step.derivative))
        .collect();
    let mut unknowns = Vec::new();
    for i in 0..work.flat.variables.len() {
        let var = VarId(i as u32);
        if work.flat.variables[var].base != Base::Real || !work.class[i].is_unknown() {
            continue;
        }
        work.class[i] = match work.partition.get(&var) == Some(&partition) {
            true => Class::Continuous,
            false => Class::Input,
        };
        if work.class[i] == Class::Continuous {
            unknowns.push(var);
        }
    }
    let of_unknowns = chains(work, &unknowns);
    let reduced = reduce_index(work, of_unknowns)?;
    if work.state_sets.len() > n_sets {
        let span = work.equations[0].origin.span;
        work.error(
            Diagnostic::error(
                "unsupported-feature",
                span,
                "the states of a discretized partition would have to be chosen anew during the run",
            )
            .help("give stateSelect = StateSelect.always to those that are to be states"),
        );
        return None;
    }
    Some(reduced)
}

/// An equation with `previous` is one between ticks and has no derivative.
fn refuse_memory(work: &mut Work, reduced: &Reduced, kept: &[usize]) {
    for &row in &reduced.differentiated {
        let (lhs, rhs) = {
            let eq = &work.equations[kept[row]];
            (eq.lhs, eq.rhs)
        };
        let memory = work.pre_incidence(&[lhs, rhs]);
        let Some(&var) = memory
            .iter()
            .find(|v| work.flat.variables[**v].base == Base::Real)
        else {
            continue;
        };
        let text = equation_text(work, lhs, rhs);
        let (span, name) = (work.equations[kept[row]].origin.span, work.name(var));
        work.error(
            Diagnostic::error(
                "not-differentiable",
                span,
                format!("index reduction needs the derivative of `{text}`"),
            )
            .note(format!("`previous({name})` has no derivative"))
            .help("this equation of a discretized partition ties its states together; take the tie away"),
        );
    }
}

/// The step of a state that is itself a derivative: that of the variable it is a derivative of, with other variables.
fn add_step(
    work: &mut Work,
    steps: &[ClockedStep],
    derivatives: &FxHashMap<VarId, VarId>,
    state: VarId,
    derivative: VarId,
) {
    let leads_to = |step: &&ClockedStep| {
        std::iter::successors(Some(step.state), |v| derivatives.get(v).copied()).any(|v| v == state)
    };
    let Some(step) = steps.iter().find(leads_to) else {
        unreachable!(
            "only variables with a step are differentiated in the equations of a partition"
        );
    };
    let eq = work.equations[step.equation].clone();
    let (own, own_rate) = (work.var(state), work.var(derivative));
    let mut of = |e: ExprId| {
        work.flat.ir.substitute(e, &mut |v| match v {
            v if v == step.state => Some(own),
            v if v == step.derivative => Some(own_rate),
            _ => None,
        })
    };
    let (lhs, rhs) = (of(eq.lhs), of(eq.rhs));
    work.equations.push(Eq { lhs, rhs, ..eq });
}
