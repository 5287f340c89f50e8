//! The compiled model behind the contract of `saltus-model`.

mod saved;
mod sequence;

use crate::calendar::{Source, next_instant};
use crate::code::{Code, Execution, How};
use crate::delay::{DelayBuffer, Smoothness};
use crate::functions::FunctionReport;
use crate::modes::{ModeStore, ModeSummary};
use crate::program::{Attribute, AttributePlace, DelayInfo, Program, TimeKind};
use crate::sets::Choice;
use crate::tape::Sign;
use crate::transport::Transport;
use crate::work::{Columns, Context, Memory, Texts, Work};
use rustc_hash::FxHashMap;
use saltus_ir::external::{Host, NoHost, Objects};
use saltus_model::{
    BlockId, BlockInfo, CodeId, ConstraintValue, CrossingInfo, DaeForm, DuringImpulse, Fault,
    FaultKind, InitialConditions, InitialNote, Instance, JumpId, JumpInfo, Model, ModelInfo,
    ScheduleKind, Section, SelectionChange, Site, Slot, SlotRole, StateSlots, Status, StepPoint,
    System, Values,
};
use saltus_syntax::SourceMap;
use saved::Bound;
use sequence::{Sequence, Sequences};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// An immutable compiled model; runs share it.
#[derive(Clone)]
pub struct CompiledModel {
    program: Arc<Program>,
    host: Arc<dyn Host>,
    execution: Execution,
    uses_dae_form: bool,
    texts: Arc<[Arc<str>]>,
}

impl CompiledModel {
    pub(crate) fn new(program: Program) -> CompiledModel {
        CompiledModel {
            program: Arc::new(program),
            host: Arc::new(NoHost),
            execution: Execution::default(),
            uses_dae_form: true,
            texts: Arc::default(),
        }
    }

    /// Texts that values from outside refer to: number k + 1 is the text with index k, 0 the empty one. They must be different and not empty.
    pub fn with_texts(mut self, texts: Arc<[Arc<str>]>) -> CompiledModel {
        self.texts = texts;
        self
    }

    pub fn execution(&self) -> Execution {
        self.execution
    }

    /// Whether a variable of this slot has a `min` or `max`.
    pub fn has_limits(&self, slot: Slot) -> bool {
        let is_limit = |a: &AttributePlace| a.slot == slot && a.attribute != Attribute::Nominal;
        self.program.attribute_places.iter().any(is_limit)
    }

    /// Lets runs reach files (tables) through `host`; without one, every file access is an error.
    pub fn with_host(mut self, host: Arc<dyn Host>) -> CompiledModel {
        self.host = host;
        self
    }

    /// The model of a content that was read, without a host; what is wrong with it if the compiler has not made it. `sources` are those that it was compiled from, or their outlines.
    pub fn from_content(content: Content, sources: &SourceMap) -> Result<CompiledModel, String> {
        match crate::verify::broken(&content.0) {
            Some(broken) => Err(broken),
            None => Ok(CompiledModel::new(content.0.with_sources(sources))),
        }
    }

    /// How runs made from now on carry out the code; the results do not depend on it.
    pub fn with_execution(mut self, execution: Execution) -> CompiledModel {
        self.execution = execution;
        self
    }

    /// Whether runs made from now on offer their DAE form to implicit methods, where there is one. For comparison.
    pub fn with_dae_form(mut self, uses_dae_form: bool) -> CompiledModel {
        self.uses_dae_form = uses_dae_form;
        self
    }

    /// Runs of it depend on more than the present values: delays look back.
    pub fn keeps_past(&self) -> bool {
        !self.program.delays.is_empty()
    }

    /// How many modes, and ways into modes, all runs together have structured.
    pub fn modes_structured(&self) -> u64 {
        let switching = self.program.switching.as_ref();
        let known = switching.and_then(|switching| switching.known.get());
        known.map_or(0, |known| known.n_structured())
    }

    /// Which functions have code, and which only the evaluator can carry out.
    pub fn functions(&self) -> &FunctionReport {
        &self.program.function_report
    }
}

/// Written as what its runs share: code, and what further modes are made from. Its host, its texts, the source files and machine code are not part of it.
impl serde::Serialize for CompiledModel {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.program.serialize(serializer)
    }
}

/// What was written of a [`CompiledModel`], read back.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub struct Content(Program);

impl Model for CompiledModel {
    type Instance = CompiledInstance;

    fn info(&self) -> &ModelInfo {
        &self.program.info
    }

    fn shared_info(&self) -> Arc<ModelInfo> {
        self.program.info.clone()
    }

    fn instantiate(&self) -> CompiledInstance {
        let program = self.program.clone();
        let work = Work {
            regs: Vec::new(),
            two: Columns::default(),
            four: Columns::default(),
            eight: Columns::default(),
            seeds: Vec::new(),
            together: Vec::new(),
            objects: Objects::new(self.host.clone()),
            texts: Texts::default(),
            delays: memories(&program.delays),
            overrides: FxHashMap::default(),
            scratch: Values::default(),
            numbers: Vec::new(),
            frame: Vec::new(),
            side: Vec::new(),
            gave_up: 0,
        };
        let system = CompiledSystem {
            sequences: Rc::new(Sequences::of(&program)),
            program: program.clone(),
            work: Rc::new(RefCell::new(work)),
            execution: self.execution,
            uses_dae_form: self.uses_dae_form,
        };
        CompiledInstance {
            info: program.info.clone(),
            store: ModeStore::new(&program),
            modes: Vec::new(),
            jumps: Vec::new(),
            mode: None,
            selected: Vec::new(),
            held: Vec::new(),
            active: system.again(),
            system,
            host: self.host.clone(),
            preset_texts: self.texts.clone(),
            bound: Bound::default(),
            fired: Vec::new(),
            left: Vec::new(),
            emerged: None,
            choices: Vec::new(),
        }
    }
}

