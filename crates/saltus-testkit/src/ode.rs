//! x' = f with crossings and jumps, from closures.
//!
//! ```
//! use saltus_testkit::{Crossing, OdeProblem};
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

use crate::hand::{Code, HandModel, Layout};
use saltus_model::{CodeId, CrossingClass, ScheduleKind, Section, Slot, SlotRole, Status, Values};

/// A point at which closures are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub t: f64,
    pub x: &'a [f64],
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
}

impl Jump<'_> {
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
        }
    }

    /// Holds where the function is positive.
    pub fn above(text: &str) -> Crossing {
        Crossing {
            rising: true,
            ..Crossing::below(text)
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

/// A problem being described; `F` gives derivatives, `G` crossing functions, `R` jumps.
#[derive(Clone, Debug)]
pub struct OdeProblem<F, G, R> {
    name: String,
    states: Vec<(String, f64)>,
    discrete: Vec<(String, f64)>,
    discrete_feeds: bool,
    relations: Vec<Crossing>,
    sampling: Option<Sampling>,
    pattern: Option<Vec<Vec<u32>>>,
    f: F,
    g: G,
    r: R,
}

/// No crossing functions.
pub type NoCrossings = fn(&At<'_>, &mut [f64]);
/// No jumps.
pub type NoJumps = fn(&mut Jump<'_>);

impl<F: Fn(&At<'_>, &mut [f64])> OdeProblem<F, NoCrossings, NoJumps> {
    pub fn new(name: &str, states: &[(&str, f64)], f: F) -> OdeProblem<F, NoCrossings, NoJumps> {
        OdeProblem {
            name: name.to_owned(),
            states: states
                .iter()
                .map(|(name, start)| ((*name).to_owned(), *start))
                .collect(),
            discrete: Vec::new(),
            discrete_feeds: true,
            relations: Vec::new(),
            sampling: None,
            pattern: None,
            f,
            g: |_, _| {},
            r: |_| {},
        }
    }
}

impl<F, G, R> OdeProblem<F, G, R> {
    pub fn discrete(mut self, variables: &[(&str, f64)]) -> Self {
        self.discrete = variables
            .iter()
            .map(|(name, start)| ((*name).to_owned(), *start))
            .collect();
        self
    }

    /// The derivatives do not depend on the discrete variables.
    pub fn discrete_observed(mut self) -> Self {
        self.discrete_feeds = false;
        self
    }

    pub fn crossings<H: Fn(&At<'_>, &mut [f64])>(
        self,
        relations: &[Crossing],
        g: H,
    ) -> OdeProblem<F, H, R> {
        OdeProblem {
            name: self.name,
            states: self.states,
            discrete: self.discrete,
            discrete_feeds: self.discrete_feeds,
            relations: relations.to_vec(),
            sampling: self.sampling,
            pattern: self.pattern,
            f: self.f,
            g,
            r: self.r,
        }
    }

    /// Called in each pass of the event iteration in which a relation changed or a sample is due.
    pub fn on_event<Q: Fn(&mut Jump<'_>)>(self, r: Q) -> OdeProblem<F, G, Q> {
        OdeProblem {
            name: self.name,
            states: self.states,
            discrete: self.discrete,
            discrete_feeds: self.discrete_feeds,
            relations: self.relations,
            sampling: self.sampling,
            pattern: self.pattern,
            f: self.f,
            g: self.g,
            r,
        }
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

impl<F, G, R> OdeProblem<F, G, R>
where
    F: Fn(&At<'_>, &mut [f64]) + Clone,
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
        for (name, start) in &self.discrete {
            let slot = layout.slot(name, SlotRole::Discrete, *start);
            if !self.discrete_feeds {
                layout.does_not_feed(slot);
            }
        }
        for crossing in &self.relations {
            let slot = layout.relation(
                &crossing.text,
                crossing.rising,
                crossing.closed,
                crossing.class,
            );
            if !crossing.feeds {
                layout.does_not_feed(slot);
            }
        }
        let flag = layout.slot("tick", SlotRole::Auxiliary, 0.0);
        layout.does_not_feed(flag);
        layout.scratch(self.relations.len());
        layout.schedule(ScheduleKind::Derivatives, &[Section::Explicit(DERIVATIVES)]);
        layout.schedule(ScheduleKind::Event, &[Section::Explicit(EVENT)]);
        layout.schedule(ScheduleKind::Initial, &[Section::Explicit(INITIAL)]);
        if let Some(pattern) = self.pattern {
            layout.pattern(pattern);
        }
        let code = OdeCode {
            n,
            n_discrete: self.discrete.len(),
            relations: self.relations,
            sampling: self.sampling,
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

/// The code of an [`OdeProblem`]. Slots: time, states, derivatives, discrete variables, relations, sample flag, work space.
#[derive(Clone, Debug)]
pub struct OdeCode<F, G, R> {
    n: usize,
    n_discrete: usize,
    relations: Vec<Crossing>,
    sampling: Option<Sampling>,
    flag: Slot,
    f: F,
    g: G,
    r: R,
}

/// The parts of a value array.
struct Parts<'a> {
    t: f64,
    x: &'a mut [f64],
    dx: &'a mut [f64],
    d: &'a mut [f64],
    holds: &'a mut [f64],
    /// Values of the crossing functions in an event.
    r: &'a mut [f64],
}

impl<F, G, R> OdeCode<F, G, R>
where
    F: Fn(&At<'_>, &mut [f64]),
    G: Fn(&At<'_>, &mut [f64]),
    R: Fn(&mut Jump<'_>),
{
    #[inline]
    fn parts<'a>(&self, v: &'a mut [f64]) -> Parts<'a> {
        let (time, rest) = v.split_at_mut(1);
        let (x, rest) = rest.split_at_mut(self.n);
        let (dx, rest) = rest.split_at_mut(self.n);
        let (d, rest) = rest.split_at_mut(self.n_discrete);
        let (holds, rest) = rest.split_at_mut(self.relations.len());
        let (_flag, rest) = rest.split_at_mut(1);
        let (r, _) = rest.split_at_mut(self.relations.len());
        Parts {
            t: time[0],
            x,
            dx,
            d,
            holds,
            r,
        }
    }

    #[inline]
    fn derivatives(&self, values: &mut Values) {
        let p = self.parts(&mut values.v);
        (self.f)(
            &At {
                t: p.t,
                x: p.x,
                d: p.d,
                holds: p.holds,
            },
            p.dx,
        );
    }

    fn relations(&self, values: &mut Values) {
        let p = self.parts(&mut values.v);
        (self.g)(
            &At {
                t: p.t,
                x: p.x,
                d: p.d,
                holds: p.holds,
            },
            p.r,
        );
        for ((holds, crossing), r) in p.holds.iter_mut().zip(&self.relations).zip(p.r) {
            let truth = if *r == 0.0 {
                crossing.closed
            } else {
                (*r > 0.0) == crossing.rising
            };
            *holds = f64::from(u8::from(truth));
        }
    }

    fn event(&self, values: &mut Values) {
        self.relations(values);
        let tick = values.get(self.flag) > values.pre[self.flag.index()];
        let Values { v, pre, actions } = values;
        let p = self.parts(v);
        let q = self.parts(pre);
        if tick || p.holds != q.holds {
            p.d.copy_from_slice(q.d);
            (self.r)(&mut Jump {
                t: p.t,
                x: p.x,
                d: p.d,
                now: p.holds,
                pre: q.holds,
                tick,
            });
            // A pass begins with equal states in `v` and `pre`; new ones take effect at its end.
            for (i, (x, old)) in p.x.iter_mut().zip(q.x).enumerate() {
                if *x != *old {
                    actions.reinits.push((Slot(1 + i as u32), *x));
                    *x = *old;
                }
            }
        }
        self.derivatives(values);
    }
}

impl<F, G, R> Code for OdeCode<F, G, R>
where
    F: Fn(&At<'_>, &mut [f64]),
    G: Fn(&At<'_>, &mut [f64]),
    R: Fn(&mut Jump<'_>),
{
    #[inline]
    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        match code {
            EVENT => self.event(values),
            INITIAL => {
                self.relations(values);
                self.derivatives(values);
            }
            _ => self.derivatives(values),
        }
        Ok(())
    }

    fn crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        let p = self.parts(&mut values.v);
        (self.g)(
            &At {
                t: p.t,
                x: p.x,
                d: p.d,
                holds: p.holds,
            },
            out,
        );
        Ok(())
    }

    fn next_time_event(&self, values: &Values) -> f64 {
        match self.sampling {
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
        }
    }

    fn set_time_flags(&self, values: &mut Values) -> bool {
        let due = self.sampling.is_some_and(|sampling| {
            let t = values.time();
            t >= sampling.start && sampling.at(sampling.index(t)) == t
        });
        values.set(self.flag, f64::from(u8::from(due)));
        due
    }

    fn clear_time_flags(&self, values: &mut Values) {
        values.set(self.flag, 0.0);
        values.pre[self.flag.index()] = 0.0;
    }
}
