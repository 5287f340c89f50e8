//! The modes of a run: made when they are first met, then kept.
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

/// A run that needs more structures than this has a model that does not settle on any.
const MODES_MAX: usize = 4096;

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

/// The modes of one run.
pub(crate) struct ModeStore {
    modes: Modes,
    programs: Vec<Arc<Program>>,
    /// Which mode the values of the live switches select; `None` if they leave the equations singular whatever the states: then the common system has to do.
    by_values: FxHashMap<Vec<bool>, Option<u32>>,
    /// Ways into modes, by mode, violated constraints and impacts.
    jumps: Vec<(Arc<Program>, JumpInfo)>,
    by_violated: FxHashMap<(u32, Vec<usize>, Vec<usize>), JumpId>,
}

impl ModeStore {
    pub(crate) fn new(switching: &Switching) -> ModeStore {
        ModeStore {
            modes: switching.modes.clone(),
            programs: Vec::new(),
            by_values: FxHashMap::default(),
            jumps: Vec::new(),
            by_violated: FxHashMap::default(),
        }
    }

    pub(crate) fn summaries(&self) -> Vec<ModeSummary> {
        let mut keys: Vec<(u32, &Vec<bool>)> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "sorted below")]
        for (key, mode) in &self.by_values {
            keys.extend(mode.map(|mode| (mode, key)));
        }
        keys.sort();
        let summary = |(mode, key): (u32, &Vec<bool>)| {
            let program = &self.programs[mode as usize];
            let live = self.modes.live().iter().zip(key);
            let name = |slot: Slot| program.info.slots[slot.index()].name.clone();
            let restart = program.restart.as_ref();
            let restart = restart.and_then(|code| code.system.restart.as_ref());
            ModeSummary {
                number: mode + 1,
                switches: live
                    .map(|(&i, &v)| self.modes.text(i as usize, v))
                    .collect(),
                states: program.states.iter().map(|s| name(s.value)).collect(),
                index: restart.map_or(1, |r| r.index()),
                blocks: (program.schedule(ScheduleKind::Derivatives).iter())
                    .filter_map(|section| match section {
                        Section::Explicit(_) => None,
                        Section::Linear(b) | Section::Nonlinear(b) | Section::Mixed(b) => {
                            Some(program.blocks[b.0 as usize].info.determines.len())
                        }
                    })
                    .collect(),
            }
        };
        keys.into_iter().map(summary).collect()
    }

    pub(crate) fn live(&self) -> &[u32] {
        self.modes.live()
    }

    pub(crate) fn n_modes(&self) -> usize {
        self.programs.len()
    }

    /// Slots that the modes met so far need together.
    pub(crate) fn n_slots(&self) -> usize {
        let programs = self.programs.iter().chain(self.jumps.iter().map(|j| &j.0));
        programs.map(|p| p.layout.n_slots).max().unwrap_or(0)
    }

    pub(crate) fn jump_info(&self, jump: JumpId) -> &JumpInfo {
        &self.jumps[jump.0 as usize].1
    }

    /// The jump into a mode whose constraints with these indices do not hold, with these impacts, and its program if it is new.
    pub(crate) fn jump(
        &mut self,
        switching: &Switching,
        mode: u32,
        violated: &[usize],
        impacts: &[usize],
        info: &ModelInfo,
    ) -> Result<(JumpId, Option<Arc<Program>>), Fault> {
        let key = (mode, violated.to_vec(), impacts.to_vec());
        if let Some(&jump) = self.by_violated.get(&key) {
            return Ok((jump, None));
        }
        let Some(restart) = &self.programs[mode as usize].restart else {
            unreachable!("every mode has a restart");
        };
        let jump = self.modes.jump(&restart.system, violated, impacts);
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
        self.jumps.push((program.clone(), jump_info));
        self.by_violated.insert(key, id);
        Ok((id, Some(program)))
    }

    /// Index of the mode, and its program if it is new.
    pub(crate) fn select(
        &mut self,
        switching: &Switching,
        values: &[bool],
        info: &ModelInfo,
    ) -> Result<(Option<u32>, Option<Arc<Program>>), Fault> {
        // Each round makes a mode or finds at least one more live switch.
        for _ in 0..=values.len() {
            let live = self.modes.live().iter().map(|&i| values[i as usize]);
            let key: Vec<bool> = live.collect();
            if let Some(&mode) = self.by_values.get(&key) {
                return Ok((mode, None));
            }
            if self.programs.len() == MODES_MAX {
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
                    return Ok((None, None));
                }
            };
            let sites = Sites::extending(&switching.sources, &info.sites);
            let program = Arc::new(program::build(*system, sites).map_err(structural)?);
            self.programs.push(program.clone());
            let mode = Some(self.programs.len() as u32 - 1);
            self.by_values.insert(key, mode);
            return Ok((mode, Some(program)));
        }
        unreachable!("there are no more switches than values")
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
