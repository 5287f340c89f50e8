//! The walk over a user's text: every name that leads into the library, and every modifier of one of its classes, is compared with the rules.

use crate::Version;
use crate::edits::{Edit, apply_within};
use crate::rules::Rules;
use crate::symbols::{Class, Found, Symbols, inside, text, within};
use saltus_syntax::Span;
use saltus_syntax::ast::{
    Annotation, ArgumentKind, CallArgs, ClassBody, ClassDef, ComponentDecl, ComponentRef,
    Composition, Constraint, Element, ElementKind, Equation, EquationKind, Expr, ExprKind, Ident,
    Import, ImportKind, Path, SectionKind, Statement, StatementKind, StoredDefinition, Subscript,
};

pub(crate) struct Pass<'a> {
    pub(crate) symbols: &'a Symbols<'a>,
    pub(crate) rules: &'a Rules,
    to: &'a Version<'a>,
    pub(crate) text: &'a str,
    pub(crate) edits: Vec<Edit>,
    notes: Vec<(Span, String)>,
    /// The class whose text is read, by its qualified name.
    pub(crate) scope: String,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(
        symbols: &'a Symbols<'a>,
        rules: &'a Rules,
        to: &'a Version<'a>,
        text: &'a str,
    ) -> Pass<'a> {
        Pass {
            symbols,
            rules,
            to,
            text,
            edits: Vec::new(),
            notes: Vec::new(),
            scope: String::new(),
        }
    }

    pub(crate) fn finish(self) -> (Vec<Edit>, Vec<(Span, String)>) {
        (self.edits, self.notes)
    }

    pub(crate) fn note(&mut self, span: Span, text: String) {
        if !self.notes.contains(&(span, text.clone())) {
            self.notes.push((span, text));
        }
    }

    pub(crate) fn definition(&mut self, definition: &'a StoredDefinition) {
        self.scope = within(definition);
        for class in &definition.classes {
            self.class(class);
        }
    }

    fn class(&mut self, class: &'a ClassDef) {
        let inner = inside(&self.scope, class.name.name.as_str());
        let around = std::mem::replace(&mut self.scope, inner);
        match &class.body {
            ClassBody::Composition {
                class_extends,
                parts,
                ..
            } => {
                if let Some(modification) = class_extends {
                    self.modification(modification, &[], None);
                }
                self.composition(parts);
            }
            ClassBody::Short {
                base,
                dims,
                modification,
                ..
            } => {
                // The name of the base is looked up around the class.
                let inner = std::mem::replace(&mut self.scope, around.clone());
                let led = self.class_path(base);
                self.scope = inner;
                self.subscripts(dims);
                let end = self.after_subscripts(base.span.end as usize);
                self.modified(led, modification.as_ref(), end, base.span);
            }
            ClassBody::Enumeration(_) | ClassBody::Derivative { .. } => {}
        }
        if let Some(annotation) = &class.annotation {
            self.uses(annotation);
            self.annotation(annotation);
        }
        self.scope = around;
    }

    fn composition(&mut self, parts: &'a Composition) {
        parts
            .elements
            .iter()
            .for_each(|element| self.element(element));
        for section in &parts.sections {
            match &section.kind {
                SectionKind::Equations(equations) => self.equations(equations),
                SectionKind::Algorithm(statements) => self.statements(statements),
            }
        }
        if let Some(external) = &parts.external {
            external.args.iter().for_each(|e| self.expr(e));
        }
    }

    fn element(&mut self, element: &'a Element) {
        match &element.kind {
            ElementKind::Import(import) => self.import(import),
            ElementKind::Extends(extends) => {
                let led = self.class_path(&extends.base);
                let end = extends.base.span.end as usize;
                self.modified(led, extends.modification.as_ref(), end, extends.base.span);
                extends.annotation.iter().for_each(|a| self.annotation(a));
            }
            ElementKind::Class {
                def, constraint, ..
            } => {
                self.class(def);
                constraint.iter().for_each(|c| self.constraint(c));
            }
            ElementKind::Component(decl) => self.component(decl),
        }
    }

    pub(crate) fn constraint(&mut self, constraint: &'a Constraint) {
        let led = self.class_path(&constraint.base);
        let end = constraint.base.span.end as usize;
        self.modified(
            led,
            constraint.modification.as_ref(),
            end,
            constraint.base.span,
        );
    }

    pub(crate) fn component(&mut self, decl: &'a ComponentDecl) {
        let led = match self.chosen_class(decl) {
            Some(led) => Some(led),
            None => self.class_path(&decl.ty),
        };
        self.subscripts(&decl.dims);
        let end = self.after_subscripts(decl.name.span.end as usize);
        self.modified(led, decl.modification.as_ref(), end, decl.name.span);
        decl.condition.iter().for_each(|e| self.expr(e));
        decl.annotation.iter().for_each(|a| self.annotation(a));
        decl.constraint.iter().for_each(|c| self.constraint(c));
    }

    /// An imported name keeps its short name in the text, by a name of its own where the last part changes.
    fn import(&mut self, import: &'a Import) {
        let (path, short) = match &import.kind {
            ImportKind::Qualified(path) => (path, path.parts.last()),
            ImportKind::Renamed(_, path)
            | ImportKind::Wildcard(path)
            | ImportKind::Group(path, _) => (path, None),
        };
        let old = text(path);
        let Some(Class::Library(old)) = self.symbols.absolute(&old) else {
            return;
        };
        self.tell_message(&old, path.span);
        let new = self.rules.renamed(&old);
        if new == old {
            return;
        }
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let replacement = match short {
            Some(short) if last(&new) != short.name.as_str() => {
                format!("{} = {new}", short.name.as_str())
            }
            _ => new,
        };
        self.replace(parts_span(path), replacement);
    }

    /// A class by name: the name is written anew if a rule moved the class. Returns what it stands for, by its old name.
    pub(crate) fn class_path(&mut self, path: &Path) -> Option<Class> {
        let names: Vec<&str> = path.parts.iter().map(|p| p.name.as_str()).collect();
        let led = match path.global {
            true => self.symbols.lead("", &names),
            false => self.symbols.lead(&self.scope, &names),
        }?;
        if let Class::Library(old) = &led.class {
            let old = old.clone();
            self.tell_message(&old, path.span);
            if let Some(new) = self.moved(&old, led.entry.as_deref(), &names[led.n..]) {
                self.replace(parts_span(path), new);
            }
        }
        Some(led.class)
    }

    /// The new name of a class, if what is written for it does not lead there any more.
    fn moved(&mut self, old: &str, entry: Option<&str>, rest: &[&str]) -> Option<String> {
        let new = self.rules.renamed(old);
        let entry = self.rules.renamed(entry.unwrap_or(old));
        let written = rest.iter().fold(entry, |class, name| inside(&class, name));
        (new != written).then_some(new)
    }

    pub(crate) fn replace(&mut self, span: Span, new: String) {
        if let Some(obsolete) = new
            .split('.')
            .next()
            .filter(|first| *first != self.to.library)
            && !new.starts_with(&format!("{}.", self.scope))
            && obsolete.starts_with("Obsolete")
        {
            self.note(
                span,
                format!(
                    "`{new}` is kept for old texts only: the library `{obsolete}` is needed for it"
                ),
            );
        }
        self.edits.push(Edit::replace(span, new));
    }

    pub(crate) fn tell_message(&mut self, class: &str, span: Span) {
        if let Some(text) = self.rules.message(class) {
            let text = format!("`{class}`: {text}");
            self.note(span, text);
        }
    }

    /// `uses(Modelica(version = "3.2.3"))`
    fn uses(&mut self, annotation: &'a Annotation) {
        for arg in &annotation.args {
            let Some(("uses", args)) = modify(&arg.kind) else {
                continue;
            };
            for library in args {
                let Some((name, attributes)) = modify(&library.kind) else {
                    continue;
                };
                if name != self.to.library {
                    continue;
                }
                for attribute in attributes {
                    if let ArgumentKind::Modify {
                        path,
                        modification: Some(m),
                        ..
                    } = &attribute.kind
                        && path.parts[0].name.as_str() == "version"
                        && let Some(value) = &m.value
                    {
                        let new = format!("\"{}\"", self.to.number);
                        let span = value.span;
                        if self.text[span.start as usize..span.end as usize] != new {
                            self.edits.push(Edit::replace(span, new));
                        }
                    }
                }
            }
        }
    }

    pub(crate) fn annotation(&mut self, annotation: &'a Annotation) {
        annotation
            .args
            .iter()
            .for_each(|arg| self.argument(arg, &[], None));
    }

    fn equations(&mut self, equations: &'a [Equation]) {
        for equation in equations {
            match &equation.kind {
                EquationKind::Equal { lhs, rhs } => {
                    self.expr(lhs);
                    self.expr(rhs);
                }
                EquationKind::If {
                    branches,
                    otherwise,
                } => {
                    for (condition, body) in branches {
                        self.expr(condition);
                        self.equations(body);
                    }
                    self.equations(otherwise);
                }
                EquationKind::For { iterators, body } => {
                    iterators
                        .iter()
                        .flat_map(|i| &i.range)
                        .for_each(|e| self.expr(e));
                    self.equations(body);
                }
                EquationKind::When { branches } => {
                    for (condition, body) in branches {
                        self.expr(condition);
                        self.equations(body);
                    }
                }
                EquationKind::Connect { a, b } => {
                    self.reference(a);
                    self.reference(b);
                }
                EquationKind::Call(call) => self.expr(call),
            }
            equation.annotation.iter().for_each(|a| self.annotation(a));
        }
    }

    fn statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.reference(target);
                    self.expr(value);
                }
                StatementKind::MultiAssign { targets, call } => {
                    targets.iter().flatten().for_each(|t| self.reference(t));
                    self.expr(call);
                }
                StatementKind::Call(call) => self.expr(call),
                StatementKind::If {
                    branches,
                    otherwise,
                } => {
                    for (condition, body) in branches {
                        self.expr(condition);
                        self.statements(body);
                    }
                    self.statements(otherwise);
                }
                StatementKind::For { iterators, body } => {
                    iterators
                        .iter()
                        .flat_map(|i| &i.range)
                        .for_each(|e| self.expr(e));
                    self.statements(body);
                }
                StatementKind::While { condition, body } => {
                    self.expr(condition);
                    self.statements(body);
                }
                StatementKind::When { branches } => {
                    for (condition, body) in branches {
                        self.expr(condition);
                        self.statements(body);
                    }
                }
                StatementKind::Break | StatementKind::Return => {}
            }
            statement.annotation.iter().for_each(|a| self.annotation(a));
        }
    }

    pub(crate) fn subscripts(&mut self, subscripts: &'a [Subscript]) {
        for subscript in subscripts {
            if let Subscript::Expr(e) = subscript {
                self.expr(e);
            }
        }
    }

    pub(crate) fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Ref(reference) => self.reference(reference),
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::If {
                branches,
                otherwise,
            } => {
                for (condition, value) in branches {
                    self.expr(condition);
                    self.expr(value);
                }
                self.expr(otherwise);
            }
            ExprKind::Range { start, step, stop } => {
                self.expr(start);
                step.iter().for_each(|e| self.expr(e));
                self.expr(stop);
            }
            ExprKind::Call { function, args } => self.call(function, args),
            ExprKind::Array(elements) => elements.iter().for_each(|e| self.expr(e)),
            ExprKind::Comprehension {
                function,
                body,
                iterators,
            } => {
                function.iter().for_each(|f| self.reference(f));
                self.expr(body);
                iterators
                    .iter()
                    .flat_map(|i| &i.range)
                    .for_each(|e| self.expr(e));
            }
            ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|e| self.expr(e)),
            ExprKind::Tuple(parts) => parts.iter().flatten().for_each(|e| self.expr(e)),
            ExprKind::PartialFunction { function, named } => {
                let class = self.reference_to(function);
                self.named(class.as_ref(), named);
            }
            ExprKind::Integer(_)
            | ExprKind::Real(_)
            | ExprKind::String(_)
            | ExprKind::Boolean(_)
            | ExprKind::End
            | ExprKind::Break
            | ExprKind::Error => {}
        }
    }

    fn call(&mut self, function: &'a ComponentRef, args: &'a CallArgs) {
        let class = self.reference_to(function);
        args.positional.iter().for_each(|e| self.expr(e));
        self.named(class.as_ref(), &args.named);
    }

    /// Named arguments are elements of the function.
    fn named(&mut self, class: Option<&Class>, named: &'a [(Ident, Expr)]) {
        let classes = class.map_or(Vec::new(), |class| self.symbols.of_library(class));
        for (name, value) in named {
            self.rename_element(&classes, name);
            self.expr(value);
        }
    }

    /// Writes the new name of an element of one of `classes`.
    pub(crate) fn rename_element(&mut self, classes: &[String], name: &Ident) {
        let old = name.name.as_str();
        for class in classes {
            if let Some(text) = self.rules.element_message(class, old) {
                let text = format!("`{old}` of `{class}`: {text}");
                self.note(name.span, text);
            }
            if let Some(new) = self.rules.renamed_elements(class, &[old]) {
                return self.edits.push(Edit::replace(name.span, new.join(".")));
            }
        }
    }

    fn reference(&mut self, reference: &'a ComponentRef) {
        self.reference_to(reference);
    }

    /// A component, constant or function by name. Returns the class that it is, if it is one.
    fn reference_to(&mut self, reference: &'a ComponentRef) -> Option<Class> {
        for part in &reference.parts {
            self.subscripts(&part.subscripts);
        }
        let names: Vec<&str> = reference
            .parts
            .iter()
            .map(|p| p.name.name.as_str())
            .collect();
        let scope = match reference.global {
            true => "",
            false => self.scope.as_str(),
        };
        match self.symbols.find(scope, names[0]) {
            Some(Found::Component(decl, owner)) => {
                self.elements_of(decl, &owner, reference, 1);
                None
            }
            Some(Found::Class(Class::User(_))) | Some(Found::Class(Class::Library(_))) => {
                self.class_reference(scope.to_owned(), &names, reference)
            }
            None => {
                // It may be inherited from the library.
                let own = Class::User(self.scope.clone());
                let classes = self.symbols.of_library(&own);
                self.rename_element(&classes, &reference.parts[0].name);
                None
            }
        }
    }

    fn class_reference(
        &mut self,
        scope: String,
        names: &[&str],
        reference: &'a ComponentRef,
    ) -> Option<Class> {
        // The longest beginning that is a class; behind it may be a constant of the user's.
        let led = (1..=names.len())
            .rev()
            .find_map(|n| self.symbols.lead(&scope, &names[..n]))?;
        if let Class::Library(old) = &led.class {
            let old = old.clone();
            let span = reference.parts[0]
                .name
                .span
                .to(reference.parts[names.len() - 1].name.span);
            self.tell_message(&old, span);
            let is_plain =
                (reference.parts[..names.len() - 1].iter()).all(|part| part.subscripts.is_empty());
            if is_plain && let Some(new) = self.moved(&old, led.entry.as_deref(), &names[led.n..]) {
                self.replace(span, new);
            }
        }
        Some(led.class)
    }

    /// The parts from `k` on are elements of a component.
    fn elements_of(
        &mut self,
        decl: &ComponentDecl,
        owner: &str,
        reference: &'a ComponentRef,
        k: usize,
    ) {
        let parts = &reference.parts[k..];
        let Some(first) = parts.first() else {
            return;
        };
        let ty: Vec<&str> = decl.ty.parts.iter().map(|p| p.name.as_str()).collect();
        let Some(led) = self.symbols.lead(owner, &ty) else {
            return;
        };
        if let Class::User(class) = &led.class
            && let Some(Found::Component(inner, owner)) =
                self.symbols.member(class, first.name.name.as_str())
        {
            return self.elements_of(inner, &owner, reference, k + 1);
        }
        let classes = self.symbols.of_library(&led.class);
        let names: Vec<&str> = parts.iter().map(|p| p.name.name.as_str()).collect();
        let plain = parts.iter().take_while(|p| p.subscripts.is_empty()).count();
        let n = names.len().min(plain + 1);
        for class in &classes {
            if let Some(text) = self.rules.element_message(class, names[0]) {
                let text = format!("`{}` of `{class}`: {text}", names[0]);
                self.note(first.name.span, text);
            }
            if let Some(new) = self.rules.renamed_elements(class, &names[..n]) {
                let span = first.name.span.to(parts[n - 1].name.span);
                return self.edits.push(Edit::replace(span, new.join(".")));
            }
        }
    }

    /// The text of an expression as it is after the conversion.
    pub(crate) fn converted(&mut self, e: &'a Expr) -> String {
        let before = self.edits.len();
        self.expr(e);
        let own = self.edits.split_off(before);
        apply_within(self.text, e.span, own)
    }

    /// Behind the subscripts that may follow `at`.
    fn after_subscripts(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        if !rest.trim_start().starts_with('[') {
            return at;
        }
        let mut depth = 0usize;
        for (i, c) in rest.char_indices() {
            match c {
                '[' => depth += 1,
                ']' if depth == 1 => return at + i + 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        at
    }
}

/// From the first to the last name, without a dot before.
fn parts_span(path: &Path) -> Span {
    match (path.parts.first(), path.parts.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => path.span,
    }
}

/// `name(arguments)`
fn modify(kind: &ArgumentKind) -> Option<(&str, &[saltus_syntax::ast::Argument])> {
    match kind {
        ArgumentKind::Modify {
            path,
            modification: Some(m),
            ..
        } => Some((path.parts[0].name.as_str(), &m.args)),
        _ => None,
    }
}
