//! Isolation, short-lived crossings, curves over a step, and the dissertation's event steps: by hand, and against closed forms.

use saltus_solve::event_step::{
    EventStepError, EventVariable, Henon, Newton, SemiExplicit, as_dae, explicit_euler, henon,
    implicit_euler, trapezoidal_event, trapezoidal_step,
};
use saltus_solve::roots::isolate::{IsolationRule, isolate};
use saltus_solve::roots::location::{Curve, LocationMethod, trace};
use saltus_solve::roots::short_lived::{by_derivative, by_sturm, count_roots, sturm_sequence};
use saltus_solve::roots::step_curve::{Between, Crossing, StepCurve, Threshold, WithCrossing};
use saltus_solve::{Integrator, Problem, SolveError, SolverName, StepLimits, Tolerances};

struct Ode<F>(usize, F);

impl<F: FnMut(f64, &[f64], &mut [f64])> Problem for Ode<F> {
    fn n_states(&self) -> usize {
        self.0
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (self.1)(t, x, dx);
        Ok(())
    }
}

/// f2 = t - 3 and f3 = (t - 2)(1 + t/4), f1 does not change: the chords are zero at 3 and at 4/(1 + …).
#[test]
fn isolation_by_chords_takes_the_smallest_zero() {
    let f = |t: f64, out: &mut [f64]| {
        out[0] = 1.0 + t;
        out[1] = t - 3.0;
        out[2] = (t - 2.0) * (1.0 + 0.25 * t);
        Ok(())
    };
    let found = isolate(IsolationRule::RegulaFalsi, f, 3, 1.0, 4.0)
        .expect("evaluates")
        .expect("two cross");
    // (9.7) with f3(1) = -1.25, f3(4) = 4: (4·1 + 1.25·4)/5.25; f3 is below zero there, so the interval begins there …
    let first = 9.0 / 5.25;
    assert!((found.points[0] - first).abs() < 1e-15);
    // … and the next chord of f3 is the earlier one again.
    let at = |t: f64| (t - 2.0) * (1.0 + 0.25 * t);
    let second = (4.0 * first - at(first) * 4.0) / (4.0 - at(first));
    assert!((found.points[1] - second).abs() < 1e-14);
    assert_eq!(found.functions, [2]);
    assert!(found.left < 2.0 && found.right >= 2.0 && found.right < 3.0);
}

#[test]
fn isolation_by_golden_section_divides_and_keeps_proportions() {
    let f = |t: f64, out: &mut [f64]| {
        out[0] = t - 0.05;
        out[1] = t - 0.1;
        Ok(())
    };
    let found = isolate(IsolationRule::GoldenSection, f, 2, 0.0, 1.0)
        .expect("evaluates")
        .expect("both cross");
    let x = 0.5 * (5f64.sqrt() - 1.0);
    // Both change in the first part until it is shorter than 0.1: one new point for each division.
    for (point, expected) in found.points.iter().zip([1.0 - x, x, x * (1.0 - x)]) {
        assert!((point - expected).abs() < 1e-15, "{point} {expected}");
    }
    assert_eq!(found.functions, [0]);
    assert!(found.left < 0.05 && found.right < 0.1);
}

#[test]
fn functions_that_change_together_stay_together() {
    for rule in IsolationRule::ALL {
        let f = |t: f64, out: &mut [f64]| {
            out[0] = t - 0.3;
            out[1] = (t - 0.3) * (2.0 + t);
            Ok(())
        };
        let found = isolate(rule, f, 2, 0.0, 1.0).expect("evaluates");
        let found = found.expect("both cross");
        assert_eq!(found.functions, [0, 1], "{rule:?}");
        assert!(found.right - found.left < 1e-15, "{rule:?}");
        assert_eq!(IsolationRule::from_name(rule.as_str()), Some(rule));
        let f = |_: f64, out: &mut [f64]| {
            out.fill(1.0);
            Ok(())
        };
        assert_eq!(isolate(rule, f, 2, 0.0, 1.0), Ok(None));
    }
}

/// A polynomial as a curve.
struct Polynomial(Vec<f64>);

impl Curve for Polynomial {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(self.0.iter().rev().fold(0.0, |sum, c| sum * t + c))
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        let rates: Vec<f64> = (1..self.0.len()).map(|k| k as f64 * self.0[k]).collect();
        Polynomial(rates).value(t)
    }

    fn polynomial(&mut self, _: f64, _: f64) -> Result<Vec<f64>, SolveError> {
        Ok(self.0.clone())
    }
}

/// Coefficients of Π (t - r).
fn with_roots(roots: &[f64]) -> Vec<f64> {
    let mut c = vec![1.0];
    for root in roots {
        c.insert(0, 0.0);
        for k in 0..c.len() - 1 {
            c[k] -= root * c[k + 1];
        }
    }
    c
}

