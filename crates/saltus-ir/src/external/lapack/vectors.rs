//! Eigenvectors of a quasi-triangular pencil: (β·S - α·P)·x = 0, with S upper triangular but for blocks of two rows and P upper triangular.
//!
//! A matrix in Schur form is the pencil with P = I, β = 1 and α = λ. The vector has 1 (or the null vector of the block) at its own rows and comes from
//! substitution in those above (Golub and Van Loan, Matrix Computations, 7.6.4 and 7.7.8). Left vectors are right vectors of the pencil transposed in the
//! other diagonal, which is upper triangular again. Elements of the divisor below round-off are replaced by it, so that a
//! defective matrix gives vectors that are parallel to working precision.

use super::complex::{Complex, real};
use super::dense::{identity, zeros};
use super::schur;
use crate::external::tables::Matrix;
use std::ops::Range;

/// An eigenvalue α/β; β = 0 is infinity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ratio {
    pub(super) alpha: Complex,
    pub(super) beta: f64,
}

/// Elements of a vector that grow beyond this are scaled back. Its square is far from overflow.
const LARGE: f64 = 2e90;
/// Least divisor relative to the pencil, which has norm 1 here.
const SMALL: f64 = 1.0 / LARGE;

/// Right eigenvectors of a matrix in Schur form as columns: of a pair the real part, then the imaginary part for the eigenvalue with positive imaginary part.
pub(super) fn right(t: &Matrix) -> Matrix {
    let ratios: Vec<Ratio> = (schur::eigenvalues(t).into_iter())
        .map(|alpha| Ratio { alpha, beta: 1.0 })
        .collect();
    right_of_pencil(t, &identity(t.rows), &ratios)
}

/// Left eigenvectors y, yᴴ·T = λ·yᴴ, in the same layout.
pub(super) fn left(t: &Matrix) -> Matrix {
    let ratios: Vec<Ratio> = (schur::eigenvalues(t).into_iter())
        .map(|alpha| Ratio { alpha, beta: 1.0 })
        .collect();
    left_of_pencil(t, &identity(t.rows), &ratios)
}

/// Right eigenvectors of the pencil, whose eigenvalues are known.
pub(super) fn right_of_pencil(s: &Matrix, p: &Matrix, ratios: &[Ratio]) -> Matrix {
    let n = s.rows;
    let blocks = schur::blocks(s);
    let mut out = zeros(n, n);
    for (number, own) in blocks.iter().enumerate() {
        let x = vector(s, p, &blocks[..=number], ratios[own.start]);
        for (i, x) in x.iter().enumerate() {
            out[(i, own.start)] = x.re;
            if own.len() == 2 {
                out[(i, own.start + 1)] = x.im;
            }
        }
    }
    out
}

/// Left eigenvectors of the pencil, whose eigenvalues are known.
pub(super) fn left_of_pencil(s: &Matrix, p: &Matrix, ratios: &[Ratio]) -> Matrix {
    let n = s.rows;
    let mut reversed = ratios.to_vec();
    reversed.reverse();
    // Of a pair the one with positive imaginary part comes first again.
    for k in 1..n {
        if reversed[k].alpha.im > 0.0 && reversed[k - 1].alpha.im < 0.0 {
            reversed.swap(k - 1, k);
        }
    }
    let x = right_of_pencil(&flipped(s), &flipped(p), &reversed);
    let mut out = zeros(n, n);
    for block in schur::blocks(s) {
        let from = n - block.end;
        for i in 0..n {
            out[(i, block.start)] = x.at(n - 1 - i, from);
            if block.len() == 2 {
                // xᵀ·(β·S - α·P) = 0 is yᴴ·(β·S - α·P) = 0 for the conjugate y.
                out[(i, block.start + 1)] = -x.at(n - 1 - i, from + 1);
            }
        }
    }
    out
}

/// The matrix reflected in the diagonal from the lower left to the upper right.
pub(super) fn flipped(a: &Matrix) -> Matrix {
    let (m, n) = (a.rows, a.columns);
    let mut out = zeros(n, m);
    for i in 0..m {
        for j in 0..n {
            out[(n - 1 - j, m - 1 - i)] = a.at(i, j);
        }
    }
    out
}

