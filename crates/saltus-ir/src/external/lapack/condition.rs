//! Condition numbers by an estimate of the 1-norm of an inverse that is known through solutions only (Hager 1984; Higham, FORTRAN codes for estimating the
//! one-norm of a real or complex matrix, 1988).

use super::lu;
use crate::external::tables::Matrix;

/// Solutions with the matrix and with its transpose; more gain nothing (Higham).
const STEPS_MAX: usize = 5;

/// Estimates the 1-norm of a matrix of n rows from its products M·v and Mᵀ·v; a lower bound, exact for most small matrices.
pub(super) fn norm_one_of(
    n: usize,
    mut product: impl FnMut(&mut [f64]),
    mut transposed_product: impl FnMut(&mut [f64]),
) -> f64 {
    if n == 0 {
        return 0.0;
    }
    let sum = |v: &[f64]| v.iter().map(|x| x.abs()).sum::<f64>();
    let signs = |v: &[f64]| -> Vec<f64> { v.iter().map(|x| 1f64.copysign(*x)).collect() };
    let mut v = vec![1.0 / n as f64; n];
    product(&mut v);
    let mut estimate = sum(&v);
    if n == 1 {
        return estimate;
    }
    let mut sign = signs(&v);
    let mut last = usize::MAX;
    for _ in 0..STEPS_MAX {
        let mut slope = sign.clone();
        transposed_product(&mut slope);
        let Some(best) = (0..n).max_by(|&i, &j| slope[i].abs().total_cmp(&slope[j].abs())) else {
            break;
        };
        if best == last || (last != usize::MAX && slope[best].abs() <= slope[last].abs()) {
            break;
        }
        last = best;
        v = vec![0.0; n];
        v[best] = 1.0;
        product(&mut v);
        let before = estimate;
        estimate = estimate.max(sum(&v));
        let next = signs(&v);
        if next == sign || sum(&v) <= before {
            break;
        }
        sign = next;
    }
    // A vector that is good where cancellation has hidden the rest.
    let mut other: Vec<f64> = (0..n)
        .map(|i| {
            let size = 1.0 + i as f64 / (n - 1) as f64;
            if i % 2 == 0 { size } else { -size }
        })
        .collect();
    product(&mut other);
    estimate.max(2.0 * sum(&other) / (3.0 * n as f64))
}

/// Which norm a condition number is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Norm {
    One,
    Infinity,
}

/// 1/(‖A‖·‖A⁻¹‖) from the factors of [`lu::lu`] and the norm of A; 0 for a singular matrix. Exchanges of rows change neither norm.
pub(super) fn reciprocal(factors: &Matrix, norm: Norm, size: f64) -> f64 {
    let n = factors.rows;
    if n == 0 {
        return 1.0;
    }
    if size == 0.0 || (0..n).any(|i| factors.at(i, i) == 0.0) {
        return 0.0;
    }
    let straight: Vec<i64> = (1..=n as i64).collect();
    let solve = |v: &mut [f64], transposed: bool| {
        let mut b = Matrix {
            rows: n,
            columns: 1,
            data: v.to_vec(),
        };
        lu::solve(factors, &straight, &mut b, transposed);
        v.copy_from_slice(&b.data);
    };
    // The infinity norm is the 1-norm of the transpose.
    let turned = norm == Norm::Infinity;
    let inverse = norm_one_of(n, |v| solve(v, turned), |v| solve(v, !turned));
    let out = 1.0 / inverse / size;
    // An inverse that overflows is none.
    if out.is_finite() { out } else { 0.0 }
}
