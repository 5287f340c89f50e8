//! Stiff problems with sparse Jacobians, against CVODE called from compiled code (`bench/cvode/peer.c`).
//!
//! The heat equation has its exact solution. The diode ladder is a chain of n exponential diodes from a sine source of n volts, with
//! a capacitor and a leak to ground after each: v_k' = (i_k - i_{k+1} - G v_k)/C, i_k = diode(v_{k-1} - v_k); the characteristic goes on
//! as a straight line beyond 15 thermal voltages, as in the Modelica Standard Library. Its error is measured against Radau IIA at a
//! tolerance of 1e-10.
//!
//! Both programs run at several tolerances; what counts is the time at equal error, interpolated in the logarithms.

use crate::measure::interleaved;
use crate::report::{Picture, Section, seconds};
use saltus_model::{Model, Slot, Values};
use saltus_plot::{PlotOptions, plot_lines};
use saltus_sim::{
    Control, EventRecord, Options, OutputGrid, Recorder, RowKind, RunStatistics, SolverName,
    simulate,
};
use saltus_testkit::OdeProblem;
use saltus_testkit::stiff::Heat;
use std::process::Command;

/// Names the program made from `bench/cvode/peer.c`.
const CVODE: &str = "SALTUS_CVODE";
const TOLERANCES: [f64; 7] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];
/// The tolerance of the reference of problems without exact solution.
const TOLERANCE_REFERENCE: f64 = 1e-10;
/// Integrations per round of CVODE.
const CVODE_ROUNDS: usize = 5;

mod ladder {
    const THERMAL_VOLTAGE: f64 = 0.04;
    const SATURATION: f64 = 1e-6;
    const EXPONENT_MAX: f64 = 15.0;
    const LEAKAGE: f64 = 1e-8;
    const CAPACITANCE: f64 = 1e-6;
    const CONDUCTANCE: f64 = 1e-5;
    const FREQUENCY: f64 = 50.0;

    fn diode(u: f64) -> f64 {
        let s = u / THERMAL_VOLTAGE;
        let e = s.min(EXPONENT_MAX).exp();
        let beyond = (s - EXPONENT_MAX).max(0.0);
        SATURATION * (e * (1.0 + beyond) - 1.0) + LEAKAGE * u
    }

    pub(super) fn derivatives(t: f64, x: &[f64], dx: &mut [f64]) {
        let n = x.len();
        let source = n as f64 * (2.0 * std::f64::consts::PI * FREQUENCY * t).sin();
        let mut into = diode(source - x[0]);
        for i in 0..n {
            let out = x.get(i + 1).map_or(0.0, |next| diode(x[i] - next));
            dx[i] = (into - out - CONDUCTANCE * x[i]) / CAPACITANCE;
            into = out;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Heat,
    Ladder,
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Which::Heat => "heat",
            Which::Ladder => "ladder",
        }
    }

    fn stop(self) -> f64 {
        match self {
            Which::Heat => 0.1,
            Which::Ladder => 0.04,
        }
    }
}

/// Tridiagonal, both problems.
fn pattern(n: usize) -> Vec<Vec<u32>> {
    Heat::new(n).pattern().to_vec()
}

/// Keeps the states at the end.
struct End(Vec<f64>);

impl Recorder for End {
    fn row(&mut self, values: &Values, kind: RowKind) {
        if kind == RowKind::Final {
            for (i, x) in self.0.iter_mut().enumerate() {
                *x = values.get(Slot(1 + i as u32));
            }
        }
    }

    fn event(&mut self, _event: &EventRecord) {}

    fn wants_events(&self) -> bool {
        false
    }
}

fn run_model<M: Model>(
    model: &M,
    n: usize,
    stop_time: f64,
    tolerance: f64,
    solver: SolverName,
) -> Option<(Vec<f64>, RunStatistics)> {
    let options = Options {
        stop_time,
        tolerance,
        output: OutputGrid::Intervals(1),
        solver,
        ..Options::default()
    };
    let mut end = End(vec![0.0; n]);
    let summary = simulate(
        &mut model.instantiate(),
        &options,
        &Control::default(),
        &mut end,
    );
    summary.ok().map(|summary| (end.0, summary.statistics))
}

