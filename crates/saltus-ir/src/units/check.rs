//! Whether the units of both sides agree, in equations, bindings, assignments and calls.
//!
//! Comes in: a flat model. Goes out: warnings `unit-mismatch`, at most one for each place in the text.
//!
//! Units follow from declarations through the operations. What has no unit, or one that cannot be read, fits everything; so does a literal number. A literal factor or summand may be a
//! conversion: what it touches keeps its dimension, and its scale is no longer known. A variable without unit takes that of the variables that it equals, which carries units
//! through connections. Functions are known by the units of their inputs and outputs.
//!
//! Constants and evaluated parameters are numbers here, without the units that they had. Before a warning is given, the text is asked: every name in it must be among the variables
//! of the equation ([`text`]).

use super::text::names_fit;
use super::{ROOTS, Unit};
use crate::flat::{Equation, FlatModel, Origin, WhenAction};
use crate::func::{Place, Statement, StatementKind};
use crate::{Base, BinaryOp, Builtin, Expr, ExprId, Ir, UnaryOp, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_syntax::{Diagnostic, Name, SourceMap, Span};

/// The warnings of a model.
pub fn check(model: &FlatModel, sources: &SourceMap) -> Vec<Diagnostic> {
    let mut checker = Checker {
        model,
        sources,
        declared: declared(model),
        known: FxHashMap::default(),
        parsed: FxHashMap::default(),
        here: None,
        seen: FxHashSet::default(),
        found: Vec::new(),
    };
    checker.model();
    checker.found
}

/// What is known of an expression.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Known {
    /// Nothing, or that it fits everything.
    Any,
    /// A number in the text.
    Literal(f64),
    Unit {
        unit: Unit,
        /// Factor and offset are known, too.
        scaled: bool,
    },
}

impl Known {
    fn of(unit: Unit) -> Known {
        Known::Unit { unit, scaled: true }
    }

    const NUMBER: Known = Known::Unit {
        unit: Unit::ONE,
        scaled: true,
    };

    fn unscaled(self) -> Known {
        match self {
            Known::Unit { unit, .. } => Known::Unit {
                unit,
                scaled: false,
            },
            other => other,
        }
    }

    fn times(self, other: Known) -> Known {
        match (self, other) {
            (Known::Any, _) | (_, Known::Any) => Known::Any,
            (Known::Literal(a), Known::Literal(b)) => Known::Literal(a * b),
            (Known::Literal(a), unit) | (unit, Known::Literal(a)) => match a.abs() {
                1.0 => unit,
                a if is_pure(a) => unit.unscaled(),
                // It may have a unit that nobody wrote: `der(v) = -40*x`.
                _ => Known::Any,
            },
            (
                Known::Unit { unit: a, scaled },
                Known::Unit {
                    unit: b,
                    scaled: also,
                },
            ) => Known::Unit {
                unit: a.times(&b),
                scaled: scaled && also && a.offset == 0.0 && b.offset == 0.0,
            },
        }
    }

    fn inverse(self) -> Known {
        match self {
            Known::Any => Known::Any,
            Known::Literal(a) => Known::Literal(1.0 / a),
            Known::Unit { unit, scaled } => Known::Unit {
                unit: unit.inverse(),
                scaled: scaled && unit.offset == 0.0,
            },
        }
    }

    fn power(self, twelfths: i32) -> Known {
        match self {
            Known::Unit { unit, scaled } => match unit.power(twelfths) {
                Some(power) => Known::Unit {
                    unit: power,
                    scaled: scaled && unit.offset == 0.0,
                },
                None => Known::Any,
            },
            Known::Literal(a) => Known::Literal(a.powf(f64::from(twelfths) / f64::from(ROOTS))),
            Known::Any => Known::Any,
        }
    }
}

/// A factor that is a number and nothing else, or a conversion: small fractions, those of a circle, powers of ten, seconds of a minute and an hour.
fn is_pure(a: f64) -> bool {
    use std::f64::consts::PI;
    const FRACTIONS: [f64; 9] = [
        2.0,
        3.0,
        4.0,
        0.5,
        1.0 / 3.0,
        0.25,
        2.0 / 3.0,
        0.75,
        4.0 / 3.0,
    ];
    const CONVERSIONS: [f64; 5] = [60.0, 3600.0, 3.6, 180.0, 86_400.0];
    const ROUND_OFF: f64 = 1e-12;
    let near = |b: f64| (a / b - 1.0).abs() < ROUND_OFF;
    let is_fraction = |b: f64| near(b) || near(b * PI) || near(b / PI);
    let decades = a.log10();
    is_fraction(1.0)
        || FRACTIONS.into_iter().any(is_fraction)
        || CONVERSIONS
            .into_iter()
            .any(|b| is_fraction(b) || is_fraction(1.0 / b))
        || (2.0..=9.0).contains(&decades.abs()) && (decades - decades.round()).abs() < ROUND_OFF
}

