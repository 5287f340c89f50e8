//! Results that are kept for pages, and their way there.
//!
//! A run is kept in memory with all visible variables, so that a page can ask for any of them later. The memory of all runs together is bounded: the oldest go first, and a run that
//! alone would be larger ends with a message.

use crate::desk::Compiled;
use crate::requests::{Column, Outbox, Refusal, RunOptions, RunRequest};
use saltus::results::{EventRecord, ResultTable, RowSink, Side, Source};
use saltus::{Control, Error, Experiment, Model, StepRecord, ValueType, Variable};
use serde_json::{Value as Json, json};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of all runs that are kept.
const KEPT_BYTES_MAX: usize = 2 << 30;
/// Bytes of one run.
const RUN_BYTES_MAX: usize = 1 << 30;
/// Runs that are kept.
const KEPT_MAX: usize = 200;
/// Events that are sent with a run.
const EVENTS_MAX: usize = 20_000;
/// New rows of a long run are sent this often.
const STREAM_INTERVAL: Duration = Duration::from_millis(100);
/// Rows between two looks at the clock.
const ROWS_PER_LOOK: usize = 32;

/// The results of all pages, by number.
#[derive(Default)]
pub(crate) struct Runs {
    kept: Mutex<VecDeque<Arc<Kept>>>,
    last: AtomicU32,
}

/// A run that is kept.
pub(crate) struct Kept {
    number: u32,
    pub(crate) class: String,
    pub(crate) table: ResultTable,
    steps: Vec<StepRecord>,
}

impl Kept {
    fn bytes(&self) -> usize {
        8 * self.table.n_rows() * (self.table.n_series() + 1)
            + size_of::<StepRecord>() * self.steps.len()
    }

    pub(crate) fn value_at(&self, name: &str, time: f64) -> Option<f64> {
        self.table.signal(name)?.at(time, Side::Right)
    }

    pub(crate) fn steps_as_json(&self) -> Json {
        let of = |f: fn(&StepRecord) -> f64| self.steps.iter().map(f).collect::<Vec<_>>();
        json!({
            "time": of(|s| s.time),
            "size": of(|s| s.step_size),
            "rejected": of(|s| s.rejected as f64),
            "method": self.steps.first().map(|s| s.method),
        })
    }

    /// Which of these variables have rows of their own, and the values of the others.
    fn columns<'k>(&'k self, names: &[String]) -> (Json, Vec<Column<'k>>) {
        let (mut series, mut constants) = (Vec::new(), serde_json::Map::new());
        let mut columns = vec![Column {
            values: self.table.time(),
            negated: false,
        }];
        for name in names {
            match self.table.variable(name).map(|v| v.source) {
                Some(Source::Constant(value)) => {
                    constants.insert(name.clone(), json!(value));
                }
                Some(Source::Series { id, negated }) => {
                    series.push(name);
                    let values = self.table.series(id);
                    columns.push(Column { values, negated });
                }
                None => {}
            }
        }
        let head = json!({
            "run": self.number,
            "rows": self.table.n_rows(),
            "names": series,
            "constants": constants,
        });
        (head, columns)
    }

    /// Sends variables of the run, with more in the head.
    fn send(&self, outbox: &Outbox, id: u64, names: &[String], more: Json) {
        let (mut head, columns) = self.columns(names);
        if let (Json::Object(head), Json::Object(more)) = (&mut head, more) {
            head.extend(more);
        }
        let head = json!({ "id": id, "result": head });
        // The page may be gone.
        let _ = outbox.columns(&head, columns.into_iter());
    }
}

