//! An index: libraries by name and version with the place of each. A file, or a folder with `index.toml`, so that a copied folder works without network.
//!
//! ```toml
//! [[library]]
//! name = "Modelica"
//! version = "4.1.0"
//! source = "modelica-4.1.0.zip"      # beside the index, or an address
//! sha256 = "…"                       # of the archive
//! ```

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::exit::Failure;
use crate::installed::source;

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    library: Vec<Entry>,
}

#[derive(Deserialize, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) source: String,
    pub(crate) sha256: Option<String>,
}

/// The index that is given, else that of the environment (`SALTUS_INDEX`).
pub(crate) fn read(given: Option<&str>) -> Result<Vec<Entry>, Failure> {
    let variable = std::env::var("SALTUS_INDEX")
        .ok()
        .filter(|value| !value.is_empty());
    let Some(place) = given.map(str::to_owned).or(variable) else {
        return Err(Failure::command_line(
            "a library by name needs an index\n\
             help: give `--index FILE|FOLDER|URL` or set SALTUS_INDEX; or add a folder, a .zip or a git address",
        ));
    };
    let (text, around) = text(&place)?;
    let index: Index = toml::from_str(&text)
        .map_err(|e| Failure::command_line(format!("index `{place}`: {e}")))?;
    let mut entries = index.library;
    for entry in &mut entries {
        entry.source = beside(&entry.source, &around);
    }
    Ok(entries)
}

/// The newest entry of a name, or that of a version.
pub(crate) fn find<'e>(
    entries: &'e [Entry],
    name: &str,
    version: Option<&str>,
) -> Option<&'e Entry> {
    let fits = entries
        .iter()
        .filter(|e| e.name == name && version.is_none_or(|version| e.version == version));
    fits.max_by(|a, b| saltus::language::compare_versions(&a.version, &b.version))
}

/// The text of an index and what its relative places are relative to.
fn text(place: &str) -> Result<(String, String), Failure> {
    if source::is_web(place) {
        let bytes = source::download(place)?;
        let text = String::from_utf8(bytes)
            .map_err(|e| Failure::command_line(format!("index `{place}`: {e}")))?;
        let around = place.rsplit_once('/').map_or(place, |(around, _)| around);
        return Ok((text, around.to_owned()));
    }
    let mut file = PathBuf::from(place.strip_prefix("file://").unwrap_or(place));
    if file.is_dir() {
        file.push("index.toml");
    }
    let text = std::fs::read_to_string(&file)
        .map_err(|e| Failure::command_line(format!("index `{}`: {e}", file.display())))?;
    let around = file
        .parent()
        .unwrap_or(Path::new("."))
        .to_string_lossy()
        .into_owned();
    Ok((text, around))
}

fn beside(place: &str, around: &str) -> String {
    match place.contains("://") || place.starts_with("git@") || Path::new(place).is_absolute() {
        true => place.to_owned(),
        false => format!("{around}/{place}"),
    }
}
