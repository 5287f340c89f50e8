//! Gauss and Cholesky: factors, solutions, inverse, on row-major matrices.

use crate::external::tables::Matrix;

/// LU factors in place (unit lower triangle below the diagonal), with the row exchanged at each step (from 1).
/// The second result is LAPACK's `info`: 0, or the number (from 1) of the first zero pivot.
pub(super) fn lu(a: &mut Matrix) -> (Vec<i64>, i64) {
    let n = a.rows.min(a.columns);
    let m = a.columns;
    let mut pivots = Vec::with_capacity(n);
    let mut info = 0;
    for k in 0..n {
        let mut p = k;
        for i in k + 1..a.rows {
            if a.at(i, k).abs() > a.at(p, k).abs() {
                p = i;
            }
        }
        pivots.push(p as i64 + 1);
        if a.at(p, k) == 0.0 {
            if info == 0 {
                info = k as i64 + 1;
            }
            continue;
        }
        for j in 0..m {
            a.data.swap(k * m + j, p * m + j);
        }
        for i in k + 1..a.rows {
            let factor = a.at(i, k) / a.at(k, k);
            a.data[i * m + k] = factor;
            for j in k + 1..m {
                a.data[i * m + j] -= factor * a.at(k, j);
            }
        }
    }
    (pivots, info)
}

/// Solves A·X = B, or Aᵀ·X = B, in place of B, with the factors of [`lu`].
pub(super) fn solve(lu: &Matrix, pivots: &[i64], b: &mut Matrix, transposed: bool) {
    let n = lu.rows;
    let m = b.columns;
    let swap = |b: &mut Matrix, k: usize| {
        let p = (pivots[k] - 1).max(0) as usize;
        if p != k && p < n {
            for j in 0..m {
                b.data.swap(k * m + j, p * m + j);
            }
        }
    };
    let eliminate = |b: &mut Matrix, i: usize, k: usize, factor: f64| {
        if factor != 0.0 {
            for j in 0..m {
                b.data[i * m + j] -= factor * b.data[k * m + j];
            }
        }
    };
    let divide = |b: &mut Matrix, i: usize| {
        for j in 0..m {
            b.data[i * m + j] /= lu.at(i, i);
        }
    };
    if transposed {
        for i in 0..n {
            for k in 0..i {
                eliminate(b, i, k, lu.at(k, i));
            }
            divide(b, i);
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                eliminate(b, i, k, lu.at(k, i));
            }
        }
        (0..n).rev().for_each(|k| swap(b, k));
    } else {
        (0..n).for_each(|k| swap(b, k));
        for i in 0..n {
            for k in 0..i {
                eliminate(b, i, k, lu.at(i, k));
            }
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                eliminate(b, i, k, lu.at(i, k));
            }
            divide(b, i);
        }
    }
}

/// The inverse from the factors of [`lu`].
pub(super) fn inverse(lu: &Matrix, pivots: &[i64]) -> Matrix {
    let n = lu.rows;
    let mut b = Matrix {
        rows: n,
        columns: n,
        data: vec![0.0; n * n],
    };
    for i in 0..n {
        b.data[i * n + i] = 1.0;
    }
    solve(lu, pivots, &mut b, false);
    b
}

/// The Cholesky factor in place: Uᵀ·U = A in the upper triangle, or L·Lᵀ = A in the lower; the other triangle is not touched. The result is LAPACK's
/// `info`: 0, or the number (from 1) of the leading minor that is not positive.
pub(super) fn cholesky(a: &mut Matrix, upper: bool) -> i64 {
    let n = a.rows;
    let at = |i: usize, j: usize| if upper { j * n + i } else { i * n + j };
    for j in 0..n {
        for i in j..n {
            let known: f64 = (0..j).map(|k| a.data[at(i, k)] * a.data[at(j, k)]).sum();
            let rest = a.data[at(i, j)] - known;
            if i > j {
                a.data[at(i, j)] = rest / a.data[at(j, j)];
            } else if rest > 0.0 {
                a.data[at(j, j)] = rest.sqrt();
            } else {
                return j as i64 + 1;
            }
        }
    }
    0
}

/// Which triangle of a matrix is meant, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Triangle {
    pub(super) upper: bool,
    pub(super) transposed: bool,
    /// The diagonal is 1, whatever stands there.
    pub(super) unit: bool,
}

/// Solves op(T)·X = B in place of B; a zero on the diagonal divides as it does in BLAS.
pub(super) fn solve_triangular(t: &Matrix, which: Triangle, b: &mut Matrix) {
    let (n, m) = (t.rows, b.columns);
    let element = |i: usize, k: usize| {
        if which.transposed {
            t.at(k, i)
        } else {
            t.at(i, k)
        }
    };
    // Substitution from the last row, or from the first.
    let backward = which.upper != which.transposed;
    for step in 0..n {
        let i = if backward { n - 1 - step } else { step };
        let known = if backward { i + 1..n } else { 0..i };
        for j in 0..m {
            let sum: f64 = known.clone().map(|k| element(i, k) * b.at(k, j)).sum();
            let rest = b.at(i, j) - sum;
            b.data[i * m + j] = if which.unit {
                rest
            } else {
                rest / element(i, i)
            };
        }
    }
}

/// Steps of refinement; one is usual.
const REFINEMENTS_MAX: usize = 5;

/// Solves op(A)·X = B with the factors of [`lu`] and corrects X by its residual as long as that halves the backward error, which is returned for each
/// column: the largest |B - op(A)·X| relative to |op(A)|·|X| + |B|.
pub(super) fn solve_refined(
    a: &Matrix,
    factors: &Matrix,
    pivots: &[i64],
    b: &Matrix,
    transposed: bool,
) -> (Matrix, Vec<f64>) {
    let n = a.rows;
    let element = |i: usize, k: usize| if transposed { a.at(k, i) } else { a.at(i, k) };
    let mut x = b.clone();
    solve(factors, pivots, &mut x, transposed);
    let mut errors = vec![0.0f64; b.columns];
    for (j, error) in errors.iter_mut().enumerate() {
        let mut before = f64::INFINITY;
        for _ in 0..REFINEMENTS_MAX {
            let mut rest = Matrix {
                rows: n,
                columns: 1,
                data: vec![0.0; n],
            };
            *error = 0.0;
            for i in 0..n {
                let mut size = b.at(i, j).abs();
                rest.data[i] = b.at(i, j);
                for k in 0..n {
                    let term = element(i, k) * x.at(k, j);
                    rest.data[i] -= term;
                    size += term.abs();
                }
                if size > 0.0 {
                    *error = error.max(rest.data[i].abs() / size);
                }
            }
            if *error <= f64::EPSILON || 2.0 * *error > before {
                break;
            }
            before = *error;
            solve(factors, pivots, &mut rest, transposed);
            for i in 0..n {
                x.data[i * b.columns + j] += rest.at(i, 0);
            }
        }
    }
    (x, errors)
}
