//! All methods beside each other: integrators, isolation, location, short-lived events, event steps.

use saltus_solve::roots::isolate::{IsolationRule, isolate};
use saltus_solve::roots::location::{Curve, LocationMethod, trace};
use saltus_solve::roots::short_lived::{by_derivative, by_sturm};
use saltus_solve::roots::step_curve::{Between, StepCurve};
use saltus_solve::{Integrator, Problem, SolveError, SolverName, StepLimits, Tolerances};

use crate::ball::{self, Ball};
use crate::filament::{self, Filament};
use crate::hybrid::{
    Bounds, Event, Finder, Hybrid, Motion, Reduced, Run, by_root_finder, controlled, euler, henons,
    trapezoidal,
};
use crate::report::{Check, Report, Table};
use crate::rotor::Rotor;

/// Random sets and dips in the tables.
const CASES: u32 = 1000;

pub(crate) fn study() -> Report {
    let mut report = Report::new(
        "event-methods",
        "Methods for events",
        "The methods of the textbook (Cellier and Kofman, Continuous System Simulation, chapter 9) and of the dissertation (R. Karim, TU Wien 2016), each as its source has it, \
         on small problems with known answers. Those of the dissertation on its own systems: `saltus study bouncing-ball`, `filament-pendulum`, `rotor-stator`.",
    );
    integrators(&mut report);
    isolation(&mut report);
    location(&mut report);
    root_solvers(&mut report);
    short_lived(&mut report);
    event_steps(&mut report);
    which_when(&mut report);
    report
}

/// x'' = -x
struct Oscillator;

impl Problem for Oscillator {
    fn n_states(&self) -> usize {
        2
    }

    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        dx[0] = x[1];
        dx[1] = -x[0];
        Ok(())
    }
}

fn oscillate(integrator: &mut Integrator, time_end: f64) -> f64 {
    let limits = StepLimits {
        time_end,
        step_size_max: f64::INFINITY,
    };
    integrator
        .begin(&mut Oscillator, 0.0, &[1.0, 0.0], limits)
        .expect("begins");
    while integrator.time() < time_end {
        integrator
            .step_bare(&mut Oscillator, limits)
            .expect("a smooth problem");
    }
    (integrator.state()[0] - time_end.cos()).hypot(integrator.state()[1] + time_end.sin())
}

fn integrators(report: &mut Report) {
    let mut table = Table::new(
        "Integrators: order with fixed steps, and a controlled run to t = 10 of x'' = -x",
        &[
            "method",
            "order",
            "measured",
            "tolerance",
            "steps",
            "evaluations",
            "error",
        ],
    );
    for (solver, order, steps) in [
        (SolverName::Euler, 1, 4000),
        (SolverName::BackwardEuler, 1, 4000),
        (SolverName::Trapezoidal, 2, 400),
        (SolverName::Rk4, 4, 80),
        (SolverName::RungeKuttaSimpson, 4, 80),
        (SolverName::Rkf45, 4, 80),
        (SolverName::Lobatto, 4, 80),
    ] {
        let fixed = |steps: u32| {
            let mut integrator = Integrator::new(solver, Tolerances::new(1e-12), &[1.0; 2]);
            assert!(
                integrator.set_fixed_step(4.0 / f64::from(steps)),
                "a textbook method"
            );
            oscillate(&mut integrator, 4.0)
        };
        let measured = (fixed(steps) / fixed(2 * steps)).log2();
        let tolerance = if order == 1 { 1e-4 } else { 1e-6 };
        let mut integrator = Integrator::new(solver, Tolerances::new(tolerance), &[1.0; 2]);
        let error = oscillate(&mut integrator, 10.0);
        let cost = integrator.statistics();
        table.row([
            solver.as_str().to_owned(),
            order.to_string(),
            format!("{measured:.2}"),
            format!("{tolerance:.0e}"),
            cost.steps.to_string(),
            cost.rhs_evaluations.to_string(),
            format!("{error:.1e}"),
        ]);
        report.checks.push(Check::at_most(
            format!("error of {} over its tolerance", solver.as_str()),
            error / tolerance,
            if order <= 2 { 2000.0 } else { 200.0 },
        ));
        report.checks.push(Check::new(
            format!("order of {}", solver.as_str()),
            measured,
            f64::from(order),
            0.2,
        ));
    }
    report.tables.push(table);
}

