//! Where the motion is bound to surfaces, and where it gets free.
//!
//! ```text
//! after the event step, if a relation that may slide made the event, or the motion is bound already
//!     gather the functions that are zero: those of the event, those slid upon, others in their band
//!     does the motion on the far side lead back? if not, nothing is decided
//!     decide (crate::sliding) → bound to these surfaces, or free
//! after an event with impacts of contacts: run/contacts.rs
//! a weight leaves [0, 1], or a rest would have to pull
//!     release: states exactly on the surfaces, relations of the side to which the motion leaves, no event step: nothing but the motion has changed
//! ```

use super::{LOCATED_BAND, Occasion, ROUND_OFF_PART, Run, State, cause};
use crate::constrained::{Constrained, ConstrainedCrossings, Release, STAYS, with_more};
use crate::contact::slow;
use crate::error::{Phase, SimError};
use crate::field::{DIFFERENCE_REL, Field, along, time_scale};
use crate::point::{Mode, gather, gather_derivatives};
use crate::record::{Cause, ChangedValue, EventKind, EventRecord, Recorder, RowKind};
use crate::restart::after_event;
use crate::sliding::{Setting, Standing, decide};
use crate::surface::{Surface, surfaces};
use crate::zeno::{Rest, Rests};
use saltus_model::{CrossingClass, Instance, ScheduleKind, Slot, StepPoint, System, Values};
use saltus_solve::roots::Change;
use saltus_solve::{
    Accuracy, CrossingFunctions, Discontinuity, Driver, Guess, Located, SolveError, first_crossing,
};
use std::ops::DerefMut;

/// Difference quotients look ahead by at most this part of the span.
pub(super) const LOOK_AHEAD_PART: f64 = 0.1;
/// A function slid upon is still zero after an event within this many times the drift that is allowed.
const STILL_ZERO: f64 = 16.0;
/// … and never less than this, relative to the function's nominal value: rates by differences are not better.
const STILL_ZERO_LEAST: f64 = 1e-12;

const ALL: [ScheduleKind; 3] = [
    ScheduleKind::Derivatives,
    ScheduleKind::Crossings,
    ScheduleKind::Outputs,
];

/// All continuous variables of a bound motion at the point in the value array.
#[inline(never)]
pub(super) fn evaluate_bound(
    constrained: &mut Constrained,
    system: &dyn System,
    driver: &mut Driver,
    values: &mut Values,
    accuracy: Accuracy,
    guess: Guess,
) -> Result<(), SolveError> {
    let mut field = Field {
        system,
        driver,
        values,
        accuracy,
        guess,
    };
    constrained.point(&mut field, &ALL)
}

pub(super) fn tight<'a>(
    system: &'a dyn System,
    mode: &'a mut Mode,
    values: &'a mut Values,
) -> Field<'a> {
    Field {
        system,
        driver: &mut mode.driver,
        values,
        accuracy: Accuracy::Tight,
        guess: Guess::Current,
    }
}

impl<I: Instance, P: DerefMut<Target = I>, R: Recorder> Run<P, R> {
    /// An event after which the motion may be bound.
    #[inline]
    pub(super) fn may_bind(&self) -> bool {
        if self.constrained.is_some() {
            return true;
        }
        // How fast a crossing function of an inlined variable changes is not in the states.
        if self.inline.is_some() {
            return false;
        }
        let crossings = self.instance.system(&self.values).crossings();
        let slides = |i: usize| crossings.get(i).is_some_and(|c| c.slides);
        self.work.causes.iter().any(|change| slides(change.index)) && self.options.events
    }

    /// After an event step: decides to what the motion is bound. True if that is something else than before.
    #[inline(never)]
    pub(super) fn bind(&mut self) -> Result<bool, SimError> {
        let old = self.constrained.take();
        if self.mode_changed() {
            // Surfaces, directions and functions are those of the mode that is left.
            let was_bound = old.is_some();
            self.left = old;
            return Ok(was_bound);
        }
        let system = self.instance.system(&self.values);
        let mut r = vec![0.0; system.crossings().len()];
        let known = after_event(system, &mut self.values, &mut r).map_err(SolveError::from);
        let kept = self.values.v.clone();
        let chosen = known.and_then(|()| {
            if old.is_none() && !self.leads_back(&r)? {
                return Ok(None);
            }
            self.choose(old.as_deref(), &r, &[])
        });
        self.decided(old, chosen, &kept)
    }

