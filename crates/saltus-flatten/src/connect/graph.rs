//! The virtual connection graph of overdetermined connectors (specification 9.4).
//!
//! Nodes are instances of a type or record with a function `equalityConstraint`; required edges come from `Connections.branch`,
//! optional ones from connects. The forest is grown as Kruskal does: required edges first, then optional ones in the order of the
//! connects, joining two trees unless both have a definite root. What closes a loop is broken: its connect gives
//! `0 = equalityConstraint(a, b)` instead of equalities.

use crate::core::{Child, Flattener, Found, InstId, OverconstrainedFact, Res};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use saltus_ir::flat::Equation;
use saltus_ir::{Base, Dim, Expr, ExprId, FuncId, Type, TypeId};
use saltus_syntax::{Diagnostic, Name, Span};
use std::collections::VecDeque;

/// A connect of two overdetermined instances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub a: InstId,
    pub b: InstId,
    /// Index in the links.
    pub link: usize,
    pub fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// In the forest: equalities.
    Kept,
    /// Closes a loop: residue equations.
    Broken,
    /// The same two instances are connected by an earlier connect.
    Repeated,
}

/// Trees of a growing forest, with their definite root.
#[derive(Default)]
struct Forest {
    index: IndexMap<InstId, usize>,
    parent: Vec<usize>,
    root: Vec<Option<InstId>>,
    /// Tree edges at each node.
    neighbours: Vec<Vec<usize>>,
}

impl Forest {
    fn node(&mut self, inst: InstId) -> usize {
        if let Some(&k) = self.index.get(&inst) {
            return k;
        }
        let k = self.parent.len();
        self.index.insert(inst, k);
        self.parent.push(k);
        self.root.push(None);
        self.neighbours.push(Vec::new());
        k
    }

    fn find(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    /// Joins the trees of two nodes by an edge; false if that would close a loop or join two roots.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (ta, tb) = (self.find(a), self.find(b));
        if ta == tb || (self.root[ta].is_some() && self.root[tb].is_some()) {
            return false;
        }
        let (keep, other) = (ta.min(tb), ta.max(tb));
        self.parent[other] = keep;
        self.root[keep] = self.root[keep].or(self.root[other]);
        self.neighbours[a].push(b);
        self.neighbours[b].push(a);
        true
    }
}

impl<'a> Flattener<'a> {
    /// Matches all connects and solves the virtual connection graph.
    pub fn solve_graph(&mut self) -> Res<()> {
        self.match_connects()?;
        let mut forest = Forest::default();
        let facts = self.sections.overconstrained.clone();
        for fact in &facts {
            if let OverconstrainedFact::Root { inst } = *fact {
                let k = forest.node(inst);
                forest.root[k] = Some(inst);
            }
        }
        for fact in &facts {
            if let OverconstrainedFact::Branch { a, b } = *fact {
                self.join_required(&mut forest, a, b)?;
            }
        }
        let mut connected: FxHashSet<(usize, usize)> = FxHashSet::default();
        for edge in &mut self.graph.edges {
            let (a, b) = (forest.node(edge.a), forest.node(edge.b));
            edge.fate = if a == b || !connected.insert((a.min(b), a.max(b))) {
                Fate::Repeated
            } else if forest.join(a, b) {
                Fate::Kept
            } else {
                Fate::Broken
            };
        }
        self.choose_roots(&mut forest, &facts);
        self.measure_levels(&forest);
        Ok(())
    }

    fn join_required(&mut self, forest: &mut Forest, a: InstId, b: InstId) -> Res<()> {
        let (ka, kb) = (forest.node(a), forest.node(b));
        // The same branch stated twice is harmless.
        if ka == kb || forest.neighbours[ka].contains(&kb) || forest.join(ka, kb) {
            return Ok(());
        }
        let (ta, tb) = (forest.find(ka), forest.find(kb));
        let message = if ta == tb {
            format!(
                "`Connections.branch` statements close a loop at `{}` and `{}`",
                self.insts[a].path, self.insts[b].path
            )
        } else {
            let name =
                |root: Option<InstId>| root.map_or(Name::new(""), |root| self.insts[root].path);
            format!(
                "`Connections.branch` statements join the roots `{}` and `{}`",
                name(forest.root[ta]),
                name(forest.root[tb])
            )
        };
        Err(Box::new(
            Diagnostic::error("overconstrained-branches", self.insts[a].span, message)
                .secondary(self.insts[b].span, "the other end of the branch"),
        ))
    }

