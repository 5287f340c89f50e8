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
        (Some(0), "equal: 2 of 2 signals inside the tube\n")
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
