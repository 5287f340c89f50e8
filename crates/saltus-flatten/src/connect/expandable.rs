//! Expandable connectors (specification 9.1.3): members that connects add, and declared members that nothing uses.
//!
//! Two instances that a connect joins get the same present members; a member that is an expandable connector itself is joined
//! in turn. The passes repeat until nothing is added. Declared members that no connect mentions become absent.

use super::{Link, instances};
use crate::core::{Child, Connect, ConnectorEnd, ElementKind, Flattener, InstId, Purpose, Res};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::Variability;
use saltus_syntax::{Diagnostic, Name, Span, ast};

/// Bound of the passes that add members: busses inside busses are rarely more than three deep.
const PASSES_MAX: usize = 100;

/// Deepest nesting of a connector that connecting may add members to: deeper only if a bus is connected with its own member.
const BUS_DEPTH_MAX: u32 = 60;

/// `connect(bus.member, other)` where the expandable connector `bus` has no such member yet.
pub struct PendingExpandable {
    pub within: InstId,
    /// The innermost declared expandable connector of the reference.
    pub bus: InstId,
    /// Names after the bus; the last one is to be added.
    pub member: Vec<Name>,
    /// Subscripts on the last name, from 1.
    pub subs: Vec<u32>,
    pub other: ConnectorEnd,
    /// The other end was written without subscripts: all elements of a builtin-typed array, not only `other.offset`.
    pub whole: bool,
    pub span: Span,
}

/// Array dimensions of added members: the largest subscripts that connects use.
type MemberSizes = FxHashMap<(InstId, Vec<Name>), Vec<usize>>;

impl PendingExpandable {
    fn key(&self) -> (InstId, Vec<Name>) {
        (self.bus, self.member.clone())
    }
}

#[derive(Default)]
struct Busses {
    /// Members of expandable connectors that a connect mentions.
    present: FxHashSet<InstId>,
    /// Joined expandable connectors.
    pairs: Vec<(InstId, InstId)>,
    known_pairs: FxHashSet<(InstId, InstId)>,
}

impl Busses {
    fn join(&mut self, a: InstId, b: InstId) {
        if a != b && self.known_pairs.insert((a.min(b), a.max(b))) {
            self.pairs.push((a, b));
        }
    }
}

impl<'a> Flattener<'a> {
    /// Gives expandable connectors their members. To be called when all connects are collected.
    pub fn expand_expandable(&mut self) -> Res<()> {
        let any = self.insts.ids().any(|inst| self.is_expandable(inst));
        if !any {
            return Ok(());
        }
        let mut busses = Busses::default();
        for k in 0..self.sections.connects.len() {
            let Connect { a, b, span, .. } = self.sections.connects[k];
            self.note_connect(&mut busses, a.inst, b.inst, span)?;
        }
        let mut pending = std::mem::take(&mut self.sections.pending_expandable);
        let mut sizes = MemberSizes::default();
        for connect in &pending {
            let size = sizes
                .entry(connect.key())
                .or_insert_with(|| vec![0; connect.subs.len()]);
            for (dim, &sub) in size.iter_mut().zip(&connect.subs) {
                *dim = (*dim).max(sub as usize);
            }
        }
        let mut passes = 0;
        loop {
            let mut changed = false;
            let mut waiting = Vec::new();
            for connect in pending {
                if self.resolve_pending(&mut busses, &sizes, &connect)? {
                    changed = true;
                } else {
                    waiting.push(connect);
                }
            }
            pending = waiting;
            let mut k = 0;
            while k < busses.pairs.len() {
                let (a, b) = busses.pairs[k];
                if self.insts[a].depth.max(self.insts[b].depth) > BUS_DEPTH_MAX {
                    return Err(Box::new(
                        Diagnostic::error(
                            "recursive-expandable",
                            self.insts[a].span,
                            "an expandable connector is connected with a connector inside itself",
                        )
                        .help("connect the bus and its sub-bus with different components"),
                    ));
                }
                changed |= self.augment(&mut busses, a, b)?;
                changed |= self.augment(&mut busses, b, a)?;
                k += 1;
            }
            if !changed {
                break;
            }
            passes += 1;
            if passes > PASSES_MAX {
                let (a, _) = busses.pairs[0];
                return Err(Box::new(Diagnostic::error(
                    "recursive-expandable",
                    self.insts[a].span,
                    format!("expandable connectors keep growing after {PASSES_MAX} passes"),
                )));
            }
        }
        if let Some(connect) = pending.first() {
            let member: Vec<&str> = connect.member.iter().map(|name| name.as_str()).collect();
            return Err(Box::new(
                Diagnostic::error(
                    "undeclared-bus-member",
                    connect.span,
                    format!(
                        "`{}` has no member `{}` to connect",
                        self.insts[connect.bus].path,
                        member.join(".")
                    ),
                )
                .help(
                    "one end of a connect must be declared, or added to the bus by another connect",
                ),
            ));
        }
        self.drop_absent_members(&busses)
    }

