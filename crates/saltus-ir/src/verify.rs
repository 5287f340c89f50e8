//! The invariants of a finished [`FlatModel`] (see [`crate::flat`]), checked after every pass that makes or
//! rewrites one.

use crate::expr::{Builtin, Expr};
use crate::flat::{Equation, FlatModel, Variability, WhenAction};
use crate::func::{FunctionBody, Place, Statement, StatementKind};
use crate::types::Base;
use crate::{ExprId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_syntax::Span;

/// A broken invariant: always a mistake of a pass, never of the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub message: String,
    pub span: Span,
}

/// Every broken invariant, in the order of the model.
pub fn verify(model: &FlatModel) -> Vec<Violation> {
    let mut check = Check {
        model,
        seen: FxHashSet::default(),
        violations: Vec::new(),
    };
    check.variables();
    for equation in model.equations.iter().chain(&model.initial_equations) {
        check.equation(equation);
    }
    for when in &model.whens {
        for branch in &when.branches {
            branch
                .conditions
                .iter()
                .for_each(|&c| check.condition(c, when.origin.span));
            branch.body.iter().for_each(|action| check.action(action));
        }
    }
    for assert in &model.asserts {
        check.condition(assert.condition, assert.origin.span);
    }
    for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
        for &v in &algorithm.outputs {
            check.var(v, algorithm.origin.span);
        }
        check.statements(&algorithm.statements);
    }
    for partition in &model.partitions {
        partition
            .variables
            .iter()
            .for_each(|&v| check.var(v, partition.origin.span));
        partition
            .equations
            .iter()
            .for_each(|equation| check.equation(equation));
    }
    check.violations
}

struct Check<'a> {
    model: &'a FlatModel,
    /// Nodes already checked.
    seen: FxHashSet<ExprId>,
    violations: Vec<Violation>,
}