    /// The same where a run begins.
    #[inline(never)]
    pub(super) fn bind_at_start(&mut self) -> Result<(), SimError> {
        let system = self.instance.system(&self.values);
        if !self.options.events
            || self.inline.is_some()
            || self.mode_changed()
            || !system.crossings().iter().any(|c| c.slides)
        {
            return Ok(());
        }
        let mut r = vec![0.0; system.crossings().len()];
        self.work.causes.clear();
        let kept = self.values.v.clone();
        let chosen = match after_event(system, &mut self.values, &mut r) {
            Ok(()) => self.choose(None, &r, &[]),
            Err(fault) => Err(fault.into()),
        };
        self.decided(None, chosen, &kept)?;
        Ok(())
    }

    fn decided(
        &mut self,
        old: Option<Box<Constrained>>,
        chosen: Result<Option<Constrained>, SolveError>,
        kept: &[f64],
    ) -> Result<bool, SimError> {
        match chosen {
            Ok(Some(new)) => Ok(self.set_bound(old, Some(Box::new(new)))),
            // What cannot be evaluated on the other side decides nothing.
            Err(error) if !error.recoverable() => Err(SimError::Evaluation {
                time: kept[0],
                phase: Phase::Event,
                error,
            }),
            Ok(None) | Err(_) => {
                self.values.v.copy_from_slice(kept);
                self.mode.driver.forget_factors();
                Ok(self.set_bound(old, None))
            }
        }
    }

    /// One of the functions that made the event and may slide goes back where it came from.
    fn leads_back(&mut self, r: &[f64]) -> Result<bool, SolveError> {
        let system = self.instance.system(&self.values);
        let crossings = system.crossings();
        let t = self.values.time();
        let longest = LOOK_AHEAD_PART * self.options.span();
        let nominal = nominals(&*self.instance, &self.values);
        let n = system.states().len();
        let (mut x, mut dx, mut to) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        gather(system.states(), &self.values, &mut x);
        gather_derivatives(system.states(), &self.values, &mut dx)?;
        let scale = time_scale(&x, &dx, &nominal, longest);
        let general =
            (self.work.causes.iter()).any(|c| crossings[c.index].class == CrossingClass::General);
        let (mut ahead, mut behind) = (r.to_vec(), r.to_vec());
        let kept = self.values.v.clone();
        let mut field = tight(system, &mut self.mode, &mut self.values);
        let mut at = |h: f64, class, r: &mut [f64]| {
            along(&mut to, &x, h, &dx);
            field.go_to(t + h, &to);
            field.crossings(class, r)
        };
        let evaluated = match general {
            false => at(scale, CrossingClass::Affine, &mut ahead),
            true => {
                let h = DIFFERENCE_REL * scale;
                at(-h, CrossingClass::General, &mut behind)
                    .and_then(|()| at(h, CrossingClass::General, &mut ahead))
            }
        };
        self.values.v.copy_from_slice(&kept);
        evaluated?;
        let leads_back =
            |&(i, far): &(usize, f64)| crossings[i].slides && far * (ahead[i] - behind[i]) <= 0.0;
        Ok(self.work.far_sides.iter().any(leads_back))
    }

