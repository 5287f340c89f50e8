//! Many runs. A row has the measures (`None`: the run has no such number), the time that was reached, the status, and the message of an error.

use crate::errors::{exception, interrupted};
use crate::options::{Options, settings};
use crate::signals::{Watch, aside_keeping};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use saltus::{Measure, Model, SweepRun};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often it is told how many runs are done.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Number of the run, measures, time that was reached, status, message.
pub(crate) type Row = (usize, Vec<Option<f64>>, Option<f64>, &'static str, String);

fn row(run: &SweepRun) -> Row {
    let text = run
        .error
        .as_ref()
        .map_or_else(String::new, |e| e.to_string());
    let text = text.trim_end().to_owned();
    (
        run.index,
        run.measures.clone(),
        run.time,
        run.status(),
        text,
    )
}

/// The rows that were made, in the order of the cases, and what has ended the sweep before its end.
pub(crate) fn sweep(
    py: Python<'_>,
    model: &Model,
    cases: &Bound<'_, PyList>,
    measures: &[String],
    options: &Bound<'_, PyDict>,
    jobs: Option<usize>,
) -> PyResult<(Vec<Row>, Option<Py<PyAny>>)> {
    let watch = Watch::new();
    let options = Options::read(options, &watch)?;
    let mut settled = Vec::with_capacity(cases.len());
    for case in cases.iter() {
        settled.push(settings(case.cast::<PyDict>()?)?);
    }
    let measures: Vec<Measure> = (measures.iter())
        .map(|text| text.parse().map_err(PyValueError::new_err))
        .collect::<PyResult<_>>()?;
    let (model, n) = (model.clone(), settled.len());
    let (control, teller) = (watch.control.clone(), watch.clone());
    let (done, raised) = aside_keeping(py, &watch.control, move || {
        let counted = AtomicUsize::new(0);
        let told = Mutex::new(Instant::now());
        let mut sweep = model.sweep().cases(settled).control(&control);
        for measure in measures {
            sweep = sweep.measure(measure);
        }
        if let Some(jobs) = jobs {
            sweep = sweep.jobs(jobs);
        }
        let tell = |_: &SweepRun| {
            let count = counted.fetch_add(1, Ordering::Relaxed) + 1;
            let Some(callback) = &options.progress else {
                return;
            };
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.elapsed() >= TELL_EVERY {
                *told = Instant::now();
                let called = Python::attach(|py| callback.call1(py, (count, 0, n)).map(drop));
                if let Err(error) = called {
                    teller.fail(error);
                }
            }
        };
        let runs = sweep
            .experiment(|experiment| options.apply(experiment))
            .on_done(tell)
            .run();
        runs.map(|runs| runs.iter().map(row).collect::<Vec<Row>>())
    });
    let rows = match done {
        Some(Ok(rows)) => rows,
        Some(Err(error)) => return Err(exception(py, error)),
        None => Vec::new(),
    };
    let why = raised.or_else(|| watch.take());
    let why = why.map(|why| interrupted(py, why, None).into_value(py).into_any());
    Ok((rows, why))
}
