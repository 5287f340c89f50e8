//! The syntax tree of Modelica 3.6 (specification appendix A), as written: nothing is resolved here.
//!
//! Lists keep source order. Every class, element, equation, statement and component reference has a span;
//! expression nodes carry a span as well because the front end reports errors on them.

use crate::{Name, Span};
use std::sync::Arc;

/// An identifier with its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// A dotted name, as in `Modelica.Units.SI.Length` or `.Modelica.Blocks`.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Written with a leading dot: looked up from the top.
    pub global: bool,
    pub parts: Vec<Ident>,
    pub span: Span,
}

/// A whole file.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredDefinition {
    /// `within` with its (possibly empty) name; `None` if there is no within clause.
    pub within: Option<Option<Path>>,
    pub classes: Vec<Arc<ClassDef>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Restriction {
    Class,
    Model,
    Record,
    OperatorRecord,
    Block,
    Connector,
    ExpandableConnector,
    Type,
    Package,
    Function,
    OperatorFunction,
    Operator,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purity {
    Unstated,
    Pure,
    Impure,
}

/// Prefixes that stand before an element (class or component).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ElementPrefixes {
    pub redeclare: bool,
    pub is_final: bool,
    pub inner: bool,
    pub outer: bool,
    pub replaceable: bool,
    /// In a modifier: `each`.
    pub each: bool,
}

/// A class definition of any kind.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassDef {
    pub name: Ident,
    pub span: Span,
    pub encapsulated: bool,
    pub partial: bool,
    pub purity: Purity,
    pub restriction: Restriction,
    pub body: ClassBody,
    pub description: Option<Arc<str>>,
    /// The class's own annotation.
    pub annotation: Option<Annotation>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ClassBody {
    /// `model A … end A;`, and with `is_class_extends` the form `model extends A(mods) … end A;`, whose
    /// modification is `class_extends` (without value).
    Composition {
        class_extends: Option<Modification>,
        is_class_extends: bool,
        parts: Composition,
    },
    /// `type A = prefix B[dims](mods)`
    Short {
        base_prefixes: TypePrefixes,
        base: Path,
        dims: Vec<Subscript>,
        modification: Option<Modification>,
    },
    /// `type E = enumeration(a, b)`; `None` for `enumeration(:)`
    Enumeration(Option<Vec<EnumLiteral>>),
    /// `function f_x = der(f, x)`
    Derivative { base: Path, variables: Vec<Ident> },
}

