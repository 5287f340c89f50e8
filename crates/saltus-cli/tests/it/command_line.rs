use crate::{saltus, saltus_in, scratch};

/// Exit code 2, and a message that says what is wrong.
fn check_wrong(args: &[&str], expected: &str) {
    let ran = saltus(args);
    assert_eq!(ran.exit, Some(2), "{args:?}: {}", ran.stderr);
    assert!(
        ran.stderr.contains(expected),
        "{args:?}: expected `{expected}` in:\n{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "", "{args:?}");
}

#[test]
fn a_wrong_command_line_is_exit_code_2() {
    check_wrong(&[], "Usage");
    check_wrong(&["frobnicate"], "unrecognized subcommand");
    check_wrong(&["simulate"], "required");
    check_wrong(&["simulate", "M", "--nonsense"], "unexpected argument");
    check_wrong(&["simulate", "M", "--tolerance", "0"], "above 0");
    check_wrong(&["simulate", "M", "--tolerance", "tight"], "above 0");
    check_wrong(
        &["simulate", "M", "--stop-time", "inf"],
        "expected a number",
    );
    check_wrong(&["simulate", "M", "--intervals", "0"], "0");
    check_wrong(
        &["simulate", "M", "--interval", "0.1", "--intervals", "5"],
        "cannot be used with",
    );
    check_wrong(&["simulate", "M", "--set", "m"], "path=value");
    check_wrong(
        &["simulate", "M", "--inline", "x=dopri5"],
        "known are backward-euler",
    );
    check_wrong(&["simulate", "M", "--inline", "x"], "path=value");
    check_wrong(&["simulate", "M", "--inline-step", "0"], "above 0");
    check_wrong(&["simulate", "M", "--plot", "x=ball.jpg"], "SVG");
    check_wrong(
        &["simulate", "M", "--output", "x.xlsx"],
        ".csv, .mat or .parquet",
    );
    check_wrong(
        &["simulate", "M", "--output", "no/such/folder/x.csv"],
        "no folder",
    );
    check_wrong(&["show", "M"], "--stage");
    check_wrong(&["show", "M", "--stage", "soup"], "invalid value");
    check_wrong(&["compare", "a.csv"], "required");
    check_wrong(&["plot", "--output", "x.svg"], "required");
    check_wrong(&["study", "alchemy"], "known are event-methods");
}

#[test]
fn a_study_prints_tables_and_writes_its_page_and_pictures() {
    let folder = scratch("study");
    let ran = saltus_in(&folder, &["study", "event-methods", "--output", "out"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for method in ["golden-section", "inverse-hermite", "rkf45", "nordsieck"] {
        assert!(ran.stdout.contains(&format!("| {method}")), "{method}");
    }
    let page = std::fs::read_to_string(folder.join("out/event-methods.md")).expect("the page");
    assert!(page.contains("![") && !page.contains("FAILS"));
    let picture = "out/event-methods-iterates.svg";
    let svg = std::fs::read_to_string(folder.join(picture)).expect("a picture");
    assert!(svg.starts_with("<svg"));
}

#[test]
fn files_that_are_not_there_are_exit_code_2() {
    check_wrong(
        &["compare", "nothing.csv", "nothing.csv"],
        "`nothing.csv` cannot be read",
    );
    check_wrong(
        &["plot", "nothing.mat", "x", "--output", "x.svg"],
        "`nothing.mat` cannot be read",
    );
    check_wrong(&["plot", "nothing.mat", "x", "--output", "x.jpg"], "SVG");
}

#[test]
fn help_and_version_are_exit_code_0() {
    for args in [&["--help"][..], &["--version"], &["simulate", "--help"]] {
        let ran = saltus(args);
        assert_eq!(ran.exit, Some(0));
        assert!(ran.stdout.contains("saltus"));
    }
}
