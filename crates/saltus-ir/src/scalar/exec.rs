//! Symbolic execution of statements: the values of locals are scalar expressions.
//!
//! An `if` with a constant condition takes its branch; otherwise both branches are executed and every variable that
//! differs becomes an if-expression. Loops are unrolled while their bounds are constant.

use super::algorithm::{guarded_assert, subscript_in_range, when_condition, when_edge};
use super::{Result, ScalarError, Scalarizer, Selection, Shaped, Shared};
use crate::expr::{BinaryOp, Expr, Ir};
use crate::func::{Access, FunctionBody, Place, Statement, StatementKind, Target};
use crate::types::{Base, Type};
use crate::{ExprId, FuncId, LocalId, VarId};
use std::rc::Rc;

/// Nodes that one inlined call may add to the arena.
const INLINE_NODES_MAX: usize = 20_000;
/// Statements and loop passes that one inlined call may execute.
const INLINE_STEPS_MAX: usize = 20_000;
/// An assignment to `a[i]` with symbolic `i` rewrites every element of `a`, up to this many where a call of a function would do as well.
pub(super) const SYMBOLIC_TARGET_MAX: usize = 64;
/// Constants that a subscript may choose among before its range is left to the call that checks it.
const SUBSCRIPT_CHOICES_MAX: usize = 1_000;

/// What to do with an `assert` that is not certainly true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AssertMode {
    /// Give up: the call that is kept will check it.
    Refuse,
    /// Leave it out: the value is only used beside the original call.
    Drop,
    /// Keep it with the condition under which it is reached.
    Collect,
}

/// How far [`inline_call`] goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InlineMode {
    /// Nested calls by the policy of the module; refuses functions with asserts, which would be lost.
    Policy,
    /// Nested calls too where possible; asserts are left out. For derivatives, beside the original call.
    Everything,
}

/// The leaves of every output of `function` for the arguments (of any type), by symbolic execution.
pub fn inline_call(
    ir: &mut Ir,
    function: FuncId,
    args: &[ExprId],
    mode: InlineMode,
) -> std::result::Result<Vec<Shaped>, ScalarError> {
    inline_call_with(ir, function, args, mode, &[])
}

/// As [`inline_call`], for these values of variables.
pub fn inline_call_with(
    ir: &mut Ir,
    function: FuncId,
    args: &[ExprId],
    mode: InlineMode,
    values: &[(VarId, ExprId)],
) -> std::result::Result<Vec<Shaped>, ScalarError> {
    let mut pass = Scalarizer::new(ir);
    if mode == InlineMode::Everything {
        pass.force = true;
        pass.asserts = AssertMode::Drop;
    }
    pass.vars.extend(values.iter().copied());
    let args = args
        .iter()
        .map(|&a| pass.expr(a))
        .collect::<Result<Vec<_>>>()?;
    let args = pass.bound_arguments(function, args)?;
    let outputs = pass.inline(function, &args)?;
    Ok(outputs.into_iter().map(Rc::unwrap_or_clone).collect())
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Return,
}