/// One run of a compiled model.
pub struct CompiledInstance {
    info: Arc<ModelInfo>,
    /// The system with all branches taken together: the only one, unless there is a store of modes.
    system: CompiledSystem,
    store: Option<ModeStore>,
    /// By number, without those given up.
    modes: Vec<Option<CompiledSystem>>,
    /// Ways into modes, by [`JumpId`], without those given up.
    jumps: Vec<Option<CompiledSystem>>,
    /// The code in use: that of the mode, or `system`.
    active: CompiledSystem,
    /// The mode in use, an index into `modes`, and the values of the switches that selected it.
    mode: Option<u32>,
    selected: Vec<bool>,
    /// Switches whose functions are zero throughout the mode.
    held: Vec<u32>,
    host: Arc<dyn Host>,
    /// See [`CompiledModel::with_texts`].
    preset_texts: Arc<[Arc<str>]>,
    bound: Bound,
    /// Number of the last tick that fired, of each source of time events.
    fired: Vec<i64>,
    /// What a delayed expression can break with, at the last accepted point: states and discrete values.
    left: Vec<f64>,
    /// The lowest order of the breaking points that came out of delays in the present event.
    emerged: Option<u8>,
    /// Of each state set.
    choices: Vec<Choice>,
}

/// A system that the store of modes has not given up.
#[inline]
fn kept(systems: &[Option<CompiledSystem>], number: u32) -> &CompiledSystem {
    match &systems[number as usize] {
        Some(system) => system,
        None => unreachable!("what is in use was used last"),
    }
}

fn keep(
    systems: &mut Vec<Option<CompiledSystem>>,
    number: u32,
    system: CompiledSystem,
    gone: &[u32],
) {
    for &k in gone {
        systems[k as usize] = None;
    }
    if systems.len() == number as usize {
        systems.push(None);
    }
    systems[number as usize] = Some(system);
}

/// Before the first tick.
const NO_TICK: i64 = -1;

impl CompiledInstance {
    /// The modes that this run has structured; none for a model that has only one.
    pub fn modes(&self) -> Vec<ModeSummary> {
        match (&self.store, &self.system.program.switching) {
            (Some(store), Some(switching)) => store.summaries(switching, &self.info),
            _ => Vec::new(),
        }
    }

    /// The text of a String variable whose slot has the value `number`.
    pub fn text(&self, number: f64) -> Arc<str> {
        self.system.work.borrow().texts.get(number)
    }

    /// Numbers of the time sources now.
    fn time_sources(&self, values: &Values) -> Result<Vec<(Source, Option<Slot>)>, Fault> {
        let program = &self.system.program;
        if program.time_events.is_empty() {
            return Ok(Vec::new());
        }
        let mut work = self.system.work.borrow_mut();
        let numbers = self.system.numbers(
            &mut work,
            &program.time_tape,
            values,
            2 * program.time_events.len(),
        )?;
        let mut sources = Vec::with_capacity(program.time_events.len());
        for event in &program.time_events {
            let (source, flag) = match event.kind {
                TimeKind::Sample {
                    flag,
                    start,
                    interval,
                } => (
                    Source::Sample {
                        start: numbers[start],
                        interval: numbers[interval],
                    },
                    Some(flag),
                ),
                TimeKind::Tick {
                    flag,
                    period,
                    shift,
                } => (
                    Source::Tick {
                        origin: self.bound.time_start,
                        shift,
                        period,
                    },
                    Some(flag),
                ),
                TimeKind::Threshold { at, after } => (
                    Source::Threshold {
                        at: numbers[at],
                        after,
                    },
                    None,
                ),
            };
            if let Some(text) = source.problem(values.time()) {
                return Err(Fault {
                    recoverable: false,
                    site: event.site,
                    kind: FaultKind::Range(text),
                });
            }
            sources.push((source, flag));
        }
        work.numbers = numbers;
        Ok(sources)
    }

    /// Value, delay time and longest delay of each `delay`, and what transports have instead.
    fn delay_numbers(&self, work: &mut Work, values: &Values) -> Result<Vec<f64>, Fault> {
        let program = &self.system.program;
        self.system
            .numbers(work, &program.delay_tape, values, program.n_delay_numbers())
    }

    /// The slots whose change at an event breaks what is delayed.
    fn breaking_slots(&self) -> impl Iterator<Item = Slot> {
        let program = &self.system.program;
        let discrete = program.discrete.iter().copied();
        let discrete = discrete.filter(|s| program.delays.iter().all(|d| d.stretch != *s));
        discrete.chain(program.states.iter().map(|s| s.value))
    }
}

impl Instance for CompiledInstance {
    type System = CompiledSystem;

    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn shared_info(&self) -> Arc<ModelInfo> {
        self.info.clone()
    }

