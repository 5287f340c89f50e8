//! Where lines begin, and how far they are indented.
//!
//! The structure is read from the tokens alone: at the start of an *item* (an element, an equation, a statement, a heading) the first tokens tell what it is, and a stack
//! holds the classes, `if`, `for`, `when` and `while` that are open. Texts with errors go through, too, with a layout of whatever they look like.

use super::spacing::Spacing;
use crate::lexer::TokenKind::{self, *};
use crate::lossless::Lossless;

/// Columns of one level.
const STEP: usize = 2;

/// What to do with the gap before a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// A line begins here whatever the author wrote.
    pub(super) breaks: bool,
    /// No line begins here.
    pub(super) joins: bool,
    /// Indentation of the token if it begins a line.
    pub(super) indent: usize,
    /// Indentation of comments on lines of their own.
    pub(super) comment_indent: usize,
    /// An empty line goes before.
    pub(super) wants_blank: bool,
    /// The tokens stand apart if they are on one line.
    pub(super) space: bool,
}

#[derive(Clone, Copy)]
enum Block {
    Class {
        indent: usize,
        equations: bool,
    },
    /// `if`, `for`, `when`, `while` with the keyword that ends their headers.
    Control {
        indent: usize,
    },
}

impl Block {
    fn indent(self) -> usize {
        match self {
            Block::Class { indent, .. } | Block::Control { indent } => indent,
        }
    }
}

/// An open bracket.
struct Bracket {
    /// Indentation of the lines that begin inside it.
    content: usize,
    /// The line that it stands on, counted by tokens that begin lines.
    line: usize,
}

/// What the tokens belong to that come next, outside brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A new item begins.
    Start,
    /// Inside an element, equation or statement, up to its `;`.
    Item,
    /// From a control keyword up to its `then` or `loop`, with the number of if-expressions in it that wait for their `else`.
    Header { waiting: usize },
    /// In the header of a long class definition, with the token that is its name.
    ClassHeader { name: usize, extends: bool },
    /// Between `initial` and `equation`.
    Initial,
}

pub(super) struct Layout<'l, 't> {
    lossless: &'l Lossless<'t>,
    spacing: Spacing,
    blocks: Vec<Block>,
    brackets: Vec<Bracket>,
    mode: Mode,
    /// Indentation and line of the current item.
    item_indent: usize,
    item_line: usize,
    /// The current line.
    line: usize,
    /// A long class definition was closed and its `;` or the next item is awaited.
    after_class: bool,
}

impl<'l, 't> Layout<'l, 't> {
    pub(super) fn new(lossless: &'l Lossless<'t>) -> Layout<'l, 't> {
        Layout {
            spacing: Spacing::new(lossless),
            lossless,
            blocks: Vec::new(),
            brackets: Vec::new(),
            mode: Mode::Start,
            item_indent: 0,
            item_line: 0,
            line: 0,
            after_class: false,
        }
    }

    fn kind(&self, index: usize) -> TokenKind {
        (self.lossless.tokens.get(index)).map_or(Eof, |token| token.kind)
    }

