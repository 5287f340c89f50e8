//! The message about equations that cannot determine their unknowns.
//!
//! Comes in: equations, unknowns, which unknowns each equation may be solved for, and a largest matching. Goes out: a diagnostic in
//! the names and lines of the model, with what is usually the physical cause. Method: the decomposition of Dulmage and Mendelsohn. Any
//! unknown of its under-determined part may be called the one that nothing determines, so the one that says most is named.

use crate::text::equation_text;
use crate::work::{Eq, Kind, Work};
use rustc_hash::FxHashMap;
use saltus_graph::{DulmageMendelsohn, Matching, dulmage_mendelsohn};
use saltus_ir::VarId;
use saltus_syntax::{Diagnostic, Name};

/// At most this many names or places are listed in a message.
pub(crate) const LISTED_MAX: usize = 8;

/// In a longer conflict only the equations that are too many are shown.
const CONFLICT_LABELLED_MAX: usize = 5;

/// Equations with the unknowns they are to determine.
pub(crate) struct Singular<'a> {
    pub(crate) equations: &'a [Eq],
    pub(crate) unknowns: &'a [VarId],
    /// For each equation the unknowns (by number) that it may be solved for.
    pub(crate) rows: &'a [Vec<u32>],
    pub(crate) matching: &'a Matching,
}

/// The quantity of a pair of connector variables, for hints: what the potential, a difference of it and the flow are called, what fixes
/// the potential, and what gives way between two that are in conflict.
struct Domain {
    /// Quantities of potentials, and the unit of those that have none.
    quantities: &'static [&'static str],
    unit: &'static str,
    level: &'static str,
    potential: &'static str,
    flow: &'static str,
    reference: &'static str,
    compliance: &'static str,
}

const DOMAINS: [Domain; 6] = [
    Domain {
        quantities: &["ElectricPotential"],
        unit: "V",
        level: "potential",
        potential: "voltage",
        flow: "current",
        reference: "a ground",
        compliance: "resistance",
    },
    Domain {
        quantities: &["Angle", "AngularVelocity"],
        unit: "rad",
        level: "angle",
        potential: "angle",
        flow: "torque",
        reference: "a fixed flange, a support or the world",
        compliance: "spring or damper",
    },
    Domain {
        quantities: &["Length", "Position", "Velocity"],
        unit: "m",
        level: "position",
        potential: "position",
        flow: "force",
        reference: "a fixed flange, a support or the world",
        compliance: "spring or damper",
    },
    Domain {
        quantities: &["Pressure", "AbsolutePressure"],
        unit: "Pa",
        level: "pressure",
        potential: "pressure",
        flow: "mass flow",
        reference: "a boundary with given pressure",
        compliance: "flow resistance",
    },
    Domain {
        quantities: &["ThermodynamicTemperature"],
        unit: "K",
        level: "temperature",
        potential: "temperature",
        flow: "heat flow",
        reference: "a boundary with given temperature",
        compliance: "thermal resistance",
    },
    Domain {
        quantities: &["MagneticPotential"],
        unit: "",
        level: "magnetic potential",
        potential: "magnetic potential difference",
        flow: "magnetic flux",
        reference: "a magnetic ground",
        compliance: "reluctance",
    },
];

