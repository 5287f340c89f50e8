//! The evaluator: the value of an expression or a function call.
//!
//! Comes in: an expression, the values of variables ([`Env`]) and the external functions ([`Externals`]). Goes out:
//! a [`Value`], or an [`EvalError`] that says why there is none and in which statement. Functions follow the Modelica
//! specification 3.6, chapter 12, statements chapter 11; `and` and `or` do not evaluate their right operand when the
//! left one decides.
//!
//! Locals live in one table indexed by [`LocalId`]; a call saves the entries of its own locals and restores them, so
//! that access costs no hashing and recursion works. At the top level (outside functions and iterators) the values
//! of shared nodes are remembered, because expressions are graphs.

mod arrays;
mod format;

pub use format::{format_general, format_value};

use crate::expr::{BinaryOp, Builtin, Expr, Ir, Reduction, Sub, UnaryOp};
use crate::func::{
    Access, AssertLevel, External, ExternalArg, ForeignCode, FunctionBody, Place, Statement,
    StatementKind, Target,
};
use crate::ids::Id;
use crate::ops::{self, DomainError};
use crate::types::{Base, Type};
use crate::value::{ArrayValue, Value};
use crate::{ExprId, FuncId, LocalId, TypeId, VarId};
use rustc_hash::FxHashMap;
use saltus_syntax::Span;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// Nested function calls.
const CALL_DEPTH_MAX: usize = 200;
/// Nested expressions and statements; chains of binary operators count once.
const DEPTH_MAX: usize = 2_000;
/// Most values that a failed assertion shows.
pub const VALUES_SHOWN_MAX: usize = 8;
/// Loop passes of one evaluation.
const ITERATIONS_MAX: u64 = 10_000_000;
/// Elements of one array.
const ELEMENTS_MAX: usize = 20_000_000;

/// Where the values of a model's variables come from. `None` means: not known here.
pub trait Env {
    fn var(&mut self, var: VarId) -> Option<Value>;

    fn time(&self) -> Option<f64> {
        None
    }

    /// The left limit of a discrete variable.
    fn pre(&mut self, _var: VarId) -> Option<Value> {
        None
    }

    /// The derivative of a variable.
    fn der(&mut self, _var: VarId) -> Option<Value> {
        None
    }

    /// Operators that only a simulation can answer, such as `initial()`, `sample(…)` and `delay(…)`, by node.
    fn special(&mut self, _op: Builtin, _node: ExprId) -> Option<Value> {
        None
    }
}

/// No variable has a value: only constant expressions can be evaluated.
pub struct NoEnv;

impl Env for NoEnv {
    fn var(&mut self, _: VarId) -> Option<Value> {
        None
    }
}

/// A call of an external function.
#[derive(Clone, Copy, Debug)]
pub struct ExternalCall<'a> {
    /// The name in the other language.
    pub name: &'a str,
    pub language: &'a str,
    /// Arguments in the order of the call. An output has the value that its variable has before the call (zeros if
    /// none was given), which tells its type and size.
    pub args: &'a [Value],
    /// Which of `args` are outputs.
    pub is_output: &'a [bool],
    /// Type of the return value, if one is wanted.
    pub result: Option<&'a Type>,
    pub code: &'a ForeignCode,
    /// The function that takes the resulting external object away.
    pub destructor: Option<(&'a str, &'a ForeignCode)>,
}

/// What an external function returns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExternalReply {
    /// The return value, if one was wanted.
    pub result: Option<Value>,
    /// The new values of the output arguments, in order.
    pub outputs: Vec<Value>,
}

/// Why an external function gave nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExternalError {
    /// There is no such function.
    Missing(String),
    /// The user has not permitted it.
    Forbidden(String),
    /// It was called and reported an error.
    Failed(String),
}

impl From<String> for ExternalError {
    fn from(message: String) -> ExternalError {
        ExternalError::Failed(message)
    }
}

/// External functions, and messages of functions.
pub trait Externals {
    fn call(
        &mut self,
        call: &ExternalCall<'_>,
    ) -> std::result::Result<ExternalReply, ExternalError>;

    /// An assertion of level warning failed.
    fn warn(&mut self, _message: &str) {}
}

/// No external function can be called.
pub struct NoExternals;

