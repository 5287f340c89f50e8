//! Torn blocks: from the equations of one strongly connected component to unknowns, inner assignments and residuals.

use crate::growth;
use crate::numeric::known_nonzero;
use crate::sort::{Sorted, solve_discrete, solve_linear, solve_real};
use crate::system::{Assignment, Block, Coefficients, Direct};
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{TearProblem, strongly_connected_components, tear};
use saltus_ir::flat::{Origin, Variability};
use saltus_ir::linear::LinearForm;
use saltus_ir::{BinaryOp, Builtin, Expr, ExprId, Ir, UnaryOp, VarId};

/// In longer equations only plain terms are taken for solvable.
const EXAMINED_MAX: usize = 50;

/// Linear blocks of at most this many unknowns get replacement equations.
const DIRECT_MAX: usize = 3;
/// Unless their equations have more nodes than this: then solving for the unknowns takes little of the time.
const DIRECT_NODES_MAX: usize = 600;

/// An equation of a block with the variable it was matched with.
pub(crate) struct BlockEquation {
    pub(crate) eq: Eq,
    pub(crate) var: VarId,
    /// Determines a Boolean, Integer or enumeration variable.
    pub(crate) discrete: bool,
    /// Unknowns of the sorted system that it reads.
    pub(crate) reads: Vec<VarId>,
}

/// Tears a block. `Err` is a loop of discrete equations.
pub(crate) fn build_block(
    work: &mut Work,
    members: Vec<BlockEquation>,
    sorted: Sorted,
) -> Result<Block, Vec<(Eq, VarId)>> {
    let (discrete, real): (Vec<BlockEquation>, Vec<BlockEquation>) =
        members.into_iter().partition(|m| m.discrete);
    let discrete = order_discrete(work, &discrete)?;
    let columns: FxHashMap<VarId, u32> = real
        .iter()
        .enumerate()
        .map(|(k, m)| (m.var, k as u32))
        .collect();
    let mut sides: Vec<(ExprId, ExprId)> = Vec::with_capacity(real.len());
    let mut problem = TearProblem {
        rows: Vec::new(),
        n_cols: real.len(),
        preference: Vec::new(),
    };
    for member in &real {
        let (lhs, rhs) = equation_sides(work, member);
        sides.push((lhs, rhs));
        let vars: Vec<VarId> = member
            .reads
            .iter()
            .copied()
            .filter(|v| columns.contains_key(v))
            .collect();
        let mut row: Vec<(u32, bool)> = match member.eq.kind {
            Kind::Assign { .. } => {
                let itself = vars.contains(&member.var);
                let mut row: Vec<(u32, bool)> = vars
                    .iter()
                    .filter(|&&v| v != member.var)
                    .map(|v| (columns[v], false))
                    .collect();
                row.push((columns[&member.var], !itself));
                row
            }
            _ => solvable_edges(work, lhs, rhs, &vars)
                .into_iter()
                .map(|(v, ok)| (columns[&v], ok))
                .collect(),
        };
        let vanishing = growth::vanishing(work, lhs, rhs, &columns);
        for (column, ok) in &mut row {
            *ok &= !vanishing.contains(column);
        }
        row.sort_unstable();
        problem.rows.push(row);
    }
    let divisors = match sorted {
        Sorted::Events => FxHashSet::default(),
        Sorted::Start => divisors(&work.flat.ir, &sides),
    };
    problem.preference = (real.iter())
        .map(
            |m| match is_without_start(work, m.var) && divisors.contains(&m.var) {
                true => -1,
                false => preference(work, m.var),
            },
        )
        .collect();
    let tearing = tear(&problem);
    let mut unknowns: Vec<VarId> = tearing.torn.iter().map(|&c| real[c as usize].var).collect();
    let mut residual_rows = tearing.residual.clone();
    let mut inner = Vec::with_capacity(tearing.inner.len());
    let cuts = growth::cuts(work, &sides, &columns, &tearing);
    for (&(r, c), cut) in tearing.inner.iter().zip(cuts) {
        let (lhs, rhs) = sides[r as usize];
        let (member, var) = (&real[r as usize], real[c as usize].var);
        let value = match member.eq.kind {
            _ if cut => None,
            Kind::Assign { .. } => Some(member.eq.rhs),
            _ => solve_real(work, lhs, rhs, var, false),
        };
        match value {
            Some(value) => inner.push(Assignment {
                var,
                value,
                origin: member.eq.origin,
            }),
            None => {
                unknowns.push(var);
                residual_rows.push(r);
            }
        }
    }
    let residuals: Vec<(ExprId, _)> = residual_rows
        .iter()
        .map(|&r| {
            let (lhs, rhs) = sides[r as usize];
            (work.flat.ir.sub(lhs, rhs), real[r as usize].eq.origin)
        })
        .collect();
    // Degrees in the iteration unknowns, through the inner assignments.
    let mut degrees: FxHashMap<VarId, u8> = unknowns.iter().map(|&v| (v, 1)).collect();
    for assignment in &inner {
        let of_value = degree(&work.flat.ir, assignment.value, &degrees, 0);
        degrees.insert(assignment.var, of_value);
    }
    let linear = residuals
        .iter()
        .all(|r| degree(&work.flat.ir, r.0, &degrees, 0) <= 1);
    let coefficients = if linear {
        coefficients(work, &unknowns, &inner, &residuals)
    } else {
        Coefficients::Varying
    };
    let direct = if linear {
        replacement(work, &unknowns, &mut inner, &residuals)
    } else {
        None
    };
    Ok(Block {
        unknowns,
        inner,
        residuals,
        discrete,
        linear,
        coefficients,
        direct,
    })
}

