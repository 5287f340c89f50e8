//! Diagnostics as text: [`render`] for people, [`render_json`] for tools.
//!
//! ```text
//! error[unbalanced-model]: `Motor` has 13 unknowns but 12 equations
//!   --> Motor.mo:7:8
//!  7 |   Real w;
//!    |        ^ no equation determines `w`
//! help: add an equation for `w`, or declare it `parameter` or `input`
//! ```
//! The primary place is underlined with `^`, others with `-`. A span over several lines is underlined to the
//! end of its first line. Tabs are shown as [`TAB_WIDTH`] spaces; of a long line a window around the place is shown.

use crate::{Diagnostic, FileId, Label, Severity, SourceMap};
use std::fmt::Write;

/// Columns that a tab takes in the output.
const TAB_WIDTH: usize = 4;
/// Longest piece of a source line that is shown.
const LINE_WIDTH_MAX: usize = 110;
/// Columns shown before the place in a longer line.
const LEAD_WIDTH: usize = 40;

/// The message with its source lines; ends with a line feed.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "{}[{}]: {}\n",
            severity_word(diagnostic.severity),
            diagnostic.code,
            diagnostic.message
        ),
    );
    let marks = marks(diagnostic, sources);
    let gutter = marks
        .iter()
        .map(|m| m.line)
        .max()
        .map_or(1, |line| line.to_string().len());
    let mut files: Vec<FileId> = Vec::new();
    for mark in &marks {
        if !files.contains(&mark.file) {
            files.push(mark.file);
        }
    }
    for (index, file) in files.into_iter().enumerate() {
        let arrow = if index == 0 { "-->" } else { ":::" };
        let mut marks: Vec<&Mark> = marks.iter().filter(|m| m.file == file).collect();
        // The first mark of the first file is the primary one.
        let place = format!(
            "{}:{}:{}",
            sources.file(file).name,
            marks[0].line,
            marks[0].col
        );
        put(&mut out, format_args!("{:gutter$} {arrow} {place}\n", ""));
        marks.sort_by_key(|m| m.line);
        render_file(&mut out, sources, &marks, gutter);
    }
    for note in &diagnostic.notes {
        put(&mut out, format_args!("note: {note}\n"));
    }
    if let Some(help) = &diagnostic.help {
        put(&mut out, format_args!("help: {help}\n"));
    }
    out
}

/// One object on one line: `code`, `severity`, `message`, `spans` (the primary one first), `notes`, `help`.
/// Lines and columns count from 1, `start` and `end` are byte offsets.
pub fn render_json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut out = String::from("{\"severity\":");
    json_string(&mut out, severity_word(diagnostic.severity));
    out.push_str(",\"code\":");
    json_string(&mut out, diagnostic.code);
    out.push_str(",\"message\":");
    json_string(&mut out, &diagnostic.message);
    out.push_str(",\"spans\":[");
    for (index, (is_primary, label)) in labels(diagnostic).enumerate() {
        let Label { span, text } = label;
        let start = sources.line_col(span.file, span.start);
        let end = sources.line_col(span.file, span.end);
        out.push_str(if index == 0 {
            "{\"file\":"
        } else {
            ",{\"file\":"
        });
        json_string(&mut out, &sources.file(span.file).name);
        put(
            &mut out,
            format_args!(
                ",\"start\":{},\"end\":{},\"line\":{},\"column\":{},\"end_line\":{},\"end_column\":{},\"primary\":{is_primary},\"label\":",
                span.start, span.end, start.line, start.col, end.line, end.col
            ),
        );
        json_string(&mut out, text);
        out.push('}');
    }
    out.push_str("],\"notes\":[");
    for (index, note) in diagnostic.notes.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        json_string(&mut out, note);
    }
    out.push_str("],\"help\":");
    match &diagnostic.help {
        Some(help) => json_string(&mut out, help),
        None => out.push_str("null"),
    }
    out.push('}');
    out
}

