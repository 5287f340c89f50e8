//! Problems written in Python: right-hand side, crossing functions and what happens at them are callables, or addresses of C functions.

use crate::errors::{exception, interrupted};
use crate::options::{Options, numbers};
use crate::run::Run;
use crate::signals::Watch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};
use saltus::ode::{Crossing, OdeProblem, Simulate as _};
use saltus::{Error, Progress};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// `void f(double t, const double *x, double *dx)`.
type Derivatives = unsafe extern "C" fn(f64, *const f64, *mut f64);
/// `double g(double t, const double *x)`.
type Scalar = unsafe extern "C" fn(f64, *const f64) -> f64;

enum Function<C> {
    Python(Py<PyAny>),
    /// Compiled, as numba's `cfunc` gives it.
    Compiled(C),
}

/// A function of numba says where its code is.
fn address(f: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    match f.getattr_opt("address")? {
        Some(address) => Ok(Some(address.extract()?)),
        None => Ok(None),
    }
}

struct Event {
    function: Function<Scalar>,
    /// What happens: a function of time and states that gives new states.
    action: Option<Py<PyAny>>,
    /// At which change of sign: 1 upwards, -1 downwards, 0 at both.
    direction: i32,
    terminal: bool,
}

struct Callbacks {
    derivatives: Function<Derivatives>,
    events: Vec<Event>,
    watch: Watch,
    /// An event has ended the run.
    ended: AtomicBool,
}

/// A view of numbers as an array of numpy; it is a copy, so that it may be kept.
fn array<'py>(py: Python<'py>, x: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let from_buffer = FROM_BUFFER.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        Ok(py.import("numpy")?.getattr("frombuffer")?.unbind())
    })?;
    let mut bytes = Vec::with_capacity(size_of_val(x));
    x.iter().for_each(|x| bytes.extend(x.to_ne_bytes()));
    from_buffer.bind(py).call1((PyBytes::new(py, &bytes),))
}

impl Callbacks {
    fn derivatives(&self, t: f64, x: &[f64], dx: &mut [f64]) {
        match &self.derivatives {
            // SAFETY: the caller of `ode` has promised the form of the function; both arrays have as many elements as there are states.
            Function::Compiled(f) => unsafe { f(t, x.as_ptr(), dx.as_mut_ptr()) },
            Function::Python(f) => {
                let given = Python::attach(|py| {
                    let given = f.bind(py).call1((t, array(py, x)?))?;
                    of_length(numbers(&given)?, dx.len(), "derivatives")
                });
                match given {
                    Ok(given) => dx.copy_from_slice(&given),
                    Err(error) => {
                        self.watch.fail(error);
                        dx.fill(f64::NAN);
                    }
                }
            }
        }
    }

    fn crossing(&self, event: &Event, t: f64, x: &[f64]) -> f64 {
        match &event.function {
            // SAFETY: as above.
            Function::Compiled(g) => unsafe { g(t, x.as_ptr()) },
            Function::Python(g) => {
                let given = Python::attach(|py| {
                    let given = g.bind(py).call1((t, array(py, x)?))?;
                    given.extract::<f64>()
                });
                given.unwrap_or_else(|error| {
                    self.watch.fail(error);
                    f64::NAN
                })
            }
        }
    }

    /// Carries out what an event does to the states.
    fn happen(&self, event: &Event, t: f64, x: &mut [f64]) {
        if let Some(action) = &event.action {
            let given = Python::attach(|py| {
                let given = action.bind(py).call1((t, array(py, x)?))?;
                match given.is_none() {
                    true => Ok(None),
                    false => {
                        of_length(numbers(&given)?, x.len(), "states after an event").map(Some)
                    }
                }
            });
            match given {
                Ok(Some(given)) => x.copy_from_slice(&given),
                Ok(None) => {}
                Err(error) => self.watch.fail(error),
            }
        }
        if event.terminal {
            self.ended.store(true, Ordering::Relaxed);
            self.watch.control.cancel();
        }
    }
}

fn of_length(given: Vec<f64>, n: usize, what: &str) -> PyResult<Vec<f64>> {
    match given.len() == n {
        true => Ok(given),
        false => Err(PyValueError::new_err(format!(
            "{} {what} were given for {n} states",
            given.len()
        ))),
    }
}

/// Simulates x' = f(t, x) with events; each is a tuple of function, action, direction, whether it ends the run, and a name.
#[pyfunction]
pub(crate) fn simulate_ode(
    py: Python<'_>,
    f: &Bound<'_, PyAny>,
    states: Vec<(String, f64)>,
    events: Vec<(Bound<'_, PyAny>, Option<Py<PyAny>>, i32, bool, String)>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Run> {
    let watch = Watch::new();
    let options = Options::read(options, &watch)?;
    let derivatives = match address(f)? {
        // SAFETY: an object with an address is a compiled function of this form, by the contract of `saltus.ode`.
        Some(at) => Function::Compiled(unsafe { std::mem::transmute::<usize, Derivatives>(at) }),
        None => Function::Python(f.clone().unbind()),
    };
    let mut crossings = Vec::new();
    let mut known = Vec::new();
    for (function, action, direction, terminal, name) in events {
        crossings.push(match direction {
            -1 => Crossing::below(&name),
            _ => Crossing::above(&name),
        });
        known.push(Event {
            function: match address(&function)? {
                // SAFETY: as above.
                Some(at) => Function::Compiled(unsafe { std::mem::transmute::<usize, Scalar>(at) }),
                None => Function::Python(function.unbind()),
            },
            action,
            direction,
            terminal,
        });
    }
    let callbacks = Arc::new(Callbacks {
        derivatives,
        events: known,
        watch: watch.clone(),
        ended: AtomicBool::new(false),
    });
    let (rates, signs, jumps) = (callbacks.clone(), callbacks.clone(), callbacks.clone());
    let told = |progress: &Progress| {
        if let Some(callback) = &options.progress {
            let p = (progress.time, progress.start_time, progress.stop_time);
            let called = Python::attach(|py| callback.call1(py, p).map(drop));
            if let Err(error) = called {
                watch.fail(error);
            }
        }
    };
    let done = py.detach(|| {
        let named: Vec<(&str, f64)> = states.iter().map(|(name, x)| (name.as_str(), *x)).collect();
        let problem = OdeProblem::new("ode", &named, move |at, dx| {
            rates.derivatives(at.t, at.x, dx)
        })
        .crossings(&crossings, move |at, r| {
            for (r, event) in r.iter_mut().zip(&signs.events) {
                *r = signs.crossing(event, at.t, at.x);
            }
        })
        .on_event(move |jump| {
            for (k, event) in jumps.events.iter().enumerate() {
                let happens = jump.became_true(k) || event.direction == 0 && jump.became_false(k);
                if happens {
                    jumps.happen(event, jump.t, jump.x);
                }
            }
        })
        .build();
        let mut experiment = options.apply(problem.experiment())?.control(&watch.control);
        if options.progress.is_some() {
            experiment = experiment.on_progress(&told);
        }
        experiment.simulate()
    });
    let has_ended = callbacks.ended.load(Ordering::Relaxed);
    let run = match (done, watch.take()) {
        (Ok(run), None) => run,
        (Err(Error::Run(_, run)), None) if has_ended => *run,
        (Err(error), None) => return Err(exception(py, error)),
        (Ok(_), Some(why)) => return Err(why),
        (Err(error), Some(why)) => return Err(interrupted(py, why, Some(error))),
    };
    Ok(Run {
        inner: Arc::new(run),
    })
}