/// What the coefficients of the unknowns in the residuals of a linear block depend on, through the inner assignments.
fn coefficients(
    work: &Work,
    unknowns: &[VarId],
    inner: &[Assignment],
    residuals: &[(ExprId, Origin)],
) -> Coefficients {
    let mut vars: FxHashMap<VarId, Dependence> = (unknowns.iter())
        .map(|&v| (v, Dependence::of_unknown()))
        .collect();
    for a in inner {
        let of_value = dependence(work, a.value, &vars);
        vars.insert(a.var, of_value);
    }
    (residuals.iter())
        .filter_map(|r| dependence(work, r.0, &vars).slope)
        .max()
        .unwrap_or(Coefficients::Constant)
}

/// Of an expression that is linear in the unknowns.
#[derive(Clone, Copy)]
struct Dependence {
    /// What the coefficients of unknowns depend on; `None`: there are no unknowns.
    slope: Option<Coefficients>,
    /// What it depends on if there are none.
    value: Coefficients,
}

impl Dependence {
    fn of_unknown() -> Dependence {
        Dependence {
            slope: Some(Coefficients::Constant),
            value: Coefficients::Varying,
        }
    }
}

fn dependence(work: &Work, e: ExprId, vars: &FxHashMap<VarId, Dependence>) -> Dependence {
    let ir = &work.flat.ir;
    let of_var = |v: VarId| match work.class(v) {
        Class::Known if work.flat.variables[v].variability == Variability::Constant => {
            Coefficients::Constant
        }
        Class::Known | Class::FreeParameter => Coefficients::Parameter,
        Class::Discrete => Coefficients::Discrete,
        _ => Coefficients::Varying,
    };
    let free = |value| Dependence { slope: None, value };
    let mut known: FxHashMap<ExprId, Dependence> = FxHashMap::default();
    for id in ir.reachable(&[e]) {
        let of_node = match ir.expr(id) {
            Expr::Var(v) => vars.get(v).copied().unwrap_or_else(|| free(of_var(*v))),
            Expr::Builtin(Builtin::Pre, _) => free(Coefficients::Discrete),
            Expr::Time | Expr::VarArray(_) | Expr::Builtin(Builtin::Delay, _) => {
                free(Coefficients::Varying)
            }
            Expr::Call { function, .. } if ir.functions[*function].impure => {
                free(Coefficients::Varying)
            }
            expr => {
                let sum = matches!(
                    expr,
                    Expr::Unary(UnaryOp::Neg, _) | Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..)
                );
                let mut slope: Option<Coefficients> = None;
                let mut value = Coefficients::Constant;
                ir.for_each_child(id, |child| {
                    let child = known[&child];
                    slope = slope.max(child.slope);
                    if child.slope.is_none() {
                        value = value.max(child.value);
                    }
                });
                // Factors, divisors and conditions are part of the coefficients.
                let slope = if sum {
                    slope
                } else {
                    slope.map(|s| s.max(value))
                };
                Dependence { slope, value }
            }
        };
        known.insert(id, of_node);
    }
    known[&e]
}

/// Replacement equations of a linear block; inner assignments that do not depend on the unknowns come to the front.
fn replacement(
    work: &mut Work,
    unknowns: &[VarId],
    inner: &mut Vec<Assignment>,
    residuals: &[(ExprId, Origin)],
) -> Option<Direct> {
    let mut roots: Vec<ExprId> = inner.iter().map(|a| a.value).collect();
    roots.extend(residuals.iter().map(|r| r.0));
    if unknowns.len() > DIRECT_MAX || work.flat.ir.reachable(&roots).len() > DIRECT_NODES_MAX {
        return None;
    }
    match unknowns.len() {
        1 => replacement_of::<2>(work, unknowns, inner, residuals),
        2 => replacement_of::<3>(work, unknowns, inner, residuals),
        3 => replacement_of::<4>(work, unknowns, inner, residuals),
        _ => None,
    }
}

