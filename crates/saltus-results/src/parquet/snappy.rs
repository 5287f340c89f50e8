//! The compression that most writers of Parquet use by default (Google, "Snappy compressed format description"): literals, and copies of what came before.

/// The bytes that were compressed; `None`: the data is damaged.
pub(super) fn unpack(mut bytes: &[u8], full: usize) -> Option<Vec<u8>> {
    let length = usize::try_from(super::decode::varint(&mut bytes)?).ok()?;
    if length != full {
        return None;
    }
    let mut out: Vec<u8> = Vec::new();
    while let Some((&tag, rest)) = bytes.split_first() {
        bytes = rest;
        let number = |bytes: &mut &[u8], n: usize| -> Option<usize> {
            let (head, rest) = bytes.split_at_checked(n)?;
            *bytes = rest;
            let value = head.iter().rev().fold(0, |v, b| v << 8 | usize::from(*b));
            Some(value)
        };
        let high = usize::from(tag >> 2);
        let (distance, length) = match tag & 3 {
            0 => {
                let length = match high {
                    0..60 => high + 1,
                    more => number(&mut bytes, more - 59)? + 1,
                };
                let (literal, rest) = bytes.split_at_checked(length)?;
                out.extend(literal);
                bytes = rest;
                continue;
            }
            1 => {
                let low = number(&mut bytes, 1)?;
                ((high >> 3) << 8 | low, (high & 7) + 4)
            }
            2 => (number(&mut bytes, 2)?, high + 1),
            _ => (number(&mut bytes, 4)?, high + 1),
        };
        let begin = out.len().checked_sub(distance).filter(|_| distance > 0)?;
        if out.len() + length > full {
            return None;
        }
        for k in begin..begin + length {
            out.push(out[k]);
        }
    }
    (out.len() == full).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn copies_may_overlap_what_they_write() {
        // "ab", then six bytes from two back.
        let packed = [8, 0b0000_0100, b'a', b'b', 0b0000_1001, 2];
        assert_eq!(unpack(&packed, 8), Some(b"abababab".to_vec()));
        assert_eq!(unpack(&packed, 9), None);
        assert_eq!(unpack(&[4, 0b0000_0001, 9], 4), None);
    }
}
