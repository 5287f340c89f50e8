//! The library that goes into FMUs, inside of this program.

use saltus_fmi::{Embedded, Runtime};

const LIBRARY: (&[u8], u32, u32) = saltus_embed::shared_library!(saltus_fmu);

/// The library, or what is missing.
pub fn fmu_runtime() -> Result<Runtime, String> {
    let (deflated, crc, size) = LIBRARY;
    Runtime::find(Embedded {
        deflated,
        crc,
        size,
    })
}
