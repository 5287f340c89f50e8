//! Types of expressions: a scalar base and array dimensions.

use crate::{EnumId, FuncId, ObjectId, RecordId, TypeId};
use saltus_syntax::{Name, Span};

#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Base {
    Real,
    Integer,
    Boolean,
    String,
    Clock,
    Enum(EnumId),
    Record(RecordId),
    Object(ObjectId),
    /// A function given as an argument.
    Function,
}

impl Base {
    pub fn is_numeric(self) -> bool {
        matches!(self, Base::Real | Base::Integer)
    }
}

/// One array dimension. `Unknown` occurs only inside functions (`input Real u[:]`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Dim {
    Known(u32),
    Unknown,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Type {
    pub base: Base,
    /// Empty for a scalar.
    pub dims: Vec<Dim>,
}

impl Type {
    pub fn scalar(base: Base) -> Type {
        Type {
            base,
            dims: Vec::new(),
        }
    }

    pub fn array(base: Base, dims: &[usize]) -> Type {
        Type {
            base,
            dims: dims.iter().map(|&d| Dim::Known(d as u32)).collect(),
        }
    }

    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    /// The dimensions if all are known.
    pub fn known_dims(&self) -> Option<Vec<usize>> {
        self.dims
            .iter()
            .map(|d| {
                if let Dim::Known(n) = d {
                    Some(*n as usize)
                } else {
                    None
                }
            })
            .collect()
    }
}

/// A record type: fields in declaration order. Two record types are the same when the id is the same;
/// the front end gives records with equal fields of one class instance one id.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RecordType {
    pub name: Name,
    pub fields: Vec<RecordField>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RecordField {
    pub name: Name,
    pub ty: TypeId,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnumType {
    pub name: Name,
    pub literals: Vec<Name>,
}

/// A class of external objects with its constructor and destructor.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ObjectType {
    pub name: Name,
    /// Known once a constructor is called.
    pub destructor: Option<FuncId>,
}
