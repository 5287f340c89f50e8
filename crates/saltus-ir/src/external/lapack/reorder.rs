//! Reordering of a real Schur form: chosen eigenvalues first (Bai and Demmel, On swapping diagonal blocks in real Schur form, 1993).
//!
//! Two neighbouring blocks change places by an orthogonal transformation whose first columns span the invariant subspace of the second: [-X; I] with
//! T₁₁·X - X·T₂₂ = T₁₂. A swap that would leave more than round-off below the diagonal is refused: the eigenvalues are too close.

use super::condition::norm_one_of;
use super::dense::{Reflection, Rotation, frobenius, max_abs, part, zeros};
use super::schur::{blocks, standardise};
use super::sylvester::{self, solve_small};
use crate::external::tables::Matrix;
use std::ops::Range;

/// What a swap may leave below the diagonal, in units of round-off of the largest element (as in LAPACK).
const LEFT_BELOW_MAX: f64 = 10.0;

/// The eigenvalues are too close to change places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooClose;

/// Moves the chosen eigenvalues to the top; of a pair one chosen is both. Returns how many there are.
pub(super) fn select(
    t: &mut Matrix,
    mut q: Option<&mut Matrix>,
    chosen: &[bool],
) -> Result<usize, TooClose> {
    let wanted: Vec<Range<usize>> = (blocks(t).into_iter())
        .filter(|rows| rows.clone().any(|k| chosen[k]))
        .collect();
    let mut top = 0;
    for rows in wanted {
        let size = rows.len();
        move_up(t, q.as_deref_mut(), rows, top)?;
        top += size;
    }
    Ok(top)
}

/// Moves a block up until its first row is `top`, which begins a block.
fn move_up(
    t: &mut Matrix,
    mut q: Option<&mut Matrix>,
    rows: Range<usize>,
    top: usize,
) -> Result<(), TooClose> {
    let Range { mut start, end } = rows;
    let size = end - start;
    while start > top {
        let above = if start >= top + 2 && t.at(start - 1, start - 2) != 0.0 {
            2
        } else {
            1
        };
        swap(t, q.as_deref_mut(), start - above, above, size)?;
        start -= above;
        // A pair that round-off has made real goes on as two.
        if size == 2 && t.at(start + 1, start) == 0.0 && start > top {
            move_up(t, q.as_deref_mut(), start..start + 1, top)?;
            return move_up(t, q, start + 1..start + 2, top + 1);
        }
    }
    Ok(())
}

/// Exchanges the block of p rows at k with that of r rows after it.
fn swap(
    t: &mut Matrix,
    mut q: Option<&mut Matrix>,
    k: usize,
    p: usize,
    r: usize,
) -> Result<(), TooClose> {
    let n = t.rows;
    if p == 1 && r == 1 {
        let (a, d) = (t.at(k, k), t.at(k + 1, k + 1));
        let (rotation, _) = Rotation::onto_first(t.at(k, k + 1), d - a);
        rotation.rows(t, k, k + 1, k..n);
        rotation.columns(t, k, k + 1, 0..k + 2);
        if let Some(q) = q {
            let all = 0..q.rows;
            rotation.columns(q, k, k + 1, all);
        }
        (t[(k, k)], t[(k + 1, k + 1)], t[(k + 1, k)]) = (d, a, 0.0);
        return Ok(());
    }
    let end = k + p + r;
    let both = part(t, k..end, k..end);
    let basis = invariant(&both, p);
    let reflections = triangularise(basis);
    let mut trial = both.clone();
    for (first, reflection) in &reflections {
        reflection.rows(&mut trial, *first, 0..p + r);
        reflection.columns(&mut trial, *first, 0..p + r);
    }
    let left = max_abs(&part(&trial, r..p + r, 0..r));
    if left > LEFT_BELOW_MAX * f64::EPSILON * max_abs(&both) {
        return Err(TooClose);
    }
    for (first, reflection) in &reflections {
        reflection.rows(t, k + first, k..n);
        reflection.columns(t, k + first, 0..end);
        if let Some(q) = q.as_deref_mut() {
            let all = 0..q.rows;
            reflection.columns(q, k + first, all);
        }
    }
    for i in k + r..end {
        for j in k..k + r {
            t[(i, j)] = 0.0;
        }
    }
    for (start, size) in [(k, r), (k + r, p)] {
        if size == 2 {
            standardise(t, q.as_deref_mut(), start);
        }
    }
    Ok(())
}