    fn bind(&mut self, time_start: f64, overrides: &[(Slot, f64)]) -> Result<Values, Fault> {
        self.bound = Bound {
            time_start,
            overrides: overrides.to_vec(),
            n_objects: 0,
        };
        self.fired.clear();
        let program = self.system.program.clone();
        // Each run numbers its modes itself; their code is that of the model.
        self.store = ModeStore::new(&program);
        self.modes.clear();
        self.jumps.clear();
        self.mode = None;
        self.active = self.system.again();
        let mut values = Values::new(self.info.slots.len());
        values.v[0] = time_start;
        {
            let work = &mut *self.system.work.borrow_mut();
            work.objects = Objects::new(self.host.clone());
            work.texts = Texts::default();
            work.texts.intern(&"".into());
            for text in self.preset_texts.iter() {
                work.texts.intern(text);
            }
            work.delays = memories(&program.delays);
            work.overrides = overrides.iter().map(|(s, x)| (s.0, *x)).collect();
        }
        for slot in &program.unset_enums {
            values.set(*slot, 1.0);
        }
        // Values from outside hold also for slots that nothing computes here (inputs, variables without a start value).
        for (slot, x) in overrides {
            values.set(*slot, *x);
        }
        if let Some(slot) = program.info.homotopy {
            values.set(slot, 1.0);
        }
        if let Some(slot) = program.info.initial {
            values.set(slot, 1.0);
        }
        self.system
            .execute(&program.parameters, &mut values, &mut [])
            .map_err(fatal)?;
        let attributes = {
            let mut work = self.system.work.borrow_mut();
            self.system
                .numbers(
                    &mut work,
                    &program.attributes,
                    &values,
                    program.attribute_places.len(),
                )
                .map_err(fatal)?
        };
        self.set_attributes(&attributes);
        self.system
            .execute(&program.starts, &mut values, &mut [])
            .map_err(fatal)?;
        // The start value of an inlined variable is where its first step begins.
        for state in program.info.inline.iter().flat_map(|inline| &inline.states) {
            if overrides.iter().any(|(slot, _)| *slot == state.value.slot) {
                values.set(state.value_old, state.value.get(&values));
            }
        }
        // A start value that nobody gave is the allowed number nearest to zero.
        for (i, slot) in self
            .info
            .slots
            .iter()
            .enumerate()
            .take(program.has_start.len())
        {
            let unknown = matches!(
                slot.role,
                SlotRole::State | SlotRole::Algebraic | SlotRole::Discrete
            );
            if unknown
                && !program.has_start[i]
                && slot.min <= slot.max
                && !overrides.iter().any(|(s, _)| s.index() == i)
            {
                values.v[i] = values.v[i].clamp(slot.min, slot.max);
            }
        }
        self.system.work.borrow_mut().overrides.clear();
        self.choices = program.sets.iter().map(Choice::new).collect();
        for (set, choice) in program.sets.iter().zip(&self.choices) {
            set.write(&choice.order, &mut values);
        }
        for info in &program.delays {
            set_range(info, &memory(info), &mut values);
        }
        self.bound.n_objects = self.system.work.borrow().objects.len();
        values.pre.clone_from(&values.v);
        self.first_mode(&mut values)?;
        Ok(values)
    }

    fn initial_notes(&self) -> &[InitialNote] {
        &self.system.program.notes
    }

    #[inline]
    fn system(&self, _: &Values) -> &CompiledSystem {
        &self.active
    }

    fn mode(&self, _: &Values) -> u32 {
        self.mode.map_or(0, |mode| mode + 1)
    }

    fn has_modes(&self) -> bool {
        self.store.is_some()
    }

    fn modes_structured(&self) -> u64 {
        self.store.as_ref().map_or(1, ModeStore::n_structured)
    }

    fn constraints(&self, values: &Values, out: &mut Vec<ConstraintValue>) -> Status {
        let system = self.system(values);
        let Some(restart) = &system.program.restart else {
            return Ok(());
        };
        let n = restart.sites.len();
        let mut work = system.work.borrow_mut();
        let numbers = system.numbers(&mut work, &restart.constraints, values, 2 * n)?;
        out.extend(
            (numbers.chunks(2).zip(&restart.sites)).map(|(pair, &site)| ConstraintValue {
                residual: pair[0],
                magnitude: pair[1],
                site,
            }),
        );
        work.numbers = numbers;
        Ok(())
    }

    fn impacts(&self, values: &Values) -> Vec<usize> {
        let Some(switching) = &self.system.program.switching else {
            return Vec::new();
        };
        let flags = switching.impacts.iter().enumerate();
        let holds =
            |(slot, sign): &(Slot, Sign)| (values.get(*slot) != 0.0) == (*sign == Sign::Plain);
        flags
            .filter(|(_, flag)| holds(flag))
            .map(|(k, _)| k)
            .collect()
    }

    fn jump(
        &mut self,
        violated: &[usize],
        impacts: &[usize],
        values: &mut Values,
    ) -> Result<Option<JumpId>, Fault> {
        let (Some(store), Some(switching), Some(mode)) =
            (&mut self.store, &self.system.program.switching, self.mode)
        else {
            return Ok(None);
        };
        let (jump, changes) = store.jump(switching, mode, violated, impacts)?;
        if let Some((number, program)) = changes.new {
            let system = self.add_program(program);
            keep(&mut self.jumps, number, system, &changes.gone);
        }
        fit(values, self.info.slots.len());
        Ok(Some(jump))
    }

