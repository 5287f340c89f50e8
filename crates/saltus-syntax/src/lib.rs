//! Files, spans, interned names, diagnostics, and the Modelica parser.
//!
//! Comes in: source text. Goes out: an [`ast::StoredDefinition`] and a list of [`Diagnostic`]s.
//! The parser never fails and never panics: it returns what it could read and says what it could not.

pub mod ast;
pub mod diagnostic;
pub mod format;
pub mod lexer;
pub mod lossless;
pub mod name;
pub mod parser;
pub mod print;
pub mod render;
pub mod source;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use name::Name;
pub use parser::{Parsed, parse};
pub use print::print_ast;
pub use render::{render, render_json};
pub use source::{FileId, ParsedFile, SourceFile, SourceMap, Span};
