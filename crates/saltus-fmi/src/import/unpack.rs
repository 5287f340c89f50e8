//! Reading ZIP archives that may have been made to do harm.
//!
//! No entry leaves the folder: names with `..`, a root or a drive are refused. Links are not made. Sizes are bounded before memory is taken, and what an entry says of its size
//! is checked against what comes out.

use std::path::{Path, PathBuf};

/// All contents together, in bytes.
const SIZE_MAX: u64 = 2 << 30;
const ENTRIES_MAX: usize = 20_000;
const NAME_MAX: usize = 4096;

const CENTRAL: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const END: &[u8] = b"PK\x05\x06";
const END_SIZE: usize = 22;
const COMMENT_MAX: usize = 65_535;

struct Entry {
    name: String,
    method: u16,
    is_encrypted: bool,
    crc: u32,
    packed: usize,
    size: usize,
    offset: usize,
}

/// Unpacks what a run needs into a folder.
pub(super) fn unpack(archive: &[u8], folder: &Path) -> Result<(), String> {
    let mut total = 0_u64;
    for entry in directory(archive)? {
        total += entry.size as u64;
        if total > SIZE_MAX {
            return Err(format!("the archive unpacks to more than {SIZE_MAX} bytes"));
        }
        let path = inside(folder, &entry.name)?;
        if entry.name.ends_with('/') {
            std::fs::create_dir_all(&path).map_err(|e| e.to_string())?;
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| e.to_string())?;
        }
        let contents = contents(archive, &entry)?;
        std::fs::write(&path, contents).map_err(|e| format!("`{}`: {e}", entry.name))?;
    }
    Ok(())
}

/// The path of an entry, which is below the folder.
fn inside(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let refused = |why: &str| Err(format!("the archive is refused: its entry {name:?} {why}"));
    if name.len() > NAME_MAX {
        return Err("the archive is refused: the name of an entry is too long".to_owned());
    }
    if name.starts_with(['/', '\\']) || name.contains('\0') || name.contains(':') {
        return refused("has a name that is no path below a folder");
    }
    let mut path = folder.to_owned();
    for part in name.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => return refused("leads out of the folder"),
            part => path.push(part),
        }
    }
    Ok(path)
}

fn directory(archive: &[u8]) -> Result<Vec<Entry>, String> {
    let no_archive = || "the file is no ZIP archive, or it is damaged".to_owned();
    let last = archive.len().checked_sub(END_SIZE).ok_or_else(no_archive)?;
    let first = last.saturating_sub(COMMENT_MAX);
    let end = (first..=last)
        .rev()
        .find(|&k| archive[k..].starts_with(END))
        .ok_or_else(no_archive)?;
    let count = usize::from(u16_at(archive, end + 10).ok_or_else(no_archive)?);
    let mut at = u32_at(archive, end + 16).ok_or_else(no_archive)? as usize;
    if count > ENTRIES_MAX {
        return Err(format!("the archive has more than {ENTRIES_MAX} entries"));
    }
    let mut entries = Vec::new();
    for _ in 0..count {
        let entry = entry(archive, &mut at).ok_or_else(no_archive)?;
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(archive: &[u8], at: &mut usize) -> Option<Entry> {
    let start = *at;
    if !archive.get(start..)?.starts_with(CENTRAL) {
        return None;
    }
    let length = |offset| Some(usize::from(u16_at(archive, start + offset)?));
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let name_at = start + 46;
    *at = name_at + name + extra + comment;
    Some(Entry {
        name: String::from_utf8_lossy(archive.get(name_at..name_at + name)?).into_owned(),
        is_encrypted: u16_at(archive, start + 8)? & 1 != 0,
        method: u16_at(archive, start + 10)?,
        crc: u32_at(archive, start + 16)?,
        packed: u32_at(archive, start + 20)? as usize,
        size: u32_at(archive, start + 24)? as usize,
        offset: u32_at(archive, start + 42)? as usize,
    })
}

fn contents(archive: &[u8], entry: &Entry) -> Result<Vec<u8>, String> {
    let damaged = || format!("the entry {:?} of the archive is damaged", entry.name);
    if entry.is_encrypted {
        return Err(format!(
            "the entry {:?} of the archive is encrypted",
            entry.name
        ));
    }
    let start = entry.offset;
    if !archive
        .get(start..)
        .is_some_and(|rest| rest.starts_with(LOCAL))
    {
        return Err(damaged());
    }
    let length = |offset| {
        u16_at(archive, start + offset)
            .map(usize::from)
            .ok_or_else(damaged)
    };
    let data = start + 30 + length(26)? + length(28)?;
    let packed = archive
        .get(data..data.saturating_add(entry.packed))
        .ok_or_else(damaged)?;
    let contents = match entry.method {
        0 => packed.to_vec(),
        8 => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, entry.size)
            .map_err(|_| damaged())?,
        method => {
            return Err(format!(
                "the entry {:?} of the archive is packed by method {method}, and only deflate is known",
                entry.name
            ));
        }
    };
    match contents.len() == entry.size && crc32fast::hash(&contents) == entry.crc {
        true => Ok(contents),
        false => Err(damaged()),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes([two[0], two[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::ArchiveWriter;

    fn unpacked(archive: &[u8]) -> Result<Vec<String>, String> {
        let folder =
            saltus::private_folder::PrivateFolder::new("unpack").map_err(|e| e.to_string())?;
        unpack(archive, folder.path())?;
        let entries = std::fs::read_dir(folder.path()).map_err(|e| e.to_string())?;
        let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
        Ok(names.collect())
    }

    fn archive(name: &str) -> Vec<u8> {
        let mut writer = ArchiveWriter::new();
        writer.add(name, b"contents, contents, contents");
        writer.finish()
    }

    #[test]
    fn what_was_written_is_read() {
        assert_eq!(unpacked(&archive("a.txt")), Ok(vec!["a.txt".to_owned()]));
        assert_eq!(unpacked(&archive("a/b/c.txt")), Ok(vec!["a".to_owned()]));
    }

    #[test]
    fn no_entry_leaves_the_folder() {
        for name in ["../a", "a/../../b", "/etc/a", "..\\a", "C:\\a", "a\0b"] {
            assert!(unpacked(&archive(name)).is_err(), "{name:?}");
        }
    }

    #[test]
    fn damaged_archives_are_errors() {
        let whole = archive("a.txt");
        for cut in 0..whole.len() {
            assert!(unpacked(&whole[..cut]).is_err(), "{cut}");
        }
        // Every byte changed in several ways: an error or the same names, never a panic.
        for k in 0..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut other = whole.clone();
                other[k] ^= change;
                let _ = unpacked(&other);
            }
        }
        // A size that the contents do not have.
        let mut bomb = whole.clone();
        let at = bomb
            .windows(4)
            .position(|w| w == CENTRAL)
            .expect("a directory");
        bomb[at + 24..at + 28].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(unpacked(&bomb).is_err());
    }
}
