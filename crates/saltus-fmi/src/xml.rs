//! Writing XML: elements with attributes, indented.

use std::fmt::Write as _;

/// A document that is being written.
pub(crate) struct Xml {
    text: String,
    open: Vec<&'static str>,
}

/// An element whose attributes are being written.
pub(crate) struct Element<'x> {
    xml: &'x mut Xml,
    name: &'static str,
}

impl Xml {
    pub(crate) fn new() -> Xml {
        Xml {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
            open: Vec::new(),
        }
    }

    pub(crate) fn element(&mut self, name: &'static str) -> Element<'_> {
        let depth = self.open.len();
        let _ = write!(self.text, "{:1$}<{name}", "", 2 * depth);
        Element { xml: self, name }
    }

    /// An element around what follows.
    pub(crate) fn open(&mut self, name: &'static str) {
        self.element(name).open();
    }

    /// Ends the innermost element that is open.
    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let depth = self.open.len();
            let _ = writeln!(self.text, "{:1$}</{name}>", "", 2 * depth);
        }
    }

    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }
}

impl Element<'_> {
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        let text = &mut self.xml.text;
        let _ = write!(text, " {name}=\"");
        for c in value.chars() {
            match c {
                '&' => text.push_str("&amp;"),
                '<' => text.push_str("&lt;"),
                '>' => text.push_str("&gt;"),
                '"' => text.push_str("&quot;"),
                '\n' | '\t' => {
                    let _ = write!(text, "&#{};", c as u32);
                }
                // XML 1.0 has no way to write the others.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => text.push(' '),
                c => text.push(c),
            }
        }
        text.push('"');
        self
    }

    /// Nothing if the text is empty.
    pub(crate) fn text_if_any(self, name: &str, value: &str) -> Self {
        match value {
            "" => self,
            value => self.text(name, value),
        }
    }

    pub(crate) fn number(self, name: &str, value: f64) -> Self {
        match value {
            f64::INFINITY => self.text(name, "INF"),
            f64::NEG_INFINITY => self.text(name, "-INF"),
            value => self.text(name, &format!("{value:?}")),
        }
    }

    /// Nothing if the number is the one that its absence means.
    pub(crate) fn number_unless(self, name: &str, value: f64, default: f64) -> Self {
        match value == default {
            true => self,
            false => self.number(name, value),
        }
    }

    pub(crate) fn whole(self, name: &str, value: i64) -> Self {
        self.text(name, &value.to_string())
    }

    pub(crate) fn flag(self, name: &str, value: bool) -> Self {
        self.text(name, if value { "true" } else { "false" })
    }

    /// The element contains nothing.
    pub(crate) fn end(self) {
        self.xml.text.push_str("/>\n");
    }

    /// The element contains what follows, up to [`Xml::close`].
    pub(crate) fn open(self) {
        self.xml.text.push_str(">\n");
        self.xml.open.push(self.name);
    }
}
