//! The generalised eigenvalue problem A·x = λ·B·x by the QZ iteration (Moler and Stewart 1973; Golub and Van Loan, Matrix Computations, 7.7).
//!
//! First Qᵀ·A·Z becomes Hessenberg and Qᵀ·B·Z triangular; then zeros on the diagonal of B are moved to the end, where they are eigenvalues at infinity, and
//! double-shift sweeps make A quasi-triangular. Blocks of two rows with real eigenvalues are split by single-shift steps, so what remains in twos is a
//! conjugate pair. Every transformation is orthogonal; eigenvalues are ratios α/β with β ≥ 0, nothing is inverted for them.

use super::complex::{Complex, real};
use super::dense::{Reflection, Rotation, frobenius, identity, part};
use super::orthogonal;
use super::vectors::Ratio;
use crate::external::tables::Matrix;
use std::ops::Range;

/// Sweeps per eigenvalue: so many, times the number of rows (as in LAPACK); three are usual.
const SWEEPS_MAX: usize = 30;
/// Sweeps after which another shift is taken, against a cycle.
const SWEEPS_PATIENT: usize = 10;
/// What then counts as zero, in units of round-off of the norm.
const NOISE_LATE: f64 = 10.0;
/// A first column for where shifts give none, as in EISPACK.
const AD_HOC: [f64; 3] = [0.0, 1.0, 1.1605];

/// Q·S·Zᵀ = A, Q·P·Zᵀ = B.
#[derive(Clone, Debug)]
pub(super) struct Pencil {
    /// Hessenberg at first, quasi-triangular at the end.
    pub(super) s: Matrix,
    /// Upper triangular.
    pub(super) p: Matrix,
    pub(super) q: Matrix,
    pub(super) z: Matrix,
}

/// The Hessenberg-triangular form.
pub(super) fn reduce(a: &Matrix, b: &Matrix) -> Pencil {
    let n = a.rows;
    let factors = orthogonal::qr(b, false);
    let mut s = a.clone();
    for (k, tau) in factors.tau.iter().enumerate() {
        let rest = (k + 1..n).map(|i| factors.factors.at(i, k));
        let v = std::iter::once(1.0).chain(rest).collect();
        Reflection { v, tau: *tau }.rows(&mut s, k, 0..n);
    }
    let mut p = factors.factors.clone();
    for i in 0..n {
        for j in 0..i {
            p[(i, j)] = 0.0;
        }
    }
    let q = orthogonal::q(&factors.factors, &factors.tau, n);
    let mut pencil = Pencil {
        s,
        p,
        q,
        z: identity(n),
    };
    for j in 0..n.saturating_sub(2) {
        for i in (j + 2..n).rev() {
            pencil.rows_to_zero(Which::S, i, j);
            pencil.columns_to_zero(Which::P, i, i - 1);
        }
    }
    pencil
}

/// What is zero in a matrix of this norm.
fn zero_of(noise: f64, norm: f64) -> f64 {
    (noise * f64::EPSILON * norm).max(f64::MIN_POSITIVE)
}

/// x - y, and what its round-off is relative to.
fn difference(x: f64, y: f64) -> (f64, f64) {
    (x - y, x.abs() + y.abs())
}

/// Which matrix of the pencil gets the zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    S,
    P,
}

impl Pencil {
    /// A pencil that has the form already.
    pub(super) fn of_form(s: Matrix, p: Matrix) -> Pencil {
        let n = s.rows;
        Pencil {
            s,
            p,
            q: identity(n),
            z: identity(n),
        }
    }

    fn of(&mut self, which: Which) -> &mut Matrix {
        match which {
            Which::S => &mut self.s,
            Which::P => &mut self.p,
        }
    }

    fn rotate_rows(&mut self, rotation: Rotation, i: usize) {
        let n = self.s.columns;
        rotation.rows(&mut self.s, i - 1, i, 0..n);
        rotation.rows(&mut self.p, i - 1, i, 0..n);
        rotation.columns(&mut self.q, i - 1, i, 0..n);
    }

    fn rotate_columns(&mut self, rotation: Rotation, j: usize) {
        let n = self.s.rows;
        rotation.columns(&mut self.s, j, j + 1, 0..n);
        rotation.columns(&mut self.p, j, j + 1, 0..n);
        rotation.columns(&mut self.z, j, j + 1, 0..n);
    }

    /// Rows i - 1 and i are rotated so that element (i, j) becomes zero.
    fn rows_to_zero(&mut self, which: Which, i: usize, j: usize) {
        let m = self.of(which);
        let (rotation, _) = Rotation::onto_first(m.at(i - 1, j), m.at(i, j));
        self.rotate_rows(rotation, i);
        self.of(which)[(i, j)] = 0.0;
    }

    /// Columns j and j + 1 are rotated so that element (i, j) becomes zero.
    fn columns_to_zero(&mut self, which: Which, i: usize, j: usize) {
        let m = self.of(which);
        let (onto, _) = Rotation::onto_first(m.at(i, j + 1), m.at(i, j));
        let rotation = Rotation {
            c: onto.c,
            s: -onto.s,
        };
        self.rotate_columns(rotation, j);
        self.of(which)[(i, j)] = 0.0;
    }

