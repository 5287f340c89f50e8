//! Clock inference: which variables and equations are on which clock, and when each clock ticks (specification 16.7).

use super::is_fixed;
use super::ratio::Ratio;
use rustc_hash::FxHashMap;
use saltus_ir::flat::{ClockKind, FlatModel, Origin, Variability};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, UnaryOp, VarId};
use saltus_syntax::Diagnostic;

/// Bindings that refer to each other, at most, when a clock argument is evaluated.
const BINDING_DEPTH_MAX: u32 = 100;

/// The result of inference.
pub(super) struct Clocking {
    pub partitions: Vec<Partition>,
    /// By index in `flat.equations`; `None` for the continuous part.
    pub partition_of_equation: Vec<Option<usize>>,
    /// By variable.
    pub partition_of_variable: Vec<Option<usize>>,
    /// (reader, read): sub-clock operators from one partition to another.
    pub dependencies: Vec<(usize, usize)>,
}

pub(super) struct Partition {
    pub timing: Timing,
    pub solver: Option<String>,
    pub origin: Origin,
}

pub(super) struct Timing {
    pub kind: ClockKind,
    pub value: ClockValue,
    /// Of event clocks: `interval()` at the first tick.
    pub start_interval: Option<ExprId>,
    /// Of sub-clocks of an event clock: ticks at every so many ticks of it, from this one (0 is the first).
    pub every: Option<(i64, i64)>,
}

/// Period and first tick in units of a base clock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ClockValue {
    base: usize,
    pub period: Ratio,
    start: Ratio,
}

/// What the numbers of a [`ClockValue`] count.
#[derive(Clone, Copy, PartialEq, Debug)]
enum BaseClock {
    Seconds,
    /// Multiples of a Real interval.
    Interval(ExprId),
    /// Ticks of an event clock.
    Event {
        condition: ExprId,
        start_interval: Option<ExprId>,
    },
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Operator {
    /// Slower by the factor; `None` is inferred.
    Sub(Option<Ratio>),
    Super(Option<Ratio>),
    /// Later by this part of the period.
    Shift(Ratio),
    Back(Ratio),
    /// Same base clock, no other relation.
    NoClock,
}

/// `result = operator(argument)` between nodes.
#[derive(Clone, Copy, Debug)]
struct Relation {
    result: usize,
    argument: usize,
    operator: Operator,
    origin: Origin,
}

/// Nodes are variables, then equations, then clock expressions inside operators.
struct Graph<'m> {
    flat: &'m FlatModel,
    parent: Vec<usize>,
    /// Nodes known to be clocked or continuous, and where that was seen.
    clocked: Vec<(usize, Origin)>,
    continuous: Vec<(usize, Origin)>,
    relations: Vec<Relation>,
    definitions: Vec<(usize, BaseClock, Ratio, Origin)>,
    solvers: Vec<(usize, String)>,
    /// Parameters whose value was used.
    evaluated: Vec<VarId>,
    errors: Vec<Diagnostic>,
}

pub(super) fn infer(
    flat: &mut FlatModel,
    ties: &[(VarId, VarId)],
) -> Result<Clocking, Vec<Diagnostic>> {
    let n_variables = flat.variables.len();
    let n_equations = flat.equations.len();
    let mut graph = Graph {
        flat,
        parent: (0..n_variables + n_equations).collect(),
        clocked: Vec::new(),
        continuous: Vec::new(),
        relations: Vec::new(),
        definitions: Vec::new(),
        solvers: Vec::new(),
        evaluated: Vec::new(),
        errors: Vec::new(),
    };
    for (k, equation) in graph.flat.equations.iter().enumerate() {
        graph.walk(n_variables + k, equation.lhs, equation.origin);
        graph.walk(n_variables + k, equation.rhs, equation.origin);
    }
    for &(clock, var) in ties {
        graph.join(clock.0 as usize, var.0 as usize);
    }
    for (var, variable) in graph.flat.variables.iter() {
        if variable.base == Base::Clock {
            let origin = Origin {
                span: variable.span,
                component: variable.name,
            };
            graph.clocked.push((var.0 as usize, origin));
        }
    }
    let clocking = graph.solve(n_variables, n_equations);
    let evaluated = std::mem::take(&mut graph.evaluated);
    let errors = std::mem::take(&mut graph.errors);
    for var in evaluated {
        flat.variables[var]
            .structural
            .get_or_insert("it defines a clock");
    }
    if errors.is_empty() {
        Ok(clocking)
    } else {
        Err(errors)
    }
}

