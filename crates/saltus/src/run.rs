//! Experiments and runs.

use crate::error::{Diagnostics, Error};
use crate::explain_failure::{failure_diagnostic, several_solutions};
use crate::model::Model;
use crate::output::{NotWritten, Output, ProgressObserver};
use crate::session::StageTimes;
use crate::start_from::{GoOn, go_on, names};
use crate::variation::{Variation, unresolved_message};
use rustc_hash::FxHashSet;
use saltus_codegen::CompiledModel;
use saltus_model::{
    Instance, Model as Contract, ModelInfo, ScheduleKind, Settable, Slot, Values, VariableInfo,
    VariableKind,
};
use saltus_results::{
    Blocks, EventCounts, EventRecord, Functions, MethodSteps, Recorder, ResultTable, RowSink,
    Seconds, Selection, Statistics,
};
use saltus_sim::{
    CreepRecord, Environment, LocationMethod, NoteRecord, Options, OutputGrid, RowKind,
    RunStatistics, RunSummary, SolverName, StartPoint, StepRecord, Zeno,
};
use saltus_solve::roots::isolate::IsolationRule;
use saltus_solve::{Detection, Noted};
use saltus_syntax::{Diagnostic, SourceMap};
use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What messages about a model need: its names, and the sources they come from.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'m> {
    pub(crate) info: &'m ModelInfo,
    pub(crate) sources: &'m SourceMap,
}

/// Settings of one run. Starts from the model's experiment annotation.
pub struct Experiment<'m, M: Contract = CompiledModel> {
    model: &'m M,
    sources: Arc<SourceMap>,
    times: StageTimes,
    /// Blocks that the compiler counted.
    blocks: Option<Blocks>,
    functions: Functions,
    /// Parameters that the initial system computes.
    computed: &'m [String],
    /// The model keeps a past, which no result holds.
    keeps_past: bool,
    options: Options,
    sets: Vec<(String, f64)>,
    selection: Selection,
    cancel: Option<&'m AtomicBool>,
    record_steps: bool,
    rows_to: Option<&'m mut dyn RowSink>,
    /// What is kept in memory beside rows that go to a file.
    kept: Selection,
    events_to: Option<&'m mut dyn Write>,
    keep_events: bool,
    observer: Option<ProgressObserver<'m>>,
    /// What is not known where the run goes on.
    start_notes: Vec<Diagnostic>,
}

/// A finished run, or what there is of one that failed.
pub struct Run {
    /// The rows, as far as they were kept.
    pub table: ResultTable,
    /// The events, if they were kept.
    pub event_log: Vec<EventRecord>,
    pub statistics: Statistics,
    /// Warnings of the model and notes on how the result came about.
    pub warnings: Diagnostics,
    pub time_start: f64,
    /// Time up to which the result is complete.
    pub time_reached: f64,
    /// The message of `terminate`, if the model ended the run.
    pub terminated: Option<String>,
    /// Initialisation was completed.
    pub initialised: bool,
    /// The accepted steps, if they were asked for ([`Experiment::record_steps`]).
    pub steps: Vec<StepRecord>,
    /// Without events: where the integrator crept over a discontinuity.
    pub creeping: Vec<CreepRecord>,
}

impl Run {
    /// The last value of a variable.
    pub fn last(&self, name: &str) -> Result<f64, Error> {
        self.signal(name)?
            .last()
            .ok_or_else(|| Error::Usage("the result has no rows".to_owned()))
    }

    /// A variable at a time inside the run, right limit at events, linear between rows.
    pub fn at(&self, name: &str, time: f64) -> Result<f64, Error> {
        let value = self.signal(name)?.at(time, saltus_results::Side::Right);
        value.ok_or_else(|| Error::Usage(format!("time {time} is outside the run")))
    }

    fn signal(&self, name: &str) -> Result<saltus_results::Signal<'_>, Error> {
        self.table.signal(name).ok_or_else(|| {
            let similar = self.table.similar_names(name, 1);
            let hint = similar
                .first()
                .map_or(String::new(), |s| format!("; did you mean `{s}`?"));
            Error::Usage(format!("the result has no variable `{name}`{hint}"))
        })
    }

    pub fn events(&self) -> &[EventRecord] {
        &self.event_log
    }
}

impl<'m> Experiment<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        let base = model.base();
        let mut experiment = Experiment {
            sources: base.sources.clone(),
            times: base.times,
            blocks: Some(base.blocks),
            functions: model.functions(),
            computed: &base.computed,
            keeps_past: model.compiled().keeps_past(),
            ..Experiment::of(model.compiled())
        };
        experiment.options.overrides = model.overrides();
        experiment
    }
}

