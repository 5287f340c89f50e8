//! Defining equations of the factorisations, and calls as the library makes them.

use super::dense::{product, transposed};
use super::*;
use crate::Value;
use crate::external::tests::{matrix, noise, string};
use crate::external::{NoHost, Objects};
use crate::external::{integers, matrix_value, reals};
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
        let normal = product(&transposed(&a), &matrix(2, &rest));
        assert_close(&normal, &matrix(2, &vec![0.0; 2 * n]), 1e-12);
        let orthogonal::Svd { u, sigma, v } = orthogonal::svd(&a).unwrap();
        let mut kept = v.clone();
        for i in 0..n {
            for k in rank..n {
                kept.data[i * n + k] = 0.0;
            }
        }
        let projector = product(&kept, &transposed(&kept));
        assert_close(&product(&projector, &x), &x, 1e-11);
        // A = U·Σ·Vᵀ with orthogonal U and V.
        let mut s = matrix(n, &vec![0.0; m * n]);
        for (k, value) in sigma.iter().enumerate() {
            s.data[k * n + k] = *value;
        }
        assert_close(&product(&product(&u, &s), &transposed(&v)), &a, 1e-13);
        for q in [u, v] {
            let eye = product(&transposed(&q), &q);
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
    let mut a = product(&transposed(&b), &b);
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
        let t = transposed(&f);
        let back = if upper {
            product(&t, &f)
        } else {
            product(&f, &t)
        };
        assert_close(&back, &a, 1e-14);
    }
    assert_eq!(lu::cholesky(&mut matrix(2, &[1.0, 2.0, 2.0, 1.0]), true), 2);
}

/// Eigenvalues by the call of the library.
fn eigenvalues(n: usize, data: &[f64]) -> Vec<(f64, f64)> {
    let mut objects = Objects::new(Arc::new(NoHost));
    let (size, room) = (Value::Integer(n as i64), reals(&vec![0.0; n]));
    let m = matrix_value(&matrix(n, data));
    let none = Value::Integer(0);
    let args = [
        string("N"),
        string("N"),
        size.clone(),
        m.clone(),
        size.clone(),
        room.clone(),
        room,
        m.clone(),
        size.clone(),
        m,
        size,
        none.clone(),
        none.clone(),
        none,
    ];
    let reply = objects.invoke("dgeev", &args).unwrap();
    let written = |at: usize| {
        let found = reply.written.iter().find(|(i, _)| *i == at);
        found.map(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(written(13), Value::Integer(0));
    let numbers = |value: Value| match value {
        Value::Array(a) => a.elems.iter().filter_map(Value::as_f64).collect::<Vec<_>>(),
        _ => panic!("an array"),
    };
    let mut both: Vec<(f64, f64)> = numbers(written(5))
        .into_iter()
        .zip(numbers(written(6)))
        .collect();
    both.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    both
}

#[test]
fn eigenvalues_known_by_hand() {
    assert_eq!(eigenvalues(1, &[-3.0]), [(-3.0, 0.0)]);
    assert_eq!(eigenvalues(3, &[0.0; 9]), [(0.0, 0.0); 3]);
    // A rotation by a right angle, and a Jordan block, whose double eigenvalue balancing keeps exact.
    assert_eq!(
        eigenvalues(2, &[0.0, -4.0, 4.0, 0.0]),
        [(0.0, -4.0), (0.0, 4.0)]
    );
    assert_eq!(eigenvalues(2, &[5.0, 1.0, 0.0, 5.0]), [(5.0, 0.0); 2]);
    // Numbers whose squares overflow or vanish.
    for size in [1e300, 1e-300] {
        let found = eigenvalues(2, &[2.0 * size, size, size, 2.0 * size]);
        for ((re, im), expected) in found.iter().zip([1.0, 3.0]) {
            assert!(
                (re / size - expected).abs() < 1e-14 && *im == 0.0,
                "{found:?}"
            );
        }
    }
    // The companion matrix of (x - 1)·(x - 2)·(x - 3)·(x - 4).
    let companion = [
        10.0, -35.0, 50.0, -24.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0,
    ];
    for ((re, im), expected) in eigenvalues(4, &companion).iter().zip([1.0, 2.0, 3.0, 4.0]) {
        assert!((re - expected).abs() < 1e-11 && *im == 0.0);
    }
    // A permutation of four: the fourth roots of 1, where shifts alone would go in circles.
    let ring = [
        0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0,
    ];
    let expected = [(-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, 0.0)];
    let mut found = eigenvalues(4, &ring);
    found
        .iter_mut()
        .for_each(|(re, _)| *re = if re.abs() < 1e-15 { 0.0 } else { *re });
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a.0 - b.0).abs() < 1e-14 && (a.1 - b.1).abs() < 1e-14,
            "{found:?}"
        );
    }
}

#[test]
fn what_has_no_solution_says_so_by_info() {
    let mut objects = Objects::new(Arc::new(NoHost));
    let n = Value::Integer(2);
    let none = Value::Integer(0);
    let info = |reply: &crate::external::Reply, at: usize| {
        reply
            .written
            .iter()
            .find(|(i, _)| *i == at)
            .map(|(_, v)| v.clone())
    };
    // Two equal constraints.
    let a = matrix_value(&matrix(2, &[1.0, 0.0, 0.0, 1.0]));
    let b = matrix_value(&matrix(2, &[1.0, 1.0, 1.0, 1.0]));
    let x = reals(&[1.0, 1.0]);
    let args = [
        n.clone(),
        n.clone(),
        n.clone(),
        a.clone(),
        n.clone(),
        b.clone(),
        n.clone(),
        x.clone(),
        x.clone(),
        x.clone(),
        none.clone(),
        none.clone(),
        none.clone(),
    ];
    let reply = objects.invoke("dgglse", &args).unwrap();
    assert_eq!(info(&reply, 12), Some(Value::Integer(1)));
    // A·X - X·A = C with an A of which every eigenvalue is common.
    let args = [
        string("N"),
        string("N"),
        Value::Integer(-1),
        n.clone(),
        n.clone(),
        a.clone(),
        n.clone(),
        a.clone(),
        n.clone(),
        b.clone(),
        n.clone(),
        Value::Real(0.0),
        none.clone(),
    ];
    let reply = objects.invoke("dtrsyl", &args).unwrap();
    assert_eq!(info(&reply, 12), Some(Value::Integer(1)));
    // Not finite: no iteration settles, and none goes on for ever.
    let mut t = matrix(3, &[f64::NAN; 9]);
    assert_eq!(schur::schur(&mut t, None, 0..3), Err(3));
    let mut pencil = pencil::reduce(&matrix(3, &[f64::NAN; 9]), &matrix(3, &[1.0; 9]));
    assert!(pencil.iterate(0..3).is_err());
}
