//! Initial values and impacts (the examples and figures of A. Uhlig, T. Blochwitz, U. Schnabel, T. Nähring: Initial Value Calculation for DAE with Higher Index; Newton's cradle of the textbook, section 9.6).

use saltus::{Error, Run};

use crate::report::{Report, Table};
use crate::runs::{self, Setup, repository_model};

/// Readings of a run against exact values.
struct Case {
    what: &'static str,
    text: &'static str,
    stop: f64,
    values: Vec<(&'static str, f64, f64)>,
    /// Variable, time, weight.
    impulses: Vec<(&'static str, f64, f64)>,
    tolerance: f64,
}

impl Case {
    fn new(what: &'static str, text: &'static str, values: &[(&'static str, f64, f64)]) -> Case {
        Case {
            what,
            text,
            stop: 1.0,
            values: values.to_vec(),
            impulses: Vec::new(),
            tolerance: 1e-9,
        }
    }
}

fn cases() -> Vec<Case> {
    let third = 1.0 / 3.0;
    // S = x1 + x2 moves like a free mass: from 2.5 with 0.75, and a force of 1 from 0.5 on.
    let sum = |t: f64| {
        2.5 + 0.75 * t
            + if t > 0.5 {
                0.5 * (t - 0.5) * (t - 0.5)
            } else {
                0.0
            }
    };
    let larger = |t: f64| 0.5 * (sum(t) + (sum(t) * sum(t) - 4.0).sqrt());
    let mut collision = Case::new(
        "figure 2: soft and rigid collision",
        repository_model!("soft-collision"),
        &[
            ("v1", 0.75, -third),
            ("v2", 0.75, 2.0 * third),
            ("w1", 0.75, -third),
            ("w2", 0.75, 2.0 * third),
        ],
    );
    collision.tolerance = 1e-7;
    let mut three = Case::new(
        "example 3: three masses, two stops",
        repository_model!("three-masses"),
        &[
            ("v[1]", 0.75, -7.0 / 15.0),
            ("v[2]", 0.75, 11.0 / 15.0),
            ("v[3]", 0.75, 4.0 / 3.0),
            ("momentum", 0.75, 5.0),
        ],
    );
    three.impulses = vec![("F1", 0.5, 52.0 / 15.0), ("F2", 0.5, 4.0)];
    let mut cradle = Case::new(
        "textbook 9.6: five balls in a row",
        repository_model!("cradle"),
        &[
            ("v[1]", 1.5, 0.0),
            ("v[2]", 1.5, 0.0),
            ("v[3]", 1.5, 0.0),
            ("v[4]", 1.5, 0.0),
            ("v[5]", 1.5, 1.0),
        ],
    );
    cradle.stop = 2.0;
    let mut plate = Case::new(
        "figure 3: pendulum against a guided plate",
        repository_model!("plate-pendulum"),
        &[
            ("N", 0.1, 19.62),
            ("f", 0.3, 4.0),
            ("f", 0.5, -4.0),
            ("y", 0.7, -0.5),
        ],
    );
    plate.stop = 0.8;
    // (1 + e) T w/(T² + 1/m) with T = sin 60°, w = sqrt(25 - g).
    let lever = 0.75f64.sqrt();
    plate.impulses = vec![(
        "F",
        0.227_041_534_097_399_35,
        1.5 * lever * (25.0 - 9.81f64).sqrt() / (0.75 + 0.5),
    )];
    plate.tolerance = 1e-8;
    vec![
        Case::new(
            "example 1: hidden constraint",
            repository_model!("constraint-of-time"),
            &[("x1", 0.5, 0.5), ("x2", 0.5, 1.0)],
        ),
        Case::new(
            "example 2: index changes at 0.5",
            repository_model!("index-switch"),
            &[("x", 0.25, 1.0), ("x", 0.75, 1.25), ("x", 1.0, 1.5)],
        ),
        collision,
        plate,
        three,
        Case::new(
            "example 4: dummy acceleration",
            repository_model!("dummy-acceleration"),
            &[
                ("s1", 1.0, 2.0),
                ("v2", 1.0, 4.0),
                ("a2", 1.0, 2.0),
                ("lambda", 0.0, 4.0),
            ],
        ),
        Case::new(
            "example 5: masses with x1 x2 = 1",
            repository_model!("masses-with-product"),
            &[("x1", 0.4, larger(0.4)), ("x1", 1.0, larger(1.0))],
        ),
        cradle,
    ]
}

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "impacts",
        "Initial values and impacts",
        "The examples of `Initial Value Calculation for DAE with Higher Index` (ITI, Modelica conference), and Newton's cradle. The models contain no formula for momentum: impulses follow from the equations. At one \
         instant all contacts that approach take part together, repeated until none approaches; this gives (-7/15, 11/15, 4/3) for the three masses and (0, 0, 0, 0, 1) for the cradle.",
    );
    let mut table = Table::new(
        "Readings against exact values",
        &["model", "values", "impulses", "largest error"],
    );
    for case in cases() {
        let setup = Setup {
            stop: case.stop,
            tolerance: 1e-10,
            intervals: 400,
            ..Setup::default()
        };
        let run = runs::run(case.text, setup)?;
        let mut errors = Vec::new();
        for &(name, time, value) in &case.values {
            errors.push((run.at(name, time)? - value).abs());
        }
        for &(name, time, weight) in &case.impulses {
            errors.push(impulse_error(&run, name, time, weight));
        }
        let worst = report.check_errors(case.what, errors.into_iter(), case.tolerance);
        table.row([
            case.what.to_owned(),
            case.values.len().to_string(),
            case.impulses.len().to_string(),
            format!("{worst:.1e}"),
        ]);
        match case.what {
            what if what.starts_with("example 3") => {
                let lines = [
                    runs::line(&run, "v[1]", "m/s")?,
                    runs::line(&run, "v[2]", "m/s")?,
                    runs::line(&run, "v[3]", "m/s")?,
                ];
                report.draw(
                    "three-masses",
                    "Velocities of three masses that meet at once (figure 4)",
                    "time [s]",
                    &lines,
                    vec![0.5],
                );
            }
            what if what.starts_with("figure 3") => {
                let lines = [runs::line(&run, "nose", "m")?, runs::line(&run, "y", "m")?];
                report.draw(
                    "plate",
                    "Heights of the pendulum's nose and of the plate (figure 3)",
                    "time [s]",
                    &lines,
                    runs::event_times(&run),
                );
            }
            _ => {}
        }
    }
    report.tables.push(table);
    Ok(report)
}

/// Error of time and weight of an impulse; infinite if there is none.
fn impulse_error(run: &Run, name: &str, time: f64, weight: f64) -> f64 {
    let all = run.events().iter().flat_map(|event| {
        event
            .impulses
            .iter()
            .map(move |impulse| (event.time, impulse))
    });
    let of_name = all.filter(|(_, impulse)| impulse.variable == name);
    of_name
        .map(|(found, impulse)| (found - time).abs().max((impulse.value - weight).abs()))
        .fold(f64::INFINITY, f64::min)
}
