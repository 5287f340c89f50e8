use std::fs;

use crate::{saltus_in, scratch};

const REFERENCE: &str = "\"time\",\"x\",\"v\"\n0,0,0\n0.5,0,1\n0.5,1,1\n1,1,2\n";

#[test]
fn compare_tells_equal_from_different() {
    let folder = scratch("compare");
    fs::write(folder.join("reference.csv"), REFERENCE).unwrap();
    fs::write(
        folder.join("same.csv"),
        "time,v,x\n0,0,0\n0.5,1,0\n0.5,1,1\n1,2.001,1\n",
    )
    .unwrap();
    fs::write(folder.join("other.csv"), "time,v\n0,0\n1,3\n").unwrap();
    fs::write(folder.join("signals.txt"), "time\nv\n").unwrap();

    let ran = saltus_in(&folder, &["compare", "same.csv", "reference.csv"]);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (
            Some(0),
            "equal: 2 of 2 signals inside the tube; time 0 to 1, all of it\n"
        )
    );

    let ran = saltus_in(&folder, &["compare", "other.csv", "reference.csv"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout.contains("x  not in the result"));
    assert!(ran.stdout.contains("v  outside"));
    assert!(ran.stdout.contains("far off"));

    let signals = ["--signals", "signals.txt", "--format", "json"];
    let args = [&["compare", "same.csv", "reference.csv"], &signals[..]].concat();
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0));
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["verdict"], "match");
    assert_eq!(json["signals"].as_array().unwrap().len(), 1);

    let strict = ["--tolerance", "0.0001", "--time-tolerance", "0"];
    let args = [&["compare", "same.csv", "reference.csv"], &strict[..]].concat();
    assert_eq!(saltus_in(&folder, &args).exit, Some(1));
}

#[test]
fn plot_draws_a_result_file() {
    let folder = scratch("plot");
    fs::write(folder.join("r.csv"), REFERENCE).unwrap();
    let ran = saltus_in(
        &folder,
        &[
            "plot", "r.csv", "x", "v", "--output", "r.svg", "--title", "A title",
        ],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let svg = fs::read_to_string(folder.join("r.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("A title"));

    let ran = saltus_in(&folder, &["plot", "r.csv", "y", "--output", "r.svg"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("no variable `y`"));

    fs::write(folder.join("bad.csv"), "time,x\n0,zero\n").unwrap();
    let ran = saltus_in(&folder, &["plot", "bad.csv", "x", "--output", "r.svg"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("line 2: `zero` is not a number"));
}

#[test]
fn parquet_is_written_by_its_ending() {
    let folder = scratch("parquet");
    fs::write(
        folder.join("M.mo"),
        "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;",
    )
    .unwrap();
    let ran = saltus_in(&folder, &["simulate", "M.mo", "--output", "r.parquet"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let bytes = fs::read(folder.join("r.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    // Time, x and der(x) in 501 rows.
    assert!(bytes.len() > 3 * 501 * 8);
}

#[test]
fn plot_draws_over_a_variable_and_refuses_two_things_at_once() {
    let folder = scratch("phase");
    fs::write(folder.join("r.csv"), REFERENCE).unwrap();
    let ran = saltus_in(
        &folder,
        &["plot", "r.csv", "v", "--over", "x", "--output", "p.svg"],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        fs::read_to_string(folder.join("p.svg"))
            .unwrap()
            .lines()
            .any(|line| line.trim() == "x")
    );
    let wrong = [
        "plot", "r.csv", "v", "--steps", "s.csv", "--output", "p.svg",
    ];
    assert_eq!(saltus_in(&folder, &wrong).exit, Some(2));
    fs::write(folder.join("s.csv"), "\"time\",\"step_size\"\n1,none\n").unwrap();
    let ran = saltus_in(&folder, &["plot", "--steps", "s.csv", "--output", "p.svg"]);
    assert_eq!(ran.exit, Some(2));
    assert!(
        ran.stderr.contains("line 2 has no time and step size"),
        "{}",
        ran.stderr
    );
}

#[test]
fn recover_cuts_results_behind_their_last_row() {
    let folder = scratch("recover");
    let csv = folder.join("r.csv");
    fs::write(&csv, "\"time\",\"x\"\n0,1\n1,2\n2,3.1").unwrap();
    let ran = saltus_in(&folder, &["recover", "r.csv"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "r.csv: 2 rows up to time 1; 5 bytes that were no row are removed\n"
    );
    assert!(fs::read_to_string(&csv).unwrap().ends_with("1,2\n"));
    let ran = saltus_in(&folder, &["recover", "r.csv"]);
    assert_eq!(
        ran.stdout,
        "r.csv: 2 rows up to time 1; nothing had to be removed\n"
    );
    for wrong in ["none.mat", "r.txt"] {
        assert_eq!(saltus_in(&folder, &["recover", wrong]).exit, Some(2));
    }
}

#[test]
fn compare_says_which_part_of_the_reference_it_has_seen() {
    let folder = scratch("coverage");
    let write = |name: &str, t_end: f64| {
        let rows: String = (0..=100)
            .map(|i| t_end * f64::from(i) / 100.0)
            .map(|t| format!("{t},{},{}\n", t * t, 1.0 - t))
            .collect();
        fs::write(folder.join(name), format!("\"time\",\"x\",\"y\"\n{rows}")).unwrap();
    };
    write("whole.csv", 10.0);
    write("part.csv", 8.0);
    fs::write(folder.join("x.txt"), "x\n").unwrap();
    let compare = |args: &[&str]| saltus_in(&folder, &[&["compare"], args].concat());
    let ran = compare(&["whole.csv", "whole.csv"]);
    assert_eq!(ran.exit, Some(0));
    assert_eq!(
        ran.stdout,
        "equal: 2 of 2 signals inside the tube; time 0 to 10, all of it\n"
    );
    let ran = compare(&["part.csv", "whole.csv", "--allow-outside", "0.3"]);
    assert_eq!(ran.exit, Some(1));
    assert_eq!(
        ran.stdout,
        "different: the result does not cover the reference; 2 of 2 signals inside the tube; time 0 to 8 of 0 to 10 (80.000 %)\n"
    );
    // What was not asked for is not called equal.
    let ran = compare(&["whole.csv", "whole.csv", "--signals", "x.txt"]);
    assert_eq!(ran.exit, Some(0));
    assert_eq!(
        ran.stdout,
        "inside the tube: 1 of 1 signals that were asked for (2 are in the reference); time 0 to 10, all of it\n"
    );
    let ran = compare(&["whole.csv", "part.csv"]);
    assert!(ran.stdout.starts_with("equal: 2 of 2"), "{}", ran.stdout);
}
