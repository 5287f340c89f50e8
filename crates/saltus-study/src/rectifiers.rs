//! Rectifiers and a switch (figures 9.24, 9.27, 9.30, 9.31, 9.33; H9.7, H9.8): ideal and leaky diode, thyristor, with and without line inductance, against the piecewise exact solution.

use std::f64::consts::TAU;

use saltus::{Error, Run};

use crate::linear::{Flow, Solution, Switched};
use crate::report::{Check, Report, Table};
use crate::runs::{self, Setup, repository_model, study_model};

const U: f64 = 10.0;
const FREQUENCY: f64 = 50.0;
const RI: f64 = 10.0;
const RL: f64 = 50.0;
const C: f64 = 1e-3;
const L: f64 = 10e-3;

/// States: load voltage, current of the line (or nothing), sin ωt, cos ωt.
const U2: usize = 0;
const I0: usize = 1;
const SIN: usize = 2;
const REST: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

fn flow(load: [f64; 4], line: [f64; 4]) -> Flow<4> {
    let omega = TAU * FREQUENCY;
    Flow([load, line, [0.0, 0.0, 0.0, omega], [0.0, 0.0, -omega, 0.0]])
}

/// Blocking and conducting, without and with line inductance.
fn flows(inductance: bool) -> [Flow<4>; 2] {
    let empty = [0.0; 4];
    let blocking = flow([-1.0 / (RL * C), 0.0, 0.0, 0.0], empty);
    let conducting = match inductance {
        true => flow(
            [-1.0 / (RL * C), 1.0 / C, 0.0, 0.0],
            [-1.0 / L, -RI / L, U / L, 0.0],
        ),
        false => flow([-(1.0 / RL + 1.0 / RI) / C, 0.0, U / (RI * C), 0.0], empty),
    };
    [blocking, conducting]
}

/// Voltage that drives a current.
fn forward(z: &[f64; 4]) -> f64 {
    U * z[SIN] - z[U2]
}

/// Outside the windows in which the thyristor is fired this is positive.
fn window(t: f64) -> f64 {
    let phase = 360.0 * (FREQUENCY * t).fract();
    let outside = |from: f64| (from - phase).max(phase - from - 15.0);
    outside(30.0).min(outside(210.0))
}

/// The exact solution. A diode conducts when the voltage is forward, a thyristor when it is fired too.
fn exact(inductance: bool, fired: bool, until: f64) -> Solution<4> {
    let blocks = |t: f64, z: &[f64; 4]| match fired {
        true => window(t).max(-forward(z)),
        false => -forward(z),
    };
    let conducts = |_: f64, z: &[f64; 4]| match inductance {
        true => z[I0],
        false => forward(z),
    };
    let circuit = Switched {
        flows: flows(inductance),
        stays: [&blocks, &conducts],
        scan: 1e-4,
    };
    // The diode conducts from the start on: the voltage grows from zero.
    circuit.solve(REST, usize::from(!fired), until)
}

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "rectifiers",
        "Switch and rectifiers: ideal, leaky, fired",
        "Half-wave rectifiers on 10 V, 50 Hz (Cellier and Kofman, Continuous System Simulation, figures 9.24 to 9.33, H9.7, H9.8; values ours: 10 Ω, 10 mH, 1 mF, 50 Ω). With line inductance the ideal diode changes the \
         number of states; the leaky diode of figure 9.33 avoids that and makes the circuit stiff.",
    );
    switch(&mut report)?;
    let mut table = Table::new(
        "Switching times against the piecewise exact solution",
        &[
            "circuit",
            "switchings",
            "largest error [s]",
            "largest error of the load voltage [V]",
        ],
    );
    let cases = [
        (
            "ideal diode (9.27)",
            repository_model!("rectifier-curve"),
            false,
            false,
        ),
        (
            "ideal diode, line inductance (9.31)",
            repository_model!("rectifier-inductance"),
            true,
            false,
        ),
        (
            "thyristor (H9.7)",
            study_model!("thyristor-rectifier"),
            false,
            true,
        ),
        (
            "thyristor, line inductance (H9.8)",
            study_model!("thyristor-rectifier-inductance"),
            true,
            true,
        ),
    ];
    for (name, text, inductance, fired) in cases {
        let stop = if fired { 0.2 } else { 0.09 };
        let setup = Setup {
            stop,
            tolerance: 1e-11,
            intervals: 900,
            solver: "dopri5",
            ..Setup::default()
        };
        let run = runs::run(text, setup)?;
        let solution = exact(inductance, fired, stop);
        let found = match fired {
            true => runs::jumps(&run, "off")?,
            false => runs::event_times(&run),
        };
        let late = report.check_times(name, &found, &solution.switchings(), 1e-9);
        let errors = voltage_errors(&run, &solution)?;
        let worst = report.check_errors(&format!("{name}: load voltage [V]"), errors, 1e-8);
        table.row([
            name.to_owned(),
            found.len().to_string(),
            format!("{late:.1e}"),
            format!("{worst:.1e}"),
        ]);
        draw(&mut report, &run, name, inductance, fired)?;
    }
    // Known from another calculation in high precision.
    for (inductance, first) in [
        (false, 0.008_708_133_048_788_693),
        (true, 0.009_625_875_319_075_487),
    ] {
        report.checks.push(Check::new(
            format!("first switching of the exact solution, inductance: {inductance}"),
            exact(inductance, false, 0.02).switchings()[0],
            first,
            1e-15,
        ));
    }
    report.tables.push(table);
    leaky(&mut report)?;
    Ok(report)
}

