//! Graphical items (specification 18.6.5) as SVG.
//!
//! Comes in: an item of an annotation, and the map from its coordinate system into the picture. Goes out: SVG elements with finished coordinates, y pointing down: lines keep their
//! thickness however small the icon is, and texts stay upright.

use super::geometry::{Affine, Extent, Point, point};
use super::values::{Item, Known, Parameters};
use std::fmt::Write;

/// Straight pieces of a whole ellipse.
const ELLIPSE_PIECES: f64 = 72.0;
/// Millimetres of a line that says nothing of its thickness.
const THICKNESS_DEFAULT: f64 = 0.25;
/// Width of a letter by its height, about.
const LETTER_WIDTH: f64 = 0.56;
/// Height of a line of text by the height of its letters.
const LINE_HEIGHT: f64 = 1.2;
/// Millimetres of a typographic point, in which font sizes are given.
const POINT_SIZE: f64 = 0.3528;

/// A picture in the making.
#[derive(Default)]
pub(crate) struct Canvas {
    pub(crate) body: String,
    fills: Vec<(String, String)>,
    /// Corners of everything that was drawn.
    pub(crate) bounds: Option<Extent>,
}

/// What texts and values of an icon refer to.
pub(crate) trait Subject: Parameters {
    /// A text with its macros replaced: `%name`, `%class`, `%par`.
    fn expand(&self, text: &str) -> String;
    /// A file as the address of an image, if it can be read.
    fn image(&self, file: &str) -> Option<String>;
}

impl Canvas {
    /// Draws an item; false if it is none that is known.
    pub(crate) fn item(&mut self, item: &Item<'_>, map: Affine, of: &dyn Subject) -> bool {
        let params: &dyn Parameters = &Params(of);
        if item.value("visible", params) == Some(Known::Boolean(false)) {
            return true;
        }
        let origin = item.value("origin", params).and_then(|v| v.point());
        let rotation = item.value("rotation", params).and_then(|v| v.number());
        let map = map
            .after(Affine::translation(origin.unwrap_or_default()))
            .after(Affine::rotation(rotation.unwrap_or(0.0)));
        let drawing = Drawing { item, map, params };
        match item.name {
            "Line" => self.line(&drawing),
            "Polygon" => self.polygon(&drawing),
            "Rectangle" => self.rectangle(&drawing),
            "Ellipse" => self.ellipse(&drawing),
            "Text" => self.text(&drawing, of),
            "Bitmap" => self.bitmap(&drawing, of),
            _ => return false,
        }
        true
    }

    fn note(&mut self, points: impl IntoIterator<Item = Point>) {
        let old = self.bounds.into_iter().flat_map(|b| [b.from, b.to]);
        self.bounds = Extent::around(old.chain(points));
    }

