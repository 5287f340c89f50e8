use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use saltus::journal::{Fingerprint, Fingerprints, Journal, ProgramMark};
use saltus::{Error, Measure, Model, ReadLog, Sweep, SweepRun};
use saltus_results::{
    ParquetColumn, Selection, ValueType, VariableKind, push_csv_name, push_csv_number,
    write_parquet_columns,
};
use serde::{Deserialize, Serialize};

use crate::args::{Axis, SweepArgs};
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message};
use crate::outputs::Outputs;
use crate::progress::ProgressLine;
use crate::{files, interrupt};

/// `saltus sweep`: all combinations of the values, one row each: the values, how the run ended, and the last value of each variable.
pub(crate) fn sweep(args: SweepArgs) -> Outcome {
    let log = ReadLog::default();
    let (mut session, class) = engine::open_logged(&args.target, &log)?;
    engine::permit(&mut session, &args.access)?;
    let base = engine::compile(&session, &args.target, &class)?;
    for axis in &args.axes {
        base.find_variable(&axis.path)
            .map_err(|e| Failure::command_line(format!("--set: {e}")))?;
    }
    let columns = columns(&base, &args.variables)?;
    let sweep = prepared(&base, &args, &columns)?;
    let n = sweep.n_runs().map_err(engine::failure)?;
    let output = (args.output.clone())
        .unwrap_or_else(|| PathBuf::from(format!("{}_sweep.csv", engine::file_stem(&class))));
    if (output.extension()).is_none_or(|e| e != "csv" && e != "parquet") {
        return Err(Failure::command_line(format!(
            "`{}`: the table of a sweep ends with .csv or .parquet",
            output.display()
        )));
    }
    files::check_writable(&output)?;

    let journal_path = Journal::beside(&output);
    let mut outputs = Outputs::default();
    outputs.add("--output", [&output, &journal_path]);
    outputs.check_not_read(&log.all())?;
    if args.fresh {
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
    let ran = sweep
        .control(&control)
        .only(|run| !made[run])
        .on_done(|run| {
            let (done, goes_on) = finish(&state, run);
            line.show(&format!("{done} of {n} runs"));
            if !goes_on {
                control.cancel();
            }
        })
        .run();
    drop(line);
    let state = state.into_inner().expect("no worker panics");
    if let Some(failure) = state.failure {
        return Err(failure);
    }
    ran.map_err(engine::failure)?;
    let done: Vec<Row> = state.rows.into_iter().flatten().collect();
    if done.len() < n {
        message(&format!(
            "interrupted after {} of {n} runs; the same command goes on from there",
            done.len()
        ));
        return Ok(Exit::Incomplete);
    }
    let table = table(&args.axes, &columns, &done);
    files::write_file(&output, |mut out| {
        if output.extension().is_some_and(|e| e == "parquet") {
            write_parquet_columns(&table, &mut out)
        } else {
            out.write_all(csv(&table).as_bytes())
        }
    })?;
    // The table has it all.
    let _ = std::fs::remove_file(&journal_path);
    let failed = done.iter().filter(|row| row.status != DONE).count();
    if !args.quiet {
        let before = match resumed {
            0 => String::new(),
            k => format!(", {k} of them before"),
        };
        message(&format!(
            "{class}: {n} runs{before}, {failed} not completed; {}",
            output.display()
        ));
    }
    Ok(if failed == 0 {
        Exit::Done
    } else {
        Exit::Incomplete
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
    /// Time that was reached.
    time: Option<f64>,
    /// Last values; `None` is no number.
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
            axes,
            start_time,
            stop_time,
            tolerance,
            solver,
            variables,
            max_wall,
            output: _,
            jobs: _,
            fresh: _,
            quiet: _,
        } = args;
        Conditions {
            program: ProgramMark::of(&program),
            class: class.to_owned(),
            folder: std::env::current_dir().unwrap_or_default(),
            modelicapath: std::env::var_os("MODELICAPATH")
                .map(|path| path.to_string_lossy().into_owned()),
            settings: format!(
                "{target:?} {access:?} {axes:?} {start_time:?} {stop_time:?} {tolerance:?} {solver:?} {variables:?} {max_wall:?}"
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
    columns: &[String],
) -> Result<Sweep<'m>, Failure> {
    let mut sweep = base.sweep();
    for Axis { path, values } in &args.axes {
        let values: Result<Vec<_>, Error> = (values.iter())
            .map(|&value| base.value_of_number(path, value))
            .collect();
        sweep = sweep.grid(path, values.map_err(engine::setting_failure)?);
    }
    for name in columns {
        sweep = sweep.measure(Measure::last(name));
    }
    if let Some(jobs) = args.jobs {
        sweep = sweep.jobs(jobs);
    }
    Ok(sweep.experiment(|mut experiment| {
        if let Some(time) = args.start_time {
            experiment = experiment.start_time(time);
        }
        if let Some(time) = args.stop_time {
            experiment = experiment.stop_time(time);
        }
        if let Some(tolerance) = args.tolerance {
            experiment = experiment.tolerance(tolerance);
        }
        if let Some(name) = &args.solver {
            experiment = experiment.solver(name)?;
        }
        if let Some(seconds) = args.max_wall {
            experiment = experiment.max_wall(seconds);
        }
        Ok(experiment)
    }))
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
    match &run.error {
        // Values that the model does not take end the sweep; what happens in a run does not.
        Some(Error::Usage(text)) => {
            return Err(Failure::command_line(format!("--set: {text}")));
        }
        Some(Error::Model(found)) => {
            return Err(engine::failure(Error::Model(found.clone())));
        }
        Some(Error::Run(..) | Error::Stopped(_)) | None => {}
    }
    let new = state.log.take_new();
    let files = new.iter().map(|path| state.fingerprints.of(path)).collect();
    let row = Row {
        run: run.index,
        status: run.status().to_owned(),
        time: run.time,
        last: run.measures.clone(),
        files,
    };
    state.journal.add(&row).map_err(Failure::command_line)?;
    Ok(row)
}

/// The variables whose last values are columns: those that were chosen, else all that move.
fn columns(compiled: &Model, patterns: &[String]) -> Result<Vec<String>, Failure> {
    let selection = Selection::from_patterns(patterns);
    let moves = |kind| matches!(kind, VariableKind::Discrete | VariableKind::Continuous);
    let names: Vec<String> = (compiled.info().variables.iter())
        .filter(|v| v.ty != ValueType::String)
        .filter(|v| !patterns.is_empty() || moves(v.kind))
        .filter(|v| selection.selects(&v.name, v.hidden))
        .map(|v| v.name.clone())
        .collect();
    if names.is_empty() {
        return Err(Failure::command_line(
            "--variables: no variable of the model matches",
        ));
    }
    Ok(names)
}

/// Number of the run, values that were set, status, time that was reached, last values.
fn table(axes: &[Axis], columns: &[String], rows: &[Row]) -> Vec<(String, ParquetColumn)> {
    let numbers =
        |value: &dyn Fn(&Row) -> f64| ParquetColumn::Numbers(rows.iter().map(value).collect());
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let mut table = vec![("run".to_owned(), numbers(&|row| row.run as f64 + 1.0))];
    for (k, axis) in axes.iter().enumerate() {
        let set = numbers(&|row| values_of(axes, row.run)[k]);
        table.push((axis.path.clone(), set));
    }
    let status = rows.iter().map(|row| row.status.clone()).collect();
    table.push(("status".to_owned(), ParquetColumn::Texts(status)));
    table.push(("time".to_owned(), numbers(&|row| number(row.time))));
    for (k, name) in columns.iter().enumerate() {
        let last = numbers(&|row| number(row.last.get(k).copied().flatten()));
        table.push((name.clone(), last));
    }
    table
}

/// The numbers of a run; the last axis moves fastest.
fn values_of(axes: &[Axis], run: usize) -> Vec<f64> {
    let mut rest = run;
    let mut values: Vec<f64> = (axes.iter().rev())
        .map(|axis| {
            let n = axis.values.len();
            let value = axis.values[rest % n];
            rest /= n;
            value
        })
        .collect();
    values.reverse();
    values
}

fn csv(table: &[(String, ParquetColumn)]) -> String {
    let mut out = String::new();
    for (k, (name, _)) in table.iter().enumerate() {
        if k > 0 {
            out.push(',');
        }
        push_csv_name(&mut out, name);
    }
    out.push('\n');
    let n_rows = table.first().map_or(0, |(_, column)| column.len());
    for row in 0..n_rows {
        for (k, (_, column)) in table.iter().enumerate() {
            if k > 0 {
                out.push(',');
            }
            match column {
                ParquetColumn::Numbers(values) => push_csv_number(&mut out, values[row]),
                ParquetColumn::Texts(values) => push_csv_name(&mut out, &values[row]),
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_moves_fastest() {
        let axes: Vec<Axis> = vec!["a=1:3:3".parse().unwrap(), "b=5,7".parse().unwrap()];
        let all: Vec<Vec<f64>> = (0..6).map(|run| values_of(&axes, run)).collect();
        assert_eq!(all[0], [1.0, 5.0]);
        assert_eq!(all[1], [1.0, 7.0]);
        assert_eq!(all[5], [3.0, 7.0]);
    }
}
