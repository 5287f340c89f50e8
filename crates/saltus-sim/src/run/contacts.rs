//! Contacts in a run: their impacts are looked at after the event step, and those whose remaining impacts are not resolved close.
//!
//! ```text
//! after an event that reset states, for each function that made it
//!     v⁻, v⁺: its rate at the left and right limits; an impact if it turns back
//!     unresolved (crate::contact) → it joins those at rest, with the direction in which its reset pushed
//!     again until none joins: a ball rests on a ball that rests
//! those that open at once are let go (crate::zeno), states go exactly to the gaps, the event goes on with all relations on their free sides
//! before an event of a motion at rest
//!     states go exactly to the gaps, so that no relation changes by round-off
//! at the end of a step
//!     a contact that an impact left on its far side, and that is deeper there than round-off, is lost
//! ```

use super::bind::{LOOK_AHEAD_PART, nominals, state_slots, tight};
use super::{Run, cause};
use crate::constrained::Constrained;
use crate::contact::{Impact, slow};
use crate::error::{Phase, SimError};
use crate::event_step::TimeFlags;
use crate::field::{DIFFERENCE_REL, Field, PLACES, along, time_scale};
use crate::options::Zeno;
use crate::point::gather;
use crate::record::{EventKind, Recorder, RowKind};
use crate::sliding::Setting;
use crate::surface::{RateRoom, Surface, rates, surfaces};
use crate::zeno::{Rest, Rests};
use saltus_model::{CrossingClass, CrossingInfo, Instance, ScheduleKind, Slot, StateSlots, System};
use saltus_solve::scale::EPS;
use saltus_solve::{Accuracy, Guess, SolveError};
use std::ops::DerefMut;

/// A rate just after an impact that still approaches by no more than this part of the one before, or this many units of its round-off, is zero.
const TURNED_REL: f64 = 1e-6;
const TURNED_ULPS: f64 = 64.0;
/// An impact is looked at if a guess of its height is within this factor of what is not resolved.
const LOOK_FACTOR: f64 = 1e4;
/// A contact is on its far side by round-off within so many bands, or units of round-off of the largest state.
const AGAIN_BANDS: f64 = 64.0;
const AGAIN_ULPS: f64 = 1e3;
/// The share of a state in a reset that does not move the rate is steady if it is the same as in the impact before to this part.
const STEADY_REL: f64 = 1e-3;
/// Passes over the contacts of an event that may close.
const PASSES_MAX: usize = 64;

/// A function that the present event has met at zero.
struct Met {
    function: usize,
    /// The sign of the function on its far side.
    far: f64,
    /// It is one of those that made the event.
    made_event: bool,
    approach: f64,
    leave: f64,
}

/// What an impact of the present event may lead to.
struct Candidate {
    function: usize,
    relation: Slot,
    side: f64,
    approach: f64,
    leave: f64,
    direction: Vec<f64>,
    round_off: f64,
    is_spent: bool,
}

impl<I: Instance, P: DerefMut<Target = I>, R: Recorder> Run<P, R> {
    /// Before the event step of a motion at rest.
    pub(super) fn place_rests(&mut self) -> Result<(), SimError> {
        let time = self.values.time();
        let Some(constrained) = &mut self.constrained else {
            return Ok(());
        };
        if constrained.rests.all.is_empty() {
            return Ok(());
        }
        let setting = Setting {
            rules: &self.mode.rules.clone(),
            nominal: &constrained.nominal.clone(),
            longest: constrained.longest,
        };
        let system = self.instance.system(&self.values);
        let mut field = tight(system, &mut self.mode, &mut self.values);
        let Constrained { rests, sliding, .. } = &mut **constrained;
        (rests.correct_fully(&mut field, sliding, setting))
            .map(drop)
            .map_err(|error| SimError::evaluation(time, Phase::Event, error))
    }