    fn during_impulse(
        &self,
        jump: JumpId,
        values: &Values,
        at_zero: &[bool],
    ) -> Result<DuringImpulse, Fault> {
        let (Some(store), Some(restart)) = (&self.store, &self.system(values).program.restart)
        else {
            return Ok(DuringImpulse::Agrees);
        };
        let live = store.live();
        // The live switches that are not as selected. A switch that is a function of `pre` alone was set before the impulse, and does not see it: an arc that
        // `pre(mode) > 0` lights is not lit by the impulse of its own extinction.
        let others = |during: &Values| -> Result<Vec<u32>, Fault> {
            let mut seen = during.clone();
            seen.pre.copy_from_slice(&values.pre);
            let switches = self.switch_values(&seen)?;
            let differs = |&i: &u32| switches[i as usize] != self.selected[i as usize];
            Ok(live.iter().copied().filter(differs).collect())
        };
        let system = self.system(values);
        // Relations as the impulses make them, and whether one of them was otherwise.
        let relations = |way: f64, exact: &[bool]| -> Result<(Values, bool), Fault> {
            let mut during = values.clone();
            for &(variable, weight) in &store.jump_info(jump).impulses {
                during.v[variable.index()] += way * IMPULSE * values.get(weight);
            }
            let crossings = &system.program.crossings;
            let mut r = vec![0.0; crossings.len()];
            system.eval_crossings(&mut during, &mut r)?;
            let mut flipped = false;
            // Relations without an impulse hold what they held when this mode was selected, unless the mode itself keeps them at zero.
            for ((crossing, r), exact) in crossings.iter().zip(&r).zip(exact) {
                let impulsive = r.abs() > IMPULSE_SEEN;
                let holds = match impulsive {
                    true => (*r > 0.0) == crossing.rising,
                    false if *exact => crossing.closed,
                    false => continue,
                };
                flipped |= impulsive && (values.get(crossing.relation) != 0.0) != holds;
                during.set(crossing.relation, f64::from(u8::from(holds)));
            }
            Ok((during, flipped))
        };
        // The impulse lasts while the discrete part comes to rest: what the first pass selects may be refuted by the next.
        let at_rest = |mut during: Values| -> Result<Values, Fault> {
            for _ in 0..PASSES_MAX {
                system.execute(&restart.discrete, &mut during, &mut [])?;
                let slots = system.discrete_slots();
                let changed = |slot: &&Slot| during.get(**slot) != during.pre[slot.index()];
                let moved: Vec<Slot> = slots.iter().filter(changed).copied().collect();
                if moved.is_empty() || !others(&during)?.is_empty() {
                    break;
                }
                for slot in moved {
                    during.pre[slot.index()] = during.get(slot);
                }
            }
            Ok(during)
        };
        let none = vec![false; at_zero.len()];
        let (held, flipped) = relations(1.0, &none)?;
        let rest = at_rest(held)?;
        if !others(&rest)?.is_empty() {
            return Ok(DuringImpulse::OtherMode(rest));
        }
        if at_zero.contains(&true) {
            // What relations at zero say of a switch counts if the direction of the impulses makes the difference: `open = u <= 0 and not i > 0`.
            let exact = at_rest(relations(1.0, at_zero)?.0)?;
            let against = others(&at_rest(relations(-1.0, at_zero)?.0)?)?;
            if others(&exact)?.iter().any(|i| !against.contains(i)) {
                return Ok(DuringImpulse::OtherMode(exact));
            }
        }
        Ok(match flipped {
            true => DuringImpulse::Within(rest),
            false => DuringImpulse::Agrees,
        })
    }

    fn jump_system(&self, jump: JumpId) -> Option<(&CompiledSystem, &JumpInfo)> {
        let store = self.store.as_ref()?;
        Some((kept(&self.jumps, jump.0), store.jump_info(jump)))
    }

    fn select_mode(&mut self, values: &mut Values) -> Result<bool, Fault> {
        if self.store.is_none() {
            return Ok(false);
        }
        let mut switches = self.switch_values(values)?;
        for &i in &self.held {
            switches[i as usize] = self.selected[i as usize];
        }
        let before = self.mode;
        self.force_mode(&switches, values)?;
        Ok(self.mode != before)
    }

    fn switches(&self, values: &Values) -> Result<(Vec<bool>, Vec<u32>), Fault> {
        let live = self.store.as_ref().map(|store| store.live().to_vec());
        Ok((self.switch_values(values)?, live.unwrap_or_default()))
    }

    fn selected_switches(&self) -> &[bool] {
        &self.selected
    }

    fn force_mode(&mut self, switches: &[bool], values: &mut Values) -> Status {
        self.selected.clear();
        self.selected.extend_from_slice(switches);
        let (Some(store), Some(switching)) = (&mut self.store, &self.system.program.switching)
        else {
            return Ok(());
        };
        let (mode, changes) = store.select(switching, switches)?;
        if let Some((number, program)) = changes.new {
            let system = self.add_program(program);
            keep(&mut self.modes, number, system, &changes.gone);
        }
        fit(values, self.info.slots.len());
        if self.mode != mode {
            self.mode = mode;
            self.held.clear();
            self.active = match mode {
                None => self.system.again(),
                Some(mode) => kept(&self.modes, mode).again(),
            };
            let program = &self.system(values).program;
            self.choices = program.sets.iter().map(Choice::new).collect();
            self.restore_states(values);
        }
        Ok(())
    }

    fn hinges(&self, values: &Values) -> Result<Vec<(u32, f64, f64)>, Fault> {
        let system = self.system(values);
        let Some(restart) = &system.program.restart else {
            return Ok(Vec::new());
        };
        let n = restart.hinge_switches.len();
        let mut work = system.work.borrow_mut();
        let numbers = system.numbers(&mut work, &restart.hinges, values, 2 * n)?;
        let pairs = numbers.chunks(2).zip(&restart.hinge_switches);
        let hinges = pairs.map(|(pair, &i)| (i, pair[0], pair[1])).collect();
        work.numbers = numbers;
        Ok(hinges)
    }

    fn hold_switches(&mut self, switches: &[u32]) {
        self.held.clear();
        self.held.extend_from_slice(switches);
    }

    fn held_switches(&self) -> Vec<String> {
        let Some(switching) = &self.system.program.switching else {
            return Vec::new();
        };
        let text = |i: usize| switching.modes.text(i, self.selected[i]);
        self.held.iter().map(|&i| text(i as usize)).collect()
    }

    fn is_singular(&self) -> bool {
        self.store.is_some() && self.mode.is_none()
    }

