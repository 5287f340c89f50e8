//! Two connected connectors, member by member, down to primitive variables (restrictions of specification 9.3).

use super::graph::{Edge, Fate};
use super::{GraphResult, Link};
use crate::core::{Child, Connect, Flattener, InstId, Res};
use saltus_ir::flat::Variability;
use saltus_ir::{Base, VarId};
use saltus_syntax::ast::{Causality, ConnectionPrefix};
use saltus_syntax::{Diagnostic, Name};

/// Connectors inside connectors, at most.
const DEPTH_MAX: u32 = 50;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Potential,
    Flow,
    Stream,
    /// Parameters and constants: no equation, an assert.
    Parameter,
}

/// A scalar variable as one side of a connect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub var: VarId,
    pub inst: InstId,
    pub outside: bool,
}

/// Two scalar variables that a connect puts in one set.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafPair {
    pub a: Side,
    pub b: Side,
    pub kind: Kind,
    /// Index in the links.
    pub link: usize,
    /// The connected overdetermined instances that the variables are part of.
    pub edge: Option<usize>,
}

/// What stays the same while one connect is matched.
#[derive(Clone, Copy)]
struct Matching {
    link: usize,
    a_outside: bool,
    b_outside: bool,
}

impl<'a> Flattener<'a> {
    /// Matches all connects that are new since the last call.
    pub(super) fn match_connects(&mut self) -> Res<()> {
        let n_taken = self.graph.n_taken;
        self.graph.n_taken = self.sections.connects.len();
        for &Connect {
            within, a, b, span, ..
        } in &self.sections.connects[n_taken..]
        {
            self.graph.links.push(Link { within, a, b, span });
        }
        for k in self.graph.n_matched..self.graph.links.len() {
            self.graph.n_matched += 1;
            let Link { a, b, .. } = self.graph.links[k];
            for end in [a, b] {
                *self.graph.cardinality.entry(end.inst).or_insert(0) += 1;
                self.check_form(self.graph.links[k], end.inst)?;
            }
            let matching = Matching {
                link: k,
                a_outside: a.outside,
                b_outside: b.outside,
            };
            self.elaborate(a.inst)?;
            self.elaborate(b.inst)?;
            if self.insts[a.inst].builtin.is_some() && self.insts[b.inst].builtin.is_some() {
                let edge = self.graph_edge(matching, a.inst, b.inst, None);
                self.match_variables(matching, a.inst, b.inst, Some((a.offset, b.offset)), edge)?;
            } else {
                self.match_instances(matching, a.inst, b.inst, None, 0)?;
            }
        }
        Ok(())
    }

    /// Records an optional edge of the virtual connection graph if both instances are of an overdetermined type.
    fn graph_edge(
        &mut self,
        matching: Matching,
        a: InstId,
        b: InstId,
        edge: Option<usize>,
    ) -> Option<usize> {
        if edge.is_some() || !(self.is_overdetermined(a) && self.is_overdetermined(b)) {
            return edge;
        }
        let state: &mut GraphResult = &mut self.graph;
        state.edges.push(Edge {
            a,
            b,
            link: matching.link,
            fate: Fate::Kept,
        });
        Some(state.edges.len() - 1)
    }

    fn match_instances(
        &mut self,
        matching: Matching,
        a: InstId,
        b: InstId,
        edge: Option<usize>,
        depth: u32,
    ) -> Res<()> {
        if depth > DEPTH_MAX {
            return Err(self.mismatch(
                matching,
                a,
                b,
                format!("connectors are nested more than {DEPTH_MAX} deep"),
            ));
        }
        self.elaborate(a)?;
        self.elaborate(b)?;
        let edge = self.graph_edge(matching, a, b, edge);
        match (
            self.insts[a].builtin.is_some(),
            self.insts[b].builtin.is_some(),
        ) {
            (true, true) => self.match_variables(matching, a, b, None, edge),
            (false, false) => self.match_members(matching, a, b, edge, depth),
            (true, false) => {
                let text = format!(
                    "`{}` is a single variable, `{}` has members",
                    self.insts[a].path, self.insts[b].path
                );
                Err(self.mismatch(matching, a, b, text))
            }
            (false, true) => {
                let text = format!(
                    "`{}` is a single variable, `{}` has members",
                    self.insts[b].path, self.insts[a].path
                );
                Err(self.mismatch(matching, a, b, text))
            }
        }
    }

