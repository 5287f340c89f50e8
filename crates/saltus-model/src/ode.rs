//! x' = f(t, x), or F(t, x, x', y) = 0, with crossings and jumps, from closures.
//!
//! ```
//! use saltus_model::ode::{Crossing, OdeProblem};
//! let ball = OdeProblem::new("ball", &[("x", 1.0), ("v", 0.0)], |at, dx| {
//!     dx[0] = at.x[1];
//!     dx[1] = -9.81;
//! })
//! .crossings(&[Crossing::below("x < 0")], |at, r| r[0] = at.x[0])
//! .on_event(|jump| {
//!     if jump.became_true(0) {
//!         jump.x[1] *= -0.85;
//!     }
//! })
//! .build();
//! # let _ = ball;
//! ```

use crate::calendar::Calendar;
use crate::hand::{Code, HandModel, Layout};
use crate::{
    BlockId, BlockInfo, CodeId, CrossingClass, Fault, FaultKind, ScheduleKind, Section, Site, Slot,
    SlotRole, Status, Values,
};
use std::cell::RefCell;

/// A point at which closures are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub t: f64,
    pub x: &'a [f64],
    /// Algebraic unknowns of an implicit problem.
    pub y: &'a [f64],
    /// Discrete variables.
    pub d: &'a [f64],
    /// Truth values of the relations as held by the event step, 0 or 1.
    pub holds: &'a [f64],
}

/// An event seen by the closure given to [`OdeProblem::on_event`].
#[derive(Debug)]
pub struct Jump<'a> {
    pub t: f64,
    /// States; what is written becomes a `reinit`.
    pub x: &'a mut [f64],
    /// Discrete variables; before the call they hold their `pre` values.
    pub d: &'a mut [f64],
    now: &'a [f64],
    pre: &'a [f64],
    tick: bool,
    due: &'a [u32],
    scheduled: &'a mut Vec<(f64, i32, u32)>,
}

impl Jump<'_> {
    /// The tags of the calendar's entries for this instant, by priority and then in the order they were added. Empty in later passes of the event.
    pub fn due(&self) -> &[u32] {
        self.due
    }

    /// Asks for an event at a later time. Of equal times the higher priority comes first.
    pub fn schedule(&mut self, time: f64, priority: i32, tag: u32) {
        self.scheduled.push((time, priority, tag));
    }

    pub fn became_true(&self, relation: usize) -> bool {
        self.now[relation] > self.pre[relation]
    }

    pub fn became_false(&self, relation: usize) -> bool {
        self.now[relation] < self.pre[relation]
    }

    /// The relation holds now.
    pub fn holds(&self, relation: usize) -> bool {
        self.now[relation] != 0.0
    }

    /// A sample instant.
    pub fn ticked(&self) -> bool {
        self.tick
    }
}

/// A relation of an [`OdeProblem`].
#[derive(Clone, Debug)]
pub struct Crossing {
    text: String,
    rising: bool,
    closed: bool,
    class: CrossingClass,
    feeds: bool,
    guards: bool,
    slides: bool,
}

impl Crossing {
    /// Holds where the function is negative.
    pub fn below(text: &str) -> Crossing {
        Crossing {
            text: text.to_owned(),
            rising: false,
            closed: false,
            class: CrossingClass::General,
            feeds: true,
            guards: false,
            slides: false,
        }
    }

    /// Holds where the function is positive.
    pub fn above(text: &str) -> Crossing {
        Crossing {
            rising: true,
            ..Crossing::below(text)
        }
    }

    /// Whether it holds where the function has this value.
    #[inline]
    fn at(&self, r: f64) -> bool {
        if r == 0.0 {
            self.closed
        } else {
            (r > 0.0) == self.rising
        }
    }

    /// Holds at zero as well.
    pub fn or_equal(mut self) -> Crossing {
        self.closed = true;
        self
    }

    /// The function is affine in the states and needs nothing else but time.
    pub fn affine(mut self) -> Crossing {
        self.class = CrossingClass::Affine;
        self
    }

