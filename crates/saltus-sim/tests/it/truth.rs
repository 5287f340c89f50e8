//! Event times and values against closed forms (the numbers of the reference cases).

use crate::common::{Memory, assert_times, options, run, try_run};
use saltus_model::Slot;
use saltus_sim::{EventKind, Options, OutputGrid, RowKind, SimError, SolverName};
use saltus_testkit::blocks::{ideal_rectifier, nonlinear_block};
use saltus_testkit::delay::{DELAYED_STATE, delayed_decay, delayed_decay_exact};
use saltus_testkit::mock_fmu::{BallComponent, adapt};
use saltus_testkit::problems::{
    double_crossing, flying_ball, hysteresis_limiter, periodic_double_crossing, relay,
    restitution_ball, restitution_ball_time, robertson, sampled_feedback, spring_ball,
    spring_ball_time, tangent, van_der_pol,
};
use std::f64::consts::PI;

const SOLVERS: [SolverName; 5] = [
    SolverName::Dopri5,
    SolverName::Dop853,
    SolverName::Radau,
    SolverName::Esdirk,
    SolverName::Auto,
];

#[test]
fn restitution_ball_bounces_thirty_times_at_the_closed_form_times() {
    let expected: Vec<f64> = (1..=30).map(restitution_ball_time).collect();
    for solver in SOLVERS {
        let (summary, memory) = run(&restitution_ball(), &options(5.528, 1e-10, solver));
        assert_times(&memory.times(EventKind::State), &expected, 1e-12);
        assert!(
            memory.rows.iter().all(|row| row.1[1] > -1e-13),
            "the ball is never below the table"
        );
        assert_eq!(
            summary.statistics.events_state, 30,
            "each bounce is one event"
        );
    }
    // The default tolerance is enough: the motion is a polynomial.
    let (_, memory) = run(&restitution_ball(), &options(5.528, 1e-6, SolverName::Auto));
    assert_times(&memory.times(EventKind::State), &expected, 1e-9);
}

#[test]
fn both_sides_of_a_bounce_are_rows() {
    let (_, memory) = run(&restitution_ball(), &options(1.0, 1e-8, SolverName::Dopri5));
    let t1 = memory.times(EventKind::State)[0];
    let rows: Vec<_> = memory.rows.iter().filter(|row| row.1[0] == t1).collect();
    assert_eq!(
        rows.iter().map(|row| row.0).collect::<Vec<_>>(),
        [RowKind::BeforeEvent, RowKind::AfterEvent]
    );
    let (before, after) = (rows[0].1[2], rows[1].1[2]);
    assert!(
        (before + 4.429_446_918_070_02).abs() < 1e-12
            && (after - 3.765_029_880_359_517).abs() < 1e-12
    );
    let event = &memory.events[1];
    assert_eq!(event.causes[0].text, "x < 0");
    assert!(event.causes[0].value_left >= 0.0 && event.causes[0].value_right < 0.0);
    assert!(
        event
            .changed
            .iter()
            .any(|c| c.slot == Slot(2) && c.before == before && c.after == after)
    );
}

#[test]
fn a_ball_with_logic_for_its_rest_comes_to_rest() {
    let (_, memory) = run(&flying_ball(), &options(5.0, 1e-8, SolverName::Dopri5));
    // Zeno at t1 (1 + e)/(1 - e), e = 0.7, t1 = sqrt(2/9.81).
    let zeno = (2.0f64 / 9.81).sqrt() * 1.7 / 0.3;
    // The bounces come to their limit before their heights come to the threshold of the logic.
    let last = *memory.times(EventKind::Zeno).last().expect("a limit");
    assert!((last - zeno).abs() < 1e-9, "{last} {zeno}");
    assert!(memory.last(Slot(1)).abs() < 1e-12);
    assert!(memory.last(Slot(2)).abs() < 1e-12);
}

#[test]
fn spring_ball_has_forty_events() {
    let expected: Vec<f64> = (1..=40).map(spring_ball_time).collect();
    let stop = 0.5 * (spring_ball_time(40) + spring_ball_time(41));
    for solver in [SolverName::Dopri5, SolverName::Dop853, SolverName::Auto] {
        let (_, memory) = run(&spring_ball(), &options(stop, 1e-12, solver));
        assert_times(&memory.times(EventKind::State), &expected, 1e-9);
    }
    let (_, memory) = run(&spring_ball(), &options(stop, 1e-11, SolverName::Radau));
    assert_times(&memory.times(EventKind::State), &expected, 1e-6);
}

