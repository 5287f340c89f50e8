//! The border to the facade: everything the verbs ask of the compiler and the simulator.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use saltus::plot::{draw_modes, draw_structure};
use saltus::{
    Diagnostics, Error, Execution, Experiment, LoggedDisk, Model, Progress, ReadLog, Session,
    StepRecord,
};
use saltus_results::{EventRecord, ResultTable, Statistics};

use crate::args::{AccessArgs, SetArgs, Setting, ShowFormat, SimulateArgs, Stage, TargetArgs};
use crate::commands::simulate_outputs;
use crate::consent;
use crate::deadline::Deadline;
use crate::exit::{Exit, Failure};
use crate::files::{self, EventFile, ResultFile};
use crate::given::{self, Prepared};
use crate::interrupt;
use crate::library::{self, WithLibrary};
use crate::progress::{self, ProgressLine};

/// Names a file that gets one line per finished stage, `stage seconds`: how `xtask` learns how far a model came.
pub(crate) const STAGE_FILE: &str = "SALTUS_STAGE_FILE";

/// Names a file that gets one line per file that was looked at.
pub(crate) const READ_FILE: &str = saltus_regression::READ_FILE;

/// What `check` found in a model that is right.
pub(crate) struct CheckReport {
    /// Warnings, rendered.
    pub(crate) messages: String,
    /// Name, counts, verdict; ends with a newline.
    pub(crate) summary: String,
}

/// A run, complete or not. Rows and events are in their files.
pub(crate) struct Run {
    /// Qualified name.
    pub(crate) model: String,
    /// The variables of `--plot`.
    pub(crate) table: ResultTable,
    /// For `--plot`.
    pub(crate) events: Vec<EventRecord>,
    /// Accepted steps, if asked for.
    pub(crate) steps: Vec<StepRecord>,
    pub(crate) statistics: Statistics,
    pub(crate) time_start: f64,
    pub(crate) time_reached: f64,
    pub(crate) output: PathBuf,
    /// Warnings and what the model printed, rendered.
    pub(crate) messages: String,
    /// Why the run could not be completed, rendered; the result then ends at the last accepted step.
    pub(crate) failure: Option<String>,
}

/// Parses, flattens, counts and verifies.
pub(crate) fn check(target: &TargetArgs) -> Result<CheckReport, Failure> {
    let (session, class) = open(target)?;
    let compiled = compile(&session, target, &class)?;
    let info = compiled.info();
    let states = info
        .slots
        .iter()
        .filter(|s| s.role == saltus::SlotRole::State)
        .count();
    Ok(CheckReport {
        messages: warnings(&compiled).to_string(),
        summary: format!(
            "{}: {} equations, {} unknowns, {states} states: the model is balanced and can be simulated\n",
            info.name, info.n_equations, info.n_unknowns
        ),
    })
}

/// Warnings of the compilation, and of values that are out of range.
fn warnings(model: &Model) -> Diagnostics {
    let mut found = model.warnings().clone();
    found.list.extend(model.range_warnings());
    found
}

/// All that is found in a model, as one JSON object, and whether it can be simulated.
pub(crate) fn check_json(target: &TargetArgs) -> Result<(String, bool), Failure> {
    let (session, class) = open(target)?;
    let mut found = session.check(&class);
    if let Ok(model) = session.compile(&class) {
        found.list.extend(model.range_warnings());
    }
    let all: Vec<serde_json::Value> = (found.list.iter())
        .filter_map(|d| serde_json::from_str(&found.render_json(d)).ok())
        .collect();
    let is_right = !found.has_errors();
    let value = serde_json::json!({"model": class, "ok": is_right, "diagnostics": all});
    Ok((format!("{value:#}\n"), is_right))
}

