//! Formatting of a document or a range: edits of white space only, so that the cursor stays where it was.

use super::{Answer, Asked};
use crate::server::Server;
use lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, TextEdit};
use saltus::language::format::{Edit, edits};

pub(super) fn document(
    server: &mut Server<'_>,
    params: DocumentFormattingParams,
) -> Answer<Option<Vec<TextEdit>>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    Ok(changes(&asked, |_| true))
}

pub(super) fn range(
    server: &mut Server<'_>,
    params: DocumentRangeFormattingParams,
) -> Answer<Option<Vec<TextEdit>>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    // The white space before a token belongs to the line of the token.
    let lines = params.range.start.line..=params.range.end.line;
    Ok(changes(&asked, |edit| {
        lines.contains(&asked.text.position(edit.range.end).line)
    }))
}

/// A text with errors stays as it is: what belongs together in it is unknown.
fn changes(asked: &Asked, is_wanted: impl Fn(&Edit) -> bool) -> Option<Vec<TextEdit>> {
    if !asked.parsed.diagnostics.is_empty() {
        return None;
    }
    let all = edits(&asked.text.text).into_iter().filter(is_wanted);
    Some(
        all.map(|edit| {
            TextEdit::new(
                asked.text.range(edit.range.start, edit.range.end),
                edit.text,
            )
        })
        .collect(),
    )
}
