//! Pictures of the structure of a system of equations, as SVG: incidence as written and sorted, and the digraph of equations and unknowns
//! with causal, torn and residual edges (Cellier and Kofman, Continuous System Simulation, chapter 7).
//!
//! Larger systems have smaller cells; labels and digraph are left out where they could not be read.

use std::fmt::Write;

use crate::svg::{close, escape, open, text as whole_text};

/// A sorted system: equation k determines unknown k.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StructurePicture {
    pub title: String,
    pub equations: Vec<PictureEquation>,
    pub unknowns: Vec<PictureUnknown>,
    /// First and last number of each block of more than one equation, or with a torn unknown.
    pub blocks: Vec<(usize, usize)>,
    /// Entries are all alike, and nothing is solved for: no legend and no digraph.
    pub plain: bool,
    /// Under the matrix in the order of `written`, and under the one in the order of numbers.
    pub captions: [String; 2],
    /// Lines below the pictures: a heading and what belongs to it.
    pub notes: Vec<(String, Vec<String>)>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct PictureEquation {
    pub label: String,
    /// Closes a loop: its unknown is found by iteration.
    pub residual: bool,
    /// Unknowns in it, by number.
    pub reads: Vec<usize>,
    /// Its number in the text of the model.
    pub written: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub struct PictureUnknown {
    pub name: String,
    /// Is iterated upon.
    pub torn: bool,
    pub written: usize,
}

/// Labels and digraph up to this size.
const LABELLED_MAX: usize = 60;
/// Pixels of a matrix without labels.
const MATRIX_SIZE: f64 = 640.0;
const CELL_LABELLED: f64 = 15.0;
const CELL_MIN: f64 = 0.5;
const FONT_SIZE: f64 = 11.0;
/// Mean width of a character.
const CHAR_WIDTH: f64 = 0.56 * FONT_SIZE;
/// Longer labels are cut.
const LABEL_MAX: usize = 42;
const MARGIN: f64 = 16.0;
const TITLE_SIZE: f64 = 15.0;
const LINE_HEIGHT: f64 = 16.0;
/// Notes of each kind.
const NOTES_MAX: usize = 20;
const HEAD: f64 = 64.0;
const DIGRAPH_WIDTH: f64 = 190.0;

const CAUSAL: &str = "#005faf";
const TORN: &str = "#d55e00";
const RESIDUAL: &str = "#b4468c";
const PLAIN: &str = "#a8a8a8";

/// Draws the picture.
pub fn draw_structure(picture: &StructurePicture) -> String {
    let n = picture.equations.len();
    let labelled = n <= LABELLED_MAX;
    let cell = if labelled {
        CELL_LABELLED
    } else {
        (MATRIX_SIZE / n as f64).max(CELL_MIN)
    };
    let width_of = |labels: &mut dyn Iterator<Item = &str>| {
        let longest = labels.map(|l| shortened(l).chars().count()).max();
        longest.unwrap_or(0) as f64 * CHAR_WIDTH + 8.0
    };
    let equations_width = width_of(&mut picture.equations.iter().map(|e| e.label.as_str()));
    let names_width = width_of(&mut picture.unknowns.iter().map(|u| u.name.as_str()));
    let (left, top) = if labelled {
        (equations_width, names_width)
    } else {
        (0.0, 0.0)
    };
    let side = n as f64 * cell;
    let panel = left + side + 2.0 * MARGIN;
    let with_digraph = labelled && !picture.plain;
    let digraph = if with_digraph {
        equations_width + DIGRAPH_WIDTH + names_width
    } else {
        0.0
    };
    let width = 2.0 * panel + digraph + 2.0 * MARGIN;
    let notes = note_lines(picture);
    let notes_height = notes.len() as f64 * LINE_HEIGHT;
    let notes_width = (notes.iter())
        .map(|(indent, line)| indent + line.chars().count() as f64 * CHAR_WIDTH)
        .fold(0.0, f64::max);
    let title_width = picture.title.chars().count() as f64 * CHAR_WIDTH * TITLE_SIZE / FONT_SIZE;
    let width = width.max(2.0 * MARGIN + notes_width.max(title_width));
    let below = HEAD + top + side + 3.0 * MARGIN;
    let height = below + notes_height;
    let mut out = open((width, height), FONT_SIZE);
    whole_text(&mut out, MARGIN, 24.0, "start", TITLE_SIZE, &picture.title);
    if !picture.plain {
        legend(&mut out, MARGIN, 44.0);
    }
    let written_rows = order(picture.equations.iter().map(|e| e.written));
    let written_columns = order(picture.unknowns.iter().map(|u| u.written));
    let sorted: Vec<usize> = (0..n).collect();
    let origin = |k: f64| (MARGIN + k * panel + left, HEAD + MARGIN + top);
    let mut matrix = Matrix {
        out: &mut out,
        picture,
        cell,
        labelled,
    };
    let [written, by_number] = &picture.captions;
    matrix.draw(origin(0.0), written, &written_rows, &written_columns);
    matrix.draw(origin(1.0), by_number, &sorted, &sorted);
    matrix.frame_blocks(origin(1.0));
    if with_digraph {
        let x = MARGIN + 2.0 * panel + equations_width;
        draw_digraph(&mut out, picture, x, HEAD + MARGIN + top);
    }
    for (k, (indent, line)) in notes.iter().enumerate() {
        let y = below + (k as f64 + 0.75) * LINE_HEIGHT;
        whole_text(&mut out, MARGIN + indent, y, "start", FONT_SIZE, line);
    }
    close(out)
}

/// The notes as lines with their indentation, as many of each kind as can be read.
fn note_lines(picture: &StructurePicture) -> Vec<(f64, String)> {
    let mut lines = Vec::new();
    for (heading, notes) in &picture.notes {
        if notes.is_empty() {
            continue;
        }
        lines.push((0.0, heading.clone()));
        let shown = notes.iter().take(NOTES_MAX).cloned();
        lines.extend(shown.map(|note| (MARGIN, note)));
        if notes.len() > NOTES_MAX {
            lines.push((MARGIN, format!("and {} more", notes.len() - NOTES_MAX)));
        }
    }
    if !lines.is_empty() {
        lines.push((0.0, String::new()));
    }
    lines
}

/// Place → number, for numbers that carry a place in the text.
fn order(written: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut numbered: Vec<(usize, usize)> = written.enumerate().map(|(k, w)| (w, k)).collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, k)| k).collect()
}

