//! What a benchmark shows: a table and perhaps a picture, as Markdown on the terminal and as files.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// The outcome of one benchmark.
pub(crate) struct Section {
    pub(crate) title: String,
    /// What was measured and how to read it.
    pub(crate) text: String,
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) picture: Option<Picture>,
}

pub(crate) struct Picture {
    /// File name without ending.
    pub(crate) name: &'static str,
    pub(crate) svg: String,
}

impl Section {
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("## {}\n\n{}\n\n", self.title, self.text);
        let line = |out: &mut String, cells: &mut dyn Iterator<Item = &str>| {
            out.push('|');
            for cell in cells {
                let _ = write!(out, " {cell} |");
            }
            out.push('\n');
        };
        line(&mut out, &mut self.header.iter().copied());
        line(&mut out, &mut self.header.iter().map(|_| "---"));
        for row in &self.rows {
            line(&mut out, &mut row.iter().map(String::as_str));
        }
        if let Some(picture) = &self.picture {
            let _ = write!(out, "\n![{}]({}.svg)\n", self.title, picture.name);
        }
        out
    }

    /// Writes `NAME.md` and the picture.
    pub(crate) fn write(&self, directory: &Path, name: &str) -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        std::fs::write(directory.join(format!("{name}.md")), self.markdown())?;
        if let Some(picture) = &self.picture {
            std::fs::write(
                directory.join(format!("{}.svg", picture.name)),
                &picture.svg,
            )?;
        }
        Ok(())
    }
}

/// Seconds with a unit that keeps the digits few.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        s if s < 1e-3 => format!("{:.3} µs", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}
