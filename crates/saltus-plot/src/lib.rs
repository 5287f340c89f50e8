//! Pictures of results as SVG: curves over time, phase plots, steps, spectra, event timelines, graphs of modes, structure.
//!
//! Comes in: a [`ResultTable`] and the names to draw, or points, marks, modes. Goes out: SVG text. Labels are SVG text, so no font is read
//! and the same input gives the same bytes on every machine. On a screen that prefers dark colours the pictures are dark; in print they are light.
//!
//! A curve is linear between rows. Where two rows have equal time the variable jumps: the curve is broken there and
//! the jump drawn as a thin dashed vertical line, so that it does not pass for a steep slope.

mod layout;
mod modes;
mod pdf;
#[cfg(feature = "png")]
mod png;
mod structure;
mod svg;
mod terminal;
mod ticks;
mod timeline;

use std::fmt;

use saltus_results::ResultTable;
use ticks::Axis;

pub use layout::{HEIGHT_DEFAULT, WIDTH_DEFAULT};
pub use modes::{ModeGraph, ModeNode, ModeTransition, draw_modes};
pub use pdf::to_pdf;
#[cfg(feature = "png")]
pub use png::to_png;
pub use structure::{PictureEquation, PictureUnknown, StructurePicture, draw_structure};
pub use terminal::plot_terminal;
pub use timeline::{TimelineRow, draw_timeline};

/// What a picture looks like.
#[derive(Clone, PartialEq, Debug)]
pub struct PlotOptions {
    pub title: Option<String>,
    pub width: u32,
    pub height: u32,
    /// Times of events, drawn as faint vertical lines.
    pub events: Vec<f64>,
    /// Text at the horizontal axis.
    pub horizontal: String,
    pub horizontal_scale: Scale,
    pub vertical: Scale,
}

/// Of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scale {
    #[default]
    Linear,
    /// Decades; values that are not positive are at its lower end.
    Logarithmic,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LineStyle {
    #[default]
    Solid,
    Dashed,
    /// A dot for every point.
    Points,
    /// A cross for every point.
    Crosses,
    /// A dot for every point, on a vertical line from zero: lines of a spectrum.
    Stems,
    /// A closed area through the points, filled faintly: a tube.
    Area,
}

/// A named line through points. Where its horizontal values do not grow it is a path, as in a phase plot.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    pub name: String,
    /// Of the vertical values; empty: none.
    pub unit: String,
    pub points: Vec<(f64, f64)>,
    pub style: LineStyle,
}

impl Line {
    pub fn new(name: impl Into<String>, unit: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line {
            name: name.into(),
            unit: unit.into(),
            points,
            style: LineStyle::Solid,
        }
    }

    pub fn style(mut self, style: LineStyle) -> Line {
        self.style = style;
        self
    }
}

impl From<(String, Vec<(f64, f64)>)> for Line {
    fn from((name, points): (String, Vec<(f64, f64)>)) -> Line {
        Line::new(name, "", points)
    }
}

impl Default for PlotOptions {
    fn default() -> Self {
        PlotOptions {
            title: None,
            width: WIDTH_DEFAULT,
            height: HEIGHT_DEFAULT,
            events: Vec::new(),
            horizontal: "time [s]".to_owned(),
            horizontal_scale: Scale::Linear,
            vertical: Scale::Linear,
        }
    }
}

/// Why there is no picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlotError {
    /// The result has no such variable; names like it.
    UnknownVariable { name: String, similar: Vec<String> },
    /// There are no names, or no rows.
    Nothing,
    /// All values of all variables are NaN or infinite.
    NotFinite,
    /// Drawing failed.
    Drawing(String),
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlotError::UnknownVariable { name, similar } => {
                write!(f, "the result has no variable `{name}`")?;
                if let [first, rest @ ..] = similar.as_slice() {
                    write!(f, "; did you mean `{first}`")?;
                    for name in rest {
                        write!(f, " or `{name}`")?;
                    }
                    f.write_str("?")?;
                }
                Ok(())
            }
            PlotError::Nothing => f.write_str("there is nothing to draw"),
            PlotError::NotFinite => f.write_str("no value is a finite number"),
            PlotError::Drawing(what) => write!(f, "drawing failed: {what}"),
        }
    }
}

