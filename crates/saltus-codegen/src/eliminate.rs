//! Few linear equations as straight code: Gaussian elimination with row-scaled partial pivoting (Wilkinson, The Algebraic Eigenvalue
//! Problem, chapter 4), the exchange of rows by selects.
//!
//! Comes in: a lowering and the entries of `matrix·u = rhs` as expressions. Goes out: operations that leave u in registers, and a
//! result 1; or, where a pivot is zero or has lost its digits by cancellation, the result 0 and nothing more, so that the caller takes
//! the way that decides on the rank.

use crate::lower::{Lower, LowerError};
use crate::tape::{Op, Reg};
use saltus_ir::{BinaryOp, Builtin, ExprId, VarId};

/// A pivot that elimination has made smaller than this part of the numbers it came from is not divided by: the remaining digits
/// would not carry a solution to round-off.
const CANCELLATION_MAX: f64 = 1e-6;

/// An equation: coefficients, right side, how large each coefficient's parts are, and the size of the row.
struct Row {
    a: Vec<Reg>,
    parts: Vec<Reg>,
    b: Reg,
    scale: Reg,
}

impl Lower<'_> {
    /// Solves for as many unknowns as `rhs` has entries; `matrix` row by row. Their registers and the jumps that are taken where
    /// there is no solution, to be landed behind everything that uses it.
    pub(crate) fn solve_linear(
        &mut self,
        matrix: &[ExprId],
        rhs: &[ExprId],
    ) -> Result<(Vec<Reg>, Vec<usize>), LowerError> {
        let n = rhs.len();
        let mut rows = Vec::with_capacity(n);
        for (row, b) in matrix.chunks_exact(n).zip(rhs) {
            let a: Vec<Reg> = row
                .iter()
                .map(|e| self.lower(*e))
                .collect::<Result<_, _>>()?;
            let b = self.lower(*b)?;
            let (parts, scale) = if n == 1 {
                (a.clone(), a[0])
            } else {
                let parts: Vec<Reg> = a.iter().map(|x| self.absolute(*x)).collect();
                let larger = |l: &mut Self, x, y| l.math2(Builtin::Max, x, y);
                let scale = parts[1..].iter().fold(parts[0], |s, x| larger(self, s, *x));
                (parts, scale)
            };
            rows.push(Row { a, parts, b, scale });
        }
        let mut exits = Vec::new();
        for k in 0..n {
            for i in k + 1..n {
                self.exchange_if_larger(&mut rows, k, i);
            }
            let pivot = rows[k].a[k];
            let size = self.absolute(pivot);
            let least = if k == 0 {
                self.constant(0.0)
            } else {
                let share = self.constant(CANCELLATION_MAX);
                self.op2(rows[k].parts[k], share, |dst, a, b| Op::Mul { dst, a, b })
            };
            let usable = self.compare(BinaryOp::Gt, size, least);
            exits.push(self.jump(Op::JumpIfNot { c: usable, to: 0 }));
            for i in k + 1..n {
                let factor = self.op2(rows[i].a[k], pivot, |dst, a, b| Op::Div { dst, a, b });
                let factor_size = self.absolute(factor);
                for j in k + 1..n {
                    rows[i].a[j] = self.minus_product(rows[i].a[j], factor, rows[k].a[j]);
                    let part = self.op2(factor_size, rows[k].parts[j], |dst, a, b| Op::Mul {
                        dst,
                        a,
                        b,
                    });
                    rows[i].parts[j] = self.math2(Builtin::Max, rows[i].parts[j], part);
                }
                rows[i].b = self.minus_product(rows[i].b, factor, rows[k].b);
            }
        }
        let mut solution = vec![0; n];
        for k in (0..n).rev() {
            let mut b = rows[k].b;
            for (&a, &x) in rows[k].a[k + 1..].iter().zip(&solution[k + 1..]) {
                b = self.minus_product(b, a, x);
            }
            solution[k] = self.op2(b, rows[k].a[k], |dst, a, b| Op::Div { dst, a, b });
        }
        Ok((solution, exits))
    }

    /// `var := numerator/denominator`, the same operation as [`Lower::solve_linear`] for one unknown.
    pub(crate) fn divide(
        &mut self,
        var: VarId,
        numerator: ExprId,
        denominator: ExprId,
    ) -> Result<(), LowerError> {
        let (a, b) = (self.lower(numerator)?, self.lower(denominator)?);
        let quotient = self.op2(a, b, |dst, a, b| Op::Div { dst, a, b });
        self.store(var, quotient);
        Ok(())
    }

    /// Exchanges rows k and i if the entry of row i in column k is the larger one, relative to its row.
    fn exchange_if_larger(&mut self, rows: &mut [Row], k: usize, i: usize) {
        let product = |l: &mut Self, x: Reg, scale: Reg| {
            let size = l.absolute(x);
            l.op2(size, scale, |dst, a, b| Op::Mul { dst, a, b })
        };
        let new = product(self, rows[i].a[k], rows[k].scale);
        let old = product(self, rows[k].a[k], rows[i].scale);
        let c = self.compare(BinaryOp::Gt, new, old);
        let (upper, lower) = rows.split_at_mut(i);
        let (upper, lower) = (&mut upper[k], &mut lower[0]);
        for j in k..upper.a.len() {
            self.exchange(c, &mut upper.a[j], &mut lower.a[j]);
            self.exchange(c, &mut upper.parts[j], &mut lower.parts[j]);
        }
        self.exchange(c, &mut upper.b, &mut lower.b);
        self.exchange(c, &mut upper.scale, &mut lower.scale);
    }

    fn exchange(&mut self, c: Reg, x: &mut Reg, y: &mut Reg) {
        let (from_y, from_x) = (self.select(c, *y, *x), self.select(c, *x, *y));
        (*x, *y) = (from_y, from_x);
    }

    fn select(&mut self, c: Reg, then: Reg, otherwise: Reg) -> Reg {
        let dst = self.alloc();
        self.emit(Op::Copy { dst, src: then });
        let e = otherwise;
        self.emit(Op::Select { dst, c, e });
        dst
    }

    fn absolute(&mut self, a: Reg) -> Reg {
        let dst = self.alloc();
        let f = Builtin::Abs;
        self.emit(Op::Math1 { f, dst, a });
        dst
    }

    pub(crate) fn math2(&mut self, f: Builtin, a: Reg, b: Reg) -> Reg {
        self.op2(a, b, |dst, a, b| Op::Math2 { f, dst, a, b })
    }

    fn compare(&mut self, f: BinaryOp, a: Reg, b: Reg) -> Reg {
        self.op2(a, b, |dst, a, b| Op::Binary { f, dst, a, b })
    }

    /// x - f·y
    fn minus_product(&mut self, x: Reg, f: Reg, y: Reg) -> Reg {
        let product = self.op2(f, y, |dst, a, b| Op::Mul { dst, a, b });
        self.op2(x, product, |dst, a, b| Op::Sub { dst, a, b })
    }

    fn op2(&mut self, a: Reg, b: Reg, op: impl FnOnce(Reg, Reg, Reg) -> Op) -> Reg {
        let dst = self.alloc();
        self.emit(op(dst, a, b));
        dst
    }
}
