//! Comparison of a result with a reference inside a tube.
//!
//! Comes in: two tables and the names to compare. Goes out: for each signal how far and for how long the result is
//! outside the tube around the reference.
//!
//! **The tube.** The reference is a polyline r(t), with a vertical piece where two rows have equal time. The tube is
//! that polyline widened by a rectangle of half-width δt and half-height δy:
//!
//! ```text
//! lower(t) = min { r(s) : |s - t| ≤ δt } - δy        upper(t) = max { r(s) : |s - t| ≤ δt } + δy
//! ```
//!
//! so an event that comes a little early or late does not count, but a wrong value does. The comparison goes both ways: the
//! result must stay inside the tube around the reference, and the reference inside a tube around the result. The first way
//! finds what the result has and the reference has not, the second what the reference has and the result has not: a pulse
//! shorter than the time band that is missing stays inside the tube of the first way. At an event both rows of equal time
//! count, in both curves. The numbers are those of the first way, unless the second gives a worse verdict.
//!
//! The second tube is as wide and `BACK_HEIGHT` times as high: a peak between two rows of the result is cut by linear
//! interpolation, which the first way forgives (the cut peak is inside the window) and the second would not. Where the result
//! has far fewer rows than the reference, the second way measures the grid; regression runs are written as densely as their
//! reference ([`median_spacing`]). What lasts
//! less than `INSTANT` in all is the inside of one event, where tools write the values of their iterations.
//! - δy = `relative` × (max r - min r). A signal that does not move is measured by its size |r| instead, and one that
//!   is zero by `ZERO_SCALE`. δy is at least `resolution` × max |r|: a reference computed with a tolerance says nothing
//!   about what moves by less than some tolerances of its size (a temperature of 293.15 K that rises by 0.002 K).
//! - δt = `relative_time` × (duration of the reference), but never more than two rows of the reference or one row of
//!   the result (median spacing): where the reference is dense, the comparison is sharp. Without this bound a fast
//!   oscillation in a long run would fit inside its own tube with any phase.
//!
//! **Measure.** Both curves are linear between rows, so the distance to the tube is evaluated at the rows of the
//! curve inside, the rows of the curve around and the latter shifted by ±δt, taken as linear between these, and the time
//! with positive distance is added up. Where the result has no rows (it ended early) or is not finite, it is outside.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::ResultTable;

/// How wide the tube is and what counts as a match.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TubeOptions {
    /// Half-height of the tube as a share of the signal's range.
    pub relative: f64,
    /// Smallest half-height as a share of the signal's size: what the reference resolves.
    pub resolution: f64,
    /// Half-width of the tube as a share of the duration.
    pub relative_time: f64,
    /// Share of the time that a signal may be outside and still match.
    pub allowed_outside: f64,
    /// Share of the time outside beyond which a result is called far off.
    pub far_off: f64,
}

impl Default for TubeOptions {
    fn default() -> Self {
        TubeOptions {
            relative: 0.002,
            resolution: 0.0,
            relative_time: 0.002,
            allowed_outside: 0.0,
            far_off: 0.1,
        }
    }
}

/// A reference whose range is below this share of its size does not move: the range is the rounding of its tool.
const CONSTANT_RANGE: f64 = 1e-9;

/// A reference smaller than this everywhere is zero: what rounding leaves of a component that does not move.
const ZERO_MAX: f64 = 1e-11;

/// Scale of a signal that is zero: with the default tube, values up to 2e-6 pass as zero, which is what integrators
/// of tolerance 1e-6 leave there.
const ZERO_SCALE: f64 = 1e-3;

/// The time band is at most this many rows of the reference, or one of the result.
const REFERENCE_ROWS_MAX: f64 = 2.0;

/// Height of the tube around the result, in heights of the tube around the reference: cut peaks of the models of the
/// standard library at the default output interval stay below a half of it.
const BACK_HEIGHT: f64 = 5.0;

/// Share of the duration below which what the reference has and the result has not is one instant.
const INSTANT: f64 = 1e-6;

/// The tube jumps where a step of the reference enters or leaves the time band, which is at the ends of pieces; its
/// one-sided limits are taken this share of the piece inside.
const PIECE_INSET: f64 = 1e-6;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignalVerdict {
    Match,
    Outside,
    FarOff,
    /// The result has no such variable.
    MissingInResult,
    /// The reference has no such variable.
    MissingInReference,
}

