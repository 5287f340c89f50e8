//! Whether the first step of a segment shows where a function that was zero at its start goes.
//!
//! An ideal diode that has just opened carries a current of some 1e-9 A, which an implicit method integrates with an error far below the
//! tolerance; the voltage, which is that current divided by a conductance of 1e-5 S, is what the relation compares. The step passes over the fast
//! transient of the voltage, its interpolant begins with any slope, and if that points to the other side the diode closes at once, opens
//! again because its current falls, and so on: events without end that the model does not have.
//!
//! The side of a function at zero is that of its first non-zero one-sided derivative (DESIGN 5.3). So where an event is found early in the first step, of
//! a function that was zero but for round-off at its start, it is compared with the motion x + δ·x' of the model itself, for the shortest δ over which
//! the function leaves its round-off. If that leads into the side which the relation holds, the step is too long to say anything and is
//! taken again. Interpolants of explicit methods begin with x' and need no comparison.

use crate::point::{Mode, ModelProblem, Relations, StepCrossings, gather_derivatives, scatter};
use crate::work::Work;
use saltus_model::{ScheduleKind, System, Values};
use saltus_solve::{Accuracy, CrossingFunctions, Guess, Located, SignRule, SolveError};

/// A step that does not show the motion is taken again with at least this part of its size.
const SHORTER_MIN: f64 = 0.1;
/// An event within this part of the step is compared with the motion.
const COMPARED_SHARE: f64 = 0.1;
/// Lengths of the motion, each a quarter of the one before.
const LENGTHS: u32 = 20;

/// The size of a step that shows more of the motion up to an event in the last one, if that does not show it: its interpolant is not as accurate as
/// its end, or, where it begins a segment, a function at zero goes elsewhere than the model. For methods whose interpolants do not begin
/// with the derivatives of the model.
pub(crate) fn size_to_show<S: System>(
    system: &S,
    mode: &mut Mode,
    values: &mut Values,
    work: &mut Work,
    located: &Located,
    begins_segment: bool,
) -> Result<Option<f64>, SolveError> {
    let mut problem = ModelProblem {
        system,
        driver: &mut mode.driver,
        values,
        relations: Relations::Held,
    };
    let shorter = (work.integrator).step_size_to_interpolate(&mut problem, located.t_right)?;
    if shorter.is_some() || !begins_segment {
        return Ok(shorter);
    }
    let mut functions = StepCrossings {
        system,
        driver: &mut mode.driver,
        values,
        integrator: &work.integrator,
        x: &mut work.x,
        affine_only: mode.affine_only,
        rows: &mut work.rows,
    };
    let (bands, truth) = (&work.at_zero, &work.truth);
    let unresolved = is_unresolved(&mut functions, bands, &mode.rules, truth, located)?;
    Ok(unresolved.then(|| SHORTER_MIN * work.integrator.step_size()))
}

/// True if the model's own motion from the start of the step, which is the start of a segment, keeps one of the functions that change on the side
/// that their relations hold; `bands[i]` is the round-off of function i there, zero if it was not at zero.
fn is_unresolved<S: System>(
    functions: &mut StepCrossings<'_, S>,
    bands: &[f64],
    rules: &[SignRule],
    truth: &[bool],
    located: &Located,
) -> Result<bool, SolveError> {
    let t = functions.integrator.time_old();
    let mut delta = COMPARED_SHARE * functions.integrator.step_size();
    let at_zero: Vec<usize> = (located.changed.iter().map(|change| change.index))
        .filter(|&i| bands[i] > 0.0)
        .collect();
    if at_zero.is_empty() || located.t_right - t > delta {
        return Ok(false);
    }
    let n = functions.n_functions();
    let (mut start, mut moved) = (vec![0.0; n], vec![0.0; n]);
    functions.evaluate(t, &mut start)?;
    let system = functions.system;
    let x = functions.x.to_vec();
    let mut dx = vec![0.0; x.len()];
    functions.run(ScheduleKind::Derivatives)?;
    gather_derivatives(system.states(), functions.values, &mut dx)?;
    let mut leads_back = vec![false; n];
    for _ in 0..LENGTHS {
        for (i, to) in functions.x.iter_mut().enumerate() {
            *to = x[i] + delta * dx[i];
        }
        scatter(system.states(), t + delta, functions.x, functions.values);
        functions.run(ScheduleKind::Derivatives)?;
        functions.run(ScheduleKind::Crossings)?;
        system.eval_crossings(functions.values, &mut moved)?;
        let mut seen = false;
        for &i in &at_zero {
            let change = moved[i] - start[i];
            if change.abs() > bands[i] {
                seen = true;
                leads_back[i] = (change > 0.0) == (rules[i].rising == truth[i]);
            }
        }
        if !seen {
            break;
        }
        delta *= 0.25;
    }
    Ok(at_zero.iter().any(|&i| leads_back[i]))
}

impl<S: System> StepCrossings<'_, S> {
    fn run(&mut self, kind: ScheduleKind) -> Result<(), SolveError> {
        (self.driver).run(
            self.system,
            kind,
            self.values,
            Accuracy::Tight,
            Guess::Accepted,
        )
    }
}
