//! The first instant of an interval at which a relation changes, found on the interpolant.
//!
//! Comes in: crossing functions r_i(t) along the interpolant, the truth values that hold, an interval. Goes out: the earliest
//! change, located to neighbouring floats with the time on the far side, or none, and touches of zero that change nothing.
//!
//! ```text
//! affine functions      over a whole step of an interpolant of degree 4 the line between the ends and a bow that the dense output gives ([`Bow`]);
//!                       otherwise values at d + 1 nodes → Bernstein coefficients → first sign change                       (roots/affine.rs)
//! general functions     values and rates at both ends, checked between; five values and their polynomial with an error estimate
//!                       where these are near zero; halving where it does not decide                                                   (roots/general.rs)
//! all that may change   one bracket in which each of them changes once → location, from the polynomial's root (roots/polish.rs) and where that does not
//!                       close the bracket by a bracketing method (roots/location.rs) → functions that change at the same instant are gathered
//! ```
//!
//! Promise: no root of an affine function on the interpolant is missed, however close two of them are, down to round-off. For general functions the
//! same holds as far as a polynomial of degree 4 through five points, checked at a sixth, resolves them.
//!
//! Location has no band (DESIGN 5.2). A function that was zero but for round-off when the last event ended *rests*: it is
//! followed as it is on the side that its relation holds, but its change counts only when it leaves the band of round-off (DESIGN 5.3,
//! [`Isolation::restart`]). From its first value outside the band on it is like all others.

mod affine;
mod bernstein;
pub mod detect;
mod general;
pub mod interpolation;
pub mod isolate;
pub mod location;
mod polish;
pub mod short_lived;
pub mod step_curve;

use crate::error::SolveError;
use crate::scale::{DENSE_EVENTS_ULPS, EPS, time_resolution};
use bernstein::Walk;
pub use detect::{Detection, EventSearch};
pub use location::LocationMethod;
use location::{Guess, Locator, Needs};

/// Changes within this many units of time resolution are one event.
const GATHER_ULPS: f64 = 4.0;
/// Points, each half as far from the start as the one before, at which a function that rested is looked for outside its band.
const LEFT_POINTS: u32 = 14;
/// Changes of the function that leads a location.
const LEADERS_MAX: u32 = 256;

/// Crossing functions along one step.
pub trait CrossingFunctions {
    fn n_functions(&self) -> usize;

    /// Values of all functions at `t`.
    fn evaluate(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError>;

    /// Values of the affine functions at `t`, from the interpolant alone; what is written for others has no meaning.
    fn evaluate_affine(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError> {
        self.evaluate(t, out)
    }

    /// How each affine function bends over the step, where the interpolant is of degree 4; what is written for others has no meaning.
    /// `Ok(false)`: it is not known.
    fn affine_bows(&mut self, _out: &mut [Bow]) -> Result<bool, SolveError> {
        Ok(false)
    }

    /// The step over which they bend.
    fn bowed_step(&self) -> (f64, f64) {
        (f64::NAN, f64::NAN)
    }

    /// Affine in states and time: a polynomial over the step.
    fn is_affine(&self, index: usize) -> bool;

    /// Degree of the interpolant.
    fn degree(&self) -> usize;
}

/// What a function that is a polynomial of degree 4 over the step has beside the straight line between its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bow {
    /// The three inner ones of its five Bernstein coefficients; the outer ones are zero.
    pub inner: [f64; 3],
    /// Bound of their error.
    pub error: f64,
}

impl Bow {
    /// Bound of the distance from the straight line.
    #[inline]
    fn depth(&self) -> f64 {
        let [b1, b2, b3] = self.inner;
        larger(b1.abs(), larger(b2.abs(), b3.abs())) + self.error
    }
}

/// The larger one of two numbers; not a number if one of them is not.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// On which side of zero a relation holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct SignRule {
    /// Holds for r > 0, else for r < 0.
    pub rising: bool,
    /// Holds at r = 0.
    pub closed: bool,
}

impl SignRule {
    #[inline]
    pub fn holds(self, r: f64) -> bool {
        if r == 0.0 {
            self.closed
        } else {
            (r > 0.0) == self.rising
        }
    }
}

/// A located change: at `t_left` all relations still hold as before, at `t_right` those in `changed` do not.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Located {
    pub t_left: f64,
    pub t_right: f64,
    pub changed: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Change {
    pub index: usize,
    pub value_left: f64,
    pub value_right: f64,
}