/// How one signal compares.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SignalComparison {
    pub name: String,
    pub verdict: SignalVerdict,
    /// Largest distance from the reference within the time band, in the signal's unit.
    pub max_deviation: f64,
    /// The scale of the tube: range, size, or the scale of zero.
    pub scale: f64,
    /// The tube is as high as the reference resolves, which is more than a share of the range.
    pub unresolved: bool,
    /// Share of the reference's duration outside the tube.
    pub share_outside: f64,
    /// The same without a time band, for information.
    pub share_outside_strict: f64,
    pub first_outside: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Match,
    /// Some signal leaves the tube or is missing.
    Different,
    /// Some signal is outside for more than the far-off share of the time.
    FarOff,
    /// Nothing could be compared: no signals, or a table without rows.
    Nothing,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    pub verdict: Verdict,
    /// Half-width of the tube in time.
    pub time_tolerance: f64,
    pub signals: Vec<SignalComparison>,
}

impl Comparison {
    pub fn is_match(&self) -> bool {
        self.verdict == Verdict::Match
    }

    /// The signal that is worst: missing first, then the longest outside, then the farthest off.
    pub fn worst(&self) -> Option<&SignalComparison> {
        let badness = |s: &SignalComparison| {
            let missing = matches!(
                s.verdict,
                SignalVerdict::MissingInResult | SignalVerdict::MissingInReference
            );
            (missing, s.share_outside, s.max_deviation / s.scale)
        };
        self.signals.iter().max_by(|a, b| {
            let ((ma, sa, da), (mb, sb, db)) = (badness(a), badness(b));
            ma.cmp(&mb).then(sa.total_cmp(&sb)).then(da.total_cmp(&db))
        })
    }
}

/// Compares all variables of the reference.
pub fn compare_all(
    result: &ResultTable,
    reference: &ResultTable,
    options: &TubeOptions,
) -> Comparison {
    let names: Vec<String> = reference
        .variables()
        .map(|(name, _)| name.to_owned())
        .collect();
    compare(result, reference, &names, options)
}

/// Compares the named signals.
pub fn compare(
    result: &ResultTable,
    reference: &ResultTable,
    names: &[String],
    options: &TubeOptions,
) -> Comparison {
    let (Some(&t_first), Some(&t_last)) = (reference.time().first(), reference.time().last())
    else {
        return Comparison {
            verdict: Verdict::Nothing,
            time_tolerance: 0.0,
            signals: Vec::new(),
        };
    };
    let dt = time_tolerance(result.time(), reference.time(), options);
    let grid = Grid::new(result.time(), reference.time(), dt);
    let back = match result.time() {
        [] => None,
        times => Some(Grid::new(reference.time(), times, dt)),
    };
    let grids = Grids { grid, back };
    let signals: Vec<SignalComparison> = names
        .iter()
        .map(|name| match (result.signal(name), reference.signal(name)) {
            (None, _) => missing(name, SignalVerdict::MissingInResult),
            (_, None) => missing(name, SignalVerdict::MissingInReference),
            (Some(y), Some(r)) => {
                let y = Curve {
                    t: result.time(),
                    y: y.to_vec(),
                };
                let r = Curve {
                    t: reference.time(),
                    y: r.to_vec(),
                };
                compare_signal(name, &y, &r, &grids, t_last - t_first, options)
            }
        })
        .collect();
    Comparison {
        verdict: overall(&signals),
        time_tolerance: dt,
        signals,
    }
}

fn overall(signals: &[SignalComparison]) -> Verdict {
    let any = |verdict| signals.iter().any(|s| s.verdict == verdict);
    if signals.is_empty() {
        Verdict::Nothing
    } else if any(SignalVerdict::FarOff) {
        Verdict::FarOff
    } else if signals.iter().all(|s| s.verdict == SignalVerdict::Match) {
        Verdict::Match
    } else {
        Verdict::Different
    }
}

fn missing(name: &str, verdict: SignalVerdict) -> SignalComparison {
    SignalComparison {
        name: name.to_owned(),
        verdict,
        max_deviation: 0.0,
        scale: 1.0,
        unresolved: false,
        share_outside: 1.0,
        share_outside_strict: 1.0,
        first_outside: None,
    }
}

