//! Numbers of a result as a buffer of Python: read-only, shared with the result, alive as long as somebody looks at them.

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use saltus::results::SeriesId;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Which numbers of a run.
pub(crate) enum Numbers {
    Time,
    Series(SeriesId),
    /// Computed for this column: the negative of a trajectory.
    Own(Vec<f64>),
}

/// A column of doubles, one per row. `numpy.frombuffer` sees it without a copy.
#[pyclass(frozen, module = "saltus._saltus")]
pub(crate) struct Column {
    pub(crate) run: Arc<saltus::Run>,
    pub(crate) numbers: Numbers,
}

impl Column {
    fn slice(&self) -> &[f64] {
        match &self.numbers {
            Numbers::Time => self.run.table.time(),
            Numbers::Series(id) => self.run.table.series(*id),
            Numbers::Own(numbers) => numbers,
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.slice().len()
    }

    /// # Safety
    /// Called by the interpreter, with a view to be filled.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let column = slf.get();
        let numbers = column.slice();
        let at = numbers.as_ptr() as *mut c_void;
        let Ok(bytes) = isize::try_from(size_of_val(numbers)) else {
            return Err(PyBufferError::new_err("the column is too long"));
        };
        // SAFETY: the numbers are never changed or moved while the column lives, the view holds a reference to the column, and is told to be read-only.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), at, bytes, 1, flags) };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::take(slf.py())
                .unwrap_or_else(|| PyBufferError::new_err("the column can only be read"))),
        }
    }

    /// # Safety
    /// Called by the interpreter; there is nothing to give back.
    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {}
}
