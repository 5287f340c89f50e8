//! `unit-mismatch`: equations that put quantities of different units together are found, others are not.

use std::fmt::Write as _;
use std::fs;

use crate::{saltus_in, scratch};

/// Quantities that the equations speak of.
const DECLARATIONS: &str = "
  Real v(unit = \"V\"), v2(unit = \"V\"), i(unit = \"A\"), i2(unit = \"A\");
  Real s(unit = \"m\"), s2(unit = \"m\"), w(unit = \"m/s\"), a(unit = \"m/s2\");
  Real F(unit = \"N\"), tau(unit = \"N.m\"), P(unit = \"W\"), E(unit = \"J\");
  Real T(unit = \"K\"), Tc(unit = \"degC\"), Q(unit = \"W\"), p(unit = \"Pa\"), pb(unit = \"bar\");
  Real phi(unit = \"rad\"), om(unit = \"rad/s\"), al(unit = \"deg\"), mm(unit = \"mm\"), f(unit = \"Hz\");
  Real rho(unit = \"kg/m3\"), V(unit = \"m3\"), mass(unit = \"kg\"), h(unit = \"J/kg\"), area(unit = \"m2\");
  Real x, y, e(unit = \"1\");
  parameter Real R(unit = \"Ohm\") = 1, L(unit = \"H\") = 1, C(unit = \"F\") = 1, J(unit = \"kg.m2\") = 1;
  parameter Real m(unit = \"kg\") = 1, c(unit = \"N/m\") = 1, d(unit = \"N.s/m\") = 1, tend(unit = \"s\") = 1;
  parameter Real G(unit = \"W/K\") = 1, k = 1, cp(unit = \"J/(kg.K)\") = 1;
  function areaOf
    input Real r(unit = \"m\");
    output Real A(unit = \"m2\");
  algorithm
    A := 3*r*r;
    annotation(Inline = false);
  end areaOf;
  connector Signal = input Real;
";

/// Each wrong by itself.
const WRONG: &[&str] = &[
    "i = v",
    "s = v + L*der(i)",
    "v = R*i + s",
    "v = i/R",
    "i = C*v",
    "v = L*i",
    "der(v) = i",
    "L*der(i) = i",
    "F = m*w",
    "F = m*a + c*w",
    "F = c*s + d*s",
    "w = s",
    "der(s) = a",
    "der(w) = F",
    "m*der(w) = c*s + d*w + P",
    "P = F*s",
    "E = F*w",
    "P = tau",
    "tau = F",
    "J*der(om) = F",
    "om = phi",
    "der(phi) = om + s",
    "T = Tc",
    "Q = G*p",
    "Q = G*(T - p)",
    "p = pb",
    "s = mm",
    "sin(s) = x",
    "x = exp(T)",
    "x = log(p)",
    "e = v",
    "e = s/w",
    "f = tend",
    "s = w*f",
    "s = if time > 1 then w else s2",
    "s = max(s2, w)",
    "s = min(s2, tend)",
    "s = abs(w)",
    "area = sqrt(s)",
    "s = sqrt(s2)",
    "area = s^3",
    "V = s*s",
    "mass = rho*area",
    "E = m*w^3/2",
    "Q = mass*h",
    "h = cp*p",
    "x = if s > w then 1 else 0",
    "x = if time > s then 1 else 0",
    "v = noEvent(i)",
    "v = smooth(0, i)",
    "area = areaOf(w)",
    "w = areaOf(s)",
    "x = areaOf(tend)",
    "p = F/s",
    "p = F/V",
    "v = homotopy(i, i2)",
    "P = v*v",
    "R*i2 = P",
    "x = atan2(s, w)",
    "s = mod(s2, w)",
    "al = phi",
    "x = sin(al)",
    "s = s2*w",
    "1/R = i*v",
];

/// Each right by itself.
const RIGHT: &[&str] = &[
    "i = v/R",
    "v = R*i",
    "L*der(i) = v",
    "C*der(v) = i",
    "P = v*i",
    "F = m*a",
    "m*der(w) = -c*s - d*w",
    "der(s) = w",
    "E = m*w^2/2",
    "E = F*s",
    "P = F*w",
    "P = tau*om",
    "J*der(om) = tau",
    "om = der(phi)",
    "T = Tc + 273.15",
    "Q = G*(T - 300)",
    "p = 1e5*pb",
    "s = mm/1000",
    "x = sin(phi)",
    "x = sin(om*time)",
    "x = sin(2*3.14*f*time)",
    "e = s/s2",
    "e = exp(-time/tend)",
    "s = w*time",
    "area = s^2",
    "s = sqrt(area)",
    "s = area^0.5",
    "mass = rho*V",
    "Q = mass*cp*(T - 293)/tend",
    "x = if s > 0 then 1 else 0",
    "x = if time > tend then 1 else 0",
    "v = k*i",
    "v = k",
    "x = v",
    "v = 5",
    "v = 0",
    "v + 3 = v2",
    "s = max(s2, 0)",
    "s = abs(s2)",
    "area = areaOf(s)",
    "area = areaOf(2)",
    "al = phi*180/3.14159",
    "om = 2*3.14*f",
    "f = 1/tend",
    "tau = F*s",
    "h = cp*T",
    "p = F/area",
    "x = atan2(s, s2)",
    "s = smooth(0, if s2 > 0 then s2 else 0)",
    "v = homotopy(v2, 0)",
    "R*i2 = v",
    "1/R = i/v",
];

/// A file with a model for each equation, named by its number.
fn file(equations: &[&str]) -> String {
    let mut text = String::from("package P\n");
    for (k, equation) in equations.iter().enumerate() {
        // No model has as many equations as unknowns: the check comes before that is found.
        let _ = writeln!(
            text,
            "model M{k}{DECLARATIONS}equation\n  {equation};\nend M{k};"
        );
    }
    text.push_str("end P;\n");
    text
}

/// The numbers of the equations that have a warning.
fn warned(test: &str, equations: &[&str]) -> Vec<usize> {
    let folder = scratch(test);
    fs::write(folder.join("P.mo"), file(equations)).unwrap();
    (0..equations.len())
        .filter(|k| {
            let name = format!("P.M{k}");
            let ran = saltus_in(
                &folder,
                &["show", "P.mo", "--model", &name, "--stage", "units"],
            );
            assert_eq!(ran.exit, Some(0), "{}: {}", equations[*k], ran.stderr);
            ran.stdout.contains("warning[unit-mismatch]")
        })
        .collect()
}

#[test]
fn wrong_units_are_found() {
    let found = warned("units_wrong", WRONG);
    let missed: Vec<&str> = (0..WRONG.len())
        .filter(|k| !found.contains(k))
        .map(|k| WRONG[k])
        .collect();
    assert!(WRONG.len() >= 60 && missed.len() <= 2, "{missed:?}");
}

#[test]
fn right_units_are_left_alone() {
    let found: Vec<&str> = warned("units_right", RIGHT)
        .into_iter()
        .map(|k| RIGHT[k])
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_mismatch_names_both_units_and_declarations() {
    let folder = scratch("units_message");
    let text = "model M
  parameter Real k(unit = \"s\") = 1;
  Real v(unit = \"V\") = 10*time;
  Real i(unit = \"A\");
  connector Out = output Real;
  connector In = input Real;
  block Source
    Out y(unit = \"rad/s\") = time;
  end Source;
  block Pass
    In u;
  end Pass;
  block Sink
    In u(unit = \"N\");
    Real x = u;
  end Sink;
  Source source;
  Sink sink;
equation
  i = v;
  connect(source.y, sink.u);
end M;
";
    fs::write(folder.join("M.mo"), text).unwrap();
    let ran = saltus_in(&folder, &["check", "M.mo"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stderr.matches("warning[unit-mismatch]").count(),
        2,
        "{}",
        ran.stderr
    );
    let expected = "units do not agree: `i` is in `A`, `v` is in `V`";
    assert!(
        ran.stderr.contains(expected) || ran.stderr.contains("kg"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("`i` is in `A`\n") && ran.stderr.contains("rad/s"),
        "{}",
        ran.stderr
    );
}
