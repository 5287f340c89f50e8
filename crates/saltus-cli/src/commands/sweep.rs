//! `saltus sweep`: many runs of one model into one table.

mod cases;
mod merge;
mod table;
mod trajectories;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use saltus::journal::{Fingerprint, Fingerprints, Journal, ProgramMark};
use saltus::{Error, Input, Measure, Model, ReadLog, Sweep, SweepRun};
use saltus_results::{Selection, ValueType, VariableKind, write_parquet_columns};
use serde::{Deserialize, Serialize};

use crate::args::{NamedMeasure, Shard, SweepArgs};
use crate::exit::{Exit, Failure, Outcome, message};
use crate::given::{self, Prepared};
use crate::outputs::Outputs;
use crate::progress::ProgressLine;
use crate::{engine, files, interrupt};
use table::{csv, table};
use trajectories::Trajectories;

/// The word in place of a model that puts tables together.
const MERGE: &str = "merge";

/// All combinations of the values, one row each: the values, how the run ended, and what was measured.
pub(crate) fn sweep(args: SweepArgs) -> Outcome {
    if args.target.target == MERGE {
        return merge::merge(&args);
    }
    check_arguments(&args)?;
    let log = ReadLog::default();
    let (mut session, class) = engine::open_logged(&args.target, &log)?;
    engine::permit(&mut session, &args.access)?;
    let Prepared {
        model: base,
        inputs,
    } = given::prepare(&mut session, &args.target, &class, &args.given, &[])?;
    let measures = measures(&base, &args)?;
    let cases = cases::cases(&base, &args)?;
    table::check_columns(&cases.names, &measures)?;
    let output = (args.output.clone()).unwrap_or_else(|| default_output(&class, args.shard));
    if (output.extension()).is_none_or(|e| e != "csv" && e != "parquet") {
        return Err(Failure::command_line(format!(
            "`{}`: the table of a sweep ends with .csv or .parquet",
            output.display()
        )));
    }
    files::check_writable(&output)?;
    let curves = match &args.trajectories {
        Some(path) => Some(Trajectories::new(path, moving(&base, &args.variables)?)?),
        None => None,
    };
    let sweep = prepared(&base, &args, &inputs, &cases, &measures);
    let n = sweep.n_runs().map_err(engine::failure)?;

    let journal_path = Journal::beside(&output);
    let mut outputs = Outputs::default();
    outputs.add("--output", [&output, &journal_path]);
    outputs.add(
        "--trajectories",
        args.trajectories
            .iter()
            .filter(|path| path.extension().is_some()),
    );
    outputs.check_distinct()?;
    let mut read = log.all();
    read.extend(args.cases.iter().cloned());
    outputs.check_not_read(&read)?;
    if args.fresh || curves.is_some() {
        // One that is not there need not be removed.
        let _ = std::fs::remove_file(&journal_path);
    }
    let conditions = Conditions::new(&args, &class);
    let mut fingerprints = Fingerprints::default();
    let mut all_hold = true;
    let (journal, before) = Journal::open(&journal_path, &conditions, |row: &Row| {
        // The files of one row are those of all: where one has changed, no row after it counts.
        all_hold = all_hold && fingerprints.agree(&row.files);
        all_hold
    })
    .map_err(Failure::command_line)?;
    let mut rows: Vec<Option<Row>> = vec![None; n];
    for row in before {
        let index = row.run;
        if index < n {
            rows[index] = Some(row);
        }
    }
    let is_ours = |run: usize| {
        args.shard
            .is_none_or(|shard| run % shard.of == shard.number - 1)
    };
    let n_ours = (0..n).filter(|run| is_ours(*run)).count();
    let resumed = rows.iter().flatten().count();
    let made: Vec<bool> = rows.iter().map(Option::is_some).collect();
    let state = Mutex::new(State {
        rows,
        journal,
        fingerprints: Fingerprints::default(),
        log: log.clone(),
        done: resumed,
        failure: None,
    });
    let line = ProgressLine::new(!args.quiet);
    interrupt::listen();
    let control = interrupt::control();
    let mut sweep = sweep
        .control(&control)
        .only(|run| is_ours(run) && !made[run])
        .on_done(|run| {
            let (done, goes_on) = finish(&state, run);
            line.show(&format!("{done} of {n_ours} runs"));
            if !goes_on {
                control.cancel();
            }
        });
    if let Some(curves) = &curves {
        sweep = sweep.trajectories(curves.names().to_vec(), |run, done| {
            if !curves.add(run, done) {
                control.cancel();
            }
        });
    }
    let ran = sweep.run();
    drop(line);
    let state = state.into_inner().expect("no worker panics");
    if let Some(failure) = state.failure {
        return Err(failure);
    }
    ran.map_err(engine::failure)?;
    if let Some(curves) = curves {
        curves.finish()?;
    }
    let done: Vec<Row> = state.rows.into_iter().flatten().collect();
    if done.len() < n_ours {
        message(&format!(
            "interrupted after {} of {n_ours} runs; the same command goes on from there",
            done.len()
        ));
        return Ok(Exit::Incomplete);
    }
    write_table(&output, &table(&cases, &measures, &done))?;
    // The table has it all.
    let _ = std::fs::remove_file(&journal_path);
    let failed = done.iter().filter(|row| row.status != DONE).count();
    if !args.quiet {
        let before = match resumed {
            0 => String::new(),
            k => format!(", {k} of them before"),
        };
        message(&format!(
            "{class}: {n_ours} runs{before}, {failed} not completed; {}",
            output.display()
        ));
    }
    Ok(if failed == 0 {
        Exit::Done
    } else {
        Exit::Incomplete
    })
}

