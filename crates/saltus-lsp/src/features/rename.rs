//! Renaming in all files, or a refusal with its reason.
//!
//! The edits are tried on a copy of the session: afterwards each renamed place must mean the renamed declaration, and no other place may.

use super::navigate::{Declared, Usages, declaration, usages};
use super::{Answer, Asked, place, target_at};
use crate::server::{Server, refusal};
use crate::text::Text;
use lsp_types::{
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};
use saltus::Session;
use saltus::language::format::{Edit, apply};
use saltus::language::lexer::TokenKind;
use saltus::language::lossless::Lossless;
use saltus::language::occurrences;
use std::collections::HashMap;
use std::path::Path;

pub(super) fn prepare(
    server: &mut Server<'_>,
    params: TextDocumentPositionParams,
) -> Answer<Option<PrepareRenameResponse>> {
    let (uri, position) = place(&params);
    let asked = Asked::new(server, uri)?;
    let server = &*server;
    let found = server.session.queries(|q| {
        let at = target_at(q, &asked, position)?;
        Some((at.span, declaration(q, &at.target)))
    });
    let Some((span, declared)) = found else {
        return Ok(None);
    };
    let declared = declared.ok_or_else(|| refusal("this name belongs to the language"))?;
    may_change(server, &declared)?;
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
        range: asked.text.range_of(span),
        placeholder: declared.name,
    }))
}

#[expect(
    clippy::mutable_key_type,
    reason = "the protocol's type of edits has URIs as keys"
)]
pub(super) fn rename(
    server: &mut Server<'_>,
    params: RenameParams,
) -> Answer<Option<WorkspaceEdit>> {
    let (uri, position) = place(&params.text_document_position);
    let asked = Asked::new(server, uri)?;
    let new = params.new_name.trim();
    if !is_identifier(new) {
        return Err(refusal(format!("`{new}` is no identifier of Modelica")));
    }
    let Some(all) = usages(server, &asked, position) else {
        return Err(refusal("there is nothing here that could be renamed"));
    };
    may_change(server, &all.declared)?;
    if let Some(outside) = all.files.iter().find(|file| !is_own(server, &file.path)) {
        return Err(refusal(format!(
            "`{}` is used in `{}`, outside of the open folders",
            all.declared.name, outside.path
        )));
    }
    verify(server, &all, new)?;
    let mut changes = HashMap::new();
    for file in &all.files {
        let text = Text::new(file.parsed.source.text.clone());
        let edits = file
            .spans
            .iter()
            .map(|span| TextEdit::new(text.range_of(*span), new.to_owned()))
            .collect();
        let uri = server
            .uri(&file.path)
            .ok_or_else(|| refusal("a file has no address"))?;
        changes.insert(uri, edits);
    }
    Ok(Some(WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    }))
}

/// Only what the client has open or in its folders is changed; a class that is the name of its file is not.
fn may_change(server: &Server<'_>, declared: &Declared) -> Answer<()> {
    let name = &declared.name;
    if !is_own(server, &declared.path) {
        return Err(refusal(format!(
            "`{name}` is declared in `{}`, outside of the open folders",
            declared.path
        )));
    }
    let path = Path::new(&declared.path);
    let stem = match path.file_name().is_some_and(|file| file == "package.mo") {
        true => path.parent().and_then(Path::file_name),
        false => path.file_stem(),
    };
    let in_folder = path
        .parent()
        .is_some_and(|folder| folder.join("package.mo").is_file());
    if in_folder && stem.is_some_and(|stem| stem.to_string_lossy() == *name) {
        return Err(refusal(format!(
            "`{name}` is the name of its file: rename the file and the class together by hand"
        )));
    }
    Ok(())
}

fn is_own(server: &Server<'_>, path: &str) -> bool {
    let inside = |folder: &String| Path::new(path).starts_with(folder);
    server.documents.contains_key(path) || server.folders.iter().any(inside)
}

pub(super) fn is_identifier(name: &str) -> bool {
    let lossless = Lossless::new(name);
    lossless.is_whole
        && lossless.tokens.len() == 2
        && lossless.tokens[0].kind == TokenKind::Ident
        && lossless.token_text(0) == name
}

fn verify(server: &Server<'_>, all: &Usages, new: &str) -> Answer<()> {
    let mut session: Session = server.session.clone();
    for file in &all.files {
        let replaced = |span: &saltus::language::Span| Edit {
            range: span.start as usize..span.end as usize,
            text: new.to_owned(),
        };
        let edits: Vec<Edit> = file.spans.iter().map(replaced).collect();
        session.set_text(&file.path, apply(&file.parsed.source.text, &edits));
    }
    // The declaration moves with the edits before it in its file.
    let delta = new.len() as i64 - all.declared.name.len() as i64;
    let before = all
        .files
        .iter()
        .filter(|file| file.path == all.declared.path);
    let n_before = before
        .flat_map(|f| &f.spans)
        .filter(|s| s.start < all.declared.span.start)
        .count() as i64;
    let start = (i64::from(all.declared.span.start) + n_before * delta) as u32;
    let clash = || {
        refusal(format!(
            "`{new}` means something else where `{}` is used",
            all.declared.name
        ))
    };
    session.queries(|q| {
        for file in &all.files {
            let parsed = session.parsed(&file.path).map_err(|d| refusal(d.message))?;
            let ends = file
                .spans
                .iter()
                .filter(|span| is_end_name(&file.parsed.source.text, span.start))
                .count();
            let names = crate::context::within(&parsed.definition);
            let mut n_same = 0;
            occurrences(&parsed.definition, (0, u32::MAX), &mut |at| {
                if at.ident.name.as_str() == new
                    && let Some(target) = q.resolve(&names, at)
                    && let Some(declared) = declaration(q, &target)
                    && declared.span.start == start
                    && declared.path == all.declared.path
                {
                    n_same += 1;
                }
            });
            if n_same + ends != file.spans.len()
                || parsed.diagnostics.len() > file.parsed.diagnostics.len()
            {
                return Err(clash());
            }
        }
        // Another element of this name beside the declaration.
        let parsed = session
            .parsed(&all.declared.path)
            .map_err(|d| refusal(d.message))?;
        let mut n_declared = 0;
        let classes = crate::context::classes_at(&parsed.definition, start);
        if let Some(class) = classes
            .iter()
            .rev()
            .find(|class| class.name.span.start != start)
            && let saltus::language::syntax::ClassBody::Composition { parts, .. } = &class.body
        {
            use saltus::language::syntax::ElementKind;
            n_declared = (parts.elements.iter())
                .filter(|element| match &element.kind {
                    ElementKind::Component(decl) => decl.name.name.as_str() == new,
                    ElementKind::Class { def, .. } => def.name.name.as_str() == new,
                    _ => false,
                })
                .count();
        }
        if n_declared > 1 { Err(clash()) } else { Ok(()) }
    })
}

fn is_end_name(text: &str, start: u32) -> bool {
    let before = text[..start as usize].trim_end();
    before.ends_with("end")
        && before[..before.len() - 3].ends_with(|c: char| c.is_whitespace() || c == ';')
}
