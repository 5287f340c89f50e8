//! Initial values: bind, solve the initial system, by homotopy where the model has it.
//!
//! Comes in: an instance and overrides, or the values of another run that is to go on. Goes out: values that fulfil the initial system, with `initial()` already false, ready
//! for the event iteration at the start time. Homotopy: λ goes from 0 (the simplified model) to 1 (the actual one) with a
//! step that adapts. A model with `homotopy` is always solved so: of several solutions of the actual equations (a bistable circuit) its author
//! means the one that the simplified model leads to. Where the path has no beginning or ends early, the actual equations are solved directly, and
//! the log says so.
//!
//! Start values that are not fixed and that the initial system uses as conditions are kept if it has a solution with them. If not, they are released, the
//! least trusted first, and changed as little as the equations ask for; likewise where equations do not determine their unknowns
//! ([`saltus_solve::released`]; paper 001, sections 4 to 6). Conditions beyond those that determine everything must hold: then they are redundant.

use crate::choose::{Among, Tried, choose};
use crate::error::{Phase, SimError};
use crate::inline::Inline;
use crate::jump::{go_onward, no_mode};
use crate::options::{Options, StartPoint};
use crate::point::Mode;
use crate::record::{NoteRecord, Recorder};
use saltus_model::{
    BlockId, Fault, FaultKind, InitialConditions, Inputs, Instance, ModelInfo, ScheduleKind, Site,
    Slot, SlotRole, System, Values,
};
use saltus_solve::released::{checks_hold, unmet};
use saltus_solve::scale::{CONSISTENT_REL, ONWARD_ULPS, time_resolution};
use saltus_solve::{
    Accuracy, Contradiction, Driver, Effort, Guess, NotReleased, Released, SolveError, Tolerances,
};
use std::cell::{Cell, RefCell};

/// First and largest step of λ.
const HOMOTOPY_STEP_FIRST: f64 = 0.1;
const HOMOTOPY_STEP_MAX: f64 = 0.5;
/// Modes that values of another run are tried in.
const MODES_TRIED_MAX: usize = 8;
/// Below this step of λ the continuation has failed.
const HOMOTOPY_STEP_MIN: f64 = 1e-5;

pub(crate) fn initialise<I: Instance>(
    instance: &mut I,
    options: &Options,
    tolerances: Tolerances,
    recorder: &mut dyn Recorder,
    inline: Option<&Inline>,
    used: Option<(Mode, Values)>,
) -> Result<(Mode, Values), SimError> {
    let (start_time, overrides) = (options.start_time, &options.overrides);
    let (used, mut values) = match used {
        None => {
            let values = instance.bind(start_time, overrides);
            (None, values.map_err(SimError::Bind)?)
        }
        Some((mode, mut values)) => {
            let bound = instance.bind_again(start_time, overrides, &mut values);
            bound.map_err(SimError::Bind)?;
            (Some(mode), values)
        }
    };
    values.inputs = Inputs::default();
    for (slot, signal) in &options.inputs {
        set_flag(&mut values, Some(*slot), signal.at(start_time));
        values.inputs.set(*slot, signal.clone());
    }
    values.v[0] = options.start_time;
    values.pre[0] = options.start_time;
    set_flag(&mut values, instance.info().initial, 1.0);
    set_flag(&mut values, instance.info().homotopy, 1.0);
    if let Some(inline) = inline {
        inline.prepare(&mut values);
    }
    let failed = |error| SimError::Evaluation {
        time: start_time,
        phase: Phase::Initial,
        error,
    };
    let mut mode = match used {
        Some(mode) if mode.number == instance.mode(&values) => mode,
        _ => Mode::enter(instance, &values, tolerances),
    };
    if let StartPoint::Values(known) = &options.start {
        set_flag(&mut values, instance.info().initial, 0.0);
        go_on(instance, &mut mode, &mut values, tolerances, known, inline).map_err(failed)?;
        mode.driver.forget_factors();
        mode.driver.accept(instance.system(&values), &values);
        return Ok((mode, values));
    }
    if !instance.has_modes() {
        solve_initial(instance, &mut mode, &mut values, recorder, Guesses::Release)
            .map_err(failed)?;
    } else {
        let first = instance.selected_switches().to_vec();
        let start = values;
        let mut cause = None;
        let guesses = Cell::new(Guesses::Keep);
        let remembered = RefCell::new(None);
        let mut attempt = |instance: &mut I, values: &mut Values| {
            let mut mode = Mode::enter(instance, values, tolerances);
            match solve_initial(instance, &mut mode, values, recorder, guesses.get()) {
                Ok(()) => {
                    let mut first = remembered.borrow_mut();
                    if first.is_none()
                        && !instance.is_singular()
                        && is_remembered(instance, values)?
                    {
                        *first = Some((instance.selected_switches().to_vec(), values.clone()));
                    }
                    Ok(Tried::Entered(mode, ()))
                }
                Err(error) => {
                    cause.get_or_insert_with(|| error.clone());
                    Err(error)
                }
            }
        };
        let resolution = time_resolution(start_time, options.span());
        let mut onward = |instance: &I, mode: &mut Mode, values: &mut Values, ulps: f64| {
            set_flag(values, instance.info().initial, 0.0);
            values.pre.copy_from_slice(&values.v);
            go_onward(instance, mode, values, ulps * resolution)?;
            // What the model does at an event belongs to the one that follows.
            if values.actions.reinits.is_empty() {
                Ok(())
            } else {
                Err(no_mode())
            }
        };
        let mut chosen = Ok(None);
        // Start values give way only if no mode agrees with them.
        let extents = [Guesses::Keep, Guesses::Release]
            .into_iter()
            .flat_map(|then| ONWARD_ULPS.iter().map(move |&ulps| (then, ulps)))
            .flat_map(|(then, ulps)| [(then, (Among::Regular, ulps)), (then, (Among::All, ulps))]);
        for (then, extent) in extents {
            guesses.set(then);
            chosen = choose(instance, &start, &first, extent, &mut attempt, &mut onward);
            if !matches!(chosen, Ok(None)) {
                break;
            }
        }
        if let (Ok(None), Some(found)) = (&chosen, remembered.take()) {
            guesses.set(Guesses::Keep);
            chosen = from_memory(instance, &start, found, &mut attempt);
        }
        match chosen.map_err(|fault| failed(SolveError::Fault(fault)))? {
            Some((found, at, ())) => {
                (mode, values) = (found, at);
                // Ticks of this instant are still to come.
                set_flag(&mut values, Some(Slot(0)), start_time);
            }
            None => {
                return Err(match cause {
                    Some(error) => failed(error),
                    None => SimError::InitialMode { time: start_time },
                });
            }
        }
    }
    set_flag(&mut values, instance.info().initial, 0.0);
    mode.driver.forget_factors();
    mode.driver.accept(instance.system(&values), &values);
    Ok((mode, values))
}

