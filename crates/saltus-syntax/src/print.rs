//! The syntax tree as text, for `saltus show --stage ast` and for tests.
//!
//! The text is Modelica again, in one fixed layout: one component per declaration, elements before sections,
//! every operator in parentheses, so that it shows how the source was understood. Parsing it gives the same
//! tree but for places. Expressions that could not be read appear as `<error>`.

use crate::ast::{
    Annotation, Argument, ArgumentKind, BinaryOp, BreakTarget, CallArgs, Causality, ClassBody,
    ClassDef, ComponentDecl, ComponentRef, Composition, ConnectionPrefix, Constraint, Element,
    ElementKind, ElementPrefixes, Equation, EquationKind, Expr, ExprKind, Extends, External, Ident,
    Import, ImportKind, Iterator, Modification, Path, Purity, Restriction, Section, SectionKind,
    Statement, StatementKind, StoredDefinition, Subscript, TypePrefixes, UnaryOp, Variability,
    Visibility,
};
use std::sync::Arc;

/// The whole file.
pub fn print_ast(definition: &StoredDefinition) -> String {
    let mut printer = Printer::default();
    if let Some(within) = &definition.within {
        printer.put("within");
        if let Some(path) = within {
            printer.put(" ");
            printer.path(path);
        }
        printer.end_line(";");
    }
    for class in &definition.classes {
        printer.class(class);
        printer.end_line(";");
    }
    printer.out
}

/// One class.
pub fn print_class(class: &ClassDef) -> String {
    let mut printer = Printer::default();
    printer.class(class);
    printer.end_line(";");
    printer.out
}

