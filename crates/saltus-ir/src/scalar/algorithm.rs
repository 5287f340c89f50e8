//! Algorithm sections of models as equations (specification 11.1.2).
//!
//! Comes in: an algorithm with its outputs. Goes out: one equation per output, found by symbolic execution. At its
//! start an output that is discrete has the value `pre(v)`, a continuous one its start value. `when` is executed as
//! `if` on the edge of its condition. Where the statements cannot be executed symbolically (loops with unknown
//! bounds, large arrays with a computed subscript) the algorithm becomes a function of everything it reads and the outputs become
//! results of one call; where that is not possible either (actions), every element of such an array gets its own if-expression.

use super::exec::{AssertMode, SYMBOLIC_TARGET_MAX};
use super::{Result, ScalarError, Scalarizer, Shared};
use crate::expr::{BinaryOp, Builtin, Expr, Ir, Sub};
use crate::flat::{Algorithm, Assert, Origin, Variability, Variable, WhenAction};
use crate::func::{
    Access, AssertLevel, Function, FunctionBody, Inline, Local, Place, Statement, StatementKind,
    Target,
};
use crate::ids::IdVec;
use crate::types::Base;
use crate::{ExprId, LocalId, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_syntax::{Name, Span};

/// Nodes that one algorithm section may add to the arena.
const ALGORITHM_NODES_MAX: usize = 4_000_000;

/// What an algorithm section says, as equations.
#[derive(Clone, PartialEq, Debug)]
pub struct AlgorithmEquations {
    /// `v = expression` for every output, in the order of the algorithm's outputs.
    pub equations: Vec<(VarId, ExprId)>,
    /// Actions of when-statements with the condition that makes them happen.
    pub actions: Vec<GuardedAction>,
    /// Assertions outside when-statements; the condition includes that the statement is reached.
    pub asserts: Vec<Assert>,
}

/// `action` happens at an event where `guard` (made of edges) is true.
#[derive(Clone, PartialEq, Debug)]
pub struct GuardedAction {
    pub guard: ExprId,
    pub action: WhenAction,
}

#[derive(Default)]
pub(super) struct Collected {
    origin: Option<Origin>,
    actions: Vec<GuardedAction>,
    asserts: Vec<Assert>,
}

/// Which kind of section an algorithm is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    Initial,
    Normal,
}

/// The equations of an algorithm section.
pub fn algorithm_to_equations(
    ir: &mut Ir,
    variables: &IdVec<VarId, Variable>,
    algorithm: &Algorithm,
    section: Section,
) -> std::result::Result<AlgorithmEquations, ScalarError> {
    if let Ok(equations) = symbolic(ir, variables, algorithm, section, SYMBOLIC_TARGET_MAX) {
        return Ok(equations);
    }
    let builder = FunctionBuilder::new(ir, variables, algorithm, section);
    if let Ok(equations) = builder.and_then(FunctionBuilder::build) {
        return Ok(equations);
    }
    symbolic(ir, variables, algorithm, section, usize::MAX)
}

/// The value of `v` before the first statement.
fn value_before(
    ir: &mut Ir,
    variables: &IdVec<VarId, Variable>,
    v: VarId,
    section: Section,
    in_when: &FxHashSet<VarId>,
) -> ExprId {
    let variable = &variables[v];
    let node = ir.var(v, variable.base);
    let discrete = variable.base != Base::Real
        || variable.variability == Variability::Discrete
        || in_when.contains(&v);
    // Before the start of a run `pre(v)` is the start value, also where the initial algorithm is what determines `v`.
    if discrete && section == Section::Normal {
        return ir.call_builtin(Builtin::Pre, &[node]);
    }
    variable
        .start
        .unwrap_or_else(|| default_start(ir, variable.base, node))
}

/// The default of `start` (specification 4.9); for types that have none the variable itself.
fn default_start(ir: &mut Ir, base: Base, node: ExprId) -> ExprId {
    match base {
        Base::Real => ir.real(0.0),
        Base::Integer => ir.integer(0),
        Base::Boolean => ir.boolean(false),
        Base::String => ir.string(""),
        Base::Enum(id) => ir.add_scalar(Expr::Enum(id, 1), base),
        Base::Clock | Base::Record(_) | Base::Object(_) | Base::Function => node,
    }
}

