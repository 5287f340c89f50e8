use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use saltus::{Linearization, Model, Simulator};
use saltus_plot::{Line, LineStyle, PlotOptions, Scale, plot_lines, plot_panels};
use saltus_results::{MatMatrix, write_mat_matrices};
use serde_json::json;

use crate::args::{Format, LinearizeArgs};
use crate::engine::{self, failure};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::files;
use crate::given::{self, Prepared};
use crate::outputs::Outputs;
use crate::picture::write_picture;

/// Points of a frequency response.
const BODE_POINTS: usize = 400;
/// Decades that it shows beyond the slowest and the fastest pole.
const BODE_MARGIN: f64 = 1.0;

/// `saltus linearize`
pub(crate) fn linearize(args: &LinearizeArgs) -> Outcome {
    for path in &args.output {
        let ending = path.extension().and_then(|e| e.to_str());
        if !matches!(ending, Some("json" | "mat")) {
            return Err(Failure::command_line(format!(
                "`{}`: a linear system is written as .json or .mat",
                path.display()
            )));
        }
        files::check_writable(path)?;
    }
    let mut outputs = Outputs::default();
    outputs.add("--output", &args.output);
    outputs.add("--bode", &args.bode);
    outputs.add("--poles", &args.poles);
    outputs.check_distinct()?;
    let (mut session, class) = engine::open(&args.target)?;
    engine::permit(&mut session, &args.access)?;
    let set = &args.set;
    let prepared = given::prepare(
        &mut session,
        &args.target,
        &class,
        &set.given,
        &set.settings,
    )?;
    let run = stepped(&prepared, args.tolerance, args.solver.as_deref())?;
    let linear = at_point(run, args)?;
    for path in &args.output {
        write(&linear, &prepared.model, path)?;
    }
    if let Some(path) = &args.bode {
        write_picture(path, bode(&linear)?)?;
    }
    if let Some(path) = &args.poles {
        write_picture(path, pole_map(&linear)?)?;
    }
    print(&match args.format {
        Format::Text => text(&linear, prepared.model.name()),
        Format::Json => {
            let value = value(&linear, prepared.model.name());
            format!("{value:#}\n")
        }
    })?;
    Ok(Exit::Done)
}

/// A run of the model that is stepped from outside.
pub(super) fn stepped(
    prepared: &Prepared,
    tolerance: Option<f64>,
    solver: Option<&str>,
) -> Result<Simulator, Failure> {
    let mut experiment = prepared.experiment();
    if let Some(tolerance) = tolerance {
        experiment = experiment.tolerance(tolerance);
    }
    if let Some(name) = solver {
        experiment = experiment.solver(name).map_err(failure)?;
    }
    experiment.without_end().simulator().map_err(failure)
}

fn at_point(mut run: Simulator, args: &LinearizeArgs) -> Result<Linearization, Failure> {
    match args.at {
        _ if args.at_rest => run.settle().map_err(super::steady_state::no_rest)?,
        Some(at) if at < run.time() => {
            return Err(Failure::command_line(format!(
                "--at {at}: the run begins at {} s",
                run.time()
            )));
        }
        Some(at) => run.advance_to(at).map(drop).map_err(failure)?,
        None => {}
    }
    run.linearize().map_err(failure)
}

/// The system as JSON; matrices are row by row, poles and zeros pairs of real and imaginary part.
fn value(linear: &Linearization, model: &str) -> serde_json::Value {
    let pairs = |values: Vec<(f64, f64)>| -> Vec<[f64; 2]> {
        values.into_iter().map(|(re, im)| [re, im]).collect()
    };
    json!({
        "model": model,
        "time": linear.time,
        "states": linear.states,
        "inputs": linear.inputs,
        "outputs": linear.outputs,
        "A": linear.a,
        "B": linear.b,
        "C": linear.c,
        "D": linear.d,
        "x": linear.x,
        "u": linear.u,
        "y": linear.y,
        "der_x": linear.dx,
        "poles": pairs(linear.poles()),
        "zeros": pairs(linear.zeros()),
        "stable": linear.is_stable(),
    })
}

