//! A system with modes, one event variable in each, and the ways through its events: the dissertation's methods with fixed steps, and adaptive steps with dense
//! output.

use saltus_solve::event_step::{
    EventStepError, EventVariable, Henon, Newton, SemiExplicit, as_dae, explicit_euler, henon,
    trapezoidal_event,
};
use saltus_solve::roots::location::{LocationMethod, trace};
use saltus_solve::roots::step_curve::{Between, Crossing, StepCurve, Threshold};
use saltus_solve::{Integrator, Problem, SolveError, SolverName, StepLimits, Tolerances};

/// After an event the next one is looked for when the event variable has left its threshold by this much: a flight from the end of a thread leaves it with the third
/// power of time.
const ARMED: f64 = 1e-9;
/// Tolerance of adaptive methods, and of Newton's iteration in implicit ones.
pub(crate) const TIGHT: f64 = 1e-11;
/// Points drawn in each adaptive step.
const DRAWN: u32 = 8;

/// A system in one of its modes.
pub(crate) trait Hybrid {
    fn n(&self) -> usize;
    fn f(&self, t: f64, x: &[f64], dx: &mut [f64]);
    /// The event variable less its threshold, and its rate.
    fn event(&self, t: f64, x: &[f64]) -> f64;
    fn event_rate(&self, t: f64, x: &[f64], dx: &[f64]) -> f64;
    /// The state that the event variable is, if it is one.
    fn event_state(&self) -> Option<Threshold>;
    /// Changes the mode; the states in the new one.
    fn pass(&mut self, t: f64, x: &[f64]) -> Vec<f64>;
    /// The event variable as the other states have it.
    fn constraint(&self, t: f64, x: &[f64]) -> f64 {
        self.event(t, x)
    }
}

/// A system whose event variable is one more state, the last one: index-reduced (3.2).
#[derive(Clone, Copy, Default)]
pub(crate) struct Reduced<H>(pub(crate) H);

impl<H: Hybrid> Reduced<H> {
    /// The states with the event variable behind them.
    pub(crate) fn extended(&self, t: f64, x: &[f64]) -> Vec<f64> {
        let mut extended = x.to_vec();
        extended.push(self.0.event(t, x));
        extended
    }
}

impl<H: Hybrid> Hybrid for Reduced<H> {
    fn n(&self) -> usize {
        self.0.n() + 1
    }

    fn f(&self, t: f64, x: &[f64], dx: &mut [f64]) {
        let n = self.0.n();
        let (own, extra) = dx.split_at_mut(n);
        self.0.f(t, &x[..n], own);
        extra[0] = self.0.event_rate(t, &x[..n], own);
    }

    fn event(&self, _: f64, x: &[f64]) -> f64 {
        x[self.0.n()]
    }

    fn event_rate(&self, _: f64, _: &[f64], dx: &[f64]) -> f64 {
        dx[self.0.n()]
    }

    fn event_state(&self) -> Option<Threshold> {
        Some(Threshold {
            index: self.0.n(),
            threshold: 0.0,
        })
    }

    fn pass(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        let own = self.0.pass(t, &x[..self.0.n()]);
        self.extended(t, &own)
    }

    fn constraint(&self, t: f64, x: &[f64]) -> f64 {
        self.0.event(t, &x[..self.0.n()])
    }
}

/// The motion in the present mode.
pub(crate) struct Motion<'a, H>(pub(crate) &'a H);

impl<H: Hybrid> Problem for Motion<'_, H> {
    fn n_states(&self) -> usize {
        self.0.n()
    }

    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.0.f(t, x, dx);
        Ok(())
    }
}

/// Its event variable.
pub(crate) struct Event<'a, H>(pub(crate) &'a H);

impl<H: Hybrid> Crossing for Event<'_, H> {
    fn value(&self, t: f64, x: &[f64]) -> f64 {
        self.0.event(t, x)
    }

    fn rate(&self, t: f64, x: &[f64], dx: &[f64]) -> f64 {
        self.0.event_rate(t, x, dx)
    }
}

/// The event variable as algebraic variable: 0 = y - g(t, x).
struct WithVariable<'a, H>(&'a H);

impl<H: Hybrid> SemiExplicit for WithVariable<'_, H> {
    fn n_x(&self) -> usize {
        self.0.n()
    }

    fn n_y(&self) -> usize {
        1
    }

    fn f(&mut self, t: f64, x: &[f64], _: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.0.f(t, x, dx);
        Ok(())
    }

    fn g(&mut self, t: f64, x: &[f64], y: &[f64], r: &mut [f64]) -> Result<(), SolveError> {
        r[0] = y[0] - self.0.event(t, x);
        Ok(())
    }
}

