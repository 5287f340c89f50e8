//! From a flat model to a sorted, index-reduced system (DESIGN sections 4 and 5).
//!
//! Comes in: a [`saltus_ir::FlatModel`]. Goes out: a [`StructuredSystem`]: aliases gone, relations turned into
//! discrete unknowns with crossing functions, index reduced, equations sorted into blocks and torn, an initial system
//! beside it. `saltus-codegen` turns it into code.
//!
//! The passes, one file each, in their order: `collect` (with `late`, `events`, `whens`, `clocked`), `parameters`, `balance`, `discretized`, `inline`, `selectors`, `zeros`, `alias`, `hidden`,
//! `index` (with `wish`, `select`, `sets`), `sort` (with `block`), `schedule`, `initial`. Where branches of equations may leave the sorted system singular,
//! `modes` structures the model again with the branches chosen.

mod alias;
mod balance;
mod block;
mod changes;
mod clocked;
mod collect;
mod derivative;
mod discontinuity;
mod discretized;
mod events;
mod growth;
mod hidden;
mod index;
mod initial;
mod inline;
mod late;
mod modes;
mod numeric;
mod parameters;
pub mod print;
mod restart;
mod rewrite;
mod schedule;
mod select;
mod selectors;
mod sets;
mod singular;
mod sort;
pub mod system;
mod text;
mod whens;
mod wish;
mod work;
mod zeros;

pub use modes::{Literal, Modes, Specialised};
pub use print::{print_structure, print_structure_at};
pub use restart::{Impact, Jump, Restart};
pub use system::*;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::{FlatModel, Id, VarId};
use saltus_syntax::Diagnostic;
use work::{Class, Kind, Work};

/// Structures a flat model. Warnings are in the result's `warnings`.
pub fn structure(flat: FlatModel) -> Result<StructuredSystem, Vec<Diagnostic>> {
    let mut work = Work::new(flat);
    match build(&mut work) {
        Some(parts) if work.errors.is_empty() => Ok(finish(work, parts)),
        _ => {
            let mut diagnostics = work.errors;
            if diagnostics.is_empty() {
                unreachable!("a pass gave up without a message");
            }
            diagnostics.extend(work.warnings);
            Err(diagnostics)
        }
    }
}

struct Parts {
    aliases: alias::Aliases,
    states: Vec<(VarId, VarId, String)>,
    event: Vec<Step>,
    schedules: schedule::Schedules,
    crossings: Vec<Crossing>,
    initial: initial::InitialSystem,
    starts: Vec<Assignment>,
    modes: Option<Box<Modes>>,
    /// Variables up to this one are those of the event system; later ones belong to the initial system.
    n_event_variables: usize,
}

fn build(work: &mut Work) -> Option<Parts> {
    let n_declared = work.flat.variables.len();
    collect::collect(work);
    parameters::sort_parameters(work);
    if !work.errors.is_empty() {
        return None;
    }
    numeric::evaluate_parameters(work, 0);
    count(work, n_declared);
    if work.n_equations != work.n_unknowns {
        let unknowns = unknowns(work, |_| true);
        check(work, &unknowns);
        if work.errors.is_empty() {
            unreachable!("an unbalanced system has no perfect matching");
        }
        return None;
    }
    discretized::reduce_partitions(work);
    inline::inline_integrators(work);
    if !work.errors.is_empty() {
        return None;
    }
    let Some(mut branched) = selectors::with_branches(work) else {
        return solve_structure(work);
    };
    let parts = solve_structure(&mut branched).filter(|_| branched.errors.is_empty());
    if parts.as_ref().is_some_and(|parts| parts.modes.is_some()) {
        *work = *branched;
        return parts;
    }
    // One structure serves all branches: that of the products as they are written.
    solve_structure(work)
}

