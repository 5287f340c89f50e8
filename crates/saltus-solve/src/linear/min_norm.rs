//! Least squares of minimum norm, for systems without full rank.
//!
//! Golub and Van Loan's complete orthogonal decomposition: Householder QR with column pivoting, then from the right.

use super::scalar::inverse_power_of_two;
use crate::scale::{EPS, RANK_ULPS};

/// Least-squares solution of minimum norm.
#[derive(Clone, Debug, PartialEq)]
pub struct MinNorm {
    pub x: Vec<f64>,
    pub rank: usize,
}

/// Solves A x = b (`rows` equations, `cols` unknowns, column-major) in the least-squares sense, of all solutions the one with
/// the smallest norm of `x[j] / nominal[j]`. Rows are scaled to equal size first, so an inconsistent system weighs its
/// equations alike. Fails (`None`) only if the matrix or right-hand side is not finite.
pub fn min_norm(
    a: &[f64],
    rows: usize,
    cols: usize,
    b: &[f64],
    nominal: &[f64],
) -> Option<MinNorm> {
    let rank_rel = RANK_ULPS * rows.max(cols) as f64 * EPS;
    solve(a, rows, cols, b, nominal, rank_rel)
}

/// The same with the norm √(xᵀMx), M symmetric and positive definite, and with pivots up to `rank_rel` times the first taken for zero: a matrix of
/// difference quotients is not known to round-off. With M = LLᵀ the norm is that of y = Lᵀx, and A x = (A L⁻ᵀ) y. `None` also if M is not
/// positive definite.
pub fn min_norm_in_metric(
    a: &[f64],
    rows: usize,
    cols: usize,
    b: &[f64],
    metric: &[f64],
    rank_rel: f64,
) -> Option<MinNorm> {
    let l = cholesky(metric, cols)?;
    // Row i of A L⁻ᵀ is L⁻¹ times row i of A.
    let mut transformed = a.to_vec();
    for j in 0..cols {
        for i in 0..rows {
            let sum: f64 = (0..j)
                .map(|k| l[k * cols + j] * transformed[k * rows + i])
                .sum();
            transformed[j * rows + i] = (a[j * rows + i] - sum) / l[j * cols + j];
        }
    }
    let mut found = solve(&transformed, rows, cols, b, &vec![1.0; cols], rank_rel)?;
    for j in (0..cols).rev() {
        let sum: f64 = (j + 1..cols).map(|k| l[j * cols + k] * found.x[k]).sum();
        found.x[j] = (found.x[j] - sum) / l[j * cols + j];
    }
    found.x.iter().all(|v| v.is_finite()).then_some(found)
}

/// The lower factor L of M = LLᵀ, column-major.
fn cholesky(metric: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = metric.to_vec();
    for j in 0..n {
        for k in 0..j {
            let factor = l[k * n + j];
            for i in j..n {
                l[j * n + i] -= factor * l[k * n + i];
            }
        }
        let pivot = l[j * n + j];
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let root = pivot.sqrt();
        for i in j..n {
            l[j * n + i] /= root;
        }
    }
    Some(l)
}

fn solve(
    a: &[f64],
    rows: usize,
    cols: usize,
    b: &[f64],
    nominal: &[f64],
    rank_rel: f64,
) -> Option<MinNorm> {
    if !a.iter().chain(b).all(|v| v.is_finite()) {
        return None;
    }
    let mut q = a.to_vec();
    let mut c = b.to_vec();
    for j in 0..cols {
        for i in 0..rows {
            q[j * rows + i] *= nominal[j];
        }
    }
    for i in 0..rows {
        let size = (0..cols).fold(0.0f64, |m, j| m.max(q[j * rows + i].abs()));
        if size > 0.0 {
            let scale = inverse_power_of_two(size);
            for j in 0..cols {
                q[j * rows + i] *= scale;
            }
            c[i] *= scale;
        }
    }
    let (rank, order) = pivoted_qr(&mut q, rows, cols, &mut c, rank_rel);
    // R = [R11 R12] (rank x cols); B = Rᵀ is cols x rank, B = Z [T; 0], so R y = c means Tᵀ w = c, y = Z [w; 0].
    let mut t = vec![0.0; cols * rank];
    for j in 0..cols {
        for i in 0..rank.min(j + 1) {
            t[i * cols + j] = q[j * rows + i];
        }
    }
    let mut reflectors = Vec::with_capacity(rank);
    for k in 0..rank {
        let reflector = householder(&t[k * cols + k..(k + 1) * cols]);
        for j in k..rank {
            reflector.apply(&mut t[j * cols + k..(j + 1) * cols]);
        }
        reflectors.push(reflector);
    }
    let mut y = vec![0.0; cols];
    for k in 0..rank {
        let sum: f64 = (0..k).map(|i| t[k * cols + i] * y[i]).sum();
        y[k] = (c[k] - sum) / t[k * cols + k];
    }
    for (k, reflector) in reflectors.iter().enumerate().rev() {
        reflector.apply(&mut y[k..]);
    }
    let mut x = vec![0.0; cols];
    for (position, &column) in order.iter().enumerate() {
        x[column] = y[position] * nominal[column];
    }
    x.iter()
        .all(|v| v.is_finite())
        .then_some(MinNorm { x, rank })
}

/// I - 2 v vᵀ/(vᵀv), mapping the vector it was made from to a multiple of the first unit vector.
struct Reflector {
    v: Vec<f64>,
    /// 2/(vᵀv); 0 for the identity.
    factor: f64,
}

fn householder(x: &[f64]) -> Reflector {
    let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut v = x.to_vec();
    if norm == 0.0 {
        return Reflector { v, factor: 0.0 };
    }
    v[0] += if x[0] >= 0.0 { norm } else { -norm };
    let square: f64 = v.iter().map(|v| v * v).sum();
    Reflector {
        v,
        factor: 2.0 / square,
    }
}

impl Reflector {
    fn apply(&self, x: &mut [f64]) {
        let dot: f64 = self.v.iter().zip(x.iter()).map(|(v, x)| v * x).sum();
        let factor = self.factor * dot;
        for (x, v) in x.iter_mut().zip(&self.v) {
            *x -= factor * v;
        }
    }
}

/// Householder QR with column pivoting in place; `c` becomes Qᵀc. Returns the rank and the column order.
fn pivoted_qr(
    q: &mut [f64],
    rows: usize,
    cols: usize,
    c: &mut [f64],
    rank_rel: f64,
) -> (usize, Vec<usize>) {
    let mut order: Vec<usize> = (0..cols).collect();
    let mut first = 0.0f64;
    let limit = rows.min(cols);
    for k in 0..limit {
        let norm = |q: &[f64], j: usize| {
            q[j * rows + k..(j + 1) * rows]
                .iter()
                .map(|v| v * v)
                .sum::<f64>()
                .sqrt()
        };
        let (pivot, size) = (k..cols).fold((k, -1.0), |best, j| {
            let size = norm(q, j);
            if size > best.1 { (j, size) } else { best }
        });
        if k == 0 {
            first = size;
        }
        if size <= rank_rel * first || size == 0.0 {
            return (k, order);
        }
        if pivot != k {
            order.swap(k, pivot);
            for i in 0..rows {
                q.swap(k * rows + i, pivot * rows + i);
            }
        }
        let reflector = householder(&q[k * rows + k..(k + 1) * rows]);
        for j in k..cols {
            reflector.apply(&mut q[j * rows + k..(j + 1) * rows]);
        }
        reflector.apply(&mut c[k..]);
    }
    (limit, order)
}
