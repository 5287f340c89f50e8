//! Error-tolerant recursive-descent parser for Modelica 3.6 (specification appendix A).
//!
//! Comes in: the text of a file. Goes out: the syntax tree of all that could be read, and what was wrong.
//! It looks one token ahead and never goes back, so the run time is linear in the length of the text.
//!
//! Invariants of the result: every span lies in the text; classes, equations, statements, modifications and
//! expressions nest at most [`NESTING_MAX`] deep; no expression tree is higher than [`EXPR_HEIGHT_MAX`], so a
//! recursive pass over the tree cannot overflow the stack.
//!
//! Recovery: an error sets [`Parser::panicking`], and until [`Parser::sync`] has found the next `;`, `end` or
//! section keyword nothing more is reported. Elements, equations and statements in which the error left no
//! usable tree are left out.

mod class;
mod equation;
mod expr;

use crate::ast::{Argument, Expr, Ident, Path, StoredDefinition};
use crate::lexer::{Lexer, Token, TokenKind, shorten};
use crate::{Diagnostic, FileId, Name, Span};
use std::sync::Arc;

/// Most levels of nested classes, modifications, equations, statements and expressions together.
pub const NESTING_MAX: u32 = 250;
/// Most levels of an expression tree. Above [`NESTING_MAX`] because `a + b + c + …` is a tall tree without brackets.
pub const EXPR_HEIGHT_MAX: u32 = 1000;
/// After so many diagnostics the rest of the file is left unread.
pub const DIAGNOSTICS_MAX: usize = 50;

/// What [`parse`] gives back.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub definition: StoredDefinition,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a whole file. Never fails: what could not be read is missing in the definition and reported.
pub fn parse(file: FileId, text: &str) -> Parsed {
    if u32::try_from(text.len()).is_err() {
        let diagnostic = Diagnostic::error(
            "file-too-large",
            Span::new(file, 0, 0),
            "a source file must be smaller than 4 GiB",
        );
        let definition = StoredDefinition {
            within: None,
            classes: Vec::new(),
        };
        return Parsed {
            definition,
            diagnostics: vec![diagnostic],
        };
    }
    let mut parser = Parser::new(file, text);
    let definition = parser.stored_definition();
    let mut diagnostics = parser.lexer.diagnostics;
    if let Some(last) = diagnostics.get_mut(DIAGNOSTICS_MAX - 1) {
        last.notes.push(format!(
            "the rest of the file is not checked after {DIAGNOSTICS_MAX} messages"
        ));
    }
    diagnostics.truncate(DIAGNOSTICS_MAX);
    diagnostics.sort_by_key(|d| d.primary.as_ref().map(|p| p.span.start));
    Parsed {
        definition,
        diagnostics,
    }
}

struct Parser<'a> {
    text: &'a str,
    file: FileId,
    /// Also owns the list of diagnostics.
    lexer: Lexer<'a>,
    tok: Token,
    next: Token,
    /// Start and end of the token before `tok`.
    prev_start: u32,
    prev_end: u32,
    /// An error was reported and the place to go on from is not yet reached: report nothing.
    panicking: bool,
    /// Start of the token at which the last error was reported: one message per token.
    last_error_at: Option<u32>,
    depth: u32,
    /// Height of the highest expression tree built since the enclosing expression began.
    height: u32,
    /// Inside array subscripts, where `end` is an expression.
    in_subscript: bool,
    /// Names of the classes that are open, for guessing which one an `end` belongs to.
    open_classes: Vec<Name>,
    /// `if`, `for`, … of the innermost class that are open, for the same purpose.
    open_blocks: Vec<TokenKind>,
    /// Expressions of the lists that are being read, innermost last.
    pending: Vec<Expr>,
    /// Arguments of the modifications that are being read, innermost last.
    pending_args: Vec<Argument>,
}

