//! Expressions and component references.

use super::{EXPR_HEIGHT_MAX, Parser, string_value};
use crate::ast::{
    BinaryOp, CallArgs, ComponentRef, Expr, ExprKind, Ident, Iterator, RefPart, Subscript, UnaryOp,
};
use crate::lexer::TokenKind;
use crate::{Diagnostic, Name, Span};

/// Binding strengths, weakest first. `not` binds weaker than a relation, a sign weaker than a product.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const RELATION: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const POWER: u8 = 7;

fn binary_op(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        TokenKind::Or => (BinaryOp::Or, OR),
        TokenKind::And => (BinaryOp::And, AND),
        TokenKind::Less => (BinaryOp::Lt, RELATION),
        TokenKind::LessEq => (BinaryOp::Le, RELATION),
        TokenKind::Greater => (BinaryOp::Gt, RELATION),
        TokenKind::GreaterEq => (BinaryOp::Ge, RELATION),
        TokenKind::EqEq => (BinaryOp::Eq, RELATION),
        TokenKind::NotEqual => (BinaryOp::Ne, RELATION),
        TokenKind::Plus => (BinaryOp::Add, SUM),
        TokenKind::Minus => (BinaryOp::Sub, SUM),
        TokenKind::DotPlus => (BinaryOp::ElemAdd, SUM),
        TokenKind::DotMinus => (BinaryOp::ElemSub, SUM),
        TokenKind::Star => (BinaryOp::Mul, PRODUCT),
        TokenKind::Slash => (BinaryOp::Div, PRODUCT),
        TokenKind::DotStar => (BinaryOp::ElemMul, PRODUCT),
        TokenKind::DotSlash => (BinaryOp::ElemDiv, PRODUCT),
        TokenKind::Caret => (BinaryOp::Pow, POWER),
        TokenKind::DotCaret => (BinaryOp::ElemPow, POWER),
        _ => return None,
    })
}

fn sign_op(kind: TokenKind) -> Option<UnaryOp> {
    Some(match kind {
        TokenKind::Minus => UnaryOp::Minus,
        TokenKind::Plus => UnaryOp::Plus,
        TokenKind::DotMinus => UnaryOp::ElemMinus,
        TokenKind::DotPlus => UnaryOp::ElemPlus,
        _ => return None,
    })
}

/// The arguments of a call: a plain list, or a reduction.
enum Arguments {
    List(CallArgs),
    Reduction(Box<Expr>, Vec<Iterator>),
}