/// One expression, on one line.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expr(expr);
    printer.out
}

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    /// Appends to the current line; at the start of a line the indent comes first.
    fn put(&mut self, text: &str) {
        if self.out.is_empty() || self.out.ends_with('\n') {
            for _ in 0..self.indent {
                self.out.push_str("  ");
            }
        }
        self.out.push_str(text);
    }

    fn end_line(&mut self, text: &str) {
        self.put(text);
        self.out.push('\n');
    }

    fn flag(&mut self, is_set: bool, word: &str) {
        if is_set {
            self.put(word);
            self.put(" ");
        }
    }

    fn list<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            one(self, item);
        }
    }

    fn ident(&mut self, ident: &Ident) {
        self.put(ident.name.as_str());
    }

    fn path(&mut self, path: &Path) {
        for (index, part) in path.parts.iter().enumerate() {
            if index > 0 || path.global {
                self.put(".");
            }
            self.ident(part);
        }
    }

    fn string(&mut self, text: &str) {
        let mut quoted = String::with_capacity(text.len() + 2);
        quoted.push('"');
        for c in text.chars() {
            match c {
                '"' => quoted.push_str("\\\""),
                '\\' => quoted.push_str("\\\\"),
                '\n' => quoted.push_str("\\n"),
                '\r' => quoted.push_str("\\r"),
                '\t' => quoted.push_str("\\t"),
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        self.put(&quoted);
    }

    fn description(&mut self, text: Option<&Arc<str>>, annotation: Option<&Annotation>) {
        if let Some(text) = text {
            self.put(" ");
            self.string(text);
        }
        if let Some(annotation) = annotation {
            self.put(" ");
            self.annotation(annotation);
        }
    }

    fn annotation(&mut self, annotation: &Annotation) {
        self.put("annotation(");
        self.list(&annotation.args, Self::argument);
        self.put(")");
    }

    // ---- classes ----

    fn class(&mut self, class: &ClassDef) {
        self.flag(class.encapsulated, "encapsulated");
        self.flag(class.partial, "partial");
        self.flag(class.purity == Purity::Pure, "pure");
        self.flag(class.purity == Purity::Impure, "impure");
        self.put(restriction_word(class.restriction));
        self.put(" ");
        match &class.body {
            ClassBody::Composition {
                class_extends,
                is_class_extends,
                parts,
            } => {
                self.flag(*is_class_extends, "extends");
                self.ident(&class.name);
                if let Some(modification) = class_extends {
                    self.modification(modification);
                }
                self.description(class.description.as_ref(), None);
                self.out.push('\n');
                self.composition(parts, class.annotation.as_ref());
                self.put("end ");
                self.ident(&class.name);
                return;
            }
            ClassBody::Short {
                base_prefixes,
                base,
                dims,
                modification,
            } => {
                self.ident(&class.name);
                self.put(" = ");
                self.type_prefixes(base_prefixes);
                self.path(base);
                self.subscripts(dims);
                if let Some(modification) = modification {
                    self.modification(modification);
                }
            }
            ClassBody::Enumeration(literals) => {
                self.ident(&class.name);
                self.put(" = enumeration(");
                match literals {
                    None => self.put(":"),
                    Some(literals) => self.list(literals, |p, literal| {
                        p.ident(&literal.name);
                        p.description(literal.description.as_ref(), literal.annotation.as_ref());
                    }),
                }
                self.put(")");
            }
            ClassBody::Derivative { base, variables } => {
                self.ident(&class.name);
                self.put(" = der(");
                self.path(base);
                for variable in variables {
                    self.put(", ");
                    self.ident(variable);
                }
                self.put(")");
            }
        }
        self.description(class.description.as_ref(), class.annotation.as_ref());
    }

    fn composition(&mut self, parts: &Composition, annotation: Option<&Annotation>) {
        let mut visibility = Visibility::Public;
        self.indent += 1;
        for element in &parts.elements {
            if element.visibility != visibility {
                visibility = element.visibility;
                self.indent -= 1;
                self.end_line(if visibility == Visibility::Public {
                    "public"
                } else {
                    "protected"
                });
                self.indent += 1;
            }
            self.element(element);
            self.end_line(";");
        }
        for section in &parts.sections {
            self.section(section);
        }
        if let Some(external) = &parts.external {
            self.external(external);
        }
        if let Some(annotation) = annotation {
            self.annotation(annotation);
            self.end_line(";");
        }
        self.indent -= 1;
    }

    fn external(&mut self, external: &External) {
        self.put("external");
        if let Some(language) = &external.language {
            self.put(" ");
            self.string(language);
        }
        if let Some(function) = &external.function {
            self.put(" ");
            if let Some(result) = &external.result {
                self.reference(result);
                self.put(" = ");
            }
            self.ident(function);
            self.put("(");
            self.list(&external.args, Self::expr);
            self.put(")");
        }
        self.description(None, external.annotation.as_ref());
        self.end_line(";");
    }

    fn element(&mut self, element: &Element) {
        match &element.kind {
            ElementKind::Import(import) => self.import(import),
            ElementKind::Extends(extends) => self.extends(extends),
            ElementKind::Class {
                prefixes,
                def,
                constraint,
            } => {
                self.element_prefixes(prefixes);
                self.class(def);
                self.constraint(constraint.as_ref());
            }
            ElementKind::Component(decl) => self.component(decl),
        }
    }

    fn import(&mut self, import: &Import) {
        self.put("import ");
        match &import.kind {
            ImportKind::Qualified(path) => self.path(path),
            ImportKind::Renamed(name, path) => {
                self.ident(name);
                self.put(" = ");
                self.path(path);
            }
            ImportKind::Wildcard(path) => {
                self.path(path);
                self.put(".*");
            }
            ImportKind::Group(path, names) => {
                self.path(path);
                self.put(".{");
                self.list(names, Self::ident);
                self.put("}");
            }
        }
    }

    fn extends(&mut self, extends: &Extends) {
        self.put("extends ");
        self.path(&extends.base);
        if let Some(modification) = &extends.modification {
            self.modification(modification);
        }
        self.description(None, extends.annotation.as_ref());
    }

    fn constraint(&mut self, constraint: Option<&Constraint>) {
        if let Some(constraint) = constraint {
            self.put(" constrainedby ");
            self.path(&constraint.base);
            if let Some(modification) = &constraint.modification {
                self.modification(modification);
            }
        }
    }

    fn element_prefixes(&mut self, prefixes: &ElementPrefixes) {
        self.flag(prefixes.redeclare, "redeclare");
        self.flag(prefixes.each, "each");
        self.flag(prefixes.is_final, "final");
        self.flag(prefixes.inner, "inner");
        self.flag(prefixes.outer, "outer");
        self.flag(prefixes.replaceable, "replaceable");
    }

    fn type_prefixes(&mut self, prefixes: &TypePrefixes) {
        self.flag(prefixes.connection == ConnectionPrefix::Flow, "flow");
        self.flag(prefixes.connection == ConnectionPrefix::Stream, "stream");
        match prefixes.variability {
            None | Some(Variability::Continuous) => {}
            Some(Variability::Constant) => self.put("constant "),
            Some(Variability::Parameter) => self.put("parameter "),
            Some(Variability::Discrete) => self.put("discrete "),
        }
        match prefixes.causality {
            None => {}
            Some(Causality::Input) => self.put("input "),
            Some(Causality::Output) => self.put("output "),
        }
    }

    fn component(&mut self, decl: &ComponentDecl) {
        self.element_prefixes(&decl.prefixes);
        self.type_prefixes(&decl.type_prefixes);
        self.path(&decl.ty);
        self.put(" ");
        self.ident(&decl.name);
        self.subscripts(&decl.dims);
        if let Some(modification) = &decl.modification {
            self.modification(modification);
        }
        if let Some(condition) = &decl.condition {
            self.put(" if ");
            self.expr(condition);
        }
        self.description(decl.description.as_ref(), decl.annotation.as_ref());
        self.constraint(decl.constraint.as_ref());
    }

    // ---- modifications ----

    fn modification(&mut self, modification: &Modification) {
        if !modification.args.is_empty() || modification.value.is_none() {
            self.put("(");
            self.list(&modification.args, Self::argument);
            self.put(")");
        }
        if let Some(value) = &modification.value {
            self.put(" = ");
            self.expr(value);
        }
    }

    fn argument(&mut self, argument: &Argument) {
        match &argument.kind {
            // A component carries the prefixes itself.
            ArgumentKind::Component(decl) => self.component(decl),
            ArgumentKind::Modify {
                path,
                modification,
                description,
            } => {
                self.element_prefixes(&argument.prefixes);
                self.path(path);
                if let Some(modification) = modification {
                    self.modification(modification);
                }
                self.description(description.as_ref(), None);
            }
            ArgumentKind::Class { def, constraint } => {
                self.element_prefixes(&argument.prefixes);
                self.class(def);
                self.constraint(constraint.as_ref());
            }
            ArgumentKind::Break(BreakTarget::Element(name)) => {
                self.put("break ");
                self.ident(name);
            }
            ArgumentKind::Break(BreakTarget::Connect { a, b }) => {
                self.put("break ");
                self.connect(a, b);
            }
        }
    }

    // ---- equations and statements ----

    fn section(&mut self, section: &Section) {
        self.indent -= 1;
        self.flag(section.initial, "initial");
        match &section.kind {
            SectionKind::Equations(equations) => {
                self.end_line("equation");
                self.body(equations, Self::equation);
            }
            SectionKind::Algorithm(statements) => {
                self.end_line("algorithm");
                self.body(statements, Self::statement);
            }
        }
        self.indent += 1;
    }

    fn body<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        self.indent += 1;
        for item in items {
            one(self, item);
            self.end_line(";");
        }
        self.indent -= 1;
    }

    fn branches<T>(
        &mut self,
        words: (&str, &str),
        branches: &[(Expr, Vec<T>)],
        otherwise: &[T],
        one: impl Fn(&mut Self, &T),
    ) {
        for (index, (condition, items)) in branches.iter().enumerate() {
            self.put(if index == 0 { words.0 } else { words.1 });
            self.put(" ");
            self.expr(condition);
            self.end_line(" then");
            self.body(items, &one);
        }
        if !otherwise.is_empty() {
            self.end_line("else");
            self.body(otherwise, &one);
        }
        self.put("end ");
        self.put(words.0);
    }

    fn connect(&mut self, a: &ComponentRef, b: &ComponentRef) {
        self.put("connect(");
        self.reference(a);
        self.put(", ");
        self.reference(b);
        self.put(")");
    }

    fn for_head(&mut self, iterators: &[Iterator]) {
        self.put("for ");
        self.iterators(iterators);
        self.end_line(" loop");
    }

    fn equation(&mut self, equation: &Equation) {
        match &equation.kind {
            EquationKind::Equal { lhs, rhs } => {
                self.expr(lhs);
                self.put(" = ");
                self.expr(rhs);
            }
            EquationKind::If {
                branches,
                otherwise,
            } => {
                self.branches(("if", "elseif"), branches, otherwise, Self::equation);
            }
            EquationKind::When { branches } => {
                self.branches(("when", "elsewhen"), branches, &[], Self::equation)
            }
            EquationKind::For { iterators, body } => {
                self.for_head(iterators);
                self.body(body, Self::equation);
                self.put("end for");
            }
            EquationKind::Connect { a, b } => self.connect(a, b),
            EquationKind::Call(call) => self.expr(call),
        }
        self.description(equation.description.as_ref(), equation.annotation.as_ref());
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.reference(target);
                self.put(" := ");
                self.expr(value);
            }
            StatementKind::MultiAssign { targets, call } => {
                self.put("(");
                self.list(targets, |p, target| {
                    if let Some(target) = target {
                        p.reference(target);
                    }
                });
                self.put(") := ");
                self.expr(call);
            }
            StatementKind::Call(call) => self.expr(call),
            StatementKind::If {
                branches,
                otherwise,
            } => {
                self.branches(("if", "elseif"), branches, otherwise, Self::statement);
            }
            StatementKind::When { branches } => {
                self.branches(("when", "elsewhen"), branches, &[], Self::statement)
            }
            StatementKind::For { iterators, body } => {
                self.for_head(iterators);
                self.body(body, Self::statement);
                self.put("end for");
            }
            StatementKind::While { condition, body } => {
                self.put("while ");
                self.expr(condition);
                self.end_line(" loop");
                self.body(body, Self::statement);
                self.put("end while");
            }
            StatementKind::Break => self.put("break"),
            StatementKind::Return => self.put("return"),
        }
        self.description(
            statement.description.as_ref(),
            statement.annotation.as_ref(),
        );
    }

    // ---- expressions ----

    fn iterators(&mut self, iterators: &[Iterator]) {
        self.list(iterators, |p, iterator| {
            p.ident(&iterator.name);
            if let Some(range) = &iterator.range {
                p.put(" in ");
                p.expr(range);
            }
        });
    }

    fn reference(&mut self, reference: &ComponentRef) {
        for (index, part) in reference.parts.iter().enumerate() {
            if index > 0 || reference.global {
                self.put(".");
            }
            self.ident(&part.name);
            self.subscripts(&part.subscripts);
        }
    }

    fn subscripts(&mut self, subscripts: &[Subscript]) {
        if subscripts.is_empty() {
            return;
        }
        self.put("[");
        self.list(subscripts, |p, subscript| match subscript {
            Subscript::All(_) => p.put(":"),
            Subscript::Expr(expr) => p.expr(expr),
        });
        self.put("]");
    }

    fn named(&mut self, (name, value): &(Ident, Expr)) {
        self.ident(name);
        self.put(" = ");
        self.expr(value);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Integer(value) => self.put(&value.to_string()),
            ExprKind::Real(value) => self.put(&format!("{value:?}")),
            ExprKind::String(text) => self.string(text),
            ExprKind::Boolean(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Ref(reference) => self.reference(reference),
            ExprKind::Unary(op, operand) => {
                self.put("(");
                self.put(unary_word(*op));
                self.expr(operand);
                self.put(")");
            }
            ExprKind::Binary(op, left, right) => {
                self.put("(");
                self.expr(left);
                self.put(" ");
                self.put(binary_word(*op));
                self.put(" ");
                self.expr(right);
                self.put(")");
            }
            ExprKind::If {
                branches,
                otherwise,
            } => {
                self.put("(");
                for (index, (condition, value)) in branches.iter().enumerate() {
                    self.put(if index == 0 { "if " } else { " elseif " });
                    self.expr(condition);
                    self.put(" then ");
                    self.expr(value);
                }
                self.put(" else ");
                self.expr(otherwise);
                self.put(")");
            }
            ExprKind::Range { start, step, stop } => {
                self.put("(");
                self.expr(start);
                if let Some(step) = step {
                    self.put(" : ");
                    self.expr(step);
                }
                self.put(" : ");
                self.expr(stop);
                self.put(")");
            }
            ExprKind::Call {
                function,
                args: CallArgs { positional, named },
            } => {
                self.reference(function);
                self.put("(");
                self.list(positional, Self::expr);
                if !positional.is_empty() && !named.is_empty() {
                    self.put(", ");
                }
                self.list(named, Self::named);
                self.put(")");
            }
            ExprKind::Array(items) => {
                self.put("{");
                self.list(items, Self::expr);
                self.put("}");
            }
            ExprKind::Comprehension {
                function,
                body,
                iterators,
            } => {
                match function {
                    Some(function) => {
                        self.reference(function);
                        self.put("(");
                    }
                    None => self.put("{"),
                }
                self.expr(body);
                self.put(" for ");
                self.iterators(iterators);
                self.put(if function.is_some() { ")" } else { "}" });
            }
            ExprKind::Matrix(rows) => {
                self.put("[");
                for (index, row) in rows.iter().enumerate() {
                    if index > 0 {
                        self.put("; ");
                    }
                    self.list(row, Self::expr);
                }
                self.put("]");
            }
            ExprKind::Tuple(items) => {
                self.put("(");
                self.list(items, |p, item| {
                    if let Some(item) = item {
                        p.expr(item);
                    }
                });
                self.put(")");
            }
            ExprKind::End => self.put("end"),
            ExprKind::PartialFunction { function, named } => {
                self.put("function ");
                self.reference(function);
                self.put("(");
                self.list(named, Self::named);
                self.put(")");
            }
            ExprKind::Break => self.put("break"),
            ExprKind::Error => self.put("<error>"),
        }
    }
}

fn restriction_word(restriction: Restriction) -> &'static str {
    match restriction {
        Restriction::Class => "class",
        Restriction::Model => "model",
        Restriction::Record => "record",
        Restriction::OperatorRecord => "operator record",
        Restriction::Block => "block",
        Restriction::Connector => "connector",
        Restriction::ExpandableConnector => "expandable connector",
        Restriction::Type => "type",
        Restriction::Package => "package",
        Restriction::Function => "function",
        Restriction::OperatorFunction => "operator function",
        Restriction::Operator => "operator",
    }
}

fn unary_word(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Minus => "-",
        UnaryOp::Plus => "+",
        UnaryOp::Not => "not ",
        UnaryOp::ElemMinus => ".-",
        UnaryOp::ElemPlus => ".+",
    }
}

fn binary_word(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Pow => "^",
        BinaryOp::ElemAdd => ".+",
        BinaryOp::ElemSub => ".-",
        BinaryOp::ElemMul => ".*",
        BinaryOp::ElemDiv => "./",
        BinaryOp::ElemPow => ".^",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "<>",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}
