//! `saltus simulate X.fmu`: consent, a process of its own if wanted, the run.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus::ode::Simulate as _;
use saltus::{Error, Value};
use saltus_fmi::import::{CoSimulation, Ended, Fmu, Kind};
use saltus_results::Selection;

use crate::args::{FmuKindArg, Setting, SimulateArgs};
use crate::commands::open_fmu;
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message};
use crate::files::{self, EventFile, ResultFile};
use crate::interrupt;

pub(crate) fn is_fmu(target: &str) -> bool {
    let ending = Path::new(target).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("fmu"))
}

/// Set for the process that runs an isolated FMU.
const INSIDE: &str = "SALTUS_FMU_INSIDE";

pub(crate) fn simulate(args: &SimulateArgs) -> Outcome {
    let path = Path::new(&args.target.target);
    refuse_options(args)?;
    consent(args, path)?;
    if args.fmu.isolate && std::env::var_os(INSIDE).is_none() {
        return isolated();
    }
    let fmu = Arc::new(open_fmu(path)?);
    let wrong = |why: String| Failure::command_line(format!("`{}`: {why}", path.display()));
    let has = |kind| fmu.description.identifier(kind).is_some();
    let kind = match args.fmu.fmu_kind {
        Some(FmuKindArg::Cs) => Kind::CoSimulation,
        Some(FmuKindArg::Me) => Kind::ModelExchange,
        None if has(Kind::CoSimulation) => Kind::CoSimulation,
        None => Kind::ModelExchange,
    };
    fmu.binary(kind).map_err(wrong)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let output = (args.output.clone()).unwrap_or_else(|| PathBuf::from(format!("{stem}_res.mat")));
    files::check_writable(&output)?;
    interrupt::listen();
    match kind {
        Kind::CoSimulation => co_simulation(args, &fmu, &output),
        Kind::ModelExchange => model_exchange(args, &fmu, &output),
    }
}

/// Options that say something about models, not about FMUs.
fn refuse_options(args: &SimulateArgs) -> Result<(), Failure> {
    let is_given = [
        ("--model", args.target.model.is_some()),
        ("--inline", !args.target.inlined.is_empty()),
        ("--start-from", args.start_from.is_some()),
        ("--interpret", args.interpret),
        ("--native", args.native),
        ("--plot", !args.plots.is_empty()),
        ("--steps", args.steps.is_some()),
        ("--inline-step", args.inline_step.is_some()),
    ];
    match is_given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::command_line(format!("{name} is not for FMUs"))),
        None => Ok(()),
    }
}

/// Foreign code runs if the user says so: beforehand, or when asked.
fn consent(args: &SimulateArgs, path: &Path) -> Result<(), Failure> {
    if args.fmu.allow_fmu {
        return Ok(());
    }
    let refused = || {
        Failure::command_line(format!(
            "`{}` holds a library that runs with your rights\nhelp: give `--allow-fmu` if you trust those who made it; `saltus fmu info` shows what it is without running it",
            path.display()
        ))
    };
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(refused());
    }
    let mut err = std::io::stderr();
    let _ = write!(
        err,
        "`{}` holds a library that will run with your rights. Run it? [y/N] ",
        path.display()
    );
    let _ = err.flush();
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    match read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes") {
        true => Ok(()),
        false => Err(refused()),
    }
}

/// The same command in a process of its own.
fn isolated() -> Outcome {
    let failed = |e: std::io::Error| Failure {
        exit: Exit::Incomplete,
        text: format!("error: the FMU cannot be isolated: {e}"),
    };
    let program = std::env::current_exe().map_err(failed)?;
    let status = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .status()
        .map_err(failed)?;
    match status.code() {
        Some(0) => Ok(Exit::Done),
        Some(1) => Ok(Exit::Model),
        Some(2) => Ok(Exit::CommandLine),
        Some(3) => Ok(Exit::Incomplete),
        _ => Err(Failure {
            exit: Exit::Incomplete,
            text: format!(
                "error: the process of the FMU ended before the run did ({status}): a crash inside of the FMU\nnote: what was written before is in the result file"
            ),
        }),
    }
}

