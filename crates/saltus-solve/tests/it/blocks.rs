//! Large blocks of equations on a sparse pattern.

use saltus_model::{Instance, Model, ScheduleKind};
use saltus_solve::{Accuracy, Driver, Guess, Tolerances};
use saltus_testkit::blocks::{BRATU_FIRST, bratu, bratu_exact};

#[test]
fn thousands_of_unknowns_need_only_their_pattern() {
    let n = 5000;
    for exact in [true, false] {
        let model = bratu(n, exact);
        let mut instance = model.instantiate();
        let mut values = instance.bind(0.0, &[]).expect("has values");
        let system = instance.system(&values);
        let mut driver = Driver::new(system, model.info(), Tolerances::new(1e-6));
        driver
            .run(
                system,
                ScheduleKind::Derivatives,
                &mut values,
                Accuracy::Trial,
                Guess::Current,
            )
            .expect("is solved");
        for i in 0..n {
            let z = (i as f64 + 1.0) / (n as f64 + 1.0);
            let found = values.v[BRATU_FIRST.index() + i];
            let error = (found - bratu_exact(z)).abs();
            assert!(error < 1e-7, "{i}: {found} {error:e}");
        }
        // Three colours and the point itself per Jacobian by differences.
        let counters = driver.counters;
        assert!(counters.newton_iterations < 8, "{counters:?}");
        let differences = if exact { 0 } else { 4 * counters.jacobians };
        assert!(
            counters.residuals <= 2 + counters.newton_iterations + differences,
            "{counters:?}"
        );
    }
}
