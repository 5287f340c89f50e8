//! What all pictures share: beginning and end, text, and the colours of dark screens.

use std::fmt::Write;

/// Colours as drawn, and what they are where the reader prefers dark screens. On paper they stay as drawn.
const DARK: [(&str, &str); 13] = [
    ("#FFFFFF", "#16181C"),
    ("#282828", "#D8D8D8"),
    ("#404040", "#D8D8D8"),
    ("#E4E4E4", "#3A3D44"),
    ("#A8A8A8", "#7A7A7A"),
    ("#005FAF", "#56A8F5"),
    ("#D55E00", "#FF8C42"),
    ("#008A64", "#3CCB9A"),
    ("#B4468C", "#E48BC6"),
    ("#966E00", "#E0B83C"),
    ("#3C96D2", "#9AD3FF"),
    ("#5A5A5A", "#BDBDBD"),
    ("#823CC8", "#C39BFF"),
];

/// The rules for dark screens, behind the opening tag.
pub(crate) fn with_dark_colours(svg: &str) -> String {
    let end = svg.find('>').map_or(0, |k| k + 1);
    let (open, rest) = svg.split_at(end);
    without_controls(&format!("{open}\n{}{rest}", dark_style()))
}

/// Names and titles come from models. XML does not allow control characters, and marks that change the direction of writing could show other text than there is.
fn without_controls(svg: &str) -> String {
    let is_wrong = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
    };
    svg.replace(is_wrong, "\u{fffd}")
}

fn dark_style() -> String {
    let mut rules = String::new();
    for (light, dark) in DARK {
        // Writing to a String cannot fail.
        let _ = write!(
            rules,
            r#"[fill="{light}" i]{{fill:{dark}}}[stroke="{light}" i]{{stroke:{dark}}}"#
        );
    }
    format!(
        "<style>@media screen and (prefers-color-scheme: dark){{text{{fill:#D8D8D8}}{rules}}}</style>\n"
    )
}

/// An empty picture of a width and a height in pixels.
pub(crate) fn open((width, height): (f64, f64), font_size: f64) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" font-family="Helvetica, Arial, sans-serif" font-size="{font_size}">"#
    );
    out.push_str(&dark_style());
    let _ = writeln!(
        out,
        r##"<rect width="100%" height="100%" fill="#FFFFFF"/>"##
    );
    out
}

pub(crate) fn close(mut out: String) -> String {
    out.push_str("</svg>\n");
    without_controls(&out)
}

pub(crate) fn text(out: &mut String, x: f64, y: f64, anchor: &str, size: f64, what: &str) {
    let what = escape(what);
    let _ = writeln!(
        out,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}">{what}</text>"#
    );
}

pub(crate) fn line(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
    let _ = writeln!(
        out,
        r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="{colour}" stroke-width="{width}"/>"#,
        from.0, from.1, to.0, to.1
    );
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Width of a text in pixels, about.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    const CHAR_WIDTH: f64 = 0.58;
    text.chars().count() as f64 * CHAR_WIDTH * size
}
