//! FMUs: models exported, and those of others run.

use crate::errors::{exception, interrupted};
use crate::options::{Options, settings};
use crate::run::Run;
use crate::signals::Watch;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use saltus::Error;
use saltus::ode::Simulate as _;
use saltus::results::Selection;
use saltus_fmi::import::{CoSimulation, FmuVariable, Kind};
use saltus_fmi::{Export, FmiVersion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes a model as an FMU.
pub(crate) fn export(
    model: &saltus::Model,
    path: &Path,
    version: u32,
    with_sources: bool,
) -> Result<(), Error> {
    let version = match version {
        2 => FmiVersion::V2,
        3 => FmiVersion::V3,
        _ => return Err(Error::Usage(format!("fmi is 2 or 3, not {version}"))),
    };
    let runtime = saltus_cli::fmu_runtime().map_err(Error::Usage)?;
    let export = Export::new(model, version).with_sources(with_sources);
    let bytes = export.to_bytes(&runtime)?;
    saltus::replace::replace_file(path, |out| std::io::Write::write_all(out, &bytes))
        .map_err(|e| Error::Usage(format!("`{}` cannot be written: {e}", path.display())))
}

#[pyclass(frozen, module = "saltus._saltus")]
pub(crate) struct Fmu {
    inner: Arc<saltus_fmi::import::Fmu>,
}

#[pymethods]
impl Fmu {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Fmu> {
        let opened = py.detach(|| saltus_fmi::import::Fmu::open(&path));
        match opened {
            Ok(fmu) => Ok(Fmu {
                inner: Arc::new(fmu),
            }),
            Err(why) => Err(usage(py, format!("`{}`: {why}", path.display()))),
        }
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.description.model_name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.inner.description.text
    }

    /// 2 or 3.
    #[getter]
    fn version(&self) -> u32 {
        match self.inner.version() {
            FmiVersion::V2 => 2,
            FmiVersion::V3 => 3,
        }
    }

    /// `cs` and `me`, those that it has.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        let all = [("cs", Kind::CoSimulation), ("me", Kind::ModelExchange)];
        let has = |kind| self.inner.description.identifier(kind).is_some();
        (all.into_iter().filter(|(_, kind)| has(*kind)))
            .map(|(name, _)| name)
            .collect()
    }

    /// Name, type, causality, start, unit and description of each variable.
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let row = |v: &FmuVariable| {
            let causality = format!("{:?}", v.causality);
            let ty = format!("{:?}", v.ty);
            PyTuple::new(
                py,
                [
                    v.name.as_str().into_pyobject(py)?.into_any(),
                    ty.into_pyobject(py)?.into_any(),
                    causality.into_pyobject(py)?.into_any(),
                    v.start.clone().into_pyobject(py)?.into_any(),
                    v.unit.as_str().into_pyobject(py)?.into_any(),
                    v.text.as_str().into_pyobject(py)?.into_any(),
                ],
            )
        };
        let rows: PyResult<Vec<_>> = self.inner.description.variables.iter().map(row).collect();
        PyList::new(py, rows?)
    }

    /// A run with its own integrator.
    #[pyo3(signature = (start, stop, tolerance, interval, set, variables))]
    fn co_simulate(
        &self,
        py: Python<'_>,
        start: Option<f64>,
        stop: Option<f64>,
        tolerance: Option<f64>,
        interval: Option<f64>,
        set: &Bound<'_, PyDict>,
        variables: Vec<String>,
    ) -> PyResult<Run> {
        let set = settings(set)?;
        let run = || -> Result<saltus::Run, String> {
            let mut run = CoSimulation::new(&self.inner);
            run.start = start.unwrap_or(run.start);
            run.stop = stop.unwrap_or(run.stop);
            run.tolerance = tolerance.or(run.tolerance);
            run.interval = interval.or(run.interval);
            for (name, value) in &set {
                run.set(name, value)?;
            }
            let (table, ended) = run.table(&Selection::from_patterns(&variables))?;
            match ended.failure {
                None => Ok(saltus::Run::of_table(
                    &self.inner.description.model_name,
                    table,
                )),
                Some(why) => Err(format!("at time {}: {why}", ended.time)),
            }
        };
        let done = py.detach(run).map_err(|why| usage(py, why))?;
        Ok(Run {
            inner: Arc::new(done),
        })
    }

    /// A run with our integrators.
    fn simulate(
        &self,
        py: Python<'_>,
        set: &Bound<'_, PyDict>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Run> {
        let watch = Watch::new();
        let options = Options::read(options, &watch)?;
        let set = settings(set)?;
        let set: Vec<_> = set.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
        let model = self.inner.model(&set).map_err(|why| usage(py, why))?;
        let experiment =
            (options.apply(model.experiment())).map_err(|error| exception(py, error))?;
        let experiment = experiment.control(&watch.control);
        match (py.detach(move || experiment.simulate()), watch.take()) {
            (Ok(run), None) => Ok(Run {
                inner: Arc::new(run),
            }),
            (Err(error), None) => Err(exception(py, error)),
            (Ok(_), Some(why)) => Err(why),
            (Err(error), Some(why)) => Err(interrupted(py, why, Some(error))),
        }
    }
}

fn usage(py: Python<'_>, why: String) -> PyErr {
    exception(py, Error::Usage(why))
}