    fn next_time_event(&self, values: &Values) -> Result<f64, Fault> {
        let now = values.time();
        if !self.system.program.has_calendar() {
            return Ok(f64::INFINITY);
        }
        let mut candidates: Vec<f64> = self
            .time_sources(values)?
            .iter()
            .map(|(s, _)| s.next(now))
            .collect();
        let delays = &self.system.program.delays;
        if !delays.is_empty() {
            let mut work = self.system.work.borrow_mut();
            let numbers = self.delay_numbers(&mut work, values)?;
            for (i, delay) in delays.iter().enumerate() {
                if let (None, Memory::Delay(buffer)) = (delay.range, &work.delays[i]) {
                    candidates.push(buffer.next_break(now, numbers[delay.first + 1]));
                }
            }
        }
        Ok(next_instant(&candidates))
    }

    fn time_causes(&self, values: &Values) -> Vec<Site> {
        // A fault here is the one that `next_time_event` reports.
        let sources = self.time_sources(values).unwrap_or_default();
        (sources.iter().zip(&self.system.program.time_events))
            .filter(|((source, _), _)| source.is_at(values.time()))
            .map(|(_, event)| event.site)
            .collect()
    }

    fn set_time_flags(&mut self, values: &mut Values) -> bool {
        if !self.system.program.has_calendar() {
            return false;
        }
        let now = values.time();
        // A fault here is the one that `next_time_event` reports.
        let Ok(sources) = self.time_sources(values) else {
            return false;
        };
        let mut any = self.emerge(values);
        self.fired.resize(sources.len(), NO_TICK);
        for ((source, flag), fired) in sources.into_iter().zip(&mut self.fired) {
            if let Some(flag) = flag {
                // A tick fires once, also when another event follows within the slack of the calendar.
                let tick = source.due(now).filter(|k| k > fired);
                if let Some(tick) = tick {
                    *fired = tick;
                }
                values.set(flag, f64::from(u8::from(tick.is_some())));
                any |= tick.is_some();
            }
        }
        any
    }

    fn clear_time_flags(&mut self, values: &mut Values) {
        for event in &self.system.program.time_events {
            if let TimeKind::Sample { flag, .. } | TimeKind::Tick { flag, .. } = event.kind {
                values.set(flag, 0.0);
                values.pre[flag.index()] = 0.0;
            }
        }
    }

    fn reselect_states(&mut self, values: &mut Values) -> Result<Vec<SelectionChange>, Fault> {
        let system = &self.active;
        let mut changes = Vec::new();
        for (set, choice) in system.program.sets.iter().zip(&mut self.choices) {
            if set.constraints.tape.inexact {
                continue;
            }
            choice.see(set, values, |slot| self.info.slots[slot.index()].nominal);
            let size = (set.n_columns(), set.n_columns());
            system.columns(&set.constraints, values, &mut choice.jacobian, size)?;
            if choice.improve(set) {
                changes.extend(set.write(&choice.order, values));
            }
        }
        Ok(changes)
    }

    fn restore_states(&mut self, values: &mut Values) {
        let program = self.system(values).program.clone();
        for (set, choice) in program.sets.iter().zip(&self.choices) {
            set.write(&choice.order, values);
        }
    }

    fn keeps_past(&self) -> bool {
        let delays = &self.system.program.delays;
        delays.iter().any(|d| d.moves || d.range.is_some())
    }

    fn completed_step(&mut self, values: &mut Values, point: StepPoint) {
        if self.system.program.delays.is_empty() {
            return;
        }
        let now = values.time();
        let smoothness = self.smoothness(values);
        let mut work = self.system.work.borrow_mut();
        // A fault at an accepted point is reported by the schedules, which compute the same expression.
        let Ok(numbers) = self.delay_numbers(&mut work, values) else {
            return;
        };
        let infos = &self.system.program.delays;
        for (memory, info) in work.delays.iter_mut().zip(infos) {
            let numbers = &numbers[info.first..];
            let [value, delay, extra] = [numbers[0], numbers[1], numbers[2]];
            match (point, &mut *memory) {
                // What is transported begins with a profile of its own.
                (StepPoint::Initial, Memory::Transport(_)) => {}
                (StepPoint::Initial, Memory::Delay(buffer)) => buffer.begin(now, value, delay),
                (StepPoint::Inside, Memory::Transport(t)) => t.inside(now, value, delay),
                (StepPoint::Inside, Memory::Delay(buffer)) => {
                    if info.moves || info.range.is_some() {
                        buffer.inside(now, value, delay);
                    }
                }
                (StepPoint::End, Memory::Transport(t)) => t.end(now, value, delay),
                (StepPoint::End, Memory::Delay(buffer)) => buffer.end(now, value, delay, extra),
                (StepPoint::AfterEvent, _) => {
                    let smoothness = match smoothness {
                        Some(order) => Smoothness::Broken(order),
                        None => match self.emerged {
                            None => Smoothness::Kept,
                            Some(order) if info.repeats => Smoothness::Broken(order),
                            Some(order) => Smoothness::Broken(order + 1),
                        },
                    };
                    match memory {
                        Memory::Delay(buffer) => buffer.after_event(now, value, delay, smoothness),
                        Memory::Transport(t) => {
                            let n = info.n_points.unwrap_or(0);
                            let profile = numbers[3..].split_at(n);
                            let profile = (profile.0, &profile.1[..n]);
                            t.after_event(now, value, delay, extra != 0.0, smoothness, profile);
                        }
                    }
                    set_range(info, memory, values);
                }
            }
        }
        drop(work);
        if point != StepPoint::Inside {
            let mut left = std::mem::take(&mut self.left);
            left.clear();
            left.extend(self.breaking_slots().map(|slot| values.get(slot)));
            self.left = left;
        }
        if point == StepPoint::AfterEvent {
            self.emerged = None;
        }
    }

    fn save(&self) -> Result<Vec<u8>, String> {
        self.save_all()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        self.restore_all(saved)
    }

