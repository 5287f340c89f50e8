//! Constructors that compute the type of a node from its operands, and small questions about types.

use super::{dims_fit, dims_text, error};
use crate::core::*;
use saltus_ir::types::{RecordField, RecordType};
use saltus_ir::{Base, Builtin, Dim, Expr, ExprId, RecordId, Sub, Type, TypeId, VarId};
use saltus_syntax::{Name, Span};

impl<'a> Flattener<'a> {
    pub(crate) fn node(&mut self, expr: Expr, base: Base, dims: Vec<Dim>) -> ExprId {
        let ty = self.ir.intern_type(Type { base, dims });
        self.ir.add_folded(expr, ty)
    }

    pub(crate) fn builtin_node(
        &mut self,
        op: Builtin,
        args: &[ExprId],
        base: Base,
        dims: Vec<Dim>,
    ) -> ExprId {
        let ty = self.ir.intern_type(Type { base, dims });
        self.ir.builtin_typed(op, args, ty)
    }

    /// `e` with Integer literals made Real if `base` is Real. Other Integer expressions are converted where they are used.
    pub(crate) fn coerce(&mut self, e: ExprId, base: Base) -> ExprId {
        if base != Base::Real || self.ir.base(e) != Base::Integer {
            return e;
        }
        match self.ir.expr(e) {
            Expr::Integer(i) => {
                let x = *i as f64;
                self.ir.real(x)
            }
            Expr::Array(items) => {
                let items = items.clone();
                let items = items.iter().map(|&i| self.coerce(i, base)).collect();
                let dims = self.ir.ty(e).dims.clone();
                self.node(Expr::Array(items), Base::Real, dims)
            }
            Expr::Builtin(Builtin::Fill, args) => {
                let mut args = args.clone();
                args[0] = self.coerce(args[0], base);
                let base = self.ir.base(args[0]);
                let dims = self.ir.ty(e).dims.clone();
                self.node(Expr::Builtin(Builtin::Fill, args), base, dims)
            }
            _ => e,
        }
    }

    /// Elements of type `element` stacked along a new first dimension.
    pub(crate) fn stack(&mut self, items: &[ExprId], element: &Type) -> ExprId {
        let mut dims = vec![Dim::Known(items.len() as u32)];
        dims.extend_from_slice(&element.dims);
        let ty = self.ir.intern_type(Type {
            base: element.base,
            dims,
        });
        self.ir.add(Expr::Array(items.into()), ty)
    }

    /// Items in row-major order as nested arrays.
    pub(crate) fn nest(&mut self, dims: &[usize], element: &Type, items: &[ExprId]) -> ExprId {
        let Some((&n, rest)) = dims.split_first() else {
            return items[0];
        };
        let mut inner = element.clone();
        inner.dims = rest
            .iter()
            .map(|&d| Dim::Known(d as u32))
            .chain(element.dims.iter().copied())
            .collect();
        if rest.is_empty() {
            return self.stack(items, &inner);
        }
        let chunk = rest.iter().product::<usize>();
        let parts: Vec<ExprId> = (0..n)
            .map(|k| self.nest(rest, element, &items[k * chunk..(k + 1) * chunk]))
            .collect();
        self.stack(&parts, &inner)
    }