#[derive(Clone, PartialEq, Debug)]
pub struct EnumLiteral {
    pub name: Ident,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Annotation>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Composition {
    pub elements: Vec<Element>,
    /// Equation and algorithm sections in source order.
    pub sections: Vec<Section>,
    pub external: Option<External>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Section {
    pub initial: bool,
    pub kind: SectionKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum SectionKind {
    Equations(Vec<Equation>),
    Algorithm(Vec<Statement>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct External {
    pub language: Option<Arc<str>>,
    /// `result = name(args)`; all optional.
    pub result: Option<ComponentRef>,
    pub function: Option<Ident>,
    pub args: Vec<Expr>,
    pub annotation: Option<Annotation>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    Public,
    Protected,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    pub visibility: Visibility,
    pub span: Span,
    pub kind: ElementKind,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ElementKind {
    Import(Import),
    Extends(Extends),
    Class {
        prefixes: ElementPrefixes,
        def: Arc<ClassDef>,
        constraint: Option<Constraint>,
    },
    /// One node per declared component: `Real x, y;` gives two elements.
    Component(Arc<ComponentDecl>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Import {
    pub kind: ImportKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ImportKind {
    /// `import A.B.C;`
    Qualified(Path),
    /// `import D = A.B.C;`
    Renamed(Ident, Path),
    /// `import A.B.*;`
    Wildcard(Path),
    /// `import A.B.{C, D};`
    Group(Path, Vec<Ident>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Extends {
    pub base: Path,
    pub modification: Option<Modification>,
    pub annotation: Option<Annotation>,
    pub span: Span,
}

/// `constrainedby A(mods)`
#[derive(Clone, PartialEq, Debug)]
pub struct Constraint {
    pub base: Path,
    pub modification: Option<Modification>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypePrefixes {
    pub connection: ConnectionPrefix,
    pub variability: Option<Variability>,
    pub causality: Option<Causality>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ConnectionPrefix {
    #[default]
    None,
    Flow,
    Stream,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Variability {
    Constant,
    Parameter,
    Discrete,
    /// Never written; the default of Real variables.
    Continuous,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Causality {
    Input,
    Output,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ComponentDecl {
    pub name: Ident,
    pub span: Span,
    pub prefixes: ElementPrefixes,
    pub type_prefixes: TypePrefixes,
    pub ty: Path,
    /// Array dimensions of the declaration (`Real x[3]`), after those of the type (`Real[2] x[3]` has dims `[3, 2]`):
    /// the parser puts the component's own subscripts first.
    pub dims: Vec<Subscript>,
    pub modification: Option<Modification>,
    pub condition: Option<Expr>,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Annotation>,
    pub constraint: Option<Constraint>,
}

/// `(args) = value`, either part optional.
#[derive(Clone, PartialEq, Debug)]
pub struct Modification {
    pub args: Vec<Argument>,
    pub value: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    pub prefixes: ElementPrefixes,
    pub kind: ArgumentKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ArgumentKind {
    /// `a.b(x = 1) = 2`, `start = 3`; `path` has one part or more.
    Modify {
        path: Path,
        modification: Option<Modification>,
        description: Option<Arc<str>>,
    },
    /// `redeclare model M = N` or `replaceable model M = N`
    Class {
        def: Arc<ClassDef>,
        constraint: Option<Constraint>,
    },
    /// `redeclare Real x = 3`
    Component(Arc<ComponentDecl>),
    /// `break x` / `break connect(a, b)` (selective model extension)
    Break(BreakTarget),
}

/// What a `break` in the modification of an extends clause takes out of the base class.
#[derive(Clone, PartialEq, Debug)]
pub enum BreakTarget {
    Element(Ident),
    Connect { a: ComponentRef, b: ComponentRef },
}

/// The arguments of `annotation(…)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Annotation {
    pub args: Vec<Argument>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Equation {
    pub kind: EquationKind,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Annotation>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum EquationKind {
    Equal {
        lhs: Expr,
        rhs: Expr,
    },
    If {
        branches: Vec<(Expr, Vec<Equation>)>,
        otherwise: Vec<Equation>,
    },
    For {
        iterators: Vec<Iterator>,
        body: Vec<Equation>,
    },
    When {
        branches: Vec<(Expr, Vec<Equation>)>,
    },
    Connect {
        a: ComponentRef,
        b: ComponentRef,
    },
    /// `assert(…)`, `reinit(…)`, `Connections.root(…)`, `f(x)`
    Call(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Iterator {
    pub name: Ident,
    /// `None`: range deduced from use.
    pub range: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Annotation>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    Assign {
        target: ComponentRef,
        value: Expr,
    },
    /// `(a, , b) := f(x)`
    MultiAssign {
        targets: Vec<Option<ComponentRef>>,
        call: Expr,
    },
    Call(Expr),
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    For {
        iterators: Vec<Iterator>,
        body: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    When {
        branches: Vec<(Expr, Vec<Statement>)>,
    },
    Break,
    Return,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ComponentRef {
    pub global: bool,
    pub parts: Vec<RefPart>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RefPart {
    pub name: Ident,
    pub subscripts: Vec<Subscript>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Subscript {
    /// `:`
    All(Span),
    Expr(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum UnaryOp {
    Minus,
    Plus,
    Not,
    /// `.-`
    ElemMinus,
    /// `.+`
    ElemPlus,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    ElemAdd,
    ElemSub,
    ElemMul,
    ElemDiv,
    ElemPow,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Integer(i64),
    Real(f64),
    String(Arc<str>),
    Boolean(bool),
    Ref(ComponentRef),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    If {
        branches: Vec<(Expr, Expr)>,
        otherwise: Box<Expr>,
    },
    /// `a:b`, `a:s:b`
    Range {
        start: Box<Expr>,
        step: Option<Box<Expr>>,
        stop: Box<Expr>,
    },
    /// `f(x, k = y)`; `der(x)`, `initial()` and `pure(…)` are calls of those names.
    Call {
        function: ComponentRef,
        args: CallArgs,
    },
    /// `{a, b}`
    Array(Vec<Expr>),
    /// `{expr for i in r}` has no function; `sum(expr for i in r)` has.
    Comprehension {
        function: Option<ComponentRef>,
        body: Box<Expr>,
        iterators: Vec<Iterator>,
    },
    /// `[a, b; c, d]`
    Matrix(Vec<Vec<Expr>>),
    /// `(a, , b)` of two or more, as on the left of a multiple assignment; a plain parenthesis leaves no node.
    Tuple(Vec<Option<Expr>>),
    /// `end` in a subscript.
    End,
    /// `function f(k = 1)` given as an argument: a function with some inputs bound.
    PartialFunction {
        function: ComponentRef,
        named: Vec<(Ident, Expr)>,
    },
    /// `break` as the value of a modification, as in `x = break`: takes an inherited value away. Only there.
    Break,
    /// Where the parser could not read an expression; it has reported why.
    Error,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct CallArgs {
    pub positional: Vec<Expr>,
    pub named: Vec<(Ident, Expr)>,
}
