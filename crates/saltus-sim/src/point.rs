//! Evaluation of the model at one point: scatter states into the value array, run schedules, gather.

use crate::constrained::Constrained;
use crate::field::Field;
use saltus_model::{
    CrossingClass, Fault, Instance, ModelInfo, ScheduleKind, Slot, SlotRole, StateSlots, System,
    Values,
};
use saltus_solve::roots::Bow;
use saltus_solve::scale::EPS;
use saltus_solve::{
    Accuracy, CrossingFunctions, Driver, Guess, Integrator, Problem, SignRule, SolveError,
};

#[inline]
pub(crate) fn scatter(states: &[StateSlots], t: f64, x: &[f64], values: &mut Values) {
    values.set_time(t);
    for (state, x) in states.iter().zip(x) {
        values.v[state.value.index()] = *x;
    }
}

#[inline]
pub(crate) fn gather(states: &[StateSlots], values: &Values, x: &mut [f64]) {
    for (state, x) in states.iter().zip(x) {
        *x = values.v[state.value.index()];
    }
}

#[inline]
pub(crate) fn gather_derivatives(
    states: &[StateSlots],
    values: &Values,
    dx: &mut [f64],
) -> Result<(), SolveError> {
    for (state, dx) in states.iter().zip(dx) {
        *dx = values.v[state.derivative.index()];
        if !dx.is_finite() {
            return Err(SolveError::NonFinite {
                slot: state.derivative,
            });
        }
    }
    Ok(())
}

#[inline]
fn finite_derivatives(states: &[StateSlots], dx: &[f64]) -> Result<(), SolveError> {
    match dx.iter().position(|dx| !dx.is_finite()) {
        None => Ok(()),
        Some(i) => Err(SolveError::NonFinite {
            slot: states[i].derivative,
        }),
    }
}

/// The side rules of a system's crossings.
pub(crate) fn sign_rules<S: System>(system: &S) -> Vec<SignRule> {
    system
        .crossings()
        .iter()
        .map(|c| SignRule {
            rising: c.rising,
            closed: c.closed,
        })
        .collect()
}

/// Runs the three continuous schedules at the point in the value array.
pub(crate) fn evaluate_all<S: System>(
    system: &S,
    driver: &mut Driver,
    values: &mut Values,
    accuracy: Accuracy,
    guess: Guess,
) -> Result<(), SolveError> {
    for kind in [
        ScheduleKind::Derivatives,
        ScheduleKind::Crossings,
        ScheduleKind::Outputs,
    ] {
        driver.run(system, kind, values, accuracy, guess)?;
    }
    Ok(())
}

/// Slots that must be finite at accepted points.
pub(crate) fn continuous_slots(info: &ModelInfo) -> Vec<usize> {
    let continuous = |role| {
        matches!(
            role,
            SlotRole::State | SlotRole::Derivative | SlotRole::Algebraic
        )
    };
    (0..info.slots.len())
        .filter(|&i| continuous(info.slots[i].role))
        .collect()
}

/// The states of one mode as an initial value problem.
pub(crate) struct ModelProblem<'a, S> {
    pub(crate) system: &'a S,
    pub(crate) driver: &'a mut Driver,
    pub(crate) values: &'a mut Values,
    pub(crate) relations: Relations<'a>,
}

/// How relations behave between events.
pub(crate) enum Relations<'a> {
    /// They keep their values.
    Held,
    /// They follow their functions (`--no-events`).
    Following {
        rules: &'a [SignRule],
        r: &'a mut [f64],
    },
    /// The motion is bound to surfaces of some of them.
    Bound(&'a mut Constrained),
}

/// Evaluations of one point for relations that follow; relations that still change then keep their last value.
const FOLLOW_MAX: usize = 4;

