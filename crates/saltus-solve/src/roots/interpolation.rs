//! Next points of time from values and rates at both ends of a step, and from the step's polynomial: Cellier and Kofman, Continuous System Simulation,
//! section 9.5, with t_k and t_{k+1} the ends, f the values and h = df/dt the rates.
//!
//! Each function is one formula of the text. None of them promises a point inside of the step; the caller looks after that.

use super::location::{LocationMethod, locate};
use crate::linear::DenseLu;

/// Degree of the polynomial that stands for a function of which only values are known.
pub(super) const FITTED: usize = 4;
/// Iterations on a polynomial.
const ITERATIONS_MAX: usize = 60;
/// A difference quotient is taken over this part of the interval: the cube root of round-off balances its two errors.
const DIFFERENCE_SHARE: f64 = 6e-6;

/// Two ends of a step.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub t: [f64; 2],
    pub f: [f64; 2],
    pub rate: [f64; 2],
}

/// The coefficients of the cubic p with p(x_k) = y_k, p'(x_k) = s_k at two points, highest power first: the system (9.12) and (9.17).
fn cubic_coefficients(x: [f64; 2], y: [f64; 2], s: [f64; 2]) -> Option<[f64; 4]> {
    let row = |x: f64| [x * x * x, x * x, x, 1.0];
    let slope = |x: f64| [3.0 * x * x, 2.0 * x, 1.0, 0.0];
    let rows = [row(x[0]), row(x[1]), slope(x[0]), slope(x[1])];
    let matrix: Vec<f64> = (0..4).flat_map(|j| rows.map(|row| row[j])).collect();
    let mut lu = DenseLu::new(4);
    let mut solution = [y[0], y[1], s[0], s[1]];
    lu.factor(&matrix).then(|| {
        lu.solve(&mut solution);
        solution
    })
}

/// (9.9) to (9.12): the root of the cubic in t, between the ends.
pub fn cubic(ends: &Ends) -> f64 {
    let Some([a, b, c, d]) = cubic_coefficients(ends.t, ends.f, ends.rate) else {
        return f64::NAN;
    };
    let p = |t: f64| ((a * t + b) * t + c) * t + d;
    root_between(p, ends.t[0], ends.t[1])
}

/// The polynomials (9.22), weighted: the cubic in φ from 0 to 1 with these values and slopes at its ends.
fn hermite(y: [f64; 2], s: [f64; 2], phi: f64) -> f64 {
    let p1 = (2.0 * phi - 3.0) * phi * phi + 1.0;
    let p2 = (3.0 - 2.0 * phi) * phi * phi;
    let p3 = ((phi - 2.0) * phi + 1.0) * phi;
    let p4 = (phi - 1.0) * phi * phi;
    y[0] * p1 + y[1] * p2 + s[0] * p3 + s[1] * p4
}

/// The same root from the spanning polynomials (H9.4), in φ = (t - t_k)/(t_{k+1} - t_k).
pub fn cubic_hermite(ends: &Ends) -> f64 {
    let width = ends.t[1] - ends.t[0];
    let slopes = ends.rate.map(|rate| rate * width);
    let phi = root_between(|phi| hermite(ends.f, slopes, phi), 0.0, 1.0);
    ends.t[0] + phi * width
}

/// (9.13) to (9.17): the cubic t(f), whose value at f = 0 is its last coefficient.
pub fn inverse_cubic(ends: &Ends) -> f64 {
    cubic_coefficients(ends.f, ends.t, ends.rate.map(f64::recip)).map_or(f64::NAN, |c| c[3])
}

/// (9.18) to (9.25): the same by the polynomials in φ = (f - f_k)/(f_{k+1} - f_k), at φ where f = 0.
pub fn inverse_hermite(ends: &Ends) -> f64 {
    let rise = ends.f[1] - ends.f[0];
    let slopes = ends.rate.map(|rate| rise / rate);
    hermite(ends.t, slopes, -ends.f[0] / rise)
}

