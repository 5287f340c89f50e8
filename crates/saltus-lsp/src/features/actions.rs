//! Cures that are edits: what a message's help says in a fixed form is done, imports are added and put in order.

use super::symbols::files_below;
use super::{Answer, Asked};
use crate::context::{all_classes, classes_at};
use crate::server::Server;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic, NumberOrString,
    Range, TextEdit, Uri, WorkspaceEdit,
};
use saltus::language::syntax::{ClassBody, ClassDef, ElementKind};
use std::collections::HashMap;

/// Imports that are offered for one name.
const IMPORTS_MAX: usize = 8;

pub(super) fn actions(
    server: &mut Server<'_>,
    params: CodeActionParams,
) -> Answer<Option<Vec<CodeActionOrCommand>>> {
    let uri = params.text_document.uri;
    let asked = Asked::new(server, &uri)?;
    let mut out = Vec::new();
    for diagnostic in &params.context.diagnostics {
        for (title, edit) in cures(server, &asked, diagnostic) {
            out.push(action(
                &uri,
                title,
                vec![edit],
                CodeActionKind::QUICKFIX,
                Some(diagnostic),
            ));
        }
    }
    let wanted = |kind: &CodeActionKind| {
        (params.context.only.as_ref())
            .is_none_or(|only| only.iter().any(|o| kind.as_str().starts_with(o.as_str())))
    };
    if wanted(&CodeActionKind::SOURCE_ORGANIZE_IMPORTS)
        && let Some(edit) = organised(&asked, asked.offset(params.range.start))
    {
        let title = "Put the imports in order".to_owned();
        out.push(action(
            &uri,
            title,
            vec![edit],
            CodeActionKind::SOURCE_ORGANIZE_IMPORTS,
            None,
        ));
    }
    Ok(Some(out))
}

#[expect(
    clippy::mutable_key_type,
    reason = "the protocol's type of edits has URIs as keys"
)]
fn action(
    uri: &Uri,
    title: String,
    edits: Vec<TextEdit>,
    kind: CodeActionKind,
    cured: Option<&Diagnostic>,
) -> CodeActionOrCommand {
    let changes = HashMap::from([(uri.clone(), edits)]);
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(kind),
        is_preferred: cured.map(|_| true),
        diagnostics: cured.map(|d| vec![d.clone()]),
        edit: Some(WorkspaceEdit {
            changes: Some(changes),
            ..WorkspaceEdit::default()
        }),
        ..CodeAction::default()
    })
}

fn cures(server: &Server<'_>, asked: &Asked, diagnostic: &Diagnostic) -> Vec<(String, TextEdit)> {
    let help = diagnostic
        .data
        .as_ref()
        .and_then(|data| data.get("help")?.as_str())
        .unwrap_or_default();
    let code = match &diagnostic.code {
        Some(NumberOrString::String(code)) => code.as_str(),
        _ => "",
    };
    let range = diagnostic.range;
    let text = |range: Range| {
        asked
            .text
            .text
            .get(asked.text.offset(range.start)..asked.text.offset(range.end))
            .unwrap_or_default()
    };
    let mut out = Vec::new();
    if let Some(word) = between(help, "did you mean `", "`") {
        out.push((
            format!("Replace by `{word}`"),
            TextEdit::new(range, word.to_owned()),
        ));
    }
    if let Some(word) = between(help, "insert `", "`") {
        let before = asked
            .text
            .text
            .as_bytes()
            .get(asked.text.offset(range.start).wrapping_sub(1));
        let is_word = word
            .chars()
            .all(|c| c.is_alphanumeric() || c == ' ' || c == ';');
        let space = if word != ";" && is_word && before.is_some_and(|b| !b.is_ascii_whitespace()) {
            " "
        } else {
            ""
        };
        let behind = if is_word && word != ";" { " " } else { "" };
        out.push((
            format!("Insert `{word}`"),
            TextEdit::new(
                Range::new(range.start, range.start),
                format!("{space}{word}{behind}"),
            ),
        ));
    }
    if help == "write `elseif` instead of `else if`" {
        out.push((
            "Write `elseif`".to_owned(),
            TextEdit::new(
                range,
                text(range).replacen("else if", "elseif", 1).replacen(
                    "if",
                    "elseif",
                    usize::from(text(range) == "if"),
                ),
            ),
        ));
    }
    if let Some(prefix) = between(help, "write `each final", "`")
        .map(|_| "each ")
        .or((code == "missing-each").then_some("each "))
    {
        let start = argument_start(&asked.text.text, asked.text.offset(range.start));
        let at = asked.text.position(start);
        out.push((
            "Write `each`".to_owned(),
            TextEdit::new(Range::new(at, at), prefix.to_owned()),
        ));
    }
    if code == "mismatched-end-name"
        && let Some(word) =
            between(&diagnostic.message, "expected `", "`")
                .or(between(help, "write `end ", "`").map(|w| w.trim_end_matches(';')))
    {
        out.push((
            format!("Write `{word}`"),
            TextEdit::new(range, word.to_owned()),
        ));
    }
    if help == "remove the `;`" {
        out.push(("Remove `;`".to_owned(), TextEdit::new(range, String::new())));
    }
    if matches!(code, "unknown-class" | "unknown-name") {
        out.extend(imports(
            server,
            asked,
            text(range),
            asked.text.offset(range.start),
        ));
    }
    out
}

