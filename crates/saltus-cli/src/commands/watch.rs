//! `--watch`: the same command again and again, in a process of its own, whenever a file that it has read is another one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::engine::READ_FILE;
use crate::exit::{Failure, Outcome, message};

/// The option that makes a command one that is watched.
const OPTION: &str = "--watch";
/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What is seen of a file: when it was changed, and its length.
type Seen = Option<(SystemTime, u64)>;

/// Ends only by a signal, or if the command cannot be started.
pub(super) fn watch() -> Outcome {
    let failed = |e: std::io::Error| Failure::command_line(format!("{OPTION}: {e}"));
    let program = std::env::current_exe().map_err(failed)?;
    let arguments: Vec<_> = std::env::args_os()
        .skip(1)
        .filter(|a| a != OPTION)
        .collect();
    let list = std::env::temp_dir().join(format!("saltus-watch-{}", std::process::id()));
    loop {
        // One that is not there need not be removed.
        let _ = std::fs::remove_file(&list);
        Command::new(&program)
            .args(&arguments)
            .env(READ_FILE, &list)
            .status()
            .map_err(failed)?;
        let files = read_files(&list);
        let before: Vec<Seen> = files.iter().map(|file| seen(file)).collect();
        message(&format!("watching {} files", files.len()));
        while files
            .iter()
            .zip(&before)
            .all(|(file, before)| seen(file) == *before)
        {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// The files, each once; of folders only those that are there.
fn read_files(list: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(list).unwrap_or_default();
    let mut files: Vec<PathBuf> = text.lines().map(PathBuf::from).collect();
    files.sort();
    files.dedup();
    files
}

fn seen(file: &Path) -> Seen {
    let about = std::fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len()))
}
