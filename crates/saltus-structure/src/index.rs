//! Index reduction (Pantelides 1988) with dummy derivatives (Mattsson and Söderlind 1993) and static state selection.
//!
//! Comes in: equations in representatives, chains x, der(x), … as variables. Goes out: differentiated equations added, the
//! variables that are states. Of the highest derivatives that the differentiated equations contain, as many become dummies as there are
//! such equations, so that the equations' Jacobian with respect to them is regular; then the same one derivative lower. The Jacobian is
//! taken at the start values. Columns are tried in the order of how little their integral is wanted as a state, so that
//! `stateSelect`, fixed start values and, last, large pivots decide.

use crate::derivative;
use crate::late::{inline_late, without_no_event};
use crate::numeric::{parameter_value, value_at_start};
use crate::parameters::is_fixed;
use crate::text::equation_text;
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{Matcher, pantelides};
use saltus_ir::flat::StateSelect;
use saltus_ir::{Expr, ExprId, VarId};
use saltus_syntax::Diagnostic;

/// More differentiations than this are taken for a modelling error.
const DIFFERENTIATIONS_MAX: u32 = 12;

/// Entries below this fraction of their row's largest one are not taken as pivots.
const PIVOT_MIN_REL: f64 = 1e-9;

/// Elimination is given up for structural choice when this many times the entries have filled in.
const FILL_MAX: usize = 30;

/// Stand-in for an entry that is zero at the start values but not constant: small, so that other pivots are preferred.
const GENERIC_ENTRY: f64 = 1e-3;

pub(crate) struct Reduced {
    /// (state, derivative, reason)
    pub(crate) states: Vec<(VarId, VarId, String)>,
}

/// Chains of derivatives: for each chain its variables by order.
pub(crate) struct Chains {
    pub(crate) vars: Vec<Vec<VarId>>,
    /// Chain and order of a variable.
    pub(crate) place: FxHashMap<VarId, (u32, u32)>,
}

/// Chains of the continuous representatives.
pub(crate) fn chains(work: &Work, unknowns: &[VarId]) -> Chains {
    let derivatives: FxHashSet<VarId> = unknowns
        .iter()
        .filter_map(|v| work.der.get(v))
        .copied()
        .collect();
    let mut chains = Chains {
        vars: Vec::new(),
        place: FxHashMap::default(),
    };
    for &v in unknowns {
        if derivatives.contains(&v) {
            continue;
        }
        let chain = chains.vars.len() as u32;
        let mut vars = Vec::new();
        let mut at = Some(v);
        while let Some(v) = at {
            chains.place.insert(v, (chain, vars.len() as u32));
            vars.push(v);
            at = work.der.get(&v).copied();
        }
        chains.vars.push(vars);
    }
    chains
}

