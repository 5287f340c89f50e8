//! What a name is: declaration with the full type, value after modifiers, unit, description, documentation.

use super::{Answer, Asked, place, target_at};
use crate::server::Server;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};
use saltus::language::Described;

/// Documentation is cut here: what is longer is read in its file.
const DOCUMENTATION_MAX: usize = 2000;

pub(super) fn hover(server: &mut Server<'_>, params: HoverParams) -> Answer<Option<Hover>> {
    let (uri, position) = place(&params.text_document_position_params);
    let asked = Asked::new(server, uri)?;
    let found = server.session.queries(|q| {
        let at = target_at(q, &asked, position)?;
        let about = q.describe(&at.target);
        // Of a component, what its class says.
        let class = q.type_of(&at.target).map(|class| q.describe(&class));
        Some((at.span, about, class))
    });
    Ok(found.map(|(span, about, class)| Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: markdown(&about, class.as_ref()),
        }),
        range: Some(asked.text.range_of(span)),
    }))
}

fn markdown(about: &Described, class: Option<&Described>) -> String {
    let value = about
        .value
        .as_ref()
        .map_or(String::new(), |value| format!(" = {value}"));
    let mut out = format!("```modelica\n{}{value}\n```\n", about.signature);
    let unit = about.unit.as_ref().filter(|unit| !unit.is_empty());
    if let Some(description) = &about.description {
        out.push_str(&format!("\n{description}"));
    }
    if let Some(unit) = unit {
        out.push_str(&format!(" [{unit}]"));
    }
    out.push('\n');
    if let Some(description) = class.and_then(|class| class.description.as_ref()) {
        out.push_str(&format!("\n*{description}*\n"));
    }
    if let Some(info) = &about.documentation {
        out.push_str(&format!("\n---\n\n{}\n", plain(info)));
    }
    out
}

/// The text of HTML: paragraphs, lists and code stay apart, tags go.
pub(super) fn plain(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    let mut is_code = false;
    while let Some(at) = rest.find('<') {
        push_text(&mut out, &rest[..at], is_code);
        let end = rest[at..].find('>').map_or(rest.len(), |end| at + end + 1);
        let tag = rest[at + 1..end].trim_end_matches('>').to_lowercase();
        let name: String = tag
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '/')
            .collect();
        match name.as_str() {
            "p" | "/p" | "br" | "br/" | "tr" | "/ul" | "/ol" | "/table" | "h1" | "h2" | "h3"
            | "h4" => out.push_str("\n\n"),
            "li" => out.push_str("\n- "),
            "strong" | "/strong" | "b" | "/b" => out.push_str("**"),
            "em" | "/em" | "i" | "/i" => out.push('*'),
            "code" | "/code" => out.push('`'),
            "pre" => {
                is_code = true;
                out.push_str("\n```\n");
            }
            "/pre" => {
                is_code = false;
                out.push_str("\n```\n");
            }
            _ => {}
        }
        rest = &rest[end..];
        if out.len() > DOCUMENTATION_MAX {
            out.push_str(" …");
            if is_code {
                out.push_str("\n```\n");
            }
            return collapse(&out);
        }
    }
    push_text(&mut out, rest, is_code);
    collapse(&out)
}

fn push_text(out: &mut String, text: &str, is_code: bool) {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let mut text = text.to_owned();
    for (entity, character) in entities {
        text = text.replace(entity, character);
    }
    if is_code {
        out.push_str(&text);
    } else {
        for (i, word) in text.split_whitespace().enumerate() {
            if i > 0 || text.starts_with(char::is_whitespace) && !out.ends_with(char::is_whitespace)
            {
                out.push(' ');
            }
            out.push_str(word);
        }
        if text.ends_with(char::is_whitespace) && !out.ends_with(char::is_whitespace) {
            out.push(' ');
        }
    }
}

/// At most one empty line in a row.
fn collapse(text: &str) -> String {
    let mut out = String::new();
    let mut n_empty = 0;
    for line in text.trim().lines() {
        n_empty = if line.trim().is_empty() {
            n_empty + 1
        } else {
            0
        };
        if n_empty < 2 {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn html_becomes_text() {
        let html =
            "<html><p>A <strong>law</strong>:</p><ul><li>u &lt; 1</li><li>i</li></ul></html>";
        assert_eq!(super::plain(html), "A **law**:\n\n- u < 1\n- i\n");
    }
}
