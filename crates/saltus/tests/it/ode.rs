//! Problems written in Rust through the facade: closures, implicit equations, the calendar, and what happens when they are wrong.

use saltus::Error;
use saltus::ode::{Calendar, Crossing, OdeProblem, Simulate};

fn error_code(result: Result<saltus::Run, Error>) -> (&'static str, String) {
    match result {
        Err(Error::Run(diagnostics, _)) => (
            diagnostics.error_codes()[0],
            diagnostics.list[0].message.clone(),
        ),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("the run succeeded"),
    }
}

#[test]
fn implicit_equations_with_an_algebraic_unknown() {
    // C u' = i, u + R i = 5, R C = 0.1 s; at u > 4 the source falls to 0.
    let rc = OdeProblem::implicit("rc", &[("u", 0.0)], &[("i", 0.0)], |at, dx, out| {
        let source = if at.d[0] != 0.0 { 0.0 } else { 5.0 };
        out[0] = 1e-3 * dx[0] - at.y[0];
        out[1] = at.x[0] + 100.0 * at.y[0] - source;
    })
    .discrete(&[("off", 0.0)])
    .crossings(&[Crossing::above("u > 4")], |at, r| r[0] = at.x[0] - 4.0)
    .on_event(|jump| {
        if jump.became_true(0) {
            jump.d[0] = 1.0;
        }
    })
    .build();
    let falls = 0.1 * 5.0f64.ln();
    for solver in ["dopri5", "radau"] {
        let run = rc
            .experiment()
            .solver(solver)
            .unwrap()
            .tolerance(1e-12)
            .simulate()
            .unwrap();
        let event = run.events().iter().find(|e| !e.cause.is_empty()).unwrap();
        assert!(
            (event.time - falls).abs() < 1e-10,
            "{solver}: {}",
            event.time
        );
        let exact = 4.0 * (-(1.0 - falls) / 0.1).exp();
        assert!((run.last("u").unwrap() - exact).abs() < 1e-9, "{solver}");
        assert!(
            (run.last("i").unwrap() + exact / 100.0).abs() < 1e-11,
            "{solver}"
        );
    }
}

#[test]
fn a_million_entries_come_out_by_time_priority_and_insertion() {
    let mut calendar = Calendar::default();
    let mut random = 1u64;
    for i in 0..1_000_000u32 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let time = f64::from((random >> 48) as u32);
        let priority = ((random >> 40) & 3) as i32;
        calendar.add(time, priority, (time, -priority, i));
    }
    let mut last = (f64::NEG_INFINITY, 0, 0);
    let mut n = 0;
    while let Some(item) = calendar.take_due(f64::INFINITY) {
        assert!(last < item, "{last:?} before {item:?}");
        last = item;
        n += 1;
    }
    assert_eq!(n, 1_000_000);
    assert_eq!(calendar.next_time(), f64::INFINITY);
    assert!(!calendar.add(f64::NAN, 0, (0.0, 0, 0)));
}

#[test]
fn an_entry_that_schedules_the_next_lands_exactly() {
    let clock = OdeProblem::new("clock", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .discrete(&[("n", 0.0)])
        .discrete_observed()
        .schedule(0.1, 1)
        .on_event(|jump| {
            jump.d[0] += 1.0;
            jump.schedule(0.1 * (jump.d[0] + 1.0), 0, 1);
        })
        .build();
    let run = clock.experiment().stop_time(1000.05).simulate().unwrap();
    assert_eq!(run.last("n").unwrap(), 10_000.0);
    let late = run.events().iter().filter(|e| e.time > 999.95).count();
    assert_eq!(late, 1);
    assert_eq!(run.events()[10_000].time, 0.1 * 10_000.0);
}

#[test]
fn entries_of_one_instant_are_one_event_in_order() {
    let order = OdeProblem::new("order", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .discrete(&[("seen", 0.0)])
        .schedule(0.5, 1)
        .schedule(0.25, 9)
        .on_event(|jump| {
            let due = jump.due().to_vec();
            for tag in due {
                if tag == 9 {
                    jump.schedule(0.5, 5, 2);
                    jump.schedule(0.5, 0, 3);
                } else {
                    jump.d[0] = 10.0 * jump.d[0] + f64::from(tag);
                }
            }
        })
        .build();
    let run = order.experiment().simulate().unwrap();
    assert_eq!(run.last("seen").unwrap(), 213.0);
    assert_eq!(run.events().len(), 3);
}

#[test]
fn an_entry_in_the_past_is_an_error() {
    let back = OdeProblem::new("back", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .schedule(0.5, 1)
        .on_event(|jump| jump.schedule(0.4, 0, 1))
        .build();
    let (code, message) = error_code(back.experiment().simulate());
    assert!(
        message.contains("0.4") && message.contains("0.5"),
        "{code}: {message}"
    );
}

#[test]
fn a_right_hand_side_that_is_no_number_names_time_and_state() {
    let wrong = OdeProblem::new("wrong", &[("x", 0.0), ("y", 1.0)], |at, dx| {
        dx[0] = 1.0;
        dx[1] = if at.t > 0.5 { f64::NAN } else { 0.0 };
    })
    .build();
    match wrong.experiment().simulate() {
        Err(Error::Run(diagnostics, run)) => {
            let text = diagnostics.to_string();
            assert!(text.contains("der(y)") && text.contains("0.4999"), "{text}");
            assert!(
                (run.time_reached - 0.5).abs() < 0.01,
                "{}",
                run.time_reached
            );
        }
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("the run succeeded"),
    }
}

#[test]
fn without_events_creeping_is_seen_and_steps_are_logged() {
    // Dry friction on an oscillator: the sign of v jumps.
    let friction = || {
        OdeProblem::new("friction", &[("x", 5.0), ("v", 0.0)], |at, dx| {
            dx[0] = at.x[1];
            dx[1] = -at.x[0] - if at.holds[0] != 0.0 { 0.1 } else { -0.1 };
        })
        .crossings(&[Crossing::above("v > 0")], |at, r| r[0] = at.x[1])
        .build()
    };
    let model = friction();
    let run = |events: bool| {
        model
            .experiment()
            .events(events)
            .record_steps(true)
            .stop_time(9.0)
            .tolerance(1e-8)
            .simulate()
            .unwrap()
    };
    let (with, without) = (run(true), run(false));
    assert!(with.creeping.is_empty());
    // v changes its sign at π and 2π.
    assert_eq!(without.creeping.len(), 2, "{:?}", without.creeping);
    for (creep, exact) in without.creeping.iter().zip([1.0, 2.0]) {
        let place = exact * std::f64::consts::PI;
        assert!(
            creep.time_start < place && place < creep.time_end + 1e-6,
            "{creep:?}"
        );
        assert!(creep.step_size_min < 1e-2 * creep.step_size_before);
    }
    assert!(without.warnings.to_string().contains("crept over 2"));
    for run in [&with, &without] {
        let covered: f64 = run.steps.iter().map(|s| s.step_size).sum();
        assert!(covered >= 9.0 - 1e-12);
        let rejected: u64 = run.steps.iter().map(|s| s.rejected).sum();
        assert_eq!(rejected, run.statistics.steps_rejected);
    }
    assert!(without.statistics.steps_rejected > 5 * with.statistics.steps_rejected);
    // Centre 0.1 and amplitude 4.5 in the third half period.
    let exact = 0.1 + 4.5 * (9.0 - 2.0 * std::f64::consts::PI).cos();
    assert!((with.last("x").unwrap() - exact).abs() < 1e-6);
    assert!((without.last("x").unwrap() - exact).abs() < 1e-5);
}
