//! Entering a mode: if the values taken over do not meet its constraints, they jump, with impulses that the model's equations determine. A law of
//! restitution is such a jump within a mode.

use crate::choose::{Among, Tried, choose};
use crate::error::{Phase, SimError};
use crate::event_step::EventStep;
use crate::point::Mode;
use saltus_model::{
    ConstraintValue, DuringImpulse, Fault, FaultKind, Instance, ScheduleKind, Site, Slot, SlotRole,
    System, Values,
};
use saltus_solve::scale::{CONSTRAINT_BAND_REL, EPS, ONWARD_ULPS, time_resolution};
use saltus_solve::{Accuracy, Driver, Guess, SolveError, Tolerances};
use std::cell::RefCell;

/// Modes that impulses refute, one after the other.
const REFUTED_MAX: usize = 16;
/// Modes that follow each other after a jump without another one.
const SETTLE_MAX: usize = 8;
/// Different values of the discrete variables that trials have asked for.
const SEEN_MAX: usize = 32;
/// A mode that is met so often in one event without coming to rest is part of a circle.
const VISITS_MAX: usize = 3;

/// Enters the mode that the discrete variables select now; true if it is another one. `values.pre` are the left limits. `disturbed`: something has set
/// a quantity that the mode in use constrains, so that its constraints may not hold.
#[inline]
pub(crate) fn enter_mode<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    disturbed: bool,
    step: &mut EventStep,
) -> Result<bool, SimError> {
    if !instance.has_modes() {
        return Ok(false);
    }
    let time = values.time();
    enter(instance, mode, values, tolerances, disturbed, step).map_err(|error| {
        SimError::Evaluation {
            time,
            phase: Phase::Event,
            error,
        }
    })
}

fn enter<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    disturbed: bool,
    step: &mut EventStep,
) -> Result<bool, SolveError> {
    let entered = instance.select_mode(values)?;
    let impacts = instance.impacts(values);
    if !entered && impacts.is_empty() && !disturbed {
        return Ok(false);
    }
    let mut is_circle = false;
    // A jump whose right limits ask for yet another mode.
    let mut hasty = None;
    for _ in 0..REFUTED_MAX {
        let number = instance.mode(values);
        if number != mode.number {
            step.visited.push(number);
            is_circle = step.visited.iter().filter(|v| **v == number).count() >= VISITS_MAX;
        }
        if is_circle || instance.is_singular() {
            break;
        }
        let mut trial = EventStep::default();
        match jump(instance, values, tolerances, &impacts, step, &mut trial)? {
            Jumped::Done => {
                if impacts.is_empty() && !trial.reinitialised.is_empty() {
                    let selected = instance.selected_switches().to_vec();
                    let settles = settles(instance, &mut values.clone(), tolerances)?;
                    instance.force_mode(&selected, values)?;
                    if !settles {
                        hasty = Some((values.clone(), trial));
                        break;
                    }
                }
                if number != mode.number {
                    mode.change(instance, values, tolerances);
                }
                step.add_jump(trial);
                return Ok(true);
            }
            Jumped::Refuted => is_circle = !instance.select_mode(values)?,
        }
    }
    let is_hasty = hasty.is_some();
    let (mut first, _) = instance.switches(values)?;
    if is_hasty {
        first = instance.selected_switches().to_vec();
    }
    let mut start = values.clone();
    step.return_to_left_limits(&mut start);
    let memory = RefCell::new(Memory::new(instance, values));
    let mut attempt = |instance: &mut I, values: &mut Values| {
        let mut trial = EventStep::default();
        if !is_hasty {
            memory.borrow_mut().select(instance, values)?;
        }
        if let Jumped::Refuted = jump(instance, values, tolerances, &impacts, step, &mut trial)? {
            memory.borrow_mut().see(values);
            return Ok(Tried::Elsewhere);
        }
        let mut mode = Mode::enter(instance, values, tolerances);
        if is_hasty {
            let candidate = instance.selected_switches().to_vec();
            let mut after = values.clone();
            if !settles(instance, &mut after, tolerances)? {
                *values = after;
                return Ok(Tried::Elsewhere);
            }
            // What follows without a jump is for the next pass.
            instance.force_mode(&candidate, values)?;
            return Ok(Tried::Good(mode, trial));
        }
        pass(instance, &mut mode, values)?;
        memory.borrow_mut().see(values);
        Ok(Tried::Entered(mode, trial))
    };
    let (time, span) = (values.time(), step.span);
    let mut onward = |instance: &I, mode: &mut Mode, values: &mut Values, ulps: f64| {
        memory.borrow().put(values);
        go_onward(instance, mode, values, ulps * time_resolution(time, span))
    };
    let among = match is_circle {
        true => Among::All,
        false => Among::Regular,
    };
    let mut chosen = None;
    for ulps_max in ONWARD_ULPS {
        let extent = (among, ulps_max);
        chosen = choose(instance, &start, &first, extent, &mut attempt, &mut onward)?;
        if chosen.is_some() {
            break;
        }
    }
    let Some((found, at, trial)) = chosen else {
        instance.force_mode(&first, values)?;
        if let Some((jumped, trial)) = hasty {
            // One after the other, then.
            *values = jumped;
            mode.change(instance, values, tolerances);
            step.add_jump(trial);
            return Ok(true);
        }
        // The common structure knows no jumps.
        if !is_circle && impacts.is_empty() {
            mode.change(instance, values, tolerances);
            return Ok(true);
        }
        return Err(no_mode());
    };
    *values = at;
    mode.replace(found);
    step.add_jump(trial);
    Ok(true)
}

