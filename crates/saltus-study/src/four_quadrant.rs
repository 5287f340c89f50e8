//! The four-quadrant rectifier with hysteresis control (figures 9.7 to 9.10): with events, against the piecewise exact solution; and as it was simulated in the seventies, with Runge-Kutta-Simpson and
//! no events, where it creeps.

use std::f64::consts::PI;

use saltus::Error;
use saltus_plot::{Line, LineStyle};
use saltus_solve::{Integrator, Problem, SolveError, SolverName, StepLimits, Tolerances};

use crate::linear::{Flow, Switched};
use crate::report::{Check, Report, Table};
use crate::runs::{self, Setup, repository_model, study_model};

const U: f64 = 1000.0;
const L: f64 = 0.02;
const R: f64 = 0.01;
const C: f64 = 20.0;
const I: f64 = 422.0;
const WANTED: f64 = 1000.0;
const BAND: f64 = 200.0;
const UZ: f64 = 1184.0;
/// The first half period, as in the textbook's figure.
const STOP: f64 = PI;

/// States: current, intermediate voltage, sin t, cos t, 1.
fn flow(connected: bool) -> Flow<5> {
    let s = f64::from(u8::from(connected));
    Flow([
        [-R / L, -s / L, U / L, 0.0, 0.0],
        [s / C, 0.0, 0.0, 0.0, -I / C],
        [0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, -1.0, 0.0, 0.0],
        [0.0; 5],
    ])
}

/// Exact commutations.
fn commutations() -> Vec<f64> {
    let above = |z: &[f64; 5]| z[0] - WANTED * z[2];
    let circuit = Switched {
        flows: [flow(false), flow(true)],
        stays: [&|_, z| BAND - above(z), &|_, z| BAND + above(z)],
        scan: 2e-3,
    };
    circuit
        .solve([0.0, UZ, 0.0, 1.0, 1.0], 0, STOP)
        .switchings()
}

/// The same circuit in one piece of code: the relay is set wherever the integrator looks.
struct Relay {
    connected: bool,
}

impl Relay {
    fn set(&mut self, t: f64, i: f64) {
        let above = i - WANTED * t.sin();
        self.connected = match self.connected {
            true => above >= -BAND,
            false => above > BAND,
        };
    }
}

impl Problem for Relay {
    fn n_states(&self) -> usize {
        2
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.set(t, x[0]);
        let s = f64::from(u8::from(self.connected));
        dx[0] = (U * t.sin() - R * x[0] - s * x[1]) / L;
        dx[1] = (s * x[0] - I) / C;
        Ok(())
    }
}

/// What the old program would have printed.
struct Old {
    steps: Vec<(f64, f64)>,
    current: Vec<(f64, f64)>,
    rejected: u64,
    evaluations: u64,
    commutations: usize,
    outside: f64,
    /// Longest stretch of sweeps that are too short: the current hangs in a part of its band.
    hanging: (f64, f64),
}

/// A sweep from border to border covers the whole band; shorter ones than this share of it are wrong.
const SWEEP: f64 = 0.75;
const STEPS_MAX: usize = 200_000;

fn old_program(solver: SolverName, tolerance: f64) -> Option<Old> {
    let mut problem = Relay { connected: false };
    let mut integrator = Integrator::new(solver, Tolerances::new(tolerance), &[1e3; 2]);
    let limits = StepLimits {
        time_end: STOP,
        step_size_max: 0.1,
    };
    integrator
        .begin(&mut problem, 0.0, &[0.0, UZ], limits)
        .ok()?;
    let mut old = Old {
        steps: Vec::new(),
        current: vec![(0.0, 0.0)],
        rejected: 0,
        evaluations: 0,
        commutations: 0,
        outside: 0.0,
        hanging: (0.0, 0.0),
    };
    // Since when the sweeps are too short; where in the band the last one began.
    let (mut before, mut since, mut began) = (false, 0.0, -BAND);
    while integrator.time() < STOP && old.steps.len() < STEPS_MAX {
        integrator.step(&mut problem, limits).ok()?;
        let (t, i) = (integrator.time(), integrator.state()[0]);
        old.steps.push((t, t - integrator.time_old()));
        old.current.push((t, i));
        old.outside = old.outside.max((i - WANTED * t.sin()).abs() - BAND);
        if problem.connected != before {
            before = problem.connected;
            old.commutations += 1;
            let place = i - WANTED * t.sin();
            if (place - began).abs() > SWEEP * 2.0 * BAND {
                since = t;
            }
            began = place;
            if t - since > old.hanging.1 - old.hanging.0 {
                old.hanging = (since, t);
            }
        }
    }
    let statistics = integrator.statistics();
    old.rejected = statistics.steps_rejected;
    old.evaluations = statistics.rhs_evaluations;
    Some(old)
}

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "four-quadrant",
        "Four-quadrant rectifier with hysteresis control",
        "The line current of a train engine is kept within 200 A of a sine by a converter (Cellier and Kofman, Continuous System Simulation, figures 9.7 to 9.10). The textbook prints no \
         values; ours: line of 1000 V peak with angular frequency 1/s, 20 mH of which a quarter lies before the filter, 10 mΩ, an intermediate circuit of 20 F at 1184 V, an engine that takes \
         422 A, wanted current of 1000 A peak.",
    );
    let mut table = Table::new(
        "The first half period",
        &[
            "how",
            "commutations",
            "steps",
            "rejected",
            "evaluations",
            "longest stretch of short sweeps [s]",
        ],
    );
    let dash = || "–".to_owned();
    let exact = commutations();
    table.row([
        "piecewise exact".to_owned(),
        exact.len().to_string(),
        dash(),
        dash(),
        dash(),
        dash(),
    ]);
    with_events(&mut report, &mut table, &exact)?;
    without_events(&mut report, &mut table, exact.len());
    report.tables.push(table);
    creeping(&mut report)?;
    Ok(report)
}

