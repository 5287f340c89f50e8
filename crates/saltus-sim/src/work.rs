//! The work space of a run, made for one mode and used again: by every event of the run, and by the next run of the same instance.

use crate::contact::Contacts;
use crate::event_step::EventStep;
use crate::options::Options;
use crate::point::{AffineRows, Mode, PARKED_MAX, continuous_slots};
use crate::record::Cause;
use crate::restart::Settling;
use crate::watch::Watch;
use saltus_model::{Instance, ScheduleKind, Section, Slot, System, Values};
use saltus_solve::roots::Change;
use saltus_solve::scale::{REST_BAND_REL, nominal_magnitude};
use saltus_solve::{EventSearch, Integrator, Isolation, LocationMethod, SolverName, Tolerances};
use std::collections::HashMap;

/// What one run leaves for the next.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) mode: Mode,
    pub(crate) values: Values,
    pub(crate) work: Work,
}

impl Room {
    /// As new, if a run with these options can use it. Factors of blocks belong to the run before.
    pub(crate) fn reset(mut self, options: &Options) -> Option<Room> {
        if self.work.made_for.choice != Choice::of(options) || self.mode.driver.has_blocks() {
            return None;
        }
        self.mode.driver.reset();
        self.work.reset(options);
        Some(self)
    }
}

/// What the user has chosen of the methods.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Choice {
    solver: SolverName,
    event_method: LocationMethod,
    event_search: EventSearch,
    tolerance: f64,
}

impl Choice {
    fn of(options: &Options) -> Choice {
        Choice {
            solver: options.solver,
            event_method: options.event_method,
            event_search: options.event_search,
            tolerance: options.tolerance,
        }
    }
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct MadeFor {
    mode: u32,
    choice: Choice,
}

/// The parts of a mode that was left, for when it is entered again.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Parked {
    mode: u32,
    integrator: Integrator,
    isolation: Isolation,
    mixed: Vec<MixedGroup>,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Work {
    made_for: MadeFor,
    parked: Vec<Parked>,
    /// Left limits of the present event.
    pub(crate) before: Vec<f64>,
    /// What the present event did.
    pub(crate) step: EventStep,
    /// The relations that made it happen, and the sign that the function of each takes by it.
    pub(crate) causes: Vec<Change>,
    pub(crate) far_sides: Vec<(usize, f64)>,
    /// The same for the log, in terms of the mode before; empty if nobody reads it.
    pub(crate) causes_logged: Vec<Cause>,
    pub(crate) settling: Settling,
    pub(crate) integrator: Integrator,
    pub(crate) isolation: Isolation,
    pub(crate) mixed: Vec<MixedGroup>,
    pub(crate) rows: AffineRows,
    /// What each relation holds between events.
    pub(crate) truth: Vec<bool>,
    pub(crate) watch: Watch,
    pub(crate) contacts: Contacts,
    pub(crate) x: Vec<f64>,
    pub(crate) dx: Vec<f64>,
    pub(crate) r: Vec<f64>,
    /// How far the resolution of time moves functions that are zero after an event, and what that is found with.
    pub(crate) round_off: Vec<(usize, f64)>,
    pub(crate) r_moved: Vec<f64>,
    pub(crate) kept: Vec<f64>,
    /// Slots that must be finite at accepted points.
    pub(crate) finite: Vec<usize>,
    /// The round-off of each function that was zero when the last event ended; zero for all others.
    pub(crate) at_zero: Vec<f64>,
}

impl Work {
    pub(crate) fn new<I: Instance>(
        instance: &I,
        options: &Options,
        tolerances: Tolerances,
        mode: &Mode,
        values: &Values,
    ) -> Work {
        let system = instance.system(values);
        let n_crossings = system.crossings().len();
        Work {
            made_for: MadeFor {
                mode: mode.number,
                choice: Choice::of(options),
            },
            parked: Vec::new(),
            before: values.v.clone(),
            step: EventStep::default(),
            causes: Vec::new(),
            far_sides: Vec::new(),
            causes_logged: Vec::new(),
            settling: Settling::default(),
            integrator: new_integrator(instance, options, tolerances, values),
            isolation: new_isolation(system, options),
            mixed: mixed_groups(system),
            rows: AffineRows::default(),
            truth: vec![false; n_crossings],
            watch: Watch::new(options.span(), n_crossings),
            contacts: Contacts::default(),
            x: vec![0.0; system.states().len()],
            dx: vec![0.0; system.states().len()],
            r: vec![0.0; n_crossings],
            round_off: Vec::new(),
            r_moved: Vec::new(),
            kept: Vec::new(),
            finite: continuous_slots(instance.info()),
            at_zero: vec![0.0; n_crossings],
        }
    }

    pub(crate) fn serves(&self, mode: u32) -> bool {
        self.made_for.mode == mode
    }