    fn step_size_max(&self, values: &Values) -> f64 {
        let delays = &self.system.program.delays;
        if !delays.iter().any(|d| d.moves || d.n_points.is_some()) {
            return f64::INFINITY;
        }
        let mut work = self.system.work.borrow_mut();
        let Ok(numbers) = self.delay_numbers(&mut work, values) else {
            return f64::INFINITY;
        };
        let bound = |(memory, info): (&Memory, &DelayInfo)| match memory {
            Memory::Transport(t) => t.step_size_max(),
            Memory::Delay(_) => match numbers[info.first + 1] {
                d if info.moves && d > 0.0 => d,
                _ => f64::INFINITY,
            },
        };
        (work.delays.iter().zip(delays))
            .map(bound)
            .fold(f64::INFINITY, f64::min)
    }
}

/// Stands for a breaking point that does not exist, in seconds: beyond any time.
const NO_BREAK: f64 = 1e100;

impl CompiledInstance {
    /// Order 1 if a state or discrete value differs from the last accepted point: what is delayed breaks, at least in its derivative.
    fn smoothness(&self, values: &Values) -> Option<u8> {
        let same = self
            .breaking_slots()
            .zip(&self.left)
            .all(|(slot, left)| values.get(slot) == *left);
        (!same).then_some(1)
    }

    /// Lets breaking points that are due come out of the delays.
    fn emerge(&mut self, values: &mut Values) -> bool {
        let program = self.system.program.clone();
        if program.delays.is_empty() {
            return false;
        }
        let now = values.time();
        let mut work = self.system.work.borrow_mut();
        // A fault here is the one that `next_time_event` reports.
        let Ok(numbers) = self.delay_numbers(&mut work, values) else {
            return false;
        };
        self.emerged = None;
        for (memory, info) in work.delays.iter_mut().zip(&program.delays) {
            let delay = numbers[info.first + 1];
            let (emerged, stretch) = match memory {
                Memory::Delay(buffer) => (buffer.emerge(now, delay), buffer.stretch()),
                Memory::Transport(t) => (t.emerge(delay), t.stretch()),
            };
            self.emerged = self.emerged.into_iter().chain(emerged).min();
            values.set(info.stretch, stretch);
            set_range(info, memory, values);
        }
        self.emerged.is_some()
    }
}

fn memory(info: &DelayInfo) -> Memory {
    match info.n_points {
        Some(_) => Memory::Transport(Transport::default()),
        None => {
            let mut buffer = DelayBuffer::default();
            buffer.clear(info.range.is_some());
            Memory::Delay(buffer)
        }
    }
}

fn memories(infos: &[DelayInfo]) -> Vec<Memory> {
    infos.iter().map(memory).collect()
}

/// Writes the ends of the stretch that the delayed time is in.
fn set_range(info: &DelayInfo, buffer: &Memory, values: &mut Values) {
    let Some((from, to)) = info.range else {
        return;
    };
    let range = buffer.range();
    for (slot, time, none) in [(from, range.0, -NO_BREAK), (to, range.1, NO_BREAK)] {
        values.v[slot.index()] = time.unwrap_or(none);
        values.pre[slot.index()] = time.unwrap_or(none);
    }
}

/// Passes of the discrete part while an impulse lasts.
const PASSES_MAX: usize = 8;

/// What the weight of an impulse is multiplied by to see the side that relations take while it lasts.
const IMPULSE: f64 = 1e30;
/// A crossing function beyond this contains an impulse.
const IMPULSE_SEEN: f64 = 1e15;

/// Modes may have added slots.
fn fit(values: &mut Values, n_slots: usize) {
    let n_slots = n_slots.max(values.v.len());
    values.v.resize(n_slots, 0.0);
    values.pre.resize(n_slots, 0.0);
}

/// Parameters have no trial points.
fn fatal(fault: Fault) -> Fault {
    Fault {
        recoverable: false,
        ..fault
    }
}

impl CompiledInstance {
    fn switch_values(&self, values: &Values) -> Result<Vec<bool>, Fault> {
        let Some(switching) = &self.system.program.switching else {
            return Ok(Vec::new());
        };
        let n = switching.modes.literals().len();
        let mut work = self.system.work.borrow_mut();
        let numbers = (self.system).numbers(&mut work, &switching.literals, values, n)?;
        let switches = numbers.iter().map(|&x| x != 0.0).collect();
        work.numbers = numbers;
        Ok(switches)
    }

    /// The mode that the discrete part of the initial system selects at the start values.
    fn first_mode(&mut self, values: &mut Values) -> Status {
        let program = self.system.program.clone();
        let Some(switching) = &program.switching else {
            return Ok(());
        };
        let mut guess = values.clone();
        // What cannot be evaluated at the start values decides nothing.
        if (self.system.execute(&switching.guess, &mut guess, &mut [])).is_err() {
            guess.clone_from(values);
        }
        self.select_mode(&mut guess)?;
        fit(values, guess.v.len());
        for set in &self.system(values).program.clone().sets {
            for slot in &set.selectors {
                values.set(*slot, guess.get(*slot));
                values.pre[slot.index()] = guess.get(*slot);
            }
        }
        Ok(())
    }

    /// The code of a mode or jump that this run has just met; its slots and places become those of the run.
    fn add_program(&mut self, program: Arc<Program>) -> CompiledSystem {
        let (n_slots, n_sites) = (self.info.slots.len(), self.info.sites.len());
        if program.info.slots.len() > n_slots || program.info.sites.len() > n_sites {
            let info = Arc::make_mut(&mut self.info);
            let n_slots = n_slots.min(program.info.slots.len());
            info.slots.extend_from_slice(&program.info.slots[n_slots..]);
            let n_sites = n_sites.min(program.info.sites.len());
            info.sites.extend_from_slice(&program.info.sites[n_sites..]);
        }
        self.system.beside(program)
    }

