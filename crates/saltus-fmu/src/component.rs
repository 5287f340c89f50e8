//! One instance of an FMU.
//!
//! Before the run settings are collected; the run is made when somebody asks for values, and made again when a setting changes before the end of initialisation. A
//! communication step is one [`Simulator::advance_to`]: events inside of it are located and carried out where they are, whatever its size.

use crate::fmi3::Manners;
use crate::loaded::Loaded;
use saltus::results::Side;
use saltus::{Causality, Error, Progressed, Settable, Simulator, Value, ValueType, VariableInfo};
use saltus_fmi::abi::Status;
use saltus_fmi::interface::{self, ValueReference};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far the time of a caller may be from ours, relative to its magnitude and that of the step: sums of steps carry round-off.
const TIME_TOLERANCE: f64 = 1e-9;

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Phase {
    Instantiated,
    Initialising,
    /// Between two steps, in the event mode of FMI 3.0.
    Event,
    Stepping,
    Terminated,
    /// A step has failed: values can be read, and the instance can be reset.
    Failed,
}

/// What went wrong: a message, and the status that the caller gets.
pub(crate) struct Refused {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl From<String> for Refused {
    fn from(message: String) -> Refused {
        Refused {
            status: Status::Error,
            message,
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::from(error.to_string().trim_end().to_owned())
    }
}

pub(crate) type Answer<T> = Result<T, Refused>;

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Stepped {
    /// Where the run stands.
    pub(crate) time: f64,
    /// At an event before the end of the step, which is to be handled.
    pub(crate) at_event: bool,
    /// The model has ended the run.
    pub(crate) terminated: bool,
}

/// When the run begins and how it is computed.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Setup {
    pub(crate) start: Option<f64>,
    pub(crate) stop: Option<f64>,
    pub(crate) tolerance: Option<f64>,
}

pub(crate) struct Component {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) phase: Phase,
    pub(crate) setup: Setup,
    /// Parameters and start values that were set, and inputs with their rates.
    pub(crate) settings: BTreeMap<ValueReference, Value>,
    pub(crate) inputs: BTreeMap<ValueReference, (f64, f64)>,
    pub(crate) manners: Manners,
    run: Option<Simulator>,
    /// The run stands at an event that has been carried out, and shows the values before it until the caller enters event mode.
    shows_left: bool,
}

impl Component {
    pub(crate) fn new(loaded: Arc<Loaded>) -> Component {
        Component {
            loaded,
            phase: Phase::Instantiated,
            setup: Setup::default(),
            settings: BTreeMap::new(),
            inputs: BTreeMap::new(),
            manners: Manners::default(),
            run: None,
            shows_left: false,
        }
    }

    /// As it was when it was made.
    pub(crate) fn reset(&mut self) {
        let manners = self.manners;
        *self = Component::new(self.loaded.clone());
        self.manners = manners;
    }

    pub(crate) fn require(&self, phases: &[Phase], what: &str) -> Answer<()> {
        match phases.contains(&self.phase) {
            true => Ok(()),
            false => Err(Refused::from(format!(
                "{what} cannot be called now: the instance is in phase {:?}",
                self.phase
            ))),
        }
    }

    pub(crate) fn enter_initialisation(&mut self, setup: Setup) -> Answer<()> {
        self.require(&[Phase::Instantiated], "EnterInitializationMode")?;
        self.setup = setup;
        self.run = None;
        self.phase = Phase::Initialising;
        Ok(())
    }

    /// Solves the initial system and carries out the events of the start.
    pub(crate) fn exit_initialisation(&mut self, next: Phase) -> Answer<()> {
        self.require(&[Phase::Initialising], "ExitInitializationMode")?;
        self.initialised()?;
        self.phase = next;
        Ok(())
    }

    /// The run, made if there is none.
    fn initialised(&mut self) -> Answer<&mut Simulator> {
        if self.run.is_none() {
            let mut run = self.begin()?;
            run.initialise()?;
            self.run = Some(run);
        }
        match &mut self.run {
            Some(run) => Ok(run),
            None => unreachable!("it has just been put there"),
        }
    }

