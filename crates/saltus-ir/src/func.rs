//! Functions, statements and algorithms.

use crate::{ExprId, FuncId, LocalId, RecordId, Sub, TypeId, VarId};
use saltus_syntax::{Name, Span};
use std::sync::Arc;

/// A local variable: input, output or protected variable of a function, or an iterator.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Local {
    pub name: Name,
    pub ty: TypeId,
    /// Size expressions of the dimensions (in terms of inputs); `None` for `:`.
    pub dims: Vec<Option<ExprId>>,
    /// Default of an input, initial value of an output or protected variable.
    pub default: Option<ExprId>,
    pub span: Span,
    pub unit: Option<Name>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Inline {
    /// No annotation: inlined if it is a single assignment.
    Unstated,
    Never,
    Always,
    /// Inlined after index reduction (`LateInline`, `InlineAfterIndexReduction`).
    Late,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Function {
    /// Qualified name, for messages.
    pub name: Name,
    pub span: Span,
    pub inputs: Vec<LocalId>,
    pub outputs: Vec<LocalId>,
    pub protected: Vec<LocalId>,
    pub body: FunctionBody,
    pub inline: Inline,
    pub impure: bool,
    /// `annotation(derivative(…) = f)`, in priority order.
    pub derivatives: Vec<DerivativeRule>,
}

impl Function {
    /// Whether it is inlined only after index reduction and a rule says that its derivative does not contain those of some inputs:
    /// the derivative is then what the rule says, which the body does not tell (a motion given by position, speed and
    /// acceleration that come from measurements).
    pub fn has_derivative_of_its_own(&self) -> bool {
        self.inline == Inline::Late
            && (self.derivatives.iter()).any(|rule| !rule.no_derivative.is_empty())
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DerivativeRule {
    pub function: FuncId,
    pub order: u32,
    /// Inputs (by position) whose derivative is not passed.
    pub no_derivative: Vec<u32>,
    /// Inputs that must have zero derivative for the rule to apply, and are not passed.
    pub zero_derivative: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum FunctionBody {
    Algorithm(Vec<Statement>),
    External(External),
    /// The constructor of a record: inputs in field order; output 0 is the record.
    Constructor(RecordId),
    /// Stands for the function-typed input `.0` of the enclosing function, with the inputs and outputs of its
    /// declared type: a call of it calls the value ([`crate::Expr::Function`]) that the input has.
    Argument(LocalId),
    /// Declared but being built (recursive functions), or partial: calling it is an error.
    Missing,
}

/// `external "C" result = name(args)`
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct External {
    pub language: Name,
    pub name: Name,
    pub args: Vec<ExternalArg>,
    pub result: Option<LocalId>,
    pub code: ForeignCode,
}

/// Where the code of an external function is, as its annotation says (specification 12.9.4). Folders are URIs or paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ForeignCode {
    /// Lines of C that declare or define the function.
    pub include: Vec<Arc<str>>,
    pub include_directories: Vec<Arc<str>>,
    /// Names of libraries, without `lib` and ending.
    pub libraries: Vec<Arc<str>>,
    pub library_directories: Vec<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum ExternalArg {
    /// An input expression (in terms of the inputs), among them `size(a, 1)`.
    Value(ExprId),
    /// An output or protected variable that the external function writes.
    Output(LocalId),
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum StatementKind {
    Assign {
        target: Target,
        value: ExprId,
    },
    /// Outputs of one call; `None` where an output is dropped.
    MultiAssign {
        targets: Vec<Option<Target>>,
        call: ExprId,
    },
    If {
        branches: Vec<(ExprId, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    For {
        iter: LocalId,
        range: ExprId,
        body: Vec<Statement>,
    },
    While {
        condition: ExprId,
        body: Vec<Statement>,
    },
    /// Only in algorithms of models. Vector conditions are a list.
    When {
        branches: Vec<(Vec<ExprId>, Vec<Statement>)>,
    },
    Break,
    Return,
    Assert {
        condition: ExprId,
        message: ExprId,
        level: AssertLevel,
    },
    Terminate {
        message: ExprId,
    },
    Reinit {
        var: VarId,
        value: ExprId,
    },
    /// A call for its effect.
    Call(ExprId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum AssertLevel {
    Error,
    Warning,
}

/// The left side of an assignment.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Target {
    pub place: Place,
    /// Subscripts and fields from the outside in.
    pub access: Vec<Access>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Place {
    Local(LocalId),
    /// A variable (scalar: type without dims) of the model, `first` and its followers in row-major order.
    Var {
        first: VarId,
        ty: TypeId,
    },
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Access {
    Index(Box<[Sub]>),
    Field(u32),
}
