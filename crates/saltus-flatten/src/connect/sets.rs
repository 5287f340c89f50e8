//! Connection sets and the equations they give (specification 9.2).
//!
//! An element of a set is a scalar variable as seen from inside or from outside its component. Potential variables of a set
//! are all equal to its first element; flow variables sum to zero, inside ones with sign +, outside ones with sign −; every
//! flow variable is in one set as inside variable, alone if nothing is connected.

use super::graph::Fate;
use super::matching::{Kind, LeafPair, Side};
use super::{negated, real_op, relation};
use crate::core::{Flattener, InstId, Purpose, Res};
use rustc_hash::FxHashMap;
use saltus_ir::flat::{Assert, Equation, Variability};
use saltus_ir::func::AssertLevel;
use saltus_ir::{Base, BinaryOp, Expr, ExprId, VarId};
use saltus_syntax::Diagnostic;
use saltus_syntax::ast::ConnectionPrefix;

/// An element of a connection set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub side: Side,
    pub kind: Kind,
    /// The first connect that mentions it; `None` if no connect does.
    pub link: Option<usize>,
}

/// All connection sets.
#[derive(Default)]
pub(super) struct Sets {
    pub nodes: Vec<Node>,
    index: FxHashMap<(VarId, bool), usize>,
    parent: Vec<usize>,
    /// Elements of each set in order of first mention; sets in order of their first element.
    pub members: Vec<Vec<usize>>,
    /// The set of each node.
    pub set_of: Vec<usize>,
}

impl Sets {
    fn node(&mut self, side: Side, kind: Kind, link: Option<usize>) -> usize {
        if let Some(&k) = self.index.get(&(side.var, side.outside)) {
            return k;
        }
        let k = self.nodes.len();
        self.index.insert((side.var, side.outside), k);
        self.nodes.push(Node { side, kind, link });
        self.parent.push(k);
        k
    }

    pub(super) fn find_node(&self, var: VarId, outside: bool) -> Option<usize> {
        self.index.get(&(var, outside)).copied()
    }

    fn find(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    fn join(&mut self, pair: &LeafPair) {
        let a = self.node(pair.a, pair.kind, Some(pair.link));
        let b = self.node(pair.b, pair.kind, Some(pair.link));
        let (ra, rb) = (self.find(a), self.find(b));
        // The smaller index stays on top, so that a set is named by its first element.
        self.parent[ra.max(rb)] = ra.min(rb);
    }

    /// Groups the nodes once all pairs are joined.
    fn close(&mut self) {
        let mut number: FxHashMap<usize, usize> = FxHashMap::default();
        for k in 0..self.nodes.len() {
            let top = self.find(k);
            let set = *number.entry(top).or_insert_with(|| {
                self.members.push(Vec::new());
                self.members.len() - 1
            });
            self.members[set].push(k);
            self.set_of.push(set);
        }
    }
}

impl<'a> Flattener<'a> {
    /// Adds the equations of all connections and replaces the operators whose meaning depends on connections.
    /// To be called when all other equations are collected.
    pub fn connection_equations(&mut self) -> Res<()> {
        self.check_connectors()?;
        self.match_connects()?;
        self.create_flow_variables()?;
        let sets = self.build_sets();
        for k in 0..self.graph.pairs.len() {
            let pair = self.graph.pairs[k];
            if pair.kind == Kind::Parameter {
                self.assert_equal(pair)?;
            }
        }
        for members in &sets.members {
            match sets.nodes[members[0]].kind {
                Kind::Potential => self.potential_equations(&sets, members)?,
                Kind::Flow => self.flow_equation(&sets, members),
                Kind::Stream | Kind::Parameter => {}
            }
        }
        for k in 0..self.graph.edges.len() {
            let edge = self.graph.edges[k];
            if edge.fate == Fate::Broken {
                self.residue_equations(edge)?;
            }
        }
        self.stream_equations(&sets)?;
        self.replace_connection_operators(&sets)
    }

