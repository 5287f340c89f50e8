//! Which derivatives become dummies (Mattsson and Söderlind 1993), so that the others' integrals are the states.
//!
//! Comes in: how often each equation is differentiated, and the highest derivatives in it. Goes out: for each differentiated equation one
//! of the highest derivatives, so that the equations' Jacobian with respect to them is regular; then the same one derivative lower.
//! The Jacobian is taken at the start values. Columns are tried in the order of how little their integral is wanted as a state,
//! those that are wanted alike by the size of their pivots in the matrix that is left, so that `stateSelect`, fixed start values and, last,
//! large pivots decide.

use crate::derivative;
use crate::index::Chains;
use crate::numeric::{known_nonzero, parameter_value, value_at_start};
use crate::parameters::is_fixed;
use crate::work::{Class, Eq, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::Matcher;
use saltus_ir::flat::StateSelect;
use saltus_ir::{BinaryOp, Expr, ExprId, Ir, UnaryOp, VarId};

/// Entries below this fraction of their row's largest one are not taken as pivots.
const PIVOT_MIN_REL: f64 = 1e-9;

/// Among columns that are wanted alike, those with a pivot of this share of the row's largest entry are taken first.
const PIVOT_SHARES: [f64; 3] = [0.1, 1e-4, PIVOT_MIN_REL];

/// Elimination is given up for structural choice when this many times the entries have filled in.
const FILL_MAX: usize = 30;

/// Deeper branches are not looked at.
const BRANCH_DEPTH_MAX: u32 = 32;

/// Stand-in for an entry that is zero at the start values but not constant: small, so that other pivots are preferred.
const GENERIC_ENTRY: f64 = 1e-3;

/// What selection finds.
#[derive(Default)]
pub(crate) struct Selection {
    /// The variables (derivatives) that become algebraic.
    pub(crate) dummies: FxHashSet<VarId>,
    /// How the entries (row, chain) of the Jacobian may change; those that are always zero are not listed.
    pub(crate) entries: FxHashMap<(u32, u32), Entry>,
}

/// How an entry of the Jacobian may change between events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// Not at all.
    Constant,
    /// But not to zero.
    NonZero,
    Varying,
}

/// Chooses the derivatives that become algebraic.
pub(crate) fn select_dummies(
    work: &mut Work,
    chains: &Chains,
    equations: &[usize],
    rows: &[Vec<(u32, u32)>],
    c: &[u32],
    d: &[u32],
) -> Selection {
    let mut selection = Selection::default();
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
                let (value, kind) = entry(work, &eq, var, row, chain);
                entries.push((chain, value));
                if value != 0.0 {
                    selection.entries.insert((row as u32, chain), kind);
                }
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
            let groups: Vec<Vec<u32>> = wanted
                .chunk_by(|a, b| a.0.rank() == b.0.rank())
                .map(|group| group.iter().map(|&(_, chain)| chain).collect())
                .collect();
            candidates = independent_columns(&matrix, &groups);
            for &chain in &candidates {
                let dummy = chains.vars[chain as usize][order_of(chain)];
                selection.dummies.insert(dummy);
            }
        }
    }
    selection
}

struct Row {
    differentiations: u32,
    entries: Vec<(u32, f64)>,
}

