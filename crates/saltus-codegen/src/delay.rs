//! The memory of one `delay(expr, T)`: the past of `expr` as polynomial pieces, and its breaking points.
//!
//! Comes in: the value of `expr` inside and at the end of each accepted step and after each event. Goes out: the value at
//! t - T, and when the next breaking point comes out. A piece is the polynomial through the points of one step (barycentric
//! form; Berrut, Trefethen, SIAM Review 46, 2004), so that an expression linear in the states has the integrator's own dense output as
//! its past. Before the first point the value is that of the first point (specification 3.7.4.1).
//!
//! A breaking point is a time at which `expr` jumps (order 0) or its derivative of some order does. It comes out as an event T later;
//! between events the delayed time stays in the stretch between two breaking points, also when round-off takes it beyond, so that an
//! integrator sees a smooth function. Orders grow by one with each integration (Hairer, Nørsett, Wanner, Solving ODEs I, II.17);
//! those that no method can notice are dropped.

use std::collections::VecDeque;

/// Breaks of a higher order than any integrator has are no events.
pub(crate) const ORDER_MAX: u8 = 9;

/// Pieces older than what can be asked for are dropped in batches of at least this many.
const DROP_BATCH: usize = 1024;

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Point {
    time: f64,
    value: f64,
    /// Barycentric weight within its piece.
    weight: f64,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Piece {
    /// At least two, by increasing time.
    points: Box<[Point]>,
}

impl Piece {
    /// The polynomial through points of increasing time.
    pub(crate) fn new(points: &[(f64, f64)]) -> Piece {
        let (start, end) = (points[0].0, points[points.len() - 1].0);
        let scale = 4.0 / (end - start);
        let weight = |i: usize| {
            let product: f64 = (0..points.len())
                .filter(|&j| j != i)
                .map(|j| scale * (points[i].0 - points[j].0))
                .product();
            1.0 / product
        };
        Piece {
            points: points
                .iter()
                .enumerate()
                .map(|(i, &(time, value))| Point {
                    time,
                    value,
                    weight: weight(i),
                })
                .collect(),
        }
    }

    fn start(&self) -> f64 {
        self.points[0].time
    }

    fn end(&self) -> f64 {
        self.points[self.points.len() - 1].time
    }

    /// y0 + Σ w_i (y_i - y0)/(t - t_i) / Σ w_i/(t - t_i): a constant comes out as the same constant, to the last bit.
    pub(crate) fn value(&self, t: f64) -> f64 {
        let base = self.points[0].value;
        let (mut above, mut below) = (0.0, 0.0);
        for point in &self.points {
            let distance = t - point.time;
            if distance == 0.0 {
                return point.value;
            }
            let factor = point.weight / distance;
            above += factor * (point.value - base);
            below += factor;
        }
        base + above / below
    }
}

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Break {
    pub(crate) time: f64,
    /// The lowest derivative of the expression that jumps.
    pub(crate) order: u8,
}

/// What an event meant for the smoothness of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Smoothness {
    /// Nothing changed.
    Kept,
    /// A derivative of this order may jump, 0 for the value itself.
    Broken(u8),
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct DelayBuffer {
    /// Without gaps, by increasing time.
    pieces: VecDeque<Piece>,
    /// Points of the next piece. The first is at the end of the last piece, with the value after an event there.
    open: Vec<(f64, f64)>,
    breaks: VecDeque<Break>,
    /// So many of `breaks` have come out.
    out: usize,
    /// Breaks that came out and were dropped.
    dropped: usize,
    /// The delay time for which `out` was counted.
    delay: f64,
    /// The delay time changes between events.
    moving: bool,
    /// For such a delay: the delayed time at the last point, and whether it was falling there.
    past: f64,
    falling: bool,
    /// The value at the first point.
    first: f64,
}

impl DelayBuffer {
    pub(crate) fn clear(&mut self, moving: bool) {
        *self = DelayBuffer {
            moving,
            ..DelayBuffer::default()
        };
    }

    /// A point inside a step.
    pub(crate) fn inside(&mut self, time: f64, value: f64, delay: f64) {
        self.follow(time - delay);
        if self.open.last().is_some_and(|last| time > last.0) {
            self.open.push((time, value));
        }
    }

    /// The end of a step, or the left limit at an event.
    pub(crate) fn end(&mut self, time: f64, value: f64, delay: f64, longest: f64) {
        self.follow(time - delay);
        let Some(&(last, _)) = self.open.last() else {
            return;
        };
        if time > last {
            self.open.push((time, value));
        }
        if self.open.len() > 1 {
            self.pieces.push_back(Piece::new(&self.open));
            self.open.clear();
            self.open.push((time, value));
        }
        self.forget(time - longest.max(delay));
    }

    fn follow(&mut self, past: f64) {
        if past != self.past {
            self.falling = past < self.past;
            self.past = past;
        }
    }

    fn forget(&mut self, before: f64) {
        let old = self.pieces.partition_point(|p| p.end() < before);
        if old > DROP_BATCH {
            self.pieces.drain(..old - 1);
            let old = self.breaks.partition_point(|b| b.time < before);
            // One stays on the left of what can be asked for.
            let old = old.min(self.out).saturating_sub(1);
            self.breaks.drain(..old);
            self.out -= old;
            self.dropped += old;
        }
    }

    /// The initial value, before the events of the start: that of all times before (specification 3.7.4.1).
    pub(crate) fn begin(&mut self, time: f64, value: f64, delay: f64) {
        self.after_event(time, value, delay, Smoothness::Kept);
    }

    /// The value after an event; `delay` is the delay time from now on.
    pub(crate) fn after_event(
        &mut self,
        time: f64,
        value: f64,
        delay: f64,
        smoothness: Smoothness,
    ) {
        match self.open.first_mut() {
            None => {
                self.first = value;
                self.open.push((time, value));
                self.breaks.push_back(Break { time, order: 1 });
            }
            Some(start) => {
                // At the start the value may come from another calculation than the initial one: without an event that changed something it is the same.
                let is_same = self.pieces.is_empty() && smoothness == Smoothness::Kept;
                let jump = start.1 != value && !is_same;
                start.1 = value;
                if is_same {
                    self.first = value;
                }
                let order = match smoothness {
                    _ if jump => Some(0),
                    Smoothness::Broken(order) => Some(order),
                    Smoothness::Kept => None,
                };
                match (order, self.breaks.back_mut()) {
                    (Some(order), Some(last)) if last.time == time => {
                        last.order = last.order.min(order);
                    }
                    (Some(order), _) if order <= ORDER_MAX => {
                        self.breaks.push_back(Break { time, order });
                    }
                    _ => {}
                }
            }
        }
        if delay != self.delay {
            self.delay = delay;
            self.out = self.count_out(time, delay);
        }
    }

    fn count_out(&self, now: f64, delay: f64) -> usize {
        if self.moving {
            let slack = if self.falling {
                -slack(now)
            } else {
                slack(now)
            };
            let reached = now - delay + slack;
            self.breaks.partition_point(|b| b.time <= reached)
        } else {
            self.breaks.partition_point(|b| b.time + delay <= now)
        }
    }

    /// Lets breaks that are due come out; the lowest order of those that do (or go back in, where the delay time grows faster than
    /// time).
    pub(crate) fn emerge(&mut self, now: f64, delay: f64) -> Option<u8> {
        if delay != self.delay && !self.moving {
            return None;
        }
        let out = self.count_out(now, delay);
        let passed = self.out.min(out)..self.out.max(out);
        self.out = out;
        self.breaks.range(passed).map(|b| b.order).min()
    }

    /// Number of the stretch between breaking points that the delayed time is in.
    pub(crate) fn stretch(&self) -> f64 {
        (self.dropped + self.out) as f64
    }

    /// That stretch in time, `None` where it has no end.
    pub(crate) fn range(&self) -> (Option<f64>, Option<f64>) {
        let time = |b: &Break| b.time;
        let left = self.out.checked_sub(1).and_then(|i| self.breaks.get(i));
        (left.map(time), self.breaks.get(self.out).map(time))
    }

    /// When the next breaking point comes out; only for a delay time that does not move.
    pub(crate) fn next_break(&self, now: f64, delay: f64) -> f64 {
        let times = self.breaks.iter().skip(self.count_out(now, delay));
        times
            .map(|b| b.time + delay)
            .next()
            .unwrap_or(f64::INFINITY)
    }

    /// The value at `now - delay`; `current` is the value of the expression now.
    pub(crate) fn value(&self, now: f64, delay: f64, current: f64) -> f64 {
        let Some(&(last, last_value)) = self.open.first() else {
            return current;
        };
        if delay <= 0.0 {
            return current;
        }
        let t = now - delay;
        // While an event changes the delay time, the stretch of the old one says nothing.
        let (mut at, mut upper) = (t, f64::INFINITY);
        if self.moving || delay == self.delay {
            let (left, right) = self.range();
            let Some(lower) = left else {
                return self.first;
            };
            upper = right.unwrap_or(f64::INFINITY);
            at = t.max(lower).min(upper);
        }
        // At a breaking point: the piece that begins there, or at the end of the stretch the one that ends there.
        let ends_here = at == upper;
        if at >= last && !ends_here {
            return line((last, last_value), (now, current), t);
        }
        let after =
            (self.pieces).partition_point(|p| p.start() < at || p.start() == at && !ends_here);
        match after.checked_sub(1) {
            // A delayed time that moves passes the end of its stretch within a step: the function goes on smoothly.
            Some(i) if self.moving => self.pieces[i].value(t),
            Some(i) => self.pieces[i].value(at),
            None => self.first,
        }
    }
}

/// At an event, a moving delayed time this near to a breaking point has passed it: the accuracy of the blocks that compute it.
fn slack(now: f64) -> f64 {
    1e-11 * now.abs()
}

/// Inside the present step: on the line from the last point to the present value.
pub(crate) fn line(last: (f64, f64), now: (f64, f64), t: f64) -> f64 {
    if now.0 == last.0 {
        return last.1;
    }
    last.1 + (now.1 - last.1) * ((t - last.0) / (now.0 - last.0))
}