#[test]
fn sturms_sequence_is_that_of_the_textbook() {
    // t³ - t: derivative 3t² - 1, remainder -2t/3, so 2t/3, then 1; scaled to a largest coefficient of 1.
    let sequence = sturm_sequence(&[0.0, -1.0, 0.0, 1.0]);
    let expected: [&[f64]; 4] = [
        &[0.0, -1.0, 0.0, 1.0],
        &[-1.0 / 3.0, 0.0, 1.0],
        &[0.0, 1.0],
        &[1.0],
    ];
    assert_eq!(sequence.len(), 4);
    for (found, expected) in sequence.iter().zip(expected) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15);
        }
    }
    for (a, b, roots) in [(-2.0, 2.0, 3), (-0.5, 2.0, 2), (0.5, 0.9, 0), (0.5, 1.0, 1)] {
        assert_eq!(count_roots(&sequence, a, b), roots, "{a} {b}");
    }
}

#[test]
fn two_crossings_in_a_step_are_found_by_both_and_four_by_sturm_only() {
    let mut pair = Polynomial(with_roots(&[0.4, 0.401]));
    assert_eq!(
        trace(LocationMethod::Bisection, &mut pair, 0.0, 1.0),
        Ok(None)
    );
    for found in [
        by_derivative(&mut pair, 0.0, 1.0).expect("evaluates"),
        by_sturm(&pair.0, 0.0, 1.0),
    ] {
        assert_eq!(found.brackets.len(), 2);
        for (bracket, root) in found.brackets.iter().zip([0.4, 0.401]) {
            assert!(bracket.0 < root && root <= bracket.1, "{bracket:?} {root}");
            let located = trace(LocationMethod::Brent, &mut pair, bracket.0, bracket.1);
            let located = located.expect("evaluates").expect("one crossing");
            assert!((located.found.right - root).abs() < 1e-12);
        }
    }
    let mut four = Polynomial(with_roots(&[0.1, 0.3, 0.6, 0.95]));
    let found = by_derivative(&mut four, 0.0, 1.0).expect("evaluates");
    assert!(found.brackets.len() < 4, "it turns three times");
    assert_eq!(by_sturm(&four.0, 0.0, 1.0).brackets.len(), 4);
}

/// x' = v, v' = -g: the ball of the dissertation, which reaches 2.5 at 0.503257552201098.
fn falling() -> impl Problem {
    Ode(2, |_: f64, x: &[f64], dx: &mut [f64]| {
        dx[0] = x[1];
        dx[1] = -9.80665;
    })
}

const GROUND: Threshold = Threshold {
    index: 0,
    threshold: 2.5,
};
const REACHED: f64 = 0.503_257_552_201_098_3;
const SPEED: f64 = -7.435_270_674_292_9;

/// Height and speed at a time.
fn fallen(t: f64) -> [f64; 2] {
    let g = 9.80665;
    [5.0 - 2.5 * t - 0.5 * g * t * t, -2.5 - g * t]
}

#[test]
fn every_method_locates_on_interpolants_and_by_repeated_steps() {
    for solver in [SolverName::Rk4, SolverName::Rkf45, SolverName::Lobatto] {
        let mut problem = falling();
        let mut step = Integrator::new(solver, Tolerances::new(1e-10), &[1.0; 2]);
        assert!(step.set_fixed_step(0.2));
        let limits = StepLimits {
            time_end: 0.6,
            step_size_max: f64::INFINITY,
        };
        step.begin(&mut problem, 0.4, &fallen(0.4), limits)
            .expect("begins");
        step.step(&mut problem, limits).expect("a step");
        for between in Between::ALL {
            for method in LocationMethod::ALL {
                let curve = StepCurve::new(&step, solver, &mut problem, &GROUND, between);
                let mut curve = curve.expect("a textbook method");
                let found = trace(method, &mut curve, 0.4, 0.6).expect("evaluates");
                let at = found.expect("a crossing").found.right;
                // All these methods are exact for a parabola.
                assert!(
                    (at - REACHED).abs() < 1e-14,
                    "{solver:?} {between:?} {method:?} {at}"
                );
                let repeats = curve.repeated;
                assert_eq!(repeats > 0, between == Between::Reintegrate);
                let speed = curve.state(at).expect("evaluates")[1];
                assert!((speed - SPEED).abs() < 1e-12);
            }
        }
        let curve = StepCurve::new(
            &step,
            SolverName::Dopri5,
            &mut problem,
            &GROUND,
            Between::Reintegrate,
        );
        assert!(curve.is_none());
    }
}

