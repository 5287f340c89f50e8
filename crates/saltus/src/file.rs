//! The form of what Saltus writes for itself: compiled models and states of runs.
//!
//! ```text
//! 8 bytes   what it is: "saltus:m" or "saltus:s"
//! 4 bytes   version of the form, little-endian
//! 8 bytes   checksum of all that follows (FNV-1a, 64 bits)
//! …         the content, as `postcard` writes it
//! ```
//! Another version is refused: the content follows the data structures of the program.

use crate::error::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Goes up with every change of what is written.
const VERSION: u32 = 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    State,
}

impl Kind {
    fn mark(self) -> &'static [u8; 8] {
        match self {
            Kind::State => b"saltus:s",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::State => "state of a run",
        }
    }
}

const HEADER: usize = 8 + 4 + 8;

/// FNV-1a (Fowler, Noll, Vo), word by word: fast, and enough against damage.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        sum = (sum ^ word).wrapping_mul(PRIME);
        sum ^= sum >> 29;
    }
    for byte in words.remainder() {
        sum = (sum ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    sum ^ bytes.len() as u64
}

pub(crate) fn write(kind: Kind, content: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    bytes = match postcard::to_extend(content, bytes) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("writing to memory: {error}"),
    };
    let sum = checksum(&bytes[HEADER..]);
    bytes[..8].copy_from_slice(kind.mark());
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..HEADER].copy_from_slice(&sum.to_le_bytes());
    bytes
}

pub(crate) fn read<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T, Error> {
    let refused = |why: &str| Error::Usage(format!("the bytes are no {}: {why}", kind.name()));
    if bytes.len() < HEADER || &bytes[..8] != kind.mark() {
        return Err(refused("they do not begin as one does"));
    }
    let number = |at: std::ops::Range<usize>| -> u64 {
        (bytes[at].iter().rev()).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let version = number(8..12);
    if version != u64::from(VERSION) {
        return Err(refused(&format!(
            "they have version {version} of the form, and this program reads {VERSION}"
        )));
    }
    if number(12..HEADER) != checksum(&bytes[HEADER..]) {
        return Err(refused("they are damaged"));
    }
    postcard::from_bytes(&bytes[HEADER..])
        .map_err(|error| refused(&format!("they cannot be read ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_damage_is_seen() {
        let content = (1.5f64, vec![1u32, 2, 3], Some("text".to_owned()));
        let bytes = write(Kind::State, &content);
        let back: (f64, Vec<u32>, Option<String>) = read(Kind::State, &bytes).unwrap();
        assert_eq!(back, content);
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1;
            let read: Result<(f64, Vec<u32>, Option<String>), Error> = read(Kind::State, &damaged);
            assert!(read.is_err(), "byte {i}");
        }
        assert!(read::<u8>(Kind::State, &bytes[..10]).is_err());
    }
}
