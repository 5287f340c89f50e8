//! Writing ZIP archives (PKWARE APPNOTE 6.3.10, sections 4.3 and 4.4): entries deflated, without dates, so that the same input gives the same bytes.

/// Local headers, central directory and its end are told apart by these marks.
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Version 2.0 of the format is needed for deflate and folders.
const VERSION_NEEDED: u16 = 20;
/// Names are UTF-8.
const FLAG_UTF8: u16 = 1 << 11;
const METHOD_DEFLATE: u16 = 8;
/// 1 January 1980, the first date that the format knows.
const DATE: u16 = 0x0021;
/// Higher levels of deflate take much longer and gain nearly nothing.
const LEVEL: u8 = 6;

/// An archive that is being written.
#[derive(Default)]
pub struct ArchiveWriter {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    n_entries: u16,
}

/// The contents of a file, deflated.
#[derive(Clone, Copy, Debug)]
pub struct Deflated<'d> {
    pub bytes: &'d [u8],
    pub crc: u32,
    /// Of the contents before.
    pub size: u32,
}

impl ArchiveWriter {
    pub fn new() -> ArchiveWriter {
        ArchiveWriter::default()
    }

    pub fn add(&mut self, path: &str, contents: &[u8]) {
        let deflated = miniz_oxide::deflate::compress_to_vec(contents, LEVEL);
        self.add_deflated(
            path,
            Deflated {
                bytes: &deflated,
                crc: crc32fast::hash(contents),
                size: contents.len() as u32,
            },
        );
    }

    pub fn add_deflated(&mut self, path: &str, contents: Deflated<'_>) {
        let offset = self.bytes.len() as u32;
        let mut common = Vec::new();
        for number in [VERSION_NEEDED, FLAG_UTF8, METHOD_DEFLATE, 0, DATE] {
            common.extend(number.to_le_bytes());
        }
        for number in [contents.crc, contents.bytes.len() as u32, contents.size] {
            common.extend(number.to_le_bytes());
        }
        common.extend((path.len() as u16).to_le_bytes());
        // No extra field.
        common.extend(0_u16.to_le_bytes());

        self.bytes.extend(LOCAL.to_le_bytes());
        self.bytes.extend(&common);
        self.bytes.extend(path.as_bytes());
        self.bytes.extend(contents.bytes);

        self.directory.extend(CENTRAL.to_le_bytes());
        self.directory.extend(VERSION_NEEDED.to_le_bytes());
        self.directory.extend(&common);
        // No comment, first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(path.as_bytes());
        self.n_entries += 1;
    }

    pub fn finish(mut self) -> Vec<u8> {
        let offset = self.bytes.len() as u32;
        self.bytes.extend(&self.directory);
        self.bytes.extend(END.to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(self.n_entries.to_le_bytes());
        self.bytes.extend(self.n_entries.to_le_bytes());
        self.bytes
            .extend((self.directory.len() as u32).to_le_bytes());
        self.bytes.extend(offset.to_le_bytes());
        self.bytes.extend(0_u16.to_le_bytes());
        self.bytes
    }
}
