//! Defining equations of the factorisations, and calls as the library makes them.

use super::*;
use crate::external::tests::{matrix, noise, string};
use crate::external::{NoHost, Objects};
use std::sync::Arc;

#[test]
fn linear_equations() {
    let mut objects = Objects::new(Arc::new(NoHost));
    let a = Value::array(vec![2, 2], [0.0, 2.0, 4.0, 1.0].map(Value::Real).to_vec());
    let b = reals(&[2.0, 9.0]);
    let n = Value::Integer(2);
    let args = [
        n.clone(),
        Value::Integer(1),
        a.clone(),
        n.clone(),
        integers(&[0, 0]),
        b.clone(),
        n.clone(),
        Value::Integer(0),
    ];
    let reply = objects.invoke("dgesv", &args).unwrap();
    assert_eq!(reply.written[2], (5, reals(&[2.0, 1.0])));
    assert_eq!(reply.written[3], (7, Value::Integer(0)));
    let reply = objects
        .invoke(
            "dgetrf",
            &[
                n.clone(),
                n.clone(),
                a,
                n.clone(),
                integers(&[0, 0]),
                Value::Integer(0),
            ],
        )
        .unwrap();
    let (lu, pivots) = (reply.written[0].1.clone(), reply.written[1].1.clone());
    let args = [
        string("T"),
        n.clone(),
        Value::Integer(1),
        lu,
        n.clone(),
        pivots,
        b,
        n,
        Value::Integer(0),
    ];
    let reply = objects.invoke("dgetrs_", &args).unwrap();
    // Aᵀ·x = b: 4·x₂ = 2, 2·x₁ + x₂ = 9.
    assert_eq!(reply.written[0], (6, reals(&[4.25, 0.5])));
    assert!(
        objects
            .invoke("dgeev", &[])
            .unwrap_err()
            .contains("`dgeev`")
    );
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut data = vec![0.0; a.rows * b.columns];
    for i in 0..a.rows {
        for j in 0..b.columns {
            data[i * b.columns + j] = (0..a.columns).map(|k| a.at(i, k) * b.at(k, j)).sum();
        }
    }
    matrix(b.columns, &data)
}

fn assert_close(a: &Matrix, b: &Matrix, tolerance: f64) {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns));
    for (x, y) in a.data.iter().zip(&b.data) {
        assert!((x - y).abs() < tolerance, "{a:?}\n{b:?}");
    }
}

#[test]
fn least_squares_meets_the_normal_equations_with_the_least_norm() {
    for (case, (m, n, rank)) in [
        (6, 3, 3),
        (3, 6, 3),
        (5, 5, 5),
        (6, 5, 2),
        (4, 7, 3),
        (5, 1, 1),
    ]
    .into_iter()
    .enumerate()
    {
        // A product of factors of this rank.
        let left = matrix(rank, &noise(m * rank, case as u64 + 1));
        let right = matrix(n, &noise(rank * n, case as u64 + 50));
        let a = product(&left, &right);
        let b = matrix(2, &noise(2 * m, case as u64 + 99));
        let (x, found) = orthogonal::least_squares(&a, &b, 1e-10);
        assert_eq!(found, rank);
        // Aᵀ(A·x - b) = 0, and x is in the row space of A: x = V·Vᵀ·x with the right singular vectors.
        let ax = product(&a, &x);
        let rest: Vec<f64> = ax.data.iter().zip(&b.data).map(|(p, q)| p - q).collect();
        let normal = product(&orthogonal::transposed(&a), &matrix(2, &rest));
        assert_close(&normal, &matrix(2, &vec![0.0; 2 * n]), 1e-12);
        let orthogonal::Svd { u, sigma, v } = orthogonal::svd(&a).unwrap();
        let mut kept = v.clone();
        for i in 0..n {
            for k in rank..n {
                kept.data[i * n + k] = 0.0;
            }
        }
        let projector = product(&kept, &orthogonal::transposed(&kept));
        assert_close(&product(&projector, &x), &x, 1e-11);
        // A = U·Σ·Vᵀ with orthogonal U and V.
        let mut s = matrix(n, &vec![0.0; m * n]);
        for (k, value) in sigma.iter().enumerate() {
            s.data[k * n + k] = *value;
        }
        assert_close(
            &product(&product(&u, &s), &orthogonal::transposed(&v)),
            &a,
            1e-13,
        );
        for q in [u, v] {
            let eye = product(&orthogonal::transposed(&q), &q);
            for i in 0..q.rows {
                for j in 0..q.rows {
                    let exact = f64::from(u8::from(i == j));
                    assert!((eye.at(i, j) - exact).abs() < 1e-12, "{m}·{n}");
                }
            }
        }
    }
}

