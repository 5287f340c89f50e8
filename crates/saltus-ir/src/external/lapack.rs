//! The routines of LAPACK and BLAS that `Modelica.Math.Matrices` calls: arguments as in Fortran, algorithms of our own.
//!
//! Comes in: name and arguments of a call. Goes out: what the routine writes, `info` among it as LAPACK defines it (LAPACK Users' Guide). Matrices are
//! values of the language, row by row; leading dimensions and work space are not looked at.

pub mod lu;
pub mod orthogonal;
#[cfg(test)]
mod tests;

use super::tables::Matrix;
use super::{Args, Reply, integers, matrix_value, reals};
use crate::Value;

/// Solvers of LAPACK, arguments as in Fortran.
pub(super) fn call(name: &str, a: &Args) -> Result<Option<Reply>, String> {
    let square = |m: &Matrix| {
        if m.rows == m.columns {
            Ok(())
        } else {
            Err(format!(
                "`{name}` needs a square matrix, not {}·{}",
                m.rows, m.columns
            ))
        }
    };
    Ok(Some(match name {
        // n, nrhs, a, lda, ipiv, b, ldb, info
        "dgesv" => {
            let (mut m, mut b) = (a.matrix(2)?, a.matrix(5)?);
            square(&m)?;
            if b.rows != m.rows {
                return Err(format!(
                    "`{name}`: {} equations with {} right-hand sides",
                    m.rows, b.rows
                ));
            }
            let (pivots, info) = lu::lu(&mut m);
            if info == 0 {
                lu::solve(&m, &pivots, &mut b, false);
            }
            Reply::written(vec![
                (2, a.shaped(2, &m)),
                (4, integers(&pivots)),
                (5, a.shaped(5, &b)),
                (7, Value::Integer(info)),
            ])
        }
        // m, n, a, lda, ipiv, info
        "dgetrf" => {
            let mut m = a.matrix(2)?;
            let (pivots, info) = lu::lu(&mut m);
            Reply::written(vec![
                (2, a.shaped(2, &m)),
                (4, integers(&pivots)),
                (5, Value::Integer(info)),
            ])
        }
        // trans, n, nrhs, a, lda, ipiv, b, ldb, info
        "dgetrs" => {
            let (m, mut b) = (a.matrix(3)?, a.matrix(6)?);
            square(&m)?;
            let pivots = a.integers(5)?;
            if pivots.len() < m.rows || b.rows != m.rows {
                return Err(format!(
                    "`{name}`: sizes of the factors, pivots and right-hand side do not agree"
                ));
            }
            let transposed = !a.text(0)?.eq_ignore_ascii_case("n");
            lu::solve(&m, &pivots, &mut b, transposed);
            Reply::written(vec![(6, a.shaped(6, &b)), (8, Value::Integer(0))])
        }
        // n, a, lda, ipiv, work, lwork, info
        "dgetri" => {
            let m = a.matrix(1)?;
            square(&m)?;
            let pivots = a.integers(3)?;
            if pivots.len() < m.rows {
                return Err(format!("`{name}`: too few pivots"));
            }
            let zero = (0..m.rows).find(|&i| m.at(i, i) == 0.0);
            match zero {
                Some(i) => Reply::written(vec![(6, Value::Integer(i as i64 + 1))]),
                None => {
                    let inverse = lu::inverse(&m, &pivots);
                    Reply::written(vec![(1, a.shaped(1, &inverse)), (6, Value::Integer(0))])
                }
            }
        }
        // m, n, nrhs, a, lda, x, ldx, jpvt, rcond, rank, work, lwork, info
        "dgelsy" => {
            let (m, x) = (a.matrix(3)?, a.matrix(5)?);
            let (solution, rank) = orthogonal::least_squares(&m, &top(&x, m.rows)?, a.real(8)?);
            Reply::written(vec![
                (5, a.shaped(5, &padded(solution, x.rows))),
                (9, Value::Integer(rank as i64)),
                (12, Value::Integer(0)),
            ])
        }
        // trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info
        "dgels" => {
            let (mut m, x) = (a.matrix(4)?, a.matrix(6)?);
            if !a.text(0)?.eq_ignore_ascii_case("n") {
                m = orthogonal::transposed(&m);
            }
            let (solution, rank) = orthogonal::least_squares(&m, &top(&x, m.rows)?, 0.0);
            // The routine is for full rank only; `info` is the diagonal element that is zero.
            let missing = rank < m.rows.min(m.columns);
            let info = if missing { rank as i64 + 1 } else { 0 };
            Reply::written(vec![
                (6, a.shaped(6, &padded(solution, x.rows))),
                (10, Value::Integer(info)),
            ])
        }
        // m, n, a, lda, jpvt, tau, work, lwork, info
        "dgeqp3" => {
            let orthogonal::Qr {
                factors,
                tau,
                order,
            } = orthogonal::qr(&a.matrix(2)?, true);
            let order: Vec<i64> = order.iter().map(|j| *j as i64 + 1).collect();
            Reply::written(vec![
                (2, a.shaped(2, &factors)),
                (4, integers(&order)),
                (5, reals(&tau)),
                (8, Value::Integer(0)),
            ])
        }
        // m, n, a, lda, tau, work, lwork, info
        "dgeqrf" => {
            let orthogonal::Qr { factors, tau, .. } = orthogonal::qr(&a.matrix(2)?, false);
            Reply::written(vec![
                (2, a.shaped(2, &factors)),
                (4, reals(&tau)),
                (7, Value::Integer(0)),
            ])
        }
        // m, n, k, a, lda, tau, work, lwork, info
        "dorgqr" => {
            let (m, tau) = (a.matrix(3)?, a.matrix(5)?.data);
            if tau.len() > m.rows.min(m.columns) {
                return Err(format!("`{name}`: more reflections than columns"));
            }
            let q = orthogonal::q(&m, &tau, m.columns);
            Reply::written(vec![(3, a.shaped(3, &q)), (8, Value::Integer(0))])
        }
        // jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, info
        "dgesvd" => match orthogonal::svd(&a.matrix(4)?) {
            Some(orthogonal::Svd { u, sigma, v }) => {
                let mut written = vec![(6, reals(&sigma)), (13, Value::Integer(0))];
                if a.text(0)?.eq_ignore_ascii_case("a") {
                    written.push((7, matrix_value(&u)));
                    written.push((9, matrix_value(&orthogonal::transposed(&v))));
                }
                Reply::written(written)
            }
            None => Reply::written(vec![(13, Value::Integer(1))]),
        },
        // uplo, n, a, lda, info
        "dpotrf" => {
            let mut m = a.matrix(2)?;
            square(&m)?;
            let info = lu::cholesky(&mut m, a.text(0)?.eq_ignore_ascii_case("u"));
            Reply::written(vec![(2, a.shaped(2, &m)), (4, Value::Integer(info))])
        }
        _ => return Ok(None),
    }))
}

/// The first rows of a right-hand side that also has room for the solution.
fn top(b: &Matrix, rows: usize) -> Result<Matrix, String> {
    if b.rows < rows {
        return Err(format!(
            "{rows} equations with right-hand sides of {} rows",
            b.rows
        ));
    }
    Ok(Matrix {
        rows,
        columns: b.columns,
        data: b.data[..rows * b.columns].to_vec(),
    })
}

/// A solution in as many rows as there is room for.
fn padded(mut x: Matrix, rows: usize) -> Matrix {
    x.data.resize(rows * x.columns, 0.0);
    x.rows = rows;
    x
}