impl Graph<'_> {
    fn find(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn error(&mut self, code: &'static str, origin: Origin, message: impl Into<String>) {
        self.errors
            .push(Diagnostic::error(code, origin.span, message.into()));
    }

    fn is_unknown(&self, var: VarId) -> bool {
        self.flat.variables[var].variability > Variability::Parameter
    }

    /// Joins `node` with the variables of an expression and records its clock operators.
    fn walk(&mut self, node: usize, root: ExprId, origin: Origin) {
        let flat = self.flat;
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            match flat.ir.expr(id) {
                Expr::Var(var) => {
                    if self.is_unknown(*var) {
                        self.join(node, var.0 as usize);
                    }
                }
                Expr::VarArray(first) => {
                    let n = flat
                        .ir
                        .ty(id)
                        .known_dims()
                        .map_or(0, |dims| dims.iter().product::<usize>() as u32);
                    for k in 0..n {
                        let var = VarId(first.0 + k);
                        if self.is_unknown(var) {
                            self.join(node, var.0 as usize);
                        }
                    }
                }
                Expr::Builtin(builtin, args) => {
                    self.walk_builtin(node, *builtin, args, origin, &mut stack)
                }
                _ => flat.ir.for_each_child(id, |child| stack.push(child)),
            }
        }
    }

    fn walk_builtin(
        &mut self,
        node: usize,
        builtin: Builtin,
        args: &[ExprId],
        origin: Origin,
        stack: &mut Vec<ExprId>,
    ) {
        match (builtin, args) {
            (Builtin::ClockSample, [value, clock @ ..]) => {
                self.clocked.push((node, origin));
                self.mark_continuous(*value, origin);
                if let [clock] = clock {
                    stack.push(*clock);
                }
            }
            (Builtin::Hold, [value, ..]) => {
                if !is_fixed(self.flat, *value) {
                    self.continuous.push((node, origin));
                    let held = self.node_of(*value, origin);
                    self.clocked.push((held, origin));
                }
            }
            (Builtin::Previous | Builtin::Interval | Builtin::FirstTick, _) => {
                self.clocked.push((node, origin));
                stack.extend(args);
            }
            (Builtin::SubSample, [value, rest @ ..]) => {
                let factor = self.factor(rest, origin);
                self.relate(node, *value, Operator::Sub(factor), origin);
            }
            (Builtin::SuperSample, [value, rest @ ..]) => {
                let factor = self.factor(rest, origin);
                self.relate(node, *value, Operator::Super(factor), origin);
            }
            (Builtin::ShiftSample, [value, rest @ ..]) => {
                let shift = self.shift(rest, origin);
                self.relate(node, *value, Operator::Shift(shift), origin);
            }
            (Builtin::BackSample, [value, rest @ ..]) => {
                let shift = self.shift(rest, origin);
                self.relate(node, *value, Operator::Back(shift), origin);
            }
            (Builtin::NoClock, [value, ..]) => self.relate(node, *value, Operator::NoClock, origin),
            (Builtin::Clock, _) => {
                self.clocked.push((node, origin));
                self.constructor(node, args, origin, stack);
            }
            _ => stack.extend(args),
        }
    }

    /// The variables of an argument of `sample` are continuous.
    fn mark_continuous(&mut self, value: ExprId, origin: Origin) {
        for id in self.flat.ir.reachable(&[value]) {
            if let Expr::Var(var) = *self.flat.ir.expr(id)
                && self.is_unknown(var)
            {
                self.continuous.push((var.0 as usize, origin));
            }
        }
    }

    /// The node of an argument of an operator: a variable, or a clock expression for which a node is added.
    fn node_of(&mut self, value: ExprId, origin: Origin) -> usize {
        if let Expr::Var(var) = *self.flat.ir.expr(value) {
            return var.0 as usize;
        }
        let node = self.parent.len();
        self.parent.push(node);
        self.walk(node, value, origin);
        node
    }

    fn relate(&mut self, result: usize, value: ExprId, operator: Operator, origin: Origin) {
        self.clocked.push((result, origin));
        if self.flat.ir.base(value) != Base::Clock && is_fixed(self.flat, value) {
            return;
        }
        let argument = self.node_of(value, origin);
        self.clocked.push((argument, origin));
        self.relations.push(Relation {
            result,
            argument,
            operator,
            origin,
        });
    }

    /// The factor of `subSample` and `superSample`; `None` (also for 0) is inferred.
    fn factor(&mut self, args: &[ExprId], origin: Origin) -> Option<Ratio> {
        let &arg = args.first()?;
        match self.integer(arg, 0) {
            Some(0) => None,
            Some(factor) if factor > 0 => Ratio::new(i128::from(factor), 1),
            Some(factor) => {
                self.error(
                    "clock-argument",
                    origin,
                    format!("the factor of a sub-clock must not be negative, it is {factor}"),
                );
                None
            }
            None => {
                self.error(
                    "clock-argument",
                    origin,
                    "the factor of a sub-clock must be known at compile time",
                );
                None
            }
        }
    }

    /// `counter / resolution`
    fn shift(&mut self, args: &[ExprId], origin: Origin) -> Ratio {
        let counter = args.first().and_then(|&arg| self.integer(arg, 0));
        let resolution = match args.get(1) {
            Some(&arg) => self.integer(arg, 0),
            None => Some(1),
        };
        let shift = match (counter, resolution) {
            (Some(counter), Some(resolution)) if counter >= 0 && resolution >= 1 => {
                Ratio::new(i128::from(counter), i128::from(resolution))
            }
            _ => None,
        };
        shift.unwrap_or_else(|| {
            self.error(
                "clock-argument",
                origin,
                "counter and resolution of a shifted clock must be known at compile time, counter >= 0 and resolution >= 1",
            );
            Ratio::ZERO
        })
    }

    fn constructor(
        &mut self,
        node: usize,
        args: &[ExprId],
        origin: Origin,
        stack: &mut Vec<ExprId>,
    ) {
        let Some(&first) = args.first() else {
            return;
        };
        match self.flat.ir.base(first) {
            Base::Clock => {
                stack.push(first);
                if let Some(&method) = args.get(1) {
                    match self.solver_method(method) {
                        Some("") => {}
                        Some(method) => self.solvers.push((node, method.to_string())),
                        None => self.error(
                            "clock-argument",
                            origin,
                            "the solver method must be known at compile time",
                        ),
                    }
                }
            }
            Base::Boolean => {
                self.mark_continuous(first, origin);
                let clock = BaseClock::Event {
                    condition: first,
                    start_interval: args.get(1).copied(),
                };
                self.definitions.push((node, clock, Ratio::ONE, origin));
            }
            Base::Integer => {
                let counter = self.integer(first, 0);
                let resolution = match args.get(1) {
                    Some(&arg) => self.integer(arg, 0),
                    None => Some(1),
                };
                let period = counter
                    .zip(resolution)
                    .and_then(|(n, r)| Ratio::new(i128::from(n), i128::from(r)))
                    .filter(|period| period.is_positive());
                match period {
                    Some(period) => self.definitions.push((node, BaseClock::Seconds, period, origin)),
                    None => self.error(
                        "clock-argument",
                        origin,
                        "interval counter and resolution of a clock must be positive and known at compile time",
                    ),
                }
            }
            Base::Real => {
                if is_fixed(self.flat, first) {
                    self.definitions
                        .push((node, BaseClock::Interval(first), Ratio::ONE, origin));
                } else {
                    self.error(
                        "unsupported-feature",
                        origin,
                        "a clock with a variable interval is not supported",
                    );
                }
            }
            _ => self.error(
                "clock-argument",
                origin,
                "this is not an argument of `Clock`",
            ),
        }
    }

    fn solver_method(&self, expr: ExprId) -> Option<&'static str> {
        let expr = match *self.flat.ir.expr(expr) {
            Expr::Var(var) if !self.is_unknown(var) => self.flat.variables[var].binding?,
            _ => expr,
        };
        match self.flat.ir.expr(expr) {
            Expr::String(method) => Some(method.as_str()),
            _ => None,
        }
    }

    /// The value of an Integer expression in parameters.
    fn integer(&mut self, expr: ExprId, depth: u32) -> Option<i64> {
        match *self.flat.ir.expr(expr) {
            Expr::Integer(value) => Some(value),
            Expr::Unary(UnaryOp::Neg, a) => self.integer(a, depth)?.checked_neg(),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.integer(a, depth)?, self.integer(b, depth)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    _ => None,
                }
            }
            Expr::Builtin(Builtin::Div, ref args) => match **args {
                [a, b] => self.integer(a, depth)?.checked_div(self.integer(b, depth)?),
                _ => None,
            },
            Expr::Builtin(Builtin::Ordinal, ref args) => match *self.flat.ir.expr(*args.first()?) {
                Expr::Enum(_, ordinal) => Some(i64::from(ordinal)),
                _ => None,
            },
            Expr::Var(var) if depth < BINDING_DEPTH_MAX && !self.is_unknown(var) => {
                self.evaluated.push(var);
                let binding = self.flat.variables[var].binding?;
                self.integer(binding, depth + 1)
            }
            _ => None,
        }
    }

    fn solve(&mut self, n_variables: usize, n_equations: usize) -> Clocking {
        let mut number: FxHashMap<usize, usize> = FxHashMap::default();
        let mut origins: Vec<Origin> = Vec::new();
        for (node, origin) in self.clocked.clone() {
            let top = self.find(node);
            number.entry(top).or_insert_with(|| {
                origins.push(origin);
                origins.len() - 1
            });
        }
        let mut conflict: Vec<bool> = vec![false; origins.len()];
        for (node, origin) in self.continuous.clone() {
            let top = self.find(node);
            if let Some(&p) = number.get(&top)
                && !std::mem::replace(&mut conflict[p], true)
            {
                self.errors.push(
                    Diagnostic::error(
                        "clock-conflict",
                        origin.span,
                        "a clocked and a continuous-time variable are mixed",
                    )
                    .label("continuous-time here")
                    .secondary(origins[p].span, "clocked here")
                    .help("put `sample` or `hold` between them"),
                );
            }
        }
        let all: Vec<Option<usize>> = (0..self.parent.len())
            .map(|k| {
                let top = self.find(k);
                number.get(&top).copied()
            })
            .collect();
        let relations: Vec<Relation> = self
            .relations
            .iter()
            .filter_map(|r| {
                Some(Relation {
                    result: all[r.result]?,
                    argument: all[r.argument]?,
                    ..*r
                })
            })
            .collect();
        let partition_of_equation = all[n_variables..n_variables + n_equations].to_vec();
        let partitions = self.solve_clocks(&all, &relations, &origins, &partition_of_equation);
        let mut dependencies: Vec<(usize, usize)> = relations
            .iter()
            .filter(|r| r.result != r.argument)
            .map(|r| (r.result, r.argument))
            .collect();
        dependencies.sort_unstable();
        dependencies.dedup();
        Clocking {
            partitions,
            partition_of_equation,
            partition_of_variable: all[..n_variables].to_vec(),
            dependencies,
        }
    }

    /// Follows the relations from the clock constructors.
    fn solve_clocks(
        &mut self,
        all: &[Option<usize>],
        relations: &[Relation],
        origins: &[Origin],
        partition_of_equation: &[Option<usize>],
    ) -> Vec<Partition> {
        let mut bases: Vec<BaseClock> = vec![BaseClock::Seconds];
        let mut values: Vec<Option<ClockValue>> = vec![None; origins.len()];
        for (node, clock, period, origin) in self.definitions.clone() {
            let Some(p) = all[node] else {
                continue;
            };
            let base = bases
                .iter()
                .position(|&known| known == clock)
                .unwrap_or_else(|| {
                    bases.push(clock);
                    bases.len() - 1
                });
            let value = ClockValue {
                base,
                period,
                start: Ratio::ZERO,
            };
            match values[p] {
                Some(other) if other != value => {
                    self.error(
                        "clock-mismatch",
                        origin,
                        "one clocked partition has two different clocks",
                    );
                }
                _ => values[p] = Some(value),
            }
        }
        let mut solvers: Vec<Option<String>> = vec![None; origins.len()];
        for (node, method) in std::mem::take(&mut self.solvers) {
            if let Some(p) = all[node] {
                solvers[p] = Some(method);
            }
        }
        // Each pass settles at least one partition.
        for _ in 0..origins.len() {
            let mut changed = false;
            for relation in relations {
                let (r, a) = (relation.result, relation.argument);
                if solvers[r].is_some() != solvers[a].is_some() {
                    let method = solvers[r].clone().or_else(|| solvers[a].clone());
                    (solvers[r], solvers[a]) = (method.clone(), method);
                    changed = true;
                }
                let derived = match (values[r], values[a]) {
                    (None, Some(value)) => forwards(relation.operator, value).map(|new| (r, new)),
                    (Some(value), None) => backwards(relation.operator, value).map(|new| (a, new)),
                    _ => None,
                };
                if let Some((p, new)) = derived {
                    values[p] = Some(new);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for relation in relations {
            if let (Some(result), Some(argument)) =
                (values[relation.result], values[relation.argument])
                && !fits(relation.operator, result, argument)
            {
                self.error(
                    "clock-mismatch",
                    relation.origin,
                    format!(
                        "the clocks of result and argument do not fit: period {} from {} and period {} from {}",
                        result.period, result.start, argument.period, argument.start
                    ),
                );
            }
        }
        let mut partitions = Vec::with_capacity(origins.len());
        for (p, &origin) in origins.iter().enumerate() {
            let used = partition_of_equation.iter().zip(&self.flat.equations).any(
                |(&partition, equation)| {
                    partition == Some(p) && self.flat.ir.base(equation.lhs) != Base::Clock
                },
            );
            let timing = match values[p] {
                Some(value) => self.timing(value, bases[value.base], used, origin),
                None => {
                    if used && self.errors.is_empty() {
                        self.errors.push(
                            Diagnostic::error(
                                "no-clock",
                                origin.span,
                                "no clock is stated for these clocked equations",
                            )
                            .help("give one, as in `sample(u, Clock(1, 10))`"),
                        );
                    }
                    // Never ticks; only for partitions without equations, or after an error.
                    let value = ClockValue {
                        base: 0,
                        period: Ratio::ONE,
                        start: Ratio::ZERO,
                    };
                    self.timing(value, BaseClock::Seconds, false, origin)
                }
            };
            partitions.push(Partition {
                timing,
                solver: solvers[p].take(),
                origin,
            });
        }
        partitions
    }

    fn timing(&mut self, value: ClockValue, base: BaseClock, used: bool, origin: Origin) -> Timing {
        if value.start.is_negative() {
            self.error(
                "clock-mismatch",
                origin,
                "`backSample` makes the clock tick before its base clock",
            );
        }
        let (period, shift) = (value.period, value.start);
        let mut every = None;
        let (kind, start_interval) = match base {
            BaseClock::Seconds => (
                ClockKind::Periodic {
                    period: period.into(),
                    shift: shift.into(),
                },
                None,
            ),
            BaseClock::Interval(interval) => (
                ClockKind::PeriodicReal {
                    interval,
                    factor: period.into(),
                    shift: shift.into(),
                },
                None,
            ),
            BaseClock::Event {
                condition,
                start_interval,
            } => {
                if used && value.is_sub_clock() {
                    every = period.to_integer().zip(shift.to_integer());
                    if every.is_none() {
                        self.error(
                            "clock-mismatch",
                            origin,
                            "an event clock cannot be made faster or shifted by parts of a tick",
                        );
                    }
                }
                (ClockKind::Event { condition }, start_interval)
            }
        };
        Timing {
            kind,
            value,
            start_interval,
            every,
        }
    }
}

impl ClockValue {
    fn is_sub_clock(self) -> bool {
        self.period != Ratio::ONE || self.start != Ratio::ZERO
    }
}

/// The clock of the result from the clock of the argument.
fn forwards(operator: Operator, argument: ClockValue) -> Option<ClockValue> {
    let ClockValue {
        base,
        period,
        start,
    } = argument;
    Some(match operator {
        Operator::Sub(factor) => ClockValue {
            base,
            period: period.mul(factor?)?,
            start,
        },
        Operator::Super(factor) => ClockValue {
            base,
            period: period.div(factor?)?,
            start,
        },
        Operator::Shift(shift) => ClockValue {
            base,
            period,
            start: start.add(shift.mul(period)?)?,
        },
        Operator::Back(shift) => ClockValue {
            base,
            period,
            start: start.sub(shift.mul(period)?)?,
        },
        Operator::NoClock => return None,
    })
}

/// The clock of the argument from the clock of the result.
fn backwards(operator: Operator, result: ClockValue) -> Option<ClockValue> {
    let inverse = match operator {
        Operator::Sub(factor) => Operator::Super(factor),
        Operator::Super(factor) => Operator::Sub(factor),
        Operator::Shift(shift) => Operator::Back(shift),
        Operator::Back(shift) => Operator::Shift(shift),
        Operator::NoClock => Operator::NoClock,
    };
    forwards(inverse, result)
}

fn fits(operator: Operator, result: ClockValue, argument: ClockValue) -> bool {
    if result.base != argument.base {
        return false;
    }
    let whole = |slow: Ratio, fast: Ratio| {
        slow.div(fast)
            .is_some_and(|factor| factor.is_integer() && factor.is_positive())
    };
    match operator {
        Operator::NoClock => true,
        Operator::Sub(None) => {
            result.start == argument.start && whole(result.period, argument.period)
        }
        Operator::Super(None) => {
            result.start == argument.start && whole(argument.period, result.period)
        }
        _ => forwards(operator, argument) == Some(result),
    }
}
