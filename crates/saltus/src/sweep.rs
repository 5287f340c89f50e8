//! Many runs of one model, on all cores.
//!
//! Comes in: a model, and the values that its parameters and start values take: axes of which all combinations are run, and lists of cases. Goes out: one row for each run, in the order of
//! the cases, with what was measured. Runs share the code of the model and its modes. Which thread makes which run changes no number.

use crate::error::Error;
use crate::experiment::Experiment;
use crate::measure::Measure;
use crate::model::Model;
use crate::run::Run;
use crate::value::Value;
use saltus_control::Control;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A sweep has at most so many runs.
const RUNS_MAX: usize = 10_000_000;

/// Deeply nested models are compiled recursively, and a case may need a compilation.
const STACK_BYTES: usize = 512 << 20;

/// One run of a [`Sweep`].
#[derive(Debug)]
pub struct SweepRun {
    /// Which of the cases, from 0.
    pub index: usize,
    /// What was set.
    pub settings: Vec<(String, Value)>,
    /// Why the run was not completed; what it had computed is measured nevertheless.
    pub error: Option<Error>,
    /// Time that was reached; `None` without initial values.
    pub time: Option<f64>,
    /// In the order of the measures; `None`: the run has no such number.
    pub measures: Vec<Option<f64>>,
}

impl SweepRun {
    /// `done`, or the code of the error.
    pub fn status(&self) -> &'static str {
        match &self.error {
            None => "done",
            Some(Error::Usage(_)) => "usage",
            Some(Error::Model(found) | Error::Run(found, _) | Error::Stopped(found)) => {
                found.error_codes().first().copied().unwrap_or("error")
            }
        }
    }
}

type Prepare<'m> = dyn for<'e> Fn(Experiment<'e>) -> Result<Experiment<'e>, Error> + Sync + 'm;
type Wanted<'m> = dyn Fn(usize) -> bool + Sync + 'm;
type Done<'m> = dyn Fn(&SweepRun) + Sync + 'm;
type Seen<'m> = dyn Fn(usize, &Run) + Sync + 'm;

/// Many runs of one model ([`Model::sweep`]).
///
/// ```
/// use saltus::Measure;
///
/// let mut session = saltus::Session::new();
/// session.set_text("Cooling.mo", "
///   model Cooling
///     parameter Real k = 1;
///     parameter Integer n = 1;
///     Real T[n](each start = 1, each fixed = true);
///   equation
///     der(T) = -k*T;
///   end Cooling;");
/// let model = session.compile("Cooling")?;
/// let runs = (model.sweep())
///     .grid("k", [0.5, 1.0, 2.0])
///     .grid("n", [1, 2])
///     .measure(Measure::last("T[1]"))
///     .measure(Measure::Mean("T[1]".into()))
///     .experiment(|experiment| Ok(experiment.stop_time(1.0).tolerance(1e-8)))
///     .run()?;
/// assert_eq!(runs.len(), 6, "all combinations; the last axis moves fastest");
/// assert_eq!(runs[3].settings, [("k".into(), 1.0.into()), ("n".into(), 2.into())]);
/// let last = runs[3].measures[0].unwrap_or(f64::NAN);
/// assert!((last - (-1.0f64).exp()).abs() < 1e-6);
/// # Ok::<(), saltus::Error>(())
/// ```
pub struct Sweep<'m> {
    model: &'m Model,
    axes: Vec<(String, Vec<Value>)>,
    cases: Option<Vec<Vec<(String, Value)>>>,
    measures: Vec<Measure>,
    jobs: Option<usize>,
    control: Control,
    prepare: Option<Box<Prepare<'m>>>,
    wanted: Option<Box<Wanted<'m>>>,
    done: Option<Box<Done<'m>>>,
    kept: Vec<String>,
    seen: Option<Box<Seen<'m>>>,
}

impl Model {
    /// Many runs of the model.
    pub fn sweep(&self) -> Sweep<'_> {
        Sweep {
            model: self,
            axes: Vec::new(),
            cases: None,
            measures: Vec::new(),
            jobs: None,
            control: Control::new(),
            prepare: None,
            wanted: None,
            done: None,
            kept: Vec::new(),
            seen: None,
        }
    }
}

impl<'m> Sweep<'m> {
    /// A parameter or start value takes each of these values, with each combination of the others; the axis given last moves fastest.
    pub fn grid<V: Into<Value>>(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.axes.push((name.into(), values));
        self
    }

    /// Each of these cases, with each combination of the axes.
    pub fn cases<N: Into<String>, C: IntoIterator<Item = (N, Value)>>(
        mut self,
        cases: impl IntoIterator<Item = C>,
    ) -> Self {
        let case = |case: C| case.into_iter().map(|(n, v)| (n.into(), v)).collect();
        let cases = cases.into_iter().map(case);
        self.cases.get_or_insert_default().extend(cases);
        self
    }

    /// One more number that is taken from each run.
    pub fn measure(mut self, measure: Measure) -> Self {
        self.measures.push(measure);
        self
    }