impl<'a> Parser<'a> {
    fn new(file: FileId, text: &'a str) -> Parser<'a> {
        let mut lexer = Lexer::new(file, text);
        let tok = lexer.next_token();
        let next = lexer.next_token();
        Parser {
            text,
            file,
            lexer,
            tok,
            next,
            prev_start: tok.start,
            prev_end: tok.start,
            panicking: false,
            last_error_at: None,
            depth: 0,
            height: 0,
            in_subscript: false,
            open_classes: Vec::new(),
            open_blocks: Vec::new(),
            pending: Vec::new(),
            pending_args: Vec::new(),
        }
    }

    // stored-definition : [ within [ name ] ";" ] { [ final ] class-definition ";" }
    fn stored_definition(&mut self) -> StoredDefinition {
        let mut definition = StoredDefinition {
            within: None,
            classes: Vec::new(),
        };
        if self.at(TokenKind::Within) {
            definition.within = Some(self.within());
        }
        while !self.at(TokenKind::Eof) {
            let start = self.tok.start;
            self.eat(TokenKind::Final);
            if self.at_class_start() {
                if let Some(def) = self.class_definition() {
                    definition.classes.push(Arc::new(def));
                }
                self.expect_semicolon("the class definition");
            } else if self.at(TokenKind::Within) {
                self.report(
                    Diagnostic::error(
                        "syntax-error",
                        self.tok_span(),
                        "`within` must be the first statement of the file and stand only once",
                    )
                    .help("remove this clause or move it to the top of the file"),
                );
                self.within();
            } else if self.at(TokenKind::Semicolon) {
                self.stray_semicolon();
            } else if self.at(TokenKind::End) {
                self.stray_end();
            } else {
                self.expected("a class definition (`model`, `package`, `function`, …)");
                self.sync();
            }
            if self.tok.start == start {
                self.bump();
            }
        }
        definition
    }

    /// An `end` that closes nothing.
    fn stray_end(&mut self) {
        self.report(
            Diagnostic::error(
                "syntax-error",
                self.tok_span(),
                "an `end` without its beginning",
            )
            .help("remove it, or look for an earlier `end` too many"),
        );
        self.panicking = true;
        self.bump();
        self.sync();
    }

    fn within(&mut self) -> Option<Path> {
        self.bump();
        let path = if self.at(TokenKind::Semicolon) {
            None
        } else {
            self.path()
        };
        self.expect_semicolon("the within clause");
        path
    }

    // ---- tokens ----

    fn at(&self, kind: TokenKind) -> bool {
        self.tok.kind == kind
    }

    fn bump(&mut self) {
        saltus_control::checkpoint();
        self.prev_start = self.tok.start;
        self.prev_end = self.tok.end;
        self.tok = self.next;
        self.next = self.lexer.next_token();
        if self.lexer.diagnostics.len() >= DIAGNOSTICS_MAX {
            self.abandon();
        }
    }

    /// Goes to the end of the file; nothing is reported any more.
    fn abandon(&mut self) {
        self.lexer.stop();
        let end = self.text.len() as u32;
        self.tok = Token {
            kind: TokenKind::Eof,
            start: end,
            end,
        };
        self.next = self.tok;
        self.lexer.truncated = true;
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn tok_text(&self) -> &'a str {
        &self.text[self.tok.start as usize..self.tok.end as usize]
    }

    fn tok_span(&self) -> Span {
        Span::new(self.file, self.tok.start, self.tok.end)
    }

    /// From `start` to the end of the last token read.
    fn span_from(&self, start: u32) -> Span {
        Span::new(self.file, start.min(self.prev_end), self.prev_end)
    }

    /// The current token is the first one on its line.
    fn at_line_start(&self) -> bool {
        let gap = self.prev_end as usize..self.tok.start as usize;
        self.text.as_bytes()[gap].contains(&b'\n')
    }

    // ---- errors ----

    /// Reports and goes on as if nothing had happened. One message per token; none while panicking.
    fn report(&mut self, diagnostic: Diagnostic) {
        let poisoned = self.panicking
            || self.at(TokenKind::Invalid)
            || (self.at(TokenKind::Eof) && self.lexer.truncated)
            || self.last_error_at == Some(self.tok.start);
        self.last_error_at = Some(self.tok.start);
        if !poisoned {
            self.lexer.diagnostics.push(diagnostic);
            if self.lexer.diagnostics.len() >= DIAGNOSTICS_MAX {
                self.abandon();
            }
        }
    }

    /// Reports and stays silent until [`Self::sync`].
    fn error(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.panicking = true;
    }

    /// Error: `what` should stand here.
    fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.found());
        self.error(Diagnostic::error("syntax-error", self.tok_span(), message));
    }

    fn expected_with_help(&mut self, what: &str, help: impl Into<String>) {
        let message = format!("expected {what}, found {}", self.found());
        self.error(Diagnostic::error("syntax-error", self.tok_span(), message).help(help));
    }

    /// The current token in words.
    fn found(&self) -> String {
        match self.tok.kind {
            TokenKind::Ident => format!("`{}`", shorten(self.tok_text())),
            TokenKind::String => "a string".to_owned(),
            TokenKind::Integer | TokenKind::Real => {
                format!("the number `{}`", shorten(self.tok_text()))
            }
            TokenKind::Invalid | TokenKind::Eof => self.tok.kind.text().to_owned(),
            kind if kind.is_keyword() => format!("the keyword `{}`", kind.text()),
            kind => format!("`{}`", kind.text()),
        }
    }

    fn expect(&mut self, kind: TokenKind, context: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        self.expected(&format!("`{}` {context}", kind.text()));
        false
    }

    /// The `;` after `what`. A missing one at the end of a line is taken as written; any other is skipped to.
    fn expect_semicolon(&mut self, what: &str) {
        if !self.panicking && self.eat(TokenKind::Semicolon) {
            return;
        }
        if self.panicking {
            self.sync();
            return;
        }
        let message = format!("expected `;` after {what}, found {}", self.found());
        if self.at_line_start() || self.at(TokenKind::Eof) || self.at_stop() {
            let at = Span::new(self.file, self.prev_end, self.prev_end);
            self.report(Diagnostic::error("syntax-error", at, message).help("insert `;`"));
            return;
        }
        let diagnostic = self.glued_number().unwrap_or_else(|| {
            let diagnostic = Diagnostic::error("syntax-error", self.tok_span(), message);
            let begins_item = self.at(TokenKind::Ident) || self.tok.kind.is_keyword();
            if begins_item {
                diagnostic.help("insert `;`")
            } else {
                diagnostic
            }
        });
        self.error(diagnostic);
        self.sync();
    }

    /// The message for a number that runs into another number or a name, as in `3x`.
    fn glued_number(&self) -> Option<Diagnostic> {
        let bytes = self.text.as_bytes();
        let starts_as_number = matches!(
            bytes.get(self.prev_start as usize),
            Some(b'0'..=b'9' | b'.')
        );
        let is_word = matches!(
            self.tok.kind,
            TokenKind::Ident | TokenKind::Integer | TokenKind::Real
        );
        if !starts_as_number || !is_word || self.prev_end != self.tok.start {
            return None;
        }
        let span = Span::new(self.file, self.prev_start, self.tok.end);
        let text = shorten(&self.text[self.prev_start as usize..self.tok.end as usize]);
        let message = format!("`{text}` is neither a number nor an identifier");
        Some(
            Diagnostic::error("invalid-number", span, message)
                .help("an identifier starts with a letter or `_`; a product is written with `*`"),
        )
    }

    /// Ends the panic: skips past the next `;`, or to an `end …` or section keyword.
    fn sync(&mut self) {
        let n_before = self.lexer.diagnostics.len();
        let mut brackets = 0u32;
        loop {
            match self.tok.kind {
                TokenKind::Eof => break,
                TokenKind::Semicolon if brackets == 0 => {
                    self.bump();
                    break;
                }
                TokenKind::LBracket => brackets += 1,
                TokenKind::RBracket => brackets = brackets.saturating_sub(1),
                _ if self.at_stop() => break,
                _ => {}
            }
            self.bump();
        }
        self.panicking = false;
        // In what is skipped, characters without meaning are no news.
        if self.lexer.diagnostics.len() > n_before {
            let mut skipped = self.lexer.diagnostics.split_off(n_before);
            skipped.retain(|d| d.code != "unknown-character");
            self.lexer.diagnostics.append(&mut skipped);
        }
    }

    /// At a token that can only belong to an enclosing construct.
    fn at_stop(&self) -> bool {
        match self.tok.kind {
            TokenKind::Equation
            | TokenKind::Algorithm
            | TokenKind::Public
            | TokenKind::Protected => true,
            TokenKind::Initial => {
                matches!(self.next.kind, TokenKind::Equation | TokenKind::Algorithm)
            }
            TokenKind::End => match self.next.kind {
                TokenKind::Ident
                | TokenKind::If
                | TokenKind::For
                | TokenKind::When
                | TokenKind::While => true,
                TokenKind::Semicolon | TokenKind::Eof => self.at_line_start(),
                _ => false,
            },
            _ => false,
        }
    }

    /// One level deeper; `false` (reported, and the rest of the file given up) at the limit.
    fn enter(&mut self) -> bool {
        if self.depth >= NESTING_MAX {
            self.too_deep(format!("more than {NESTING_MAX} levels of nesting"));
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn too_deep(&mut self, message: String) {
        self.error(
            Diagnostic::error("nesting-too-deep", self.tok_span(), message)
                .label("the rest of the file is not read")
                .help("split this part into smaller ones"),
        );
        self.abandon();
    }

    // ---- names ----

    /// An identifier. A keyword in its place is reported and, where it looks like a name, taken as one.
    fn ident(&mut self, what: &str) -> Option<Ident> {
        if self.at(TokenKind::Ident) {
            let ident = Ident {
                name: ident_name(self.tok_text()),
                span: self.tok_span(),
            };
            self.bump();
            return Some(ident);
        }
        if !self.tok.kind.is_keyword() {
            self.expected(what);
            return None;
        }
        let word = self.tok.kind.text();
        let diagnostic = Diagnostic::error(
            "syntax-error",
            self.tok_span(),
            format!("expected {what}, found the keyword `{word}`"),
        );
        let like_name = !self.at_stop()
            && !self.panicking
            && matches!(
                self.next.kind,
                TokenKind::Semicolon
                    | TokenKind::Equals
                    | TokenKind::Comma
                    | TokenKind::LParen
                    | TokenKind::RParen
                    | TokenKind::LBracket
                    | TokenKind::String
            );
        if !like_name {
            self.error(diagnostic);
            return None;
        }
        self.report(diagnostic.help(format!(
            "`{word}` is a reserved word; choose another name, or quote it: `'{word}'`"
        )));
        let ident = Ident {
            name: Name::new(word),
            span: self.tok_span(),
        };
        self.bump();
        Some(ident)
    }

    /// `[ "." ] IDENT { "." IDENT }`
    fn path(&mut self) -> Option<Path> {
        let start = self.tok.start;
        let global = self.eat(TokenKind::Dot);
        let mut parts = vec![self.ident("a name")?];
        while self.at(TokenKind::Dot)
            && self.next.kind != TokenKind::Star
            && self.next.kind != TokenKind::LBrace
        {
            self.bump();
            parts.push(self.ident("a name after `.`")?);
        }
        Some(Path {
            global,
            parts,
            span: self.span_from(start),
        })
    }

    // ---- descriptions ----

    /// `[ STRING { "+" STRING } ]`
    fn description_string(&mut self) -> Option<Arc<str>> {
        if !self.at(TokenKind::String) {
            return None;
        }
        if self.next.kind != TokenKind::Plus {
            let text = string_value(self.tok_text());
            self.bump();
            return Some(text);
        }
        let mut text = string_value(self.tok_text()).to_string();
        self.bump();
        while self.eat(TokenKind::Plus) {
            if !self.at(TokenKind::String) {
                self.expected("a string after `+` in a description");
                break;
            }
            text.push_str(&string_value(self.tok_text()));
            self.bump();
        }
        Some(text.into())
    }
}

/// The name of an identifier token. In a quoted one, `\"` and `\?` mean `"` and `?`.
fn ident_name(token: &str) -> Name {
    if token.as_bytes()[0] != b'\'' || !token.contains('\\') {
        return Name::new(token);
    }
    let mut text = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            match chars.next() {
                Some(redundant @ ('"' | '?')) => text.push(redundant),
                Some(escaped) => text.extend(['\\', escaped]),
                None => text.push('\\'),
            }
        } else {
            text.push(c);
        }
    }
    Name::new(&text)
}

/// The value of a string token, quotes taken off and escapes replaced.
fn string_value(token: &str) -> Arc<str> {
    let body = &token[1..token.len() - 1];
    if !body.as_bytes().contains(&b'\\') {
        return body.into();
    }
    let mut value = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        match rest
            .as_bytes()
            .get(at + 1)
            .copied()
            .and_then(crate::lexer::unescape)
        {
            Some(c) => {
                value.push(c);
                rest = &rest[at + 2..];
            }
            None => {
                value.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    value.push_str(rest);
    value.into()
}