impl Runs {
    pub(crate) fn find(&self, number: u32) -> Result<Arc<Kept>, Refusal> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|run| run.number == number).cloned();
        found.ok_or_else(|| Refusal::new("this run is no longer kept: run the model again"))
    }

    pub(crate) fn send_columns(
        &self,
        outbox: &Outbox,
        id: u64,
        run: u32,
        names: &[String],
    ) -> Result<(), Refusal> {
        self.find(run)?.send(outbox, id, names, json!({}));
        Ok(())
    }

    fn keep(&self, class: &str, table: ResultTable, steps: Vec<StepRecord>) -> Arc<Kept> {
        let run = Arc::new(Kept {
            number: self.last.fetch_add(1, Ordering::Relaxed) + 1,
            class: class.to_owned(),
            table,
            steps,
        });
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(run.clone());
        let bytes = |kept: &VecDeque<Arc<Kept>>| kept.iter().map(|run| run.bytes()).sum::<usize>();
        while kept.len() > 1 && (kept.len() > KEPT_MAX || bytes(&kept) > KEPT_BYTES_MAX) {
            kept.pop_front();
        }
        run
    }
}

/// Where a run goes.
pub(crate) struct Shared<'s> {
    pub(crate) outbox: &'s Outbox,
    pub(crate) runs: &'s Runs,
}

/// Runs a model, sends rows while it goes on if they are wanted, and the answer at the end.
pub(crate) fn run(
    shared: &Shared<'_>,
    id: u64,
    compiled: &Compiled,
    request: &RunRequest,
    control: &Control,
) -> Result<(), Refusal> {
    let model = with_settings(&compiled.model, &request.settings)?;
    let mut rows = Rows::new(shared.outbox, request);
    let experiment = with_options(model.experiment(), &request.options)?
        .control(control)
        .record_steps(true)
        .write_rows_to(&mut rows);
    let (run, failure) = match experiment.simulate() {
        Ok(run) => (run, None),
        Err(Error::Run(found, run)) => (*run, Some(found)),
        Err(error) => return Err(error.into()),
    };
    let table = std::mem::take(&mut rows.table);
    let kept = shared.runs.keep(&request.class, table, run.steps);
    let is_known = request.known == Some(compiled.number);
    let statistics = serde_json::from_str(&run.statistics.to_json()).unwrap_or(Json::Null);
    let experiment = model.info().experiment;
    let more = json!({
        "model": compiled.number,
        "class": request.class,
        "variables": (!is_known).then(|| variables(&model)),
        "experiment": { "start": experiment.start_time, "stop": experiment.stop_time, "tolerance": experiment.tolerance },
        "span": [run.time_start, run.time_reached],
        "events": events(&run.event_log),
        "eventCount": run.event_log.len(),
        "statistics": statistics,
        "warnings": run.warnings.views(),
        "failure": failure.map(|found| found.views()),
        "terminated": run.terminated,
    });
    kept.send(shared.outbox, id, &request.columns, more);
    Ok(())
}

fn events(log: &[EventRecord]) -> &[EventRecord] {
    &log[..log.len().min(EVENTS_MAX)]
}

fn with_settings(model: &Model, settings: &[(String, Json)]) -> Result<Model, Refusal> {
    if settings.is_empty() {
        return Ok(model.clone());
    }
    let mut values = Vec::new();
    for (name, value) in settings {
        let value = match value {
            Json::Bool(b) => (*b).into(),
            Json::String(text) => text.as_str().into(),
            Json::Number(x) => model.value_of_number(name, x.as_f64().unwrap_or(f64::NAN))?,
            _ => return Err(Refusal::new(format!("`{name}` is set to {value}"))),
        };
        values.push((name, value));
    }
    Ok(model.with(values)?)
}

fn with_options<'m>(
    mut experiment: Experiment<'m>,
    options: &RunOptions,
) -> Result<Experiment<'m>, Refusal> {
    if let Some(time) = options.start {
        experiment = experiment.start_time(time);
    }
    if let Some(time) = options.stop {
        experiment = experiment.stop_time(time);
    }
    if let Some(tolerance) = options.tolerance {
        experiment = experiment.tolerance(tolerance);
    }
    if let Some(count) = options.intervals {
        experiment = experiment.intervals(count);
    }
    if let Some(name) = &options.solver {
        experiment = experiment.solver(name)?;
    }
    Ok(experiment)
}

