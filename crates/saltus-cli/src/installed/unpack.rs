//! Unpacking of ZIP archives that may have been made to do harm: no entry leaves the folder, no links are made, sizes are bounded before memory is taken.
//! Method: the central directory (PKWARE APPNOTE 4.3.12), entries stored or deflated.

use std::path::{Path, PathBuf};

/// All contents together, in bytes.
const SIZE_MAX: u64 = 1 << 30;
const ENTRIES_MAX: usize = 60_000;
const END: &[u8] = b"PK\x05\x06";
const END_SIZE: usize = 22;
const COMMENT_MAX: usize = 65_535;
/// The kind of a file in the high half of Unix attributes: a link.
const LINK: u32 = 0o120_000;
const KIND: u32 = 0o170_000;

struct Entry {
    name: String,
    method: u16,
    is_encrypted: bool,
    is_link: bool,
    packed: usize,
    size: usize,
    offset: usize,
}

pub(crate) fn unpack(archive: &[u8], folder: &Path) -> Result<(), String> {
    let entries = directory(archive).ok_or("it is no ZIP archive, or it is damaged")?;
    let total: u64 = entries.iter().map(|entry| entry.size as u64).sum();
    if total > SIZE_MAX {
        return Err(format!("it unpacks to more than {SIZE_MAX} bytes"));
    }
    for entry in entries {
        let path = inside(folder, &entry.name)?;
        if entry.is_link {
            return Err(format!("its entry {:?} is a link", entry.name));
        }
        let io = |e: std::io::Error| format!("`{}`: {e}", path.display());
        if entry.name.ends_with('/') {
            std::fs::create_dir_all(&path).map_err(io)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(io)?;
        }
        let bytes = contents(archive, &entry).ok_or_else(|| {
            format!(
                "its entry {:?} is damaged, or packed in another way than deflated",
                entry.name
            )
        })?;
        std::fs::write(&path, bytes).map_err(io)?;
    }
    Ok(())
}

/// The path of an entry, which is below the folder.
fn inside(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let mut path = folder.to_owned();
    let is_rooted = name.starts_with(['/', '\\']) || name.contains([':', '\0']);
    for part in name.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => return Err(format!("its entry {name:?} leads out of the folder")),
            part => path.push(part),
        }
    }
    if is_rooted {
        return Err(format!("its entry {name:?} has no path below a folder"));
    }
    Ok(path)
}

fn directory(archive: &[u8]) -> Option<Vec<Entry>> {
    let last = archive.len().checked_sub(END_SIZE)?;
    let first = last.saturating_sub(COMMENT_MAX);
    let end = (first..=last)
        .rev()
        .find(|&at| archive[at..].starts_with(END))?;
    let count = usize::from(u16_at(archive, end + 10)?);
    if count > ENTRIES_MAX {
        return None;
    }
    let mut at = u32_at(archive, end + 16)? as usize;
    (0..count).map(|_| entry(archive, &mut at)).collect()
}

fn entry(archive: &[u8], at: &mut usize) -> Option<Entry> {
    let start = *at;
    if archive.get(start..start.checked_add(4)?)? != b"PK\x01\x02" {
        return None;
    }
    let length = |offset| u16_at(archive, start + offset).map(usize::from);
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let name_at = start + 46;
    *at = name_at + name + extra + comment;
    Some(Entry {
        name: String::from_utf8_lossy(archive.get(name_at..name_at + name)?).into_owned(),
        is_encrypted: u16_at(archive, start + 8)? & 1 != 0,
        method: u16_at(archive, start + 10)?,
        packed: u32_at(archive, start + 20)? as usize,
        size: u32_at(archive, start + 24)? as usize,
        is_link: (u32_at(archive, start + 38)? >> 16) & KIND == LINK,
        offset: u32_at(archive, start + 42)? as usize,
    })
}

fn contents(archive: &[u8], entry: &Entry) -> Option<Vec<u8>> {
    let start = entry.offset;
    if entry.is_encrypted || archive.get(start..start.checked_add(4)?)? != b"PK\x03\x04" {
        return None;
    }
    let names =
        usize::from(u16_at(archive, start + 26)?) + usize::from(u16_at(archive, start + 28)?);
    let data = start + 30 + names;
    let packed = archive.get(data..data.checked_add(entry.packed)?)?;
    let bytes = match entry.method {
        0 => packed.to_vec(),
        8 => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, entry.size).ok()?,
        _ => return None,
    };
    (bytes.len() == entry.size).then_some(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::inside;
    use std::path::Path;

    #[test]
    fn no_entry_leaves_the_folder() {
        for wrong in ["../a", "a/../../b", "/etc/passwd", "C:\\a", "a\\..\\b"] {
            assert!(inside(Path::new("/x"), wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            inside(Path::new("/x"), "a/./b").as_deref(),
            Ok(Path::new("/x/a/b"))
        );
    }
}
