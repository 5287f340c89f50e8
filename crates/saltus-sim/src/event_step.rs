//! The event step at (t, n), DESIGN 5.4. Nothing else writes `pre`, relations or reinitialised states.
//!
//! ```text
//! pre := v                                   left limits of everything, v⁻
//! set inputs and states that were given other values from outside, and the flags of sample and clocks due now, or of the end of the run
//! repeat
//!     run the sorted event system            relations and discrete variables are unknowns here and only here
//!     apply the reinits it asked for         x⁺; of what the mode constrains: a new left limit, from which the constraints may take it by a jump
//!     enter the mode that it selects         states of that mode, jumps and impulses that its constraints ask for
//!     if nothing changed: stop               no reinit moved a state, no mode was entered, every discrete slot equals its pre
//!     if the next pass repeats this one:     what passes read of the one before is unchanged (`System::event_repeats`);
//!         pre := v; n := n + 1; stop         it counts, and need not run
//!     pre := v                               for all slots at once; n := n + 1
//!     reset the flags of sample and clocks   they are true in the first pass only (specification 3.7.5)
//! reset the flags
//! ```
//! Every line has a test in `tests/event_step.rs`.

use crate::error::{Oscillation, Phase, SimError};
use crate::init::set_flag;
use crate::jump::enter_mode;
use crate::point::Mode;
use saltus_model::{Instance, ScheduleKind, Signal, Site, Slot, System, Values};
use saltus_solve::{Accuracy, Guess, Tolerances};

/// Passes of the event iteration. Models need a handful; a row of n elements that trigger each other needs n.
const ITERATIONS_MAX: u32 = 1000;
/// Passes whose values an error shows.
const SHOWN: usize = 6;

/// Whether `sample` flags and clock ticks take part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TimeFlags {
    /// Those due now are set.
    Due,
    /// The event goes on at the same instant; they have had their turn.
    Spent,
    /// The end of the run: they have had their turn, and `terminal()`, in this slot, is true in every pass.
    Terminal(Slot),
}

/// What an event step, with its continuations at the same instant, did. Kept for the next event, so that none allocates.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct EventStep {
    /// Length of the run, which tells the resolution of time near zero.
    pub(crate) span: f64,
    pub(crate) iterations: u32,
    /// States that a `reinit` or a jump gave a new value.
    pub(crate) reinitialised: Vec<Slot>,
    /// Those of the last pass.
    reinitialised_now: Vec<Slot>,
    /// What was an impulse when a mode was entered, with its weight.
    pub(crate) impulses: Vec<(Slot, f64)>,
    /// The modes entered.
    pub(crate) visited: Vec<u32>,
    pub(crate) terminate: Option<(Site, String)>,
    pub(crate) messages: Vec<(Site, String)>,
    /// Inputs that are to change at the next event, and those that did at the present one.
    pub(crate) inputs: Vec<(Slot, Signal)>,
    pub(crate) inputs_set: Vec<Slot>,
    /// States that are to be given other values at the next event.
    pub(crate) states: Vec<(Slot, f64)>,
    /// What the flags of `sample` and clocks have set, which left limits do not have; kept for models with modes only.
    flags: Vec<(Slot, f64)>,
}

impl EventStep {
    fn note_flags(&mut self, values: &Values) {
        let both = values.v.iter().zip(&values.pre).enumerate();
        let set = both.filter(|(_, (now, before))| now.to_bits() != before.to_bits());
        (self.flags).extend(set.map(|(i, (now, _))| (Slot(i as u32), *now)));
    }

    /// The left limits, with the flags of the event.
    pub(crate) fn return_to_left_limits(&self, values: &mut Values) {
        let Values { v, pre, .. } = values;
        v.copy_from_slice(pre);
        for (slot, value) in &self.flags {
            v[slot.index()] = *value;
        }
    }

    /// What a jump did is part of this event.
    pub(crate) fn add_jump(&mut self, jump: EventStep) {
        self.impulses.extend(jump.impulses);
        for slot in jump.reinitialised {
            if !self.reinitialised.contains(&slot) {
                self.reinitialised.push(slot);
            }
        }
    }

    /// A new event begins.
    pub(crate) fn clear(&mut self) {
        self.iterations = 0;
        self.inputs_set.clear();
        self.reinitialised.clear();
        self.impulses.clear();
        self.visited.clear();
        self.terminate = None;
        self.messages.clear();
    }
}

