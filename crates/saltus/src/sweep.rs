//! Many runs of one model, on all cores.
//!
//! Comes in: a model, and the values that its parameters and start values take: axes of which all combinations are run, and lists of cases. Goes out: one row for each run, in the order of
//! the cases, with what was measured. Runs share the code of the model and its modes. Which thread makes which run changes no number.

use crate::error::Error;
use crate::experiment::Experiment;
use crate::model::Model;
use crate::run::Run;
use crate::value::Value;
use saltus_control::Control;
use saltus_results::{Side, Signal};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A sweep has at most so many runs.
const RUNS_MAX: usize = 10_000_000;

/// Deeply nested models are compiled recursively, and a case may need a compilation.
const STACK_BYTES: usize = 512 << 20;

/// A number that is taken from a finished run. All but [`Measure::At`] look at the rows of the result: both sides of each event, and the points of the grid
/// ([`Sweep::experiment`] sets it).
#[derive(Clone, PartialEq, Debug)]
pub enum Measure {
    /// The value of a variable at the end.
    Last(String),
    /// Its value after initialisation.
    First(String),
    Min(String),
    Max(String),
    /// The mean over time, by the trapezoidal rule.
    Mean(String),
    /// The value at a time, linear between rows, the right limit at an event.
    At(String, f64),
}

impl Measure {
    pub fn last(variable: impl Into<String>) -> Measure {
        Measure::Last(variable.into())
    }

    /// The variable that is measured.
    pub fn variable(&self) -> &str {
        match self {
            Measure::Last(name)
            | Measure::First(name)
            | Measure::Min(name)
            | Measure::Max(name)
            | Measure::Mean(name)
            | Measure::At(name, _) => name,
        }
    }

    /// The number; `None` if the run has none.
    pub fn of(&self, run: &Run) -> Option<f64> {
        let signal = run.table.signal(self.variable())?;
        let time = run.table.time();
        let values = || (0..time.len()).map(|row| signal.row(row));
        match self {
            Measure::Last(_) => signal.last(),
            Measure::First(_) => values().next(),
            Measure::Min(_) => values().reduce(f64::min),
            Measure::Max(_) => values().reduce(f64::max),
            Measure::Mean(_) => mean(time, &signal),
            Measure::At(_, at) => signal.at(*at, Side::Right),
        }
        .filter(|value| value.is_finite())
    }
}

/// `max(x)`, `min(x)`, `mean(x)`, `first(x)`, `last(x)`, `at(x, 0.5)`, or the name alone for its last value.
///
/// ```
/// use saltus::Measure;
///
/// assert_eq!("max(motor.w[2])".parse(), Ok(Measure::Max("motor.w[2]".into())));
/// assert_eq!("at(x, 0.5)".parse(), Ok(Measure::At("x".into(), 0.5)));
/// assert_eq!("der(x)".parse(), Ok(Measure::last("der(x)")));
/// assert!("median(x)".parse::<Measure>().is_err());
/// ```
impl std::str::FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Measure, String> {
        let text = text.trim();
        let call = (text.split_once('(')).and_then(|(f, rest)| Some((f, rest.strip_suffix(')')?)));
        let Some((function, inside)) = call else {
            return Ok(Measure::last(text));
        };
        let name = inside.trim().to_owned();
        Ok(match function.trim() {
            "last" | "final" => Measure::Last(name),
            "first" => Measure::First(name),
            "min" => Measure::Min(name),
            "max" => Measure::Max(name),
            "mean" => Measure::Mean(name),
            "at" => {
                let at = (inside.rsplit_once(','))
                    .and_then(|(name, time)| Some((name, time.trim().parse::<f64>().ok()?)));
                let Some((name, time)) = at else {
                    return Err(format!("`{text}`: a variable and a time are expected"));
                };
                Measure::At(name.trim().to_owned(), time)
            }
            // A variable.
            function if function == "der" || function.contains('.') => Measure::last(text),
            function => {
                return Err(format!(
                    "`{function}` is no measure; known are last, first, min, max, mean, at"
                ));
            }
        })
    }
}

/// `max(x)`, and the name alone for its last value: the heading of a column.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Last(name) => f.write_str(name),
            Measure::First(name) => write!(f, "first({name})"),
            Measure::Min(name) => write!(f, "min({name})"),
            Measure::Max(name) => write!(f, "max({name})"),
            Measure::Mean(name) => write!(f, "mean({name})"),
            Measure::At(name, time) => write!(f, "{name}@{time}"),
        }
    }
}

fn mean(time: &[f64], signal: &Signal<'_>) -> Option<f64> {
    let (first, last) = (time.first()?, time.last()?);
    if first == last {
        return signal.last();
    }
    let pieces = (1..time.len()).map(|k| {
        let both = signal.row(k - 1) + signal.row(k);
        0.5 * both * (time[k] - time[k - 1])
    });
    Some(pieces.sum::<f64>() / (last - first))
}

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
        for measure in &self.measures {
            self.model.find_variable(measure.variable())?;
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
            .map(|measure| measure.variable().to_owned())
            .collect();
        let mut experiment = (model.experiment())
            .only_named(names)
            .keep_events(false)
            .control(&self.control);
        // Nothing but the ends is looked at.
        let is_end = |measure: &Measure| matches!(measure, Measure::Last(_) | Measure::First(_));
        if self.measures.iter().all(is_end) {
            experiment = experiment.intervals(1);
        }
        match &self.prepare {
            Some(prepare) => prepare(experiment)?,
            None => experiment,
        }
        .simulate()
    }
}
