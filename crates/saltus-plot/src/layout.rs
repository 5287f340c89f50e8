//! Places of frame, axes, legend and curves, and the drawing through plotters' SVG back end.
//!
//! The layout is computed here rather than by plotters' chart builder: without font features the latter cannot
//! measure text, and a legend beneath the picture never covers a curve.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::svg::with_dark_colours;
use crate::ticks::Axis;
use crate::{Curve, LineStyle, PlotError, PlotOptions, Scale};

pub const WIDTH_DEFAULT: u32 = 900;
pub const HEIGHT_DEFAULT: u32 = 480;

/// Colours that stay apart for colour-blind readers (after Okabe and Ito). What they are on dark screens: [`crate::svg`].
const PALETTE: [RGBColor; 8] = [
    RGBColor(0, 95, 175),
    RGBColor(213, 94, 0),
    RGBColor(0, 138, 100),
    RGBColor(180, 70, 140),
    RGBColor(150, 110, 0),
    RGBColor(60, 150, 210),
    RGBColor(90, 90, 90),
    RGBColor(130, 60, 200),
];

const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(228, 228, 228);
const EVENT: RGBColor = RGBColor(245, 190, 100);

const FONT: &str = "Helvetica, Arial, sans-serif";
/// Units per pixel. plotters has whole coordinates; drawn on a finer raster, curves are smooth.
const UNIT: i32 = 10;
const FONT_SIZE: i32 = 13 * UNIT;
const TITLE_SIZE: i32 = 16 * UNIT;
/// Mean width of a character as a share of the font size.
const CHAR_WIDTH: f64 = 0.56;

const HAIRLINE: u32 = UNIT as u32;
const CURVE_LINE: u32 = 18 * UNIT as u32 / 10;
const SWATCH_LINE: u32 = 3 * UNIT as u32;

const GAP: i32 = 6 * UNIT;
const MARGIN: i32 = 14 * UNIT;
const TICK_LENGTH: i32 = 5 * UNIT;
const LEGEND_LINE: i32 = 22 * UNIT;
const LEGEND_SWATCH: i32 = 26 * UNIT;

/// Free space above and below the curves, as a share of their range.
const VALUE_MARGIN: f64 = 0.06;

/// More events than this are a wall, not information: they are drawn as their density.
const EVENT_LINES_MAX: usize = 150;
/// Width of the columns in which events are counted.
const DENSITY_COLUMN: i32 = 4 * UNIT;
/// How much of the colour the emptiest and the fullest column have.
const DENSITY_FAINT: f64 = 0.08;
const DENSITY_FULL: f64 = 0.75;

/// Height of a picture with several panels: of each one, and of what is around them.
const PANEL_HEIGHT: u32 = 210;
const AROUND_HEIGHT: u32 = 110;

/// Largest width and height in pixels.
const SIZE_MAX: u32 = 20_000;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Maps data to pixels of the plot's inner frame.
struct Frame {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
    x: Axis,
    y: Axis,
}

impl Frame {
    fn px(&self, t: f64) -> i32 {
        self.left + (self.x.share(t) * f64::from(self.right - self.left)).round() as i32
    }

    fn py(&self, y: f64) -> i32 {
        self.bottom - (self.y.share(y) * f64::from(self.bottom - self.top)).round() as i32
    }
}

fn text_width(text: &str, size: i32) -> i32 {
    (text.chars().count() as f64 * CHAR_WIDTH * f64::from(size)).ceil() as i32
}

/// Curves that share a frame, with the vertical axis that they need.
struct Panel<'c> {
    curves: &'c [&'c Curve],
    /// Number of the first curve in the picture, which gives its colour.
    first: usize,
    y: Axis,
}

