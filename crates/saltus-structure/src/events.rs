//! Event extraction (specification 3.7.5, 8.5): what makes events becomes a variable with an equation of its own.
//!
//! Comes in: an expression as written. Goes out: the expression in which relations between continuous quantities are Boolean
//! variables `$rel[k]`, `sample` and `terminal` are flags, `floor`, `mod`, … of continuous quantities use a discrete
//! Integer, `edge`, `change`, `der`, `delay`, `semiLinear`, `noEvent`, `smooth` are gone. `initial()` and `homotopy` stay (see
//! [`crate::rewrite::Form`]). Equal relations share one variable, complements too.

use crate::late::inline_late;
use crate::system::{Crossing, CrossingClass, Delay, TimeEvent};
use crate::text::expr_text;
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::FxHashMap;
use saltus_ir::flat::Origin;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, VarId};
use saltus_syntax::{Diagnostic, Name};

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Context {
    /// Relations make events.
    Events,
    /// In `noEvent` or in an assertion: they do not.
    Quiet,
    /// In a when-body: evaluated at events only; relations that exist already are used.
    When,
    /// In an initial equation.
    Initial,
    /// In an equation made of an algorithm: relations make events, but not in branches that an edge guards.
    Algorithm,
}

/// What an expression depends on; the larger includes the smaller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Dependence {
    Parameters,
    Discrete,
    Time,
    Continuous,
}

/// Stands for `time` while linear coefficients are found.
const TIME_VAR: VarId = VarId(u32::MAX);

pub(crate) struct Extractor<'a> {
    pub(crate) work: &'a mut Work,
    memo: [FxHashMap<ExprId, ExprId>; 5],
    dependence: Vec<Option<Dependence>>,
    /// (a, b, strict) → variable and the operator it was first seen with.
    relations: FxHashMap<(ExprId, ExprId, bool), (VarId, BinaryOp)>,
    floors: FxHashMap<ExprId, VarId>,
    samples: FxHashMap<(ExprId, ExprId), VarId>,
    delays: FxHashMap<Box<[ExprId]>, VarId>,
    conditions: FxHashMap<ExprId, VarId>,
    origin: Origin,
}