#[test]
fn hysteresis_and_limiter_change_where_the_cosine_does() {
    let crossings: Vec<f64> = [1.0, 2.0, 4.0, 5.0, 7.0, 8.0]
        .iter()
        .map(|k| k * PI / 3.0)
        .collect();
    let (summary, memory) = run(
        &hysteresis_limiter(),
        &options(10.0, 1e-12, SolverName::Dopri5),
    );
    assert_times(&memory.times(EventKind::State), &crossings, 1e-10);
    assert_eq!(
        summary.statistics.restarts, 0,
        "nothing feeds the derivatives"
    );
    let y: Vec<(f64, f64)> = memory
        .events
        .iter()
        .flat_map(|event| {
            event
                .changed
                .iter()
                .filter(|c| c.slot == Slot(5))
                .map(|c| (event.time, c.after))
        })
        .collect();
    assert_eq!(y.iter().map(|y| y.1).collect::<Vec<_>>(), [-1.0, 1.0, -1.0]);
    assert_times(
        &y.iter().map(|y| y.0).collect::<Vec<_>>(),
        &[
            2.094_395_102_393_195_5,
            5.235_987_755_982_989,
            8.377_580_409_572_782,
        ],
        1e-10,
    );
}

#[test]
fn observed_relations_leave_steps_alone() {
    let with = run(
        &hysteresis_limiter(),
        &options(10.0, 1e-6, SolverName::Dopri5),
    )
    .0
    .statistics;
    let without = run(
        &saltus_testkit::problems::oscillator(),
        &options(10.0, 1e-6, SolverName::Dopri5),
    )
    .0
    .statistics;
    assert!(
        with.steps <= without.steps + 6,
        "{} steps instead of {}",
        with.steps,
        without.steps
    );
}

#[test]
fn both_crossings_of_a_narrow_dip_are_found() {
    for solver in SOLVERS {
        let options = Options {
            start_time: 1.0,
            step_size_max: Some(3.0),
            output: OutputGrid::Intervals(1),
            ..options(4.0, 1e-9, solver)
        };
        let (_, memory) = run(&double_crossing(), &options);
        assert_times(&memory.times(EventKind::State), &[1.5495, 1.5505], 1e-11);
    }
}

#[test]
fn a_periodic_dip_of_time_is_found_every_time() {
    let expected = [1.5495, 1.5505, 4.5495, 4.5505, 7.5495, 7.5505];
    for (grid, step) in [(1, Some(9.0)), (500, None)] {
        let options = Options {
            output: OutputGrid::Intervals(grid),
            step_size_max: step,
            ..options(9.0, 1e-6, SolverName::Dopri5)
        };
        let (_, memory) = run(&periodic_double_crossing(), &options);
        assert_times(&memory.times(EventKind::State), &expected, 1e-9);
    }
}

#[test]
fn a_touch_changes_nothing_in_the_end() {
    let (_, memory) = run(&tangent(), &options(10.0, 1e-9, SolverName::Dopri5));
    let relations = |row: &(RowKind, Vec<f64>)| row.1[3] == 0.0 && row.1[4] == 0.0;
    assert!(
        memory.rows.iter().all(relations),
        "centre region for all time"
    );
    assert_eq!(memory.times(EventKind::State), [0.0; 0]);
    let touches = memory.times(EventKind::Touch);
    for expected in [0.5 * PI, 1.5 * PI, 2.5 * PI] {
        assert!(
            touches.iter().any(|t| (t - expected).abs() < 3e-6),
            "{touches:?}"
        );
    }
}

#[test]
fn sampled_system_acts_at_exact_multiples() {
    let (summary, memory) = run(&sampled_feedback(), &options(1.0, 1e-9, SolverName::Dopri5));
    let expected: Vec<f64> = (1..=10).map(|k| f64::from(k) * 0.1).collect();
    assert_eq!(
        memory.times(EventKind::Time),
        expected,
        "ticks by multiplication, to the last bit"
    );
    assert_eq!(summary.statistics.events_time, 10);
    for k in 0..=10 {
        let x = memory.at(f64::from(k) * 0.1, Slot(1));
        assert!((x - 0.8f64.powi(k)).abs() < 1e-13, "{k} {x}");
    }
}

