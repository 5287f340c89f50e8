//! The shared library that runs a model inside of an FMU.

use crate::archive::Deflated;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A library that a program holds inside of itself, deflated. An empty one is none: it was not there when the program was built.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    pub deflated: &'static [u8],
    pub crc: u32,
    pub size: u32,
}

/// The library of crate `saltus-fmu`, deflated.
#[derive(Clone, Debug)]
pub struct Runtime {
    deflated: Cow<'static, [u8]>,
    crc: u32,
    size: u32,
}

const LEVEL: u8 = 6;

impl Runtime {
    /// The one inside of this program; if there is none, the one beside it.
    pub fn find(embedded: Embedded) -> Result<Runtime, String> {
        if !embedded.deflated.is_empty() {
            return Ok(Runtime {
                deflated: Cow::Borrowed(embedded.deflated),
                crc: embedded.crc,
                size: embedded.size,
            });
        }
        let places = beside_program();
        match places.iter().find(|path| path.is_file()) {
            Some(path) => Runtime::from_file(path),
            None => Err(format!(
                "this program was built without the library that runs a model inside of an FMU, and it is not beside the program either: looked for {}\n\
                 help: build the program again with `cargo build --release`",
                places
                    .iter()
                    .map(|p| format!("`{}`", p.display()))
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
        }
    }

    pub fn from_file(path: &Path) -> Result<Runtime, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("`{}`: {e}", path.display()))?;
        Ok(Runtime {
            deflated: miniz_oxide::deflate::compress_to_vec(&bytes, LEVEL).into(),
            crc: crc32fast::hash(&bytes),
            size: bytes.len() as u32,
        })
    }

    pub(crate) fn contents(&self) -> Deflated<'_> {
        Deflated {
            bytes: &self.deflated,
            crc: self.crc,
            size: self.size,
        }
    }
}

/// The file name of the library on this platform.
pub fn library_name() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}saltus_fmu{DLL_SUFFIX}")
}

/// Where cargo and installations put it.
fn beside_program() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let Some(folder) = program
        .ok()
        .and_then(|path| Some(path.parent()?.to_owned()))
    else {
        return vec![PathBuf::from(library_name())];
    };
    let name = library_name();
    vec![
        folder.join(&name),
        folder.join("deps").join(&name),
        folder.join("../lib/saltus").join(&name),
    ]
}