fn write(linear: &Linearization, model: &Model, path: &Path) -> Result<(), Failure> {
    if path.extension().is_some_and(|e| e == "json") {
        let text = format!("{:#}\n", value(linear, model.name()));
        return files::write_file(path, |out| out.write_all(text.as_bytes()));
    }
    let column = |values: &[f64]| -> Vec<Vec<f64>> { values.iter().map(|x| vec![*x]).collect() };
    let pairs = |values: Vec<(f64, f64)>| -> Vec<Vec<f64>> {
        values.into_iter().map(|(re, im)| vec![re, im]).collect()
    };
    let (x, u, y) = (column(&linear.x), column(&linear.u), column(&linear.y));
    let (poles, zeros) = (pairs(linear.poles()), pairs(linear.zeros()));
    let matrices = [
        ("A", MatMatrix::Numbers(&linear.a)),
        ("B", MatMatrix::Numbers(&linear.b)),
        ("C", MatMatrix::Numbers(&linear.c)),
        ("D", MatMatrix::Numbers(&linear.d)),
        ("x0", MatMatrix::Numbers(&x)),
        ("u0", MatMatrix::Numbers(&u)),
        ("y0", MatMatrix::Numbers(&y)),
        ("poles", MatMatrix::Numbers(&poles)),
        ("zeros", MatMatrix::Numbers(&zeros)),
        ("states", MatMatrix::Texts(&linear.states)),
        ("inputs", MatMatrix::Texts(&linear.inputs)),
        ("outputs", MatMatrix::Texts(&linear.outputs)),
    ];
    files::write_file(path, |out| write_mat_matrices(&matrices, out))
}

fn text(linear: &Linearization, model: &str) -> String {
    let mut out = format!(
        "{model}, linearised at time {} s: x' = A x + B u, y = C x + D u\n",
        linear.time
    );
    for (what, names, values) in [
        ("states x", &linear.states, &linear.x),
        ("inputs u", &linear.inputs, &linear.u),
        ("outputs y", &linear.outputs, &linear.y),
    ] {
        let shown: Vec<String> = names
            .iter()
            .zip(values)
            .map(|(name, value)| format!("{name} = {}", short(*value)))
            .collect();
        let shown = if shown.is_empty() {
            "none".to_owned()
        } else {
            shown.join(", ")
        };
        let _ = writeln!(out, "{what}: {shown}");
    }
    for (name, matrix) in [
        ("A", &linear.a),
        ("B", &linear.b),
        ("C", &linear.c),
        ("D", &linear.d),
    ] {
        push_matrix(&mut out, name, matrix);
    }
    let _ = writeln!(out, "poles: {}", complex_list(&linear.poles()));
    if !linear.inputs.is_empty() && linear.inputs.len() == linear.outputs.len() {
        let _ = writeln!(out, "zeros: {}", complex_list(&linear.zeros()));
    }
    if !linear.states.is_empty() {
        let verdict = if linear.is_stable() {
            "stable"
        } else {
            "not asymptotically stable"
        };
        let _ = writeln!(out, "{verdict}");
    }
    out
}

/// A matrix with its columns aligned; nothing for one without elements.
fn push_matrix(out: &mut String, name: &str, matrix: &[Vec<f64>]) {
    let cells: Vec<Vec<String>> = (matrix.iter())
        .map(|row| row.iter().map(|x| short(*x)).collect())
        .collect();
    let Some(width) = cells.iter().flatten().map(String::len).max() else {
        return;
    };
    let _ = writeln!(out, "{name} =");
    for row in cells {
        let line: Vec<String> = row.iter().map(|cell| format!("{cell:>width$}")).collect();
        let _ = writeln!(out, "  {}", line.join("  "));
    }
}