/// With zero factors: first as edges that nothing is solved for, then without their terms, last as if they were not known, which has
/// the message for what is singular anyway.
fn solve_structure(work: &mut Work) -> Option<Parts> {
    let zeros = zeros::find_zero_factors(work);
    if zeros.factors.is_empty() {
        return sorted_parts(work);
    }
    let before = work.clone();
    work.zero_factors = zeros.factors.clone();
    if let Some(parts) = sorted_parts(work).filter(|_| work.errors.is_empty()) {
        return Some(parts);
    }
    *work = before.clone();
    zeros::drop_zero_terms(work, &zeros);
    if let Some(parts) = sorted_parts(work).filter(|_| work.errors.is_empty()) {
        return Some(parts);
    }
    *work = before;
    sorted_parts(work)
}

fn sorted_parts(work: &mut Work) -> Option<Parts> {
    let n_parameters = work.parameters.len();
    let as_written = (work.equations.clone(), work.class.clone(), work.der.clone());
    let mut aliases = alias::eliminate_aliases(work);
    if hidden::expose_constraints(work) {
        // A constraint may be that a state is zero, or that two are equal.
        aliases = aliases.then(&alias::eliminate_aliases(work));
    }
    reclassify(work);
    let is_representative = |v: VarId| aliases.representative(v) == v;
    let all = unknowns(work, is_representative);
    check(work, &all);
    if !work.errors.is_empty() {
        // If the equations as they are written are singular already, the message is better in their terms.
        let simplified = std::mem::take(&mut work.errors);
        (work.equations, work.class, work.der) = as_written;
        work.class.resize(work.flat.variables.len(), Class::Unused);
        let all = unknowns(work, |_| true);
        check(work, &all);
        if work.errors.is_empty() {
            work.errors = simplified;
        }
        return None;
    }
    drop(as_written);
    let trunk = Modes::trunk(work, &aliases, n_parameters);
    let mut parts = reduced_parts(work, aliases, n_parameters)?;
    parts.modes = trunk.and_then(|trunk| trunk.with_live(work, &parts));
    Some(parts)
}

/// From equations in representatives to sorted ones of index 1.
fn reduced_parts(work: &mut Work, aliases: alias::Aliases, n_parameters: usize) -> Option<Parts> {
    let is_representative = |v: VarId| aliases.representative(v) == v;
    let all = unknowns(work, is_representative);
    let continuous: Vec<VarId> = all
        .iter()
        .copied()
        .filter(|&v| work.class(v) == Class::Continuous)
        .collect();
    let chains = index::chains(work, &continuous);
    // What alias elimination found to be a parameter guides the choice of states (constant rotation matrices); divisions by it in
    // torn blocks would make other iteration unknowns, which op-amps with positive feedback do not bear.
    let values = work.values.clone();
    numeric::evaluate_parameters(work, n_parameters);
    let reduced = index::reduce_index(work, chains);
    work.values = values;
    let reduced = reduced?;
    let states: FxHashSet<VarId> = reduced.states.iter().map(|s| s.0).collect();
    // What a mode constrains is set all the same: the constraints then take it, by a jump.
    if !work.is_mode {
        check_reinit(work, &states);
    }
    let all = unknowns(work, is_representative);
    let event_unknowns: Vec<VarId> = all
        .iter()
        .copied()
        .filter(|v| !states.contains(v))
        .collect();
    let equations = work.equations.clone();
    let mut event = sort::sort(
        work,
        &equations,
        &event_unknowns,
        sort::Sorted::Events,
        &mut sort::event_solvable,
    )?;
    add_actions(work, &mut event);
    let pairs: Vec<(VarId, VarId)> = reduced.states.iter().map(|s| (s.0, s.1)).collect();
    discontinuity::locate_discontinuities(work, &mut event, &pairs);
    let crossings = std::mem::take(&mut work.crossings);
    let mut crossings = schedule::classify_crossings(work, crossings, &states);
    // At the start the candidates that are states at first count, not what holds their values later.
    let held: FxHashMap<VarId, VarId> = (work.state_sets.iter())
        .flat_map(|set| &set.levels)
        .flat_map(|(candidates, chosen)| chosen.iter().copied().zip(candidates.iter().copied()))
        .collect();
    let inlined = work.inlined.iter().flat_map(|inlined| &inlined.states);
    let state_order: Vec<VarId> = (pairs.iter())
        .map(|s| held.get(&s.0).copied().unwrap_or(s.0))
        .chain(inlined.map(|state| state.value_old))
        .collect();
    let n_event_variables = work.flat.variables.len();
    let initial = initial::initial_system(work, &all, &state_order)?;
    let schedules = schedule::schedules(work, &event, &pairs, &crossings);
    schedule::mark_sliding(
        work,
        &event,
        &schedules.feeds_derivatives,
        |v| aliases.representative(v),
        &mut crossings,
    );
    let started: Vec<VarId> = work
        .flat
        .variables
        .ids()
        .filter(|&v| {
            let class = work.class(v);
            (class.is_unknown() || matches!(class, Class::FreeParameter | Class::Held))
                && aliases.representative(v) == v
        })
        .chain(
            work.flat
                .variables
                .ids()
                .filter(|&v| work.class(v) == Class::Input),
        )
        .collect();
    let starts = initial::starts(work, &started);
    Some(Parts {
        aliases,
        states: reduced.states,
        event,
        schedules,
        crossings,
        initial,
        starts,
        modes: None,
        n_event_variables,
    })
}