impl<S: System> ModelProblem<'_, S> {
    #[inline(always)]
    fn at(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
        accuracy: Accuracy,
    ) -> Result<(), SolveError> {
        if let Relations::Held = &self.relations
            && let Some(status) = self.system.derivatives_at(t, x, self.values, dx)
        {
            status?;
            return finite_derivatives(self.system.states(), dx);
        }
        self.by_schedule(t, x, dx, accuracy)
    }

    #[inline(never)]
    fn by_schedule(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
        accuracy: Accuracy,
    ) -> Result<(), SolveError> {
        let states = self.system.states();
        scatter(states, t, x, self.values);
        if let Relations::Bound(constrained) = &mut self.relations {
            let mut field = Field {
                system: self.system,
                driver: self.driver,
                values: self.values,
                accuracy,
                guess: Guess::Accepted,
            };
            constrained.point(&mut field, &[ScheduleKind::Derivatives])?;
            self.values.actions.messages.clear();
            return gather_derivatives(states, self.values, dx);
        }
        self.driver.run(
            self.system,
            ScheduleKind::Derivatives,
            self.values,
            accuracy,
            Guess::Accepted,
        )?;
        if let Relations::Following { .. } = &self.relations {
            self.follow(accuracy)?;
        }
        if !self.values.actions.messages.is_empty() {
            self.values.actions.messages.clear();
        }
        gather_derivatives(states, self.values, dx)
    }

    /// Brings relations that follow up to date, and the derivatives with them.
    #[inline(never)]
    fn follow(&mut self, accuracy: Accuracy) -> Result<(), SolveError> {
        let Relations::Following { rules, r } = &mut self.relations else {
            return Ok(());
        };
        for _ in 0..FOLLOW_MAX {
            self.driver.run(
                self.system,
                ScheduleKind::Crossings,
                self.values,
                accuracy,
                Guess::Accepted,
            )?;
            self.system.eval_crossings(self.values, r)?;
            let mut changed = false;
            for ((crossing, rule), r) in self
                .system
                .crossings()
                .iter()
                .zip(rules.iter())
                .zip(r.iter())
            {
                let now = f64::from(u8::from(rule.holds(*r)));
                changed |= self.values.get(crossing.relation) != now;
                self.values.set(crossing.relation, now);
            }
            if !changed {
                break;
            }
            self.driver.run(
                self.system,
                ScheduleKind::Derivatives,
                self.values,
                accuracy,
                Guess::Accepted,
            )?;
        }
        Ok(())
    }
}

// The two functions in the innermost loops are part of these where programs are to be fast, and not where they are to be compiled fast: the tests
// have dozens of models.
impl<S: System> Problem for ModelProblem<'_, S> {
    fn n_states(&self) -> usize {
        self.system.states().len()
    }

    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.at(t, x, dx, Accuracy::Trial)
    }

    fn derivatives_precise(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), SolveError> {
        self.at(t, x, dx, Accuracy::Tight)
    }

    fn pattern(&self) -> Option<&[Vec<u32>]> {
        // Weights and pushes depend on all that the surfaces depend on.
        match self.relations {
            Relations::Bound(_) => None,
            Relations::Held | Relations::Following { .. } => self.system.state_pattern(),
        }
    }

    fn dae_pattern(&self) -> Option<&[Vec<u32>]> {
        if let Relations::Bound(_) = self.relations {
            return None;
        }
        self.system.dae_form().map(|dae| dae.pattern.as_slice())
    }

    fn dae_jacobian(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<bool, SolveError> {
        scatter(self.system.states(), t, x, self.values);
        self.driver.run(
            self.system,
            ScheduleKind::Derivatives,
            self.values,
            Accuracy::Tight,
            Guess::Accepted,
        )?;
        self.values.actions.messages.clear();
        Ok(self.system.dae_jacobian(self.values, out)?)
    }
}

/// Coefficients of the affine crossing functions with respect to the states. They change at events only and are found, when first needed after
/// one that may have changed them, by differences, which are exact but for round-off.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct AffineRows {
    entries: Vec<Coefficient>,
    found: Found,
    r: Vec<f64>,
    r_moved: Vec<f64>,
}

/// A coefficient that is not zero.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Coefficient {
    crossing: u32,
    state: u32,
    slope: f64,
    /// Bound of its error.
    error: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
enum Found {
    #[default]
    NotYet,
    Yes,
    /// Too many states, or the functions cannot be evaluated there.
    No,
}

