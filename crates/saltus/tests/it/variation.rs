//! Curves that move by little more than the accuracy asked for are named.

use saltus::Session;

/// A temperature that falls by a tenth of a kelvin during the run.
const COOLS: &str = "
model Cools
  Real T(start = 293.15, fixed = true, nominal = 1e-3);
equation
  der(T) = -0.1;
end Cools;
";

#[test]
fn a_curve_is_named_while_it_moves_by_less_than_500_accuracies() {
    let mut session = Session::new();
    session.set_text("cools.mo", COOLS);
    let compiled = session.compile("Cools").expect("compiles");
    // The accuracy is tolerance·293.15 K, so that 0.1 K are less than 500 of it down to 6.82e-7.
    for (tolerance, is_named) in [(1e-4, true), (7e-7, true), (6.6e-7, false), (1e-9, false)] {
        let run = (compiled.experiment().tolerance(tolerance).simulate()).expect("runs");
        let named: Vec<&str> = (run.statistics.unresolved.iter())
            .map(|u| u.variable.as_str())
            .collect();
        let wanted: &[&str] = if is_named { &["T"] } else { &[] };
        assert_eq!(named, wanted, "{tolerance:e}");
        let warned = (run.warnings.list.iter()).any(|d| d.code == "unresolved-variation");
        assert_eq!(warned, is_named, "{tolerance:e}");
    }
}
