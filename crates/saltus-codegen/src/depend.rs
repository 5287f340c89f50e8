//! What depends on what: variables read by an expression, and the sparsity of the state Jacobian.

use crate::layout::Layout;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::FlatModel;
use saltus_ir::{Builtin, Expr, ExprId, Id, VarId};
use saltus_model::Slot;
use saltus_structure::{Assignment, Block, Role, Step, StructuredSystem};
use std::rc::Rc;

/// Variables whose current value the expression reads (`pre` does not count), each once.
pub(crate) fn reads(flat: &FlatModel, root: ExprId, out: &mut Vec<VarId>) {
    let mut seen = FxHashSet::default();
    let mut found = FxHashSet::default();
    let mut stack = vec![root];
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        match flat.ir.expr(e) {
            Expr::Var(v) => {
                if found.insert(*v) {
                    out.push(*v);
                }
            }
            Expr::VarArray(first) => {
                let n: usize = flat.ir.ty(e).known_dims().map_or(1, |d| d.iter().product());
                for i in 0..n {
                    let v = VarId(first.0 + i as u32);
                    if found.insert(v) {
                        out.push(v);
                    }
                }
            }
            Expr::Builtin(Builtin::Pre, _) => {}
            _ => flat.ir.for_each_child(e, |c| stack.push(c)),
        }
    }
}

/// Larger patterns are not made; the block counts as full.
const PATTERN_ENTRIES_MAX: usize = 20_000_000;

/// For each unknown of a block the residuals that depend on it, ascending, through the inner assignments.
pub(crate) fn block_pattern(
    flat: &FlatModel,
    layout: &Layout,
    block: &Block,
) -> Option<Vec<Vec<u32>>> {
    let rows = block.residuals.iter().map(|(e, _)| Row::Residual(*e));
    pattern_of(flat, layout, &block.unknowns, &block.inner, rows)
}

/// A row of a pattern.
pub(crate) enum Row {
    Residual(ExprId),
    /// The value of an unknown, or of a variable that the assignments determine.
    Value(VarId),
    /// Something that no unknown influences.
    Fixed,
}

impl Row {
    /// The row of a derivative in the derivative schedule.
    pub(crate) fn of_derivative(system: &StructuredSystem, layout: &Layout, dx: VarId) -> Row {
        if is_fixed(system, layout, dx) {
            Row::Fixed
        } else {
            Row::Value(dx)
        }
    }
}

/// Whether nothing that moves between events determines the variable: its value is given, or changes at events only.
fn is_fixed(system: &StructuredSystem, layout: &Layout, var: VarId) -> bool {
    layout.representative[layout.slot(var).index()].is_some_and(|of| {
        matches!(
            system.roles[of.index()],
            Role::Constant | Role::Parameter | Role::Input | Role::Discrete | Role::Relation
        )
    })
}

/// For each unknown the rows that depend on it, ascending, through the assignments. `None` if there are too many entries, or if a row is
/// asked for that the assignments do not determine.
pub(crate) fn pattern_of(
    flat: &FlatModel,
    layout: &Layout,
    unknowns: &[VarId],
    inner: &[Assignment],
    rows: impl Iterator<Item = Row>,
) -> Option<Vec<Vec<u32>>> {
    // Unknowns that a slot depends on, ascending.
    let mut of_slot: FxHashMap<Slot, Vec<u32>> = FxHashMap::default();
    for (k, var) in unknowns.iter().enumerate() {
        of_slot.insert(layout.slot(*var), vec![k as u32]);
    }
    let mut read = Vec::new();
    let mut unknowns_of = |of_slot: &FxHashMap<Slot, Vec<u32>>, e: ExprId| {
        read.clear();
        reads(flat, e, &mut read);
        let slots = read.iter().filter_map(|v| of_slot.get(&layout.slot(*v)));
        let mut unknowns: Vec<u32> = slots.flatten().copied().collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        unknowns
    };
    let mut n_entries = 0;
    for a in inner {
        let unknowns = unknowns_of(&of_slot, a.value);
        n_entries += unknowns.len();
        if n_entries > PATTERN_ENTRIES_MAX {
            return None;
        }
        of_slot.insert(layout.slot(a.var), unknowns);
    }
    let mut pattern = vec![Vec::new(); unknowns.len()];
    for (row, of) in rows.enumerate() {
        let depends = match of {
            Row::Residual(e) => unknowns_of(&of_slot, e),
            Row::Value(v) => of_slot.get(&layout.slot(v))?.clone(),
            Row::Fixed => Vec::new(),
        };
        for unknown in depends {
            pattern[unknown as usize].push(row as u32);
        }
    }
    Some(pattern)
}

