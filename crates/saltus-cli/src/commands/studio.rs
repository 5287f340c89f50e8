use std::path::{Path, PathBuf};

use clap::Args;
use saltus::Session;
use saltus_studio::{Opened, Studio};

use crate::args::AccessArgs;
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message, print};

/// What is opened, and how the page is reached.
#[derive(Args, Debug)]
pub(crate) struct StudioArgs {
    /// A Modelica file, a folder, or the qualified name of a class in a library; without it the start page
    #[arg(value_name = "FILE.mo | FOLDER | qualified.Name")]
    pub(crate) target: Option<String>,
    /// A folder with libraries, searched before MODELICAPATH (repeatable)
    #[arg(long = "library", value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// The port of the page, on this computer only; 0: a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Only print the address, the token included; do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

impl StudioArgs {
    /// A file in each place where the page may save.
    pub(crate) fn writes(&self) -> Vec<PathBuf> {
        let target = self.target.iter().map(PathBuf::from);
        target
            .map(|path| match path.is_dir() {
                true => path.join("package.mo"),
                false => path,
            })
            .filter(|path| path.extension().is_some_and(|ending| ending == "mo"))
            .collect()
    }
}

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