fn symbolic(
    ir: &mut Ir,
    variables: &IdVec<VarId, Variable>,
    algorithm: &Algorithm,
    section: Section,
    symbolic_target_max: usize,
) -> Result<AlgorithmEquations> {
    let mut in_when = FxHashSet::default();
    assigned_in_when(ir, &algorithm.statements, false, &mut in_when);
    let mut pass = Scalarizer::new(ir);
    pass.asserts = AssertMode::Collect;
    pass.symbolic_target_max = symbolic_target_max;
    pass.nodes_max = pass.ir.n_nodes() + ALGORITHM_NODES_MAX;
    pass.collected.origin = Some(algorithm.origin);
    for &v in &algorithm.outputs {
        let before = value_before(pass.ir, variables, v, section, &in_when);
        pass.vars.insert(v, before);
    }
    pass.block(&algorithm.statements)?;
    let equations = algorithm
        .outputs
        .iter()
        .map(|&v| (v, pass.vars[&v]))
        .collect();
    if pass.vars.len() != algorithm.outputs.len() {
        return Err(ScalarError::Unsupported(
            "an assigned variable that is not an output".into(),
        ));
    }
    let Collected {
        actions, asserts, ..
    } = std::mem::take(&mut pass.collected);
    Ok(AlgorithmEquations {
        equations,
        actions,
        asserts,
    })
}

/// All variables that statements assign, sorted.
fn assigned_vars(ir: &Ir, statements: &[Statement]) -> Vec<VarId> {
    let mut vars = FxHashSet::default();
    assigned_in_when(ir, statements, true, &mut vars);
    let mut vars: Vec<VarId> = vars.into_iter().collect();
    vars.sort_unstable();
    vars
}

fn assigned_in_when(ir: &Ir, statements: &[Statement], inside: bool, vars: &mut FxHashSet<VarId>) {
    let mut target = |target: &Target| {
        if let (true, Place::Var { first, ty }) = (inside, target.place) {
            vars.extend((0..ir.leaf_count(ty).unwrap_or(1) as u32).map(|k| VarId(first.0 + k)));
        }
    };
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { target: t, .. } => target(t),
            StatementKind::MultiAssign { targets, .. } => {
                targets.iter().flatten().for_each(&mut target)
            }
            _ => {}
        }
    }
    for statement in statements {
        match &statement.kind {
            StatementKind::If {
                branches,
                otherwise,
            } => {
                for (_, body) in branches {
                    assigned_in_when(ir, body, inside, vars);
                }
                assigned_in_when(ir, otherwise, inside, vars);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                assigned_in_when(ir, body, inside, vars)
            }
            StatementKind::When { branches } => {
                for (_, body) in branches {
                    assigned_in_when(ir, body, true, vars);
                }
            }
            _ => {}
        }
    }
}

/// A condition of a when-statement at the start of a run and afterwards: `initial()` in its text has a value in each. What the variables
/// of the condition were assigned before keeps its own `initial()`.
pub(super) fn when_condition(ir: &mut Ir, condition: ExprId) -> [ExprId; 2] {
    [true, false].map(|initial| with_initial(ir, condition, initial))
}

/// Where a when-statement is active: at the edge of its condition, which gets a memory of its own, and at initialisation if
/// `initial()` makes it true (specification 8.6, 11.2.7.3).
pub(super) fn when_edge(ir: &mut Ir, at_start: ExprId, later: ExprId) -> ExprId {
    let initial = ir.add_scalar(Expr::Builtin(Builtin::Initial, Box::new([])), Base::Boolean);
    let edge = match ir.as_boolean(later) {
        Some(_) => ir.boolean(false),
        None => ir.call_builtin(Builtin::Edge, &[later]),
    };
    if at_start == later || ir.as_boolean(at_start) != Some(true) {
        // `edge` written by the user counts at the start, that of a condition does not.
        let afterwards = ir.not(initial);
        return ir.and(afterwards, edge);
    }
    ir.or(initial, edge)
}

