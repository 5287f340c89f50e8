//! Tapes whose operations need nothing but numbers, run without a context.
//!
//! Comes in: a [`Tape`]. Goes out: its [`Extent`] if every operation is one on registers, slots, `pre` and results alone. Such a tape is carried out here as
//! [`Tape::run`] does it, bit for bit, but without looking at the bounds of arrays again: the extent says how long they must be. Where an
//! operation fails, the place is given back and the interpreter of all operations gives the fault.

use crate::tape::{Op, Tape, sin_cos};
use saltus_ir::UnaryOp;
use saltus_ir::ops;

/// How long the arrays are that a tape uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) n_regs: usize,
    pub(crate) n_slots: usize,
    pub(crate) n_out: usize,
}

impl Extent {
    /// Enough for both.
    pub(crate) fn with(self, other: Extent) -> Extent {
        Extent {
            n_regs: self.n_regs.max(other.n_regs),
            n_slots: self.n_slots.max(other.n_slots),
            n_out: self.n_out.max(other.n_out),
        }
    }

    /// `None` if an operation needs more than numbers.
    pub(crate) fn of(tape: &Tape) -> Option<Extent> {
        let mut extent = Extent::default();
        if tape.is_function {
            return None;
        }
        for op in &tape.ops {
            match *op {
                Op::Load { slot, .. }
                | Op::Unknown { slot, .. }
                | Op::Pre { slot, .. }
                | Op::Store { slot, .. } => extent.n_slots = extent.n_slots.max(slot as usize + 1),
                Op::Out { index, .. } => extent.n_out = extent.n_out.max(index as usize + 1),
                Op::Const { .. }
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
                | Op::Select { .. }
                | Op::Jump { .. }
                | Op::JumpIf { .. }
                | Op::JumpIfNot { .. } => {}
                _ => return None,
            }
            let mut see = |reg: u32| extent.n_regs = extent.n_regs.max(reg as usize + 1);
            tape.reads(op, &mut see);
            tape.writes(op, &mut see);
        }
        Some(extent)
    }
}

/// Carries out the operations; `Err` has the index of the one that fails.
///
/// # Safety
/// The arrays are as long as the [`Extent`] of the operations says, and do not overlap.
pub(crate) unsafe fn run(
    ops: &[Op],
    regs: *mut f64,
    slots: *mut f64,
    pre: *const f64,
    out: *mut f64,
) -> Result<(), usize> {
    // SAFETY: the caller has checked that all indices of the operations are inside.
    let (get, set) = unsafe {
        (
            |reg: u32| *regs.add(reg as usize),
            |reg: u32, x: f64| *regs.add(reg as usize) = x,
        )
    };
    let mut pc = 0;
    while let Some(op) = ops.get(pc) {
        match *op {
            Op::Const { dst, value } => set(dst, value),
            // SAFETY: as above, here and below.
            Op::Load { dst, slot } | Op::Unknown { dst, slot, .. } => unsafe {
                set(dst, *slots.add(slot as usize));
            },
            Op::Pre { dst, slot } => unsafe { set(dst, *pre.add(slot as usize)) },
            Op::Store { src, slot } => {
                let x = get(src);
                unsafe { *slots.add(slot as usize) = x };
                if !x.is_finite() {
                    return Err(pc);
                }
            }
            Op::Copy { dst, src } => set(dst, get(src)),
            Op::Neg { dst, a } => set(dst, -get(a)),
            Op::Add { dst, a, b } => set(dst, get(a) + get(b)),
            Op::Sub { dst, a, b } => set(dst, get(a) - get(b)),
            Op::Mul { dst, a, b } => set(dst, get(a) * get(b)),
            Op::Div { dst, a, b } => {
                let y = get(b);
                if y == 0.0 {
                    return Err(pc);
                }
                set(dst, get(a) / y);
            }
            Op::Not { dst, a } => set(dst, ops::unary(UnaryOp::Not, get(a))),
            Op::Math1 { f, dst, a } => {
                let x = get(a);
                match ops::builtin1(f, x) {
                    Some(y) if ops::check_builtin(f, x, 0.0).is_ok() => set(dst, y),
                    _ => return Err(pc),
                }
            }
            Op::SinCos { sin, cos, a } => {
                let (s, c) = sin_cos(get(a));
                set(sin, s);
                set(cos, c);
            }
            Op::Math2 { f, dst, a, b } => {
                let (x, y) = (get(a), get(b));
                match ops::builtin2(f, x, y) {
                    Some(z) if ops::check_builtin(f, x, y).is_ok() => set(dst, z),
                    _ => return Err(pc),
                }
            }
            Op::Binary { f, dst, a, b } => {
                let (x, y) = (get(a), get(b));
                if ops::check_binary(f, x, y).is_err() {
                    return Err(pc);
                }
                set(dst, ops::binary(f, x, y));
            }
            Op::Select { dst, c, e } => {
                if get(c) == 0.0 {
                    set(dst, get(e));
                }
            }
            Op::Jump { to } => {
                pc = to as usize;
                continue;
            }
            Op::JumpIfNot { c, to } => {
                if get(c) == 0.0 {
                    pc = to as usize;
                    continue;
                }
            }
            Op::JumpIf { c, to } => {
                if get(c) != 0.0 {
                    pc = to as usize;
                    continue;
                }
            }
            Op::Out { src, index } => unsafe { *out.add(index as usize) = get(src) },
            _ => return Err(pc),
        }
        pc += 1;
    }
    Ok(())
}
