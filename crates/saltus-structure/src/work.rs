//! The state that the passes share: the flat model being taken apart, classes of variables, equations in their event
//! and initial forms.

use crate::restart::{Impact, Signature};
use crate::system::{Action, Assignment, Crossing, Delay, Inlined, StateSet, TimeEvent};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::{Causality, FlatModel, Origin, Variability, Variable};
use saltus_ir::{Base, Builtin, Expr, ExprId, Id, Ir, Value, VarId};
use saltus_syntax::{Diagnostic, Name, Span};

/// What determines a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Class {
    /// A constant or parameter, evaluated before the run.
    Known,
    /// A parameter that the initial system determines, or that depends on one.
    FreeParameter,
    /// An input of the whole model.
    Input,
    /// Written by the instance: sample flags, ticks, the terminal flag, the homotopy parameter.
    Flag,
    /// The value of an inlined variable where the step began: an unknown of the initial system, then written by the simulator.
    Held,
    /// Result of a `delay`.
    Delayed,
    /// A Real that equations determine continuously.
    Continuous,
    /// Changes at events only.
    Discrete,
    /// Clocks and other things without a value.
    Unused,
}

impl Class {
    pub(crate) fn is_unknown(self) -> bool {
        matches!(self, Class::Continuous | Class::Discrete | Class::Delayed)
    }
}

/// How an equation may be solved.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Kind {
    /// For any continuous unknown in it.
    Continuous,
    /// Not Real, or Real without continuous unknowns: for a variable that stands alone on a side.
    Discrete,
    /// `lhs` is this variable, `rhs` its value.
    Assign { var: VarId, discrete: bool },
    /// Holds when `active`, else its variable keeps its value: for a variable of the partition with this number.
    Clocked { active: ExprId, partition: u32 },
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Eq {
    pub(crate) lhs: ExprId,
    pub(crate) rhs: ExprId,
    /// Left and right side in the initial system where they differ.
    pub(crate) initial: Option<(ExprId, ExprId)>,
    /// The sides with calls of functions that are inlined late, if there are any.
    pub(crate) late: Option<(ExprId, ExprId)>,
    pub(crate) kind: Kind,
    pub(crate) origin: Origin,
}

/// An action with its guards in the event and in the initial system (Boolean expressions).
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct GuardedAction {
    pub(crate) event: ExprId,
    pub(crate) initial: ExprId,
    pub(crate) action: Action,
    pub(crate) origin: Origin,
}

/// The step of a solver method as an equation of a clocked partition.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ClockedStep {
    pub(crate) partition: u32,
    pub(crate) state: VarId,
    pub(crate) derivative: VarId,
    /// Index into `Work::equations`.
    pub(crate) equation: usize,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Work {
    pub(crate) flat: FlatModel,
    pub(crate) class: Vec<Class>,
    pub(crate) equations: Vec<Eq>,
    /// Hold at initialisation only.
    pub(crate) initial_equations: Vec<Eq>,
    pub(crate) actions: Vec<GuardedAction>,
    pub(crate) parameters: Vec<Assignment>,
    pub(crate) crossings: Vec<Crossing>,
    pub(crate) impacts: Vec<Impact>,
    pub(crate) time_events: Vec<TimeEvent>,
    pub(crate) delays: Vec<Delay>,
    pub(crate) terminal_flag: Option<VarId>,
    pub(crate) homotopy: Option<VarId>,
    pub(crate) inlined: Option<Inlined>,
    /// x → der(x)
    #[serde(with = "saltus_ir::stored::map")]
    pub(crate) der: FxHashMap<VarId, VarId>,
    /// Base name and order of generated derivative variables.
    #[serde(with = "saltus_ir::stored::map")]
    pub(crate) der_name: FxHashMap<VarId, (Name, u32)>,
    pub(crate) relations: Vec<VarId>,
    /// When-conditions, `$floor` and other added unknowns.
    pub(crate) auxiliary: Vec<VarId>,
    pub(crate) reinit_vars: Vec<VarId>,
    /// Partition of a clocked variable.
    #[serde(with = "saltus_ir::stored::map")]
    pub(crate) partition: FxHashMap<VarId, u32>,
    pub(crate) clocked_vars: Vec<(VarId, Origin)>,
    /// Of discretized partitions; the indices hold until `discretized` has run.
    pub(crate) clocked_steps: Vec<ClockedStep>,
    /// Values of parameters, where known.
    pub(crate) values: Vec<Option<Value>>,
    /// Expressions in parameters that are zero and multiply something (`zeros`).
    #[serde(with = "saltus_ir::stored::set")]
    pub(crate) zero_factors: FxHashSet<ExprId>,
    pub(crate) state_sets: Vec<StateSet>,
    /// What a restart in this mode needs, if it is one of several.
    pub(crate) signature: Option<Signature>,
    /// The signature is wanted.
    pub(crate) is_mode: bool,
    /// Variables that other modes have added and that this one may need as well, by name; until then they are unused.
    #[serde(with = "saltus_ir::stored::map")]
    pub(crate) spare: FxHashMap<Name, VarId>,
    /// Those taken up again, in order.
    reused: Vec<VarId>,
    /// Said when the model was compiled.
    #[serde(skip)]
    pub(crate) warnings: Vec<Diagnostic>,
    #[serde(skip)]
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) n_equations: usize,
    pub(crate) n_unknowns: usize,
    #[serde(skip)]
    marks: Vec<u32>,
    #[serde(skip)]
    mark: u32,
    #[serde(skip)]
    stack: Vec<ExprId>,
}

