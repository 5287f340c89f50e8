//! A run from inside: stepped, looked at, given inputs, saved and restored.

mod by_variable;

use crate::engine::Engine;
use crate::error::{Diagnostics, Error};
use crate::input::Input;
use crate::model::{Model, elements_of, scalars, signed, typed};
use crate::run::Run;
use crate::state::State;
use crate::value::Value;
use saltus_codegen::{CompiledInstance, ModeSummary};
use saltus_model::{
    Causality, Instance as _, Settable, Slot, StateSlots, System as _, ValueType, Values,
    VariableInfo,
};
use saltus_results::{EventRecord, Side};
use saltus_sim::{Progressed, SimError};
use saltus_syntax::Diagnostic;
use std::cell::RefCell;

/// One run of a [`Model`], made by [`Model::simulator`] or [`Experiment::simulator`](crate::Experiment::simulator). It owns all that it needs and can be
/// moved to another thread.
///
/// The steps of the integrator do not depend on where the run is stopped: it goes beyond that time and comes back to it by interpolation, and only an input that
/// changes there makes it start again. So a run in many pieces is the same run, bit by bit.
///
/// ```
/// let mut session = saltus::Session::new();
/// session.set_text("Room.mo", "
///   model Room
///     input Real heat(start = 0);
///     Real T(start = 10, fixed = true);
///   equation
///     der(T) = heat - 0.1*(T - 10);
///   end Room;");
/// let model = session.compile("Room")?;
/// let mut room = model.simulator()?;
/// while room.time() < 60.0 {
///     let heat = if room.get("T")? < 20.0 { 2.0 } else { 0.0 };
///     room.set_input("heat", heat)?;
///     room.advance_to(room.time() + 1.0)?;
/// }
/// assert!((18.0..22.0).contains(&room.get("T")?));
///
/// let before = room.save()?;
/// room.advance_to(70.0)?;
/// let after = room.get("T")?;
/// room.restore(&before)?;
/// room.advance_to(70.0)?;
/// assert_eq!(room.get("T")?, after);
/// # Ok::<(), saltus::Error>(())
/// ```
pub struct Simulator {
    model: Model,
    /// Looking at the values may have to compute them.
    inside: RefCell<Inside>,
}

struct Inside {
    engine: Engine<'static, CompiledInstance>,
    /// The values where the run stands, if somebody has looked.
    seen: Option<Box<Values>>,
    failure: Option<Diagnostics>,
}

const _: () = {
    const fn can_be_sent<T: Send>() {}
    can_be_sent::<Simulator>();
};

impl Simulator {
    pub(crate) fn new(model: Model, engine: Engine<'static, CompiledInstance>) -> Simulator {
        Simulator {
            model,
            inside: RefCell::new(Inside {
                engine,
                seen: None,
                failure: None,
            }),
        }
    }

    /// The model of the run.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Where the run stands, in seconds.
    pub fn time(&self) -> f64 {
        self.inside.borrow().engine.simulator.time()
    }

    /// Nothing more will happen: the stop time is reached, or the model has ended the run, or it has failed.
    pub fn is_finished(&self) -> bool {
        let inside = self.inside.borrow();
        inside.failure.is_some() || inside.engine.simulator.is_finished()
    }

    /// Computes the initial values. Inputs without a value in the model must have been given one. Done by whatever needs them first; after that parameters are
    /// fixed.
    pub fn initialise(&mut self) -> Result<(), Error> {
        self.inside.get_mut().initialise()
    }

    /// Goes on to this time. Events at it are carried out.
    pub fn advance_to(&mut self, time: f64) -> Result<Progressed, Error> {
        (self.inside.get_mut()).go_on(time, Running::advance_to)
    }

    /// The same, but not beyond the next event.
    pub fn advance_to_event(&mut self, time: f64) -> Result<Progressed, Error> {
        (self.inside.get_mut()).go_on(time, Running::advance_to_event)
    }

