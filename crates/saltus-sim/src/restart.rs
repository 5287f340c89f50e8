//! Consistent restart: which side a function at zero takes (DESIGN 5.3), and whether the integrator restarts (DESIGN 5.5).
//!
//! After an event a crossing function may be zero, or not zero only by round-off, on the side that the motion is about to leave: a
//! ball has bounced at x = -1e-17 and moves up. Its relation would change within the resolution of time. The motion decides: if
//! a trial step of a few units of time resolution takes the function to the other side, and it is still there after a longer one,
//! the state is moved by the short one (at unchanged time) and the event goes on, so that the relation holds what it holds at
//! t⁺. Otherwise nothing happens, and a change at a later time is an event of its own.

use crate::error::SimError;
use crate::event_step::{EventStep, TimeFlags, event_step};
use crate::point::{Mode, gather, gather_derivatives, scatter};
use saltus_model::{Fault, Instance, ScheduleKind, Slot, System, Values};
use saltus_solve::roots::Change;
use saltus_solve::scale::{CONFIRM_ULPS, REST_BAND_REL, RESTART_ULPS, nominal_magnitude};
use saltus_solve::{Accuracy, Discontinuity, Guess, SolveError, Tolerances};

/// A function that changes by less than this many times its jump between neighbouring times does not show where it goes …
const ROUND_OFF_SHOWN: f64 = 4.0;
/// … and the trial step is made so many times longer, so many times.
const LONGER: f64 = 8.0;
const LENGTHS: u32 = 7;
/// A function that really moves changes by more than this many times as much in the longer step; round-off does not.
const GROWTH_SHOWN: f64 = 4.0;

/// Work space of [`settle`], kept between events.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Settling {
    x: Vec<f64>,
    dx: Vec<f64>,
    dx_half: Vec<f64>,
    /// The trial point.
    along: Vec<f64>,
    r: Vec<f64>,
    r_along: Vec<f64>,
    leaving: Vec<usize>,
}

impl Settling {
    #[inline]
    fn fit(&mut self, n_states: usize, n_crossings: usize) {
        if self.x.len() == n_states && self.r.len() == n_crossings {
            return;
        }
        for v in [
            &mut self.x,
            &mut self.dx,
            &mut self.dx_half,
            &mut self.along,
        ] {
            v.resize(n_states, 0.0);
        }
        for r in [&mut self.r, &mut self.r_along] {
            r.resize(n_crossings, 0.0);
        }
    }
}

/// What came of the trial steps after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// There was none: the values are as the event step left them.
    NotTried,
    /// All functions stay on their sides. The states are as before, what follows from them is that of a trial point.
    Kept,
    /// The event went on.
    Changed,
}

/// Lets functions in their band take the side of the motion: those that caused the event and those that are zero after it;
/// `resolution` is that of time. `step` then says what a continuation of the event did as well.
pub(crate) fn settle<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    causes: &[Change],
    resolution: f64,
    settling: &mut Settling,
    step: &mut EventStep,
) -> Result<Side, SimError> {
    let t = values.time();
    let system = instance.system(values);
    if system.crossings().is_empty() || system.states().is_empty() {
        return Ok(Side::NotTried);
    }
    settling.fit(system.states().len(), system.crossings().len());
    gather(system.states(), values, &mut settling.x);
    let moved = trial(system, mode, values, causes, resolution, settling).unwrap_or(false);
    if !moved {
        scatter(system.states(), t, &settling.x, values);
        return Ok(Side::Kept);
    }
    scatter(system.states(), t, &settling.along, values);
    event_step(instance, mode, values, tolerances, TimeFlags::Spent, step)?;
    Ok(Side::Changed)
}