    /// The derivatives may not be evaluated where the relation differs from what it holds: the argument of a table, a logarithm or a square root ends
    /// there. Steps come near from inside only. Derivatives that are not finite beyond need no mark.
    pub fn guard(mut self) -> Crossing {
        self.guards = true;
        self
    }

    /// Nothing but the derivatives depends on it, no jump and no discrete variable: where the motions on both sides lead to its surface, the run
    /// goes on along it (Filippov), instead of switching without end.
    ///
    /// ```
    /// use saltus_model::ode::{Crossing, OdeProblem};
    /// // x' = -sign(x) + 0.5 sin(t)
    /// let relay = OdeProblem::new("relay", &[("x", 1.0)], |at, dx| {
    ///     dx[0] = 1.0 - 2.0 * at.holds[0] + 0.5 * at.t.sin();
    /// })
    /// .crossings(&[Crossing::above("x > 0").affine().slides()], |at, r| r[0] = at.x[0])
    /// .build();
    /// # let _ = relay;
    /// ```
    pub fn slides(mut self) -> Crossing {
        self.slides = true;
        self
    }

    /// The derivatives do not depend on it.
    pub fn observed(mut self) -> Crossing {
        self.feeds = false;
        self
    }
}

/// Periodic sampling at start + k·interval.
#[derive(Clone, Copy, Debug)]
struct Sampling {
    start: f64,
    interval: f64,
}

impl Sampling {
    /// Index of the tick at or before `t`.
    fn index(self, t: f64) -> f64 {
        ((t - self.start) / self.interval + 1e-9).floor()
    }

    fn at(self, k: f64) -> f64 {
        self.start + k * self.interval
    }
}

/// The equations of an [`OdeProblem`].
pub trait Equations: Clone {
    /// Derivatives are given, not solved for.
    const EXPLICIT: bool;

