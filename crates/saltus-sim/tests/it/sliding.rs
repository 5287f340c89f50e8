//! Motion along surfaces, against exact Filippov solutions (reference case 11 and closed forms).

use crate::common::{Memory, assert_times, options, run};
use saltus_model::ode::{Crossing, OdeProblem};
use saltus_model::{Model, Slot};
use saltus_sim::{EventKind, Options, OutputGrid, SolverName};

const SOLVERS: [SolverName; 6] = SolverName::PRODUCTION;

/// ±1 of a relation that holds where its function is positive.
fn sign(holds: f64) -> f64 {
    2.0 * holds - 1.0
}

/// x' = -sign(x) + a sin(t), x(0) = 1.
fn driven_relay(a: f64) -> impl Model {
    OdeProblem::new("DrivenRelay", &[("x", 1.0)], move |at, dx| {
        dx[0] = -sign(at.holds[0]) + a * at.t.sin();
    })
    .crossings(&[Crossing::above("x > 0").affine().slides()], |at, r| {
        r[0] = at.x[0]
    })
    .erased()
    .build()
}

fn events(memory: &Memory) -> Vec<f64> {
    let happened = |kind| {
        matches!(
            kind,
            EventKind::State | EventKind::Sliding | EventKind::Zeno
        )
    };
    (memory.events.iter())
        .filter(|event| happened(event.kind))
        .map(|event| event.time)
        .collect()
}

#[test]
fn a_relay_slides_for_ever_on_one_event() {
    for solver in SOLVERS {
        let (summary, memory) = run(&driven_relay(0.5), &options(10.0, 1e-10, solver));
        assert_times(&events(&memory), &[1.429_671_650_882_778_5], 1e-9);
        assert_eq!(memory.times(EventKind::Sliding).len(), 1);
        assert_eq!(summary.statistics.sliding_segments, 1);
        for (_, row) in memory.rows.iter().filter(|row| row.1[0] > 1.43) {
            assert!(row[1].abs() < 1e-14, "x({}) = {:e}", row[0], row[1]);
            assert!(row[2].abs() < 1e-14, "x' is the combination");
        }
    }
}

#[test]
fn a_relay_leaves_where_its_drive_is_too_strong() {
    let expected = [
        3.739_648_071_280_898,
        3.871_320_309_816_76,
        6.464_708_957_267_596,
        7.012_912_963_406_553,
        9.606_301_610_857_39,
        10.154_505_616_996_346,
        12.747_894_264_447_183,
        13.296_098_270_586_14,
        15.889_486_918_036_976,
        16.437_690_924_175_934,
        19.031_079_571_626_77,
        19.579_283_577_765_726,
    ];
    let samples = [
        (1.0, 0.689_546_541_197_790_4),
        (5.0, -0.414_847_576_761_493_85),
        (7.0, 0.0),
        (9.0, 0.497_642_344_983_463_2),
        (15.0, 0.553_664_128_624_266_1),
        (20.0, 0.085_194_473_795_532_66),
    ];
    for solver in SOLVERS {
        let options = Options {
            output: OutputGrid::Intervals(20),
            ..options(20.0, 1e-11, solver)
        };
        let (summary, memory) = run(&driven_relay(1.5), &options);
        assert_times(&events(&memory), &expected, 1e-9);
        assert_eq!(summary.statistics.sliding_segments, 6);
        for (t, x) in samples {
            let found = memory.at(t, Slot(1));
            assert!(
                (found - x).abs() < 1e-8,
                "{solver:?}: x({t}) = {found}, not {x}"
            );
        }
    }
}

