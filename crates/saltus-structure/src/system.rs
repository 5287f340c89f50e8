//! The structured system: what the code generator reads.
//!
//! Everything is expressed on the variables of the flat model plus the ones that structuring added (derivatives, relations,
//! when-conditions, …): they are all `VarId`s of `flat.variables`. Expressions contain only *representative* variables
//! (aliases have been substituted), `Expr::Time`, `Builtin::Pre(Var)`, and no `Der`, `Edge`, `Change`, `Sample`, `Initial`,
//! `Terminal`, `Homotopy` node: those have become variables or plain expressions. Relations that make events have become
//! Boolean variables; relations left in expressions are inside `noEvent` or compare discrete things, and are evaluated as they stand.

use crate::modes::Modes;
use crate::restart::Restart;
use saltus_ir::flat::{Confidence, FlatModel, InlineMethod, Origin};
use saltus_ir::func::AssertLevel;
use saltus_ir::{ExprId, VarId};
use saltus_syntax::Diagnostic;

/// Role of a variable in the structured system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Role {
    Constant,
    Parameter,
    Input,
    State,
    /// Derivative of a state.
    Derivative,
    Algebraic,
    Discrete,
    Relation,
    /// When-conditions, sample flags, call results and other internals.
    Auxiliary,
    /// An alias (its value is that of `sign · representative`), or not used at all.
    Alias {
        of: VarId,
        negated: bool,
    },
}

/// `var := value`
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Assignment {
    pub var: VarId,
    pub value: ExprId,
    pub origin: Origin,
}

/// One step of the sorted system.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Step {
    /// An explicit assignment. `discrete`: belongs to the event and initial schedules only (relation, when-body, Boolean or
    /// Integer equation); a discrete variable's value is constant between events.
    Assign {
        assignment: Assignment,
        discrete: bool,
    },
    Block(Block),
    /// Carried out in event schedules when `guard` is true (guards already contain the edge).
    Action {
        guard: Option<ExprId>,
        action: Action,
        origin: Origin,
    },
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Action {
    Reinit {
        var: VarId,
        value: ExprId,
    },
    /// Checked in every schedule it stands in, also the continuous ones.
    Assert {
        condition: ExprId,
        message: ExprId,
        level: AssertLevel,
    },
    Terminate {
        message: ExprId,
    },
    /// A call for its effect.
    Call {
        call: ExprId,
    },
}

/// A torn system of equations: choose `unknowns`, run `inner`, make `residuals` zero.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Block {
    pub unknowns: Vec<VarId>,
    pub inner: Vec<Assignment>,
    /// Expressions that must be zero, with their origin.
    pub residuals: Vec<(ExprId, Origin)>,
    /// Discrete part of a mixed block, in sorted order: relations and discrete variables that depend on the Real unknowns
    /// and that these depend on. Empty if not mixed.
    pub discrete: Vec<Assignment>,
    /// The residuals are linear in the unknowns (after `inner`), whatever the discrete values.
    pub linear: bool,
    /// What the coefficients of the unknowns depend on; of blocks that are not linear, `Varying`.
    pub coefficients: Coefficients,
    /// The replacement equations of few unknowns of a linear block.
    pub direct: Option<Direct>,
}

/// What something depends on, each kind including those before it.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub enum Coefficients {
    /// Literals and constants.
    Constant,
    Parameter,
    /// Changes at events only.
    Discrete,
    Varying,
}

impl Coefficients {
    pub fn name(self) -> &'static str {
        match self {
            Coefficients::Constant => "constant",
            Coefficients::Parameter => "parameter",
            Coefficients::Discrete => "discrete",
            Coefficients::Varying => "varying",
        }
    }
}

/// The residuals of a linear block, written out in its unknowns by substitution of the inner assignments: `matrix·unknowns = rhs`.
/// The entries depend on known quantities, on the discrete part, and on the first `n_before` inner variables, which do not
/// depend on the unknowns.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Direct {
    /// n × n, row by row.
    pub matrix: Vec<ExprId>,
    pub rhs: Vec<ExprId>,
    pub n_before: usize,
    /// There is one unknown, and its coefficient is not zero in any branch: a plain division solves the block.
    pub divides: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum CrossingClass {
    Affine,
    General,
}

