//! The first instant of an interval at which a relation changes, found on the interpolant.
//!
//! Comes in: crossing functions r_i(t) along the interpolant, the truth values that hold, an interval. Goes out: the earliest
//! change, located to neighbouring floats with the time on the far side, or none, and touches of zero that change nothing.
//!
//! Isolation. Five equidistant values of r_i determine a polynomial of degree 4, which is r_i itself where it is affine in the states
//! (interpolants have degree 4 and 3). In Bernstein form its coefficients bound it: no coefficient on the other side means no
//! root, one change of side among the coefficients means exactly one (variation diminishing property; Farin, Curves and
//! Surfaces for CAGD, 5). Otherwise the interval is halved, earlier half first. For functions that are not affine the fourth
//! difference widens the hull: where five values do not resolve the function, the interval is halved as well. Functions far
//! from zero compared with their variation over three points need no more than these.
//!
//! Location. Chandrupatla's method (Advances in Engineering Software 28, 1997): inverse quadratic interpolation where three points
//! allow it, bisection otherwise, on the function whose secant crosses first; the bracket is for "some relation has changed".

use crate::error::SolveError;
use crate::scale::{DENSE_EVENTS_ULPS, EPS, TOUCH_ULPS, time_resolution};

/// Halvings of a step; below, a dip that is still not resolved counts as a touch.
const DEPTH_MAX: u32 = 32;
/// Evaluations spent on subdividing one step; beyond, what is still not resolved is decided at the ends of its intervals.
const EVALUATIONS_MAX: u64 = 4096;
/// Points, each half as far from the left end as the one before, at which a bracket whose left end is round-off is probed for a
/// better one.
const LEFT_POINTS: u32 = 14;
/// Evaluations of one location. Bisection alone needs at most 53 on a bracket of one exponent.
const LOCATION_MAX: u32 = 200;
/// A function whose smallest of three values exceeds this multiple of their range has no root between them, unless it is a
/// polynomial (then five values decide, which cost nothing).
const FAR_FACTOR: f64 = 5.0;
/// Part of the fourth difference by which a function that is not affine may leave its polynomial's hull.
const HULL_MARGIN: f64 = 0.1;
/// Changes within this many units of time resolution are one event.
const GATHER_ULPS: f64 = 4.0;
/// Round-off of the Bernstein coefficients relative to the values they are made of.
const COEFFICIENT_NOISE: f64 = 32.0;

/// Crossing functions along one step.
pub trait CrossingFunctions {
    fn n_functions(&self) -> usize;

    /// Values of all functions at `t`.
    fn evaluate(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError>;

    /// Affine in the states: a polynomial over the step.
    fn is_affine(&self, index: usize) -> bool;
}

/// On which side of zero a relation holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignRule {
    /// Holds for r > 0, else for r < 0.
    pub rising: bool,
    /// Holds at r = 0.
    pub closed: bool,
}

impl SignRule {
    pub fn holds(self, r: f64) -> bool {
        if r == 0.0 {
            self.closed
        } else {
            (r > 0.0) == self.rising
        }
    }
}

/// A located change: at `t_left` all relations still hold as before, at `t_right` those in `changed` do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    pub t_left: f64,
    pub t_right: f64,
    pub changed: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    pub index: usize,
    pub value_left: f64,
    pub value_right: f64,
}

/// A function came to zero within round-off and turned back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    pub t: f64,
    pub index: usize,
    pub value: f64,
}

/// Work space, kept between steps.
#[derive(Debug, Default)]
pub struct Isolation {
    pool: Vec<Vec<f64>>,
    /// Largest |r_i| over the interval searched last.
    pub scale: Vec<f64>,
    /// Values at the end of the interval searched last.
    end: Vec<f64>,
    end_time: Option<f64>,
    /// Below this magnitude the sign of function i is round-off; zero: never.
    pub noise: Vec<f64>,
    /// Functions being located: their values count as they are, however small.
    exact: Vec<bool>,
    pub touches: Vec<Touch>,
    pub evaluations: u64,
}

impl Isolation {
    pub fn new(n_functions: usize) -> Isolation {
        Isolation {
            scale: vec![0.0; n_functions],
            end: vec![0.0; n_functions],
            noise: vec![0.0; n_functions],
            exact: vec![false; n_functions],
            ..Isolation::default()
        }
    }