/// The vector of the last of the blocks.
fn vector(s: &Matrix, p: &Matrix, blocks: &[Range<usize>], ratio: Ratio) -> Vec<Complex> {
    let n = s.rows;
    let mut x = vec![Complex::default(); n];
    let Some((own, above)) = blocks.split_last() else {
        return x;
    };
    let norm = |a: &Matrix| a.data.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let size = (ratio.alpha.size() * norm(p)).max(ratio.beta * norm(s));
    let size = if size > 0.0 { size } else { 1.0 };
    let (alpha, beta) = (ratio.alpha.scaled(1.0 / size), ratio.beta / size);
    let element = |i: usize, j: usize| real(beta * s.at(i, j)) - alpha.scaled(p.at(i, j));
    // What an element of the divisor is certain to.
    let noise = |i: usize| {
        let parts = (beta * s.at(i, i))
            .abs()
            .max(alpha.size() * p.at(i, i).abs());
        (f64::EPSILON * parts).max(SMALL)
    };
    let k = own.start;
    if own.len() == 1 {
        x[k] = real(1.0);
    } else {
        // The longer row of the singular block says it best.
        let rows = [k, k + 1].map(|i| (element(i, k), element(i, k + 1)));
        let longest = if rows[0].0.size() + rows[0].1.size() >= rows[1].0.size() + rows[1].1.size()
        {
            rows[0]
        } else {
            rows[1]
        };
        let size = longest.0.size().max(longest.1.size());
        if size > 0.0 {
            x[k] = longest.1.scaled(-1.0 / size);
            x[k + 1] = longest.0.scaled(1.0 / size);
        } else {
            x[k] = real(1.0);
        }
    }
    for block in above.iter().rev() {
        let rest = |i: usize| {
            (block.end..own.end).fold(Complex::default(), |sum, j| sum - element(i, j) * x[j])
        };
        let i = block.start;
        if block.len() == 1 {
            let mut divisor = element(i, i);
            if divisor.size() < noise(i) {
                divisor = real(noise(i));
            }
            x[i] = rest(i) / divisor;
        } else {
            let m = [
                [element(i, i), element(i, i + 1)],
                [element(i + 1, i), element(i + 1, i + 1)],
            ];
            let solved = solve_two(m, [rest(i), rest(i + 1)], noise(i).max(noise(i + 1)));
            x[i] = solved[0];
            x[i + 1] = solved[1];
        }
        let largest = x.iter().fold(0.0f64, |m, x| m.max(x.size()));
        if largest > LARGE {
            x.iter_mut().for_each(|x| *x = x.scaled(1.0 / largest));
        }
    }
    x
}

/// Two equations with complete pivoting; pivots below `least` are replaced by it.
fn solve_two(m: [[Complex; 2]; 2], b: [Complex; 2], least: f64) -> [Complex; 2] {
    let (mut row, mut column) = (0, 0);
    for i in 0..2 {
        for j in 0..2 {
            if m[i][j].size() > m[row][column].size() {
                (row, column) = (i, j);
            }
        }
    }
    let at_least = |z: Complex| if z.size() < least { real(least) } else { z };
    let pivot = at_least(m[row][column]);
    let factor = m[1 - row][column] / pivot;
    let second = at_least(m[1 - row][1 - column] - factor * m[row][1 - column]);
    let mut x = [Complex::default(); 2];
    x[1 - column] = (b[1 - row] - factor * b[row]) / second;
    x[column] = (b[row] - m[row][1 - column] * x[1 - column]) / pivot;
    x
}

/// The columns of one eigenvector at a time; `pair` says which columns begin a pair.
fn each_vector(v: &mut Matrix, pair: &[bool], mut change: impl FnMut(&mut [Complex])) {
    let mut k = 0;
    while k < v.columns {
        let width = if pair[k] { 2 } else { 1 };
        let mut x: Vec<Complex> = (0..v.rows)
            .map(|i| Complex {
                re: v.at(i, k),
                im: if width == 2 { v.at(i, k + 1) } else { 0.0 },
            })
            .collect();
        change(&mut x);
        for (i, x) in x.iter().enumerate() {
            v[(i, k)] = x.re;
            if width == 2 {
                v[(i, k + 1)] = x.im;
            }
        }
        k += width;
    }
}

/// Scales each vector so that its largest element has |re| + |im| = 1.
pub(super) fn normalise_largest(v: &mut Matrix, pair: &[bool]) {
    each_vector(v, pair, |x| {
        let largest = x.iter().fold(0.0f64, |m, x| m.max(x.size()));
        if largest > 0.0 {
            x.iter_mut().for_each(|x| *x = x.scaled(1.0 / largest));
        }
    });
}

/// Scales each vector to length 1, the largest element of a complex one real.
pub(super) fn normalise_length(v: &mut Matrix, pair: &[bool]) {
    each_vector(v, pair, |x| {
        let length = x.iter().fold(0.0f64, |s, x| s.hypot(x.abs()));
        let Some(top) = (0..x.len()).max_by(|&i, &k| x[i].abs().total_cmp(&x[k].abs())) else {
            return;
        };
        if length == 0.0 {
            return;
        }
        let turn = if x.iter().any(|x| x.im != 0.0) {
            x[top].conj().scaled(1.0 / x[top].abs())
        } else {
            real(1.0)
        };
        x.iter_mut()
            .for_each(|x| *x = (*x * turn).scaled(1.0 / length));
        if turn != real(1.0) {
            x[top].im = 0.0;
        }
    });
}

/// Which columns begin a pair.
pub(super) fn pairs(eigenvalues: &[Complex]) -> Vec<bool> {
    eigenvalues.iter().map(|z| z.im > 0.0).collect()
}
