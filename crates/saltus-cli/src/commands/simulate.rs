use std::path::{Path, PathBuf};

use saltus::StepRecord;
use saltus::replace::previous_of;
use saltus_plot::{Line, PlotOptions, plot_by_unit, plot_terminal};
use saltus_results::EventKind;

use super::plot::Shown;
use crate::args::{PlotRequest, SimulateArgs};
use crate::engine::{self, Run};
use crate::exit::{Exit, Failure, Outcome, message, print};
use crate::files::{self, ResultFormat};
use crate::fmu_run;
use crate::outputs::Outputs;
use crate::picture::{PictureFormat, write_picture};

/// `saltus simulate`
pub(crate) fn simulate(args: SimulateArgs) -> Outcome {
    if args.watch {
        return super::watch::watch();
    }
    if fmu_run::is_fmu(&args.target.target) {
        check_files(&args)?;
        return fmu_run::simulate(&args);
    }
    check_files(&args)?;
    let run = engine::simulate(&args)?;
    if !run.messages.is_empty() && !args.quiet {
        message(run.messages.trim_end());
    }

    if let Some(path) = &args.stats {
        let json = run.statistics.to_json();
        files::write_file(path, |out| {
            use std::io::Write;
            out.write_all(json.as_bytes())
        })?;
    }
    if let Some(path) = &args.steps {
        files::write_file(path, |out| write_steps(&run.steps, out))?;
    }
    for request in &args.plots {
        write_plot(&run, request)?;
    }
    match &run.failure {
        Some(text) => {
            message(text.trim_end());
            Ok(Exit::Incomplete)
        }
        None => {
            if !args.quiet {
                message(&summary(&run));
            }
            Ok(Exit::Done)
        }
    }
}

/// Everything that can be known to be wrong before the run.
fn check_files(args: &SimulateArgs) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        ResultFormat::of(path)?;
    }
    let plots = args.plots.iter().filter_map(|plot| plot.file.as_ref());
    for path in plots.clone() {
        PictureFormat::of(path)?;
    }
    let optional = [&args.output, &args.events, &args.stats, &args.steps];
    for path in optional.into_iter().flatten().chain(plots) {
        files::check_writable(path)?;
    }
    Ok(())
}

/// The files that a run writes. `result`: that of the rows, whether it was named or not.
pub(crate) fn outputs(args: &SimulateArgs, result: &PathBuf) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add("--output", [result]);
    outputs.add("the earlier result, kept as", [&previous_of(result)]);
    outputs.add("--events", &args.events);
    outputs.add("--stats", &args.stats);
    outputs.add("--steps", &args.steps);
    outputs.add(
        "--plot",
        args.plots.iter().filter_map(|plot| plot.file.as_ref()),
    );
    outputs
}

fn write_plot(run: &Run, request: &PlotRequest) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for name in &request.variables {
        let shown = Shown::of(&run.table, name, false)?;
        let points = run.table.time().iter().copied().zip(shown.values).collect();
        lines.push(Line::new(name, shown.unit, points));
    }
    let options = PlotOptions {
        title: Some(run.model.clone()),
        events: event_times(run),
        ..PlotOptions::default()
    };
    let failed = |e: saltus_plot::PlotError| Failure::command_line(format!("--plot: {e}"));
    match &request.file {
        Some(file) => {
            let svg = plot_by_unit(&lines, &options).map_err(failed)?;
            write_picture(file, svg)
        }
        None => print(&plot_terminal(&lines, &options.horizontal).map_err(failed)?),
    }
}

fn write_steps(steps: &[StepRecord], out: &mut dyn std::io::Write) -> std::io::Result<()> {
    writeln!(out, "\"time\",\"step_size\",\"rejected\",\"method\"")?;
    for step in steps {
        let StepRecord {
            time,
            step_size,
            rejected,
            method,
        } = step;
        writeln!(out, "{time},{step_size},{rejected},\"{method}\"")?;
    }
    Ok(())
}

fn event_times(run: &Run) -> Vec<f64> {
    run.events
        .iter()
        .filter(|event| !matches!(event.kind, EventKind::Initial | EventKind::Terminal))
        .map(|event| event.time)
        .collect()
}

/// `BouncingBall: 0 to 3 s, 412 steps, 5 events, 0.01 s; BouncingBall_res.mat`
fn summary(run: &Run) -> String {
    let stats = &run.statistics;
    let (start, stop) = (run.time_start, run.time_reached);
    let n_events = stats.events.time + stats.events.state + stats.events.step;
    let place = if run.output == Path::new("-") {
        String::new()
    } else {
        format!("; {}", run.output.display())
    };
    format!(
        "{}: {start} to {stop} s, {}, {}, {}{place}",
        run.model,
        counted(stats.steps, "step"),
        counted(n_events, "event"),
        duration(stats.seconds.total)
    )
}

/// `1 event`, `2 events`
fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `0.01 s`, `2 min 5 s`
fn duration(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    match seconds {
        s if s < MINUTE => format!("{s:.2} s"),
        s => format!("{:.0} min {:.0} s", (s / MINUTE).floor(), s % MINUTE),
    }
}
