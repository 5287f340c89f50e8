//! The graph of modes: which ones there were, for what share of the time, and how often each transition was taken.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::fmt::Write;

use crate::svg::{close, open, text, text_width};

#[derive(Clone, PartialEq, Debug)]
pub struct ModeNode {
    pub name: String,
    /// Of the time of the run, 0 to 1.
    pub share: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ModeTransition {
    pub from: usize,
    pub to: usize,
    /// How often it was taken; 0: possible, never taken.
    pub count: usize,
    /// When it is taken; may be empty.
    pub condition: String,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModeGraph {
    pub title: String,
    pub modes: Vec<ModeNode>,
    pub transitions: Vec<ModeTransition>,
}

const FONT_SIZE: f64 = 13.0;
const TITLE_SIZE: f64 = 16.0;
const MARGIN: f64 = 16.0;
const BOX_HEIGHT: f64 = 42.0;
/// The share of the time fits.
const BOX_WIDTH_MIN: f64 = 124.0;
/// Distance of neighbours on the ellipse.
const DISTANCE: f64 = 190.0;
const TAKEN: &str = "#D55E00";
const NEVER: &str = "#A8A8A8";
const MODE: &str = "#005FAF";
/// How far an edge bends from the straight line, as a share of its length, so that there and back are apart.
const BEND: f64 = 0.16;

/// Draws the modes on an ellipse, the first one on top, clockwise.
pub fn draw_modes(graph: &ModeGraph) -> String {
    let n = graph.modes.len().max(1);
    let box_width = (graph.modes.iter())
        .map(|mode| text_width(&mode.name, FONT_SIZE) + 24.0)
        .fold(BOX_WIDTH_MIN, f64::max);
    let radius_y = (DISTANCE * n as f64 / TAU).max(if n > 1 { 110.0 } else { 0.0 });
    let radius_x = if n > 2 { 1.5 * radius_y } else { radius_y };
    let width = (2.0 * (radius_x + MARGIN) + 2.0 * box_width)
        .max(2.0 * MARGIN + text_width(&graph.title, TITLE_SIZE));
    let top = 2.0 * MARGIN + TITLE_SIZE;
    let height = top + 2.0 * radius_y + 2.0 * BOX_HEIGHT + MARGIN;
    let center = (width / 2.0, top + radius_y + BOX_HEIGHT);
    let place = |k: usize| {
        let angle = TAU * k as f64 / n as f64 - FRAC_PI_2;
        (
            center.0 + radius_x * angle.cos(),
            center.1 + radius_y * angle.sin(),
        )
    };
    let mut out = open((width, height), FONT_SIZE);
    text(
        &mut out,
        MARGIN,
        MARGIN + TITLE_SIZE,
        "start",
        TITLE_SIZE,
        &graph.title,
    );
    let half = (box_width / 2.0, BOX_HEIGHT / 2.0);
    for transition in &graph.transitions {
        if transition.from != transition.to {
            draw_edge(
                &mut out,
                transition,
                place(transition.from),
                place(transition.to),
                half,
            );
        }
    }
    for (k, mode) in graph.modes.iter().enumerate() {
        let (x, y) = place(k);
        let _ = writeln!(
            out,
            r##"<rect x="{:.1}" y="{:.1}" width="{box_width:.1}" height="{BOX_HEIGHT}" rx="8" fill="#FFFFFF" stroke="{MODE}" stroke-width="1.8"/>"##,
            x - half.0,
            y - half.1
        );
        text(&mut out, x, y - 2.0, "middle", FONT_SIZE, &mode.name);
        let share = format!("{:.1} % of the time", 100.0 * mode.share);
        text(&mut out, x, y + 14.0, "middle", FONT_SIZE - 3.0, &share);
    }
    close(out)
}

/// A bent arrow from the border of one box to that of another, with its count.
fn draw_edge(
    out: &mut String,
    transition: &ModeTransition,
    from: (f64, f64),
    to: (f64, f64),
    half: (f64, f64),
) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let knee = (
        (from.0 + to.0) / 2.0 - BEND * dy,
        (from.1 + to.1) / 2.0 + BEND * dx,
    );
    let start = border(from, knee, half);
    let end = border(to, knee, half);
    let (colour, dash) = match transition.count {
        0 => (NEVER, r#" stroke-dasharray="5 4""#),
        _ => (TAKEN, ""),
    };
    let _ = writeln!(
        out,
        r#"<path d="M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>"#,
        start.0, start.1, knee.0, knee.1, end.0, end.1
    );
    // The arrow head along the last direction of the curve.
    let (ux, uy) = (end.0 - knee.0, end.1 - knee.1);
    let length = ux.hypot(uy).max(f64::MIN_POSITIVE);
    let (ux, uy) = (ux / length, uy / length);
    let wing = |side: f64| {
        (
            end.0 - 11.0 * ux - side * 5.0 * uy,
            end.1 - 11.0 * uy + side * 5.0 * ux,
        )
    };
    let (a, b) = (wing(1.0), wing(-1.0));
    let _ = writeln!(
        out,
        r#"<path d="M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z" fill="{colour}"/>"#,
        end.0, end.1, a.0, a.1, b.0, b.1
    );
    let label = match (transition.count, transition.condition.as_str()) {
        (0, condition) => condition.to_owned(),
        (count, "") => format!("{count}×"),
        (count, condition) => format!("{count}× {condition}"),
    };
    // The middle of the curve, moved outwards on the side to which it bends.
    let middle = (
        0.25 * start.0 + 0.5 * knee.0 + 0.25 * end.0,
        0.25 * start.1 + 0.5 * knee.1 + 0.25 * end.1,
    );
    let norm = dx.hypot(dy).max(f64::MIN_POSITIVE);
    let (nx, ny) = (-dy / norm, dx / norm);
    let anchor = if nx > 0.3 {
        "start"
    } else if nx < -0.3 {
        "end"
    } else {
        "middle"
    };
    text(
        out,
        middle.0 + 7.0 * nx,
        middle.1 + 12.0 * ny + 4.5,
        anchor,
        FONT_SIZE,
        &label,
    );
}

/// Where the line from the middle of a box to a point leaves the box.
fn border(middle: (f64, f64), toward: (f64, f64), half: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (toward.0 - middle.0, toward.1 - middle.1);
    let share = (half.0 / dx.abs()).min(half.1 / dy.abs()).min(1.0);
    (middle.0 + share * dx, middle.1 + share * dy)
}
