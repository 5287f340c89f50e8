//! SHA-256 of files and of whole libraries.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Folders of version control are no part of a library.
const LEFT_OUT: &[&str] = &[".git", ".svn", ".hg"];

pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Of all files in the order of their paths: for each its path, its length and its bytes.
pub(crate) fn of_folder(folder: &Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    for file in files(folder)? {
        let bytes = std::fs::read(folder.join(&file))?;
        let name = file.to_string_lossy().replace('\\', "/");
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(&bytes);
    }
    Ok(hex(&hash.finalize()))
}

/// The files below a folder, as paths from it, sorted. Links are left out: they may lead anywhere.
pub(crate) fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(inner) = todo.pop() {
        for entry in std::fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() && !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
                todo.push(path);
            } else if kind.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn sha_256_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            super::of_bytes(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
