//! A curve in the tube around another: the distance, and how long it is positive.

use std::collections::VecDeque;

use super::grid::Grid;

/// The tube jumps where a step of the reference enters or leaves the time band, which is at the ends of pieces; its
/// one-sided limits are taken this share of the piece inside.
const PIECE_INSET: f64 = 1e-6;

pub(super) struct Curve<'a> {
    pub(super) t: &'a [f64],
    pub(super) y: Vec<f64>,
}

/// How far a value is above the upper and below the lower bound; negative inside.
#[derive(Clone, Copy)]
struct Distance {
    above: f64,
    below: f64,
}

impl Distance {
    fn new(y: f64, (low, high): (f64, f64)) -> Distance {
        if y.is_finite() {
            Distance {
                above: y - high,
                below: low - y,
            }
        } else {
            Distance {
                above: f64::INFINITY,
                below: f64::INFINITY,
            }
        }
    }

    fn size(self) -> f64 {
        self.above.max(self.below).max(0.0)
    }
}

/// Adds up the time outside, both distances being linear on each piece.
#[derive(Default, Clone, Copy)]
pub(super) struct Outside {
    pub(super) duration: f64,
    pub(super) first: Option<f64>,
}

impl Outside {
    fn add(&mut self, start: f64, end: f64, [d_start, d_end]: [Distance; 2], dy: f64) {
        let above = positive_span(d_start.above - dy, d_end.above - dy);
        let below = positive_span(d_start.below - dy, d_end.below - dy);
        let not_finite = above == Some((0.0, 1.0)) && below == above;
        let spans = [above, if not_finite { None } else { below }];
        for (from, to) in spans.into_iter().flatten() {
            self.duration += (to - from) * (end - start);
            let at = start + from * (end - start);
            self.first = Some(self.first.map_or(at, |first| first.min(at)));
        }
    }
}

/// The part of [0, 1] in which the linear function with these end values is positive.
fn positive_span(e_start: f64, e_end: f64) -> Option<(f64, f64)> {
    let (from, to) = match (e_start > 0.0, e_end > 0.0) {
        (false, false) => return None,
        (true, true) => (0.0, 1.0),
        _ if !e_start.is_finite() || !e_end.is_finite() => (0.0, 1.0),
        (true, false) => (0.0, e_start / (e_start - e_end)),
        (false, true) => (e_start / (e_start - e_end), 1.0),
    };
    (to > from).then_some((from, to))
}

/// One way of comparing.
#[derive(Default, Clone, Copy)]
pub(super) struct Measured {
    pub(super) tube: Outside,
    pub(super) strict: Outside,
    pub(super) max_deviation: f64,
}

/// Adds what a curve is outside of the tube around another.
pub(super) fn measure(
    sum: &mut Measured,
    inside: &Curve<'_>,
    around: &Curve<'_>,
    grid: &Grid,
    dy: f64,
) {
    let mut window = Window::new(around, grid.dt);
    let mut exact = Walker::new(around);
    let Measured {
        tube,
        strict,
        max_deviation,
    } = sum;
    for piece in &grid.pieces {
        let (row, start, end) = (piece.row, piece.start, piece.end);
        let (t0, t1) = (inside.t[row], inside.t[row + 1]);
        let (y0, y1) = (inside.y[row], inside.y[row + 1]);
        let at = |t: f64| {
            if t == t0 {
                y0
            } else if t == t1 {
                y1
            } else {
                y0 + (y1 - y0) * ((t - t0) / (t1 - t0))
            }
        };
        let (y_start, y_end) = (at(start), at(end));
        let inset = PIECE_INSET * (end - start);
        let near = [
            Distance::new(y_start, window.extremes(start + inset)),
            Distance::new(y_end, window.extremes(end - inset)),
        ];
        tube.add(start, end, near, dy);
        *max_deviation = max_deviation.max(near[0].size()).max(near[1].size());
        let (r_start, r_end) = exact.ends(start, end);
        let at_once = [
            Distance::new(y_start, (r_start, r_start)),
            Distance::new(y_end, (r_end, r_end)),
        ];
        strict.add(start, end, at_once, dy);
    }
}