struct Matrix<'a> {
    out: &'a mut String,
    picture: &'a StructurePicture,
    cell: f64,
    labelled: bool,
}

impl Matrix<'_> {
    /// `rows`, `columns`: which equation and unknown stands in each place.
    fn draw(&mut self, (x, y): (f64, f64), title: &str, rows: &[usize], columns: &[usize]) {
        let (cell, n) = (self.cell, rows.len());
        let side = n as f64 * cell;
        let heading = y + side + 2.0 * MARGIN - 4.0;
        text(self.out, x + side / 2.0, heading, "middle", 12.0, title);
        if self.labelled {
            for k in 0..=n {
                let at = k as f64 * cell;
                let _ = writeln!(
                    self.out,
                    r##"<path d="M{:.1} {:.1}h{side:.1}M{:.1} {:.1}v{side:.1}" stroke="#ececec" fill="none"/>"##,
                    x,
                    y + at,
                    x + at,
                    y
                );
            }
            for (k, &row) in rows.iter().enumerate() {
                let at = y + (k as f64 + 0.75) * cell;
                let label = &self.picture.equations[row].label;
                text(self.out, x - 4.0, at, "end", FONT_SIZE, label);
            }
            for (k, &column) in columns.iter().enumerate() {
                let at = x + (k as f64 + 0.75) * cell;
                let name = escape(shortened(&self.picture.unknowns[column].name).as_str());
                let _ = writeln!(
                    self.out,
                    r#"<text transform="translate({at:.1} {:.1}) rotate(-90)">{name}</text>"#,
                    y - 4.0
                );
            }
        }
        let mut place = vec![0; n];
        for (k, &column) in columns.iter().enumerate() {
            place[column] = k;
        }
        // One path for each colour.
        let mut paths: [(String, &str); 4] =
            [PLAIN, TORN, CAUSAL, RESIDUAL].map(|colour| (String::new(), colour));
        let inset = if cell > 4.0 { 1.5 } else { 0.0 };
        for (k, &row) in rows.iter().enumerate() {
            let equation = &self.picture.equations[row];
            for &unknown in &equation.reads {
                let kind = match (unknown == row, equation.residual) {
                    _ if self.picture.plain => 2,
                    (true, true) => 3,
                    (true, false) => 2,
                    (false, _) if self.picture.unknowns[unknown].torn => 1,
                    (false, _) => 0,
                };
                let (left, top) = (place[unknown] as f64 * cell, k as f64 * cell);
                let size = cell - 2.0 * inset;
                let _ = write!(
                    paths[kind].0,
                    "M{:.1} {:.1}h{size:.1}v{size:.1}h-{size:.1}z",
                    x + left + inset,
                    y + top + inset
                );
            }
        }
        for (path, colour) in paths.iter().filter(|(path, _)| !path.is_empty()) {
            let _ = writeln!(self.out, r#"<path d="{path}" fill="{colour}"/>"#);
        }
        let _ = writeln!(
            self.out,
            r##"<rect x="{x:.1}" y="{y:.1}" width="{side:.1}" height="{side:.1}" fill="none" stroke="#404040"/>"##
        );
    }

    fn frame_blocks(&mut self, (x, y): (f64, f64)) {
        for &(first, last) in &self.picture.blocks {
            let (from, to) = (first as f64 * self.cell, (last + 1) as f64 * self.cell);
            let _ = writeln!(
                self.out,
                r##"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="none" stroke="#404040" stroke-width="1.6"/>"##,
                x + from,
                y + from,
                to - from,
                to - from
            );
        }
    }
}

