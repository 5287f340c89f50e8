//! The scalar leaves of array and record types, in the order given at [`crate::Expr::Leaf`].

use crate::expr::{Expr, Ir};
use crate::types::{Base, Type};
use crate::{ExprId, TypeId, VarId};

impl Ir {
    /// Number of scalar leaves; `None` if a dimension is unknown.
    pub fn leaf_count(&self, ty: TypeId) -> Option<usize> {
        let Type { base, .. } = self.type_of_id(ty);
        let n: usize = self.type_of_id(ty).known_dims()?.iter().product();
        Some(n * self.element_leaf_count(*base)?)
    }

    /// Number of scalar leaves of one element.
    pub fn element_leaf_count(&self, base: Base) -> Option<usize> {
        match base {
            Base::Record(id) => self.records[id]
                .fields
                .iter()
                .map(|field| self.leaf_count(field.ty))
                .sum(),
            _ => Some(1),
        }
    }

    /// The scalar types of the leaves; `None` if a dimension is unknown.
    pub fn leaf_bases(&self, ty: TypeId) -> Option<Vec<Base>> {
        let mut bases = Vec::new();
        self.push_leaf_bases(ty, &mut bases)?;
        Some(bases)
    }

    fn push_leaf_bases(&self, ty: TypeId, bases: &mut Vec<Base>) -> Option<()> {
        let n: usize = self.type_of_id(ty).known_dims()?.iter().product();
        match self.type_of_id(ty).base {
            Base::Record(id) => {
                for _ in 0..n {
                    for field in &self.records[id].fields {
                        self.push_leaf_bases(field.ty, bases)?;
                    }
                }
            }
            base => bases.extend(std::iter::repeat_n(base, n)),
        }
        Some(())
    }

    /// The first leaf and the number of leaves of a field within one element of the record.
    pub fn field_leaves(&self, record: crate::RecordId, index: u32) -> Option<(usize, usize)> {
        let fields = &self.records[record].fields;
        let before = fields
            .get(..index as usize)?
            .iter()
            .map(|field| self.leaf_count(field.ty))
            .sum::<Option<usize>>()?;
        Some((before, self.leaf_count(fields.get(index as usize)?.ty)?))
    }

    /// An expression of type `ty` from its scalar leaves; `None` if their number does not fit.
    ///
    /// Consecutive variables become one [`Expr::VarArray`], all leaves of one call become the call.
    pub fn rebuild_from_leaves(&mut self, ty: TypeId, leaves: &[ExprId]) -> Option<ExprId> {
        if self.leaf_count(ty)? != leaves.len() {
            return None;
        }
        Some(self.rebuild(ty, leaves))
    }

    fn rebuild(&mut self, ty: TypeId, leaves: &[ExprId]) -> ExprId {
        let Type { base, dims } = self.type_of_id(ty).clone();
        if dims.is_empty() && !matches!(base, Base::Record(_)) {
            return leaves[0];
        }
        if let Some(whole) = self.whole_of_leaves(ty, leaves) {
            return whole;
        }
        if let Some((_, inner)) = dims.split_first() {
            let n = match dims[0] {
                crate::Dim::Known(n) => n as usize,
                crate::Dim::Unknown => unreachable!("leaf counts are known"),
            };
            let inner = self.intern_type(Type {
                base,
                dims: inner.to_vec(),
            });
            let chunk = leaves.len().checked_div(n).unwrap_or(0);
            let elements = (0..n)
                .map(|k| self.rebuild(inner, &leaves[k * chunk..(k + 1) * chunk]))
                .collect();
            return self.add(Expr::Array(elements), ty);
        }
        let Base::Record(record) = base else {
            unreachable!("scalars were handled")
        };
        let field_types: Vec<TypeId> = self.records[record]
            .fields
            .iter()
            .map(|field| field.ty)
            .collect();
        let mut rest = leaves;
        let mut fields = Vec::with_capacity(field_types.len());
        for field_ty in field_types {
            let n = self.leaf_count(field_ty).expect("leaf counts are known");
            let (own, others) = rest.split_at(n);
            fields.push(self.rebuild(field_ty, own));
            rest = others;
        }
        self.add(
            Expr::Record {
                record,
                fields: fields.into(),
            },
            ty,
        )
    }

    /// One node whose leaves are exactly `leaves`, if there is one.
    fn whole_of_leaves(&mut self, ty: TypeId, leaves: &[ExprId]) -> Option<ExprId> {
        match *self.expr(*leaves.first()?) {
            Expr::Leaf { of, index: 0 } if self.type_id(of) == ty => {
                let all = leaves
                    .iter()
                    .enumerate()
                    .all(|(k, &e)| matches!(*self.expr(e), Expr::Leaf { of: o, index } if o == of && index as usize == k));
                all.then_some(of)
            }
            Expr::Var(first) if self.type_of_id(ty).base == self.base(leaves[0]) => {
                let base = self.base(leaves[0]);
                let all = leaves.iter().enumerate().all(|(k, &e)| {
                    matches!(*self.expr(e), Expr::Var(VarId(v)) if v as usize == first.0 as usize + k) && self.base(e) == base
                });
                all.then(|| self.add(Expr::VarArray(first), ty))
            }
            _ => None,
        }
    }
}
