use std::path::{Path, PathBuf};

use saltus::StepRecord;
use saltus::replace::previous_of;
use saltus_plot::{PlotOptions, plot_over_time};
use saltus_results::EventKind;

use crate::args::{PlotRequest, SimulateArgs};
use crate::engine::{self, Run};
use crate::exit::{Exit, Failure, Outcome, message};
use crate::files::{self, ResultFormat};
use crate::fmu_run;
use crate::outputs::Outputs;

/// `saltus simulate`
pub(crate) fn simulate(args: SimulateArgs) -> Outcome {
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
    let plots = args.plots.iter().map(|plot| &plot.file);
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
    outputs.add("--plot", args.plots.iter().map(|plot| &plot.file));
    outputs
}

fn write_plot(run: &Run, request: &PlotRequest) -> Result<(), Failure> {
    let options = PlotOptions {
        title: Some(run.model.clone()),
        events: event_times(run),
        ..PlotOptions::default()
    };
    let svg = plot_over_time(&run.table, &request.variables, &options)
        .map_err(|e| Failure::command_line(format!("--plot: {e}")))?;
    files::write_file(&request.file, |out| {
        use std::io::Write;
        out.write_all(svg.as_bytes())
    })
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
        "{}: {start} to {stop} s, {} steps, {n_events} events, {:.2} s{place}",
        run.model, stats.steps, stats.seconds.total
    )
}
