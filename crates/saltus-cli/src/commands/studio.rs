use std::path::Path;

use saltus::Session;
use saltus_studio::{Opened, Studio};

use crate::args::StudioArgs;
use crate::consent;
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
    let opened = args.target.as_deref().map(opened);
    if let Some(Opened::Class(class)) = &opened
        && session.source_of(class).is_none()
    {
        return Err(no_target(class));
    }
    let mut studio = Studio::new(session).port(args.port);
    if let Some(opened) = opened {
        studio = studio.open(opened);
    }
    let refused =
        |e: std::io::Error| Failure::command_line(format!("the studio cannot start: {e}"));
    let bound = studio.bind().map_err(|e| match &args.target {
        Some(target) if e.kind() == std::io::ErrorKind::NotFound => no_target(target),
        _ => refused(e),
    })?;
    let address = bound.address().map_err(refused)?;
    print(&format!("{address}\n"))?;
    // A program that may run foreign code is confined, and so would be a browser that it starts.
    let is_confined = args.access.allow_foreign || !consent::folders()?.is_empty();
    if !args.no_open && (is_confined || !open_browser(&address)) {
        message("note: no browser was opened: open the address yourself");
    }
    bound.serve().map_err(refused)?;
    Ok(Exit::Done)
}

fn no_target(target: &str) -> Failure {
    Failure::command_line(format!(
        "`{target}` is no file, folder or class of a library"
    ))
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