/// F = x² - 2 as one more state (9.30) of x' = x from 1: zero at ln(2)/2.
#[test]
fn a_crossing_function_as_an_extra_state_is_located_like_a_state() {
    struct Square;
    impl Crossing for Square {
        fn value(&self, _: f64, x: &[f64]) -> f64 {
            x[0] * x[0] - 2.0
        }

        fn rate(&self, _: f64, x: &[f64], dx: &[f64]) -> f64 {
            2.0 * x[0] * dx[0]
        }
    }
    let mut problem = WithCrossing {
        problem: Ode(1, |_: f64, x: &[f64], dx: &mut [f64]| dx[0] = x[0]),
        crossing: Square,
    };
    let start = problem.extended(0.0, &[1.0]);
    assert_eq!(start, [1.0, -1.0]);
    let solver = SolverName::Rkf45;
    let mut step = Integrator::new(solver, Tolerances::new(1e-10), &[1.0; 2]);
    assert!(step.set_fixed_step(0.1));
    let limits = StepLimits {
        time_end: 0.4,
        step_size_max: f64::INFINITY,
    };
    step.begin(&mut problem, 0.0, &start, limits)
        .expect("begins");
    while step.state()[1] < 0.0 {
        step.step(&mut problem, limits).expect("a step");
    }
    let zero = Threshold {
        index: 1,
        threshold: 0.0,
    };
    let (a, b) = (step.time_old(), step.time());
    let mut times = Vec::new();
    for method in [
        LocationMethod::Nordsieck,
        LocationMethod::Dense,
        LocationMethod::Bisection,
    ] {
        let mut curve = StepCurve::new(&step, solver, &mut problem, &zero, Between::Interpolate)
            .expect("interpolates");
        let found = trace(method, &mut curve, a, b).expect("evaluates");
        times.push(found.expect("a crossing").found.right);
    }
    assert!(times.iter().all(|t| (t - times[0]).abs() < 1e-15));
    assert!((times[0] - 0.5 * 2f64.ln()).abs() < 1e-6, "{times:?}");
    // What integration adds to (9.30a).
    let drift = step.state()[1] - problem.crossing.value(0.0, &step.state()[..1]);
    assert!(drift.abs() > 1e-12 && drift.abs() < 1e-5, "{drift:e}");
}

#[test]
fn explicit_euler_solved_for_its_step() {
    // From 2.6 at -7: 0.1/7 (15), the speed by (16).
    let step = explicit_euler(&[2.6, -7.0], &[-7.0, -9.80665], GROUND).expect("falls");
    assert!((step.step_size - 0.1 / 7.0).abs() < 1e-16);
    assert_eq!(step.x[0], 2.5);
    assert!((step.x[1] - (-7.0 - 9.80665 * 0.1 / 7.0)).abs() < 1e-15);
    assert!(step.deviation.abs() < 1e-15);
    let up = explicit_euler(&[2.6, 7.0], &[7.0, -9.80665], GROUND);
    assert_eq!(up, Err(EventStepError::MovesAway));
    let still = explicit_euler(&[2.6, 0.0], &[0.0, -9.80665], GROUND);
    assert_eq!(still, Err(EventStepError::StandsStill));
}

#[test]
fn implicit_euler_solved_for_its_step() {
    // x' = -x² to 0.5 from 0.6: (0.5 - 0.6)/(-0.25) (20).
    let mut decay = Ode(1, |_: f64, x: &[f64], dx: &mut [f64]| dx[0] = -x[0] * x[0]);
    let step = implicit_euler(&mut decay, 3.0, 0.6, 0.5, 1.0).expect("decays");
    assert!((step.step_size - 0.4).abs() < 1e-15);
    // x' = -t from t = 1: 0.6 - Δ(1 + Δ) = 0.5.
    let mut driven = Ode(1, |t: f64, _: &[f64], dx: &mut [f64]| dx[0] = -t);
    let step = implicit_euler(&mut driven, 1.0, 0.6, 0.5, 1.0).expect("falls");
    assert!((step.step_size - 0.5 * (1.4f64.sqrt() - 1.0)).abs() < 1e-15);
    let away = implicit_euler(&mut driven, 1.0, 0.6, 0.7, 1.0);
    assert_eq!(away, Err(EventStepError::MovesAway));
}

