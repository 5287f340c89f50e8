//! Loops that end when a Real number is good enough.
//!
//! Forward mode differentiates the passes that are made. Where their number depends on counters and on Reals that the loop does not
//! change (a search in a table, a sum up to a bound), it is constant nearby and the derivative exact. Where it depends on Reals that the
//! passes themselves compute, the loop is an iteration towards a limit, and the derivative of the last pass says little about that of
//! the limit. Comes in: a loop. Goes out: which of the two it is, by following what decides on the end back through the assignments of
//! the body.

use crate::lower::Lower;
use rustc_hash::FxHashSet;
use saltus_ir::func::{Access, Place, Statement, StatementKind, Target};
use saltus_ir::{Base, ExprId, LocalId, Sub};

/// One assignment in a loop: what it changes, and what its value and its being made depend on.
struct Flow {
    target: LocalId,
    reads: Vec<LocalId>,
}

/// The assignments of a loop and what its end depends on.
#[derive(Default)]
struct Flows {
    assignments: Vec<Flow>,
    ends: Vec<LocalId>,
}

impl Lower<'_> {
    /// Notes in the function being lowered whether this loop iterates upon Real numbers. `condition`: that of a while-loop.
    pub(super) fn note_iteration(&mut self, condition: Option<ExprId>, body: &[Statement]) {
        let mut flows = Flows::default();
        self.collect_flows(body, &mut Vec::new(), &mut flows);
        if let Some(condition) = condition {
            self.free_locals(condition, &mut flows.ends);
        }
        let mut decides: FxHashSet<LocalId> = FxHashSet::default();
        let mut open = flows.ends;
        while let Some(local) = open.pop() {
            if !decides.insert(local) {
                continue;
            }
            let sources = flows.assignments.iter().filter(|f| f.target == local);
            sources.for_each(|f| open.extend(&f.reads));
        }
        let ir = self.ir();
        let real = flows.assignments.iter().any(|f| {
            let base = ir.type_of_id(ir.locals[f.target].ty).base;
            decides.contains(&f.target) && matches!(base, Base::Real | Base::Record(_))
        });
        self.locals_mut().iterates |= real;
    }

    /// `conditions`: what decides whether these statements are reached.
    fn collect_flows(&self, list: &[Statement], conditions: &mut Vec<LocalId>, flows: &mut Flows) {
        let outer = conditions.len();
        for statement in list {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.add_flow(&[Some(target)], *value, conditions, flows);
                }
                StatementKind::MultiAssign { targets, call } => {
                    let targets: Vec<Option<&Target>> =
                        targets.iter().map(Option::as_ref).collect();
                    self.add_flow(&targets, *call, conditions, flows);
                }
                StatementKind::If {
                    branches,
                    otherwise,
                } => {
                    let before = conditions.len();
                    for (condition, body) in branches {
                        self.free_locals(*condition, conditions);
                        self.collect_flows(body, conditions, flows);
                    }
                    self.collect_flows(otherwise, conditions, flows);
                    conditions.truncate(before);
                }
                StatementKind::For { range, body, .. } => {
                    let before = conditions.len();
                    self.free_locals(*range, conditions);
                    self.collect_flows(body, conditions, flows);
                    conditions.truncate(before);
                }
                StatementKind::While { condition, body } => {
                    let before = conditions.len();
                    self.free_locals(*condition, conditions);
                    self.collect_flows(body, conditions, flows);
                    conditions.truncate(before);
                }
                StatementKind::Break | StatementKind::Return => {
                    flows.ends.extend(conditions.iter());
                }
                StatementKind::When { .. }
                | StatementKind::Assert { .. }
                | StatementKind::Terminate { .. }
                | StatementKind::Reinit { .. }
                | StatementKind::Call(_) => {}
            }
        }
        conditions.truncate(outer);
    }

    fn add_flow(
        &self,
        targets: &[Option<&Target>],
        value: ExprId,
        conditions: &[LocalId],
        flows: &mut Flows,
    ) {
        let mut reads = conditions.to_vec();
        self.free_locals(value, &mut reads);
        for target in targets.iter().flatten() {
            for access in &target.access {
                if let Access::Index(subs) = access {
                    for sub in subs {
                        if let Sub::At(e) = sub {
                            self.free_locals(*e, &mut reads);
                        }
                    }
                }
            }
        }
        for target in targets.iter().flatten() {
            if let Place::Local(target) = target.place {
                flows.assignments.push(Flow {
                    target,
                    reads: reads.clone(),
                });
            }
        }
    }
}
