//! All places of a file at which a name stands, with what is needed to say what it names.
//!
//! Comes in: the tree of a file. Goes out: one [`Occurrence`] per identifier, in no promised order. Nothing is looked up here.

use saltus_syntax::Name;
use saltus_syntax::ast::*;

/// An identifier in a text.
pub struct Occurrence<'w, 'x> {
    pub ident: Ident,
    pub role: Role<'w, 'x>,
    /// The classes around it, outermost first.
    pub classes: &'w [&'x ClassDef],
    /// The iterators around it, outermost first.
    pub iterators: &'w [Ident],
}

/// What an identifier does.
#[derive(Clone, Copy)]
pub enum Role<'w, 'x> {
    Class(&'x ClassDef),
    Component(&'x ComponentDecl),
    Literal(&'x EnumLiteral),
    Iterator,
    /// `import D = A.B.C`
    Alias(&'x Path),
    /// A part of the name of a class.
    Type(&'x Path, usize),
    /// A part of an imported name.
    Import(&'x Path, usize),
    /// A name in the braces of an import.
    ImportedFrom(&'x Path),
    Within(&'x Path, usize),
    /// A part of a reference in an expression or equation.
    Reference(&'x ComponentRef, usize),
    /// A modified element: names from the class that is modified down to it.
    Modifier(&'x Path, &'w [Name]),
    /// An argument by name.
    Argument(&'x ComponentRef),
}

type Visit<'v, 'x> = &'v mut dyn FnMut(&Occurrence<'_, 'x>);

struct Walk<'v, 'x> {
    visit: Visit<'v, 'x>,
    /// Only what touches these offsets.
    range: (u32, u32),
    classes: Vec<&'x ClassDef>,
    iterators: Vec<Ident>,
    /// What is modified: the class, and the names down from it.
    base: Option<&'x Path>,
    names: Vec<Name>,
}

/// Visits the identifiers of a file whose places touch the range.
pub fn occurrences<'x>(
    file: &'x StoredDefinition,
    range: (u32, u32),
    visit: &mut dyn FnMut(&Occurrence<'_, 'x>),
) {
    let mut walk = Walk {
        visit,
        range,
        classes: Vec::new(),
        iterators: Vec::new(),
        base: None,
        names: Vec::new(),
    };
    if let Some(Some(path)) = &file.within {
        walk.path(path, Role::Within);
    }
    for class in &file.classes {
        walk.class(class);
    }
}

impl<'x> Walk<'_, 'x> {
    fn emit(&mut self, ident: Ident, role: Role<'_, 'x>) {
        if ident.span.end < self.range.0 || ident.span.start > self.range.1 {
            return;
        }
        (self.visit)(&Occurrence {
            ident,
            role,
            classes: &self.classes,
            iterators: &self.iterators,
        });
    }

    fn skips(&self, span: saltus_syntax::Span) -> bool {
        span.end < self.range.0 || span.start > self.range.1
    }

    fn path(&mut self, path: &'x Path, role: fn(&'x Path, usize) -> Role<'static, 'x>) {
        for (part, ident) in path.parts.iter().enumerate() {
            self.emit(*ident, role(path, part));
        }
    }

    fn class(&mut self, class: &'x ClassDef) {
        if self.skips(class.span) {
            return;
        }
        self.emit(class.name, Role::Class(class));
        self.class_body(class);
    }

    fn class_body(&mut self, class: &'x ClassDef) {
        match &class.body {
            ClassBody::Composition {
                class_extends,
                parts,
                ..
            } => {
                self.classes.push(class);
                if let Some(m) = class_extends {
                    self.values(m);
                }
                self.composition(parts);
                self.annotation(class.annotation.as_ref());
                self.classes.pop();
            }
            ClassBody::Short {
                base,
                dims,
                modification,
                ..
            } => {
                self.path(base, Role::Type);
                self.subscripts(dims);
                self.modified(base, modification.as_ref());
                self.annotation(class.annotation.as_ref());
            }
            ClassBody::Enumeration(literals) => {
                for literal in literals.iter().flatten() {
                    self.emit(literal.name, Role::Literal(literal));
                }
            }
            ClassBody::Derivative { base, .. } => self.path(base, Role::Type),
        }
    }

    fn composition(&mut self, parts: &'x Composition) {
        for element in &parts.elements {
            if self.skips(element.span) {
                continue;
            }
            match &element.kind {
                ElementKind::Import(import) => self.import(import),
                ElementKind::Extends(extends) => {
                    self.path(&extends.base, Role::Type);
                    self.modified(&extends.base, extends.modification.as_ref());
                    self.annotation(extends.annotation.as_ref());
                }
                ElementKind::Class {
                    def, constraint, ..
                } => {
                    self.class(def);
                    self.constraint(constraint.as_ref());
                }
                ElementKind::Component(decl) => {
                    self.emit(decl.name, Role::Component(decl));
                    self.component(decl);
                }
            }
        }
        for section in &parts.sections {
            match &section.kind {
                _ if self.skips(section.span) => {}
                SectionKind::Equations(equations) => self.equations(equations),
                SectionKind::Algorithm(statements) => self.statements(statements),
            }
        }
        if let Some(external) = &parts.external {
            self.reference(external.result.as_ref());
            self.exprs(&external.args);
            self.annotation(external.annotation.as_ref());
        }
    }

    fn import(&mut self, import: &'x Import) {
        match &import.kind {
            ImportKind::Qualified(path) | ImportKind::Wildcard(path) => {
                self.path(path, Role::Import)
            }
            ImportKind::Renamed(alias, path) => {
                self.emit(*alias, Role::Alias(path));
                self.path(path, Role::Import);
            }
            ImportKind::Group(path, names) => {
                self.path(path, Role::Import);
                for name in names {
                    self.emit(*name, Role::ImportedFrom(path));
                }
            }
        }
    }

    /// All of a component but its name.
    fn component(&mut self, decl: &'x ComponentDecl) {
        self.path(&decl.ty, Role::Type);
        self.subscripts(&decl.dims);
        self.modified(&decl.ty, decl.modification.as_ref());
        self.maybe(decl.condition.as_ref());
        self.annotation(decl.annotation.as_ref());
        self.constraint(decl.constraint.as_ref());
    }

    fn constraint(&mut self, constraint: Option<&'x Constraint>) {
        if let Some(constraint) = constraint {
            self.path(&constraint.base, Role::Type);
            self.modified(&constraint.base, constraint.modification.as_ref());
        }
    }

    /// Modifiers of a class that is named.
    fn modified(&mut self, base: &'x Path, modification: Option<&'x Modification>) {
        let Some(modification) = modification else {
            return;
        };
        let outer = (self.base.replace(base), std::mem::take(&mut self.names));
        self.modification(modification);
        (self.base, self.names) = outer;
    }

    fn modification(&mut self, modification: &'x Modification) {
        if self.skips(modification.span) {
            return;
        }
        for arg in &modification.args {
            self.argument(arg);
        }
        self.maybe(modification.value.as_ref());
    }

    fn argument(&mut self, arg: &'x Argument) {
        match &arg.kind {
            ArgumentKind::Modify {
                path, modification, ..
            } => {
                for part in &path.parts {
                    self.names.push(part.name);
                    self.modifier(*part);
                }
                if let Some(m) = modification {
                    self.modification(m);
                }
                self.names.truncate(self.names.len() - path.parts.len());
            }
            ArgumentKind::Class { def, constraint } => {
                self.names.push(def.name.name);
                self.modifier(def.name);
                self.names.pop();
                self.class_body(def);
                self.constraint(constraint.as_ref());
            }
            ArgumentKind::Component(decl) => {
                self.names.push(decl.name.name);
                self.modifier(decl.name);
                self.names.pop();
                self.component(decl);
            }
            ArgumentKind::Break(BreakTarget::Element(ident)) => {
                self.names.push(ident.name);
                self.modifier(*ident);
                self.names.pop();
            }
            ArgumentKind::Break(BreakTarget::Connect { .. }) => {}
        }
    }

    fn modifier(&mut self, ident: Ident) {
        if let Some(base) = self.base {
            let names = std::mem::take(&mut self.names);
            self.emit(ident, Role::Modifier(base, &names));
            self.names = names;
        }
    }

    /// In annotations names of arguments are fixed by the language; only values name things of the text.
    fn annotation(&mut self, annotation: Option<&'x Annotation>) {
        let Some(annotation) = annotation else {
            return;
        };
        if self.skips(annotation.span) {
            return;
        }
        let base = self.base.take();
        for arg in &annotation.args {
            if let ArgumentKind::Modify {
                modification: Some(m),
                ..
            } = &arg.kind
            {
                self.values(m);
            }
        }
        self.base = base;
    }

    fn values(&mut self, modification: &'x Modification) {
        for arg in &modification.args {
            if let ArgumentKind::Modify {
                modification: Some(m),
                ..
            } = &arg.kind
            {
                self.values(m);
            }
        }
        self.maybe(modification.value.as_ref());
    }

    fn equations(&mut self, equations: &'x [Equation]) {
        for equation in equations {
            if self.skips(equation.span) {
                continue;
            }
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
                    self.under(iterators, |walk| walk.equations(body));
                }
                EquationKind::When { branches } => {
                    for (condition, body) in branches {
                        self.expr(condition);
                        self.equations(body);
                    }
                }
                EquationKind::Connect { a, b } => {
                    self.reference(Some(a));
                    self.reference(Some(b));
                }
                EquationKind::Call(call) => self.expr(call),
            }
            self.annotation(equation.annotation.as_ref());
        }
    }

    fn statements(&mut self, statements: &'x [Statement]) {
        for statement in statements {
            if self.skips(statement.span) {
                continue;
            }
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.reference(Some(target));
                    self.expr(value);
                }
                StatementKind::MultiAssign { targets, call } => {
                    for target in targets.iter().flatten() {
                        self.reference(Some(target));
                    }
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
                    self.under(iterators, |walk| walk.statements(body));
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
            self.annotation(statement.annotation.as_ref());
        }
    }

    /// Each iterator is known in what follows it.
    fn under(&mut self, iterators: &'x [Iterator], work: impl FnOnce(&mut Self)) {
        for iterator in iterators {
            self.maybe(iterator.range.as_ref());
            self.emit(iterator.name, Role::Iterator);
            self.iterators.push(iterator.name);
        }
        work(self);
        self.iterators
            .truncate(self.iterators.len() - iterators.len());
    }

    fn reference(&mut self, reference: Option<&'x ComponentRef>) {
        let Some(reference) = reference else {
            return;
        };
        for (part, place) in reference.parts.iter().enumerate() {
            self.emit(place.name, Role::Reference(reference, part));
            self.subscripts(&place.subscripts);
        }
    }

    fn subscripts(&mut self, subscripts: &'x [Subscript]) {
        for subscript in subscripts {
            if let Subscript::Expr(e) = subscript {
                self.expr(e);
            }
        }
    }

    fn maybe(&mut self, e: Option<&'x Expr>) {
        if let Some(e) = e {
            self.expr(e);
        }
    }

    fn exprs(&mut self, exprs: &'x [Expr]) {
        for e in exprs {
            self.expr(e);
        }
    }

    fn expr(&mut self, e: &'x Expr) {
        if self.skips(e.span) {
            return;
        }
        match &e.kind {
            ExprKind::Ref(reference) => self.reference(Some(reference)),
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
                self.maybe(step.as_deref());
                self.expr(stop);
            }
            ExprKind::Call { function, args } => {
                self.reference(Some(function));
                self.exprs(&args.positional);
                self.named(function, &args.named);
            }
            ExprKind::Array(elements) => self.exprs(elements),
            ExprKind::Comprehension {
                function,
                body,
                iterators,
            } => {
                self.reference(function.as_ref());
                self.under(iterators, |walk| walk.expr(body));
            }
            ExprKind::Matrix(rows) => {
                for row in rows {
                    self.exprs(row);
                }
            }
            ExprKind::Tuple(elements) => {
                for element in elements.iter().flatten() {
                    self.expr(element);
                }
            }
            ExprKind::PartialFunction { function, named } => {
                self.reference(Some(function));
                self.named(function, named);
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

    fn named(&mut self, function: &'x ComponentRef, named: &'x [(Ident, Expr)]) {
        for (name, value) in named {
            self.emit(*name, Role::Argument(function));
            self.expr(value);
        }
    }
}
