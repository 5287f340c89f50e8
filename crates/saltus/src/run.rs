//! Finished runs.

use crate::error::{Diagnostics, Error};
use crate::file::{self, Kind};
use crate::replace::replace_file;
use saltus_results::{
    EventRecord, ReadError, ResultTable, Side, Statistics, read_events, write_csv, write_events,
    write_mat, write_parquet,
};
use saltus_sim::{CreepRecord, StepRecord};
use saltus_syntax::{Diagnostic, Severity};
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Write as _};
use std::path::Path;
use std::sync::Arc;

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
    /// A run that somebody else has made, of which the rows are known.
    pub fn of_table(model: &str, table: ResultTable) -> Run {
        let time = |t: Option<&f64>| t.copied().unwrap_or_default();
        let (time_start, time_reached) = (time(table.time().first()), time(table.time().last()));
        Run {
            table,
            event_log: Vec::new(),
            statistics: Statistics {
                model: model.to_owned(),
                ..Statistics::default()
            },
            warnings: Diagnostics {
                list: Vec::new(),
                sources: Arc::default(),
            },
            time_start,
            time_reached,
            terminated: None,
            initialised: true,
            steps: Vec::new(),
            creeping: Vec::new(),
        }
    }

    /// The last value of a variable.
    pub fn last(&self, name: &str) -> Result<f64, Error> {
        self.signal(name)?
            .last()
            .ok_or_else(|| Error::Usage("the result has no rows".to_owned()))
    }

    /// A variable at a time inside the run, right limit at events, linear between rows.
    pub fn at(&self, name: &str, time: f64) -> Result<f64, Error> {
        self.at_side(name, time, Side::Right)
    }

    /// The same, with the limit that is wanted at events.
    pub fn at_side(&self, name: &str, time: f64, side: Side) -> Result<f64, Error> {
        let value = self.signal(name)?.at(time, side);
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

    /// Writes the rows to a file, whose name ends with `.mat`, `.csv` or `.parquet`. An earlier file stays until the new one is complete.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let ending = path.extension().map(|e| e.to_ascii_lowercase());
        let content = |out: &mut BufWriter<File>| match ending.as_ref().and_then(|e| e.to_str()) {
            Some("mat") => write_mat(&self.table, out),
            Some("csv") => write_csv(&self.table, out),
            Some("parquet") => {
                let mut bytes = Cursor::new(Vec::new());
                write_parquet(&self.table, &mut bytes)?;
                out.write_all(bytes.get_ref())
            }
            _ => Err(io::Error::other(
                "the name of a result ends with .mat, .csv or .parquet",
            )),
        };
        replace_file(path, content)
            .map_err(|error| Error::Usage(format!("`{}`: {error}", path.display())))
    }

    /// The run as bytes: rows, events, statistics, and the messages without the lines of the source that they quote. Steps and creeping are not part of them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut events = Vec::new();
        let written = write_events(&self.event_log, &mut events);
        debug_assert!(written.is_ok(), "writing to memory");
        let messages: Vec<(bool, String)> = (self.warnings.list.iter())
            .map(|d| (d.severity == Severity::Note, self.warnings.render(d)))
            .collect();
        let times = (self.time_start, self.time_reached);
        let ends = (&self.terminated, self.initialised);
        let statistics = self.statistics.to_json();
        let content = (&self.table, events, statistics, messages, times, ends);
        file::write(Kind::Run, &content)
    }

    /// The run that [`Run::to_bytes`] has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Run, Error> {
        type Content = (
            ResultTable,
            Vec<u8>,
            String,
            Vec<(bool, String)>,
            (f64, f64),
            (Option<String>, bool),
        );
        let content: Content = file::read(Kind::Run, bytes)?;
        let (table, events, statistics, messages, times, (terminated, initialised)) = content;
        let refused = |error: ReadError| Error::Usage(format!("the bytes are no run: {error}"));
        let list = messages.into_iter().map(|(is_note, text)| {
            let mut d = Diagnostic::placeless("model-message", text);
            d.severity = if is_note {
                Severity::Note
            } else {
                Severity::Warning
            };
            d
        });
        Ok(Run {
            table,
            event_log: read_events(&String::from_utf8_lossy(&events)).map_err(refused)?,
            statistics: Statistics::from_json(&statistics).map_err(refused)?,
            warnings: Diagnostics {
                list: list.collect(),
                sources: Arc::default(),
            },
            time_start: times.0,
            time_reached: times.1,
            terminated,
            initialised,
            steps: Vec::new(),
            creeping: Vec::new(),
        })
    }

    pub fn events(&self) -> &[EventRecord] {
        &self.event_log
    }
}
