//! Balancing before an eigenvalue is sought (Parlett and Reinsch 1969; scaling by lengths as James, Langou and Lowery 2014).
//!
//! Rows and columns that have an eigenvalue of their own are moved to the ends; the rest is scaled by powers of two, exactly, until rows and columns are of like
//! length. What comes out is P⁻¹·A·P.

use super::dense::length;
use crate::external::tables::Matrix;
use std::ops::Range;

const RADIX: f64 = 2.0;
/// A scaling that shortens row and column together by less than this is left.
const GAIN: f64 = 0.95;
/// Each sweep shortens something by 5 %; after so many the rest is not worth it.
const SWEEPS_MAX: usize = 100;
/// Sizes beyond these are not reached by scaling.
const LARGEST: f64 = f64::MAX * f64::EPSILON / RADIX;

/// How a matrix was balanced.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// Rows that are not triangular.
    pub(super) active: Range<usize>,
    /// Exchanges of rows and columns, in the order in which they were made.
    swaps: Vec<(usize, usize)>,
    /// Factor of each active row of P.
    factors: Vec<f64>,
}

/// Balances in place.
pub(super) fn balance(a: &mut Matrix) -> Balance {
    let n = a.rows;
    let mut out = Balance::none(n);
    while let Some(row) = isolated_row(a, &out.active) {
        out.active.end -= 1;
        out.exchange(a, row, out.active.end);
    }
    while let Some(column) = isolated_column(a, &out.active) {
        out.exchange(a, column, out.active.start);
        out.active.start += 1;
    }
    for _ in 0..SWEEPS_MAX {
        let mut settled = true;
        for i in out.active.clone() {
            settled &= !out.scale(a, i);
        }
        if settled {
            break;
        }
    }
    out
}

fn isolated_row(a: &Matrix, active: &Range<usize>) -> Option<usize> {
    (active.clone().rev()).find(|&i| active.clone().all(|j| j == i || a.at(i, j) == 0.0))
}

fn isolated_column(a: &Matrix, active: &Range<usize>) -> Option<usize> {
    (active.clone()).find(|&j| active.clone().all(|i| i == j || a.at(i, j) == 0.0))
}

impl Balance {
    /// Nothing was changed.
    pub(super) fn none(n: usize) -> Balance {
        Balance {
            active: 0..n,
            swaps: Vec::new(),
            factors: vec![1.0; n],
        }
    }

    fn exchange(&mut self, a: &mut Matrix, i: usize, k: usize) {
        let n = a.rows;
        self.swaps.push((i, k));
        if i == k {
            return;
        }
        for j in 0..n {
            a.data.swap(i * n + j, k * n + j);
        }
        for j in 0..n {
            a.data.swap(j * n + i, j * n + k);
        }
    }

    /// Scales row and column i; whether that was worth it.
    fn scale(&mut self, a: &mut Matrix, i: usize) -> bool {
        let n = a.rows;
        let mut column = length(self.active.clone().map(|k| a.at(k, i)));
        let mut row = length(self.active.clone().map(|k| a.at(i, k)));
        if column == 0.0 || row == 0.0 || !(column + row).is_finite() {
            return false;
        }
        let before = column + row;
        let mut factor = 1.0;
        while column < row / RADIX && factor < LARGEST {
            factor *= RADIX;
            column *= RADIX;
            row /= RADIX;
        }
        while row < column / RADIX && factor > 1.0 / LARGEST {
            factor /= RADIX;
            column /= RADIX;
            row *= RADIX;
        }
        let total = self.factors[i] * factor;
        let representable = (1.0 / LARGEST..LARGEST).contains(&total);
        if factor == 1.0 || column + row >= GAIN * before || !representable {
            return false;
        }
        self.factors[i] = total;
        for k in self.active.start..n {
            a[(i, k)] /= factor;
        }
        for k in 0..self.active.end {
            a[(k, i)] *= factor;
        }
        true
    }

    /// Right eigenvectors (columns of V) of the matrix as it was: V := P·V.
    pub(super) fn restore_right(&self, v: &mut Matrix) {
        self.restore(v, |factor| factor);
    }

    /// Left ones: V := P⁻ᵀ·V.
    pub(super) fn restore_left(&self, v: &mut Matrix) {
        self.restore(v, |factor| 1.0 / factor);
    }

    fn restore(&self, v: &mut Matrix, by: impl Fn(f64) -> f64) {
        let m = v.columns;
        for i in self.active.clone() {
            let factor = by(self.factors[i]);
            v.data[i * m..(i + 1) * m]
                .iter_mut()
                .for_each(|x| *x *= factor);
        }
        for (i, k) in self.swaps.iter().rev() {
            for j in 0..m {
                v.data.swap(i * m + j, k * m + j);
            }
        }
    }

    /// LAPACK's `scale`: the factor of an active row, else the row (from 1) it was exchanged with.
    pub(super) fn details(&self) -> Vec<f64> {
        let mut out = self.factors.clone();
        for (i, place) in &self.swaps {
            out[*place] = *i as f64 + 1.0;
        }
        out
    }
}