#[test]
fn ideal_rectifier_switches_at_the_reference_times() {
    let expected = [
        0.008_708_133_048_788_694,
        0.020_999_139_007_273_65,
        0.028_265_167_824_178_695,
        0.041_307_799_227_295_81,
        0.048_107_871_781_047_19,
        0.061_412_037_344_660_03,
        0.068_052_529_901_281_28,
        0.081_447_977_432_850_57,
        0.088_033_187_034_998_18,
    ];
    for solver in SOLVERS {
        let (_, memory) = run(&ideal_rectifier(), &options(0.09, 1e-11, solver));
        let times: Vec<f64> = memory
            .times(EventKind::State)
            .into_iter()
            .filter(|t| *t > 1e-6)
            .collect();
        assert_times(&times, &expected, 1e-10);
    }
}

#[test]
fn delay_follows_the_method_of_steps() {
    let (_, memory) = run(
        &delayed_decay(),
        &Options {
            output: OutputGrid::Intervals(20),
            ..options(10.0, 1e-11, SolverName::Dopri5)
        },
    );
    for k in 1..=20 {
        let t = 0.5 * f64::from(k);
        let x = memory.at(t, DELAYED_STATE);
        assert!((x - delayed_decay_exact(t)).abs() < 1e-10, "x({t}) = {x}");
    }
    assert!((memory.last(DELAYED_STATE) - 0.020_241_126_543_209_877).abs() < 1e-10);
}

#[test]
fn mock_fmu_bounces_and_toggles() {
    let (summary, memory) = run(
        &adapt(BallComponent::default()),
        &options(5.528, 1e-10, SolverName::Dopri5),
    );
    let expected: Vec<f64> = (1..=30).map(restitution_ball_time).collect();
    assert_times(&memory.times(EventKind::State), &expected, 2e-13);
    assert_eq!(memory.times(EventKind::Time), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(summary.statistics.events_state, 30);
}

#[test]
fn nonlinear_block_follows_its_exact_solution() {
    for solver in SOLVERS {
        let (_, memory) = run(&nonlinear_block(), &options(2.0, 1e-9, solver));
        for (_, row) in &memory.rows {
            let y = row[3];
            let t = 1.5 * (1.0 - y * y) - 2.0 * y.ln();
            assert!((t - row[0]).abs() < 1e-7, "{} {}", row[0], t);
        }
    }
}

#[test]
fn stiff_problems_reach_their_published_values() {
    let near = |memory: &Memory, expected: &[f64], tolerance: f64| {
        for (i, expected) in expected.iter().enumerate() {
            let found = memory.last(Slot(1 + i as u32));
            assert!(
                (found - expected).abs() <= tolerance * expected.abs(),
                "{found} instead of {expected}"
            );
        }
    };
    let (summary, memory) = run(&van_der_pol(), &options(2.0, 1e-8, SolverName::Radau));
    near(
        &memory,
        &[1.706_167_732_170_483, -0.892_809_701_024_797_5],
        1e-6,
    );
    assert!(
        summary.statistics.steps < 2500,
        "{}",
        summary.statistics.steps
    );
    let (summary, memory) = run(&van_der_pol(), &options(2.0, 1e-6, SolverName::Auto));
    near(
        &memory,
        &[1.706_167_732_170_483, -0.892_809_701_024_797_5],
        1e-3,
    );
    assert_eq!(summary.statistics.solver, "radau");
    let mut robertson = options(40.0, 1e-8, SolverName::Auto);
    robertson.step_size_max = Some(40.0);
    let (_, memory) = run(&self::robertson(), &robertson);
    near(
        &memory,
        &[0.715_827_068_8, 9.185_534_765e-6, 0.284_163_745_7],
        1e-5,
    );
}

#[test]
fn a_relay_that_may_not_slide_ends_with_an_error_that_names_its_relation() {
    let (result, _) = try_run(&relay(), &options(2.0, 1e-6, SolverName::Dopri5));
    match result.expect_err("it is not marked").error {
        SimError::Accumulation {
            time,
            relations,
            count,
            ..
        } => {
            assert!((time - 1.0).abs() < 1e-8);
            assert_eq!(relations[0].0, Slot(3));
            assert!(count > 10_000);
        }
        other => panic!("{other:?}"),
    }
}
