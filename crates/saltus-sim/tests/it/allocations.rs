//! Steps and events allocate nothing once a run is under way: longer runs make as many allocations as shorter ones.

use saltus_model::Model;
use saltus_sim::{Control, Options, OutputGrid, Silent, Simulation, SolverName, simulate};
use saltus_testkit::allocations::{Counting, allocations};
use saltus_testkit::problems::{oscillator, spring_ball};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn options(stop_time: f64) -> Options {
    Options {
        stop_time,
        tolerance: 1e-8,
        output: OutputGrid::Intervals(1),
        solver: SolverName::Dopri5,
        step_size_max: Some(1.0),
        ..Options::default()
    }
}

/// Allocations and state events of a run without anyone listening.
fn run<M: Model>(model: &M, stop_time: f64) -> (u64, u64) {
    let options = options(stop_time);
    let mut instance = model.instantiate();
    let before = allocations();
    let summary = simulate(&mut instance, &options, &Control::default(), &mut Silent)
        .expect("the run succeeds");
    let count = allocations() - before;
    (count, summary.statistics.events_state)
}

#[test]
fn a_step_allocates_nothing() {
    let (short, _) = run(&oscillator(), 10.0);
    let (long, _) = run(&oscillator(), 1000.0);
    assert_eq!(long, short);
}

#[test]
fn a_run_again_allocates_only_its_summary() {
    let mut simulation = Simulation::new(spring_ball().instantiate());
    let mut count = |stop_time: f64| {
        let before = allocations();
        simulation
            .run(&options(stop_time), &Control::default(), &mut Silent)
            .expect("the run succeeds");
        allocations() - before
    };
    count(10.0);
    // The list of methods used.
    assert_eq!(count(10.0), 1);
    assert_eq!(count(9.0), 1);
}

#[test]
fn an_event_allocates_only_in_its_location() {
    let (short, events_short) = run(&spring_ball(), 10.0);
    let (long, events_long) = run(&spring_ball(), 100.0);
    assert!(events_long > events_short + 50);
    assert!(long - short <= ALLOCATIONS_PER_EVENT * (events_long - events_short));
}

/// The bracket of the location and the lists of changes it returns; the event itself needs none.
const ALLOCATIONS_PER_EVENT: u64 = 4;