/// [-X; I] of two blocks, the first of p rows; scaled where X is large.
fn invariant(both: &Matrix, p: usize) -> Matrix {
    let n = both.rows;
    let r = n - p;
    let mut system = zeros(p * r, p * r);
    let mut x = vec![0.0; p * r];
    for i in 0..p {
        for j in 0..r {
            let at = i * r + j;
            x[at] = both.at(i, p + j);
            for m in 0..p {
                system[(at, m * r + j)] += both.at(i, m);
            }
            for m in 0..r {
                system[(at, i * r + m)] -= both.at(p + m, p + j);
            }
        }
    }
    let least = (f64::EPSILON * max_abs(both)).max(f64::MIN_POSITIVE / f64::EPSILON);
    let (scale, _) = solve_small(&mut system, &mut x, least);
    let mut out = zeros(n, r);
    for j in 0..r {
        for i in 0..p {
            out[(i, j)] = -x[i * r + j];
        }
        out[(p + j, j)] = scale;
    }
    out
}

/// The reflections that make a matrix of full rank triangular, with their first rows.
fn triangularise(mut a: Matrix) -> Vec<(usize, Reflection)> {
    let (m, n) = (a.rows, a.columns);
    let mut out = Vec::new();
    for k in 0..n {
        let column: Vec<f64> = (k..m).map(|i| a.at(i, k)).collect();
        let (reflection, _) = Reflection::onto_first(&column);
        reflection.rows(&mut a, k, k..n);
        out.push((k, reflection));
    }
    out
}

/// Condition of the first m eigenvalues together, and of their invariant subspace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Conditions {
    /// 1/√(1 + ‖X‖²): a lower bound for the reciprocal condition number of their mean.
    pub(super) s: f64,
    /// Separation from the others, estimated.
    pub(super) sep: f64,
}

/// T₁₁·X - X·T₂₂ = T₁₂ says how well the two parts are separated (LAPACK Users' Guide, 4.8).
pub(super) fn conditions(t: &Matrix, m: usize) -> Conditions {
    let n = t.rows;
    if m == 0 || m == n {
        let sum = (0..n).map(|j| (0..n).map(|i| t.at(i, j).abs()).sum::<f64>());
        return Conditions {
            s: 1.0,
            sep: sum.fold(0.0, f64::max),
        };
    }
    let (first, second) = (part(t, 0..m, 0..m), part(t, m..n, m..n));
    let solution = sylvester::solve(&first, false, &second, false, -1.0, &part(t, 0..m, m..n));
    let x = frobenius(&solution.x);
    let s = if x == 0.0 {
        1.0
    } else {
        // The scale stands in the hypotenuse, so that X itself need not be representable.
        solution.scale / solution.scale.hypot(x)
    };
    let solve = |v: &mut [f64], transposed: bool| {
        let c = Matrix {
            rows: m,
            columns: n - m,
            data: v.to_vec(),
        };
        let solved = sylvester::solve(&first, transposed, &second, transposed, -1.0, &c);
        for (v, x) in v.iter_mut().zip(&solved.x.data) {
            *v = x / solved.scale;
        }
    };
    let inverse = norm_one_of(m * (n - m), |v| solve(v, false), |v| solve(v, true));
    Conditions {
        s,
        sep: 1.0 / inverse,
    }
}
