//! Least squares with equations that must hold: ‖c - A·x‖ least among the x with B·x = d (Golub and Van Loan, Matrix Computations, 6.2.3).
//!
//! Bᵀ = Q·[R; 0] splits x = Q·[y; z]: the constraints give y alone, and z is an ordinary least squares problem in what is left of A.

use super::dense::{frobenius, length, part, product, transposed, zeros};
use super::orthogonal;
use crate::external::tables::Matrix;

/// Why there is no unique solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deficient {
    /// The constraints are not independent.
    Constraints,
    /// A and B together leave a direction free.
    Together,
}

/// The x with least ‖c - A·x‖ among those with B·x = d.
pub(super) fn solve(a: &Matrix, c: &[f64], b: &Matrix, d: &[f64]) -> Result<Vec<f64>, Deficient> {
    let (n, p) = (a.columns, b.rows);
    let factors = orthogonal::qr(&transposed(b), false);
    let round_off = n.max(a.rows) as f64 * f64::EPSILON;
    let mut y = vec![0.0; p];
    for k in 0..p {
        // Against the row itself: constraints may be of very different size.
        let size = length((0..n).map(|j| b.at(k, j)));
        let pivot = factors.factors.at(k, k);
        if pivot.abs() <= round_off * size {
            return Err(Deficient::Constraints);
        }
        let known: f64 = (0..k).map(|i| factors.factors.at(i, k) * y[i]).sum();
        y[k] = (d[k] - known) / pivot;
    }
    let q = orthogonal::q(&factors.factors, &factors.tau, n);
    let turned = product(a, &q);
    let mut rest = zeros(a.rows, 1);
    for i in 0..a.rows {
        let known: f64 = (0..p).map(|k| turned.at(i, k) * y[k]).sum();
        rest[(i, 0)] = c[i] - known;
    }
    let free = part(&turned, 0..a.rows, p..n);
    let second = orthogonal::qr(&free, false);
    let zero = round_off * frobenius(a);
    let full = (0..n - p).all(|k| second.factors.at(k, k).abs() > zero);
    if !full {
        return Err(Deficient::Together);
    }
    let (z, _) = orthogonal::least_squares(&free, &rest, 0.0);
    Ok((0..n)
        .map(|i| {
            let fixed: f64 = (0..p).map(|k| q.at(i, k) * y[k]).sum();
            let chosen: f64 = (p..n).map(|k| q.at(i, k) * z.at(k - p, 0)).sum();
            fixed + chosen
        })
        .collect())
}