/// Whether the values of `pre` select the mode in use.
fn is_remembered<I: Instance>(instance: &I, values: &Values) -> Result<bool, Fault> {
    let mut remembered = values.clone();
    for (i, slot) in instance.info().slots.iter().enumerate() {
        if slot.role == SlotRole::Discrete {
            remembered.v[i] = remembered.pre[i];
        }
    }
    for &(slot, pre) in &instance.system(values).initial_conditions().memory {
        remembered.set(slot, values.get(pre));
    }
    let (kept, live) = instance.switches(&remembered)?;
    let selected = instance.selected_switches();
    Ok((live.iter()).all(|&i| kept[i as usize] == selected[i as usize]))
}

/// The initial values from which the event iteration leads on, where no mode agrees with its own: a model may need a pass with new values of `pre` to leave
/// the mode that its memory selects. A block is at rest (`pre(mode) = 0`), the force of the constraint is above the limit and asks for sliding,
/// whose own force, with the same `pre(mode)`, asks for rest again. The mode that the values of `pre` select is taken, if the one that it asks for has the
/// same states at the start: then only the discrete part is between them, and the event at the start time decides as any other does.
fn from_memory<I: Instance>(
    instance: &mut I,
    start: &Values,
    (remembered, values): (Vec<bool>, Values),
    attempt: &mut dyn FnMut(&mut I, &mut Values) -> Result<Tried<()>, SolveError>,
) -> Result<Option<(Mode, Values, ())>, Fault> {
    let (asked, _) = instance.switches(&values)?;
    let mut solved = |instance: &mut I, switches: &[bool]| -> Result<_, Fault> {
        let mut values = start.clone();
        match instance.force_mode(switches, &mut values) {
            Err(fault) if matches!(fault.kind, FaultKind::Mode { .. }) => return Ok(None),
            other => other?,
        }
        if instance.is_singular() {
            return Ok(None);
        }
        Ok(match attempt(instance, &mut values) {
            Ok(Tried::Entered(mode, ()) | Tried::Good(mode, ())) => Some((mode, values)),
            Ok(Tried::Elsewhere) | Err(_) => None,
        })
    };
    let Some((_, there)) = solved(instance, &asked)? else {
        return Ok(None);
    };
    let same = |slot: Slot| {
        let (a, b) = (values.get(slot), there.get(slot));
        (a - b).abs() <= CONSISTENT_REL * a.abs().max(b.abs()).max(1.0)
    };
    let states = instance.system(&there).states();
    if !states.iter().all(|state| same(state.value)) {
        return Ok(None);
    }
    let found = solved(instance, &remembered)?;
    Ok(found.map(|(mode, values)| (mode, values, ())))
}

