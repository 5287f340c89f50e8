//! Expressions and equations as text, for messages.

use crate::work::Work;
use saltus_ir::ExprId;

/// Longer texts are cut.
const TEXT_MAX: usize = 160;

pub(crate) fn expr_text(work: &Work, e: ExprId) -> String {
    cut(work.flat.message_text(e))
}

pub(crate) fn equation_text(work: &Work, lhs: ExprId, rhs: ExprId) -> String {
    cut(format!(
        "{} = {}",
        expr_text(work, lhs),
        expr_text(work, rhs)
    ))
}

fn cut(text: String) -> String {
    if text.chars().count() <= TEXT_MAX {
        return text;
    }
    let short: String = text.chars().take(TEXT_MAX).collect();
    format!("{short}…")
}
