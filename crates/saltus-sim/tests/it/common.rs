//! Running a hand-written model and keeping everything it hands out.

use saltus_model::{Model, Site, Slot, Values};
use saltus_sim::{
    Control, EventKind, EventRecord, NoteRecord, Options, OutputGrid, Recorder, RowKind,
    RunFailure, RunSummary, SolverName, simulate,
};

/// What the errors of the steps may add up to at the end, in tolerances·(|x| + nominal), where they are neither kept for long nor amplified: the
/// number that all methods keep on the standard stiff set (docs/solvers.md).
pub(crate) const STEPS_ADD_UP: f64 = 10.0;
/// Round-off of a time near 1 that a few operations leave.
pub(crate) const TIME_ROUND_OFF: f64 = 4.0 * f64::EPSILON;

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) rows: Vec<(RowKind, Vec<f64>)>,
    pub(crate) events: Vec<EventRecord>,
    pub(crate) notes: Vec<NoteRecord>,
    pub(crate) messages: Vec<(f64, Site, String)>,
}

impl Recorder for Memory {
    fn row(&mut self, values: &Values, kind: RowKind) {
        self.rows.push((kind, values.v.clone()));
    }

    fn event(&mut self, event: &EventRecord) {
        self.events.push(event.clone());
    }

    fn message(&mut self, time: f64, site: Site, text: &str) {
        self.messages.push((time, site, text.to_owned()));
    }

    fn note(&mut self, note: &NoteRecord) {
        self.notes.push(note.clone());
    }
}

impl Memory {
    pub(crate) fn times(&self, kind: EventKind) -> Vec<f64> {
        self.events
            .iter()
            .filter(|event| event.kind == kind)
            .map(|event| event.time)
            .collect()
    }

    pub(crate) fn last(&self, slot: Slot) -> f64 {
        self.rows.last().expect("a run has rows").1[slot.index()]
    }

    /// Value in the row of the given kind at a time.
    pub(crate) fn at(&self, t: f64, slot: Slot) -> f64 {
        let near = |row: &&(RowKind, Vec<f64>)| (row.1[0] - t).abs() < 1e-12;
        self.rows.iter().rfind(near).expect("a row at that time").1[slot.index()]
    }
}

pub(crate) fn options(stop: f64, tolerance: f64, solver: SolverName) -> Options {
    Options {
        stop_time: stop,
        tolerance,
        solver,
        output: OutputGrid::Intervals(100),
        ..Options::default()
    }
}

pub(crate) fn try_run<M: Model>(
    model: &M,
    options: &Options,
) -> (Result<RunSummary, RunFailure>, Memory) {
    let mut memory = Memory::default();
    let result = simulate(
        &mut model.instantiate(),
        options,
        &Control::default(),
        &mut memory,
    );
    (result, memory)
}

pub(crate) fn run<M: Model>(model: &M, options: &Options) -> (RunSummary, Memory) {
    let (result, memory) = try_run(model, options);
    (
        result.unwrap_or_else(|failure| panic!("{:?}", failure.error)),
        memory,
    )
}

pub(crate) fn assert_times(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(
        found.len(),
        expected.len(),
        "found {found:?}\nexpected {expected:?}"
    );
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance,
            "event {}: {found} instead of {expected}",
            i + 1
        );
    }
}