/// Variables that equations determine, of those `wanted`.
fn unknowns(work: &Work, wanted: impl Fn(VarId) -> bool) -> Vec<VarId> {
    work.flat
        .variables
        .ids()
        .filter(|&v| work.class(v).is_unknown() && wanted(v))
        .collect()
}

/// Declared unknowns and equations as a user counts them.
fn count(work: &mut Work, n_declared: usize) {
    let internal: usize = (n_declared..work.flat.variables.len())
        .map(VarId::from_index)
        .filter(|&v| work.class(v).is_unknown() && !work.der_name.contains_key(&v))
        .count();
    work.n_unknowns = (0..n_declared)
        .map(VarId::from_index)
        .filter(|&v| work.class(v).is_unknown())
        .count();
    work.n_equations = work.equations.len() - internal;
}

fn check(work: &mut Work, unknowns: &[VarId]) {
    let mut base_of: rustc_hash::FxHashMap<VarId, VarId> = rustc_hash::FxHashMap::default();
    for &v in unknowns {
        if let Some(&der) = work.der.get(&v) {
            base_of.insert(der, v);
        }
    }
    let base = |mut v: VarId| {
        while let Some(&x) = base_of.get(&v) {
            v = x;
        }
        v
    };
    let roots: Vec<VarId> = unknowns
        .iter()
        .copied()
        .filter(|v| !base_of.contains_key(v))
        .collect();
    balance::check_balance(work, &roots, &base);
}

/// Substitution may have taken the last continuous unknown of an equation.
fn reclassify(work: &mut Work) {
    for k in 0..work.equations.len() {
        if work.equations[k].kind == Kind::Continuous {
            let (lhs, rhs) = (work.equations[k].lhs, work.equations[k].rhs);
            if !work
                .incidence(&[lhs, rhs])
                .iter()
                .any(|&v| work.class(v) == Class::Continuous)
            {
                work.equations[k].kind = Kind::Discrete;
            }
        }
    }
}

fn check_reinit(work: &mut Work, states: &FxHashSet<VarId>) {
    let mut errors = Vec::new();
    for guarded in &work.actions {
        if let Action::Reinit { var, .. } = guarded.action
            && !states.contains(&var)
            && work.class(var) != Class::Held
        {
            let name = work.name(var);
            errors.push(
                Diagnostic::error(
                    "reinit-of-non-state",
                    guarded.origin.span,
                    format!("`reinit` sets `{name}`, which is not a state"),
                )
                .help("only a variable whose derivative is in the equations, and that is not constrained, can be set"),
            );
        }
    }
    work.errors.extend(errors);
}