    /// Trees without definite root get the potential root of lowest priority, the first of equals.
    fn choose_roots(&mut self, forest: &mut Forest, facts: &[OverconstrainedFact]) {
        let mut best: IndexMap<usize, (i64, InstId)> = IndexMap::new();
        for fact in facts {
            if let OverconstrainedFact::PotentialRoot { inst, priority } = *fact {
                let k = forest.node(inst);
                let tree = forest.find(k);
                let entry = best.entry(tree).or_insert((priority, inst));
                if priority < entry.0 {
                    *entry = (priority, inst);
                }
            }
        }
        for k in 0..forest.parent.len() {
            let tree = forest.find(k);
            if forest.root[tree].is_some() {
                continue;
            }
            let root = best.get(&tree).map(|(_, inst)| *inst);
            let first = forest.index.get_index(k).map(|(inst, _)| *inst);
            if let (None, Some(inst)) = (root, first) {
                self.diagnostics.push(
                    Diagnostic::warning(
                        "overconstrained-no-root",
                        self.insts[inst].span,
                        format!("no root is stated for the connected part with `{}`", self.insts[inst].path),
                    )
                    .help("state `Connections.root` or `Connections.potentialRoot` for one connector of it"),
                );
            }
            forest.root[tree] = root.or(first);
        }
        for k in 0..forest.parent.len() {
            if forest.find(k) == k {
                self.graph.roots.extend(forest.root[k]);
            }
        }
    }

    /// Distances from the roots, breadth first.
    fn measure_levels(&mut self, forest: &Forest) {
        let mut queue: VecDeque<(usize, u32)> = forest
            .index
            .iter()
            .filter(|(inst, _)| self.graph.roots.contains(*inst))
            .map(|(_, &k)| (k, 0))
            .collect();
        while let Some((k, level)) = queue.pop_front() {
            let Some((&inst, _)) = forest.index.get_index(k) else {
                continue;
            };
            if self.graph.levels.contains_key(&inst) {
                continue;
            }
            self.graph.levels.insert(inst, level);
            queue.extend(forest.neighbours[k].iter().map(|&n| (n, level + 1)));
        }
    }

    /// `Connections.isRoot(inst)`
    pub fn is_root(&self, inst: InstId) -> bool {
        self.graph.roots.contains(&inst)
    }

    /// `Connections.rooted(inst)`: nearer to the root than the other end of its branch.
    pub fn rooted(&self, inst: InstId) -> bool {
        let level = |inst: InstId| self.graph.levels.get(&inst).copied();
        let other = self
            .sections
            .overconstrained
            .iter()
            .find_map(|fact| match *fact {
                OverconstrainedFact::Branch { a, b } if a == inst => Some(b),
                _ => None,
            });
        let other = other.or_else(|| {
            self.sections
                .overconstrained
                .iter()
                .find_map(|fact| match *fact {
                    OverconstrainedFact::Branch { a, b } if b == inst => Some(a),
                    _ => None,
                })
        });
        match (level(inst), other.and_then(level)) {
            (Some(here), Some(there)) => here < there,
            _ => false,
        }
    }

