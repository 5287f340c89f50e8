//! Inline and mixed-mode integration (textbook 9.11): formulas of integrators as equations.

use saltus::{Error, Run, Session};

/// Eqs. 9.52 of the textbook, the half-wave rectifier with line inductance.
const RECTIFIER: &str = "
model Rectifier
  parameter Real Ri = 10, RL = 50, C = 1e-3, L = 10e-3;
  Real u0, u1, u2(start = 0, fixed = true), ud, uL;
  Real i0(start = 0, fixed = true), iR, iC, s;
  Integer mo = if s < 0 then 1 else 0;
equation
  u0 = 10*sin(2*3.14159265358979324*50*time);
  u1 = Ri*i0;
  u2 = RL*iR;
  iC = C*der(u2);
  uL = L*der(i0);
  u0 = uL + u1 + ud + u2;
  i0 = iC + iR;
  ud = mo*s;
  i0 = (1 - mo)*s;
end Rectifier;
";

/// Values between the events in closed form, 50 digits (time, u2, i0).
const EXACT: [(f64, f64, f64); 6] = [
    (0.004, 1.3049026926092613, 0.7041308118085223),
    (0.008, 3.844715952666538, 0.4342607112872842),
    (0.012, 3.8909712418997624, 0.0),
    (0.025, 4.074205216910207, 0.5445158680846593),
    (0.028, 5.218581079736544, 0.2758326342492058),
    (0.031, 5.071037379172307, 0.0),
];

const SWITCHES: [f64; 4] = [
    0.009625875319075487,
    0.02105249931844463,
    0.029151901276204633,
    0.04135261764878071,
];

fn session(text: &str, inlined: &[(&str, &str)]) -> Session {
    let mut session = Session::new();
    session.set_text("model.mo", text);
    for &(state, method) in inlined {
        session.inline(state, method).expect("a known method");
    }
    session
}

fn rectify(inlined: &[(&str, &str)], step: f64) -> Run {
    let compiled = session(RECTIFIER, inlined).compile("Rectifier");
    let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
    let experiment = compiled.experiment().stop_time(0.045).interval(1e-3);
    let run = experiment.tolerance(1e-10).inline_step(step).simulate();
    run.unwrap_or_else(|e| panic!("{e}"))
}

/// The largest error of voltage and current.
fn error(run: &Run) -> f64 {
    let off = |name: &str, t: f64, exact: f64| {
        (run.at(name, t).expect("a variable of the model") - exact).abs()
    };
    (EXACT.iter())
        .flat_map(|&(t, u2, i0)| [off("u2", t, u2), off("i0", t, i0)])
        .fold(0.0, f64::max)
}

fn switches(run: &Run) -> Vec<f64> {
    let caused = run.events().iter().filter(|e| !e.cause.is_empty());
    caused.map(|e| e.time).collect()
}

