//! Whether two tokens on one line stand apart.
//!
//! Tokens that would read as another token without a space between them always stand apart. A sign is one operator with one operand or with two; the same
//! symbols are written close where they are part of a subscript or a range.

use crate::lexer::TokenKind::{self, *};
use crate::lossless::Lossless;

/// An open bracket as far as spaces go.
#[derive(Clone, Copy)]
struct Bracket {
    kind: Kind,
    /// Inside the arguments of an annotation.
    annotation: bool,
    /// The argument that is being read redeclares a class.
    redeclares: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Round,
    Subscript,
    Matrix,
    Curly,
}

pub(super) struct Spacing {
    brackets: Vec<Bracket>,
    /// By token: a sign inside a range, `1:n-1`.
    in_range: Vec<bool>,
    /// The token before is a sign with one operand.
    after_sign: bool,
    /// The item is a declaration of components.
    pub(super) declares: bool,
    in_import: bool,
}

impl Spacing {
    pub(super) fn new(lossless: &Lossless<'_>) -> Spacing {
        Spacing {
            brackets: Vec::new(),
            in_range: signs_in_ranges(lossless),
            after_sign: false,
            declares: false,
            in_import: false,
        }
    }

    pub(super) fn between(&self, lossless: &Lossless<'_>, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else {
            return false;
        };
        let (prev, next) = (lossless.tokens[before].kind, lossless.tokens[index].kind);
        if !self.apart(lossless, index, prev, next) {
            return must_be_apart(lossless, before, index);
        }
        true
    }

    fn apart(
        &self,
        lossless: &Lossless<'_>,
        index: usize,
        prev: TokenKind,
        next: TokenKind,
    ) -> bool {
        match (prev, next) {
            (LParen | LBracket | LBrace, _) => false,
            (_, Comma | Semicolon | RParen | RBracket | RBrace) => false,
            (Comma, _) => !self.is_compact() || next == Ident,
            (Semicolon, _) => true,
            _ if self.after_sign => false,
            (Dot, _) => false,
            (_, Dot) => !is_operand_end(prev),
            (Colon, _) | (_, Colon) => false,
            (Equals, _) => self.around_equals(lossless, index - 1),
            (_, Equals) => self.around_equals(lossless, index),
            (_, Plus | Minus) if self.is_sign(prev) => !self.is_tight(prev, index - 1),
            (_, operator) if is_operator(operator) => !self.is_tight(operator, index),
            (operator, _) if is_operator(operator) => !self.is_tight(operator, index - 1),
            (_, LParen) => !takes_arguments(prev),
            (_, LBracket) => !matches!(prev, Ident | RParen | RBracket),
            _ => true,
        }
    }

    /// Numbers of pictures: no spaces in braces, but before names.
    fn is_compact(&self) -> bool {
        (self.brackets.last()).is_some_and(|b| b.annotation && b.kind == Kind::Curly)
    }

    /// A sign after such a token has one operand.
    fn is_sign(&self, prev: TokenKind) -> bool {
        !is_operand_end(prev)
    }

    /// The operator before or after which we are is written without spaces.
    fn is_tight(&self, operator: TokenKind, at: usize) -> bool {
        match operator {
            Star | Slash | Caret | LParen => true,
            DotStar => self.in_import,
            Plus | Minus => {
                let subscript = self
                    .brackets
                    .last()
                    .is_some_and(|b| b.kind == Kind::Subscript);
                subscript || self.in_range.get(at).copied().unwrap_or(false)
            }
            _ => false,
        }
    }

    /// Close in arguments and modifiers, apart in equations and short classes. In a declaration it is as the author has it: both are established.
    fn around_equals(&self, lossless: &Lossless<'_>, at: usize) -> bool {
        match self.brackets.last() {
            Some(bracket) => bracket.redeclares,
            None if self.declares => [at, at + 1].iter().any(|&i| !lossless.gap(i).is_empty()),
            None => true,
        }
    }

    pub(super) fn pass(&mut self, lossless: &Lossless<'_>, index: usize) {
        let kind = lossless.tokens[index].kind;
        let prev = index
            .checked_sub(1)
            .map_or(Semicolon, |before| lossless.tokens[before].kind);
        self.after_sign =
            matches!(kind, Plus | Minus | DotPlus | DotMinus) && !is_operand_end(prev);
        match kind {
            LParen | LBracket | LBrace => self.open(kind, prev),
            RParen | RBracket | RBrace => {
                self.brackets.pop();
            }
            Comma => {
                if let Some(bracket) = self.brackets.last_mut() {
                    bracket.redeclares = false;
                }
            }
            Model | Record | Block | Connector | Type | Package | Function | Class => {
                if let Some(bracket) = self.brackets.last_mut() {
                    bracket.redeclares = matches!(
                        prev,
                        Redeclare | Replaceable | Final | Each | Operator | Expandable
                    );
                }
            }
            Import => self.in_import = true,
            Semicolon => self.in_import = false,
            _ => {}
        }
    }

    fn open(&mut self, kind: TokenKind, prev: TokenKind) {
        let outer = self.brackets.last().is_some_and(|b| b.annotation);
        self.brackets.push(Bracket {
            kind: match kind {
                LParen => Kind::Round,
                LBrace => Kind::Curly,
                _ if matches!(prev, Ident | RBracket | RParen) => Kind::Subscript,
                _ => Kind::Matrix,
            },
            annotation: outer || prev == Annotation,
            redeclares: false,
        });
    }
}