    /// `cardinality(inst)`: in how many connects the connector occurs.
    pub fn cardinality(&self, inst: InstId) -> i64 {
        self.graph
            .cardinality
            .get(&inst)
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn is_overdetermined(&self, inst: InstId) -> bool {
        self.insts[inst]
            .elements
            .contains_key(&Name::new(EQUALITY_CONSTRAINT))
    }

    /// The function `equalityConstraint` of the class of an overdetermined instance.
    pub(super) fn equality_constraint(&mut self, inst: InstId, span: Span) -> Res<FuncId> {
        if let Some(Found::Class(class)) =
            self.inst_member(inst, Name::new(EQUALITY_CONSTRAINT), span)?
        {
            let function = self.class_inst(&class)?;
            return self.function_of_inst(function);
        }
        Err(self.wrong_argument(inst, span))
    }

    /// `0 = equalityConstraint(a, b)` for a broken connect, scalar by scalar.
    pub(super) fn residue_equations(&mut self, edge: Edge) -> Res<()> {
        let link = self.graph.links[edge.link];
        let function = self.equality_constraint(edge.a, link.span)?;
        let (inputs, output) = {
            let function = &self.ir.functions[function];
            (function.inputs.clone(), function.outputs.first().copied())
        };
        let (&[r1, r2], Some(output)) = (&inputs[..], output) else {
            return Err(Box::new(Diagnostic::error(
                "wrong-equality-constraint",
                self.ir.functions[function].span,
                "`equalityConstraint` must have two inputs and one output",
            )));
        };
        let (ty1, ty2, ty) = (
            self.ir.locals[r1].ty,
            self.ir.locals[r2].ty,
            self.ir.locals[output].ty,
        );
        let a = self.value_of_type(edge.a, ty1, link.span)?;
        let b = self.value_of_type(edge.b, ty2, link.span)?;
        let call = self.ir.add(
            Expr::Call {
                function,
                args: Box::new([a, b]),
            },
            ty,
        );
        let zero = self.ir.real(0.0);
        let origin = self.origin_in(link.within, link.span);
        let residues = saltus_ir::scalar::scalarize(&mut self.ir, call).map_err(|error| {
            Box::new(
                Diagnostic::error(
                    "wrong-equality-constraint",
                    link.span,
                    format!("`equalityConstraint` cannot be used: {error}"),
                )
                .secondary(self.ir.functions[function].span, "declared here"),
            )
        })?;
        self.sections
            .equations
            .extend(residues.into_iter().map(|lhs| Equation {
                lhs,
                rhs: zero,
                origin,
            }));
        Ok(())
    }

    /// The value of a component as an expression of the given type: variables, arrays and records of them.
    fn value_of_type(&mut self, inst: InstId, ty: TypeId, span: Span) -> Res<ExprId> {
        let Type { base, dims } = self.ir.type_of_id(ty).clone();
        if let Base::Record(record) = base {
            if !dims.is_empty() {
                return Err(self.wrong_argument(inst, span));
            }
            let fields: Vec<(Name, TypeId)> = self.ir.records[record]
                .fields
                .iter()
                .map(|f| (f.name, f.ty))
                .collect();
            let mut values = Vec::with_capacity(fields.len());
            for (name, field_ty) in fields {
                let value = match self.child(inst, name, span)? {
                    Child::One(member) | Child::Outer(member) => {
                        self.value_of_type(member, field_ty, span)?
                    }
                    Child::Array { elems, .. } | Child::OuterArray { elems, .. } => {
                        let field = self.ir.type_of_id(field_ty).clone();
                        let [_] = field.dims[..] else {
                            return Err(self.wrong_argument(inst, span));
                        };
                        let element = self.ir.intern_type(Type::scalar(field.base));
                        let mut items = Vec::with_capacity(elems.len());
                        for &elem in elems.iter() {
                            items.push(self.value_of_type(elem, element, span)?);
                        }
                        let ty = Type::array(field.base, &[items.len()]);
                        self.ir.add_typed(Expr::Array(items.into()), ty)
                    }
                    Child::Absent | Child::Class(_) | Child::InProgress => {
                        return Err(self.wrong_argument(inst, span));
                    }
                };
                values.push(value);
            }
            let ty = self.ir.intern_type(Type::scalar(base));
            return Ok(self.ir.add(
                Expr::Record {
                    record,
                    fields: values.into(),
                },
                ty,
            ));
        }
        let range = self.var(inst)?;
        let fits = dims.len() == range.dims.len()
            && dims
                .iter()
                .zip(range.dims.iter())
                .all(|(dim, &n)| match dim {
                    Dim::Known(known) => *known as usize == n,
                    Dim::Unknown => true,
                });
        if range.base != base || !fits {
            return Err(self.wrong_argument(inst, span));
        }
        Ok(if dims.is_empty() {
            self.ir.add_scalar(Expr::Var(range.first), base)
        } else {
            self.ir
                .add_typed(Expr::VarArray(range.first), Type::array(base, &range.dims))
        })
    }

    fn wrong_argument(&self, inst: InstId, span: Span) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(
            "wrong-equality-constraint",
            span,
            format!(
                "`{}` does not fit the inputs of its function `equalityConstraint`",
                self.insts[inst].path
            ),
        ))
    }
}

pub(super) const EQUALITY_CONSTRAINT: &str = "equalityConstraint";
