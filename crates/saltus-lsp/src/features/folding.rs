//! Ranges that can be folded: classes, control structures, annotations, comments, sections, imports.

use super::{Answer, Asked};
use crate::server::Server;
use lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams};
use saltus::language::lexer::TokenKind;
use saltus::language::lossless::Lossless;

pub(super) fn ranges(
    server: &mut Server<'_>,
    params: FoldingRangeParams,
) -> Answer<Option<Vec<FoldingRange>>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    let line = |offset: u32| asked.text.position(offset as usize).line;
    let lossless = Lossless::new(&asked.text.text);
    let mut folds = Vec::new();
    let mut add = |start: u32, end: u32, kind: Option<FoldingRangeKind>| {
        let (start, end) = (line(start), line(end));
        if start < end {
            folds.push(FoldingRange {
                start_line: start,
                end_line: end,
                kind,
                ..FoldingRange::default()
            });
        }
    };
    brackets(&lossless, &mut add);
    comments(&lossless, &mut add);
    blocks(&lossless, &mut add);
    folds.sort_by_key(|fold| (fold.start_line, fold.end_line));
    folds.dedup_by_key(|fold| (fold.start_line, fold.end_line));
    Ok(Some(folds))
}

/// Brackets over several lines, and texts.
fn brackets(lossless: &Lossless<'_>, add: &mut impl FnMut(u32, u32, Option<FoldingRangeKind>)) {
    let mut open = Vec::new();
    for token in &lossless.tokens {
        match token.kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => open.push(token.start),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                if let Some(start) = open.pop() {
                    add(start, token.start, None);
                }
            }
            TokenKind::String => add(token.start, token.end, None),
            _ => {}
        }
    }
}

/// Long comments, and runs of comments on lines of their own.
fn comments(lossless: &Lossless<'_>, add: &mut impl FnMut(u32, u32, Option<FoldingRangeKind>)) {
    for index in 0..lossless.tokens.len() {
        let mut run: Option<(u32, u32)> = None;
        for comment in lossless.comments(index) {
            if !comment.to_line_end {
                add(comment.start, comment.end, Some(FoldingRangeKind::Comment));
                continue;
            }
            run = Some(run.map_or((comment.start, comment.end), |(start, _)| {
                (start, comment.end)
            }));
        }
        if let Some((start, end)) = run {
            add(start, end, Some(FoldingRangeKind::Comment));
        }
    }
}

/// From the begin of a class or control structure to its `end`, sections up to the next.
fn blocks(lossless: &Lossless<'_>, add: &mut impl FnMut(u32, u32, Option<FoldingRangeKind>)) {
    let mut open: Vec<u32> = Vec::new();
    let mut section: Vec<Option<u32>> = Vec::new();
    let mut depth = 0_u32;
    let mut imports: Option<(u32, u32)> = None;
    let kind = |at: usize| {
        lossless
            .tokens
            .get(at)
            .map_or(TokenKind::Eof, |token| token.kind)
    };
    let mut begins_item = true;
    let mut item_start = 0;
    // The last token of the header of a class.
    let mut header_end = None;
    for (at, token) in lossless.tokens.iter().enumerate() {
        if begins_item {
            item_start = token.start;
        }
        let begins = std::mem::replace(&mut begins_item, false);
        match token.kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => depth += 1,
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                depth = depth.saturating_sub(1)
            }
            _ if depth > 0 => {}
            TokenKind::Semicolon | TokenKind::Then | TokenKind::Loop => begins_item = true,
            TokenKind::Import => {
                imports =
                    Some(imports.map_or((token.start, token.end), |(start, _)| (start, token.end)));
            }
            TokenKind::End if begins => {
                if let Some(Some(start)) = section.last().copied() {
                    add(start, token.start.saturating_sub(1), None);
                }
                let is_class = matches!(kind(at + 1), TokenKind::Ident);
                if is_class {
                    section.pop();
                }
                if let Some(start) = open.pop() {
                    add(start, token.start, None);
                }
            }
            TokenKind::If | TokenKind::For | TokenKind::When | TokenKind::While if begins => {
                open.push(token.start)
            }
            TokenKind::Equation
            | TokenKind::Algorithm
            | TokenKind::Public
            | TokenKind::Protected => {
                if let Some(start) = section
                    .last_mut()
                    .and_then(|current| current.replace(token.start))
                {
                    add(start, token.start.saturating_sub(1), None);
                }
                begins_item = true;
            }
            TokenKind::Else if begins => begins_item = true,
            _ if is_class_word(token.kind)
                && kind(at + 2) != TokenKind::Equals
                && kind(at + 1) != TokenKind::Semicolon =>
            {
                let is_long = matches!(kind(at + 1), TokenKind::Ident | TokenKind::Extends);
                if is_long {
                    open.push(item_start);
                    section.push(None);
                    let mut last = at + 1 + usize::from(kind(at + 1) == TokenKind::Extends);
                    while kind(last + 1) == TokenKind::String {
                        last += 1;
                    }
                    header_end = Some(last);
                }
            }
            _ => {}
        }
        if header_end == Some(at) {
            begins_item = true;
        }
        if token.kind != TokenKind::Import
            && begins
            && let Some((start, end)) = imports.take()
        {
            add(start, end, Some(FoldingRangeKind::Imports));
        }
    }
}

fn is_class_word(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Class
            | TokenKind::Model
            | TokenKind::Record
            | TokenKind::Block
            | TokenKind::Connector
            | TokenKind::Type
            | TokenKind::Package
            | TokenKind::Function
            | TokenKind::Operator
    )
}
