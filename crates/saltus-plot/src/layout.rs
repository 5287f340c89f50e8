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

/// More events than this are a grey area, not information.
const EVENT_LINES_MAX: usize = 400;

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

/// Draws everything over a range of the horizontal axis.
pub(crate) fn draw(
    curves: &[Curve],
    horizontal: Axis,
    options: &PlotOptions,
) -> Result<String, PlotError> {
    let (low, high) = value_range(curves, options.vertical).ok_or(PlotError::NotFinite)?;
    let vertical = match options.vertical {
        Scale::Linear => Axis::with_margin(low, high, 6, VALUE_MARGIN),
        Scale::Logarithmic => Axis::logarithmic(low, high),
    };
    let mut svg = String::new();
    let (width, height) = (
        options.width.clamp(200, SIZE_MAX),
        options.height.clamp(150, SIZE_MAX),
    );
    let size = (width * UNIT as u32, height * UNIT as u32);
    let outcome = {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw_on(&area, curves, horizontal, vertical, options).and_then(|()| area.present())
    };
    outcome.map_err(|e| PlotError::Drawing(e.to_string()))?;
    // The picture is `width` pixels wide and its inner coordinates are finer.
    let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    let shown = format!("width=\"{width}\" height=\"{height}\"");
    Ok(with_dark_colours(&svg.replacen(&drawn, &shown, 1)))
}

/// Range of all values that the scale can show. Stems stand on zero.
fn value_range(curves: &[Curve], scale: Scale) -> Option<(f64, f64)> {
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

fn draw_on(area: &Area<'_>, curves: &[Curve], x: Axis, y: Axis, options: &PlotOptions) -> Drawn {
    area.fill(&WHITE)?;
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (width as i32, height as i32);
    let legend = Legend::new(curves, width);
    let label_width = y
        .ticks
        .iter()
        .map(|&t| text_width(&y.label(t), FONT_SIZE))
        .max();
    let common_unit = common_unit(curves);
    let top = MARGIN
        + if options.title.is_some() {
            TITLE_SIZE + 2 * GAP
        } else {
            0
        }
        + if common_unit.is_some() {
            FONT_SIZE + GAP
        } else {
            0
        };
    let frame = Frame {
        left: MARGIN + label_width.unwrap_or(0) + TICK_LENGTH + GAP,
        top,
        right: width - MARGIN - GAP,
        bottom: height - MARGIN - legend.height() - 2 * FONT_SIZE - 3 * GAP,
        x,
        y,
    };
    if let Some(title) = &options.title {
        let style = text_style(TITLE_SIZE, HPos::Left, VPos::Top);
        area.draw_text(title, &style, (frame.left, MARGIN))?;
    }
    if let Some(unit) = common_unit {
        let style = text_style(FONT_SIZE, HPos::Left, VPos::Bottom);
        area.draw_text(&format!("[{unit}]"), &style, (frame.left, frame.top - GAP))?;
    }
    draw_grid(area, &frame, &options.horizontal)?;
    draw_events(area, &frame, &options.events)?;
    for (curve, color) in curves.iter().zip(PALETTE.iter().cycle()) {
        draw_curve(area, &frame, curve, *color)?;
    }
    let (left, top, right, bottom) = (frame.left, frame.top, frame.right, frame.bottom);
    let corners = vec![
        (left, top),
        (right, top),
        (right, bottom),
        (left, bottom),
        (left, top),
    ];
    area.draw(&PathElement::new(corners, INK.stroke_width(HAIRLINE)))?;
    legend.draw(area, &frame, height)
}

/// The unit, if all curves have the same one.
fn common_unit(curves: &[Curve]) -> Option<&str> {
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

fn draw_grid(area: &Area<'_>, frame: &Frame, horizontal: &str) -> Drawn {
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
        area.draw_text(
            &frame.x.label(tick),
            &below,
            (x, frame.bottom + TICK_LENGTH + GAP / 2),
        )?;
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
    area.draw_text(horizontal, &below, (center, y))
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
        return Ok(());
    }
    for x in columns {
        area.draw(&PathElement::new(
            vec![(x, frame.top), (x, frame.bottom)],
            EVENT.mix(0.9).stroke_width(HAIRLINE),
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

/// Names with their colours, in lines beneath the picture.
struct Legend {
    /// Line, offset, text and style of each entry.
    entries: Vec<(i32, i32, String, LineStyle)>,
    lines: i32,
}

impl Legend {
    fn new(curves: &[Curve], width: i32) -> Legend {
        let with_units = common_unit(curves).is_none();
        let room = width - 2 * MARGIN;
        let (mut line, mut offset) = (0, 0);
        let mut entries = Vec::with_capacity(curves.len());
        for curve in curves {
            let text = if with_units && !curve.unit.is_empty() {
                format!("{} [{}]", curve.name, curve.unit)
            } else {
                curve.name.clone()
            };
            let entry_width = LEGEND_SWATCH + GAP + text_width(&text, FONT_SIZE) + 3 * GAP;
            if offset > 0 && offset + entry_width > room {
                line += 1;
                offset = 0;
            }
            entries.push((line, offset, text, curve.style));
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

    fn draw(&self, area: &Area<'_>, frame: &Frame, height: i32) -> Drawn {
        let beside = text_style(FONT_SIZE, HPos::Left, VPos::Center);
        let first = height - MARGIN - self.height() + LEGEND_LINE / 2;
        for ((line, offset, text, style), color) in self.entries.iter().zip(PALETTE.iter().cycle())
        {
            let (x, y) = (frame.left + offset, first + line * LEGEND_LINE);
            let swatch = [(x, y), (x + LEGEND_SWATCH, y)];
            let middle = (x + LEGEND_SWATCH / 2, y);
            match style {
                LineStyle::Points | LineStyle::Stems => {
                    area.draw(&Circle::new(middle, 4 * UNIT, color.filled()))?;
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
            area.draw_text(text, &beside, (x + LEGEND_SWATCH + GAP, y))?;
        }
        Ok(())
    }
}
