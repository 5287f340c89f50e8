//! Entering a mode: if the values taken over do not meet its constraints, they jump, with impulses that the model's equations determine. A law of
//! restitution is such a jump within a mode.

use crate::choose::{Among, choose};
use crate::error::{Phase, SimError};
use crate::event_step::EventStep;
use crate::point::Mode;
use saltus_model::{
    ConstraintValue, Fault, FaultKind, Instance, ScheduleKind, Site, System, Values,
};
use saltus_solve::scale::{CONSTRAINT_BAND_REL, time_resolution};
use saltus_solve::{Accuracy, Driver, Guess, SolveError, Tolerances};

/// Modes that impulses refute, one after the other.
const REFUTED_MAX: usize = 16;
/// A mode that is met so often in one event without coming to rest is part of a circle.
const VISITS_MAX: usize = 3;

/// Enters the mode that the discrete variables select now; true if it is another one. `values.pre` are the left limits.
#[inline]
pub(crate) fn enter_mode<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    step: &mut EventStep,
) -> Result<bool, SimError> {
    if !instance.has_modes() {
        return Ok(false);
    }
    let time = values.time();
    enter(instance, mode, values, tolerances, step).map_err(|error| SimError::Evaluation {
        time,
        phase: Phase::Event,
        error,
    })
}

fn enter<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    step: &mut EventStep,
) -> Result<bool, SolveError> {
    let entered = instance.select_mode(values)?;
    let impacts = instance.impacts(values);
    if !entered && impacts.is_empty() {
        return Ok(false);
    }
    let mut is_circle = false;
    for _ in 0..REFUTED_MAX {
        let number = instance.mode(values);
        if number != mode.number {
            step.visited.push(number);
            is_circle = step.visited.iter().filter(|v| **v == number).count() >= VISITS_MAX;
        }
        if is_circle || instance.is_singular() {
            break;
        }
        match jump(instance, values, tolerances, &impacts, step)? {
            Jumped::Done => {
                if number != mode.number {
                    mode.change(instance, values, tolerances);
                }
                return Ok(true);
            }
            Jumped::Refuted => is_circle = !instance.select_mode(values)?,
        }
    }
    let (first, _) = instance.switches(values)?;
    let start = Values {
        v: values.pre.clone(),
        ..values.clone()
    };
    let mut attempt = |instance: &mut I, values: &mut Values| {
        let mut trial = EventStep::default();
        if let Jumped::Refuted = jump(instance, values, tolerances, &impacts, &mut trial)? {
            return Err(no_mode());
        }
        let mut mode = Mode::enter(instance, values, tolerances);
        pass(instance, &mut mode, values)?;
        Ok((mode, trial))
    };
    let mut onward = |instance: &I, mode: &mut Mode, values: &mut Values, ulps: f64| {
        let h = ulps * time_resolution(values.time(), 0.0);
        displace(instance, mode, values, h)?;
        pass(instance, mode, values)
    };
    let among = match is_circle {
        true => Among::All,
        false => Among::Regular,
    };
    let chosen = choose(instance, &start, &first, among, &mut attempt, &mut onward)?;
    let Some((found, at, trial)) = chosen else {
        instance.force_mode(&first, values)?;
        // The common structure knows no jumps.
        if !is_circle && impacts.is_empty() {
            mode.change(instance, values, tolerances);
            return Ok(true);
        }
        return Err(no_mode());
    };
    *values = at;
    mode.replace(found);
    step.impulses.extend(trial.impulses);
    step.reinitialised.extend(trial.reinitialised);
    Ok(true)
}

/// Moves the states, at unchanged time, to where the motion takes them within `h`, by the midpoint rule: a motion that begins at rest is seen by its
/// second derivative.
fn displace<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &mut Values,
    h: f64,
) -> Result<(), SolveError> {
    let system = instance.system(values);
    let mut middle = values.clone();
    middle.v[0] += 0.5 * h;
    for state in system.states() {
        let moved = values.get(state.value) + 0.5 * h * values.get(state.derivative);
        middle.set(state.value, moved);
    }
    let (accuracy, guess) = (Accuracy::Tight, Guess::Current);
    (mode.driver).run(
        system,
        ScheduleKind::Derivatives,
        &mut middle,
        accuracy,
        guess,
    )?;
    for state in system.states() {
        let moved = values.get(state.value) + h * middle.get(state.derivative);
        values.set(state.value, moved);
    }
    Ok(())
}

/// One pass of the event system in the mode in use.
fn pass<I: Instance>(instance: &I, mode: &mut Mode, values: &mut Values) -> Result<(), SolveError> {
    values.actions.reinits.clear();
    let system = instance.system(values);
    let (accuracy, guess) = (Accuracy::Tight, Guess::Current);
    (mode.driver).run(system, ScheduleKind::Event, values, accuracy, guess)
}

fn no_mode() -> SolveError {
    SolveError::Fault(Fault {
        recoverable: false,
        site: Site(0),
        kind: FaultKind::Mode {
            code: "no-consistent-mode",
            message: "no mode agrees with what follows from it".to_owned(),
            notes: Vec::new(),
        },
    })
}

enum Jumped {
    Done,
    /// Its impulses select another mode: `values` are the left limits, with discrete variables as the impulses make them.
    Refuted,
}

fn jump<I: Instance>(
    instance: &mut I,
    values: &mut Values,
    tolerances: Tolerances,
    impacts: &[usize],
    step: &mut EventStep,
) -> Result<Jumped, SolveError> {
    let violated = violated(instance, values, tolerances)?;
    if violated.is_empty() && impacts.is_empty() {
        return Ok(Jumped::Done);
    }
    let Some(jump) = instance.jump(&violated, impacts, values)? else {
        return Ok(Jumped::Done);
    };
    let Some((system, info)) = instance.jump_system(jump) else {
        return Ok(Jumped::Done);
    };
    let mut driver = Driver::new(system, instance.info(), tolerances);
    driver.accept(system, values);
    let (accuracy, guess) = (Accuracy::Tight, Guess::Current);
    driver.run(system, ScheduleKind::Event, values, accuracy, guess)?;
    if let Some(during) = instance.refuted(jump, values)? {
        values.v.copy_from_slice(&values.pre);
        // While the impulse lasts, an iteration of its own has come to these.
        for slot in instance.system(values).discrete_slots() {
            values.v[slot.index()] = during.get(*slot);
            values.pre[slot.index()] = during.get(*slot);
        }
        return Ok(Jumped::Refuted);
    }
    for slot in &info.moved {
        if !step.reinitialised.contains(slot) {
            step.reinitialised.push(*slot);
        }
    }
    let weights = (info.impulses.iter()).map(|&(v, weight)| (v, values.get(weight)));
    (step.impulses).extend(weights.filter(|(_, weight)| *weight != 0.0));
    instance.restore_states(values);
    Ok(Jumped::Done)
}

/// The constraints of the selected mode that do not hold.
fn violated<I: Instance>(
    instance: &I,
    values: &Values,
    tolerances: Tolerances,
) -> Result<Vec<usize>, Fault> {
    let mut constraints = Vec::new();
    instance.constraints(values, &mut constraints)?;
    let least = tolerances.negligible();
    let holds = |c: &ConstraintValue| c.residual.abs() <= CONSTRAINT_BAND_REL * c.magnitude + least;
    Ok((0..constraints.len())
        .filter(|&i| !holds(&constraints[i]))
        .collect())
}