    fn set_attributes(&mut self, numbers: &[f64]) {
        let program = self.system.program.clone();
        let info = Arc::make_mut(&mut self.info);
        let own_first = [false, true];
        for pass in own_first {
            for (place, &x) in program.attribute_places.iter().zip(numbers) {
                if place.alias != pass || x.is_nan() {
                    continue;
                }
                let slot = &mut info.slots[place.slot.index()];
                match (place.attribute, place.negated) {
                    (Attribute::Min, false) => slot.min = slot.min.max(x),
                    (Attribute::Max, false) => slot.max = slot.max.min(x),
                    (Attribute::Min, true) => slot.max = slot.max.min(-x),
                    (Attribute::Max, true) => slot.min = slot.min.max(-x),
                    (Attribute::Nominal, _) => {
                        if x != 0.0 && (!place.alias || slot.nominal == 1.0) {
                            slot.nominal = x.abs();
                        }
                    }
                }
            }
        }
    }
}

/// The code of one mode.
pub struct CompiledSystem {
    program: Arc<Program>,
    /// Shared by the modes of a run.
    work: Rc<RefCell<Work>>,
    execution: Execution,
    uses_dae_form: bool,
    sequences: Rc<Sequences>,
}

// SAFETY: the systems of an instance share its work space. All of them are fields of the instance, none is handed out but by reference, and a system cannot be
// cloned outside of this file: whoever has the instance has every reference to the work space. The work space itself can be sent, see below.
unsafe impl Send for CompiledInstance {}

const _: () = {
    const fn can_be_sent<T: Send>() {}
    can_be_sent::<Work>();
    can_be_sent::<Arc<Program>>();
    can_be_sent::<Arc<dyn Host>>();
    can_be_sent::<(ModeStore, Arc<ModelInfo>, Vec<Choice>)>();
};

impl CompiledSystem {
    /// Another mode, or the same once more, in the work space of the run.
    fn beside(&self, program: Arc<Program>) -> CompiledSystem {
        CompiledSystem {
            sequences: Rc::new(Sequences::of(&program)),
            program,
            work: self.work.clone(),
            execution: self.execution,
            uses_dae_form: self.uses_dae_form,
        }
    }

    fn again(&self) -> CompiledSystem {
        CompiledSystem {
            program: self.program.clone(),
            work: self.work.clone(),
            sequences: self.sequences.clone(),
            ..*self
        }
    }

    /// A sequence with time and states as they are given.
    #[inline]
    fn at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        sequence: &Sequence,
        out: &mut [f64],
    ) -> Status {
        values.set_time(t);
        for (state, x) in self.program.states.iter().zip(x) {
            values.v[state.value.index()] = *x;
        }
        sequence.run(self, values, out)
    }

    fn context(&self) -> Context<'_> {
        Context {
            flat: &self.program.flat,
            layout: &self.program.layout,
            functions: &self.program.functions,
            how: self.how(),
        }
    }

    fn how(&self) -> How<'_> {
        How {
            execution: self.execution,
            engine: &self.program.engine,
        }
    }

    /// Runs code on plain numbers.
    fn execute(&self, code: &Code, values: &mut Values, out: &mut [f64]) -> Status {
        let work = &mut self.work.borrow_mut();
        code.run(&self.how(), &self.context(), work, values, out)
            .map_err(|fault| *fault)
    }

    /// Derivatives of `n_rows` results of a code in `n` directions, column-major.
    fn columns(
        &self,
        code: &Code,
        values: &mut Values,
        jacobian: &mut [f64],
        (n_rows, n): (usize, usize),
    ) -> Status {
        let (how, cx, work) = (self.how(), self.context(), &mut *self.work.borrow_mut());
        let size = (n_rows, n);
        match n {
            0..=2 => code.jacobian(&how, &cx, work, values, jacobian, size, |w| &mut w.two),
            3..=4 => code.jacobian(&how, &cx, work, values, jacobian, size, |w| &mut w.four),
            _ => code.jacobian(&how, &cx, work, values, jacobian, size, |w| &mut w.eight),
        }
        .map_err(|fault| *fault)
    }

    /// Derivatives of as many results as there are columns in a pattern, in its order, in directions that columns without a common row
    /// share. False if one is not finite.
    fn on_pattern(
        &self,
        code: &Code,
        pattern: &[Vec<u32>],
        (directions, n_directions): (&[u32], usize),
        values: &mut Values,
        jacobian: &mut [f64],
    ) -> Result<bool, Fault> {
        let n = pattern.len();
        let mut together = std::mem::take(&mut self.work.borrow_mut().together);
        together.resize(together.len().max(n * n_directions), 0.0);
        let status = self.columns(code, values, &mut together, (n, n_directions));
        let mut place = 0;
        for (rows, direction) in pattern.iter().zip(directions) {
            let column = &together[n * *direction as usize..][..n];
            for row in rows {
                jacobian[place] = column[*row as usize];
                place += 1;
            }
        }
        self.work.borrow_mut().together = together;
        status?;
        Ok(useful(&jacobian[..place]))
    }

    /// Runs code that stores nothing; its results.
    fn numbers(
        &self,
        work: &mut Work,
        code: &Code,
        values: &Values,
        n: usize,
    ) -> Result<Vec<f64>, Fault> {
        let mut numbers = std::mem::take(&mut work.numbers);
        numbers.clear();
        numbers.resize(n, 0.0);
        if code.tape.ops.is_empty() {
            return Ok(numbers);
        }
        let mut scratch = std::mem::take(&mut work.scratch);
        scratch.v.clone_from(&values.v);
        scratch.pre.clone_from(&values.pre);
        let cx = self.context();
        let status = code.run(&self.how(), &cx, work, &mut scratch, &mut numbers);
        work.scratch = scratch;
        status.map(|()| numbers).map_err(|fault| *fault)
    }
}

