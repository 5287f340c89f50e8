//! Clocked partitions (specification chapter 16): finds the equations that hold only at ticks, and when their clocks tick.
//!
//! Comes in: a scalar flat model with clock operators. Goes out: the same model without them: clocked equations in
//! [`FlatModel::partitions`], clock variables gone. A model without clocks is left alone.
//!
//! Method: variables and equations are nodes of a union-find; an equation joins the variables in it, except first arguments of
//! `sample` and `hold` (other base clock) and of `subSample`, `superSample`, `shiftSample`, `backSample`, `noClock` (other sub-clock).
//! A variable of type Clock is a node like a clocked variable. Each set with a clock operator is a clocked partition; the sub-clock
//! operators are exact relations of period and start between partitions, followed from the clock constructors.
//!
//! What remains of the operators: `previous(v)` is `pre(v)`; so is `sample(v)`, the value before the tick; `hold(v)` and the
//! sub-clock operators are their first argument; `interval()` is the period; `firstTick()` is `pre` of an added variable; `der(x)` with a solver method of fixed
//! step is an added variable with the step as equation.
//!
//! Invariant after: partitions are in an order in which a partition that ticks together with another reads only values of
//! earlier ones.

mod infer;
mod order;
mod ratio;

use crate::connect::{in_statements, rewrite};
use infer::{Clocking, Partition, Timing};
use ratio::Ratio;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::{
    ClockKind, ClockedPartition, Confidence, DiscretizedState, Equation, FlatModel, Origin,
    Variability, Variable, When, WhenAction, WhenBranch,
};
use saltus_ir::func::Place;
use saltus_ir::ids::IdVec;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Ir, VarId};
use saltus_syntax::{Diagnostic, Name};

/// Moves clocked equations to partitions and replaces all clock operators.
pub fn partition_clocks(flat: &mut FlatModel) -> Result<(), Vec<Diagnostic>> {
    let clocked = clocked_nodes(&flat.ir);
    let any_clock_variable = flat
        .variables
        .iter()
        .any(|(_, variable)| variable.base == Base::Clock);
    if !clocked.contains(&true) && !any_clock_variable {
        return Ok(());
    }
    let ties = take_clocked_whens(flat)?;
    name_arguments(flat, &clocked);
    let clocking = infer::infer(flat, &ties)?;
    build_partitions(flat, &clocking)?;
    remove_clock_variables(flat);
    Ok(())
}

fn is_clock_operator(builtin: Builtin) -> bool {
    use Builtin::*;
    matches!(
        builtin,
        Previous
            | Hold
            | ClockSample
            | SubSample
            | SuperSample
            | ShiftSample
            | BackSample
            | NoClock
            | Interval
            | FirstTick
            | Clock
    )
}

/// For each node: it is or contains a clock operator.
fn clocked_nodes(ir: &Ir) -> Vec<bool> {
    let mut clocked = vec![false; ir.n_nodes()];
    for k in 0..clocked.len() {
        let id = ExprId(k as u32);
        let mut found =
            matches!(ir.expr(id), Expr::Builtin(builtin, _) if is_clock_operator(*builtin));
        // Children are older than their parents.
        ir.for_each_child(id, |child| found |= clocked[child.0 as usize]);
        clocked[k] = found;
    }
    clocked
}

/// Makes the assignments of clocked when-clauses equations. Returns pairs of an added clock variable, one for each clause, and a
/// variable assigned on that clock.
fn take_clocked_whens(flat: &mut FlatModel) -> Result<Vec<(VarId, VarId)>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut ties = Vec::new();
    let whens = std::mem::take(&mut flat.whens);
    for when in whens {
        let condition = when
            .branches
            .first()
            .and_then(|branch| branch.conditions.first().copied());
        let Some(condition) = condition.filter(|&condition| flat.ir.base(condition) == Base::Clock)
        else {
            flat.whens.push(when);
            continue;
        };
        if when.branches.len() > 1 {
            errors.push(Diagnostic::error(
                "clocked-when",
                when.origin.span,
                "a clocked when-clause has no `elsewhen`",
            ));
            continue;
        }
        let clock = add_variable(flat, "$clock", Base::Clock, None, when.origin);
        let lhs = flat.ir.add_scalar(Expr::Var(clock), Base::Clock);
        flat.equations.push(Equation {
            lhs,
            rhs: condition,
            origin: when.origin,
        });
        for action in when.branches.into_iter().flat_map(|branch| branch.body) {
            match action {
                WhenAction::Assign { var, value, origin } => {
                    let base = flat.variables[var].base;
                    let lhs = flat.ir.add_scalar(Expr::Var(var), base);
                    flat.equations.push(Equation {
                        lhs,
                        rhs: value,
                        origin,
                    });
                    ties.push((clock, var));
                }
                WhenAction::Reinit { origin, .. }
                | WhenAction::Terminate { origin, .. }
                | WhenAction::Call { origin, .. }
                | WhenAction::Assert(saltus_ir::flat::Assert { origin, .. }) => {
                    errors.push(Diagnostic::error(
                        "unsupported-feature",
                        origin.span,
                        "only equations are supported in a clocked when-clause",
                    ))
                }
            }
        }
    }
    if errors.is_empty() {
        Ok(ties)
    } else {
        Err(errors)
    }
}