/// (9.26) to (9.29): Newton's iteration for the step ĥ from t_{k+1} on the Taylor polynomial there, from half of the step back. Comes in: the
/// polynomial over the step in φ. Goes out: t_{k+1} + ĥ of every iterate.
pub fn nordsieck(polynomial: &[f64], (left, right): (f64, f64)) -> Vec<f64> {
    let width = right - left;
    // Σ c_k φ^k = Σ b_k (φ - 1)^k, by division through φ - 1 again and again.
    let mut taylor = polynomial.to_vec();
    for k in 0..taylor.len() {
        for j in (k..taylor.len() - 1).rev() {
            taylor[j] += taylor[j + 1];
        }
    }
    newton_on(&taylor, -0.5, (-1.0, 0.0))
        .into_iter()
        .map(|step| right + step * width)
        .collect()
}

/// (P9.1): the root σ of the interpolation polynomial, by Newton's iteration from where the line between the ends is zero, and by a bracketing method if
/// that leaves the step.
pub fn dense(polynomial: &[f64], (left, right): (f64, f64)) -> Vec<f64> {
    let width = right - left;
    let (first, last) = (value(polynomial, 0.0), value(polynomial, 1.0));
    let mut iterates = newton_on(polynomial, first / (first - last), (0.0, 1.0));
    if iterates.last().is_some_and(|sigma| sigma.is_nan()) {
        iterates.pop();
        iterates.push(root_between(|sigma| value(polynomial, sigma), 0.0, 1.0));
    }
    iterates
        .into_iter()
        .map(|sigma| left + sigma * width)
        .collect()
}

/// The iterates of Newton's method on a polynomial until they stand still; the last one is not a number if one leaves the interval.
fn newton_on(polynomial: &[f64], start: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let derivative: Vec<f64> = (1..polynomial.len())
        .map(|k| k as f64 * polynomial[k])
        .collect();
    let mut x = start;
    let mut iterates = vec![x];
    for _ in 0..ITERATIONS_MAX {
        let next = x - value(polynomial, x) / value(&derivative, x);
        if !(next >= low && next <= high) {
            iterates.push(f64::NAN);
            break;
        }
        iterates.push(next);
        if (next - x).abs() <= f64::EPSILON {
            break;
        }
        x = next;
    }
    iterates
}

/// Σ c_k x^k
pub(super) fn value(polynomial: &[f64], x: f64) -> f64 {
    polynomial.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

fn root_between(p: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    locate(LocationMethod::Chandrupatla, p, low, high).map_or(f64::NAN, |found| found.right)
}

/// Two times around `t`, inside of the interval, for a difference quotient.
pub(super) fn difference_points(t: f64, left: f64, right: f64) -> (f64, f64) {
    let distance = DIFFERENCE_SHARE * (right - left);
    ((t - distance).max(left), (t + distance).min(right))
}

/// Node k of the points through which a polynomial of degree `n` is laid, from 0 to 1.
pub(super) fn node(k: usize, n: usize) -> f64 {
    0.5 - 0.5 * (std::f64::consts::PI * k as f64 / n as f64).cos()
}

/// Coefficients of the polynomial with these values at the nodes, by divided differences.
pub(super) fn polynomial_through(values: &[f64]) -> Vec<f64> {
    let n = values.len() - 1;
    let mut differences = values.to_vec();
    for order in 1..=n {
        for k in (order..=n).rev() {
            let distance = node(k, n) - node(k - order, n);
            differences[k] = (differences[k] - differences[k - 1]) / distance;
        }
    }
    let mut coefficients = vec![0.0; n + 1];
    for k in (0..=n).rev() {
        // c(x) := c(x) (x - x_k) + d_k
        for j in (1..=n).rev() {
            coefficients[j] = coefficients[j - 1] - node(k, n) * coefficients[j];
        }
        coefficients[0] = differences[k] - node(k, n) * coefficients[0];
    }
    coefficients
}