    /// The binding at the point in the values, where the model's functions are `r`. `left`: surfaces of the old one from which the motion has just got free,
    /// with the side to which it goes.
    fn choose(
        &mut self,
        old: Option<&Constrained>,
        r: &[f64],
        left: &[(usize, f64)],
    ) -> Result<Option<Constrained>, SolveError> {
        let system = self.instance.system(&self.values);
        let crossings = system.crossings();
        let nominal = nominals(&*self.instance, &self.values);
        let longest = LOOK_AHEAD_PART * self.options.span();
        let n = system.states().len();
        let mut x = vec![0.0; n];
        gather(system.states(), &self.values, &mut x);
        let slid: &[Surface] = old
            .and_then(|o| o.sliding.as_ref())
            .map_or(&[], |s| s.surfaces());
        let drift = STILL_ZERO * self.tolerances.negligible().max(STILL_ZERO_LEAST);
        let was_slid = |i: usize| slid.iter().any(|s| s.members().any(|k| k == i));
        let still = |i: usize| r[i].abs() <= drift * crossings[i].nominal.abs().max(1.0);
        let located = |i: usize| {
            (self.work.causes.iter().filter(|c| c.index == i)).any(|c| {
                let jump = (c.value_right - c.value_left).abs();
                let continuous = (ROUND_OFF_PART * self.work.isolation.scale[i])
                    .max(self.work.isolation.band[i]);
                let largest = c.value_left.abs().max(c.value_right.abs());
                jump <= continuous
                    && r[i].abs() <= LOCATED_BAND * largest + self.work.isolation.band[i]
            })
        };
        let functions: Vec<usize> = (0..r.len())
            .filter(|&i| crossings[i].slides)
            .filter(|&i| match was_slid(i) {
                true => still(i),
                false => located(i) || r[i].abs() <= self.work.isolation.band[i],
            })
            .collect();
        let rules = self.mode.rules.clone();
        let setting = Setting {
            rules: &rules[..r.len()],
            nominal: &nominal,
            longest,
        };
        let mut new = Constrained {
            states: state_slots(system),
            nominal: nominal.clone(),
            longest,
            ..Constrained::default()
        };
        if !functions.is_empty() {
            if let Some(sliding) = old.and_then(|o| o.sliding.as_ref())
                && functions.iter().any(|&i| was_slid(i))
            {
                sliding.hold(&mut self.values);
            }
            let mut field = tight(system, &mut self.mode, &mut self.values);
            let found = surfaces(&mut field, &functions, &x, &nominal)?;
            let stands = |surface: &Surface| {
                let gone = left
                    .iter()
                    .find(|(i, _)| surface.members().any(|k| k == *i));
                let gone = gone.map(|&(i, side)| Standing::Left(side * surface.sign_of(i)));
                gone.unwrap_or_else(|| match surface.side(system, setting.rules, field.values) {
                    _ if surface.members().any(was_slid) => Standing::Slides,
                    Some(side) => Standing::Side(side),
                    None => Standing::Slides,
                })
            };
            let mut standings: Vec<Standing> = found.iter().map(stands).collect();
            let free_before = standings.iter().all(|s| matches!(s, Standing::Side(_)));
            let kept = field.values.v.clone();
            new.sliding = decide(&mut field, &found, &mut standings, setting)?;
            if new.sliding.is_none() {
                // A search that ended without sliding may have left another point; only the sides stay.
                field.values.v.copy_from_slice(&kept);
                for (surface, standing) in found.iter().zip(&standings) {
                    if let Standing::Side(side) | Standing::Left(side) = *standing {
                        surface.take_side(side, system, setting.rules, field.values);
                    }
                }
            }
            if new.sliding.is_none() && free_before && old.is_none() {
                return Ok(None);
            }
        }
        if let Some(old) = old
            && !old.rests.all.is_empty()
        {
            let may_move = !self.work.step.reinitialised.is_empty();
            new.rests = self.rests_that_stay(&old.rests, &mut new, r, may_move)?;
        }
        Ok(Some(new))
    }

    /// After another mode was entered: what the motion was bound to in the mode that was left, in terms of this one.
    ///
    /// A contact is known by its relation, and its direction by the slots of the states. One whose gap and rate are still zero stays closed, unless what it
    /// pushes is no state any more: then the mode says how it moves. Sliding is decided anew from the functions that are zero.
    pub(super) fn bind_after_mode(&mut self) -> Result<(), SimError> {
        let Some(old) = self.left.take() else {
            return Ok(());
        };
        let system = self.instance.system(&self.values);
        let mut r = vec![0.0; system.crossings().len()];
        let known = after_event(system, &mut self.values, &mut r).map_err(SolveError::from);
        let kept = self.values.v.clone();
        // They are numbers of functions of the mode that was left.
        let causes = std::mem::take(&mut self.work.causes);
        let chosen = known.and_then(|()| self.carried_over(&old, &r));
        self.work.causes = causes;
        self.decided(None, chosen, &kept)?;
        if self.constrained.is_some() {
            self.right_limits()?;
            self.row(RowKind::AfterEvent);
        }
        Ok(())
    }

