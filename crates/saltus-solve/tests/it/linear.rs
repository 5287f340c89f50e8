//! Linear solves against products formed from known solutions.

use saltus_solve::linear::{Complex, ComplexLu, DenseLu, min_norm};

/// A fixed sequence of numbers in (-1, 1).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64) / (1u64 << 52) as f64 - 1.0
    }
}

fn times(a: &[f64], rows: usize, x: &[f64]) -> Vec<f64> {
    (0..rows)
        .map(|i| x.iter().enumerate().map(|(j, x)| a[j * rows + i] * x).sum())
        .collect()
}

#[test]
fn lu_recovers_random_solutions() {
    let mut numbers = Numbers(1);
    for n in 1..=30 {
        // Rows and columns of very different sizes.
        let scale: Vec<f64> = (0..2 * n)
            .map(|_| 10f64.powf(8.0 * numbers.next()))
            .collect();
        let a: Vec<f64> = (0..n * n)
            .map(|k| numbers.next() * scale[k % n] * scale[n + k / n])
            .collect();
        let x: Vec<f64> = (0..n).map(|j| numbers.next() / scale[n + j]).collect();
        let mut b = times(&a, n, &x);
        let mut lu = DenseLu::new(n);
        assert!(lu.factor(&a), "regular, n = {n}");
        lu.solve(&mut b);
        for j in 0..n {
            assert!(
                (b[j] - x[j]).abs() * scale[n + j] < 1e-9,
                "n = {n}: {} instead of {}",
                b[j],
                x[j]
            );
        }
    }
}

#[test]
fn lu_says_when_a_matrix_is_singular() {
    let mut lu = DenseLu::new(3);
    assert!(!lu.factor(&[1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 5.0]));
    assert!(!lu.factor(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]));
    assert!(!lu.factor(&[1.0, 0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0, 1.0]));
    assert!(
        lu.factor(&[1e-20, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e20]),
        "bad scaling is not singular"
    );
}

#[test]
fn complex_lu_solves() {
    let mut numbers = Numbers(7);
    for n in 1..=12 {
        let mut lu = ComplexLu::new(n);
        let a: Vec<Complex> = (0..n * n)
            .map(|_| Complex::new(numbers.next(), numbers.next()))
            .collect();
        lu.matrix_mut().copy_from_slice(&a);
        let x: Vec<Complex> = (0..n)
            .map(|_| Complex::new(numbers.next(), numbers.next()))
            .collect();
        let mut b: Vec<Complex> = (0..n)
            .map(|i| {
                let (mut re, mut im) = (0.0, 0.0);
                for j in 0..n {
                    let (a, x) = (a[j * n + i], x[j]);
                    re += a.re * x.re - a.im * x.im;
                    im += a.re * x.im + a.im * x.re;
                }
                Complex::new(re, im)
            })
            .collect();
        assert!(lu.factor());
        lu.solve(&mut b);
        for (found, expected) in b.iter().zip(&x) {
            assert!((found.re - expected.re).abs() + (found.im - expected.im).abs() < 1e-10);
        }
    }
}

#[test]
fn minimum_norm_solution_is_shortest_and_exact() {
    let mut numbers = Numbers(3);
    for (rows, cols, rank) in [(4, 4, 2), (3, 5, 3), (6, 4, 3), (5, 5, 5), (4, 4, 0)] {
        // A = L R with L rows x rank, R rank x cols.
        let l: Vec<f64> = (0..rows * rank).map(|_| numbers.next()).collect();
        let r: Vec<f64> = (0..rank * cols).map(|_| numbers.next()).collect();
        let mut a = vec![0.0; rows * cols];
        for i in 0..rows {
            for j in 0..cols {
                a[j * rows + i] = (0..rank).map(|k| l[k * rows + i] * r[j * rank + k]).sum();
            }
        }
        // The shortest solution lies in the row space: x = Rᵀ y.
        let y: Vec<f64> = (0..rank).map(|_| numbers.next()).collect();
        let x: Vec<f64> = (0..cols)
            .map(|j| (0..rank).map(|k| r[j * rank + k] * y[k]).sum())
            .collect();
        let b = times(&a, rows, &x);
        let found = min_norm(&a, rows, cols, &b, &vec![1.0; cols]).expect("finite");
        assert_eq!(found.rank, rank);
        for (found, expected) in found.x.iter().zip(&x) {
            assert!(
                (found - expected).abs() < 1e-11,
                "{rows}x{cols} rank {rank}"
            );
        }
    }
}

#[test]
fn minimum_norm_is_measured_in_nominal_units() {
    // u1 + u2 = 11 with nominals 1 and 10: the shares follow the squares, 11/101 and 1100/101.
    let found = min_norm(&[1.0, 1.0], 1, 2, &[11.0], &[1.0, 10.0]).expect("finite");
    assert!(
        (found.x[0] - 11.0 / 101.0).abs() < 1e-14 && (found.x[1] - 1100.0 / 101.0).abs() < 1e-12
    );
}
