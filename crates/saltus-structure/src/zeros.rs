//! Terms whose coefficient is zero for the parameters' values (DESIGN section 4: such a term is not there).
//!
//! Comes in: equations and the values of parameters. A *zero factor* multiplies something and is exactly 0 whatever the other variables
//! are: an expression in parameters, a product with one, a variable that an equation defines as one (a junction capacitance whose
//! value without bias is 0), or the result of a function that is 0 with these parameters (found by executing it symbolically, for
//! factors of derivatives only). First it only forbids to solve an equation for what it multiplies: the structure then holds for
//! any value of the parameters, which stay free to be set at the start of a run. If that leaves the system singular (Ron = 0:
//! two potentials become one; a capacitor of 0 F: its voltage is no state), the terms are taken out of the equations, and the
//! parameters behind them are structural.

use crate::numeric::parameter_value;
use crate::work::{Class, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::scalar::{InlineMode, inline_call_with};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, FuncId, Id, Ir, UnaryOp, Value, VarId};

/// Why a parameter behind a term that was taken out cannot be set later.
const REASON: &str = "a term that it multiplies by zero was taken out of the equations";

/// Zero factors, and the expressions that say so of the variables among them.
#[derive(Clone, Default)]
pub(crate) struct Zeros {
    pub(crate) factors: FxHashSet<ExprId>,
    defined: FxHashMap<VarId, ExprId>,
}

/// Zero factors in the continuous equations.
pub(crate) fn find_zero_factors(work: &mut Work) -> Zeros {
    let is_zero_value = |v: &Value| v.as_f64() == Some(0.0);
    if !work.values.iter().flatten().any(is_zero_value) {
        return Zeros::default();
    }
    let roots = equation_sides(work);
    let nodes = work.flat.ir.reachable(&roots);
    let parametric = parametric_nodes(work, &nodes);
    let definitions = definitions(work);
    let mut calls = zero_results(work, &nodes, &definitions);
    calls.retain(|_, zero| *zero);
    let mut parameters: FxHashMap<ExprId, bool> = FxHashMap::default();
    let mut defined: FxHashMap<VarId, ExprId> = FxHashMap::default();
    loop {
        let mut zero = FxHashSet::default();
        for &id in nodes.iter().filter(|id| !parametric[id]) {
            let mut child = |e: ExprId| {
                if !parametric[&e] {
                    return zero.contains(&e);
                }
                let value = || parameter_value(work, e) == Some(0.0);
                *parameters.entry(e).or_insert_with(value)
            };
            if calls.contains_key(&id) || is_zero(&work.flat.ir, id, &defined, &mut child) {
                zero.insert(id);
            }
        }
        let before = defined.len();
        for &(v, e) in &definitions {
            let mut value = || parameter_value(work, e) == Some(0.0);
            if zero.contains(&e)
                || parametric[&e] && *parameters.entry(e).or_insert_with(&mut value)
            {
                defined.entry(v).or_insert(e);
            }
        }
        // Every pass but the last finds a variable.
        if defined.len() == before {
            let ir = &work.flat.ir;
            let factors = (nodes.iter().filter(|id| !parametric[id]))
                .flat_map(|&id| factors(ir, id).into_iter().flatten())
                .filter(|f| zero.contains(f) || parameters.get(f) == Some(&true))
                .filter(|f| !ir.is_literal(*f))
                .collect();
            return Zeros { factors, defined };
        }
    }
}

