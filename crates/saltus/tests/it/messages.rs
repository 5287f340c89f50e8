//! Models with what the compiler prints about them, in files beside them. `tests/messages`: models that cannot be solved, with the whole
//! message. `tests/structure`: the structured system of small models, one for each pass that needs the real front end (others
//! are tested in `saltus-structure`).
//!
//! `SALTUS_BLESS=1 cargo test -p saltus` writes the files anew; whoever does so reads messages aloud (place, cause, cure) and
//! compares structures with what the pass is to do.

use crate::mdtest::class_of;
use saltus::{Error, Session};
use std::fmt::Write as _;
use std::path::Path;

/// Compares what is printed for each `.mo` file of a folder of `tests/` with the `.txt` file beside it.
fn check(folder: &str, print: impl Fn(&Session, &str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
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
        let mut session = Session::new();
        session.set_text(&*name, text.clone());
        let printed = print(&session, &class_of(&text));
        let stored = path.with_extension("txt");
        if std::env::var_os("SALTUS_BLESS").is_some() {
            std::fs::write(&stored, printed).expect("written");
            continue;
        }
        let expected = std::fs::read_to_string(&stored).unwrap_or_default();
        if printed != expected {
            let _ = writeln!(problem, "{name}: expected\n{expected}\nfound\n{printed}");
        }
    }
    assert!(problem.is_empty(), "\n{problem}");
}

#[test]
fn what_cannot_be_solved_is_named_with_place_and_cure() {
    check("messages", |session, class| {
        let outcome = (session.compile(class))
            .and_then(|compiled| compiled.experiment().stop_time(1.0).simulate());
        match outcome {
            Ok(run) => panic!("{class}: the run came to {}", run.time_reached),
            Err(Error::Usage(message)) => panic!("{class}: {message}"),
            Err(error @ (Error::Model(_) | Error::Run(..) | Error::Stopped(_))) => {
                error.to_string()
            }
        }
    });
}

#[test]
fn each_pass_structures_its_model() {
    check("structure", |session, class| {
        let printed = session.print_structure(class);
        printed.unwrap_or_else(|e| panic!("{class}: {e}"))
    });
}
