//! The modes of a run: made when they are first met, then kept.
//!
//! Comes in: the values of the model's switches. Goes out: the code of the mode that they select. All modes share slots: a further mode may
//! add slots, and never moves one.

use crate::layout::Sites;
use crate::program::{self, Program, Switching};
use rustc_hash::FxHashMap;
use saltus_model::{Fault, FaultKind, JumpId, JumpInfo, ModelInfo, Site};
use saltus_structure::{Modes, Specialised};
use saltus_syntax::Diagnostic;
use std::sync::Arc;

/// A run that needs more structures than this has a model that does not settle on any.
const MODES_MAX: usize = 4096;

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
