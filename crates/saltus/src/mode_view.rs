//! The modes of a model, as a run meets them: for `saltus show --stage mode`.

use crate::error::Error;
use crate::structure_view::json;
use crate::workspace::Workspace;
use saltus_model::{Instance, Model, Values};
use saltus_sim::{Environment, EventRecord, Options, Recorder, RowKind};
use serde::Serialize;
use std::fmt::Write as _;

/// The modes that a run with the settings of the model's annotation meets.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ModesView {
    pub model: String,
    pub time_reached: f64,
    /// Structures made, those among them that were only tried included.
    pub structured: u64,
    /// Those entered.
    pub modes: Vec<ModeView>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ModeView {
    /// As in the event log.
    pub number: u32,
    /// What selects it.
    pub switches: Vec<String>,
    pub states: Vec<String>,
    pub index: u32,
    /// Unknowns of each system of equations.
    pub blocks: Vec<usize>,
    pub entered: u64,
}

/// Counts how often each mode is entered.
#[derive(Default)]
struct Entries {
    last: Option<u32>,
    counts: Vec<u64>,
}

impl Recorder for Entries {
    fn row(&mut self, _values: &Values, _kind: RowKind) {}

    fn event(&mut self, event: &EventRecord) {
        if self.last.replace(event.mode) != Some(event.mode) {
            let mode = event.mode as usize;
            self.counts.resize(self.counts.len().max(mode + 1), 0);
            self.counts[mode] += 1;
        }
    }
}

impl Workspace {
    /// Runs a class and tells its modes.
    pub fn modes_view(&self, class: &str) -> Result<ModesView, Error> {
        let compiled = self.compile(class)?;
        let model = compiled.model();
        let mut instance = model.instantiate();
        let options = Options::from(model.info().experiment);
        let mut entries = Entries::default();
        let environment = Environment::default();
        let result = saltus_sim::simulate(&mut instance, &options, &environment, &mut entries);
        let summary = match result {
            Ok(summary) => summary,
            Err(failure) => failure.summary,
        };
        let entered = |number: u32| entries.counts.get(number as usize).copied().unwrap_or(0);
        let modes = (instance.modes().into_iter())
            .map(|mode| ModeView {
                entered: entered(mode.number),
                number: mode.number,
                switches: mode.switches,
                states: mode.states,
                index: mode.index,
                blocks: mode.blocks,
            })
            .filter(|mode| mode.entered > 0)
            .collect();
        Ok(ModesView {
            model: class.to_owned(),
            time_reached: summary.time_reached,
            structured: instance.modes_structured(),
            modes,
        })
    }
}

impl ModesView {
    pub fn print(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "modes of {}, run to {} s: {} entered, {} structured",
            self.model,
            self.time_reached,
            self.modes.len().max(1),
            self.structured
        );
        if self.modes.is_empty() {
            out.push_str("one structure serves all branches (see --stage structure)\n");
        }
        for mode in &self.modes {
            let times = match mode.entered {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            let _ = writeln!(
                out,
                "\nmode {}, entered {times}, index {}",
                mode.number, mode.index
            );
            for switch in &mode.switches {
                let _ = writeln!(out, "  {switch}");
            }
            let states = match mode.states.is_empty() {
                true => "none".to_owned(),
                false => mode.states.join(", "),
            };
            let _ = writeln!(out, "  states: {states}");
            if !mode.blocks.is_empty() {
                let sizes: Vec<String> = mode.blocks.iter().map(|n| n.to_string()).collect();
                let _ = writeln!(
                    out,
                    "  systems of equations with unknowns: {}",
                    sizes.join(", ")
                );
            }
        }
        out
    }

    pub fn to_json(&self) -> String {
        json(self)
    }
}