/// Three functions like those of figure 9.12: the first one stays above zero, the others cross it.
fn three(t: f64, out: &mut [f64]) {
    out[0] = 1.4 - 0.4 * t + 0.08 * t * t;
    out[1] = 1.2 * (t - 2.2) - 0.15 * (t - 2.2) * (t - 2.2);
    out[2] = 0.3 * (t - 1.7) + 0.2 * (t - 1.7).powi(3);
}

fn isolation(report: &mut Report) {
    let mut table = Table::new(
        "Isolation of the first of several crossings in a step (9.7, 9.8)",
        &[
            "rule",
            "figure 9.12: points",
            "interval",
            "function",
            "random sets: points, mean",
            "most",
            "the earliest first",
        ],
    );
    for rule in IsolationRule::ALL {
        let evaluate = |t: f64, out: &mut [f64]| {
            three(t, out);
            Ok(())
        };
        let found = isolate(rule, evaluate, 3, 1.0, 4.0).expect("plain functions");
        let found = found.expect("two cross");
        report.checks.push(Check::new(
            format!("figure 9.12 by {}: the third function first", rule.as_str()),
            found.functions[0] as f64,
            2.0,
            0.0,
        ));
        let (mut points, mut most, mut right) = (0u32, 0, 0u32);
        let mut numbers = Numbers(11);
        for _ in 0..CASES {
            let n = 2 + (numbers.next() * 4.0) as usize;
            let roots: Vec<(f64, f64)> = (0..n)
                .map(|_| (numbers.next(), 0.2 + 5.0 * numbers.next()))
                .collect();
            let evaluate = |t: f64, out: &mut [f64]| {
                for (out, (root, bend)) in out.iter_mut().zip(&roots) {
                    *out = (bend * (t - root)).exp_m1();
                }
                Ok(())
            };
            let found = isolate(rule, evaluate, n, 0.0, 1.0).expect("plain functions");
            let found = found.expect("all cross");
            let first = (0..n).min_by(|&a, &b| roots[a].0.total_cmp(&roots[b].0));
            right += u32::from(found.functions.first() == first.as_ref());
            points += found.points.len() as u32;
            most = most.max(found.points.len());
        }
        table.row([
            rule.as_str().to_owned(),
            found.points.len().to_string(),
            format!("[{:.4}, {:.4}]", found.left, found.right),
            format!("f{}", found.functions[0] + 1),
            format!("{:.1}", f64::from(points) / f64::from(CASES)),
            most.to_string(),
            format!("{right} of {CASES}"),
        ]);
        report.checks.push(Check::new(
            format!("random sets by {}: the earliest first", rule.as_str()),
            f64::from(right),
            f64::from(CASES),
            0.0,
        ));
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for k in 0..3 {
            let line = (0..=60).map(|i| {
                let t = 1.0 + f64::from(i) / 20.0;
                let mut out = [0.0; 3];
                three(t, &mut out);
                (t, out[k])
            });
            lines.push((format!("f{}", k + 1), line.collect()));
        }
        report.draw(
            &format!("isolation-{}", rule.as_str()),
            &format!("Points looked at by {} (figures 9.12, 9.14)", rule.as_str()),
            "time [s]",
            &lines,
            found.points,
        );
    }
    report.tables.push(table);
}

