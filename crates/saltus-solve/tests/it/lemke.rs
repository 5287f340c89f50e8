//! Complementarity problems and networks of ideal diodes against brute force over all bases.

use crate::linear::Numbers;
use saltus_model::{Instance, Model, ScheduleKind};
use saltus_solve::lemke::{LcpFailure, lemke};
use saltus_solve::linear::DenseLu;
use saltus_solve::{Accuracy, Driver, Guess, Tolerances};
use saltus_testkit::blocks::{Network, network};

/// All solutions z with w = q + M z, by the sets of pairs with z free.
fn brute_force(m: &[f64], q: &[f64]) -> Vec<Vec<f64>> {
    let n = q.len();
    let mut solutions = Vec::new();
    for set in 0u32..1 << n {
        let inside: Vec<usize> = (0..n).filter(|k| set >> k & 1 == 1).collect();
        let k = inside.len();
        let mut a = vec![0.0; k * k];
        for (jj, &j) in inside.iter().enumerate() {
            for (ii, &i) in inside.iter().enumerate() {
                a[jj * k + ii] = m[j * n + i];
            }
        }
        let mut x: Vec<f64> = inside.iter().map(|&i| -q[i]).collect();
        if k > 0 {
            let mut lu = DenseLu::new(k);
            if !lu.factor(&a) {
                continue;
            }
            lu.solve(&mut x);
        }
        let mut z = vec![0.0; n];
        for (&i, x) in inside.iter().zip(&x) {
            z[i] = *x;
        }
        // A basis that is singular but for round-off has solutions without meaning.
        if z.iter().all(|z| z.abs() < 1e8) && is_solution(m, q, &z) {
            solutions.push(z);
        }
    }
    solutions
}

fn is_solution(m: &[f64], q: &[f64], z: &[f64]) -> bool {
    let n = q.len();
    (0..n).all(|i| {
        let w = q[i] + (0..n).map(|j| m[j * n + i] * z[j]).sum::<f64>();
        let size = q[i].abs() + (0..n).map(|j| (m[j * n + i] * z[j]).abs()).sum::<f64>();
        let zero = 1e-10 * size.max(1e-3);
        z[i] >= -1e-10 && w >= -zero && (z[i] <= 1e-10 || w <= zero)
    })
}

fn cases() -> usize {
    let by_user = std::env::var("SALTUS_CASES").ok();
    by_user.and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// M = A Aᵀ / n + δ I + K with K skew: positive definite for δ > 0, and so a P-matrix; with δ = 0 and a thin A positive semidefinite.
fn monotone(numbers: &mut Numbers, n: usize, rank: usize, delta: f64) -> Vec<f64> {
    let a: Vec<f64> = (0..n * rank).map(|_| numbers.next()).collect();
    let mut m = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..n {
            let product: f64 = (0..rank).map(|k| a[i * rank + k] * a[j * rank + k]).sum();
            m[j * n + i] += product / n as f64 + if i == j { delta } else { 0.0 };
        }
        for i in 0..j {
            let skew = numbers.next();
            m[j * n + i] += skew;
            m[i * n + j] -= skew;
        }
    }
    m
}

