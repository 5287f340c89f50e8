//! Machine code from tapes, by Cranelift. This folder is the only one that knows Cranelift.
//!
//! Comes in: a [`Tape`]. Goes out: [`NativeCode`], which does what the interpreter does, bit for bit: the same operations in
//! the same order on IEEE doubles, nothing fused; functions beyond the arithmetic by calling the scalar kernel of
//! `saltus-ir`; what is rare or long by calling the interpreter for that one operation. A check that fails returns the
//! operation's number, and the interpreter, run on that operation, gives the fault.
//!
//! Memory: an [`Engine`] owns all code of one model and frees it when it is dropped; code runs only while it lives.

pub(crate) mod foreign;
mod integers;
mod plan;
mod shims;
mod translate;

use crate::light::Extent;
use crate::num::Num;
use crate::tape::{Op, Tape};
use crate::work::{Context, Work};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use plan::Plan;
use saltus_model::{Fault, FaultKind, Slot, Values};
use shims::Running;
use std::mem::ManuallyDrop;

/// Operations per machine function.
const PIECE: usize = 1000;

/// The code of a dual operation is about as many times longer as it has numbers.
fn piece_length(lanes: usize) -> usize {
    PIECE / (1 + lanes / 2)
}

/// How many times longer than usual the longest machine function of a tape is, at least 1.
pub(crate) fn stretch(tape: &Tape, lanes: usize) -> u32 {
    let usual = piece_length(lanes);
    let longest = plan::pieces(tape, usual)
        .iter()
        .map(ExactSizeIterator::len)
        .max();
    (longest.unwrap_or(0) / usual).max(1) as u32
}

/// Addresses of slots, `pre`, results, registers, the run, and directions of the unknowns.
pub(crate) type Entry =
    unsafe extern "C" fn(*mut f64, *const f64, *mut u8, *mut u8, *mut u8, *const f64) -> u32;

/// Machine code of one tape.
#[derive(Debug)]
pub(crate) struct NativeCode {
    pieces: Vec<Entry>,
    n_regs: usize,
    n_slots: usize,
    n_out: usize,
}

impl NativeCode {
    /// Runs the code. `seeds` points to the directions of unknown 0 of the block for the window that starts at `first`;
    /// those of unknown i lie i numbers before it.
    pub(crate) fn run<N: Num>(
        &self,
        tape: &Tape,
        cx: &Context,
        work: &mut Work,
        regs: &mut [N],
        values: &mut Values,
        out: &mut [N],
        first: usize,
        seeds: *const f64,
    ) -> Result<(), Box<Fault>> {
        assert!(
            regs.len() >= self.n_regs
                && out.len() >= self.n_out
                && values.v.len().min(values.pre.len()) >= self.n_slots,
            "machine code gets the arrays its tape was made for"
        );
        let slots = values.v.as_mut_ptr();
        let pre = values.pre.as_ptr();
        let results = out.as_mut_ptr().cast();
        let registers = regs.as_mut_ptr().cast();
        let mut running = Running {
            tape,
            cx,
            work,
            values,
            regs,
            out,
            first,
            fault: None,
            panic: None,
        };
        let run: *mut Running<'_, N> = &mut running;
        for piece in &self.pieces {
            // SAFETY: the engine that owns the code lives as long as the program this tape belongs to; the arrays are long
            // enough (checked above) and nothing else uses them now.
            let at = unsafe { piece(slots, pre, results, registers, run.cast(), seeds) };
            if at != 0 {
                return Err(failure(&mut running, at as usize - 1));
            }
        }
        Ok(())
    }
}

