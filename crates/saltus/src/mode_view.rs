//! The modes of a model, as a run meets them: for `saltus show --stage mode`.

use crate::collector::Subject;
use crate::error::{Diagnostics, Error};
use crate::explain_failure::failure_diagnostic;
use crate::session::Session;
use crate::structure_view::json;
use rustc_hash::FxHashMap;
use saltus_model::{Instance, Model, Values};
use saltus_plot::{ModeGraph, ModeNode, ModeTransition};
use saltus_sim::{Control, EventRecord, Options, Recorder, RowKind};
use serde::Serialize;
use std::fmt::Write as _;

/// States that the picture names.
const NAMED_MAX: usize = 4;

/// The modes that a run with the settings of the model's annotation meets.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ModesView {
    pub model: String,
    pub time_reached: f64,
    /// Structures made, those among them that were only tried included.
    pub structured: u64,
    /// Those entered.
    pub modes: Vec<ModeView>,
    /// From one to another, in the order in which they were first taken.
    pub transitions: Vec<TransitionView>,
}

/// A change of mode, by the numbers of the modes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TransitionView {
    pub from: u32,
    pub to: u32,
    pub count: u64,
    /// What made the first one happen, in model terms.
    pub cause: String,
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
    /// Of the time of the run.
    pub share: f64,
}

/// Counts how often each mode is entered, from which one, and how long it lasts.
#[derive(Default)]
struct Entries {
    /// Mode, and since when.
    last: Option<(u32, f64)>,
    counts: FxHashMap<u32, u64>,
    seconds: FxHashMap<u32, f64>,
    transitions: Vec<TransitionView>,
}

impl Entries {
    fn leave(&mut self, time: f64) {
        if let Some((mode, since)) = self.last {
            *self.seconds.entry(mode).or_default() += time - since;
        }
    }
}

impl Recorder for Entries {
    fn row(&mut self, _values: &Values, _kind: RowKind) {}

    fn event(&mut self, event: &EventRecord) {
        let from = self.last.map(|last| last.0);
        if from == Some(event.mode) {
            return;
        }
        self.leave(event.time);
        self.last = Some((event.mode, event.time));
        *self.counts.entry(event.mode).or_default() += 1;
        let Some(from) = from else {
            return;
        };
        let taken = (self.transitions.iter_mut()).find(|t| (t.from, t.to) == (from, event.mode));
        match taken {
            Some(transition) => transition.count += 1,
            None => self.transitions.push(TransitionView {
                from,
                to: event.mode,
                count: 1,
                cause: (event.causes.first()).map_or(String::new(), |cause| cause.text.clone()),
            }),
        }
    }
}

impl Session {
    /// Runs a class and tells its modes.
    pub fn modes_view(&self, class: &str) -> Result<ModesView, Error> {
        let compiled = self.compile(class)?;
        let model = compiled.compiled();
        let mut instance = model.instantiate();
        let options = Options::from(model.info().experiment);
        let mut entries = Entries::default();
        let environment = Control::default();
        let result = saltus_sim::simulate(&mut instance, &options, &environment, &mut entries);
        let summary = match result {
            Ok(summary) => summary,
            Err(failure) => {
                let subject = Subject {
                    info: instance.info(),
                    sources: &compiled.base().sources,
                };
                let why = failure_diagnostic(subject, &failure.error);
                if why.code == "foreign-code-not-allowed" {
                    return Err(Error::Model(Diagnostics {
                        list: vec![why],
                        sources: compiled.base().sources.clone(),
                    }));
                }
                failure.summary
            }
        };
        entries.leave(summary.time_reached);
        let entered = |number: u32| entries.counts.get(&number).copied().unwrap_or(0);
        let duration = summary.time_reached - options.start_time;
        let share = |number: u32| match entries.seconds.get(&number) {
            Some(seconds) if duration > 0.0 => seconds / duration,
            _ => 0.0,
        };
        let modes = (instance.modes().into_iter())
            .map(|mode| ModeView {
                entered: entered(mode.number),
                share: share(mode.number),
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
            transitions: entries.transitions,
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

    /// The modes with their states, and the transitions that were taken, counted.
    pub fn picture(&self) -> ModeGraph {
        let place = |number: u32| self.modes.iter().position(|mode| mode.number == number);
        ModeGraph {
            title: format!("modes of {}, run to {} s", self.model, self.time_reached),
            modes: (self.modes.iter())
                .map(|mode| ModeNode {
                    name: match mode.states.as_slice() {
                        [] => format!("{}: no states", mode.number),
                        // States of sets stand for others in turn.
                        states
                            if states.len() <= NAMED_MAX
                                && !states.iter().any(|s| s.starts_with('$')) =>
                        {
                            format!("{}: {}", mode.number, states.join(", "))
                        }
                        states => format!("{}: {} states", mode.number, states.len()),
                    },
                    share: mode.share,
                })
                .collect(),
            transitions: (self.transitions.iter())
                .filter_map(|t| {
                    Some(ModeTransition {
                        from: place(t.from)?,
                        to: place(t.to)?,
                        count: t.count as usize,
                        condition: t.cause.clone(),
                    })
                })
                .collect(),
        }
    }

    pub fn to_json(&self) -> String {
        json(self)
    }
}