/// An event as a method finds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) t: f64,
    /// Δ from the last step before.
    pub(crate) step: f64,
    /// How far the event variable is from its threshold, as the method has it …
    pub(crate) local_error: f64,
    /// … and as the states have it: with an index-reduced variable this shows the drift.
    pub(crate) constraint_error: f64,
    pub(crate) fell_back: bool,
}

impl Found {
    fn new<H: Hybrid>(system: &H, t: f64, step: f64, x: &[f64], fell_back: bool) -> Found {
        Found {
            t: t + step,
            step,
            local_error: system.event(t + step, x).abs(),
            constraint_error: system.constraint(t + step, x).abs(),
            fell_back,
        }
    }
}

/// Points, rates and repeated steps of all locations of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Located {
    pub(crate) points: u32,
    pub(crate) rates: u32,
    pub(crate) repeated: u32,
}

/// A run: its events, what was evaluated, and where it broke, if it did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub(crate) events: Vec<Found>,
    pub(crate) rhs_evaluations: u64,
    /// What locations took, where steps are controlled.
    pub(crate) located: Located,
    /// States at the end.
    pub(crate) end: Vec<f64>,
    pub(crate) failure: Option<String>,
}

/// The event variable was on one side; it is looked for on the other.
#[derive(Clone, Copy)]
struct Watch {
    armed: bool,
    positive: bool,
}

impl Watch {
    fn new() -> Watch {
        Watch {
            armed: false,
            positive: false,
        }
    }

    /// True when it has changed.
    fn crosses(&mut self, value: f64) -> bool {
        if self.armed {
            return (value > 0.0) != self.positive;
        }
        if value.abs() > ARMED {
            self.armed = true;
            self.positive = value > 0.0;
        }
        false
    }
}

/// Bounds of a run.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) events: usize,
    pub(crate) time_end: f64,
    pub(crate) step: f64,
}

/// Reformulated explicit Euler (2.1.1), for an event variable that is a state: else the index-reduced system ([`Reduced`]) is.
pub(crate) fn euler<H: Hybrid>(mut system: H, x: &[f64], bounds: Bounds) -> Run {
    let mut run = Run::default();
    let (mut t, mut x) = (0.0, x.to_vec());
    while run.events.len() < bounds.events && t < bounds.time_end {
        let Some(event) = system.event_state() else {
            run.failure = Some("the event variable is no state".to_owned());
            break;
        };
        let mut watch = Watch::new();
        watch.crosses(system.event(t, &x));
        let (mut dx, mut next) = (vec![0.0; x.len()], x.clone());
        let reached = loop {
            if t >= bounds.time_end {
                break None;
            }
            run.rhs_evaluations += 1;
            system.f(t, &x, &mut dx);
            for ((next, x), dx) in next.iter_mut().zip(&x).zip(&dx) {
                *next = x + bounds.step * dx;
            }
            if watch.crosses(system.event(t, &next)) {
                break Some(explicit_euler(&x, &dx, event));
            }
            std::mem::swap(&mut x, &mut next);
            t += bounds.step;
        };
        let step = match reached {
            None => break,
            Some(Ok(step)) => step,
            Some(Err(error)) => {
                run.failure = Some(describe(&error));
                break;
            }
        };
        t += step.step_size;
        run.events.push(Found {
            t,
            step: step.step_size,
            local_error: step.deviation.abs(),
            constraint_error: system.constraint(t, &step.x).abs(),
            fell_back: false,
        });
        x = system.pass(t, &step.x);
    }
    run.end = x;
    run
}

/// A fixed-step method to the step over the event, and one way from its start to the event.
fn by_fixed_steps<H: Hybrid>(
    mut system: H,
    x: &[f64],
    solver: SolverName,
    bounds: Bounds,
    mut locate: impl FnMut(&H, f64, &[f64]) -> Result<(Found, Vec<f64>), EventStepError>,
) -> Run {
    let mut run = Run::default();
    let (mut t, mut x) = (0.0, x.to_vec());
    while run.events.len() < bounds.events && t < bounds.time_end {
        let n = x.len();
        let mut integrator = Integrator::new(solver, Tolerances::new(TIGHT), &vec![1.0; n]);
        assert!(integrator.set_fixed_step(bounds.step), "a textbook method");
        let limits = StepLimits {
            time_end: bounds.time_end,
            step_size_max: f64::INFINITY,
        };
        let mut watch = Watch::new();
        watch.crosses(system.event(t, &x));
        let mut problem = Motion(&system);
        integrator
            .begin(&mut problem, t, &x, limits)
            .expect("begins");
        let mut reached = false;
        while !reached && integrator.time() < bounds.time_end {
            if let Err(error) = integrator.step_bare(&mut problem, limits) {
                run.failure = Some(format!("{error:?}"));
                break;
            }
            reached = watch.crosses(system.event(integrator.time(), integrator.state()));
        }
        run.rhs_evaluations += integrator.statistics().rhs_evaluations;
        if !reached {
            break;
        }
        let mut before = vec![0.0; n];
        let t_before = integrator.time_old();
        integrator.interpolate(t_before, &mut before);
        match locate(&system, t_before, &before) {
            Ok((found, at)) => {
                t = found.t;
                run.events.push(found);
                x = system.pass(t, &at);
            }
            Err(error) => {
                run.failure = Some(describe(&error));
                break;
            }
        }
    }
    run
}