    /// Marks what a connect mentions and joins expandable connectors.
    fn note_connect(&mut self, busses: &mut Busses, a: InstId, b: InstId, span: Span) -> Res<()> {
        self.mark_present(busses, a);
        self.mark_present(busses, b);
        match (self.is_expandable(a), self.is_expandable(b)) {
            (true, true) => busses.join(a, b),
            (false, false) => {}
            (a_expandable, _) => {
                let (bus, other) = if a_expandable { (a, b) } else { (b, a) };
                return Err(Box::new(
                    Diagnostic::error(
                        "connector-mismatch",
                        span,
                        format!(
                            "the expandable connector `{}` cannot be connected with `{}`, which is not expandable",
                            self.insts[bus].path, self.insts[other].path
                        ),
                    )
                    .help("connect a member of the bus"),
                ));
            }
        }
        Ok(())
    }

    fn mark_present(&self, busses: &mut Busses, inst: InstId) -> bool {
        let mut at = inst;
        let mut added = false;
        while let Some(parent) = self.insts[at].parent {
            if self.is_expandable(parent) {
                added |= busses.present.insert(at);
            }
            at = parent;
        }
        added
    }

    /// Adds the member of a pending connect if the bus that is to have it exists by now.
    fn resolve_pending(
        &mut self,
        busses: &mut Busses,
        sizes: &MemberSizes,
        pending: &PendingExpandable,
    ) -> Res<bool> {
        let Some((&last, path)) = pending.member.split_last() else {
            return Ok(false);
        };
        let mut bus = pending.bus;
        for &name in path {
            if !self.has_member(bus, name)? {
                return Ok(false);
            }
            match self.child(bus, name, pending.span)? {
                Child::One(inst) | Child::Outer(inst) => bus = inst,
                _ => return Ok(false),
            }
        }
        if !self.has_member(bus, last)? {
            if !self.is_expandable(bus) {
                return Ok(false);
            }
            let added = self.add_member_like(bus, last, pending.other.inst)?;
            if self.insts[added].builtin.is_some() {
                if !pending.subs.is_empty() {
                    self.insts[added].dims = Some(
                        sizes
                            .get(&pending.key())
                            .cloned()
                            .unwrap_or_default()
                            .into(),
                    );
                } else if !pending.whole {
                    self.insts[added].dims = Some([].into());
                }
            } else if !pending.subs.is_empty() {
                return Err(Box::new(
                    Diagnostic::error(
                        "unsupported-feature",
                        pending.span,
                        format!(
                            "adding an array of connectors to `{}` is not supported",
                            self.insts[bus].path
                        ),
                    )
                    .help(format!("declare `{last}` in the expandable connector")),
                ));
            }
        }
        let child = self.child(bus, last, pending.span)?;
        let Some(member) = self.member_element(&child, &pending.subs) else {
            return Err(Box::new(Diagnostic::error(
                "connector-mismatch",
                pending.span,
                format!(
                    "`{}.{last}` has no element with these subscripts",
                    self.insts[bus].path
                ),
            )));
        };
        self.note_connect(busses, member.0, pending.other.inst, pending.span)?;
        let n = if pending.whole && self.insts[member.0].builtin.is_some() {
            self.var(pending.other.inst)?.dims.iter().product::<usize>() as u32
        } else {
            1
        };
        for k in 0..n {
            let outside = self.is_outside(pending.bus, pending.within);
            self.graph.links.push(Link {
                within: pending.within,
                a: ConnectorEnd {
                    inst: member.0,
                    offset: member.1 + k,
                    outside,
                },
                b: ConnectorEnd {
                    offset: pending.other.offset + k,
                    ..pending.other
                },
                span: pending.span,
            });
        }
        Ok(true)
    }