fn with_events(report: &mut Report, table: &mut Table, exact: &[f64]) -> Result<(), Error> {
    let run = runs::run(
        study_model!("four-quadrant"),
        Setup {
            stop: STOP,
            tolerance: 1e-10,
            intervals: 1000,
            ..Setup::default()
        },
    )?;
    let found = runs::jumps(&run, "Az")?;
    report.check_times("commutations", &found, exact, 1e-8);
    let outside = (runs::points(&run, "i")?.into_iter())
        .map(|(t, i)| ((i - WANTED * t.sin()).abs() - BAND).max(0.0));
    report.check_errors("line current outside its band [A]", outside, 1e-6);
    let circuit = runs::points(&run, "uz")?;
    let far = circuit.iter().map(|p| (p.1 - UZ).abs()).fold(0.0, f64::max);
    let what = "intermediate circuit: distance from 1184 V [V]";
    report.checks.push(Check::at_most(what, far, 20.0));
    let statistics = &run.statistics;
    table.row([
        format!("events located, {}, 1e-10", statistics.solver),
        found.len().to_string(),
        statistics.steps.to_string(),
        statistics.steps_rejected.to_string(),
        statistics.rhs_evaluations.to_string(),
        "0".to_owned(),
    ]);
    report.draw(
        "voltages",
        "Filter and intermediate voltage (figure 9.8)",
        "time [s]",
        &[runs::line(&run, "uF", "V")?, runs::line(&run, "uz", "V")?],
        Vec::new(),
    );
    let wanted = runs::line(&run, "Y", "A")?.style(LineStyle::Dashed);
    report.draw(
        "current",
        "Line current in its band",
        "time [s]",
        &[runs::line(&run, "i", "A")?, wanted],
        Vec::new(),
    );
    Ok(())
}

fn without_events(report: &mut Report, table: &mut Table, exact: usize) {
    for tolerance in [1e-3, 1e-4, 1e-6] {
        let name = format!("no events, Runge-Kutta-Simpson, {tolerance:.0e}");
        let Some(old) = old_program(SolverName::RungeKuttaSimpson, tolerance) else {
            report.checks.push(Check::new(name, f64::NAN, 0.0, 0.0));
            continue;
        };
        let (from, to) = old.hanging;
        table.row([
            name.clone(),
            old.commutations.to_string(),
            old.steps.len().to_string(),
            old.rejected.to_string(),
            old.evaluations.to_string(),
            format!("{:.3}, from {from:.3} to {to:.3}", to - from),
        ]);
        report.checks.push(Check::new(
            format!("{name}: commutations are wrong, and nothing says so"),
            f64::from(u8::from(old.commutations > exact * 3 / 2)),
            1.0,
            0.0,
        ));
        if tolerance == 1e-4 {
            report.draw_decades(
                "old-steps",
                "Step size of Runge-Kutta-Simpson without events (figure 9.10)",
                "time [s]",
                &[Line::new("step size", "s", old.steps).style(LineStyle::Points)],
            );
            report.draw(
                "old-current",
                "Line current of Runge-Kutta-Simpson without events (figure 9.9): it hangs in parts of its band",
                "time [s]",
                &[Line::new("i", "A", old.current)],
                Vec::new(),
            );
        }
    }
    report.remarks.push(
        "Without events the relay is set wherever the integrator looks, in stages of steps that are rejected too. It then stands in the wrong position behind a step, the current turns before it has crossed its band, \
         and stretches of it hang in a part of the band while the steps shrink to 1e-5 s: the figures 9.9 and 9.10. No error is reported by such a program; the number of commutations is two to four times too high."
            .to_owned(),
    );
}

/// The run loop without events says where it creeps: a relay without hysteresis, which slides.
fn creeping(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        repository_model!("sliding-relay"),
        Setup {
            stop: 1.45,
            tolerance: 1e-6,
            events: false,
            solver: "runge-kutta-simpson",
            ..Setup::default()
        },
    )?;
    let stretch = run
        .creeping
        .iter()
        .map(|creep| creep.time_end - creep.time_start);
    report.checks.push(Check::new(
        "run loop without events: creeping is reported",
        f64::from(u8::from(!run.creeping.is_empty())),
        1.0,
        0.0,
    ));
    report.remarks.push(format!(
        "The run loop of `saltus simulate --no-events` tells where it creeps: on a relay that slides from 1.43 s on it reports {:.2} s of small steps.",
        stretch.sum::<f64>()
    ));
    Ok(())
}