    /// Makes S quasi-triangular. `active` are the rows that are not triangular yet. The error is LAPACK's `info`: the number of leading rows whose
    /// eigenvalues are not found.
    pub(super) fn iterate(&mut self, active: Range<usize>) -> Result<(), i64> {
        let (low, mut end) = (active.start, active.end);
        let p_norm = frobenius(&part(&self.p, active.clone(), active.clone()));
        let s_norm = frobenius(&part(&self.s, active.clone(), active.clone()));
        let limit = SWEEPS_MAX * active.len().max(1);
        let mut sweeps = 0;
        while end > low {
            // Several eigenvalues at zero leave diagonal elements of round-off size, which are no measure: then the norm is. Those at infinity leave elements
            // of P a little above it.
            let (size, noise) = if sweeps > SWEEPS_PATIENT {
                (s_norm, NOISE_LATE)
            } else {
                (0.0, 1.0)
            };
            let p_zero = zero_of(noise, p_norm);
            let start = self.block_start(low, end, noise * size);
            if start > low {
                self.s[(start, start - 1)] = 0.0;
            }
            if start + 1 == end {
                end -= 1;
                sweeps = 0;
                continue;
            }
            if sweeps == limit {
                return Err(end as i64);
            }
            sweeps += 1;
            let zero = (start..end).find(|&j| self.p.at(j, j).abs() <= p_zero);
            if let Some(j) = zero {
                self.move_infinity(start, j, end);
            } else if start + 2 == end {
                match self.block_eigenvalues(start) {
                    [one, _] if one.alpha.im != 0.0 => {
                        end -= 2;
                        sweeps = 0;
                    }
                    [near, _] => self.step(start, near),
                }
            } else {
                self.sweep(start, end, sweeps);
            }
        }
        for j in active {
            if self.p.at(j, j).abs() <= zero_of(1.0, p_norm) {
                self.p[(j, j)] = 0.0;
            }
        }
        Ok(())
    }

    /// First row of the last block without a subdiagonal element that is negligible against its neighbours, or against `size`.
    fn block_start(&self, low: usize, end: usize, size: f64) -> usize {
        let mut k = end - 1;
        while k > low {
            let near = self.s.at(k - 1, k - 1).abs() + self.s.at(k, k).abs();
            let zero = f64::EPSILON * near.max(size);
            if self.s.at(k, k - 1).abs() <= zero.max(f64::MIN_POSITIVE) {
                break;
            }
            k -= 1;
        }
        k
    }

    /// The zero at (j, j) of P goes down to the last row of the block, which then has an eigenvalue at infinity of its own.
    fn move_infinity(&mut self, start: usize, j: usize, end: usize) {
        self.p[(j, j)] = 0.0;
        for k in j..end - 1 {
            self.rows_to_zero(Which::P, k + 1, k + 1);
            if k > start {
                self.columns_to_zero(Which::S, k + 1, k - 1);
            }
        }
        self.columns_to_zero(Which::S, end - 1, end - 2);
    }

    /// The eigenvalues α/β of rows k and k + 1, whose P has no zero on the diagonal: two real ones, that nearer to the last row first, or a pair.
    ///
    /// det(β·S - α·P) with β² = det P is det P·(α² - 2·h·α + det S) up to scaling, where 2·h·β is the mixed term: nothing is divided by single elements of P,
    /// one of which may be as small as round-off.
    fn block_eigenvalues(&self, k: usize) -> [Ratio; 2] {
        let sign = |j: usize| 1f64.copysign(self.p.at(j, j));
        let s = |i: usize, j: usize| self.s.at(k + i, k + j) * sign(k + j);
        let p = |i: usize, j: usize| self.p.at(k + i, k + j) * sign(k + j);
        let beta = p(0, 0).sqrt() * p(1, 1).sqrt();
        let half = (s(0, 0) * p(1, 1) + s(1, 1) * p(0, 0) - s(1, 0) * p(0, 1)) / (2.0 * beta);
        let determinant = s(0, 0) * s(1, 1) - s(0, 1) * s(1, 0);
        // The square of half the distance of the two, in two ways that cancel in different places: that with the lesser round-off counts. The first is good where P
        // is nearly singular, the second, by the elements of S·P⁻¹·β, where the eigenvalues are nearly equal.
        let by_determinant = half * half - determinant;
        let noise_of_first = half * half + (s(0, 0) * s(1, 1)).abs() + (s(0, 1) * s(1, 0)).abs();
        let (m11, m21) = (s(0, 0) * p(1, 1) / beta, s(1, 0) * p(1, 1) / beta);
        let (m22, m22_size) = difference(s(1, 1) * p(0, 0) / beta, s(1, 0) * p(0, 1) / beta);
        let (m12, m12_size) = difference(s(0, 1) * p(0, 0) / beta, s(0, 0) * p(0, 1) / beta);
        let gap = (m11 - m22) / 2.0;
        let by_elements = gap * gap + m12 * m21;
        let noise_of_second = gap.abs() * (m11.abs() + m22_size) + m21.abs() * m12_size;
        let square = if noise_of_first <= noise_of_second {
            by_determinant
        } else {
            by_elements
        };
        if square < 0.0 {
            let alpha = Complex {
                re: half,
                im: (-square).sqrt(),
            };
            return [alpha, alpha.conj()].map(|alpha| Ratio { alpha, beta });
        }
        let large = half + square.sqrt().copysign(half);
        let small = if large == 0.0 {
            0.0
        } else {
            determinant / large
        };
        let distance = |alpha: f64| (alpha * p(1, 1) - beta * s(1, 1)).abs();
        let both = if distance(small) <= distance(large) {
            [small, large]
        } else {
            [large, small]
        };
        both.map(|alpha| Ratio {
            alpha: real(alpha),
            beta,
        })
    }

