//! A run as somebody outside sees it who stops it, looks at it and changes its inputs.
//!
//! Looking changes nothing: values between the points at which the run itself has evaluated the model come from the interpolant of the step, with copies of
//! all that remembers an evaluation. What is changed from outside makes an event at the time at which the run stands; the rest of the step that the
//! integrator has taken beyond it counts only if the motion goes on as before.

use super::{Occasion, Run, State};
use crate::error::{Phase, SimError};
use crate::point::{ModelProblem, Relations, evaluate_all, scatter};
use crate::record::Recorder;
use saltus_model::{Instance, Signal, Slot, System, Values};
use saltus_solve::{Accuracy, Guess};
use std::borrow::Cow;
use std::ops::DerefMut;

/// How far a run has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progressed {
    /// A step of the integrator, or a part of one.
    Step,
    /// An event.
    Event,
    /// To the end of the run.
    Finished,
}

impl<I: Instance, P: DerefMut<Target = I>, R: Recorder> Run<P, R> {
    /// Goes on until nothing is left to do up to `t`.
    pub(crate) fn run_to(&mut self, t: f64) -> Result<Progressed, SimError> {
        self.begin_until(t);
        self.run()?;
        Ok(self.stand_at(t, Progressed::Step))
    }

    /// The same, but at most to the end of the next event.
    pub(crate) fn run_to_event(&mut self, t: f64) -> Result<Progressed, SimError> {
        self.begin_until(t);
        let _entered = saltus_control::enter(&self.control);
        while !self.is_paused() {
            let is_event = matches!(self.state, State::AtEvent(_));
            self.go_on()?;
            if is_event {
                self.pause = self.pause.min(self.cursor);
                self.run()?;
                return Ok(self.stand_at(self.pause, Progressed::Event));
            }
        }
        Ok(self.stand_at(t, Progressed::Step))
    }

    /// One step of the integrator, or one event, but nothing after `t`.
    pub(crate) fn step_to(&mut self, t: f64) -> Result<Progressed, SimError> {
        self.begin_until(t);
        let from = self.now;
        let _entered = saltus_control::enter(&self.control);
        while !self.is_paused() {
            let is_event = matches!(self.state, State::AtEvent(_) | State::Initialising);
            self.go_on()?;
            // A step that was taken back is none.
            let ends = matches!(self.state, State::Continuous) && self.cursor > from;
            if is_event || ends {
                let kind = if is_event {
                    Progressed::Event
                } else {
                    Progressed::Step
                };
                return Ok(self.stand_at(self.cursor, kind));
            }
        }
        Ok(self.stand_at(t, Progressed::Step))
    }

    fn begin_until(&mut self, t: f64) {
        self.pause = t;
        let step = &self.work.step;
        let is_changed = !step.inputs.is_empty() || !step.states.is_empty();
        if !is_changed || matches!(self.state, State::Initialising | State::Finished) {
            return;
        }
        if let State::AtEvent(Occasion::Fold { .. }) = self.state {
            // With other inputs the branch of solutions may go on.
            self.last_fold = f64::NEG_INFINITY;
            self.branch_ended = None;
        }
        self.work.isolation.forget();
        self.state = State::AtEvent(Occasion::Input { time: self.now });
    }

    fn stand_at(&mut self, t: f64, progressed: Progressed) -> Progressed {
        let is_finished = self.is_finished();
        self.now = if is_finished { self.values.time() } else { t };
        if is_finished {
            Progressed::Finished
        } else {
            progressed
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.state, State::Finished)
    }

    /// Where the run stands.
    pub(crate) fn time(&self) -> f64 {
        self.now
    }

    /// The times between which values are known: from the last event or the start of the last step on, to where the run stands.
    pub(crate) fn known(&self) -> (f64, f64) {
        let from = (self.work.integrator.time_old())
            .max(self.last_event)
            .max(self.options.start_time);
        (from.min(self.now), self.now)
    }

    pub(crate) fn before_event(&self) -> Option<(f64, &[f64])> {
        let before = &self.work.before[..];
        self.last_event
            .is_finite()
            .then_some((self.last_event, before))
    }