/// A stage as text, JSON or picture.
pub(crate) fn show(
    target: &TargetArgs,
    access: &AccessArgs,
    stage: Stage,
    format: ShowFormat,
) -> Result<String, Failure> {
    if is_compiled(Path::new(&target.target)) {
        return Err(Failure::command_line(format!(
            "`{}` is compiled: the stages of a model are shown from its source",
            target.target
        )));
    }
    let (mut session, class) = open(target)?;
    permit(&mut session, access)?;
    let shown = match (stage, format) {
        (Stage::Ast, ShowFormat::Text) => session.print_ast(&class),
        (Stage::Flat, ShowFormat::Text) => session.print_flat(&class),
        (Stage::Units, ShowFormat::Text) => {
            session.check_units(&class).map(|found| found.to_string())
        }
        (Stage::Structure, ShowFormat::Text) => session.print_structure(&class),
        (Stage::Structure, ShowFormat::Json) => session.structure_view(&class).map(|v| v.to_json()),
        (Stage::Structure, ShowFormat::Svg) => {
            (session.structure_picture(&class)).map(|p| draw_structure(&p))
        }
        (Stage::Jacobian, ShowFormat::Text) => session.jacobian_view(&class).map(|v| v.print()),
        (Stage::Jacobian, ShowFormat::Json) => session.jacobian_view(&class).map(|v| v.to_json()),
        (Stage::Jacobian, ShowFormat::Svg) => {
            (session.jacobian_view(&class)).map(|v| draw_structure(&v.picture()))
        }
        (Stage::Mode, ShowFormat::Text) => session.modes_view(&class).map(|v| v.print()),
        (Stage::Mode, ShowFormat::Json) => session.modes_view(&class).map(|v| v.to_json()),
        (Stage::Mode, ShowFormat::Svg) => {
            (session.modes_view(&class)).map(|v| draw_modes(&v.picture()))
        }
        (Stage::Ast | Stage::Flat | Stage::Units, ShowFormat::Json | ShowFormat::Svg) => {
            return Err(Failure::command_line("this stage is shown as text only"));
        }
    };
    shown.map_err(failure)
}

/// Compiles and runs. `Err` only if there is nothing to write: the model or the command line is wrong.
pub(crate) fn simulate(args: &SimulateArgs) -> Result<Run, Failure> {
    let deadline = args.max_wall.map(Deadline::new);
    let log = read_log();
    let (mut session, class) = open_logged(&args.target, &log)?;
    permit(&mut session, &args.access)?;
    let output = (args.output.clone())
        .unwrap_or_else(|| PathBuf::from(format!("{}_res.mat", file_stem(&class))));
    files::check_writable(&output)?;
    let outputs = simulate_outputs(args, &output);
    outputs.check_distinct()?;
    let start = match &args.start_from {
        Some(from) => {
            let table = files::open_result(&from.file)?.read_around(from.time);
            let table = table.map_err(|e| files::unreadable(&from.file, &e))?;
            Some((table, from.time))
        }
        None => None,
    };
    let SetArgs { settings, given } = &args.set;
    let Prepared { mut model, inputs } =
        given::prepare(&mut session, &args.target, &class, given, settings)?;
    if args.interpret {
        model = model.with_execution(Execution::Interpreted);
    } else if args.native {
        model = model.with_execution(Execution::Native);
    }
    let compiled = model;
    let plotted: Vec<String> = (args.plots.iter())
        .flat_map(|plot| plot.variables.clone())
        .collect();
    check_names(&compiled, &plotted)?;
    outputs.check_not_read(&log.all())?;

    let mut rows = ResultFile::new(&output)?;
    let mut events = args.events.as_deref().map(EventFile::new);
    let line = ProgressLine::new(!args.quiet);
    let show = |progress: &Progress| line.show(&progress::text(progress));
    let mut experiment = given::with_inputs(compiled.experiment(), &inputs)
        .variables(&args.variables)
        .events(!args.no_events)
        .record_steps(args.steps.is_some())
        .write_rows_to(&mut rows)
        .keep(plotted)
        .keep_events(!args.plots.is_empty())
        .control(&interrupt::control());
    if let Some(events) = &mut events {
        experiment = experiment.write_events_to(events);
    }
    if line.is_shown() {
        experiment = experiment.on_progress(&show);
    }
    if let Some((table, time)) = &start {
        experiment = experiment.start_from(table, *time).map_err(failure)?;
    }
    experiment = with_options(experiment, args)?;
    if let Some(deadline) = &deadline {
        experiment = experiment.max_wall(deadline.run_begins());
    }
    interrupt::listen();
    let (done, failed) = match experiment.simulate() {
        Ok(done) => (done, None),
        Err(Error::Run(diagnostics, done)) => (*done, Some(diagnostics.to_string())),
        Err(error) => return Err(failure(error)),
    };
    drop(line);
    let previous = rows.end(failed.is_none());
    let failed = match (failed, previous) {
        (Some(text), Some(path)) => Some(format!(
            "{text}note: the earlier result is kept as `{path}`\n"
        )),
        (failed, _) => failed,
    };
    if let Some(events) = &mut events {
        events.end(failed.is_none());
    }
    if done.initialised {
        finished("initialise", done.statistics.seconds.initialize);
    }
    if failed.is_none() {
        finished("simulate", done.statistics.seconds.simulate);
    }
    let mut messages = warnings(&compiled).to_string();
    messages.push_str(&done.warnings.to_string());
    if let Some(text) = &done.terminated {
        messages.push_str(&format!(
            "note: the model ended the run at time {}: {text}\n",
            done.time_reached
        ));
    }
    Ok(Run {
        model: compiled.info().name.clone(),
        table: done.table,
        events: done.event_log,
        steps: done.steps,
        statistics: done.statistics,
        time_start: done.time_start,
        time_reached: done.time_reached,
        output,
        messages,
        failure: failed,
    })
}

