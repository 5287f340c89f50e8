//! Compile-time values (specification 3.8): expressions of constants and parameters to values and back, and substitution of the
//! inputs of a function by arguments.

use super::nodes::merge_dims;
use super::{error, error_help};
use crate::core::*;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::eval::NoEnv;
use saltus_ir::external::{NoHost, Objects};
use saltus_ir::flat::Variability;
use saltus_ir::func::FunctionBody;
use saltus_ir::value::ArrayValue;
use saltus_ir::{Base, BinaryOp, Builtin, Dim, Expr, ExprId, LocalId, Sub, Type, Value};
use saltus_syntax::{Name, Span};
use std::sync::Arc;

/// External functions that are declared impure because a file may change, but do nothing except read a matrix. Sizes may depend
/// on them: the file is read when the model is compiled.
const DATA_READERS: [&str; 2] = ["ModelicaIO_readMatrixSizes", "ModelicaIO_readRealMatrix"];

fn only_reads_data(f: &saltus_ir::func::Function) -> bool {
    matches!(&f.body, FunctionBody::External(e) if DATA_READERS.contains(&e.name.as_str()))
}

/// What calls of impure functions are to the value of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Impure {
    Called,
    /// It has no value at compile time.
    Refused,
}

impl<'a> Flattener<'a> {
    /// The value of an expression of constants and parameters; parameters it needs become structural.
    pub fn const_eval(&mut self, e: ExprId, span: Span) -> Res<Value> {
        if let Some(value) = self.literal_value(e) {
            return Ok(value);
        }
        self.const_eval_with(e, span, Impure::Refused)
    }

    /// The value of the binding of a parameter. Impure functions in it are called once (specification 12.3): at the start of a run,
    /// or now if the structure of the model depends on the value.
    pub(crate) fn binding_value(&mut self, e: ExprId, span: Span) -> Res<Value> {
        if let Some(value) = self.literal_value(e) {
            return Ok(value);
        }
        let impure = if self.speculative {
            Impure::Refused
        } else {
            Impure::Called
        };
        self.const_eval_with(e, span, impure)
    }

    fn const_eval_with(&mut self, e: ExprId, span: Span, impure: Impure) -> Res<Value> {
        if let Some(what) = self.obstacle(e, impure) {
            return Err(error_help(
                "not-constant",
                span,
                format!("this value must be known at compile time, but {what}"),
                "use constants and parameters only",
            ));
        }
        let mut memo = FxHashMap::default();
        let closed = self.close(e, span, &mut memo)?;
        self.evaluate(closed, span)
    }

    /// Whether an impure function is called in `e`.
    pub(crate) fn calls_impure(&self, e: ExprId) -> bool {
        self.ir.reachable(&[e]).into_iter().any(|id| {
            matches!(self.ir.expr(id), Expr::Call { function, .. }
                if self.ir.functions[*function].impure)
        })
    }

    pub fn const_int(&mut self, e: ExprId, span: Span) -> Res<i64> {
        let value = self.const_eval(e, span)?;
        match value {
            Value::Integer(i) => Ok(i),
            _ => Err(error(
                "type-mismatch",
                span,
                format!("an Integer is expected, found `{}`", self.type_text_of(e)),
            )),
        }
    }

    pub fn const_bool(&mut self, e: ExprId, span: Span) -> Res<bool> {
        let value = self.const_eval(e, span)?;
        value.as_bool().ok_or_else(|| {
            error(
                "type-mismatch",
                span,
                format!("a Boolean is expected, found `{}`", self.type_text_of(e)),
            )
        })
    }

    /// A vector of Integers.
    pub fn const_ints(&mut self, e: ExprId, span: Span) -> Res<Vec<i64>> {
        let wrong = error(
            "type-mismatch",
            span,
            format!(
                "a vector of Integers is expected, found `{}`",
                self.type_text_of(e)
            ),
        );
        match self.const_eval(e, span)? {
            Value::Array(a) => a
                .elems
                .iter()
                .map(Value::as_i64)
                .collect::<Option<_>>()
                .ok_or(wrong),
            _ => Err(wrong),
        }
    }

