//! Four controllers of a robot with four sampling rates (figure 9.11): the order in which simultaneous samples act.

use saltus::Error;
use saltus_plot::TimelineRow;

use crate::report::{Check, Report, Table};
use crate::runs::{self, Setup, study_model};

/// Ticks of the stabiliser between two of each controller, slowest last.
const EVERY: [u32; 4] = [1, 2, 4, 200];
const T1: f64 = 0.005;
const STOP: f64 = 3.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Task, path, trajectory, stabiliser: what the textbook wants at the start.
    SlowFirst,
    /// Stabiliser first, with the set points of before.
    FastFirst,
}

/// The sampled loop by hand, exact between the samples: angle and speed at every tick of the stabiliser.
fn by_hand(order: Order) -> Vec<[f64; 2]> {
    let (mut q, mut w) = (0.0f64, 0.0f64);
    let (mut u, mut speed, mut wanted, mut target) = (0.0, 0.0, 0.0, 0.0f64);
    let ticks = (STOP / T1).round() as u32;
    let mut out = vec![[q, w]];
    for tick in 0..ticks {
        let due = |k: usize| tick.is_multiple_of(EVERY[k]);
        let controllers = match order {
            Order::SlowFirst => [3, 2, 1, 0],
            Order::FastFirst => [0, 1, 2, 3],
        };
        for k in controllers.into_iter().filter(|&k| due(k)) {
            match k {
                0 => u = 40.0 * (speed - w),
                1 => speed = 6.0 * (wanted - q),
                2 => wanted += (target - wanted).clamp(-0.02, 0.02),
                _ => target = if target > 0.5 { 0.0 } else { 1.0 },
            }
        }
        q += T1 * (w + 0.5 * T1 * u);
        w += T1 * u;
        out.push([q, w]);
    }
    out
}

pub(crate) fn study() -> Result<Report, Error> {
    let mut report = Report::new(
        "robot",
        "A robot joint with four sampling rates",
        "Task planner, path planner, trajectory and stabiliser with 1 s, 20, 10 and 5 ms (Cellier and Kofman, Continuous System Simulation, figure 9.11; gains and joint are ours). At common instants \
         each controller must see what the slower one has just said; in Modelica that follows from the data flow, wherever the clauses stand in the text.",
    );
    let ticks = (STOP / T1).round() as u32;
    let run = runs::run(
        study_model!("robot-rates"),
        Setup {
            stop: STOP,
            tolerance: 1e-10,
            intervals: ticks,
            ..Setup::default()
        },
    )?;
    let mut table = Table::new(
        "Angle and speed at the samples against the loop computed by hand",
        &[
            "order at common instants",
            "largest difference of the angle [rad]",
            "of the speed [rad/s]",
        ],
    );
    for order in [Order::SlowFirst, Order::FastFirst] {
        let hand = by_hand(order);
        let mut worst = [0.0f64; 2];
        for (k, exact) in hand.iter().enumerate() {
            let t = k as f64 * T1;
            for (worst, (name, exact)) in worst.iter_mut().zip(["q", "w"].into_iter().zip(exact)) {
                *worst = worst.max((run.at(name, t)? - exact).abs());
            }
        }
        let name = match order {
            Order::SlowFirst => "slow before fast (data flow)",
            Order::FastFirst => "fast before slow",
        };
        table.row([
            name.to_owned(),
            format!("{:.1e}", worst[0]),
            format!("{:.1e}", worst[1]),
        ]);
        match order {
            Order::SlowFirst => {
                report.check_errors("angle [rad]", [worst[0]].into_iter(), 1e-9);
                report.check_errors("speed [rad/s]", [worst[1]].into_iter(), 1e-9);
            }
            Order::FastFirst => report.checks.push(Check::new(
                "the other order is another result",
                f64::from(u8::from(worst[0] > 1e-3)),
                1.0,
                0.0,
            )),
        }
    }
    report.tables.push(table);
    report.remarks.push(
        "The textbook gives the faster loops priority after the start; that is written with `pre` on their set points and is the second row's result."
            .to_owned(),
    );
    let instants = runs::event_times(&run);
    report.checks.push(Check::new(
        "instants at which samples are taken",
        instants.iter().filter(|t| **t > 0.0).count() as f64,
        f64::from(ticks),
        1.0,
    ));
    let names = ["stabiliser", "trajectory", "path", "task"];
    let row = |k: usize| TimelineRow {
        name: names[k].to_owned(),
        marks: (0..=20u32)
            .filter(|tick| tick.is_multiple_of(EVERY[k]))
            .map(|tick| f64::from(tick) * T1)
            .collect(),
        spans: Vec::new(),
    };
    report.draw_timeline(
        "samples",
        "Samples of the first tenth of a second (figure 9.11)",
        &[3, 2, 1, 0].map(row),
    );
    let lines = [
        runs::line(&run, "target", "rad")?,
        runs::line(&run, "wanted", "rad")?,
        runs::line(&run, "q", "rad")?,
    ];
    report.draw(
        "motion",
        "Task, path and angle of the joint",
        "time [s]",
        &lines,
        Vec::new(),
    );
    Ok(report)
}
