//! Times that are known beforehand: points of the output grid.
//!
//! Time events come from the instance (`next_time_event`), which knows them by multiplication; steps land on them exactly
//! (`saltus_solve::StepLimits`).

use crate::options::{Options, OutputGrid};

/// The output grid with a cursor.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Grid {
    start: f64,
    stop: f64,
    interval: f64,
    n: u64,
    next: u64,
    /// The time of `next`.
    upcoming: Option<f64>,
}

/// A remainder of the grid below this fraction of an interval is not a point of its own.
const GRID_SLACK: f64 = 1e-9;

impl Grid {
    /// The first point is the one after the start.
    pub(crate) fn new(options: &Options) -> Grid {
        let interval = options.output_interval();
        let n = match options.output {
            OutputGrid::Interval(_) => {
                ((options.span() / interval) * (1.0 + GRID_SLACK)).floor() as u64
            }
            OutputGrid::Intervals(n) => u64::from(n),
            OutputGrid::None => 0,
        };
        let mut grid = Grid {
            start: options.start_time,
            stop: options.stop_time,
            interval,
            n,
            next: 1,
            upcoming: None,
        };
        grid.upcoming = grid.point();
        grid
    }

    pub(crate) fn interval(&self) -> f64 {
        self.interval
    }

    /// The next point, start + k·interval by multiplication; `None` past the last one before the end of the run (the end itself
    /// is recorded as such).
    #[inline]
    pub(crate) fn peek(&self) -> Option<f64> {
        self.upcoming
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
        self.upcoming = self.point();
    }

    fn point(&self) -> Option<f64> {
        let t = self.start + self.next as f64 * self.interval;
        (self.next <= self.n && t < self.stop - GRID_SLACK * self.interval).then_some(t)
    }

    /// Points up to and including `t` are covered by other rows.
    #[inline]
    pub(crate) fn skip_through(&mut self, t: f64) {
        while self.peek().is_some_and(|point| point <= t) {
            self.advance();
        }
    }
}
