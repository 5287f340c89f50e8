//! Places: bytes of a text to lines and UTF-16 columns, as the protocol counts them, and back; paths to URIs and back.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use saltus::language::Span;
use std::str::FromStr;

/// A text with the starts of its lines.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    starts: Vec<usize>,
}

impl Text {
    pub fn new(text: impl Into<String>) -> Text {
        let text = text.into();
        let starts = line_starts(&text);
        Text { text, starts }
    }

    /// The bytes of a line with its end.
    fn line(&self, line: usize) -> &str {
        let start = self.starts[line];
        let end = self
            .starts
            .get(line + 1)
            .copied()
            .unwrap_or(self.text.len());
        &self.text[start..end]
    }

    /// The place of a byte. Bytes inside a character count as its first.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let mut column = 0;
        for (at, c) in self.line(line).char_indices() {
            if self.starts[line] + at >= offset {
                break;
            }
            column += c.len_utf16();
        }
        Position::new(line as u32, column as u32)
    }

    /// The byte of a place; past the end of a line it is that end.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let mut column = 0;
        let text = self.line(line);
        for (at, c) in text.char_indices() {
            if column >= position.character as usize || matches!(c, '\n' | '\r') {
                return self.starts[line] + at;
            }
            column += c.len_utf16();
        }
        self.starts[line] + text.len()
    }

    pub fn range(&self, start: usize, end: usize) -> Range {
        Range::new(self.position(start), self.position(end))
    }

    pub fn range_of(&self, span: Span) -> Range {
        self.range(span.start as usize, span.end as usize)
    }

    /// Changes in their order, each given in places of the text that the earlier ones left.
    pub fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            match change.range {
                None => self.text = change.text,
                Some(range) => {
                    let start = self.offset(range.start);
                    let end = self.offset(range.end).max(start);
                    self.text.replace_range(start..end, &change.text);
                }
            }
            self.starts = line_starts(&self.text);
        }
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
    std::iter::once(0)
        .chain(ends.map(|(at, _)| at + 1))
        .collect()
}

/// The path of a document: of a file its path, of anything else the text of the URI.
pub fn path_of(uri: &Uri) -> String {
    match uri.as_str().strip_prefix("file://") {
        Some(rest) => {
            let path = rest.find('/').map_or(rest, |at| &rest[at..]);
            decode(path)
        }
        None => uri.as_str().to_owned(),
    }
}

/// The URI of a file.
pub fn uri_of(path: &str) -> Option<Uri> {
    if path.contains("://") {
        return Uri::from_str(path).ok();
    }
    let mut out = String::from("file://");
    if !path.starts_with('/') {
        out.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char)
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&out).ok()
}

fn decode(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| path.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        let text = Text::new("a\u{1f600}\u{e4}b\r\nc");
        let b = "a\u{1f600}\u{e4}".len();
        assert_eq!(text.position(b), Position::new(0, 4));
        assert_eq!(text.offset(Position::new(0, 4)), b);
        assert_eq!(text.offset(Position::new(0, 99)), b + 1);
        assert_eq!(text.position(text.text.len()), Position::new(1, 1));
        assert_eq!(text.offset(Position::new(7, 0)), text.text.len());
    }

    #[test]
    fn paths_survive_their_uris() {
        let path = "/tmp/Modelica 4.1.0/\u{e4}#%.mo";
        assert_eq!(path_of(&uri_of(path).unwrap()), path);
    }
}