impl<'m, M: Contract> Experiment<'m, M> {
    /// Of a model without a text.
    pub(crate) fn of(model: &'m M) -> Self {
        Experiment {
            model,
            sources: Arc::new(SourceMap::default()),
            times: StageTimes::default(),
            blocks: None,
            functions: Functions::default(),
            computed: &[],
            keeps_past: false,
            options: Options::from(model.info().experiment),
            sets: Vec::new(),
            selection: Selection::Visible,
            cancel: None,
            record_steps: false,
            rows_to: None,
            kept: Selection::Named(Vec::new()),
            events_to: None,
            keep_events: true,
            observer: None,
            start_notes: Vec::new(),
        }
    }

    /// Sets a parameter, or the start value of a variable.
    pub fn set(mut self, name: impl Into<String>, value: f64) -> Self {
        self.sets.push((name.into(), value));
        self
    }

    pub fn start_time(mut self, time: f64) -> Self {
        self.options.start_time = time;
        self
    }

    pub fn stop_time(mut self, time: f64) -> Self {
        self.options.stop_time = time;
        self
    }

    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.options.tolerance = tolerance;
        self
    }

    /// Seconds between rows.
    pub fn interval(mut self, seconds: f64) -> Self {
        self.options.output = OutputGrid::Interval(seconds);
        self
    }

    pub fn intervals(mut self, count: u32) -> Self {
        self.options.output = OutputGrid::Intervals(count);
        self
    }

    /// `auto`, `dopri5`, `dop853`, `radau`, `esdirk` or `bdf`.
    pub fn solver(mut self, name: &str) -> Result<Self, Error> {
        let Some(solver) = SolverName::from_name(name) else {
            let known: Vec<&str> = SolverName::all().map(SolverName::as_str).collect();
            return Err(Error::Usage(format!(
                "there is no solver `{name}`; known are {}",
                known.join(", ")
            )));
        };
        self.options.solver = solver;
        Ok(self)
    }

    /// How events are located: `chandrupatla`, `itp`, `brent` and others.
    pub fn event_method(mut self, name: &str) -> Result<Self, Error> {
        let Some(method) = LocationMethod::from_name(name) else {
            let known = LocationMethod::ALL.map(LocationMethod::as_str);
            return Err(unknown("event method", name, &known));
        };
        self.options.event_method = method;
        Ok(self)
    }

    /// How events are noticed within a step: `all` (the roots of the interpolant), or the textbook's `sign-change`, `derivative` and `sturm`, which may miss some.
    pub fn event_detection(mut self, name: &str) -> Result<Self, Error> {
        let Some(detection) = Detection::from_name(name) else {
            let known = Detection::ALL.map(Detection::as_str);
            return Err(unknown("event detection", name, &known));
        };
        self.options.event_search.detection = detection;
        Ok(self)
    }

    /// How the first of several events in a step is told apart: `together`, or the textbook's `regula-falsi` and `golden-section`.
    pub fn event_isolation(mut self, name: &str) -> Result<Self, Error> {
        self.options.event_search.isolation = match (name, IsolationRule::from_name(name)) {
            ("together", _) => None,
            (_, Some(rule)) => Some(rule),
            (_, None) => {
                let [first, second] = IsolationRule::ALL.map(IsolationRule::as_str);
                return Err(unknown(
                    "event isolation",
                    name,
                    &["together", first, second],
                ));
            }
        };
        Ok(self)
    }

    /// False: integrate across discontinuities without locating them.
    pub fn events(mut self, on: bool) -> Self {
        self.options.events = on;
        self
    }

    /// What happens where infinitely many events come to a limit: `continue` (the motion rests there until the free motion points away) or
    /// `stop` (the run ends with an error).
    pub fn zeno(mut self, name: &str) -> Result<Self, Error> {
        self.options.zeno = match name {
            "continue" => Zeno::Continue,
            "stop" => Zeno::Stop,
            _ => {
                return Err(Error::Usage(format!(
                    "`{name}` is not known for Zeno points; known are continue, stop"
                )));
            }
        };
        Ok(self)
    }

    /// Step of inlined integrators ([`crate::Session::inline`]), in seconds; default: what the model says, else the interval of the output.
    pub fn inline_step(mut self, seconds: f64) -> Self {
        self.options.inline_step = Some(seconds);
        self
    }

    pub fn max_wall(mut self, seconds: f64) -> Self {
        self.options.wall_seconds_max = Some(seconds);
        self
    }

    /// Only variables that match one of these patterns (`*` and `?`).
    pub fn variables(mut self, patterns: &[String]) -> Self {
        self.selection = Selection::from_patterns(patterns);
        self
    }

    /// Keeps the size of every accepted step in [`Run::steps`].
    pub fn record_steps(mut self, on: bool) -> Self {
        self.record_steps = on;
        self
    }

    /// Set from another thread to end the run; what was computed stays.
    pub fn cancel(mut self, flag: &'m AtomicBool) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Rows go there as they are computed and are not kept in memory, so that the length of a run costs none.
    pub fn write_rows_to(mut self, sink: &'m mut dyn RowSink) -> Self {
        self.rows_to = Some(sink);
        self
    }

    /// Variables that are kept in [`Run::table`] although rows go to a file.
    pub fn keep(mut self, names: Vec<String>) -> Self {
        self.kept = Selection::Named(names);
        self
    }

    /// Events go there as they happen, one JSON object per line.
    pub fn write_events_to(mut self, out: &'m mut dyn Write) -> Self {
        self.events_to = Some(out);
        self
    }

    /// False: [`Run::event_log`] stays empty.
    pub fn keep_events(mut self, on: bool) -> Self {
        self.keep_events = on;
        self
    }

    /// Called about ten times a second while the model runs.
    pub fn on_progress(mut self, observer: ProgressObserver<'m>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Begins where an earlier run has been, at its end or at a time inside it. The initial system is not solved; parameters are those of
    /// the model. The start time is that of the point; [`Experiment::start_time`] after this gives it another name.
    pub fn start_from(mut self, table: &ResultTable, time: Option<f64>) -> Result<Self, Error> {
        let GoOn {
            time,
            values,
            unknown,
        } = go_on(self.model.info(), self.computed, table, time)?;
        self.options.start_time = time;
        self.options.start = StartPoint::Values(values);
        let mut warn = |text: String| {
            let mut d = Diagnostic::placeless("start-incomplete", text);
            d.severity = saltus_syntax::Severity::Warning;
            self.start_notes.push(d);
        };
        if !unknown.is_empty() {
            warn(format!(
                "the result does not hold {}: the start values of the model are taken",
                names(&unknown, "discrete variable")
            ));
        }
        if self.keeps_past {
            warn("the past of delays is in no result: they begin anew".to_owned());
        }
        Ok(self)
    }

    /// Runs the model.
    pub fn simulate(mut self) -> Result<Run, Error> {
        let info = self.model.info();
        let mut names = FxHashSet::default();
        if let Some(twice) = info.variables.iter().find(|v| !names.insert(&v.name)) {
            return Err(Error::Usage(format!(
                "the model has two variables named `{}`",
                twice.name
            )));
        }
        for (name, value) in &self.sets {
            self.options
                .overrides
                .push((self.settable(info, name)?, *value));
        }
        let start = Instant::now();
        let clock = move || start.elapsed().as_secs_f64();
        let environment = Environment {
            clock: Some(&clock),
            cancel: self.cancel,
        };
        let sources = self.sources.clone();
        let mut instance = self.model.instantiate();
        let span = (self.options.start_time, self.options.stop_time);
        // All is kept that goes nowhere else.
        let kept = match (&self.rows_to, &self.kept) {
            (None, _) => Some(&self.selection),
            (Some(_), Selection::Named(names)) if names.is_empty() => None,
            (Some(_), kept) => Some(kept),
        };
        let mut collector = Collector {
            info: Cow::Borrowed(info),
            recorder: kept.map(|selection| Recorder::new(info, selection)),
            output: Output::new(
                info,
                &self.selection,
                self.rows_to.take(),
                self.events_to.take(),
                self.observer,
                span,
            ),
            events: self.keep_events.then(Vec::new),
            messages: std::mem::take(&mut self.start_notes),
            steps: self.record_steps.then(Vec::new),
            creeping: Vec::new(),
            initialised: false,
            variation: Variation::new(self.options.tolerance, info.slots.len()),
            sources: &sources,
        };
        let result =
            saltus_sim::simulate(&mut instance, &self.options, &environment, &mut collector);
        let (summary, error) = match result {
            Ok(summary) => (summary, None),
            Err(failure) => (failure.summary, Some(failure.error)),
        };
        let (mut run, not_written) = self.finish(collector, summary);
        // Modes may have added slots and places.
        let subject = Subject {
            info: instance.info(),
            sources: &sources,
        };
        let diagnostic = match (not_written, error) {
            (None, None) => {
                let message = unresolved_message(&run.statistics.unresolved);
                run.warnings.list.extend(message);
                return Ok(run);
            }
            (Some(why), _) => not_written_diagnostic(&why, run.time_reached),
            (None, Some(error)) => failure_diagnostic(subject, &error),
        };
        Err(Error::Run(
            Diagnostics {
                list: vec![diagnostic],
                sources: self.sources.clone(),
            },
            Box::new(run),
        ))
    }

    /// The slot that `name` sets.
    fn settable(&self, info: &ModelInfo, name: &str) -> Result<Slot, Error> {
        let variable = find_variable(info, name)?;
        let why = match variable.settable {
            Settable::Value => return Ok(variable.slot),
            Settable::Structural(why) => {
                return Err(Error::Usage(format!(
                    "`{name}` cannot be set for a compiled model: {why}; `Model::with` compiles it again"
                )));
            }
            Settable::Final => "it is final",
            Settable::No if variable.kind == VariableKind::Constant => "it is a constant",
            Settable::No => "it has no start value of its own",
        };
        Err(Error::Usage(format!("`{name}` cannot be set: {why}")))
    }

    /// The run, and why its files are not complete if they are not.
    fn finish(
        &self,
        collector: Collector<'_, '_>,
        summary: RunSummary,
    ) -> (Run, Option<NotWritten>) {
        let Collector {
            recorder,
            output,
            events,
            mut messages,
            initialised,
            steps,
            creeping,
            variation,
            ..
        } = collector;
        let mut statistics = self.statistics(&summary.statistics);
        statistics.unresolved = variation.unresolved(self.model.info());
        messages.extend(creeping_message(&creeping, &statistics));
        messages.extend(uncontrolled_message(self.model.info()));
        let run = Run {
            table: recorder.map_or_else(ResultTable::default, Recorder::finish),
            event_log: events.unwrap_or_default(),
            statistics,
            warnings: Diagnostics {
                list: messages,
                sources: self.sources.clone(),
            },
            time_start: self.options.start_time,
            time_reached: summary.time_reached,
            terminated: summary.terminated.map(|(_, text)| text),
            initialised,
            steps: steps.unwrap_or_default(),
            creeping,
        };
        (run, output.finish())
    }

    fn statistics(&self, run: &RunStatistics) -> Statistics {
        let info = self.model.info();
        let times = self.times;
        let seconds = Seconds {
            parse: times.parse,
            flatten: times.flatten,
            structure: times.structure,
            codegen: times.codegen,
            initialize: run.seconds_initialize,
            simulate: run.seconds_simulate,
            total: times.parse
                + times.flatten
                + times.structure
                + times.codegen
                + run.seconds_initialize
                + run.seconds_simulate,
        };
        Statistics {
            model: info.name.clone(),
            saltus_version: crate::VERSION.to_owned(),
            seconds,
            equations: info.n_equations,
            unknowns: info.n_unknowns,
            states: run.states,
            crossing_functions: run.crossing_functions,
            blocks: self.blocks.unwrap_or(Blocks {
                linear: run.blocks_linear,
                nonlinear: run.blocks_nonlinear,
                largest: run.blocks_largest,
            }),
            modes_structured: run.modes_structured as usize,
            functions: self.functions.clone(),
            solver: run.solver.to_owned(),
            methods: (run.methods.iter())
                .map(|(name, steps)| MethodSteps {
                    name: name.as_str().to_owned(),
                    steps: *steps,
                })
                .collect(),
            steps: run.steps,
            steps_rejected: run.steps_rejected,
            rhs_evaluations: run.rhs_evaluations,
            jacobians: run.jacobians,
            factorizations: run.factorizations,
            events: EventCounts {
                time: run.events_time,
                state: run.events_state,
                step: run.events_step,
                iterations: run.event_iterations,
            },
            sliding_segments: run.sliding_segments,
            zeno_points: run.zeno_points,
            unresolved: Vec::new(),
            peak_rss_mb: peak_rss_mb(),
        }
    }
}

/// A variable by its name, or an error that names the closest.
pub(crate) fn find_variable<'i>(
    info: &'i ModelInfo,
    name: &str,
) -> Result<&'i VariableInfo, Error> {
    if let Some(variable) = info.variables.iter().find(|v| v.name == name) {
        return Ok(variable);
    }
    // `a[1, 2]` means `a[1,2]`.
    let spaceless = name.replace(", ", ",");
    if let Some(variable) = info.variables.iter().find(|v| v.name == spaceless) {
        return Ok(variable);
    }
    let candidates: Vec<saltus_syntax::Name> = (info.variables.iter())
        .map(|v| saltus_syntax::Name::new(&v.name))
        .collect();
    let hint = saltus_flatten::lookup::suggest(saltus_syntax::Name::new(name), &candidates);
    let hint = hint.map_or(String::new(), |s| format!("; did you mean `{s}`?"));
    Err(Error::Usage(format!(
        "the model has no variable `{name}`{hint}"
    )))
}

