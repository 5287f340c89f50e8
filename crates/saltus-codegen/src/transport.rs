//! The memory of one `spatialDistribution`: what is on the way, as polynomial pieces, with its breaking points.
//!
//! Comes in: the value that enters and the position x at accepted points, inside of steps, and after events. Goes out: the
//! value that leaves. A particle at position y (0 to 1) has the mark a = x - y, which it keeps: the content is a function of a
//! on [x - 1, x]. Positive flow writes at a = x and reads at a = x - 1; negative flow writes at a = x - 1 and reads at
//! a = x. The solution is that of the characteristics (specification 3.7.4.5), without sampling: a piece is the polynomial
//! through the points of one step, as in [`crate::delay`].
//!
//! Jumps and kinks of what enters, and those of the initial profile, are breaking points at fixed marks. They leave as events;
//! between events the mark that is read stays in the stretch between two of them.

use crate::delay::{Break, ORDER_MAX, Piece, Smoothness, line};
use std::collections::VecDeque;

/// Share of the whole length that may enter within one step: what has just entered is known only at its end.
const SHARE_PER_STEP: f64 = 0.5;

/// A piece, as far as it is still there.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Part {
    piece: Piece,
    from: f64,
    to: f64,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Transport {
    /// Without gaps, by increasing mark.
    parts: VecDeque<Part>,
    /// Points of the next piece, in the order of writing. The first is where the last piece ends, with the value after an
    /// event there.
    open: Vec<(f64, f64)>,
    /// By increasing mark.
    breaks: VecDeque<Break>,
    /// So many of `breaks` lie below the mark that is read.
    below: usize,
    /// Changes of `below` so far.
    changes: u64,
    positive: bool,
    /// The mark that was read at the last point, and whether it was falling there.
    read: f64,
    falling: bool,
    /// Time and position of the last point, and the speed there.
    last: (f64, f64),
    speed: f64,
}

/// At a joint of two parts: the one with the smaller or the one with the larger marks.
#[derive(Clone, Copy)]
enum Side {
    Below,
    Above,
}

/// What is there at the beginning: positions and values.
pub(crate) type Profile<'a> = (&'a [f64], &'a [f64]);

/// Where the flow writes and reads.
fn marks(x: f64, positive: bool) -> (f64, f64) {
    if positive { (x, x - 1.0) } else { (x - 1.0, x) }
}

impl Transport {
    /// A point inside a step.
    pub(crate) fn inside(&mut self, time: f64, value: f64, x: f64) {
        self.follow(time, x);
        self.push(value, x);
    }

    fn push(&mut self, value: f64, x: f64) {
        let (mark, _) = marks(x, self.positive);
        let Some(&(last, before)) = self.open.last() else {
            return;
        };
        if (mark > last) == self.positive && mark != last {
            self.open.push((mark, value));
        } else if mark == last && value != before {
            // While nothing moves the value at the entrance may: a jump of what is inside.
            if self.open.len() > 1 {
                self.close();
            }
            self.open[0].1 = value;
            self.add_break(mark, 0);
        }
    }

    /// The end of a step, or the left limit at an event.
    pub(crate) fn end(&mut self, time: f64, value: f64, x: f64) {
        self.follow(time, x);
        self.push(value, x);
        if self.open.len() > 1 {
            self.close();
        }
        self.forget(x);
    }

    /// Makes a piece of the open points.
    fn close(&mut self) {
        let last = self.open[self.open.len() - 1];
        let mut points = std::mem::take(&mut self.open);
        if self.positive {
            self.parts.push_back(part(&points));
        } else {
            points.reverse();
            self.parts.push_front(part(&points));
        }
        self.open.push(last);
    }

    fn follow(&mut self, time: f64, x: f64) {
        let (before, at) = self.last;
        if time > before {
            self.speed = (x - at).abs() / (time - before);
            self.last = (time, x);
        }
        let (_, read) = marks(x, self.positive);
        if read != self.read {
            self.falling = read < self.read;
            self.read = read;
        }
    }

    /// What has left is dropped; one breaking point stays beyond.
    fn forget(&mut self, x: f64) {
        if self.positive {
            while self.parts.front().is_some_and(|p| p.to < x - 1.0) {
                self.parts.pop_front();
            }
            while self.below > 1 && self.breaks[1].time < x - 1.0 {
                self.breaks.pop_front();
                self.below -= 1;
            }
        } else {
            while self.parts.back().is_some_and(|p| p.from > x) {
                self.parts.pop_back();
            }
            while self.breaks.len() > self.below + 1 && self.breaks[self.breaks.len() - 2].time > x
            {
                self.breaks.pop_back();
            }
        }
    }

    /// The value after an event.
    pub(crate) fn after_event(
        &mut self,
        time: f64,
        value: f64,
        x: f64,
        positive: bool,
        smoothness: Smoothness,
        profile: Profile<'_>,
    ) {
        let (mark, read) = marks(x, positive);
        if self.open.is_empty() {
            self.fill(x, profile);
            self.last = (time, x);
            self.falling = !positive;
        } else if positive == self.positive {
            let jump = self.open[0].1 != value;
            // The far side of an event may lie one rounding behind its left limit.
            self.open = vec![(mark, value)];
            match smoothness {
                _ if jump => self.add_break(mark, 0),
                Smoothness::Broken(order) => self.add_break(mark, order),
                Smoothness::Kept => {}
            }
            self.below = self.count(read);
            return;
        }
        self.positive = positive;
        self.read = read;
        self.falling = !positive;
        self.cut(x);
        self.open = vec![(mark, value)];
        self.add_break(mark, 0);
        self.below = self.count(read);
        self.changes += 1;
    }

