//! Texts and libraries.

use crate::errors::{diagnostics, exception, interrupted};
use crate::model::Model;
use crate::signals::aside;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use saltus::plot::{draw_modes, draw_structure};
use saltus::{Control, Error};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[pyclass(frozen, module = "saltus._saltus")]
pub(crate) struct Session {
    inner: Mutex<saltus::Session>,
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, saltus::Session> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As it is now; a clone costs nothing.
    fn now(&self) -> saltus::Session {
        self.lock().clone()
    }

    fn aside<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&saltus::Session) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let session = self.now();
        let done = aside(py, &Control::new(), move || work(&session));
        done.map_err(|why| interrupted(py, why, None))?
            .map_err(|error| exception(py, error))
    }
}

#[pymethods]
impl Session {
    #[new]
    fn new(libraries: Vec<PathBuf>, modelicapath: bool) -> Session {
        let mut session = saltus::Session::new();
        for library in libraries {
            session.add_library_path(library);
        }
        if modelicapath {
            session.add_modelicapath();
        }
        Session {
            inner: Mutex::new(session),
        }
    }

    fn set_text(&self, path: &str, text: &str) {
        self.lock().set_text(path, text);
    }

    fn remove(&self, path: &str) -> bool {
        self.lock().remove(path)
    }

    /// Reads a file; the name of its last class.
    fn load_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        let loaded = self.lock().load_file(path);
        loaded.map_err(|error| exception(py, error))
    }

    fn compile(&self, py: Python<'_>, name: String) -> PyResult<Model> {
        let model = self.aside(py, move |session| session.compile(&name))?;
        Ok(Model { inner: model })
    }

    fn check<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyList>> {
        let found = self.aside(py, move |session| Ok(session.check(&name)))?;
        diagnostics(py, &found)
    }

    /// As it is now: changes of this session do not reach it.
    fn snapshot(&self) -> Session {
        Session {
            inner: Mutex::new(self.now()),
        }
    }

    /// A stage as text: `flat`, `structure`, `jacobian`, `mode`, in the form `text`, `json` or `svg`.
    fn show(&self, py: Python<'_>, name: String, stage: &str, form: &str) -> PyResult<String> {
        type Shown = fn(&saltus::Session, &str) -> Result<String, Error>;
        let shown: Shown = match (stage, form) {
            ("ast", "text") => saltus::Session::print_ast,
            ("flat", "text") => saltus::Session::print_flat,
            ("structure", "text") => saltus::Session::print_structure,
            ("structure", "json") => |s, n| s.structure_view(n).map(|v| v.to_json()),
            ("structure", "svg") => |s, n| s.structure_picture(n).map(|p| draw_structure(&p)),
            ("jacobian", "text") => |s, n| s.jacobian_view(n).map(|v| v.print()),
            ("jacobian", "json") => |s, n| s.jacobian_view(n).map(|v| v.to_json()),
            ("jacobian", "svg") => |s, n| s.jacobian_view(n).map(|v| draw_structure(&v.picture())),
            ("mode", "text") => |s, n| s.modes_view(n).map(|v| v.print()),
            ("mode", "json") => |s, n| s.modes_view(n).map(|v| v.to_json()),
            ("mode", "svg") => |s, n| s.modes_view(n).map(|v| draw_modes(&v.picture())),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "`{stage}` cannot be shown as `{form}`"
                )));
            }
        };
        self.aside(py, move |session| shown(session, &name))
    }
}
