//! Results.

use crate::column::{Column, Numbers};
use crate::errors::{diagnostics, exception};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use saltus::plot::{PlotOptions, plot_over_time, plot_phase};
use saltus::results::{Side, Source, ValueType, VariableKind, write_events};
use std::path::PathBuf;
use std::sync::Arc;

/// A finished run, or what there is of one that failed.
#[pyclass(frozen, module = "saltus._saltus")]
pub(crate) struct Run {
    pub(crate) inner: Arc<saltus::Run>,
}

impl Run {
    fn column(&self, numbers: Numbers) -> Column {
        Column {
            run: self.inner.clone(),
            numbers,
        }
    }
}

/// The names of types in Modelica.
pub(crate) fn type_name(ty: ValueType) -> &'static str {
    match ty {
        ValueType::Real => "Real",
        ValueType::Integer => "Integer",
        ValueType::Boolean => "Boolean",
        ValueType::Enumeration => "enumeration",
        ValueType::String => "String",
    }
}

pub(crate) fn kind_name(kind: VariableKind) -> &'static str {
    match kind {
        VariableKind::Constant => "constant",
        VariableKind::Parameter => "parameter",
        VariableKind::Discrete => "discrete",
        VariableKind::Continuous => "continuous",
    }
}

pub(crate) fn side_of(name: &str) -> PyResult<Side> {
    match name {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => Err(PyValueError::new_err(format!(
            "side is 'left' or 'right', not '{name}'"
        ))),
    }
}

#[pymethods]
impl Run {
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.inner.to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Run> {
        let run = saltus::Run::from_bytes(bytes);
        let inner = Arc::new(run.map_err(|error| exception(py, error))?);
        Ok(Run { inner })
    }

    #[getter]
    fn model(&self) -> &str {
        &self.inner.statistics.model
    }

    fn __len__(&self) -> usize {
        self.inner.table.n_rows()
    }

    fn names(&self) -> Vec<&str> {
        self.inner.table.variables().map(|(name, _)| name).collect()
    }

    fn time(&self) -> Column {
        self.column(Numbers::Time)
    }

    /// Type and numbers of a variable: a column, or the one number of all rows; `None` if there is no such variable.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let table = &self.inner.table;
        let Some((_, variable)) = table.find(name) else {
            return Ok(None);
        };
        let ty = type_name(variable.ty);
        let numbers = match variable.source {
            Source::Constant(number) => return Ok(Some((ty, number).into_pyobject(py)?)),
            Source::Series { id, negated: false } => Numbers::Series(id),
            source => Numbers::Own(table.signal_of(source).to_vec()),
        };
        Ok(Some((ty, self.column(numbers)).into_pyobject(py)?))
    }

    /// Description, unit, display unit, type and kind of a variable.
    fn about(&self, name: &str) -> Option<(&str, &str, &str, &str, &str)> {
        let (_, v) = self.inner.table.find(name)?;
        Some((
            &v.description,
            &v.unit,
            &v.display_unit,
            type_name(v.ty),
            kind_name(v.kind),
        ))
    }

    fn similar(&self, name: &str) -> Vec<&str> {
        self.inner.table.similar_names(name, 3)
    }

    fn at(&self, py: Python<'_>, name: &str, time: f64, side: &str) -> PyResult<f64> {
        let side = side_of(side)?;
        (self.inner.at_side(name, time, side)).map_err(|error| exception(py, error))
    }

    /// The event log, one JSON object per line.
    fn events_json(&self) -> PyResult<String> {
        let mut out = Vec::new();
        write_events(self.inner.events(), &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    fn statistics_json(&self) -> String {
        self.inner.statistics.to_json()
    }

    /// A measure of a sweep; `None` if the run has no such number.
    fn measure(&self, text: &str) -> PyResult<Option<f64>> {
        let measure: saltus::Measure = text.parse().map_err(PyValueError::new_err)?;
        Ok(measure.of(&self.inner))
    }

    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        diagnostics(py, &self.inner.warnings)
    }

    #[getter]
    fn time_start(&self) -> f64 {
        self.inner.time_start
    }

    #[getter]
    fn time_reached(&self) -> f64 {
        self.inner.time_reached
    }

    #[getter]
    fn terminated(&self) -> Option<&str> {
        self.inner.terminated.as_deref()
    }

    /// Curves over time, or over a variable.
    fn svg(
        &self,
        names: Vec<String>,
        over: Option<&str>,
        title: Option<String>,
        width: u32,
        height: u32,
    ) -> PyResult<String> {
        let mut options = PlotOptions {
            title,
            width,
            height,
            ..PlotOptions::default()
        };
        let table = &self.inner.table;
        let drawn = match over {
            Some(over) => plot_phase(table, over, &names, &options),
            None => {
                options.events = self.inner.events().iter().map(|e| e.time).collect();
                plot_over_time(table, &names, &options)
            }
        };
        drawn.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Writes the result; the ending of the name says in which form.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = py.detach(|| self.inner.save(&path));
        saved.map_err(|error| exception(py, error))
    }
}