/// Which nodes depend on parameters only.
fn parametric_nodes(work: &Work, nodes: &[ExprId]) -> FxHashMap<ExprId, bool> {
    let ir = &work.flat.ir;
    // Children come before parents.
    let mut parametric: FxHashMap<ExprId, bool> = FxHashMap::default();
    for &id in nodes {
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
    parametric
}

/// Equations `v = expression` that hold at all times.
fn definitions(work: &Work) -> Vec<(VarId, ExprId)> {
    let ir = &work.flat.ir;
    let mut found = Vec::new();
    for eq in work.equations.iter().filter(|eq| eq.initial.is_none()) {
        for (side, other) in [(eq.lhs, eq.rhs), (eq.rhs, eq.lhs)] {
            if let Expr::Var(v) = *ir.expr(side)
                && work.class(v) == Class::Continuous
            {
                found.push((v, other));
            }
        }
    }
    found
}

/// Whether a node is 0 whatever the unknowns are, given which of its children are.
fn is_zero(
    ir: &Ir,
    id: ExprId,
    defined: &FxHashMap<VarId, ExprId>,
    zero: &mut impl FnMut(ExprId) -> bool,
) -> bool {
    if !ir.ty(id).is_scalar() || !matches!(ir.base(id), Base::Real | Base::Integer) {
        return false;
    }
    match ir.expr(id) {
        Expr::Var(v) => defined.contains_key(v),
        Expr::Unary(UnaryOp::Neg, a) | Expr::Binary(BinaryOp::Div, a, _) => zero(*a),
        // Both are asked, so that both are known as factors.
        Expr::Binary(BinaryOp::Mul, a, b) => zero(*a) | zero(*b),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => zero(*a) && zero(*b),
        Expr::If(_, t, f) => zero(*t) && zero(*f),
        Expr::Builtin(Builtin::NoEvent | Builtin::Smooth, args) => {
            args.last().is_some_and(|&a| zero(a))
        }
        _ => false,
    }
}

/// Results of functions that stand for a factor of a derivative, and whether they are 0 for the parameters as they are.
fn zero_results(
    work: &mut Work,
    nodes: &[ExprId],
    definitions: &[(VarId, ExprId)],
) -> FxHashMap<ExprId, bool> {
    let derivatives: FxHashSet<VarId> = work.der.values().copied().collect();
    let mut asked: FxHashSet<VarId> = FxHashSet::default();
    for &id in nodes {
        let [Some(a), Some(b)] = factors(&work.flat.ir, id) else {
            continue;
        };
        for (factor, other) in [(a, b), (b, a)] {
            if let Expr::Var(v) = *work.flat.ir.expr(factor)
                && work.class(v) == Class::Continuous
                && (work.incidence(&[other]).iter()).any(|v| derivatives.contains(v))
            {
                asked.insert(v);
            }
        }
    }
    let results: Vec<(ExprId, CallResult)> = definitions
        .iter()
        .filter(|(v, _)| asked.contains(v))
        .filter_map(|&(_, e)| Some((e, CallResult::of(&work.flat.ir, e)?)))
        .collect();
    let mut found: FxHashMap<ExprId, bool> = FxHashMap::default();
    if results.is_empty() {
        return found;
    }
    // What is tried leaves no trace in the model.
    let mut ir = work.flat.ir.clone();
    let mut outputs: FxHashMap<ExprId, Option<Vec<saltus_ir::scalar::Shaped>>> =
        FxHashMap::default();
    for (e, result) in results {
        let outputs = outputs.entry(result.call).or_insert_with(|| {
            let values = literals(work, &mut ir, &result.args);
            let mode = InlineMode::Everything;
            inline_call_with(&mut ir, result.function, &result.args, mode, &values).ok()
        });
        let leaf = (outputs.as_ref())
            .and_then(|outputs| outputs.get(result.output)?.leaves.get(result.leaf))
            .copied();
        found.insert(e, leaf.is_some_and(|l| ir.as_number(l) == Some(0.0)));
    }
    found
}

/// One scalar of a call's results.
struct CallResult {
    call: ExprId,
    function: FuncId,
    args: Vec<ExprId>,
    output: usize,
    leaf: usize,
}

impl CallResult {
    fn of(ir: &Ir, e: ExprId) -> Option<CallResult> {
        let (of, leaf) = match *ir.expr(e) {
            Expr::Leaf { of, index } => (of, index as usize),
            _ => (e, 0),
        };
        let (call, output) = match *ir.expr(of) {
            Expr::Output { call, index } => (call, index as usize),
            _ => (of, 0),
        };
        match ir.expr(call) {
            Expr::Call { function, args } if !ir.functions[*function].impure => Some(CallResult {
                call,
                function: *function,
                args: args.to_vec(),
                output,
                leaf,
            }),
            _ => None,
        }
    }
}

/// The parameters in `roots` that have a value, with it.
fn literals(work: &mut Work, ir: &mut Ir, roots: &[ExprId]) -> Vec<(VarId, ExprId)> {
    let vars = work.incidence(roots);
    let known = vars.into_iter().filter(|&v| work.class(v) == Class::Known);
    known
        .filter_map(|v| {
            let value = work.values.get(v.index())?.as_ref()?;
            let literal = match *value {
                Value::Real(x) => ir.real(x),
                Value::Integer(n) => ir.integer(n),
                Value::Boolean(b) => ir.boolean(b),
                Value::Enum(id, k) => ir.add_scalar(Expr::Enum(id, k), Base::Enum(id)),
                _ => return None,
            };
            Some((v, literal))
        })
        .collect()
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
pub(crate) fn drop_zero_terms(work: &mut Work, zeros: &Zeros) {
    let roots = equation_sides(work);
    let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut used: Vec<ExprId> = Vec::new();
    for id in work.flat.ir.reachable(&roots) {
        let zero =
            (factors(&work.flat.ir, id).into_iter().flatten()).find(|f| zeros.factors.contains(f));
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
    declare_structural(work, &used, &zeros.defined);
}

fn equation_sides(work: &Work) -> Vec<ExprId> {
    let sides = |eq: &crate::work::Eq| {
        let mut sides = vec![eq.lhs, eq.rhs];
        sides.extend(eq.initial.iter().chain(&eq.late).flat_map(|&(l, r)| [l, r]));
        sides
    };
    work.equations.iter().flat_map(sides).collect()
}

/// The parameters in `expressions`, and those that these depend on; a variable that is zero stands for its definition.
pub(crate) fn declare_structural(
    work: &mut Work,
    expressions: &[ExprId],
    defined: &FxHashMap<VarId, ExprId>,
) {
    let mut open: Vec<VarId> = work.incidence(expressions);
    let mut seen: FxHashSet<VarId> = open.iter().copied().collect();
    let values: FxHashMap<VarId, ExprId> =
        work.parameters.iter().map(|a| (a.var, a.value)).collect();
    while let Some(var) = open.pop() {
        if work.class(var) == Class::Known {
            let variable = &mut work.flat.variables[var];
            variable.structural = variable.structural.or(Some(REASON));
        }
        if let Some(&value) = values.get(&var).or_else(|| defined.get(&var)) {
            let behind = work.incidence(&[value]);
            open.extend(behind.into_iter().filter(|&v| seen.insert(v)));
        }
    }
}
