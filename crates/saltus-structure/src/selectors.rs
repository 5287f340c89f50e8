//! Products with a factor that switches become branches.
//!
//! An ideal diode may be written `u = m*s; i = (1 - m)*s` with `m = if s < 0 then 1 else 0`, as `0 = m*i + (1 - m)*u`, or as
//! `i = s*(if off then Goff else 1)`. All of them say `if … then s else 0`, and the choice of modes works on branches. So a product whose factor takes a
//! few known values, each under conditions that change at events only, is replaced by a branch for each value:
//!
//! ```text
//! m*s   with m = if s < 0 then 1 else 0   becomes   if s < 0 then s else 0
//! ```
//!
//! Comes in: equations with relations extracted, values of parameters. Goes out: the same equations; only products change that have unknowns, and whose
//! factor may be zero. Afterwards a factor that may be zero is one whose values are not known here (a variable that a `when` assigns). The system with
//! branches is used where modes have structures of their own; where one structure serves all of them the products stay as the model has them.

use crate::changes::Changes;
use crate::numeric::{known_nonzero, parameter_value};
use crate::work::{Class, Kind, Work};
use crate::zeros::declare_structural;
use rustc_hash::FxHashMap;
use saltus_ir::{BinaryOp, Builtin, Expr, ExprId, Ir, UnaryOp, VarId};

/// Values that a factor may take.
const LEAVES_MAX: usize = 16;
/// Values of a variable that remembers which one it has.
const REMEMBERED_MAX: usize = 4;
/// Definitions that are looked up one after the other.
const DEPTH_MAX: usize = 8;

/// The values of an expression by conditions that change at events only.
#[derive(Clone, Debug)]
enum Values {
    Leaf(ExprId),
    If(ExprId, Box<Values>, Box<Values>),
}

impl Values {
    fn n_leaves(&self) -> usize {
        match self {
            Values::Leaf(_) => 1,
            Values::If(_, a, b) => a.n_leaves() + b.n_leaves(),
        }
    }

    fn any_leaf(&self, is: &mut impl FnMut(ExprId) -> bool) -> bool {
        match self {
            Values::Leaf(leaf) => is(*leaf),
            Values::If(_, a, b) => a.any_leaf(is) || b.any_leaf(is),
        }
    }

    /// Each leaf replaced, under the conditions that hold there.
    fn map(
        &self,
        chosen: &mut Chosen,
        f: &mut impl FnMut(ExprId, &mut Chosen) -> Values,
    ) -> Values {
        match self {
            Values::Leaf(leaf) => f(*leaf, chosen),
            Values::If(condition, a, b) => match chosen.of(*condition) {
                Some(true) => a.map(chosen, f),
                Some(false) => b.map(chosen, f),
                None => {
                    chosen.0.push((*condition, true));
                    let a = a.map(chosen, f);
                    chosen.0.pop();
                    chosen.0.push((*condition, false));
                    let b = b.map(chosen, f);
                    chosen.0.pop();
                    Values::If(*condition, Box::new(a), Box::new(b))
                }
            },
        }
    }

    /// As an expression, every leaf times `other`.
    fn times(&self, ir: &mut Ir, other: ExprId) -> ExprId {
        match self {
            Values::Leaf(leaf) if ir.is_zero(*leaf) => ir.real(0.0),
            Values::Leaf(leaf) if ir.is_one(*leaf) => other,
            Values::Leaf(leaf) => ir.mul(*leaf, other),
            Values::If(condition, a, b) => {
                let (a, b) = (a.times(ir, other), b.times(ir, other));
                ir.if_(*condition, a, b)
            }
        }
    }
}

/// Conditions that have been decided on the way to a leaf.
#[derive(Default)]
struct Chosen(Vec<(ExprId, bool)>);

impl Chosen {
    fn of(&self, condition: ExprId) -> Option<bool> {
        (self.0.iter()).find_map(|&(c, value)| (c == condition).then_some(value))
    }
}

/// The system with such products replaced in all continuous equations; `None` if it has none.
pub(crate) fn with_branches(work: &mut Work) -> Option<Box<Work>> {
    let plain = work.equations.clone();
    if !branch_products(work) {
        return None;
    }
    let branched = Box::new(work.clone());
    work.equations = plain;
    Some(branched)
}

