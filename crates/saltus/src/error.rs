//! What can go wrong, as one type that prints itself.

use saltus_syntax::{Diagnostic, SourceMap};
use std::fmt;
use std::sync::Arc;

/// Messages together with the sources they point into.
#[derive(Clone)]
pub struct Diagnostics {
    pub list: Vec<Diagnostic>,
    pub(crate) sources: Arc<SourceMap>,
}

impl Diagnostics {
    /// The texts that the places refer to.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.sources
    }

    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// Codes of the errors, in order.
    pub fn error_codes(&self) -> Vec<&'static str> {
        self.list
            .iter()
            .filter(|d| d.is_error())
            .map(|d| d.code)
            .collect()
    }

    /// One message as text, with its place in the sources.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let text = saltus_syntax::render::render(diagnostic, &self.sources);
        // A note without a page has no code.
        let text = text
            .strip_prefix("note[note]")
            .map_or(text.clone(), |rest| format!("note{rest}"));
        text.trim_end().to_owned()
    }

    /// One message as a JSON object on one line: `severity`, `code`, `message`, `spans` with `file`, `line`, `column`, `label` (the primary one first), `notes`, `help`.
    pub fn render_json(&self, diagnostic: &Diagnostic) -> String {
        saltus_syntax::render::render_json(diagnostic, &self.sources)
    }

    /// Line (from 1) of the primary place of a message.
    pub fn line_of(&self, diagnostic: &Diagnostic) -> Option<u32> {
        let span = diagnostic.primary.as_ref()?.span;
        Some(self.sources.line_col(span.file, span.start).line)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.list {
            writeln!(f, "{}", self.render(diagnostic))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error of Saltus.
pub enum Error {
    /// The model is wrong.
    Model(Diagnostics),
    /// The run could not be completed; what was computed is in the run.
    Run(Diagnostics, Box<crate::Run>),
    /// The run of a [`Simulator`](crate::Simulator) could not go on.
    Stopped(Diagnostics),
    /// A name or option given by the caller is wrong.
    Usage(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Model(d) | Error::Run(d, _) | Error::Stopped(d) => d.fmt(f),
            Error::Usage(message) => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