/// See [`Work::checkpoint`].
pub(crate) struct Checkpoint {
    n_variables: usize,
    n_equations: usize,
    n_reused: usize,
}

impl Work {
    pub(crate) fn new(flat: FlatModel) -> Work {
        let class = flat
            .variables
            .iter()
            .map(|(_, v)| declared_class(v))
            .collect();
        Work {
            flat,
            class,
            equations: Vec::new(),
            initial_equations: Vec::new(),
            actions: Vec::new(),
            parameters: Vec::new(),
            crossings: Vec::new(),
            impacts: Vec::new(),
            time_events: Vec::new(),
            delays: Vec::new(),
            terminal_flag: None,
            homotopy: None,
            inlined: None,
            der: FxHashMap::default(),
            der_name: FxHashMap::default(),
            relations: Vec::new(),
            auxiliary: Vec::new(),
            reinit_vars: Vec::new(),
            partition: FxHashMap::default(),
            clocked_vars: Vec::new(),
            clocked_steps: Vec::new(),
            values: Vec::new(),
            zero_factors: FxHashSet::default(),
            state_sets: Vec::new(),
            signature: None,
            is_mode: false,
            spare: FxHashMap::default(),
            reused: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            n_equations: 0,
            n_unknowns: 0,
            marks: Vec::new(),
            mark: 0,
            stack: Vec::new(),
        }
    }

    pub(crate) fn class(&self, var: VarId) -> Class {
        self.class[var.0 as usize]
    }

    pub(crate) fn name(&self, var: VarId) -> Name {
        self.flat.variables[var].name
    }

    pub(crate) fn span(&self, var: VarId) -> Span {
        self.flat.variables[var].span
    }

    /// The node of a variable.
    pub(crate) fn var(&mut self, var: VarId) -> ExprId {
        let base = self.flat.variables[var].base;
        self.flat.ir.var(var, base)
    }

    /// `pre(var)`
    pub(crate) fn pre(&mut self, var: VarId) -> ExprId {
        if matches!(self.class(var), Class::Known | Class::FreeParameter) {
            return self.var(var);
        }
        let node = self.var(var);
        let ty = self.flat.ir.type_id(node);
        self.flat
            .ir
            .add(Expr::Builtin(Builtin::Pre, Box::new([node])), ty)
    }

    /// Adds a variable that is not in the model text, or takes up the one that another mode has added under this name.
    pub(crate) fn new_var(&mut self, name: &str, base: Base, class: Class, span: Span) -> VarId {
        if !self.spare.is_empty()
            && let Some(id) = self.spare.remove(&Name::new(name))
        {
            self.class[id.index()] = class;
            self.reused.push(id);
            return id;
        }
        let variability = match class {
            Class::Known | Class::FreeParameter => Variability::Parameter,
            Class::Continuous | Class::Delayed | Class::Input => Variability::Continuous,
            _ => Variability::Discrete,
        };
        let id = self.flat.variables.push(Variable {
            protected: true,
            hide_result: name.starts_with('$'),
            ..Variable::new(Name::new(name), base, variability, span)
        });
        self.class.push(class);
        id
    }

    /// The variable that stands for the derivative of a continuous variable.
    pub(crate) fn der_of(&mut self, var: VarId) -> VarId {
        if let Some(&der) = self.der.get(&var) {
            return der;
        }
        let (base, order) = match self.der_name.get(&var) {
            Some(&(base, order)) => (base, order + 1),
            None => (self.name(var), 1),
        };
        let name = if order == 1 {
            format!("der({base})")
        } else {
            format!("der({base},{order})")
        };
        let span = self.span(var);
        let protected = self.flat.variables[var].protected;
        let der = self.new_var(&name, Base::Real, Class::Continuous, span);
        self.flat.variables[der].protected = protected;
        self.der.insert(var, der);
        self.der_name.insert(der, (base, order));
        der
    }

