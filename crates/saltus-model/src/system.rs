//! Model, instance and the system of one mode.

use std::sync::Arc;

use crate::{Fault, ModelInfo, Site, Slot, Status, Values};

/// An immutable model, shared by parallel runs.
pub trait Model {
    type Instance: Instance;

    fn info(&self) -> &ModelInfo;

    /// The same, to be kept.
    fn shared_info(&self) -> Arc<ModelInfo> {
        Arc::new(self.info().clone())
    }

    fn instantiate(&self) -> Self::Instance;
}

/// One run of a model. The simulator owns the [`Values`].
pub trait Instance {
    type System: System;

    fn info(&self) -> &ModelInfo;

    /// The same as it is now, to be kept.
    fn shared_info(&self) -> Arc<ModelInfo> {
        Arc::new(self.info().clone())
    }

    /// Values with constants, parameters, external objects and start values evaluated, time at `time_start`, `overrides`
    /// applied (a parameter's value or a variable's start value).
    fn bind(&mut self, time_start: f64, overrides: &[(Slot, f64)]) -> Result<Values, Fault>;

    /// The same into the values of an earlier run of this instance, whose memory is used again.
    fn bind_again(
        &mut self,
        time_start: f64,
        overrides: &[(Slot, f64)],
        values: &mut Values,
    ) -> Result<(), Fault> {
        *values = self.bind(time_start, overrides)?;
        Ok(())
    }

    /// What the initial system fixed, for the log: start values used as initial conditions although not `fixed`, and the like.
    fn initial_notes(&self) -> &[InitialNote];

    /// The system of the mode that the current values select.
    fn system(&self, values: &Values) -> &Self::System;

    /// Which system that is: equal numbers mean the same states, blocks and crossings. A model with one mode has only 0.
    fn mode(&self, _values: &Values) -> u32 {
        0
    }

    /// For models that structure a mode when it is first met: chooses the one that the discrete variables in `values` select. True if it is another than
    /// before; `values` may then have more slots than before.
    #[inline(always)]
    fn select_mode(&mut self, _values: &mut Values) -> Result<bool, Fault> {
        Ok(false)
    }

    /// The values of all switches, what selects between branches of equations, and as indices those that the modes depend on.
    fn switches(&self, _values: &Values) -> Result<(Vec<bool>, Vec<u32>), Fault> {
        Ok((Vec::new(), Vec::new()))
    }

    /// The values of all switches for which the mode in use was selected; after binding, those that the start values give.
    fn selected_switches(&self) -> &[bool] {
        &[]
    }

    /// As [`Instance::select_mode`], for values of the switches that need not be those of the moment.
    fn force_mode(&mut self, _switches: &[bool], _values: &mut Values) -> Status {
        Ok(())
    }

    /// For equations of the mode in use with the other branch of one of its switches: that switch, the residual and the sum of the magnitudes of its terms.
    fn hinges(&self, _values: &Values) -> Result<Vec<(u32, f64, f64)>, Fault> {
        Ok(Vec::new())
    }

    /// These switches keep the values that the mode in use was selected for, whatever their conditions say, until another mode is selected: their functions are zero
    /// throughout the mode.
    fn hold_switches(&mut self, _switches: &[u32]) {}

    /// Those that are held, for messages.
    fn held_switches(&self) -> Vec<String> {
        Vec::new()
    }

    /// The switches leave the equations singular, whichever variables are states: what all modes have in common stands in for the mode, and minimum
    /// norm for what is missing.
    fn is_singular(&self) -> bool {
        false
    }

    /// Whether [`Instance::select_mode`] may ever choose another mode.
    #[inline(always)]
    fn has_modes(&self) -> bool {
        false
    }

    /// How many modes have been structured.
    fn modes_structured(&self) -> u64 {
        1
    }

    /// After another mode was selected: its constraints between quantities that it takes over, at the values as they are.
    fn constraints(&self, _values: &Values, _out: &mut Vec<ConstraintValue>) -> Status {
        Ok(())
    }

