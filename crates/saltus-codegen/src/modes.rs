//! The modes of a run: made when they are first met, then kept as long as there is room.
//!
//! Comes in: the values of the model's switches. Goes out: the code of the mode that they select. All modes share slots: a further mode may
//! add slots, and never moves one.

use crate::layout::Sites;
use crate::program::{self, Program, Switching};
use rustc_hash::FxHashMap;
use saltus_model::{
    Fault, FaultKind, JumpId, JumpInfo, ModelInfo, ScheduleKind, Section, Site, Slot,
};
use saltus_structure::{Modes, Specialised};
use saltus_syntax::Diagnostic;
use std::sync::Arc;

/// Slots of all programs that are kept together, about 2 kB each with what belongs to them.
const KEPT_SLOTS_MAX: usize = 100_000;
/// Programs that are kept however large they are.
const KEPT_MIN: usize = 4;
/// Distinct modes of a run: each leaves a line in the list of modes.
const MODES_MAX: usize = 1 << 20;

/// A mode that a run has met.
#[derive(Clone, PartialEq, Debug)]
pub struct ModeSummary {
    /// As in the event log.
    pub number: u32,
    /// What selects it.
    pub switches: Vec<String>,
    pub states: Vec<String>,
    pub index: u32,
    /// Unknowns of each system of equations that is solved at every evaluation.
    pub blocks: Vec<usize>,
}

/// What stays of a mode when its program is given up.
struct Met {
    /// The values of all switches that selected it first.
    switches: Vec<bool>,
    states: Vec<Slot>,
    index: u32,
    blocks: Vec<usize>,
}

/// Which programs were used last, of those that are kept.
#[derive(Default)]
struct Recent {
    /// Number and slots of each, the one used last at the end.
    kept: Vec<(u32, usize)>,
}

impl Recent {
    fn used(&mut self, number: u32) {
        if let Some(k) = self.kept.iter().position(|kept| kept.0 == number) {
            self.kept[k..].rotate_left(1);
        }
    }

    /// Adds one, and returns those that have to go.
    fn add(&mut self, number: u32, n_slots: usize) -> Vec<u32> {
        self.kept.push((number, n_slots));
        let mut gone = Vec::new();
        let mut slots: usize = self.kept.iter().map(|kept| kept.1).sum();
        while self.kept.len() > KEPT_MIN && slots > KEPT_SLOTS_MAX {
            let (oldest, n) = self.kept.remove(0);
            slots -= n;
            gone.push(oldest);
        }
        gone
    }
}

/// What the instance has to do with its own list of programs.
pub(crate) struct Changes {
    /// Its place in the list, with the program; the list grows by at most one.
    pub(crate) new: Option<(u32, Arc<Program>)>,
    /// Places whose programs are given up.
    pub(crate) gone: Vec<u32>,
}

impl Changes {
    const NONE: Changes = Changes {
        new: None,
        gone: Vec::new(),
    };
}

/// The modes of one run. Programs that were not used for long are given up; their modes keep their numbers and are structured again when they are met again.
pub(crate) struct ModeStore {
    modes: Modes,
    met: Vec<Met>,
    /// By number.
    programs: Vec<Option<Arc<Program>>>,
    recent: Recent,
    structured: u64,
    n_slots: usize,
    /// Which mode the values of the live switches select; `None` if they leave the equations singular whatever the states: then the common system has to do.
    by_values: FxHashMap<Vec<bool>, Option<u32>>,
    /// Ways into modes, by mode, violated constraints and impacts.
    jumps: Vec<Option<JumpInfo>>,
    recent_jumps: Recent,
    by_violated: FxHashMap<(u32, Vec<usize>, Vec<usize>), JumpId>,
}

impl ModeStore {
    pub(crate) fn new(switching: &Switching) -> ModeStore {
        ModeStore {
            modes: switching.modes.clone(),
            met: Vec::new(),
            programs: Vec::new(),
            recent: Recent::default(),
            structured: 0,
            n_slots: 0,
            by_values: FxHashMap::default(),
            jumps: Vec::new(),
            recent_jumps: Recent::default(),
            by_violated: FxHashMap::default(),
        }
    }