    /// Lines through the points of the initial profile; constant beyond its ends.
    fn fill(&mut self, x: f64, (positions, values): Profile<'_>) {
        let mut points: Vec<(f64, f64)> = (positions.iter().zip(values))
            .map(|(y, value)| (x - y, *value))
            .rev()
            .collect();
        let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
            return;
        };
        if first.0 > x - 1.0 {
            points.insert(0, (x - 1.0, first.1));
        }
        if last.0 < x {
            points.push((x, last.1));
        }
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if b.0 > a.0 {
                self.parts.push_back(part(pair));
                self.add_break(a.0, 1);
            } else if a.1 != b.1 {
                self.add_break(a.0, 0);
            }
        }
    }

    /// Takes away what lies beyond both ends.
    fn cut(&mut self, x: f64) {
        self.parts.retain(|p| p.from < x && p.to > x - 1.0);
        if let Some(last) = self.parts.back_mut() {
            last.to = last.to.min(x);
        }
        if let Some(first) = self.parts.front_mut() {
            first.from = first.from.max(x - 1.0);
        }
        self.breaks.retain(|b| b.time > x - 1.0 && b.time < x);
    }

    fn add_break(&mut self, mark: f64, order: u8) {
        if order > ORDER_MAX {
            return;
        }
        let at = self.breaks.partition_point(|b| b.time < mark);
        match self.breaks.get_mut(at) {
            Some(known) if known.time == mark => known.order = known.order.min(order),
            _ => {
                self.breaks.insert(at, Break { time: mark, order });
                // Behind the mark that is read: it has come out already.
                if mark <= self.read {
                    self.below += 1;
                }
            }
        }
    }

    fn count(&self, read: f64) -> usize {
        let slack = slack(self.last.1);
        let reached = if self.falling {
            read - slack
        } else {
            read + slack
        };
        self.breaks.partition_point(|b| b.time <= reached)
    }

    /// Lets breaks that are due come out; the lowest order of those that do.
    pub(crate) fn emerge(&mut self, x: f64) -> Option<u8> {
        let (_, read) = marks(x, self.positive);
        let below = self.count(read);
        let passed = self.below.min(below)..self.below.max(below);
        if !passed.is_empty() {
            self.changes += 1;
        }
        self.below = below;
        self.breaks.range(passed).map(|b| b.order).min()
    }

    /// A number of the stretch that is read.
    pub(crate) fn stretch(&self) -> f64 {
        self.changes as f64
    }

    /// That stretch in marks, `None` where it has no end.
    pub(crate) fn range(&self) -> (Option<f64>, Option<f64>) {
        let mark = |b: &Break| b.time;
        let left = self.below.checked_sub(1).and_then(|i| self.breaks.get(i));
        (left.map(mark), self.breaks.get(self.below).map(mark))
    }

    /// The value that leaves at position `x`; `current` is the one that enters now.
    pub(crate) fn value(&self, x: f64, positive: bool, current: f64) -> f64 {
        let (Some(&entered), Some(last)) = (self.open.first(), self.parts.back()) else {
            return current;
        };
        let (mark, read) = marks(x, positive);
        if positive != self.positive {
            // Inside of the event that turns the flow.
            let side = if positive { Side::Below } else { Side::Above };
            return self.at(read, read, side);
        }
        let not_yet = if positive {
            read >= entered.0
        } else {
            read <= entered.0
        };
        if not_yet {
            return line(entered, (mark, current), read);
        }
        let (lower, upper) = self.range();
        let (lower, upper) = (
            lower.unwrap_or(self.parts[0].from),
            upper.unwrap_or(last.to),
        );
        let at = read.max(lower).min(upper);
        let side = if at == upper {
            Side::Below
        } else {
            Side::Above
        };
        self.at(at, read, side)
    }

    /// The value at the mark `read` of the part that `at` is in; at a joint the one on the side that is asked for. Between
    /// two parts there may be a gap of one rounding.
    fn at(&self, at: f64, read: f64, side: Side) -> f64 {
        let i = match side {
            Side::Below => self
                .parts
                .partition_point(|p| p.from < at)
                .saturating_sub(1),
            Side::Above => (self.parts.partition_point(|p| p.to <= at)).min(self.parts.len() - 1),
        };
        self.parts[i].piece.value(read)
    }

    /// A bound on the step size: what enters within a step does not leave in it.
    pub(crate) fn step_size_max(&self) -> f64 {
        if self.speed > 0.0 {
            SHARE_PER_STEP / self.speed
        } else {
            f64::INFINITY
        }
    }
}

fn part(points: &[(f64, f64)]) -> Part {
    Part {
        piece: Piece::new(points),
        from: points[0].0,
        to: points[points.len() - 1].0,
    }
}

/// At an event, a mark this near to a breaking point has passed it: the accuracy of the blocks that compute it.
fn slack(x: f64) -> f64 {
    1e-11 * x.abs().max(1.0)
}
