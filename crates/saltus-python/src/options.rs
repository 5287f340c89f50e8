//! Settings of a run, as keyword arguments of Python give them.

use crate::errors::exception;
use crate::signals::Watch;
use crate::value::from_python;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use saltus::ode::Simulate;
use saltus::{Error, Experiment, Input, Value};

/// Name and value of each setting.
pub(crate) fn settings(given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
    given
        .iter()
        .map(|(name, value)| Ok((name.extract::<String>()?, from_python(&value)?)))
        .collect()
}

/// What a run is given, in terms of Rust: read with the interpreter's lock, used without it.
#[derive(Default)]
pub(crate) struct Options {
    numbers: Vec<(Number, f64)>,
    texts: Vec<(Choice, String)>,
    intervals: Option<u32>,
    events: Option<bool>,
    record_steps: bool,
    variables: Option<Vec<String>>,
    inputs: Vec<(String, Input)>,
    pub(crate) progress: Option<Py<PyAny>>,
}

#[derive(Clone, Copy)]
enum Number {
    Start,
    Stop,
    Tolerance,
    Interval,
    MaxWall,
    InlineStep,
}

#[derive(Clone, Copy)]
enum Choice {
    Solver,
    EventMethod,
    Zeno,
}

impl Options {
    /// From a dictionary; what is `None` is not given.
    pub(crate) fn read(given: &Bound<'_, PyDict>, watch: &Watch) -> PyResult<Options> {
        let mut options = Options::default();
        for (key, value) in given.iter() {
            if value.is_none() {
                continue;
            }
            let key = key.cast::<PyString>()?.to_str()?.to_owned();
            let number = match key.as_str() {
                "start" => Some(Number::Start),
                "stop" => Some(Number::Stop),
                "tolerance" => Some(Number::Tolerance),
                "interval" => Some(Number::Interval),
                "max_wall" => Some(Number::MaxWall),
                "inline_step" => Some(Number::InlineStep),
                _ => None,
            };
            if let Some(number) = number {
                options.numbers.push((number, value.extract()?));
                continue;
            }
            let choice = match key.as_str() {
                "solver" => Some(Choice::Solver),
                "event_method" => Some(Choice::EventMethod),
                "zeno" => Some(Choice::Zeno),
                _ => None,
            };
            if let Some(choice) = choice {
                options.texts.push((choice, value.extract()?));
                continue;
            }
            match key.as_str() {
                "intervals" => options.intervals = Some(value.extract()?),
                "locate_events" => options.events = Some(value.extract()?),
                "record_steps" => options.record_steps = value.extract()?,
                "variables" => options.variables = Some(value.extract()?),
                "inputs" => options.inputs = inputs(value.cast()?, watch)?,
                "progress" => options.progress = Some(value.unbind()),
                _ => return Err(PyTypeError::new_err(format!("there is no option `{key}`"))),
            }
        }
        for (number, value) in &options.numbers {
            let is_positive = !matches!(number, Number::Start | Number::Stop);
            if !value.is_finite() || is_positive && *value <= 0.0 {
                return Err(PyValueError::new_err(format!(
                    "{} cannot be {value}",
                    number.name()
                )));
            }
        }
        Ok(options)
    }

    /// The experiment with these options.
    pub(crate) fn apply<'m, M: Simulate>(
        &self,
        mut experiment: Experiment<'m, M>,
    ) -> Result<Experiment<'m, M>, Error> {
        for &(number, value) in &self.numbers {
            experiment = match number {
                Number::Start => experiment.start_time(value),
                Number::Stop => experiment.stop_time(value),
                Number::Tolerance => experiment.tolerance(value),
                Number::Interval => experiment.interval(value),
                Number::MaxWall => experiment.max_wall(value),
                Number::InlineStep => experiment.inline_step(value),
            };
        }
        for (choice, name) in &self.texts {
            let chosen = match choice {
                Choice::Solver => experiment.solver(name),
                Choice::EventMethod => experiment.event_method(name),
                Choice::Zeno => experiment.zeno(name),
            };
            experiment = chosen?;
        }
        if let Some(count) = self.intervals {
            experiment = experiment.intervals(count);
        }
        if let Some(on) = self.events {
            experiment = experiment.events(on);
        }
        if let Some(patterns) = &self.variables {
            experiment = experiment.variables(patterns);
        }
        for (name, input) in &self.inputs {
            experiment = experiment.input(name, input.clone());
        }
        Ok(experiment.record_steps(self.record_steps))
    }
}

impl Number {
    fn name(self) -> &'static str {
        match self {
            Number::Start => "start",
            Number::Stop => "stop",
            Number::Tolerance => "tolerance",
            Number::Interval => "interval",
            Number::MaxWall => "max_wall",
            Number::InlineStep => "inline_step",
        }
    }
}

fn inputs(given: &Bound<'_, PyDict>, watch: &Watch) -> PyResult<Vec<(String, Input)>> {
    given
        .iter()
        .map(|(name, course)| Ok((name.extract::<String>()?, input(&course, watch)?)))
        .collect()
}

/// A constant, a pair of times and values, or a function of time.
pub(crate) fn input(course: &Bound<'_, PyAny>, watch: &Watch) -> PyResult<Input> {
    if course.is_callable() {
        let f = course.clone().unbind();
        let watch = watch.clone();
        return Ok(Input::function(move |t| {
            let value = Python::attach(|py| f.call1(py, (t,))?.extract::<f64>(py));
            value.unwrap_or_else(|error| {
                watch.fail(error);
                f64::NAN
            })
        }));
    }
    if let Ok(pair) = course.cast::<PyTuple>() {
        let (times, values): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let (times, values) = (numbers(&times)?, numbers(&values)?);
        if times.len() != values.len() {
            return Err(PyValueError::new_err(format!(
                "an input has {} times and {} values",
                times.len(),
                values.len()
            )));
        }
        let table = Input::table(times.into_iter().zip(values));
        return table.map_err(|error| exception(course.py(), error));
    }
    Ok(from_python(course)?.into())
}

/// A sequence of numbers; arrays of numpy become lists at once.
pub(crate) fn numbers(sequence: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match sequence.hasattr("tolist")? {
        true => sequence.call_method0("tolist")?.extract(),
        false => sequence.extract(),
    }
}
