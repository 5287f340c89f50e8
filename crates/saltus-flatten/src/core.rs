//! The data of instantiation.
//!
//! **Instances.** An [`Inst`] is a class in a context: a package (one for the whole run unless modified), a function, a component or
//! an element of an array of components. Its `elements` hold own and inherited declarations after elaboration.
//!
//! **Lexical scopes.** A [`Lex`] is one class text inside one instance: a class `D` that extends `B` gives the instance two scopes,
//! one for the text of `D`, one for that of `B`. Names are looked up from a `Lex`: elements visible in that text, its imports, then the
//! enclosing `Lex`.
//!
//! **Modifier layers.** Modifiers are never merged into trees. A [`Layer`] is a piece of modifier syntax with the scope it is
//! written in; an element has a list of layers, outermost first, and the first that says something wins.

use crate::tree::{ClassTree, NodeId};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use saltus_ir::flat;
use saltus_ir::ids::{Id, IdVec};
use saltus_ir::{
    Base, EnumId, ExprId, FuncId, Ir, LocalId, ObjectId, RecordId, TypeId, Value, VarId,
};
use saltus_syntax::ast;
use saltus_syntax::{Diagnostic, Name, Span};
use std::rc::Rc;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl Id for $name {
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("fewer than 2^32 entries"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An instance.
    InstId,
    /// A lexical scope.
    LexId,
}

/// An error that has been reported already (or is to be reported once by who receives it): carries the diagnostic.
pub type Res<T> = Result<T, Box<Diagnostic>>;

/// One piece of modifier syntax.
#[derive(Clone)]
pub struct Layer<'a> {
    pub kind: LayerKind<'a>,
    /// Scope the modifier is written in.
    pub lex: LexId,
    /// Indices to apply to the value: the modifier was written for an array of components and this is one element.
    pub subs: Rc<[u32]>,
    pub each: bool,
    pub is_final: bool,
    /// It is part of a `constrainedby`, which every redeclaration may override.
    pub by_constraint: bool,
    /// Depth of the instance that the modifier is written in (0 = top model): start-value confidence.
    pub level: u32,
    pub span: Span,
}