    /// A run with the settings, before its start.
    pub(crate) fn begin(&self) -> Answer<Simulator> {
        let texts = self.settings.iter().filter_map(|(reference, value)| {
            let variable = self.loaded.interface.variable(*reference)?;
            (variable.ty == ValueType::String).then(|| (&variable.name, value.clone()))
        });
        let mut texts = texts.peekable();
        let model = match texts.peek() {
            None => self.loaded.model.clone(),
            Some(_) => self.loaded.model.with(texts)?,
        };
        let mut experiment = model.experiment().keep_events(false);
        if let Some(start) = self.setup.start {
            experiment = experiment.start_time(start);
        }
        if let Some(stop) = self.setup.stop {
            experiment = experiment.stop_time(stop);
        }
        if let Some(tolerance) = self.setup.tolerance {
            experiment = experiment.tolerance(tolerance);
        }
        let mut run = experiment.without_end().simulator()?;
        for (reference, value) in &self.settings {
            if let Some(number) = value.as_f64() {
                run.set_number(self.loaded.variable(*reference)?, number)?;
            }
        }
        for v in self.loaded.interface.variables().map(|(_, v)| v) {
            // The standard gives every input a start value.
            if v.causality == Causality::Input && !v.has_value && v.ty != ValueType::String {
                run.set_input_number(v, interface::input_start(v.ty), 0.0)?;
            }
        }
        for (reference, (value, rate)) in &self.inputs {
            run.set_input_number(self.loaded.variable(*reference)?, *value, *rate)?;
        }
        Ok(run)
    }

    /// Where the run stands.
    pub(crate) fn time(&self) -> f64 {
        match &self.run {
            Some(run) => run.time(),
            None => (self.setup.start).unwrap_or(self.loaded.model.info().experiment.start_time),
        }
    }

    pub(crate) fn number(
        &mut self,
        reference: ValueReference,
        fits: impl Fn(ValueType) -> bool,
    ) -> Answer<f64> {
        if reference == interface::TIME && fits(ValueType::Real) {
            return Ok(self.time());
        }
        let loaded = self.loaded.clone();
        let variable = loaded.typed(reference, fits)?;
        if let Some((value, _)) = self.inputs.get(&reference)
            && variable.causality == Causality::Input
            && self.run.is_none()
        {
            return Ok(*value);
        }
        if self.phase == Phase::Instantiated {
            return Ok(self.start_value(reference, variable)?.1);
        }
        let shows_left = self.shows_left;
        let run = self.initialised()?;
        Ok(match shows_left {
            true => run.number_at(variable, run.time(), Side::Left)?,
            false => run.number(variable)?,
        })
    }

    pub(crate) fn text(&mut self, reference: ValueReference) -> Answer<Arc<str>> {
        let loaded = self.loaded.clone();
        let variable = loaded.typed(reference, |ty| ty == ValueType::String)?;
        if self.phase == Phase::Instantiated {
            return Ok(self.start_value(reference, variable)?.0.into());
        }
        Ok(self.initialised()?.text(variable)?)
    }

    /// What was set, or what the model says; as text and as number.
    fn start_value(
        &self,
        reference: ValueReference,
        variable: &VariableInfo,
    ) -> Answer<(String, f64)> {
        let described = self.loaded.model.describe(variable);
        let value = self.settings.get(&reference).cloned().or(described.value);
        match value {
            Some(Value::String(text)) => {
                let literal = described.literals.iter().position(|known| *known == text);
                let number = literal.map_or(0.0, |k| (k + 1) as f64);
                Ok((text, number))
            }
            Some(value) => Ok((value.to_string(), value.as_f64().unwrap_or_default())),
            None => Err(Refused::from(format!(
                "`{}` has no value before the initialisation",
                variable.name
            ))),
        }
    }

    /// Sets a parameter, a start value or an input.
    pub(crate) fn set(
        &mut self,
        reference: ValueReference,
        value: Value,
        fits: impl Fn(ValueType) -> bool,
    ) -> Answer<()> {
        let loaded = self.loaded.clone();
        let variable = loaded.typed(reference, fits)?;
        let number = value.as_f64();
        let refused = |why: &str| Err(Refused::from(format!("`{}` {why}", variable.name)));
        if number.is_some_and(|number| number.is_nan()) {
            return refused("cannot be set to a value that is no number");
        }
        if let (Causality::Input, Some(number)) = (variable.causality, number) {
            return self.set_input(reference, variable, number, 0.0);
        }
        match self.phase {
            Phase::Instantiated | Phase::Initialising => {}
            Phase::Event | Phase::Stepping | Phase::Terminated | Phase::Failed => {
                return refused("cannot be set during a run: only inputs can");
            }
        }
        match variable.settable {
            Settable::Value => {}
            Settable::Structural(why) => {
                return refused(&format!(
                    "cannot be set in this FMU: {why}; export the model again with the other value"
                ));
            }
            Settable::Final => return refused("cannot be set: it is final"),
            Settable::No => return refused("cannot be set: it is computed"),
        }
        let described = loaded.model.describe(variable);
        if let Some(number) = number
            && !(described.min..=described.max).contains(&number)
        {
            return refused(&format!(
                "cannot be {number}: it is between {} and {}",
                described.min, described.max
            ));
        }
        self.settings.insert(reference, value);
        self.run = None;
        Ok(())
    }