/// True if there are any.
fn branch_products(work: &mut Work) -> bool {
    let sides = continuous_sides(work);
    let definitions = definitions(work);
    let nodes = work.flat.ir.reachable(&sides);
    let changes = Changes::of_all(work, &nodes);
    let switching = |id: &ExprId| changes.get(id) == Some(&Changes::AtEvents);
    let defined = |work: &Work, id: ExprId| match work.flat.ir.expr(id) {
        Expr::Var(v) => definitions.contains_key(v),
        _ => false,
    };
    let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut any = false;
    for id in nodes {
        let ir = &work.flat.ir;
        let mut new = None;
        if let Expr::Binary(BinaryOp::Mul, a, b) = *ir.expr(id)
            && ir.ty(id).is_scalar()
            && !switching(&id)
        {
            for (factor, other) in [(a, b), (b, a)] {
                let ir = &work.flat.ir;
                let candidate = switching(&factor) || defined(work, factor) || is_sum(ir, factor);
                if new.is_none() && candidate && has_unknowns(work, other) {
                    let other = memo[&other];
                    new = branched(work, &definitions, factor, other);
                }
            }
        }
        any |= new.is_some();
        let new = new.unwrap_or_else(|| work.flat.ir.rebuild_folded(id, &memo));
        memo.insert(id, new);
    }
    if !any {
        return false;
    }
    for eq in work
        .equations
        .iter_mut()
        .filter(|eq| eq.kind == Kind::Continuous)
    {
        eq.lhs = memo[&eq.lhs];
        eq.rhs = memo[&eq.rhs];
        for (lhs, rhs) in eq.initial.iter_mut().chain(eq.late.iter_mut()) {
            *lhs = memo[lhs];
            *rhs = memo[rhs];
        }
    }
    true
}

/// `1 - m` with a Real `m` that an equation defines.
fn is_sum(ir: &Ir, id: ExprId) -> bool {
    matches!(
        ir.expr(id),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) | Expr::Unary(UnaryOp::Neg, _)
    )
}

fn continuous_sides(work: &Work) -> Vec<ExprId> {
    let equations = (work.equations.iter()).filter(|eq| eq.kind == Kind::Continuous);
    equations
        .flat_map(|eq| {
            let others = eq.initial.iter().chain(&eq.late).flat_map(|&(l, r)| [l, r]);
            [eq.lhs, eq.rhs].into_iter().chain(others)
        })
        .collect()
}

/// What is known of the values of a variable.
enum Definition {
    /// It equals this expression.
    Expression(ExprId),
    /// It takes one of these, and remembers which (`m = if pre(m) == 1 then … else …`).
    OneOf(Vec<ExprId>),
}

/// Number variables with an equation `v = e` that holds at all times, in which `e` changes at events only.
fn definitions(work: &Work) -> FxHashMap<VarId, Definition> {
    let ir = &work.flat.ir;
    let mut found = FxHashMap::default();
    let equations = (work.equations.iter()).filter(|eq| eq.initial.is_none() && eq.late.is_none());
    for eq in equations {
        if !matches!(eq.kind, Kind::Continuous | Kind::Discrete) {
            continue;
        }
        for (side, other) in [(eq.lhs, eq.rhs), (eq.rhs, eq.lhs)] {
            if let Expr::Var(v) = *ir.expr(side)
                && matches!(work.class(v), Class::Continuous | Class::Discrete)
                && matches!(
                    ir.base(side),
                    saltus_ir::Base::Real | saltus_ir::Base::Integer
                )
                && matches!(ir.expr(other), Expr::If(..))
            {
                let definition = match is_event_expression(work, other) {
                    true => Some(Definition::Expression(other)),
                    false if work.class(v) == Class::Discrete => one_of(work, other),
                    false => None,
                };
                if let Some(definition) = definition {
                    found.entry(v).or_insert(definition);
                }
            }
        }
    }
    found
}

/// The numbers between which an `if` chooses.
fn one_of(work: &Work, e: ExprId) -> Option<Definition> {
    let ir = &work.flat.ir;
    let (mut leaves, mut open) = (Vec::new(), vec![e]);
    while let Some(id) = open.pop() {
        match *ir.expr(id) {
            Expr::If(_, a, b) => open.extend([a, b]),
            _ if ir.as_number(id).is_some() => leaves.push(id),
            _ => return None,
        }
    }
    leaves.sort_unstable();
    leaves.dedup();
    (leaves.len() <= REMEMBERED_MAX).then_some(Definition::OneOf(leaves))
}

/// Changes at events only, and does not depend on what was before.
fn is_event_expression(work: &Work, e: ExprId) -> bool {
    let nodes = work.flat.ir.reachable(&[e]);
    let remembers = |id: &ExprId| {
        matches!(
            work.flat.ir.expr(*id),
            Expr::Builtin(Builtin::Pre | Builtin::Edge | Builtin::Change, _)
        )
    };
    !nodes.iter().any(remembers) && Changes::of_all(work, &nodes)[&e] <= Changes::AtEvents
}

