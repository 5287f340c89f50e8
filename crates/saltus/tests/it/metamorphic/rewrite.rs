//! Rewrites of a syntax tree that do not change what a model means.

use saltus_syntax::ast::{
    Argument, ArgumentKind, BinaryOp, CallArgs, ClassBody, ClassDef, ComponentDecl, ComponentRef,
    Element, ElementKind, Equation, EquationKind, Expr, ExprKind, Ident, Modification, RefPart,
    Restriction, SectionKind, Statement, StatementKind, StoredDefinition, Subscript, UnaryOp,
};
use saltus_syntax::{Name, Span, print_ast};
use std::sync::Arc;

/// What is done with a text.
#[derive(Clone, Copy)]
pub(super) enum Rewrite {
    /// `a > b` becomes `b < a`.
    Mirror,
    /// `a > b` becomes `not a <= b`.
    Negate,
    /// Equations in reverse order, `a = b` as `b = a`.
    Turn,
    /// Time counts from another origin: `time` becomes `time - origin`.
    Shift { origin: f64 },
    /// Time runs in another unit: `time` becomes `time/factor`, `der(x)` becomes `factor*der(x)`.
    Stretch { factor: f64 },
}

/// The rewritten text, or `None` where the model uses something that the rewrite does not understand.
pub(super) fn rewrite(text: &str, how: Rewrite) -> Option<String> {
    let file = saltus_syntax::SourceMap::default().add("case.mo".to_owned(), text.to_owned());
    let parsed = saltus_syntax::parse(file, text);
    assert!(parsed.diagnostics.is_empty(), "the models are read");
    let mut definition: StoredDefinition = parsed.definition;
    let mut rewriter = Rewriter {
        how,
        is_understood: true,
    };
    for class in &mut definition.classes {
        rewriter.class(Arc::make_mut(class));
    }
    // Components of libraries have times and rates inside that are not rewritten.
    if rewriter.moves_time() && text.contains("Saltus.") {
        return None;
    }
    rewriter.is_understood.then(|| print_ast(&definition))
}

struct Rewriter {
    how: Rewrite,
    is_understood: bool,
}

impl Rewriter {
    fn moves_time(&self) -> bool {
        matches!(self.how, Rewrite::Shift { .. } | Rewrite::Stretch { .. })
    }

    fn class(&mut self, class: &mut ClassDef) {
        let is_function = class.restriction == Restriction::Function;
        // Derivatives with respect to time are stated in annotations of functions.
        if is_function && class.annotation.is_some() && self.moves_time() {
            self.is_understood = false;
        }
        match &mut class.body {
            ClassBody::Composition { parts, .. } => {
                for element in &mut parts.elements {
                    self.element(element);
                }
                for section in &mut parts.sections {
                    match &mut section.kind {
                        SectionKind::Equations(equations) => self.equations(equations),
                        SectionKind::Algorithm(statements) => self.statements(statements),
                    }
                }
                if parts.external.is_some() && is_function && self.moves_time() {
                    self.is_understood = false;
                }
            }
            ClassBody::Short { modification, .. } => self.modification(modification.as_mut()),
            ClassBody::Enumeration(_) | ClassBody::Derivative { .. } => {}
        }
    }

    fn element(&mut self, element: &mut Element) {
        match &mut element.kind {
            ElementKind::Import(_) => {}
            ElementKind::Extends(extends) => {
                if self.moves_time() && extends.base.parts.len() > 1 {
                    self.is_understood = false;
                }
                self.modification(extends.modification.as_mut());
            }
            ElementKind::Class { def, .. } => self.class(Arc::make_mut(def)),
            ElementKind::Component(component) => self.component(Arc::make_mut(component)),
        }
    }

    fn component(&mut self, component: &mut ComponentDecl) {
        let first = component.ty.parts.first().map(|part| part.name.as_str());
        if self.moves_time() && first == Some("Clock") {
            self.is_understood = false;
        }
        for dim in &mut component.dims {
            if let Subscript::Expr(expr) = dim {
                self.expr(expr);
            }
        }
        self.modification(component.modification.as_mut());
        if let Some(condition) = &mut component.condition {
            self.expr(condition);
        }
    }

    fn modification(&mut self, modification: Option<&mut Modification>) {
        let Some(modification) = modification else {
            return;
        };
        for argument in &mut modification.args {
            self.argument(argument);
        }
        if let Some(value) = &mut modification.value {
            self.expr(value);
        }
    }

    fn argument(&mut self, argument: &mut Argument) {
        match &mut argument.kind {
            ArgumentKind::Modify { modification, .. } => self.modification(modification.as_mut()),
            ArgumentKind::Class { def, .. } => self.class(Arc::make_mut(def)),
            ArgumentKind::Component(component) => self.component(Arc::make_mut(component)),
            ArgumentKind::Break(_) => {}
        }
    }

    fn equations(&mut self, equations: &mut [Equation]) {
        for equation in equations.iter_mut() {
            self.equation(equation);
        }
        if matches!(self.how, Rewrite::Turn) {
            equations.reverse();
        }
    }

