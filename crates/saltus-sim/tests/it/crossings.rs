//! Crossing functions that are zero where a run (re)starts, that come in crowds, or that mean nothing.

use crate::common::{Memory, STEPS_ADD_UP, TIME_ROUND_OFF, assert_times, options, run, try_run};
use saltus_model::Slot;
use saltus_model::ode::{Crossing, OdeProblem};
use saltus_sim::{EventKind, LocationMethod, Options, OutputGrid, SimError, SolverName};
use saltus_testkit::problems::restitution_ball;

const N: usize = 5;
const SOURCE: f64 = 10.0;
const CHAIN_TOLERANCE: f64 = 1e-10;

/// A source charges a chain of capacitors through resistive diodes, v1 → v2 → … → v5; from t = 2 on it is off. At t = 0 all
/// voltages are zero, and at t = 1 all are set to 3 V: each time every crossing function is exactly zero and leaves zero
/// at once. `always` : the diodes conduct all the time.
fn chain(always: bool, t_end: f64) -> Memory {
    let conducts = move |holds: f64| if always { 1.0 } else { holds };
    let names: Vec<String> = (1..=N).map(|k| format!("v{k}")).collect();
    let states: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 0.0)).collect();
    let relations: Vec<Crossing> = (1..N)
        .map(|k| Crossing::above(&format!("v{k} > v{}", k + 1)).affine())
        .collect();
    let model = OdeProblem::new("DiodeChain", &states, move |at, dx| {
        let mut inflow = (at.d[0] - at.x[0]) / 1.0;
        for (k, dx) in dx.iter_mut().enumerate() {
            let out = match at.holds.get(k) {
                Some(holds) => conducts(*holds) * (at.x[k] - at.x[k + 1]) / 0.1,
                None => 0.0,
            };
            *dx = (inflow - out) / 0.1;
            inflow = out;
        }
    })
    .discrete(&[("source", SOURCE)])
    .crossings(&relations, |at, r| {
        for (k, r) in r.iter_mut().enumerate() {
            *r = at.x[k] - at.x[k + 1];
        }
    })
    .sample(1.0, 1.0)
    .on_event(|jump| {
        if jump.ticked() && jump.t == 1.0 {
            jump.x.fill(3.0);
        }
        if jump.ticked() && jump.t == 2.0 {
            jump.d[0] = 0.0;
        }
    })
    .erased()
    .build();
    run(&model, &options(t_end, CHAIN_TOLERANCE, SolverName::Dopri5)).1
}

#[test]
fn a_diode_chain_that_starts_at_zero_charges_to_its_end() {
    // While the source is on, no diode ever blocks: the chain is the linear circuit.
    for (t_end, always) in [(0.999, true), (1.999, true)] {
        let (found, expected) = (chain(false, t_end), chain(always, t_end));
        for k in 0..N {
            let slot = Slot(1 + k as u32);
            let (found, expected) = (found.last(slot), expected.last(slot));
            assert!(
                (found - expected).abs() < 2.0 * STEPS_ADD_UP * CHAIN_TOLERANCE * (SOURCE + 1.0),
                "v{}: {found} {expected}",
                k + 1
            );
            assert!(found > 3.5, "the last capacitor is charged: {found}");
        }
    }
    // Source off: the first capacitor falls below the second at once, the charge of the others stays.
    let (before, after) = (chain(false, 1.999), chain(false, 4.0));
    let charge = |memory: &Memory| (2..=N as u32).map(|k| memory.last(Slot(k))).sum::<f64>();
    assert!(after.last(Slot(1)) < 0.1 * before.last(Slot(1)));
    assert!(
        (charge(&after) - charge(&before)).abs() < 0.1,
        "nothing flows back"
    );
}

#[test]
fn functions_at_zero_at_the_start_take_the_side_of_the_motion() {
    for (v, expected) in [(-1.0, 1.0), (1.0, 0.0)] {
        let model = OdeProblem::new("Start", &[("x", 0.0)], move |_, dx| dx[0] = v)
            .crossings(&[Crossing::below("x < 0").affine()], |at, r| r[0] = at.x[0])
            .erased()
            .build();
        let (_, memory) = run(&model, &options(1.0, 1e-8, SolverName::Dopri5));
        assert_eq!(memory.last(Slot(3)), expected);
        assert!(
            memory
                .times(EventKind::State)
                .iter()
                .all(|t| *t < TIME_ROUND_OFF)
        );
    }
}

#[test]
fn a_function_that_is_zero_all_the_time_makes_no_event() {
    let model = OdeProblem::new("Zero", &[("x", 1.0)], |at, dx| dx[0] = -at.x[0])
        .crossings(
            &[
                Crossing::above("0 > 0").affine(),
                Crossing::above("x*0 > 0"),
                Crossing::above("0 >= 0").or_equal().affine(),
            ],
            |at, r| {
                r.fill(0.0);
                r[1] = at.x[0] * 0.0;
            },
        )
        .erased()
        .build();
    let (summary, _) = run(&model, &options(5.0, 1e-6, SolverName::Dopri5));
    assert_eq!(summary.statistics.events_state, 0);
}

