//! Counts and structural solvability: as many equations as unknowns, and each unknown in an equation of its own.

use crate::collect::lone_variables;
use crate::singular::{Singular, counted};
use crate::work::{Class, Eq, Kind, Work};
use saltus_graph::maximum_matching;
use saltus_ir::{Id, VarId};
use saltus_syntax::Diagnostic;

/// The unknowns that an equation may be solved for. Derivatives count as what they are derivatives of.
pub(crate) fn solvable_unknowns(work: &mut Work, eq: &Eq) -> Vec<VarId> {
    match eq.kind {
        Kind::Assign { var, .. } => vec![var],
        Kind::Continuous => work
            .nonzero_incidence(&[eq.lhs, eq.rhs])
            .into_iter()
            .filter(|&v| work.class(v) == Class::Continuous)
            .collect(),
        Kind::Discrete => {
            let mut vars = lone_variables(work, eq.lhs, eq.rhs);
            vars.retain(|&v| work.class(v) == Class::Discrete);
            vars
        }
        Kind::Clocked { partition, .. } => {
            let real = work.flat.ir.base(eq.lhs) == saltus_ir::Base::Real;
            let vars = if real {
                work.incidence(&[eq.lhs, eq.rhs])
            } else {
                lone_variables(work, eq.lhs, eq.rhs)
            };
            vars.into_iter()
                .filter(|v| work.partition.get(v) == Some(&partition))
                .collect()
        }
    }
}

/// Reports an unbalanced or structurally singular system of `work.equations`. `unknowns`: who is to be determined;
/// `base` maps a derivative to the unknown that stands for it.
pub(crate) fn check_balance(work: &mut Work, unknowns: &[VarId], base: &dyn Fn(VarId) -> VarId) {
    let mut column = vec![u32::MAX; work.flat.variables.len()];
    unknowns
        .iter()
        .enumerate()
        .for_each(|(k, v)| column[v.index()] = k as u32);
    let equations = std::mem::take(&mut work.equations);
    let mut rows: Vec<Vec<u32>> = Vec::with_capacity(equations.len());
    for eq in &equations {
        let mut row: Vec<u32> = solvable_unknowns(work, eq)
            .into_iter()
            .map(|v| column[base(v).index()])
            .filter(|&c| c != u32::MAX)
            .collect();
        row.sort_unstable();
        row.dedup();
        rows.push(row);
    }
    let matching = maximum_matching(&rows, unknowns.len());
    if matching.size() == unknowns.len() && matching.size() == rows.len() {
        work.equations = equations;
        return;
    }
    let name = work.flat.name;
    let (code, message) = if unknowns.len() == rows.len() {
        let open = counted(unknowns.len() - matching.size(), "unknown");
        (
            "structurally-singular",
            format!("`{name}` is structurally singular: its equations leave {open} open"),
        )
    } else {
        (
            "unbalanced-model",
            format!(
                "`{name}` has {} but {}",
                counted(work.n_unknowns, "unknown"),
                counted(work.n_equations, "equation")
            ),
        )
    };
    let diagnostic = Diagnostic::error(code, work.flat.span, message);
    let singular = Singular {
        equations: &equations,
        unknowns,
        rows: &rows,
        matching: &matching,
    };
    let diagnostic = singular.explain(work, diagnostic);
    work.equations = equations;
    work.error(diagnostic);
}