/// All that can be seen or set, for the page's tree.
fn variables(model: &Model) -> Vec<Json> {
    let limit = |x: f64| x.is_finite().then_some(x);
    let describe = |v: &Variable| {
        json!({
            "name": v.name,
            "description": v.description,
            "unit": v.unit,
            "displayUnit": v.display_unit,
            "kind": format!("{:?}", v.kind).to_lowercase(),
            "type": match v.ty {
                ValueType::Real => "Real",
                ValueType::Integer => "Integer",
                ValueType::Boolean => "Boolean",
                ValueType::Enumeration => "enumeration",
                ValueType::String => "String",
            },
            "min": limit(v.min),
            "max": limit(v.max),
            "value": v.value.as_ref().map(plain),
            "literals": v.literals,
            "settable": v.settable,
            "structural": v.structural,
        })
    };
    let all = model.variables();
    all.iter().filter(|v| !v.hidden).map(describe).collect()
}

fn plain(value: &saltus::Value) -> Json {
    match value {
        saltus::Value::Real(x) => json!(x),
        saltus::Value::Integer(i) => json!(i),
        saltus::Value::Boolean(b) => json!(b),
        saltus::Value::String(text) => json!(text),
        saltus::Value::Array(elements) => elements.iter().map(plain).collect(),
    }
}

/// Rows of a run in the making: kept, and sent while they come.
struct Rows<'s> {
    table: ResultTable,
    outbox: &'s Outbox,
    job: &'s str,
    /// The variables that are sent on the way.
    names: &'s [String],
    stream: bool,
    sent: usize,
    sent_at: Instant,
}

impl<'s> Rows<'s> {
    fn new(outbox: &'s Outbox, request: &'s RunRequest) -> Rows<'s> {
        Rows {
            table: ResultTable::default(),
            outbox,
            job: &request.job,
            names: &request.columns,
            stream: request.options.stream,
            sent: 0,
            sent_at: Instant::now(),
        }
    }

    fn send_new(&mut self) -> io::Result<()> {
        let mut names = Vec::new();
        let tail = |values: &'_ [f64]| self.sent.min(values.len());
        let time = self.table.time();
        let mut columns = vec![Column {
            values: &time[tail(time)..],
            negated: false,
        }];
        for name in self.names {
            if let Some(Source::Series { id, negated }) =
                self.table.variable(name).map(|v| v.source)
            {
                let values = self.table.series(id);
                names.push(name);
                columns.push(Column {
                    values: &values[tail(values)..],
                    negated,
                });
            }
        }
        let rows = time.len() - self.sent;
        let head = json!({ "event": "rows", "job": self.job, "names": names, "from": self.sent, "rows": rows });
        let sent = self.outbox.columns(&head, columns.into_iter());
        self.sent = self.table.n_rows();
        self.sent_at = Instant::now();
        sent.map_err(|_| io::Error::other("the page is gone"))
    }
}

impl RowSink for Rows<'_> {
    fn begin(&mut self, outline: &ResultTable, _: f64) -> io::Result<()> {
        self.table = outline.clone();
        Ok(())
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        let bytes = 8 * (self.table.n_rows() + 1) * (series.len() + 1);
        if bytes > RUN_BYTES_MAX {
            return Err(io::Error::other(
                "the result is larger than 1 GB, which the studio does not keep: take fewer intervals, or `saltus simulate` with a file",
            ));
        }
        (self.table.push_row(time, series)).map_err(io::Error::other)?;
        let looks = self.table.n_rows().is_multiple_of(ROWS_PER_LOOK);
        if self.stream && looks && self.sent_at.elapsed() >= STREAM_INTERVAL {
            self.send_new()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
