//! Ctrl-C and other signals of Python while the facade works, and exceptions of callbacks.
//!
//! A handler of a signal that is written in Python runs when the main thread asks for it. So whoever works or waits on it asks.

use pyo3::prelude::*;
use saltus::Control;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Deeply nested models are worked on recursively; the depth is bounded, and this is room for the bound. Pages that are not touched cost nothing.
const STACK_BYTES: usize = 512 << 20;

/// How often somebody who waits looks at the signals.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Work that was asked to end is waited for so long; then it is left alone, and what it still computes is dropped.
const END_WITHIN: Duration = Duration::from_millis(300);

/// Ends a run when Python wants it, and keeps why.
#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) control: Control,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        let raised = Arc::new(Mutex::new(None));
        let noted = raised.clone();
        let control = Control::asking(move || {
            Python::attach(|py| match py.check_signals() {
                Ok(()) => false,
                Err(error) => {
                    note(&noted, error);
                    true
                }
            })
        });
        Watch { control, raised }
    }

    /// A callback has raised an exception: the run ends.
    pub(crate) fn fail(&self, error: PyErr) {
        note(&self.raised, error);
        self.control.cancel();
    }

    /// What Python has raised, if it was Python that ended the run.
    pub(crate) fn take(&self) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }
}

/// The first one counts.
fn note(raised: &Mutex<Option<PyErr>>, error: PyErr) {
    let mut raised = raised.lock().unwrap_or_else(PoisonError::into_inner);
    raised.get_or_insert(error);
}

/// Does work on a deep stack, and looks at the signals meanwhile.
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    control: &Control,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    match aside_keeping(py, control, work) {
        (_, Some(error)) => Err(error),
        (Some(done), None) => Ok(done),
        (None, None) => unreachable!("work that nobody has ended is done"),
    }
}

/// The same; work that was asked to end may still have come to something.
pub(crate) fn aside_keeping<T: Send + 'static>(
    py: Python<'_>,
    control: &Control,
    work: impl FnOnce() -> T + Send + 'static,
) -> (Option<T>, Option<PyErr>) {
    let (send, mut receive) = channel();
    let worker = std::thread::Builder::new()
        .name("saltus".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            // Nobody may be waiting any more.
            let _ = send.send(work());
        });
    let worker = match worker {
        Ok(worker) => worker,
        Err(error) => return (None, Some(error.into())),
    };
    let mut raised: Option<(PyErr, Instant)> = None;
    loop {
        let waiting = &mut receive;
        let received = py.detach(move || waiting.recv_timeout(LOOK_EVERY));
        match received {
            Ok(done) => return (Some(done), raised.map(|(error, _)| error)),
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a worker that ends has sent what it did"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        match &raised {
            None => {
                if let Err(error) = py.check_signals() {
                    control.cancel();
                    raised = Some((error, Instant::now()));
                }
            }
            Some((error, since)) if since.elapsed() > END_WITHIN => {
                return (None, Some(error.clone_ref(py)));
            }
            Some(_) => {}
        }
    }
}