    /// The laws of restitution that the last pass of the event system has asked for.
    fn impacts(&self, _values: &Values) -> Vec<usize> {
        Vec::new()
    }

    /// Equations for the jump into the selected mode if those constraints, by index, do not hold, with these impacts. `values` may then have more slots
    /// than before.
    fn jump(
        &mut self,
        _violated: &[usize],
        _impacts: &[usize],
        _values: &mut Values,
    ) -> Result<Option<JumpId>, Fault> {
        Ok(None)
    }

    /// After a jump: what its impulses make of the discrete variables while they last. A friction force that is an impulse has passed its limit; an ideal diode that
    /// an impulse of voltage drives conducts. `at_zero`: crossing functions that are zero throughout the mode.
    fn during_impulse(
        &self,
        _jump: JumpId,
        _values: &Values,
        _at_zero: &[bool],
    ) -> Result<DuringImpulse, Fault> {
        Ok(DuringImpulse::Agrees)
    }

    /// A jump: the event schedule of its system determines what jumps from the left limits in `pre`.
    fn jump_system(&self, _jump: JumpId) -> Option<(&Self::System, &JumpInfo)> {
        None
    }

    /// Time of the next time event strictly after `values.time()`, `f64::INFINITY` if there is none.
    fn next_time_event(&self, values: &Values) -> Result<f64, Fault>;

    /// The places of what makes the time event at `values.time()` happen, for the event log.
    fn time_causes(&self, _values: &Values) -> Vec<Site> {
        Vec::new()
    }

    /// Called at the start of an event step at `values.time()`: sets the slots of `sample` flags and clock ticks that are due
    /// now to 1, all others to 0. Returns true if one was set.
    fn set_time_flags(&mut self, values: &mut Values) -> bool;

    /// Called after the first pass of an event step and at its end: resets those flags to 0 (in `v` and `pre`).
    fn clear_time_flags(&mut self, values: &mut Values);

    /// Called with the values at an accepted point from which the integrator starts or may start again: state sets choose their states
    /// by the conditioning of their constraints. What changed; if anything did, states hold other variables now, all
    /// variables have the values they had, and the integrator must start again.
    fn reselect_states(&mut self, _values: &mut Values) -> Result<Vec<SelectionChange>, Fault> {
        Ok(Vec::new())
    }

    /// Called when variables were given values from outside, or jumped: states that stand for others (state sets) take theirs from these.
    fn restore_states(&mut self, _values: &mut Values) {}

    /// The model keeps a past (delays): it wants points inside each accepted step too, [`StepPoint::Inside`].
    fn keeps_past(&self) -> bool {
        false
    }

    /// Called in order of time with the values at accepted points: delay buffers append. May write slots of its own (role
    /// Auxiliary).
    fn completed_step(&mut self, values: &mut Values, point: StepPoint);

    /// An upper bound on the step size from the model (shortest delay); infinity if none.
    fn step_size_max(&self, values: &Values) -> f64;

    /// All that the instance remembers between two calls, for [`Instance::restore`] of an instance of the same model, here or elsewhere. An error says what
    /// cannot be written down.
    fn save(&self) -> Result<Vec<u8>, String> {
        Err("the run of a model that is not compiled cannot be saved".to_owned())
    }

    /// Takes up what another instance has remembered. After an error the instance must be bound anew.
    fn restore(&mut self, _saved: &[u8]) -> Result<(), String> {
        Err("the run of a model that is not compiled cannot be restored".to_owned())
    }
}

/// A constraint of a mode that is entered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConstraintValue {
    /// Zero if it holds.
    pub residual: f64,
    /// The sum of the magnitudes of its terms.
    pub magnitude: f64,
    pub site: Site,
}

/// A way into a mode, of one instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct JumpId(pub u32);