impl std::error::Error for PlotError {}

/// Draws variables over time.
pub fn plot_over_time(
    table: &ResultTable,
    names: &[String],
    options: &PlotOptions,
) -> Result<String, PlotError> {
    if names.is_empty() || table.n_rows() == 0 {
        return Err(PlotError::Nothing);
    }
    let mut curves = Vec::with_capacity(names.len());
    for name in names {
        let (unit, values) = column(table, name)?;
        curves.push(Curve::over_time(name, &unit, table.time(), &values));
    }
    let time = table.time();
    let horizontal = Axis::exact(time[0], time[time.len() - 1], TICKS);
    layout::draw(&by_unit(&curves), horizontal, options)
}

/// Curves of one unit have one panel, in the order in which the units come.
fn by_unit(curves: &[Curve]) -> Vec<Vec<&Curve>> {
    let mut panels: Vec<Vec<&Curve>> = Vec::new();
    for curve in curves {
        match panels.iter_mut().find(|panel| panel[0].unit == curve.unit) {
            Some(panel) => panel.push(curve),
            None => panels.push(vec![curve]),
        }
    }
    panels
}

/// Draws lines over one horizontal axis, each group in a panel of its own.
pub fn plot_panels(groups: &[Vec<Line>], options: &PlotOptions) -> Result<String, PlotError> {
    let curves: Vec<Vec<Curve>> = (groups.iter())
        .map(|lines| lines.iter().map(Curve::of_line).collect())
        .collect();
    let panels: Vec<Vec<&Curve>> = curves.iter().map(|panel| panel.iter().collect()).collect();
    let horizontal = horizontal_axis(groups.iter().flatten(), &panels, options)?;
    layout::draw(&panels, horizontal, options)
}

/// Draws lines over one horizontal axis, those of one unit in a panel.
pub fn plot_by_unit(lines: &[Line], options: &PlotOptions) -> Result<String, PlotError> {
    let mut groups: Vec<Vec<Line>> = Vec::new();
    for line in lines {
        match groups.iter_mut().find(|group| group[0].unit == line.unit) {
            Some(group) => group.push(line.clone()),
            None => groups.push(vec![line.clone()]),
        }
    }
    plot_panels(&groups, options)
}

fn horizontal_axis<'l>(
    lines: impl Iterator<Item = &'l Line>,
    panels: &[Vec<&Curve>],
    options: &PlotOptions,
) -> Result<Axis, PlotError> {
    let is_shown = |x: &f64| match options.horizontal_scale {
        Scale::Linear => x.is_finite(),
        Scale::Logarithmic => x.is_finite() && *x > 0.0,
    };
    let xs = lines
        .flat_map(|line| &line.points)
        .map(|p| p.0)
        .filter(is_shown);
    let range = xs.fold(None, |range, x| match range {
        None => Some((x, x)),
        Some((low, high)) => Some((x.min(low), x.max(high))),
    });
    let (low, high): (f64, f64) = range.ok_or(PlotError::Nothing)?;
    let touches = |curve: &&Curve| {
        let is_marked = matches!(curve.style, LineStyle::Stems | LineStyle::Crosses);
        (curve.is_path && curve.style != LineStyle::Area) || is_marked
    };
    Ok(match options.horizontal_scale {
        Scale::Logarithmic => Axis::logarithmic(low, high),
        Scale::Linear if panels.iter().flatten().any(touches) => {
            Axis::with_margin(low, high, TICKS, PATH_MARGIN)
        }
        Scale::Linear => Axis::exact(low, high, TICKS),
    })
}

