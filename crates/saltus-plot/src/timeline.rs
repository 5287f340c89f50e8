//! What happened when: rows of marks and spans over a common time axis.

use std::fmt::Write;

use crate::svg::{close, line, open, text, text_width};
use crate::ticks::Axis;
use crate::{PlotError, PlotOptions};

/// A name, the instants at which something happened, and the times during which something was so.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TimelineRow {
    pub name: String,
    pub marks: Vec<f64>,
    pub spans: Vec<(f64, f64)>,
}

const FONT_SIZE: f64 = 13.0;
const TITLE_SIZE: f64 = 16.0;
const ROW: f64 = 26.0;
const MARGIN: f64 = 16.0;
const INK: &str = "#282828";
const GRID: &str = "#E4E4E4";
const MARK: &str = "#D55E00";
const SPAN: &str = "#005FAF";

/// Draws the rows, the first one on top. The height follows from their number.
pub fn draw_timeline(rows: &[TimelineRow], options: &PlotOptions) -> Result<String, PlotError> {
    let times = rows.iter().flat_map(|row| {
        let spans = row.spans.iter().flat_map(|&(from, to)| [from, to]);
        row.marks.iter().copied().chain(spans)
    });
    let times = times
        .chain(options.events.iter().copied())
        .filter(|t| t.is_finite());
    let range = times.fold(None, |range, t| match range {
        None => Some((t, t)),
        Some((low, high)) => Some((t.min(low), t.max(high))),
    });
    let (low, high): (f64, f64) = range.ok_or(PlotError::Nothing)?;
    let axis = Axis::with_margin(low, high, 8, 0.02);
    let width = f64::from(options.width);
    let names = rows.iter().map(|row| text_width(&row.name, FONT_SIZE));
    let left = MARGIN + names.fold(0.0, f64::max) + 10.0;
    let right = width - MARGIN;
    let top = MARGIN + options.title.as_ref().map_or(0.0, |_| TITLE_SIZE + 12.0);
    let bottom = top + ROW * rows.len() as f64;
    let mut out = open((width, bottom + 4.0 * FONT_SIZE), FONT_SIZE);
    if let Some(title) = &options.title {
        text(
            &mut out,
            left,
            MARGIN + TITLE_SIZE,
            "start",
            TITLE_SIZE,
            title,
        );
    }
    let x = |t: f64| left + axis.share(t) * (right - left);
    for &tick in &axis.ticks {
        line(&mut out, (x(tick), top), (x(tick), bottom), GRID, 1.0);
        let label = axis.label(tick);
        text(
            &mut out,
            x(tick),
            bottom + 18.0,
            "middle",
            FONT_SIZE,
            &label,
        );
    }
    let middle = (left + right) / 2.0;
    text(
        &mut out,
        middle,
        bottom + 38.0,
        "middle",
        FONT_SIZE,
        &options.horizontal,
    );
    for (k, row) in rows.iter().enumerate() {
        let y = top + (k as f64 + 0.5) * ROW;
        text(&mut out, left - 8.0, y + 4.5, "end", FONT_SIZE, &row.name);
        line(&mut out, (left, y), (right, y), GRID, 1.0);
        for &(from, to) in &row.spans {
            let _ = writeln!(
                out,
                r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="10" fill="{SPAN}" fill-opacity="0.75"/>"#,
                x(from),
                y - 5.0,
                (x(to) - x(from)).max(0.5)
            );
        }
        for &mark in &row.marks {
            line(&mut out, (x(mark), y - 9.0), (x(mark), y + 9.0), MARK, 2.0);
        }
    }
    line(&mut out, (left, bottom), (right, bottom), INK, 1.0);
    Ok(close(out))
}