/// What a jump determines.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct JumpInfo {
    /// What jumps.
    pub moved: Vec<Slot>,
    /// What is an impulse, and where its weight is.
    pub impulses: Vec<(Slot, Slot)>,
}

/// What the impulses of a jump say while they last.
#[derive(Clone, Debug)]
pub enum DuringImpulse {
    /// What the jump was computed with.
    Agrees,
    /// Other branches within the selected mode: the values with those discrete variables.
    Within(Values),
    /// Another mode: the values with the discrete variables that select it.
    OtherMode(Values),
}

/// An element of a choice of states that changed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SelectionChange {
    /// Its name says which state and which variable; 1 if that variable is the state.
    pub slot: Slot,
    pub before: f64,
    pub after: f64,
}

/// Which accepted point [`Instance::completed_step`] is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepPoint {
    /// The initial values, before the events of the start. What is delayed has had them ever before.
    Initial,
    /// Inside a step, from the interpolant; only if [`Instance::keeps_past`].
    Inside,
    /// The end of a step, or the left limits at an event.
    End,
    /// The right limits at an event, also at the initial one.
    AfterEvent,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InitialNote {
    pub slot: Option<Slot>,
    pub text: String,
}

/// A piece of explicit code of a system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct CodeId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct BlockId(pub u32);

/// One step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Section {
    /// Run this code.
    Explicit(CodeId),
    /// Solve this system of equations (linear in its unknowns).
    Linear(BlockId),
    Nonlinear(BlockId),
    /// Real unknowns together with discrete ones: occurs in the `Event` and `Initial` schedules only.
    Mixed(BlockId),
}

/// What is to be computed. `Derivatives`, `Crossings`, `Outputs` assume that relations and discrete variables are known
/// and constant; each needs those before it in this list to have run at the same point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, serde::Serialize, serde::Deserialize)]
pub enum ScheduleKind {
    /// State derivatives and all they depend on.
    Derivatives,
    /// What crossing functions need beyond that.
    Crossings,
    /// All remaining continuous variables.
    Outputs,
    /// The sorted event system: all equations, discrete ones, relations and when-bodies included; states and `pre` known.
    Event,
    /// The initial system: states, `pre` and free parameters are unknowns too.
    Initial,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct StateSlots {
    pub value: Slot,
    pub derivative: Slot,
}

/// A system of equations solved as one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BlockInfo {
    /// Iteration (torn) unknowns; the residual has as many entries.
    pub unknowns: Vec<Slot>,
    /// For each unknown the slot of its time derivative, if the derivative schedule has one for it: guesses then move with the unknown, which
    /// keeps it on its branch where branches of solutions cross. Empty: none has.
    pub rates: Vec<Option<Slot>>,
    /// All variables that the block determines, inner ones included (for messages and guesses).
    pub determines: Vec<Slot>,
    /// Discrete unknowns and relations of a mixed block.
    pub discrete: Vec<Slot>,
    /// Linear in the unknowns (for every value of the discrete ones).
    pub linear: bool,
    /// The Jacobian changes at events only.
    pub constant: bool,
    /// The place of each residual equation.
    pub residual_sites: Vec<Site>,
    /// The places of the equations behind the inner assignments, for messages.
    pub inner_sites: Vec<Site>,
    /// For each unknown the residuals it may influence, ascending; `None`: all. Worth giving for blocks of more than some dozens
    /// of unknowns: time and memory then grow with the entries, not with n².
    pub pattern: Option<Vec<Vec<u32>>>,
}

