//! `saltus export`

use std::fs;
use std::path::Path;

use crate::{saltus_in, scratch};

const MODEL: &str = "model Lag \"A lag\"
  parameter Real T(unit = \"s\", min = 0) = 2 \"Time <constant>\";
  parameter Real k = 2*T;
  input Real u;
  output Real y(start = 0, fixed = true, unit = \"K\", displayUnit = \"degC\");
equation
  T*der(y) = u - y;
end Lag;";

/// Names of the entries of an archive, from its directory.
fn entries(archive: &[u8]) -> Vec<String> {
    let mark = b"PK\x01\x02";
    let starts = (0..archive.len().saturating_sub(46)).filter(|&k| archive[k..].starts_with(mark));
    starts
        .map(|k| {
            let length = usize::from(archive[k + 28]) + 256 * usize::from(archive[k + 29]);
            String::from_utf8_lossy(&archive[k + 46..k + 46 + length]).into_owned()
        })
        .collect()
}

#[test]
fn export_writes_an_fmu_with_the_library_inside() {
    let folder = scratch("export");
    fs::write(folder.join("Lag.mo"), MODEL).unwrap();
    for (version, platform) in [("2", "linux64"), ("3", "x86_64-linux")] {
        let ran = saltus_in(
            &folder,
            &["export", "Lag.mo", "--fmi", version, "-o", "lag.fmu"],
        );
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        let archive = fs::read(folder.join("lag.fmu")).unwrap();
        let entries = entries(&archive);
        assert_eq!(entries.len(), 3);
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            assert_eq!(entries[1], format!("binaries/{platform}/Lag.so"));
        }
        assert_eq!(
            (entries[0].as_str(), entries[2].as_str()),
            ("modelDescription.xml", "resources/model.saltus")
        );
        assert!(archive.len() < 8_000_000, "{} bytes", archive.len());
        // The same input gives the same bytes.
        let again = saltus_in(
            &folder,
            &["export", "Lag.mo", "--fmi", version, "-o", "again.fmu"],
        );
        assert_eq!(again.exit, Some(0), "{}", again.stderr);
        assert!(archive == fs::read(folder.join("again.fmu")).unwrap());
    }
}

#[test]
fn export_refuses_what_it_cannot_write() {
    let folder = scratch("export-refuses");
    fs::write(folder.join("Lag.mo"), MODEL).unwrap();
    for (args, exit, says) in [
        (
            &["export", "Lag.mo", "--fmi", "1"][..],
            2,
            "possible values: 2, 3",
        ),
        (
            &["export", "Lag.mo", "--fmi", "2", "-o", "lag.zip"],
            2,
            "ends with .fmu",
        ),
        (
            &["export", "Lag.mo", "--fmi", "2", "--kind", "xx"],
            2,
            "possible values",
        ),
        (&["export", "Log.mo", "--fmi", "2"], 2, "Log.mo"),
        (&["export", "Lag.mo", "--fmi", "2", "--set", "T=-1"], 2, "T"),
    ] {
        let ran = saltus_in(&folder, args);
        assert_eq!(ran.exit, Some(exit), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn an_fmu_runs_as_the_model_does() {
    let folder = scratch("fmu-runs");
    fs::write(folder.join("Lag.mo"), BALL).unwrap();
    let span = ["--stop-time", "2", "--intervals", "20", "--quiet"];
    let run = |args: &[&str]| {
        let ran = saltus_in(&folder, &[args, &span[..]].concat());
        assert_eq!(ran.exit, Some(0), "{args:?}: {}", ran.stderr);
    };
    run(&[
        "simulate",
        "Lag.mo",
        "--set",
        "e=0.7",
        "--output",
        "model.csv",
    ]);
    for version in ["2", "3"] {
        let ran = saltus_in(
            &folder,
            &["export", "Lag.mo", "--fmi", version, "-o", "ball.fmu"],
        );
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        run(&[
            "simulate",
            "ball.fmu",
            "--allow-fmu",
            "--set",
            "e=0.7",
            "--output",
            "fmu.csv",
        ]);
        let model = rows(&folder.join("model.csv"));
        for (name, time, value) in rows(&folder.join("fmu.csv")) {
            let same = |(n, t, _): &&(String, f64, f64)| *n == name && (*t - time).abs() < 1e-12;
            let expected = model.iter().rev().find(same).expect("a row of the model").2;
            assert!(
                (value - expected).abs() < 1e-12,
                "{name} at {time}: {value}, {expected}"
            );
        }
    }
    let ran = saltus_in(&folder, &["fmu", "info", "ball.fmu"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for line in ["co-simulation", "runs here", "Float64 e = 0.8", "Outputs"] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
}

const BALL: &str = "model Ball
  parameter Real e = 0.8;
  output Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
end Ball;";

/// Name, time and value of the cells of a table.
fn rows(path: &Path) -> Vec<(String, f64, f64)> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines
        .next()
        .unwrap()
        .split(',')
        .map(|n| n.trim_matches('"'))
        .collect();
    let mut cells = Vec::new();
    for line in lines {
        let numbers: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        for (name, value) in names.iter().zip(&numbers).skip(1) {
            cells.push(((*name).to_owned(), numbers[0], *value));
        }
    }
    cells
}

#[test]
fn foreign_code_waits_for_consent() {
    let folder = scratch("fmu-consent");
    fs::write(folder.join("Lag.mo"), BALL).unwrap();
    let ran = saltus_in(
        &folder,
        &["export", "Lag.mo", "--fmi", "2", "-o", "ball.fmu"],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let ran = saltus_in(&folder, &["simulate", "ball.fmu"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("--allow-fmu"), "{}", ran.stderr);
    fs::write(folder.join("none.fmu"), "no archive").unwrap();
    let ran = saltus_in(&folder, &["fmu", "info", "none.fmu"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("ZIP"), "{}", ran.stderr);
    for (args, says) in [
        (&["--set", "x=1"][..], "no variable `x`"),
        (&["--set", "v=true=1"], "not"),
        (&["--set", "n={1,2}"], "Int32"),
        (&["--fmu-kind", "me"], "no model-exchange interface"),
        (&["--solver", "radau"], "--fmu-kind me"),
        (&["--plot", "h=h.svg"], "--plot is not for FMUs"),
    ] {
        let ran = saltus_in(
            &folder,
            &[&["simulate", "ball.fmu", "--allow-fmu"], args].concat(),
        );
        assert_eq!(ran.exit, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

/// A ball with a kick at 1 s, for model exchange, by somebody else: C, FMI 2.0. It crashes at a time if that is wanted.
const FOREIGN: &str = r#"
#include <stdlib.h>
#include <string.h>
typedef void *C; typedef const char *S; typedef const unsigned *R;
typedef struct { int again, ends, nominals, values, defined; double next; } Info;
typedef struct { double p[6], t, dh, dv; int kicked; } M; /* p: h, v, e, kick, crash, bounces */
C fmi2Instantiate(S n, int k, S g, S r, const void *f, int v, int l) {
  M *m; if (k != 0 || strcmp(g, "ball")) return 0;
  m = calloc(1, sizeof(M)); m->p[0] = 1; m->p[2] = 0.8; m->p[3] = 2; m->p[4] = 1e9; return m; }
void fmi2FreeInstance(C c) { free(c); }
int fmi2SetupExperiment(C c, int a, double b, double t, int d, double e) { ((M *)c)->t = t; return 0; }
int fmi2EnterInitializationMode(C c) { return 0; }
int fmi2ExitInitializationMode(C c) { return 0; }
int fmi2Terminate(C c) { return 0; }
int fmi2GetReal(C c, R r, size_t n, double *x) { M *m = c; for (size_t i = 0; i < n; i++)
  x[i] = r[i] < 6 ? m->p[r[i]] : r[i] == 6 ? m->p[1] : -9.81; return 0; }
int fmi2SetReal(C c, R r, size_t n, const double *x) { M *m = c; for (size_t i = 0; i < n; i++) m->p[r[i]] = x[i]; return 0; }
int fmi2EnterEventMode(C c) { return 0; }
int fmi2EnterContinuousTimeMode(C c) { return 0; }
int fmi2NewDiscreteStates(C c, Info *i) { M *m = c; memset(i, 0, sizeof *i);
  if (m->p[0] <= 0 && m->p[1] < 0) { m->p[0] = 0; m->p[1] *= -m->p[2]; m->p[5] += 1; i->values = 1; }
  if (!m->kicked && m->t >= 1) { m->p[1] += m->p[3]; m->kicked = 1; i->values = 1; }
  i->defined = !m->kicked; i->next = 1; return 0; }
int fmi2CompletedIntegratorStep(C c, int a, int *e, int *t) { *e = *t = 0; return 0; }
int fmi2SetTime(C c, double t) { M *m = c; m->t = t; if (t > m->p[4]) abort(); return 0; }
int fmi2SetContinuousStates(C c, const double *x, size_t n) { memcpy(((M *)c)->p, x, n * sizeof *x); return 0; }
int fmi2GetContinuousStates(C c, double *x, size_t n) { memcpy(x, ((M *)c)->p, n * sizeof *x); return 0; }
int fmi2GetDerivatives(C c, double *x, size_t n) { x[0] = ((M *)c)->p[1]; x[1] = -9.81; return 0; }
int fmi2GetEventIndicators(C c, double *z, size_t n) { z[0] = ((M *)c)->p[0]; return 0; }
"#;

fn foreign_description() -> String {
    let variable = |reference: u32, name: &str, role: &str, real: &str| {
        format!(
            "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" {role}><Real {real}/></ScalarVariable>"
        )
    };
    let (state, parameter) = (
        "initial=\"exact\"",
        "causality=\"parameter\" variability=\"fixed\"",
    );
    let variables = [
        variable(0, "h", state, "start=\"1\""),
        variable(1, "v", state, "start=\"0\""),
        variable(6, "der(h)", "", "derivative=\"1\""),
        variable(7, "der(v)", "", "derivative=\"2\""),
        variable(2, "e", parameter, "start=\"0.8\""),
        variable(3, "kick", parameter, "start=\"2\""),
        variable(4, "crash", parameter, "start=\"1e9\""),
        variable(5, "bounces", "variability=\"discrete\"", ""),
    ];
    format!(
        "<?xml version=\"1.0\"?><fmiModelDescription fmiVersion=\"2.0\" modelName=\"Ball\" guid=\"ball\" numberOfEventIndicators=\"1\">\
         <ModelExchange modelIdentifier=\"Ball\"/><DefaultExperiment stopTime=\"1.2\"/><ModelVariables>{}</ModelVariables>\
         <ModelStructure><Derivatives><Unknown index=\"3\"/><Unknown index=\"4\"/></Derivatives></ModelStructure></fmiModelDescription>",
        variables.concat()
    )
}

/// Makes the FMU; false if there is no C compiler.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn make_foreign(folder: &Path) -> bool {
    fs::write(folder.join("ball.c"), FOREIGN).unwrap();
    let library = folder.join("Ball.so");
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(folder.join("ball.c"))
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return false;
    }
    let mut archive = saltus_fmi::archive::ArchiveWriter::new();
    archive.add("modelDescription.xml", foreign_description().as_bytes());
    archive.add("binaries/linux64/Ball.so", &fs::read(library).unwrap());
    fs::write(folder.join("ball.fmu"), archive.finish()).unwrap();
    true
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn an_fmu_of_somebody_else_is_integrated_with_its_events() {
    let folder = scratch("fmu-foreign");
    if !make_foreign(&folder) {
        return;
    }
    let args = [
        "simulate",
        "ball.fmu",
        "--allow-fmu",
        "--tolerance",
        "1e-9",
        "--events",
        "e.jsonl",
        "--output",
        "r.csv",
    ];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let (impact, speed) = ((2.0 / 9.81_f64).sqrt(), (2.0 * 9.81_f64).sqrt());
    let events = fs::read_to_string(folder.join("e.jsonl")).unwrap();
    let times: Vec<f64> = events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|event| event["kind"] == "state" || event["kind"] == "time")
        .map(|event| event["time"].as_f64().unwrap())
        .collect();
    assert_eq!(times.len(), 2, "{events}");
    assert!(
        (times[0] - impact).abs() < 1e-9 && times[1] == 1.0,
        "{times:?}"
    );
    let last = |name: &str| {
        rows(&folder.join("r.csv"))
            .into_iter()
            .rfind(|row| row.0 == name)
            .unwrap()
            .2
    };
    let (flight, kicked) = (1.2 - impact, 0.2);
    let height = 0.8 * speed * flight - 0.5 * 9.81 * flight * flight + 2.0 * kicked;
    assert!((last("h") - height).abs() < 1e-7, "{} {height}", last("h"));
    assert_eq!(last("bounces"), 1.0);
    let ran = saltus_in(
        &folder,
        &[&args[..], &["--set", "kick=0", "--set", "e=0.5"]].concat(),
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_crash_of_an_isolated_fmu_leaves_the_rows_before_it() {
    let folder = scratch("fmu-crash");
    if !make_foreign(&folder) {
        return;
    }
    let args = [
        "simulate",
        "ball.fmu",
        "--allow-fmu",
        "--isolate",
        "--output",
        "r.csv",
        "--intervals",
        "1000",
        "--set",
        "crash=0.7",
    ];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("crash inside of the FMU"),
        "{}",
        ran.stderr
    );
}
