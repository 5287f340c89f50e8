//! Derivatives of functions with loops: exact where the passes are counted, close where they go on until a Real is good enough.

use saltus::Session;
use saltus_model::{BlockId, Instance, Model, System};

/// Of a derivative by forward mode: some dozens of operations.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;
/// Of a central difference quotient whose step is the cube root of ε: its square, with room for the third derivative.
const DIFFERENCE: f64 = 1e-8;

/// The derivative of `f(x) - 2 - time` at the start value of x, by the block's own Jacobian.
fn slope(function: &str, start: f64) -> f64 {
    let mut session = Session::new();
    session.set_text(
        "loops.mo",
        format!(
            "function f
  input Real x;
  output Real y;
{function}
end f;
model Loops
  Real x(start = {start});
equation
  f(x) = 2 + time;
end Loops;
"
        ),
    );
    let compiled = session.compile("Loops").expect("a correct model");
    let mut instance = compiled.compiled().instantiate();
    let mut values = instance.bind(0.0, &[]).expect("parameters");
    let mut jacobian = [0.0];
    let system = instance.system(&values);
    let slot = system.block(BlockId(0)).unknowns[0];
    values.set(slot, start);
    let exact = system.jacobian(BlockId(0), &mut values, &mut jacobian);
    assert_eq!(exact, Ok(true), "a Jacobian by the model itself");
    jacobian[0].abs()
}

#[track_caller]
fn check(function: &str, start: f64, expected: f64, limit: f64) {
    let found = slope(function, start);
    assert!(
        (found - expected).abs() <= limit * expected,
        "{found} instead of {expected}"
    );
}

#[test]
fn a_counted_sum_has_its_exact_derivative() {
    let x = 0.7f64;
    let expected: f64 = (1..=6).map(|k| f64::from(k) * x.powi(k - 1)).sum();
    let function = "protected
  Integer i; Real p;
algorithm
  y := 0; p := 1; i := 0;
  while i < 6 loop
    p := p*x;
    y := y + p;
    i := i + 1;
  end while;";
    check(function, x, expected, ROUND_OFF);
}

#[test]
fn a_search_in_a_table_has_the_slope_of_its_piece() {
    let function = "protected
  Real at[4] = {0, 1, 2, 4}; Real value[4] = {0, 1, 4, 16}; Integer k;
algorithm
  k := 1;
  while k < 3 and x > at[k + 1] loop
    k := k + 1;
  end while;
  y := value[k] + (value[k + 1] - value[k])/(at[k + 1] - at[k])*(x - at[k]);";
    for (x, expected) in [(0.25, 1.0), (1.5, 3.0), (3.0, 6.0)] {
        check(function, x, expected, ROUND_OFF);
    }
}

#[test]
fn a_loop_with_branches_on_its_input_has_the_derivative_of_the_branch() {
    // y = Σ |x - k|·(x - k) for k = 0, 1, 2.
    let function = "algorithm
  y := 0;
  for k in 0:2 loop
    if x > k then
      y := y + (x - k)^2;
    else
      y := y - (x - k)^2;
    end if;
  end for;";
    let x = 1.25f64;
    let expected = (0..3).map(|k| 2.0 * (x - f64::from(k)).abs()).sum();
    check(function, x, expected, ROUND_OFF);
}

#[test]
fn an_iteration_has_the_derivative_of_its_limit() {
    // Bisection: every pass has derivative zero with respect to x.
    let function = "protected
  Real low; Real high;
algorithm
  low := 0; high := x + 1;
  while high - low > 1e-15 loop
    y := (low + high)/2;
    if y*y > x then
      high := y;
    else
      low := y;
    end if;
  end while;";
    check(function, 2.25, 1.0 / 3.0, DIFFERENCE);
}
