//! Expression nodes, hash-consed in an [`Ir`].
//!
//! Inside functions expressions may have array and record type. In the equations of a finished
//! [`crate::FlatModel`] every expression is scalar, except the arguments of calls; array- or record-valued
//! calls appear through [`Expr::Leaf`], so that a call is one node and is evaluated once.
//!
//! Integer operands are converted to Real implicitly where a Real is expected; Boolean and enumeration values
//! are never converted.

use crate::func::{Function, Local};
use crate::ids::IdVec;
use crate::types::{EnumType, ObjectType, RecordType};
use crate::{Base, EnumId, ExprId, FuncId, LocalId, ObjectId, RecordId, Type, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_syntax::Name;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum UnaryOp {
    /// Elementwise on arrays.
    Neg,
    Not,
}

/// Elementwise with scalar broadcast, but for `MatMul` and `MatPow`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    /// Matrix or vector product (vector·vector is the scalar product).
    MatMul,
    /// Square matrix to an Integer power.
    MatPow,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

impl BinaryOp {
    pub fn is_relation(self) -> bool {
        use BinaryOp::*;
        matches!(self, Lt | Le | Gt | Ge | Eq | Ne)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Reduction {
    Sum,
    Product,
    Min,
    Max,
}

/// Operators and functions of the language that are not defined in Modelica itself.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Builtin {
    // Mathematical, scalar (elementwise use is expanded by the front end in equations, by the evaluator in functions).
    Abs,
    Sign,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    /// Two scalars, or one array reduced.
    Min,
    Max,
    // Event-generating outside noEvent.
    Div,
    Mod,
    Rem,
    Ceil,
    Floor,
    /// `integer(x)`: floor as Integer.
    Integer,
    // Conversions.
    /// `Integer(e)` of an enumeration.
    Ordinal,
    /// `E(i)` of an Integer, the enumeration is the node's type.
    EnumOf,
    /// `String(x, significantDigits, minimumLength, leftJustified)` or with a format: args as given, see `ToStringArgs` order
    /// (value, minimumLength, leftJustified, significantDigits) or (value, format).
    ToString,
    // Derivatives, events and special operators.
    Der,
    Pre,
    Edge,
    Change,
    Initial,
    Terminal,
    /// `sample(start, interval)`
    Sample,
    NoEvent,
    /// `smooth(p, expr)`
    Smooth,
    /// `delay(expr, time)` or `delay(expr, time, max)`
    Delay,
    /// `homotopy(actual, simplified)`
    Homotopy,
    /// `semiLinear(x, kplus, kminus)`
    SemiLinear,
    SpatialDistribution,
    /// `inStream(v)`, `actualStream(v)`, replaced when connections are known.
    InStream,
    ActualStream,
    /// `cardinality(c)`, `Connections.isRoot(c)`, `Connections.rooted(c)`: replaced when connections are known. The single
    /// argument is an Integer constant chosen by the front end that identifies the connector.
    Cardinality,
    IsRoot,
    Rooted,
    // Arrays.
    /// `size(a, i)` scalar or `size(a)` vector
    Size,
    Ndims,
    /// `fill(value, d1, d2, …)`; `zeros` and `ones` become this.
    Fill,
    Transpose,
    Cross,
    Skew,
    Identity,
    Diagonal,
    OuterProduct,
    Symmetric,
    Linspace,
    /// `cat(k, a, b, …)`, first argument an Integer constant
    Cat,
    Sum,
    Product,
    Scalar,
    Vector,
    Matrix,
    /// `promote(a, n)`
    Promote,
    // Clocked.
    Previous,
    Hold,
    /// `sample(u)` or `sample(u, clock)` on a clock
    ClockSample,
    SubSample,
    SuperSample,
    ShiftSample,
    BackSample,
    NoClock,
    Interval,
    FirstTick,
    /// `Clock()`, `Clock(interval)`, `Clock(n, resolution)`, `Clock(condition, start)`, `Clock(c, solverMethod)`: args as written.
    Clock,
    // Others.
    /// `getInstanceName()` is folded by the front end; this is `Modelica.Utilities`-free.
    /// `terminal` etc. are above. `activeState`, `ticksInState` are not supported.
    Exact,
}

/// A subscript.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Sub {
    /// `:`
    All,
    /// A scalar Integer (or Boolean or enumeration) index, or a vector of them.
    At(ExprId),
}

/// An expression node. Reals are stored by bits so that nodes can be compared.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Expr {
    Real(u64),
    Integer(i64),
    Boolean(bool),
    String(Name),
    /// Literal by ordinal, from 1.
    Enum(EnumId, u32),
    Time,
    /// A scalar variable of the flat model.
    Var(VarId),
    /// Consecutive variables `first, first + 1, …` in row-major order, with the node's array type.
    VarArray(VarId),
    /// A function local or an iterator, of any type.
    Local(LocalId),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    If(ExprId, ExprId, ExprId),
    Builtin(Builtin, Box<[ExprId]>),
    /// Has the type of the first output. All inputs are given, defaults filled in, in declaration order.
    Call {
        function: FuncId,
        args: Box<[ExprId]>,
    },
    /// Output `index` (from 0) of a `Call`; output 0 is the call itself and never wrapped.
    Output {
        call: ExprId,
        index: u32,
    },
    /// Scalar number `index` in leaf order of the array- or record-valued `Call` or `Output` node `of`.
    /// Leaf order: row-major over array elements; within an element, fields in order, recursively.
    Leaf {
        of: ExprId,
        index: u32,
    },
    /// Elements stacked along a new first dimension (each of the same type). An empty one keeps its type.
    Array(Box<[ExprId]>),
    Range {
        start: ExprId,
        step: Option<ExprId>,
        stop: ExprId,
    },
    Index {
        base: ExprId,
        subs: Box<[Sub]>,
    },
    Record {
        record: RecordId,
        fields: Box<[ExprId]>,
    },
    Field {
        base: ExprId,
        index: u32,
    },
    /// `{body for iter in range}`, one iterator; several are nested with the last written outermost in index order
    /// (the first index of the result belongs to the first written iterator).
    Comprehension {
        body: ExprId,
        iter: LocalId,
        range: ExprId,
    },
    Reduce {
        op: Reduction,
        body: ExprId,
        iter: LocalId,
        range: ExprId,
    },
    /// A function as a value, with some inputs (by position) bound.
    Function {
        function: FuncId,
        bound: Box<[(u32, ExprId)]>,
    },
}

