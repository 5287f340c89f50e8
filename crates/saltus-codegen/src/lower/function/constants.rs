//! What is constant with the present bindings: found by the kind of the nodes, computed by the evaluator.

use super::Binding;
use super::shapes::sized;
use crate::calls::Arg;
use crate::lower::{DEPTH_MAX, Lower};
use rustc_hash::FxHashSet;
use saltus_ir::eval::{Evaluator, NoEnv, NoExternals};
use saltus_ir::func::FunctionBody;
use saltus_ir::{Builtin, Expr, ExprId, LocalId, Value};

impl Lower<'_> {
    /// The value of an expression in the code of a function, if it is constant with the present bindings.
    pub(in crate::lower) fn known_value(&mut self, e: ExprId) -> Option<Value> {
        self.locals.as_ref()?;
        if !self.is_constant(e) {
            return None;
        }
        let mut needs = Vec::new();
        self.free_locals(e, &mut needs);
        let state = self.locals.as_ref()?;
        let (mut env, mut externals) = (NoEnv, NoExternals);
        let mut evaluator = Evaluator::new(self.ir(), &mut env, &mut externals);
        for local in needs {
            match state.bindings.get(&local) {
                Some(Binding::Known(Arg::Constant(value))) => evaluator.bind(local, value.clone()),
                // Only its size is asked for.
                Some(Binding::Known(Arg::Array { dims, .. })) => {
                    evaluator.bind(local, sized(dims));
                }
                _ => {}
            }
        }
        let value = evaluator.eval(e);
        drop(evaluator);
        match value {
            Ok(value) => Some(value),
            Err(_) => {
                self.locals_mut().constant.insert(e, false);
                None
            }
        }
    }

    pub(in crate::lower) fn known_number(&mut self, e: ExprId) -> Option<f64> {
        match self.known_value(e)? {
            Value::String(_) => None,
            value => value.as_f64(),
        }
    }

    pub(in crate::lower) fn known_truth(&mut self, e: ExprId) -> Option<bool> {
        if let Some(truth) = self.ir().as_boolean(e) {
            return Some(truth);
        }
        self.known_value(e)?.as_bool()
    }

    pub(super) fn is_constant(&mut self, e: ExprId) -> bool {
        let ir = self.ir();
        let Some(state) = &self.locals else {
            return false;
        };
        if let Some(&constant) = state.constant.get(&e) {
            return constant;
        }
        if self.depth > DEPTH_MAX {
            return false;
        }
        self.depth += 1;
        let constant = match ir.expr(e) {
            Expr::Real(_) | Expr::Integer(_) | Expr::Boolean(_) | Expr::String(_) => true,
            Expr::Enum(..) => true,
            Expr::Time | Expr::Var(_) | Expr::VarArray(_) | Expr::Function { .. } => false,
            Expr::Local(l) => {
                state.iterators.contains(l)
                    || matches!(
                        state.bindings.get(l),
                        Some(Binding::Known(Arg::Constant(_)))
                    )
            }
            Expr::Builtin(Builtin::Size | Builtin::Ndims, args) => {
                let sized = match ir.expr(args[0]) {
                    Expr::Local(l) => matches!(
                        state.bindings.get(l),
                        Some(Binding::Known(Arg::Array { .. } | Arg::Constant(_)))
                    ),
                    _ => ir.ty(args[0]).known_dims().is_some() || self.is_constant(args[0]),
                };
                sized && args[1..].iter().all(|a| self.is_constant(*a))
            }
            Expr::Builtin(op, args) => {
                !op.needs_simulation() && args.iter().all(|a| self.is_constant(*a))
            }
            Expr::Call { function, args } => {
                let f = &ir.functions[*function];
                let callable = matches!(
                    f.body,
                    FunctionBody::Algorithm(_) | FunctionBody::Constructor(_)
                );
                callable && !f.impure && args.iter().all(|a| self.is_constant(*a))
            }
            Expr::Comprehension { body, iter, range }
            | Expr::Reduce {
                body, iter, range, ..
            } => {
                let (body, iter, range) = (*body, *iter, *range);
                self.is_constant(range) && {
                    let state = self.locals_mut();
                    let fresh = state.iterators.insert(iter);
                    let constant = self.is_constant(body);
                    if fresh {
                        self.locals_mut().iterators.remove(&iter);
                    }
                    constant
                }
            }
            _ => {
                let mut children = Vec::new();
                ir.for_each_child(e, |c| children.push(c));
                children.into_iter().all(|c| self.is_constant(c))
            }
        };
        self.depth -= 1;
        // What is constant only inside a comprehension is not remembered.
        let state = self.locals_mut();
        if state.iterators.is_empty() {
            state.constant.insert(e, constant);
        }
        constant
    }

    pub(super) fn free_locals(&self, e: ExprId, out: &mut Vec<LocalId>) {
        let mut seen = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            if let Expr::Local(l) = self.ir().expr(e)
                && !out.contains(l)
            {
                out.push(*l);
            }
            self.ir().for_each_child(e, |c| stack.push(c));
        }
    }
}