/// Draws variables over another variable.
pub fn plot_phase(
    table: &ResultTable,
    over: &str,
    names: &[String],
    options: &PlotOptions,
) -> Result<String, PlotError> {
    if names.is_empty() || table.n_rows() == 0 {
        return Err(PlotError::Nothing);
    }
    let (unit, over_values) = column(table, over)?;
    let mut lines = Vec::with_capacity(names.len());
    for name in names {
        let (unit, values) = column(table, name)?;
        let points = over_values.iter().copied().zip(values).collect();
        lines.push(Line::new(name, unit, points));
    }
    let horizontal = match unit.as_str() {
        "" => over.to_owned(),
        unit => format!("{over} [{unit}]"),
    };
    let options = PlotOptions {
        horizontal,
        ..options.clone()
    };
    plot_lines(&lines, &options)
}

/// Unit and values of a variable.
fn column(table: &ResultTable, name: &str) -> Result<(String, Vec<f64>), PlotError> {
    let Some(signal) = table.signal(name) else {
        let similar = table.similar_names(name, 2);
        return Err(PlotError::UnknownVariable {
            name: name.to_owned(),
            similar: similar.into_iter().map(str::to_owned).collect(),
        });
    };
    let unit = table.variable(name).map_or("", |v| v.unit.as_str());
    Ok((unit.to_owned(), signal.to_vec()))
}

/// About so many ticks at the horizontal axis.
const TICKS: usize = 8;
/// Free space beside paths and stems, as a share of their range.
const PATH_MARGIN: f64 = 0.03;

/// Draws named lines through points, whatever the axes mean.
pub fn plot_lines<L: Clone + Into<Line>>(
    lines: &[L],
    options: &PlotOptions,
) -> Result<String, PlotError> {
    let lines: Vec<Line> = lines.iter().cloned().map(Into::into).collect();
    let curves: Vec<Curve> = lines.iter().map(Curve::of_line).collect();
    let panel: Vec<Vec<&Curve>> = vec![curves.iter().collect()];
    let horizontal = horizontal_axis(lines.iter(), &panel, options)?;
    layout::draw(&panel, horizontal, options)
}

/// A variable as it is drawn: pieces without jumps, and the jumps between them.
struct Curve {
    name: String,
    unit: String,
    pieces: Vec<Vec<(f64, f64)>>,
    jumps: Vec<(f64, f64, f64)>,
    style: LineStyle,
    /// Its horizontal values do not grow: equal ones are no jump.
    is_path: bool,
}

impl Curve {
    fn over_time(name: &str, unit: &str, time: &[f64], values: &[f64]) -> Curve {
        let points = time.iter().copied().zip(values.iter().copied());
        Curve::new(name, unit, points, LineStyle::Solid, false)
    }

    fn of_line(line: &Line) -> Curve {
        let is_path = line.points.windows(2).any(|pair| pair[1].0 < pair[0].0);
        let points = line.points.iter().copied();
        Curve::new(&line.name, &line.unit, points, line.style, is_path)
    }

    fn new(
        name: &str,
        unit: &str,
        points: impl Iterator<Item = (f64, f64)>,
        style: LineStyle,
        is_path: bool,
    ) -> Curve {
        let mut curve = Curve {
            name: name.to_owned(),
            unit: unit.to_owned(),
            pieces: Vec::new(),
            jumps: Vec::new(),
            style,
            is_path,
        };
        let joined = is_path || !matches!(style, LineStyle::Solid | LineStyle::Dashed);
        let mut piece: Vec<(f64, f64)> = Vec::new();
        for (t, y) in points {
            if !y.is_finite() || !t.is_finite() {
                curve.end_piece(&mut piece);
                continue;
            }
            match piece.last() {
                Some(&(t_last, y_last)) if !joined && t_last == t && y_last != y => {
                    curve.end_piece(&mut piece);
                    curve.jumps.push((t, y_last, y));
                    piece.push((t, y));
                }
                Some(&last) if last == (t, y) => {}
                _ => piece.push((t, y)),
            }
        }
        curve.end_piece(&mut piece);
        curve
    }

    fn end_piece(&mut self, piece: &mut Vec<(f64, f64)>) {
        if !piece.is_empty() {
            self.pieces.push(std::mem::take(piece));
        }
    }
}
