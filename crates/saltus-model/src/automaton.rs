//! Hybrid automata from closures: locations with their own states, guards, resets, parallel and nested composition, synchronising events.
//!
//! Comes in: variables, automata, locations, transitions. Goes out: a [`Model`] with one system for each combination of locations that can be active together: in
//! each the states are exactly those of its locations, and only the guards of transitions that can be taken are crossing functions.
//!
//! ```
//! use saltus_model::automaton::HybridSystem;
//! let mut room = HybridSystem::new("room");
//! let temperature = room.continuous("T", 20.0);
//! let heater = room.automaton("heater");
//! let off = room.location(heater, "off", &[temperature], move |at, dx| dx[0] = 0.5 - 0.1 * at[temperature]);
//! let on = room.location(heater, "on", &[temperature], move |at, dx| dx[0] = 3.5 - 0.1 * at[temperature]);
//! room.transition(off, on).guard("T < 18", move |at| 18.0 - at[temperature]);
//! room.transition(on, off).guard("T > 22", move |at| at[temperature] - 22.0);
//! let model = room.build()?;
//! # let _ = model;
//! # Ok::<(), saltus_model::automaton::AutomatonError>(())
//! ```
//!
//! One pass of the event iteration:
//!
//! ```text
//! guards of the transitions that leave active locations, at the values before the pass
//! repeat: each automaton, in the order they were made, that has taken no transition in this pass takes one whose guard holds and whose event,
//!         if it waits for one, has been emitted in this pass; emits its own
//! resets of all transitions taken, from the values before the pass
//! ```
//! An automaton whose enclosing location is left is left with it, and does not take a transition of its own. Two transitions of equal priority that could be taken
//! together are an error.

use crate::{
    BlockId, BlockInfo, Causality, CodeId, CrossingClass, CrossingInfo, Fault, FaultKind,
    InitialNote, Instance, Model, ModelInfo, ScheduleKind, Section, Settable, Site, SiteInfo, Slot,
    SlotInfo, SlotRole, StateSlots, Status, StepPoint, System, ValueType, Values, VariableInfo,
    VariableKind,
};
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

/// Systems that a model may have; more combinations of locations are refused.
const SYSTEMS_MAX: usize = 4096;

/// A continuous variable: a state in the locations that say so, in others computed or without meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Continuous(usize);

/// A variable that changes at events only; parameters that transitions reset are such.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Discrete(usize);

/// Something that happens at an instant, by which automata are synchronised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event(usize);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AutomatonId(usize);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocationId(usize);

/// The point at which closures are evaluated: `at[variable]`, `at.t`.
#[derive(Clone, Copy)]
pub struct Point<'a> {
    pub t: f64,
    shared: &'a Shared,
    v: &'a [f64],
}

impl Point<'_> {
    /// Whether the location is active.
    pub fn is_in(&self, location: LocationId) -> bool {
        let of = &self.shared.locations[location.0];
        self.v[self.shared.location_slot(of.automaton).index()] == of.number
    }
}

impl Index<Continuous> for Point<'_> {
    type Output = f64;

    fn index(&self, variable: Continuous) -> &f64 {
        &self.v[self.shared.value_slot(variable).index()]
    }
}

impl Index<Discrete> for Point<'_> {
    type Output = f64;

    fn index(&self, variable: Discrete) -> &f64 {
        &self.v[self.shared.discrete_slot(variable).index()]
    }
}

/// What a transition changes: reads give the values before it.
pub struct Reset<'a> {
    before: Point<'a>,
    continuous: &'a mut Vec<(Slot, f64)>,
    discrete: &'a mut Vec<(Slot, f64)>,
}

impl Reset<'_> {
    pub fn before(&self) -> Point<'_> {
        self.before
    }

    pub fn set(&mut self, variable: Continuous, value: f64) {
        let slot = self.before.shared.value_slot(variable);
        self.continuous.push((slot, value));
    }

    pub fn set_discrete(&mut self, variable: Discrete, value: f64) {
        let slot = self.before.shared.discrete_slot(variable);
        self.discrete.push((slot, value));
    }
}