impl Externals for NoExternals {
    fn call(
        &mut self,
        call: &ExternalCall<'_>,
    ) -> std::result::Result<ExternalReply, ExternalError> {
        let why = format!(
            "the external function `{}` cannot be called here",
            call.name
        );
        Err(ExternalError::Failed(why))
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum EvalErrorKind {
    /// The value of this variable is not known here.
    UnknownVariable(VarId),
    /// `time` or an operator of the simulation is not known here.
    UnknownOperator(&'static str),
    /// A local variable is read before it is assigned.
    Unassigned(LocalId),
    IndexOutOfRange {
        index: i64,
        size: usize,
    },
    SizeMismatch {
        what: &'static str,
        left: Vec<usize>,
        right: Vec<usize>,
    },
    Domain(DomainError),
    AssertFailed {
        message: String,
        /// The scalar locals that the condition reads, each as `name = value`; the first few.
        values: Vec<String>,
    },
    Terminated(String),
    External {
        name: String,
        why: ExternalError,
    },
    /// The function is partial or has no body.
    NoBody(FuncId),
    TooDeep,
    TooManyIterations,
    TooLarge,
    /// An operation on values of the wrong type: the front end let something through.
    Type(&'static str),
    Unsupported(&'static str),
}

/// Why an expression has no value, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalError {
    pub kind: Box<EvalErrorKind>,
    /// The innermost statement.
    pub span: Option<Span>,
    /// The innermost function.
    pub function: Option<FuncId>,
}

impl EvalError {
    fn at(mut self, span: Span, function: Option<FuncId>) -> EvalError {
        self.span.get_or_insert(span);
        self.function = self.function.or(function);
        self
    }
}

impl From<EvalErrorKind> for EvalError {
    fn from(kind: EvalErrorKind) -> EvalError {
        EvalError {
            kind: Box::new(kind),
            span: None,
            function: None,
        }
    }
}

impl From<DomainError> for EvalError {
    fn from(error: DomainError) -> EvalError {
        EvalErrorKind::Domain(error).into()
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            EvalErrorKind::UnknownVariable(v) => {
                write!(f, "the value of variable {} is not known here", v.0)
            }
            EvalErrorKind::UnknownOperator(name) => write!(f, "`{name}` has no value here"),
            EvalErrorKind::Unassigned(_) => {
                write!(f, "a local variable is read before it is assigned")
            }
            EvalErrorKind::IndexOutOfRange { index, size } => {
                write!(f, "subscript {index} is not in 1:{size}")
            }
            EvalErrorKind::SizeMismatch { what, left, right } => {
                write!(f, "sizes {left:?} and {right:?} do not fit in {what}")
            }
            EvalErrorKind::Domain(error) => write!(f, "{error}"),
            EvalErrorKind::AssertFailed { message, values } => {
                write!(f, "assertion failed: {message}")?;
                match values.as_slice() {
                    [] => Ok(()),
                    values => write!(f, " ({})", values.join(", ")),
                }
            }
            EvalErrorKind::Terminated(message) => write!(f, "terminated: {message}"),
            EvalErrorKind::External { name, why } => {
                let (ExternalError::Missing(message)
                | ExternalError::Forbidden(message)
                | ExternalError::Failed(message)) = why;
                write!(f, "external function `{name}`: {message}")
            }
            EvalErrorKind::NoBody(_) => write!(f, "the function has no body"),
            EvalErrorKind::TooDeep => write!(f, "calls or expressions are nested too deeply"),
            EvalErrorKind::TooManyIterations => {
                write!(f, "a loop did not end within {ITERATIONS_MAX} passes")
            }
            EvalErrorKind::TooLarge => {
                write!(f, "an array would have more than {ELEMENTS_MAX} elements")
            }
            EvalErrorKind::Type(what) => write!(f, "{what} has a value of the wrong type"),
            EvalErrorKind::Unsupported(what) => write!(f, "{what} cannot be evaluated"),
        }
    }
}

impl std::error::Error for EvalError {}

type Result<T> = std::result::Result<T, EvalError>;

fn fail<T>(kind: EvalErrorKind) -> Result<T> {
    Err(kind.into())
}

/// The value of `e`.
pub fn eval(
    ir: &Ir,
    e: ExprId,
    env: &mut dyn Env,
    ext: &mut dyn Externals,
) -> std::result::Result<Value, EvalError> {
    Evaluator::new(ir, env, ext).eval(e)
}

/// The outputs of a call of `function`; `None` where an output was never assigned.
///
/// `args` are all inputs in order; missing ones at the end take their defaults.
pub fn call_function(
    ir: &Ir,
    function: FuncId,
    args: Vec<Value>,
    ext: &mut dyn Externals,
) -> std::result::Result<Vec<Option<Value>>, EvalError> {
    Evaluator::new(ir, &mut NoEnv, ext).call(function, args)
}

thread_local! {
    /// A table of locals for the next evaluator, all entries empty.
    static SPARE: Cell<Vec<Option<Value>>> = const { Cell::new(Vec::new()) };
}

/// One evaluation: the graph, the sources of values, and the current locals.
pub struct Evaluator<'a> {
    ir: &'a Ir,
    env: &'a mut dyn Env,
    ext: &'a mut dyn Externals,
    locals: Vec<Option<Value>>,
    /// Functions and iterators around the current expression; values are remembered only at 0.
    scope: usize,
    depth: usize,
    calls: usize,
    iterations: u64,
    function: Option<FuncId>,
    /// Inside `pre(expression)`.
    past: bool,
    memo: FxHashMap<ExprId, Value>,
    call_memo: FxHashMap<ExprId, Arc<[Option<Value>]>>,
}

impl Drop for Evaluator<'_> {
    fn drop(&mut self) {
        let mut locals = std::mem::take(&mut self.locals);
        // Only an error leaves entries behind.
        locals
            .iter_mut()
            .filter(|local| local.is_some())
            .for_each(|local| *local = None);
        SPARE.set(locals);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Return,
}

/// A subscript with its value.
enum SubValue {
    All,
    One(i64),
    Many(Vec<i64>),
}

enum Step {
    Field(usize),
    Index(Vec<SubValue>),
}

impl<'a> Evaluator<'a> {
    pub fn new(ir: &'a Ir, env: &'a mut dyn Env, ext: &'a mut dyn Externals) -> Evaluator<'a> {
        Evaluator {
            ir,
            env,
            ext,
            locals: SPARE.take(),
            scope: 0,
            depth: 0,
            calls: 0,
            iterations: 0,
            function: None,
            past: false,
            memo: FxHashMap::default(),
            call_memo: FxHashMap::default(),
        }
    }

    /// The value of an expression; values of variables must not change between calls on one evaluator.
    pub fn eval(&mut self, e: ExprId) -> Result<Value> {
        match self.ir.expr(e) {
            Expr::Real(bits) => return Ok(Value::Real(f64::from_bits(*bits))),
            Expr::Integer(i) => return Ok(Value::Integer(*i)),
            Expr::Boolean(b) => return Ok(Value::Boolean(*b)),
            Expr::Local(id) => {
                return match self.local(*id) {
                    Some(value) => Ok(value.clone()),
                    None => fail(EvalErrorKind::Unassigned(*id)),
                };
            }
            Expr::Var(v) => return self.var(*v),
            _ => {}
        }
        let remember = self.scope == 0 && !self.past;
        if remember && let Some(value) = self.memo.get(&e) {
            return Ok(value.clone());
        }
        if self.depth >= DEPTH_MAX {
            return fail(EvalErrorKind::TooDeep);
        }
        self.depth += 1;
        let result = self.node(e);
        self.depth -= 1;
        if remember && let Ok(value) = &result {
            self.memo.insert(e, value.clone());
        }
        result
    }

    /// Gives a local a value that expressions outside its function see.
    pub fn bind(&mut self, local: LocalId, value: Value) {
        self.set_local(local, Some(value));
    }

    fn local(&self, id: LocalId) -> Option<&Value> {
        self.locals.get(id.index())?.as_ref()
    }

    /// Replaces the value of a local and returns the old one.
    fn set_local(&mut self, id: LocalId, value: Option<Value>) -> Option<Value> {
        if self.locals.len() <= id.index() {
            self.locals.resize(id.index() + 1, None);
        }
        std::mem::replace(&mut self.locals[id.index()], value)
    }

    fn var(&mut self, v: VarId) -> Result<Value> {
        let value = if self.past {
            self.env.pre(v)
        } else {
            self.env.var(v)
        };
        value.ok_or_else(|| EvalErrorKind::UnknownVariable(v).into())
    }

    fn node(&mut self, e: ExprId) -> Result<Value> {
        let ir = self.ir;
        match ir.expr(e) {
            Expr::Real(_) | Expr::Integer(_) | Expr::Boolean(_) | Expr::Local(_) | Expr::Var(_) => {
                self.eval(e)
            }
            Expr::String(s) => Ok(Value::String(s.as_str().into())),
            Expr::Enum(id, k) => Ok(Value::Enum(*id, *k)),
            Expr::Time => self
                .env
                .time()
                .map(Value::Real)
                .ok_or_else(|| EvalErrorKind::UnknownOperator("time").into()),
            Expr::VarArray(first) => self.var_array(*first, ir.type_id(e)),
            Expr::Unary(op, a) => {
                let a = self.eval(*a)?;
                unary(*op, &a)
            }
            Expr::Binary(..) => self.binary_chain(e),
            Expr::If(c, t, f) => {
                let value = self.condition(*c)?;
                let result = self.eval(if value { *t } else { *f })?;
                Ok(coerce(result, ir.base(e)))
            }
            Expr::Builtin(op, args) => self.builtin(e, *op, args),
            Expr::Call { .. } => match self.outputs(e)?.first() {
                Some(Some(value)) => Ok(value.clone()),
                _ => self.no_output(e, 0),
            },
            Expr::Output { call, index } => match self.outputs(*call)?.get(*index as usize) {
                Some(Some(value)) => Ok(value.clone()),
                _ => self.no_output(*call, *index as usize),
            },
            Expr::Leaf { of, index } => {
                let value = self.eval(*of)?;
                nth_leaf(&value, *index as usize)
                    .ok_or_else(|| EvalErrorKind::Type("a leaf").into())
            }
            Expr::Array(elements) => self.array(e, elements),
            Expr::Range { start, step, stop } => {
                let (start, stop) = (self.eval(*start)?, self.eval(*stop)?);
                let step = step.map(|s| self.eval(s)).transpose()?;
                let values = RangeValues::new(&start, step.as_ref(), &stop)?;
                if values.len() > ELEMENTS_MAX {
                    return fail(EvalErrorKind::TooLarge);
                }
                let elems: Vec<Value> = values.collect();
                Ok(Value::array(vec![elems.len()], elems))
            }
            Expr::Index { base, subs } => self.index(*base, subs),
            Expr::Record { record, fields } => {
                let types = &ir.records[*record].fields;
                let mut values = Vec::with_capacity(fields.len());
                for (k, field) in fields.iter().enumerate() {
                    let value = self.eval(*field)?;
                    values.push(match types.get(k) {
                        Some(field) => coerce(value, ir.type_of_id(field.ty).base),
                        None => value,
                    });
                }
                Ok(Value::Record(values.into()))
            }
            Expr::Field { base, index } => {
                // Borrowed where possible: a record in a local may hold large tables.
                if let Expr::Local(id) = ir.expr(*base) {
                    return match self.local(*id) {
                        Some(value) => field_of(value, *index as usize),
                        None => fail(EvalErrorKind::Unassigned(*id)),
                    };
                }
                let value = self.eval(*base)?;
                field_of(&value, *index as usize)
            }
            Expr::Comprehension { body, iter, range } => {
                let mut parts = Vec::new();
                self.iterate(*iter, *range, *body, |value| {
                    parts.push(value);
                    Ok(())
                })?;
                if parts.is_empty() {
                    let dims = ir.ty(e).dims.iter().skip(1).map(known_or_zero);
                    return Ok(Value::array(
                        std::iter::once(0).chain(dims).collect(),
                        vec![],
                    ));
                }
                stack(parts, ir.base(e))
            }
            Expr::Reduce {
                op,
                body,
                iter,
                range,
            } => {
                let mut result: Option<Value> = None;
                let op = *op;
                self.iterate(*iter, *range, *body, |value| {
                    result = Some(match result.take() {
                        None => value,
                        Some(so_far) => reduce_pair(op, &so_far, &value)?,
                    });
                    Ok(())
                })?;
                Ok(result.unwrap_or_else(|| neutral(op, ir.base(e))))
            }
            Expr::Function { function, bound } => {
                let mut values = Vec::with_capacity(bound.len());
                for (position, value) in bound {
                    values.push((*position, self.eval(*value)?));
                }
                Ok(Value::Function(*function, values.into()))
            }
        }
    }

    fn no_output<T>(&self, call: ExprId, index: usize) -> Result<T> {
        if let Expr::Call { function, .. } = self.ir.expr(call)
            && let Some(&local) = self.ir.functions[*function].outputs.get(index)
        {
            let mut error = EvalError::from(EvalErrorKind::Unassigned(local));
            error.function = Some(*function);
            error.span = Some(self.ir.functions[*function].span);
            return Err(error);
        }
        fail(EvalErrorKind::Type("an output"))
    }

    fn var_array(&mut self, first: VarId, ty: TypeId) -> Result<Value> {
        let unknown = || EvalError::from(EvalErrorKind::Unsupported("a variable of unknown size"));
        let n = self.ir.leaf_count(ty).ok_or_else(unknown)?;
        let mut leaves = Vec::with_capacity(n);
        for k in 0..n as u32 {
            leaves.push(self.var(VarId(first.0 + k))?);
        }
        let mut leaves = leaves.into_iter();
        from_leaves(self.ir, ty, &mut leaves).ok_or_else(unknown)
    }

    fn condition(&mut self, e: ExprId) -> Result<bool> {
        self.eval(e)?
            .as_bool()
            .ok_or_else(|| EvalErrorKind::Type("a condition").into())
    }

    /// `((a op b) op c) …` without recursion along the left operands.
    fn binary_chain(&mut self, e: ExprId) -> Result<Value> {
        let ir = self.ir;
        let Expr::Binary(op, a, b) = *ir.expr(e) else {
            return fail(EvalErrorKind::Type("an operator"));
        };
        if !matches!(ir.expr(a), Expr::Binary(..)) {
            let a = self.eval(a)?;
            return self.right_operand(op, a, b);
        }
        let mut spine = vec![(e, op, b)];
        let mut left = a;
        while let Expr::Binary(op, a, b) = *ir.expr(left) {
            if self.scope == 0 && self.memo.contains_key(&left) {
                break;
            }
            spine.push((left, op, b));
            left = a;
        }
        let mut value = self.eval(left)?;
        for (node, op, right) in spine.into_iter().rev() {
            value = self.right_operand(op, value, right)?;
            if self.scope == 0 && !self.past {
                self.memo.insert(node, value.clone());
            }
        }
        Ok(value)
    }

    fn right_operand(&mut self, op: BinaryOp, a: Value, b: ExprId) -> Result<Value> {
        match (op, &a) {
            (BinaryOp::And, Value::Boolean(false)) | (BinaryOp::Or, Value::Boolean(true)) => {
                return Ok(a);
            }
            _ => {}
        }
        let b = self.eval(b)?;
        binary(op, &a, &b)
    }

    fn array(&mut self, e: ExprId, elements: &[ExprId]) -> Result<Value> {
        if elements.is_empty() {
            return Ok(Value::array(
                self.ir.ty(e).dims.iter().map(known_or_zero).collect(),
                vec![],
            ));
        }
        let mut parts = Vec::with_capacity(elements.len());
        for &element in elements {
            parts.push(self.eval(element)?);
        }
        stack(parts, self.ir.base(e))
    }

    fn subscripts(&mut self, subs: &[Sub]) -> Result<Vec<SubValue>> {
        let mut values = Vec::with_capacity(subs.len());
        for sub in subs {
            values.push(match sub {
                Sub::All => SubValue::All,
                Sub::At(e) => match self.eval(*e)? {
                    Value::Array(array) => SubValue::Many(
                        array
                            .elems
                            .iter()
                            .map(subscript)
                            .collect::<Result<Vec<_>>>()?,
                    ),
                    scalar => SubValue::One(subscript(&scalar)?),
                },
            });
        }
        Ok(values)
    }

    fn index(&mut self, base: ExprId, subs: &[Sub]) -> Result<Value> {
        // One scalar subscript of a local vector is by far the most frequent case.
        if let (Expr::Local(id), [Sub::At(sub)]) = (self.ir.expr(base), subs) {
            let sub = self.eval(*sub)?;
            if let (Some(Value::Array(array)), Value::Integer(i)) = (self.local(*id), &sub)
                && array.dims.len() == 1
            {
                return match usize::try_from(*i)
                    .ok()
                    .and_then(|i| array.elems.get(i.wrapping_sub(1)))
                {
                    Some(value) => Ok(value.clone()),
                    None => fail(EvalErrorKind::IndexOutOfRange {
                        index: *i,
                        size: array.elems.len(),
                    }),
                };
            }
        }
        let subs = self.subscripts(subs)?;
        if let Expr::Local(id) = self.ir.expr(base) {
            return match self.local(*id) {
                Some(Value::Array(array)) => element(array, &subs),
                Some(_) => fail(EvalErrorKind::Type("a subscripted scalar")),
                None => fail(EvalErrorKind::Unassigned(*id)),
            };
        }
        match self.eval(base)? {
            Value::Array(array) => element(&array, &subs),
            _ => fail(EvalErrorKind::Type("a subscripted scalar")),
        }
    }

    fn count_iteration(&mut self) -> Result<()> {
        self.iterations += 1;
        if self.iterations > ITERATIONS_MAX {
            fail(EvalErrorKind::TooManyIterations)
        } else {
            Ok(())
        }
    }

    /// The values that an iterator takes.
    fn range_values(&mut self, range: ExprId) -> Result<RangeValues> {
        if let Expr::Range { start, step, stop } = self.ir.expr(range) {
            let (start, stop) = (self.eval(*start)?, self.eval(*stop)?);
            let step = step.map(|s| self.eval(s)).transpose()?;
            return RangeValues::new(&start, step.as_ref(), &stop);
        }
        match self.eval(range)? {
            Value::Array(array) if array.dims.len() == 1 => {
                Ok(RangeValues::Listed { array, next: 0 })
            }
            _ => fail(EvalErrorKind::Type("an iteration range")),
        }
    }

    fn iterate(
        &mut self,
        iter: LocalId,
        range: ExprId,
        body: ExprId,
        mut f: impl FnMut(Value) -> Result<()>,
    ) -> Result<()> {
        let values = self.range_values(range)?;
        let outer = self.set_local(iter, None);
        self.scope += 1;
        let mut result = Ok(());
        for value in values {
            self.set_local(iter, Some(value));
            result = self
                .count_iteration()
                .and_then(|()| self.eval(body))
                .and_then(&mut f);
            if result.is_err() {
                break;
            }
        }
        self.scope -= 1;
        self.set_local(iter, outer);
        result
    }

    /// All outputs of a call node.
    fn outputs(&mut self, call: ExprId) -> Result<Arc<[Option<Value>]>> {
        let remember = self.scope == 0 && !self.past;
        if remember && let Some(outputs) = self.call_memo.get(&call) {
            return Ok(outputs.clone());
        }
        let Expr::Call { function, args } = self.ir.expr(call) else {
            return fail(EvalErrorKind::Unsupported("several outputs of an operator"));
        };
        let mut values = Vec::with_capacity(args.len());
        for &arg in args {
            values.push(self.eval(arg)?);
        }
        let outputs: Arc<[Option<Value>]> = self.call(*function, values)?.into();
        if remember {
            self.call_memo.insert(call, outputs.clone());
        }
        Ok(outputs)
    }

    /// Calls a function with values for its inputs.
    pub fn call(&mut self, function: FuncId, args: Vec<Value>) -> Result<Vec<Option<Value>>> {
        let f = &self.ir.functions[function];
        match &f.body {
            FunctionBody::Constructor(record) => {
                let fields = &self.ir.records[*record].fields;
                let values = args
                    .into_iter()
                    .zip(fields)
                    .map(|(v, field)| coerce(v, self.ir.type_of_id(field.ty).base));
                return Ok(vec![Some(Value::Record(values.collect()))]);
            }
            FunctionBody::Argument(local) => return self.call_value(*local, args),
            FunctionBody::Missing => return fail(EvalErrorKind::NoBody(function)),
            FunctionBody::Algorithm(_) | FunctionBody::External(_) => {}
        }
        if self.calls >= CALL_DEPTH_MAX {
            return fail(EvalErrorKind::TooDeep);
        }
        let outer = self.function.replace(function);
        self.calls += 1;
        self.scope += 1;
        let locals = f.inputs.iter().chain(&f.outputs).chain(&f.protected);
        let saved: Vec<(LocalId, Option<Value>)> =
            locals.map(|&l| (l, self.set_local(l, None))).collect();
        let result = self.run(function, args);
        for (local, value) in saved.into_iter().rev() {
            self.set_local(local, value);
        }
        self.scope -= 1;
        self.calls -= 1;
        self.function = outer;
        result.map_err(|error| error.at(f.span, Some(function)))
    }

    fn call_value(&mut self, local: LocalId, args: Vec<Value>) -> Result<Vec<Option<Value>>> {
        let Some(Value::Function(function, bound)) = self.local(local).cloned() else {
            return fail(EvalErrorKind::Type("a function argument"));
        };
        if bound.is_empty() {
            return self.call(function, args);
        }
        let mut given = args.into_iter();
        let mut all = Vec::new();
        for position in 0..self.ir.functions[function].inputs.len() {
            match bound.iter().find(|(p, _)| *p as usize == position) {
                Some((_, value)) => all.push(value.clone()),
                None => match given.next() {
                    Some(value) => all.push(value),
                    None => break,
                },
            }
        }
        self.call(function, all)
    }

    fn run(&mut self, function: FuncId, args: Vec<Value>) -> Result<Vec<Option<Value>>> {
        let ir = self.ir;
        let f = &ir.functions[function];
        if args.len() > f.inputs.len() {
            return fail(EvalErrorKind::Type("a call with too many arguments"));
        }
        let n_given = args.len();
        for (arg, &input) in args.into_iter().zip(&f.inputs) {
            let ty = ir.type_of_id(ir.locals[input].ty);
            check_size(ty, &arg)?;
            self.set_local(input, Some(coerce(arg, ty.base)));
        }
        for &input in &f.inputs[n_given..] {
            let Some(default) = ir.locals[input].default else {
                return fail(EvalErrorKind::Unassigned(input));
            };
            let value = self.eval(default)?;
            self.set_local(
                input,
                Some(coerce(value, ir.type_of_id(ir.locals[input].ty).base)),
            );
        }
        self.initialise(f.outputs.iter().chain(&f.protected).copied().collect())?;
        match &f.body {
            FunctionBody::Algorithm(body) => {
                self.block(body)?;
            }
            FunctionBody::External(external) => self.external(external)?,
            _ => return fail(EvalErrorKind::NoBody(function)),
        }
        Ok(f.outputs.iter().map(|&o| self.set_local(o, None)).collect())
    }

    /// Initial values of outputs and protected variables, in an order in which they can be computed.
    fn initialise(&mut self, mut pending: Vec<LocalId>) -> Result<()> {
        while !pending.is_empty() {
            let mut waiting = Vec::new();
            let mut first_error = None;
            for &local in &pending {
                match self.initial_value(local) {
                    Ok(value) => {
                        self.set_local(local, value);
                    }
                    Err(error) => match *error.kind {
                        EvalErrorKind::Unassigned(other)
                            if other != local && pending.contains(&other) =>
                        {
                            first_error.get_or_insert(error);
                            waiting.push(local);
                        }
                        _ => return Err(error.at(self.ir.locals[local].span, self.function)),
                    },
                }
            }
            if waiting.len() == pending.len()
                && let Some(error) = first_error
            {
                return Err(error);
            }
            pending = waiting;
        }
        Ok(())
    }

    /// The declared value; zeros for an array or record, which may be assigned element by element.
    fn initial_value(&mut self, local: LocalId) -> Result<Option<Value>> {
        let ir = self.ir;
        let declaration = &ir.locals[local];
        let ty = ir.type_of_id(declaration.ty);
        if let Some(default) = declaration.default {
            return Ok(Some(coerce(self.eval(default)?, ty.base)));
        }
        if ty.is_scalar() && !matches!(ty.base, Base::Record(_)) {
            return Ok(None);
        }
        let mut dims = Vec::with_capacity(ty.dims.len());
        for (k, dim) in ty.dims.iter().enumerate() {
            dims.push(match (dim, declaration.dims.get(k)) {
                (crate::Dim::Known(n), _) => *n as usize,
                (crate::Dim::Unknown, Some(Some(size))) => match self.eval(*size)? {
                    Value::Integer(n) if n >= 0 => n as usize,
                    Value::Integer(index) => {
                        return fail(EvalErrorKind::IndexOutOfRange { index, size: 0 });
                    }
                    _ => return fail(EvalErrorKind::Type("a size")),
                },
                // `:` is given its size by the first assignment.
                (crate::Dim::Unknown, _) => 0,
            });
        }
        Ok(zero_value(ir, ty.base, &dims))
    }

    fn block(&mut self, statements: &'a [Statement]) -> Result<Flow> {
        for statement in statements {
            let flow = self
                .statement(statement)
                .map_err(|error| error.at(statement.span, self.function))?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<Flow> {
        saltus_control::checkpoint();
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let value = self.eval(*value)?;
                self.assign(target, value)?;
            }
            StatementKind::MultiAssign { targets, call } => {
                let outputs = self.outputs(*call)?;
                for (k, target) in targets.iter().enumerate() {
                    if let Some(target) = target {
                        match outputs.get(k) {
                            Some(Some(value)) => self.assign(target, value.clone())?,
                            _ => return self.no_output(*call, k),
                        }
                    }
                }
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    if self.condition(*condition)? {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            StatementKind::For { iter, range, body } => return self.for_loop(*iter, *range, body),
            StatementKind::While { condition, body } => {
                while self.condition(*condition)? {
                    self.count_iteration()?;
                    match self.block(body)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                }
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
            StatementKind::Assert {
                condition,
                message,
                level,
            } => {
                if !self.condition(*condition)? {
                    let message = self.message(*message)?;
                    match level {
                        AssertLevel::Error => {
                            let values = self.locals_read(*condition);
                            return fail(EvalErrorKind::AssertFailed { message, values });
                        }
                        AssertLevel::Warning => self.ext.warn(&message),
                    }
                }
            }
            StatementKind::Terminate { message } => {
                let message = self.message(*message)?;
                return fail(EvalErrorKind::Terminated(message));
            }
            StatementKind::Call(call) => {
                self.outputs(*call)?;
            }
            StatementKind::When { .. } => return fail(EvalErrorKind::Unsupported("`when`")),
            StatementKind::Reinit { .. } => return fail(EvalErrorKind::Unsupported("`reinit`")),
        }
        Ok(Flow::Next)
    }

    fn message(&mut self, e: ExprId) -> Result<String> {
        Ok(self.eval(e)?.as_str().unwrap_or_default().to_owned())
    }

    /// The scalar locals in `e` with their values.
    fn locals_read(&self, e: ExprId) -> Vec<String> {
        let mut locals: Vec<LocalId> = (self.ir.reachable(&[e]).into_iter())
            .filter_map(|id| match self.ir.expr(id) {
                Expr::Local(local) => Some(*local),
                _ => None,
            })
            .collect();
        locals.sort_unstable();
        locals.dedup();
        (locals.into_iter())
            .filter_map(|local| {
                let text = self.local(local)?.scalar_text(self.ir)?;
                Some(format!("{} = {text}", self.ir.locals[local].name))
            })
            .take(VALUES_SHOWN_MAX)
            .collect()
    }

    fn for_loop(&mut self, iter: LocalId, range: ExprId, body: &'a [Statement]) -> Result<Flow> {
        let values = self.range_values(range)?;
        let outer = self.set_local(iter, None);
        let mut result = Ok(Flow::Next);
        for value in values {
            self.set_local(iter, Some(value));
            result = self.count_iteration().and_then(|()| self.block(body));
            if !matches!(result, Ok(Flow::Next)) {
                break;
            }
        }
        self.set_local(iter, outer);
        match result? {
            Flow::Return => Ok(Flow::Return),
            Flow::Next | Flow::Break => Ok(Flow::Next),
        }
    }

    fn assign(&mut self, target: &Target, value: Value) -> Result<()> {
        let ir = self.ir;
        let Place::Local(local) = target.place else {
            return fail(EvalErrorKind::Unsupported(
                "an assignment to a variable of the model",
            ));
        };
        let declaration = &ir.locals[local];
        let ty = ir.type_of_id(declaration.ty);
        if target.access.is_empty() {
            let value = coerce(value, ty.base);
            self.check_declared_size(local, &value)?;
            self.set_local(local, Some(value));
            return Ok(());
        }
        let mut steps = Vec::with_capacity(target.access.len());
        let mut base = ty.base;
        for access in &target.access {
            steps.push(match access {
                Access::Field(index) => {
                    if let Base::Record(record) = base
                        && let Some(field) = ir.records[record].fields.get(*index as usize)
                    {
                        base = ir.type_of_id(field.ty).base;
                    }
                    Step::Field(*index as usize)
                }
                Access::Index(subs) => Step::Index(self.subscripts(subs)?),
            });
        }
        let value = coerce(value, base);
        match self.locals.get_mut(local.index()) {
            Some(Some(current)) => store(current, &steps, value),
            _ => fail(EvalErrorKind::Unassigned(local)),
        }
    }

    /// A whole array must have the size that was declared, where one was.
    fn check_declared_size(&self, local: LocalId, value: &Value) -> Result<()> {
        let declaration = &self.ir.locals[local];
        let ty = self.ir.type_of_id(declaration.ty);
        if ty.is_scalar() {
            return if matches!(value, Value::Array(_)) {
                fail(EvalErrorKind::Type("an assignment"))
            } else {
                Ok(())
            };
        }
        check_size(ty, value)?;
        if let (Value::Array(new), Some(Value::Array(old))) = (value, self.local(local))
            && declaration.dims.len() == ty.dims.len()
        {
            let fits = declaration
                .dims
                .iter()
                .enumerate()
                .all(|(k, d)| d.is_none() || new.dims[k] == old.dims[k]);
            if !fits {
                return fail(EvalErrorKind::SizeMismatch {
                    what: "an assignment",
                    left: old.dims.clone(),
                    right: new.dims.clone(),
                });
            }
        }
        Ok(())
    }

    fn external(&mut self, external: &'a External) -> Result<()> {
        let ir = self.ir;
        let mut args = Vec::with_capacity(external.args.len());
        let mut is_output = Vec::with_capacity(external.args.len());
        let mut outputs = Vec::new();
        for arg in &external.args {
            match arg {
                ExternalArg::Value(e) => {
                    args.push(self.eval(*e)?);
                    is_output.push(false);
                }
                ExternalArg::Output(local) => {
                    let before = match self.local(*local) {
                        Some(value) => value.clone(),
                        None => {
                            let ty = ir.type_of_id(ir.locals[*local].ty);
                            zero_value(ir, ty.base, &[])
                                .ok_or(EvalErrorKind::Unsupported("an external output"))?
                        }
                    };
                    args.push(before);
                    is_output.push(true);
                    outputs.push(*local);
                }
            }
        }
        if external.language.as_str() == "builtin"
            && let (Some(result), Some(value)) = (
                external.result,
                builtin_by_name(external.name.as_str(), &args),
            )
        {
            self.set_local(result, Some(value?));
            return Ok(());
        }
        let result = external
            .result
            .map(|local| ir.type_of_id(ir.locals[local].ty));
        let destructor = result.and_then(|ty| match ty.base {
            Base::Object(object) => match &ir.functions[ir.objects[object].destructor?].body {
                FunctionBody::External(d) => Some((d.name.as_str(), &d.code)),
                _ => None,
            },
            _ => None,
        });
        let call = ExternalCall {
            name: external.name.as_str(),
            language: external.language.as_str(),
            args: &args,
            is_output: &is_output,
            result,
            code: &external.code,
            destructor,
        };
        let error = |why: ExternalError| EvalErrorKind::External {
            name: external.name.as_str().to_owned(),
            why,
        };
        let reply = self.ext.call(&call).map_err(error)?;
        if reply.outputs.len() != outputs.len()
            || reply.result.is_none() != external.result.is_none()
        {
            let why = "returned another number of values than declared".to_owned();
            return Err(error(ExternalError::Failed(why)).into());
        }
        for (local, value) in outputs.into_iter().zip(reply.outputs) {
            self.set_local(
                local,
                Some(coerce(value, ir.type_of_id(ir.locals[local].ty).base)),
            );
        }
        if let (Some(local), Some(value)) = (external.result, reply.result) {
            self.set_local(
                local,
                Some(coerce(value, ir.type_of_id(ir.locals[local].ty).base)),
            );
        }
        Ok(())
    }

    fn builtin(&mut self, e: ExprId, op: Builtin, args: &[ExprId]) -> Result<Value> {
        match (op, args) {
            (Builtin::Pre, [arg]) => return self.pre(*arg),
            (Builtin::Edge, [arg]) => {
                let now = self.condition(*arg)?;
                let before = self
                    .pre(*arg)?
                    .as_bool()
                    .ok_or(EvalErrorKind::Type("`edge`"))?;
                return Ok(Value::Boolean(now && !before));
            }
            (Builtin::Change, [arg]) => {
                let now = self.eval(*arg)?;
                return Ok(Value::Boolean(now != self.pre(*arg)?));
            }
            (Builtin::Der, [arg]) => {
                if let Expr::Var(v) = self.ir.expr(*arg)
                    && let Some(value) = self.env.der(*v)
                {
                    return Ok(value);
                }
                return fail(EvalErrorKind::UnknownOperator("der"));
            }
            (Builtin::NoEvent | Builtin::Exact, [arg])
            | (Builtin::Smooth, [_, arg])
            | (Builtin::Homotopy, [arg, _]) => {
                return self.eval(*arg);
            }
            (op, _) if op.needs_simulation() => {
                return self
                    .env
                    .special(op, e)
                    .ok_or_else(|| EvalErrorKind::UnknownOperator(op.name()).into());
            }
            (Builtin::Size, [array, ..]) => {
                // The type may tell, or the local: the array itself need not be copied or computed.
                if let Some(dims) = self.dims_of(*array) {
                    return match args.get(1) {
                        Some(dim) => {
                            let dim = self.eval(*dim)?;
                            arrays::size(&dims, &dim)
                        }
                        None => {
                            let sizes: Vec<Value> =
                                dims.iter().map(|&n| Value::Integer(n as i64)).collect();
                            Ok(Value::array(vec![sizes.len()], sizes))
                        }
                    };
                }
            }
            _ => {}
        }
        let mut values = Vec::with_capacity(args.len());
        for &arg in args {
            values.push(self.eval(arg)?);
        }
        match (op, values.as_slice()) {
            (_, [x]) if op.is_math1() => map1(x, &|x| math1(op, x)),
            (_, [x, y]) if op.is_math2() => map2(op.name(), x, y, &|x, y| math2(op, x, y)),
            (Builtin::Ordinal, [x]) => map1(x, &|x| match x {
                Value::Enum(_, k) => Ok(Value::Integer(i64::from(*k))),
                Value::Integer(i) => Ok(Value::Integer(*i)),
                _ => fail(EvalErrorKind::Type("`Integer`")),
            }),
            (Builtin::EnumOf, [x]) => {
                let Base::Enum(id) = self.ir.base(e) else {
                    return fail(EvalErrorKind::Type("an enumeration"));
                };
                let n = self.ir.enums[id].literals.len();
                map1(x, &|x| match x {
                    Value::Integer(i) if *i >= 1 && *i as usize <= n => {
                        Ok(Value::Enum(id, *i as u32))
                    }
                    Value::Integer(i) => {
                        fail(EvalErrorKind::IndexOutOfRange { index: *i, size: n })
                    }
                    _ => fail(EvalErrorKind::Type("an enumeration")),
                })
            }
            (Builtin::ToString, values) => {
                format::to_string(self.ir, values).map(|s| Value::String(s.into()))
            }
            (Builtin::SemiLinear, [x, plus, minus]) => {
                let positive = x.as_f64().ok_or(EvalErrorKind::Type("`semiLinear`"))? >= 0.0;
                binary(BinaryOp::Mul, x, if positive { plus } else { minus })
            }
            (_, values) => arrays::builtin(op, values, self.ir.base(e)),
        }
    }

    /// Sizes that need no evaluation of the array.
    fn dims_of(&self, array: ExprId) -> Option<Vec<usize>> {
        if let Expr::Local(id) = self.ir.expr(array)
            && let Some(Value::Array(array)) = self.local(*id)
        {
            return Some(array.dims.clone());
        }
        self.ir.ty(array).known_dims()
    }

    fn pre(&mut self, arg: ExprId) -> Result<Value> {
        let outer = std::mem::replace(&mut self.past, true);
        let value = self.eval(arg);
        self.past = outer;
        value
    }
}

/// The values of a range, made one by one.
enum RangeValues {
    Integers {
        start: i64,
        step: i64,
        n: usize,
        next: usize,
    },
    Reals {
        start: f64,
        step: f64,
        n: usize,
        next: usize,
    },
    Listed {
        array: Arc<ArrayValue>,
        next: usize,
    },
}

impl RangeValues {
    fn new(start: &Value, step: Option<&Value>, stop: &Value) -> Result<RangeValues> {
        let step = step.cloned().unwrap_or(Value::Integer(1));
        match (start, &step, stop) {
            (Value::Integer(a), Value::Integer(d), Value::Integer(b)) => {
                let n = ops::range_length(*a as f64, *d as f64, *b as f64)?;
                Ok(RangeValues::Integers {
                    start: *a,
                    step: *d,
                    n,
                    next: 0,
                })
            }
            (Value::Enum(id, a), _, Value::Enum(_, b)) => {
                let elems: Vec<Value> = (*a..=*b).map(|k| Value::Enum(*id, k)).collect();
                Ok(RangeValues::listed(elems))
            }
            (Value::Boolean(a), _, Value::Boolean(b)) => Ok(RangeValues::listed(
                [false, true]
                    .into_iter()
                    .filter(|x| x >= a && x <= b)
                    .map(Value::Boolean)
                    .collect(),
            )),
            _ => match (start.as_f64(), step.as_f64(), stop.as_f64()) {
                (Some(a), Some(d), Some(b)) => {
                    let n = ops::range_length(a, d, b)?;
                    Ok(RangeValues::Reals {
                        start: a,
                        step: d,
                        n,
                        next: 0,
                    })
                }
                _ => fail(EvalErrorKind::Type("a range")),
            },
        }
    }

    fn len(&self) -> usize {
        match self {
            RangeValues::Integers { n, .. } | RangeValues::Reals { n, .. } => *n,
            RangeValues::Listed { array, .. } => array.elems.len(),
        }
    }

    fn listed(elems: Vec<Value>) -> RangeValues {
        RangeValues::Listed {
            array: Arc::new(ArrayValue {
                dims: vec![elems.len()],
                elems,
            }),
            next: 0,
        }
    }
}

impl Iterator for RangeValues {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        match self {
            RangeValues::Integers {
                start,
                step,
                n,
                next,
            } => {
                let k = *next;
                *next += 1;
                (k < *n).then(|| Value::Integer(*start + k as i64 * *step))
            }
            RangeValues::Reals {
                start,
                step,
                n,
                next,
            } => {
                let k = *next;
                *next += 1;
                (k < *n).then_some(Value::Real(*start + k as f64 * *step))
            }
            RangeValues::Listed { array, next } => {
                let value = array.elems.get(*next).cloned();
                *next += 1;
                value
            }
        }
    }
}

/// Integer values become Real where `base` is Real, also in arrays.
pub fn coerce(value: Value, base: Base) -> Value {
    if base != Base::Real {
        return value;
    }
    match value {
        Value::Integer(i) => Value::Real(i as f64),
        Value::Array(mut array) if array.elems.iter().any(|x| matches!(x, Value::Integer(_))) => {
            for x in &mut Arc::make_mut(&mut array).elems {
                if let Value::Integer(i) = *x {
                    *x = Value::Real(i as f64);
                }
            }
            Value::Array(array)
        }
        other => other,
    }
}

/// The value that a variable without one has: zeros. `None` for external objects, clocks and functions.
pub fn zero_value(ir: &Ir, base: Base, dims: &[usize]) -> Option<Value> {
    let element = match base {
        Base::Real => Value::Real(0.0),
        Base::Integer => Value::Integer(0),
        Base::Boolean => Value::Boolean(false),
        Base::String => Value::String("".into()),
        Base::Enum(id) => Value::Enum(id, 1),
        Base::Record(id) => {
            let fields = ir.records[id].fields.iter().map(|field| {
                let ty = ir.type_of_id(field.ty);
                let dims: Vec<usize> = ty.dims.iter().map(known_or_zero).collect();
                zero_value(ir, ty.base, &dims)
            });
            Value::Record(fields.collect::<Option<Vec<_>>>()?.into())
        }
        Base::Clock | Base::Object(_) | Base::Function => return None,
    };
    if dims.is_empty() {
        return Some(element);
    }
    let n = dims
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d))
        .filter(|&n| n <= ELEMENTS_MAX)?;
    Some(Value::array(dims.to_vec(), vec![element; n]))
}

/// A value of type `ty` from its leaves in leaf order.
pub fn from_leaves(ir: &Ir, ty: TypeId, leaves: &mut dyn Iterator<Item = Value>) -> Option<Value> {
    let Type { base, .. } = ir.type_of_id(ty);
    let dims = ir.type_of_id(ty).known_dims()?;
    let mut element = || match base {
        Base::Record(id) => {
            let fields = ir.records[*id]
                .fields
                .iter()
                .map(|field| from_leaves(ir, field.ty, leaves));
            Some(Value::Record(fields.collect::<Option<Vec<_>>>()?.into()))
        }
        _ => leaves.next().map(|value| coerce(value, *base)),
    };
    if dims.is_empty() {
        return element();
    }
    let elems = (0..dims.iter().product())
        .map(|_| element())
        .collect::<Option<Vec<_>>>()?;
    Some(Value::array(dims, elems))
}

/// Leaf number `n` of a value.
pub fn nth_leaf(value: &Value, n: usize) -> Option<Value> {
    fn walk<'v>(value: &'v Value, n: &mut usize) -> Option<&'v Value> {
        match value {
            Value::Array(array) => match array.elems.first() {
                Some(Value::Record(_)) => array.elems.iter().find_map(|x| walk(x, n)),
                _ if *n < array.elems.len() => array.elems.get(*n),
                _ => {
                    *n -= array.elems.len();
                    None
                }
            },
            Value::Record(fields) => fields.iter().find_map(|x| walk(x, n)),
            scalar if *n == 0 => Some(scalar),
            _ => {
                *n -= 1;
                None
            }
        }
    }
    let mut n = n;
    walk(value, &mut n).cloned()
}

fn known_or_zero(dim: &crate::Dim) -> usize {
    match dim {
        crate::Dim::Known(n) => *n as usize,
        crate::Dim::Unknown => 0,
    }
}

fn check_size(ty: &Type, value: &Value) -> Result<()> {
    let dims: &[usize] = match value {
        Value::Array(array) => &array.dims,
        _ => &[],
    };
    let fits = dims.len() == ty.dims.len()
        && dims.iter().zip(&ty.dims).all(|(&n, d)| match d {
            crate::Dim::Known(known) => *known as usize == n,
            crate::Dim::Unknown => true,
        });
    if fits {
        return Ok(());
    }
    let left = ty.dims.iter().map(known_or_zero).collect();
    fail(EvalErrorKind::SizeMismatch {
        what: "a function argument or an assignment",
        left,
        right: dims.to_vec(),
    })
}

/// The value used as a subscript (specification 10.5): Boolean `false` is the first element.
fn subscript(value: &Value) -> Result<i64> {
    match value {
        Value::Integer(i) => Ok(*i),
        Value::Boolean(b) => Ok(i64::from(*b) + 1),
        Value::Enum(_, k) => Ok(i64::from(*k)),
        _ => fail(EvalErrorKind::Type("a subscript")),
    }
}

fn position(index: i64, size: usize) -> Result<usize> {
    match usize::try_from(index) {
        Ok(i) if i >= 1 && i <= size => Ok(i - 1),
        _ => fail(EvalErrorKind::IndexOutOfRange { index, size }),
    }
}

/// The element positions that subscripts select, and the dimensions of the result.
fn positions(dims: &[usize], subs: &[SubValue]) -> Result<(Vec<usize>, Vec<usize>)> {
    if subs.len() > dims.len() {
        return fail(EvalErrorKind::SizeMismatch {
            what: "subscripts",
            left: dims.to_vec(),
            right: vec![subs.len()],
        });
    }
    let mut selected = vec![0];
    let mut result = Vec::new();
    for (d, &size) in dims.iter().enumerate() {
        let along: Vec<usize> = match subs.get(d) {
            None | Some(SubValue::All) => {
                result.push(size);
                (0..size).collect()
            }
            Some(SubValue::One(i)) => vec![position(*i, size)?],
            Some(SubValue::Many(list)) => {
                result.push(list.len());
                list.iter()
                    .map(|&i| position(i, size))
                    .collect::<Result<_>>()?
            }
        };
        selected = selected
            .iter()
            .flat_map(|&s| along.iter().map(move |&p| s * size + p))
            .collect();
    }
    Ok((selected, result))
}

fn element(array: &ArrayValue, subs: &[SubValue]) -> Result<Value> {
    let scalar =
        subs.len() == array.dims.len() && subs.iter().all(|s| matches!(s, SubValue::One(_)));
    if scalar {
        let mut at = 0;
        for (sub, &size) in subs.iter().zip(&array.dims) {
            if let SubValue::One(i) = sub {
                at = at * size + position(*i, size)?;
            }
        }
        return Ok(array.elems[at].clone());
    }
    let (selected, dims) = positions(&array.dims, subs)?;
    Ok(Value::array(
        dims,
        selected
            .into_iter()
            .map(|p| array.elems[p].clone())
            .collect(),
    ))
}

/// A field of a record, or of every element of an array of records.
fn field_of(value: &Value, index: usize) -> Result<Value> {
    let no_field = || EvalError::from(EvalErrorKind::Type("a record field"));
    match value {
        Value::Record(fields) => fields.get(index).cloned().ok_or_else(no_field),
        Value::Array(array) => {
            let parts = array
                .elems
                .iter()
                .map(|x| field_of(x, index))
                .collect::<Result<Vec<_>>>()?;
            let inner = match parts.first() {
                Some(Value::Array(part)) => part.dims.clone(),
                _ => vec![],
            };
            let mut dims = array.dims.clone();
            dims.extend(inner);
            let elems = parts.into_iter().flat_map(|part| match part {
                Value::Array(part) => part.elems.clone(),
                scalar => vec![scalar],
            });
            Ok(Value::array(dims, elems.collect()))
        }
        _ => Err(no_field()),
    }
}

/// Writes `value` into the part of `slot` that the steps select.
fn store(slot: &mut Value, steps: &[Step], value: Value) -> Result<()> {
    let Some((step, rest)) = steps.split_first() else {
        if let (Value::Array(old), Value::Array(new)) = (&*slot, &value)
            && old.dims != new.dims
            && !old.dims.contains(&0)
        {
            return fail(EvalErrorKind::SizeMismatch {
                what: "an assignment",
                left: old.dims.clone(),
                right: new.dims.clone(),
            });
        }
        *slot = value;
        return Ok(());
    };
    match (step, slot) {
        (Step::Field(index), Value::Record(fields)) => {
            match Arc::make_mut(fields).get_mut(*index) {
                Some(field) => store(field, rest, value),
                None => fail(EvalErrorKind::Type("a record field")),
            }
        }
        (Step::Field(_), Value::Array(array)) => {
            let dims = array.dims.clone();
            let all: Vec<usize> = (0..array.elems.len()).collect();
            store_each(Arc::make_mut(array), &all, &dims, steps, value)
        }
        (Step::Index(subs), Value::Array(array)) => {
            let (selected, dims) = positions(&array.dims, subs)?;
            if dims.is_empty() {
                return store(&mut Arc::make_mut(array).elems[selected[0]], rest, value);
            }
            store_each(Arc::make_mut(array), &selected, &dims, rest, value)
        }
        _ => fail(EvalErrorKind::Type("an assignment target")),
    }
}

/// Writes the parts of `value` along its leading dimensions `dims` into the selected elements.
fn store_each(
    array: &mut ArrayValue,
    selected: &[usize],
    dims: &[usize],
    rest: &[Step],
    value: Value,
) -> Result<()> {
    let Value::Array(new) = value else {
        return fail(EvalErrorKind::Type("an assignment"));
    };
    if !new.dims.starts_with(dims) {
        return fail(EvalErrorKind::SizeMismatch {
            what: "an assignment",
            left: dims.to_vec(),
            right: new.dims.clone(),
        });
    }
    let inner = &new.dims[dims.len()..];
    let stride: usize = inner.iter().product();
    for (k, &p) in selected.iter().enumerate() {
        let part = if inner.is_empty() {
            new.elems[k].clone()
        } else {
            Value::array(
                inner.to_vec(),
                new.elems[k * stride..(k + 1) * stride].to_vec(),
            )
        };
        store(&mut array.elems[p], rest, part)?;
    }
    Ok(())
}

/// Equal values as the rows of one array.
fn stack(parts: Vec<Value>, base: Base) -> Result<Value> {
    let inner = match parts.first() {
        Some(Value::Array(first)) => first.dims.clone(),
        _ => vec![],
    };
    let mut dims = vec![parts.len()];
    dims.extend(&inner);
    if inner.is_empty() {
        return Ok(coerce(Value::array(dims, parts), base));
    }
    let mut elems = Vec::with_capacity(dims.iter().product());
    for part in parts {
        match part {
            Value::Array(part) if part.dims == inner => elems.extend_from_slice(&part.elems),
            Value::Array(part) => {
                return fail(EvalErrorKind::SizeMismatch {
                    what: "an array",
                    left: inner,
                    right: part.dims.clone(),
                });
            }
            _ => {
                return fail(EvalErrorKind::SizeMismatch {
                    what: "an array",
                    left: inner,
                    right: vec![],
                });
            }
        }
    }
    Ok(coerce(Value::array(dims, elems), base))
}

fn map1(x: &Value, f: &dyn Fn(&Value) -> Result<Value>) -> Result<Value> {
    match x {
        Value::Array(array) => {
            let elems = array.elems.iter().map(f).collect::<Result<Vec<_>>>()?;
            Ok(Value::array(array.dims.clone(), elems))
        }
        scalar => f(scalar),
    }
}

/// Elementwise; a scalar goes with every element of an array.
fn map2(
    what: &'static str,
    a: &Value,
    b: &Value,
    f: &dyn Fn(&Value, &Value) -> Result<Value>,
) -> Result<Value> {
    match (a, b) {
        (Value::Array(x), Value::Array(y)) => {
            if x.dims != y.dims {
                return fail(EvalErrorKind::SizeMismatch {
                    what,
                    left: x.dims.clone(),
                    right: y.dims.clone(),
                });
            }
            let elems = x
                .elems
                .iter()
                .zip(&y.elems)
                .map(|(x, y)| f(x, y))
                .collect::<Result<Vec<_>>>()?;
            Ok(Value::array(x.dims.clone(), elems))
        }
        (Value::Array(x), y) => Ok(Value::array(
            x.dims.clone(),
            x.elems
                .iter()
                .map(|x| f(x, y))
                .collect::<Result<Vec<_>>>()?,
        )),
        (x, Value::Array(y)) => Ok(Value::array(
            y.dims.clone(),
            y.elems
                .iter()
                .map(|y| f(x, y))
                .collect::<Result<Vec<_>>>()?,
        )),
        (x, y) => f(x, y),
    }
}

fn unary(op: UnaryOp, a: &Value) -> Result<Value> {
    map1(a, &|a| match (op, a) {
        (UnaryOp::Neg, Value::Real(x)) => Ok(Value::Real(-x)),
        (UnaryOp::Neg, Value::Integer(i)) => match i.checked_neg() {
            Some(i) => Ok(Value::Integer(i)),
            None => Err(DomainError::IntegerOverflow.into()),
        },
        (UnaryOp::Not, Value::Boolean(b)) => Ok(Value::Boolean(!b)),
        _ => fail(EvalErrorKind::Type("an operator")),
    })
}

fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
    match (a, b) {
        (Value::Real(x), Value::Real(y)) => reals(op, *x, *y),
        (Value::Array(_), _) | (_, Value::Array(_)) => match op {
            BinaryOp::MatMul => arrays::mat_mul(a, b),
            BinaryOp::MatPow => arrays::mat_pow(a, b),
            _ => map2("an operator", a, b, &|x, y| scalars(op, x, y)),
        },
        _ => scalars(op, a, b),
    }
}

