//! What the algorithms share: indexing, products, norms, plane rotations, reflections on parts of a matrix.

use crate::external::tables::Matrix;
use std::ops::{Index, IndexMut, Range};

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.columns + j]
    }
}

pub(super) fn zeros(rows: usize, columns: usize) -> Matrix {
    Matrix {
        rows,
        columns,
        data: vec![0.0; rows * columns],
    }
}

pub(super) fn identity(n: usize) -> Matrix {
    let mut out = zeros(n, n);
    for i in 0..n {
        out[(i, i)] = 1.0;
    }
    out
}

pub(super) fn transposed(a: &Matrix) -> Matrix {
    let data = (0..a.columns).flat_map(|j| (0..a.rows).map(move |i| a.at(i, j)));
    Matrix {
        rows: a.columns,
        columns: a.rows,
        data: data.collect(),
    }
}

pub(super) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = zeros(a.rows, b.columns);
    for i in 0..a.rows {
        for k in 0..a.columns {
            let factor = a.at(i, k);
            for j in 0..b.columns {
                out[(i, j)] += factor * b.at(k, j);
            }
        }
    }
    out
}

/// The rows and columns of a matrix in these ranges.
pub(super) fn part(a: &Matrix, rows: Range<usize>, columns: Range<usize>) -> Matrix {
    let (m, n) = (rows.len(), columns.len());
    let data = rows.flat_map(|i| columns.clone().map(move |j| a.at(i, j)));
    Matrix {
        rows: m,
        columns: n,
        data: data.collect(),
    }
}

/// Length of a vector, without overflow on the way.
pub(super) fn length(x: impl Iterator<Item = f64>) -> f64 {
    x.fold(0.0, f64::hypot)
}

/// Root of the sum of squares.
pub(super) fn frobenius(a: &Matrix) -> f64 {
    length(a.data.iter().copied())
}

pub(super) fn max_abs(a: &Matrix) -> f64 {
    a.data.iter().fold(0.0, |m, x| x.abs().max(m))
}

/// Largest sum of absolute values in a column.
pub(super) fn norm_one(a: &Matrix) -> f64 {
    let sum = |j: usize| (0..a.rows).map(|i| a.at(i, j).abs()).sum();
    (0..a.columns).map(sum).fold(0.0, f64::max)
}

/// Largest sum of absolute values in a row.
pub(super) fn norm_infinity(a: &Matrix) -> f64 {
    let sum = |i: usize| (0..a.columns).map(|j| a.at(i, j).abs()).sum();
    (0..a.rows).map(sum).fold(0.0, f64::max)
}

/// The plane rotation [c s; -s c].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rotation {
    pub(super) c: f64,
    pub(super) s: f64,
}

impl Rotation {
    /// The rotation that takes (x, y) to (r, 0), and r.
    pub(super) fn onto_first(x: f64, y: f64) -> (Rotation, f64) {
        let r = x.hypot(y);
        if r == 0.0 {
            return (Rotation { c: 1.0, s: 0.0 }, 0.0);
        }
        (Rotation { c: x / r, s: y / r }, r)
    }

    /// Rows i and k of the columns: (c·i + s·k, -s·i + c·k).
    pub(super) fn rows(self, a: &mut Matrix, i: usize, k: usize, columns: Range<usize>) {
        for j in columns {
            let (x, y) = (a.at(i, j), a.at(k, j));
            a[(i, j)] = self.c * x + self.s * y;
            a[(k, j)] = self.c * y - self.s * x;
        }
    }

    /// Columns j and l of the rows: (c·j + s·l, -s·j + c·l).
    pub(super) fn columns(self, a: &mut Matrix, j: usize, l: usize, rows: Range<usize>) {
        for i in rows {
            let (x, y) = (a.at(i, j), a.at(i, l));
            a[(i, j)] = self.c * x + self.s * y;
            a[(i, l)] = self.c * y - self.s * x;
        }
    }
}

/// The reflection H = I - τ·v·vᵀ, v₁ = 1 (Golub and Van Loan, Matrix Computations, 5.1).
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reflection {
    pub(super) v: Vec<f64>,
    pub(super) tau: f64,
}

impl Reflection {
    /// The reflection that takes x to β·e₁, and β.
    pub(super) fn onto_first(x: &[f64]) -> (Reflection, f64) {
        let mut v = x.to_vec();
        let alpha = x.first().copied().unwrap_or(0.0);
        let below = length(x.iter().skip(1).copied());
        if let Some(first) = v.first_mut() {
            *first = 1.0;
        }
        if below == 0.0 {
            return (Reflection { v, tau: 0.0 }, alpha);
        }
        let beta = -alpha.hypot(below).copysign(alpha);
        for y in v.iter_mut().skip(1) {
            *y /= alpha - beta;
        }
        let tau = (beta - alpha) / beta;
        (Reflection { v, tau }, beta)
    }

    /// Rows from `first` on of the columns: A := H·A.
    pub(super) fn rows(&self, a: &mut Matrix, first: usize, columns: Range<usize>) {
        if self.tau == 0.0 {
            return;
        }
        for j in columns {
            let dot: f64 = (self.v.iter().enumerate())
                .map(|(k, v)| v * a.at(first + k, j))
                .sum();
            for (k, v) in self.v.iter().enumerate() {
                a[(first + k, j)] -= self.tau * dot * v;
            }
        }
    }

    /// Columns from `first` on of the rows: A := A·H.
    pub(super) fn columns(&self, a: &mut Matrix, first: usize, rows: Range<usize>) {
        if self.tau == 0.0 {
            return;
        }
        for i in rows {
            let dot: f64 = (self.v.iter().enumerate())
                .map(|(k, v)| v * a.at(i, first + k))
                .sum();
            for (k, v) in self.v.iter().enumerate() {
                a[(i, first + k)] -= self.tau * dot * v;
            }
        }
    }
}
