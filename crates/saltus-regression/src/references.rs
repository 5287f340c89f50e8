//! Reference results: which exist, and which of them can be used.
//!
//! Three layouts are known: that of the Modelica Association (a folder per model below that of its package, with a CSV file and
//! `comparisonSignals.txt`), plain files `Qualified.Name.csv` or `.mat`, of which all variables are compared, and the samples of BuildingsPy,
//! `Qualified_Name.txt`, which libraries for buildings carry in `Resources/ReferenceResults/Dymola`.

use std::fs;
use std::path::{Path, PathBuf};

use saltus_results::is_sampled;

/// A reference result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    pub file: PathBuf,
    /// Names to compare; `None`: all of the file.
    pub signals: Option<PathBuf>,
}

impl Reference {
    /// Samples of a run, of which nothing is known in between.
    pub(super) fn is_sampled(&self) -> bool {
        has_ending(&self.file, "txt")
    }
}

/// The references of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct References {
    /// Model and reference, sorted by name.
    pub usable: Vec<(String, Reference)>,
    /// Folders with `comparisonSignals.txt`, but without a CSV file, or with a Git LFS pointer in its place.
    pub without_csv: usize,
}

/// Deeper folders than this are no package.
const DEPTH_MAX: usize = 32;

/// Walks a folder of references. `package` is the name of the folder itself in the layout with folders; without it the names begin below.
pub fn find_references(root: &Path, package: Option<&str>) -> Result<References, String> {
    if !root.is_dir() {
        return Err(format!("{} is not a folder", root.display()));
    }
    let mut found = References::default();
    walk(root, package.unwrap_or("").to_owned(), 0, &mut found)?;
    found.usable.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

impl References {
    pub fn get(&self, name: &str) -> Option<&Reference> {
        let exact = |name: &str| {
            let at = self.usable.binary_search_by(|(n, _)| n.as_str().cmp(name));
            at.ok().map(|i| &self.usable[i].1)
        };
        // Samples are files `Qualified_Name.txt`.
        exact(name).or_else(|| exact(&name.replace('.', "_")).filter(|r| r.is_sampled()))
    }
}

fn walk(folder: &Path, name: String, depth: usize, found: &mut References) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!("{}: nested too deeply", folder.display()));
    }
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|e| format!("{}: {e}", folder.display()))?
            .path();
        let Some(file_name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        if path.is_dir() {
            let inner = if name.is_empty() {
                file_name.to_owned()
            } else {
                format!("{name}.{file_name}")
            };
            walk(&path, inner, depth + 1, found)?;
        } else if path.is_file() {
            // Pipes and links that lead nowhere hold no result.
            files.push(path);
        }
    }
    files.sort();
    let signals = folder.join("comparisonSignals.txt");
    if signals.is_file() {
        match files.into_iter().rfind(|path| has_ending(path, "csv")) {
            Some(file) if !is_lfs_pointer(&file) => {
                let signals = Some(signals);
                found.usable.push((name, Reference { file, signals }));
            }
            _ => found.without_csv += 1,
        }
        return Ok(());
    }
    for file in files {
        let is_result = has_ending(&file, "csv") || has_ending(&file, "mat");
        if is_result || has_ending(&file, "txt") && begins_as_samples(&file) {
            let name = file.file_stem().and_then(|n| n.to_str()).map(str::to_owned);
            let signals = None;
            found
                .usable
                .extend(name.map(|name| (name, Reference { file, signals })));
        }
    }
    Ok(())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Other texts may lie beside references.
fn begins_as_samples(path: &Path) -> bool {
    use std::io::Read;
    const MARK_BYTES: u64 = 64;
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|f| f.take(MARK_BYTES).read_to_end(&mut start));
    read.is_ok() && is_sampled(&String::from_utf8_lossy(&start))
}

fn is_lfs_pointer(path: &Path) -> bool {
    use std::io::Read;
    const MARK: &[u8] = b"version https://git-lfs";
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|f| f.take(MARK.len() as u64).read_to_end(&mut start));
    read.is_err() || start == MARK
}
