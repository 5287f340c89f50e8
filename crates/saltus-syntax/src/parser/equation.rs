//! Equation and algorithm sections.

use super::Parser;
use crate::ast::{
    BinaryOp, ComponentRef, Equation, EquationKind, Expr, ExprKind, Section, SectionKind,
    Statement, StatementKind,
};
use crate::lexer::TokenKind;
use crate::{Diagnostic, Span};

/// What the two kinds of section have in common: a list of items in which some items hold lists again.
trait Item: Sized {
    const WHAT: &'static str;
    fn parse(parser: &mut Parser<'_>) -> Option<Self>;
}

impl Item for Equation {
    const WHAT: &'static str = "the equation";
    fn parse(parser: &mut Parser<'_>) -> Option<Self> {
        parser.equation()
    }
}

impl Item for Statement {
    const WHAT: &'static str = "the statement";
    fn parse(parser: &mut Parser<'_>) -> Option<Self> {
        parser.statement()
    }
}

impl Parser<'_> {
    pub(super) fn at_section_start(&self) -> bool {
        match self.tok.kind {
            TokenKind::Equation | TokenKind::Algorithm => true,
            TokenKind::Initial => {
                matches!(self.next.kind, TokenKind::Equation | TokenKind::Algorithm)
            }
            _ => false,
        }
    }

    /// `[ initial ] equation { equation ";" }` or `[ initial ] algorithm { statement ";" }`
    pub(super) fn section(&mut self) -> Section {
        let start = self.tok.start;
        let initial = self.eat(TokenKind::Initial);
        let is_equation = self.at(TokenKind::Equation);
        self.bump();
        let kind = if is_equation {
            SectionKind::Equations(self.items())
        } else {
            SectionKind::Algorithm(self.items())
        };
        Section {
            initial,
            kind,
            span: self.span_from(start),
        }
    }

    /// Items up to a token that ends the list: `end`, `else…`, a section keyword, a declaration.
    fn items<T: Item>(&mut self) -> Vec<T> {
        let mut items = Vec::new();
        loop {
            let start = self.tok.start;
            match self.tok.kind {
                TokenKind::Eof
                | TokenKind::End
                | TokenKind::Else
                | TokenKind::ElseIf
                | TokenKind::ElseWhen
                | TokenKind::Public
                | TokenKind::Protected
                | TokenKind::External
                | TokenKind::Annotation => break,
                TokenKind::Semicolon => {
                    self.stray_semicolon();
                    continue;
                }
                _ if self.at_section_start() || self.at_declaration_keyword() => break,
                _ => {}
            }
            items.extend(T::parse(self));
            self.expect_semicolon(T::WHAT);
            if self.tok.start == start {
                self.bump();
            }
        }
        items.shrink_to_fit();
        items
    }

    pub(super) fn stray_semicolon(&mut self) {
        self.report(
            Diagnostic::error(
                "syntax-error",
                self.tok_span(),
                "a `;` without anything before it",
            )
            .help("remove the `;`"),
        );
        self.bump();
    }

    fn equation(&mut self) -> Option<Equation> {
        if !self.enter() {
            return None;
        }
        let start = self.tok.start;
        let kind = self.equation_kind();
        self.leave();
        let kind = kind?;
        let (description, annotation) = self.description();
        Some(Equation {
            kind,
            description,
            annotation,
            span: self.span_from(start),
        })
    }

    fn equation_kind(&mut self) -> Option<EquationKind> {
        match self.tok.kind {
            TokenKind::If => {
                let (branches, otherwise) = self.branches(TokenKind::ElseIf);
                Some(EquationKind::If {
                    branches,
                    otherwise,
                })
            }
            TokenKind::When => {
                let (branches, _) = self.branches(TokenKind::ElseWhen);
                Some(EquationKind::When { branches })
            }
            TokenKind::For => {
                let start = self.tok_span();
                self.bump();
                let iterators = self.iterators();
                self.body_keyword(TokenKind::Loop);
                let body = self.block(TokenKind::For);
                self.end_of(TokenKind::For, start);
                Some(EquationKind::For { iterators, body })
            }
            TokenKind::Connect => {
                let (a, b) = self.connect()?;
                Some(EquationKind::Connect { a, b })
            }
            TokenKind::While | TokenKind::Return | TokenKind::Break => {
                self.expected_with_help(
                    "an equation",
                    format!("`{}` can stand only in an algorithm", self.tok.kind.text()),
                );
                None
            }
            _ => self.equality(),
        }
    }

    // connect "(" component-reference "," component-reference ")"
    pub(super) fn connect(&mut self) -> Option<(ComponentRef, ComponentRef)> {
        self.bump();
        if !self.expect(TokenKind::LParen, "after `connect`") {
            return None;
        }
        let a = self.component_ref()?;
        if !self.expect(TokenKind::Comma, "between the two connectors") {
            return None;
        }
        let b = self.component_ref()?;
        if !self.expect(TokenKind::RParen, "after the second connector") {
            return None;
        }
        Some((a, b))
    }