impl Check<'_> {
    fn report(&mut self, span: Span, message: String) {
        self.violations.push(Violation { message, span });
    }

    fn variables(&mut self) {
        let model = self.model;
        let mut names = FxHashMap::default();
        for (id, variable) in model.variables.iter() {
            let span = variable.span;
            if names.insert(variable.name, id).is_some() {
                self.report(span, format!("two variables are named `{}`", variable.name));
            }
            let attributes = [
                variable.start,
                variable.fixed,
                variable.min,
                variable.max,
                variable.nominal,
            ];
            for e in attributes.into_iter().chain([variable.binding]).flatten() {
                self.scalar(e, span);
                for v in model.ir.variables_of(e) {
                    if model
                        .variables
                        .get(v)
                        .is_some_and(|v| v.variability > Variability::Parameter)
                    {
                        self.report(
                            span,
                            format!(
                                "an attribute or binding of `{}` is not a parameter expression",
                                variable.name
                            ),
                        );
                    }
                }
            }
            if variable.binding.is_some() && variable.variability > Variability::Parameter {
                self.report(
                    span,
                    format!("`{}` is not a parameter but has a binding", variable.name),
                );
            }
            if matches!(variable.base, Base::Record(_) | Base::Function) {
                self.report(span, format!("`{}` is not scalar", variable.name));
            }
        }
    }

    fn equation(&mut self, equation: &Equation) {
        let span = equation.origin.span;
        self.scalar(equation.lhs, span);
        self.scalar(equation.rhs, span);
        let (l, r) = (
            self.model.ir.base(equation.lhs),
            self.model.ir.base(equation.rhs),
        );
        if l != r && !(l.is_numeric() && r.is_numeric()) {
            self.report(
                span,
                format!("the sides of an equation have types {l:?} and {r:?}"),
            );
        }
    }

    fn condition(&mut self, e: ExprId, span: Span) {
        self.scalar(e, span);
        let base = self.model.ir.base(e);
        if base != Base::Boolean && base != Base::Clock {
            self.report(span, format!("a condition has type {base:?}"));
        }
    }

    fn action(&mut self, action: &WhenAction) {
        match action {
            WhenAction::Assign { var, value, origin }
            | WhenAction::Reinit { var, value, origin } => {
                self.var(*var, origin.span);
                self.scalar(*value, origin.span);
            }
            WhenAction::Assert(assert) => self.condition(assert.condition, assert.origin.span),
            WhenAction::Terminate {
                guard,
                message,
                origin,
            } => {
                guard.iter().for_each(|g| self.condition(*g, origin.span));
                self.scalar(*message, origin.span);
            }
            WhenAction::Call {
                guard,
                call,
                origin,
            } => {
                guard.iter().for_each(|g| self.condition(*g, origin.span));
                self.expr(*call, origin.span, false);
            }
        }
    }

    fn var(&mut self, v: VarId, span: Span) {
        if self.model.variables.get(v).is_none() {
            self.report(span, format!("variable {} does not exist", v.0));
        }
    }

    fn scalar(&mut self, e: ExprId, span: Span) {
        let ty = self.model.ir.ty(e);
        if !ty.is_scalar() || matches!(ty.base, Base::Record(_)) {
            self.report(
                span,
                format!("an expression is not scalar: {}", self.model.text(e)),
            );
        }
        self.expr(e, span, false);
    }

    /// The nodes of an expression; `in_algorithm` allows iterators and arrays.
    fn expr(&mut self, root: ExprId, span: Span, in_algorithm: bool) {
        let ir = &self.model.ir;
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            match ir.expr(id) {
                Expr::Local(_)
                | Expr::Comprehension { .. }
                | Expr::Reduce { .. }
                | Expr::Range { .. }
                    if !in_algorithm =>
                {
                    self.report(
                        span,
                        format!("a local or iterator is left: {}", self.model.text(id)),
                    );
                }
                Expr::Var(v) => match self.model.variables.get(*v) {
                    None => self.report(span, format!("variable {} does not exist", v.0)),
                    Some(variable) if variable.base != ir.base(id) => {
                        self.report(
                            span,
                            format!("`{}` is used with type {:?}", variable.name, ir.base(id)),
                        );
                    }
                    Some(_) => {}
                },
                Expr::VarArray(first) => match ir.leaf_count(ir.type_id(id)) {
                    Some(n) if first.0 as usize + n <= self.model.variables.len() => {}
                    _ => self.report(
                        span,
                        format!("an array of variables from {} does not exist", first.0),
                    ),
                },
                Expr::Builtin(
                    op @ (Builtin::InStream
                    | Builtin::ActualStream
                    | Builtin::Cardinality
                    | Builtin::IsRoot
                    | Builtin::Rooted),
                    _,
                ) => self.report(span, format!("`{}` is left", op.name())),
                Expr::Call { function, .. } => match ir.functions.get(*function) {
                    None => self.report(span, "a called function does not exist".into()),
                    Some(f)
                        if matches!(f.body, FunctionBody::Missing | FunctionBody::Argument(_)) =>
                    {
                        self.report(span, format!("`{}` is called but has no body", f.name));
                    }
                    Some(_) => {}
                },
                Expr::Leaf { of, index } => match ir.leaf_count(ir.type_id(*of)) {
                    Some(n)
                        if (*index as usize) < n
                            && matches!(ir.expr(*of), Expr::Call { .. } | Expr::Output { .. }) => {}
                    _ => self.report(
                        span,
                        format!("a leaf does not exist: {}", self.model.text(id)),
                    ),
                },
                _ => {}
            }
            ir.for_each_child(id, |child| stack.push(child));
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            let span = statement.span;
            let place = |check: &mut Self, place: Place| {
                if let Place::Var { first, ty } = place {
                    let n = check.model.ir.leaf_count(ty).unwrap_or(usize::MAX);
                    if (first.0 as usize).saturating_add(n) > check.model.variables.len() {
                        check.report(
                            span,
                            format!("an assigned variable {} does not exist", first.0),
                        );
                    }
                }
            };
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    place(self, target.place);
                    self.expr(*value, span, true);
                }
                StatementKind::MultiAssign { targets, call } => {
                    targets.iter().flatten().for_each(|t| place(self, t.place));
                    self.expr(*call, span, true);
                }
                StatementKind::If {
                    branches,
                    otherwise,
                } => {
                    for (condition, body) in branches {
                        self.expr(*condition, span, true);
                        self.statements(body);
                    }
                    self.statements(otherwise);
                }
                StatementKind::For { range, body, .. } => {
                    self.expr(*range, span, true);
                    self.statements(body);
                }
                StatementKind::While { condition, body } => {
                    self.expr(*condition, span, true);
                    self.statements(body);
                }
                StatementKind::When { branches } => {
                    for (conditions, body) in branches {
                        conditions.iter().for_each(|&c| self.expr(c, span, true));
                        self.statements(body);
                    }
                }
                StatementKind::Assert {
                    condition, message, ..
                } => {
                    self.expr(*condition, span, true);
                    self.expr(*message, span, true);
                }
                StatementKind::Terminate { message } => self.expr(*message, span, true),
                StatementKind::Reinit { var, value } => {
                    self.var(*var, span);
                    self.expr(*value, span, true);
                }
                StatementKind::Call(call) => self.expr(*call, span, true),
                StatementKind::Break | StatementKind::Return => {}
            }
        }
    }
}