/// `N` is one more than the number of unknowns.
fn replacement_of<const N: usize>(
    work: &mut Work,
    unknowns: &[VarId],
    inner: &mut Vec<Assignment>,
    residuals: &[(ExprId, Origin)],
) -> Option<Direct> {
    let ir = &mut work.flat.ir;
    let (zero, one) = (ir.real(0.0), ir.real(1.0));
    let mut forms: FxHashMap<VarId, LinearForm<N>> = FxHashMap::default();
    for (k, &v) in unknowns.iter().enumerate() {
        let mut form = [zero; N];
        form[k] = one;
        forms.insert(v, form);
    }
    for a in inner.iter() {
        if let Some(form) = ir.linear_form(a.value, |v| forms.get(&v).copied())? {
            forms.insert(a.var, form);
        }
    }
    let (mut matrix, mut rhs) = (Vec::new(), Vec::new());
    for (residual, _) in residuals {
        let form = ir.linear_form(*residual, |v| forms.get(&v).copied())??;
        matrix.extend_from_slice(&form[..N - 1]);
        rhs.push(ir.neg(form[N - 1]));
    }
    let (before, after): (Vec<Assignment>, Vec<Assignment>) =
        (inner.iter()).partition(|a| !forms.contains_key(&a.var));
    let n_before = before.len();
    *inner = before.into_iter().chain(after).collect();
    let divides = match matrix[..] {
        // Growth of round-off in longer chains is watched by the solver.
        [coefficient] if inner.len() - n_before < growth::INNER_MIN => {
            known_nonzero(work, coefficient)
        }
        _ => false,
    };
    Some(Direct {
        matrix,
        rhs,
        n_before,
        divides,
    })
}

/// Left and right side; those of clocked equations keep the value between ticks.
fn equation_sides(work: &mut Work, member: &BlockEquation) -> (ExprId, ExprId) {
    match member.eq.kind {
        Kind::Clocked { active, .. } => {
            let kept = work.pre(member.var);
            let now = work.var(member.var);
            let ir = &mut work.flat.ir;
            (
                ir.if_(active, member.eq.lhs, now),
                ir.if_(active, member.eq.rhs, kept),
            )
        }
        _ => (member.eq.lhs, member.eq.rhs),
    }
}

/// Discrete equations in an order of evaluation.
fn order_discrete(
    work: &mut Work,
    members: &[BlockEquation],
) -> Result<Vec<Assignment>, Vec<(Eq, VarId)>> {
    let place: FxHashMap<VarId, u32> = members
        .iter()
        .enumerate()
        .map(|(k, m)| (m.var, k as u32))
        .collect();
    let needs: Vec<Vec<u32>> = members
        .iter()
        .map(|m| {
            let own = matches!(m.eq.kind, Kind::Assign { .. });
            m.reads
                .iter()
                .filter(|&&v| own || v != m.var)
                .filter_map(|v| place.get(v))
                .copied()
                .collect()
        })
        .collect();
    let mut ordered = Vec::with_capacity(members.len());
    for component in strongly_connected_components(&needs) {
        let k = component[0] as usize;
        if component.len() > 1 || needs[k].contains(&(k as u32)) {
            return Err(component
                .iter()
                .map(|&k| (members[k as usize].eq.clone(), members[k as usize].var))
                .collect());
        }
        let member = &members[k];
        let (eq, var) = (&member.eq, member.var);
        let value = match eq.kind {
            Kind::Assign { .. } => Some(eq.rhs),
            Kind::Clocked { active, .. } => {
                solve_discrete(work, eq.lhs, eq.rhs, var).map(|value| {
                    let kept = work.pre(var);
                    work.flat.ir.if_(active, value, kept)
                })
            }
            _ => solve_discrete(work, eq.lhs, eq.rhs, var),
        };
        let Some(value) = value else {
            return Err(vec![(eq.clone(), var)]);
        };
        ordered.push(Assignment {
            var,
            value,
            origin: eq.origin,
        });
    }
    Ok(ordered)
}

