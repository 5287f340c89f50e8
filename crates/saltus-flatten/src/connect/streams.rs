//! Stream connectors (specification chapter 15): `inStream`, `actualStream` and equations of outside stream variables.
//!
//! With inside connectors m_j and outside connectors c_k in one set, seen from the connector i that the fluid enters:
//!
//! ```text
//! inStream(m_i.h) = (Σ w(−m_j.flow)·m_j.h + Σ w(c_k.flow)·inStream(c_k.h)) / (Σ w(−m_j.flow) + Σ w(c_k.flow)),  j ≠ i
//! w(v) = α·max(v, 0) + (1 − α)·ε,   α = 1 for s ≥ ε,  σ²(3 − 2σ) with σ = s/ε for 0 < s < ε,  0 for s ≤ 0,   s = Σ max(v, 0)
//! ```
//!
//! Connectors whose flow can never leave them into the set (`min ≥ 0`, for outside ones `max ≤ 0`) are left out; a single
//! remaining one gives its value without division; none gives the connector's own value. The weights make no events.

use super::matching::Kind;
use super::sets::{Node, Sets};
use super::{negated, real_op, relation, sum};
use crate::core::{Flattener, InstId, Res};
use crate::instantiate::annotation_flag;
use saltus_ir::flat::{Equation, Variability};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, UnaryOp, Value, VarId};
use saltus_syntax::ast::ConnectionPrefix;
use saltus_syntax::{Diagnostic, Name};

/// ε of the mixing formula relative to the nominal flow: below it the mixed value goes over to the mean of the sources.
const FLOW_SMALL_REL: f64 = 1e-6;
/// Components inside components, at most, through which `inStream` is followed upwards.
const LEVELS_MAX: u32 = 200;

impl<'a> Flattener<'a> {
    /// What `inStream(v)`, `actualStream(v)` or `flow·actualStream(v)` becomes; `None` for other nodes.
    pub(super) fn stream_value(&mut self, sets: &Sets, node: ExprId) -> Res<Option<ExprId>> {
        if let Expr::Binary(BinaryOp::Mul, a, b) = *self.ir.expr(node) {
            if let Some(value) = self.transported(sets, a, b)? {
                return Ok(Some(real_op(&mut self.ir, BinaryOp::Mul, a, value)));
            }
            if let Some(value) = self.transported(sets, b, a)? {
                return Ok(Some(real_op(&mut self.ir, BinaryOp::Mul, value, b)));
            }
            return Ok(None);
        }
        let Expr::Builtin(builtin @ (Builtin::InStream | Builtin::ActualStream), args) =
            self.ir.expr(node)
        else {
            return Ok(None);
        };
        let (builtin, arg) = (*builtin, args.first().copied());
        let Some(&Expr::Var(var)) = arg.map(|arg| self.ir.expr(arg)) else {
            return Err(Box::new(Diagnostic::placeless(
                "stream-operator",
                "the argument of `inStream` and `actualStream` must be a stream variable",
            )));
        };
        if builtin == Builtin::InStream {
            return self.in_stream(sets, var, 0).map(Some);
        }
        self.actual_stream(sets, var).map(Some)
    }

    /// The stream value in `flow·actualStream(v)`, without event, if `flow` is the flow variable of `v`: the product is continuous.
    fn transported(&mut self, sets: &Sets, flow: ExprId, stream: ExprId) -> Res<Option<ExprId>> {
        let Expr::Builtin(Builtin::ActualStream, args) = self.ir.expr(stream) else {
            return Ok(None);
        };
        let Some(&Expr::Var(var)) = args.first().map(|&arg| self.ir.expr(arg)) else {
            return Ok(None);
        };
        let factor = match *self.ir.expr(flow) {
            Expr::Unary(UnaryOp::Neg, inner) => inner,
            _ => flow,
        };
        let own_flow = self.flow_of(var)?;
        if *self.ir.expr(factor) != Expr::Var(own_flow) {
            return Ok(None);
        }
        let value = self.actual_stream(sets, var)?;
        Ok(Some(self.ir.add_scalar(
            Expr::Builtin(Builtin::NoEvent, Box::new([value])),
            Base::Real,
        )))
    }

    fn actual_stream(&mut self, sets: &Sets, var: VarId) -> Res<ExprId> {
        let entering = self.in_stream(sets, var, 0)?;
        let flow = self.flow_of(var)?;
        let own = self.real_variable(var);
        let flow = self.real_variable(flow);
        let zero = self.ir.real(0.0);
        let inwards = relation(&mut self.ir, BinaryOp::Gt, flow, zero);
        Ok(self
            .ir
            .add_scalar(Expr::If(inwards, entering, own), Base::Real))
    }

    fn real_variable(&mut self, var: VarId) -> ExprId {
        self.ir.add_scalar(Expr::Var(var), Base::Real)
    }

