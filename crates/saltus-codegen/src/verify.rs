//! The invariants of tapes, checked after lowering in debug builds, and always after reading a program from a file: machine code relies on them.
//!
//! - Every register, slot, jump target and list that an operation names exists.
//! - A register is written before it is read, on every path. Of registers that only one branch writes, the other may not read.
//! - Jumps backward occur in functions only. What is written on the way to the head of a loop holds in it, because nothing is ever unwritten.
//! - The registers of a function that is called fit behind those of its caller.
//! - Directions of unknowns are fewer than the derivatives that the caller of the tape asks for.

use crate::code::Code;
use crate::program::Program;
use crate::tape::{Op, Reg, Tape};
use rustc_hash::FxHashMap;

/// A set of registers.
#[derive(Clone)]
struct Written(Vec<u64>);

impl Written {
    fn new(n: usize) -> Written {
        Written(vec![0; n.div_ceil(64)])
    }

    fn add(&mut self, reg: Reg) {
        self.0[reg as usize / 64] |= 1 << (reg % 64);
    }

    fn has(&self, reg: Reg) -> bool {
        self.0[reg as usize / 64] >> (reg % 64) & 1 == 1
    }

    /// Those of both.
    fn meet(&mut self, other: &Written) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a &= b;
        }
    }
}

/// What a tape may refer to.
struct Around {
    n_slots: usize,
    /// Registers of each function with those that it calls.
    frames: Vec<u32>,
    n_delays: usize,
}

/// The first broken invariant of a program, if there is one: a mistake of the compiler, or a file that it has not written.
pub(crate) fn broken(program: &Program) -> Option<String> {
    let around = Around {
        n_slots: program.layout.n_slots,
        frames: program.functions.iter().map(|f| f.tape.frame).collect(),
        n_delays: program.delays.len(),
    };
    let check = |what: &str, tape: &Tape, n_directions: usize| {
        let message = tape_broken(tape, &around, n_directions)?;
        Some(format!("{what}: {message}"))
    };
    let plain = |what: &str, code: &Code| check(what, &code.tape, 0);
    let named = [
        ("crossings", &program.crossing_tape),
        ("affine crossings", &program.affine_tape),
        ("parameters", &program.parameters),
        ("start values", &program.starts),
        ("attributes", &program.attributes),
        ("time events", &program.time_tape),
        ("delays", &program.delay_tape),
    ];
    let switching = program.switching.iter();
    let restart = program.restart.iter();
    (named.into_iter().find_map(|(what, code)| plain(what, code)))
        .or_else(|| program.codes.iter().find_map(|code| plain("section", code)))
        .or_else(|| {
            (program.functions.iter()).find_map(|function| check("function", &function.tape, 0))
        })
        .or_else(|| {
            program.blocks.iter().find_map(|block| {
                check("block", &block.residual.tape, block.n_directions)
                    .or_else(|| plain("discrete part", &block.discrete))
                    .or_else(|| plain("dependent part", &block.dependent))
                    .or_else(|| plain("formula of a block", block.direct.as_ref()?))
            })
        })
        .or_else(|| {
            let dae = program.dae.as_ref()?;
            check("DAE form", &dae.code.tape, dae.n_directions)
        })
        .or_else(|| {
            (program.sets.iter())
                .find_map(|set| check("state set", &set.constraints.tape, set.n_columns()))
        })
        .or_else(|| {
            restart.into_iter().find_map(|restart| {
                plain("constraints", &restart.constraints)
                    .or_else(|| plain("hinges", &restart.hinges))
                    .or_else(|| plain("restart", &restart.discrete))
            })
        })
        .or_else(|| {
            switching.into_iter().find_map(|switching| {
                plain("switches", &switching.literals)
                    .or_else(|| plain("first guess", &switching.guess))
            })
        })
}

