//! `saltus lib`: stores, locks, archives, indexes, git; `saltus lsp` at the program's border.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Ran, saltus_with, scratch};

/// A new folder with a store of its own.
fn place(test: &str) -> PathBuf {
    let folder = scratch(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("project")).unwrap();
    folder.canonicalize().unwrap()
}

fn lib(folder: &Path, args: &[&str]) -> Ran {
    let store = folder.join("store").display().to_string();
    let all: Vec<&str> = ["lib"].iter().chain(args).copied().collect();
    saltus_with(&folder.join("project"), &all, &[("SALTUS_STORE", &store)])
}

/// A library with one model in a folder.
fn write_library(folder: &Path, version: &str, gain: &str) {
    fs::create_dir_all(folder).unwrap();
    let package = format!("package Gains annotation(version=\"{version}\"); end Gains;\n");
    fs::write(folder.join("package.mo"), package).unwrap();
    let model = format!(
        "within Gains;\nmodel M\n  Real x(start=1, fixed=true);\nequation\n  der(x) = -{gain}*x;\nend M;\n"
    );
    fs::write(folder.join("M.mo"), model).unwrap();
}

/// A ZIP archive of stored entries.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    let u16s = |values: &[u16]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let u32s = |values: &[u32]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    for (name, bytes) in entries {
        let (size, offset) = (bytes.len() as u32, out.len() as u32);
        let sizes = u32s(&[0, size, size]);
        out.extend(b"PK\x03\x04");
        out.extend(u16s(&[20, 0, 0, 0, 0]));
        out.extend(&sizes);
        out.extend(u16s(&[name.len() as u16, 0]));
        out.extend(name.as_bytes());
        out.extend(*bytes);
        central.extend(b"PK\x01\x02");
        central.extend(u16s(&[20, 20, 0, 0, 0, 0]));
        central.extend(&sizes);
        central.extend(u16s(&[name.len() as u16, 0, 0, 0, 0]));
        central.extend(u32s(&[0, offset]));
        central.extend(name.as_bytes());
    }
    let (at, size, n) = (out.len() as u32, central.len() as u32, entries.len() as u16);
    out.extend(central);
    out.extend(b"PK\x05\x06");
    out.extend(u16s(&[0, 0, n, n]));
    out.extend(u32s(&[size, at]));
    out.extend(u16s(&[0]));
    out
}

fn archive(folder: &Path, inner: &str) -> Vec<u8> {
    let files: Vec<(String, Vec<u8>)> = ["package.mo", "M.mo"]
        .iter()
        .map(|file| {
            (
                format!("{inner}/{file}"),
                fs::read(folder.join(file)).unwrap(),
            )
        })
        .collect();
    let entries: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
        .collect();
    zip(&entries)
}