    /// The value that `var` has in the set around its component, assuming flow into it.
    fn in_stream(&mut self, sets: &Sets, var: VarId, level: u32) -> Res<ExprId> {
        if level > LEVELS_MAX {
            return Err(Box::new(Diagnostic::error(
                "stream-operator",
                self.variables[var].span,
                format!(
                    "`inStream` of `{}` leads through more than {LEVELS_MAX} levels",
                    self.variables[var].name
                ),
            )));
        }
        let own = self.real_variable(var);
        let Some(k) = sets.find_node(var, false) else {
            return Ok(own);
        };
        Ok(self.mixed(sets, k, level)?.unwrap_or(own))
    }

    /// The mixed value that the connector of node `k` would get from the others of its set; `None` if nothing can come from them.
    fn mixed(&mut self, sets: &Sets, k: usize, level: u32) -> Res<Option<ExprId>> {
        let others: Vec<Node> = sets.members[sets.set_of[k]]
            .iter()
            .filter(|&&j| j != k)
            .map(|&j| sets.nodes[j])
            .collect();
        // Between two connectors the value is taken over whatever the limits of the flow are.
        let only_two = others.len() == 1;
        let mut sources = Vec::with_capacity(others.len());
        for node in others {
            let flow = self.flow_of(node.side.var)?;
            let never = if node.side.outside {
                self.attribute_number(flow, "max")
                    .is_some_and(|max| max <= 0.0)
            } else {
                self.attribute_number(flow, "min")
                    .is_some_and(|min| min >= 0.0)
            };
            if never && !only_two {
                continue;
            }
            let value = if node.side.outside {
                self.in_stream(sets, node.side.var, level + 1)?
            } else {
                self.real_variable(node.side.var)
            };
            sources.push((flow, node.side.outside, value));
        }
        if let [] | [_] = sources[..] {
            return Ok(sources.first().map(|(_, _, value)| *value));
        }
        let weights = self.weights(&sources);
        let ir = &mut self.ir;
        let parts: Vec<ExprId> = weights
            .iter()
            .zip(&sources)
            .map(|(&weight, &(_, _, value))| real_op(ir, BinaryOp::Mul, weight, value))
            .collect();
        let (top, bottom) = (sum(ir, &parts), sum(ir, &weights));
        Ok(top
            .zip(bottom)
            .map(|(top, bottom)| real_op(ir, BinaryOp::Div, top, bottom)))
    }

    /// The regularised flows out of each source into the set.
    fn weights(&mut self, sources: &[(VarId, bool, ExprId)]) -> Vec<ExprId> {
        let nominal = sources
            .iter()
            .filter_map(|&(flow, ..)| self.attribute_number(flow, "nominal"))
            .filter(|nominal| *nominal > 0.0)
            .reduce(f64::min)
            .unwrap_or(1.0);
        let flows: Vec<ExprId> = sources
            .iter()
            .map(|&(flow, ..)| self.real_variable(flow))
            .collect();
        let ir = &mut self.ir;
        let (zero, one, two, three) = (ir.real(0.0), ir.real(1.0), ir.real(2.0), ir.real(3.0));
        let small = ir.real(FLOW_SMALL_REL * nominal);
        let outflows: Vec<ExprId> = flows
            .iter()
            .zip(sources)
            .map(|(&flow, &(_, outside, _))| {
                let out = if outside { flow } else { negated(ir, flow) };
                ir.add_scalar(
                    Expr::Builtin(Builtin::Max, Box::new([out, zero])),
                    Base::Real,
                )
            })
            .collect();
        let Some(total) = sum(ir, &outflows) else {
            return Vec::new();
        };
        let share = real_op(ir, BinaryOp::Div, total, small);
        let square = real_op(ir, BinaryOp::Mul, share, share);
        let twice = real_op(ir, BinaryOp::Mul, two, share);
        let slope = real_op(ir, BinaryOp::Sub, three, twice);
        let curve = real_op(ir, BinaryOp::Mul, square, slope);
        let positive = relation(ir, BinaryOp::Gt, total, zero);
        let large = relation(ir, BinaryOp::Gt, total, small);
        let blend = ir.add_scalar(Expr::If(positive, curve, zero), Base::Real);
        let alpha = ir.add_scalar(Expr::If(large, one, blend), Base::Real);
        let rest = real_op(ir, BinaryOp::Sub, one, alpha);
        let floor = real_op(ir, BinaryOp::Mul, rest, small);
        outflows
            .iter()
            .map(|&outflow| {
                let part = real_op(ir, BinaryOp::Mul, alpha, outflow);
                let weight = real_op(ir, BinaryOp::Add, part, floor);
                ir.add_scalar(
                    Expr::Builtin(Builtin::NoEvent, Box::new([weight])),
                    Base::Real,
                )
            })
            .collect()
    }