    fn carried_over(
        &mut self,
        old: &Constrained,
        r: &[f64],
    ) -> Result<Option<Constrained>, SolveError> {
        let mut new = match old.sliding {
            Some(_) => self.choose(None, r, &[])?.unwrap_or_default(),
            None => Constrained::default(),
        };
        let system = self.instance.system(&self.values);
        new.states = state_slots(system);
        new.nominal = nominals(&*self.instance, &self.values);
        new.longest = old.longest;
        let (nominal, rules) = (new.nominal.clone(), self.mode.rules.clone());
        let setting = Setting {
            rules: &rules,
            nominal: &nominal,
            longest: new.longest,
        };
        let mut x = vec![0.0; system.states().len()];
        gather(system.states(), &self.values, &mut x);
        let mut field = tight(system, &mut self.mode, &mut self.values);
        let mut rests = Rests::default();
        for rest in &old.rests.all {
            let of_relation =
                |c: &saltus_model::CrossingInfo| c.relation == rest.relation && !c.slides;
            let Some(i) = system.crossings().iter().position(of_relation) else {
                continue;
            };
            let direction: Vec<f64> = (new.states.iter())
                .map(|slot| {
                    let k = old.states.iter().position(|s| s == slot);
                    k.map_or(0.0, |k| rest.direction[k])
                })
                .collect();
            let surface = surfaces(&mut field, &[i], &x, &nominal)?.pop();
            let Some(rest) =
                surface.and_then(|s| Rest::new(s, rest.relation, rest.side, direction))
            else {
                continue;
            };
            if let Some((with, _)) = rests.with(&mut field, &mut new.sliding, rest, setting)? {
                rests = with;
            }
        }
        new.rests = self.rests_that_stay(&rests, &mut new, r, true)?;
        Ok(Some(new))
    }

    /// Of the rests those whose gaps and rates are zero after the event, and that nothing opens. `may_move`: the event may have changed their rates.
    fn rests_that_stay(
        &mut self,
        old: &Rests,
        new: &mut Constrained,
        r: &[f64],
        may_move: bool,
    ) -> Result<Rests, SolveError> {
        let system = self.instance.system(&self.values);
        let mut rests = old.clone();
        let rules = self.mode.rules.clone();
        let nominal = new.nominal.clone();
        let setting = Setting {
            rules: &rules,
            nominal: &nominal,
            longest: new.longest,
        };
        let mut x = vec![0.0; system.states().len()];
        gather(system.states(), &self.values, &mut x);
        let still = STILL_ZERO * self.tolerances.negligible().max(STILL_ZERO_LEAST);
        (rests.all).retain(|rest| r[rest.crossing()].abs() <= still * rest.surface.size(&x));
        let mut field = tight(system, &mut self.mode, &mut self.values);
        if may_move && !rests.all.is_empty() {
            let rates = rests
                .rates_here(&mut field, &mut new.sliding, setting)?
                .to_vec();
            let mut rates = rates.iter();
            rests.all.retain(|rest| {
                let speed = (self.work.contacts.find(rest.relation)).map_or(0.0, |c| c.speed);
                let round_off = rest.rate_round_off(&x, &nominal);
                let slow = slow(speed, self.tolerances).max(round_off);
                rates.next().is_some_and(|rate| rate.abs() <= slow)
            });
        }
        rests.let_go(&mut field, &mut new.sliding, setting)?;
        if !rests.all.is_empty() {
            rests.correct_fully(&mut field, &mut new.sliding, setting)?;
            rests.find_quiet(&mut field, &mut new.sliding, setting, self.tolerances)?;
        }
        Ok(rests)
    }

    /// Goes over to another binding; true if it is another one.
    pub(super) fn set_bound(
        &mut self,
        old: Option<Box<Constrained>>,
        new: Option<Box<Constrained>>,
    ) -> bool {
        let mut new = new.filter(|c| !c.is_empty());
        let what = |c: &Option<Box<Constrained>>| -> Vec<usize> {
            c.iter().flat_map(|c| c.bound()).collect()
        };
        let (bound, was_bound) = (what(&new), what(&old));
        let n_more = new.as_ref().map_or(0, |c| c.n_more());
        let n_old = old.as_ref().map_or(0, |c| c.listed);
        if let Some(new) = &mut new {
            new.listed = n_more;
        }
        if n_more != n_old {
            let work = &mut self.work;
            let n = work.truth.len() - n_old;
            let lists = [&mut work.r, &mut work.at_zero];
            with_more(
                n,
                n_more,
                &mut self.mode,
                &mut work.isolation,
                &mut work.truth,
                lists,
            );
        }
        let slides = |c: &Option<Box<Constrained>>| c.as_ref().is_some_and(|c| c.sliding.is_some());
        let changed = bound != was_bound;
        self.summary.statistics.sliding_segments += u64::from(changed && slides(&new));
        if new.is_some() != old.is_some() {
            self.renew_integrator();
        }
        self.constrained = new;
        changed
    }

