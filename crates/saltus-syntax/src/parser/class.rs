//! Classes, their elements, and modifications.

use super::Parser;
use crate::ast::{
    Annotation, Argument, ArgumentKind, BreakTarget, Causality, ClassBody, ClassDef, ComponentDecl,
    ComponentRef, Composition, ConnectionPrefix, Constraint, Element, ElementKind, ElementPrefixes,
    EnumLiteral, Expr, ExprKind, Extends, External, Ident, Import, ImportKind, Modification, Path,
    Purity, Restriction, TypePrefixes, Variability, Visibility,
};
use crate::lexer::TokenKind;
use crate::{Diagnostic, Name, Span};
use std::sync::Arc;

/// What stands between a component's type and its name list, shared by all names of the list.
struct ComponentClause {
    start: u32,
    prefixes: ElementPrefixes,
    type_prefixes: TypePrefixes,
    ty: Path,
    type_dims: Vec<crate::ast::Subscript>,
}

impl Parser<'_> {
    pub(super) fn at_class_start(&self) -> bool {
        matches!(
            self.tok.kind,
            TokenKind::Encapsulated
                | TokenKind::Partial
                | TokenKind::Class
                | TokenKind::Model
                | TokenKind::Record
                | TokenKind::Block
                | TokenKind::Connector
                | TokenKind::Expandable
                | TokenKind::Type
                | TokenKind::Package
                | TokenKind::Function
                | TokenKind::Operator
                | TokenKind::Impure
        ) || (self.at(TokenKind::Pure) && self.next.kind != TokenKind::LParen)
    }

    /// At a keyword with which only a declaration starts (in a list of equations: a section is over).
    pub(super) fn at_declaration_keyword(&self) -> bool {
        self.at_class_start()
            || matches!(
                self.tok.kind,
                TokenKind::Import
                    | TokenKind::Extends
                    | TokenKind::Redeclare
                    | TokenKind::Replaceable
                    | TokenKind::Final
                    | TokenKind::Inner
                    | TokenKind::Outer
                    | TokenKind::Flow
                    | TokenKind::Stream
                    | TokenKind::Discrete
                    | TokenKind::Parameter
                    | TokenKind::Constant
                    | TokenKind::Input
                    | TokenKind::Output
            )
    }

    // class-definition : [ encapsulated ] class-prefixes class-specifier
    pub(super) fn class_definition(&mut self) -> Option<ClassDef> {
        if !self.enter() {
            return None;
        }
        let def = self.class_definition_inner();
        self.leave();
        def
    }

    fn class_definition_inner(&mut self) -> Option<ClassDef> {
        let start = self.tok.start;
        let encapsulated = self.eat(TokenKind::Encapsulated);
        let partial = self.eat(TokenKind::Partial);
        let (restriction, purity) = self.class_restriction()?;
        let is_class_extends = self.eat(TokenKind::Extends);
        let name = self.ident("the name of the class");
        if name.is_none() && !matches!(self.tok.kind, TokenKind::Equals | TokenKind::Semicolon) {
            // The body still follows: it is read for its own errors, then dropped.
            self.panicking = false;
        }
        let shown = name.unwrap_or(Ident {
            name: Name::new(""),
            span: self.tok_span(),
        });
        let mut def = ClassDef {
            name: shown,
            span: self.tok_span(),
            encapsulated,
            partial,
            purity,
            restriction,
            body: ClassBody::Enumeration(None),
            description: None,
            annotation: None,
        };
        if self.at(TokenKind::Equals) && !is_class_extends {
            self.bump();
            self.short_class(&mut def)?;
        } else if self.panicking {
            return None;
        } else {
            self.long_class(&mut def, is_class_extends);
        }
        def.span = self.span_from(start);
        name.map(|_| def)
    }

    fn class_restriction(&mut self) -> Option<(Restriction, Purity)> {
        while matches!(self.tok.kind, TokenKind::Encapsulated | TokenKind::Partial) {
            self.misplaced_class_prefix(
                "the order is `encapsulated partial model` (or another kind of class)",
            );
            self.bump();
        }
        let mut purity = match self.tok.kind {
            TokenKind::Pure => Purity::Pure,
            TokenKind::Impure => Purity::Impure,
            _ => Purity::Unstated,
        };
        if purity != Purity::Unstated {
            if !matches!(self.next.kind, TokenKind::Function | TokenKind::Operator) {
                self.misplaced_class_prefix("only a function is `pure` or `impure`");
                purity = Purity::Unstated;
            }
            self.bump();
        }
        let is_expandable = self.at(TokenKind::Expandable);
        if is_expandable {
            if self.next.kind != TokenKind::Connector {
                self.misplaced_class_prefix("only a connector is `expandable`");
            }
            self.bump();
        }
        let restriction = match self.tok.kind {
            TokenKind::Class => Restriction::Class,
            TokenKind::Model => Restriction::Model,
            TokenKind::Record => Restriction::Record,
            TokenKind::Block => Restriction::Block,
            TokenKind::Connector if is_expandable => Restriction::ExpandableConnector,
            TokenKind::Connector => Restriction::Connector,
            TokenKind::Type => Restriction::Type,
            TokenKind::Package => Restriction::Package,
            TokenKind::Function => Restriction::Function,
            TokenKind::Operator => match self.next.kind {
                TokenKind::Record => {
                    self.bump();
                    Restriction::OperatorRecord
                }
                TokenKind::Function => {
                    self.bump();
                    Restriction::OperatorFunction
                }
                _ => Restriction::Operator,
            },
            _ => {
                self.expected("the kind of the class (`model`, `package`, `function`, …)");
                return None;
            }
        };
        self.bump();
        Some((restriction, purity))
    }

    fn misplaced_class_prefix(&mut self, help: &str) {
        let message = format!("the prefix `{}` cannot stand here", self.tok.kind.text());
        self.report(Diagnostic::error("syntax-error", self.tok_span(), message).help(help));
    }

    // ---- short classes ----

    fn short_class(&mut self, def: &mut ClassDef) -> Option<()> {
        def.body = match self.tok.kind {
            TokenKind::Enumeration => ClassBody::Enumeration(self.enumeration()?),
            TokenKind::Der => self.derivative_class()?,
            _ => {
                let base_prefixes = self.type_prefixes();
                let base = self.path()?;
                let dims = self.optional_subscripts();
                let modification = if self.at(TokenKind::LParen) && !self.panicking {
                    Some(self.class_modification()?)
                } else {
                    None
                };
                ClassBody::Short {
                    base_prefixes,
                    base,
                    dims,
                    modification,
                }
            }
        };
        if self.panicking {
            return None;
        }
        (def.description, def.annotation) = self.description();
        Some(())
    }

    /// `None` inside for `enumeration(:)`.
    #[expect(
        clippy::option_option,
        reason = "outer: unreadable; inner: the unspecified enumeration"
    )]
    fn enumeration(&mut self) -> Option<Option<Vec<EnumLiteral>>> {
        self.bump();
        if !self.expect(TokenKind::LParen, "after `enumeration`") {
            return None;
        }
        if self.eat(TokenKind::Colon) {
            return self.expect(TokenKind::RParen, "after `:`").then_some(None);
        }
        let mut literals = Vec::new();
        while !self.at(TokenKind::RParen) {
            let name = self.ident("an enumeration literal")?;
            let (description, annotation) = self.description();
            literals.push(EnumLiteral {
                name,
                description,
                annotation,
            });
            if self.panicking || !self.at(TokenKind::Comma) {
                break;
            }
            self.bump();
            if self.at(TokenKind::RParen) {
                self.expected("an enumeration literal after `,`");
            }
        }
        (!self.panicking && self.expect(TokenKind::RParen, "after the enumeration literals"))
            .then_some(Some(literals))
    }

    // der "(" type-specifier "," IDENT { "," IDENT } ")"
    fn derivative_class(&mut self) -> Option<ClassBody> {
        self.bump();
        if !self.expect(TokenKind::LParen, "after `der`") {
            return None;
        }
        let base = self.path()?;
        let mut variables = Vec::new();
        while self.eat(TokenKind::Comma) {
            variables.push(self.ident("the name of an input of the function")?);
        }
        if variables.is_empty() {
            self.expected("`,` and the input to differentiate by");
            return None;
        }
        self.expect(TokenKind::RParen, "after the inputs to differentiate by")
            .then_some(ClassBody::Derivative { base, variables })
    }

    // ---- long classes ----

    fn long_class(&mut self, def: &mut ClassDef, is_class_extends: bool) {
        let class_extends = if is_class_extends && self.at(TokenKind::LParen) {
            let modification = self.class_modification();
            if self.panicking {
                self.sync();
            }
            modification
        } else {
            None
        };
        def.description = self.description_string();
        let (parts, annotation) = self.composition(def.name);
        def.annotation = annotation;
        def.body = ClassBody::Composition {
            class_extends,
            is_class_extends,
            parts,
        };
    }

    /// Everything up to and including `end IDENT`; also gives the class's annotation.
    fn composition(&mut self, name: Ident) -> (Composition, Option<Annotation>) {
        self.open_classes.push(name.name);
        let outer_blocks = std::mem::take(&mut self.open_blocks);
        let mut parts = Composition::default();
        let mut annotation = None;
        let mut visibility = Visibility::Public;
        // Declarations follow an equation section only after `public` or `protected`.
        let mut declarations_allowed = true;
        loop {
            let start = self.tok.start;
            match self.tok.kind {
                TokenKind::Eof => {
                    self.unclosed_class(name);
                    break;
                }
                TokenKind::End => {
                    if self.class_end(name) {
                        break;
                    }
                }
                TokenKind::Public | TokenKind::Protected => {
                    let is_public = self.at(TokenKind::Public);
                    visibility = if is_public {
                        Visibility::Public
                    } else {
                        Visibility::Protected
                    };
                    declarations_allowed = true;
                    self.bump();
                }
                TokenKind::Annotation => {
                    let more = self.annotation();
                    annotation = merge_annotations(annotation, more);
                    self.expect_semicolon("the annotation");
                }
                TokenKind::External => {
                    let external = self.external();
                    if parts.external.is_none() {
                        parts.external = external;
                    }
                    self.expect_semicolon("the external clause");
                }
                TokenKind::Semicolon => self.stray_semicolon(),
                _ if self.at_section_start() => {
                    declarations_allowed = false;
                    parts.sections.push(self.section());
                }
                _ => {
                    if !declarations_allowed && self.at_declaration_keyword() {
                        self.misplaced_declaration();
                    }
                    self.element(visibility, &mut parts.elements);
                    self.expect_semicolon("the declaration");
                }
            }
            if self.tok.start == start && !self.at(TokenKind::Eof) {
                self.bump();
            }
        }
        self.open_classes.pop();
        self.open_blocks = outer_blocks;
        parts.elements.shrink_to_fit();
        (parts, annotation)
    }

    fn misplaced_declaration(&mut self) {
        let message = "a declaration cannot follow an equation or algorithm section".to_owned();
        self.report(
            Diagnostic::error("syntax-error", self.tok_span(), message).help(
                "move it before the first section, or write `public` or `protected` before it",
            ),
        );
    }

    fn unclosed_class(&mut self, name: Ident) {
        let message = format!("expected `end {};`, found end of file", name.name);
        let mut diagnostic = Diagnostic::error("syntax-error", self.tok_span(), message);
        if !name.name.as_str().is_empty() {
            diagnostic = diagnostic.secondary(name.span, "this class is not closed");
        }
        self.report(diagnostic);
        self.panicking = false;
    }

    /// At an `end` in a class; `true` if the class ends with it.
    fn class_end(&mut self, name: Ident) -> bool {
        match self.next.kind {
            TokenKind::If | TokenKind::For | TokenKind::When | TokenKind::While => {
                let message = format!("`end {}` without its beginning", self.next.kind.text());
                self.report(Diagnostic::error("syntax-error", self.tok_span(), message));
                self.bump();
                self.bump();
                self.eat(TokenKind::Semicolon);
                return false;
            }
            TokenKind::Ident => {}
            _ => {
                self.bump();
                let help = format!("write `end {}`", name.name);
                self.expected_with_help("the name of the class after `end`", help);
                self.panicking = false;
                if self.tok.kind.is_keyword() && self.next.kind == TokenKind::Semicolon {
                    self.bump();
                }
                return true;
            }
        }
        let text = &self.text[self.next.start as usize..self.next.end as usize];
        if super::ident_name(text) != name.name && !name.name.as_str().is_empty() {
            let closes_outer = self.open_classes[..self.open_classes.len() - 1]
                .iter()
                .any(|n| n.as_str() == text);
            let span = Span::new(self.file, self.next.start, self.next.end);
            let message = format!(
                "expected `end {}`, found `end {}`",
                name.name,
                crate::lexer::shorten(text)
            );
            let help = if closes_outer {
                format!("insert `end {};` before this line", name.name)
            } else {
                format!("write `end {}`", name.name)
            };
            self.report(
                Diagnostic::error("mismatched-end-name", span, message)
                    .secondary(name.span, "the class that is to be closed")
                    .help(help),
            );
            if closes_outer {
                // The `;` of the missing `end` is missing too; that is the same mistake.
                self.last_error_at = Some(self.tok.start);
                return true;
            }
        }
        self.bump();
        self.bump();
        true
    }

    // external [ STRING ] [ [ component-reference "=" ] IDENT "(" [ expression-list ] ")" ] [ annotation ]
    fn external(&mut self) -> Option<External> {
        let start = self.tok.start;
        self.bump();
        let mut external = External {
            language: None,
            result: None,
            function: None,
            args: Vec::new(),
            annotation: None,
            span: self.tok_span(),
        };
        if self.at(TokenKind::String) {
            external.language = Some(super::string_value(self.tok_text()));
            self.bump();
        }
        if matches!(self.tok.kind, TokenKind::Ident | TokenKind::Dot) {
            let first = self.component_ref()?;
            if self.eat(TokenKind::Equals) {
                external.result = Some(first);
                external.function = Some(self.ident("the name of the external function")?);
            } else {
                external.function = Some(self.simple_name(&first)?);
            }
            if !self.expect(TokenKind::LParen, "after the name of the external function") {
                return None;
            }
            if !self.at(TokenKind::RParen) {
                external.args = self.expression_list();
            }
            if self.panicking
                || !self.expect(
                    TokenKind::RParen,
                    "after the arguments of the external function",
                )
            {
                return None;
            }
        }
        if self.at(TokenKind::Annotation) {
            external.annotation = self.annotation();
        }
        external.span = self.span_from(start);
        Some(external)
    }

    fn simple_name(&mut self, reference: &ComponentRef) -> Option<Ident> {
        match reference.parts.as_slice() {
            [only] if only.subscripts.is_empty() && !reference.global => Some(only.name),
            _ => {
                self.error(Diagnostic::error(
                    "syntax-error",
                    reference.span,
                    "expected the plain name of an external function",
                ));
                None
            }
        }
    }

    // ---- elements ----

    fn element(&mut self, visibility: Visibility, elements: &mut Vec<Element>) {
        let start = self.tok.start;
        match self.tok.kind {
            TokenKind::Import => {
                if let Some(import) = self.import() {
                    elements.push(Element {
                        visibility,
                        span: import.span,
                        kind: ElementKind::Import(import),
                    });
                }
            }
            TokenKind::Extends => {
                if let Some(extends) = self.extends() {
                    elements.push(Element {
                        visibility,
                        span: extends.span,
                        kind: ElementKind::Extends(extends),
                    });
                }
            }
            _ => {
                let prefixes = self.element_prefixes();
                if self.at_class_start() {
                    if let Some((def, constraint)) = self.class_with_constraint() {
                        let kind = ElementKind::Class {
                            prefixes,
                            def: Arc::new(def),
                            constraint,
                        };
                        elements.push(Element {
                            visibility,
                            span: self.span_from(start),
                            kind,
                        });
                    }
                } else {
                    self.component_clause(start, prefixes, visibility, elements);
                }
            }
        }
    }

    /// `[ redeclare ] [ final ] [ inner ] [ outer ] [ replaceable ]`, each once and in this order.
    fn element_prefixes(&mut self) -> ElementPrefixes {
        let mut prefixes = ElementPrefixes::default();
        let mut last_rank = 0;
        loop {
            let (flag, rank) = match self.tok.kind {
                TokenKind::Redeclare => (&mut prefixes.redeclare, 1),
                TokenKind::Final => (&mut prefixes.is_final, 2),
                TokenKind::Inner => (&mut prefixes.inner, 3),
                TokenKind::Outer => (&mut prefixes.outer, 4),
                TokenKind::Replaceable => (&mut prefixes.replaceable, 5),
                _ => return prefixes,
            };
            *flag = true;
            if rank <= last_rank {
                let word = self.tok.kind.text();
                self.report(
                    Diagnostic::error("syntax-error", self.tok_span(), format!("the prefix `{word}` cannot stand here"))
                        .help("the order of the prefixes is `redeclare final inner outer replaceable`, each at most once"),
                );
            }
            last_rank = last_rank.max(rank);
            self.bump();
        }
    }

    /// `[ flow | stream ] [ discrete | parameter | constant ] [ input | output ]`
    fn type_prefixes(&mut self) -> TypePrefixes {
        let mut prefixes = TypePrefixes::default();
        let mut last_rank = 0;
        loop {
            let rank = match self.tok.kind {
                TokenKind::Flow | TokenKind::Stream => {
                    let is_flow = self.at(TokenKind::Flow);
                    prefixes.connection = if is_flow {
                        ConnectionPrefix::Flow
                    } else {
                        ConnectionPrefix::Stream
                    };
                    1
                }
                TokenKind::Discrete => {
                    prefixes.variability = Some(Variability::Discrete);
                    2
                }
                TokenKind::Parameter => {
                    prefixes.variability = Some(Variability::Parameter);
                    2
                }
                TokenKind::Constant => {
                    prefixes.variability = Some(Variability::Constant);
                    2
                }
                TokenKind::Input => {
                    prefixes.causality = Some(Causality::Input);
                    3
                }
                TokenKind::Output => {
                    prefixes.causality = Some(Causality::Output);
                    3
                }
                _ => return prefixes,
            };
            if rank <= last_rank {
                let word = self.tok.kind.text();
                self.report(
                    Diagnostic::error("syntax-error", self.tok_span(), format!("the prefix `{word}` cannot stand here")).help(
                        "at most one of `flow stream`, then one of `discrete parameter constant`, then one of `input output`",
                    ),
                );
            }
            last_rank = last_rank.max(rank);
            self.bump();
        }
    }

    /// A class, and after it `constrainedby …` with a description that goes to the class.
    fn class_with_constraint(&mut self) -> Option<(ClassDef, Option<Constraint>)> {
        let mut def = self.class_definition()?;
        if self.panicking {
            return Some((def, None));
        }
        let constraint = self.constraint();
        if constraint.is_some() {
            let (description, annotation) = self.description();
            def.description = def.description.or(description);
            def.annotation = merge_annotations(def.annotation, annotation);
        }
        Some((def, constraint))
    }

    // import ( IDENT "=" name | name [ ".*" | "." ( "*" | "{" import-list "}" ) ] ) description
    fn import(&mut self) -> Option<Import> {
        let start = self.tok.start;
        self.bump();
        let kind = if self.at(TokenKind::Ident) && self.next.kind == TokenKind::Equals {
            let alias = self.ident("a name")?;
            self.bump();
            ImportKind::Renamed(alias, self.path()?)
        } else {
            let path = self.path()?;
            if self.eat(TokenKind::DotStar) {
                ImportKind::Wildcard(path)
            } else if self.eat(TokenKind::Dot) {
                if self.eat(TokenKind::Star) {
                    ImportKind::Wildcard(path)
                } else {
                    ImportKind::Group(path, self.import_group()?)
                }
            } else {
                ImportKind::Qualified(path)
            }
        };
        let span = self.span_from(start);
        // Neither the description nor the annotation of an import has a meaning.
        self.description();
        Some(Import { kind, span })
    }

    fn import_group(&mut self) -> Option<Vec<Ident>> {
        if !self.expect(TokenKind::LBrace, "of the list of names to import") {
            return None;
        }
        let mut names = Vec::new();
        loop {
            names.push(self.ident("a name to import")?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RBrace, "after the names to import")
            .then_some(names)
    }

    fn extends(&mut self) -> Option<Extends> {
        let start = self.tok.start;
        self.bump();
        let base = self.path()?;
        let modification = if self.at(TokenKind::LParen) {
            Some(self.class_modification()?)
        } else {
            None
        };
        if self.panicking {
            return None;
        }
        let span = self.span_from(start);
        if self.at(TokenKind::String) {
            self.report(
                Diagnostic::error(
                    "syntax-error",
                    self.tok_span(),
                    "an extends clause has no description",
                )
                .help("remove the string, or make it a comment"),
            );
            self.description_string();
        }
        let annotation = if self.at(TokenKind::Annotation) {
            self.annotation()
        } else {
            None
        };
        Some(Extends {
            base,
            modification,
            annotation,
            span,
        })
    }

    fn constraint(&mut self) -> Option<Constraint> {
        if !self.at(TokenKind::ConstrainedBy) {
            return None;
        }
        let start = self.tok.start;
        self.bump();
        let base = self.path()?;
        let modification = if self.at(TokenKind::LParen) {
            self.class_modification()
        } else {
            None
        };
        Some(Constraint {
            base,
            modification,
            span: self.span_from(start),
        })
    }

    // ---- components ----

    fn component_clause(
        &mut self,
        start: u32,
        prefixes: ElementPrefixes,
        visibility: Visibility,
        elements: &mut Vec<Element>,
    ) {
        let Some(clause) = self.component_type(start, prefixes) else {
            return;
        };
        let first = elements.len();
        loop {
            let Some(decl) = self.component_declaration(&clause) else {
                return;
            };
            elements.push(Element {
                visibility,
                span: self.span_from(start),
                kind: ElementKind::Component(Arc::new(decl)),
            });
            if self.panicking || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if self.panicking || !self.at(TokenKind::ConstrainedBy) {
            return;
        }
        let Some(constraint) = self.constraint() else {
            return;
        };
        let (description, annotation) = self.description();
        for element in &mut elements[first..] {
            if let ElementKind::Component(decl) = &mut element.kind {
                constrain(
                    Arc::make_mut(decl),
                    &constraint,
                    description.as_ref(),
                    annotation.as_ref(),
                );
            }
        }
    }

    fn component_type(&mut self, start: u32, prefixes: ElementPrefixes) -> Option<ComponentClause> {
        let type_prefixes = self.type_prefixes();
        if !matches!(self.tok.kind, TokenKind::Ident | TokenKind::Dot) {
            self.no_declaration();
            return None;
        }
        let ty = self.path()?;
        let type_dims = self.optional_subscripts();
        (!self.panicking).then_some(ComponentClause {
            start,
            prefixes,
            type_prefixes,
            ty,
            type_dims,
        })
    }

    fn no_declaration(&mut self) {
        let what = "a declaration";
        match self.tok.kind {
            TokenKind::Connect
            | TokenKind::If
            | TokenKind::For
            | TokenKind::When
            | TokenKind::Der => {
                self.expected_with_help(what, "equations stand in an `equation` section");
            }
            TokenKind::Within => {
                self.expected_with_help(what, "`within` stands only at the top of a file")
            }
            _ => self.expected(what),
        }
    }

    /// `IDENT [ array-subscripts ] [ modification ] [ if expression ] description`
    fn component_declaration(&mut self, clause: &ComponentClause) -> Option<ComponentDecl> {
        let start = self.tok.start;
        if matches!(
            self.tok.kind,
            TokenKind::Equals
                | TokenKind::Assign
                | TokenKind::LParen
                | TokenKind::Plus
                | TokenKind::Minus
        ) && start != clause.start
        {
            self.expected_with_help(
                "the name of a component after its type",
                "equations stand in an `equation` section, statements in an `algorithm` section",
            );
            return None;
        }
        let name = self.ident("the name of a component")?;
        let mut dims = self.optional_subscripts();
        dims.extend(clause.type_dims.iter().cloned());
        let modification = self.optional_modification();
        let condition = if !self.panicking && self.eat(TokenKind::If) {
            Some(self.expression())
        } else {
            None
        };
        let (description, annotation) = self.description();
        Some(ComponentDecl {
            name,
            span: self.span_from(start),
            prefixes: clause.prefixes,
            type_prefixes: clause.type_prefixes,
            ty: clause.ty.clone(),
            dims,
            modification,
            condition,
            description,
            annotation,
            constraint: None,
        })
    }

    // ---- modifications ----

    fn optional_modification(&mut self) -> Option<Modification> {
        if self.panicking {
            return None;
        }
        match self.tok.kind {
            TokenKind::LParen => {
                let mut modification = self.class_modification()?;
                if !self.panicking && self.at(TokenKind::Equals) {
                    modification.value = Some(self.modification_value());
                    modification.span = self.span_from(modification.span.start);
                }
                Some(modification)
            }
            TokenKind::Equals | TokenKind::Assign => {
                let start = self.tok.start;
                let value = Some(self.modification_value());
                Some(Modification {
                    args: Vec::new(),
                    value,
                    span: self.span_from(start),
                })
            }
            _ => None,
        }
    }

    fn modification_value(&mut self) -> Expr {
        self.bump();
        if self.at(TokenKind::Break) {
            let span = self.tok_span();
            self.bump();
            return Expr {
                kind: ExprKind::Break,
                span,
            };
        }
        self.expression()
    }

    /// `"(" [ argument { "," argument } ] ")"`
    fn class_modification(&mut self) -> Option<Modification> {
        let start = self.tok.start;
        if !self.enter() {
            return None;
        }
        let args = self.arguments();
        self.leave();
        Some(Modification {
            args,
            value: None,
            span: self.span_from(start),
        })
    }

    fn arguments(&mut self) -> Vec<Argument> {
        self.bump();
        if self.eat(TokenKind::RParen) {
            return Vec::new();
        }
        let base = self.pending_args.len();
        loop {
            if let Some(argument) = self.argument() {
                self.pending_args.push(argument);
            }
            if self.panicking || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if !self.panicking && !self.eat(TokenKind::RParen) {
            match self.tok.kind {
                TokenKind::Semicolon | TokenKind::Eof => {
                    self.expected_with_help("`,` or `)`", "insert `)`")
                }
                TokenKind::LBracket => {
                    self.expected_with_help(
                        "`=`, `,` or `)`",
                        "an element of an array cannot be modified alone",
                    );
                }
                _ => self.expected("`,` or `)`"),
            }
        }
        self.pending_args.drain(base..).collect()
    }

    fn argument(&mut self) -> Option<Argument> {
        let start = self.tok.start;
        let mut prefixes = ElementPrefixes {
            redeclare: self.eat(TokenKind::Redeclare),
            ..Default::default()
        };
        prefixes.each = self.eat(TokenKind::Each);
        prefixes.is_final = self.eat(TokenKind::Final);
        if self.at(TokenKind::Each) && !prefixes.each {
            self.report(
                Diagnostic::error(
                    "syntax-error",
                    self.tok_span(),
                    "`each` must stand before `final`",
                )
                .help("write `each final`"),
            );
            self.bump();
            prefixes.each = true;
        }
        prefixes.replaceable = self.eat(TokenKind::Replaceable);
        let kind = if self.at(TokenKind::Break) {
            ArgumentKind::Break(self.break_target()?)
        } else if self.at_class_start() {
            self.class_argument()?
        } else if prefixes.redeclare || prefixes.replaceable {
            self.component_argument(start, prefixes)?
        } else {
            let path = self.argument_name()?;
            let modification = self.optional_modification();
            ArgumentKind::Modify {
                path,
                modification,
                description: self.description_string(),
            }
        };
        Some(Argument {
            prefixes,
            kind,
            span: self.span_from(start),
        })
    }

    fn argument_name(&mut self) -> Option<Path> {
        if !self.at(TokenKind::Ident) && !self.tok.kind.is_keyword() {
            self.expected_with_help(
                "a modifier",
                "a modifier has the form `name = value` or `name(…)`",
            );
            return None;
        }
        let path = self.path()?;
        if self.at(TokenKind::Ident) {
            self.expected_with_help(
                "`=` or `(` after the name to modify",
                "to replace a component's declaration write `redeclare` before it",
            );
            return None;
        }
        Some(path)
    }

    fn break_target(&mut self) -> Option<BreakTarget> {
        self.bump();
        if self.at(TokenKind::Connect) {
            let (a, b) = self.connect()?;
            return Some(BreakTarget::Connect { a, b });
        }
        Some(BreakTarget::Element(
            self.ident("the element to take out, or `connect`")?,
        ))
    }

    fn class_argument(&mut self) -> Option<ArgumentKind> {
        let (def, constraint) = self.class_with_constraint()?;
        if matches!(def.body, ClassBody::Composition { .. }) {
            self.report(
                Diagnostic::error(
                    "syntax-error",
                    def.name.span,
                    "a modifier can hold only a short class definition",
                )
                .help(format!(
                    "define the class elsewhere and write `{} = …` here",
                    def.name.name
                )),
            );
        }
        Some(ArgumentKind::Class {
            def: Arc::new(def),
            constraint,
        })
    }

    fn component_argument(
        &mut self,
        start: u32,
        prefixes: ElementPrefixes,
    ) -> Option<ArgumentKind> {
        let clause = self.component_type(start, prefixes)?;
        let mut decl = self.component_declaration(&clause)?;
        if !self.panicking
            && let Some(constraint) = self.constraint()
        {
            let (description, annotation) = self.description();
            constrain(
                &mut decl,
                &constraint,
                description.as_ref(),
                annotation.as_ref(),
            );
        }
        Some(ArgumentKind::Component(Arc::new(decl)))
    }

    // ---- annotations and descriptions ----

    /// `description-string [ annotation-clause ]`
    pub(super) fn description(&mut self) -> (Option<Arc<str>>, Option<Annotation>) {
        if self.panicking {
            return (None, None);
        }
        let text = self.description_string();
        let annotation = if self.at(TokenKind::Annotation) {
            self.annotation()
        } else {
            None
        };
        (text, annotation)
    }

    /// At `annotation`.
    fn annotation(&mut self) -> Option<Annotation> {
        let start = self.tok.start;
        self.bump();
        if !self.at(TokenKind::LParen) {
            self.expected("`(` after `annotation`");
            return None;
        }
        let modification = self.class_modification()?;
        Some(Annotation {
            args: modification.args,
            span: self.span_from(start),
        })
    }
}

fn constrain(
    decl: &mut ComponentDecl,
    constraint: &Constraint,
    description: Option<&Arc<str>>,
    annotation: Option<&Annotation>,
) {
    decl.constraint = Some(constraint.clone());
    if decl.description.is_none() {
        decl.description = description.cloned();
    }
    decl.annotation = merge_annotations(decl.annotation.take(), annotation.cloned());
}

/// The arguments of both, one after the other.
fn merge_annotations(first: Option<Annotation>, second: Option<Annotation>) -> Option<Annotation> {
    match (first, second) {
        (Some(mut first), Some(second)) => {
            first.args.extend(second.args);
            first.span = first.span.to(second.span);
            Some(first)
        }
        (first, second) => first.or(second),
    }
}
