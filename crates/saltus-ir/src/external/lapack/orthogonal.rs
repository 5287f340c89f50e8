//! Orthogonal factorisations for `Modelica.Math.Matrices`: QR with column pivoting, least squares, singular values.
//!
//! Householder: H = I - τ·v·vᵀ with v₁ = 1 maps a column to β·e₁, β = -sign(α)·‖x‖, τ = (β - α)/β, v = x/(α - β). Businger and Golub (1965) choose as the next
//! column the one with the longest rest. Least squares of deficient rank: [R₁₁ R₁₂] of the columns kept is factored once more from the right, which
//! gives the solution of least norm (Golub and Van Loan, Matrix Computations, 5.5). Singular values: one-sided Jacobi (Hestenes 1958).

use super::dense::{frobenius, identity, max_abs, transposed};
use super::hessenberg::Side;
use crate::external::tables::Matrix;

/// Q·R = A·P: R on and above the diagonal, the vectors v below, as LAPACK keeps them.
pub(super) struct Qr {
    pub(super) factors: Matrix,
    pub(super) tau: Vec<f64>,
    /// Column of A (from 0) that stands at each place.
    pub(super) order: Vec<usize>,
}

/// Factors a matrix; with `pivoting` the longest rest of a column comes first.
pub(super) fn qr(a: &Matrix, pivoting: bool) -> Qr {
    let (m, n) = (a.rows, a.columns);
    let mut f = a.clone();
    let mut order: Vec<usize> = (0..n).collect();
    let mut tau = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        if pivoting {
            let rest = |f: &Matrix, j: usize| (k..m).map(|i| f.at(i, j).powi(2)).sum::<f64>();
            // The first of equals, as LAPACK takes it.
            let mut best = k;
            for j in k + 1..n {
                if rest(&f, j) > rest(&f, best) {
                    best = j;
                }
            }
            if best != k {
                order.swap(k, best);
                for i in 0..m {
                    f.data.swap(i * n + k, i * n + best);
                }
            }
        }
        let below = (k + 1..m).fold(0.0f64, |s, i| s.hypot(f.at(i, k)));
        let alpha = f.at(k, k);
        if below == 0.0 {
            tau.push(0.0);
            continue;
        }
        let beta = -alpha.hypot(below).copysign(alpha);
        let t = (beta - alpha) / beta;
        for i in k + 1..m {
            f.data[i * n + k] /= alpha - beta;
        }
        f.data[k * n + k] = beta;
        for j in k + 1..n {
            reflect(&mut f, k, t, j);
        }
        tau.push(t);
    }
    Qr {
        factors: f,
        tau,
        order,
    }
}

/// Applies H of column k to column j of the same matrix.
fn reflect(f: &mut Matrix, k: usize, tau: f64, j: usize) {
    let n = f.columns;
    let dot = f.at(k, j)
        + (k + 1..f.rows)
            .map(|i| f.at(i, k) * f.at(i, j))
            .sum::<f64>();
    f.data[k * n + j] -= tau * dot;
    for i in k + 1..f.rows {
        let v = f.at(i, k);
        f.data[i * n + j] -= tau * dot * v;
    }
}

/// The first `columns` columns of Q.
pub(super) fn q(factors: &Matrix, tau: &[f64], columns: usize) -> Matrix {
    let m = factors.rows;
    let mut out = Matrix {
        rows: m,
        columns,
        data: vec![0.0; m * columns],
    };
    for i in 0..m.min(columns) {
        out.data[i * columns + i] = 1.0;
    }
    for (k, t) in tau.iter().enumerate().rev() {
        apply(factors, k, *t, &mut out);
    }
    out
}

/// C := Q·C, Qᵀ·C, C·Q or C·Qᵀ.
pub(super) fn apply_q(factors: &Matrix, tau: &[f64], side: Side, transpose: bool, c: &mut Matrix) {
    match side {
        Side::Left if transpose => {
            for (k, t) in tau.iter().enumerate() {
                apply(factors, k, *t, c);
            }
        }
        Side::Left => {
            for (k, t) in tau.iter().enumerate().rev() {
                apply(factors, k, *t, c);
            }
        }
        // C·Q is the transpose of Qᵀ·Cᵀ.
        Side::Right => {
            let mut turned = transposed(c);
            apply_q(factors, tau, Side::Left, !transpose, &mut turned);
            *c = transposed(&turned);
        }
    }
}

/// B := H·B with H of column k of the factors.
fn apply(factors: &Matrix, k: usize, tau: f64, b: &mut Matrix) {
    let n = b.columns;
    for j in 0..n {
        let mut dot = b.at(k, j);
        for i in k + 1..b.rows {
            dot += factors.at(i, k) * b.at(i, j);
        }
        b.data[k * n + j] -= tau * dot;
        for i in k + 1..b.rows {
            b.data[i * n + j] -= tau * dot * factors.at(i, k);
        }
    }
}