    fn line(&mut self, d: &Drawing<'_>) {
        let Some(points) = d.points() else { return };
        let path = path_of(&points, d.is_smooth(), false);
        let colour = d.colour("color").unwrap_or_else(|| "#000000".into());
        let thickness = d.number("thickness").unwrap_or(THICKNESS_DEFAULT);
        let Some(stroke) = stroke(&colour, d.name("pattern").as_deref(), thickness) else {
            return;
        };
        self.note(points.iter().copied());
        let _ = write!(self.body, r#"<path d="{path}" fill="none"{stroke}/>"#);
        self.arrows(d, &points, &colour, thickness);
    }

    fn arrows(&mut self, d: &Drawing<'_>, points: &[Point], colour: &str, thickness: f64) {
        let Some(arrows) = d.value("arrow") else {
            return;
        };
        let size = d.number("arrowSize").unwrap_or(3.0);
        let names: Vec<String> = arrows.names().into_iter().map(str::to_owned).collect();
        let n = points.len();
        let ends = [(0, 1), (n - 1, n.saturating_sub(2))];
        for (name, (tip, tail)) in names.iter().zip(ends) {
            if name == "None" || n < 2 {
                continue;
            }
            let (tip, tail) = (points[tip], points[tail]);
            let length = (tip.x - tail.x)
                .hypot(tip.y - tail.y)
                .max(f64::MIN_POSITIVE);
            let (ux, uy) = ((tip.x - tail.x) / length, (tip.y - tail.y) / length);
            let back = |side: f64| {
                point(
                    tip.x - size * ux - side * size * 0.5 * uy,
                    tip.y - size * uy + side * size * 0.5 * ux,
                )
            };
            let fill = if name == "Filled" { colour } else { "none" };
            let path = path_of(&[back(1.0), tip, back(-1.0)], false, name == "Filled");
            let _ = write!(
                self.body,
                r#"<path d="{path}" fill="{fill}" stroke="{colour}" stroke-width="{}"/>"#,
                short(thickness)
            );
        }
    }

    fn polygon(&mut self, d: &Drawing<'_>) {
        let Some(points) = d.points() else { return };
        let path = path_of(&points, d.is_smooth(), true);
        self.filled(d, &path, &points);
    }

    fn rectangle(&mut self, d: &Drawing<'_>) {
        let Some(extent) = d.extent() else { return };
        let corners = extent.corners().map(|p| d.map.of(p));
        let radius = d.number("radius").unwrap_or(0.0) * d.map.scales().0;
        let path = match radius > 0.0 {
            true => rounded(&corners, radius),
            false => path_of(&corners, false, true),
        };
        self.filled(d, &path, &corners);
    }

    fn ellipse(&mut self, d: &Drawing<'_>) {
        let Some(extent) = d.extent() else { return };
        let centre = extent.centre();
        let (rx, ry) = (
            (extent.to.x - extent.from.x).abs() / 2.0,
            (extent.to.y - extent.from.y).abs() / 2.0,
        );
        let start = d.number("startAngle").unwrap_or(0.0);
        let end = d.number("endAngle").unwrap_or(360.0);
        let is_whole = (end - start).abs() >= 360.0;
        let pieces = (ELLIPSE_PIECES * (end - start).abs() / 360.0)
            .ceil()
            .clamp(2.0, ELLIPSE_PIECES);
        let mut points: Vec<Point> = (0..=pieces as usize)
            .map(|k| (start + (end - start) * k as f64 / pieces).to_radians())
            .map(|angle| {
                d.map.of(point(
                    centre.x + rx * angle.cos(),
                    centre.y + ry * angle.sin(),
                ))
            })
            .collect();
        let closure = d.name("closure");
        if !is_whole && closure.as_deref() != Some("Chord") && closure.as_deref() != Some("None") {
            points.push(d.map.of(centre));
        }
        let path = path_of(
            &points,
            false,
            closure.as_deref() != Some("None") || is_whole,
        );
        self.filled(d, &path, &points);
    }

    /// Edge and filling of a closed shape.
    fn filled(&mut self, d: &Drawing<'_>, path: &str, points: &[Point]) {
        self.note(points.iter().copied());
        let edge = d.colour("lineColor").unwrap_or_else(|| "#000000".into());
        let inner = d.colour("fillColor").unwrap_or_else(|| "#000000".into());
        let fill = match d.name("fillPattern").as_deref() {
            None | Some("None") => "none".to_owned(),
            Some("Solid") => inner,
            Some(pattern) => self.pattern(pattern, &edge, &inner),
        };
        let thickness = d.number("lineThickness").unwrap_or(THICKNESS_DEFAULT);
        let stroke = stroke(&edge, d.name("pattern").as_deref(), thickness).unwrap_or_default();
        let _ = write!(self.body, r#"<path d="{path}" fill="{fill}"{stroke}/>"#);
    }

    /// A gradient or hatching, made once for each pair of colours.
    fn pattern(&mut self, name: &str, edge: &str, inner: &str) -> String {
        let id = format!("p{}-{}-{}", name, &edge[1..], &inner[1..]);
        if !self.fills.iter().any(|(known, _)| *known == id) {
            let stops = format!(
                r#"<stop offset="0" stop-color="{edge}"/><stop offset="0.5" stop-color="{inner}"/><stop offset="1" stop-color="{edge}"/>"#
            );
            let hatched = |path: &str| {
                format!(
                    r#"<pattern id="{id}" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="{inner}"/><path d="{path}" stroke="{edge}" stroke-width="0.4" fill="none"/></pattern>"#
                )
            };
            let definition = match name {
                "HorizontalCylinder" => format!(
                    r#"<linearGradient id="{id}" x1="0" y1="0" x2="0" y2="1">{stops}</linearGradient>"#
                ),
                "VerticalCylinder" => {
                    format!(r#"<linearGradient id="{id}">{stops}</linearGradient>"#)
                }
                "Sphere" => format!(
                    r#"<radialGradient id="{id}"><stop offset="0" stop-color="{inner}"/><stop offset="1" stop-color="{edge}"/></radialGradient>"#
                ),
                "Horizontal" => hatched("M0 2.5H5"),
                "Vertical" => hatched("M2.5 0V5"),
                "Cross" => hatched("M0 2.5H5M2.5 0V5"),
                "Forward" => hatched("M0 0L5 5"),
                "Backward" => hatched("M0 5L5 0"),
                _ => hatched("M0 0L5 5M0 5L5 0"),
            };
            self.fills.push((id.clone(), definition));
        }
        format!("url(#{id})")
    }

    fn text(&mut self, d: &Drawing<'_>, of: &dyn Subject) {
        let Some(extent) = d.extent() else { return };
        let Some(Known::Text(raw)) = d.value("textString").or_else(|| d.value("string")) else {
            return;
        };
        let text = of.expand(&raw);
        if text.trim().is_empty() {
            return;
        }
        let (sx, sy) = d.map.scales();
        let width = (extent.to.x - extent.from.x).abs() * sx;
        let height = (extent.to.y - extent.from.y).abs() * sy;
        let lines: Vec<&str> = text.lines().collect();
        let longest = lines
            .iter()
            .map(|l| l.chars().count())
            .max()
            .unwrap_or(1)
            .max(1) as f64;
        let given = d.number("fontSize").filter(|size| *size > 0.0);
        let by_height = match height > 0.0 {
            true => height / (LINE_HEIGHT * lines.len() as f64),
            false => f64::INFINITY,
        };
        let by_width = match width > 0.0 {
            true => width / (LETTER_WIDTH * longest),
            false => f64::INFINITY,
        };
        let size = match given {
            Some(points) => points * POINT_SIZE,
            None => by_height.min(by_width),
        };
        if !size.is_finite() || size <= 0.0 {
            return;
        }
        let mut angle = d.map.angle().rem_euclid(360.0);
        // Never upside down.
        if angle > 90.01 && angle <= 270.01 {
            angle -= 180.0;
        }
        let (anchor, x) = match d.name("horizontalAlignment").as_deref() {
            Some("Left") => ("start", extent.from.x.min(extent.to.x)),
            Some("Right") => ("end", extent.from.x.max(extent.to.x)),
            _ => ("middle", extent.centre().x),
        };
        let at = d.map.of(point(x, extent.centre().y));
        self.note(extent.corners().map(|p| d.map.of(p)));
        let colour = (d.colour("textColor").or_else(|| d.colour("lineColor")))
            .unwrap_or_else(|| "#000000".into());
        let styles = d
            .value("textStyle")
            .map(|v| v.names().join(" "))
            .unwrap_or_default();
        let weight = if styles.contains("Bold") {
            r#" font-weight="bold""#
        } else {
            ""
        };
        let slant = if styles.contains("Italic") {
            r#" font-style="italic""#
        } else {
            ""
        };
        let turn = match angle.abs() > 0.01 {
            true => format!(
                r#" transform="rotate({} {} {})""#,
                short(-angle),
                short(at.x),
                short(-at.y)
            ),
            false => String::new(),
        };
        let first = -(lines.len() as f64 - 1.0) / 2.0 * LINE_HEIGHT * size;
        for (k, line) in lines.iter().enumerate() {
            let y = -at.y + first + k as f64 * LINE_HEIGHT * size + 0.35 * size;
            let _ = write!(
                self.body,
                r#"<text x="{}" y="{}" font-size="{}" text-anchor="{anchor}" fill="{colour}"{weight}{slant}{turn}>{}</text>"#,
                short(at.x),
                short(y),
                short(size),
                escaped(line)
            );
        }
    }

    fn bitmap(&mut self, d: &Drawing<'_>, of: &dyn Subject) {
        let Some(extent) = d.extent() else { return };
        let source = match (d.value("imageSource"), d.value("fileName")) {
            (Some(Known::Text(data)), _) => Some(format!("data:image/png;base64,{data}")),
            (_, Some(Known::Text(file))) => of.image(&file),
            _ => None,
        };
        let Some(source) = source else { return };
        let corners = extent.corners().map(|p| d.map.of(p));
        self.note(corners);
        let Some(box_) = Extent::around(corners) else {
            return;
        };
        let _ = write!(
            self.body,
            r#"<image x="{}" y="{}" width="{}" height="{}" href="{}"/>"#,
            short(box_.from.x),
            short(-box_.to.y),
            short(box_.to.x - box_.from.x),
            short(box_.to.y - box_.from.y),
            escaped(&source)
        );
    }

    /// A box for what has no picture.
    pub(crate) fn placeholder(&mut self, extent: Extent, map: Affine, text: &str) {
        let corners = extent.corners().map(|p| map.of(p));
        self.note(corners);
        let path = path_of(&corners, false, true);
        let at = map.of(extent.centre());
        let _ = write!(
            self.body,
            r##"<path d="{path}" fill="#ffffff" stroke="#888888" stroke-width="0.25" stroke-dasharray="2 1.5"/><text x="{}" y="{}" font-size="3" text-anchor="middle" fill="#666666">{}</text>"##,
            short(at.x),
            short(-at.y),
            escaped(text)
        );
    }

    /// The whole picture.
    pub(crate) fn finish(self, visible: Extent) -> String {
        let around = Extent::around(
            visible
                .corners()
                .into_iter()
                .chain(self.bounds.into_iter().flat_map(|b| [b.from, b.to])),
        )
        .unwrap_or(visible);
        let definitions: String = self.fills.iter().map(|(_, d)| d.as_str()).collect();
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="{} {} {} {}" font-family="Liberation Sans, Arial, Helvetica, sans-serif" stroke-linejoin="round"><defs>{definitions}</defs>{}</svg>"#,
            short(around.from.x - 2.0),
            short(-around.to.y - 2.0),
            short(around.to.x - around.from.x + 4.0),
            short(around.to.y - around.from.y + 4.0),
            self.body
        )
    }
}

/// A subject as its parameters.
struct Params<'s>(&'s dyn Subject);

impl Parameters for Params<'_> {
    fn parameter(&self, name: &str) -> Option<&saltus_syntax::ast::Expr> {
        self.0.parameter(name)
    }
}

