//! Hénon's method: the event variable becomes the independent one, so that a step of it ends at the event (dissertation 4.1 and 4.2, equations 50 to 54 and 64 to 67).
//!
//! With τ = g(t, x), the event variable (a state, or a function of the states, whose rate is r), d(x, t)/dτ = (f, 1)/r is integrated from τ₀ to the threshold. The
//! upper limit is the threshold itself: τ₀ + |τ₀ - a|, as printed in (53) and (67), is another point when τ falls. Then x is integrated over the time found (54), as the
//! dissertation does it. Where r vanishes or changes its sign on the way the transformation has no meaning; the event is then located by integration in time with
//! a root finder, and the step says so.

use super::EventStepError;
use crate::error::SolveError;
use crate::integrator::{Integrator, Problem, SolverName, StepLimits};
use crate::roots::location::{LocationMethod, trace};
use crate::roots::step_curve::{Between, Crossing, StepCurve};
use crate::scale::Tolerances;

/// Steps that the transformed problem may take: it is smooth, and short.
const STEPS_MAX: u32 = 10_000;

/// How the transformed problem is integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Henon {
    pub solver: SolverName,
    pub tolerances: Tolerances,
    /// No event is looked for beyond this step in time, in the fall-back.
    pub step_size_max: f64,
}

/// A step of Hénon's method.
#[derive(Clone, Debug, PartialEq)]
pub struct HenonStep {
    pub step_size: f64,
    /// States at the event by the transformed problem, which has the event variable at its threshold …
    pub x_transformed: Vec<f64>,
    /// … and by integration over the time found.
    pub x: Vec<f64>,
    /// The denominator vanished: located by integration in time.
    pub fell_back: bool,
    pub rhs_evaluations: u64,
}

/// The transformed problem over s from 0 to 1, τ = τ₀ + s (a - τ₀); its last state is the time.
struct Transformed<'a, P, C: ?Sized> {
    problem: &'a mut P,
    crossing: &'a C,
    way: f64,
}

impl<P: Problem, C: Crossing + ?Sized> Problem for Transformed<'_, P, C> {
    fn n_states(&self) -> usize {
        self.problem.n_states() + 1
    }

    fn derivatives(&mut self, _: f64, chi: &[f64], out: &mut [f64]) -> Result<(), SolveError> {
        let n = self.problem.n_states();
        let (x, t) = (&chi[..n], chi[n]);
        let (dx, dt) = out.split_at_mut(n);
        self.problem.derivatives(t, x, dx)?;
        // Γ of (49) and (63), times the way.
        let gamma = self.way / self.crossing.rate(t, x, dx);
        // Time that runs backwards or stands still: not one to one.
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(SolveError::NonFiniteDerivative { state: n });
        }
        for slope in dx {
            *slope *= gamma;
        }
        dt[0] = gamma;
        Ok(())
    }
}

/// The step from (t, x) to the zero of the crossing function.
pub fn henon<P: Problem, C: Crossing + ?Sized>(
    problem: &mut P,
    crossing: &C,
    t: f64,
    x: &[f64],
    how: Henon,
) -> Result<HenonStep, EventStepError> {
    let way = -crossing.value(t, x);
    if way == 0.0 {
        return Ok(HenonStep {
            step_size: 0.0,
            x_transformed: x.to_vec(),
            x: x.to_vec(),
            fell_back: false,
            rhs_evaluations: 0,
        });
    }
    match transformed(problem, crossing, way, (t, x), how) {
        Ok((mut end, evaluations)) => {
            let n = x.len();
            let step_size = end[n] - t;
            end.truncate(n);
            let (x, more) = over_time(problem, (t, x), t + step_size, how)?;
            Ok(HenonStep {
                step_size,
                x_transformed: end,
                x,
                fell_back: false,
                rhs_evaluations: evaluations + more,
            })
        }
        Err(_) => fall_back(problem, crossing, (t, x), how),
    }
}

/// (x, t) at the threshold.
fn transformed<P: Problem, C: Crossing + ?Sized>(
    problem: &mut P,
    crossing: &C,
    way: f64,
    (t, x): (f64, &[f64]),
    how: Henon,
) -> Result<(Vec<f64>, u64), EventStepError> {
    let mut swapped = Transformed {
        problem,
        crossing,
        way,
    };
    let mut chi = x.to_vec();
    chi.push(t);
    integrate(&mut swapped, 0.0, &chi, 1.0, how)
}

/// (54)
fn over_time<P: Problem>(
    problem: &mut P,
    (t, x): (f64, &[f64]),
    time_end: f64,
    how: Henon,
) -> Result<(Vec<f64>, u64), EventStepError> {
    if time_end <= t {
        return Ok((x.to_vec(), 0));
    }
    integrate(problem, t, x, time_end, how)
}

fn integrate<P: Problem>(
    problem: &mut P,
    start: f64,
    x: &[f64],
    time_end: f64,
    how: Henon,
) -> Result<(Vec<f64>, u64), EventStepError> {
    let mut integrator = Integrator::new(how.solver, how.tolerances, &vec![1.0; x.len()]);
    let limits = StepLimits {
        time_end,
        step_size_max: f64::INFINITY,
    };
    integrator.begin(problem, start, x, limits)?;
    for _ in 0..STEPS_MAX {
        if integrator.time() >= time_end {
            break;
        }
        integrator.step(problem, limits)?;
    }
    if integrator.time() < time_end {
        return Err(EventStepError::NotConverged {
            iterations: STEPS_MAX,
            correction: time_end - integrator.time(),
        });
    }
    let evaluations = integrator.statistics().rhs_evaluations;
    Ok((integrator.state().to_vec(), evaluations))
}

/// Steps in time until the function has changed its sign, then its root on the interpolant.
fn fall_back<P: Problem, C: Crossing + ?Sized>(
    problem: &mut P,
    crossing: &C,
    (t, x): (f64, &[f64]),
    how: Henon,
) -> Result<HenonStep, EventStepError> {
    let mut integrator = Integrator::new(how.solver, how.tolerances, &vec![1.0; x.len()]);
    let limits = StepLimits {
        time_end: t + how.step_size_max,
        step_size_max: f64::INFINITY,
    };
    integrator.begin(problem, t, x, limits)?;
    let side = crossing.value(t, x) >= 0.0;
    for _ in 0..STEPS_MAX {
        if integrator.time() >= limits.time_end {
            break;
        }
        integrator.step(problem, limits)?;
        let end = integrator.time();
        if (crossing.value(end, integrator.state()) >= 0.0) == side {
            continue;
        }
        let start = integrator.time_old();
        let between = Between::Interpolate;
        let curve = StepCurve::new(&integrator, how.solver, problem, crossing, between);
        let mut curve = curve.expect("interpolation needs no method that repeats its steps");
        let found = trace(LocationMethod::Chandrupatla, &mut curve, start, end)?;
        let at = found.map_or(end, |found| found.found.right);
        let x = curve.state(at)?.to_vec();
        return Ok(HenonStep {
            step_size: at - t,
            x_transformed: x.clone(),
            x,
            fell_back: true,
            rhs_evaluations: integrator.statistics().rhs_evaluations,
        });
    }
    Err(EventStepError::MovesAway)
}
