//! `modelica://` addresses in texts: to classes and to files of libraries.

use super::{Answer, Asked, location};
use crate::server::Server;
use crate::text::uri_of;
use lsp_types::{DocumentLink, DocumentLinkParams, Uri};
use saltus::language::syntax::Ident;
use saltus::language::{Name, Queries, Span};
use std::path::Path;

const SCHEME: &str = "modelica://";

pub(super) fn links(
    server: &mut Server<'_>,
    params: DocumentLinkParams,
) -> Answer<Option<Vec<DocumentLink>>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    let server = &*server;
    let text = &asked.text.text;
    let found = server.session.queries(|q| {
        let mut found = Vec::new();
        for (at, _) in text.match_indices(SCHEME) {
            let rest = &text[at + SCHEME.len()..];
            let is_end = |c: char| {
                c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '\\' | ')' | ',')
            };
            let address = &rest[..rest.find(is_end).unwrap_or(rest.len())];
            let Some(target) = target(server, q, address) else {
                continue;
            };
            found.push(DocumentLink {
                range: asked.text.range(at, at + SCHEME.len() + address.len()),
                target: Some(target),
                tooltip: Some(address.to_owned()),
                data: None,
            });
        }
        found
    });
    Ok(Some(found))
}

fn target(server: &Server<'_>, q: &mut Queries<'_>, address: &str) -> Option<Uri> {
    let address = address.split('#').next()?;
    let (class, file) = match address.split_once('/') {
        Some((class, file)) => (class, Some(file)),
        None => (address, None),
    };
    let span = Span::new(saltus::language::SourceMap::default().add("", ""), 0, 0);
    let parts: Vec<Ident> = class
        .split('.')
        .map(|name| Ident {
            name: Name::new(name),
            span,
        })
        .collect();
    let found = q.global(&parts)?;
    let place = q.describe(&found).place?;
    let Some(file) = file else {
        return location(server, q, place).map(|location| location.uri);
    };
    let source = q.tree().sources.shared(place.file);
    // Resources lie in the folder of the library that the name begins with.
    let folders = Path::new(&source.name).ancestors().skip(1);
    let mut candidates = folders.take_while(|folder| folder.join("package.mo").is_file());
    let path = candidates.find_map(|folder| {
        let path = folder.join(file);
        path.is_file().then_some(path)
    })?;
    uri_of(&path.to_string_lossy())
}
