//! Splits source text into tokens (specification appendix A, lexical conventions).
//!
//! Comes in: the text of one file. Goes out: one [`Token`] per call of [`Lexer::next_token`], white space and
//! comments skipped, [`TokenKind::Eof`] for ever at the end. Text that is no token becomes
//! [`TokenKind::Invalid`] after it has been reported, so that the parser can stay silent about it.
//! Every byte is looked at a bounded number of times: the run time is linear in the length of the text.

use crate::{Diagnostic, FileId, Span};

/// A token and its byte range in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
}

macro_rules! token_kinds {
    (keywords { $($kw:ident = $kw_text:literal,)* } symbols { $($sym:ident = $sym_text:literal,)* }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum TokenKind {
            Ident,
            String,
            Integer,
            Real,
            /// Text that is no token; already reported.
            Invalid,
            Eof,
            $($kw,)*
            $($sym,)*
        }

        impl TokenKind {
            /// The text of a keyword or symbol; a description in words for the other kinds.
            pub fn text(self) -> &'static str {
                match self {
                    TokenKind::Ident => "identifier",
                    TokenKind::String => "string",
                    TokenKind::Integer | TokenKind::Real => "number",
                    TokenKind::Invalid => "invalid text",
                    TokenKind::Eof => "end of file",
                    $(TokenKind::$kw => $kw_text,)*
                    $(TokenKind::$sym => $sym_text,)*
                }
            }

            pub fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$kw)|*)
            }
        }

        fn keyword(word: &str) -> Option<TokenKind> {
            match word {
                $($kw_text => Some(TokenKind::$kw),)*
                _ => None,
            }
        }
    };
}

token_kinds! {
    keywords {
        Algorithm = "algorithm",
        And = "and",
        Annotation = "annotation",
        Block = "block",
        Break = "break",
        Class = "class",
        Connect = "connect",
        Connector = "connector",
        Constant = "constant",
        ConstrainedBy = "constrainedby",
        Der = "der",
        Discrete = "discrete",
        Each = "each",
        Else = "else",
        ElseIf = "elseif",
        ElseWhen = "elsewhen",
        Encapsulated = "encapsulated",
        End = "end",
        Enumeration = "enumeration",
        Equation = "equation",
        Expandable = "expandable",
        Extends = "extends",
        External = "external",
        False = "false",
        Final = "final",
        Flow = "flow",
        For = "for",
        Function = "function",
        If = "if",
        Import = "import",
        Impure = "impure",
        In = "in",
        Initial = "initial",
        Inner = "inner",
        Input = "input",
        Loop = "loop",
        Model = "model",
        Not = "not",
        Operator = "operator",
        Or = "or",
        Outer = "outer",
        Output = "output",
        Package = "package",
        Parameter = "parameter",
        Partial = "partial",
        Protected = "protected",
        Public = "public",
        Pure = "pure",
        Record = "record",
        Redeclare = "redeclare",
        Replaceable = "replaceable",
        Return = "return",
        Stream = "stream",
        Then = "then",
        True = "true",
        Type = "type",
        When = "when",
        While = "while",
        Within = "within",
    }
    symbols {
        LParen = "(",
        RParen = ")",
        LBracket = "[",
        RBracket = "]",
        LBrace = "{",
        RBrace = "}",
        Comma = ",",
        Semicolon = ";",
        Colon = ":",
        Dot = ".",
        Assign = ":=",
        Equals = "=",
        EqEq = "==",
        NotEqual = "<>",
        Less = "<",
        LessEq = "<=",
        Greater = ">",
        GreaterEq = ">=",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Caret = "^",
        DotPlus = ".+",
        DotMinus = ".-",
        DotStar = ".*",
        DotSlash = "./",
        DotCaret = ".^",
    }
}

/// Length of the longest keyword, `constrainedby`.
const KEYWORD_LEN_MAX: usize = 13;

