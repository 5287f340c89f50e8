//! Equation and algorithm sections of instances.
//!
//! For-equations are unrolled, if-equations with parameter conditions are decided, others become if-expressions; when-equations keep
//! their branches; connects go to `connects`. If-equations that ask about the connection graph are kept
//! back until that is solved.

use crate::core::*;
use indexmap::IndexMap;
use saltus_ir::flat::{self, Origin, WhenAction, WhenBranch};
use saltus_ir::func::{self, AssertLevel, Place};
use saltus_ir::{Base, Builtin, Expr, ExprId, Sub, Type, Value, VarId};
use saltus_syntax::ast::{self, EquationKind, ExprKind};
use saltus_syntax::{Diagnostic, Name, Span};

/// After so many messages the rest of a model is not looked at.
const ERRORS_MAX: usize = 100;
/// Most passes of one for-equation.
const LOOP_MAX: usize = 10_000_000;

/// Where an equation stands.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'s> {
    pub(crate) inst: InstId,
    pub(crate) scope: Scope<'s>,
    pub(crate) initial: bool,
}

/// A lowered equation.
enum Lowered {
    Equal(flat::Equation),
    When(flat::When),
    Assert(flat::Assert),
    /// A call for its effect, outside when, with the condition of the if-equations around it.
    Call {
        guard: Option<ExprId>,
        call: ExprId,
        origin: Origin,
    },
}

impl<'a> Flattener<'a> {
    /// Lowers all sections of one instance (not of its components).
    pub fn instance_sections(&mut self, inst: InstId) {
        for lex in self.insts[inst].texts.clone() {
            let Some(def) = self.lexes[lex].def else {
                continue;
            };
            let ast::ClassBody::Composition { parts, .. } = &def.body else {
                continue;
            };
            for section in &parts.sections {
                let cx = Cx {
                    inst,
                    scope: Scope {
                        lex,
                        iterators: None,
                    },
                    initial: section.initial,
                };
                match &section.kind {
                    ast::SectionKind::Equations(equations) => {
                        for equation in equations {
                            if let Err(e) = self.section_equation(cx, equation) {
                                self.report(e);
                            }
                            if self.diagnostics.len() > ERRORS_MAX {
                                return;
                            }
                        }
                    }
                    ast::SectionKind::Algorithm(statements) => {
                        if let Err(e) = self.section_algorithm(cx, statements, section.span) {
                            self.report(e);
                        }
                    }
                }
            }
        }
    }

