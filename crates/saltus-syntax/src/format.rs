//! The formatter: the one layout of a Modelica text (`docs/format.md` has the rules and their reasons).
//!
//! Comes in: any text. Goes out: edits of white space. Method: one pass over the tokens. [`layout`] knows the open blocks and brackets and says for each gap
//! whether a line must begin there and with which indentation; [`spacing`] says whether two tokens on one line stand apart. Line breaks inside an element, an
//! equation or a statement are the author's. Tokens and comments are never touched, but for white space at the end of a `//` comment. Formatting twice is
//! formatting once.

mod layout;
mod spacing;

use crate::lexer::TokenKind;
use crate::lossless::{Comment, Lossless};
use layout::{Gap, Layout};
use std::ops::Range;

/// Text to put in the place of a range of bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

/// The text, formatted.
pub fn format(text: &str) -> String {
    apply(text, &edits(text))
}

/// The text with edits, which are in order and do not overlap.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut done = 0;
    for edit in edits {
        out.push_str(&text[done..edit.range.start]);
        out.push_str(&edit.text);
        done = edit.range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// What formatting changes, in order. Nothing in a text that cannot be read as tokens: where a string ends, for example, is unknown then.
pub fn edits(text: &str) -> Vec<Edit> {
    let lossless = Lossless::new(text);
    if !lossless.is_whole {
        return Vec::new();
    }
    let mut writer = GapWriter {
        newline: match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        },
        out: String::new(),
        on_new_line: false,
    };
    let mut layout = Layout::new(&lossless);
    let mut edits = Vec::new();
    for index in 0..lossless.tokens.len() {
        let gap = layout.gap(index);
        let mut range = lossless.gap(index);
        if index == 0 && text.starts_with('\u{feff}') {
            range.start = '\u{feff}'.len_utf8();
        }
        writer.write(&lossless, index, range.clone(), &gap);
        layout.pass(index, writer.on_new_line);
        if writer.out != text[range.clone()] {
            edits.push(Edit {
                range,
                text: writer.out.clone(),
            });
        }
    }
    edits
}

/// Writes the new text of one gap after the other.
struct GapWriter {
    newline: &'static str,
    out: String,
    /// The token after the gap begins a line.
    on_new_line: bool,
}

impl GapWriter {
    fn write(&mut self, lossless: &Lossless<'_>, index: usize, range: Range<usize>, gap: &Gap) {
        self.out.clear();
        let text = lossless.text;
        let is_last = lossless.tokens[index].kind == TokenKind::Eof;
        let mut at = range.start;
        // Whether a line has begun in this gap, and whether one must begin before anything else.
        let mut began = index == 0;
        let mut pending = false;
        let blank = !text.as_bytes()[range.clone()].contains(&b'/');
        for comment in lossless.comments(index).filter(|_| !blank) {
            let before = &text[at..comment.start as usize];
            let newlines = count_newlines(before);
            if newlines > 0 || pending {
                self.lines(newlines, &mut began, gap.wants_blank);
                self.indent(gap.comment_indent);
            } else if index > 0 || at > range.start {
                self.space_before(before, gap.space || at > range.start);
            }
            self.comment(text, comment);
            at = comment.end as usize;
            pending = comment.to_line_end;
        }
        let rest = &text[at..range.end];
        let newlines = count_newlines(rest);
        if is_last {
            self.on_new_line = true;
            if index > 0 || at > range.start {
                self.out.push_str(self.newline);
            }
            return;
        }
        let keeps = newlines > 0 && !(gap.joins && at == range.start);
        self.on_new_line = index == 0 || pending || gap.breaks || keeps;
        if index == 0 && at == range.start {
            return;
        }
        if self.on_new_line {
            self.lines(newlines, &mut began, gap.wants_blank);
            self.indent(gap.indent);
        } else if gap.space || at > range.start {
            self.out.push(' ');
        }
    }

    /// Ends the line; at most one empty line of the author's stays.
    fn lines(&mut self, newlines: usize, began: &mut bool, wants_blank: bool) {
        self.out.push_str(self.newline);
        if newlines > 1 || (wants_blank && !*began) {
            self.out.push_str(self.newline);
        }
        *began = true;
    }

    fn indent(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    /// Before a comment at the end of a line the author's spaces stay: they may align it with others.
    fn space_before(&mut self, before: &str, needed: bool) {
        if before.is_empty() || !before.bytes().all(|b| b == b' ') {
            if needed || !before.is_empty() {
                self.out.push(' ');
            }
        } else {
            self.out.push_str(before);
        }
    }

    fn comment(&mut self, text: &str, comment: Comment) {
        let comment_text = &text[comment.start as usize..comment.end as usize];
        self.out.push_str(match comment.to_line_end {
            true => comment_text.trim_end(),
            false => comment_text,
        });
    }
}

/// Lines that end in a piece of white space, by either convention.
fn count_newlines(blank: &str) -> usize {
    let n_feeds = blank.bytes().filter(|&b| b == b'\n').count();
    match n_feeds {
        0 => blank.bytes().filter(|&b| b == b'\r').count(),
        n => n,
    }
}
