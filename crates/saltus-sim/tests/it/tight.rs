//! Event times of the reference cases at tight tolerances, with an explicit method of order 5, one of order 8 and an implicit one: 1e-12 absolute, or
//! what the conditioning of the case leaves.
//!
//! An error e of the states moves the root of a crossing function with slope s by e/s. The steps up to it add at most ten tolerances, each the
//! tolerance times the size of the state; round-off is a tenth of that, since 1e-14 is 45 units of the last place and a step loses a few. Where
//! the slope is 1.4e-3 and the state 1, as in the perturbed tangent, that is 1.4e-10.

use crate::common::{Memory, STEPS_ADD_UP, options, run};
use saltus_model::Slot;
use saltus_model::ode::{Crossing, OdeProblem};
use saltus_sim::{EventKind, SolverName};
use saltus_testkit::problems::{restitution_ball, restitution_ball_time};
use std::f64::consts::PI;

const TOLERANCE: f64 = 1e-14;
const SOLVERS: [SolverName; 3] = [SolverName::Dopri5, SolverName::Dop853, SolverName::Radau];

/// Truth case 3: the variants with both directions of the contact angle, with one mass for both bodies and with their own.
const ROTOR: [[f64; 20]; 3] = [
    [
        0.246_832_383_364_669_98,
        0.432_211_715_441_857_9,
        0.481_184_050_884_620_4,
        0.691_531_440_249_389_4,
        1.210_940_339_451_051_8,
        1.657_932_053_790_621,
        2.309_654_058_346_382,
        2.745_350_371_123_664_4,
        3.285_892_415_219_914_5,
        3.726_492_090_142_115,
        4.267_817_678_807_294,
        4.711_172_823_552_597,
        5.267_043_883_930_173,
        5.711_940_694_420_669,
        6.273_521_242_016_041_6,
        6.717_577_088_823_12,
        7.273_444_962_568_833,
        7.717_188_976_059_541,
        8.271_752_905_268_965,
        8.715_713_853_800_597,
    ],
    [
        0.247_955_781_690_583_9,
        0.782_258_841_540_117_8,
        1.247_879_721_057_984_6,
        1.796_653_510_644_567_4,
        2.251_996_033_548_400_6,
        2.805_066_813_768_566_4,
        3.255_106_834_614_466,
        3.809_452_091_747_736,
        4.256_273_112_561_517,
        4.811_399_586_567_906,
        5.256_227_847_244_260_5,
        5.812_060_005_105_357,
        6.255_771_243_077_69,
        6.812_150_422_595_722,
        7.255_315_632_860_534,
        7.812_049_722_559_423,
        8.254_980_449_241_861,
        8.811_923_115_487_63,
        9.254_761_615_472_033,
        9.811_824_429_836_65,
    ],
    [
        0.246_832_383_364_669_98,
        0.704_690_003_627_377_5,
        1.211_121_518_556_362_2,
        1.676_343_610_911_748,
        2.290_626_833_700_903_5,
        2.757_667_382_610_247,
        3.288_675_659_497_153,
        3.747_548_590_607_588_7,
        4.270_251_091_583_147,
        4.732_330_485_866_689,
        5.261_833_705_847_217,
        5.727_513_388_599_851,
        6.264_859_060_157_864,
        6.731_586_677_361_19,
        7.268_603_053_271_667,
        7.734_056_026_918_052,
        8.268_273_377_382_517,
        8.733_282_544_367_233,
        9.267_168_414_335_076,
        9.732_409_311_620_797,
    ],
];
/// Truth case 6 B.
const RECTIFIER: [f64; 9] = [
    0.009_625_875_319_075_487,
    0.021_052_499_318_444_63,
    0.029_151_901_276_204_633,
    0.041_352_617_648_780_71,
    0.048_992_284_579_656_59,
    0.061_447_719_390_128_8,
    0.068_939_269_086_556_63,
    0.081_478_583_394_631_28,
    0.088_921_805_235_370_22,
];

