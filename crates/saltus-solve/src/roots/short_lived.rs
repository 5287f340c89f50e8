//! Crossings that come in pairs within one step, which signs at the ends do not show.
//!
//! Two ways of the textbook: the rate of the function as a *non-essential* crossing function (9.5.4), and Sturm's sequence of the step's polynomial (P9.2). The
//! first one sees a pair if the rate has different signs at the ends of the step, and misses it if the function turns twice; the second one counts all roots of
//! the polynomial, as far as round-off lets it.

use super::interpolation::value;
use super::location::{Curve, LocationMethod, Values, trace};
use crate::error::SolveError;
use crate::scale::EPS;

/// A remainder of a division below this many units of round-off of its terms is zero.
const REMAINDER_ULPS: f64 = 64.0;
/// Intervals looked at when roots are separated: 53 halvings for each root of a polynomial of degree 8, the highest of an interpolant here, are fewer.
const HALVINGS_MAX: u32 = 1000;

/// Intervals with one crossing each, in the order of time, and what was evaluated to find them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detected {
    pub brackets: Vec<(f64, f64)>,
    /// Evaluations of the function, of its rate, or of Sturm's sequence.
    pub evaluations: u32,
}

/// The crossings that the function and its rate as crossing functions show.
pub fn by_derivative(
    curve: &mut (impl Curve + ?Sized),
    left: f64,
    right: f64,
) -> Result<Detected, SolveError> {
    let mut ends = vec![left];
    let rates = (curve.rate(left)?, curve.rate(right)?);
    let mut evaluations = 4;
    if (rates.0 >= 0.0) != (rates.1 >= 0.0) {
        let mut rate = Rate {
            curve,
            failed: None,
        };
        let extremum = trace(
            LocationMethod::Chandrupatla,
            &mut Values {
                f: |t| rate.at(t),
                left,
                right,
            },
            left,
            right,
        )?;
        if let Some(error) = rate.failed {
            return Err(error);
        }
        if let Some(found) = extremum {
            ends.push(found.found.right);
            evaluations += found.found.evaluations - 1;
        }
    }
    ends.push(right);
    let values: Result<Vec<f64>, SolveError> = ends.iter().map(|t| curve.value(*t)).collect();
    let values = values?;
    let brackets = (1..ends.len())
        .filter(|&k| (values[k - 1] >= 0.0) != (values[k] >= 0.0))
        .map(|k| (ends[k - 1], ends[k]))
        .collect();
    Ok(Detected {
        brackets,
        evaluations,
    })
}

struct Rate<'a, C: ?Sized> {
    curve: &'a mut C,
    failed: Option<SolveError>,
}

impl<C: Curve + ?Sized> Rate<'_, C> {
    fn at(&mut self, t: f64) -> f64 {
        self.curve.rate(t).unwrap_or_else(|error| {
            self.failed = Some(error);
            f64::NAN
        })
    }
}

/// Sturm's sequence (P9.2a) to (P9.2e): the polynomial, its derivative, and the remainders of the divisions with changed signs. Coefficients, the constant one
/// first; each member but the first is scaled to a largest coefficient of 1, which changes no sign.
pub fn sturm_sequence(polynomial: &[f64]) -> Vec<Vec<f64>> {
    let mut sequence = vec![trimmed(polynomial.to_vec(), 0.0)];
    let derivative: Vec<f64> = (1..sequence[0].len())
        .map(|k| k as f64 * sequence[0][k])
        .collect();
    let mut next = scaled(trimmed(derivative, 0.0));
    while !next.is_empty() {
        let before = sequence.last().expect("begins with the polynomial");
        let (rest, size) = remainder(before, &next);
        sequence.push(next);
        let negated = rest.into_iter().map(|c| -c).collect();
        next = scaled(trimmed(negated, REMAINDER_ULPS * EPS * size));
    }
    sequence
}

/// Roots of the polynomial in (a, b], each counted once, by the changes of sign in Sturm's sequence at both ends.
pub fn count_roots(sequence: &[Vec<f64>], a: f64, b: f64) -> u32 {
    sign_changes(sequence, a).saturating_sub(sign_changes(sequence, b))
}

/// The roots of a polynomial in (0, 1], separated by halving with Sturm's sequence, as times between `left` and `right`.
pub fn by_sturm(polynomial: &[f64], left: f64, right: f64) -> Detected {
    let sequence = sturm_sequence(polynomial);
    let mut open = vec![(
        0.0,
        1.0,
        sign_changes(&sequence, 0.0),
        sign_changes(&sequence, 1.0),
    )];
    let mut found = Detected {
        brackets: Vec::new(),
        evaluations: 2,
    };
    for _ in 0..HALVINGS_MAX {
        let Some((a, b, at_a, at_b)) = open.pop() else {
            break;
        };
        let middle = 0.5 * (a + b);
        if at_a.saturating_sub(at_b) == 1 || at_a > at_b && (middle <= a || middle >= b) {
            let time = |phi: f64| left + phi * (right - left);
            found.brackets.push((time(a), time(b)));
        } else if at_a > at_b {
            found.evaluations += 1;
            let at_middle = sign_changes(&sequence, middle);
            open.push((middle, b, at_middle, at_b));
            open.push((a, middle, at_a, at_middle));
        }
    }
    found
}

fn sign_changes(sequence: &[Vec<f64>], x: f64) -> u32 {
    let mut changes = 0;
    let mut last = 0.0f64;
    for polynomial in sequence {
        let now = value(polynomial, x);
        if now != 0.0 {
            changes += u32::from(last != 0.0 && (now > 0.0) != (last > 0.0));
            last = now;
        }
    }
    changes
}

/// The remainder of a division, and the size of the terms that it is the difference of.
fn remainder(dividend: &[f64], divisor: &[f64]) -> (Vec<f64>, f64) {
    let mut rest = dividend.to_vec();
    let mut size = rest.iter().fold(0.0f64, |a, c| a.max(c.abs()));
    let lead = divisor[divisor.len() - 1];
    while rest.len() >= divisor.len() {
        let factor = rest[rest.len() - 1] / lead;
        let shift = rest.len() - divisor.len();
        for (k, d) in divisor.iter().enumerate() {
            rest[shift + k] -= factor * d;
            size = size.max((factor * d).abs());
        }
        rest.pop();
    }
    (rest, size)
}

/// Without leading coefficients that are zero but for round-off.
fn trimmed(mut polynomial: Vec<f64>, zero: f64) -> Vec<f64> {
    while polynomial.last().is_some_and(|c| c.abs() <= zero) {
        polynomial.pop();
    }
    polynomial
}

fn scaled(mut polynomial: Vec<f64>) -> Vec<f64> {
    let size = polynomial.iter().fold(0.0f64, |a, c| a.max(c.abs()));
    for c in &mut polynomial {
        *c /= size;
    }
    polynomial
}