/// Draws everything over a range of the horizontal axis, each group of curves in a frame of its own.
pub(crate) fn draw(
    groups: &[Vec<&Curve>],
    horizontal: Axis,
    options: &PlotOptions,
) -> Result<String, PlotError> {
    let mut panels = Vec::new();
    let mut first = 0;
    let mut is_finite = false;
    for curves in groups {
        let range = value_range(curves, options.vertical);
        is_finite = is_finite || range.is_some();
        let (low, high) = range.unwrap_or((0.0, 0.0));
        let y = match options.vertical {
            Scale::Logarithmic if range.is_some() => Axis::logarithmic(low, high),
            _ => Axis::with_margin(low, high, 6, VALUE_MARGIN),
        };
        panels.push(Panel { curves, first, y });
        first += curves.len();
    }
    if !is_finite {
        return Err(PlotError::NotFinite);
    }
    let n = panels.len() as u32;
    let height = match options.height {
        HEIGHT_DEFAULT if n > 1 => AROUND_HEIGHT + n * PANEL_HEIGHT,
        height => height,
    };
    let mut svg = String::new();
    let (width, height) = (
        options.width.clamp(200, SIZE_MAX),
        height.clamp(150, SIZE_MAX),
    );
    let size = (width * UNIT as u32, height * UNIT as u32);
    let outcome = {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw_on(&area, &panels, &horizontal, options).and_then(|()| area.present())
    };
    outcome.map_err(|e| PlotError::Drawing(e.to_string()))?;
    // The picture is `width` pixels wide and its inner coordinates are finer.
    let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    let shown = format!("width=\"{width}\" height=\"{height}\"");
    Ok(with_dark_colours(&svg.replacen(&drawn, &shown, 1)))
}

/// Range of all values that the scale can show. Stems stand on zero.
fn value_range(curves: &[&Curve], scale: Scale) -> Option<(f64, f64)> {
    let points = curves.iter().flat_map(|c| c.pieces.iter().flatten());
    let values = points
        .map(|&(_, y)| y)
        .filter(|&y| scale == Scale::Linear || y > 0.0);
    let stems = curves.iter().any(|c| c.style == LineStyle::Stems);
    let foot = (stems && scale == Scale::Linear).then_some(0.0);
    values.chain(foot).fold(None, |range, y| match range {
        None => Some((y, y)),
        Some((low, high)) => Some((low.min(y), high.max(y))),
    })
}

type Drawn = Result<(), DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>>;

/// One panel has its unit above and its legend beneath it; of several each has both above it.
fn draw_on(area: &Area<'_>, panels: &[Panel<'_>], x: &Axis, options: &PlotOptions) -> Drawn {
    area.fill(&WHITE)?;
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (width as i32, height as i32);
    let is_single = panels.len() == 1;
    let legends: Vec<Legend> = panels
        .iter()
        .map(|p| Legend::new(p, width, is_single))
        .collect();
    let labels = panels
        .iter()
        .flat_map(|p| p.y.ticks.iter().map(|&t| p.y.label(t)));
    let label_width = labels.map(|label| text_width(&label, FONT_SIZE)).max();
    let left = MARGIN + label_width.unwrap_or(0) + TICK_LENGTH + GAP;
    let right = width - MARGIN - GAP;
    let head_of = |legend: &Legend| match is_single {
        true if common_unit(panels[0].curves).is_some() => FONT_SIZE + GAP,
        true => 0,
        false => legend.height() + GAP,
    };
    let top = MARGIN + options.title.as_ref().map_or(0, |_| TITLE_SIZE + 2 * GAP);
    let below = if is_single { legends[0].height() } else { 0 };
    let bottom = height - MARGIN - below - 2 * FONT_SIZE - 3 * GAP;
    let heads: i32 = legends.iter().map(head_of).sum();
    let between = 2 * GAP;
    let n = panels.len() as i32;
    let frame_height = (bottom - top - heads - (n - 1) * between) / n;
    if let Some(title) = &options.title {
        let style = text_style(TITLE_SIZE, HPos::Left, VPos::Top);
        area.draw_text(title, &style, (left, MARGIN))?;
    }
    let mut from = top;
    for (k, (panel, legend)) in panels.iter().zip(&legends).enumerate() {
        let begin = from + head_of(legend);
        let frame = Frame {
            left,
            top: begin,
            right,
            bottom: begin + frame_height,
            x: x.clone(),
            y: panel.y.clone(),
        };
        let is_last = k + 1 == panels.len();
        draw_panel(
            area,
            panel,
            &frame,
            is_last.then_some(&options.horizontal),
            options,
        )?;
        let unit = common_unit(panel.curves).filter(|_| is_single);
        if let Some(unit) = unit {
            let style = text_style(FONT_SIZE, HPos::Left, VPos::Bottom);
            area.draw_text(&format!("[{unit}]"), &style, (left, frame.top - GAP))?;
        }
        let first_line = match is_single {
            true => height - MARGIN - legend.height() + LEGEND_LINE / 2,
            false => from + LEGEND_LINE / 2,
        };
        legend.draw(area, left, first_line)?;
        from = frame.bottom + between;
    }
    Ok(())
}