    /// Indentation of what stands inside the innermost block.
    fn inside(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.indent() + STEP)
    }

    /// What to do before the token.
    pub(super) fn gap(&mut self, index: usize) -> Gap {
        let kind = self.kind(index);
        if let Mode::ClassHeader { name, extends } = self.mode
            && index > name
            && self.brackets.is_empty()
            && !self.continues_header(index, extends)
        {
            self.mode = Mode::Start;
        }
        let space = self.spacing.between(self.lossless, index);
        if self.mode == Mode::Start && self.brackets.is_empty() {
            let indent = self.start_indent(index);
            return Gap {
                breaks: kind != Semicolon && index > 0,
                joins: kind == Semicolon,
                indent,
                comment_indent: self.inside(),
                wants_blank: self.after_class && !matches!(kind, End | Semicolon),
                space,
            };
        }
        let indent = self.continuation(kind);
        Gap {
            breaks: false,
            joins: kind == Semicolon && self.brackets.is_empty() || self.mode == Mode::Initial,
            indent,
            comment_indent: match self.brackets.last() {
                Some(bracket) => bracket.content,
                None => indent,
            },
            wants_blank: false,
            space,
        }
    }

    /// Indentation of a line that begins inside an item.
    fn continuation(&self, kind: TokenKind) -> usize {
        match self.brackets.last() {
            Some(bracket) if matches!(kind, RParen | RBracket | RBrace) => bracket.content - STEP,
            Some(bracket) => bracket.content,
            None => self.item_indent + STEP,
        }
    }

    /// Whether the token still belongs to the header of a class definition whose name is over: modifiers of an extended class, the description.
    fn continues_header(&self, index: usize, extends: bool) -> bool {
        let before = self.kind(index.wrapping_sub(1));
        match self.kind(index) {
            LParen => extends && before == Ident,
            String => before != String,
            Plus => before == String,
            _ => false,
        }
    }

    /// Indentation of an item.
    fn start_indent(&self, index: usize) -> usize {
        let Some(&block) = self.blocks.last() else {
            return 0;
        };
        match (self.kind(index), block) {
            (End, _) => block.indent(),
            (Else | ElseIf | ElseWhen, Block::Control { indent }) => indent,
            (Public | Protected | Equation | Algorithm | External, Block::Class { indent, .. }) => {
                indent
            }
            (Initial, Block::Class { indent, .. }) if self.is_initial_section(index) => indent,
            _ => self.inside(),
        }
    }

    fn is_initial_section(&self, index: usize) -> bool {
        matches!(self.kind(index + 1), Equation | Algorithm)
    }

    /// Takes note of the token.
    pub(super) fn pass(&mut self, index: usize, on_new_line: bool) {
        let kind = self.kind(index);
        self.line += usize::from(on_new_line);
        self.spacing.pass(self.lossless, index);
        match kind {
            LParen | LBracket | LBrace => {
                if self.mode == Mode::Start && self.brackets.is_empty() {
                    self.begin(index);
                }
                self.open();
                return;
            }
            RParen | RBracket | RBrace => {
                self.brackets.pop();
                return;
            }
            _ if !self.brackets.is_empty() => return,
            _ => {}
        }
        match self.mode {
            Mode::Start => self.begin(index),
            Mode::Item if kind == Semicolon => self.mode = Mode::Start,
            Mode::Item => {}
            Mode::Header { waiting } => self.mode = header(kind, waiting),
            Mode::ClassHeader { .. } => {}
            Mode::Initial => self.section(true),
        }
    }

    /// One level deeper for each line on which brackets are opened, however many they are.
    fn open(&mut self) {
        let content = match self.brackets.last() {
            Some(outer) if outer.line == self.line => outer.content,
            Some(outer) => outer.content + STEP,
            None if self.line == self.item_line => self.item_indent + STEP,
            None => self.item_indent + 2 * STEP,
        };
        let line = self.line;
        self.brackets.push(Bracket { content, line });
    }

    /// The first token of an item.
    fn begin(&mut self, index: usize) {
        let kind = self.kind(index);
        self.item_indent = self.start_indent(index);
        self.item_line = self.line;
        self.mode = Mode::Item;
        self.spacing.declares = false;
        let was_after_class = std::mem::take(&mut self.after_class);
        let top = self.blocks.last().copied();
        match (kind, top) {
            (Semicolon, _) => {
                self.mode = Mode::Start;
                self.after_class = was_after_class;
            }
            (End, Some(block)) => {
                self.blocks.pop();
                self.after_class = matches!(block, Block::Class { .. });
            }
            (Public | Protected, Some(Block::Class { .. })) => self.section(false),
            (Equation | Algorithm, Some(Block::Class { .. })) => self.section(true),
            (Initial, Some(Block::Class { .. })) if self.is_initial_section(index) => {
                self.mode = Mode::Initial;
            }
            (Else, Some(Block::Control { .. })) => self.mode = Mode::Start,
            (ElseIf | ElseWhen, Some(Block::Control { .. })) => {
                self.mode = Mode::Header { waiting: 0 };
            }
            (
                If | For | When | While,
                Some(
                    Block::Control { .. }
                    | Block::Class {
                        equations: true, ..
                    },
                ),
            ) => {
                let indent = self.item_indent;
                self.blocks.push(Block::Control { indent });
                self.mode = Mode::Header { waiting: 0 };
            }
            _ => self.begin_class(index),
        }
    }

    fn section(&mut self, is_equations: bool) {
        if let Some(Block::Class { equations, .. }) = self.blocks.last_mut() {
            *equations = is_equations;
        }
        self.mode = Mode::Start;
    }

    /// If the item is a long class definition: a block of its own.
    fn begin_class(&mut self, index: usize) {
        let mut at = index;
        while is_prefix(self.kind(at))
            && (self.kind(at) != Operator || is_class_word(self.kind(at + 1)))
        {
            at += 1;
        }
        if !is_class_word(self.kind(at)) {
            let in_equations = matches!(
                self.blocks.last(),
                Some(
                    Block::Control { .. }
                        | Block::Class {
                            equations: true,
                            ..
                        }
                )
            );
            self.spacing.declares = !in_equations && !matches!(self.kind(index), Import | External);
            return;
        }
        let extends = self.kind(at + 1) == Extends;
        let name = at + 1 + usize::from(extends);
        if self.kind(name + 1) == Equals || self.kind(name) != Ident {
            return;
        }
        let indent = self.item_indent;
        self.blocks.push(Block::Class {
            indent,
            equations: false,
        });
        self.mode = Mode::ClassHeader { name, extends };
    }
}

fn header(kind: TokenKind, waiting: usize) -> Mode {
    match kind {
        Then if waiting == 0 => Mode::Start,
        Loop => Mode::Start,
        If => Mode::Header {
            waiting: waiting + 1,
        },
        Else => Mode::Header {
            waiting: waiting.saturating_sub(1),
        },
        _ => Mode::Header { waiting },
    }
}

/// Words before the class keyword. `operator` is one before `record` and `function`, `expandable` before `connector`.
fn is_prefix(kind: TokenKind) -> bool {
    matches!(
        kind,
        Redeclare
            | Final
            | Inner
            | Outer
            | Replaceable
            | Encapsulated
            | Partial
            | Pure
            | Impure
            | Expandable
            | Operator
    )
}

fn is_class_word(kind: TokenKind) -> bool {
    matches!(
        kind,
        Class | Model | Record | Block | Connector | Type | Package | Function | Operator
    )
}
