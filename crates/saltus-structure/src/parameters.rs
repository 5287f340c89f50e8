//! Parameters and constants in the order of their dependence (specification 4.4.4, 8.6).

use crate::system::Assignment;
use crate::work::{Class, Eq, Kind, Work};
use saltus_graph::strongly_connected_components;
use saltus_ir::flat::{Origin, Variability};
use saltus_ir::{Base, Expr, ExprId, Id, VarId};
use saltus_syntax::{Diagnostic, Name};

/// Fills `work.parameters`; parameters that are not fixed, and those that depend on them, become unknowns of the initial system.
pub(crate) fn sort_parameters(work: &mut Work) {
    let known: Vec<VarId> = work
        .flat
        .variables
        .ids()
        .filter(|&v| work.class(v) == Class::Known)
        .collect();
    let mut values: Vec<Option<ExprId>> = vec![None; work.flat.variables.len()];
    let mut free = vec![false; work.flat.variables.len()];
    for &v in &known {
        let variable = &work.flat.variables[v];
        if variable.variability == Variability::Parameter && is_fixed(work, v) == Some(false) {
            free[v.index()] = true;
        } else {
            values[v.index()] = variable.binding;
        }
    }
    let mut position = vec![u32::MAX; work.flat.variables.len()];
    known
        .iter()
        .enumerate()
        .for_each(|(k, v)| position[v.index()] = k as u32);
    let mut needs: Vec<Vec<u32>> = Vec::with_capacity(known.len());
    for &v in &known {
        let used = values[v.index()].map_or_else(Vec::new, |value| work.incidence(&[value]));
        needs.push(
            used.iter()
                .map(|u| position[u.index()])
                .filter(|&p| p != u32::MAX)
                .collect(),
        );
    }
    for component in strongly_connected_components(&needs) {
        let k = component[0] as usize;
        if component.len() > 1 || needs[k].contains(&(k as u32)) {
            let cycle: Vec<VarId> = component.iter().map(|&k| known[k as usize]).collect();
            report_cycle(work, &cycle);
            continue;
        }
        let var = known[k];
        if free[var.index()] {
            work.class[var.index()] = Class::FreeParameter;
            continue;
        }
        let origin = Origin {
            span: work.span(var),
            component: Name::new(""),
        };
        let value = match values[var.index()] {
            Some(value) => value,
            None => match value_of_unbound(work, var) {
                Some(value) => value,
                None => continue,
            },
        };
        if needs[k]
            .iter()
            .any(|&n| work.class(known[n as usize]) == Class::FreeParameter)
        {
            work.class[var.index()] = Class::FreeParameter;
            let lhs = work.var(var);
            // Between Reals it is an equation: what is to be found may be on either side.
            let kind = match work.flat.variables[var].base {
                Base::Real => Kind::Continuous,
                _ => Kind::Assign {
                    var,
                    discrete: true,
                },
            };
            work.initial_equations.push(Eq {
                lhs,
                rhs: value,
                initial: None,
                late: None,
                kind,
                origin,
            });
        } else {
            work.parameters.push(Assignment { var, value, origin });
        }
    }
}

/// The `fixed` attribute, if given and a constant of the model text.
pub(crate) fn is_fixed(work: &Work, var: VarId) -> Option<bool> {
    let fixed = work.flat.variables[var].fixed?;
    let mut e = fixed;
    // A parameter with a literal value; more is decided by the front end.
    for _ in 0..8 {
        match *work.flat.ir.expr(e) {
            Expr::Boolean(b) => return Some(b),
            Expr::Var(v) => e = work.flat.variables[v].binding?,
            _ => return None,
        }
    }
    None
}

fn value_of_unbound(work: &mut Work, var: VarId) -> Option<ExprId> {
    let variable = &work.flat.variables[var];
    let (name, span, base, start) = (variable.name, variable.span, variable.base, variable.start);
    if let Some(start) = start {
        work.warn(
            Diagnostic::warning(
                "parameter-without-value",
                span,
                format!("parameter `{name}` has no value, its start value is used"),
            )
            .help(format!("give it a value: `{name} = …`")),
        );
        return Some(start);
    }
    let used = is_used(work, var);
    let ir = &mut work.flat.ir;
    let default = match base {
        Base::Real => Some(ir.real(0.0)),
        Base::Integer => Some(ir.integer(0)),
        Base::Boolean => Some(ir.boolean(false)),
        Base::String => Some(ir.string("")),
        Base::Enum(id) => Some(ir.add_scalar(Expr::Enum(id, 1), base)),
        Base::Clock | Base::Record(_) | Base::Object(_) | Base::Function => None,
    };
    if used {
        work.error(
            Diagnostic::error(
                "parameter-without-value",
                span,
                format!("parameter `{name}` has no value"),
            )
            .label("no binding and no start value")
            .help(format!("give it a value: `{name} = …`")),
        );
        return None;
    }
    default
}

/// Whether an equation, a condition or another parameter reads the parameter.
fn is_used(work: &mut Work, var: VarId) -> bool {
    let mut roots: Vec<ExprId> = Vec::new();
    for eq in work.equations.iter().chain(&work.initial_equations) {
        roots.extend([eq.lhs, eq.rhs]);
        roots.extend(eq.initial.iter().flat_map(|&(l, r)| [l, r]));
    }
    roots.extend(
        work.flat
            .variables
            .iter()
            .flat_map(|(_, v)| [v.binding, v.start])
            .flatten(),
    );
    work.incidence(&roots).contains(&var)
}

fn report_cycle(work: &mut Work, cycle: &[VarId]) {
    let names: Vec<String> = cycle
        .iter()
        .map(|&v| format!("`{}`", work.name(v)))
        .collect();
    let mut diagnostic = Diagnostic::error(
        "cyclic-parameters",
        work.span(cycle[0]),
        format!(
            "the values of these parameters depend on each other: {}",
            names.join(", ")
        ),
    );
    for &v in &cycle[1..] {
        diagnostic = diagnostic.secondary(work.span(v), "and this one");
    }
    work.error(
        diagnostic.help("give at least one of them a value that does not depend on the others"),
    );
}
