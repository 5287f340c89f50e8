//! Diagnostics as text.
use crate::{Diagnostic, SourceMap};
pub fn render(d: &Diagnostic, s: &SourceMap) -> String {
    let place = d.primary.as_ref().map(|p| {
        let lc = s.line_col(p.span.file, p.span.start);
        format!("{}:{}:{}", s.file(p.span.file).name, lc.line, lc.col)
    });
    format!(
        "{:?} {} {} {:?}",
        d.code,
        d.message,
        place.unwrap_or_default(),
        d.help
    )
}