    /// Flow variables that no equation and no connect mentions are variables of the model too.
    fn create_flow_variables(&mut self) -> Res<()> {
        for inst in self.insts.ids() {
            let node = &self.insts[inst];
            if node.prefixes.connection == ConnectionPrefix::Flow
                && node.purpose == Purpose::Component
                && node.builtin.is_some()
                && node.var.is_none()
                && self.is_part_of_model(inst)
            {
                self.var(inst)?;
            }
        }
        Ok(())
    }

    fn build_sets(&self) -> Sets {
        let mut sets = Sets::default();
        for pair in &self.graph.pairs {
            let kept = pair
                .edge
                .is_none_or(|edge| self.graph.edges[edge].fate == Fate::Kept);
            if kept && pair.kind != Kind::Parameter {
                sets.join(pair);
            }
        }
        for var in self.variables.ids() {
            let (inst, _) = self.var_inst[var];
            if self.insts[inst].prefixes.connection != ConnectionPrefix::Flow {
                continue;
            }
            sets.node(
                Side {
                    var,
                    inst,
                    outside: false,
                },
                Kind::Flow,
                None,
            );
            if self.is_added_member(inst) {
                sets.node(
                    Side {
                        var,
                        inst,
                        outside: true,
                    },
                    Kind::Flow,
                    None,
                );
            }
        }
        sets.close();
        sets
    }

    /// The instance is in a connector that connects added to an expandable connector.
    fn is_added_member(&self, inst: InstId) -> bool {
        let mut at = inst;
        while let Some(parent) = self.insts[at].parent {
            if self.insts[parent]
                .expandable_added
                .contains(&self.insts[at].name)
            {
                return true;
            }
            at = parent;
        }
        false
    }

    fn variable(&mut self, var: VarId) -> ExprId {
        let base = self.variables[var].base;
        self.ir.add_scalar(Expr::Var(var), base)
    }

    fn potential_equations(&mut self, sets: &Sets, members: &[usize]) -> Res<()> {
        self.check_sources(sets, members)?;
        let reference = self.variable(sets.nodes[members[0]].side.var);
        for &k in &members[1..] {
            let node = sets.nodes[k];
            let Some(link) = node.link.map(|link| self.graph.links[link]) else {
                continue;
            };
            let rhs = self.variable(node.side.var);
            // The same variable from inside and from outside, where an outer connector is its own inner.
            if rhs != reference {
                let origin = self.origin_in(link.within, link.span);
                self.sections.equations.push(Equation {
                    lhs: reference,
                    rhs,
                    origin,
                });
            }
        }
        Ok(())
    }

    /// At most one source of a signal (specification 9.3).
    fn check_sources(&self, sets: &Sets, members: &[usize]) -> Res<()> {
        let mut first: Option<Node> = None;
        for &k in members {
            let node = sets.nodes[k];
            let Some(link) = node.link.map(|link| self.graph.links[link]) else {
                continue;
            };
            if !self.is_source(node.side, link.within) {
                continue;
            }
            let Some(other) = first else {
                first = Some(node);
                continue;
            };
            let name = |node: Node| self.variables[node.side.var].name;
            let mut error = Diagnostic::error(
                "connector-mismatch",
                link.span,
                format!(
                    "`{}` and `{}` both give the value of one connected signal",
                    name(other),
                    name(node)
                ),
            )
            .label(format!("connects `{}`", name(node)));
            if let Some(link) = other.link {
                error = error.secondary(
                    self.graph.links[link].span,
                    format!("connects `{}`", name(other)),
                );
            }
            return Err(Box::new(error));
        }
        if first.is_none() {
            self.check_has_source(sets, members)?;
        }
        Ok(())
    }