fn draw_digraph(out: &mut String, picture: &StructurePicture, x: f64, y: f64) {
    let n = picture.equations.len();
    let at = |k: usize| y + (k as f64 + 0.5) * CELL_LABELLED;
    let right = x + DIGRAPH_WIDTH;
    let heading = y + n as f64 * CELL_LABELLED + 2.0 * MARGIN - 4.0;
    text(
        out,
        x + DIGRAPH_WIDTH / 2.0,
        heading,
        "middle",
        12.0,
        "equations and unknowns",
    );
    for pass in 0..2 {
        for (k, equation) in picture.equations.iter().enumerate() {
            for &unknown in &equation.reads {
                let own = unknown == k;
                if own != (pass == 1) {
                    continue;
                }
                let (colour, line, dash) = match (own, equation.residual) {
                    (true, true) => (RESIDUAL, 2.2, ""),
                    (true, false) => (CAUSAL, 2.2, ""),
                    (false, _) if picture.unknowns[unknown].torn => {
                        (TORN, 1.1, r#" stroke-dasharray="4 3""#)
                    }
                    (false, _) => (PLAIN, 0.8, ""),
                };
                let _ = writeln!(
                    out,
                    r#"<path d="M{x:.1} {:.1}L{right:.1} {:.1}" stroke="{colour}" stroke-width="{line}"{dash}/>"#,
                    at(k),
                    at(unknown)
                );
            }
        }
    }
    for (k, (equation, unknown)) in picture.equations.iter().zip(&picture.unknowns).enumerate() {
        let left_colour = if equation.residual { RESIDUAL } else { CAUSAL };
        let right_colour = if unknown.torn { TORN } else { CAUSAL };
        for (cx, colour) in [(x, left_colour), (right, right_colour)] {
            let _ = writeln!(
                out,
                r#"<circle cx="{cx:.1}" cy="{:.1}" r="3.4" fill="{colour}"/>"#,
                at(k)
            );
        }
        text(out, x - 8.0, at(k) + 4.0, "end", FONT_SIZE, &equation.label);
        text(
            out,
            right + 8.0,
            at(k) + 4.0,
            "start",
            FONT_SIZE,
            &unknown.name,
        );
    }
}

fn legend(out: &mut String, x: f64, y: f64) {
    let mut at = x;
    for (colour, what) in [
        (CAUSAL, "solved for"),
        (TORN, "torn unknown"),
        (RESIDUAL, "residual equation, by iteration"),
        (PLAIN, "other occurrence"),
    ] {
        let _ = writeln!(
            out,
            r#"<rect x="{at:.1}" y="{:.1}" width="10" height="10" fill="{colour}"/>"#,
            y - 9.0
        );
        text(out, at + 15.0, y, "start", FONT_SIZE, what);
        at += 15.0 + what.len() as f64 * CHAR_WIDTH + 18.0;
    }
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, size: f64, what: &str) {
    whole_text(out, x, y, anchor, size, &shortened(what));
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL_MAX {
        return label.to_owned();
    }
    let mut cut: String = label.chars().take(LABEL_MAX - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_drawn_in_its_colour() {
        let equation = |label: &str, residual, reads: &[usize], written| PictureEquation {
            label: label.to_owned(),
            residual,
            reads: reads.to_vec(),
            written,
        };
        let unknown = |name: &str, torn, written| PictureUnknown {
            name: name.to_owned(),
            torn,
            written,
        };
        let picture = StructurePicture {
            title: "a < b".to_owned(),
            equations: vec![
                equation("x := f(y)", false, &[0, 1], 1),
                equation("0 = g(x, y)", true, &[0, 1], 0),
            ],
            unknowns: vec![unknown("x", false, 0), unknown("y", true, 1)],
            blocks: vec![(0, 1)],
            plain: false,
            captions: ["as written", "sorted"].map(str::to_owned),
            notes: vec![("states".to_owned(), vec!["z".to_owned(); NOTES_MAX + 2])],
        };
        let svg = draw_structure(&picture);
        assert!(svg.contains(">states<") && svg.contains(">and 2 more<"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("a &lt; b"));
        for colour in [CAUSAL, TORN, RESIDUAL, PLAIN] {
            // In the legend and in both matrices.
            assert!(svg.matches(colour).count() >= 3, "{colour}");
        }
        assert_eq!(
            svg.matches("<path d=\"M").count(),
            svg.matches("<path").count()
        );
    }
}
