//! Each method of location is the one of its name: its first three points are those of the source's formula, worked by hand in numbers here.

use saltus_solve::SolveError;
use saltus_solve::roots::location::{Curve, LocationMethod, Trace, trace};

/// f(t) = ln(1 + 2t) - ln(1.6) on [0, 1], zero at 0.3: bent downwards, so that chords lie below.
struct Logarithm;

impl Logarithm {
    fn f(t: f64) -> f64 {
        (1.0 + 2.0 * t).ln() - 1.6f64.ln()
    }

    fn h(t: f64) -> f64 {
        2.0 / (1.0 + 2.0 * t)
    }
}

impl Curve for Logarithm {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(Logarithm::f(t))
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(Logarithm::h(t))
    }

    fn polynomial(&mut self, _: f64, _: f64) -> Result<Vec<f64>, SolveError> {
        Ok(STEP.to_vec())
    }
}

/// A polynomial over the step that stands for the function: 2φ - φ² - 0.6, zero at 1 - √0.4.
const STEP: [f64; 3] = [-0.6, 2.0, -1.0];

/// The same polynomial as a curve of its own.
struct Parabola;

impl Curve for Parabola {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(STEP[0] + (STEP[1] + STEP[2] * t) * t)
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(STEP[1] + 2.0 * STEP[2] * t)
    }

    fn polynomial(&mut self, left: f64, right: f64) -> Result<Vec<f64>, SolveError> {
        let width = right - left;
        let slope = STEP[1] + 2.0 * STEP[2] * left;
        Ok(vec![
            self.value(left)?,
            slope * width,
            STEP[2] * width * width,
        ])
    }
}

fn located(method: LocationMethod, curve: &mut impl Curve) -> Trace {
    let found = trace(method, curve, 0.0, 1.0).expect("evaluates");
    found.expect("a change of sign")
}

fn check(method: LocationMethod, expected: [f64; 3]) {
    let found = located(method, &mut Logarithm);
    for (k, expected) in expected.into_iter().enumerate() {
        let iterate = found.iterates[k];
        assert!(
            (iterate - expected).abs() < 1e-13,
            "{method:?}, point {}: {iterate} instead of {expected}",
            k + 1
        );
    }
}

/// Where the line through (p, fp) and (q, fq) is zero.
fn line(p: f64, fp: f64, q: f64, fq: f64) -> f64 {
    (fq * p - fp * q) / (fq - fp)
}

#[test]
fn halving_and_golden_section() {
    check(LocationMethod::Bisection, [0.5, 0.25, 0.375]);
    // f < 0 before 0.3: 0.382 is behind, 0.146 before, then (0.382 - 0.146)·0.382 further.
    let x = 0.5 * (5f64.sqrt() - 1.0);
    let (first, second) = (1.0 - x, (1.0 - x) * (1.0 - x));
    check(
        LocationMethod::GoldenSection,
        [first, second, second + (1.0 - x) * (first - second)],
    );
}

#[test]
fn secants_of_all_kinds() {
    let f = Logarithm::f;
    let first = line(0.0, f(0.0), 1.0, f(1.0));
    assert!((first - 1.6f64.ln() / 3f64.ln()).abs() < 1e-15);
    // The root is at 0.3, so chords from 0 cross zero behind it: the right end moves.
    let second = line(0.0, f(0.0), first, f(first));
    let third = line(0.0, f(0.0), second, f(second));
    assert!(first > second && second > third && third > 0.3);
    check(LocationMethod::RegulaFalsi, [first, second, third]);
    check(LocationMethod::FixedPoint, [first, second, third]);
    // The end that stayed a second time counts half (Illinois), or f_1/(f_1 + f_2) (Pegasus).
    let half = line(0.0, 0.5 * f(0.0), second, f(second));
    check(LocationMethod::Illinois, [first, second, half]);
    let share = f(first) / (f(first) + f(second));
    let pegasus = line(0.0, share * f(0.0), second, f(second));
    check(LocationMethod::Pegasus, [first, second, pegasus]);
    let secant = line(1.0, f(1.0), first, f(first));
    assert!(secant > 0.0 && secant < first, "{secant}");
    let next = line(first, f(first), secant, f(secant));
    check(LocationMethod::Secant, [first, secant, next]);
}

