//! From a name to its declaration, to the declaration of its type, and to all places that mean the same.

use super::symbols::files_below;
use super::{Answer, Asked, At, location, place, target_at, targets};
use crate::server::{Server, folder_of_library};
use crate::text::Text;
use lsp_types::request::GotoTypeDefinitionParams;
use lsp_types::{
    DocumentHighlight, DocumentHighlightParams, GotoDefinitionParams, GotoDefinitionResponse,
    Location, ReferenceParams,
};
use saltus::language::{ParsedFile, Queries, Span, Target};
use std::sync::Arc;

pub(super) fn definition(
    server: &mut Server<'_>,
    params: GotoDefinitionParams,
) -> Answer<Option<GotoDefinitionResponse>> {
    let (uri, position) = place(&params.text_document_position_params);
    let asked = Asked::new(server, uri)?;
    let server = &*server;
    let found = server.session.queries(|q| {
        let at = target_at(q, &asked, position)?;
        let span = q.describe(&at.target).place?;
        location(server, q, span)
    });
    Ok(found.map(GotoDefinitionResponse::Scalar))
}

pub(super) fn type_definition(
    server: &mut Server<'_>,
    params: GotoTypeDefinitionParams,
) -> Answer<Option<GotoDefinitionResponse>> {
    let (uri, position) = place(&params.text_document_position_params);
    let asked = Asked::new(server, uri)?;
    let server = &*server;
    let found = server.session.queries(|q| {
        let at = target_at(q, &asked, position)?;
        let class = q.type_of(&at.target)?;
        let span = q.describe(&class).place?;
        location(server, q, span)
    });
    Ok(found.map(GotoDefinitionResponse::Scalar))
}

pub(super) fn highlights(
    server: &mut Server<'_>,
    params: DocumentHighlightParams,
) -> Answer<Option<Vec<DocumentHighlight>>> {
    let (uri, position) = place(&params.text_document_position_params);
    let asked = Asked::new(server, uri)?;
    let spans = server.session.queries(|q| {
        let at = target_at(q, &asked, position)?;
        let declared = declaration(q, &at.target)?;
        Some(same_in(q, &asked.parsed, &declared))
    });
    let highlight = |span: Span| DocumentHighlight {
        range: asked.text.range_of(span),
        kind: None,
    };
    Ok(spans.map(|spans| spans.into_iter().map(highlight).collect()))
}

pub(super) fn references(
    server: &mut Server<'_>,
    params: ReferenceParams,
) -> Answer<Option<Vec<Location>>> {
    let (uri, position) = place(&params.text_document_position);
    let asked = Asked::new(server, uri)?;
    let Some(all) = usages(server, &asked, position) else {
        return Ok(None);
    };
    let mut out = Vec::new();
    for file in &all.files {
        let text = Text::new(file.parsed.source.text.clone());
        let Some(uri) = server.uri(&file.path) else {
            continue;
        };
        for span in &file.spans {
            let is_declaration =
                file.path == all.declared.path && span.start == all.declared.span.start;
            if params.context.include_declaration || !is_declaration {
                out.push(Location::new(uri.clone(), text.range_of(*span)));
            }
        }
    }
    Ok(Some(out))
}

/// A declaration: its file, and its name in it.
#[derive(Clone)]
pub(super) struct Declared {
    pub(super) path: String,
    pub(super) span: Span,
    pub(super) name: String,
    pub(super) is_local: bool,
}

/// All places of a file that mean the same.
pub(super) struct Usages {
    pub(super) declared: Declared,
    pub(super) files: Vec<FileUsages>,
}

pub(super) struct FileUsages {
    pub(super) path: String,
    pub(super) parsed: Arc<ParsedFile>,
    pub(super) spans: Vec<Span>,
}

pub(super) fn declaration<'a>(q: &mut Queries<'a>, target: &Target<'a>) -> Option<Declared> {
    let span = q.describe(target).place?;
    let source = q.tree().sources.shared(span.file);
    Some(Declared {
        name: source
            .text
            .get(span.start as usize..span.end as usize)?
            .to_owned(),
        path: source.name.clone(),
        span,
        is_local: matches!(target, Target::Iterator(_)),
    })
}

/// The identifiers of a file that stand for a declaration.
pub(super) fn same_in(q: &mut Queries<'_>, file: &ParsedFile, declared: &Declared) -> Vec<Span> {
    let text = &file.source.text;
    let mut spans = Vec::new();
    for (at, _) in text.match_indices(declared.name.as_str()) {
        let offset = at as u32 + 1;
        let end = (at + declared.name.len()) as u32;
        for found in targets(q, file, (offset, offset)) {
            if (found.span.start, found.span.end) == (at as u32, end)
                && is_same(q, &found, declared)
            {
                spans.push(found.span);
            }
        }
        spans.extend(end_name(file, at, declared));
    }
    spans.sort_by_key(|span| span.start);
    spans.dedup();
    spans
}

fn is_same<'a>(q: &mut Queries<'a>, found: &At<'a>, declared: &Declared) -> bool {
    declaration(q, &found.target)
        .is_some_and(|d| d.span.start == declared.span.start && d.path == declared.path)
}

/// The name behind the `end` of the class that is declared in this file.
fn end_name(file: &ParsedFile, at: usize, declared: &Declared) -> Option<Span> {
    if file.source.name != declared.path {
        return None;
    }
    let classes = crate::context::classes_at(&file.definition, at as u32);
    let class = classes
        .last()
        .filter(|class| class.name.span.start == declared.span.start)?;
    let before = file.source.text[..at].trim_end();
    let end = (at + declared.name.len()) as u32;
    let is_last = end == class.span.end
        || file.source.text[end as usize..class.span.end as usize]
            .trim()
            .is_empty();
    (before.ends_with("end") && is_last).then(|| Span::new(file.file, at as u32, end))
}

/// All places that mean what stands at a position, in the files of the client's folders and of the library that declares it.
pub(super) fn usages(
    server: &Server<'_>,
    asked: &Asked,
    position: lsp_types::Position,
) -> Option<Usages> {
    server.session.queries(|q| {
        let at = target_at(q, asked, position)?;
        let declared = declaration(q, &at.target)?;
        let mut files = Vec::new();
        for path in searched(server, asked, &declared) {
            let is_open = server.documents.contains_key(&path) || path == asked.path;
            if !is_open && !mentions(server, &path, &declared.name) {
                continue;
            }
            let Ok(parsed) = server.session.parsed(&path) else {
                continue;
            };
            let spans = same_in(q, &parsed, &declared);
            if !spans.is_empty() {
                files.push(FileUsages {
                    path,
                    parsed,
                    spans,
                });
            }
        }
        Some(Usages { declared, files })
    })
}

fn searched(server: &Server<'_>, asked: &Asked, declared: &Declared) -> Vec<String> {
    let mut paths = vec![asked.path.clone()];
    if declared.is_local {
        return paths;
    }
    paths.push(declared.path.clone());
    paths.extend(server.documents.keys().cloned());
    for folder in &server.folders {
        files_below(server, folder, 0, &mut paths);
    }
    if let Some(around) = folder_of_library(&declared.path) {
        let inside = declared
            .path
            .strip_prefix(&around)
            .unwrap_or_default()
            .trim_start_matches('/');
        if let Some((library, _)) = inside.split_once('/') {
            files_below(server, &format!("{around}/{library}"), 0, &mut paths);
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn mentions(server: &Server<'_>, path: &str, name: &str) -> bool {
    (server.session.read_file(path))
        .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(name))
}