/// With more states than this the differences cost more than they save.
const AFFINE_STATES_MAX: usize = 16;
/// Round-off of a value in units of ε times the magnitudes that the difference shows.
const AFFINE_ULPS: f64 = 8.0;

impl AffineRows {
    pub(crate) fn forget(&mut self) {
        self.found = Found::NotYet;
    }

    #[inline]
    fn find<S: System>(&mut self, system: &S, values: &mut Values) -> bool {
        if self.found == Found::NotYet {
            self.look_for(system, values);
        }
        self.found == Found::Yes
    }

    #[inline(never)]
    fn look_for<S: System>(&mut self, system: &S, values: &mut Values) {
        let found =
            system.states().len() <= AFFINE_STATES_MAX && self.differences(system, values).is_ok();
        self.found = if found { Found::Yes } else { Found::No };
    }

    fn differences<S: System>(&mut self, system: &S, values: &mut Values) -> Result<(), Fault> {
        let n = system.crossings().len();
        self.entries.clear();
        self.r.resize(n, 0.0);
        self.r_moved.resize(n, 0.0);
        system.eval_affine_crossings(values, &mut self.r)?;
        for (i, state) in system.states().iter().enumerate() {
            let x = values.get(state.value);
            let moved = x + x.abs().max(1.0);
            values.set(state.value, moved);
            let evaluated = system.eval_affine_crossings(values, &mut self.r_moved);
            values.set(state.value, x);
            evaluated?;
            for j in 0..n {
                let slope = (self.r_moved[j] - self.r[j]) / (moved - x);
                // Not a number for what is not affine, or not finite here: then nothing is known.
                let size = self.r_moved[j].abs() + self.r[j].abs() + slope.abs() * x.abs();
                let error = AFFINE_ULPS * EPS * size / (moved - x);
                if slope != 0.0 {
                    self.entries.push(Coefficient {
                        crossing: j as u32,
                        state: i as u32,
                        slope,
                        error,
                    });
                }
            }
        }
        Ok(())
    }
}

/// The crossing functions along the interpolant of the last step.
pub(crate) struct StepCrossings<'a, S> {
    pub(crate) system: &'a S,
    pub(crate) driver: &'a mut Driver,
    pub(crate) values: &'a mut Values,
    pub(crate) integrator: &'a Integrator,
    pub(crate) x: &'a mut [f64],
    /// No function needs more than states and time.
    pub(crate) affine_only: bool,
    pub(crate) rows: &'a mut AffineRows,
}

impl<S: System> StepCrossings<'_, S> {
    /// By the shortcut of the model, if it has one; otherwise time and states are in the value array.
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn directly(
        &mut self,
        t: f64,
        out: &mut [f64],
        affine: bool,
    ) -> Option<Result<(), SolveError>> {
        let x = self.integrator.at(t, self.x);
        let status = match affine {
            true => self.system.affine_crossings_at(t, x, self.values, out),
            false => self.system.crossings_at(t, x, self.values, out),
        };
        if status.is_none() {
            scatter(self.system.states(), t, x, self.values);
        }
        status.map(|status| {
            status?;
            not_nan(self.system, out, |class| {
                !affine || class == CrossingClass::Affine
            })
        })
    }
}