/// The settings of the command line.
pub(crate) fn with_options<'m, M: saltus::ode::Simulate>(
    mut experiment: Experiment<'m, M>,
    args: &SimulateArgs,
) -> Result<Experiment<'m, M>, Failure> {
    if let Some(time) = args.start_time {
        experiment = experiment.start_time(time);
    }
    if let Some(time) = args.stop_time {
        experiment = experiment.stop_time(time);
    }
    if let Some(tolerance) = args.tolerance {
        experiment = experiment.tolerance(tolerance);
    }
    if let Some(interval) = args.interval {
        experiment = experiment.interval(interval);
    }
    if let Some(count) = args.intervals {
        experiment = experiment.intervals(count);
    }
    if let Some(name) = &args.solver {
        experiment = experiment.solver(name).map_err(failure)?;
    }
    if let Some(name) = &args.event_method {
        experiment = experiment.event_method(name).map_err(failure)?;
    }
    if let Some(name) = &args.event_detection {
        experiment = experiment.event_detection(name).map_err(failure)?;
    }
    if let Some(name) = &args.event_isolation {
        experiment = experiment.event_isolation(name).map_err(failure)?;
    }
    if let Some(step) = args.inline_step {
        experiment = experiment.inline_step(step);
    }
    if let Some(name) = &args.zeno {
        experiment = experiment.zeno(name).map_err(failure)?;
    }
    Ok(experiment)
}

/// A file of `saltus compile`, by its ending.
pub(crate) fn is_compiled(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "saltus")
}

/// The model that is meant, compiled or read.
pub(crate) fn compile(
    session: &Session,
    target: &TargetArgs,
    class: &str,
) -> Result<Model, Failure> {
    match is_compiled(Path::new(&target.target)) {
        true => read_model(session, &target.target),
        false => session.compile(class).map_err(failure),
    }
}

fn read_model(session: &Session, file: &str) -> Result<Model, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::command_line(format!("`{file}`: {why}"));
    let bytes = session.read_file(file).map_err(|why| wrong(&why))?;
    session.read_model(&bytes).map_err(|error| wrong(&error))
}

/// What is to be drawn after the run must be in the model.
fn check_names(compiled: &Model, names: &[String]) -> Result<(), Failure> {
    for name in names {
        compiled
            .find_variable(name)
            .map_err(|e| Failure::command_line(format!("--plot: {e}")))?;
    }
    Ok(())
}

/// The name of a model as the stem of a file name: quoted identifiers may hold anything.
pub(crate) fn file_stem(model: &str) -> String {
    model
        .chars()
        .map(|c| match c {
            c if c.is_alphanumeric() => c,
            '.' | '_' | '-' => c,
            _ => '_',
        })
        .collect()
}

/// The session with libraries and, if a file is named, its text; and the class that is meant.
pub(crate) fn open(target: &TargetArgs) -> Result<(Session, String), Failure> {
    open_logged(target, &read_log())
}

/// A list of the files that are read.
pub(crate) fn read_log() -> ReadLog {
    // How `saltus test` learns on which files a model depends.
    match std::env::var_os(READ_FILE) {
        Some(path) => ReadLog::with_observer(move |read| note_read(Path::new(&path), read)),
        None => ReadLog::default(),
    }
}