/// A relation between continuous quantities.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Crossing {
    /// The Boolean variable that holds the relation's truth value.
    pub relation: VarId,
    /// lhs - rhs
    pub function: ExprId,
    /// Holds for positive (`>`, `>=`) or for negative values.
    pub rising: bool,
    /// Holds at zero.
    pub closed: bool,
    pub class: CrossingClass,
    /// Only continuous equations read the relation: the motion may slide along its surface.
    pub slides: bool,
    pub origin: Origin,
    pub text: String,
}

/// Sources of time events.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum TimeEvent {
    /// `sample(start, interval)`: `flag` is true at start + k·interval. Both in parameters.
    Sample {
        flag: VarId,
        start: ExprId,
        interval: ExprId,
    },
    /// Exact periodic clock tick at the start time + shift + k·period (num/den seconds).
    Tick {
        flag: VarId,
        period: (i64, i64),
        shift: (i64, i64),
    },
    /// A relation in time and discrete quantities only: it may change value when time reaches `at`. `after`: it changes just after
    /// that instant (`time > at`, `time <= at`), so the event is at the next float.
    Threshold {
        relation: VarId,
        at: ExprId,
        after: bool,
    },
}

/// Candidates of which as many are states as constraints between them leave free; which ones is decided during the run, by the
/// Jacobian of the constraints.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct StateSet {
    /// From 1 on.
    pub number: u32,
    pub n_states: usize,
    /// n × n, row by row: row k has a one for the candidate that is the k-th state, or the (k - n_states)-th dummy. Written by the
    /// instance, at first the unit matrix.
    pub selectors: Vec<VarId>,
    /// Candidates, and the variables that hold their values in the order of choice (states, then dummies), of each order of
    /// derivative; the lowest order last.
    pub levels: Vec<(Vec<VarId>, Vec<VarId>)>,
    /// Must be zero: first the equations that determine `between`, then the constraints. In terms of the candidates of the lowest order.
    pub constraints: Vec<(ExprId, Origin)>,
    /// Variables that depend on the candidates and that the constraints contain.
    pub between: Vec<VarId>,
}

/// A structured model.
#[derive(Clone, Debug)]
pub struct StructuredSystem {
    /// The flat model with added variables and expressions. Its equation lists are spent.
    pub flat: FlatModel,
    /// Indexed like `flat.variables`.
    pub roles: Vec<Role>,
    /// Parameters and constants in evaluation order. Variables with a value from outside (`--set`) skip their entry.
    pub parameters: Vec<Assignment>,
    /// Start values (guesses) of unknowns, in terms of parameters and of each other, in evaluation order.
    pub starts: Vec<Assignment>,
    /// min, max, nominal that are not literals are evaluated at bind time from the flat variables' attributes.
    pub states: Vec<(VarId, VarId)>,
    /// Which of them are chosen during the run.
    pub state_sets: Vec<StateSet>,
    /// The sorted event system.
    pub event: Vec<Step>,
    /// Indices into `event`, in order: the continuous steps needed for derivatives, beyond that for crossing functions, and the
    /// remaining continuous ones.
    pub derivatives: Vec<usize>,
    pub crossing_steps: Vec<usize>,
    pub outputs: Vec<usize>,
    /// The sorted initial system. A variable without a step in it keeps its start value; `pre(v)` in it is the start value of `v`
    /// (both arrays hold the start values before it runs).
    pub initial: Vec<Step>,
    pub initial_notes: Vec<(Option<VarId>, String)>,
    pub initial_conditions: InitialConditions,
    pub crossings: Vec<Crossing>,
    pub time_events: Vec<TimeEvent>,
    /// `delay(expr, time, max)` nodes: each has become a variable with role Auxiliary that the instance fills.
    pub delays: Vec<Delay>,
    /// Variable that is 1 during initialisation / at the terminal event, if used.
    pub initial_flag: Option<VarId>,
    pub terminal_flag: Option<VarId>,
    pub homotopy: Option<VarId>,
    /// Variables whose integrators have become equations.
    pub inlined: Option<Inlined>,
    /// For each variable: does the derivative schedule read it?
    pub feeds_derivatives: Vec<bool>,
    /// For each variable its time derivative, if the derivative schedule computes it.
    pub rates: Vec<Option<VarId>>,
    pub n_equations: usize,
    pub n_unknowns: usize,
    /// Why each state was chosen, for `show --stage structure`.
    pub state_reasons: Vec<String>,
    /// If some choice of branches leaves the blocks singular: what is needed to structure the model for a choice.
    pub modes: Option<Box<Modes>>,
    /// In a mode: how it is entered from values that do not meet its constraints.
    pub restart: Option<Box<Restart>>,
    pub warnings: Vec<Diagnostic>,
}

