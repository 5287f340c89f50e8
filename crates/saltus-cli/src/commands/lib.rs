use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::args::{LibAddArgs, LibArgs, LibRemoveArgs, LibUpdateArgs, LibVerb};
use crate::exit::{Exit, Failure, Outcome, message, print};
use crate::installed::project::{Locked, Project};
use crate::installed::{self, Found, checksum, index, is_plain, libraries_in, source};

/// Libraries that use libraries, at most.
const DEPTH_MAX: usize = 32;

/// `saltus lib`
pub(crate) fn lib(args: LibArgs) -> Outcome {
    match args.verb {
        LibVerb::Add(args) => add(&args),
        LibVerb::Remove(args) => remove(&args),
        LibVerb::List => list(),
        LibVerb::Update(args) => update(&args),
        LibVerb::Vendor => vendor(),
        LibVerb::Tree => tree(),
    }
}

fn store() -> Result<PathBuf, Failure> {
    LibArgs::store().ok_or_else(|| {
        Failure::command_line("there is no folder for data: set SALTUS_STORE or HOME")
    })
}

fn add(args: &LibAddArgs) -> Outcome {
    let mut project = Project::around_or_here()?;
    if args.libraries.is_empty() {
        return install_locked(&project);
    }
    for wanted in &args.libraries {
        if source::is_place(wanted) {
            install(&mut project, wanted, args.sha256.as_deref(), None)?;
            continue;
        }
        let (name, version) = match wanted.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (wanted.as_str(), None),
        };
        add_by_name(&mut project, name, version, args.index.as_deref())?;
    }
    project.write()?;
    Ok(Exit::Done)
}

/// From the index; of a version that is installed already, without it.
fn add_by_name(
    project: &mut Project,
    name: &str,
    version: Option<&str>,
    place: Option<&str>,
) -> Result<(), Failure> {
    if let Some(version) = version
        && let Some(folder) = installed::installed(name, version)
    {
        let found = installed::read(&folder)?;
        let source = project
            .locked(name)
            .map_or_else(|| "store".to_owned(), |locked| locked.source.clone());
        return note(project, &found, &folder, source);
    }
    let entries = index::read(place)?;
    let Some(entry) = index::find(&entries, name, version) else {
        let mut known: Vec<String> = entries
            .iter()
            .filter(|e| e.name == name)
            .map(|e| e.version.clone())
            .collect();
        known.dedup();
        let there = if known.is_empty() {
            "no version".to_owned()
        } else {
            known.join(", ")
        };
        return Err(Failure::command_line(format!(
            "the index has no `{name}` {}: it has {there}",
            version.unwrap_or_default()
        )));
    };
    install(
        project,
        &entry.source,
        entry.sha256.as_deref(),
        Some((&entry.name, &entry.version)),
    )
}

/// Copies the libraries of a source into the store. All is checked before the store changes.
fn install(
    project: &mut Project,
    place: &str,
    sha256: Option<&str>,
    expected: Option<(&str, &str)>,
) -> Result<(), Failure> {
    let store = store()?;
    let io = |e: std::io::Error| Failure::command_line(format!("`{}`: {e}", store.display()));
    std::fs::create_dir_all(&store).map_err(io)?;
    let work = Work::new(&store).map_err(io)?;
    let (folder, source) = source::fetch(place, sha256, &work.0)?;
    let libraries = libraries_in(&folder)?;
    if libraries.is_empty() {
        return Err(Failure::command_line(format!(
            "`{place}` holds no library\nhelp: a library is a folder with a file `package.mo`"
        )));
    }
    if let Some((name, version)) = expected
        && !libraries
            .iter()
            .any(|found| found.name == name && found.version == version)
    {
        return Err(Failure::command_line(format!(
            "`{place}` does not hold `{name}` {version}, as the index says"
        )));
    }
    for found in &libraries {
        if !is_plain(&found.name) || !is_plain(&found.version) {
            return Err(Failure::command_line(format!(
                "`{}` {} cannot be the name of a folder",
                found.name, found.version
            )));
        }
        let target = store.join(format!("{} {}", found.name, found.version));
        let staged = work.0.join("staged");
        copy(&found.folder, &staged).map_err(io)?;
        let sum = checksum::of_folder(&staged).map_err(io)?;
        check_locked(project, found, &sum)?;
        if target.exists() {
            let there = checksum::of_folder(&target).map_err(io)?;
            if there != sum {
                return Err(Failure::command_line(format!(
                    "the store has another `{}` {} (SHA-256 {there}, this one {sum})\nhelp: `saltus lib remove {} --purge` deletes it",
                    found.name, found.version, found.name
                )));
            }
            std::fs::remove_dir_all(&staged).map_err(io)?;
        } else {
            std::fs::rename(&staged, &target).map_err(io)?;
        }
        note(project, found, &target, source.clone())?;
    }
    Ok(())
}

/// What the lock knows of this version must be what was brought.
fn check_locked(project: &Project, found: &Found, sum: &str) -> Result<(), Failure> {
    match project.locked(&found.name) {
        Some(locked) if locked.version == found.version && locked.sha256 != sum => {
            Err(Failure::command_line(format!(
                "`{}` {} is not what the lock says: SHA-256 {sum}, expected {}\n\
             help: it was changed since it was added; `saltus lib remove {}` forgets the old one",
                found.name, found.version, locked.sha256, found.name
            )))
        }
        _ => Ok(()),
    }
}