/// The same, with a list of the files that are read.
pub(crate) fn open_logged(
    target: &TargetArgs,
    log: &ReadLog,
) -> Result<(Session, String), Failure> {
    let mut session = Session::with_world(WithLibrary(LoggedDisk::new(log)));
    for dir in &target.libraries {
        if !dir.is_dir() {
            return Err(Failure::command_line(format!(
                "--library: `{}` is not a folder",
                dir.display()
            )));
        }
        session.add_library_path(dir);
    }
    session.add_modelicapath();
    for folder in crate::installed::folders() {
        session.add_library_path(folder);
    }
    session.add_library_path(library::ROOT);
    for Setting { path, value } in &target.inlined {
        session
            .inline(path, value)
            .map_err(|e| Failure::command_line(format!("--inline: {e}")))?;
    }
    session.on_stage(|stage, seconds| finished(stage.name(), seconds));
    if is_compiled(Path::new(&target.target)) {
        if target.model.is_some() || !target.inlined.is_empty() {
            return Err(Failure::command_line(format!(
                "`{}` is compiled: --model and --inline are options of `saltus compile`",
                target.target
            )));
        }
        // Outputs are named after the file; the model itself is read once.
        let stem = Path::new(&target.target).file_stem();
        let name = stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        return Ok((session, name));
    }
    if Path::new(&target.target).is_dir() && target.model.is_none() {
        return Err(a_folder(&target.target));
    }
    let is_file = target.target.ends_with(".mo") || PathBuf::from(&target.target).is_file();
    let class = if is_file {
        let last = session.load_file(&target.target).map_err(failure)?;
        target.model.clone().unwrap_or(last)
    } else if let (true, Some(class)) = (Path::new(&target.target).is_dir(), &target.model) {
        session.add_library_path(&target.target);
        class.clone()
    } else {
        target
            .model
            .clone()
            .unwrap_or_else(|| target.target.clone())
    };
    Ok((session, class))
}

/// Models that a message lists.
const LISTED_MAX: usize = 40;

/// A folder is no model: which ones are in it.
fn a_folder(folder: &str) -> Failure {
    let mut names: Vec<String> = (saltus_regression::find_cases(Path::new(folder)).into_iter())
        .map(|case| case.name)
        .collect();
    let n = names.len();
    if n == 0 {
        return Failure::command_line(format!(
            "`{folder}` is a folder, and there is no model with an experiment annotation in it: name a file, or a class with `--model`"
        ));
    }
    names.truncate(LISTED_MAX);
    let more = match n - names.len() {
        0 => String::new(),
        k => format!("\n  … and {k} more"),
    };
    Failure::command_line(format!(
        "`{folder}` is a folder; name one of its models with `--model`, or run all of them with `saltus test {folder}`:\n  {}{more}",
        names.join("\n  ")
    ))
}

/// Permits what the command line permits.
pub(crate) fn permit(session: &mut Session, access: &AccessArgs) -> Result<(), Failure> {
    for dir in &access.allow_write {
        if !dir.is_dir() {
            return Err(Failure::command_line(format!(
                "--allow-write: `{}` is not a folder",
                dir.display()
            )));
        }
        session.allow_write(dir);
    }
    if access.allow_system {
        session.allow_system();
    }
    if access.allow_foreign {
        session.allow_foreign();
    }
    for dir in consent::folders()? {
        session.allow_foreign_in(dir);
    }
    Ok(())
}

/// Adds a path to the list of files that were read.
fn note_read(list: &Path, read: &Path) {
    if let (Ok(mut file), Some(read)) = (
        OpenOptions::new().create(true).append(true).open(list),
        read.to_str(),
    ) {
        // A list that cannot be written only costs a model that is run again.
        let _ = writeln!(file, "{read}");
    }
}

/// Notes a finished stage in the stage file, if one is asked for.
fn finished(stage: &str, seconds: f64) {
    let Some(path) = std::env::var_os(STAGE_FILE) else {
        return;
    };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        // A stage file that cannot be written only costs the report a line.
        let _ = writeln!(file, "{stage} {seconds}");
    }
}

/// A setting that the model does not take is a matter of the command line; what compiling with it gives is not.
pub(crate) fn setting_failure(error: Error) -> Failure {
    match error {
        Error::Usage(text) => Failure::command_line(format!("--set: {text}")),
        other => failure(other),
    }
}

pub(crate) fn failure(error: Error) -> Failure {
    match error {
        Error::Model(diagnostics) => {
            // A file that is not there is a matter of the command line.
            let exit = match diagnostics.error_codes().as_slice() {
                ["file-not-found"] => Exit::CommandLine,
                _ => Exit::Model,
            };
            Failure {
                exit,
                text: diagnostics.to_string().trim_end().to_owned(),
            }
        }
        Error::Run(diagnostics, _) | Error::Stopped(diagnostics) => Failure {
            exit: Exit::Incomplete,
            text: diagnostics.to_string().trim_end().to_owned(),
        },
        Error::Usage(text) => Failure::command_line(text),
    }
}
