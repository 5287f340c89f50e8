//! The place of the cursor, from the tokens before it.
//!
//! Comes in: a text that may be broken at the cursor. Goes out: what is being typed and what stands around it: the path before a dot, the brackets that are open with the names
//! before them ([`Head`]), what kind of item it is.

use super::ident;
use saltus::language::Span;
use saltus::language::lexer::TokenKind::{self, *};
use saltus::language::lossless::Lossless;
use saltus::language::syntax::Ident;
use std::string::String;

/// Open brackets that are looked at.
const HEADS_MAX: usize = 30;

pub(crate) struct Cursor {
    /// The begin of the word before the cursor, and the word.
    pub(crate) start: u32,
    pub(crate) prefix: String,
    pub(crate) place: Place,
}

/// A bracket that is open at the cursor.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// The name before it.
    pub(crate) path: Vec<Ident>,
    pub(crate) global: bool,
    /// Of a value: a function is called. Else the name is modified.
    pub(crate) is_call: bool,
    /// The argument that is being written, if its name is known.
    pub(crate) argument: Option<String>,
    /// How many arguments stand before it.
    pub(crate) n_before: usize,
    /// The token of the bracket.
    open: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Place {
    Nothing,
    /// In a string.
    Text {
        heads: Vec<Head>,
        address: bool,
    },
    Member {
        path: Vec<Ident>,
        global: bool,
        import: bool,
    },
    Import,
    /// A type is wanted.
    Type,
    /// An element of a class begins.
    Declaration,
    Annotation {
        path: Vec<String>,
    },
    /// An argument begins.
    Argument {
        heads: Vec<Head>,
        base: Option<Vec<Ident>>,
    },
    /// A value is wanted.
    Value {
        heads: Vec<Head>,
        base: Option<Vec<Ident>>,
    },
    /// An equation or statement begins, or goes on.
    Equation,
}

impl Cursor {
    /// `None` in a comment.
    pub(crate) fn new(text: &str, offset: u32) -> Option<Cursor> {
        let lossless = Lossless::new(text);
        let tokens = &lossless.tokens;
        let next = tokens.partition_point(|token| token.end < offset);
        let index = next.min(tokens.len() - 1);
        let in_comment = lossless
            .comments(index)
            .any(|c| c.start < offset && (offset < c.end || c.to_line_end && offset == c.end));
        if in_comment {
            return None;
        }
        let token = tokens[index];
        if token.kind == TokenKind::String && token.start < offset && offset < token.end
            || token.kind == Invalid && token.start < offset
        {
            let tokens = Tokens {
                lossless: &lossless,
                end: index,
            };
            let inside = &text[token.start as usize..offset as usize];
            let start = inside
                .rfind(|c: char| c == '"' || c.is_whitespace())
                .map_or(0, |at| at + 1);
            return Some(Cursor {
                start: token.start + start as u32,
                prefix: inside[start..].to_owned(),
                place: Place::Text {
                    heads: tokens.heads().0,
                    address: inside.contains("modelica:"),
                },
            });
        }
        let is_word = token.start < offset
            && offset <= token.end
            && (token.kind == Ident || token.kind.is_keyword());
        let (start, end) = match is_word {
            true => (token.start, index),
            // A symbol that ends at the cursor stands before it.
            false if token.end == offset && token.start < offset => (offset, index + 1),
            false => (offset, index),
        };
        let tokens = Tokens {
            lossless: &lossless,
            end,
        };
        Some(Cursor {
            start,
            prefix: text[start as usize..offset as usize].to_owned(),
            place: tokens.place(),
        })
    }
}

/// The tokens before the cursor.
struct Tokens<'l, 't> {
    lossless: &'l Lossless<'t>,
    end: usize,
}

impl Tokens<'_, '_> {
    fn kind(&self, at: usize) -> TokenKind {
        if at < self.end {
            self.lossless.tokens[at].kind
        } else {
            Eof
        }
    }

    fn before(&self, at: usize) -> TokenKind {
        at.checked_sub(1).map_or(Semicolon, |at| self.kind(at))
    }

    fn ident(&self, at: usize) -> Ident {
        let token = self.lossless.tokens[at];
        let file = saltus::language::SourceMap::default().add("", "");
        ident(
            self.lossless.token_text(at),
            Span::new(file, token.start, token.end),
        )
    }

    /// The dotted name that ends before the token `end`: its parts, whether it begins with a dot, its first token. Subscripts are left out.
    fn path_before(&self, end: usize) -> Option<(Vec<Ident>, bool, usize)> {
        let mut parts = Vec::new();
        let mut at = end;
        loop {
            at = self.skip_subscripts(at)?;
            let name = at.checked_sub(1)?;
            if !matches!(self.kind(name), Ident | Der | Initial) {
                return None;
            }
            parts.push(self.ident(name));
            at = name;
            if self.before(at) != Dot {
                parts.reverse();
                return Some((parts, false, at));
            }
            at -= 1;
            if !matches!(self.before(at), Ident | RBracket) {
                parts.reverse();
                return Some((parts, true, at));
            }
        }
    }

