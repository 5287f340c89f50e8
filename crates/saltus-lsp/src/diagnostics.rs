//! Messages of the compiler as diagnostics of the protocol: the same codes, texts and cures as on the command line.

use crate::context::Document;
use crate::text::{Text, uri_of};
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    NumberOrString, Range, Uri,
};
use saltus::Diagnostics;
use saltus::language::{Diagnostic as Message, Label, ParsedFile, Severity, SourceMap, Span};
use std::str::FromStr;

/// What the parser says.
pub(crate) fn of_parser(parsed: &ParsedFile, document: &Document) -> Vec<Diagnostic> {
    let one = |message: &Message| {
        let range =
            (message.primary.as_ref()).map_or(Range::default(), |p| document.text.range_of(p.span));
        let related = (message.secondary.iter())
            .map(|label| related(label, document.uri.clone(), &document.text))
            .collect();
        made(message, range, related)
    };
    parsed.diagnostics.iter().map(one).collect()
}

/// What a check says of the document at `path`. The parser's own messages are left out: they are shown already.
pub(crate) fn of_check(found: &Diagnostics, path: &str, text: &Text) -> Vec<Diagnostic> {
    let sources = found.sources();
    let mut out = Vec::new();
    for message in &found.list {
        if is_of_parser(message.code) {
            continue;
        }
        let here = |span: Span| file_name(sources, span).is_some_and(|name| name == path);
        // What lies in another file is shown where this one leads to it, if it does.
        let labels = message.primary.iter().chain(&message.secondary);
        let Some(main) = labels.clone().find(|label| here(label.span)) else {
            if message.primary.is_none() {
                out.push(placeless(message));
            }
            continue;
        };
        let others = labels
            .filter(|label| label.span != main.span)
            .filter_map(|label| {
                let name = file_name(sources, label.span)?;
                let other = match name == path {
                    true => text.clone(),
                    false => Text::new(sources.file(label.span.file).text.clone()),
                };
                Some(related(label, uri_of(name)?, &other))
            })
            .collect();
        out.push(made(message, text.range_of(main.span), others));
    }
    out
}

fn is_of_parser(code: &str) -> bool {
    matches!(
        code,
        "syntax-error"
            | "unknown-character"
            | "unterminated-string"
            | "unterminated-comment"
            | "invalid-number"
            | "cancelled"
            | "wall-clock"
    )
}

fn file_name(sources: &SourceMap, span: Span) -> Option<&str> {
    ((span.file.0 as usize) < sources.len()).then(|| sources.file(span.file).name.as_str())
}

pub(crate) fn placeless(message: &Message) -> Diagnostic {
    made(message, Range::default(), Vec::new())
}

fn related(label: &Label, uri: Uri, text: &Text) -> DiagnosticRelatedInformation {
    DiagnosticRelatedInformation {
        location: Location::new(uri, text.range_of(label.span)),
        message: match label.text.is_empty() {
            true => "see here".to_owned(),
            false => label.text.clone(),
        },
    }
}

fn made(message: &Message, range: Range, related: Vec<DiagnosticRelatedInformation>) -> Diagnostic {
    let mut text = message.message.clone();
    if let Some(label) = message
        .primary
        .as_ref()
        .map(|p| &p.text)
        .filter(|t| !t.is_empty())
    {
        text.push_str(&format!("\n{label}"));
    }
    for note in &message.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    if let Some(help) = &message.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    Diagnostic {
        range,
        severity: Some(match message.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(message.code.to_owned())),
        code_description: Uri::from_str(&format!(
            "command:saltus.explain?%5B%22{}%22%5D",
            message.code
        ))
        .ok()
        .map(|href| CodeDescription { href }),
        source: Some("saltus".to_owned()),
        message: text,
        related_information: (!related.is_empty()).then_some(related),
        tags: None,
        data: message
            .help
            .as_ref()
            .map(|help| serde_json::json!({ "help": help })),
    }
}
