//! Index reduction (Pantelides 1988) with dummy derivatives (`select`), chosen once or, where that is not enough, during the run (`sets`).
//!
//! Comes in: equations in representatives, chains x, der(x), … as variables. Goes out: differentiated equations added, the
//! variables that are states. Variables whose derivative is not in the equations but that are preferred as states (`wish`) get one
//! where the equations between them and the other states can be differentiated.

use crate::derivative;
use crate::late::{inline_derivative, without_no_event};
use crate::parameters::is_fixed;
use crate::restart::Signature;
use crate::select::select_dummies;
use crate::sets::{Plan, add_set, plan_sets};
use crate::text::equation_text;
use crate::wish::granted_wishes;
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::pantelides;
use saltus_ir::flat::StateSelect;
use saltus_ir::{Expr, ExprId, VarId};
use saltus_syntax::Diagnostic;

/// More differentiations than this are taken for a modelling error.
pub(crate) const DIFFERENTIATIONS_MAX: u32 = 12;

pub(crate) struct Reduced {
    /// (state, derivative, reason)
    pub(crate) states: Vec<(VarId, VarId, String)>,
    /// Equations that have been differentiated.
    pub(crate) differentiated: Vec<usize>,
}

/// Chains of derivatives: for each chain its variables by order.
pub(crate) struct Chains {
    pub(crate) vars: Vec<Vec<VarId>>,
    /// Chain and order of a variable.
    pub(crate) place: FxHashMap<VarId, (u32, u32)>,
}

/// Chains of the continuous representatives.
pub(crate) fn chains(work: &Work, unknowns: &[VarId]) -> Chains {
    let derivatives: FxHashSet<VarId> = unknowns
        .iter()
        .filter_map(|v| work.der.get(v))
        .copied()
        .collect();
    let mut chains = Chains {
        vars: Vec::new(),
        place: FxHashMap::default(),
    };
    for &v in unknowns {
        if derivatives.contains(&v) {
            continue;
        }
        let chain = chains.vars.len() as u32;
        let mut vars = Vec::new();
        let mut at = Some(v);
        while let Some(v) = at {
            chains.place.insert(v, (chain, vars.len() as u32));
            vars.push(v);
            at = work.der.get(&v).copied();
        }
        chains.vars.push(vars);
    }
    chains
}

