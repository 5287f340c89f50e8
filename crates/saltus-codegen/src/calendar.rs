//! Time events: when they are, and whether one is due.
//!
//! All comparisons of event times are here. Ticks of `sample(start, interval)` are start + k·interval by multiplication;
//! clock ticks are exact rationals, rounded once. Two time events closer than [`SAME_INSTANT`] of the terms that their times are summed
//! from are one instant: the later of them is the time of the event, and both are due there.

/// Events closer than this, relative to the terms of their times, are simultaneous.
const SAME_INSTANT: f64 = 64.0 * f64::EPSILON;

/// Shortest interval of ticks, in units in the last place of the time.
const INTERVAL_ULPS: f64 = 16.0;

/// Just after time 0, in seconds: the floats next to zero are denormal. Below the resolution of any other time.
const AFTER_ZERO: f64 = 1e-100;

/// A source of time events with its numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Source {
    Sample {
        start: f64,
        interval: f64,
    },
    /// Start time of the run, shift and period as fractions.
    Tick {
        origin: f64,
        shift: (i64, i64),
        period: (i64, i64),
    },
    /// At one time only, or just after it.
    Threshold {
        at: f64,
        after: bool,
    },
}

impl Source {
    /// The first time of this source after `now`.
    pub(crate) fn next(&self, now: f64) -> f64 {
        match *self {
            Source::Threshold { at, after } => {
                let at = if after { just_after(at) } else { at };
                if at > now { at } else { f64::INFINITY }
            }
            _ => {
                let mut k = self.number_near(now);
                while self.tick(k) <= now + self.slack(k, now) {
                    k += 1;
                }
                self.tick(k)
            }
        }
    }

    /// The number of the tick that falls on `now`. Thresholds have none.
    pub(crate) fn due(&self, now: f64) -> Option<i64> {
        if matches!(self, Source::Threshold { .. }) {
            return None;
        }
        let k = self.number_near(now);
        (k..=k + 2).find(|&k| (self.tick(k) - now).abs() <= self.slack(k, now))
    }

    /// Whether an event of this source falls on `now`.
    pub(crate) fn is_at(&self, now: f64) -> bool {
        match *self {
            Source::Threshold { at, after } => {
                let at = if after { just_after(at) } else { at };
                (at - now).abs() <= SAME_INSTANT * now.abs()
            }
            Source::Sample { .. } | Source::Tick { .. } => self.due(now).is_some(),
        }
    }

    /// A tick number at most two below the one at or after `now`, from 0.
    fn number_near(&self, now: f64) -> i64 {
        let k = match *self {
            Source::Sample { start, interval } => ((now - start) / interval).floor(),
            Source::Tick {
                origin,
                shift,
                period,
            } => ((now - origin - ratio(shift)) / ratio(period)).floor(),
            Source::Threshold { .. } => 0.0,
        };
        // Beyond 2^53 neighbouring ticks are not distinguishable; the cast saturates.
        (k - 1.0).max(0.0) as i64
    }

    fn tick(&self, k: i64) -> f64 {
        match *self {
            Source::Sample { start, interval } => start + k as f64 * interval,
            Source::Tick {
                origin,
                shift,
                period,
            } => {
                let numerator = i128::from(shift.0) * i128::from(period.1)
                    + i128::from(k) * i128::from(period.0) * i128::from(shift.1);
                let denominator = i128::from(shift.1) * i128::from(period.1);
                origin + numerator as f64 / denominator as f64
            }
            Source::Threshold { at, .. } => at,
        }
    }

    /// How far tick `k` may be from `now` and still be that instant: round-off of the terms that its time is summed from.
    fn slack(&self, k: i64, now: f64) -> f64 {
        let (terms, interval) = match *self {
            Source::Sample { start, interval } => (start.abs().max(k as f64 * interval), interval),
            Source::Tick {
                origin,
                shift,
                period,
            } => {
                let interval = ratio(period);
                let terms = origin.abs().max(ratio(shift)).max(k as f64 * interval);
                (terms, interval)
            }
            Source::Threshold { .. } => (0.0, 0.0),
        };
        // Never as long as the interval itself, however large the time is.
        (SAME_INSTANT * now.abs().max(terms)).min(0.25 * interval)
    }

    /// What is wrong with the numbers at this time, if anything.
    pub(crate) fn problem(&self, now: f64) -> Option<String> {
        match *self {
            Source::Sample { interval, .. }
                if interval > 0.0 && interval <= INTERVAL_ULPS * f64::EPSILON * now.abs() =>
            {
                Some(format!(
                    "the interval {interval} of a `sample` is too short to be told apart at time {now}"
                ))
            }
            Source::Sample { start, interval }
                if !(interval > 0.0 && interval.is_finite() && start.is_finite()) =>
            {
                Some(format!(
                    "sample({start}, {interval}) needs a positive interval"
                ))
            }
            Source::Tick { period, shift, .. }
                if period.0 <= 0 || period.1 <= 0 || shift.1 <= 0 =>
            {
                Some(format!(
                    "a clock with period {}/{} needs a positive period",
                    period.0, period.1
                ))
            }
            _ => None,
        }
    }
}

/// The next float, but no nearer to zero than an integrator can step.
fn just_after(at: f64) -> f64 {
    at.next_up().max(at + AFTER_ZERO)
}

fn ratio(r: (i64, i64)) -> f64 {
    r.0 as f64 / r.1 as f64
}

/// The instant of the next event: the latest of those that are one instant with the earliest.
pub(crate) fn next_instant(candidates: &[f64]) -> f64 {
    let first = candidates.iter().copied().fold(f64::INFINITY, f64::min);
    if first == f64::INFINITY {
        return first;
    }
    let slack = SAME_INSTANT * first.abs();
    candidates
        .iter()
        .copied()
        .filter(|&t| t <= first + slack)
        .fold(first, f64::max)
}
