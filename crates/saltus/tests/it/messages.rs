//! Models that cannot be solved, with the whole message: each `tests/messages/<name>.mo` is compiled and simulated to time 1, and what is
//! said is compared with `<name>.txt`.
//!
//! `SALTUS_BLESS=1 cargo test -p saltus` writes the files anew; whoever does so reads them aloud: place, cause, cure.

use crate::mdtest::class_of;
use saltus::{Error, Workspace};
use std::fmt::Write as _;
use std::path::Path;

fn message(file: &str, text: &str) -> String {
    let mut workspace = Workspace::new();
    workspace.add_source(file, text);
    let outcome = (workspace.compile(&class_of(text)))
        .and_then(|compiled| compiled.experiment().stop_time(1.0).simulate());
    match outcome {
        Ok(run) => panic!("{file}: the run came to {}", run.time_reached),
        Err(Error::Usage(message)) => panic!("{file}: {message}"),
        Err(error @ (Error::Model(_) | Error::Run(..))) => error.to_string(),
    }
}

#[test]
fn what_cannot_be_solved_is_named_with_place_and_cure() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "mo"))
        .collect();
    files.sort();
    let mut problem = String::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("the model");
        let said = message(&name, &text);
        let stored = path.with_extension("txt");
        if std::env::var_os("SALTUS_BLESS").is_some() {
            std::fs::write(&stored, said).expect("written");
            continue;
        }
        let expected = std::fs::read_to_string(&stored).unwrap_or_default();
        if said != expected {
            let _ = writeln!(problem, "{name}: expected\n{expected}\nsaid\n{said}");
        }
    }
    assert!(problem.is_empty(), "\n{problem}");
}