    /// A matrix of the free motion has another pattern.
    fn renew_integrator(&mut self) {
        let system = self.instance.system(&self.values);
        let patterned = system.state_pattern().is_some() || system.dae_form().is_some();
        if !patterned || self.options.solver.is_explicit() {
            return;
        }
        self.absorb_integrator_statistics();
        (self.work).renew_integrator(
            &*self.instance,
            &self.options,
            self.tolerances,
            &self.values,
        );
        self.rejected_seen = 0;
    }

    /// The run ends: what the next one uses again has the size of the model.
    pub(super) fn unbind(&mut self) {
        if let Some(old) = self.constrained.take() {
            self.set_bound(Some(old), None);
        }
    }

    /// What relations hold from here on and the functions of a bound motion, whose values have just been computed.
    pub(super) fn read_bound_truth(&mut self) -> Result<(), SimError> {
        let time = self.values.time();
        let Some(constrained) = &self.constrained else {
            return Ok(());
        };
        let system = self.instance.system(&self.values);
        // An event that tried other modes may have made the rules of this one anew.
        self.mode.rules.resize(self.work.truth.len(), STAYS);
        let mut field = Field {
            system,
            driver: &mut self.mode.driver,
            values: &mut self.values,
            accuracy: Accuracy::Tight,
            guess: Guess::Current,
        };
        let (rules, truth) = (&self.mode.rules, &self.work.truth);
        (constrained.functions(&mut field, rules, truth, &mut self.work.r)).map_err(|error| {
            SimError::Evaluation {
                time,
                phase: Phase::Event,
                error,
            }
        })?;
        self.work.isolation.restart(time, &self.work.r);
        self.work.at_zero.fill(0.0);
        Ok(())
    }

    pub(super) fn find_bound_event(
        &mut self,
        from: f64,
        to: f64,
    ) -> Result<Option<Located>, SimError> {
        let Some(constrained) = &mut self.constrained else {
            return Ok(None);
        };
        let mut functions = ConstrainedCrossings {
            field: Field {
                system: self.instance.system(&self.values),
                driver: &mut self.mode.driver,
                values: &mut self.values,
                accuracy: Accuracy::Tight,
                guess: Guess::Accepted,
            },
            constrained,
            integrator: &self.work.integrator,
            x: &mut self.work.x,
            rules: &self.mode.rules,
            truth: &self.work.truth,
        };
        let functions: &mut dyn CrossingFunctions = &mut functions;
        let (rules, truth) = (&self.mode.rules, &self.work.truth);
        let found = first_crossing(functions, &mut self.work.isolation, rules, truth, from, to);
        let found = found.map_err(|error| SimError::Evaluation {
            time: from,
            phase: Phase::Continuous,
            error,
        })?;
        self.values.actions.messages.clear();
        if found.is_some() {
            self.work.isolation.forget();
        } else {
            self.check_contacts(to)?;
        }
        Ok(found)
    }

    /// The functions of a bound motion on the interpolant of the last step.
    pub(super) fn bound_functions_at(&mut self, t: f64) -> Result<(), SolveError> {
        let Some(constrained) = &mut self.constrained else {
            return Ok(());
        };
        let mut functions = ConstrainedCrossings {
            field: Field {
                system: self.instance.system(&self.values),
                driver: &mut self.mode.driver,
                values: &mut self.values,
                accuracy: Accuracy::Tight,
                guess: Guess::Accepted,
            },
            constrained,
            integrator: &self.work.integrator,
            x: &mut self.work.x,
            rules: &self.mode.rules,
            truth: &self.work.truth,
        };
        functions.evaluate(t, &mut self.work.r)
    }

