//! Runs from inside.

use crate::errors::{exception, interrupted};
use crate::options::input;
use crate::run::{Run, side_of};
use crate::signals::Watch;
use crate::value::{from_python, to_python};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use saltus::results::write_events;
use saltus::{Causality, Error, Progressed};
use std::sync::{Arc, Mutex, PoisonError};

/// A run that is stepped. One thread at a time works with it.
#[pyclass(frozen, module = "saltus._saltus")]
pub(crate) struct Simulator {
    /// `None`: finished.
    inner: Mutex<Option<saltus::Simulator>>,
    watch: Watch,
    model: saltus::Model,
}

impl Simulator {
    pub(crate) fn new(
        model: saltus::Model,
        simulator: saltus::Simulator,
        watch: Watch,
    ) -> Simulator {
        Simulator {
            model,
            inner: Mutex::new(Some(simulator)),
            watch,
        }
    }

    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut saltus::Simulator) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.as_mut().map(work)
        });
        let Some(done) = done else {
            return Err(PyRuntimeError::new_err("the run is finished"));
        };
        match (done, self.watch.take()) {
            (Ok(done), None) => Ok(done),
            (Err(error), None) => Err(exception(py, error)),
            (ended, Some(why)) => Err(interrupted(py, why, ended.err())),
        }
    }
}

fn name_of(progressed: Progressed) -> &'static str {
    match progressed {
        Progressed::Step => "step",
        Progressed::Event => "event",
        Progressed::Finished => "finished",
    }
}

#[pymethods]
impl Simulator {
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.work(py, |run| Ok(run.time()))
    }

    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.work(py, |run| Ok(run.is_finished()))
    }

    fn initialise(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, saltus::Simulator::initialise)
    }

    /// To a time after all that happens there, or to the next event before it.
    fn advance_to(&self, py: Python<'_>, time: f64, to_event: bool) -> PyResult<&'static str> {
        let gone = self.work(py, |run| match to_event {
            true => run.advance_to_event(time),
            false => run.advance_to(time),
        });
        gone.map(name_of)
    }

    fn step(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.work(py, saltus::Simulator::step).map(name_of)
    }

    fn get(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let value = self.work(py, |run| run.value(name))?;
        Ok(to_python(py, &value)?.unbind())
    }

    fn set(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = from_python(value)?;
        self.work(py, |run| run.set(name, value))
    }

    /// Of an array: its first element.
    fn is_input(&self, name: &str) -> bool {
        let of_element = || self.model.find_variable(&format!("{name}[1]"));
        let variable = self.model.find_variable(name).or_else(|_| of_element());
        variable.is_ok_and(|v| v.causality == Causality::Input)
    }

    fn set_input(&self, py: Python<'_>, name: &str, course: &Bound<'_, PyAny>) -> PyResult<()> {
        let input = input(course, &self.watch)?;
        self.work(py, |run| run.set_input(name, input))
    }

    fn interpolate(&self, py: Python<'_>, name: &str, time: f64, side: &str) -> PyResult<f64> {
        let side = side_of(side)?;
        self.work(py, |run| run.interpolate(name, time, side))
    }

    fn states(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        self.work(py, |run| run.states())
    }

    fn derivatives(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        self.work(py, |run| run.derivatives())
    }

    fn event_indicators(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        self.work(py, |run| run.event_indicators())
    }

    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        self.work(py, |run| {
            let outputs = run.outputs()?;
            Ok((outputs.into_iter())
                .map(|(name, x)| (name.to_owned(), x))
                .collect())
        })
    }

    /// The events since the start, one JSON object per line.
    fn events_json(&self, py: Python<'_>) -> PyResult<String> {
        let bytes = self.work(py, |run| {
            let mut out = Vec::new();
            let written = write_events(run.events(), &mut out);
            written.map_err(|error| Error::Usage(error.to_string()))?;
            Ok(out)
        })?;
        Ok(String::from_utf8(bytes)?)
    }

    /// Moves the states to where nothing moves.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, saltus::Simulator::settle)
    }

    /// A, B, C, D, names of states, inputs and outputs, time, x, u, y, x'.
    fn linearize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let l = self.work(py, |run| run.linearize())?;
        let matrices = (l.a, l.b, l.c, l.d).into_pyobject(py)?;
        let names = (l.states, l.inputs, l.outputs, l.time).into_pyobject(py)?;
        let point = (l.x, l.u, l.y, l.dx).into_pyobject(py)?;
        let parts = matrices.iter().chain(names.iter()).chain(point.iter());
        PyTuple::new(py, parts.collect::<Vec<_>>())
    }

    fn save(&self, py: Python<'_>) -> PyResult<State> {
        let state = self.work(py, |run| run.save())?;
        Ok(State { inner: state })
    }

    fn restore(&self, py: Python<'_>, state: &Bound<'_, State>) -> PyResult<()> {
        let state = &state.get().inner;
        self.work(py, |run| run.restore(state))
    }

    /// Ends the run: what it was.
    fn finish(&self, py: Python<'_>) -> PyResult<Run> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(simulator) = inner.take() else {
            return Err(PyRuntimeError::new_err("the run is finished"));
        };
        match simulator.finish() {
            Ok(run) => Ok(Run {
                inner: Arc::new(run),
            }),
            Err(error) => Err(exception(py, error)),
        }
    }
}

/// A run at an instant.
#[pyclass(frozen, module = "saltus._saltus")]
pub(crate) struct State {
    inner: saltus::State,
}

#[pymethods]
impl State {
    #[getter]
    fn time(&self) -> f64 {
        self.inner.time()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<State> {
        let state = saltus::State::from_bytes(bytes);
        match state {
            Ok(inner) => Ok(State { inner }),
            Err(error) => Err(exception(py, error)),
        }
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let class = slf.get_type().getattr("from_bytes")?;
        Ok((class, (slf.get().to_bytes(slf.py()),)))
    }
}
