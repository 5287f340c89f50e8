//! How a tape becomes machine functions: where it is cut, and where each register lives.
//!
//! Comes in: a [`Tape`]. Goes out: a [`Plan`]. A tape is cut where no jump passes over the cut, into pieces of bounded
//! length, because the time to compile a function grows faster than its length. A register that is used in one piece only
//! becomes a machine value; one that is used in several lives in the register file in memory, unless it is a constant or a
//! slot that the tape never stores: those are made again where they are needed.

use crate::tape::{Op, Reg, Tape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Where the value of a register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// One definition, which comes before every use.
    Value,
    /// Several definitions, all uses in the same function.
    Variable,
    /// In the register file.
    Memory,
    /// Made again from this operation.
    Again(u32),
}

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) pieces: Vec<Range<usize>>,
    pub(super) places: Vec<Place>,
    /// Registers that depend on the unknowns of the block; empty for plain numbers.
    active: Vec<bool>,
    /// One more than the largest slot and the largest index of a result.
    pub(super) n_slots: usize,
    pub(super) n_out: usize,
}

impl Plan {
    /// Pieces have about `length` operations. `dual`: derivatives are wanted.
    pub(super) fn new(tape: &Tape, length: usize, dual: bool) -> Plan {
        let pieces = pieces(tape, length);
        let places = places(tape, &pieces);
        let active = if dual { active(tape) } else { Vec::new() };
        let (n_slots, n_out) = extent(tape);
        Plan {
            pieces,
            places,
            active,
            n_slots,
            n_out,
        }
    }

    pub(super) fn is_active(&self, reg: Reg) -> bool {
        self.active.get(reg as usize).copied().unwrap_or(false)
    }
}

pub(super) fn pieces(tape: &Tape, length: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut open = 0;
    let loops = loops(tape);
    for (pc, op) in tape.ops.iter().enumerate() {
        if pc - start >= length && pc >= open {
            pieces.push(start..pc);
            start = pc;
        }
        if let Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } = op {
            open = open.max(*to as usize);
        }
        if let Some(&last) = loops.get(&pc) {
            open = open.max(last + 1);
        }
    }
    pieces.push(start..tape.ops.len());
    pieces
}

/// Where loops begin, and the last jump back to there.
pub(super) fn loops(tape: &Tape) -> FxHashMap<usize, usize> {
    let mut loops = FxHashMap::default();
    for (pc, op) in tape.ops.iter().enumerate() {
        if let Op::Jump { to } = *op
            && to as usize <= pc
        {
            loops.insert(to as usize, pc);
        }
    }
    loops
}

fn places(tape: &Tape, pieces: &[Range<usize>]) -> Vec<Place> {
    /// Not seen so far.
    const NONE: u32 = u32::MAX;
    let n = tape.n_regs as usize;
    let mut piece_of = vec![NONE; n];
    let mut defined_at = vec![NONE; n];
    let mut places = vec![Place::Value; n];
    let mut shared = vec![false; n];
    // What a function gets and gives lies in memory.
    tape.interface().for_each(|reg| shared[reg] = true);
    for (k, piece) in pieces.iter().enumerate() {
        for pc in piece.clone() {
            let mut touch = |reg: Reg| {
                let of = &mut piece_of[reg as usize];
                if *of == NONE {
                    *of = k as u32;
                } else if *of != k as u32 {
                    shared[reg as usize] = true;
                }
            };
            tape.reads(&tape.ops[pc], &mut touch);
            tape.writes(&tape.ops[pc], |reg| {
                touch(reg);
                if defined_at[reg as usize] == NONE {
                    defined_at[reg as usize] = pc as u32;
                } else {
                    places[reg as usize] = Place::Variable;
                }
            });
        }
    }
    let stored: FxHashSet<u32> = tape
        .ops
        .iter()
        .filter_map(|op| match op {
            Op::Store { slot, .. } => Some(*slot),
            _ => None,
        })
        .collect();
    for (reg, place) in places.iter_mut().enumerate() {
        if *place == Place::Value && defined_at[reg] != NONE {
            match tape.ops[defined_at[reg] as usize] {
                Op::Const { .. } => *place = Place::Again(defined_at[reg]),
                Op::Load { slot, .. } if shared[reg] && !stored.contains(&slot) => {
                    *place = Place::Again(defined_at[reg]);
                }
                Op::Pre { .. } if shared[reg] => *place = Place::Again(defined_at[reg]),
                _ => {}
            }
        }
        if shared[reg] && !matches!(place, Place::Again(_)) {
            *place = Place::Memory;
        }
    }
    places
}

/// Registers whose value may change with the unknowns: the least set that is closed under the operations. A second pass
/// finds more only where a register is defined in both branches of a condition.
fn active(tape: &Tape) -> Vec<bool> {
    let mut active = vec![false; tape.n_regs as usize];
    tape.interface().for_each(|reg| active[reg] = true);
    let mut before = usize::MAX;
    loop {
        spread(tape, &mut active);
        let count = active.iter().filter(|a| **a).count();
        if count == before {
            return active;
        }
        before = count;
    }
}

fn spread(tape: &Tape, active: &mut [bool]) {
    for op in &tape.ops {
        let depends = match op {
            Op::Unknown { .. } => true,
            // Truth values, and what the evaluator and the slots give, are constant for a dual number.
            Op::Not { .. } | Op::GatherSlots { .. } | Op::Lookup { .. } | Op::Evaluate { .. } => {
                false
            }
            // So are Integers.
            Op::ToInteger { .. }
            | Op::FloorToInteger { .. }
            | Op::FromInteger { .. }
            | Op::IntegerBinary { .. }
            | Op::IntegerRelation { .. }
            | Op::IntegerMath1 { .. }
            | Op::IntegerMath2 { .. } => false,
            Op::Binary { f, .. } if *f != saltus_ir::BinaryOp::Pow => false,
            _ => {
                let mut any = false;
                tape.reads(op, |reg| any |= active[reg as usize]);
                any
            }
        };
        if depends {
            tape.writes(op, |reg| active[reg as usize] = true);
        }
    }
}

fn extent(tape: &Tape) -> (usize, usize) {
    let (mut n_slots, mut n_out) = (0, 0);
    for op in &tape.ops {
        match op {
            Op::Load { slot, .. }
            | Op::Unknown { slot, .. }
            | Op::Pre { slot, .. }
            | Op::Store { slot, .. } => n_slots = n_slots.max(*slot as usize + 1),
            Op::Out { index, .. } => n_out = n_out.max(*index as usize + 1),
            _ => {}
        }
    }
    (n_slots, n_out)
}