/// For each variable: can it change between events? Follows from the states, inputs and time through the sorted steps.
pub(crate) fn moving(system: &StructuredSystem, layout: &Layout) -> Vec<bool> {
    let moving = system.flat.variables.ids().filter(|var| {
        matches!(
            system.roles[var.index()],
            Role::State | Role::Derivative | Role::Input
        )
    });
    followers(system, layout, moving, &|slots, e| {
        moves(system, layout, slots, e)
    })
}

/// For each variable: does it depend on the result of a `delay` without an integration between?
pub(crate) fn past(system: &StructuredSystem, layout: &Layout) -> Vec<bool> {
    let results = system.delays.iter().map(|d| d.result);
    followers(system, layout, results, &|slots, e| {
        reads_any(system, layout, slots, e)
    })
}

/// The slots of `seeds` and of the continuous variables whose equations `follow` them, through the sorted steps.
fn followers(
    system: &StructuredSystem,
    layout: &Layout,
    seeds: impl Iterator<Item = VarId>,
    follow: &dyn Fn(&[bool], ExprId) -> bool,
) -> Vec<bool> {
    let mut slots = vec![false; layout.n_slots];
    for var in seeds {
        slots[layout.slot(var).index()] = true;
    }
    for step in &system.event {
        match step {
            Step::Assign {
                assignment,
                discrete: false,
            } => {
                if follow(&slots, assignment.value) {
                    slots[layout.slot(assignment.var).index()] = true;
                }
            }
            Step::Block(block) => {
                let values = block.inner.iter().map(|a| a.value);
                let mut exprs = values.chain(block.residuals.iter().map(|r| r.0));
                if exprs.any(|e| follow(&slots, e)) {
                    let inner = block.inner.iter().map(|a| a.var);
                    for var in block.unknowns.iter().copied().chain(inner) {
                        slots[layout.slot(var).index()] = true;
                    }
                }
            }
            Step::Assign { .. } | Step::Action { .. } => {}
        }
    }
    slots
}

/// Whether the expression can change between events; `moving` by slot.
pub(crate) fn moves(
    system: &StructuredSystem,
    layout: &Layout,
    moving: &[bool],
    root: ExprId,
) -> bool {
    if reads_any(system, layout, moving, root) {
        return true;
    }
    let mut seen = FxHashSet::default();
    let mut stack = vec![root];
    while let Some(e) = stack.pop() {
        if matches!(system.flat.ir.expr(e), Expr::Time) {
            return true;
        }
        system.flat.ir.for_each_child(e, |c| {
            if seen.insert(c) {
                stack.push(c);
            }
        });
    }
    false
}

/// Whether the expression reads a variable whose slot is marked.
pub(crate) fn reads_any(
    system: &StructuredSystem,
    layout: &Layout,
    marked: &[bool],
    root: ExprId,
) -> bool {
    let mut read = Vec::new();
    reads(&system.flat, root, &mut read);
    read.iter().any(|v| marked[layout.slot(*v).index()])
}

/// Numbers of states that a slot depends on: a list while they are few, else a bit for each state.
#[derive(Clone)]
enum Dependence {
    Few(Box<[u32]>),
    Many(Box<[u64]>),
}

