//! Models of D. Zimmer's lecture on discontinuous systems that have no study of their own: the bouncing ball with its Zeno point, and the light arc of exercise 12 without and with inductance.

use std::f64::consts::{PI, TAU};

use saltus::Error;
use saltus::results::EventKind;

use crate::report::{Check, Report, Table};
use crate::runs::{self, Setup, repository_model, study_model};

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "lecture",
        "Bouncing ball and light arc",
        "D. Zimmer's lecture on discontinuous systems (TUM, 2023): its ball falls through the table in common tools, here it comes to rest; its light arc (exercise 12) ignites at 25 kV/cm and goes out at 1 A. Hysteresis, \
         rectifiers and friction of the lecture: studies `hysteresis`, `rectifiers`, `friction`.",
    );
    ball(&mut report)?;
    arc(&mut report)?;
    arc_with_inductance(&mut report)?;
    Ok(report)
}

/// t_n = t1 + (2V/g) μ (1 - μ^(n-1))/(1 - μ), which tends to t1 (1 + μ)/(1 - μ).
fn ball(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        repository_model!("restitution-ball-rests"),
        Setup {
            stop: 8.0,
            tolerance: 1e-9,
            intervals: 800,
            ..Setup::default()
        },
    )?;
    let (mu, g) = (0.85f64, 9.81f64);
    let first = (2.0 / g).sqrt();
    let speed = (2.0 * g).sqrt();
    let bounce = |n: i32| first + 2.0 * speed / g * mu * (1.0 - mu.powi(n - 1)) / (1.0 - mu);
    let found: Vec<f64> = runs::event_times(&run).into_iter().take(20).collect();
    let exact: Vec<f64> = (1..=20).map(bounce).collect();
    report.check_times("ball: first twenty bounces", &found, &exact, 1e-9);
    let zeno = run
        .events()
        .iter()
        .find(|event| event.kind == EventKind::Zeno);
    let zeno = zeno.map_or(f64::NAN, |event| event.time);
    report.check_times(
        "ball: Zeno point",
        &[zeno],
        &[first * (1.0 + mu) / (1.0 - mu)],
        1e-9,
    );
    let lowest = runs::points(&run, "x")?
        .into_iter()
        .map(|p| (-p.1).max(0.0));
    report.check_errors("ball: depth below the table [m]", lowest, 1e-9);
    report.checks.push(Check::new(
        "ball at rest at 8 s [m]",
        run.last("x")?,
        0.0,
        1e-12,
    ));
    report.draw(
        "ball",
        "Height of a ball that bounces and comes to rest",
        "time [s]",
        &[runs::line(&run, "x", "m")?],
        vec![zeno],
    );
    Ok(())
}

const V: f64 = 30e3;
const R: f64 = 5e3;
const RS: f64 = 5e3;
const L: f64 = 5.0;
const OMEGA: f64 = TAU * 50.0;
const HALF: f64 = 0.01;

fn ignition() -> f64 {
    (25.0f64 / 30.0).asin() / OMEGA
}

/// Without inductance the current is v/(Rs + R): it goes out when that is 1 A.
fn arc(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        study_model!("light-arc"),
        Setup {
            stop: 0.04,
            intervals: 800,
            ..Setup::default()
        },
    )?;
    let out = (PI - ((RS + R) / V).asin()) / OMEGA;
    let exact: Vec<f64> = (0..4)
        .flat_map(|k| [ignition(), out].map(|t| t + HALF * f64::from(k)))
        .collect();
    let found = runs::jumps(&run, "burns")?;
    let late = report.check_times("light arc", &found, &exact, 1e-12);
    let mut table = Table::new(
        "Light arc: closed forms",
        &[
            "circuit",
            "ignition [ms]",
            "extinction [ms]",
            "largest error [s]",
        ],
    );
    table.row([
        "without inductance".to_owned(),
        format!("{:.6}", 1e3 * ignition()),
        format!("{:.6}", 1e3 * out),
        format!("{late:.1e}"),
    ]);
    report.tables.push(table);
    let lines = [runs::line(&run, "v", "V")?, runs::line(&run, "u", "V")?];
    report.draw(
        "arc",
        "Voltage of source and light arc (exercise 12)",
        "time [s]",
        &lines,
        Vec::new(),
    );
    Ok(())
}

/// With inductance the current is that of a coil switched on at the ignition; at 1 A it is cut off, with an impulse of L·1 A.
fn arc_with_inductance(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        study_model!("light-arc-inductance"),
        Setup {
            stop: 0.04,
            tolerance: 1e-10,
            intervals: 800,
            solver: "dopri5",
            ..Setup::default()
        },
    )?;
    let phi = (OMEGA * L / (RS + R)).atan();
    let impedance = (RS + R).hypot(OMEGA * L);
    let t0 = ignition();
    let current = |t: f64| {
        let swing = |t: f64| (OMEGA * t - phi).sin();
        V / impedance * (swing(t) - swing(t0) * (-(t - t0) * (RS + R) / L).exp())
    };
    let crossing = |mut low: f64, mut high: f64, rising: bool| {
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if (current(middle) < 1.0) == rising {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    };
    let crest = 0.006;
    let (over, out) = (crossing(t0, crest, true), crossing(crest, HALF, false));
    let exact: Vec<f64> = (0..4)
        .flat_map(|k| [t0, over, out].map(|t| t + HALF * f64::from(k)))
        .collect();
    let found = runs::jumps(&run, "mode")?;
    let late = report.check_times("light arc with inductance", &found, &exact, 1e-10);
    let impulses: Vec<f64> = (run.events().iter())
        .flat_map(|event| &event.impulses)
        .filter(|impulse| impulse.variable == "u")
        .map(|impulse| impulse.value.abs())
        .collect();
    report.checks.push(Check::new(
        "light arc with inductance: impulses of the voltage",
        impulses.len() as f64,
        4.0,
        0.0,
    ));
    report.check_errors(
        "light arc with inductance: impulse [Vs]",
        impulses.iter().map(|i| (i - L).abs()),
        1e-6,
    );
    if let Some(table) = report.tables.last_mut() {
        table.row([
            "with 5 H".to_owned(),
            format!("{:.6}", 1e3 * t0),
            format!("{:.6}", 1e3 * out),
            format!("{late:.1e}"),
        ]);
    }
    report.remarks.push(
        "With an inductance the arc cannot go out at 1 A without a reaction: the coil's current is cut off, and the run reports an impulse of 5 Vs in the voltage, which in reality lights the arc again. The lecture's regime of \
         constant power at low current is left out: it would bring the current to zero, but has no closed form."
            .to_owned(),
    );
    let lines = [runs::line(&run, "i", "A")?];
    report.draw(
        "arc-inductance",
        "Current of the light arc with inductance",
        "time [s]",
        &lines,
        found,
    );
    Ok(())
}