#[test]
fn ten_thousand_relations_change_in_one_event() {
    let n = 10_000;
    let relations = vec![Crossing::above("x > 0.5").affine().observed(); n];
    let model = OdeProblem::new("Crowd", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .crossings(&relations, |at, r| r.fill(at.x[0] - 0.5))
        .erased()
        .build();
    let (summary, memory) = run(&model, &options(1.0, 1e-6, SolverName::Dopri5));
    assert_eq!(summary.statistics.events_state, 1);
    assert_times(&memory.times(EventKind::State), &[0.5], TIME_ROUND_OFF);
}

#[test]
fn a_function_of_noise_ends_with_an_error_or_is_passed() {
    let hash = |x: f64| {
        let bits = x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64
            / (1u64 << 53) as f64
            - 0.5
    };
    let model = OdeProblem::new("Noise", &[("x", 1.0)], |at, dx| dx[0] = -at.x[0])
        .crossings(&[Crossing::above("noise > 0").observed()], move |at, r| {
            r[0] = hash(at.x[0])
        })
        .erased()
        .build();
    let (result, memory) = try_run(&model, &options(1.0, 1e-6, SolverName::Dopri5));
    match result.expect_err("events without end").error {
        SimError::Accumulation { relations, .. } => assert_eq!(relations[0].0, Slot(3)),
        SimError::Zeno { relation, .. } => assert_eq!(relation, Slot(3)),
        other => panic!("{other:?}"),
    }
    assert!(!memory.rows.is_empty(), "what was computed stays");
}

/// (1 - x)² before 1, zero until 2, -(x - 2)² from there on, but for the round-off of numbers near 1e8.
fn through_round_off(x: f64) -> f64 {
    let (before, after) = ((1.0 - x).max(0.0), (x - 2.0).max(0.0));
    let round_off = 1e8 * x / 3.0 - 1e8 * (x / 3.0);
    before * before - after * after + round_off
}

#[test]
fn a_located_function_rests_within_its_round_off() {
    // From 1 to 2 the function changes its sign at every other float or so, by 7e-9 where numbers near 1e8 are rounded: a thousand times its band
    // when an event ends. That is one event, when it leaves the positive side, and none when it goes on to the negative one.
    let changes = (0..1000)
        .map(|k| through_round_off(1.0 + f64::from(k) * 1e-3) > 0.0)
        .collect::<Vec<_>>();
    let n_changes = changes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(n_changes > 100, "{n_changes}");
    let model = OdeProblem::new("RoundOff", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .crossings(&[Crossing::above("f(x) > 0").observed()], |at, r| {
            r[0] = through_round_off(at.x[0])
        })
        .erased()
        .build();
    let (_, memory) = run(&model, &options(3.0, 1e-6, SolverName::Dopri5));
    let times = memory.times(EventKind::State);
    assert_eq!(times.len(), 1, "{times:?}");
    // (1 - t)² is as large as round-off where 1 - t is its root.
    assert!((0.999..2.0).contains(&times[0]), "{times:?}");
    assert_eq!(memory.last(Slot(3)), 0.0);
}

#[test]
fn every_location_method_finds_the_same_bounces() {
    let reference = run(
        &restitution_ball(),
        &options(4.0, 1e-10, SolverName::Dopri5),
    )
    .1;
    for method in LocationMethod::ALL {
        let options = Options {
            event_method: method,
            output: OutputGrid::Intervals(1),
            ..options(4.0, 1e-10, SolverName::Dopri5)
        };
        let (_, memory) = run(&restitution_ball(), &options);
        assert_times(
            &memory.times(EventKind::State),
            &reference.times(EventKind::State),
            4.0 * TIME_ROUND_OFF,
        );
        assert_eq!(memory.events[1].method, method.as_str());
    }
}

#[test]
fn a_relation_that_guards_a_square_root_is_met_from_inside() {
    // Torricelli: h' = -sqrt(h) for h > 0, empty at t = 2; NaN beyond while the relation holds.
    let model = OdeProblem::new("Tank", &[("h", 1.0)], |at, dx| {
        dx[0] = if at.holds[0] > 0.0 {
            -at.x[0].sqrt()
        } else {
            0.0
        };
    })
    .crossings(&[Crossing::above("h > 0").affine()], |at, r| r[0] = at.x[0])
    .erased()
    .build();
    for solver in [SolverName::Dopri5, SolverName::Radau] {
        let tolerance = 1e-8;
        let (_, memory) = run(&model, &options(3.0, tolerance, solver));
        // h = (1 - t/2)²: an error e of the level moves the end by 2√e.
        let off = 2.0 * (STEPS_ADD_UP * tolerance).sqrt();
        assert_times(&memory.times(EventKind::State), &[2.0], off);
        // The far side of the root: a unit of time times a slope below 1.
        assert!(
            memory.last(Slot(1)).abs() < TIME_ROUND_OFF,
            "{}",
            memory.last(Slot(1))
        );
    }
}

#[test]
fn a_marked_guard_is_never_evaluated_beyond() {
    // 2√h (√h)' = -(a + √h), empty at 2 (1 - a ln((1 + a)/a)); beyond the bottom the flow can be computed but means something else.
    for a in [0.5f64, 0.01] {
        let empty = 2.0 * (1.0 - a * ((1.0 + a) / a).ln());
        let model = OdeProblem::new("Tank", &[("h", 1.0)], move |at, dx| {
            assert!(at.holds[0] == 0.0 || at.x[0] > 0.0, "beyond the guard");
            dx[0] = -at.holds[0] * (a + at.x[0].abs().sqrt());
        })
        .crossings(&[Crossing::above("h > 0").affine().guard()], |at, r| {
            r[0] = at.x[0]
        })
        .erased()
        .build();
        for solver in [
            SolverName::Dopri5,
            SolverName::Dop853,
            SolverName::Radau,
            SolverName::Esdirk,
            SolverName::Bdf,
            SolverName::Auto,
        ] {
            let tolerance = 1e-8;
            let (_, memory) = run(&model, &options(2.5, tolerance, solver));
            // An error of the level counts 1/a times.
            let off = STEPS_ADD_UP * tolerance / a;
            assert_times(&memory.times(EventKind::State), &[empty], off);
        }
    }
}
