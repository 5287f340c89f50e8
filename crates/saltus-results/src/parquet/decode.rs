//! Structures in Thrift's compact protocol, read back.

/// A structure, or another value of a field.
pub(super) enum Field {
    Int(i64),
    Flag(bool),
    Bytes(Vec<u8>),
    List(Vec<Field>),
    Structure(Vec<(u8, Field)>),
}

/// Nested structures beyond this are damage.
const DEPTH_MAX: usize = 16;

impl Field {
    fn field(&self, number: u8) -> Option<&Field> {
        match self {
            Field::Structure(fields) => fields.iter().find(|(n, _)| *n == number).map(|(_, f)| f),
            _ => None,
        }
    }

    pub(super) fn int(&self, number: u8) -> Option<i64> {
        match self.field(number)? {
            Field::Int(i) => Some(*i),
            _ => None,
        }
    }

    pub(super) fn flag(&self, number: u8) -> Option<bool> {
        match self.field(number)? {
            Field::Flag(b) => Some(*b),
            _ => None,
        }
    }

    pub(super) fn bytes(&self, number: u8) -> Option<&[u8]> {
        match self.field(number)? {
            Field::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn structure(&self, number: u8) -> Option<&Field> {
        self.field(number)
            .filter(|f| matches!(f, Field::Structure(_)))
    }

    /// Empty if there is none.
    pub(super) fn list(&self, number: u8) -> &[Field] {
        match self.field(number) {
            Some(Field::List(elements)) => elements,
            _ => &[],
        }
    }
}

/// A structure at the beginning of some bytes, which then begin behind it.
pub(super) fn read_struct(bytes: &mut &[u8]) -> Option<Field> {
    structure(bytes, 0)
}

fn structure(bytes: &mut &[u8], depth: usize) -> Option<Field> {
    if depth > DEPTH_MAX {
        return None;
    }
    let mut fields = Vec::new();
    let mut number = 0_i64;
    loop {
        let head = byte(bytes)?;
        if head == 0 {
            return Some(Field::Structure(fields));
        }
        number = match head >> 4 {
            0 => zigzag(bytes)?,
            step => number + i64::from(step),
        };
        let value = value(bytes, head & 0x0f, depth)?;
        fields.push((u8::try_from(number).ok()?, value));
    }
}

fn value(bytes: &mut &[u8], ty: u8, depth: usize) -> Option<Field> {
    Some(match ty {
        1 => Field::Flag(true),
        2 => Field::Flag(false),
        3 => Field::Int(i64::from(byte(bytes)? as i8)),
        4..=6 => Field::Int(zigzag(bytes)?),
        7 => {
            take(bytes, 8)?;
            Field::Int(0)
        }
        8 => {
            let n = usize::try_from(varint(bytes)?).ok()?;
            Field::Bytes(take(bytes, n)?.to_vec())
        }
        9 | 10 => {
            let head = byte(bytes)?;
            let n = match head >> 4 {
                15 => usize::try_from(varint(bytes)?).ok()?,
                n => usize::from(n),
            };
            // Each element has at least a byte, but for truth values, which are a byte here, too.
            if n > bytes.len() {
                return None;
            }
            let element = |bytes: &mut &[u8]| match head & 0x0f {
                1 | 2 => byte(bytes).map(|b| Field::Flag(b == 1)),
                ty => value(bytes, ty, depth + 1),
            };
            Field::List((0..n).map(|_| element(bytes)).collect::<Option<_>>()?)
        }
        12 => structure(bytes, depth + 1)?,
        _ => return None,
    })
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    take(bytes, 1).map(|b| b[0])
}

fn take<'b>(bytes: &mut &'b [u8], n: usize) -> Option<&'b [u8]> {
    let (head, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(head)
}

pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let b = byte(bytes)?;
        value |= u64::from(b & 0x7f) << shift;
        if b & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn zigzag(bytes: &mut &[u8]) -> Option<i64> {
    let n = varint(bytes)?;
    Some((n >> 1) as i64 ^ -((n & 1) as i64))
}
