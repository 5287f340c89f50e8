//! Source files and places in them.

use crate::{Diagnostic, ast, parser};
use std::sync::{Arc, LazyLock};

/// A file of a [`SourceMap`].
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct FileId(pub u32);

/// A half-open byte range of one file.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// The smallest span that covers both (of the same file).
    pub fn to(self, other: Span) -> Span {
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// One source file: its name as shown to the user, its text and its line starts.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    /// Empty in an outline.
    pub text: String,
    line_starts: Vec<u32>,
    /// Of an outline: the lines whose text is known, by number from 1, in order.
    known_lines: Option<Vec<(u32, String)>>,
}

impl SourceFile {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, b)| *b == b'\n')
                .map(|(i, _)| i as u32 + 1),
        );
        SourceFile {
            name: name.into(),
            text,
            line_starts,
            known_lines: None,
        }
    }

    /// The bytes of a line (from 1) with its line end, as far as they are known.
    fn line(&self, line: u32) -> &str {
        let index = line as usize - 1;
        if let Some(known) = &self.known_lines {
            let found = known.binary_search_by_key(&line, |known| known.0);
            return found.map_or("", |k| &known[k].1);
        }
        let start = self.line_starts[index] as usize;
        let next = self.line_starts.get(index + 1);
        let end = next.map_or(self.text.len(), |&e| e as usize);
        &self.text[start..end]
    }
}

/// What stays of a file in an outline: places have lines and columns, and the text of a few lines is known.
#[derive(serde::Serialize, serde::Deserialize)]
struct Outline {
    name: String,
    /// Bytes of each line but the last, with its line end.
    line_lengths: Vec<u32>,
    known_lines: Vec<(u32, String)>,
}

/// A [`SourceMap`] without the texts of its files, for a compiled model that goes elsewhere.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Outlines(Vec<Outline>);

impl SourceMap {
    /// The map without texts, but for the lines (file and number from 1) that messages may quote. Files without any such line keep their names only.
    pub fn outlines(&self, quoted: impl IntoIterator<Item = (FileId, u32)>) -> Outlines {
        let mut lines: Vec<Vec<u32>> = vec![Vec::new(); self.files.len()];
        for (file, line) in quoted {
            if let Some(lines) = lines.get_mut(file.0 as usize) {
                lines.push(line);
            }
        }
        let outline = |(file, mut lines): (&Arc<SourceFile>, Vec<u32>)| {
            lines.sort_unstable();
            lines.dedup();
            lines.retain(|&line| line >= 1 && line as usize <= file.line_starts.len());
            let starts = match lines.is_empty() {
                true => &[][..],
                false => &file.line_starts[..],
            };
            Outline {
                name: file.name.clone(),
                line_lengths: starts.windows(2).map(|pair| pair[1] - pair[0]).collect(),
                known_lines: (lines.into_iter())
                    .map(|line| (line, file.line(line).trim_end().to_owned()))
                    .collect(),
            }
        };
        Outlines(self.files.iter().zip(lines).map(outline).collect())
    }

    pub fn from_outlines(outlines: Outlines) -> SourceMap {
        let file = |outline: Outline| {
            let mut line_starts = vec![0u32];
            for length in outline.line_lengths {
                line_starts.push(line_starts[line_starts.len() - 1].saturating_add(length));
            }
            Arc::new(SourceFile {
                name: outline.name,
                text: String::new(),
                line_starts,
                known_lines: Some(outline.known_lines),
            })
        };
        SourceMap {
            files: outlines.0.into_iter().map(file).collect(),
        }
    }
}

/// A file with its tree. The places in the tree have the file's number, so that a tree can serve many compilations.
#[derive(Debug)]
pub struct ParsedFile {
    pub file: FileId,
    pub source: Arc<SourceFile>,
    pub definition: Arc<ast::StoredDefinition>,
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedFile {
    pub fn new(file: FileId, source: Arc<SourceFile>) -> ParsedFile {
        let parsed = parser::parse(file, &source.text);
        ParsedFile {
            file,
            source,
            definition: Arc::new(parsed.definition),
            diagnostics: parsed.diagnostics,
        }
    }

    /// The qualified name of the last class of the file.
    pub fn last_class(&self) -> Option<String> {
        let last = self.definition.classes.last()?;
        let within: String = match &self.definition.within {
            Some(Some(path)) => path.parts.iter().map(|p| format!("{}.", p.name)).collect(),
            _ => String::new(),
        };
        Some(format!("{within}{}", last.name.name))
    }
}

/// Source files by number. Files are shared: a copy of the map costs no text.
#[derive(Clone, Default, Debug)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
}

