//! From the structured system to tapes and schedules.
//!
//! Comes in: a [`StructuredSystem`]. Goes out: a [`Program`], shared by all runs of the model. Consecutive assignments of a
//! schedule become one tape; blocks get a residual tape and, when mixed, a tape for their discrete part.

use crate::code::{Code, SharedEngine};
use crate::depend::{self, Row};
use crate::functions::{FunctionCode, FunctionReport, FunctionTable};
use crate::guards::guarded;
use crate::layout::{Layout, Sites, SlotTable, Slots, expr_text, model_info};
use crate::lower::{Lower, LowerError, shares_jump};
use crate::modes::SharedModes;
use crate::sets::SetCode;
use crate::tape::{Sign, Tape};
use rustc_hash::FxHashSet;
use saltus_ir::flat::{FlatModel, Origin};
use saltus_ir::func::AssertLevel;
use saltus_ir::{BinaryOp, Expr, ExprId, Id, VarId};
use saltus_model::{
    BlockId, BlockInfo, CodeId, CrossingClass, CrossingInfo, DaeForm, InitialCheck,
    InitialConditions, InitialNote, ModelInfo, ScheduleKind, Section, Site, Slot, StateSlots,
    colour_columns,
};
use saltus_structure::{
    Action, Assignment, Block, Coefficients, Direct, Modes, Restart, Role, Said, StateSet, Step,
    StructuredSystem, TimeEvent,
};
use saltus_syntax::{Diagnostic, SourceMap};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

/// Smaller blocks are taken as full.
const PATTERN_MIN: usize = 12;

/// With fewer states the matrix of the states alone is small.
const DAE_STATES_MIN: usize = 24;

/// The DAE form is used if the pattern of the states alone has this many times its entries.
const DAE_ENTRIES_RATIO: usize = 2;

/// A pattern is used if it saves at least this share of the directions.
const COLOURS_SHARE_MAX: f64 = 0.7;

/// A compiled model without anything that changes during a run.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Program {
    pub(crate) flat: FlatModel,
    pub(crate) layout: Arc<Layout>,
    pub(crate) info: Arc<ModelInfo>,
    pub(crate) codes: Vec<Code>,
    pub(crate) blocks: Vec<BlockCode>,
    /// By [`ScheduleKind`], in its order.
    schedules: [Vec<Section>; 5],
    pub(crate) states: Vec<StateSlots>,
    pub(crate) crossings: Vec<CrossingInfo>,
    pub(crate) crossing_tape: Code,
    /// The affine ones alone.
    pub(crate) affine_tape: Code,
    pub(crate) pattern: Vec<Vec<u32>>,
    pub(crate) dae: Option<DaeCode>,
    pub(crate) feeds: Vec<bool>,
    pub(crate) discrete: Vec<Slot>,
    pub(crate) parameters: Code,
    pub(crate) starts: Code,
    pub(crate) has_start: Vec<bool>,
    pub(crate) attributes: Code,
    pub(crate) attribute_places: Vec<AttributePlace>,
    pub(crate) time_tape: Code,
    pub(crate) time_events: Vec<TimeSource>,
    pub(crate) delay_tape: Code,
    pub(crate) delays: Vec<DelayInfo>,
    /// See [`saltus_model::System::observes_steps`].
    pub(crate) observes_steps: bool,
    pub(crate) notes: Vec<InitialNote>,
    pub(crate) initial_conditions: InitialConditions,
    pub(crate) unset_enums: Vec<Slot>,
    pub(crate) sets: Vec<SetCode>,
    #[serde(skip)]
    pub(crate) engine: SharedEngine,
    pub(crate) functions: Vec<FunctionCode>,
    pub(crate) function_report: FunctionReport,
    /// For a model that is structured anew for some of its modes.
    pub(crate) switching: Option<Switching>,
    #[serde(skip)]
    event_memory: OnceLock<Option<Vec<Slot>>>,
    /// Of a mode: how it is entered.
    pub(crate) restart: Option<RestartCode>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RestartCode {
    /// Highest index of its equations.
    pub(crate) index: u32,
    /// Residual and magnitude of each constraint.
    pub(crate) constraints: Code,
    pub(crate) sites: Vec<Site>,
    /// Residual and magnitude of equations with the other branch of a switch, and that switch.
    pub(crate) hinges: Code,
    pub(crate) hinge_switches: Vec<u32>,
    /// The discrete part of the event system alone, without the relations that have crossing functions.
    pub(crate) discrete: Code,
}

/// What further modes are made from.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Switching {
    pub(crate) modes: Modes,
    /// Not written with the rest: see [`Program::with_sources`].
    #[serde(skip)]
    pub(crate) sources: SourceMap,
    /// The flags of the laws of restitution.
    pub(crate) impacts: Vec<(Slot, Sign)>,
    /// Results are the values of the switches.
    pub(crate) literals: Code,
    /// The discrete part of the initial system alone, for a first guess of them.
    pub(crate) guess: Code,
    /// The modes that runs have met, made with the first run.
    #[serde(skip)]
    pub(crate) known: OnceLock<SharedModes>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct DelayInfo {
    /// The expression moves between events: the delay time bounds the step size.
    pub(crate) moves: bool,
    /// The expression contains the result of a delay that no integration has smoothed.
    pub(crate) repeats: bool,
    pub(crate) stretch: Slot,
    /// For a delay time that moves, and for transports.
    pub(crate) range: Option<(Slot, Slot)>,
    /// Number of its first result of the tape, and points of the initial profile of a transport.
    pub(crate) first: usize,
    pub(crate) n_points: Option<usize>,
}