    fn skip_subscripts(&self, end: usize) -> Option<usize> {
        let mut at = end;
        if self.before(at) != RBracket {
            return Some(at);
        }
        let mut depth = 0;
        while at > 0 {
            at -= 1;
            match self.kind(at) {
                RBracket => depth += 1,
                LBracket => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                Semicolon => return None,
                _ => {}
            }
        }
        None
    }

    /// The open brackets, outermost first, and the first token of the item.
    fn heads(&self) -> (Vec<Head>, usize) {
        let mut heads: Vec<Head> = Vec::new();
        let mut depth = 0_usize;
        let mut n_before = 0;
        let mut argument = None;
        let mut at = self.end;
        while at > 0 && heads.len() < HEADS_MAX {
            match self.kind(at - 1) {
                RParen | RBracket | RBrace => depth += 1,
                LParen | LBracket | LBrace if depth > 0 => depth -= 1,
                LParen => {
                    let open = at - 1;
                    let (path, global, first) =
                        self.path_before(open).unwrap_or((Vec::new(), false, open));
                    let is_call = matches!(
                        self.before(first),
                        Equals
                            | Plus
                            | Minus
                            | Star
                            | Slash
                            | Caret
                            | Comma
                            | LParen
                            | Assign
                            | LBrace
                            | LBracket
                            | Then
                            | Else
                            | If
                            | And
                            | Or
                            | Not
                    ) && !matches!(self.before(first), Comma | LParen);
                    heads.push(Head {
                        path,
                        global,
                        is_call,
                        argument: argument.take(),
                        n_before: std::mem::take(&mut n_before),
                        open,
                    });
                }
                LBracket | LBrace => {
                    // Data in braces: the argument around counts.
                    n_before = 0;
                }
                Comma if depth == 0 => n_before += 1,
                Equals
                    if depth == 0
                        && n_before == 0
                        && argument.is_none()
                        && self.before(at - 1) == Ident =>
                {
                    argument = Some(self.lossless.token_text(at - 2).to_owned());
                }
                Semicolon if depth == 0 => break,
                Equation | Algorithm | Public | Protected | Loop if depth == 0 => break,
                _ => {}
            }
            at -= 1;
        }
        heads.reverse();
        // `type A = B(…)` modifies.
        if self.is_class_item(at)
            && let Some(head) = heads.first_mut()
        {
            head.is_call = false;
        }
        // An argument of a call is no modifier, and what stands inside a call neither.
        let mut inside_call = false;
        for head in &mut heads {
            inside_call |= head.is_call;
            head.is_call = inside_call;
        }
        (heads, at)
    }

    fn place(&self) -> Place {
        let last = self.before(self.end);
        let (heads, item) = self.heads();
        if heads
            .iter()
            .any(|head| self.before(head.open) == Annotation)
        {
            return self.annotation(&heads);
        }
        if last == Dot {
            let first = self.kind(item);
            let import = matches!(first, Import | Within);
            return match self.path_before(self.end - 1) {
                Some((path, global, _)) => Place::Member {
                    path,
                    global,
                    import,
                },
                None => Place::Import,
            };
        }
        if matches!(self.kind(item), Import | Within) {
            return match last {
                Ident => Place::Nothing,
                _ => Place::Import,
            };
        }
        let in_equations = self.in_equations(item);
        if let Some(head) = heads.last() {
            let base = if in_equations {
                None
            } else {
                self.base(item, &heads)
            };
            let begins =
                matches!(last, LParen | Comma | Each | Final) && self.innermost_is(head.open);
            return if last == Redeclare || last == Replaceable {
                Place::Type
            } else if begins {
                Place::Argument { heads, base }
            } else {
                Place::Value { heads, base }
            };
        }
        if in_equations {
            return Place::Equation;
        }
        match last {
            Equals if self.is_class_item(item) => Place::Type,
            Equals | If | Then | Else | And | Or | Not | Plus | Minus | Star | Slash | Caret
            | Less | Greater | LessEq | GreaterEq | EqEq | NotEqual => {
                let base = self.type_of_item(item);
                let argument = self.item_name(item);
                // The value of the component itself: as if it were an argument of its type.
                let head = argument.map(|_| Head {
                    path: Vec::new(),
                    global: false,
                    is_call: false,
                    argument: None,
                    n_before: 0,
                    open: 0,
                });
                Place::Value {
                    heads: head.into_iter().collect(),
                    base,
                }
            }
            LBracket | LBrace | Colon | Comma => Place::Value { heads, base: None },
            Extends | ConstrainedBy | Parameter | Constant | Input | Output | Flow | Stream
            | Discrete | Final | Inner | Outer | Replaceable | Redeclare => Place::Type,
            Ident => Place::Nothing,
            Semicolon | Public | Protected | Eof => Place::Declaration,
            _ => Place::Declaration,
        }
    }

