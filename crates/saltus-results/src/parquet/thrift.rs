//! Structures in Thrift's compact protocol: a field is its distance from the one before and its type in one byte, then its value; integers are zigzag
//! numbers of seven bits a byte.

/// Structures in the making.
#[derive(Default)]
pub(super) struct Thrift {
    bytes: Vec<u8>,
    /// The last field of the structure being written, and of those around it.
    field: u8,
    outer: Vec<u8>,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Longer lists have their size behind the head.
const SHORT_LIST: usize = 15;

impl Thrift {
    fn head(&mut self, field: u8, ty: u8) {
        self.bytes.push((field - self.field) << 4 | ty);
        self.field = field;
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    fn binary(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn list_head(&mut self, n: usize, ty: u8) {
        if n < SHORT_LIST {
            self.bytes.push((n as u8) << 4 | ty);
        } else {
            self.bytes.push(0xF0 | ty);
            self.varint(n as u64);
        }
    }

    pub(super) fn int(&mut self, field: u8, value: i32) {
        self.head(field, I32);
        self.zigzag(i64::from(value));
    }

    pub(super) fn long(&mut self, field: u8, value: i64) {
        self.head(field, I64);
        self.zigzag(value);
    }

    pub(super) fn text(&mut self, field: u8, text: &str) {
        self.head(field, BINARY);
        self.binary(text);
    }

    pub(super) fn ints(&mut self, field: u8, values: &[i32]) {
        self.head(field, LIST);
        self.list_head(values.len(), I32);
        values.iter().for_each(|&v| self.zigzag(i64::from(v)));
    }

    pub(super) fn texts(&mut self, field: u8, texts: &[&String]) {
        self.head(field, LIST);
        self.list_head(texts.len(), BINARY);
        texts.iter().for_each(|text| self.binary(text));
    }

    /// A list of structures, each between `begin_element` and `end_struct`.
    pub(super) fn begin_list(&mut self, field: u8, n: usize) {
        self.head(field, LIST);
        self.list_head(n, STRUCT);
    }

    pub(super) fn begin_element(&mut self) {
        self.outer.push(std::mem::take(&mut self.field));
    }

    pub(super) fn begin_struct(&mut self, field: u8) {
        self.head(field, STRUCT);
        self.begin_element();
    }

    pub(super) fn end_struct(&mut self) {
        self.bytes.push(0);
        self.field = self.outer.pop().expect("a structure was begun");
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}
