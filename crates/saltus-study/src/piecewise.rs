//! Piecewise functions (figure 9.19): the if-expression, its algebraic form and its inverse; thresholds that are touched (9.31), and dips between the ends of a step (9.18).

use std::f64::consts::PI;

use saltus::Error;
use saltus::results::EventKind;
use saltus_plot::{Line, TimelineRow};

use crate::report::{Check, Report, Table};
use crate::runs::{self, Setup, repository_model, study_model};

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "piecewise",
        "Piecewise functions: regions, touches, dips",
        "A function of three slopes written once as an if-expression (Cellier and Kofman, Continuous System Simulation, figure 9.19, equations 9.31 to 9.33): the compiler makes the regions and their crossing \
         functions. (9.33) has misprinted signs in its denominator, which is m_l a1 + m_c a2 + m_r a3.",
    );
    slopes(&mut report)?;
    touches(&mut report)?;
    dips(&mut report)?;
    Ok(report)
}

fn slopes(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        study_model!("piecewise-curve"),
        Setup {
            stop: 10.0,
            intervals: 400,
            ..Setup::default()
        },
    )?;
    // 2.5 sin t passes ±1.
    let a = (0.4f64).asin();
    let exact = [
        a,
        PI - a,
        PI + a,
        2.0 * PI - a,
        2.0 * PI + a,
        3.0 * PI - a,
        3.0 * PI + a,
    ];
    report.check_times(
        "changes of region",
        &runs::jumps(&run, "region")?,
        &exact,
        1e-10,
    );
    let curve = |x: f64| {
        if x < -1.0 {
            2.0 * x + 1.5
        } else if x < 1.0 {
            0.5 * x
        } else {
            5.0 * x - 4.5
        }
    };
    let mut table = Table::new("Three ways to the same function", &["way", "largest error"]);
    let input = |t: f64| 2.5 * t.sin();
    for (what, name, inverse) in [
        ("if-expression", "y", false),
        ("products (9.32)", "z", false),
        ("solved for x (9.33)", "back", true),
    ] {
        let errors = runs::errors_of(&run, name, |t| match inverse {
            true => input(t),
            false => curve(input(t)),
        })?;
        let worst = report.check_errors(what, errors.into_iter(), 1e-9);
        table.row([what.to_owned(), format!("{worst:.1e}")]);
    }
    report.tables.push(table);
    report.draw(
        "curve",
        "The function of three slopes as it was passed (figure 9.19)",
        "x",
        &[Line::new("y", "", runs::path(&run, "x", "y")?)],
        Vec::new(),
    );
    let regions = [(-1.0, "left"), (0.0, "center"), (1.0, "right")];
    let title = "Regions of the function, and how often each change was made";
    let graph = runs::mode_graph(&run, "region", &regions, title)?;
    let taken: usize = graph.transitions.iter().map(|t| t.count).sum();
    report.checks.push(Check::new(
        "changes in the graph of regions",
        taken as f64,
        exact.len() as f64,
        0.0,
    ));
    report.draw_modes("regions", &graph);
    Ok(())
}

/// sin t between the thresholds ±1: both are touched, none is passed.
fn touches(report: &mut Report) -> Result<(), Error> {
    let setup = Setup {
        stop: 10.0,
        intervals: 400,
        ..Setup::default()
    };
    let run = runs::run(repository_model!("tangent-touch"), setup)?;
    let changes = runs::jumps(&run, "region")?;
    report.checks.push(Check::new(
        "touched thresholds: changes of region",
        changes.len() as f64,
        0.0,
        0.0,
    ));
    let errors = runs::errors_of(&run, "y", f64::sin)?;
    report.check_errors("touched thresholds: y", errors.into_iter(), 1e-12);
    let touched: Vec<f64> = (run.events().iter())
        .filter(|event| event.kind == EventKind::Touch)
        .map(|event| event.time)
        .collect();
    report.remarks.push(format!(
        "sin t reaches the thresholds ±1 without passing them (9.31): {} touches are logged, the region stays `center`.",
        touched.len()
    ));
    report.draw(
        "touch",
        "A signal that touches its thresholds (equation 9.31): the region stays",
        "time [s]",
        &[runs::line(&run, "y", "")?, runs::line(&run, "region", "")?],
        touched,
    );
    Ok(())
}

/// Two crossings a millisecond apart.
fn dips(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        repository_model!("double-crossing"),
        Setup {
            start: 1.0,
            stop: 4.0,
            intervals: 3000,
            record_steps: true,
            ..Setup::default()
        },
    )?;
    let found = runs::jumps(&run, "low")?;
    report.check_times("dip of a millisecond", &found, &[1.5495, 1.5505], 1e-8);
    let largest = run.steps.iter().map(|step| step.step_size);
    let largest = largest.fold(0.0, f64::max);
    report.remarks.push(format!(
        "The dip of 1 ms (figure 9.18) is found though steps are up to {:.0} times as long: the crossing function is a polynomial of the step, and all its roots are isolated.",
        largest / 1e-3
    ));
    report.checks.push(Check::new(
        "steps are longer than the dip",
        f64::from(u8::from(largest > 0.05)),
        1.0,
        0.0,
    ));
    let step = |t: f64| (t.max(1.0), t.min(4.0));
    let mut end = 1.0;
    let mut spans = Vec::new();
    for (k, record) in run.steps.iter().enumerate() {
        if k % 2 == 0 {
            spans.push((step(end).0, step(record.time).1));
        }
        end = record.time;
    }
    report.draw_timeline(
        "dip",
        "Every other step of the integrator, and the events of the dip (figure 9.18)",
        &[
            TimelineRow {
                name: "steps".to_owned(),
                spans,
                ..TimelineRow::default()
            },
            TimelineRow {
                name: "x < 0 changes".to_owned(),
                marks: found,
                ..TimelineRow::default()
            },
        ],
    );
    Ok(())
}