fn not_written_diagnostic(why: &NotWritten, time: f64) -> Diagnostic {
    let NotWritten { error, rows_until } = why;
    let kept = match rows_until {
        Some(until) => format!("the result has the rows up to time {until}, which can be read"),
        None => "no row of this run was written".to_owned(),
    };
    Diagnostic::placeless(
        "result-not-written",
        format!("the results could not be written at time {time}: {error}"),
    )
    .note(kept)
    .help("make room, or choose fewer variables with `--variables` or fewer rows with `--interval`")
}

/// Places that a message about creeping names.
const CREEPING_SHOWN: usize = 3;

/// What creeping cost, and where it was worst.
fn creeping_message(creeping: &[CreepRecord], statistics: &Statistics) -> Option<Diagnostic> {
    let steps: u64 = creeping.iter().map(|c| c.steps).sum();
    let rejected: u64 = creeping.iter().map(|c| c.steps_rejected).sum();
    let mut worst: Vec<&CreepRecord> = creeping.iter().collect();
    worst.sort_by(|a, b| a.step_size_min.total_cmp(&b.step_size_min));
    let first = worst.first()?;
    let share = 100.0 * (steps + rejected) as f64
        / (statistics.steps + statistics.steps_rejected).max(1) as f64;
    let message = format!(
        "without events the integrator crept over {} discontinuities: {steps} steps and {rejected} rejected attempts, {share:.0} % of all; \
         the step size fell from {:.1e} to {:.1e} s at time {:.6}",
        creeping.len(),
        first.step_size_before,
        first.step_size_min,
        first.time_start,
    );
    let mut d = Diagnostic::placeless("creeping", message);
    d.severity = saltus_syntax::Severity::Warning;
    for record in worst.iter().skip(1).take(CREEPING_SHOWN - 1) {
        d = d.note(format!(
            "at time {:.6}: from {:.1e} to {:.1e} s in {} steps, {} rejected",
            record.time_start,
            record.step_size_before,
            record.step_size_min,
            record.steps,
            record.steps_rejected
        ));
    }
    Some(d.help("without --no-events each of them is located and stepped to"))
}

