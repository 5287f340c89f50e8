//! Wider and wider ranges around a place: the token, brackets, the item, classes.

use super::{Answer, Asked};
use crate::context::classes_at;
use crate::server::Server;
use lsp_types::{SelectionRange, SelectionRangeParams};
use saltus::language::lexer::TokenKind;
use saltus::language::lossless::Lossless;
use saltus::language::syntax::{ClassBody, ElementKind, SectionKind};

pub(super) fn ranges(
    server: &mut Server<'_>,
    params: SelectionRangeParams,
) -> Answer<Option<Vec<SelectionRange>>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    let lossless = Lossless::new(&asked.text.text);
    let one = |position| {
        let offset = asked.offset(position);
        let mut spans: Vec<(u32, u32)> = vec![(0, asked.text.text.len() as u32)];
        for class in classes_at(&asked.parsed.definition, offset) {
            spans.push((class.span.start, class.span.end));
            let ClassBody::Composition { parts, .. } = &class.body else {
                continue;
            };
            let items = parts
                .elements
                .iter()
                .filter(|e| !matches!(e.kind, ElementKind::Class { .. }))
                .map(|e| e.span);
            let equations = parts
                .sections
                .iter()
                .flat_map(|section| match &section.kind {
                    SectionKind::Equations(list) => list.iter().map(|e| e.span).collect::<Vec<_>>(),
                    SectionKind::Algorithm(list) => list.iter().map(|s| s.span).collect(),
                });
            let sections = parts.sections.iter().map(|section| section.span);
            spans.extend(
                items
                    .chain(sections)
                    .chain(equations)
                    .map(|span| (span.start, span.end)),
            );
        }
        brackets(&lossless, &mut spans);
        if let Some(token) = lossless.at(offset).map(|at| lossless.tokens[at]) {
            spans.push((token.start, token.end));
        }
        spans.retain(|(start, end)| *start <= offset && offset <= *end);
        // The widest first; what is not inside the one before is left out.
        spans.sort_by_key(|(start, end)| (std::cmp::Reverse(end - start), *start));
        let mut chain: Option<SelectionRange> = None;
        let mut outer = (0, u32::MAX);
        for (start, end) in spans {
            if start < outer.0 || end > outer.1 || (start, end) == outer {
                continue;
            }
            outer = (start, end);
            let range = asked.text.range(start as usize, end as usize);
            chain = Some(SelectionRange {
                range,
                parent: chain.map(Box::new),
            });
        }
        chain.unwrap_or_else(|| SelectionRange {
            range: lsp_types::Range::new(position, position),
            parent: None,
        })
    };
    Ok(Some(params.positions.into_iter().map(one).collect()))
}

/// Brackets, with and without themselves.
fn brackets(lossless: &Lossless<'_>, spans: &mut Vec<(u32, u32)>) {
    let mut open = Vec::new();
    for token in &lossless.tokens {
        match token.kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => open.push(token.start),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                if let Some(start) = open.pop() {
                    spans.push((start, token.end));
                    spans.push((start + 1, token.start));
                }
            }
            _ => {}
        }
    }
}
