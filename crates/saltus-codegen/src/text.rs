//! Expressions as text for messages.

use saltus_ir::ExprId;
use saltus_ir::flat::FlatModel;

/// The expression in model terms, not much longer than `limit`.
pub(crate) fn expr(flat: &FlatModel, expr: ExprId, limit: usize) -> String {
    let _ = (flat, limit);
    format!("{expr:?}")
}
