//! First changes of functions that are not polynomials over the step, by adaptive sampling.
//!
//! Values and rates at both ends give a cubic, whose error shows at the golden section: where its hull clears zero by that there is
//! no root, at three evaluations for a step. For the others five equidistant values give a polynomial of degree 4 in Bernstein form, whose
//! hull is widened by an error estimate: part of the fourth difference, and the deviation of the value at the golden section, which
//! the polynomial has not seen. Where the hull excludes zero there is no root; where
//! the polynomial falls monotonically and its error is small against the fall there is one; else the interval is halved, earlier half
//! first. A dip between samples, where the rate changes sign and the value does not, shows in the hull.

use super::bernstein::root_between;
use super::location::Guess;
use super::{Candidate, CrossingFunctions, Scope, Search, Side};
use crate::error::SolveError;
use crate::scale::{EPS, TOUCH_ULPS, time_resolution};

/// Halvings of a step; below, a dip that is still not resolved counts as a touch.
const DEPTH_MAX: u32 = 40;
/// Evaluations spent on subdividing one step; beyond, what is still not resolved is decided at the ends of its intervals.
const EVALUATIONS_MAX: u64 = 2048;
/// Part of the interval over which rates at its ends are taken.
const RATE_SHARE: f64 = 1.0 / 64.0;
/// The remainder of the cubic through values and rates is at the golden section nine tenths of its largest value, for a constant fourth
/// derivative; a factor 9 in reserve.
const CUBIC_FACTOR: f64 = 10.0;
/// Place at which polynomials are checked: no period of a function falls in with it and the ends.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// The hull must clear zero by so many times the error estimate: one residual may be small by chance.
const CLEAR_FACTOR: f64 = 20.0;
/// A cubic decides only where its hull clears zero by this multiple of its steepest part; nearer, one residual is not enough.
const STEEP_FACTOR: f64 = 2.0;
/// A value near zero at an end of the interval is no root if the polynomial leaves it by so many times the error estimate: the
/// remainder's derivative at the ends is 17 times its value at the golden section for a constant fifth derivative, in these units.
const SLOPE_FACTOR: f64 = 40.0;
/// Part of the fourth difference by which a function may leave the hull of its polynomial: the remainder of the fit is the fifth difference times at
/// most 1/28, and the fifth difference of a resolved function is smaller than the fourth.
const HULL_MARGIN: f64 = 0.1;
/// The remainder at the golden section is at least this part of its largest value over the interval, for a constant fifth derivative, with
/// a factor 2 in reserve.
const CHECK_FACTOR: f64 = 5.2;
/// A monotone polynomial has one root together with its function if the error is below this part of its fall.
const RESOLVED_REL: f64 = 0.05;
/// Round-off of the Bernstein coefficients relative to the values they are made of.
const COEFFICIENT_NOISE: f64 = 32.0;

/// Five equidistant times with the values of all functions at them, and with those at the golden section.
#[derive(Clone, Copy)]
struct Five<'a> {
    t: [f64; 5],
    r: [&'a [f64]; 5],
    golden: &'a [f64],
    depth: u32,
    /// Ends where the search does: what has changed there has changed for good, be it by round-off.
    is_last: bool,
}

impl Five<'_> {
    /// Those of one function.
    #[inline]
    fn levels(&self, i: usize, side: Side) -> [f64; 5] {
        let [a, q1, m, q3, b] = self.r;
        [
            side.level(a[i]),
            side.level(q1[i]),
            side.level(m[i]),
            side.level(q3[i]),
            side.level(b[i]),
        ]
    }
}

/// What the coefficients say about one interval.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Clear,
    /// One root each for the functions that differ at the ends.
    Simple,
    Unclear,
}

