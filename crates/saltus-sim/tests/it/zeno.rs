//! Zeno points: recognised by ratio, passed by a rest that ends when the free motion points away.

use crate::common::{Memory, assert_times, options, run, try_run};
use saltus_model::ode::{Crossing, OdeProblem};
use saltus_model::{Model, Slot};
use saltus_sim::{EventKind, Options, OutputGrid, SimError, SolverName, Zeno};
use saltus_testkit::problems::{restitution_ball, restitution_ball_time};

const G: f64 = 9.81;
/// t₁ (1 + e) / (1 - e) of the ball that falls from 1 m with e = 0.85.
const LIMIT: f64 = 5.568_791_572_157_348;

#[test]
fn the_ball_comes_to_rest() {
    for solver in SolverName::PRODUCTION {
        let (summary, memory) = run(&restitution_ball(), &options(30.0, 1e-8, solver));
        assert_eq!(summary.statistics.zeno_points, 1);
        let limit = memory.times(EventKind::Zeno);
        let bounces = memory.times(EventKind::State);
        let expected: Vec<f64> = (1..=30).map(restitution_ball_time).collect();
        // BDF begins each flight with steps of order one.
        let tolerance = if solver == SolverName::Bdf {
            1e-3
        } else {
            1e-9
        };
        assert_times(&limit, &[LIMIT], tolerance);
        assert_times(&bounces[..30], &expected, tolerance);
        assert!(bounces.len() < 200, "{}", bounces.len());
        for (_, row) in &memory.rows {
            // A contact is held in a band of 1e-12; it closes where its event was located, a little below.
            assert!(row[1] > -2e-12, "{solver:?}: below the table: {row:?}");
            if row[0] > 5.57 {
                assert!(
                    row[1].abs() < 2e-12 && row[2].abs() < 1e-12,
                    "{solver:?}: {row:?}"
                );
                assert_eq!(row[4], 0.0, "the held velocity does not change");
            }
        }
    }
}

#[test]
fn the_ball_ends_the_run_if_asked_to() {
    let options = Options {
        zeno: Zeno::Stop,
        ..options(30.0, 1e-8, SolverName::Auto)
    };
    let (result, memory) = try_run(&restitution_ball(), &options);
    let error = result.expect_err("asked to").error;
    let SimError::Zeno { limit, .. } = error else {
        panic!("{error:?}")
    };
    assert!((limit - LIMIT).abs() < 1e-9);
    assert!(memory.rows.iter().all(|row| row.1[1] > -1e-12));
}

/// A ball on a table at `height(t)` = (s, s'), from one metre above, e = 0.5.
fn on_table(height: fn(f64) -> (f64, f64)) -> impl Model {
    OdeProblem::new("Table", &[("x", 1.0), ("v", 0.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -G;
    })
    .crossings(&[Crossing::below("x < s")], move |at, r| {
        r[0] = at.x[0] - height(at.t).0
    })
    .on_event(move |jump| {
        if jump.became_true(0) {
            let w = height(jump.t).1;
            jump.x[1] = w - 0.5 * (jump.x[1] - w);
        }
    })
    .erased()
    .build()
}

fn follows(memory: &Memory, from: f64, to: f64, s: impl Fn(f64) -> f64, tolerance: f64) {
    let inside = |row: &&(_, Vec<f64>)| row.1[0] > from && row.1[0] < to;
    for (_, row) in memory.rows.iter().filter(inside) {
        let off = row[1] - s(row[0]);
        assert!(off.abs() < tolerance, "x({}) is off by {off:e}", row[0]);
    }
}

#[test]
fn the_ball_rests_on_a_table_that_falls_away() {
    // s'' = -t: the ball is left behind at t = g.
    let s = |t: f64| -t * t * t / 6.0;
    for solver in [SolverName::Auto, SolverName::Dop853, SolverName::Radau] {
        let options = Options {
            output: OutputGrid::Intervals(200),
            ..options(12.0, 1e-9, solver)
        };
        let (summary, memory) = run(&on_table(|t| (-t * t * t / 6.0, -0.5 * t * t)), &options);
        assert_eq!(summary.statistics.zeno_points, 1);
        let zeno = memory.times(EventKind::Zeno);
        assert_eq!(zeno.len(), 2, "rest begins and ends: {zeno:?}");
        assert!(
            (zeno[1] - G).abs() < 1e-6,
            "{solver:?}: released at {}",
            zeno[1]
        );
        follows(&memory, zeno[0], G, s, 2e-7);
        let free = |t: f64| s(G) - 0.5 * G * G * (t - G) - 0.5 * G * (t - G) * (t - G);
        follows(&memory, G + 0.01, 12.0, free, 2e-6);
    }
}

#[test]
fn the_ball_rides_on_a_table_that_moves_gently() {
    let (summary, memory) = run(
        &on_table(|t| (0.2 * t.sin(), 0.2 * t.cos())),
        &options(30.0, 1e-9, SolverName::Auto),
    );
    assert_eq!(summary.statistics.zeno_points, 1);
    let zeno = memory.times(EventKind::Zeno);
    assert_eq!(zeno.len(), 1);
    follows(&memory, zeno[0], 30.0, |t| 0.2 * t.sin(), 1e-7);
}

#[test]
fn two_balls_rest_one_after_the_other() {
    let model = OdeProblem::new(
        "TwoBalls",
        &[("x1", 1.0), ("v1", 0.0), ("x2", 2.0), ("v2", 0.0)],
        |at, dx| {
            (dx[0], dx[1]) = (at.x[1], -G);
            (dx[2], dx[3]) = (at.x[3], -G);
        },
    )
    .crossings(
        &[
            Crossing::below("x1 < 0").affine(),
            Crossing::below("x2 < 0").affine(),
        ],
        |at, r| (r[0], r[1]) = (at.x[0], at.x[2]),
    )
    .on_event(|jump| {
        for k in 0..2 {
            if jump.became_true(k) {
                jump.x[2 * k + 1] *= -0.7;
            }
        }
    })
    .erased()
    .build();
    let (summary, memory) = run(&model, &options(10.0, 1e-9, SolverName::Auto));
    assert_eq!(summary.statistics.zeno_points, 2);
    let limit = |h: f64| (2.0 * h / G).sqrt() * 1.7 / 0.3;
    assert_times(
        &memory.times(EventKind::Zeno),
        &[limit(1.0), limit(2.0)],
        1e-9,
    );
    for slot in 1..=4 {
        assert!(
            memory.last(Slot(slot)).abs() < 1e-12,
            "slot {slot}: {}",
            memory.last(Slot(slot))
        );
    }
}

#[test]
fn events_that_do_not_shrink_are_no_zeno_point() {
    let model = OdeProblem::new("Bounce", &[("x", 1.0), ("v", 0.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -G;
    })
    .crossings(&[Crossing::below("x < 0").affine()], |at, r| r[0] = at.x[0])
    .on_event(|jump| {
        if jump.became_true(0) {
            jump.x[1] = -jump.x[1];
        }
    })
    .erased()
    .build();
    let (summary, _) = run(&model, &options(50.0, 1e-10, SolverName::Auto));
    assert_eq!(summary.statistics.zeno_points, 0);
}
