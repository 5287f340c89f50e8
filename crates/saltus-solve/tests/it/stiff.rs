//! The standard stiff set: published end values at the tolerance asked.

use saltus_solve::{
    Discontinuity, Form, Integrator, IntegratorStatistics, Problem, SolveError, SolverName, Start,
    StepLimits, Tolerances,
};
use saltus_testkit::stiff::{Heat, RING_MODULATOR, ROBERTSON, STIFF, StiffProblem};

struct Stiff(StiffProblem);

impl Problem for Stiff {
    fn n_states(&self) -> usize {
        self.0.n_states()
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (self.0.f)(t, x, dx);
        Ok(())
    }
}

fn run(
    solver: SolverName,
    problem: StiffProblem,
    tolerances: Tolerances,
) -> (f64, IntegratorStatistics) {
    let limits = StepLimits {
        time_end: problem.time_end,
        step_size_max: problem.time_end,
    };
    let mut integrator = Integrator::new(solver, tolerances, problem.nominal);
    integrator
        .begin(&mut Stiff(problem), 0.0, problem.start, limits)
        .expect("starts");
    while integrator.time() < problem.time_end {
        integrator
            .step(&mut Stiff(problem), limits)
            .unwrap_or_else(|error| panic!("{solver:?} {}: {error:?}", problem.name));
    }
    (problem.error(integrator.state()), integrator.statistics())
}

/// The largest error at the end in units of the tolerance. A step keeps its own error below one tolerance, and the stiff problems forget
/// most of what earlier steps did: few errors are alive at a time, and ten is what they may add up to.
const ALLOWED: f64 = 10.0;
/// The ring modulator forgets nothing: a perturbation of 1e-5 at eleven instants arrives at the end with 1.1 times its size on average
/// (CVODE at 1e-10). All N steps count there, the bound is N tolerances, and of this the steps may use a hundredth because the signs of their
/// errors follow the oscillation.
const ALLOWED_PER_STEP: f64 = 0.01;

#[test]
fn end_values_are_those_published_to_ten_times_the_tolerance() {
    for solver in [SolverName::Radau, SolverName::Esdirk, SolverName::Bdf] {
        for problem in STIFF {
            let forgets = problem.name != RING_MODULATOR.name;
            let tolerances: &[f64] = if forgets {
                &[1e-5, 1e-6, 1e-7]
            } else {
                &[1e-7]
            };
            for &tolerance in tolerances {
                let (error, statistics) = run(solver, problem, Tolerances::new(tolerance));
                let allowed = if forgets {
                    ALLOWED
                } else {
                    ALLOWED_PER_STEP * statistics.steps as f64
                };
                assert!(
                    error < allowed * tolerance,
                    "{solver:?} {} {tolerance:e}: {error:e} {statistics:?}",
                    problem.name
                );
            }
        }
    }
}

/// Robertson's reaction with the conservation law in place of the third equation.
struct Conserving;

impl Problem for Conserving {
    fn n_states(&self) -> usize {
        3
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (ROBERTSON.f)(t, x, dx);
        Ok(())
    }

    fn residual(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &[f64],
        out: &mut [f64],
    ) -> Result<(), SolveError> {
        (ROBERTSON.f)(t, x, out);
        out[0] = dx[0] - out[0];
        out[1] = dx[1] - out[1];
        out[2] = x[0] + x[1] + x[2] - 1.0;
        Ok(())
    }

    fn form(&self) -> Form {
        Form::Implicit
    }
}

/// M (x' - f(t, x)) = 0 with a matrix M of entries from 1e-3 to 1e3: the solution is that of x' = f(t, x).
struct Mixed(StiffProblem);

impl Problem for Mixed {
    fn n_states(&self) -> usize {
        self.0.start.len()
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        (self.0.f)(t, x, dx);
        Ok(())
    }

    fn residual(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &[f64],
        out: &mut [f64],
    ) -> Result<(), SolveError> {
        (self.0.f)(t, x, out);
        for (out, dx) in out.iter_mut().zip(dx) {
            *out = dx - *out;
        }
        let n = out.len();
        for i in 0..n {
            // Row i: 10^(±3) times its own equation and half of the next.
            let next = if i + 1 < n { out[i + 1] } else { 0.0 };
            out[i] = (out[i] + 0.5 * next) * if i % 2 == 0 { 1e3 } else { 1e-3 };
        }
        Ok(())
    }

