//! A run being made: the simulator with what collects its results, and the words for what goes wrong.

use crate::collector::{Collector, Subject};
use crate::error::{Diagnostics, Error};
use crate::explain_failure::failure_diagnostic;
use crate::output::NotWritten;
use crate::run::Run;
use crate::schedule::Schedule;
use crate::session::StageTimes;
use crate::variation::unresolved_message;
use saltus_model::{Causality, Instance, ModelInfo, Slot, VariableInfo};
use saltus_results::{
    Blocks, EventCounts, Functions, MethodSteps, Recorder, ResultTable, Seconds, Statistics,
};
use saltus_sim::{CreepRecord, Progressed, RunStatistics, SimError, Simulator};
use saltus_syntax::{Diagnostic, SourceMap};
use std::sync::Arc;

/// What is known of the model beside its code.
pub(crate) struct About {
    pub(crate) info: Arc<ModelInfo>,
    pub(crate) sources: Arc<SourceMap>,
    pub(crate) times: StageTimes,
    /// Blocks that the compiler counted.
    pub(crate) blocks: Option<Blocks>,
    pub(crate) functions: Functions,
}

pub(crate) struct Engine<'m, I> {
    pub(crate) simulator: Simulator<I, Collector<'m>>,
    pub(crate) about: About,
    pub(crate) time_start: f64,
    pub(crate) schedule: Schedule,
}

impl<'m, I: Instance> Engine<'m, I> {
    /// Goes on, piece by piece where inputs change at times that are known: `go` goes to a time, or less far.
    pub(crate) fn go_on(
        &mut self,
        time: f64,
        go: impl Fn(&mut Simulator<I, Collector<'m>>, f64) -> Result<Progressed, SimError>,
    ) -> Result<Progressed, SimError> {
        // Each change is taken once.
        while let Some(change) = self.schedule.time().filter(|change| *change < time) {
            if change > self.simulator.time() {
                let gone = go(&mut self.simulator, change)?;
                let stands = self.simulator.time() < change || gone != Progressed::Step;
                if stands || self.simulator.is_finished() {
                    return Ok(gone);
                }
            }
            for (slot, signal) in self.schedule.take(change) {
                self.simulator.set_input(slot, signal);
            }
        }
        go(&mut self.simulator, time)
    }

    /// The message for a failure.
    pub(crate) fn explain(&self, error: &SimError) -> Diagnostics {
        let subject = self.simulator.recorder().subject();
        Diagnostics {
            list: vec![failure_diagnostic(subject, error)],
            sources: self.about.sources.clone(),
        }
    }

    /// Every input has a value: from outside, or from the model.
    pub(crate) fn require_inputs(&self) -> Result<(), Error> {
        let Some(options) = self.simulator.options() else {
            return Ok(());
        };
        let is_given = |slot: Slot| {
            options.inputs.iter().any(|(known, _)| *known == slot)
                || options.overrides.iter().any(|(known, _)| *known == slot)
        };
        let is_missing = |v: &&VariableInfo| {
            v.causality == Causality::Input && !v.has_value && !is_given(v.slot)
        };
        let missing: Vec<&VariableInfo> = (self.about.info.variables.iter())
            .filter(is_missing)
            .collect();
        match missing.split_first() {
            None => Ok(()),
            Some((first, others)) => {
                let subject = self.simulator.recorder().subject();
                Err(Error::Model(Diagnostics {
                    list: vec![input_without_value(subject, first, others.len())],
                    sources: self.about.sources.clone(),
                }))
            }
        }
    }

    /// Ends the run, which has failed or come to its end.
    pub(crate) fn finish(self, failed: Option<Diagnostics>) -> Result<Run, Error> {
        let Engine {
            simulator,
            about,
            time_start,
            ..
        } = self;
        let (summary, _, collector) = simulator.finish();
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
        let mut statistics = about.statistics(&summary.statistics);
        statistics.unresolved = variation.unresolved(&about.info);
        messages.extend(creeping_message(&creeping, &statistics));
        messages.extend(uncontrolled_message(&about.info));
        let diagnostics = |list| Diagnostics {
            list,
            sources: about.sources.clone(),
        };
        let mut run = Run {
            table: recorder.map_or_else(ResultTable::default, Recorder::finish),
            event_log: events.unwrap_or_default(),
            statistics,
            warnings: diagnostics(messages),
            time_start,
            time_reached: summary.time_reached,
            terminated: summary.terminated.map(|(_, text)| text),
            initialised,
            steps: steps.unwrap_or_default(),
            creeping,
        };
        let failed = match (output.finish(), failed) {
            (None, None) => {
                let message = unresolved_message(&run.statistics.unresolved);
                run.warnings.list.extend(message);
                return Ok(run);
            }
            (Some(why), _) => diagnostics(vec![not_written_diagnostic(&why, run.time_reached)]),
            (None, Some(failed)) => failed,
        };
        Err(Error::Run(failed, Box::new(run)))
    }
}

impl About {
    fn statistics(&self, run: &RunStatistics) -> Statistics {
        let info = &self.info;
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

fn input_without_value(subject: Subject<'_>, input: &VariableInfo, n_others: usize) -> Diagnostic {
    let code = "input-without-value";
    let others = match n_others {
        0 => String::new(),
        1 => ", and another one has none either".to_owned(),
        n => format!(", and {n} others have none either"),
    };
    let text = format!("the input `{}` has no value{others}", input.name);
    match subject.span_of(input.site) {
        Some(span) => Diagnostic::error(code, span, text),
        None => Diagnostic::placeless(code, text),
    }
    .help(
        "give it a value or a function of time from outside, or a `start` value in its declaration",
    )
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
