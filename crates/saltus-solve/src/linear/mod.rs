//! The one door for linear solves.
//!
//! [`Lu`] takes the values of a square matrix on a [`Pattern`] and factorises and solves, real or complex. Behind it: a dense LU
//! for small or full matrices, and for the others a sparse one whose first factorisation chooses order and pivots, and whose later
//! ones reuse both as long as the growth of the elements says that they are good. [`min_norm`] is for systems without full rank.

mod dense;
mod matching;
mod min_norm;
mod pattern;
mod scalar;
mod sparse;

pub use dense::DenseLu;
pub use min_norm::{MinNorm, min_norm, min_norm_in_metric};
pub use pattern::Pattern;
pub use scalar::{Complex, Scalar};
pub use sparse::{SparseLu, SparseStatistics};

/// Up to this size a dense factorisation, whatever the pattern. Measured (`examples/linear_speed`): repeated sparse ones are
/// faster from n = 8 on (0.2 to 0.3 µs against 0.3 to 0.4; at n = 16 0.4 to 0.7 against 1.0; at n = 24 0.6 to 1.4 against 2.1 to 2.4), the
/// first one is not (16 µs at n = 16). Below this border the time is not felt, and the largest pivot is taken every time.
pub const DENSE_MAX: usize = 16;

/// Above this share of entries a dense factorisation is faster.
const DENSE_SHARE: f64 = 0.3;

/// LU factors of a square matrix with a fixed pattern. Storage is kept between factorisations.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Lu<T> {
    kind: Kind<T>,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Kind<T> {
    /// With the place of each entry of the pattern, unless the pattern is full.
    Dense(DenseLu<T>, Option<Box<Pattern>>),
    Sparse(Box<SparseLu<T>>),
}

impl<T: Scalar> Lu<T> {
    pub fn new(pattern: &Pattern) -> Lu<T> {
        let n = pattern.n();
        let dense = n <= DENSE_MAX || pattern.len() as f64 > DENSE_SHARE * (n * n) as f64;
        let kind = if dense {
            let sparse = !pattern.is_full();
            Kind::Dense(DenseLu::new(n), sparse.then(|| Box::new(pattern.clone())))
        } else {
            Kind::Sparse(Box::new(SparseLu::new(pattern)))
        };
        Lu { kind }
    }

    /// Factorises the matrix with these values, in the order of the pattern. False if it is singular to working precision or not
    /// finite.
    pub fn factor(&mut self, values: &[T]) -> bool {
        match &mut self.kind {
            Kind::Dense(lu, None) => lu.factor(values),
            Kind::Dense(lu, Some(pattern)) => lu.factor_on(pattern, values),
            Kind::Sparse(lu) => lu.factor(values),
        }
    }

    /// Replaces `b` by the solution. The matrix must have been found regular.
    pub fn solve(&mut self, b: &mut [T]) {
        match &mut self.kind {
            Kind::Dense(lu, _) => lu.solve(b),
            Kind::Sparse(lu) => lu.solve(b),
        }
    }
}