impl Parser<'_> {
    // expression : simple-expression | if expression then expression { elseif … } else expression
    pub(super) fn expression(&mut self) -> Expr {
        if !self.enter() {
            return self.error_expr();
        }
        let outer_height = std::mem::take(&mut self.height);
        let mut expr = match self.tok.kind {
            TokenKind::If => self.if_expression(),
            _ => self.range(),
        };
        self.height += 1;
        if self.height > EXPR_HEIGHT_MAX {
            self.too_deep(format!(
                "more than {EXPR_HEIGHT_MAX} levels of operators in one expression"
            ));
            expr = self.error_expr();
        }
        self.height = self.height.max(outer_height);
        self.leave();
        expr
    }

    /// `expression` without the leading `if`, as on the left of an equation.
    pub(super) fn simple_expression(&mut self) -> Expr {
        self.expression()
    }

    fn error_expr(&self) -> Expr {
        Expr {
            kind: ExprKind::Error,
            span: self.span_from(self.prev_end),
        }
    }

    /// An expression after which a `=` in place of `==` is likely.
    pub(super) fn condition(&mut self) -> Expr {
        let condition = self.expression();
        if !self.at(TokenKind::Equals) || self.panicking {
            return condition;
        }
        self.report(
            Diagnostic::error(
                "syntax-error",
                self.tok_span(),
                "`=` states an equation; equality is tested with `==`",
            )
            .help("replace `=` by `==`"),
        );
        self.bump();
        self.expression();
        self.error_expr()
    }

    fn if_expression(&mut self) -> Expr {
        let start = self.tok.start;
        let mut branches = Vec::new();
        loop {
            self.bump();
            let condition = self.condition();
            if !self.expect(TokenKind::Then, "after the condition") {
                return self.error_expr();
            }
            branches.push((condition, self.expression()));
            if !self.at(TokenKind::ElseIf) {
                break;
            }
        }
        if !self.at(TokenKind::Else) {
            self.expected_with_help(
                "`else` of the if-expression",
                "an if-expression needs an `else` branch",
            );
            return self.error_expr();
        }
        self.bump();
        let otherwise = Box::new(self.expression());
        Expr {
            kind: ExprKind::If {
                branches,
                otherwise,
            },
            span: self.span_from(start),
        }
    }

    // simple-expression : logical-expression [ ":" logical-expression [ ":" logical-expression ] ]
    fn range(&mut self) -> Expr {
        let start = self.tok.start;
        let first = self.binary(OR);
        if !self.at(TokenKind::Colon) {
            return first;
        }
        self.bump();
        let second = self.binary(OR);
        let (step, stop) = if self.eat(TokenKind::Colon) {
            (Some(Box::new(second)), self.binary(OR))
        } else {
            (None, second)
        };
        self.height += 1;
        Expr {
            kind: ExprKind::Range {
                start: Box::new(first),
                step,
                stop: Box::new(stop),
            },
            span: self.span_from(start),
        }
    }

    /// Operators that bind at least as strongly as `strength_min` (precedence climbing).
    fn binary(&mut self, strength_min: u8) -> Expr {
        let start = self.tok.start;
        let mut left = match self.tok.kind {
            TokenKind::Not if strength_min <= NOT => {
                self.bump();
                self.unary(start, UnaryOp::Not, RELATION)
            }
            kind if strength_min <= SUM => match sign_op(kind) {
                Some(op) => {
                    self.bump();
                    self.unary(start, op, PRODUCT)
                }
                None => self.primary(),
            },
            _ => self.primary(),
        };
        let mut last_strength = u8::MAX;
        while let Some((op, strength)) = binary_op(self.tok.kind) {
            if strength < strength_min || self.panicking {
                break;
            }
            if strength == last_strength && (strength == RELATION || strength == POWER) {
                self.chained_operator(strength);
            }
            last_strength = strength;
            self.bump();
            let right = self.binary(strength + 1);
            self.height += 1;
            if self.height > EXPR_HEIGHT_MAX {
                self.too_deep(format!(
                    "more than {EXPR_HEIGHT_MAX} levels of operators in one expression"
                ));
                return self.error_expr();
            }
            left = Expr {
                kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
                span: self.span_from(start),
            };
        }
        left
    }

    fn unary(&mut self, start: u32, op: UnaryOp, strength: u8) -> Expr {
        let operand = self.binary(strength);
        self.height += 1;
        Expr {
            kind: ExprKind::Unary(op, Box::new(operand)),
            span: self.span_from(start),
        }
    }

    fn chained_operator(&mut self, strength: u8) {
        let op = self.tok.kind.text();
        let (message, help) = if strength == RELATION {
            (
                format!("relations cannot be chained: second relation `{op}`"),
                "write `a < b and b < c`",
            )
        } else {
            (
                format!("powers cannot be chained: second `{op}`"),
                "write `(a^b)^c` or `a^(b^c)`",
            )
        };
        self.error(Diagnostic::error("syntax-error", self.tok_span(), message).help(help));
    }

    fn primary(&mut self) -> Expr {
        let start = self.tok.start;
        let kind = match self.tok.kind {
            TokenKind::Ident | TokenKind::Dot => return self.reference_or_call(),
            TokenKind::Integer => self.integer(),
            TokenKind::Real => self.real(),
            TokenKind::String => {
                let value = string_value(self.tok_text());
                self.bump();
                ExprKind::String(value)
            }
            TokenKind::True | TokenKind::False => {
                let value = self.at(TokenKind::True);
                self.bump();
                ExprKind::Boolean(value)
            }
            TokenKind::LParen => return self.parenthesized(),
            TokenKind::LBracket => self.matrix(),
            TokenKind::LBrace => self.array(),
            TokenKind::Der | TokenKind::Initial | TokenKind::Pure => {
                let function = self.keyword_function();
                if !self.at(TokenKind::LParen) {
                    self.expected(&format!("`(` after `{}`", function.parts[0].name.name));
                    return self.error_expr();
                }
                self.call(function)
            }
            TokenKind::End if self.in_subscript => {
                self.bump();
                ExprKind::End
            }
            _ => {
                self.no_expression();
                return self.error_expr();
            }
        };
        Expr {
            kind,
            span: self.span_from(start),
        }
    }

    fn no_expression(&mut self) {
        match self.tok.kind {
            TokenKind::Minus
            | TokenKind::Plus
            | TokenKind::DotMinus
            | TokenKind::DotPlus
            | TokenKind::Not => {
                let example = if self.at(TokenKind::Not) {
                    "a == (not b)"
                } else {
                    "a*(-b)"
                };
                self.expected_with_help(
                    "an operand",
                    format!("put parentheses around the operand and its sign, as in `{example}`"),
                );
            }
            TokenKind::If => {
                self.expected_with_help("an operand", "put the if-expression in parentheses");
            }
            TokenKind::End => {
                self.expected_with_help(
                    "an expression",
                    "`end` is an expression only inside array subscripts",
                );
            }
            kind if kind.is_keyword() && !self.at_stop() => {
                let word = kind.text();
                self.expected_with_help(
                    "an expression",
                    format!("`{word}` is a reserved word; a variable of this name must be quoted: `'{word}'`"),
                );
            }
            TokenKind::Equals => {
                self.expected_with_help("an expression", "equality is tested with `==`");
            }
            _ => self.expected("an expression"),
        }
    }

    fn integer(&mut self) -> ExprKind {
        let text = self.tok_text();
        let kind = match text.parse::<i64>() {
            Ok(value) => ExprKind::Integer(value),
            Err(_) => {
                self.report(
                    Diagnostic::error(
                        "invalid-number",
                        self.tok_span(),
                        "this integer is too large",
                    )
                    .label(format!("the largest integer is {}", i64::MAX))
                    .help("write a Real number, as in `1e20`"),
                );
                ExprKind::Error
            }
        };
        self.bump();
        kind
    }

    fn real(&mut self) -> ExprKind {
        let kind = match self.tok_text().parse::<f64>() {
            Ok(value) if value.is_finite() => ExprKind::Real(value),
            _ => {
                self.report(
                    Diagnostic::error(
                        "invalid-number",
                        self.tok_span(),
                        "this number is too large",
                    )
                    .label(format!("the largest Real number is about {:.3e}", f64::MAX)),
                );
                ExprKind::Error
            }
        };
        self.bump();
        kind
    }

    /// `( … )`: a plain parenthesis leaves no node, a list of two or more is a tuple.
    fn parenthesized(&mut self) -> Expr {
        let start = self.tok.start;
        let mut items = self.output_list();
        let span = self.span_from(start);
        if self.at(TokenKind::LBracket) && !self.panicking {
            self.error(
                Diagnostic::error(
                    "syntax-error",
                    self.tok_span(),
                    "an expression in parentheses has no subscripts",
                )
                .help("give the expression a name and write subscripts on the name"),
            );
        }
        if items.len() == 1
            && let Some(only) = items[0].take()
        {
            return Expr {
                kind: only.kind,
                span,
            };
        }
        let is_left_side = matches!(self.tok.kind, TokenKind::Equals | TokenKind::Assign);
        if items.len() <= 1 {
            items.clear();
            if !is_left_side {
                self.error(Diagnostic::error(
                    "syntax-error",
                    span,
                    "expected an expression in the parentheses",
                ));
                return self.error_expr();
            }
        }
        Expr {
            kind: ExprKind::Tuple(items),
            span,
        }
    }

    // "(" [ expression ] { "," [ expression ] } ")"
    pub(super) fn output_list(&mut self) -> Vec<Option<Expr>> {
        self.bump();
        let mut items = Vec::new();
        loop {
            items.push(match self.tok.kind {
                TokenKind::Comma | TokenKind::RParen => None,
                _ => Some(self.expression()),
            });
            if !self.eat(TokenKind::Comma) || self.panicking {
                break;
            }
        }
        self.close(TokenKind::RParen);
        items
    }

    /// The closing bracket of a list.
    fn close(&mut self, bracket: TokenKind) -> bool {
        if self.panicking {
            return false;
        }
        if self.eat(bracket) {
            return true;
        }
        if let Some(diagnostic) = self.glued_number() {
            self.error(diagnostic);
            return false;
        }
        let help = match self.tok.kind {
            TokenKind::Equals => Some("equality is tested with `==`".to_owned()),
            TokenKind::Semicolon | TokenKind::Eof => Some(format!("insert `{}`", bracket.text())),
            _ => None,
        };
        let what = format!("`,` or `{}`", bracket.text());
        match help {
            Some(help) => self.expected_with_help(&what, help),
            None => self.expected(&what),
        }
        false
    }

    pub(super) fn expression_list(&mut self) -> Vec<Expr> {
        let first = self.expression();
        self.more_expressions(first)
    }

    /// `first { "," expression }`. Collected on a shared stack, so that the list is allocated once and fits.
    fn more_expressions(&mut self, first: Expr) -> Vec<Expr> {
        let base = self.pending.len();
        self.pending.push(first);
        while !self.panicking && self.eat(TokenKind::Comma) {
            let next = self.expression();
            self.pending.push(next);
        }
        self.pending.drain(base..).collect()
    }

    fn matrix(&mut self) -> ExprKind {
        self.bump();
        let mut rows = vec![self.expression_list()];
        while !self.panicking && self.eat(TokenKind::Semicolon) {
            rows.push(self.expression_list());
        }
        self.close(TokenKind::RBracket);
        ExprKind::Matrix(rows)
    }

    fn array(&mut self) -> ExprKind {
        self.bump();
        if self.eat(TokenKind::RBrace) {
            return ExprKind::Array(Vec::new());
        }
        let first = self.expression();
        if self.at(TokenKind::For) && !self.panicking {
            let iterators = self.comprehension_iterators();
            self.close(TokenKind::RBrace);
            return ExprKind::Comprehension {
                function: None,
                body: Box::new(first),
                iterators,
            };
        }
        let items = self.more_expressions(first);
        self.close(TokenKind::RBrace);
        ExprKind::Array(items)
    }

    fn comprehension_iterators(&mut self) -> Vec<Iterator> {
        self.bump();
        self.iterators()
    }

    // for-indices : for-index { "," for-index }    for-index : IDENT [ in expression ]
    pub(super) fn iterators(&mut self) -> Vec<Iterator> {
        let mut iterators = Vec::new();
        while let Some(name) = self.ident("the name of an iterator") {
            if self.at(TokenKind::Equals) {
                self.expected_with_help("`in`", format!("write `{} in …`", name.name));
            }
            let range = if self.eat(TokenKind::In) {
                Some(self.expression())
            } else {
                None
            };
            iterators.push(Iterator { name, range });
            if self.panicking || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        iterators
    }

    // ---- references and calls ----

    fn reference_or_call(&mut self) -> Expr {
        let start = self.tok.start;
        let Some(reference) = self.component_ref() else {
            return self.error_expr();
        };
        let kind = if self.at(TokenKind::LParen) && !self.panicking {
            let call = self.call(reference);
            if matches!(self.tok.kind, TokenKind::LBracket | TokenKind::Dot) && !self.panicking {
                self.error(
                    Diagnostic::error(
                        "syntax-error",
                        self.tok_span(),
                        "the result of a call has no subscripts or parts",
                    )
                    .help("assign the result to a variable first"),
                );
            }
            call
        } else {
            ExprKind::Ref(reference)
        };
        Expr {
            kind,
            span: self.span_from(start),
        }
    }

    // component-reference : [ "." ] IDENT [ array-subscripts ] { "." IDENT [ array-subscripts ] }
    pub(super) fn component_ref(&mut self) -> Option<ComponentRef> {
        let start = self.tok.start;
        let global = self.eat(TokenKind::Dot);
        let mut parts = Vec::with_capacity(1);
        loop {
            let name = self.ident("a name")?;
            let subscripts = self.optional_subscripts();
            parts.push(RefPart { name, subscripts });
            if self.panicking || !self.eat(TokenKind::Dot) {
                break;
            }
        }
        Some(ComponentRef {
            global,
            parts,
            span: self.span_from(start),
        })
    }

    pub(super) fn optional_subscripts(&mut self) -> Vec<Subscript> {
        if !self.at(TokenKind::LBracket) || self.panicking {
            return Vec::new();
        }
        self.bump();
        let outer = std::mem::replace(&mut self.in_subscript, true);
        let mut subscripts = Vec::with_capacity(1);
        loop {
            subscripts.push(if self.at(TokenKind::Colon) {
                let span = self.tok_span();
                self.bump();
                Subscript::All(span)
            } else {
                Subscript::Expr(self.expression())
            });
            if self.panicking || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.in_subscript = outer;
        self.close(TokenKind::RBracket);
        subscripts
    }

    /// `der`, `initial` or `pure` as the name of a function.
    fn keyword_function(&mut self) -> ComponentRef {
        let span = self.tok_span();
        let name = Ident {
            name: Name::new(self.tok.kind.text()),
            span,
        };
        self.bump();
        ComponentRef {
            global: false,
            parts: vec![RefPart {
                name,
                subscripts: Vec::new(),
            }],
            span,
        }
    }

    /// At the `(` of a call.
    pub(super) fn call(&mut self, function: ComponentRef) -> ExprKind {
        match self.function_arguments() {
            Arguments::List(args) => ExprKind::Call { function, args },
            Arguments::Reduction(body, iterators) => ExprKind::Comprehension {
                function: Some(function),
                body,
                iterators,
            },
        }
    }

    fn function_arguments(&mut self) -> Arguments {
        self.bump();
        let mut args = CallArgs::default();
        if self.eat(TokenKind::RParen) {
            return Arguments::List(args);
        }
        loop {
            if self.at(TokenKind::Ident) && self.next.kind == TokenKind::Equals {
                args.named.extend(self.named_argument());
            } else {
                let start = self.tok_span();
                let value = self.function_argument();
                if self.at(TokenKind::For) && args.positional.is_empty() && args.named.is_empty() {
                    let iterators = self.comprehension_iterators();
                    self.close(TokenKind::RParen);
                    return Arguments::Reduction(Box::new(value), iterators);
                }
                if !args.named.is_empty() {
                    self.positional_after_named(start);
                }
                args.positional.push(value);
            }
            if self.panicking || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::RParen);
        args.positional.shrink_to_fit();
        args.named.shrink_to_fit();
        Arguments::List(args)
    }

    fn positional_after_named(&mut self, at: Span) {
        self.report(
            Diagnostic::error(
                "syntax-error",
                at,
                "a positional argument cannot follow a named one",
            )
            .help("write the positional arguments first, or name this one too"),
        );
    }

    fn named_argument(&mut self) -> Option<(Ident, Expr)> {
        let name = self.ident("the name of an argument")?;
        self.bump();
        Some((name, self.function_argument()))
    }

    // function-argument : function type-specifier "(" [ named-arguments ] ")" | expression
    fn function_argument(&mut self) -> Expr {
        if !self.at(TokenKind::Function) {
            return self.expression();
        }
        let start = self.tok.start;
        self.bump();
        let Some(function) = self.component_ref() else {
            return self.error_expr();
        };
        if !self.at(TokenKind::LParen) {
            self.expected("`(` after the function's name");
            return self.error_expr();
        }
        if !self.enter() {
            return self.error_expr();
        }
        let arguments = self.function_arguments();
        self.leave();
        self.height += 1;
        let span = self.span_from(start);
        match arguments {
            Arguments::List(CallArgs { positional, named }) if positional.is_empty() => Expr {
                kind: ExprKind::PartialFunction { function, named },
                span,
            },
            _ => {
                self.report(
                    Diagnostic::error(
                        "syntax-error",
                        span,
                        "a partial function application takes only named arguments",
                    )
                    .help("write `name = value` for each argument"),
                );
                self.error_expr()
            }
        }
    }
}
