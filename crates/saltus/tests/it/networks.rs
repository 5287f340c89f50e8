//! Networks of resistors, whose equations are one linear system, against their closed forms.
//!
//! Elimination along a ladder multiplies an error by about 2.6 at every rung: without cuts nothing is left of the voltages after forty.

use saltus::{Error, Session};
use std::f64::consts::PI;

/// Round-off in elimination may grow by 1e5, and does so in the length of a few cells; the voltages are about one.
const ACCURACY: f64 = 1e-10;

const MODELS: &str = "
model Ladder
  parameter Integer n;
  parameter Real R = 1, G = 1;
  Real u[n], i[n], j[n];
equation
  for k in 1:n loop
    (if k == 1 then 1 + time else u[k - 1]) - u[k] = R*i[k];
    j[k] = G*u[k];
    i[k] = j[k] + (if k == n then 0 else i[k + 1]);
  end for;
end Ladder;

model Grid
  parameter Integer n;
  parameter Real R = 1;
  Real u[n, n], h[n + 1, n], v[n, n + 1];
equation
  for k in 1:n loop
    for l in 1:n loop
      h[k, l] + v[k, l] = h[k + 1, l] + v[k, l + 1];
    end for;
  end for;
  for l in 1:n loop
    for k in 1:n + 1 loop
      R*h[k, l] = (if k == 1 then 1 + time else u[k - 1, l]) - (if k == n + 1 then 0 else u[k, l]);
      R*v[l, k] = (if k == 1 then 0 else u[l, k - 1]) - (if k == n + 1 then 0 else u[l, k]);
    end for;
  end for;
end Grid;
";

/// Largest difference of the voltages at the end of a second, at which the source has 2 V. `set`: parameters for the run.
fn difference(
    model: &str,
    n: usize,
    constants: &str,
    set: &[(&str, f64)],
    exact: impl Fn(&[usize]) -> f64,
) -> Result<f64, Error> {
    let mut session = Session::new();
    let instance = format!("model Instance extends {model}(n = {n}{constants}); end Instance;");
    session.set_text("networks.mo", format!("{MODELS}{instance}"));
    let compiled = session.compile("Instance")?;
    let mut experiment = compiled.experiment().stop_time(1.0).intervals(1);
    for (name, value) in set {
        experiment = experiment.set(*name, *value);
    }
    let run = experiment.simulate()?;
    let mut largest = 0.0f64;
    let mut voltages = 0;
    for (name, _) in run.table.variables() {
        let Some(index) = name.strip_prefix("u[").and_then(|i| i.strip_suffix(']')) else {
            continue;
        };
        let index: Vec<usize> = (index.split(','))
            .map(|k| k.trim().parse().expect("an index"))
            .collect();
        let value = run.table.signal(name).and_then(|s| s.last());
        largest = largest.max((value.expect("a value") - exact(&index)).abs());
        voltages += 1;
    }
    assert!(voltages >= n, "{voltages} voltages found");
    Ok(largest)
}

/// cosh(a)/cosh(b) or sinh(a)/sinh(b) (`sign` -1) without overflow.
fn ratio(a: f64, b: f64, sign: f64) -> f64 {
    (a - b).exp() * (1.0 + sign * (-2.0 * a).exp()) / (1.0 + sign * (-2.0 * b).exp())
}

/// u(k) = U·cosh((n + ½ - k)·θ)/cosh((n + ½)·θ) with cosh θ = 1 + RG/2: the last cell carries no current on.
fn ladder(n: usize, rg: f64) -> impl Fn(&[usize]) -> f64 {
    let theta = (1.0 + rg / 2.0).acosh();
    move |at| {
        let end = n as f64 + 0.5;
        2.0 * ratio((end - at[0] as f64) * theta, end * theta, 1.0)
    }
}

/// u(k, l) = Σ c(m)·sin(mπl/N)·sinh((N - k)·β(m))/sinh(N·β(m)) with N = n + 1 and cosh β(m) = 2 - cos(mπ/N): the potential on a
/// square, one side of which has U; c are the coefficients of the sine series of U.
fn grid(n: usize) -> impl Fn(&[usize]) -> f64 {
    let size = n as f64 + 1.0;
    move |at| {
        let (k, l) = (at[0] as f64, at[1] as f64);
        let term = |m: usize| {
            let angle = m as f64 * PI / size;
            let beta = (2.0 - angle.cos()).acosh();
            let sum: f64 = (1..=n).map(|l| (angle * l as f64).sin()).sum();
            let c = 2.0 * 2.0 / size * sum;
            c * (angle * l).sin() * ratio((size - k) * beta, size * beta, -1.0)
        };
        (1..=n).map(term).sum()
    }
}

#[test]
fn voltages_of_ladders_are_right_to_round_off() {
    for n in [5, 13, 133, 333] {
        for (constants, rg) in [
            ("", 1.0),
            (", R = 1e6, G = 1e-4", 1e2),
            (", R = 1e-3", 1e-3),
        ] {
            let found = difference("Ladder", n, constants, &[], ladder(n, rg));
            let found = found.expect("the ladder can be simulated");
            assert!(
                found <= ACCURACY,
                "{n} cells{constants}: difference {found:e}"
            );
        }
    }
}

#[test]
fn voltages_of_grids_are_right_to_round_off() {
    for n in [2, 4, 12, 18] {
        let found = difference("Grid", n, "", &[], grid(n)).expect("the grid can be simulated");
        assert!(found <= ACCURACY, "{n} by {n}: difference {found:e}");
    }
}

#[test]
fn values_of_a_run_that_make_round_off_grow_are_an_error() {
    let constants = ", R = 1e-9";
    let same = difference("Ladder", 133, constants, &[], ladder(133, 1e-9));
    assert!(same.is_ok_and(|d| d <= ACCURACY));
    let set = difference("Ladder", 133, constants, &[("R", 1.0)], ladder(133, 1.0));
    let Err(Error::Run(diagnostics, _)) = set else {
        panic!("no digit of these voltages would be right");
    };
    assert_eq!(diagnostics.error_codes(), ["round-off-growth"]);
}