    fn match_members(
        &mut self,
        matching: Matching,
        a: InstId,
        b: InstId,
        edge: Option<usize>,
        depth: u32,
    ) -> Res<()> {
        let span = self.graph.links[matching.link].span;
        let names = self.member_names(a)?;
        for name in self.member_names(b)? {
            if !names.contains(&name) && !matches!(self.child(b, name, span)?, Child::Absent) {
                return Err(self.missing_member(matching, a, b, name));
            }
        }
        let in_b = self.member_names(b)?;
        for name in names {
            let child_a = self.child(a, name, span)?;
            if !in_b.contains(&name) {
                if matches!(child_a, Child::Absent) {
                    continue;
                }
                return Err(self.missing_member(matching, b, a, name));
            }
            let child_b = self.child(b, name, span)?;
            match (&child_a, &child_b) {
                (Child::Absent, Child::Absent) => {}
                (Child::Outer(x), Child::Outer(_)) => {
                    let text = format!("`{name}` is an outer element in both");
                    return Err(self.mismatch(matching, *x, b, text));
                }
                (Child::One(x) | Child::Outer(x), Child::One(y) | Child::Outer(y)) => {
                    self.match_instances(matching, *x, *y, edge, depth + 1)?;
                }
                (
                    Child::Array {
                        dims: dims_a,
                        elems: elems_a,
                    }
                    | Child::OuterArray {
                        dims: dims_a,
                        elems: elems_a,
                    },
                    Child::Array {
                        dims: dims_b,
                        elems: elems_b,
                    }
                    | Child::OuterArray {
                        dims: dims_b,
                        elems: elems_b,
                    },
                ) => {
                    if dims_a != dims_b {
                        let text = format!(
                            "`{name}` has size {} here and {} there",
                            sizes(dims_a),
                            sizes(dims_b)
                        );
                        return Err(self.mismatch(matching, a, b, text));
                    }
                    for (&x, &y) in elems_a.iter().zip(elems_b.iter()) {
                        self.match_instances(matching, x, y, edge, depth + 1)?;
                    }
                }
                (Child::Absent, _) => return Err(self.missing_member(matching, a, b, name)),
                (_, Child::Absent) => return Err(self.missing_member(matching, b, a, name)),
                _ => {
                    let text = format!("`{name}` is an array in only one of them");
                    return Err(self.mismatch(matching, a, b, text));
                }
            }
        }
        Ok(())
    }

    /// Matches two builtin-typed components: all elements, or the one at the given offsets.
    fn match_variables(
        &mut self,
        matching: Matching,
        a: InstId,
        b: InstId,
        offsets: Option<(u32, u32)>,
        edge: Option<usize>,
    ) -> Res<()> {
        let kind = self.kind_of_pair(matching, a, b)?;
        let range_a = self.var(a)?;
        let range_b = self.var(b)?;
        if range_a.base != range_b.base {
            let text = format!(
                "`{}` is {}, `{}` is {}",
                self.insts[a].path,
                self.base_name(range_a.base),
                self.insts[b].path,
                self.base_name(range_b.base)
            );
            return Err(self.mismatch(matching, a, b, text));
        }
        let offsets: Vec<(u32, u32)> = match offsets {
            Some(offsets) => vec![offsets],
            None if range_a.dims == range_b.dims => (0..range_a.dims.iter().product::<usize>()
                as u32)
                .map(|k| (k, k))
                .collect(),
            None => {
                let text = format!(
                    "`{}` has size {}, `{}` has size {}",
                    self.insts[a].path,
                    sizes(&range_a.dims),
                    self.insts[b].path,
                    sizes(&range_b.dims)
                );
                return Err(self.mismatch(matching, a, b, text));
            }
        };
        for (offset_a, offset_b) in offsets {
            let side = |first: VarId, offset, inst, outside| Side {
                var: VarId(first.0 + offset),
                inst,
                outside,
            };
            self.graph.pairs.push(LeafPair {
                a: side(range_a.first, offset_a, a, matching.a_outside),
                b: side(range_b.first, offset_b, b, matching.b_outside),
                kind,
                link: matching.link,
                edge,
            });
        }
        Ok(())
    }