fn reals(op: BinaryOp, x: f64, y: f64) -> Result<Value> {
    ops::check_binary(op, x, y)?;
    let value = ops::binary(op, x, y);
    Ok(if op.is_relation() {
        Value::Boolean(value != 0.0)
    } else {
        Value::Real(value)
    })
}

fn scalars(op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
    let ordering = match (a, b) {
        (Value::Real(x), Value::Real(y)) => return reals(op, *x, *y),
        (Value::Integer(x), Value::Integer(y)) => {
            if let Some(result) = ops::integer_binary(op, *x, *y) {
                return Ok(Value::Integer(result?));
            }
            if !op.is_relation() {
                return reals(op, *x as f64, *y as f64);
            }
            x.cmp(y)
        }
        (Value::Real(x), Value::Integer(y)) => return reals(op, *x, *y as f64),
        (Value::Integer(x), Value::Real(y)) => return reals(op, *x as f64, *y),
        (Value::Boolean(x), Value::Boolean(y)) => match op {
            BinaryOp::And => return Ok(Value::Boolean(*x && *y)),
            BinaryOp::Or => return Ok(Value::Boolean(*x || *y)),
            _ => x.cmp(y),
        },
        (Value::String(x), Value::String(y)) => match op {
            BinaryOp::Add => return Ok(Value::String(format!("{x}{y}").into())),
            _ => x.cmp(y),
        },
        (Value::Enum(_, x), Value::Enum(_, y)) => x.cmp(y),
        _ => return fail(EvalErrorKind::Type("an operator")),
    };
    match crate::simplify::relation_holds(op, ordering) {
        Some(holds) => Ok(Value::Boolean(holds)),
        None => fail(EvalErrorKind::Type("an operator")),
    }
}

