use std::io::Write;
use std::path::Path;

use saltus_plot::{PlotOptions, plot_over_time, plot_phase};
use saltus_results::read_events;

use crate::args::PlotArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::files;

/// `saltus plot`
pub(crate) fn plot(args: PlotArgs) -> Outcome {
    let format = Format::of(&args.output)?;
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
    let bytes = format.bytes(svg)?;
    files::write_file(&args.output, |out| out.write_all(&bytes))?;
    Ok(Exit::Done)
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
