//! Functions with memory (figure 9.22; H9.5, H9.6, H9.12, H9.13): dry hysteresis in five spellings, limiter, loose element, quantiser.

use std::f64::consts::PI;

use saltus::Error;
use saltus_plot::Line;

use crate::report::{Report, Table};
use crate::runs::{self, Setup, repository_model, study_model};

const STOP: f64 = 10.0;

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "hysteresis",
        "Hysteresis, limiter, loose element, quantiser",
        "Functions with more than one value (Cellier and Kofman, Continuous System Simulation, figure 9.22 and homework H9.5, H9.6, H9.12, H9.13; D. Zimmer's lecture), driven by sines of amplitude 2. All switching \
         times are known in closed form.",
    );
    let mut table = Table::new(
        "Switching times against their closed forms",
        &["model", "switchings", "largest error [s]"],
    );
    let setup = Setup {
        stop: STOP,
        tolerance: 1e-12,
        intervals: 400,
        ..Setup::default()
    };
    // x = 2 cos t falls below -1 at 2π/3, rises above 1 at 5π/3.
    let third = PI / 3.0;
    let edges = [2.0 * third, 5.0 * third, 8.0 * third];
    let spellings = [
        (
            "hysteresis: one condition with or",
            repository_model!("hysteresis-or"),
            "y",
        ),
        (
            "hysteresis: vector of conditions",
            repository_model!("hysteresis-vector-when"),
            "y",
        ),
        (
            "hysteresis: elsewhen",
            repository_model!("hysteresis-elsewhen"),
            "y",
        ),
        (
            "hysteresis: Boolean with pre",
            repository_model!("hysteresis-boolean"),
            "y",
        ),
        (
            "hysteresis: Integer with pre",
            repository_model!("hysteresis-integer"),
            "y",
        ),
    ];
    for (name, text, output) in spellings {
        let run = runs::run(text, setup)?;
        let found = runs::jumps(&run, output)?;
        let worst = report.check_times(name, &found, &edges, 1e-9);
        table.row([
            name.to_owned(),
            found.len().to_string(),
            format!("{worst:.1e}"),
        ]);
        if name.ends_with("elsewhen") {
            let line = Line::new("y", "", runs::path(&run, "x", "y")?);
            report.draw(
                "loop",
                "Dry hysteresis: output over input (figure 9.22, H9.12)",
                "x",
                &[line],
                Vec::new(),
            );
        }
    }
    let run = runs::run(repository_model!("limiter"), setup)?;
    let limits = [1.0, 2.0, 4.0, 5.0, 7.0, 8.0].map(|k| k * third);
    let found = runs::event_times(&run);
    let worst = report.check_times("limiter", &found, &limits, 1e-9);
    table.row([
        "limiter".to_owned(),
        found.len().to_string(),
        format!("{worst:.1e}"),
    ]);
    let line = Line::new("y", "", runs::path(&run, "x", "y")?);
    report.draw(
        "limiter",
        "Limiter: output over input (H9.13)",
        "x",
        &[line],
        Vec::new(),
    );
    loose(&mut report, &mut table, setup)?;
    quantiser(&mut report, &mut table, setup)?;
    report.tables.push(table);
    Ok(report)
}

/// x = 2 sin t in a gap of ±0.5: contact above at asin(1/4), loose at the crests, contact again when x has come back by the gap.
fn loose(report: &mut Report, table: &mut Table, setup: Setup<'_>) -> Result<(), Error> {
    let run = runs::run(study_model!("loose-element"), setup)?;
    let mut exact = vec![0.25f64.asin()];
    for half in 0..3 {
        let crest = PI / 2.0 + f64::from(half) * PI;
        // 2 cos(t - crest) = 1 behind the crest.
        exact.extend([crest, crest + PI / 3.0]);
    }
    exact.retain(|t| *t < STOP);
    let found = runs::jumps(&run, "contact")?;
    let worst = report.check_times("loose element", &found, &exact, 1e-9);
    table.row([
        "loose element".to_owned(),
        found.len().to_string(),
        format!("{worst:.1e}"),
    ]);
    let position = |t: f64| {
        let passed = exact.iter().filter(|e| **e <= t).count();
        let x = 2.0 * t.sin();
        match passed {
            0 => 0.0,
            // Carried up and down in turns; loose between.
            k if k % 4 == 1 => x - 0.5,
            k if k % 4 == 2 => 1.5,
            k if k % 4 == 3 => x + 0.5,
            _ => -1.5,
        }
    };
    let errors = runs::errors_of(&run, "y", position)?;
    report.check_errors("loose element: y", errors.into_iter(), 1e-9);
    let line = Line::new("y", "", runs::path(&run, "x", "y")?);
    report.draw(
        "loose",
        "Mechanical loose element: output over input (H9.5)",
        "x",
        &[line],
        Vec::new(),
    );
    Ok(())
}

/// x = 2 sin t passes multiples of q/2 = 0.25: the output follows up and, one step later, down.
fn quantiser(report: &mut Report, table: &mut Table, setup: Setup<'_>) -> Result<(), Error> {
    let run = runs::run(study_model!("quantiser"), setup)?;
    let half = 0.25;
    let (mut exact, mut level) = (Vec::new(), 0.0f64);
    // Stretches on which the sine grows and falls in turns, around multiples of π.
    for quarter in 0..4 {
        let up = quarter % 2 == 0;
        loop {
            let next = if up { level + half } else { level - half };
            if next.abs() >= 2.0 - 1e-12 {
                // The crest touches the level and turns back.
                break;
            }
            let ascending = (next / 2.0).asin();
            let middle = f64::from(quarter) * PI;
            exact.push(if up {
                middle + ascending
            } else {
                middle - ascending
            });
            level = next;
        }
    }
    exact.retain(|t| *t < STOP);
    let found = runs::jumps(&run, "y")?;
    let worst = report.check_times("quantiser", &found, &exact, 1e-9);
    table.row([
        "quantiser".to_owned(),
        found.len().to_string(),
        format!("{worst:.1e}"),
    ]);
    let far = runs::points(&run, "x")?
        .into_iter()
        .zip(runs::points(&run, "y")?);
    let far = far.map(|(x, y)| ((x.1 - y.1).abs() - half).max(0.0));
    report.check_errors("quantiser: distance above q/2", far, 1e-9);
    report.remarks.push(
        "H9.6 shows its function in a picture only; here the output takes a step of q/2 as soon as the input is q/2 away, so that the distance never exceeds q/2 and the way back begins one step later."
            .to_owned(),
    );
    let lines = [runs::line(&run, "x", "")?, runs::line(&run, "y", "")?];
    report.draw(
        "quantiser",
        "Quantisation with hysteresis (H9.6)",
        "time [s]",
        &lines,
        Vec::new(),
    );
    Ok(())
}