    /// The value if it can be known at compile time.
    pub(crate) fn try_const(&mut self, e: ExprId) -> Option<Value> {
        if let Some(value) = self.literal_value(e) {
            return Some(value);
        }
        if self.obstacle(e, Impure::Refused).is_some() {
            return None;
        }
        let span = self.root_span();
        let mut memo = FxHashMap::default();
        let closed = self.close(e, span, &mut memo).ok()?;
        self.evaluate(closed, span).ok()
    }

    /// The value of an expression without variables if it is Boolean.
    pub(crate) fn literal_bool(&mut self, e: ExprId) -> Option<bool> {
        if let Some(b) = self.ir.as_boolean(e) {
            return Some(b);
        }
        if self.obstacle(e, Impure::Refused).is_some() || !self.ir.variables_of(e).is_empty() {
            return None;
        }
        let span = self.root_span();
        self.evaluate(e, span).ok()?.as_bool()
    }

    fn literal_value(&self, e: ExprId) -> Option<Value> {
        match self.ir.expr(e) {
            Expr::Real(bits) => Some(Value::Real(f64::from_bits(*bits))),
            Expr::Integer(i) => Some(Value::Integer(*i)),
            Expr::Boolean(b) => Some(Value::Boolean(*b)),
            Expr::String(s) => Some(Value::String(s.as_str().into())),
            Expr::Enum(id, k) => Some(Value::Enum(*id, *k)),
            _ => None,
        }
    }

