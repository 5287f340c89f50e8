//! Values known when the model is compiled: parameters with their default values, start values, signs.
//!
//! They guide choices (pivots, divisors, state selection); they are never written into the model, because a run may set other values.

use crate::work::{Class, Work};
use rustc_hash::FxHashMap;
use saltus_ir::eval::{Env, NoExternals, eval};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Id, UnaryOp, Value, VarId};

/// Deeper expressions have an unknown sign.
const SIGN_DEPTH_MAX: u32 = 64;

/// Evaluates the parameters from number `from` on, as far as that is possible without external objects.
pub(crate) fn evaluate_parameters(work: &mut Work, from: usize) {
    for k in from..work.parameters.len() {
        let assignment = work.parameters[k];
        let value = eval(
            &work.flat.ir,
            assignment.value,
            &mut Parameters(&work.values),
            &mut NoExternals,
        )
        .ok();
        work.values.resize(work.flat.variables.len(), None);
        work.values[assignment.var.index()] = value;
    }
}

struct Parameters<'a>(&'a [Option<Value>]);

impl Env for Parameters<'_> {
    fn var(&mut self, var: VarId) -> Option<Value> {
        self.0.get(var.index()).cloned().flatten()
    }
}

/// The value of an expression in parameters.
pub(crate) fn parameter_value(work: &Work, e: ExprId) -> Option<f64> {
    if let Some(number) = work.flat.ir.as_number(e) {
        return Some(number);
    }
    let value = eval(
        &work.flat.ir,
        e,
        &mut Parameters(&work.values),
        &mut NoExternals,
    )
    .ok()?;
    value.as_f64().filter(|x| x.is_finite())
}

struct AtStart<'a> {
    work: &'a Work,
    depth: u32,
    others: Others,
}

/// What a variable without a start value is taken for.
#[derive(Clone, Copy)]
enum Others {
    /// The default of its type, as the language says.
    Default,
    Unknown,
}

impl Env for AtStart<'_> {
    fn var(&mut self, var: VarId) -> Option<Value> {
        if let Some(value) = self.work.values.get(var.index()).cloned().flatten() {
            return Some(value);
        }
        let variable = &self.work.flat.variables[var];
        match variable.start {
            Some(start) if self.depth < 4 => {
                let mut inner = AtStart {
                    work: self.work,
                    depth: self.depth + 1,
                    others: self.others,
                };
                eval(&self.work.flat.ir, start, &mut inner, &mut NoExternals).ok()
            }
            _ => match variable.base {
                _ if matches!(self.others, Others::Unknown) => None,
                Base::Real => Some(Value::Real(0.0)),
                Base::Integer => Some(Value::Integer(0)),
                Base::Boolean => Some(Value::Boolean(false)),
                Base::Enum(id) => Some(Value::Enum(id, 1)),
                _ => None,
            },
        }
    }

    fn time(&self) -> Option<f64> {
        Some(self.work.flat.experiment.start_time.unwrap_or(0.0))
    }

    fn pre(&mut self, var: VarId) -> Option<Value> {
        self.var(var)
    }
}

/// The value of an expression when all variables have their start values.
pub(crate) fn value_at_start(work: &Work, e: ExprId) -> Option<f64> {
    evaluate_at_start(work, e, Others::Default)
}

/// The same, if it depends on nothing without a start value.
pub(crate) fn stated_value_at_start(work: &Work, e: ExprId) -> Option<f64> {
    evaluate_at_start(work, e, Others::Unknown)
}

fn evaluate_at_start(work: &Work, e: ExprId, others: Others) -> Option<f64> {
    let mut env = AtStart {
        work,
        depth: 0,
        others,
    };
    let value = eval(&work.flat.ir, e, &mut env, &mut NoExternals).ok()?;
    value.as_f64().filter(|x| x.is_finite())
}

/// Depends on nothing that can change during a run.
pub(crate) fn is_parametric(work: &mut Work, e: ExprId) -> bool {
    if work.flat.ir.is_literal(e) {
        return true;
    }
    let constant = work.flat.ir.reachable(&[e]).into_iter().all(|id| {
        !matches!(
            work.flat.ir.expr(id),
            Expr::Time | Expr::Builtin(Builtin::Pre | Builtin::Delay, _)
        )
    });
    constant
        && work
            .incidence(&[e])
            .iter()
            .all(|&v| work.class(v) == Class::Known)
}

