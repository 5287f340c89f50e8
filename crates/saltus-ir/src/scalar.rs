//! Array and record expressions as lists of scalar expressions, and symbolic execution of functions.
//!
//! Comes in: an expression of any type whose dimensions can be found. Goes out: its scalar leaves (order as at
//! [`Expr::Leaf`]), with the array algebra carried out symbolically and folded. What is left of arrays: the
//! arguments of calls that are kept, and the array under a subscript that is not constant.
//!
//! Calls (specification 12): constructors of records are expanded; calls of pure functions with constant arguments
//! are evaluated; small functions and those annotated for it are inlined by running their body on symbolic leaves
//! ([`inline_call`]); other calls stay one node, whose results are read through [`Expr::Leaf`] and
//! [`Expr::Output`]. Relations of an inlined function make no events and are put into `noEvent`.

mod algorithm;
mod arrays;
mod exec;

pub use algorithm::{AlgorithmEquations, GuardedAction, Section, algorithm_to_equations};
pub use exec::{InlineMode, inline_call, inline_call_with};

use crate::eval::EvalError;
use crate::expr::{BinaryOp, Builtin, Expr, Ir, Reduction, Sub, UnaryOp};
use crate::func::{Function, FunctionBody, Inline, StatementKind};
use crate::types::{Base, Dim, Type};
use crate::value::Value;
use crate::{ExprId, FuncId, LocalId, RecordId, TypeId, VarId, ops};
use exec::AssertMode;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::fmt;
use std::rc::Rc;

/// An array, record or scalar as leaves. `dims` is empty for a scalar or a single record.
#[derive(Clone, PartialEq, Debug)]
pub struct Shaped {
    pub base: Base,
    pub dims: Vec<usize>,
    pub leaves: Vec<ExprId>,
}