fn voltage_errors(run: &Run, solution: &Solution<4>) -> Result<impl Iterator<Item = f64>, Error> {
    let errors = runs::errors_of(run, "u2", |t| solution.at(t)[U2])?;
    Ok(errors.into_iter())
}

fn draw(
    report: &mut Report,
    run: &Run,
    name: &str,
    inductance: bool,
    fired: bool,
) -> Result<(), Error> {
    let file = format!(
        "{}{}",
        if fired { "thyristor" } else { "diode" },
        if inductance { "-inductance" } else { "" }
    );
    let caption = format!("Voltages with {name}");
    let lines = [runs::line(run, "u0", "V")?, runs::line(run, "u2", "V")?];
    report.draw(&file, &caption, "time [s]", &lines, Vec::new());
    Ok(())
}

/// Figure 9.24: a voltage divider whose lower resistance is bridged by a switch.
fn switch(report: &mut Report) -> Result<(), Error> {
    let setup = Setup {
        intervals: 200,
        ..Setup::default()
    };
    let run = runs::run(repository_model!("switch-divider"), setup)?;
    let open = |t: f64| t > 0.25 && t < 0.75;
    for (name, what) in [
        ("u2", "switch as products (9.34)"),
        ("v2", "switch as if-expression"),
    ] {
        let errors = runs::errors_of(&run, name, |t| {
            // Open: (9.40); closed: (9.39).
            if open(t) { 0.75 * (20.0 + t) } else { 0.0 }
        })?;
        report.check_errors(&format!("{what} [V]"), errors.into_iter(), 1e-12);
    }
    let lines = [runs::line(&run, "U0", "V")?, runs::line(&run, "u2", "V")?];
    report.draw(
        "switch",
        "Voltage divider with a switch (figure 9.24)",
        "time [s]",
        &lines,
        vec![0.25, 0.75],
    );
    Ok(())
}

/// The leaky diode: how far from the ideal one, how stiff, and at what cost.
fn leaky(report: &mut Report) -> Result<(), Error> {
    let mut table = Table::new(
        "Leaky diode with R0 = G0 (9.33) against the ideal one, line inductance, to 0.09 s, tolerance 1e-8",
        &[
            "R0 [Ω], G0 [S]",
            "fastest rate [1/s]",
            "solver",
            "steps",
            "evaluations",
            "factorizations",
            "largest distance from the ideal load voltage [V]",
        ],
    );
    let solution = exact(true, false, 0.09);
    let setup = Setup {
        stop: 0.09,
        tolerance: 1e-8,
        intervals: 900,
        ..Setup::default()
    };
    let row = |table: &mut Table, leak: String, rate: String, run: &Run| -> Result<f64, Error> {
        let worst = voltage_errors(run, &solution)?.fold(0.0, f64::max);
        let statistics = &run.statistics;
        table.row([
            leak,
            rate,
            statistics.solver.clone(),
            statistics.steps.to_string(),
            statistics.rhs_evaluations.to_string(),
            statistics.factorizations.to_string(),
            format!("{worst:.1e}"),
        ]);
        Ok(worst)
    };
    let model = runs::compile(study_model!("rectifier-leaky"))?;
    let mut steps = Vec::new();
    let mut distances = Vec::new();
    for (leak, solver) in [
        (1e-2, "dopri5"),
        (1e-3, "dopri5"),
        (1e-4, "dopri5"),
        (1e-2, "radau"),
        (1e-4, "radau"),
        (1e-6, "radau"),
        (1e-8, "radau"),
    ] {
        let sets = [("R0", leak), ("G0", leak)];
        let run = runs::simulate(
            &model,
            Setup {
                solver,
                sets: &sets,
                ..setup
            },
        )?;
        // L i' = ... - i/G0 while it blocks.
        let rate = 1.0 / (leak * L);
        let worst = row(
            &mut table,
            format!("{leak:.0e}"),
            format!("{rate:.0e}"),
            &run,
        )?;
        if solver == "dopri5" {
            steps.push(run.statistics.steps as f64);
        } else {
            distances.push(worst);
        }
    }
    let ideal = runs::run(repository_model!("rectifier-inductance"), setup)?;
    let worst = row(&mut table, "ideal".to_owned(), "–".to_owned(), &ideal)?;
    report.checks.push(Check::at_most(
        "ideal diode at tolerance 1e-8: load voltage [V]",
        worst,
        1e-6,
    ));
    report.checks.push(Check::new(
        "explicit steps grow with stiffness: ratio of 1e-4 to 1e-3 over 10",
        steps[2] / steps[1] / 10.0,
        1.0,
        0.4,
    ));
    report.checks.push(Check::new(
        "the leaky solution comes to the ideal one as the leak goes to zero",
        f64::from(u8::from(
            distances.windows(2).all(|d| d[1] < d[0]) || distances[3] < 1e-6,
        )),
        1.0,
        0.0,
    ));
    report.remarks.push(
        "The smaller the leak, the stiffer: an explicit method pays in proportion, an implicit one in factorizations. The ideal diode needs neither: while it blocks, the current is no state at all."
            .to_owned(),
    );
    report.tables.push(table);
    Ok(())
}