/// Reduces the index. Errors are in `work.errors`, then `None`.
pub(crate) fn reduce_index(work: &mut Work, mut chains: Chains) -> Option<Reduced> {
    let continuous: Vec<usize> = (0..work.equations.len())
        .filter(|&k| work.equations[k].kind == Kind::Continuous)
        .collect();
    let mut rows: Vec<Vec<(u32, u32)>> = Vec::with_capacity(continuous.len());
    for &k in &continuous {
        let (lhs, rhs) = (work.equations[k].lhs, work.equations[k].rhs);
        let mut row: Vec<(u32, u32)> = Vec::new();
        for v in work.incidence(&[lhs, rhs]) {
            if work.class(v) == Class::Continuous
                && let Some(&place) = chains.place.get(&v)
            {
                row.push(place);
            }
        }
        // The highest order of each chain.
        row.sort_unstable_by_key(|&(chain, order)| (chain, std::cmp::Reverse(order)));
        row.dedup_by_key(|entry| entry.0);
        rows.push(row);
    }
    // Every derivative that is a variable has to be determined, also where its only equation was an alias.
    let orders_min: Vec<u32> = chains
        .vars
        .iter()
        .map(|vars| vars.len() as u32 - 1)
        .collect();
    let Ok(offsets) = pantelides(&rows, &orders_min) else {
        let span = work.flat.span;
        let name = work.flat.name;
        work.error(Diagnostic::error(
            "structurally-singular",
            span,
            format!("the continuous part of `{name}` is structurally singular"),
        ));
        return None;
    };
    if let Some(row) = offsets
        .equation
        .iter()
        .position(|&c| c > DIFFERENTIATIONS_MAX)
    {
        let eq = work.equations[continuous[row]].clone();
        let text = equation_text(work, eq.lhs, eq.rhs);
        work.error(Diagnostic::error(
            "index-too-high",
            eq.origin.span,
            format!(
                "`{text}` would have to be differentiated {} times",
                offsets.equation[row]
            ),
        ));
        return None;
    }
    for (chain, &order) in offsets.variable.iter().enumerate() {
        let vars = &mut chains.vars[chain];
        while vars.len() <= order as usize {
            let last = vars[vars.len() - 1];
            let der = work.der_of(last);
            chains.place.insert(der, (chain as u32, vars.len() as u32));
            vars.push(der);
        }
    }
    // Pivot values before differentiated equations are added.
    let dummies = select_dummies(
        work,
        &chains,
        &continuous,
        &rows,
        &offsets.equation,
        &offsets.variable,
    );
    for (row, &k) in continuous.iter().enumerate() {
        differentiate(work, k, offsets.equation[row]);
    }
    if !work.errors.is_empty() {
        return None;
    }
    let mut states = Vec::new();
    for (chain, &order) in offsets.variable.iter().enumerate() {
        for k in 0..order as usize {
            let (var, der) = (chains.vars[chain][k], chains.vars[chain][k + 1]);
            if !dummies.contains(&der) {
                let reason = reason(work, var, !dummies.is_empty());
                states.push((var, der, reason));
            }
        }
    }
    report_unheard_wishes(work, &chains, &dummies);
    Some(Reduced { states })
}

/// Adds the first `times` derivatives of equation `k`.
fn differentiate(work: &mut Work, k: usize, times: u32) {
    let mut eq: Eq = work.equations[k].clone();
    for _ in 0..times {
        let initial = eq
            .initial
            .map(|sides| sides_derivative(work, sides))
            .transpose();
        let late = eq
            .late
            .map(|sides| sides_derivative(work, sides))
            .and_then(Result::ok);
        let derivative = match late {
            // What is not inlined is differentiated by the rules of the calls.
            Some((lhs, rhs)) if has_call(work, eq.lhs) || has_call(work, eq.rhs) => {
                let ir = &mut work.flat.ir;
                let mut inlined = |e| {
                    let e = inline_late(ir, e);
                    without_no_event(ir, e)
                };
                Ok((inlined(lhs), inlined(rhs)))
            }
            _ => sides_derivative(work, (eq.lhs, eq.rhs)),
        };
        match (derivative, initial) {
            (Ok((lhs, rhs)), Ok(initial)) => {
                let initial = initial.filter(|&sides| sides != (lhs, rhs));
                eq = Eq {
                    lhs,
                    rhs,
                    initial,
                    late,
                    kind: Kind::Continuous,
                    origin: eq.origin,
                };
                work.equations.push(eq.clone());
            }
            (Err(why), _) | (_, Err(why)) => {
                let text = equation_text(work, eq.lhs, eq.rhs);
                work.error(
                    Diagnostic::error(
                        "not-differentiable",
                        eq.origin.span,
                        format!("index reduction needs the derivative of `{text}`"),
                    )
                    .note(why),
                );
                return;
            }
        }
    }
}

fn has_call(work: &Work, e: ExprId) -> bool {
    let ir = &work.flat.ir;
    ir.reachable(&[e])
        .into_iter()
        .any(|id| matches!(ir.expr(id), Expr::Call { .. }))
}