/// Times at which a slot changes.
fn changes(memory: &Memory, slot: Slot) -> Vec<f64> {
    (memory.events.iter())
        .filter(|event| event.changed.iter().any(|c| c.slot == slot))
        .map(|event| event.time)
        .collect()
}

/// A case in which an error of the states counts no more than once.
fn well(_: usize) -> f64 {
    1.0
}

/// Distance of an event time that a well-conditioned case may have.
const TIME_ERROR: f64 = 1e-12;

/// `condition(k)` is what an error of one tolerance of the states, which add up over the steps of a segment, does to the time of event k in units
/// of the tolerance.
fn check(
    name: &str,
    expected: &[f64],
    condition: &dyn Fn(usize) -> f64,
    times: &dyn Fn(SolverName) -> Vec<f64>,
) {
    for solver in SOLVERS {
        let found = times(solver);
        assert_eq!(found.len(), expected.len(), "{name} {solver:?}: {found:?}");
        for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).abs();
            assert!(
                error <= (STEPS_ADD_UP * TOLERANCE * condition(k)).max(TIME_ERROR),
                "{name} {solver:?}: event {} is at {found} instead of {expected}, {error:e} away",
                k + 1
            );
        }
    }
}

fn spring_ball(solver: SolverName) -> Vec<f64> {
    let (m, r, k, g) = (200.0, 2.5, 10000.0, 9.80665);
    let states = [("y", 5.0), ("v", -2.5)];
    let model = OdeProblem::new("SpringBall", &states, move |at, dx| {
        dx[0] = at.x[1];
        dx[1] = if at.holds[0] > 0.0 {
            (-k * (at.x[0] - r) - m * g) / m
        } else {
            -g
        };
    })
    .crossings(
        &[Crossing::below("y <= r").or_equal().affine()],
        move |at, out| out[0] = at.x[0] - r,
    )
    .erased()
    .build();
    let (_, memory) = run(&model, &options(40.0, TOLERANCE, solver));
    memory.times(EventKind::State)
}

#[test]
fn spring_ball_meets_and_leaves_the_ground() {
    // Truth case 1.
    let (v0, g, w) = (-2.5f64, 9.80665, 50f64.sqrt());
    let speed = (v0 * v0 + 2.0 * g * 2.5).sqrt();
    let contact = 2.0 * (PI - (speed * w / g).atan()) / w;
    let (first, flight) = ((v0 + speed) / g, 2.0 * speed / g);
    let expected: Vec<f64> = (0..40)
        .map(|n| {
            first + f64::from(n / 2) * (contact + flight) + if n % 2 == 1 { contact } else { 0.0 }
        })
        .collect();
    // An error e of the speed at each contact changes every later flight 2V/g by 2e/g: e/g·k² after k contacts.
    let condition = |n: usize| (n as f64 / 2.0).powi(2) / g * (speed + 1.0);
    check("spring ball", &expected, &condition, &spring_ball);
}

fn filament(solver: SolverName) -> Vec<f64> {
    let (m, g, c) = (0.75, 9.80665, 0.95);
    let states = [
        ("phi", 2.016_508_639_423_532_3),
        ("omega", 8.0),
        ("x", 0.0),
        ("y", 0.0),
        ("vx", 0.0),
        ("vy", 0.0),
    ];
    let model = OdeProblem::new("Filament", &states, move |at, dx| {
        let [phi, omega, _, _, vx, vy] = *at.x.first_chunk().expect("six states");
        dx.fill(0.0);
        if at.d[0] == 0.0 {
            dx[0] = omega;
            dx[1] = (m * g * phi.sin() - 0.97 * omega) / 0.75;
        } else {
            dx[2] = vx;
            dx[3] = vy;
            dx[4] = -c * vx / m;
            dx[5] = -g - c * vy / m;
        }
    })
    .discrete(&[("free", 0.0)])
    .crossings(
        &[
            Crossing::below("tension < 0").observed(),
            Crossing::above("r > L").observed(),
        ],
        move |at, r| {
            let [phi, omega, x, y, ..] = *at.x.first_chunk::<6>().expect("six states");
            let pendulum = at.d[0] == 0.0;
            r[0] = if pendulum {
                -m * g * phi.cos() + m * omega * omega
            } else {
                1.0
            };
            r[1] = if pendulum { -1.0 } else { x * x + y * y - 1.0 };
        },
    )
    .on_event(|jump| {
        let [phi, omega, x, y, vx, vy] = *jump.x.first_chunk::<6>().expect("six states");
        if jump.became_true(0) {
            jump.d[0] = 1.0;
            jump.x[2..6].copy_from_slice(&[
                phi.sin(),
                phi.cos(),
                omega * phi.cos(),
                -omega * phi.sin(),
            ]);
        } else if jump.became_true(1) {
            jump.d[0] = 0.0;
            jump.x[0] = PI + (x / y).atan();
            jump.x[1] = (y * vx - x * vy) / (x * x + y * y);
        }
    })
    .erased()
    .build();
    let (_, memory) = run(&model, &options(3.0, TOLERANCE, solver));
    assert!((memory.last(Slot(1)) - 3.494_910_479_769_896).abs() < STEPS_ADD_UP * TOLERANCE * 4.5);
    changes(&memory, Slot(13))
}