#[test]
fn dekker_takes_the_secant_between_the_best_point_and_the_middle_only() {
    let f = Logarithm::f;
    // Best end 0 (|f| 0.47 against 0.63): the secant 0.428 lies between 0 and 0.5. It is the best point then, with 0 on the other side; the last best point is
    // 0, and the secant through both lies between 0.428 and the middle 0.214.
    let first = line(1.0, f(1.0), 0.0, f(0.0));
    let second = line(0.0, f(0.0), first, f(first));
    assert!(second > 0.5 * first);
    // From 0.345 and 0.428 to below 0.3.
    let third = line(first, f(first), second, f(second));
    assert!(third > 0.5 * second && third < second);
    check(LocationMethod::Dekker, [first, second, third]);
}

#[test]
fn newton_starts_at_the_end_of_the_step() {
    let next = |t: f64| t - Logarithm::f(t) / Logarithm::h(t);
    let first = next(1.0);
    let second = next(first);
    check(LocationMethod::Newton, [first, second, next(second)]);
}

/// Values and rates of both ends, in the names of the source.
struct Ends {
    t: [f64; 2],
    f: [f64; 2],
    h: [f64; 2],
}

impl Ends {
    fn new(left: f64, right: f64) -> Ends {
        Ends {
            t: [left, right],
            f: [Logarithm::f(left), Logarithm::f(right)],
            h: [Logarithm::h(left), Logarithm::h(right)],
        }
    }

    /// The end that `t` replaces.
    fn with(&self, t: f64) -> Ends {
        if t > 0.3 {
            Ends::new(self.t[0], t)
        } else {
            Ends::new(t, self.t[1])
        }
    }
}

fn three(next: impl Fn(&Ends) -> f64) -> [f64; 3] {
    let ends = Ends::new(0.0, 1.0);
    let first = next(&ends);
    let ends = ends.with(first);
    let second = next(&ends);
    [first, second, next(&ends.with(second))]
}

#[test]
fn cubics_of_both_constructions_have_the_same_root() {
    // In s = t - t_k the cubic is f_k + h_k s + b s² + a s³; by halving its root to the last digit.
    let expected = three(|e| {
        let w = e.t[1] - e.t[0];
        let mean = (e.f[1] - e.f[0]) / w;
        let a = (e.h[0] + e.h[1] - 2.0 * mean) / (w * w);
        let b = (3.0 * mean - 2.0 * e.h[0] - e.h[1]) / w;
        let p = |s: f64| e.f[0] + s * (e.h[0] + s * (b + s * a));
        let (mut low, mut high) = (0.0, w);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if p(middle) > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        e.t[0] + high
    });
    check(LocationMethod::Cubic, expected);
    check(LocationMethod::CubicHermite, expected);
}

#[test]
fn inverse_cubics_of_both_constructions_give_the_same_point() {
    // Newton's form of t(f) with the nodes f_k, f_k, f_{k+1}, f_{k+1}.
    let expected = three(|e| {
        let d1 = 1.0 / e.h[0];
        let mean = (e.t[1] - e.t[0]) / (e.f[1] - e.f[0]);
        let rise = e.f[1] - e.f[0];
        let d2 = (mean - d1) / rise;
        let d3 = ((1.0 / e.h[1] - mean) / rise - d2) / rise;
        e.t[0] - e.f[0] * (d1 - e.f[0] * (d2 - e.f[1] * d3))
    });
    check(LocationMethod::InverseCubic, expected);
    check(LocationMethod::InverseHermite, expected);
}

#[test]
fn nordsieck_and_dense_iterate_on_the_polynomial_of_the_step() {
    // (9.27): from the middle, φ = 1/2; F = 2φ - φ² - 0.6 and H = 2 - 2φ there are 0.15 and 1.
    let next = |phi: f64| phi - (2.0 * phi - phi * phi - 0.6) / (2.0 - 2.0 * phi);
    let found = located(LocationMethod::Nordsieck, &mut Logarithm);
    let expected = [0.5, 0.35, next(0.35)];
    for (inner, expected) in found.inner.iter().zip(expected) {
        assert!((inner - expected).abs() < 1e-14, "{inner} {expected}");
    }
    // P9.1: from the zero of the line, 0.6/(0.6 + 0.4).
    let found = located(LocationMethod::Dense, &mut Logarithm);
    let expected = [0.6, next(0.6), next(next(0.6))];
    for (inner, expected) in found.inner.iter().zip(expected) {
        assert!((inner - expected).abs() < 1e-14, "{inner} {expected}");
    }
    for method in [LocationMethod::Nordsieck, LocationMethod::Dense] {
        let found = located(method, &mut Logarithm);
        let root = 1.0 - 0.4f64.sqrt();
        assert!((found.iterates[0] - root).abs() < 1e-14, "{method:?}");
        // Where the polynomial is the function, that is all.
        let found = located(method, &mut Parabola);
        assert!(found.found.evaluations <= 6, "{method:?} {found:?}");
    }
}

