//! A simulation that is run again gives what a fresh one gives, bit for bit.

use saltus_model::{Instance, Model, Slot, Values};
use saltus_sim::{
    Control, EventRecord, Options, OutputGrid, Recorder, RowKind, RunFailure, RunSummary,
    Simulation, SolverName, simulate,
};
use saltus_testkit::problems;

/// All that a run tells.
#[derive(Debug, Default, PartialEq)]
struct Everything {
    rows: Vec<(Vec<u64>, RowKind)>,
    events: Vec<String>,
}

impl Recorder for Everything {
    fn row(&mut self, values: &Values, kind: RowKind) {
        let bits = values.v.iter().map(|v| v.to_bits()).collect();
        self.rows.push((bits, kind));
    }

    fn event(&mut self, event: &EventRecord) {
        self.events.push(format!("{event:?}"));
    }
}

fn options(solver: SolverName, tolerance: f64, stop_time: f64) -> Options {
    Options {
        solver,
        tolerance,
        stop_time,
        output: OutputGrid::Intervals(7),
        wall_seconds_max: Some(60.0),
        ..Options::default()
    }
}

/// How a run ended.
fn end(result: Result<RunSummary, RunFailure>) -> String {
    match result {
        Ok(summary) => format!("{:?} {:?}", summary.time_reached, summary.statistics),
        Err(failure) => format!("{:?} {:?}", failure.error, failure.summary.statistics),
    }
}

fn same_as_fresh<M: Model>(model: &M, runs: &[Options]) {
    let environment = Control::default();
    let mut simulation = Simulation::new(model.instantiate());
    for (k, options) in runs.iter().enumerate() {
        let (mut told, mut told_fresh) = (Everything::default(), Everything::default());
        let again = end(simulation.run(options, &environment, &mut told));
        let mut instance = model.instantiate();
        let fresh = end(simulate(
            &mut instance,
            options,
            &environment,
            &mut told_fresh,
        ));
        let name = &instance.info().name;
        assert_eq!((again, told), (fresh, told_fresh), "{name}, run {k}");
    }
}

#[test]
fn a_run_again_is_a_fresh_run() {
    use SolverName::{Auto, Bdf, Dop853, Dopri5, Esdirk, Radau};
    let solvers = [
        Dopri5, Dopri5, Dop853, Dop853, Radau, Radau, Esdirk, Bdf, Bdf, Auto, Auto,
    ];
    let by = |tolerance: f64, stop: f64| -> Vec<Options> {
        (solvers.iter().enumerate())
            .map(|(k, solver)| options(*solver, tolerance, stop + 0.1 * k as f64))
            .collect()
    };
    same_as_fresh(&problems::restitution_ball(), &by(1e-8, 1.0));
    same_as_fresh(&problems::spring_ball(), &by(1e-6, 3.0));
    same_as_fresh(&problems::hysteresis_limiter(), &by(1e-6, 5.0));
    same_as_fresh(&problems::sampled_feedback(), &by(1e-6, 1.0));
    // Two runs that become stiff.
    same_as_fresh(&problems::van_der_pol(), &by(1e-5, 0.2));
    // Blocks with factors.
    same_as_fresh(&problems::robertson(), &by(1e-5, 0.01));
}

#[test]
fn a_run_again_after_one_that_failed_or_had_other_settings() {
    let mut first = options(SolverName::Dopri5, 1e-8, 2.0);
    let mut cut_short = first.clone();
    // Ends with an error: the ball comes to rest.
    cut_short.stop_time = 20.0;
    let mut wrong = first.clone();
    wrong.tolerance = -1.0;
    let mut other = first.clone();
    other.tolerance = 1e-5;
    let last = first.clone();
    first.overrides.push((Slot(1), 0.3));
    same_as_fresh(
        &problems::restitution_ball(),
        &[first, cut_short, wrong, other, last],
    );
    let oscillating = options(SolverName::Dopri5, 1e-6, 1.0);
    same_as_fresh(
        &problems::oscillating_event(),
        &[oscillating.clone(), oscillating],
    );
}
