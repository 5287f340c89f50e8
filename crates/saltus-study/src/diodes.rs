//! Zener and tunnel diode as parameterised curves (H9.9, H9.10), with closed forms.

use std::f64::consts::PI;

use saltus::Error;
use saltus_plot::Line;

use crate::report::{Report, Table};
use crate::runs::{self, Setup, study_model};

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "diodes",
        "Zener and tunnel diode",
        "Characteristics of a diode written with a curve parameter (Cellier and Kofman, Continuous System Simulation, H9.9 and H9.10; values ours).",
    );
    let mut table = Table::new(
        "Events against their closed forms",
        &["circuit", "events", "largest error [s]"],
    );
    zener(&mut report, &mut table)?;
    tunnel(&mut report, &mut table)?;
    report.tables.push(table);
    Ok(report)
}

/// The voltage is the source between 0 and breakdown, and stays there else.
fn zener(report: &mut Report, table: &mut Table) -> Result<(), Error> {
    let run = runs::run(
        study_model!("zener"),
        Setup {
            stop: 10.0,
            ..Setup::default()
        },
    )?;
    let a = 0.51f64.asin();
    let exact = [
        a,
        PI - a,
        PI,
        2.0 * PI,
        2.0 * PI + a,
        3.0 * PI - a,
        3.0 * PI,
    ];
    let mut found = runs::event_times(&run);
    // At the start the curve parameter is at a corner.
    found.retain(|t| *t > 1e-6);
    let worst = report.check_times("Zener diode", &found, &exact, 1e-9);
    table.row([
        "Zener diode".to_owned(),
        found.len().to_string(),
        format!("{worst:.1e}"),
    ]);
    let errors = runs::errors_of(&run, "u", |t| (10.0 * t.sin()).clamp(0.0, 5.1))?;
    report.check_errors("Zener diode: voltage [V]", errors.into_iter(), 1e-9);
    let lines = [runs::line(&run, "v", "V")?, runs::line(&run, "u", "V")?];
    report.draw(
        "zener",
        "Voltage of source and Zener diode (H9.9)",
        "time [s]",
        &lines,
        Vec::new(),
    );
    Ok(())
}

/// Up the first branch from 0.2 A to the peak, a jump to the third branch at the same current, down to the valley, a jump back.
fn tunnel(report: &mut Report, table: &mut Table) -> Result<(), Error> {
    let stop = 20.0;
    let run = runs::run(
        study_model!("tunnel"),
        Setup {
            stop,
            intervals: 1000,
            ..Setup::default()
        },
    )?;
    // i' = U0 - 0.1 i up; i' = U0 - 0.4 - (i - 0.2)/8 down.
    let up = -10.0 * ((0.25 - 0.1) / (0.25 - 0.02f64)).ln();
    let down = -8.0 * (0.15 / (0.15 + 0.1f64)).ln();
    // It starts at 1.1 A, where there is only the third branch.
    let mut exact = vec![-8.0 * (0.15 / (0.15 + 0.9 / 8.0f64)).ln()];
    while let Some(last) = exact.last() {
        let next = last + if exact.len() % 2 == 1 { up } else { down };
        if next >= stop {
            break;
        }
        exact.push(next);
    }
    let found = runs::jumps_above(&run, "u", 0.1)?;
    let worst = report.check_times("tunnel diode", &found, &exact, 1e-6);
    report.remarks.push(format!(
        "At its peak and valley the tunnel diode has no solution beyond, and the voltage jumps to another branch at the same current. These jumps come up to {worst:.0e} s late: the branch is left only when its end is passed by \
         more than the tolerance of the equations."
    ));
    table.row([
        "tunnel diode: jumps between branches".to_owned(),
        found.len().to_string(),
        format!("{worst:.1e}"),
    ]);
    report.draw(
        "tunnel",
        "Current and voltage of the tunnel diode oscillator (H9.10)",
        "time [s]",
        &[runs::line(&run, "i", "A")?, runs::line(&run, "u", "V")?],
        Vec::new(),
    );
    report.draw(
        "tunnel-curve",
        "The tunnel diode's curve as it is passed: jumps at peak and valley",
        "voltage [V]",
        &[Line::new("i", "A", runs::path(&run, "u", "i")?)],
        Vec::new(),
    );
    Ok(())
}