/// The trapezoidal rule with Newton's method over the step and all other unknowns (2.2.2, 3.3.1).
pub(crate) fn trapezoidal<H: Hybrid>(system: H, x: &[f64], bounds: Bounds) -> Run {
    let solver = SolverName::Trapezoidal;
    by_fixed_steps(system, x, solver, bounds, |system, t, x| {
        let step = match system.event_state() {
            Some(Threshold { index, threshold }) => {
                let mut motion = Motion(system);
                let event = EventVariable::State { index, threshold };
                let mut newton = Newton::new(x.len(), 0);
                let dae = &mut as_dae(&mut motion);
                trapezoidal_event(dae, &mut newton, t, (x, &[]), event, bounds.step)?
            }
            None => {
                let event = EventVariable::Algebraic {
                    index: 0,
                    threshold: 0.0,
                };
                let mut newton = Newton::new(x.len(), 1);
                let y = [system.event(t, x)];
                let dae = &mut WithVariable(system);
                trapezoidal_event(dae, &mut newton, t, (x, &y), event, bounds.step)?
            }
        };
        let found = Found::new(system, t, step.step_size, &step.x, false);
        Ok((found, step.x))
    })
}

/// RK4 with a root finder on steps of other sizes from the same start (2.2.1).
pub(crate) fn by_root_finder<H: Hybrid>(
    system: H,
    x: &[f64],
    bounds: Bounds,
    method: LocationMethod,
) -> Run {
    let solver = SolverName::Rk4;
    by_fixed_steps(system, x, solver, bounds, |system, t, x| {
        let step = step_over(system, t, x, bounds.step)?;
        let (mut problem, event) = (Motion(system), Event(system));
        let between = Between::Reintegrate;
        let curve = StepCurve::new(&step, solver, &mut problem, &event, between);
        let mut curve = curve.expect("a textbook method");
        let found = trace(method, &mut curve, t, step.time())?;
        let at = found.ok_or(EventStepError::MovesAway)?.found.right;
        let x = curve.state(at)?.to_vec();
        Ok((Found::new(system, t, at - t, &x, false), x))
    })
}

/// The step of RK4 over an event.
fn step_over<H: Hybrid>(
    system: &H,
    t: f64,
    x: &[f64],
    size: f64,
) -> Result<Integrator, EventStepError> {
    let nominal = vec![1.0; x.len()];
    let mut integrator = Integrator::new(SolverName::Rk4, Tolerances::new(TIGHT), &nominal);
    assert!(integrator.set_fixed_step(size), "a textbook method");
    let limits = StepLimits {
        time_end: t + size,
        step_size_max: f64::INFINITY,
    };
    let mut problem = Motion(system);
    integrator.begin(&mut problem, t, x, limits)?;
    integrator.step(&mut problem, limits)?;
    Ok(integrator)
}

/// Hénon's method (4.1, 4.2) from the last step of RK4 before the event.
pub(crate) fn henons<H: Hybrid>(system: H, x: &[f64], bounds: Bounds) -> Run {
    by_fixed_steps(system, x, SolverName::Rk4, bounds, |system, t, x| {
        let how = Henon {
            solver: SolverName::Dopri5,
            tolerances: Tolerances::new(TIGHT),
            step_size_max: 2.0 * bounds.step,
        };
        let step = henon(&mut Motion(system), &Event(system), t, x, how)?;
        let found = Found::new(system, t, step.step_size, &step.x, step.fell_back);
        Ok((found, step.x))
    })
}

/// No event is located: the step over it, with the event variable at both ends.
pub(crate) struct Straddled {
    pub(crate) t: [f64; 2],
    pub(crate) value: [f64; 2],
    pub(crate) rhs_evaluations: u64,
}