    fn equality(&mut self) -> Option<EquationKind> {
        let lhs = self.simple_expression();
        if self.panicking {
            return None;
        }
        if self.eat(TokenKind::Equals) {
            let rhs = self.expression();
            return (!self.panicking).then_some(EquationKind::Equal { lhs, rhs });
        }
        if matches!(lhs.kind, ExprKind::Call { .. }) && !self.at(TokenKind::Assign) {
            return Some(EquationKind::Call(lhs));
        }
        self.no_equality(lhs)
    }

    fn no_equality(&mut self, lhs: Expr) -> Option<EquationKind> {
        match (self.tok.kind, lhs.kind) {
            (TokenKind::Assign, _) => {
                self.report(
                    Diagnostic::error("syntax-error", self.tok_span(), "`:=` assigns in an algorithm, not in an equation")
                        .help("write `=` here, or move this to an `algorithm` section"),
                );
                self.bump();
                self.expression();
            }
            (_, ExprKind::Binary(BinaryOp::Eq, ..)) => self.report(
                Diagnostic::error("syntax-error", lhs.span, "`==` compares; an equation is written with `=`")
                    .help("replace `==` by `=`"),
            ),
            (TokenKind::Ident, ExprKind::Ref(_)) => self.expected_with_help(
                "`=`",
                "declarations stand before the first `equation` or `algorithm`, or after `public` or `protected`",
            ),
            _ => self.expected("`=`"),
        }
        None
    }

    fn statement(&mut self) -> Option<Statement> {
        if !self.enter() {
            return None;
        }
        let start = self.tok.start;
        let kind = self.statement_kind();
        self.leave();
        let kind = kind?;
        let (description, annotation) = self.description();
        Some(Statement {
            kind,
            description,
            annotation,
            span: self.span_from(start),
        })
    }

    fn statement_kind(&mut self) -> Option<StatementKind> {
        match self.tok.kind {
            TokenKind::If => {
                let (branches, otherwise) = self.branches(TokenKind::ElseIf);
                Some(StatementKind::If {
                    branches,
                    otherwise,
                })
            }
            TokenKind::When => {
                let (branches, _) = self.branches(TokenKind::ElseWhen);
                Some(StatementKind::When { branches })
            }
            TokenKind::For => {
                let start = self.tok_span();
                self.bump();
                let iterators = self.iterators();
                self.body_keyword(TokenKind::Loop);
                let body = self.block(TokenKind::For);
                self.end_of(TokenKind::For, start);
                Some(StatementKind::For { iterators, body })
            }
            TokenKind::While => {
                let start = self.tok_span();
                self.bump();
                let condition = self.condition();
                self.body_keyword(TokenKind::Loop);
                let body = self.block(TokenKind::While);
                self.end_of(TokenKind::While, start);
                Some(StatementKind::While { condition, body })
            }
            TokenKind::Break => {
                self.bump();
                Some(StatementKind::Break)
            }
            TokenKind::Return => {
                self.bump();
                Some(StatementKind::Return)
            }
            TokenKind::LParen => self.multi_assign(),
            TokenKind::Connect => {
                self.expected_with_help(
                    "a statement",
                    "`connect` can stand only in an equation section",
                );
                None
            }
            TokenKind::Ident | TokenKind::Dot => self.assign_or_call(),
            _ => {
                self.expected("a statement");
                None
            }
        }
    }

    fn assign_or_call(&mut self) -> Option<StatementKind> {
        let start = self.tok.start;
        let target = self.component_ref()?;
        match self.tok.kind {
            _ if self.panicking => None,
            TokenKind::LParen => {
                let kind = self.call(target);
                let span = self.span_from(start);
                (!self.panicking).then_some(StatementKind::Call(Expr { kind, span }))
            }
            TokenKind::Assign | TokenKind::Equals => {
                self.assign_symbol();
                let value = self.expression();
                (!self.panicking).then_some(StatementKind::Assign { target, value })
            }
            TokenKind::Ident => {
                self.expected_with_help(
                    "`:=`",
                    "declarations stand before the first `equation` or `algorithm`, or after `public` or `protected`",
                );
                None
            }
            _ => {
                self.expected("`:=` or `(`");
                None
            }
        }
    }

    /// `:=`; a `=` in its place is reported and taken for it.
    fn assign_symbol(&mut self) {
        if self.at(TokenKind::Equals) {
            self.report(
                Diagnostic::error(
                    "syntax-error",
                    self.tok_span(),
                    "`=` states an equation; an algorithm assigns with `:=`",
                )
                .help("replace `=` by `:=`"),
            );
        }
        self.bump();
    }

