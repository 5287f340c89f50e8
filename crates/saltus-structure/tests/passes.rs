//! Structured systems of small models, printed and compared with what is stored beside them.
//!
//! `SALTUS_BLESS=1 cargo test -p saltus-structure` writes the files anew; the difference is to be reviewed.

mod support;

use saltus_structure::{print_structure, structure};
use std::fmt::Write;
use std::path::PathBuf;

fn check(name: &str) {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("test_data");
    let text = std::fs::read_to_string(dir.join(format!("{name}.mo"))).expect("the model");
    let printed = match structure(support::flat_model(&text)) {
        Ok(system) => print_structure(&system),
        Err(diagnostics) => {
            let mut out = String::new();
            for d in &diagnostics {
                let _ = writeln!(out, "{:?} [{}]: {}", d.severity, d.code, d.message);
                for label in &d.secondary {
                    let place = &text[label.span.start as usize..label.span.end as usize];
                    let _ = writeln!(out, "  at `{place}`: {}", label.text);
                }
                for note in &d.notes {
                    let _ = writeln!(out, "  note: {note}");
                }
                if let Some(help) = &d.help {
                    let _ = writeln!(out, "  help: {help}");
                }
            }
            out
        }
    };
    let path = dir.join(format!("{name}.txt"));
    if std::env::var_os("SALTUS_BLESS").is_some() {
        std::fs::write(&path, &printed).expect("written");
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == printed,
        "{name}: expected\n{stored}\nfound\n{printed}"
    );
}

macro_rules! models {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

models! {
    bouncing_ball,
    rc_circuit,
    rc_without_ground,
    ideal_diode,
    // Cellier and Kofman, equations 9.36 to 9.38: the voltage over the switch is torn, its equation the residual.
    switch_divider,
    // 9.47 to 9.49: the parameter of the curve is torn.
    rectifier_products,
    // 9.54.
    leaky_diode,
    sampled_controller,
    signed_aliases,
    hysteresis,
    cartesian_pendulum,
    coupled_inertias,
    derivative_chain,
    source_with_mod,
    when_with_initial,
    two_whens,
    pre_of_continuous,
    real_equality,
    too_few_equations,
    too_many_equations,
    cyclic_parameters,
    free_parameter,
    discrete_loop,
    delayed_feedback,
    friction_machine,
    algorithm_with_when,
    homotopy_start,
    redundant_initial,
    constant_propagation,
    boolean_sample,
    parameter_alias,
    nonlinear_block,
    relative_states,
}
