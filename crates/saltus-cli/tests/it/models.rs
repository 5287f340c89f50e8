//! Models through the program: the examples of the repository, and what can go wrong with a file.

use std::fs;
use std::path::Path;

use crate::{saltus_in, scratch};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name);
    path.to_str().unwrap().to_owned()
}

/// Rows of a CSV text as numbers, and the column of each name.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn new(text: &str) -> Table {
        let mut lines = text.lines();
        let names = lines
            .next()
            .unwrap()
            .split("\",\"")
            .map(|n| n.trim_matches('"').to_owned());
        Table {
            names: names.collect(),
            rows: lines
                .map(|l| l.split(',').map(|n| n.parse().unwrap()).collect())
                .collect(),
        }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let i = self
            .names
            .iter()
            .position(|n| n == name)
            .unwrap_or_else(|| panic!("no {name} in {:?}", self.names));
        self.rows.iter().map(|row| row[i]).collect()
    }
}

fn simulated(test: &str, args: &[&str]) -> Table {
    let folder = scratch(test);
    let args = [&["simulate"], args, &["--output", "-", "--quiet"]].concat();
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    Table::new(&ran.stdout)
}

#[test]
fn the_ball_bounces_at_the_times_of_the_closed_form() {
    let table = simulated(
        "ball",
        &[
            &example("BouncingBall.mo"),
            "--variables",
            "v",
            "--variables",
            "x",
        ],
    );
    let (time, v) = (table.column("time"), table.column("v"));
    // Both sides of an event are two rows of equal time, and the velocity jumps.
    let events: Vec<f64> = (1..time.len())
        .filter(|&i| time[i] == time[i - 1] && v[i] > v[i - 1] + 0.1)
        .map(|i| time[i])
        .collect();
    let exact = [
        0.451_523_640_985_730_9,
        1.219_113_830_661_473_4,
        1.871_565_491_885_854_6,
        2.426_149_403_926_578_6,
        2.897_545_729_161_194,
    ];
    assert_eq!(events.len(), exact.len(), "{events:?}");
    for (found, exact) in events.iter().zip(exact) {
        assert!((found - exact).abs() < 1e-9, "{found} {exact}");
    }
    assert_eq!(time.last(), Some(&3.0));
}

#[test]
fn a_run_writes_result_events_statistics_and_picture() {
    let folder = scratch("files");
    let ball = example("BouncingBall.mo");
    let args = [
        "simulate",
        &ball,
        "--events",
        "e.jsonl",
        "--stats",
        "s.json",
        "--plot",
        "x,v=p.svg",
        "--stop-time",
        "1",
    ];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        fs::read(folder.join("BouncingBall_res.mat"))
            .unwrap()
            .starts_with(&51_i32.to_le_bytes())
    );
    assert!(
        fs::read_to_string(folder.join("p.svg"))
            .unwrap()
            .contains("v [m/s]")
    );
    let stats: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("s.json")).unwrap()).unwrap();
    assert_eq!(stats["model"], "BouncingBall");
    assert_eq!(stats["states"], 2);
    assert_eq!(stats["events"]["state"], 1);
    let events = fs::read_to_string(folder.join("e.jsonl")).unwrap();
    let bounce = events
        .lines()
        .find(|line| line.contains("\"state\""))
        .unwrap();
    let bounce: serde_json::Value = serde_json::from_str(bounce).unwrap();
    assert!(
        bounce["cause"][0]["expression"]
            .as_str()
            .unwrap()
            .contains('x')
    );
    assert_eq!(bounce["changed"][0]["variable"], "v");
}

#[test]
fn energy_stays_on_the_spring_floor() {
    let energy = simulated("spring", &[&example("SpringBall.mo")]).column("energy");
    for value in &energy {
        assert!((value - 10431.65).abs() < 1e-2, "{value}");
    }
}

#[test]
fn the_relay_switches_at_the_exact_times() {
    let table = simulated("relay", &[&example("Hysteresis.mo")]);
    let (time, y) = (table.column("time"), table.column("y"));
    let events: Vec<f64> = (1..time.len())
        .filter(|&i| y[i] != y[i - 1])
        .map(|i| time[i])
        .collect();
    let pi = std::f64::consts::PI;
    assert_eq!(events.len(), 3, "{events:?}");
    for (found, exact) in events
        .iter()
        .zip([2.0 * pi / 3.0, 5.0 * pi / 3.0, 8.0 * pi / 3.0])
    {
        assert!((found - exact).abs() < 1e-9, "{found} {exact}");
    }
}

