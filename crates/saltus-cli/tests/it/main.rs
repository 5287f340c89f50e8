//! The program from outside: arguments, files, exit codes.

mod command_line;
mod explain;
mod models;
mod pages;
mod results;

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a run of the program gave.
struct Ran {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the program in a folder, without libraries from the environment.
fn saltus_in(folder: &Path, args: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(args)
        .current_dir(folder)
        .env_remove("MODELICAPATH")
        .output()
        .expect("the program starts");
    Ran {
        exit: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("output is text"),
        stderr: String::from_utf8(output.stderr).expect("messages are text"),
    }
}

fn saltus(args: &[&str]) -> Ran {
    saltus_in(&std::env::temp_dir(), args)
}

/// A folder of its own for a test.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}