/// One step of RKF4(5) over the first event of the filament pendulum, of a size that a loose tolerance gives.
fn location(report: &mut Report) {
    let mut table = Table::new(
        "Location of the first event of the filament pendulum in one step of RKF4(5) from 0.53 to 0.58",
        &[
            "method",
            "on the interpolant: points",
            "rates",
            "on its polynomial",
            "outside",
            "slow",
            "closing",
            "ulp from the root",
            "step repeated: points",
            "time",
        ],
    );
    let system = Filament::default();
    let solver = SolverName::Rkf45;
    let mut problem = Motion(&system);
    let event = Event(&system);
    let mut integrator = Integrator::new(SolverName::Dop853, Tolerances::new(1e-13), &[1.0; 2]);
    let mut limits = StepLimits {
        time_end: 0.53,
        step_size_max: f64::INFINITY,
    };
    integrator
        .begin(&mut problem, 0.0, &filament::start(), limits)
        .expect("begins");
    while integrator.time() < limits.time_end {
        integrator
            .step(&mut problem, limits)
            .expect("a smooth problem");
    }
    let x = integrator.state().to_vec();
    let mut step = Integrator::new(solver, Tolerances::new(1e-6), &[1.0; 2]);
    assert!(step.set_fixed_step(0.05), "a textbook method");
    limits.time_end = 0.58;
    step.begin(&mut problem, 0.53, &x, limits).expect("begins");
    step.step(&mut problem, limits).expect("a smooth problem");
    let mut times = [Vec::new(), Vec::new()];
    let mut iterates = Vec::new();
    for method in LocationMethod::ALL {
        let found = Between::ALL.map(|between| {
            let curve = StepCurve::new(&step, solver, &mut problem, &event, between);
            let mut curve = curve.expect("a textbook method");
            let found = trace(method, &mut curve, 0.53, 0.58).expect("evaluates");
            found.expect("the tension vanishes")
        });
        let [interpolated, repeated] = found;
        times[0].push(interpolated.found.right);
        times[1].push(repeated.found.right);
        let root = times[0][0];
        let ulps = (interpolated.found.right - root) / (root.next_up() - root);
        let guards = interpolated.safeguards;
        table.row([
            method.as_str().to_owned(),
            interpolated.found.evaluations.to_string(),
            interpolated.rates.to_string(),
            interpolated.inner.len().to_string(),
            guards.outside.to_string(),
            guards.slow.to_string(),
            guards.closing.to_string(),
            format!("{ulps:.0}"),
            repeated.found.evaluations.to_string(),
            format!("{:.12}", repeated.found.right),
        ]);
        report.checks.push(Check::new(
            format!("{}: ulp from the root of the interpolant", method.as_str()),
            ulps,
            0.0,
            4.0,
        ));
        if matches!(
            method,
            LocationMethod::Bisection
                | LocationMethod::RegulaFalsi
                | LocationMethod::Newton
                | LocationMethod::CubicHermite
                | LocationMethod::InverseHermite
        ) {
            let distance = interpolated.iterates.iter().map(|t| (t - root).abs());
            let line = distance
                .enumerate()
                .filter(|(_, d)| *d > 0.0)
                .map(|(k, d)| (k as f64 + 1.0, d.log10()));
            iterates.push((method.as_str().to_owned(), line.take(12).collect()));
        }
    }
    let spread = |times: &[f64]| {
        let (low, high) = times
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| {
                (a.min(*t), b.max(*t))
            });
        high - low
    };
    report.checks.push(Check::at_most(
        "repeated steps: times of all methods agree",
        spread(&times[1]),
        1e-14,
    ));
    report.checks.push(Check::new(
        "repeated step of size 0.03: time of the event",
        times[1][0],
        0.560_021_628_505_124_6,
        2e-8,
    ));
    report.checks.push(Check::new(
        "interpolant of a step of size 0.05: time of the event",
        times[0][0],
        0.560_021_628_505_124_6,
        2e-6,
    ));
    report.remarks.push(format!(
        "The interpolant's root is {:.1e} s from the event, that of repeated steps {:.1e} s: the repeated step is shorter than the whole one, and its error is that of the end of \
         a step (9.5.2).",
        times[0][0] - 0.560_021_628_505_124_6,
        times[1][0] - 0.560_021_628_505_124_6
    ));
    report.remarks.push(
        "The cubic by the 4x4 system in powers of time (9.12) has the root of Hermite's basis as long as the bracket is wide; as it narrows the powers cancel, the root is lost and \
         the safeguard halves. The basis of H9.4 does not have this fault."
            .to_owned(),
    );
    report.tables.push(table);
    report.draw(
        "iterates",
        "Distance of the points from the root, powers of ten (figures 9.15 to 9.17)",
        "point",
        &iterates,
        Vec::new(),
    );
}

/// Events of the ball for the homeworks on root solvers.
const BOUNCES: usize = 10;