fn math1(op: Builtin, x: &Value) -> Result<Value> {
    if let Value::Integer(i) = x
        && let Some(result) = ops::integer_builtin1(op, *i)
    {
        return Ok(Value::Integer(result?));
    }
    let (Value::Real(_) | Value::Integer(_)) = x else {
        return fail(EvalErrorKind::Type(op.name()));
    };
    let x = x.as_f64().ok_or(EvalErrorKind::Type(op.name()))?;
    ops::check_builtin(op, x, 0.0)?;
    match ops::builtin1(op, x) {
        Some(_) if op == Builtin::Integer => Ok(Value::Integer(ops::floor_to_integer(x)?)),
        Some(y) if op == Builtin::Sign => Ok(Value::Integer(y as i64)),
        Some(y) => Ok(Value::Real(y)),
        None => fail(EvalErrorKind::Type(op.name())),
    }
}

fn math2(op: Builtin, a: &Value, b: &Value) -> Result<Value> {
    match (a, b) {
        (Value::Integer(x), Value::Integer(y))
            if let Some(result) = ops::integer_builtin2(op, *x, *y) =>
        {
            return Ok(Value::Integer(result?));
        }
        (Value::Boolean(x), Value::Boolean(y)) if op == Builtin::Min => {
            return Ok(Value::Boolean(*x && *y));
        }
        (Value::Boolean(x), Value::Boolean(y)) if op == Builtin::Max => {
            return Ok(Value::Boolean(*x || *y));
        }
        (Value::Enum(id, x), Value::Enum(_, y)) if op == Builtin::Min => {
            return Ok(Value::Enum(*id, *x.min(y)));
        }
        (Value::Enum(id, x), Value::Enum(_, y)) if op == Builtin::Max => {
            return Ok(Value::Enum(*id, *x.max(y)));
        }
        (Value::Real(_) | Value::Integer(_), Value::Real(_) | Value::Integer(_)) => {}
        _ => return fail(EvalErrorKind::Type(op.name())),
    }
    let (Some(x), Some(y)) = (a.as_f64(), b.as_f64()) else {
        return fail(EvalErrorKind::Type(op.name()));
    };
    ops::check_builtin(op, x, y)?;
    ops::builtin2(op, x, y)
        .map(Value::Real)
        .ok_or_else(|| EvalErrorKind::Type(op.name()).into())
}

