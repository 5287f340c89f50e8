//! The wall-clock limit of a command, compiling included (`--max-wall`).
//!
//! A run ends by itself when its share of the time is over, with its results. No other stage looks at the clock; a second thread ends
//! the program if the limit passes there, or if a run does not come back from a single step.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::exit::{Exit, message};

/// What a run may take longer than the limit before it is ended from outside: a part of the limit, and at least so many seconds.
const GRACE_SHARE: f64 = 0.1;
const GRACE_SECONDS_MIN: f64 = 1.0;

/// The limit of a command that runs.
pub(crate) struct Deadline {
    begin: Instant,
    seconds: f64,
    /// Tells the second thread that the run has begun; it ends when this is gone.
    running: Sender<()>,
}

impl Deadline {
    pub(crate) fn new(seconds: f64) -> Deadline {
        let begin = Instant::now();
        let (running, told) = channel();
        std::thread::spawn(move || {
            let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            match told.recv_timeout(limit) {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => end("before the model ran", seconds),
                Ok(()) => {}
            }
            let grace = (GRACE_SHARE * seconds).max(GRACE_SECONDS_MIN);
            let end_at = Duration::try_from_secs_f64(seconds + grace).unwrap_or(Duration::MAX);
            let left = end_at.saturating_sub(begin.elapsed());
            if told.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                end(
                    "and passed; what is in the result file can be read",
                    seconds,
                );
            }
        });
        Deadline {
            begin,
            seconds,
            running,
        }
    }

    /// The run begins: the seconds that are left for it.
    pub(crate) fn run_begins(&self) -> f64 {
        // The thread waits as long as `self` lives.
        let _ = self.running.send(());
        (self.seconds - self.begin.elapsed().as_secs_f64()).max(0.0)
    }
}

fn end(when: &str, seconds: f64) {
    message(&format!(
        "error[wall-clock]: the limit of {seconds} s was reached {when}\nhelp: raise `--max-wall`"
    ));
    std::process::exit(Exit::Incomplete as i32);
}