#[test]
fn filament_pendulum_leaves_and_returns() {
    let expected = [0.560_021_628_505_124_6, 1.226_505_521_082_002];
    check("filament", &expected, &well, &filament);
}

#[derive(Clone, Copy, PartialEq)]
enum Rotor {
    /// The contact angle in all quadrants, the reduced mass for both bodies.
    Whole,
    /// As printed: the angle of a half plane.
    Half,
    /// The mass of each body.
    Masses,
}

fn rotor(variant: Rotor, solver: SolverName) -> Vec<f64> {
    let (c, omega, mu) = (0.024f64, 101.0f64, 0.002);
    let (x0, y0, e) = (0.0239 / c, 1e-6 / c, 0.00999 / c);
    let (m_r, m_s) = (8.0f64, 20.0f64);
    let m_h = m_r * m_s / (m_r + m_s);
    let (c_r, k_r, c_s, k_s, c_h, k_h) = (150.0, 800e3, 20e3, 700e3, 7.0, 100e3);
    let turn = 2.0 * PI / omega;
    let scaled = move |k: f64, c: f64, m: f64| (k / m * turn * turn, c / m * turn);
    let (r, s, h) = (
        scaled(k_r, c_r, m_r),
        scaled(k_s, c_s, m_s),
        scaled(k_h, c_h, m_h),
    );
    let (share_r, share_s) = match variant {
        Rotor::Masses => (m_h / m_r, m_h / m_s),
        Rotor::Whole | Rotor::Half => (1.0, 1.0),
    };
    let contact = move |x: &[f64]| {
        let (dx, dy) = (x[0] - (x[4] + x0), x[2] - (x[6] + y0));
        let depth = dx.hypot(dy) - 1.0;
        let phi = match variant {
            Rotor::Half => (dy / dx).atan(),
            Rotor::Whole | Rotor::Masses => dy.atan2(dx),
        };
        let rate = (x[1] - x[5]) * phi.cos() + (x[3] - x[7]) * phi.sin();
        (depth, rate, phi)
    };
    let names = ["Xr", "Vxr", "Yr", "Vyr", "Xs", "Vxs", "Ys", "Vys"].map(|name| (name, 0.0));
    let model = OdeProblem::new("Rotor", &names, move |at, dx| {
        let x = at.x;
        let (depth, rate, phi) = contact(x);
        let touches = at.holds[0] > 0.0 && at.holds[1] > 0.0;
        let f = if touches {
            h.0 * depth + h.1 * rate
        } else {
            0.0
        };
        let (px, py) = (-phi.cos() + mu * phi.sin(), -phi.sin() - mu * phi.cos());
        let drive = 4.0 * PI * PI * e;
        let angle = 2.0 * PI * at.t;
        for (i, (spring, push)) in [
            (r, drive * angle.cos() + share_r * f * px),
            (r, drive * angle.sin() + share_r * f * py),
            (s, -share_s * f * px),
            (s, -share_s * f * py),
        ]
        .into_iter()
        .enumerate()
        {
            dx[2 * i] = x[2 * i + 1];
            dx[2 * i + 1] = -(spring.1 * x[2 * i + 1] + spring.0 * x[2 * i]) + push;
        }
    })
    .discrete(&[("contact", 0.0)])
    .crossings(
        &[
            Crossing::above("f_n > 0"),
            Crossing::above("d >= 0").or_equal(),
        ],
        move |at, out| {
            let (depth, rate, _) = contact(at.x);
            out[0] = h.0 * depth + h.1 * rate;
            out[1] = depth;
        },
    )
    .on_event(|jump| jump.d[0] = f64::from(u8::from(jump.holds(0) && jump.holds(1))))
    .erased()
    .build();
    let (_, memory) = run(&model, &options(10.0, TOLERANCE, solver));
    let mut times = changes(&memory, Slot(17));
    times.truncate(20);
    times
}