    /// An event of a bound motion: of the model's relations, or what ends the binding.
    pub(super) fn bound_occasion(&self, mut located: Located) -> Occasion {
        let n = self.instance.system(&self.values).crossings().len();
        if located.changed.iter().any(|change| change.index < n) {
            // The decision after the event sees to the binding.
            located.changed.retain(|change| change.index < n);
            return Occasion::State { located };
        }
        Occasion::Release { located }
    }

    /// The motion gets free of a surface or a rest.
    pub(super) fn release(&mut self, located: Located) -> Result<State, SimError> {
        let (t_left, t) = (located.t_left, located.t_right);
        self.past_points(t)?;
        self.event_limits(t_left, t)?;
        self.instance
            .completed_step(&mut self.values, StepPoint::End);
        self.grid.skip_through(t);
        self.row(RowKind::BeforeEvent);
        self.work.before.clone_from(&self.values.v);
        self.work.causes.clear();
        self.work.step.clear();

        let Some(mut old) = self.constrained.take() else {
            return Ok(State::Continuous);
        };
        let system = self.instance.system(&self.values);
        let n = system.crossings().len();
        let released: Vec<Release> = (located.changed.iter())
            .map(|change| old.release(change.index - n))
            .collect();
        let (mut left, mut kind) = (Vec::new(), EventKind::Zeno);
        for (release, change) in released.iter().zip(&located.changed) {
            let i = match *release {
                Release::Surface { number, side } => {
                    let surfaces = old.sliding.as_ref().map_or(&[][..], |s| s.surfaces());
                    let lead = surfaces[number].lead();
                    left.push((lead, side));
                    kind = EventKind::Sliding;
                    lead
                }
                Release::Rest { number } => old.rests.all[number].crossing(),
            };
            if self.recorder.wants_events() {
                let change = Change {
                    index: i,
                    ..*change
                };
                self.work
                    .causes_logged
                    .push(cause(system.crossings(), &change));
            }
        }
        let mut gone: Vec<usize> = (released.iter())
            .filter_map(|release| match release {
                Release::Rest { number } => Some(*number),
                Release::Surface { .. } => None,
            })
            .collect();
        gone.sort_unstable();
        let chosen = self.after_release(&mut old, &gone, &left);
        let kept = self.values.v.clone();
        // The values hold the sides of a choice that ended free; they must not be taken back.
        self.decided(Some(old), chosen, &kept)?;
        self.mode.driver.forget_factors();
        self.right_limits()?;
        self.row(RowKind::AfterEvent);
        self.cursor = t;
        self.last_event = t;
        let statistics = &mut self.summary.statistics;
        statistics.restarts += 1;
        statistics.events_state += 1;
        self.record_bound(t, kind, "release");
        (self.work.watch).event(
            t,
            &[],
            &[],
            |_| false,
            || {
                (located.changed.iter())
                    .filter_map(|change| {
                        self.instance
                            .system(&self.values)
                            .crossings()
                            .get(change.index)
                    })
                    .map(|c| (c.relation, c.site))
                    .collect()
            },
        )?;
        self.restart_free(&left)?;
        self.schedule_time_event()?;
        self.begin_segment(Discontinuity::Dynamics)?;
        Ok(State::Continuous)
    }

    fn after_release(
        &mut self,
        old: &mut Constrained,
        gone: &[usize],
        left: &[(usize, f64)],
    ) -> Result<Option<Constrained>, SolveError> {
        let system = self.instance.system(&self.values);
        let rules = self.mode.rules.clone();
        let mut field = tight(system, &mut self.mode, &mut self.values);
        if let Some(sliding) = &mut old.sliding {
            sliding.correct_fully(&mut field)?;
        }
        if !gone.is_empty() {
            let setting = Setting {
                rules: &rules,
                nominal: &old.nominal,
                longest: old.longest,
            };
            (old.rests).correct_fully(&mut field, &mut old.sliding, setting)?;
        }
        for &number in gone.iter().rev() {
            old.rests.all.remove(number);
        }
        let mut r = vec![0.0; system.crossings().len()];
        field.crossings(CrossingClass::General, &mut r)?;
        self.choose(Some(old), &r, left)
    }

