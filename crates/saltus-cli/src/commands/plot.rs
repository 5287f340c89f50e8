use std::io::Write;
use std::path::Path;

use saltus_plot::{
    Line, LineStyle, PlotError, PlotOptions, Scale, TimelineRow, draw_timeline, plot_lines,
    plot_over_time, plot_phase,
};
use saltus_results::{EventRecord, ResultTable, read_events};

use crate::args::PlotArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::files;
use crate::outputs::Outputs;

/// `saltus plot`
pub(crate) fn plot(args: PlotArgs) -> Outcome {
    let format = Format::of(&args.output)?;
    let mut outputs = Outputs::default();
    outputs.add("--output", [&args.output]);
    let read = [&args.result, &args.events, &args.steps, &args.timeline];
    outputs.check_not_read(&read.into_iter().flatten().cloned().collect::<Vec<_>>())?;
    let events = match &args.events {
        Some(path) => read_log(path)?.iter().map(|event| event.time).collect(),
        None => Vec::new(),
    };
    let options = PlotOptions {
        title: args.title,
        width: args.width,
        height: args.height,
        events,
        ..PlotOptions::default()
    };
    let svg = match (&args.steps, &args.timeline, &args.result) {
        (Some(path), _, _) => plot_lines(&[step_sizes(path)?], &decades(options)),
        (_, Some(path), _) => draw_timeline(&rows_of(&read_log(path)?), &options),
        (_, _, Some(path)) => {
            let names: Vec<String> = (args.over.iter()).chain(&args.variables).cloned().collect();
            let table = read_drawn(path, &names)?;
            match &args.over {
                Some(over) => plot_phase(&table, over, &args.variables, &options),
                None => plot_over_time(&table, &args.variables, &options),
            }
        }
        (None, None, None) => unreachable!("one of them is required"),
    };
    let svg = svg.map_err(Failure::command_line)?;
    let bytes = format.bytes(svg)?;
    files::write_file(&args.output, |out| out.write_all(&bytes))?;
    Ok(Exit::Done)
}

/// More rows than these make no other picture.
const DRAWN_ROWS: usize = 200_000;

/// What is to be drawn, with no more rows than can be seen.
fn read_drawn(path: &Path, names: &[String]) -> Result<ResultTable, Failure> {
    let mut file = files::open_result(path)?;
    for name in names {
        let outline = file.outline();
        if outline.signal(name).is_none() {
            let similar = outline.similar_names(name, 3);
            return Err(Failure::command_line(PlotError::UnknownVariable {
                name: name.clone(),
                similar: similar.into_iter().map(str::to_owned).collect(),
            }));
        }
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

/// Of a picture, by the end of its file's name.
enum Format {
    Svg,
    #[cfg(feature = "png")]
    Png,
}

/// Pixels of a PNG for one of the SVG.
#[cfg(feature = "png")]
const PNG_SCALE: f32 = 2.0;

impl Format {
    fn of(path: &Path) -> Result<Format, Failure> {
        let ends_with = |end: &str| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case(end))
        };
        if ends_with("svg") {
            return Ok(Format::Svg);
        }
        #[cfg(feature = "png")]
        if ends_with("png") {
            return Ok(Format::Png);
        }
        let shown = path.display();
        Err(Failure::command_line(match ends_with("png") {
            true => format!(
                "pictures are SVG: `{shown}` should end with .svg (this program was built without the feature `png`)"
            ),
            false => format!("pictures are SVG: `{shown}` should end with .svg"),
        }))
    }

    fn bytes(&self, svg: String) -> Result<Vec<u8>, Failure> {
        match self {
            Format::Svg => Ok(svg.into_bytes()),
            #[cfg(feature = "png")]
            Format::Png => saltus_plot::to_png(&svg, PNG_SCALE).map_err(Failure::command_line),
        }
    }
}