    /// The instance, and for a builtin-typed array the offset, that subscripts select.
    fn member_element(&mut self, child: &Child, subs: &[u32]) -> Option<(InstId, u32)> {
        let flat_index = |dims: &[usize]| -> Option<usize> {
            if dims.len() != subs.len() {
                return None;
            }
            dims.iter().zip(subs).try_fold(0, |index, (&dim, &sub)| {
                let sub = (sub as usize).checked_sub(1).filter(|&s| s < dim)?;
                Some(index * dim + sub)
            })
        };
        match child {
            Child::One(inst) | Child::Outer(inst) => {
                if subs.is_empty() {
                    return Some((*inst, 0));
                }
                let range = self.var(*inst).ok()?;
                flat_index(&range.dims).map(|index| (*inst, index as u32))
            }
            Child::Array { dims, elems } | Child::OuterArray { dims, elems } => {
                flat_index(dims).map(|index| (elems[index], 0))
            }
            Child::Absent | Child::Class(_) | Child::InProgress => None,
        }
    }

    /// The instance is part of a connector that is a component of `within` itself (specification 9.1.2).
    fn is_outside(&self, inst: InstId, within: InstId) -> bool {
        let mut at = inst;
        while let Some(parent) = self.insts[at].parent {
            if parent == within {
                use ast::Restriction::{Connector, ExpandableConnector};
                return matches!(self.insts[at].restriction, Connector | ExpandableConnector);
            }
            at = parent;
        }
        false
    }

    fn has_member(&mut self, inst: InstId, name: Name) -> Res<bool> {
        self.elaborate(inst)?;
        let inst = &self.insts[inst];
        Ok(inst.expandable_added.contains(&name)
            || inst
                .elements
                .get(&name)
                .is_some_and(|e| matches!(e.kind, ElementKind::Component(_))))
    }

    /// Gives `to` every present member of `from`.
    fn augment(&mut self, busses: &mut Busses, from: InstId, to: InstId) -> Res<bool> {
        let span = self.insts[to].span;
        let mut changed = false;
        for name in self.member_names(from)? {
            let child = self.child(from, name, span)?;
            let members: Vec<InstId> = instances(&child)
                .iter()
                .copied()
                .filter(|member| busses.present.contains(member))
                .collect();
            let Some(&like) = members.first() else {
                continue;
            };
            if !self.has_member(to, name)? {
                if !matches!(child, Child::One(_)) {
                    return Err(Box::new(
                        Diagnostic::error(
                            "unsupported-feature",
                            span,
                            format!("adding the array `{name}` to the expandable connector `{}` is not supported", self.insts[to].path),
                        )
                        .help(format!("declare `{name}` in the expandable connector")),
                    ));
                }
                self.add_member_like(to, name, like)?;
                changed = true;
            }
            let other = self.child(to, name, span)?;
            for (&a, &b) in instances(&child).iter().zip(instances(&other)) {
                if !busses.present.contains(&a) {
                    continue;
                }
                changed |= self.mark_present(busses, b);
                if self.is_expandable(a) && self.is_expandable(b) {
                    busses.join(a, b);
                }
            }
        }
        Ok(changed)
    }

    /// Declared members that no connect mentions are not there (specification 9.1.3, after elaboration).
    fn drop_absent_members(&mut self, busses: &Busses) -> Res<()> {
        for bus in self.insts.ids() {
            if self.insts[bus].purpose != Purpose::Component || !self.is_expandable(bus) {
                continue;
            }
            let span = self.insts[bus].span;
            for name in self.member_names(bus)? {
                let child = self.child(bus, name, span)?;
                let members = instances(&child);
                for &member in members {
                    let prefix = self.insts[member].prefixes.connection;
                    if prefix != ast::ConnectionPrefix::None {
                        self.check_place_of_prefix(member, prefix)?;
                    }
                }
                let kept = members.iter().any(|member| {
                    busses.present.contains(member)
                        || self.insts[*member].prefixes.variability <= Variability::Parameter
                });
                if kept {
                    continue;
                }
                if let Some(&member) = members
                    .iter()
                    .find(|member| self.insts[**member].var.is_some())
                {
                    return Err(Box::new(
                        Diagnostic::error(
                            "absent-bus-member",
                            self.insts[member].span,
                            format!(
                                "`{}` is used, but no connect makes it a member of the bus",
                                self.insts[member].path
                            ),
                        )
                        .help("connect it with a signal"),
                    ));
                }
                self.insts[bus].children.insert(name, Child::Absent);
            }
        }
        Ok(())
    }
}
