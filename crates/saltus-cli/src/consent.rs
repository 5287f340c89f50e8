//! Consent for foreign code that was given beforehand, in `saltus.toml`, and the confinement of a program that may run such code.
//!
//! ```toml
//! [foreign]
//! allow = ["/opt/modelica/Buildings"]
//! ```
//!
//! Two files are read: that of the user (`saltus/saltus.toml` in the folder for settings, `~/.config` by default), and that of the working folder. The second may come with
//! the models of somebody else. It therefore counts only for folders outside of its own: code never permits itself.

use std::path::{Path, PathBuf};

use saltus::confinement::{Confinement, Writable, confine};
use serde::Deserialize;

use crate::args::{AccessArgs, Command};
use crate::engine::{READ_FILE, STAGE_FILE};
use crate::exit::{Failure, message};

const FILE: &str = "saltus.toml";

#[derive(Deserialize, Default)]
struct Settings {
    #[serde(default)]
    foreign: ForeignSettings,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ForeignSettings {
    /// Folders whose C functions may be called.
    #[serde(default)]
    allow: Vec<PathBuf>,
}

/// Folders whose C functions may be called.
pub(crate) fn folders() -> Result<Vec<PathBuf>, Failure> {
    let mut folders = match users_file() {
        Some(file) => allowed_by(&file)?,
        None => Vec::new(),
    };
    let beside = std::env::current_dir().and_then(|here| here.canonicalize());
    if let Ok(here) = beside {
        for folder in allowed_by(&here.join(FILE))? {
            if folder.starts_with(&here) || here.starts_with(&folder) {
                return Err(Failure::command_line(format!(
                    "`{}` cannot permit foreign code of its own folder (`{}`): it may have come with that code\n\
                     help: give `--allow-foreign`, or write the permission into {}",
                    here.join(FILE).display(),
                    folder.display(),
                    users_file().map_or("a file of your own".into(), |file| format!(
                        "`{}`",
                        file.display()
                    )),
                )));
            }
            folders.push(folder);
        }
    }
    Ok(folders)
}

fn users_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let settings = set("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some(settings.join("saltus").join(FILE))
}

/// What a file permits, as paths without links; folders that are not there permit nothing.
fn allowed_by(file: &Path) -> Result<Vec<PathBuf>, Failure> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => {
            return Err(Failure::command_line(format!("`{}`: {e}", file.display())));
        }
    };
    let settings: Settings = toml::from_str(&text)
        .map_err(|e| Failure::command_line(format!("`{}`: {e}", file.display())))?;
    let around = file.parent().unwrap_or(Path::new("."));
    let folders = settings.foreign.allow.iter();
    Ok(folders
        .filter_map(|folder| around.join(folder).canonicalize().ok())
        .collect())
}

/// Confines a command that may run foreign code to its working folder, the folders of `--allow-write` and those of its outputs. Commands of the operating system, once
/// permitted, are not confined.
pub(crate) fn confine_command(command: &Command) -> Result<Option<Confinement>, Failure> {
    let Some((access, outputs)) = running(command) else {
        return Ok(None);
    };
    let may_run = access.allow_foreign || !folders()?.is_empty();
    if !may_run || access.allow_system {
        return Ok(None);
    }
    let mut writable = Writable::default();
    writable.folders.push(PathBuf::from("."));
    writable.folders.extend(access.allow_write.iter().cloned());
    let noted = [STAGE_FILE, READ_FILE].map(std::env::var_os);
    let noted = noted.into_iter().flatten().map(PathBuf::from);
    for path in outputs.into_iter().chain(noted) {
        // Where a link leads.
        let path = path.canonicalize().unwrap_or(path);
        if path.exists() && !path.is_file() {
            writable.files.push(path);
        } else {
            let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
            writable.folders.extend(folder.map(Path::to_owned));
        }
    }
    // Whether they are there is a question for those who use them.
    writable.folders.retain(|folder| folder.is_dir());
    match confine(&writable) {
        Ok(confinement) => {
            if matches!(confinement, Confinement::Unavailable) {
                message(
                    "note: this system cannot confine foreign code (it has no Landlock): C functions that you permit can change all files that you can change",
                );
            }
            Ok(Some(confinement))
        }
        Err(e) => Err(Failure::command_line(format!(
            "foreign code cannot be confined to the working folder: {e}"
        ))),
    }
}

/// What a command that runs models permits, and where it writes.
fn running(command: &Command) -> Option<(&AccessArgs, Vec<PathBuf>)> {
    match command {
        Command::Simulate(args) => {
            let named = [&args.output, &args.events, &args.stats, &args.steps];
            let plots = args.plots.iter().filter_map(|plot| plot.file.clone());
            let outputs = named.into_iter().flatten().cloned().chain(plots);
            Some((&args.access, outputs.collect()))
        }
        Command::Sweep(args) => {
            let outputs = args.output.iter().chain(&args.trajectories);
            Some((&args.access, outputs.cloned().collect()))
        }
        Command::Show(args) => Some((&args.access, Vec::new())),
        Command::Studio(args) => Some((&args.access, args.writes())),
        Command::Parameters(args) | Command::Variables(args) => Some((&args.access, Vec::new())),
        Command::Linearize(args) => {
            let pictures = [&args.bode, &args.poles];
            let outputs = args.output.iter().chain(pictures.into_iter().flatten());
            Some((&args.access, outputs.cloned().collect()))
        }
        Command::SteadyState(args) => Some((&args.access, Vec::new())),
        Command::Profile(args) => Some((&args.access, Vec::new())),
        // Models of `test` run in programs of their own, which confine themselves.
        _ => None,
    }
}