fn sides_derivative(
    work: &mut Work,
    (lhs, rhs): (ExprId, ExprId),
) -> Result<(ExprId, ExprId), String> {
    Ok((derivative::total(work, lhs)?, derivative::total(work, rhs)?))
}

/// The variables (derivatives) that become algebraic.
fn select_dummies(
    work: &mut Work,
    chains: &Chains,
    equations: &[usize],
    rows: &[Vec<(u32, u32)>],
    c: &[u32],
    d: &[u32],
) -> FxHashSet<VarId> {
    let mut dummies = FxHashSet::default();
    let reinit: FxHashSet<VarId> = work.reinit_vars.iter().copied().collect();
    for component in components(rows, c, d) {
        let mut matrix: Vec<Row> = Vec::with_capacity(component.len());
        for &row in &component {
            let eq = work.equations[equations[row]].clone();
            let mut entries = Vec::new();
            for &(chain, order) in &rows[row] {
                if c[row] + order != d[chain as usize] {
                    continue;
                }
                let var = chains.vars[chain as usize][order as usize];
                entries.push((chain, entry(work, &eq, var, row, chain)));
            }
            matrix.push(Row {
                differentiations: c[row],
                entries,
            });
        }
        let mut candidates: Vec<u32> = matrix
            .iter()
            .flat_map(|row| row.entries.iter().map(|e| e.0))
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        let times_max = matrix
            .iter()
            .map(|row| row.differentiations)
            .max()
            .unwrap_or(0);
        for time in 0..times_max {
            matrix.retain(|row| row.differentiations > time);
            // Candidates for a dummy at this level: x^(d - time), whose integral would no longer be a state.
            candidates.retain(|&chain| d[chain as usize] > time);
            let order_of = |chain: u32| (d[chain as usize] - time) as usize;
            let pivots = largest_pivots(&matrix);
            let mut wanted: Vec<(Desirability, u32)> = candidates
                .iter()
                .map(|&chain| {
                    let integral = chains.vars[chain as usize][order_of(chain) - 1];
                    let pivot = pivots.get(&chain).copied().unwrap_or_default();
                    (desirability(work, integral, &reinit, pivot), chain)
                })
                .collect();
            wanted.sort_by(|a, b| a.0.total_order(&b.0).then(a.1.cmp(&b.1)));
            let order: Vec<u32> = wanted.into_iter().map(|(_, chain)| chain).collect();
            candidates = independent_columns(&matrix, &order);
            for &chain in &candidates {
                dummies.insert(chains.vars[chain as usize][order_of(chain)]);
            }
        }
    }
    dummies
}

struct Row {
    differentiations: u32,
    entries: Vec<(u32, f64)>,
}

/// Differentiated equations that share highest derivatives.
fn components(rows: &[Vec<(u32, u32)>], c: &[u32], d: &[u32]) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..d.len()).collect();
    fn find(parent: &mut [usize], mut x: usize) -> usize {
        while parent[x] != x {
            parent[x] = parent[parent[x]];
            x = parent[x];
        }
        x
    }
    let mut of_row: Vec<(usize, usize)> = Vec::new();
    for (row, entries) in rows.iter().enumerate() {
        if c[row] == 0 {
            continue;
        }
        let mut first = None;
        for &(chain, order) in entries {
            if c[row] + order != d[chain as usize] {
                continue;
            }
            match first {
                None => first = Some(chain as usize),
                Some(first) => {
                    let (a, b) = (find(&mut parent, first), find(&mut parent, chain as usize));
                    parent[a] = b;
                }
            }
        }
        if let Some(first) = first {
            of_row.push((first, row));
        }
    }
    let mut components: indexmap::IndexMap<usize, Vec<usize>> = indexmap::IndexMap::new();
    for (first, row) in of_row {
        components
            .entry(find(&mut parent, first))
            .or_default()
            .push(row);
    }
    components.into_values().collect()
}

