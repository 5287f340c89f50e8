//! Delay equations (P9.3): a constant delay, a delay that depends on the state, and waves on a line.

use std::f64::consts::E;

use saltus::Error;

use crate::report::{Check, Report, Table};
use crate::runs::{self, Setup, repository_model};

/// x' = -x(t - 1) with x = 1 up to the start: Σ (-1)^k (t - k + 1)^k / k! while the bracket is positive.
fn steps(t: f64) -> f64 {
    let (mut sum, mut factorial) = (0.0, 1.0);
    for k in 0..=(t.floor() as i32 + 1) {
        if k > 0 {
            factorial *= f64::from(k);
        }
        let base = t - f64::from(k) + 1.0;
        sum += (-1f64).powi(k) * base.powi(k) / factorial;
    }
    sum
}

/// y' = y(t) y(ln y(t))/t with y = 1 up to t = 1: t, then exp(t/e), then (e/(3 - ln t))^e.
fn state_dependent(t: f64) -> f64 {
    if t <= E {
        t
    } else if t <= E * E {
        (t / E).exp()
    } else {
        (E / (3.0 - t.ln())).powf(E)
    }
}

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "delays",
        "Delay equations",
        "The past of a run is kept as the polynomials of its steps, so that a delayed value has the order of the method (Cellier and Kofman, Continuous System Simulation, project P9.3). Corners that a delay carries along are \
         events.",
    );
    let mut table = Table::new(
        "Error against the closed form, and cost",
        &[
            "equation",
            "tolerance",
            "largest error",
            "steps",
            "evaluations",
        ],
    );
    let constant = runs::compile(repository_model!("delay-equation"))?;
    let of_state = runs::compile(repository_model!("delay-of-state"))?;
    let mut last = [f64::INFINITY; 2];
    for tolerance in [1e-5, 1e-7, 1e-9, 1e-11] {
        let setup = Setup {
            tolerance,
            intervals: 400,
            ..Setup::default()
        };
        let runs_of = [
            (
                "x' = -x(t - 1)",
                "x",
                runs::simulate(
                    &constant,
                    Setup {
                        stop: 10.0,
                        ..setup
                    },
                )?,
                steps as fn(f64) -> f64,
            ),
            (
                "y' = y(t) y(ln y(t))/t",
                "y",
                runs::simulate(
                    &of_state,
                    Setup {
                        start: 1.0,
                        stop: 9.0,
                        ..setup
                    },
                )?,
                state_dependent,
            ),
        ];
        for (k, (name, variable, run, exact)) in runs_of.into_iter().enumerate() {
            let errors = runs::errors_of(&run, variable, exact)?;
            let what = format!("{name}, tolerance {tolerance:.0e}");
            let worst = report.check_errors(&what, errors.into_iter(), 1e4 * tolerance);
            table.row([
                name.to_owned(),
                format!("{tolerance:.0e}"),
                format!("{worst:.1e}"),
                run.statistics.steps.to_string(),
                run.statistics.rhs_evaluations.to_string(),
            ]);
            report.checks.push(Check::new(
                format!("{what}: smaller than with the tolerance before"),
                f64::from(u8::from(worst < last[k])),
                1.0,
                0.0,
            ));
            last[k] = worst;
            if tolerance == 1e-9 {
                let file = if k == 0 { "constant" } else { "of-state" };
                let unit = [(runs::line(&run, variable, ""))?];
                report.draw(
                    file,
                    &format!("The solution of {name}"),
                    "time [s]",
                    &unit,
                    Vec::new(),
                );
            }
        }
    }
    report.tables.push(table);
    reflections(&mut report)?;
    Ok(report)
}

/// A step at 0.05 s goes to and fro on a line of 0.1 s with reflections -0.5 and 0.8.
fn reflections(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        repository_model!("delay-reflections"),
        Setup {
            stop: 2.0,
            intervals: 800,
            ..Setup::default()
        },
    )?;
    // Arrivals at the end: 0.15, 0.35, …, each 1.8 times the wave, which is -0.4 times the one before.
    let voltage = |t: f64| {
        let arrivals = ((t - 0.15) / 0.2).floor() as i32 + 1;
        (0..arrivals.max(0))
            .map(|k| 1.8 * (-0.4f64).powi(k))
            .sum::<f64>()
    };
    // Halfway between the arrivals.
    let readings = (0..18).map(|k| 0.05 + 0.1 * f64::from(k) + 1e-3);
    let mut errors = Vec::new();
    for t in readings {
        errors.push((run.at("v", t)? - voltage(t)).abs());
    }
    report.check_errors(
        "voltage of the reflected wave [V]",
        errors.into_iter(),
        1e-12,
    );
    let jumps = runs::jumps_above(&run, "v", 1e-9)?;
    let exact: Vec<f64> = (0..10).map(|k| 0.15 + 0.2 * f64::from(k)).collect();
    report.check_times("arrivals of the reflected wave", &jumps, &exact, 1e-12);
    report.draw(
        "reflections",
        "Voltage at the end of a line with reflections",
        "time [s]",
        &[runs::line(&run, "v", "V")?],
        Vec::new(),
    );
    Ok(())
}