    /// The elements of an array along its first dimension, where they can be named without an index.
    pub(crate) fn unstack(&mut self, e: ExprId) -> Option<Vec<ExprId>> {
        match self.ir.expr(e) {
            Expr::Array(items) => Some(items.to_vec()),
            Expr::VarArray(first) => {
                let first = *first;
                let ty = self.ir.ty(e).clone();
                let dims = ty.known_dims()?;
                let (&n, rest) = dims.split_first()?;
                let stride = rest.iter().product::<usize>();
                let inner = self.ir.intern_type(Type::array(ty.base, rest));
                Some(
                    (0..n)
                        .map(|k| {
                            let v = VarId(first.0 + (k * stride) as u32);
                            let expr = if rest.is_empty() {
                                Expr::Var(v)
                            } else {
                                Expr::VarArray(v)
                            };
                            self.ir.add(expr, inner)
                        })
                        .collect(),
                )
            }
            Expr::Builtin(Builtin::Fill, args) => {
                let args = args.clone();
                let ty = self.ir.ty(e).clone();
                let Some(Dim::Known(n)) = ty.dims.first().copied() else {
                    return None;
                };
                let element = if args.len() == 2 {
                    args[0]
                } else {
                    let rest: Vec<ExprId> = std::iter::once(args[0])
                        .chain(args[2..].iter().copied())
                        .collect();
                    self.builtin_node(Builtin::Fill, &rest, ty.base, ty.dims[1..].to_vec())
                };
                Some(vec![element; n as usize])
            }
            Expr::Range { start, step, stop } => {
                let (start, step, stop) = (*start, *step, *stop);
                let Expr::Integer(a) = *self.ir.expr(start) else {
                    return None;
                };
                let Expr::Integer(b) = *self.ir.expr(stop) else {
                    return None;
                };
                let s = match step {
                    None => 1,
                    Some(s) => match *self.ir.expr(s) {
                        Expr::Integer(s) => s,
                        _ => return None,
                    },
                };
                let n = saltus_ir::ops::range_length(a as f64, s as f64, b as f64).ok()?;
                Some((0..n as i64).map(|k| self.ir.integer(a + k * s)).collect())
            }
            _ => None,
        }
    }

    /// `base[subs]`; missing subscripts at the end mean `:`.
    pub(crate) fn index(&mut self, base: ExprId, mut subs: Vec<Sub>, span: Span) -> Res<ExprId> {
        let ty = self.ir.ty(base).clone();
        if subs.len() > ty.dims.len() {
            return Err(error(
                "array-size-mismatch",
                span,
                format!(
                    "{} subscripts are given to a value of type `{}`",
                    subs.len(),
                    self.text_of_type(&ty)
                ),
            ));
        }
        subs.resize(ty.dims.len(), Sub::All);
        if subs.iter().all(|s| *s == Sub::All) {
            return Ok(base);
        }
        let mut dims = Vec::new();
        for (sub, dim) in subs.iter().zip(&ty.dims) {
            match sub {
                Sub::All => dims.push(*dim),
                Sub::At(e) => {
                    self.check_subscript(*e, *dim, span)?;
                    dims.extend_from_slice(&self.ir.ty(*e).dims);
                }
            }
        }
        if let Some(folded) = self.fold_index(base, &subs) {
            return Ok(folded);
        }
        Ok(self.node(
            Expr::Index {
                base,
                subs: subs.into(),
            },
            ty.base,
            dims,
        ))
    }

