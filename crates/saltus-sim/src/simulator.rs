//! A run that somebody outside drives: it owns its instance, can be kept, moved to another thread, stopped anywhere, saved and restored.

use crate::error::{RunFailure, SimError};
use crate::options::Options;
use crate::record::{Recorder, RunSummary};
use crate::run::{Progressed, Run, RunState, begin};
use saltus_control::Control;
use saltus_model::{Instance, Signal, Slot, Values};
use std::borrow::Cow;

/// A run from inside. [`crate::simulate`] is what it does when nobody stops it.
///
/// ```
/// use saltus_model::{Instance, Model};
/// use saltus_model::ode::OdeProblem;
/// use saltus_sim::{Control, Options, OutputGrid, Silent, Simulator};
///
/// let decay = OdeProblem::new("decay", &[("x", 1.0)], |at, dx| dx[0] = -at.x[0]).build();
/// let options = Options { stop_time: f64::INFINITY, output: OutputGrid::None, tolerance: 1e-9, ..Options::default() };
/// let mut simulator = Simulator::new(decay.instantiate(), options, Control::default(), Silent);
/// simulator.initialise().unwrap();
/// let x = simulator.instance().info().variables[0].slot;
/// for t in [0.25, 0.5, 1.0] {
///     simulator.advance_to(t).unwrap();
///     assert!((simulator.values().unwrap().get(x) - (-t).exp()).abs() < 1e-8);
/// }
/// ```
pub struct Simulator<I, R> {
    phase: Phase<I, R>,
}

enum Phase<I, R> {
    /// Inputs and start values can still be given.
    Waiting(Box<Waiting<I, R>>),
    Running(Box<Run<Box<I>, R>>),
    /// The initial system has no solution.
    Failed(Box<Failed<I, R>>),
    /// Between two phases.
    None,
}

struct Waiting<I, R> {
    instance: Box<I>,
    options: Options,
    control: Control,
    recorder: R,
}

struct Failed<I, R> {
    summary: RunSummary,
    instance: Box<I>,
    control: Control,
    recorder: R,
}

const NO_PHASE: &str = "a simulator is between two phases inside its own methods only";

impl<I: Instance, R: Recorder> Simulator<I, R> {
    pub fn new(instance: I, options: Options, control: Control, recorder: R) -> Simulator<I, R> {
        Simulator {
            phase: Phase::Waiting(Box::new(Waiting {
                instance: Box::new(instance),
                options,
                control,
                recorder,
            })),
        }
    }

    /// Solves the initial system and carries out the events of the start time. Done before anything else that needs it.
    pub fn initialise(&mut self) -> Result<(), SimError> {
        if !matches!(self.phase, Phase::Waiting(_)) {
            return Ok(());
        }
        let Phase::Waiting(waiting) = std::mem::replace(&mut self.phase, Phase::None) else {
            unreachable!("{NO_PHASE}");
        };
        let Waiting {
            instance,
            options,
            control,
            recorder,
        } = *waiting;
        match begin(&mut None, instance, &options, &control, recorder) {
            Ok(mut run) => {
                let started = run.run_to(options.start_time);
                self.phase = Phase::Running(Box::new(run));
                started.map(drop)
            }
            Err(unbegun) => {
                let RunFailure { error, summary } = unbegun.failure;
                self.phase = Phase::Failed(Box::new(Failed {
                    summary,
                    instance: unbegun.instance,
                    control,
                    recorder: unbegun.recorder,
                }));
                Err(error)
            }
        }
    }