/// H9.1 to H9.4, P9.1 and the others: RKF4(5) with controlled steps through ten events of the ball.
fn root_solvers(report: &mut Report) {
    let mut table = Table::new(
        "Root solvers of RKF4(5) (H9.1 to H9.4, P9.1): ten events of the bouncing ball at tolerance 1e-7, for each event",
        &[
            "method",
            "points on the interpolant",
            "rates",
            "error of the last time",
            "points with repeated steps",
            "steps repeated",
            "error of the last time",
        ],
    );
    let exact = ball::exact(BOUNCES)[BOUNCES - 1];
    let bounds = Bounds {
        events: BOUNCES,
        time_end: 20.0,
        step: f64::INFINITY,
    };
    for method in LocationMethod::ALL {
        let [interpolated, repeated] = Between::ALL.map(|between| {
            let finder = Finder {
                solver: SolverName::Rkf45,
                tolerance: 1e-7,
                method,
                between,
            };
            let run = controlled(
                Ball::default(),
                &ball::start(),
                bounds,
                finder,
                |_, _, _| {},
            );
            let late = run.events.last().map_or(f64::NAN, |found| found.t - exact);
            report.checks.push(Check::at_most(
                format!(
                    "{}, {}: time of event {BOUNCES}",
                    method.as_str(),
                    between.as_str()
                ),
                late.abs(),
                1e-4,
            ));
            report.checks.push(Check::new(
                format!("{}, {}: events", method.as_str(), between.as_str()),
                run.events.len() as f64,
                BOUNCES as f64,
                0.0,
            ));
            (run, late)
        });
        let each = |sum: u32| format!("{:.1}", f64::from(sum) / BOUNCES as f64);
        table.row([
            method.as_str().to_owned(),
            each(interpolated.0.located.points),
            each(interpolated.0.located.rates),
            format!("{:.1e}", interpolated.1),
            each(repeated.0.located.points),
            each(repeated.0.located.repeated),
            format!("{:.1e}", repeated.1),
        ]);
    }
    report.tables.push(table);
}

/// A dip of given width into zero, as the polynomial of a step: a parabola with a bend of fourth degree.
struct Dip {
    coefficients: Vec<f64>,
}

impl Curve for Dip {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(horner(&self.coefficients, t))
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        let rates: Vec<f64> = (1..self.coefficients.len())
            .map(|k| k as f64 * self.coefficients[k])
            .collect();
        Ok(horner(&rates, t))
    }

    fn polynomial(&mut self, _: f64, _: f64) -> Result<Vec<f64>, SolveError> {
        Ok(self.coefficients.clone())
    }
}