    /// After an event step that reset states while contacts are at rest: these have been corrected, and the event goes on with what follows from it. True if the
    /// motion is bound anew.
    pub(super) fn go_on_at_rest(&mut self) -> Result<bool, SimError> {
        let mut rebound = false;
        for _ in 0..PASSES_MAX {
            let rests = (self.constrained.as_ref()).is_some_and(|c| !c.rests.all.is_empty());
            if !rests || self.work.step.reinitialised.is_empty() || self.mode_changed() {
                break;
            }
            let states = self.instance.system(&self.values).states().to_vec();
            let (mut from, mut to) = (vec![0.0; states.len()], vec![0.0; states.len()]);
            gather(&states, &self.values, &mut from);
            self.event_step(TimeFlags::Spent)?;
            if self.mode_changed() {
                rebound |= self.bind()?;
                break;
            }
            gather(&states, &self.values, &mut to);
            if from == to {
                break;
            }
            rebound |= self.bind()?;
        }
        Ok(rebound)
    }

    /// After an event step: contacts that close. True if the motion is bound anew.
    #[inline]
    pub(super) fn meet_contacts(&mut self) -> Result<bool, SimError> {
        let reset = !self.work.step.reinitialised.is_empty();
        let none = !self.work.contacts.has_any() && (!reset || self.work.far_sides.is_empty());
        // How fast a function of an inlined variable changes is not in the states.
        if none || !self.options.events || self.inline.is_some() {
            return Ok(false);
        }
        self.meet()
    }

    #[inline(never)]
    fn meet(&mut self) -> Result<bool, SimError> {
        let time = self.values.time();
        let reset = !self.work.step.reinitialised.is_empty();
        let kept = self.values.v.clone();
        let mut closed = None;
        // After a change of mode the number of a cause means another function.
        if reset && !self.mode_changed() {
            closed = match self.closing() {
                Ok(closed) => closed,
                // What cannot be evaluated nearby decides nothing; a contact that is lost by it is reported as such.
                Err(error) if error.recoverable() => None,
                Err(error) => return Err(SimError::evaluation(time, Phase::Event, error)),
            };
            if closed.is_none() {
                self.values.v.copy_from_slice(&kept);
            }
        }
        let bound = match closed {
            Some((new, limit, functions)) => self.close(new, limit, &functions, &kept)?,
            None => false,
        };
        self.watch_contacts()?;
        if reset && self.turn_again()? {
            self.watch_contacts()?;
            return Ok(true);
        }
        Ok(bound)
    }

    /// Notes which contacts are on their free side, and which their when-clause has left on the far one.
    fn watch_contacts(&mut self) -> Result<(), SimError> {
        if !self.work.contacts.has_any() {
            return Ok(());
        }
        let time = self.values.time();
        let system = self.instance.system(&self.values);
        let crossings = system.crossings();
        let mut r = vec![0.0; crossings.len()];
        (system.eval_crossings(&mut self.values, &mut r))
            .map_err(|fault| SimError::evaluation(time, Phase::Event, fault.into()))?;
        let bound: Vec<usize> = (self.constrained.iter())
            .flat_map(|c| c.rests.functions())
            .collect();
        for contact in &mut self.work.contacts.all {
            let Some(i) = (crossings.iter()).position(|c| c.relation == contact.relation) else {
                contact.is_back();
                continue;
            };
            let info = &crossings[i];
            let rule = saltus_solve::SignRule {
                rising: info.rising,
                closed: info.closed,
            };
            let holds = self.values.get(contact.relation) != 0.0;
            let guards = |(slot, value): &(Slot, bool)| (self.values.get(*slot) != 0.0) == *value;
            if holds == rule.holds(contact.side) || bound.contains(&i) {
                contact.is_back();
            } else if info.guards.iter().any(guards) {
                // It has become active, and does not again as long as the function stays here.
                contact.left_beyond(r[i]);
            } else if !info.guards.is_empty() {
                contact.is_back();
            }
        }
        Ok(())
    }

