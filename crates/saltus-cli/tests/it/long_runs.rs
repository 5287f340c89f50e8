//! Runs that are long, interrupted, killed, or go on where another ended.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use saltus_results::{ResultTable, read_events, read_result};

use crate::{saltus_in, scratch};

#[path = "../../../saltus-results/tests/it/foreign.rs"]
mod foreign;

/// x is a sine of period 2π, n counts the seconds, s is a state that turns at its limits.
const LONG: &str = "model Long
  parameter Real w = 1;
  Real x(start = 0, fixed = true);
  Real v(start = 1, fixed = true);
  Real y = 2*x;
  Real s(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Boolean up(start = true, fixed = true);
equation
  der(x) = w*v;
  der(v) = -w*x;
  der(s) = if up then 1 else -1;
  when s > 0.75 then
    up = false;
  elsewhen s < -0.75 then
    up = true;
  end when;
  when sample(1, 1) then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 10, Interval = 0.01, Tolerance = 1e-8));
end Long;
";

fn read(path: &Path) -> ResultTable {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    read_result(&path.to_string_lossy(), &bytes)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Times, x and y as other tools find them; every byte of the file must be part of something.
fn read_foreign(path: &Path) -> Vec<[f64; 3]> {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_some_and(|e| e == "parquet") {
        let columns = foreign::parquet_columns(&bytes).unwrap();
        let of = |name: &str| &columns.iter().find(|(n, _)| n == name).unwrap().1;
        let (t, x, y) = (of("time"), of("x"), of("y"));
        return (0..t.len()).map(|i| [t[i], x[i], y[i]]).collect();
    }
    let table = read(path);
    if path.extension().is_some_and(|e| e == "mat") {
        let rows = foreign::mat_rows(&bytes).unwrap();
        assert_eq!(rows.len(), table.n_rows());
    }
    let (x, y) = (table.signal("x").unwrap(), table.signal("y").unwrap());
    let row = |i| [table.time()[i], x.row(i), y.row(i)];
    (0..table.n_rows()).map(row).collect()
}

fn start(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["simulate", "Long.mo"])
        .args(args)
        .current_dir(folder)
        .env_remove("MODELICAPATH")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn folder_with_model(name: &str) -> std::path::PathBuf {
    let folder = scratch(name);
    fs::write(folder.join("Long.mo"), LONG).unwrap();
    folder
}

/// Waits until the result is there.
fn wait_for(path: &Path) {
    for _ in 0..10_000 {
        if path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{} did not appear", path.display());
}

/// The rows are those of the model.
fn check_rows(rows: &[[f64; 3]]) {
    assert!(rows.is_sorted_by(|a, b| a[0] <= b[0]));
    for [t, x, y] in rows {
        assert!((x - t.sin()).abs() < 1e-3, "x at {t}");
        assert_eq!(*y, 2.0 * x);
    }
}

#[test]
fn a_killed_run_leaves_a_readable_result() {
    let folder = folder_with_model("killed");
    // Milliseconds after the result has appeared, from the digits of the golden ratio.
    let moments = [61, 80, 33, 98, 8, 74, 1, 89, 48, 120];
    let mut rows = Vec::new();
    for (i, moment) in moments.into_iter().enumerate() {
        let ending = ["mat", "csv", "parquet"][i % 3];
        let output = folder.join(format!("{i}.{ending}"));
        let _ = fs::remove_file(&output);
        let name = output.file_name().unwrap().to_str().unwrap();
        let mut child = start(
            &folder,
            &["--output", name, "--stop-time", "1e5", "--events", "e.json"],
        );
        wait_for(&output);
        std::thread::sleep(Duration::from_millis(moment));
        child.kill().expect("it runs");
        assert!(!child.wait().unwrap().success());
        let found = read_foreign(&output);
        check_rows(&found);
        rows.push(found.len());
        let log = fs::read_to_string(folder.join("e.json")).unwrap_or_default();
        let events = read_events(&log).unwrap();
        assert!(events.windows(2).all(|w| w[0].time <= w[1].time));
        fs::remove_file(&output).unwrap();
    }
    // The first row comes with the name; most runs got further.
    assert!(rows.iter().all(|&n| n > 0), "{rows:?}");
    assert!(rows.iter().filter(|&&n| n > 100).count() >= 5, "{rows:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_with_its_results() {
    let folder = folder_with_model("interrupted");
    let output = folder.join("int.mat");
    let _ = fs::remove_file(&output);
    let child = start(&folder, &["--output", "int.mat", "--stop-time", "1e5"]);
    wait_for(&output);
    std::thread::sleep(Duration::from_millis(50));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    let text = String::from_utf8(ended.stderr).unwrap();
    assert!(text.contains("error[cancelled]"), "{text}");
    let rows = read_foreign(&output);
    assert!(rows.len() > 10);
    check_rows(&rows);
    fs::remove_file(&output).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_with_an_error() {
    let folder = folder_with_model("full");
    for ending in ["mat", "csv"] {
        let name = format!("full.{ending}");
        let link = folder.join(&name);
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink("/dev/full", &link).unwrap();
        let ran = saltus_in(&folder, &["simulate", "Long.mo", "--output", &name]);
        assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[result-not-written]"));
    }
    // A limit on the size of files: what fits can be read.
    for ending in ["mat", "csv"] {
        let name = format!("limited.{ending}");
        let script = format!(
            "ulimit -f 200; exec '{}' simulate Long.mo --stop-time 200 --output {name}",
            env!("CARGO_BIN_EXE_saltus")
        );
        let ended = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(3));
        let text = String::from_utf8(ended.stderr).unwrap();
        assert!(text.contains("error[result-not-written]"), "{text}");
        let rows = read_foreign(&folder.join(&name));
        assert!(rows.len() > 500, "{}", rows.len());
        check_rows(&rows);
    }
}

/// A disk of half a megabyte: a file system in memory, which only root may mount.
#[cfg(target_os = "linux")]
struct SmallDisk(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount(folder: &Path, kilobytes: u32) -> Option<SmallDisk> {
        fs::create_dir_all(folder).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "none"])
            .arg(folder)
            .stderr(Stdio::null())
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("skipped: this account cannot mount a small disk (needs root)");
            return None;
        }
        Some(SmallDisk(folder.to_owned()))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_what_was_written_in_every_format() {
    let folder = folder_with_model("full_disk");
    let Some(disk) = SmallDisk::mount(&folder.join("disk"), 512) else {
        return;
    };
    for ending in ["mat", "csv", "parquet"] {
        let name = format!("disk/r.{ending}");
        let output = folder.join(&name);
        // An earlier result that needs little room.
        fs::write(&output, "earlier").unwrap();
        let args = ["--stop-time", "1e4", "--output", &name];
        let ran = saltus_in(&folder, &[&["simulate", "Long.mo"], &args[..]].concat());
        assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("error[result-not-written]"),
            "{}",
            ran.stderr
        );
        // What the messages say is so.
        let kept = format!("disk/r.{ending}.previous");
        assert!(ran.stderr.contains(&kept), "{}", ran.stderr);
        assert_eq!(fs::read_to_string(folder.join(&kept)).unwrap(), "earlier");
        let rows = read_foreign(&output);
        assert!(rows.len() > 500, "{ending}: {}", rows.len());
        check_rows(&rows);
        let until = format!("has the rows up to time {}", rows.last().unwrap()[0]);
        assert!(ran.stderr.contains(&until), "{until}: {}", ran.stderr);
        let left: Vec<_> = fs::read_dir(&disk.0).unwrap().flatten().collect();
        assert_eq!(left.len(), 2, "{left:?}");
        for file in left {
            fs::remove_file(file.path()).unwrap();
        }
    }
    // No room for anything: the earlier files stay as they are.
    fs::write(disk.0.join("r.mat"), "earlier").unwrap();
    fs::write(disk.0.join("e.json"), "earlier log").unwrap();
    fs::write(disk.0.join("s.json"), "earlier numbers").unwrap();
    // Everything up to the last page.
    let filled = Command::new("sh")
        .args(["-c", "cat /dev/zero > disk/rest"])
        .current_dir(&folder)
        .stderr(Stdio::null())
        .status();
    assert!(!filled.unwrap().success());
    for options in [
        ["--output", "disk/r.mat"],
        ["--events", "disk/e.json"],
        ["--stats", "disk/s.json"],
    ] {
        let ran = saltus_in(&folder, &[&["simulate", "Long.mo"], &options[..]].concat());
        assert!(
            matches!(ran.exit, Some(2 | 3)),
            "{options:?}: {}",
            ran.stderr
        );
    }
    for (name, content) in [
        ("r.mat", "earlier"),
        ("e.json", "earlier log"),
        ("s.json", "earlier numbers"),
    ] {
        assert_eq!(fs::read_to_string(disk.0.join(name)).unwrap(), content);
    }
    drop(disk);
}

#[test]
fn an_earlier_result_stays_until_a_run_has_come_to_an_end() {
    let folder = folder_with_model("previous");
    for file in fs::read_dir(&folder).unwrap().flatten() {
        if file.path().extension().is_none_or(|e| e != "mo") {
            fs::remove_file(file.path()).unwrap();
        }
    }
    let text = "model Fails
  parameter Real stop = 0.5;
  Real x = if time < stop then 1/(stop - time) else 0;
equation
  assert(time < stop, \"too late\");
end Fails;";
    fs::write(folder.join("Fails.mo"), text).unwrap();
    let run = |stop: &str| {
        let set = format!("stop={stop}");
        let args = [
            "simulate", "Fails.mo", "--set", &set, "--output", "r.csv", "--events", "e.json",
        ];
        saltus_in(&folder, &args)
    };
    let content = |name: &str| fs::read_to_string(folder.join(name)).ok();
    // No row: nothing is written.
    let ran = run("0");
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    // A complete run, then one without a row: the result stays.
    assert_eq!(run("2").exit, Some(0));
    let good = content("r.csv").unwrap();
    assert_eq!(run("0").exit, Some(3));
    assert_eq!(content("r.csv").unwrap(), good);
    assert_eq!(content("r.csv.previous"), None);
    // One that ends too early: both are there.
    let ran = run("0.5");
    assert_eq!(ran.exit, Some(3));
    assert!(
        ran.stderr.contains("the earlier result is kept as"),
        "{}",
        ran.stderr
    );
    assert_eq!(content("r.csv.previous").unwrap(), good);
    assert!(content("r.csv").unwrap().lines().count() < good.lines().count());
    // One that is complete: the earlier one is gone.
    assert_eq!(run("3").exit, Some(0));
    assert_eq!(content("r.csv.previous"), None);
    assert_eq!(
        content("r.csv").unwrap().lines().count(),
        good.lines().count()
    );
}

#[test]
fn files_that_cannot_be_written_are_found_before_the_run() {
    let folder = folder_with_model("unwritable");
    fs::create_dir_all(folder.join("is_a_folder.mat")).unwrap();
    let cases = [
        ("--output", "nowhere/r.mat", "no folder"),
        ("--output", "is_a_folder.mat", "it is a folder"),
        ("--events", "nowhere/e.json", "no folder"),
        ("--stats", "nowhere/s.json", "no folder"),
    ];
    for (option, path, why) in cases {
        // The stop time is far away: the run would not end in time.
        let args = ["simulate", "Long.mo", "--stop-time", "1e9", option, path];
        let ran = saltus_in(&folder, &args);
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

#[test]
fn an_earlier_result_stays_if_the_model_is_wrong() {
    let folder = folder_with_model("stays");
    fs::write(folder.join("Wrong.mo"), "model Wrong Real x; end Wrong;").unwrap();
    fs::write(folder.join("r.csv"), "time,x\n0,1\n").unwrap();
    let ran = saltus_in(&folder, &["simulate", "Wrong.mo", "--output", "r.csv"]);
    assert_eq!(ran.exit, Some(1));
    assert_eq!(
        fs::read_to_string(folder.join("r.csv")).unwrap(),
        "time,x\n0,1\n"
    );
}

#[test]
fn the_wall_clock_limit_keeps_what_was_computed() {
    let folder = folder_with_model("wall");
    let args = [
        "simulate",
        "Long.mo",
        "--stop-time",
        "1e7",
        "--max-wall",
        "0.5",
        "--output",
        "w.mat",
    ];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(3));
    assert!(ran.stderr.contains("error[wall-clock]"), "{}", ran.stderr);
    let rows = read_foreign(&folder.join("w.mat"));
    assert!(rows.len() > 100);
    check_rows(&rows);
    fs::remove_file(folder.join("w.mat")).unwrap();
}

#[test]
fn a_run_goes_on_where_another_has_been() {
    let folder = folder_with_model("goes_on");
    let run = |args: &[&str]| {
        let ran = saltus_in(&folder, &[&["simulate", "Long.mo"], args].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    };
    run(&["--output", "whole.csv"]);
    let whole = read(&folder.join("whole.csv"));
    for (first, from, begin) in [
        ("first.mat", "first.mat", 4.0),
        ("first.csv", "first.csv@3", 3.0),
        ("first.mat", "first.mat@2.255", 2.255),
    ] {
        run(&["--stop-time", "4", "--output", first]);
        run(&["--start-from", from, "--output", "second.csv"]);
        let second = read(&folder.join("second.csv"));
        assert_eq!(second.time()[0], begin);
        for name in ["x", "v", "s", "n", "up", "y"] {
            let (a, b) = (whole.signal(name).unwrap(), second.signal(name).unwrap());
            for t in [begin, 4.3, 5.0, 6.51, 7.77, 10.0] {
                let side = saltus_results::Side::Right;
                let (a, b) = (a.at(t, side).unwrap(), b.at(t, side).unwrap());
                assert!((a - b).abs() < 1e-4, "{from}: {name} at {t}: {a} and {b}");
            }
        }
    }
    // Parameters are those of the model and the command line.
    run(&[
        "--start-from",
        "first.mat",
        "--set",
        "w=0.5",
        "--output",
        "slow.csv",
    ]);
    let slow = read(&folder.join("slow.csv"));
    let x = slow.signal("x").unwrap().last().unwrap();
    assert!((x - (4.0 + 0.5 * 6.0f64).sin()).abs() < 1e-4, "{x}");
}

#[test]
fn a_start_that_is_not_in_the_result_is_an_error() {
    let folder = folder_with_model("no_start");
    let args = [
        "simulate",
        "Long.mo",
        "--variables",
        "x",
        "--output",
        "x.mat",
    ];
    assert_eq!(saltus_in(&folder, &args).exit, Some(0));
    for (from, why) in [
        ("x.mat", "does not hold the states `v`, `s`"),
        ("x.mat@20", "time 20 is outside"),
        ("none.mat", "cannot be read"),
    ] {
        let ran = saltus_in(&folder, &["simulate", "Long.mo", "--start-from", from]);
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

#[test]
fn pictures_need_no_variable_of_the_result() {
    let folder = folder_with_model("picture");
    let base = [
        "simulate",
        "Long.mo",
        "--variables",
        "n",
        "--output",
        "n.csv",
    ];
    let ran = saltus_in(&folder, &[&base[..], &["--plot", "x,y=p.svg"]].concat());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        fs::read_to_string(folder.join("p.svg"))
            .unwrap()
            .starts_with("<svg")
    );
    let header = fs::read_to_string(folder.join("n.csv")).unwrap();
    assert!(header.starts_with("\"time\",\"n\"\n"));
    let ran = saltus_in(&folder, &[&base[..], &["--plot", "z=p.svg"]].concat());
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("no variable `z`"));
}

/// A model that does not fit into memory ends with a message and the exit code of a run that could not be completed, not by a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_model_too_large_for_memory_says_so() {
    let folder = scratch("memory");
    let text = "model Large\n  parameter Integer n = 9000000;\n  Real x[n](each start = 1, each fixed = true);\nequation\n  der(x) = -x;\nend Large;\n";
    fs::write(folder.join("Large.mo"), text).unwrap();
    let program = env!("CARGO_BIN_EXE_saltus");
    let command = format!("ulimit -v 1500000; exec '{program}' check Large.mo");
    let ended = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(&folder)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{stderr}");
    assert!(stderr.starts_with("error[out-of-memory]"), "{stderr}");
    assert!(stderr.contains("help: "), "{stderr}");
}