/// An infinite slope (sqrt at 0) has no use; differences have one.
fn useful(jacobian: &[f64]) -> bool {
    jacobian.iter().all(|x| x.is_finite())
}

impl System for CompiledSystem {
    fn states(&self) -> &[StateSlots] {
        &self.program.states
    }

    fn schedule(&self, kind: ScheduleKind) -> &[Section] {
        self.program.schedule(kind)
    }

    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        self.execute(&self.program.codes[code.0 as usize], values, &mut [])
    }

    fn block(&self, block: BlockId) -> &BlockInfo {
        &self.program.blocks[block.0 as usize].info
    }

    fn residual(&self, block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        let code = &self.program.blocks[block.0 as usize];
        self.execute(&code.residual, values, residual)?;
        match residual.iter().position(|r| !r.is_finite()) {
            None => Ok(()),
            Some(i) => {
                let slot = code.info.unknowns.get(i).copied().unwrap_or(Slot::TIME);
                let site = code.info.residual_sites[i];
                Err(Fault {
                    recoverable: true,
                    site,
                    kind: FaultKind::NonFinite { slot },
                })
            }
        }
    }

    fn jacobian(
        &self,
        block: BlockId,
        values: &mut Values,
        jacobian: &mut [f64],
    ) -> Result<bool, Fault> {
        let code = &self.program.blocks[block.0 as usize];
        if code.residual.tape.inexact {
            return Ok(false);
        }
        let n = code.info.unknowns.len();
        let Some(pattern) = &code.info.pattern else {
            self.columns(&code.residual, values, jacobian, (n, n))?;
            return Ok(useful(&jacobian[..n * n]));
        };
        let directions = (code.directions.as_slice(), code.n_directions);
        self.on_pattern(&code.residual, pattern, directions, values, jacobian)
    }

    fn observes_steps(&self) -> bool {
        self.program.observes_steps
    }

    fn solve_directly(&self, block: BlockId, values: &mut Values) -> Result<bool, Fault> {
        let Some(code) = &self.program.blocks[block.0 as usize].direct else {
            return Ok(false);
        };
        let mut solved = [0.0];
        self.execute(code, values, &mut solved)?;
        Ok(solved[0] == 1.0)
    }

    fn update_discrete(&self, block: BlockId, values: &mut Values) -> Status {
        self.execute(
            &self.program.blocks[block.0 as usize].discrete,
            values,
            &mut [],
        )
    }

    fn update_dependent(&self, block: BlockId, values: &mut Values) -> Status {
        let dependent = &self.program.blocks[block.0 as usize].dependent;
        self.execute(dependent, values, &mut [])
    }

    fn crossings(&self) -> &[CrossingInfo] {
        &self.program.crossings
    }

    fn eval_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        self.execute(&self.program.crossing_tape, values, out)
    }

    fn eval_affine_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        self.execute(&self.program.affine_tape, values, out)
    }

    fn derivatives_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        dx: &mut [f64],
    ) -> Option<Status> {
        let sequence = self.sequences.schedule(ScheduleKind::Derivatives)?;
        let status = self.at(t, x, values, sequence, &mut []);
        for (dx, state) in dx.iter_mut().zip(&self.program.states) {
            *dx = values.v[state.derivative.index()];
        }
        Some(status)
    }

    fn crossings_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Option<Status> {
        let sequence = self.sequences.crossings.as_ref()?;
        Some(self.at(t, x, values, sequence, out))
    }

    fn affine_crossings_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Option<Status> {
        let sequence = self.sequences.affine.as_ref()?;
        Some(self.at(t, x, values, sequence, out))
    }

    fn run_schedule(&self, kind: ScheduleKind, values: &mut Values) -> Option<Status> {
        let sequence = self.sequences.schedule(kind)?;
        Some(sequence.run(self, values, &mut []))
    }

    fn event_completes(&self) -> bool {
        self.sequences.event_completes
    }

    fn event_repeats(&self, values: &Values) -> bool {
        let same = |slot: &Slot| {
            let (now, before) = (values.v[slot.index()], values.pre[slot.index()]);
            now.to_bits() == before.to_bits()
        };
        (self.program.event_memory()).is_some_and(|memory| memory.iter().all(same))
    }

    fn state_pattern(&self) -> Option<&[Vec<u32>]> {
        Some(&self.program.pattern)
    }

    fn dae_form(&self) -> Option<&DaeForm> {
        let dae = self.program.dae.as_ref();
        dae.filter(|_| self.uses_dae_form).map(|dae| &dae.form)
    }

    fn dae_functions(&self, values: &mut Values, out: &mut [f64]) -> Status {
        match &self.program.dae {
            Some(dae) => self.execute(&dae.code, values, out),
            None => Ok(()),
        }
    }

    fn dae_jacobian(&self, values: &mut Values, jacobian: &mut [f64]) -> Result<bool, Fault> {
        match &self.program.dae {
            Some(dae) if !dae.code.tape.inexact => {
                let directions = (dae.directions.as_slice(), dae.n_directions);
                self.on_pattern(&dae.code, &dae.form.pattern, directions, values, jacobian)
            }
            _ => Ok(false),
        }
    }

    fn feeds_derivatives(&self, slot: Slot) -> bool {
        // A slot that another mode has added later feeds nothing here.
        (self.program.feeds.get(slot.index())).is_some_and(|&feeds| feeds)
    }

    fn discrete_slots(&self) -> &[Slot] {
        &self.program.discrete
    }

    fn initial_conditions(&self) -> &InitialConditions {
        &self.program.initial_conditions
    }
}