    fn equation(&mut self, equation: &mut Equation) {
        match &mut equation.kind {
            EquationKind::Equal { lhs, rhs } => {
                self.expr(lhs);
                self.expr(rhs);
                let is_tuple = matches!(lhs.kind, ExprKind::Tuple(_));
                if matches!(self.how, Rewrite::Turn) && !is_tuple {
                    std::mem::swap(lhs, rhs);
                }
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
                for iterator in iterators {
                    if let Some(range) = &mut iterator.range {
                        self.expr(range);
                    }
                }
                self.equations(body);
            }
            // The left side of an equation in a `when` is a variable by the language.
            EquationKind::When { branches } => {
                for (condition, body) in branches {
                    self.expr(condition);
                    for equation in body {
                        match &mut equation.kind {
                            EquationKind::Equal { lhs, rhs } => {
                                self.expr(lhs);
                                self.expr(rhs);
                            }
                            _ => self.equation(equation),
                        }
                    }
                }
            }
            EquationKind::Connect { .. } => {}
            EquationKind::Call(call) => self.expr(call),
        }
    }

    fn statements(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            match &mut statement.kind {
                StatementKind::Assign { value, .. } => self.expr(value),
                StatementKind::MultiAssign { call, .. } | StatementKind::Call(call) => {
                    self.expr(call);
                }
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
                    for iterator in iterators {
                        if let Some(range) = &mut iterator.range {
                            self.expr(range);
                        }
                    }
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
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        self.parts(expr);
        match self.how {
            Rewrite::Mirror => mirror(expr),
            Rewrite::Negate => negate(expr),
            Rewrite::Turn => {}
            Rewrite::Shift { origin } => self.shift(expr, origin),
            Rewrite::Stretch { factor } => self.stretch(expr, factor),
        }
    }

    fn parts(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
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
                if let Some(step) = step {
                    self.expr(step);
                }
                self.expr(stop);
            }
            ExprKind::Call { args, .. } => {
                for arg in &mut args.positional {
                    self.expr(arg);
                }
                for (_, arg) in &mut args.named {
                    self.expr(arg);
                }
            }
            ExprKind::Array(items) => items.iter_mut().for_each(|item| self.expr(item)),
            ExprKind::Comprehension { body, .. } => self.expr(body),
            ExprKind::Matrix(rows) => (rows.iter_mut().flatten()).for_each(|item| self.expr(item)),
            ExprKind::Tuple(items) => {
                (items.iter_mut().flatten()).for_each(|item| self.expr(item));
            }
            ExprKind::PartialFunction { .. } => self.is_understood = false,
            ExprKind::Integer(_)
            | ExprKind::Real(_)
            | ExprKind::String(_)
            | ExprKind::Boolean(_)
            | ExprKind::Ref(_)
            | ExprKind::End
            | ExprKind::Break
            | ExprKind::Error => {}
        }
    }

    fn shift(&mut self, expr: &mut Expr, origin: f64) {
        if is_time(expr) {
            *expr = binary(BinaryOp::Sub, expr.clone(), real(origin, expr.span));
        } else if let Some((function, args)) = call(expr) {
            match function.as_str() {
                "sample" => match args.positional.as_mut_slice() {
                    [start, _] => {
                        *start = binary(BinaryOp::Add, start.clone(), real(origin, start.span));
                    }
                    _ => self.is_understood = false,
                },
                "Clock" => self.is_understood = false,
                _ => {}
            }
        }
    }

    fn stretch(&mut self, expr: &mut Expr, factor: f64) {
        if is_time(expr) {
            *expr = binary(BinaryOp::Div, expr.clone(), real(factor, expr.span));
            return;
        }
        let span = expr.span;
        let Some((function, args)) = call(expr) else {
            return;
        };
        match function.as_str() {
            "der" => *expr = binary(BinaryOp::Mul, real(factor, span), expr.clone()),
            "sample" if args.positional.len() == 2 => {
                for time in &mut args.positional {
                    *time = binary(BinaryOp::Mul, real(factor, span), time.clone());
                }
            }
            "delay" => {
                for time in args.positional.iter_mut().skip(1) {
                    *time = binary(BinaryOp::Mul, real(factor, span), time.clone());
                }
            }
            "sample" | "Clock" | "restitution" => self.is_understood = false,
            _ => {}
        }
    }
}

fn mirror(expr: &mut Expr) {
    if let ExprKind::Binary(op, a, b) = &mut expr.kind
        && let Some(mirrored) = mirrored(*op)
    {
        *op = mirrored;
        std::mem::swap(a, b);
    }
}

fn negate(expr: &mut Expr) {
    if let ExprKind::Binary(op, ..) = &mut expr.kind
        && let Some(opposite) = opposite(*op)
    {
        *op = opposite;
        let span = expr.span;
        *expr = Expr {
            kind: ExprKind::Unary(UnaryOp::Not, Box::new(expr.clone())),
            span,
        };
    }
}

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Lt => Some(BinaryOp::Gt),
        BinaryOp::Le => Some(BinaryOp::Ge),
        BinaryOp::Gt => Some(BinaryOp::Lt),
        BinaryOp::Ge => Some(BinaryOp::Le),
        _ => None,
    }
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Lt => Some(BinaryOp::Ge),
        BinaryOp::Le => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        _ => None,
    }
}

fn is_time(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Ref(reference) => last(reference) == Some("time") && reference.parts.len() == 1,
        _ => false,
    }
}

fn last(reference: &ComponentRef) -> Option<&'static str> {
    (reference.parts.last()).map(|RefPart { name, .. }| name.name.as_str())
}

fn call(expr: &mut Expr) -> Option<(Name, &mut CallArgs)> {
    match &mut expr.kind {
        ExprKind::Call { function, args } => {
            let Ident { name, .. } = function.parts.last()?.name;
            Some((name, args))
        }
        _ => None,
    }
}

fn real(value: f64, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Real(value),
        span,
    }
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr {
        kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
        span,
    }
}
