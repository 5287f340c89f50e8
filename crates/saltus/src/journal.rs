//! What a long job of many parts has already done, so that a job that was ended goes on: one JSON object per line, the first says under which
//! conditions the others were made.

use rustc_hash::FxHashMap;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::replace::replace_file;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Which of many builds of the program this is: its size and when it was made.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProgramMark {
    version: String,
    bytes: u64,
    nanoseconds: u128,
}

impl ProgramMark {
    /// A program that cannot be looked at differs from every one that can.
    pub fn of(path: &Path) -> ProgramMark {
        let about = fs::metadata(path).ok();
        let modified = about.as_ref().and_then(|m| m.modified().ok());
        let age = modified.and_then(|t| t.duration_since(UNIX_EPOCH).ok());
        ProgramMark {
            version: crate::VERSION.to_owned(),
            bytes: about.map_or(0, |m| m.len()),
            nanoseconds: age.map_or(0, |age| age.as_nanos()),
        }
    }
}

/// What was found at a path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fingerprint {
    path: PathBuf,
    found: Found,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Found {
    Nothing,
    /// By its content.
    File {
        bytes: u64,
        hash: u64,
    },
    /// By the Modelica files and packages in it.
    Folder {
        hash: u64,
    },
    /// It is there and cannot be read.
    Unreadable,
}

impl Found {
    fn at(path: &Path) -> Found {
        let Ok(about) = fs::metadata(path) else {
            return Found::Nothing;
        };
        if about.is_dir() {
            let Ok(entries) = fs::read_dir(path) else {
                return Found::Unreadable;
            };
            let mut names: Vec<_> = entries
                .flatten()
                .filter(|e| {
                    let path = e.path();
                    path.extension().is_some_and(|e| e == "mo") || path.join("package.mo").is_file()
                })
                .map(|e| e.file_name())
                .collect();
            names.sort();
            return Found::Folder { hash: hash(&names) };
        }
        // A pipe or a device has no content of its own.
        if !about.is_file() {
            return Found::Unreadable;
        }
        let mut hasher = DefaultHasher::new();
        let mut piece = vec![0; PIECE_BYTES];
        let Ok(mut file) = File::open(path) else {
            return Found::Unreadable;
        };
        let mut bytes = 0;
        loop {
            match file.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => {
                    hasher.write(&piece[..n]);
                    bytes += n as u64;
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Found::Unreadable,
            }
        }
        Found::File {
            bytes,
            hash: hasher.finish(),
        }
    }
}

/// Files are read in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Looks at paths, at each once.
#[derive(Default)]
pub struct Fingerprints {
    known: FxHashMap<PathBuf, Found>,
}

impl Fingerprints {
    pub fn of(&mut self, path: &Path) -> Fingerprint {
        let found = *(self.known.entry(path.to_owned())).or_insert_with(|| Found::at(path));
        Fingerprint {
            path: path.to_owned(),
            found,
        }
    }

    /// Whether everything is as it was.
    pub fn agree(&mut self, before: &[Fingerprint]) -> bool {
        before.iter().all(|one| self.of(&one.path) == *one)
    }
}

/// A journal that is open for further parts.
pub struct Journal {
    file: File,
    /// Its length.
    end: u64,
    shown: String,
}

impl Journal {
    /// Where the journal of a job with this result is.
    pub fn beside(result: &Path) -> PathBuf {
        let mut name = result.as_os_str().to_owned();
        name.push(".journal");
        PathBuf::from(name)
    }

    /// Goes on with the journal of a job under the same conditions and gives its parts, or begins a new one. A last line that was cut off
    /// is as if it had not been. `holds` says which parts still hold; the others are dropped.
    pub fn open<K, T>(
        path: &Path,
        conditions: &K,
        mut holds: impl FnMut(&T) -> bool,
    ) -> Result<(Journal, Vec<T>), String>
    where
        K: Serialize + DeserializeOwned + PartialEq,
        T: DeserializeOwned,
    {
        let shown = path.display().to_string();
        let text = fs::read_to_string(path).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines();
        let same = lines
            .next()
            .and_then(|line| serde_json::from_str::<K>(line).ok())
            .is_some_and(|found| found == *conditions);
        let parts: Vec<(&str, T)> = if same {
            lines
                .filter_map(|line| Some((line, serde_json::from_str(line).ok()?)))
                .filter(|(_, part)| holds(part))
                .collect()
        } else {
            Vec::new()
        };
        let kept: String = (parts.iter()).flat_map(|(line, _)| [*line, "\n"]).collect();
        let content = serde_json::to_string(conditions).map_err(|e| e.to_string())? + "\n" + &kept;
        // What is kept is written beside first: a journal is never half there.
        let opened = (|| {
            if content != whole {
                replace_file(path, |out| out.write_all(content.as_bytes()))?;
            }
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(content.len() as u64)?;
            file.seek(SeekFrom::End(0))?;
            Ok::<File, std::io::Error>(file)
        })();
        match opened {
            Ok(file) => Ok((
                Journal {
                    file,
                    end: content.len() as u64,
                    shown,
                },
                parts.into_iter().map(|(_, part)| part).collect(),
            )),
            Err(e) => Err(format!("{shown}: {e}")),
        }
    }

    /// Notes a finished part.
    pub fn add<T: Serialize>(&mut self, part: &T) -> Result<(), String> {
        let line = serde_json::to_string(part).map_err(|e| e.to_string())? + "\n";
        if let Err(e) = self.file.write_all(line.as_bytes()) {
            // A part of a line would spoil the next one. If it cannot be removed, it is as if it had not been.
            let cut = self.file.set_len(self.end);
            let _ = cut.and_then(|()| self.file.seek(SeekFrom::End(0)));
            return Err(format!("{}: {e}", self.shown));
        }
        self.end += line.len() as u64;
        Ok(())
    }
}