    fn kind_of_pair(&self, matching: Matching, a: InstId, b: InstId) -> Res<Kind> {
        let (pa, pb) = (self.insts[a].prefixes, self.insts[b].prefixes);
        let differ = |what: &str| {
            let text = format!(
                "only one of `{}` and `{}` is {what}",
                self.insts[a].path, self.insts[b].path
            );
            Err(self.mismatch(matching, a, b, text))
        };
        let prefix = |p: ConnectionPrefix| match p {
            ConnectionPrefix::None => "",
            ConnectionPrefix::Flow => "a flow variable",
            ConnectionPrefix::Stream => "a stream variable",
        };
        if pa.connection != pb.connection {
            let named = if pa.connection == ConnectionPrefix::None {
                pb.connection
            } else {
                pa.connection
            };
            return differ(prefix(named));
        }
        let fixed = |v: Variability| v <= Variability::Parameter;
        if fixed(pa.variability) != fixed(pb.variability) {
            return differ("a parameter or constant");
        }
        if fixed(pa.variability) {
            if pa.variability != pb.variability {
                return differ("a constant");
            }
            return Ok(Kind::Parameter);
        }
        if pa.causality.is_some() != pb.causality.is_some()
            && !self.within_expandable(a)
            && !self.within_expandable(b)
        {
            return differ("input or output");
        }
        Ok(match pa.connection {
            ConnectionPrefix::None => Kind::Potential,
            ConnectionPrefix::Flow => Kind::Flow,
            ConnectionPrefix::Stream => Kind::Stream,
        })
    }

    /// The variable of a causal connection set gives the signal: an inside output, or a public outside input.
    pub(super) fn is_source(&self, side: Side, within: InstId) -> bool {
        if self.within_expandable(side.inst) {
            return false;
        }
        match self.insts[side.inst].prefixes.causality {
            Some(Causality::Output) => !side.outside,
            Some(Causality::Input) => side.outside && !self.is_protected_in(side.inst, within),
            None => false,
        }
    }

    pub(super) fn is_protected_in(&self, inst: InstId, within: InstId) -> bool {
        let mut at = inst;
        while let Some(parent) = self.insts[at].parent {
            if parent == within {
                let name = self.insts[at].name;
                return self.insts[within]
                    .elements
                    .get(&name)
                    .is_some_and(|element| element.protected);
            }
            at = parent;
        }
        false
    }

    fn base_name(&self, base: Base) -> String {
        match base {
            Base::Real => "Real".into(),
            Base::Integer => "Integer".into(),
            Base::Boolean => "Boolean".into(),
            Base::String => "String".into(),
            Base::Clock => "Clock".into(),
            Base::Enum(id) => format!("of enumeration `{}`", self.ir.enums[id].name),
            Base::Record(id) => format!("of record `{}`", self.ir.records[id].name),
            Base::Object(id) => format!("of external object `{}`", self.ir.objects[id].name),
            Base::Function => "a function".into(),
        }
    }

    fn missing_member(
        &self,
        matching: Matching,
        without: InstId,
        with: InstId,
        name: Name,
    ) -> Box<Diagnostic> {
        let text = format!(
            "`{}` has no member `{name}`, `{}` has",
            self.insts[without].path, self.insts[with].path
        );
        self.mismatch(matching, without, with, text)
    }

    fn mismatch(&self, matching: Matching, a: InstId, b: InstId, text: String) -> Box<Diagnostic> {
        let link = &self.graph.links[matching.link];
        let message = format!(
            "`{}` and `{}` cannot be connected: {text}",
            self.insts[link.a.inst].path, self.insts[link.b.inst].path
        );
        Box::new(
            Diagnostic::error("connector-mismatch", link.span, message)
                .secondary(
                    self.insts[a].span,
                    format!("`{}` is declared here", self.insts[a].path),
                )
                .secondary(
                    self.insts[b].span,
                    format!("`{}` is declared here", self.insts[b].path),
                ),
        )
    }
}

fn sizes(dims: &[usize]) -> String {
    let texts: Vec<String> = dims.iter().map(ToString::to_string).collect();
    format!("[{}]", texts.join(", "))
}