    /// Contacts that are left on their far side by round-off only, and approach again because another impact of the instant came after theirs: they go back to
    /// the free side, so that their when-clauses become active once more. True if states moved.
    fn turn_again(&mut self) -> Result<bool, SimError> {
        let time = self.values.time();
        let failed = |error: SolveError| SimError::evaluation(time, Phase::Event, error);
        if self.work.contacts.all.len() < 2 || self.mode_changed() {
            return Ok(false);
        }
        let nominal = nominals(&*self.instance, &self.values);
        let crossings = self.instance.system(&self.values).crossings();
        let near = |c: &crate::contact::Contact| {
            let i = crossings.iter().position(|k| k.relation == c.relation)?;
            let depth = c.beyond()?;
            let round_off = AGAIN_BANDS * self.work.isolation.band[i];
            (depth <= round_off.max(AGAIN_ULPS * EPS * self.largest_state()))
                .then_some((i, c.side, c.speed))
        };
        let near: Vec<(usize, f64, f64)> = self.work.contacts.all.iter().filter_map(near).collect();
        if near.is_empty() {
            return Ok(false);
        }
        let functions: Vec<usize> = near.iter().map(|n| n.0).collect();
        let rates = match self.gap_rates(&functions, false, &nominal) {
            Ok(rates) => rates,
            Err(error) if error.recoverable() => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        let rules = self.mode.rules.clone();
        let setting = Setting {
            rules: &rules,
            nominal: &nominal,
            longest: LOOK_AHEAD_PART * self.options.span(),
        };
        let mut moved = false;
        for ((i, side, speed), rate) in near.into_iter().zip(rates) {
            if -side * rate <= slow(speed, self.tolerances) {
                continue;
            }
            let system = self.instance.system(&self.values);
            let relation = system.crossings()[i].relation;
            let mut x = vec![0.0; system.states().len()];
            gather(system.states(), &self.values, &mut x);
            let known = self.work.contacts.find(relation);
            let direction: Vec<f64> = (system.states().iter())
                .map(|s| {
                    let of = known.and_then(|c| c.direction.iter().find(|d| d.0 == s.value));
                    of.map_or(0.0, |d| d.1)
                })
                .collect();
            let mut field = tight(system, &mut self.mode, &mut self.values);
            let mut found = surfaces(&mut field, &[i], &x, &nominal).map_err(failed)?;
            let rest = (found.pop()).and_then(|s| Rest::new(s, relation, side, direction));
            let Some(rest) = rest else { continue };
            let with =
                (Rests::default().with(&mut field, &mut None, rest, setting)).map_err(failed)?;
            let Some((mut rests, _)) = with else { continue };
            moved |= (rests.put_on_free_sides(&mut field, &mut None, setting)).map_err(failed)?;
        }
        if moved {
            self.event_step(TimeFlags::Spent)?;
            self.right_limits()?;
        }
        Ok(moved)
    }

    fn largest_state(&self) -> f64 {
        let states = self.instance.system(&self.values).states().iter();
        states.fold(0.0, |m: f64, s| m.max(self.values.get(s.value).abs()))
    }

    /// Rates of functions at the left or right limits of the present event.
    fn gap_rates(
        &mut self,
        functions: &[usize],
        before: bool,
        nominal: &[f64],
    ) -> Result<Vec<f64>, SolveError> {
        let system = self.instance.system(&self.values);
        let states = system.states();
        let kept = self.values.v.clone();
        if before {
            self.values.v.copy_from_slice(&self.work.before);
        }
        let t = self.values.time();
        let x: Vec<f64> = states.iter().map(|s| self.values.get(s.value)).collect();
        let dx: Vec<f64> = (states.iter())
            .map(|s| self.values.get(s.derivative))
            .collect();
        let longest = LOOK_AHEAD_PART * self.options.span();
        let n = system.crossings().len();
        let (mut r, mut to) = (vec![0.0; n], x.clone());
        let mut slopes = vec![0.0; n];
        let mut field = tight(system, &mut self.mode, &mut self.values);
        let mut evaluate = |h: f64, factor: f64, class, slopes: &mut [f64]| {
            along(&mut to, &x, h, &dx);
            field.go_to(t + h, &to);
            field.crossings(class, &mut r)?;
            for (slope, r) in slopes.iter_mut().zip(&r) {
                *slope += factor * r;
            }
            Ok::<(), SolveError>(())
        };
        let affine = CrossingClass::Affine;
        let mut done = evaluate(0.0, -1.0 / longest, affine, &mut slopes)
            .and_then(|()| evaluate(longest, 1.0 / longest, affine, &mut slopes));
        if (functions.iter()).any(|&i| system.crossings()[i].class != affine) {
            let mut general = vec![0.0; n];
            let h = DIFFERENCE_REL * time_scale(&x, &dx, nominal, longest);
            for (place, factor) in PLACES {
                let class = CrossingClass::General;
                done = done.and_then(|()| evaluate(place * h, factor / h, class, &mut general));
            }
            for (i, slope) in slopes.iter_mut().enumerate() {
                if system.crossings()[i].class != affine {
                    *slope = general[i];
                }
            }
        }
        self.values.v.copy_from_slice(&kept);
        done?;
        Ok(functions.iter().map(|&i| slopes[i]).collect())
    }

    /// The motion with the contacts of this event that close, when the first series of impacts would have ended, and the functions; `None` if none does.
    fn closing(&mut self) -> Result<Option<(Constrained, f64, Vec<usize>)>, SolveError> {
        let nominal = nominals(&*self.instance, &self.values);
        let mut candidates = self.candidates(&nominal)?;
        if candidates.is_empty() {
            return Ok(None);
        }
        let system = self.instance.system(&self.values);
        let (t, span) = (self.values.time(), self.options.span());
        let longest = LOOK_AHEAD_PART * span;
        let rules = self.mode.rules.clone();
        let setting = Setting {
            rules: &rules,
            nominal: &nominal,
            longest,
        };
        let mut x = vec![0.0; system.states().len()];
        gather(system.states(), &self.values, &mut x);
        let old = self.constrained.as_deref();
        let mut sliding = old.and_then(|o| o.sliding.clone());
        let mut rests = old.map_or(Rests::default(), |o| o.rests.clone());
        let mut field = tight(system, &mut self.mode, &mut self.values);
        let (mut limit, mut closed) = (f64::INFINITY, Vec::new());
        for _ in 0..PASSES_MAX {
            let mut joined = false;
            let mut later = Vec::new();
            for candidate in candidates {
                let i = candidate.function;
                let Some(surface) = surfaces(&mut field, &[i], &x, &nominal)?.pop() else {
                    continue;
                };
                let round_off = candidate.round_off.max(surface.round_off(&x, t));
                let direction = candidate.direction.clone();
                let Some(rest) = Rest::new(surface, candidate.relation, candidate.side, direction)
                else {
                    continue;
                };
                let sizes = (rest.direction.iter().zip(&x).zip(&nominal))
                    .filter(|((d, _), _)| **d != 0.0)
                    .map(|((_, x), nominal)| x.abs() + nominal);
                let size = sizes.fold(0.0, f64::max);
                let Some((with, answers)) = rests.with(&mut field, &mut sliding, rest, setting)?
                else {
                    continue;
                };
                let m = with.all.len();
                let Some(opening) = answers.of_last() else {
                    continue;
                };
                let impact = Impact {
                    approach: candidate.approach,
                    leave: candidate.leave,
                    acceleration: -opening,
                    round_off,
                    band: self.work.isolation.band[i],
                    speed_size: answers.matrix[m * m - 1].abs() * size,
                    is_spent: candidate.is_spent,
                };
                let contact = self.work.contacts.meet(candidate.relation, candidate.side);
                contact.acceleration = impact.acceleration;
                if impact.is_unresolved(contact.speed, self.tolerances, (t, span)) {
                    limit = limit.min(impact.duration());
                    closed.push(i);
                    rests = with;
                    joined = true;
                } else {
                    later.push(candidate);
                }
            }
            candidates = later;
            if !joined || candidates.is_empty() {
                break;
            }
        }
        if closed.is_empty() {
            return Ok(None);
        }
        rests.let_go(&mut field, &mut sliding, setting)?;
        closed.retain(|i| rests.all.iter().any(|rest| rest.crossing() == *i));
        if closed.is_empty() {
            return Ok(None);
        }
        rests.take_free_sides(&mut field, setting.rules);
        rests.correct_fully(&mut field, &mut sliding, setting)?;
        rests.find_quiet(&mut field, &mut sliding, setting, self.tolerances)?;
        rests.correct_fully(&mut field, &mut sliding, setting)?;
        // Round-off may make a ratio of speeds that is no restitution.
        let limit = if limit <= longest { t + limit } else { t };
        let new = Constrained {
            sliding,
            rests,
            states: state_slots(system),
            nominal: nominal.clone(),
            longest,
            listed: 0,
        };
        Ok(Some((new, limit, closed)))
    }

    /// The contacts that this event may close: functions that made it and turned back, and known contacts whose gap is zero but for round-off.
    fn candidates(&mut self, nominal: &[f64]) -> Result<Vec<Candidate>, SolveError> {
        let largest_state = self.largest_state();
        let system = self.instance.system(&self.values);
        let crossings = system.crossings();
        let mut r = vec![0.0; crossings.len()];
        system.eval_crossings(&mut self.values, &mut r)?;
        let held: Vec<usize> = (self.constrained.iter())
            .flat_map(|c| c.rests.functions())
            .collect();
        let mut found: Vec<Met> = (self.work.far_sides.iter())
            .filter(|(i, _)| !crossings[*i].slides)
            .map(|&(function, far)| Met {
                function,
                far,
                made_event: true,
                approach: 0.0,
                leave: 0.0,
            })
            .collect();
        let n_made = found.len();
        for contact in &self.work.contacts.all {
            let relation = |c: &saltus_model::CrossingInfo| c.relation == contact.relation;
            let Some(function) = crossings.iter().position(relation) else {
                continue;
            };
            let round_off = (AGAIN_BANDS * self.work.isolation.band[function])
                .max(AGAIN_ULPS * EPS * largest_state);
            let is_new = found[..n_made].iter().all(|met| met.function != function);
            if is_new && r[function].abs() <= round_off && !held.contains(&function) {
                found.push(Met {
                    function,
                    far: -contact.side,
                    made_event: false,
                    approach: 0.0,
                    leave: 0.0,
                });
            }
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let functions: Vec<usize> = found.iter().map(|met| met.function).collect();
        let before = self.gap_rates(&functions, true, nominal)?;
        let after = self.gap_rates(&functions, false, nominal)?;
        for (k, met) in found.iter_mut().enumerate() {
            (met.approach, met.leave) = (met.far * before[k], -met.far * after[k]);
        }
        let system = self.instance.system(&self.values);
        let (crossings, states) = (system.crossings(), system.states());
        let fastest = |m: f64, s: &StateSlots| {
            let (now, then) = (s.derivative, self.work.before[s.derivative.index()]);
            m.max(self.values.get(now).abs()).max(then.abs())
        };
        let fastest = states.iter().fold(0.0, fastest);
        let several = found.len() > 1;
        let mut turned = Vec::new();
        for met in found {
            let (approach, leave) = (met.approach, met.leave);
            let info = &crossings[met.function];
            if !met.made_event {
                let contact = self.work.contacts.meet(info.relation, -met.far);
                let slow = slow(contact.speed, self.tolerances);
                if leave >= -slow && leave <= LOOK_FACTOR * slow {
                    turned.push(met);
                }
                continue;
            }
            let zero = TURNED_REL * approach + TURNED_ULPS * EPS * fastest;
            if approach > 0.0 && leave > -zero && leave > -approach {
                let contact = self.work.contacts.meet(info.relation, -met.far);
                contact.speed = contact.speed.max(approach);
                contact.is_back();
                contact.left_beyond(r[met.function]);
                let band = self.work.isolation.band[met.function];
                let guess = LOOK_FACTOR * (EPS * largest_state + band);
                let is_near = leave <= LOOK_FACTOR * slow(contact.speed, self.tolerances)
                    || contact.acceleration <= 0.0
                    || leave * leave <= 2.0 * contact.acceleration * guess;
                if is_near || contact.direction.is_empty() {
                    turned.push(met);
                }
            } else {
                // It has passed.
                let of = |c: &&mut crate::contact::Contact| c.relation == info.relation;
                if let Some(contact) = self.work.contacts.all.iter_mut().find(of) {
                    contact.is_back();
                }
            }
        }
        let mut candidates = Vec::new();
        for met in turned {
            let direction = self.direction(&met, several, nominal)?;
            let jump = (self.work.causes.iter())
                .find(|c| c.index == met.function)
                .map_or(0.0, |c| (c.value_right - c.value_left).abs());
            let info = &self.instance.system(&self.values).crossings()[met.function];
            candidates.push(Candidate {
                function: met.function,
                relation: info.relation,
                is_spent: self.is_spent(info),
                side: -met.far,
                approach: met.approach.max(met.leave.abs()),
                leave: met.leave,
                direction,
                round_off: jump,
            });
        }
        Ok(candidates)
    }

    /// In which a contact pushes: what its impact has reset, or is known from an impact before where several contacts take part in this event.
    fn direction(
        &mut self,
        met: &Met,
        several: bool,
        nominal: &[f64],
    ) -> Result<Vec<f64>, SolveError> {
        let system = self.instance.system(&self.values);
        let info = &system.crossings()[met.function];
        let (relation, resets) = (info.relation, info.resets.clone());
        let slots: Vec<Slot> = system.states().iter().map(|s| s.value).collect();
        let known: Vec<f64> = {
            let contact = self.work.contacts.meet(relation, -met.far);
            let of = |slot: &Slot| contact.direction.iter().find(|d| d.0 == *slot);
            slots.iter().map(|s| of(s).map_or(0.0, |d| d.1)).collect()
        };
        let is_known = known.iter().any(|d| *d != 0.0);
        let reset: Vec<f64> = (slots.iter())
            .map(|slot| {
                let own = resets.is_empty() || resets.contains(slot);
                match own && self.work.step.reinitialised.contains(slot) {
                    true => self.values.get(*slot) - self.work.before[slot.index()],
                    false => 0.0,
                }
            })
            .collect();
        let learn = met.made_event && !(several && is_known) && reset.iter().any(|d| *d != 0.0);
        let (whole, before) = match learn {
            true => (reset, known),
            false => (known.clone(), known),
        };
        let mut direction = whole.clone();
        self.keep_own(met.function, &mut direction, nominal)?;
        // A part of the reset that does not move the rate: friction is proportional to it, a counter is not.
        let largest = |&a: &usize, &b: &usize| direction[a].abs().total_cmp(&direction[b].abs());
        if let Some(main) = (0..whole.len()).max_by(largest)
            && learn
            && !several
        {
            let steady: Vec<usize> = (0..whole.len())
                .filter(|&k| {
                    let (now, then) = (whole[k] * before[main], before[k] * whole[main]);
                    direction[k] == 0.0 && (now - then).abs() <= STEADY_REL * now.abs()
                })
                .collect();
            steady.into_iter().for_each(|k| direction[k] = whole[k]);
        }
        if learn && direction.iter().any(|d| *d != 0.0) {
            let contact = self.work.contacts.meet(relation, -met.far);
            let parts = slots.into_iter().zip(whole);
            contact.direction = parts.filter(|(_, d)| *d != 0.0).collect();
        }
        Ok(direction)
    }

    /// Of what several impacts at an instant reset, what moves the rate of one function.
    fn keep_own(
        &mut self,
        function: usize,
        direction: &mut [f64],
        nominal: &[f64],
    ) -> Result<(), SolveError> {
        let system = self.instance.system(&self.values);
        let t = self.values.time();
        let n = system.states().len();
        let (mut x, mut dx) = (vec![0.0; n], vec![0.0; n]);
        gather(system.states(), &self.values, &mut x);
        let kept = self.values.v.clone();
        let longest = LOOK_AHEAD_PART * self.options.span();
        let mut field = tight(system, &mut self.mode, &mut self.values);
        let surface: Vec<Surface> = surfaces(&mut field, &[function], &x, nominal)?;
        let mut room = RateRoom::default();
        let mut at = |field: &mut Field<'_>, x: &[f64]| {
            field.go_to(t, x);
            field.run(&[ScheduleKind::Derivatives])?;
            field.gather_derivatives(&mut dx)?;
            let delta = DIFFERENCE_REL * time_scale(x, &dx, nominal, longest);
            let mut out = [0.0];
            rates(field, &surface, (t, x, &dx), delta, &mut room, &mut out)?;
            Ok::<f64, SolveError>(out[0])
        };
        let (mut largest, mut effects) = (0.0f64, vec![0.0; n]);
        for k in (0..n).filter(|&k| direction[k] != 0.0) {
            let h = DIFFERENCE_REL * (x[k].abs() + nominal[k]);
            let mut to = x.clone();
            to[k] = x[k] + h;
            let up = at(&mut field, &to)?;
            to[k] = x[k] - h;
            effects[k] = (up - at(&mut field, &to)?) / (2.0 * h) * (x[k].abs() + nominal[k]);
            largest = largest.max(effects[k].abs());
        }
        for (d, effect) in direction.iter_mut().zip(&effects) {
            if effect.abs() <= TURNED_REL * largest {
                *d = 0.0;
            }
        }
        self.values.v.copy_from_slice(&kept);
        Ok(())
    }

    /// Goes over to the motion in which contacts are closed; its states are in the values.
    fn close(
        &mut self,
        new: Constrained,
        limit: f64,
        functions: &[usize],
        kept: &[f64],
    ) -> Result<bool, SimError> {
        if self.options.zeno == Zeno::Stop {
            let info = &self.instance.system(&self.values).crossings()[functions[0]];
            return Err(SimError::Zeno {
                time: kept[0],
                limit,
                relation: info.relation,
                site: info.site,
            });
        }
        // What depends on the relations follows them to their free sides.
        let resets = self.work.step.reinitialised.len();
        self.event_step(TimeFlags::Spent)?;
        let old = self.constrained.take();
        if self.mode_changed() {
            self.left = Some(Box::new(new));
            self.right_limits()?;
            return Ok(true);
        }
        if self.work.step.reinitialised.len() != resets {
            self.set_bound(old, None);
            self.right_limits()?;
            return Ok(true);
        }
        self.set_bound(old, Some(Box::new(new)));
        for &i in functions {
            self.work.watch.rested(i);
        }
        for contact in &mut self.work.contacts.all {
            let system = self.instance.system(&self.values);
            let closes = |&i: &usize| system.crossings()[i].relation == contact.relation;
            if functions.iter().any(closes) {
                contact.is_back();
            }
        }
        self.work.before.copy_from_slice(kept);
        self.right_limits()?;
        self.row(RowKind::AfterEvent);
        self.summary.statistics.zeno_points += functions.len() as u64;
        if self.recorder.wants_events() {
            let crossings = self.instance.system(&self.values).crossings();
            let closed = (self.work.causes.iter()).filter(|c| functions.contains(&c.index));
            let logged: Vec<_> = closed.map(|change| cause(crossings, change)).collect();
            self.work.causes_logged.extend(logged);
        }
        self.record_bound(limit, EventKind::Zeno, "geometric");
        Ok(true)
    }

    /// Where a step, searched up to `time`, has no event: a contact that was left on its far side.
    #[inline]
    pub(super) fn check_contacts(&mut self, time: f64) -> Result<(), SimError> {
        match self.work.contacts.any_beyond() {
            true => self.lost_contact(time),
            false => Ok(()),
        }
    }

    /// The condition of a when-clause that resets states at this function is true, so that it does not become active again before the function turns
    /// back. If another part of it is false (`state > limit and u - state < 0`), the function may pass: nothing was to turn it back.
    pub(super) fn is_spent(&self, crossing: &CrossingInfo) -> bool {
        let holds = |(slot, value): &(Slot, bool)| (self.values.get(*slot) != 0.0) == *value;
        crossing.guards.is_empty() || crossing.guards.iter().any(holds)
    }

    #[inline(never)]
    fn lost_contact(&mut self, time: f64) -> Result<(), SimError> {
        let system = self.instance.system(&self.values);
        let crossings = system.crossings();
        let mut r = vec![0.0; crossings.len()];
        self.work.integrator.interpolate(time, &mut self.work.x);
        let mut field = Field {
            system,
            driver: &mut self.mode.driver,
            values: &mut self.values,
            accuracy: Accuracy::Tight,
            guess: Guess::Accepted,
        };
        field.go_to(time, &self.work.x);
        let affine = (crossings.iter()).all(|c| c.class == CrossingClass::Affine);
        let class = match affine {
            true => CrossingClass::Affine,
            false => CrossingClass::General,
        };
        match field.crossings(class, &mut r) {
            Ok(()) => {}
            // What the step cannot be evaluated at is said elsewhere.
            Err(error) if error.recoverable() => return Ok(()),
            Err(error) => return Err(SimError::evaluation(time, Phase::Continuous, error)),
        }
        for contact in &self.work.contacts.all {
            let Some(i) = (crossings.iter()).position(|c| c.relation == contact.relation) else {
                continue;
            };
            let is_lost = contact.is_lost(r[i], self.work.isolation.band[i]);
            if is_lost && self.is_spent(&crossings[i]) {
                return Err(SimError::ContactLost {
                    time,
                    relation: contact.relation,
                    site: crossings[i].site,
                    depth: r[i].abs(),
                });
            }
        }
        Ok(())
    }
}