impl Scalarizer<'_> {
    /// Runs the body of a function on symbolic arguments.
    pub(super) fn inline(&mut self, function: FuncId, args: &[Shared]) -> Result<Vec<Shared>> {
        if self.inlining.contains(&function) {
            return Err(ScalarError::Recursive(function));
        }
        let FunctionBody::Algorithm(body) = &self.ir.functions[function].body else {
            return Err(ScalarError::NoBody(function));
        };
        let body = body.clone();
        let f = &self.ir.functions[function];
        let (inputs, outputs, protected) =
            (f.inputs.clone(), f.outputs.clone(), f.protected.clone());

        let outermost = self.inlining.is_empty();
        let saved_budget = (self.steps, self.nodes_max);
        if outermost {
            self.steps = 0;
            self.nodes_max = self.ir.n_nodes() + INLINE_NODES_MAX;
        }
        let saved_asserts = self.asserts;
        if self.asserts == AssertMode::Collect {
            self.asserts = AssertMode::Refuse;
        }
        let saved_guards = std::mem::take(&mut self.guards);
        let saved_locals = std::mem::take(&mut self.locals);
        self.inlining.push(function);
        for (&input, arg) in inputs.iter().zip(args) {
            self.locals.insert(input, arg.clone());
        }
        let result = self.run_body(&body, &outputs, &protected);
        self.inlining.pop();
        self.locals = saved_locals;
        self.guards = saved_guards;
        self.asserts = saved_asserts;
        if outermost {
            (self.steps, self.nodes_max) = saved_budget;
        }
        result
    }

    fn run_body(
        &mut self,
        body: &[Statement],
        outputs: &[LocalId],
        protected: &[LocalId],
    ) -> Result<Vec<Shared>> {
        self.initialise(outputs.iter().chain(protected).copied().collect())?;
        self.block(body)?;
        outputs
            .iter()
            .map(|o| {
                self.locals
                    .get(o)
                    .cloned()
                    .ok_or(ScalarError::Unassigned(*o))
            })
            .collect()
    }

    /// Initial values of outputs and protected variables, in an order in which they can be computed.
    fn initialise(&mut self, mut pending: Vec<LocalId>) -> Result<()> {
        while !pending.is_empty() {
            let mut waiting = Vec::new();
            let mut first_error = None;
            for &local in &pending {
                match self.initial_value(local) {
                    Ok(Some(value)) => {
                        self.locals.insert(local, value);
                    }
                    Ok(None) => {}
                    Err(ScalarError::Unassigned(other)) if pending.contains(&other) => {
                        first_error.get_or_insert(ScalarError::Unassigned(other));
                        waiting.push(local);
                    }
                    Err(error) => return Err(error),
                }
            }
            if waiting.len() == pending.len() {
                return Err(first_error.unwrap_or(ScalarError::TooDeep));
            }
            pending = waiting;
        }
        Ok(())
    }

    /// The declared value; zeros for an array or record of known size, which may be assigned element by element.
    fn initial_value(&mut self, local: LocalId) -> Result<Option<Shared>> {
        let declaration = self.ir.locals[local].clone();
        if let Some(default) = declaration.default {
            let value = self.expr(default)?;
            let base = self.ir.type_of_id(declaration.ty).base;
            return Ok(Some(self.coerce(&value, base)));
        }
        let Type { base, dims } = self.ir.type_of_id(declaration.ty).clone();
        if dims.is_empty() && !matches!(base, Base::Record(_)) {
            return Ok(None);
        }
        let sizes = match self.ir.type_of_id(declaration.ty).known_dims() {
            Some(sizes) => sizes,
            None => {
                if declaration.dims.iter().any(Option::is_none)
                    || declaration.dims.len() != dims.len()
                {
                    return Ok(None);
                }
                let exprs: Vec<ExprId> = declaration.dims.into_iter().flatten().collect();
                exprs
                    .into_iter()
                    .map(|e| self.size_of_dim(e))
                    .collect::<Result<Vec<_>>>()?
            }
        };
        let ty = self.ir.intern_type(Type::array(base, &sizes));
        let Some(bases) = self.ir.leaf_bases(ty) else {
            return Ok(None);
        };
        let mut leaves = Vec::with_capacity(bases.len());
        for leaf_base in bases {
            leaves.push(match leaf_base {
                Base::Real => self.ir.real(0.0),
                Base::Integer => self.ir.integer(0),
                Base::Boolean => self.ir.boolean(false),
                Base::String => self.ir.string(""),
                Base::Enum(id) => self.ir.add_scalar(Expr::Enum(id, 1), leaf_base),
                _ => return Ok(None),
            });
        }
        Ok(Some(Rc::new(Shaped {
            base,
            dims: sizes,
            leaves,
        })))
    }

    pub(super) fn block(&mut self, statements: &[Statement]) -> Result<Flow> {
        for statement in statements {
            let flow = self.statement(statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > INLINE_STEPS_MAX || self.ir.n_nodes() > self.nodes_max {
            return Err(ScalarError::TooLarge);
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow> {
        self.step()?;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let value = self.expr(*value)?;
                self.assign(target, value)?;
            }
            StatementKind::MultiAssign { targets, call } => {
                let outputs = self.outputs_of(*call)?;
                for (target, value) in targets.iter().zip(outputs.iter()) {
                    if let Some(target) = target {
                        self.assign(target, value.clone())?;
                    }
                }
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                let branches: Vec<(ExprId, &[Statement])> =
                    branches.iter().map(|(c, b)| (*c, b.as_slice())).collect();
                return self.if_statement(&branches, otherwise);
            }
            StatementKind::For { iter, range, body } => {
                return self.for_statement(*iter, *range, body);
            }
            StatementKind::While { condition, body } => {
                return self.while_statement(*condition, body);
            }
            StatementKind::When { branches } => {
                let branches = branches
                    .iter()
                    .map(|(c, b)| (c.as_slice(), b.as_slice()))
                    .collect::<Vec<_>>();
                return self.when_statement(&branches);
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
            StatementKind::Assert {
                condition,
                message,
                level,
            } => {
                let condition = self.scalar(*condition, "an assertion")?;
                if self.ir.as_boolean(condition) == Some(true) {
                    return Ok(Flow::Next);
                }
                match self.asserts {
                    AssertMode::Drop => {}
                    AssertMode::Refuse => {
                        return Err(ScalarError::Unsupported(
                            "a function with an assertion".into(),
                        ));
                    }
                    AssertMode::Collect => {
                        let message = self.scalar(*message, "a message")?;
                        guarded_assert(self, condition, message, *level, statement.span);
                    }
                }
            }
            StatementKind::Terminate { message } => {
                let message = self.scalar(*message, "a message")?;
                self.collect_terminate(message, statement.span)?;
            }
            StatementKind::Reinit { var, value } => {
                let value = self.scalar(*value, "reinit")?;
                self.collect_reinit(*var, value, statement.span)?;
            }
            StatementKind::Call(call) => self.effect(*call, statement.span)?,
        }
        Ok(Flow::Next)
    }

    /// All outputs of the right side of `(a, b) := f(…)`.
    fn outputs_of(&mut self, call: ExprId) -> Result<Rc<[Shared]>> {
        match self.ir.expr(call) {
            Expr::Call { function, args } => {
                let (function, args) = (*function, args.clone());
                let args = args
                    .iter()
                    .map(|&a| self.expr(a))
                    .collect::<Result<Vec<_>>>()?;
                self.call(function, args, &[])
            }
            _ => Err(ScalarError::Unsupported(
                "an assignment of several values".into(),
            )),
        }
    }

    fn if_statement(
        &mut self,
        branches: &[(ExprId, &[Statement])],
        otherwise: &[Statement],
    ) -> Result<Flow> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.block(otherwise);
        };
        let condition = self.scalar(*condition, "a condition")?;
        match self.ir.as_boolean(condition) {
            Some(true) => self.block(body),
            Some(false) => self.if_statement(rest, otherwise),
            None => self.fork(
                condition,
                |pass| pass.block(body),
                |pass| pass.if_statement(rest, otherwise),
            ),
        }
    }

    fn when_statement(&mut self, branches: &[(&[ExprId], &[Statement])]) -> Result<Flow> {
        if self.asserts != AssertMode::Collect {
            return Err(ScalarError::Unsupported("`when` in a function".into()));
        }
        let Some(((conditions, body), rest)) = branches.split_first() else {
            return Ok(Flow::Next);
        };
        let mut fires = self.ir.boolean(false);
        for &condition in *conditions {
            let [at_start, later] = when_condition(self.ir, condition);
            let at_start = self.expr(at_start)?.leaves.clone();
            let later = self.expr(later)?.leaves.clone();
            for (&at_start, &later) in at_start.iter().zip(&later) {
                let edge = when_edge(self.ir, at_start, later);
                fires = self.ir.or(fires, edge);
            }
        }
        match self.ir.as_boolean(fires) {
            Some(true) => self.block(body),
            Some(false) => self.when_statement(rest),
            None => self.fork(
                fires,
                |pass| pass.block(body),
                |pass| pass.when_statement(rest),
            ),
        }
    }

    /// Executes both ways and merges what differs by if-expressions.
    fn fork(
        &mut self,
        condition: ExprId,
        then: impl FnOnce(&mut Self) -> Result<Flow>,
        otherwise: impl FnOnce(&mut Self) -> Result<Flow>,
    ) -> Result<Flow> {
        let before = (self.locals.clone(), self.vars.clone());
        self.guards.push(condition);
        let then_flow = then(self);
        self.guards.pop();
        let then_flow = then_flow?;
        let (then_locals, then_vars) = (
            std::mem::replace(&mut self.locals, before.0),
            std::mem::replace(&mut self.vars, before.1),
        );
        let opposite = self.ir.not(condition);
        self.guards.push(opposite);
        let else_flow = otherwise(self);
        self.guards.pop();
        if then_flow != Flow::Next || else_flow? != Flow::Next {
            return Err(ScalarError::Unsupported(
                "`break` or `return` under a condition".into(),
            ));
        }
        // A local assigned on one side only has no value afterwards.
        self.locals
            .retain(|local, _| then_locals.contains_key(local));
        for (local, t) in then_locals {
            if let Some(e) = self.locals.get(&local).cloned() {
                let merged = self.merge_if(condition, &t, &e)?;
                self.locals.insert(local, merged);
            }
        }
        for (var, t) in then_vars {
            let e = *self
                .vars
                .get(&var)
                .ok_or_else(|| ScalarError::Unsupported("an undeclared output".into()))?;
            let merged = self.ir.if_(condition, t, e);
            self.vars.insert(var, merged);
        }
        Ok(Flow::Next)
    }

    fn for_statement(&mut self, iter: LocalId, range: ExprId, body: &[Statement]) -> Result<Flow> {
        let values = self.iteration_values(range)?;
        for value in values {
            self.step()?;
            let value = self.single(value);
            self.locals.insert(iter, value);
            match self.block(body)? {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
        }
        self.locals.swap_remove(&iter);
        Ok(Flow::Next)
    }

    fn while_statement(&mut self, condition: ExprId, body: &[Statement]) -> Result<Flow> {
        loop {
            self.step()?;
            let value = self.scalar(condition, "a condition")?;
            match self.ir.as_boolean(value) {
                Some(true) => {}
                Some(false) => return Ok(Flow::Next),
                None => return Err(ScalarError::NotConstant("the condition of `while`")),
            }
            match self.block(body)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
            }
        }
    }

    fn assign(&mut self, target: &Target, value: Shared) -> Result<()> {
        match target.place {
            Place::Local(local) => {
                let base = self.ir.type_of_id(self.ir.locals[local].ty).base;
                let new = if target.access.is_empty() {
                    self.coerce(&value, base)
                } else {
                    let current = self
                        .locals
                        .get(&local)
                        .cloned()
                        .ok_or(ScalarError::Unassigned(local))?;
                    self.updated(current, &target.access, &value)?
                };
                self.locals.insert(local, new);
            }
            Place::Var { first, ty } => {
                let current = self.var_array(first, ty)?;
                let new = if target.access.is_empty() {
                    if current.leaves.len() != value.leaves.len() {
                        return Err(mismatch(&current.dims, &value.dims));
                    }
                    self.coerce(&value, current.base)
                } else {
                    self.updated(current.clone(), &target.access, &value)?
                };
                for (k, (&old, &leaf)) in current.leaves.iter().zip(&new.leaves).enumerate() {
                    if old != leaf {
                        self.vars.insert(VarId(first.0 + k as u32), leaf);
                    }
                }
            }
        }
        Ok(())
    }

    /// `current` with the part that `access` selects replaced by `value`.
    fn updated(&mut self, current: Shared, access: &[Access], value: &Shared) -> Result<Shared> {
        // Positions of the selected leaves; each cell has one position for each value of the symbolic subscripts.
        let mut view = (current.base, current.dims.clone());
        let mut positions: Vec<usize> = (0..current.leaves.len()).collect();
        let mut symbolic: Option<(Selection, usize)> = None;
        for part in access {
            if symbolic.is_some() {
                return Err(ScalarError::NotConstant(
                    "the subscript of an assigned record element",
                ));
            }
            match part {
                Access::Field(index) => {
                    let (inner, shape) = self.field_positions(view.0, &view.1, *index)?;
                    positions = inner.into_iter().map(|p| positions[p]).collect();
                    view = shape;
                }
                Access::Index(subs) => {
                    let selection = self.select(&view.1, subs)?;
                    let stride = positions
                        .len()
                        .checked_div(view.1.iter().product())
                        .unwrap_or(0);
                    view.1.clone_from(&selection.dims);
                    if selection.symbolic.is_empty() {
                        positions = selection
                            .cells
                            .iter()
                            .flat_map(|c| (0..stride).map(|j| positions[c[0] * stride + j]))
                            .collect();
                    } else {
                        symbolic = Some((selection, stride));
                    }
                }
            }
        }
        let value = self.coerce(value, view.0);
        let scalar_fill = value.dims.is_empty() && value.leaves.len() == 1;
        if value.dims != view.1 && !(scalar_fill && view.1.iter().product::<usize>() == 1) {
            return Err(mismatch(&view.1, &value.dims));
        }
        let mut new = (*current).clone();
        match symbolic {
            None => {
                if positions.len() != value.leaves.len() {
                    return Err(mismatch(&view.1, &value.dims));
                }
                for (&p, &leaf) in positions.iter().zip(&value.leaves) {
                    new.leaves[p] = leaf;
                }
            }
            Some((selection, stride)) => {
                self.conditional_update(&mut new, &positions, &selection, stride, &value)?
            }
        }
        Ok(Rc::new(new))
    }

    /// `a[i] := v` with symbolic `i`: every candidate becomes `if i == k then v else a[k]`.
    fn conditional_update(
        &mut self,
        new: &mut Shaped,
        positions: &[usize],
        selection: &Selection,
        stride: usize,
        value: &Shaped,
    ) -> Result<()> {
        let combinations: usize = selection.symbolic_sizes.iter().product();
        if selection
            .symbolic
            .iter()
            .any(|&sub| self.ir.base(sub) != Base::Integer)
            || combinations * selection.cells.len() > self.symbolic_target_max
        {
            return Err(ScalarError::NotConstant(
                "the subscript of an assigned element",
            ));
        }
        for (&sub, &size) in selection.symbolic.iter().zip(&selection.symbolic_sizes) {
            match self.asserts {
                AssertMode::Collect => subscript_in_range(self, sub, size),
                // The formula below drops an assignment out of range: the call that is kept will report it.
                AssertMode::Refuse if !self.certainly_in_range(sub, size) => {
                    return Err(ScalarError::NotConstant(
                        "the subscript of an assigned element",
                    ));
                }
                AssertMode::Refuse | AssertMode::Drop => {}
            }
        }
        for combination in 0..combinations {
            let mut hit = self.ir.boolean(true);
            let mut rest = combination;
            for (&sub, &size) in selection
                .symbolic
                .iter()
                .zip(&selection.symbolic_sizes)
                .rev()
            {
                let index = self.ir.integer((rest % size) as i64 + 1);
                rest /= size;
                let equal = self.ir.binary(BinaryOp::Eq, sub, index);
                hit = self.ir.and(hit, equal);
            }
            for (k, cell) in selection.cells.iter().enumerate() {
                for j in 0..stride {
                    let p = positions[cell[combination] * stride + j];
                    new.leaves[p] = self
                        .ir
                        .if_(hit, value.leaves[k * stride + j], new.leaves[p]);
                }
            }
        }
        Ok(())
    }
}

impl Scalarizer<'_> {
    /// Whether each value that the subscript `sub` chooses among is a constant in `1:size`.
    pub(super) fn certainly_in_range(&self, sub: ExprId, size: usize) -> bool {
        let mut stack = vec![sub];
        for _ in 0..SUBSCRIPT_CHOICES_MAX {
            let Some(e) = stack.pop() else {
                return true;
            };
            match (self.ir.expr(e), self.ir.as_subscript(e)) {
                (_, Some(k)) if k >= 1 && k as u64 <= size as u64 => {}
                (Expr::If(_, a, b), _) => stack.extend([*a, *b]),
                _ => return false,
            }
        }
        false
    }
}

fn mismatch(left: &[usize], right: &[usize]) -> ScalarError {
    ScalarError::ShapeMismatch {
        what: "an assignment",
        left: left.to_vec(),
        right: right.to_vec(),
    }
}