/// The DAE form with its code: results are f, then g.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct DaeCode {
    pub(crate) form: DaeForm,
    pub(crate) directions: Vec<u32>,
    pub(crate) n_directions: usize,
    pub(crate) code: Code,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct BlockCode {
    pub(crate) info: BlockInfo,
    /// In which direction derivatives with respect to each unknown are taken: with a pattern, unknowns that share no residual have the same.
    pub(crate) directions: Vec<u32>,
    pub(crate) n_directions: usize,
    pub(crate) residual: Code,
    pub(crate) discrete: Code,
    /// The same without relations that have crossing functions.
    pub(crate) dependent: Code,
    pub(crate) discrete_sites: Vec<Site>,
    /// Solves the block; its result is 1, or 0 where it does not (see [`crate::eliminate`]).
    pub(crate) direct: Option<Code>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Attribute {
    Min,
    Max,
    Nominal,
}

/// Where a result of the attribute tape goes. Attributes of aliases hold for the slot too, with the sign of the alias.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct AttributePlace {
    pub(crate) slot: Slot,
    pub(crate) attribute: Attribute,
    pub(crate) alias: bool,
    pub(crate) negated: bool,
}

/// A source of time events; its numbers are results of the time tape from `first` on.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct TimeSource {
    pub(crate) kind: TimeKind,
    pub(crate) site: Site,
}

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum TimeKind {
    Sample {
        flag: Slot,
        start: usize,
        interval: usize,
    },
    Tick {
        flag: Slot,
        period: (i64, i64),
        shift: (i64, i64),
    },
    Threshold {
        at: usize,
        after: bool,
    },
}

impl Program {
    /// Results of the tape of the delays.
    pub(crate) fn n_delay_numbers(&self) -> usize {
        self.delays
            .last()
            .map_or(0, |d| d.first + 3 + 2 * d.n_points.unwrap_or(0))
    }

    /// What a pass of the event schedule sees of the pass before; see [`crate::passes`].
    pub(crate) fn event_memory(&self) -> Option<&[Slot]> {
        let found = self.event_memory.get_or_init(|| {
            let sections = self.schedule(ScheduleKind::Event);
            let is_explicit = |section: &Section| matches!(section, Section::Explicit(_));
            if !sections.iter().all(is_explicit) {
                return None;
            }
            let tapes = sections.iter().filter_map(|section| match *section {
                Section::Explicit(code) => Some(&self.codes[code.0 as usize].tape),
                _ => None,
            });
            crate::passes::memory(tapes)
        });
        found.as_deref()
    }

    /// Something may be due at a time that is known before.
    pub(crate) fn has_calendar(&self) -> bool {
        !(self.time_events.is_empty() && self.delays.is_empty())
    }

    /// With the files that places of further modes refer to, after reading from a file.
    pub(crate) fn with_sources(mut self, sources: &SourceMap) -> Program {
        if let Some(switching) = &mut self.switching {
            switching.sources = sources.clone();
        }
        self
    }