#[test]
fn rotor_touches_its_stator() {
    for (variant, expected) in [Rotor::Whole, Rotor::Half, Rotor::Masses]
        .into_iter()
        .zip(&ROTOR)
    {
        let case = move |solver| rotor(variant, solver);
        check("rotor", expected, &well, &case);
    }
}

fn rectifier(solver: SolverName) -> Vec<f64> {
    let (ri, rl, c, l) = (10.0, 50.0, 1e-3, 0.01);
    let source = |t: f64| 10.0 * (100.0 * PI * t).sin();
    let states = [("i", 0.0), ("u", 0.0)];
    let model = OdeProblem::new("Rectifier", &states, move |at, dx| {
        dx[0] = at.d[0] * (source(at.t) - ri * at.x[0] - at.x[1]) / l;
        dx[1] = (at.x[0] - at.x[1] / rl) / c;
    })
    .discrete(&[("conducts", 1.0)])
    .crossings(
        &[
            Crossing::below("i < 0").affine().observed(),
            Crossing::above("u0 > u").observed(),
        ],
        move |at, r| {
            r[0] = at.x[0];
            r[1] = source(at.t) - at.x[1];
        },
    )
    .on_event(|jump| {
        if jump.d[0] > 0.0 && jump.became_true(0) {
            jump.d[0] = 0.0;
            jump.x[0] = 0.0;
        } else if jump.d[0] == 0.0 && jump.became_true(1) {
            jump.d[0] = 1.0;
        }
    })
    .erased()
    .build();
    let (_, memory) = run(&model, &options(0.09, TOLERANCE, solver));
    changes(&memory, Slot(5))
}

#[test]
fn rectifier_with_inductance_switches() {
    check("rectifier", &RECTIFIER, &well, &rectifier);
}

fn thyristor(time_constant: f64, solver: SolverName) -> Vec<f64> {
    let w = 2.0 * PI * 50.0 / 3.0;
    let model = OdeProblem::new("Thyristor", &[("i", 0.0)], move |at, dx| {
        dx[0] = at.d[0] * ((w * at.t).sin() - at.x[0]) / time_constant;
    })
    .discrete(&[("on", 0.0)])
    .crossings(&[Crossing::below("i < 0").affine().observed()], |at, r| {
        r[0] = at.x[0]
    })
    .sample(0.005, 0.06)
    .on_event(|jump| {
        if jump.ticked() {
            jump.d[0] = 1.0;
        }
        if jump.became_true(0) {
            jump.d[0] = 0.0;
            jump.x[0] = 0.0;
        }
    })
    .erased()
    .build();
    let (_, memory) = run(&model, &options(0.18, TOLERANCE, solver));
    let mut times = memory.times(EventKind::State);
    times.retain(|t| *t > 0.006);
    times.dedup_by(|b, a| *b - *a < 1e-3);
    times
}

#[test]
fn thyristor_extinguishes() {
    for (time_constant, first) in [
        (0.015, 0.040_013_986_959_585_73),
        (0.0149622, 0.040_000_012_545_842_71),
    ] {
        let expected = [first, first + 0.06, first + 0.12];
        let case = move |solver| thyristor(time_constant, solver);
        check("thyristor", &expected, &well, &case);
    }
}