fn setting_value(setting: &Setting) -> Result<(&str, Value), Failure> {
    let Setting { path, value } = setting;
    match value.parse() {
        Ok(value) => Ok((path, value)),
        Err(why) => Err(Failure::command_line(format!("--set {path}: {why}"))),
    }
}

fn settings(args: &SimulateArgs) -> Result<Vec<(&str, Value)>, Failure> {
    args.set.settings.iter().map(setting_value).collect()
}

fn co_simulation(args: &SimulateArgs, fmu: &Fmu, output: &Path) -> Outcome {
    let wrong = |why: String| Failure::command_line(why);
    let mut run = CoSimulation::new(fmu);
    run.start = args.start_time.unwrap_or(run.start);
    run.stop = args.stop_time.unwrap_or(run.stop);
    run.tolerance = args.tolerance.or(run.tolerance);
    run.interval = args.interval.or(run.interval);
    if let Some(count) = args.intervals {
        run.interval = Some((run.stop - run.start) / f64::from(count));
    }
    if args.solver.is_some() || args.events.is_some() || args.no_events {
        return Err(wrong("in co-simulation the FMU has its own integrator: --solver, --events and --no-events need `--fmu-kind me`".to_owned()));
    }
    for (name, value) in settings(args)? {
        run.set(name, &value)
            .map_err(|why| wrong(format!("--set: {why}")))?;
    }
    let mut rows = ResultFile::new(output)?;
    let selection = Selection::from_patterns(&args.variables);
    let ended = run.run(&selection, &mut rows).map_err(|why| Failure {
        exit: Exit::Incomplete,
        text: format!("error: {why}"),
    })?;
    rows.end(ended.failure.is_none());
    let Ended {
        time,
        n_steps,
        terminated,
        failure,
    } = ended;
    if let Some(why) = failure {
        message(&format!("error: at time {time}: {why}"));
        return Ok(Exit::Incomplete);
    }
    if !args.quiet {
        if terminated {
            message(&format!("note: the FMU ended the run at time {time}"));
        }
        let name = &fmu.description.model_name;
        message(&format!(
            "{name}: {} to {time} s, {n_steps} communication steps; {}",
            run.start,
            output.display()
        ));
    }
    Ok(Exit::Done)
}

fn model_exchange(args: &SimulateArgs, fmu: &Arc<Fmu>, output: &Path) -> Outcome {
    let settings = settings(args)?;
    let model = fmu.model(&settings).map_err(Failure::command_line)?;
    let mut rows = ResultFile::new(output)?;
    let mut events = args.events.as_deref().map(EventFile::new);
    let mut experiment = model
        .experiment()
        .variables(&args.variables)
        .events(!args.no_events)
        .write_rows_to(&mut rows)
        .keep_events(false)
        .control(&interrupt::control());
    if let Some(events) = &mut events {
        experiment = experiment.write_events_to(events);
    }
    if let Some(seconds) = args.max_wall {
        experiment = experiment.max_wall(seconds);
    }
    let experiment = engine::with_options(experiment, args)?;
    let (done, failed) = match experiment.simulate() {
        Ok(done) => (done, None),
        Err(Error::Run(diagnostics, done)) => (*done, Some(diagnostics.to_string())),
        Err(error) => return Err(engine::failure(error)),
    };
    rows.end(failed.is_none());
    if let Some(events) = &mut events {
        events.end(failed.is_none());
    }
    if let Some(text) = failed {
        message(text.trim_end());
        return Ok(Exit::Incomplete);
    }
    if !args.quiet {
        let warnings = done.warnings.to_string();
        if !warnings.is_empty() {
            message(warnings.trim_end());
        }
        let counts = &done.statistics.events;
        message(&format!(
            "{}: {} to {} s, {} steps, {} events; {}",
            fmu.description.model_name,
            done.time_start,
            done.time_reached,
            done.statistics.steps,
            counts.time + counts.state + counts.step,
            output.display()
        ));
    }
    Ok(Exit::Done)
}
