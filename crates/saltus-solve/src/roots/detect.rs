//! How crossings within a step are noticed and told apart: the textbook's ways (9.5.1, 9.5.4, P9.2), for those who want to see what they find and what they miss.
//!
//! Comes in: values of all functions at both ends of a step. Goes out: for each function that changes the first interval in which it does. Without a choice nothing of this is
//! used: all roots of the interpolant are found ([`super`]).

use super::interpolation::value;
use super::isolate::{IsolationRule, isolate};
use super::short_lived::by_sturm;
use super::{Candidate, CrossingFunctions, Located, Scope, Search, larger};
use crate::error::SolveError;

/// Highest degree of a polynomial through equally spaced values: beyond it round-off of the coefficients is felt.
const DEGREE_MAX: usize = 8;
/// Halvings of [0, 1] down to neighbouring floats.
const HALVINGS: u32 = 60;

/// What shows that a function has a crossing within a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Detection {
    /// All roots of the interpolant.
    #[default]
    All,
    /// Different signs at the ends of the step.
    SignChange,
    /// The same, and the rate of the function as a non-essential crossing function (9.5.4): it halves the step where it changes its sign.
    Derivative,
    /// Sturm's sequence of the polynomial through values within the step (P9.2).
    Sturm,
}

impl Detection {
    pub const ALL: [Detection; 4] = [
        Detection::All,
        Detection::SignChange,
        Detection::Derivative,
        Detection::Sturm,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Detection::All => "all",
            Detection::SignChange => "sign-change",
            Detection::Derivative => "derivative",
            Detection::Sturm => "sturm",
        }
    }

    pub fn from_name(name: &str) -> Option<Detection> {
        (Detection::ALL.into_iter()).find(|detection| detection.as_str() == name)
    }
}

/// How crossings are searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct EventSearch {
    pub detection: Detection,
    /// Of several functions that change, how the first one is told apart; `None`: they are located together.
    pub isolation: Option<IsolationRule>,
}

