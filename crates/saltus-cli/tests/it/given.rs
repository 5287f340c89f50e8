//! What a user types is understood or refused: settings, inputs, lists, units.

use std::fs;
use std::path::Path;

use crate::{Ran, saltus_in, scratch};

const MODEL: &str = "model Lag
  type Mode = enumeration(slow, fast);
  parameter Real k(min = 0, max = 10, unit = \"1/s\") = 1 \"Rate\";
  parameter Integer n = 2;
  final parameter Real f = 3;
  constant Real c = 4;
  parameter Mode mode = Mode.slow;
  parameter String label = \"lag\";
  parameter Real v[3] = {1, 2, 3};
  parameter Real m[2,2] = {{1, 0}, {0, 1}};
  Real x(start = 0, fixed = true);
  Real sum = v[1] + v[2] + v[3] + m[1,2] + (if mode == Mode.fast then 100 else 0);
  discrete Real count(start = n, fixed = true);
  input Real u;
equation
  der(x) = k*(u - x);
  when time > 2 then
    count = pre(count) + 1;
  end when;
end Lag;
";

fn folder(test: &str) -> std::path::PathBuf {
    let folder = scratch(test);
    fs::write(folder.join("Lag.mo"), MODEL).unwrap();
    folder
}

fn run(folder: &Path, args: &[&str]) -> Ran {
    let mut all = vec!["simulate", "Lag.mo", "--quiet", "--output", "r.csv"];
    // No name with a comma.
    all.extend(
        ["x", "sum", "count"]
            .iter()
            .flat_map(|name| ["--variables", name]),
    );
    all.extend(args);
    saltus_in(folder, &all)
}

/// The last value of a column of `r.csv`.
fn last(folder: &Path, name: &str) -> f64 {
    let text = fs::read_to_string(folder.join("r.csv")).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let wanted = format!("\"{name}\"");
    // Names with a comma are not asked for here.
    let column = head.split(',').position(|c| c == wanted || c == name);
    let column = column.unwrap_or_else(|| panic!("no {name} in {head}"));
    lines
        .last()
        .unwrap()
        .split(',')
        .nth(column)
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn wrong_settings_are_refused_with_a_sentence() {
    let folder = folder("given_wrong");
    for (setting, expected) in [
        ("n=2.5", "`n` is an Integer, and 2.5 is a Real"),
        ("f=1", "it is final"),
        ("c=1", "it is a constant"),
        ("mode=sideways", "one of slow, fast"),
        ("mode=3", "one of slow, fast"),
        ("v={1,2}", "`v` has 3 elements"),
        ("v=7", "array of 3 elements"),
        ("k=-1", "less than its `min` of 0"),
        ("k=5+6", "more than its `max` of 10"),
        ("k=2*", "cannot be set to `2*`"),
        ("k=2*q", "q"),
        ("kk=1", "did you mean `k`"),
        ("x.nominal=3", "only `start`"),
        ("k.start=3", "set it itself"),
        ("der(x)=3", "no start value"),
    ] {
        let ran = run(&folder, &["--set", setting, "--input", "u=0"]);
        assert_eq!(ran.exit, Some(2), "{setting}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{setting}: {}", ran.stderr);
    }
}

#[test]
fn settings_are_values_words_arrays_elements_starts_and_expressions() {
    let folder = folder("given_settings");
    for (settings, name, expected) in [
        (&["mode=fast"][..], "sum", 106.0),
        (&["mode=Mode.fast"], "sum", 106.0),
        (&["v={4, 5, 6}"], "sum", 15.0),
        (&["v[2]=10"], "sum", 14.0),
        (&["v=linspace(0, 1, 3)"], "sum", 1.5),
        (&["m={{1, 7}, {0, 1}}"], "sum", 13.0),
        (&["x.start=2*3", "k=0"], "x", 6.0),
        (&["x=4", "k=sin(0)"], "x", 4.0),
        (&["n=3+4"], "count", 7.0),
        (&["label=any text"], "count", 2.0),
    ] {
        let mut args = vec!["--input", "u=0"];
        args.extend(settings.iter().flat_map(|s| ["--set", s]));
        let ran = run(&folder, &args);
        assert_eq!(ran.exit, Some(0), "{settings:?}: {}", ran.stderr);
        let value = last(&folder, name);
        assert!((value - expected).abs() < 1e-9, "{settings:?}: {value}");
    }
}

#[test]
fn files_and_scenarios_hold_settings() {
    let folder = folder("given_files");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write(
        "s.toml",
        "k = 0\nmode = \"fast\"\nv = [4, 5, 6]\n[x]\nstart = \"2*4\"\n",
    );
    write("s.json", "{\"k\": 0, \"x\": 5, \"m\": [[1, 2], [3, 4]]}");
    write("s.csv", "name,value\nk,0\n\"m[1,2]\",\"1 + 2\"\nx,6\n");
    write("saltus.toml", "[scenario.warm]\nk = 0\nx = 7\n");
    for (args, x, sum) in [
        (["--settings", "s.toml"], 8.0, 115.0),
        (["--settings", "s.json"], 5.0, 8.0),
        (["--settings", "s.csv"], 6.0, 9.0),
        (["--scenario", "warm"], 7.0, 6.0),
    ] {
        let mut all = vec!["--input", "u=0"];
        all.extend(args);
        let ran = run(&folder, &all);
        assert_eq!(ran.exit, Some(0), "{args:?}: {}", ran.stderr);
        assert!((last(&folder, "x") - x).abs() < 1e-9, "{args:?}");
        assert!((last(&folder, "sum") - sum).abs() < 1e-9, "{args:?}");
    }
    let ran = run(
        &folder,
        &["--input", "u=0", "--scenario", "warm", "--set", "x=1"],
    );
    assert_eq!(
        (ran.exit, last(&folder, "x")),
        (Some(0), 1.0),
        "--set goes over it"
    );
    let ran = run(&folder, &["--input", "u=0", "--scenario", "cold"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("known are warm"), "{}", ran.stderr);
    write("wrong.toml", "kk = 1\n");
    let ran = run(&folder, &["--input", "u=0", "--settings", "wrong.toml"]);
    assert!(
        ran.exit == Some(2) && ran.stderr.contains("did you mean `k`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn inputs_are_numbers_expressions_and_files() {
    let folder = folder("given_inputs");
    let x = |args: &[&str]| {
        let mut all = vec!["--tolerance", "1e-9"];
        all.extend(args);
        let ran = run(&folder, &all);
        assert_eq!(ran.exit, Some(0), "{args:?}: {}", ran.stderr);
        last(&folder, "x")
    };
    let e = std::f64::consts::E;
    assert!((x(&["--input", "u=1"]) - (1.0 - 1.0 / e)).abs() < 1e-6);
    // x' = sin + cos - x has the solution sin.
    assert!((x(&["--input", "u=sin(time)+cos(time)"]) - 1.0_f64.sin()).abs() < 1e-6);
    let jump = x(&[
        "--input",
        "u=if time < 0.5 then 1 else 0",
        "--events",
        "e.jsonl",
    ]);
    let exact = (1.0 - (-0.5_f64).exp()) * (-0.5_f64).exp();
    assert!((jump - exact).abs() < 1e-8, "{jump} {exact}");
    let events = fs::read_to_string(folder.join("e.jsonl")).unwrap();
    assert!(
        events.contains("\"kind\":\"time\",") && events.contains("\"time\":0.5"),
        "{events}"
    );
    // The names of the model may be used: a feedback.
    assert!((x(&["--input", "u=1 - x"]) - 0.5 * (1.0 - (-2.0_f64).exp())).abs() < 1e-6);

    fs::write(folder.join("u.csv"), "time,u\n0,1\n0.5,1\n0.5,0\n1,0\n").unwrap();
    assert!(
        (x(&["--input", "u.csv"]) - exact).abs() < 1e-8,
        "a jump of the file"
    );
    fs::write(folder.join("w.csv"), "time,u\n0,0\n0.5,1\n1,0\n").unwrap();
    let linear = x(&["--input", "w.csv"]);
    let held = x(&["--input", "w.csv", "--interpolation", "held"]);
    let smooth = x(&["--input", "w.csv", "--interpolation", "smooth"]);
    let exact_held = 1.0 - (-0.5_f64).exp();
    assert!((held - exact_held).abs() < 1e-8, "{held} {exact_held}");
    // x = 2(t - 1 + e^-t) up to one half; then u = 2 - 2t.
    let half = 2.0 * (0.5 - 1.0 + (-0.5_f64).exp());
    let exact_linear = (half - 3.0) * (-0.5_f64).exp() + 2.0;
    assert!(
        (linear - exact_linear).abs() < 1e-8,
        "{linear} {exact_linear}"
    );
    assert!(
        smooth > linear && smooth < 1.2 * linear,
        "{smooth} {linear}"
    );
    for format in ["in.mat", "in.parquet"] {
        let make = ["simulate", "Ramp.mo", "--quiet", "--output", format];
        let text = "model Ramp Real u = time; end Ramp;";
        fs::write(folder.join("Ramp.mo"), text).unwrap();
        assert_eq!(saltus_in(&folder, &make).exit, Some(0));
        assert!((x(&["--input", format]) - 1.0 / e).abs() < 1e-6, "{format}");
    }
}

#[test]
fn wrong_inputs_are_refused() {
    let folder = folder("given_inputs_wrong");
    let check = |args: &[&str], exit: i32, expected: &str| {
        let ran = run(&folder, args);
        assert_eq!(ran.exit, Some(exit), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    };
    check(&[], 1, "the input `u` has no value");
    check(
        &["--input", "k=sin(time)"],
        2,
        "no input of the model; its inputs are `u`",
    );
    check(&["--input", "u=sin(tim)"], 1, "tim");
    check(&["--input", "nothing.csv"], 2, "cannot be read");
    check(&["--input", "plain"], 2, "expected name=expression");
    check(
        &["--input", "u=0", "--interpolation", "cubic"],
        2,
        "held, linear, smooth",
    );
    fs::write(folder.join("v.csv"), "time,w\n0,1\n1,2\n").unwrap();
    check(
        &["--input", "v.csv"],
        2,
        "no column has the name of an input",
    );
    check(
        &["--input", "u=0", "--variables", "speed*"],
        2,
        "matches `speed*`",
    );
    check(
        &["--input", "u=0", "--variables", "coun"],
        2,
        "did you mean `count`",
    );
    check(
        &["--input", "u=0", "--stop-time", "-1"],
        2,
        "before the start time of 0 s",
    );
    check(
        &["--input", "u=0", "--tolerance", "7"],
        2,
        "choose one from 1e-14 to 1",
    );
}

#[test]
fn parameters_and_variables_are_listed() {
    let folder = folder("given_list");
    let ran = saltus_in(&folder, &["parameters", "Lag.mo"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let line = ran.stdout.lines().find(|l| l.starts_with("k ")).unwrap();
    assert!(
        line.contains("1/s") && line.contains("0 … 10") && line.ends_with("Rate"),
        "{line}"
    );
    assert!(!ran.stdout.contains("\nx "), "{}", ran.stdout);

    let ran = saltus_in(
        &folder,
        &["parameters", "Lag.mo", "--format", "json", "--set", "k=3"],
    );
    let rows: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let find = |name: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter()
            .find(|row| row["name"] == name)
            .unwrap_or_else(|| panic!("no {name}"))
            .clone()
    };
    let k = find("k");
    assert_eq!(
        (k["value"].as_f64(), k["min"].as_f64(), k["max"].as_f64()),
        (Some(3.0), Some(0.0), Some(10.0))
    );
    assert_eq!(
        (k["unit"].as_str(), k["type"].as_str()),
        (Some("1/s"), Some("Real"))
    );
    assert_eq!(
        (k["settable"].as_bool(), find("f")["settable"].as_bool()),
        (Some(true), Some(false))
    );
    assert_eq!(
        find("mode")["literals"],
        serde_json::json!(["slow", "fast"])
    );

    let ran = saltus_in(
        &folder,
        &["variables", "Lag.mo", "--format", "json", "--filter", "x"],
    );
    let rows: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    let ran = saltus_in(&folder, &["variables", "Lag.mo", "--filter", "y*"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stdout);
}

const PENDULUM: &str = "model Pendulum
  parameter Real g = 9.81, d = 0.5;
  input Real torque(start = 0);
  Real phi(start = 0.1, fixed = true), w(start = 0, fixed = true);
  output Real angle = phi;
equation
  der(phi) = w;
  der(w) = -g*sin(phi) - d*w + torque;
end Pendulum;
";

#[test]
fn a_pendulum_is_linearised_where_it_rests() {
    let folder = scratch("given_linear");
    fs::write(folder.join("Pendulum.mo"), PENDULUM).unwrap();
    let args = [
        "linearize",
        "Pendulum.mo",
        "--at-rest",
        "--format",
        "json",
        "--output",
        "l.mat",
        "--output",
        "l.json",
        "--bode",
        "b.svg",
        "--poles",
        "p.svg",
    ];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["states"], serde_json::json!(["phi", "w"]));
    let number = |path: &str| {
        value
            .pointer(path)
            .and_then(serde_json::Value::as_f64)
            .unwrap()
    };
    assert!((number("/A/1/0") + 9.81).abs() < 1e-8 && (number("/A/1/1") + 0.5).abs() < 1e-8);
    assert!((number("/B/1/0") - 1.0).abs() < 1e-8 && number("/D/0/0").abs() < 1e-12);
    assert!((number("/poles/0/0") + 0.25).abs() < 1e-8);
    assert!((number("/poles/0/1") - (9.81_f64 - 0.0625).sqrt()).abs() < 1e-7);
    assert_eq!(value["zeros"], serde_json::json!([]));
    assert_eq!(value["stable"], true);
    let file: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("l.json")).unwrap()).unwrap();
    assert_eq!(file["A"], value["A"]);
    assert!(fs::read(folder.join("l.mat")).unwrap().len() > 200);
    for picture in ["b.svg", "p.svg"] {
        let svg = fs::read_to_string(folder.join(picture)).unwrap();
        assert!(svg.contains("<svg") && svg.contains("</svg>"));
    }

    let at = |time: &str| saltus_in(&folder, &["linearize", "Pendulum.mo", "--at", time]);
    let ran = at("0");
    assert!(
        ran.stdout.contains("phi = 0.1") && ran.stdout.contains("poles: -0.25 ±"),
        "{}",
        ran.stdout
    );
    assert_eq!(at("-1").exit, Some(2));
}

#[test]
fn steady_states_are_stable_or_not_or_not_there() {
    let folder = scratch("given_rest");
    fs::write(folder.join("Pendulum.mo"), PENDULUM).unwrap();
    let ran = saltus_in(
        &folder,
        &["steady-state", "Pendulum.mo", "--format", "json"],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(value["values"]["phi"].as_f64().unwrap().abs() < 1e-8);
    assert_eq!(value["stable"], true);
    let above = ["steady-state", "Pendulum.mo", "--set", "phi=3.1"];
    let ran = saltus_in(&folder, &above);
    assert!(
        ran.stdout.contains("unstable") && ran.stdout.contains("3.14159"),
        "{}",
        ran.stdout
    );
    fs::write(
        folder.join("Ramp.mo"),
        "model Ramp Real x(start = 0, fixed = true); equation der(x) = 2; end Ramp;",
    )
    .unwrap();
    let ran = saltus_in(&folder, &["steady-state", "Ramp.mo"]);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("`x`"), "{}", ran.stderr);
}
