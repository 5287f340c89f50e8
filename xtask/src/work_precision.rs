//! Work against precision of every integrator: `cargo xtask work-precision`.
//!
//! Comes in: the stiff set of `saltus-testkit` with its published end values, two smooth problems with exact ones, a relaxation
//! oscillator with many restarts. Goes out: a table for each problem, one row per method and tolerance.

use saltus_solve::{
    Discontinuity, Integrator, IntegratorStatistics, Problem, SolveError, SolverName, Start,
    StepError, StepLimits, Tolerances,
};
use saltus_testkit::stiff::STIFF;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// File to write
    #[arg(long, default_value = "docs/benchmarks/work-precision.md")]
    out: PathBuf,
    /// Only problems whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Only these methods, separated by commas
    #[arg(long, value_delimiter = ',')]
    solvers: Vec<String>,
}

/// A problem, its end value, and the times at which the integrator is restarted from interpolated values.
struct Case {
    name: &'static str,
    about: &'static str,
    time_end: f64,
    start: Vec<f64>,
    nominal: Vec<f64>,
    f: fn(f64, &[f64], &mut [f64]),
    end: Vec<f64>,
    /// Distance of restarts; infinite: none.
    restart_every: f64,
    solvers: &'static [SolverName],
}

const STIFF_SOLVERS: &[SolverName] = &[
    SolverName::Auto,
    SolverName::Radau,
    SolverName::Esdirk,
    SolverName::Bdf,
];
const SMOOTH_SOLVERS: &[SolverName] = &[SolverName::Auto, SolverName::Dopri5, SolverName::Dop853];
const TOLERANCES_STIFF: [f64; 5] = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8];
const TOLERANCES_SMOOTH: [f64; 7] = [1e-4, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12];

impl Case {
    fn error(&self, x: &[f64]) -> f64 {
        let each = self.end.iter().zip(&self.nominal).zip(x);
        each.map(|((end, nominal), x)| (x - end).abs() / (end.abs() + nominal))
            .fold(0.0, f64::max)
    }

    fn is_smooth(&self) -> bool {
        self.solvers == SMOOTH_SOLVERS
    }
}

struct Row<'a>(&'a Case);

impl Problem for Row<'_> {
    fn n_states(&self) -> usize {
        self.0.start.len()
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (self.0.f)(t, x, dx);
        Ok(())
    }
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = STIFF
        .into_iter()
        .map(|p| Case {
            name: p.name,
            about: "test set for initial value problem solvers, published end value",
            time_end: p.time_end,
            start: p.start.to_vec(),
            nominal: p.nominal.to_vec(),
            f: p.f,
            end: p.end.to_vec(),
            restart_every: f64::INFINITY,
            solvers: STIFF_SOLVERS,
        })
        .collect();
    cases.push(Case {
        name: "stiff with restarts",
        about: "x' = -1e4 (x - cos t) - sin t, y' = x - y, restarted from interpolated values 1000 times in 10 s",
        time_end: 10.0,
        start: vec![1.0, 0.5],
        nominal: vec![1.0, 1.0],
        f: |t, x, dx| {
            dx[0] = -1e4 * (x[0] - t.cos()) - t.sin();
            dx[1] = x[0] - x[1];
        },
        end: vec![10.0f64.cos(), 0.5 * (10.0f64.cos() + 10.0f64.sin())],
        restart_every: 0.01,
        solvers: STIFF_SOLVERS,
    });
    cases.push(Case {
        name: "stiff for a while",
        about: "x' = -s(t) (x - cos t) - sin t with s = 1e4 on [10, 20] of [0, 60] and 1 otherwise",
        time_end: 60.0,
        start: vec![1.0, 0.5],
        nominal: vec![1.0, 1.0],
        f: |t, x, dx| {
            let fast = if (10.0..20.0).contains(&t) { 1e4 } else { 1.0 };
            dx[0] = -fast * (x[0] - t.cos()) - t.sin();
            dx[1] = x[0] - x[1];
        },
        end: vec![60.0f64.cos(), 0.5 * (60.0f64.cos() + 60.0f64.sin())],
        restart_every: f64::INFINITY,
        solvers: STIFF_SOLVERS,
    });
    cases.push(Case {
        name: "smooth with restarts",
        about: "the same orbit, restarted from interpolated values every 0.2 s",
        restart_every: 0.2,
        ..orbit()
    });
    cases.push(orbit());
    cases.push(Case {
        name: "smooth growth",
        about: "x' = x cos t, exact end value",
        time_end: 40.0,
        start: vec![1.0],
        nominal: vec![1.0],
        f: |t, x, dx| dx[0] = x[0] * t.cos(),
        end: vec![40.0f64.sin().exp()],
        restart_every: f64::INFINITY,
        solvers: SMOOTH_SOLVERS,
    });
    cases
}