    /// Another mode is entered: what depends on states and crossing functions is made anew. `park`: what served the mode that is left is kept.
    pub(crate) fn enter<I: Instance>(
        &mut self,
        park: bool,
        instance: &I,
        options: &Options,
        tolerances: Tolerances,
        mode: &Mode,
        values: &Values,
    ) {
        let system = instance.system(values);
        let n_crossings = system.crossings().len();
        let left = std::mem::replace(&mut self.made_for.mode, mode.number);
        let known = self
            .parked
            .iter()
            .position(|parked| parked.mode == mode.number);
        let mut next = match known {
            Some(k) => self.parked.remove(k),
            None => Parked {
                mode: mode.number,
                integrator: new_integrator(instance, options, tolerances, values),
                isolation: new_isolation(system, options),
                mixed: mixed_groups(system),
            },
        };
        next.integrator.reset();
        next.isolation.reset();
        let parked = Parked {
            mode: left,
            integrator: std::mem::replace(&mut self.integrator, next.integrator),
            isolation: std::mem::replace(&mut self.isolation, next.isolation),
            mixed: std::mem::replace(&mut self.mixed, next.mixed),
        };
        if park {
            self.parked.push(parked);
        }
        if self.parked.len() > PARKED_MAX {
            self.parked.remove(0);
        }
        self.rows.forget();
        self.truth.clear();
        self.truth.resize(n_crossings, false);
        self.watch.reset_crossings(n_crossings);
        for (list, n) in [
            (&mut self.x, system.states().len()),
            (&mut self.dx, system.states().len()),
            (&mut self.r, n_crossings),
            (&mut self.at_zero, n_crossings),
        ] {
            list.clear();
            list.resize(n, 0.0);
        }
    }

    /// Another integrator for the same states.
    pub(crate) fn renew_integrator<I: Instance>(
        &mut self,
        instance: &I,
        options: &Options,
        tolerances: Tolerances,
        values: &Values,
    ) {
        self.integrator = new_integrator(instance, options, tolerances, values);
    }

    /// As new, for another run. Everything else is written before it is read.
    fn reset(&mut self, options: &Options) {
        self.step.clear();
        self.causes.clear();
        self.far_sides.clear();
        self.causes_logged.clear();
        self.integrator.reset();
        self.isolation.reset();
        self.rows.forget();
        self.watch.reset(options.span());
        self.contacts.all.clear();
        self.at_zero.fill(0.0);
    }
}

/// The crossing functions whose relations one mixed block determines.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct MixedGroup {
    pub(crate) crossings: Vec<usize>,
    /// What the block determines.
    quantities: Vec<Slot>,
}

impl MixedGroup {
    /// The largest quantity of the block.
    pub(crate) fn size(&self, values: &Values) -> f64 {
        let sizes = self.quantities.iter().map(|&slot| values.get(slot).abs());
        sizes.fold(0.0, f64::max)
    }
}

fn mixed_groups<S: System>(system: &S) -> Vec<MixedGroup> {
    let mut crossings_of: HashMap<Slot, Vec<usize>> = HashMap::new();
    for (i, crossing) in system.crossings().iter().enumerate() {
        crossings_of.entry(crossing.relation).or_default().push(i);
    }
    let sections = system.schedule(ScheduleKind::Event).iter();
    let blocks = sections.filter_map(|section| match section {
        Section::Mixed(block) => Some(system.block(*block)),
        Section::Explicit(_) | Section::Linear(_) | Section::Nonlinear(_) => None,
    });
    blocks
        .map(|block| {
            let of_block = block.discrete.iter();
            let mut crossings: Vec<usize> = of_block
                .filter_map(|slot| crossings_of.get(slot))
                .flatten()
                .copied()
                .collect();
            crossings.sort_unstable();
            MixedGroup {
                crossings,
                quantities: block.determines.clone(),
            }
        })
        .filter(|group| !group.crossings.is_empty())
        .collect()
}

/// Work space for the crossing functions of a mode, with the magnitudes below which they rest after an event.
fn new_isolation<S: System>(system: &S, options: &Options) -> Isolation {
    let mut isolation = Isolation::new(system.crossings().len())
        .with_method(options.event_method)
        .with_search(options.event_search);
    for (band, crossing) in isolation.band.iter_mut().zip(system.crossings()) {
        *band = REST_BAND_REL * nominal_magnitude(crossing.nominal);
    }
    isolation
}

fn new_integrator<I: Instance>(
    instance: &I,
    options: &Options,
    tolerances: Tolerances,
    values: &Values,
) -> Integrator {
    let info = instance.info();
    let states = instance.system(values).states();
    let nominal: Vec<f64> = states
        .iter()
        .map(|state| info.slots[state.value.index()].nominal)
        .collect();
    Integrator::new(options.solver, tolerances, &nominal)
}
