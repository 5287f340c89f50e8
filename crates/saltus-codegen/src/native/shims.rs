//! What machine code calls: the scalar kernel by address, and the interpreter for single operations.

use crate::num::Num;
use crate::tape::{self, Tape};
use crate::work::{Context, Work};
use saltus_ir::ops;
use saltus_ir::{BinaryOp, Builtin};
use saltus_model::{Fault, Values};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call of machine code under way. The pointers are those the caller of [`super::NativeCode::run`] gave; they are valid,
/// and used by nothing else, until it returns.
pub(super) struct Running<'a, N> {
    pub(super) tape: &'a Tape,
    pub(super) cx: &'a Context<'a>,
    pub(super) work: *mut Work,
    pub(super) values: *mut Values,
    pub(super) regs: *mut [N],
    pub(super) out: *mut [N],
    pub(super) first: usize,
    pub(super) fault: Option<Box<Fault>>,
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

/// Carries out one operation by the interpreter, on the register file. Not 0: it could not be carried out.
pub(super) extern "C" fn operation<N: Num>(running: *mut Running<'_, N>, pc: u32) -> u32 {
    // SAFETY: machine code passes the pointer it was called with, and uses the memory behind it only between calls.
    let running = unsafe { &mut *running };
    let pc = pc as usize;
    // A panic must not unwind through machine code.
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as above; the four objects are distinct.
        let (work, values, regs, out) = unsafe {
            (
                &mut *running.work,
                &mut *running.values,
                &mut *running.regs,
                &mut *running.out,
            )
        };
        running.tape.run(
            pc..pc + 1,
            running.cx,
            work,
            regs,
            values,
            out,
            running.first,
        )
    }));
    match result {
        Ok(Ok(())) => 0,
        Ok(Err(fault)) => {
            running.fault = Some(fault);
            1
        }
        Err(panic) => {
            running.panic = Some(panic);
            1
        }
    }
}

pub(super) type Shim1 = extern "C" fn(f64) -> f64;
pub(super) type Shim2 = extern "C" fn(f64, f64) -> f64;
pub(super) type ShimPair = extern "C" fn(f64, *mut f64, *mut f64);

macro_rules! functions {
    ($($f:ident)*) => {
        /// The function of one number as the interpreter computes it.
        pub(super) fn function(f: Builtin) -> Option<Shim1> {
            Some(match f {
                $(Builtin::$f => {
                    extern "C" fn shim(x: f64) -> f64 {
                        ops::builtin1(Builtin::$f, x).unwrap_or(f64::NAN)
                    }
                    shim
                })*
                _ => return None,
            })
        }

        /// Its slope from x and y = f(x).
        pub(super) fn slope(f: Builtin) -> Option<Shim2> {
            Some(match f {
                $(Builtin::$f => {
                    extern "C" fn shim(x: f64, y: f64) -> f64 {
                        tape::slope1(Builtin::$f, x, y)
                    }
                    shim
                })*
                _ => return None,
            })
        }
    };
}

functions!(Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Exp Log Log10);

/// Sine and cosine of the same number, to two places.
pub(super) extern "C" fn sin_cos(x: f64, sin: *mut f64, cos: *mut f64) {
    let (s, c) = tape::sin_cos(x);
    // SAFETY: machine code passes two places of the register file.
    unsafe {
        *sin = s;
        *cos = c;
    }
}

pub(super) extern "C" fn atan2(x: f64, y: f64) -> f64 {
    ops::builtin2(Builtin::Atan2, x, y).unwrap_or(f64::NAN)
}

pub(super) extern "C" fn power(x: f64, y: f64) -> f64 {
    ops::binary(BinaryOp::Pow, x, y)
}

pub(super) extern "C" fn power_slope_base(x: f64, y: f64) -> f64 {
    tape::power_slope_base(x, y)
}

pub(super) extern "C" fn power_slope_exponent(x: f64, z: f64) -> f64 {
    tape::power_slope_exponent(x, z)
}