    /// All variables at a time between these; at an event the right limits.
    pub(crate) fn values_at(&self, t: f64) -> Result<Cow<'_, Values>, SimError> {
        let is_row = self.last_row.is_some_and(|(row, _)| row == t);
        if self.values.time() == t && (is_row || self.is_finished()) {
            return Ok(Cow::Borrowed(&self.values));
        }
        let mut values = self.values.clone();
        let mut driver = self.mode.driver.clone();
        let mut constrained = self.constrained.clone();
        let system = self.instance.system(&values);
        let mut x = self.work.x.clone();
        let fatal = |error| SimError::evaluation(t, Phase::Output, error);
        if self.work.integrator.can_interpolate(t) {
            self.work.integrator.interpolate(t, &mut x);
        } else {
            let mut integrator = self.work.integrator.clone();
            let mut problem = ModelProblem {
                system,
                driver: &mut driver,
                values: &mut values,
                relations: Relations::Held,
            };
            (integrator.complete_interpolant(&mut problem)).map_err(fatal)?;
            integrator.interpolate(t, &mut x);
        }
        scatter(system.states(), t, &x, &mut values);
        let (accuracy, guess) = (Accuracy::Trial, Guess::Accepted);
        let (driver, to) = (&mut driver, &mut values);
        match &mut constrained {
            None => evaluate_all(system, driver, to, accuracy, guess),
            Some(bound) => super::bind::evaluate_bound(bound, system, driver, to, accuracy, guess),
        }
        .map_err(fatal)?;
        Ok(Cow::Owned(values))
    }

    /// All continuous variables where some states and inputs have other values; relations and discrete variables are held.
    pub(crate) fn values_with(
        &self,
        values: &Values,
        changed: &[(Slot, f64)],
    ) -> Result<Values, SimError> {
        let mut values = values.clone();
        for (slot, number) in changed {
            values.v[slot.index()] = *number;
        }
        let mut driver = self.mode.driver.clone();
        let mut constrained = self.constrained.clone();
        let system = self.instance.system(&values);
        let (accuracy, guess) = (Accuracy::Tight, Guess::Current);
        let (driver, to) = (&mut driver, &mut values);
        let evaluated = match &mut constrained {
            None => evaluate_all(system, driver, to, accuracy, guess),
            Some(bound) => super::bind::evaluate_bound(bound, system, driver, to, accuracy, guess),
        };
        evaluated.map_err(|error| SimError::evaluation(self.now, Phase::Output, error))?;
        Ok(values)
    }

    /// The crossing functions at values that [`Run::values_at`] has given.
    pub(crate) fn crossings_at(&self, values: &Values) -> Result<Vec<f64>, SimError> {
        let system = self.instance.system(values);
        let mut r = vec![0.0; system.crossings().len()];
        let mut values = values.clone();
        let evaluated = system.eval_crossings(&mut values, &mut r);
        evaluated.map_err(|fault| super::output_fault(values.time(), fault))?;
        Ok(r)
    }

    /// Before an event in the middle of a step that was taken without looking for events.
    pub(super) fn interpolant_for_event(&mut self, t: f64) -> Result<(), SimError> {
        if self.work.integrator.can_interpolate(t) {
            return Ok(());
        }
        self.interpolant_of_step()
            .map_err(|error| SimError::evaluation(t, Phase::Continuous, error))
    }

    /// Gives an input another course when the run goes on.
    pub(crate) fn set_input(&mut self, slot: Slot, signal: Signal) {
        let is_moving = self.values.inputs.iter().any(|(moving, _)| *moving == slot);
        let is_same = match &signal {
            Signal::Constant(value) => !is_moving && self.values.get(slot) == *value,
            Signal::Linear { .. } | Signal::Function(_) | Signal::Missing => false,
        };
        let pending = &mut self.work.step.inputs;
        pending.retain(|(known, _)| *known != slot);
        if !is_same {
            pending.push((slot, signal));
        }
    }

    /// Gives a state another value when the run goes on. False if it is no state now.
    pub(crate) fn set_state(&mut self, slot: Slot, value: f64) -> bool {
        let states = self.instance.system(&self.values).states();
        let is_state = states.iter().any(|state| state.value == slot);
        if is_state {
            let pending = &mut self.work.step.states;
            pending.retain(|(known, _)| *known != slot);
            pending.push((slot, value));
        }
        is_state
    }
}