/// Stands for numbers that a map does not use.
static NO_FILE: LazyLock<Arc<SourceFile>> = LazyLock::new(|| Arc::new(SourceFile::new("", "")));

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineCol {
    pub line: u32,
    pub col: u32,
}

impl SourceMap {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(Arc::new(SourceFile::new(name, text)));
        id
    }

    /// Puts a file at the number that the places in its tree have.
    pub fn insert(&mut self, id: FileId, file: Arc<SourceFile>) {
        let index = id.0 as usize;
        if index >= self.files.len() {
            self.files.resize(index + 1, NO_FILE.clone());
        }
        self.files[index] = file;
    }

    /// All files, in the order of their numbers.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        (self.files.iter())
            .filter(|file| !Arc::ptr_eq(file, &NO_FILE))
            .map(|file| &**file)
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn shared(&self, id: FileId) -> Arc<SourceFile> {
        self.files[id.0 as usize].clone()
    }

    /// The file with this name, the latest if there are several.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.files
            .iter()
            .rposition(|f| f.name == name)
            .map(|i| FileId(i as u32))
    }

    /// Byte offset of a line and column (from 1), clamped to the file.
    pub fn offset(&self, file: FileId, at: LineCol) -> u32 {
        let f = self.file(file);
        let line = (at.line.max(1)).min(f.line_starts.len() as u32);
        let start = f.line_starts[line as usize - 1];
        let text = f.line(line);
        let skip = text
            .char_indices()
            .nth(at.col.max(1) as usize - 1)
            .map_or(text.len(), |(i, _)| i);
        start + skip as u32
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn line_col(&self, file: FileId, offset: u32) -> LineCol {
        let f = self.file(file);
        let line = f.line_starts.partition_point(|&s| s <= offset);
        let start = f.line_starts[line - 1];
        let text = f.line(line as u32);
        let before = ((offset - start) as usize).min(match &f.known_lines {
            Some(_) => usize::MAX,
            None => text.len(),
        });
        let col = text.get(..before).map_or(before, |s| s.chars().count());
        LineCol {
            line: line as u32,
            col: col as u32 + 1,
        }
    }

    /// The text of line `line` (from 1), without its line end.
    pub fn line_text(&self, file: FileId, line: u32) -> &str {
        (self.file(file).line(line)).trim_end_matches(['\n', '\r'])
    }
}

/// The text of a file read as bytes: UTF-8, a byte order mark at its start taken off (specification 13.4).
pub fn decode(name: &str, mut bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = bytes[..at].iter().filter(|&&b| b == b'\n').count() + 1;
        let message = format!(
            "`{name}` is not UTF-8: byte 0x{:02X} at offset {at} (line {line})",
            bytes[at]
        );
        Box::new(
            Diagnostic::placeless("not-utf8", message)
                .help("save the file with the encoding UTF-8"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_takes_off_the_byte_order_mark_and_names_the_wrong_byte() {
        assert_eq!(
            decode("a.mo", b"\xef\xbb\xbfmodel".to_vec()),
            Ok("model".to_owned())
        );
        let error = decode("a.mo", b"model\nM\xe4r".to_vec()).expect_err("not UTF-8");
        assert_eq!(error.code, "not-utf8");
        assert_eq!(
            error.message,
            "`a.mo` is not UTF-8: byte 0xE4 at offset 7 (line 2)"
        );
    }

    #[test]
    fn columns_count_characters() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.mo", "äö x\r\ny");
        assert_eq!(sources.line_col(file, 5), LineCol { line: 1, col: 4 });
        assert_eq!(sources.line_col(file, 8), LineCol { line: 2, col: 1 });
        assert_eq!(sources.line_text(file, 1), "äö x");
    }
}