/// Both may be added, compared and set equal.
fn agree(a: Known, b: Known) -> bool {
    match (a, b) {
        (
            Known::Unit { unit: a, scaled },
            Known::Unit {
                unit: b,
                scaled: also,
            },
        ) => a.has_dimension_of(&b) && (!(scaled && also) || a.is_same(&b)),
        _ => true,
    }
}

/// What a sum, a choice or an extremum of both is.
fn either(a: Known, b: Known) -> Known {
    match (a, b) {
        (Known::Any, other) | (other, Known::Any) => other.unscaled(),
        (Known::Literal(_), Known::Literal(_)) => Known::Any,
        (Known::Literal(x), unit) | (unit, Known::Literal(x)) => match x {
            0.0 => unit,
            _ => unit.unscaled(),
        },
        (Known::Unit { unit, scaled }, Known::Unit { scaled: also, .. }) => Known::Unit {
            unit,
            scaled: scaled && also,
        },
    }
}

/// The unit text of each variable: its own, or that of a variable to which it is equal.
fn declared(model: &FlatModel) -> Vec<Option<Name>> {
    let is_unit = |unit: &Name| !unit.as_str().trim().is_empty();
    let mut units: Vec<Option<Name>> = model
        .variables
        .iter()
        .map(|(_, v)| v.unit.filter(is_unit))
        .collect();
    let alias = |e: ExprId| match *model.ir.expr(e) {
        Expr::Var(v) if model.variables[v].base == Base::Real => Some(v.0 as usize),
        _ => None,
    };
    let pairs: Vec<(usize, usize)> = (model.equations.iter())
        .filter_map(|equation| Some((alias(equation.lhs)?, alias(equation.rhs)?)))
        .collect();
    // Chains of connections are short; what is further away stays without a unit.
    const PASSES: usize = 8;
    for _ in 0..PASSES {
        let mut has_changed = false;
        for &(a, b) in &pairs {
            let (from, to) = match (units[a], units[b]) {
                (Some(_), None) => (a, b),
                (None, Some(_)) => (b, a),
                _ => continue,
            };
            units[to] = units[from];
            has_changed = true;
        }
        if !has_changed {
            break;
        }
    }
    units
}

/// The equation, binding or assignment that is looked at.
#[derive(Clone, Copy)]
struct Here {
    span: Span,
    /// Its sides; of a binding or assignment the value.
    sides: [Option<ExprId>; 2],
}

struct Checker<'m> {
    model: &'m FlatModel,
    sources: &'m SourceMap,
    declared: Vec<Option<Name>>,
    known: FxHashMap<ExprId, Known>,
    parsed: FxHashMap<Name, Option<Unit>>,
    here: Option<Here>,
    /// Places with a warning.
    seen: FxHashSet<Span>,
    found: Vec<Diagnostic>,
}

