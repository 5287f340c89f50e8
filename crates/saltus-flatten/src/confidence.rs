//! How far start values are to be trusted (specification 8.6.2).
//!
//! Comes in: where each start value is set and where the values of parameters come from. Goes out: the variables'
//! `start_confidence`. A start value that is exactly a parameter has the confidence of the most trusted binding in the chain of
//! parameters that begins there; a value that the type brings along is trusted least.

use crate::core::{Flattener, InstId, LayerKind, is_value_as_whole};
use saltus_ir::flat::Confidence;
use saltus_ir::{Expr, ExprId, VarId};

/// Where the value of a parameter is set, and the parameter that it equals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BindingSource {
    level: u32,
    of: Option<VarId>,
}

/// Start values that a type brings along come after all that are given to a component.
pub(crate) const TYPE_LEVEL: u32 = 1 << 16;

/// Longer chains of parameters are cut.
const CHAIN_MAX: usize = 64;

impl Flattener<'_> {
    /// Notes where the values of the parameters `ids` come from; `values` has one expression for each of them, if they are known.
    pub(crate) fn note_binding(&mut self, inst: InstId, ids: &[VarId], values: &[ExprId]) {
        let Some(level) = self.binding_level(inst) else {
            return;
        };
        for (k, id) in ids.iter().enumerate() {
            let of = values.get(k).and_then(|&e| match *self.ir.expr(e) {
                Expr::Var(v) => Some(v),
                _ => None,
            });
            self.binding_sources
                .insert(*id, BindingSource { level, of });
        }
    }

    /// Depth of the instance that the value of `inst` is written in; the order is that of `binding`.
    fn binding_level(&self, inst: InstId) -> Option<u32> {
        let node = &self.insts[inst];
        let level = |range: std::ops::Range<usize>| {
            let given = |kind: &LayerKind<'_>| match kind {
                LayerKind::Modification(m) => m.value.is_some(),
                LayerKind::Value(_) => true,
                LayerKind::Path(..) | LayerKind::Redeclare(_) => false,
            };
            let layers = &node.layers[range];
            layers.iter().find(|l| given(&l.kind)).map(|l| l.level)
        };
        let of_record = || {
            let parent = node.parent?;
            let record = is_value_as_whole(self.insts[parent].restriction);
            record.then(|| self.binding_level(parent)).flatten()
        };
        level(0..node.n_outer_layers)
            .or_else(of_record)
            .or_else(|| level(node.n_outer_layers..node.layers.len()))
    }

    /// Follows start values through parameters.
    pub(crate) fn trace_start_values(&mut self) {
        for id in self.variables.ids() {
            let Some(start) = self.variables[id].start else {
                continue;
            };
            let own = self.variables[id].start_confidence.own;
            let mut level = own;
            let mut next = match *self.ir.expr(start) {
                Expr::Var(v) => Some(v),
                _ => None,
            };
            for _ in 0..CHAIN_MAX {
                let Some(source) = next.and_then(|v| self.binding_sources.get(&v)) else {
                    break;
                };
                level = level.min(source.level);
                next = source.of;
            }
            self.variables[id].start_confidence = Confidence { level, own };
        }
    }
}