/// Differentiated equations that share highest derivatives.
pub(crate) fn components(rows: &[Vec<(u32, u32)>], c: &[u32], d: &[u32]) -> Vec<Vec<usize>> {
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

/// ∂(lhs - rhs)/∂var at the start values; zero only if it is zero for the given parameters at all times, small where it is zero now or in
/// some branch.
fn entry(work: &mut Work, eq: &Eq, var: VarId, row: usize, chain: u32) -> (f64, Entry) {
    // Deterministic, different for each entry, so that a generic matrix has full structural rank.
    let generic = GENERIC_ENTRY * (1.0 + ((row * 31 + chain as usize * 17) % 97) as f64 / 97.0);
    let difference = work.flat.ir.sub(eq.lhs, eq.rhs);
    let Some(partial) = derivative::partial(work, difference, var) else {
        return (generic, Entry::Varying);
    };
    if let Some(constant) = parameter_value(work, partial) {
        return (constant, Entry::Constant);
    }
    let kind = change_of(work, partial);
    match value_at_start(work, partial) {
        Some(value)
            if value.abs() > GENERIC_ENTRY && !zero_in_a_branch(&work.flat.ir, partial, 0) =>
        {
            (value, kind)
        }
        _ => (generic, kind),
    }
}

fn change_of(work: &mut Work, partial: ExprId) -> Entry {
    let ir = &work.flat.ir;
    let timed = ir
        .reachable(&[partial])
        .into_iter()
        .any(|id| matches!(ir.expr(id), Expr::Time));
    let moving = |work: &Work, v: VarId| {
        matches!(
            work.class(v),
            Class::Continuous | Class::Delayed | Class::Input
        )
    };
    let moves = timed
        || work
            .incidence(&[partial])
            .into_iter()
            .any(|v| moving(work, v));
    match moves {
        false => Entry::Constant,
        true if known_nonzero(work, partial) => Entry::NonZero,
        true => Entry::Varying,
    }
}

/// A coefficient that vanishes when a relation changes is no pivot for the whole run.
fn zero_in_a_branch(ir: &Ir, e: ExprId, depth: u32) -> bool {
    if depth > BRANCH_DEPTH_MAX {
        return false;
    }
    let of = |e: ExprId| zero_in_a_branch(ir, e, depth + 1);
    match *ir.expr(e) {
        Expr::If(_, t, f) => [t, f].into_iter().any(|b| ir.is_zero(b) || of(b)),
        Expr::Unary(UnaryOp::Neg, a) | Expr::Binary(BinaryOp::Div, a, _) => of(a),
        Expr::Binary(BinaryOp::Mul, a, b) => of(a) || of(b),
        _ => false,
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
    /// All but the pivot.
    fn rank(&self) -> (u8, bool, bool, bool) {
        (self.select, self.fixed, self.started, self.in_model)
    }

    fn total_order(&self, other: &Desirability) -> std::cmp::Ordering {
        (self.rank().cmp(&other.rank())).then(other.pivot.total_cmp(&self.pivot))
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
    Desirability {
        select: wish_rank(work, integral, reinit),
        fixed: is_fixed(work, integral) == Some(true),
        started: variable.start.is_some(),
        in_model: !work.der_name.contains_key(&integral),
        pivot,
    }
}

/// How much a variable is wanted as a state.
pub(crate) fn wish_rank(work: &Work, var: VarId, reinit: &FxHashSet<VarId>) -> u8 {
    match work.flat.variables[var].state_select {
        _ if reinit.contains(&var) => 4,
        StateSelect::Never => 0,
        StateSelect::Avoid => 1,
        StateSelect::Default => 2,
        StateSelect::Prefer => 3,
        StateSelect::Always => 4,
    }
}

/// Greedy: columns group by group, each taken if it is independent of those taken, until there are as many as rows.
fn independent_columns(matrix: &[Row], groups: &[Vec<u32>]) -> Vec<u32> {
    let mut elimination = Elimination::new(matrix, groups);
    let mut chosen = Vec::new();
    'groups: for group in groups {
        let mut waiting = group.clone();
        for share in PIVOT_SHARES {
            let mut left = Vec::new();
            for column in waiting {
                if chosen.len() == matrix.len() || elimination.n_entries > elimination.budget {
                    break 'groups;
                }
                if elimination.take(column, share) {
                    chosen.push(column);
                } else {
                    left.push(column);
                }
            }
            waiting = left;
        }
    }
    if chosen.len() < matrix.len() {
        // Singular at the start values, or too much work: what remains is chosen by structure.
        let taken: FxHashSet<u32> = chosen.iter().copied().collect();
        let rest = groups.iter().flatten().filter(|c| !taken.contains(c));
        let by_structure: Vec<u32> = chosen.iter().chain(rest).copied().collect();
        return structural_columns(matrix, &by_structure);
    }
    chosen
}

/// A sparse matrix under elimination of columns, rows scaled to a largest entry of 1 at the start.
struct Elimination {
    rows: Vec<FxHashMap<u32, f64>>,
    rows_of: FxHashMap<u32, Vec<usize>>,
    /// Without a pivot.
    open: Vec<bool>,
    n_entries: usize,
    budget: usize,
}

impl Elimination {
    fn new(matrix: &[Row], groups: &[Vec<u32>]) -> Elimination {
        let mut rows: Vec<FxHashMap<u32, f64>> = Vec::with_capacity(matrix.len());
        let mut rows_of: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        let mut n_entries = 0;
        let allowed: FxHashSet<u32> = groups.iter().flatten().copied().collect();
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
        Elimination {
            open: vec![true; rows.len()],
            rows,
            rows_of,
            n_entries,
            budget: FILL_MAX * (n_entries + 100),
        }
    }

    /// Eliminates a column if it has a pivot of at least `share`.
    fn take(&mut self, column: u32, share: f64) -> bool {
        let Some(users) = self.rows_of.get_mut(&column) else {
            return false;
        };
        users.sort_unstable();
        users.dedup();
        let (rows, open) = (&self.rows, &self.open);
        users.retain(|&r| {
            let entry = rows[r].get(&column);
            open[r] && entry.is_some_and(|v| v.abs() > PIVOT_MIN_REL)
        });
        let size = |r: usize| rows[r][&column].abs();
        let largest = users.iter().map(|&r| size(r)).fold(0.0, f64::max);
        if largest < share {
            return false;
        }
        let pivot = users
            .iter()
            .copied()
            .filter(|&r| size(r) >= 0.1 * largest)
            .min_by_key(|&r| (rows[r].len(), r));
        let Some(pivot) = pivot else { return false };
        let users = self.rows_of.remove(&column).unwrap_or_default();
        self.open[pivot] = false;
        let mut pivot_entries: Vec<(u32, f64)> =
            self.rows[pivot].iter().map(|(&c, &v)| (c, v)).collect();
        pivot_entries.sort_unstable_by_key(|e| e.0);
        let value = self.rows[pivot][&column];
        for r in users.into_iter().filter(|&r| r != pivot) {
            let factor = self.rows[r][&column] / value;
            for &(c, v) in &pivot_entries {
                self.subtract(r, c, factor * v, c == column);
            }
        }
        true
    }

    /// `rows[r][c] -= amount`; what is left of a cancellation is zero.
    fn subtract(&mut self, r: usize, c: u32, amount: f64, to_zero: bool) {
        use std::collections::hash_map::Entry;
        match self.rows[r].entry(c) {
            Entry::Occupied(mut entry) => {
                let before = entry.get().abs();
                *entry.get_mut() -= amount;
                if to_zero || entry.get().abs() <= PIVOT_MIN_REL * before.max(amount.abs()) {
                    entry.remove();
                }
            }
            Entry::Vacant(entry) => {
                entry.insert(-amount);
                self.rows_of.entry(c).or_default().push(r);
                self.n_entries += 1;
            }
        }
    }
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