    /// Where the lists that index reduction extends end now.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            n_variables: self.flat.variables.len(),
            n_equations: self.equations.len(),
            n_reused: self.reused.len(),
        }
    }

    /// Forgets derivatives of variables and equations added since.
    pub(crate) fn restore(&mut self, to: Checkpoint) {
        self.equations.truncate(to.n_equations);
        self.flat.variables.truncate(to.n_variables);
        self.class.truncate(to.n_variables);
        let given_back: Vec<VarId> = self.reused.drain(to.n_reused..).collect();
        for &var in &given_back {
            self.class[var.index()] = Class::Unused;
            self.spare.insert(self.flat.variables[var].name, var);
        }
        let stays = |der: VarId| der.index() < to.n_variables && !given_back.contains(&der);
        self.der.retain(|_, der| stays(*der));
        self.der_name.retain(|der, _| stays(*der));
    }

    /// Variables whose current value the expressions use, each once, in order of appearance: not those under `pre`,
    /// and not the argument of `delay`, whose past is used.
    pub(crate) fn incidence(&mut self, roots: &[ExprId]) -> Vec<VarId> {
        self.incidence_where(roots, |_, _| true)
    }

    /// As [`Work::incidence`], without terms that have a zero factor: nothing can be solved for what stands in them.
    pub(crate) fn nonzero_incidence(&mut self, roots: &[ExprId]) -> Vec<VarId> {
        if self.zero_factors.is_empty() {
            return self.incidence(roots);
        }
        let zeros = std::mem::take(&mut self.zero_factors);
        let vars = self.incidence_where(roots, |ir, id| {
            !crate::zeros::factors(ir, id)
                .into_iter()
                .flatten()
                .any(|factor| zeros.contains(&factor))
        });
        self.zero_factors = zeros;
        vars
    }

    fn incidence_where(
        &mut self,
        roots: &[ExprId],
        entered: impl Fn(&Ir, ExprId) -> bool,
    ) -> Vec<VarId> {
        let ir = &self.flat.ir;
        self.marks.resize(ir.n_nodes(), 0);
        self.mark += 1;
        let mark = self.mark;
        let mut vars = Vec::new();
        let stack = &mut self.stack;
        stack.clear();
        stack.extend(roots.iter().rev());
        while let Some(id) = stack.pop() {
            saltus_control::checkpoint();
            if std::mem::replace(&mut self.marks[id.0 as usize], mark) == mark || !entered(ir, id) {
                continue;
            }
            match ir.expr(id) {
                Expr::Var(v) => vars.push(*v),
                Expr::VarArray(first) => {
                    let n = ir.leaf_count(ir.type_id(id)).unwrap_or(0);
                    vars.extend((0..n as u32).map(|k| VarId(first.0 + k)));
                }
                Expr::Builtin(Builtin::Pre, _) => {}
                Expr::Builtin(Builtin::Delay, args) => {
                    args.iter()
                        .enumerate()
                        .filter(|(i, _)| *i != 1)
                        .for_each(|(_, &a)| stack.push(a));
                }
                _ => {
                    let from = stack.len();
                    ir.for_each_child(id, |child| stack.push(child));
                    stack[from..].reverse();
                }
            }
        }
        // A variable can be seen as a scalar and inside an array.
        let mut seen = rustc_hash::FxHashSet::default();
        vars.retain(|v| seen.insert(*v));
        vars
    }

    /// Variables under `pre` in the expressions, each once.
    pub(crate) fn pre_incidence(&mut self, roots: &[ExprId]) -> Vec<VarId> {
        let ir = &self.flat.ir;
        self.marks.resize(ir.n_nodes(), 0);
        self.mark += 1;
        let mark = self.mark;
        let mut vars = Vec::new();
        let stack = &mut self.stack;
        stack.clear();
        stack.extend(roots);
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut self.marks[id.0 as usize], mark) == mark {
                continue;
            }
            if let Expr::Builtin(Builtin::Pre, args) = ir.expr(id)
                && let Expr::Var(v) = *ir.expr(args[0])
            {
                vars.push(v);
            }
            ir.for_each_child(id, |child| stack.push(child));
        }
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    pub(crate) fn error(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }

    pub(crate) fn warn(&mut self, diagnostic: Diagnostic) {
        self.warnings.push(diagnostic);
    }
}

fn declared_class(v: &Variable) -> Class {
    match (v.variability, v.base) {
        (Variability::Constant | Variability::Parameter, _) => Class::Known,
        (_, Base::Clock | Base::Record(_) | Base::Function) => Class::Unused,
        (_, _) if v.causality == Causality::Input => Class::Input,
        (Variability::Continuous, Base::Real) => Class::Continuous,
        _ => Class::Discrete,
    }
}
