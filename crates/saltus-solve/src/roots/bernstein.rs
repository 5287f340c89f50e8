//! Polynomials over a step in Bernstein form, and a walk over them that meets their sign changes in order.
//!
//! Comes in: values at the Chebyshev-Lobatto nodes s_k = (1 - cos(kπ/d))/2 of [0, 1], with signs such that a root is met when
//! the polynomial falls below zero. Goes out: its d + 1 Bernstein coefficients, then pieces of [0, 1] in order: one that has
//! exactly one sign change, or one on which it is zero but for round-off.
//!
//! The coefficients bound the polynomial (convex hull), and their sign changes bound the number of roots (variation diminishing
//! property; Farin, Curves and Surfaces for CAGD, 5): no coefficient below zero means no root, one change of sign exactly one.
//! Otherwise de Casteljau's algorithm halves the piece. Nothing here evaluates the model.

use crate::scale::EPS;
use std::sync::OnceLock;

/// Highest degree of an interpolant.
pub(super) const DEGREE_MAX: usize = 8;
/// Halvings of a step; below, a piece is at the resolution of time.
const DEPTH_MAX: u32 = 48;
/// Pieces looked at in one walk; a polynomial of degree 8 with eight separate roots needs a few hundred. What is left then is within
/// round-off of zero over a long stretch.
const PIECES_MAX: u32 = 2048;
/// Round-off of a coefficient in units of ε times the sum of the magnitudes it is made of.
const COEFFICIENT_NOISE: f64 = 4.0;

/// The nodes of one degree and the matrix from values at them to Bernstein coefficients.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub(super) degree: usize,
    pub(super) nodes: [f64; DEGREE_MAX + 1],
    /// Row k: coefficient k from the values.
    matrix: [[f64; DEGREE_MAX + 1]; DEGREE_MAX + 1],
    /// Largest sum of magnitudes in a row: coefficients are within `spread`/2 times the range of the values of their middle.
    pub(super) spread: f64,
}

impl Basis {
    /// The basis of a degree, made once.
    #[inline]
    pub(super) fn of(degree: usize) -> &'static Basis {
        static ALL: [OnceLock<Basis>; DEGREE_MAX + 1] = [const { OnceLock::new() }; DEGREE_MAX + 1];
        ALL[degree].get_or_init(|| Basis::new(degree))
    }

    fn new(degree: usize) -> Basis {
        assert!(
            (1..=DEGREE_MAX).contains(&degree),
            "an interpolant of degree {degree}"
        );
        let n = degree + 1;
        let mut nodes = [0.0; DEGREE_MAX + 1];
        for (k, node) in nodes[..n].iter_mut().enumerate() {
            *node = 0.5 * (1.0 - (std::f64::consts::PI * k as f64 / degree as f64).cos());
        }
        nodes[0] = 0.0;
        nodes[degree] = 1.0;
        // Collocation matrix of the Bernstein polynomials, inverted by Gauss-Jordan with pivoting.
        let mut a = [[0.0; 2 * (DEGREE_MAX + 1)]; DEGREE_MAX + 1];
        for (k, row) in a[..n].iter_mut().enumerate() {
            let mut binomial = 1.0;
            for (j, entry) in row[..n].iter_mut().enumerate() {
                *entry =
                    binomial * nodes[k].powi(j as i32) * (1.0 - nodes[k]).powi((degree - j) as i32);
                binomial *= (degree - j) as f64 / (j + 1) as f64;
            }
            row[n + k] = 1.0;
        }
        for column in 0..n {
            let pivot = (column..n)
                .max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs()))
                .expect("rows are left");
            a.swap(column, pivot);
            let scale = a[column][column];
            a[column].iter_mut().for_each(|entry| *entry /= scale);
            let row = a[column];
            for (i, other) in a[..n].iter_mut().enumerate() {
                let factor = other[column];
                if i != column && factor != 0.0 {
                    for (other, entry) in other.iter_mut().zip(&row) {
                        *other -= factor * entry;
                    }
                }
            }
        }
        let mut matrix = [[0.0; DEGREE_MAX + 1]; DEGREE_MAX + 1];
        let mut spread: f64 = 1.0;
        for k in 0..n {
            matrix[k][..n].copy_from_slice(&a[k][n..2 * n]);
            spread = spread.max(matrix[k].iter().map(|m| m.abs()).sum());
        }
        Basis {
            degree,
            nodes,
            matrix,
            spread,
        }
    }

    /// Bernstein coefficients of the polynomial through these values at the nodes; the first and the last are the values.
    #[inline]
    pub(super) fn coefficients(&self, values: &[f64; DEGREE_MAX + 1]) -> [f64; DEGREE_MAX + 1] {
        let mut coefficients = *values;
        for (c, row) in coefficients[1..self.degree]
            .iter_mut()
            .zip(&self.matrix[1..])
        {
            *c = row[..=self.degree]
                .iter()
                .zip(values)
                .map(|(m, v)| m * v)
                .sum();
        }
        coefficients
    }

    /// Round-off of coefficients made of values up to `size`.
    #[inline]
    pub(super) fn noise(&self, size: f64) -> f64 {
        COEFFICIENT_NOISE * self.spread * EPS * size
    }
}

