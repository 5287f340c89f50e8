//! The dissertation's tables: what it prints beside what the same methods give here.

use std::time::Instant;

use crate::hybrid::{
    Bounds, Hybrid, Reduced, Run, adaptive, euler, henons, trapezoidal, without_location,
};
use crate::report::{Check, Report, Table};

/// Columns of the dissertation, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Euler,
    Trapezoidal,
    Henon,
    Adaptive,
}

impl Way {
    pub(crate) const ALL: [Way; 4] = [Way::Euler, Way::Trapezoidal, Way::Henon, Way::Adaptive];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Euler => "reformulated explicit Euler",
            Way::Trapezoidal => "trapezoidal rule, Newton over step and states",
            Way::Henon => "Hénon",
            Way::Adaptive => "adaptive, dense output",
        }
    }
}

/// What the dissertation prints for a method: Δ, the time of the first event, the local error there and at the other events of its second table, and seconds.
#[derive(Clone, Copy)]
pub(crate) struct Printed {
    pub(crate) step: &'static str,
    pub(crate) time: &'static str,
    pub(crate) errors: [&'static str; 4],
    pub(crate) seconds: &'static str,
}

/// A system and its tables.
pub(crate) struct Case<'a, H> {
    pub(crate) system: &'a dyn Fn() -> H,
    pub(crate) x: Vec<f64>,
    pub(crate) bounds: Bounds,
    /// Numbers of the tables in the dissertation: first event, errors.
    pub(crate) tables: [u32; 2],
    /// Which events the second table has, counted from 1.
    pub(crate) listed: Vec<usize>,
    pub(crate) printed: [Printed; 4],
    /// Without location: time, event variable at both ends of the step, seconds.
    pub(crate) printed_without: [&'static str; 4],
    /// Times of the events, exact.
    pub(crate) exact: Vec<f64>,
    /// Largest errors of the time of events: Euler and the others.
    pub(crate) allowed: [f64; 2],
}

/// All runs of a case, with their seconds.
pub(crate) struct Runs(pub(crate) Vec<(Way, Run, f64)>);

impl<H: Hybrid> Case<'_, H> {
    pub(crate) fn run(&self, draw: impl FnMut(&H, f64, &[f64])) -> Runs {
        let mut draw = Some(draw);
        let runs = Way::ALL.map(|way| {
            let start = Instant::now();
            let system = (self.system)();
            let run = match way {
                Way::Euler if system.event_state().is_none() => {
                    let reduced = Reduced(system);
                    let x = reduced.extended(0.0, &self.x);
                    euler(reduced, &x, self.bounds)
                }
                Way::Euler => euler(system, &self.x, self.bounds),
                Way::Trapezoidal => trapezoidal(system, &self.x, self.bounds),
                Way::Henon => henons(system, &self.x, self.bounds),
                Way::Adaptive => {
                    let draw = draw.take().expect("drawn once");
                    adaptive(system, &self.x, self.bounds, draw)
                }
            };
            (way, run, start.elapsed().as_secs_f64())
        });
        Runs(runs.into())
    }

    /// Adds the tables and the checks.
    pub(crate) fn report(&self, runs: &Runs, report: &mut Report) {
        report.tables.push(self.first_event(runs));
        report.tables.push(self.errors(runs));
        report.tables.push(self.cost(runs));
        for (way, run, _) in &runs.0 {
            let allowed = self.allowed[usize::from(*way != Way::Euler)];
            for (k, exact) in self.exact.iter().enumerate() {
                let Some(found) = run.events.get(k) else {
                    report.checks.push(Check::new(
                        format!("{}: event {} is found", way.name(), k + 1),
                        0.0,
                        1.0,
                        0.0,
                    ));
                    continue;
                };
                // What one event is late by makes the next ones late.
                let late = allowed * (k + 1) as f64;
                report.checks.push(Check::new(
                    format!("{}: time of event {}", way.name(), k + 1),
                    found.t,
                    *exact,
                    late,
                ));
            }
        }
    }

    fn first_event(&self, runs: &Runs) -> Table {
        let mut table = Table::new(
            format!("Table {}: the first event", self.tables[0]),
            &[
                "method",
                "Δ printed",
                "Δ here",
                "time printed",
                "time here",
                "error of time here",
                "local error printed",
                "local error here",
                "constraint error here",
            ],
        );
        for ((way, run, _), printed) in runs.0.iter().zip(&self.printed) {
            let Some(found) = run.events.first() else {
                continue;
            };
            // Steps of the adaptive method have no grid; the dissertation's Δ is from a multiple of its fixed step.
            let step = if *way == Way::Adaptive {
                found.t - (found.t / self.bounds.step).floor() * self.bounds.step
            } else {
                found.step
            };
            table.row([
                way.name().to_owned(),
                printed.step.to_owned(),
                format!("{step:.6e}"),
                printed.time.to_owned(),
                format!("{:.12}", found.t),
                format!("{:.1e}", found.t - self.exact[0]),
                printed.errors[0].to_owned(),
                format!("{:.1e}", found.local_error),
                format!("{:.1e}", found.constraint_error),
            ]);
        }
        let straddled = without_location((self.system)(), &self.x, self.bounds);
        if let Some(step) = straddled {
            let [time, low, high, _] = self.printed_without;
            table.row([
                "no location, RK4".to_owned(),
                "–".to_owned(),
                "–".to_owned(),
                time.to_owned(),
                format!("[{:.6}, {:.6}]", step.t[0], step.t[1]),
                "–".to_owned(),
                format!("[{low}, {high}]"),
                format!("[{:.3e}, {:.3e}]", step.value[0], step.value[1]),
                "–".to_owned(),
            ]);
        }
        table
    }

    fn errors(&self, runs: &Runs) -> Table {
        let mut header = vec!["event".to_owned()];
        for way in Way::ALL {
            header.push(format!("{}: printed", way.name()));
            header.push("here".to_owned());
        }
        let mut table = Table {
            title: format!(
                "Table {}: distance of the event variable from its threshold",
                self.tables[1]
            ),
            header,
            rows: Vec::new(),
        };
        for (row, &event) in self.listed.iter().enumerate() {
            let mut cells = vec![event.to_string()];
            for ((_, run, _), printed) in runs.0.iter().zip(&self.printed) {
                cells.push(printed.errors[row].to_owned());
                cells.push(match run.events.get(event - 1) {
                    Some(found) if found.fell_back => {
                        format!("{:.1e} (fall-back)", found.local_error)
                    }
                    Some(found) => format!("{:.1e}", found.local_error),
                    None => run.failure.clone().unwrap_or_else(|| "–".to_owned()),
                });
            }
            table.row(cells);
        }
        table
    }

    fn cost(&self, runs: &Runs) -> Table {
        let mut table = Table::new(
            "Table 15: cost",
            &[
                "method",
                "seconds printed (to the first event)",
                "seconds here (to the last event)",
                "evaluations here",
                "events here",
            ],
        );
        for ((way, run, seconds), printed) in runs.0.iter().zip(&self.printed) {
            table.row([
                way.name().to_owned(),
                printed.seconds.to_owned(),
                format!("{seconds:.3}"),
                run.rhs_evaluations.to_string(),
                run.events.len().to_string(),
            ]);
        }
        let start = Instant::now();
        if let Some(step) = without_location((self.system)(), &self.x, self.bounds) {
            table.row([
                "no location, RK4 (to the first event)".to_owned(),
                self.printed_without[3].to_owned(),
                format!("{:.3}", start.elapsed().as_secs_f64()),
                step.rhs_evaluations.to_string(),
                "0".to_owned(),
            ]);
        }
        table
    }
}
