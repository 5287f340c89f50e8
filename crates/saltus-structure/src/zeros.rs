//! Terms whose coefficient is zero for the parameters' values (DESIGN section 4: such a term is not there).
//!
//! Comes in: equations and the values of parameters. A *zero factor* is an expression in parameters whose value is exactly 0 and that
//! multiplies something. First it only forbids to solve an equation for what it multiplies: the structure then holds for
//! any value of the parameters, which stay free to be set at the start of a run. If that leaves the system singular (Ron = 0:
//! two potentials become one), the terms are taken out of the equations, and the parameters behind them are structural.

use crate::numeric::parameter_value;
use crate::work::{Class, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Ir, VarId};

/// Why a parameter behind a term that was taken out cannot be set later.
const REASON: &str = "a term that it multiplies by zero was taken out of the equations";

/// Zero factors in the continuous equations.
pub(crate) fn find_zero_factors(work: &mut Work) -> FxHashSet<ExprId> {
    let mut zeros = FxHashSet::default();
    if !work
        .values
        .iter()
        .flatten()
        .any(|v| v.as_f64() == Some(0.0))
    {
        return zeros;
    }
    let roots = equation_sides(work);
    let ir = &work.flat.ir;
    // Children come before parents.
    let mut parametric: FxHashMap<ExprId, bool> = FxHashMap::default();
    let nodes = ir.reachable(&roots);
    for &id in &nodes {
        let fixed = match ir.expr(id) {
            Expr::Var(v) => work.class(*v) == Class::Known,
            Expr::VarArray(_) | Expr::Time => false,
            Expr::Builtin(Builtin::Pre | Builtin::Delay, _) => false,
            Expr::Call { function, .. } if ir.functions[*function].impure => false,
            _ => {
                let mut all = true;
                ir.for_each_child(id, |child| all &= parametric.get(&child) == Some(&true));
                all
            }
        };
        parametric.insert(id, fixed);
    }
    for id in nodes {
        if parametric[&id] {
            continue;
        }
        for factor in factors(&work.flat.ir, id).into_iter().flatten() {
            if parametric[&factor]
                && !work.flat.ir.is_literal(factor)
                && parameter_value(work, factor) == Some(0.0)
            {
                zeros.insert(factor);
            }
        }
    }
    zeros
}

/// What makes a node zero if it is zero.
pub(crate) fn factors(ir: &Ir, id: ExprId) -> [Option<ExprId>; 2] {
    match *ir.expr(id) {
        Expr::Binary(BinaryOp::Mul, a, b) if ir.ty(id).is_scalar() => [Some(a), Some(b)],
        Expr::Binary(BinaryOp::Div, a, _) if ir.ty(id).is_scalar() => [Some(a), None],
        _ => [None, None],
    }
}

/// Takes the terms with zero factors out of all equations and declares the parameters behind them structural.
pub(crate) fn drop_zero_terms(work: &mut Work, zeros: &FxHashSet<ExprId>) {
    let roots = equation_sides(work);
    let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut used: Vec<ExprId> = Vec::new();
    for id in work.flat.ir.reachable(&roots) {
        let zero = (factors(&work.flat.ir, id).into_iter().flatten()).find(|f| zeros.contains(f));
        let new = match zero {
            Some(factor) => {
                used.push(factor);
                match work.flat.ir.base(id) {
                    Base::Integer => work.flat.ir.integer(0),
                    _ => work.flat.ir.real(0.0),
                }
            }
            None => work.flat.ir.rebuild_folded(id, &memo),
        };
        memo.insert(id, new);
    }
    for eq in &mut work.equations {
        eq.lhs = memo[&eq.lhs];
        eq.rhs = memo[&eq.rhs];
        for (lhs, rhs) in eq.initial.iter_mut().chain(eq.late.iter_mut()) {
            *lhs = memo[lhs];
            *rhs = memo[rhs];
        }
    }
    declare_structural(work, &used);
}

fn equation_sides(work: &Work) -> Vec<ExprId> {
    let sides = |eq: &crate::work::Eq| {
        let mut sides = vec![eq.lhs, eq.rhs];
        sides.extend(eq.initial.iter().chain(&eq.late).flat_map(|&(l, r)| [l, r]));
        sides
    };
    work.equations.iter().flat_map(sides).collect()
}

/// The parameters in `expressions`, and those that these depend on.
fn declare_structural(work: &mut Work, expressions: &[ExprId]) {
    let mut open: Vec<VarId> = work.incidence(expressions);
    let mut seen: FxHashSet<VarId> = open.iter().copied().collect();
    let values: FxHashMap<VarId, ExprId> =
        work.parameters.iter().map(|a| (a.var, a.value)).collect();
    while let Some(var) = open.pop() {
        let variable = &mut work.flat.variables[var];
        variable.structural = variable.structural.or(Some(REASON));
        if let Some(&value) = values.get(&var) {
            let behind = work.incidence(&[value]);
            open.extend(behind.into_iter().filter(|&v| seen.insert(v)));
        }
    }
}
