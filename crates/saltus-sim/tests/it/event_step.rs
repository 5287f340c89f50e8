//! The event step, line by line (see the pseudocode in `src/event_step.rs`).

use crate::common::{Memory, options, run, try_run};
use saltus_model::Slot;
use saltus_sim::{EventKind, RowKind, SimError, SolverName};
use saltus_testkit::problems::oscillating_event;
use saltus_testkit::{Crossing, OdeProblem};

/// x' = 1 from 0; `x > 0.5` at t = 0.5.
macro_rules! at_half {
    ($discrete:expr, $on_event:expr) => {
        OdeProblem::new("AtHalf", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
            .discrete($discrete)
            .crossings(
                &[Crossing::above("x > 0.5").affine().observed()],
                |at, r| r[0] = at.x[0] - 0.5,
            )
            .on_event($on_event)
            .erased()
            .build()
    };
}

const X: Slot = Slot(1);
const D1: Slot = Slot(3);
const D2: Slot = Slot(4);

fn first_event(memory: &Memory) -> &saltus_sim::EventRecord {
    memory
        .events
        .iter()
        .find(|event| event.kind == EventKind::State)
        .expect("an event")
}

#[test]
fn pre_is_the_left_limit_of_everything() {
    // d := pre(x): the value that x had when the event came.
    let model = at_half!(&[("d", 7.0)], |jump| {
        if jump.became_true(0) {
            jump.d[0] = jump.x[0];
            jump.x[0] = -3.0;
        }
    });
    let (_, memory) = run(&model, &options(1.0, 1e-9, SolverName::Dopri5));
    let d = memory.last(D1);
    assert!(d > 0.5 && d < 0.5 + 1e-15, "{d}");
    let before = memory
        .rows
        .iter()
        .find(|row| row.0 == RowKind::BeforeEvent)
        .expect("a row");
    assert_eq!(before.1[D1.index()], 7.0, "left row shows left limits");
    assert_eq!(before.1[X.index()], d);
}

#[test]
fn flags_of_samples_due_now_are_set_once_and_reset() {
    let model = OdeProblem::new("Counter", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .discrete(&[("n", 0.0)])
        .sample(0.25, 0.25)
        .on_event(|jump| jump.d[0] += f64::from(u8::from(jump.ticked())))
        .erased()
        .build();
    let (_, memory) = run(&model, &options(1.0, 1e-9, SolverName::Dopri5));
    assert_eq!(memory.last(D1), 4.0);
    assert!(
        memory.rows.iter().all(|row| row.1[4] == 0.0),
        "no row sees a flag"
    );
}

#[test]
fn a_sample_at_the_start_happens_after_initialisation() {
    let model = OdeProblem::new("Counter", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .discrete(&[("n", 0.0)])
        .sample(0.0, 0.5)
        .on_event(|jump| jump.d[0] += f64::from(u8::from(jump.ticked())))
        .erased()
        .build();
    let (_, memory) = run(&model, &options(0.25, 1e-9, SolverName::Dopri5));
    assert_eq!(memory.rows[0].1[D1.index()], 1.0);
}

#[test]
fn relations_become_true_in_the_event_step_and_nowhere_else() {
    let model = at_half!(&[], |_| {});
    let (_, memory) = run(&model, &options(1.0, 1e-9, SolverName::Dopri5));
    let relation = 3;
    for (kind, row) in &memory.rows {
        let expected = row[0] > 0.5 && *kind != RowKind::BeforeEvent;
        assert_eq!(row[relation] != 0.0, expected, "{kind:?} at {}", row[0]);
    }
}

#[test]
fn reinit_is_applied_after_the_pass_and_seen_by_the_next() {
    // Two passes: the first resets x, the second sees `x > 0.5` false again; the third finds nothing new.
    let model = at_half!(&[("n", 0.0)], |jump| {
        if jump.became_true(0) {
            jump.x[0] = 0.0;
            jump.d[0] += 1.0;
        }
        if jump.became_false(0) {
            jump.d[0] += 10.0;
        }
    });
    let (_, memory) = run(&model, &options(0.75, 1e-9, SolverName::Dopri5));
    let event = first_event(&memory);
    assert_eq!(event.iterations, 3);
    assert_eq!(memory.last(D1), 11.0);
    assert!(event.restarted);
    assert!((memory.last(X) - 0.25).abs() < 1e-15);
}

#[test]
fn iteration_stops_when_nothing_changes() {
    let model = at_half!(&[], |_| {});
    let (_, memory) = run(&model, &options(1.0, 1e-9, SolverName::Dopri5));
    assert_eq!(
        first_event(&memory).iterations,
        2,
        "one pass for the relation, one that finds nothing new"
    );
    assert!(!first_event(&memory).restarted);
}

#[test]
fn pre_becomes_current_for_all_slots_at_once() {
    // d2 takes pre(d1) in every pass: it follows one pass behind.
    let model = at_half!(&[("d1", 0.0), ("d2", 0.0)], |jump| {
        let pre_d1 = jump.d[0];
        if jump.became_true(0) {
            jump.d[0] = 5.0;
        }
        jump.d[1] = pre_d1;
    });
    let (_, memory) = run(&model, &options(1.0, 1e-9, SolverName::Dopri5));
    assert_eq!(memory.last(D1), 5.0);
    // The jump is called only in passes in which a relation changed, so d2 keeps the pre of the first pass.
    assert_eq!(memory.last(D2), 0.0);
}

#[test]
fn simultaneous_relations_are_one_event() {
    let model = OdeProblem::new("Two", &[("x", 0.0), ("y", 1.0)], |_, dx| {
        dx[0] = 1.0;
        dx[1] = -1.0;
    })
    .discrete(&[("n", 0.0)])
    .crossings(
        &[Crossing::above("x > 0.5"), Crossing::below("y < 0.5")],
        |at, r| {
            r[0] = at.x[0] - 0.5;
            r[1] = at.x[1] - 0.5;
        },
    )
    .on_event(|jump| jump.d[0] += 1.0)
    .erased()
    .build();
    let (summary, memory) = run(&model, &options(1.0, 1e-9, SolverName::Dopri5));
    assert_eq!(summary.statistics.events_state, 1);
    assert_eq!(
        first_event(&memory).changed.len(),
        3,
        "both relations and n"
    );
    assert_eq!(first_event(&memory).causes.len(), 2);
    assert_eq!(memory.last(Slot(5)), 1.0);
}

#[test]
fn an_iteration_without_end_lists_what_oscillates() {
    let (result, memory) = try_run(
        &oscillating_event(),
        &options(2.0, 1e-9, SolverName::Dopri5),
    );
    match result.expect_err("no fixed point").error {
        SimError::EventIteration {
            time, oscillating, ..
        } => {
            assert!((time - 1.0).abs() < 1.1, "{time}");
            let slots: Vec<Slot> = oscillating.iter().map(|o| o.slot).collect();
            assert!(
                slots.contains(&Slot(3)) && slots.contains(&Slot(4)),
                "{slots:?}"
            );
            assert!(oscillating.iter().all(|o| o.values.len() > 2));
        }
        other => panic!("{other:?}"),
    }
    assert!(!memory.rows.is_empty(), "what was computed stays");
}

#[test]
fn a_state_that_leaves_zero_at_the_start_makes_its_event() {
    let model = OdeProblem::new("FromZero", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .discrete(&[("n", 0.0)])
        .crossings(&[Crossing::above("x > 0").affine()], |at, r| r[0] = at.x[0])
        .on_event(|jump| jump.d[0] += f64::from(u8::from(jump.became_true(0))))
        .erased()
        .build();
    let (summary, memory) = run(&model, &options(1.0, 1e-9, SolverName::Dopri5));
    assert_eq!(summary.statistics.events_state, 1);
    assert!(memory.times(EventKind::State)[0] < 1e-15);
    assert_eq!(memory.last(D1), 1.0);
}