    /// The values at the end of the last interval no longer hold (an event happened).
    pub fn forget(&mut self) {
        self.end_time = None;
    }

    /// Values of all functions at the end of the interval searched last.
    pub fn end_values(&self) -> &[f64] {
        &self.end
    }

    fn take(&mut self, n: usize) -> Vec<f64> {
        self.pool.pop().unwrap_or_else(|| vec![0.0; n])
    }

    fn put(&mut self, buffer: Vec<f64>) {
        self.pool.push(buffer);
    }
}

/// The earliest change of a relation in (t_a, t_b], if there is one. `truth[i]` is what relation i holds at `t_a`.
pub fn first_crossing<F: CrossingFunctions>(
    functions: &mut F,
    isolation: &mut Isolation,
    rules: &[SignRule],
    truth: &[bool],
    t_a: f64,
    t_b: f64,
) -> Result<Option<Located>, SolveError> {
    let n = functions.n_functions();
    isolation.touches.clear();
    if n == 0 || t_b <= t_a {
        return Ok(None);
    }
    let mut search = Search {
        functions,
        isolation,
        rules,
        truth,
        n,
        start: t_a,
        width: t_b - t_a,
        evaluations_end: 0,
    };
    search.evaluations_end = search.isolation.evaluations + EVALUATIONS_MAX;
    let a = if search.isolation.end_time == Some(t_a) {
        let mut a = search.isolation.take(n);
        a.copy_from_slice(&search.isolation.end);
        a
    } else {
        search.at(t_a)?
    };
    let t_m = t_a + 0.5 * (t_b - t_a);
    let m = search.at(t_m)?;
    let b = search.at(t_b)?;
    let a = search.without_false_start(a, &m, &b);
    if search.any_changed(&a) {
        // The relation does not fit its function although no event is due: one has to happen at once, but time must advance.
        let t_right = (t_a + time_resolution(t_a, t_b - t_a)).min(t_b);
        let right = search.at(t_right)?;
        let mut located = search.located(t_a, &a, t_right, &right);
        if located.changed.is_empty() {
            located = search.located(t_a, &a, t_right, &a);
        }
        search.isolation.end_time = None;
        for buffer in [a, m, b, right] {
            search.isolation.put(buffer);
        }
        return Ok(Some(located));
    }
    for i in 0..n {
        search.isolation.scale[i] = a[i].abs().max(m[i].abs()).max(b[i].abs());
    }
    let found = search.earliest(
        Triple {
            t: [t_a, t_m, t_b],
            r: [&a, &m, &b],
        },
        0,
    )?;
    search.isolation.end.copy_from_slice(&b);
    search.isolation.end_time = Some(t_b);
    for buffer in [a, m, b] {
        search.isolation.put(buffer);
    }
    Ok(found)
}

/// An interval with values at its ends and its middle.
#[derive(Clone, Copy)]
struct Triple<'a> {
    t: [f64; 3],
    r: [&'a [f64]; 3],
}

struct Search<'a, F> {
    functions: &'a mut F,
    isolation: &'a mut Isolation,
    rules: &'a [SignRule],
    truth: &'a [bool],
    n: usize,
    start: f64,
    width: f64,
    /// The count of evaluations at which subdivision ends.
    evaluations_end: u64,
}

/// What the coefficients say about one interval.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    None,
    /// One root each for the functions that differ at the ends.
    Simple,
    Unclear,
}

