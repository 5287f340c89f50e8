//! Models and other accounts that mean harm: what they try, and that it fails.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Ran, saltus_in, saltus_with, scratch};

fn has_compiler() -> bool {
    Command::new("cc").arg("--version").output().is_ok()
}

/// A C function that writes a file if it can, and says whether it could.
fn writer(target: &str) -> String {
    format!(
        r##"
package Ext
  function put
    input String path;
    output Real y;
    external "C" y = put(path) annotation(Include = "
#include <stdio.h>
static double put(const char *path) {{
  FILE *f = fopen(path, \"w\");
  if (!f) return 0;
  fputs(\"written by C\", f);
  fclose(f);
  return 1;
}}");
  end put;
  model M
    parameter Real k = 1;
    parameter Real written(fixed = false);
    Real x(start = k, fixed = true);
  initial equation
    written = put("{target}");
  equation
    der(x) = -x;
    annotation(experiment(StopTime = 1));
  end M;
end Ext;
"##
    )
}

/// A folder that was not there before.
fn fresh(name: &str) -> std::path::PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn check_refused(ran: &Ran) {
    assert_ne!(ran.exit, Some(0));
    for part in [
        "foreign-code-not-allowed",
        "`Ext.put`",
        "Ext.mo:3",
        "`--allow-foreign`",
        "saltus.toml",
    ] {
        let said = format!("{}{}", ran.stderr, ran.stdout);
        assert!(said.contains(part), "{part} in\n{said}");
    }
}

#[test]
fn c_code_runs_only_with_consent() {
    let folder = fresh("hostile_consent");
    fs::write(folder.join("Ext.mo"), writer("mark.txt")).unwrap();
    let mark = folder.join("mark.txt");
    let target = ["Ext.mo", "--model", "Ext.M"];
    let commands: [&[&str]; 3] = [
        &["simulate", "--output", "r.csv"],
        &["sweep", "--set", "k=1,2", "--output", "s.csv"],
        &["show", "--stage", "mode"],
    ];
    for command in commands {
        let ran = saltus_in(&folder, &[command, &target].concat());
        if command[0] == "sweep" {
            // Each run has its own status.
            let table = fs::read_to_string(folder.join("s.csv")).unwrap();
            assert!(table.contains("foreign-code-not-allowed"), "{table}");
            assert_eq!(ran.exit, Some(3));
        } else {
            check_refused(&ran);
        }
        assert!(!mark.exists(), "{command:?}");
    }
    let ran = saltus_in(&folder, &["test", "Ext.mo", "--report", "r.json"]);
    assert_eq!(ran.exit, Some(1));
    assert!(!mark.exists());
    let report = fs::read_to_string(folder.join("r.json")).unwrap();
    assert!(report.contains("foreign-code-not-allowed"), "{report}");
    // Whether a model is right needs no consent and has no effects.
    let ran = saltus_in(&folder, &["check", "Ext.mo", "--model", "Ext.M"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(!mark.exists());

    if !has_compiler() {
        return;
    }
    for command in commands {
        let _ = fs::remove_file(&mark);
        let args = [command, &target, &["--allow-foreign"]].concat();
        let ran = saltus_in(&folder, &args);
        assert_eq!(ran.exit, Some(0), "{command:?}: {}", ran.stderr);
        assert!(mark.exists(), "{command:?}");
    }
    let ran = saltus_in(&folder, &["test", "Ext.mo", "--allow-foreign"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
}

#[test]
fn values_at_compile_time_have_no_effects() {
    let folder = fresh("hostile_compile");
    fs::write(folder.join("sizes.txt"), "#1\ndouble m(2,2)\n1 2\n3 4\n").unwrap();
    let text = r#"
package Ext
  function sizes
    input String file;
    output Integer n[2];
    external "C" ModelicaIO_readMatrixSizes(file, "m", n);
  end sizes;
  function print
    input String text;
    input String file;
    external "C" ModelicaInternal_print(text, file);
  end print;
  function both
    input String file;
    output Integer n;
  protected
    Integer found[2];
  algorithm
    print("written", "mark.txt");
    found := sizes(file);
    n := found[1];
  end both;
  model M
    parameter Integer n = both("sizes.txt") + sum(sizes("sizes.txt"));
    Real x[n] = fill(time, n);
  end M;
end Ext;
"#;
    fs::write(folder.join("Ext.mo"), text).unwrap();
    let ran = saltus_in(&folder, &["check", "Ext.mo", "--model", "Ext.M"]);
    assert!(!folder.join("mark.txt").exists(), "{}", ran.stderr);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
}

#[test]
fn saltus_toml_permits_a_library_but_never_itself() {
    if !has_compiler() {
        return;
    }
    let folder = fresh("hostile_toml");
    let (own, library, work) = (
        folder.join("settings/saltus"),
        folder.join("lib"),
        folder.join("work"),
    );
    for dir in [&own, &library, &work] {
        fs::create_dir_all(dir).unwrap();
    }
    fs::write(library.join("Ext.mo"), writer("mark.txt")).unwrap();
    let settings = folder.join("settings");
    let run = |file: &str| {
        saltus_with(
            &work,
            &["simulate", file, "--model", "Ext.M", "--output", "r.csv"],
            &[("XDG_CONFIG_HOME", settings.to_str().unwrap())],
        )
    };
    check_refused(&run("../lib/Ext.mo"));
    // The user's own file.
    let permits = |dir: &Path| format!("[foreign]\nallow = [\"{}\"]\n", dir.display());
    fs::write(own.join("saltus.toml"), permits(&library)).unwrap();
    let ran = run("../lib/Ext.mo");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(work.join("mark.txt").exists());
    fs::remove_file(own.join("saltus.toml")).unwrap();
    // That of the working folder, for another one.
    fs::write(work.join("saltus.toml"), permits(Path::new("../lib"))).unwrap();
    let ran = run("../lib/Ext.mo");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    // And for itself, in several spellings.
    fs::write(work.join("Ext.mo"), writer("mark.txt")).unwrap();
    check_refused(&run("Ext.mo"));
    for itself in [Path::new("."), Path::new(".."), Path::new("/"), &work] {
        fs::write(work.join("saltus.toml"), permits(itself)).unwrap();
        let ran = run("Ext.mo");
        assert_eq!(ran.exit, Some(2), "{}: {}", itself.display(), ran.stderr);
        assert!(ran.stderr.contains("cannot permit foreign code of its own"));
    }
    // Text that is not TOML is an error, not a permission.
    fs::write(work.join("saltus.toml"), "[foreign\n").unwrap();
    assert_eq!(run("Ext.mo").exit, Some(2));
}

#[test]
fn only_functions_of_the_named_libraries_can_be_called() {
    if !has_compiler() {
        return;
    }
    let folder = fresh("hostile_symbols");
    let run = |function: &str, annotation: &str| {
        let text = format!(
            "model M
  function f
    input Real x;
    output Integer y;
    external \"C\" y = {function}() {annotation};
  end f;
  parameter Integer y(fixed = false);
initial equation
  y = f(1);
end M;"
        );
        fs::write(folder.join("M.mo"), text).unwrap();
        saltus_in(
            &folder,
            &["simulate", "M.mo", "--allow-foreign", "--output", "r.csv"],
        )
    };
    let ran = run("getppid", "annotation(Library = \"c\")");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for (function, annotation) in [
        ("getppid", ""),
        // The mathematical library needs the C library, which the model does not name.
        ("getppid", "annotation(Library = \"m\")"),
        ("saltus_guard", ""),
    ] {
        let ran = run(function, annotation);
        assert_ne!(ran.exit, Some(0), "{function} {annotation}");
        let said = "error[external-function-missing]";
        assert!(ran.stderr.contains(said), "{annotation}: {}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn permitted_c_code_writes_in_the_working_folder_only() {
    if !has_compiler() {
        return;
    }
    let folder = fresh("hostile_landlock");
    let (work, outside) = (folder.join("work"), folder.join("outside"));
    fs::create_dir_all(&work).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let target = outside.join("mark.txt");
    let run = |target: &Path, more: &[&str]| {
        fs::write(work.join("Ext.mo"), writer(target.to_str().unwrap())).unwrap();
        let args = [
            "simulate",
            "Ext.mo",
            "--model",
            "Ext.M",
            "--allow-foreign",
            "--output",
            "r.csv",
        ];
        let ran = saltus_in(&work, &[&args, more].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        let table = fs::read_to_string(work.join("r.csv")).unwrap();
        let names: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let column = names.iter().position(|n| *n == "\"written\"").unwrap();
        let value = table.lines().nth(1).unwrap().split(',').nth(column);
        (value == Some("1"), ran.stderr)
    };
    let (inside, _) = run(Path::new("mark.txt"), &[]);
    assert!(inside && work.join("mark.txt").exists());
    let (written, said) = run(&target, &[]);
    if said.contains("cannot confine") {
        eprintln!("skipped: this system has no Landlock");
        return;
    }
    assert!(!written && !target.exists());
    // An earlier file is neither emptied nor changed.
    fs::write(&target, "kept").unwrap();
    let (written, _) = run(&target, &[]);
    assert!(!written);
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    let (written, _) = run(&target, &["--allow-write", outside.to_str().unwrap()]);
    assert!(written);
    assert_eq!(fs::read_to_string(&target).unwrap(), "written by C");
    // Nothing is left in the folder for temporary files.
    let temporary = fresh("hostile_landlock_tmp");
    let ran = saltus_with(
        &work,
        &["simulate", "Ext.mo", "--model", "Ext.M", "--allow-foreign"],
        &[("TMPDIR", temporary.to_str().unwrap())],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

/// The program in a folder for temporary files in which another account has made folders first, and replaces what is compiled there.
#[cfg(unix)]
#[test]
fn another_account_cannot_prepare_the_folder_for_compiled_code() {
    use std::os::unix::fs::PermissionsExt;
    if !has_compiler() {
        return;
    }
    let folder = fresh("hostile_account");
    let temporary = std::env::temp_dir().join(format!("hostile-account-{}", std::process::id()));
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).unwrap();
    let open_for_all = fs::Permissions::from_mode(0o1777);
    fs::set_permissions(&temporary, open_for_all).unwrap();
    fs::write(folder.join("Ext.mo"), writer("mark.txt")).unwrap();
    // The other account, or this one if there is no way to become another: a folder of the predictable name is then found to be used.
    let as_other = |script: &str| {
        let mut command = Command::new("su");
        command.args(["nobody", "-s", "/bin/sh", "-c", script]);
        command.stdin(Stdio::null());
        command
    };
    let can_be_another = as_other("true").status().is_ok_and(|s| s.success());
    if !can_be_another {
        eprintln!("skipped: this account cannot become another (needs root and `su`)");
        fs::remove_dir_all(&temporary).unwrap();
        return;
    }
    // What is loaded instead of the compiled code.
    let evil = "#include <stdio.h>\n__attribute__((constructor)) static void in(void) { fprintf(stderr, \"LET IN\\n\"); }\n";
    fs::write(temporary.join("evil.c"), evil).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "evil.so", "evil.c"])
        .current_dir(&temporary)
        .status();
    assert!(built.unwrap().success());
    let evil_is_readable = fs::Permissions::from_mode(0o644);
    fs::set_permissions(temporary.join("evil.so"), evil_is_readable).unwrap();
    // A compiler that takes its time.
    let slow = folder.join("slow-cc");
    fs::write(&slow, "#!/bin/sh\ncc \"$@\" && sleep 0.3\n").unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let place = temporary.display();
    // The shell's number becomes that of the program.
    let script = format!(
        "su nobody -s /bin/sh -c \"mkdir -m 777 {place}/saltus-c-$$-0 {place}/saltus-c-$$-1\" || exit 99\n\
         (su nobody -s /bin/sh -c 'for i in $(seq 1 300); do for d in {place}/saltus-*; do \
            test -e $d/unit.so && cp {place}/evil.so $d/evil && mv -f $d/evil $d/unit.so; done; sleep 0.02; done' 2>/dev/null >/dev/null) & \n\
         exec '{}' simulate Ext.mo --model Ext.M --allow-foreign --output r.csv",
        env!("CARGO_BIN_EXE_saltus")
    );
    let ended = Command::new("sh")
        .args(["-c", &script])
        .current_dir(&folder)
        .env("TMPDIR", &temporary)
        .env("CC", &slow)
        .env_remove("MODELICAPATH")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    fs::remove_dir_all(&temporary).unwrap();
    assert!(!said.contains("LET IN"), "{said}");
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(folder.join("mark.txt").exists());
}

/// A model that calls one of the functions for files when it starts.
fn files_model(call: &str) -> String {
    format!(
        r#"
package Ext
  function print
    input String text;
    input String file;
    external "C" ModelicaInternal_print(text, file);
  end print;
  function remove
    input String file;
    external "C" ModelicaInternal_removeFile(file);
  end remove;
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
  function mkdir
    input String name;
    external "C" ModelicaInternal_mkdir(name);
  end mkdir;
  function rmdir
    input String name;
    external "C" ModelicaInternal_rmdir(name);
  end rmdir;
  function lines
    input String file;
    output Integer n;
    external "C" n = ModelicaInternal_countLines(file);
  end lines;
  model M
    Integer n(start = 0, fixed = true);
    Real x = time;
  algorithm
    when initial() then
      n := pre(n);
      {call};
    end when;
  end M;
end Ext;
"#
    )
}

#[cfg(unix)]
#[test]
fn models_cannot_reach_around_their_folder() {
    use std::os::unix::fs::symlink;
    let outer = fresh("hostile_files");
    let work = outer.join("work");
    for dir in ["work/.git/hooks", "work/sub", "library"] {
        fs::create_dir_all(outer.join(dir)).unwrap();
    }
    fs::write(outer.join("secret.txt"), "secret\n").unwrap();
    fs::write(work.join(".git/config"), "[core]\n").unwrap();
    fs::write(work.join("plain.txt"), "plain\n").unwrap();
    symlink("../planted.txt", work.join("dangling")).unwrap();
    symlink("../secret.txt", work.join("out")).unwrap();
    symlink("../../planted.txt", work.join("sub/dangling")).unwrap();
    let run = |call: &str| {
        fs::write(work.join("Ext.mo"), files_model(call)).unwrap();
        let _ = fs::remove_file(work.join("other.mo"));
        fs::hard_link(work.join("Ext.mo"), work.join("other.mo")).unwrap();
        let before = fs::read(work.join("Ext.mo")).unwrap();
        let args = [
            "simulate",
            "Ext.mo",
            "--model",
            "Ext.M",
            "--library",
            "../library",
            "--output",
            "r.csv",
        ];
        let ran = saltus_in(&work, &args);
        assert_eq!(fs::read(work.join("Ext.mo")).ok(), Some(before), "{call}");
        ran
    };
    let refused = [
        // Through links that lead to nothing, or outside.
        r#"print("x", "dangling")"#,
        r#"print("x", "sub/dangling")"#,
        r#"print("x", "out")"#,
        r#"copy("plain.txt", "dangling")"#,
        // Into version control, and what gives permissions.
        r#"print("x", ".git/hooks/post-checkout")"#,
        r#"print("x", "sub/../.git/config")"#,
        r#"print("x", ".GIT/config")"#,
        r#"remove(".git/config")"#,
        r#"rename("plain.txt", ".git/hooks/pre-commit")"#,
        r#"rename(".git", "git")"#,
        r#"mkdir("sub/.git")"#,
        r#"print("x", "saltus.toml")"#,
        // The model's own source, by all its names.
        r#"remove("Ext.mo")"#,
        r#"print("x", "Ext.mo")"#,
        r#"print("x", "./sub/../Ext.mo")"#,
        r#"print("x", "other.mo")"#,
        r#"rename("Ext.mo", "sub/Ext.mo")"#,
        r#"rename("plain.txt", "Ext.mo")"#,
        // Out of a library by its name.
        r#"n := lines("modelica://../secret.txt")"#,
        r#"n := lines("modelica://Ext/../../secret.txt")"#,
        r#"n := lines("modelica:///etc/passwd")"#,
        r#"n := lines("modelica://Ext//etc/passwd")"#,
    ];
    for call in refused {
        let ran = run(call);
        assert_eq!(ran.exit, Some(3), "{call}: {}", ran.stderr);
        let said = "error[external-function-failed]";
        assert!(ran.stderr.contains(said), "{call}: {}", ran.stderr);
        assert!(!outer.join("planted.txt").exists(), "{call}");
        let secret = fs::read_to_string(outer.join("secret.txt")).unwrap();
        assert_eq!(secret, "secret\n", "{call}");
        assert!(work.join("plain.txt").exists(), "{call}");
    }
    assert_eq!(
        fs::read_to_string(work.join(".git/config")).unwrap(),
        "[core]\n"
    );
    assert_eq!(fs::read_dir(work.join(".git/hooks")).unwrap().count(), 0);
    // What stays possible: a link is removed, not what it leads to.
    for call in [
        r#"remove("out")"#,
        r#"remove("dangling")"#,
        r#"print("x", "sub/new.txt")"#,
        r#"rename("sub/new.txt", "sub/newer.txt")"#,
        r#"n := lines("modelica://Ext/plain.txt")"#,
    ] {
        let ran = run(call);
        assert_eq!(ran.exit, Some(0), "{call}: {}", ran.stderr);
    }
    assert!(outer.join("secret.txt").exists() && !work.join("out").is_symlink());
    assert!(work.join("sub/newer.txt").exists());
}

/// Characters that a terminal obeys, or that XML does not allow, in the texts of a model.
#[test]
fn control_characters_of_a_model_do_nothing() {
    let folder = fresh("hostile_controls");
    let evil = "red \u{1b}[31m bell \u{7} back \u{8} title \u{1b}]0;owned\u{7} csi \u{9b}2J del \u{7f} turned \u{202e}";
    let text = format!(
        r#"model M "{evil}"
  parameter Real p(unit = "{evil}") = 1 "{evil}";
  Real x(start = 1, fixed = true, unit = "{evil}") "{evil}";
  function print
    input String text;
    input String file;
    external "C" ModelicaInternal_print(text, file);
  end print;
equation
  der(x) = -x;
  when time > 0.3 then
    print("{evil}", "");
  end when;
  assert(time < 0.5, "{evil} \a \b \v", AssertionLevel.warning);
  assert(time < 0.7, "{evil}");
  annotation(experiment(StopTime = 1));
end M;
"#
    );
    fs::write(folder.join("M.mo"), &text).unwrap();
    let harmless = |what: &str, text: &str| {
        let found = text.chars().find(|c| {
            c.is_control() && !matches!(c, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(c)
        });
        assert_eq!(found, None, "{what}: {text:?}");
    };
    let commands: [&[&str]; 7] = [
        &["check", "M.mo"],
        &["simulate", "M.mo", "--output", "r.csv", "--plot", "x=p.svg"],
        &["show", "M.mo", "--stage", "ast"],
        &["show", "M.mo", "--stage", "flat"],
        &["show", "M.mo", "--stage", "structure", "--format", "json"],
        &["show", "M.mo", "--stage", "structure", "--format", "svg"],
        &[
            "test", "M.mo", "--report", "r.xml", "--report", "r.html", "--report", "r.md",
        ],
    ];
    let mut seen = String::new();
    for command in commands {
        let ran = saltus_in(&folder, command);
        assert!(
            matches!(ran.exit, Some(0 | 1 | 3)),
            "{command:?}: {}",
            ran.stderr
        );
        harmless(&format!("{command:?}"), &ran.stdout);
        harmless(&format!("{command:?}"), &ran.stderr);
        seen += &ran.stderr;
    }
    // They can be seen instead.
    assert!(seen.contains("red \\u001b[31m bell \\u0007"), "{seen}");
    let ran = saltus_in(
        &folder,
        &["plot", "r.csv", "x", "--output", "q.svg", "--title", evil],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for name in ["p.svg", "q.svg", "r.xml", "r.html", "r.md"] {
        harmless(name, &fs::read_to_string(folder.join(name)).unwrap());
    }
    // Names are printed everywhere: none has such characters.
    fs::write(
        folder.join("N.mo"),
        "model N\n  Real 'a\u{1b}[31mb' = 1;\nend N;\n",
    )
    .unwrap();
    let ran = saltus_in(&folder, &["check", "N.mo"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stderr.contains("unknown-character"), "{}", ran.stderr);
    harmless("N", &ran.stderr);
}

#[test]
fn outputs_are_files_of_their_own() {
    let folder = fresh("hostile_outputs");
    let text = "model M\n  Real x = time;\n  annotation(experiment(StopTime = 1));\nend M;\n";
    fs::write(folder.join("M.mo"), text).unwrap();
    fs::create_dir_all(folder.join("Lib")).unwrap();
    fs::write(folder.join("Lib/package.mo"), "package Lib end Lib;\n").unwrap();
    let part =
        "within Lib;\nmodel Part Real x = time; annotation(experiment(StopTime = 1)); end Part;\n";
    fs::write(folder.join("Lib/Part.mo"), part).unwrap();
    fs::write(folder.join("earlier.csv"), "\"time\",\"x\"\n0,0\n1,1\n").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("M.mo", folder.join("link.csv")).unwrap();
        std::os::unix::fs::symlink("earlier.csv", folder.join("drawn.svg")).unwrap();
        fs::hard_link(folder.join("M.mo"), folder.join("hard.json")).unwrap();
    }
    let before: Vec<_> = names(&folder);
    let mut refused: Vec<(&[&str], &str)> = vec![
        (
            &["simulate", "M.mo", "--output", "r.csv", "--events", "r.csv"],
            "same file",
        ),
        (
            &[
                "simulate", "M.mo", "--output", "r.csv", "--stats", "./r.csv",
            ],
            "same file",
        ),
        (
            &[
                "simulate",
                "M.mo",
                "--output",
                "r.csv",
                "--steps",
                "Lib/../r.csv",
            ],
            "same file",
        ),
        (
            &["simulate", "M.mo", "--events", "e", "--stats", "e"],
            "same file",
        ),
        (
            &["simulate", "M.mo", "--plot", "x=p.svg", "--plot", "x=p.svg"],
            "same file",
        ),
        (&["simulate", "M.mo", "--stats", "M_res.mat"], "same file"),
        (
            &["simulate", "M.mo", "--stats", "M_res.mat.previous"],
            "same file",
        ),
        (
            &["simulate", "M.mo", "--events", "M.mo"],
            "would replace a file that is read",
        ),
        (
            &["simulate", "M.mo", "--stats", "Lib/../M.mo"],
            "would replace a file that is read",
        ),
        (
            &[
                "simulate",
                "Lib.Part",
                "--library",
                ".",
                "--stats",
                "Lib/Part.mo",
            ],
            "would replace a file that is read",
        ),
        (
            &[
                "simulate",
                "Lib.Part",
                "--library",
                ".",
                "--stats",
                "Lib/package.mo",
            ],
            "would replace a file that is read",
        ),
        (
            &["test", "M.mo", "--report", "r.json", "--report", "./r.json"],
            "same file",
        ),
        (&["test", "Lib", "--keep", "Lib"], "among sources"),
        (&["test", "Lib", "--keep", "Lib/results"], "among sources"),
        (&["study", "list", "--output", "Lib"], ""),
    ];
    refused.pop();
    #[cfg(unix)]
    refused.extend([
        (
            &["simulate", "M.mo", "--output", "link.csv"] as &[&str],
            "would replace a file that is read",
        ),
        (
            &["simulate", "M.mo", "--stats", "hard.json"],
            "would replace a file that is read",
        ),
        (
            &["sweep", "M.mo", "--set", "x=1", "--output", "link.csv"],
            "",
        ),
        (
            &["plot", "earlier.csv", "x", "--output", "drawn.svg"],
            "would replace a file that is read",
        ),
    ]);
    for (args, why) in refused {
        let ran = saltus_in(&folder, args);
        assert_eq!(ran.exit, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
        assert_eq!(names(&folder), before, "{args:?}");
        assert_eq!(
            fs::read_to_string(folder.join("M.mo")).unwrap(),
            text,
            "{args:?}"
        );
        assert_eq!(
            fs::read_to_string(folder.join("Lib/Part.mo")).unwrap(),
            part
        );
    }
    // Devices may be named twice.
    #[cfg(unix)]
    {
        let args = [
            "simulate",
            "M.mo",
            "--output",
            "r.csv",
            "--events",
            "/dev/null",
            "--stats",
            "/dev/null",
        ];
        assert_eq!(saltus_in(&folder, &args).exit, Some(0));
    }
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

#[cfg(unix)]
#[test]
fn pipes_and_broken_links_in_a_library_stop_nobody() {
    use std::os::unix::fs::symlink;
    let folder = fresh("hostile_pipes");
    let library = folder.join("Lib");
    fs::create_dir_all(library.join("Sub")).unwrap();
    fs::write(library.join("package.mo"), "package Lib end Lib;\n").unwrap();
    let good =
        "within Lib;\nmodel Good Real x = time; annotation(experiment(StopTime = 1)); end Good;\n";
    fs::write(library.join("Good.mo"), good).unwrap();
    fs::write(
        library.join("Sub/package.mo"),
        "within Lib;\npackage Sub end Sub;\n",
    )
    .unwrap();
    let pipe = |path: &Path| {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.is_ok_and(|status| status.success()));
    };
    pipe(&library.join("Pipe.mo"));
    pipe(&library.join("Sub/other"));
    symlink("nowhere.mo", library.join("Broken.mo")).unwrap();
    symlink("nowhere", library.join("nothing")).unwrap();
    symlink("..", library.join("Sub/back")).unwrap();
    symlink(".", library.join("Self")).unwrap();
    let ran = saltus_in(&folder, &["test", "Lib", "--report", "r.json"]);
    assert_eq!(ran.exit, Some(1), "{}{}", ran.stdout, ran.stderr);
    let report = fs::read_to_string(folder.join("r.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let models = report["models"].as_array().unwrap();
    let found: Vec<(&str, bool)> = (models.iter())
        .map(|model| (model["name"].as_str().unwrap(), model["error"].is_null()))
        .collect();
    assert_eq!(
        found,
        [
            ("Lib.Good", true),
            ("Lib/Broken.mo", false),
            ("Lib/Pipe.mo", false)
        ]
    );
    let said = models[2]["error"]["message"].as_str().unwrap();
    assert!(said.contains("a pipe or a device"), "{said}");
    // The same for references, tables and models.
    fs::create_dir_all(folder.join("references")).unwrap();
    pipe(&folder.join("references/Lib.Good.csv"));
    let ran = saltus_in(
        &folder,
        &[
            "test",
            "Lib",
            "--filter",
            "Lib.Good",
            "--reference",
            "references",
        ],
    );
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    let ran = saltus_in(&folder, &["check", "Lib/Pipe.mo"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    let ran = saltus_in(&folder, &["check", "Lib.Good", "--library", "."]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
}

#[test]
fn check_and_show_have_limits() {
    let folder = fresh("hostile_limits");
    let text = "model Large\n  parameter Integer n = 9000000;\n  Real x[n](each start = 1, each fixed = true);\nequation\n  der(x) = -x;\nend Large;\n";
    fs::write(folder.join("Large.mo"), text).unwrap();
    let commands: [&[&str]; 2] = [
        &["check", "Large.mo"],
        &["show", "Large.mo", "--stage", "flat"],
    ];
    for command in commands {
        let ran = saltus_in(&folder, &[command, &["--max-wall", "0.2"]].concat());
        assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[wall-clock]"), "{}", ran.stderr);
        #[cfg(target_os = "linux")]
        {
            let ran = saltus_in(&folder, &[command, &["--max-memory", "1500"]].concat());
            assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
            assert!(
                ran.stderr.contains("error[out-of-memory]"),
                "{}",
                ran.stderr
            );
        }
    }
}
