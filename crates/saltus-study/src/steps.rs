//! Step sizes over discontinuities (figure 9.1, and the pictures of the lecture): the step-size control alone, and events.

use saltus::Error;

use crate::report::{Check, Report, Table};
use crate::runs::{self, Setup, study_model};

/// x' = f - x with f piecewise constant or a cosine: the solution of a piece from its start (t0, x0).
fn piece(t0: f64, x0: f64, force: Force) -> impl Fn(f64) -> f64 {
    move |t| {
        let particular = |t: f64| match force {
            Force::Constant(value) => value,
            // a cos(2t)/w: x = (cos 2t + 2 sin 2t)/5 times the factor.
            Force::Cosine(factor) => factor * ((2.0 * t).cos() + 2.0 * (2.0 * t).sin()) / 5.0,
        };
        particular(t) + (x0 - particular(t0)) * (t0 - t).exp()
    }
}

#[derive(Clone, Copy)]
enum Force {
    Constant(f64),
    Cosine(f64),
}

const W: f64 = 0.4;
const STOP: f64 = 10.0;

/// Where cos(2t) passes ±w, with the force behind it; and the exact end of the lag.
fn exact() -> (Vec<f64>, f64) {
    let quarter = 0.5 * W.acos();
    let half_turn = std::f64::consts::FRAC_PI_2;
    let mut switches = Vec::new();
    for k in 0..8 {
        let turn = f64::from(k) * half_turn;
        // Falling through w and -w in even half turns, rising in odd ones: the ramp lies around each quarter turn.
        let side = if k % 2 == 0 { -1.0 } else { 1.0 };
        switches.push((turn + quarter, Force::Cosine(1.0 / W)));
        switches.push((turn + half_turn - quarter, Force::Constant(side)));
    }
    switches.retain(|(t, _)| *t < STOP);
    let (mut t, mut x, mut force) = (0.0, 0.0, Force::Constant(1.0));
    for &(next, behind) in &switches {
        x = piece(t, x, force)(next);
        (t, force) = (next, behind);
    }
    (
        switches.iter().map(|s| s.0).collect(),
        piece(t, x, force)(STOP),
    )
}

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "step-size",
        "Step sizes at discontinuities",
        "A lag driven by a force with corners (Cellier and Kofman, Continuous System Simulation, figure 9.1; D. Zimmer's lecture on discontinuous systems). Without events \
         the step-size control finds every corner anew and recovers slowly; with events one step ends at each.",
    );
    let mut table = Table::new(
        "The same run with and without events, tolerance 1e-8",
        &[
            "solver",
            "events",
            "steps",
            "rejected",
            "evaluations",
            "smallest step after 0.5 s [s]",
            "error at the end",
        ],
    );
    let model = runs::compile(study_model!("clipped-drive"))?;
    let (times, end) = exact();
    for solver in ["dopri5", "rkf45", "runge-kutta-simpson"] {
        let mut steps = Vec::new();
        for events in [false, true] {
            let run = runs::simulate(
                &model,
                Setup {
                    stop: STOP,
                    tolerance: 1e-8,
                    solver,
                    events,
                    record_steps: true,
                    ..Setup::default()
                },
            )?;
            let error = run.last("x")? - end;
            // The first steps are small for another reason: nothing is known yet.
            let later = run.steps.iter().filter(|step| step.time > 0.5);
            let smallest = later.map(|step| step.step_size);
            let statistics = &run.statistics;
            table.row([
                solver.to_owned(),
                if events { "located" } else { "off" }.to_owned(),
                statistics.steps.to_string(),
                statistics.steps_rejected.to_string(),
                statistics.rhs_evaluations.to_string(),
                format!("{:.1e}", smallest.fold(f64::INFINITY, f64::min)),
                format!("{error:.1e}"),
            ]);
            let name = format!("{solver}, events {}", if events { "on" } else { "off" });
            report.check_errors(&format!("{name}: x(10)"), [error.abs()].into_iter(), 1e-6);
            if events {
                report.check_times("corners", &runs::event_times(&run), &times, 1e-10);
            }
            steps.push((run.statistics.steps, run));
        }
        report.checks.push(Check::new(
            format!("{solver}: fewer steps with events"),
            f64::from(u8::from(steps[1].0 < steps[0].0)),
            1.0,
            0.0,
        ));
        if solver == "dopri5" {
            let lines = [
                runs::step_sizes(&steps[0].1, "step size, events off"),
                runs::step_sizes(&steps[1].1, "step size, events located"),
            ];
            report.draw_decades(
                "sizes",
                "Step size over time in decades (figure 9.1)",
                "time [s]",
                &lines,
            );
            let run = &steps[1].1;
            let lines = [runs::line(run, "f", "")?, runs::line(run, "x", "")?];
            report.draw(
                "motion",
                "Clipped force and lag, events marked",
                "time [s]",
                &lines,
                times.clone(),
            );
        }
    }
    report.tables.push(table);
    Ok(report)
}