    // "(" output-expression-list ")" ":=" component-reference function-call-args
    fn multi_assign(&mut self) -> Option<StatementKind> {
        let items = self.output_list();
        let mut targets = Vec::with_capacity(items.len());
        for item in items {
            targets.push(match item {
                None => None,
                Some(Expr {
                    kind: ExprKind::Ref(target),
                    ..
                }) => Some(target),
                Some(other) => {
                    self.error(Diagnostic::error(
                        "syntax-error",
                        other.span,
                        "expected a variable to assign to",
                    ));
                    return None;
                }
            });
        }
        if self.panicking {
            return None;
        }
        if !matches!(self.tok.kind, TokenKind::Assign | TokenKind::Equals) {
            self.expected("`:=` after the list of variables");
            return None;
        }
        self.assign_symbol();
        let call = self.expression();
        if self.panicking {
            return None;
        }
        if !matches!(call.kind, ExprKind::Call { .. } | ExprKind::Error) {
            self.error(
                Diagnostic::error("syntax-error", call.span, "expected a function call")
                    .help("only the results of one call can be assigned to a list of variables"),
            );
            return None;
        }
        Some(StatementKind::MultiAssign { targets, call })
    }

    /// `if … then … { elseif … } [ else … ] end if` and `when … then … { elsewhen … } end when`,
    /// whichever the current token starts; `again` is the keyword of a further branch.
    fn branches<T: Item>(&mut self, again: TokenKind) -> (Vec<(Expr, Vec<T>)>, Vec<T>) {
        let start = self.tok_span();
        let opener = self.tok.kind;
        let mut branches = Vec::new();
        loop {
            self.bump();
            let condition = self.condition();
            self.body_keyword(TokenKind::Then);
            branches.push((condition, self.block(opener)));
            if !self.at(again) {
                break;
            }
        }
        let mut otherwise = Vec::new();
        if opener == TokenKind::If && self.eat(TokenKind::Else) {
            if self.at(TokenKind::If) && !self.at_line_start() {
                let at = self.tok_span();
                otherwise = self.block(opener);
                self.else_if_end(start, at);
                return (branches, otherwise);
            }
            otherwise = self.block(opener);
        }
        self.end_of(opener, start);
        (branches, otherwise)
    }

    /// After `else if` on one line: the likely mistake is that `elseif` was meant.
    fn else_if_end(&mut self, start: Span, inner: Span) {
        if self.at(TokenKind::End) && self.next.kind == TokenKind::If {
            self.end_of(TokenKind::If, start);
            return;
        }
        let message = format!("expected `end if`, found {}", self.found());
        self.report(
            Diagnostic::error("syntax-error", self.tok_span(), message)
                .secondary(inner, "this `if` needs an `end if` of its own")
                .help("write `elseif` instead of `else if`"),
        );
    }

    /// `then` or `loop` before a body. A missing one at the end of a line is taken as written; otherwise the rest
    /// of the head is skipped, so that the body is still read.
    fn body_keyword(&mut self, keyword: TokenKind) {
        if !self.panicking {
            if self.eat(keyword) {
                return;
            }
            let word = keyword.text();
            let message = format!("expected `{word}` before the body, found {}", self.found());
            if self.at_line_start() {
                let at = Span::new(self.file, self.prev_end, self.prev_end);
                self.report(
                    Diagnostic::error("syntax-error", at, message).help(format!("insert `{word}`")),
                );
                return;
            }
            self.error(Diagnostic::error("syntax-error", self.tok_span(), message));
        }
        while !matches!(self.tok.kind, TokenKind::Eof | TokenKind::Semicolon)
            && !self.at(keyword)
            && !self.at_stop()
        {
            self.bump();
        }
        if self.at(keyword) || self.at(TokenKind::Semicolon) {
            self.bump();
        }
        self.panicking = false;
    }

    /// The items of a body that `opener` began.
    fn block<T: Item>(&mut self, opener: TokenKind) -> Vec<T> {
        self.open_blocks.push(opener);
        let items = self.items();
        self.open_blocks.pop();
        items
    }

    /// `end if` and the like, for the construct that `opener` at `start` began.
    fn end_of(&mut self, opener: TokenKind, start: Span) {
        let word = opener.text();
        if self.at(TokenKind::End) && self.next.kind == opener {
            self.bump();
            self.bump();
            return;
        }
        let found = match (self.tok.kind, self.next.kind) {
            (TokenKind::End, TokenKind::Ident) => format!(
                "`end {}`",
                crate::lexer::shorten(&self.text[self.next.start as usize..self.next.end as usize])
            ),
            (TokenKind::End, kind) if kind.is_keyword() => format!("`end {}`", kind.text()),
            _ => self.found(),
        };
        self.report(
            Diagnostic::error(
                "syntax-error",
                self.tok_span(),
                format!("expected `end {word}`, found {found}"),
            )
            .secondary(start, format!("this `{word}` is not closed"))
            .help(format!("insert `end {word};`")),
        );
        let is_block_end = self.at(TokenKind::End)
            && matches!(
                self.next.kind,
                TokenKind::If | TokenKind::For | TokenKind::When | TokenKind::While
            );
        if is_block_end && !self.open_blocks.contains(&self.next.kind) {
            self.bump();
            self.bump();
        } else if !self.at(TokenKind::Semicolon) {
            // The token belongs to an enclosing construct: no second message about the missing `;`.
            self.last_error_at = Some(self.tok.start);
        }
    }
}
