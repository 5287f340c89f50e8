//! Models written by hand against the contract: a layout of plain data and a [`Code`] that computes.
//!
//! The types are generic over the code, so the solver's inner loop is monomorphised: no dynamic call.

use crate::{
    BlockId, BlockInfo, Causality, CodeId, CrossingClass, CrossingInfo, Experiment, Fault,
    InitialNote, Instance, Model, ModelInfo, ScheduleKind, Section, Settable, Site, SiteInfo, Slot,
    SlotInfo, SlotRole, StateSlots, Status, StepPoint, System, ValueType, Values, VariableInfo,
    VariableKind,
};

use std::sync::Arc;

/// What a hand-written model computes. Methods without a use in the model keep their defaults.
pub trait Code {
    fn run(&self, code: CodeId, values: &mut Values) -> Status;

    fn residual(&self, _block: BlockId, _values: &mut Values, _residual: &mut [f64]) -> Status {
        unreachable!("the model has no blocks")
    }

    fn jacobian(
        &self,
        _block: BlockId,
        _values: &mut Values,
        _jacobian: &mut [f64],
    ) -> Result<bool, Fault> {
        Ok(false)
    }

    fn update_discrete(&self, _block: BlockId, _values: &mut Values) -> Status {
        Ok(())
    }

    fn crossings(&self, _values: &mut Values, _out: &mut [f64]) -> Status {
        Ok(())
    }

    /// See [`System::derivatives_at`].
    #[inline(always)]
    fn derivatives_at(
        &self,
        _t: f64,
        _x: &[f64],
        _values: &mut Values,
        _dx: &mut [f64],
    ) -> Option<Status> {
        None
    }

    /// See [`System::crossings_at`].
    #[inline(always)]
    fn crossings_at(
        &self,
        _t: f64,
        _x: &[f64],
        _values: &mut Values,
        _out: &mut [f64],
    ) -> Option<Status> {
        None
    }

    /// See [`System::crossings_of_event`].
    #[inline(always)]
    fn crossings_of_event<'a>(&self, _values: &'a Values) -> Option<&'a [f64]> {
        None
    }

    /// See [`System::event_completes`].
    #[inline(always)]
    fn event_completes(&self) -> bool {
        false
    }

    /// A run begins.
    fn begin(&mut self) {}

    fn next_time_event(&self, _values: &Values) -> f64 {
        f64::INFINITY
    }

    fn set_time_flags(&self, _values: &mut Values) -> bool {
        false
    }

    fn clear_time_flags(&self, _values: &mut Values) {}

    fn completed_step(&mut self, _values: &Values, _point: StepPoint) {}

    fn step_size_max(&self, _values: &Values) -> f64 {
        f64::INFINITY
    }

    /// See [`System::observes_steps`].
    fn observes_steps(&self) -> bool {
        true
    }
}

/// The data of a hand-written model; build it slot by slot.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    info: ModelInfo,
    start: Vec<f64>,
    states: Vec<StateSlots>,
    schedules: [Vec<Section>; 5],
    blocks: Vec<BlockInfo>,
    crossings: Vec<CrossingInfo>,
    discrete: Vec<Slot>,
    feeds: Vec<bool>,
    pattern: Option<Vec<Vec<u32>>>,
    n_scratch: usize,
}

impl Layout {
    pub fn new(name: &str) -> Layout {
        let mut layout = Layout {
            info: ModelInfo {
                name: name.to_owned(),
                ..ModelInfo::default()
            },
            ..Layout::default()
        };
        layout.slot("time", SlotRole::Time, 0.0);
        layout
    }

