//! Decompression of zlib data (RFC 1950, RFC 1951), for MATLAB files of version 7. The checksum at the end is verified.

/// Most bytes that one piece may expand to (1 GiB).
const OUTPUT_MAX: usize = 1 << 30;
/// Longest code word.
const BITS_MAX: usize = 15;

/// Base value and extra bits of the length codes 257 to 285.
const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
/// Base value and extra bits of the distance codes.
const DISTANCES: [(u16, u8); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];
/// Order in which the lengths of the code-length codes are stored.
const ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// The bytes behind zlib data.
pub(super) fn inflate(data: &[u8]) -> Result<Vec<u8>, String> {
    let [cmf, flags, rest @ ..] = data else {
        return Err(broken());
    };
    if cmf & 15 != 8 || (u32::from(*cmf) * 256 + u32::from(*flags)) % 31 != 0 || flags & 32 != 0 {
        return Err(broken());
    }
    let mut bits = Bits {
        data: rest,
        at: 0,
        buffer: 0,
        n: 0,
    };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let mut lengths = [8_u8; 288];
                lengths[144..256].fill(9);
                lengths[256..280].fill(7);
                block(
                    &mut bits,
                    &mut out,
                    &Code::new(&lengths)?,
                    &Code::new(&[5; 30])?,
                )?;
            }
            2 => {
                let (literals, distances) = dynamic(&mut bits)?;
                block(&mut bits, &mut out, &literals, &distances)?;
            }
            _ => return Err(broken()),
        }
        if last {
            break;
        }
    }
    // The checksum begins at the next whole byte.
    let checksum = (rest.get(bits.at..bits.at + 4)).ok_or_else(broken)?;
    if adler32(&out).to_be_bytes() != checksum {
        return Err("the compressed data is damaged: its checksum is wrong".into());
    }
    Ok(out)
}

/// The checksum of RFC 1950, section 9.
pub(super) fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    /// So many bytes can be added up before the sums overflow 32 bits (zlib's NMAX).
    const PIECE: usize = 5552;
    let (mut a, mut b) = (1_u32, 0_u32);
    for piece in bytes.chunks(PIECE) {
        for byte in piece {
            a += u32::from(*byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    b << 16 | a
}

fn broken() -> String {
    "the compressed data is damaged".into()
}

/// Bits of a byte sequence, lowest first.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    buffer: u32,
    n: u32,
}

impl Bits<'_> {
    fn take(&mut self, n: u32) -> Result<u32, String> {
        while self.n < n {
            let byte = *self.data.get(self.at).ok_or_else(broken)?;
            self.at += 1;
            self.buffer |= u32::from(byte) << self.n;
            self.n += 8;
        }
        let value = self.buffer & ((1 << n) - 1);
        self.buffer >>= n;
        self.n -= n;
        Ok(value)
    }
}

fn stored(bits: &mut Bits, out: &mut Vec<u8>) -> Result<(), String> {
    bits.buffer = 0;
    bits.n = 0;
    let n = bits.take(16)?;
    if bits.take(16)? != !n & 0xffff {
        return Err(broken());
    }
    let piece = bits
        .data
        .get(bits.at..bits.at + n as usize)
        .ok_or_else(broken)?;
    bits.at += n as usize;
    grow(out, piece.len())?;
    out.extend_from_slice(piece);
    Ok(())
}

fn grow(out: &[u8], by: usize) -> Result<(), String> {
    if out.len() + by > OUTPUT_MAX {
        Err("the compressed data is too large".into())
    } else {
        Ok(())
    }
}

/// A canonical Huffman code: number of code words per length, and the symbols in order.
struct Code {
    counts: [u16; BITS_MAX + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Result<Code, String> {
        let mut counts = [0_u16; BITS_MAX + 1];
        for &length in lengths {
            counts[length as usize] += 1;
        }
        counts[0] = 0;
        let mut free = 1_i32;
        let mut offsets = [0_u16; BITS_MAX + 2];
        for length in 1..=BITS_MAX {
            free = 2 * free - i32::from(counts[length]);
            if free < 0 {
                return Err(broken());
            }
            offsets[length + 1] = offsets[length] + counts[length];
        }
        let mut symbols = vec![0; lengths.len()];
        for (symbol, &length) in lengths.iter().enumerate() {
            if length != 0 {
                symbols[offsets[length as usize] as usize] = symbol as u16;
                offsets[length as usize] += 1;
            }
        }
        Ok(Code { counts, symbols })
    }

    fn read(&self, bits: &mut Bits) -> Result<usize, String> {
        let (mut code, mut first, mut index) = (0_i32, 0_i32, 0_i32);
        for length in 1..=BITS_MAX {
            code |= bits.take(1)? as i32;
            let count = i32::from(self.counts[length]);
            if code - count < first {
                return Ok(self.symbols[(index + code - first) as usize] as usize);
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(broken())
    }
}

/// The two codes at the head of a block.
fn dynamic(bits: &mut Bits) -> Result<(Code, Code), String> {
    let n_literals = bits.take(5)? as usize + 257;
    let n_distances = bits.take(5)? as usize + 1;
    let n_lengths = bits.take(4)? as usize + 4;
    let mut lengths = [0_u8; 19];
    for &place in &ORDER[..n_lengths] {
        lengths[place] = bits.take(3)? as u8;
    }
    let code = Code::new(&lengths)?;
    let mut all: Vec<u8> = Vec::with_capacity(n_literals + n_distances);
    while all.len() < n_literals + n_distances {
        let (value, times) = match code.read(bits)? {
            symbol @ 0..=15 => (symbol as u8, 1),
            16 => (*all.last().ok_or_else(broken)?, bits.take(2)? + 3),
            17 => (0, bits.take(3)? + 3),
            _ => (0, bits.take(7)? + 11),
        };
        all.extend(std::iter::repeat_n(value, times as usize));
    }
    if all.len() != n_literals + n_distances {
        return Err(broken());
    }
    Ok((
        Code::new(&all[..n_literals])?,
        Code::new(&all[n_literals..])?,
    ))
}

/// Literals and copies until the end of the block.
fn block(
    bits: &mut Bits,
    out: &mut Vec<u8>,
    literals: &Code,
    distances: &Code,
) -> Result<(), String> {
    const END: usize = 256;
    loop {
        let symbol = literals.read(bits)?;
        if symbol == END {
            return Ok(());
        }
        if symbol < END {
            grow(out, 1)?;
            out.push(symbol as u8);
            continue;
        }
        let (base, extra) = *LENGTHS.get(symbol - END - 1).ok_or_else(broken)?;
        let length = base as usize + bits.take(u32::from(extra))? as usize;
        let (base, extra) = *DISTANCES.get(distances.read(bits)?).ok_or_else(broken)?;
        let distance = base as usize + bits.take(u32::from(extra))? as usize;
        let start = out.len().checked_sub(distance).ok_or_else(broken)?;
        grow(out, length)?;
        // Source and destination may overlap.
        for i in start..start + length {
            out.push(out[i]);
        }
    }
}
