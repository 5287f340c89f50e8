//! Counts and structural solvability: as many equations as unknowns, and each unknown in an equation of its own.

use crate::collect::lone_variables;
use crate::text::equation_text;
use crate::work::{Class, Eq, Kind, Work};
use saltus_graph::{dulmage_mendelsohn, maximum_matching};
use saltus_ir::{Id, VarId};
use saltus_syntax::Diagnostic;

/// At most this many names or places are listed in a message.
const LISTED_MAX: usize = 8;

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
    let parts = dulmage_mendelsohn(&rows, unknowns.len(), &matching);
    let free: Vec<VarId> = (0..unknowns.len())
        .filter(|&c| matching.row_of_col[c].is_none())
        .map(|c| unknowns[c])
        .collect();
    let extra: Vec<usize> = (0..rows.len())
        .filter(|&r| matching.col_of_row[r].is_none())
        .collect();
    let name = work.flat.name;
    let (code, message) = if unknowns.len() == rows.len() {
        (
            "structurally-singular",
            format!(
                "`{name}` is structurally singular: {} unknowns cannot be determined",
                free.len()
            ),
        )
    } else {
        (
            "unbalanced-model",
            format!(
                "`{name}` has {} unknowns but {} equations",
                work.n_unknowns, work.n_equations
            ),
        )
    };
    let mut diagnostic = Diagnostic::error(code, work.flat.span, message);
    for &v in free.iter().take(LISTED_MAX) {
        diagnostic = diagnostic.secondary(
            work.span(v),
            format!("no equation determines `{}`", work.name(v)),
        );
    }
    if free.len() > LISTED_MAX {
        diagnostic = diagnostic.note(format!("and {} more unknowns", free.len() - LISTED_MAX));
    }
    for &r in extra.iter().take(LISTED_MAX) {
        let text = equation_text(work, equations[r].lhs, equations[r].rhs);
        let component = equations[r].origin.component;
        let place = if component.as_str().is_empty() {
            String::new()
        } else {
            format!(" of `{component}`")
        };
        let ir = &work.flat.ir;
        let label = if ir.is_literal(equations[r].lhs) && ir.is_literal(equations[r].rhs) {
            format!("this equation{place} says nothing that others do not say: it becomes `{text}`")
        } else {
            format!("this equation{place} has no unknown left to determine: `{text}`")
        };
        diagnostic = diagnostic.secondary(equations[r].origin.span, label);
    }
    let under: Vec<VarId> = parts
        .under_cols
        .iter()
        .map(|&c| unknowns[c as usize])
        .collect();
    let names: Vec<&str> = under
        .iter()
        .take(LISTED_MAX)
        .map(|&v| work.name(v).as_str())
        .collect();
    if under.len() > free.len() {
        diagnostic = diagnostic.note(format!("under-determined part: {}", names.join(", ")));
    }
    diagnostic = match physical_hint(work, &under) {
        Some(hint) => diagnostic.help(hint),
        None if !free.is_empty() => diagnostic.help(format!(
            "add an equation for `{}`, or declare it `parameter` or `input`",
            work.name(free[0])
        )),
        None => diagnostic.help("remove an equation, or make a parameter an unknown"),
    };
    work.equations = equations;
    work.error(diagnostic);
}

/// What is usually missing when such variables are undetermined.
fn physical_hint(work: &Work, vars: &[VarId]) -> Option<String> {
    let is = |v: &VarId, quantities: &[&str], unit: &str| {
        let variable = &work.flat.variables[*v];
        variable
            .quantity
            .is_some_and(|q| quantities.contains(&q.as_str()))
            || (variable.quantity.is_none() && variable.unit.is_some_and(|u| u.as_str() == unit))
    };
    if vars.iter().any(|v| is(v, &["ElectricPotential"], "V")) {
        return Some("no electrical potential is given: is a ground missing?".to_owned());
    }
    if vars.iter().any(|v| is(v, &["Angle"], "rad")) {
        return Some(
            "no angle is given: is a connection to a fixed flange or a support missing?".to_owned(),
        );
    }
    if vars.iter().any(|v| is(v, &["Length", "Position"], "m")) {
        return Some(
            "no position is given: is a connection to a fixed flange or to the world missing?"
                .to_owned(),
        );
    }
    if vars
        .iter()
        .any(|v| is(v, &["Pressure", "AbsolutePressure"], "Pa"))
    {
        return Some("no pressure is given: is a boundary missing?".to_owned());
    }
    if vars
        .iter()
        .any(|v| is(v, &["ThermodynamicTemperature"], "K"))
    {
        return Some("no temperature is given: is a boundary missing?".to_owned());
    }
    if vars.iter().any(|v| is(v, &["MagneticPotential"], "A")) {
        return Some("no magnetic potential is given: is a magnetic ground missing?".to_owned());
    }
    None
}
