//! A structured system piece by piece.

use saltus_codegen::{CompiledInstance, CompiledModel};
use saltus_ir::flat::{Experiment, FlatModel, Origin, Variability, Variable};
use saltus_ir::func::AssertLevel;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Ir, UnaryOp, VarId};
use saltus_model::{
    Instance, Model, ModelInfo, ScheduleKind, Section, Slot, Status, System, Values,
};
use saltus_structure::{Action, Assignment, Role, Step, StructuredSystem};
use saltus_syntax::{FileId, Name, SourceMap, Span};

pub(crate) struct Builder {
    pub(crate) system: StructuredSystem,
}

pub(crate) fn span() -> Span {
    Span::new(FileId(0), 0, 1)
}

pub(crate) fn origin() -> Origin {
    Origin {
        span: span(),
        component: Name::new(""),
    }
}

impl Builder {
    pub(crate) fn new() -> Builder {
        let flat = FlatModel {
            name: Name::new("Test"),
            description: String::new(),
            span: span(),
            ir: Ir::default(),
            variables: Default::default(),
            equations: Vec::new(),
            initial_equations: Vec::new(),
            whens: Vec::new(),
            algorithms: Vec::new(),
            initial_algorithms: Vec::new(),
            asserts: Vec::new(),
            partitions: Vec::new(),
            experiment: Experiment::default(),
        };
        let system = StructuredSystem {
            flat,
            roles: Vec::new(),
            parameters: Vec::new(),
            starts: Vec::new(),
            states: Vec::new(),
            state_sets: Vec::new(),
            event: Vec::new(),
            derivatives: Vec::new(),
            crossing_steps: Vec::new(),
            outputs: Vec::new(),
            initial: Vec::new(),
            initial_notes: Vec::new(),
            initial_conditions: Default::default(),
            crossings: Vec::new(),
            time_events: Vec::new(),
            delays: Vec::new(),
            initial_flag: None,
            terminal_flag: None,
            homotopy: None,
            inlined: None,
            feeds_derivatives: Vec::new(),
            rates: Vec::new(),
            n_equations: 0,
            n_unknowns: 0,
            state_reasons: Vec::new(),
            modes: None,
            restart: None,
            warnings: Vec::new(),
        };
        Builder { system }
    }

    pub(crate) fn ir(&mut self) -> &mut Ir {
        &mut self.system.flat.ir
    }

    pub(crate) fn var(&mut self, name: &str, base: Base, role: Role) -> VarId {
        let variability = match role {
            Role::Constant => Variability::Constant,
            Role::Parameter => Variability::Parameter,
            Role::Discrete | Role::Relation | Role::Auxiliary => Variability::Discrete,
            _ => Variability::Continuous,
        };
        let id = self.system.flat.variables.push(Variable::new(
            Name::new(name),
            base,
            variability,
            span(),
        ));
        self.system.roles.push(role);
        self.system
            .feeds_derivatives
            .push(matches!(role, Role::State));
        self.system.rates.push(None);
        id
    }

    pub(crate) fn real(&mut self, name: &str, role: Role) -> VarId {
        self.var(name, Base::Real, role)
    }

    pub(crate) fn parameter(&mut self, name: &str, value: f64) -> VarId {
        let var = self.real(name, Role::Parameter);
        let value = self.ir().real(value);
        self.system.parameters.push(Assignment {
            var,
            value,
            origin: origin(),
        });
        var
    }

    pub(crate) fn state(&mut self, name: &str, start: f64) -> (VarId, VarId) {
        let x = self.real(name, Role::State);
        let dx = self.real(&format!("der({name})"), Role::Derivative);
        let start = self.ir().real(start);
        self.system.starts.push(Assignment {
            var: x,
            value: start,
            origin: origin(),
        });
        self.system.states.push((x, dx));
        (x, dx)
    }

    pub(crate) fn get(&mut self, var: VarId) -> ExprId {
        let base = self.system.flat.variables[var].base;
        self.ir().add_scalar(Expr::Var(var), base)
    }

    pub(crate) fn pre(&mut self, var: VarId) -> ExprId {
        let base = self.system.flat.variables[var].base;
        let e = self.get(var);
        self.ir()
            .add_scalar(Expr::Builtin(Builtin::Pre, Box::new([e])), base)
    }

    pub(crate) fn number(&mut self, x: f64) -> ExprId {
        self.ir().real(x)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let logical = op.is_relation() || matches!(op, BinaryOp::And | BinaryOp::Or);
        self.ir().add_scalar(
            Expr::Binary(op, a, b),
            if logical { Base::Boolean } else { Base::Real },
        )
    }

