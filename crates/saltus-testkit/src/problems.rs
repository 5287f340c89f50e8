//! Ordinary differential equations with events and closed-form solutions. Event times are those of the closed forms named at
//! each problem, to all digits of a double.

use saltus_model::Model;
use saltus_model::ode::{Crossing, OdeProblem};

/// Bouncing ball with restitution: `when x < 0 then reinit(v, -0.85*pre(v))`, x(0) = 1, g = 9.81. Zeno at 5.56879157215735.
pub fn restitution_ball() -> impl Model {
    OdeProblem::new("RestitutionBall", &[("x", 1.0), ("v", 0.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -9.81;
    })
    .crossings(&[Crossing::below("x < 0").affine().observed()], |at, r| {
        r[0] = at.x[0]
    })
    .on_event(|jump| {
        if jump.became_true(0) {
            jump.x[1] *= -0.85;
        }
    })
    .build()
}

/// Time of bounce n = 1, 2, …: t1 + (2V/g) μ (1 - μ^(n-1))/(1 - μ).
pub fn restitution_ball_time(n: i32) -> f64 {
    let (g, mu): (f64, f64) = (9.81, 0.85);
    let v = (2.0 * g).sqrt();
    (2.0 / g).sqrt() + 2.0 * v / g * mu * (1.0 - mu.powi(n - 1)) / (1.0 - mu)
}

/// The textbook ball that comes to rest by its own logic:
/// `impact = h <= 0; when {h <= 0 and v <= 0, impact} then v_new = if edge(impact) then -e*pre(v) else 0; flying = v_new > 0; reinit(v, v_new)`.
pub fn flying_ball() -> impl Model {
    OdeProblem::new("FlyingBall", &[("h", 1.0), ("v", 0.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = if at.d[0] > 0.0 { -9.81 } else { 0.0 };
    })
    .discrete(&[("flying", 1.0), ("both", 0.0)])
    .crossings(
        &[
            Crossing::below("h <= 0").or_equal().affine(),
            Crossing::below("v <= 0").or_equal().affine(),
        ],
        |at, r| {
            r[0] = at.x[0];
            r[1] = at.x[1];
        },
    )
    .on_event(|jump| {
        let both = f64::from(u8::from(jump.holds(0) && jump.holds(1)));
        let impact = jump.became_true(0);
        if impact || both > jump.d[1] {
            let v_new = if impact { -0.7 * jump.x[1] } else { 0.0 };
            jump.d[0] = f64::from(u8::from(v_new > 0.0));
            jump.x[1] = v_new;
        }
        jump.d[1] = both;
    })
    .erased()
    .build()
}

/// Ball on an undamped spring contact: h0 = 5, v0 = -2.5, m = 200, r = 2.5, k = 10000, g = 9.80665.
pub fn spring_ball() -> impl Model {
    let (m, r, k, g) = (200.0, 2.5, 10000.0, 9.80665);
    OdeProblem::new("SpringBall", &[("y", 5.0), ("v", -2.5)], move |at, dx| {
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
    .build()
}

/// Event n = 1, 2, … of [`spring_ball`]: t1, then contact and flight durations in turn.
pub fn spring_ball_time(n: u32) -> f64 {
    const FIRST: f64 = 0.503_257_552_201_098_3;
    const CONTACT: f64 = 0.496_446_374_132_753_2;
    const PERIOD: f64 = 2.012_819_585_023_914;
    FIRST + f64::from((n - 1) / 2) * PERIOD + if n.is_multiple_of(2) { CONTACT } else { 0.0 }
}

/// Oscillator x = 2 cos t as states; hysteresis y and limiter regions observe it (truth case 9).
pub fn hysteresis_limiter() -> impl Model {
    OdeProblem::new("HysteresisLimiter", &[("x", 2.0), ("v", 0.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -at.x[0];
    })
    .discrete(&[("y", 1.0)])
    .discrete_observed()
    .crossings(
        &[
            Crossing::below("x < -1").affine().observed(),
            Crossing::above("x > 1").affine().observed(),
        ],
        |at, r| {
            r[0] = at.x[0] + 1.0;
            r[1] = at.x[0] - 1.0;
        },
    )
    .on_event(|jump| {
        if jump.became_true(0) {
            jump.d[0] = -1.0;
        }
        if jump.became_true(1) {
            jump.d[0] = 1.0;
        }
    })
    .erased()
    .build()
}

/// f(t) = (t - 1.55)² - 0.0005² as the state x, x' = 2(t - 1.55), x(1) = 0.30249975: two crossings 1e-3 apart.
pub fn double_crossing() -> impl Model {
    OdeProblem::new("DoubleCrossing", &[("x", 0.302_499_75)], |at, dx| {
        dx[0] = 2.0 * (at.t - 1.55)
    })
    .crossings(&[Crossing::below("x < 0").affine().observed()], |at, r| {
        r[0] = at.x[0]
    })
    .erased()
    .build()
}

/// f(t) = cos(w 0.0005) - cos(w (t - 1.55)), period 3, a function of time that no state follows.
pub fn periodic_double_crossing() -> impl Model {
    let w = 2.0 * std::f64::consts::PI / 3.0;
    OdeProblem::new("PeriodicDoubleCrossing", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .crossings(&[Crossing::below("f < 0").observed()], move |at, r| {
            r[0] = (w * 0.0005).cos() - (w * (at.t - 1.55)).cos();
        })
        .erased()
        .build()
}

/// x = sin t touches ±1 (eq. 9.31): the relations `x > 1`, `x < -1` must not change in the end.
pub fn tangent() -> impl Model {
    OdeProblem::new("Tangent", &[("z", 0.0)], |_, dx| dx[0] = 1.0)
        .crossings(
            &[
                Crossing::above("x > 1").observed(),
                Crossing::below("x < -1").observed(),
            ],
            |at, r| {
                r[0] = at.t.sin() - 1.0;
                r[1] = at.t.sin() + 1.0;
            },
        )
        .erased()
        .build()
}

/// Sampled integrator: x' = u, u := -k x at t = k·T. Exact: x((k+1)T) = (1 - kT) x(kT).
pub fn sampled_feedback() -> impl Model {
    OdeProblem::new("SampledFeedback", &[("x", 1.0)], |at, dx| dx[0] = at.d[0])
        .discrete(&[("u", 0.0)])
        .sample(0.0, 0.1)
        .on_event(|jump| {
            if jump.ticked() {
                jump.d[0] = -2.0 * jump.x[0];
            }
        })
        .erased()
        .build()
}

/// x'' = -x, x(0) = 1.
pub fn oscillator() -> impl Model {
    OdeProblem::new("Oscillator", &[("x", 1.0), ("v", 0.0)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = -at.x[0];
    })
    .erased()
    .build()
}

/// Van der Pol, ε = 1e-6, start (2, -0.66); at t = 2: (1.706167732170483, -0.8928097010247975) (Hairer and Wanner's test set).
pub fn van_der_pol() -> impl Model {
    OdeProblem::new("VanDerPol", &[("y1", 2.0), ("y2", -0.66)], |at, dx| {
        dx[0] = at.x[1];
        dx[1] = ((1.0 - at.x[0] * at.x[0]) * at.x[1] - at.x[0]) / 1e-6;
    })
    .erased()
    .build()
}

/// Robertson's kinetics; at t = 40: (0.7158270688, 9.185534765e-6, 0.2841637457).
pub fn robertson() -> impl Model {
    OdeProblem::new(
        "Robertson",
        &[("a", 1.0), ("b", 0.0), ("c", 0.0)],
        |at, dx| {
            let [a, b, c] = [at.x[0], at.x[1], at.x[2]];
            dx[0] = -0.04 * a + 1e4 * b * c;
            dx[2] = 3e7 * b * b;
            dx[1] = -dx[0] - dx[2];
        },
    )
    .erased()
    .build()
}

/// Relay x' = -sign(x) with an event at every change: slides on x = 0 from t = 1 on.
pub fn relay() -> impl Model {
    OdeProblem::new("Relay", &[("x", 1.0)], |at, dx| {
        dx[0] = if at.holds[0] > 0.0 { -1.0 } else { 1.0 }
    })
    .crossings(&[Crossing::above("x > 0").affine()], |at, r| r[0] = at.x[0])
    .erased()
    .build()
}

/// Each event undoes itself: `y = not pre(y)` as long as a tick has happened.
pub fn oscillating_event() -> impl Model {
    OdeProblem::new("OscillatingEvent", &[("x", 0.0)], |_, dx| dx[0] = 1.0)
        .discrete(&[("y", 0.0)])
        .crossings(&[Crossing::above("x + y > 1").observed()], |at, r| {
            r[0] = at.x[0] + at.d[0] - 1.0
        })
        .on_event(|jump| jump.d[0] = if jump.became_true(0) { -1.0 } else { 1.0 })
        .erased()
        .build()
}
