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
use saltus_model::{Instance, ScheduleKind, Slot, System, Values};
use saltus_solve::scale::{CONFIRM_ULPS, RESTART_ULPS};
use saltus_solve::{Accuracy, Guess, SolveError, Tolerances};

/// Lets functions in their band take the side of the motion: those that caused the event and those that are zero after it;
/// `resolution` is that of time. Returns what the event's continuation
/// did, if there was one.
pub(crate) fn settle<I: Instance>(
    instance: &mut I,
    mode: &mut Mode,
    values: &mut Values,
    tolerances: Tolerances,
    causes: &[usize],
    resolution: f64,
) -> Result<Option<EventStep>, SimError> {
    let t = values.time();
    let system = instance.system(values);
    if system.crossings().is_empty() || system.states().is_empty() {
        return Ok(None);
    }
    let mut x = vec![0.0; system.states().len()];
    gather(system.states(), values, &mut x);
    let moved = trial(system, mode, values, &x, causes, resolution).unwrap_or(None);
    match moved {
        None => {
            scatter(system.states(), t, &x, values);
            Ok(None)
        }
        Some(moved) => {
            scatter(system.states(), t, &moved, values);
            event_step(instance, mode, values, tolerances, TimeFlags::Spent).map(Some)
        }
    }
}

/// The state just across, if a function in its band is about to change its relation. A model that cannot be evaluated along the
/// trial decides nothing.
fn trial<S: System>(
    system: &S,
    mode: &mut Mode,
    values: &mut Values,
    x: &[f64],
    causes: &[usize],
    resolution: f64,
) -> Result<Option<Vec<f64>>, SolveError> {
    let t = values.time();
    let n = system.crossings().len();
    let rules = mode.rules.clone();
    let mut r = vec![0.0; n];
    let mut dx = vec![0.0; x.len()];
    let mut at =
        |t: f64, x: &[f64], dx: Option<&mut [f64]>, r: &mut [f64]| -> Result<(), SolveError> {
            scatter(system.states(), t, x, values);
            for kind in [ScheduleKind::Derivatives, ScheduleKind::Crossings] {
                mode.driver
                    .run(system, kind, values, Accuracy::Tight, Guess::Current)?;
            }
            if let Some(dx) = dx {
                gather_derivatives(system.states(), values, dx)?;
            }
            Ok(system.eval_crossings(values, r)?)
        };
    at(t, x, Some(&mut dx), &mut r)?;
    let along =
        |h: f64, dx: &[f64]| -> Vec<f64> { x.iter().zip(dx).map(|(x, dx)| x + h * dx).collect() };
    // Midpoint rule, so that a motion that turns back within the longer step is seen to do so.
    let h = CONFIRM_ULPS * resolution;
    let (mut dx_half, mut r_long) = (vec![0.0; x.len()], vec![0.0; n]);
    at(
        t + 0.5 * h,
        &along(0.5 * h, &dx),
        Some(&mut dx_half),
        &mut r_long,
    )?;
    at(t + h, &along(h, &dx_half), None, &mut r_long)?;
    let now = |i: usize| rules[i].holds(r[i]);
    let at_zero = |i: usize| r[i] == 0.0 || causes.contains(&i);
    let leaving: Vec<usize> = (0..n)
        .filter(|&i| at_zero(i) && rules[i].holds(r_long[i]) != now(i))
        .collect();
    // The shortest step that takes one of them across.
    let mut ulps = 1.0;
    while !leaving.is_empty() && ulps <= RESTART_ULPS {
        let short = along(ulps * resolution, &dx);
        at(t, &short, None, &mut r_long)?;
        if leaving.iter().any(|&i| rules[i].holds(r_long[i]) != now(i)) {
            return Ok(Some(short));
        }
        ulps *= 2.0;
    }
    Ok(None)
}

/// True if the motion after the event is not the continuation of the motion before: a state was reinitialised, or a slot that
/// the derivatives read has changed.
pub(crate) fn must_restart<S: System>(
    system: &S,
    reinitialised: &[Slot],
    before: &[f64],
    values: &Values,
) -> bool {
    !reinitialised.is_empty()
        || system.discrete_slots().iter().any(|slot| {
            before[slot.index()] != values.get(*slot) && system.feeds_derivatives(*slot)
        })
}
