//! The filament pendulum of the dissertation (5.2): a pendulum until the tension of its thread vanishes, free fall until the thread is taut again.

use saltus_solve::roots::step_curve::Threshold;

use crate::comparison::{Case, Printed};
use crate::hybrid::{Bounds, Hybrid, adaptive};
use crate::report::{Check, Report};

const LENGTH: f64 = 1.0;
const GRAVITY: f64 = 9.80665;
const MASS: f64 = 0.75;
const INERTIA: f64 = 0.75;
const DAMPING: f64 = 0.97;
const DRAG: f64 = 0.95;

/// Times of the events: Taylor series of high order in 40 digits.
const EXACT: [f64; 2] = [0.560_021_628_505_124_6, 1.226_505_521_082_002];

#[derive(Clone, Copy, Default)]
pub(crate) struct Filament {
    pub(crate) falls: bool,
}

impl Hybrid for Filament {
    fn n(&self) -> usize {
        if self.falls { 4 } else { 2 }
    }

    /// (φ, ω), or (x, v_x, y, v_y).
    fn f(&self, _: f64, x: &[f64], dx: &mut [f64]) {
        dx[0] = x[1];
        if self.falls {
            dx[1] = -DRAG * x[1] / MASS;
            dx[2] = x[3];
            dx[3] = -GRAVITY - DRAG * x[3] / MASS;
        } else {
            dx[1] = (MASS * GRAVITY * LENGTH * x[0].sin() - DAMPING * x[1]) / INERTIA;
        }
    }

    /// The tension of the thread (90), or the distance from its end less its length (95).
    fn event(&self, _: f64, x: &[f64]) -> f64 {
        if self.falls {
            x[0].hypot(x[2]) - LENGTH
        } else {
            -MASS * GRAVITY * x[0].cos() + MASS * LENGTH * x[1] * x[1]
        }
    }

    /// (99) and (100)
    fn event_rate(&self, _: f64, x: &[f64], dx: &[f64]) -> f64 {
        if self.falls {
            (x[0] * dx[0] + x[2] * dx[2]) / x[0].hypot(x[2])
        } else {
            MASS * GRAVITY * x[0].sin() * dx[0] + 2.0 * MASS * LENGTH * x[1] * dx[1]
        }
    }

    fn event_state(&self) -> Option<Threshold> {
        None
    }

    /// (96) and (97)
    fn pass(&mut self, _: f64, x: &[f64]) -> Vec<f64> {
        self.falls = !self.falls;
        if self.falls {
            let (sin, cos) = x[0].sin_cos();
            vec![
                LENGTH * sin,
                LENGTH * x[1] * cos,
                LENGTH * cos,
                -LENGTH * x[1] * sin,
            ]
        } else {
            let radius = x[0].hypot(x[2]);
            vec![
                std::f64::consts::PI + (x[0] / x[2]).atan(),
                (x[2] * x[1] - x[0] * x[3]) / (radius * radius),
            ]
        }
    }
}

pub(crate) fn start() -> Vec<f64> {
    vec![std::f64::consts::PI + (0.9f64 / -0.43).atan(), 8.0]
}