    /// One step with a real shift on rows k and k + 1: exact but for round-off.
    fn step(&mut self, k: usize, shift: Ratio) {
        let Ratio { alpha, beta } = shift;
        let (x, y) = (
            beta * self.s.at(k, k) - alpha.re * self.p.at(k, k),
            beta * self.s.at(k + 1, k),
        );
        let (rotation, _) = Rotation::onto_first(x, y);
        self.rotate_rows(rotation, k + 1);
        self.columns_to_zero(Which::P, k + 1, k);
    }

    /// One sweep with two shifts.
    fn sweep(&mut self, start: usize, end: usize, sweeps: usize) {
        let n = self.s.rows;
        let mut v = self.first_column(start, end, sweeps);
        for k in start..end - 2 {
            if k > start {
                v = [0, 1, 2].map(|i| self.s.at(k + i, k - 1));
            }
            let (reflection, beta) = Reflection::onto_first(&v);
            reflection.rows(&mut self.s, k, 0..n);
            reflection.rows(&mut self.p, k, 0..n);
            reflection.columns(&mut self.q, k, 0..n);
            if k > start {
                self.s[(k, k - 1)] = beta;
                self.s[(k + 1, k - 1)] = 0.0;
                self.s[(k + 2, k - 1)] = 0.0;
            }
            self.columns_to_zero(Which::P, k + 2, k);
            self.columns_to_zero(Which::P, k + 2, k + 1);
            self.columns_to_zero(Which::P, k + 1, k);
        }
        let last = end - 1;
        self.rows_to_zero(Which::S, last, last - 2);
        self.columns_to_zero(Which::P, last, last - 1);
    }

    /// The first column of (M - σ₁)·(M - σ₂), M = S·P⁻¹, where the shifts are the eigenvalues of the last two rows of the pencil: a pair, or of two real
    /// ones that nearer to the last row, twice.
    fn first_column(&self, start: usize, end: usize, sweeps: usize) -> [f64; 3] {
        let (s, p) = (&self.s, &self.p);
        let [Ratio { alpha, beta }, _] = self.block_eigenvalues(end - 2);
        let mut shift = alpha.scaled(1.0 / beta);
        if sweeps.is_multiple_of(SWEEPS_PATIENT) {
            // By the size of what is to vanish: enough to break a cycle, and no loss where progress is slow but steady.
            shift = real(shift.re + s.at(end - 1, end - 2) / p.at(end - 2, end - 2));
        }
        let (l, k) = (start, start + 1);
        let m11 = s.at(l, l) / p.at(l, l);
        let m21 = s.at(k, l) / p.at(l, l);
        let m12 = (s.at(l, k) - m11 * p.at(l, k)) / p.at(k, k);
        let m22 = (s.at(k, k) - m21 * p.at(l, k)) / p.at(k, k);
        let m32 = s.at(k + 1, k) / p.at(k, k);
        // Divided by m21, which no block has zero.
        let v = [
            ((m11 - shift.re) * ((m11 - shift.re) / m21) + shift.im * (shift.im / m21)) + m12,
            (m11 - shift.re) + (m22 - shift.re),
            m32,
        ];
        let size = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        // Overflow in the quotients, or a column that vanishes: any other begins a sweep too.
        if !(size.is_finite() && size > 0.0) {
            return AD_HOC;
        }
        v.map(|x| x / size)
    }

    /// The eigenvalues in the order of the diagonal, when the iteration has ended.
    pub(super) fn eigenvalues(&mut self) -> Vec<Ratio> {
        let n = self.s.rows;
        // β ≥ 0 by the sign of a column of Z.
        for j in 0..n {
            if self.p.at(j, j) < 0.0 {
                for i in 0..n {
                    self.s[(i, j)] *= -1.0;
                    self.p[(i, j)] *= -1.0;
                    self.z[(i, j)] *= -1.0;
                }
            }
        }
        let mut out = Vec::with_capacity(n);
        while out.len() < n {
            let k = out.len();
            if k + 1 < n && self.s.at(k + 1, k) != 0.0 {
                out.extend(self.block_eigenvalues(k));
            } else {
                let alpha = real(self.s.at(k, k));
                out.push(Ratio {
                    alpha,
                    beta: self.p.at(k, k),
                });
            }
        }
        out
    }
}