impl<'m> Checker<'m> {
    fn model(&mut self) {
        let model = self.model;
        for (id, variable) in model.variables.iter() {
            let attributes = [variable.binding, variable.start, variable.min, variable.max];
            for value in attributes.into_iter().flatten() {
                let declared = self.of_variable(id);
                self.at(variable.span, [Some(value), None]);
                let found = self.of(value);
                self.require(declared, found, || {
                    let text = crate::print::expression(&model.ir, &model.variables, value);
                    (variable.name.as_str().to_owned(), text)
                });
            }
        }
        for equation in model.equations.iter().chain(&model.initial_equations) {
            self.equation(equation);
        }
        for partition in &model.partitions {
            partition
                .equations
                .iter()
                .for_each(|equation| self.equation(equation));
        }
        for when in &model.whens {
            for branch in &when.branches {
                self.at(when.origin.span, [None; 2]);
                for condition in &branch.conditions {
                    self.of(*condition);
                }
                branch.body.iter().for_each(|action| self.action(action));
            }
        }
        for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
            self.statements(&algorithm.statements);
        }
        for assertion in &model.asserts {
            self.at(assertion.origin.span, [None; 2]);
            self.of(assertion.condition);
        }
    }

    fn at(&mut self, span: Span, sides: [Option<ExprId>; 2]) {
        self.here = Some(Here { span, sides });
    }

    fn equation(&mut self, equation: &Equation) {
        let Origin { span, .. } = equation.origin;
        self.at(span, [Some(equation.lhs), Some(equation.rhs)]);
        let ir = &self.model.ir;
        // An equation with branches: each of them is one of its own.
        for (zero, other) in [(equation.lhs, equation.rhs), (equation.rhs, equation.lhs)] {
            if ir.as_number(zero) == Some(0.0) && matches!(ir.expr(other), Expr::If(..)) {
                return self.branches(other);
            }
        }
        let (lhs, rhs) = (self.of(equation.lhs), self.of(equation.rhs));
        self.require_equal(lhs, rhs, equation.lhs, equation.rhs);
    }

    fn branches(&mut self, e: ExprId) {
        let ir = &self.model.ir;
        match *ir.expr(e) {
            // An inner equation with branches stands as `0 - if`.
            Expr::Unary(UnaryOp::Neg, a) => self.branches(a),
            Expr::Binary(BinaryOp::Sub, zero, a) if ir.as_number(zero) == Some(0.0) => {
                self.branches(a);
            }
            Expr::Binary(BinaryOp::Sub, a, zero) if ir.as_number(zero) == Some(0.0) => {
                self.branches(a);
            }
            Expr::If(condition, a, b) => {
                self.of(condition);
                self.branches(a);
                self.branches(b);
            }
            _ => {
                self.of(e);
            }
        }
    }

    fn assignment(&mut self, var: VarId, value: ExprId, span: Span) {
        self.at(span, [Some(value), None]);
        let (declared, found) = (self.of_variable(var), self.of(value));
        let model = self.model;
        self.require(declared, found, || {
            let text = crate::print::expression(&model.ir, &model.variables, value);
            (model.variables[var].name.as_str().to_owned(), text)
        });
    }

    fn action(&mut self, action: &WhenAction) {
        match action {
            WhenAction::Assign { var, value, origin }
            | WhenAction::Reinit { var, value, origin } => {
                self.assignment(*var, *value, origin.span);
            }
            WhenAction::Assert(assertion) => {
                self.at(assertion.origin.span, [None; 2]);
                self.of(assertion.condition);
            }
            WhenAction::Terminate { .. } | WhenAction::Call { .. } => {}
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign { target, value } => match target.place {
                    Place::Var { first, .. } if target.access.is_empty() => {
                        self.assignment(first, *value, statement.span);
                    }
                    _ => {
                        self.at(statement.span, [None; 2]);
                        self.of(*value);
                    }
                },
                StatementKind::Reinit { var, value } => {
                    self.assignment(*var, *value, statement.span);
                }
                StatementKind::If {
                    branches,
                    otherwise,
                } => {
                    branches.iter().for_each(|(_, body)| self.statements(body));
                    self.statements(otherwise);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                    self.statements(body);
                }
                StatementKind::When { branches } => {
                    branches.iter().for_each(|(_, body)| self.statements(body));
                }
                _ => {}
            }
        }
    }

    fn unit(&mut self, text: Option<Name>) -> Known {
        let Some(text) = text else {
            return Known::Any;
        };
        let unit = *(self.parsed.entry(text)).or_insert_with(|| Unit::parse(text.as_str()));
        unit.map_or(Known::Any, Known::of)
    }

    fn of_variable(&mut self, var: VarId) -> Known {
        match self.model.variables[var].base {
            Base::Real => self.unit(self.declared[var.0 as usize]),
            _ => Known::Any,
        }
    }

    fn of(&mut self, e: ExprId) -> Known {
        if let Some(known) = self.known.get(&e) {
            return *known;
        }
        let known = self.compute(e);
        self.known.insert(e, known);
        known
    }

    fn compute(&mut self, e: ExprId) -> Known {
        let ir = &self.model.ir;
        match ir.expr(e) {
            Expr::Real(bits) => Known::Literal(f64::from_bits(*bits)),
            Expr::Integer(i) => Known::Literal(*i as f64),
            // `sin(time)` and `10*time`: what makes a number of it has not been written.
            Expr::Time => Known::Any,
            Expr::Var(v) | Expr::VarArray(v) => self.of_variable(*v),
            Expr::Local(local) => self.unit(ir.locals[*local].unit),
            Expr::Unary(UnaryOp::Neg, a) => match self.of(*a) {
                Known::Literal(x) => Known::Literal(-x),
                known => known,
            },
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b),
            Expr::If(condition, a, b) => {
                self.of(*condition);
                self.alike(*a, *b)
            }
            Expr::Builtin(builtin, args) => self.builtin(*builtin, args),
            Expr::Call { function, args } => {
                for (k, arg) in args.iter().enumerate() {
                    let found = self.of(*arg);
                    let Some(local) = ir.functions[*function].inputs.get(k) else {
                        continue;
                    };
                    let wanted = self.unit(ir.locals[*local].unit);
                    let model = self.model;
                    self.require(wanted, found, || {
                        let input = ir.locals[*local].name.as_str();
                        let function = ir.functions[*function].name.as_str();
                        let text = crate::print::expression(&model.ir, &model.variables, *arg);
                        (format!("input {input} of {function}"), text)
                    });
                }
                self.output(e)
            }
            Expr::Output { call, .. } => {
                self.of(*call);
                self.output(e)
            }
            Expr::Leaf { of, .. } => {
                self.of(*of);
                match ir.ty(*of).base {
                    Base::Real => self.output(*of),
                    _ => Known::Any,
                }
            }
            Expr::Index { base, .. } => self.of(*base),
            Expr::Array(elements) => {
                let known: Vec<Known> = elements.iter().map(|e| self.of(*e)).collect();
                match known.split_first() {
                    Some((first, rest)) if rest.iter().all(|k| k == first) => *first,
                    _ => Known::Any,
                }
            }
            _ => {
                ir.for_each_child(e, |child| {
                    self.of(child);
                });
                Known::Any
            }
        }
    }

    /// The unit that a function declares for what a call gives.
    fn output(&mut self, e: ExprId) -> Known {
        let ir = &self.model.ir;
        let (call, index) = match ir.expr(e) {
            Expr::Output { call, index } => (*call, *index as usize),
            _ => (e, 0),
        };
        let Expr::Call { function, .. } = ir.expr(call) else {
            return Known::Any;
        };
        let local = ir.functions[*function].outputs.get(index);
        local.map_or(Known::Any, |local| self.unit(ir.locals[*local].unit))
    }

    /// Two values of which one is taken, or that are compared.
    fn alike(&mut self, a: ExprId, b: ExprId) -> Known {
        let (x, y) = (self.compared(a), self.compared(b));
        self.require_equal(x, y, a, b);
        either(x, y)
    }

    /// Beside another quantity `time` is in seconds.
    fn compared(&mut self, e: ExprId) -> Known {
        match self.model.ir.expr(e) {
            Expr::Time => Known::of(Unit::base(2)),
            _ => self.of(e),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Known {
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let known = self.alike(a, b);
                match (self.of(a), self.of(b)) {
                    (Known::Literal(x), Known::Literal(y)) if op == BinaryOp::Add => {
                        Known::Literal(x + y)
                    }
                    (Known::Literal(x), Known::Literal(y)) => Known::Literal(x - y),
                    _ => known,
                }
            }
            BinaryOp::Mul => self.of(a).times(self.of(b)),
            BinaryOp::Div => self.of(a).times(self.of(b).inverse()),
            BinaryOp::Pow => match (self.of(a), self.of(b)) {
                (base, Known::Literal(exponent)) => power(base, exponent),
                (Known::Unit { unit, .. }, _) if unit == Unit::ONE => Known::NUMBER,
                _ => Known::Any,
            },
            op if op.is_relation() => {
                self.alike(a, b);
                Known::Any
            }
            _ => {
                self.of(a);
                self.of(b);
                Known::Any
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[ExprId]) -> Known {
        use Builtin::*;
        let known: Vec<Known> = args.iter().map(|arg| self.of(*arg)).collect();
        let first = known.first().copied().unwrap_or(Known::Any);
        match (builtin, args) {
            (Abs | NoEvent | Pre | Previous | Hold | ClockSample | SubSample | SuperSample, _)
            | (ShiftSample | BackSample | Ceil | Floor | Delay | Fill | Transpose | Vector, _)
            | (Scalar | Matrix | Promote | Diagonal | Symmetric | Sum | NoClock, _) => first,
            (Smooth, [_, value, ..]) => self.of(*value),
            (Sqrt, _) => first.power(ROOTS / 2),
            (
                Sin | Cos | Tan | Sinh | Cosh | Tanh | Exp | Log | Log10 | Asin | Acos | Atan,
                [x],
            ) => {
                let model = self.model;
                self.require(Known::NUMBER, first, || {
                    let text = crate::print::expression(&model.ir, &model.variables, *x);
                    let name = format!("{builtin:?}").to_lowercase();
                    (format!("the argument of {name}"), text)
                });
                Known::NUMBER
            }
            (Atan2, [a, b]) => {
                self.alike(*a, *b);
                Known::NUMBER
            }
            (Min | Max | Mod | Rem | Homotopy, [a, b]) => self.alike(*a, *b),
            (Min | Max, [_]) => first,
            (Builtin::Div, [_, _]) => first.times(known[1].inverse()).unscaled(),
            (Der, _) => first.times(Known::of(Unit::base(2)).inverse()),
            (SemiLinear, [_, up, down]) => {
                let slope = self.alike(*up, *down);
                first.times(slope)
            }
            _ => Known::Any,
        }
    }

    fn require_equal(&mut self, x: Known, y: Known, a: ExprId, b: ExprId) {
        let model = self.model;
        let text = |e| crate::print::expression(&model.ir, &model.variables, e);
        if !agree(x, y) {
            let labels = [self.declaration(a), self.declaration(b)];
            self.mismatch(
                x,
                y,
                (text(a), text(b)),
                labels.into_iter().flatten().collect(),
            );
        }
    }

    fn require(&mut self, x: Known, y: Known, texts: impl FnOnce() -> (String, String)) {
        if !agree(x, y) {
            self.mismatch(x, y, texts(), Vec::new());
        }
    }

    /// The first variable with a unit in an expression, and what it is in.
    fn declaration(&self, e: ExprId) -> Option<(Span, String)> {
        let var = first_variable(&self.model.ir, e, &|v| {
            self.declared[v.0 as usize].is_some()
        })?;
        let variable = &self.model.variables[var];
        let unit = self.declared[var.0 as usize]?;
        Some((variable.span, format!("`{}` is in `{unit}`", variable.name)))
    }

    fn mismatch(
        &mut self,
        x: Known,
        y: Known,
        (a, b): (String, String),
        labels: Vec<(Span, String)>,
    ) {
        let Some(Here { span, sides }) = self.here else {
            return;
        };
        let sides: Vec<ExprId> = sides.into_iter().flatten().collect();
        if !self.seen.insert(span) || !names_fit(self.model, self.sources, span, &sides) {
            return;
        }
        let (of_a, of_b) = (shown(x), shown(y));
        let message = format!("units do not agree: `{a}` is in `{of_a}`, `{b}` is in `{of_b}`");
        let mut d = Diagnostic::warning("unit-mismatch", span, message);
        for (place, text) in labels {
            if place != span {
                d = d.secondary(place, text);
            }
        }
        self.found.push(d.help(
            "add the factor that is missing, connect the quantity that is meant, or correct a `unit`; a conversion by a number is understood",
        ));
    }
}

fn power(base: Known, exponent: f64) -> Known {
    let twelfths = exponent * f64::from(ROOTS);
    let is_whole = twelfths.fract() == 0.0 && twelfths.abs() < f64::from(i16::MAX);
    match base {
        Known::Unit { unit, .. } if unit == Unit::ONE => base,
        _ if is_whole => base.power(twelfths as i32),
        _ => Known::Any,
    }
}

fn first_variable(ir: &Ir, e: ExprId, wanted: &dyn Fn(VarId) -> bool) -> Option<VarId> {
    match ir.expr(e) {
        Expr::Var(v) if wanted(*v) => Some(*v),
        _ => {
            let mut found = None;
            ir.for_each_child(e, |child| {
                if found.is_none() {
                    found = first_variable(ir, child, wanted);
                }
            });
            found
        }
    }
}

/// A unit as people call it, with its factor where that matters.
fn shown(known: Known) -> String {
    const CALLED: [&str; 18] = [
        "N", "Pa", "J", "W", "C", "V", "F", "Ohm", "S", "Wb", "T", "H", "Hz", "degC", "mm", "km",
        "deg", "bar",
    ];
    let Known::Unit { unit, scaled } = known else {
        return "1".to_owned();
    };
    let is_called = |name: &&&str| {
        Unit::parse(name).is_some_and(|u| match scaled {
            true => u.is_same(&unit),
            false => u.has_dimension_of(&unit) && u.factor == 1.0 && u.offset == 0.0,
        })
    };
    let text = match CALLED.iter().find(is_called) {
        Some(name) if *name != "Hz" => (*name).to_owned(),
        _ => unit.in_base_units(),
    };
    let known_scale = CALLED.contains(&text.as_str()) || !scaled;
    match known_scale || (unit.factor == 1.0 && unit.offset == 0.0) {
        true => text,
        false => format!("{} {text}", unit.factor),
    }
}