    pub(crate) fn not(&mut self, a: ExprId) -> ExprId {
        self.ir()
            .add_scalar(Expr::Unary(UnaryOp::Not, a), Base::Boolean)
    }

    pub(crate) fn minus(&mut self, a: ExprId) -> ExprId {
        self.ir()
            .add_scalar(Expr::Unary(UnaryOp::Neg, a), Base::Real)
    }

    pub(crate) fn fun(&mut self, f: Builtin, args: &[ExprId]) -> ExprId {
        self.ir()
            .add_scalar(Expr::Builtin(f, args.into()), Base::Real)
    }

    pub(crate) fn cond(&mut self, c: ExprId, t: ExprId, e: ExprId) -> ExprId {
        let base = self.ir().base(t);
        self.ir().add_scalar(Expr::If(c, t, e), base)
    }

    /// `edge(b)`
    pub(crate) fn edge(&mut self, var: VarId) -> ExprId {
        let (now, before) = (self.get(var), self.pre(var));
        let not_before = self.not(before);
        self.binary(BinaryOp::And, now, not_before)
    }

    pub(crate) fn assignment(&self, var: VarId, value: ExprId) -> Assignment {
        Assignment {
            var,
            value,
            origin: origin(),
        }
    }

    pub(crate) fn assign(&mut self, var: VarId, value: ExprId, discrete: bool) -> usize {
        let assignment = self.assignment(var, value);
        self.system.event.push(Step::Assign {
            assignment,
            discrete,
        });
        self.system.event.len() - 1
    }

    /// A continuous assignment of the derivative schedule.
    pub(crate) fn derivative(&mut self, var: VarId, value: ExprId) {
        let i = self.assign(var, value, false);
        self.system.derivatives.push(i);
    }

    /// A continuous assignment of the output schedule.
    pub(crate) fn output(&mut self, var: VarId, value: ExprId) {
        let i = self.assign(var, value, false);
        self.system.outputs.push(i);
    }

    pub(crate) fn action(&mut self, guard: Option<ExprId>, action: Action) -> usize {
        self.system.event.push(Step::Action {
            guard,
            action,
            origin: origin(),
        });
        self.system.event.len() - 1
    }

    pub(crate) fn assert(&mut self, condition: ExprId, message: ExprId, level: AssertLevel) {
        let i = self.action(
            None,
            Action::Assert {
                condition,
                message,
                level,
            },
        );
        self.system.outputs.push(i);
    }

    pub(crate) fn compile(self) -> Run {
        let mut sources = SourceMap::default();
        sources.add("test.mo", "model Test end Test;");
        let model = match saltus_codegen::compile(self.system, &sources) {
            Ok(model) => model,
            Err(errors) => panic!("{errors:?}"),
        };
        Run::new(model, &[])
    }
}

/// A bound instance.
pub(crate) struct Run {
    pub(crate) model: CompiledModel,
    pub(crate) instance: CompiledInstance,
    pub(crate) values: Values,
}

impl Run {
    pub(crate) fn new(model: CompiledModel, overrides: &[(Slot, f64)]) -> Run {
        let mut instance = model.instantiate();
        let values = instance
            .bind(0.0, overrides)
            .expect("parameters can be computed");
        Run {
            model,
            instance,
            values,
        }
    }

    pub(crate) fn slot(&self, name: &str) -> Slot {
        slot_of(self.model.info(), name)
    }

    pub(crate) fn get(&self, name: &str) -> f64 {
        let v = self
            .model
            .info()
            .variables
            .iter()
            .find(|v| v.name == name)
            .expect("the variable exists");
        let x = self.values.get(v.slot);
        if v.negated { -x } else { x }
    }

    pub(crate) fn set(&mut self, name: &str, x: f64) {
        let slot = self.slot(name);
        self.values.set(slot, x);
    }

    /// Runs the explicit sections of a schedule.
    pub(crate) fn run(&mut self, kind: ScheduleKind) -> Status {
        let system = self.instance.system(&self.values);
        for section in system.schedule(kind).to_vec() {
            if let Section::Explicit(code) = section {
                self.instance
                    .system(&self.values)
                    .run(code, &mut self.values)?;
            }
        }
        Ok(())
    }
}

pub(crate) fn slot_of(info: &ModelInfo, name: &str) -> Slot {
    info.variables
        .iter()
        .find(|v| v.name == name)
        .expect("the variable exists")
        .slot
}
