//! Linear solves against products formed from known solutions.

use saltus_solve::linear::{Complex, DenseLu, Pattern, Scalar, SparseLu, min_norm};

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
        let mut lu = DenseLu::<Complex>::new(n);
        let a: Vec<Complex> = (0..n * n)
            .map(|_| Complex::new(numbers.next(), numbers.next()))
            .collect();
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
        assert!(lu.factor(&a));
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

/// Number of cases of a property test.
fn cases() -> usize {
    (std::env::var("SALTUS_CASES").ok())
        .and_then(|text| text.parse().ok())
        .unwrap_or(2000)
}

/// A random pattern of about `per_column` entries, with or without the diagonal.
fn random_columns(numbers: &mut Numbers, n: usize, per_column: usize) -> Vec<Vec<u32>> {
    let diagonal = numbers.next() > 0.0;
    let shift = ((numbers.next() + 1.0) * 0.5 * n as f64) as usize;
    (0..n)
        .map(|j| {
            let mut rows: Vec<u32> = (0..per_column)
                .map(|_| ((numbers.next() + 1.0) * 0.5 * n as f64) as u32)
                .collect();
            // Without the diagonal the matrix has a transversal elsewhere.
            rows.push(if diagonal { j } else { (j + shift) % n } as u32);
            rows.sort_unstable();
            rows.dedup();
            rows
        })
        .collect()
}

fn random_values<T: Scalar>(
    numbers: &mut Numbers,
    pattern: &Pattern,
    number: &mut impl FnMut(&mut Numbers) -> T,
) -> Vec<T> {
    (0..pattern.len())
        .map(|_| {
            let size = 10f64.powf(numbers.next());
            number(numbers).scaled(size)
        })
        .collect()
}

fn dense_of<T: Scalar>(pattern: &Pattern, values: &[T]) -> Vec<T> {
    let n = pattern.n();
    let mut dense = vec![T::ZERO; n * n];
    for j in 0..n {
        for (row, place) in pattern.rows(j).iter().zip(pattern.column(j)) {
            dense[j * n + *row as usize] = values[place];
        }
    }
    dense
}

/// Backward error with rows scaled to a largest element of 1: max |b - A x| / Σ_j max_i |a_ij| |x_j|. Elimination with growth g
/// promises g times some ulps.
fn backward_error<T: Scalar>(pattern: &Pattern, values: &[T], x: &[T], b: &[T]) -> f64 {
    let n = pattern.n();
    let mut row_size = vec![0.0f64; n];
    for j in 0..n {
        for (row, place) in pattern.rows(j).iter().zip(pattern.column(j)) {
            let size = &mut row_size[*row as usize];
            *size = size.max(values[place].size());
        }
    }
    let mut residual = b.to_vec();
    let mut total = 0.0;
    for (j, x) in x.iter().enumerate() {
        let mut largest = 0.0f64;
        for (row, place) in pattern.rows(j).iter().zip(pattern.column(j)) {
            let i = *row as usize;
            residual[i] -= values[place] * *x;
            largest = largest.max(values[place].size() / row_size[i]);
        }
        total += largest * x.size();
    }
    (residual.iter().zip(&row_size)).fold(0.0, |worst: f64, (r, size)| {
        worst.max(r.size() / size / total)
    })
}

/// Sparse factors, first and repeated, against the dense ones: what is regular there is regular here, and the backward error is
/// small.
fn sparse_agrees<T: Scalar>(seed: u64, mut number: impl FnMut(&mut Numbers) -> T) {
    let mut numbers = Numbers(seed);
    let (mut regular, mut repeated) = (0, 0);
    for case in 0..cases() {
        let n = 2 + case % 40;
        let per_column = 1 + case % 4;
        let pattern = Pattern::from_columns(&random_columns(&mut numbers, n, per_column));
        let mut sparse = SparseLu::new(&pattern);
        let mut dense = DenseLu::new(n);
        for round in 0..3 {
            let values = random_values(&mut numbers, &pattern, &mut number);
            let b: Vec<T> = (0..n).map(|_| number(&mut numbers)).collect();
            let found = sparse.factor(&values);
            // Near the limit of precision either may call a matrix singular that the other solves.
            if dense.factor(&dense_of(&pattern, &values)) {
                assert!(found, "case {case}, round {round}");
            }
            if !found {
                continue;
            }
            regular += 1;
            let mut x = b.clone();
            sparse.solve(&mut x);
            let error = backward_error(&pattern, &values, &x, &b);
            assert!(error < 1e-10, "case {case}, round {round}: {error:e}");
        }
        repeated += sparse.statistics().repeated;
    }
    assert!(regular > cases(), "{regular}");
    assert!(repeated > cases() as u64 / 2, "{repeated}");
}

