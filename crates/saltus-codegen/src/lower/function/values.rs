//! Expressions of functions: arrays, records, comprehensions, reductions, calls.

use super::shapes::{base_of, coerced, dims_of, elements, opened, shaped, sized, stacked};
use super::{Binding, ELEMENTS_MAX, INTEGER_MAX};
use crate::calls::Arg;
use crate::lower::{Lower, LowerError, has_strings, result_tree};
use crate::tape::{Op, Reg};
use saltus_ir::eval::{Evaluator, NoEnv, NoExternals};
use saltus_ir::func::{ExternalArg, FunctionBody};
use saltus_ir::{Base, BinaryOp, Builtin, Dim, Expr, ExprId, FuncId, LocalId, Reduction, Value};

impl Lower<'_> {
    /// An expression of any type.
    pub(super) fn value(&mut self, e: ExprId) -> Result<Arg, LowerError> {
        self.tree(e)?.ok_or_else(|| {
            let kind = format!("{:?}", self.ir().expr(e));
            let kind: String = kind.chars().take_while(|c| c.is_alphanumeric()).collect();
            format!("an expression ({kind}) that only the evaluator can compute")
        })
    }

    /// What expressions of functions have beyond those of equations; `None`: nothing special.
    pub(in crate::lower) fn function_tree(&mut self, e: ExprId) -> Result<Option<Arg>, LowerError> {
        let ir = self.ir();
        match ir.expr(e) {
            Expr::Local(l) => self.local(*l).map(Some),
            Expr::Index { base, subs } => {
                let (base, subs) = (*base, subs.clone());
                self.part(base, &subs)
            }
            Expr::Field { base, index } => {
                let index = *index as usize;
                match opened(self.value(*base)?) {
                    Arg::Record(mut fields) if index < fields.len() => {
                        Ok(Some(fields.swap_remove(index)))
                    }
                    Arg::Array { dims, elems } => {
                        let mut all = Vec::new();
                        let mut sizes = dims;
                        let mut inner: Option<Vec<usize>> = None;
                        for record in elems {
                            let Arg::Record(mut fields) = opened(record) else {
                                return Ok(None);
                            };
                            if index >= fields.len() {
                                return Ok(None);
                            }
                            let field = fields.swap_remove(index);
                            inner.get_or_insert_with(|| dims_of(&field).to_vec());
                            all.extend(elements(field));
                        }
                        sizes.extend(inner.unwrap_or_default());
                        Ok(shaped(sizes, all))
                    }
                    _ => Ok(None),
                }
            }
            Expr::Record { record, fields } => {
                let types = &ir.records[*record].fields;
                let mut values = Vec::new();
                for (field, ty) in fields.iter().zip(types) {
                    let value = self.value(*field)?;
                    values.push(coerced(value, ir.type_of_id(ty.ty).base));
                }
                Ok(Some(Arg::Record(values)))
            }
            Expr::Array(items) => {
                let mut parts = Vec::new();
                for item in items {
                    parts.push(self.value(*item)?);
                }
                Ok(stacked(parts).map(|a| coerced(a, ir.base(e))))
            }
            Expr::Comprehension { body, iter, range } => {
                let parts = self.passes(*body, *iter, *range)?;
                Ok(stacked(parts).map(|a| coerced(a, ir.base(e))))
            }
            Expr::Reduce {
                op,
                body,
                iter,
                range,
            } => {
                let op = *op;
                let parts = self.passes(*body, *iter, *range)?;
                self.reduced(op, parts).map(Some)
            }
            Expr::Call { .. } => self.output(e, 0).map(Some),
            Expr::Output { call, index } => self.output(*call, *index as usize).map(Some),
            Expr::If(c, t, f) if !ir.ty(e).is_scalar() || matches!(ir.base(e), Base::Record(_)) => {
                let (c, t, f) = (*c, *t, *f);
                let tree = self.array_if(c, t, f)?;
                Ok(tree.map(|a| coerced(a, ir.base(e))))
            }
            Expr::Builtin(op, args) => {
                let (op, args) = (*op, args.clone());
                self.array_builtin(e, op, &args)
            }
            _ => Ok(None),
        }
    }

    /// A sum, difference or product of Integers, exact or given up.
    pub(in crate::lower) fn integer(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
    ) -> Result<Reg, LowerError> {
        let (a, b) = (self.lower(a)?, self.lower(b)?);
        let reg = self.binary(op, a, b);
        let reg = self.whole_number(reg);
        let size = self.alloc();
        self.emit(Op::Math1 {
            f: Builtin::Abs,
            dst: size,
            a: reg,
        });
        let most = self.constant(INTEGER_MAX);
        let c = self.binary(BinaryOp::Le, size, most);
        self.emit(Op::Check { c });
        Ok(reg)
    }

    /// An Integer result: its zero has no sign.
    pub(in crate::lower) fn whole_number(&mut self, reg: Reg) -> Reg {
        let zero = self.constant(0.0);
        self.binary(BinaryOp::Add, reg, zero)
    }

    /// The values of `body` for each element of a constant range.
    pub(super) fn passes(
        &mut self,
        body: ExprId,
        iter: LocalId,
        range: ExprId,
    ) -> Result<Vec<Arg>, LowerError> {
        let values = self
            .range_constants(range)
            .ok_or("an iteration over a range that is not known")?;
        let outer = self.locals_mut().bindings.get(&iter).cloned();
        // What was computed before does not depend on the iterator.
        let (memo, integers, calls) = (
            std::mem::take(&mut self.memo),
            std::mem::take(&mut self.integers),
            std::mem::take(&mut self.calls),
        );
        let mut parts = Vec::new();
        for value in values {
            self.bind(iter, Binding::Known(Arg::Constant(value)));
            parts.push(self.value(body)?);
        }
        self.rebind(iter, outer);
        (self.memo, self.integers, self.calls) = (memo, integers, calls);
        Ok(parts)
    }

    pub(super) fn reduced(&mut self, op: Reduction, parts: Vec<Arg>) -> Result<Arg, LowerError> {
        let mut parts = parts.into_iter();
        let mut sum = parts.next().ok_or("a reduction of nothing")?;
        for part in parts {
            let real = [&sum, &part]
                .into_iter()
                .any(|a| base_of(a) == Some(Base::Real));
            let base = if real {
                Base::Real
            } else {
                base_of(&part).ok_or("a reduction of arrays")?
            };
            let (a, b) = (self.number_of(sum)?, self.number_of(part)?);
            let reg = match op {
                Reduction::Sum => self.typed_binary(BinaryOp::Add, (a, base), (b, base)),
                Reduction::Product => self.typed_binary(BinaryOp::Mul, (a, base), (b, base)),
                Reduction::Min => self.math2(Builtin::Min, a, b),
                Reduction::Max => self.math2(Builtin::Max, a, b),
            };
            sum = Arg::Scalar { reg, base };
        }
        Ok(sum)
    }

    pub(super) fn number_of(&mut self, arg: Arg) -> Result<Reg, LowerError> {
        match self.on_registers(arg)? {
            Arg::Scalar { reg, .. } => Ok(reg),
            _ => Err("an array where a number is needed".into()),
        }
    }

    pub(super) fn array_builtin(
        &mut self,
        e: ExprId,
        op: Builtin,
        args: &[ExprId],
    ) -> Result<Option<Arg>, LowerError> {
        let ir = self.ir();
        let arrays = args.iter().any(|a| !ir.ty(*a).is_scalar());
        match op {
            Builtin::NoEvent | Builtin::Exact | Builtin::Homotopy => self.tree(args[0]),
            Builtin::Smooth if args.len() == 2 => self.tree(args[1]),
            Builtin::Fill => {
                let mut sizes = Vec::new();
                for size in &args[1..] {
                    match self.known_value(*size) {
                        Some(Value::Integer(n)) if (0..=ELEMENTS_MAX as i64).contains(&n) => {
                            sizes.push(n as usize);
                        }
                        _ => return Err("an array whose size is not known".into()),
                    }
                }
                let value = self.value(args[0])?;
                let n: usize = sizes.iter().product();
                sizes.extend(dims_of(&value));
                let one = elements(value);
                let all = std::iter::repeat_n(one, n).flatten().collect();
                Ok(shaped(sizes, all))
            }
            Builtin::Vector => {
                let elems = elements(self.value(args[0])?);
                Ok(Some(Arg::Array {
                    dims: vec![elems.len()],
                    elems,
                }))
            }
            Builtin::Matrix | Builtin::Promote => {
                let value = self.value(args[0])?;
                let mut dims = dims_of(&value).to_vec();
                let n = match op {
                    Builtin::Matrix => 2,
                    _ => match self.known_value(args[1]) {
                        Some(Value::Integer(n)) if (0..100).contains(&n) => n as usize,
                        _ => return Ok(None),
                    },
                };
                if op == Builtin::Matrix && dims.len() > 2 {
                    return Ok(None);
                }
                dims.resize(dims.len().max(n), 1);
                Ok(shaped(dims, elements(value)))
            }
            Builtin::Scalar => {
                let mut elems = elements(self.value(args[0])?);
                Ok(elems.pop().filter(|_| elems.is_empty()))
            }
            Builtin::Cat => self.concatenated(e, args),
            Builtin::Cross if args.len() == 2 => {
                let x = self.vector3(args[0])?;
                let y = self.vector3(args[1])?;
                let elems = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
                    let p = self.binary(BinaryOp::Mul, x[i], y[j]);
                    let q = self.binary(BinaryOp::Mul, x[j], y[i]);
                    Arg::Scalar {
                        reg: self.binary(BinaryOp::Sub, p, q),
                        base: Base::Real,
                    }
                });
                Ok(Some(Arg::Array {
                    dims: vec![3],
                    elems: elems.to_vec(),
                }))
            }
            Builtin::Sum | Builtin::Product if args.len() == 1 => {
                let elems = elements(self.value(args[0])?);
                let op = if op == Builtin::Sum {
                    Reduction::Sum
                } else {
                    Reduction::Product
                };
                self.reduced(op, elems).map(Some)
            }
            Builtin::Min | Builtin::Max if args.len() == 1 => {
                let elems = elements(self.value(args[0])?);
                let op = if op == Builtin::Min {
                    Reduction::Min
                } else {
                    Reduction::Max
                };
                self.reduced(op, elems).map(Some)
            }
            Builtin::Transpose => match opened(self.value(args[0])?) {
                Arg::Array { dims, elems } if dims.len() == 2 => {
                    let (n, m) = (dims[0], dims[1]);
                    let order = (0..m).flat_map(|j| (0..n).map(move |i| i * m + j));
                    let elems = order.map(|k| elems[k].clone()).collect();
                    Ok(shaped(vec![m, n], elems))
                }
                _ => Ok(None),
            },
            _ if arrays && op.is_math1() && args.len() == 1 => {
                let value = self.value(args[0])?;
                let dims = dims_of(&value).to_vec();
                let base = ir.base(e);
                let mut elems = Vec::new();
                for element in elements(value) {
                    let a = self.number_of(element)?;
                    let dst = self.alloc();
                    self.emit(Op::Math1 { f: op, dst, a });
                    elems.push(Arg::Scalar { reg: dst, base });
                }
                Ok(shaped(dims, elems))
            }
            // Scalars go the common way.
            _ if !arrays && ir.ty(e).is_scalar() => Ok(None),
            _ => Err(format!("`{}` of arrays that are not known", op.name())),
        }
    }

    pub(super) fn vector3(&mut self, e: ExprId) -> Result<[Reg; 3], LowerError> {
        let mut regs = Vec::new();
        for element in elements(self.value(e)?) {
            regs.push(self.number_of(element)?);
        }
        regs.try_into()
            .map_err(|_| "`cross` of other vectors".into())
    }

    pub(super) fn concatenated(
        &mut self,
        e: ExprId,
        args: &[ExprId],
    ) -> Result<Option<Arg>, LowerError> {
        let Some((axis, parts)) = args.split_first() else {
            return Ok(None);
        };
        let axis = match self.known_value(*axis) {
            Some(Value::Integer(k)) if (1..100).contains(&k) => k as usize - 1,
            _ => return Ok(None),
        };
        let mut values = Vec::new();
        for part in parts {
            values.push(self.value(*part)?);
        }
        let rank = values.iter().map(|v| dims_of(v).len()).max().unwrap_or(0);
        let rank = rank.max(axis + 1);
        let promoted = |v: &Arg| {
            let mut dims = dims_of(v).to_vec();
            dims.resize(rank, 1);
            dims
        };
        let Some(mut shape) = values.first().map(promoted) else {
            return Ok(None);
        };
        shape[axis] = 0;
        for value in &values {
            let own = promoted(value);
            if (0..rank).any(|d| d != axis && own[d] != shape[d]) {
                return Err("`cat` of other sizes".into());
            }
            shape[axis] += own[axis];
        }
        let outer: usize = shape[..axis].iter().product();
        let lists: Vec<Vec<Arg>> = values.into_iter().map(elements).collect();
        let mut elems = Vec::new();
        for o in 0..outer {
            for list in &lists {
                let chunk = list.len() / outer;
                elems.extend_from_slice(&list[o * chunk..(o + 1) * chunk]);
            }
        }
        Ok(shaped(shape, elems).map(|a| coerced(a, self.ir().base(e))))
    }

    /// Output `index` of a call.
    pub(super) fn output(&mut self, call: ExprId, index: usize) -> Result<Arg, LowerError> {
        let ir = self.ir();
        let Expr::Call { function, args } = ir.expr(call) else {
            return Err("an output of something that is not a call".into());
        };
        if let FunctionBody::Constructor(record) = ir.functions[*function].body {
            let types = &ir.records[record].fields;
            let mut values = Vec::new();
            for (arg, field) in args.iter().zip(types) {
                let value = self.value(*arg)?;
                values.push(coerced(value, ir.type_of_id(field.ty).base));
            }
            return Ok(Arg::Record(values));
        }
        let ty = match ir.functions[*function].outputs.get(index) {
            Some(output) => ir.locals[*output].ty,
            None => return Err("an output that a function does not have".into()),
        };
        if let Some(reg) = self.direct_call(call)?.filter(|_| index == 0) {
            let base = ir.base(call);
            return Ok(Arg::Scalar { reg, base });
        }
        if has_strings(ir, ty) {
            return Err("a function that gives a text".into());
        }
        let site = self.call_site(call)? as usize;
        let (shape, n) = match self.coded_output(site, index) {
            Some(known) => known,
            None => {
                let shape = result_tree(ir, ty, &mut 0)
                    .or_else(|| self.declared_shape(site, index))
                    .ok_or("a call whose result size is not known")?;
                let mut leaves = Vec::new();
                shape.leaves(&mut leaves);
                (shape, leaves.len())
            }
        };
        let place = self.tape.calls[site].outputs.get(index).copied().flatten();
        let base = match place {
            Some((base, _)) => base,
            None => {
                let base = self.alloc_many(n);
                let outputs = &mut self.tape.calls[site].outputs;
                if outputs.len() <= index {
                    outputs.resize(index + 1, None);
                }
                outputs[index] = Some((base, n as u32));
                base
            }
        };
        shape
            .with_registers(&mut (base..))
            .ok_or_else(|| "a result that is not a number, array or record".into())
    }

    /// The shape of an output from its declaration and the sizes of the arguments.
    pub(super) fn declared_shape(&self, site: usize, index: usize) -> Option<Arg> {
        let ir = self.ir();
        let site = &self.tape.calls[site];
        let f = &ir.functions[site.function];
        let output = &ir.locals[*f.outputs.get(index)?];
        let base = ir.type_of_id(output.ty).base;
        if matches!(base, Base::Record(_)) {
            return None;
        }
        let (mut env, mut externals) = (NoEnv, NoExternals);
        let mut evaluator = Evaluator::new(ir, &mut env, &mut externals);
        for (&input, arg) in f.inputs.iter().zip(&site.args) {
            match arg {
                Arg::Constant(value) => evaluator.bind(input, value.clone()),
                // Only its size is asked for; a number that is not constant has no value here.
                Arg::Array { dims, .. } => evaluator.bind(input, sized(dims)),
                _ => {}
            }
        }
        let mut dims = Vec::new();
        for (k, dim) in ir.type_of_id(output.ty).dims.iter().enumerate() {
            dims.push(match (dim, output.dims.get(k)) {
                (Dim::Known(n), _) => *n as usize,
                (Dim::Unknown, Some(Some(size))) => match evaluator.eval(*size) {
                    Ok(Value::Integer(n)) if (0..=ELEMENTS_MAX as i64).contains(&n) => n as usize,
                    _ => return None,
                },
                (Dim::Unknown, _) => return None,
            });
        }
        let elems = (0..dims.iter().product::<usize>() as u32)
            .map(|reg| Arg::Scalar { reg, base })
            .collect();
        Some(Arg::Array { dims, elems })
    }

    /// A function of numbers that is an operation, or a table: its result.
    pub(super) fn direct_call(&mut self, call: ExprId) -> Result<Option<Reg>, LowerError> {
        let ir = self.ir();
        let Expr::Call { function, args } = ir.expr(call) else {
            return Ok(None);
        };
        let f = &ir.functions[*function];
        let FunctionBody::External(external) = &f.body else {
            return Ok(None);
        };
        if let Some(reg) = self.table(call)? {
            return Ok(Some(reg));
        }
        if external.language.as_str() != "builtin" || f.outputs.len() != 1 {
            return Ok(None);
        }
        use Builtin::*;
        let all = [
            Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Exp, Log, Log10, Sqrt, Abs,
        ];
        let Some(op) = all
            .into_iter()
            .find(|op| op.name() == external.name.as_str())
        else {
            return Ok(None);
        };
        let mut operands = Vec::new();
        for arg in &external.args {
            let ExternalArg::Value(e) = arg else {
                return Ok(None);
            };
            let Expr::Local(local) = ir.expr(*e) else {
                return Ok(None);
            };
            let Some(position) = f.inputs.iter().position(|i| i == local) else {
                return Ok(None);
            };
            let arg = args[position];
            if ir.base(arg) != Base::Real || !ir.ty(arg).is_scalar() {
                return Ok(None);
            }
            operands.push(self.lower(arg)?);
        }
        let dst = self.alloc();
        match operands.as_slice() {
            [a] if op.is_math1() => self.emit(Op::Math1 { f: op, dst, a: *a }),
            [a, b] if op.is_math2() => self.emit(Op::Math2 {
                f: op,
                dst,
                a: *a,
                b: *b,
            }),
            _ => return Ok(None),
        }
        Ok(Some(dst))
    }

    /// The function that a call means: that of a function argument with what is bound to it.
    pub(in crate::lower) fn callee(
        &mut self,
        function: FuncId,
        args: Vec<Arg>,
    ) -> Result<(FuncId, Vec<Arg>), LowerError> {
        let ir = self.ir();
        let FunctionBody::Argument(local) = ir.functions[function].body else {
            return Ok((function, args));
        };
        let Arg::Function(function, bound) = self.local(local)? else {
            return Err("a call of something that is not a function".into());
        };
        let mut given = args.into_iter();
        let mut all = Vec::new();
        for position in 0..ir.functions[function].inputs.len() {
            match bound.iter().find(|(p, _)| *p as usize == position) {
                Some((_, value)) => all.push(value.clone()),
                None => match given.next() {
                    Some(value) => all.push(value),
                    None => break,
                },
            }
        }
        Ok((function, all))
    }
}
