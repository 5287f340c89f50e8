use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saltus::units::Conversion;
use saltus_plot::{
    Line, LineStyle, PlotError, PlotOptions, Scale, TimelineRow, draw_timeline, plot_by_unit,
    plot_lines, plot_terminal,
};
use saltus_results::{EventRecord, Glob, ResultTable, TubeOptions, read_events, tube_around};

use crate::args::PlotArgs;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::files;
use crate::outputs::Outputs;
use crate::picture::{PictureFormat, write_picture};

/// `saltus plot`
pub(crate) fn plot(args: PlotArgs) -> Outcome {
    if let Some(output) = &args.output {
        PictureFormat::of(output)?;
    }
    let (results, patterns) = results_and_patterns(&args)?;
    let mut outputs = Outputs::default();
    outputs.add("--output", &args.output);
    let read = [&args.events, &args.steps, &args.timeline, &args.compare];
    let read = read.into_iter().flatten().chain(&results);
    outputs.check_not_read(&read.cloned().collect::<Vec<_>>())?;
    let events = match &args.events {
        Some(path) => read_log(path)?.iter().map(|event| event.time).collect(),
        None => Vec::new(),
    };
    let options = PlotOptions {
        title: args.title.clone(),
        width: args.width,
        height: args.height,
        events,
        ..PlotOptions::default()
    };
    let svg = match (&args.steps, &args.timeline) {
        (Some(path), _) => plot_lines(&[step_sizes(path)?], &decades(options)),
        (_, Some(path)) => draw_timeline(&rows_of(&read_log(path)?), &options),
        (None, None) => {
            let (lines, options) = drawn_lines(&args, &results, &patterns, options)?;
            if args.output.is_none() {
                let text = plot_terminal(&lines, &options.horizontal);
                print(&text.map_err(Failure::command_line)?)?;
                return Ok(Exit::Done);
            }
            plot_by_unit(&lines, &options)
        }
    };
    let svg = svg.map_err(Failure::command_line)?;
    if let Some(output) = &args.output {
        write_picture(output, svg)?;
    }
    Ok(Exit::Done)
}

/// More rows than these make no other picture.
const DRAWN_ROWS: usize = 200_000;
/// A picture with more curves cannot be read.
const CURVES_MAX: usize = 200;
/// Names that a message shows.
const SIMILAR: usize = 3;

/// The first name is a result, and every other that ends like one and is a file.
fn results_and_patterns(args: &PlotArgs) -> Result<(Vec<PathBuf>, Vec<String>), Failure> {
    let mut results: Vec<PathBuf> = args.result.iter().cloned().collect();
    let mut patterns = Vec::new();
    for name in &args.variables {
        let path = Path::new(name);
        let ending = path.extension().and_then(|e| e.to_str());
        if matches!(ending, Some("mat" | "csv" | "parquet")) && path.is_file() {
            results.push(path.to_owned());
        } else {
            patterns.push(name.clone());
        }
    }
    if !results.is_empty() && patterns.is_empty() {
        return Err(Failure::command_line(
            "name the variables that are to be drawn",
        ));
    }
    Ok((results, patterns))
}

/// The curves of all results, with the reference behind them, and the horizontal axis that they need.
fn drawn_lines(
    args: &PlotArgs,
    results: &[PathBuf],
    patterns: &[String],
    options: PlotOptions,
) -> Result<(Vec<Line>, PlotOptions), Failure> {
    let mut lines = Vec::new();
    let mut horizontal = options.horizontal.clone();
    for path in results {
        let names = matching(path, patterns)?;
        let wanted: Vec<String> = args.over.iter().chain(&names).cloned().collect();
        let table = read_drawn(path, &wanted)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let suffix = match results.len() {
            1 => String::new(),
            _ => format!(" ({stem})"),
        };
        if let Some(reference) = &args.compare {
            lines.extend(reference_lines(args, &table, reference, &names)?);
        }
        let over = match &args.over {
            Some(name) => {
                let shown = Shown::of(&table, name, args.plain_units)?;
                horizontal = match shown.unit.as_str() {
                    "" => name.clone(),
                    unit => format!("{name} [{unit}]"),
                };
                shown.values
            }
            None => table.time().to_vec(),
        };
        for name in &names {
            let shown = Shown::of(&table, name, args.plain_units)?;
            let points = over.iter().copied().zip(shown.values).collect();
            lines.push(Line::new(format!("{name}{suffix}"), shown.unit, points));
        }
    }
    if lines.len() > CURVES_MAX {
        return Err(Failure::command_line(format!(
            "{} curves cannot be told apart: choose fewer variables",
            lines.len()
        )));
    }
    let options = PlotOptions {
        horizontal,
        ..options
    };
    Ok((lines, options))
}

/// The names that patterns mean.
fn matching(path: &Path, patterns: &[String]) -> Result<Vec<String>, Failure> {
    let file = files::open_result(path)?;
    let outline = file.outline();
    let mut names: Vec<String> = Vec::new();
    for pattern in patterns {
        if outline.signal(pattern).is_some() {
            names.push(pattern.clone());
            continue;
        }
        let glob = Glob::new(pattern);
        let all = outline.variables().map(|(name, _)| name);
        let found: Vec<&str> = all.filter(|name| glob.matches(name)).collect();
        if found.is_empty() {
            return Err(unknown(outline, pattern));
        }
        names.extend(found.into_iter().map(str::to_owned));
    }
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    Ok(names)
}

