//! Dense LU with equilibration by powers of two and partial pivoting.

use super::pattern::Pattern;
use super::scalar::{Scalar, inverse_power_of_two};
use crate::scale::{EPS, RANK_ULPS};

/// LU factors of a square matrix. Storage is kept between factorisations. A pivot of the equilibrated matrix below
/// [`RANK_ULPS`]·n·ε counts as zero.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct DenseLu<T = f64> {
    n: usize,
    lu: Vec<T>,
    pivots: Vec<usize>,
    row_scale: Vec<f64>,
    col_scale: Vec<f64>,
}

impl<T: Scalar> DenseLu<T> {
    pub fn new(n: usize) -> DenseLu<T> {
        DenseLu {
            n,
            lu: vec![T::ZERO; n * n],
            pivots: vec![0; n],
            row_scale: vec![1.0; n],
            col_scale: vec![1.0; n],
        }
    }

    /// Factorises `a`, column-major. False if it is singular to working precision or not finite.
    pub fn factor(&mut self, a: &[T]) -> bool {
        self.lu.copy_from_slice(a);
        self.factor_in_place()
    }

    /// Factorises the matrix with these values on the pattern.
    pub(super) fn factor_on(&mut self, pattern: &Pattern, values: &[T]) -> bool {
        self.lu.fill(T::ZERO);
        for j in 0..self.n {
            let column = &mut self.lu[j * self.n..(j + 1) * self.n];
            for (row, value) in pattern.rows(j).iter().zip(&values[pattern.column(j)]) {
                column[*row as usize] = *value;
            }
        }
        self.factor_in_place()
    }

    fn factor_in_place(&mut self) -> bool {
        let n = self.n;
        if !self.equilibrate() {
            return false;
        }
        let threshold = RANK_ULPS * n as f64 * EPS;
        for k in 0..n {
            let (pivot, size) = (k..n).fold((k, -1.0), |best, i| {
                let size = self.lu[k * n + i].size();
                if size > best.1 { (i, size) } else { best }
            });
            if size.is_nan() || size <= threshold {
                return false;
            }
            self.pivots[k] = pivot;
            if pivot != k {
                for j in 0..n {
                    self.lu.swap(j * n + k, j * n + pivot);
                }
            }
            let inverse = T::ONE / self.lu[k * n + k];
            for value in &mut self.lu[k * n + k + 1..(k + 1) * n] {
                *value = *value * inverse;
            }
            let (left, right) = self.lu.split_at_mut((k + 1) * n);
            let multipliers = &left[k * n + k + 1..];
            for column in right.chunks_exact_mut(n) {
                let factor = column[k];
                if factor != T::ZERO {
                    for (target, l) in column[k + 1..].iter_mut().zip(multipliers) {
                        *target -= *l * factor;
                    }
                }
            }
        }
        true
    }

    /// Scales rows, then columns, to a largest element between 1 and 2. False if one is zero or not finite.
    fn equilibrate(&mut self) -> bool {
        let n = self.n;
        self.row_scale.fill(0.0);
        for column in self.lu.chunks_exact(n.max(1)) {
            for (largest, value) in self.row_scale.iter_mut().zip(column) {
                *largest = largest.max(value.size());
            }
        }
        for size in &mut self.row_scale {
            if !(*size > 0.0 && size.is_finite()) {
                return false;
            }
            *size = inverse_power_of_two(*size);
        }
        for (j, column) in self.lu.chunks_exact_mut(n.max(1)).enumerate() {
            let mut largest = 0.0f64;
            for (value, scale) in column.iter_mut().zip(&self.row_scale) {
                *value = value.scaled(*scale);
                let size = value.size();
                if size.is_nan() {
                    return false;
                }
                largest = largest.max(size);
            }
            if !(largest > 0.0 && largest.is_finite()) {
                return false;
            }
            let scale = inverse_power_of_two(largest);
            self.col_scale[j] = scale;
            for value in column {
                *value = value.scaled(scale);
            }
        }
        true
    }

    /// Replaces `b` by the solution. The matrix must have been found regular.
    pub fn solve(&self, b: &mut [T]) {
        let n = self.n;
        for (value, scale) in b.iter_mut().zip(&self.row_scale) {
            *value = value.scaled(*scale);
        }
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap(k, pivot);
        }
        for k in 0..n {
            let factor = b[k];
            if factor != T::ZERO {
                let multipliers = &self.lu[k * n + k + 1..(k + 1) * n];
                for (target, l) in b[k + 1..].iter_mut().zip(multipliers) {
                    *target -= *l * factor;
                }
            }
        }
        for k in (0..n).rev() {
            let column = &self.lu[k * n..k * n + k + 1];
            let factor = b[k] / column[k];
            b[k] = factor;
            for (target, u) in b[..k].iter_mut().zip(column) {
                *target -= *u * factor;
            }
        }
        for (value, scale) in b.iter_mut().zip(&self.col_scale) {
            *value = value.scaled(*scale);
        }
    }
}
