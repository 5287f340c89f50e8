//! The one door for linear solves: dense LU with equilibration, complex LU for Radau, and a complete orthogonal
//! decomposition for rank-deficient systems.
//!
//! Matrices come in dense and column-major. `DenseLu` scales rows and columns by powers of two, pivots partially and reports
//! a pivot below [`RANK_ULPS`]·n·ε as singular. `min_norm` is Golub and Van Loan's complete orthogonal decomposition
//! (Householder QR with column pivoting, then from the right): least squares, minimum norm.

use crate::scale::{EPS, RANK_ULPS};

/// LU factors of a square matrix. Storage is kept between factorisations.
#[derive(Clone, Debug, Default)]
pub struct DenseLu {
    n: usize,
    lu: Vec<f64>,
    pivots: Vec<usize>,
    row_scale: Vec<f64>,
    col_scale: Vec<f64>,
}

/// A power of two near 1/x, so that scaling is exact.
fn inverse_power_of_two(x: f64) -> f64 {
    (-x.log2().floor()).clamp(-1000.0, 1000.0).exp2()
}

impl DenseLu {
    pub fn new(n: usize) -> DenseLu {
        DenseLu {
            n,
            lu: vec![0.0; n * n],
            pivots: vec![0; n],
            row_scale: vec![1.0; n],
            col_scale: vec![1.0; n],
        }
    }

    /// Factorises `a`. False if it is singular to working precision or not finite.
    pub fn factor(&mut self, a: &[f64]) -> bool {
        let n = self.n;
        debug_assert_eq!(a.len(), n * n);
        self.lu.copy_from_slice(a);
        if !self.equilibrate() {
            return false;
        }
        let threshold = RANK_ULPS * n as f64 * EPS;
        for k in 0..n {
            let (pivot, size) = (k..n).fold((k, -1.0), |best, i| {
                let size = self.lu[k * n + i].abs();
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
            let inverse = 1.0 / self.lu[k * n + k];
            for i in k + 1..n {
                self.lu[k * n + i] *= inverse;
            }
            let (left, right) = self.lu.split_at_mut((k + 1) * n);
            let multipliers = &left[k * n + k + 1..];
            for column in right.chunks_exact_mut(n) {
                let factor = column[k];
                if factor != 0.0 {
                    for (target, l) in column[k + 1..].iter_mut().zip(multipliers) {
                        *target -= l * factor;
                    }
                }
            }
        }
        true
    }

    fn equilibrate(&mut self) -> bool {
        let n = self.n;
        for i in 0..n {
            let size = (0..n).fold(0.0f64, |m, j| m.max(self.lu[j * n + i].abs()));
            if !(size > 0.0 && size.is_finite()) {
                return false;
            }
            self.row_scale[i] = inverse_power_of_two(size);
        }
        for (j, column) in self.lu.chunks_exact_mut(n.max(1)).enumerate() {
            let mut size = 0.0f64;
            for (value, scale) in column.iter_mut().zip(&self.row_scale) {
                *value *= scale;
                if value.is_nan() {
                    return false;
                }
                size = size.max(value.abs());
            }
            if !(size > 0.0 && size.is_finite()) {
                return false;
            }
            let scale = inverse_power_of_two(size);
            self.col_scale[j] = scale;
            for value in column {
                *value *= scale;
            }
        }
        true
    }

    /// Replaces `b` by the solution. The matrix must have been found regular.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (value, scale) in b.iter_mut().zip(&self.row_scale) {
            *value *= scale;
        }
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap(k, pivot);
        }
        for k in 0..n {
            let factor = b[k];
            if factor != 0.0 {
                let multipliers = &self.lu[k * n + k + 1..(k + 1) * n];
                for (target, l) in b[k + 1..].iter_mut().zip(multipliers) {
                    *target -= l * factor;
                }
            }
        }
        for k in (0..n).rev() {
            let column = &self.lu[k * n..k * n + k + 1];
            let factor = b[k] / column[k];
            b[k] = factor;
            for (target, u) in b[..k].iter_mut().zip(column) {
                *target -= u * factor;
            }
        }
        for (value, scale) in b.iter_mut().zip(&self.col_scale) {
            *value *= scale;
        }
    }
}

/// A complex number; only what the LU needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    pub fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    fn times(self, other: Complex) -> Complex {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }

    fn minus(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }

    fn inverse(self) -> Complex {
        let d = self.re * self.re + self.im * self.im;
        Complex::new(self.re / d, -self.im / d)
    }

    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
}

/// LU factors of a square complex matrix with partial pivoting.
#[derive(Clone, Debug, Default)]
pub struct ComplexLu {
    n: usize,
    lu: Vec<Complex>,
    pivots: Vec<usize>,
}

impl ComplexLu {
    pub fn new(n: usize) -> ComplexLu {
        ComplexLu {
            n,
            lu: vec![Complex::default(); n * n],
            pivots: vec![0; n],
        }
    }

    /// The matrix to be factorised in place: fill it, then call [`ComplexLu::factor`].
    pub fn matrix_mut(&mut self) -> &mut [Complex] {
        &mut self.lu
    }

    /// False if a pivot is zero or not finite.
    pub fn factor(&mut self) -> bool {
        let n = self.n;
        for k in 0..n {
            let (pivot, size) = (k..n).fold((k, -1.0), |best, i| {
                let size = self.lu[k * n + i].size();
                if size > best.1 { (i, size) } else { best }
            });
            if !(size > 0.0 && size.is_finite()) {
                return false;
            }
            self.pivots[k] = pivot;
            if pivot != k {
                for j in 0..n {
                    self.lu.swap(j * n + k, j * n + pivot);
                }
            }
            let inverse = self.lu[k * n + k].inverse();
            for i in k + 1..n {
                self.lu[k * n + i] = self.lu[k * n + i].times(inverse);
            }
            let (left, right) = self.lu.split_at_mut((k + 1) * n);
            let multipliers = &left[k * n + k + 1..];
            for column in right.chunks_exact_mut(n) {
                let factor = column[k];
                if factor != Complex::default() {
                    for (target, l) in column[k + 1..].iter_mut().zip(multipliers) {
                        *target = target.minus(l.times(factor));
                    }
                }
            }
        }
        true
    }

    pub fn solve(&self, b: &mut [Complex]) {
        let n = self.n;
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap(k, pivot);
        }
        for k in 0..n {
            let factor = b[k];
            let multipliers = &self.lu[k * n + k + 1..(k + 1) * n];
            for (target, l) in b[k + 1..].iter_mut().zip(multipliers) {
                *target = target.minus(l.times(factor));
            }
        }
        for k in (0..n).rev() {
            let column = &self.lu[k * n..k * n + k + 1];
            let factor = b[k].times(column[k].inverse());
            b[k] = factor;
            for (target, u) in b[..k].iter_mut().zip(column) {
                *target = target.minus(u.times(factor));
            }
        }
    }
}

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
    let (rank, order) = pivoted_qr(&mut q, rows, cols, &mut c);
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
fn pivoted_qr(q: &mut [f64], rows: usize, cols: usize, c: &mut [f64]) -> (usize, Vec<usize>) {
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
        if size <= RANK_ULPS * rows.max(cols) as f64 * EPS * first || size == 0.0 {
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