/// The discrete variables that go with a candidate. A model that remembers its mode (`mode = if pre(mode) == 1 then … else …`) has conditions of its own in
/// each; a candidate is to meet those of the mode that it is, as after a pass of the event iteration. Only values that passes have asked for count.
struct Memory {
    slots: Vec<Slot>,
    /// Values of these, as passes have left them.
    seen: Vec<Vec<f64>>,
    /// Those of the last candidate, if there are such.
    selected: Option<Vec<f64>>,
}

impl Memory {
    fn new<I: Instance>(instance: &I, asked: &Values) -> Memory {
        let slots = &instance.info().slots;
        let discrete = |i: &usize| slots[*i].role == SlotRole::Discrete;
        let mut memory = Memory {
            slots: (0..slots.len())
                .filter(discrete)
                .map(|i| Slot(i as u32))
                .collect(),
            seen: Vec::new(),
            selected: None,
        };
        memory.see(asked);
        memory
    }

    fn of(&self, values: &Values) -> Vec<f64> {
        self.slots.iter().map(|slot| values.get(*slot)).collect()
    }

    /// The candidate moves with its own discrete variables, not with those that it asks for.
    fn put(&self, values: &mut Values) {
        for (slot, value) in self.slots.iter().zip(self.selected.iter().flatten()) {
            values.set(*slot, *value);
            values.pre[slot.index()] = *value;
        }
    }

    fn see(&mut self, values: &Values) {
        let now = self.of(values);
        if self.seen.len() < SEEN_MAX && !self.seen.contains(&now) {
            self.seen.push(now);
        }
    }

    /// Gives the discrete variables, now and before, values that select the mode in use, if such have been seen: all of a pass, or one after the other, each that
    /// brings it nearer.
    fn select<I: Instance>(&mut self, instance: &I, values: &mut Values) -> Result<(), Fault> {
        let selected = instance.selected_switches();
        let away = |values: &Values| -> Result<usize, Fault> {
            let (now, live) = instance.switches(values)?;
            let differs = |&&i: &&u32| now[i as usize] != selected[i as usize];
            Ok(live.iter().filter(differs).count())
        };
        let mut trial = values.clone();
        let mut least = away(&trial)?;
        for seen in &self.seen {
            if least == 0 {
                break;
            }
            let mut whole = values.clone();
            for (slot, value) in self.slots.iter().zip(seen) {
                whole.set(*slot, *value);
                whole.pre[slot.index()] = *value;
            }
            if away(&whole)? == 0 {
                (trial, least) = (whole, 0);
            }
        }
        for seen in &self.seen {
            for (slot, value) in self.slots.iter().zip(seen) {
                let before = trial.get(*slot);
                if least == 0 || before == *value {
                    continue;
                }
                trial.set(*slot, *value);
                let now = away(&trial)?;
                if now < least {
                    least = now;
                    trial.pre[slot.index()] = *value;
                } else {
                    trial.set(*slot, before);
                }
            }
        }
        self.selected = (least == 0).then(|| self.of(&trial));
        if least == 0 {
            *values = trial;
        }
        Ok(())
    }
}