    /// Functions from which the motion has got free are zero but for round-off.
    fn restart_free(&mut self, left: &[(usize, f64)]) -> Result<(), SimError> {
        let time = self.values.time();
        self.truth_time = time;
        let system = self.instance.system(&self.values);
        for (truth, crossing) in self.work.truth.iter_mut().zip(system.crossings()) {
            *truth = self.values.get(crossing.relation) != 0.0;
        }
        if self.constrained.is_some() {
            self.read_bound_truth()?;
        } else {
            let evaluated = system.eval_crossings(&mut self.values, &mut self.work.r);
            evaluated.map_err(|fault| super::output_fault(time, fault))?;
            self.work.isolation.restart(time, &self.work.r);
        }
        for &(i, _) in left {
            let r = self.work.r[i];
            let band = (LOCATED_BAND * r.abs()).max(self.work.isolation.band[i]);
            self.work.isolation.restart_within(i, r, band);
        }
        for (i, at_zero) in self.work.at_zero.iter_mut().enumerate() {
            *at_zero = self.work.isolation.bands_at_restart()[i];
        }
        Ok(())
    }

    /// At the end of a step of a bound motion.
    pub(super) fn keep_bound(&mut self) -> Result<(), SimError> {
        let time = self.values.time();
        let failed = |error| SimError::Evaluation {
            time,
            phase: Phase::Continuous,
            error,
        };
        if self.reselect_states()? {
            let old = self.constrained.take();
            let system = self.instance.system(&self.values);
            let mut r = vec![0.0; system.crossings().len()];
            let evaluated = system.eval_crossings(&mut self.values, &mut r);
            evaluated.map_err(|fault| failed(fault.into()))?;
            self.work.causes.clear();
            let chosen = self.choose(old.as_deref(), &r, &[]);
            let kept = self.values.v.clone();
            self.decided(old, chosen, &kept)?;
            self.evaluate_point(Accuracy::Tight, Guess::Current, Phase::Continuous)?;
            self.accept_point();
            self.restart_free(&[])?;
            return self.begin_segment(Discontinuity::Dynamics);
        }
        let Some(constrained) = &mut self.constrained else {
            return Ok(());
        };
        let system = self.instance.system(&self.values);
        let mut field = Field {
            system,
            driver: &mut self.mode.driver,
            values: &mut self.values,
            accuracy: Accuracy::Tight,
            guess: Guess::Accepted,
        };
        let kept = field.values.v.clone();
        let moved = constrained.correct(&mut field, &self.mode.rules, self.tolerances);
        if !moved.map_err(failed)? {
            self.values.v.copy_from_slice(&kept);
            return Ok(());
        }
        self.evaluate_point(Accuracy::Tight, Guess::Accepted, Phase::Continuous)?;
        self.accept_point();
        self.work.isolation.forget();
        self.begin_segment(Discontinuity::States)
    }

    /// A record of what binds the motion: states and relations that differ from the left limits.
    pub(super) fn record_bound(&mut self, time: f64, kind: EventKind, method: &'static str) {
        let causes: Vec<Cause> = std::mem::take(&mut self.work.causes_logged);
        if !self.recorder.wants_events() {
            return;
        }
        let system = self.instance.system(&self.values);
        let slots = (system.discrete_slots().iter().copied())
            .chain(system.states().iter().map(|s| s.value));
        let changed = slots
            .map(|slot| ChangedValue {
                slot,
                before: self.work.before[slot.index()],
                after: self.values.get(slot),
            })
            .filter(|change| change.before != change.after)
            .collect();
        let evaluations = self.work.isolation.evaluations - self.evaluations_seen;
        self.evaluations_seen = self.work.isolation.evaluations;
        self.recorder.event(&EventRecord {
            time,
            kind,
            method,
            causes,
            changed,
            impulses: Vec::new(),
            iterations: 0,
            evaluations,
            restarted: true,
            mode: self.mode.number,
        });
    }
}

/// The slots of the states.
pub(super) fn state_slots<S: System + ?Sized>(system: &S) -> Vec<Slot> {
    system.states().iter().map(|state| state.value).collect()
}

/// Nominal values of the states.
pub(super) fn nominals<I: Instance>(instance: &I, values: &Values) -> Vec<f64> {
    let slots = &instance.info().slots;
    (instance.system(values).states().iter())
        .map(|state| saltus_solve::scale::nominal_magnitude(slots[state.value.index()].nominal))
        .collect()
}
