//! Pictures of results as SVG.
//!
//! Comes in: a [`ResultTable`] and the names to draw. Goes out: SVG text. Labels are SVG text, so no font is read
//! and the same input gives the same bytes on every machine.
//!
//! A curve is linear between rows. Where two rows have equal time the variable jumps: the curve is broken there and
//! the jump drawn as a thin dashed vertical line, so that it does not pass for a steep slope.

mod layout;
mod structure;
mod ticks;

use std::fmt;

use saltus_results::ResultTable;

pub use layout::{HEIGHT_DEFAULT, WIDTH_DEFAULT};
pub use structure::{PictureEquation, PictureUnknown, StructurePicture, draw_structure};

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
}

impl Default for PlotOptions {
    fn default() -> Self {
        PlotOptions {
            title: None,
            width: WIDTH_DEFAULT,
            height: HEIGHT_DEFAULT,
            events: Vec::new(),
            horizontal: "time [s]".to_owned(),
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
        let Some(signal) = table.signal(name) else {
            let similar = table.similar_names(name, 2);
            return Err(PlotError::UnknownVariable {
                name: name.clone(),
                similar: similar.into_iter().map(str::to_owned).collect(),
            });
        };
        let unit = table.variable(name).map_or("", |v| v.unit.as_str());
        curves.push(Curve::new(name, unit, table.time(), &signal.to_vec()));
    }
    layout::draw(&curves, table.time(), options)
}

/// Draws named lines through points, whatever the axes mean.
pub fn plot_lines(
    lines: &[(String, Vec<(f64, f64)>)],
    options: &PlotOptions,
) -> Result<String, PlotError> {
    let mut curves = Vec::with_capacity(lines.len());
    let mut xs = Vec::new();
    for (name, points) in lines {
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        curves.push(Curve::new(name, "", &x, &y));
        xs.extend(x.into_iter().filter(|x| x.is_finite()));
    }
    xs.sort_by(f64::total_cmp);
    if xs.is_empty() {
        return Err(PlotError::Nothing);
    }
    layout::draw(&curves, &xs, options)
}

/// A variable as it is drawn: pieces without jumps, and the jumps between them.
struct Curve {
    name: String,
    unit: String,
    pieces: Vec<Vec<(f64, f64)>>,
    jumps: Vec<(f64, f64, f64)>,
}

impl Curve {
    fn new(name: &str, unit: &str, time: &[f64], values: &[f64]) -> Curve {
        let mut curve = Curve {
            name: name.to_owned(),
            unit: unit.to_owned(),
            pieces: Vec::new(),
            jumps: Vec::new(),
        };
        let mut piece: Vec<(f64, f64)> = Vec::new();
        for (&t, &y) in time.iter().zip(values) {
            if !y.is_finite() {
                curve.end_piece(&mut piece);
                continue;
            }
            match piece.last() {
                Some(&(t_last, y_last)) if t_last == t && y_last != y => {
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
