//! Settings of a run.

use crate::collector::Collector;
use crate::engine::{About, Engine};
use crate::error::Error;
use crate::input::Input;
use crate::model::Model;
use crate::output::{Outlets, Output, ProgressObserver};
use crate::run::Run;
use crate::schedule::Schedule;
use crate::session::StageTimes;
use crate::similar::{hint, similar, similar_to_pattern};
use crate::simulator::Simulator;
use crate::start_from::{GoOn, go_on, names};
use crate::variation::Variation;
use rustc_hash::FxHashSet;
use saltus_codegen::CompiledModel;
use saltus_model::{Model as Contract, ModelInfo, Settable, Slot, VariableInfo, VariableKind};
use saltus_results::{Blocks, Functions, Glob, Recorder, ResultTable, RowSink, Selection};
use saltus_sim::{Control, LocationMethod, Options, OutputGrid, SolverName, StartPoint, Zeno};
use saltus_solve::Detection;
use saltus_solve::roots::isolate::IsolationRule;
use saltus_syntax::{Diagnostic, SourceMap};
use std::io::Write;
use std::sync::Arc;

/// Settings of one run. Starts from the model's experiment annotation.
pub struct Experiment<'m, M: Contract = CompiledModel> {
    model: &'m M,
    /// The model of a session, whose names are known to be unique.
    facade: Option<&'m Model>,
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
    inputs: Vec<(String, Input)>,
    selection: Selection,
    /// What the selection was made of.
    patterns: Vec<String>,
    control: Control,
    record_steps: bool,
    rows_to: Option<&'m mut (dyn RowSink + Send)>,
    /// What is kept in memory beside rows that go to a file.
    kept: Selection,
    events_to: Option<&'m mut (dyn Write + Send)>,
    keep_events: bool,
    observer: Option<ProgressObserver<'m>>,
    /// What is not known where the run goes on.
    start_notes: Vec<Diagnostic>,
}

impl<'m> Experiment<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        let base = model.base();
        let mut experiment = Experiment {
            facade: Some(model),
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

impl Experiment<'_> {
    /// The same run, to be stepped. Rows and events are kept by the simulator.
    pub fn simulator(self) -> Result<Simulator, Error> {
        let is_watched = self.rows_to.is_some() || self.events_to.is_some();
        if is_watched || self.observer.is_some() {
            return Err(Error::Usage(
                "a simulator keeps its rows and events itself: they cannot go to a file while it runs"
                    .to_owned(),
            ));
        }
        let Some(model) = self.facade.cloned() else {
            return Err(Error::Usage("the model is not one of a session".to_owned()));
        };
        Ok(Simulator::new(model, self.engine(Outlets::default())?))
    }
}