type Flow = Arc<dyn Fn(&Point<'_>, &mut [f64]) + Send + Sync>;
type Guard = Arc<dyn Fn(&Point<'_>) -> f64 + Send + Sync>;
type Action = Arc<dyn Fn(&mut Reset<'_>) + Send + Sync>;

#[derive(Clone)]
struct Location {
    name: String,
    automaton: usize,
    /// Within its automaton, from 1 on; 0 is none of them.
    number: f64,
    states: Vec<Continuous>,
    flow: Flow,
    outputs: Vec<(Vec<Continuous>, Flow)>,
}

#[derive(Clone)]
struct Transition {
    from: usize,
    to: usize,
    guard: Option<(String, Guard)>,
    /// Only when the guard becomes true, not where it holds at entry.
    at_edge: bool,
    waits_for: Option<Event>,
    emits: Option<Event>,
    priority: i32,
    reset: Option<Action>,
}

#[derive(Clone)]
struct Automaton {
    name: String,
    /// The location that contains it.
    within: Option<usize>,
    locations: Vec<usize>,
}

/// Why a description is not a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AutomatonError {
    /// An automaton has no location to begin in.
    NoLocation { automaton: String },
    /// A transition leads to a location of another automaton.
    ForeignLocation { from: String, to: String },
    /// A variable is a state in two locations that can be active together.
    StateTwice {
        variable: String,
        locations: [String; 2],
    },
    /// More combinations of locations than can be kept.
    TooMany { combinations: usize },
}

impl fmt::Display for AutomatonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AutomatonError::NoLocation { automaton } => {
                write!(f, "the automaton `{automaton}` has no location")
            }
            AutomatonError::ForeignLocation { from, to } => {
                write!(
                    f,
                    "the transition from `{from}` leads to `{to}`, a location of another automaton"
                )
            }
            AutomatonError::StateTwice {
                variable,
                locations: [a, b],
            } => write!(
                f,
                "`{variable}` is a state in `{a}` and in `{b}`, which can be active together"
            ),
            AutomatonError::TooMany { combinations } => {
                write!(
                    f,
                    "{combinations} combinations of locations, more than {SYSTEMS_MAX}"
                )
            }
        }
    }
}

impl std::error::Error for AutomatonError {}

/// A hybrid system being described: automata side by side (AND), each in one of its locations (XOR), automata within locations.
#[derive(Clone)]
pub struct HybridSystem {
    name: String,
    continuous: Vec<(String, f64)>,
    discrete: Vec<(String, f64)>,
    events: Vec<String>,
    automata: Vec<Automaton>,
    locations: Vec<Location>,
    transitions: Vec<Transition>,
}

impl HybridSystem {
    pub fn new(name: &str) -> HybridSystem {
        HybridSystem {
            name: name.to_owned(),
            continuous: Vec::new(),
            discrete: Vec::new(),
            events: Vec::new(),
            automata: Vec::new(),
            locations: Vec::new(),
            transitions: Vec::new(),
        }
    }

    /// A continuous variable with its start value; all automata can read it.
    pub fn continuous(&mut self, name: &str, start: f64) -> Continuous {
        self.continuous.push((name.to_owned(), start));
        Continuous(self.continuous.len() - 1)
    }

    pub fn discrete(&mut self, name: &str, start: f64) -> Discrete {
        self.discrete.push((name.to_owned(), start));
        Discrete(self.discrete.len() - 1)
    }

    pub fn event(&mut self, name: &str) -> Event {
        self.events.push(name.to_owned());
        Event(self.events.len() - 1)
    }

    /// An automaton beside the others.
    pub fn automaton(&mut self, name: &str) -> AutomatonId {
        self.automata.push(Automaton {
            name: name.to_owned(),
            within: None,
            locations: Vec::new(),
        });
        AutomatonId(self.automata.len() - 1)
    }

    /// An automaton within a location: begins in its first location whenever that one is entered.
    pub fn automaton_within(&mut self, location: LocationId, name: &str) -> AutomatonId {
        let id = self.automaton(name);
        self.automata[id.0].within = Some(location.0);
        id
    }

