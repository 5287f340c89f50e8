//! Functional Mock-up Units: models as files that other simulators run, by the standard FMI 2.0 and 3.0 (<https://fmi-standard.org>).
//!
//! Comes in: a compiled [`saltus::Model`] and the [`Runtime`], a shared library with the simulator inside (crate `saltus-fmu`). Goes out: an archive with the
//! library under the name of the model, the model as bytes, and the description. No compiler takes part.
//!
//! | file | what it owns |
//! |---|---|
//! | `interface` | which variables an FMU shows, and under which numbers: the same for the description and for the library |
//! | `describe` | `modelDescription.xml` of both versions |
//! | `units` | units as powers of the base units, display units as factor and offset |
//! | `export` | the archive |
//! | `archive` | writing ZIP |
//! | `runtime` | the library: inside of the program, or beside it |
//! | `import` | running FMUs of anybody |
//! | `abi` | the C types of the standard |

pub mod abi;
pub mod archive;
mod describe;
mod export;
pub mod import;
pub mod interface;
mod runtime;
mod units;
mod xml;

pub use export::{Export, FmiVersion, Kinds, platform, token};
pub use interface::Interface;
pub use runtime::{Embedded, Runtime, library_name};

/// Where the model is inside of an FMU, below `resources`.
pub const MODEL_FILE: &str = "model.saltus";
