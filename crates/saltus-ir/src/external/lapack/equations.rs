//! Calls of LAPACK and BLAS for linear equations, least squares and their factors; the order of arguments stands above each.

use super::condition::{self, Norm};
use super::dense::{frobenius, max_abs, norm_infinity, norm_one, transposed};
use super::hessenberg::Side;
use super::{band, constrained, is, lu, orthogonal, square};
use crate::Value;
use crate::external::tables::Matrix;
use crate::external::{Args, Reply, integers, matrix_value, reals};

pub(super) fn call(name: &str, a: &Args) -> Result<Option<Reply>, String> {
    Ok(Some(match name {
        // n, nrhs, a, lda, ipiv, b, ldb, info
        "dgesv" => {
            let (mut m, mut b) = (a.matrix(2)?, a.matrix(5)?);
            square(name, &m)?;
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
            square(name, &m)?;
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
            square(name, &m)?;
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
                m = transposed(&m);
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
        // n, kl, ku, nrhs, ab, ldab, ipiv, b, ldb, info
        "dgbsv" => {
            let (mut m, mut b) = (a.matrix(4)?, a.matrix(7)?);
            let (lower, upper) = (a.size(1)?, a.size(2)?);
            if m.rows != 2 * lower + upper + 1 || b.rows != m.columns {
                return Err(format!(
                    "`{name}`: sizes of the band and the right-hand side do not agree"
                ));
            }
            let (pivots, info) = band::solve(&mut m, lower, upper, &mut b);
            Reply::written(vec![
                (4, a.shaped(4, &m)),
                (6, integers(&pivots)),
                (7, a.shaped(7, &b)),
                (9, Value::Integer(info)),
            ])
        }
        // n, nrhs, dl, d, du, b, ldb, info
        "dgtsv" => {
            let [sub, diagonal, above] = [2, 3, 4].map(|i| a.matrix(i).map(|m| m.data));
            let (sub, diagonal, above) = (sub?, diagonal?, above?);
            let mut b = a.matrix(5)?;
            let n = diagonal.len();
            if sub.len().min(above.len()) + 1 < n || b.rows != n {
                return Err(format!(
                    "`{name}`: sizes of the diagonals and the right-hand side do not agree"
                ));
            }
            let mut m = band::tridiagonal(&sub, &diagonal, &above);
            let (_, info) = band::solve(&mut m, 1, 1, &mut b);
            Reply::written(vec![(5, a.shaped(5, &b)), (7, Value::Integer(info))])
        }
        // norm, n, a, lda, anorm, rcond, work, iwork, info
        "dgecon" => {
            let factors = a.matrix(2)?;
            square(name, &factors)?;
            let norm = if is(a, 0, "i")? {
                Norm::Infinity
            } else {
                Norm::One
            };
            let rcond = condition::reciprocal(&factors, norm, a.real(4)?);
            Reply::written(vec![(5, Value::Real(rcond)), (8, Value::Integer(0))])
        }
        // fact, trans, n, nrhs, a, lda, af, ldaf, ipiv, equed, r, c, b, ldb, x, ldx, rcond, ferr, berr, work, iwork, info
        "dgesvx" => {
            let (m, b) = (a.matrix(4)?, a.matrix(12)?);
            square(name, &m)?;
            if !is(a, 0, "n")? || b.rows != m.rows {
                return Err(format!(
                    "`{name}` is here for `fact = \"N\"` and right-hand sides with as many rows as the matrix"
                ));
            }
            let transpose = !is(a, 1, "n")?;
            let mut factors = m.clone();
            let (pivots, singular) = lu::lu(&mut factors);
            let mut written = vec![(6, matrix_value(&factors)), (8, integers(&pivots))];
            if singular > 0 {
                written.extend([(16, Value::Real(0.0)), (21, Value::Integer(singular))]);
                return Ok(Some(Reply::written(written)));
            }
            let (norm, size) = if transpose {
                (Norm::Infinity, norm_infinity(&m))
            } else {
                (Norm::One, norm_one(&m))
            };
            let rcond = condition::reciprocal(&factors, norm, size);
            let (x, backward) = lu::solve_refined(&m, &factors, &pivots, &b, transpose);
            // Singular to working precision; the solution is there all the same.
            let info = if rcond < f64::EPSILON / 2.0 {
                m.rows as i64 + 1
            } else {
                0
            };
            written.extend([
                (14, a.shaped(14, &x)),
                (16, Value::Real(rcond)),
                (18, reals(&backward)),
                (21, Value::Integer(info)),
            ]);
            Reply::written(written)
        }
        // m, n, p, a, lda, b, ldb, c, d, x, work, lwork, info
        "dgglse" => {
            let (m, b) = (a.matrix(3)?, a.matrix(5)?);
            let (c, d) = (a.matrix(7)?.data, a.matrix(8)?.data);
            if b.columns != m.columns || c.len() != m.rows || d.len() != b.rows {
                return Err(format!(
                    "`{name}`: sizes of the matrices and the right-hand sides do not agree"
                ));
            }
            if b.rows > m.columns || m.columns > m.rows + b.rows {
                return Ok(Some(Reply::written(vec![(12, Value::Integer(-3))])));
            }
            match constrained::solve(&m, &c, &b, &d) {
                Ok(x) => Reply::written(vec![(9, reals(&x)), (12, Value::Integer(0))]),
                Err(why) => {
                    let info = match why {
                        constrained::Deficient::Constraints => 1,
                        constrained::Deficient::Together => 2,
                    };
                    Reply::written(vec![(12, Value::Integer(info))])
                }
            }
        }
        // side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info
        "dormqr" => {
            let (factors, tau, mut c) = (a.matrix(5)?, a.matrix(7)?.data, a.matrix(8)?);
            let side = side(a, 0)?;
            let length = if side == Side::Left {
                c.rows
            } else {
                c.columns
            };
            if factors.rows != length || tau.len() > factors.columns.min(length) {
                return Err(format!(
                    "`{name}`: sizes of the factors and the matrix do not agree"
                ));
            }
            orthogonal::apply_q(&factors, &tau, side, !is(a, 1, "n")?, &mut c);
            Reply::written(vec![(8, a.shaped(8, &c)), (12, Value::Integer(0))])
        }
        // jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork, info
        "dgesdd" => singular_values(a, 3, is(a, 0, "a")?, [5, 6, 8, 13])?,
        // jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, info
        "dgesvd" => singular_values(a, 4, is(a, 0, "a")?, [6, 7, 9, 13])?,
        // norm, m, n, a, lda, work
        "dlange" => {
            let m = a.matrix(3)?;
            let norm = a.text(0)?.to_ascii_lowercase();
            Reply::real(match norm.as_str() {
                "m" => max_abs(&m),
                "1" | "o" => norm_one(&m),
                "i" => norm_infinity(&m),
                "f" | "e" => frobenius(&m),
                _ => {
                    return Err(format!(
                        "`{name}`: there is no norm `{norm}`; \"M\", \"1\", \"I\" and \"F\" are known"
                    ));
                }
            })
        }
        // side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb
        "dtrsm" => {
            let (m, mut b) = (a.matrix(7)?, a.matrix(9)?);
            square(name, &m)?;
            let side = side(a, 0)?;
            let length = if side == Side::Left {
                b.rows
            } else {
                b.columns
            };
            if m.rows != length {
                return Err(format!("`{name}`: sizes of the matrices do not agree"));
            }
            let triangle = lu::Triangle {
                upper: is(a, 1, "u")?,
                transposed: !is(a, 2, "n")?,
                unit: is(a, 3, "u")?,
            };
            let alpha = a.real(6)?;
            b.data.iter_mut().for_each(|x| *x *= alpha);
            match side {
                Side::Left => lu::solve_triangular(&m, triangle, &mut b),
                // X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ.
                Side::Right => {
                    let mut turned = transposed(&b);
                    let other = lu::Triangle {
                        transposed: !triangle.transposed,
                        ..triangle
                    };
                    lu::solve_triangular(&m, other, &mut turned);
                    b = transposed(&turned);
                }
            }
            Reply::written(vec![(9, a.shaped(9, &b))])
        }
        // uplo, n, a, lda, info
        "dpotrf" => {
            let mut m = a.matrix(2)?;
            square(name, &m)?;
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

/// A = U·Σ·Vᵀ of argument `matrix`; `places` are those of Σ, U, Vᵀ and `info`.
fn singular_values(
    a: &Args,
    matrix: usize,
    vectors: bool,
    places: [usize; 4],
) -> Result<Reply, String> {
    let [sigma_at, u_at, v_at, info_at] = places;
    Ok(match orthogonal::svd(&a.matrix(matrix)?) {
        Some(orthogonal::Svd { u, sigma, v }) => {
            let mut written = vec![(sigma_at, reals(&sigma)), (info_at, Value::Integer(0))];
            if vectors {
                written.push((u_at, matrix_value(&u)));
                written.push((v_at, matrix_value(&transposed(&v))));
            }
            Reply::written(written)
        }
        None => Reply::written(vec![(info_at, Value::Integer(1))]),
    })
}

pub(super) fn side(a: &Args, i: usize) -> Result<Side, String> {
    Ok(if is(a, i, "r")? {
        Side::Right
    } else {
        Side::Left
    })
}