/// Carries out the event at `values.time()` and adds what it did to `step`. Before: `values.v` are the left limits. After: the
/// right limits.
pub(crate) fn event_step<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    flags: TimeFlags,
    step: &mut EventStep,
) -> Result<(), SimError> {
    let iterations_max = step.iterations + ITERATIONS_MAX;
    values.pre.copy_from_slice(&values.v);
    step.flags.clear();
    let mut ticks = false;
    match flags {
        TimeFlags::Due => {
            for (slot, signal) in step.inputs.drain(..) {
                values.set(slot, signal.at(values.time()));
                values.inputs.set(slot, signal);
                step.inputs_set.push(slot);
            }
            for (slot, value) in step.states.drain(..) {
                values.set(slot, value);
                step.reinitialised.push(slot);
            }
            ticks = instance.set_time_flags(values);
        }
        TimeFlags::Spent => {}
        TimeFlags::Terminal(slot) => values.set(slot, 1.0),
    }
    if flags != TimeFlags::Spent && instance.has_modes() {
        step.note_flags(values);
    }
    mode.driver.forget_factors();
    loop {
        step.iterations += 1;
        run_event_system(instance, mode, values, tolerances)?;
        let moved = apply_actions(values, step);
        let disturbed = moved && instance.has_modes() && constrained_reinit(instance, values, step);
        let entered = enter_mode(instance, mode, values, tolerances, disturbed, step)?;
        if !moved && !entered && discrete_unchanged(instance, values) {
            break;
        }
        if step.iterations == iterations_max {
            return Err(oscillation(instance, mode, values, tolerances));
        }
        let asked = moved || entered || ticks || instance.has_modes();
        let repeats = !asked && instance.system(values).event_repeats(values);
        values.pre.copy_from_slice(&values.v);
        if repeats {
            step.iterations += 1;
            break;
        }
        if std::mem::take(&mut ticks) {
            instance.clear_time_flags(values);
            step.flags.clear();
        }
    }
    instance.clear_time_flags(values);
    if let TimeFlags::Terminal(slot) = flags {
        set_flag(values, Some(slot), 0.0);
    }
    mode.put_back(values);
    mode.driver.forget_factors();
    Ok(())
}

#[inline]
fn run_event_system<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
) -> Result<(), SimError> {
    if instance.mode(values) != mode.number {
        mode.change(instance, values, tolerances);
    }
    let system = instance.system(values);
    values.actions.reinits.clear();
    mode.driver
        .run(
            system,
            ScheduleKind::Event,
            values,
            Accuracy::Tight,
            Guess::Current,
        )
        .map_err(|error| SimError::evaluation(values.time(), Phase::Event, error))
}

/// Carries out what the pass asked for; true if a state moved.
#[inline]
fn apply_actions(values: &mut Values, step: &mut EventStep) -> bool {
    !values.actions.is_empty() && apply_some(values, step)
}

fn apply_some(values: &mut Values, step: &mut EventStep) -> bool {
    let mut moved = false;
    let Values { v, actions, .. } = values;
    step.reinitialised_now.clear();
    for (slot, value) in actions.reinits.drain(..) {
        let now = &mut v[slot.index()];
        if *now != value {
            moved = true;
            *now = value;
            step.reinitialised_now.push(slot);
            if !step.reinitialised.contains(&slot) {
                step.reinitialised.push(slot);
            }
        }
    }
    step.messages.append(&mut actions.messages);
    if let Some(terminate) = actions.terminate.take() {
        step.terminate.get_or_insert(terminate);
    }
    moved
}

/// Whether a `reinit` of the last pass has set what is no state in the mode in use: a speed that a contact holds. The value is then that of the left limit, as if it had
/// been so just before.
fn constrained_reinit<I: Instance>(instance: &I, values: &mut Values, step: &EventStep) -> bool {
    let states = instance.system(values).states();
    let no_state = |slot: &&Slot| states.iter().all(|state| state.value != **slot);
    let constrained: Vec<Slot> = (step.reinitialised_now.iter())
        .filter(no_state)
        .copied()
        .collect();
    for slot in &constrained {
        values.pre[slot.index()] = values.get(*slot);
    }
    !constrained.is_empty()
}

fn discrete_unchanged<I: Instance>(instance: &I, values: &Values) -> bool {
    let same = |slot: &Slot| {
        let (now, before) = (values.v[slot.index()], values.pre[slot.index()]);
        now == before || now.is_nan() && before.is_nan()
    };
    instance.system(values).discrete_slots().iter().all(same)
}

/// Runs a few more passes to show what changes and how.
#[cold]
#[inline(never)]
fn oscillation<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
) -> SimError {
    let slots: Vec<Slot> = instance.system(values).discrete_slots().to_vec();
    let mut histories: Vec<Vec<f64>> = vec![Vec::new(); slots.len()];
    let mut ignored = EventStep::default();
    for _ in 0..SHOWN {
        for (history, slot) in histories.iter_mut().zip(&slots) {
            history.push(values.get(*slot));
        }
        values.pre.copy_from_slice(&values.v);
        if run_event_system(instance, mode, values, tolerances).is_err() {
            break;
        }
        apply_actions(values, &mut ignored);
    }
    let oscillating = (slots.into_iter().zip(histories))
        .filter(|(_, values)| values.windows(2).any(|pair| pair[0] != pair[1]))
        .map(|(slot, values)| Oscillation { slot, values })
        .chain(ignored.reinitialised.iter().map(|slot| Oscillation {
            slot: *slot,
            values: vec![values.get(*slot)],
        }))
        .collect();
    SimError::EventIteration {
        time: values.time(),
        iterations: ITERATIONS_MAX,
        oscillating,
    }
}