fn note(
    project: &mut Project,
    found: &Found,
    folder: &Path,
    source: String,
) -> Result<(), Failure> {
    let sha256 = checksum::of_folder(folder)
        .map_err(|e| Failure::command_line(format!("`{}`: {e}", folder.display())))?;
    check_locked(project, found, &sha256)?;
    message(&format!("{} {}", found.name, found.version));
    project.set(Locked {
        name: found.name.clone(),
        version: found.version.clone(),
        source,
        sha256,
    });
    for (name, version) in &found.uses {
        if installed::installed(name, version).is_none() {
            message(&format!(
                "note: {} uses {name} {version}, which is not installed: `saltus lib add {name}@{version}`",
                found.name
            ));
        }
    }
    Ok(())
}

/// What the lock lists and is not there is brought from where it came from.
fn install_locked(project: &Project) -> Outcome {
    for locked in &project.locked {
        if let Some(folder) = installed::installed(&locked.name, &locked.version) {
            check_locked(project, &installed::read(&folder)?, &sum(&folder)?)?;
            message(&format!("{} {}", locked.name, locked.version));
            continue;
        }
        let mut copy = Project {
            folder: project.folder.clone(),
            wanted: project.wanted.clone(),
            locked: project.locked.clone(),
        };
        install(
            &mut copy,
            &locked.source,
            None,
            Some((&locked.name, &locked.version)),
        )?;
    }
    Ok(Exit::Done)
}

fn sum(folder: &Path) -> Result<String, Failure> {
    checksum::of_folder(folder)
        .map_err(|e| Failure::command_line(format!("`{}`: {e}", folder.display())))
}

fn remove(args: &LibRemoveArgs) -> Outcome {
    let mut project = Project::around_or_here()?;
    for name in &args.names {
        let version = project.wanted.get(name).cloned();
        if !project.remove(name) && !args.purge {
            return Err(Failure::command_line(format!(
                "the project has no library `{name}`"
            )));
        }
        if args.purge {
            let store = store()?;
            let fits = |found: &Found| {
                found.name == *name
                    && version
                        .as_ref()
                        .is_none_or(|version| *version == found.version)
            };
            for found in libraries_in(&store)?.iter().filter(|found| fits(found)) {
                std::fs::remove_dir_all(&found.folder).map_err(|e| {
                    Failure::command_line(format!("`{}`: {e}", found.folder.display()))
                })?;
            }
        }
    }
    project.write()?;
    Ok(Exit::Done)
}

fn list() -> Outcome {
    let mut out = String::new();
    if let Some(project) = Project::around() {
        for (name, version) in &project.wanted {
            let state = match (installed::installed(name, version), project.locked(name)) {
                (None, _) => "not installed: `saltus lib add`".to_owned(),
                (Some(folder), Some(locked)) if sum(&folder)? != locked.sha256 => {
                    "changed since it was added".to_owned()
                }
                (Some(folder), _) => folder.display().to_string(),
            };
            let _ = writeln!(out, "{name} {version}  project  {state}");
        }
    }
    if let Some(store) = installed::store().filter(|store| store.is_dir()) {
        for found in libraries_in(&store)? {
            let _ = writeln!(
                out,
                "{} {}  store    {}",
                found.name,
                found.version,
                found.folder.display()
            );
        }
    }
    print(&out)?;
    Ok(Exit::Done)
}

fn update(args: &LibUpdateArgs) -> Outcome {
    let mut project = Project::around_or_here()?;
    let entries = index::read(args.index.as_deref())?;
    let names: Vec<String> = match args.names.is_empty() {
        true => project.wanted.keys().cloned().collect(),
        false => args.names.clone(),
    };
    for name in names {
        let Some(entry) = index::find(&entries, &name, None) else {
            message(&format!("note: the index has no `{name}`"));
            continue;
        };
        if project.wanted.get(&name) != Some(&entry.version) {
            install(
                &mut project,
                &entry.source,
                entry.sha256.as_deref(),
                Some((&entry.name, &entry.version)),
            )?;
        }
    }
    project.write()?;
    Ok(Exit::Done)
}

fn vendor() -> Outcome {
    let project = Project::around_or_here()?;
    let target = project.vendor();
    for locked in &project.locked {
        let name = format!("{} {}", locked.name, locked.version);
        let from = installed::installed(&locked.name, &locked.version).ok_or_else(|| {
            Failure::command_line(format!("{name} is not installed: `saltus lib add`"))
        })?;
        check_locked(&project, &installed::read(&from)?, &sum(&from)?)?;
        let to = target.join(&name);
        if !to.exists() {
            copy(&from, &to)
                .map_err(|e| Failure::command_line(format!("`{}`: {e}", to.display())))?;
        }
        message(&format!("{}", to.display()));
    }
    Ok(Exit::Done)
}

fn tree() -> Outcome {
    let project = Project::around_or_here()?;
    let mut out = String::new();
    for (name, version) in &project.wanted {
        branch(name, version, 0, &mut out)?;
    }
    print(&out)?;
    Ok(Exit::Done)
}

fn branch(name: &str, version: &str, depth: usize, out: &mut String) -> Result<(), Failure> {
    let indent = "  ".repeat(depth);
    let Some(folder) = installed::installed(name, version).filter(|_| depth < DEPTH_MAX) else {
        let _ = writeln!(
            out,
            "{indent}{name} {version} (not installed: `saltus lib add {name}@{version}`)"
        );
        return Ok(());
    };
    let _ = writeln!(out, "{indent}{name} {version}");
    for (name, version) in installed::read(&folder)?.uses {
        branch(&name, &version, depth + 1, out)?;
    }
    Ok(())
}

/// Files only: links are left out.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for file in checksum::files(from)? {
        let target = to.join(&file);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(from.join(&file), target)?;
    }
    Ok(())
}

/// A folder inside the store for work in progress, so that a finished library is only renamed.
struct Work(PathBuf);

impl Work {
    fn new(store: &Path) -> std::io::Result<Work> {
        let folder = store.join(format!(".work-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        Ok(Work(folder))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