/// What the initial system leaves open, and what it states twice.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct InitialConditions {
    /// Start values that are not fixed and that the initial system takes as conditions, because otherwise something would be undetermined. They may
    /// be released.
    pub guesses: Vec<(VarId, Confidence)>,
    /// Conditions beyond those that determine the unknowns of the initial system, which computes both of their sides.
    pub checks: Vec<InitialCheck>,
    /// The initial equations of the model.
    pub equations: Vec<Said>,
    /// Discrete variables whose `pre` the initial equations determine, each with the variable that stands for it.
    pub memory: Vec<(VarId, VarId)>,
}

/// An initial condition that is redundant or contradicts others: left and right side are variables that the initial system assigns.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct InitialCheck {
    pub left: VarId,
    pub right: VarId,
    pub said: Said,
    /// The conditions and equations that together determine what this one speaks of.
    pub others: Vec<Said>,
}

/// An equation or a start value in model terms, with its place.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Said {
    pub text: String,
    pub origin: Origin,
}

/// `result = delay(expr, delay_time, delay_max)`, or what leaves a `spatialDistribution`: then `expr` enters, `delay_time` is
/// the position and `delay_max` says by 1 or 0 whether the flow is positive. In steps, `result` is assigned by `Step::Assign`
/// whose value is the `Builtin::Delay` node with arguments (Integer constant: index into `delays`, expr, delay_time,
/// delay_max, stretch).
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    pub result: VarId,
    pub expr: ExprId,
    pub delay_time: ExprId,
    pub delay_max: ExprId,
    /// Written by the instance at events: the number of breaking points of the past that have come out.
    pub stretch: VarId,
    /// For a delay time that moves: written by the instance after events, the times of the breaking points on both sides of the delayed time.
    /// For a transport: the marks on both sides of the one that is read.
    pub range: Option<(VarId, VarId)>,
    /// Points and values of the initial profile of a transport.
    pub profile: Option<(Vec<ExprId>, Vec<ExprId>)>,
}

impl Delay {
    /// All expressions that the memory needs.
    pub fn exprs(&self) -> impl Iterator<Item = ExprId> {
        let (points, values) = match &self.profile {
            Some((points, values)) => (&points[..], &values[..]),
            None => (&[][..], &[][..]),
        };
        let own = [self.expr, self.delay_time, self.delay_max];
        own.into_iter().chain(points.iter().chain(values).copied())
    }
}

/// Integrators that are equations of the model. All variables but `value` and `derivative` are written by the simulator.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Inlined {
    /// Where the step began.
    pub time_old: VarId,
    /// The least step that the formulas take.
    pub step_min: VarId,
    /// How far the time of the continuous equations is ahead.
    pub ahead: VarId,
    pub states: Vec<InlinedState>,
    /// The step that the model asks for, in seconds.
    pub step: Option<f64>,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct InlinedState {
    pub value: VarId,
    pub derivative: VarId,
    /// Where the step began.
    pub value_old: VarId,
    /// Of the trapezoidal rule: the derivative where the step began, and the weight of the one at its end.
    pub memory: Option<(VarId, VarId)>,
    pub method: InlineMethod,
}
