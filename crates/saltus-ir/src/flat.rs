//! The flat model: scalar variables and equations, no components, no connections.
//!
//! Invariants (checked by [`crate::verify`]): equations, bindings and conditions are scalar; no `Local`,
//! `InStream`, `ActualStream`, `Cardinality`, `IsRoot`, `Rooted` node is left in them; every name is unique.

use crate::func::{AssertLevel, Statement};
use crate::ids::IdVec;
use crate::{Base, ExprId, Ir, VarId};
use saltus_syntax::name::Text;
use saltus_syntax::{Name, Span};

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct FlatModel {
    pub name: Name,
    pub description: String,
    pub span: Span,
    pub ir: Ir,
    pub variables: IdVec<VarId, Variable>,
    pub equations: Vec<Equation>,
    pub initial_equations: Vec<Equation>,
    pub whens: Vec<When>,
    pub algorithms: Vec<Algorithm>,
    pub initial_algorithms: Vec<Algorithm>,
    pub asserts: Vec<Assert>,
    pub partitions: Vec<ClockedPartition>,
    pub experiment: Experiment,
}

#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Variability {
    Constant,
    Parameter,
    Discrete,
    Continuous,
}

/// Causality of a variable at the top level of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, serde::Serialize, serde::Deserialize)]
pub enum Causality {
    Local,
    Input,
    Output,
}

#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum StateSelect {
    Never,
    Avoid,
    Default,
    Prefer,
    Always,
}

/// A formula that takes the place of an integrator: it relates a variable and its derivative at the ends of a step (textbook 9.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, serde::Serialize, serde::Deserialize)]
pub enum InlineMethod {
    BackwardEuler,
    Trapezoidal,
    /// Radau IIA with two stages, of order 3.
    Radau3,
    /// Radau IIA with three stages, of order 5.
    Radau5,
}

impl InlineMethod {
    /// All names by which a method is known; the first one of each is the name it is called by.
    pub const NAMES: [(&'static str, InlineMethod); 9] = [
        ("backward-euler", InlineMethod::BackwardEuler),
        ("trapezoidal", InlineMethod::Trapezoidal),
        ("radau3", InlineMethod::Radau3),
        ("radau5", InlineMethod::Radau5),
        ("radau", InlineMethod::Radau5),
        ("radau-iia", InlineMethod::Radau5),
        ("implicit-euler", InlineMethod::BackwardEuler),
        ("euler", InlineMethod::BackwardEuler),
        ("trapezoid", InlineMethod::Trapezoidal),
    ];

    /// The method of this name; capitals, spaces and underscores do not matter.
    pub fn from_name(name: &str) -> Option<InlineMethod> {
        let plain = |text: &str| -> String {
            let letters = text.chars().filter(|c| c.is_ascii_alphanumeric());
            letters.map(|c| c.to_ascii_lowercase()).collect()
        };
        let name = plain(name);
        (InlineMethod::NAMES.iter())
            .find(|(known, _)| plain(known) == name)
            .map(|&(_, method)| method)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            InlineMethod::BackwardEuler => "backward-euler",
            InlineMethod::Trapezoidal => "trapezoidal",
            InlineMethod::Radau3 => "radau3",
            InlineMethod::Radau5 => "radau5",
        }
    }
}

/// What is asked of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Inline {
    pub method: InlineMethod,
    /// The variable itself was named: without a derivative in the equations that is an error.
    pub named: bool,
}

/// How far a start value is to be trusted (specification 8.6.2), in levels of the component hierarchy; smaller is more trusted.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct Confidence {
    /// Where the start value is set, or the parameter that it equals, whichever is nearer to the top.
    pub level: u32,
    /// Where the start value itself is set: decides between equal levels.
    pub own: u32,
}

impl Confidence {
    /// Of a variable without start value.
    pub const NONE: Confidence = Confidence {
        level: u32::MAX,
        own: u32::MAX,
    };

