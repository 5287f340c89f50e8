//! Values between Python and Modelica.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString};
use saltus::Value;

/// Dimensions of an array at most.
const NESTING_MAX: usize = 16;

/// A number, truth value, text, or nested sequence of them; arrays and scalars of numpy are what their `tolist` says.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested(object, 0)
}

fn nested(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if let Ok(b) = object.cast::<PyBool>() {
        return Ok(Value::Boolean(b.is_true()));
    }
    if let Ok(x) = object.cast::<PyFloat>() {
        return Ok(Value::Real(x.value()));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Value::Integer(object.extract()?));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    if depth < NESTING_MAX {
        if object.hasattr("tolist")? {
            return nested(&object.call_method0("tolist")?, depth + 1);
        }
        if let Ok(elements) = object.try_iter() {
            let elements = elements.map(|element| nested(&element?, depth + 1));
            return Ok(Value::Array(elements.collect::<PyResult<_>>()?));
        }
    }
    if let Ok(x) = object.extract::<f64>() {
        return Ok(Value::Real(x));
    }
    Err(PyTypeError::new_err(format!(
        "a value is a number, a bool, a str, or a sequence of them, not {}",
        object.get_type().name()?
    )))
}

pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Real(x) => x.into_pyobject(py)?.into_any(),
        Value::Integer(i) => i.into_pyobject(py)?.into_any(),
        Value::Boolean(b) => b.into_pyobject(py)?.to_owned().into_any(),
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(elements) => {
            let elements: Vec<_> = (elements.iter())
                .map(|element| to_python(py, element))
                .collect::<PyResult<_>>()?;
            PyList::new(py, elements)?.into_any()
        }
    })
}