fn unknown(outline: &ResultTable, name: &str) -> Failure {
    let similar = outline.similar_names(name, SIMILAR);
    Failure::command_line(PlotError::UnknownVariable {
        name: name.to_owned(),
        similar: similar.into_iter().map(str::to_owned).collect(),
    })
}

/// The unit in which a variable is shown, and the way there if it is another one than its own.
fn shown_unit(table: &ResultTable, name: &str, plain: bool) -> (String, Option<Conversion>) {
    let about = table.variable(name);
    let unit = about.map_or("", |v| v.unit.as_str());
    let display = about.map_or("", |v| v.display_unit.as_str());
    match Conversion::between(unit, display).filter(|_| !plain) {
        Some(conversion) => (display.to_owned(), Some(conversion)),
        None => (unit.to_owned(), None),
    }
}

/// A variable in the unit in which it is shown.
pub(crate) struct Shown {
    pub(crate) unit: String,
    pub(crate) values: Vec<f64>,
}

impl Shown {
    pub(crate) fn of(table: &ResultTable, name: &str, plain: bool) -> Result<Shown, Failure> {
        let signal = table.signal(name).ok_or_else(|| unknown(table, name))?;
        let mut values = signal.to_vec();
        let (unit, conversion) = shown_unit(table, name, plain);
        if let Some(conversion) = conversion {
            values.iter_mut().for_each(|v| *v = conversion.apply(*v));
        }
        Ok(Shown { unit, values })
    }
}

/// The tube around the reference, and the reference. Units are those of the result: references often have none.
fn reference_lines(
    args: &PlotArgs,
    table: &ResultTable,
    path: &Path,
    names: &[String],
) -> Result<Vec<Line>, Failure> {
    let mut file = files::open_result(path)?;
    if let Some(name) = names
        .iter()
        .find(|name| file.outline().signal(name).is_none())
    {
        return Err(unknown(file.outline(), name));
    }
    let reference = file
        .read_thinned(names, DRAWN_ROWS)
        .map_err(|e| files::unreadable(path, &e))?;
    let mut lines = Vec::new();
    for name in names {
        let (unit, conversion) = shown_unit(table, name, args.plain_units);
        let value = |y: f64| conversion.as_ref().map_or(y, |c| c.apply(y));
        let tube = tube_around(table, &reference, name, &TubeOptions::default());
        let tube = tube.unwrap_or_default();
        let up = tube.iter().map(|&(t, _, high)| (t, value(high)));
        let down = tube.iter().rev().map(|&(t, low, _)| (t, value(low)));
        let area = Line::new(format!("{name}: tube"), &unit, up.chain(down).collect());
        lines.push(area.style(LineStyle::Area));
        let values = reference.signal(name).map_or(Vec::new(), |s| s.to_vec());
        let values = values.into_iter().map(value);
        let points = reference.time().iter().copied().zip(values);
        let line = Line::new(format!("{name}: reference"), &unit, points.collect());
        lines.push(line.style(LineStyle::Dashed));
    }
    Ok(lines)
}

/// What is to be drawn, with no more rows than can be seen.
fn read_drawn(path: &Path, names: &[String]) -> Result<ResultTable, Failure> {
    let mut file = files::open_result(path)?;
    if let Some(name) = names
        .iter()
        .find(|name| file.outline().signal(name).is_none())
    {
        return Err(unknown(file.outline(), name));
    }
    file.read_thinned(names, DRAWN_ROWS)
        .map_err(|e| files::unreadable(path, &e))
}

fn read_log(path: &Path) -> Result<Vec<EventRecord>, Failure> {
    read_events(&files::read_text(path)?).map_err(|e| files::unreadable(path, &e))
}

/// Sizes over the times at which steps end, from lines `time,step_size,rejected,"method"`.
fn step_sizes(path: &Path) -> Result<Line, Failure> {
    let text = files::read_text(path)?;
    let mut points = Vec::new();
    for (k, line) in text.lines().enumerate().skip(1) {
        let mut numbers = line.split(',').map(str::parse::<f64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(time)), Some(Ok(size))) => points.push((time, size)),
            _ => {
                let what = format!("line {} has no time and step size", k + 1);
                return Err(files::unreadable(path, &what));
            }
        }
    }
    Ok(Line::new("step size", "s", points).style(LineStyle::Points))
}

fn decades(options: PlotOptions) -> PlotOptions {
    PlotOptions {
        vertical: Scale::Logarithmic,
        horizontal: "time [s]".to_owned(),
        ..options
    }
}

/// A row for each kind of event and each cause, in the order in which they first occur.
fn rows_of(events: &[EventRecord]) -> Vec<TimelineRow> {
    let mut rows: Vec<TimelineRow> = Vec::new();
    for event in events {
        let causes = event.cause.iter().map(|c| c.expression.clone());
        let mut names: Vec<String> = causes.collect();
        if names.is_empty() {
            names.push(event.kind.as_str().to_owned());
        }
        for name in names {
            match rows.iter_mut().find(|row| row.name == name) {
                Some(row) => row.marks.push(event.time),
                None => rows.push(TimelineRow {
                    name,
                    marks: vec![event.time],
                    spans: Vec::new(),
                }),
            }
        }
    }
    rows
}