/// A label on the (first) line that it covers; columns from 1, tabs not yet expanded.
struct Mark<'a> {
    file: FileId,
    line: u32,
    col: u32,
    /// Characters underlined on this line, at least one.
    width: usize,
    is_primary: bool,
    text: &'a str,
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn labels(diagnostic: &Diagnostic) -> impl Iterator<Item = (bool, &Label)> {
    let primary = diagnostic.primary.iter().map(|label| (true, label));
    primary.chain(diagnostic.secondary.iter().map(|label| (false, label)))
}

fn marks<'a>(diagnostic: &'a Diagnostic, sources: &SourceMap) -> Vec<Mark<'a>> {
    labels(diagnostic)
        .map(|(is_primary, label)| {
            let span = label.span;
            let start = sources.line_col(span.file, span.start);
            let end = sources.line_col(span.file, span.end);
            let end_col = if end.line == start.line {
                end.col
            } else {
                sources.line_text(span.file, start.line).chars().count() as u32 + 1
            };
            let width = end_col.saturating_sub(start.col).max(1) as usize;
            Mark {
                file: span.file,
                line: start.line,
                col: start.col,
                width,
                is_primary,
                text: &label.text,
            }
        })
        .collect()
}

/// The lines of one file's marks, which are sorted by line.
fn render_file(out: &mut String, sources: &SourceMap, marks: &[&Mark<'_>], gutter: usize) {
    let mut last_line = None;
    let mut shown_window = None;
    for mark in marks {
        let (line, window) = (mark.line, Window::around(mark, sources));
        if last_line.is_some_and(|last| line > last + 1) {
            put(out, format_args!("{:gutter$}...\n", ""));
        }
        if last_line != Some(line) || shown_window != Some((window.start, window.text.len())) {
            put(out, format_args!(" {line:>gutter$} | {}\n", window.text));
        }
        last_line = Some(line);
        shown_window = Some((window.start, window.text.len()));
        let (symbol, blank) = (if mark.is_primary { "^" } else { "-" }, "");
        let underline = symbol.repeat(window.mark_width);
        let indent = window.mark_start;
        let row = format!(
            " {blank:gutter$} | {blank:indent$}{underline} {}",
            mark.text
        );
        put(out, format_args!("{}\n", row.trim_end()));
    }
}

/// The part of a source line that is shown, and where the mark lies in it (columns of the output, from 0).
struct Window {
    start: usize,
    text: String,
    mark_start: usize,
    mark_width: usize,
}

impl Window {
    fn around(mark: &Mark<'_>, sources: &SourceMap) -> Window {
        let mut line: Vec<char> = Vec::new();
        let (mut mark_start, mut mark_end) = (None, None);
        let first = mark.col as usize - 1;
        for (index, c) in sources.line_text(mark.file, mark.line).chars().enumerate() {
            if index == first {
                mark_start = Some(line.len());
            }
            if index == first + mark.width {
                mark_end = Some(line.len());
            }
            match c {
                '\t' => line.extend([' '; TAB_WIDTH]),
                // A control character would disturb the terminal.
                c if c.is_control() => line.push('\u{fffd}'),
                c => line.push(c),
            }
        }
        let mark_start = mark_start.unwrap_or(line.len());
        let mark_end = mark_end.unwrap_or(line.len()).max(mark_start + 1);
        if line.len() <= LINE_WIDTH_MAX {
            let text = line.into_iter().collect::<String>().trim_end().to_owned();
            return Window {
                start: 0,
                text,
                mark_start,
                mark_width: mark_end - mark_start,
            };
        }
        let start = mark_start.saturating_sub(LEAD_WIDTH);
        let end = (start + LINE_WIDTH_MAX).min(line.len());
        let mut text = String::new();
        if start > 0 {
            text.push('…');
        }
        let shift = usize::from(start > 0);
        text.extend(&line[start..end]);
        let text_end = text.trim_end().len();
        text.truncate(text_end);
        if end < line.len() {
            text.push('…');
        }
        let visible_end = mark_end.min(end).max(mark_start + 1);
        Window {
            start,
            text,
            mark_start: mark_start - start + shift,
            mark_width: visible_end - mark_start,
        }
    }
}

fn json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => put(out, format_args!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn put(out: &mut String, args: std::fmt::Arguments<'_>) {
    out.write_fmt(args)
        .expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    fn check(text: &str, build: impl FnOnce(&dyn Fn(&str) -> Span) -> Diagnostic, expected: &str) {
        let mut sources = SourceMap::default();
        let file = sources.add("Motor.mo", text);
        let span_of = |part: &str| {
            let start = text.find(part).expect("part of the text") as u32;
            Span::new(file, start, start + part.len() as u32)
        };
        assert_eq!(render(&build(&span_of), &sources), expected);
    }

    #[test]
    fn primary_and_secondary_lines_come_in_source_order() {
        check(
            "model M\n  Real x;\n\n\n\n\n\n\n  Real x;\n  Real xx;\nend M;\n",
            |span| {
                Diagnostic::error("duplicate-element", span("xx"), "`xx` is too much")
                    .label("here")
                    .secondary(span("M"), "in this class")
                    .note("a note")
                    .help("remove it")
            },
            "error[duplicate-element]: `xx` is too much\n  --> Motor.mo:10:8\n  1 | model M\n    |       - in this class\n  ...\n 10 |   Real xx;\n    |        ^^ here\nnote: a note\nhelp: remove it\n"
                .replace("  -->", "   -->")
                .as_str(),
        );
    }

    #[test]
    fn tabs_are_expanded_and_empty_spans_get_one_caret() {
        check(
            "\tReal x\n",
            |span| {
                let mut at = span("x");
                at.start = at.end;
                Diagnostic::warning("syntax-error", at, "no end")
            },
            "warning[syntax-error]: no end\n  --> Motor.mo:1:8\n 1 |     Real x\n   |           ^\n",
        );
    }

    #[test]
    fn a_window_of_a_long_line_is_shown() {
        let text = format!("{}bad{}", "a".repeat(200), "b".repeat(200));
        let expected = format!(
            "error[c]: m\n  --> Motor.mo:1:201\n 1 | …{}bad{}…\n   |  {}^^^\n",
            "a".repeat(40),
            "b".repeat(67),
            " ".repeat(40)
        );
        check(
            &text,
            |span| Diagnostic::error("c", span("bad"), "m"),
            &expected,
        );
    }

    #[test]
    fn a_span_of_many_lines_is_underlined_on_its_first() {
        check(
            "ab cd\nef\n",
            |span| Diagnostic::error("c", span("cd\nef"), "m").label("l"),
            "error[c]: m\n  --> Motor.mo:1:4\n 1 | ab cd\n   |    ^^ l\n",
        );
    }

    #[test]
    fn a_placeless_message_has_no_lines() {
        let diagnostic = Diagnostic::placeless("not-utf8", "bad file").help("convert it");
        let sources = SourceMap::default();
        assert_eq!(
            render(&diagnostic, &sources),
            "error[not-utf8]: bad file\nhelp: convert it\n"
        );
        assert_eq!(
            render_json(&diagnostic, &sources),
            r#"{"severity":"error","code":"not-utf8","message":"bad file","spans":[],"notes":[],"help":"convert it"}"#
        );
    }

    #[test]
    fn json_escapes_text_and_counts_from_one() {
        let mut sources = SourceMap::default();
        let file = sources.add("a\\b.mo", "x\ny");
        let diagnostic =
            Diagnostic::error("c", Span::new(file, 2, 3), "say \"no\"\n\u{1}").label("l");
        assert_eq!(
            render_json(&diagnostic, &sources),
            r#"{"severity":"error","code":"c","message":"say \"no\"\n\u0001","spans":[{"file":"a\\b.mo","start":2,"end":3,"line":2,"column":1,"end_line":2,"end_column":2,"primary":true,"label":"l"}],"notes":[],"help":null}"#
        );
    }
}
