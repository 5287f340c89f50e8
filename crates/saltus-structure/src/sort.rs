//! Block order: matching, strongly connected components, explicit assignments and torn blocks.
//!
//! Used for the event system (states and `pre` known) and for the initial system. After a perfect matching the components
//! of "equation needs what another equation determines" are unique, whatever the matching.

use crate::balance::solvable_unknowns;
use crate::block::{BlockEquation, build_block};
use crate::numeric::{is_parametric, known_nonzero};
use crate::singular::{LISTED_MAX, Singular, counted};
use crate::system::{Assignment, Step};
use crate::text::equation_text;
use crate::work::{Eq, Kind, Work};
use saltus_graph::{maximum_matching, strongly_connected_components};
use saltus_ir::linear::Solution;
use saltus_ir::{Base, Expr, ExprId, Id, UnaryOp, VarId};
use saltus_syntax::Diagnostic;

/// Which system is sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sorted {
    Events,
    /// Iterations begin with start values.
    Start,
}

impl Sorted {
    fn name(self) -> &'static str {
        match self {
            Sorted::Events => "event system",
            Sorted::Start => "initial system",
        }
    }
}

/// Sorts `equations`, which determine `unknowns`. `solvable` gives the unknowns that an
/// equation may be solved for.
pub(crate) fn sort(
    work: &mut Work,
    equations: &[Eq],
    unknowns: &[VarId],
    sorted: Sorted,
    solvable: &mut dyn FnMut(&mut Work, &Eq) -> Vec<VarId>,
) -> Option<Vec<Step>> {
    let mut column = vec![u32::MAX; work.flat.variables.len()];
    unknowns
        .iter()
        .enumerate()
        .for_each(|(k, v)| column[v.index()] = k as u32);
    let mut rows: Vec<Vec<u32>> = Vec::with_capacity(equations.len());
    let mut reads: Vec<Vec<u32>> = Vec::with_capacity(equations.len());
    for eq in equations {
        let columns = |vars: Vec<VarId>| -> Vec<u32> {
            vars.into_iter()
                .map(|v| column[v.index()])
                .filter(|&c| c != u32::MAX)
                .collect()
        };
        rows.push(columns(solvable(work, eq)));
        let mut read = match eq.kind {
            Kind::Assign { .. } => work.incidence(&[eq.rhs]),
            Kind::Clocked { active, .. } => work.incidence(&[active, eq.lhs, eq.rhs]),
            Kind::Continuous | Kind::Discrete => work.incidence(&[eq.lhs, eq.rhs]),
        };
        read.dedup();
        reads.push(columns(read));
    }
    let matching = maximum_matching(&rows, unknowns.len());
    if matching.size() < unknowns.len() || matching.size() < rows.len() {
        let diagnostic = Diagnostic::error(
            "structurally-singular",
            work.flat.span,
            format!(
                "the {} of `{}` is structurally singular: {}, {}",
                sorted.name(),
                work.flat.name,
                counted(unknowns.len(), "unknown"),
                counted(rows.len(), "equation"),
            ),
        );
        let singular = Singular {
            equations,
            unknowns,
            rows: &rows,
            matching: &matching,
        };
        let diagnostic = singular.explain(work, diagnostic);
        work.error(diagnostic);
        return None;
    }
    let row_of: Vec<u32> = matching
        .row_of_col
        .iter()
        .map(|r| r.expect("every column is matched"))
        .collect();
    let var_of: Vec<VarId> = matching
        .col_of_row
        .iter()
        .map(|c| unknowns[c.expect("every row is matched") as usize])
        .collect();
    let needs: Vec<Vec<u32>> = reads
        .iter()
        .map(|read| read.iter().map(|&c| row_of[c as usize]).collect())
        .collect();
    let mut steps = Vec::new();
    for component in strongly_connected_components(&needs) {
        if let &[row] = component.as_slice() {
            let eq = &equations[row as usize];
            let var = var_of[row as usize];
            let reads_itself = reads[row as usize].contains(&column[var.index()]);
            match single(work, eq, var, reads_itself) {
                Some(step) => {
                    steps.push(step);
                    continue;
                }
                None if is_discrete_node(work, eq, var) => {
                    report_loop(work, &[(eq.clone(), var)]);
                    return None;
                }
                None => {}
            }
        }
        let members: Vec<BlockEquation> = component
            .iter()
            .map(|&row| {
                let (eq, var) = (equations[row as usize].clone(), var_of[row as usize]);
                let discrete = is_discrete_node(work, &eq, var);
                let vars = reads[row as usize]
                    .iter()
                    .map(|&c| unknowns[c as usize])
                    .collect();
                BlockEquation {
                    eq,
                    var,
                    discrete,
                    reads: vars,
                }
            })
            .collect();
        match build_block(work, members, sorted) {
            Ok(block) => steps.push(Step::Block(block)),
            Err(cycle) => {
                report_loop(work, &cycle);
                return None;
            }
        }
    }
    Some(steps)
}

/// Has no Real unknown, so that it cannot be part of a system of Real equations.
fn is_discrete_node(work: &Work, _eq: &Eq, var: VarId) -> bool {
    work.flat.variables[var].base != Base::Real
}