impl<F: CrossingFunctions> Search<'_, F> {
    fn at(&mut self, t: f64) -> Result<Vec<f64>, SolveError> {
        let mut out = self.isolation.take(self.n);
        self.isolation.evaluations += 1;
        self.functions.evaluate(t, &mut out)?;
        for (i, r) in out.iter_mut().enumerate() {
            if r.abs() <= self.isolation.noise[i] && !self.isolation.exact[i] {
                *r = self.held(i, *r);
            }
        }
        Ok(out)
    }

    /// The value of a function that is round-off, with the sign that its relation holds.
    fn held(&self, i: usize, r: f64) -> f64 {
        if self.isolation.noise[i] == 0.0 || !self.changed(i, r) {
            r
        } else if r == 0.0 {
            if self.rules[i].rising == self.truth[i] {
                f64::MIN_POSITIVE
            } else {
                -f64::MIN_POSITIVE
            }
        } else {
            -r
        }
    }

    /// The values at the start of the interval. One that is round-off has been given the side that its relation holds; if the function
    /// is on the other side right after, it changes at once.
    fn without_false_start(&self, mut a: Vec<f64>, m: &[f64], b: &[f64]) -> Vec<f64> {
        for i in 0..self.n {
            if a[i].abs() <= self.isolation.noise[i]
                && !(self.changed(i, m[i]) && self.changed(i, b[i]))
            {
                a[i] = self.held(i, a[i]);
            }
        }
        a
    }

    fn changed(&self, i: usize, r: f64) -> bool {
        self.rules[i].holds(r) != self.truth[i]
    }

    fn any_changed(&self, r: &[f64]) -> bool {
        (0..self.n).any(|i| self.changed(i, r[i]))
    }

    fn earliest(
        &mut self,
        interval: Triple<'_>,
        depth: u32,
    ) -> Result<Option<Located>, SolveError> {
        let [t_a, t_m, t_b] = interval.t;
        let [a, m, b] = interval.r;
        if self.all_far(interval) {
            return Ok(None);
        }
        if t_m <= t_a || t_m >= t_b {
            return if self.any_changed(b) {
                Ok(Some(self.located(t_a, a, t_b, b)))
            } else {
                Ok(None)
            };
        }
        let t_1 = t_a + 0.5 * (t_m - t_a);
        let t_3 = t_m + 0.5 * (t_b - t_m);
        let q1 = self.at(t_1)?;
        let q3 = self.at(t_3)?;
        let verdict = self.judge([a, &q1, m, &q3, b]);
        if verdict == Verdict::None {
            self.note_touches(interval, [&q1, &q3]);
        }
        let found = match verdict {
            Verdict::None => Ok(None),
            Verdict::Simple => self.locate(t_a, a, t_b, b).map(Some),
            Verdict::Unclear
                if depth >= DEPTH_MAX
                    || self.isolation.evaluations > self.evaluations_end
                    || t_b - t_a <= 8.0 * time_resolution(t_b, self.width) =>
            {
                if self.any_changed(b) {
                    self.locate(t_a, a, t_b, b).map(Some)
                } else {
                    self.note_touches(interval, [&q1, &q3]);
                    Ok(None)
                }
            }
            Verdict::Unclear => {
                let left = Triple {
                    t: [t_a, t_1, t_m],
                    r: [a, &q1, m],
                };
                match self.earliest(left, depth + 1) {
                    Ok(None) if self.any_changed(m) => self.locate(t_a, a, t_m, m).map(Some),
                    Ok(None) => self.earliest(
                        Triple {
                            t: [t_m, t_3, t_b],
                            r: [m, &q3, b],
                        },
                        depth + 1,
                    ),
                    other => other,
                }
            }
        };
        self.isolation.put(q1);
        self.isolation.put(q3);
        found
    }

    fn all_far(&self, interval: Triple<'_>) -> bool {
        let [a, m, b] = interval.r;
        (0..self.n).all(|i| {
            let low = a[i].min(m[i]).min(b[i]);
            let high = a[i].max(m[i]).max(b[i]);
            let changed = [a[i], m[i], b[i]].into_iter().any(|r| self.changed(i, r));
            let far = !self.functions.is_affine(i)
                && low * high > 0.0
                && low.abs().min(high.abs()) > FAR_FACTOR * (high - low);
            !changed && (low == high || far)
        })
    }

    fn judge(&self, r: [&[f64]; 5]) -> Verdict {
        let mut verdict = Verdict::None;
        for i in 0..self.n {
            let f = r.map(|values| values[i]);
            let coefficients = bernstein(f);
            let size = f.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            if size <= self.isolation.noise[i] {
                continue;
            }
            let fourth = (f[0] - 4.0 * f[1] + 6.0 * f[2] - 4.0 * f[3] + f[4]).abs();
            let margin = if self.functions.is_affine(i) {
                0.0
            } else {
                HULL_MARGIN * fourth
            };
            let noise = COEFFICIENT_NOISE * EPS * size;
            let inner = coefficients[1..4].iter().chain(&f[1..4]);
            if self.changed(i, f[4]) {
                let mut changes = 0;
                let mut side = self.changed(i, f[0]);
                for c in coefficients {
                    let other = self.changed(i, c);
                    changes += u32::from(other != side);
                    side = other;
                }
                let resolved = margin <= (f[4] - f[0]).abs();
                if changes > 1 || !resolved {
                    return Verdict::Unclear;
                }
                verdict = Verdict::Simple;
            } else {
                // The side on which the relation stays as it is.
                let sign = if self.rules[i].rising == self.truth[i] {
                    1.0
                } else {
                    -1.0
                };
                let touches = inner.clone().any(|c| sign * c < -noise);
                let near = margin > 0.0 && coefficients.iter().any(|c| sign * c < margin);
                if touches || near && margin > TOUCH_ULPS * EPS * self.isolation.scale[i] {
                    return Verdict::Unclear;
                }
            }
        }
        verdict
    }

    /// Functions that come to zero inside the interval, within the round-off of a value of their size over the step.
    fn note_touches(&mut self, interval: Triple<'_>, quarters: [&[f64]; 2]) {
        let [t_a, t_m, t_b] = interval.t;
        let [a, m, b] = interval.r;
        for i in 0..self.n {
            let band =
                (COEFFICIENT_NOISE * EPS * self.isolation.scale[i]).max(self.isolation.noise[i]);
            let inner = bernstein([a[i], quarters[0][i], m[i], quarters[1][i], b[i]]);
            let nearest = inner[1..4]
                .iter()
                .chain([&m[i]])
                .fold(f64::INFINITY, |m: f64, v| m.min(v.abs()));
            let constant =
                a[i] == m[i] && m[i] == b[i] || self.isolation.scale[i] <= self.isolation.noise[i];
            let known =
                |touch: &Touch| touch.index == i && (touch.t - t_m).abs() <= 1e-3 * self.width;
            if nearest <= band
                && !constant
                && t_b > t_a
                && !self.isolation.touches.iter().any(known)
            {
                self.isolation.touches.push(Touch {
                    t: t_m,
                    index: i,
                    value: m[i],
                });
            }
        }
    }

    fn located(&self, t_left: f64, left: &[f64], t_right: f64, right: &[f64]) -> Located {
        let changed = (0..self.n)
            .filter(|&i| self.changed(i, right[i]))
            .map(|index| Change {
                index,
                value_left: left[index],
                value_right: right[index],
            })
            .collect();
        Located {
            t_left,
            t_right,
            changed,
        }
    }

    /// Shrinks the bracket to neighbouring floats. No relation has changed at `t_a`, one has at `t_b`.
    fn locate(&mut self, t_a: f64, a: &[f64], t_b: f64, b: &[f64]) -> Result<Located, SolveError> {
        let changed: Vec<usize> = (0..self.n).filter(|&i| self.changed(i, b[i])).collect();
        // A function that is round-off at the left end would be found to cross there again: begin where it is not.
        let is_noise = |search: &Self, r: &[f64]| {
            (changed.iter()).any(|&i| r[i].abs() <= search.isolation.noise[i])
        };
        let (mut t_left, mut left) = (t_a, a.to_vec());
        let mut width = t_b - t_a;
        for _ in 0..LEFT_POINTS {
            if !is_noise(self, &left) {
                break;
            }
            width *= 0.5;
            let r = self.at(t_a + width)?;
            if !self.any_changed(&r) && !is_noise(self, &r) {
                t_left = t_a + width;
                left.copy_from_slice(&r);
            }
            self.isolation.put(r);
        }
        for &i in &changed {
            self.isolation.exact[i] = true;
        }
        let located = self.locate_exact(t_left, &left, t_b, b);
        self.isolation.exact.fill(false);
        located
    }

    fn locate_exact(
        &mut self,
        t_a: f64,
        a: &[f64],
        t_b: f64,
        b: &[f64],
    ) -> Result<Located, SolveError> {
        let n = self.n;
        // x1 is the newest point, x2 the end on the other side, x3 the point before.
        let (mut x1, mut x2, mut x3) = (t_b, t_a, t_a);
        let mut f1 = self.isolation.take(n);
        let mut f2 = self.isolation.take(n);
        let mut f3 = self.isolation.take(n);
        f1.copy_from_slice(b);
        f2.copy_from_slice(a);
        f3.copy_from_slice(a);
        let mut newest_is_right = true;
        for iteration in 0..LOCATION_MAX {
            let (left, right) = if newest_is_right { (x2, x1) } else { (x1, x2) };
            let resolution = 0.5 * time_resolution(right, EPS * self.width);
            let middle = left + 0.5 * (right - left);
            if right - left <= resolution || middle <= left || middle >= right {
                break;
            }
            let i = self.leading(if newest_is_right {
                (&f2, &f1)
            } else {
                (&f1, &f2)
            });
            let share = if iteration == 0 {
                f1[i] / (f1[i] - f2[i])
            } else {
                share_of_bracket([x1, x2, x3], [f1[i], f2[i], f3[i]])
            };
            let margin = (resolution / (right - left)).min(0.5);
            let share = if share.is_finite() {
                share.clamp(margin, 1.0 - margin)
            } else {
                0.5
            };
            let mut x = x1 + share * (x2 - x1);
            if x <= left || x >= right {
                x = middle;
            }
            let f = self.at(x)?;
            let is_right = self.any_changed(&f);
            if is_right == newest_is_right {
                x3 = x1;
                f3.copy_from_slice(&f1);
            } else {
                x3 = x2;
                f3.copy_from_slice(&f2);
                x2 = x1;
                f2.copy_from_slice(&f1);
            }
            x1 = x;
            f1.copy_from_slice(&f);
            self.isolation.put(f);
            newest_is_right = is_right;
        }
        let (left, f_left, right, f_right) = match newest_is_right {
            true => (x2, &f2, x1, &f1),
            false => (x1, &f1, x2, &f2),
        };
        let mut located = self.located(left, f_left, right, f_right);
        let later = right + GATHER_ULPS * time_resolution(right, EPS * self.width);
        let alone =
            right - self.start > DENSE_EVENTS_ULPS * time_resolution(right, EPS * self.width);
        if self.n > 1 && alone && later < t_b {
            let f = self.at(later)?;
            let stay = located
                .changed
                .iter()
                .all(|change| self.changed(change.index, f[change.index]));
            let together = self.located(left, f_left, later, &f);
            if stay && together.changed.len() > located.changed.len() {
                located = together;
            }
            self.isolation.put(f);
        }
        for buffer in [f1, f2, f3] {
            self.isolation.put(buffer);
        }
        Ok(located)
    }

    /// Of the functions that have changed at the right end, the one whose secant crosses zero first.
    fn leading(&self, (left, right): (&[f64], &[f64])) -> usize {
        let crossing = |i: usize| left[i] / (left[i] - right[i]);
        (0..self.n)
            .filter(|&i| self.changed(i, right[i]))
            .min_by(|&i, &j| crossing(i).total_cmp(&crossing(j)))
            .expect("a bracket has a changed relation at its right end")
    }
}

