//! Where the border between dense and sparse factorisation lies: microseconds per repeated factorisation and per solve, for tridiagonal
//! matrices and for random ones with four entries per column beside the diagonal.

#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

use saltus_solve::linear::{DenseLu, Pattern, SparseLu};
use std::time::Instant;

fn main() {
    println!("pattern          n   entries   L+U     first   sparse    dense    solve    dense");
    for n in [
        8usize, 12, 16, 20, 24, 32, 48, 64, 100, 200, 1000, 20_000, 100_000,
    ] {
        let tridiagonal: Vec<Vec<u32>> = (0..n as u32)
            .map(|j| (j.saturating_sub(1)..=(j + 1).min(n as u32 - 1)).collect())
            .collect();
        let mut state = 1u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let random: Vec<Vec<u32>> = (0..n as u32)
            .map(|j| (0..4).map(|_| next() % n as u32).chain([j]).collect())
            .collect();
        measure("tridiagonal", &Pattern::from_columns(&tridiagonal));
        if n <= 1000 {
            measure("random", &Pattern::from_columns(&random));
        }
    }
    for side in [32u32, 100, 200] {
        measure("five-point", &five_point(side));
    }
}

/// The pattern of a Laplacian on a square grid.
fn five_point(side: u32) -> Pattern {
    let columns: Vec<Vec<u32>> = (0..side * side)
        .map(|k| {
            let (i, j) = (k / side, k % side);
            let mut rows = vec![k];
            rows.extend((i > 0).then(|| k - side));
            rows.extend((i + 1 < side).then(|| k + side));
            rows.extend((j > 0).then(|| k - 1));
            rows.extend((j + 1 < side).then(|| k + 1));
            rows
        })
        .collect();
    Pattern::from_columns(&columns)
}

fn measure(name: &str, pattern: &Pattern) {
    let n = pattern.n();
    let values: Vec<f64> = (0..n)
        .flat_map(|j| {
            (pattern.rows(j).iter()).map(move |i| if *i as usize == j { 8.0 } else { -1.0 })
        })
        .collect();
    // The fastest of several, and below of many short batches: other work on the machine does not count.
    let mut sparse = SparseLu::new(pattern);
    let first = (0..10).fold(f64::INFINITY, |fastest, _| {
        let start = Instant::now();
        sparse = SparseLu::new(pattern);
        assert!(sparse.factor(&values));
        fastest.min(start.elapsed().as_secs_f64() * 1e6)
    });
    let rounds = (2_000 / n).max(1);
    let time = |mut f: Box<dyn FnMut() + '_>| {
        (0..50).fold(f64::INFINITY, |fastest, _| {
            let start = Instant::now();
            for _ in 0..rounds {
                f();
            }
            fastest.min(start.elapsed().as_secs_f64() * 1e6 / rounds as f64)
        })
    };
    let mut b = vec![1.0; n];
    let repeated = time(Box::new(|| assert!(sparse.factor(&values))));
    let solve = time(Box::new(|| {
        b.fill(1.0);
        sparse.solve(&mut b);
    }));
    let (mut dense_factor, mut dense_solve) = (f64::NAN, f64::NAN);
    if n <= 200 {
        let mut a = vec![0.0; n * n];
        for j in 0..n {
            for (row, place) in pattern.rows(j).iter().zip(pattern.column(j)) {
                a[j * n + *row as usize] = values[place];
            }
        }
        let mut dense = DenseLu::new(n);
        dense_factor = time(Box::new(|| assert!(dense.factor(&a))));
        dense_solve = time(Box::new(|| {
            b.fill(1.0);
            dense.solve(&mut b);
        }));
    }
    println!(
        "{name:12} {n:6} {:8} {:8} {first:8.1} {repeated:8.2} {dense_factor:8.2} {solve:8.2} {dense_solve:8.2}",
        pattern.len(),
        sparse.statistics().entries,
    );
}
