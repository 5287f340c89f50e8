//! The order in which partitions that tick together are evaluated.
//!
//! A partition comes after those whose values its sub-clock operators read. Where two partitions read from each other, both are
//! cut into pieces, by matching equations with variables and finding the strongly connected components.

use super::infer::Clocking;
use rustc_hash::FxHashMap;
use saltus_ir::flat::{Equation, FlatModel};
use saltus_ir::{Base, Builtin, Expr, ExprId, VarId};
use saltus_syntax::Diagnostic;

/// Equations of one partition that are evaluated together.
pub(super) struct Piece {
    pub partition: usize,
    /// Indices among the equations of the partition.
    pub equations: Vec<usize>,
    pub variables: Vec<VarId>,
}

pub(super) fn evaluation_order(
    flat: &FlatModel,
    clocking: &Clocking,
    equations: &[Vec<Equation>],
) -> Result<Vec<Piece>, Box<Diagnostic>> {
    let n = clocking.partitions.len();
    let mut waits: Vec<usize> = vec![0; n];
    for &(reader, _) in &clocking.dependencies {
        waits[reader] += 1;
    }
    let mut done = vec![false; n];
    let mut order = Vec::with_capacity(n);
    while let Some(next) = (0..n).find(|&p| !done[p] && waits[p] == 0) {
        done[next] = true;
        order.push(next);
        for &(reader, read) in &clocking.dependencies {
            if read == next {
                waits[reader] -= 1;
            }
        }
    }
    if order.len() < n {
        return pieces_by_equation(flat, clocking, equations);
    }
    Ok(order
        .into_iter()
        .filter(|&p| !equations[p].is_empty())
        .map(|p| Piece {
            partition: p,
            equations: (0..equations[p].len()).collect(),
            variables: variables_of(flat, clocking, p),
        })
        .collect())
}

fn variables_of(flat: &FlatModel, clocking: &Clocking, partition: usize) -> Vec<VarId> {
    let of = |var: VarId| {
        clocking
            .partition_of_variable
            .get(var.0 as usize)
            .copied()
            .flatten()
    };
    flat.variables
        .iter()
        .filter(|(var, variable)| variable.base != Base::Clock && of(*var) == Some(partition))
        .map(|(var, _)| var)
        .collect()
}

/// One equation of one partition.
struct Unit {
    partition: usize,
    index: usize,
    /// Variables of its own partition that it may be solved for.
    own: Vec<VarId>,
    /// All clocked variables whose value at this tick it reads.
    reads: Vec<VarId>,
}

fn pieces_by_equation(
    flat: &FlatModel,
    clocking: &Clocking,
    equations: &[Vec<Equation>],
) -> Result<Vec<Piece>, Box<Diagnostic>> {
    let mut units = Vec::new();
    for (partition, equations) in equations.iter().enumerate() {
        for (index, equation) in equations.iter().enumerate() {
            let reads = current_variables(flat, clocking, equation);
            let own = reads
                .iter()
                .copied()
                .filter(|var| clocking.partition_of_variable[var.0 as usize] == Some(partition))
                .collect();
            units.push(Unit {
                partition,
                index,
                own,
                reads,
            });
        }
    }
    let Some(solved_for) = matched(&units) else {
        let origin = clocking.partitions[units[0].partition].origin;
        return Err(Box::new(Diagnostic::error(
            "unbalanced-model",
            origin.span,
            "the clocked equations do not determine all clocked variables",
        )));
    };
    let defined_by: FxHashMap<VarId, usize> = solved_for
        .iter()
        .enumerate()
        .map(|(unit, &var)| (var, unit))
        .collect();
    let needs: Vec<Vec<usize>> = units
        .iter()
        .enumerate()
        .map(|(k, unit)| {
            unit.reads
                .iter()
                .filter_map(|var| defined_by.get(var).copied())
                .filter(|&j| j != k)
                .collect()
        })
        .collect();
    let mut pieces: Vec<Piece> = Vec::new();
    for component in components(&needs) {
        let partition = units[component[0]].partition;
        if let Some(&other) = component.iter().find(|&&k| units[k].partition != partition) {
            let equation = equations[units[other].partition][units[other].index];
            return Err(Box::new(
                Diagnostic::error(
                    "clock-loop",
                    equation.origin.span,
                    "clocked equations on different clocks depend on each other at the same tick",
                )
                .help("use `previous` to break the loop"),
            ));
        }
        let fresh = pieces
            .last()
            .is_none_or(|piece| piece.partition != partition);
        if fresh {
            pieces.push(Piece {
                partition,
                equations: Vec::new(),
                variables: Vec::new(),
            });
        }
        if let Some(piece) = pieces.last_mut() {
            piece
                .equations
                .extend(component.iter().map(|&k| units[k].index));
            piece
                .variables
                .extend(component.iter().map(|&k| solved_for[k]));
        }
    }
    Ok(pieces)
}