/// Values of another run. What it does not tell of the discrete part (relations, conditions of when-clauses) is what the event system
/// makes of the rest: nothing has just become true.
fn go_on<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    known: &[(Slot, f64)],
    inline: Option<&Inline>,
) -> Result<(), SolveError> {
    for &(slot, value) in known {
        set_flag(values, Some(slot), value);
    }
    if let Some(inline) = inline {
        inline.begin_at_values(values);
    }
    // Values of an accepted point belong to a mode; which one may show only when relations are known.
    let mut trial = values.clone();
    for _ in 0..MODES_TRIED_MAX {
        if instance.select_mode(&mut trial)? {
            *mode = Mode::enter(instance, &trial, tolerances);
            values.v.resize(trial.v.len(), 0.0);
            values.pre.resize(trial.v.len(), 0.0);
        }
        instance.restore_states(values);
        trial.clone_from(values);
        (mode.driver).run(
            instance.system(&trial),
            ScheduleKind::Event,
            &mut trial,
            Accuracy::Tight,
            Guess::Current,
        )?;
        if !instance.has_modes() || !instance.select_mode(&mut trial)? {
            break;
        }
        *mode = Mode::enter(instance, &trial, tolerances);
    }
    for (i, slot) in instance.info().slots.iter().enumerate() {
        let derived = matches!(
            slot.role,
            SlotRole::Relation | SlotRole::Auxiliary | SlotRole::Algebraic | SlotRole::Derivative
        );
        if derived {
            values.v[i] = trial.v[i];
            values.pre[i] = trial.v[i];
        }
    }
    // Relations that are variables of the result were told.
    for &(slot, value) in known {
        set_flag(values, Some(slot), value);
    }
    values.actions = Default::default();
    Ok(())
}

/// What becomes of start values that serve as conditions, without being fixed, if there is no solution with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Guesses {
    Keep,
    Release,
}

/// Solves the initial system of a mode.
fn solve_initial<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &mut Values,
    recorder: &mut dyn Recorder,
    guesses: Guesses,
) -> Result<(), SolveError> {
    let system = instance.system(values);
    let conditions = system.initial_conditions();
    if conditions.checks.is_empty() && !mode.driver.has_blocks() {
        // Everything follows from the start values by formulas.
        return keep_guesses(instance, mode, values, recorder);
    }
    let start = values.clone();
    let kept = keep_guesses(instance, mode, values, recorder);
    let error = match kept {
        Ok(()) if checks_hold(conditions, values) => {
            // Of the many solutions the one nearest to the start values.
            let mut nearest = start;
            if !undetermined(system, &mode.driver).is_empty()
                && release(instance.info(), system, mode, &mut nearest, &[]).is_ok()
            {
                *values = nearest;
            }
            return Ok(());
        }
        Ok(()) => None,
        Err(error) if may_release(&error) => Some(error),
        Err(error) => return Err(error),
    };
    if guesses == Guesses::Keep {
        let unmet = || SolveError::Contradiction(Box::new(unmet(conditions, values)));
        return Err(error.unwrap_or_else(unmet));
    }
    let mut ranks: Vec<u32> = conditions.guesses.iter().map(|g| g.1).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let mut released: Vec<Slot> = Vec::new();
    let mut contradiction = None;
    for rank in std::iter::once(None).chain(ranks.into_iter().rev().map(Some)) {
        let of_rank = conditions.guesses.iter().filter(|g| Some(g.1) == rank);
        released.extend(of_rank.map(|g| g.0));
        let mut found = start.clone();
        match release(instance.info(), system, mode, &mut found, &released) {
            Ok(changed) => {
                *values = found;
                recorder.note(&NoteRecord::Released {
                    moved: changed.moved,
                });
                return Ok(());
            }
            Err(NotReleased::Contradiction(found)) => contradiction = Some(found),
            Err(NotReleased::Unsolved) => {}
        }
    }
    Err(match (error, contradiction) {
        (None, None) => SolveError::Contradiction(Box::new(unmet(conditions, values))),
        (None, Some(found)) => SolveError::Contradiction(found),
        (Some(SolveError::Linear(_)), Some(found))
            if concerns_start(instance.info(), conditions, &found) =>
        {
            SolveError::Contradiction(found)
        }
        (Some(SolveError::Newton(mut failure)), _) => {
            failure.released = released;
            SolveError::Newton(failure)
        }
        (Some(error), _) => error,
    })
}

/// Blocks that do not determine their unknowns, some of which have start values.
fn undetermined<S: System>(system: &S, driver: &Driver) -> Vec<BlockId> {
    let started = &system.initial_conditions().started;
    (driver.undetermined_initially().into_iter())
        .filter(|&block| {
            let block = system.block(block);
            let mut all = block.unknowns.iter().chain(&block.determines);
            all.any(|slot| started.binary_search(slot).is_ok())
        })
        .collect()
}

