//! `saltus convert`: files of a user rewritten for another version of a library.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{saltus_in, scratch};

const USER: &str = "\u{feff}package User \"text\"\r\n  model M // a comment\r\n    Base.Old.Part part(knob = 2);\r\n    Base.Gone gone;\r\n  end M;\r\n  annotation(uses(Base(version = \"1.0\")));\r\nend User;\r\n";
const CONVERTED: &str = "\u{feff}package User \"text\"\r\n  model M // a comment\r\n    Base.New.Part part(dial = 2);\r\n    Base.Gone gone;\r\n  end M;\r\n  annotation(uses(Base(version = \"2.0\")));\r\nend User;\r\n";

/// A folder with a library of the user and version 2.0 of the one that it uses.
fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    let base = folder.join("lib/Base 2.0");
    fs::create_dir_all(base.join("Resources")).unwrap();
    fs::write(
        base.join("package.mo"),
        "package Base annotation(version = \"2.0\", conversion(from(version = \"1.0\", script = \"modelica://Base/Resources/1to2.mos\"))); end Base;",
    )
    .unwrap();
    fs::write(
        base.join("Resources/1to2.mos"),
        "convertClass(\"Base.Old\", \"Base.New\");\nconvertElement(\"Base.Old.Part\", \"knob\", \"dial\");\nconvertMessage(\"Base.Gone\", \"there is no other\");\n",
    )
    .unwrap();
    fs::create_dir_all(folder.join("User")).unwrap();
    fs::write(folder.join("User/package.mo"), USER).unwrap();
    folder
}

fn text(path: &Path) -> String {
    String::from_utf8(fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_library_is_rewritten_in_place() {
    let folder = folder("convert-in-place");
    let convert = [
        "convert",
        "User",
        "--library",
        "lib",
        "--of",
        "Base",
        "--to",
        "2.0",
    ];
    let dry = saltus_in(&folder, &[&convert[..], &["--dry-run"]].concat());
    assert_eq!(dry.exit, Some(0), "{}", dry.stderr);
    assert!(
        dry.stdout.contains("3 places in 1 of 1 files would change"),
        "{}",
        dry.stdout
    );
    assert_eq!(text(&folder.join("User/package.mo")), USER);

    let ran = saltus_in(&folder, &convert);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(text(&folder.join("User/package.mo")), CONVERTED);
    assert!(
        ran.stdout
            .contains("package.mo:4:5: `Base.Gone`: there is no other"),
        "{}",
        ran.stdout
    );

    // What is converted already stays.
    let again = saltus_in(&folder, &convert);
    assert_eq!(again.exit, Some(0), "{}", again.stderr);
    assert_eq!(text(&folder.join("User/package.mo")), CONVERTED);
}

#[test]
fn another_folder_leaves_the_old_files_as_they_are() {
    let folder = folder("convert-output");
    let ran = saltus_in(
        &folder,
        &[
            "convert",
            "User",
            "--library",
            "lib",
            "--of",
            "Base",
            "--to",
            "2.0",
            "--output",
            "new",
        ],
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(text(&folder.join("User/package.mo")), USER);
    assert_eq!(text(&folder.join("new/User/package.mo")), CONVERTED);
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = folder("convert-errors");
    let run = |more: &[&str]| {
        let ran = saltus_in(
            &folder,
            &[&["convert", "User", "--library", "lib"][..], more].concat(),
        );
        (ran.exit, ran.stderr)
    };
    let (exit, why) = run(&["--of", "Base", "--to", "3.0"]);
    assert_eq!(exit, Some(2), "{why}");
    assert!(why.contains("Base 3.0 was not found (only 2.0)"), "{why}");
    let (exit, why) = run(&["--of", "Base", "--to", "2.0", "--from", "0.5"]);
    assert_eq!(exit, Some(2), "{why}");
    assert!(
        why.contains("does not say how texts for 0.5 are converted; it says how for 1.0"),
        "{why}"
    );
    let (exit, why) = run(&["--to", "4.1.0"]);
    assert_eq!(exit, Some(2), "{why}");
    assert!(why.contains("Modelica 4.1.0 was not found"), "{why}");
    fs::write(
        folder.join("User/Wrong.mo"),
        "within User; model Wrong Real x end Wrong;",
    )
    .unwrap();
    let (exit, why) = run(&["--of", "Base", "--to", "2.0"]);
    assert_eq!(exit, Some(1), "{why}");
    assert!(
        why.contains("syntax-error") && why.contains("Wrong.mo"),
        "{why}"
    );
    assert_eq!(
        text(&folder.join("User/package.mo")),
        USER,
        "nothing was written"
    );
}
