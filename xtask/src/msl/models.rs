//! The reference models: which exist, and which of them can be used.

use std::fs;
use std::path::{Path, PathBuf};

/// A model with a reference result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReferenceModel {
    /// Qualified name, from the path below the reference folder.
    pub(crate) name: String,
    pub(crate) csv: PathBuf,
    pub(crate) signals: PathBuf,
}

pub(crate) struct Found {
    /// Sorted by name.
    pub(crate) usable: Vec<ReferenceModel>,
    /// Folders with `comparisonSignals.txt`, but without a CSV file, or with a Git LFS pointer in its place.
    pub(crate) without_csv: usize,
}

/// Deeper folders than this are no package.
const DEPTH_MAX: usize = 32;

/// Walks the package's folder below the reference folder; the latter may also be the package's folder itself.
pub(crate) fn find(reference: &Path, package: &str) -> Result<Found, String> {
    let inside = reference.join(package);
    let root = if inside.is_dir() {
        inside
    } else if reference.file_name().is_some_and(|name| name == package) {
        reference.to_owned()
    } else {
        return Err(format!("{} has no folder `{package}`", reference.display()));
    };
    let mut found = Found {
        usable: Vec::new(),
        without_csv: 0,
    };
    walk(&root, package.to_owned(), 0, &mut found)?;
    found.usable.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn walk(folder: &Path, name: String, depth: usize, found: &mut Found) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!("{}: nested too deeply", folder.display()));
    }
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut csv = None;
    for entry in entries {
        let path = entry
            .map_err(|e| format!("{}: {e}", folder.display()))?
            .path();
        let Some(file_name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        if path.is_dir() {
            walk(&path, format!("{name}.{file_name}"), depth + 1, found)?;
        } else if file_name.to_ascii_lowercase().ends_with(".csv") {
            csv = Some(path);
        }
    }
    let signals = folder.join("comparisonSignals.txt");
    if signals.is_file() {
        match csv {
            Some(csv) if !is_lfs_pointer(&csv) => {
                found.usable.push(ReferenceModel { name, csv, signals })
            }
            _ => found.without_csv += 1,
        }
    }
    Ok(())
}

fn is_lfs_pointer(path: &Path) -> bool {
    use std::io::Read;
    const MARK: &[u8] = b"version https://git-lfs";
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|f| f.take(MARK.len() as u64).read_to_end(&mut start));
    read.is_err() || start == MARK
}