/// The trapezoidal rule is exact for a falling ball: Δ and the speed are those of the closed form (78).
#[test]
fn trapezoidal_rule_solved_for_step_and_states() {
    let mut problem = falling();
    let mut newton = Newton::new(2, 0);
    let event = EventVariable::State {
        index: 0,
        threshold: 2.5,
    };
    let x = fallen(0.45);
    let step = trapezoidal_event(
        &mut as_dae(&mut problem),
        &mut newton,
        0.45,
        (&x, &[]),
        event,
        0.1,
    );
    let step = step.expect("converges");
    assert!((0.45 + step.step_size - REACHED).abs() < 1e-14);
    assert!((step.x[1] - SPEED).abs() < 1e-13);
    assert!(step.deviation.abs() < 1e-14 && step.iterations < 10);
    // A plain step of the same size ends there too.
    let size = step.step_size;
    let plain = trapezoidal_step(
        &mut as_dae(&mut problem),
        &mut newton,
        0.45,
        (&x, &[]),
        size,
    );
    let plain = plain.expect("converges");
    assert!((plain.x[0] - 2.5).abs() < 1e-13 && plain.step_size == size);
    // The other way it does not come to its threshold.
    let up = [2.0, -7.0];
    let lost = trapezoidal_event(
        &mut as_dae(&mut problem),
        &mut newton,
        0.0,
        (&up, &[]),
        event,
        0.01,
    );
    assert_eq!(lost, Err(EventStepError::MovesAway));
}

/// x' = y₀ with y₀ = -x and y₁ = x².
struct Decay;

impl SemiExplicit for Decay {
    fn n_x(&self) -> usize {
        1
    }

    fn n_y(&self) -> usize {
        2
    }

    fn f(&mut self, _: f64, _: &[f64], y: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        dx[0] = y[0];
        Ok(())
    }

    fn g(&mut self, _: f64, x: &[f64], y: &[f64], r: &mut [f64]) -> Result<(), SolveError> {
        r[0] = y[0] + x[0];
        r[1] = y[1] - x[0] * x[0];
        Ok(())
    }
}

#[test]
fn semi_explicit_daes_reach_thresholds_of_algebraic_and_of_state_variables() {
    let mut newton = Newton::new(1, 2);
    let from: (&[f64], &[f64]) = (&[1.0], &[-1.0, 1.0]);
    // Trapezoidal rule: x = (1 - Δ/2)/(1 + Δ/2), so Δ = 2 (1 - x)/(1 + x).
    let state = EventVariable::State {
        index: 0,
        threshold: 0.9,
    };
    let step = trapezoidal_event(&mut Decay, &mut newton, 0.0, from, state, 0.3);
    let step = step.expect("converges");
    assert!((step.step_size - 0.2 / 1.9).abs() < 1e-14, "{step:?}");
    assert!((step.y[1] - 0.81).abs() < 1e-13 && (step.y[0] + 0.9).abs() < 1e-13);
    let algebraic = EventVariable::Algebraic {
        index: 1,
        threshold: 0.64,
    };
    let step = trapezoidal_event(&mut Decay, &mut newton, 0.0, from, algebraic, 0.3);
    let step = step.expect("converges");
    assert!((step.step_size - 0.4 / 1.8).abs() < 1e-14, "{step:?}");
    assert!((step.x[0] - 0.8).abs() < 1e-14 && step.y[1] == 0.64);
    assert!(step.deviation.abs() < 1e-14);
}

const HOW: Henon = Henon {
    solver: SolverName::Dopri5,
    tolerances: Tolerances {
        rel: 1e-12,
        abs: 1e-12,
    },
    step_size_max: 1.0,
};

#[test]
fn henon_exchanges_time_and_event_variable() {
    let mut problem = falling();
    let step = henon(&mut problem, &GROUND, 0.45, &fallen(0.45), HOW).expect("falls");
    assert!(!step.fell_back);
    assert!((0.45 + step.step_size - REACHED).abs() < 1e-11);
    assert!((step.x_transformed[0] - 2.5).abs() < 1e-11);
    assert!((step.x[0] - 2.5).abs() < 1e-10 && (step.x[1] - SPEED).abs() < 1e-10);
    assert!(step.rhs_evaluations > 0);
}

#[test]
fn henon_falls_back_where_its_denominator_vanishes() {
    // Thrown up from 2.6 with 1 m/s: the height turns before it comes down to 2.5.
    let mut problem = falling();
    let step = henon(&mut problem, &GROUND, 0.0, &[2.6, 1.0], HOW).expect("comes down");
    assert!(step.fell_back);
    let g = 9.80665;
    let exact = (1.0 + (1.0f64 + 2.0 * g * 0.1).sqrt()) / g;
    assert!((step.step_size - exact).abs() < 1e-11, "{step:?}");
    // It never comes up to 3.
    let high = Threshold {
        index: 0,
        threshold: 3.0,
    };
    let never = henon(&mut problem, &high, 0.0, &[2.6, 1.0], HOW);
    assert_eq!(never, Err(EventStepError::MovesAway));
}