fn add_actions(work: &mut Work, event: &mut Vec<Step>) {
    for guarded in &work.actions {
        let guard = match work.flat.ir.as_boolean(guarded.event) {
            Some(false) => continue,
            Some(true) => None,
            None => Some(guarded.event),
        };
        event.push(Step::Action {
            guard,
            action: guarded.action.clone(),
            origin: guarded.origin,
        });
    }
}

/// By variable: the variable that is its derivative, where the derivative schedule determines it or it is a state.
fn rates(
    work: &Work,
    event: &[Step],
    derivatives: &[usize],
    states: &[(VarId, VarId, String)],
) -> Vec<Option<VarId>> {
    let mut known = vec![false; work.flat.variables.len()];
    for (state, _, _) in states {
        known[state.index()] = true;
    }
    for &k in derivatives {
        for v in schedule::determines(work, &event[k]) {
            known[v.index()] = true;
        }
    }
    let rate = |v: VarId| work.der.get(&v).copied().filter(|d| known[d.index()]);
    let mut rates: Vec<Option<VarId>> = work.flat.variables.ids().map(rate).collect();
    // What a set chooses among positions moves as what it chooses among speeds.
    for set in &work.state_sets {
        for pair in set.levels.windows(2) {
            let ((_, faster), (_, chosen)) = (&pair[0], &pair[1]);
            for (&v, &d) in chosen.iter().zip(faster) {
                rates[v.index()] = Some(d).filter(|d| known[d.index()]);
            }
        }
    }
    rates
}

fn finish(work: Work, parts: Parts) -> StructuredSystem {
    let n = work.flat.variables.len();
    let mut roles: Vec<Role> = Vec::with_capacity(n);
    for v in work.flat.variables.ids() {
        let role = match parts.aliases.of.get(v.index()) {
            Some(&(of, negated)) if of != v => Role::Alias { of, negated },
            _ => match work.class(v) {
                Class::Known
                    if work.flat.variables[v].variability
                        == saltus_ir::flat::Variability::Constant =>
                {
                    Role::Constant
                }
                Class::Known | Class::FreeParameter => Role::Parameter,
                Class::Input => Role::Input,
                Class::Continuous => Role::Algebraic,
                Class::Discrete => Role::Discrete,
                Class::Flag | Class::Held | Class::Delayed | Class::Unused => Role::Auxiliary,
            },
        };
        roles.push(role);
    }
    for &v in &work.auxiliary {
        if roles[v.index()] == Role::Discrete {
            roles[v.index()] = Role::Auxiliary;
        }
    }
    for &v in &work.relations {
        if roles[v.index()] == Role::Discrete {
            roles[v.index()] = Role::Relation;
        }
    }
    for (_, der, _) in &parts.states {
        roles[der.index()] = Role::Derivative;
    }
    for (state, _, _) in &parts.states {
        roles[state.index()] = Role::State;
    }
    let mut feeds_derivatives = parts.schedules.feeds_derivatives;
    feeds_derivatives.resize(n, false);
    let rates = rates(
        &work,
        &parts.event,
        &parts.schedules.derivatives,
        &parts.states,
    );
    StructuredSystem {
        roles,
        parameters: work.parameters,
        starts: parts.starts,
        states: parts.states.iter().map(|s| (s.0, s.1)).collect(),
        state_sets: work.state_sets,
        event: parts.event,
        derivatives: parts.schedules.derivatives,
        crossing_steps: parts.schedules.crossing_steps,
        outputs: parts.schedules.outputs,
        initial: parts.initial.steps,
        initial_notes: parts.initial.notes,
        initial_conditions: parts.initial.conditions,
        crossings: parts.crossings,
        time_events: work.time_events,
        delays: work.delays,
        initial_flag: None,
        terminal_flag: work.terminal_flag,
        homotopy: work.homotopy,
        inlined: work.inlined,
        feeds_derivatives,
        rates,
        n_equations: work.n_equations,
        n_unknowns: work.n_unknowns,
        state_reasons: parts.states.into_iter().map(|s| s.2).collect(),
        warnings: work.warnings,
        modes: parts.modes,
        restart: None,
        flat: work.flat,
    }
}
