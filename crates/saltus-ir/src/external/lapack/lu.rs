//! Gauss and Cholesky: factors, solutions, inverse, on row-major matrices.

use crate::external::tables::Matrix;

/// LU factors in place (unit lower triangle below the diagonal), with the row exchanged at each step (from 1).
/// The second result is LAPACK's `info`: 0, or the number (from 1) of the first zero pivot.
pub fn lu(a: &mut Matrix) -> (Vec<i64>, i64) {
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
pub fn solve(lu: &Matrix, pivots: &[i64], b: &mut Matrix, transposed: bool) {
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
pub fn inverse(lu: &Matrix, pivots: &[i64]) -> Matrix {
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
pub fn cholesky(a: &mut Matrix, upper: bool) -> i64 {
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
