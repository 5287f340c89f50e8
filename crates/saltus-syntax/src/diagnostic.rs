//! The one message type for everything that is wrong with a model, at compile time and at run time.
//!
//! Each code is a kebab-case word with a page `docs/errors/<code>.md`.

use crate::Span;
use crate::name::Text;

#[derive(
    Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Severity {
    Error,
    Warning,
    Note,
}

/// A place with what is to be said about it.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// What is wrong, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Diagnostic {
    #[serde(with = "crate::name::text")]
    pub code: Text,
    pub severity: Severity,
    pub message: String,
    /// The place the message is about; `None` only for what has no place in source (a missing file).
    pub primary: Option<Label>,
    pub secondary: Vec<Label>,
    pub notes: Vec<String>,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, Some(span), message.into())
    }

    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, Some(span), message.into())
    }

    /// An error with no place in any source file.
    pub fn placeless(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, None, message.into())
    }

    fn new(
        code: &'static str,
        severity: Severity,
        span: Option<Span>,
        message: String,
    ) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message,
            primary: span.map(|span| Label {
                span,
                text: String::new(),
            }),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Sets the text under the primary span.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }

    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