/// The frame with its grid, events and curves. `horizontal`: the text at the axis of the lowest frame.
fn draw_panel(
    area: &Area<'_>,
    panel: &Panel<'_>,
    frame: &Frame,
    horizontal: Option<&String>,
    options: &PlotOptions,
) -> Drawn {
    draw_grid(area, frame, horizontal)?;
    draw_events(area, frame, &options.events)?;
    for (k, curve) in panel.curves.iter().enumerate() {
        draw_curve(area, frame, curve, colour(panel.first + k))?;
    }
    let (left, top, right, bottom) = (frame.left, frame.top, frame.right, frame.bottom);
    let corners = vec![
        (left, top),
        (right, top),
        (right, bottom),
        (left, bottom),
        (left, top),
    ];
    area.draw(&PathElement::new(corners, INK.stroke_width(HAIRLINE)))
}

fn colour(curve: usize) -> RGBColor {
    PALETTE[curve % PALETTE.len()]
}

/// The unit, if all curves have the same one.
fn common_unit<'c>(curves: &[&'c Curve]) -> Option<&'c str> {
    let unit = curves.first()?.unit.as_str();
    (!unit.is_empty() && curves.iter().all(|c| c.unit == unit)).then_some(unit)
}

fn text_style(size: i32, h: HPos, v: VPos) -> TextStyle<'static> {
    // The SVG back end divides font sizes by this.
    const BACK_END_FACTOR: f64 = 1.24;
    TextStyle::from((FONT, f64::from(size) * BACK_END_FACTOR).into_font())
        .color(&INK)
        .pos(Pos::new(h, v))
}

fn draw_grid(area: &Area<'_>, frame: &Frame, horizontal: Option<&String>) -> Drawn {
    let line = |from, to, color: RGBColor| {
        area.draw(&PathElement::new(
            vec![from, to],
            color.stroke_width(HAIRLINE),
        ))
    };
    let below = text_style(FONT_SIZE, HPos::Center, VPos::Top);
    for &tick in &frame.x.ticks {
        let x = frame.px(tick);
        line((x, frame.top), (x, frame.bottom), GRID)?;
        line((x, frame.bottom), (x, frame.bottom + TICK_LENGTH), INK)?;
        if horizontal.is_some() {
            area.draw_text(
                &frame.x.label(tick),
                &below,
                (x, frame.bottom + TICK_LENGTH + GAP / 2),
            )?;
        }
    }
    let beside = text_style(FONT_SIZE, HPos::Right, VPos::Center);
    for &tick in &frame.y.ticks {
        let y = frame.py(tick);
        line((frame.left, y), (frame.right, y), GRID)?;
        line((frame.left - TICK_LENGTH, y), (frame.left, y), INK)?;
        area.draw_text(
            &frame.y.label(tick),
            &beside,
            (frame.left - TICK_LENGTH - GAP / 2, y),
        )?;
    }
    let center = (frame.left + frame.right) / 2;
    let y = frame.bottom + TICK_LENGTH + FONT_SIZE + GAP;
    match horizontal {
        Some(text) => area.draw_text(text, &below, (center, y)),
        None => Ok(()),
    }
}

fn draw_events(area: &Area<'_>, frame: &Frame, events: &[f64]) -> Drawn {
    let inside = |t: &f64| (frame.x.low..=frame.x.high).contains(t);
    let mut columns: Vec<i32> = events
        .iter()
        .filter(|t| inside(t))
        .map(|&t| frame.px(t))
        .collect();
    columns.dedup();
    if columns.len() > EVENT_LINES_MAX {
        return draw_density(area, frame, events);
    }
    for x in columns {
        area.draw(&PathElement::new(
            vec![(x, frame.top), (x, frame.bottom)],
            EVENT.mix(0.9).stroke_width(HAIRLINE),
        ))?;
    }
    Ok(())
}