#[test]
fn a_double_integrator_slides_along_its_switching_line() {
    // x1' = x2, x2' = -2 sign(x1 + x2).
    let model = OdeProblem::new("Line", &[("x1", 1.0), ("x2", 1.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -2.0 * sign(at.holds[0]);
    })
    .crossings(
        &[Crossing::above("x1 + x2 > 0").affine().slides()],
        |at, r| {
            r[0] = at.x[0] + at.x[1];
        },
    )
    .erased()
    .build();
    for solver in SOLVERS {
        let (_, memory) = run(&model, &options(6.0, 1e-10, solver));
        assert_times(&events(&memory), &[1.0], 1e-9);
        for (_, row) in memory.rows.iter().filter(|row| row.1[0] > 1.0) {
            let exact = (1.0 - row[0]).exp();
            assert!(
                (row[1] - exact).abs() < 1e-8 && (row[2] + exact).abs() < 1e-8,
                "{solver:?} {row:?}"
            );
            assert!(
                (row[1] + row[2]).abs() < 1e-12,
                "on the line: {:e}",
                row[1] + row[2]
            );
        }
    }
}

#[test]
fn a_rubbing_oscillator_sticks_where_its_spring_is_too_weak() {
    // x'' = -x - 0.4 sign(x'), from x = 3 at rest: the motion begins on the surface and leaves it.
    let model = OdeProblem::new("Rubbing", &[("x", 3.0), ("v", 0.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -at.x[0] - 0.4 * (at.holds[0] - at.holds[1]);
    })
    .crossings(
        &[
            Crossing::above("v > 0").affine().slides(),
            Crossing::below("v < 0").affine().slides(),
        ],
        |at, r| r.fill(at.x[1]),
    )
    .erased()
    .build();
    let pi = std::f64::consts::PI;
    for solver in SOLVERS {
        let options = Options {
            output: OutputGrid::Intervals(20),
            ..options(20.0, 1e-11, solver)
        };
        let (summary, memory) = run(&model, &options);
        assert_times(&events(&memory), &[pi, 2.0 * pi, 3.0 * pi, 4.0 * pi], 1e-8);
        assert_eq!(summary.statistics.sliding_segments, 1);
        assert!((memory.at(1.0, Slot(1)) - 1.804_785_995_257_163_3).abs() < 1e-8);
        assert!((memory.at(5.0, Slot(2)) - 1.726_063_694_393_649_2).abs() < 1e-8);
        assert!((memory.last(Slot(1)) + 0.2).abs() < 1e-8 && memory.last(Slot(2)).abs() < 1e-12);
    }
}

#[test]
fn a_circle_is_kept_without_drift() {
    // Drawn to the circle |x| = 1 from both sides while turning: r = x² + y² - 1 is not affine.
    let model = OdeProblem::new("Circle", &[("x", 2.0), ("y", 0.0)], |at, dx| {
        let (x, y, s) = (at.x[0], at.x[1], sign(at.holds[0]));
        dx[0] = -y - s * x;
        dx[1] = x - s * y;
    })
    .crossings(&[Crossing::above("x^2 + y^2 > 1").slides()], |at, r| {
        r[0] = at.x[0] * at.x[0] + at.x[1] * at.x[1] - 1.0;
    })
    .erased()
    .build();
    for solver in SOLVERS {
        let (summary, memory) = run(&model, &options(50.0, 1e-6, solver));
        assert_eq!(summary.statistics.sliding_segments, 1);
        assert_times(&events(&memory), &[2.0f64.ln()], 1e-5);
        // In polar coordinates the angle is t.
        let (x, y) = (memory.last(Slot(1)), memory.last(Slot(2)));
        assert!(
            (x * x + y * y - 1.0).abs() < 1e-6,
            "{solver:?}: r = {:e}",
            x * x + y * y - 1.0
        );
        assert!(
            (x - 50.0f64.cos()).abs() < 3e-4 && (y - 50.0f64.sin()).abs() < 3e-4,
            "{solver:?} {x} {y}"
        );
    }
}

#[test]
fn two_surfaces_that_do_not_interact_are_slid_upon_together() {
    // Two relays that disturb each other: x' = -sign(x) + 0.4 sign(y) + 0.1, y' = -sign(y) + 0.3 sign(x) - 0.2.
    let model = OdeProblem::new("Pair", &[("x", 1.0), ("y", 0.5)], |at, dx| {
        let (a, b) = (sign(at.holds[0]), sign(at.holds[1]));
        dx[0] = -a + 0.4 * b + 0.1;
        dx[1] = -b + 0.3 * a - 0.2;
    })
    .crossings(
        &[
            Crossing::above("x > 0").affine().slides(),
            Crossing::above("y > 0").affine().slides(),
        ],
        |at, r| r.copy_from_slice(at.x),
    )
    .erased()
    .build();
    for solver in SOLVERS {
        let (summary, memory) = run(&model, &options(6.0, 1e-10, solver));
        // y first: 0.5/0.9; then x with b = 0.3 a - 0.2 = 0.1, x' = -1 + 0.04 + 0.1.
        let t1 = 0.5 / 0.9;
        let t2 = t1 + (1.0 - 0.5 * t1) / 0.86;
        assert_times(&events(&memory), &[t1, t2], 1e-9);
        assert_eq!(summary.statistics.sliding_segments, 2);
        assert!(memory.last(Slot(1)).abs() < 1e-13 && memory.last(Slot(2)).abs() < 1e-13);
        assert!(memory.last(Slot(3)).abs() < 1e-13 && memory.last(Slot(4)).abs() < 1e-13);
    }
}

#[test]
fn two_surfaces_that_interact_are_slid_upon_together() {
    // x' = -a, y' = -b + 0.5 a b, z' = a b + (1 + a) / 2: on both surfaces a = b = 0, z' = 1/2.
    let model = OdeProblem::new(
        "Product",
        &[("x", 1.0), ("y", 0.75), ("z", 0.0)],
        |at, dx| {
            let (a, b) = (sign(at.holds[0]), sign(at.holds[1]));
            dx[0] = -a;
            dx[1] = -b + 0.5 * a * b;
            dx[2] = a * b + 0.5 * (1.0 + a);
        },
    )
    .crossings(
        &[
            Crossing::above("x > 0").affine().slides(),
            Crossing::above("y > 0").affine().slides(),
        ],
        |at, r| r.copy_from_slice(&at.x[..2]),
    )
    .erased()
    .build();
    // x reaches zero at 1, when y = 0.25; there y' = -b for a = 0: y reaches zero at 1.25. z' = 2, then 0.5, then 0.5.
    let (summary, memory) = run(&model, &options(3.0, 1e-10, SolverName::Auto));
    assert_times(&events(&memory), &[1.0, 1.25], 1e-9);
    assert_eq!(summary.statistics.sliding_segments, 2);
    assert!(
        (memory.last(Slot(3)) - 3.0).abs() < 1e-9,
        "{}",
        memory.last(Slot(3))
    );
}

#[test]
fn surfaces_equal_up_to_sign_and_scale_are_one() {
    let model = OdeProblem::new("Same", &[("x", 1.0)], |at, dx| {
        dx[0] =
            if at.holds[0] > 0.0 { -1.0 } else { 0.5 } + if at.holds[1] > 0.0 { 0.5 } else { -1.0 };
    })
    .crossings(
        &[
            Crossing::above("x > 0").affine().slides(),
            Crossing::above("-3 x > 0").affine().slides(),
        ],
        |at, r| (r[0], r[1]) = (at.x[0], -3.0 * at.x[0]),
    )
    .erased()
    .build();
    let (summary, memory) = run(&model, &options(2.0, 1e-8, SolverName::Dopri5));
    assert_times(&events(&memory), &[0.5], 1e-12);
    assert_eq!(summary.statistics.sliding_segments, 1);
    assert!(memory.last(Slot(1)).abs() < 1e-14);
}

#[test]
fn a_surface_that_moves_in_time_is_followed() {
    let model = OdeProblem::new("Follow", &[("x", 1.0)], |at, dx| {
        dx[0] = -2.0 * sign(at.holds[0])
    })
    .crossings(&[Crossing::above("x > sin(t)").slides()], |at, r| {
        r[0] = at.x[0] - at.t.sin();
    })
    .erased()
    .build();
    let (summary, memory) = run(&model, &options(20.0, 1e-8, SolverName::Auto));
    assert_eq!(summary.statistics.sliding_segments, 1);
    for (_, row) in memory.rows.iter().filter(|row| row.1[0] > 0.4) {
        assert!((row[1] - row[0].sin()).abs() < 2e-7, "{row:?}");
    }
}

#[test]
fn time_events_do_not_disturb_a_sliding_motion() {
    // The drive changes at every tick, by what a discrete variable says.
    let model = OdeProblem::new("Ticks", &[("x", 1.0), ("y", 0.0)], |at, dx| {
        dx[0] = -sign(at.holds[0]) + 0.5 * at.d[0];
        dx[1] = sign(at.holds[0]);
    })
    .discrete(&[("u", 1.0)])
    .sample(0.5, 0.5)
    .crossings(&[Crossing::above("x > 0").affine().slides()], |at, r| {
        r[0] = at.x[0]
    })
    .on_event(|jump| {
        if jump.ticked() {
            jump.d[0] = -jump.d[0];
        }
    })
    .erased()
    .build();
    let (summary, memory) = run(&model, &options(10.0, 1e-9, SolverName::Auto));
    assert_eq!(summary.statistics.sliding_segments, 1);
    assert_eq!(memory.times(EventKind::Time).len(), 19);
    assert!(memory.last(Slot(1)).abs() < 1e-13);
}

#[test]
fn a_reset_takes_the_motion_off_the_surface() {
    let model = OdeProblem::new("Kick", &[("x", 1.0)], |at, dx| dx[0] = -sign(at.holds[0]))
        .sample(2.0, 10.0)
        .crossings(&[Crossing::above("x > 0").affine().slides()], |at, r| {
            r[0] = at.x[0]
        })
        .on_event(|jump| {
            if jump.ticked() {
                jump.x[0] = -0.5;
            }
        })
        .erased()
        .build();
    let (summary, memory) = run(&model, &options(4.0, 1e-9, SolverName::Auto));
    assert_times(&memory.times(EventKind::Sliding), &[1.0, 2.5], 1e-12);
    assert_eq!(summary.statistics.sliding_segments, 2);
    assert!(memory.last(Slot(1)).abs() < 1e-14);
}

#[test]
fn fast_switching_is_no_sliding() {
    // A pulse width modulator of 10 kHz behind a low pass: 1 where 0.6 is above a triangle.
    let triangle = |t: f64| 4e4 * (t - (t * 1e4).round() * 1e-4).abs() * 0.5;
    let model = OdeProblem::new("Modulator", &[("y", 0.0)], |at, dx| {
        dx[0] = (at.holds[0] - at.x[0]) / 1e-3;
    })
    .crossings(
        &[Crossing::above("0.6 > triangle").slides()],
        move |at, r| {
            r[0] = 0.6 - triangle(at.t);
        },
    )
    .erased()
    .build();
    let options = Options {
        step_size_max: Some(2e-5),
        ..options(0.01, 1e-6, SolverName::Auto)
    };
    let (summary, memory) = run(&model, &options);
    assert_eq!(summary.statistics.sliding_segments, 0);
    assert_eq!(summary.statistics.events_state, 200);
    assert!((memory.last(Slot(1)) - 0.6).abs() < 0.02);
}

#[test]
fn a_relation_that_something_else_reads_does_not_slide() {
    use crate::common::try_run;
    let (result, _) = try_run(
        &saltus_testkit::problems::relay(),
        &options(2.0, 1e-6, SolverName::Dopri5),
    );
    assert!(result.is_err(), "events accumulate, and the model says so");
}
