//! Symbolic differentiation, with respect to time or to one variable.
//!
//! Comes in: a scalar expression (or an array of them) and the derivative of each variable. Goes out: the derivative
//! as a folded expression. Conditions are kept: the derivative holds between events. A call is differentiated by the
//! `derivative` annotations of its function (specification 12.7.1), otherwise by inlining it; with respect to time, where that is not possible either, by a
//! difference quotient ([`crate::difference`]).

use crate::difference::difference_rule;
use crate::expr::{BinaryOp, Builtin, Expr, Ir, UnaryOp};
use crate::func::DerivativeRule;
use crate::scalar::{InlineMode, ScalarError, inline_call};
use crate::types::Base;
use crate::{ExprId, FuncId, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// Calls that were inlined to be differentiated may contain calls, to this depth.
const INLINE_DEPTH_MAX: usize = 32;

#[derive(Clone, PartialEq, Debug)]
pub enum DiffError {
    /// The caller gave no derivative of this variable.
    Variable(VarId),
    /// The function has no derivative annotation that applies, and cannot be inlined.
    Function {
        function: FuncId,
        reason: Option<ScalarError>,
    },
    /// The operator has no derivative.
    Operator(&'static str),
    TooDeep,
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffError::Variable(v) => write!(f, "variable {} has no derivative", v.0),
            DiffError::Function {
                reason: Some(reason),
                ..
            } => {
                write!(f, "the function has no derivative annotation, and {reason}")
            }
            DiffError::Function { reason: None, .. } => {
                write!(f, "no derivative annotation of the function applies")
            }
            DiffError::Operator(name) => write!(f, "`{name}` has no derivative"),
            DiffError::TooDeep => write!(f, "functions are nested too deeply to be differentiated"),
        }
    }
}

impl std::error::Error for DiffError {}

/// `d e / d time`.
///
/// `der_of` gives the derivative of each variable in `e`: `der(v)` for an unknown, the literal 0 for a parameter or
/// discrete variable. `None` makes the whole an error. The derivative of `der(x)` is `der(der(x))`.
pub fn total_derivative(
    ir: &mut Ir,
    e: ExprId,
    mut der_of: impl FnMut(&mut Ir, VarId) -> Option<ExprId>,
) -> Result<ExprId, DiffError> {
    Differ {
        ir,
        var: &mut der_of,
        with_time: true,
        memo: FxHashMap::default(),
        depth: 0,
    }
    .derivative(e)
}

/// `∂ e / ∂ var`, with `time` and every `der(…)` and `pre(…)` held fixed.
pub fn partial(ir: &mut Ir, e: ExprId, var: VarId) -> Result<ExprId, DiffError> {
    let mut seed = |ir: &mut Ir, v: VarId| Some(ir.real(if v == var { 1.0 } else { 0.0 }));
    Differ {
        ir,
        var: &mut seed,
        with_time: false,
        memo: FxHashMap::default(),
        depth: 0,
    }
    .derivative(e)
}

struct Differ<'a> {
    ir: &'a mut Ir,
    var: &'a mut dyn FnMut(&mut Ir, VarId) -> Option<ExprId>,
    /// Differentiating with respect to time.
    with_time: bool,
    memo: FxHashMap<ExprId, ExprId>,
    depth: usize,
}

type Result2 = Result<ExprId, DiffError>;

