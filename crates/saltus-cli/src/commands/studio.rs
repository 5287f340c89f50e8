use std::path::Path;

use saltus::Session;
use saltus_studio::{Opened, Studio};

use crate::args::StudioArgs;
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message, print};

/// `saltus studio`
pub(crate) fn studio(args: &StudioArgs) -> Outcome {
    let mut session = Session::new();
    for dir in &args.libraries {
        if !dir.is_dir() {
            return Err(Failure::command_line(format!(
                "--library: `{}` is not a folder",
                dir.display()
            )));
        }
        session.add_library_path(dir);
    }
    session.add_modelicapath();
    engine::permit(&mut session, &args.access)?;
    let mut studio = Studio::new(session).port(args.port);
    if let Some(target) = &args.target {
        studio = studio.open(opened(target));
    }
    let refused =
        |e: std::io::Error| Failure::command_line(format!("the studio cannot start: {e}"));
    let bound = studio.bind().map_err(|e| match &args.target {
        Some(target) if e.kind() == std::io::ErrorKind::NotFound => Failure::command_line(format!(
            "`{target}` is no file, folder or class of a library"
        )),
        _ => refused(e),
    })?;
    let address = bound.address().map_err(refused)?;
    print(&format!("{address}\n"))?;
    if !args.no_open && !open_browser(&address) {
        message("note: no browser could be opened: open the address yourself");
    }
    bound.serve().map_err(refused)?;
    Ok(Exit::Done)
}

fn opened(target: &str) -> Opened {
    let path = Path::new(target);
    let is_text = path.extension().is_some_and(|ending| ending == "mo");
    match () {
        () if path.is_dir() => Opened::Folder(path.to_owned()),
        () if path.is_file() || is_text => Opened::File(path.to_owned()),
        () => Opened::Class(target.to_owned()),
    }
}

/// True if there is a program that opens addresses.
fn open_browser(address: &str) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let null = std::process::Stdio::null;
    let started = std::process::Command::new(program)
        .arg(address)
        .stdin(null())
        .stdout(null())
        .stderr(null())
        .spawn();
    started.is_ok()
}
