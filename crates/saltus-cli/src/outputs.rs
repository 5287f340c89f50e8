//! Files that a command writes: each must be a file of its own, and none that the command reads. Whoever mixes them up learns it before anything is written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// A file that is going to be written.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// The option that names it.
    option: &'static str,
    path: PathBuf,
}

/// Outputs of a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outputs(Vec<Output>);

impl Outputs {
    pub(crate) fn add<'p>(
        &mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) {
        // Standard output is no file.
        let files = paths.into_iter().filter(|path| **path != Path::new("-"));
        self.0.extend(files.map(|path| Output {
            option,
            path: path.clone(),
        }));
    }

    /// No two outputs are one file, by whatever names and links. Devices may be named twice.
    pub(crate) fn check_distinct(&self) -> Result<(), Failure> {
        let known: Vec<Option<Identity>> = self.0.iter().map(|o| Identity::of(&o.path)).collect();
        for (i, first) in self.0.iter().enumerate() {
            for (k, second) in self.0.iter().enumerate().skip(i + 1) {
                if known[i].is_some() && known[i] == known[k] {
                    return Err(Failure::command_line(format!(
                        "{} `{}` and {} `{}` are the same file",
                        first.option,
                        first.path.display(),
                        second.option,
                        second.path.display()
                    )));
                }
            }
        }
        Ok(())
    }

    /// No output is a file that is read.
    pub(crate) fn check_not_read(&self, read: &[PathBuf]) -> Result<(), Failure> {
        let outputs: Vec<(Identity, &Output)> = (self.0.iter())
            .filter_map(|output| Some((Identity::of(&output.path)?, output)))
            .collect();
        // Most commands have one or two outputs and read many files, few of which have the same name.
        for path in read.iter().filter(|path| path.is_file()) {
            let Some(identity) = Identity::of(path) else {
                continue;
            };
            if let Some((_, output)) = outputs.iter().find(|(own, _)| *own == identity) {
                return Err(Failure::command_line(format!(
                    "{} `{}` would replace a file that is read: `{}`",
                    output.option,
                    output.path.display(),
                    path.display()
                )));
            }
        }
        Ok(())
    }
}

/// What a path leads to, the same for all paths that lead there; `None` for devices, pipes and folders that are not there.
#[derive(PartialEq)]
enum Identity {
    #[cfg(unix)]
    File { device: u64, number: u64 },
    /// A file that is not there yet, or whose number is not known.
    Place(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        match fs::metadata(path) {
            Ok(there) if !there.is_file() => None,
            #[cfg(unix)]
            Ok(there) => {
                use std::os::unix::fs::MetadataExt;
                Some(Identity::File {
                    device: there.dev(),
                    number: there.ino(),
                })
            }
            #[cfg(not(unix))]
            Ok(_) => path.canonicalize().ok().map(Identity::Place),
            Err(_) => {
                let folder = match path.parent() {
                    Some(folder) if !folder.as_os_str().is_empty() => folder,
                    _ => Path::new("."),
                };
                let place = folder.canonicalize().ok()?.join(path.file_name()?);
                Some(Identity::Place(place))
            }
        }
    }
}

/// A folder for results must not be a package of sources.
pub(crate) fn check_folder(option: &str, folder: &Path) -> Result<(), Failure> {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    match full.ancestors().find(|f| f.join("package.mo").exists()) {
        None => Ok(()),
        Some(package) => Err(Failure::command_line(format!(
            "{option} `{}`: results do not belong among sources (`{}` is a package)",
            folder.display(),
            package.display()
        ))),
    }
}
