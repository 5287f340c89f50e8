//! What leaves a run while it goes on: rows and events to files, progress to whoever watches.

use saltus_model::ModelInfo;
use saltus_results::Selection;
use saltus_results::{EventRecord, RowSink, Streamer, write_event};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Rows wait at most this long before they can be read.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Progress is told this often.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// Between two looks at the clock are at most so many steps, and twice as many as before only where the last ones took less than this time.
const STEPS_BETWEEN_LOOKS_MAX: u32 = 64;
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    pub time: f64,
    pub start_time: f64,
    pub stop_time: f64,
    pub steps: u64,
    pub events: u64,
    /// Wall-clock seconds since the run began.
    pub seconds: f64,
}

/// Receives the progress of a run.
pub type ProgressObserver<'m> = &'m (dyn Fn(&Progress) + Sync);

/// Where a run goes while it is made, beside memory.
#[derive(Default)]
pub(crate) struct Outlets<'m> {
    pub(crate) rows: Option<&'m mut (dyn RowSink + Send)>,
    pub(crate) events: Option<&'m mut (dyn Write + Send)>,
    pub(crate) observer: Option<ProgressObserver<'m>>,
}

/// Files and observers of one run.
pub(crate) struct Output<'m> {
    rows: Option<Streamer<'m>>,
    events: Option<&'m mut (dyn Write + Send)>,
    observer: Option<ProgressObserver<'m>>,
    begin: Instant,
    flushed: Instant,
    told: Instant,
    looked: Instant,
    /// Steps between two looks at the clock, and until the next one.
    steps_between: u32,
    steps_left: u32,
    progress: Progress,
    /// Why nothing more could be written.
    pub(crate) failure: Option<io::Error>,
}

impl<'m> Output<'m> {
    pub(crate) fn new(
        info: &ModelInfo,
        selection: &Selection,
        outlets: Outlets<'m>,
        span: (f64, f64),
    ) -> Output<'m> {
        let now = Instant::now();
        Output {
            rows: (outlets.rows).map(|sink| Streamer::new(info, selection, sink)),
            events: outlets.events,
            observer: outlets.observer,
            begin: now,
            flushed: now,
            told: now,
            looked: now,
            steps_between: 1,
            steps_left: 0,
            progress: Progress {
                time: span.0,
                start_time: span.0,
                stop_time: span.1,
                steps: 0,
                events: 0,
                seconds: 0.0,
            },
            failure: None,
        }
    }

    pub(crate) fn wants_events(&self) -> bool {
        self.events.is_some()
    }

    pub(crate) fn row(&mut self, values: &[f64], after_event: bool) {
        self.progress.events += u64::from(after_event);
        if let Some(rows) = &mut self.rows
            && self.failure.is_none()
        {
            self.failure = rows.record(values).err();
        }
    }

    pub(crate) fn event(&mut self, event: &EventRecord) {
        if let Some(out) = &mut self.events
            && self.failure.is_none()
        {
            self.failure = write_event(event, out).err();
        }
    }

    /// A step was accepted: what is due is written and told.
    pub(crate) fn step(&mut self, time: f64) {
        self.progress.steps += 1;
        self.progress.time = time;
        if self.rows.is_none() && self.events.is_none() && self.observer.is_none() {
            return;
        }
        if self.steps_left > 0 {
            self.steps_left -= 1;
            return;
        }
        let now = Instant::now();
        let is_short = now - self.looked < LOOK_INTERVAL;
        self.steps_between = match is_short {
            true => (2 * self.steps_between).min(STEPS_BETWEEN_LOOKS_MAX),
            false => 1,
        };
        self.steps_left = self.steps_between - 1;
        self.looked = now;
        if now - self.flushed >= FLUSH_INTERVAL {
            self.flushed = now;
            self.flush();
        }
        if let Some(observer) = self.observer
            && now - self.told >= PROGRESS_INTERVAL
        {
            self.told = now;
            self.progress.seconds = (now - self.begin).as_secs_f64();
            observer(&self.progress);
        }
    }

    fn flush(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let rows = self.rows.as_mut().map_or(Ok(()), Streamer::flush);
        let events = self.events.as_mut().map_or(Ok(()), |out| out.flush());
        self.failure = rows.and(events).err();
    }

    /// Ends the files; the reason if one of them is not complete.
    pub(crate) fn finish(mut self) -> Option<NotWritten> {
        let rows = self.rows.as_mut().map_or(Ok(()), Streamer::finish);
        let events = self.events.as_mut().map_or(Ok(()), |out| out.flush());
        let error = self.failure.or(rows.and(events).err())?;
        Some(NotWritten {
            error,
            rows_until: self.rows.and_then(|rows| rows.time_written()),
        })
    }
}

/// Why files of a run are not complete.
pub(crate) struct NotWritten {
    pub(crate) error: io::Error,
    /// The time of the last row that is in the result, if there is a row.
    pub(crate) rows_until: Option<f64>,
}