/// Arena of expressions and the declarations they refer to.
#[derive(Clone, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Ir {
    nodes: IdVec<ExprId, Expr>,
    node_types: Vec<TypeId>,
    /// Of every node, or empty after reading from a file.
    #[serde(skip)]
    cons: FxHashMap<(Expr, TypeId), ExprId>,
    types: IdVec<TypeId, Type>,
    /// Of every type, or empty after reading from a file.
    #[serde(skip)]
    type_ids: FxHashMap<Type, TypeId>,
    pub records: IdVec<RecordId, RecordType>,
    pub enums: IdVec<EnumId, EnumType>,
    pub objects: IdVec<ObjectId, ObjectType>,
    pub functions: IdVec<FuncId, Function>,
    pub locals: IdVec<LocalId, Local>,
}

impl Ir {
    pub fn intern_type(&mut self, ty: Type) -> TypeId {
        if self.type_ids.len() != self.types.len() {
            let types = self.types.iter();
            self.type_ids = types.map(|(id, ty)| (ty.clone(), id)).collect();
        }
        if let Some(&id) = self.type_ids.get(&ty) {
            return id;
        }
        let id = self.types.push(ty.clone());
        self.type_ids.insert(ty, id);
        id
    }

    pub fn type_of_id(&self, id: TypeId) -> &Type {
        &self.types[id]
    }