    /// Gives an input a value, and a rate of change.
    pub(crate) fn set_rate(&mut self, reference: ValueReference, rate: f64) -> Answer<()> {
        let loaded = self.loaded.clone();
        let variable = loaded.typed(reference, |ty| ty == ValueType::Real)?;
        let value = match self.inputs.get(&reference) {
            Some((value, _)) => *value,
            None => self.number(reference, |_| true)?,
        };
        self.set_input(reference, variable, value, rate)
    }

    fn set_input(
        &mut self,
        reference: ValueReference,
        variable: &VariableInfo,
        value: f64,
        rate: f64,
    ) -> Answer<()> {
        match self.phase {
            Phase::Instantiated | Phase::Initialising => self.run = None,
            Phase::Event | Phase::Stepping => {
                if let Some(run) = &mut self.run {
                    run.set_input_number(variable, value, rate)?;
                }
            }
            Phase::Terminated | Phase::Failed => {
                return Err(Refused::from(format!(
                    "`{}` cannot be set: the run is over",
                    variable.name
                )));
            }
        }
        self.inputs.insert(reference, (value, rate));
        Ok(())
    }

    /// Where a step from `from` over `size` ends, if the run stands at its beginning.
    pub(crate) fn step_end(&self, from: f64, size: f64) -> Answer<f64> {
        let now = self.time();
        let tolerance = TIME_TOLERANCE * now.abs().max(size.abs()).max(f64::MIN_POSITIVE);
        let end = from + size;
        if (from - now).abs() > tolerance || !end.is_finite() || end < now - tolerance {
            return Err(Refused::from(format!(
                "the instance stands at time {now}; a step from {from} over {size} cannot be taken"
            )));
        }
        Ok(end.max(now))
    }

    /// Goes to a time by `go`: all the way, to the next event, or over one step of the integrator.
    pub(crate) fn go(&mut self, end: f64, how: Stride) -> Answer<Stepped> {
        self.require(&[Phase::Stepping], "DoStep")?;
        self.shows_left = false;
        let run = self.initialised()?;
        let gone = match how {
            Stride::Whole => run.advance_to(end),
            Stride::ToEvent => run.advance_to_event(end),
            Stride::OneStep => run.step_to(end),
        };
        let stepped = gone.map(|progressed| Stepped {
            time: run.time(),
            at_event: progressed == Progressed::Event,
            terminated: progressed == Progressed::Finished,
        });
        match stepped {
            Ok(stepped) => {
                self.shows_left = stepped.at_event && how != Stride::Whole;
                Ok(stepped)
            }
            Err(error) => {
                self.phase = Phase::Failed;
                Err(Refused {
                    status: Status::Discard,
                    ..Refused::from(error)
                })
            }
        }
    }

    /// The values after an event are shown from now on.
    pub(crate) fn pass_event(&mut self) {
        self.shows_left = false;
    }

    /// Carries out what inputs that were set at this time bring about. True if the model has ended the run.
    pub(crate) fn update_discrete(&mut self) -> Answer<bool> {
        let run = self.initialised()?;
        let now = run.time();
        Ok(run.advance_to(now)? == Progressed::Finished)
    }

    /// The model itself will make no more steps.
    pub(crate) fn is_over(&self) -> bool {
        self.run.as_ref().is_some_and(Simulator::is_finished)
    }

    /// Messages of the model since the last call.
    pub(crate) fn messages(&mut self) -> Vec<String> {
        let Some(run) = &mut self.run else {
            return Vec::new();
        };
        let messages = run.take_messages();
        messages
            .into_iter()
            .map(|message| message.message)
            .collect()
    }

    pub(crate) fn run(&self) -> Option<&Simulator> {
        self.run.as_ref()
    }

    pub(crate) fn replace_run(&mut self, run: Option<Simulator>) {
        self.run = run;
        self.shows_left = false;
    }
}

/// How far a call goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stride {
    Whole,
    ToEvent,
    OneStep,
}
