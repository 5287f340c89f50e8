//! The modes of a model, shared by its runs on all threads.
//!
//! What a mode or a jump is made of does not depend on who asks first; only the numbers of the slots that it adds do, which no result shows.

use super::{Recent, fault, structural};
use crate::layout::{Sites, SlotTable, Slots};
use crate::program::{self, Program, Switching};
use rustc_hash::FxHashMap;
use saltus_control::Stop;
use saltus_model::{Fault, JumpInfo, ModelInfo};
use saltus_structure::{Specialised, StructuredSystem};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a mode depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct ModeKey {
    /// Live switches, and the value of each.
    pub(crate) live: Vec<u32>,
    pub(crate) chosen: Vec<bool>,
}

/// What a way into a mode depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct JumpKey {
    pub(crate) mode: ModeKey,
    /// Constraints that do not hold, and impacts, by index.
    pub(crate) violated: Vec<usize>,
    pub(crate) impacts: Vec<usize>,
}

/// What the values of the switches give.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    Program(Arc<Program>),
    /// These switches make a difference too.
    MoreLive(Vec<u32>),
    Singular,
}

#[derive(Debug)]
struct Known {
    table: SlotTable,
    modes: FxHashMap<ModeKey, Made>,
    jumps: FxHashMap<JumpKey, (Arc<Program>, JumpInfo)>,
    /// Programs by number, of modes and of jumps.
    keys: Vec<Key>,
    recent: Recent,
    structured: u64,
}

#[derive(Clone, Debug)]
enum Key {
    Mode(ModeKey),
    Jump(JumpKey),
}

/// Behind a lock that is held while a mode is made: others most often wait for the same one.
#[derive(Clone, Debug)]
pub(crate) struct SharedModes(Arc<Mutex<Known>>);

impl SharedModes {
    /// For the runs of a model.
    pub(crate) fn new(program: &Program) -> SharedModes {
        SharedModes::of(SlotTable::new(
            program.layout.clone(),
            program.info.sites.clone(),
        ))
    }

    /// For a run that comes from elsewhere, with the slots and places that it has there.
    pub(crate) fn with_slots(program: &Program, info: &ModelInfo) -> SharedModes {
        let n_common = program.layout.n_slots;
        let table = SlotTable::new(program.layout.clone(), info.sites.clone());
        SharedModes::of(table.with_added(info.slots[n_common..].to_vec()))
    }

    fn of(table: SlotTable) -> SharedModes {
        SharedModes(Arc::new(Mutex::new(Known {
            table,
            modes: FxHashMap::default(),
            jumps: FxHashMap::default(),
            keys: Vec::new(),
            recent: Recent::default(),
            structured: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Slots and places have the numbers that a run knows them by.
    pub(crate) fn agrees(&self, info: &ModelInfo) -> bool {
        let known = self.lock();
        let n_common = known.table.n_common();
        let added = &info.slots[n_common.min(info.slots.len())..];
        let same_slots = added.len() <= known.table.added.len()
            && (added.iter().zip(&known.table.added)).all(|(a, b)| a.name == b.name);
        let n_sites = info.sites.len();
        same_slots
            && n_sites <= known.table.sites.len()
            && info.sites[..] == known.table.sites[..n_sites]
    }

    /// How many modes and jumps have been structured.
    pub(crate) fn n_structured(&self) -> u64 {
        self.lock().structured
    }

    /// The mode of a choice; `switches` are the values of all switches, of which the live ones are those of the key.
    pub(crate) fn mode(
        &self,
        switching: &Switching,
        key: &ModeKey,
        switches: &[bool],
    ) -> Result<Made, Fault> {
        let mut known = self.lock();
        if let Some(made) = known.modes.get(key) {
            return Ok(made.clone());
        }
        let made = under_control(|| {
            let specialised = switching.modes.specialise(&key.live, switches);
            Ok(match specialised.map_err(structural)? {
                Specialised::System(system) => Made::Program(known.compile(switching, *system)?),
                Specialised::MoreLive(more) => Made::MoreLive(more),
                Specialised::Singular => Made::Singular,
            })
        })?;
        known.modes.insert(key.clone(), made.clone());
        if let Made::Program(program) = &made {
            known.keep(Key::Mode(key.clone()), program.layout.n_slots);
        }
        Ok(made)
    }

    pub(crate) fn jump(
        &self,
        switching: &Switching,
        key: &JumpKey,
        switches: &[bool],
    ) -> Result<(Arc<Program>, JumpInfo), Fault> {
        let mut known = self.lock();
        if let Some(made) = known.jumps.get(key) {
            return Ok(made.clone());
        }
        let made = under_control(|| {
            let specialised = switching.modes.specialise(&key.mode.live, switches);
            let Specialised::System(system) = specialised.map_err(structural)? else {
                unreachable!("the mode has been structured before")
            };
            let jump = (switching.modes).jump(*system, &key.violated, &key.impacts);
            let jump = jump.map_err(|error| structural(vec![*error]))?;
            let program = known.compile(switching, jump.system)?;
            let slot = |v| program.layout.slot(v);
            let info = JumpInfo {
                moved: jump.moved.into_iter().map(slot).collect(),
                impulses: (jump.impulses.into_iter())
                    .map(|(v, w)| (slot(v), slot(w)))
                    .collect(),
            };
            Ok((program, info))
        })?;
        known.jumps.insert(key.clone(), made.clone());
        known.keep(Key::Jump(key.clone()), made.0.layout.n_slots);
        Ok(made)
    }
}

/// Structuring may be long: whoever has asked for the run may end it meanwhile.
fn under_control<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    let done = saltus_control::within(&saltus_control::current(), work);
    done.unwrap_or_else(|stop| {
        let (code, message) = match stop {
            Stop::Cancelled => ("cancelled", "the run was interrupted".to_owned()),
            Stop::Deadline { seconds } => {
                let text = format!("the run took more than the {seconds} s that it was given");
                ("wall-clock", text)
            }
        };
        Err(fault(code, message, Vec::new()))
    })
}

impl Known {
    fn compile(
        &mut self,
        switching: &Switching,
        system: StructuredSystem,
    ) -> Result<Arc<Program>, Fault> {
        // What was ended from outside may have left numbers behind.
        self.table.forget();
        let sites = Sites::extending(&switching.sources, &self.table.sites);
        let program = program::build(system, sites, Slots::Of(&mut self.table));
        let program = match program {
            Ok(program) => program,
            Err(errors) => {
                self.table.forget();
                return Err(structural(errors));
            }
        };
        self.table.note(&program.info);
        self.structured += 1;
        Ok(Arc::new(program))
    }

    /// One more program is kept; those that were not asked for lately go. Runs that use them keep them.
    fn keep(&mut self, key: Key, n_slots: usize) {
        let number = self.keys.len() as u32;
        self.keys.push(key);
        for gone in self.recent.add(number, n_slots) {
            match &self.keys[gone as usize] {
                Key::Mode(key) => drop(self.modes.remove(key)),
                Key::Jump(key) => drop(self.jumps.remove(key)),
            }
        }
    }
}