/// Gives each non-trivial first argument of `sample`, of `hold` and of a sub-clock operator a variable (specification 16.7.1).
fn name_arguments(flat: &mut FlatModel, clocked: &[bool]) {
    let mut added: FxHashMap<ExprId, VarId> = FxHashMap::default();
    let mut k = 0;
    while k < flat.equations.len() {
        let equation = flat.equations[k];
        k += 1;
        let is_clocked = |id: ExprId| clocked.get(id.0 as usize).copied().unwrap_or(true);
        if !is_clocked(equation.lhs) && !is_clocked(equation.rhs) {
            continue;
        }
        let nodes = flat.ir.reachable(&[equation.lhs, equation.rhs]);
        let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for node in nodes {
            let rebuilt = flat
                .ir
                .map_children(node, |_, child| new.get(&child).copied().unwrap_or(child));
            let replaced = name_argument(flat, &mut added, rebuilt, equation.origin);
            if replaced != node {
                new.insert(node, replaced);
            }
        }
        let renamed = |id: ExprId| new.get(&id).copied().unwrap_or(id);
        flat.equations[k - 1] = Equation {
            lhs: renamed(equation.lhs),
            rhs: renamed(equation.rhs),
            origin: equation.origin,
        };
    }
}

fn name_argument(
    flat: &mut FlatModel,
    added: &mut FxHashMap<ExprId, VarId>,
    node: ExprId,
    origin: Origin,
) -> ExprId {
    let Expr::Builtin(builtin, args) = flat.ir.expr(node).clone() else {
        return node;
    };
    let Some(&first) = args.first() else {
        return node;
    };
    let replacement = match builtin {
        Builtin::SubSample
        | Builtin::SuperSample
        | Builtin::ShiftSample
        | Builtin::BackSample
        | Builtin::NoClock
        | Builtin::Hold => {
            let trivial =
                matches!(flat.ir.expr(first), Expr::Var(_)) || flat.ir.base(first) == Base::Clock;
            if trivial || is_fixed(flat, first) {
                return node;
            }
            variable_for(flat, added, first, origin)
        }
        Builtin::ClockSample => {
            let at_hand = matches!(flat.ir.expr(first), Expr::Var(_) | Expr::Time);
            if at_hand || is_fixed(flat, first) {
                return node;
            }
            variable_for(flat, added, first, origin)
        }
        _ => return node,
    };
    let mut args = args;
    args[0] = replacement;
    let ty = flat.ir.type_id(node);
    flat.ir.add(Expr::Builtin(builtin, args), ty)
}

/// A variable equal to an expression.
fn variable_for(
    flat: &mut FlatModel,
    added: &mut FxHashMap<ExprId, VarId>,
    value: ExprId,
    origin: Origin,
) -> ExprId {
    let base = flat.ir.base(value);
    if let Some(&var) = added.get(&value) {
        return flat.ir.add_scalar(Expr::Var(var), base);
    }
    let var = add_variable(flat, "$clocked", base, None, origin);
    added.insert(value, var);
    let lhs = flat.ir.add_scalar(Expr::Var(var), base);
    flat.equations.push(Equation {
        lhs,
        rhs: value,
        origin,
    });
    lhs
}

/// An expression in constants and parameters.
fn is_fixed(flat: &FlatModel, value: ExprId) -> bool {
    flat.ir
        .reachable(&[value])
        .into_iter()
        .all(|id| match flat.ir.expr(id) {
            Expr::Var(var) | Expr::VarArray(var) => {
                flat.variables[*var].variability <= Variability::Parameter
            }
            Expr::Time => false,
            Expr::Builtin(builtin, _) => !is_clock_operator(*builtin),
            _ => true,
        })
}

