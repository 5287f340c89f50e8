//! The modes of a run: made when they are first met, then kept as long as there is room.
//!
//! Comes in: the values of the model's switches. Goes out: the code of the mode that they select. The code of a mode depends on the model and on the values of
//! the live switches alone, so all runs of a model share what one of them has made ([`SharedModes`]); each run numbers the modes that it meets in the
//! order in which it meets them ([`ModeStore`]). All modes share slots: a further mode may add slots, and never moves one.

mod shared;

use crate::program::{Program, Switching};
use rustc_hash::FxHashMap;
use saltus_model::{
    Fault, FaultKind, JumpId, JumpInfo, ModelInfo, ScheduleKind, Section, Site, Slot,
};
use saltus_syntax::Diagnostic;
use serde::{Deserialize, Serialize};
pub(crate) use shared::SharedModes;
use shared::{JumpKey, Made, ModeKey};
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
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Met {
    key: ModeKey,
    /// The values of all switches that selected it first.
    switches: Vec<bool>,
    states: Vec<Slot>,
    index: u32,
    blocks: Vec<usize>,
}

/// Which programs were used last, of those that are kept.
#[derive(Clone, Debug, Default)]
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

/// What a run remembers of its modes when it is written down.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedModes {
    live: Vec<u32>,
    met: Vec<Met>,
    by_values: Vec<(Vec<bool>, Option<u32>)>,
    /// The run had their programs.
    had: Vec<bool>,
    structured: u64,
    n_jumps: usize,
}

/// The modes of one run. Programs that were not used for long are given up; their modes keep their numbers and are structured again when they are met again.
pub(crate) struct ModeStore {
    shared: SharedModes,
    /// Switches that make a difference, as far as this run knows.
    live: Arc<[u32]>,
    met: Vec<Met>,
    /// By number: whether the instance has its program, and whether it had when it was saved.
    has_program: Vec<bool>,
    had: Vec<bool>,
    recent: Recent,
    structured: u64,
    /// Which mode the values of the live switches select; `None` if they leave the equations singular whatever the states: then the common system has to do.
    by_values: FxHashMap<Vec<bool>, Option<u32>>,
    /// Ways into modes.
    jumps: Vec<Option<(JumpKey, JumpInfo)>>,
    recent_jumps: Recent,
    by_violated: FxHashMap<JumpKey, JumpId>,
}

impl ModeStore {
    pub(crate) fn new(program: &Program) -> Option<ModeStore> {
        let switching = program.switching.as_ref()?;
        let shared = switching.known.get_or_init(|| SharedModes::new(program));
        Some(ModeStore::with(switching, shared.clone()))
    }

    fn with(switching: &Switching, shared: SharedModes) -> ModeStore {
        ModeStore {
            shared,
            live: switching.modes.live().into(),
            met: Vec::new(),
            has_program: Vec::new(),
            had: Vec::new(),
            recent: Recent::default(),
            structured: 0,
            by_values: FxHashMap::default(),
            jumps: Vec::new(),
            recent_jumps: Recent::default(),
            by_violated: FxHashMap::default(),
        }
    }

    /// The modes that live switches select now, with the names of their slots from `info`.
    pub(crate) fn summaries(&self, switching: &Switching, info: &ModelInfo) -> Vec<ModeSummary> {
        let summary = |(mode, key): (u32, &Vec<bool>)| {
            let met = &self.met[mode as usize];
            let live = self.live.iter().zip(key);
            ModeSummary {
                number: mode + 1,
                switches: live
                    .map(|(&i, &v)| switching.modes.text(i as usize, v))
                    .collect(),
                states: (met.states.iter())
                    .map(|slot| info.slots[slot.index()].name.clone())
                    .collect(),
                index: met.index,
                blocks: met.blocks.clone(),
            }
        };
        self.sorted().into_iter().map(summary).collect()
    }