/// Reduces the index. Errors are in `work.errors`, then `None`.
pub(crate) fn reduce_index(work: &mut Work, mut chains: Chains) -> Option<Reduced> {
    let continuous: Vec<usize> = (0..work.equations.len())
        .filter(|&k| work.equations[k].kind == Kind::Continuous)
        .collect();
    let mut rows: Vec<Vec<(u32, u32)>> = Vec::with_capacity(continuous.len());
    for &k in &continuous {
        let (lhs, rhs) = (work.equations[k].lhs, work.equations[k].rhs);
        let mut row: Vec<(u32, u32)> = Vec::new();
        for v in work.incidence(&[lhs, rhs]) {
            if work.class(v) == Class::Continuous
                && let Some(&place) = chains.place.get(&v)
            {
                row.push(place);
            }
        }
        // The highest order of each chain.
        row.sort_unstable_by_key(|&(chain, order)| (chain, std::cmp::Reverse(order)));
        row.dedup_by_key(|entry| entry.0);
        rows.push(row);
    }
    // Every derivative that is a variable has to be determined, also where its only equation was an alias.
    let mut orders_min: Vec<u32> = chains
        .vars
        .iter()
        .map(|vars| vars.len() as u32 - 1)
        .collect();
    for chain in granted_wishes(work, &mut chains, &continuous, &rows, &orders_min) {
        orders_min[chain as usize] += 1;
    }
    let Ok(offsets) = pantelides(&rows, &orders_min) else {
        let span = work.flat.span;
        let name = work.flat.name;
        work.error(Diagnostic::error(
            "structurally-singular",
            span,
            format!("the continuous part of `{name}` is structurally singular"),
        ));
        return None;
    };
    if let Some(row) = offsets
        .equation
        .iter()
        .position(|&c| c > DIFFERENTIATIONS_MAX)
    {
        let eq = work.equations[continuous[row]].clone();
        let text = equation_text(work, eq.lhs, eq.rhs);
        work.error(Diagnostic::error(
            "index-too-high",
            eq.origin.span,
            format!(
                "`{text}` would have to be differentiated {} times",
                offsets.equation[row]
            ),
        ));
        return None;
    }
    extend_chains(work, &mut chains, &offsets.variable);
    // Pivot values before differentiated equations are added.
    let selection = select_dummies(
        work,
        &chains,
        &continuous,
        &rows,
        &offsets.equation,
        &offsets.variable,
    );
    let plans = plan_sets(
        work,
        &chains,
        &rows,
        &offsets.equation,
        &offsets.variable,
        &selection,
    );
    let dummies = selection.dummies;
    let mut derivatives: Vec<Vec<usize>> = Vec::with_capacity(continuous.len());
    for (row, &k) in continuous.iter().enumerate() {
        let from = work.equations.len();
        differentiate(work, k, offsets.equation[row]);
        derivatives.push(
            std::iter::once(k)
                .chain(from..work.equations.len())
                .collect(),
        );
    }
    if !work.errors.is_empty() {
        return None;
    }
    if work.is_mode {
        work.signature = Some(Signature {
            chains: chains.vars.clone(),
            equations: derivatives.clone(),
            differentiations: offsets.equation.clone(),
            orders: offsets.variable.clone(),
            assigned: (offsets.matching.col_of_row.iter())
                .map(|c| c.expect("every equation is matched"))
                .collect(),
            rows,
        });
    }
    let in_sets: FxHashSet<(u32, u32)> = plans.iter().flat_map(Plan::chosen_among).collect();
    let mut states = Vec::new();
    for (chain, &order) in offsets.variable.iter().enumerate() {
        for k in 0..order as usize {
            let (var, der) = (chains.vars[chain][k], chains.vars[chain][k + 1]);
            let level = order - 1 - k as u32;
            if !dummies.contains(&der) && !in_sets.contains(&(chain as u32, level)) {
                let reason = reason(work, var, !dummies.is_empty());
                states.push((var, der, reason));
            }
        }
    }
    for plan in &plans {
        add_set(work, &chains, plan, &derivatives, &offsets.variable);
    }
    for k in 0..work.state_sets.len() {
        let set = work.state_sets[k].clone();
        for (candidates, chosen) in &set.levels {
            let names: Vec<String> = (candidates.iter())
                .map(|&v| work.name(v).to_string())
                .collect();
            let reason = format!(
                "state set {}: {} of {}",
                set.number,
                set.n_states,
                names.join(", ")
            );
            for &state in &chosen[..set.n_states] {
                states.push((state, work.der_of(state), reason.clone()));
            }
        }
    }
    report_unheard_wishes(work, &chains, &dummies);
    let differentiated = (continuous.iter().zip(&offsets.equation))
        .filter(|(_, times)| **times > 0)
        .map(|(k, _)| *k)
        .collect();
    Some(Reduced {
        states,
        differentiated,
    })
}

/// Makes the derivatives up to the given order of each chain.
pub(crate) fn extend_chains(work: &mut Work, chains: &mut Chains, orders: &[u32]) {
    for (chain, &order) in orders.iter().enumerate() {
        let vars = &mut chains.vars[chain];
        while vars.len() <= order as usize {
            let last = vars[vars.len() - 1];
            let der = work.der_of(last);
            chains.place.insert(der, (chain as u32, vars.len() as u32));
            vars.push(der);
        }
    }
}

/// Adds the first `times` derivatives of equation `k`.
///
/// Where calls have derivative rules of their own, those say what the derivative is. A rule may need a derivative that index reduction has
/// no variable for; the inlined form, which the rule promises to agree with, is differentiated then.
pub(crate) fn differentiate(work: &mut Work, k: usize, times: u32) {
    let original: Eq = work.equations[k].clone();
    let mut found = derivatives(work, &original, times);
    if found.is_err() && original.late.is_some() {
        let inlined = Eq {
            late: None,
            ..original.clone()
        };
        found = derivatives(work, &inlined, times);
    }
    match found {
        Ok(equations) => {
            if let Some(first) = equations.first() {
                warn_of_differences(work, &original, (first.lhs, first.rhs));
            }
            work.equations.extend(equations);
        }
        Err(NotDifferentiable { lhs, rhs, why }) => {
            let text = equation_text(work, lhs, rhs);
            work.error(
                Diagnostic::error(
                    "not-differentiable",
                    original.origin.span,
                    format!("index reduction needs the derivative of `{text}`"),
                )
                .note(why)
                .help("this equation ties states together, or a state to an input: give the function a `derivative` annotation, or take the tie away"),
            );
        }
    }
}