fn orbit() -> Case {
    Case {
        name: "smooth orbit",
        about: "two bodies, eccentricity 0.5, ten revolutions, exact end value",
        time_end: 20.0 * std::f64::consts::PI,
        start: vec![0.5, 0.0, 0.0, 3.0f64.sqrt()],
        nominal: vec![1.0; 4],
        f: |_, x, dx| {
            let r3 = (x[0] * x[0] + x[1] * x[1]).powf(1.5);
            dx[0] = x[2];
            dx[1] = x[3];
            dx[2] = -x[0] / r3;
            dx[3] = -x[1] / r3;
        },
        end: vec![0.5, 0.0, 0.0, 3.0f64.sqrt()],
        restart_every: f64::INFINITY,
        solvers: SMOOTH_SOLVERS,
    }
}

struct Outcome {
    error: f64,
    statistics: IntegratorStatistics,
    methods: String,
}

/// Runs once; restarts take the interpolated value a little before the end of a step.
fn run(case: &Case, solver: SolverName, tolerance: f64) -> Result<Outcome, StepError> {
    let mut problem = Row(case);
    let mut integrator = Integrator::new(solver, Tolerances::new(tolerance), &case.nominal);
    let mut limits = StepLimits {
        time_end: case.time_end,
        step_size_max: case.time_end,
    };
    integrator.begin(&mut problem, 0.0, &case.start, limits)?;
    let mut x = case.start.clone();
    let mut restart = 1.0;
    while integrator.time() < case.time_end {
        integrator.step(&mut problem, limits)?;
        let at = restart * case.restart_every;
        if at < integrator.time() {
            if let Some(size) = integrator
                .step_size_to_interpolate(&mut problem, at)
                .map_err(|error| StepError::Fatal {
                    time: at,
                    error: Box::new(error),
                })?
            {
                integrator.begin_again(&mut problem, size, limits)?;
                continue;
            }
            integrator.interpolate(at, &mut x);
            limits.step_size_max = case.time_end;
            let start = Start {
                t: at,
                x: &x,
                dx: None,
                change: Discontinuity::States,
            };
            integrator.begin_after(&mut problem, start, limits)?;
            restart += 1.0;
        }
    }
    let methods: Vec<String> = integrator
        .methods_used()
        .map(|(name, steps)| format!("{} {steps}", name.as_str()))
        .collect();
    Ok(Outcome {
        error: case.error(integrator.state()),
        statistics: integrator.statistics(),
        methods: methods.join(", "),
    })
}

pub(crate) fn run_all(options: &Options) -> Result<(), String> {
    let mut text = String::from(
        "# Work and precision of the integrators\n\nMade by `cargo xtask work-precision`. The error is the largest \
         |x - exact|/(|exact| + nominal) at the end, tolerance relative and absolute (times nominal) the same. Evaluations are of the right-hand side, with those for Jacobians and interpolants.\n",
    );
    let wanted = |name: &str| {
        options
            .only
            .as_deref()
            .is_none_or(|only| name.contains(only))
    };
    for case in cases().iter().filter(|case| wanted(case.name)) {
        let _ = write!(
            text,
            "\n## {}\n\n{}\n\n| method | tolerance | error | steps | rejected | evaluations | Jacobians | factorisations |\n|---|---|---|---|---|---|---|---|\n",
            case.name, case.about
        );
        let tolerances: &[f64] = if case.is_smooth() {
            &TOLERANCES_SMOOTH
        } else {
            &TOLERANCES_STIFF
        };
        for &solver in case.solvers {
            if !options.solvers.is_empty() && !options.solvers.iter().any(|s| s == solver.as_str())
            {
                continue;
            }
            for &tolerance in tolerances {
                let _ = match run(case, solver, tolerance) {
                    Ok(o) => {
                        let s = o.statistics;
                        let name = match solver {
                            SolverName::Auto => format!("auto ({})", o.methods),
                            named => named.as_str().to_owned(),
                        };
                        writeln!(
                            text,
                            "| {name} | {tolerance:.0e} | {:.1e} | {} | {} | {} | {} | {} |",
                            o.error,
                            s.steps,
                            s.steps_rejected,
                            s.rhs_evaluations,
                            s.jacobians,
                            s.factorizations
                        )
                    }
                    Err(error) => writeln!(
                        text,
                        "| {} | {tolerance:.0e} | {error:?} | | | | | |",
                        solver.as_str()
                    ),
                };
            }
        }
    }
    if let Some(folder) = options.out.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    std::fs::write(&options.out, text).map_err(|e| format!("{}: {e}", options.out.display()))
}
