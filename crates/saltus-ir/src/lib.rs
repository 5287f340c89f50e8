//! The one representation of models after typing: expressions, functions, the flat model, and what can be
//! done with them (evaluate, simplify, scalarise, differentiate, print, verify).
//!
//! Comes in: what `saltus-flatten` builds. Goes out: the same data, rewritten. There is one evaluator
//! ([`eval`]), one simplifier ([`simplify`]) and one differentiator ([`diff`]) in Saltus, and they are here.

pub mod diff;
mod difference;
pub mod eval;
pub mod expr;
pub mod external;
pub mod flat;
pub mod func;
pub mod ids;
mod leaves;
pub mod linear;
pub mod ops;
pub mod print;
pub mod scalar;
pub mod simplify;
pub mod stored;
pub mod types;
pub mod units;
pub mod value;
pub mod verify;

pub use expr::{BinaryOp, Builtin, Expr, Ir, Reduction, Sub, UnaryOp};
pub use flat::FlatModel;
pub use ids::*;
pub use types::{Base, Dim, Type};
pub use value::Value;
