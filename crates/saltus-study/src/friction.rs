//! Dry friction (figures 9.20, 9.21, 9.37 to 9.40, 9.43; H9.11; the lecture's two tests): five formulations of the same law against closed forms.

use saltus::Error;
use saltus_plot::Line;

use crate::report::{Report, Table};
use crate::runs::{self, Setup, repository_model, study_model};

/// The lecture's first test: 5 kg at 5 m/s, sliding friction 8 N, a force of -1.5 N/s up to -15 N.
struct OneMass {
    sticking: f64,
}

impl OneMass {
    /// v = 0 first: 5 v0 = 8 t + 0.75 t².
    fn stop() -> f64 {
        2.0 / 3.0 * (139f64.sqrt() - 8.0)
    }

    fn breakaway(&self) -> f64 {
        self.sticking / 1.5
    }

    fn speed(&self, t: f64) -> f64 {
        let slow = |t: f64| 0.75 * t * t;
        if t < OneMass::stop() {
            5.0 - (8.0 * t + slow(t)) / 5.0
        } else if t < self.breakaway() {
            0.0
        } else if t < 10.0 {
            let away = self.breakaway();
            (8.0 * (t - away) - slow(t) + slow(away)) / 5.0
        } else {
            self.speed(10.0f64.next_down()) - 1.4 * (t - 10.0)
        }
    }
}

/// Events of the lecture's second test, from an independent calculation in high precision.
const TWO_MASSES: [f64; 12] = [
    0.200_672_739_082_004_25,
    1.921_173_885_740_407_7,
    2.168_823_260_548_231,
    3.866_291_427_667_768_7,
    4.147_475_004_236_99,
    5.813_715_485_382_98,
    6.144_601_914_405_924,
    7.765_416_232_129_469_5,
    8.180_066_085_610_049,
    9.726_906_306_174_953,
    10.325_547_309_383_36,
    11.722_977_367_231_01,
];

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "friction",
        "Dry friction in five formulations",
        "A mass that slides, sticks and breaks away (Cellier and Kofman, Continuous System Simulation, sections 9.6, 9.12, 9.13; D. Zimmer's lecture). The velocity as constraint, a machine of states on the acceleration, one \
         curve, two curves, and a Petri net describe the same law; a curve of speed and force has no sticking force of its own.",
    );
    let mut table = Table::new(
        "One mass, 5 kg at 5 m/s, force growing to -15 N: against the closed form",
        &[
            "formulation",
            "sticking [N]",
            "stops and breaks away, largest error [s]",
            "largest error of the speed [m/s]",
            "steps",
            "evaluations",
        ],
    );
    let formulations = [
        (
            "constraint on the velocity",
            repository_model!("friction-velocity"),
            Some("mode"),
        ),
        (
            "states (9.21, 9.37)",
            study_model!("friction-states"),
            Some("mode"),
        ),
        (
            "Petri net (9.43)",
            study_model!("friction-petri"),
            Some("place"),
        ),
        (
            "two curves (9.39, 9.40)",
            study_model!("friction-two-curves"),
            Some("mode"),
        ),
        (
            "one curve (9.38)",
            study_model!("friction-pure-curve"),
            None,
        ),
    ];
    for (name, text, mode) in formulations {
        let model = runs::compile(text)?;
        for sticking in [10.0, 8.0] {
            let sets = [("S", sticking)];
            let sets: &[(&str, f64)] = match mode {
                Some(_) => &sets,
                None if sticking == 8.0 => &[],
                None => continue,
            };
            let run = runs::simulate(
                &model,
                Setup {
                    stop: 20.0,
                    tolerance: 1e-9,
                    sets,
                    ..Setup::default()
                },
            )?;
            let exact = OneMass { sticking };
            let what = format!("{name}, {sticking} N");
            // The friction jumps or has a corner at these; the corner of the force at 10 s is a time event.
            let mut found = runs::event_times(&run);
            found.retain(|t| (t - 10.0).abs() > 1e-6 && *t > 1e-6);
            found.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
            let late =
                report.check_times(&what, &found, &[OneMass::stop(), exact.breakaway()], 1e-6);
            let errors = runs::errors_of(&run, "v", |t| exact.speed(t))?;
            let worst =
                report.check_errors(&format!("{what}: speed [m/s]"), errors.into_iter(), 1e-6);
            table.row([
                name.to_owned(),
                format!("{sticking}"),
                format!("{late:.1e}"),
                format!("{worst:.1e}"),
                run.statistics.steps.to_string(),
                run.statistics.rhs_evaluations.to_string(),
            ]);
            if name.starts_with("states") && sticking == 10.0 {
                let lines = [
                    runs::line(&run, "v", "m/s")?,
                    runs::line(&run, "F", "N")?,
                    runs::line(&run, "f", "N")?,
                ];
                report.draw(
                    "one-mass",
                    "Speed, force and friction of one mass (first test of the lecture)",
                    "time [s]",
                    &lines,
                    found.clone(),
                );
                let names = [
                    (2.0, "Forward"),
                    (1.0, "StartForward"),
                    (0.0, "Sticking"),
                    (-1.0, "StartBackward"),
                    (-2.0, "Backward"),
                ];
                let graph = runs::mode_graph(
                    &run,
                    "mode",
                    &names,
                    "States of the friction and transitions taken (figure 9.37)",
                )?;
                report.draw_modes("states", &graph);
                let path = Line::new("friction", "N", runs::path(&run, "v", "f")?);
                report.draw(
                    "characteristic",
                    "Friction over speed as it was passed (figure 9.20)",
                    "speed [m/s]",
                    &[path],
                    Vec::new(),
                );
            }
        }
    }
    report.tables.push(table);
    report.remarks.push(
        "Where a state is left because of a force that exists only in this state, the equations must read the state's left limit (`pre`): with the state itself, as the printed models have it, the force is zero as soon as \
         the state is left, and no state is consistent. The Petri net needs no `pre` there: its curve parameter lives on in the places StartForward and StartBackward."
            .to_owned(),
    );
    two_masses(&mut report)?;
    Ok(report)
}

fn two_masses(report: &mut Report) -> Result<(), Error> {
    let run = runs::run(
        repository_model!("friction-two-masses"),
        Setup {
            stop: 20.0,
            tolerance: 1e-11,
            intervals: 1000,
            ..Setup::default()
        },
    )?;
    report.check_times(
        "two masses, stick and slip",
        &runs::jumps(&run, "mode")?,
        &TWO_MASSES,
        1e-8,
    );
    let lines = [
        runs::line(&run, "v1", "m/s")?,
        runs::line(&run, "v2", "m/s")?,
    ];
    report.draw(
        "two-masses",
        "Speeds of two masses coupled by a spring: stick and slip (second test of the lecture)",
        "time [s]",
        &lines,
        TWO_MASSES.to_vec(),
    );
    let graph = runs::mode_graph(
        &run,
        "mode",
        &[(0.0, "sticks"), (1.0, "slips")],
        "Stick and slip, transitions counted",
    )?;
    report.draw_modes("two-masses-modes", &graph);
    Ok(())
}