fn has_unknowns(work: &mut Work, e: ExprId) -> bool {
    let vars = work.incidence(&[e]);
    vars.iter().any(|&v| work.class(v) == Class::Continuous)
}

/// `factor*other` by branches, if the values of the factor are known and one of them is zero.
fn branched(
    work: &mut Work,
    definitions: &FxHashMap<VarId, Definition>,
    factor: ExprId,
    other: ExprId,
) -> Option<ExprId> {
    let values = values_of(work, definitions, factor, &mut Chosen::default(), 0)?;
    if !matches!(values, Values::If(..)) {
        return None;
    }
    let mut may_vanish = |leaf| !known_nonzero(work, leaf);
    if !values.any_leaf(&mut may_vanish) {
        return None;
    }
    let values = without_zero_parameters(work, &values);
    Some(values.times(&mut work.flat.ir, other))
}

/// A parameter that is zero (`Ron`) takes its term out of a branch, and is structural by that.
fn without_zero_parameters(work: &mut Work, values: &Values) -> Values {
    match values {
        Values::If(condition, a, b) => {
            let a = without_zero_parameters(work, a);
            let b = without_zero_parameters(work, b);
            Values::If(*condition, Box::new(a), Box::new(b))
        }
        Values::Leaf(leaf) if work.flat.ir.is_literal(*leaf) => values.clone(),
        Values::Leaf(leaf) if parameter_value(work, *leaf) == Some(0.0) => {
            declare_structural(work, &[*leaf], &FxHashMap::default());
            Values::Leaf(work.flat.ir.real(0.0))
        }
        Values::Leaf(_) => values.clone(),
    }
}

/// The values of an expression; `None` if one of them is not known to be a number that the parameters give.
fn values_of(
    work: &mut Work,
    definitions: &FxHashMap<VarId, Definition>,
    e: ExprId,
    chosen: &mut Chosen,
    depth: usize,
) -> Option<Values> {
    if depth > DEPTH_MAX {
        return None;
    }
    if work.flat.ir.as_number(e).is_some() || parameter_value(work, e).is_some() {
        return Some(Values::Leaf(e));
    }
    let values = match *work.flat.ir.expr(e) {
        Expr::Var(v) => match definitions.get(&v)? {
            Definition::Expression(e) => values_of(work, definitions, *e, chosen, depth + 1)?,
            Definition::OneOf(leaves) => by_value(&mut work.flat.ir, e, leaves, chosen),
        },
        Expr::If(condition, a, b) => match chosen.of(condition) {
            Some(true) => values_of(work, definitions, a, chosen, depth + 1)?,
            Some(false) => values_of(work, definitions, b, chosen, depth + 1)?,
            None => {
                if !is_event_condition(work, condition) {
                    return None;
                }
                chosen.0.push((condition, true));
                let a = values_of(work, definitions, a, chosen, depth + 1);
                chosen.0.pop();
                chosen.0.push((condition, false));
                let b = values_of(work, definitions, b, chosen, depth + 1);
                chosen.0.pop();
                Values::If(condition, Box::new(a?), Box::new(b?))
            }
        },
        Expr::Unary(UnaryOp::Neg, a) => {
            let a = values_of(work, definitions, a, chosen, depth + 1)?;
            a.map(chosen, &mut |leaf, _| Values::Leaf(work.flat.ir.neg(leaf)))
        }
        Expr::Binary(op, a, b)
            if matches!(
                op,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div
            ) =>
        {
            let a = values_of(work, definitions, a, chosen, depth + 1)?;
            let b = values_of(work, definitions, b, chosen, depth + 1)?;
            let ir = &mut work.flat.ir;
            a.map(chosen, &mut |x, chosen| {
                b.map(chosen, &mut |y, _| Values::Leaf(ir.binary(op, x, y)))
            })
        }
        _ => return None,
    };
    (values.n_leaves() <= LEAVES_MAX).then_some(values)
}

/// The value of a variable by comparing it with those that it may have; the last one is left over.
fn by_value(ir: &mut Ir, var: ExprId, leaves: &[ExprId], chosen: &Chosen) -> Values {
    let (last, others) = leaves.split_last().expect("an `if` has branches");
    let mut values = Values::Leaf(*last);
    for leaf in others.iter().rev() {
        let condition = ir.binary(BinaryOp::Eq, var, *leaf);
        values = match chosen.of(condition) {
            Some(true) => Values::Leaf(*leaf),
            Some(false) => values,
            None => Values::If(condition, Box::new(Values::Leaf(*leaf)), Box::new(values)),
        };
    }
    values
}

fn is_event_condition(work: &Work, condition: ExprId) -> bool {
    let nodes = work.flat.ir.reachable(&[condition]);
    Changes::of_all(work, &nodes)[&condition] <= Changes::AtEvents
}