    fn form(&self) -> Form {
        Form::Implicit
    }
}

#[test]
fn a_matrix_before_the_derivatives_changes_neither_steps_nor_errors() {
    for p in STIFF.into_iter().filter(|p| p.name != RING_MODULATOR.name) {
        for solver in [SolverName::Radau, SolverName::Esdirk] {
            let plain = run(solver, p, Tolerances::new(1e-6));
            let mixed = finish(solver, &mut Mixed(p), p.start, p.time_end, p.nominal);
            let (steps, expected) = (mixed.statistics().steps as f64, plain.1.steps as f64);
            assert!(
                (steps - expected).abs() <= 0.03 * expected + 2.0,
                "{solver:?} {}: {steps} steps instead of {expected}",
                p.name
            );
            let error = p.error(mixed.state());
            assert!(
                error < 2.0 * plain.0 + 1e-6,
                "{solver:?} {}: {error:e} instead of {:e}",
                p.name,
                plain.0
            );
        }
    }
}

fn finish(
    solver: SolverName,
    problem: &mut impl Problem,
    start: &[f64],
    time_end: f64,
    nominal: &[f64],
) -> Integrator {
    let limits = StepLimits {
        time_end,
        step_size_max: time_end,
    };
    let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), nominal);
    integrator
        .begin(problem, 0.0, start, limits)
        .expect("starts");
    while integrator.time() < time_end {
        integrator.step(problem, limits).expect("steps");
    }
    integrator
}

#[test]
fn an_algebraic_equation_holds_to_the_end() {
    let p = ROBERTSON;
    let integrator = finish(
        SolverName::Bdf,
        &mut Conserving,
        p.start,
        p.time_end,
        p.nominal,
    );
    let x = integrator.state();
    assert!(p.error(x) < 1e-5, "{x:?} {:?}", integrator.statistics());
    assert!((x[0] + x[1] + x[2] - 1.0).abs() < 1e-12, "{x:?}");
}

/// The heat equation, with its matrix or without.
struct Lines {
    heat: Heat,
    exact: bool,
}

impl Problem for Lines {
    fn n_states(&self) -> usize {
        self.heat.n_states()
    }

    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.heat.derivatives(x, dx);
        Ok(())
    }

    fn pattern(&self) -> Option<&[Vec<u32>]> {
        Some(self.heat.pattern())
    }

    fn jacobian(
        &mut self,
        _: f64,
        _: &[f64],
        _: &[f64],
        out: &mut [f64],
    ) -> Result<bool, SolveError> {
        let scale = (self.heat.n_states() as f64 + 1.0).powi(2);
        let columns = self.heat.pattern().iter().enumerate();
        let entries = columns.flat_map(|(j, rows)| rows.iter().map(move |i| (*i as usize, j)));
        for (out, (i, j)) in out.iter_mut().zip(entries) {
            *out = if i == j { 2.0 * scale } else { -scale };
        }
        Ok(self.exact)
    }
}

#[test]
fn the_heat_equation_is_solved_on_its_band() {
    let n = 1000;
    let mut start = vec![0.0; n];
    let mut end = vec![0.0; n];
    Heat::new(n).exact(0.0, &mut start);
    Heat::new(n).exact(0.1, &mut end);
    for solver in [SolverName::Bdf, SolverName::Radau] {
        for exact in [true, false] {
            let mut problem = lines(n, exact);
            let integrator = finish(solver, &mut problem, &start, 0.1, &vec![1.0; n]);
            for (found, exact) in integrator.state().iter().zip(&end) {
                assert!((found - exact).abs() < 3e-6, "{solver:?}: {found} {exact}");
            }
            let statistics = integrator.statistics();
            assert!(statistics.steps < 120, "{solver:?} {statistics:?}");
            assert!(statistics.jacobians <= 5, "{solver:?} {statistics:?}");
        }
        // A matrix of three diagonals has three groups of columns that share no row.
        let first = [true, false].map(|exact| first_step(solver, lines(n, exact), &start));
        assert!(first[0] + 3 <= first[1], "{solver:?} {first:?}");
    }
}

fn lines(n: usize, exact: bool) -> Lines {
    Lines {
        heat: Heat::new(n),
        exact,
    }
}

