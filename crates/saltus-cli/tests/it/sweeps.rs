//! `saltus sweep`: axes, cases, samples, measures, shares.

use std::fs;
use std::path::Path;

use crate::{Ran, saltus_in, scratch};

/// x = a exp(-k t), with a jump of the text that is a word.
const DECAY: &str = "model Decay
  type Kind = enumeration(plain, doubled);
  parameter Real k(min = 0) = 1;
  parameter Kind kind = Kind.plain;
  parameter String label = \"none\";
  Real x(start = 1, fixed = true);
  discrete Integer n(start = 0, fixed = true);
equation
  der(x) = -k*x*(if kind == Kind.doubled then 2 else 1);
  when x < 0.5 then
    n = pre(n) + 1;
  end when;
  assert(k < 50, \"too fast\");
end Decay;
";

fn folder(test: &str) -> std::path::PathBuf {
    let folder = scratch(test);
    fs::write(folder.join("Decay.mo"), DECAY).unwrap();
    folder
}

fn sweep(folder: &Path, args: &[&str]) -> Ran {
    let mut all = vec!["sweep", "Decay.mo", "--fresh", "--tolerance", "1e-9"];
    all.extend(args);
    saltus_in(folder, &all)
}

fn rows(folder: &Path, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let cell = |c: &str| c.trim_matches('"').to_owned();
    text.lines()
        .map(|line| line.split(',').map(cell).collect())
        .collect()
}

#[test]
fn measures_are_columns_with_names() {
    let folder = folder("sweep_measures");
    let args = [
        "--set",
        "k=1,2",
        "--measure",
        "peak=max(x)",
        "--measure",
        "low=min(x)",
        "--measure",
        "area=integral(x)",
        "--measure",
        "mean(x)",
        "--measure",
        "rms(x)",
        "--measure",
        "half=time_of(x < 0.5)",
        "--measure",
        "count=events(state)",
        "--measure",
        "end=final(x)",
        "--output",
        "m.csv",
    ];
    let ran = sweep(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let rows = rows(&folder, "m.csv");
    let head = [
        "run", "k", "status", "time", "peak", "low", "area", "mean(x)", "rms(x)", "half", "count",
        "end",
    ];
    assert_eq!(rows[0], head);
    for row in &rows[1..] {
        let number = |name: &str| -> f64 {
            row[head.iter().position(|h| *h == name).unwrap()]
                .parse()
                .unwrap()
        };
        let k = number("k");
        let end = (-k).exp();
        for (name, exact) in [
            ("peak", 1.0),
            ("low", end),
            ("area", (1.0 - end) / k),
            ("mean(x)", (1.0 - end) / k),
            ("rms(x)", ((1.0 - end * end) / (2.0 * k)).sqrt()),
            ("half", 2.0_f64.ln() / k),
            ("count", 1.0),
            ("end", end),
        ] {
            assert!(
                (number(name) - exact).abs() < 1e-4,
                "{name}: {} {exact}",
                number(name)
            );
        }
    }
}

#[test]
fn axes_may_be_words_and_texts() {
    let folder = folder("sweep_words");
    let args = [
        "--set",
        "kind=plain,doubled",
        "--set",
        "label=a,\"b c\"",
        "--variables",
        "x",
        "--output",
        "w.csv",
    ];
    let ran = sweep(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let rows = rows(&folder, "w.csv");
    assert_eq!(rows[0], ["run", "kind", "label", "status", "time", "x"]);
    assert_eq!(rows[3][1..3], ["doubled", "a"]);
    let x = |row: usize| rows[row][5].parse::<f64>().unwrap();
    assert!((x(1) - (-1.0_f64).exp()).abs() < 1e-6 && (x(4) - (-2.0_f64).exp()).abs() < 1e-6);
}

#[test]
fn cases_of_a_file_are_rows_and_failures_have_reasons() {
    let folder = folder("sweep_cases");
    fs::write(folder.join("c.csv"), "k,x\n1,1\n60,1\n2,3\n-1,1\n").unwrap();
    let ran = sweep(
        &folder,
        &[
            "--cases",
            "c.csv",
            "--measure",
            "end=final(x)",
            "--output",
            "o.csv",
        ],
    );
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    let rows = rows(&folder, "o.csv");
    assert_eq!(
        rows[0],
        ["run", "k", "x", "status", "time", "end", "reason"]
    );
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[2][3], "assertion-failed");
    assert!(rows[2][6].contains("too fast"), "{:?}", rows[2]);
    assert_eq!(rows[4][3], "usage");
    assert!(rows[4][6].contains("less than its `min`"), "{:?}", rows[4]);
    let end: f64 = rows[3][5].parse().unwrap();
    assert!((end - 3.0 * (-2.0_f64).exp()).abs() < 1e-6);
}

#[test]
fn samples_are_the_same_for_a_seed() {
    let folder = folder("sweep_samples");
    let table = |seed: &str, how: &str| {
        let args = [
            "--set",
            "k=uniform(0.5, 2)",
            "--set",
            "x=normal(1, 0.1)",
            "--samples",
            "20",
            "--seed",
            seed,
            "--sampling",
            how,
            "--measure",
            "end=final(x)",
            "--output",
            "s.csv",
        ];
        let ran = sweep(&folder, &args);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        rows(&folder, "s.csv")
    };
    let first = table("7", "lhs");
    assert_eq!(first.len(), 21);
    assert_eq!(first, table("7", "lhs"));
    assert_ne!(first, table("8", "lhs"));
    let mut strata: Vec<usize> = (first[1..].iter())
        .map(|row| ((row[1].parse::<f64>().unwrap() - 0.5) / 1.5 * 20.0) as usize)
        .collect();
    strata.sort_unstable();
    assert_eq!(strata, (0..20).collect::<Vec<_>>());
    let ran = sweep(&folder, &["--set", "k=uniform(0, 1)"]);
    assert!(
        ran.exit == Some(2) && ran.stderr.contains("--samples"),
        "{}",
        ran.stderr
    );
}

#[test]
fn shares_put_together_are_the_whole() {
    let folder = folder("sweep_shares");
    let args = [
        "--set",
        "k=0:3:10",
        "--set",
        "x=1,2",
        "--measure",
        "end=final(x)",
    ];
    let part = |more: &[&str]| {
        let ran = sweep(&folder, &[&args[..], more].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    };
    part(&["--output", "all.csv"]);
    for k in 1..=3 {
        part(&[
            "--shard",
            &format!("{k}/3"),
            "--output",
            &format!("p{k}.csv"),
        ]);
    }
    let merge = [
        "sweep",
        "merge",
        "p2.csv",
        "p1.csv",
        "p3.csv",
        "--output",
        "merged.csv",
    ];
    let ran = saltus_in(&folder, &merge);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let text = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    assert_eq!(text("merged.csv"), text("all.csv"));
    let ran = saltus_in(
        &folder,
        &["sweep", "merge", "p1.csv", "p3.csv", "--output", "two.csv"],
    );
    assert_eq!(ran.exit, Some(3));
    assert!(
        ran.stderr.contains("runs are in no table"),
        "{}",
        ran.stderr
    );
    let ran = saltus_in(
        &folder,
        &["sweep", "merge", "p1.csv", "p1.csv", "--output", "two.csv"],
    );
    assert!(
        ran.exit == Some(2) && ran.stderr.contains("in two tables"),
        "{}",
        ran.stderr
    );
}

#[test]
fn curves_of_all_runs_are_kept() {
    let folder = folder("sweep_curves");
    let args = [
        "--set",
        "k=1,2",
        "--intervals",
        "10",
        "--variables",
        "x",
        "--trajectories",
    ];
    let ran = sweep(
        &folder,
        &[&args[..], &["curves", "--output", "t.csv"]].concat(),
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let second = rows(&folder.join("curves"), "run_2.csv");
    assert_eq!(second[0], ["time", "x"]);
    assert!(second.len() >= 12);
    let ran = sweep(
        &folder,
        &[&args[..], &["curves.parquet", "--output", "t.csv"]].concat(),
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        fs::read(folder.join("curves.parquet"))
            .unwrap()
            .starts_with(b"PAR1")
    );
}

#[test]
fn no_two_columns_have_one_name() {
    let folder = folder("sweep_names");
    let ran = sweep(
        &folder,
        &[
            "--set",
            "x=1,2",
            "--set",
            "k=1",
            "--variables",
            "x",
            "--output",
            "n.csv",
        ],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(
        rows(&folder, "n.csv")[0],
        ["run", "x", "k", "status", "time", "final(x)"]
    );
    let ran = sweep(&folder, &["--set", "x=1,2", "--measure", "x=max(x)"]);
    assert!(
        ran.exit == Some(2) && ran.stderr.contains("would be named `x`"),
        "{}",
        ran.stderr
    );
    let ran = sweep(&folder, &["--set", "k=1", "--set", "k=2"]);
    assert!(
        ran.exit == Some(2) && ran.stderr.contains("set twice"),
        "{}",
        ran.stderr
    );
}