fn horner(coefficients: &[f64], t: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// (t - a)(t - b)(1 + c t + d t²): roots a and b, and none else where the last factor is positive.
fn dip(a: f64, b: f64, c: f64, d: f64) -> Dip {
    let (p, q) = (a * b, -(a + b));
    Dip {
        coefficients: vec![p, q + c * p, 1.0 + c * q + d * p, c + d * q, d],
    }
}

fn short_lived(report: &mut Report) {
    let mut table = Table::new(
        "Two crossings within one step: signs at the ends see none; the rate as crossing function (9.5.4) and Sturm's sequence (P9.2)",
        &[
            "width of the dip",
            "by the rate: found",
            "evaluations",
            "by Sturm's sequence: found",
            "evaluations of the sequence",
        ],
    );
    let mut numbers = Numbers(3);
    for width in [1e-1, 1e-3, 1e-5, 1e-7] {
        let (mut rate, mut sturm) = ((0u32, 0u32), (0u32, 0u32));
        for _ in 0..CASES {
            let a = 0.02 + (0.96 - width) * numbers.next();
            // The factor turns the rate once more in some of them.
            let c = 6.0 * (numbers.next() - 0.5);
            let d = 0.25 * c * c + 0.05 + 8.0 * numbers.next();
            let mut curve = dip(a, a + width, c, d);
            let found = by_derivative(&mut curve, 0.0, 1.0).expect("a polynomial");
            rate.0 += u32::from(found.brackets.len() == 2);
            rate.1 += found.evaluations;
            let found = by_sturm(&curve.coefficients, 0.0, 1.0);
            sturm.0 += u32::from(found.brackets.len() == 2);
            sturm.1 += found.evaluations;
        }
        let mean = |sum: u32| format!("{:.1}", f64::from(sum) / f64::from(CASES));
        table.row([
            format!("{width:.0e}"),
            format!("{} of {CASES}", rate.0),
            mean(rate.1),
            format!("{} of {CASES}", sturm.0),
            mean(sturm.1),
        ]);
        report.checks.push(Check::new(
            format!("dips of width {width:.0e} found by Sturm's sequence"),
            f64::from(sturm.0),
            f64::from(CASES),
            // Depths of 1e-11 and less come near the round-off of the divisions.
            match width {
                w if w > 1e-4 => 0.0,
                w if w > 1e-6 => 0.02 * f64::from(CASES),
                _ => f64::from(CASES),
            },
        ));
    }
    report.tables.push(table);
    non_essential(report);
    report.remarks.push(
        "The rate misses dips where the function turns more than once in the step; Sturm's sequence misses none until the dip is as deep as the round-off of its divisions. The run loop \
         uses neither but Bernstein coefficients, which have the certainty of the second without its divisions."
            .to_owned(),
    );
}

/// A function like that of figure 9.18 on a step from 1 to 4, above zero at both ends: its crossings, found by the rate and by Sturm's sequence, located.
fn non_essential(report: &mut Report) {
    let (first, second) = (1.55, 2.15);
    let scaled = |t: f64| (t - 1.0) / 3.0;
    let mut curve = dip(scaled(first), scaled(second), -0.8, 0.5);
    let missed = trace(LocationMethod::default(), &mut curve, 0.0, 1.0);
    report.checks.push(Check::new(
        "figure 9.18: crossings seen by signs at the ends",
        f64::from(u8::from(missed.expect("a polynomial").is_some())),
        0.0,
        0.0,
    ));
    let by_rate = by_derivative(&mut curve, 0.0, 1.0).expect("a polynomial");
    let by_sequence = by_sturm(&curve.coefficients, 0.0, 1.0);
    let mut times = Vec::new();
    for (name, found) in [("rate", by_rate), ("Sturm's sequence", by_sequence)] {
        times = found
            .brackets
            .iter()
            .map(|&(a, b)| {
                let located = trace(LocationMethod::default(), &mut curve, a, b);
                let located = located.expect("a polynomial");
                located.map_or(f64::NAN, |located| 1.0 + 3.0 * located.found.right)
            })
            .collect();
        for (k, exact) in [first, second].into_iter().enumerate() {
            report.checks.push(Check::new(
                format!("figure 9.18: crossing {} by the {name}", k + 1),
                times.get(k).copied().unwrap_or(f64::NAN),
                exact,
                1e-13,
            ));
        }
    }
    let points: Vec<f64> = (0..=90).map(|k| f64::from(k) / 90.0).collect();
    let mut line = |f: &mut dyn FnMut(&mut Dip, f64) -> f64| {
        let at = |&t: &f64| (1.0 + 3.0 * t, f(&mut curve, t));
        points.iter().map(at).collect::<Vec<_>>()
    };
    let value = line(&mut |curve, t| horner(&curve.coefficients, t));
    let rate = line(&mut |curve, t| curve.rate(t).map_or(f64::NAN, |rate| rate / 3.0));
    report.draw(
        "non-essential",
        "A function that crosses zero twice in a step, and its rate (figure 9.18)",
        "time [s]",
        &[("f1".to_owned(), value), ("f2, its rate".to_owned(), rate)],
        times,
    );
}

/// The first event of a system by one way.
type Way<H> = fn(&H, &[f64], Bounds) -> Run;

/// The first event of the dissertation's systems by all its steps.
fn event_steps(report: &mut Report) {
    let mut table = Table::new(
        "Event steps: the first event of the dissertation's systems with steps of 1e-4; error of the time / of the event variable in the states",
        &[
            "method",
            "bouncing ball",
            "filament pendulum",
            "rotor-stator",
        ],
    );
    let columns = [
        column(Ball::default(), &ball::start(), 0.503_257_552_201_098_3),
        column(
            Filament::default(),
            &filament::start(),
            0.560_021_628_505_124_6,
        ),
        column(Rotor::default(), &[0.0; 8], 0.247_955_781_690_583_9),
    ];
    let names = [
        (
            "explicit Euler solved for the step (2.1.1; index-reduced, 3.2)",
            4e-3,
        ),
        ("RK4, the step by Newton's method (2.2.1)", 1e-9),
        ("RK4, the step by Pegasus (2.2.1)", 1e-9),
        (
            "trapezoidal rule, Newton over step and states (2.2.2, 3.3.1)",
            1e-6,
        ),
        ("trapezoidal rule, index-reduced (3.2)", 1e-6),
        ("Hénon (4.1, 4.2)", 1e-9),
        ("Hénon, index-reduced", 1e-9),
    ];
    for (k, (name, allowed)) in names.into_iter().enumerate() {
        let mut cells = vec![name.to_owned()];
        for (column, system) in columns.iter().zip(["ball", "filament", "rotor"]) {
            let (late, constraint) = column[k];
            cells.push(format!("{late:.1e} / {constraint:.1e}"));
            report.checks.push(Check::at_most(
                format!("{name}, {system}: error of the time"),
                late.abs(),
                allowed,
            ));
        }
        table.row(cells);
    }
    report.tables.push(table);
}

/// Errors of the time and of the constraint for every method of the table.
fn column<H: Hybrid + Clone>(system: H, x: &[f64], exact: f64) -> Vec<(f64, f64)> {
    let ways: [Way<H>; 7] = [
        |system, x, bounds| reduced(system, x, bounds, euler),
        |system, x, bounds| by_root_finder(system.clone(), x, bounds, LocationMethod::Newton),
        |system, x, bounds| by_root_finder(system.clone(), x, bounds, LocationMethod::Pegasus),
        |system, x, bounds| trapezoidal(system.clone(), x, bounds),
        |system, x, bounds| reduced(system, x, bounds, trapezoidal),
        |system, x, bounds| henons(system.clone(), x, bounds),
        |system, x, bounds| reduced(system, x, bounds, henons),
    ];
    let bounds = Bounds {
        events: 1,
        time_end: 1.0,
        step: 1e-4,
    };
    ways.iter()
        .map(|way| {
            let run = way(&system, x, bounds);
            (run.events.first()).map_or((f64::NAN, f64::NAN), |found| {
                (found.t - exact, found.constraint_error)
            })
        })
        .collect()
}

/// The system with its event variable as one more state.
fn reduced<H: Hybrid + Clone>(
    system: &H,
    x: &[f64],
    bounds: Bounds,
    way: impl Fn(Reduced<H>, &[f64], Bounds) -> Run,
) -> Run {
    let reduced = Reduced(system.clone());
    let x = reduced.extended(0.0, x);
    way(reduced, &x, bounds)
}

/// Tables 13 and 16 of the dissertation in our words.
fn which_when(report: &mut Report) {
    let mut table = Table::new(
        "Which event step when (tables 13 and 16 of the dissertation)",
        &["method", "for", "good", "bad"],
    );
    table.row([
        "reformulated explicit Euler",
        "ODEs; DAEs after index reduction",
        "a division; the event variable is on its threshold to round-off",
        "first order: the time is off by the error of the run; drift-off of an index-reduced variable",
    ]);
    table.row([
        "reformulated implicit Euler",
        "one autonomous equation",
        "a division; stiff equations",
        "first order; a root finder as soon as time appears",
    ]);
    table.row([
        "explicit formula with root finder",
        "ODEs",
        "order of the formula; any method of location",
        "some repeated steps",
    ]);
    table.row([
        "trapezoidal rule with Newton over step and states",
        "ODEs and semi-explicit DAEs, without index reduction",
        "second order; algebraic and state events alike; stiff equations",
        "a linear system of all unknowns; may not converge",
    ]);
    table.row([
        "Hénon",
        "ODEs; DAEs after one differentiation",
        "no iteration, order of the integrator",
        "none where the event variable turns on the way: needs a fall-back",
    ]);
    table.row([
        "dense output (the run loop)",
        "all",
        "order of the interpolant; all crossings of the step in their order",
        "the error of the interpolant, which is controlled",
    ]);
    report.tables.push(table);
}

struct Numbers(u64);

impl Numbers {
    /// In [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