fn check_arguments(args: &SweepArgs) -> Result<(), Failure> {
    if !args.parts.is_empty() {
        return Err(Failure::command_line(
            "a sweep has one model; `saltus sweep merge` takes the tables of its shares",
        ));
    }
    if args.axes.is_empty() && args.cases.is_none() {
        return Err(Failure::command_line(
            "a sweep needs `--set path=first:last:count`, a list of values, or `--cases FILE.csv`",
        ));
    }
    Ok(())
}

fn default_output(class: &str, shard: Option<Shard>) -> PathBuf {
    let stem = engine::file_stem(class);
    PathBuf::from(match shard {
        None => format!("{stem}_sweep.csv"),
        Some(Shard { number, of }) => format!("{stem}_sweep_{number}-of-{of}.csv"),
    })
}

fn write_table(
    output: &Path,
    table: &[(String, saltus_results::ParquetColumn)],
) -> Result<(), Failure> {
    files::write_file(output, |mut out| {
        if output.extension().is_some_and(|e| e == "parquet") {
            write_parquet_columns(table, &mut out)
        } else {
            out.write_all(csv(table).as_bytes())
        }
    })
}

/// The status of a run that was completed.
const DONE: &str = "done";

/// A run that was made.
#[derive(Clone, Serialize, Deserialize)]
struct Row {
    run: usize,
    /// `done`, or the code of the error.
    status: String,
    /// What the error says; empty if there is none.
    #[serde(default)]
    reason: String,
    /// Time that was reached.
    time: Option<f64>,
    /// Measures; `None` is no number.
    last: Vec<Option<f64>>,
    /// Files that were read for this row and for none before.
    files: Vec<Fingerprint>,
}

/// What the rows depend on besides the files that are read.
#[derive(PartialEq, Serialize, Deserialize)]
struct Conditions {
    program: ProgramMark,
    class: String,
    /// Where names of files begin.
    folder: PathBuf,
    modelicapath: Option<String>,
    settings: String,
}

impl Conditions {
    fn new(args: &SweepArgs, class: &str) -> Conditions {
        let program = std::env::current_exe().unwrap_or_default();
        // Every option is named here: whoever adds one decides whether rows depend on it.
        let SweepArgs {
            target,
            access,
            given,
            axes,
            cases,
            samples,
            sampling,
            seed,
            measures,
            intervals,
            start_time,
            stop_time,
            tolerance,
            solver,
            variables,
            max_wall,
            shard,
            parts: _,
            trajectories: _,
            output: _,
            jobs: _,
            fresh: _,
            quiet: _,
        } = args;
        let text_of = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let cases = cases.as_ref().map(text_of);
        let set_files: Vec<String> = given.settings_files.iter().map(text_of).collect();
        let drawn = (samples, sampling, seed);
        Conditions {
            program: ProgramMark::of(&program),
            class: class.to_owned(),
            folder: std::env::current_dir().unwrap_or_default(),
            modelicapath: std::env::var_os("MODELICAPATH")
                .map(|path| path.to_string_lossy().into_owned()),
            settings: format!(
                "{target:?} {access:?} {given:?} {set_files:?} {axes:?} {cases:?} {drawn:?} {measures:?} {intervals:?} {start_time:?} {stop_time:?} {tolerance:?} {solver:?} {variables:?} {max_wall:?} {shard:?}"
            ),
        }
    }
}

struct State {
    rows: Vec<Option<Row>>,
    journal: Journal,
    fingerprints: Fingerprints,
    log: ReadLog,
    done: usize,
    failure: Option<Failure>,
}

