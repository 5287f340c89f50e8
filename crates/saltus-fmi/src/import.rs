//! Running FMUs of anybody.
//!
//! Comes in: an archive. It is unpacked into a folder of its own, its description read, its library opened. Goes out: a run over time, by the FMU's own integrator
//! (co-simulation) or by ours (model exchange, behind the contract of `saltus-model`).
//!
//! A library is foreign code: it can do whatever the process can do. Whoever calls [`Fmu::instantiate`] has asked the user.

mod binary;
mod channels;
mod co_simulation;
mod description;
mod instance;
mod model_exchange;
mod unpack;

pub use co_simulation::{CoSimulation, Ended};
pub use description::{Causality, Description, FmuType, FmuVariable};
pub use instance::Kind;
pub use model_exchange::FmuModel;

use crate::{FmiVersion, platform};
use instance::Instance;
use saltus::private_folder::PrivateFolder;
use std::path::{Path, PathBuf};

/// An FMU that was unpacked. Its folder goes away with it.
pub struct Fmu {
    pub description: Description,
    folder: PrivateFolder,
}

impl Fmu {
    /// Unpacks an archive and reads its description. Nothing of it is run.
    pub fn open(path: &Path) -> Result<Fmu, String> {
        let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
        Fmu::from_bytes(&bytes)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Fmu, String> {
        let folder = PrivateFolder::new("fmu").map_err(|e| e.to_string())?;
        unpack::unpack(bytes, folder.path())?;
        let path = folder.path().join("modelDescription.xml");
        let text = std::fs::read_to_string(&path)
            .map_err(|e| format!("the archive has no readable modelDescription.xml: {e}"))?;
        let description = Description::parse(&text)?;
        Ok(Fmu {
            description,
            folder,
        })
    }

    pub fn version(&self) -> FmiVersion {
        self.description.version
    }

    /// The library for this platform, if the FMU has one.
    pub fn binary(&self, kind: Kind) -> Result<PathBuf, String> {
        let identifier = (self.description.identifier(kind))
            .ok_or_else(|| format!("`{}` has no {kind} interface", self.description.model_name))?;
        let platform = platform(self.version());
        let name = format!("{identifier}{}", std::env::consts::DLL_SUFFIX);
        let path = self
            .folder
            .path()
            .join("binaries")
            .join(&platform)
            .join(name);
        match path.is_file() {
            true => Ok(path),
            false => Err(format!(
                "`{}` has no library for {platform}: ask those who made it for one",
                self.description.model_name
            )),
        }
    }

    fn instantiate(&self, kind: Kind) -> Result<Instance, String> {
        let resources = self.folder.path().join("resources");
        Instance::new(&self.description, &self.binary(kind)?, &resources, kind)
    }
}
