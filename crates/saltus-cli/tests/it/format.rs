//! `saltus format`: files, folders, standard input, ranges, what is refused.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::{saltus_in, scratch};

const UNTIDY: &str =
    "model M Real x(start=1,fixed = true);equation\n der(x)=- x; // decay\nend M;\n";
const TIDY: &str =
    "model M\n  Real x(start=1, fixed=true);\nequation\n  der(x) = -x; // decay\nend M;\n";

#[test]
fn files_and_folders_are_formatted_once() {
    let folder = scratch("format");
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(folder.join("a.mo"), UNTIDY).unwrap();
    fs::write(folder.join("inner/b.mo"), UNTIDY).unwrap();
    fs::write(folder.join("inner/b.txt"), UNTIDY).unwrap();

    let checked = saltus_in(&folder, &["format", "--check", "."]);
    assert_eq!(checked.exit, Some(1), "{}", checked.stderr);
    assert_eq!(checked.stdout, "./a.mo\n./inner/b.mo\n");
    assert_eq!(fs::read_to_string(folder.join("a.mo")).unwrap(), UNTIDY);

    assert_eq!(
        saltus_in(&folder, &["format", "a.mo", "inner"]).exit,
        Some(0)
    );
    for file in ["a.mo", "inner/b.mo"] {
        assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), TIDY);
    }
    assert_eq!(
        fs::read_to_string(folder.join("inner/b.txt")).unwrap(),
        UNTIDY
    );

    let again = saltus_in(&folder, &["format", "--check", "."]);
    assert_eq!((again.exit, again.stdout.as_str()), (Some(0), ""));
}

#[test]
fn only_the_lines_of_a_range_change() {
    let folder = scratch("format-lines");
    fs::write(
        folder.join("a.mo"),
        "model M\nReal x=1 ;\nReal y=2 ;\nend M;\n",
    )
    .unwrap();
    assert_eq!(
        saltus_in(&folder, &["format", "--lines", "3:3", "a.mo"]).exit,
        Some(0)
    );
    let text = fs::read_to_string(folder.join("a.mo")).unwrap();
    assert_eq!(text, "model M\nReal x=1 ;\n  Real y=2;\nend M;\n");
    assert_eq!(
        saltus_in(&folder, &["format", "--lines", "3", "a.mo"]).exit,
        Some(2)
    );
}

#[test]
fn a_file_with_errors_stays_and_the_others_are_formatted() {
    let folder = scratch("format-errors");
    let broken = "model M Real x(start=; end M;\n";
    fs::write(folder.join("a.mo"), broken).unwrap();
    fs::write(folder.join("b.mo"), UNTIDY).unwrap();
    let ran = saltus_in(&folder, &["format", "a.mo", "b.mo"]);
    assert_eq!(ran.exit, Some(1));
    assert!(
        ran.stderr.contains("error[syntax-error]") && ran.stderr.contains("a.mo:1"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read_to_string(folder.join("a.mo")).unwrap(), broken);
    assert_eq!(fs::read_to_string(folder.join("b.mo")).unwrap(), TIDY);
    assert_eq!(saltus_in(&folder, &["format"]).exit, Some(2));
    assert_eq!(saltus_in(&folder, &["format", "none.mo"]).exit, Some(2));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["format", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(UNTIDY.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), TIDY);
}
