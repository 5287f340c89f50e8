//! Curves in a terminal: two columns and four rows of dots in each character (the Braille patterns of Unicode).
//!
//! Comes in: lines. Goes out: text, a panel for each line, with the ends of the axes and the name.

use std::fmt::Write as _;

use crate::ticks::Axis;
use crate::{Line, LineStyle, PlotError};

/// Characters of a panel.
const COLUMNS: usize = 72;
const ROWS: usize = 12;
/// More than these make no text that can be read.
const PANELS_MAX: usize = 12;
/// Free space above and below the curve, as a share of its range.
const MARGIN: f64 = 0.02;
/// A character without dots.
const EMPTY: char = '\u{2800}';

/// Draws each line in a panel of its own.
pub fn plot_terminal(lines: &[Line], horizontal: &str) -> Result<String, PlotError> {
    if lines.is_empty() {
        return Err(PlotError::Nothing);
    }
    let mut out = String::new();
    let curves = lines.iter().filter(|line| line.style != LineStyle::Area);
    for line in curves.take(PANELS_MAX) {
        push_panel(&mut out, line, horizontal)?;
    }
    Ok(out)
}

fn push_panel(out: &mut String, line: &Line, horizontal: &str) -> Result<(), PlotError> {
    let finite = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let points: Vec<(f64, f64)> = line.points.iter().filter(finite).copied().collect();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        values.fold(none, |(low, high), v| (low.min(v), high.max(v)))
    };
    if points.is_empty() {
        return Err(PlotError::NotFinite);
    }
    let (left, right) = range(&mut points.iter().map(|p| p.0));
    let (low, high) = range(&mut points.iter().map(|p| p.1));
    let x = Axis::exact(left, right, 4);
    let y = Axis::with_margin(low, high, 4, MARGIN);
    let mut dots = Dots::default();
    let place = |(t, v): (f64, f64)| {
        let column = x.share(t) * (2 * COLUMNS - 1) as f64;
        let row = (1.0 - y.share(v)) * (4 * ROWS - 1) as f64;
        (column.round() as i64, row.round() as i64)
    };
    for pair in points.windows(2) {
        dots.line(place(pair[0]), place(pair[1]));
    }
    if let [only] = points[..] {
        dots.set(place(only));
    }
    let unit = match line.unit.as_str() {
        "" => String::new(),
        unit => format!(" [{unit}]"),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}{unit}", line.name);
    let labels = [shown(y.high), shown(0.5 * (y.low + y.high)), shown(y.low)];
    let widths = labels.iter().map(|label| label.chars().count());
    let width = widths.max().unwrap_or(0);
    for row in 0..ROWS {
        let label = match row {
            0 => labels[0].as_str(),
            r if r == ROWS / 2 => &labels[1],
            r if r + 1 == ROWS => &labels[2],
            _ => "",
        };
        let cells = dots.row(row);
        let _ = writeln!(out, "{label:>width$} │{}", cells.trim_end_matches(EMPTY));
    }
    let _ = writeln!(out, "{:width$} └{}", "", "─".repeat(COLUMNS));
    let (first, last) = (shown(x.low), shown(x.high));
    let ends = first.chars().count() + last.chars().count();
    let room = COLUMNS.saturating_sub(ends);
    let _ = writeln!(out, "{:width$}  {first}{horizontal:^room$}{last}\n", "");
    Ok(())
}

/// Four digits.
fn shown(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = (3 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

struct Dots {
    cells: Vec<u8>,
}

impl Default for Dots {
    fn default() -> Dots {
        Dots {
            cells: vec![0; COLUMNS * ROWS],
        }
    }
}

/// The bit of each dot of a character, by row and column.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Dots {
    fn set(&mut self, (x, y): (i64, i64)) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x < 2 * COLUMNS && y < 4 * ROWS {
            self.cells[y / 4 * COLUMNS + x / 2] |= BITS[y % 4][x % 2];
        }
    }

    fn line(&mut self, (x0, y0): (i64, i64), (x1, y1): (i64, i64)) {
        let n = (x1 - x0).abs().max((y1 - y0).abs());
        for k in 0..=n {
            let share = k as f64 / n.max(1) as f64;
            let at = |from: i64, to: i64| from + (share * (to - from) as f64).round() as i64;
            self.set((at(x0, x1), at(y0, y1)));
        }
    }

    fn row(&self, row: usize) -> String {
        let cells = &self.cells[row * COLUMNS..(row + 1) * COLUMNS];
        let pattern = |bits: &u8| char::from_u32(EMPTY as u32 + u32::from(*bits));
        cells.iter().filter_map(pattern).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_line_begins_below_and_ends_above() {
        let line = Line::new("x", "m", vec![(0.0, -1.0), (2.0, 3.0)]);
        let text = plot_terminal(&[line], "time [s]").expect("drawn");
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[0], "x [m]");
        let filled = |row: &str| {
            row.chars()
                .position(|c| ('\u{2801}'..='\u{28ff}').contains(&c))
        };
        assert!(filled(rows[1]) > Some(60), "{text}");
        assert!(filled(rows[ROWS]) < Some(10), "{text}");
        assert!(rows[ROWS + 2].contains("time [s]"));
    }
}