/// Reads tokens from the front of a text.
pub struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    file: FileId,
    /// What was wrong so far.
    pub diagnostics: Vec<Diagnostic>,
    /// An unclosed string or comment has swallowed the rest of the file.
    pub truncated: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer for `text`, which must be shorter than 4 GiB (spans are `u32`).
    pub fn new(file: FileId, text: &'a str) -> Lexer<'a> {
        let pos = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Lexer {
            text,
            bytes: text.as_bytes(),
            pos,
            file,
            diagnostics: Vec::new(),
            truncated: false,
        }
    }

    /// Makes the next token the end of the file.
    pub fn stop(&mut self) {
        self.pos = self.bytes.len();
    }

    pub fn next_token(&mut self) -> Token {
        self.skip_blank();
        let start = self.pos;
        let Some(&byte) = self.bytes.get(start) else {
            return self.token(TokenKind::Eof, start);
        };
        let kind = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(start),
            b'0'..=b'9' => self.number(start),
            b'"' => self.string(start),
            b'\'' => self.quoted_ident(start),
            b'.' => match self.peek(1) {
                Some(b'0'..=b'9') => self.number(start),
                Some(b'+') => self.symbol(2, TokenKind::DotPlus),
                Some(b'-') => self.symbol(2, TokenKind::DotMinus),
                Some(b'*') => self.symbol(2, TokenKind::DotStar),
                Some(b'/') => self.symbol(2, TokenKind::DotSlash),
                Some(b'^') => self.symbol(2, TokenKind::DotCaret),
                _ => self.symbol(1, TokenKind::Dot),
            },
            b'(' => self.symbol(1, TokenKind::LParen),
            b')' => self.symbol(1, TokenKind::RParen),
            b'[' => self.symbol(1, TokenKind::LBracket),
            b']' => self.symbol(1, TokenKind::RBracket),
            b'{' => self.symbol(1, TokenKind::LBrace),
            b'}' => self.symbol(1, TokenKind::RBrace),
            b',' => self.symbol(1, TokenKind::Comma),
            b';' => self.symbol(1, TokenKind::Semicolon),
            b'+' => self.symbol(1, TokenKind::Plus),
            b'-' => self.symbol(1, TokenKind::Minus),
            b'*' => self.symbol(1, TokenKind::Star),
            b'/' => self.symbol(1, TokenKind::Slash),
            b'^' => self.symbol(1, TokenKind::Caret),
            b':' => match self.peek(1) {
                Some(b'=') => self.symbol(2, TokenKind::Assign),
                _ => self.symbol(1, TokenKind::Colon),
            },
            b'=' => match self.peek(1) {
                Some(b'=') => self.symbol(2, TokenKind::EqEq),
                _ => self.symbol(1, TokenKind::Equals),
            },
            b'<' => match self.peek(1) {
                Some(b'=') => self.symbol(2, TokenKind::LessEq),
                Some(b'>') => self.symbol(2, TokenKind::NotEqual),
                _ => self.symbol(1, TokenKind::Less),
            },
            b'>' => match self.peek(1) {
                Some(b'=') => self.symbol(2, TokenKind::GreaterEq),
                _ => self.symbol(1, TokenKind::Greater),
            },
            _ => self.unknown(start),
        };
        self.token(kind, start)
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        Token {
            kind,
            start: start as u32,
            end: self.pos as u32,
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    fn symbol(&mut self, len: usize, kind: TokenKind) -> TokenKind {
        self.pos += len;
        kind
    }

    fn skip_blank(&mut self) {
        while let Some(&byte) = self.bytes.get(self.pos) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'/' => match self.peek(1) {
                    Some(b'/') => {
                        let rest = &self.bytes[self.pos..];
                        let len = rest.iter().position(|&b| b == b'\n' || b == b'\r');
                        self.pos += len.unwrap_or(rest.len());
                    }
                    Some(b'*') => self.block_comment(),
                    _ => return,
                },
                _ => return,
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        let mut pos = start + 2;
        loop {
            match self.bytes[pos..].iter().position(|&b| b == b'*') {
                None => break,
                Some(offset) if self.bytes.get(pos + offset + 1) == Some(&b'/') => {
                    self.pos = pos + offset + 2;
                    return;
                }
                Some(offset) => pos += offset + 1,
            }
        }
        self.pos = self.bytes.len();
        self.truncated = true;
        self.diagnostics.push(
            Diagnostic::error(
                "unterminated-comment",
                self.span(start, start + 2),
                "this comment is never closed",
            )
            .label("the comment starts here and runs to the end of the file")
            .help("close the comment with `*/`"),
        );
    }

    fn word(&mut self, start: usize) -> TokenKind {
        self.pos = word_end(self.bytes, start);
        // A non-ASCII letter glued to a word: one wrong identifier, not three tokens.
        if self.bytes.get(self.pos).is_some_and(|&b| b >= 0x80) {
            let rest = &self.text[self.pos..];
            if rest.chars().next().is_some_and(char::is_alphanumeric) {
                return self.foreign_word(start);
            }
        }
        let len = self.pos - start;
        if len <= KEYWORD_LEN_MAX && self.bytes[start].is_ascii_lowercase() {
            return keyword(&self.text[start..self.pos]).unwrap_or(TokenKind::Ident);
        }
        TokenKind::Ident
    }

    /// An identifier with letters outside ASCII: reported, then treated as an identifier.
    fn foreign_word(&mut self, start: usize) -> TokenKind {
        let rest = &self.text[start..];
        let len = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        self.pos = start + len;
        let word = &self.text[start..self.pos];
        let foreign: char = word.chars().find(|c| !c.is_ascii()).unwrap_or('?');
        let message = format!(
            "`{foreign}` cannot be part of the identifier `{}`",
            shorten(word)
        );
        self.diagnostics.push(
            Diagnostic::error("unknown-character", self.span(start, self.pos), message)
                .help("an identifier consists of ASCII letters, digits and `_`"),
        );
        TokenKind::Ident
    }

    fn number(&mut self, start: usize) -> TokenKind {
        let mut kind = TokenKind::Integer;
        let mut pos = digits_end(self.bytes, start);
        if self.bytes.get(pos) == Some(&b'.') {
            kind = TokenKind::Real;
            pos = digits_end(self.bytes, pos + 1);
        }
        if let Some(b'e' | b'E') = self.bytes.get(pos) {
            let signed = matches!(self.bytes.get(pos + 1), Some(b'+' | b'-'));
            let exponent = pos + 1 + usize::from(signed);
            let end = digits_end(self.bytes, exponent);
            if end > exponent {
                kind = TokenKind::Real;
                pos = end;
            } else if signed || word_end(self.bytes, pos) == pos + 1 {
                self.pos = exponent;
                self.diagnostics.push(
                    Diagnostic::error(
                        "invalid-number",
                        self.span(start, exponent),
                        format!(
                            "the exponent of `{}` has no digits",
                            shorten(&self.text[start..exponent])
                        ),
                    )
                    .help("write digits after the `e`, as in `1e-6`"),
                );
                return TokenKind::Invalid;
            }
        }
        self.pos = pos;
        kind
    }

    fn string(&mut self, start: usize) -> TokenKind {
        let mut pos = start + 1;
        loop {
            match self.bytes[pos..]
                .iter()
                .position(|&b| b == b'"' || b == b'\\')
            {
                None => break,
                Some(offset) if self.bytes[pos + offset] == b'"' => {
                    self.pos = pos + offset + 1;
                    return TokenKind::String;
                }
                Some(offset) => {
                    pos += offset + 2;
                    match self.bytes.get(pos - 1) {
                        None => break,
                        Some(&escape) if unescape(escape).is_none() => {
                            pos = self.bad_escape(pos - 2);
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        self.pos = self.bytes.len();
        self.truncated = true;
        self.diagnostics.push(
            Diagnostic::error(
                "unterminated-string",
                self.span(start, start + 1),
                "this string is never closed",
            )
            .label("the string starts here and runs to the end of the file")
            .help("close the string with `\"`"),
        );
        TokenKind::Invalid
    }

    /// Warns about the backslash at `at`; gives the position after the escaped character.
    fn bad_escape(&mut self, at: usize) -> usize {
        let len = self.text[at + 1..].chars().next().map_or(0, char::len_utf8);
        let end = at + 1 + len;
        let escaped = self.text[at + 1..end].escape_debug();
        self.diagnostics.push(
            Diagnostic::warning(
                "invalid-escape",
                self.span(at, end),
                format!("`\\{escaped}` is not an escape sequence"),
            )
            .label("taken literally, with the backslash")
            .help("write a backslash as `\\\\`"),
        );
        end
    }

    fn quoted_ident(&mut self, start: usize) -> TokenKind {
        let mut pos = start + 1;
        while let Some(&byte) = self.bytes.get(pos) {
            match byte {
                b'\'' => {
                    self.pos = pos + 1;
                    return TokenKind::Ident;
                }
                b'\n' | b'\r' => break,
                0..=0x1f | 0x7f => return self.control_in_ident(pos),
                b'\\' if matches!(self.bytes.get(pos + 1), Some(b'\'' | b'\\')) => pos += 2,
                _ => pos += 1,
            }
        }
        self.pos = pos;
        self.diagnostics.push(
            Diagnostic::error(
                "unterminated-string",
                self.span(start, pos),
                "this quoted identifier is not closed on its line",
            )
            .help("close the identifier with `'`; strings are written with `\"`"),
        );
        TokenKind::Invalid
    }

    /// Names are printed, and terminals obey control characters.
    fn control_in_ident(&mut self, at: usize) -> TokenKind {
        self.pos = at + 1;
        self.diagnostics.push(
            Diagnostic::error(
                "unknown-character",
                self.span(at, at + 1),
                format!(
                    "the control character U+{:04X} cannot be part of an identifier",
                    self.bytes[at]
                ),
            )
            .help("write the identifier with characters that can be seen"),
        );
        TokenKind::Invalid
    }

    /// A run of characters with which no token starts.
    fn unknown(&mut self, start: usize) -> TokenKind {
        let rest = &self.text[start..];
        let mut chars = rest.chars();
        let first = chars.next().unwrap_or('\0');
        if first.is_alphabetic() {
            return self.foreign_word(start);
        }
        let len = rest
            .find(|c: char| c.is_ascii() && begins_token(c as u8))
            .unwrap_or(rest.len());
        self.pos = start + len;
        let shown = match first {
            c if c.is_control() || c.is_whitespace() => format!("U+{:04X}", c as u32),
            c => format!("`{c}`"),
        };
        let mut diagnostic = Diagnostic::error(
            "unknown-character",
            self.span(start, start + first.len_utf8()),
            format!("the character {shown} has no meaning here"),
        );
        if let Some(help) = unknown_help(first, chars.next()) {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
        TokenKind::Invalid
    }
}

/// What to write instead of a character that is common in other languages.
fn unknown_help(first: char, second: Option<char>) -> Option<&'static str> {
    Some(match (first, second) {
        ('!', Some('=')) => "inequality is written `<>`",
        ('!', _) => "negation is written `not`",
        ('&', _) => "logical conjunction is written `and`",
        ('|', _) => "logical disjunction is written `or`",
        ('%' | '#', _) => "a comment starts with `//`",
        ('\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}' | '\u{201e}', _) => {
            "use the straight quotes `\"` and `'`"
        }
        ('\u{2212}' | '\u{2013}', _) => "use the ASCII minus `-`",
        ('\u{a0}', _) => "replace the non-breaking space by a plain space",
        _ => return None,
    })
}

fn begins_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte.is_ascii_whitespace()
        || b"_\"'.()[]{},;+-*/^:=<>\x0b".contains(&byte)
}

fn word_end(bytes: &[u8], mut pos: usize) -> usize {
    while bytes
        .get(pos)
        .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    {
        pos += 1;
    }
    pos
}

fn digits_end(bytes: &[u8], mut pos: usize) -> usize {
    while bytes.get(pos).is_some_and(u8::is_ascii_digit) {
        pos += 1;
    }
    pos
}

/// The character that a backslash and `escape` stand for.
pub(crate) fn unescape(escape: u8) -> Option<char> {
    Some(match escape {
        b'\'' => '\'',
        b'"' => '"',
        b'?' => '?',
        b'\\' => '\\',
        b'a' => '\u{07}',
        b'b' => '\u{08}',
        b'f' => '\u{0c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\u{0b}',
        _ => return None,
    })
}

/// Text for a message: at most 40 characters of it.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN_MAX: usize = 40;
    match text.char_indices().nth(SHOWN_MAX) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