    /// Adds a node of the given type, or finds the equal one.
    pub fn add(&mut self, expr: Expr, ty: TypeId) -> ExprId {
        // Whatever makes nodes can be ended here.
        saltus_control::checkpoint();
        if self.cons.len() != self.nodes.len() {
            let nodes = self.nodes.iter().zip(&self.node_types);
            self.cons = nodes
                .map(|((id, node), &ty)| ((node.clone(), ty), id))
                .collect();
        }
        let key = (expr, ty);
        if let Some(&id) = self.cons.get(&key) {
            return id;
        }
        let id = self.nodes.push(key.0.clone());
        self.node_types.push(ty);
        self.cons.insert(key, id);
        id
    }

    pub fn add_typed(&mut self, expr: Expr, ty: Type) -> ExprId {
        let ty = self.intern_type(ty);
        self.add(expr, ty)
    }

    pub fn add_scalar(&mut self, expr: Expr, base: Base) -> ExprId {
        self.add_typed(expr, Type::scalar(base))
    }

    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.nodes[id]
    }

    pub fn type_id(&self, id: ExprId) -> TypeId {
        self.node_types[id.0 as usize]
    }

    pub fn ty(&self, id: ExprId) -> &Type {
        &self.types[self.type_id(id)]
    }

    pub fn base(&self, id: ExprId) -> Base {
        self.ty(id).base
    }

    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn real(&mut self, value: f64) -> ExprId {
        // Canonical zero: -0.0 and 0.0 are different bits; keep the sign, it matters for atan2 and division.
        self.add_scalar(Expr::Real(value.to_bits()), Base::Real)
    }

    pub fn integer(&mut self, value: i64) -> ExprId {
        self.add_scalar(Expr::Integer(value), Base::Integer)
    }

    pub fn boolean(&mut self, value: bool) -> ExprId {
        self.add_scalar(Expr::Boolean(value), Base::Boolean)
    }

    pub fn string(&mut self, value: &str) -> ExprId {
        self.add_scalar(Expr::String(Name::new(value)), Base::String)
    }

    pub fn time(&mut self) -> ExprId {
        self.add_scalar(Expr::Time, Base::Real)
    }

    /// The value of a numeric literal node.
    pub fn as_number(&self, id: ExprId) -> Option<f64> {
        match self.expr(id) {
            Expr::Real(bits) => Some(f64::from_bits(*bits)),
            Expr::Integer(i) => Some(*i as f64),
            _ => None,
        }
    }

    pub fn as_boolean(&self, id: ExprId) -> Option<bool> {
        match self.expr(id) {
            Expr::Boolean(b) => Some(*b),
            _ => None,
        }
    }

    /// Calls `f` on each direct child.
    pub fn for_each_child(&self, id: ExprId, mut f: impl FnMut(ExprId)) {
        match self.expr(id) {
            Expr::Real(_)
            | Expr::Integer(_)
            | Expr::Boolean(_)
            | Expr::String(_)
            | Expr::Enum(..)
            | Expr::Time
            | Expr::Var(_)
            | Expr::VarArray(_)
            | Expr::Local(_) => {}
            Expr::Unary(_, a) => f(*a),
            Expr::Binary(_, a, b) => {
                f(*a);
                f(*b);
            }
            Expr::If(c, t, e) => {
                f(*c);
                f(*t);
                f(*e);
            }
            Expr::Builtin(_, args) | Expr::Call { args, .. } | Expr::Array(args) => {
                args.iter().copied().for_each(f)
            }
            Expr::Record { fields, .. } => fields.iter().copied().for_each(f),
            Expr::Output { call, .. } => f(*call),
            Expr::Leaf { of, .. } => f(*of),
            Expr::Range { start, step, stop } => {
                f(*start);
                step.iter().copied().for_each(&mut f);
                f(*stop);
            }
            Expr::Index { base, subs } => {
                f(*base);
                for sub in subs {
                    if let Sub::At(e) = sub {
                        f(*e);
                    }
                }
            }
            Expr::Field { base, .. } => f(*base),
            Expr::Comprehension { body, range, .. } | Expr::Reduce { body, range, .. } => {
                f(*body);
                f(*range);
            }
            Expr::Function { bound, .. } => bound.iter().for_each(|(_, e)| f(*e)),
        }
    }

    /// The node with each direct child replaced by `f(child)`; the same id if no child changed.
    pub fn map_children(
        &mut self,
        id: ExprId,
        mut f: impl FnMut(&mut Ir, ExprId) -> ExprId,
    ) -> ExprId {
        let mut expr = self.expr(id).clone();
        let mut changed = false;
        expr.for_each_child_mut(|e| {
            let new = f(self, *e);
            changed |= new != *e;
            *e = new;
        });
        if changed {
            let ty = self.type_id(id);
            self.add(expr, ty)
        } else {
            id
        }
    }

    /// The node of a scalar variable.
    pub fn var(&mut self, var: VarId, base: Base) -> ExprId {
        self.add_scalar(Expr::Var(var), base)
    }

    /// The type id of a scalar.
    pub fn scalar_type(&mut self, base: Base) -> TypeId {
        self.intern_type(Type::scalar(base))
    }

    /// Every node reachable from `roots`, each once, children before parents.
    ///
    /// Children have smaller ids than their parents because nodes are never changed, so this is the order of ids.
    pub fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        self.reachable_until(roots, |_| false)
    }

    /// As [`Ir::reachable`], without the nodes for which `done` holds and what only they lead to: a pass that remembers
    /// its results visits what several expressions share once.
    pub fn reachable_until(&self, roots: &[ExprId], done: impl Fn(ExprId) -> bool) -> Vec<ExprId> {
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut order: Vec<ExprId> = Vec::with_capacity(2 * roots.len());
        for &root in roots {
            if !done(root) && seen.insert(root) {
                order.push(root);
            }
        }
        let mut next = 0;
        while next < order.len() {
            let id = order[next];
            next += 1;
            saltus_control::checkpoint();
            self.for_each_child(id, |child| {
                if !done(child) && seen.insert(child) {
                    order.push(child);
                }
            });
        }
        order.sort_unstable();
        order
    }
}

