//! The archive of an FMU.
//!
//! ```text
//! modelDescription.xml
//! binaries/<platform>/<identifier>.so    the runtime, under the name that the standard asks for
//! resources/model.saltus                 the compiled model with its settings
//! ```

use crate::archive::ArchiveWriter;
use crate::describe::{Subject, describe};
use crate::interface::Interface;
use crate::{MODEL_FILE, Runtime};
use saltus::{Error, Model};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FmiVersion {
    V2,
    V3,
}

/// Which interfaces the FMU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kinds {
    pub co_simulation: bool,
}

/// What is to be exported, and how.
pub struct Export<'m> {
    model: &'m Model,
    version: FmiVersion,
    kinds: Kinds,
    with_sources: bool,
}

impl<'m> Export<'m> {
    /// For co-simulation, without the source of the model.
    pub fn new(model: &'m Model, version: FmiVersion) -> Export<'m> {
        Export {
            model,
            version,
            kinds: Kinds {
                co_simulation: true,
            },
            with_sources: false,
        }
    }

    /// The texts of the model go into the FMU.
    pub fn with_sources(mut self, on: bool) -> Self {
        self.with_sources = on;
        self
    }

    /// The bytes of the FMU.
    pub fn to_bytes(&self, runtime: &Runtime) -> Result<Vec<u8>, Error> {
        let stored = match self.with_sources {
            true => self.model.to_bytes(),
            false => self.model.without_source().to_bytes(),
        };
        let interface = Interface::new(self.model);
        let identifier = identifier(self.model.name());
        let description = describe(
            &Subject {
                model: self.model,
                interface: &interface,
                identifier: &identifier,
                token: &token(&stored),
                kinds: self.kinds,
                has_state: true,
            },
            self.version,
        );
        let mut archive = ArchiveWriter::new();
        archive.add("modelDescription.xml", description.as_bytes());
        archive.add_deflated(
            &format!(
                "binaries/{}/{identifier}{}",
                platform(self.version),
                std::env::consts::DLL_SUFFIX
            ),
            runtime.contents(),
        );
        archive.add(&format!("resources/{MODEL_FILE}"), &stored);
        Ok(archive.finish())
    }
}

/// The folder of this platform's libraries.
pub fn platform(version: FmiVersion) -> String {
    use std::env::consts::{ARCH, OS};
    match version {
        FmiVersion::V2 => {
            let system = match OS {
                "windows" => "win",
                "macos" => "darwin",
                other => other,
            };
            format!("{system}{}", usize::BITS)
        }
        FmiVersion::V3 => {
            let system = match OS {
                "macos" => "darwin",
                other => other,
            };
            format!("{ARCH}-{system}")
        }
    }
}

/// The name of a class as an identifier of C.
fn identifier(class: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut name: String = (class.chars())
        .map(|c| if is_part(c) { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    name
}

/// Tells FMUs apart: two FNV-1a sums (Fowler, Noll, Vo) of the model, in the form of a GUID.
pub fn token(model: &[u8]) -> String {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let sum = |basis: u64| {
        (model.iter()).fold(basis, |sum, byte| {
            (sum ^ u64::from(*byte)).wrapping_mul(PRIME)
        })
    };
    let (a, b) = (sum(0xcbf2_9ce4_8422_2325), sum(0x8422_2325_cbf2_9ce4));
    format!(
        "{{{:08x}-{:04x}-{:04x}-{:04x}-{:012x}}}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xffff,
        b >> 48,
        b & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_of_c() {
        assert_eq!(
            identifier("Modelica.Blocks.Examples.PID_Controller"),
            "Modelica_Blocks_Examples_PID_Controller"
        );
        assert_eq!(identifier("'a b'"), "_a_b_");
        assert_eq!(identifier("1x"), "_1x");
    }
}