    pub fn is_initialised(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    /// Nothing more will happen: the stop time is reached, the model has ended the run, or it has failed.
    pub fn is_finished(&self) -> bool {
        match &self.phase {
            Phase::Waiting(_) => false,
            Phase::Running(run) => run.is_finished(),
            Phase::Failed(_) | Phase::None => true,
        }
    }

    fn running(&mut self) -> Result<&mut Run<Box<I>, R>, SimError> {
        self.initialise()?;
        match &mut self.phase {
            Phase::Running(run) => Ok(run),
            Phase::Failed(ended) => Err(SimError::NotRunning {
                time: ended.summary.time_reached,
            }),
            Phase::Waiting(_) | Phase::None => unreachable!("{NO_PHASE}"),
        }
    }

    fn run(&self) -> Option<&Run<Box<I>, R>> {
        match &self.phase {
            Phase::Running(run) => Some(run),
            Phase::Waiting(_) | Phase::Failed(_) | Phase::None => None,
        }
    }

    /// Where the run stands.
    pub fn time(&self) -> f64 {
        match &self.phase {
            Phase::Waiting(waiting) => waiting.options.start_time,
            Phase::Running(run) => run.time(),
            Phase::Failed(ended) => ended.summary.time_reached,
            Phase::None => unreachable!("{NO_PHASE}"),
        }
    }

    pub fn options(&self) -> Option<&Options> {
        match &self.phase {
            Phase::Waiting(waiting) => Some(&waiting.options),
            Phase::Running(run) => Some(&run.options),
            Phase::Failed(_) | Phase::None => None,
        }
    }

    /// Goes on to this time. Events at it are carried out, later ones are not; the steps of the integrator do not depend on where the run is stopped.
    pub fn advance_to(&mut self, t: f64) -> Result<Progressed, SimError> {
        self.running()?.run_to(t)
    }

    /// The same, but not beyond the next event.
    pub fn advance_to_event(&mut self, t: f64) -> Result<Progressed, SimError> {
        self.running()?.run_to_event(t)
    }

    /// One step of the integrator, or one event.
    pub fn step(&mut self) -> Result<Progressed, SimError> {
        self.step_to(f64::INFINITY)
    }

    /// The same, but nothing after `t`.
    pub fn step_to(&mut self, t: f64) -> Result<Progressed, SimError> {
        self.running()?.step_to(t)
    }

    /// All variables where the run stands; before it is initialised there are none.
    pub fn values(&self) -> Result<Cow<'_, Values>, SimError> {
        self.values_at(self.time())
    }

    /// The time of the last event, and the values before it, by slot.
    pub fn before_event(&self) -> Option<(f64, &[f64])> {
        self.run()?.before_event()
    }

    /// The times for which [`Simulator::values_at`] has values.
    pub fn known(&self) -> (f64, f64) {
        match self.run() {
            Some(run) => run.known(),
            None => (self.time(), self.time()),
        }
    }