/// ∂(lhs - rhs)/∂var at the start values; zero only if it is zero for the given parameters at all times.
fn entry(work: &mut Work, eq: &Eq, var: VarId, row: usize, chain: u32) -> f64 {
    // Deterministic, different for each entry, so that a generic matrix has full structural rank.
    let generic = GENERIC_ENTRY * (1.0 + ((row * 31 + chain as usize * 17) % 97) as f64 / 97.0);
    let difference = work.flat.ir.sub(eq.lhs, eq.rhs);
    let Some(partial) = derivative::partial(work, difference, var) else {
        return generic;
    };
    if let Some(constant) = parameter_value(work, partial) {
        return constant;
    }
    match value_at_start(work, partial) {
        Some(value) if value.abs() > GENERIC_ENTRY => value,
        _ => generic,
    }
}

/// Small means: rather a dummy than a state.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Desirability {
    select: u8,
    fixed: bool,
    started: bool,
    in_model: bool,
    /// Largest pivot that the column offers; a large one is a good dummy.
    pivot: f64,
}

impl Desirability {
    fn total_order(&self, other: &Desirability) -> std::cmp::Ordering {
        (self.select, self.fixed, self.started, self.in_model)
            .cmp(&(other.select, other.fixed, other.started, other.in_model))
            .then(other.pivot.total_cmp(&self.pivot))
    }
}

/// The largest entry of each column, relative to its row.
fn largest_pivots(matrix: &[Row]) -> FxHashMap<u32, f64> {
    let mut pivots: FxHashMap<u32, f64> = FxHashMap::default();
    for row in matrix {
        let largest = row.entries.iter().fold(0.0f64, |m, e| m.max(e.1.abs()));
        for &(chain, value) in &row.entries {
            let pivot = pivots.entry(chain).or_default();
            if largest > 0.0 {
                *pivot = pivot.max(value.abs() / largest);
            }
        }
    }
    pivots
}

fn desirability(
    work: &Work,
    integral: VarId,
    reinit: &FxHashSet<VarId>,
    pivot: f64,
) -> Desirability {
    let variable = &work.flat.variables[integral];
    let select = match variable.state_select {
        _ if reinit.contains(&integral) => 4,
        StateSelect::Never => 0,
        StateSelect::Avoid => 1,
        StateSelect::Default => 2,
        StateSelect::Prefer => 3,
        StateSelect::Always => 4,
    };
    Desirability {
        select,
        fixed: is_fixed(work, integral) == Some(true),
        started: variable.start.is_some(),
        in_model: !work.der_name.contains_key(&integral),
        pivot,
    }
}

