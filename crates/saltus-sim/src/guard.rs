//! Relations that guard the domain of the model: `if h > 0 then sqrt(h) else 0` cannot be evaluated on the far side of h = 0 as long as
//! the relation holds what it held.
//!
//! Steps come near such a point from inside only: what a trial point beyond it cannot deliver makes the step smaller. When no step of the smallest
//! size is left, the motion is followed beyond by a few of them, straight on, and the *event system*, in which relations are unknowns, says which of
//! them are different there. The event then has its left limits at the last point inside.

use crate::point::{Mode, scatter};
use saltus_model::{ScheduleKind, System, Values};
use saltus_solve::roots::Change;
use saltus_solve::{Accuracy, Guess, Located};

/// A guard is looked for from this part of the smallest step on …
const FIRST_SHARE: f64 = 1.0 / 16.0;
/// … over so many doublings.
const DOUBLINGS: u32 = 12;

/// The last point inside: states, derivatives and crossing functions; `values` holds all of it.
pub(crate) struct Inside<'a> {
    pub(crate) t: f64,
    pub(crate) x: &'a [f64],
    pub(crate) dx: &'a [f64],
    pub(crate) r: &'a [f64],
    /// The smallest step, which could not be taken.
    pub(crate) step_size: f64,
}

/// The change of relations just beyond a point at which steps end, if there is one.
pub(crate) fn beyond<S: System>(
    system: &S,
    mode: &mut Mode,
    values: &Values,
    truth: &[bool],
    inside: &Inside<'_>,
) -> Option<Located> {
    let mut trial = values.clone();
    let mut x = inside.x.to_vec();
    let mut r = inside.r.to_vec();
    let mut h = FIRST_SHARE * inside.step_size;
    for _ in 0..DOUBLINGS {
        trial.clone_from(values);
        // The difference of two times, as the event will see it.
        let t = inside.t + h;
        let ahead = t - inside.t;
        for ((x, x0), dx) in x.iter_mut().zip(inside.x).zip(inside.dx) {
            *x = x0 + ahead * dx;
        }
        scatter(system.states(), t, &x, &mut trial);
        let evaluated = mode.driver.run(
            system,
            ScheduleKind::Event,
            &mut trial,
            Accuracy::Tight,
            Guess::Current,
        );
        if evaluated.is_ok() && t > inside.t && system.eval_crossings(&mut trial, &mut r).is_ok() {
            let changed: Vec<Change> = (system.crossings().iter().enumerate())
                .filter(|(i, crossing)| (trial.get(crossing.relation) != 0.0) != truth[*i])
                .map(|(index, _)| Change {
                    index,
                    value_left: inside.r[index],
                    value_right: r[index],
                })
                .collect();
            if !changed.is_empty() {
                return Some(Located {
                    t_left: inside.t,
                    t_right: t,
                    changed,
                });
            }
        }
        h *= 2.0;
    }
    None
}