/// Adds a hidden variable; those of partitions are made discrete later.
fn add_variable(
    flat: &mut FlatModel,
    name: &str,
    base: Base,
    start: Option<ExprId>,
    origin: Origin,
) -> VarId {
    let name = Name::new(&format!("{name}{}", flat.variables.len()));
    flat.variables.push(Variable {
        protected: true,
        hide_result: true,
        start,
        start_confidence: match start {
            Some(_) => Confidence::at(0),
            None => Confidence::NONE,
        },
        is_final: true,
        ..Variable::new(
            name,
            base,
            if base == Base::Real {
                Variability::Continuous
            } else {
                Variability::Discrete
            },
            origin.span,
        )
    })
}

/// What event clocks add to the model. A clock ticks in the pass of the event iteration after the one in which its condition has become true: the condition
/// may depend on what the tick changes (a clock that ticks whenever an angle has moved on from where it was at the last tick). Values that
/// it samples are those before the event, kept when the condition becomes true.
#[derive(Default)]
struct EventClocks {
    /// The variable equal to a condition.
    conditions: FxHashMap<ExprId, VarId>,
    /// By condition, what is sampled and the variable that keeps it, in the order of the model.
    kept: Vec<(ExprId, ExprId, VarId)>,
}

impl EventClocks {
    fn keep(
        &mut self,
        flat: &mut FlatModel,
        condition: ExprId,
        value: ExprId,
        origin: Origin,
    ) -> VarId {
        let same = |k: &&(ExprId, ExprId, VarId)| (k.0, k.1) == (condition, value);
        if let Some(known) = self.kept.iter().find(same) {
            return known.2;
        }
        let base = flat.ir.base(value);
        let var = add_variable(flat, "$sampled", base, None, origin);
        flat.variables[var].variability = Variability::Discrete;
        self.kept.push((condition, value, var));
        var
    }

    /// The expression that is true from the pass after the one in which the condition becomes true.
    fn just_after(&mut self, flat: &mut FlatModel, condition: ExprId, origin: Origin) -> ExprId {
        let node = self.variable(flat, condition, origin);
        flat.ir
            .add_scalar(Expr::Builtin(Builtin::Pre, Box::new([node])), Base::Boolean)
    }

    fn variable(&mut self, flat: &mut FlatModel, condition: ExprId, origin: Origin) -> ExprId {
        let known = self.conditions.get(&condition).copied();
        let var = known.unwrap_or_else(|| {
            // One that is true from the start has become so there.
            let (before, fixed) = (flat.ir.boolean(false), flat.ir.boolean(true));
            let var = add_variable(flat, "$condition", Base::Boolean, Some(before), origin);
            flat.variables[var].fixed = Some(fixed);
            let lhs = flat.ir.add_scalar(Expr::Var(var), Base::Boolean);
            let rhs = condition;
            flat.equations.push(Equation { lhs, rhs, origin });
            self.conditions.insert(condition, var);
            var
        });
        flat.ir.add_scalar(Expr::Var(var), Base::Boolean)
    }

    /// When-clauses that keep what is sampled: at the start, where a condition may be true, what it is there.
    fn finish(mut self, flat: &mut FlatModel, origin: Origin) {
        for (condition, value, var) in std::mem::take(&mut self.kept) {
            let condition = self.variable(flat, condition, origin);
            let (base, ir) = (flat.ir.base(value), &mut flat.ir);
            let initial =
                ir.add_scalar(Expr::Builtin(Builtin::Initial, Box::new([])), Base::Boolean);
            let before = ir.add_scalar(Expr::Builtin(Builtin::Pre, Box::new([value])), base);
            let value = ir.add_scalar(Expr::If(initial, value, before), base);
            flat.whens.push(When {
                branches: vec![WhenBranch {
                    conditions: vec![initial, condition],
                    body: vec![WhenAction::Assign { var, value, origin }],
                }],
                origin,
            });
        }
    }
}

/// One partition while its operators are replaced.
struct Builder<'m> {
    flat: &'m mut FlatModel,
    event_clocks: &'m mut EventClocks,
    timing: &'m Timing,
    solver: Option<&'m str>,
    origin: Origin,
    /// Equations of added variables.
    added: Vec<Equation>,
    added_variables: Vec<VarId>,
    first_tick: Option<ExprId>,
    interval: Option<ExprId>,
    /// The variable that stands for `der(x)`.
    derivatives: FxHashMap<VarId, ExprId>,
    /// With indices into `added`.
    steps: Vec<DiscretizedState>,
    errors: Vec<Diagnostic>,
}