impl Expr {
    /// Calls `f` on each direct child.
    pub fn for_each_child_mut(&mut self, mut f: impl FnMut(&mut ExprId)) {
        match self {
            Expr::Real(_)
            | Expr::Integer(_)
            | Expr::Boolean(_)
            | Expr::String(_)
            | Expr::Enum(..)
            | Expr::Time
            | Expr::Var(_)
            | Expr::VarArray(_)
            | Expr::Local(_) => {}
            Expr::Unary(_, a) => f(a),
            Expr::Binary(_, a, b) => {
                f(a);
                f(b);
            }
            Expr::If(c, t, e) => {
                f(c);
                f(t);
                f(e);
            }
            Expr::Builtin(_, args) | Expr::Call { args, .. } | Expr::Array(args) => {
                args.iter_mut().for_each(f)
            }
            Expr::Record { fields, .. } => fields.iter_mut().for_each(f),
            Expr::Output { call, .. } => f(call),
            Expr::Leaf { of, .. } => f(of),
            Expr::Range { start, step, stop } => {
                f(start);
                step.iter_mut().for_each(&mut f);
                f(stop);
            }
            Expr::Index { base, subs } => {
                f(base);
                for sub in subs.iter_mut() {
                    if let Sub::At(e) = sub {
                        f(e);
                    }
                }
            }
            Expr::Field { base, .. } => f(base),
            Expr::Comprehension { body, range, .. } | Expr::Reduce { body, range, .. } => {
                f(body);
                f(range);
            }
            Expr::Function { bound, .. } => bound.iter_mut().for_each(|(_, e)| f(e)),
        }
    }
}
