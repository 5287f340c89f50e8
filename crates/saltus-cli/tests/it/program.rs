//! The program beside its models: pictures, colours, completions, packages, the library inside.

use std::fs;

use crate::{saltus, saltus_in, saltus_with, scratch};

const TWO_UNITS: &str = "model Warm
  Real T(unit = \"K\", displayUnit = \"degC\", start = 300, fixed = true);
  Real v(unit = \"m/s\") = 3*time;
  Real w(unit = \"m/s\") = 2*time;
equation
  der(T) = 1;
end Warm;
";

fn warm(test: &str) -> std::path::PathBuf {
    let folder = scratch(test);
    fs::write(folder.join("Warm.mo"), TWO_UNITS).unwrap();
    for result in ["r.mat", "r.csv", "r.parquet"] {
        let ran = saltus_in(
            &folder,
            &["simulate", "Warm.mo", "--quiet", "--output", result],
        );
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    }
    folder
}

#[test]
fn pictures_have_a_panel_for_each_unit_and_display_units() {
    let folder = warm("program_panels");
    let ran = saltus_in(
        &folder,
        &["plot", "r.mat", "T", "v", "w", "--output", "p.svg"],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let svg = fs::read_to_string(folder.join("p.svg")).unwrap();
    assert!(
        svg.contains("T [degC]") && svg.contains("v [m/s]"),
        "units beside the names"
    );
    assert!(
        svg.contains("27.0") && !svg.contains("300.0"),
        "in degrees Celsius"
    );
    assert!(
        svg.contains("height=\"530\""),
        "two panels are higher than one"
    );
    let plain = ["plot", "r.mat", "T", "--plain-units", "--output", "p.svg"];
    assert_eq!(saltus_in(&folder, &plain).exit, Some(0));
    assert!(
        fs::read_to_string(folder.join("p.svg"))
            .unwrap()
            .contains("300.0")
    );
}

#[test]
fn plots_take_patterns_several_results_and_a_reference() {
    let folder = warm("program_overlay");
    let run = |args: &[&str]| {
        let ran = saltus_in(&folder, &[&["plot", "r.mat"], args].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        fs::read_to_string(folder.join("o.svg")).unwrap_or_default()
    };
    let svg = run(&["?", "--output", "o.svg"]);
    assert!(svg.contains("v [m/s]") && svg.contains("w [m/s]"));
    fs::copy(folder.join("r.parquet"), folder.join("other.parquet")).unwrap();
    let svg = run(&["other.parquet", "v", "--output", "o.svg"]);
    assert!(
        svg.contains("v (r)") && svg.contains("v (other)"),
        "two results"
    );
    let svg = run(&["v", "--compare", "r.csv", "--output", "o.svg"]);
    assert!(svg.contains("v: tube") && svg.contains("v: reference") && svg.contains("polygon"));
    let ran = saltus_in(&folder, &["plot", "r.mat", "speed*", "--output", "o.svg"]);
    assert_eq!(ran.exit, Some(2));
    let ran = saltus_in(&folder, &["plot", "r.parquet", "v"]);
    assert!(
        ran.stdout.starts_with("v\n") && ran.stdout.contains("time [s]"),
        "{}",
        ran.stdout
    );
}

#[test]
fn pictures_are_pdf_by_their_ending_and_parquet_is_compared() {
    let folder = warm("program_pdf");
    let ran = saltus_in(&folder, &["plot", "r.csv", "v", "--output", "p.pdf"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        fs::read(folder.join("p.pdf"))
            .unwrap()
            .starts_with(b"%PDF-1.4")
    );
    let ran = saltus_in(
        &folder,
        &["simulate", "Warm.mo", "--plot", "T,v=q.pdf", "--plot", "v"],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        folder.join("q.pdf").is_file() && ran.stdout.contains("v [m/s]"),
        "{}",
        ran.stdout
    );
    let ran = saltus_in(&folder, &["compare", "r.parquet", "r.csv"]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("equal"), "{}", ran.stdout);
}

#[test]
fn messages_have_colours_when_asked_for() {
    let folder = scratch("program_colour");
    fs::write(folder.join("W.mo"), "model W Real x = y; end W;").unwrap();
    let stderr = |args: &[&str], variables: &[(&str, &str)]| {
        let ran = saltus_with(&folder, &[&["check", "W.mo"], args].concat(), variables);
        assert_eq!(ran.exit, Some(1));
        ran.stderr
    };
    assert!(stderr(&["--color", "always"], &[]).contains("\u{1b}[1;31merror[unknown-name]"));
    assert!(!stderr(&["--color", "never"], &[]).contains('\u{1b}'));
    assert!(!stderr(&[], &[]).contains('\u{1b}'), "no terminal");
}

#[test]
fn what_check_finds_is_json_when_asked_for() {
    let folder = scratch("program_json");
    fs::write(folder.join("W.mo"), "model W\n  Real x = y;\nend W;").unwrap();
    let ran = saltus_in(&folder, &["check", "W.mo", "--format", "json"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["ok"], false);
    let first = &value["diagnostics"][0];
    assert_eq!(
        (first["code"].as_str(), first["severity"].as_str()),
        (Some("unknown-name"), Some("error"))
    );
    assert_eq!(first["spans"][0]["line"], 2);
    fs::write(folder.join("R.mo"), "model R Real x = time; end R;").unwrap();
    let ran = saltus_in(&folder, &["check", "R.mo", "--format", "json"]);
    assert_eq!(ran.exit, Some(0));
    assert!(ran.stdout.contains("\"ok\": true"), "{}", ran.stdout);
}

#[test]
fn completions_and_the_manual_name_every_verb() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = saltus(&["completions", shell]);
        assert_eq!(ran.exit, Some(0));
        assert!(ran.stdout.contains("linearize"), "{shell}");
    }
    let ran = saltus(&["man"]);
    assert!(
        ran.stdout.contains(".TH") && ran.stdout.contains("steady"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_new_package_is_checked_run_and_tested() {
    let folder = scratch("program_new");
    let _ = fs::remove_dir_all(folder.join("Plant"));
    let ran = saltus_in(&folder, &["new", "Plant"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let plant = folder.join("Plant");
    let run = |args: &[&str]| {
        let ran = saltus_in(&plant, args);
        assert_eq!(ran.exit, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
    };
    run(&[
        "simulate",
        "Plant.Examples.Step",
        "--library",
        "..",
        "--plot",
        "tank.h",
    ]);
    run(&[
        "simulate",
        "Plant.Examples.Step",
        "--library",
        "..",
        "--scenario",
        "wide",
    ]);
    run(&["test", ".", "--reference", "Resources/ReferenceResults"]);
    assert_eq!(
        saltus_in(&folder, &["new", "Plant"]).exit,
        Some(2),
        "it is there"
    );
    assert_eq!(saltus_in(&folder, &["new", "9x"]).exit, Some(2));
    let ran = saltus_in(&folder, &["simulate", "Plant"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("Plant.Examples.Step"), "{}", ran.stderr);
}

#[test]
fn the_library_is_inside_the_program() {
    let folder = scratch("program_library");
    let target = "Saltus.Electrical.Examples.FreeWheeling";
    let ran = saltus_in(&folder, &["simulate", target, "--output", "f.csv"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let ran = saltus_in(&folder, &["check", "Saltus.Electrical.Nothing"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
}

#[test]
fn solvers_of_other_programs_are_understood_once() {
    let folder = warm("program_solver");
    let ran = saltus_in(
        &folder,
        &[
            "simulate", "Warm.mo", "--solver", "dassl", "--output", "d.csv",
        ],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stderr.matches("`dassl` is understood as `bdf`").count(),
        1,
        "{}",
        ran.stderr
    );
    let ran = saltus_in(&folder, &["simulate", "Warm.mo", "--solver", "alchemy"]);
    assert!(
        ran.exit == Some(2) && ran.stderr.contains("known are auto"),
        "{}",
        ran.stderr
    );
}

#[test]
fn values_out_of_range_are_warnings_in_a_model() {
    let folder = scratch("program_range");
    fs::write(
        folder.join("R.mo"),
        "model R\n  parameter Real k(min = 0) = -1;\n  Real x = k*time;\nend R;\n",
    )
    .unwrap();
    for verb in ["check", "simulate"] {
        let ran = saltus_in(&folder, &[verb, "R.mo"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("warning[out-of-range]: `k` is -1"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_profile_names_causes_blocks_and_lines() {
    let folder = scratch("program_profile");
    fs::write(
        folder.join("Saw.mo"),
        "model Saw
  Real x(start = 0, fixed = true);
  Real y(start = 1), z(start = 1);
equation
  der(x) = 1 + 0.1*sin(y)*cos(z)*exp(-x);
  y + 0.1*sin(z) = x;
  z + 0.1*sin(y) = 2;
  when x > 0.01 then
    reinit(x, 0);
  end when;
end Saw;
",
    )
    .unwrap();
    let ran = saltus_in(&folder, &["profile", "Saw.mo", "--format", "json"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let first = &value["events"][0];
    assert_eq!(
        (first["cause"].as_str(), first["line"].as_u64()),
        (Some("x > 0.01"), Some(8))
    );
    assert!(first["count"].as_u64().unwrap() > 80);
    assert!(value["blocks"][0]["share"].as_f64().unwrap() > 0.3);
    let lines = value["lines"].as_array().unwrap();
    assert!(
        lines.len() >= 3 && (5..=7).contains(&lines[0]["line"].as_u64().unwrap()),
        "{lines:?}"
    );
    let ran = saltus_in(&folder, &["profile", "Saw.mo", "--top", "1"]);
    assert!(
        ran.stdout.contains("events by cause") && ran.stdout.contains("Saw.mo:8"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_watched_run_is_made_again_when_its_file_changes() {
    let folder = scratch("program_watch");
    let _ = fs::remove_file(folder.join("w.csv"));
    let model =
        |x: &str| fs::write(folder.join("W.mo"), format!("model W Real x = {x}; end W;")).unwrap();
    model("1");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args([
            "simulate", "W.mo", "--output", "w.csv", "--quiet", "--watch",
        ])
        .current_dir(&folder)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let wait_for = |what: f64| {
        for _ in 0..600 {
            let text = fs::read_to_string(folder.join("w.csv")).unwrap_or_default();
            let last = text.lines().last().and_then(|line| line.rsplit(',').next());
            if last.and_then(|x| x.parse::<f64>().ok()) == Some(what) {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        false
    };
    let first = wait_for(1.0);
    std::thread::sleep(std::time::Duration::from_millis(500));
    model("7");
    let second = wait_for(7.0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first && second);
}
