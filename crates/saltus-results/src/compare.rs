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
//! with positive distance is added up. Where the result has no rows (it ended early) or is not finite, it is outside; a result that does not cover all of the reference's time is different,
//! whatever share may be outside.

mod files;
mod grid;
mod tube;

use serde::{Deserialize, Serialize};

use crate::ResultTable;
use grid::Grid;
use tube::{Curve, Measured, measure};

pub use files::compare_files;

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

/// A result that ends, or begins, within this share of the duration has covered the reference: times in texts are rounded.
const COVERED_ROUNDING: f64 = 1e-6;

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
    /// Some signal leaves the tube or is missing, or the result does not cover the reference.
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
    pub coverage: Coverage,
    pub signals: Vec<SignalComparison>,
}

/// Which part of the reference was compared.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Times from which to which the reference goes.
    pub reference: (f64, f64),
    /// Times from which to which there is a result; `None` if it has no time in common with the reference.
    pub covered: Option<(f64, f64)>,
    /// Share of the reference's duration.
    pub share: f64,
    /// Signals of the reference, whether they were to be compared or not.
    pub reference_signals: usize,
}

impl Coverage {
    fn new(reference: (f64, f64), result: Option<(f64, f64)>, reference_signals: usize) -> Self {
        let (first, last) = reference;
        let slack = COVERED_ROUNDING * (last - first);
        let common = result.map(|(from, to)| {
            let from = if from <= first + slack { first } else { from };
            let to = if to >= last - slack { last } else { to };
            (from, to)
        });
        let covered = common.filter(|(from, to)| from <= to && *from <= last && *to >= first);
        let share = match covered {
            None => 0.0,
            Some(_) if last <= first => 1.0,
            Some((from, to)) => (to - from) / (last - first),
        };
        Coverage {
            reference,
            covered,
            share,
            reference_signals,
        }
    }

    /// All times of the reference were compared.
    pub fn is_whole(&self) -> bool {
        self.covered == Some(self.reference)
    }

    /// The duration of the reference that the result does not cover, and where that begins.
    fn uncovered(&self) -> (f64, Option<f64>) {
        let (first, last) = self.reference;
        match self.covered {
            None => (last - first, Some(first)),
            Some((from, _)) if from > first => ((1.0 - self.share) * (last - first), Some(first)),
            Some((_, to)) if to < last => ((1.0 - self.share) * (last - first), Some(to)),
            Some(_) => (0.0, None),
        }
    }
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
    let ends = |table: &ResultTable| Some((*table.time().first()?, *table.time().last()?));
    let Some(reference_ends) = ends(reference) else {
        return nothing(reference.variables().len());
    };
    let facts = Facts {
        coverage: Coverage::new(reference_ends, ends(result), reference.variables().len()),
        result: ends(result),
        dt: time_tolerance(
            reference_ends.1 - reference_ends.0,
            median_spacing(result.time()),
            median_spacing(reference.time()),
            options,
        ),
    };
    let grids = Grids::new(result.time(), reference.time(), &facts, WHOLE);
    let signals = names
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
                let mut extremes = Extremes::default();
                r.y.iter().for_each(|value| extremes.add(*value));
                let mut sums = Sums::new(Tube::new(&extremes, options));
                sums.add(&y, &r, &grids);
                sums.finish(name, &facts, options)
            }
        })
        .collect();
    finished(&facts, signals)
}

/// No bounds.
const WHOLE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn nothing(reference_signals: usize) -> Comparison {
    Comparison {
        verdict: Verdict::Nothing,
        time_tolerance: 0.0,
        coverage: Coverage {
            reference_signals,
            ..Coverage::default()
        },
        signals: Vec::new(),
    }
}

fn finished(facts: &Facts, signals: Vec<SignalComparison>) -> Comparison {
    Comparison {
        verdict: overall(&signals, &facts.coverage),
        time_tolerance: facts.dt,
        coverage: facts.coverage,
        signals,
    }
}

fn overall(signals: &[SignalComparison], coverage: &Coverage) -> Verdict {
    let any = |verdict| signals.iter().any(|s| s.verdict == verdict);
    if signals.is_empty() {
        Verdict::Nothing
    } else if any(SignalVerdict::FarOff) {
        Verdict::FarOff
    } else if signals.iter().all(|s| s.verdict == SignalVerdict::Match) && coverage.is_whole() {
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

fn time_tolerance(
    duration: f64,
    result_spacing: f64,
    reference_spacing: f64,
    options: &TubeOptions,
) -> f64 {
    let sharp = (REFERENCE_ROWS_MAX * reference_spacing).max(result_spacing);
    (options.relative_time * duration).min(sharp)
}

/// The tube around a signal of the reference in which [`compare`] wants the result: time, lower and upper bound at the rows of the reference.
pub fn tube_around(
    result: &ResultTable,
    reference: &ResultTable,
    name: &str,
    options: &TubeOptions,
) -> Option<Vec<(f64, f64, f64)>> {
    let curve = Curve {
        t: reference.time(),
        y: reference.signal(name)?.to_vec(),
    };
    let duration = curve.t.last()? - curve.t.first()?;
    let spacing = |table: &ResultTable| median_spacing(table.time());
    let dt = time_tolerance(duration, spacing(result), spacing(reference), options);
    let mut extremes = Extremes::default();
    curve.y.iter().for_each(|value| extremes.add(*value));
    let dy = Tube::new(&extremes, options).dy;
    let mut window = tube::Window::new(&curve, dt);
    let bounds = curve.t.iter().map(|&t| {
        let (low, high) = window.extremes(t);
        (t, low - dy, high + dy)
    });
    Some(bounds.collect())
}

/// Median distance of neighbouring different times; 0 if there are none.
pub fn median_spacing(times: &[f64]) -> f64 {
    let mut steps: Vec<f64> = times
        .windows(2)
        .map(|w| w[1] - w[0])
        .filter(|&step| step > 0.0)
        .collect();
    median(&mut steps)
}

/// The middle one of some numbers; 0 if there are none.
fn median(steps: &mut [f64]) -> f64 {
    if steps.is_empty() {
        return 0.0;
    }
    let middle = steps.len() / 2;
    *steps.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Smallest, largest and largest absolute value of a curve.
#[derive(Clone, Copy)]
struct Extremes {
    low: f64,
    high: f64,
    size: f64,
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            size: 0.0,
        }
    }
}

impl Extremes {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
            self.size = self.size.max(value.abs());
        }
    }

    /// Scale of the tube's height: see the module's text.
    fn scale(&self) -> f64 {
        let range = self.high - self.low;
        if self.low > self.high || self.size <= ZERO_MAX {
            ZERO_SCALE
        } else if range > CONSTANT_RANGE * self.size {
            range
        } else {
            self.size
        }
    }
}