/// Solves with start values released, and with blocks open that do not determine their unknowns, also those that only then show it.
fn release<S: System>(
    info: &ModelInfo,
    system: &S,
    mode: &mut Mode,
    values: &mut Values,
    released: &[Slot],
) -> Result<Released, NotReleased> {
    let open = undetermined(system, &mode.driver);
    let mut first = values.clone();
    let found = (mode.driver).solve_released(system, info, &mut first, &open, released)?;
    let more = undetermined(system, &mode.driver);
    if more.len() > open.len()
        && let Ok(found) = (mode.driver).solve_released(system, info, values, &more, released)
    {
        return Ok(found);
    }
    *values = first;
    Ok(found)
}

/// Whether initial equations or start values take part, not the equations of the model alone.
fn concerns_start(info: &ModelInfo, conditions: &InitialConditions, found: &Contradiction) -> bool {
    let place = |site: &Site| {
        let site = &info.sites[site.0 as usize];
        (&site.file, site.line, site.column)
    };
    let stated: Vec<_> = conditions.equations.iter().map(place).collect();
    (found.violated.iter()).any(|v| v.sides.is_some() || stated.contains(&place(&v.site)))
        || found
            .others
            .iter()
            .any(|site| stated.contains(&place(site)))
}

/// The equations have no solution near the start values; what the model states by `assert` no start value should evade.
fn may_release(error: &SolveError) -> bool {
    match error {
        SolveError::Newton(_) | SolveError::Linear(_) | SolveError::NonFinite { .. } => true,
        SolveError::Fault(fault) => matches!(
            fault.kind,
            FaultKind::Domain { .. } | FaultKind::NonFinite { .. }
        ),
        SolveError::Mixed(_)
        | SolveError::NonFiniteDerivative { .. }
        | SolveError::Contradiction(_) => false,
    }
}

/// Solves the initial system with all start values that it uses as conditions.
fn keep_guesses<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &mut Values,
    recorder: &mut dyn Recorder,
) -> Result<(), SolveError> {
    let led = match instance.info().homotopy {
        None => false,
        Some(lambda) => {
            let start = values.clone();
            let led = continuation(instance, mode, values, lambda);
            if !led {
                *values = start;
            }
            led
        }
    };
    if !led {
        solve(instance, mode, values)?;
        if instance.info().homotopy.is_some() {
            recorder.note(&NoteRecord::NoHomotopy);
        }
    }
    Ok(())
}

/// Sets a slot on both sides, so that it is no change of its own.
pub(crate) fn set_flag(values: &mut Values, slot: Option<Slot>, value: f64) {
    if let Some(slot) = slot {
        values.v[slot.index()] = value;
        values.pre[slot.index()] = value;
    }
}

fn solve<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &mut Values,
) -> Result<(), SolveError> {
    let system = instance.system(values);
    values.actions.reinits.clear();
    mode.driver.run(
        system,
        ScheduleKind::Initial,
        values,
        Accuracy::Tight,
        Guess::Current,
    )
}

/// Follows the solution from λ = 0 to λ = 1; false if it got stuck. A step that does not converge from where the last one ended is made smaller
/// at once: a solution found elsewhere would not be on the path.
fn continuation<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &mut Values,
    slot: Slot,
) -> bool {
    set_flag(values, Some(slot), 0.0);
    let start = values.clone();
    mode.driver.set_effort(Effort::Once);
    let begins = solve(instance, mode, values).is_ok();
    mode.driver.set_effort(Effort::Full);
    if !begins {
        *values = start;
        if solve(instance, mode, values).is_err() {
            return false;
        }
    }
    mode.driver.set_effort(Effort::Once);
    let ends = follow(instance, mode, values, slot);
    mode.driver.set_effort(Effort::Full);
    ends && solve(instance, mode, values).is_ok()
}

fn follow<I: Instance>(instance: &I, mode: &mut Mode, values: &mut Values, slot: Slot) -> bool {
    let (mut lambda, mut step) = (0.0f64, HOMOTOPY_STEP_FIRST);
    while lambda < 1.0 {
        let next = (lambda + step).min(1.0);
        let good = values.clone();
        mode.driver.accept(instance.system(values), values);
        set_flag(values, Some(slot), next);
        if solve(instance, mode, values).is_ok() {
            lambda = next;
            step = (2.0 * step).min(HOMOTOPY_STEP_MAX);
        } else {
            *values = good;
            step *= 0.5;
            if step < HOMOTOPY_STEP_MIN {
                return false;
            }
        }
    }
    true
}
