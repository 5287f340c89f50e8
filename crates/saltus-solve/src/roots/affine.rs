//! First changes of functions that are affine in states and time: polynomials of the interpolant's degree over the step.
//!
//! Their values at the nodes determine them. Where round-off takes the polynomial and the function apart, the function decides: the right end of a
//! bracket is a time at which it was seen to have changed.

use super::bernstein::{Basis, DEGREE_MAX, Met, Walk, root_between};
use super::location::Guess;
use super::{Candidate, CrossingFunctions, Scope, Search};
use crate::error::SolveError;
use crate::scale::{EPS, TOUCH_ULPS};

/// A polynomial that touches zero is zero but for round-off over about the root of ε of the step.
const FLAT_MARGIN: f64 = 1e-6;

/// The values of one function at the nodes.
struct Sampled {
    index: usize,
    /// As the model gives them.
    raw: [f64; DEGREE_MAX + 1],
    /// Of their polynomial, with the sign that is positive as long as nothing changes.
    coefficients: [f64; DEGREE_MAX + 1],
    /// Largest magnitude.
    size: f64,
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
    /// Adds the affine functions that may be the first to change in (t_a, t_b] to the candidates.
    pub(super) fn affine(
        &mut self,
        a: &[f64],
        b: &[f64],
        t_a: f64,
        t_b: f64,
    ) -> Result<(), SolveError> {
        let basis = Basis::of(self.functions.degree());
        let affine = std::mem::take(&mut self.isolation.affine);
        let mut samples = std::mem::take(&mut self.isolation.samples);
        let mut walk = std::mem::take(&mut self.isolation.walk);
        let times = Times { a: t_a, b: t_b };
        let result = self
            .sample(basis, &mut samples, times)
            .and_then(|()| self.affine_of(&affine, basis, &mut walk, [a, b], &samples, times));
        self.isolation.walk = walk;
        self.isolation.samples = samples;
        self.isolation.affine = affine;
        result
    }

    /// No affine function can come to zero between its values at the ends: it is at most 2δ below the smaller of them, where δ bounds its
    /// distance from a straight line over the step, of which the interval may be a part.
    #[inline]
    pub(super) fn straight_enough(&mut self, a: &[f64], b: &[f64]) -> Result<bool, SolveError> {
        let mut bends = std::mem::take(&mut self.isolation.bends);
        let known = self.functions.affine_bends(&mut bends);
        let clear = matches!(known, Ok(true))
            && self.isolation.affine.iter().all(|&i| {
                let low = self.level(i, a[i]).min(self.level(i, b[i]));
                low > 2.0 * bends[i] + TOUCH_ULPS * EPS * a[i].abs().max(b[i].abs())
            });
        if clear {
            for &i in &self.isolation.affine {
                self.isolation.scale[i] = a[i].abs().max(b[i].abs()) + bends[i];
            }
        }
        self.isolation.bends = bends;
        known.map(|_| clear)
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
        walk: &mut Walk,
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
                raw,
                coefficients: basis.coefficients(&level),
                size: low.abs().max(high.abs()),
            };
            let found = self.change_of(&sampled, basis, walk, limit, times)?;
            if let Some((left, right)) = found
                && left < limit
            {
                limit = limit.min(right);
                let (at, slope) = root_between(&sampled.coefficients[..=d], left, right);
                self.isolation.candidates.push(Candidate {
                    index: i,
                    left: times.at(left),
                    right: times.at(right),
                    guess: Some(Guess {
                        at: times.at(at),
                        slope: slope / (times.b - times.a),
                    }),
                });
            }
        }
        Ok(())
    }

    /// The first change of one function before `limit`, as a bracket in [0, 1].
    fn change_of(
        &mut self,
        sampled: &Sampled,
        basis: &Basis,
        walk: &mut Walk,
        limit: f64,
        times: Times,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let (i, d) = (sampled.index, basis.degree);
        // What the nodes show. A change that is no deeper than a touch is one only if it lasts to the end.
        let lasting = self.changed(i, sampled.raw[d]);
        let seen = |k: &usize| {
            let r = sampled.raw[*k];
            self.changed(i, r) && (lasting || !self.is_touch(i, r))
        };
        let by_nodes = (1..=d)
            .find(seen)
            .map(|k| (basis.nodes[k - 1], basis.nodes[k]));
        if !sampled.size.is_finite() {
            return Ok(by_nodes);
        }
        let n_touches = self.isolation.touches.len();
        walk.begin(d, sampled.coefficients, basis.noise(sampled.size));
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
        if self.isolation.rest[i] == 0.0 && right < 1.0 {
            self.note_touch(t, i, value);
        }
        Ok(None)
    }

    /// Zero but for the round-off of a value of the function's size over the interval.
    pub(super) fn is_touch(&self, i: usize, r: f64) -> bool {
        r.abs() <= TOUCH_ULPS * EPS * self.isolation.scale[i]
    }
}