#[test]
fn a_capacitor_charges_as_the_exponential_says() {
    let file = example("RCCircuit.mo");
    let table = simulated(
        "rc",
        &[&file, "--model", "RCCircuit.Circuit", "--tolerance", "1e-9"],
    );
    let (time, v) = (table.column("time"), table.column("capacitor.v"));
    for (t, v) in time.iter().zip(v) {
        let exact = if *t < 0.1 {
            0.0
        } else {
            10.0 * (1.0 - (-(t - 0.1) / 0.1).exp())
        };
        assert!((v - exact).abs() < 1e-6, "{t}: {v} {exact}");
    }
}

#[test]
fn parameters_can_be_set_and_wrong_names_are_refused() {
    let ball = example("BouncingBall.mo");
    let table = simulated("set", &[&ball, "--set", "mu=0.5", "--stop-time", "1"]);
    assert_eq!(table.column("mu")[0], 0.5);
    let ran = saltus_in(&scratch("set"), &["simulate", &ball, "--set", "mue=0.5"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("did you mean `mu`"), "{}", ran.stderr);
}

#[test]
fn a_wrong_model_is_exit_code_1_and_a_missing_file_2() {
    let folder = scratch("wrong");
    fs::write(
        folder.join("bad.mo"),
        "model M Real x; equation x = y; end M;",
    )
    .unwrap();
    let ran = saltus_in(&folder, &["check", "bad.mo"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stderr.contains("error[unknown-name]"), "{}", ran.stderr);
    assert_eq!(saltus_in(&folder, &["check", "nothing.mo"]).exit, Some(2));
    assert_eq!(
        saltus_in(&folder, &["check", "No.Such.Model"]).exit,
        Some(1)
    );
}

#[test]
fn a_run_that_fails_is_exit_code_3_and_keeps_its_rows() {
    let folder = scratch("fails");
    let text = "model M Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0, \"empty\"); \
                annotation(experiment(StopTime = 2)); end M;";
    fs::write(folder.join("M.mo"), text).unwrap();
    let ran = saltus_in(&folder, &["simulate", "M.mo", "--output", "r.csv"]);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("error[assertion-failed]") && ran.stderr.contains("empty"));
    let table = Table::new(&fs::read_to_string(folder.join("r.csv")).unwrap());
    let last = *table.column("time").last().unwrap();
    assert!(last > 0.9 && last <= 1.0 + 1e-9, "{last}");
}

#[test]
fn strange_files_give_messages() {
    let folder = scratch("strange");
    fs::write(
        folder.join("binary.mo"),
        (0..=255_u8).cycle().take(100_000).collect::<Vec<u8>>(),
    )
    .unwrap();
    fs::write(folder.join("empty.mo"), "").unwrap();
    let deep = format!(
        "model M Real x = {}1{}; end M;",
        "(".repeat(10_000),
        ")".repeat(10_000)
    );
    fs::write(folder.join("deep.mo"), deep).unwrap();
    for (file, code) in [
        ("binary.mo", "not-utf8"),
        ("deep.mo", "nesting-too-deep"),
        ("empty.mo", ""),
    ] {
        let ran = saltus_in(&folder, &["check", file]);
        assert_eq!(ran.exit, Some(1), "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains(code), "{file}: {}", ran.stderr);
    }
}

#[test]
fn stages_can_be_shown() {
    let folder = scratch("show");
    let ball = example("BouncingBall.mo");
    for stage in ["ast", "flat", "structure"] {
        let ran = saltus_in(&folder, &["show", &ball, "--stage", stage]);
        assert_eq!(ran.exit, Some(0), "{stage}: {}", ran.stderr);
        assert!(ran.stdout.contains('v'), "{stage}");
    }
    let ran = saltus_in(&folder, &["check", &ball]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("BouncingBall: "));
}

const WRITES: &str = "model Writes
  function put
    input String text;
    input String file;
  external \"C\" ModelicaInternal_print(text, file);
  end put;
  function remove
    input String file;
  external \"C\" ModelicaInternal_removeFile(file);
  end remove;
  function store
    input String file;
    input Real matrix[:, :];
    output Boolean done;
  external \"C\" done = ModelicaIO_writeRealMatrix(file, \"m\", matrix, size(matrix, 1), size(matrix, 2), false, \"4\");
  end store;
  Boolean stored(start = false, fixed = true);
equation
  when time >= 0.5 then
    put(\"half\", \"PLACE.txt\");
    stored = store(\"PLACE.mat\", [1, 2; 3, time]);
  elsewhen time >= 0.75 then
    remove(\"PLACE.gone\");
    stored = pre(stored);
  end when;
end Writes;
";

#[test]
fn models_write_in_the_working_folder_only() {
    let folder = scratch("writes");
    for file in ["here.txt", "here.mat"] {
        let _ = std::fs::remove_file(folder.join(file));
    }
    std::fs::write(folder.join("here.gone"), "x").unwrap();
    std::fs::write(folder.join("W.mo"), WRITES.replace("PLACE", "here")).unwrap();
    let ran = saltus_in(&folder, &["simulate", "W.mo", "--output", "r.csv"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let text = std::fs::read_to_string(folder.join("here.txt")).unwrap();
    assert!(
        text.lines().all(|line| line == "half") && !text.is_empty(),
        "{text}"
    );
    // Header, name, four numbers by columns.
    let bytes = std::fs::read(folder.join("here.mat")).unwrap();
    assert_eq!(bytes.len(), 20 + 2 + 32);
    assert_eq!(bytes[30..38], 3f64.to_le_bytes());
    assert!(!folder.join("here.gone").exists());

    std::fs::write(folder.join("W.mo"), WRITES.replace("PLACE", "../outside")).unwrap();
    let ran = saltus_in(&folder, &["simulate", "W.mo", "--output", "r.csv"]);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("in the working folder only"),
        "{}",
        ran.stderr
    );
    assert!(!folder.join("../outside.txt").exists());
}

/// The functions of `Modelica.Utilities.Internal` and `System`, in one go.
const UTILITIES: &str = r#"
package U
  function print
    input String text;
    input String file = "";
  external "C" ModelicaInternal_print(text, file);
  end print;
  function mkdir
    input String name;
  external "C" ModelicaInternal_mkdir(name);
  end mkdir;
  function rmdir
    input String name;
  external "C" ModelicaInternal_rmdir(name);
  end rmdir;
  function rename
    input String old;
    input String new;
  external "C" ModelicaInternal_rename(old, new);
  end rename;
  function copy
    input String old;
    input String new;
  external "C" ModelicaInternal_copyFile(old, new);
  end copy;
  function remove
    input String name;
  external "C" ModelicaInternal_removeFile(name);
  end remove;
  function stat
    input String name;
    output Integer kind;
  external "C" kind = ModelicaInternal_stat(name);
  end stat;
  function chdir
    input String name;
  external "C" ModelicaInternal_chdir(name);
  end chdir;
  function getcwd
    output String name;
  external "C" name = ModelicaInternal_getcwd(0);
  end getcwd;
  function count
    input String name;
    output Integer n;
  external "C" n = ModelicaInternal_getNumberOfFiles(name);
  end count;
  function list
    input String name;
    input Integer n;
    output String names[n];
  external "C" ModelicaInternal_readDirectory(name, n, names);
  end list;
  function temporary
    output String name;
  external "C" name = ModelicaInternal_temporaryFileName();
  end temporary;
  function now
    output Integer ms;
    output Integer sec;
    output Integer min;
    output Integer hour;
    output Integer day;
    output Integer mon;
    output Integer year;
  external "C" ModelicaInternal_getTime(ms, sec, min, hour, day, mon, year);
  end now;
  function command
    input String text;
    output Integer code;
  external "C" code = system(text);
  end command;
  function exit
    input Integer status;
  external "C" exit(status);
  end exit;
  function all
    output Boolean done;
  protected
    String before;
    String names[2];
    String scratch;
    Integer t[7];
  algorithm
    before := getcwd();
    mkdir("inner");
    assert(stat("inner") == 3, "mkdir");
    chdir("inner");
    assert(getcwd() == before + "/inner", "chdir");
    print("one", "a.txt");
    copy("a.txt", "b.txt");
    assert(count(".") == 2, "copy");
    names := list(".", 2);
    assert(names[1] == "a.txt" and names[2] == "b.txt", "list");
    rename("b.txt", "../c.txt");
    remove("a.txt");
    chdir("..");
    assert(getcwd() == before and stat("c.txt") == 2, "rename");
    rmdir("inner");
    assert(stat("inner") == 1, "rmdir");
    scratch := temporary();
    print("x", scratch);
    assert(stat(scratch) == 2, "temporary");
    remove(scratch);
    (t[1], t[2], t[3], t[4], t[5], t[6], t[7]) := now();
    assert(t[1] >= 0 and t[1] < 1000 and t[6] >= 1 and t[6] <= 12 and t[7] > 2000, "time");
    done := true;
  end all;
  model M
    Boolean done;
  algorithm
    when initial() then
      done := all();
    end when;
  end M;
  model Outside
    parameter String action = "make";
    parameter String file = "../permitted/x";
    Integer code(start = 0, fixed = true);
  algorithm
    when time >= 0.5 then
      if action == "make" then
        mkdir(file);
      elseif action == "print" then
        chdir("../permitted");
        print("x", "y.txt");
      elseif action == "move" then
        rename("here.txt", file);
      elseif action == "exit" then
        exit(7);
      else
        code := command("echo said; exit 3");
      end if;
    end when;
  end Outside;
  model Make = Outside(action = "make");
  model Print = Outside(action = "print");
  model Move = Outside(action = "move");
  model Exit = Outside(action = "exit");
  model Command = Outside(action = "command");
end U;
"#;

#[test]
fn functions_of_files_and_folders_work_inside_the_working_folder() {
    let folder = scratch("utilities");
    fs::write(folder.join("U.mo"), UTILITIES).unwrap();
    let args = ["simulate", "U.mo", "--model", "U.M", "--output", "r.csv"];
    let ran = saltus_in(&folder, &args);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(folder.join("c.txt")).unwrap(), "one\n");
}

#[test]
fn what_goes_beyond_needs_an_option_that_the_message_names() {
    let base = scratch("permissions");
    // An earlier run of the tests may have left something.
    fs::remove_dir_all(&base).unwrap();
    let (folder, other) = (base.join("work"), base.join("permitted"));
    for made in [&folder, &other] {
        fs::create_dir_all(made).unwrap();
    }
    fs::write(folder.join("U.mo"), UTILITIES).unwrap();
    fs::write(folder.join("here.txt"), "x").unwrap();
    let run = |model: &str, more: &[&str]| {
        let args = ["simulate", "U.mo", "--model", model, "--output", "r.csv"];
        saltus_in(&folder, &[&args, more].concat())
    };
    for (model, option) in [
        ("U.Make", "`--allow-write DIR`"),
        ("U.Print", "`--allow-write DIR`"),
        ("U.Move", "`--allow-write DIR`"),
        ("U.Command", "`--allow-system`"),
    ] {
        let ran = run(model, &[]);
        assert_eq!(ran.exit, Some(3), "{model}: {}", ran.stderr);
        assert!(ran.stderr.contains(option), "{model}: {}", ran.stderr);
    }
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);

    for (model, made) in [("U.Make", "x"), ("U.Print", "y.txt")] {
        let ran = run(model, &["--allow-write", "../permitted"]);
        assert_eq!(ran.exit, Some(0), "{model}: {}", ran.stderr);
        assert!(other.join(made).exists(), "{model}");
    }
    let ran = run("U.Command", &["--allow-system"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("said"), "{}", ran.stderr);
    let table = Table::new(&fs::read_to_string(folder.join("r.csv")).unwrap());
    assert_eq!(table.column("code").last(), Some(&3.0));

    let ran = run("U.Exit", &[]);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    let said = "the model ended the run: it called `exit` with status 7";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = run("U.M", &["--allow-write", "nowhere"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
}