/// What the rewriting of a partition adds to it.
#[derive(Default)]
struct Added {
    equations: Vec<Equation>,
    variables: Vec<VarId>,
    /// With indices into `equations`.
    steps: Vec<DiscretizedState>,
}

fn build_partitions(flat: &mut FlatModel, clocking: &Clocking) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let equations = std::mem::take(&mut flat.equations);
    let mut of_partition: Vec<Vec<Equation>> = vec![Vec::new(); clocking.partitions.len()];
    let mut continuous = Vec::new();
    for (equation, &partition) in equations.into_iter().zip(&clocking.partition_of_equation) {
        if flat.ir.base(equation.lhs) == Base::Clock {
            continue;
        }
        match partition {
            Some(p) => of_partition[p].push(equation),
            None => continuous.push(equation),
        }
    }
    flat.equations = continuous;
    let pieces =
        order::evaluation_order(flat, clocking, &of_partition).map_err(|error| vec![*error])?;
    let mut event_clocks = EventClocks::default();
    let mut rewritten: Vec<Vec<Equation>> = Vec::new();
    // Added equations of a partition go with its first piece; later pieces read them as `pre` only.
    let mut extra: Vec<Added> = Vec::new();
    for (p, equations) in of_partition.iter().enumerate() {
        let partition = &clocking.partitions[p];
        let mut builder = Builder {
            flat: &mut *flat,
            event_clocks: &mut event_clocks,
            timing: &partition.timing,
            solver: partition.solver.as_deref(),
            origin: partition.origin,
            added: Vec::new(),
            added_variables: Vec::new(),
            first_tick: None,
            interval: None,
            derivatives: FxHashMap::default(),
            steps: Vec::new(),
            errors: Vec::new(),
        };
        let new: Vec<Equation> = equations
            .iter()
            .map(|equation| builder.equation(*equation))
            .collect();
        errors.append(&mut builder.errors);
        let n_pieces = pieces.iter().filter(|piece| piece.partition == p).count();
        if !builder.derivatives.is_empty() && n_pieces > 1 {
            errors.push(Diagnostic::error(
                "unsupported-feature",
                partition.origin.span,
                "a discretized partition that exchanges values with another sub-clock in both directions is not supported",
            ));
        }
        extra.push(Added {
            equations: builder.added,
            variables: builder.added_variables,
            steps: builder.steps,
        });
        rewritten.push(new);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    for (var, partition) in clocking.partition_of_variable.iter().enumerate() {
        if partition.is_some() {
            flat.variables[VarId(var as u32)].variability = Variability::Discrete;
        }
    }
    // The condition of a sub-clock of an event clock, by partition.
    let mut sub_clocks: FxHashMap<usize, ExprId> = FxHashMap::default();
    for piece in pieces {
        let p = piece.partition;
        let mut equations: Vec<Equation> =
            piece.equations.iter().map(|&k| rewritten[p][k]).collect();
        let mut variables = piece.variables;
        let added = std::mem::take(&mut extra[p]);
        let mut steps = added.steps;
        (steps.iter_mut()).for_each(|step| step.equation += equations.len());
        equations.extend(added.equations);
        variables.extend(added.variables);
        let Partition { timing, origin, .. } = &clocking.partitions[p];
        let clock = match (&timing.kind, timing.every) {
            (&ClockKind::Event { condition }, every) => {
                let ticks = event_clocks.just_after(flat, condition, *origin);
                let condition = match (every, sub_clocks.get(&p)) {
                    (None, _) => ticks,
                    (Some(_), Some(&known)) => known,
                    (Some((every, from)), None) => count_ticks(flat, ticks, every, from, *origin),
                };
                if every.is_some() {
                    sub_clocks.insert(p, condition);
                }
                ClockKind::Event { condition }
            }
            (kind, _) => kind.clone(),
        };
        flat.partitions.push(ClockedPartition {
            clock,
            variables,
            equations,
            steps,
            origin: *origin,
        });
    }
    if let Some(partition) = clocking.partitions.first() {
        event_clocks.finish(flat, partition.origin);
    }
    check_left_over(flat, clocking)
}