    /// What in `e` can never be known at compile time.
    fn obstacle(&self, e: ExprId, impure: Impure) -> Option<String> {
        let nodes = self.ir.reachable(&[e]);
        let mut bound: FxHashSet<LocalId> = FxHashSet::default();
        for &id in &nodes {
            if let Expr::Comprehension { iter, .. } | Expr::Reduce { iter, .. } = self.ir.expr(id) {
                bound.insert(*iter);
            }
        }
        for &id in &nodes {
            match self.ir.expr(id) {
                Expr::Time => return Some("it depends on `time`".into()),
                Expr::Local(l) if !bound.contains(l) => {
                    return Some(format!(
                        "it depends on the local `{}`",
                        self.ir.locals[*l].name
                    ));
                }
                Expr::Var(v) if self.variables[*v].variability > Variability::Parameter => {
                    return Some(format!("`{}` is not a parameter", self.variables[*v].name));
                }
                Expr::VarArray(v)
                    if self
                        .variables
                        .get(*v)
                        .is_some_and(|v| v.variability > Variability::Parameter) =>
                {
                    return Some(format!("`{}` is not a parameter", self.variables[*v].name));
                }
                Expr::Builtin(op, _) if op.needs_simulation() => {
                    return Some(format!("it uses `{}`", op.name()));
                }
                Expr::Call { function, .. } => {
                    let f = &self.ir.functions[*function];
                    if f.impure && impure == Impure::Refused && !only_reads_data(f) {
                        return Some(format!("it calls the impure function `{}`", f.name));
                    }
                    if matches!(f.body, FunctionBody::Missing) {
                        return Some(format!("it calls `{}`, which is not complete", f.name));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// `e` with parameters replaced by their values; of an if-expression only the branch taken is asked.
    fn close(
        &mut self,
        e: ExprId,
        span: Span,
        memo: &mut FxHashMap<ExprId, ExprId>,
    ) -> Res<ExprId> {
        if let Some(&done) = memo.get(&e) {
            return Ok(done);
        }
        let closed = match self.ir.expr(e).clone() {
            // An external object exists only during one evaluation: its constructor is called again.
            Expr::Var(v) if matches!(self.ir.base(e), Base::Object(_)) => {
                let (inst, _) = self.var_inst[v];
                let Some(binding) = self.binding(inst)? else {
                    return Err(error(
                        "not-constant",
                        span,
                        format!("external object `{}` has no value", self.variables[v].name),
                    ));
                };
                self.close(binding, span, memo)?
            }
            Expr::Var(v) => {
                let (inst, offset) = self.var_inst[v];
                let value = self.value_of(inst, span)?;
                let base = self.ir.base(e);
                let value = element_value(&value, offset as usize, span)?;
                self.value_node(&value, base, span)?
            }
            Expr::VarArray(first) => {
                let (inst, offset) = self.var_inst[first];
                let value = self.value_of(inst, span)?;
                let ty = self.ir.ty(e).clone();
                let Some(dims) = ty.known_dims() else {
                    unreachable!("variables have known sizes")
                };
                let n: usize = dims.iter().product();
                let elems = (0..n)
                    .map(|k| element_value(&value, offset as usize + k, span))
                    .collect::<Res<_>>()?;
                self.value_node(
                    &Value::Array(Arc::new(ArrayValue { dims, elems })),
                    ty.base,
                    span,
                )?
            }
            Expr::If(c, t, f) => {
                let c = self.close(c, span, memo)?;
                let condition = match self.ir.as_boolean(c) {
                    Some(b) => Some(b),
                    None => self.evaluate(c, span).ok().and_then(|v| v.as_bool()),
                };
                match condition {
                    Some(true) => self.close(t, span, memo)?,
                    Some(false) => self.close(f, span, memo)?,
                    None => {
                        let (t, f) = (self.close(t, span, memo)?, self.close(f, span, memo)?);
                        let ty = self.ir.type_id(e);
                        self.ir.add_folded(Expr::If(c, t, f), ty)
                    }
                }
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = self.close(a, span, memo)?;
                if self.ir.as_boolean(a) == Some(op == BinaryOp::Or) {
                    a
                } else {
                    let b = self.close(b, span, memo)?;
                    let ty = self.ir.type_id(e);
                    self.ir.add_folded(Expr::Binary(op, a, b), ty)
                }
            }
            mut other => {
                let mut children = Vec::new();
                self.ir.for_each_child(e, |c| children.push(c));
                for c in children {
                    let new = self.close(c, span, memo)?;
                    memo.insert(c, new);
                }
                other.for_each_child_mut(|c| *c = memo[c]);
                let ty = self.ir.type_id(e);
                self.ir.add_folded(other, ty)
            }
        };
        memo.insert(e, closed);
        Ok(closed)
    }

    /// Evaluates an expression without variables.
    fn evaluate(&mut self, e: ExprId, span: Span) -> Res<Value> {
        if let Some(value) = self.literal_value(e) {
            return Ok(value);
        }
        if let Base::Object(_) = self.ir.base(e) {
            return Err(error(
                "not-constant",
                span,
                "an external object has no value at compile time",
            ));
        }
        let reads = self.calls_impure(e);
        let host = self.options.files.clone().filter(|_| reads);
        let mut externals = Objects::new(host.unwrap_or_else(|| Arc::new(NoHost)));
        saltus_ir::eval::eval(&self.ir, e, &mut NoEnv, &mut externals).map_err(|why| {
            let message =
                format!("this value is needed at compile time, but cannot be found: {why}");
            let mut diagnostic = saltus_syntax::Diagnostic::error("not-constant", span, message);
            if let Some(at) = why.span {
                diagnostic = diagnostic.secondary(at, "while executing this");
            }
            Box::new(diagnostic)
        })
    }

    /// A value as an expression of base `base`.
    pub(crate) fn value_node(&mut self, value: &Value, base: Base, span: Span) -> Res<ExprId> {
        Ok(match value {
            Value::Real(x) => self.ir.real(*x),
            Value::Integer(i) if base == Base::Real => self.ir.real(*i as f64),
            Value::Integer(i) => self.ir.integer(*i),
            Value::Boolean(b) => self.ir.boolean(*b),
            Value::String(s) => self.ir.string(s),
            Value::Enum(id, k) => self.ir.add_scalar(Expr::Enum(*id, *k), Base::Enum(*id)),
            Value::Array(a) => {
                let mut items = Vec::with_capacity(a.elems.len());
                for v in &a.elems {
                    items.push(self.value_node(v, base, span)?);
                }
                let element = match items.first() {
                    Some(&first) => self.ir.ty(first).clone(),
                    None => Type::scalar(base),
                };
                self.nest(&a.dims, &element, &items)
            }
            Value::Record(values) => {
                let Base::Record(record) = base else {
                    return Err(error(
                        "type-mismatch",
                        span,
                        "a record value stands where a simple value is expected",
                    ));
                };
                let declared: Vec<(Name, saltus_ir::TypeId)> = self.ir.records[record]
                    .fields
                    .iter()
                    .map(|f| (f.name, f.ty))
                    .collect();
                let (name, at) = (self.ir.records[record].name, self.ir.records[record].span);
                let mut fields = Vec::with_capacity(values.len());
                for (v, (field, ty)) in values.iter().zip(declared) {
                    let base = self.ir.type_of_id(ty).base;
                    fields.push((field, self.value_node(v, base, span)?));
                }
                self.record_node(name, &fields, at)
            }
            Value::Function(f, bound) => {
                let mut list = Vec::with_capacity(bound.len());
                for (k, v) in bound.iter() {
                    let input = self.ir.functions[*f].inputs[*k as usize];
                    let base = self.ir.type_of_id(self.ir.locals[input].ty).base;
                    list.push((*k, self.value_node(v, base, span)?));
                }
                self.node(
                    Expr::Function {
                        function: *f,
                        bound: list.into(),
                    },
                    Base::Function,
                    Vec::new(),
                )
            }
            Value::Object(_) => {
                return Err(error(
                    "not-constant",
                    span,
                    "an external object has no value that can be written down at compile time",
                ));
            }
        })
    }

    /// `e` with locals replaced by expressions. Sizes that become known are folded.
    pub(crate) fn substitute_locals(
        &mut self,
        e: ExprId,
        map: &FxHashMap<LocalId, ExprId>,
    ) -> ExprId {
        let nodes = self.ir.reachable(&[e]);
        let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in nodes {
            let new = match self.ir.expr(id).clone() {
                Expr::Local(l) => map.get(&l).copied().unwrap_or(id),
                mut expr => {
                    let mut changed = false;
                    expr.for_each_child_mut(|c| {
                        let n = memo[c];
                        changed |= n != *c;
                        *c = n;
                    });
                    if changed { self.rebuild(expr, id) } else { id }
                }
            };
            memo.insert(id, new);
        }
        memo[&e]
    }

    /// A node with new children: its type keeps the base of `old`, unknown sizes are found again.
    fn rebuild(&mut self, expr: Expr, old: ExprId) -> ExprId {
        let ty = self.ir.ty(old).clone();
        if let Expr::Field { base, index } = expr {
            return self.field(base, index);
        }
        if !ty.dims.contains(&Dim::Unknown) {
            let ty = self.ir.type_id(old);
            return self.ir.add_folded(expr, ty);
        }
        let found: Option<Vec<Dim>> = match &expr {
            Expr::Unary(_, a) => Some(self.ir.ty(*a).dims.clone()),
            Expr::Binary(op, a, b) => Some(self.ir.binary_type(*op, *a, *b).dims),
            Expr::If(_, t, e) => {
                let (x, y) = (self.ir.ty(*t).dims.clone(), self.ir.ty(*e).dims.clone());
                if x == y { Some(x) } else { None }
            }
            Expr::Array(items) if !items.is_empty() => {
                let mut dims = vec![Dim::Known(items.len() as u32)];
                dims.extend_from_slice(&self.ir.ty(items[0]).dims);
                Some(dims)
            }
            Expr::Index { base, subs } => {
                let mut dims = Vec::new();
                for (sub, dim) in subs.iter().zip(&self.ir.ty(*base).dims) {
                    match sub {
                        Sub::All => dims.push(*dim),
                        Sub::At(e) => dims.extend_from_slice(&self.ir.ty(*e).dims),
                    }
                }
                Some(dims)
            }
            Expr::Builtin(Builtin::Fill, args) => Some(
                args[1..]
                    .iter()
                    .map(|&n| match self.ir.expr(n) {
                        Expr::Integer(n) => u32::try_from(*n).map_or(Dim::Unknown, Dim::Known),
                        _ => Dim::Unknown,
                    })
                    .collect(),
            ),
            Expr::Builtin(op, args) if args.len() == 1 && op.is_math1() => {
                Some(self.ir.ty(args[0]).dims.clone())
            }
            _ => None,
        };
        let dims = match found {
            Some(found) if found.len() == ty.dims.len() => merge_dims(&ty.dims, &found),
            _ => ty.dims,
        };
        self.node(expr, ty.base, dims)
    }
}

/// Element `k` in row-major order of a value (a scalar is its own element).
fn element_value(value: &Value, k: usize, span: Span) -> Res<Value> {
    match value {
        Value::Array(a) => a.elems.get(k).cloned().ok_or_else(|| {
            error(
                "array-size-mismatch",
                span,
                format!("a value of size {:?} is given to a larger array", a.dims),
            )
        }),
        other => Ok(other.clone()),
    }
}
