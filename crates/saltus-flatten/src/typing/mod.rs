//! Syntax expressions to typed IR expressions (specification chapters 3, 10, 12, 14).
//!
//! Comes in: an expression of the syntax tree and the scope it is written in. Goes out: a node of the [`Ir`](saltus_ir::Ir),
//! of scalar, array or record type, with names resolved, arguments in declaration order and defaults filled in. Arrays are not
//! expanded here (`saltus_ir::scalar` does that). Constants are replaced by their values; parameters stay variables.
//!
//! | room | what it owns |
//! |---|---|
//! | `crefs` | component references and subscripts |
//! | `operators` | operators, overloading, if-expressions, array constructors, ranges |
//! | `calls` | function calls, record constructors, comprehensions and reductions |
//! | `builtins` | operators and functions of the language |
//! | `constants` | compile-time values, substitution of locals |
//! | `nodes` | constructors that compute the type of a node |

mod builtins;
mod calls;
mod constants;
mod crefs;
mod nodes;
mod operators;

pub(crate) use calls::{Use, find_use, use_in_ref};
pub use crefs::{Target, VarSelection};

use crate::core::*;
use saltus_ir::{Base, Dim, ExprId, Type, TypeId};
use saltus_syntax::ast::{self, ExprKind};
use saltus_syntax::{Diagnostic, Span};

/// Where an expression stands: its scope, and what `end` means there.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'s> {
    pub(crate) scope: Scope<'s>,
    /// The size that `end` stands for, inside a subscript.
    pub(crate) end: Option<ExprId>,
    pub(crate) conditional: Conditional,
}

/// What naming a conditional component that exists means (specification 4.4.5: it may only be modified and connected).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conditional {
    /// In connections and questions about them.
    Allowed,
    /// Inside another component, whose modifiers decide that it exists: libraries rely on it.
    Warned,
    Refused,
}

impl<'s> Cx<'s> {
    pub(crate) fn new(scope: Scope<'s>) -> Cx<'s> {
        Cx {
            scope,
            end: None,
            conditional: Conditional::Refused,
        }
    }
}

/// Expressions that are needed to type an expression (sizes, bindings, values of parameters), one inside the other. More means that
/// declarations need each other in a circle that no other check found.
const NESTING_MAX: u32 = 500;

thread_local! {
    /// How many typings are under way on this thread.
    static NESTING: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Counts a typing as long as it lives.
struct Nesting;

impl Nesting {
    fn enter(span: Span) -> Res<Nesting> {
        let depth = NESTING.get();
        if depth >= NESTING_MAX {
            return Err(error_help(
                "cyclic-parameters",
                span,
                "sizes or values of declarations depend on each other in a circle",
                "break the circle between array sizes, bindings and the values they use",
            ));
        }
        NESTING.set(depth + 1);
        Ok(Nesting)
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        NESTING.set(NESTING.get() - 1);
    }
}

/// A boxed error.
pub(crate) fn error(code: &'static str, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(code, span, message))
}

/// A boxed error with help.
pub(crate) fn error_help(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(code, span, message).help(help))
}

/// What is written correctly but not done yet.
pub(crate) fn unsupported(span: Span, what: impl Into<String>) -> Box<Diagnostic> {
    error(
        "unsupported-feature",
        span,
        format!("{} is not supported", what.into()),
    )
}

impl<'a> Flattener<'a> {
    /// The typed expression.
    pub fn expr(&mut self, scope: Scope<'_>, e: &'a ast::Expr) -> Res<ExprId> {
        let _nesting = Nesting::enter(e.span)?;
        self.ex(Cx::new(scope), e)
    }

    /// As [`Self::expr`], with Integer literals made Real where the expected type is Real.
    pub fn expr_expect(
        &mut self,
        scope: Scope<'_>,
        e: &'a ast::Expr,
        expected: Option<TypeId>,
    ) -> Res<ExprId> {
        let id = self.expr(scope, e)?;
        Ok(match expected {
            Some(ty) => self.coerce(id, self.ir.type_of_id(ty).base),
            None => id,
        })
    }

