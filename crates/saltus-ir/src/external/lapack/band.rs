//! Linear equations with few diagonals: Gaussian elimination with partial pivoting in LAPACK's band storage (Golub and Van Loan, Matrix Computations, 4.3).
//!
//! Element (i, j) of a matrix with `lower` and `upper` diagonals is in row lower + upper + i - j of column j; the first `lower` rows are room for what row
//! exchanges fill in.

use super::dense::zeros;
use crate::external::tables::Matrix;

/// Solves A·X = B in place of B, with the factors in place of the band and the rows exchanged (from 1). `info` as in LAPACK: 0, or the number (from 1) of
/// the first zero pivot; B is left alone then.
pub(super) fn solve(
    band: &mut Matrix,
    lower: usize,
    upper: usize,
    b: &mut Matrix,
) -> (Vec<i64>, i64) {
    let n = band.columns;
    let (fill, columns) = (lower + upper, b.columns);
    // Column elements below row k, and the last column a row may reach.
    let below = |k: usize| (k + 1)..n.min(k + 1 + lower);
    let reach = |k: usize| n.min(k + 1 + fill);
    let mut pivots = Vec::with_capacity(n);
    let mut info = 0;
    let mut x = b.clone();
    for k in 0..n {
        let at = |band: &Matrix, i: usize, j: usize| band.at(fill + i - j, j);
        let mut p = k;
        for i in below(k) {
            if at(band, i, k).abs() > at(band, p, k).abs() {
                p = i;
            }
        }
        pivots.push(p as i64 + 1);
        if at(band, p, k) == 0.0 {
            if info == 0 {
                info = k as i64 + 1;
            }
            continue;
        }
        if p != k {
            for j in k..reach(k) {
                let (one, other) = (at(band, k, j), at(band, p, j));
                band[(fill + k - j, j)] = other;
                band[(fill + p - j, j)] = one;
            }
            for j in 0..columns {
                x.data.swap(k * columns + j, p * columns + j);
            }
        }
        for i in below(k) {
            let factor = at(band, i, k) / at(band, k, k);
            band[(fill + i - k, k)] = factor;
            if factor == 0.0 {
                continue;
            }
            for j in k + 1..reach(k) {
                let known = at(band, k, j);
                band[(fill + i - j, j)] -= factor * known;
            }
            for j in 0..columns {
                x[(i, j)] -= factor * x.at(k, j);
            }
        }
    }
    if info != 0 {
        return (pivots, info);
    }
    for k in (0..n).rev() {
        for j in 0..columns {
            let known: f64 = (k + 1..reach(k))
                .map(|l| band.at(fill + k - l, l) * x.at(l, j))
                .sum();
            x[(k, j)] = (x.at(k, j) - known) / band.at(fill, k);
        }
    }
    *b = x;
    (pivots, info)
}

/// Three diagonals in band storage.
pub(super) fn tridiagonal(sub: &[f64], diagonal: &[f64], super_: &[f64]) -> Matrix {
    let n = diagonal.len();
    let mut band = zeros(4, n);
    for k in 0..n {
        band[(2, k)] = diagonal[k];
        if k + 1 < n {
            band[(1, k + 1)] = super_[k];
            band[(3, k)] = sub[k];
        }
    }
    band
}
