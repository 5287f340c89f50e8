//! Compiled models.

use crate::errors::{diagnostics, exception, interrupted};
use crate::fmu::export;
use crate::options::{Options, settings};
use crate::run::{Run, kind_name, type_name};
use crate::signals::{Watch, aside};
use crate::simulator::Simulator;
use crate::value::to_python;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use saltus::{Causality, Control, Progress, Settable, SlotRole, Value, Variable};
use std::path::PathBuf;
use std::sync::Arc;

#[pyclass(frozen, module = "saltus._saltus")]
pub(crate) struct Model {
    pub(crate) inner: saltus::Model,
}

#[pymethods]
impl Model {
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn description(&self) -> &str {
        &self.inner.info().description
    }

    /// Start time, stop time, tolerance and interval of the model's annotation.
    #[getter]
    fn experiment(&self) -> (f64, f64, f64, Option<f64>) {
        let e = self.inner.info().experiment;
        (e.start_time, e.stop_time, e.tolerance, e.interval)
    }

    /// Numbers of equations, unknowns and states.
    #[getter]
    fn size(&self) -> (usize, usize, usize) {
        let info = self.inner.info();
        let roles = info.slots.iter().map(|slot| slot.role);
        let states = roles.filter(|role| *role == SlotRole::State).count();
        (info.n_equations, info.n_unknowns, states)
    }

    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        diagnostics(py, self.inner.warnings())
    }

    /// The model with other values.
    fn with_settings(&self, py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Model> {
        let inner = self.set(py, given)?;
        Ok(Model { inner })
    }

    /// `parameter`, `input`, `output` or any variables, with all that is known of them.
    fn variables<'py>(&self, py: Python<'py>, which: &str) -> PyResult<Bound<'py, PyList>> {
        let found = match which {
            "parameter" => self.inner.parameters(),
            "input" => self.inner.inputs(),
            "output" => self.inner.outputs(),
            _ => self.inner.variables(),
        };
        let rows: Vec<_> = (found.iter())
            .map(|v| described(py, v))
            .collect::<PyResult<_>>()?;
        PyList::new(py, rows)
    }

    fn simulate(
        &self,
        py: Python<'_>,
        set: Option<&Bound<'_, PyDict>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Run> {
        let watch = Watch::new();
        let options = Options::read(options, &watch)?;
        let model = match set {
            Some(given) if !given.is_empty() => self.set(py, given)?,
            _ => self.inner.clone(),
        };
        let told = |progress: &Progress| {
            if let Some(callback) = &options.progress {
                let p = (progress.time, progress.start_time, progress.stop_time);
                let called = Python::attach(|py| callback.call1(py, p).map(drop));
                if let Err(error) = called {
                    watch.fail(error);
                }
            }
        };
        let mut experiment =
            (options.apply(model.experiment())).map_err(|error| exception(py, error))?;
        experiment = experiment.control(&watch.control);
        if options.progress.is_some() {
            experiment = experiment.on_progress(&told);
        }
        let done = py.detach(move || experiment.simulate());
        match (done, watch.take()) {
            (Ok(run), None) => Ok(Run {
                inner: Arc::new(run),
            }),
            (Err(error), None) => Err(exception(py, error)),
            (Ok(_), Some(why)) => Err(why),
            (Err(error), Some(why)) => Err(interrupted(py, why, Some(error))),
        }
    }

    /// The model as an FMU.
    fn export_fmu(
        &self,
        py: Python<'_>,
        path: PathBuf,
        version: u32,
        include_sources: bool,
    ) -> PyResult<()> {
        let written = py.detach(|| export(&self.inner, &path, version, include_sources));
        written.map_err(|error| exception(py, error))
    }

    /// The model as bytes: with all that a run needs, and what another compilation needs.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.inner.to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Model> {
        let inner = saltus::Model::from_bytes(bytes);
        let inner = inner.map_err(|error| exception(py, error))?;
        Ok(Model { inner })
    }

    /// Many runs; the rows of [`crate::sweep`].
    fn sweep(
        &self,
        py: Python<'_>,
        cases: &Bound<'_, PyList>,
        measures: Vec<String>,
        options: &Bound<'_, PyDict>,
        jobs: Option<usize>,
    ) -> PyResult<(Vec<crate::sweep::Row>, Option<Py<PyAny>>)> {
        crate::sweep::sweep(py, &self.inner, cases, &measures, options, jobs)
    }

    /// A run to be stepped.
    fn simulator(
        &self,
        py: Python<'_>,
        set: Option<&Bound<'_, PyDict>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Simulator> {
        let watch = Watch::new();
        let options = Options::read(options, &watch)?;
        let model = match set {
            Some(given) if !given.is_empty() => self.set(py, given)?,
            _ => self.inner.clone(),
        };
        let simulator = (options.apply(model.experiment().without_end()))
            .and_then(|experiment| experiment.control(&watch.control).simulator())
            .map_err(|error| exception(py, error))?;
        Ok(Simulator::new(model.clone(), simulator, watch))
    }
}

impl Model {
    fn set(&self, py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<saltus::Model> {
        let settings = settings(given)?;
        let model = self.inner.clone();
        let made = if settings.iter().any(|setting| may_compile(&model, setting)) {
            let made = aside(py, &Control::new(), move || model.with(settings));
            made.map_err(|why| interrupted(py, why, None))?
        } else {
            py.detach(|| model.with(settings))
        };
        made.map_err(|error| exception(py, error))
    }
}

/// The model may have to be compiled again for a setting, on a deep stack: the structure depends on the parameter, or on whether it is zero.
fn may_compile(model: &saltus::Model, (name, value): &(String, Value)) -> bool {
    let is_plain = |name| {
        let variable = model.find_variable(name);
        variable.is_ok_and(|v| v.settable == Settable::Value)
    };
    !is_plain(name) || value.as_f64().is_none_or(|number| number == 0.0)
}

fn described<'py>(py: Python<'py>, v: &Variable) -> PyResult<Bound<'py, PyTuple>> {
    let value = match &v.value {
        Some(value) => to_python(py, value)?,
        None => py.None().into_bound(py),
    };
    let causality = match v.causality {
        Causality::Local => "local",
        Causality::Input => "input",
        Causality::Output => "output",
    };
    let fields = [
        v.name.as_str().into_pyobject(py)?.into_any(),
        value,
        v.unit.as_str().into_pyobject(py)?.into_any(),
        v.min.into_pyobject(py)?.into_any(),
        v.max.into_pyobject(py)?.into_any(),
        type_name(v.ty).into_pyobject(py)?.into_any(),
        v.description.as_str().into_pyobject(py)?.into_any(),
        v.settable.into_pyobject(py)?.to_owned().into_any(),
        v.structural.into_pyobject(py)?.into_any(),
        v.display_unit.as_str().into_pyobject(py)?.into_any(),
        kind_name(v.kind).into_pyobject(py)?.into_any(),
        causality.into_pyobject(py)?.into_any(),
        PyTuple::new(py, &v.literals)?.into_any(),
        v.hidden.into_pyobject(py)?.to_owned().into_any(),
    ];
    PyTuple::new(py, fields)
}
