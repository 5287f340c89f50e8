//! The description at the end of a file (`FileMetaData`), and the pages that it describes.

use super::thrift::Thrift;

const CREATED_BY: &str = concat!("saltus version ", env!("CARGO_PKG_VERSION"));

/// Types of the format, by their numbers there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PhysicalType {
    Double = 5,
    ByteArray = 6,
}

const REQUIRED: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const UNCOMPRESSED: i32 = 0;
const DATA_PAGE: i32 = 0;
const UTF8: i32 = 0;

/// What the description says of a row group.
pub(super) struct Group {
    chunks: Vec<Chunk>,
    pub(super) n_rows: usize,
}

struct Chunk {
    offset: u64,
    /// With the head of its page.
    n_bytes: usize,
}

/// The column chunks of a group at a position of the file, and what the description says of it.
pub(super) fn group_at(
    offset: u64,
    chunks: impl Iterator<Item = Vec<u8>>,
    n_rows: usize,
) -> (Vec<u8>, Group) {
    let mut bytes = Vec::new();
    let chunks = chunks
        .map(|data| {
            let begin = bytes.len();
            let mut head = Thrift::default();
            head.int(1, DATA_PAGE);
            head.int(2, data.len() as i32);
            head.int(3, data.len() as i32);
            head.begin_struct(5);
            head.int(1, n_rows as i32);
            head.int(2, PLAIN);
            head.int(3, RLE);
            head.int(4, RLE);
            head.end_struct();
            bytes.extend(head.finish());
            bytes.extend(data);
            Chunk {
                offset: offset + begin as u64,
                n_bytes: bytes.len() - begin,
            }
        })
        .collect();
    (bytes, Group { chunks, n_rows })
}

/// The description of these groups.
pub(super) fn describe<'g>(
    schema: &[(String, PhysicalType)],
    groups: impl IntoIterator<Item = &'g Group>,
) -> Vec<u8> {
    let groups: Vec<&Group> = groups.into_iter().collect();
    let n_rows: usize = groups.iter().map(|g| g.n_rows).sum();
    let mut out = Thrift::default();
    out.int(1, 2);
    out.begin_list(2, schema.len() + 1);
    out.begin_element();
    out.text(4, "schema");
    out.int(5, schema.len() as i32);
    out.end_struct();
    for (name, physical) in schema {
        out.begin_element();
        out.int(1, *physical as i32);
        out.int(3, REQUIRED);
        out.text(4, name);
        if *physical == PhysicalType::ByteArray {
            out.int(6, UTF8);
        }
        out.end_struct();
    }
    out.long(3, n_rows as i64);
    out.begin_list(4, groups.len());
    for group in groups {
        let n_bytes: usize = group.chunks.iter().map(|c| c.n_bytes).sum();
        out.begin_element();
        out.begin_list(1, group.chunks.len());
        for (chunk, (name, physical)) in group.chunks.iter().zip(schema) {
            out.begin_element();
            out.long(2, chunk.offset as i64);
            out.begin_struct(3);
            out.int(1, *physical as i32);
            out.ints(2, &[PLAIN, RLE]);
            out.texts(3, &[name]);
            out.int(4, UNCOMPRESSED);
            out.long(5, group.n_rows as i64);
            out.long(6, chunk.n_bytes as i64);
            out.long(7, chunk.n_bytes as i64);
            out.long(9, chunk.offset as i64);
            out.end_struct();
            out.end_struct();
        }
        out.long(2, n_bytes as i64);
        out.long(3, group.n_rows as i64);
        out.end_struct();
    }
    out.text(6, CREATED_BY);
    out.finish()
}
