//! Operations on Integers of 64 bits as Cranelift instructions.
//!
//! Comes in: an operation of a tape on registers whose bits are an Integer. Goes out: the instructions that give the bits of the interpreter,
//! or leave at the operation where its result does not fit. Overflow is told from the signs of operands and result, and of a
//! product from its upper half.

use super::translate::{Num, Translate};
use crate::tape::{Op, Reg};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use saltus_ir::ops::INTEGER_END;
use saltus_ir::{BinaryOp, Builtin};

impl Translate<'_> {
    pub(super) fn integer_operation(&mut self, pc: usize) -> Option<()> {
        match self.tape.ops[pc] {
            Op::ToInteger { dst, a } => {
                let x = self.get(a)?.x;
                let n = self.b.ins().fcvt_to_sint_sat(I64, x);
                self.define_integer(dst, n);
            }
            Op::FloorToInteger { dst, a } => {
                let x = self.get(a)?.x;
                let floor = self.b.ins().floor(x);
                let (least, end) = (self.number(-INTEGER_END), self.number(INTEGER_END));
                let above = self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, floor, least);
                let below = self.b.ins().fcmp(FloatCC::LessThan, floor, end);
                let inside = self.b.ins().band(above, below);
                self.fail_unless(inside, pc, &[a]);
                let n = self.b.ins().fcvt_to_sint_sat(I64, floor);
                self.define_integer(dst, n);
            }
            Op::FromInteger { dst, a, kept } => {
                let n = self.integer(a)?;
                let x = self.b.ins().fcvt_from_sint(F64, n);
                if kept {
                    let back = self.b.ins().fcvt_to_sint_sat(I64, x);
                    let same = self.b.ins().icmp(IntCC::Equal, back, n);
                    let end = self.number(INTEGER_END);
                    let below = self.b.ins().fcmp(FloatCC::LessThan, x, end);
                    let equal = self.b.ins().band(same, below);
                    self.fail_unless(equal, pc, &[a]);
                }
                self.define(dst, Num { x, d: None });
            }
            Op::IntegerBinary { f, dst, a, b } => self.integer_binary(pc, f, dst, a, b)?,
            Op::IntegerRelation { f, dst, a, b } => {
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                let truth = self.b.ins().icmp(relation(f)?, a, b);
                self.define_boolean(dst, truth);
            }
            Op::IntegerMath1 { f, dst, a } => {
                let n = self.integer(a)?;
                let sign = self.b.ins().sshr_imm_u(n, 63);
                let result = match f {
                    Builtin::Sign => {
                        let zero = self.b.ins().iconst(I64, 0);
                        let positive = self.b.ins().icmp(IntCC::SignedGreaterThan, n, zero);
                        let positive = self.b.ins().uextend(I64, positive);
                        self.b.ins().bor(sign, positive)
                    }
                    Builtin::Abs => {
                        let flipped = self.b.ins().bxor(n, sign);
                        let size = self.b.ins().isub(flipped, sign);
                        self.fail_if_negative(size, pc, &[a]);
                        size
                    }
                    _ => return None,
                };
                self.define_integer(dst, result);
            }
            Op::IntegerMath2 { f, dst, a, b } => self.integer_math2(pc, f, dst, a, b)?,
            _ => return None,
        }
        Some(())
    }

    fn integer_binary(&mut self, pc: usize, f: BinaryOp, dst: Reg, a: Reg, b: Reg) -> Option<()> {
        let (x, y) = (self.integer(a)?, self.integer(b)?);
        let result = match f {
            BinaryOp::Add => {
                let sum = self.b.ins().iadd(x, y);
                let (p, q) = (self.b.ins().bxor(x, sum), self.b.ins().bxor(y, sum));
                let overflow = self.b.ins().band(p, q);
                self.fail_if_negative(overflow, pc, &[a, b]);
                sum
            }
            BinaryOp::Sub => {
                let difference = self.b.ins().isub(x, y);
                let (p, q) = (self.b.ins().bxor(x, y), self.b.ins().bxor(x, difference));
                let overflow = self.b.ins().band(p, q);
                self.fail_if_negative(overflow, pc, &[a, b]);
                difference
            }
            BinaryOp::Mul => {
                let (low, high) = (self.b.ins().imul(x, y), self.b.ins().smulhi(x, y));
                let sign = self.b.ins().sshr_imm_u(low, 63);
                let fits = self.b.ins().icmp(IntCC::Equal, high, sign);
                self.fail_unless(fits, pc, &[a, b]);
                low
            }
            _ => return None,
        };
        self.define_integer(dst, result);
        Some(())
    }

    fn integer_math2(&mut self, pc: usize, f: Builtin, dst: Reg, a: Reg, b: Reg) -> Option<()> {
        let (x, y) = (self.integer(a)?, self.integer(b)?);
        let result = match f {
            Builtin::Min => self.b.ins().smin(x, y),
            Builtin::Max => self.b.ins().smax(x, y),
            Builtin::Div | Builtin::Mod | Builtin::Rem => {
                let zero = self.b.ins().iconst(I64, 0);
                let by_zero = self.b.ins().icmp(IntCC::Equal, y, zero);
                self.fail_if(by_zero, pc, &[a, b]);
                if f == Builtin::Div {
                    let least = self.b.ins().iconst(I64, i64::MIN);
                    let is_least = self.b.ins().icmp(IntCC::Equal, x, least);
                    let minus = self.b.ins().iconst(I64, -1);
                    let by_minus = self.b.ins().icmp(IntCC::Equal, y, minus);
                    let overflow = self.b.ins().band(is_least, by_minus);
                    self.fail_if(overflow, pc, &[a, b]);
                    self.b.ins().sdiv(x, y)
                } else {
                    let rest = self.b.ins().srem(x, y);
                    self.with_sign_of_divisor(f, rest, y)
                }
            }
            _ => return None,
        };
        self.define_integer(dst, result);
        Some(())
    }

    /// `mod` has the sign of the divisor, `rem` that of the dividend.
    fn with_sign_of_divisor(&mut self, f: Builtin, rest: Value, divisor: Value) -> Value {
        if f == Builtin::Rem {
            return rest;
        }
        let zero = self.b.ins().iconst(I64, 0);
        let some = self.b.ins().icmp(IntCC::NotEqual, rest, zero);
        let signs = self.b.ins().bxor(rest, divisor);
        let differ = self.b.ins().icmp(IntCC::SignedLessThan, signs, zero);
        let shift = self.b.ins().band(some, differ);
        let shifted = self.b.ins().iadd(rest, divisor);
        self.b.ins().select(shift, shifted, rest)
    }

    fn fail_if_negative(&mut self, n: Value, pc: usize, operands: &[Reg]) {
        let zero = self.b.ins().iconst(I64, 0);
        let bad = self.b.ins().icmp(IntCC::SignedLessThan, n, zero);
        self.fail_if(bad, pc, operands);
    }

    /// The Integer in a register.
    fn integer(&mut self, reg: Reg) -> Option<Value> {
        let x = self.get(reg)?.x;
        Some(self.b.ins().bitcast(I64, MemFlagsData::new(), x))
    }

    fn define_integer(&mut self, reg: Reg, n: Value) {
        let x = self.b.ins().bitcast(F64, MemFlagsData::new(), n);
        self.define(reg, Num { x, d: None });
    }
}

fn relation(f: BinaryOp) -> Option<IntCC> {
    Some(match f {
        BinaryOp::Lt => IntCC::SignedLessThan,
        BinaryOp::Le => IntCC::SignedLessThanOrEqual,
        BinaryOp::Gt => IntCC::SignedGreaterThan,
        BinaryOp::Ge => IntCC::SignedGreaterThanOrEqual,
        BinaryOp::Eq => IntCC::Equal,
        BinaryOp::Ne => IntCC::NotEqual,
        _ => return None,
    })
}