impl<'a> Extractor<'a> {
    pub(crate) fn new(work: &'a mut Work) -> Extractor<'a> {
        let origin = Origin {
            span: work.flat.span,
            component: saltus_syntax::Name::new(""),
        };
        Extractor {
            work,
            memo: Default::default(),
            dependence: Vec::new(),
            relations: FxHashMap::default(),
            floors: FxHashMap::default(),
            samples: FxHashMap::default(),
            delays: FxHashMap::default(),
            conditions: FxHashMap::default(),
            origin,
        }
    }

    /// The expression without event-making nodes, with late functions inlined.
    pub(crate) fn extract(&mut self, root: ExprId, context: Context, origin: Origin) -> ExprId {
        let root = inline_late(&mut self.work.flat.ir, root);
        self.extract_as_is(root, context, origin)
    }

    /// The expression without event-making nodes, calls kept.
    pub(crate) fn extract_as_is(
        &mut self,
        root: ExprId,
        context: Context,
        origin: Origin,
    ) -> ExprId {
        enum Todo {
            Visit(ExprId, Context),
            Build(ExprId, Context),
            /// The first is whatever the second has become.
            Same(ExprId, ExprId, Context),
        }
        self.origin = origin;
        let mut stack = vec![Todo::Visit(root, context)];
        while let Some(todo) = stack.pop() {
            match todo {
                Todo::Visit(id, context) => {
                    if self.memo[context as usize].contains_key(&id) {
                        continue;
                    }
                    if let Some(expanded) = self.expand(id) {
                        stack.push(Todo::Same(id, expanded, context));
                        stack.push(Todo::Visit(expanded, context));
                        continue;
                    }
                    stack.push(Todo::Build(id, context));
                    if !is_leaf(self.work.flat.ir.expr(id)) {
                        let mut k = 0;
                        let expr = self.work.flat.ir.expr(id);
                        self.work.flat.ir.for_each_child(id, |child| {
                            stack.push(Todo::Visit(child, self.child_context(expr, k, context)));
                            k += 1;
                        });
                    }
                }
                Todo::Build(id, context) => {
                    if !self.memo[context as usize].contains_key(&id) {
                        let new = self.build(id, context);
                        self.memo[context as usize].insert(id, new);
                    }
                }
                Todo::Same(id, expanded, context) => {
                    let new = self.memo[context as usize][&expanded];
                    self.memo[context as usize].insert(id, new);
                }
            }
        }
        self.memo[context as usize][&root]
    }

    /// What an (extracted) expression depends on.
    pub(crate) fn dependence(&mut self, e: ExprId) -> Dependence {
        let ir = &self.work.flat.ir;
        self.dependence.resize(ir.n_nodes(), None);
        let mut stack = vec![(e, false)];
        while let Some((id, children_done)) = stack.pop() {
            if self.dependence[id.0 as usize].is_some() {
                continue;
            }
            let of_var = |v: VarId| match self.work.class(v) {
                Class::Known | Class::FreeParameter | Class::Unused => Dependence::Parameters,
                Class::Flag | Class::Held | Class::Discrete => Dependence::Discrete,
                Class::Input | Class::Delayed | Class::Continuous => Dependence::Continuous,
            };
            let own = match ir.expr(id) {
                Expr::Var(v) => Some(of_var(*v)),
                Expr::VarArray(first) => {
                    let n = ir.leaf_count(ir.type_id(id)).unwrap_or(0) as u32;
                    Some(
                        (0..n)
                            .map(|k| of_var(VarId(first.0 + k)))
                            .max()
                            .unwrap_or(Dependence::Parameters),
                    )
                }
                Expr::Time => Some(Dependence::Time),
                Expr::Builtin(Builtin::Pre, args) => {
                    let Expr::Var(v) = *ir.expr(args[0]) else {
                        unreachable!("the front end lets `pre` have variables only")
                    };
                    Some(of_var(v).min(Dependence::Discrete))
                }
                Expr::Builtin(Builtin::Initial, _) => Some(Dependence::Discrete),
                Expr::Builtin(Builtin::Der, _) => Some(Dependence::Continuous),
                _ => None,
            };
            if let Some(own) = own {
                self.dependence[id.0 as usize] = Some(own);
            } else if children_done {
                let mut max = Dependence::Parameters;
                let dependence = &self.dependence;
                ir.for_each_child(id, |c| {
                    max = max.max(dependence[c.0 as usize].unwrap_or(Dependence::Parameters))
                });
                self.dependence[id.0 as usize] = Some(max);
            } else {
                stack.push((id, true));
                ir.for_each_child(id, |c| stack.push((c, false)));
            }
        }
        self.dependence[e.0 as usize].unwrap_or(Dependence::Continuous)
    }

    fn child_context(&self, expr: &Expr, child: usize, context: Context) -> Context {
        let quiet = match context {
            Context::Events | Context::Algorithm => Context::Quiet,
            other => other,
        };
        match expr {
            Expr::If(condition, ..)
                if child == 1
                    && context == Context::Algorithm
                    && self.is_when_guard(*condition) =>
            {
                Context::When
            }
            Expr::Builtin(Builtin::NoEvent, _) => quiet,
            Expr::Builtin(Builtin::Smooth, args) => match self.work.flat.ir.as_number(args[0]) {
                Some(p) if p >= 1.0 => quiet,
                _ => context,
            },
            Expr::Builtin(Builtin::Homotopy, _) if child == 1 => quiet,
            _ => context,
        }
    }

    /// A conjunction or disjunction with an operator that is true only at an instant.
    fn is_when_guard(&self, condition: ExprId) -> bool {
        let mut stack = vec![condition];
        while let Some(e) = stack.pop() {
            match self.work.flat.ir.expr(e) {
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

    /// Operators that are defined by an expression.
    fn expand(&mut self, id: ExprId) -> Option<ExprId> {
        let ir = &mut self.work.flat.ir;
        match ir.expr(id).clone() {
            Expr::Builtin(Builtin::SemiLinear, args) => {
                let zero = ir.real(0.0);
                // Continuous, so the specification (3.7.4) leaves events out. Where a flow rests at zero, round-off would be one at every step.
                let positive = ir.binary(BinaryOp::Ge, args[0], zero);
                let ty = ir.type_id(positive);
                let positive = ir.add(Expr::Builtin(Builtin::NoEvent, [positive].into()), ty);
                let plus = ir.mul(args[0], args[1]);
                let minus = ir.mul(args[0], args[2]);
                Some(ir.if_(positive, plus, minus))
            }
            Expr::Builtin(Builtin::Der, args) => match ir.expr(args[0]).clone() {
                Expr::Var(_) => None,
                // A second or higher derivative: the innermost `der` is that of a variable or expression, and one fewer is left.
                Expr::Builtin(Builtin::Der, inner) => {
                    let mut left = 1;
                    let mut operand = inner[0];
                    while let Expr::Builtin(Builtin::Der, inner) = ir.expr(operand) {
                        left += 1;
                        operand = inner[0];
                    }
                    let mut value = match ir.expr(operand) {
                        Expr::Var(_) => self.der(operand),
                        _ => self.derivative(operand),
                    };
                    for _ in 0..left {
                        let der = Expr::Builtin(Builtin::Der, Box::new([value]));
                        value = self.work.flat.ir.add_scalar(der, Base::Real);
                    }
                    Some(value)
                }
                _ => Some(self.derivative(args[0])),
            },
            _ => None,
        }
    }

    /// `der` of an expression in terms of `der` of variables; 0 where there is none, which is reported.
    fn derivative(&mut self, e: ExprId) -> ExprId {
        crate::derivative::der_operator(self.work, e).unwrap_or_else(|why| {
            let text = expr_text(self.work, e);
            self.work.error(
                Diagnostic::error(
                    "not-differentiable",
                    self.origin.span,
                    format!("`{text}` cannot be differentiated"),
                )
                .note(why),
            );
            self.work.flat.ir.real(0.0)
        })
    }

    fn build(&mut self, id: ExprId, context: Context) -> ExprId {
        let mut expr = self.work.flat.ir.expr(id).clone();
        if !is_leaf(&expr) {
            let shape = expr.clone();
            let mut k = 0;
            let contexts: Vec<Context> = {
                let mut contexts = Vec::new();
                self.work.flat.ir.for_each_child(id, |_| {
                    contexts.push(self.child_context(&shape, k, context));
                    k += 1;
                });
                contexts
            };
            let mut k = 0;
            let memo = &self.memo;
            expr.for_each_child_mut(|child| {
                *child = memo[contexts[k] as usize][child];
                k += 1;
            });
        }
        let ty = self.work.flat.ir.type_id(id);
        match expr {
            Expr::Binary(op, a, b) if op.is_relation() => {
                let ir = &self.work.flat.ir;
                if ir.base(a) != Base::Real && ir.base(b) != Base::Real {
                    return self.work.flat.ir.binary(op, a, b);
                }
                self.relation(op, a, b, context)
            }
            Expr::Builtin(op, args) => self.builtin(id, op, &args, ty, context),
            other => self.work.flat.ir.add_folded(other, ty),
        }
    }

    fn builtin(
        &mut self,
        id: ExprId,
        op: Builtin,
        args: &[ExprId],
        ty: saltus_ir::TypeId,
        context: Context,
    ) -> ExprId {
        match op {
            Builtin::NoEvent => args[0],
            Builtin::Smooth => args[1],
            Builtin::Pre | Builtin::Previous => self.pre(args[0], context),
            // As an expression it is `b and not pre(b)` (specification 3.7.5), at the start too.
            Builtin::Edge if matches!(*self.work.flat.ir.expr(args[0]), Expr::Var(_)) => {
                let before = self.pre(args[0], Context::When);
                let ir = &mut self.work.flat.ir;
                let not_before = ir.not(before);
                ir.and(args[0], not_before)
            }
            Builtin::Edge => self.edge(args[0]),
            Builtin::Change => match self.work.flat.ir.expr(args[0]) {
                Expr::Var(_) => self.work.flat.ir.add(Expr::Builtin(op, args.into()), ty),
                _ => self.work.flat.ir.boolean(false),
            },
            Builtin::Terminal => {
                let flag = match self.work.terminal_flag {
                    Some(flag) => flag,
                    None => {
                        let flag = self.work.new_var(
                            "$terminal",
                            Base::Boolean,
                            Class::Flag,
                            self.origin.span,
                        );
                        self.work.terminal_flag = Some(flag);
                        flag
                    }
                };
                self.work.var(flag)
            }
            Builtin::Sample => self.sample(args),
            Builtin::Der => self.der(args[0]),
            Builtin::Delay => self.delay(args),
            Builtin::SpatialDistribution => self.transport(args),
            Builtin::Floor
            | Builtin::Ceil
            | Builtin::Integer
            | Builtin::Div
            | Builtin::Mod
            | Builtin::Rem
                if matches!(context, Context::Events | Context::Algorithm)
                    && args
                        .iter()
                        .any(|&a| self.dependence(a) > Dependence::Discrete) =>
            {
                self.rounding(op, args)
            }
            Builtin::FirstTick
            | Builtin::Interval
            | Builtin::InStream
            | Builtin::ActualStream
            | Builtin::Hold
            | Builtin::ClockSample
            | Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock
            | Builtin::Clock => {
                let text = expr_text(self.work, id);
                self.work.error(Diagnostic::error(
                    "not-supported",
                    self.origin.span,
                    format!("`{}` is not supported here: `{text}`", op.name()),
                ));
                self.work.flat.ir.add(Expr::Builtin(op, args.into()), ty)
            }
            _ => {
                let node = self.work.flat.ir.builtin_typed(op, args, ty);
                match self.work.flat.ir.expr(node) {
                    // The user wants no branch of theirs located.
                    Expr::Builtin(
                        Builtin::Sign | Builtin::Abs | Builtin::Min | Builtin::Max,
                        _,
                    ) if context == Context::Quiet => {
                        let quiet = Expr::Builtin(Builtin::NoEvent, Box::new([node]));
                        self.work.flat.ir.add(quiet, ty)
                    }
                    _ => node,
                }
            }
        }
    }

    /// `edge` of a condition; one that is not a variable gets one, `$when[k]`.
    pub(crate) fn edge(&mut self, condition: ExprId) -> ExprId {
        if self.work.flat.ir.as_boolean(condition).is_some() {
            return self.work.flat.ir.boolean(false);
        }
        let node = match *self.work.flat.ir.expr(condition) {
            Expr::Var(_) => condition,
            _ => {
                let var = match self.conditions.get(&condition) {
                    Some(&var) => var,
                    None => self.new_condition(condition),
                };
                self.work.var(var)
            }
        };
        self.work.flat.ir.add_scalar(
            Expr::Builtin(Builtin::Edge, Box::new([node])),
            Base::Boolean,
        )
    }

    fn new_condition(&mut self, condition: ExprId) -> VarId {
        let name = format!("$when[{}]", self.conditions.len() + 1);
        let var = self
            .work
            .new_var(&name, Base::Boolean, Class::Discrete, self.origin.span);
        let text = expr_text(self.work, condition);
        self.work.flat.variables[var].description = saltus_syntax::Name::new(&text);
        self.work.auxiliary.push(var);
        self.conditions.insert(condition, var);
        let lhs = self.work.var(var);
        self.work.equations.push(Eq {
            lhs,
            rhs: condition,
            initial: None,
            late: None,
            kind: Kind::Assign {
                var,
                discrete: true,
            },
            origin: self.origin,
        });
        var
    }

    fn pre(&mut self, arg: ExprId, context: Context) -> ExprId {
        let ir = &self.work.flat.ir;
        let outside_when = matches!(
            context,
            Context::Events | Context::Quiet | Context::Algorithm
        );
        match *ir.expr(arg) {
            Expr::Var(v) => {
                let class = self.work.class(v);
                if outside_when && matches!(class, Class::Continuous | Class::Delayed) {
                    let name = self.work.name(v);
                    let declared = self.work.span(v);
                    let error = self
                        .pre_of_continuous(name.as_str())
                        .secondary(declared, format!("`{name}` is declared here"));
                    self.work.error(error);
                }
                self.work.pre(v)
            }
            Expr::Time => {
                if outside_when {
                    let error = self.pre_of_continuous("time");
                    self.work.error(error);
                }
                arg
            }
            // An element that has been folded to a constant.
            _ => arg,
        }
    }

    fn pre_of_continuous(&self, name: &str) -> Diagnostic {
        Diagnostic::error(
            "pre-of-continuous",
            self.origin.span,
            format!(
                "`pre({name})` stands outside a when-clause, but `{name}` is a continuous-time variable"
            ),
        )
        .help("use `pre` of discrete-time variables, or write the equation in a when-clause")
    }

    fn der(&mut self, arg: ExprId) -> ExprId {
        let Expr::Var(v) = *self.work.flat.ir.expr(arg) else {
            return self.work.flat.ir.real(0.0);
        };
        match self.work.class(v) {
            Class::Continuous => {
                let der = self.work.der_of(v);
                self.work.var(der)
            }
            Class::Input | Class::Delayed => {
                let name = self.work.name(v);
                self.work.error(Diagnostic::error(
                    "not-differentiable",
                    self.origin.span,
                    format!("`{name}` is given from outside: its derivative is not known"),
                ));
                self.work.flat.ir.real(0.0)
            }
            Class::Known
            | Class::FreeParameter
            | Class::Flag
            | Class::Held
            | Class::Discrete
            | Class::Unused => self.work.flat.ir.real(0.0),
        }
    }

    fn sample(&mut self, args: &[ExprId]) -> ExprId {
        let (start, interval) = (args[0], args[1]);
        if let Some(&flag) = self.samples.get(&(start, interval)) {
            return self.work.var(flag);
        }
        if self.dependence(start).max(self.dependence(interval)) > Dependence::Parameters {
            self.work.error(Diagnostic::error(
                "sample-not-parameter",
                self.origin.span,
                "start and interval of `sample` must be parameter expressions",
            ));
        }
        let name = format!("$sample[{}]", self.samples.len() + 1);
        let flag = self
            .work
            .new_var(&name, Base::Boolean, Class::Flag, self.origin.span);
        self.samples.insert((start, interval), flag);
        self.work.time_events.push(TimeEvent::Sample {
            flag,
            start,
            interval,
        });
        self.work.var(flag)
    }

    fn delay(&mut self, args: &[ExprId]) -> ExprId {
        if let Some(&result) = self.delays.get(args) {
            return self.work.var(result);
        }
        let (expr, delay_time) = (args[0], args[1]);
        let delay_max = args.get(2).copied().unwrap_or(delay_time);
        let range = (self.dependence(delay_time) >= Dependence::Time).then(|| {
            let time = self.work.flat.ir.time();
            let past = self.work.flat.ir.sub(time, delay_time);
            self.delay_range(past)
        });
        self.memory(args, [expr, delay_time, delay_max], expr, range, None)
    }

    /// `spatialDistribution(entering, x, positive, points…, values…)`: what leaves (specification 3.7.4.5).
    fn transport(&mut self, args: &[ExprId]) -> ExprId {
        if let Some(&result) = self.delays.get(args) {
            return self.work.var(result);
        }
        let (head, profile) = args.split_at(3);
        let (points, values) = profile.split_at(profile.len() / 2);
        let &[entering, x, positive] = head else {
            unreachable!("a transport has three arguments and a profile")
        };
        let ir = &mut self.work.flat.ir;
        let (zero, one) = (ir.real(0.0), ir.real(1.0));
        let direction = ir.if_(positive, one, zero);
        let read = ir.sub(x, direction);
        let at_first = ir.if_(positive, values[values.len() - 1], values[0]);
        let range = Some(self.delay_range(read));
        let profile = Some((points.to_vec(), values.to_vec()));
        self.memory(args, [entering, x, direction], at_first, range, profile)
    }

    /// A variable whose value comes from the past of an expression.
    fn memory(
        &mut self,
        key: &[ExprId],
        [expr, delay_time, delay_max]: [ExprId; 3],
        at_first: ExprId,
        range: Option<(VarId, VarId)>,
        profile: Option<(Vec<ExprId>, Vec<ExprId>)>,
    ) -> ExprId {
        let index = self.work.delays.len();
        let span = self.origin.span;
        let result = self.work.new_var(
            &format!("$delay[{}]", index + 1),
            Base::Real,
            Class::Delayed,
            span,
        );
        self.delays.insert(key.into(), result);
        let name = format!("$delay[{}].stretch", index + 1);
        let stretch = self.work.new_var(&name, Base::Integer, Class::Flag, span);
        self.work.delays.push(Delay {
            result,
            expr,
            delay_time,
            delay_max,
            stretch,
            range,
            profile,
        });
        let stretch = self.work.var(stretch);
        let lhs = self.work.var(result);
        let ir = &mut self.work.flat.ir;
        let number = ir.integer(index as i64);
        let rhs = ir.add_scalar(
            Expr::Builtin(
                Builtin::Delay,
                Box::new([number, expr, delay_time, delay_max, stretch]),
            ),
            Base::Real,
        );
        self.work.equations.push(Eq {
            lhs,
            rhs,
            initial: Some((lhs, at_first)),
            late: None,
            kind: Kind::Assign {
                var: result,
                discrete: false,
            },
            origin: self.origin,
        });
        lhs
    }

    /// Events where the delayed time passes a breaking point of the past.
    fn delay_range(&mut self, past: ExprId) -> (VarId, VarId) {
        let index = self.work.delays.len();
        let mut end = |side: &str| {
            let name = format!("$delay[{}].{side}", index + 1);
            self.work
                .new_var(&name, Base::Real, Class::Flag, self.origin.span)
        };
        let (from, to) = (end("from"), end("to"));
        for (op, side) in [(BinaryOp::Lt, from), (BinaryOp::Ge, to)] {
            let side = self.work.var(side);
            // Not a threshold of time: where it is, the instance decides from the same difference.
            self.new_relation(op, past, side, Dependence::Continuous, None);
        }
        (from, to)
    }

    /// A relation in which at least one side is Real.
    fn relation(&mut self, op: BinaryOp, a: ExprId, b: ExprId, context: Context) -> ExprId {
        let dependence = self.dependence(a).max(self.dependence(b));
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            // In `noEvent` it comes from the body of a function, where it is allowed.
            if dependence > Dependence::Parameters && context != Context::Quiet {
                let literal = self.work.flat.ir.binary(op, a, b);
                if self.work.flat.ir.as_boolean(literal).is_some() {
                    return literal;
                }
                let text = expr_text(self.work, literal);
                self.work.error(
                    Diagnostic::error(
                        "real-equality",
                        self.origin.span,
                        format!("`{text}` compares Real values for equality outside a function"),
                    )
                    .help("compare with a tolerance: `abs(a - b) < eps`"),
                );
            }
            return self.work.flat.ir.binary(op, a, b);
        }
        if dependence <= Dependence::Discrete {
            return self.work.flat.ir.binary(op, a, b);
        }
        match context {
            Context::Quiet | Context::Initial => self.work.flat.ir.binary(op, a, b),
            Context::When => match self.find_relation(op, a, b) {
                Some(found) => found,
                None => self.work.flat.ir.binary(op, a, b),
            },
            Context::Events | Context::Algorithm => match self.find_relation(op, a, b) {
                Some(found) => found,
                None => {
                    let folded = self.work.flat.ir.binary(op, a, b);
                    if self.work.flat.ir.as_boolean(folded).is_some() {
                        return folded;
                    }
                    let var = self.new_relation(op, a, b, dependence, None);
                    self.work.var(var)
                }
            },
        }
    }

    fn find_relation(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        let (key, wanted) = relation_key(op, a, b);
        let &(var, seen) = self.relations.get(&key)?;
        let node = self.work.var(var);
        Some(if seen == wanted {
            node
        } else {
            self.work.flat.ir.not(node)
        })
    }

    /// Adds the variable of a relation. `initially`: its value in the initial system, if not the relation itself.
    fn new_relation(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        dependence: Dependence,
        initially: Option<bool>,
    ) -> VarId {
        let (key, seen) = relation_key(op, a, b);
        let name = format!("$rel[{}]", self.work.relations.len() + 1);
        let relation = self
            .work
            .new_var(&name, Base::Boolean, Class::Discrete, self.origin.span);
        self.work.relations.push(relation);
        self.relations.insert(key, (relation, seen));
        let literal = self.work.flat.ir.binary(op, a, b);
        let text = expr_text(self.work, literal);
        self.work.flat.variables[relation].description = Name::new(&text);
        let rhs = if dependence == Dependence::Time {
            self.threshold(relation, op, a, b)
        } else {
            None
        };
        let rhs = match rhs {
            Some(rhs) => rhs,
            None => {
                let function = self.work.flat.ir.sub(a, b);
                self.work.crossings.push(Crossing {
                    relation,
                    function,
                    rising: matches!(op, BinaryOp::Gt | BinaryOp::Ge),
                    closed: matches!(op, BinaryOp::Ge | BinaryOp::Le),
                    class: CrossingClass::General,
                    slides: false,
                    origin: self.origin,
                    text,
                });
                literal
            }
        };
        let lhs = self.work.var(relation);
        let initial = initially.map(|value| (lhs, self.work.flat.ir.boolean(value)));
        self.work.equations.push(Eq {
            lhs,
            rhs,
            initial,
            late: None,
            kind: Kind::Assign {
                var: relation,
                discrete: true,
            },
            origin: self.origin,
        });
        relation
    }

    /// A relation that is linear in time: α·time + β op 0 changes at -β/α. Adds the time event and returns the relation
    /// written as a comparison with that instant, so that it holds at the event whatever the rounding.
    fn threshold(&mut self, relation: VarId, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        let ir = &mut self.work.flat.ir;
        let difference = ir.sub(a, b);
        let time = ir.time();
        let stand_in = ir.var(TIME_VAR, Base::Real);
        let mut memo = FxHashMap::default();
        for id in ir.reachable(&[difference]) {
            let new = if id == time {
                stand_in
            } else {
                ir.rebuild_folded(id, &memo)
            };
            memo.insert(id, new);
        }
        let (slope, offset) = ir.linear_coefficients(memo[&difference], TIME_VAR)?;
        if let Some(slope) = ir.as_number(slope) {
            if slope == 0.0 {
                return None;
            }
            let factor = ir.real(slope);
            let quotient = ir.div(offset, factor);
            let at = ir.neg(quotient);
            let op = if slope > 0.0 { op } else { mirrored(op) };
            self.work.time_events.push(TimeEvent::Threshold {
                relation,
                at,
                after: changes_after(op),
            });
            return Some(self.work.flat.ir.binary(op, time, at));
        }
        // The sign of the slope is known at run time only.
        let quotient = ir.div(offset, slope);
        let at = ir.neg(quotient);
        let zero = ir.real(0.0);
        let positive = ir.binary(BinaryOp::Gt, slope, zero);
        let negative = ir.binary(BinaryOp::Lt, slope, zero);
        let rising = ir.binary(op, time, at);
        let falling = ir.binary(mirrored(op), time, at);
        let constant = ir.binary(op, offset, zero);
        let rest = ir.if_(negative, falling, constant);
        let value = ir.if_(positive, rising, rest);
        // One event for each direction, of which only that of the slope comes: the other would be a neighbouring float away and
        // take with it what happens at the instant.
        let never = ir.real(f64::INFINITY);
        for (direction, op) in [(positive, op), (negative, mirrored(op))] {
            let at = ir.if_(direction, at, never);
            self.work.time_events.push(TimeEvent::Threshold {
                relation,
                at,
                after: changes_after(op),
            });
        }
        Some(value)
    }

    /// A value that is no Real and yet changes between events: an Integer or Boolean that a function computes from continuous arguments (no relation of its
    /// body makes an event, specification 8.5), or that stands in `noEvent`. A discrete variable would keep it until some event comes; so its changes become
    /// events: k = floor(e + 1/2) for an Integer, e as 0 or 1 against 1/2 for a Boolean. Other expressions, and all of type Real, stay as they are.
    pub(crate) fn follow(&mut self, e: ExprId, origin: Origin) -> ExprId {
        let base = self.work.flat.ir.base(e);
        let is_discrete = matches!(base, Base::Integer | Base::Boolean | Base::Enum(_));
        if !is_discrete || !self.moves_between_events(e) {
            return e;
        }
        self.origin = origin;
        let ir = &mut self.work.flat.ir;
        let half = ir.real(0.5);
        match base {
            Base::Boolean => {
                let (one, zero) = (ir.real(1.0), ir.real(0.0));
                let number = ir.if_(e, one, zero);
                self.relation(BinaryOp::Gt, number, half, Context::Events)
            }
            Base::Integer => {
                let shifted = ir.add_(e, half);
                self.floor(shifted)
            }
            _ => {
                let number = ir.call_builtin(Builtin::Integer, &[e]);
                let shifted = ir.add_(number, half);
                // The event is what counts: the value itself is that of the expression.
                self.floor(shifted);
                e
            }
        }
    }

    /// An (extracted) expression has a part, outside of what an edge guards, that depends on time or on continuous variables.
    fn moves_between_events(&mut self, e: ExprId) -> bool {
        if self.dependence(e) <= Dependence::Discrete {
            return false;
        }
        let ir = &self.work.flat.ir;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            let moves = |v: VarId| match self.work.class(v) {
                Class::Continuous | Class::Delayed => true,
                Class::Input => self.work.flat.variables[v].base == Base::Real,
                _ => false,
            };
            match ir.expr(e) {
                Expr::If(condition, _, other) if self.is_when_guard(*condition) => {
                    stack.extend([*condition, *other]);
                }
                Expr::Time => return true,
                Expr::Var(v) if moves(*v) => return true,
                Expr::VarArray(first) => {
                    let n = ir.leaf_count(ir.type_id(e)).unwrap_or(0) as u32;
                    if (0..n).any(|k| moves(VarId(first.0 + k))) {
                        return true;
                    }
                }
                // At the instant of an event only.
                Expr::Builtin(Builtin::Pre | Builtin::Edge | Builtin::Change, _) => {}
                _ => ir.for_each_child(e, |child| stack.push(child)),
            }
        }
        false
    }

    fn rounding(&mut self, op: Builtin, args: &[ExprId]) -> ExprId {
        match op {
            Builtin::Floor | Builtin::Integer => self.floor(args[0]),
            Builtin::Ceil => {
                let negated = self.work.flat.ir.neg(args[0]);
                let floor = self.floor(negated);
                self.work.flat.ir.neg(floor)
            }
            Builtin::Mod => {
                let quotient = self.work.flat.ir.div(args[0], args[1]);
                let floor = self.floor(quotient);
                let ir = &mut self.work.flat.ir;
                let whole = ir.mul(floor, args[1]);
                ir.sub(args[0], whole)
            }
            _ => {
                let quotient = self.work.flat.ir.div(args[0], args[1]);
                let zero = self.work.flat.ir.real(0.0);
                let positive = self.relation(BinaryOp::Ge, quotient, zero, Context::Events);
                let below = self.floor(quotient);
                let negated = self.work.flat.ir.neg(quotient);
                let above = self.floor(negated);
                let ir = &mut self.work.flat.ir;
                let above = ir.neg(above);
                let whole = ir.if_(positive, below, above);
                if op == Builtin::Div {
                    return whole;
                }
                let whole = ir.mul(whole, args[1]);
                ir.sub(args[0], whole)
            }
        }
    }

    /// A discrete Integer k = floor(u): it changes when u leaves [pre(k), pre(k) + 1).
    fn floor(&mut self, u: ExprId) -> ExprId {
        if let Some(&k) = self.floors.get(&u) {
            return self.work.var(k);
        }
        let dependence = self.dependence(u);
        if dependence <= Dependence::Discrete {
            return self.work.flat.ir.call_builtin(Builtin::Integer, &[u]);
        }
        let name = format!("$floor[{}]", self.floors.len() + 1);
        let k = self
            .work
            .new_var(&name, Base::Integer, Class::Discrete, self.origin.span);
        self.work.auxiliary.push(k);
        self.floors.insert(u, k);
        let before = self.work.pre(k);
        let ir = &mut self.work.flat.ir;
        let one = ir.integer(1);
        let above = ir.add_(before, one);
        let below = ir.sub(before, one);
        let up = self.new_relation(BinaryOp::Ge, u, above, dependence, Some(false));
        let down = self.new_relation(BinaryOp::Lt, u, before, dependence, Some(false));
        let (up, down) = (self.work.var(up), self.work.var(down));
        let lhs = self.work.var(k);
        let ir = &mut self.work.flat.ir;
        let floor = ir.call_builtin(Builtin::Integer, &[u]);
        let higher = ir.call_builtin(Builtin::Max, &[floor, above]);
        let lower = ir.call_builtin(Builtin::Min, &[floor, below]);
        let rest = ir.if_(down, lower, before);
        let rhs = ir.if_(up, higher, rest);
        self.work.equations.push(Eq {
            lhs,
            rhs,
            initial: Some((lhs, floor)),
            late: None,
            kind: Kind::Assign {
                var: k,
                discrete: true,
            },
            origin: self.origin,
        });
        lhs
    }
}

/// Nodes whose children are not visited: `pre`, `change` and the like have a variable as argument.
fn is_leaf(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Builtin(
            Builtin::Pre | Builtin::Previous | Builtin::Change | Builtin::Der,
            _
        )
    )
}

/// A relation `time op at` changes just after `at`, not at it.
fn changes_after(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Gt | BinaryOp::Le)
}

fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// Operands in the order of their ids, the class {<, >=} or {>, <=} of the operator, and the operator for that order.
fn relation_key(op: BinaryOp, a: ExprId, b: ExprId) -> ((ExprId, ExprId, bool), BinaryOp) {
    let (a, b, op) = if a <= b {
        (a, b, op)
    } else {
        (b, a, mirrored(op))
    };
    ((a, b, matches!(op, BinaryOp::Lt | BinaryOp::Ge)), op)
}