/// Why an expression has no scalar leaves, or a function cannot be inlined.
#[derive(Clone, PartialEq, Debug)]
pub enum ScalarError {
    /// A dimension does not follow from constants.
    UnknownSize(String),
    ShapeMismatch {
        what: &'static str,
        left: Vec<usize>,
        right: Vec<usize>,
    },
    IndexOutOfRange {
        index: i64,
        size: usize,
    },
    /// A local variable that has no value (yet).
    Unassigned(LocalId),
    /// Must be a constant.
    NotConstant(&'static str),
    /// Deeper than [`DEPTH_MAX`].
    TooDeep,
    /// The result would be larger than the budget of inlining.
    TooLarge,
    Recursive(FuncId),
    /// The function has no Modelica body.
    NoBody(FuncId),
    Unsupported(String),
    Eval(Box<EvalError>),
}

impl fmt::Display for ScalarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarError::UnknownSize(what) => {
                write!(f, "the size of {what} does not follow from constants")
            }
            ScalarError::ShapeMismatch { what, left, right } => {
                write!(f, "sizes {left:?} and {right:?} do not fit in {what}")
            }
            ScalarError::IndexOutOfRange { index, size } => {
                write!(f, "subscript {index} is not in 1:{size}")
            }
            ScalarError::Unassigned(_) => {
                write!(f, "a local variable is used before it has a value")
            }
            ScalarError::NotConstant(what) => write!(f, "{what} must be constant"),
            ScalarError::TooDeep => write!(f, "the expression is nested too deeply"),
            ScalarError::TooLarge => write!(f, "the expanded function is too large"),
            ScalarError::Recursive(_) => write!(f, "the function calls itself"),
            ScalarError::NoBody(_) => write!(f, "the function has no Modelica body"),
            ScalarError::Unsupported(what) => write!(f, "{what} cannot be expanded"),
            ScalarError::Eval(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ScalarError {}

pub(crate) type Result<T> = std::result::Result<T, ScalarError>;
/// Shared, because locals are read far more often than written.
pub(crate) type Shared = Rc<Shaped>;

/// Nesting of expressions and calls; chains of binary operators count once.
const DEPTH_MAX: usize = 400;
/// Elements of one array that is expanded.
const ELEMENTS_MAX: usize = 1_000_000;
/// A function without `Inline` annotation is inlined if it has at most this many statements, all assignments.
const INLINE_STATEMENTS_MAX: usize = 4;
/// Sums and products of more terms are balanced trees, so that no expression gets deep.
const CHAIN_MAX: usize = 32;

/// The scalar leaves of `e`.
pub fn scalarize(ir: &mut Ir, e: ExprId) -> std::result::Result<Vec<ExprId>, ScalarError> {
    scalarize_shaped(ir, e).map(|shaped| shaped.leaves)
}

/// The scalar leaves of `e` with the dimensions found.
pub fn scalarize_shaped(ir: &mut Ir, e: ExprId) -> std::result::Result<Shaped, ScalarError> {
    let shared = Scalarizer::new(ir).expr(e)?;
    Ok(Rc::unwrap_or_clone(shared))
}

/// One pass: the arena, the values of locals, and what was already expanded.
pub(crate) struct Scalarizer<'a> {
    pub(crate) ir: &'a mut Ir,
    /// Values of the locals and iterators of the function being executed.
    locals: IndexMap<LocalId, Shared, FxBuildHasher>,
    /// Current values of variables assigned by an algorithm section.
    vars: IndexMap<VarId, ExprId, FxBuildHasher>,
    /// Leaves of nodes that contain no local.
    memo: FxHashMap<ExprId, Shared>,
    local_free: FxHashMap<ExprId, bool>,
    calls: FxHashMap<(FuncId, Vec<ExprId>), Rc<[Shared]>>,
    /// Functions being inlined, outermost first.
    inlining: Vec<FuncId>,
    /// Inline every function with a body, not only those of the policy.
    force: bool,
    asserts: AssertMode,
    depth: usize,
    /// Statements executed so far.
    steps: usize,
    /// Arena size at which inlining gives up.
    nodes_max: usize,
    /// Elements that one assignment with a symbolic subscript may rewrite.
    symbolic_target_max: usize,
    /// Conditions under which the current statement is executed.
    guards: Vec<ExprId>,
    collected: algorithm::Collected,
}

impl<'a> Scalarizer<'a> {
    pub(crate) fn new(ir: &'a mut Ir) -> Scalarizer<'a> {
        Scalarizer {
            ir,
            locals: IndexMap::default(),
            vars: IndexMap::default(),
            memo: FxHashMap::default(),
            local_free: FxHashMap::default(),
            calls: FxHashMap::default(),
            inlining: Vec::new(),
            force: false,
            asserts: AssertMode::Refuse,
            depth: 0,
            steps: 0,
            nodes_max: usize::MAX,
            symbolic_target_max: exec::SYMBOLIC_TARGET_MAX,
            guards: Vec::new(),
            collected: algorithm::Collected::default(),
        }
    }

    pub(crate) fn expr(&mut self, e: ExprId) -> Result<Shared> {
        let memoised = self.vars.is_empty() && self.is_local_free(e);
        if memoised && let Some(shared) = self.memo.get(&e) {
            return Ok(shared.clone());
        }
        if self.depth >= DEPTH_MAX {
            return Err(ScalarError::TooDeep);
        }
        self.depth += 1;
        let result = self.node(e);
        self.depth -= 1;
        let shared = result?;
        if memoised {
            self.memo.insert(e, shared.clone());
        }
        Ok(shared)
    }

    /// The single leaf of a scalar expression.
    pub(crate) fn scalar(&mut self, e: ExprId, what: &'static str) -> Result<ExprId> {
        let shaped = self.expr(e)?;
        match shaped.leaves.as_slice() {
            [leaf] if shaped.dims.is_empty() => Ok(*leaf),
            _ => Err(ScalarError::ShapeMismatch {
                what,
                left: shaped.dims.clone(),
                right: vec![],
            }),
        }
    }

    fn is_local_free(&mut self, e: ExprId) -> bool {
        if let Some(&free) = self.local_free.get(&e) {
            return free;
        }
        for id in self.ir.reachable(&[e]) {
            let mut free = !matches!(self.ir.expr(id), Expr::Local(_));
            let known = &self.local_free;
            self.ir.for_each_child(id, |child| {
                free &= known.get(&child).copied().unwrap_or(true)
            });
            self.local_free.insert(id, free);
        }
        self.local_free[&e]
    }

    fn node(&mut self, e: ExprId) -> Result<Shared> {
        match self.ir.expr(e) {
            Expr::Real(_)
            | Expr::Integer(_)
            | Expr::Boolean(_)
            | Expr::String(_)
            | Expr::Enum(..)
            | Expr::Time => Ok(self.single(e)),
            Expr::Var(v) => {
                let leaf = self.vars.get(v).copied().unwrap_or(e);
                Ok(self.single(leaf))
            }
            Expr::VarArray(first) => {
                let first = *first;
                self.var_array(first, self.ir.type_id(e))
            }
            Expr::Local(id) => self
                .locals
                .get(id)
                .cloned()
                .ok_or(ScalarError::Unassigned(*id)),
            Expr::Unary(op, a) => {
                let (op, a) = (*op, *a);
                let a = self.expr(a)?;
                Ok(self.map_leaves(&a, |ir, x| match op {
                    UnaryOp::Neg => ir.neg(x),
                    UnaryOp::Not => ir.not(x),
                }))
            }
            Expr::Binary(..) => self.binary_chain(e),
            Expr::If(c, t, f) => {
                let (c, t, f) = (*c, *t, *f);
                self.if_node(c, t, f)
            }
            Expr::Builtin(op, args) => {
                let (op, args) = (*op, args.clone());
                self.builtin(e, op, &args)
            }
            Expr::Call { function, args } => {
                let (function, args) = (*function, args.clone());
                let ty = self.ir.type_id(e);
                let args = args
                    .iter()
                    .map(|&a| self.expr(a))
                    .collect::<Result<Vec<_>>>()?;
                self.call(function, args, &[(0, ty)])
                    .map(|outputs| outputs[0].clone())
            }
            Expr::Output { call, index } => {
                let (call, index) = (*call, *index);
                self.output(e, call, index)
            }
            Expr::Leaf { of, index } => {
                let (of, index) = (*of, *index as usize);
                let shaped = self.expr(of)?;
                let leaf = *shaped
                    .leaves
                    .get(index)
                    .ok_or(ScalarError::IndexOutOfRange {
                        index: index as i64 + 1,
                        size: shaped.leaves.len(),
                    })?;
                Ok(self.single(leaf))
            }
            Expr::Array(elements) => {
                let elements = elements.clone();
                self.array_node(e, &elements)
            }
            Expr::Range { start, step, stop } => {
                let (start, step, stop) = (*start, *step, *stop);
                self.range(start, step, stop)
            }
            Expr::Index { base, subs } => {
                let (base, subs) = (*base, subs.clone());
                self.index_node(base, &subs)
            }
            Expr::Record { record, fields } => {
                let (record, fields) = (*record, fields.clone());
                let mut leaves = Vec::new();
                for (k, field) in fields.iter().enumerate() {
                    let shaped = self.expr(*field)?;
                    self.push_field(record, k, &shaped, &mut leaves)?;
                }
                Ok(Rc::new(Shaped {
                    base: Base::Record(record),
                    dims: vec![],
                    leaves,
                }))
            }
            Expr::Field { base, index } => {
                let (base, index) = (*base, *index);
                let shaped = self.expr(base)?;
                let (position, field) = self.field_positions(shaped.base, &shaped.dims, index)?;
                let leaves = position.into_iter().map(|p| shaped.leaves[p]).collect();
                Ok(Rc::new(Shaped {
                    base: field.0,
                    dims: field.1,
                    leaves,
                }))
            }
            Expr::Comprehension { body, iter, range } => {
                let (body, iter, range) = (*body, *iter, *range);
                self.comprehension(e, body, iter, range)
            }
            Expr::Reduce {
                op,
                body,
                iter,
                range,
            } => {
                let (op, body, iter, range) = (*op, *body, *iter, *range);
                let terms = self.iterate(iter, range, body)?;
                let leaves = terms
                    .iter()
                    .map(|t| self.one_leaf(t, "a reduction"))
                    .collect::<Result<Vec<_>>>()?;
                let base = self.ir.base(e);
                let leaf = self.reduce(op, base, &leaves);
                Ok(self.single(leaf))
            }
            Expr::Function { function, bound } => {
                let (function, bound) = (*function, bound.clone());
                let mut new = Vec::with_capacity(bound.len());
                for (position, value) in bound.iter() {
                    let shaped = self.expr(*value)?;
                    new.push((*position, self.rebuild(&shaped)?));
                }
                let ty = self.ir.type_id(e);
                let leaf = self.ir.add(
                    Expr::Function {
                        function,
                        bound: new.into(),
                    },
                    ty,
                );
                Ok(self.single(leaf))
            }
        }
    }

    fn single(&self, leaf: ExprId) -> Shared {
        Rc::new(Shaped {
            base: self.ir.base(leaf),
            dims: vec![],
            leaves: vec![leaf],
        })
    }

    fn one_leaf(&self, shaped: &Shaped, what: &'static str) -> Result<ExprId> {
        match shaped.leaves.as_slice() {
            [leaf] if shaped.dims.is_empty() => Ok(*leaf),
            _ => Err(ScalarError::ShapeMismatch {
                what,
                left: shaped.dims.clone(),
                right: vec![],
            }),
        }
    }

    fn var_array(&mut self, first: VarId, ty: TypeId) -> Result<Shared> {
        let unknown = || ScalarError::UnknownSize("a variable".into());
        let bases = self.ir.leaf_bases(ty).ok_or_else(unknown)?;
        let dims = self.ir.type_of_id(ty).known_dims().ok_or_else(unknown)?;
        let mut leaves = Vec::with_capacity(bases.len());
        for (k, base) in bases.into_iter().enumerate() {
            let v = VarId(first.0 + k as u32);
            leaves.push(match self.vars.get(&v) {
                Some(&current) => current,
                None => self.ir.var(v, base),
            });
        }
        Ok(Rc::new(Shaped {
            base: self.ir.type_of_id(ty).base,
            dims,
            leaves,
        }))
    }

    fn map_leaves(&mut self, a: &Shaped, mut f: impl FnMut(&mut Ir, ExprId) -> ExprId) -> Shared {
        let leaves: Vec<ExprId> = a.leaves.iter().map(|&x| f(self.ir, x)).collect();
        let base = match leaves.first() {
            Some(&leaf) if !matches!(a.base, Base::Record(_)) => self.ir.base(leaf),
            _ => a.base,
        };
        Rc::new(Shaped {
            base,
            dims: a.dims.clone(),
            leaves,
        })
    }

    /// `((a op b) op c) …` without recursion along the left operands.
    fn binary_chain(&mut self, e: ExprId) -> Result<Shared> {
        let mut spine = Vec::new();
        let mut left = e;
        while let Expr::Binary(op, a, b) = *self.ir.expr(left) {
            spine.push((op, b));
            left = a;
            if self.vars.is_empty() && self.memo.contains_key(&left) {
                break;
            }
        }
        let mut value = self.expr(left)?;
        for (op, right) in spine.into_iter().rev() {
            let right = self.expr(right)?;
            value = self.binary(op, &value, &right)?;
        }
        Ok(value)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, a: &Shared, b: &Shared) -> Result<Shared> {
        match op {
            BinaryOp::MatMul => self.mat_mul(a, b),
            BinaryOp::MatPow => self.mat_pow(a, b),
            _ => {
                let quiet = !self.inlining.is_empty() && op.is_relation();
                self.elementwise("an operator", &[a, b], |ir, args| {
                    let result = ir.binary(op, args[0], args[1]);
                    // A relation of Integers makes no event itself, and those that its arguments make are theirs.
                    let of_reals = args.iter().any(|&arg| ir.base(arg) == Base::Real);
                    if quiet && of_reals {
                        ir.no_event(result)
                    } else {
                        result
                    }
                })
            }
        }
    }

    /// Applies `f` leaf by leaf; arguments with one leaf and no dimensions are repeated.
    fn elementwise(
        &mut self,
        what: &'static str,
        args: &[&Shared],
        mut f: impl FnMut(&mut Ir, &[ExprId]) -> ExprId,
    ) -> Result<Shared> {
        let is_scalar = |a: &Shaped| a.dims.is_empty() && a.leaves.len() == 1;
        let Some(shape) = args.iter().find(|a| !is_scalar(a)).or(args.first()) else {
            return Err(ScalarError::Unsupported(what.into()));
        };
        for a in args {
            if !is_scalar(a) && (a.dims != shape.dims || a.leaves.len() != shape.leaves.len()) {
                return Err(ScalarError::ShapeMismatch {
                    what,
                    left: shape.dims.clone(),
                    right: a.dims.clone(),
                });
            }
        }
        let mut operands = vec![shape.leaves.first().copied().unwrap_or(ExprId(0)); args.len()];
        let mut leaves = Vec::with_capacity(shape.leaves.len());
        for k in 0..shape.leaves.len() {
            for (operand, a) in operands.iter_mut().zip(args) {
                *operand = if is_scalar(a) {
                    a.leaves[0]
                } else {
                    a.leaves[k]
                };
            }
            leaves.push(f(self.ir, &operands));
        }
        let base = match leaves.first() {
            Some(&leaf) if !matches!(shape.base, Base::Record(_)) => self.ir.base(leaf),
            _ => shape.base,
        };
        Ok(Rc::new(Shaped {
            base,
            dims: shape.dims.clone(),
            leaves,
        }))
    }

    fn if_node(&mut self, c: ExprId, t: ExprId, f: ExprId) -> Result<Shared> {
        let condition = self.scalar(c, "a condition")?;
        if let Some(value) = self.ir.as_boolean(condition) {
            return self.expr(if value { t } else { f });
        }
        let (t, f) = (self.expr(t)?, self.expr(f)?);
        self.merge_if(condition, &t, &f)
    }

    fn merge_if(&mut self, condition: ExprId, t: &Shared, f: &Shared) -> Result<Shared> {
        if t.dims != f.dims || t.leaves.len() != f.leaves.len() {
            return Err(ScalarError::ShapeMismatch {
                what: "the branches of an if",
                left: t.dims.clone(),
                right: f.dims.clone(),
            });
        }
        if t == f {
            return Ok(t.clone());
        }
        let leaves = t
            .leaves
            .iter()
            .zip(&f.leaves)
            .map(|(&a, &b)| self.ir.if_(condition, a, b))
            .collect();
        let base = if f.base == Base::Real { f.base } else { t.base };
        Ok(Rc::new(Shaped {
            base,
            dims: t.dims.clone(),
            leaves,
        }))
    }

    fn array_node(&mut self, e: ExprId, elements: &[ExprId]) -> Result<Shared> {
        if elements.is_empty() {
            let ty = self.ir.ty(e);
            let dims = ty
                .known_dims()
                .ok_or_else(|| ScalarError::UnknownSize("an empty array".into()))?;
            if dims.iter().product::<usize>() != 0 {
                return Err(ScalarError::UnknownSize("an empty array".into()));
            }
            return Ok(Rc::new(Shaped {
                base: ty.base,
                dims,
                leaves: vec![],
            }));
        }
        let parts = elements
            .iter()
            .map(|&x| self.expr(x))
            .collect::<Result<Vec<_>>>()?;
        self.stack(&parts)
    }

    /// Equal shapes as the rows of one array.
    fn stack(&mut self, parts: &[Shared]) -> Result<Shared> {
        let first = &parts[0];
        let mut leaves = Vec::with_capacity(parts.len() * first.leaves.len());
        let mut base = first.base;
        for part in parts {
            if part.dims != first.dims || part.leaves.len() != first.leaves.len() {
                return Err(ScalarError::ShapeMismatch {
                    what: "the elements of an array",
                    left: first.dims.clone(),
                    right: part.dims.clone(),
                });
            }
            if base == Base::Integer && part.base == Base::Real {
                base = Base::Real;
            }
            leaves.extend_from_slice(&part.leaves);
        }
        let mut dims = vec![parts.len()];
        dims.extend_from_slice(&first.dims);
        Ok(self.coerced(Shaped { base, dims, leaves }, base))
    }

    /// Integer literals become Real literals where `base` is Real.
    fn coerced(&mut self, mut shaped: Shaped, base: Base) -> Shared {
        if base == Base::Real && matches!(shaped.base, Base::Integer | Base::Real) {
            for leaf in &mut shaped.leaves {
                if let Expr::Integer(i) = *self.ir.expr(*leaf) {
                    *leaf = self.ir.real(i as f64);
                }
            }
            shaped.base = Base::Real;
        }
        Rc::new(shaped)
    }

    fn coerce(&mut self, shaped: &Shared, base: Base) -> Shared {
        let literal = base == Base::Real
            && shaped
                .leaves
                .iter()
                .any(|&e| matches!(self.ir.expr(e), Expr::Integer(_)));
        if literal || (base == Base::Real && shaped.base == Base::Integer) {
            self.coerced((**shaped).clone(), base)
        } else {
            shaped.clone()
        }
    }

    /// Appends the leaves of one field, with the conversion and size that the record type asks for.
    fn push_field(
        &mut self,
        record: RecordId,
        index: usize,
        value: &Shared,
        leaves: &mut Vec<ExprId>,
    ) -> Result<()> {
        let Some(field) = self.ir.records[record].fields.get(index) else {
            return Err(ScalarError::Unsupported(
                "a record with too many fields".into(),
            ));
        };
        let ty = field.ty;
        let expected = self.ir.leaf_count(ty).ok_or_else(|| {
            ScalarError::UnknownSize(format!(
                "field `{}`",
                self.ir.records[record].fields[index].name
            ))
        })?;
        if value.leaves.len() != expected {
            return Err(ScalarError::ShapeMismatch {
                what: "the field of a record",
                left: self.ir.type_of_id(ty).known_dims().unwrap_or_default(),
                right: value.dims.clone(),
            });
        }
        let value = self.coerce(value, self.ir.type_of_id(ty).base);
        leaves.extend_from_slice(&value.leaves);
        Ok(())
    }

    /// Positions of the leaves of a field of every element, and base and dims of the result.
    fn field_positions(
        &self,
        base: Base,
        dims: &[usize],
        index: u32,
    ) -> Result<(Vec<usize>, (Base, Vec<usize>))> {
        let Base::Record(record) = base else {
            return Err(ScalarError::Unsupported(
                "a field of something that is not a record".into(),
            ));
        };
        let unknown = || ScalarError::UnknownSize("a record field".into());
        let (first, n) = self.ir.field_leaves(record, index).ok_or_else(unknown)?;
        let stride = self.ir.element_leaf_count(base).ok_or_else(unknown)?;
        let ty = self
            .ir
            .type_of_id(self.ir.records[record].fields[index as usize].ty);
        let count: usize = dims.iter().product();
        let positions = (0..count)
            .flat_map(|k| (0..n).map(move |j| k * stride + first + j))
            .collect();
        let mut result_dims = dims.to_vec();
        result_dims.extend(ty.known_dims().ok_or_else(unknown)?);
        Ok((positions, (ty.base, result_dims)))
    }

    /// One array, record or scalar node with these leaves.
    pub(crate) fn rebuild(&mut self, shaped: &Shaped) -> Result<ExprId> {
        let ty = self.ir.intern_type(Type::array(shaped.base, &shaped.dims));
        self.ir
            .rebuild_from_leaves(ty, &shaped.leaves)
            .ok_or_else(|| ScalarError::UnknownSize("an argument".into()))
    }

    /// The value of each iteration of `body`.
    fn iterate(&mut self, iter: LocalId, range: ExprId, body: ExprId) -> Result<Vec<Shared>> {
        let values = self.iteration_values(range)?;
        let outer = self.locals.get(&iter).cloned();
        let mut results = Vec::with_capacity(values.len());
        let mut failed = None;
        for value in values {
            let value = self.single(value);
            self.locals.insert(iter, value);
            match self.expr(body) {
                Ok(result) => results.push(result),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        match outer {
            Some(value) => self.locals.insert(iter, value),
            None => self.locals.swap_remove(&iter),
        };
        failed.map_or(Ok(results), Err)
    }

    /// The leaves of the vector that is iterated over.
    fn iteration_values(&mut self, range: ExprId) -> Result<Vec<ExprId>> {
        let shaped = self.expr(range)?;
        if shaped.dims.len() != 1 || shaped.leaves.len() != shaped.dims[0] {
            return Err(ScalarError::ShapeMismatch {
                what: "an iteration",
                left: shaped.dims.clone(),
                right: vec![],
            });
        }
        Ok(shaped.leaves.clone())
    }

    fn comprehension(
        &mut self,
        e: ExprId,
        body: ExprId,
        iter: LocalId,
        range: ExprId,
    ) -> Result<Shared> {
        let parts = self.iterate(iter, range, body)?;
        if !parts.is_empty() {
            return self.stack(&parts);
        }
        let ty = self.ir.ty(e);
        let inner = Type {
            base: ty.base,
            dims: ty.dims.get(1..).unwrap_or_default().to_vec(),
        };
        let mut dims = vec![0];
        dims.extend(inner.dims.iter().map(|d| {
            if let Dim::Known(n) = d {
                *n as usize
            } else {
                0
            }
        }));
        Ok(Rc::new(Shaped {
            base: ty.base,
            dims,
            leaves: vec![],
        }))
    }

    /// Every literal of the range (specification 10.4.3): Integer, Real, Boolean or enumeration.
    fn range(&mut self, start: ExprId, step: Option<ExprId>, stop: ExprId) -> Result<Shared> {
        let start = self.scalar(start, "a range")?;
        let stop = self.scalar(stop, "a range")?;
        let step = step.map(|s| self.scalar(s, "a range")).transpose()?;
        let leaves: Vec<ExprId> = match (self.ir.expr(start).clone(), self.ir.expr(stop).clone()) {
            (Expr::Enum(id, a), Expr::Enum(_, b)) => (a..=b)
                .map(|k| self.ir.add_scalar(Expr::Enum(id, k), Base::Enum(id)))
                .collect(),
            (Expr::Boolean(a), Expr::Boolean(b)) => [false, true]
                .into_iter()
                .filter(|&x| x >= a && x <= b)
                .map(|x| self.ir.boolean(x))
                .collect(),
            _ => {
                let number =
                    |ir: &Ir, e: ExprId| ir.as_number(e).ok_or(ScalarError::NotConstant("a range"));
                let (a, b) = (number(self.ir, start)?, number(self.ir, stop)?);
                let d = step.map_or(Ok(1.0), |s| number(self.ir, s))?;
                let n = ops::range_length(a, d, b)
                    .map_err(|_| ScalarError::NotConstant("the step of a range"))?;
                if n > ELEMENTS_MAX {
                    return Err(ScalarError::TooLarge);
                }
                let integer = [Some(start), step]
                    .into_iter()
                    .flatten()
                    .all(|e| self.ir.base(e) == Base::Integer);
                (0..n)
                    .map(|k| {
                        let x = a + k as f64 * d;
                        if integer {
                            self.ir.integer(x as i64)
                        } else {
                            self.ir.real(x)
                        }
                    })
                    .collect()
            }
        };
        let base = leaves
            .first()
            .map_or(self.ir.base(start), |&e| self.ir.base(e));
        Ok(Rc::new(Shaped {
            base,
            dims: vec![leaves.len()],
            leaves,
        }))
    }

    fn index_node(&mut self, base: ExprId, subs: &[Sub]) -> Result<Shared> {
        let array = self.expr(base)?;
        let selection = self.select(&array.dims, subs)?;
        let stride = array
            .leaves
            .len()
            .checked_div(array.dims.iter().product())
            .unwrap_or(0);
        let mut leaves = Vec::with_capacity(selection.cells.len() * stride);
        for cell in &selection.cells {
            for j in 0..stride {
                let candidates: Vec<ExprId> =
                    cell.iter().map(|&p| array.leaves[p * stride + j]).collect();
                leaves.push(self.pick(&selection, candidates));
            }
        }
        Ok(Rc::new(Shaped {
            base: array.base,
            dims: selection.dims,
            leaves,
        }))
    }

    /// The element that the symbolic subscripts of the selection choose among `candidates`.
    fn pick(&mut self, selection: &Selection, candidates: Vec<ExprId>) -> ExprId {
        let mut subscripts = selection.symbolic.iter().zip(&selection.symbolic_sizes);
        // A subscript out of range is an error, also where all elements are equal.
        if candidates.iter().all(|&e| e == candidates[0])
            && subscripts.all(|(&sub, &size)| self.certainly_in_range(sub, size))
        {
            return candidates[0];
        }
        let base = match candidates.iter().find(|&&e| self.ir.base(e) == Base::Real) {
            Some(_) => Base::Real,
            None => self.ir.base(candidates[0]),
        };
        let dims = selection.symbolic_sizes.as_slice();
        let ty = self.ir.intern_type(Type::array(base, dims));
        let array = self
            .ir
            .rebuild_from_leaves(ty, &candidates)
            .expect("one candidate for each subscript value");
        let subs = selection.symbolic.iter().map(|&e| Sub::At(e)).collect();
        self.ir.add_scalar(Expr::Index { base: array, subs }, base)
    }

    /// The elements that subscripts select of an array with `dims`.
    fn select(&mut self, dims: &[usize], subs: &[Sub]) -> Result<Selection> {
        if subs.len() > dims.len() {
            return Err(ScalarError::ShapeMismatch {
                what: "subscripts",
                left: dims.to_vec(),
                right: vec![subs.len()],
            });
        }
        let mut selection = Selection::default();
        // For each dimension the positions, and whether they belong to a symbolic subscript.
        let mut axes: Vec<(Vec<usize>, bool)> = Vec::with_capacity(dims.len());
        for (d, &size) in dims.iter().enumerate() {
            let Some(Sub::At(sub)) = subs.get(d) else {
                selection.dims.push(size);
                axes.push(((0..size).collect(), false));
                continue;
            };
            let values = self.expr(*sub)?;
            if values.dims.len() > 1 {
                return Err(ScalarError::ShapeMismatch {
                    what: "a subscript",
                    left: values.dims.clone(),
                    right: vec![],
                });
            }
            let constants: Option<Vec<i64>> = values
                .leaves
                .iter()
                .map(|&e| self.ir.as_subscript(e))
                .collect();
            match constants {
                Some(constants) => {
                    let positions = constants
                        .into_iter()
                        .map(|i| match usize::try_from(i) {
                            Ok(k) if k >= 1 && k <= size => Ok(k - 1),
                            _ => Err(ScalarError::IndexOutOfRange { index: i, size }),
                        })
                        .collect::<Result<Vec<_>>>()?;
                    if !values.dims.is_empty() {
                        selection.dims.push(positions.len());
                    }
                    axes.push((positions, false));
                }
                None if values.dims.is_empty() && size > 0 => {
                    selection.symbolic.push(values.leaves[0]);
                    selection.symbolic_sizes.push(size);
                    axes.push(((0..size).collect(), true));
                }
                None => return Err(ScalarError::NotConstant("a subscript vector")),
            }
        }
        selection.cells = cells(dims, &axes);
        Ok(selection)
    }

    fn builtin(&mut self, e: ExprId, op: Builtin, args: &[ExprId]) -> Result<Shared> {
        // `size` and `ndims` must not expand their argument if its type says enough.
        if let (Builtin::Size, [array, dim]) = (op, args)
            && let Some(Dim::Known(n)) = self.ir.as_subscript(*dim).and_then(|k| {
                self.ir
                    .ty(*array)
                    .dims
                    .get(usize::try_from(k).ok()?.checked_sub(1)?)
            })
        {
            let n = i64::from(*n);
            let leaf = self.ir.integer(n);
            return Ok(self.single(leaf));
        }
        if !self.vars.is_empty()
            && matches!(
                op,
                Builtin::Pre | Builtin::Previous | Builtin::Der | Builtin::Edge | Builtin::Change
            )
        {
            return self.history(e, op, args);
        }
        let shaped = args
            .iter()
            .map(|&a| self.expr(a))
            .collect::<Result<Vec<_>>>()?;
        if let Some(result) = self.array_builtin(e, op, &shaped)? {
            return Ok(result);
        }
        if shaped.is_empty()
            || matches!(
                op,
                Builtin::SpatialDistribution | Builtin::Sample | Builtin::Clock | Builtin::ToString
            )
        {
            let args = shaped
                .iter()
                .map(|a| self.rebuild(a))
                .collect::<Result<Vec<_>>>()?;
            let ty = self.ir.type_id(e);
            let mut leaf = self.ir.builtin_typed(op, &args, ty);
            if op == Builtin::ToString && args.iter().all(|&a| self.ir.is_literal(a)) {
                leaf = self.evaluated(leaf).unwrap_or(leaf);
            }
            return Ok(self.single(leaf));
        }
        let quiet = !self.inlining.is_empty() && op.makes_events();
        // Operators whose scalar type is not that of an argument keep the base of the node.
        let base = self.ir.base(e);
        let keep_base = matches!(op, Builtin::EnumOf);
        let refs: Vec<&Shared> = shaped.iter().collect();
        self.elementwise(op.name(), &refs, |ir, args| {
            let result = if keep_base {
                let ty = ir.scalar_type(base);
                ir.builtin_typed(op, args, ty)
            } else {
                ir.call_builtin(op, args)
            };
            if quiet { ir.no_event(result) } else { result }
        })
    }

    /// The literal that a constant scalar expression evaluates to.
    fn evaluated(&mut self, e: ExprId) -> Option<ExprId> {
        let value = crate::eval::eval(
            self.ir,
            e,
            &mut crate::eval::NoEnv,
            &mut crate::eval::NoExternals,
        )
        .ok()?;
        self.literal(&value).ok()
    }

    fn literal(&mut self, value: &Value) -> Result<ExprId> {
        Ok(match value {
            Value::Real(x) if x.is_finite() => self.ir.real(*x),
            Value::Integer(i) => self.ir.integer(*i),
            Value::Boolean(b) => self.ir.boolean(*b),
            Value::String(s) => self.ir.string(s),
            Value::Enum(id, k) => self.ir.add_scalar(Expr::Enum(*id, *k), Base::Enum(*id)),
            _ => {
                return Err(ScalarError::Unsupported(
                    "the value of a constant call".into(),
                ));
            }
        })
    }

    fn output(&mut self, e: ExprId, call: ExprId, index: u32) -> Result<Shared> {
        match self.ir.expr(call) {
            Expr::Call { function, args } => {
                let (function, args) = (*function, args.clone());
                let args = args
                    .iter()
                    .map(|&a| self.expr(a))
                    .collect::<Result<Vec<_>>>()?;
                let known = [
                    (0, self.ir.type_id(call)),
                    (index as usize, self.ir.type_id(e)),
                ];
                let outputs = self.call(function, args, &known)?;
                outputs
                    .get(index as usize)
                    .cloned()
                    .ok_or_else(|| ScalarError::Unsupported("an output that does not exist".into()))
            }
            Expr::Builtin(..) => {
                let call = self.scalar(call, "an output")?;
                let ty = self.ir.type_id(e);
                let leaf = self.ir.add(Expr::Output { call, index }, ty);
                Ok(self.single(leaf))
            }
            _ => Err(ScalarError::Unsupported(
                "an output of something that is not a call".into(),
            )),
        }
    }

    /// All outputs of a call, by the policy in the module doc. `known` are types that the front end has found for some of them.
    fn call(
        &mut self,
        function: FuncId,
        args: Vec<Shared>,
        known: &[(usize, TypeId)],
    ) -> Result<Rc<[Shared]>> {
        if let FunctionBody::Argument(local) = self.ir.functions[function].body {
            return self.call_value(local, args);
        }
        let args = self.bound_arguments(function, args)?;
        if let FunctionBody::Constructor(record) = self.ir.functions[function].body {
            let mut leaves = Vec::new();
            for (k, arg) in args.iter().enumerate() {
                self.push_field(record, k, arg, &mut leaves)?;
            }
            return Ok(Rc::from([Rc::new(Shaped {
                base: Base::Record(record),
                dims: vec![],
                leaves,
            })]));
        }
        let nodes = args
            .iter()
            .map(|a| self.rebuild(a))
            .collect::<Result<Vec<_>>>()?;
        let key = (function, nodes);
        if let Some(outputs) = self.calls.get(&key) {
            return Ok(outputs.clone());
        }
        let outputs: Rc<[Shared]> = match self
            .evaluated_call(function, &args)
            .or_else(|| self.inlined_by_policy(function, &args))
        {
            Some(mut outputs) => {
                for &(k, ty) in known {
                    if let Some(output) = outputs.get_mut(k) {
                        self.give_sizes(output, ty);
                    }
                }
                outputs.into()
            }
            None => self.kept_call(function, &args, &key.1, known)?.into(),
        };
        self.calls.insert(key, outputs.clone());
        Ok(outputs)
    }

    /// A record whose declaration leaves sizes open, with those that the call is known to give.
    fn give_sizes(&self, output: &mut Shared, ty: TypeId) {
        let base = self.ir.type_of_id(ty).base;
        if self.ir.element_leaf_count(output.base).is_none()
            && self.ir.leaf_count(ty) == Some(output.leaves.len())
        {
            Rc::make_mut(output).base = base;
        }
    }

    /// A call of the function that an input holds.
    fn call_value(&mut self, local: LocalId, args: Vec<Shared>) -> Result<Rc<[Shared]>> {
        let value = self
            .locals
            .get(&local)
            .cloned()
            .ok_or(ScalarError::Unassigned(local))?;
        let Expr::Function { function, bound } =
            self.ir.expr(self.one_leaf(&value, "a function")?).clone()
        else {
            return Err(ScalarError::NotConstant("a function argument"));
        };
        let n = self.ir.functions[function].inputs.len();
        let mut given = args.into_iter();
        let mut all = Vec::with_capacity(n);
        for position in 0..n {
            match bound.iter().find(|(p, _)| *p as usize == position) {
                Some((_, value)) => all.push(self.expr(*value)?),
                None => match given.next() {
                    Some(arg) => all.push(arg),
                    None => break,
                },
            }
        }
        self.call(function, all, &[])
    }

    /// Arguments converted to the types of the inputs, with defaults for inputs that are missing at the end.
    fn bound_arguments(&mut self, function: FuncId, args: Vec<Shared>) -> Result<Vec<Shared>> {
        let inputs = self.ir.functions[function].inputs.clone();
        let mut all = Vec::with_capacity(inputs.len());
        for (arg, &input) in args.iter().zip(&inputs) {
            let ty = self.ir.type_of_id(self.ir.locals[input].ty);
            if ty.dims.len() != arg.dims.len() {
                let left = ty.known_dims().unwrap_or_default();
                return Err(ScalarError::ShapeMismatch {
                    what: "a function argument",
                    left,
                    right: arg.dims.clone(),
                });
            }
            all.push(self.coerce(arg, self.ir.type_of_id(self.ir.locals[input].ty).base));
        }
        if all.len() < inputs.len() {
            let saved = std::mem::take(&mut self.locals);
            for (arg, &input) in all.iter().zip(&inputs) {
                self.locals.insert(input, arg.clone());
            }
            let mut missing = Ok(());
            for &input in &inputs[all.len()..] {
                let default = self.ir.locals[input]
                    .default
                    .ok_or(ScalarError::Unassigned(input));
                match default.and_then(|e| self.expr(e)) {
                    Ok(value) => {
                        self.locals.insert(input, value.clone());
                        all.push(value);
                    }
                    Err(error) => {
                        missing = Err(error);
                        break;
                    }
                }
            }
            self.locals = saved;
            missing?;
        }
        Ok(all)
    }

    /// The value of a pure function at constant arguments. Errors of the evaluation belong to the run.
    fn evaluated_call(&mut self, function: FuncId, args: &[Shared]) -> Option<Vec<Shared>> {
        let f = &self.ir.functions[function];
        if f.impure || !matches!(f.body, FunctionBody::Algorithm(_)) {
            return None;
        }
        if !args
            .iter()
            .all(|a| a.leaves.iter().all(|&e| self.ir.is_literal(e)))
        {
            return None;
        }
        let values = args
            .iter()
            .map(|a| self.value_of(a))
            .collect::<Option<Vec<_>>>()?;
        let outputs =
            crate::eval::call_function(self.ir, function, values, &mut crate::eval::NoExternals)
                .ok()?;
        let outs = self.ir.functions[function].outputs.clone();
        let mut shaped = Vec::with_capacity(outputs.len());
        for (value, &local) in outputs.iter().zip(&outs) {
            let base = self.ir.type_of_id(self.ir.locals[local].ty).base;
            let dims = match value.as_ref()? {
                Value::Array(array) => array.dims.clone(),
                _ => vec![],
            };
            let mut leaves = Vec::new();
            self.push_value(value.as_ref()?, &mut leaves).ok()?;
            shaped.push(self.coerced(Shaped { base, dims, leaves }, base));
        }
        Some(shaped)
    }

    fn push_value(&mut self, value: &Value, leaves: &mut Vec<ExprId>) -> Result<()> {
        match value {
            Value::Array(array) => array
                .elems
                .iter()
                .try_for_each(|x| self.push_value(x, leaves)),
            Value::Record(fields) => fields.iter().try_for_each(|x| self.push_value(x, leaves)),
            scalar => {
                leaves.push(self.literal(scalar)?);
                Ok(())
            }
        }
    }

    /// The value of literal leaves.
    fn value_of(&self, shaped: &Shaped) -> Option<Value> {
        let stride = self.ir.element_leaf_count(shaped.base)?;
        if shaped.dims.is_empty() {
            return self.element_value(shaped.base, &shaped.leaves);
        }
        let elems = if stride == 0 {
            vec![Value::Record([].into()); shaped.dims.iter().product()]
        } else {
            shaped
                .leaves
                .chunks(stride)
                .map(|leaves| self.element_value(shaped.base, leaves))
                .collect::<Option<_>>()?
        };
        Some(Value::array(shaped.dims.clone(), elems))
    }

    fn element_value(&self, base: Base, leaves: &[ExprId]) -> Option<Value> {
        let Base::Record(record) = base else {
            return Some(match *self.ir.expr(leaves[0]) {
                Expr::Real(bits) => Value::Real(f64::from_bits(bits)),
                Expr::Integer(i) if base == Base::Real => Value::Real(i as f64),
                Expr::Integer(i) => Value::Integer(i),
                Expr::Boolean(b) => Value::Boolean(b),
                Expr::String(s) => Value::String(s.as_str().into()),
                Expr::Enum(id, k) => Value::Enum(id, k),
                _ => return None,
            });
        };
        let mut fields = Vec::new();
        let mut rest = leaves;
        for field in &self.ir.records[record].fields {
            let (own, others) = rest.split_at(self.ir.leaf_count(field.ty)?);
            let ty = self.ir.type_of_id(field.ty);
            let shaped = Shaped {
                base: ty.base,
                dims: ty.known_dims()?,
                leaves: own.to_vec(),
            };
            fields.push(self.value_of(&shaped)?);
            rest = others;
        }
        Some(Value::Record(fields.into()))
    }

    fn inlined_by_policy(&mut self, function: FuncId, args: &[Shared]) -> Option<Vec<Shared>> {
        let f = &self.ir.functions[function];
        let wanted = !f.impure && (self.force || wants_inlining(f));
        let wanted = wanted && (self.force || !f.has_derivative_of_its_own());
        if wanted {
            self.inline(function, args).ok()
        } else {
            None
        }
    }

    /// The call as one node, its outputs through `Output` and `Leaf`.
    fn kept_call(
        &mut self,
        function: FuncId,
        args: &[Shared],
        nodes: &[ExprId],
        known: &[(usize, TypeId)],
    ) -> Result<Vec<Shared>> {
        let outputs = self.ir.functions[function].outputs.clone();
        let mut call = None;
        let mut results = Vec::with_capacity(outputs.len());
        for (k, &local) in outputs.iter().enumerate() {
            let known = known.iter().find(|(of, _)| *of == k).map(|(_, ty)| *ty);
            let result_ty = self.output_type(function, local, args, known)?;
            let node = match call {
                None => {
                    let node = self.ir.add(
                        Expr::Call {
                            function,
                            args: nodes.into(),
                        },
                        result_ty,
                    );
                    call = Some(node);
                    node
                }
                Some(call) => self.ir.add(
                    Expr::Output {
                        call,
                        index: k as u32,
                    },
                    result_ty,
                ),
            };
            results.push(self.result_leaves(node));
        }
        if results.is_empty() {
            return Err(ScalarError::Unsupported(format!(
                "the value of `{}`, which has no output,",
                self.ir.functions[function].name
            )));
        }
        Ok(results)
    }

    fn result_leaves(&mut self, node: ExprId) -> Shared {
        let ty = self.ir.type_id(node);
        let Type { base, .. } = *self.ir.type_of_id(ty);
        let bases = self
            .ir
            .leaf_bases(ty)
            .expect("the type of a kept call is known");
        let dims = self
            .ir
            .type_of_id(ty)
            .known_dims()
            .expect("the type of a kept call is known");
        let leaves = if dims.is_empty() && !matches!(base, Base::Record(_)) {
            vec![node]
        } else {
            let leaf = |(k, base)| {
                self.ir.add_scalar(
                    Expr::Leaf {
                        of: node,
                        index: k as u32,
                    },
                    base,
                )
            };
            bases.into_iter().enumerate().map(leaf).collect()
        };
        Rc::new(Shaped { base, dims, leaves })
    }

    /// The type of an output with all dimensions known, from its declaration or from the arguments.
    fn output_type(
        &mut self,
        function: FuncId,
        local: LocalId,
        args: &[Shared],
        known: Option<TypeId>,
    ) -> Result<TypeId> {
        let declared = self.ir.locals[local].ty;
        for ty in [Some(declared), known].into_iter().flatten() {
            if self.ir.leaf_count(ty).is_some() {
                return Ok(ty);
            }
        }
        let unknown = || {
            ScalarError::UnknownSize(format!(
                "output `{}` of `{}`",
                self.ir.locals[local].name, self.ir.functions[function].name
            ))
        };
        let size_exprs = self.ir.locals[local].dims.clone();
        let inputs = self.ir.functions[function].inputs.clone();
        let base = self.ir.type_of_id(declared).base;
        let error = unknown();
        let saved = std::mem::take(&mut self.locals);
        for (arg, input) in args.iter().zip(inputs) {
            self.locals.insert(input, arg.clone());
        }
        let sizes: Vec<Result<usize>> = size_exprs
            .iter()
            .map(|e| e.map_or(Err(error.clone()), |e| self.size_of_dim(e)))
            .collect();
        self.locals = saved;
        let dims = sizes
            .into_iter()
            .collect::<Result<Vec<_>>>()
            .map_err(|_| error.clone())?;
        let ty = self.ir.intern_type(Type::array(base, &dims));
        if self.ir.leaf_count(ty).is_some() {
            Ok(ty)
        } else {
            Err(error)
        }
    }

    /// A constant non-negative size.
    fn size_of_dim(&mut self, e: ExprId) -> Result<usize> {
        let leaf = self.scalar(e, "a size")?;
        match *self.ir.expr(leaf) {
            Expr::Integer(n) if n >= 0 && n as usize <= ELEMENTS_MAX => Ok(n as usize),
            // A dimension given by a Boolean or an enumeration type has the size of the type.
            _ => Err(ScalarError::NotConstant("a size")),
        }
    }

    /// Reduces leaves by a binary operation, as a balanced tree if there are many.
    fn reduce(&mut self, op: Reduction, base: Base, leaves: &[ExprId]) -> ExprId {
        match leaves {
            [] => self.neutral(op, base),
            [leaf] => *leaf,
            _ if leaves.len() <= CHAIN_MAX => {
                let mut result = leaves[0];
                for &leaf in &leaves[1..] {
                    result = self.reduce_pair(op, result, leaf);
                }
                result
            }
            _ => {
                let (left, right) = leaves.split_at(leaves.len() / 2);
                let left = self.reduce(op, base, left);
                let right = self.reduce(op, base, right);
                self.reduce_pair(op, left, right)
            }
        }
    }

    fn reduce_pair(&mut self, op: Reduction, a: ExprId, b: ExprId) -> ExprId {
        match op {
            Reduction::Sum => self.ir.add_(a, b),
            Reduction::Product => self.ir.mul(a, b),
            Reduction::Min => self.ir.call_builtin(Builtin::Min, &[a, b]),
            Reduction::Max => self.ir.call_builtin(Builtin::Max, &[a, b]),
        }
    }

    /// The result for no elements (specification 10.3.4.1).
    fn neutral(&mut self, op: Reduction, base: Base) -> ExprId {
        let integer = base == Base::Integer;
        match op {
            Reduction::Sum if integer => self.ir.integer(0),
            Reduction::Sum => self.ir.real(0.0),
            Reduction::Product if integer => self.ir.integer(1),
            Reduction::Product => self.ir.real(1.0),
            Reduction::Min if integer => self.ir.integer(i64::MAX),
            Reduction::Min => self.ir.real(f64::MAX),
            Reduction::Max if integer => self.ir.integer(i64::MIN),
            Reduction::Max => self.ir.real(f64::MIN),
        }
    }
}

/// Elements selected by subscripts. Each cell of the result (row-major over `dims`) has one candidate position for
/// every combination of the symbolic subscripts: exactly one if there are none.
#[derive(Default)]
struct Selection {
    dims: Vec<usize>,
    symbolic: Vec<ExprId>,
    symbolic_sizes: Vec<usize>,
    cells: Vec<Vec<usize>>,
}

/// Positions for each combination of the fixed axes (outer) and of the symbolic axes (inner), both row-major.
fn cells(dims: &[usize], axes: &[(Vec<usize>, bool)]) -> Vec<Vec<usize>> {
    let mut strides = vec![1; dims.len()];
    for d in (1..dims.len()).rev() {
        strides[d - 1] = strides[d] * dims[d];
    }
    let offsets = |symbolic: bool| {
        let mut offsets = vec![0];
        for (d, (positions, is_symbolic)) in axes.iter().enumerate() {
            if *is_symbolic == symbolic {
                offsets = offsets
                    .iter()
                    .flat_map(|&o| positions.iter().map(move |&p| (o, p)))
                    .map(|(o, p)| o + p * strides[d])
                    .collect();
            }
        }
        offsets
    };
    let inner = offsets(true);
    offsets(false)
        .into_iter()
        .map(|o| inner.iter().map(|&i| o + i).collect())
        .collect()
}

/// Whether the policy asks for inlining: annotated so, or short and straight without a derivative of its own.
fn wants_inlining(f: &Function) -> bool {
    match f.inline {
        Inline::Always | Inline::Late => true,
        Inline::Never => false,
        Inline::Unstated => match &f.body {
            FunctionBody::Algorithm(body) => {
                f.derivatives.is_empty()
                    && body.len() <= INLINE_STATEMENTS_MAX
                    && body
                        .iter()
                        .all(|s| matches!(s.kind, StatementKind::Assign { .. }))
            }
            _ => false,
        },
    }
}
