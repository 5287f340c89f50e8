//! Tests of the parser from outside: data tests, limits, and properties of arbitrary input.

mod data;
mod format;
mod limits;
mod properties;

use saltus_syntax::{Parsed, SourceMap, parse};

/// Parses `text` as the file `name`.
fn parse_named(name: &str, text: &str) -> (SourceMap, Parsed) {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let parsed = parse(file, text);
    (sources, parsed)
}