/// What a trial point is evaluated for.
enum Wanted<'a> {
    Derivatives(&'a mut [f64]),
    Crossings(&'a mut [f64]),
}

/// True if a function in its band is about to change its relation; `along` is then the state just across. A model that cannot be
/// evaluated along the trial decides nothing.
fn trial<S: System>(
    system: &S,
    mode: &mut Mode,
    values: &mut Values,
    causes: &[Change],
    resolution: f64,
    settling: &mut Settling,
) -> Result<bool, SolveError> {
    let t = values.time();
    let Settling {
        x,
        dx,
        dx_half,
        along,
        r,
        r_along,
        leaving,
    } = settling;
    let Mode {
        driver,
        rules,
        affine_only,
        ..
    } = mode;
    // The event step has left everything as it is at this point.
    gather_derivatives(system.states(), values, dx)?;
    after_event(system, values, r)?;
    let mut at = |t: f64, x: &[f64], wanted: Wanted<'_>| -> Result<(), SolveError> {
        let shortcut = match wanted {
            Wanted::Derivatives(&mut ref mut dx) => system.derivatives_at(t, x, values, dx),
            Wanted::Crossings(&mut ref mut r) => system.crossings_at(t, x, values, r),
        };
        if let Some(status) = shortcut {
            return Ok(status?);
        }
        scatter(system.states(), t, x, values);
        let mut run = |kind| driver.run(system, kind, values, Accuracy::Tight, Guess::Current);
        match wanted {
            Wanted::Derivatives(dx) => {
                run(ScheduleKind::Derivatives)?;
                gather_derivatives(system.states(), values, dx)
            }
            Wanted::Crossings(r) => {
                if !*affine_only {
                    run(ScheduleKind::Derivatives)?;
                    run(ScheduleKind::Crossings)?;
                }
                Ok(system.eval_crossings(values, r)?)
            }
        }
    };
    let go = |along: &mut [f64], h: f64, dx: &[f64]| {
        for ((along, x), dx) in along.iter_mut().zip(x.iter()).zip(dx) {
            *along = x + h * dx;
        }
    };
    // Midpoint rule, so that a motion that turns back within the longer step is seen to do so. Where the round-off of a function hides where it goes,
    // the step is made longer: the event's time is not known better than that.
    let crossings = system.crossings();
    let hidden = |r: &[f64], r_along: &[f64]| {
        causes.iter().filter(|c| c.index < r.len()).any(|cause| {
            let jump = (cause.value_right - cause.value_left).abs();
            jump <= REST_BAND_REL * nominal_magnitude(crossings[cause.index].nominal)
                && (r_along[cause.index] - r[cause.index]).abs() <= ROUND_OFF_SHOWN * jump
        })
    };
    let now = |i: usize| rules[i].holds(r[i]);
    // A function in another branch has a round-off of its own, which its jump bounds. It leaves if what takes it across grows with the step.
    let leaves = |cause: &Change, r_along: &[f64]| {
        let i = cause.index;
        i < r.len() && rules[i].holds(r_along[i]) != now(i)
    };
    let in_doubt = |cause: &Change, r_along: &[f64], before: Option<&Vec<f64>>| {
        let i = cause.index;
        let jump = (cause.value_right - cause.value_left).abs();
        let change = |along: &[f64]| along[i] - r[i];
        leaves(cause, r_along)
            && change(r_along).abs() <= ROUND_OFF_SHOWN * jump
            && before.is_none_or(|before| {
                change(before) * change(r_along) <= 0.0
                    || change(r_along).abs() < GROWTH_SHOWN * change(before).abs()
            })
    };
    let mut before: Option<Vec<f64>> = None;
    let mut doubtful = false;
    let mut h = CONFIRM_ULPS * resolution;
    for _ in 0..LENGTHS {
        go(along, 0.5 * h, dx);
        at(t + 0.5 * h, along, Wanted::Derivatives(dx_half))?;
        go(along, h, dx_half);
        at(t + h, along, Wanted::Crossings(r_along))?;
        doubtful = causes.iter().any(|c| in_doubt(c, r_along, before.as_ref()));
        if !doubtful && !hidden(r, r_along) {
            break;
        }
        if doubtful {
            before = Some(r_along.clone());
        }
        h *= LONGER;
    }
    if doubtful {
        return Ok(false);
    }
    let at_zero = |i: usize| r[i] == 0.0 || causes.iter().any(|cause| cause.index == i);
    leaving.clear();
    for i in 0..r.len() {
        if rules[i].holds(r_along[i]) != now(i) && at_zero(i) {
            leaving.push(i);
        }
    }
    // The shortest step that takes one of them across.
    let mut ulps = 1.0;
    let longer = h > CONFIRM_ULPS * resolution;
    let ulps_max = if longer { h / resolution } else { RESTART_ULPS };
    while !leaving.is_empty() && ulps <= ulps_max {
        go(along, ulps * resolution, dx);
        at(t, along, Wanted::Crossings(r_along))?;
        if leaving
            .iter()
            .any(|&i| rules[i].holds(r_along[i]) != now(i))
        {
            return Ok(true);
        }
        ulps *= 2.0;
    }
    Ok(false)
}

/// The crossing functions at the point where an event step has just ended.
#[inline]
pub(crate) fn after_event<S: System>(
    system: &S,
    values: &mut Values,
    r: &mut [f64],
) -> Result<(), Fault> {
    match system.crossings_of_event(values) {
        Some(known) => {
            r.copy_from_slice(known);
            Ok(())
        }
        None => system.eval_crossings(values, r),
    }
}

/// What the event did to the motion: `None` if it goes on as before, otherwise whether only states were reinitialised or a slot
/// that the derivatives read has changed as well.
pub(crate) fn motion_change<S: System>(
    system: &S,
    reinitialised: &[Slot],
    before: &[f64],
    values: &Values,
) -> Option<Discontinuity> {
    let dynamics = system
        .discrete_slots()
        .iter()
        .any(|slot| before[slot.index()] != values.get(*slot) && system.feeds_derivatives(*slot));
    if dynamics {
        Some(Discontinuity::Dynamics)
    } else {
        (!reinitialised.is_empty()).then_some(Discontinuity::States)
    }
}