/// One point of a work-precision line.
struct Point {
    tolerance: f64,
    error: f64,
    seconds: f64,
    steps: u64,
    evaluations: u64,
    factorizations: u64,
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    (a.iter().zip(b)).fold(0.0, |largest: f64, (a, b)| largest.max((a - b).abs()))
}

fn measure_saltus<M: Model>(
    model: &M,
    (n, stop, reference): (usize, f64, &[f64]),
    solver: SolverName,
) -> Vec<Point> {
    let mut points = Vec::new();
    for tolerance in TOLERANCES {
        let mut last = None;
        let seconds = interleaved(&mut [&mut || {
            last = run_model(model, n, stop, tolerance, solver);
        }])[0];
        let Some((end, statistics)) = last else {
            continue;
        };
        points.push(Point {
            tolerance,
            error: largest_difference(&end, reference),
            seconds,
            steps: statistics.steps,
            evaluations: statistics.rhs_evaluations,
            factorizations: statistics.factorizations,
        });
    }
    points
}

fn measure_cvode(which: Which, solver: &str, n: usize, reference: &[f64]) -> Option<Vec<Point>> {
    let program = std::env::var_os(CVODE)?;
    let mut points = Vec::new();
    for tolerance in TOLERANCES {
        let output = Command::new(&program)
            .args([which.name(), solver])
            .args([n.to_string(), format!("{tolerance:e}")])
            .arg(CVODE_ROUNDS.to_string())
            .output()
            .unwrap_or_else(|error| panic!("cannot run the program of {CVODE}: {error}"));
        assert!(output.status.success(), "CVODE failed");
        let text = String::from_utf8(output.stdout).expect("numbers");
        let mut lines = text.lines();
        let first: Vec<f64> = (lines.next().expect("a line").split(' '))
            .map(|word| word.parse().expect("a number"))
            .collect();
        let end: Vec<f64> = lines.map(|word| word.parse().expect("a number")).collect();
        points.push(Point {
            tolerance,
            error: largest_difference(&end, reference),
            seconds: first[0],
            steps: first[1] as u64,
            evaluations: first[2] as u64,
            factorizations: first[4] as u64,
        });
    }
    Some(points)
}

/// Seconds for an error: among the points that no other one beats in both, linear in the logarithms between neighbours. A program that is
/// more accurate at every tolerance counts with its fastest point; `None` for one that never reaches the error.
fn seconds_at(points: &[Point], error: f64) -> Option<f64> {
    let mut front: Vec<&Point> = (points.iter())
        .filter(|p| {
            let beaten = |q: &Point| q.error < p.error && q.seconds <= p.seconds;
            !points.iter().any(beaten)
        })
        .collect();
    front.sort_by(|a, b| b.error.total_cmp(&a.error));
    let after = front.iter().position(|p| p.error <= error)?;
    let b = front[after];
    if after == 0 {
        return Some(b.seconds);
    }
    let a = front[after - 1];
    let share = (a.error / error).ln() / (a.error / b.error).ln();
    Some((a.seconds.ln() + share * (b.seconds / a.seconds).ln()).exp())
}

const SOLVERS: [SolverName; 2] = [SolverName::Radau, SolverName::Bdf];