fn time_tolerance(result: &[f64], reference: &[f64], options: &TubeOptions) -> f64 {
    let duration = reference[reference.len() - 1] - reference[0];
    let sharp = (REFERENCE_ROWS_MAX * median_spacing(reference)).max(median_spacing(result));
    (options.relative_time * duration).min(sharp)
}

/// Median distance of neighbouring different times; 0 if there are none.
pub fn median_spacing(times: &[f64]) -> f64 {
    let mut steps: Vec<f64> = times
        .windows(2)
        .map(|w| w[1] - w[0])
        .filter(|&step| step > 0.0)
        .collect();
    if steps.is_empty() {
        return 0.0;
    }
    let middle = steps.len() / 2;
    *steps.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Largest |r|.
fn size_of(reference: &[f64]) -> f64 {
    let finite = reference.iter().filter(|value| value.is_finite());
    finite.fold(0.0, |size, value| size.max(value.abs()))
}

/// Scale of the tube's height: see the module's text.
fn scale_of(reference: &[f64]) -> f64 {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for &value in reference.iter().filter(|value| value.is_finite()) {
        low = low.min(value);
        high = high.max(value);
    }
    let size = size_of(reference);
    let range = high - low;
    if low > high || size <= ZERO_MAX {
        ZERO_SCALE
    } else if range > CONSTANT_RANGE * size {
        range
    } else {
        size
    }
}

struct Curve<'a> {
    t: &'a [f64],
    y: Vec<f64>,
}

/// A piece of the result between two neighbouring grid times inside one row interval.
#[derive(Clone, Copy)]
struct Piece {
    /// The rows of the result around it are `row` and `row + 1`.
    row: usize,
    start: f64,
    end: f64,
}

/// The pieces on which every signal of a pair of tables is measured; the times are the same for all.
struct Grid {
    pieces: Vec<Piece>,
    /// Duration of the reference that the result does not cover, and where that begins.
    uncovered: f64,
    first_uncovered: Option<f64>,
    dt: f64,
}

impl Grid {
    fn new(result: &[f64], reference: &[f64], dt: f64) -> Grid {
        let (t_first, t_last) = (reference[0], reference[reference.len() - 1]);
        let mut corners: Vec<f64> = Vec::with_capacity(3 * reference.len());
        for &t in reference {
            corners.extend([t - dt, t, t + dt]);
        }
        corners.sort_by(f64::total_cmp);
        corners.dedup();

        let mut pieces = Vec::with_capacity(corners.len() + result.len());
        let mut corner = 0;
        for row in 0..result.len().saturating_sub(1) {
            let start = result[row].max(t_first);
            let end = result[row + 1].min(t_last);
            // Rows of equal time have no duration, but they bound pieces that have.
            if start >= end {
                continue;
            }
            let mut from = start;
            while corner < corners.len() && corners[corner] <= from {
                corner += 1;
            }
            while corner < corners.len() && corners[corner] < end {
                pieces.push(Piece {
                    row,
                    start: from,
                    end: corners[corner],
                });
                from = corners[corner];
                corner += 1;
            }
            pieces.push(Piece {
                row,
                start: from,
                end,
            });
        }

        // Time bands at the ends are not held against the result: a run that stops one rounding early is complete.
        let slack = dt.max(1e-9 * (t_last - t_first));
        let (mut uncovered, mut first_uncovered) = (0.0, None);
        let covered_from = result.first().copied().unwrap_or(f64::INFINITY);
        let covered_to = result.last().copied().unwrap_or(f64::NEG_INFINITY);
        if covered_from > t_first + slack {
            uncovered += covered_from.min(t_last) - t_first;
            first_uncovered = Some(t_first);
        }
        if covered_to < t_last - slack && covered_to >= t_first {
            uncovered += t_last - covered_to;
            first_uncovered = first_uncovered.or(Some(covered_to));
        }
        Grid {
            pieces,
            uncovered,
            first_uncovered,
            dt,
        }
    }
}