    pub(crate) fn ex(&mut self, cx: Cx<'_>, e: &'a ast::Expr) -> Res<ExprId> {
        match &e.kind {
            ExprKind::Integer(i) => Ok(self.ir.integer(*i)),
            ExprKind::Real(x) => Ok(self.ir.real(*x)),
            ExprKind::String(s) => Ok(self.ir.string(s)),
            ExprKind::Boolean(b) => Ok(self.ir.boolean(*b)),
            ExprKind::Ref(r) => {
                let target = self.cref_in(cx, r)?;
                self.target_expr(target, r.span)
            }
            ExprKind::Unary(op, a) => {
                let operand = self.ex(cx, a)?;
                self.unary(*op, operand, e.span)
            }
            ExprKind::Binary(op, a, b) => self.binary_ast(cx, *op, a, b, e.span),
            ExprKind::If {
                branches,
                otherwise,
            } => self.if_expr(cx, branches, otherwise, e.span),
            ExprKind::Range { start, step, stop } => {
                let start = self.ex(cx, start)?;
                let step = step.as_deref().map(|s| self.ex(cx, s)).transpose()?;
                let stop = self.ex(cx, stop)?;
                self.range(start, step, stop, e.span)
            }
            ExprKind::Call { function, args } => {
                let outputs = self.call(cx, function, args, e.span)?;
                outputs.first().copied().ok_or_else(|| {
                    error(
                        "type-mismatch",
                        e.span,
                        format!(
                            "`{}` has no output, a value is expected",
                            ref_text(function)
                        ),
                    )
                })
            }
            ExprKind::Array(items) => {
                let mut elements = Vec::with_capacity(items.len());
                for item in items {
                    elements.push(self.ex(cx, item)?);
                }
                self.array_constructor(&elements, e.span)
            }
            ExprKind::Comprehension {
                function,
                body,
                iterators,
            } => self.comprehension(cx, function.as_ref(), body, iterators, e.span),
            ExprKind::Matrix(rows) => self.matrix(cx, rows, e.span),
            ExprKind::Tuple(_) => Err(error_help(
                "type-mismatch",
                e.span,
                "a list of values stands where one value is expected",
                "a list in parentheses may only stand on the left of a call with several outputs",
            )),
            ExprKind::End => cx.end.ok_or_else(|| {
                error_help(
                    "syntax-error",
                    e.span,
                    "`end` has no meaning here",
                    "`end` may only stand in a subscript",
                )
            }),
            ExprKind::PartialFunction { function, named } => {
                self.partial_function(cx, function, named, e.span)
            }
            ExprKind::Break => Err(error(
                "syntax-error",
                e.span,
                "`break` may only be the value of a modifier",
            )),
            ExprKind::Error => Err(error(
                "syntax-error",
                e.span,
                "this expression could not be read",
            )),
        }
    }

    /// All outputs of a call as expressions, for equations and statements with a list on the left side.
    pub fn call_outputs(&mut self, scope: Scope<'_>, e: &'a ast::Expr) -> Res<Vec<ExprId>> {
        match &e.kind {
            ExprKind::Call { function, args } => self.call(Cx::new(scope), function, args, e.span),
            _ => self.expr(scope, e).map(|id| vec![id]),
        }
    }

    /// Whether names are looked up from inside a function.
    pub(crate) fn in_function(&self, scope: Scope<'_>) -> bool {
        self.insts[self.lexes[scope.lex].owner].purpose == Purpose::Function
    }

    /// The type as in messages: `Real[3, :]`.
    pub fn type_text(&self, ty: TypeId) -> String {
        self.text_of_type(self.ir.type_of_id(ty))
    }

    pub(crate) fn text_of_type(&self, ty: &Type) -> String {
        let base = match ty.base {
            Base::Real => "Real",
            Base::Integer => "Integer",
            Base::Boolean => "Boolean",
            Base::String => "String",
            Base::Clock => "Clock",
            Base::Enum(id) => self.ir.enums[id].name.as_str(),
            Base::Record(id) => self.ir.records[id].name.as_str(),
            Base::Object(id) => self.ir.objects[id].name.as_str(),
            Base::Function => "function",
        };
        if ty.dims.is_empty() {
            base.to_owned()
        } else {
            format!("{base}{}", dims_text(&ty.dims))
        }
    }

    pub(crate) fn type_text_of(&self, e: ExprId) -> String {
        self.text_of_type(self.ir.ty(e))
    }

    pub(crate) fn expect_scalar(&self, e: ExprId, base: Base, what: &str, span: Span) -> Res<()> {
        let ty = self.ir.ty(e);
        let fits =
            ty.is_scalar() && (ty.base == base || base == Base::Real && ty.base == Base::Integer);
        if fits {
            return Ok(());
        }
        let expected = self.text_of_type(&Type::scalar(base));
        Err(error(
            "type-mismatch",
            span,
            format!(
                "{what} must have type `{expected}`, found `{}`",
                self.text_of_type(ty)
            ),
        ))
    }
}

/// `[3, :]`
pub(crate) fn dims_text(dims: &[Dim]) -> String {
    let parts: Vec<String> = dims
        .iter()
        .map(|d| match d {
            Dim::Known(n) => n.to_string(),
            Dim::Unknown => ":".to_owned(),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}

/// A reference as written, without subscripts.
pub(crate) fn ref_text(r: &ast::ComponentRef) -> String {
    let parts: Vec<&str> = r.parts.iter().map(|p| p.name.name.as_str()).collect();
    format!("{}{}", if r.global { "." } else { "" }, parts.join("."))
}

/// Two dimensions that may be the same size.
pub(crate) fn dims_fit(a: &[Dim], b: &[Dim]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| match (x, y) {
            (Dim::Known(m), Dim::Known(n)) => m == n,
            _ => true,
        })
}
