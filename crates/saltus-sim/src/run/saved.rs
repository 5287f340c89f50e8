//! A run written down: all that decides how it goes on.

use super::{Run, State};
use crate::calendar::Grid;
use crate::constrained::Constrained;
use crate::creep::Creep;
use crate::inline::Inline;
use crate::options::Options;
use crate::point::Mode;
use crate::record::{Recorder, RowKind, RunSummary};
use crate::work::Work;
use saltus_control::Control;
use saltus_model::{Instance, Signal, Site, Slot, Values};
use saltus_solve::{NewtonFailure, Tolerances};
use serde::{Deserialize, Serialize};
use std::ops::DerefMut;

/// A run at an instant, to be taken up again there, by the same simulator or by another one of the same model. It is plain data: written to a file and read
/// back it is the same, but for inputs that are functions ([`Signal::Missing`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunState {
    options: Options,
    tolerances: Tolerances,
    mode: Mode,
    entered: u32,
    values: Values,
    work: Work,
    grid: Grid,
    cursor: f64,
    truth_time: f64,
    repeats: u32,
    unrecorded: bool,
    rejected_seen: u64,
    completed: f64,
    next_time_event: f64,
    last_event: f64,
    last_fold: f64,
    branch_ended: Option<Box<NewtonFailure>>,
    fold_noted: bool,
    held_noted: bool,
    last_row: Option<(f64, RowKind)>,
    warned: Vec<Site>,
    evaluations_seen: u64,
    stiff_noted: bool,
    creep: Creep,
    constrained: Option<Box<Constrained>>,
    inline: Option<Inline>,
    summary: RunSummary,
    state: State,
    now: f64,
    instance: Vec<u8>,
}

impl RunState {
    /// Where the run stands.
    pub fn time(&self) -> f64 {
        self.now
    }

    /// Inputs that are functions of time, and were lost on the way through a file, are those of `own`.
    pub(crate) fn complete_inputs(&mut self, own: &[(Slot, Signal)]) -> Result<(), String> {
        let signals = (self.values.inputs.iter_mut())
            .chain(&mut self.work.step.inputs)
            .chain(&mut self.options.inputs);
        for (slot, signal) in signals.filter(|(_, signal)| *signal == Signal::Missing) {
            let known = own.iter().find(|(k, s)| k == slot && *s != Signal::Missing);
            match known {
                Some((_, known)) => *signal = known.clone(),
                None => {
                    return Err("an input is a function of time, which no file holds: give it to the simulator before the state".to_owned());
                }
            }
        }
        Ok(())
    }
}

impl<I: Instance, P: DerefMut<Target = I>, R: Recorder> Run<P, R> {
    pub(crate) fn save(&self) -> Result<RunState, String> {
        Ok(RunState {
            options: self.options.clone(),
            tolerances: self.tolerances,
            mode: self.mode.clone(),
            entered: self.entered,
            values: self.values.clone(),
            work: self.work.clone(),
            grid: self.grid,
            cursor: self.cursor,
            truth_time: self.truth_time,
            repeats: self.repeats,
            unrecorded: self.unrecorded,
            rejected_seen: self.rejected_seen,
            completed: self.completed,
            next_time_event: self.next_time_event,
            last_event: self.last_event,
            last_fold: self.last_fold,
            branch_ended: self.branch_ended.clone(),
            fold_noted: self.fold_noted,
            held_noted: self.held_noted,
            last_row: self.last_row,
            warned: self.warned.clone(),
            evaluations_seen: self.evaluations_seen,
            stiff_noted: self.stiff_noted,
            creep: self.creep.clone(),
            constrained: self.constrained.clone(),
            inline: self.inline.clone(),
            summary: self.summary.clone(),
            state: self.state.clone(),
            now: self.now,
            instance: self.instance.save()?,
        })
    }

    /// A run that goes on from there, with all inputs known. The instance is given back if it cannot take up its part.
    pub(crate) fn resume(
        mut instance: P,
        control: Control,
        mut recorder: R,
        state: RunState,
    ) -> Result<Run<P, R>, Box<(P, R, String)>> {
        if let Err(why) = instance.restore(&state.instance) {
            return Err(Box::new((instance, recorder, why)));
        }
        if instance.has_modes() {
            recorder.grown(&instance.shared_info());
        }
        let seconds = control.seconds();
        Ok(Run {
            instance,
            options: state.options,
            control,
            recorder,
            tolerances: state.tolerances,
            mode: state.mode,
            entered: state.entered,
            values: state.values,
            work: state.work,
            grid: state.grid,
            cursor: state.cursor,
            truth_time: state.truth_time,
            repeats: state.repeats,
            unrecorded: state.unrecorded,
            rejected_seen: state.rejected_seen,
            completed: state.completed,
            next_time_event: state.next_time_event,
            last_event: state.last_event,
            last_fold: state.last_fold,
            branch_ended: state.branch_ended,
            fold_noted: state.fold_noted,
            held_noted: state.held_noted,
            last_row: state.last_row,
            warned: state.warned,
            evaluations_seen: state.evaluations_seen,
            stiff_noted: state.stiff_noted,
            creep: state.creep,
            constrained: state.constrained,
            left: None,
            inline: state.inline,
            summary: state.summary,
            seconds_start: seconds,
            seconds_initialised: seconds,
            wall_checks: 0,
            state: state.state,
            pause: state.now,
            now: state.now,
        })
    }

    /// The inputs over time that this run was given.
    pub(crate) fn signals(&self) -> Vec<(Slot, Signal)> {
        (self.values.inputs.iter())
            .chain(&self.work.step.inputs)
            .chain(&self.options.inputs)
            .cloned()
            .collect()
    }

    pub(crate) fn take_apart(self) -> (P, Control, R) {
        (self.instance, self.control, self.recorder)
    }
}
