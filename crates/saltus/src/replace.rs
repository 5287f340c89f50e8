//! Files that replace earlier ones.
//!
//! A file is written beside the place where it belongs and renamed when there is something in it. So nobody sees a file that is half there, and what was there before stays if
//! nothing can be written. Devices and pipes are not replaced but written to, and links are followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use saltus_results::{Medium, Uncuttable};

/// A file in the making.
pub struct Replacement {
    state: State,
    /// Without links.
    place: PathBuf,
    /// Where the earlier file has been put.
    previous: Option<PathBuf>,
}

enum State {
    /// A device or a pipe, written directly.
    Direct,
    /// Under this name until [`Replacement::publish`].
    Beside(PathBuf),
    /// Under the name that it was asked for.
    Published,
}

impl Replacement {
    /// Opens a file that becomes `path`.
    pub fn create(path: &Path) -> io::Result<(Replacement, File)> {
        // A link that leads nowhere is replaced.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_direct = fs::metadata(&place).is_ok_and(|there| !there.is_file());
        let (state, file) = if is_direct {
            let file = OpenOptions::new().write(true).open(&place)?;
            (State::Direct, file)
        } else {
            let (part, file) = create_beside(&place)?;
            (State::Beside(part), file)
        };
        let replacement = Replacement {
            state,
            place,
            previous: None,
        };
        Ok((replacement, file))
    }

    /// Whether the file is a device or a pipe.
    pub fn is_direct(&self) -> bool {
        matches!(self.state, State::Direct)
    }

    /// Whether the file has its name.
    pub fn is_published(&self) -> bool {
        !matches!(self.state, State::Beside(_))
    }

    /// Gives the file its name. An earlier file of that name is gone.
    pub fn publish(&mut self) -> io::Result<()> {
        if let State::Beside(part) = &self.state {
            fs::rename(part, &self.place)?;
            self.state = State::Published;
        }
        Ok(())
    }

    /// Gives the file its name. An earlier file of that name is kept, with `.previous` at its end, until [`Replacement::discard_previous`].
    pub fn publish_and_keep(&mut self) -> io::Result<()> {
        let State::Beside(_) = &self.state else {
            return Ok(());
        };
        if !self.place.is_file() {
            return self.publish();
        }
        let previous = previous_of(&self.place);
        fs::rename(&self.place, &previous)?;
        if let Err(e) = self.publish() {
            // As it was; if even that fails the earlier file is under its other name.
            let _ = fs::rename(&previous, &self.place);
            return Err(e);
        }
        self.previous = Some(previous);
        Ok(())
    }

    /// The earlier file, if it was kept.
    pub fn previous(&self) -> Option<&Path> {
        self.previous.as_deref()
    }

    /// The new file is good: the earlier one is not needed any more.
    pub fn discard_previous(&mut self) {
        if let Some(previous) = self.previous.take() {
            // One that stays does no harm.
            let _ = fs::remove_file(previous);
        }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let State::Beside(part) = &self.state {
            // It has no name, so nobody can want it.
            let _ = fs::remove_file(part);
        }
    }
}

/// A file for a result: one that can be cut, or a device.
pub enum ResultMedium {
    File(File),
    Device(Uncuttable<File>),
}

impl ResultMedium {
    pub fn new(replacement: &Replacement, file: File) -> ResultMedium {
        if replacement.is_direct() {
            ResultMedium::Device(Uncuttable(file))
        } else {
            ResultMedium::File(file)
        }
    }
}

impl Write for ResultMedium {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            ResultMedium::File(file) => file.write(bytes),
            ResultMedium::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            ResultMedium::File(file) => file.flush(),
            ResultMedium::Device(file) => file.flush(),
        }
    }
}

impl io::Seek for ResultMedium {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        match self {
            ResultMedium::File(file) => file.seek(to),
            ResultMedium::Device(file) => file.seek(to),
        }
    }
}

impl Medium for ResultMedium {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        match self {
            ResultMedium::File(file) => file.cut(len),
            ResultMedium::Device(file) => file.cut(len),
        }
    }

    fn extend(&mut self, len: u64) -> io::Result<()> {
        match self {
            ResultMedium::File(file) => file.extend(len),
            ResultMedium::Device(file) => file.extend(len),
        }
    }
}

/// Writes a file at once. If that fails the earlier one is as it was.
pub fn replace_file(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let (mut replacement, file) = Replacement::create(path)?;
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    out.flush()?;
    replacement.publish()
}

/// Names that are tried for a file in the making.
const NAMES_MAX: usize = 100;

/// A file beside `path` that was not there before: one that somebody else has made, or a link, is never used.
pub fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut result = Err(io::ErrorKind::AlreadyExists.into());
    for n in 0..NAMES_MAX {
        let part = with_ending(path, &format!(".{}-{n}.part", std::process::id()));
        result = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&part)
            .map(|file| (part, file));
        if !matches!(&result, Err(e) if e.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    result
}

/// The name under which an earlier file is kept.
pub fn previous_of(path: &Path) -> PathBuf {
    with_ending(path, ".previous")
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private_folder::PrivateFolder;

    #[test]
    fn a_file_that_cannot_be_written_leaves_the_earlier_one() {
        let folder = PrivateFolder::new("replace").unwrap();
        let path = folder.path().join("a.txt");
        replace_file(&path, |out| out.write_all(b"first")).unwrap();
        let error = replace_file(&path, |out| {
            out.write_all(b"second")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(error.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_earlier_file_is_kept_until_it_is_discarded() {
        let folder = PrivateFolder::new("replace").unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "first").unwrap();
        let (mut replacement, mut file) = Replacement::create(&path).unwrap();
        file.write_all(b"second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        replacement.publish_and_keep().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        let previous = replacement.previous().unwrap().to_owned();
        assert_eq!(fs::read_to_string(&previous).unwrap(), "first");
        replacement.discard_previous();
        assert!(!previous.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_stay() {
        let folder = PrivateFolder::new("replace").unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "first").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        replace_file(&link, |out| out.write_all(b"second")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert!(link.is_symlink());
    }
}