impl Differ<'_> {
    fn derivative(&mut self, e: ExprId) -> Result2 {
        // Top down: the nodes whose derivative is needed (not conditions and subscripts); then children first.
        let mut needed = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(id) = stack.pop() {
            if !self.memo.contains_key(&id) && needed.insert(id) {
                self.for_each_needed(id, |child| stack.push(child));
            }
        }
        let mut order: Vec<ExprId> = needed.into_iter().collect();
        order.sort_unstable();
        for id in order {
            let derivative = self.node(id)?;
            self.memo.insert(id, derivative);
        }
        Ok(self.memo[&e])
    }

    /// Whether values of this node can have a derivative other than zero.
    fn is_smooth_type(&self, ty: TypeId) -> bool {
        match self.ir.type_of_id(ty).base {
            Base::Real => true,
            Base::Record(id) => self.ir.records[id]
                .fields
                .iter()
                .any(|field| self.is_smooth_type(field.ty)),
            _ => false,
        }
    }

    fn for_each_needed(&self, id: ExprId, mut f: impl FnMut(ExprId)) {
        if !self.is_smooth_type(self.ir.type_id(id)) {
            return;
        }
        match self.ir.expr(id) {
            Expr::If(_, t, e) => {
                f(*t);
                f(*e);
            }
            Expr::Builtin(op, args) => match op {
                Builtin::Der | Builtin::Pre | Builtin::Previous | Builtin::Hold => {}
                Builtin::Smooth => args.get(1).copied().into_iter().for_each(f),
                _ => args.iter().copied().for_each(f),
            },
            Expr::Output { call, .. } => match self.ir.expr(*call) {
                Expr::Call { function, args } => self.for_each_needed_argument(*function, args, f),
                _ => f(*call),
            },
            Expr::Call { function, args } => self.for_each_needed_argument(*function, args, f),
            Expr::Index { base, .. } => f(*base),
            _ => self.ir.for_each_child(id, f),
        }
    }

    /// Arguments that no derivative rule of the function asks the derivative of are left out: they may have none.
    fn for_each_needed_argument(
        &self,
        function: FuncId,
        args: &[ExprId],
        mut f: impl FnMut(ExprId),
    ) {
        let rules = &self.ir.functions[function].derivatives;
        for (k, &arg) in args.iter().enumerate() {
            let unused = |rule: &DerivativeRule| rule.no_derivative.contains(&(k as u32));
            if rules.is_empty() || !rules.iter().all(unused) {
                f(arg);
            }
        }
    }

    fn d(&self, e: ExprId) -> ExprId {
        self.memo[&e]
    }

    fn node(&mut self, id: ExprId) -> Result2 {
        let ty = self.ir.type_id(id);
        if !self.is_smooth_type(ty) {
            return Ok(self.zero(ty));
        }
        let expr = self.ir.expr(id).clone();
        match expr {
            Expr::Real(_)
            | Expr::Integer(_)
            | Expr::Boolean(_)
            | Expr::String(_)
            | Expr::Enum(..) => Ok(self.ir.real(0.0)),
            Expr::Time => Ok(self.ir.real(if self.with_time { 1.0 } else { 0.0 })),
            Expr::Var(v) => (self.var)(self.ir, v).ok_or(DiffError::Variable(v)),
            Expr::VarArray(first) => self.var_array(first, ty),
            Expr::Unary(UnaryOp::Neg, a) => {
                let da = self.d(a);
                Ok(self.ir.neg(da))
            }
            Expr::Unary(UnaryOp::Not, _) => Ok(self.ir.real(0.0)),
            Expr::Binary(op, a, b) => self.binary(id, op, a, b),
            Expr::If(c, t, e) => {
                let (dt, de) = (self.d(t), self.d(e));
                Ok(self.ir.if_(c, dt, de))
            }
            Expr::Builtin(op, args) => self.builtin(id, op, &args),
            Expr::Call { function, args } => self.call(id, function, &args, 0),
            Expr::Output { call, index } => match self.ir.expr(call).clone() {
                Expr::Call { function, args } => self.call(id, function, &args, index as usize),
                _ => Err(DiffError::Operator("an output of an operator")),
            },
            Expr::Leaf { of, index } => {
                let d_of = self.d(of);
                self.leaf(d_of, index, self.ir.base(id))
            }
            Expr::Array(_) | Expr::Record { .. } => {
                let mut expr = expr;
                expr.for_each_child_mut(|child| *child = self.memo[child]);
                Ok(self.ir.add(expr, ty))
            }
            Expr::Index { base, subs } => {
                let d_base = self.d(base);
                if self.is_zero(d_base) {
                    return Ok(self.zero(ty));
                }
                Ok(self.ir.add_folded(Expr::Index { base: d_base, subs }, ty))
            }
            Expr::Field { base, index } => {
                let d_base = self.d(base);
                Ok(self.ir.add_folded(
                    Expr::Field {
                        base: d_base,
                        index,
                    },
                    ty,
                ))
            }
            Expr::Local(_) => Err(DiffError::Operator("a local variable")),
            Expr::Range { .. } => Err(DiffError::Operator("a range")),
            Expr::Comprehension { .. } | Expr::Reduce { .. } => {
                Err(DiffError::Operator("an iterator"))
            }
            Expr::Function { .. } => Ok(id),
        }
    }

    /// Zeros of a type; what is not Real in a record keeps a fixed value.
    fn zero(&mut self, ty: TypeId) -> ExprId {
        let ty_value = self.ir.type_of_id(ty);
        if ty_value.is_scalar() && !matches!(ty_value.base, Base::Record(_)) {
            return self.ir.real(0.0);
        }
        let Some(bases) = self.ir.leaf_bases(ty) else {
            return self.ir.real(0.0);
        };
        let mut leaves = Vec::with_capacity(bases.len());
        for base in bases {
            leaves.push(match base {
                Base::Integer => self.ir.integer(0),
                Base::Boolean => self.ir.boolean(false),
                Base::String => self.ir.string(""),
                Base::Enum(id) => self.ir.add_scalar(Expr::Enum(id, 1), base),
                _ => self.ir.real(0.0),
            });
        }
        self.ir
            .rebuild_from_leaves(ty, &leaves)
            .expect("one leaf for each base")
    }

    fn is_zero(&self, e: ExprId) -> bool {
        match self.ir.expr(e) {
            Expr::Array(elements) => elements.iter().all(|&x| self.is_zero(x)),
            Expr::Record { fields, .. } => fields
                .iter()
                .all(|&x| !self.is_smooth_type(self.ir.type_id(x)) || self.is_zero(x)),
            _ => self.ir.is_zero(e),
        }
    }

    fn var_array(&mut self, first: VarId, ty: TypeId) -> Result2 {
        let n = self
            .ir
            .leaf_count(ty)
            .ok_or(DiffError::Operator("an array of unknown size"))?;
        let mut leaves = Vec::with_capacity(n);
        for v in (0..n as u32).map(|k| VarId(first.0 + k)) {
            leaves.push((self.var)(self.ir, v).ok_or(DiffError::Variable(v))?);
        }
        self.ir
            .rebuild_from_leaves(ty, &leaves)
            .ok_or(DiffError::Operator("an array of unknown size"))
    }

    fn binary(&mut self, id: ExprId, op: BinaryOp, a: ExprId, b: ExprId) -> Result2 {
        let scalar = self.ir.ty(a).is_scalar() && self.ir.ty(b).is_scalar();
        if !scalar && !matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            return Err(DiffError::Operator("an array product"));
        }
        let (da, db) = (self.d(a), self.d(b));
        let ir = &mut *self.ir;
        Ok(match op {
            BinaryOp::Add => ir.add_(da, db),
            BinaryOp::Sub => ir.sub(da, db),
            BinaryOp::Mul | BinaryOp::MatMul => {
                let left = ir.mul(da, b);
                let right = ir.mul(a, db);
                ir.add_(left, right)
            }
            BinaryOp::Div => {
                // (da - (a/b)·db) / b
                let shift = ir.mul(id, db);
                let numerator = ir.sub(da, shift);
                ir.div(numerator, b)
            }
            BinaryOp::Pow | BinaryOp::MatPow => self.power(id, a, b, da, db),
            _ => ir.real(0.0),
        })
    }

    /// `d(a^b) = b·a^(b-1)·da + a^b·log(a)·db`
    fn power(&mut self, id: ExprId, a: ExprId, b: ExprId, da: ExprId, db: ExprId) -> ExprId {
        let ir = &mut *self.ir;
        let one = ir.real(1.0);
        let base_part = if ir.is_zero(da) {
            ir.real(0.0)
        } else {
            let exponent = ir.sub(b, one);
            let power = ir.pow(a, exponent);
            let slope = ir.mul(b, power);
            ir.mul(slope, da)
        };
        if ir.is_zero(db) {
            return base_part;
        }
        let log = ir.call_builtin(Builtin::Log, &[a]);
        let slope = ir.mul(id, log);
        let exponent_part = ir.mul(slope, db);
        ir.add_(base_part, exponent_part)
    }

    fn builtin(&mut self, id: ExprId, op: Builtin, args: &[ExprId]) -> Result2 {
        match (op, args) {
            (Builtin::Der, _) if self.with_time => {
                let ty = self.ir.type_id(id);
                return Ok(self.ir.add(Expr::Builtin(Builtin::Der, Box::new([id])), ty));
            }
            (
                Builtin::Der | Builtin::Pre | Builtin::Previous | Builtin::Hold | Builtin::Interval,
                _,
            ) => {
                return Ok(self.zero(self.ir.type_id(id)));
            }
            (Builtin::NoEvent, [x]) => {
                let dx = self.d(*x);
                return Ok(self.ir.no_event(dx));
            }
            (Builtin::Smooth, [order, x]) => {
                let dx = self.d(*x);
                return Ok(match *self.ir.expr(*order) {
                    Expr::Integer(p) if p >= 1 => {
                        let order = self.ir.integer(p - 1);
                        self.ir.call_builtin(Builtin::Smooth, &[order, dx])
                    }
                    _ => dx,
                });
            }
            (Builtin::Homotopy, [x, y]) => {
                let (dx, dy) = (self.d(*x), self.d(*y));
                return Ok(self.ir.call_builtin(op, &[dx, dy]));
            }
            (Builtin::Delay, [x, rest @ ..]) if rest.iter().all(|&r| self.is_zero(self.d(r))) => {
                let dx = self.d(*x);
                if self.is_zero(dx) || !self.with_time {
                    return if self.with_time {
                        Ok(dx)
                    } else {
                        Ok(self.ir.real(0.0))
                    };
                }
                let mut args = args.to_vec();
                args[0] = dx;
                return Ok(self.ir.call_builtin(op, &args));
            }
            (Builtin::SemiLinear, [x, plus, minus]) => {
                let zero = self.ir.real(0.0);
                let positive = self.ir.binary(BinaryOp::Ge, *x, zero);
                let [up, down] = [*plus, *minus].map(|k| {
                    let (dx, dk) = (self.d(*x), self.d(k));
                    let first = self.ir.mul(dx, k);
                    let second = self.ir.mul(*x, dk);
                    self.ir.add_(first, second)
                });
                return Ok(self.ir.if_(positive, up, down));
            }
            (Builtin::Scalar | Builtin::Exact, [x]) if self.ir.ty(*x).is_scalar() => {
                return Ok(self.d(*x));
            }
            _ => {}
        }
        if args.iter().any(|&a| !self.ir.ty(a).is_scalar()) {
            return Err(DiffError::Operator(op.name()));
        }
        match args {
            [x] if op.is_math1() => Ok(self.math1(id, op, *x)),
            [x, y] if op.is_math2() => Ok(self.math2(id, op, *x, *y)),
            _ => Err(DiffError::Operator(op.name())),
        }
    }

    /// Functions of one number: outer derivative times `dx`.
    fn math1(&mut self, id: ExprId, op: Builtin, x: ExprId) -> ExprId {
        let dx = self.d(x);
        let ir = &mut *self.ir;
        if ir.is_zero(dx) {
            return dx;
        }
        let one = ir.real(1.0);
        match op {
            Builtin::Abs => {
                let zero = ir.real(0.0);
                let positive = ir.binary(BinaryOp::Ge, x, zero);
                let positive = ir.no_event(positive);
                let minus = ir.neg(dx);
                ir.if_(positive, dx, minus)
            }
            Builtin::Sqrt => {
                let two = ir.real(2.0);
                let denominator = ir.mul(two, id);
                ir.div(dx, denominator)
            }
            Builtin::Sin => {
                let slope = ir.call_builtin(Builtin::Cos, &[x]);
                ir.mul(slope, dx)
            }
            Builtin::Cos => {
                let slope = ir.call_builtin(Builtin::Sin, &[x]);
                let product = ir.mul(slope, dx);
                ir.neg(product)
            }
            Builtin::Tan => {
                let square = ir.mul(id, id);
                let slope = ir.add_(one, square);
                ir.mul(slope, dx)
            }
            Builtin::Asin | Builtin::Acos => {
                let square = ir.mul(x, x);
                let inner = ir.sub(one, square);
                let root = ir.call_builtin(Builtin::Sqrt, &[inner]);
                let quotient = ir.div(dx, root);
                if op == Builtin::Asin {
                    quotient
                } else {
                    ir.neg(quotient)
                }
            }
            Builtin::Atan => {
                let square = ir.mul(x, x);
                let denominator = ir.add_(one, square);
                ir.div(dx, denominator)
            }
            Builtin::Sinh => {
                let slope = ir.call_builtin(Builtin::Cosh, &[x]);
                ir.mul(slope, dx)
            }
            Builtin::Cosh => {
                let slope = ir.call_builtin(Builtin::Sinh, &[x]);
                ir.mul(slope, dx)
            }
            Builtin::Tanh => {
                let square = ir.mul(id, id);
                let slope = ir.sub(one, square);
                ir.mul(slope, dx)
            }
            Builtin::Exp => ir.mul(id, dx),
            Builtin::Log => ir.div(dx, x),
            Builtin::Log10 => {
                let ln10 = ir.real(std::f64::consts::LN_10);
                let denominator = ir.mul(x, ln10);
                ir.div(dx, denominator)
            }
            // Piecewise constant: sign, ceil, floor, integer.
            _ => ir.real(0.0),
        }
    }

    fn math2(&mut self, id: ExprId, op: Builtin, x: ExprId, y: ExprId) -> ExprId {
        let (dx, dy) = (self.d(x), self.d(y));
        let ir = &mut *self.ir;
        match op {
            Builtin::Atan2 => {
                // atan2(x, y): (y·dx - x·dy) / (x² + y²)
                let first = ir.mul(y, dx);
                let second = ir.mul(x, dy);
                let numerator = ir.sub(first, second);
                let xx = ir.mul(x, x);
                let yy = ir.mul(y, y);
                let denominator = ir.add_(xx, yy);
                ir.div(numerator, denominator)
            }
            Builtin::Min | Builtin::Max => {
                let relation = if op == Builtin::Min {
                    BinaryOp::Lt
                } else {
                    BinaryOp::Gt
                };
                let first = ir.binary(relation, x, y);
                let first = ir.no_event(first);
                ir.if_(first, dx, dy)
            }
            Builtin::Mod | Builtin::Rem => {
                // x - k·y with the piecewise constant k = (x - result) / y
                if ir.is_zero(dy) {
                    return dx;
                }
                let part = ir.sub(x, id);
                let k = ir.div(part, y);
                let shift = ir.mul(k, dy);
                ir.sub(dx, shift)
            }
            _ => ir.real(0.0),
        }
    }

    /// Leaf `index` of the derivative of an array- or record-valued node.
    fn leaf(&mut self, of: ExprId, index: u32, base: Base) -> Result2 {
        match self.ir.expr(of) {
            Expr::Call { .. } | Expr::Output { .. } => {
                Ok(self.ir.add_scalar(Expr::Leaf { of, index }, base))
            }
            _ => {
                let leaves = crate::scalar::scalarize(self.ir, of)
                    .map_err(|_| DiffError::Operator("an array-valued expression"))?;
                leaves
                    .get(index as usize)
                    .copied()
                    .ok_or(DiffError::Operator("an array-valued expression"))
            }
        }
    }

    /// The derivative of output `output` of a call, whose node `id` has the type of that output.
    fn call(&mut self, id: ExprId, function: FuncId, args: &[ExprId], output: usize) -> Result2 {
        let ty = self.ir.type_id(id);
        let mut d_args = Vec::with_capacity(args.len());
        for &arg in args {
            d_args.push(match self.memo.get(&arg) {
                Some(&derivative) => derivative,
                None => self.zero(self.ir.type_id(arg)),
            });
        }
        let is_spared = |k: usize| {
            (self.ir.functions[function].derivatives.iter())
                .any(|rule| rule.no_derivative.contains(&(k as u32)))
        };
        // An argument that a rule spares may move nevertheless: the rule knows how.
        let rests = |k: usize, d: ExprId| {
            self.is_zero(d) && (!is_spared(k) || self.ir.variables_of(args[k]).is_empty())
        };
        if d_args.iter().enumerate().all(|(k, &d)| rests(k, d)) {
            return Ok(self.zero(ty));
        }
        if let Some(result) = self.by_rule(function, args, &d_args, output, ty) {
            return Ok(result);
        }
        if let Some(result) = self.by_higher_rule(function, args, &d_args, output, ty) {
            return Ok(result);
        }
        if self.depth >= INLINE_DEPTH_MAX {
            return Err(DiffError::TooDeep);
        }
        let outputs = match inline_call(self.ir, function, args, InlineMode::Everything) {
            Ok(outputs) => outputs,
            Err(reason) => {
                return self
                    .by_differences(function, args, &d_args, output, ty)
                    .ok_or(DiffError::Function {
                        function,
                        reason: Some(reason),
                    });
            }
        };
        let Some(shaped) = outputs.get(output) else {
            return Err(DiffError::Function {
                function,
                reason: None,
            });
        };
        self.depth += 1;
        let leaves = shaped
            .leaves
            .iter()
            .map(|&leaf| self.derivative(leaf))
            .collect::<Result<Vec<_>, _>>();
        self.depth -= 1;
        self.ir
            .rebuild_from_leaves(ty, &leaves?)
            .ok_or(DiffError::Function {
                function,
                reason: None,
            })
    }

    /// Inputs of `function` whose derivative a rule passes.
    fn passed(&self, function: FuncId, rule: &DerivativeRule) -> Vec<usize> {
        let inputs = &self.ir.functions[function].inputs;
        let excluded = |k: usize| {
            rule.no_derivative.contains(&(k as u32)) || rule.zero_derivative.contains(&(k as u32))
        };
        (0..inputs.len())
            .filter(|&k| self.is_smooth_type(self.ir.locals[inputs[k]].ty) && !excluded(k))
            .collect()
    }

    /// Position among the outputs that have a derivative.
    fn output_of_derivative(&self, function: FuncId, output: usize) -> usize {
        let outputs = &self.ir.functions[function].outputs;
        outputs[..output]
            .iter()
            .filter(|&&o| self.is_smooth_type(self.ir.locals[o].ty))
            .count()
    }

    fn call_node(
        &mut self,
        function: FuncId,
        args: Vec<ExprId>,
        output: usize,
        ty: TypeId,
    ) -> Option<ExprId> {
        let f = &self.ir.functions[function];
        if f.inputs.len() != args.len() {
            return None;
        }
        let &first = f.outputs.first()?;
        if output == 0 {
            return Some(self.ir.add(
                Expr::Call {
                    function,
                    args: args.into(),
                },
                ty,
            ));
        }
        let first_ty = self.ir.locals[first].ty;
        let call = self.ir.add(
            Expr::Call {
                function,
                args: args.into(),
            },
            first_ty,
        );
        Some(self.ir.add(
            Expr::Output {
                call,
                index: output as u32,
            },
            ty,
        ))
    }

    /// A rule of order 1 whose conditions hold.
    fn by_rule(
        &mut self,
        function: FuncId,
        args: &[ExprId],
        d_args: &[ExprId],
        output: usize,
        ty: TypeId,
    ) -> Option<ExprId> {
        let rules = self.ir.functions[function].derivatives.clone();
        let position = self.output_of_derivative(function, output);
        rules
            .iter()
            .filter(|rule| rule.order == 1)
            .find_map(|rule| self.apply(rule, function, args, d_args, position, ty))
    }

    /// A call by a rule of order 1 if its conditions hold: original inputs, then the derivatives of the Real ones.
    fn apply(
        &mut self,
        rule: &DerivativeRule,
        function: FuncId,
        args: &[ExprId],
        d_args: &[ExprId],
        position: usize,
        ty: TypeId,
    ) -> Option<ExprId> {
        let zeros = rule
            .zero_derivative
            .iter()
            .all(|&k| d_args.get(k as usize).is_some_and(|&d| self.is_zero(d)));
        if !zeros {
            return None;
        }
        let mut all = args.to_vec();
        all.extend(self.passed(function, rule).into_iter().map(|k| d_args[k]));
        self.call_node(rule.function, all, position, ty)
    }

    /// The derivative with respect to time as a difference quotient. Those with respect to unknowns are left to whoever solves for them.
    fn by_differences(
        &mut self,
        function: FuncId,
        args: &[ExprId],
        d_args: &[ExprId],
        output: usize,
        ty: TypeId,
    ) -> Option<ExprId> {
        if !self.with_time {
            return None;
        }
        let rule = difference_rule(self.ir, function, output)?;
        self.apply(&rule, function, args, d_args, 0, ty)
    }

    /// `function` is itself the derivative of order n of another function, and one of the two has a rule of order n + 1 (specification
    /// 12.7.1; its example writes the rule of order 2 at the first derivative).
    fn by_higher_rule(
        &mut self,
        function: FuncId,
        args: &[ExprId],
        d_args: &[ExprId],
        output: usize,
        ty: TypeId,
    ) -> Option<ExprId> {
        let found = self.ir.functions.iter().find_map(|(id, f)| {
            let rule = (f.derivatives.iter()).find(|rule| rule.function == function)?;
            let own = &self.ir.functions[function].derivatives;
            let next =
                (f.derivatives.iter().chain(own)).find(|next| next.order == rule.order + 1)?;
            Some((id, next.function))
        });
        let (original, next) = found?;
        // The last inputs of `function` are the derivatives of highest order: those that it has more than the one before it.
        let n_inputs = |f: FuncId| self.ir.functions[f].inputs.len();
        let n_last = n_inputs(next).checked_sub(n_inputs(function))?;
        if n_inputs(original) + n_last > n_inputs(function) {
            return None;
        }
        let first_last = args.len().checked_sub(n_last)?;
        let mut all = args.to_vec();
        all.extend(&d_args[first_last..]);
        self.call_node(next, all, output, ty)
    }
}