fn tape_broken(tape: &Tape, around: &Around, n_directions: usize) -> Option<String> {
    let n_regs = tape.n_regs as usize;
    if tape.sites.len() != tape.ops.len() {
        return Some("operations without a place".to_owned());
    }
    if tape.frame < tape.n_regs || tape.interface().any(|reg| reg >= n_regs) {
        return Some("registers outside of the tape".to_owned());
    }
    let mut written = Written::new(n_regs);
    (0..tape.n_inputs).for_each(|reg| written.add(reg));
    // Registers written on all paths that jump to an operation.
    let mut arriving: FxHashMap<usize, Written> = FxHashMap::default();
    let mut is_reached = true;
    for (pc, op) in tape.ops.iter().enumerate() {
        if let Some(other) = arriving.remove(&pc) {
            match is_reached {
                true => written.meet(&other),
                false => written = other,
            }
            is_reached = true;
        }
        if let Some(message) = refers_wrongly(tape, (pc, op), around, n_directions) {
            return Some(format!("operation {pc} ({op:?}): {message}"));
        }
        let mut wrong = None;
        tape.reads(op, |reg| {
            if reg as usize >= n_regs || is_reached && !written.has(reg) {
                wrong.get_or_insert(reg);
            }
        });
        tape.writes(op, |reg| match (reg as usize) < n_regs {
            true => written.add(reg),
            false => drop(wrong.get_or_insert(reg)),
        });
        if let Some(reg) = wrong {
            return Some(format!(
                "operation {pc} ({op:?}): register {reg} of {n_regs} is not there or has no value"
            ));
        }
        let to = match *op {
            Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } => to as usize,
            Op::Fail => {
                is_reached = false;
                continue;
            }
            _ => continue,
        };
        if to > pc && is_reached {
            (arriving.entry(to))
                .and_modify(|known| known.meet(&written))
                .or_insert_with(|| written.clone());
        }
        is_reached = is_reached && !matches!(op, Op::Jump { .. });
    }
    None
}

/// What is wrong with what an operation refers to beside registers.
fn refers_wrongly(
    tape: &Tape,
    (pc, op): (usize, &Op),
    around: &Around,
    n_directions: usize,
) -> Option<&'static str> {
    let slot_there = |slot: u32| (slot as usize) < around.n_slots;
    let is_right = match *op {
        Op::Load { slot, .. }
        | Op::Pre { slot, .. }
        | Op::Store { slot, .. }
        | Op::Reinit { slot, .. }
        | Op::Override { slot, .. } => slot_there(slot),
        Op::Unknown {
            slot, direction, ..
        } => slot_there(slot) && (direction as usize) < n_directions,
        Op::Jump { to } => to as usize <= tape.ops.len() && (tape.is_function || to as usize > pc),
        Op::JumpIf { to, .. } | Op::JumpIfNot { to, .. } => {
            (pc + 1..=tape.ops.len()).contains(&(to as usize))
        }
        Op::Gather { list, .. } | Op::Scatter { list, .. } => (list as usize) < tape.gathers.len(),
        Op::GatherSlots { list, .. } => (tape.slot_lists.get(list as usize))
            .is_some_and(|list| list.iter().all(|(slot, _)| slot_there(*slot))),
        Op::Lookup { list, .. } => (list as usize) < tape.constants.len(),
        Op::Call { call } => (tape.calls.get(call as usize)).is_some_and(|call| {
            let Some(target) = &call.target else {
                return true;
            };
            let frame = around.frames.get(target.function as usize);
            frame.is_some_and(|frame| tape.frame >= tape.n_regs.saturating_add(*frame))
                && target.inputs.iter().all(|(reg, _)| *reg < tape.n_regs)
        }),
        Op::Table { call } => (call as usize) < tape.tables.len(),
        Op::Evaluate { expr, .. } => (expr as usize) < tape.exprs.len(),
        Op::Delay { delay, .. } => (delay as usize) < around.n_delays,
        Op::Assert { assert, .. } => (assert as usize) < tape.asserts.len(),
        Op::Terminate { message } => (message as usize) < tape.messages.len(),
        _ => true,
    };
    (!is_right).then_some("it refers to what is not there")
}