/// Greedy: columns in the given order, each taken if it is independent of those taken, until there are as many as rows.
fn independent_columns(matrix: &[Row], order: &[u32]) -> Vec<u32> {
    let mut rows: Vec<FxHashMap<u32, f64>> = Vec::with_capacity(matrix.len());
    let mut rows_of: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let mut n_entries = 0;
    let allowed: FxHashSet<u32> = order.iter().copied().collect();
    for (r, row) in matrix.iter().enumerate() {
        let scale = row.entries.iter().fold(0.0f64, |m, e| m.max(e.1.abs()));
        let mut entries = FxHashMap::default();
        for &(chain, value) in &row.entries {
            if value != 0.0 && allowed.contains(&chain) {
                entries.insert(chain, value / scale);
                rows_of.entry(chain).or_default().push(r);
                n_entries += 1;
            }
        }
        rows.push(entries);
    }
    let budget = FILL_MAX * (n_entries + 100);
    let mut open = vec![true; rows.len()];
    let mut chosen = Vec::new();
    for &column in order {
        if chosen.len() == rows.len() {
            break;
        }
        let mut users: Vec<usize> = rows_of.remove(&column).unwrap_or_default();
        users.sort_unstable();
        users.dedup();
        users.retain(|&r| {
            open[r]
                && rows[r]
                    .get(&column)
                    .is_some_and(|v| v.abs() > PIVOT_MIN_REL)
        });
        let largest = users
            .iter()
            .map(|&r| rows[r][&column].abs())
            .fold(0.0, f64::max);
        let pivot = users
            .iter()
            .copied()
            .filter(|&r| rows[r][&column].abs() >= 0.1 * largest)
            .min_by_key(|&r| (rows[r].len(), r));
        let Some(pivot) = pivot else { continue };
        open[pivot] = false;
        chosen.push(column);
        let mut pivot_entries: Vec<(u32, f64)> =
            rows[pivot].iter().map(|(&c, &v)| (c, v)).collect();
        pivot_entries.sort_unstable_by_key(|e| e.0);
        let value = rows[pivot][&column];
        for r in users {
            if r == pivot {
                continue;
            }
            let factor = rows[r][&column] / value;
            for &(c, v) in &pivot_entries {
                match rows[r].entry(c) {
                    std::collections::hash_map::Entry::Occupied(mut entry) => {
                        let before = entry.get().abs();
                        *entry.get_mut() -= factor * v;
                        if c == column
                            || entry.get().abs() <= PIVOT_MIN_REL * before.max((factor * v).abs())
                        {
                            entry.remove();
                        }
                    }
                    std::collections::hash_map::Entry::Vacant(entry) => {
                        entry.insert(-factor * v);
                        rows_of.entry(c).or_default().push(r);
                        n_entries += 1;
                    }
                }
            }
        }
        if n_entries > budget {
            break;
        }
    }
    if chosen.len() < rows.len() {
        // Singular at the start values, or too much work: what remains is chosen by structure.
        let mut by_structure = chosen.clone();
        let taken: FxHashSet<u32> = chosen.into_iter().collect();
        by_structure.extend(order.iter().filter(|c| !taken.contains(c)));
        return structural_columns(matrix, &by_structure);
    }
    chosen
}

fn structural_columns(matrix: &[Row], order: &[u32]) -> Vec<u32> {
    let mut rows_of: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (r, row) in matrix.iter().enumerate() {
        for &(chain, _) in &row.entries {
            rows_of.entry(chain).or_default().push(r as u32);
        }
    }
    let mut matcher = Matcher::new(matrix.len());
    order
        .iter()
        .copied()
        .filter(|column| matcher.try_row(rows_of.get(column).cloned().unwrap_or_default()))
        .collect()
}

fn reason(work: &Work, var: VarId, reduced: bool) -> String {
    let variable = &work.flat.variables[var];
    if work.reinit_vars.contains(&var) {
        return "set by reinit".to_owned();
    }
    match variable.state_select {
        StateSelect::Always => "stateSelect = always".to_owned(),
        StateSelect::Prefer => "stateSelect = prefer".to_owned(),
        _ if !reduced => "its derivative is in the equations".to_owned(),
        _ if is_fixed(work, var) == Some(true) => "chosen: fixed start value".to_owned(),
        _ if variable.start.is_some() => "chosen: start value given".to_owned(),
        _ => "its derivative is in the equations".to_owned(),
    }
}

/// `stateSelect = always` that constraints do not allow, `never` that is a state nevertheless.
fn report_unheard_wishes(work: &mut Work, chains: &Chains, dummies: &FxHashSet<VarId>) {
    let mut notes = Vec::new();
    for vars in &chains.vars {
        for pair in vars.windows(2) {
            let variable = &work.flat.variables[pair[0]];
            let dummy = dummies.contains(&pair[1]);
            if variable.state_select == StateSelect::Always && dummy {
                notes.push((
                    variable.span,
                    format!(
                        "`{}` cannot be a state: it is constrained by others",
                        variable.name
                    ),
                ));
            }
        }
    }
    for (span, message) in notes {
        work.warn(Diagnostic::warning(
            "state-select-not-possible",
            span,
            message,
        ));
    }
}