impl<F: CrossingFunctions + ?Sized> Search<'_, F> {
    /// Adds the general functions that are the first to change in (t_a, t_b] to the candidates.
    pub(super) fn general(
        &mut self,
        a: &[f64],
        b: &[f64],
        t_a: f64,
        t_b: f64,
    ) -> Result<(), SolveError> {
        let general = std::mem::take(&mut self.isolation.general);
        let result = self.general_of(&general, a, b, t_a, t_b);
        self.isolation.general = general;
        result
    }

    fn general_of(
        &mut self,
        general: &[usize],
        a: &[f64],
        b: &[f64],
        t_a: f64,
        t_b: f64,
    ) -> Result<(), SolveError> {
        let mut room = self.isolation.take_four();
        let result = self.general_in(general, (t_a, a), (t_b, b), &mut room);
        self.isolation.pool_of_four.push(room);
        result
    }

    /// `room` is for the values at four times between.
    #[inline]
    fn general_in(
        &mut self,
        general: &[usize],
        (t_a, a): (f64, &[f64]),
        (t_b, b): (f64, &[f64]),
        room: &mut [f64],
    ) -> Result<(), SolveError> {
        let [g, q1, m, q3] = four(room);
        self.evaluate(t_a + GOLDEN * (t_b - t_a), Scope::All, g)?;
        let mut has_changed = false;
        for &i in general {
            let scale = &mut self.isolation.scale[i];
            *scale = scale.max(g[i].abs()).max(b[i].abs());
            has_changed |= self.changed(i, b[i]) || self.changed(i, g[i]);
        }
        if !has_changed && self.all_clear(general, (t_a, a), g, (t_b, b))? {
            return Ok(());
        }
        let t = five_times(t_a, t_b);
        self.evaluate(t[1], Scope::All, q1)?;
        self.evaluate(t[2], Scope::All, m)?;
        self.evaluate(t[3], Scope::All, q3)?;
        let whole = Five {
            t,
            r: [a, q1, m, q3, b],
            golden: g,
            depth: 0,
            is_last: true,
        };
        let evaluations_end = self.isolation.evaluations + EVALUATIONS_MAX;
        self.earliest(general, &whole, evaluations_end)?;
        Ok(())
    }

    /// No function has a root by the cubic through its values and rates at the ends; `g` are the values at the golden section.
    fn all_clear(
        &mut self,
        general: &[usize],
        (t_a, a): (f64, &[f64]),
        g: &[f64],
        (t_b, b): (f64, &[f64]),
    ) -> Result<bool, SolveError> {
        let mut rates_a = self.isolation.take();
        let mut rates_b = self.isolation.take();
        if self.isolation.rates_time == Some(t_a) {
            rates_a.copy_from_slice(&self.isolation.rates);
        } else {
            self.rates(general, (t_a, a), (t_b, b), &mut rates_a)?;
        }
        self.rates(general, (t_b, b), (t_a, a), &mut rates_b)?;
        self.isolation.rates.copy_from_slice(&rates_b);
        self.isolation.rates_time = Some(t_b);
        let width = t_b - t_a;
        let clear = general.iter().all(|&i| {
            let rates = [width * rates_a[i], width * rates_b[i]];
            self.is_clear(i, [a[i], g[i], b[i]], rates)
        });
        self.isolation.put(rates_a);
        self.isolation.put(rates_b);
        Ok(clear)
    }

    /// Changed by more than a touch does, or at the end of the search.
    fn crossed(&self, i: usize, r: f64, is_last: bool) -> bool {
        self.changed(i, r) && (is_last || !self.is_touch(i, r))
    }

    /// Rates of the functions at one end of an interval, by a difference toward the other, corrected for the curvature that
    /// the chord shows.
    fn rates(
        &mut self,
        general: &[usize],
        (t, r): (f64, &[f64]),
        (t_other, r_other): (f64, &[f64]),
        rates: &mut [f64],
    ) -> Result<(), SolveError> {
        let near = t + RATE_SHARE * (t_other - t);
        let d = self.at(near, Scope::All)?;
        for &i in general {
            let rate = (d[i] - r[i]) / (near - t);
            let chord = (r_other[i] - r[i]) / (t_other - t);
            rates[i] = rate + RATE_SHARE / (1.0 - RATE_SHARE) * (rate - chord);
        }
        self.isolation.put(d);
        Ok(())
    }

    /// No root by the cubic through values and rates (times the width) at the ends, checked at the golden section.
    fn is_clear(&self, i: usize, r: [f64; 3], rates: [f64; 2]) -> bool {
        let [a, g, b] = r.map(|r| self.level(i, r));
        let rest = self.isolation.sides[i].rest;
        if a == g && g == b && rates == [0.0; 2] || rest > 0.0 && a.max(g).max(b) <= 2.0 * rest {
            return true;
        }
        let sign = self.isolation.sides[i].sign / 3.0;
        let c = [a, a + sign * rates[0], b - sign * rates[1], b];
        let (s, s1) = (GOLDEN, 1.0 - GOLDEN);
        let cubic = s1 * s1 * s1 * c[0] + 3.0 * s * s1 * (s1 * c[1] + s * c[2]) + s * s * s * c[3];
        let clear = c[1].min(c[2]);
        let steepest = c.windows(2).fold(0.0f64, |m, c| m.max((c[1] - c[0]).abs()));
        let margin = CUBIC_FACTOR * (g - cubic).abs();
        let near = |value: f64, next: f64| value < margin && next - value < margin;
        clear > margin.max(STEEP_FACTOR * steepest) && !near(a, c[1]) && !near(b, c[2])
    }

    /// The first bracket in which a function changes; its functions are added to the candidates.
    fn earliest(
        &mut self,
        general: &[usize],
        five: &Five<'_>,
        evaluations_end: u64,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let [t_a, .., t_b] = five.t;
        let [.., b] = five.r;
        match self.judge(general, five) {
            Verdict::Clear => Ok(None),
            Verdict::Simple => {
                self.simple_candidates(general, five);
                Ok(Some((t_a, t_b)))
            }
            Verdict::Unclear if self.is_exhausted(five, evaluations_end) => {
                let found = self.candidates_at(general, t_a, t_b, b, five.is_last);
                if found.is_none() {
                    self.note_unresolved(general, five);
                }
                Ok(found)
            }
            Verdict::Unclear => self.halve(general, five, evaluations_end),
        }
    }

    /// The interval cannot be divided further.
    fn is_exhausted(&self, five: &Five<'_>, evaluations_end: u64) -> bool {
        let [t_a, .., t_b] = five.t;
        five.depth >= DEPTH_MAX
            || self.isolation.evaluations > evaluations_end
            || t_b - t_a <= 8.0 * time_resolution(t_b, self.width)
    }

    fn halve(
        &mut self,
        general: &[usize],
        five: &Five<'_>,
        evaluations_end: u64,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let mut found = self.half(general, five, 0, evaluations_end)?;
        if found.is_none() {
            found = self.candidates_at(general, five.t[0], five.t[2], five.r[2], false);
        }
        if found.is_none() {
            found = self.half(general, five, 2, evaluations_end)?;
        }
        Ok(found)
    }

    /// One half of an interval.
    fn half(
        &mut self,
        general: &[usize],
        five: &Five<'_>,
        first: usize,
        evaluations_end: u64,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let mut room = self.isolation.take_four();
        let result = self.half_in(general, five, first, evaluations_end, &mut room);
        self.isolation.pool_of_four.push(room);
        result
    }

    fn half_in(
        &mut self,
        general: &[usize],
        five: &Five<'_>,
        first: usize,
        evaluations_end: u64,
        room: &mut [f64],
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let (t_a, t_b) = (five.t[first], five.t[first + 2]);
        let t = five_times(t_a, t_b);
        let [golden, q1, _, q3] = four(room);
        self.evaluate(t[1], Scope::All, q1)?;
        self.evaluate(t[3], Scope::All, q3)?;
        self.evaluate(t_a + GOLDEN * (t_b - t_a), Scope::All, golden)?;
        let half = Five {
            t,
            r: [five.r[first], q1, five.r[first + 1], q3, five.r[first + 2]],
            golden,
            depth: five.depth + 1,
            is_last: five.is_last && first == 2,
        };
        self.earliest(general, &half, evaluations_end)
    }

    /// The functions that have changed at the right end become candidates.
    fn candidates_at(
        &mut self,
        general: &[usize],
        left: f64,
        right: f64,
        r: &[f64],
        is_last: bool,
    ) -> Option<(f64, f64)> {
        let before = self.isolation.candidates.len();
        for &index in general {
            if self.crossed(index, r[index], is_last) {
                self.isolation.candidates.push(Candidate {
                    index,
                    left,
                    right,
                    guess: None,
                });
            }
        }
        (self.isolation.candidates.len() > before).then_some((left, right))
    }

    /// The same where each changes once, with the root of the polynomial through its five values.
    fn simple_candidates(&mut self, general: &[usize], five: &Five<'_>) {
        let [left, .., right] = five.t;
        let width = right - left;
        for &index in general {
            if !self.crossed(index, five.r[4][index], five.is_last) {
                continue;
            }
            let c = bernstein(five.levels(index, self.isolation.sides[index]));
            let (s, slope) = root_between(&c, 0.0, 1.0);
            self.isolation.candidates.push(Candidate {
                index,
                left,
                right,
                guess: Some(Guess {
                    at: left + s * width,
                    slope: slope / width,
                }),
            });
        }
    }

    fn judge(&mut self, general: &[usize], five: &Five<'_>) -> Verdict {
        let mut verdict = Verdict::Clear;
        for &i in general {
            let side = self.isolation.sides[i];
            let f = five.levels(i, side);
            let size = f.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let fourth = (f[0] - 4.0 * f[1] + 6.0 * f[2] - 4.0 * f[3] + f[4]).abs();
            let noise = COEFFICIENT_NOISE * EPS * size;
            let golden = side.level(five.golden[i]);
            let deviation = CHECK_FACTOR * (golden - at_golden(&f)).abs();
            let margin = (HULL_MARGIN * fourth).max(deviation);
            let c = bernstein(f);
            if self.crossed(i, five.r[4][i], five.is_last) {
                let falling = c.windows(2).all(|pair| pair[1] <= pair[0] + noise);
                if !falling || margin > RESOLVED_REL * (f[0] - f[4]).abs() {
                    return Verdict::Unclear;
                }
                verdict = Verdict::Simple;
                continue;
            }
            let lowest = c[1..4]
                .iter()
                .chain(&f[1..4])
                .fold(f64::INFINITY, |m: f64, v| m.min(*v));
            let touch = TOUCH_ULPS * EPS * self.isolation.scale[i];
            // Between the ends, and at an end that the function does not clearly leave.
            let near = |value: f64, next: f64| {
                value < CLEAR_FACTOR * margin && next - value < SLOPE_FACTOR * margin
            };
            let inner = lowest < CLEAR_FACTOR * margin || near(f[0], c[1]) || near(f[4], c[3]);
            if lowest < -noise || inner && margin > touch {
                return Verdict::Unclear;
            }
            if lowest <= COEFFICIENT_NOISE * EPS * self.isolation.scale[i]
                && side.rest == 0.0
                && five.r.iter().any(|r| r[i] != five.r[0][i])
            {
                self.note_nearest(i, five);
            }
        }
        verdict
    }

    /// Functions of an interval that cannot be divided further and that end on the side they began.
    fn note_unresolved(&mut self, general: &[usize], five: &Five<'_>) {
        for &i in general {
            let near = five.r[1..4].iter().any(|r| {
                r[i].abs() <= COEFFICIENT_NOISE * EPS * self.isolation.scale[i]
                    || self.changed(i, r[i])
            });
            if near && self.isolation.sides[i].rest == 0.0 {
                self.note_nearest(i, five);
            }
        }
    }

    fn note_nearest(&mut self, i: usize, five: &Five<'_>) {
        // The ends of the search are where the last event was and where the next step goes on.
        let first = usize::from(five.t[0] == self.start);
        let last = if five.is_last { 4 } else { 5 };
        let nearest = (first..last)
            .min_by(|&j, &k| five.r[j][i].abs().total_cmp(&five.r[k][i].abs()))
            .expect("inner points");
        let turns = nearest > first && nearest < 4 || five.r[nearest][i].abs() < f64::MIN_POSITIVE;
        if turns || self.is_touch(i, five.r[nearest][i]) {
            self.note_touch(five.t[nearest], i, five.r[nearest][i]);
        }
    }
}