    fn check_subscript(&self, e: ExprId, dim: Dim, span: Span) -> Res<()> {
        let ty = self.ir.ty(e);
        if !matches!(ty.base, Base::Integer | Base::Boolean | Base::Enum(_)) || ty.dims.len() > 1 {
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "a subscript must be an Integer or a vector of Integers, found `{}`",
                    self.text_of_type(ty)
                ),
            ));
        }
        let Dim::Known(n) = dim else { return Ok(()) };
        if let Some(i) = self.ir.as_subscript(e)
            && !(1..=i64::from(n)).contains(&i)
        {
            return Err(error(
                "index-out-of-range",
                span,
                format!("subscript {i} is not in 1:{n}"),
            ));
        }
        Ok(())
    }

    /// Indexing of nodes whose elements are at hand, with literal subscripts.
    fn fold_index(&mut self, base: ExprId, subs: &[Sub]) -> Option<ExprId> {
        let Some((first, rest)) = subs.split_first() else {
            return Some(base);
        };
        if subs.iter().all(|s| *s == Sub::All) {
            return Some(base);
        }
        let Sub::At(at) = first else { return None };
        let items = if let Some(i) = self.ir.as_subscript(*at) {
            let items = self.unstack(base)?;
            let item = *items.get(usize::try_from(i).ok()?.checked_sub(1)?)?;
            return self.index_rest(item, rest);
        } else {
            let at = self.unstack(*at)?;
            let items = self.unstack(base)?;
            let mut picked = Vec::with_capacity(at.len());
            for e in at {
                let i = usize::try_from(self.ir.as_subscript(e)?)
                    .ok()?
                    .checked_sub(1)?;
                picked.push(*items.get(i)?);
            }
            picked
        };
        let mut parts = Vec::with_capacity(items.len());
        for item in items {
            parts.push(self.index_rest(item, rest)?);
        }
        let element = self.ir.ty(*parts.first()?).clone();
        Some(self.stack(&parts, &element))
    }

    fn index_rest(&mut self, item: ExprId, rest: &[Sub]) -> Option<ExprId> {
        if let Some(folded) = self.fold_index(item, rest) {
            return Some(folded);
        }
        let ty = self.ir.ty(item).clone();
        let mut dims = Vec::new();
        for (sub, dim) in rest.iter().zip(&ty.dims) {
            match sub {
                Sub::All => dims.push(*dim),
                Sub::At(e) => dims.extend_from_slice(&self.ir.ty(*e).dims),
            }
        }
        Some(self.node(
            Expr::Index {
                base: item,
                subs: rest.into(),
            },
            ty.base,
            dims,
        ))
    }

    /// The element with these subscripts (from 0) of the leading dimensions.
    pub(crate) fn element(&mut self, e: ExprId, at: &[usize], span: Span) -> Res<ExprId> {
        let subs = at
            .iter()
            .map(|&i| Sub::At(self.ir.integer(i as i64 + 1)))
            .collect();
        self.index(e, subs, span)
    }

    /// Field `index` of a record or of each element of an array of records.
    pub(crate) fn field(&mut self, base: ExprId, index: u32) -> ExprId {
        let ty = self.ir.ty(base).clone();
        let Base::Record(record) = ty.base else {
            unreachable!("only records have fields")
        };
        let field = self
            .ir
            .type_of_id(self.ir.records[record].fields[index as usize].ty)
            .clone();
        if ty.dims.is_empty() {
            if let Expr::Record { fields, .. } = self.ir.expr(base) {
                return fields[index as usize];
            }
        } else if let Expr::Array(items) = self.ir.expr(base)
            && !items.is_empty()
        {
            let items = items.clone();
            let parts: Vec<ExprId> = items.iter().map(|&i| self.field(i, index)).collect();
            let element = self.ir.ty(parts[0]).clone();
            return self.stack(&parts, &element);
        }
        let dims = ty.dims.iter().chain(&field.dims).copied().collect();
        self.node(Expr::Field { base, index }, field.base, dims)
    }

    /// The record type with these fields: one id for equal fields, so that types compare by structure (specification 6.4).
    pub(crate) fn record_id(
        &mut self,
        name: Name,
        fields: Vec<(Name, TypeId)>,
        span: Span,
    ) -> RecordId {
        let key = (std::ptr::null(), fields);
        if let Some(&id) = self.record_types.get(&key) {
            return id;
        }
        let list = key
            .1
            .iter()
            .map(|&(name, ty)| RecordField { name, ty })
            .collect();
        let id = self.ir.records.push(RecordType {
            name,
            fields: list,
            span,
        });
        self.record_types.insert(key, id);
        id
    }

    pub(crate) fn record_node(
        &mut self,
        name: Name,
        fields: &[(Name, ExprId)],
        span: Span,
    ) -> ExprId {
        let types = fields
            .iter()
            .map(|&(n, e)| (n, self.ir.type_id(e)))
            .collect();
        let record = self.record_id(name, types, span);
        let values = fields.iter().map(|(_, e)| *e).collect();
        self.node(
            Expr::Record {
                record,
                fields: values,
            },
            Base::Record(record),
            Vec::new(),
        )
    }

    /// Whether a value of base `actual` may stand where `formal` is expected.
    pub(crate) fn base_fits(&self, formal: Base, actual: Base) -> bool {
        match (formal, actual) {
            _ if formal == actual => true,
            (Base::Real, Base::Integer) => true,
            (Base::Record(f), Base::Record(a)) => {
                let (f, a) = (&self.ir.records[f].fields, &self.ir.records[a].fields);
                f.len() == a.len()
                    && f.iter().all(|field| {
                        a.iter().any(|other| {
                            other.name == field.name && {
                                let (tf, ta) =
                                    (self.ir.type_of_id(field.ty), self.ir.type_of_id(other.ty));
                                dims_fit(&tf.dims, &ta.dims) && self.base_fits(tf.base, ta.base)
                            }
                        })
                    })
            }
            _ => false,
        }
    }

    /// `e` as a value of base `formal`, which it fits: literals made Real, fields of records put in order.
    pub(crate) fn adapt(&mut self, e: ExprId, formal: Base) -> ExprId {
        let (Base::Record(f), Base::Record(a)) = (formal, self.ir.base(e)) else {
            return self.coerce(e, formal);
        };
        if f == a || !self.ir.ty(e).is_scalar() {
            return e;
        }
        let names = |id: RecordId| {
            self.ir.records[id]
                .fields
                .iter()
                .map(|f| f.name)
                .collect::<Vec<_>>()
        };
        let (wanted, given) = (names(f), names(a));
        if wanted == given {
            return e;
        }
        let (name, span) = (self.ir.records[f].name, self.ir.records[f].span);
        let mut fields = Vec::with_capacity(wanted.len());
        for n in wanted {
            let index = given.iter().position(|g| *g == n).expect("the records fit");
            fields.push((n, self.field(e, index as u32)));
        }
        self.record_node(name, &fields, span)
    }

    /// The base both may have: equal, or Real of Real and Integer.
    pub(crate) fn common_base(&self, a: Base, b: Base) -> Option<Base> {
        if self.base_fits(a, b) {
            Some(a)
        } else if self.base_fits(b, a) {
            Some(b)
        } else {
            None
        }
    }

    /// A size as a dimension: known if it is a constant or follows from parameters, which then become structural.
    pub(crate) fn dim_of(&mut self, size: ExprId, span: Span) -> Res<Dim> {
        let n = match self.ir.expr(size) {
            Expr::Integer(n) => *n,
            _ => match self.try_const(size).and_then(|v| v.as_i64()) {
                Some(n) => n,
                None => return Ok(Dim::Unknown),
            },
        };
        u32::try_from(n).map(Dim::Known).map_err(|_| {
            error(
                "array-size-mismatch",
                span,
                format!("an array size must be from 0 to 2^32 - 1, found {n}"),
            )
        })
    }

    /// The size of an array in dimension `k` (from 0): a literal where the type says it.
    pub(crate) fn size_node(&mut self, array: ExprId, k: usize) -> ExprId {
        match self.ir.ty(array).dims.get(k) {
            Some(Dim::Known(n)) => {
                let n = i64::from(*n);
                self.ir.integer(n)
            }
            _ => {
                let dim = self.ir.integer(k as i64 + 1);
                self.builtin_node(Builtin::Size, &[array, dim], Base::Integer, Vec::new())
            }
        }
    }

    /// Merges dimensions that must be equal.
    pub(crate) fn same_dims(&self, a: ExprId, b: ExprId, what: &str, span: Span) -> Res<Vec<Dim>> {
        let (x, y) = (&self.ir.ty(a).dims, &self.ir.ty(b).dims);
        if !dims_fit(x, y) {
            return Err(error(
                "array-size-mismatch",
                span,
                format!(
                    "sizes of the operands of {what} differ: `{}` and `{}`",
                    self.type_text_of(a),
                    self.type_text_of(b)
                ),
            ));
        }
        Ok(merge_dims(x, y))
    }
}

/// The better known of two equal sizes.
pub(crate) fn merge_dims(a: &[Dim], b: &[Dim]) -> Vec<Dim> {
    a.iter()
        .zip(b)
        .map(|(&x, &y)| if x == Dim::Unknown { y } else { x })
        .collect()
}

pub(crate) fn size_error(
    what: &str,
    a: &[Dim],
    b: &[Dim],
    span: Span,
) -> Box<saltus_syntax::Diagnostic> {
    error(
        "array-size-mismatch",
        span,
        format!(
            "sizes in {what} do not fit: {} and {}",
            dims_text(a),
            dims_text(b)
        ),
    )
}