#[test]
fn sparse_factors_agree_with_dense_ones() {
    sparse_agrees(11, |numbers| numbers.next());
    sparse_agrees(12, |numbers| Complex::new(numbers.next(), numbers.next()));
}

#[test]
fn growth_gives_up_recorded_pivots() {
    // Diagonally dominant first, so that the pivots are the diagonal; then the diagonal shrinks.
    let n = 60;
    let columns: Vec<Vec<u32>> = (0..n)
        .map(|j: u32| vec![j.saturating_sub(1), j, (j + 1).min(n - 1), (j * 7 + 3) % n])
        .collect();
    let pattern = Pattern::from_columns(&columns);
    let mut numbers = Numbers(5);
    let mut values: Vec<f64> = (0..pattern.len()).map(|_| numbers.next()).collect();
    let diagonal: Vec<usize> = (0..n as usize)
        .map(|j| pattern.place(j as u32, j).expect("has a diagonal"))
        .collect();
    let mut lu = SparseLu::new(&pattern);
    let b: Vec<f64> = (0..n).map(|_| numbers.next()).collect();
    for (size, fresh) in [(10.0, 1), (5.0, 1), (1e-9, 2), (1e-8, 2)] {
        for place in &diagonal {
            values[*place] = size * (1.5 + numbers.next());
        }
        assert!(lu.factor(&values));
        let mut x = b.clone();
        lu.solve(&mut x);
        let error = backward_error(&pattern, &values, &x, &b);
        assert!(error < 1e-12, "{size}: {error:e}");
        assert_eq!(
            lu.statistics().fresh,
            fresh,
            "{size}: {:?}",
            lu.statistics()
        );
    }
    assert_eq!(lu.statistics().given_up, 1);
    assert_eq!(lu.statistics().repeated, 2);
}

#[test]
fn sparse_says_when_a_matrix_is_singular() {
    let pattern = Pattern::from_columns(&[vec![0, 1], vec![0, 1], vec![2]]);
    let mut lu = SparseLu::new(&pattern);
    assert!(!lu.factor(&[1.0, 2.0, 2.0, 4.0, 1.0]), "equal columns");
    assert!(lu.factor(&[1.0, 2.0, 2.0, 5.0, 1.0]));
    assert!(!lu.factor(&[1.0, 2.0, 2.0, 4.0, 1.0]), "after regular ones");
    assert!(!lu.factor(&[1.0, 2.0, 2.0, 5.0, 0.0]), "a zero row");
    assert!(!lu.factor(&[1.0, 2.0, f64::NAN, 5.0, 1.0]));
    assert!(!lu.factor(&[1.0, 2.0, f64::INFINITY, 5.0, 1.0]));
    assert!(lu.factor(&[1e-20, 2e20, 2e-20, 5e20, 1.0]), "bad scaling");
    let structural = Pattern::from_columns(&[vec![0], vec![0], vec![1, 2]]);
    assert!(!SparseLu::new(&structural).factor(&[1.0, 1.0, 1.0, 1.0]));
}

#[test]
fn banded_factors_have_no_fill() {
    let n = 1000u32;
    let columns: Vec<Vec<u32>> = (0..n)
        .map(|j| (j.saturating_sub(2)..=(j + 2).min(n - 1)).collect())
        .collect();
    let pattern = Pattern::from_columns(&columns);
    let values: Vec<f64> = (0..n)
        .flat_map(|j| {
            columns[j as usize]
                .iter()
                .map(move |i| if *i == j { 5.0 } else { -1.0 })
        })
        .collect();
    let mut lu = SparseLu::new(&pattern);
    assert!(lu.factor(&values));
    assert_eq!(lu.statistics().entries, pattern.len() - n as usize);
}
