//! Parameters set from outside, before compiling where the structure depends on them.

use saltus::Session;

/// Two capacitors joined by resistors in series; each may be 0 ohm.
const LADDER: &str = "
model Ladder
  parameter Real R[2] = {0, 0};
  parameter Real C1 = 0.1, C2 = 0.3;
  Real v1(start = 1), v2, i, u;
equation
  C1*der(v1) = -v1 - i;
  C2*der(v2) = i;
  R[1]*i = v1 - u;
  R[2]*i = u - v2;
end Ladder;
";

/// Number of states with the settings, compiled again where that is asked for.
fn states(settings: &[(&str, f64)]) -> usize {
    let mut session = Session::new();
    session.set_text("ladder.mo", LADDER);
    let compiled = session.compile("Ladder").expect("the model is correct");
    let settings = settings.iter().map(|&(name, value)| (name, value.into()));
    let set = compiled.with(settings).expect("the settings are right");
    let experiment = set.experiment().stop_time(0.1);
    let run = experiment.simulate().expect("the run comes to its end");
    run.statistics.states
}

#[test]
fn a_resistance_of_zero_joins_two_capacitors() {
    assert_eq!(states(&[]), 1);
    assert_eq!(states(&[("C1", 0.2)]), 1);
}

#[test]
fn an_element_that_decided_the_structure_is_compiled_in() {
    assert_eq!(states(&[("R[1]", 1.0)]), 2);
    assert_eq!(states(&[("R[2]", 1.0)]), 2);
    assert_eq!(states(&[("R[1]", 1.0), ("R[2]", 2.0)]), 2);
}

#[test]
fn a_coefficient_set_to_zero_takes_its_term_away() {
    // Without C1 the voltage v1 is algebraic.
    assert_eq!(states(&[("R[1]", 1.0), ("C1", 0.0)]), 1);
}

#[test]
fn the_folder_of_a_library_or_the_one_around_it_may_be_named() {
    let around = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
    for folder in [around.clone(), around.join("Saltus")] {
        let mut session = Session::new();
        session.add_library_path(&folder);
        let printed = session.print_ast("Saltus.Impact");
        assert!(printed.is_ok(), "{}", folder.display());
    }
}

/// An external function that only reads a matrix may give the size of an array, although it is impure: the file is read when
/// the model is compiled.
#[test]
fn a_matrix_file_gives_the_size_of_an_array() {
    let file = std::env::temp_dir().join(format!("saltus-{}-sizes.txt", std::process::id()));
    std::fs::write(&file, "#1\ndouble A(2,3)\n1 2 3\n4 5 6\n")
        .expect("the temporary folder can be written");
    let text = format!(
        r#"
impure function matrixSize
  input String file;
  input String matrix;
  output Integer dim[2];
external "C" ModelicaIO_readMatrixSizes(file, matrix, dim);
end matrixSize;

model M
  final parameter Integer dim[2] = matrixSize("{}", "A");
  Real x[dim[1], dim[2]] = fill(1, dim[1], dim[2]);
end M;
"#,
        file.display()
    );
    let mut session = Session::new();
    session.set_text("sizes.mo", text);
    let n = session.flatten("M").map(|flat| {
        let names = flat.model.variables.iter().map(|(_, v)| v.name.as_str());
        names.filter(|name| name.starts_with("x[")).count()
    });
    std::fs::remove_file(&file).expect("it was written above");
    assert_eq!(n.expect("the sizes are known"), 6);
}
