//! Integer expressions: exact in 64 bits.
//!
//! Comes in: an expression of Integer type. Goes out: a register with its value in the view that is asked for, [`View::Number`] (a
//! double, as in the slots of variables) or [`View::Integer`] (64 bits). Operators compute on Integers; what they read from
//! variables is converted first, and their result where a number is wanted. In Real expressions an Integer is rounded to the
//! nearest double, as the language says; what keeps it (a variable, an argument, a local) must be equal to it, else the operation fails.
//!
//! In the code of functions sums and products are computed on doubles and checked instead: a result up to 2^53 is exact, and for a
//! larger one the evaluator takes over. Only what `div`, `mod` and `rem` read is 64 bits wide there.

use super::{Key, Lower, LowerError};
use crate::tape::{Op, Reg, integer_bits};
use saltus_ir::ops::double_of;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, UnaryOp, Value};
use std::collections::hash_map::Entry;

/// How a register holds a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    /// As a double.
    Number,
    /// As 64 bits.
    Integer,
}

impl Lower<'_> {
    /// A value that is kept as one of its type: an Integer must be equal to its double.
    pub(super) fn lower_kept(&mut self, e: ExprId) -> Result<Reg, LowerError> {
        if !self.is_computed(e) {
            return self.lower(e);
        }
        let a = self.lower_integer(e)?;
        let dst = self.alloc();
        self.emit(Op::FromInteger { dst, a, kept: true });
        self.remember(e, dst);
        Ok(dst)
    }

    /// The 64 bits of an Integer expression.
    pub(super) fn lower_integer(&mut self, e: ExprId) -> Result<Reg, LowerError> {
        if let Some(reg) = self.known_integer(e) {
            return Ok(reg);
        }
        self.compute(e, View::Integer)?;
        self.integers
            .get(&e)
            .copied()
            .ok_or_else(|| "an expression reads what it assigns".to_string())
    }

    /// A constant as 64 bits.
    pub(super) fn known_integer(&mut self, e: ExprId) -> Option<Reg> {
        let n = match *self.ir().expr(e) {
            Expr::Integer(n) => n,
            _ => match self.known_value(e)? {
                Value::Integer(n) => n,
                _ => return None,
            },
        };
        Some(self.constant(integer_bits(n)))
    }

    /// Whether an operator on Integers makes this value, so that its 64 bits come first.
    pub(super) fn is_computed(&self, e: ExprId) -> bool {
        let ir = self.ir();
        if ir.base(e) != Base::Integer || !ir.ty(e).is_scalar() {
            return false;
        }
        if self.locals.is_some() {
            return self.is_operator(e)
                && matches!(
                    ir.expr(e),
                    Expr::Builtin(
                        Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::Integer,
                        _
                    )
                );
        }
        let mut values = vec![e];
        while let Some(e) = values.pop() {
            match ir.expr(e) {
                Expr::If(_, t, f) => values.extend([*f, *t]),
                Expr::Builtin(Builtin::NoEvent, args) => values.push(args[0]),
                Expr::Integer(n) if double_of(*n).is_err() => return true,
                _ if self.is_operator(e) => return true,
                _ => {}
            }
        }
        false
    }

    /// An operator on Integers with an Integer result, all scalar.
    pub(super) fn is_operator(&self, e: ExprId) -> bool {
        let ir = self.ir();
        let is_integer = |e: &ExprId| ir.base(*e) == Base::Integer && ir.ty(*e).is_scalar();
        is_integer(&e)
            && match ir.expr(e) {
                Expr::Unary(UnaryOp::Neg, a) => is_integer(a),
                Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
                    is_integer(a) && is_integer(b)
                }
                Expr::Builtin(Builtin::Integer, args) => args.len() == 1,
                Expr::Builtin(f, args) => {
                    let n = match f {
                        Builtin::Abs | Builtin::Sign => 1,
                        Builtin::Min
                        | Builtin::Max
                        | Builtin::Div
                        | Builtin::Mod
                        | Builtin::Rem => 2,
                        _ => return false,
                    };
                    args.len() == n && args.iter().all(is_integer)
                }
                _ => false,
            }
    }

    /// A relation one of whose sides is computed: it compares 64 bits.
    pub(super) fn compares_integers(&self, op: BinaryOp, a: ExprId, b: ExprId) -> bool {
        let ir = self.ir();
        self.locals.is_none()
            && op.is_relation()
            && [a, b]
                .iter()
                .all(|e| ir.base(*e) == Base::Integer && ir.ty(*e).is_scalar())
            && (self.is_computed(a) || self.is_computed(b))
    }

    /// Operands of an Integer expression in the view in which they are needed.
    pub(super) fn integer_operands(&self, e: ExprId, out: &mut Vec<(ExprId, View)>) {
        let ir = self.ir();
        match ir.expr(e) {
            Expr::If(c, ..) if ir.as_boolean(*c).is_none() => out.push((*c, View::Number)),
            Expr::If(..) => {}
            Expr::Builtin(Builtin::NoEvent, args) => out.push((args[0], View::Integer)),
            Expr::Builtin(Builtin::Integer, args) if ir.base(args[0]) != Base::Integer => {
                out.push((args[0], View::Number));
            }
            _ if self.is_operator(e) => {
                ir.for_each_child(e, |child| out.push((child, View::Integer)));
                out.reverse();
            }
            _ => out.push((e, View::Number)),
        }
        out.retain(|(e, view)| *view == View::Number || !matches!(ir.expr(*e), Expr::Integer(_)));
    }

    /// The 64 bits of an expression whose operands have registers.
    pub(super) fn emit_integer(&mut self, e: ExprId) -> Result<Reg, LowerError> {
        let ir = self.ir();
        match ir.expr(e) {
            Expr::If(c, t, f) => match self.known_truth(*c) {
                Some(true) => self.lower_integer(*t),
                Some(false) => self.lower_integer(*f),
                None => self.conditional(*c, *t, *f, View::Integer),
            },
            Expr::Builtin(Builtin::NoEvent, args) => self.lower_integer(args[0]),
            Expr::Builtin(Builtin::Integer, args) if ir.base(args[0]) != Base::Integer => {
                let (a, dst) = (self.lower(args[0])?, self.alloc());
                self.emit(Op::FloorToInteger { dst, a });
                Ok(dst)
            }
            _ if !self.is_operator(e) => {
                let a = self.lower(e)?;
                Ok(self.integer_of_number(a))
            }
            Expr::Unary(_, a) => {
                let (zero, b) = (self.constant(integer_bits(0)), self.lower_integer(*a)?);
                Ok(self.integer_binary(BinaryOp::Sub, zero, b))
            }
            Expr::Binary(f, a, b) => {
                let (a, b) = (self.lower_integer(*a)?, self.lower_integer(*b)?);
                Ok(self.integer_binary(*f, a, b))
            }
            Expr::Builtin(f, args) => match **args {
                [a] if *f == Builtin::Integer => self.lower_integer(a),
                [a] => {
                    let (f, a, dst) = (*f, self.lower_integer(a)?, self.alloc());
                    self.emit(Op::IntegerMath1 { f, dst, a });
                    Ok(dst)
                }
                [a, b] => {
                    let (f, a, b) = (*f, self.lower_integer(a)?, self.lower_integer(b)?);
                    let dst = self.alloc();
                    self.emit(Op::IntegerMath2 { f, dst, a, b });
                    Ok(dst)
                }
                _ => Err("an operator on Integers with other operands".into()),
            },
            _ => Err("an operator that Integers do not have".into()),
        }
    }

    /// The double of what has its 64 bits in a register.
    pub(super) fn number_of_integer(&mut self, a: Reg) -> Reg {
        let dst = self.alloc();
        // In a function an Integer may be kept from here on; the evaluator knows better.
        let kept = self.locals.is_some();
        self.emit(Op::FromInteger { dst, a, kept });
        dst
    }

    fn integer_binary(&mut self, f: BinaryOp, a: Reg, b: Reg) -> Reg {
        let dst = self.alloc();
        self.emit(Op::IntegerBinary { f, dst, a, b });
        dst
    }

    /// A number as 64 bits.
    pub(super) fn integer_of_number(&mut self, a: Reg) -> Reg {
        let dst = self.alloc();
        self.emit(Op::ToInteger { dst, a });
        dst
    }

    /// `a op b` of two registers of these types; Integers by way of their 64 bits.
    pub(super) fn typed_binary(&mut self, op: BinaryOp, a: (Reg, Base), b: (Reg, Base)) -> Reg {
        let exact = a.1 == Base::Integer && b.1 == Base::Integer;
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if exact => {
                let (a, b) = (self.integer_of_number(a.0), self.integer_of_number(b.0));
                let n = self.integer_binary(op, a, b);
                let dst = self.alloc();
                self.emit(Op::FromInteger {
                    dst,
                    a: n,
                    kept: true,
                });
                dst
            }
            _ => self.binary(op, a.0, b.0),
        }
    }

    pub(super) fn remember_integer(&mut self, e: ExprId, reg: Reg) {
        if let Entry::Vacant(place) = self.integers.entry(e) {
            place.insert(reg);
            self.trail.push(Key::Integer(e));
        }
    }
}