impl<F: CrossingFunctions + ?Sized> Search<'_, F> {
    /// The earliest change that the chosen detection shows.
    pub(super) fn by_textbook(
        &mut self,
        a: &[f64],
        b: &mut [f64],
        t_a: f64,
        t_b: f64,
    ) -> Result<Option<Located>, SolveError> {
        let scope = self.scope_all();
        self.evaluate(t_b, scope, b)?;
        for (scale, b) in self.isolation.scale.iter_mut().zip(&*b) {
            *scale = larger(*scale, b.abs());
        }
        let samples = match self.isolation.search.detection {
            Detection::All | Detection::SignChange => Vec::new(),
            Detection::Derivative | Detection::Sturm => self.samples(a, b, t_a, t_b, scope)?,
        };
        for (index, &end) in b.iter().enumerate() {
            let bracket = match self.isolation.search.detection {
                Detection::All | Detection::SignChange => {
                    self.changed(index, end).then_some((t_a, t_b))
                }
                Detection::Derivative => {
                    let polynomial = polynomial(&samples, index);
                    self.around_extremum(index, &polynomial, end, (t_a, t_b), scope)?
                }
                Detection::Sturm => {
                    let polynomial = polynomial(&samples, index);
                    let found = by_sturm(&polynomial, t_a, t_b).brackets.into_iter();
                    self.first_changed(index, found, scope)?
                }
            };
            if let Some((left, right)) = bracket {
                self.isolation.candidates.push(Candidate {
                    index,
                    left,
                    right,
                    guess: None,
                });
            }
        }
        if self.isolation.candidates.is_empty() {
            return Ok(None);
        }
        self.tell_apart(t_a, scope)?;
        let bracket = self.locate((t_a, a), (t_b, b), scope)?;
        self.gather(bracket, scope, t_b).map(Some)
    }

    /// Narrows the interval of several candidates to one in which as few as possible change.
    pub(super) fn tell_apart(&mut self, t_a: f64, scope: Scope) -> Result<(), SolveError> {
        let Some(rule) = self.isolation.search.isolation else {
            return Ok(());
        };
        let candidates = std::mem::take(&mut self.isolation.candidates);
        let right = (candidates.iter()).fold(f64::INFINITY, |t, c| t.min(c.right));
        let mut values = self.isolation.take();
        let look = |t: f64, out: &mut [f64]| {
            self.evaluate(t, scope, &mut values)?;
            for (out, candidate) in out.iter_mut().zip(&candidates) {
                let side = self.isolation.sides[candidate.index];
                let level = side.level(values[candidate.index]);
                // Negative exactly where it has changed.
                *out = match side.changed(values[candidate.index]) {
                    true => -larger(level.abs(), f64::MIN_POSITIVE),
                    false => larger(level, 0.0),
                };
            }
            Ok(())
        };
        let found = isolate(rule, look, candidates.len(), t_a, right);
        self.isolation.put(values);
        self.isolation.candidates = candidates;
        if let Some(found) = found? {
            let candidates = &mut self.isolation.candidates;
            let mut k = 0;
            candidates.retain(|_| {
                k += 1;
                found.functions.contains(&(k - 1))
            });
            for candidate in candidates {
                (candidate.left, candidate.right) = (found.left, found.right);
                candidate.guess = None;
            }
        }
        Ok(())
    }

    /// Values of all functions at equally spaced times of the step, the ends included.
    fn samples(
        &mut self,
        a: &[f64],
        b: &[f64],
        t_a: f64,
        t_b: f64,
        scope: Scope,
    ) -> Result<Vec<Vec<f64>>, SolveError> {
        let degree = self.functions.degree().clamp(2, DEGREE_MAX);
        let mut samples = vec![a.to_vec()];
        for k in 1..degree {
            let t = t_a + (t_b - t_a) * (k as f64 / degree as f64);
            let mut values = vec![0.0; a.len()];
            self.evaluate(t, scope, &mut values)?;
            samples.push(values);
        }
        samples.push(b.to_vec());
        Ok(samples)
    }

    /// The part of the step before or after the function's extremum in which it changes.
    fn around_extremum(
        &mut self,
        index: usize,
        polynomial: &[f64],
        end: f64,
        (t_a, t_b): (f64, f64),
        scope: Scope,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let slope: Vec<f64> = (1..polynomial.len())
            .map(|k| k as f64 * polynomial[k])
            .collect();
        let rising = |phi: f64| value(&slope, phi) >= 0.0;
        if rising(0.0) != rising(1.0) {
            let (mut left, mut right) = (0.0, 1.0);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (left + right);
                match rising(middle) == rising(0.0) {
                    true => left = middle,
                    false => right = middle,
                }
            }
            let t = t_a + right * (t_b - t_a);
            let parts = [(t_a, t), (t, t_b)];
            return self.first_changed(index, parts.into_iter(), scope);
        }
        Ok(self.changed(index, end).then_some((t_a, t_b)))
    }

    /// The first of some intervals at whose end the function has changed.
    fn first_changed(
        &mut self,
        index: usize,
        intervals: impl Iterator<Item = (f64, f64)>,
        scope: Scope,
    ) -> Result<Option<(f64, f64)>, SolveError> {
        let mut values = self.isolation.take();
        let mut found = None;
        for (left, right) in intervals {
            self.evaluate(right, scope, &mut values)?;
            if self.changed(index, values[index]) {
                found = Some((left, right));
                break;
            }
        }
        self.isolation.put(values);
        Ok(found)
    }
}

/// The polynomial in φ through values at φ = k/d, by Newton's divided differences; coefficients, the constant one first.
fn polynomial(samples: &[Vec<f64>], index: usize) -> Vec<f64> {
    let degree = samples.len() - 1;
    let mut differences: Vec<f64> = samples.iter().map(|values| values[index]).collect();
    for order in 1..=degree {
        for k in (order..=degree).rev() {
            let width = order as f64 / degree as f64;
            differences[k] = (differences[k] - differences[k - 1]) / width;
        }
    }
    let mut coefficients = vec![0.0; degree + 1];
    for k in (0..=degree).rev() {
        // p := p·(φ - k/d) + c_k
        let node = k as f64 / degree as f64;
        for j in (0..=degree).rev() {
            let below = if j > 0 { coefficients[j - 1] } else { 0.0 };
            coefficients[j] = below - node * coefficients[j];
        }
        coefficients[0] += differences[k];
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_goes_through_its_values() {
        // 2 - 3 φ + φ³
        let at = |phi: f64| 2.0 - 3.0 * phi + phi.powi(3);
        let samples: Vec<Vec<f64>> = (0..=4).map(|k| vec![at(f64::from(k) / 4.0)]).collect();
        let found = polynomial(&samples, 0);
        // Differences of values of size 2, divided four times by widths down to 1/4: 2·4⁴/4! ε at most, with room.
        for (found, wanted) in found.iter().zip([2.0, -3.0, 0.0, 1.0, 0.0]) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
    }
}