impl<S: System> CrossingFunctions for StepCrossings<'_, S> {
    fn n_functions(&self) -> usize {
        self.system.crossings().len()
    }

    fn evaluate(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError> {
        if let Some(done) = self.directly(t, out, false) {
            return done;
        }
        if !self.affine_only {
            for kind in [ScheduleKind::Derivatives, ScheduleKind::Crossings] {
                self.driver.run(
                    self.system,
                    kind,
                    self.values,
                    Accuracy::Tight,
                    Guess::Accepted,
                )?;
            }
        }
        self.system.eval_crossings(self.values, out)?;
        not_nan(self.system, out, |_| true)
    }

    fn evaluate_affine(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError> {
        if let Some(done) = self.directly(t, out, true) {
            return done;
        }
        self.system.eval_affine_crossings(self.values, out)?;
        not_nan(self.system, out, |class| class == CrossingClass::Affine)
    }

    #[inline]
    fn affine_bows(&mut self, out: &mut [Bow]) -> Result<bool, SolveError> {
        if !self.rows.find(self.system, self.values) {
            return Ok(false);
        }
        out.fill(Bow::default());
        for entry in &self.rows.entries {
            let Some(bow) = self.integrator.bow(entry.state as usize) else {
                return Ok(false);
            };
            let out = &mut out[entry.crossing as usize];
            let mut size = 0.0f64;
            for (out, bow) in out.inner.iter_mut().zip(bow) {
                *out += entry.slope * bow;
                size = size.max(bow.abs());
            }
            out.error += (entry.error + EPS * entry.slope.abs()) * size;
        }
        Ok(true)
    }

    #[inline]
    fn bowed_step(&self) -> (f64, f64) {
        (self.integrator.time_old(), self.integrator.time())
    }

    fn is_affine(&self, index: usize) -> bool {
        self.system.crossings()[index].class == CrossingClass::Affine
    }

    fn degree(&self) -> usize {
        self.integrator.dense_degree()
    }
}

fn not_nan<S: System>(
    system: &S,
    r: &[f64],
    counts: impl Fn(CrossingClass) -> bool,
) -> Result<(), SolveError> {
    if r.iter().all(|r| !r.is_nan()) {
        return Ok(());
    }
    match (r.iter().zip(system.crossings())).find(|(r, c)| r.is_nan() && counts(c.class)) {
        None => Ok(()),
        Some((_, crossing)) => Err(SolveError::NonFinite {
            slot: crossing.relation,
        }),
    }
}

/// A state that was moved at unchanged time, along the motion, to show on which side of zero a function goes.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Displaced {
    pub(crate) slot: Slot,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// Modes that were left whose solvers stay as they are; those left longest ago are made again when they are met again.
pub(crate) const PARKED_MAX: usize = 64;

/// The parts of a run that belong to the mode in use.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Mode {
    pub(crate) number: u32,
    pub(crate) driver: Driver,
    pub(crate) rules: Vec<SignRule>,
    pub(crate) affine_only: bool,
    /// Put back when the event ends.
    pub(crate) displaced: Vec<Displaced>,
    /// Those of modes that were left.
    parked: Vec<Mode>,
}

impl Mode {
    /// Enters the mode that the instance has selected; one that was left before is as it was.
    pub(crate) fn change<I: Instance>(
        &mut self,
        instance: &I,
        values: &Values,
        tolerances: saltus_solve::Tolerances,
    ) {
        let number = instance.mode(values);
        let known = self.parked.iter().position(|mode| mode.number == number);
        let next = match known {
            Some(k) => {
                let mut mode = self.parked.remove(k);
                mode.driver.forget_factors();
                mode.driver.accept(instance.system(values), values);
                mode
            }
            None => Mode::enter(instance, values, tolerances),
        };
        self.replace(next);
    }

    /// The event has ended: states that nothing but the motion has moved are where they were.
    pub(crate) fn put_back(&mut self, values: &mut Values) {
        for Displaced { slot, from, to } in self.displaced.drain(..).rev() {
            let now = &mut values.v[slot.index()];
            if *now == to {
                *now = from;
            }
        }
    }

    /// Makes `next` the mode in use.
    pub(crate) fn replace(&mut self, next: Mode) {
        let mut left = std::mem::replace(self, next);
        self.parked = std::mem::take(&mut left.parked);
        self.displaced.append(&mut left.displaced);
        self.parked
            .retain(|mode| mode.number != self.number && mode.number != left.number);
        self.parked.push(left);
        if self.parked.len() > PARKED_MAX {
            self.parked.remove(0);
        }
    }

    pub(crate) fn enter<I: Instance>(
        instance: &I,
        values: &Values,
        tolerances: saltus_solve::Tolerances,
    ) -> Mode {
        let system = instance.system(values);
        let mut driver = Driver::new(system, instance.info(), tolerances);
        driver.accept(system, values);
        Mode {
            number: instance.mode(values),
            driver,
            rules: sign_rules(system),
            affine_only: system
                .crossings()
                .iter()
                .all(|c| c.class == CrossingClass::Affine),
            displaced: Vec::new(),
            parked: Vec::new(),
        }
    }
}
