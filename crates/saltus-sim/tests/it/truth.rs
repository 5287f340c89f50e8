//! Event times and values against closed forms (the numbers of the reference cases).

use crate::common::{assert_times, options, run};
use saltus_model::Slot;
use saltus_sim::{EventKind, SolverName};
use saltus_testkit::problems::{restitution_ball, restitution_ball_time};

#[test]
fn restitution_ball_bounces_thirty_times_at_the_closed_form_times() {
    for solver in [SolverName::Dopri5, SolverName::Radau, SolverName::Auto] {
        let (summary, memory) = run(&restitution_ball(), &options(5.528, 1e-10, solver));
        let expected: Vec<f64> = (1..=30).map(restitution_ball_time).collect();
        println!("{:?}", summary.statistics);
        assert_times(&memory.times(EventKind::State), &expected, 1e-11);
        assert!(memory.last(Slot(1)) > -1e-12);
    }
}