    /// Adds a diagnostic once.
    pub fn report(&mut self, diagnostic: Box<Diagnostic>) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(*diagnostic);
        }
    }

    fn section_equation(&mut self, cx: Cx<'_>, equation: &'a ast::Equation) -> Res<()> {
        let mut out = Vec::new();
        self.equation(cx, equation, &mut out)?;
        self.store(cx.initial, out)
    }

    fn store(&mut self, initial: bool, lowered: Vec<Lowered>) -> Res<()> {
        for item in lowered {
            match item {
                Lowered::Equal(e) if initial => self.sections.initial_equations.push(e),
                Lowered::Equal(e) => self.sections.equations.push(e),
                Lowered::When(w) => self.sections.whens.push(w),
                // What an initial section asks for must hold at the start only (specification 8.6).
                Lowered::Assert(a) if initial => {
                    let origin = a.origin;
                    self.once_at_start(WhenAction::Assert(a), origin);
                }
                Lowered::Assert(a) => self.sections.asserts.push(a),
                // A call for its effect outside when: once, at the start.
                Lowered::Call {
                    guard,
                    call,
                    origin,
                } => self.once_at_start(
                    WhenAction::Call {
                        guard,
                        call,
                        origin,
                    },
                    origin,
                ),
            }
        }
        Ok(())
    }

    /// `when initial() then action; end when;`
    fn once_at_start(&mut self, action: WhenAction, origin: Origin) {
        let condition = self
            .ir
            .add_scalar(Expr::Builtin(Builtin::Initial, Box::new([])), Base::Boolean);
        let branch = WhenBranch {
            conditions: vec![condition],
            body: vec![action],
        };
        self.sections.whens.push(flat::When {
            branches: vec![branch],
            origin,
        });
    }

    /// Lowers what was kept back until the connection graph was known.
    pub fn deferred_equations(&mut self) {
        for d in std::mem::take(&mut self.sections.deferred) {
            if let Err(e) = self.deferred_equation(&d) {
                self.report(e);
            }
        }
    }

    fn deferred_equation(&mut self, d: &Deferred<'a>) -> Res<()> {
        self.with_iterators(d.lex, &d.iterators, None, &mut |this, scope| {
            let cx = Cx {
                inst: d.inst,
                scope,
                initial: d.initial,
            };
            let mut out = Vec::new();
            this.equation_now(cx, d.equation, &mut out)?;
            this.store(d.initial, out)
        })
    }

    fn with_iterators(
        &mut self,
        lex: LexId,
        iterators: &[(Name, ExprId)],
        outer: Option<&IteratorScope<'_>>,
        f: &mut dyn FnMut(&mut Self, Scope<'_>) -> Res<()>,
    ) -> Res<()> {
        match iterators.split_first() {
            None => f(
                self,
                Scope {
                    lex,
                    iterators: outer,
                },
            ),
            Some(((name, value), rest)) => {
                let scope = IteratorScope {
                    name: *name,
                    value: IteratorValue::Constant(*value),
                    outer,
                };
                self.with_iterators(lex, rest, Some(&scope), f)
            }
        }
    }

    fn origin(&self, inst: InstId, span: Span) -> Origin {
        Origin {
            span,
            component: self.insts[inst].path,
        }
    }

    fn equation(
        &mut self,
        cx: Cx<'_>,
        equation: &'a ast::Equation,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        if let EquationKind::If { branches, .. } = &equation.kind
            && branches.iter().any(|(c, _)| asks_graph(c))
        {
            let mut iterators = Vec::new();
            let mut at = cx.scope.iterators;
            while let Some(it) = at {
                if let IteratorValue::Constant(e) = it.value {
                    iterators.push((it.name, e));
                }
                at = it.outer;
            }
            iterators.reverse();
            let d = Deferred {
                inst: cx.inst,
                lex: cx.scope.lex,
                iterators,
                equation,
                initial: cx.initial,
            };
            self.sections.deferred.push(d);
            return Ok(());
        }
        self.equation_now(cx, equation, out)
    }

    fn equation_now(
        &mut self,
        cx: Cx<'_>,
        equation: &'a ast::Equation,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        let origin = self.origin(cx.inst, equation.span);
        match &equation.kind {
            EquationKind::Equal { lhs, rhs } => self.equal(cx, lhs, rhs, origin, out),
            EquationKind::If {
                branches,
                otherwise,
            } => self.if_equation(cx, branches, otherwise, origin, out),
            EquationKind::For { iterators, body } => {
                self.for_equation(cx, iterators, body, &mut |this, cx| {
                    for e in body {
                        this.equation(cx, e, out)?;
                    }
                    Ok(())
                })
            }
            EquationKind::When { branches } => {
                if cx.initial {
                    return Err(Box::new(Diagnostic::error(
                        "type-mismatch",
                        equation.span,
                        "a when-equation cannot stand in an initial equation section",
                    )));
                }
                let when = self.when_equation(cx, branches, origin)?;
                out.push(Lowered::When(when));
                Ok(())
            }
            EquationKind::Connect { a, b } => self.connect(cx, a, b, equation),
            EquationKind::Call(call) => self.call_equation(cx, call, origin, out),
        }
    }

    /// Scalar elements of an expression.
    pub fn leaves(&mut self, e: ExprId, span: Span) -> Res<Vec<ExprId>> {
        let e = self.resolve_graph_operators(e)?;
        saltus_ir::scalar::scalarize(&mut self.ir, e).map_err(|error| {
            Box::new(Diagnostic::error(
                "array-size-mismatch",
                span,
                format!("cannot expand this expression: {error}"),
            ))
        })
    }

    fn equal(
        &mut self,
        cx: Cx<'_>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        if let ExprKind::Tuple(targets) = &lhs.kind {
            return self.tuple_equal(cx, targets, rhs, origin, out);
        }
        let l = self.expr(cx.scope, lhs)?;
        let r = self.expr_expect(cx.scope, rhs, Some(self.ir.type_id(l)))?;
        self.check_compatible(l, r, origin.span)?;
        self.push_equal(l, r, origin, out)
    }

    /// Both sides of an equation must have the same size and kind of value.
    fn check_compatible(&mut self, l: ExprId, r: ExprId, span: Span) -> Res<()> {
        let (lt, rt) = (self.ir.ty(l).clone(), self.ir.ty(r).clone());
        let kinds_fit = match (lt.base, rt.base) {
            (Base::Real | Base::Integer, Base::Real | Base::Integer) => true,
            // Records are compared by their leaves: the same class reached on two ways has two types.
            (Base::Record(_), Base::Record(_)) => true,
            (a, b) => a == b,
        };
        if !kinds_fit {
            return Err(Box::new(
                Diagnostic::error(
                    "type-mismatch",
                    span,
                    format!(
                        "the left side has type `{}`, the right side `{}`",
                        self.type_text_of(l),
                        self.type_text_of(r)
                    ),
                )
                .help("both sides of an equation must have the same type"),
            ));
        }
        if !crate::typing::dims_fit(&lt.dims, &rt.dims) {
            return Err(Box::new(
                Diagnostic::error(
                    "array-size-mismatch",
                    span,
                    format!(
                        "the left side has type `{}`, the right side `{}`",
                        self.type_text_of(l),
                        self.type_text_of(r)
                    ),
                )
                .help("both sides of an equation must have the same size"),
            ));
        }
        Ok(())
    }

    fn push_equal(
        &mut self,
        l: ExprId,
        r: ExprId,
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        let ls = self.leaves(l, origin.span)?;
        let rs = self.leaves(r, origin.span)?;
        if ls.len() != rs.len() {
            return Err(Box::new(Diagnostic::error(
                "array-size-mismatch",
                origin.span,
                format!(
                    "the left side has {} elements, the right side {}",
                    ls.len(),
                    rs.len()
                ),
            )));
        }
        for (lhs, rhs) in ls.into_iter().zip(rs) {
            out.push(Lowered::Equal(flat::Equation { lhs, rhs, origin }));
        }
        Ok(())
    }

    /// `(a, , b) = f(x)`
    fn tuple_equal(
        &mut self,
        cx: Cx<'_>,
        targets: &'a [Option<ast::Expr>],
        rhs: &'a ast::Expr,
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        let outputs = self.call_outputs(cx.scope, rhs)?;
        if targets.len() > outputs.len() {
            return Err(Box::new(Diagnostic::error(
                "wrong-argument",
                origin.span,
                format!(
                    "{} results are asked for, the function has {}",
                    targets.len(),
                    outputs.len()
                ),
            )));
        }
        for (target, r) in targets.iter().zip(outputs) {
            let Some(target) = target else { continue };
            let l = self.expr(cx.scope, target)?;
            self.check_compatible(l, r, target.span)?;
            self.push_equal(l, r, origin, out)?;
        }
        Ok(())
    }

    fn for_equation(
        &mut self,
        cx: Cx<'_>,
        iterators: &'a [ast::Iterator],
        body: &'a [ast::Equation],
        f: &mut dyn FnMut(&mut Self, Cx<'_>) -> Res<()>,
    ) -> Res<()> {
        let Some((iterator, rest)) = iterators.split_first() else {
            return f(self, cx);
        };
        let values = self.iterator_values(cx, iterator, body)?;
        if values.len() > LOOP_MAX {
            return Err(Box::new(Diagnostic::error(
                "array-size-mismatch",
                iterator.name.span,
                format!("this loop has {} passes", values.len()),
            )));
        }
        for value in values {
            let scope = IteratorScope {
                name: iterator.name.name,
                value: IteratorValue::Constant(value),
                outer: cx.scope.iterators,
            };
            self.for_equation(
                Cx {
                    scope: Scope {
                        lex: cx.scope.lex,
                        iterators: Some(&scope),
                    },
                    ..cx
                },
                rest,
                body,
                f,
            )?;
        }
        Ok(())
    }

    fn iterator_values(
        &mut self,
        cx: Cx<'_>,
        iterator: &'a ast::Iterator,
        body: &'a [ast::Equation],
    ) -> Res<Vec<ExprId>> {
        let e = self.equation_iterator_range(crate::typing::Cx::new(cx.scope), iterator, body)?;
        let span = iterator
            .range
            .as_ref()
            .map_or(iterator.name.span, |range| range.span);
        let value = self.const_eval(e, span)?;
        let Value::Array(array) = value else {
            return Err(Box::new(Diagnostic::error(
                "type-mismatch",
                span,
                "the range of a for-equation must be a vector",
            )));
        };
        array.elems.iter().map(|v| self.literal(v, span)).collect()
    }

    fn literal(&mut self, value: &Value, span: Span) -> Res<ExprId> {
        Ok(match value {
            Value::Real(x) => self.ir.real(*x),
            Value::Integer(i) => self.ir.integer(*i),
            Value::Boolean(b) => self.ir.boolean(*b),
            Value::String(s) => self.ir.string(s),
            Value::Enum(id, k) => self.ir.add_scalar(Expr::Enum(*id, *k), Base::Enum(*id)),
            Value::Array(_) | Value::Record(_) | Value::Object(_) | Value::Function(..) => {
                return Err(Box::new(Diagnostic::error(
                    "type-mismatch",
                    span,
                    "a scalar value is expected here",
                )));
            }
        })
    }

    fn if_equation(
        &mut self,
        cx: Cx<'_>,
        branches: &'a [(ast::Expr, Vec<ast::Equation>)],
        otherwise: &'a [ast::Equation],
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        // Decide leading parameter conditions; collect the rest.
        let mut open: Vec<(ExprId, &'a [ast::Equation])> = Vec::new();
        let mut last: &'a [ast::Equation] = otherwise;
        for (condition, body) in branches {
            let e = self.expr(cx.scope, condition)?;
            self.expect_scalar(
                e,
                Base::Boolean,
                "the condition of an if-equation",
                condition.span,
            )?;
            let e = self.resolve_graph_operators(e)?;
            if self.expr_variability(e) <= flat::Variability::Parameter
                && let Ok(value) = self.const_bool(e, condition.span)
            {
                if value {
                    last = body;
                    break;
                }
                continue;
            }
            open.push((e, body));
        }
        if open.is_empty() {
            for e in last {
                self.equation(cx, e, out)?;
            }
            return Ok(());
        }
        let bodies = open.iter().map(|(_, body)| *body).chain([last]);
        if let Some(span) = bodies.flatten().find_map(structural_equation) {
            return Err(Box::new(
                Diagnostic::error(
                    "variability-violation",
                    span,
                    "a connection cannot depend on a condition that changes during the run",
                )
                .secondary(origin.span, "the condition is not a parameter expression")
                .help("connections may only stand in if-equations whose condition is a parameter expression"),
            ));
        }
        let mut lists = Vec::new();
        for (_, body) in &open {
            let mut list = Vec::new();
            for e in *body {
                self.equation(cx, e, &mut list)?;
            }
            lists.push(list);
        }
        let mut list = Vec::new();
        for e in last {
            self.equation(cx, e, &mut list)?;
        }
        lists.push(list);
        let conditions: Vec<ExprId> = open.iter().map(|(c, _)| *c).collect();
        self.merge_branches(&conditions, lists, origin, out)
    }

    /// Branches of an if-equation that is decided at run time: equation k of each branch becomes one equation.
    fn merge_branches(
        &mut self,
        conditions: &[ExprId],
        lists: Vec<Vec<Lowered>>,
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        let mut equations: Vec<Vec<flat::Equation>> = Vec::new();
        for (k, list) in lists.into_iter().enumerate() {
            let mut plain = Vec::new();
            for item in list {
                match item {
                    Lowered::Equal(e) => plain.push(e),
                    Lowered::Assert(mut a) => {
                        // Checked only while its branch is chosen.
                        let guard = self.branch_guard(conditions, k);
                        let not_chosen = self.ir.not(guard);
                        a.condition = self.ir.or(not_chosen, a.condition);
                        out.push(Lowered::Assert(a));
                    }
                    Lowered::Call {
                        guard,
                        call,
                        origin,
                    } => {
                        let chosen = self.branch_guard(conditions, k);
                        let guard = match guard {
                            Some(inner) => self.ir.and(chosen, inner),
                            None => chosen,
                        };
                        out.push(Lowered::Call {
                            guard: Some(guard),
                            call,
                            origin,
                        });
                    }
                    Lowered::When(_) => {
                        return Err(Box::new(
                            Diagnostic::error("unsupported-feature", origin.span, "a when-equation inside an if-equation whose condition is not a parameter expression")
                                .help("move the condition of the if-equation into the when-condition"),
                        ));
                    }
                }
            }
            equations.push(plain);
        }
        let n = equations[0].len();
        if equations.iter().any(|e| e.len() != n) {
            let counts: Vec<String> = equations.iter().map(|e| e.len().to_string()).collect();
            return Err(Box::new(
                Diagnostic::error("unbalanced-model", origin.span, format!("the branches of this if-equation have different numbers of equations: {}", counts.join(", ")))
                    .help("every branch, `else` included, must have the same number of equations unless the condition is a parameter expression"),
            ));
        }
        let (discrete, real): (Vec<_>, Vec<_>) = (equations.into_iter())
            .map(|branch| self.split_discrete(branch))
            .unzip();
        self.pair_discrete(conditions, &discrete, origin, out)?;
        self.pair_real(conditions, &real, origin, out);
        Ok(())
    }

    /// The equations of a branch without a Real side, with the variable that they determine on the left, and the others.
    fn split_discrete(
        &self,
        branch: Vec<flat::Equation>,
    ) -> (Vec<flat::Equation>, Vec<flat::Equation>) {
        let is_discrete = |e: &flat::Equation| {
            [e.lhs, e.rhs]
                .iter()
                .all(|side| self.ir.base(*side) != Base::Real)
        };
        let (mut discrete, real): (Vec<_>, Vec<_>) = branch.into_iter().partition(is_discrete);
        for equation in &mut discrete {
            if !self.is_variable(equation.lhs) && self.is_variable(equation.rhs) {
                std::mem::swap(&mut equation.lhs, &mut equation.rhs);
            }
        }
        (discrete, real)
    }

    /// One equation for each variable that is not Real; all branches must determine the same ones.
    fn pair_discrete(
        &mut self,
        conditions: &[ExprId],
        branches: &[Vec<flat::Equation>],
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        let Some(by_variable) = self.by_variable(branches) else {
            return Err(Box::new(
                Diagnostic::error(
                    "type-mismatch",
                    origin.span,
                    "branches of this if-equation determine different discrete variables",
                )
                .help("write equations for the same variables in each branch"),
            ));
        };
        self.choose_by_variable(conditions, &branches[0], &by_variable, origin, out);
        Ok(())
    }

    /// Branches that determine the same variables are paired by variable, others by order.
    fn pair_real(
        &mut self,
        conditions: &[ExprId],
        branches: &[Vec<flat::Equation>],
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) {
        if let Some(by_variable) = self.by_variable(branches) {
            self.choose_by_variable(conditions, &branches[0], &by_variable, origin, out);
            return;
        }
        for k in 0..branches[0].len() {
            let residuals: Vec<ExprId> = branches
                .iter()
                .map(|es| self.ir.sub(es[k].lhs, es[k].rhs))
                .collect();
            let mut value = residuals[conditions.len()];
            for (c, r) in conditions.iter().zip(&residuals).rev() {
                value = self.ir.if_(*c, *r, value);
            }
            let zero = self.ir.real(0.0);
            out.push(Lowered::Equal(flat::Equation {
                lhs: zero,
                rhs: value,
                origin,
            }));
        }
    }

    /// The right sides of each branch by the variable on the left, if all branches have equations for the same variables.
    fn by_variable(
        &self,
        branches: &[Vec<flat::Equation>],
    ) -> Option<Vec<IndexMap<ExprId, ExprId>>> {
        let maps: Vec<IndexMap<ExprId, ExprId>> = branches
            .iter()
            .map(|es| es.iter().map(|e| (e.lhs, e.rhs)).collect())
            .collect();
        let n = branches[0].len();
        let same = maps.iter().all(|m| {
            m.len() == n
                && m.keys()
                    .all(|l| maps[0].contains_key(l) && self.is_variable(*l))
        });
        same.then_some(maps)
    }

    fn choose_by_variable(
        &mut self,
        conditions: &[ExprId],
        first: &[flat::Equation],
        by_variable: &[IndexMap<ExprId, ExprId>],
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) {
        for equation in first {
            let mut value = by_variable[conditions.len()][&equation.lhs];
            for (c, map) in conditions.iter().zip(by_variable).rev() {
                value = self.ir.if_(*c, map[&equation.lhs], value);
            }
            out.push(Lowered::Equal(flat::Equation {
                lhs: equation.lhs,
                rhs: value,
                origin,
            }));
        }
    }

    fn branch_guard(&mut self, conditions: &[ExprId], k: usize) -> ExprId {
        let mut guard = if k < conditions.len() {
            conditions[k]
        } else {
            self.ir.boolean(true)
        };
        for c in &conditions[..k.min(conditions.len())] {
            let not = self.ir.not(*c);
            guard = self.ir.and(guard, not);
        }
        guard
    }

    /// [`Self::branch_guard`], and what an if-equation further inside asks for.
    fn nested_guard(&mut self, conditions: &[ExprId], k: usize, inside: Option<ExprId>) -> ExprId {
        let guard = self.branch_guard(conditions, k);
        match inside {
            Some(inside) => self.ir.and(guard, inside),
            None => guard,
        }
    }

    fn is_variable(&self, e: ExprId) -> bool {
        match self.ir.expr(e) {
            Expr::Var(_) => true,
            Expr::Builtin(Builtin::Der, args) => matches!(self.ir.expr(args[0]), Expr::Var(_)),
            _ => false,
        }
    }

    /// The highest variability of the variables in an expression.
    pub fn expr_variability(&self, e: ExprId) -> flat::Variability {
        self.variability_with(e, flat::Variability::Discrete)
    }

    /// The same where calls of impure functions have the given variability.
    pub(crate) fn variability_with(
        &self,
        e: ExprId,
        impure: flat::Variability,
    ) -> flat::Variability {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![e];
        let mut highest = flat::Variability::Constant;
        while let Some(e) = todo.pop() {
            if !seen.insert(e) {
                continue;
            }
            match self.ir.expr(e) {
                Expr::Time => return flat::Variability::Continuous,
                Expr::Var(v) | Expr::VarArray(v) => {
                    // Zero-sized arrays have no variable.
                    if let Some(variable) = self.variables.get(*v)
                        && !(matches!(self.ir.expr(e), Expr::VarArray(_))
                            && self.ir.ty(e).known_dims().is_some_and(|d| d.contains(&0)))
                    {
                        highest = highest.max(variable.variability);
                    }
                }
                Expr::Builtin(b, args) => {
                    match b {
                        Builtin::Initial
                        | Builtin::Terminal
                        | Builtin::Sample
                        | Builtin::Edge
                        | Builtin::Change
                        | Builtin::Pre => {
                            highest = highest.max(flat::Variability::Discrete);
                        }
                        // Sizes are known whatever the variable.
                        Builtin::Size
                        | Builtin::Ndims
                        | Builtin::Cardinality
                        | Builtin::IsRoot
                        | Builtin::Rooted => continue,
                        Builtin::Der | Builtin::Delay | Builtin::SpatialDistribution => {
                            return flat::Variability::Continuous;
                        }
                        _ => {}
                    }
                    todo.extend(args.iter().copied());
                }
                Expr::Call { function, .. } if self.ir.functions[*function].impure => {
                    highest = highest.max(impure);
                    self.ir.for_each_child(e, |c| todo.push(c));
                }
                _ => self.ir.for_each_child(e, |c| todo.push(c)),
            }
        }
        highest
    }

    fn when_equation(
        &mut self,
        cx: Cx<'_>,
        branches: &'a [(ast::Expr, Vec<ast::Equation>)],
        origin: Origin,
    ) -> Res<flat::When> {
        let mut lowered = Vec::new();
        for (condition, body) in branches {
            let e = self.expr(cx.scope, condition)?;
            if !matches!(self.ir.base(e), Base::Boolean | Base::Clock) {
                return Err(Box::new(Diagnostic::error(
                    "type-mismatch",
                    condition.span,
                    "a when-condition must be Boolean",
                )));
            }
            let conditions = self.leaves(e, condition.span)?;
            let mut actions = Vec::new();
            for equation in body {
                self.when_action(cx, equation, &mut actions)?;
            }
            lowered.push(WhenBranch {
                conditions,
                body: actions,
            });
        }
        Ok(flat::When {
            branches: lowered,
            origin,
        })
    }

    fn when_action(
        &mut self,
        cx: Cx<'_>,
        equation: &'a ast::Equation,
        out: &mut Vec<WhenAction>,
    ) -> Res<()> {
        let origin = self.origin(cx.inst, equation.span);
        match &equation.kind {
            EquationKind::Equal { lhs, rhs } => {
                let mut list = Vec::new();
                self.equal(cx, lhs, rhs, origin, &mut list)?;
                for item in list {
                    let Lowered::Equal(e) = item else {
                        unreachable!("equal makes equations")
                    };
                    out.push(WhenAction::Assign {
                        var: self.assigned(cx, e.lhs, origin.span)?,
                        value: e.rhs,
                        origin,
                    });
                }
                Ok(())
            }
            EquationKind::For { iterators, body } => {
                self.for_equation(cx, iterators, body, &mut |this, cx| {
                    for e in body {
                        this.when_action(cx, e, out)?;
                    }
                    Ok(())
                })
            }
            EquationKind::If {
                branches,
                otherwise,
            } => {
                let mut conditions = Vec::new();
                let mut lists = Vec::new();
                for (condition, body) in branches {
                    let e = self.expr(cx.scope, condition)?;
                    conditions.push(self.resolve_graph_operators(e)?);
                    let mut list = Vec::new();
                    for e in body {
                        self.when_action(cx, e, &mut list)?;
                    }
                    lists.push(list);
                }
                let mut list = Vec::new();
                for e in otherwise {
                    self.when_action(cx, e, &mut list)?;
                }
                lists.push(list);
                self.merge_actions(&conditions, lists, origin, out);
                Ok(())
            }
            EquationKind::Call(call) => self.when_call(cx, call, origin, out),
            EquationKind::When { .. } => Err(Box::new(
                Diagnostic::error(
                    "type-mismatch",
                    equation.span,
                    "when-equations cannot be nested",
                )
                .help("combine the conditions with `and`"),
            )),
            EquationKind::Connect { .. } => Err(Box::new(Diagnostic::error(
                "type-mismatch",
                equation.span,
                "`connect` cannot stand in a when-equation",
            ))),
        }
    }

    /// The variable that an equation in a when-equation sets: of the class itself, or of a record or connector in it
    /// (specification 4.5).
    fn assigned(&self, cx: Cx<'_>, lhs: ExprId, span: Span) -> Res<VarId> {
        let v = self.target_variable(lhs, span)?;
        let mut at = self.insts[self.var_inst[v].0].parent;
        while let Some(inst) = at.filter(|&i| i != cx.inst) {
            let restriction = self.insts[inst].restriction;
            if matches!(
                restriction,
                ast::Restriction::Model | ast::Restriction::Block
            ) && self.insts[inst].depth > self.insts[cx.inst].depth
            {
                return Err(Box::new(
                    Diagnostic::error(
                        "variability-violation",
                        span,
                        format!(
                            "`{}` belongs to component `{}` and cannot be set in a when-equation here",
                            self.variables[v].name, self.insts[inst].path
                        ),
                    )
                    .help("set a variable of this class, and give the component its value by an equation"),
                ));
            }
            at = self.insts[inst].parent;
        }
        Ok(v)
    }

    /// The variable that stands on the left of an equation in a when-equation, or that `reinit` sets.
    fn target_variable(&self, lhs: ExprId, span: Span) -> Res<VarId> {
        match self.ir.expr(lhs) {
            Expr::Var(v) => Ok(*v),
            _ => Err(Box::new(
                Diagnostic::error(
                    "type-mismatch",
                    span,
                    "the left side of an equation in a when-equation must be a variable",
                )
                .help("write `variable = expression`"),
            )),
        }
    }

    /// If-equations inside a when-equation: a variable that is not set in the chosen branch keeps its value.
    fn merge_actions(
        &mut self,
        conditions: &[ExprId],
        lists: Vec<Vec<WhenAction>>,
        origin: Origin,
        out: &mut Vec<WhenAction>,
    ) {
        let mut vars: IndexMap<VarId, ()> = IndexMap::new();
        for action in lists.iter().flatten() {
            if let WhenAction::Assign { var, .. } = action {
                vars.insert(*var, ());
            }
        }
        for var in vars.keys() {
            let keep = self.var_expr(*var);
            let pre = self.ir.add_scalar(
                Expr::Builtin(Builtin::Pre, Box::new([keep])),
                self.variables[*var].base,
            );
            let value_in = |list: &Vec<WhenAction>| {
                list.iter().find_map(|a| match a {
                    WhenAction::Assign { var: v, value, .. } if v == var => Some(*value),
                    _ => None,
                })
            };
            let mut value = value_in(&lists[conditions.len()]).unwrap_or(pre);
            for (c, list) in conditions.iter().zip(&lists).rev() {
                value = self.ir.if_(*c, value_in(list).unwrap_or(pre), value);
            }
            out.push(WhenAction::Assign {
                var: *var,
                value,
                origin,
            });
        }
        for (k, list) in lists.into_iter().enumerate() {
            for action in list {
                match action {
                    WhenAction::Assign { .. } => {}
                    WhenAction::Reinit { var, value, origin } => {
                        let guard = self.branch_guard(conditions, k);
                        let keep = self.var_expr(var);
                        let value = self.ir.if_(guard, value, keep);
                        out.push(WhenAction::Reinit { var, value, origin });
                    }
                    WhenAction::Assert(mut a) => {
                        let guard = self.branch_guard(conditions, k);
                        let not_chosen = self.ir.not(guard);
                        a.condition = self.ir.or(not_chosen, a.condition);
                        out.push(WhenAction::Assert(a));
                    }
                    WhenAction::Terminate {
                        guard: inside,
                        message,
                        origin,
                    } => out.push(WhenAction::Terminate {
                        guard: Some(self.nested_guard(conditions, k, inside)),
                        message,
                        origin,
                    }),
                    WhenAction::Call {
                        guard: inside,
                        call,
                        origin,
                    } => out.push(WhenAction::Call {
                        guard: Some(self.nested_guard(conditions, k, inside)),
                        call,
                        origin,
                    }),
                }
            }
        }
    }

    pub fn var_expr(&mut self, var: VarId) -> ExprId {
        let base = self.variables[var].base;
        self.ir.add_scalar(Expr::Var(var), base)
    }

    fn when_call(
        &mut self,
        cx: Cx<'_>,
        call: &'a ast::Expr,
        origin: Origin,
        out: &mut Vec<WhenAction>,
    ) -> Res<()> {
        if let ExprKind::Call { function, args } = &call.kind
            && function.parts.len() == 1
        {
            match function.parts[0].name.name.as_str() {
                "reinit" => {
                    let [target, value] = two_args(args, call.span, "reinit")?;
                    let t = self.expr(cx.scope, target)?;
                    let v = self.expr(cx.scope, value)?;
                    let ts = self.leaves(t, target.span)?;
                    let vs = self.leaves(v, value.span)?;
                    if ts.len() != vs.len() {
                        return Err(Box::new(Diagnostic::error(
                            "array-size-mismatch",
                            call.span,
                            format!("`reinit` of {} elements with {} values", ts.len(), vs.len()),
                        )));
                    }
                    for (t, value) in ts.into_iter().zip(vs) {
                        out.push(WhenAction::Reinit {
                            var: self.target_variable(t, target.span)?,
                            value,
                            origin,
                        });
                    }
                    return Ok(());
                }
                "assert" => {
                    if let Some(a) = self.assertion(cx, args, call.span, origin)? {
                        out.push(WhenAction::Assert(a));
                    }
                    return Ok(());
                }
                "terminate" => {
                    let message = match args
                        .positional
                        .first()
                        .or(args.named.first().map(|(_, e)| e))
                    {
                        Some(e) => self.expr(cx.scope, e)?,
                        None => self.ir.string(""),
                    };
                    out.push(WhenAction::Terminate {
                        guard: None,
                        message,
                        origin,
                    });
                    return Ok(());
                }
                _ => {}
            }
        }
        let call = self.expr(cx.scope, call)?;
        out.push(WhenAction::Call {
            guard: None,
            call,
            origin,
        });
        Ok(())
    }

    /// `assert(condition, message, level)`; `None` if it holds at compile time.
    fn assertion(
        &mut self,
        cx: Cx<'_>,
        args: &'a ast::CallArgs,
        span: Span,
        origin: Origin,
    ) -> Res<Option<flat::Assert>> {
        let arg = |k: usize, name: &str| {
            args.positional.get(k).or_else(|| {
                args.named
                    .iter()
                    .find(|(n, _)| n.name.as_str() == name)
                    .map(|(_, e)| e)
            })
        };
        let Some(condition_syntax) = arg(0, "condition") else {
            return Err(Box::new(Diagnostic::error(
                "wrong-argument",
                span,
                "`assert` needs a condition and a message",
            )));
        };
        let condition = self.expr(cx.scope, condition_syntax)?;
        let condition = self.resolve_graph_operators(condition)?;
        if self.ir.base(condition) != Base::Boolean {
            return Err(Box::new(Diagnostic::error(
                "type-mismatch",
                condition_syntax.span,
                "the condition of `assert` must be Boolean",
            )));
        }
        let Some(message_syntax) = arg(1, "message") else {
            return Err(Box::new(
                Diagnostic::error("wrong-argument", span, "`assert` needs a message")
                    .help("write a text as second argument"),
            ));
        };
        let message = self.expr(cx.scope, message_syntax)?;
        self.expect_scalar(
            message,
            Base::String,
            "the message of `assert`",
            message_syntax.span,
        )?;
        let level = match arg(2, "level") {
            Some(e) => {
                let e2 = self.expr(cx.scope, e)?;
                match self.const_eval(e2, e.span)? {
                    Value::Enum(_, 1) => AssertLevel::Warning,
                    _ => AssertLevel::Error,
                }
            }
            None => AssertLevel::Error,
        };
        let condition = match self.leaves(condition, condition_syntax.span)?.as_slice() {
            [one] => *one,
            _ => {
                return Err(Box::new(Diagnostic::error(
                    "type-mismatch",
                    condition_syntax.span,
                    "the condition of `assert` must be a scalar",
                )));
            }
        };
        if self.ir.as_boolean(condition) == Some(true) {
            return Ok(None);
        }
        let message = self.leaves(message, span)?[0];
        Ok(Some(flat::Assert {
            condition,
            message,
            level,
            origin,
        }))
    }

    fn call_equation(
        &mut self,
        cx: Cx<'_>,
        call: &'a ast::Expr,
        origin: Origin,
        out: &mut Vec<Lowered>,
    ) -> Res<()> {
        let ExprKind::Call { function, args } = &call.kind else {
            return Err(Box::new(
                Diagnostic::error("syntax-error", call.span, "expected an equation")
                    .help("write `left = right`"),
            ));
        };
        let names: Vec<&str> = function
            .parts
            .iter()
            .map(|p| p.name.name.as_str())
            .collect();
        match names.as_slice() {
            ["assert"] => {
                if let Some(a) = self.assertion(cx, args, call.span, origin)? {
                    out.push(Lowered::Assert(a));
                }
                Ok(())
            }
            ["Connections", operator] => self.connections_operator(cx, operator, args, call.span),
            ["reinit"] => Err(Box::new(
                Diagnostic::error(
                    "type-mismatch",
                    call.span,
                    "`reinit` may only be used inside a when-equation",
                )
                .help("write `when condition then reinit(x, value); end when;`"),
            )),
            ["terminate"] => Err(Box::new(Diagnostic::error(
                "type-mismatch",
                call.span,
                "`terminate` may only be used inside a when-equation",
            ))),
            _ => {
                let e = self.expr(cx.scope, call)?;
                out.push(Lowered::Call {
                    guard: None,
                    call: e,
                    origin,
                });
                Ok(())
            }
        }
    }

    fn section_algorithm(
        &mut self,
        cx: Cx<'_>,
        statements: &'a [ast::Statement],
        span: Span,
    ) -> Res<()> {
        let lowered = self.statements(cx.scope, statements)?;
        let mut outputs: IndexMap<VarId, ()> = IndexMap::new();
        collect_outputs(&self.ir, &lowered, &mut outputs);
        self.outputs_never_reached(cx, statements, &mut outputs);
        let outputs = outputs.into_keys().collect();
        let algorithm = flat::Algorithm {
            statements: lowered,
            outputs,
            origin: self.origin(cx.inst, span),
        };
        if cx.initial {
            self.sections.initial_algorithms.push(algorithm);
        } else {
            self.sections.algorithms.push(algorithm);
        }
        Ok(())
    }

    /// Variables that are assigned in statements which are not there any more: in a loop without passes, in a branch whose condition is
    /// constant. The section determines them all the same (specification 11.1.2): they keep what they have before its first statement.
    fn outputs_never_reached(
        &mut self,
        cx: Cx<'_>,
        statements: &'a [ast::Statement],
        out: &mut IndexMap<VarId, ()>,
    ) {
        for statement in statements {
            match &statement.kind {
                ast::StatementKind::If {
                    branches,
                    otherwise,
                } => {
                    for (_, body) in branches {
                        self.assigned_in(cx, body, out);
                    }
                    self.assigned_in(cx, otherwise, out);
                }
                ast::StatementKind::For { body, .. } => self.assigned_in(cx, body, out),
                // Its own assignments are there; only loops and branches in it may be gone.
                ast::StatementKind::When { branches } => {
                    for (_, body) in branches {
                        self.outputs_never_reached(cx, body, out);
                    }
                }
                _ => {}
            }
        }
    }

    fn assigned_in(
        &mut self,
        cx: Cx<'_>,
        statements: &'a [ast::Statement],
        out: &mut IndexMap<VarId, ()>,
    ) {
        for statement in statements {
            let targets: Vec<&'a ast::ComponentRef> = match &statement.kind {
                ast::StatementKind::Assign { target, .. } => vec![target],
                ast::StatementKind::MultiAssign { targets, .. } => {
                    targets.iter().flatten().collect()
                }
                _ => Vec::new(),
            };
            for target in targets {
                // A subscript that is the variable of a loop has no value here: only elements that a pass assigns are meant.
                if let Ok(crate::typing::Target::Vars(selection)) = self.cref(cx.scope, target)
                    && selection.subs.is_empty()
                {
                    out.extend(selection.vars.into_iter().map(|v| (v, ())));
                }
            }
        }
        self.outputs_never_reached(cx, statements, out);
    }

    /// Replaces questions about the connection graph by their answers, where these are known.
    pub fn resolve_graph_operators(&mut self, e: ExprId) -> Res<ExprId> {
        if !self.graph_solved {
            return Ok(e);
        }
        let mut memo = rustc_hash::FxHashMap::default();
        Ok(self.graph_operators_in(e, &mut memo))
    }

    fn graph_operators_in(
        &mut self,
        e: ExprId,
        memo: &mut rustc_hash::FxHashMap<ExprId, ExprId>,
    ) -> ExprId {
        if let Some(done) = memo.get(&e) {
            return *done;
        }
        let answer = match self.ir.expr(e).clone() {
            Expr::Builtin(
                op @ (Builtin::IsRoot | Builtin::Rooted | Builtin::Cardinality),
                args,
            ) => match self.ir.expr(args[0]) {
                Expr::Integer(i) => {
                    let inst = InstId(*i as u32);
                    match op {
                        Builtin::IsRoot => self.ir.boolean(self.is_root(inst)),
                        Builtin::Rooted => self.ir.boolean(self.rooted(inst)),
                        _ => self.ir.integer(self.cardinality(inst)),
                    }
                }
                _ => e,
            },
            _ => {
                let mut children = Vec::new();
                self.ir.for_each_child(e, |c| children.push(c));
                let mut changed = false;
                let mut new = Vec::with_capacity(children.len());
                for c in children {
                    let r = self.graph_operators_in(c, memo);
                    changed |= r != c;
                    new.push(r);
                }
                if changed {
                    let mut it = new.into_iter();
                    self.ir.map_children(e, |_, c| it.next().unwrap_or(c))
                } else {
                    e
                }
            }
        };
        memo.insert(e, answer);
        answer
    }
}