    /// No brace or bracket is open behind the parenthesis.
    fn innermost_is(&self, open: usize) -> bool {
        let mut depth = 0_i32;
        for at in open + 1..self.end {
            match self.kind(at) {
                LBrace | LBracket | LParen => depth += 1,
                RBrace | RBracket | RParen => depth -= 1,
                _ => {}
            }
        }
        depth <= 0
    }

    fn annotation(&self, heads: &[Head]) -> Place {
        let begin = heads
            .iter()
            .position(|head| self.before(head.open) == Annotation)
            .unwrap_or(0);
        let mut path: Vec<String> = vec!["annotation".to_owned()];
        for head in &heads[begin + 1..] {
            path.extend(head.path.iter().map(|part| part.name.to_string()));
        }
        let last = heads.last();
        if last.is_some_and(|head| head.argument.as_deref() == Some("graphics")) {
            path.push("graphics".to_owned());
        }
        match self.before(self.end) {
            LParen | Comma | LBrace => Place::Annotation { path },
            _ => Place::Value {
                heads: Vec::new(),
                base: None,
            },
        }
    }

    /// The section keyword before an item is of equations or statements.
    fn in_equations(&self, item: usize) -> bool {
        // Classes that end before do not count.
        let mut n_closed = 0_usize;
        let mut at = item;
        while at > 0 {
            at -= 1;
            match self.kind(at) {
                Semicolon if at >= 2 && self.kind(at - 1) == Ident && self.kind(at - 2) == End => {
                    n_closed += 1
                }
                Equation | Algorithm if n_closed == 0 => return true,
                Public | Protected if n_closed == 0 => return false,
                Model | Block | Package | Record | Function | Connector | Class | Operator
                    if matches!(self.kind(at + 1), Ident | Extends)
                        && self.kind(at + 2) != Equals
                        && self.before(at) != End =>
                {
                    if n_closed == 0 {
                        return false;
                    }
                    n_closed -= 1;
                }
                _ => {}
            }
        }
        false
    }

    fn after_prefixes(&self, item: usize) -> usize {
        let mut at = item;
        while matches!(
            self.kind(at),
            Redeclare
                | Final
                | Inner
                | Outer
                | Replaceable
                | Flow
                | Stream
                | Discrete
                | Parameter
                | Constant
                | Input
                | Output
                | Each
                | Encapsulated
                | Partial
                | Pure
                | Impure
                | Expandable
                | Operator
        ) {
            at += 1;
        }
        at
    }

    fn is_class_item(&self, item: usize) -> bool {
        matches!(
            self.kind(self.after_prefixes(item)),
            Model | Block | Package | Record | Function | Connector | Class | Type
        )
    }

    /// A dotted name from a token on.
    fn path_from(&self, mut at: usize) -> Option<(Vec<Ident>, usize)> {
        let mut parts = Vec::new();
        at += usize::from(self.kind(at) == Dot);
        loop {
            if self.kind(at) != Ident {
                return None;
            }
            parts.push(self.ident(at));
            if self.kind(at + 1) != Dot {
                return Some((parts, at + 1));
            }
            at += 2;
        }
    }

    /// The class that an item's outermost bracket modifies.
    fn base(&self, item: usize, heads: &[Head]) -> Option<Vec<Ident>> {
        let outermost = heads.first()?.open;
        // The name directly before it, where a class is named.
        let (path, _, first) = self.path_before(outermost)?;
        let start = self.after_prefixes(item);
        match self.before(first) {
            Extends | ConstrainedBy => return Some(path),
            Equals if self.is_class_item(item) => return Some(path),
            _ => {}
        }
        if self.kind(start) == Extends && start + 1 == first {
            return Some(path);
        }
        self.type_of_item(item)
    }

    /// The type of a declaration: a name that is followed by another.
    fn type_of_item(&self, item: usize) -> Option<Vec<Ident>> {
        let (path, mut at) = self.path_from(self.after_prefixes(item))?;
        if self.kind(at) == LBracket {
            while at < self.end && self.kind(at) != RBracket {
                at += 1;
            }
            at += 1;
        }
        (self.kind(at) == Ident).then_some(path)
    }

    fn item_name(&self, item: usize) -> Option<()> {
        self.type_of_item(item).map(|_| ())
    }
}
