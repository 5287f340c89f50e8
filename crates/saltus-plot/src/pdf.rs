//! Pictures as PDF, for those who print.
//!
//! Comes in: an SVG of this crate. Goes out: one page of PDF 1.4 of the same size in points. Only what this crate draws is understood: rectangles, circles, lines, areas, paths of
//! straight pieces and curves, text. Text is set in Helvetica, which every reader of PDF has, so that no font is read.

use std::fmt::Write as _;

use crate::PlotError;

/// A circle of four cubic curves: the distance of their control points, as a share of the radius.
const CIRCLE: f64 = 0.552_284_75;
/// A letter of Helvetica is about so wide, as a share of its size.
const LETTER: f64 = 0.53;

/// The same picture as PDF.
pub fn to_pdf(svg: &str) -> Result<Vec<u8>, PlotError> {
    let mut page = Page::default();
    let mut rest = svg;
    let mut groups: Vec<Vec<(String, String)>> = Vec::new();
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let Some(end) = rest.find('>') else { break };
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with('/') {
            if tag == "/g" || tag == "/svg" {
                groups.pop();
            }
            continue;
        }
        if tag.starts_with("style") || tag.starts_with("title") {
            let name = tag.split_whitespace().next().unwrap_or_default();
            rest = rest
                .split_once(&format!("</{name}>"))
                .map_or("", |(_, after)| after);
            continue;
        }
        let is_closed = tag.ends_with('/');
        let (name, own) = attributes(tag.trim_end_matches('/'));
        let text = rest.split('<').next().unwrap_or_default();
        let mut all: Vec<(String, String)> = groups.concat();
        all.extend(own.iter().cloned());
        let element = Element { attributes: all };
        match name {
            "svg" => {
                page.begin(&element);
                groups.push(own);
            }
            "g" if !is_closed => groups.push(own),
            _ => page.draw(name, &element, &unescaped(text)),
        }
    }
    match page.size {
        Some(size) => Ok(document(size, &page.content)),
        None => Err(PlotError::Drawing("the picture has no size".to_owned())),
    }
}

/// The name of a tag and its attributes.
fn attributes(tag: &str) -> (&str, Vec<(String, String)>) {
    let tag = tag.trim();
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let mut found = Vec::new();
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| "\"'".contains(*c)) else {
            break;
        };
        let Some((value, next)) = after[1..].split_once(quote) else {
            break;
        };
        found.push((key.trim().to_owned(), value.to_owned()));
        rest = next;
    }
    (name, found)
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

struct Element {
    /// Those of the groups around it first: the last of a name counts.
    attributes: Vec<(String, String)>,
}

impl Element {
    fn text(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> f64 {
        let text = self.text(name).unwrap_or_default().trim_end_matches("px");
        text.parse().unwrap_or(0.0)
    }

    /// Red, green, blue; `None`: nothing is painted.
    fn colour(&self, name: &str) -> Option<[f64; 3]> {
        let text = self.text(name)?;
        let hex = match text {
            "none" => return None,
            "black" => "000000",
            "white" => "FFFFFF",
            other => other.strip_prefix('#')?,
        };
        let part = |k: usize| u8::from_str_radix(hex.get(2 * k..2 * k + 2)?, 16).ok();
        Some([part(0)?, part(1)?, part(2)?].map(|c| f64::from(c) / 255.0))
    }

    /// The colour as it looks on white paper.
    fn paint(&self, name: &str) -> Option<[f64; 3]> {
        let of = |key: &str| {
            self.text(key)
                .and_then(|t| t.parse::<f64>().ok())
                .unwrap_or(1.0)
        };
        let opacity = of("opacity") * of(&format!("{name}-opacity"));
        self.colour(name)
            .map(|c| c.map(|part| 1.0 - opacity * (1.0 - part)))
    }
}

#[derive(Default)]
struct Page {
    size: Option<(f64, f64)>,
    /// Pixels of the picture for one of its inner coordinates.
    scale: f64,
    content: String,
}

impl Page {
    fn begin(&mut self, svg: &Element) {
        let (width, height) = (svg.number("width"), svg.number("height"));
        let inner: Vec<f64> = (svg.text("viewBox").unwrap_or_default().split_whitespace())
            .filter_map(|n| n.parse().ok())
            .collect();
        self.scale = match inner[..] {
            [_, _, inner_width, _] if inner_width > 0.0 => width / inner_width,
            _ => 1.0,
        };
        self.size = Some((width, height));
        // The vertical axis of PDF points up.
        let scale = self.scale;
        let _ = writeln!(self.content, "{scale} 0 0 -{scale} 0 {height} cm 1 j 1 J");
    }

