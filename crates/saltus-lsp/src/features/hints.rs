//! Units of declared components, names of arguments that are given by place.

use super::{Answer, Asked};
use crate::context::within;
use crate::server::Server;
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams};
use saltus::language::syntax::{ComponentDecl, Ident};
use saltus::language::{Role, Target, occurrences};

pub(super) fn hints(
    server: &mut Server<'_>,
    params: InlayHintParams,
) -> Answer<Option<Vec<InlayHint>>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    let range = (
        asked.offset(params.range.start),
        asked.offset(params.range.end),
    );
    let names = within(&asked.parsed.definition);
    let found = server.session.queries(|q| {
        let mut found: Vec<(Ident, String)> = Vec::new();
        occurrences(&asked.parsed.definition, range, &mut |at| {
            let Role::Component(decl) = at.role else {
                return;
            };
            if let Some(target @ Target::Component(..)) = q.resolve(&names, at)
                && let Some(unit) = q
                    .describe(&target)
                    .unit
                    .filter(|unit| !unit.is_empty() && unit != "1")
                && !states_unit(decl, &asked.text.text)
            {
                found.push((at.ident, unit));
            }
        });
        found
    });
    let hint = |(ident, unit): (Ident, String)| InlayHint {
        position: asked.text.position(ident.span.end as usize),
        label: InlayHintLabel::String(format!("[{unit}]")),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    Ok(Some(found.into_iter().map(hint).collect()))
}

/// The unit can be read in the declaration itself.
fn states_unit(decl: &ComponentDecl, text: &str) -> bool {
    (decl.modification.as_ref()).is_some_and(|m| {
        text.get(m.span.start as usize..m.span.end as usize)
            .is_some_and(|m| m.contains("unit=") || m.contains("unit ="))
    })
}
