//! Where libraries come from: folders, ZIP archives, git repositories, addresses of archives. Each becomes a folder with libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Failure;
use crate::installed::{checksum, unpack};

/// Archives beyond so many bytes are refused.
const ARCHIVE_MAX: u64 = 1 << 30;

pub(crate) fn is_web(place: &str) -> bool {
    place.starts_with("http://") || place.starts_with("https://")
}

fn is_git(place: &str) -> bool {
    let address = place.rsplit_once('#').map_or(place, |(address, _)| address);
    address.ends_with(".git")
        || address.starts_with("git@")
        || address.starts_with("git://")
        || address.starts_with("ssh://")
}

/// A source looks like a place, not like a name with a version.
pub(crate) fn is_place(text: &str) -> bool {
    is_web(text)
        || is_git(text)
        || text.starts_with("file://")
        || text.ends_with(".zip")
        || text.contains(['/', '\\'])
        || Path::new(text).is_dir()
}

/// Brings a source into a new folder inside `work`, or names the folder that it is; the second value is the source for the lock.
pub(crate) fn fetch(
    place: &str,
    sha256: Option<&str>,
    work: &Path,
) -> Result<(PathBuf, String), Failure> {
    let fail = |why: String| Failure::command_line(format!("`{place}`: {why}"));
    if is_git(place) {
        return clone(place, work);
    }
    let path = Path::new(place.strip_prefix("file://").unwrap_or(place));
    if !is_web(place) && path.is_dir() {
        let full = path.canonicalize().map_err(|e| fail(e.to_string()))?;
        return Ok((full.clone(), full.to_string_lossy().into_owned()));
    }
    let (bytes, source) = if is_web(place) {
        (download(place)?, place.to_owned())
    } else {
        let size = std::fs::metadata(path)
            .map_err(|e| fail(e.to_string()))?
            .len();
        if size > ARCHIVE_MAX {
            return Err(fail(format!("it is larger than {ARCHIVE_MAX} bytes")));
        }
        let full = path.canonicalize().map_err(|e| fail(e.to_string()))?;
        (
            std::fs::read(path).map_err(|e| fail(e.to_string()))?,
            full.to_string_lossy().into_owned(),
        )
    };
    if let Some(expected) = sha256 {
        let found = checksum::of_bytes(&bytes);
        if !found.eq_ignore_ascii_case(expected) {
            return Err(fail(format!(
                "its checksum is wrong: SHA-256 {found}, expected {expected}\n\
                 help: it is not the archive that the index means; do not use it before you know why"
            )));
        }
    }
    let folder = work.join("unpacked");
    std::fs::create_dir_all(&folder).map_err(|e| fail(e.to_string()))?;
    unpack::unpack(&bytes, &folder)
        .map_err(|why| fail(format!("the archive is refused: {why}")))?;
    Ok((single(&folder), source))
}

/// Archives often hold one folder around everything.
fn single(folder: &Path) -> PathBuf {
    let mut at = folder.to_owned();
    while !at.join("package.mo").is_file() {
        let entries: Vec<PathBuf> = std::fs::read_dir(&at)
            .into_iter()
            .flatten()
            .filter_map(|e| e.ok().map(|e| e.path()))
            .collect();
        match entries.as_slice() {
            [only] if only.is_dir() && !only.join("package.mo").is_file() => at = only.clone(),
            _ => break,
        }
    }
    at
}

/// `URL.git` or `URL.git#REVISION`; the lock gets the commit.
fn clone(place: &str, work: &Path) -> Result<(PathBuf, String), Failure> {
    let (address, revision) = match place.rsplit_once('#') {
        Some((address, revision)) => (address, Some(revision)),
        None => (place, None),
    };
    if address.starts_with('-') || revision.is_some_and(|r| r.starts_with('-')) {
        return Err(Failure::command_line(format!("`{place}` is no address")));
    }
    let folder = work.join("clone");
    let shown = folder.to_string_lossy().into_owned();
    git(&["clone", "--quiet", "--no-tags", "--", address, &shown])?;
    if let Some(revision) = revision {
        git(&["-C", &shown, "fetch", "--quiet", "origin", revision])?;
        git(&[
            "-C",
            &shown,
            "checkout",
            "--quiet",
            "--detach",
            "FETCH_HEAD",
        ])?;
    }
    let commit = git(&["-C", &shown, "rev-parse", "HEAD"])?;
    Ok((folder, format!("{address}#{}", commit.trim())))
}

fn git(args: &[&str]) -> Result<String, Failure> {
    let ran = Command::new("git")
        .args(args)
        .env("GIT_TERMINAL_PROMPT", "0")
        .output();
    let ran =
        ran.map_err(|e| Failure::command_line(format!("the program git cannot be run: {e}")))?;
    if !ran.status.success() {
        let why = String::from_utf8_lossy(&ran.stderr);
        return Err(Failure::command_line(format!(
            "git {}: {}",
            args.join(" "),
            why.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// By the program curl, which knows the proxies and certificates of the machine.
pub(crate) fn download(url: &str) -> Result<Vec<u8>, Failure> {
    let limit = ARCHIVE_MAX.to_string();
    let ran = Command::new("curl")
        .args([
            "-fsSL",
            "--proto",
            "=http,https",
            "--max-filesize",
            &limit,
            "--",
            url,
        ])
        .output();
    let ran =
        ran.map_err(|e| Failure::command_line(format!("the program curl cannot be run: {e}")))?;
    if !ran.status.success() {
        let why = String::from_utf8_lossy(&ran.stderr);
        return Err(Failure::command_line(format!("`{url}`: {}", why.trim())));
    }
    Ok(ran.stdout)
}