    pub(crate) fn schedule(&self, kind: ScheduleKind) -> &[Section] {
        &self.schedules[schedule_index(kind)]
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

struct Builder<'a> {
    system: &'a StructuredSystem,
    layout: &'a Layout,
    sites: Sites<'a>,
    tapes: Vec<Tape>,
    blocks: Vec<BlockCode>,
    errors: Vec<Diagnostic>,
    functions: &'a RefCell<FunctionTable>,
    /// Relations that have crossing functions.
    crossed: FxHashSet<VarId>,
}

pub(crate) fn build(
    mut system: StructuredSystem,
    mut sites: Sites<'_>,
    slots: Slots<'_>,
) -> Result<Program, Vec<Diagnostic>> {
    // Declarations, equations of the two systems, bindings.
    sites.infos.reserve(
        system.flat.variables.len()
            + system.event.len()
            + system.initial.len()
            + system.parameters.len()
            + system.starts.len(),
    );
    let modes = system.modes.take();
    let sources = sites.sources();
    let (layout, others) = match slots {
        Slots::Own => (Layout::new(&system), (0, &[][..])),
        Slots::Of(table) => {
            let layout = Layout::within(&system, table);
            let table: &SlotTable = table;
            (layout, (table.n_common(), &table.added[..]))
        }
    };
    let functions = RefCell::default();
    let mut b = Builder {
        system: &system,
        layout: &layout,
        sites,
        tapes: Vec::new(),
        blocks: Vec::new(),
        errors: Vec::new(),
        functions: &functions,
        crossed: system.crossings.iter().map(|c| c.relation).collect(),
    };
    let mut info = model_info(&system, &layout, &mut b.sites, others);
    let parameters = b.overridable(&system.parameters);
    let starts = b.overridable(&system.starts);
    let mut has_start = vec![false; layout.n_slots];
    for a in &system.starts {
        has_start[layout.slot(a.var).index()] = true;
    }
    let (attributes, attribute_places) = b.attributes();

    let event_blocks = b.make_blocks(&system.event);
    let event_sites = b.step_sites(&system.event);
    let whole: Vec<usize> = (0..system.event.len()).collect();
    let schedule = |b: &mut Builder, indices: &[usize], kind| {
        b.schedule(&system.event, indices, &event_blocks, &event_sites, kind, 0)
    };
    let derivatives = schedule(&mut b, &system.derivatives, ScheduleKind::Derivatives);
    let crossings_schedule = schedule(&mut b, &system.crossing_steps, ScheduleKind::Crossings);
    let outputs = schedule(&mut b, &system.outputs, ScheduleKind::Outputs);
    let event = schedule(&mut b, &whole, ScheduleKind::Event);
    let initial_blocks = b.make_blocks(&system.initial);
    let initial_sites = b.step_sites(&system.initial);
    let whole: Vec<usize> = (0..system.initial.len()).collect();
    let initial = b.schedule(
        &system.initial,
        &whole,
        &initial_blocks,
        &initial_sites,
        ScheduleKind::Initial,
        system.event.len(),
    );

    b.equations(&event_blocks, &event_sites, &mut info);
    let impact_flags: Vec<VarId> = match (&modes, &system.restart) {
        (Some(modes), _) => modes.impact_flags().collect(),
        (None, Some(restart)) => restart.impacts.iter().map(|impact| impact.flag).collect(),
        (None, None) => Vec::new(),
    };
    let (crossings, crossing_tape, affine_tape) = b.crossings(&impact_flags);
    let (time_events, time_tape) = b.time_events();
    let delay_tape = b.delays();
    let switching = modes.map(|modes| Switching {
        impacts: modes
            .impact_flags()
            .map(|flag| layout.place(flag))
            .collect(),
        literals: b.literals(&modes).into(),
        guess: b.assignments(&discrete_assignments(&system.initial)).into(),
        modes: *modes,
        sources: sources.clone(),
        known: OnceLock::new(),
    });
    let restart = (system.restart.as_deref()).map(|restart| b.restart(restart));
    let sets = system
        .state_sets
        .iter()
        .map(|set| b.state_set(set))
        .collect();
    let pattern = depend::state_pattern(&system, &layout);
    let dae = b.dae(&pattern);
    let mut feeds = vec![false; layout.n_slots];
    for (var, _) in system.flat.variables.iter() {
        if system
            .feeds_derivatives
            .get(var.index())
            .copied()
            .unwrap_or(false)
        {
            feeds[layout.slot(var).index()] = true;
        }
    }
    let discrete = discrete_slots(&system, &layout);
    let states = system
        .states
        .iter()
        .map(|(x, dx)| StateSlots {
            value: layout.slot(*x),
            derivative: layout.slot(*dx),
        })
        .collect();
    let notes = system
        .initial_notes
        .iter()
        .map(|(var, text)| InitialNote {
            slot: var.map(|v| layout.slot(v)),
            text: text.clone(),
        })
        .collect();
    let initial_conditions = b.initial_conditions(&has_start);
    let unset_enums = layout
        .representative
        .iter()
        .enumerate()
        .filter_map(|(i, v)| {
            let v = (*v)?;
            matches!(system.flat.variables[v].base, saltus_ir::Base::Enum(_))
                .then_some(Slot(i as u32))
        })
        .collect();
    let Builder {
        sites,
        tapes,
        blocks,
        errors,
        ..
    } = b;
    if !errors.is_empty() {
        return Err(errors);
    }
    info.sites = sites.infos;
    let moving = depend::moving(&system, &layout);
    let delay_moves: Vec<bool> = system
        .delays
        .iter()
        .map(|d| depend::moves(&system, &layout, &moving, d.expr))
        .collect();
    let past = depend::past(&system, &layout);
    let mut next = 0;
    let delays: Vec<DelayInfo> = system
        .delays
        .iter()
        .zip(delay_moves)
        .map(|(d, moves)| {
            let first = next;
            next += d.exprs().count();
            (first, d, moves)
        })
        .map(|(first, d, moves)| DelayInfo {
            first,
            n_points: d.profile.as_ref().map(|p| p.0.len()),
            moves,
            repeats: depend::reads_any(&system, &layout, &past, d.expr),
            stretch: layout.slot(d.stretch),
            range: (d.range).map(|(from, to)| (layout.slot(from), layout.slot(to))),
        })
        .collect();
    // What may fail or speak at a step that is not recorded.
    let speaks = |section: &Section| match *section {
        Section::Explicit(code) => {
            let tape: &Tape = &tapes[code.0 as usize];
            !(tape.asserts.is_empty() && tape.calls.is_empty() && tape.exprs.is_empty())
        }
        Section::Linear(_) => false,
        Section::Nonlinear(_) | Section::Mixed(_) => true,
    };
    // Trial points are silent, so warnings of the derivatives are heard at accepted ones only.
    let warns = |section: &Section| match *section {
        Section::Explicit(code) => !tapes[code.0 as usize].asserts.is_empty(),
        _ => false,
    };
    let observes_steps = !delays.is_empty()
        || derivatives.iter().any(warns)
        || crossings_schedule.iter().chain(&outputs).any(speaks);
    let (functions, function_report) = functions.into_inner().finish(&system.flat);
    let program = Program {
        flat: system.flat,
        layout: Arc::new(layout),
        info: Arc::new(info),
        codes: tapes.into_iter().map(Code::from).collect(),
        blocks,
        schedules: [derivatives, crossings_schedule, outputs, event, initial],
        states,
        crossings,
        crossing_tape: crossing_tape.into(),
        affine_tape: affine_tape.into(),
        pattern,
        dae,
        feeds,
        discrete,
        parameters: parameters.into(),
        starts: starts.into(),
        has_start,
        attributes: attributes.into(),
        attribute_places,
        time_tape: time_tape.into(),
        time_events,
        delay_tape: delay_tape.into(),
        delays,
        observes_steps,
        notes,
        initial_conditions,
        unset_enums,
        sets,
        engine: SharedEngine::default(),
        functions,
        function_report,
        switching,
        event_memory: OnceLock::new(),
        restart,
    };
    if cfg!(debug_assertions)
        && let Some(broken) = crate::verify::broken(&program)
    {
        unreachable!("code of `{}`: {broken}", program.flat.name);
    }
    Ok(program)
}

/// What sorted steps assign to discrete variables, in order.
fn discrete_assignments(steps: &[Step]) -> Vec<Assignment> {
    let mut list = Vec::new();
    for step in steps {
        match step {
            Step::Assign {
                assignment,
                discrete: true,
            } => list.push(*assignment),
            Step::Block(block) => list.extend_from_slice(&block.discrete),
            Step::Assign { .. } | Step::Action { .. } => {}
        }
    }
    list
}

/// Discrete variables, relations, and the internal ones that discrete steps assign.
fn discrete_slots(system: &StructuredSystem, layout: &Layout) -> Vec<Slot> {
    let mut is = vec![false; layout.n_slots];
    for (var, _) in system.flat.variables.iter() {
        if matches!(system.roles[var.index()], Role::Discrete | Role::Relation) {
            is[layout.slot(var).index()] = true;
        }
    }
    for step in system.event.iter() {
        match step {
            Step::Assign {
                assignment,
                discrete: true,
            } => is[layout.slot(assignment.var).index()] = true,
            Step::Block(block) => {
                for a in &block.discrete {
                    is[layout.slot(a.var).index()] = true;
                }
            }
            Step::Assign { .. } | Step::Action { .. } => {}
        }
    }
    for delay in &system.delays {
        is[layout.slot(delay.stretch).index()] = true;
    }
    is.iter()
        .enumerate()
        .filter(|(_, b)| **b)
        .map(|(i, _)| Slot(i as u32))
        .collect()
}

impl<'a> Builder<'a> {
    fn flat(&self) -> &'a FlatModel {
        &self.system.flat
    }