/// What is the same for all signals.
struct Facts {
    coverage: Coverage,
    /// Times of the first and of the last row of the result.
    result: Option<(f64, f64)>,
    /// Half-width of the tube.
    dt: f64,
}

/// Both ways of comparing, from one time to another.
struct Grids {
    /// The result in the tube around the reference.
    forth: Grid,
    /// The reference in the tube around the result, as far as there is one.
    back: Option<Grid>,
}

impl Grids {
    fn new(result: &[f64], reference: &[f64], facts: &Facts, (from, to): (f64, f64)) -> Grids {
        let inside = |(first, last): (f64, f64)| (first.max(from), last.min(to));
        let forth = inside(facts.coverage.reference);
        Grids {
            forth: Grid::new(result, reference, forth, facts.dt),
            back: (facts.result).map(|ends| Grid::new(reference, result, inside(ends), facts.dt)),
        }
    }
}

/// The height of the tube around a signal.
#[derive(Clone, Copy)]
struct Tube {
    scale: f64,
    dy: f64,
    unresolved: bool,
}

impl Tube {
    fn new(reference: &Extremes, options: &TubeOptions) -> Tube {
        let scale = reference.scale();
        let resolved = options.resolution * reference.size;
        Tube {
            scale,
            dy: (options.relative * scale).max(resolved),
            unresolved: resolved > options.relative * scale,
        }
    }
}

/// What was measured of a signal so far.
struct Sums {
    tube: Tube,
    forth: Measured,
    back: Measured,
    /// Some piece was measured.
    any: bool,
    /// The last values of result and reference.
    last: (Option<f64>, Option<f64>),
}

impl Sums {
    fn new(tube: Tube) -> Sums {
        Sums {
            tube,
            forth: Measured::default(),
            back: Measured::default(),
            any: false,
            last: (None, None),
        }
    }

    fn add(&mut self, result: &Curve<'_>, reference: &Curve<'_>, grids: &Grids) {
        let dy = self.tube.dy;
        measure(&mut self.forth, result, reference, &grids.forth, dy);
        if let Some(back) = &grids.back {
            measure(&mut self.back, reference, result, back, BACK_HEIGHT * dy);
        }
        self.any |= !grids.forth.pieces.is_empty();
        self.last = (
            result.y.last().copied().or(self.last.0),
            reference.y.last().copied().or(self.last.1),
        );
    }

    fn finish(self, name: &str, facts: &Facts, options: &TubeOptions) -> SignalComparison {
        let Tube {
            scale,
            dy,
            unresolved,
        } = self.tube;
        let (t_first, t_last) = facts.coverage.reference;
        let duration = t_last - t_first;
        let Measured {
            mut tube,
            strict,
            mut max_deviation,
        } = self.forth;
        let back = self.back;
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
        let (uncovered, first_uncovered) = facts.coverage.uncovered();
        let share = |outside: f64| {
            if duration > 0.0 {
                ((outside + uncovered) / duration).min(1.0)
            } else {
                0.0
            }
        };
        let (mut share_outside, mut first) = (share(tube.duration), tube.first);
        if let Some(t) = first_uncovered {
            first = Some(first.map_or(t, |f| f.min(t)));
        }
        if duration <= 0.0 {
            // A reference of one instant: the last rows of that time decide.
            let d = (self.last.0)
                .zip(self.last.1)
                .map_or(f64::INFINITY, |(y, r)| (y - r).abs());
            max_deviation = d;
            if d.is_nan() || d > dy {
                (share_outside, first) = (1.0, Some(t_first));
            }
        } else if !self.any {
            (share_outside, first) = (1.0, Some(t_first));
        }
        let verdict = if share_outside <= options.allowed_outside {
            SignalVerdict::Match
        } else if share_outside > options.far_off {
            SignalVerdict::FarOff
        } else {
            SignalVerdict::Outside
        };
        let strict = share(strict.duration);
        SignalComparison {
            name: name.to_owned(),
            verdict,
            max_deviation,
            scale,
            unresolved,
            share_outside,
            share_outside_strict: if self.any {
                strict
            } else {
                strict.max(share_outside)
            },
            first_outside: first,
        }
    }
}