/// A function came to zero within round-off and turned back.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Touch {
    pub t: f64,
    pub index: usize,
    pub value: f64,
}

/// A function that changes once between two times.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Candidate {
    index: usize,
    left: f64,
    right: f64,
    /// Where a polynomial through its values changes sign.
    guess: Option<Guess>,
}

/// Work space, kept between steps: after the first ones nothing is allocated where nothing changes.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Isolation {
    method: LocationMethod,
    search: EventSearch,
    affine: Vec<usize>,
    general: Vec<usize>,
    classified: bool,
    #[serde(skip)]
    walk: Walk,
    /// Values at the nodes of the affine functions' basis.
    samples: Vec<Vec<f64>>,
    /// Those at the ends of the bracket of a location, and at the time looked at.
    left: Vec<f64>,
    right: Vec<f64>,
    looked: Vec<f64>,
    /// Room for the values at one time, and at four.
    pool: Vec<Vec<f64>>,
    pool_of_four: Vec<Vec<f64>>,
    candidates: Vec<Candidate>,
    /// Largest |r_i| seen over the interval searched last.
    pub scale: Vec<f64>,
    /// Values at the end of the interval searched last.
    end: Vec<f64>,
    end_time: Option<f64>,
    /// Values at the end of the interval being searched, and how affine functions bend over the step.
    next: Vec<f64>,
    bows: Vec<Bow>,
    /// Rates of general functions at a time.
    rates: Vec<f64>,
    rates_time: Option<f64>,
    /// Below this magnitude function i is round-off when an event ends; zero: never.
    pub band: Vec<f64>,
    /// The side that each function is on.
    sides: Vec<Side>,
    /// The same when the last event ended.
    rest_start: Vec<f64>,
    pub touches: Vec<Touch>,
    /// Room for the changes of the next event.
    changes: Vec<Change>,
    pub evaluations: u64,
}

impl Isolation {
    pub fn new(n_functions: usize) -> Isolation {
        Isolation {
            scale: vec![0.0; n_functions],
            end: vec![0.0; n_functions],
            next: vec![0.0; n_functions],
            left: vec![0.0; n_functions],
            right: vec![0.0; n_functions],
            looked: vec![0.0; n_functions],
            bows: vec![Bow::default(); n_functions],
            rates: vec![0.0; n_functions],
            band: vec![0.0; n_functions],
            sides: vec![Side::default(); n_functions],
            rest_start: vec![0.0; n_functions],
            ..Isolation::default()
        }
    }

    /// As new, for another run with the same functions, bands and method.
    pub fn reset(&mut self) {
        self.forget();
        self.touches.clear();
        self.evaluations = 0;
        self.scale.fill(0.0);
        self.sides.fill(Side::default());
        self.rest_start.fill(0.0);
    }

    pub fn with_method(mut self, method: LocationMethod) -> Isolation {
        self.method = method;
        self
    }

    pub fn with_search(mut self, search: EventSearch) -> Isolation {
        self.search = search;
        self
    }

    pub fn method(&self) -> LocationMethod {
        self.method
    }

    pub fn search(&self) -> EventSearch {
        self.search
    }

    /// The values at the end of the last interval no longer hold.
    #[inline]
    pub fn forget(&mut self) {
        self.end_time = None;
        self.rates_time = None;
    }

    /// An event has ended at `t` with these values: functions within their band rest.
    #[inline]
    pub fn restart(&mut self, t: f64, r: &[f64]) {
        self.end.copy_from_slice(r);
        self.end_time = Some(t);
        self.rates_time = None;
        let rests = self.sides.iter_mut().zip(&mut self.rest_start);
        for (((side, start), band), r) in rests.zip(&self.band).zip(r) {
            side.rest = if r.abs() <= *band { *band } else { 0.0 };
            *start = side.rest;
        }
    }

    /// The same for one function with a wider band, after [`Isolation::restart`].
    pub fn restart_within(&mut self, index: usize, r: f64, band: f64) {
        if r.abs() <= band {
            let rest = &mut self.sides[index].rest;
            *rest = rest.max(band);
            self.rest_start[index] = *rest;
        }
    }

    /// The bands of the functions that rested when the last event ended; zero for all others.
    pub fn bands_at_restart(&self) -> &[f64] {
        &self.rest_start
    }

