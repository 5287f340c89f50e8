use std::io::Write;

use saltus_plot::{PlotOptions, plot_over_time, plot_phase};
use saltus_results::read_events;

use crate::args::PlotArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::files;

/// `saltus plot`
pub(crate) fn plot(args: PlotArgs) -> Outcome {
    let is_svg = args
        .output
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("svg"));
    if !is_svg {
        return Err(Failure::command_line(format!(
            "pictures are SVG: `{}` should end with .svg",
            args.output.display()
        )));
    }
    let table = files::read_table(&args.result)?;
    let events = match &args.events {
        Some(path) => read_events(&files::read_text(path)?)
            .map_err(|e| files::unreadable(path, &e))?
            .iter()
            .map(|event| event.time)
            .collect(),
        None => Vec::new(),
    };
    let options = PlotOptions {
        title: args.title,
        width: args.width,
        height: args.height,
        events,
        ..PlotOptions::default()
    };
    let svg = match &args.over {
        Some(over) => plot_phase(&table, over, &args.variables, &options),
        None => plot_over_time(&table, &args.variables, &options),
    };
    let svg = svg.map_err(Failure::command_line)?;
    files::write_file(&args.output, |out| out.write_all(svg.as_bytes()))?;
    Ok(Exit::Done)
}