    /// The modes that live switches select now, with the names of their slots from `info`.
    pub(crate) fn summaries(&self, info: &ModelInfo) -> Vec<ModeSummary> {
        let mut keys: Vec<(u32, &Vec<bool>)> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "sorted below")]
        for (key, mode) in &self.by_values {
            keys.extend(mode.map(|mode| (mode, key)));
        }
        keys.sort();
        let summary = |(mode, key): (u32, &Vec<bool>)| {
            let met = &self.met[mode as usize];
            let live = self.modes.live().iter().zip(key);
            ModeSummary {
                number: mode + 1,
                switches: live
                    .map(|(&i, &v)| self.modes.text(i as usize, v))
                    .collect(),
                states: (met.states.iter())
                    .map(|slot| info.slots[slot.index()].name.clone())
                    .collect(),
                index: met.index,
                blocks: met.blocks.clone(),
            }
        };
        keys.into_iter().map(summary).collect()
    }

    pub(crate) fn live(&self) -> &[u32] {
        self.modes.live()
    }

    /// Programs made for modes, also those made again.
    pub(crate) fn n_structured(&self) -> u64 {
        self.structured
    }

    /// Slots that the modes met so far need together.
    pub(crate) fn n_slots(&self) -> usize {
        self.n_slots
    }

    pub(crate) fn jump_info(&self, jump: JumpId) -> &JumpInfo {
        match &self.jumps[jump.0 as usize] {
            Some(info) => info,
            None => unreachable!("a jump that was given up has no number any more"),
        }
    }

    /// The jump into a mode whose constraints with these indices do not hold, with these impacts.
    pub(crate) fn jump(
        &mut self,
        switching: &Switching,
        mode: u32,
        violated: &[usize],
        impacts: &[usize],
        info: &ModelInfo,
    ) -> Result<(JumpId, Changes), Fault> {
        let key = (mode, violated.to_vec(), impacts.to_vec());
        if let Some(&jump) = self.by_violated.get(&key) {
            self.recent_jumps.used(jump.0);
            return Ok((jump, Changes::NONE));
        }
        let switches = &self.met[mode as usize].switches;
        let system = match self.modes.specialise(switches).map_err(structural)? {
            Specialised::System(system) => system,
            Specialised::MoreLive | Specialised::Singular => {
                unreachable!("the mode has been structured before")
            }
        };
        let jump = self.modes.jump(&system, violated, impacts);
        let jump = jump.map_err(|error| structural(vec![*error]))?;
        let sites = Sites::extending(&switching.sources, &info.sites);
        let program = Arc::new(program::build(jump.system, sites).map_err(structural)?);
        let slot = |v| program.layout.slot(v);
        let jump_info = JumpInfo {
            moved: jump.moved.into_iter().map(slot).collect(),
            impulses: (jump.impulses.into_iter())
                .map(|(v, w)| (slot(v), slot(w)))
                .collect(),
        };
        let id = JumpId(self.jumps.len() as u32);
        self.jumps.push(Some(jump_info));
        self.by_violated.insert(key, id);
        self.n_slots = self.n_slots.max(program.layout.n_slots);
        let gone = self.recent_jumps.add(id.0, program.layout.n_slots);
        for &jump in &gone {
            self.jumps[jump as usize] = None;
        }
        self.by_violated.retain(|_, jump| !gone.contains(&jump.0));
        let new = Some((id.0, program));
        Ok((id, Changes { new, gone }))
    }

    /// Number of the mode that the values of the switches select.
    pub(crate) fn select(
        &mut self,
        switching: &Switching,
        values: &[bool],
        info: &ModelInfo,
    ) -> Result<(Option<u32>, Changes), Fault> {
        // Each round makes a mode or finds at least one more live switch.
        for _ in 0..=values.len() {
            let live = self.modes.live().iter().map(|&i| values[i as usize]);
            let key: Vec<bool> = live.collect();
            let known = match self.by_values.get(&key) {
                Some(None) => return Ok((None, Changes::NONE)),
                Some(Some(mode)) if self.programs[*mode as usize].is_some() => {
                    let mode = *mode;
                    self.recent.used(mode);
                    return Ok((Some(mode), Changes::NONE));
                }
                Some(Some(mode)) => Some(*mode),
                None => None,
            };
            if known.is_none() && self.met.len() == MODES_MAX {
                return Err(fault(
                    "too-many-modes",
                    format!("the run has met {MODES_MAX} modes"),
                    Vec::new(),
                ));
            }
            let system = match self.modes.specialise(values).map_err(structural)? {
                Specialised::System(system) => system,
                Specialised::MoreLive => {
                    self.by_values.clear();
                    continue;
                }
                Specialised::Singular => {
                    self.by_values.insert(key, None);
                    return Ok((None, Changes::NONE));
                }
            };
            let sites = Sites::extending(&switching.sources, &info.sites);
            let program = Arc::new(program::build(*system, sites).map_err(structural)?);
            self.structured += 1;
            self.n_slots = self.n_slots.max(program.layout.n_slots);
            let mode = known.unwrap_or(self.met.len() as u32);
            if known.is_none() {
                self.met.push(met(values, &program));
                self.programs.push(None);
                self.by_values.insert(key, Some(mode));
            }
            let gone = self.recent.add(mode, program.layout.n_slots);
            for &mode in &gone {
                self.programs[mode as usize] = None;
            }
            self.programs[mode as usize] = Some(program.clone());
            let new = Some((mode, program));
            return Ok((Some(mode), Changes { new, gone }));
        }
        unreachable!("there are no more switches than values")
    }
}

fn met(switches: &[bool], program: &Program) -> Met {
    let schedule = program.schedule(ScheduleKind::Derivatives).iter();
    Met {
        switches: switches.to_vec(),
        states: program.states.iter().map(|s| s.value).collect(),
        index: program.restart.as_ref().map_or(1, |restart| restart.index),
        blocks: schedule
            .filter_map(|section| match section {
                Section::Explicit(_) => None,
                Section::Linear(b) | Section::Nonlinear(b) | Section::Mixed(b) => {
                    Some(program.blocks[b.0 as usize].info.determines.len())
                }
            })
            .collect(),
    }
}

fn structural(errors: Vec<Diagnostic>) -> Fault {
    let first = errors.into_iter().find(Diagnostic::is_error);
    match first {
        Some(error) => fault(error.code, error.message, error.notes),
        None => unreachable!("a mode failed without a message"),
    }
}

fn fault(code: &'static str, message: String, notes: Vec<String>) -> Fault {
    Fault {
        recoverable: false,
        site: Site(0),
        kind: FaultKind::Mode {
            code,
            message,
            notes,
        },
    }
}
