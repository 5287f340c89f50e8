//! What a long job of many parts has already done, so that a job that was ended goes on: one JSON object per line, the first says under which
//! conditions the others were made.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Size of a file and when it was made: which of many builds or versions it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FileMark {
    bytes: u64,
    seconds: u64,
}

impl FileMark {
    /// That of a file that is not there is that of no file.
    pub fn of(path: &Path) -> FileMark {
        let about = fs::metadata(path).ok();
        let modified = about.as_ref().and_then(|m| m.modified().ok());
        let age = modified.and_then(|t| t.duration_since(UNIX_EPOCH).ok());
        FileMark {
            bytes: about.map_or(0, |m| m.len()),
            seconds: age.map_or(0, |age| age.as_secs()),
        }
    }
}

/// A journal that is open for further parts.
pub struct Journal {
    file: File,
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
    /// is as if it had not been.
    pub fn open<K, T>(path: &Path, conditions: &K) -> Result<(Journal, Vec<T>), String>
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
        let parts = if same {
            lines
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect()
        } else {
            Vec::new()
        };
        let opened = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .and_then(|mut file| {
                if same {
                    file.set_len(whole.len() as u64)?;
                    file.seek(SeekFrom::End(0))?;
                } else {
                    file.set_len(0)?;
                    file.write_all((serde_json::to_string(conditions)? + "\n").as_bytes())?;
                }
                Ok(file)
            });
        match opened {
            Ok(file) => Ok((Journal { file, shown }, parts)),
            Err(e) => Err(format!("{shown}: {e}")),
        }
    }

    /// Notes a finished part.
    pub fn add<T: Serialize>(&mut self, part: &T) -> Result<(), String> {
        let line = serde_json::to_string(part).map_err(|e| e.to_string())? + "\n";
        (self.file.write_all(line.as_bytes())).map_err(|e| format!("{}: {e}", self.shown))
    }
}