/// Cannot be zero while the model runs (with the parameters as they are in the model).
pub(crate) fn known_nonzero(work: &mut Work, e: ExprId) -> bool {
    if let Some(number) = work.flat.ir.as_number(e) {
        return number != 0.0;
    }
    match sign(work, e, 0, &mut FxHashMap::default()) {
        Sign::Positive | Sign::Negative => return true,
        Sign::NonNegative | Sign::NonPositive | Sign::Unknown => {}
    }
    if is_parametric(work, e) {
        return parameter_value(work, e).is_some_and(|value| value != 0.0);
    }
    // Branches need not have the same sign.
    match *work.flat.ir.expr(e) {
        Expr::If(_, t, f) => known_nonzero(work, t) && known_nonzero(work, f),
        Expr::Unary(UnaryOp::Neg, a) => known_nonzero(work, a),
        Expr::Binary(BinaryOp::Mul, a, b) => known_nonzero(work, a) && known_nonzero(work, b),
        Expr::Binary(BinaryOp::Div, a, _) => known_nonzero(work, a),
        _ => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Positive,
    NonNegative,
    Negative,
    NonPositive,
    Unknown,
}

impl Sign {
    fn negated(self) -> Sign {
        match self {
            Sign::Positive => Sign::Negative,
            Sign::NonNegative => Sign::NonPositive,
            Sign::Negative => Sign::Positive,
            Sign::NonPositive => Sign::NonNegative,
            Sign::Unknown => Sign::Unknown,
        }
    }

    fn of(value: f64) -> Sign {
        match value {
            v if v > 0.0 => Sign::Positive,
            v if v < 0.0 => Sign::Negative,
            0.0 => Sign::NonNegative,
            _ => Sign::Unknown,
        }
    }

    /// Of a sum.
    fn plus(self, other: Sign) -> Sign {
        use Sign::*;
        match (self, other) {
            (Positive, Positive | NonNegative) | (NonNegative, Positive) => Positive,
            (NonNegative, NonNegative) => NonNegative,
            (Negative, Negative | NonPositive) | (NonPositive, Negative) => Negative,
            (NonPositive, NonPositive) => NonPositive,
            _ => Unknown,
        }
    }

    fn times(self, other: Sign) -> Sign {
        use Sign::*;
        match (self, other) {
            (Unknown, _) | (_, Unknown) => Unknown,
            (Positive, s) => s,
            (s, Positive) => s,
            (Negative, s) => s.negated(),
            (s, Negative) => s.negated(),
            (NonNegative, NonNegative) | (NonPositive, NonPositive) => NonNegative,
            (NonNegative, NonPositive) | (NonPositive, NonNegative) => NonPositive,
        }
    }
}

/// The sign of an expression; `known` has those of its shared parts, each of which is looked at once.
fn sign(work: &Work, e: ExprId, depth: u32, known: &mut FxHashMap<ExprId, Sign>) -> Sign {
    if depth > SIGN_DEPTH_MAX {
        return Sign::Unknown;
    }
    if let Some(&sign) = known.get(&e) {
        return sign;
    }
    let found = sign_by_parts(work, e, depth, known);
    known.insert(e, found);
    found
}

fn sign_by_parts(work: &Work, e: ExprId, depth: u32, known: &mut FxHashMap<ExprId, Sign>) -> Sign {
    let ir = &work.flat.ir;
    if let Some(number) = ir.as_number(e) {
        return Sign::of(number);
    }
    let mut of = |e: ExprId| sign(work, e, depth + 1, known);
    match ir.expr(e) {
        Expr::Var(v) => match work
            .values
            .get(v.index())
            .and_then(|x| x.as_ref())
            .and_then(|x| x.as_f64())
        {
            Some(value) if work.class(*v) == Class::Known => Sign::of(value),
            _ => Sign::Unknown,
        },
        Expr::Unary(UnaryOp::Neg, a) => of(*a).negated(),
        Expr::Binary(BinaryOp::Add, a, b) => of(*a).plus(of(*b)),
        Expr::Binary(BinaryOp::Sub, a, b) => of(*a).plus(of(*b).negated()),
        Expr::Binary(BinaryOp::Mul, a, b) if a == b => match of(*a) {
            Sign::Positive | Sign::Negative => Sign::Positive,
            _ => Sign::NonNegative,
        },
        Expr::Binary(BinaryOp::Mul, a, b) => of(*a).times(of(*b)),
        Expr::Binary(BinaryOp::Div, a, b) => match of(*b) {
            s @ (Sign::Positive | Sign::Negative) => of(*a).times(s),
            _ => Sign::Unknown,
        },
        Expr::Binary(BinaryOp::Pow, a, b) => match (of(*a), ir.as_number(*b)) {
            (Sign::Positive, _) => Sign::Positive,
            (Sign::Negative, Some(p)) if p % 2.0 == 0.0 => Sign::Positive,
            (_, Some(p)) if p % 2.0 == 0.0 && p >= 0.0 => Sign::NonNegative,
            _ => Sign::Unknown,
        },
        Expr::If(_, t, f) => {
            let (t, f) = (of(*t), of(*f));
            if t == f {
                return t;
            }
            let non_negative = |s| matches!(s, Sign::Positive | Sign::NonNegative);
            let non_positive = |s| matches!(s, Sign::Negative | Sign::NonPositive);
            match () {
                () if non_negative(t) && non_negative(f) => Sign::NonNegative,
                () if non_positive(t) && non_positive(f) => Sign::NonPositive,
                () => Sign::Unknown,
            }
        }
        Expr::Builtin(Builtin::NoEvent, args) => of(args[0]),
        Expr::Builtin(Builtin::Exp | Builtin::Cosh, _) => Sign::Positive,
        Expr::Builtin(Builtin::Abs, args) => match of(args[0]) {
            Sign::Positive | Sign::Negative => Sign::Positive,
            _ => Sign::NonNegative,
        },
        Expr::Builtin(Builtin::Sqrt, args) => match of(args[0]) {
            Sign::Positive => Sign::Positive,
            _ => Sign::NonNegative,
        },
        Expr::Builtin(Builtin::Max, args) if args.len() == 2 => match (of(args[0]), of(args[1])) {
            (Sign::Positive, _) | (_, Sign::Positive) => Sign::Positive,
            (Sign::NonNegative, _) | (_, Sign::NonNegative) => Sign::NonNegative,
            _ => Sign::Unknown,
        },
        _ => Sign::Unknown,
    }
}