/// The DAE form F(t, x, y, x') = (x' - f(t, x, y), g(t, x, y)) = 0 of a system whose derivatives need the unknowns y of algebraic blocks. The
/// states alone have x' = f(t, x, y(t, x)), whose Jacobian is full where y couples all of them; that of f and g is sparse, and
/// dF/dx + α dF/dx' = (αI - f_x, -f_y; g_x, g_y) has the Schur complement αI - f_x + f_y g_y⁻¹ g_x, the matrix of the states alone.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct DaeForm {
    /// y, block by block in the order of the derivative schedule.
    pub unknowns: Vec<Slot>,
    /// For each state, then each unknown, the rows of (f, g) that it may influence, ascending.
    pub pattern: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum CrossingClass {
    /// Affine in states and time together, with coefficients that change at events only: a polynomial wherever the states
    /// are. Needs no schedule.
    Affine,
    General,
}

/// A crossing function r = lhs - rhs of a relation.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct CrossingInfo {
    /// The relation's truth value.
    pub relation: Slot,
    /// True if the relation holds for r > 0 (`>`, `>=`), false if for r < 0.
    pub rising: bool,
    /// True if the relation holds at r = 0 (`>=`, `<=`).
    pub closed: bool,
    pub class: CrossingClass,
    /// Continuous equations read the relation, and nothing else does: no `when`, no `pre`, no discrete variable, no block that determines it. Its events
    /// change the motion only, so where the motions on both sides lead to its surface the run may go on along it.
    pub slides: bool,
    /// The conditions of when-clauses that reset states and that depend on the relation, each with the value of its slot for which it holds. Empty if
    /// that is not known.
    pub guards: Vec<(Slot, bool)>,
    /// The states that they reset; empty if that is not known.
    pub resets: Vec<Slot>,
    /// Magnitude of the operands: values far below it are round-off.
    pub nominal: f64,
    pub site: Site,
    /// The relation in model terms, `x < 0`.
    pub text: String,
}

/// Pure code of one mode. All methods are deterministic functions of `values` (and of the instance's delay buffers and
/// external objects).
pub trait System {
    fn states(&self) -> &[StateSlots];

    fn schedule(&self, kind: ScheduleKind) -> &[Section];

    fn run(&self, code: CodeId, values: &mut Values) -> Status;

    fn block(&self, block: BlockId) -> &BlockInfo;

    /// Residuals of a block at the current unknowns; inner (torn) assignments are carried out and leave their values in `values`.
    fn residual(&self, block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status;

    /// Exact Jacobian of the residual with respect to the unknowns, in the order of the block's pattern, column by column; dense
    /// column-major (`n*n`) without a pattern. `Ok(false)` if the model has
    /// none and the caller must use differences. Inner values are left as `residual` would leave them.
    fn jacobian(
        &self,
        block: BlockId,
        values: &mut Values,
        jacobian: &mut [f64],
    ) -> Result<bool, Fault>;

    /// Solves a linear block by formulas of its own, leaving in `values` what [`System::residual`] leaves at the solution. `Ok(false)`: it
    /// has none, or they fail at this point, and the caller must solve it.
    fn solve_directly(&self, _block: BlockId, _values: &mut Values) -> Result<bool, Fault> {
        Ok(false)
    }

    /// Recomputes the discrete unknowns and relations of a mixed block from its current Real unknowns.
    fn update_discrete(&self, block: BlockId, values: &mut Values) -> Status;

    /// Recomputes the discrete unknowns of a mixed block that are no relations with a crossing function, from the relations as they are in the array.
    fn update_dependent(&self, _block: BlockId, _values: &mut Values) -> Status {
        Ok(())
    }

    fn crossings(&self) -> &[CrossingInfo];

    /// Values of all crossing functions (after the `Crossings` schedule has run).
    fn eval_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status;

    /// Values of the affine crossing functions from states and time alone, no schedule having run; what is left in the places of
    /// others has no meaning.
    fn eval_affine_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        self.eval_crossings(values, out)
    }

    /// Carries out a schedule of explicit code at once. `None`: its sections have to run.
    #[inline(always)]
    fn run_schedule(&self, _kind: ScheduleKind, _values: &mut Values) -> Option<Status> {
        None
    }