/// The place of a connect or `Connections.…` in an equation, nested ones included.
fn structural_equation(equation: &ast::Equation) -> Option<Span> {
    match &equation.kind {
        EquationKind::Connect { .. } => Some(equation.span),
        EquationKind::Call(call) => match &call.kind {
            ExprKind::Call { function, .. }
                if function.parts.len() == 2
                    && function.parts[0].name.name.as_str() == "Connections" =>
            {
                Some(equation.span)
            }
            _ => None,
        },
        EquationKind::If {
            branches,
            otherwise,
        } => (branches.iter())
            .flat_map(|(_, body)| body)
            .chain(otherwise)
            .find_map(structural_equation),
        EquationKind::For { body, .. } => body.iter().find_map(structural_equation),
        EquationKind::Equal { .. } | EquationKind::When { .. } => None,
    }
}

/// Does a condition ask about the connection graph?
fn asks_graph(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Call { function, args } => {
            let last = function.parts.last().map(|p| p.name.name.as_str());
            matches!(last, Some("isRoot" | "rooted" | "cardinality"))
                || args.positional.iter().any(asks_graph)
                || args.named.iter().any(|(_, e)| asks_graph(e))
        }
        ExprKind::Unary(_, a) => asks_graph(a),
        ExprKind::Binary(_, a, b) => asks_graph(a) || asks_graph(b),
        ExprKind::If {
            branches,
            otherwise,
        } => branches.iter().any(|(c, e)| asks_graph(c) || asks_graph(e)) || asks_graph(otherwise),
        _ => false,
    }
}