    fn draw(&mut self, name: &str, element: &Element, text: &str) {
        let number = |name: &str| element.number(name);
        let is_outlined = !matches!(name, "rect" | "circle" | "polygon" | "path" | "ellipse");
        let path = match name {
            "rect" => self.rectangle(element),
            "circle" => circle(number("cx"), number("cy"), number("r"), number("r")),
            "ellipse" => circle(number("cx"), number("cy"), number("rx"), number("ry")),
            "line" => format!(
                "{} {} m {} {} l\n",
                number("x1"),
                number("y1"),
                number("x2"),
                number("y2")
            ),
            "polyline" | "polygon" => {
                let open = points(element.text("points").unwrap_or_default());
                if name == "polygon" {
                    format!("{open}h\n")
                } else {
                    open
                }
            }
            "path" => curve(element.text("d").unwrap_or_default()),
            "text" => return self.text(element, text),
            _ => return,
        };
        let fill = match element.text("fill") {
            None if is_outlined => None,
            None => Some([0.0; 3]),
            Some(_) => element.paint("fill"),
        };
        let fill = fill.filter(|_| name != "line");
        let stroke = element.paint("stroke");
        let operator = match (fill, stroke) {
            (Some(_), Some(_)) => "B",
            (Some(_), None) => "f",
            (None, Some(_)) => "S",
            (None, None) => return,
        };
        let out = &mut self.content;
        if let Some([r, g, b]) = fill {
            let _ = writeln!(out, "{r:.3} {g:.3} {b:.3} rg");
        }
        if let Some([r, g, b]) = stroke {
            let width = element
                .text("stroke-width")
                .map_or(1.0, |_| number("stroke-width"));
            let dash = element
                .text("stroke-dasharray")
                .unwrap_or_default()
                .replace(',', " ");
            let _ = writeln!(out, "{r:.3} {g:.3} {b:.3} RG {width} w [{dash}] 0 d");
        }
        let _ = writeln!(out, "{path}{operator}");
    }

    fn rectangle(&self, element: &Element) -> String {
        let (full_width, full_height) = self.size.unwrap_or_default();
        let length = |name: &str, full: f64| match element.text(name) {
            Some(text) if text.ends_with('%') => full / self.scale,
            _ => element.number(name),
        };
        format!(
            "{} {} {} {} re\n",
            element.number("x"),
            element.number("y"),
            length("width", full_width),
            length("height", full_height)
        )
    }

    fn text(&mut self, element: &Element, text: &str) {
        let text = text.trim();
        let size = element.number("font-size");
        if text.is_empty() || size <= 0.0 {
            return;
        }
        let width = text.chars().count() as f64 * LETTER * size;
        let x = match element.text("text-anchor") {
            Some("middle") => element.number("x") - 0.5 * width,
            Some("end") => element.number("x") - width,
            _ => element.number("x"),
        };
        let shift = element.text("dy").unwrap_or_default();
        let shift = match shift
            .strip_suffix("em")
            .or_else(|| shift.strip_suffix("ex"))
        {
            Some(share) => {
                let unit = if shift.ends_with("ex") { 0.5 } else { 1.0 };
                share.parse::<f64>().unwrap_or(0.0) * unit * size
            }
            None => shift.parse().unwrap_or(0.0),
        };
        let y = element.number("y") + shift;
        let [r, g, b] = element.paint("fill").unwrap_or([0.0; 3]);
        let shown = encoded(text);
        let turn = rotation(element.text("transform").unwrap_or_default());
        let out = &mut self.content;
        let _ = writeln!(
            out,
            "q {turn}BT {r:.3} {g:.3} {b:.3} rg /F1 {size:.2} Tf 1 0 0 -1 {x:.2} {y:.2} Tm {shown} Tj ET Q"
        );
    }
}

/// `rotate(angle, x, y)` as a matrix.
fn rotation(transform: &str) -> String {
    let Some(inside) = transform
        .strip_prefix("rotate(")
        .and_then(|t| t.strip_suffix(')'))
    else {
        return String::new();
    };
    let numbers: Vec<f64> = inside
        .split([',', ' '])
        .filter_map(|n| n.trim().parse().ok())
        .collect();
    let (angle, x, y) = match numbers[..] {
        [angle, x, y] => (angle, x, y),
        [angle] => (angle, 0.0, 0.0),
        _ => return String::new(),
    };
    let (sin, cos) = angle.to_radians().sin_cos();
    let (dx, dy) = (x - cos * x + sin * y, y - sin * x - cos * y);
    format!("{cos:.5} {sin:.5} {:.5} {cos:.5} {dx:.3} {dy:.3} cm ", -sin)
}

/// A string in the encoding of the font (WinAnsi), as hexadecimal digits; letters that it does not have are written as the nearest.
fn encoded(text: &str) -> String {
    let mut out = String::from("<");
    for c in text.chars() {
        let byte = match c {
            ' '..='~' | '\u{a0}'..='\u{ff}' => c as u32,
            '\u{2212}' | '\u{2013}' => 0x96,
            '…' => 0x85,
            '⁰'..='⁹' => '0' as u32 + (c as u32 - '⁰' as u32),
            '⁻' => '-' as u32,
            'μ' => 0xb5,
            _ => '?' as u32,
        };
        let _ = write!(out, "{byte:02X}");
    }
    out.push('>');
    out
}

fn circle(x: f64, y: f64, rx: f64, ry: f64) -> String {
    let mut out = format!("{} {y} m\n", x + rx);
    let quarters = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)];
    for pair in quarters.windows(2) {
        let ((fx, fy), (tx, ty)) = (pair[0], pair[1]);
        let _ = writeln!(
            out,
            "{:.3} {:.3} {:.3} {:.3} {:.3} {:.3} c",
            x + rx * (fx + CIRCLE * tx),
            y + ry * (fy + CIRCLE * ty),
            x + rx * (tx + CIRCLE * fx),
            y + ry * (ty + CIRCLE * fy),
            x + rx * tx,
            y + ry * ty
        );
    }
    out.push_str("h\n");
    out
}

