//! `saltus.toml`, section `[libraries]`: names and versions that a project uses; `saltus.lock`: where each came from, and its SHA-256.
//!
//! ```toml
//! [libraries]
//! Modelica = "4.1.0"
//! ```

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::exit::Failure;
use crate::files::write_file;

const FILE: &str = "saltus.toml";
const LOCK: &str = "saltus.lock";
const SECTION: &str = "[libraries]";

#[derive(Deserialize, Default)]
struct Settings {
    #[serde(default)]
    libraries: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize, Default)]
struct Lock {
    #[serde(default)]
    library: Vec<Locked>,
}

/// A library as it was added.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Locked {
    pub(crate) name: String,
    pub(crate) version: String,
    /// What `saltus lib add` was given, or the index.
    pub(crate) source: String,
    pub(crate) sha256: String,
}

pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    /// Versions by name.
    pub(crate) wanted: BTreeMap<String, String>,
    pub(crate) locked: Vec<Locked>,
}

impl Project {
    /// The project of the working folder or of one around it.
    pub(crate) fn around() -> Option<Project> {
        let here = std::env::current_dir().ok()?;
        let folder = here
            .ancestors()
            .find(|folder| folder.join(FILE).is_file() || folder.join(LOCK).is_file())?;
        Project::open(folder).ok()
    }

    /// The same; if there is none, one in the working folder.
    pub(crate) fn around_or_here() -> Result<Project, Failure> {
        let here = std::env::current_dir()
            .map_err(|e| Failure::command_line(format!("the working folder: {e}")))?;
        let around = here
            .ancestors()
            .find(|folder| folder.join(FILE).is_file() || folder.join(LOCK).is_file());
        Project::open(around.unwrap_or(&here))
    }

    fn open(folder: &Path) -> Result<Project, Failure> {
        let settings: Settings = parsed(&folder.join(FILE))?;
        let lock: Lock = parsed(&folder.join(LOCK))?;
        let wanted = settings.libraries.into_iter();
        let wanted =
            wanted.filter_map(|(name, version)| Some((name, version.as_str()?.to_owned())));
        Ok(Project {
            folder: folder.to_owned(),
            wanted: wanted.collect(),
            locked: lock.library,
        })
    }

    /// Where a project carries its libraries.
    pub(crate) fn vendor(&self) -> PathBuf {
        self.folder.join("libraries")
    }

    pub(crate) fn locked(&self, name: &str) -> Option<&Locked> {
        self.locked.iter().find(|locked| locked.name == name)
    }

    pub(crate) fn set(&mut self, locked: Locked) {
        self.wanted
            .insert(locked.name.clone(), locked.version.clone());
        self.locked.retain(|known| known.name != locked.name);
        self.locked.push(locked);
        self.locked.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// True if it was there.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.locked.retain(|known| known.name != name);
        self.wanted.remove(name).is_some()
    }

    pub(crate) fn write(&self) -> Result<(), Failure> {
        let file = self.folder.join(FILE);
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        let new = with_section(&old, &self.wanted);
        write_file(&file, |out| out.write_all(new.as_bytes()))?;
        let mut lock = String::from(
            "# Written by `saltus lib`. Keep it with the project: the same files give the same results.\n",
        );
        for locked in &self.locked {
            lock.push_str(&format!(
                "\n[[library]]\nname = {:?}\nversion = {:?}\nsource = {:?}\nsha256 = {:?}\n",
                locked.name, locked.version, locked.source, locked.sha256
            ));
        }
        write_file(&self.folder.join(LOCK), |out| {
            out.write_all(lock.as_bytes())
        })
    }
}

fn parsed<T: serde::de::DeserializeOwned + Default>(file: &Path) -> Result<T, Failure> {
    match std::fs::read_to_string(file) {
        Ok(text) => toml::from_str(&text)
            .map_err(|e| Failure::command_line(format!("`{}`: {e}", file.display()))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
        Err(e) => Err(Failure::command_line(format!("`{}`: {e}", file.display()))),
    }
}

/// The text of a settings file with another section of libraries; everything else stays as it is.
fn with_section(old: &str, wanted: &BTreeMap<String, String>) -> String {
    let lines: Vec<&str> = old.lines().collect();
    let start = lines.iter().position(|line| line.trim() == SECTION);
    let (before, after) = match start {
        None => (&lines[..], &[][..]),
        Some(start) => {
            let rest = lines[start + 1..]
                .iter()
                .position(|line| line.trim_start().starts_with('['));
            let end = rest.map_or(lines.len(), |rest| start + 1 + rest);
            (&lines[..start], &lines[end..])
        }
    };
    let mut out: Vec<String> = before.iter().map(|line| (*line).to_owned()).collect();
    while out.last().is_some_and(|line| line.trim().is_empty()) {
        out.pop();
    }
    if !wanted.is_empty() {
        if !out.is_empty() {
            out.push(String::new());
        }
        out.push(SECTION.to_owned());
        out.extend(
            wanted
                .iter()
                .map(|(name, version)| format!("{name} = {version:?}")),
        );
    }
    if !after.is_empty() {
        out.push(String::new());
        out.extend(after.iter().map(|line| (*line).to_owned()));
    }
    out.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sections_of_the_settings_stay() {
        let old = "[foreign]\nallow = [\"/a\"]\n\n[libraries]\nA = \"1\"\n\n[other]\nx = 1\n";
        let wanted = BTreeMap::from([("B".to_owned(), "2.0".to_owned())]);
        let new = with_section(old, &wanted);
        assert_eq!(
            new,
            "[foreign]\nallow = [\"/a\"]\n\n[libraries]\nB = \"2.0\"\n\n[other]\nx = 1\n"
        );
        assert_eq!(with_section(&new, &wanted), new);
        assert_eq!(with_section("", &wanted), "[libraries]\nB = \"2.0\"\n");
    }
}
