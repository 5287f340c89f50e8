//! What a run leaves behind while it goes on: rows, events, messages.

use crate::explain_failure::several_solutions;
use crate::output::Output;
use crate::variation::Variation;
use saltus_model::{ModelInfo, ScheduleKind, Slot, Values};
use saltus_results::{EventRecord, Recorder};
use saltus_sim::{CreepRecord, NoteRecord, RowKind, StepRecord};
use saltus_solve::Noted;
use saltus_syntax::{Diagnostic, SourceMap};
use std::sync::Arc;

/// What messages about a model need: its names, and the sources they come from.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'m> {
    pub(crate) info: &'m ModelInfo,
    pub(crate) sources: &'m SourceMap,
}

/// Keeps rows, events and messages of a run.
pub(crate) struct Collector<'m> {
    pub(crate) info: Arc<ModelInfo>,
    /// `None`: no row is kept.
    pub(crate) recorder: Option<Recorder>,
    pub(crate) output: Output<'m>,
    /// `None`: no event is kept.
    pub(crate) events: Option<Vec<EventRecord>>,
    pub(crate) messages: Vec<Diagnostic>,
    /// `None`: not wanted.
    pub(crate) steps: Option<Vec<StepRecord>>,
    pub(crate) creeping: Vec<CreepRecord>,
    pub(crate) initialised: bool,
    pub(crate) variation: Variation,
    pub(crate) sources: Arc<SourceMap>,
}

impl Collector<'_> {
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            info: &self.info,
            sources: &self.sources,
        }
    }

    /// The name of what is an impulse, and whether it is minus the slot: a force that is an alias of a derivative has its own name.
    fn shown_impulse(&self, slot: Slot) -> Option<(&str, bool)> {
        let own = |name: &str| !name.starts_with('$') && !name.starts_with("der(");
        let name = self.info.slots[slot.index()].name.as_str();
        if own(name) {
            return Some((name, false));
        }
        let shares = |v: &&saltus_model::VariableInfo| v.slot == slot && own(&v.name);
        let variable = self.info.variables.iter().find(shares)?;
        Some((&variable.name, variable.negated))
    }

    /// The name of a slot as the user knows it; internal slots that a variable shares have its name, others none.
    fn shown_name(&self, slot: Slot) -> Option<&str> {
        let name = self.info.slots[slot.index()].name.as_str();
        if !name.starts_with('$') {
            return Some(name);
        }
        let shares = |v: &&saltus_model::VariableInfo| {
            v.slot == slot && !v.negated && !v.name.starts_with('$')
        };
        self.info
            .variables
            .iter()
            .find(shares)
            .map(|v| v.name.as_str())
    }
}

