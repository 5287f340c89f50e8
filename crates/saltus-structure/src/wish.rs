//! Variables that are preferred as states though their derivative is not in the equations (specification 4.9.7.1: "also variables which do
//! not appear differentiated" may be chosen).
//!
//! A wish is granted if, with the variable's derivative as an unknown, the equations that Pantelides' algorithm then asks for have
//! derivatives, and the derivative does not become a dummy: then it takes the place of another state. All wishes are tried
//! together; those of a component that cannot be differentiated are given up, and the rest is tried again.
//!
//! What is differentiated in the model stays continuous at events: der(m) = q keeps the mass. A variable that is tied to it through others that
//! may jump there, level = m/(A d(T)) with a temperature that follows a switch, must not take its place, or the mass would jump
//! instead of the level. So a wish is not granted either if the equations between contain discrete variables or steps of time. Relations
//! between continuous quantities, and what follows from them alone, are taken for the seams of continuous functions.

use crate::index::{Chains, DIFFERENTIATIONS_MAX, differentiate, extend_chains};
use crate::select::{components, select_dummies};
use crate::work::{Class, Kind, Work};
use rustc_hash::FxHashSet;
use saltus_graph::pantelides;
use saltus_ir::VarId;
use saltus_ir::flat::StateSelect;

/// Rounds in which wishes are given up; then all are.
const ROUNDS_MAX: u32 = 8;

/// The chains of which one more derivative is to be an unknown.
pub(crate) fn granted_wishes(
    work: &mut Work,
    chains: &mut Chains,
    equations: &[usize],
    rows: &[Vec<(u32, u32)>],
    orders: &[u32],
) -> Vec<u32> {
    let wished = |chain: &u32| {
        let last = chains.vars[*chain as usize].last();
        last.is_some_and(|&v| work.flat.variables[v].state_select >= StateSelect::Prefer)
    };
    let mut wishes: Vec<u32> = (0..orders.len() as u32).filter(wished).collect();
    if wishes.is_empty() {
        return wishes;
    }
    // A derivative that is there anyway needs no wish, and without derivatives there is nothing to take the place of.
    let Ok(without) = pantelides(rows, orders) else {
        return Vec::new();
    };
    wishes.retain(|&chain| without.variable[chain as usize] == orders[chain as usize]);
    if without.variable.iter().all(|&order| order == 0) {
        return Vec::new();
    }
    for _ in 0..ROUNDS_MAX {
        if wishes.is_empty() {
            break;
        }
        let refused = refused(
            work,
            chains,
            equations,
            rows,
            orders,
            &wishes,
            &without.equation,
        );
        if refused.is_empty() {
            return wishes;
        }
        wishes.retain(|chain| !refused.contains(chain));
    }
    Vec::new()
}

/// Which of the wishes cannot be granted; leaves `work` and `chains` as they were. `needed`: how often each equation is differentiated
/// without them.
fn refused(
    work: &mut Work,
    chains: &mut Chains,
    equations: &[usize],
    rows: &[Vec<(u32, u32)>],
    orders: &[u32],
    wishes: &[u32],
    needed: &[u32],
) -> FxHashSet<u32> {
    let all = || wishes.iter().copied().collect();
    let mut orders = orders.to_vec();
    wishes.iter().for_each(|&chain| orders[chain as usize] += 1);
    let Ok(offsets) = pantelides(rows, &orders) else {
        return all();
    };
    let (c, d) = (&offsets.equation, &offsets.variable);
    if c.iter().any(|&times| times > DIFFERENTIATIONS_MAX) {
        return all();
    }
    let lengths: Vec<usize> = chains.vars.iter().map(Vec::len).collect();
    let before = work.checkpoint();
    extend_chains(work, chains, d);
    let wished: FxHashSet<u32> = all();
    let seams = seams(work);
    let mut refused: FxHashSet<u32> = FxHashSet::default();
    for component in components(rows, c, d) {
        let concerned: FxHashSet<u32> = component
            .iter()
            .flat_map(|&row| rows[row].iter().map(|entry| entry.0))
            .filter(|chain| wished.contains(chain))
            .collect();
        let jumps = !concerned.is_empty()
            && component
                .iter()
                .any(|&row| c[row] > needed[row] && may_jump(work, &seams, equations[row]));
        let mut differentiable = || {
            component.iter().all(|&row| {
                differentiate(work, equations[row], c[row]);
                work.errors.is_empty()
            })
        };
        if !concerned.is_empty() && (jumps || !differentiable()) {
            refused.extend(concerned);
            work.errors.clear();
        }
    }
    if refused.is_empty() {
        let selection = select_dummies(work, chains, equations, rows, c, d);
        let is_dummy = |chain: &u32| {
            let chain = *chain as usize;
            (selection.dummies).contains(&chains.vars[chain][lengths[chain]])
        };
        refused = wishes.iter().copied().filter(is_dummy).collect();
    }
    for (vars, &n) in chains.vars.iter_mut().zip(&lengths) {
        for var in vars.drain(n..) {
            chains.place.remove(&var);
        }
    }
    work.restore(before);
    refused
}

/// Relations between continuous quantities, and what equations make of them alone, without memory: the phase of a fluid.
fn seams(work: &mut Work) -> FxHashSet<VarId> {
    let mut seams: FxHashSet<VarId> = work.crossings.iter().map(|c| c.relation).collect();
    let mut open: Vec<Vec<VarId>> = Vec::new();
    for k in 0..work.equations.len() {
        let eq = &work.equations[k];
        if eq.kind == Kind::Continuous {
            continue;
        }
        let sides = [eq.lhs, eq.rhs];
        let time = work.flat.ir.time();
        let of_time = work.flat.ir.reachable(&sides).contains(&time);
        let mut variables = work.incidence(&sides);
        let told = |&v: &VarId| matches!(work.class(v), Class::Flag | Class::Held | Class::Input);
        if of_time || variables.iter().any(told) || !work.pre_incidence(&sides).is_empty() {
            continue;
        }
        variables.retain(|&v| work.class(v) == Class::Discrete);
        open.push(variables);
    }
    // An equation with one more unknown determines it; each round finds one at least or is the last.
    for _ in 0..=open.len() {
        let found = seams.len();
        open.retain_mut(|variables| {
            variables.retain(|v| !seams.contains(v));
            match variables.as_slice() {
                [v] => {
                    seams.insert(*v);
                    false
                }
                rest => !rest.is_empty(),
            }
        });
        if seams.len() == found {
            break;
        }
    }
    seams
}

/// Whether an equation contains something that changes at events and is no seam.
fn may_jump(work: &mut Work, seams: &FxHashSet<VarId>, equation: usize) -> bool {
    let (lhs, rhs) = (work.equations[equation].lhs, work.equations[equation].rhs);
    let variables = work.incidence(&[lhs, rhs]);
    (variables.into_iter()).any(|v| work.class(v) == Class::Discrete && !seams.contains(&v))
}