/// One problem of one size: a row per program and tolerance, lines for the picture, the ratio at equal error.
fn compare(which: Which, n: usize, errors: &[f64]) -> Section {
    let stop = which.stop();
    let exact;
    let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
    let states: Vec<(String, f64)> = {
        let mut start = vec![0.0; n];
        if which == Which::Heat {
            Heat::new(n).exact(0.0, &mut start);
        }
        (0..n).map(|i| format!("x{i}")).zip(start).collect()
    };
    let states: Vec<(&str, f64)> = states.iter().map(|(s, x)| (s.as_str(), *x)).collect();
    match which {
        Which::Heat => {
            let heat = Heat::new(n);
            let mut end = vec![0.0; n];
            heat.exact(stop, &mut end);
            exact = end;
            let model = OdeProblem::new("Heat", &states, move |at, dx| heat.derivatives(at.x, dx))
                .pattern(pattern(n))
                .build();
            for solver in SOLVERS {
                let points = measure_saltus(&model, (n, stop, &exact), solver);
                lines.push((format!("saltus {}", solver.as_str()), points));
            }
        }
        Which::Ladder => {
            let model = OdeProblem::new("DiodeLadder", &states, |at, dx| {
                ladder::derivatives(at.t, at.x, dx);
            })
            .pattern(pattern(n))
            .build();
            let reference = run_model(&model, n, stop, TOLERANCE_REFERENCE, SolverName::Radau);
            exact = reference.expect("the reference runs").0;
            for solver in SOLVERS {
                let points = measure_saltus(&model, (n, stop, &exact), solver);
                lines.push((format!("saltus {}", solver.as_str()), points));
            }
        }
    }
    for solver in ["band", "klu"] {
        if let Some(points) = measure_cvode(which, solver, n, &exact) {
            lines.push((format!("CVODE {solver}"), points));
        }
    }
    section(which, n, &lines, errors)
}

fn section(which: Which, n: usize, lines: &[(String, Vec<Point>)], errors: &[f64]) -> Section {
    let mut rows = Vec::new();
    for (name, points) in lines {
        for p in points {
            rows.push(vec![
                name.clone(),
                format!("{:.0e}", p.tolerance),
                format!("{:.1e}", p.error),
                seconds(p.seconds),
                p.steps.to_string(),
                p.evaluations.to_string(),
                p.factorizations.to_string(),
            ]);
        }
    }
    let best = |prefix: &str, error: f64| {
        (lines.iter())
            .filter(|(name, _)| name.starts_with(prefix))
            .filter_map(|(_, points)| seconds_at(points, error))
            .min_by(f64::total_cmp)
    };
    let ratios: Vec<String> = errors
        .iter()
        .filter_map(|&error| {
            let ratio = best("saltus", error)? / best("CVODE", error)?;
            Some(format!("**{ratio:.2}** at an error of {error:.0e}"))
        })
        .collect();
    let ratios = match ratios.is_empty() {
        true => "no ratio: CVODE was not there, or the errors do not overlap".to_owned(),
        false => ratios.join(", "),
    };
    let title = match which {
        Which::Heat => format!("Heat equation, {n} states"),
        Which::Ladder => format!("Diode ladder, {n} diodes"),
    };
    let picture_lines: Vec<_> = (lines.iter())
        .map(|(name, points)| {
            let log = |p: &Point| (p.error.log10(), p.seconds.log10());
            (name.clone(), points.iter().map(log).collect())
        })
        .collect();
    let options = PlotOptions {
        title: Some(format!("{title}: log10 of seconds")),
        horizontal: "log10 of the largest error".to_owned(),
        ..PlotOptions::default()
    };
    let name: &'static str = match (which, n) {
        (Which::Heat, 1_000) => "heat-1000",
        (Which::Heat, _) => "heat-20000",
        (Which::Ladder, 10) => "ladder-10",
        (Which::Ladder, 50) => "ladder-50",
        (Which::Ladder, _) => "ladder-200",
    };
    Section {
        title,
        text: format!("Time against CVODE's at equal error (best of each): {ratios}."),
        header: vec![
            "program",
            "tolerance",
            "largest error",
            "time",
            "steps",
            "evaluations",
            "factorizations",
        ],
        rows,
        picture: plot_lines(&picture_lines, &options)
            .ok()
            .map(|svg| Picture { name, svg }),
    }
}

pub(crate) fn heat(n: usize) -> Section {
    compare(Which::Heat, n, &[1e-4, 1e-5, 1e-6])
}

pub(crate) fn diode_ladder(n: usize) -> Section {
    compare(Which::Ladder, n, &[1e-3, 1e-4, 1e-5])
}