    /// Connected inputs need a source, unless it can come from outside or from a bus (specification 9.3).
    fn check_has_source(&self, sets: &Sets, members: &[usize]) -> Res<()> {
        let causal = |node: Node| {
            self.insts[node.side.inst].prefixes.causality.is_some()
                && !self.within_expandable(node.side.inst)
        };
        let open = |node: Node| {
            let Some(link) = node.link.map(|link| self.graph.links[link]) else {
                return true;
            };
            // What feeds the bus of a component is connected inside of it.
            self.within_expandable(node.side.inst)
                || node.side.outside && self.is_protected_in(node.side.inst, link.within)
        };
        let nodes = || members.iter().map(|&k| sets.nodes[k]);
        let Some(reader) = nodes().find(|&node| causal(node)) else {
            return Ok(());
        };
        if nodes().any(open) {
            return Ok(());
        }
        let link = reader.link.map(|link| self.graph.links[link]);
        let Some(link) = link else { return Ok(()) };
        Err(Box::new(
            Diagnostic::error(
                "signal-without-source",
                link.span,
                format!(
                    "no output is connected with `{}`",
                    self.variables[reader.side.var].name
                ),
            )
            .help("connect it with an output, or with an input of the class around it"),
        ))
    }

    fn flow_equation(&mut self, sets: &Sets, members: &[usize]) {
        // Turned around if the first is an outside one: no leading minus.
        let turned = sets.nodes[members[0]].side.outside;
        let mut total: Option<ExprId> = None;
        for &k in members {
            let Side { var, outside, .. } = sets.nodes[k].side;
            let term = self.variable(var);
            let ir = &mut self.ir;
            total = Some(match (total, outside == turned) {
                (None, true) => term,
                (None, false) => negated(ir, term),
                (Some(total), true) => real_op(ir, BinaryOp::Add, total, term),
                (Some(total), false) => real_op(ir, BinaryOp::Sub, total, term),
            });
        }
        let first = sets.nodes[members[0]];
        let origin = match members.iter().find_map(|&k| sets.nodes[k].link) {
            Some(link) => {
                let link = self.graph.links[link];
                self.origin_in(link.within, link.span)
            }
            None => {
                let owner = self
                    .connector_of(first.side.inst)
                    .unwrap_or(first.side.inst);
                let within = self.insts[owner].parent.unwrap_or(owner);
                self.origin_in(within, self.insts[owner].span)
            }
        };
        let rhs = match self.variables[first.side.var].base {
            Base::Integer => self.ir.integer(0),
            _ => self.ir.real(0.0),
        };
        if let Some(lhs) = total {
            self.sections.equations.push(Equation { lhs, rhs, origin });
        }
    }

    /// Connected parameters and constants must be equal: no equation.
    fn assert_equal(&mut self, pair: LeafPair) -> Res<()> {
        let (a, b) = (pair.a.var, pair.b.var);
        if a == b || self.known_equal(pair) {
            return Ok(());
        }
        let message = format!(
            "connected parameters `{}` and `{}` must have the same value",
            self.variables[a].name, self.variables[b].name
        );
        let link = self.graph.links[pair.link];
        if self.insts[pair.a.inst].prefixes.variability == Variability::Constant {
            let message = message.replace("parameters", "constants");
            return Err(Box::new(Diagnostic::error(
                "connector-mismatch",
                link.span,
                message,
            )));
        }
        let (lhs, rhs) = (self.variable(a), self.variable(b));
        let condition = relation(&mut self.ir, BinaryOp::Eq, lhs, rhs);
        let message = self.ir.string(&message);
        let origin = self.origin_in(link.within, link.span);
        self.sections.asserts.push(Assert {
            condition,
            message,
            level: AssertLevel::Error,
            origin,
        });
        Ok(())
    }

    /// Both values are known at compile time, or given by the same literal, and equal.
    fn known_equal(&mut self, pair: LeafPair) -> bool {
        let known = |inst: InstId| self.values.get(&inst).cloned().flatten();
        if let (Some(a), Some(b)) = (known(pair.a.inst), known(pair.b.inst)) {
            return a == b;
        }
        let literal = |flattener: &mut Self, inst: InstId| {
            let binding = flattener.binding(inst).ok().flatten()?;
            flattener.ir.as_number(binding)
        };
        let (a, b) = (literal(self, pair.a.inst), literal(self, pair.b.inst));
        a.is_some() && a == b
    }
}