    /// What every run has beside its values: times, tolerance, solver, inputs.
    pub fn experiment(
        mut self,
        prepare: impl for<'e> Fn(Experiment<'e>) -> Result<Experiment<'e>, Error> + Sync + 'm,
    ) -> Self {
        self.prepare = Some(Box::new(prepare));
        self
    }

    /// Runs at the same time; without it one on each core.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = Some(jobs);
        self
    }

    /// Ends the sweep: runs that are under way end, and no other begins.
    pub fn control(mut self, control: &Control) -> Self {
        self.control = control.clone();
        self
    }

    /// Only runs whose number is wanted are made: those that an earlier sweep has not made, or one share of several machines.
    pub fn only(mut self, wanted: impl Fn(usize) -> bool + Sync + 'm) -> Self {
        self.wanted = Some(Box::new(wanted));
        self
    }

    /// Called for each run when it is done, by the thread that has made it, in no order.
    pub fn on_done(mut self, done: impl Fn(&SweepRun) + Sync + 'm) -> Self {
        self.done = Some(Box::new(done));
        self
    }

    /// Trajectories of these variables are kept, and shown to `seen` with the number of the run when it is done, by the thread that has made it.
    pub fn trajectories(
        mut self,
        names: Vec<String>,
        seen: impl Fn(usize, &Run) + Sync + 'm,
    ) -> Self {
        self.kept = names;
        self.seen = Some(Box::new(seen));
        self
    }

    /// How many runs there are, wanted or not.
    pub fn n_runs(&self) -> Result<usize, Error> {
        let n_cases = self.cases.as_ref().map_or(1, Vec::len);
        (self.axes.iter())
            .try_fold(n_cases, |n, (_, values)| n.checked_mul(values.len()))
            .filter(|n| *n <= RUNS_MAX)
            .ok_or_else(|| Error::Usage(format!("more than {RUNS_MAX} runs")))
    }

    /// What is set in a run.
    pub fn settings_of(&self, index: usize) -> Vec<(String, Value)> {
        let mut rest = index;
        let mut settings: Vec<(String, Value)> = Vec::new();
        for (name, values) in self.axes.iter().rev() {
            settings.push((name.clone(), values[rest % values.len()].clone()));
            rest /= values.len();
        }
        if let Some(cases) = &self.cases {
            settings.extend(cases[rest].iter().rev().cloned());
        }
        settings.reverse();
        settings
    }

    /// Makes the runs. A run that fails is a row with its error; names that the model does not have end the sweep before the first. The runs are in the order of
    /// their numbers; after the control has ended the sweep, those are missing that were not completed.
    pub fn run(self) -> Result<Vec<SweepRun>, Error> {
        let n = self.n_runs()?;
        let measured = self.measures.iter().filter_map(Measure::variable);
        for name in measured.chain(self.kept.iter().map(String::as_str)) {
            self.model.find_variable(name)?;
        }
        let next = AtomicUsize::new(0);
        let rows = Mutex::new(Vec::new());
        let work = || {
            while self.control.stop().is_none() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= n {
                    break;
                }
                if self.wanted.as_ref().is_some_and(|wanted| !wanted(index)) {
                    continue;
                }
                let row = self.one(index);
                if self.control.stop().is_some() {
                    break;
                }
                if let Some(done) = &self.done {
                    done(&row);
                }
                (rows.lock().unwrap_or_else(PoisonError::into_inner)).push(row);
            }
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.unwrap_or_else(cores).clamp(1, n.max(1));
        let started: Result<(), std::io::Error> = std::thread::scope(|scope| {
            for _ in 0..jobs {
                let worker = std::thread::Builder::new().stack_size(STACK_BYTES);
                worker.spawn_scoped(scope, work)?;
            }
            Ok(())
        });
        started.map_err(|error| Error::Usage(format!("no thread could be started: {error}")))?;
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.sort_unstable_by_key(|row: &SweepRun| row.index);
        Ok(rows)
    }

    fn one(&self, index: usize) -> SweepRun {
        let settings = self.settings_of(index);
        let (run, error) = match self.simulate(&settings) {
            Ok(run) => (Some(run), None),
            Err(Error::Run(why, run)) => (Some(*run), Some(Error::Stopped(why))),
            Err(error) => (None, Some(error)),
        };
        let reached = run.as_ref().filter(|run| run.initialised);
        if let (Some(seen), Some(run)) = (&self.seen, reached) {
            seen(index, run);
        }
        SweepRun {
            index,
            settings,
            time: reached.map(|run| run.time_reached),
            measures: (self.measures.iter())
                .map(|measure| measure.of(run.as_ref()?))
                .collect(),
            error,
        }
    }

    fn simulate(&self, settings: &[(String, Value)]) -> Result<Run, Error> {
        let model =
            crate::session::under(&self.control, || self.model.with(settings.iter().cloned()))?;
        let names: Vec<String> = (self.measures.iter())
            .filter_map(Measure::variable)
            .map(str::to_owned)
            .chain(self.kept.iter().cloned())
            .collect();
        let mut experiment = (model.experiment())
            .only_named(names)
            .keep_events(false)
            .control(&self.control);
        // Nothing but the ends is looked at.
        if self.kept.is_empty() && self.measures.iter().all(Measure::is_of_ends) {
            experiment = experiment.intervals(1);
        }
        match &self.prepare {
            Some(prepare) => prepare(experiment)?,
            None => experiment,
        }
        .simulate()
    }
}