impl<'m, M: Contract> Experiment<'m, M> {
    /// Of a model without a text.
    pub(crate) fn of(model: &'m M) -> Self {
        Experiment {
            model,
            facade: None,
            sources: Arc::new(SourceMap::default()),
            times: StageTimes::default(),
            blocks: None,
            functions: Functions::default(),
            computed: &[],
            keeps_past: false,
            options: Options::from(model.info().experiment),
            sets: Vec::new(),
            inputs: Vec::new(),
            selection: Selection::Visible,
            patterns: Vec::new(),
            control: Control::new(),
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

    /// Gives an input of the model a value, a ramp, or a function of time. Inputs without a value in the model must be given one.
    pub fn input(mut self, name: impl Into<String>, input: impl Into<Input>) -> Self {
        self.inputs.push((name.into(), input.into()));
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

    /// For a simulator that is stepped as long as it is asked to: no stop time, and no rows between events.
    pub fn without_end(mut self) -> Self {
        self.options.span = Some(self.options.span());
        self.options.stop_time = f64::INFINITY;
        self.options.output = OutputGrid::None;
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

    /// `auto`, `dopri5`, `dop853`, `radau`, `esdirk` or `bdf`; a name of another program, such as `dassl`, means the one that comes nearest.
    pub fn solver(mut self, name: &str) -> Result<Self, Error> {
        let Some((solver, is_alias)) = crate::solver_alias::find(name) else {
            let known: Vec<&str> = SolverName::all().map(SolverName::as_str).collect();
            return Err(Error::Usage(format!(
                "there is no solver `{name}`; known are {}",
                known.join(", ")
            )));
        };
        if is_alias {
            let text = format!(
                "`{name}` is understood as `{}`, which comes nearest to it",
                solver.as_str()
            );
            let mut note = Diagnostic::placeless("solver-alias", text);
            note.severity = saltus_syntax::Severity::Note;
            self.start_notes.push(note);
        }
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
        self.patterns = patterns.to_vec();
        self
    }

    /// Only these variables, hidden or not.
    pub(crate) fn only_named(mut self, names: Vec<String>) -> Self {
        self.selection = Selection::Named(names);
        self.patterns.clear();
        self
    }

    /// Keeps the size of every accepted step in [`Run::steps`].
    pub fn record_steps(mut self, on: bool) -> Self {
        self.record_steps = on;
        self
    }

    /// Ends the run from outside, or when its time is over; what was computed stays.
    pub fn control(mut self, control: &Control) -> Self {
        self.control = control.clone();
        self
    }

    /// Rows go there as they are computed and are not kept in memory, so that the length of a run costs none.
    pub fn write_rows_to(mut self, sink: &'m mut (dyn RowSink + Send)) -> Self {
        self.rows_to = Some(sink);
        self
    }

    /// Variables that are kept in [`Run::table`] although rows go to a file.
    pub fn keep(mut self, names: Vec<String>) -> Self {
        self.kept = Selection::Named(names);
        self
    }

    /// Events go there as they happen, one JSON object per line.
    pub fn write_events_to(mut self, out: &'m mut (dyn Write + Send)) -> Self {
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
        let stop_time = self.options.stop_time;
        let outlets = Outlets {
            rows: self.rows_to.take(),
            events: self.events_to.take(),
            observer: self.observer,
        };
        let mut engine = self.engine(outlets)?;
        engine.require_inputs()?;
        let failed = match engine.go_on(stop_time, saltus_sim::Simulator::advance_to) {
            Ok(_) => None,
            Err(error) => Some(engine.explain(&error)),
        };
        engine.finish(failed)
    }

    /// The run, ready to begin.
    fn engine<'o>(mut self, outlets: Outlets<'o>) -> Result<Engine<'o, M::Instance>, Error> {
        let info = self.model.shared_info();
        let mut names = FxHashSet::default();
        if self.facade.is_none()
            && let Some(twice) = info.variables.iter().find(|v| !names.insert(&v.name))
        {
            return Err(Error::Usage(format!(
                "the model has two variables named `{}`",
                twice.name
            )));
        }
        (self.options.check()).map_err(|e| Error::Usage(crate::wrong_option::sentence(&e)))?;
        check_patterns(&info, &self.patterns)?;
        for (name, value) in &self.sets {
            let slot = self.settable(&info, name)?;
            self.options.overrides.push((slot, *value));
        }
        let start = self.options.start_time;
        let mut schedule = Schedule::default();
        for (name, input) in &self.inputs {
            for given in input.signals(&info, name, start)? {
                let slot = given.slot;
                self.options.inputs.retain(|(known, _)| *known != slot);
                self.options.inputs.push((slot, given.signal.clone()));
                schedule.give(given);
            }
        }
        // All is kept that goes nowhere else.
        let kept = match (&outlets.rows, &self.kept) {
            (None, _) => Some(&self.selection),
            (Some(_), Selection::Named(names)) if names.is_empty() => None,
            (Some(_), kept) => Some(kept),
        };
        let collector = Collector {
            recorder: kept.map(|selection| Recorder::new(&info, selection)),
            output: Output::new(
                &info,
                &self.selection,
                outlets,
                (start, self.options.stop_time),
            ),
            events: self.keep_events.then(Vec::new),
            messages: std::mem::take(&mut self.start_notes),
            steps: self.record_steps.then(Vec::new),
            creeping: Vec::new(),
            initialised: false,
            variation: Variation::new(self.options.tolerance, info.slots.len()),
            info: info.clone(),
            sources: self.sources.clone(),
        };
        let instance = self.model.instantiate();
        Ok(Engine {
            simulator: saltus_sim::Simulator::new(instance, self.options, self.control, collector),
            about: About {
                info,
                sources: self.sources,
                times: self.times,
                blocks: self.blocks,
                functions: self.functions,
            },
            time_start: start,
            schedule,
        })
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
    let near = similar(name, info.variables.iter().map(|v| v.name.as_str()));
    Err(Error::Usage(format!(
        "the model has no variable `{name}`{}",
        hint(&near)
    )))
}

/// Every pattern selects something.
pub(crate) fn check_patterns(info: &ModelInfo, patterns: &[String]) -> Result<(), Error> {
    let names = || info.variables.iter().map(|v| v.name.as_str());
    for pattern in patterns {
        let glob = Glob::new(pattern);
        // Every result has the time.
        if !glob.matches("time") && !names().any(|name| glob.matches(name)) {
            let near = similar_to_pattern(pattern, names());
            return Err(Error::Usage(format!(
                "no variable of the model matches `{pattern}`{}",
                hint(&near)
            )));
        }
    }
    Ok(())
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    Error::Usage(format!(
        "there is no {what} `{name}`; known are {}",
        known.join(", ")
    ))
}
