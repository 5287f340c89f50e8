//! The Sylvester equation A·X ± X·B = scale·C with quasi-triangular A and B (Bartels and Stewart 1972; Golub and Van Loan, Matrix Computations, 7.6.3).
//!
//! The blocks of X follow one after the other from the last rows and the first columns: each is a system of at most four equations, solved with
//! complete pivoting. If A and ∓B have an eigenvalue in common, pivots are replaced by the smallest that counts, and that is said.

use super::dense::{max_abs, zeros};
use super::schur::blocks;
use super::vectors::flipped;
use crate::external::tables::Matrix;

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Solution {
    pub(super) x: Matrix,
    /// At most 1; below where X would overflow.
    pub(super) scale: f64,
    /// A and ∓B have common or very close eigenvalues.
    pub(super) perturbed: bool,
}

/// Most that an element of a solution may be relative to the largest number: sums of products stay representable.
const GROWTH_MAX: f64 = 1e-60 * f64::MAX;

/// Solves op(A)·X + sign·X·op(B) = scale·C, op being the transposition where it is asked for.
pub(super) fn solve(
    a: &Matrix,
    transpose_a: bool,
    b: &Matrix,
    transpose_b: bool,
    sign: f64,
    c: &Matrix,
) -> Solution {
    // Transposed in the other diagonal a matrix is upper triangular again, and the unknowns come in the opposite order.
    let a_used = if transpose_a { flipped(a) } else { a.clone() };
    let b_used = if transpose_b { flipped(b) } else { b.clone() };
    let turned = |m: &Matrix| {
        let (rows, columns) = (m.rows, m.columns);
        let mut out = zeros(rows, columns);
        for i in 0..rows {
            for j in 0..columns {
                let from_i = if transpose_a { rows - 1 - i } else { i };
                let from_j = if transpose_b { columns - 1 - j } else { j };
                out[(i, j)] = m.at(from_i, from_j);
            }
        }
        out
    };
    let mut solution = upper(&a_used, &b_used, sign, turned(c));
    solution.x = turned(&solution.x);
    solution
}

fn upper(a: &Matrix, b: &Matrix, sign: f64, c: Matrix) -> Solution {
    let least = f64::EPSILON * max_abs(a).max(max_abs(b));
    let least = least.max(f64::MIN_POSITIVE / f64::EPSILON);
    // What is not solved yet holds the right-hand side.
    let mut out = Solution {
        x: c,
        scale: 1.0,
        perturbed: false,
    };
    for columns in blocks(b) {
        for rows in blocks(a).into_iter().rev() {
            let (p, q) = (rows.len(), columns.len());
            let mut system = zeros(p * q, p * q);
            let mut rest = vec![0.0; p * q];
            for (k, i) in rows.clone().enumerate() {
                for (l, j) in columns.clone().enumerate() {
                    let at = k * q + l;
                    let x = &out.x;
                    let below: f64 = (rows.end..a.rows).map(|r| a.at(i, r) * x.at(r, j)).sum();
                    let before: f64 = (0..columns.start).map(|r| x.at(i, r) * b.at(r, j)).sum();
                    rest[at] = x.at(i, j) - below - sign * before;
                    for (m, r) in rows.clone().enumerate() {
                        system[(at, m * q + l)] += a.at(i, r);
                    }
                    for (m, r) in columns.clone().enumerate() {
                        system[(at, k * q + m)] += sign * b.at(r, j);
                    }
                }
            }
            let (scale, perturbed) = solve_small(&mut system, &mut rest, least);
            out.perturbed |= perturbed;
            if scale != 1.0 {
                out.x.data.iter_mut().for_each(|x| *x *= scale);
                out.scale *= scale;
            }
            for (k, i) in rows.clone().enumerate() {
                for (l, j) in columns.clone().enumerate() {
                    out.x[(i, j)] = rest[k * q + l];
                }
            }
        }
    }
    out
}

/// Solves a few equations in place of the right-hand side with complete pivoting. Returns the factor by which the right-hand side was made smaller against
/// overflow, and whether a pivot below `least` was replaced by it.
pub(super) fn solve_small(a: &mut Matrix, b: &mut [f64], least: f64) -> (f64, bool) {
    let n = b.len();
    let mut order: Vec<usize> = (0..n).collect();
    let mut perturbed = false;
    for k in 0..n {
        let (mut row, mut column) = (k, k);
        for i in k..n {
            for j in k..n {
                if a.at(i, j).abs() > a.at(row, column).abs() {
                    (row, column) = (i, j);
                }
            }
        }
        for j in 0..n {
            a.data.swap(k * n + j, row * n + j);
        }
        b.swap(k, row);
        for i in 0..n {
            a.data.swap(i * n + k, i * n + column);
        }
        order.swap(k, column);
        if a.at(k, k).abs() < least {
            a[(k, k)] = least;
            perturbed = true;
        }
        for i in k + 1..n {
            let factor = a.at(i, k) / a.at(k, k);
            for j in k..n {
                a[(i, j)] -= factor * a.at(k, j);
            }
            b[i] -= factor * b[k];
        }
    }
    let smallest = (0..n).fold(f64::INFINITY, |m, k| m.min(a.at(k, k).abs()));
    let largest = b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut scale = 1.0;
    // With complete pivoting the factors are at most 1, and substitution at most doubles with each row.
    if smallest < 1.0 && largest > GROWTH_MAX / 16.0 * smallest {
        scale = GROWTH_MAX / 16.0 * smallest / largest;
        b.iter_mut().for_each(|x| *x *= scale);
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a.at(k, j) * b[j]).sum();
        b[k] = (b[k] - known) / a.at(k, k);
    }
    for (k, place) in order.iter().enumerate() {
        x[*place] = b[k];
    }
    b.copy_from_slice(&x);
    (scale, perturbed)
}

/// ‖A·X + sign·X·B - scale·C‖ relative to what it is made of, for checks.
#[cfg(test)]
pub(super) fn residual(a: &Matrix, b: &Matrix, sign: f64, c: &Matrix, solution: &Solution) -> f64 {
    use super::dense::{frobenius, product};
    let x = &solution.x;
    let (left, right) = (product(a, x), product(x, b));
    let mut rest = left.clone();
    for (k, r) in rest.data.iter_mut().enumerate() {
        *r += sign * right.data[k] - solution.scale * c.data[k];
    }
    let size = (frobenius(a) + frobenius(b)) * frobenius(x) + solution.scale * frobenius(c);
    if size == 0.0 {
        0.0
    } else {
        frobenius(&rest) / size
    }
}