/// The runs that the command line asks for.
fn prepared<'m>(
    base: &'m Model,
    args: &'m SweepArgs,
    inputs: &'m [(String, Input)],
    cases: &cases::Cases,
    measures: &[NamedMeasure],
) -> Sweep<'m> {
    let mut sweep = cases.given_to(base.sweep());
    for NamedMeasure { measure, .. } in measures {
        sweep = sweep.measure(measure.clone());
    }
    if let Some(jobs) = args.jobs {
        sweep = sweep.jobs(jobs);
    }
    sweep.experiment(|experiment| {
        let mut experiment = given::with_inputs(experiment, inputs);
        if let Some(time) = args.start_time {
            experiment = experiment.start_time(time);
        }
        if let Some(time) = args.stop_time {
            experiment = experiment.stop_time(time);
        }
        if let Some(tolerance) = args.tolerance {
            experiment = experiment.tolerance(tolerance);
        }
        if let Some(count) = args.intervals {
            experiment = experiment.intervals(count);
        }
        if let Some(name) = &args.solver {
            experiment = experiment.solver(name)?;
        }
        if let Some(seconds) = args.max_wall {
            experiment = experiment.max_wall(seconds);
        }
        Ok(experiment)
    })
}

/// Notes a run; returns how many there are, and whether the sweep goes on.
fn finish(state: &Mutex<State>, run: &SweepRun) -> (usize, bool) {
    let mut state = state.lock().expect("no worker panics");
    match noted(&mut state, run) {
        Ok(row) => {
            state.rows[run.index] = Some(row);
            state.done += 1;
        }
        Err(failure) => {
            state.failure.get_or_insert(failure);
        }
    }
    (state.done, state.failure.is_none())
}

fn noted(state: &mut State, run: &SweepRun) -> Result<Row, Failure> {
    let new = state.log.take_new();
    let files = new.iter().map(|path| state.fingerprints.of(path)).collect();
    let row = Row {
        run: run.index,
        status: run.status().to_owned(),
        reason: run.error.as_ref().map_or_else(String::new, reason),
        time: run.time,
        last: run.measures.clone(),
        files,
    };
    state.journal.add(&row).map_err(Failure::command_line)?;
    Ok(row)
}

/// The first sentence of an error.
fn reason(error: &Error) -> String {
    match error {
        Error::Usage(text) => text.clone(),
        Error::Model(found) | Error::Run(found, _) | Error::Stopped(found) => {
            let first = found.list.iter().find(|d| d.is_error());
            first.map_or_else(String::new, |d| d.message.clone())
        }
    }
}

/// What is measured: what was named, and the last values of the variables that were chosen, or of all that move.
fn measures(base: &Model, args: &SweepArgs) -> Result<Vec<NamedMeasure>, Failure> {
    let mut measures = args.measures.clone();
    for NamedMeasure { measure, .. } in &measures {
        if let Some(name) = measure.variable() {
            base.find_variable(name)
                .map_err(|e| Failure::command_line(format!("--measure: {e}")))?;
        }
    }
    let is_default = measures.is_empty();
    if is_default || !args.variables.is_empty() && args.trajectories.is_none() {
        let names = moving(base, &args.variables)?;
        let set: Vec<&str> = args.axes.iter().map(|axis| axis.path.as_str()).collect();
        measures.extend(names.into_iter().map(|name| NamedMeasure {
            name: match set.contains(&name.as_str()) {
                // The column of what was set has the name.
                true => format!("final({name})"),
                false => name.clone(),
            },
            measure: Measure::last(name),
        }));
    }
    Ok(measures)
}

/// The variables that were chosen, else all that move.
fn moving(compiled: &Model, patterns: &[String]) -> Result<Vec<String>, Failure> {
    compiled
        .check_patterns(patterns)
        .map_err(|e| Failure::command_line(format!("--variables: {e}")))?;
    let selection = Selection::from_patterns(patterns);
    let moves = |kind| matches!(kind, VariableKind::Discrete | VariableKind::Continuous);
    let names: Vec<String> = (compiled.info().variables.iter())
        .filter(|v| v.ty != ValueType::String)
        .filter(|v| !patterns.is_empty() || moves(v.kind))
        .filter(|v| selection.selects(&v.name, v.hidden))
        .map(|v| v.name.clone())
        .collect();
    match names.is_empty() {
        true => Err(Failure::command_line(
            "--variables: no variable of the model moves: name those that are to be columns",
        )),
        false => Ok(names),
    }
}