    /// A location with its states, whose derivatives `flow` writes. The first one of an automaton is where it begins.
    pub fn location(
        &mut self,
        automaton: AutomatonId,
        name: &str,
        states: &[Continuous],
        flow: impl Fn(&Point<'_>, &mut [f64]) + Send + Sync + 'static,
    ) -> LocationId {
        let id = self.locations.len();
        let of = &mut self.automata[automaton.0];
        of.locations.push(id);
        self.locations.push(Location {
            name: format!("{}.{name}", of.name),
            automaton: automaton.0,
            number: of.locations.len() as f64,
            states: states.to_vec(),
            flow: Arc::new(flow),
            outputs: Vec::new(),
        });
        LocationId(id)
    }

    /// Variables that are not states in a location but follow from others there; in the order given.
    pub fn output(
        &mut self,
        location: LocationId,
        variables: &[Continuous],
        values: impl Fn(&Point<'_>, &mut [f64]) + Send + Sync + 'static,
    ) {
        let output: (Vec<Continuous>, Flow) = (variables.to_vec(), Arc::new(values));
        self.locations[location.0].outputs.push(output);
    }

    /// A transition; what follows in the chain says when it is taken and what it does.
    pub fn transition(&mut self, from: LocationId, to: LocationId) -> TransitionOf<'_> {
        self.transitions.push(Transition {
            from: from.0,
            to: to.0,
            guard: None,
            at_edge: from == to,
            waits_for: None,
            emits: None,
            priority: 0,
            reset: None,
        });
        let transition = self.transitions.last_mut();
        TransitionOf {
            transition: transition.expect("just added"),
        }
    }

    pub fn build(self) -> Result<AutomatonModel, AutomatonError> {
        self.check()?;
        let sizes: Vec<usize> = (self.automata.iter())
            .map(|a| a.locations.len() + 1)
            .collect();
        let combinations = (sizes.iter()).try_fold(1usize, |n, size| n.checked_mul(*size));
        match combinations {
            Some(n) if n <= SYSTEMS_MAX => {}
            other => {
                let combinations = other.unwrap_or(usize::MAX);
                return Err(AutomatonError::TooMany { combinations });
            }
        }
        Ok(AutomatonModel {
            shared: Arc::new(Shared::new(self, sizes)),
        })
    }

    fn check(&self) -> Result<(), AutomatonError> {
        if let Some(empty) = self.automata.iter().find(|a| a.locations.is_empty()) {
            let automaton = empty.name.clone();
            return Err(AutomatonError::NoLocation { automaton });
        }
        for transition in &self.transitions {
            let [from, to] = [transition.from, transition.to].map(|l| &self.locations[l]);
            if from.automaton != to.automaton {
                return Err(AutomatonError::ForeignLocation {
                    from: from.name.clone(),
                    to: to.name.clone(),
                });
            }
        }
        for (i, a) in self.locations.iter().enumerate() {
            for (j, b) in self.locations.iter().enumerate().skip(i + 1) {
                let common = a.states.iter().find(|s| b.states.contains(s));
                if let Some(variable) = common
                    && self.can_be_together(i, j)
                {
                    return Err(AutomatonError::StateTwice {
                        variable: self.continuous[variable.0].0.clone(),
                        locations: [a.name.clone(), b.name.clone()],
                    });
                }
            }
        }
        Ok(())
    }

    /// The locations around one, itself first.
    fn around(&self, location: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(location), |&l| {
            self.automata[self.locations[l].automaton].within
        })
    }

    /// Two locations exclude each other if somewhere on their ways out they are different locations of one automaton.
    fn can_be_together(&self, a: usize, b: usize) -> bool {
        !self.around(a).any(|a| {
            let excludes =
                |b: usize| a != b && self.locations[a].automaton == self.locations[b].automaton;
            self.around(b).any(excludes)
        })
    }
}

/// A transition being described.
pub struct TransitionOf<'a> {
    transition: &'a mut Transition,
}

