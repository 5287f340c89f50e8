//! The three event problems as programs written by hand for the problem: integrator, event functions and jumps in one function.

use crate::dopri5::Dopri5;

/// Parameters of the spring-contact ball (`saltus_testkit::problems::spring_ball`).
pub(crate) mod spring {
    pub(crate) const MASS: f64 = 200.0;
    pub(crate) const RADIUS: f64 = 2.5;
    pub(crate) const STIFFNESS: f64 = 10_000.0;
    pub(crate) const GRAVITY: f64 = 9.80665;
    pub(crate) const STOP: f64 = 100.0;
}

/// Ball on a spring contact; `event` is given the time of each.
pub(crate) fn spring_ball(tolerance: f64, mut event: impl FnMut(f64)) -> [f64; 2] {
    use spring::{GRAVITY, MASS, RADIUS, STIFFNESS, STOP};
    let h_max = 0.1 * STOP;
    let mut contact = false;
    let f = |contact: bool, x: &[f64; 2]| {
        let force = if contact {
            -STIFFNESS * (x[0] - RADIUS)
        } else {
            0.0
        };
        [x[1], (force - MASS * GRAVITY) / MASS]
    };
    let mut solver = Dopri5::new(|_, x| f(false, x), 0.0, [5.0, -2.5], 1e-3, tolerance);
    while solver.t < STOP {
        solver.step(|_, x| f(contact, x), STOP, h_max);
        if (solver.x[0] <= RADIUS) != contact {
            let sign = if contact { -1.0 } else { 1.0 };
            let t = solver.locate(|_, x| sign * (x[0] - RADIUS));
            event(t);
            contact = !contact;
            let x = solver.at(t);
            solver.restart(|_, x| f(contact, x), t, x);
        }
    }
    solver.x
}

/// Parameters of the ball with restitution (`saltus_testkit::problems::restitution_ball`).
pub(crate) mod restitution {
    pub(crate) const GRAVITY: f64 = 9.81;
    pub(crate) const COEFFICIENT: f64 = 0.85;
    /// Between the 60th bounce at 5.568441 and the 61st at 5.568494.
    pub(crate) const STOP: f64 = 5.568_46;
}

/// Ball that loses speed at each bounce, dropped from `height`.
pub(crate) fn restitution_ball(
    height: f64,
    stop: f64,
    tolerance: f64,
    mut event: impl FnMut(f64),
) -> [f64; 2] {
    use restitution::{COEFFICIENT, GRAVITY};
    let h_max = 0.1 * stop;
    let f = |_: f64, x: &[f64; 2]| [x[1], -GRAVITY];
    let mut solver = Dopri5::new(f, 0.0, [height, 0.0], 1e-3, tolerance);
    while solver.t < stop {
        solver.step(f, stop, h_max);
        if solver.x[0] < 0.0 {
            let t = solver.locate(|_, x| x[0]);
            event(t);
            let x = solver.at(t);
            solver.restart(f, t, [0.0, -COEFFICIENT * x[1]]);
        }
    }
    solver.x
}

/// Parameters of the hysteresis current control: a full bridge of ±`VOLTAGE` at a load of resistance and inductance, the current kept
/// within ±`BAND` of a sine of 50 Hz. The band is chosen so that there are 98 641 switchings in one second.
pub(crate) mod hysteresis {
    pub(crate) const VOLTAGE: f64 = 100.0;
    pub(crate) const RESISTANCE: f64 = 1.0;
    pub(crate) const INDUCTANCE: f64 = 1e-3;
    pub(crate) const AMPLITUDE: f64 = 10.0;
    pub(crate) const BAND: f64 = 0.5041;
    pub(crate) const STOP: f64 = 1.0;

    #[inline]
    pub(crate) fn reference(t: f64) -> f64 {
        AMPLITUDE * (2.0 * std::f64::consts::PI * 50.0 * t).sin()
    }
}

/// Hysteresis current control.
pub(crate) fn hysteresis_control(tolerance: f64, mut event: impl FnMut(f64)) -> f64 {
    use hysteresis::{BAND, INDUCTANCE, RESISTANCE, STOP, VOLTAGE, reference};
    let h_max = 0.1 * STOP;
    let mut u = VOLTAGE;
    let f = |u: f64, x: &[f64; 1]| [(u - RESISTANCE * x[0]) / INDUCTANCE];
    let mut solver = Dopri5::new(|_, x| f(u, x), 0.0, [0.0], 1e-6, tolerance);
    while solver.t < STOP {
        solver.step(|_, x| f(u, x), STOP, h_max);
        // What is left of the band on the side to which the current moves.
        let left = |t: f64, x: &[f64; 1]| {
            let deviation = x[0] - reference(t);
            BAND - if u > 0.0 { deviation } else { -deviation }
        };
        if left(solver.t, &solver.x) < 0.0 {
            let t = solver.locate(left);
            event(t);
            u = -u;
            let x = solver.at(t);
            solver.restart(|_, x| f(u, x), t, x);
        }
    }
    solver.x[0]
}

/// The switching times of [`hysteresis_control`] without integrator: between events the current is
/// i(t) = u/R + (i0 - u/R) exp(-R (t - t0)/L), and the switching time is found by bisection and Newton's method on it.
pub(crate) fn hysteresis_exact(mut event: impl FnMut(f64)) {
    use hysteresis::{BAND, INDUCTANCE, RESISTANCE, STOP, VOLTAGE, reference};
    let (mut t0, mut i0, mut u) = (0.0, 0.0, VOLTAGE);
    let rate = RESISTANCE / INDUCTANCE;
    loop {
        let current = |t: f64| u / RESISTANCE + (i0 - u / RESISTANCE) * (-rate * (t - t0)).exp();
        let left = |t: f64| {
            let deviation = current(t) - reference(t);
            BAND - if u > 0.0 { deviation } else { -deviation }
        };
        let mut width = 1e-6;
        while left(t0 + width) > 0.0 {
            width *= 1.5;
        }
        let (mut a, mut b) = (t0, t0 + width);
        while b - a > f64::EPSILON * b {
            let middle = a + 0.5 * (b - a);
            if middle <= a || middle >= b {
                break;
            }
            if left(middle) > 0.0 {
                a = middle;
            } else {
                b = middle;
            }
        }
        if b > STOP {
            return;
        }
        event(b);
        i0 = current(b);
        t0 = b;
        u = -u;
    }
}