impl Dependence {
    fn for_each(&self, mut f: impl FnMut(u32)) {
        match self {
            Dependence::Few(list) => list.iter().for_each(|&i| f(i)),
            Dependence::Many(words) => {
                for (k, &word) in words.iter().enumerate() {
                    let mut rest = word;
                    while rest != 0 {
                        f(k as u32 * 64 + rest.trailing_zeros());
                        rest &= rest - 1;
                    }
                }
            }
        }
    }
}

/// Collects what several slots depend on; work grows with the numbers found, not with the number of states.
struct Union {
    seen: Vec<bool>,
    found: Vec<u32>,
}

impl Union {
    fn add(&mut self, other: &Dependence) {
        let Union { seen, found } = self;
        other.for_each(|i| {
            if !std::mem::replace(&mut seen[i as usize], true) {
                found.push(i);
            }
        });
    }

    /// The collected numbers; the collection is empty after.
    fn take(&mut self) -> Dependence {
        let Union { seen, found } = self;
        found.iter().for_each(|&i| seen[i as usize] = false);
        let result = if found.len() * 32 <= seen.len() {
            found.sort_unstable();
            Dependence::Few(found.as_slice().into())
        } else {
            let mut words = vec![0u64; seen.len().div_ceil(64)];
            for &i in found.iter() {
                words[i as usize / 64] |= 1 << (i % 64);
            }
            Dependence::Many(words.into())
        };
        found.clear();
        result
    }
}

/// For each state (column) the derivatives (rows) that it may influence, by propagation through the derivative schedule.
pub(crate) fn state_pattern(system: &StructuredSystem, layout: &Layout) -> Vec<Vec<u32>> {
    let n = system.states.len();
    let mut of_slot: Vec<Option<Rc<Dependence>>> = vec![None; layout.n_slots];
    for (i, (state, _)) in system.states.iter().enumerate() {
        let itself = Dependence::Few([i as u32].into());
        of_slot[layout.slot(*state).index()] = Some(Rc::new(itself));
    }
    let mut read = Vec::new();
    let mut union = Union {
        seen: vec![false; n],
        found: Vec::new(),
    };
    let mut gather = |of_slot: &[Option<Rc<Dependence>>],
                      exprs: &mut dyn Iterator<Item = ExprId>| {
        for e in exprs {
            read.clear();
            reads(&system.flat, e, &mut read);
            for v in read.iter() {
                if let Some(dependence) = &of_slot[layout.slot(*v).index()] {
                    union.add(dependence);
                }
            }
        }
        Rc::new(union.take())
    };
    for &i in &system.derivatives {
        match &system.event[i] {
            Step::Assign { assignment, .. } => {
                let found = gather(&of_slot, &mut std::iter::once(assignment.value));
                of_slot[layout.slot(assignment.var).index()] = Some(found);
            }
            Step::Block(block) => {
                let values = block.inner.iter().map(|a| a.value);
                let mut exprs = values.chain(block.residuals.iter().map(|r| r.0));
                let found = gather(&of_slot, &mut exprs);
                let inner = block.inner.iter().map(|a| a.var);
                for var in block.unknowns.iter().copied().chain(inner) {
                    of_slot[layout.slot(var).index()] = Some(found.clone());
                }
            }
            Step::Action { .. } => {}
        }
    }
    let mut columns = vec![Vec::new(); n];
    for (row, (_, derivative)) in system.states.iter().enumerate() {
        match &of_slot[layout.slot(*derivative).index()] {
            Some(dependence) => {
                dependence.for_each(|column| columns[column as usize].push(row as u32));
            }
            None if is_fixed(system, layout, *derivative) => {}
            // Not known: any state may influence it.
            None => columns.iter_mut().for_each(|c| c.push(row as u32)),
        }
    }
    columns
}