/// Adds a partition that counts the ticks of an event clock. Returns the condition that becomes true at every so many of them: it
/// rises with the condition of the event clock, which is false between ticks.
fn count_ticks(
    flat: &mut FlatModel,
    condition: ExprId,
    every: i64,
    from: i64,
    origin: Origin,
) -> ExprId {
    let before = flat.ir.integer(-1);
    let ticks = add_variable(flat, "$ticks", Base::Integer, Some(before), origin);
    let is_tick = add_variable(flat, "$isTick", Base::Boolean, None, origin);
    let ir = &mut flat.ir;
    let [one, zero, every, from] = [1, 0, every, from].map(|value| ir.integer(value));
    let count = ir.add_scalar(Expr::Var(ticks), Base::Integer);
    let last = ir.add_scalar(
        Expr::Builtin(Builtin::Pre, Box::new([count])),
        Base::Integer,
    );
    let next = ir.add_scalar(Expr::Binary(BinaryOp::Add, last, one), Base::Integer);
    let started = ir.add_scalar(Expr::Binary(BinaryOp::Ge, count, from), Base::Boolean);
    let since = ir.add_scalar(Expr::Binary(BinaryOp::Sub, count, from), Base::Integer);
    let rest = ir.add_scalar(
        Expr::Builtin(Builtin::Mod, Box::new([since, every])),
        Base::Integer,
    );
    let due = ir.add_scalar(Expr::Binary(BinaryOp::Eq, rest, zero), Base::Boolean);
    let now = ir.add_scalar(Expr::Binary(BinaryOp::And, started, due), Base::Boolean);
    let flag = ir.add_scalar(Expr::Var(is_tick), Base::Boolean);
    let equation = |lhs, rhs| Equation { lhs, rhs, origin };
    flat.partitions.push(ClockedPartition {
        clock: ClockKind::Event { condition },
        variables: vec![ticks, is_tick],
        equations: vec![equation(count, next), equation(flag, now)],
        steps: Vec::new(),
        origin,
    });
    flat.ir
        .add_scalar(Expr::Binary(BinaryOp::And, condition, flag), Base::Boolean)
}

