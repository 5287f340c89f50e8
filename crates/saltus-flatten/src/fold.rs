//! Parameters that select between branches of equations are evaluated, and what was evaluated is folded away.
//!
//! After this pass no condition of an if-expression in an equation depends on parameters alone, unless its value cannot be known at
//! compile time (an external function, a file): the structure that later passes see is that of the chosen branches.

use crate::connect::for_each_root;
use crate::core::{Flattener, InstId};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::Variability;
use saltus_ir::{Base, Expr, ExprId, VarId};

impl<'a> Flattener<'a> {
    /// Evaluates parameters in conditions and replaces evaluated ones by their values everywhere.
    pub(crate) fn fold_parameters(&mut self) {
        self.evaluate_conditions();
        let known = self.known_literals();
        let mut sections = std::mem::take(&mut self.sections);
        let mut roots = Vec::new();
        for_each_root(&mut sections, &mut |e: &mut ExprId| roots.push(*e));
        for (_, v) in self.variables.iter() {
            roots.extend(
                [v.start, v.fixed, v.min, v.max, v.nominal, v.binding]
                    .into_iter()
                    .flatten(),
            );
        }
        let mut new = FxHashMap::default();
        self.ir
            .substitute_all(&roots, &mut |v| known.get(&v).copied(), &mut new);
        for_each_root(&mut sections, &mut |e: &mut ExprId| *e = new[e]);
        self.sections = sections;
        for (_, v) in self.variables.iter_mut() {
            let fields = [
                &mut v.start,
                &mut v.fixed,
                &mut v.min,
                &mut v.max,
                &mut v.nominal,
                &mut v.binding,
            ];
            for field in fields.into_iter().flatten() {
                *field = new[field];
            }
        }
    }

    /// Values all parameters in conditions that depend on parameters only.
    fn evaluate_conditions(&mut self) {
        let mut roots = Vec::new();
        let mut sections = std::mem::take(&mut self.sections);
        for_each_root(&mut sections, &mut |e: &mut ExprId| roots.push(*e));
        self.sections = sections;
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut asked: Vec<VarId> = Vec::new();
        while let Some(e) = roots.pop() {
            if !seen.insert(e) {
                continue;
            }
            if let Expr::If(c, ..) = *self.ir.expr(e)
                && !self.ir.is_literal(c)
                && self.expr_variability(c) <= Variability::Parameter
            {
                asked.extend(self.ir.variables_of(c));
            }
            self.ir.for_each_child(e, |c| roots.push(c));
        }
        let mut tried: FxHashSet<InstId> = FxHashSet::default();
        for var in asked {
            let Some(&(inst, _)) = self.var_inst.get(var) else {
                continue;
            };
            if self.variables[var]
                .fixed
                .is_some_and(|f| self.ir.as_boolean(f) == Some(false))
                || !tried.insert(inst)
            {
                continue;
            }
            let span = self.insts[inst].span;
            // What cannot be known now stays a parameter of the run.
            if self.speculative_value(inst, span).is_some() {
                self.structural.insert(inst, "it selects between equations");
            }
        }
    }

    fn known_literals(&mut self) -> FxHashMap<VarId, ExprId> {
        let mut known = FxHashMap::default();
        for inst in self.insts.ids().collect::<Vec<_>>() {
            let Some(range) = self.insts[inst].var.clone() else {
                continue;
            };
            let Some(Some(value)) = self.values.get(&inst).cloned() else {
                continue;
            };
            if range.base == Base::String || matches!(range.base, Base::Object(_) | Base::Clock) {
                continue;
            }
            let n: usize = range.dims.iter().product();
            let why = self
                .structural
                .get(&inst)
                .copied()
                .unwrap_or("it is a constant");
            for k in 0..n {
                let id = VarId(range.first.0 + k as u32);
                let Ok(literal) = self.value_literal(&value, k, &range.dims) else {
                    continue;
                };
                let literal = self.real_literal(literal, range.base);
                known.insert(id, literal);
                self.variables[id].binding = Some(literal);
                self.variables[id].structural = Some(why);
            }
        }
        known
    }
}