/// After a jump: whether passes of the event system lead from mode to mode without another one. Quantities that an impulse has brought to a
/// limit may leave it at once; where two modes ask for each other, what follows decides between them. If not, the values select the
/// mode that would need a jump.
fn settles<I: Instance>(
    instance: &mut I,
    values: &mut Values,
    tolerances: Tolerances,
) -> Result<bool, SolveError> {
    let mut seen = Vec::new();
    for _ in 0..SETTLE_MAX {
        let mut mode = Mode::enter(instance, values, tolerances);
        if seen.contains(&mode.number) {
            return Ok(true);
        }
        seen.push(mode.number);
        pass(instance, &mut mode, values)?;
        if !instance.select_mode(values)? {
            return Ok(true);
        }
        values.pre.copy_from_slice(&values.v);
        if instance.is_singular() || !violated(instance, values, tolerances)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Goes on by `h`, and carries out a pass of the event system there.
pub(crate) fn go_onward<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &mut Values,
    h: f64,
) -> Result<(), SolveError> {
    displace(instance, mode, values, h)?;
    pass(instance, mode, values)
}

/// Orders of the motion that a trial step shows.
const ORDERS: u32 = 4;

/// Moves time and states to where the motion takes them within `h`, by backward Euler, whose power series has the derivatives as coefficients: the first that is
/// not zero gives the sign, also that of a motion that begins at rest under a force that grows. The iteration x ← x₀ + h f(t + h, x) adds an order each time.
fn displace<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &mut Values,
    h: f64,
) -> Result<(), SolveError> {
    let system = instance.system(values);
    let mut there = values.clone();
    there.v[0] += h;
    for order in 1..=ORDERS {
        for state in system.states() {
            let moved = values.get(state.value) + h * there.get(state.derivative);
            there.set(state.value, moved);
        }
        if order < ORDERS {
            let (accuracy, guess) = (Accuracy::Tight, Guess::Current);
            let kind = ScheduleKind::Derivatives;
            (mode.driver).run(system, kind, &mut there, accuracy, guess)?;
        }
    }
    values.v[0] = there.v[0];
    for state in system.states() {
        values.set(state.value, there.get(state.value));
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

pub(crate) fn no_mode() -> SolveError {
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
    event: &EventStep,
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
    let left = values.clone();
    for pass in 0..REFUTED_MAX {
        driver.run(system, ScheduleKind::Event, values, accuracy, guess)?;
        let at_zero = zero_throughout(instance, values, tolerances);
        let (during, refuted) = match instance.during_impulse(jump, values, &at_zero)? {
            DuringImpulse::Agrees => break,
            DuringImpulse::Within(during) => (during, false),
            DuringImpulse::OtherMode(during) => (during, true),
        };
        if refuted {
            event.return_to_left_limits(values);
        } else if pass + 1 < REFUTED_MAX {
            // The same mode with other branches: friction that takes no impulse in one of its branches.
            values.clone_from(&left);
        } else {
            return Err(no_mode());
        }
        // While the impulse lasts, an iteration of its own has come to these.
        for slot in instance.system(values).discrete_slots() {
            values.v[slot.index()] = during.get(*slot);
            if refuted {
                values.pre[slot.index()] = during.get(*slot);
            }
        }
        if refuted {
            return Ok(Jumped::Refuted);
        }
        driver.forget_factors();
    }
    // After the impulse relations are those of the values again.
    for slot in instance.system(values).discrete_slots() {
        values.v[slot.index()] = left.get(*slot);
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

/// By how much states are moved to see what stays at zero, in units of their size.
const ELSEWHERE_REL: f64 = 1e-2;

/// The crossing functions that are zero in the selected mode, wherever its states are: the voltage of a diode that conducts.
fn zero_throughout<I: Instance>(
    instance: &I,
    values: &Values,
    tolerances: Tolerances,
) -> Vec<bool> {
    let system = instance.system(values);
    let n = system.crossings().len();
    let mut mode = Mode::enter(instance, values, tolerances);
    let mut at = |part: f64, r: &mut [f64]| {
        let mut there = elsewhere(instance, &mut mode, values, part)?;
        Ok::<(), SolveError>(system.eval_crossings(&mut there, r)?)
    };
    let (mut here, mut there) = (vec![0.0; n], vec![0.0; n]);
    match at(0.0, &mut here).and_then(|()| at(ELSEWHERE_REL, &mut there)) {
        Ok(()) => (here.iter().zip(&there))
            .map(|(a, b)| *a == 0.0 && *b == 0.0)
            .collect(),
        // What cannot be evaluated elsewhere is not known to be zero there.
        Err(_) => vec![false; n],
    }
}

/// What the mode in use determines where its states are others.
fn elsewhere<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &Values,
    part: f64,
) -> Result<Values, SolveError> {
    let mut there = values.clone();
    for (k, state) in instance.system(values).states().iter().enumerate() {
        let x = values.get(state.value);
        // Each another way.
        let way = part * (1.0 + (k % 7) as f64);
        there.set(state.value, x + way * x.abs().max(1.0));
    }
    pass(instance, mode, &mut there)?;
    Ok(there)
}

/// Residuals of round-off, in units of it.
const HINGE_ULPS: f64 = 64.0;

/// The switches of these with whose other branches the equations of the mode in use hold too, wherever its states are: a diode that conducts no current because
/// nothing drives one. Such a mode is the limit of both branches, and its motion one of the model's, whichever of them the conditions select at zero.
pub(crate) fn hinged<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &Values,
    switches: &[u32],
) -> Vec<u32> {
    let system = instance.system(values);
    let largest = (system.states().iter()).fold(1.0f64, |m, s| m.max(values.get(s.value).abs()));
    let hinges = elsewhere(instance, mode, values, ELSEWHERE_REL)
        .and_then(|there| Ok(instance.hinges(&there)?))
        // What cannot be evaluated elsewhere is not known to hold there.
        .unwrap_or_default();
    let flat = |&(_, r, size): &(u32, f64, f64)| r.abs() <= HINGE_ULPS * EPS * (size + largest);
    let both = |i: &u32| {
        let mut own = hinges.iter().filter(|hinge| hinge.0 == *i).peekable();
        own.peek().is_some() && own.all(flat)
    };
    switches.iter().copied().filter(both).collect()
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