    /// Modes with the values of the live switches that select them, by number.
    fn sorted(&self) -> Vec<(u32, &Vec<bool>)> {
        let mut keys: Vec<(u32, &Vec<bool>)> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "sorted below")]
        for (key, mode) in &self.by_values {
            keys.extend(mode.map(|mode| (mode, key)));
        }
        keys.sort();
        keys
    }

    pub(crate) fn live(&self) -> &[u32] {
        &self.live
    }

    /// Programs that this run has asked for, also those asked for again.
    pub(crate) fn n_structured(&self) -> u64 {
        self.structured
    }

    pub(crate) fn jump_info(&self, jump: JumpId) -> &JumpInfo {
        match &self.jumps[jump.0 as usize] {
            Some((_, info)) => info,
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
    ) -> Result<(JumpId, Changes), Fault> {
        let met = &self.met[mode as usize];
        let key = JumpKey {
            mode: met.key.clone(),
            violated: violated.to_vec(),
            impacts: impacts.to_vec(),
        };
        if let Some(&jump) = self.by_violated.get(&key) {
            self.recent_jumps.used(jump.0);
            return Ok((jump, Changes::NONE));
        }
        let (program, info) = self.shared.jump(switching, &key, &met.switches)?;
        let id = JumpId(self.jumps.len() as u32);
        self.jumps.push(Some((key.clone(), info)));
        self.by_violated.insert(key, id);
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
    ) -> Result<(Option<u32>, Changes), Fault> {
        // Each round makes a mode or finds at least one more live switch.
        for _ in 0..=values.len() {
            let live = self.live.iter().map(|&i| values[i as usize]);
            let chosen: Vec<bool> = live.collect();
            let known = match self.by_values.get(&chosen) {
                Some(None) => return Ok((None, Changes::NONE)),
                Some(Some(mode)) if self.has_program[*mode as usize] => {
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
            let key = ModeKey {
                live: self.live.to_vec(),
                chosen: chosen.clone(),
            };
            let program = match self.shared.mode(switching, &key, values)? {
                Made::Program(program) => program,
                Made::MoreLive(more) => {
                    let mut live = self.live.to_vec();
                    live.extend(more);
                    live.sort_unstable();
                    self.live = live.into();
                    self.by_values.clear();
                    continue;
                }
                Made::Singular => {
                    self.by_values.insert(chosen, None);
                    return Ok((None, Changes::NONE));
                }
            };
            let mode = known.unwrap_or(self.met.len() as u32);
            let had = self.had.get(mode as usize).is_some_and(|&had| had);
            self.structured += u64::from(!had);
            if known.is_none() {
                self.met.push(met(key, values, &program));
                self.has_program.push(false);
                self.had.push(false);
                self.by_values.insert(chosen, Some(mode));
            }
            let gone = self.keep(mode, &program);
            let new = Some((mode, program));
            return Ok((Some(mode), Changes { new, gone }));
        }
        unreachable!("there are no more switches than values")
    }

    /// One more program is kept; those that have to go.
    fn keep(&mut self, mode: u32, program: &Program) -> Vec<u32> {
        let gone = self.recent.add(mode, program.layout.n_slots);
        for &mode in &gone {
            self.has_program[mode as usize] = false;
            self.had[mode as usize] = false;
        }
        self.has_program[mode as usize] = true;
        gone
    }

    pub(crate) fn n_met(&self) -> usize {
        self.met.len()
    }

    pub(crate) fn n_jumps(&self) -> usize {
        self.jumps.len()
    }

    pub(crate) fn save(&self) -> SavedModes {
        let mut by_values: Vec<(Vec<bool>, Option<u32>)> = (self.by_values.iter())
            .map(|(k, v)| (k.clone(), *v))
            .collect();
        by_values.sort();
        SavedModes {
            live: self.live.to_vec(),
            met: self.met.clone(),
            by_values,
            had: (self.had.iter().zip(&self.has_program))
                .map(|(had, has)| *had || *has)
                .collect(),
            structured: self.structured,
            n_jumps: self.jumps.len(),
        }
    }

    /// As it was when it was saved; the slots of the run are `info`'s. No program is there yet: they are asked for when they are needed.
    pub(crate) fn restore(&mut self, program: &Program, saved: SavedModes, info: &ModelInfo) {
        if !self.shared.agrees(info) {
            self.shared = SharedModes::with_slots(program, info);
        }
        self.live = saved.live.into();
        self.has_program = vec![false; saved.met.len()];
        self.had = saved.had;
        self.had.resize(saved.met.len(), false);
        self.met = saved.met;
        self.recent = Recent::default();
        self.structured = saved.structured;
        self.by_values = saved.by_values.into_iter().collect();
        self.recent_jumps = Recent::default();
        // A jump ends within its event: no number of one is in use between two.
        self.jumps = vec![None; saved.n_jumps];
        self.by_violated = FxHashMap::default();
    }

    /// The program of a mode that the run has met, after a restart from what was saved.
    pub(crate) fn program(
        &mut self,
        switching: &Switching,
        mode: u32,
    ) -> Result<Arc<Program>, Fault> {
        let met = &self.met[mode as usize];
        let made = self.shared.mode(switching, &met.key, &met.switches)?;
        let Made::Program(program) = made else {
            unreachable!("the mode has been structured before")
        };
        // It is the first one: nothing has to go for it.
        self.keep(mode, &program);
        Ok(program)
    }
}

fn met(key: ModeKey, switches: &[bool], program: &Program) -> Met {
    let schedule = program.schedule(ScheduleKind::Derivatives).iter();
    Met {
        key,
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
