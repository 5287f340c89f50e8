//! First changes of functions that are affine in states and time: polynomials of the interpolant's degree over the step.
//!
//! Their values at the nodes determine them. Where round-off takes the polynomial and the function apart, the function decides: the right end of a
//! bracket is a time at which it was seen to have changed.

use super::bernstein::{Basis, DEGREE_MAX, Met, Walk, changes_once, root_between, root_of_return};
use super::location::Guess;
use super::{Bows, Candidate, CrossingFunctions, Scope, Search, larger};
use crate::error::SolveError;
use crate::scale::{EPS, TOUCH_ULPS};

/// A polynomial that touches zero is zero but for round-off over about the root of ε of the step.
const FLAT_MARGIN: f64 = 1e-6;

/// One function over the interval.
struct Sampled<'a> {
    index: usize,
    /// Places in [0, 1], from the first to the last, and its values there as the model gives them.
    nodes: &'a [f64],
    raw: &'a [f64],
    /// Of its polynomial, with the sign that is positive as long as nothing changes.
    coefficients: [f64; DEGREE_MAX + 1],
    degree: usize,
    /// Their round-off.
    noise: f64,
}

/// The interval, as times for s in [0, 1].
#[derive(Clone, Copy)]
struct Times {
    a: f64,
    b: f64,
}

impl Times {
    fn at(self, s: f64) -> f64 {
        if s == 1.0 {
            self.b
        } else {
            self.a + s * (self.b - self.a)
        }
    }
}