#[derive(Clone, Copy)]
pub enum LayerKind<'a> {
    /// `(args) = value`
    Modification(&'a ast::Modification),
    /// `rest.of.path(args) = value`: the part of an argument's path not yet descended, and its modification.
    Path(&'a [ast::Ident], Option<&'a ast::Modification>),
    /// `redeclare …` as an argument: concerns the element with its name.
    Redeclare(&'a ast::Argument),
    /// A value without syntax of a modifier (`= expr` of an argument already descended).
    Value(&'a ast::Expr),
}

pub type Layers<'a> = Rc<[Layer<'a>]>;

/// A declared element, own or inherited, before it is instantiated.
#[derive(Clone)]
pub struct Element<'a> {
    pub kind: ElementKind<'a>,
    /// Scope of the text that declares it (type names and modifiers of the declaration are looked up there).
    pub lex: LexId,
    /// Layers of the extends clauses between the instance's class and the declaring one, outermost first.
    pub chain: Layers<'a>,
    pub protected: bool,
    pub span: Span,
    /// `constrainedby` of a replaceable class.
    pub constraint: Option<&'a ast::Constraint>,
    pub replaceable: bool,
    pub is_final: bool,
    /// The class is declared `inner`, or `outer`.
    pub inner_class: bool,
    pub outer_class: bool,
    /// Modifiers that the redeclared element passes on; those of the declaration come before them.
    pub passed_on: Layers<'a>,
    /// The first declaration of a redeclared component, with its scope.
    pub original: Option<(&'a ast::ComponentDecl, LexId)>,
}

/// Whether a component of such a class is a value, that an expression may read and a declaration equation give: connectors may be records.
pub(crate) fn is_value_as_whole(restriction: ast::Restriction) -> bool {
    use ast::Restriction::*;
    matches!(
        restriction,
        Record | OperatorRecord | Connector | ExpandableConnector | Class | Type
    )
}

impl<'a> Element<'a> {
    /// What a redeclaration of this element has to keep in [`Element::original`].
    pub fn first_declaration(&self) -> Option<(&'a ast::ComponentDecl, LexId)> {
        self.original.or(match self.kind {
            ElementKind::Component(decl) => Some((decl, self.lex)),
            ElementKind::Class(_) => None,
        })
    }

    /// The dimensions of a component: of its redeclaration, else of the first declaration (specification 7.3). A type
    /// with dimensions of its own is not meant to be repeated in those of the first declaration.
    pub fn dims(&self, type_has_dims: bool) -> Vec<(&'a ast::Subscript, LexId)> {
        let of = |decl: &'a ast::ComponentDecl, lex| decl.dims.iter().map(move |d| (d, lex));
        match (&self.kind, self.original) {
            (ElementKind::Component(decl), _) if !decl.dims.is_empty() => {
                of(decl, self.lex).collect()
            }
            (ElementKind::Component(_), Some((original, lex))) if !type_has_dims => {
                of(original, lex).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The prefixes of a component, each of its redeclaration, else of the first declaration (specification 7.3).
    pub fn type_prefixes(&self) -> ast::TypePrefixes {
        let ElementKind::Component(decl) = self.kind else {
            return ast::TypePrefixes::default();
        };
        let Some((original, _)) = self.original else {
            return decl.type_prefixes;
        };
        let (own, first) = (decl.type_prefixes, original.type_prefixes);
        ast::TypePrefixes {
            variability: own.variability.or(first.variability),
            causality: own.causality.or(first.causality),
            connection: match own.connection {
                ast::ConnectionPrefix::None => first.connection,
                stated => stated,
            },
        }
    }
}

#[derive(Clone)]
pub enum ElementKind<'a> {
    Component(&'a ast::ComponentDecl),
    Class(ClassSource<'a>),
}

/// Where a class's text is.
#[derive(Clone)]
pub enum ClassSource<'a> {
    /// A class of the tree (parsed on demand).
    Node(NodeId),
    /// A class in a modifier or a redeclaring element: no node of its own.
    Ast(&'a ast::ClassDef),
    /// `redeclare class extends X`: this text extends the inherited class that follows.
    Extends(&'a ast::ClassDef, Rc<Element<'a>>),
    /// A predefined class.
    Builtin(BuiltinClass),
}

/// A class with everything needed to instantiate it: its text, the scope around it, and modifiers on the class itself.
#[derive(Clone)]
pub struct ClassRef<'a> {
    pub source: ClassSource<'a>,
    pub enclosing: LexId,
    /// Modifiers that come with the reference (of an enclosing modified package, redeclaration, …), outermost first.
    pub layers: Layers<'a>,
    /// The element it was found as, for the identity of functions and packages: (owner, name).
    pub found_in: Option<(InstId, Name)>,
    pub name: Name,
    pub span: Option<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuiltinClass {
    Real,
    Integer,
    Boolean,
    String,
    Clock,
    /// `StateSelect`, `AssertionLevel`, `ExternalObject` are predefined too.
    ExternalObject,
    Enum(EnumId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    NotStarted,
    InProgress,
    Done,
}

/// A lexical scope: one class text inside one instance.
pub struct Lex<'a> {
    pub owner: InstId,
    pub def: Option<&'a ast::ClassDef>,
    /// Tree node of the class, if it has one (for messages and lazy children).
    pub node: Option<NodeId>,
    pub enclosing: Option<LexId>,
    /// Names of elements visible in this text: own and inherited by it. For the main text of an instance: all elements.
    pub names: LexNames,
    pub encapsulated: bool,
}

pub enum LexNames {
    /// All elements of the owner.
    All,
    Some(FxHashMap<Name, ()>),
}

/// What an instance is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Package, or class looked into: constants and classes only.
    Package,
    Function,
    Component,
}

pub struct Inst<'a> {
    pub purpose: Purpose,
    /// Component name without subscripts, or class name.
    pub name: Name,
    /// For an element of an array of components: its subscripts.
    pub subs: Rc<[u32]>,
    /// The instance it is a component of (`None` for packages, functions and the top model).
    pub parent: Option<InstId>,
    /// Component path as in results, `a.b[2].c`; for packages the qualified name.
    pub path: Name,
    pub depth: u32,
    pub class: ClassRef<'a>,
    pub def: Option<&'a ast::ClassDef>,
    /// Most specific restriction (model, connector, record, function, type, …).
    pub restriction: ast::Restriction,
    pub builtin: Option<BuiltinClass>,
    /// Modifiers from outside, outermost first (component modifiers, then the class reference's own).
    pub layers: Layers<'a>,
    /// How many of `layers` come from outside the declaring instance: they win over the value of a surrounding record.
    pub n_outer_layers: usize,
    /// Modifiers of a builtin type collected along its chain of type definitions, outermost first.
    pub type_layers: Vec<Layer<'a>>,
    /// Dimensions of a type definition (`type Vector = Real[3]`), with their scope.
    pub type_dims: Vec<(&'a ast::Subscript, LexId)>,
    /// Prefixes of a type definition (`connector RealInput = input Real`).
    pub type_prefixes: ast::TypePrefixes,
    /// Scope of the class's own text.
    pub lex: LexId,
    /// Scopes of the class's text and all base texts, bases first, in which equation sections are found.
    pub texts: Vec<LexId>,
    pub progress: Progress,
    pub elements: IndexMap<Name, Element<'a>>,
    pub children: FxHashMap<Name, Child>,
    /// Of arrays of class-typed components without elements: what an element would be. No variable of it is part of the model.
    pub patterns: FxHashMap<Name, InstId>,
    /// Component prefixes, merged along the way down.
    pub prefixes: Prefixes,
    /// Builtin-typed component: its variables.
    pub var: Option<VarRange>,
    /// Array dimensions of a builtin-typed component (class-typed arrays are expanded).
    pub dims: Option<Rc<[usize]>>,
    /// For each of them the type of its subscripts where it is declared by a type (`Real x[Boolean]`).
    pub dim_types: Vec<Option<Base>>,
    /// The declaration, for components.
    pub decl: Option<&'a ast::ComponentDecl>,
    pub decl_lex: Option<LexId>,
    /// The dimensions that its declaration states, each with its scope.
    pub decl_dims: Vec<(&'a ast::Subscript, LexId)>,
    pub span: Span,
    /// The annotation `Evaluate = true`, or final.
    pub evaluate: bool,
    /// Memo of class-like uses.
    pub function: Option<FuncId>,
    pub record: Option<RecordId>,
    pub object: Option<ObjectId>,
    /// Extra elements created while connecting (expandable connectors).
    pub expandable_added: Vec<Name>,
}

/// A named member of an instance.
#[derive(Clone)]
pub enum Child {
    One(InstId),
    /// Array of class-typed components, row-major.
    Array {
        dims: Rc<[usize]>,
        elems: Rc<[InstId]>,
    },
    /// Conditional component whose condition is false.
    Absent,
    /// Class element used as a scope.
    Class(InstId),
    /// `outer` component: the matching `inner`.
    Outer(InstId),
    OuterArray {
        dims: Rc<[usize]>,
        elems: Rc<[InstId]>,
    },
    /// Being instantiated: finding it again is a cycle.
    InProgress,
}

#[derive(Clone, Copy, Debug)]
pub struct Prefixes {
    pub variability: flat::Variability,
    pub causality: Option<ast::Causality>,
    pub connection: ast::ConnectionPrefix,
    pub protected: bool,
    pub is_final: bool,
    pub inner: bool,
    pub outer: bool,
    /// Inside an expandable connector of the top or similar.
    pub hide: bool,
    /// Asked for by `annotation(__Saltus(inline = …))`.
    pub inline: Option<flat::Inline>,
}

#[derive(Clone)]
pub struct VarRange {
    pub first: VarId,
    pub dims: Rc<[usize]>,
    pub base: Base,
}

/// Where names are looked up from: a lexical scope, and inner scopes of iterators (and function locals through the scope's owner).
#[derive(Clone, Copy)]
pub struct Scope<'s> {
    pub lex: LexId,
    pub iterators: Option<&'s IteratorScope<'s>>,
}

/// Iterators of for-equations, for-statements, comprehensions and reductions, innermost first.
pub struct IteratorScope<'s> {
    pub name: Name,
    pub value: IteratorValue,
    pub outer: Option<&'s IteratorScope<'s>>,
}

/// In equations iterators have constant values while a loop is unrolled; in functions, algorithms and comprehensions they are locals.
#[derive(Clone, Copy)]
pub enum IteratorValue {
    Constant(ExprId),
    Local(LocalId),
}

/// The result of looking up the first part of a name.
pub enum Found<'a> {
    /// A component element of `owner`.
    Component {
        owner: InstId,
        name: Name,
    },
    Class(ClassRef<'a>),
    /// A local of the function being lowered.
    Local(LocalId),
    Iterator(IteratorValue),
}

/// All state of one flattening run.
pub struct Flattener<'a> {
    pub tree: ClassTree<'a>,
    pub ir: Ir,
    pub insts: IdVec<InstId, Inst<'a>>,
    pub lexes: IdVec<LexId, Lex<'a>>,
    /// The imports of a class's text, collected when a name is first looked for among them.
    pub imports: FxHashMap<LexId, Rc<[&'a ast::Import]>>,
    pub variables: IdVec<VarId, flat::Variable>,
    /// The instance and element offset of each variable.
    pub var_inst: IdVec<VarId, (InstId, u32)>,
    /// The root scope: top-level classes.
    pub root: InstId,
    pub diagnostics: Vec<Diagnostic>,
    /// Components that were added to the top because an `outer` had no `inner`.
    pub inners_added: Vec<InstId>,
    /// Values of evaluated parameters and constants; `None` while being evaluated (cycle).
    pub values: FxHashMap<InstId, Option<Value>>,
    /// Locals of a function instance by name.
    pub function_locals: FxHashMap<InstId, IndexMap<Name, LocalId>>,
    pub enum_ids: FxHashMap<*const ast::ClassDef, EnumId>,
    /// Class texts that were checked against what their kind may contain.
    pub checked_texts: rustc_hash::FxHashSet<*const ast::ClassDef>,
    /// Class texts that were checked to have what a constraining one promises.
    pub checked_constraints: rustc_hash::FxHashSet<[*const ast::ClassDef; 2]>,
    /// Functions that are partial derivatives, while the ones that they are of are made.
    pub deriving: Vec<InstId>,
    pub record_types: FxHashMap<(*const ast::ClassDef, Vec<(Name, TypeId)>), RecordId>,
    pub sections: Sections<'a>,
    /// Parameters whose value decided something at compile time, with the reason.
    pub structural: FxHashMap<InstId, &'static str>,
    /// The class instances in which the operators of operator records were found.
    pub(crate) operator_classes: FxHashMap<RecordId, InstId>,
    pub(crate) binding_sources: FxHashMap<VarId, crate::confidence::BindingSource>,
    /// Values are asked for that nothing depends on: impure functions are not called for them.
    pub(crate) speculative: bool,
    /// Components so far that stand inside a component of their own class.
    pub(crate) nested_in_own_class: usize,
    /// Calls of impure functions in bindings, each for the component that the binding belongs to.
    pub(crate) own_calls: FxHashMap<(InstId, ExprId), ExprId>,
    /// Sizes of the fields of a record that is an output of a function, in terms of its inputs.
    pub(crate) field_sizes: FxHashMap<LocalId, Vec<Vec<Option<ExprId>>>>,
    /// Results of the connection graph.
    pub graph: crate::connect::GraphResult,
    /// The connection graph has been solved: questions about it can be answered.
    pub graph_solved: bool,
    pub options: FlattenOptions,
}

/// What the user may change from outside.
#[derive(Default, Clone)]
pub struct FlattenOptions {
    /// `--set path=value` on structural parameters: component path to a value.
    pub overrides: Vec<(Name, Value)>,
    /// Files that sizes may be read from; without it such a model is refused.
    pub files: Option<std::sync::Arc<dyn saltus_ir::external::Host>>,
    /// Another class, whose name, place and annotations the flat model has.
    pub stands_for: Option<Name>,
}

/// What was collected from equation sections.
#[derive(Default)]
pub struct Sections<'a> {
    pub equations: Vec<flat::Equation>,
    pub initial_equations: Vec<flat::Equation>,
    pub whens: Vec<flat::When>,
    pub algorithms: Vec<flat::Algorithm>,
    pub initial_algorithms: Vec<flat::Algorithm>,
    pub asserts: Vec<flat::Assert>,
    pub connects: Vec<Connect<'a>>,
    /// `Connections.root/potentialRoot/branch`
    pub overconstrained: Vec<OverconstrainedFact>,
    pub pending_expandable: Vec<crate::connect::PendingExpandable>,
    pub deferred: Vec<Deferred<'a>>,
}

/// `connect(a, b)` with iterators already replaced, seen from the instance whose text contains it.
pub struct Connect<'a> {
    pub within: InstId,
    pub a: ConnectorEnd,
    pub b: ConnectorEnd,
    pub syntax: &'a ast::Equation,
    pub span: Span,
}

/// One end: a connector instance (scalar: arrays have been expanded pairwise), and whether it is an inside or outside connector of `within`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectorEnd {
    pub inst: InstId,
    /// A builtin-typed connector (`RealInput u[3]`): the element offset in its variable range; 0 else.
    pub offset: u32,
    /// Outside connector: declared in `within` itself (not in a component of it).
    pub outside: bool,
}

/// An if-equation that asks about the connection graph: expanded when that is known.
pub struct Deferred<'a> {
    pub inst: InstId,
    pub lex: LexId,
    pub iterators: Vec<(Name, ExprId)>,
    pub equation: &'a ast::Equation,
    pub initial: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum OverconstrainedFact {
    Root { inst: InstId },
    PotentialRoot { inst: InstId, priority: i64 },
    Branch { a: InstId, b: InstId },
}

/// Ids of the predefined enumerations, made first in every run.
pub const STATE_SELECT: EnumId = EnumId(0);
pub const ASSERTION_LEVEL: EnumId = EnumId(1);

/// What is needed to make an instance.
pub struct NewInst<'a> {
    pub purpose: Purpose,
    pub name: Name,
    pub path: Name,
    pub parent: Option<InstId>,
    pub class: ClassRef<'a>,
    pub layers: Layers<'a>,
    pub n_outer_layers: usize,
    pub depth: u32,
}
