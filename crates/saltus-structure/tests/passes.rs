//! Structured systems of small models, printed and compared with what is stored beside them.
//!
//! `SALTUS_BLESS=1 cargo test -p saltus-structure` writes the files anew; the difference is to be reviewed.

mod support;

use saltus_ir::eval::{Env, NoExternals, eval};
use saltus_ir::flat::FlatModel;
use saltus_ir::{Base, Value, VarId};
use saltus_structure::{Step, StructuredSystem, print_structure, structure};
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
    // Cellier and Kofman, equations 9.36 to 9.40: the voltage over the switch is torn, its equation the residual.
    switch_divider,
    // 9.47 to 9.51: the parameter of the curve is torn.
    rectifier_products,
    // 9.52 to 9.53: no loop but that of the switch position; the equation of the diode has to give its parameter.
    ideal_diode_inductance,
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

/// Values by name.
struct Named<'a>(&'a FlatModel, &'a [(&'a str, f64)]);

impl Env for Named<'_> {
    fn var(&mut self, var: VarId) -> Option<Value> {
        let variable = &self.0.variables[var];
        let &(_, x) = (self.1.iter()).find(|(name, _)| *name == variable.name.as_str())?;
        Some(match variable.base {
            Base::Boolean => Value::Boolean(x == 1.0),
            _ => Value::Real(x),
        })
    }
}

/// The value that the replacement equation of a block with this one unknown gives.
fn replaced(system: &StructuredSystem, unknown: &str, given: &[(&str, f64)]) -> f64 {
    let name = |v: VarId| system.flat.variables[v].name;
    let block = (system.event.iter())
        .find_map(|step| match step {
            Step::Block(block) => Some(block).filter(|b| name(b.unknowns[0]).as_str() == unknown),
            _ => None,
        })
        .unwrap_or_else(|| panic!("a block for {unknown}"));
    let direct = block.direct.as_ref().expect("a replacement equation");
    let [coefficient, rhs] = [direct.matrix[0], direct.rhs[0]].map(|e| {
        let value = eval(
            &system.flat.ir,
            e,
            &mut Named(&system.flat, given),
            &mut NoExternals,
        );
        value.ok().and_then(|v| v.as_f64()).expect("a number")
    });
    rhs / coefficient
}

fn system(name: &str) -> StructuredSystem {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("test_data");
    let text = std::fs::read_to_string(dir.join(format!("{name}.mo"))).expect("the model");
    structure(support::flat_model(&text)).expect("structured")
}

/// Resistances and voltages of a test: all combinations are tried.
const RESISTANCES: [f64; 3] = [1e-3, 7.0, 2e5];
const VOLTAGES: [f64; 3] = [-3.0, 0.25, 1e4];

/// Relative error of a formula with less than twenty operations on these numbers, sums of opposite sign among them.
const ROUND_OFF: f64 = 500.0 * f64::EPSILON;

#[track_caller]
fn same(got: f64, expected: f64) {
    assert!(
        (got - expected).abs() <= ROUND_OFF * expected.abs(),
        "{got} instead of {expected}"
    );
}

#[test]
fn the_switch_equation_is_replaced_by_9_38() {
    let system = system("switch_divider");
    for (r1, r2, u0) in triples(RESISTANCES, RESISTANCES, VOLTAGES) {
        let given = |mo| [("R1", r1), ("R2", r2), ("U0", u0), ("mo", mo), ("open", mo)];
        for unknown in ["u2", "v2"] {
            // 9.39: closed; 9.40: open.
            assert_eq!(replaced(&system, unknown, &given(0.0)), 0.0);
            same(replaced(&system, unknown, &given(1.0)), r2 / (r1 + r2) * u0);
        }
    }
}

#[test]
fn the_curve_parameter_is_given_by_9_49() {
    let system = system("rectifier_products");
    for (ri, u0, u2) in triples(RESISTANCES, VOLTAGES, VOLTAGES) {
        for mo in [0.0, 1.0] {
            let given = [("Ri", ri), ("u0", u0), ("u2", u2), ("mo", mo)];
            let expected = (u0 - u2) / (mo + (1.0 - mo) * ri);
            same(replaced(&system, "s", &given), expected);
        }
    }
    // 9.51: the only crossing function.
    let functions: Vec<String> = (system.crossings.iter())
        .map(|c| system.flat.text(c.function))
        .collect();
    assert_eq!(functions, ["s"]);
}

#[test]
fn with_an_inductance_the_ideal_diode_has_9_53d_and_the_leaky_one_9_54d() {
    let (ideal, leaky) = (system("ideal_diode_inductance"), system("leaky_diode"));
    for (g0, i0, _) in triples(RESISTANCES, VOLTAGES, [0.0]) {
        let given = |mo| [("G0", g0), ("i0", i0), ("mo", mo), ("$rel[1]", mo)];
        same(replaced(&ideal, "s", &given(0.0)), i0);
        assert!(replaced(&ideal, "s", &given(1.0)).is_infinite());
        for mo in [0.0, 1.0] {
            let expected = i0 / (mo * g0 + (1.0 - mo));
            same(replaced(&leaky, "s", &given(mo)), expected);
        }
    }
}

fn triples<const A: usize, const B: usize, const C: usize>(
    a: [f64; A],
    b: [f64; B],
    c: [f64; C],
) -> impl Iterator<Item = (f64, f64, f64)> {
    (a.into_iter())
        .flat_map(move |x| (b.into_iter()).flat_map(move |y| c.into_iter().map(move |z| (x, y, z))))
}
