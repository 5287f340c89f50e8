//! Subscripts: parts of arrays read and replaced, at positions known now or at run time.

use super::shapes::{base_of, opened, shaped};
use crate::calls::Arg;
use crate::lower::{Lower, LowerError};
use crate::tape::{Op, Reg};
use saltus_ir::{Base, BinaryOp, ExprId, Sub, Value};

/// A subscript, as far as it is known.
pub(super) enum Index {
    At(usize),
    /// Several positions; the dimension stays.
    Many(Vec<usize>),
    /// A register with the position from 1 on, to be checked.
    Dynamic(Reg),
}

impl Lower<'_> {
    pub(super) fn indices(
        &mut self,
        subs: &[Sub],
        dims: &[usize],
    ) -> Result<Vec<Index>, LowerError> {
        if subs.len() > dims.len() {
            return Err("more subscripts than dimensions".into());
        }
        let mut indices = Vec::with_capacity(dims.len());
        for (k, &n) in dims.iter().enumerate() {
            let outside = || "a subscript outside an array".to_string();
            let position = |v: &Value| {
                let i = match v {
                    Value::Boolean(b) => i64::from(*b) + 1,
                    other => other.as_i64()?,
                };
                usize::try_from(i)
                    .ok()
                    .filter(|i| *i >= 1 && *i <= n)
                    .map(|i| i - 1)
            };
            indices.push(match subs.get(k) {
                None | Some(Sub::All) => Index::Many((0..n).collect()),
                Some(Sub::At(e)) => match self.known_value(*e) {
                    Some(Value::Array(a)) => {
                        let at: Option<Vec<usize>> = a.elems.iter().map(position).collect();
                        Index::Many(at.ok_or_else(outside)?)
                    }
                    Some(value) => Index::At(position(&value).ok_or_else(outside)?),
                    None => {
                        let ty = self.ir().ty(*e);
                        let whole = matches!(ty.base, Base::Integer | Base::Enum(_));
                        if !ty.is_scalar() || !whole || n == 0 {
                            return Err("a subscript that is not known".into());
                        }
                        let a = self.lower(*e)?;
                        self.emit(Op::CheckIndex { a, n: n as u32 });
                        Index::Dynamic(a)
                    }
                },
            });
        }
        Ok(indices)
    }

    /// Selected positions, counted with 0 for unknown subscripts; the sizes of the result; a register with the offset that the
    /// unknown ones add.
    pub(super) fn selection(
        &mut self,
        indices: &[Index],
        dims: &[usize],
    ) -> (Vec<usize>, Vec<usize>, Option<Reg>) {
        let mut selected = vec![0];
        let mut sizes = Vec::new();
        let mut offset: Option<Reg> = None;
        for (k, (index, &n)) in indices.iter().zip(dims).enumerate() {
            let along = match index {
                Index::At(i) => vec![*i],
                Index::Many(list) => {
                    sizes.push(list.len());
                    list.clone()
                }
                Index::Dynamic(reg) => {
                    let stride: usize = dims[k + 1..].iter().product();
                    let one = self.constant(1.0);
                    let mut step = self.binary(BinaryOp::Sub, *reg, one);
                    if stride != 1 {
                        let stride = self.constant(stride as f64);
                        step = self.binary(BinaryOp::Mul, step, stride);
                    }
                    offset = Some(match offset {
                        None => step,
                        Some(before) => self.binary(BinaryOp::Add, before, step),
                    });
                    vec![0]
                }
            };
            selected = selected
                .iter()
                .flat_map(|s| along.iter().map(move |p| s * n + p))
                .collect();
        }
        (selected, sizes, offset)
    }

    pub(super) fn shifted(&mut self, offset: Reg, by: usize) -> Reg {
        if by == 0 {
            return offset;
        }
        let by = self.constant(by as f64);
        self.binary(BinaryOp::Add, offset, by)
    }

    pub(super) fn part(&mut self, base: ExprId, subs: &[Sub]) -> Result<Option<Arg>, LowerError> {
        let whole = self.value(base)?;
        let constant = match &whole {
            Arg::Constant(Value::Array(a)) => {
                let numbers: Option<Vec<f64>> = a
                    .elems
                    .iter()
                    .map(|v| v.as_f64().filter(|_| !matches!(v, Value::Object(_))))
                    .collect();
                numbers.filter(|n| !n.is_empty())
            }
            _ => None,
        };
        let Arg::Array { dims, elems } = opened(whole) else {
            return Ok(None);
        };
        let indices = self.indices(subs, &dims)?;
        let (selected, sizes, dynamic) = self.selection(&indices, &dims);
        let parts = match dynamic {
            None => selected.into_iter().map(|at| elems[at].clone()).collect(),
            Some(dynamic) => {
                let base = elems.first().and_then(base_of);
                let base = base.ok_or("an array of records with an unknown subscript")?;
                let gather = match constant {
                    Some(numbers) => {
                        self.tape.constants.push(numbers);
                        None
                    }
                    None => {
                        let all = self.on_registers(Arg::Array {
                            dims: dims.clone(),
                            elems,
                        })?;
                        let mut regs = Vec::new();
                        all.leaves(&mut regs);
                        self.tape.gathers.push(regs);
                        Some(self.tape.gathers.len() as u32 - 1)
                    }
                };
                let mut parts = Vec::new();
                for at in selected {
                    let index = self.shifted(dynamic, at);
                    let dst = self.alloc();
                    self.emit(match gather {
                        Some(list) => Op::Gather { dst, list, index },
                        None => Op::Lookup {
                            dst,
                            list: self.tape.constants.len() as u32 - 1,
                            index,
                        },
                    });
                    parts.push(Arg::Scalar { reg: dst, base });
                }
                parts
            }
        };
        Ok(shaped(sizes, parts))
    }
}
