//! Choice of method, statistics, restarts.

use crate::common::{options, run};
use saltus_model::Slot;
use saltus_sim::{NoteRecord, SolverName};
use saltus_testkit::problems::{oscillator, van_der_pol};

#[test]
fn auto_stays_explicit_on_smooth_problems_and_says_when_it_changes() {
    let (summary, memory) = run(&oscillator(), &options(50.0, 1e-6, SolverName::Auto));
    assert_eq!(summary.statistics.solver, "dopri5");
    assert_eq!(memory.notes, []);
    let (summary, memory) = run(&van_der_pol(), &options(2.0, 1e-4, SolverName::Auto));
    assert_eq!(summary.statistics.solver, "radau");
    assert!(matches!(memory.notes[..], [NoteRecord::Stiff { .. }]));
    let [
        (SolverName::Dopri5, explicit),
        (SolverName::Radau, implicit),
    ] = summary.statistics.methods[..]
    else {
        panic!("{:?}", summary.statistics.methods)
    };
    assert_eq!(explicit + implicit, summary.statistics.steps);
}

#[test]
fn error_follows_the_tolerance() {
    for (solver, factor) in [
        (SolverName::Dopri5, 100.0),
        (SolverName::Dop853, 100.0),
        (SolverName::Radau, 100.0),
        (SolverName::Esdirk, 100.0),
        // Many more steps, whose errors add up in an undamped motion.
        (SolverName::Bdf, 1000.0),
    ] {
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
            let (_, memory) = run(&oscillator(), &options(10.0, tolerance, solver));
            let error = (memory.last(Slot(1)) - 10.0f64.cos()).abs();
            assert!(
                error < factor * tolerance,
                "{solver:?} {tolerance}: {error}"
            );
        }
    }
}
