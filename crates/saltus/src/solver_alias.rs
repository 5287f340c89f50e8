//! Names of integrators in other programs, and what comes nearest to them here.

use saltus_sim::SolverName;

/// Dymola, OpenModelica, SUNDIALS, MATLAB and SciPy: by kind of method, stiffness and order.
const ALIASES: [(&str, &[&str]); 8] = [
    (
        "bdf",
        &[
            "dassl", "daskr", "dasrt", "ida", "cvode", "lsode", "vode", "ode15s", "ode15i",
            "mebdf", "mebdfi", "godess",
        ],
    ),
    ("auto", &["lsodar", "lsoda", "default"]),
    (
        "radau",
        &[
            "radau5",
            "radauiia",
            "radau-iia",
            "ode23s",
            "rodas",
            "rosenbrock",
        ],
    ),
    (
        "esdirk",
        &[
            "esdirk23a",
            "esdirk34a",
            "esdirk45a",
            "sdirk34hw",
            "sdirk",
            "gbode",
            "kvaerno5",
            "trbdf2",
            "ode23t",
            "ode23tb",
        ],
    ),
    (
        "dopri5",
        &[
            "dopri45",
            "ode45",
            "rk45",
            "dormand-prince",
            "tsit5",
            "cerk23",
            "cerk34",
            "cerk45",
            "rungekutta45",
            "ode23",
            "rkfix4-variable",
            "arkode",
            "erk",
        ],
    ),
    (
        "dop853",
        &["dopri853", "ode78", "ode89", "ode113", "rk78", "deabm"],
    ),
    ("rk4", &["rungekutta", "runge-kutta", "rkfix4", "ode4"]),
    (
        "backward-euler",
        &["impeuler", "implicit-euler", "implicit_euler"],
    ),
];

/// The solver of a name: ours, or the nearest to one of another program.
pub(crate) fn find(name: &str) -> Option<(SolverName, bool)> {
    if let Some(solver) = SolverName::from_name(name) {
        return Some((solver, false));
    }
    let lower = name.to_lowercase();
    let alias = ALIASES
        .iter()
        .find(|(_, names)| names.contains(&lower.as_str()));
    let own = alias.map_or(lower.as_str(), |(own, _)| own);
    Some((SolverName::from_name(own)?, own != lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_leads_to_a_solver_of_ours() {
        for (own, names) in ALIASES {
            let solver = SolverName::from_name(own);
            assert!(solver.is_some(), "{own}");
            for name in names {
                assert_eq!(find(name).map(|found| found.0), solver, "{name}");
            }
        }
        assert!(find("alchemy").is_none());
        assert_eq!(find("DASSL").map(|found| found.0.as_str()), Some("bdf"));
    }
}