/// Clocked variables that occur in an equation other than in `previous`.
fn current_variables(flat: &FlatModel, clocking: &Clocking, equation: &Equation) -> Vec<VarId> {
    let mut stack: Vec<ExprId> = vec![equation.rhs, equation.lhs];
    let mut found = Vec::new();
    while let Some(id) = stack.pop() {
        match flat.ir.expr(id) {
            Expr::Var(var) => found.push(*var),
            Expr::VarArray(first) => {
                let n = flat
                    .ir
                    .ty(id)
                    .known_dims()
                    .map_or(0, |dims| dims.iter().product::<usize>() as u32);
                found.extend((0..n).map(|k| VarId(first.0 + k)));
            }
            Expr::Builtin(
                Builtin::Previous
                | Builtin::Pre
                | Builtin::Interval
                | Builtin::FirstTick
                | Builtin::Clock,
                _,
            ) => {}
            _ => flat.ir.for_each_child(id, |child| stack.push(child)),
        }
    }
    found.retain(|var| {
        flat.variables[*var].base != Base::Clock
            && clocking
                .partition_of_variable
                .get(var.0 as usize)
                .copied()
                .flatten()
                .is_some()
    });
    found.sort_unstable();
    found.dedup();
    found
}

/// A variable for each equation, by augmenting paths, breadth first.
fn matched(units: &[Unit]) -> Option<Vec<VarId>> {
    let mut of_unit: Vec<Option<VarId>> = vec![None; units.len()];
    let mut of_var: FxHashMap<VarId, usize> = FxHashMap::default();
    for start in 0..units.len() {
        let mut came_from: FxHashMap<VarId, usize> = FxHashMap::default();
        let mut queue = vec![start];
        let mut next = 0;
        let mut free = None;
        'search: while next < queue.len() {
            let unit = queue[next];
            next += 1;
            for &var in &units[unit].own {
                if came_from.contains_key(&var) {
                    continue;
                }
                came_from.insert(var, unit);
                match of_var.get(&var) {
                    Some(&taken) => queue.push(taken),
                    None => {
                        free = Some(var);
                        break 'search;
                    }
                }
            }
        }
        let mut var = free?;
        loop {
            let unit = came_from[&var];
            let before = of_unit[unit].replace(var);
            of_var.insert(var, unit);
            match before {
                Some(other) => var = other,
                None => break,
            }
        }
    }
    of_unit.into_iter().collect()
}

/// Strongly connected components, those that are needed first (Tarjan, without recursion).
fn components(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let n = needs.len();
    let (mut index, mut low, mut on_stack) = (vec![UNSEEN; n], vec![0; n], vec![false; n]);
    let mut stack: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    let mut counter = 0;
    for start in 0..n {
        if index[start] != UNSEEN {
            continue;
        }
        let mut calls: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some(&mut (node, ref mut child)) = calls.last_mut() {
            if *child == 0 {
                index[node] = counter;
                low[node] = counter;
                counter += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&next) = needs[node].get(*child) {
                *child += 1;
                if index[next] == UNSEEN {
                    calls.push((next, 0));
                } else if on_stack[next] {
                    low[node] = low[node].min(index[next]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller] = low[caller].min(low[node]);
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_need() {
        // 0 needs 1, 1 and 2 need each other, 3 needs 0.
        let needs = vec![vec![1], vec![2], vec![1], vec![0]];
        assert_eq!(components(&needs), vec![vec![1, 2], vec![0], vec![3]]);
    }
}