    /// A new slot with a start value; discrete ones and relations take part in the event iteration and feed the derivatives.
    pub fn slot(&mut self, name: &str, role: SlotRole, start: f64) -> Slot {
        let slot = Slot(self.start.len() as u32);
        let site = self.site(name);
        let kind = match role {
            SlotRole::Constant => VariableKind::Constant,
            SlotRole::Parameter => VariableKind::Parameter,
            SlotRole::Discrete | SlotRole::Relation | SlotRole::Auxiliary => VariableKind::Discrete,
            SlotRole::Time
            | SlotRole::Input
            | SlotRole::State
            | SlotRole::Derivative
            | SlotRole::Algebraic => VariableKind::Continuous,
        };
        self.info.slots.push(SlotInfo {
            name: name.to_owned(),
            role,
            min: f64::NEG_INFINITY,
            max: f64::INFINITY,
            nominal: 1.0,
            site,
            equation: None,
        });
        // Results have time without being told.
        if role != SlotRole::Time {
            self.info.variables.push(VariableInfo {
                name: name.to_owned(),
                description: String::new(),
                unit: String::new(),
                display_unit: String::new(),
                ty: ValueType::Real,
                kind,
                slot,
                negated: false,
                hidden: matches!(role, SlotRole::Relation | SlotRole::Auxiliary),
                settable: match role {
                    SlotRole::Parameter | SlotRole::State | SlotRole::Input => Settable::Value,
                    _ => Settable::No,
                },
                causality: match role {
                    SlotRole::Input => Causality::Input,
                    _ => Causality::Local,
                },
                enumeration: None,
                has_value: true,
                start: match role {
                    SlotRole::Parameter | SlotRole::State => crate::Start::Exact,
                    _ => crate::Start::Computed,
                },
                site,
            });
        }
        self.start.push(start);
        let changes = matches!(
            role,
            SlotRole::Discrete | SlotRole::Relation | SlotRole::Auxiliary
        );
        self.feeds.push(changes);
        if changes {
            self.discrete.push(slot);
        }
        slot
    }

    /// A state and its derivative.
    pub fn state(&mut self, name: &str, start: f64) -> StateSlots {
        let value = self.slot(name, SlotRole::State, start);
        let derivative = self.slot(&format!("der({name})"), SlotRole::Derivative, 0.0);
        let state = StateSlots { value, derivative };
        self.states.push(state);
        state
    }

    /// Makes two slots a state and its derivative.
    pub fn add_state(&mut self, value: Slot, derivative: Slot) {
        self.states.push(StateSlots { value, derivative });
    }

    /// A relation with its crossing function; the order of calls is the order of the functions.
    pub fn relation(
        &mut self,
        text: &str,
        rising: bool,
        closed: bool,
        class: CrossingClass,
    ) -> Slot {
        let relation = self.slot(text, SlotRole::Relation, 0.0);
        let site = self.info.slots[relation.index()].site;
        self.crossings.push(CrossingInfo {
            nominal: 1.0,
            relation,
            rising,
            closed,
            class,
            slides: false,
            guards: Vec::new(),
            resets: Vec::new(),
            site,
            text: text.to_owned(),
        });
        relation
    }

    /// Nothing but the continuous equations reads this relation: the motion may slide along its surface.
    pub fn slides(&mut self, relation: Slot) {
        for crossing in &mut self.crossings {
            crossing.slides |= crossing.relation == relation;
        }
    }

    /// So many more entries of the value array after the last slot, for the code's own use within one call.
    pub fn scratch(&mut self, n: usize) {
        self.n_scratch = n;
    }

    pub fn site(&mut self, text: &str) -> Site {
        let site = Site(self.info.sites.len() as u32);
        self.info.sites.push(SiteInfo {
            file: "".into(),
            line: 0,
            column: 0,
            text: text.to_owned(),
        });
        site
    }

    pub fn block(&mut self, block: BlockInfo) -> BlockId {
        self.blocks.push(block);
        BlockId(self.blocks.len() as u32 - 1)
    }

    pub fn schedule(&mut self, kind: ScheduleKind, sections: &[Section]) {
        self.schedules[schedule_index(kind)] = sections.to_vec();
    }

    pub fn info_mut(&mut self) -> &mut ModelInfo {
        &mut self.info
    }

    pub fn experiment(&mut self, experiment: Experiment) {
        self.info.experiment = experiment;
    }

    /// A change of this slot leaves the derivatives as they are.
    pub fn does_not_feed(&mut self, slot: Slot) {
        self.feeds[slot.index()] = false;
    }

    pub fn pattern(&mut self, pattern: Vec<Vec<u32>>) {
        self.pattern = Some(pattern);
    }

    pub fn n_slots(&self) -> usize {
        self.start.len()
    }
}

fn schedule_index(kind: ScheduleKind) -> usize {
    match kind {
        ScheduleKind::Derivatives => 0,
        ScheduleKind::Crossings => 1,
        ScheduleKind::Outputs => 2,
        ScheduleKind::Event => 3,
        ScheduleKind::Initial => 4,
    }
}

/// A hand-written model.
#[derive(Clone, Debug)]
pub struct HandModel<C> {
    layout: Arc<Layout>,
    code: C,
}

impl<C: Code + Clone> HandModel<C> {
    pub fn new(layout: Layout, code: C) -> HandModel<C> {
        HandModel {
            layout: Arc::new(layout),
            code,
        }
    }

    pub fn layout_mut(&mut self) -> &mut Layout {
        Arc::make_mut(&mut self.layout)
    }
}

