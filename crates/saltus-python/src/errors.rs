//! Errors of the facade as exceptions of Python. Their classes are in `saltus._errors`.

use crate::run::Run;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use saltus::{Diagnostic, Diagnostics, Error, Severity};
use std::sync::Arc;

const MODULE: &str = "saltus._errors";

/// The messages as `saltus.Diagnostic`s.
pub(crate) fn diagnostics<'py>(
    py: Python<'py>,
    found: &Diagnostics,
) -> PyResult<Bound<'py, PyList>> {
    let class = py.import(MODULE)?.getattr("Diagnostic")?;
    let list: Vec<_> = (found.list.iter())
        .map(|d| diagnostic(&class, found, d))
        .collect::<PyResult<_>>()?;
    PyList::new(py, list)
}

fn diagnostic<'py>(
    class: &Bound<'py, PyAny>,
    found: &Diagnostics,
    d: &Diagnostic,
) -> PyResult<Bound<'py, PyAny>> {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let place = d.primary.as_ref().map(|label| {
        let span = label.span;
        let at = found.sources().line_col(span.file, span.start);
        let file = found.sources().file(span.file).name.clone();
        (file, at.line, at.col)
    });
    let (file, line, column) = match place {
        Some((file, line, column)) => (Some(file), Some(line), Some(column)),
        None => (None, None, None),
    };
    class.call1((
        d.code,
        severity,
        d.message.as_str(),
        file,
        line,
        column,
        d.notes.clone(),
        d.help.clone(),
        found.render(d),
    ))
}

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    let (kind, messages, run) = match error {
        Error::Usage(text) => return raised(py, "SaltusError", &text, "usage", None, None),
        Error::Model(messages) => ("model", messages, None),
        Error::Stopped(messages) => ("run", messages, None),
        Error::Run(messages, run) => ("run", messages, Some(*run)),
    };
    raised(
        py,
        "SaltusError",
        &text_of(&messages),
        kind,
        Some(&messages),
        run,
    )
}

/// The exception for work that Python itself has ended: `why` is what a signal handler or a callback has raised.
pub(crate) fn interrupted(py: Python<'_>, why: PyErr, ended: Option<Error>) -> PyErr {
    let (messages, run) = match ended {
        Some(Error::Run(messages, run)) => (Some(messages), Some(*run)),
        Some(Error::Model(messages) | Error::Stopped(messages)) => (Some(messages), None),
        Some(Error::Usage(_)) | None => (None, None),
    };
    if !why.is_instance_of::<PyKeyboardInterrupt>(py) {
        if let Some(run) = run
            && let Ok(result) = result(py, run)
        {
            // An exception that takes no attributes is raised as it is.
            let _ = why.value(py).setattr("result", result);
        }
        return why;
    }
    let text = messages
        .as_ref()
        .map_or_else(|| "interrupted".to_owned(), text_of);
    raised(
        py,
        "Interrupted",
        &text,
        "interrupted",
        messages.as_ref(),
        run,
    )
}

fn text_of(messages: &Diagnostics) -> String {
    messages.to_string().trim_end().to_owned()
}

fn result(py: Python<'_>, run: saltus::Run) -> PyResult<Bound<'_, PyAny>> {
    let run = Run {
        inner: Arc::new(run),
    };
    py.import("saltus._result")?
        .getattr("Result")?
        .call1((run,))
}

fn raised(
    py: Python<'_>,
    class: &str,
    text: &str,
    kind: &str,
    messages: Option<&Diagnostics>,
    run: Option<saltus::Run>,
) -> PyErr {
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let list = match messages {
            Some(messages) => diagnostics(py, messages)?,
            None => PyList::empty(py),
        };
        let result = run.map(|run| result(py, run)).transpose()?;
        (py.import(MODULE)?.getattr(class)?).call1((text, list, result, kind))
    };
    match make() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