/// Newton steps on a polynomial: four from the secant of a piece with one root, some more where it is nearly double.
const NEWTON_MAX: u32 = 12;
/// After a Newton step this small the next one is below round-off.
const NEWTON_LAST: f64 = 1e-8;

/// The root of a polynomial with these coefficients that changes sign once in [left, right], but for round-off. Nothing here needs the
/// function that the polynomial stands for; it is a first guess for the location on it. Given with the slope there.
#[inline]
pub(super) fn root_between(c: &[f64], left: f64, right: f64) -> (f64, f64) {
    // The degree of DOPRI5's interpolant and of the polynomials for general functions is known to the loops, and that of their returns.
    match *c {
        [c0, c1, c2, c3] => newton(&[c0, c1, c2, c3], left, right),
        [c0, c1, c2, c3, c4] => newton(&[c0, c1, c2, c3, c4], left, right),
        _ => {
            let mut padded = [0.0; DEGREE_MAX + 1];
            raise(c, &mut padded);
            newton(&padded, left, right)
        }
    }
}

/// Where a polynomial returns to the value that it has at zero, before `right`, with its slope there. p(s) = c_0 + s q(s), where q has one degree less and
/// the coefficients q_k = d (c_(k+1) - c_0)/(k + 1), because s B_k of degree d - 1 is (k + 1)/d B_(k+1) of degree d.
#[inline]
pub(super) fn root_of_return(c: &[f64], right: f64) -> (f64, f64) {
    let d = c.len() - 1;
    let mut q = [0.0; DEGREE_MAX + 1];
    for (k, (q, c_next)) in q.iter_mut().zip(&c[1..]).enumerate() {
        *q = d as f64 * (c_next - c[0]) / (k + 1) as f64;
    }
    let (s, slope) = root_between(&q[..d], 0.0, right);
    (s, s * slope)
}

/// The same polynomial with as many coefficients as `out` has.
fn raise(c: &[f64], out: &mut [f64; DEGREE_MAX + 1]) {
    out[..c.len()].copy_from_slice(c);
    for degree in c.len()..=DEGREE_MAX {
        for k in (0..=degree).rev() {
            let share = k as f64 / degree as f64;
            let before = if k == 0 { 0.0 } else { out[k - 1] };
            let here = if k == degree { 0.0 } else { out[k] };
            out[k] = share * before + (1.0 - share) * here;
        }
    }
}

fn newton<const N: usize>(c: &[f64; N], mut left: f64, mut right: f64) -> (f64, f64) {
    let at_left = if left == 0.0 {
        c[0]
    } else {
        value_and_slope(c, left).0
    };
    let at_right = if right == 1.0 {
        c[N - 1]
    } else {
        value_and_slope(c, right).0
    };
    let mut s = left + at_left / (at_left - at_right) * (right - left);
    let mut last_slope = f64::NAN;
    for _ in 0..NEWTON_MAX {
        if !(s > left && s < right) {
            s = 0.5 * (left + right);
        }
        let (value, slope) = value_and_slope(c, s);
        if value < 0.0 {
            right = s;
        } else {
            left = s;
        }
        let step = value / slope;
        s -= step;
        last_slope = slope;
        if step.abs() <= NEWTON_LAST && s > left && s < right {
            break;
        }
    }
    (s, last_slope)
}

/// Value and derivative at s: the last two columns of de Casteljau's triangle.
#[inline(always)]
fn value_and_slope<const N: usize>(c: &[f64; N], s: f64) -> (f64, f64) {
    let mut b = *c;
    for k in (2..N).rev() {
        for j in 0..k {
            b[j] += s * (b[j + 1] - b[j]);
        }
    }
    let slope = b[1] - b[0];
    (b[0] + s * slope, (N - 1) as f64 * slope)
}

/// Whether coefficients that begin on the near side, at the start of the step or where the walk has gone on, end below zero after one change of
/// sign.
#[inline]
pub(super) fn changes_once(c: &[f64]) -> bool {
    let mut changes = 0;
    let mut below = false;
    for c in &c[1..] {
        changes += u32::from((*c < 0.0) != below);
        below = *c < 0.0;
    }
    below && changes == 1
}

/// What a walk meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Met {
    /// Not below zero at the left end, below at the right one, one change of sign between.
    Root { left: f64, right: f64 },
    /// Zero but for round-off.
    Flat { left: f64, right: f64 },
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    c: [f64; DEGREE_MAX + 1],
    left: f64,
    right: f64,
    depth: u32,
}

/// A walk along one polynomial; the work space is kept between walks.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    stack: Vec<Piece>,
    degree: usize,
    noise: f64,
    pieces: u32,
}