/// How many events there are where: the more, the stronger the colour.
fn draw_density(area: &Area<'_>, frame: &Frame, events: &[f64]) -> Drawn {
    let n_columns = ((frame.right - frame.left) / DENSITY_COLUMN).max(1);
    let mut counts = vec![0_u32; n_columns as usize];
    for &t in events {
        if (frame.x.low..=frame.x.high).contains(&t) {
            let column = ((frame.px(t) - frame.left) / DENSITY_COLUMN).clamp(0, n_columns - 1);
            counts[column as usize] += 1;
        }
    }
    let most = f64::from(counts.iter().copied().max().unwrap_or(1).max(1));
    for (k, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let share = (f64::from(count) / most).sqrt();
        let strength = DENSITY_FAINT + (DENSITY_FULL - DENSITY_FAINT) * share;
        let from = frame.left + k as i32 * DENSITY_COLUMN;
        let to = (from + DENSITY_COLUMN).min(frame.right);
        area.draw(&Rectangle::new(
            [(from, frame.top), (to, frame.bottom)],
            EVENT.mix(strength).filled(),
        ))?;
    }
    Ok(())
}

fn draw_curve(area: &Area<'_>, frame: &Frame, curve: &Curve, color: RGBColor) -> Drawn {
    for &(t, from, to) in &curve.jumps {
        let x = frame.px(t);
        draw_dashed(area, x, frame.py(from), frame.py(to), color)?;
    }
    let place = |&(t, y): &(f64, f64)| (frame.px(t), frame.py(y));
    let dot = |point| area.draw(&Circle::new(point, 5 * UNIT / 2, color.filled()));
    for piece in &curve.pieces {
        match curve.style {
            LineStyle::Area => {
                let corners: Vec<(i32, i32)> = piece.iter().map(place).collect();
                area.draw(&Polygon::new(corners, color.mix(AREA_STRENGTH).filled()))?;
            }
            LineStyle::Crosses => {
                for point in piece {
                    draw_cross(area, place(point), color)?;
                }
            }
            LineStyle::Points => {
                for point in piece {
                    dot(place(point))?;
                }
            }
            LineStyle::Stems => {
                let foot = frame.py(frame.y.foot());
                for point in piece {
                    let (x, y) = place(point);
                    let line =
                        PathElement::new(vec![(x, foot), (x, y)], color.stroke_width(CURVE_LINE));
                    area.draw(&line)?;
                    dot((x, y))?;
                }
            }
            LineStyle::Solid | LineStyle::Dashed => {
                let points = match curve.is_path {
                    true => piece.iter().map(place).collect(),
                    false => thinned(piece.iter().map(place)),
                };
                match points.as_slice() {
                    [point] => dot(*point)?,
                    _ if curve.style == LineStyle::Dashed => {
                        for dash in dashes(&points) {
                            area.draw(&PathElement::new(dash, color.stroke_width(CURVE_LINE)))?;
                        }
                    }
                    _ => area.draw(&PathElement::new(points, color.stroke_width(CURVE_LINE)))?,
                }
            }
        }
    }
    Ok(())
}

/// How much of its colour an area has.
const AREA_STRENGTH: f64 = 0.2;

fn draw_cross(area: &Area<'_>, (x, y): (i32, i32), color: RGBColor) -> Drawn {
    const ARM: i32 = 5 * UNIT;
    for side in [-1, 1] {
        let ends = vec![(x - ARM, y - side * ARM), (x + ARM, y + side * ARM)];
        area.draw(&PathElement::new(ends, color.stroke_width(CURVE_LINE)))?;
    }
    Ok(())
}

/// A line through points, cut into dashes of equal length.
fn dashes(points: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
    const DASH: f64 = 70.0;
    const GAP: f64 = 40.0;
    let mut out = Vec::new();
    let mut dash = vec![points[0]];
    let (mut left, mut inked) = (DASH, true);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        let mut gone = 0.0;
        while length - gone > left {
            gone += left;
            let share = gone / length;
            let at = (
                from.0 + (share * dx).round() as i32,
                from.1 + (share * dy).round() as i32,
            );
            dash.push(at);
            if inked {
                out.push(std::mem::take(&mut dash));
            }
            dash = vec![at];
            inked = !inked;
            left = if inked { DASH } else { GAP };
        }
        left -= length - gone;
        dash.push(to);
    }
    if inked && dash.len() > 1 {
        out.push(dash);
    }
    out
}

/// A vertical dashed line: a jump.
fn draw_dashed(area: &Area<'_>, x: i32, from: i32, to: i32, color: RGBColor) -> Drawn {
    const DASH: i32 = 3 * UNIT;
    let (top, bottom) = (from.min(to), from.max(to));
    for y in (top..bottom).step_by(2 * DASH as usize) {
        let end = (y + DASH).min(bottom);
        area.draw(&PathElement::new(
            vec![(x, y), (x, end)],
            color.mix(0.6).stroke_width(HAIRLINE),
        ))?;
    }
    Ok(())
}

