//! What one pass of the event schedule sees of the pass before.
//!
//! Comes in: the explicit tapes of the event schedule, in order. Goes out: the slots that they read as `pre`. Where these have the values that they had
//! before, the next pass repeats the last one bit for bit, and need not run. There is no such list where a pass may see more: a slot that is read before
//! every way to there has stored it, an operation that depends on or changes anything but slots, or a system of equations that starts from its last
//! solution.
//!
//! Method: one pass over the operations with the set of slots that are surely stored. The set is a log; a jump forward leaves its length and, where ways
//! meet, what all of them have added.

use crate::tape::{Op, Tape};
use rustc_hash::FxHashSet;
use saltus_model::Slot;

/// The slots, ascending; `None` if a pass may see more than them.
pub(crate) fn memory<'a>(tapes: impl Iterator<Item = &'a Tape> + Clone) -> Option<Vec<Slot>> {
    let stores = (tapes.clone()).flat_map(|tape| &tape.ops);
    let stored = stores.filter_map(|op| match op {
        Op::Store { slot, .. } => Some(*slot),
        _ => None,
    });
    let mut ways = Ways {
        ever: stored.collect(),
        ..Ways::default()
    };
    let mut read = Vec::new();
    for tape in tapes {
        ways.pending.clear();
        for (pc, op) in tape.ops.iter().enumerate() {
            ways.arrive(pc as u32);
            match *op {
                Op::Load { slot, .. } if !ways.is_known(slot) => return None,
                Op::Pre { slot, .. } => read.push(Slot(slot)),
                Op::Store { slot, .. } => ways.add(slot),
                Op::Jump { to } => {
                    ways.jump(pc, to)?;
                    ways.ended = true;
                }
                Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } => ways.jump(pc, to)?,
                Op::Load { .. }
                | Op::Const { .. }
                | Op::Copy { .. }
                | Op::Neg { .. }
                | Op::Add { .. }
                | Op::Sub { .. }
                | Op::Mul { .. }
                | Op::Div { .. }
                | Op::Not { .. }
                | Op::Math1 { .. }
                | Op::SinCos { .. }
                | Op::Math2 { .. }
                | Op::Binary { .. }
                | Op::ToInteger { .. }
                | Op::FloorToInteger { .. }
                | Op::FromInteger { .. }
                | Op::IntegerBinary { .. }
                | Op::IntegerRelation { .. }
                | Op::IntegerMath1 { .. }
                | Op::IntegerMath2 { .. }
                | Op::Select { .. }
                | Op::Gather { .. }
                | Op::Scatter { .. }
                | Op::Lookup { .. }
                | Op::CheckIndex { .. }
                // What it asks for is judged by the event step.
                | Op::Reinit { .. } => {}
                _ => return None,
            }
        }
        ways.arrive(tape.ops.len() as u32);
    }
    read.sort_unstable();
    read.dedup();
    Some(read)
}

/// What is surely stored on the way to the present operation.
#[derive(Default)]
struct Ways {
    /// All slots that some operation stores.
    ever: FxHashSet<u32>,
    log: Vec<u32>,
    known: FxHashSet<u32>,
    /// Where jumps land. Few at a time: as many as branches are nested.
    pending: Vec<Way>,
    /// The operation before was a jump.
    ended: bool,
}

/// A set that leads to a place: so much of the log, and these slots beside.
struct Way {
    to: u32,
    base: usize,
    beside: Vec<u32>,
}

impl Ways {
    /// It holds what this pass has stored, or what no pass stores.
    fn is_known(&self, slot: u32) -> bool {
        self.known.contains(&slot) || !self.ever.contains(&slot)
    }

    fn add(&mut self, slot: u32) {
        if self.known.insert(slot) {
            self.log.push(slot);
        }
    }