/// The expression with `initial()` replaced by its value.
fn with_initial(ir: &mut Ir, e: ExprId, value: bool) -> ExprId {
    let mut memo = FxHashMap::default();
    for id in ir.reachable(&[e]) {
        let new = match ir.expr(id) {
            Expr::Builtin(Builtin::Initial, _) => ir.boolean(value),
            _ => ir.rebuild_folded(id, &memo),
        };
        memo.insert(id, new);
    }
    memo[&e]
}

pub(super) fn guarded_assert(
    pass: &mut Scalarizer<'_>,
    condition: ExprId,
    message: ExprId,
    level: AssertLevel,
    span: Span,
) {
    let Some(guard) = pass.guard() else { return };
    let origin = pass.origin(span);
    if pass.is_when_guard(guard) {
        let assert = Assert {
            condition,
            message,
            level,
            origin,
        };
        pass.collected.actions.push(GuardedAction {
            guard,
            action: WhenAction::Assert(assert),
        });
    } else {
        let unreached = pass.ir.not(guard);
        let condition = pass.ir.or(unreached, condition);
        pass.collected.asserts.push(Assert {
            condition,
            message,
            level,
            origin,
        });
    }
}

/// The subscript `sub` of an assigned element must be in `1:size` where the statement is reached.
pub(super) fn subscript_in_range(pass: &mut Scalarizer<'_>, sub: ExprId, size: usize) {
    let (one, last) = (pass.ir.integer(1), pass.ir.integer(size as i64));
    let above = pass.ir.binary(BinaryOp::Ge, sub, one);
    let below = pass.ir.binary(BinaryOp::Le, sub, last);
    let inside = pass.ir.and(above, below);
    let message = format!("the subscript of an assigned element is not in 1:{size}");
    let message = pass.ir.string(&message);
    let span = pass.collected.origin.map(|origin| origin.span);
    let span = span.expect("an algorithm section has its origin");
    guarded_assert(pass, inside, message, AssertLevel::Error, span);
}