    /// A shortcut of models whose derivatives are a plain function of time, states and discrete values: dx = f(t, x), no other slot being read
    /// that changes between events. It may write what the schedule writes: time, states, and variables that follow from them. `None`: there is none, and
    /// the schedule has to run.
    #[inline(always)]
    fn derivatives_at(
        &self,
        _t: f64,
        _x: &[f64],
        _values: &mut Values,
        _dx: &mut [f64],
    ) -> Option<Status> {
        None
    }

    /// The same for the crossing functions, with all that they need.
    #[inline(always)]
    fn crossings_at(
        &self,
        _t: f64,
        _x: &[f64],
        _values: &mut Values,
        _out: &mut [f64],
    ) -> Option<Status> {
        None
    }

    /// The same for the affine ones alone; what is left in the places of others has no meaning.
    #[inline(always)]
    fn affine_crossings_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Option<Status> {
        self.crossings_at(t, x, values, out)
    }

    /// Values of all crossing functions as the last pass of the event schedule had them, where the code keeps them: they hold as long as time, states
    /// and discrete variables are those of that pass.
    #[inline(always)]
    fn crossings_of_event<'a>(&self, _values: &'a Values) -> Option<&'a [f64]> {
        None
    }

    /// A model with shortcuts for derivatives and crossing functions whose event schedule leaves all continuous variables as the other schedules would: they need not run after it.
    #[inline(always)]
    fn event_completes(&self) -> bool {
        false
    }

    /// After a pass of the event schedule that asked for nothing: another one with `pre` as the values are now would leave them all as they are. `false`
    /// where that is not known.
    #[inline(always)]
    fn event_repeats(&self, _values: &Values) -> bool {
        false
    }

    /// Sparsity of the state Jacobian: for each state column the derivative rows it may influence; `None` if unknown (dense).
    fn state_pattern(&self) -> Option<&[Vec<u32>]>;

    /// The DAE form, if its Jacobian is much sparser than [`System::state_pattern`]: implicit methods then use its matrix.
    fn dae_form(&self) -> Option<&DaeForm> {
        None
    }

    /// (f, g) at the states and unknowns in `values`, no block being solved. Asked for only if there is a DAE form.
    fn dae_functions(&self, _values: &mut Values, _out: &mut [f64]) -> Status {
        Ok(())
    }

    /// d(f, g)/d(x, y) in the order of [`DaeForm::pattern`], column by column. `Ok(false)`: it is not known at this point.
    fn dae_jacobian(&self, _values: &mut Values, _jacobian: &mut [f64]) -> Result<bool, Fault> {
        Ok(false)
    }

    /// True if a change of this slot at an event changes the derivatives (the integrator must restart).
    fn feeds_derivatives(&self, slot: Slot) -> bool;

    /// All variables are needed at every accepted step: an assertion in `Crossings` or `Outputs`, or
    /// [`Instance::completed_step`], reads them. Otherwise these schedules run only where a row is written and at events, and
    /// between them only states and time are sure to be up to date.
    fn observes_steps(&self) -> bool {
        true
    }

    /// Slots that count as changed in the event iteration: discrete variables, relations, when-conditions.
    fn discrete_slots(&self) -> &[Slot];

    /// What the initial system leaves open, and what it states twice.
    fn initial_conditions(&self) -> &InitialConditions {
        static NONE: InitialConditions = InitialConditions::NONE;
        &NONE
    }
}

/// Beside the equations of the initial system: start values that it uses and that may give way, conditions that it has left over.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct InitialConditions {
    /// Slots that keep a start value which is not fixed, each with the rank of its confidence: larger is less trusted.
    pub guesses: Vec<(Slot, u32)>,
    pub checks: Vec<InitialCheck>,
    /// Slots with a start value, ascending.
    pub started: Vec<Slot>,
    /// The initial equations.
    pub equations: Vec<Site>,
    /// Discrete slots whose `pre` the initial system determines, each with the slot in which it does.
    pub memory: Vec<(Slot, Slot)>,
}