fn two_args<'x>(args: &'x ast::CallArgs, span: Span, name: &str) -> Res<[&'x ast::Expr; 2]> {
    match args.positional.as_slice() {
        [a, b] => Ok([a, b]),
        _ => Err(Box::new(Diagnostic::error(
            "wrong-argument",
            span,
            format!("`{name}` takes two arguments"),
        ))),
    }
}

/// Variables assigned by statements. With constant subscripts only the elements that are meant.
fn collect_outputs(
    ir: &saltus_ir::Ir,
    statements: &[func::Statement],
    out: &mut IndexMap<VarId, ()>,
) {
    for statement in statements {
        match &statement.kind {
            func::StatementKind::Assign { target, .. } => target_variables(ir, target, out),
            func::StatementKind::MultiAssign { targets, .. } => targets
                .iter()
                .flatten()
                .for_each(|t| target_variables(ir, t, out)),
            func::StatementKind::If {
                branches,
                otherwise,
            } => {
                branches
                    .iter()
                    .for_each(|(_, body)| collect_outputs(ir, body, out));
                collect_outputs(ir, otherwise, out);
            }
            func::StatementKind::For { body, .. } | func::StatementKind::While { body, .. } => {
                collect_outputs(ir, body, out)
            }
            func::StatementKind::When { branches } => branches
                .iter()
                .for_each(|(_, body)| collect_outputs(ir, body, out)),
            func::StatementKind::Break
            | func::StatementKind::Return
            | func::StatementKind::Assert { .. }
            | func::StatementKind::Terminate { .. }
            | func::StatementKind::Reinit { .. }
            | func::StatementKind::Call(_) => {}
        }
    }
}

fn target_variables(ir: &saltus_ir::Ir, target: &func::Target, out: &mut IndexMap<VarId, ()>) {
    let Place::Var { first, ty } = target.place else {
        return;
    };
    let ty: &Type = ir.type_of_id(ty);
    let dims = ty.known_dims().unwrap_or_default();
    let n: usize = dims.iter().product();
    if let [func::Access::Index(subs)] = target.access.as_slice() {
        let constant: Option<Vec<usize>> = subs
            .iter()
            .map(|s| match s {
                Sub::At(e) => match ir.expr(*e) {
                    Expr::Integer(i) if *i >= 1 => Some(*i as usize - 1),
                    _ => None,
                },
                Sub::All => None,
            })
            .collect();
        if let Some(at) = constant
            && at.len() == dims.len()
            && at.iter().zip(&dims).all(|(i, d)| i < d)
        {
            let k = at.iter().zip(&dims).fold(0, |k, (i, d)| k * d + i);
            out.insert(VarId(first.0 + k as u32), ());
            return;
        }
    }
    for k in 0..n {
        out.insert(VarId(first.0 + k as u32), ());
    }
}
