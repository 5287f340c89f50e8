//! A text as tokens and what stands between them: nothing is lost.
//!
//! Comes in: any text, broken ones too. Goes out: [`Lossless`], the tokens in order with the end of the text as the last. The *gap* before a token is
//! the text between it and the one before: white space and comments. Gaps and tokens in turn are the text, byte for byte. Nodes of the syntax tree have spans, and
//! the tokens of a node are those inside its span ([`Lossless::within`]); what the parser left out of the tree keeps its tokens.

use crate::lexer::{Lexer, Token, TokenKind};
use crate::{FileId, Span};
use std::ops::Range;

/// The tokens of a text.
#[derive(Clone, Debug)]
pub struct Lossless<'t> {
    pub text: &'t str,
    /// In the order of the text; the last is [`TokenKind::Eof`].
    pub tokens: Vec<Token>,
    /// All of the text could be read as tokens.
    pub is_whole: bool,
}

/// A comment in a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comment {
    pub start: u32,
    pub end: u32,
    /// `// …`, which ends with its line; else `/* … */`.
    pub to_line_end: bool,
}

/// Tokens take about this many bytes of text each.
const BYTES_PER_TOKEN: usize = 6;

impl<'t> Lossless<'t> {
    pub fn new(text: &'t str) -> Lossless<'t> {
        let mut lexer = Lexer::new(FileId(0), text);
        let mut tokens = Vec::with_capacity(text.len() / BYTES_PER_TOKEN + 1);
        loop {
            let token = lexer.next_token();
            tokens.push(token);
            if token.kind == TokenKind::Eof {
                let is_whole = lexer.diagnostics.is_empty();
                return Lossless {
                    text,
                    tokens,
                    is_whole,
                };
            }
        }
    }

    /// The range of the gap before a token.
    pub fn gap(&self, index: usize) -> Range<usize> {
        let start = match index {
            0 => 0,
            _ => self.tokens[index - 1].end as usize,
        };
        start..self.tokens[index].start as usize
    }

    pub fn token_text(&self, index: usize) -> &'t str {
        let token = self.tokens[index];
        &self.text[token.start as usize..token.end as usize]
    }

    /// The comments of the gap before a token.
    pub fn comments(&self, index: usize) -> Comments<'t> {
        let gap = self.gap(index);
        Comments {
            text: self.text,
            at: gap.start,
            end: gap.end,
        }
    }

    /// The tokens inside a span.
    pub fn within(&self, span: Span) -> Range<usize> {
        let first = self.tokens.partition_point(|t| t.start < span.start);
        let last = self.tokens.partition_point(|t| t.end <= span.end);
        first..last.max(first)
    }

    /// The token at an offset, or the one that ends there.
    pub fn at(&self, offset: u32) -> Option<usize> {
        let after = self.tokens.partition_point(|t| t.start <= offset);
        let index = after.checked_sub(1)?;
        (offset <= self.tokens[index].end).then_some(index)
    }
}

/// The comments of a gap, in order.
pub struct Comments<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl Iterator for Comments<'_> {
    type Item = Comment;

    fn next(&mut self) -> Option<Comment> {
        let gap = &self.text.as_bytes()[self.at..self.end];
        // A gap is blank but for comments, so that the next slash begins one.
        let start = self.at + gap.iter().position(|&b| b == b'/')?;
        let rest = &self.text.as_bytes()[start..self.end];
        let to_line_end = rest.get(1) == Some(&b'/');
        let len = match to_line_end {
            true => rest.iter().position(|&b| b == b'\n' || b == b'\r'),
            false => (rest.get(2..))
                .and_then(|inside| inside.windows(2).position(|pair| pair == b"*/"))
                .map(|at| at + 4),
        };
        let end = start + len.unwrap_or(rest.len());
        self.at = end;
        Some(Comment {
            start: start as u32,
            end: end as u32,
            to_line_end,
        })
    }
}

/// Both texts have the same tokens and comments. White space at the end of a `//` comment is no part of it.
pub fn same_content(a: &str, b: &str) -> bool {
    let (a, b) = (Lossless::new(a), Lossless::new(b));
    let comments = |of: &Lossless<'_>, index: usize| -> Vec<String> {
        let text = |c: Comment| {
            of.text[c.start as usize..c.end as usize]
                .trim_end()
                .to_owned()
        };
        of.comments(index).map(text).collect()
    };
    a.tokens.len() == b.tokens.len()
        && (0..a.tokens.len()).all(|i| {
            a.tokens[i].kind == b.tokens[i].kind
                && a.token_text(i) == b.token_text(i)
                && (is_blank(&a, i) && is_blank(&b, i) || comments(&a, i) == comments(&b, i))
        })
}

fn is_blank(of: &Lossless<'_>, index: usize) -> bool {
    !of.text.as_bytes()[of.gap(index)].contains(&b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_tokens_are_the_text() {
        let text = "\u{feff}// a\nmodel M /* b */ Real x; §§ // c\nend M;\n";
        let lossless = Lossless::new(text);
        let mut joined = String::new();
        for i in 0..lossless.tokens.len() {
            joined.push_str(&text[lossless.gap(i)]);
            joined.push_str(lossless.token_text(i));
        }
        assert_eq!(joined, text);
        let comments: Vec<&str> = (0..lossless.tokens.len())
            .flat_map(|i| lossless.comments(i))
            .map(|c| &text[c.start as usize..c.end as usize])
            .collect();
        assert_eq!(comments, ["// a", "/* b */", "// c"]);
    }

    #[test]
    fn tokens_of_a_span_and_at_an_offset() {
        let lossless = Lossless::new("model M end M;");
        let span = Span::new(FileId(0), 6, 13);
        assert_eq!(lossless.within(span), 1..4);
        assert_eq!(lossless.at(7), Some(1));
        assert_eq!(lossless.at(6), Some(1));
        assert_eq!(lossless.at(13), Some(4));
    }
}