/// From the value of a modifier back to its name.
fn argument_start(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    before.rfind(['(', ',']).map_or(offset, |at| {
        let rest = &text[at + 1..];
        at + 1 + (rest.len() - rest.trim_start().len())
    })
}

fn between<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let rest = &text[text.find(before)? + before.len()..];
    Some(&rest[..rest.find(behind)?])
}

/// Import clauses for classes of this name in the client's folders.
fn imports(
    server: &Server<'_>,
    asked: &Asked,
    name: &str,
    offset: usize,
) -> Vec<(String, TextEdit)> {
    let classes = classes_at(&asked.parsed.definition, offset as u32);
    let Some(class) = classes
        .last()
        .filter(|_| super::rename::is_identifier(name))
    else {
        return Vec::new();
    };
    let mut files: Vec<String> = server.documents.keys().cloned().collect();
    for folder in &server.folders {
        files_below(server, folder, 0, &mut files);
    }
    files.sort();
    files.dedup();
    let mut out = Vec::new();
    for path in files {
        let is_likely = (server.session.read_file(&path))
            .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(name));
        if !is_likely && !server.documents.contains_key(&path) {
            continue;
        }
        let Ok(parsed) = server.session.parsed(&path) else {
            continue;
        };
        for (full, found) in all_classes(&parsed.definition) {
            if found.name.name.as_str() == name && full.contains('.') && out.len() < IMPORTS_MAX {
                let (at, indent) = body_start(asked, class);
                let at = asked.text.position(at);
                out.push((
                    format!("Import `{full}`"),
                    TextEdit::new(Range::new(at, at), format!("\n{indent}import {full};")),
                ));
            }
        }
    }
    out
}

/// Behind the header of a class, with the indentation of its elements.
fn body_start(asked: &Asked, class: &ClassDef) -> (usize, String) {
    let text = &asked.text.text;
    let mut end = class.name.span.end as usize;
    if class.description.is_some()
        && let Some(at) = text[end..].find('"')
    {
        let rest = &text[end + at + 1..];
        let close = rest
            .char_indices()
            .find(|(i, c)| *c == '"' && !rest[..*i].ends_with('\\'))
            .map_or(0, |(i, _)| i);
        end += at + close + 2;
    }
    let line = text[..class.span.start as usize]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let indent = text[line..].chars().take_while(|c| *c == ' ').count() + 2;
    (end, " ".repeat(indent))
}

/// The imports at the begin of the class, sorted.
fn organised(asked: &Asked, offset: u32) -> Option<TextEdit> {
    let classes = classes_at(&asked.parsed.definition, offset);
    let ClassBody::Composition { parts, .. } = &classes.last()?.body else {
        return None;
    };
    let is_import = |kind: &ElementKind| matches!(kind, ElementKind::Import(_));
    let first = parts
        .elements
        .iter()
        .position(|element| is_import(&element.kind))?;
    let run: Vec<_> = parts.elements[first..]
        .iter()
        .take_while(|element| is_import(&element.kind))
        .collect();
    let (start, end) = (
        run.first()?.span.start as usize,
        run.last()?.span.end as usize,
    );
    let text = &asked.text.text;
    let old = &text[start..end];
    // Comments between them belong to a place.
    if run.len() < 2 || old.contains("//") || old.contains("/*") {
        return None;
    }
    let mut clauses: Vec<&str> = run
        .iter()
        .map(|e| {
            text[e.span.start as usize..e.span.end as usize]
                .trim_end_matches(';')
                .trim_end()
        })
        .collect();
    clauses.sort_unstable();
    clauses.dedup();
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = " ".repeat(start - line);
    let ends_closed = old.ends_with(';');
    let mut new = clauses.join(&format!(";\n{indent}"));
    if ends_closed {
        new.push(';');
    }
    (new != old).then(|| TextEdit::new(asked.text.range(start, end), new))
}
