//! The line that tells how a run gets on: simulated time, events, speed. Only on a terminal.

use std::io::{IsTerminal, Write};

use saltus::Progress;

/// Returns to the first column and erases the line.
const CLEAR: &str = "\r\x1b[K";

pub(crate) struct ProgressLine {
    shown: bool,
}

impl ProgressLine {
    /// Shows nothing if it is not wanted or nobody would see it change.
    pub(crate) fn new(wanted: bool) -> ProgressLine {
        ProgressLine {
            shown: wanted && std::io::stderr().is_terminal(),
        }
    }

    pub(crate) fn is_shown(&self) -> bool {
        self.shown
    }

    pub(crate) fn show(&self, text: &str) {
        if self.shown {
            let mut out = std::io::stderr().lock();
            // If nobody listens, so be it.
            let _ = write!(out, "{CLEAR}{text}").and_then(|()| out.flush());
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.show("");
    }
}

/// `[#####---------------]  25 %  2.5 of 10 s, 12 events, 0.8 s/s, 7 s left`
pub(crate) fn text(progress: &Progress) -> String {
    const WIDTH: usize = 20;
    let Progress {
        time,
        start_time,
        stop_time,
        events,
        seconds,
        ..
    } = *progress;
    let span = stop_time - start_time;
    let share = if span > 0.0 {
        ((time - start_time) / span).clamp(0.0, 1.0)
    } else {
        1.0
    };
    let full = (share * WIDTH as f64) as usize;
    let bar = "#".repeat(full) + &"-".repeat(WIDTH - full);
    let speed = (time - start_time) / seconds;
    let left = (stop_time - time) / speed;
    format!(
        "[{bar}] {:3.0} %  {time:.4} of {stop_time} s, {events} events, {speed:.3e} s/s, {left:.0} s left",
        100.0 * share
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_share_events_and_speed() {
        let progress = Progress {
            time: 2.5,
            start_time: 0.0,
            stop_time: 10.0,
            steps: 100,
            events: 12,
            seconds: 5.0,
        };
        assert_eq!(
            text(&progress),
            "[#####---------------]  25 %  2.5000 of 10 s, 12 events, 5.000e-1 s/s, 15 s left"
        );
    }
}
