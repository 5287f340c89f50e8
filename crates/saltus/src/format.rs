//! Formatting of model texts.

use crate::{Diagnostics, Error};
use saltus_syntax::format::{Edit, apply, edits};
use saltus_syntax::{FileId, ParsedFile, SourceFile, SourceMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The text in the one layout (`docs/format.md`); of a range of lines, counted from 1, only these. Tokens and comments stay, so that the meaning does. A text with a
/// syntax error is refused: what belongs together in it is unknown. `name` is for messages.
///
/// ```
/// let text = "model M Real x(start=1);equation der(x)=- x;end M;";
/// assert_eq!(
///     saltus::format("M.mo", text, None)?,
///     "model M\n  Real x(start=1);\nequation\n  der(x) = -x;\nend M;\n"
/// );
/// # Ok::<(), saltus::Error>(())
/// ```
pub fn format(name: &str, text: &str, lines: Option<RangeInclusive<u32>>) -> Result<String, Error> {
    let source = Arc::new(SourceFile::new(name, text));
    let parsed = ParsedFile::new(FileId(0), source.clone());
    if !parsed.diagnostics.is_empty() {
        let mut sources = SourceMap::default();
        sources.insert(FileId(0), source);
        return Err(Error::Model(Diagnostics {
            list: parsed.diagnostics,
            sources: Arc::new(sources),
        }));
    }
    let all = edits(text);
    let chosen: Vec<Edit> = match lines {
        None => all,
        Some(lines) => all
            .into_iter()
            .filter(|e| touches(text, e, &lines))
            .collect(),
    };
    Ok(apply(text, &chosen))
}

/// The white space before a token belongs to the token's line.
fn touches(text: &str, edit: &Edit, lines: &RangeInclusive<u32>) -> bool {
    let newlines = text.as_bytes()[..edit.range.end]
        .iter()
        .filter(|&&b| b == b'\n')
        .count();
    u32::try_from(newlines + 1).is_ok_and(|line| lines.contains(&line))
}