/// For each of `vars`: may the equation be solved for it explicitly, dividing by nothing that can be zero?
fn solvable_edges(work: &mut Work, lhs: ExprId, rhs: ExprId, vars: &[VarId]) -> Vec<(VarId, bool)> {
    let wanted: FxHashSet<VarId> = vars.iter().copied().collect();
    // Plain terms ±x, k·x, x/k of the two sums.
    let mut plain: FxHashMap<VarId, bool> = FxHashMap::default();
    let mut complex: Vec<ExprId> = Vec::new();
    let mut stack = vec![lhs, rhs];
    while let Some(e) = stack.pop() {
        match *work.flat.ir.expr(e) {
            Expr::Unary(UnaryOp::Neg, a) => stack.push(a),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => stack.extend([a, b]),
            Expr::Var(v) => {
                // Twice the same variable may cancel: examined below.
                let first = plain.insert(v, true).is_none();
                if !first {
                    plain.insert(v, false);
                }
            }
            _ => complex.push(e),
        }
    }
    let complex_vars = work.incidence(&complex);
    let complex_vars: FxHashSet<VarId> = complex_vars
        .into_iter()
        .filter(|v| wanted.contains(v))
        .collect();
    vars.iter()
        .map(|&v| {
            let ok = match (plain.get(&v), complex_vars.contains(&v)) {
                (Some(true), false) => true,
                _ if vars.len() > EXAMINED_MAX => false,
                _ => match solve_linear(work, lhs, rhs, v) {
                    // A coefficient that changes with the mode (1 or 1e-5) would amplify round-off in one of them: such a
                    // variable, the parameter of a curve, is iterated upon.
                    Some(solution) => {
                        !has_branch(&work.flat.ir, solution.divisor)
                            && known_nonzero(work, solution.divisor)
                    }
                    None => false,
                },
            };
            (v, ok)
        })
        .collect()
}

fn has_branch(ir: &Ir, e: ExprId) -> bool {
    ir.reachable(&[e])
        .into_iter()
        .any(|id| matches!(ir.expr(id), Expr::If(..)))
}

/// Its first guess is zero, for want of a better one.
fn is_without_start(work: &Work, var: VarId) -> bool {
    work.flat.variables[var].start.is_none()
}

/// Variables that the equations divide by, or take the logarithm of: at zero they cannot be evaluated.
fn divisors(ir: &Ir, sides: &[(ExprId, ExprId)]) -> FxHashSet<VarId> {
    let roots: Vec<ExprId> = sides.iter().flat_map(|&(l, r)| [l, r]).collect();
    let mut open: Vec<ExprId> = Vec::new();
    for id in ir.reachable(&roots) {
        match ir.expr(id) {
            Expr::Binary(BinaryOp::Div, _, divisor) => open.push(*divisor),
            Expr::Builtin(Builtin::Log | Builtin::Log10, args) => open.extend(args.iter()),
            _ => {}
        }
    }
    let mut found = FxHashSet::default();
    while let Some(e) = open.pop() {
        match ir.expr(e) {
            Expr::Var(v) => {
                found.insert(*v);
            }
            Expr::Binary(BinaryOp::Mul, a, b) => open.extend([*a, *b]),
            Expr::Binary(BinaryOp::Div | BinaryOp::Pow, a, _) | Expr::Unary(UnaryOp::Neg, a) => {
                open.push(*a);
            }
            _ => {}
        }
    }
    found
}

/// Variables with a start value are good iteration unknowns.
fn preference(work: &Work, var: VarId) -> i32 {
    let variable = &work.flat.variables[var];
    i32::from(variable.start.is_some()) + i32::from(variable.nominal.is_some())
}

/// Degree of an expression, given that of its variables (0 if not listed) and of time: 0, 1, or 2 for anything not linear.
pub(crate) fn degree(ir: &Ir, e: ExprId, vars: &FxHashMap<VarId, u8>, time: u8) -> u8 {
    let mut degrees: FxHashMap<ExprId, u8> = FxHashMap::default();
    for id in ir.reachable(&[e]) {
        let of = |e: ExprId| degrees.get(&e).copied().unwrap_or(0);
        let degree = match ir.expr(id) {
            Expr::Var(v) => vars.get(v).copied().unwrap_or(0),
            Expr::Time => time,
            Expr::VarArray(first) => {
                let n = ir.leaf_count(ir.type_id(id)).unwrap_or(0) as u32;
                if (0..n).any(|k| vars.get(&VarId(first.0 + k)).is_some_and(|&d| d > 0)) {
                    2
                } else {
                    0
                }
            }
            Expr::Unary(UnaryOp::Neg, a) => of(*a),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => of(*a).max(of(*b)),
            Expr::Binary(BinaryOp::Mul, a, b) => (of(*a) + of(*b)).min(2),
            Expr::Binary(BinaryOp::Div, a, b) => {
                if of(*b) == 0 {
                    of(*a)
                } else {
                    2
                }
            }
            Expr::If(c, t, f) => {
                if of(*c) == 0 {
                    of(*t).max(of(*f))
                } else {
                    2
                }
            }
            Expr::Builtin(Builtin::Pre, _) => 0,
            Expr::Builtin(Builtin::Delay, args) => {
                if time > 0 || [args[2], args[3]].iter().any(|&a| of(a) > 0) {
                    2
                } else {
                    0
                }
            }
            _ => {
                let mut any = 0;
                ir.for_each_child(id, |child| any = any.max(of(child)));
                if any > 0 { 2 } else { 0 }
            }
        };
        degrees.insert(id, degree);
    }
    degrees.get(&e).copied().unwrap_or(0)
}