/// Evaluations up to the end of the first step, with one Jacobian.
fn first_step(solver: SolverName, mut problem: Lines, start: &[f64]) -> u64 {
    let nominal = vec![1.0; start.len()];
    let limits = StepLimits {
        time_end: 0.1,
        step_size_max: 0.1,
    };
    let mut integrator = Integrator::new(solver, Tolerances::new(1e-6), &nominal);
    integrator
        .begin(&mut problem, 0.0, start, limits)
        .expect("starts");
    integrator.step(&mut problem, limits).expect("steps");
    let statistics = integrator.statistics();
    assert_eq!(statistics.jacobians, 1, "{solver:?}");
    statistics.rhs_evaluations
}

#[test]
fn auto_costs_little_more_than_the_implicit_method_on_stiff_problems() {
    for problem in STIFF
        .into_iter()
        .filter(|problem| problem.name != RING_MODULATOR.name)
    {
        let tolerances = Tolerances::new(1e-6);
        let (_, radau) = run(SolverName::Radau, problem, tolerances);
        let (error, auto) = run(SolverName::Auto, problem, tolerances);
        assert!(error < 1e-5, "{} {error:e}", problem.name);
        assert!(
            auto.rhs_evaluations as f64 <= 1.2 * radau.rhs_evaluations as f64,
            "{}: {auto:?} {radau:?}",
            problem.name
        );
    }
}

/// Two tanks whose levels become equal: the difference obeys d' = -c √|d| with the sign of d, smooth near zero; what flows back
/// mixes into the first tank and changes its temperature.
struct Tanks;

impl Problem for Tanks {
    fn n_states(&self) -> usize {
        2
    }

    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        dx[0] = -0.05 * x[0] / (x[0] * x[0] + 1e-12).powf(0.25);
        dx[1] = 12.5 * dx[0].max(0.0);
        Ok(())
    }
}

#[test]
fn steps_that_go_nowhere_are_stiff() {
    // The level never passes its equilibrium, so nothing flows back; stages of an explicit method do, and their sum drifts.
    let temperature = 323.15;
    let integrator = finish(
        SolverName::Auto,
        &mut Tanks,
        &[1.0, temperature],
        400.0,
        &[1.0, 1.0],
    );
    let off = (integrator.state()[1] - temperature).abs();
    let tolerance = 1e-6 * (temperature + 1.0);
    let statistics = integrator.statistics();
    assert!(off < ALLOWED * tolerance, "{off:e} {statistics:?}");
    assert!(statistics.steps < 100, "{statistics:?}");
}

/// x' = -λ(x - cos t) - sin t, whose slow motion is cos t.
struct Follower;

const FOLLOWER_RATE: f64 = 1e6;

impl Problem for Follower {
    fn n_states(&self) -> usize {
        1
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        dx[0] = -FOLLOWER_RATE * (x[0] - t.cos()) - t.sin();
        Ok(())
    }
}

#[test]
fn what_fades_after_an_event_is_seen_inside_the_steps() {
    for (solver, off) in [
        (SolverName::Radau, 1e-2),
        (SolverName::Radau, 5e-5),
        (SolverName::Bdf, 5e-5),
    ] {
        let (time_event, tolerance) = (0.5, 1e-6);
        let mut integrator = finish(solver, &mut Follower, &[1.0], time_event, &[1.0]);
        let steps_before = integrator.statistics().steps;
        let x = [time_event.cos() + off];
        let start = Start {
            t: time_event,
            x: &x,
            dx: None,
            change: Discontinuity::Dynamics,
        };
        let limits = StepLimits {
            time_end: 1.0,
            step_size_max: 0.5,
        };
        integrator
            .begin_after(&mut Follower, start, limits)
            .expect("begins again");
        let mut largest = 0.0f64;
        while integrator.time() < limits.time_end {
            integrator.step(&mut Follower, limits).expect("steps");
            let (from, to) = (integrator.time_old(), integrator.time());
            for k in 0..=100 {
                let t = from + (to - from) * f64::from(k) / 100.0;
                let mut found = [0.0];
                integrator.interpolate(t, &mut found);
                let exact = t.cos() + off * (-FOLLOWER_RATE * (t - time_event)).exp();
                largest = largest.max((found[0] - exact).abs());
            }
        }
        let steps = integrator.statistics().steps - steps_before;
        assert!(
            largest < ALLOWED * tolerance * (1.0 + x[0]),
            "{solver:?} {off}: {largest:e} in {steps} steps"
        );
        assert!(steps < 80, "{solver:?} {off}: {steps}");
    }
}