/// `x,y x,y …`
fn points(text: &str) -> String {
    let numbers: Vec<f64> = text
        .split([',', ' ', '\n'])
        .filter_map(|n| n.parse().ok())
        .collect();
    let mut out = String::new();
    for (k, point) in numbers.chunks_exact(2).enumerate() {
        let _ = writeln!(
            out,
            "{} {} {}",
            point[0],
            point[1],
            if k == 0 { "m" } else { "l" }
        );
    }
    out
}

/// A path of absolute commands M, L, H, V, C, Q, Z.
fn curve(d: &str) -> String {
    let mut out = String::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = d;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let command = rest[start..].chars().next().unwrap_or('Z');
        rest = &rest[start + 1..];
        let end = rest
            .find(|c: char| c.is_ascii_alphabetic() && c != 'e')
            .unwrap_or(rest.len());
        let spaced = rest[..end]
            .replace(',', " ")
            .replace('-', " -")
            .replace("e -", "e-");
        let n: Vec<f64> = spaced
            .split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect();
        rest = &rest[end..];
        match command {
            'M' | 'L' => {
                for (k, p) in n.chunks_exact(2).enumerate() {
                    (x, y) = (p[0], p[1]);
                    let is_move = command == 'M' && k == 0;
                    let _ = writeln!(out, "{x} {y} {}", if is_move { "m" } else { "l" });
                }
            }
            'H' | 'V' => {
                for value in n {
                    if command == 'H' {
                        x = value
                    } else {
                        y = value
                    }
                    let _ = writeln!(out, "{x} {y} l");
                }
            }
            'C' => {
                for p in n.chunks_exact(6) {
                    (x, y) = (p[4], p[5]);
                    let _ = writeln!(out, "{} {} {} {} {x} {y} c", p[0], p[1], p[2], p[3]);
                }
            }
            'Q' => {
                for p in n.chunks_exact(4) {
                    let near = |from: f64, to: f64| from + 2.0 / 3.0 * (to - from);
                    let (ax, ay) = (near(x, p[0]), near(y, p[1]));
                    let (bx, by) = (near(p[2], p[0]), near(p[3], p[1]));
                    (x, y) = (p[2], p[3]);
                    let _ = writeln!(out, "{ax} {ay} {bx} {by} {x} {y} c");
                }
            }
            _ => out.push_str("h\n"),
        }
    }
    out
}

/// A document of one page.
fn document((width, height): (f64, f64), content: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        format!(
            "<< /Length {} >>\nstream\n{content}endstream",
            content.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    let mut out = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (k, object) in objects.iter().enumerate() {
        places.push(out.len());
        let _ = writeln!(out, "{} 0 obj\n{object}\nendobj", k + 1);
    }
    let table = out.len();
    let _ = writeln!(out, "xref\n0 {}\n0000000000 65535 f ", objects.len() + 1);
    for place in places {
        let _ = writeln!(out, "{place:010} 00000 n ");
    }
    let _ = writeln!(
        out,
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF",
        objects.len() + 1
    );
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Line, PlotOptions, plot_lines};

    #[test]
    fn a_picture_becomes_a_page_with_its_text_and_its_curve() {
        let line = Line::new("height", "m", vec![(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]);
        let svg = plot_lines(&[line], &PlotOptions::default()).expect("drawn");
        let pdf = String::from_utf8(to_pdf(&svg).expect("a page")).expect("text");
        assert!(pdf.starts_with("%PDF-1.4") && pdf.ends_with("%%EOF\n"));
        assert!(pdf.contains("/MediaBox [0 0 900 480]"));
        assert!(pdf.contains(&encoded("height")), "the legend");
        assert!(pdf.matches(" l\n").count() > 10, "lines");
        let table = pdf.find("xref").expect("a table");
        assert!(pdf.contains(&format!("startxref\n{table}\n")));
    }

    #[test]
    fn paths_keep_their_kinds_of_pieces() {
        assert_eq!(curve("M1 2L3-4Z"), "1 2 m\n3 -4 l\nh\n");
        assert_eq!(curve("M0,0 C1 1 2 2 3 3"), "0 0 m\n1 1 2 2 3 3 c\n");
        assert!(rotation("rotate(-90, 10, 20)").starts_with("0.00000 -1.00000"));
    }
}
