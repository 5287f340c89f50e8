//! The program from outside: arguments, files, exit codes.

mod book;
mod command_line;
mod convert;
mod explain;
mod fmu;
#[cfg(unix)]
mod foreign;
mod format;
mod given;
mod hostile;
mod library;
mod long_runs;
mod many_runs;
mod models;
mod pages;
mod program;
mod results;
mod studio;
mod sweeps;
mod units;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a run of the program gave.
struct Ran {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

/// No run of a test takes longer; what does is a hang.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs the program in a folder, without libraries from the environment.
fn saltus_in(folder: &Path, args: &[&str]) -> Ran {
    saltus_with(folder, args, &[])
}

/// The same with variables of the environment.
fn saltus_with(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(args)
        .current_dir(folder)
        .env_remove("MODELICAPATH")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let stdout = reader(child.stdout.take().expect("it is piped"));
    let stderr = reader(child.stderr.take().expect("it is piped"));
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            break status;
        }
        if begin.elapsed() > LIMIT {
            child.kill().expect("the program can be ended");
            panic!("saltus {args:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Ran {
        exit: status.code(),
        stdout: stdout.join().expect("output is text"),
        stderr: stderr.join().expect("messages are text"),
    }
}

/// Reads a pipe to its end, so that the program never waits for its reader.
fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).expect("output is text");
        text
    })
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
