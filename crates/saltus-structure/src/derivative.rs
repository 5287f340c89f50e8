//! Derivatives of equations, on top of the differentiator of `saltus-ir`.

use crate::work::{Class, Work};
use saltus_ir::diff::{self, DiffError};
use saltus_ir::{Base, Builtin, Expr, ExprId, Id, VarId};

/// `der(e)` of an expression, in terms of `der` of variables.
pub(crate) fn der_operator(work: &mut Work, e: ExprId) -> Result<ExprId, String> {
    let Work { flat, class, .. } = work;
    let derivative = diff::total_derivative(&mut flat.ir, e, |ir, v| match class[v.index()] {
        Class::Continuous => {
            let node = ir.var(v, Base::Real);
            Some(ir.add_scalar(Expr::Builtin(Builtin::Der, Box::new([node])), Base::Real))
        }
        Class::Input | Class::Delayed => None,
        _ => Some(ir.real(0.0)),
    });
    derivative.map_err(|error| explain(work, &error))
}

/// The time derivative of an extracted expression; derivative variables exist already.
pub(crate) fn total(work: &mut Work, e: ExprId) -> Result<ExprId, String> {
    let Work {
        flat, class, der, ..
    } = work;
    let derivative = diff::total_derivative(&mut flat.ir, e, |ir, v| match class[v.index()] {
        Class::Continuous => der.get(&v).map(|&d| ir.var(d, Base::Real)),
        Class::Input | Class::Delayed => None,
        _ => Some(ir.real(0.0)),
    });
    derivative.map_err(|error| explain(work, &error))
}

/// `None` if it cannot be found.
pub(crate) fn partial(work: &mut Work, e: ExprId, var: VarId) -> Option<ExprId> {
    diff::partial(&mut work.flat.ir, e, var).ok()
}

fn explain(work: &Work, error: &DiffError) -> String {
    match error {
        DiffError::Variable(v) => format!("the derivative of `{}` is not known", work.name(*v)),
        DiffError::Function { function, .. } => {
            format!(
                "in a call of `{}`: {error}",
                work.flat.ir.functions[*function].name
            )
        }
        other => other.to_string(),
    }
}