/// At most four points per column of half a pixel: first, lowest, highest, last. The picture is the same.
fn thinned(points: impl Iterator<Item = (i32, i32)>) -> Vec<(i32, i32)> {
    const COLUMN: i32 = UNIT / 2;
    let mut out: Vec<(i32, i32)> = Vec::new();
    let mut column: Vec<(i32, i32)> = Vec::new();
    let flush = |column: &mut Vec<(i32, i32)>, out: &mut Vec<(i32, i32)>| {
        let n = column.len();
        let keep_all = n <= 4;
        let low = (0..n).min_by_key(|&i| column[i].1);
        let high = (0..n).max_by_key(|&i| column[i].1);
        for (i, &point) in column.iter().enumerate() {
            let keep = keep_all || i == 0 || i + 1 == n || Some(i) == low || Some(i) == high;
            if keep && out.last() != Some(&point) {
                out.push(point);
            }
        }
        column.clear();
    };
    for point in points {
        if column
            .last()
            .is_some_and(|last| last.0 / COLUMN != point.0 / COLUMN)
        {
            flush(&mut column, &mut out);
        }
        column.push(point);
    }
    flush(&mut column, &mut out);
    out
}

/// Names with their colours, in lines.
struct Legend {
    entries: Vec<Entry>,
    lines: i32,
}

struct Entry {
    line: i32,
    offset: i32,
    text: String,
    style: LineStyle,
    color: RGBColor,
}

impl Legend {
    /// The unit is part of the names if it is not one for all, and before them if there are other panels.
    fn new(panel: &Panel<'_>, width: i32, is_single: bool) -> Legend {
        let common = common_unit(panel.curves);
        let room = width - 2 * MARGIN;
        let (mut line, mut offset) = (0, 0);
        let mut entries = Vec::with_capacity(panel.curves.len());
        for (k, curve) in panel.curves.iter().enumerate() {
            let has_unit = (common.is_none() || !is_single) && !curve.unit.is_empty();
            let text = match has_unit {
                true => format!("{} [{}]", curve.name, curve.unit),
                false => curve.name.clone(),
            };
            let entry_width = LEGEND_SWATCH + GAP + text_width(&text, FONT_SIZE) + 3 * GAP;
            if offset > 0 && offset + entry_width > room {
                line += 1;
                offset = 0;
            }
            entries.push(Entry {
                line,
                offset,
                text,
                style: curve.style,
                color: colour(panel.first + k),
            });
            offset += entry_width;
        }
        Legend {
            entries,
            lines: line + 1,
        }
    }

    fn height(&self) -> i32 {
        self.lines * LEGEND_LINE
    }

    /// `first`: the middle of the first line.
    fn draw(&self, area: &Area<'_>, left: i32, first: i32) -> Drawn {
        let beside = text_style(FONT_SIZE, HPos::Left, VPos::Center);
        for entry in &self.entries {
            let color = entry.color;
            let (x, y) = (left + entry.offset, first + entry.line * LEGEND_LINE);
            let swatch = [(x, y), (x + LEGEND_SWATCH, y)];
            let middle = (x + LEGEND_SWATCH / 2, y);
            match entry.style {
                LineStyle::Points | LineStyle::Stems => {
                    area.draw(&Circle::new(middle, 4 * UNIT, color.filled()))?;
                }
                LineStyle::Crosses => draw_cross(area, middle, color)?,
                LineStyle::Area => {
                    let corners = [(x, y - 5 * UNIT), (x + LEGEND_SWATCH, y + 5 * UNIT)];
                    area.draw(&Rectangle::new(corners, color.mix(AREA_STRENGTH).filled()))?;
                }
                LineStyle::Dashed => {
                    for dash in dashes(&swatch) {
                        area.draw(&PathElement::new(dash, color.stroke_width(SWATCH_LINE)))?;
                    }
                }
                LineStyle::Solid => area.draw(&PathElement::new(
                    swatch.to_vec(),
                    color.stroke_width(SWATCH_LINE),
                ))?,
            }
            area.draw_text(&entry.text, &beside, (x + LEGEND_SWATCH + GAP, y))?;
        }
        Ok(())
    }
}