#[test]
fn equations_9_55_to_9_57_are_what_is_sorted() {
    let text = session(RECTIFIER, &[("i0", "backward-euler")])
        .print_structure("Rectifier")
        .expect("the model is correct");
    // One state is left; the curve parameter is the tearing variable, the formula of the integrator the residual (Figs. 9.34 to 9.36).
    assert!(text.contains("1 states\nstates\n  u2,"), "{text}");
    assert!(text.contains("mixed linear block"), "{text}");
    assert!(text.contains("unknowns s\n"), "{text}");
    for line in [
        "ud := mo*s",
        "i0 := (1 - mo)*s",
        "u1 := Ri*i0",
        "0 = i0 - ($old(i0) + $h*der(i0))",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    // Nothing divides by mo, by 1 - mo or by h.
    for wrong in ["/mo", "/(1 - mo)", "/$h"] {
        assert!(!text.contains(wrong), "`{wrong}` in\n{text}");
    }
}

#[test]
fn equation_9_57c_holds_at_every_step_in_both_positions() {
    let (ri, l, h) = (10.0, 10e-3, 1e-4);
    let compiled = session(RECTIFIER, &[("i0", "backward-euler")])
        .compile("Rectifier")
        .expect("the model is correct");
    let experiment = compiled.experiment().stop_time(0.045).interval(h);
    let run = experiment.inline_step(h).simulate().expect("it runs");
    let time = run.table.time();
    let get = |name: &str| run.table.signal(name).expect("in the result").to_vec();
    let (s, i0, u0, u2, mo) = (get("s"), get("i0"), get("u0"), get("u2"), get("mo"));
    let events = switches(&run);
    let mut seen = [0, 0];
    for n in 1..time.len() {
        // A step that begins at the row before: not the ones around an event.
        let near = |e: &f64| (time[n] - e).abs() < 2.5 * h;
        if n == 1 || events.iter().any(near) || (time[n] - time[n - 1] - h).abs() > 1e-9 * h {
            continue;
        }
        let h = time[n] - time[n - 1];
        let formula =
            (l * i0[n - 1] + h * (u0[n] - u2[n])) / (h * mo[n] + (l + h * ri) * (1.0 - mo[n]));
        let size = 1.0 + formula.abs();
        assert!(
            (s[n] - formula).abs() < 1e-9 * size,
            "{} at {}",
            s[n] - formula,
            time[n]
        );
        seen[usize::from(mo[n] != 0.0)] += 1;
    }
    assert!(seen[0] > 150 && seen[1] > 150, "{seen:?}");
}

#[test]
fn methods_converge_with_their_orders_across_the_switchings() {
    for (method, order, step) in [
        ("backward-euler", 1.0, 1e-4),
        ("trapezoidal", 2.0, 2e-4),
        ("radau3", 3.0, 2e-4),
        ("radau5", 5.0, 2e-4),
    ] {
        let (coarse, fine) = (
            rectify(&[("*", method)], step),
            rectify(&[("*", method)], 0.5 * step),
        );
        let measured = (error(&coarse) / error(&fine)).log2();
        assert!((measured - order).abs() < 0.2, "{method}: order {measured}");
        assert_eq!(fine.statistics.states, 0, "{method}");
        let times = switches(&fine);
        assert_eq!(times.len(), SWITCHES.len(), "{method}: {times:?}");
        let late = |k: usize| (times[k] - SWITCHES[k]).abs();
        assert!(
            (0..4).all(|k| late(k) < 2.0 * error(&fine)),
            "{method}: {times:?}"
        );
    }
    assert!(error(&rectify(&[("*", "radau5")], 1e-4)) < 1e-9);
}

#[test]
fn mixed_mode_leaves_other_states_to_the_integrator() {
    for (method, order) in [("backward-euler", 1.0), ("trapezoidal", 2.0)] {
        let (coarse, fine) = (
            rectify(&[("i0", method)], 1e-4),
            rectify(&[("i0", method)], 5e-5),
        );
        let measured = (error(&coarse) / error(&fine)).log2();
        assert!((measured - order).abs() < 0.2, "{method}: order {measured}");
        assert_eq!(fine.statistics.states, 1);
        assert_eq!(fine.statistics.modes_structured, 1);
    }
    // A method for each state.
    let both = [("i0", "trapezoidal"), ("u2", "radau3")];
    let measured = (error(&rectify(&both, 1e-4)) / error(&rectify(&both, 5e-5))).log2();
    assert!((measured - 2.0).abs() < 0.2, "order {measured}");
}

#[test]
fn reinit_and_relations_of_inlined_variables_are_events() {
    let ball = "
model Ball
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -9.81;
  when x < 0 then
    reinit(v, -0.8*pre(v));
  end when;
end Ball;";
    let run = |method: &str, step: f64| {
        let compiled = session(ball, &[("*", method)]).compile("Ball");
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        let experiment = compiled.experiment().stop_time(1.5).inline_step(step);
        experiment.simulate().unwrap_or_else(|e| panic!("{e}"))
    };
    let first = (2.0f64 / 9.81).sqrt();
    let impacts = [first, 2.6 * first];
    // Free fall is a parabola, which methods of order 2 have exactly.
    for method in ["trapezoidal", "radau3", "radau5"] {
        let run = run(method, 0.01);
        let jumps = (run.events().iter()).filter(|e| e.changed.iter().any(|c| c.variable == "v"));
        let times: Vec<f64> = jumps.map(|e| e.time).collect();
        assert!(times.len() >= 2, "{method}: {times:?}");
        for (time, exact) in times.iter().zip(impacts) {
            assert!((time - exact).abs() < 1e-9, "{method}: {time}, not {exact}");
        }
    }
    let late = |step| (switches(&run("backward-euler", step))[0] - first).abs();
    let order = (late(0.01) / late(0.005)).log2();
    assert!((order - 1.0).abs() < 0.2, "order {order}");
}

#[test]
fn a_switch_opened_on_a_current_takes_one_step_and_no_more() {
    let text = "
model Opened
  Real i(start = 0.5, fixed = true), u;
equation
  10 - 20*i - der(i) = u;
  0 = if time < 0.25 then u else i;
end Opened;";
    for method in ["backward-euler", "trapezoidal", "radau3"] {
        let compiled = session(text, &[("i", method)]).compile("Opened");
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        let run = compiled
            .experiment()
            .stop_time(0.5)
            .inline_step(1e-3)
            .simulate();
        let run = run.unwrap_or_else(|e| panic!("{method}: {e}"));
        for t in [0.26, 0.3, 0.5] {
            let (i, u) = (run.at("i", t).unwrap(), run.at("u", t).unwrap());
            assert!(
                i.abs() < 1e-12 && (u - 10.0).abs() < 1e-6,
                "{method}: {i}, {u}"
            );
        }
        assert!((run.at("i", 0.2).unwrap() - 0.5).abs() < 1e-12);
    }
}

#[test]
fn annotations_inline_variables_components_and_models() {
    let states = |text: &str| {
        let compiled = session(text, &[]).compile("M").expect("correct");
        let run = compiled.experiment().stop_time(0.1).simulate();
        run.unwrap_or_else(|e| panic!("{e}")).statistics.states
    };
    let with = |of_x: &str, of_part: &str, of_model: &str| {
        format!(
            "model Part Real z(start = 1, fixed = true); equation der(z) = -z; end Part;
             model M
               Real x(start = 1, fixed = true) {of_x};
               Part part {of_part};
             equation
               der(x) = -x;
               annotation(experiment(StopTime = 1){of_model});
             end M;"
        )
    };
    let inline = "annotation(__Saltus(inline = \"trapezoidal\"))";
    assert_eq!(states(&with("", "", "")), 2);
    assert_eq!(states(&with(inline, "", "")), 1);
    assert_eq!(states(&with("", inline, "")), 1);
    let model = ", __Saltus(inline = \"radau5\", inlineStep = 0.01)";
    assert_eq!(states(&with("", "", model)), 0);
}

#[test]
fn what_cannot_be_inlined_is_an_error() {
    let code = |text: &str, inlined: &[(&str, &str)], class: &str| {
        let Err(Error::Model(diagnostics)) = session(text, inlined).compile(class) else {
            panic!("{inlined:?} is inlined");
        };
        diagnostics.error_codes().join(" ")
    };
    let refused = "inline-not-possible";
    for wrong in ["inline = \"dopri5\"", "inlineStep = -1", "inlineStep = x"] {
        let text = format!(
            "model M Real x(start = 1); equation der(x) = -x; annotation(__Saltus({wrong})); end M;"
        );
        assert_eq!(code(&text, &[], "M"), refused, "{wrong}");
    }
    assert_eq!(
        code(RECTIFIER, &[("u1", "trapezoidal")], "Rectifier"),
        refused
    );
    assert_eq!(code(RECTIFIER, &[("i0", "radau5")], "Rectifier"), refused);
    let mut both = Session::new();
    assert!(matches!(both.inline("x", "dopri5"), Err(Error::Usage(_))));
    let missing = session(RECTIFIER, &[("i9", "radau5")]).compile("Rectifier");
    assert!(matches!(missing, Err(Error::Usage(_))));
}

#[test]
fn a_run_goes_on_where_an_inlined_one_has_been() {
    let compiled = session(RECTIFIER, &[("*", "radau5")])
        .compile("Rectifier")
        .expect("the model is correct");
    let experiment = || compiled.experiment().interval(1e-3).inline_step(1e-4);
    let first = experiment().stop_time(0.015).simulate();
    let first = first.unwrap_or_else(|e| panic!("{e}"));
    let next = experiment().start_from(&first.table, None);
    let next = next.expect("a result of the model").stop_time(0.045);
    let next = next.simulate().unwrap_or_else(|e| panic!("{e}"));
    for (t, u2, i0) in EXACT.into_iter().filter(|point| point.0 > 0.015) {
        assert!((next.at("u2", t).unwrap() - u2).abs() < 1e-8);
        assert!((next.at("i0", t).unwrap() - i0).abs() < 1e-8);
    }
}