struct NotDifferentiable {
    lhs: ExprId,
    rhs: ExprId,
    why: String,
}

fn derivatives(work: &mut Work, of: &Eq, times: u32) -> Result<Vec<Eq>, NotDifferentiable> {
    let mut equations: Vec<Eq> = Vec::new();
    for _ in 0..times {
        let eq = equations.last().unwrap_or(of).clone();
        let failed = |why| NotDifferentiable {
            lhs: eq.lhs,
            rhs: eq.rhs,
            why,
        };
        let initial = (eq.initial)
            .map(|sides| sides_derivative(work, sides))
            .transpose()
            .map_err(failed)?;
        let called = eq.late.unwrap_or((eq.lhs, eq.rhs));
        let derivative = sides_derivative(work, called).map_err(failed)?;
        let ir = &mut work.flat.ir;
        let mut inlined = |e| {
            let e = inline_derivative(ir, e);
            without_no_event(ir, e)
        };
        let (lhs, rhs) = (inlined(derivative.0), inlined(derivative.1));
        equations.push(Eq {
            lhs,
            rhs,
            initial: initial.filter(|&sides| sides != (lhs, rhs)),
            late: eq.late.map(|_| derivative),
            kind: Kind::Continuous,
            origin: eq.origin,
        });
    }
    Ok(equations)
}

/// Tells where the derivative of an equation contains difference quotients.
fn warn_of_differences(work: &mut Work, of: &Eq, derivative: (ExprId, ExprId)) {
    let ir = &work.flat.ir;
    let quotient =
        (ir.reachable(&[derivative.0, derivative.1]).into_iter()).any(|id| match ir.expr(id) {
            Expr::Call { function, .. } => ir.functions[*function].is_difference(),
            _ => false,
        });
    if quotient {
        let text = equation_text(work, of.lhs, of.rhs);
        work.warn(
            Diagnostic::warning(
                "difference-quotient",
                of.origin.span,
                format!("the derivative of `{text}`, which index reduction needs, is a difference quotient"),
            )
            .note("a function in it has neither a `derivative` annotation nor a body that can be differentiated")
            .help("give the function a `derivative` annotation: results are then exact and the run is faster"),
        );
    }
}

fn sides_derivative(
    work: &mut Work,
    (lhs, rhs): (ExprId, ExprId),
) -> Result<(ExprId, ExprId), String> {
    Ok((derivative::total(work, lhs)?, derivative::total(work, rhs)?))
}

fn reason(work: &Work, var: VarId, reduced: bool) -> String {
    let variable = &work.flat.variables[var];
    if work.reinit_vars.contains(&var) {
        return "set by reinit".to_owned();
    }
    match variable.state_select {
        StateSelect::Always => "stateSelect = always".to_owned(),
        StateSelect::Prefer => "stateSelect = prefer".to_owned(),
        _ if !reduced => "its derivative is in the equations".to_owned(),
        _ if is_fixed(work, var) == Some(true) => "chosen: fixed start value".to_owned(),
        _ if variable.start.is_some() => "chosen: start value given".to_owned(),
        _ => "its derivative is in the equations".to_owned(),
    }
}

/// `stateSelect = always` that constraints do not allow, `never` that is a state nevertheless.
fn report_unheard_wishes(work: &mut Work, chains: &Chains, dummies: &FxHashSet<VarId>) {
    let mut notes = Vec::new();
    for vars in &chains.vars {
        for pair in vars.windows(2) {
            let variable = &work.flat.variables[pair[0]];
            let dummy = dummies.contains(&pair[1]);
            if variable.state_select == StateSelect::Always && dummy {
                notes.push((
                    variable.span,
                    format!(
                        "`{}` cannot be a state: it is constrained by others",
                        variable.name
                    ),
                ));
            }
        }
    }
    for (span, message) in notes {
        work.warn(Diagnostic::warning(
            "state-select-not-possible",
            span,
            message,
        ));
    }
}