    /// The present set also leads to `to`; `None` if that is backward.
    fn jump(&mut self, pc: usize, to: u32) -> Option<()> {
        if to as usize <= pc {
            return None;
        }
        if self.ended {
            return Some(());
        }
        match self.pending.iter().position(|way| way.to == to) {
            None => self.pending.push(Way {
                to,
                base: self.log.len(),
                beside: Vec::new(),
            }),
            Some(k) => {
                let known = &self.known;
                self.pending[k].beside.retain(|slot| known.contains(slot));
            }
        }
        Some(())
    }

    fn arrive(&mut self, pc: u32) {
        let Some(k) = self.pending.iter().position(|way| way.to == pc) else {
            return;
        };
        let mut way = self.pending.swap_remove(k);
        if !std::mem::take(&mut self.ended) {
            way.beside.retain(|slot| self.known.contains(slot));
        }
        // Others that count on more of the log than is left keep their share.
        for other in &mut self.pending {
            if other.base > way.base {
                (other.beside).extend_from_slice(&self.log[way.base..other.base]);
                other.base = way.base;
            }
        }
        for slot in self.log.drain(way.base..) {
            self.known.remove(&slot);
        }
        for slot in way.beside {
            self.add(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(ops: &[&[Op]]) -> Option<Vec<u32>> {
        let tapes: Vec<Tape> = (ops.iter())
            .map(|ops| Tape {
                ops: ops.to_vec(),
                ..Tape::default()
            })
            .collect();
        let memory = memory(tapes.iter())?;
        Some(memory.into_iter().map(|slot| slot.0).collect())
    }

    const LOAD: Op = Op::Load { dst: 0, slot: 1 };
    const STORE: Op = Op::Store { src: 0, slot: 1 };

    #[test]
    fn a_pass_sees_what_it_reads_as_pre() {
        let pre = |slot| Op::Pre { dst: 0, slot };
        assert_eq!(seen(&[&[pre(3), STORE, pre(2), pre(3)]]), Some(vec![2, 3]));
        let reinit = Op::Reinit { src: 0, slot: 2 };
        assert_eq!(seen(&[&[pre(4), reinit]]), Some(vec![4]));
    }

    #[test]
    fn a_slot_that_is_read_before_it_is_stored_remembers() {
        assert_eq!(seen(&[&[LOAD]]), Some(vec![]), "no pass stores it");
        assert_eq!(seen(&[&[STORE, LOAD]]), Some(vec![]));
        assert_eq!(seen(&[&[STORE], &[LOAD]]), Some(vec![]));
        assert_eq!(seen(&[&[LOAD, STORE]]), None);
        assert_eq!(seen(&[&[LOAD], &[STORE]]), None);
    }

    #[test]
    fn what_one_branch_stores_is_not_surely_stored_after_both() {
        let skip = |to| Op::JumpIfNot { c: 0, to };
        let jump = |to| Op::Jump { to };
        assert_eq!(seen(&[&[skip(2), STORE, LOAD]]), None);
        assert_eq!(seen(&[&[skip(3), STORE, LOAD]]), Some(vec![]), "inside");
        let both = [skip(3), STORE, jump(4), STORE, LOAD];
        assert_eq!(seen(&[&both]), Some(vec![]));
        let outer = [skip(3), LOAD, jump(4), STORE, LOAD];
        assert_eq!(seen(&[&outer]), None);
        // Two nested branches; the inner one stores on one way only.
        let nested = [skip(5), skip(3), STORE, LOAD, jump(6), STORE, LOAD];
        assert_eq!(seen(&[&nested]), None);
        let nested = [skip(5), skip(3), STORE, STORE, jump(6), STORE, LOAD];
        assert_eq!(seen(&[&nested]), Some(vec![]));
    }

    #[test]
    fn what_changes_more_than_slots_has_no_memory_of_slots_alone() {
        assert_eq!(seen(&[&[Op::Terminate { message: 0 }]]), None);
        assert_eq!(seen(&[&[Op::Evaluate { dst: 0, expr: 0 }]]), None);
        assert_eq!(seen(&[&[STORE, Op::Jump { to: 0 }]]), None, "a loop");
    }
}