    /// Of a start value set on this level.
    pub fn at(level: u32) -> Confidence {
        Confidence { level, own: level }
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Variable {
    /// Full name as in results: `a.b[2].c[1,3]`.
    pub name: Name,
    pub base: Base,
    pub variability: Variability,
    pub causality: Causality,
    pub protected: bool,
    pub hide_result: bool,
    /// Flow variable of a connector (sign information for hints only).
    pub flow: bool,
    /// `input` of a component: a connection or a modifier has to give its value (for hints only).
    pub component_input: bool,
    /// Expressions in constants and parameters.
    pub start: Option<ExprId>,
    pub start_confidence: Confidence,
    pub fixed: Option<ExprId>,
    pub min: Option<ExprId>,
    pub max: Option<ExprId>,
    pub nominal: Option<ExprId>,
    pub state_select: StateSelect,
    /// If it is differentiated, this formula takes the place of its integrator.
    pub inline: Option<Inline>,
    pub unit: Option<Name>,
    pub display_unit: Option<Name>,
    pub quantity: Option<Name>,
    pub description: Name,
    /// Binding of a constant or parameter (of other variables bindings have become equations).
    pub binding: Option<ExprId>,
    /// Evaluated at compile time because the structure depends on it; the reason.
    #[serde(with = "saltus_syntax::name::optional_text")]
    pub structural: Option<Text>,
    /// Cannot be changed by `--set` (`final`).
    pub is_final: bool,
    pub span: Span,
}

impl Variable {
    /// A local variable without attributes.
    pub fn new(name: Name, base: Base, variability: Variability, span: Span) -> Variable {
        Variable {
            name,
            base,
            variability,
            causality: Causality::Local,
            protected: false,
            hide_result: false,
            flow: false,
            component_input: false,
            start: None,
            start_confidence: Confidence::NONE,
            fixed: None,
            min: None,
            max: None,
            nominal: None,
            state_select: StateSelect::Default,
            inline: None,
            unit: None,
            display_unit: None,
            quantity: None,
            description: Name::new(""),
            binding: None,
            structural: None,
            is_final: false,
            span,
        }
    }
}

/// Where an equation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    pub span: Span,
    /// Path of the component it belongs to; empty at the top.
    pub component: Name,
}

/// `lhs = rhs`, both scalar.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Equation {
    pub lhs: ExprId,
    pub rhs: ExprId,
    pub origin: Origin,
}

/// `when … elsewhen … end when` in an equation section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct When {
    pub branches: Vec<WhenBranch>,
    pub origin: Origin,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct WhenBranch {
    /// Fires at the rising edge of any of them.
    pub conditions: Vec<ExprId>,
    pub body: Vec<WhenAction>,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum WhenAction {
    Assign {
        var: VarId,
        value: ExprId,
        origin: Origin,
    },
    Reinit {
        var: VarId,
        value: ExprId,
        origin: Origin,
    },
    Assert(Assert),
    Terminate {
        /// The condition of the if-equations around it.
        guard: Option<ExprId>,
        message: ExprId,
        origin: Origin,
    },
    Call {
        /// The condition of the if-equations around it.
        guard: Option<ExprId>,
        call: ExprId,
        origin: Origin,
    },
}

/// An algorithm section: one unit with several outputs. Statement targets are `Place::Var` (or iterators).
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Algorithm {
    pub statements: Vec<Statement>,
    /// Every variable that is assigned.
    pub outputs: Vec<VarId>,
    pub origin: Origin,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Assert {
    pub condition: ExprId,
    pub message: ExprId,
    pub level: AssertLevel,
    pub origin: Origin,
}

/// Equations that hold only at the ticks of one clock. In them `previous(v)` is `Pre(v)`, `sample` and `hold` are gone;
/// the variables of the partition keep their value between ticks.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct ClockedPartition {
    pub clock: ClockKind,
    pub variables: Vec<VarId>,
    pub equations: Vec<Equation>,
    /// What is differentiated in a discretized partition.
    pub steps: Vec<DiscretizedState>,
    pub origin: Origin,
}

/// A variable `x` of a discretized partition with the variable that stands for `der(x)` and the equation that is the step of the solver method.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct DiscretizedState {
    pub state: VarId,
    pub derivative: VarId,
    /// Index into the equations of the partition.
    pub equation: usize,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ClockKind {
    /// Ticks at `(shift + k·period)`, k = 0, 1, …, both exact rationals in seconds, from the start time.
    Periodic { period: Rational, shift: Rational },
    /// Interval in seconds given by an expression in parameters; ticks at start + shift·interval + k·factor·interval.
    PeriodicReal {
        interval: ExprId,
        factor: Rational,
        shift: Rational,
    },
    /// Ticks when the condition becomes true.
    Event { condition: ExprId },
}

/// An exact rational number with positive denominator, in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, serde::Serialize, serde::Deserialize)]
pub struct Rational {
    pub num: i64,
    pub den: i64,
}

#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Experiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub tolerance: Option<f64>,
    pub interval: Option<f64>,
    /// For all differentiated variables that do not say otherwise.
    pub inline: Option<InlineMethod>,
    /// Step of inlined formulas, in seconds.
    pub inline_step: Option<f64>,
}