/// Chandrupatla's next point as a share of the way from x1 to x2.
fn share_of_bracket(x: [f64; 3], f: [f64; 3]) -> f64 {
    let xi = (x[0] - x[1]) / (x[2] - x[1]);
    let phi = (f[0] - f[1]) / (f[2] - f[1]);
    if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
        f[0] / (f[1] - f[0]) * (f[2] / (f[1] - f[2]))
            + (x[2] - x[0]) / (x[1] - x[0]) * (f[0] / (f[2] - f[0])) * (f[1] / (f[2] - f[1]))
    } else {
        0.5
    }
}

/// Bernstein coefficients of the polynomial of degree 4 through five equidistant values.
fn bernstein(f: [f64; 5]) -> [f64; 5] {
    let g1 = 256.0 * f[1] - 81.0 * f[0] - f[4];
    let g2 = 16.0 * f[2] - f[0] - f[4];
    let g3 = 256.0 * f[3] - f[0] - 81.0 * f[4];
    let b2 = (30.0 * g2 - g1 - g3) / 72.0;
    let difference = (g1 - g3) / 96.0;
    let sum = (g2 - 6.0 * b2) / 4.0;
    [
        f[0],
        0.5 * (sum + difference),
        b2,
        0.5 * (sum - difference),
        f[4],
    ]
}
