//! `ModelicaInternal_*`, `system` and `exit`: files, folders, the environment, the clock, commands.
//!
//! The working folder and the environment variables that a model sets are those of its run, not of the process: runs go on in parallel. Whether something may be
//! changed is the matter of the [`Host`](super::Host).

use super::{Args, Change, FileKind, Objects, Order, Reply};
use crate::Value;
use std::borrow::Cow;

/// What a run has changed of its surroundings, for itself.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Surroundings {
    /// `None`: the working folder of the process.
    folder: Option<String>,
    /// In the order in which they were first set.
    environment: Vec<(String, String)>,
}

/// What is said when a model calls `exit`.
pub(super) fn left(status: i64) -> String {
    format!("the model ended the run: it called `exit` with status {status}")
}

fn is_relative(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    !(path.starts_with(['/', '\\']) || path.contains("://") || drive)
}

impl Objects {
    /// A path as the host takes it.
    pub(super) fn place<'a>(&self, path: &'a str) -> Cow<'a, str> {
        match &self.surroundings.folder {
            Some(folder) if is_relative(path) => Cow::Owned(format!("{folder}/{path}")),
            _ => Cow::Borrowed(path),
        }
    }

    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.host.read(&self.place(path))
    }

    fn lines(&self, path: &str) -> Result<Vec<String>, String> {
        let bytes = self.read(path)?;
        let content = String::from_utf8_lossy(&bytes);
        Ok(content.lines().map(str::to_owned).collect())
    }

    fn working_folder(&self) -> Result<String, String> {
        match &self.surroundings.folder {
            Some(folder) => Ok(folder.clone()),
            None => self.host.folder("."),
        }
    }

    fn change(&self, change: &Change<'_>) -> Result<Reply, String> {
        self.host.change(change)?;
        Ok(Reply::default())
    }

    pub(super) fn command(&mut self, text: &str) -> Result<Reply, String> {
        let (code, said) = self.host.command(&Order {
            text,
            folder: self.surroundings.folder.as_deref(),
            environment: &self.surroundings.environment,
        })?;
        self.messages.extend(said);
        Ok(Reply::integer(code))
    }

    /// `ModelicaInternal_…`, the arguments in the order of the C interface.
    pub(super) fn internal(&mut self, what: &str, a: &Args) -> Result<Reply, String> {
        match what {
            "print" => {
                let (text, file) = (
                    a.text(0)?,
                    a.values.get(1).and_then(Value::as_str).unwrap_or(""),
                );
                if file.is_empty() {
                    self.messages.push(text.to_string());
                } else {
                    let place = self.place(file);
                    (self.host).write(&place, format!("{text}\n").as_bytes(), true)?;
                }
                Ok(Reply::default())
            }
            "mkdir" => self.change(&Change::MakeFolder(&self.place(a.text(0)?))),
            "rmdir" => self.change(&Change::RemoveFolder(&self.place(a.text(0)?))),
            "removeFile" => self.change(&Change::RemoveFile(&self.place(a.text(0)?))),
            "rename" => self.change(&Change::Rename {
                from: &self.place(a.text(0)?),
                to: &self.place(a.text(1)?),
            }),
            "copyFile" => self.change(&Change::Copy {
                from: &self.place(a.text(0)?),
                to: &self.place(a.text(1)?),
            }),
            "fullPathName" => Ok(Reply::string(self.host.full_path(&self.place(a.text(0)?))?)),
            "temporaryFileName" => Ok(Reply::string(self.host.temporary_name()?)),
            "stat" => Ok(Reply::integer(
                match self.host.kind(&self.place(a.text(0)?)) {
                    FileKind::Missing => 1,
                    FileKind::Regular => 2,
                    FileKind::Directory => 3,
                    FileKind::Special => 4,
                },
            )),
            "getNumberOfFiles" => {
                let names = self.host.list(&self.place(a.text(0)?))?;
                Ok(Reply::integer(names.len() as i64))
            }
            "readDirectory" => {
                let folder = a.text(0)?;
                let names = self.host.list(&self.place(folder))?;
                let wanted = a.size(1)?;
                if names.len() != wanted {
                    return Err(format!(
                        "`{folder}` holds {} files and folders, not {wanted}",
                        names.len()
                    ));
                }
                let names: Vec<Value> = (names.into_iter())
                    .map(|n| Value::String(n.into()))
                    .collect();
                Ok(Reply::written(vec![(2, Value::array(vec![wanted], names))]))
            }
            "countLines" => Ok(Reply::integer(self.lines(a.text(0)?)?.len() as i64)),
            "readLine" => {
                let lines = self.lines(a.text(0)?)?;
                let number = a.integer(1)?;
                if number < 1 {
                    return Err(format!("there is no line {number}: lines count from 1"));
                }
                let line = lines.get(number as usize - 1);
                Ok(Reply {
                    result: Some(Value::String(line.map_or("", String::as_str).into())),
                    written: vec![(2, Value::Boolean(line.is_none()))],
                })
            }
            "readFile" => {
                let lines: Vec<Value> = (self.lines(a.text(0)?)?.into_iter())
                    .map(|line| Value::String(line.into()))
                    .collect();
                Ok(Reply::written(vec![(
                    1,
                    Value::array(vec![lines.len()], lines),
                )]))
            }
            "getcwd" => Ok(Reply::string(self.working_folder()?)),
            "chdir" => {
                let folder = self.host.folder(&self.place(a.text(0)?))?;
                self.surroundings.folder = Some(folder);
                Ok(Reply::default())
            }
            // name, convertToSlash, content, exist
            "getenv" => {
                let name = a.text(0)?;
                let own = self
                    .surroundings
                    .environment
                    .iter()
                    .find(|(n, _)| n == name);
                let found = match own {
                    Some((_, content)) => Some(content.clone()),
                    None => self.host.variable(name),
                };
                let exists = found.is_some();
                let mut content = found.unwrap_or_default();
                if a.boolean(1)? {
                    content = content.replace('\\', "/");
                }
                Ok(Reply::written(vec![
                    (2, Value::String(content.into())),
                    (3, Value::Boolean(exists)),
                ]))
            }
            // name, content, convertFromSlash: to the separator of the system, which is the slash but on Windows.
            "setenv" => {
                let name = a.text(0)?;
                let mut content = a.text(1)?.to_owned();
                if a.boolean(2)? && cfg!(windows) {
                    content = content.replace('/', "\\");
                }
                if name.is_empty() || name.contains(['=', '\0']) || content.contains('\0') {
                    return Err(format!(
                        "`{name}` cannot be the name of an environment variable"
                    ));
                }
                let known = &mut self.surroundings.environment;
                match known.iter_mut().find(|(n, _)| n == name) {
                    Some((_, old)) => *old = content,
                    None => known.push((name.to_owned(), content)),
                }
                Ok(Reply::default())
            }
            // ms, sec, min, hour, day, mon, year
            "getTime" => {
                let now = self.host.clock()?;
                let parts = [
                    now.milliseconds,
                    now.second,
                    now.minute,
                    now.hour,
                    now.day,
                    now.month,
                    now.year,
                ];
                let written = parts.into_iter().map(Value::Integer).enumerate();
                Ok(Reply::written(written.collect()))
            }
            "getpid" => Ok(Reply::integer(self.host.process()?)),
            "exit" => Err(left(a.integer(0)?)),
            _ => Err(format!(
                "the external function `{}` is not available in Saltus",
                a.name
            )),
        }
    }
}