/// Six digits.
pub(super) fn short(x: f64) -> String {
    let magnitude = x.abs();
    if x == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&magnitude) {
        return format!("{x:.5e}");
    }
    let digits = (5 - magnitude.log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `-1, -0.5 ± 3j`
pub(super) fn complex_list(values: &[(f64, f64)]) -> String {
    let mut shown = Vec::new();
    for &(re, im) in values {
        if im == 0.0 {
            shown.push(short(re));
        } else if im > 0.0 {
            shown.push(format!("{} ± {}j", short(re), short(im)));
        }
    }
    if shown.is_empty() {
        "none".to_owned()
    } else {
        shown.join(", ")
    }
}

/// Magnitude and phase from every input to every output.
fn bode(linear: &Linearization) -> Result<String, Failure> {
    if linear.inputs.is_empty() || linear.outputs.is_empty() {
        return Err(Failure::command_line(
            "--bode: the model has no input or no output: declare `input Real u` and `output Real y` at its top level",
        ));
    }
    let speeds = (linear.poles().into_iter().chain(linear.zeros()))
        .map(|(re, im)| re.hypot(im))
        .filter(|w| *w > 0.0);
    let (low, high) = speeds.fold((f64::INFINITY, 0.0_f64), |(low, high), w| {
        (low.min(w), high.max(w))
    });
    let (low, high) = if high > 0.0 {
        (low.log10(), high.log10())
    } else {
        (0.0, 0.0)
    };
    let (low, high) = (low.floor() - BODE_MARGIN, high.ceil() + BODE_MARGIN);
    let omegas: Vec<f64> = (0..BODE_POINTS)
        .map(|k| 10_f64.powf(low + (high - low) * k as f64 / (BODE_POINTS - 1) as f64))
        .collect();
    let (mut gains, mut phases) = (Vec::new(), Vec::new());
    for (i, input) in linear.inputs.iter().enumerate() {
        for (k, output) in linear.outputs.iter().enumerate() {
            let name = format!("{input} to {output}");
            let response: Vec<(f64, (f64, f64))> = (omegas.iter())
                .filter_map(|w| Some((*w, linear.response(i, k, *w)?)))
                .filter(|(_, (re, im))| re.hypot(*im) > 0.0)
                .collect();
            let gain = response
                .iter()
                .map(|(w, (re, im))| (*w, 20.0 * re.hypot(*im).log10()));
            gains.push(Line::new(&name, "dB", gain.collect()));
            phases.push(Line::new(&name, "deg", unwrapped(&response)));
        }
    }
    let options = PlotOptions {
        title: Some("Bode plot".to_owned()),
        horizontal: "angular frequency [rad/s]".to_owned(),
        horizontal_scale: Scale::Logarithmic,
        ..PlotOptions::default()
    };
    plot_panels(&[gains, phases], &options).map_err(Failure::command_line)
}

/// Phases in degrees, without jumps by a whole turn.
fn unwrapped(response: &[(f64, (f64, f64))]) -> Vec<(f64, f64)> {
    let mut before: Option<f64> = None;
    (response.iter())
        .map(|(w, (re, im))| {
            let phase = im.atan2(*re).to_degrees();
            let turns = before.map_or(0.0, |b: f64| ((b - phase) / 360.0).round());
            let phase = phase + 360.0 * turns;
            before = Some(phase);
            (*w, phase)
        })
        .collect()
}

fn pole_map(linear: &Linearization) -> Result<String, Failure> {
    let poles = linear.poles();
    let height = poles.iter().map(|pole| pole.1.abs()).fold(1.0, f64::max);
    // A line upwards is a path: its horizontal values do not grow.
    let axis = vec![(0.0, -height), (0.0, height), (-f64::MIN_POSITIVE, height)];
    let mut lines = vec![
        Line::new("poles", "", poles).style(LineStyle::Crosses),
        Line::new("limit of stability", "", axis).style(LineStyle::Dashed),
    ];
    let zeros = linear.zeros();
    if !zeros.is_empty() {
        lines.push(Line::new("zeros", "", zeros).style(LineStyle::Points));
    }
    let options = PlotOptions {
        title: Some("Poles and zeros".to_owned()),
        horizontal: "real part [1/s]".to_owned(),
        ..PlotOptions::default()
    };
    plot_lines(&lines, &options)
        .map_err(|_| Failure::command_line("--poles: the model has no poles: it has no states"))
}