impl TransitionOf<'_> {
    /// Taken while the function is positive; `text` is its name in the event log. Without a guard it is taken at once, or with its event.
    pub fn guard(
        self,
        text: &str,
        guard: impl Fn(&Point<'_>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.transition.guard = Some((text.to_owned(), Arc::new(guard)));
        self
    }

    /// Taken only when the guard becomes true, not if it holds where the location is entered. Always so for a transition from a location to itself.
    pub fn at_edge(self) -> Self {
        self.transition.at_edge = true;
        self
    }

    /// Taken only together with a transition that emits the event.
    pub fn on(self, event: Event) -> Self {
        self.transition.waits_for = Some(event);
        self
    }

    pub fn emits(self, event: Event) -> Self {
        self.transition.emits = Some(event);
        self
    }

    /// Of transitions that could be taken together the one with the highest priority is; equal ones are an error.
    pub fn priority(self, priority: i32) -> Self {
        self.transition.priority = priority;
        self
    }

    /// What it changes.
    pub fn reset(self, reset: impl Fn(&mut Reset<'_>) + Send + Sync + 'static) -> Self {
        self.transition.reset = Some(Arc::new(reset));
        self
    }
}

/// Slots: time, values, derivatives, discrete variables, location of each automaton, truth of each guard.
struct Shared {
    system: HybridSystem,
    /// Locations of each automaton, and none of them.
    sizes: Vec<usize>,
    info: ModelInfo,
    start: Vec<f64>,
    discrete: Vec<Slot>,
    locations: Vec<Location>,
    /// Sites of the guards.
    sites: Vec<Site>,
}

const DERIVATIVES: CodeId = CodeId(0);
const EVENT: CodeId = CodeId(1);
const INITIAL: CodeId = CodeId(2);

impl Shared {
    fn new(system: HybridSystem, sizes: Vec<usize>) -> Shared {
        let mut shared = Shared {
            sizes,
            info: ModelInfo {
                name: system.name.clone(),
                ..ModelInfo::default()
            },
            start: Vec::new(),
            discrete: Vec::new(),
            locations: system.locations.clone(),
            sites: Vec::new(),
            system,
        };
        shared.slot("time", SlotRole::Time, 0.0);
        let system = shared.system.clone();
        for (name, start) in &system.continuous {
            shared.slot(name, SlotRole::State, *start);
        }
        for (name, _) in &system.continuous {
            shared.slot(&format!("der({name})"), SlotRole::Derivative, 0.0);
        }
        for (name, start) in &system.discrete {
            shared.slot(name, SlotRole::Discrete, *start);
        }
        let mut first: Vec<f64> = Vec::new();
        for automaton in &system.automata {
            // An automaton is made after the location that it is within.
            let active = automaton.within.is_none_or(|l| {
                let around = &system.locations[l];
                first[around.automaton] == around.number
            });
            first.push(f64::from(u8::from(active)));
        }
        for (automaton, first) in system.automata.iter().zip(first) {
            shared.slot(&automaton.name, SlotRole::Discrete, first);
        }
        for transition in &system.transitions {
            let text = transition.guard.as_ref().map_or("", |guard| &guard.0);
            let slot = shared.slot(text, SlotRole::Relation, 0.0);
            let site = shared.info.slots[slot.index()].site;
            shared.sites.push(site);
        }
        shared
    }

    fn slot(&mut self, name: &str, role: SlotRole, start: f64) -> Slot {
        let slot = Slot(self.start.len() as u32);
        let site = Site(self.info.sites.len() as u32);
        self.info.sites.push(SiteInfo {
            file: "".into(),
            line: 0,
            column: 0,
            text: name.to_owned(),
        });
        self.info.slots.push(SlotInfo {
            name: name.to_owned(),
            role,
            min: f64::NEG_INFINITY,
            max: f64::INFINITY,
            nominal: 1.0,
            site,
            equation: None,
        });
        let changes = matches!(role, SlotRole::Discrete | SlotRole::Relation);
        if matches!(
            role,
            SlotRole::State | SlotRole::Derivative | SlotRole::Discrete
        ) {
            self.info.variables.push(VariableInfo {
                name: name.to_owned(),
                description: String::new(),
                unit: String::new(),
                display_unit: String::new(),
                ty: ValueType::Real,
                kind: if changes {
                    VariableKind::Discrete
                } else {
                    VariableKind::Continuous
                },
                slot,
                negated: false,
                hidden: false,
                settable: match role {
                    SlotRole::State | SlotRole::Discrete => Settable::Value,
                    _ => Settable::No,
                },
                causality: Causality::Local,
                enumeration: None,
                has_value: true,
                start: match role {
                    SlotRole::State | SlotRole::Discrete => crate::Start::Exact,
                    _ => crate::Start::Computed,
                },
                site,
            });
        }
        self.start.push(start);
        if changes {
            self.discrete.push(slot);
        }
        slot
    }

    fn value_slot(&self, variable: Continuous) -> Slot {
        Slot(1 + variable.0 as u32)
    }

    fn derivative_slot(&self, variable: Continuous) -> Slot {
        Slot((1 + self.system.continuous.len() + variable.0) as u32)
    }

    fn discrete_slot(&self, variable: Discrete) -> Slot {
        Slot((1 + 2 * self.system.continuous.len() + variable.0) as u32)
    }

    fn location_slot(&self, automaton: usize) -> Slot {
        let discrete = self.discrete_slot(Discrete(self.system.discrete.len()));
        Slot(discrete.0 + automaton as u32)
    }

    fn guard_slot(&self, transition: usize) -> Slot {
        let locations = self.location_slot(self.system.automata.len());
        Slot(locations.0 + transition as u32)
    }

    fn point<'a>(&'a self, v: &'a [f64]) -> Point<'a> {
        Point {
            t: v[0],
            shared: self,
            v,
        }
    }

    /// The combination of locations that the values name.
    fn code(&self, v: &[f64]) -> usize {
        let numbers = (0..self.sizes.len()).map(|a| v[self.location_slot(a).index()] as usize);
        (numbers.zip(&self.sizes)).fold(0, |code, (number, size)| code * size + number)
    }

    /// The active location of each automaton.
    fn active(&self, mut code: usize) -> Vec<Option<usize>> {
        let mut active = vec![None; self.sizes.len()];
        for (a, size) in self.sizes.iter().enumerate().rev() {
            let number = code % size;
            code /= size;
            active[a] = (number > 0).then(|| self.system.automata[a].locations[number - 1]);
        }
        active
    }
}

/// A built hybrid system.
#[derive(Clone)]
pub struct AutomatonModel {
    shared: Arc<Shared>,
}

impl Model for AutomatonModel {
    type Instance = AutomatonInstance;

    fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    fn instantiate(&self) -> AutomatonInstance {
        let n: usize = self.shared.sizes.iter().product();
        AutomatonInstance {
            systems: (0..n)
                .map(|code| AutomatonSystem::new(&self.shared, code))
                .collect(),
            shared: self.shared.clone(),
        }
    }
}

/// One run of a hybrid system.
pub struct AutomatonInstance {
    shared: Arc<Shared>,
    systems: Vec<AutomatonSystem>,
}

impl Instance for AutomatonInstance {
    type System = AutomatonSystem;

    fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    fn bind(&mut self, time_start: f64, overrides: &[(Slot, f64)]) -> Result<Values, Fault> {
        let mut values = Values::new(self.shared.start.len());
        values.v.copy_from_slice(&self.shared.start);
        values.v[0] = time_start;
        for (slot, value) in overrides {
            values.set(*slot, *value);
        }
        values.pre.copy_from_slice(&values.v);
        Ok(values)
    }

    fn initial_notes(&self) -> &[InitialNote] {
        &[]
    }

    fn system(&self, values: &Values) -> &AutomatonSystem {
        &self.systems[self.shared.code(&values.v)]
    }

    fn mode(&self, values: &Values) -> u32 {
        self.shared.code(&values.v) as u32
    }

    fn next_time_event(&self, _: &Values) -> Result<f64, Fault> {
        Ok(f64::INFINITY)
    }

    fn set_time_flags(&mut self, _: &mut Values) -> bool {
        false
    }

    fn clear_time_flags(&mut self, _: &mut Values) {}

    fn completed_step(&mut self, _: &mut Values, _: StepPoint) {}

    fn step_size_max(&self, _: &Values) -> f64 {
        f64::INFINITY
    }
}

/// The system of one combination of locations.
pub struct AutomatonSystem {
    shared: Arc<Shared>,
    active: Vec<Option<usize>>,
    states: Vec<StateSlots>,
    /// Transitions that can be taken, those with a guard first; one crossing for each guard.
    leaving: Vec<usize>,
    crossings: Vec<CrossingInfo>,
    schedules: [Vec<Section>; 5],
}

impl AutomatonSystem {
    fn new(shared: &Arc<Shared>, code: usize) -> AutomatonSystem {
        let active = shared.active(code);
        let of_active = |l: usize| active.contains(&Some(l));
        let states = (active.iter().flatten()).flat_map(|&l| &shared.locations[l].states);
        let states = states.map(|&variable| StateSlots {
            value: shared.value_slot(variable),
            derivative: shared.derivative_slot(variable),
        });
        let transitions = &shared.system.transitions;
        let mut leaving: Vec<usize> = (0..transitions.len())
            .filter(|&k| of_active(transitions[k].from))
            .collect();
        leaving.sort_by_key(|&k| transitions[k].guard.is_none());
        let crossings = (leaving.iter())
            .filter_map(|&k| transitions[k].guard.as_ref().map(|guard| (k, guard)))
            .map(|(k, guard)| CrossingInfo {
                relation: shared.guard_slot(k),
                rising: true,
                closed: false,
                class: CrossingClass::General,
                slides: false,
                guards: Vec::new(),
                resets: Vec::new(),
                nominal: 1.0,
                site: shared.sites[k],
                text: guard.0.clone(),
            });
        let code = |id| vec![Section::Explicit(id)];
        AutomatonSystem {
            states: states.collect(),
            crossings: crossings.collect(),
            schedules: [
                code(DERIVATIVES),
                Vec::new(),
                Vec::new(),
                code(EVENT),
                code(INITIAL),
            ],
            active,
            leaving,
            shared: shared.clone(),
        }
    }

    /// Outputs, then derivatives, of the active locations; what is no state does not move.
    fn derivatives(&self, values: &mut Values) {
        let shared = &*self.shared;
        for k in 0..shared.system.continuous.len() {
            values.set(shared.derivative_slot(Continuous(k)), 0.0);
        }
        let active = || (self.active.iter().flatten()).map(|&l| &shared.locations[l]);
        let mut out = Vec::new();
        for (variables, function) in active().flat_map(|location| &location.outputs) {
            out.clear();
            out.resize(variables.len(), 0.0);
            function(&shared.point(&values.v), &mut out);
            for (variable, x) in variables.iter().zip(&out) {
                values.set(shared.value_slot(*variable), *x);
            }
        }
        for location in active() {
            out.clear();
            out.resize(location.states.len(), 0.0);
            (location.flow)(&shared.point(&values.v), &mut out);
            for (variable, x) in location.states.iter().zip(&out) {
                values.set(shared.derivative_slot(*variable), *x);
            }
        }
    }

    /// Lets the relations of guards follow their functions at a point; those of other locations do not hold.
    fn read_guards(&self, leaving: &[usize], at: &[f64], values: &mut Values) {
        let shared = &*self.shared;
        for k in 0..shared.system.transitions.len() {
            values.set(shared.guard_slot(k), 0.0);
        }
        for &k in leaving {
            if let Some((_, guard)) = &shared.system.transitions[k].guard {
                let holds = guard(&shared.point(at)) > 0.0;
                values.set(shared.guard_slot(k), f64::from(u8::from(holds)));
            }
        }
    }

    /// One pass of the event iteration.
    fn event(&self, values: &mut Values) -> Status {
        self.derivatives(values);
        let shared = self.shared.clone();
        let before = values.v.clone();
        self.read_guards(&self.leaving, &before, values);
        let taken = self.take_transitions(values)?;
        if taken.is_empty() {
            return Ok(());
        }
        let (mut continuous, mut discrete) = (Vec::new(), Vec::new());
        for &k in &taken {
            if let Some(reset) = &shared.system.transitions[k].reset {
                reset(&mut Reset {
                    before: shared.point(&before),
                    continuous: &mut continuous,
                    discrete: &mut discrete,
                });
            }
        }
        for (slot, value) in discrete {
            values.set(slot, value);
        }
        for &k in &taken {
            let to = &shared.locations[shared.system.transitions[k].to];
            values.set(shared.location_slot(to.automaton), to.number);
        }
        self.place_inner(&taken, values);
        // Guards of the locations entered, at the values after the resets: what holds there already has not become true.
        let mut after = values.v.clone();
        for &(slot, value) in &continuous {
            after[slot.index()] = value;
        }
        let entered = AutomatonSystem::new(&shared, shared.code(&values.v));
        entered.read_guards(&entered.leaving, &after, values);
        values.actions.reinits.extend(continuous);
        Ok(())
    }

    /// The transitions that are taken in this pass.
    fn take_transitions(&self, values: &Values) -> Result<Vec<usize>, Fault> {
        let shared = &*self.shared;
        let transitions = &shared.system.transitions;
        let mut emitted = vec![false; shared.system.events.len()];
        let mut taken: Vec<usize> = Vec::new();
        loop {
            let mut found = None;
            for automaton in 0..self.active.len() {
                let of =
                    |&&k: &&usize| shared.locations[transitions[k].from].automaton == automaton;
                if taken.iter().any(|k| of(&k)) || self.is_left(automaton, &taken) {
                    continue;
                }
                let can = |&&k: &&usize| {
                    let transition = &transitions[k];
                    let slot = shared.guard_slot(k).index();
                    let holds = values.v[slot] != 0.0;
                    let passes = match &transition.guard {
                        None => !transition.at_edge || transition.waits_for.is_some(),
                        Some(_) => holds && !(transition.at_edge && values.pre[slot] != 0.0),
                    };
                    passes && transition.waits_for.is_none_or(|event| emitted[event.0])
                };
                let ready: Vec<usize> = (self.leaving.iter())
                    .filter(of)
                    .filter(can)
                    .copied()
                    .collect();
                let Some(highest) = ready.iter().map(|&k| transitions[k].priority).max() else {
                    continue;
                };
                let mut first = ready
                    .iter()
                    .filter(|&&k| transitions[k].priority == highest);
                found = first.next().copied();
                if let (Some(k), Some(&other)) = (found, first.next()) {
                    return Err(self.conflict(k, other));
                }
                break;
            }
            let Some(k) = found else {
                return Ok(taken);
            };
            if let Some(event) = transitions[k].emits {
                emitted[event.0] = true;
            }
            taken.push(k);
        }
    }

    /// A location around the automaton is being left.
    fn is_left(&self, automaton: usize, taken: &[usize]) -> bool {
        let system = &self.shared.system;
        let Some(within) = system.automata[automaton].within else {
            return false;
        };
        let left = |l: usize| taken.iter().any(|&k| system.transitions[k].from == l);
        system.around(within).any(left)
    }

    /// Inner automata begin with their locations and end with them.
    fn place_inner(&self, taken: &[usize], values: &mut Values) {
        let shared = &*self.shared;
        for (a, automaton) in shared.system.automata.iter().enumerate() {
            let Some(within) = automaton.within else {
                continue;
            };
            let around = &shared.locations[within];
            let slot = shared.location_slot(a);
            let active = values.get(shared.location_slot(around.automaton)) == around.number;
            let entered = (shared.system.around(within))
                .any(|l| taken.iter().any(|&k| shared.system.transitions[k].to == l));
            if !active {
                values.set(slot, 0.0);
            } else if entered || values.get(slot) == 0.0 {
                values.set(slot, 1.0);
            }
        }
    }

    fn conflict(&self, a: usize, b: usize) -> Fault {
        let system = &self.shared.system;
        let name = |k: usize| &self.shared.locations[system.transitions[k].to].name;
        Fault {
            recoverable: false,
            site: self.shared.sites[a],
            kind: FaultKind::assertion(format!(
                "two transitions leave `{}` at once, to `{}` and `{}`: give them priorities, or guards that exclude each other",
                self.shared.locations[system.transitions[a].from].name,
                name(a),
                name(b)
            )),
        }
    }
}

impl System for AutomatonSystem {
    fn states(&self) -> &[StateSlots] {
        &self.states
    }

    fn schedule(&self, kind: ScheduleKind) -> &[Section] {
        &self.schedules[match kind {
            ScheduleKind::Derivatives => 0,
            ScheduleKind::Crossings => 1,
            ScheduleKind::Outputs => 2,
            ScheduleKind::Event => 3,
            ScheduleKind::Initial => 4,
        }]
    }

    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        match code {
            EVENT => self.event(values),
            INITIAL => {
                self.derivatives(values);
                let at = values.v.clone();
                self.read_guards(&self.leaving, &at, values);
                Ok(())
            }
            _ => {
                self.derivatives(values);
                Ok(())
            }
        }
    }

    fn block(&self, _: BlockId) -> &BlockInfo {
        unreachable!("automata have no blocks")
    }

    fn residual(&self, _: BlockId, _: &mut Values, _: &mut [f64]) -> Status {
        unreachable!("automata have no blocks")
    }

    fn jacobian(&self, _: BlockId, _: &mut Values, _: &mut [f64]) -> Result<bool, Fault> {
        Ok(false)
    }

    fn update_discrete(&self, _: BlockId, _: &mut Values) -> Status {
        Ok(())
    }

    fn crossings(&self) -> &[CrossingInfo] {
        &self.crossings
    }

    fn eval_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        let guards =
            (self.leaving.iter()).filter_map(|&k| self.shared.system.transitions[k].guard.as_ref());
        for (out, (_, guard)) in out.iter_mut().zip(guards) {
            *out = guard(&self.shared.point(&values.v));
        }
        Ok(())
    }

    fn state_pattern(&self) -> Option<&[Vec<u32>]> {
        None
    }

    fn feeds_derivatives(&self, _: Slot) -> bool {
        true
    }

    fn observes_steps(&self) -> bool {
        true
    }

    fn discrete_slots(&self) -> &[Slot] {
        &self.shared.discrete
    }
}
