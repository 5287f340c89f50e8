//! The bridge to the one evaluator of `saltus-ir`: variables come from slots.

use crate::calls::from_number;
use crate::tape::{Sign, domain_fault};
use crate::work::{Context, Texts, Work};
use saltus_ir::eval::{self, Env, EvalError, EvalErrorKind, ExternalError};
use saltus_ir::ops::DomainError;
use saltus_ir::{Base, ExprId, FuncId, Value, VarId};
use saltus_model::{FaultKind, Values};

/// Variables by their slots.
struct SlotEnv<'a> {
    cx: &'a Context<'a>,
    values: &'a Values,
    texts: &'a Texts,
}

impl SlotEnv<'_> {
    fn read(&self, var: VarId, from: &[f64]) -> Option<Value> {
        let (slot, sign) = self.cx.layout.place(var);
        let x = from[slot.index()];
        Some(match self.cx.flat.variables[var].base {
            Base::Record(_) | Base::Function | Base::Clock => return None,
            base => from_number(
                self.texts,
                if sign == Sign::Plain {
                    x
                } else {
                    sign.apply(x)
                },
                base,
            ),
        })
    }
}

impl Env for SlotEnv<'_> {
    fn var(&mut self, var: VarId) -> Option<Value> {
        self.read(var, &self.values.v)
    }

    fn time(&self) -> Option<f64> {
        Some(self.values.time())
    }

    fn pre(&mut self, var: VarId) -> Option<Value> {
        self.read(var, &self.values.pre)
    }
}

/// The value of an expression of any type.
pub(crate) fn expression(
    cx: &Context,
    work: &mut Work,
    expr: ExprId,
    values: &mut Values,
) -> Result<Value, FaultKind> {
    let mut env = SlotEnv {
        cx,
        values,
        texts: &work.texts,
    };
    eval::eval(&cx.flat.ir, expr, &mut env, &mut work.objects).map_err(|e| fault(cx, e))
}

/// The variables in `condition` with their values, each as `name = value`.
pub(crate) fn values_read(
    cx: &Context,
    work: &Work,
    condition: ExprId,
    values: &Values,
) -> Vec<String> {
    let env = SlotEnv {
        cx,
        values,
        texts: &work.texts,
    };
    (cx.flat.ir.variables_of(condition).into_iter())
        .filter_map(|var| {
            let text = env.read(var, &values.v)?.scalar_text(&cx.flat.ir)?;
            let variable = &cx.flat.variables[var];
            let (name, meant) = (variable.name.as_str(), variable.description.as_str());
            Some(match name.starts_with('$') && !meant.is_empty() {
                true => format!("({meant}) = {text}"),
                false => format!("{name} = {text}"),
            })
        })
        .take(eval::VALUES_SHOWN_MAX)
        .collect()
}

/// All outputs of a function; `None` where one was never assigned.
pub(crate) fn call(
    cx: &Context,
    work: &mut Work,
    function: FuncId,
    args: Vec<Value>,
) -> Result<Vec<Option<Value>>, FaultKind> {
    eval::call_function(&cx.flat.ir, function, args, &mut work.objects).map_err(|e| fault(cx, e))
}

fn fault(cx: &Context, error: EvalError) -> FaultKind {
    let inside = |text: String| match error.function {
        Some(f) => format!(
            "in function `{}`: {text}",
            cx.flat.ir.functions[f].name.as_str()
        ),
        None => text,
    };
    match *error.kind {
        EvalErrorKind::Domain(domain) if error.function.is_none() => domain_fault(domain),
        EvalErrorKind::Domain(
            domain @ (DomainError::IntegerOverflow | DomainError::InexactInteger { .. }),
        ) => FaultKind::IntegerOverflow(inside(domain.to_string())),
        EvalErrorKind::AssertFailed { message, values } => FaultKind::Assertion {
            message,
            values,
            function: (error.function).map(|f| cx.flat.ir.functions[f].name.to_string()),
        },
        EvalErrorKind::External { name, why } => match why {
            ExternalError::Failed(message) => FaultKind::External(format!("`{name}`: {message}")),
            ExternalError::Missing(message) => FaultKind::Missing(message),
            ExternalError::Forbidden(message) => FaultKind::Forbidden(message),
        },
        EvalErrorKind::UnknownVariable(var) => FaultKind::Range(format!(
            "`{}` has no value here",
            cx.flat.variables[var].name.as_str()
        )),
        EvalErrorKind::Unassigned(local) => FaultKind::Range(inside(format!(
            "`{}` is read before it is assigned",
            cx.flat.ir.locals[local].name.as_str()
        ))),
        _ => FaultKind::Range(inside(error.to_string())),
    }
}