impl<F: CrossingFunctions + ?Sized> Search<'_, F> {
    /// Asks how the affine functions bend.
    #[inline]
    pub(super) fn find_bows(&mut self, t_a: f64, t_b: f64) -> Result<(), SolveError> {
        self.bows = if !self.functions.affine_bows(&mut self.isolation.bows)? {
            Bows::Unknown
        } else if self.functions.bowed_step() == (t_a, t_b) {
            Bows::Whole
        } else {
            Bows::Around
        };
        Ok(())
    }

    /// No affine function can come to zero between its values at the ends. Over a whole step its coefficients say so; in a part of one it
    /// is at most 2δ below the smaller end, where δ bounds its distance from a straight line over the step.
    #[inline]
    pub(super) fn is_straight(&self, a: &[f64], b: &[f64]) -> bool {
        let affine = &self.isolation.affine;
        affine.iter().all(|&i| self.stays(i, a[i], b[i]))
    }

    /// The same for one of them, with its values at the ends.
    #[inline]
    pub(super) fn stays(&self, i: usize, a: f64, b: f64) -> bool {
        let bow = &self.isolation.bows[i];
        let noise = TOUCH_ULPS * EPS * larger(a.abs(), b.abs()) + bow.error;
        // What is not a number clears nothing.
        match self.bows {
            Bows::Unknown => false,
            Bows::Around => {
                let low = self.level(i, a).min(self.level(i, b));
                low > 2.0 * bow.depth() + noise
            }
            Bows::Whole => {
                let [c0, c1, c2, c3, c4] = self.bowed(i, a, b);
                c4 > noise && c0 > noise && c1 > noise && c2 > noise && c3 > noise
            }
        }
    }

    /// Bernstein coefficients of the level of a function over the whole step.
    #[inline]
    fn bowed(&self, i: usize, a: f64, b: f64) -> [f64; 5] {
        let (bow, quarter) = (&self.isolation.bows[i].inner, 0.25 * (b - a));
        [
            self.level(i, a),
            self.level(i, a + quarter + bow[0]),
            self.level(i, 0.5 * (a + b) + bow[1]),
            self.level(i, b - quarter + bow[2]),
            self.level(i, b),
        ]
    }

    /// Adds the affine functions that may be the first to change in (t_a, t_b] to the candidates.
    pub(super) fn affine(
        &mut self,
        a: &[f64],
        b: &[f64],
        t_a: f64,
        t_b: f64,
    ) -> Result<(), SolveError> {
        let affine = std::mem::take(&mut self.isolation.affine);
        let times = Times { a: t_a, b: t_b };
        let result = if self.bows == Bows::Whole {
            self.affine_by_bows(&affine, [a, b], times)
        } else {
            self.affine_by_nodes(&affine, [a, b], times)
        };
        self.isolation.affine = affine;
        result
    }

    /// Without evaluations between the ends.
    fn affine_by_bows(
        &mut self,
        affine: &[usize],
        [a, b]: [&[f64]; 2],
        times: Times,
    ) -> Result<(), SolveError> {
        let basis = Basis::of(4);
        let mut limit = 1.0;
        for &i in affine {
            let inner = self.bowed(i, a[i], b[i]);
            let (low, high) = (inner.iter().copied())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| {
                    (low.min(c), high.max(c))
                });
            let size = low.abs().max(high.abs());
            let scale = &mut self.isolation.scale[i];
            *scale = scale.max(size);
            let noise = basis.noise(size) + self.isolation.bows[i].error;
            if low > noise || low == high {
                continue;
            }
            if self.changed(i, b[i]) && changes_once(&inner) {
                self.add_change(i, &inner, (0.0, 1.0), &mut limit, times);
                continue;
            }
            let mut coefficients = [0.0; DEGREE_MAX + 1];
            coefficients[..5].copy_from_slice(&inner);
            let sampled = Sampled {
                index: i,
                nodes: &[0.0, 1.0],
                raw: &[a[i], b[i]],
                coefficients,
                degree: 4,
                noise,
            };
            self.add_candidate(&sampled, &mut limit, times)?;
        }
        Ok(())
    }

    fn affine_by_nodes(
        &mut self,
        affine: &[usize],
        ends: [&[f64]; 2],
        times: Times,
    ) -> Result<(), SolveError> {
        let basis = Basis::of(self.functions.degree());
        let mut samples = std::mem::take(&mut self.isolation.samples);
        let result = self
            .sample(basis, &mut samples, times)
            .and_then(|()| self.affine_of(affine, basis, ends, &samples, times));
        self.isolation.samples = samples;
        result
    }

    fn sample(
        &mut self,
        basis: &Basis,
        samples: &mut Vec<Vec<f64>>,
        times: Times,
    ) -> Result<(), SolveError> {
        let inner = &basis.nodes[1..basis.degree];
        while samples.len() < inner.len() {
            samples.push(self.isolation.take());
        }
        for (sample, &s) in samples.iter_mut().zip(inner) {
            self.evaluate(times.at(s), Scope::Affine, sample)?;
        }
        self.nodes_known = true;
        Ok(())
    }

    /// The sample of a node, if `t` is the time of one.
    pub(super) fn sampled_at(&self, t: f64, scope: Scope) -> Option<usize> {
        if !self.nodes_known || scope != Scope::Affine {
            return None;
        }
        let basis = Basis::of(self.functions.degree());
        let inner = &basis.nodes[1..basis.degree];
        inner.iter().position(|s| t == self.start + s * self.width)
    }

    fn affine_of(
        &mut self,
        affine: &[usize],
        basis: &Basis,
        [a, b]: [&[f64]; 2],
        samples: &[Vec<f64>],
        times: Times,
    ) -> Result<(), SolveError> {
        let d = basis.degree;
        let mut limit = 1.0;
        for &i in affine {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            let inner = samples[..d - 1].iter().map(|sample| sample[i]);
            for r in inner.chain([a[i], b[i]]) {
                let level = self.level(i, r);
                low = low.min(level);
                high = high.max(level);
            }
            let scale = &mut self.isolation.scale[i];
            *scale = scale.max(low.abs()).max(high.abs());
            // Coefficients stay within `spread`/2 times the range of the values. A constant has not changed at the start.
            let far = low > 0.0 && low + high > basis.spread * (high - low);
            if far || low == high {
                continue;
            }
            let mut raw = [0.0; DEGREE_MAX + 1];
            raw[0] = a[i];
            raw[d] = b[i];
            for (raw, sample) in raw[1..d].iter_mut().zip(samples) {
                *raw = sample[i];
            }
            let level = raw.map(|r| self.level(i, r));
            let sampled = Sampled {
                index: i,
                nodes: &basis.nodes[..=d],
                raw: &raw[..=d],
                coefficients: basis.coefficients(&level),
                degree: d,
                noise: basis.noise(low.abs().max(high.abs())),
            };
            self.add_candidate(&sampled, &mut limit, times)?;
        }
        Ok(())
    }

    /// Looks for the change of one function before `limit`, which it moves to where that is.
    #[inline(never)]
    fn add_candidate(
        &mut self,
        sampled: &Sampled<'_>,
        limit: &mut f64,
        times: Times,
    ) -> Result<(), SolveError> {
        let mut walk = std::mem::take(&mut self.isolation.walk);
        let found = self.change_of(sampled, &mut walk, *limit, times);
        self.isolation.walk = walk;
        if let Some(piece) = found? {
            let c = &sampled.coefficients[..=sampled.degree];
            self.add_change(sampled.index, c, piece, limit, times);
        }
        Ok(())
    }

    /// A candidate: the function with the coefficients `c` changes once in the piece, if that begins before `limit`.
    #[inline]
    fn add_change(
        &mut self,
        index: usize,
        c: &[f64],
        (mut left, right): (f64, f64),
        limit: &mut f64,
        times: Times,
    ) {
        if left >= *limit {
            return;
        }
        *limit = limit.min(right);
        let (at, slope);
        if left == 0.0 && self.isolation.sides[index].rest > 0.0 {
            // A function that rests at the start changes where it returns to zero, and is seen outside its band on the way.
            (at, slope) = root_of_return(c, right);
            if at > 0.0 && at < right {
                left = 0.5 * at;
            }
        } else {
            (at, slope) = root_between(c, left, right);
        }
        self.isolation.candidates.push(Candidate {
            index,
            left: times.at(left),
            right: times.at(right),
            guess: Some(Guess {
                at: times.at(at),
                slope: slope / (times.b - times.a),
            }),
        });
    }

    /// The first change of one function before `limit`, as a bracket in [0, 1].
    fn change_of(
        &mut self,
        sampled: &Sampled<'_>,
        walk: &mut Walk,
        limit: f64,
        times: Times,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let (i, last) = (sampled.index, sampled.nodes.len() - 1);
        // What the nodes show. A change that is no deeper than a touch is one only if it lasts to the end.
        let lasting = self.changed(i, sampled.raw[last]);
        let seen = |k: &usize| {
            let r = sampled.raw[*k];
            self.changed(i, r) && (lasting || !self.is_touch(i, r))
        };
        let by_nodes = (1..=last)
            .find(seen)
            .map(|k| (sampled.nodes[k - 1], sampled.nodes[k]));
        if !sampled.noise.is_finite() {
            return Ok(by_nodes);
        }
        let n_touches = self.isolation.touches.len();
        walk.begin(sampled.degree, sampled.coefficients, sampled.noise);
        while let Some(met) = walk.next(limit) {
            let found = match met {
                Met::Root { left, right } => match by_nodes {
                    Some((before, after)) if before >= left && after <= right => by_nodes,
                    _ => self.confirmed(i, left, right, times)?,
                },
                Met::Flat { left: 0.0, .. } => None,
                Met::Flat { left, right } => self.touch_or_root(i, left, right, times)?,
            };
            if let Some((left, _)) = found {
                // Halving may have met the root itself, where the polynomial is zero but does not turn back.
                let near = times.at(left - FLAT_MARGIN);
                let touches = &mut self.isolation.touches;
                while touches.len() > n_touches && touches[touches.len() - 1].t >= near {
                    touches.pop();
                }
                return Ok(found);
            }
        }
        Ok(by_nodes)
    }

    /// The function itself at the right end of a piece in which its polynomial has a root.
    fn confirmed(
        &mut self,
        i: usize,
        left: f64,
        right: f64,
        times: Times,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let r = self.at(times.at(right), Scope::Affine)?;
        let changed = self.changed(i, r[i]);
        self.isolation.put(r);
        Ok(changed.then_some((left, right)))
    }

    /// A piece that is zero but for round-off: a touch, or a dip that the function itself shows.
    fn touch_or_root(
        &mut self,
        i: usize,
        left: f64,
        right: f64,
        times: Times,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let middle = 0.5 * (left + right);
        let t = times.at(middle);
        let r = self.at(t, Scope::Affine)?;
        let value = r[i];
        self.isolation.put(r);
        if self.changed(i, value) && !self.is_touch(i, value) {
            return Ok(Some(((left - FLAT_MARGIN).max(0.0), middle)));
        }
        if self.isolation.sides[i].rest == 0.0 && right < 1.0 {
            self.note_touch(t, i, value);
        }
        Ok(None)
    }

    /// Zero but for the round-off of a value of the function's size over the interval.
    pub(super) fn is_touch(&self, i: usize, r: f64) -> bool {
        r.abs() <= TOUCH_ULPS * EPS * self.isolation.scale[i]
    }
}