#[test]
fn qr_factors_multiply_to_the_matrix() {
    for (m, n) in [(5, 3), (3, 5), (4, 4)] {
        let a = matrix(n, &noise(m * n, 7));
        for pivoting in [false, true] {
            let orthogonal::Qr {
                factors,
                tau,
                order,
            } = orthogonal::qr(&a, pivoting);
            let mut r = matrix(n, &vec![0.0; m * n]);
            for i in 0..m {
                for j in i..n {
                    r.data[i * n + j] = factors.at(i, j);
                }
            }
            let q = orthogonal::q(&factors, &tau, m);
            let mut permuted = a.clone();
            for i in 0..m {
                for (j, from) in order.iter().enumerate() {
                    permuted.data[i * n + j] = a.at(i, *from);
                }
            }
            assert_close(&product(&q, &r), &permuted, 1e-14);
            let diagonal: Vec<f64> = (0..m.min(n)).map(|k| factors.at(k, k).abs()).collect();
            assert!(!pivoting || diagonal.is_sorted_by(|a, b| a >= b));
        }
    }
}

#[test]
fn least_squares_as_the_library_calls_it() {
    let mut objects = Objects::new(Arc::new(NoHost));
    // The straight line through (0, 1), (1, 3), (2, 5).
    let args = [
        Value::Integer(3),
        Value::Integer(2),
        Value::Integer(1),
        matrix_value(&matrix(2, &[1.0, 0.0, 1.0, 1.0, 1.0, 2.0])),
        Value::Integer(3),
        reals(&[1.0, 3.0, 5.0]),
        Value::Integer(3),
        integers(&[0, 0]),
        Value::Real(0.0),
        Value::Integer(0),
        reals(&[0.0; 20]),
        Value::Integer(20),
        Value::Integer(-1),
    ];
    let reply = objects.invoke("dgelsy", &args).unwrap();
    let at = |i: usize| {
        reply
            .written
            .iter()
            .find(|(k, _)| *k == i)
            .unwrap()
            .1
            .clone()
    };
    let Value::Array(x) = at(5) else { panic!() };
    assert!((x.elems[0].as_f64().unwrap() - 1.0).abs() < 1e-14);
    assert!((x.elems[1].as_f64().unwrap() - 2.0).abs() < 1e-14);
    assert_eq!((at(9), at(12)), (Value::Integer(2), Value::Integer(0)));
}

#[test]
fn a_cholesky_factor_gives_the_matrix_back() {
    let b = matrix(4, &noise(16, 3));
    let mut a = product(&orthogonal::transposed(&b), &b);
    for i in 0..4 {
        a.data[5 * i] += 0.1;
    }
    for upper in [true, false] {
        let mut f = a.clone();
        assert_eq!(lu::cholesky(&mut f, upper), 0);
        for i in 0..4 {
            for j in 0..4 {
                if (j < i) == upper && i != j {
                    f.data[4 * i + j] = 0.0;
                }
            }
        }
        let t = orthogonal::transposed(&f);
        let back = if upper {
            product(&t, &f)
        } else {
            product(&f, &t)
        };
        assert_close(&back, &a, 1e-14);
    }
    assert_eq!(lu::cholesky(&mut matrix(2, &[1.0, 2.0, 2.0, 1.0]), true), 2);
}