/// The X of least norm among those that make ‖A·X - B‖ least, with the rank that was found: diagonal elements of R below `rcond` times the
/// first, and below round-off in any case, count as zero.
pub(super) fn least_squares(a: &Matrix, b: &Matrix, rcond: f64) -> (Matrix, usize) {
    let (m, n, nrhs) = (a.rows, a.columns, b.columns);
    let first = qr(a, true);
    let largest = if m.min(n) > 0 {
        first.factors.at(0, 0).abs()
    } else {
        0.0
    };
    let zero = largest * rcond.max(m.max(n) as f64 * f64::EPSILON);
    let rank = (0..m.min(n))
        .take_while(|&k| first.factors.at(k, k).abs() > zero)
        .count();
    let mut c = b.clone();
    for (k, t) in first.tau.iter().enumerate() {
        apply(&first.factors, k, *t, &mut c);
    }
    // [R11 R12]ᵀ = Z·S with S upper triangular: the solution of least norm is Z·S⁻ᵀ·c.
    let mut transposed = Matrix {
        rows: n,
        columns: rank,
        data: vec![0.0; n * rank],
    };
    for i in 0..rank {
        for j in i..n {
            transposed.data[j * rank + i] = first.factors.at(i, j);
        }
    }
    let second = qr(&transposed, false);
    let mut y = Matrix {
        rows: n,
        columns: nrhs,
        data: vec![0.0; n * nrhs],
    };
    for j in 0..nrhs {
        for i in 0..rank {
            let known: f64 = (0..i).map(|k| second.factors.at(k, i) * y.at(k, j)).sum();
            y.data[i * nrhs + j] = (c.at(i, j) - known) / second.factors.at(i, i);
        }
    }
    for (k, t) in second.tau.iter().enumerate().rev() {
        apply(&second.factors, k, *t, &mut y);
    }
    let mut x = y.clone();
    for (place, column) in first.order.iter().enumerate() {
        for j in 0..nrhs {
            x.data[column * nrhs + j] = y.at(place, j);
        }
    }
    (x, rank)
}

/// A = U·Σ·Vᵀ with all columns of U (m·m) and V (n·n); `None` if the rotations do not settle.
pub(super) struct Svd {
    pub(super) u: Matrix,
    pub(super) sigma: Vec<f64>,
    pub(super) v: Matrix,
}

/// Sweeps of rotations; ten are usual.
const SWEEPS_MAX: usize = 60;

pub(super) fn svd(a: &Matrix) -> Option<Svd> {
    if a.rows < a.columns {
        let Svd { u, sigma, v } = svd(&transposed(a))?;
        return Some(Svd { u: v, sigma, v: u });
    }
    let (m, n) = (a.rows, a.columns);
    // Squares are formed: of numbers around 1.
    let scale = match max_abs(a) {
        size if size > 0.0 && size.is_finite() => size.log2().floor().exp2(),
        _ => 1.0,
    };
    let mut w = a.clone();
    w.data.iter_mut().for_each(|x| *x /= scale);
    // Columns below the round-off of the whole are zero but for noise, whose angles never settle.
    let noise = (f64::EPSILON * frobenius(&w)).powi(2);
    let right = m as f64 * f64::EPSILON;
    let mut v = identity(n);
    let mut settled = false;
    for _ in 0..SWEEPS_MAX {
        settled = true;
        for p in 0..n {
            for q in p + 1..n {
                let sum = |f: &dyn Fn(usize) -> f64| (0..m).map(f).sum::<f64>();
                let pp = sum(&|i| w.at(i, p).powi(2));
                let qq = sum(&|i| w.at(i, q).powi(2));
                let pq = sum(&|i| w.at(i, p) * w.at(i, q));
                if pp.min(qq) <= noise || pq.abs() <= right * (pp * qq).sqrt() {
                    continue;
                }
                settled = false;
                let zeta = (qq - pp) / (2.0 * pq);
                let t = 1f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                rotate(&mut w, p, q, c, c * t);
                rotate(&mut v, p, q, c, c * t);
            }
        }
        if settled {
            break;
        }
    }
    if !settled {
        return None;
    }
    let length = |j: usize| (0..m).fold(0.0f64, |s, i| s.hypot(w.at(i, j)));
    let mut order: Vec<(usize, f64)> = (0..n).map(|j| (j, length(j))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sigma: Vec<f64> = order.iter().map(|(_, s)| *s).collect();
    let largest = sigma.first().copied().unwrap_or(0.0);
    // Columns of U for values that are zero, and those beyond n, complete the others: Q of a QR factorisation of what is there.
    let mut known = Matrix {
        rows: m,
        columns: m,
        data: vec![0.0; m * m],
    };
    let mut sorted_v = v.clone();
    for (k, (j, s)) in order.iter().enumerate() {
        for i in 0..n {
            sorted_v.data[i * n + k] = v.at(i, *j);
        }
        if *s > largest * m as f64 * f64::EPSILON {
            for i in 0..m {
                known.data[i * m + k] = w.at(i, *j) / s;
            }
        }
    }
    let rank = sigma
        .iter()
        .take_while(|s| **s > largest * m as f64 * f64::EPSILON)
        .count();
    let factors = qr(&known, false);
    let mut u = q(&factors.factors, &factors.tau, m);
    for k in 0..rank {
        for i in 0..m {
            u.data[i * m + k] = known.at(i, k);
        }
    }
    Some(Svd {
        u,
        sigma: sigma.iter().map(|s| s * scale).collect(),
        v: sorted_v,
    })
}

/// Columns p and q of a matrix: (c·p - s·q, s·p + c·q).
fn rotate(a: &mut Matrix, p: usize, q: usize, c: f64, s: f64) {
    let n = a.columns;
    for i in 0..a.rows {
        let (x, y) = (a.at(i, p), a.at(i, q));
        a.data[i * n + p] = c * x - s * y;
        a.data[i * n + q] = s * x + c * y;
    }
}