    /// Outside stream variables get the mixed value of the set inside their component.
    pub(super) fn stream_equations(&mut self, sets: &Sets) -> Res<()> {
        for (k, node) in sets.nodes.iter().enumerate() {
            if node.kind != Kind::Stream || !node.side.outside {
                continue;
            }
            let Some(link) = node.link.map(|link| self.graph.links[link]) else {
                continue;
            };
            let value = self.mixed(sets, k, 0)?;
            let rhs = value.unwrap_or_else(|| self.ir.real(0.0));
            let lhs = self.real_variable(node.side.var);
            let origin = self.origin_in(link.within, link.span);
            self.sections.equations.push(Equation { lhs, rhs, origin });
        }
        Ok(())
    }

    /// The flow variable that goes with a stream variable: the scalar one of its connector.
    fn flow_of(&mut self, stream: VarId) -> Res<VarId> {
        let (inst, _) = self.var_inst[stream];
        let connector = self.connector_of(inst).unwrap_or(inst);
        let mut flows = Vec::new();
        for name in self.member_names(connector)? {
            let span = self.insts[connector].span;
            let child = self.child(connector, name, span)?;
            for &member in super::instances(&child) {
                if self.insts[member].prefixes.connection == ConnectionPrefix::Flow
                    && self.insts[member].builtin.is_some()
                {
                    let range = self.var(member)?;
                    flows.extend(
                        (0..range.dims.iter().product::<usize>() as u32)
                            .map(|k| VarId(range.first.0 + k)),
                    );
                }
            }
        }
        match flows[..] {
            [flow] => Ok(flow),
            _ => Err(self.wrong_stream_connector(connector, flows.len())),
        }
    }

    pub(super) fn wrong_stream_connector(
        &self,
        connector: InstId,
        n_flows: usize,
    ) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error(
                "stream-connector",
                self.insts[connector].span,
                format!(
                    "`{}` has stream variables and {n_flows} flow variables",
                    self.insts[connector].path
                ),
            )
            .help("a connector with stream variables must have exactly one scalar flow variable"),
        )
    }

    /// The number that an attribute has whatever the user sets at the start of a run; `None` if it may change.
    fn attribute_number(&mut self, var: VarId, attribute: &str) -> Option<f64> {
        let (inst, _) = self.var_inst[var];
        let layer = self.attribute_layer(inst, Name::new(attribute))?;
        let value = self.layer_value(&layer).ok()??;
        self.fixed_number(value)
    }

    fn fixed_number(&mut self, expr: ExprId) -> Option<f64> {
        if let Some(number) = self.ir.as_number(expr) {
            return Some(number);
        }
        match *self.ir.expr(expr) {
            Expr::Unary(UnaryOp::Neg, a) => Some(-self.fixed_number(a)?),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.fixed_number(a)?, self.fixed_number(b)?);
                match op {
                    BinaryOp::Add => Some(a + b),
                    BinaryOp::Sub => Some(a - b),
                    BinaryOp::Mul => Some(a * b),
                    BinaryOp::Div => Some(a / b),
                    _ => None,
                }
            }
            Expr::If(condition, then, otherwise) => {
                let branch = if self.fixed_boolean(condition)? {
                    then
                } else {
                    otherwise
                };
                self.fixed_number(branch)
            }
            Expr::Var(var) => self.fixed_value(var)?.as_f64(),
            _ => None,
        }
    }

    fn fixed_boolean(&mut self, expr: ExprId) -> Option<bool> {
        match *self.ir.expr(expr) {
            Expr::Boolean(value) => Some(value),
            Expr::Unary(UnaryOp::Not, a) => Some(!self.fixed_boolean(a)?),
            Expr::Binary(BinaryOp::And, a, b) => {
                Some(self.fixed_boolean(a)? && self.fixed_boolean(b)?)
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                Some(self.fixed_boolean(a)? || self.fixed_boolean(b)?)
            }
            Expr::Var(var) => self.fixed_value(var)?.as_bool(),
            _ => None,
        }
    }

    /// The value of a constant, or of a scalar parameter that is evaluated at compile time.
    fn fixed_value(&mut self, var: VarId) -> Option<Value> {
        let (inst, _) = self.var_inst[var];
        let node = &self.insts[inst];
        let evaluate = || annotation_flag(node.decl?.annotation.as_ref(), "Evaluate");
        let fixed = match node.prefixes.variability {
            Variability::Constant => true,
            Variability::Parameter => {
                self.structural.contains_key(&inst) || evaluate() == Some(true)
            }
            Variability::Discrete | Variability::Continuous => false,
        };
        if fixed {
            self.value_of(inst, node.span).ok()
        } else {
            None
        }
    }
}
