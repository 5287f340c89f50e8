//! Reduction to Hessenberg form by reflections: Qᵀ·A·Q = H with nothing below the first subdiagonal (Golub and Van Loan, Matrix Computations, 7.4).
//!
//! The reflections are kept as LAPACK keeps them: the vector of step k below the subdiagonal of column k, its factor in τ.

use super::dense::{Reflection, identity, zeros};
use crate::external::tables::Matrix;
use std::ops::Range;

/// A matrix on the way to its Schur form.
#[derive(Clone, Debug)]
pub(super) struct Hessenberg {
    /// H on and above the subdiagonal, the vectors below.
    pub(super) factors: Matrix,
    pub(super) tau: Vec<f64>,
}

/// Reduces the rows and columns of `active`; outside of them the matrix is triangular already.
pub(super) fn reduce(a: &Matrix, active: Range<usize>) -> Hessenberg {
    let n = a.rows;
    let mut f = a.clone();
    let mut tau = vec![0.0; n.saturating_sub(1)];
    for k in active.start..active.end.saturating_sub(1) {
        let below: Vec<f64> = (k + 1..active.end).map(|i| f.at(i, k)).collect();
        let (reflection, beta) = Reflection::onto_first(&below);
        reflection.columns(&mut f, k + 1, 0..active.end);
        reflection.rows(&mut f, k + 1, k + 1..n);
        f[(k + 1, k)] = beta;
        for (i, v) in (k + 2..active.end).zip(&reflection.v[1..]) {
            f[(i, k)] = *v;
        }
        tau[k] = reflection.tau;
    }
    Hessenberg { factors: f, tau }
}

/// The reflections of `factors`, those of the first columns first.
fn reflections<'a>(
    factors: &'a Matrix,
    tau: &'a [f64],
    active: Range<usize>,
) -> impl DoubleEndedIterator<Item = (usize, Reflection)> + 'a {
    let end = active.end;
    (active.start..end.saturating_sub(1)).map(move |k| {
        let rest = (k + 2..end).map(|i| factors.at(i, k));
        let v = std::iter::once(1.0).chain(rest).collect();
        (k + 1, Reflection { v, tau: tau[k] })
    })
}

/// Q of [`reduce`].
pub(super) fn q(factors: &Matrix, tau: &[f64], active: Range<usize>) -> Matrix {
    let n = factors.rows;
    let mut out = identity(n);
    for (first, reflection) in reflections(factors, tau, active).rev() {
        reflection.rows(&mut out, first, 0..n);
    }
    out
}

/// From which side Q comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Left,
    Right,
}

/// C := Q·C, Qᵀ·C, C·Q or C·Qᵀ with Q of [`reduce`].
pub(super) fn apply(
    factors: &Matrix,
    tau: &[f64],
    active: Range<usize>,
    side: Side,
    transposed: bool,
    c: &mut Matrix,
) {
    let (m, n) = (c.rows, c.columns);
    let mut all: Vec<_> = reflections(factors, tau, active).collect();
    // Q = H₁·H₂·…: the last comes first on the left, the first on the right.
    if (side == Side::Left) != transposed {
        all.reverse();
    }
    for (first, reflection) in &all {
        match side {
            Side::Left => reflection.rows(c, *first, 0..n),
            Side::Right => reflection.columns(c, *first, 0..m),
        }
    }
}

/// H alone.
pub(super) fn upper(factors: &Matrix) -> Matrix {
    let n = factors.rows;
    let mut out = zeros(n, n);
    for i in 0..n {
        for j in i.saturating_sub(1)..n {
            out[(i, j)] = factors.at(i, j);
        }
    }
    out
}