    /// The functions rest as they did when the last event ended.
    pub fn restart_again(&mut self) {
        self.forget();
        for (side, rest) in self.sides.iter_mut().zip(&self.rest_start) {
            side.rest = *rest;
        }
    }

    /// An event has been dealt with: its list is used again.
    pub fn recycle(&mut self, mut located: Located) {
        located.changed.clear();
        self.changes = located.changed;
    }

    /// What changes between two times, from the values at them.
    fn located(
        &mut self,
        (t_left, left): (f64, &[f64]),
        (t_right, right): (f64, &[f64]),
    ) -> Located {
        let mut changed = std::mem::take(&mut self.changes);
        changes_between(&self.sides, left, right, &mut changed);
        Located {
            t_left,
            t_right,
            changed,
        }
    }

    /// The same for a bracket.
    fn located_in(&mut self, bracket: Bracket) -> Located {
        let mut changed = std::mem::take(&mut self.changes);
        changes_between(&self.sides, &self.left, &self.right, &mut changed);
        Located {
            t_left: bracket.left,
            t_right: bracket.right,
            changed,
        }
    }

    /// Values of all functions at the end of the interval searched last.
    pub fn end_values(&self) -> &[f64] {
        &self.end
    }

    fn classify<F: CrossingFunctions + ?Sized>(&mut self, functions: &F) {
        if !self.classified {
            let n = functions.n_functions();
            self.affine = (0..n).filter(|&i| functions.is_affine(i)).collect();
            self.general = (0..n).filter(|&i| !functions.is_affine(i)).collect();
            self.classified = true;
        }
    }

    #[inline]
    fn take(&mut self) -> Vec<f64> {
        let n = self.sides.len();
        self.pool.pop().unwrap_or_else(|| vec![0.0; n])
    }

    /// Room for values at four times.
    #[inline]
    fn take_four(&mut self) -> Vec<f64> {
        let n = self.sides.len();
        let room = self.pool_of_four.pop();
        room.unwrap_or_else(|| vec![0.0; 4 * n])
    }

    #[inline]
    fn put(&mut self, buffer: Vec<f64>) {
        self.pool.push(buffer);
    }
}

/// The earliest change of a relation in (t_a, t_b], if there is one. `truth[i]` is what relation i holds at `t_a`.
#[inline]
pub fn first_crossing<F: CrossingFunctions + ?Sized>(
    functions: &mut F,
    isolation: &mut Isolation,
    rules: &[SignRule],
    truth: &[bool],
    t_a: f64,
    t_b: f64,
) -> Result<Option<Located>, SolveError> {
    isolation.touches.clear();
    if functions.n_functions() == 0 || t_b <= t_a {
        return Ok(None);
    }
    isolation.classify(functions);
    for ((side, rule), truth) in isolation.sides.iter_mut().zip(rules).zip(truth) {
        side.sign = if rule.rising == *truth { 1.0 } else { -1.0 };
        side.ends_at_zero = rule.closed != *truth;
    }
    let mut search = Search {
        functions,
        isolation,
        start: t_a,
        width: t_b - t_a,
        end_known: false,
        nodes_known: false,
        bows: Bows::Unknown,
    };
    let finds_all = search.isolation.search.detection == Detection::All;
    if finds_all && search.is_quiet(t_a, t_b)? {
        return Ok(None);
    }
    search.by_all_means(t_a, t_b)
}

/// The side of zero on which a relation holds what it holds.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Side {
    /// Of the function there.
    sign: f64,
    /// The relation has changed where the function is zero.
    ends_at_zero: bool,
    /// The band of a function that rests, zero for all others.
    rest: f64,
}

impl Side {
    /// Above zero on the side on which the relation stays as it is, shifted by the band of a function that rests.
    #[inline]
    fn level(self, r: f64) -> f64 {
        self.sign * r + self.rest
    }

    #[inline]
    fn changed(self, r: f64) -> bool {
        let level = self.level(r);
        level < 0.0 || level == 0.0 && self.rest == 0.0 && self.ends_at_zero
    }

    /// Without any band.
    #[inline]
    fn is_held(self, r: f64) -> bool {
        !Side { rest: 0.0, ..self }.changed(r)
    }
}

fn changes_between(sides: &[Side], left: &[f64], right: &[f64], changes: &mut Vec<Change>) {
    changes.clear();
    for (index, ((side, left), right)) in sides.iter().zip(left).zip(right).enumerate() {
        if side.changed(*right) {
            changes.push(Change {
                index,
                value_left: *left,
                value_right: *right,
            });
        }
    }
}

