//! Isolation and location on functions with known roots.

use crate::linear::Numbers;
use saltus_solve::{CrossingFunctions, Isolation, SignRule, SolveError, first_crossing};

struct Functions<F> {
    n: usize,
    f: F,
    affine: bool,
}

impl<F: FnMut(f64, &mut [f64])> CrossingFunctions for Functions<F> {
    fn n_functions(&self) -> usize {
        self.n
    }

    fn evaluate(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError> {
        (self.f)(t, out);
        Ok(())
    }

    fn is_affine(&self, _: usize) -> bool {
        self.affine
    }
}

const ABOVE: SignRule = SignRule {
    rising: true,
    closed: false,
};

/// All changes in (a, b) in order: (time, index).
fn all<F: FnMut(f64, &mut [f64])>(
    n: usize,
    affine: bool,
    f: F,
    a: f64,
    b: f64,
) -> Vec<(f64, usize)> {
    let mut functions = Functions { n, f, affine };
    let mut isolation = Isolation::new(n);
    let mut r = vec![0.0; n];
    (functions.f)(a, &mut r);
    let rules = vec![ABOVE; n];
    let mut truth: Vec<bool> = r.iter().map(|r| ABOVE.holds(*r)).collect();
    let mut found = Vec::new();
    let mut t = a;
    while let Some(located) =
        first_crossing(&mut functions, &mut isolation, &rules, &truth, t, b).expect("evaluates")
    {
        assert!(located.t_left < located.t_right && located.t_left >= t);
        for change in &located.changed {
            assert_ne!(
                ABOVE.holds(change.value_left),
                ABOVE.holds(change.value_right)
            );
            truth[change.index] = !truth[change.index];
            found.push((located.t_right, change.index));
        }
        t = located.t_right;
        isolation.forget();
    }
    found
}

#[test]
fn roots_of_quartics_are_all_found_in_order() {
    let mut numbers = Numbers(11);
    for case in 0..20_000 {
        // Polynomials of degree up to 4 with known roots, some of them outside (0, 1).
        let degree = 1 + case % 4;
        let roots: Vec<f64> = (0..degree).map(|_| 0.5 + 0.8 * numbers.next()).collect();
        let lead = numbers.next() + 2.0;
        let mut expected: Vec<f64> = roots
            .iter()
            .copied()
            .filter(|r| *r > 0.0 && *r < 1.0)
            .collect();
        expected.sort_by(f64::total_cmp);
        if expected.windows(2).any(|pair| pair[1] - pair[0] < 1e-5) {
            continue;
        }
        let found = all(
            1,
            true,
            |t, out| out[0] = lead * roots.iter().map(|r| t - r).product::<f64>(),
            0.0,
            1.0,
        );
        assert_eq!(
            found.len(),
            expected.len(),
            "case {case}: {found:?} {expected:?}"
        );
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found.0 - expected).abs() < 4.0 * f64::EPSILON,
                "case {case}: {} {expected}",
                found.0
            );
        }
    }
}

#[test]
fn narrow_dips_of_affine_functions_are_found_whatever_their_place() {
    let mut numbers = Numbers(5);
    for case in 0..5_000 {
        let centre = 0.5 + 0.49 * numbers.next();
        let half = 10f64.powf(-4.5 + 2.0 * numbers.next());
        if centre - half <= 0.0 || centre + half >= 1.0 {
            continue;
        }
        let found = all(
            1,
            true,
            |t, out| out[0] = (t - centre) * (t - centre) - half * half,
            0.0,
            1.0,
        );
        assert_eq!(found.len(), 2, "case {case}: {centre} {half}");
        assert!((found[0].0 - (centre - half)).abs() < 1e-14 / half.min(1.0));
    }
}

#[test]
fn trigonometric_functions_lose_no_root() {
    let mut numbers = Numbers(17);
    for case in 0..2_000 {
        let (w, phase, offset) = (
            3.0 + 3.0 * numbers.next(),
            3.0 * numbers.next(),
            0.99 * numbers.next(),
        );
        let f = move |t: f64| (w * t + phase).sin() - offset;
        let found = all(1, false, |t, out| out[0] = f(t), 0.0, 1.0);
        // Reference: changes of sign on a fine mesh.
        let mut expected = 0;
        for k in 0..20_000 {
            let (a, b) = (f(f64::from(k) / 20_000.0), f(f64::from(k + 1) / 20_000.0));
            expected += usize::from((a > 0.0) != (b > 0.0));
        }
        assert_eq!(
            found.len(),
            expected,
            "case {case}: sin({w} t + {phase}) - {offset}: {found:?}"
        );
    }
}

#[test]
fn the_earliest_of_several_comes_first() {
    let mut numbers = Numbers(23);
    for _ in 0..1_000 {
        let roots: Vec<f64> = (0..6).map(|_| 0.5 + 0.5 * numbers.next()).collect();
        let found = all(
            6,
            true,
            |t, out| out.iter_mut().zip(&roots).for_each(|(out, r)| *out = t - r),
            0.0,
            1.0,
        );
        let times: Vec<f64> = found.iter().map(|f| f.0).collect();
        assert!(times.is_sorted());
        assert_eq!(found.len(), 6);
        for (t, index) in found {
            assert!((t - roots[index]).abs() <= 4.0 * f64::EPSILON);
        }
    }
}

#[test]
fn location_ends_on_the_far_side_of_neighbouring_floats() {
    let mut functions = Functions {
        n: 1,
        f: |t: f64, out: &mut [f64]| out[0] = t * t * t - 0.3,
        affine: false,
    };
    let mut isolation = Isolation::new(1);
    let found = first_crossing(&mut functions, &mut isolation, &[ABOVE], &[false], 0.0, 1.0)
        .expect("evaluates");
    let located = found.expect("a root");
    assert!(located.t_right - located.t_left <= f64::EPSILON * located.t_right);
    assert!(located.t_left.powi(3) - 0.3 <= 0.0 && located.t_right.powi(3) - 0.3 > 0.0);
    assert!(
        isolation.evaluations <= 20,
        "{} evaluations",
        isolation.evaluations
    );
}

#[test]
fn a_touch_is_reported_and_changes_nothing() {
    let mut functions = Functions {
        n: 1,
        f: |t: f64, out: &mut [f64]| out[0] = (t - 0.4) * (t - 0.4),
        affine: true,
    };
    let mut isolation = Isolation::new(1);
    let found = first_crossing(&mut functions, &mut isolation, &[ABOVE], &[true], 0.0, 1.0)
        .expect("evaluates");
    // The relation `r > 0` is false at the very instant of the touch only, if a float hits it.
    if let Some(located) = found {
        assert!((located.t_right - 0.4).abs() < 1e-15);
    } else {
        assert_eq!(isolation.touches.len(), 1);
        assert!((isolation.touches[0].t - 0.4).abs() < 1e-6);
    }
}

#[test]
fn a_function_that_is_zero_throughout_makes_no_event() {
    assert_eq!(
        all(
            2,
            false,
            |t, out| {
                out[0] = 0.0;
                out[1] = t - 0.5;
            },
            0.0,
            1.0
        )
        .len(),
        1
    );
}
