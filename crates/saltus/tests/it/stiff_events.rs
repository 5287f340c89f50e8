//! Events inside fast transients: ideal diodes with a conductance in the off state behind inductors, where the voltage that decides has a time constant of
//! a tenth of a microsecond and implicit methods take steps of some 100 µs.

use saltus::{Run, Session};

const SOLVERS: [&str; 6] = ["auto", "dopri5", "dop853", "radau", "esdirk", "bdf"];

fn simulate(text: &str, name: &str, solver: &str, tolerance: f64, stop_time: f64) -> Run {
    let mut session = Session::new();
    session.set_text("model.mo", text);
    let model = session.compile(name).expect("the model is correct");
    let experiment = model
        .experiment()
        .stop_time(stop_time)
        .tolerance(tolerance)
        .solver(solver)
        .expect("a solver of that name");
    match experiment.simulate() {
        Ok(run) => run,
        Err(error) => panic!("{solver} at {tolerance}: {error:?}"),
    }
}

/// The state is the current of an inductor plus a large constant, so that the tolerance allows 1e-3 A, and the transient between the diodes is some
/// 0.02 A.
const COMMUTATION: &str = "
model Commutation
  parameter Real L = 1e-3, Ron = 1e-4, Goff = 1e-4, U = 100, V = 50;
  Real j(start = 1100, fixed = true), i, v, s1, s2, i1, i2;
  Boolean off1, off2;
equation
  i = j - 1000;
  L*der(j) = -U - v;
  i = i1 - i2;
  off1 = s1 < 0;
  v - V = if off1 then s1 else Ron*s1;
  i1 = if off1 then Goff*s1 else s1;
  off2 = s2 < 0;
  -V - v = if off2 then s2 else Ron*s2;
  i2 = if off2 then Goff*s2 else s2;
end Commutation;
";

/// Times at which the first diode opens and the second closes, and the current at 1 ms. With a = R_on/(L (1 + G R_on)): the first diode conducts
/// while w = i - 2GV > 0, w' = -(U + V)/L - a·w; then both are off, i = 2Gv and v relaxes to -U with the time constant 2LG until it is at -V; then
/// the second conducts, w = i + 2GV, w' = -(U - V)/L - a·w.
fn commutation() -> (f64, f64, f64) {
    let (l, r_on, g, u, v) = (1e-3, 1e-4, 1e-4, 100.0f64, 50.0);
    let a = r_on / (l * (1.0 + g * r_on));
    let opens = (a * (100.0 - 2.0 * g * v) * l / (u + v)).ln_1p() / a;
    let closes = opens + 2.0 * l * g * ((u + v) / (u - v)).ln();
    let end = (u - v) / (l * a) * (-a * (1e-3 - closes)).exp_m1() - 2.0 * g * v;
    (opens, closes, end)
}

#[test]
fn a_current_changes_from_one_diode_to_the_other_at_the_right_time() {
    let (opens, closes, end) = commutation();
    for solver in SOLVERS {
        for tolerance in [1e-6, 1e-7, 1e-8] {
            let run = simulate(COMMUTATION, "Commutation", solver, tolerance, 1e-3);
            let error = run.last("j").expect("a state") - (1000.0 + end);
            // One tolerance; an event inside a step of 50 µs that ignores the transient is late by 440 of them.
            assert!(
                error.abs() < 1000.0 * tolerance,
                "{solver} at {tolerance}: {error}"
            );
            let times: Vec<f64> = (run.events().iter().map(|event| event.time))
                .filter(|&t| t > 0.0)
                .collect();
            let [first, second] = times[..] else {
                panic!("{solver} at {tolerance}: events at {times:?}");
            };
            // The current falls with 150 A/ms at the first and with 50 A/ms at the second: one tolerance in terms of time.
            let resolved = [150e3, 50e3].map(|rate| 1000.0 * tolerance / rate);
            assert!((first - opens).abs() < resolved[0], "{solver}: {first}");
            assert!(
                (second - closes).abs() < resolved[0] + resolved[1],
                "{solver}: {second}"
            );
        }
    }
}

/// A bridge of six diodes behind three inductors without a neutral wire. A diode closes with a current near zero that is the difference of two large
/// states, and an error far below the tolerance decides whether it rises or falls.
const BRIDGE: &str = "
model Bridge
  parameter Real E = 100, w = 314.15926535897931, L = 1e-3, C = 1e-3, R = 5, Ron = 1e-5, Goff = 1e-5;
  Real i[3], vdc(start = 140, fixed = true), v0, v[3], s1[3], s2[3], i1[3], i2[3];
  Boolean off1[3], off2[3];
initial equation
  i[1] = 0;
  i[2] = 0;
equation
  for k in 1:3 loop
    L*der(i[k]) = E*sin(w*time - (k - 1)*2.0943951023931953) - v[k] + v0;
    i[k] = i1[k] - i2[k];
    off1[k] = s1[k] < 0;
    v[k] - vdc = if off1[k] then s1[k] else Ron*s1[k];
    i1[k] = if off1[k] then Goff*s1[k] else s1[k];
    off2[k] = s2[k] < 0;
    -v[k] = if off2[k] then s2[k] else Ron*s2[k];
    i2[k] = if off2[k] then Goff*s2[k] else s2[k];
  end for;
  i[1] + i[2] + i[3] = 0;
  C*der(vdc) = i1[1] + i1[2] + i1[3] - vdc/R;
end Bridge;
";

#[test]
fn a_bridge_of_ideal_diodes_does_not_chatter() {
    // Radau, ESDIRK and BDF at a tolerance of 1e-10 agree to 1e-7.
    let at_end = 153.5358106;
    for solver in ["auto", "radau", "esdirk", "bdf"] {
        for tolerance in [1e-5, 1e-6, 1e-7, 1e-8] {
            let run = simulate(BRIDGE, "Bridge", solver, tolerance, 0.1);
            let events = run.statistics.events.state;
            // 62 with tight tolerances: six of opening and six of closing in a period.
            assert!(
                (60..=120).contains(&events),
                "{solver} at {tolerance}: {events} events"
            );
            let error = run.last("vdc").expect("a state") - at_end;
            assert!(
                error.abs() < 20.0 * tolerance * at_end,
                "{solver} at {tolerance}: {error}"
            );
        }
    }
}
