//! The textbook's ways to notice crossings in a step and to tell the first of several apart, in a run (`--event-detection`, `--event-isolation`).

use crate::switches::compile;
use saltus::Model;
use saltus::results::EventKind;

const DETECTIONS: [&str; 4] = ["all", "sign-change", "derivative", "sturm"];
const ISOLATIONS: [&str; 3] = ["together", "regula-falsi", "golden-section"];

/// Times of state events with a detection and an isolation.
fn times(model: &Model, stop_time: f64, detection: &str, isolation: &str) -> Vec<f64> {
    let experiment = model.experiment().stop_time(stop_time).tolerance(1e-9);
    let run = (experiment.event_detection(detection))
        .and_then(|e| e.event_isolation(isolation))
        .and_then(|e| e.solver("dopri5"))
        .and_then(|e| e.simulate());
    let run = run.unwrap_or_else(|error| panic!("{error}"));
    let events = run.events().iter().filter(|e| e.kind == EventKind::State);
    events.map(|e| e.time).collect()
}

#[test]
fn several_functions_in_one_step_change_in_their_order() {
    // Nine functions of one motion; the steps of the method are longer than their distances.
    let model = compile(
        "model Order
  Real x(start = 0, fixed = true);
  Integer n[9](each start = 0, each fixed = true);
equation
  der(x) = 1 + 0.5*cos(time);
  for k in 1:9 loop
    when x > 0.3*k + 0.01*mod(k, 3) then
      n[k] = pre(n[k]) + 1;
    end when;
  end for;
end Order;",
        "Order",
    );
    // x = t + sin(t)/2 by bisection.
    let wanted: Vec<f64> = (1..=9)
        .map(|k| {
            let level = 0.3 * f64::from(k) + 0.01 * f64::from(k % 3);
            let (mut a, mut b) = (0.0f64, 4.0f64);
            for _ in 0..60 {
                let t = 0.5 * (a + b);
                if t + 0.5 * t.sin() > level {
                    b = t
                } else {
                    a = t
                }
            }
            b
        })
        .collect();
    for detection in DETECTIONS {
        for isolation in ISOLATIONS {
            let found = times(&model, 3.0, detection, isolation);
            assert_eq!(found.len(), wanted.len(), "{detection}, {isolation}");
            for (found, wanted) in found.iter().zip(&wanted) {
                // A hundred times the tolerance of the states.
                assert!(
                    (found - wanted).abs() < 1e-7,
                    "{detection}, {isolation}: {found} {wanted}"
                );
            }
        }
    }
}

#[test]
fn what_signs_at_the_ends_do_not_show_is_missed_by_them_alone() {
    // Below zero for a thousandth of a second, within one step.
    let model = compile(
        "model Short
  Real x(start = 0.30249975, fixed = true);
  Boolean low = x < 0;
equation
  der(x) = 2*(time - 0.55);
end Short;",
        "Short",
    );
    for detection in DETECTIONS {
        let found = times(&model, 3.0, detection, "together");
        let wanted: &[f64] = match detection {
            "sign-change" => &[],
            _ => &[0.5495, 0.5505],
        };
        assert_eq!(found.len(), wanted.len(), "{detection}: {found:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            // The function's slope is 0.001: an error of a tolerance is a thousand times that in time.
            assert!((found - wanted).abs() < 1e-6, "{detection}: {found}");
        }
    }
}

#[test]
fn unknown_names_are_told_with_the_known_ones() {
    let model = compile(
        "model M Real x(start = 0, fixed = true); equation der(x) = 1; end M;",
        "M",
    );
    let error = |e: saltus::Error| e.to_string();
    let detection = model.experiment().event_detection("magic").err().map(error);
    assert!(detection.is_some_and(|e| e.contains("sign-change, derivative, sturm")));
    let isolation = model.experiment().event_isolation("magic").err().map(error);
    assert!(isolation.is_some_and(|e| e.contains("together, regula-falsi, golden-section")));
}

#[test]
fn a_solution_that_ends_inside_a_step_is_found_by_every_integrator() {
    let model = compile(
        "model Fold
  Real x(start = -1, fixed = true), y(start = -1.3);
equation
  der(x) = sin(time);
  y^3 - y = x;
end Fold;",
        "Fold",
    );
    // The branches end where x = -cos(t) is ±2/(3·√3).
    let end = (-2.0 / 27f64.sqrt()).acos();
    let wanted = [
        end,
        std::f64::consts::PI + end,
        2.0 * std::f64::consts::PI + end,
    ];
    // The error of the methods of first order over the whole run.
    let accuracy = 5e-3;
    let solvers = "dopri5 dop853 radau esdirk bdf euler rk4 runge-kutta-simpson rkf45 backward-euler trapezoidal lobatto";
    for solver in solvers.split(' ') {
        let experiment = model.experiment().stop_time(10.0).tolerance(1e-5);
        let run = experiment.solver(solver).and_then(|e| e.simulate());
        let run = run.unwrap_or_else(|error| panic!("{solver}: {error}"));
        let folds = run.events().iter().filter(|e| e.kind == EventKind::Fold);
        let times: Vec<f64> = folds.map(|e| e.time).collect();
        let found = times.len() == 3
            && (times.iter().zip(wanted)).all(|(t, wanted)| (t - wanted).abs() < accuracy);
        assert!(found, "{solver}: {times:?}, not {wanted:?}");
    }
}