fn oscillator(amplitude: f64, limits: [f64; 2], solver: SolverName) -> Vec<f64> {
    let states = [("x", amplitude), ("v", 0.0)];
    let model = OdeProblem::new("Oscillator", &states, |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -at.x[0];
    })
    .crossings(
        &[
            Crossing::below("x < low").affine().observed(),
            Crossing::above("x > high").affine().observed(),
        ],
        move |at, r| {
            r[0] = at.x[0] - limits[0];
            r[1] = at.x[0] - limits[1];
        },
    )
    .erased()
    .build();
    let (_, memory) = run(&model, &options(10.0, TOLERANCE, solver));
    memory.times(EventKind::State)
}

#[test]
fn cosine_passes_its_limits() {
    // Truth case 9.
    let expected = [1.0, 2.0, 4.0, 5.0, 7.0, 8.0].map(|k| k * PI / 3.0);
    let case = |solver| oscillator(2.0, [-1.0, 1.0], solver);
    check("cosine", &expected, &well, &case);
    // Truth case 12 a, perturbed: an amplitude of 1 + 1e-6 passes 1 twice, with a slope of 1.4e-3.
    let half = (1.0f64 / (1.0 + 1e-6)).acos();
    let expected = [half, 2.0 * PI - half, 2.0 * PI + half];
    let case = |solver| oscillator(1.0 + 1e-6, [-2.0, 1.0], solver);
    let slope = (1.0 + 1e-6) * half.sin();
    check("almost tangent", &expected, &|_| (1.0 + 1.0) / slope, &case);
}

fn dry_friction(solver: SolverName) -> Vec<f64> {
    let states = [("x", 3.0), ("v", 0.0)];
    let model = OdeProblem::new("DryFriction", &states, |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -at.x[0] - 0.4 * (2.0 * at.holds[0] - 1.0);
    })
    .crossings(&[Crossing::above("v > 0").affine()], |at, r| r[0] = at.x[1])
    .erased()
    .build();
    let (_, memory) = run(&model, &options(12.0, TOLERANCE, solver));
    let mut times = memory.times(EventKind::State);
    times.retain(|t| *t > 0.1);
    times
}

#[test]
fn dry_friction_reverses() {
    // Truth case 11 d up to the point where it sticks.
    check(
        "dry friction",
        &[PI, 2.0 * PI, 3.0 * PI],
        &well,
        &dry_friction,
    );
}

#[test]
fn relays_reach_their_surfaces() {
    // Truth cases 11 a and c up to the surface.
    let scalar = |solver| {
        let model = OdeProblem::new("Scalar", &[("x", 1.0)], |at, dx| {
            dx[0] = -1.0 + 0.5 * at.t.sin();
        })
        .crossings(&[Crossing::below("x < 0").affine().observed()], |at, r| {
            r[0] = at.x[0]
        })
        .erased()
        .build();
        run(&model, &options(1.5, TOLERANCE, solver))
            .1
            .times(EventKind::State)
    };
    check("scalar relay", &[1.429_671_650_882_778_5], &well, &scalar);
    let plane = |solver| {
        let states = [("x1", 1.0), ("x2", 1.0)];
        let model = OdeProblem::new("Plane", &states, |at, dx| {
            dx[0] = at.x[1];
            dx[1] = -2.0;
        })
        .crossings(&[Crossing::below("s < 0").affine().observed()], |at, r| {
            r[0] = at.x[0] + at.x[1]
        })
        .erased()
        .build();
        run(&model, &options(1.5, TOLERANCE, solver))
            .1
            .times(EventKind::State)
    };
    check("plane relay", &[1.0], &well, &plane);
}

#[test]
fn restitution_ball_bounces() {
    // Truth case 4.
    let expected: Vec<f64> = (1..=30).map(restitution_ball_time).collect();
    let case = |solver| {
        run(&restitution_ball(), &options(5.528, TOLERANCE, solver))
            .1
            .times(EventKind::State)
    };
    check("restitution ball", &expected, &well, &case);
}