/// Algorithms and when-equations of variables on a clock cannot be in a partition.
fn check_left_over(flat: &mut FlatModel, clocking: &Clocking) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let clocked = |var: VarId| {
        clocking
            .partition_of_variable
            .get(var.0 as usize)
            .copied()
            .flatten()
            .is_some()
    };
    let unsupported = |origin: Origin, what: &str| {
        Diagnostic::error(
            "unsupported-feature",
            origin.span,
            format!("{what} in a clocked partition is not supported"),
        )
        .help("write it as equations, or put `hold` between the clocked part and it")
    };
    for algorithm in flat.algorithms.iter().chain(&flat.initial_algorithms) {
        if algorithm.outputs.iter().any(|&var| clocked(var)) {
            errors.push(unsupported(algorithm.origin, "an algorithm"));
        }
    }
    for when in &flat.whens {
        let assigned = when
            .branches
            .iter()
            .flat_map(|branch| &branch.body)
            .any(|action| match action {
                WhenAction::Assign { var, .. } | WhenAction::Reinit { var, .. } => clocked(*var),
                _ => false,
            });
        if assigned {
            errors.push(unsupported(
                when.origin,
                "a when-equation with a Boolean condition",
            ));
        }
    }
    // A held value is the variable itself: it changes at ticks only.
    let mut roots = Vec::new();
    for_each_root(flat, &mut |root| roots.push(*root));
    let nodes = flat.ir.reachable(&roots);
    let new = rewrite(&mut flat.ir, &nodes, |ir, _, rebuilt| {
        match ir.expr(rebuilt) {
            Expr::Builtin(Builtin::Hold, args) if args.len() == 1 => args[0],
            _ => rebuilt,
        }
    });
    for_each_root(flat, &mut |root| {
        if let Some(&value) = new.get(root) {
            *root = value;
        }
    });
    let mut roots = Vec::new();
    for_each_root(flat, &mut |root| roots.push(*root));
    let mut named = FxHashSet::default();
    for id in flat.ir.reachable(&roots) {
        if let Expr::Builtin(builtin, _) = flat.ir.expr(id)
            && is_clock_operator(*builtin)
            && named.insert(*builtin)
        {
            errors.push(Diagnostic::error(
                "unsupported-feature",
                flat.span,
                format!("`{}` stands outside of clocked equations", builtin.name()),
            ));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

impl Builder<'_> {
    fn equation(&mut self, equation: Equation) -> Equation {
        self.origin = equation.origin;
        Equation {
            lhs: self.expression(equation.lhs),
            rhs: self.expression(equation.rhs),
            origin: equation.origin,
        }
    }

    fn expression(&mut self, root: ExprId) -> ExprId {
        let nodes = self.flat.ir.reachable(&[root]);
        let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for node in nodes {
            let rebuilt = self
                .flat
                .ir
                .map_children(node, |_, child| new.get(&child).copied().unwrap_or(child));
            let replaced = self.operator(rebuilt);
            if replaced != node {
                new.insert(node, replaced);
            }
        }
        new.get(&root).copied().unwrap_or(root)
    }

    fn operator(&mut self, node: ExprId) -> ExprId {
        let Expr::Builtin(builtin, args) = self.flat.ir.expr(node) else {
            return node;
        };
        let first = args.first().copied();
        match (*builtin, first) {
            (
                Builtin::Hold
                | Builtin::SubSample
                | Builtin::SuperSample
                | Builtin::ShiftSample
                | Builtin::BackSample
                | Builtin::NoClock,
                Some(value),
            ) => value,
            (Builtin::ClockSample, Some(value)) => match *self.flat.ir.expr(value) {
                Expr::Var(var) if self.flat.variables[var].variability > Variability::Parameter => {
                    self.sampled(value)
                }
                _ => value,
            },
            (Builtin::Previous, Some(value)) => self.previous(value),
            (Builtin::Interval, _) => self.interval(),
            (Builtin::FirstTick, _) => self.first_tick(),
            (Builtin::Der, Some(state)) => self.derivative(state),
            _ => node,
        }
    }

    fn pre(&mut self, value: ExprId) -> ExprId {
        let base = self.flat.ir.base(value);
        self.flat
            .ir
            .add_scalar(Expr::Builtin(Builtin::Pre, Box::new([value])), base)
    }

    /// The value before the event.
    fn sampled(&mut self, value: ExprId) -> ExprId {
        let ClockKind::Event { condition } = self.timing.kind else {
            return self.pre(value);
        };
        let base = self.flat.ir.base(value);
        let kept = (self.event_clocks).keep(self.flat, condition, value, self.origin);
        let kept = self.flat.ir.add_scalar(Expr::Var(kept), base);
        self.pre(kept)
    }

    fn previous(&mut self, value: ExprId) -> ExprId {
        match *self.flat.ir.expr(value) {
            Expr::Var(var) if self.flat.variables[var].variability > Variability::Parameter => {
                self.pre(value)
            }
            _ if is_fixed(self.flat, value) => value,
            _ => {
                self.errors.push(Diagnostic::error(
                    "wrong-argument",
                    self.origin.span,
                    "the argument of `previous` must be a variable",
                ));
                value
            }
        }
    }

    fn added_variable(&mut self, name: &str, base: Base, start: Option<ExprId>) -> ExprId {
        let var = add_variable(self.flat, name, base, start, self.origin);
        self.flat.variables[var].variability = Variability::Discrete;
        self.added_variables.push(var);
        self.flat.ir.add_scalar(Expr::Var(var), base)
    }

    /// `pre` of a variable that starts as true and is false from the first tick on.
    fn first_tick(&mut self) -> ExprId {
        if let Some(first) = self.first_tick {
            return first;
        }
        let start = self.flat.ir.boolean(true);
        let lhs = self.added_variable("$beforeFirstTick", Base::Boolean, Some(start));
        let rhs = self.flat.ir.boolean(false);
        self.added.push(Equation {
            lhs,
            rhs,
            origin: self.origin,
        });
        let first = self.pre(lhs);
        self.first_tick = Some(first);
        first
    }

    /// The period, or the time since the last tick of an event clock.
    fn interval(&mut self) -> ExprId {
        if let Some(interval) = self.interval {
            return interval;
        }
        let interval = match self.timing.kind.clone() {
            ClockKind::Periodic { .. } => self.flat.ir.real(self.timing.value.period.to_f64()),
            ClockKind::PeriodicReal { interval, .. } => {
                let factor = self.timing.value.period;
                if factor == Ratio::ONE {
                    interval
                } else {
                    let factor = self.flat.ir.real(factor.to_f64());
                    self.flat
                        .ir
                        .add_scalar(Expr::Binary(BinaryOp::Mul, factor, interval), Base::Real)
                }
            }
            ClockKind::Event { .. } => {
                let zero = self.flat.ir.real(0.0);
                let last = self.added_variable("$lastTick", Base::Real, Some(zero));
                let time = self.flat.ir.time();
                self.added.push(Equation {
                    lhs: last,
                    rhs: time,
                    origin: self.origin,
                });
                let before = self.pre(last);
                let first = self.first_tick();
                let start_interval = self.timing.start_interval.unwrap_or(zero);
                let ir = &mut self.flat.ir;
                let since = ir.add_scalar(Expr::Binary(BinaryOp::Sub, time, before), Base::Real);
                ir.add_scalar(Expr::If(first, start_interval, since), Base::Real)
            }
        };
        self.interval = Some(interval);
        interval
    }

    /// The variable for `der(x)`, with the step of the solver method as equation for `x`. At the first tick `x` has its start value.
    fn derivative(&mut self, state: ExprId) -> ExprId {
        let Expr::Var(var) = *self.flat.ir.expr(state) else {
            self.errors.push(Diagnostic::error(
                "unsupported-feature",
                self.origin.span,
                "`der` of an expression in a clocked partition is not supported",
            ));
            return state;
        };
        if let Some(&derivative) = self.derivatives.get(&var) {
            return derivative;
        }
        let zero = self.flat.ir.real(0.0);
        let derivative = self.added_variable("$der", Base::Real, Some(zero));
        self.derivatives.insert(var, derivative);
        let interval = self.interval();
        let before = self.pre(state);
        let rate_before = self.pre(derivative);
        let first = self.first_tick();
        let ir = &mut self.flat.ir;
        let mut op = |op, a, b| ir.add_scalar(Expr::Binary(op, a, b), Base::Real);
        let rate = match self.solver {
            Some("ExplicitEuler") => rate_before,
            Some("ImplicitEuler") => derivative,
            Some("ImplicitTrapezoid") => {
                let both = op(BinaryOp::Add, rate_before, derivative);
                let half = self.flat.ir.real(0.5);
                self.flat
                    .ir
                    .add_scalar(Expr::Binary(BinaryOp::Mul, half, both), Base::Real)
            }
            method => {
                let message = match method {
                    Some(method) => format!(
                        "the solver method `{method}` for a clocked partition is not supported"
                    ),
                    None => "a clocked partition with `der` needs a clock with a solver method"
                        .to_string(),
                };
                self.errors.push(
                    Diagnostic::error("unsupported-feature", self.origin.span, message)
                        .help("supported are \"ExplicitEuler\", \"ImplicitEuler\" and \"ImplicitTrapezoid\""),
                );
                return derivative;
            }
        };
        let ir = &mut self.flat.ir;
        let step = ir.add_scalar(Expr::Binary(BinaryOp::Mul, interval, rate), Base::Real);
        let next = ir.add_scalar(Expr::Binary(BinaryOp::Add, before, step), Base::Real);
        let rhs = ir.add_scalar(Expr::If(first, before, next), Base::Real);
        if let Expr::Var(derivative) = *ir.expr(derivative) {
            self.steps.push(DiscretizedState {
                state: var,
                derivative,
                equation: self.added.len(),
            });
        }
        self.added.push(Equation {
            lhs: state,
            rhs,
            origin: self.origin,
        });
        derivative
    }
}

/// Calls `f` on every expression of the model outside of clocked partitions.
fn for_each_root(flat: &mut FlatModel, f: &mut impl FnMut(&mut ExprId)) {
    for equation in flat.equations.iter_mut().chain(&mut flat.initial_equations) {
        f(&mut equation.lhs);
        f(&mut equation.rhs);
    }
    for branch in flat.whens.iter_mut().flat_map(|when| &mut when.branches) {
        branch.conditions.iter_mut().for_each(&mut *f);
        for action in &mut branch.body {
            match action {
                WhenAction::Assign { value, .. } | WhenAction::Reinit { value, .. } => f(value),
                WhenAction::Assert(assert) => {
                    f(&mut assert.condition);
                    f(&mut assert.message);
                }
                WhenAction::Terminate {
                    guard,
                    message: done,
                    ..
                }
                | WhenAction::Call {
                    guard, call: done, ..
                } => {
                    guard.iter_mut().for_each(&mut *f);
                    f(done);
                }
            }
        }
    }
    for algorithm in flat
        .algorithms
        .iter_mut()
        .chain(&mut flat.initial_algorithms)
    {
        in_statements(&mut algorithm.statements, f);
    }
    for assert in &mut flat.asserts {
        f(&mut assert.condition);
        f(&mut assert.message);
    }
}

/// Takes variables of type Clock out of the model and numbers the others anew.
fn remove_clock_variables(flat: &mut FlatModel) {
    if flat
        .variables
        .iter()
        .all(|(_, variable)| variable.base != Base::Clock)
    {
        return;
    }
    let mut number: Vec<VarId> = Vec::with_capacity(flat.variables.len());
    let mut kept: IdVec<VarId, Variable> = IdVec::default();
    for (_, variable) in flat.variables.iter() {
        number.push(VarId(kept.len() as u32));
        if variable.base != Base::Clock {
            kept.push(variable.clone());
        }
    }
    let renumber = |var: VarId| number[var.0 as usize];
    flat.variables = kept;
    let mut roots = Vec::new();
    for_each_expression(flat, &mut |root| roots.push(*root));
    let nodes = flat.ir.reachable(&roots);
    let new = rewrite(&mut flat.ir, &nodes, |ir, node, rebuilt| {
        match *ir.expr(rebuilt) {
            Expr::Var(var) if renumber(var) != var => {
                let ty = ir.type_id(node);
                ir.add(Expr::Var(renumber(var)), ty)
            }
            Expr::VarArray(var) if renumber(var) != var => {
                let ty = ir.type_id(node);
                ir.add(Expr::VarArray(renumber(var)), ty)
            }
            _ => rebuilt,
        }
    });
    for_each_expression(flat, &mut |root| {
        if let Some(&value) = new.get(root) {
            *root = value;
        }
    });
    for branch in flat.whens.iter_mut().flat_map(|when| &mut when.branches) {
        for action in &mut branch.body {
            if let WhenAction::Assign { var, .. } | WhenAction::Reinit { var, .. } = action {
                *var = renumber(*var);
            }
        }
    }
    for algorithm in flat
        .algorithms
        .iter_mut()
        .chain(&mut flat.initial_algorithms)
    {
        algorithm
            .outputs
            .iter_mut()
            .for_each(|var| *var = renumber(*var));
        renumber_statements(&mut algorithm.statements, &renumber);
    }
    for partition in &mut flat.partitions {
        partition
            .variables
            .iter_mut()
            .for_each(|var| *var = renumber(*var));
        for step in &mut partition.steps {
            step.state = renumber(step.state);
            step.derivative = renumber(step.derivative);
        }
    }
}

/// Calls `f` on every expression of the model.
fn for_each_expression(flat: &mut FlatModel, f: &mut impl FnMut(&mut ExprId)) {
    for_each_root(flat, f);
    for (_, variable) in flat.variables.iter_mut() {
        let Variable {
            start,
            fixed,
            min,
            max,
            nominal,
            binding,
            ..
        } = variable;
        [start, fixed, min, max, nominal, binding]
            .into_iter()
            .flatten()
            .for_each(&mut *f);
    }
    for partition in &mut flat.partitions {
        for equation in &mut partition.equations {
            f(&mut equation.lhs);
            f(&mut equation.rhs);
        }
        match &mut partition.clock {
            ClockKind::Periodic { .. } => {}
            ClockKind::PeriodicReal { interval, .. } => f(interval),
            ClockKind::Event { condition } => f(condition),
        }
    }
}

fn renumber_statements(
    statements: &mut [saltus_ir::func::Statement],
    renumber: &impl Fn(VarId) -> VarId,
) {
    use saltus_ir::func::StatementKind::*;
    let place = |place: &mut Place| {
        if let Place::Var { first, .. } = place {
            *first = renumber(*first);
        }
    };
    for statement in statements {
        match &mut statement.kind {
            Assign { target, .. } => place(&mut target.place),
            MultiAssign { targets, .. } => targets
                .iter_mut()
                .flatten()
                .for_each(|target| place(&mut target.place)),
            If {
                branches,
                otherwise,
            } => {
                branches
                    .iter_mut()
                    .for_each(|(_, body)| renumber_statements(body, renumber));
                renumber_statements(otherwise, renumber);
            }
            For { body, .. } | While { body, .. } => renumber_statements(body, renumber),
            When { branches } => branches
                .iter_mut()
                .for_each(|(_, body)| renumber_statements(body, renumber)),
            Reinit { var, .. } => *var = renumber(*var),
            Break | Return | Assert { .. } | Terminate { .. } | Call(_) => {}
        }
    }
}