impl Scalarizer<'_> {
    /// `pre(v)`, `der(v)`, `edge(v)`, `change(v)` where `v` may have been assigned: the past is that of the variable,
    /// not of its current value.
    pub(super) fn history(&mut self, e: ExprId, op: Builtin, args: &[ExprId]) -> Result<Shared> {
        let current = match (op, args) {
            (Builtin::Edge | Builtin::Change, [arg]) => Some(self.expr(*arg)?),
            _ => None,
        };
        let vars = std::mem::take(&mut self.vars);
        let plain = self.expr(e);
        let past = args.first().map(|&arg| self.expr(arg));
        self.vars = vars;
        let plain = plain?;
        let (Some(current), Some(past)) = (current, past) else {
            return Ok(plain);
        };
        let past = past?;
        if current == past {
            return Ok(plain);
        }
        let mut leaves = Vec::with_capacity(current.leaves.len());
        for (&now, &before) in current.leaves.iter().zip(&past.leaves) {
            let before = self.ir.call_builtin(Builtin::Pre, &[before]);
            leaves.push(if op == Builtin::Edge {
                let was_false = self.ir.not(before);
                self.ir.and(now, was_false)
            } else {
                self.ir.binary(BinaryOp::Ne, now, before)
            });
        }
        Ok(std::rc::Rc::new(super::Shaped {
            base: Base::Boolean,
            dims: current.dims.clone(),
            leaves,
        }))
    }

    /// The conjunction of the conditions on the way here; `None` if it is never reached.
    fn guard(&mut self) -> Option<ExprId> {
        let mut guard = self.ir.boolean(true);
        for k in 0..self.guards.len() {
            guard = self.ir.and(guard, self.guards[k]);
        }
        (self.ir.as_boolean(guard) != Some(false)).then_some(guard)
    }

    fn is_when_guard(&self, guard: ExprId) -> bool {
        let mut stack = vec![guard];
        while let Some(e) = stack.pop() {
            match self.ir.expr(e) {
                Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => stack.extend([*a, *b]),
                Expr::Builtin(
                    Builtin::Edge
                    | Builtin::Initial
                    | Builtin::Terminal
                    | Builtin::Sample
                    | Builtin::Change,
                    _,
                ) => {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn origin(&self, span: Span) -> Origin {
        let component = self
            .collected
            .origin
            .map_or_else(|| Name::new(""), |origin| origin.component);
        Origin { span, component }
    }

    fn collect(&mut self, action: WhenAction) -> Result<()> {
        if self.asserts != AssertMode::Collect {
            return Err(ScalarError::Unsupported("an action in a function".into()));
        }
        if let Some(guard) = self.guard() {
            self.collected.actions.push(GuardedAction { guard, action });
        }
        Ok(())
    }

    pub(super) fn collect_terminate(&mut self, message: ExprId, span: Span) -> Result<()> {
        let origin = self.origin(span);
        self.collect(WhenAction::Terminate {
            guard: None,
            message,
            origin,
        })
    }

    pub(super) fn collect_reinit(&mut self, var: VarId, value: ExprId, span: Span) -> Result<()> {
        let origin = self.origin(span);
        self.collect(WhenAction::Reinit { var, value, origin })
    }

    /// A call for its effect: arguments with the current values.
    pub(super) fn effect(&mut self, call: ExprId, span: Span) -> Result<()> {
        let Expr::Call { function, args } = self.ir.expr(call).clone() else {
            return Err(ScalarError::Unsupported(
                "a statement that is not a call".into(),
            ));
        };
        let mut nodes = Vec::with_capacity(args.len());
        for &arg in &args {
            let shaped = self.expr(arg)?;
            nodes.push(self.rebuild(&shaped)?);
        }
        let ty = self.ir.type_id(call);
        let call = self.ir.add(
            Expr::Call {
                function,
                args: nodes.into(),
            },
            ty,
        );
        let origin = self.origin(span);
        self.collect(WhenAction::Call {
            guard: None,
            call,
            origin,
        })
    }
}

/// Variables that stand together in one array (or alone) in the algorithm.
struct Group {
    first: u32,
    len: u32,
    ty: TypeId,
    /// The local that holds the group in the function.
    local: Option<LocalId>,
}

/// Makes a function of an algorithm.
struct FunctionBuilder<'a> {
    ir: &'a mut Ir,
    variables: &'a IdVec<VarId, Variable>,
    algorithm: &'a Algorithm,
    section: Section,
    outputs: FxHashSet<VarId>,
    groups: Vec<Group>,
    inputs: Vec<LocalId>,
    args: Vec<ExprId>,
    /// Input local of a node that is passed from outside.
    passed: FxHashMap<ExprId, ExprId>,
    memo: FxHashMap<ExprId, ExprId>,
}

impl<'a> FunctionBuilder<'a> {
    fn new(
        ir: &'a mut Ir,
        variables: &'a IdVec<VarId, Variable>,
        algorithm: &'a Algorithm,
        section: Section,
    ) -> Result<FunctionBuilder<'a>> {
        let outputs = algorithm.outputs.iter().copied().collect();
        let mut builder = FunctionBuilder {
            ir,
            variables,
            algorithm,
            section,
            outputs,
            groups: Vec::new(),
            inputs: Vec::new(),
            args: Vec::new(),
            passed: FxHashMap::default(),
            memo: FxHashMap::default(),
        };
        builder.groups = builder.group()?;
        Ok(builder)
    }

    fn build(mut self) -> Result<AlgorithmEquations> {
        let mut in_when = FxHashSet::default();
        assigned_in_when(self.ir, &self.algorithm.statements, false, &mut in_when);
        let mut output_locals = Vec::new();
        for g in 0..self.groups.len() {
            let (first, len, ty) = (self.groups[g].first, self.groups[g].len, self.groups[g].ty);
            if (first..first + len).any(|v| self.outputs.contains(&VarId(v))) {
                let mut leaves = Vec::with_capacity(len as usize);
                for v in (first..first + len).map(VarId) {
                    leaves.push(if self.outputs.contains(&v) {
                        value_before(self.ir, self.variables, v, self.section, &in_when)
                    } else {
                        self.ir.var(v, self.variables[v].base)
                    });
                }
                let before = self
                    .ir
                    .rebuild_from_leaves(ty, &leaves)
                    .ok_or_else(unsupported)?;
                let default = self.input(before);
                let name = format!("v{first}");
                let local = self.new_local(&name, ty, Some(default));
                self.groups[g].local = Some(local);
                output_locals.push(local);
            }
        }
        let body = self.statements(&self.algorithm.statements)?;
        let function = self.ir.functions.push(Function {
            name: Name::new(&format!(
                "algorithm of `{}`",
                self.algorithm.origin.component
            )),
            span: self.algorithm.origin.span,
            inputs: std::mem::take(&mut self.inputs),
            outputs: output_locals.clone(),
            protected: Vec::new(),
            body: FunctionBody::Algorithm(body),
            inline: Inline::Never,
            impure: false,
            derivatives: Vec::new(),
        });
        let first_ty = self.ir.locals[*output_locals.first().ok_or_else(unsupported)?].ty;
        let call = self.ir.add(
            Expr::Call {
                function,
                args: self.args.as_slice().into(),
            },
            first_ty,
        );
        let guards = self.when_guards()?;
        let mut equations = Vec::with_capacity(self.algorithm.outputs.len());
        for &v in &self.algorithm.outputs {
            let g = self.group_of(v).ok_or_else(unsupported)?;
            let (first, ty, local) = (
                self.groups[g].first,
                self.groups[g].ty,
                self.groups[g].local,
            );
            let k = output_locals
                .iter()
                .position(|&l| Some(l) == local)
                .ok_or_else(unsupported)?;
            let of = if k == 0 {
                call
            } else {
                self.ir.add(
                    Expr::Output {
                        call,
                        index: k as u32,
                    },
                    ty,
                )
            };
            let value = if self.ir.type_of_id(ty).is_scalar() {
                of
            } else {
                self.ir.add_scalar(
                    Expr::Leaf {
                        of,
                        index: v.0 - first,
                    },
                    self.variables[v].base,
                )
            };
            let value = match guards.get(&v) {
                Some(&Some(fires)) => {
                    let node = self.ir.var(v, self.variables[v].base);
                    let before = self.ir.call_builtin(Builtin::Pre, &[node]);
                    self.ir.if_(fires, value, before)
                }
                _ => value,
            };
            equations.push((v, value));
        }
        Ok(AlgorithmEquations {
            equations,
            actions: Vec::new(),
            asserts: Vec::new(),
        })
    }

    /// For what is assigned in when-statements only: where one of them fires. Else it keeps its value, in particular at the
    /// start (specification 8.6). `None` for what is assigned outside of them.
    fn when_guards(&mut self) -> Result<FxHashMap<VarId, Option<ExprId>>> {
        let mut guards: FxHashMap<VarId, Option<ExprId>> = FxHashMap::default();
        for statement in &self.algorithm.statements {
            let StatementKind::When { branches } = &statement.kind else {
                let body = std::slice::from_ref(statement);
                guards.extend(assigned_vars(self.ir, body).into_iter().map(|v| (v, None)));
                continue;
            };
            for (conditions, body) in branches {
                let mut fires = self.ir.boolean(false);
                for &condition in conditions {
                    let edge = self.edge(condition)?;
                    fires = self.ir.or(fires, edge);
                }
                for v in assigned_vars(self.ir, body) {
                    let before = guards.get(&v).copied();
                    let guard = match before {
                        Some(None) => None,
                        Some(Some(other)) => Some(self.ir.or(other, fires)),
                        None => Some(fires),
                    };
                    guards.insert(v, guard);
                }
            }
        }
        Ok(guards)
    }

    /// All places and arrays of the algorithm as disjoint groups.
    fn group(&self) -> Result<Vec<Group>> {
        let mut ranges: Vec<(u32, u32, TypeId)> = Vec::new();
        let mut roots = Vec::new();
        collect_places(self.ir, &self.algorithm.statements, &mut ranges, &mut roots)?;
        for id in self.ir.reachable(&roots) {
            match *self.ir.expr(id) {
                Expr::Var(v) => ranges.push((v.0, 1, self.ir.type_id(id))),
                Expr::VarArray(first) => {
                    let ty = self.ir.type_id(id);
                    let n = self.ir.leaf_count(ty).ok_or_else(unsupported)? as u32;
                    ranges.push((first.0, n, ty));
                }
                _ => {}
            }
        }
        // Longest first at equal starts, so that a group is named by the range that covers it; arrays with one element before that element.
        ranges.sort_unstable_by_key(|&(first, n, ty)| {
            let scalar = self.ir.type_of_id(ty).is_scalar();
            (first, std::cmp::Reverse(n), scalar, ty)
        });
        let mut groups: Vec<Group> = Vec::new();
        for (first, len, ty) in ranges {
            match groups.last() {
                Some(last) if first < last.first + last.len => {
                    if first + len > last.first + last.len {
                        return Err(unsupported());
                    }
                }
                _ => groups.push(Group {
                    first,
                    len,
                    ty,
                    local: None,
                }),
            }
        }
        Ok(groups)
    }

    fn group_of(&self, v: VarId) -> Option<usize> {
        let g = self
            .groups
            .partition_point(|g| g.first <= v.0)
            .checked_sub(1)?;
        (v.0 < self.groups[g].first + self.groups[g].len).then_some(g)
    }

    fn new_local(&mut self, name: &str, ty: TypeId, default: Option<ExprId>) -> LocalId {
        let dims = match self.ir.type_of_id(ty).known_dims() {
            Some(dims) => dims
                .into_iter()
                .map(|n| Some(self.ir.integer(n as i64)))
                .collect(),
            None => Vec::new(),
        };
        let span = self.algorithm.origin.span;
        self.ir.locals.push(Local {
            name: Name::new(name),
            ty,
            dims,
            default,
            span,
            unit: None,
        })
    }

    /// The node is computed outside and passed as an argument.
    fn input(&mut self, outside: ExprId) -> ExprId {
        if let Some(&local) = self.passed.get(&outside) {
            return local;
        }
        let ty = self.ir.type_id(outside);
        let name = format!("u{}", self.inputs.len() + 1);
        let local = self.new_local(&name, ty, None);
        self.inputs.push(local);
        self.args.push(outside);
        let node = self.ir.add(Expr::Local(local), ty);
        self.passed.insert(outside, node);
        node
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<Vec<Statement>> {
        statements
            .iter()
            .map(|s| {
                Ok(Statement {
                    kind: self.statement(&s.kind)?,
                    span: s.span,
                })
            })
            .collect()
    }

    fn statement(&mut self, kind: &StatementKind) -> Result<StatementKind> {
        Ok(match kind {
            StatementKind::Assign { target, value } => {
                let value = self.map(*value)?;
                StatementKind::Assign {
                    target: self.target(target)?,
                    value,
                }
            }
            StatementKind::MultiAssign { targets, call } => {
                let call = self.map(*call)?;
                let targets = targets
                    .iter()
                    .map(|t| t.as_ref().map(|t| self.target(t)).transpose())
                    .collect::<Result<_>>()?;
                StatementKind::MultiAssign { targets, call }
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                let mut new = Vec::with_capacity(branches.len());
                for (condition, body) in branches {
                    new.push((self.map(*condition)?, self.statements(body)?));
                }
                StatementKind::If {
                    branches: new,
                    otherwise: self.statements(otherwise)?,
                }
            }
            StatementKind::For { iter, range, body } => StatementKind::For {
                iter: *iter,
                range: self.map(*range)?,
                body: self.statements(body)?,
            },
            StatementKind::While { condition, body } => StatementKind::While {
                condition: self.map(*condition)?,
                body: self.statements(body)?,
            },
            StatementKind::When { branches } => {
                let mut new = Vec::with_capacity(branches.len());
                for (conditions, body) in branches {
                    let mut fires = self.ir.boolean(false);
                    for &condition in conditions {
                        let edge = self.edge(condition)?;
                        let edge = if self.ir.is_literal(edge) {
                            edge
                        } else {
                            self.input(edge)
                        };
                        fires = self.ir.or(fires, edge);
                    }
                    new.push((fires, self.statements(body)?));
                }
                StatementKind::If {
                    branches: new,
                    otherwise: Vec::new(),
                }
            }
            StatementKind::Break => StatementKind::Break,
            StatementKind::Return => StatementKind::Return,
            StatementKind::Assert {
                condition,
                message,
                level,
            } => StatementKind::Assert {
                condition: self.map(*condition)?,
                message: self.map(*message)?,
                level: *level,
            },
            StatementKind::Terminate { .. }
            | StatementKind::Reinit { .. }
            | StatementKind::Call(_) => return Err(unsupported()),
        })
    }

    /// The edge of a when-condition that no statement influences.
    fn edge(&mut self, condition: ExprId) -> Result<ExprId> {
        if !self.ir.ty(condition).is_scalar() || self.reads_output(condition) {
            return Err(unsupported());
        }
        let [at_start, later] = when_condition(self.ir, condition);
        Ok(when_edge(self.ir, at_start, later))
    }

    fn reads_output(&self, e: ExprId) -> bool {
        self.ir
            .variables_of(e)
            .iter()
            .any(|v| self.outputs.contains(v))
    }

    fn target(&mut self, target: &Target) -> Result<Target> {
        let Place::Var { first, ty } = target.place else {
            return Ok(target.clone());
        };
        let g = self.group_of(first).ok_or_else(unsupported)?;
        let local = self.groups[g].local.ok_or_else(unsupported)?;
        let mut access = Vec::with_capacity(target.access.len());
        if self.groups[g].ty != ty {
            if !self.ir.type_of_id(ty).is_scalar() {
                return Err(unsupported());
            }
            access.push(Access::Index(self.position(g, first)?));
        }
        for part in &target.access {
            access.push(match part {
                Access::Field(_) => return Err(unsupported()),
                Access::Index(subs) => {
                    let mut new = Vec::with_capacity(subs.len());
                    for sub in subs {
                        new.push(match sub {
                            Sub::All => Sub::All,
                            Sub::At(e) => Sub::At(self.map(*e)?),
                        });
                    }
                    Access::Index(new.into())
                }
            });
        }
        Ok(Target {
            place: Place::Local(local),
            access,
        })
    }

    /// Constant subscripts of a variable within its group.
    fn position(&mut self, g: usize, v: VarId) -> Result<Box<[Sub]>> {
        let dims = self
            .ir
            .type_of_id(self.groups[g].ty)
            .known_dims()
            .ok_or_else(unsupported)?;
        if matches!(self.ir.type_of_id(self.groups[g].ty).base, Base::Record(_)) {
            return Err(unsupported());
        }
        let mut rest = (v.0 - self.groups[g].first) as usize;
        let mut subs = Vec::with_capacity(dims.len());
        for &n in dims.iter().rev() {
            subs.push(Sub::At(self.ir.integer((rest % n) as i64 + 1)));
            rest /= n;
        }
        subs.reverse();
        Ok(subs.into())
    }

    /// The expression inside the function.
    fn map(&mut self, e: ExprId) -> Result<ExprId> {
        // Nodes that are passed from outside hide their children.
        let mut needed = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(id) = stack.pop() {
            if self.memo.contains_key(&id) || !needed.insert(id) {
                continue;
            }
            if !self.is_outside(id) {
                self.ir.for_each_child(id, |child| stack.push(child));
            }
        }
        let mut order: Vec<ExprId> = needed.into_iter().collect();
        order.sort_unstable();
        for id in order {
            let new = self.map_node(id)?;
            self.memo.insert(id, new);
        }
        Ok(self.memo[&e])
    }

    /// Operators that a function cannot evaluate.
    fn is_outside(&self, id: ExprId) -> bool {
        match self.ir.expr(id) {
            Expr::Time => true,
            Expr::Builtin(op, _) => matches!(
                op,
                Builtin::Pre
                    | Builtin::Der
                    | Builtin::Edge
                    | Builtin::Change
                    | Builtin::Initial
                    | Builtin::Terminal
                    | Builtin::Sample
                    | Builtin::Delay
                    | Builtin::SpatialDistribution
                    | Builtin::Previous
                    | Builtin::Interval
                    | Builtin::FirstTick
            ),
            _ => false,
        }
    }

    fn map_node(&mut self, id: ExprId) -> Result<ExprId> {
        if self.is_outside(id) {
            let past_only = matches!(
                self.ir.expr(id),
                Expr::Builtin(Builtin::Pre | Builtin::Previous | Builtin::Der, _)
            );
            let uses_iterator = self
                .ir
                .reachable(&[id])
                .into_iter()
                .any(|e| matches!(self.ir.expr(e), Expr::Local(_)));
            if uses_iterator || (!past_only && self.reads_output(id)) {
                return Err(unsupported());
            }
            // Of arrays the operator of each element, which is what later stages know.
            let elements = super::scalarize(self.ir, id)?;
            let ty = self.ir.type_id(id);
            let outside = self.ir.rebuild_from_leaves(ty, &elements);
            return Ok(self.input(outside.ok_or_else(unsupported)?));
        }
        match *self.ir.expr(id) {
            Expr::Var(v) => self.variable(id, v),
            Expr::VarArray(first) => {
                let g = self.group_of(first).ok_or_else(unsupported)?;
                if self.groups[g].ty == self.ir.type_id(id) && self.groups[g].first == first.0 {
                    return self.variable(id, first);
                }
                let ty = self.ir.type_id(id);
                let n = self.ir.leaf_count(ty).ok_or_else(unsupported)? as u32;
                let mut leaves = Vec::with_capacity(n as usize);
                for v in (first.0..first.0 + n).map(VarId) {
                    let node = self.ir.var(v, self.variables[v].base);
                    leaves.push(self.variable(node, v)?);
                }
                self.ir
                    .rebuild_from_leaves(ty, &leaves)
                    .ok_or_else(unsupported)
            }
            _ => {
                let memo = std::mem::take(&mut self.memo);
                let new = self.ir.rebuild_folded(id, &memo);
                self.memo = memo;
                Ok(new)
            }
        }
    }

    /// A variable or whole group: its local, an element of it, or an input.
    fn variable(&mut self, node: ExprId, first: VarId) -> Result<ExprId> {
        let g = self.group_of(first).ok_or_else(unsupported)?;
        let group_ty = self.groups[g].ty;
        let whole = match self.groups[g].local {
            Some(local) => self.ir.add(Expr::Local(local), group_ty),
            None => {
                let group_first = VarId(self.groups[g].first);
                let scalar = self.ir.type_of_id(group_ty).is_scalar();
                let expr = if scalar {
                    Expr::Var(group_first)
                } else {
                    Expr::VarArray(group_first)
                };
                let outside = self.ir.add(expr, group_ty);
                self.input(outside)
            }
        };
        if self.ir.type_id(node) == group_ty {
            return Ok(whole);
        }
        let subs = self.position(g, first)?;
        let ty = self.ir.type_id(node);
        Ok(self.ir.add(Expr::Index { base: whole, subs }, ty))
    }
}

fn unsupported() -> ScalarError {
    ScalarError::Unsupported("this algorithm".into())
}

/// Ranges of assigned variables, and every expression of the statements.
fn collect_places(
    ir: &Ir,
    statements: &[Statement],
    ranges: &mut Vec<(u32, u32, TypeId)>,
    roots: &mut Vec<ExprId>,
) -> Result<()> {
    for statement in statements {
        let mut target = |target: &Target, roots: &mut Vec<ExprId>| -> Result<()> {
            if let Place::Var { first, ty } = target.place {
                ranges.push((
                    first.0,
                    ir.leaf_count(ty).ok_or_else(unsupported)? as u32,
                    ty,
                ));
            }
            for access in &target.access {
                if let Access::Index(subs) = access {
                    roots.extend(
                        subs.iter()
                            .filter_map(|sub| if let Sub::At(e) = sub { Some(*e) } else { None }),
                    );
                }
            }
            Ok(())
        };
        match &statement.kind {
            StatementKind::Assign { target: t, value } => {
                target(t, roots)?;
                roots.push(*value);
            }
            StatementKind::MultiAssign { targets, call } => {
                targets
                    .iter()
                    .flatten()
                    .try_for_each(|t| target(t, roots))?;
                roots.push(*call);
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    roots.push(*condition);
                    collect_places(ir, body, ranges, roots)?;
                }
                collect_places(ir, otherwise, ranges, roots)?;
            }
            StatementKind::For { range, body, .. } => {
                roots.push(*range);
                collect_places(ir, body, ranges, roots)?;
            }
            StatementKind::While { condition, body } => {
                roots.push(*condition);
                collect_places(ir, body, ranges, roots)?;
            }
            StatementKind::When { branches } => {
                for (_, body) in branches {
                    collect_places(ir, body, ranges, roots)?;
                }
            }
            StatementKind::Assert {
                condition, message, ..
            } => roots.extend([*condition, *message]),
            StatementKind::Break
            | StatementKind::Return
            | StatementKind::Terminate { .. }
            | StatementKind::Reinit { .. }
            | StatementKind::Call(_) => {}
        }
    }
    Ok(())
}