/// Both ways of comparing.
struct Grids {
    /// The result in the tube around the reference.
    grid: Grid,
    /// The reference in the tube around the result, as far as there is one.
    back: Option<Grid>,
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
struct Outside {
    duration: f64,
    first: Option<f64>,
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
struct Measured {
    tube: Outside,
    strict: Outside,
    max_deviation: f64,
}

/// A curve in the tube around another.
fn measure(inside: &Curve<'_>, around: &Curve<'_>, grid: &Grid, dy: f64) -> Measured {
    let mut window = Window::new(around, grid.dt);
    let mut exact = Walker::new(around);
    let (mut tube, mut strict) = (Outside::default(), Outside::default());
    let mut max_deviation: f64 = 0.0;
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
        max_deviation = max_deviation.max(near[0].size()).max(near[1].size());
        let (r_start, r_end) = exact.ends(start, end);
        let at_once = [
            Distance::new(y_start, (r_start, r_start)),
            Distance::new(y_end, (r_end, r_end)),
        ];
        strict.add(start, end, at_once, dy);
    }
    Measured {
        tube,
        strict,
        max_deviation,
    }
}

fn compare_signal(
    name: &str,
    result: &Curve<'_>,
    reference: &Curve<'_>,
    grids: &Grids,
    duration: f64,
    options: &TubeOptions,
) -> SignalComparison {
    let scale = scale_of(&reference.y);
    let resolved = options.resolution * size_of(&reference.y);
    let dy = (options.relative * scale).max(resolved);
    let grid = &grids.grid;
    let Measured {
        mut tube,
        strict,
        mut max_deviation,
    } = measure(result, reference, grid, dy);
    if let Some(back) = &grids.back {
        let back = measure(reference, result, back, BACK_HEIGHT * dy);
        let is_more = back.tube.duration > INSTANT * duration;
        let is_far_off = |outside: f64| outside > options.far_off * duration;
        if is_more && tube.duration == 0.0
            || is_far_off(back.tube.duration) && !is_far_off(tube.duration)
        {
            max_deviation = max_deviation.max(back.max_deviation);
            tube.duration = tube.duration.max(back.tube.duration);
            tube.first = [tube.first, back.tube.first]
                .into_iter()
                .flatten()
                .reduce(f64::min);
        }
    }
    let share = |outside: f64| {
        if duration > 0.0 {
            ((outside + grid.uncovered) / duration).min(1.0)
        } else {
            0.0
        }
    };
    let (mut share_outside, mut first) = (share(tube.duration), tube.first);
    if let Some(t) = grid.first_uncovered {
        first = Some(first.map_or(t, |f| f.min(t)));
    }
    if duration <= 0.0 {
        // A reference of one instant: the last rows of that time decide.
        let d = result
            .y
            .last()
            .zip(reference.y.last())
            .map_or(f64::INFINITY, |(y, r)| (y - r).abs());
        max_deviation = d;
        if d.is_nan() || d > dy {
            (share_outside, first) = (1.0, reference.t.first().copied());
        }
    } else if grid.pieces.is_empty() {
        (share_outside, first) = (1.0, reference.t.first().copied());
    }
    let verdict = if share_outside <= options.allowed_outside {
        SignalVerdict::Match
    } else if share_outside > options.far_off {
        SignalVerdict::FarOff
    } else {
        SignalVerdict::Outside
    };
    SignalComparison {
        name: name.to_owned(),
        verdict,
        max_deviation,
        scale,
        unresolved: resolved > options.relative * scale,
        share_outside,
        share_outside_strict: share(strict.duration).max(if grid.pieces.is_empty() {
            share_outside
        } else {
            0.0
        }),
        first_outside: first,
    }
}

/// Smallest and largest value of a curve within ±δt of a time that only moves forward: two monotone queues of rows.
struct Window<'a> {
    curve: &'a Curve<'a>,
    dt: f64,
    /// First row after the window.
    next: usize,
    /// Rows inside with decreasing values (front is the largest), and with increasing values.
    high: VecDeque<usize>,
    low: VecDeque<usize>,
}

impl<'a> Window<'a> {
    fn new(curve: &'a Curve<'a>, dt: f64) -> Self {
        Window {
            curve,
            dt,
            next: 0,
            high: VecDeque::new(),
            low: VecDeque::new(),
        }
    }

    fn extremes(&mut self, t: f64) -> (f64, f64) {
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
