//! The routines of LAPACK and BLAS that `Modelica.Math.Matrices` calls: arguments as in Fortran, algorithms of our own.
//!
//! Comes in: name and arguments of a call. Goes out: what the routine writes, `info` among it as LAPACK defines it (LAPACK Users' Guide). Matrices are
//! values of the language, row by row; leading dimensions and work space are not looked at.

mod balance;
mod band;
mod complex;
mod condition;
mod constrained;
mod dense;
mod equations;
mod hessenberg;
mod lu;
mod orthogonal;
mod pencil;
#[cfg(test)]
mod properties;
mod reorder;
mod schur;
mod spectral;
mod sylvester;
#[cfg(test)]
mod tests;
mod vectors;

use super::tables::Matrix;
use super::{Args, Reply};

/// The eigenvalues of a square matrix, row by row, as real and imaginary parts; `None`: the iteration has not come to an end.
pub fn eigenvalues(rows: &[Vec<f64>]) -> Option<Vec<(f64, f64)>> {
    spectral::eigenvalues(&matrix(rows))
}

/// The eigenvalues α/β of a pencil A - λB of square matrices: real and imaginary part of α, and β.
pub fn pencil_eigenvalues(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Vec<((f64, f64), f64)>> {
    spectral::pencil_eigenvalues(&matrix(a), &matrix(b))
}

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix {
        rows: rows.len(),
        columns: rows.first().map_or(0, Vec::len),
        data: rows.concat(),
    }
}

/// Calls a routine if it is one of those here.
pub(super) fn call(name: &str, a: &Args) -> Result<Option<Reply>, String> {
    match equations::call(name, a)? {
        Some(reply) => Ok(Some(reply)),
        None => spectral::call(name, a),
    }
}

fn square(name: &str, m: &Matrix) -> Result<(), String> {
    if m.rows == m.columns {
        return Ok(());
    }
    Err(format!(
        "`{name}` needs a square matrix, not {}·{}",
        m.rows, m.columns
    ))
}

/// Whether an argument that is a letter is this one.
fn is(a: &Args, i: usize, letter: &str) -> Result<bool, String> {
    a.text(i).map(|text| text.eq_ignore_ascii_case(letter))
}