/// Smallest and largest value of a curve within ±δt of a time that only moves forward: two monotone queues of rows.
pub(super) struct Window<'a> {
    curve: &'a Curve<'a>,
    dt: f64,
    /// First row after the window.
    next: usize,
    /// Rows inside with decreasing values (front is the largest), and with increasing values.
    high: VecDeque<usize>,
    low: VecDeque<usize>,
}

impl<'a> Window<'a> {
    pub(super) fn new(curve: &'a Curve<'a>, dt: f64) -> Self {
        Window {
            curve,
            dt,
            next: 0,
            high: VecDeque::new(),
            low: VecDeque::new(),
        }
    }

    pub(super) fn extremes(&mut self, t: f64) -> (f64, f64) {
        let (c, y) = (self.curve.t, &self.curve.y);
        let (from, to) = (t - self.dt, t + self.dt);
        while self.next < c.len() && c[self.next] <= to {
            let row = self.next;
            while self.high.back().is_some_and(|&r| y[r] <= y[row]) {
                self.high.pop_back();
            }
            self.high.push_back(row);
            while self.low.back().is_some_and(|&r| y[r] >= y[row]) {
                self.low.pop_back();
            }
            self.low.push_back(row);
            self.next += 1;
        }
        while self.high.front().is_some_and(|&r| c[r] < from) {
            self.high.pop_front();
        }
        while self.low.front().is_some_and(|&r| c[r] < from) {
            self.low.pop_front();
        }
        let mut extremes = match (self.low.front(), self.high.front()) {
            (Some(&low), Some(&high)) => (y[low], y[high]),
            _ => (f64::INFINITY, f64::NEG_INFINITY),
        };
        // The polyline at both ends of the window.
        let first_inside = c[..self.next].partition_point(|&x| x < from);
        for (end, after) in [(from, first_inside), (to, self.next)] {
            if let Some(value) = interpolate_before(self.curve, after, end) {
                extremes = (extremes.0.min(value), extremes.1.max(value));
            }
        }
        extremes
    }
}

/// The curve at `t`, which lies between the rows `after - 1` and `after`; `None` at the ends of the curve.
fn interpolate_before(curve: &Curve<'_>, after: usize, t: f64) -> Option<f64> {
    let before = after.checked_sub(1)?;
    let (&t0, &t1) = (curve.t.get(before)?, curve.t.get(after)?);
    let (y0, y1) = (curve.y[before], curve.y[after]);
    (t1 > t0).then(|| y0 + (y1 - y0) * ((t - t0) / (t1 - t0)).clamp(0.0, 1.0))
}

/// Values of a curve at both ends of pieces that only move forward.
struct Walker<'a> {
    curve: &'a Curve<'a>,
    /// The row interval [row, row + 1] that holds the piece.
    row: usize,
}

impl<'a> Walker<'a> {
    fn new(curve: &'a Curve<'a>) -> Self {
        Walker { curve, row: 0 }
    }

    /// No row of the curve lies strictly inside a piece, so both ends belong to one row interval.
    fn ends(&mut self, start: f64, end: f64) -> (f64, f64) {
        let t = self.curve.t;
        while self.row + 2 < t.len() && t[self.row + 1] <= start {
            self.row += 1;
        }
        let y = &self.curve.y;
        if self.row + 1 >= t.len() {
            return (y[self.row], y[self.row]);
        }
        let (t0, t1) = (t[self.row], t[self.row + 1]);
        let (y0, y1) = (y[self.row], y[self.row + 1]);
        let at = |x: f64| {
            if t1 > t0 {
                y0 + (y1 - y0) * ((x - t0) / (t1 - t0)).clamp(0.0, 1.0)
            } else {
                y1
            }
        };
        (at(start), at(end))
    }
}
