//! What an instance remembers, written down and taken up again.
//!
//! External objects are not written: an instance that takes a state up makes them anew, by binding its parameters as they were bound, unless it has bound them
//! that way itself. Objects of C code, and those made during a run, have a past that nobody can see: such a run cannot be saved.

use super::{CompiledInstance, kept};
use crate::modes::SavedModes;
use crate::sets::Choice;
use crate::work::Memory;
use saltus_ir::external::ObjectState;
use saltus_model::{Instance as _, SiteInfo, Slot, SlotInfo};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
struct Saved {
    bound: Bound,
    /// `min`, `max` and nominal value of the slots of the common system, after binding.
    attributes: Vec<(f64, f64, f64)>,
    /// Slots and places that modes have added.
    slots: Vec<SlotInfo>,
    sites: Vec<SiteInfo>,
    modes: Option<SavedModes>,
    mode: Option<u32>,
    selected: Vec<bool>,
    held: Vec<u32>,
    fired: Vec<i64>,
    left: Vec<f64>,
    emerged: Option<u8>,
    choices: Vec<Choice>,
    texts: Vec<Arc<str>>,
    delays: Vec<Memory>,
    objects: ObjectState,
}

/// What an instance was bound with.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Bound {
    pub(super) time_start: f64,
    pub(super) overrides: Vec<(Slot, f64)>,
    /// External objects that there were then.
    pub(super) n_objects: usize,
}

impl CompiledInstance {
    pub(super) fn save_all(&self) -> Result<Vec<u8>, String> {
        let program = &self.system.program;
        let (n_slots, n_sites) = (program.info.slots.len(), program.info.sites.len());
        let work = self.system.work.borrow();
        let saved = Saved {
            bound: self.bound.clone(),
            attributes: (self.info.slots[..n_slots].iter())
                .map(|slot| (slot.min, slot.max, slot.nominal))
                .collect(),
            slots: self.info.slots[n_slots..].to_vec(),
            sites: self.info.sites[n_sites..].to_vec(),
            modes: self.store.as_ref().map(|store| store.save()),
            mode: self.mode,
            selected: self.selected.clone(),
            held: self.held.clone(),
            fired: self.fired.clone(),
            left: self.left.clone(),
            emerged: self.emerged,
            choices: self.choices.clone(),
            texts: work.texts.items().to_vec(),
            delays: work.delays.clone(),
            objects: work.objects.save(self.bound.n_objects)?,
        };
        postcard::to_stdvec(&saved).map_err(|error| error.to_string())
    }

    pub(super) fn restore_all(&mut self, bytes: &[u8]) -> Result<(), String> {
        let wrong = "the state is not one of this model";
        let saved: Saved = postcard::from_bytes(bytes).map_err(|_| wrong.to_owned())?;
        let program = self.system.program.clone();
        let fits = saved.attributes.len() == program.info.slots.len()
            && saved.delays.len() == program.delays.len()
            && saved.modes.is_some() == self.store.is_some();
        if !fits {
            return Err(wrong.to_owned());
        }
        let work = || self.system.work.borrow_mut();
        if self.bound != saved.bound || work().objects.len() != saved.bound.n_objects {
            let bound = self.bind(saved.bound.time_start, &saved.bound.overrides);
            bound.map_err(|fault| format!("the parameters cannot be evaluated: {fault:?}"))?;
            if self.bound.n_objects != saved.bound.n_objects {
                return Err("the model makes other external objects than before".to_owned());
            }
        }
        {
            let mut work = self.system.work.borrow_mut();
            work.texts.set_items(saved.texts);
            work.delays = saved.delays;
            work.objects.restore(saved.objects);
        }
        self.restore_info(&saved.attributes, saved.slots, saved.sites);
        self.modes.clear();
        self.jumps.clear();
        self.mode = saved.mode;
        self.selected = saved.selected;
        self.held = saved.held;
        self.held.retain(|&i| (i as usize) < self.selected.len());
        if let (Some(store), Some(modes)) = (&mut self.store, saved.modes) {
            store.restore(&program, modes, &self.info);
            self.modes.resize_with(store.n_met(), || None);
            self.jumps.resize_with(store.n_jumps(), || None);
        }
        self.activate()?;
        self.fired = saved.fired;
        self.left = saved.left;
        self.emerged = saved.emerged;
        self.choices = saved.choices;
        Ok(())
    }

    fn restore_info(
        &mut self,
        attributes: &[(f64, f64, f64)],
        slots: Vec<SlotInfo>,
        sites: Vec<SiteInfo>,
    ) {
        let program = self.system.program.clone();
        let info = Arc::make_mut(&mut self.info);
        info.slots.truncate(attributes.len());
        for (slot, &(min, max, nominal)) in info.slots.iter_mut().zip(attributes) {
            (slot.min, slot.max, slot.nominal) = (min, max, nominal);
        }
        info.slots.extend(slots);
        info.sites.clone_from(&program.info.sites);
        info.sites.extend(sites);
    }

    /// The code of the mode in use.
    fn activate(&mut self) -> Result<(), String> {
        let program = self.system.program.clone();
        self.active = match (self.mode, &mut self.store, &program.switching) {
            (Some(mode), Some(store), Some(switching)) => {
                let made = store.program(switching, mode);
                let made =
                    made.map_err(|fault| format!("a mode cannot be structured: {fault:?}"))?;
                self.modes[mode as usize] = Some(self.system.beside(made));
                kept(&self.modes, mode).again()
            }
            _ => self.system.again(),
        };
        Ok(())
    }
}