/// An explicit assignment, if there is one.
fn single(work: &mut Work, eq: &Eq, var: VarId, reads_itself: bool) -> Option<Step> {
    match eq.kind {
        Kind::Assign { discrete, .. } => {
            if reads_itself {
                return None;
            }
            Some(assign(var, eq.rhs, eq, discrete))
        }
        Kind::Discrete => {
            solve_discrete(work, eq.lhs, eq.rhs, var).map(|value| assign(var, value, eq, true))
        }
        Kind::Clocked { active, .. } => {
            let value = match solve_discrete(work, eq.lhs, eq.rhs, var) {
                Some(value) => value,
                None => solve_real(work, eq.lhs, eq.rhs, var, true)?,
            };
            let kept = work.pre(var);
            let value = work.flat.ir.if_(active, value, kept);
            Some(assign(var, value, eq, true))
        }
        Kind::Continuous => {
            let value = solve_real(work, eq.lhs, eq.rhs, var, true)?;
            Some(assign(var, value, eq, false))
        }
    }
}

fn assign(var: VarId, value: ExprId, eq: &Eq, discrete: bool) -> Step {
    Step::Assign {
        assignment: Assignment {
            var,
            value,
            origin: eq.origin,
        },
        discrete,
    }
}

/// Solves for a variable that stands alone on a side (or under a sign or `not`).
pub(crate) fn solve_discrete(
    work: &mut Work,
    lhs: ExprId,
    rhs: ExprId,
    var: VarId,
) -> Option<ExprId> {
    for (side, other) in [(lhs, rhs), (rhs, lhs)] {
        let inverse = match *work.flat.ir.expr(side) {
            Expr::Var(v) if v == var => None,
            Expr::Unary(op, inner) if *work.flat.ir.expr(inner) == Expr::Var(var) => Some(op),
            _ => continue,
        };
        if work.incidence(&[other]).contains(&var) {
            continue;
        }
        return Some(match inverse {
            None => other,
            Some(UnaryOp::Neg) => work.flat.ir.neg(other),
            Some(UnaryOp::Not) => work.flat.ir.not(other),
        });
    }
    if work.flat.ir.base(lhs) == Base::Integer {
        let solution = work.flat.ir.solve_for(lhs, rhs, var)?;
        let divisor = work.flat.ir.as_number(solution.divisor)?;
        // The quotient by ±1, without turning Real.
        let (al, bl) = work.flat.ir.linear_coefficients(lhs, var)?;
        let (ar, br) = work.flat.ir.linear_coefficients(rhs, var)?;
        let (al, ar) = (work.flat.ir.as_number(al)?, work.flat.ir.as_number(ar)?);
        if divisor.abs() != 1.0 || (al - ar).abs() != 1.0 {
            return None;
        }
        return Some(if al - ar > 0.0 {
            work.flat.ir.sub(br, bl)
        } else {
            work.flat.ir.sub(bl, br)
        });
    }
    None
}

/// Solves an equation that is linear in `var`; `pre(var)` in it is another quantity.
pub(crate) fn solve_linear(
    work: &mut Work,
    lhs: ExprId,
    rhs: ExprId,
    var: VarId,
) -> Option<Solution> {
    // The usual case, without arithmetic on coefficients.
    for (side, other) in [(lhs, rhs), (rhs, lhs)] {
        if *work.flat.ir.expr(side) == Expr::Var(var) && !work.incidence(&[other]).contains(&var) {
            let divisor = work.flat.ir.real(1.0);
            return Some(Solution {
                value: other,
                divisor,
            });
        }
    }
    work.flat.ir.solve_for(lhs, rhs, var)
}

/// Solves a Real equation that is linear in `var`, dividing only by what is not zero; by any parameter if `alone`
/// (then a zero makes the equation unsolvable anyway).
pub(crate) fn solve_real(
    work: &mut Work,
    lhs: ExprId,
    rhs: ExprId,
    var: VarId,
    alone: bool,
) -> Option<ExprId> {
    let Solution { value, divisor } = solve_linear(work, lhs, rhs, var)?;
    if known_nonzero(work, divisor) || (alone && is_parametric(work, divisor)) {
        Some(value)
    } else {
        None
    }
}

fn report_loop(work: &mut Work, cycle: &[(Eq, VarId)]) {
    let names: Vec<String> = cycle
        .iter()
        .map(|(_, v)| format!("`{}`", work.name(*v)))
        .collect();
    let listed = names
        .iter()
        .take(LISTED_MAX)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    let mut diagnostic = Diagnostic::error(
        "discrete-loop",
        cycle[0].0.origin.span,
        format!("these discrete variables depend on each other at the same instant: {listed}"),
    );
    for (eq, var) in cycle.iter().take(LISTED_MAX) {
        let text = equation_text(work, eq.lhs, eq.rhs);
        diagnostic =
            diagnostic.secondary(eq.origin.span, format!("`{}` by `{text}`", work.name(*var)));
    }
    work.error(diagnostic.help("break the loop with `pre`"));
}

/// As [`solvable_unknowns`], for the event system.
pub(crate) fn event_solvable(work: &mut Work, eq: &Eq) -> Vec<VarId> {
    solvable_unknowns(work, eq)
}