impl saltus_sim::Recorder for Collector<'_> {
    fn row(&mut self, values: &Values, kind: RowKind) {
        self.initialised = true;
        if let Some(recorder) = &mut self.recorder {
            recorder.record(&values.v);
        }
        self.variation.row(&values.v);
        self.output.row(&values.v, kind == RowKind::AfterEvent);
    }

    fn wants_events(&self) -> bool {
        self.events.is_some() || self.output.wants_events()
    }

    fn is_closed(&self) -> bool {
        self.output.failure.is_some()
    }

    fn event(&mut self, event: &saltus_sim::EventRecord) {
        let cause = event
            .causes
            .iter()
            .map(|c| {
                let site = self.info.sites.get(c.site.0 as usize);
                saltus_results::Cause {
                    expression: c.text.clone(),
                    file: site.map_or(String::new(), |s| s.file.to_string()),
                    line: site.map_or(0, |s| s.line),
                    value_left: c.value_left,
                    value_right: c.value_right,
                }
            })
            .collect();
        let changed = event
            .changed
            .iter()
            .filter_map(|c| {
                let selection = event.kind == saltus_sim::EventKind::Selection;
                let variable = match self.info.slots.get(c.slot.index()) {
                    // Selectors are no variables of the model; their names say what they choose.
                    Some(slot) if selection => slot.name.trim_start_matches('$'),
                    _ => self.shown_name(c.slot)?,
                };
                Some(saltus_results::Change {
                    variable: variable.to_owned(),
                    before: c.before,
                    after: c.after,
                })
            })
            .collect();
        let impulses = (event.impulses.iter())
            .filter_map(|&(slot, value)| {
                let (variable, negated) = self.shown_impulse(slot)?;
                Some(saltus_results::Impulse {
                    variable: variable.to_owned(),
                    value: if negated { -value } else { value },
                })
            })
            .collect();
        let record = EventRecord {
            time: event.time,
            kind: match event.kind {
                saltus_sim::EventKind::Initial => saltus_results::EventKind::Initial,
                saltus_sim::EventKind::Time => saltus_results::EventKind::Time,
                saltus_sim::EventKind::State => saltus_results::EventKind::State,
                saltus_sim::EventKind::Input => saltus_results::EventKind::Input,
                saltus_sim::EventKind::Terminal => saltus_results::EventKind::Terminal,
                saltus_sim::EventKind::Touch => saltus_results::EventKind::Touch,
                saltus_sim::EventKind::Selection => saltus_results::EventKind::Step,
                saltus_sim::EventKind::Fold => saltus_results::EventKind::Fold,
                saltus_sim::EventKind::Sliding => saltus_results::EventKind::Sliding,
                saltus_sim::EventKind::Zeno => saltus_results::EventKind::Zeno,
            },
            method: event.method.to_owned(),
            cause,
            changed,
            impulses,
            iterations: event.iterations,
            evaluations: event.evaluations as u32,
            mode: event.mode,
        };
        self.output.event(&record);
        if let Some(events) = &mut self.events {
            events.push(record);
        }
    }

    fn message(&mut self, time: f64, site: saltus_model::Site, text: &str) {
        let message = format!("at time {time}: {text}");
        let diagnostic = match self.subject().span_of(site) {
            Some(span) => Diagnostic::warning("model-message", span, message),
            None => {
                let mut d = Diagnostic::placeless("model-message", message);
                d.severity = saltus_syntax::Severity::Warning;
                d
            }
        };
        self.messages.push(diagnostic);
    }

    fn grown(&mut self, info: &Arc<ModelInfo>) {
        self.info = info.clone();
    }

    fn step(&mut self, step: &StepRecord) {
        self.output.step(step.time);
        if let Some(steps) = &mut self.steps {
            steps.push(*step);
        }
    }

    fn note(&mut self, note: &NoteRecord) {
        let text = match note {
            NoteRecord::Block { time, note } => match &note.what {
                Noted::MinimumNorm { rank, unknowns } => {
                    let which = match note.schedule {
                        ScheduleKind::Initial => "the solution nearest to the start values",
                        _ => "the smallest solution",
                    };
                    format!(
                        "at time {time}: {unknowns} equations of block {} have rank {rank}; {which} was taken",
                        note.block.0
                    )
                }
                Noted::Several(several) => {
                    let d = several_solutions(self.subject(), *time, several);
                    self.messages.push(d);
                    return;
                }
            },
            NoteRecord::Released { moved } if moved.is_empty() => return,
            NoteRecord::Released { moved } => {
                let changes: Vec<String> = (moved.iter())
                    .map(|(slot, before, after)| {
                        let name = self.subject().slot_name(*slot);
                        format!("`{name}` starts at {after} instead of {before}")
                    })
                    .collect();
                format!(
                    "with all start values as given the initial system has no solution: {}",
                    changes.join(", ")
                )
            }
            NoteRecord::NoHomotopy => {
                "the simplified equations of `homotopy` do not lead to the actual ones, which were solved directly".to_owned()
            }
            NoteRecord::Fold { time } => format!(
                "at time {time} the solution of a system of equations came to its end and another one was taken; the event log (`--events`) says what jumped, also at later events of this kind"
            ),
            NoteRecord::Held { time, switches } => format!(
                "at time {time} the conditions select equations that leave unknowns free, such as potentials without a reference; of the solutions that fulfil them the one was taken in which {}, also at later events of this kind",
                switches.join(", ")
            ),
            NoteRecord::Creeping(record) => {
                self.creeping.push(*record);
                return;
            }
            NoteRecord::Stiff { .. } => return,
        };
        let mut d = Diagnostic::placeless("note", text);
        d.severity = saltus_syntax::Severity::Note;
        self.messages.push(d);
    }
}