#[test]
fn the_only_solution_of_a_p_matrix_is_found() {
    let mut numbers = Numbers(7);
    for case in 0..cases() {
        let n = 1 + case % 10;
        let m = monotone(&mut numbers, n, n, 0.1);
        // Every third problem is degenerate.
        let q: Vec<f64> = (0..n)
            .map(|_| match case % 3 {
                0 => (2.0 * numbers.next()).round(),
                _ => numbers.next(),
            })
            .collect();
        let z = lemke(&m, &q).expect("a P-matrix has a solution");
        assert!(is_solution(&m, &q, &z), "case {case}: {z:?}");
        // Brute force with ten pairs for some of them only: it takes a thousand factorisations.
        if n <= 7 || case % 50 == 9 {
            for other in brute_force(&m, &q) {
                for k in 0..n {
                    assert!(
                        (z[k] - other[k]).abs() < 1e-8,
                        "case {case}: {z:?} {other:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_semidefinite_problem_is_solved_exactly_if_it_has_a_solution() {
    let mut numbers = Numbers(11);
    let mut without = 0;
    for case in 0..cases() {
        let n = 1 + case % 6;
        let mut m = monotone(&mut numbers, n, n.div_ceil(2), 0.0);
        if case % 2 == 0 {
            // Without the skew part: symmetric and singular.
            for j in 0..n {
                for i in 0..j {
                    let mean = 0.5 * (m[j * n + i] + m[i * n + j]);
                    m[j * n + i] = mean;
                    m[i * n + j] = mean;
                }
            }
        }
        let q: Vec<f64> = (0..n).map(|_| numbers.next() - 0.2).collect();
        match lemke(&m, &q) {
            Ok(z) => assert!(is_solution(&m, &q, &z), "case {case}: {z:?}"),
            Err(failure) => {
                assert_eq!(failure, LcpFailure::Ray, "case {case}");
                assert!(brute_force(&m, &q).is_empty(), "case {case}");
                without += 1;
            }
        }
    }
    assert!(without > 0, "some have no solution");
}

#[test]
fn degenerate_problems_do_not_cycle() {
    // All ratios tie at every pivot.
    for n in 1..=10 {
        let mut m = vec![1.0; n * n];
        for k in 0..n {
            m[k * n + k] = 2.0;
        }
        let z = lemke(&m, &vec![-1.0; n]).expect("a P-matrix");
        for z in z {
            assert!((z - 1.0 / (n as f64 + 1.0)).abs() < 1e-12);
        }
    }
    // Murty's matrix, on which principal pivoting takes 2ⁿ steps: z = e_1 ... here the bound is what counts.
    for n in 1..=10 {
        let mut m = vec![0.0; n * n];
        for j in 0..n {
            m[j * n + j] = 1.0;
            for i in j + 1..n {
                m[j * n + i] = 2.0;
            }
        }
        let z = lemke(&m, &vec![-1.0; n]).expect("a P-matrix");
        assert!((z[0] - 1.0).abs() < 1e-12);
        assert!(z[1..].iter().all(|z| z.abs() < 1e-12));
    }
    assert_eq!(lemke(&[-1.0], &[-1.0]), Err(LcpFailure::Ray));
    assert_eq!(lemke(&[], &[]), Ok(Vec::new()));
}

/// A connected network of up to six nodes and ten diodes and switches; conductances spread over ten decades.
fn random_network(numbers: &mut Numbers, case: usize) -> Network {
    let n = 1 + case % 6;
    let mut whole = |below: usize| ((0.5 + 0.5 * numbers.next()) * below as f64) as usize % below;
    let other = |a: usize, step: usize| (a + 1 + step) % (n + 1);
    let ends: Vec<(usize, usize)> = (0..n + 12)
        .map(|_| {
            let a = whole(n + 1);
            (a, other(a, whole(n)))
        })
        .collect();
    let mut conductance = |decades: f64| 10f64.powf(decades * numbers.next());
    // A resistor from each node to one before it, so that all are connected.
    let mut resistors: Vec<(usize, usize, f64)> = (1..=n)
        .map(|a| (a, ends[a].0 % a, conductance(2.0)))
        .collect();
    let n_diodes = 1 + case / 6 % 10;
    let mut diodes = Vec::new();
    for k in 0..10 {
        let (a, b) = ends[n + 2 + k % 10];
        let (on, off) = (1e3 * conductance(2.0), 1e-4 * conductance(1.0));
        if k < n_diodes {
            diodes.push((a, b, on, off));
        } else if k % 3 == 0 {
            // A switch, open or closed.
            resistors.push((a, b, if k % 2 == 0 { on } else { off }));
        }
    }
    let sources = (0..n).map(|_| 10.0 * numbers.next()).collect();
    Network {
        sources,
        resistors,
        diodes,
    }
}

/// The potentials for the one set in which no diode is on the wrong side.
fn network_by_brute_force(network: &Network) -> Vec<f64> {
    let n = network.sources.len();
    let mut best = (f64::INFINITY, Vec::new());
    for set in 0u32..1 << network.diodes.len() {
        let is_off = |k: usize| set >> k & 1 == 1;
        let mut lu = DenseLu::new(n);
        assert!(
            lu.factor(&network.conductances(is_off)),
            "passive and connected"
        );
        let mut v = network.sources.clone();
        lu.solve(&mut v);
        let wrong = (0..network.diodes.len())
            .map(|k| network.voltage(k, &v) * if is_off(k) { 1.0 } else { -1.0 })
            .fold(0.0, f64::max);
        if wrong < best.0 {
            best = (wrong, v);
        }
        if wrong == 0.0 {
            break;
        }
    }
    assert!(best.0 < 1e-9, "a set without contradiction: {}", best.0);
    best.1
}

#[test]
fn networks_of_ideal_diodes_find_the_mode_of_brute_force() {
    let mut numbers = Numbers(3);
    for case in 0..cases() {
        let circuit = random_network(&mut numbers, case);
        let expected = network_by_brute_force(&circuit);
        // The result is that of the circuit, in whatever order its diodes are written.
        for reversed in [false, true] {
            let mut circuit = circuit.clone();
            if reversed {
                circuit.diodes.reverse();
            }
            let model = network(circuit.clone());
            let mut instance = model.instantiate();
            let mut values = instance.bind(0.0, &[]).expect("has values");
            let system = instance.system(&values);
            let mut driver = Driver::new(system, model.info(), Tolerances::new(1e-6));
            driver
                .run(
                    system,
                    ScheduleKind::Initial,
                    &mut values,
                    Accuracy::Tight,
                    Guess::Current,
                )
                .unwrap_or_else(|error| panic!("case {case}: {error:?}"));
            let v = &values.v[1..=expected.len()];
            let size = expected.iter().fold(1.0, |size: f64, v| size.max(v.abs()));
            for (v, expected) in v.iter().zip(&expected) {
                assert!(
                    (v - expected).abs() < 1e-7 * size,
                    "case {case}: {v} {expected}"
                );
            }
            // What the sources deliver is what the elements take up, each of them something.
            let delivered: f64 = v.iter().zip(&circuit.sources).map(|(v, i)| v * i).sum();
            assert!(delivered >= -1e-9 * size, "case {case}: {delivered} W");
        }
    }
}
