//! Connections: from `connect` statements to equations (specification chapters 9 and 15).
//!
//! Comes in: [`crate::core::Sections::connects`] (scalar pairs of connector instances), facts about the virtual connection graph,
//! connects to undeclared members of expandable connectors. Goes out: equations, asserts, and expressions without
//! `inStream`, `actualStream`, `cardinality`, `isRoot` and `rooted`.
//!
//! Order of calls, all methods of [`Flattener`]:
//! 1. `expand_expandable` once all connects are collected: members of expandable connectors (9.1.3);
//! 2. `solve_graph`: matches the connectors of each connect and finds the spanning forest (9.4); then `is_root`, `rooted` and
//!    `cardinality` answer;
//! 3. `connection_equations` once all other equations are collected.
//!
//! | room | what it owns |
//! |---|---|
//! | `matching` | pairs of primitive variables of two connectors, and the restrictions of 9.3 on them |
//! | `restrictions` | restrictions on single connectors |
//! | `expandable` | members of expandable connectors |
//! | `graph` | the virtual connection graph |
//! | `sets` | connection sets and their equations |
//! | `streams` | `inStream`, `actualStream`, equations of outside stream variables |
//! | `rewrite` | replacing nodes in everything that was collected |

mod expandable;
mod graph;
mod matching;
mod restrictions;
mod rewrite;
mod sets;
mod streams;

pub use expandable::PendingExpandable;
pub(crate) use rewrite::{for_each_root, in_statements, rewrite};

use crate::core::{Child, ConnectorEnd, ElementKind, Flattener, InstId, Res};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::Origin;
use saltus_ir::{Base, BinaryOp, Expr, ExprId, Ir, UnaryOp};
use saltus_syntax::{Name, Span, ast};

/// What is known about connections between the passes.
#[derive(Default)]
pub struct GraphResult {
    /// All connects, those to members of expandable connectors included.
    links: Vec<Link>,
    /// Number of `sections.connects` already among the links.
    n_taken: usize,
    /// Primitive variables matched by the connects so far, in their order.
    pairs: Vec<matching::LeafPair>,
    /// Connects of overdetermined instances.
    edges: Vec<graph::Edge>,
    /// Number of links already matched.
    n_matched: usize,
    roots: FxHashSet<InstId>,
    /// Distance from the root of the spanning tree, of the nodes of the graph.
    levels: FxHashMap<InstId, u32>,
    cardinality: FxHashMap<InstId, i64>,
}

/// A connect, of two scalar connectors.
#[derive(Clone, Copy, Debug)]
struct Link {
    within: InstId,
    a: ConnectorEnd,
    b: ConnectorEnd,
    span: Span,
}

impl<'a> Flattener<'a> {
    /// Names of the components of an instance in declaration order, added members of expandable connectors last.
    fn member_names(&mut self, inst: InstId) -> Res<Vec<Name>> {
        self.elaborate(inst)?;
        let inst = &self.insts[inst];
        let mut names: Vec<Name> = inst
            .elements
            .iter()
            .filter(|(_, element)| matches!(element.kind, ElementKind::Component(_)))
            .map(|(name, _)| *name)
            .collect();
        for &added in &inst.expandable_added {
            if !names.contains(&added) {
                names.push(added);
            }
        }
        Ok(names)
    }

    fn is_expandable(&self, inst: InstId) -> bool {
        self.insts[inst].restriction == ast::Restriction::ExpandableConnector
    }

    /// The instance is a member, at any depth, of an expandable connector.
    fn within_expandable(&self, inst: InstId) -> bool {
        let mut at = self.insts[inst].parent;
        while let Some(parent) = at {
            if self.is_expandable(parent) {
                return true;
            }
            at = self.insts[parent].parent;
        }
        false
    }

    /// The connector instance that an instance is part of: itself or the nearest one around it.
    fn connector_of(&self, inst: InstId) -> Option<InstId> {
        let mut at = Some(inst);
        while let Some(here) = at {
            use ast::Restriction::{Connector, ExpandableConnector};
            if matches!(
                self.insts[here].restriction,
                Connector | ExpandableConnector
            ) {
                return Some(here);
            }
            at = self.insts[here].parent;
        }
        None
    }

    fn origin_in(&self, within: InstId, span: Span) -> Origin {
        Origin {
            span,
            component: self.insts[within].path,
        }
    }
}

/// The instances behind a child: one, the elements of an array, or none.
fn instances(child: &Child) -> &[InstId] {
    match child {
        Child::One(inst) | Child::Outer(inst) => std::slice::from_ref(inst),
        Child::Array { elems, .. } | Child::OuterArray { elems, .. } => elems,
        Child::Absent | Child::Class(_) | Child::InProgress => &[],
    }
}

fn real_op(ir: &mut Ir, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
    ir.add_scalar(Expr::Binary(op, a, b), Base::Real)
}

fn relation(ir: &mut Ir, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
    ir.add_scalar(Expr::Binary(op, a, b), Base::Boolean)
}

fn negated(ir: &mut Ir, a: ExprId) -> ExprId {
    let base = ir.base(a);
    ir.add_scalar(Expr::Unary(UnaryOp::Neg, a), base)
}

/// Sums in the order given; `None` for no terms.
fn sum(ir: &mut Ir, terms: &[ExprId]) -> Option<ExprId> {
    let (&first, rest) = terms.split_first()?;
    Some(rest.iter().fold(first, |total, &term| {
        real_op(ir, BinaryOp::Add, total, term)
    }))
}