impl Walk {
    #[inline]
    pub(super) fn begin(&mut self, degree: usize, c: [f64; DEGREE_MAX + 1], noise: f64) {
        self.stack.clear();
        self.stack.push(Piece {
            c,
            left: 0.0,
            right: 1.0,
            depth: 0,
        });
        self.degree = degree;
        self.noise = noise;
        self.pieces = 0;
    }

    /// The next thing met before `limit`. The values at 0 and 1 count as they are.
    #[inline]
    pub(super) fn next(&mut self, limit: f64) -> Option<Met> {
        let d = self.degree;
        while let Some(piece) = self.stack.pop() {
            self.pieces += 1;
            if piece.left >= limit || self.pieces > PIECES_MAX {
                self.stack.clear();
                return None;
            }
            let c = &piece.c;
            let inner_clear = c[1..d].iter().all(|c| *c > self.noise);
            let left_clear = c[0] > self.noise || piece.left == 0.0 && c[0] >= 0.0;
            let right_clear = c[d] > self.noise || piece.right == 1.0 && c[d] >= 0.0;
            if left_clear && inner_clear && right_clear {
                continue;
            }
            let ends_below = c[d] < -self.noise || piece.right == 1.0 && c[d] < 0.0;
            if ends_below && changes_once(&c[..=d]) {
                return Some(Met::Root {
                    left: piece.left,
                    right: piece.right,
                });
            }
            if piece.depth >= DEPTH_MAX || c[..=d].iter().all(|c| c.abs() <= self.noise) {
                return Some(Met::Flat {
                    left: piece.left,
                    right: piece.right,
                });
            }
            let (left, right) = halve(&piece.c, d);
            let middle = 0.5 * (piece.left + piece.right);
            // Below zero in the middle: what comes after is of no interest.
            if left[d] >= -self.noise {
                self.stack.push(Piece {
                    c: right,
                    left: middle,
                    right: piece.right,
                    depth: piece.depth + 1,
                });
            }
            self.stack.push(Piece {
                c: left,
                left: piece.left,
                right: middle,
                depth: piece.depth + 1,
            });
        }
        None
    }
}

/// De Casteljau's algorithm at 1/2: the coefficients on both halves.
fn halve(c: &[f64; DEGREE_MAX + 1], d: usize) -> ([f64; DEGREE_MAX + 1], [f64; DEGREE_MAX + 1]) {
    let mut left = [0.0; DEGREE_MAX + 1];
    let mut right = *c;
    for (k, left) in left[..=d].iter_mut().enumerate() {
        *left = right[0];
        for j in 0..d - k {
            right[j] = 0.5 * (right[j] + right[j + 1]);
        }
    }
    // The triangle's last diagonal, from the middle to the right end, has been built in place.
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_reproduce_monomials() {
        // s^m has the coefficients C(k, m)/C(d, m).
        let choose = |n: usize, m: usize| -> f64 {
            (0..m)
                .map(|i| (n as f64 - i as f64) / (i as f64 + 1.0))
                .product()
        };
        for d in 1..=DEGREE_MAX {
            let basis = Basis::new(d);
            for m in 0..=d {
                let mut values = [0.0; DEGREE_MAX + 1];
                for (value, node) in values[..=d].iter_mut().zip(&basis.nodes) {
                    *value = node.powi(m as i32);
                }
                let c = basis.coefficients(&values);
                for (k, c) in c[..=d].iter().enumerate() {
                    let expected = if k < m {
                        0.0
                    } else {
                        choose(k, m) / choose(d, m)
                    };
                    assert!(
                        (c - expected).abs() <= basis.noise(1.0),
                        "degree {d}, s^{m}, coefficient {k}: {c} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn roots_of_polynomials_of_all_degrees() {
        for d in 1..=DEGREE_MAX {
            for root in [0.37, 0.5, 0.8] {
                // root^d - s^d: level with the sign of a change.
                let basis = Basis::new(d);
                let mut values = [0.0; DEGREE_MAX + 1];
                for (value, node) in values[..=d].iter_mut().zip(&basis.nodes) {
                    *value = f64::powi(root, d as i32) - node.powi(d as i32);
                }
                let c = basis.coefficients(&values);
                let (found, _) = root_between(&c[..=d], 0.0, 1.0);
                // Conditioning of a root: round-off of the values over the slope there.
                let slope = d as f64 * f64::powi(root, d as i32 - 1);
                let allowed = basis.noise(1.0) / slope;
                assert!(
                    (found - root).abs() <= allowed,
                    "degree {d}: {found} {root}"
                );
            }
        }
    }

    #[test]
    fn halves_join_in_the_middle_and_keep_the_ends() {
        let c = [1.0, -2.0, 3.0, 0.5, -1.0, 0.0, 0.0, 0.0, 0.0];
        let (left, right) = halve(&c, 4);
        assert_eq!((left[0], right[4]), (1.0, -1.0));
        assert_eq!(left[4], right[0]);
        // Value at 1/2: Σ C(4,k) c_k / 16.
        assert_eq!(left[4], (1.0 - 8.0 + 18.0 + 2.0 - 1.0) / 16.0);
    }
}