    /// dx = f(t, x); nothing for an implicit problem.
    fn derivatives(&self, at: &At<'_>, dx: &mut [f64]);

    /// out = F(t, x, dx, y); nothing for an explicit one.
    fn residual(&self, at: &At<'_>, dx: &[f64], out: &mut [f64]);
}

/// x' = f(t, x).
#[derive(Clone, Debug)]
pub struct Explicit<F>(F);

impl<F: Fn(&At<'_>, &mut [f64]) + Clone> Equations for Explicit<F> {
    const EXPLICIT: bool = true;

    #[inline(always)]
    fn derivatives(&self, at: &At<'_>, dx: &mut [f64]) {
        (self.0)(at, dx);
    }

    fn residual(&self, _: &At<'_>, _: &[f64], _: &mut [f64]) {}
}

/// F(t, x, x', y) = 0.
#[derive(Clone, Debug)]
pub struct Implicit<F>(F);

impl<F: Fn(&At<'_>, &[f64], &mut [f64]) + Clone> Equations for Implicit<F> {
    const EXPLICIT: bool = false;

    fn derivatives(&self, _: &At<'_>, _: &mut [f64]) {}

    #[inline]
    fn residual(&self, at: &At<'_>, dx: &[f64], out: &mut [f64]) {
        (self.0)(at, dx, out);
    }
}

/// A problem being described; `F` gives derivatives, `G` crossing functions, `R` jumps.
#[derive(Clone, Debug)]
pub struct OdeProblem<F, G, R> {
    name: String,
    states: Vec<(String, f64)>,
    /// Unknowns beside the derivatives, with guesses; `None`: the problem is explicit.
    algebraic: Option<Vec<(String, f64)>>,
    discrete: Vec<(String, f64)>,
    discrete_feeds: bool,
    relations: Vec<Crossing>,
    sampling: Option<Sampling>,
    entries: Vec<(f64, i32, u32)>,
    pattern: Option<Vec<Vec<u32>>>,
    f: F,
    g: G,
    r: R,
}

/// No crossing functions.
pub type NoCrossings = fn(&At<'_>, &mut [f64]);
/// No jumps.
pub type NoJumps = fn(&mut Jump<'_>);

impl<F: Fn(&At<'_>, &mut [f64]) + Clone> OdeProblem<Explicit<F>, NoCrossings, NoJumps> {
    /// x' = f(t, x): `f` writes the derivatives of the states.
    pub fn new(name: &str, states: &[(&str, f64)], f: F) -> Self {
        OdeProblem::with_equations(name, states, None, Explicit(f))
    }
}

impl<F: Fn(&At<'_>, &[f64], &mut [f64]) + Clone> OdeProblem<Implicit<F>, NoCrossings, NoJumps> {
    /// F(t, x, x', y) = 0 of index 1: `f(at, dx, out)` writes as many residuals as there are states and algebraic unknowns, which
    /// are given with guesses. At the start x is given; x' and y follow.
    ///
    /// ```
    /// use saltus_model::ode::OdeProblem;
    /// // C u' = i, 0 = u + R i - 5
    /// let rc = OdeProblem::implicit("rc", &[("u", 0.0)], &[("i", 0.0)], |at, dx, out| {
    ///     out[0] = 1e-3 * dx[0] - at.y[0];
    ///     out[1] = at.x[0] + 100.0 * at.y[0] - 5.0;
    /// })
    /// .build();
    /// # let _ = rc;
    /// ```
    pub fn implicit(name: &str, states: &[(&str, f64)], algebraic: &[(&str, f64)], f: F) -> Self {
        OdeProblem::with_equations(name, states, Some(owned(algebraic)), Implicit(f))
    }
}

fn owned(variables: &[(&str, f64)]) -> Vec<(String, f64)> {
    let own = |(name, start): &(&str, f64)| ((*name).to_owned(), *start);
    variables.iter().map(own).collect()
}

impl<F: Equations> OdeProblem<F, NoCrossings, NoJumps> {
    fn with_equations(
        name: &str,
        states: &[(&str, f64)],
        algebraic: Option<Vec<(String, f64)>>,
        f: F,
    ) -> Self {
        OdeProblem {
            name: name.to_owned(),
            states: owned(states),
            algebraic,
            discrete: Vec::new(),
            discrete_feeds: true,
            relations: Vec::new(),
            sampling: None,
            entries: Vec::new(),
            pattern: None,
            f,
            g: |_, _| {},
            r: |_| {},
        }
    }
}

impl<F, G, R> OdeProblem<F, G, R> {
    pub fn discrete(mut self, variables: &[(&str, f64)]) -> Self {
        self.discrete = owned(variables);
        self
    }

    /// The derivatives do not depend on the discrete variables.
    pub fn discrete_observed(mut self) -> Self {
        self.discrete_feeds = false;
        self
    }

    pub fn crossings<H: Fn(&At<'_>, &mut [f64])>(
        mut self,
        relations: &[Crossing],
        g: H,
    ) -> OdeProblem<F, H, R> {
        self.relations = relations.to_vec();
        self.with(|f, _, r| (f, g, r))
    }

    /// Called in each pass of the event iteration in which a relation changed, a sample or an entry of the calendar is due.
    pub fn on_event<Q: Fn(&mut Jump<'_>)>(self, r: Q) -> OdeProblem<F, G, Q> {
        self.with(|f, g, _| (f, g, r))
    }

    /// The same with other closures.
    fn with<F2, G2, R2>(
        self,
        closures: impl FnOnce(F, G, R) -> (F2, G2, R2),
    ) -> OdeProblem<F2, G2, R2> {
        let (f, g, r) = closures(self.f, self.g, self.r);
        OdeProblem {
            name: self.name,
            states: self.states,
            algebraic: self.algebraic,
            discrete: self.discrete,
            discrete_feeds: self.discrete_feeds,
            relations: self.relations,
            sampling: self.sampling,
            entries: self.entries,
            pattern: self.pattern,
            f,
            g,
            r,
        }
    }

    /// An entry of the calendar: an event at `time`, of which [`Jump::due`] gives the tag.
    pub fn schedule(mut self, time: f64, tag: u32) -> Self {
        self.entries.push((time, 0, tag));
        self
    }

    pub fn sample(mut self, start: f64, interval: f64) -> Self {
        self.sampling = Some(Sampling { start, interval });
        self
    }

    /// For each state the derivatives it influences.
    pub fn pattern(mut self, pattern: Vec<Vec<u32>>) -> Self {
        self.pattern = Some(pattern);
        self
    }
}

/// A closure behind a table: [`OdeProblem::erased`].
pub trait AnyFunction: Fn(&At<'_>, &mut [f64]) + Send + Sync {
    fn boxed(&self) -> Box<dyn AnyFunction>;
}

impl<F: Fn(&At<'_>, &mut [f64]) + Clone + Send + Sync + 'static> AnyFunction for F {
    fn boxed(&self) -> Box<dyn AnyFunction> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnyFunction> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// The same for what happens at events.
pub trait AnyJump: Fn(&mut Jump<'_>) + Send + Sync {
    fn boxed(&self) -> Box<dyn AnyJump>;
}

impl<R: Fn(&mut Jump<'_>) + Clone + Send + Sync + 'static> AnyJump for R {
    fn boxed(&self) -> Box<dyn AnyJump> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnyJump> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// A problem whose closures are called through tables.
pub type ErasedProblem =
    OdeProblem<Explicit<Box<dyn AnyFunction>>, Box<dyn AnyFunction>, Box<dyn AnyJump>>;

impl<F: AnyFunction + 'static, G: AnyFunction + 'static, R: AnyJump + 'static>
    OdeProblem<Explicit<F>, G, R>
{
    /// One type for all such problems: the simulator is compiled for it once, instead of once for each, and a run takes longer. For programs
    /// with many small problems, and where a problem is put together while the program runs.
    pub fn erased(self) -> ErasedProblem {
        self.with(|f, g, r| {
            let f: Box<dyn AnyFunction> = Box::new(f.0);
            let g: Box<dyn AnyFunction> = Box::new(g);
            let r: Box<dyn AnyJump> = Box::new(r);
            (Explicit(f), g, r)
        })
    }
}

impl<F, G, R> OdeProblem<F, G, R>
where
    F: Equations,
    G: Fn(&At<'_>, &mut [f64]) + Clone,
    R: Fn(&mut Jump<'_>) + Clone,
{
    pub fn build(self) -> HandModel<OdeCode<F, G, R>> {
        let mut layout = Layout::new(&self.name);
        let n = self.states.len();
        // Values and derivatives are contiguous, so that closures see slices.
        let states: Vec<_> = self
            .states
            .iter()
            .map(|(name, start)| layout.slot(name, SlotRole::State, *start))
            .collect();
        for ((name, _), value) in self.states.iter().zip(states) {
            let derivative = layout.slot(&format!("der({name})"), SlotRole::Derivative, 0.0);
            layout.add_state(value, derivative);
        }
        for (name, guess) in self.algebraic.iter().flatten() {
            layout.slot(name, SlotRole::Algebraic, *guess);
        }
        for (name, start) in &self.discrete {
            let slot = layout.slot(name, SlotRole::Discrete, *start);
            if !self.discrete_feeds {
                layout.does_not_feed(slot);
            }
        }
        let mut guards = Vec::new();
        for (i, crossing) in self.relations.iter().enumerate() {
            if crossing.guards {
                guards.push((i, layout.site(&crossing.text)));
            }
            let slot = layout.relation(
                &crossing.text,
                crossing.rising,
                crossing.closed,
                crossing.class,
            );
            if !crossing.feeds {
                layout.does_not_feed(slot);
            }
            if crossing.slides {
                layout.slides(slot);
            }
        }
        let flag = layout.slot("tick", SlotRole::Auxiliary, 0.0);
        layout.does_not_feed(flag);
        layout.scratch(self.relations.len());
        let n_algebraic = self.algebraic.as_ref().map_or(0, Vec::len);
        let (derivatives, event, initial) = (
            Section::Explicit(DERIVATIVES),
            Section::Explicit(EVENT),
            Section::Explicit(INITIAL),
        );
        if self.algebraic.is_some() {
            let unknowns: Vec<Slot> = (1 + n..1 + 2 * n + n_algebraic)
                .map(|i| Slot(i as u32))
                .collect();
            let sites = (0..unknowns.len()).map(|i| layout.site(&format!("residual {i}")));
            let residual_sites = sites.collect();
            let solve = Section::Nonlinear(layout.block(BlockInfo {
                determines: unknowns.clone(),
                unknowns,
                rates: Vec::new(),
                discrete: Vec::new(),
                linear: false,
                constant: false,
                residual_sites,
                inner_sites: Vec::new(),
                pattern: None,
            }));
            layout.schedule(ScheduleKind::Derivatives, &[solve]);
            layout.schedule(ScheduleKind::Event, &[solve, event]);
            layout.schedule(ScheduleKind::Initial, &[solve, initial]);
        } else {
            layout.schedule(ScheduleKind::Derivatives, &[derivatives]);
            layout.schedule(ScheduleKind::Event, &[event]);
            layout.schedule(ScheduleKind::Initial, &[initial]);
        }
        if let Some(pattern) = self.pattern {
            layout.pattern(pattern);
        }
        let code = OdeCode {
            n,
            n_algebraic,
            n_discrete: self.discrete.len(),
            relations: self.relations,
            guards,
            sampling: self.sampling,
            entries: self.entries,
            calendar: RefCell::default(),
            flag,
            f: self.f,
            g: self.g,
            r: self.r,
        };
        HandModel::new(layout, code)
    }
}

const DERIVATIVES: CodeId = CodeId(0);
const EVENT: CodeId = CodeId(1);
const INITIAL: CodeId = CodeId(2);

/// The entries of one run and what is due now.
#[derive(Clone, Debug, Default)]
struct Agenda {
    calendar: Calendar<u32>,
    due: Vec<u32>,
    scheduled: Vec<(f64, i32, u32)>,
}

/// The code of an [`OdeProblem`]. Slots: time, states, derivatives, algebraic unknowns, discrete variables, relations, sample flag, work space.
#[derive(Clone, Debug)]
pub struct OdeCode<F, G, R> {
    n: usize,
    n_algebraic: usize,
    n_discrete: usize,
    relations: Vec<Crossing>,
    /// Those that guard the derivatives.
    guards: Vec<(usize, Site)>,
    sampling: Option<Sampling>,
    entries: Vec<(f64, i32, u32)>,
    /// Events add entries, and the contract gives them the code as shared.
    calendar: RefCell<Agenda>,
    flag: Slot,
    f: F,
    g: G,
    r: R,
}

/// What closures see of a value array.
struct Point<'a> {
    t: f64,
    x: &'a mut [f64],
    y: &'a mut [f64],
    d: &'a mut [f64],
    holds: &'a mut [f64],
}

impl Point<'_> {
    #[inline(always)]
    fn at(&self) -> At<'_> {
        At {
            t: self.t,
            x: self.x,
            y: self.y,
            d: self.d,
            holds: self.holds,
        }
    }
}

/// The parts of a value array.
struct Parts<'a> {
    point: Point<'a>,
    dx: &'a mut [f64],
    /// Values of the crossing functions in an event.
    r: &'a mut [f64],
}

impl<F, G, R> OdeCode<F, G, R>
where
    F: Equations,
    G: Fn(&At<'_>, &mut [f64]),
    R: Fn(&mut Jump<'_>),
{
    #[inline(always)]
    fn parts<'a>(&self, v: &'a mut [f64]) -> Parts<'a> {
        let (time, rest) = v.split_at_mut(1);
        let (x, rest) = rest.split_at_mut(self.n);
        let (dx, rest) = rest.split_at_mut(self.n);
        let (y, rest) = rest.split_at_mut(self.n_algebraic);
        let (d, rest) = rest.split_at_mut(self.n_discrete);
        let (holds, rest) = rest.split_at_mut(self.relations.len());
        let (_flag, rest) = rest.split_at_mut(1);
        let (r, _) = rest.split_at_mut(self.relations.len());
        Parts {
            point: Point {
                t: time[0],
                x,
                y,
                d,
                holds,
            },
            dx,
            r,
        }
    }

    /// Another point than that of the values, of an explicit problem.
    #[inline(always)]
    fn at<'a>(&self, t: f64, x: &'a [f64], values: &'a Values) -> At<'a> {
        let rest = &values.v[1 + 2 * self.n..];
        let (d, rest) = rest.split_at(self.n_discrete);
        At {
            t,
            x,
            y: &[],
            d,
            holds: &rest[..self.relations.len()],
        }
    }

    #[inline(always)]
    fn derivatives(&self, values: &mut Values) {
        let (head, tail) = values.v.split_at_mut(1 + 2 * self.n);
        let (before, dx) = head.split_at_mut(1 + self.n);
        let (y, tail) = tail.split_at(self.n_algebraic);
        let (d, tail) = tail.split_at(self.n_discrete);
        let at = At {
            t: before[0],
            x: &before[1..],
            y,
            d,
            holds: &tail[..self.relations.len()],
        };
        self.f.derivatives(&at, dx);
    }

    /// Evaluates the crossing functions and lets the relations follow; whether one differs from before the event.
    #[inline(always)]
    fn relations(&self, values: &mut Values) -> bool {
        let m = self.relations.len();
        let (v, r) = values.v.split_at_mut(self.flag.index() + 1);
        let (head, holds) = v[..self.flag.index()].split_at_mut(self.flag.index() - m);
        let (head, d) = head.split_at(head.len() - self.n_discrete);
        let at = At {
            t: head[0],
            x: &head[1..1 + self.n],
            y: &head[1 + 2 * self.n..],
            d,
            holds,
        };
        let r = &mut r[..m];
        (self.g)(&at, r);
        let before = &values.pre[self.flag.index() - m..];
        let mut changed = false;
        for (((holds, crossing), r), before) in
            holds.iter_mut().zip(&self.relations).zip(r).zip(before)
        {
            *holds = f64::from(u8::from(crossing.at(*r)));
            changed |= *holds != *before;
        }
        changed
    }

    /// A fault beyond a relation that guards the derivatives.
    #[inline(always)]
    fn guarded(&self, values: &mut Values) -> Status {
        if self.guards.is_empty() {
            return Ok(());
        }
        let p = self.parts(&mut values.v);
        (self.g)(&p.point.at(), p.r);
        for &(i, site) in &self.guards {
            let crossing = &self.relations[i];
            if crossing.at(p.r[i]) != (p.point.holds[i] != 0.0) {
                return Err(Fault {
                    recoverable: true,
                    site,
                    kind: FaultKind::Range(format!("`{}` does not hold any more", crossing.text)),
                });
            }
        }
        Ok(())
    }

    fn is_tick(&self, t: f64) -> bool {
        self.sampling
            .is_some_and(|sampling| t >= sampling.start && sampling.at(sampling.index(t)) == t)
    }

    fn event(&self, values: &mut Values) {
        let tick = values.get(self.flag) > values.pre[self.flag.index()];
        let changed = self.relations(values);
        if changed || tick {
            self.jump(tick, values);
        }
        // Where a relation has changed another pass follows.
        if !changed {
            self.derivatives(values);
        }
    }

    /// Lets the user's closure act on an event.
    fn jump(&self, tick: bool, values: &mut Values) {
        let Values {
            v, pre, actions, ..
        } = values;
        let Parts { point: now, .. } = self.parts(v);
        let (_, old) = pre.split_at(1);
        let (old_x, old) = old.split_at(self.n);
        let (old_d, old) = old[self.n + self.n_algebraic..].split_at(self.n_discrete);
        let old_holds = &old[..self.relations.len()];
        for (d, old) in now.d.iter_mut().zip(old_d) {
            *d = *old;
        }
        let agenda = &mut *self.calendar.borrow_mut();
        (self.r)(&mut Jump {
            t: now.t,
            x: now.x,
            d: now.d,
            now: now.holds,
            pre: old_holds,
            tick: tick && self.is_tick(now.t),
            due: if tick { &agenda.due } else { &[] },
            scheduled: &mut agenda.scheduled,
        });
        if !agenda.scheduled.is_empty() {
            for (time, priority, tag) in agenda.scheduled.drain(..) {
                agenda.calendar.add(time, priority, tag);
            }
        }
        // A pass begins with equal states in `v` and `pre`; new ones take effect at its end.
        for (i, (x, old)) in now.x.iter_mut().zip(old_x).enumerate() {
            if *x != *old {
                actions.reinits.push((Slot(1 + i as u32), *x));
                *x = *old;
            }
        }
    }
}

impl<F, G, R> Code for OdeCode<F, G, R>
where
    F: Equations,
    G: Fn(&At<'_>, &mut [f64]),
    R: Fn(&mut Jump<'_>),
{
    #[inline(always)]
    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        match code {
            EVENT => self.event(values),
            INITIAL => {
                self.relations(values);
                self.derivatives(values);
            }
            _ => {
                self.guarded(values)?;
                self.derivatives(values);
            }
        }
        Ok(())
    }

    fn residual(&self, _: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        self.guarded(values)?;
        let p = self.parts(&mut values.v);
        self.f.residual(&p.point.at(), p.dx, residual);
        Ok(())
    }

    fn begin(&mut self) {
        let agenda = self.calendar.get_mut();
        agenda.calendar.clear();
        agenda.due.clear();
        for &(time, priority, tag) in &self.entries {
            agenda.calendar.add(time, priority, tag);
        }
    }

    #[inline(always)]
    fn derivatives_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        dx: &mut [f64],
    ) -> Option<Status> {
        if !F::EXPLICIT || !self.guards.is_empty() {
            return None;
        }
        self.f.derivatives(&self.at(t, x, values), dx);
        Some(Ok(()))
    }

    #[inline(always)]
    fn crossings_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Option<Status> {
        if !F::EXPLICIT || !self.guards.is_empty() {
            return None;
        }
        (self.g)(&self.at(t, x, values), out);
        Some(Ok(()))
    }

    #[inline(always)]
    fn crossings_of_event<'a>(&self, values: &'a Values) -> Option<&'a [f64]> {
        // Guards use the same place at other points.
        let r = &values.v[self.flag.index() + 1..][..self.relations.len()];
        self.guards.is_empty().then_some(r)
    }

    #[inline(always)]
    fn event_completes(&self) -> bool {
        F::EXPLICIT && self.guards.is_empty()
    }

    fn crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        let p = self.parts(&mut values.v);
        (self.g)(&p.point.at(), out);
        Ok(())
    }

    fn next_time_event(&self, values: &Values) -> f64 {
        let tick = match self.sampling {
            None => f64::INFINITY,
            Some(sampling) if values.time() < sampling.start => sampling.start,
            Some(sampling) => {
                let next = sampling.at(sampling.index(values.time()) + 1.0);
                if next > values.time() {
                    next
                } else {
                    sampling.at(sampling.index(values.time()) + 2.0)
                }
            }
        };
        tick.min(self.calendar.borrow().calendar.next_time())
    }

    fn set_time_flags(&self, values: &mut Values) -> bool {
        let t = values.time();
        let agenda = &mut *self.calendar.borrow_mut();
        agenda.due.clear();
        while let Some(tag) = agenda.calendar.take_due(t) {
            agenda.due.push(tag);
        }
        let due = self.is_tick(t) || !agenda.due.is_empty();
        values.set(self.flag, f64::from(u8::from(due)));
        due
    }

    fn observes_steps(&self) -> bool {
        false
    }

    fn clear_time_flags(&self, values: &mut Values) {
        values.set(self.flag, 0.0);
        values.pre[self.flag.index()] = 0.0;
    }
}
