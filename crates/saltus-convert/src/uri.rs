//! Names of classes in `modelica://` addresses, in texts of annotations and elsewhere.

use crate::edits::Edit;
use crate::rules::Rules;

const SCHEME: &str = "modelica://";

/// Addresses of classes that have another name now.
pub(crate) fn edits(text: &str, rules: &Rules, library: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (at, _) in text.match_indices(SCHEME) {
        let start = at + SCHEME.len();
        let part_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let rest = &text[start..];
        let end = rest.find(|c| !part_of_name(c)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('.');
        if name.split('.').next() != Some(library) {
            continue;
        }
        let new = rules.renamed(name);
        if new != name {
            edits.push(Edit {
                start,
                end: start + name.len(),
                text: new,
            });
        }
    }
    edits
}
