//! The form of what Saltus writes for itself: compiled models, states of runs, finished runs.
//!
//! ```text
//! 8 bytes   what it is: "saltus:m", "saltus:s" or "saltus:r"
//! 8 bytes   version of the form, little-endian: a checksum of the sources of the program (`build.rs`)
//! 8 bytes   checksum of all that follows (FNV-1a, 64 bits)
//! …         the content, as `postcard` writes it
//! ```
//! Another version is refused: the content follows the data structures of the program, and its meaning the code.

use crate::error::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the form.
const FORM: u64 = parse(env!("SALTUS_FORM"));

/// A number in decimals.
const fn parse(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut number, mut k) = (0u64, 0);
    while k < bytes.len() {
        number = number
            .wrapping_mul(10)
            .wrapping_add((bytes[k] - b'0') as u64);
        k += 1;
    }
    number
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Model,
    State,
    Run,
}

impl Kind {
    fn mark(self) -> &'static [u8; 8] {
        match self {
            Kind::Model => b"saltus:m",
            Kind::State => b"saltus:s",
            Kind::Run => b"saltus:r",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Model => "compiled model",
            Kind::State => "state of a run",
            Kind::Run => "finished run",
        }
    }

    fn cure(self) -> &'static str {
        match self {
            Kind::Model => "compile the model again from its source",
            Kind::State => "make the run again up to this point",
            Kind::Run => "make the run again",
        }
    }
}

const HEADER: usize = 8 + 8 + 8;

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
    bytes[8..16].copy_from_slice(&FORM.to_le_bytes());
    bytes[16..HEADER].copy_from_slice(&sum.to_le_bytes());
    bytes
}

pub(crate) fn refused(kind: Kind, why: &str) -> Error {
    Error::Usage(format!("the bytes are no {}: {why}", kind.name()))
}

pub(crate) fn read<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T, Error> {
    let refused = |why: &str| refused(kind, why);
    if bytes.len() < HEADER || &bytes[..8] != kind.mark() {
        return Err(refused("they do not begin as one does"));
    }
    let number = |at: std::ops::Range<usize>| -> u64 {
        (bytes[at].iter().rev()).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    if number(8..16) != FORM {
        return Err(Error::Usage(format!(
            "the bytes are a {} of another version of Saltus, which this one cannot read: {}",
            kind.name(),
            kind.cure()
        )));
    }
    if number(16..HEADER) != checksum(&bytes[HEADER..]) {
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