fn simulate(folder: &Path, variables: &[(&str, &str)]) -> String {
    let ran = saltus_with(
        folder,
        &["simulate", "Gains.M", "--output", "-", "--quiet"],
        variables,
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    ran.stdout
}

#[test]
fn a_folder_is_installed_locked_and_found() {
    let folder = place("lib-folder");
    write_library(&folder.join("Gains"), "1.0.0", "2");
    let added = lib(
        &folder,
        &["add", &folder.join("Gains").display().to_string()],
    );
    assert_eq!(added.exit, Some(0), "{}", added.stderr);
    let project = folder.join("project");
    assert_eq!(
        fs::read_to_string(project.join("saltus.toml")).unwrap(),
        "[libraries]\nGains = \"1.0.0\"\n"
    );
    let lock = fs::read_to_string(project.join("saltus.lock")).unwrap();
    assert!(
        lock.contains("name = \"Gains\"") && lock.contains("sha256 = \""),
        "{lock}"
    );
    let store = folder.join("store").display().to_string();
    simulate(&project, &[("SALTUS_STORE", &store)]);
    assert!(
        lib(&folder, &["list"])
            .stdout
            .contains("Gains 1.0.0  project")
    );
    assert_eq!(lib(&folder, &["tree"]).stdout, "Gains 1.0.0\n");
    assert_eq!(lib(&folder, &["remove", "Gains", "--purge"]).exit, Some(0));
    assert!(!folder.join("store/Gains 1.0.0").exists());
    assert_eq!(lib(&folder, &["remove", "Gains"]).exit, Some(2));
}

#[test]
fn a_vendored_project_gives_the_same_results_elsewhere() {
    let folder = place("lib-vendor");
    write_library(&folder.join("source"), "1.0.0", "2");
    fs::write(
        folder.join("g.zip"),
        archive(&folder.join("source"), "Gains-1.0.0"),
    )
    .unwrap();
    assert_eq!(lib(&folder, &["add", "../g.zip"]).exit, Some(0));
    assert_eq!(lib(&folder, &["vendor"]).exit, Some(0));
    let store = folder.join("store").display().to_string();
    let here = simulate(&folder.join("project"), &[("SALTUS_STORE", &store)]);
    fs::rename(folder.join("project"), folder.join("elsewhere")).unwrap();
    let nothing = folder.join("empty").display().to_string();
    assert_eq!(
        simulate(&folder.join("elsewhere"), &[("SALTUS_STORE", &nothing)]),
        here
    );
}

#[test]
fn names_come_from_an_index_and_wrong_archives_are_refused() {
    let folder = place("lib-index");
    fs::create_dir_all(folder.join("index")).unwrap();
    let mut index = String::new();
    for (version, gain) in [("1.9.0", "2"), ("1.10.0", "3")] {
        write_library(&folder.join(version), version, gain);
        let bytes = archive(&folder.join(version), "Gains");
        let file = format!("gains-{version}.zip");
        fs::write(folder.join("index").join(&file), &bytes).unwrap();
        index.push_str(&format!(
            "[[library]]\nname = \"Gains\"\nversion = \"{version}\"\nsource = \"{file}\"\n"
        ));
    }
    fs::write(folder.join("index/index.toml"), &index).unwrap();
    assert_eq!(lib(&folder, &["add", "Gains@1.9.0"]).exit, Some(2));
    assert_eq!(
        lib(&folder, &["add", "Gains@1.9.0", "--index", "../index"]).exit,
        Some(0)
    );
    assert_eq!(
        lib(&folder, &["add", "Gains@7", "--index", "../index"]).exit,
        Some(2)
    );
    assert_eq!(
        lib(&folder, &["update", "--index", "../index"]).exit,
        Some(0)
    );
    assert_eq!(lib(&folder, &["tree"]).stdout, "Gains 1.10.0\n");

    // Another archive of the same name and version than the lock knows.
    fs::remove_dir_all(folder.join("store")).unwrap();
    write_library(&folder.join("1.10.0"), "1.10.0", "4");
    fs::write(
        folder.join("index/gains-1.10.0.zip"),
        archive(&folder.join("1.10.0"), "Gains"),
    )
    .unwrap();
    let tampered = lib(&folder, &["add"]);
    assert_eq!(tampered.exit, Some(2));
    assert!(
        tampered.stderr.contains("is not what the lock says"),
        "{}",
        tampered.stderr
    );
    assert!(!folder.join("store/Gains 1.10.0").exists());

    let wrong = format!(
        "{index}[[library]]\nname = \"Gains\"\nversion = \"2.0.0\"\nsource = \"gains-1.9.0.zip\"\nsha256 = \"00\"\n"
    );
    fs::write(folder.join("index/index.toml"), wrong).unwrap();
    let refused = lib(
        &folder,
        &["add", "Gains@2.0.0", "--index", "../index/index.toml"],
    );
    assert!(
        refused.stderr.contains("its checksum is wrong"),
        "{}",
        refused.stderr
    );
}

#[test]
fn archives_that_lead_out_are_refused() {
    let folder = place("lib-hostile");
    for (name, entry) in [
        ("up.zip", "Gains/../../../evil.mo"),
        ("root.zip", "/tmp/evil.mo"),
    ] {
        let bytes = zip(&[
            (
                "Gains/package.mo",
                b"package Gains annotation(version=\"1\"); end Gains;",
            ),
            (entry, b"model evil end evil;"),
        ]);
        fs::write(folder.join(name), bytes).unwrap();
        let refused = lib(&folder, &["add", &format!("../{name}")]);
        assert_eq!(refused.exit, Some(2));
        assert!(
            refused.stderr.contains("the archive is refused"),
            "{}",
            refused.stderr
        );
    }
    fs::write(folder.join("no.zip"), b"PK\x05\x06 not an archive").unwrap();
    assert_eq!(lib(&folder, &["add", "../no.zip"]).exit, Some(2));
    assert!(!folder.join("evil.mo").exists() && !folder.join("store/evil.mo").exists());
    assert!(!folder.join("project/saltus.lock").exists());
}

#[test]
fn a_lock_of_somebody_else_leads_nowhere() {
    let folder = place("lib-lock");
    write_library(&folder.join("up"), "1", "2");
    let lock = "[[library]]\nname = \"../up\"\nversion = \"../../up\"\nsource = \"/none.zip\"\nsha256 = \"00\"\n";
    fs::write(folder.join("project/saltus.lock"), lock).unwrap();
    for verb in ["add", "vendor"] {
        let refused = lib(&folder, &[verb]);
        assert_eq!(refused.exit, Some(2), "{}", refused.stderr);
    }
    assert!(!folder.join("project/libraries").exists());
}

#[test]
fn a_git_repository_is_a_source() {
    let folder = place("lib-git");
    let repository = folder.join("gains.git");
    write_library(&repository, "1.0.0", "2");
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
        Command::new("git")
            .args(identity)
            .args(args)
            .current_dir(&repository)
            .output()
            .is_ok_and(|ran| ran.status.success())
    };
    if !(git(&["init", "--quiet"]) && git(&["add", "."]) && git(&["commit", "--quiet", "-m", "a"]))
    {
        eprintln!("skipped: there is no program git");
        return;
    }
    let address = format!("file://{}", repository.display());
    let added = lib(&folder, &["add", &address]);
    assert_eq!(added.exit, Some(0), "{}", added.stderr);
    let lock = fs::read_to_string(folder.join("project/saltus.lock")).unwrap();
    assert!(lock.contains("gains.git#"), "{lock}");
    assert!(!folder.join("store/Gains 1.0.0/.git").exists());
}

/// One message with its header.
fn send(to: &mut impl Write, body: &str) {
    write!(to, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    to.flush().unwrap();
}

fn receive(from: &mut impl BufRead) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

#[test]
fn the_language_server_speaks_on_standard_input_and_output() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["lsp", "--stdio"])
        .env_remove("MODELICAPATH")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    send(
        &mut to,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
    );
    assert!(receive(&mut from).contains("\"completionProvider\""));
    send(
        &mut to,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
    );
    let open = r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///x/M.mo","languageId":"modelica","version":1,"text":"model M Real x = ; end M;"}}}"#;
    send(&mut to, open);
    assert!(receive(&mut from).contains("syntax-error"));
    send(&mut to, r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#);
    while !receive(&mut from).contains("\"id\":2") {}
    send(&mut to, r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert!(child.wait().unwrap().success());
}