impl Singular<'_> {
    /// Completes a diagnostic that says what is singular.
    pub(crate) fn explain(&self, work: &Work, mut diagnostic: Diagnostic) -> Diagnostic {
        let parts = dulmage_mendelsohn(self.rows, self.unknowns.len(), self.matching);
        let undetermined = self.undetermined(work, &parts);
        for &v in undetermined.iter().take(LISTED_MAX) {
            let text = format!("nothing determines `{}`", work.name(v));
            diagnostic = diagnostic.secondary(work.span(v), text);
        }
        if undetermined.len() > LISTED_MAX {
            let more = undetermined.len() - LISTED_MAX;
            diagnostic = diagnostic.note(format!("and {more} more unknowns"));
        }
        let extra: Vec<&Eq> = (0..self.rows.len())
            .filter(|&r| self.matching.col_of_row[r].is_none())
            .map(|r| &self.equations[r])
            .collect();
        for eq in extra.iter().take(LISTED_MAX) {
            diagnostic = diagnostic.secondary(eq.origin.span, extra_label(work, eq));
        }
        if extra.len() > LISTED_MAX {
            let more = extra.len() - LISTED_MAX;
            diagnostic = diagnostic.note(format!("and {more} more equations"));
        }
        if parts.over_rows.len() <= CONFLICT_LABELLED_MAX {
            let others = parts.over_rows.iter().map(|&r| r as usize);
            for r in others.filter(|&r| self.matching.col_of_row[r].is_some()) {
                let eq = &self.equations[r];
                let text = format!("determined here: `{}`", equation_text(work, eq.lhs, eq.rhs));
                diagnostic = diagnostic.secondary(eq.origin.span, text);
            }
        }
        let over = self.names(work, &parts.over_cols);
        if !over.is_empty() {
            diagnostic = diagnostic.note(format!(
                "over-determined: {} for {}",
                counted(parts.over_rows.len(), "equation"),
                listed(&over)
            ));
        }
        if parts.under_cols.len() > undetermined.len() {
            diagnostic = diagnostic.note(format!(
                "under-determined: {} for {}",
                match parts.under_rows.len() {
                    0 => "no equation".to_owned(),
                    n => counted(n, "equation"),
                },
                listed(&self.names(work, &parts.under_cols))
            ));
        }
        let hint = self.hint(work, &parts, &undetermined, &extra);
        diagnostic.help(hint)
    }

    /// Unknowns without an equation: as many as the matching leaves free, the telling ones of the part.
    fn undetermined(&self, work: &Work, parts: &DulmageMendelsohn) -> Vec<VarId> {
        let n_free = self.unknowns.len() - self.matching.size();
        let inputs = self.unconnected_inputs(work, parts);
        if inputs.len() == n_free {
            return inputs;
        }
        if let Some((component, missing)) = self.incomplete(work)
            && missing == n_free as i64
        {
            let under = parts.under_cols.iter().map(|&c| self.unknowns[c as usize]);
            let own: Vec<VarId> = under
                .filter(|&v| first_part(work.name(v).as_str()) == component)
                .take(n_free)
                .collect();
            if own.len() == n_free {
                return own;
            }
        }
        (0..self.unknowns.len())
            .filter(|&c| self.matching.row_of_col[c].is_none())
            .map(|c| self.unknowns[c])
            .collect()
    }

    /// Inputs of components that only equations of the component itself contain.
    fn unconnected_inputs(&self, work: &Work, parts: &DulmageMendelsohn) -> Vec<VarId> {
        let inside = |v: VarId, eq: &Eq| {
            let name = work.name(v);
            let owner = name
                .as_str()
                .rsplit_once('.')
                .map_or("", |(owner, _)| owner);
            let component = eq.origin.component;
            let rest = component.as_str().strip_prefix(owner);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut candidate = vec![false; self.unknowns.len()];
        for &c in &parts.under_cols {
            candidate[c as usize] = work.flat.variables[self.unknowns[c as usize]].component_input;
        }
        for (row, eq) in self.rows.iter().zip(self.equations) {
            for &c in row {
                candidate[c as usize] &= inside(self.unknowns[c as usize], eq);
            }
        }
        let found = (self.unknowns.iter().zip(&candidate)).filter(|(_, is)| **is);
        found.map(|(&v, _)| v).collect()
    }

    /// The component that alone has fewer (positive) or more (negative) equations than it needs: as many as unknowns, less the flow
    /// variables of its connectors and its inputs, which come from outside (specification 4.7).
    fn incomplete(&self, work: &Work) -> Option<(&'static str, i64)> {
        let mut needed: FxHashMap<&'static str, i64> = FxHashMap::default();
        for &v in self.unknowns {
            let name = work.name(v).as_str();
            let Some((component, rest)) = name.split_once('.') else {
                continue;
            };
            let variable = &work.flat.variables[v];
            let depth = rest.matches('.').count();
            let outside = (variable.flow && depth == 1) || (variable.component_input && depth == 0);
            *needed.entry(component).or_default() += i64::from(!outside);
        }
        for (eq, row) in self.equations.iter().zip(self.rows) {
            // Equations of variables that stand for relations and the like do not count.
            let added = |&c: &u32| {
                work.name(self.unknowns[c as usize])
                    .as_str()
                    .starts_with('$')
            };
            let assigned = matches!(eq.kind, Kind::Assign { .. }) && row.iter().any(added);
            let component = eq.origin.component.as_str();
            if !assigned && let Some(n) = needed.get_mut(first_part(component)) {
                *n -= 1;
            }
        }
        let mut uneven = needed.into_iter().filter(|(_, n)| *n != 0);
        match (uneven.next(), uneven.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    }

    fn names(&self, work: &Work, columns: &[u32]) -> Vec<Name> {
        let name = |c: &u32| work.name(self.unknowns[*c as usize]);
        columns.iter().map(name).collect()
    }

    /// What is usually wrong.
    fn hint(
        &self,
        work: &Work,
        parts: &DulmageMendelsohn,
        undetermined: &[VarId],
        extra: &[&Eq],
    ) -> String {
        let vars = |columns: &[u32]| -> Vec<VarId> {
            columns.iter().map(|&c| self.unknowns[c as usize]).collect()
        };
        let (under, over) = (vars(&parts.under_cols), vars(&parts.over_cols));
        let is_input = |v: &VarId| work.flat.variables[*v].component_input;
        if !undetermined.is_empty() && undetermined.iter().all(is_input) {
            let names: Vec<Name> = undetermined.iter().map(|&v| work.name(v)).collect();
            return format!(
                "connect {} with an output, or give {} a value in a modifier",
                listed(&names),
                if names.len() == 1 { "it" } else { "them" }
            );
        }
        if self.unknowns.len() != self.rows.len()
            && let Some((component, missing)) = self.incomplete(work)
        {
            return format!(
                "`{component}` has {} too {}: a component needs as many equations as it has unknowns, not counting the flow variables of its connectors and its inputs",
                counted(missing.unsigned_abs() as usize, "equation"),
                if missing > 0 { "few" } else { "many" }
            );
        }
        let conflict = extra.iter().any(|eq| !says_nothing(work, eq));
        if !conflict && let Some(domain) = domain(work, &under) {
            return format!(
                "the {} is determined only up to a constant: {} is missing",
                domain.level, domain.reference
            );
        }
        if conflict
            && !undetermined.is_empty()
            && let Some(hint) = self.conflict(work, parts, &under, &over)
        {
            return hint;
        }
        match undetermined {
            [] => "remove one of these equations, or make a parameter an unknown".to_owned(),
            [first, ..] if work.flat.variables[*first].flow => {
                let name = work.name(*first);
                let owner = name
                    .as_str()
                    .rsplit_once('.')
                    .map_or("", |(owner, _)| owner);
                let owner = owner.rsplit_once('.').map_or(owner, |(owner, _)| owner);
                format!(
                    "`{name}` is a flow variable: `{owner}` needs an equation for it, such as a law between flow and potential"
                )
            }
            [first, ..] => format!(
                "add an equation for `{}`, or declare it `parameter` or `input`",
                work.name(*first)
            ),
        }
    }

    /// Two components that prescribe the same thing: potentials in parallel, flows in series.
    fn conflict(
        &self,
        work: &Work,
        parts: &DulmageMendelsohn,
        under: &[VarId],
        over: &[VarId],
    ) -> Option<String> {
        let flow = |v: &VarId| work.flat.variables[*v].flow;
        let (open_flow, open_other) = (under.iter().any(flow), under.iter().any(|v| !flow(v)));
        let mut givers: Vec<Name> = Vec::new();
        for &r in &parts.over_rows {
            let eq = &self.equations[r as usize];
            let component = eq.origin.component;
            // What a component states about itself, not what connects it or computes differences.
            let alone = self.rows[r as usize].len() == 1;
            if alone && !component.as_str().is_empty() && !givers.contains(&component) {
                givers.push(component);
            }
        }
        if givers.len() < 2 {
            return None;
        }
        let both = listed(&givers);
        if open_flow && over.iter().any(|v| !flow(v)) {
            let domain = domain(work, over)?;
            return Some(format!(
                "{both} prescribe the same {0} more than once, and nothing says how they share the {1}: take one away, or put a {2} between them",
                domain.potential, domain.flow, domain.compliance
            ));
        }
        if open_other && over.iter().any(flow) {
            let domain = domain(work, under)?;
            return Some(format!(
                "{both} prescribe the same {1} more than once, and nothing says how they share the {0}: take one away, or put a {2} in parallel with one of them",
                domain.potential, domain.flow, domain.compliance
            ));
        }
        None
    }
}

/// The name of the component at the top.
fn first_part(path: &str) -> &str {
    path.split_once('.').map_or(path, |(first, _)| first)
}

/// Both sides have become numbers.
fn says_nothing(work: &Work, eq: &Eq) -> bool {
    let ir = &work.flat.ir;
    ir.is_literal(eq.lhs) && ir.is_literal(eq.rhs)
}

fn extra_label(work: &Work, eq: &Eq) -> String {
    let text = equation_text(work, eq.lhs, eq.rhs);
    let component = eq.origin.component;
    let place = if component.as_str().is_empty() {
        String::new()
    } else {
        format!(" of `{component}`")
    };
    if says_nothing(work, eq) {
        format!("this equation{place} says nothing that others do not say: it becomes `{text}`")
    } else {
        format!("this equation{place} has no unknown left to determine: `{text}`")
    }
}

/// The domain of the first potential that has one.
fn domain(work: &Work, vars: &[VarId]) -> Option<&'static Domain> {
    let variables = vars.iter().map(|&v| &work.flat.variables[v]);
    variables.filter(|v| !v.flow).find_map(|variable| {
        DOMAINS.iter().find(|d| match variable.quantity {
            Some(quantity) => d.quantities.contains(&quantity.as_str()),
            None => variable.unit.is_some_and(|u| u.as_str() == d.unit),
        })
    })
}

/// `1 equation`, `2 equations`
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The first names, and how many more.
fn listed(names: &[Name]) -> String {
    let mut text: Vec<String> = (names.iter().take(LISTED_MAX))
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > LISTED_MAX {
        text.push(format!("{} more", names.len() - LISTED_MAX));
    }
    match text.pop() {
        Some(last) if !text.is_empty() => format!("{} and {last}", text.join(", ")),
        last => last.unwrap_or_default(),
    }
}