pub(crate) fn study() -> Report {
    let mut report = Report::new(
        "filament-pendulum",
        "Filament pendulum: event steps of the dissertation",
        "A pendulum on a thread (R. Karim, TU Wien 2016, section 5.2): it falls freely when the tension of the thread vanishes, an event of an algebraic variable, and swings \
         again when the thread is taut. All methods but the adaptive one have the fixed step 1e-5 s.",
    );
    let case = Case {
        system: &Filament::default,
        x: start(),
        bounds: Bounds {
            events: 2,
            time_end: 2.0,
            step: 1e-5,
        },
        tables: [7, 8],
        listed: vec![1, 2],
        printed: [
            Printed {
                step: "1.363987e-06",
                time: "5.600113e-01",
                errors: ["5.456111e-16", "0", "", ""],
                seconds: "8.841572e+01",
            },
            Printed {
                step: "1.628527e-06",
                time: "5.600216e-01",
                errors: ["4.440892e-16", "0", "", ""],
                seconds: "1.225275e+02",
            },
            Printed {
                step: "9.522046e-06",
                time: "5.600195e-01",
                errors: ["3.057221e-08", "2.869926e-12", "", ""],
                seconds: "1.189660e+01",
            },
            Printed {
                step: "9.522518e-06",
                time: "5.600195e-01",
                errors: ["1.443289e-13", "1.709743e-14", "", ""],
                seconds: "1.142153e+01",
            },
        ],
        printed_without: [
            "[5.60130e-01, 5.60140e-01]",
            "-2.041575e-04",
            "2.036859e-04",
            "2.122344e+01",
        ],
        exact: EXACT.to_vec(),
        allowed: [2e-5, 2e-9],
    };
    let runs = case.run(|_, _, _| {});
    case.report(&runs, &mut report);
    let euler = &runs.0[0].1.events[0];
    report.checks.push(Check::new(
        "Euler: Δ of the first event as printed",
        euler.step,
        1.363987e-06,
        1e-11,
    ));
    report.checks.push(Check::new(
        "Euler: drift of the index-reduced tension as printed",
        euler.constraint_error,
        1.265872e-04,
        1e-9,
    ));
    report.remarks = vec![
        "Euler's run of the dissertation is reproduced to all printed digits, its drift too: the tension is integrated with the states (3.2), reaches zero to round-off, and \
         computed from the states it is 1.27e-4 N off.".to_owned(),
        "The time of the trapezoidal rule is reproduced; it is exact to 1e-10 s. The times of Hénon's method and of the adaptive method are printed as 0.5600195, 2.1e-6 s before \
         the exact 0.5600216: a loose tolerance of the integrator is a plausible cause.".to_owned(),
        "The printed bracket without location, [0.56013, 0.56014], does not contain the event; here it does.".to_owned(),
        "At take-off the distance from the end of the thread leaves the length with the third power of time: the next event is looked for only when it has left by 1e-9 m."
            .to_owned(),
    ];
    draw(&case, &mut report);
    report
}

/// The motion until t = 10, its path, and the three parts of the path on their own (appendix A1 of the dissertation).
fn draw(case: &Case<'_, Filament>, report: &mut Report) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut parts: Vec<(bool, Vec<(f64, f64)>)> = Vec::new();
    let all = Bounds {
        events: 9,
        time_end: 10.0,
        ..case.bounds
    };
    let run = adaptive(Filament::default(), &case.x, all, |system, t, state| {
        let at = if system.falls {
            (state[0], state[2])
        } else {
            (LENGTH * state[0].sin(), LENGTH * state[0].cos())
        };
        x.push((t, at.0));
        y.push((t, at.1));
        match parts.last_mut() {
            Some((falls, part)) if *falls == system.falls => part.push(at),
            _ => parts.push((system.falls, vec![at])),
        }
    });
    report.checks.push(Check::new(
        "events until t = 10",
        run.events.len() as f64,
        2.0,
        0.0,
    ));
    report.checks.push(Check::new(
        "angle at t = 10",
        run.end[0],
        3.138_852_090_381_655,
        1e-8,
    ));
    report.draw(
        "positions",
        "Position of the pendulum (figure 13)",
        "time [s]",
        &[("x [m]".to_owned(), x), ("y [m]".to_owned(), y)],
        EXACT.to_vec(),
    );
    let names = ["swings", "falls", "swings again"];
    let paths: Vec<(String, Vec<(f64, f64)>)> = names
        .iter()
        .zip(parts)
        .map(|(name, (_, part))| (format!("{name}: y [m]"), part))
        .collect();
    let none = Vec::new;
    report.draw(
        "path",
        "Path of the pendulum (figure 14)",
        "x [m]",
        &paths,
        none(),
    );
    for (k, path) in paths.iter().enumerate() {
        let caption = format!("The pendulum {} (figure {})", names[k], 34 + k);
        let file = format!("part-{}", k + 1);
        report.draw(&file, &caption, "x [m]", std::slice::from_ref(path), none());
    }
}