pub(crate) fn without_location<H: Hybrid>(
    system: H,
    x: &[f64],
    bounds: Bounds,
) -> Option<Straddled> {
    let mut straddled = None;
    let first = Bounds {
        events: 1,
        ..bounds
    };
    let run = by_fixed_steps(system, x, SolverName::Rk4, first, |system, t, x| {
        let step = step_over(system, t, x, bounds.step)?;
        let end = step.time();
        straddled = Some(Straddled {
            t: [t, end],
            value: [system.event(t, x), system.event(end, step.state())],
            rhs_evaluations: 0,
        });
        // Nothing is located: the run ends here.
        Err(EventStepError::StandsStill)
    });
    straddled.map(|straddled| Straddled {
        rhs_evaluations: run.rhs_evaluations,
        ..straddled
    })
}

/// How a run with controlled steps finds its events.
#[derive(Clone, Copy)]
pub(crate) struct Finder {
    pub(crate) solver: SolverName,
    pub(crate) tolerance: f64,
    pub(crate) method: LocationMethod,
    pub(crate) between: Between,
}

/// DOPRI5 with its dense output, on which the event is located.
pub(crate) fn adaptive<H: Hybrid>(
    system: H,
    x: &[f64],
    bounds: Bounds,
    draw: impl FnMut(&H, f64, &[f64]),
) -> Run {
    let finder = Finder {
        solver: SolverName::Dopri5,
        tolerance: TIGHT,
        method: LocationMethod::Chandrupatla,
        between: Between::Interpolate,
    };
    controlled(system, x, bounds, finder, draw)
}

/// Controlled steps; events are located on the interpolant or by repeated steps. What is drawn comes from the interpolant.
pub(crate) fn controlled<H: Hybrid>(
    mut system: H,
    x: &[f64],
    bounds: Bounds,
    finder: Finder,
    mut draw: impl FnMut(&H, f64, &[f64]),
) -> Run {
    let mut run = Run::default();
    let (mut t, mut x) = (0.0, x.to_vec());
    let Finder {
        solver,
        method,
        between,
        ..
    } = finder;
    while run.events.len() < bounds.events && t < bounds.time_end {
        let n = x.len();
        let tolerances = Tolerances::new(finder.tolerance);
        let mut integrator = Integrator::new(solver, tolerances, &vec![1.0; n]);
        let limits = StepLimits {
            time_end: bounds.time_end,
            step_size_max: f64::INFINITY,
        };
        let mut watch = Watch::new();
        watch.crosses(system.event(t, &x));
        draw(&system, t, &x);
        let mut problem = Motion(&system);
        integrator
            .begin(&mut problem, t, &x, limits)
            .expect("begins");
        let mut room = vec![0.0; n];
        let reached = loop {
            if integrator.time() >= bounds.time_end {
                break None;
            }
            if let Err(error) = integrator.step(&mut problem, limits) {
                run.failure = Some(format!("{error:?}"));
                break None;
            }
            let (start, end) = (integrator.time_old(), integrator.time());
            let crosses = watch.crosses(system.event(end, integrator.state()));
            let mut last = end;
            let mut at = None;
            if crosses {
                let event = Event(&system);
                let curve = StepCurve::new(&integrator, solver, &mut problem, &event, between);
                let mut curve = curve.expect("a method that repeats its steps, or interpolation");
                let found = trace(method, &mut curve, start, end);
                let Ok(Some(found)) = found else {
                    run.failure = Some(format!("{found:?}"));
                    break None;
                };
                last = found.found.right;
                run.located.points += found.found.evaluations;
                run.located.rates += found.rates;
                run.located.repeated += curve.repeated;
                at = curve.state(last).ok().map(<[f64]>::to_vec);
            }
            for k in 1..=DRAWN {
                let t = start + f64::from(k) / f64::from(DRAWN) * (last - start);
                integrator.interpolate(t, &mut room);
                draw(&system, t, &room);
            }
            if let Some(at) = at {
                room = at;
                break Some((start, last));
            }
        };
        run.rhs_evaluations += integrator.statistics().rhs_evaluations;
        let Some((start, at)) = reached else {
            x.copy_from_slice(integrator.state());
            break;
        };
        t = at;
        run.events
            .push(Found::new(&system, start, t - start, &room, false));
        x = system.pass(t, &room);
    }
    run.end = x;
    run
}

fn describe(error: &EventStepError) -> String {
    match error {
        EventStepError::StandsStill => "the event variable stands still".to_owned(),
        EventStepError::MovesAway => "the event variable moves away".to_owned(),
        EventStepError::Singular => "Newton's matrix is singular".to_owned(),
        EventStepError::NotConverged { iterations, .. } => {
            format!("no convergence after {iterations} iterations")
        }
        EventStepError::Model(error) => format!("{error:?}"),
        EventStepError::Step(error) => format!("{error:?}"),
    }
}