impl InitialConditions {
    pub const NONE: InitialConditions = InitialConditions {
        guesses: Vec::new(),
        checks: Vec::new(),
        started: Vec::new(),
        equations: Vec::new(),
        memory: Vec::new(),
    };
}

/// A condition beyond those that determine the unknowns of the initial system: after its schedule has run both sides must agree.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct InitialCheck {
    pub left: Slot,
    pub right: Slot,
    pub site: Site,
    /// The conditions and equations that together determine what this one speaks of.
    pub others: Vec<Site>,
}

/// A system behind a table, for code that runs rarely: it is compiled once instead of once for each type of system.
impl System for &dyn System {
    fn states(&self) -> &[StateSlots] {
        (**self).states()
    }

    fn schedule(&self, kind: ScheduleKind) -> &[Section] {
        (**self).schedule(kind)
    }

    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        (**self).run(code, values)
    }

    fn block(&self, block: BlockId) -> &BlockInfo {
        (**self).block(block)
    }

    fn residual(&self, block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        (**self).residual(block, values, residual)
    }

    fn jacobian(
        &self,
        block: BlockId,
        values: &mut Values,
        jacobian: &mut [f64],
    ) -> Result<bool, Fault> {
        (**self).jacobian(block, values, jacobian)
    }

    fn solve_directly(&self, block: BlockId, values: &mut Values) -> Result<bool, Fault> {
        (**self).solve_directly(block, values)
    }

    fn update_discrete(&self, block: BlockId, values: &mut Values) -> Status {
        (**self).update_discrete(block, values)
    }

    fn update_dependent(&self, block: BlockId, values: &mut Values) -> Status {
        (**self).update_dependent(block, values)
    }

    fn crossings(&self) -> &[CrossingInfo] {
        (**self).crossings()
    }

    fn eval_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        (**self).eval_crossings(values, out)
    }

    fn eval_affine_crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        (**self).eval_affine_crossings(values, out)
    }

    fn run_schedule(&self, kind: ScheduleKind, values: &mut Values) -> Option<Status> {
        (**self).run_schedule(kind, values)
    }

    fn derivatives_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        dx: &mut [f64],
    ) -> Option<Status> {
        (**self).derivatives_at(t, x, values, dx)
    }

    fn crossings_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Option<Status> {
        (**self).crossings_at(t, x, values, out)
    }

    fn affine_crossings_at(
        &self,
        t: f64,
        x: &[f64],
        values: &mut Values,
        out: &mut [f64],
    ) -> Option<Status> {
        (**self).affine_crossings_at(t, x, values, out)
    }

    fn crossings_of_event<'a>(&self, values: &'a Values) -> Option<&'a [f64]> {
        (**self).crossings_of_event(values)
    }

    fn event_repeats(&self, values: &Values) -> bool {
        (**self).event_repeats(values)
    }

    fn event_completes(&self) -> bool {
        (**self).event_completes()
    }

    fn state_pattern(&self) -> Option<&[Vec<u32>]> {
        (**self).state_pattern()
    }

    fn dae_form(&self) -> Option<&DaeForm> {
        (**self).dae_form()
    }

    fn dae_functions(&self, values: &mut Values, out: &mut [f64]) -> Status {
        (**self).dae_functions(values, out)
    }

    fn dae_jacobian(&self, values: &mut Values, jacobian: &mut [f64]) -> Result<bool, Fault> {
        (**self).dae_jacobian(values, jacobian)
    }

    fn feeds_derivatives(&self, slot: Slot) -> bool {
        (**self).feeds_derivatives(slot)
    }

    fn observes_steps(&self) -> bool {
        (**self).observes_steps()
    }

    fn discrete_slots(&self) -> &[Slot] {
        (**self).discrete_slots()
    }

    fn initial_conditions(&self) -> &InitialConditions {
        (**self).initial_conditions()
    }
}