/// By token: the signs in the segments (between commas, brackets and keywords) that have a colon.
fn signs_in_ranges(lossless: &Lossless<'_>) -> Vec<bool> {
    let mut marked = vec![false; lossless.tokens.len()];
    let mut open: Vec<(Vec<usize>, bool)> = Vec::new();
    let mut segment: (Vec<usize>, bool) = (Vec::new(), false);
    for (index, token) in lossless.tokens.iter().enumerate() {
        match token.kind {
            Plus | Minus => segment.0.push(index),
            Colon => segment.1 = true,
            LParen | LBracket | LBrace => open.push(std::mem::take(&mut segment)),
            RParen | RBracket | RBrace => {
                mark(&mut segment, &mut marked);
                segment = open.pop().unwrap_or_default();
            }
            kind if ends_segment(kind) => mark(&mut segment, &mut marked),
            _ => {}
        }
    }
    marked
}

fn mark(segment: &mut (Vec<usize>, bool), marked: &mut [bool]) {
    if segment.1 {
        for &index in &segment.0 {
            marked[index] = true;
        }
    }
    segment.0.clear();
    segment.1 = false;
}

fn ends_segment(kind: TokenKind) -> bool {
    matches!(
        kind,
        Comma | Semicolon | Equals | Assign | EqEq | NotEqual | Less | LessEq | Greater | GreaterEq
    ) || kind.is_keyword() && !matches!(kind, End | Der | Initial | True | False)
}

/// An expression may end with it: a sign that follows has two operands.
fn is_operand_end(kind: TokenKind) -> bool {
    matches!(
        kind,
        Ident
            | TokenKind::String
            | Integer
            | Real
            | RParen
            | RBracket
            | RBrace
            | End
            | True
            | False
    )
}

fn is_operator(kind: TokenKind) -> bool {
    matches!(
        kind,
        Plus | Minus
            | Star
            | Slash
            | Caret
            | DotPlus
            | DotMinus
            | DotStar
            | DotSlash
            | DotCaret
            | Assign
            | EqEq
            | NotEqual
            | Less
            | LessEq
            | Greater
            | GreaterEq
    )
}

/// A bracket after it holds arguments, modifiers or literals.
fn takes_arguments(kind: TokenKind) -> bool {
    matches!(
        kind,
        Ident | RParen | RBracket | Der | Initial | Connect | Pure | Impure | Enumeration | End
    )
}

/// Without a space the two would read as something else.
fn must_be_apart(lossless: &Lossless<'_>, before: usize, index: usize) -> bool {
    let bytes = lossless.text.as_bytes();
    let (prev, next) = (lossless.tokens[before], lossless.tokens[index]);
    let (Some(&last), Some(&first)) = (
        (prev.end as usize)
            .checked_sub(1)
            .and_then(|at| bytes.get(at)),
        bytes.get(next.start as usize),
    ) else {
        return false;
    };
    let in_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    let is_number = matches!(prev.kind, Integer | Real);
    match (last, first) {
        (a, b) if in_word(a) && in_word(b) => true,
        (b'"', b'"') | (b'\'', b'\'') => true,
        (b'.', _) if is_number => true,
        (_, b'.') if is_number => true,
        (b'.', b'0'..=b'9' | b'+' | b'-' | b'*' | b'/' | b'^') => true,
        (b'/', b'/' | b'*') => true,
        (b':' | b'=' | b'<' | b'>', b'=') | (b'<', b'>') => true,
        _ => prev.kind == Invalid || next.kind == Invalid,
    }
}