    /// All variables at a time of the last step; see [`Simulator::known`].
    pub fn values_at(&self, t: f64) -> Result<Cow<'_, Values>, SimError> {
        match self.run() {
            Some(run) => run.values_at(t),
            None => Err(SimError::NotRunning { time: self.time() }),
        }
    }

    /// All continuous variables where some states and inputs have other values than in `values`; relations and discrete variables are held.
    pub fn values_with(
        &self,
        values: &Values,
        changed: &[(Slot, f64)],
    ) -> Result<Values, SimError> {
        match self.run() {
            Some(run) => run.values_with(values, changed),
            None => Err(SimError::NotRunning { time: self.time() }),
        }
    }

    /// Values of the crossing functions of the mode in use.
    pub fn crossings(&self, values: &Values) -> Result<Vec<f64>, SimError> {
        match self.run() {
            Some(run) => run.crossings_at(values),
            None => Err(SimError::NotRunning { time: self.time() }),
        }
    }

    /// Gives an input another course, from when the run goes on. False if the run is over.
    pub fn set_input(&mut self, slot: Slot, signal: Signal) -> bool {
        match &mut self.phase {
            Phase::Waiting(waiting) => {
                let inputs = &mut waiting.options.inputs;
                inputs.retain(|(known, _)| *known != slot);
                inputs.push((slot, signal));
            }
            Phase::Running(run) if !run.is_finished() => run.set_input(slot, signal),
            Phase::Running(_) | Phase::Failed(_) | Phase::None => return false,
        }
        true
    }

    /// Before the run is initialised: gives a parameter or a start value another value. Later: a state, at an event where the run stands. False if that cannot be.
    pub fn set(&mut self, slot: Slot, value: f64) -> bool {
        match &mut self.phase {
            Phase::Waiting(waiting) => {
                let overrides = &mut waiting.options.overrides;
                overrides.retain(|(known, _)| *known != slot);
                overrides.push((slot, value));
                true
            }
            Phase::Running(run) => !run.is_finished() && run.set_state(slot, value),
            Phase::Failed(_) | Phase::None => false,
        }
    }

    /// All that decides how the run goes on. An error says what cannot be written down.
    pub fn save(&self) -> Result<RunState, String> {
        match self.run() {
            Some(run) => run.save(),
            None => Err("a run that is not initialised has no state".to_owned()),
        }
    }

    /// Goes on from where a run of the same model stood, with the options of that run. Rows and events that were handed out stay handed out. After an error in
    /// the part of the instance the run is over.
    pub fn restore(&mut self, state: &RunState) -> Result<(), String> {
        let mut state = state.clone();
        let own = match &self.phase {
            Phase::Waiting(waiting) => waiting.options.inputs.clone(),
            Phase::Running(run) => run.signals(),
            Phase::Failed(_) | Phase::None => Vec::new(),
        };
        state.complete_inputs(&own)?;
        let time_reached = state.time();
        let (instance, control, recorder) = match std::mem::replace(&mut self.phase, Phase::None) {
            Phase::Waiting(waiting) => (waiting.instance, waiting.control, waiting.recorder),
            Phase::Running(run) => run.take_apart(),
            Phase::Failed(failed) => (failed.instance, failed.control, failed.recorder),
            Phase::None => unreachable!("{NO_PHASE}"),
        };
        match Run::resume(instance, control.clone(), recorder, state) {
            Ok(run) => {
                self.phase = Phase::Running(Box::new(run));
                Ok(())
            }
            Err(refused) => {
                let (instance, recorder, why) = *refused;
                self.phase = Phase::Failed(Box::new(Failed {
                    summary: RunSummary {
                        time_reached,
                        ..RunSummary::default()
                    },
                    instance,
                    control,
                    recorder,
                }));
                Err(why)
            }
        }
    }

    pub fn instance(&self) -> &I {
        match &self.phase {
            Phase::Waiting(waiting) => &waiting.instance,
            Phase::Running(run) => &run.instance,
            Phase::Failed(ended) => &ended.instance,
            Phase::None => unreachable!("{NO_PHASE}"),
        }
    }

    pub fn recorder(&self) -> &R {
        match &self.phase {
            Phase::Waiting(waiting) => &waiting.recorder,
            Phase::Running(run) => &run.recorder,
            Phase::Failed(ended) => &ended.recorder,
            Phase::None => unreachable!("{NO_PHASE}"),
        }
    }

    pub fn recorder_mut(&mut self) -> &mut R {
        match &mut self.phase {
            Phase::Waiting(waiting) => &mut waiting.recorder,
            Phase::Running(run) => &mut run.recorder,
            Phase::Failed(ended) => &mut ended.recorder,
            Phase::None => unreachable!("{NO_PHASE}"),
        }
    }

    /// Ends the run: what it was, and what it was made of.
    pub fn finish(self) -> (RunSummary, I, R) {
        let ended = match self.phase {
            Phase::Waiting(waiting) => {
                let summary = RunSummary {
                    time_reached: waiting.options.start_time,
                    ..RunSummary::default()
                };
                return (summary, *waiting.instance, waiting.recorder);
            }
            Phase::Running(run) => run.finish(),
            Phase::Failed(failed) => return (failed.summary, *failed.instance, failed.recorder),
            Phase::None => unreachable!("{NO_PHASE}"),
        };
        (ended.summary, *ended.instance, ended.recorder)
    }
}