fn reduce_pair(op: Reduction, a: &Value, b: &Value) -> Result<Value> {
    match op {
        Reduction::Sum => binary(BinaryOp::Add, a, b),
        Reduction::Product => binary(BinaryOp::Mul, a, b),
        Reduction::Min => math2(Builtin::Min, a, b),
        Reduction::Max => math2(Builtin::Max, a, b),
    }
}

/// The result for no elements (specification 10.3.4.1).
fn neutral(op: Reduction, base: Base) -> Value {
    let integer = base == Base::Integer;
    match op {
        Reduction::Sum if integer => Value::Integer(0),
        Reduction::Sum => Value::Real(0.0),
        Reduction::Product if integer => Value::Integer(1),
        Reduction::Product => Value::Real(1.0),
        Reduction::Min if integer => Value::Integer(i64::MAX),
        Reduction::Min => Value::Real(f64::MAX),
        Reduction::Max if integer => Value::Integer(i64::MIN),
        Reduction::Max => Value::Real(f64::MIN),
    }
}

/// `external "builtin"` functions are the mathematical ones.
fn builtin_by_name(name: &str, args: &[Value]) -> Option<Result<Value>> {
    use Builtin::*;
    let all = [
        Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Exp, Log, Log10, Sqrt, Abs, Sign,
    ];
    let op = all.into_iter().find(|op| op.name() == name)?;
    match args {
        [x] if op.is_math1() => Some(math1(op, x)),
        [x, y] if op.is_math2() => Some(math2(op, x, y)),
        _ => None,
    }
}
