//! `saltus test` and `saltus sweep`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::{Ran, saltus_in, scratch};

/// x = exp(-t)
fn decay(name: &str, stop_time: &str) -> String {
    format!(
        "model {name}
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
  annotation(experiment(StopTime = {stop_time}, Tolerance = 1e-9));
end {name};
"
    )
}

/// An empty folder.
fn fresh(test: &str) -> PathBuf {
    let folder = scratch(test);
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn start(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(args)
        .current_dir(folder)
        .env_remove("MODELICAPATH")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts")
}

/// Waits until a journal has so many lines, then kills the process.
fn kill_after(mut child: Child, journal: &Path, lines: usize) {
    for _ in 0..30_000 {
        let text = fs::read_to_string(journal).unwrap_or_default();
        if text.lines().count() >= lines {
            child.kill().expect("it runs");
            child.wait().unwrap();
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{} did not grow", journal.display());
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn reached<'a>(report: &'a Value, name: &str) -> &'a str {
    let models = report["models"].as_array().unwrap();
    let model = models.iter().find(|m| m["name"] == name);
    model.unwrap_or_else(|| panic!("no {name}"))["reached"]
        .as_str()
        .unwrap_or("nothing")
}

/// A library with a model that is right, one that leaves its reference, one that never ends, one without experiment, one that is wrong.
fn library(folder: &Path) {
    let lib = folder.join("Lib");
    fs::create_dir_all(lib.join("Sub")).unwrap();
    let write = |path: &str, text: String| fs::write(folder.join(path), text).unwrap();
    write(
        "Lib/package.mo",
        "package Lib
  model Inline
    extends Sub.Good;
    annotation(experiment(StopTime = 1));
  end Inline;
  partial model Unfinished
    annotation(experiment(StopTime = 1));
  end Unfinished;
end Lib;
"
        .into(),
    );
    write(
        "Lib/Sub/package.mo",
        "within Lib; package Sub end Sub;".into(),
    );
    let sub = |name: &str, stop: &str| format!("within Lib.Sub;\n{}", decay(name, stop));
    write("Lib/Sub/Good.mo", sub("Good", "1"));
    write("Lib/Sub/Other.mo", sub("Other", "1"));
    write(
        "Lib/Sub/Endless.mo",
        sub("Endless", "1e12").replace("-x", "sin(1e6*time)"),
    );
    write(
        "Lib/Sub/Wrong.mo",
        sub("Wrong", "1").replace("der(x) = -x", "der(x) = -y"),
    );
    write(
        "Lib/Sub/Plain.mo",
        "within Lib.Sub; model Plain Real x = 1; end Plain;".into(),
    );
    fs::create_dir_all(folder.join("ref")).unwrap();
    let rows = |scale: f64| {
        (0..=100).fold("time,x\n".to_owned(), |text, i| {
            let t = f64::from(i) / 100.0;
            format!("{text}{t},{}\n", scale * (-t).exp())
        })
    };
    write("ref/Lib.Sub.Good.csv", rows(1.0));
    write("ref/Lib.Sub.Other.csv", rows(1.1));
}

#[test]
fn a_library_is_run_and_compared() {
    let folder = fresh("library");
    library(&folder);
    let args = [
        "test",
        "Lib",
        "--library",
        ".",
        "--reference",
        "ref",
        "--timeout",
        "2",
        "--report",
        "r.json",
        "--report",
        "r.xml",
        "--report",
        "r.html",
        "--report",
        "r.md",
    ];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let report = json(&folder.join("r.json"));
    assert_eq!(report["models"].as_array().unwrap().len(), 5);
    assert_eq!(reached(&report, "Lib.Inline"), "simulate");
    assert_eq!(reached(&report, "Lib.Sub.Good"), "match");
    assert_eq!(reached(&report, "Lib.Sub.Other"), "simulate");
    assert_eq!(reached(&report, "Lib.Sub.Endless"), "initialise");
    assert_eq!(reached(&report, "Lib.Sub.Wrong"), "parse");
    assert!(!folder.join("r.json.journal").exists());

    let junit = fs::read_to_string(folder.join("r.xml")).unwrap();
    assert!(junit.contains("tests=\"5\" failures=\"3\""), "{junit}");
    let html = fs::read_to_string(folder.join("r.html")).unwrap();
    assert!(html.contains("<svg") && html.contains("2 of 5 models pass"));
    let page = fs::read_to_string(folder.join("r.md")).unwrap();
    let wrong = page.lines().find(|l| l.contains("Lib.Sub.Wrong")).unwrap();
    assert!(
        wrong.contains("[unknown-name]") && wrong.contains("Wrong.mo:5"),
        "{wrong}"
    );
    let endless = page
        .lines()
        .find(|l| l.contains("Lib.Sub.Endless"))
        .unwrap();
    assert!(endless.contains("[wall-clock]"), "{endless}");

    // Against that report nothing is worse; a model that is broken later is.
    let again = [
        "test",
        "Lib",
        "--library",
        ".",
        "--reference",
        "ref",
        "--filter",
        "*d",
    ];
    let baseline = ["--baseline", "r.json"];
    let ran = saltus_in(&folder, &[&again[..], &baseline].concat());
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    fs::write(
        folder.join("Lib/Sub/Good.mo"),
        "within Lib.Sub; model Good Real x; annotation(experiment(StopTime = 1)); end Good;",
    )
    .unwrap();
    let ran = saltus_in(&folder, &[&again[..], &baseline].concat());
    assert_eq!(ran.exit, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("match -> flatten  Lib.Sub.Good"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_killed_test_run_goes_on() {
    let folder = fresh("test_resumed");
    fs::create_dir_all(folder.join("models")).unwrap();
    let model = |name: &str, text: String| {
        fs::write(folder.join("models").join(format!("{name}.mo")), text).unwrap();
    };
    for name in ["A", "B", "C"] {
        model(name, decay(name, "1"));
    }
    model("D", decay("D", "1e12").replace("-x", "sin(1e6*time)"));
    let args = [
        "test",
        "models",
        "--jobs",
        "1",
        "--timeout",
        "30",
        "--report",
        "r.json",
    ];
    kill_after(start(&folder, &args), &folder.join("r.json.journal"), 4);
    model("D", decay("D", "1"));
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("[4/4]") && !ran.stderr.contains("[3/4]"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("3 of 4 models were run before"),
        "{}",
        ran.stderr
    );
    let report = json(&folder.join("r.json"));
    for name in ["A", "B", "C", "D"] {
        assert_eq!(reached(&report, name), "simulate");
    }
}

#[test]
fn a_file_that_cannot_be_parsed_is_in_the_report() {
    let folder = fresh("test_broken");
    fs::create_dir_all(folder.join("models")).unwrap();
    fs::write(folder.join("models/A.mo"), decay("A", "1")).unwrap();
    fs::write(folder.join("models/B.mo"), "model B experiment ( end B;").unwrap();
    let ran = saltus_in(&folder, &["test", "models"]);
    assert_eq!(ran.exit, Some(1));
    assert!(
        ran.stdout.contains("B.mo  [syntax-error]"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("simulate       1"), "{}", ran.stdout);
}

#[test]
fn wrong_test_targets_are_errors_of_the_command_line() {
    let folder = fresh("test_wrong");
    fs::create_dir_all(folder.join("empty")).unwrap();
    for (args, why) in [
        (&["test", "NoSuchLibrary"][..], "no library `NoSuchLibrary`"),
        (&["test", "empty"], "no model with an experiment annotation"),
        (
            &["test", "empty", "--report", "r.txt"],
            "a report ends with",
        ),
        (&["test", "empty", "--baseline", "none.json"], "none.json"),
    ] {
        let ran = saltus_in(&folder, args);
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

const SWEPT: &str = "model Swept
  parameter Real k = 1;
  parameter Integer n = 2;
  Real x[n](each start = 1, each fixed = true);
  Real last = x[n];
equation
  for i in 1:n loop
    der(x[i]) = -k*i*x[i];
  end for;
end Swept;
";

/// Rows of a table, split at commas.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let split = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(split).collect()
}

fn sweep_in(folder: &Path, args: &[&str]) -> Ran {
    saltus_in(folder, &[&["sweep", "Swept.mo"], args].concat())
}

#[test]
fn a_sweep_has_a_row_for_each_combination() {
    let folder = fresh("sweep");
    fs::write(folder.join("Swept.mo"), SWEPT).unwrap();
    // n is structural, k = 0 too, other values of k are not.
    let args = ["--set", "k=0:2:5", "--set", "n=1,3", "--variables", "last"];
    let table = |jobs: &str, output: &str| {
        let more = ["--tolerance", "1e-9", "--jobs", jobs, "--output", output];
        let ran = sweep_in(&folder, &[&args[..], &more].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        rows(&folder.join(output))
    };
    let one = table("1", "one.csv");
    assert_eq!(one, table("4", "four.csv"));
    assert_eq!(
        one[0].join(","),
        "\"run\",\"k\",\"n\",\"status\",\"time\",\"last\""
    );
    assert_eq!(one.len(), 11);
    for (i, row) in one[1..].iter().enumerate() {
        let number = |k: usize| row[k].parse::<f64>().unwrap();
        assert_eq!(
            (number(0), number(1)),
            (i as f64 + 1.0, 0.5 * (i / 2) as f64)
        );
        assert_eq!(row[3], "\"done\"");
        let exact = (-number(1) * number(2)).exp();
        assert!((number(5) - exact).abs() < 1e-8, "{row:?}");
    }
}

#[test]
fn runs_that_fail_are_rows_of_a_sweep() {
    let folder = fresh("sweep_fails");
    let text = SWEPT.replace(
        "equation",
        "equation\n  assert(k < 2 or time < 0.5, \"too fast\");",
    );
    fs::write(folder.join("Swept.mo"), text).unwrap();
    let ran = sweep_in(&folder, &["--set", "k=1:3:3", "--output", "s.csv"]);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("3 runs, 2 not completed"),
        "{}",
        ran.stderr
    );
    let rows = rows(&folder.join("s.csv"));
    assert_eq!(rows[1][2], "\"done\"");
    assert_eq!(rows[2][2], "\"assertion-failed\"");
    assert!(rows[2][3].parse::<f64>().unwrap() <= 0.5);
}

#[test]
fn a_killed_sweep_goes_on() {
    let folder = fresh("sweep_resumed");
    fs::write(
        folder.join("Swept.mo"),
        SWEPT.replace("-k*i*x[i]", "sin(k*i*time)"),
    )
    .unwrap();
    let args = [
        "sweep",
        "Swept.mo",
        "--set",
        "k=10:20:200",
        "--stop-time",
        "200",
        "--variables",
        "last",
        "--output",
        "s.csv",
    ];
    kill_after(start(&folder, &args), &folder.join("s.csv.journal"), 20);
    assert!(!folder.join("s.csv").exists());
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let before = ran.stderr.split("200 runs, ").nth(1);
    let before: usize = before
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
        .unwrap_or_else(|| panic!("{}", ran.stderr));
    assert!((19..200).contains(&before), "{}", ran.stderr);
    let rows = rows(&folder.join("s.csv"));
    assert_eq!(rows.len(), 201);
    for row in &rows[1..] {
        let (k, x) = (
            row[1].parse::<f64>().unwrap(),
            row[4].parse::<f64>().unwrap(),
        );
        // x[2] = 1 + (1 - cos(2 k t))/(2 k)
        let exact = 1.0 + (1.0 - (2.0 * k * 200.0).cos()) / (2.0 * k);
        assert!((x - exact).abs() < 1e-3, "{row:?} {exact}");
    }
}

#[test]
fn wrong_sweeps_are_errors_of_the_command_line() {
    let folder = fresh("sweep_wrong");
    fs::write(folder.join("Swept.mo"), SWEPT).unwrap();
    for (args, why) in [
        (&["--set", "kk=1:2:3"][..], "no variable `kk`"),
        (&["--set", "k=1:2"], "first:last:count"),
        (
            &["--set", "k=1", "--variables", "zz"],
            "no variable of the model matches",
        ),
        (&["--set", "k=1", "--output", "x.mat"], "ends with .csv"),
        (
            &["--set", "k=0:1:1000000", "--set", "n=0:1:1000000"],
            "more than 10000000 runs",
        ),
    ] {
        let ran = sweep_in(&folder, args);
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

#[test]
fn a_run_has_the_output_spacing_of_its_reference() {
    let folder = fresh("spacing");
    let model = "model Fast
  Real x = sin(400*time);
  annotation(experiment(StopTime = 1));
end Fast;
";
    fs::write(folder.join("Fast.mo"), model).unwrap();
    fs::create_dir_all(folder.join("ref")).unwrap();
    // With 500 rows the chords of the default spacing are 8 % of the amplitude away.
    let mut rows = "\"time\",\"x\"\n".to_owned();
    for k in 0..=5000 {
        let t = f64::from(k) / 5000.0;
        rows.push_str(&format!("{t},{}\n", (400.0 * t).sin()));
    }
    fs::write(folder.join("ref/Fast.csv"), rows).unwrap();
    let args = [
        "test",
        "Fast.mo",
        "--reference",
        "ref",
        "--report",
        "r.json",
    ];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(reached(&json(&folder.join("r.json")), "Fast"), "match");
}

/// A sweep that is killed after a while and begun again; says how many runs were taken over.
fn sweep_again(folder: &Path, first: &[&str], change: impl FnOnce(), second: &[&str]) -> usize {
    let _ = fs::remove_file(folder.join("s.csv"));
    let _ = fs::remove_file(folder.join("s.csv.journal"));
    let base = [
        "sweep",
        "Swept.mo",
        "--set",
        "k=10:20:60",
        "--output",
        "s.csv",
    ];
    let args = [&base, first].concat();
    kill_after(start(folder, &args), &folder.join("s.csv.journal"), 8);
    change();
    let ran = saltus_in(folder, &[&base, second].concat());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let before = ran.stderr.split("60 runs, ").nth(1);
    let before = before.and_then(|rest| rest.split(' ').next()?.parse().ok());
    if ran.stderr.contains("of them before") {
        before.unwrap_or_else(|| panic!("{}", ran.stderr))
    } else {
        0
    }
}

#[test]
fn a_sweep_goes_on_only_from_the_same_sources_and_options() {
    let folder = fresh("sweep_conditions");
    let library = folder.join("lib/Lib");
    fs::create_dir_all(&library).unwrap();
    let file = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let reset = || {
        file("table.txt", "#1\ndouble m(2,2)\n0 1\n500 1\n");
        file(
            "Swept.mo",
            "model Swept
  class Table
    extends ExternalObject;
    function constructor
      input String file;
      output Table t;
      external \"C\" t = ModelicaStandardTables_CombiTable1D_init2(file, \"m\", fill(0.0, 0, 2), 0, 2, {2}, 1, 1, 1, false);
    end constructor;
    function destructor
      input Table t;
      external \"C\" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function at
    input Table t;
    input Real u;
    output Real y;
    external \"C\" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u);
  end at;
  parameter Real k = 1;
  Table t = Table(\"table.txt\");
  Real x(start = 0, fixed = true);
equation
  der(x) = Lib.factor*at(t, time)*sin(k*time);
  annotation(experiment(StopTime = 100));
end Swept;
",
        );
        file(
            "lib/Lib/package.mo",
            "package Lib\n  constant Real factor = 1;\nend Lib;\n",
        );
    };
    let plain = ["--library", "lib"];
    let inlined = ["--library", "lib", "--inline", "x=radau5"];
    reset();
    // Nothing has changed.
    assert!(sweep_again(&folder, &plain, || {}, &plain) >= 7);
    // An option.
    assert_eq!(sweep_again(&folder, &plain, || {}, &inlined), 0);
    assert_eq!(sweep_again(&folder, &inlined, || {}, &plain), 0);
    // The model, a library, a table: each with as many bytes as before.
    let changes: [(&str, &str, &str); 3] = [
        ("Swept.mo", "Real k = 1", "Real k = 2"),
        ("lib/Lib/package.mo", "factor = 1", "factor = 2"),
        ("table.txt", "500 1", "500 2"),
    ];
    for (name, old, new) in changes {
        let change = || {
            let text = fs::read_to_string(folder.join(name)).unwrap();
            assert!(text.contains(old));
            file(name, &text.replace(old, new));
        };
        assert_eq!(sweep_again(&folder, &plain, change, &plain), 0, "{name}");
        reset();
    }
}

#[test]
fn a_test_run_goes_on_only_from_the_same_sources_and_references() {
    let folder = fresh("test_conditions");
    for dir in ["models", "lib/Lib", "references"] {
        fs::create_dir_all(folder.join(dir)).unwrap();
    }
    let file = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let rate = |name: &str, rate: &str| decay(name, "1").replace("-x", &format!("-{rate}*x"));
    let package = |a: u32| format!("package Lib\n  constant Real a = {a};\nend Lib;\n");
    file("lib/Lib/package.mo", &package(1));
    file("models/A.mo", &rate("A", "1"));
    file("models/B.mo", &rate("B", "Lib.a"));
    file("models/C.mo", &rate("C", "Lib.missing"));
    file("references/A.csv", "time,x\n0,1\n1,0.5\n");
    // Keeps the run going until it is killed.
    let endless = decay("D", "1e12").replace("-x", "sin(1e6*time)");
    let args = [
        "test",
        "models",
        "--library",
        "lib",
        "--reference",
        "references",
        "--jobs",
        "1",
        "--timeout",
        "30",
        "--report",
        "r.json",
    ];
    let resumed = |change: &dyn Fn()| {
        let _ = fs::remove_file(folder.join("r.json.journal"));
        file("models/D.mo", &endless);
        kill_after(start(&folder, &args), &folder.join("r.json.journal"), 4);
        file("models/D.mo", &decay("D", "1"));
        change();
        let ran = saltus_in(&folder, &args);
        let mark = " of 4 models were run before";
        let line = ran.stderr.lines().find(|line| line.contains(mark));
        line.map_or(0, |line| line.split(' ').next().unwrap().parse().unwrap())
    };
    assert_eq!(resumed(&|| {}), 3);
    assert_eq!(resumed(&|| file("models/A.mo", &rate("A", "2"))), 2);
    // A reference with as many bytes.
    assert_eq!(
        resumed(&|| file("references/A.csv", "time,x\n0,1\n1,0.4\n")),
        2
    );
    // A library, for those that use it; one of them failed because of it.
    assert_eq!(resumed(&|| file("lib/Lib/package.mo", &package(3))), 1);
}

/// A library with scripts and samples, as those for buildings have them: the script says from when to when, the samples are compared where they are.
#[test]
fn scripts_and_samples_of_a_library_are_its_test() {
    let folder = fresh("scripts_and_samples");
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let pulse = |name: &str| {
        format!(
            "within Lib; model {name}
  discrete Real y[1, 2](each start = 0, each fixed = true);
  parameter Real k = 3;
equation
  when sample(10.3, 1) then
    y = {{{{pre(y[1, 2]), time}}}};
  end when;
end {name};
"
        )
    };
    write("Lib/package.mo", "package Lib end Lib;");
    write("Lib/Pulse.mo", &pulse("Pulse"));
    write("Lib/Other.mo", &pulse("Other"));
    for name in ["Pulse", "Other"] {
        let script = format!(
            "simulateModel(\"Lib.{name}\", startTime=10, stopTime=14, tolerance=1e-6, method=\"Cvode\", resultFile=\"{name}\");\ncreatePlot(id=1);\n"
        );
        write(&format!("Lib/Resources/Scripts/Dymola/{name}.mos"), &script);
    }
    let samples = |last: &str| {
        format!(
            "last-generated=2024-01-31\nstatistics-simulation=\n{{\n  \"linear\": \" \"\n}}\ny[1, 2]=[0e+00, 1.03e+01, 1.13e+01, 1.23e+01, {last}]\nk=[3e+00, 3e+00]\ntime=[1e+01, 1.4e+01]\n"
        )
    };
    let references = "Lib/Resources/ReferenceResults/Dymola";
    write(&format!("{references}/Lib_Pulse.txt"), &samples("1.33e+01"));
    write(&format!("{references}/Lib_Other.txt"), &samples("1.23e+01"));
    let ran = saltus_in(&folder, &["test", "Lib", "--report", "out.json"]);
    let report = json(&folder.join("out.json"));
    assert_eq!(reached(&report, "Lib.Pulse"), "match", "{}", ran.stderr);
    assert_eq!(reached(&report, "Lib.Other"), "simulate");
}