/// Largest resident size of this process so far; NaN where the system does not tell.
fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status");
    let line = status
        .as_deref()
        .ok()
        .and_then(|s| s.lines().find(|l| l.starts_with("VmHWM:")));
    let kilobytes = line
        .and_then(|l| l.split_whitespace().nth(1))
        .and_then(|n| n.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |k| (k / 1024.0 * 10.0).round() / 10.0)
}

/// Keeps rows, events and messages of a run.
struct Collector<'a, 'm> {
    info: Cow<'a, ModelInfo>,
    /// `None`: no row is kept.
    recorder: Option<Recorder>,
    output: Output<'m>,
    /// `None`: no event is kept.
    events: Option<Vec<EventRecord>>,
    messages: Vec<Diagnostic>,
    /// `None`: not wanted.
    steps: Option<Vec<StepRecord>>,
    creeping: Vec<CreepRecord>,
    initialised: bool,
    variation: Variation,
    sources: &'a SourceMap,
}

impl Collector<'_, '_> {
    fn subject(&self) -> Subject<'_> {
        Subject {
            info: &self.info,
            sources: self.sources,
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

fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    Error::Usage(format!(
        "there is no {what} `{name}`; known are {}",
        known.join(", ")
    ))
}

/// Formulas of a fixed step tell nothing of their error: bounces that they do not resolve end below the floor.
fn uncontrolled_message(info: &ModelInfo) -> Option<Diagnostic> {
    let inline = info.inline.as_ref()?;
    let mut d = Diagnostic::placeless(
        "inline-step",
        format!(
            "{} inlined variables were integrated with a fixed step, whose error nothing controls",
            inline.states.len()
        ),
    )
    .help("halve `--inline-step` to see the error; do not inline states that many events reset");
    d.severity = saltus_syntax::Severity::Warning;
    Some(d)
}

impl saltus_sim::Recorder for Collector<'_, '_> {
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

    fn grown(&mut self, info: &ModelInfo) {
        self.info = Cow::Owned(info.clone());
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