impl NativeCode {
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.pieces
    }

    /// Runs code of a tape that needs nothing but numbers; `Err` has the operation that failed.
    #[inline]
    pub(crate) fn run_light(
        &self,
        extent: Extent,
        regs: &mut [f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Result<(), usize> {
        debug_assert!(
            regs.len() >= extent.n_regs
                && out.len() >= extent.n_out
                && values.v.len().min(values.pre.len()) >= extent.n_slots,
            "machine code gets the arrays its tape was made for"
        );
        let slots = values.v.as_mut_ptr();
        let pre = values.pre.as_ptr();
        let (results, registers) = (out.as_mut_ptr().cast(), regs.as_mut_ptr().cast());
        for piece in &self.pieces {
            // SAFETY: as in `run`; the arrays are as long as the extent of the tape says, and none of its operations asks for the run or the directions.
            let at = unsafe {
                piece(
                    slots,
                    pre,
                    results,
                    registers,
                    std::ptr::null_mut(),
                    std::ptr::null(),
                )
            };
            if at != 0 {
                return Err(at as usize - 1);
            }
        }
        Ok(())
    }
}

/// The fault of the operation at which machine code on plain numbers did not go on.
#[cold]
pub(crate) fn fault(
    tape: &Tape,
    cx: &Context,
    work: &mut Work,
    regs: &mut [f64],
    values: &mut Values,
    out: &mut [f64],
    pc: usize,
) -> Box<Fault> {
    let mut running = Running {
        tape,
        cx,
        work,
        values,
        regs,
        out,
        first: 0,
        fault: None,
        panic: None,
    };
    failure(&mut running, pc)
}

/// Why the operation `pc` did not go on.
#[cold]
fn failure<N: Num>(running: &mut Running<'_, N>, pc: usize) -> Box<Fault> {
    if let Some(panic) = running.panic.take() {
        std::panic::resume_unwind(panic);
    }
    if let Some(fault) = running.fault.take() {
        return fault;
    }
    if let Op::Store { slot, .. } = running.tape.ops[pc] {
        return Box::new(Fault {
            recoverable: true,
            site: running.tape.sites[pc],
            kind: FaultKind::NonFinite { slot: Slot(slot) },
        });
    }
    let again = shims::operation(running, pc as u32);
    match running.fault.take() {
        Some(fault) if again != 0 => fault,
        _ => unreachable!("machine code and interpreter check operation {pc} alike"),
    }
}

/// Compiles tapes and owns the code.
pub(crate) struct Engine {
    module: ManuallyDrop<JITModule>,
    context: cranelift_codegen::Context,
    builder: FunctionBuilderContext,
}

impl Engine {
    /// `None` on a machine that Cranelift has no code generator for.
    pub(crate) fn new() -> Option<Engine> {
        let mut flags = settings::builder();
        let verify = if cfg!(debug_assertions) {
            "true"
        } else {
            "false"
        };
        for (name, value) in [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("opt_level", "speed"),
            ("enable_verifier", verify),
            ("unwind_info", "false"),
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
        ] {
            flags.set(name, value).ok()?;
        }
        let isa = cranelift_native::builder()
            .ok()?
            .finish(settings::Flags::new(flags))
            .ok()?;
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        Some(Engine {
            context: module.make_context(),
            module: ManuallyDrop::new(module),
            builder: FunctionBuilderContext::new(),
        })
    }

    /// Code of a tape on plain numbers (`lanes` = 0) or on dual numbers; `None` if there can be none, and the interpreter
    /// must go on.
    pub(crate) fn compile(&mut self, tape: &Tape, lanes: usize) -> Option<NativeCode> {
        let plan = Plan::new(tape, piece_length(lanes), lanes > 0);
        let mut ids = Vec::new();
        for piece in &plan.pieces {
            let translated = translate::piece(
                &mut self.context.func,
                &mut self.builder,
                self.module.isa(),
                tape,
                &plan,
                piece.clone(),
                lanes,
            );
            if translated.is_none() {
                // What is half made must not meet the next function.
                self.builder = FunctionBuilderContext::new();
                self.module.clear_context(&mut self.context);
                return None;
            }
            let signature = &self.context.func.signature;
            let id = self.module.declare_anonymous_function(signature).ok()?;
            let defined = self.module.define_function(id, &mut self.context);
            self.module.clear_context(&mut self.context);
            debug_assert!(defined.is_ok(), "machine code is well formed: {defined:?}");
            defined.ok()?;
            ids.push(id);
        }
        self.module.finalize_definitions().ok()?;
        let pieces = ids
            .into_iter()
            .map(|id| {
                let address = self.module.get_finalized_function(id);
                // SAFETY: the function was defined above with this signature and the host's calling convention.
                unsafe { std::mem::transmute::<*const u8, Entry>(address) }
            })
            .collect();
        Some(NativeCode {
            pieces,
            n_regs: tape.frame as usize,
            n_slots: plan.n_slots,
            n_out: plan.n_out,
        })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: the module is not used again; its code runs only while the program that owns this engine lives.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}