#[test]
fn all_methods_find_the_same_time() {
    for method in LocationMethod::ALL {
        let found = located(method, &mut Logarithm).found;
        assert_eq!(found.left.next_up(), found.right, "{method:?}");
        let ulps = (found.right - 0.3) / (0.3f64.next_up() - 0.3);
        assert!(ulps.abs() <= 4.0, "{method:?}: {ulps} ulp");
    }
}

/// (t - 1/2)³ - 0.001, zero at 0.6: as good as zero from 0.4 to 0.6, where Newton's iteration and inverse interpolation go astray.
struct Flat;

impl Curve for Flat {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok((t - 0.5).powi(3) - 0.001)
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(3.0 * (t - 0.5).powi(2))
    }

    fn polynomial(&mut self, _: f64, _: f64) -> Result<Vec<f64>, SolveError> {
        Ok(vec![-0.126, 0.75, -1.5, 1.0])
    }
}

#[test]
fn safeguards_are_counted_and_keep_the_bracket_halving() {
    for method in LocationMethod::ALL {
        let found = located(method, &mut Flat);
        assert!((found.found.right - 0.6).abs() < 1e-14, "{method:?}");
        assert!(found.iterates.iter().all(|t| *t > 0.0 && *t < 1.0));
        assert!(found.found.evaluations < 160, "{method:?} {found:?}");
    }
    // The rates at both ends are 0.75: the cubic t(f) is bent the wrong way at zero.
    let inverse = located(LocationMethod::InverseHermite, &mut Flat);
    assert!(inverse.safeguards.slow + inverse.safeguards.outside > 0);
    // Regula falsi keeps the right end: halving comes to its help, from the fourth evaluation on.
    let falsi = located(LocationMethod::RegulaFalsi, &mut Flat);
    assert!(falsi.safeguards.slow > 0, "{falsi:?}");
    let bisection = located(LocationMethod::Bisection, &mut Flat);
    assert_eq!(bisection.safeguards, Default::default());
}

/// Cubics with random coefficients and one change of sign, or more.
struct Random([f64; 4]);

impl Curve for Random {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        let [a, b, c, d] = self.0;
        Ok(a + t * (b + t * (c + t * d)))
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        let [_, b, c, d] = self.0;
        Ok(b + t * (2.0 * c + t * 3.0 * d))
    }

    fn polynomial(&mut self, _: f64, _: f64) -> Result<Vec<f64>, SolveError> {
        Ok(self.0.to_vec())
    }
}

/// Guarded methods halve their bracket at least every three evaluations, from the fourth on.
#[test]
fn brackets_of_random_cubics_shrink_and_close() {
    let cases: u32 = std::env::var("SALTUS_CASES").map_or(2000, |n| n.parse().expect("a number"));
    let mut seed = 7u64;
    let mut next = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let own_guard = ["modab", "brent", "chandrupatla", "itp", "toms748"];
    for _ in 0..cases {
        let mut curve = Random(std::array::from_fn(|_| next()));
        for method in LocationMethod::ALL {
            let Some(found) = trace(method, &mut curve, 0.0, 1.0).expect("evaluates") else {
                continue;
            };
            assert!(
                found.found.left.next_up() >= found.found.right,
                "{method:?}"
            );
            if own_guard.contains(&method.as_str()) {
                continue;
            }
            let side = curve.0[0] >= 0.0;
            let (mut left, mut right) = (0.0, 1.0);
            let mut widths = Vec::new();
            for t in found.iterates {
                assert!(t > left && t < right, "{method:?} leaves the bracket");
                let value = curve.value(t).expect("evaluates");
                if (value >= 0.0) == side {
                    left = t;
                } else {
                    right = t;
                }
                widths.push(right - left);
            }
            for three in widths.windows(4).skip(2) {
                assert!(
                    three[3] <= 0.5 * three[0] * (1.0 + 1e-9),
                    "{method:?} {widths:?}"
                );
            }
        }
    }
}
