//! Array functions and products on leaves (specification 10.3 and 10.6).

use super::{ELEMENTS_MAX, Result, ScalarError, Scalarizer, Shaped, Shared};
use crate::expr::{Builtin, Reduction};
use crate::types::Base;
use crate::{ExprId, expr::Expr};
use std::rc::Rc;

/// Largest exponent of a matrix power that is multiplied out.
const MATRIX_POWER_MAX: i64 = 64;

impl Scalarizer<'_> {
    /// The result of an array function, `None` if `op` works leaf by leaf.
    pub(super) fn array_builtin(
        &mut self,
        e: ExprId,
        op: Builtin,
        args: &[Shared],
    ) -> Result<Option<Shared>> {
        let result = match (op, args) {
            (Builtin::Size, [a]) => {
                let leaves: Vec<ExprId> =
                    a.dims.iter().map(|&n| self.ir.integer(n as i64)).collect();
                shaped(Base::Integer, vec![leaves.len()], leaves)
            }
            (Builtin::Size, [a, dim]) => {
                let k = self.constant(dim, "the dimension of `size`")?;
                let n = usize::try_from(k)
                    .ok()
                    .and_then(|k| a.dims.get(k.checked_sub(1)?))
                    .ok_or(ScalarError::IndexOutOfRange {
                        index: k,
                        size: a.dims.len(),
                    })?;
                let leaf = self.ir.integer(*n as i64);
                self.single(leaf)
            }
            (Builtin::Ndims, [a]) => {
                let leaf = self.ir.integer(a.dims.len() as i64);
                self.single(leaf)
            }
            (Builtin::Fill, [value, sizes @ ..]) => {
                let mut dims = sizes
                    .iter()
                    .map(|s| self.constant_size(s))
                    .collect::<Result<Vec<_>>>()?;
                let n = element_count(&dims)?;
                dims.extend_from_slice(&value.dims);
                let leaves = std::iter::repeat_n(&value.leaves, n)
                    .flatten()
                    .copied()
                    .collect();
                shaped(value.base, dims, leaves)
            }
            (Builtin::Transpose, [a]) => {
                let [rows, cols] = self.matrix(a, "transpose")?;
                let stride = a.leaves.len().checked_div(rows * cols).unwrap_or(0);
                let mut leaves = Vec::with_capacity(a.leaves.len());
                for j in 0..cols {
                    for i in 0..rows {
                        let at = (i * cols + j) * stride;
                        leaves.extend_from_slice(&a.leaves[at..at + stride]);
                    }
                }
                let mut dims = vec![cols, rows];
                dims.extend_from_slice(&a.dims[2..]);
                shaped(a.base, dims, leaves)
            }
            (Builtin::Cross, [a, b]) => {
                self.expect_dims(a, &[3], "cross")?;
                self.expect_dims(b, &[3], "cross")?;
                let (x, y) = (&a.leaves, &b.leaves);
                let mut minor = |i: usize, j: usize| {
                    let p = self.ir.mul(x[i], y[j]);
                    let q = self.ir.mul(x[j], y[i]);
                    self.ir.sub(p, q)
                };
                let leaves = vec![minor(1, 2), minor(2, 0), minor(0, 1)];
                self.numeric(vec![3], leaves)
            }
            (Builtin::Skew, [a]) => {
                self.expect_dims(a, &[3], "skew")?;
                let zero = self.ir.real(0.0);
                let [x, y, z] = [a.leaves[0], a.leaves[1], a.leaves[2]];
                let [nx, ny, nz] = [x, y, z].map(|v| self.ir.neg(v));
                self.numeric(vec![3, 3], vec![zero, nz, y, z, zero, nx, ny, x, zero])
            }
            (Builtin::Identity, [n]) => {
                let n = self.constant_size(n)?;
                element_count(&[n, n])?;
                let (zero, one) = (self.ir.integer(0), self.ir.integer(1));
                let leaves = (0..n * n)
                    .map(|k| if k / n == k % n { one } else { zero })
                    .collect();
                shaped(Base::Integer, vec![n, n], leaves)
            }
            (Builtin::Diagonal, [v]) => {
                self.expect_rank(v, 1, "diagonal")?;
                let n = v.leaves.len();
                element_count(&[n, n])?;
                let zero = if v.base == Base::Integer {
                    self.ir.integer(0)
                } else {
                    self.ir.real(0.0)
                };
                let leaves = (0..n * n)
                    .map(|k| {
                        if k / n == k % n {
                            v.leaves[k / n]
                        } else {
                            zero
                        }
                    })
                    .collect();
                shaped(v.base, vec![n, n], leaves)
            }
            (Builtin::OuterProduct, [a, b]) => {
                self.expect_rank(a, 1, "outerProduct")?;
                self.expect_rank(b, 1, "outerProduct")?;
                element_count(&[a.leaves.len(), b.leaves.len()])?;
                let mut leaves = Vec::with_capacity(a.leaves.len() * b.leaves.len());
                for &x in &a.leaves {
                    for &y in &b.leaves {
                        leaves.push(self.ir.mul(x, y));
                    }
                }
                self.numeric(vec![a.leaves.len(), b.leaves.len()], leaves)
            }
            (Builtin::Symmetric, [a]) => {
                let [rows, cols] = self.matrix(a, "symmetric")?;
                let leaves = (0..rows * cols)
                    .map(|k| {
                        let (i, j) = (k / cols, k % cols);
                        a.leaves[i.min(j) * cols + i.max(j)]
                    })
                    .collect();
                shaped(a.base, vec![rows, cols], leaves)
            }
            (Builtin::Linspace, [from, to, n]) => {
                let n = self.constant_size(n)?;
                let (from, to) = (
                    self.one_leaf(from, "linspace")?,
                    self.one_leaf(to, "linspace")?,
                );
                let span = self.ir.sub(to, from);
                let leaves = (0..n)
                    .map(|k| {
                        if k == 0 {
                            return from;
                        }
                        let factor = self.ir.real(k as f64);
                        let last = self.ir.real((n - 1) as f64);
                        let product = self.ir.mul(span, factor);
                        let shift = self.ir.div(product, last);
                        self.ir.add_(from, shift)
                    })
                    .collect();
                let real = shaped(Base::Real, vec![n], leaves);
                self.coerce(&real, Base::Real)
            }
            (Builtin::Cat, [axis, parts @ ..]) => {
                let axis = self.constant(axis, "the dimension of `cat`")?;
                self.cat(axis, parts)?
            }
            (Builtin::Sum, [a]) => self.reduced(e, Reduction::Sum, a),
            (Builtin::Product, [a]) => self.reduced(e, Reduction::Product, a),
            (Builtin::Min, [a]) => self.reduced(e, Reduction::Min, a),
            (Builtin::Max, [a]) => self.reduced(e, Reduction::Max, a),
            (Builtin::Scalar, [a]) => {
                if a.dims.iter().product::<usize>() != 1 {
                    return Err(ScalarError::ShapeMismatch {
                        what: "scalar",
                        left: a.dims.clone(),
                        right: vec![1],
                    });
                }
                shaped(a.base, vec![], a.leaves.clone())
            }
            (Builtin::Vector, [a]) => {
                let n = a.dims.iter().product();
                shaped(a.base, vec![n], a.leaves.clone())
            }
            (Builtin::Matrix, [a]) => {
                let dims = match a.dims.as_slice() {
                    [] => vec![1, 1],
                    [n] => vec![*n, 1],
                    [m, n, ..] => vec![*m, *n],
                };
                if dims.iter().product::<usize>() != a.dims.iter().product::<usize>() {
                    return Err(ScalarError::ShapeMismatch {
                        what: "matrix",
                        left: a.dims.clone(),
                        right: dims,
                    });
                }
                shaped(a.base, dims, a.leaves.clone())
            }
            (Builtin::Promote, [a, n]) => {
                let n = self.constant_size(n)?;
                let mut dims = a.dims.clone();
                dims.resize(dims.len().max(n), 1);
                shaped(a.base, dims, a.leaves.clone())
            }
            _ => return Ok(None),
        };
        Ok(Some(result))
    }

    pub(super) fn mat_mul(&mut self, a: &Shared, b: &Shared) -> Result<Shared> {
        let mismatch = || ScalarError::ShapeMismatch {
            what: "a product",
            left: a.dims.clone(),
            right: b.dims.clone(),
        };
        let (rows, inner, cols, dims) = match (a.dims.as_slice(), b.dims.as_slice()) {
            ([n], [m]) if n == m => (1, *n, 1, vec![]),
            ([r, n], [m]) if n == m => (*r, *n, 1, vec![*r]),
            ([n], [m, c]) if n == m => (1, *n, *c, vec![*c]),
            ([r, n], [m, c]) if n == m => (*r, *n, *c, vec![*r, *c]),
            _ => return Err(mismatch()),
        };
        element_count(&[rows, inner, cols])?;
        let base = if a.base == Base::Integer {
            b.base
        } else {
            a.base
        };
        let mut leaves = Vec::with_capacity(rows * cols);
        let mut terms = Vec::with_capacity(inner);
        for i in 0..rows {
            for j in 0..cols {
                terms.clear();
                for k in 0..inner {
                    terms.push(self.ir.mul(a.leaves[i * inner + k], b.leaves[k * cols + j]));
                }
                leaves.push(self.reduce(Reduction::Sum, base, &terms));
            }
        }
        Ok(shaped(base, dims, leaves))
    }

    pub(super) fn mat_pow(&mut self, a: &Shared, exponent: &Shared) -> Result<Shared> {
        let n = self.constant(exponent, "the exponent of a matrix")?;
        let [rows, cols] = self.matrix(a, "a matrix power")?;
        if rows != cols || !(0..=MATRIX_POWER_MAX).contains(&n) {
            return Err(ScalarError::ShapeMismatch {
                what: "a matrix power",
                left: a.dims.clone(),
                right: vec![],
            });
        }
        if n == 0 {
            let (zero, one) = (self.ir.real(0.0), self.ir.real(1.0));
            let leaves = (0..rows * rows)
                .map(|k| if k / rows == k % rows { one } else { zero })
                .collect();
            return Ok(shaped(Base::Real, vec![rows, rows], leaves));
        }
        let mut result = a.clone();
        for _ in 1..n {
            result = self.mat_mul(&result, a)?;
        }
        Ok(result)
    }

    fn cat(&mut self, axis: i64, parts: &[Shared]) -> Result<Shared> {
        let rank = parts.iter().map(|p| p.dims.len()).max().unwrap_or(0);
        let axis = usize::try_from(axis).ok().and_then(|a| a.checked_sub(1));
        let (Some(axis), Some(first)) = (axis, parts.first()) else {
            return Err(ScalarError::Unsupported("`cat`".into()));
        };
        let rank = rank.max(axis + 1);
        let promoted = |p: &Shaped| {
            let mut dims = p.dims.clone();
            dims.resize(rank, 1);
            dims
        };
        let mut dims = promoted(first);
        let mut base = first.base;
        let mut length = 0;
        for part in parts {
            let own = promoted(part);
            if (0..rank).any(|d| d != axis && own[d] != dims[d]) {
                return Err(ScalarError::ShapeMismatch {
                    what: "cat",
                    left: dims,
                    right: own,
                });
            }
            length += own[axis];
            if base == Base::Integer && part.base == Base::Real {
                base = Base::Real;
            }
        }
        dims[axis] = length;
        let outer: usize = dims[..axis].iter().product();
        let mut leaves = Vec::new();
        for o in 0..outer {
            for part in parts {
                let chunk = part.leaves.len() / outer;
                leaves.extend_from_slice(&part.leaves[o * chunk..(o + 1) * chunk]);
            }
        }
        Ok(self.coerced(Shaped { base, dims, leaves }, base))
    }

    fn reduced(&mut self, e: ExprId, op: Reduction, a: &Shared) -> Shared {
        let base = if a.leaves.is_empty() {
            self.ir.base(e)
        } else {
            a.base
        };
        let leaf = self.reduce(op, base, &a.leaves);
        self.single(leaf)
    }

    /// Leaves of an arithmetic result, Real if any of them is.
    fn numeric(&mut self, dims: Vec<usize>, leaves: Vec<ExprId>) -> Shared {
        let base = if leaves.iter().all(|&e| self.ir.base(e) == Base::Integer) {
            Base::Integer
        } else {
            Base::Real
        };
        self.coerced(Shaped { base, dims, leaves }, base)
    }

    fn constant(&mut self, a: &Shaped, what: &'static str) -> Result<i64> {
        let leaf = self.one_leaf(a, what)?;
        match *self.ir.expr(leaf) {
            Expr::Integer(i) => Ok(i),
            _ => Err(ScalarError::NotConstant(what)),
        }
    }

    fn constant_size(&mut self, a: &Shaped) -> Result<usize> {
        let n = self.constant(a, "a size")?;
        usize::try_from(n).map_err(|_| ScalarError::IndexOutOfRange { index: n, size: 0 })
    }

    fn matrix(&self, a: &Shaped, what: &'static str) -> Result<[usize; 2]> {
        match a.dims.as_slice() {
            [rows, cols, ..] => Ok([*rows, *cols]),
            _ => Err(ScalarError::ShapeMismatch {
                what,
                left: a.dims.clone(),
                right: vec![0, 0],
            }),
        }
    }

    fn expect_rank(&self, a: &Shaped, rank: usize, what: &'static str) -> Result<()> {
        if a.dims.len() == rank {
            Ok(())
        } else {
            Err(ScalarError::ShapeMismatch {
                what,
                left: a.dims.clone(),
                right: vec![0; rank],
            })
        }
    }

    fn expect_dims(&self, a: &Shaped, dims: &[usize], what: &'static str) -> Result<()> {
        if a.dims == dims {
            Ok(())
        } else {
            Err(ScalarError::ShapeMismatch {
                what,
                left: a.dims.clone(),
                right: dims.to_vec(),
            })
        }
    }
}

fn shaped(base: Base, dims: Vec<usize>, leaves: Vec<ExprId>) -> Shared {
    Rc::new(Shaped { base, dims, leaves })
}

/// The product of the sizes, if it is within [`ELEMENTS_MAX`].
fn element_count(dims: &[usize]) -> Result<usize> {
    let n = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    n.filter(|&n| n <= ELEMENTS_MAX)
        .ok_or(ScalarError::TooLarge)
}
