//! Readers of the two binary formats that share nothing with the library and forgive nothing: every byte must belong to something, as for the readers of other tools.

/// A matrix of a MAT v4 file.
struct Matrix {
    name: String,
    rows: usize,
    columns: usize,
    bytes: Vec<u8>,
}

/// All matrices, up to the last byte of the file: as scipy does.
fn strict_mat(mut bytes: &[u8]) -> Result<Vec<Matrix>, String> {
    let mut matrices = Vec::new();
    while !bytes.is_empty() {
        let word = |i: usize| {
            let word = bytes.get(4 * i..4 * i + 4).ok_or("a head is cut")?;
            Ok::<i32, &str>(i32::from_le_bytes(word.try_into().unwrap()))
        };
        let kind = word(0)?;
        if !(0..1000).contains(&kind) || kind / 100 != 0 || kind % 10 > 1 {
            return Err(format!("type {kind}"));
        }
        let width = [8, 4, 4, 2, 2, 1][kind as usize / 10];
        let (rows, columns) = (word(1)? as usize, word(2)? as usize);
        let (complex, name_len) = (word(3)?, word(4)? as usize);
        if complex != 0 {
            return Err("complex".into());
        }
        let name = bytes.get(20..20 + name_len).ok_or("a name is cut")?;
        let name = String::from_utf8_lossy(name)
            .trim_end_matches('\0')
            .to_owned();
        let begin = 20 + name_len;
        let end = (rows.checked_mul(columns))
            .and_then(|n| n.checked_mul(width)?.checked_add(begin))
            .ok_or("a size")?;
        let content = bytes.get(begin..end).ok_or("a matrix is cut")?;
        matrices.push(Matrix {
            name,
            rows,
            columns,
            bytes: content.to_vec(),
        });
        bytes = &bytes[end..];
    }
    Ok(matrices)
}

/// The rows of `data_2`.
pub(crate) fn mat_rows(bytes: &[u8]) -> Result<Vec<Vec<f64>>, String> {
    let matrices = strict_mat(bytes)?;
    let rows = matrices
        .iter()
        .find(|m| m.name == "data_2")
        .ok_or("no rows")?;
    assert_eq!(rows.bytes.len(), 8 * rows.rows * rows.columns);
    let values: Vec<f64> = doubles(&rows.bytes);
    Ok(values.chunks(rows.rows).map(<[f64]>::to_vec).collect())
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty());
    chunks.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

/// A value of Thrift's compact protocol.
#[derive(Debug, Clone, PartialEq)]
enum Thrift {
    Int(i64),
    Text(Vec<u8>),
    List(Vec<Thrift>),
    Struct(Vec<(i16, Thrift)>),
}

impl Thrift {
    fn field(&self, id: i16) -> Result<&Thrift, String> {
        match self {
            Thrift::Struct(fields) => (fields.iter().find(|(found, _)| *found == id))
                .map(|(_, value)| value)
                .ok_or(format!("no field {id}")),
            other => Err(format!("not a structure: {other:?}")),
        }
    }

    fn int(&self, id: i16) -> Result<i64, String> {
        match self.field(id)? {
            Thrift::Int(value) => Ok(*value),
            other => Err(format!("not a number: {other:?}")),
        }
    }

    fn text(&self, id: i16) -> Result<String, String> {
        match self.field(id)? {
            Thrift::Text(bytes) => String::from_utf8(bytes.clone()).map_err(|e| e.to_string()),
            other => Err(format!("not a text: {other:?}")),
        }
    }

    fn list(&self, id: i16) -> Result<&[Thrift], String> {
        match self.field(id)? {
            Thrift::List(values) => Ok(values),
            other => Err(format!("not a list: {other:?}")),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, String> {
        let (first, rest) = self.bytes.split_first().ok_or("the end of the bytes")?;
        self.bytes = rest;
        Ok(*first)
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number without end".into())
    }

    fn zigzag(&mut self) -> Result<i64, String> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn value(&mut self, kind: u8) -> Result<Thrift, String> {
        match kind {
            4..=6 => Ok(Thrift::Int(self.zigzag()?)),
            8 => {
                let n = self.varint()? as usize;
                let text = self.bytes.get(..n).ok_or("a text is cut")?.to_vec();
                self.bytes = &self.bytes[n..];
                Ok(Thrift::Text(text))
            }
            9 => {
                let head = self.byte()?;
                let n = match head >> 4 {
                    15 => self.varint()?,
                    n => u64::from(n),
                };
                let values = (0..n).map(|_| self.value(head & 15));
                Ok(Thrift::List(values.collect::<Result<_, _>>()?))
            }
            12 => self.structure(),
            other => Err(format!("type {other}")),
        }
    }

    fn structure(&mut self) -> Result<Thrift, String> {
        let mut fields = Vec::new();
        let mut id = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(Thrift::Struct(fields));
            }
            id += i16::from(head >> 4);
            assert!(head >> 4 != 0, "the long form of a field is not used");
            fields.push((id, self.value(head & 15)?));
        }
    }
}

/// Names and values of the columns of a Parquet file of doubles.
pub(crate) fn parquet_columns(bytes: &[u8]) -> Result<Vec<(String, Vec<f64>)>, String> {
    let n = bytes.len();
    if n < 12 || &bytes[..4] != b"PAR1" || &bytes[n - 4..] != b"PAR1" {
        return Err("the magic words are missing".into());
    }
    let length = u32::from_le_bytes(bytes[n - 8..n - 4].try_into().unwrap()) as usize;
    let begin = (n - 8)
        .checked_sub(length)
        .ok_or("a length beyond the file")?;
    let mut reader = Reader {
        bytes: &bytes[begin..n - 8],
    };
    let about = reader.structure()?;
    let schema = about.list(2)?;
    let mut columns = Vec::new();
    for element in &schema[1..] {
        assert_eq!((element.int(1)?, element.int(3)?), (5, 0));
        columns.push((element.text(4)?, Vec::new()));
    }
    for group in about.list(4)? {
        let n_rows = group.int(3)? as usize;
        let chunks = group.list(1)?;
        assert_eq!(chunks.len(), columns.len());
        for (chunk, (name, values)) in chunks.iter().zip(&mut columns) {
            let meta = chunk.field(3)?;
            assert_eq!((meta.int(1)?, meta.int(4)?), (5, 0));
            assert_eq!(meta.int(5)? as usize, n_rows);
            assert_eq!(meta.list(3)?, [Thrift::Text(name.clone().into_bytes())]);
            let (at, n_bytes) = (meta.int(9)? as usize, meta.int(7)? as usize);
            let page = bytes
                .get(at..at + n_bytes)
                .ok_or("a page beyond the file")?;
            let mut reader = Reader { bytes: page };
            let head = reader.structure()?;
            assert_eq!(head.int(3)? as usize, reader.bytes.len());
            assert_eq!(head.field(5)?.int(1)? as usize, n_rows);
            if reader.bytes.len() != 8 * n_rows {
                return Err("a page of another size".into());
            }
            values.extend(doubles(reader.bytes));
        }
    }
    assert!(
        columns
            .iter()
            .all(|(_, v)| v.len() as i64 == about.int(3).unwrap())
    );
    Ok(columns)
}