/// What has to be evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Affine,
    All,
}

struct Search<'a, F: ?Sized> {
    functions: &'a mut F,
    isolation: &'a mut Isolation,
    start: f64,
    width: f64,
    /// The affine functions at the end are in `isolation.next`.
    end_known: bool,
    /// Those at the nodes of the interval are in `isolation.samples`.
    nodes_known: bool,
    bows: Bows,
}

/// How affine functions bend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bows {
    Unknown,
    /// Over a step of which the interval is a part.
    Around,
    /// Over the interval.
    Whole,
}

impl<F: CrossingFunctions + ?Sized> Search<'_, F> {
    #[inline(never)]
    fn by_all_means(&mut self, t_a: f64, t_b: f64) -> Result<Option<Located>, SolveError> {
        let known = self.isolation.end_time == Some(t_a);
        let mut a = std::mem::take(&mut self.isolation.end);
        let mut b = std::mem::take(&mut self.isolation.next);
        let start = match known {
            true => Ok(()),
            false => self.evaluate(t_a, self.scope_all(), &mut a),
        };
        let found = start.and_then(|()| self.run(&a, &mut b, t_a, t_b));
        if let Ok(None) = found {
            (self.isolation.end, self.isolation.next) = (b, a);
            self.isolation.end_time = Some(t_b);
            self.end_rests();
        } else {
            (self.isolation.end, self.isolation.next) = (a, b);
            self.isolation.end_time = None;
        }
        found
    }

    /// `b` has room for the values at the end, and holds those of affine functions if they are known.
    fn run(
        &mut self,
        a: &[f64],
        b: &mut [f64],
        t_a: f64,
        t_b: f64,
    ) -> Result<Option<Located>, SolveError> {
        let sides = self.isolation.sides.iter();
        if sides.zip(a).any(|(side, a)| side.changed(*a)) {
            return self.at_once(a, t_a, t_b).map(Some);
        }
        for (scale, a) in self.isolation.scale.iter_mut().zip(a) {
            *scale = a.abs();
        }
        self.isolation.candidates.clear();
        match self.isolation.search.detection {
            Detection::All => self.search(a, b, t_a, t_b),
            Detection::SignChange | Detection::Derivative | Detection::Sturm => {
                self.by_textbook(a, b, t_a, t_b)
            }
        }
    }

    /// The relation does not fit its function although no event is due: one has to happen at once, but time must advance.
    #[cold]
    fn at_once(&mut self, a: &[f64], t_a: f64, t_b: f64) -> Result<Located, SolveError> {
        let t_right = (t_a + time_resolution(t_a, t_b - t_a)).min(t_b);
        let right = self.at(t_right, self.scope_all())?;
        let mut located = self.isolation.located((t_a, a), (t_right, &right));
        if located.changed.is_empty() {
            located = self.isolation.located((t_a, a), (t_right, a));
        }
        self.isolation.put(right);
        Ok(located)
    }

    /// Most steps: all functions are affine and too far from zero for what they bend over the step. Nothing but their values at its end is
    /// needed to know.
    #[inline]
    fn is_quiet(&mut self, t_a: f64, t_b: f64) -> Result<bool, SolveError> {
        let isolation = &mut *self.isolation;
        if isolation.end_time != Some(t_a) || !isolation.general.is_empty() {
            return Ok(false);
        }
        isolation.evaluations += 1;
        self.functions.evaluate_affine(t_b, &mut isolation.next)?;
        self.end_known = true;
        self.find_bows(t_a, t_b)?;
        let mut any_rests = false;
        for i in 0..self.isolation.sides.len() {
            let (a, b) = (self.isolation.end[i], self.isolation.next[i]);
            if !self.stays(i, a, b) {
                return Ok(false);
            }
            let isolation = &mut *self.isolation;
            isolation.scale[i] = larger(a.abs(), b.abs()) + isolation.bows[i].depth();
            any_rests |= isolation.sides[i].rest > 0.0;
        }
        let isolation = &mut *self.isolation;
        std::mem::swap(&mut isolation.end, &mut isolation.next);
        isolation.end_time = Some(t_b);
        if any_rests {
            self.end_rests();
        }
        Ok(true)
    }

    /// Affine functions first: where one of them guards the domain of the model, the model is not evaluated beyond its change.
    fn search(
        &mut self,
        a: &[f64],
        b: &mut [f64],
        t_a: f64,
        t_b: f64,
    ) -> Result<Option<Located>, SolveError> {
        let mut limit = t_b;
        let mut first = None;
        if !self.isolation.affine.is_empty() {
            if self.end_known {
                self.affine(a, b, t_a, t_b)?;
            } else {
                self.evaluate(t_b, Scope::Affine, b)?;
                self.find_bows(t_a, t_b)?;
                if !self.is_straight(a, b) {
                    self.affine(a, b, t_a, t_b)?;
                }
            }
            if !self.isolation.candidates.is_empty() {
                self.tell_apart(t_a, Scope::Affine)?;
                let bracket = self.locate((t_a, a), (t_b, b), Scope::Affine)?;
                limit = bracket.left;
                first = Some(bracket);
                self.isolation.candidates.clear();
            }
        }
        if !self.isolation.general.is_empty() && limit > t_a {
            self.evaluate(limit, Scope::All, b)?;
            self.general(a, b, t_a, limit)?;
            if !self.isolation.candidates.is_empty() {
                self.tell_apart(t_a, Scope::All)?;
                // The values of the bracket before are given up.
                let bracket = self.locate((t_a, a), (limit, b), Scope::All)?;
                return self.gather(bracket, Scope::All, t_b).map(Some);
            }
        }
        match first {
            Some(bracket) => self.gather(bracket, Scope::Affine, t_b).map(Some),
            None => Ok(None),
        }
    }

    /// Functions outside their band at the end of the interval no longer rest.
    fn end_rests(&mut self) {
        let isolation = &mut *self.isolation;
        for (side, r) in isolation.sides.iter_mut().zip(&isolation.end) {
            if r.abs() > side.rest {
                side.rest = 0.0;
            }
        }
    }

    /// The least that gives all functions.
    fn scope_all(&self) -> Scope {
        if self.isolation.general.is_empty() {
            Scope::Affine
        } else {
            Scope::All
        }
    }

    fn at(&mut self, t: f64, scope: Scope) -> Result<Vec<f64>, SolveError> {
        let mut out = self.isolation.take();
        self.evaluate(t, scope, &mut out)?;
        Ok(out)
    }

    fn evaluate(&mut self, t: f64, scope: Scope, out: &mut [f64]) -> Result<(), SolveError> {
        self.isolation.evaluations += 1;
        match scope {
            Scope::Affine => self.functions.evaluate_affine(t, out),
            Scope::All => self.functions.evaluate(t, out),
        }
    }

    #[inline]
    fn level(&self, i: usize, r: f64) -> f64 {
        self.isolation.sides[i].level(r)
    }

    #[inline]
    fn changed(&self, i: usize, r: f64) -> bool {
        self.isolation.sides[i].changed(r)
    }

    /// Shrinks the bracket of the candidates to neighbouring floats: to the left of the result none of them has changed, to the
    /// right one has.
    fn locate(
        &mut self,
        (t_a, a): (f64, &[f64]),
        (t_b, b): (f64, &[f64]),
        scope: Scope,
    ) -> Result<Bracket, SolveError> {
        let mut candidates = std::mem::take(&mut self.isolation.candidates);
        let (left, right) = match &*candidates {
            [only] => (only.left, only.right),
            _ => {
                let t_right = candidates.iter().fold(t_b, |t, c| t.min(c.right));
                candidates.retain(|c| c.left < t_right);
                let t_left = candidates.iter().fold(t_right, |t, c| t.min(c.left));
                (t_left, t_right)
            }
        };
        let mut bracket = Bracket { left, right };
        self.values_at(left, (t_a, a), (t_b, b), scope)?;
        std::mem::swap(&mut self.isolation.left, &mut self.isolation.looked);
        self.values_at(right, (t_a, a), (t_b, b), scope)?;
        std::mem::swap(&mut self.isolation.right, &mut self.isolation.looked);
        if (candidates.iter()).any(|c| self.changed(c.index, self.isolation.left[c.index])) {
            // Round-off has taken the polynomial's side and the function's apart: nothing has changed at the start.
            bracket.left = t_a;
            self.isolation.left.copy_from_slice(a);
        }
        let resting = |c: &Candidate| self.isolation.sides[c.index].rest > 0.0;
        if candidates.iter().any(resting) {
            let left = &self.isolation.left;
            let outside = |c: &Candidate| {
                self.is_held(c.index, left)
                    && left[c.index].abs() > self.isolation.sides[c.index].rest
            };
            if candidates.iter().all(outside) {
                for c in &candidates {
                    self.isolation.sides[c.index].rest = 0.0;
                }
            } else {
                self.leave_band(&mut bracket, &candidates, scope, a, t_a)?;
            }
        }
        self.shrink(&mut bracket, &candidates, scope)?;
        self.isolation.candidates = candidates;
        Ok(bracket)
    }

    /// Values at a time of the interval, in `isolation.looked`.
    #[inline]
    fn values_at(
        &mut self,
        t: f64,
        (t_a, a): (f64, &[f64]),
        (t_b, b): (f64, &[f64]),
        scope: Scope,
    ) -> Result<(), SolveError> {
        if t == t_a {
            self.isolation.looked.copy_from_slice(a);
        } else if t == t_b {
            self.isolation.looked.copy_from_slice(b);
        } else if let Some(sample) = self.sampled_at(t, scope) {
            let Isolation {
                looked, samples, ..
            } = &mut *self.isolation;
            looked.copy_from_slice(&samples[sample]);
        } else {
            self.evaluate_looked(t, scope)?;
        }
        Ok(())
    }

    /// Evaluates into `isolation.looked`.
    #[inline]
    fn evaluate_looked(&mut self, t: f64, scope: Scope) -> Result<(), SolveError> {
        self.isolation.evaluations += 1;
        let out = &mut self.isolation.looked;
        match scope {
            Scope::Affine => self.functions.evaluate_affine(t, out),
            Scope::All => self.functions.evaluate(t, out),
        }
    }

    /// A function that rested is located like all others if it was seen outside its band on its relation's side before, or if its
    /// sign changes once between the start and the bracket's end; else it is round-off, and is located where it leaves the band.
    #[inline(never)]
    fn leave_band(
        &mut self,
        bracket: &mut Bracket,
        candidates: &[Candidate],
        scope: Scope,
        a: &[f64],
        t_a: f64,
    ) -> Result<(), SolveError> {
        let mut f = self.isolation.take();
        let mut held = self.isolation.take();
        let mut t_held = None;
        let mut width = bracket.right - t_a;
        let mut is_plain = candidates.iter().all(|c| self.is_held(c.index, a));
        for _ in 0..LEFT_POINTS {
            width *= 0.5;
            let t = t_a + width;
            self.evaluate(t, scope, &mut f)?;
            let all_held = candidates.iter().all(|c| self.is_held(c.index, &f));
            let outside = |c: &Candidate| f[c.index].abs() > self.isolation.sides[c.index].rest;
            if all_held && (t_held.is_none() || candidates.iter().all(outside)) {
                t_held = Some(t);
                held.copy_from_slice(&f);
            }
            if all_held && candidates.iter().all(outside) {
                is_plain = true;
                break;
            }
            is_plain &= all_held || t_held.is_none();
        }
        if is_plain {
            bracket.left = t_held.unwrap_or(t_a);
            let left = if t_held.is_some() { &held } else { a };
            self.isolation.left.copy_from_slice(left);
            for c in candidates {
                self.isolation.sides[c.index].rest = 0.0;
            }
        }
        self.isolation.put(f);
        self.isolation.put(held);
        Ok(())
    }

    /// The relation still holds what it held, without any band.
    fn is_held(&self, i: usize, r: &[f64]) -> bool {
        self.isolation.sides[i].is_held(r[i])
    }

    /// One location after the other, each led by one function: the leader changes when another one is found to change before.
    #[inline]
    fn shrink(
        &mut self,
        bracket: &mut Bracket,
        candidates: &[Candidate],
        scope: Scope,
    ) -> Result<(), SolveError> {
        let is_default = self.isolation.method == LocationMethod::default();
        for _ in 0..LEADERS_MAX {
            let Some(leader) = self.leading(candidates) else {
                break;
            };
            let mut led = Led {
                bracket,
                candidates,
                leader: leader.index,
                scope,
            };
            let guess = leader.guess.filter(|_| is_default);
            let mut ended = match guess {
                Some(guess) => self.polish(&mut led, guess)?,
                None => Ended::Open,
            };
            if ended == Ended::Open {
                ended = self.by_locator(&mut led)?;
            }
            if ended != Ended::Overtaken {
                break;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn by_locator(&mut self, led: &mut Led<'_>) -> Result<Ended, SolveError> {
        let (bracket, leader) = (&*led.bracket, led.leader);
        let mut locator = Locator::new(
            self.isolation.method,
            (
                bracket.left,
                self.level(leader, self.isolation.left[leader]),
            ),
            (
                bracket.right,
                self.level(leader, self.isolation.right[leader]),
            ),
            self.resolution(),
        );
        let needs = self.isolation.method.needs();
        match needs {
            Needs::Values => {}
            Needs::Rates => {
                let (left, right) = (led.bracket.left, led.bracket.right);
                locator.set_rates(self.rate_of(led, left)?, self.rate_of(led, right)?);
            }
            Needs::Polynomial => locator.set_polynomial(self.polynomial_of(led)?),
        }
        while let Some(t) = locator.propose() {
            let seen = self.look(led, t)?;
            if seen.shown == Shown::Overtaken {
                return Ok(Ended::Overtaken);
            }
            locator.update(t, seen.level, seen.shown == Shown::Right);
            if needs == Needs::Rates {
                locator.update_rate(self.rate_of(led, t)?);
            }
        }
        Ok(Ended::Closed)
    }

    /// The level of the leader at a time, which is not looked at for changes.
    fn leader_at(&mut self, led: &Led<'_>, t: f64) -> Result<f64, SolveError> {
        let mut room = self.isolation.take();
        let evaluated = self.evaluate(t, led.scope, &mut room);
        let level = self.level(led.leader, room[led.leader]);
        self.isolation.put(room);
        evaluated.map(|()| level)
    }

    /// The rate of the leader on the interpolant, by a central difference over a small part of the interval.
    fn rate_of(&mut self, led: &Led<'_>, t: f64) -> Result<f64, SolveError> {
        let (low, high) = interpolation::difference_points(t, self.start, self.start + self.width);
        let rise = self.leader_at(led, high)? - self.leader_at(led, low)?;
        Ok(rise / (high - low))
    }

    /// The polynomial through values of the leader in the bracket: an affine function itself, others nearly.
    fn polynomial_of(&mut self, led: &Led<'_>) -> Result<Vec<f64>, SolveError> {
        let degree = self.functions.degree().max(interpolation::FITTED);
        let (left, width) = (led.bracket.left, led.bracket.right - led.bracket.left);
        let mut values = Vec::with_capacity(degree + 1);
        for k in 0..=degree {
            values.push(self.leader_at(led, left + interpolation::node(k, degree) * width)?);
        }
        Ok(interpolation::polynomial_through(&values))
    }

    /// Below this width a bracket is not refined, be there floats between its ends.
    #[inline]
    fn resolution(&self) -> f64 {
        EPS * EPS * self.width
    }

    /// Evaluates at a time inside the bracket, which becomes its end.
    #[inline]
    fn look(&mut self, led: &mut Led<'_>, t: f64) -> Result<Seen, SolveError> {
        self.evaluate_looked(t, led.scope)?;
        let f = &self.isolation.looked;
        let level = self.level(led.leader, f[led.leader]);
        let shown = if self.changed(led.leader, f[led.leader]) {
            Shown::Right
        } else if led.candidates.len() > 1
            && (led.candidates.iter()).any(|c| self.changed(c.index, f[c.index]))
        {
            Shown::Overtaken
        } else {
            Shown::Left
        };
        let isolation = &mut *self.isolation;
        if shown == Shown::Left {
            led.bracket.left = t;
            std::mem::swap(&mut isolation.left, &mut isolation.looked);
        } else {
            led.bracket.right = t;
            std::mem::swap(&mut isolation.right, &mut isolation.looked);
        }
        Ok(Seen { level, shown })
    }

    /// Of the functions that have changed at the right end of the bracket, the one whose secant crosses zero first.
    #[inline]
    fn leading<'c>(&self, candidates: &'c [Candidate]) -> Option<&'c Candidate> {
        let Isolation { left, right, .. } = &*self.isolation;
        if let [only] = candidates {
            return self.changed(only.index, right[only.index]).then_some(only);
        }
        let crossing = |i: usize| left[i] / (left[i] - right[i]);
        candidates
            .iter()
            .filter(|c| self.changed(c.index, right[c.index]))
            .min_by(|c, d| crossing(c.index).total_cmp(&crossing(d.index)))
    }

    /// The located event with all functions that change at its instant, or within a few units of time resolution where
    /// events are not that dense anyway. Where the model cannot be evaluated on the far side, the functions that were located.
    fn gather(&mut self, bracket: Bracket, scope: Scope, t_b: f64) -> Result<Located, SolveError> {
        match self.gather_all(bracket, scope, t_b) {
            Err(error) if error.recoverable() => {
                let mut located = self.isolation.located_in(bracket);
                let affine = &self.isolation.affine;
                located
                    .changed
                    .retain(|c| scope == Scope::All || affine.binary_search(&c.index).is_ok());
                Ok(located)
            }
            other => other,
        }
    }

    fn gather_all(
        &mut self,
        bracket: Bracket,
        scope: Scope,
        t_b: f64,
    ) -> Result<Located, SolveError> {
        let (left, right) = (bracket.left, bracket.right);
        let all = self.scope_all();
        let mut near = None;
        let mut located = if scope == all {
            self.isolation.located_in(bracket)
        } else {
            let f_left = self.at(left, all)?;
            let f_right = self.at(right, all)?;
            let located = self.isolation.located((left, &f_left), (right, &f_right));
            self.isolation.put(f_right);
            near = Some(f_left);
            located
        };
        let resolution = time_resolution(right, EPS * self.width);
        let later = right + GATHER_ULPS * resolution;
        let alone = right - self.start > DENSE_EVENTS_ULPS * resolution;
        let f_left = near.as_ref().unwrap_or(&self.isolation.left);
        if alone && later < t_b && self.may_follow(f_left, &located, later - right) {
            let f_left = match near.take() {
                Some(f_left) => f_left,
                None => {
                    let mut f_left = self.isolation.take();
                    f_left.copy_from_slice(&self.isolation.left);
                    f_left
                }
            };
            self.gather_later(&mut located, &f_left, later)?;
            near = Some(f_left);
        }
        if let Some(buffer) = near {
            self.isolation.put(buffer);
        }
        Ok(located)
    }

    /// Adds functions that have changed a little later, if those of the event still have.
    #[inline(never)]
    fn gather_later(
        &mut self,
        located: &mut Located,
        f_left: &[f64],
        later: f64,
    ) -> Result<(), SolveError> {
        let f = self.at(later, self.scope_all())?;
        let stay = (located.changed.iter()).all(|c| self.changed(c.index, f[c.index]));
        let together = (self.isolation).located((located.t_left, f_left), (later, &f));
        if stay && together.changed.len() > located.changed.len() {
            *located = together;
        } else {
            self.isolation.recycle(together);
        }
        self.isolation.put(f);
        Ok(())
    }

    /// A function that has not changed may do so within so short a time. Over the step functions are polynomials of some degree d, or
    /// resolved by one, and their rates at most 2d²/width of their size (Markov's inequality).
    fn may_follow(&self, near: &[f64], located: &Located, time: f64) -> bool {
        let share = RATE_MAX * time / self.width;
        (0..near.len()).any(|i| {
            near[i].abs() <= share * self.isolation.scale[i]
                && located.changed.iter().all(|c| c.index != i)
        })
    }

    /// Logs a touch, once for each function and place.
    fn note_touch(&mut self, t: f64, index: usize, value: f64) {
        let known = |touch: &Touch| {
            touch.index == index && (touch.t - t).abs() <= TOUCH_SAME_REL * self.width
        };
        if !self.isolation.touches.iter().any(known) {
            self.isolation.touches.push(Touch { t, index, value });
        }
    }
}

/// Largest rate of a function relative to its size over the step: twice what a polynomial of degree 8 can have.
const RATE_MAX: f64 = 256.0;
/// Touches of one function closer than this part of the interval are one.
const TOUCH_SAME_REL: f64 = 1e-3;

/// A location led by one function.
struct Led<'a> {
    bracket: &'a mut Bracket,
    candidates: &'a [Candidate],
    leader: usize,
    scope: Scope,
}

/// What an evaluation inside a bracket has shown.
struct Seen {
    /// Of the leader.
    level: f64,
    shown: Shown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    /// Nothing has changed yet.
    Left,
    /// The leader has changed.
    Right,
    /// Another function has, and the leader not.
    Overtaken,
}

/// How a location ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    /// No float is between the ends.
    Closed,
    /// There are some yet.
    Open,
    Overtaken,
}

/// Times around a change; the values of all functions that are evaluated at them are in `left` and `right` of [`Isolation`].
#[derive(Clone, Copy, Debug)]
struct Bracket {
    left: f64,
    right: f64,
}