    fn lower(&self, site: Site) -> Lower<'a> {
        Lower::new(self.flat(), self.layout, self.functions, site)
    }

    fn check<T>(
        &mut self,
        origin: Origin,
        text: impl FnOnce() -> String,
        result: Result<T, LowerError>,
    ) {
        if let Err(message) = result {
            let label = text();
            self.errors.push(
                Diagnostic::error("unsupported-expression", origin.span, message).label(label),
            );
        }
    }

    /// A list of assignments as one tape.
    fn assignments(&mut self, list: &[Assignment]) -> Tape {
        let mut lower = self.lower(Site(0));
        let sites = self.assignment_sites(list);
        self.assign_all(&mut lower, list, &sites);
        lower.finish()
    }

    /// The same, for values that may be given from outside instead.
    fn overridable(&mut self, list: &[Assignment]) -> Tape {
        let mut lower = self.lower(Site(0));
        let flat = self.flat();
        for a in list {
            lower.set_site(self.sites.equation(flat, a.var, a.value, a.origin));
            let result = lower.assign_overridable(a.var, a.value);
            self.check(a.origin, || equation_text(flat, a), result);
        }
        lower.finish()
    }

    fn attributes(&mut self) -> (Tape, Vec<AttributePlace>) {
        let mut lower = self.lower(Site(0));
        let mut places = Vec::new();
        for (var, v) in self.flat().variables.iter() {
            let (slot, sign) = self.layout.place(var);
            if sign == Sign::Complement {
                continue;
            }
            let origin = Origin {
                span: v.span,
                component: v.name,
            };
            for (expr, attribute) in [
                (v.min, Attribute::Min),
                (v.max, Attribute::Max),
                (v.nominal, Attribute::Nominal),
            ] {
                let Some(expr) = expr else { continue };
                lower.set_site(self.sites.expression(self.flat(), expr, origin));
                let result = lower.out(expr, places.len());
                let flat = self.flat();
                self.check(origin, || expr_text(flat, expr), result);
                let alias = self.layout.representative[slot.index()] != Some(var);
                places.push(AttributePlace {
                    slot,
                    attribute,
                    alias,
                    negated: sign == Sign::Negated,
                });
            }
        }
        (lower.finish(), places)
    }

    /// Tells which equation determines what at events.
    fn equations(&self, blocks: &[Option<BlockId>], sites: &[Site], info: &mut ModelInfo) {
        let mut set = |slot: Slot, site: Site| info.slots[slot.index()].equation = Some(site);
        for ((step, block), site) in self.system.event.iter().zip(blocks).zip(sites) {
            match (step, block) {
                (Step::Assign { assignment, .. }, _) => {
                    set(self.layout.slot(assignment.var), *site);
                }
                (Step::Block(_), Some(id)) => {
                    let BlockCode {
                        info,
                        discrete_sites,
                        ..
                    } = &self.blocks[id.0 as usize];
                    let equations = info.residual_sites.iter().chain(&info.inner_sites);
                    let determined = info.determines.iter().zip(equations);
                    let discrete = info.discrete.iter().zip(discrete_sites);
                    determined
                        .chain(discrete)
                        .for_each(|(slot, site)| set(*slot, *site));
                }
                (Step::Block(_), None) | (Step::Action { .. }, _) => {}
            }
        }
    }

    fn step_sites(&mut self, steps: &[Step]) -> Vec<Site> {
        let flat = self.flat();
        steps
            .iter()
            .map(|step| match step {
                Step::Assign { assignment: a, .. } => {
                    self.sites.equation(flat, a.var, a.value, a.origin)
                }
                Step::Block(_) => Site(0),
                Step::Action { action, origin, .. } => {
                    let text = action_text(flat, action);
                    self.sites.add(origin.span, text)
                }
            })
            .collect()
    }

    /// Block numbers by step.
    fn make_blocks(&mut self, steps: &[Step]) -> Vec<Option<BlockId>> {
        steps
            .iter()
            .map(|step| {
                let Step::Block(block) = step else {
                    return None;
                };
                let code = self.block(block);
                self.blocks.push(code);
                Some(BlockId(self.blocks.len() as u32 - 1))
            })
            .collect()
    }

    fn block(&mut self, block: &Block) -> BlockCode {
        let slot = |v: &VarId| self.layout.slot(*v);
        let unknowns: Vec<Slot> = block.unknowns.iter().map(slot).collect();
        let inner = block.inner.iter().map(|a| self.layout.slot(a.var));
        let determines: Vec<Slot> = unknowns.iter().copied().chain(inner).collect();
        let discrete: Vec<Slot> = block
            .discrete
            .iter()
            .map(|a| self.layout.slot(a.var))
            .collect();
        let (pattern, directions, n_directions) = self.directions(block);
        let seeded = unknowns.iter().copied().zip(directions.iter().copied());
        let mut lower = self.lower(Site(0)).with_unknowns(seeded);
        let inner_sites = self.assignment_sites(&block.inner);
        self.assign_all(&mut lower, &block.inner, &inner_sites);
        let mut residual_sites = Vec::new();
        for (i, (expr, origin)) in block.residuals.iter().enumerate() {
            let flat = self.flat();
            let text = match *flat.ir.expr(*expr) {
                Expr::Binary(BinaryOp::Sub, lhs, rhs) => {
                    format!("{} = {}", expr_text(flat, lhs), expr_text(flat, rhs))
                }
                _ => format!("0 = {}", expr_text(flat, *expr)),
            };
            let site = self.sites.add(origin.span, text);
            residual_sites.push(site);
            lower.set_site(site);
            let result = lower.out(*expr, i);
            self.check(*origin, || expr_text(flat, *expr), result);
        }
        let residual = lower.finish();
        let discrete_sites = self.assignment_sites(&block.discrete);
        let mut discrete_lower = self.lower(Site(0));
        self.assign_all(&mut discrete_lower, &block.discrete, &discrete_sites);
        let discrete_tape = discrete_lower.finish();
        let (dependent, dependent_sites): (Vec<Assignment>, Vec<Site>) =
            (block.discrete.iter().zip(&discrete_sites))
                .filter(|(a, _)| !self.crossed.contains(&a.var))
                .map(|(a, site)| (*a, *site))
                .unzip();
        let mut dependent_lower = self.lower(Site(0));
        self.assign_all(&mut dependent_lower, &dependent, &dependent_sites);
        let dependent_tape = dependent_lower.finish();
        let rate = |v: &VarId| self.system.rates[v.index()].map(|rate| self.layout.slot(rate));
        let info = BlockInfo {
            unknowns,
            rates: block.unknowns.iter().map(rate).collect(),
            determines,
            discrete,
            linear: block.linear,
            constant: block.linear && block.coefficients <= Coefficients::Discrete,
            residual_sites,
            inner_sites,
            pattern,
        };
        let direct = (block.direct.as_ref()).map(|d| self.direct(block, d, &info));
        BlockCode {
            info,
            directions,
            n_directions,
            residual: residual.into(),
            discrete: discrete_tape.into(),
            dependent: dependent_tape.into(),
            discrete_sites,
            direct: direct.map(Code::from),
        }
    }

    /// The DAE form, where it is much sparser than the states alone.
    fn dae(&self, states: &[Vec<u32>]) -> Option<DaeCode> {
        let system = self.system;
        let n = system.states.len();
        let entries = |pattern: &[Vec<u32>]| pattern.iter().map(Vec::len).sum::<usize>();
        if n < DAE_STATES_MIN || !system.state_sets.is_empty() {
            return None;
        }
        let mut unknowns: Vec<VarId> = system.states.iter().map(|(x, _)| *x).collect();
        let (mut inner, mut residuals) = (Vec::new(), Vec::new());
        for &i in &system.derivatives {
            match &system.event[i] {
                Step::Assign { assignment, .. } => inner.push(*assignment),
                Step::Block(block) => {
                    unknowns.extend(&block.unknowns);
                    inner.extend(&block.inner);
                    residuals.extend(block.residuals.iter().map(|(e, _)| *e));
                }
                Step::Action { .. } => {}
            }
        }
        // No row is shorter than one entry.
        if residuals.is_empty() || entries(states) < DAE_ENTRIES_RATIO * unknowns.len() {
            return None;
        }
        let derivatives =
            (system.states.iter()).map(|(_, dx)| Row::of_derivative(system, self.layout, *dx));
        let rows = derivatives.chain(residuals.iter().map(|e| Row::Residual(*e)));
        let pattern = depend::pattern_of(self.flat(), self.layout, &unknowns, &inner, rows)?;
        if entries(states) < DAE_ENTRIES_RATIO * (entries(&pattern) + n) {
            return None;
        }
        let size = unknowns.len();
        let (directions, n_directions) = colour_columns(size, size, |j| &pattern[j]);
        let slots: Vec<Slot> = unknowns.iter().map(|v| self.layout.slot(*v)).collect();
        let seeded = slots.iter().copied().zip(directions.iter().copied());
        let mut lower = self.lower(Site(0)).with_unknowns(seeded);
        for a in &inner {
            lower.assign(a.var, a.value).ok()?;
        }
        for (i, (_, dx)) in system.states.iter().enumerate() {
            lower.out_value(*dx, i);
        }
        for (i, residual) in residuals.iter().enumerate() {
            lower.out(*residual, n + i).ok()?;
        }
        Some(DaeCode {
            form: DaeForm {
                unknowns: slots[n..].to_vec(),
                pattern,
            },
            directions,
            n_directions,
            code: lower.finish().into(),
        })
    }

    /// Code that solves a block by its replacement equations.
    fn direct(&mut self, block: &Block, direct: &Direct, info: &BlockInfo) -> Tape {
        let sites = &info.residual_sites;
        let mut lower = self.lower(sites[0]);
        let (before, after) = block.inner.split_at(direct.n_before);
        let (sites_before, sites_after) = info.inner_sites.split_at(direct.n_before);
        self.assign_all(&mut lower, before, sites_before);
        lower.set_site(sites[0]);
        lower.out_constant(0.0, 0);
        let (flat, (residual, origin)) = (self.flat(), block.residuals[0]);
        match lower.solve_linear(&direct.matrix, &direct.rhs) {
            Ok((solution, exits)) => {
                for ((&var, &src), &site) in block.unknowns.iter().zip(&solution).zip(sites) {
                    lower.set_site(site);
                    lower.store(var, src);
                }
                self.assign_all(&mut lower, after, sites_after);
                lower.out_constant(1.0, 0);
                exits.into_iter().for_each(|exit| lower.land(exit));
            }
            failed => self.check(origin, || expr_text(flat, residual), failed),
        }
        lower.finish()
    }

    /// A block whose only unknown a division gives, in line.
    fn divide(&mut self, block: &Block, direct: &Direct, id: BlockId, lower: &mut Lower<'a>) {
        let info = &self.blocks[id.0 as usize].info;
        let (site, sites) = (info.residual_sites[0], info.inner_sites.clone());
        let (before, after) = block.inner.split_at(direct.n_before);
        self.assign_all(lower, before, &sites[..direct.n_before]);
        lower.set_site(site);
        let result = lower.divide(block.unknowns[0], direct.rhs[0], direct.matrix[0]);
        let (flat, (residual, origin)) = (self.flat(), block.residuals[0]);
        self.check(origin, || expr_text(flat, residual), result);
        self.assign_all(lower, after, &sites[direct.n_before..]);
    }

    fn assignment_sites(&mut self, list: &[Assignment]) -> Vec<Site> {
        let flat = self.flat();
        (list.iter())
            .map(|a| self.sites.equation(flat, a.var, a.value, a.origin))
            .collect()
    }

    fn assign_all(&mut self, lower: &mut Lower<'a>, list: &[Assignment], sites: &[Site]) {
        let flat = self.flat();
        for (a, &site) in list.iter().zip(sites) {
            lower.set_site(site);
            let result = lower.assign(a.var, a.value);
            self.check(a.origin, || equation_text(flat, a), result);
        }
    }

    /// The pattern of a block, where it is worth having, and a direction for each unknown.
    fn directions(&self, block: &Block) -> (Option<Vec<Vec<u32>>>, Vec<u32>, usize) {
        let n = block.unknowns.len();
        if n >= PATTERN_MIN
            && let Some(pattern) = depend::block_pattern(self.flat(), self.layout, block)
        {
            let (colours, n_colours) = colour_columns(n, n, |j| &pattern[j]);
            if (n_colours as f64) <= COLOURS_SHARE_MAX * n as f64 {
                return (Some(pattern), colours, n_colours);
            }
        }
        (None, (0..n as u32).collect(), n)
    }

    fn schedule(
        &mut self,
        steps: &[Step],
        indices: &[usize],
        blocks: &[Option<BlockId>],
        sites: &[Site],
        kind: ScheduleKind,
        first_assert: usize,
    ) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut lower = self.lower(Site(0));
        let at_event = matches!(kind, ScheduleKind::Event | ScheduleKind::Initial);
        let mut k = 0;
        while k < indices.len() {
            let i = indices[k];
            lower.set_site(sites[i]);
            match &steps[i] {
                Step::Assign { assignment: a, .. } => {
                    let group = self.group(steps, &indices[k..], sites);
                    let result = if group.len() > 1 {
                        let condition = shares_jump(&self.flat().ir, a.value).map(|(c, ..)| c);
                        k += group.len() - 1;
                        condition.map_or(Ok(()), |c| lower.assign_together(c, &group))
                    } else {
                        lower.assign(a.var, a.value)
                    };
                    let (flat, a) = (self.flat(), *a);
                    self.check(a.origin, || equation_text(flat, &a), result);
                }
                Step::Block(
                    block @ Block {
                        direct: Some(direct @ Direct { divides: true, .. }),
                        discrete,
                        ..
                    },
                ) if !at_event || discrete.is_empty() => {
                    if let Some(id) = blocks[i] {
                        self.divide(block, direct, id, &mut lower);
                    }
                }
                Step::Block(block) => {
                    self.flush(&mut lower, &mut sections);
                    if let Some(id) = blocks[i] {
                        sections.push(if at_event && !block.discrete.is_empty() {
                            Section::Mixed(id)
                        } else if block.linear {
                            Section::Linear(id)
                        } else {
                            Section::Nonlinear(id)
                        });
                    }
                }
                Step::Action {
                    guard,
                    action,
                    origin,
                } => {
                    let number = (first_assert + i) as u32;
                    let result = match action {
                        Action::Assert {
                            condition,
                            message,
                            level,
                        } => {
                            let warning = *level == AssertLevel::Warning;
                            // Trial points are not worth a warning.
                            let trial =
                                matches!(kind, ScheduleKind::Derivatives | ScheduleKind::Crossings);
                            if (!at_event && guard.is_some()) || (warning && trial) {
                                Ok(())
                            } else {
                                lower.guarded(*guard, |l| {
                                    l.assertion(*condition, *message, warning, number)
                                })
                            }
                        }
                        _ if !at_event => Ok(()),
                        Action::Reinit { var, value } => {
                            lower.guarded(*guard, |l| l.reinit(*var, *value))
                        }
                        Action::Terminate { message } => lower.guarded(*guard, |l| {
                            l.terminate(*message);
                            Ok(())
                        }),
                        Action::Call { call } => lower.guarded(*guard, |l| l.effect(*call)),
                    };
                    let flat = self.flat();
                    self.check(*origin, || action_text(flat, action), result);
                }
            }
            k += 1;
        }
        self.flush(&mut lower, &mut sections);
        sections
    }

    /// The longest run of assignments at the front that branch on the same condition.
    fn group(
        &self,
        steps: &[Step],
        indices: &[usize],
        sites: &[Site],
    ) -> Vec<(VarId, ExprId, ExprId, ExprId, Site)> {
        let ir = &self.flat().ir;
        let mut group = Vec::new();
        let mut condition = None;
        let mut read = Vec::new();
        for &i in indices {
            let Step::Assign { assignment: a, .. } = &steps[i] else {
                break;
            };
            let Some((c, t, e)) = shares_jump(ir, a.value) else {
                break;
            };
            if condition.is_some_and(|known| known != c)
                || self.layout.place(a.var).1 != Sign::Plain
            {
                break;
            }
            if condition.is_none() {
                condition = Some(c);
                depend::reads(self.flat(), c, &mut read);
            }
            group.push((a.var, t, e, a.value, sites[i]));
            // The condition must not change within the group.
            if read
                .iter()
                .any(|v| self.layout.slot(*v) == self.layout.slot(a.var))
            {
                group.pop();
                break;
            }
        }
        group
    }

    fn flush(&mut self, lower: &mut Lower<'a>, sections: &mut Vec<Section>) {
        let fresh = self.lower(Site(0));
        let done = std::mem::replace(lower, fresh);
        if !done.is_empty() {
            sections.push(Section::Explicit(CodeId(self.tapes.len() as u32)));
            self.tapes.push(done.finish());
        }
    }

    fn crossings(&mut self, impact_flags: &[VarId]) -> (Vec<CrossingInfo>, Tape, Tape) {
        let flat = self.flat();
        let mut guarded = guarded(self.system, self.layout, impact_flags);
        let mut lower = self.lower(Site(0));
        let mut affine = self.lower(Site(0));
        let mut infos = Vec::new();
        for (i, c) in self.system.crossings.iter().enumerate() {
            let site = self.sites.add(c.origin.span, c.text.clone());
            lower.set_site(site);
            let mut result = lower.out(c.function, i);
            if c.class == saltus_structure::CrossingClass::Affine {
                affine.set_site(site);
                result = result.and(affine.out(c.function, i));
            }
            self.check(c.origin, || expr_text(flat, c.function), result);
            let nominal = (flat.ir.variables_of(c.function).into_iter())
                .filter_map(|v| flat.ir.as_number(flat.variables[v].nominal?))
                .fold(1.0, |a: f64, b| a.max(b.abs()));
            let relation = self.layout.slot(c.relation);
            let own = guarded.remove(&relation).unwrap_or_default();
            infos.push(CrossingInfo {
                nominal,
                relation,
                guards: own.conditions,
                resets: own.resets,
                rising: c.rising,
                closed: c.closed,
                class: match c.class {
                    saltus_structure::CrossingClass::Affine => CrossingClass::Affine,
                    saltus_structure::CrossingClass::General => CrossingClass::General,
                },
                slides: c.slides,
                site,
                text: c.text.clone(),
            });
        }
        (infos, lower.finish(), affine.finish())
    }

    fn time_events(&mut self) -> (Vec<TimeSource>, Tape) {
        let flat = self.flat();
        let mut lower = self.lower(Site(0));
        let mut sources = Vec::new();
        let mut n = 0;
        for event in &self.system.time_events {
            let var = match event {
                TimeEvent::Sample { flag, .. } | TimeEvent::Tick { flag, .. } => *flag,
                TimeEvent::Threshold { relation, .. } => *relation,
            };
            let origin = Origin {
                span: flat.variables[var].span,
                component: flat.variables[var].name,
            };
            let slot = self.layout.slot(var);
            let text = match event {
                TimeEvent::Sample {
                    start, interval, ..
                } => {
                    format!(
                        "sample({}, {})",
                        expr_text(flat, *start),
                        expr_text(flat, *interval)
                    )
                }
                TimeEvent::Tick { period, .. } => format!("Clock({}, {})", period.0, period.1),
                TimeEvent::Threshold { at, .. } => match flat.variables[var].description.as_str() {
                    "" => format!("time reaches {}", expr_text(flat, *at)),
                    relation => relation.to_owned(),
                },
            };
            let site = self.sites.add(origin.span, text.clone());
            lower.set_site(site);
            let mut number = |b: &mut Self, expr| {
                let result = lower.out(expr, n);
                b.check(origin, || text.clone(), result);
                n += 1;
                n - 1
            };
            let kind = match event {
                TimeEvent::Sample {
                    start, interval, ..
                } => TimeKind::Sample {
                    flag: slot,
                    start: number(self, *start),
                    interval: number(self, *interval),
                },
                TimeEvent::Tick { period, shift, .. } => TimeKind::Tick {
                    flag: slot,
                    period: *period,
                    shift: *shift,
                },
                TimeEvent::Threshold { at, after, .. } => TimeKind::Threshold {
                    at: number(self, *at),
                    after: *after,
                },
            };
            sources.push(TimeSource { kind, site });
        }
        (sources, lower.finish())
    }

    fn restart(&mut self, restart: &Restart) -> RestartCode {
        let system = self.system;
        let flat = self.flat();
        let mut lower = self.lower(Site(0));
        let mut sites = Vec::new();
        for (i, constraint) in restart.constraints.iter().enumerate() {
            let text = || {
                let (lhs, rhs) = (
                    expr_text(flat, constraint.lhs),
                    expr_text(flat, constraint.rhs),
                );
                format!("{lhs} = {rhs}")
            };
            let site = self.sites.add(constraint.origin.span, text());
            lower.set_site(site);
            sites.push(site);
            let residual = lower.out(constraint.residual, 2 * i);
            let magnitude = lower.out(constraint.magnitude, 2 * i + 1);
            self.check(constraint.origin, text, residual.and(magnitude));
        }
        let constraints = lower.finish().into();
        let mut lower = self.lower(Site(0));
        let mut hinge_switches = Vec::new();
        for hinge in &restart.hinges {
            let n = hinge_switches.len();
            // What cannot be evaluated is no limit of both branches.
            let residual = lower.out(hinge.residual, 2 * n);
            if residual.and(lower.out(hinge.magnitude, 2 * n + 1)).is_ok() {
                hinge_switches.push(hinge.literal);
            }
        }
        let hinges = lower.finish().into();
        let mut discrete = discrete_assignments(&system.event);
        discrete.retain(|a| system.crossings.iter().all(|c| c.relation != a.var));
        let discrete = self.assignments(&discrete);
        RestartCode {
            discrete: discrete.into(),
            index: restart.index(),
            constraints,
            sites,
            hinges,
            hinge_switches,
        }
    }

    fn initial_conditions(&mut self, has_start: &[bool]) -> InitialConditions {
        let (system, layout) = (self.system, self.layout);
        let mut levels: Vec<_> = system
            .initial_conditions
            .guesses
            .iter()
            .map(|g| g.1)
            .collect();
        levels.sort_unstable();
        levels.dedup();
        let guesses = (system.initial_conditions.guesses.iter())
            .map(|(var, level)| {
                let rank = levels.partition_point(|l| l < level) as u32;
                (layout.slot(*var), rank)
            })
            .collect();
        let mut site = |said: &Said| self.sites.add(said.origin.span, said.text.clone());
        let checks = (system.initial_conditions.checks.iter())
            .map(|check| InitialCheck {
                left: layout.slot(check.left),
                right: layout.slot(check.right),
                site: site(&check.said),
                others: check.others.iter().map(&mut site).collect(),
            })
            .collect();
        let started = (0..has_start.len())
            .filter(|&i| has_start[i])
            .map(|i| Slot(i as u32))
            .collect();
        let equations = (system.initial_conditions.equations.iter())
            .map(site)
            .collect();
        let memory = (system.initial_conditions.memory.iter())
            .map(|(var, pre)| (layout.slot(*var), layout.slot(*pre)))
            .collect();
        InitialConditions {
            guesses,
            checks,
            started,
            equations,
            memory,
        }
    }

    fn literals(&mut self, modes: &Modes) -> Tape {
        let flat = self.flat();
        let mut lower = self.lower(Site(0));
        for (i, literal) in modes.literals().iter().enumerate() {
            let origin = Origin {
                span: flat.span,
                component: flat.name,
            };
            let result = lower.out(literal.expr(), i);
            self.check(origin, || expr_text(flat, literal.expr()), result);
        }
        lower.finish()
    }

    fn state_set(&mut self, set: &StateSet) -> SetCode {
        let slots =
            |vars: &[VarId]| -> Vec<Slot> { vars.iter().map(|&v| self.layout.slot(v)).collect() };
        let levels: Vec<(Vec<Slot>, Vec<Slot>)> = (set.levels.iter())
            .map(|(candidates, held)| (slots(candidates), slots(held)))
            .collect();
        let candidates = set.levels.last().map_or(&[][..], |level| &level.0[..]);
        let unknowns = (set.between.iter().chain(candidates)).map(|&v| self.layout.slot(v));
        let selectors = slots(&set.selectors);
        let mut lower = self.lower(Site(0)).with_unknowns(unknowns.zip(0..));
        for (i, &(residual, origin)) in set.constraints.iter().enumerate() {
            lower.set_site(self.sites.expression(self.flat(), residual, origin));
            let result = lower.out(residual, i);
            let flat = self.flat();
            self.check(origin, || expr_text(flat, residual), result);
        }
        SetCode {
            n_states: set.n_states,
            selectors,
            levels,
            n_between: set.between.len(),
            n_constraints: candidates.len() - set.n_states,
            constraints: lower.finish().into(),
            nominal: (candidates.iter())
                .map(|&v| self.flat().variables[v].nominal.is_some())
                .collect(),
        }
    }

    /// Results: value, delay time and longest delay of each `delay`; of a transport the value that enters, position,
    /// direction, and the initial profile.
    fn delays(&mut self) -> Tape {
        let flat = self.flat();
        let mut lower = self.lower(Site(0));
        let mut n = 0;
        for d in &self.system.delays {
            let v = &flat.variables[d.result];
            let origin = Origin {
                span: v.span,
                component: v.name,
            };
            lower.set_site(self.sites.expression(flat, d.expr, origin));
            for expr in d.exprs() {
                let result = lower.out(expr, n);
                n += 1;
                self.check(origin, || expr_text(flat, expr), result);
            }
        }
        lower.finish()
    }
}

fn equation_text(flat: &FlatModel, a: &Assignment) -> String {
    format!(
        "{} = {}",
        flat.variables[a.var].name.as_str(),
        expr_text(flat, a.value)
    )
}

fn action_text(flat: &FlatModel, action: &Action) -> String {
    match action {
        Action::Reinit { var, value } => {
            format!(
                "reinit({}, {})",
                flat.variables[*var].name.as_str(),
                expr_text(flat, *value)
            )
        }
        Action::Assert { condition, .. } => format!("assert({})", expr_text(flat, *condition)),
        Action::Terminate { .. } => "terminate(…)".into(),
        Action::Call { call } => expr_text(flat, *call),
    }
}
