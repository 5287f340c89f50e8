//! The native part of the Python package `saltus`: values, errors, buffers and signals of Python on one side, the facade on the other.
//!
//! Comes in: Python objects. Goes out: plain objects of Python, and three kinds of handles (`Session`, `Model`, `Simulator`) and results (`Run`) that the Python part of the package
//! (`python/saltus`) gives their names and pictures. Nothing is computed here.
//!
//! **The interpreter's lock** is not held while the facade works. Runs stay on the thread that called, and look at Python's signals about twenty times a second ([`signals`]); what
//! may need a deep stack goes to a thread of its own, and the caller waits for it with an eye on the signals.

mod column;
mod errors;
mod fmu;
mod model;
mod ode;
mod options;
mod run;
mod session;
mod signals;
mod simulator;
mod sweep;
mod value;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Says what is missing before the process ends.
#[global_allocator]
static ALLOCATOR: saltus_cli::Allocator = saltus_cli::Allocator;

/// The command line; the exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| saltus_cli::main(arguments))
}

#[pymodule]
fn _saltus(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", saltus::VERSION)?;
    m.add_class::<session::Session>()?;
    m.add_class::<model::Model>()?;
    m.add_class::<run::Run>()?;
    m.add_class::<simulator::Simulator>()?;
    m.add_class::<simulator::State>()?;
    m.add_class::<column::Column>()?;
    m.add_class::<fmu::Fmu>()?;
    m.add_function(wrap_pyfunction!(main, m)?)?;
    m.add_function(wrap_pyfunction!(ode::simulate_ode, m)?)?;
    Ok(())
}