    /// One step of the integrator, or one event.
    pub fn step(&mut self) -> Result<Progressed, Error> {
        (self.inside.get_mut()).go_on(f64::INFINITY, Running::step_to)
    }

    /// Gives an input another value (or a ramp, or a function of time) from here on: it changes when the run goes on, by an event. An input that does not
    /// change makes none.
    pub fn set_input(&mut self, name: &str, input: impl Into<Input>) -> Result<(), Error> {
        let signals = (input.into()).signals(self.model.info(), name, self.time())?;
        let engine = &mut self.inside.get_mut().engine;
        for given in signals {
            let is_taken = (engine.simulator).set_input(given.slot, given.signal.clone());
            engine.schedule.give(given);
            if !is_taken {
                return Err(Error::Usage(
                    "the run is over: its inputs cannot change".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Before the run is initialised: sets a parameter or a start value that the structure does not depend on (others: [`Model::with`]). Later: gives a state another
    /// value, by an event when the run goes on.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<(), Error> {
        let simulator = &mut self.inside.get_mut().engine.simulator;
        let is_running = simulator.is_initialised();
        for scalar in scalars(self.model.info(), name, &value.into())? {
            let refused = |why: &str| Err(Error::Usage(format!("`{name}` cannot be set: {why}")));
            let Some(number) = scalar.value.number() else {
                return refused("it is a String, which `Model::with` sets");
            };
            if let Settable::Structural(_) = scalar.variable.settable {
                return refused(
                    "the structure of the model depends on it; `Model::with` compiles it again",
                );
            }
            let number = signed(scalar.variable, number);
            if !simulator.set(scalar.variable.slot, number) {
                return refused(match is_running {
                    true => "it is no state now",
                    false => "the run is over",
                });
            }
        }
        Ok(())
    }

    /// The number that a variable has where the run stands; of a Boolean 0 or 1, of an enumeration the number of the literal. At an event the value after it.
    pub fn get(&self, name: &str) -> Result<f64, Error> {
        if name == "time" {
            return Ok(self.time());
        }
        let variable = self.model.find_variable(name)?;
        if variable.ty == ValueType::String {
            return Err(Error::Usage(format!(
                "`{name}` is a String: `Simulator::value` gives its text"
            )));
        }
        self.look(|_, values| signed(variable, values.get(variable.slot)))
    }

    /// The value of a variable, or of all elements of an array, with its type.
    pub fn value(&self, name: &str) -> Result<Value, Error> {
        let elements = elements_of(self.model.info(), name);
        if elements.is_empty() {
            let variable = self.model.find_variable(name)?;
            return self.look(|run, values| self.typed(run, variable, values));
        }
        self.look(|run, values| {
            let scalars: Vec<(Vec<usize>, Value)> = (elements.iter())
                .map(|v| {
                    (
                        subscripts(&v.name[name.len()..]),
                        self.typed(run, v, values),
                    )
                })
                .collect();
            nest(&scalars, 0)
        })
    }

    fn typed(&self, run: &Running, variable: &VariableInfo, values: &Values) -> Value {
        let number = values.get(variable.slot);
        match variable.ty {
            ValueType::String => Value::String(run.instance().text(number).to_string()),
            _ => typed(&self.model, variable, number),
        }
    }

    fn look<T>(&self, read: impl FnOnce(&Running, &Values) -> T) -> Result<T, Error> {
        self.inside.borrow_mut().look(read)
    }

    /// A variable at a time of the last step: from the last event on, and at it on both sides.
    pub fn interpolate(&self, name: &str, time: f64, side: Side) -> Result<f64, Error> {
        let variable = self.model.find_variable(name)?;
        let number = self.inside.borrow_mut().at(variable.slot, time, side)?;
        Ok(signed(variable, number))
    }

    /// The outputs of the model, in its order.
    pub fn outputs(&self) -> Result<Vec<(&str, f64)>, Error> {
        let outputs = self.model.info().variables.iter();
        let outputs = outputs.filter(|v| v.causality == Causality::Output);
        self.look(|_, values| {
            outputs
                .map(|v| (v.name.as_str(), signed(v, values.get(v.slot))))
                .collect()
        })
    }

    /// The states of the mode in use, with their values.
    pub fn states(&self) -> Result<Vec<(String, f64)>, Error> {
        self.of_states(|state| state.value)
    }

    /// The states with their derivatives.
    pub fn derivatives(&self) -> Result<Vec<(String, f64)>, Error> {
        self.of_states(|state| state.derivative)
    }

    pub(crate) fn values_now(&self) -> Result<Values, Error> {
        self.look(|_, values| values.clone())
    }

    pub(crate) fn values_with(
        &self,
        values: &Values,
        changed: &[(Slot, f64)],
    ) -> Result<Values, Error> {
        let inside = self.inside.borrow();
        let computed = inside.engine.simulator.values_with(values, changed);
        computed.map_err(|error| inside.stopped(&error))
    }

    /// The states of the mode in use, with their names.
    pub(crate) fn state_slots(&self) -> Result<Vec<(String, StateSlots)>, Error> {
        self.look(|run, values| {
            let instance = run.instance();
            let name = |state: &StateSlots| &instance.info().slots[state.value.index()].name;
            let states = instance.system(values).states().iter();
            states.map(|state| (name(state).clone(), *state)).collect()
        })
    }

    fn of_states(&self, slot: impl Fn(&StateSlots) -> Slot) -> Result<Vec<(String, f64)>, Error> {
        self.look(|run, values| {
            let instance = run.instance();
            let name = |state: &StateSlots| &instance.info().slots[state.value.index()].name;
            (instance.system(values).states().iter())
                .map(|state| (name(state).clone(), values.get(slot(state))))
                .collect()
        })
    }

    /// The functions whose changes of sign are events, each with its relation in model terms. Which they are depends on the mode only.
    pub fn event_indicators(&self) -> Result<Vec<(String, f64)>, Error> {
        let indicators = self.look(|run, values| {
            let numbers = run.crossings(values)?;
            let crossings = run.instance().system(values).crossings().iter();
            Ok(crossings.map(|c| c.text.clone()).zip(numbers).collect())
        })?;
        indicators.map_err(|error| self.inside.borrow().stopped(&error))
    }

    /// The events since the start, or since they were taken.
    pub fn events(&mut self) -> &[EventRecord] {
        let events = &self.inside.get_mut().engine.simulator.recorder().events;
        events.as_deref().unwrap_or_default()
    }

    /// The same; the log is empty afterwards.
    pub fn take_events(&mut self) -> Vec<EventRecord> {
        let events = &mut self.inside.get_mut().engine.simulator.recorder_mut().events;
        events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Messages of the model and notes on the run, since the start or since they were taken.
    pub fn take_messages(&mut self) -> Vec<Diagnostic> {
        let collector = self.inside.get_mut().engine.simulator.recorder_mut();
        std::mem::take(&mut collector.messages)
    }

    /// The modes that the run has structured; none for a model that has only one.
    pub fn modes(&self) -> Vec<ModeSummary> {
        self.inside.borrow().engine.simulator.instance().modes()
    }

    /// All that decides how the run goes on: the state of the integrator, events, delays, modes, random numbers. An external object of C code has a state that
    /// cannot be saved.
    pub fn save(&self) -> Result<State, Error> {
        let mut inside = self.inside.borrow_mut();
        inside.initialise()?;
        let run = inside.engine.simulator.save().map_err(Error::Usage)?;
        Ok(State::new(&self.model, run))
    }

    /// Goes on from where a run of the same model stood, here or on another machine. Rows and events so far stay as they are.
    pub fn restore(&mut self, state: &State) -> Result<(), Error> {
        let run = state.of(&self.model)?;
        let inside = self.inside.get_mut();
        inside.seen = None;
        inside.engine.simulator.restore(run).map_err(Error::Usage)?;
        inside.failure = None;
        inside.engine.schedule.rewind(state.time());
        Ok(())
    }

    /// Ends the run: the rows of its grid, its events and statistics.
    pub fn finish(self) -> Result<Run, Error> {
        let Inside {
            engine, failure, ..
        } = self.inside.into_inner();
        engine.finish(failure)
    }
}

/// The run itself.
type Running = saltus_sim::Simulator<CompiledInstance, crate::collector::Collector<'static>>;

impl Inside {
    fn initialise(&mut self) -> Result<(), Error> {
        if let Some(diagnostics) = &self.failure {
            return Err(Error::Stopped(diagnostics.clone()));
        }
        if self.engine.simulator.is_initialised() {
            return Ok(());
        }
        self.engine.require_inputs()?;
        let initialised = self.engine.simulator.initialise();
        self.after(initialised)
    }

    fn go_on(
        &mut self,
        time: f64,
        go: impl Fn(&mut Running, f64) -> Result<Progressed, SimError>,
    ) -> Result<Progressed, Error> {
        self.initialise()?;
        let now = self.engine.simulator.time();
        if time.is_nan() || time < now {
            return Err(Error::Usage(format!(
                "the run stands at time {now} and cannot go back to {time}: save a state, and restore it"
            )));
        }
        self.seen = None;
        let gone = self.engine.go_on(time, go);
        self.after(gone)
    }

    fn after<T>(&mut self, result: Result<T, SimError>) -> Result<T, Error> {
        result.map_err(|error| {
            let diagnostics = self.engine.explain(&error);
            self.failure = Some(diagnostics.clone());
            Error::Stopped(diagnostics)
        })
    }

    fn stopped(&self, error: &SimError) -> Error {
        Error::Stopped(self.engine.explain(error))
    }

    /// Reads the values where the run stands.
    fn look<T>(&mut self, read: impl FnOnce(&Running, &Values) -> T) -> Result<T, Error> {
        self.initialise()?;
        let simulator = &self.engine.simulator;
        if self.seen.is_none() {
            let values = simulator.values();
            let values = values.map_err(|error| self.stopped(&error))?.into_owned();
            self.seen = Some(Box::new(values));
        }
        match &self.seen {
            Some(values) => Ok(read(&self.engine.simulator, values)),
            None => unreachable!("they have just been put there"),
        }
    }

    fn at(&mut self, slot: Slot, time: f64, side: Side) -> Result<f64, Error> {
        self.initialise()?;
        let simulator = &self.engine.simulator;
        if side == Side::Left
            && let Some((event, before)) = simulator.before_event()
            && event == time
        {
            return Ok(before[slot.index()]);
        }
        let (from, to) = simulator.known();
        if !(from..=to).contains(&time) {
            return Err(Error::Usage(format!(
                "values are known from time {from} to {to}, and {time} is outside"
            )));
        }
        match simulator.values_at(time) {
            Ok(values) => Ok(values.get(slot)),
            Err(error) => Err(self.stopped(&error)),
        }
    }
}

/// `[1,2]` as numbers.
fn subscripts(text: &str) -> Vec<usize> {
    (text.trim_matches(['[', ']']).split(','))
        .filter_map(|number| number.parse().ok())
        .collect()
}

/// The array whose elements these are, sorted by their subscripts.
fn nest(scalars: &[(Vec<usize>, Value)], depth: usize) -> Value {
    let Some((first, value)) = scalars.first() else {
        return Value::Array(Vec::new());
    };
    if first.len() == depth {
        return value.clone();
    }
    let rows = scalars.chunk_by(|a, b| a.0[depth] == b.0[depth]);
    Value::Array(rows.map(|row| nest(row, depth + 1)).collect())
}