struct Drawing<'d> {
    item: &'d Item<'d>,
    map: Affine,
    params: &'d dyn Parameters,
}

impl Drawing<'_> {
    fn value(&self, name: &str) -> Option<Known> {
        self.item.value(name, self.params)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.number()
    }

    fn colour(&self, name: &str) -> Option<String> {
        self.value(name)?.colour()
    }

    fn name(&self, name: &str) -> Option<String> {
        self.value(name)?.name().map(str::to_owned)
    }

    fn extent(&self) -> Option<Extent> {
        self.value("extent")?.extent()
    }

    fn is_smooth(&self) -> bool {
        self.name("smooth").as_deref() == Some("Bezier")
    }

    /// In the picture; two or more.
    fn points(&self) -> Option<Vec<Point>> {
        let points = self.value("points")?.points()?;
        (points.len() >= 2).then(|| points.iter().map(|p| self.map.of(*p)).collect())
    }
}

/// The attributes of a line; `None` if there is none.
fn stroke(colour: &str, pattern: Option<&str>, thickness: f64) -> Option<String> {
    let t = thickness.max(0.1);
    let dash = match pattern {
        Some("None") => return None,
        Some("Dash") => format!("{} {}", 8.0 * t, 4.0 * t),
        Some("Dot") => format!("{} {}", t, 3.0 * t),
        Some("DashDot") => format!("{} {} {} {}", 8.0 * t, 3.0 * t, t, 3.0 * t),
        Some("DashDotDot") => format!(
            "{} {} {} {} {} {}",
            8.0 * t,
            3.0 * t,
            t,
            3.0 * t,
            t,
            3.0 * t
        ),
        _ => String::new(),
    };
    let dash = match dash.is_empty() {
        true => String::new(),
        false => format!(r#" stroke-dasharray="{dash}""#),
    };
    Some(format!(
        r#" stroke="{colour}" stroke-width="{}"{dash}"#,
        short(thickness)
    ))
}

/// A polyline, or the spline through the middles of its pieces.
fn path_of(points: &[Point], smooth: bool, closed: bool) -> String {
    let mut out = String::new();
    let put = |out: &mut String, command: &str, p: Point| {
        let _ = write!(out, "{command}{} {}", short(p.x), short(-p.y));
    };
    let middle = |a: Point, b: Point| point((a.x + b.x) / 2.0, (a.y + b.y) / 2.0);
    let Some((&first, rest)) = points.split_first() else {
        return out;
    };
    put(&mut out, "M", first);
    if smooth && rest.len() >= 2 {
        put(&mut out, "L", middle(first, rest[0]));
        for pair in rest.windows(2) {
            put(&mut out, "Q", pair[0]);
            put(&mut out, " ", middle(pair[0], pair[1]));
        }
        put(&mut out, "L", rest[rest.len() - 1]);
    } else {
        rest.iter().for_each(|p| put(&mut out, "L", *p));
    }
    if closed {
        out.push('Z');
    }
    out
}

/// A rectangle, anyhow turned, with round corners.
fn rounded(corners: &[Point; 4], radius: f64) -> String {
    let along = |from: Point, to: Point| {
        let length = (to.x - from.x).hypot(to.y - from.y);
        let share = match length > 0.0 {
            true => (radius / length).min(0.5),
            false => 0.0,
        };
        point(
            from.x + share * (to.x - from.x),
            from.y + share * (to.y - from.y),
        )
    };
    let mut out = String::new();
    for k in 0..4 {
        let (before, corner, after) = (corners[(k + 3) % 4], corners[k], corners[(k + 1) % 4]);
        let (a, b) = (along(corner, before), along(corner, after));
        let command = if k == 0 { 'M' } else { 'L' };
        let _ = write!(
            out,
            "{command}{} {}Q{} {} {} {}",
            short(a.x),
            short(-a.y),
            short(corner.x),
            short(-corner.y),
            short(b.x),
            short(-b.y)
        );
    }
    out.push('Z');
    out
}

/// Digits that are seen.
pub(crate) fn short(x: f64) -> String {
    let rounded = (x * 1000.0).round() / 1000.0;
    // No minus zero.
    format!("{}", rounded + 0.0)
}

pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