impl<C: Code + Clone> Model for HandModel<C> {
    type Instance = HandInstance<C>;

    fn info(&self) -> &ModelInfo {
        &self.layout.info
    }

    fn instantiate(&self) -> HandInstance<C> {
        HandInstance {
            system: HandSystem {
                layout: Arc::clone(&self.layout),
                code: self.code.clone(),
            },
        }
    }
}

/// One run of a hand-written model.
#[derive(Clone, Debug)]
pub struct HandInstance<C> {
    system: HandSystem<C>,
}

#[derive(Clone, Debug)]
pub struct HandSystem<C> {
    layout: Arc<Layout>,
    code: C,
}

impl<C: Code> Instance for HandInstance<C> {
    type System = HandSystem<C>;

    fn info(&self) -> &ModelInfo {
        &self.system.layout.info
    }

    fn bind(&mut self, time_start: f64, overrides: &[(Slot, f64)]) -> Result<Values, Fault> {
        let layout = &self.system.layout;
        let mut values = Values::new(layout.start.len() + layout.n_scratch);
        self.bind_again(time_start, overrides, &mut values)?;
        Ok(values)
    }

    fn bind_again(
        &mut self,
        time_start: f64,
        overrides: &[(Slot, f64)],
        values: &mut Values,
    ) -> Result<(), Fault> {
        self.system.code.begin();
        let layout = &self.system.layout;
        let (slots, scratch) = values.v.split_at_mut(layout.start.len());
        slots.copy_from_slice(&layout.start);
        scratch.fill(0.0);
        values.v[0] = time_start;
        for (slot, value) in overrides {
            values.set(*slot, *value);
        }
        values.pre.copy_from_slice(&values.v);
        values.actions.clear();
        Ok(())
    }

    fn initial_notes(&self) -> &[InitialNote] {
        &[]
    }

    fn system(&self, _values: &Values) -> &HandSystem<C> {
        &self.system
    }

    fn next_time_event(&self, values: &Values) -> Result<f64, Fault> {
        Ok(self.system.code.next_time_event(values))
    }

    fn set_time_flags(&mut self, values: &mut Values) -> bool {
        self.system.code.set_time_flags(values)
    }

    fn clear_time_flags(&mut self, values: &mut Values) {
        self.system.code.clear_time_flags(values);
    }

    fn completed_step(&mut self, values: &mut Values, point: StepPoint) {
        self.system.code.completed_step(values, point);
    }

    fn step_size_max(&self, values: &Values) -> f64 {
        self.system.code.step_size_max(values)
    }
}

impl<C: Code> System for HandSystem<C> {
    #[inline]
    fn states(&self) -> &[StateSlots] {
        &self.layout.states
    }

    #[inline]
    fn schedule(&self, kind: ScheduleKind) -> &[Section] {
        &self.layout.schedules[schedule_index(kind)]
    }

    #[inline(always)]
    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        self.code.run(code, values)
    }

    fn block(&self, block: BlockId) -> &BlockInfo {
        &self.layout.blocks[block.0 as usize]
    }

    fn residual(&self, block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        self.code.residual(block, values, residual)
    }

    fn jacobian(
        &self,
        block: BlockId,
        values: &mut Values,
        jacobian: &mut [f64],
    ) -> Result<bool, Fault> {
        self.code.jacobian(block, values, jacobian)
    }

    fn update_discrete(&self, block: BlockId, values: &mut Values) -> Status {
        self.code.update_discrete(block, values)
    }

    fn crossings(&self) -> &[CrossingInfo] {
        &self.layout.crossings
    }

    #[inline]
    fn eval_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        self.code.crossings(values, out)
    }

    #[inline(always)]
    fn derivatives_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        dx: &mut [f64],
    ) -> Option<Status> {
        self.code.derivatives_at(t, x, values, dx)
    }

    #[inline(always)]
    fn crossings_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Option<Status> {
        self.code.crossings_at(t, x, values, out)
    }

    #[inline(always)]
    fn crossings_of_event<'a>(&self, values: &'a Values) -> Option<&'a [f64]> {
        self.code.crossings_of_event(values)
    }

    #[inline(always)]
    fn event_completes(&self) -> bool {
        self.code.event_completes()
    }

    fn state_pattern(&self) -> Option<&[Vec<u32>]> {
        self.layout.pattern.as_deref()
    }

    fn feeds_derivatives(&self, slot: Slot) -> bool {
        self.layout.feeds[slot.index()]
    }

    fn observes_steps(&self) -> bool {
        self.code.observes_steps()
    }

    fn discrete_slots(&self) -> &[Slot] {
        &self.layout.discrete
    }
}