/// Four parts of equal length.
#[inline]
fn four(room: &mut [f64]) -> [&mut [f64]; 4] {
    let (first, last) = room.split_at_mut(room.len() / 2);
    let (a, b) = first.split_at_mut(first.len() / 2);
    let (c, d) = last.split_at_mut(last.len() / 2);
    [a, b, c, d]
}

fn five_times(t_a: f64, t_b: f64) -> [f64; 5] {
    let t_m = t_a + 0.5 * (t_b - t_a);
    [
        t_a,
        t_a + 0.5 * (t_m - t_a),
        t_m,
        t_m + 0.5 * (t_b - t_m),
        t_b,
    ]
}

/// Weights of five equidistant values for their polynomial at the golden section (Lagrange).
const AT_GOLDEN: [f64; 5] = {
    let x = 4.0 * GOLDEN;
    let [d0, d1, d2, d3, d4] = [x, x - 1.0, x - 2.0, x - 3.0, x - 4.0];
    [
        d1 * d2 * d3 * d4 / 24.0,
        -d0 * d2 * d3 * d4 / 6.0,
        d0 * d1 * d3 * d4 / 4.0,
        -d0 * d1 * d2 * d4 / 6.0,
        d0 * d1 * d2 * d3 / 24.0,
    ]
};

/// The polynomial through five equidistant values at the golden section.
#[inline]
fn at_golden(f: &[f64; 5]) -> f64 {
    let w = &AT_GOLDEN;
    (w[0] * f[0] + w[1] * f[1]) + (w[2] * f[2] + w[3] * f[3]) + w[4] * f[4]
}

/// Bernstein coefficients of the polynomial of degree 4 through five equidistant values.
#[inline]
fn bernstein(f: [f64; 5]) -> [f64; 5] {
    let g1 = 256.0 * f[1] - 81.0 * f[0] - f[4];
    let g2 = 16.0 * f[2] - f[0] - f[4];
    let g3 = 256.0 * f[3] - f[0] - 81.0 * f[4];
    let b2 = (30.0 * g2 - g1 - g3) * (1.0 / 72.0);
    let difference = (g1 - g3) * (1.0 / 96.0);
    let sum = (g2 - 6.0 * b2) * 0.25;
    [
        f[0],
        0.5 * (sum + difference),
        b2,
        0.5 * (sum - difference),
        f[4],
    ]
}
