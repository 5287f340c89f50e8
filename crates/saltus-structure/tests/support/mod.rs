//! A small front end for tests: scalar variables, equations, when-clauses and algorithms of one flat model text.
//!
//! Names with dots are written with quotes, `'a.b'`. Only what the tests need is understood; anything else panics.

use rustc_hash::FxHashMap;
use saltus_ir::flat::*;
use saltus_ir::func::{self, AssertLevel, Place, Target};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Ir, Type, VarId};
use saltus_syntax::{Name, SourceMap, Span, ast, parse};

pub(crate) fn flat_model(text: &str) -> FlatModel {
    let mut map = SourceMap::default();
    let file = map.add("test.mo", text);
    let parsed = parse(file, text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let class = &parsed.definition.classes[0];
    let ast::ClassBody::Composition { parts, .. } = &class.body else {
        panic!("a model")
    };
    let mut reader = Reader {
        flat: FlatModel {
            name: class.name.name,
            description: String::new(),
            span: class.span,
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
        },
        names: FxHashMap::default(),
    };
    let components: Vec<&ast::ComponentDecl> = parts
        .elements
        .iter()
        .filter_map(|e| match &e.kind {
            ast::ElementKind::Component(c) => Some(&**c),
            _ => None,
        })
        .collect();
    for c in &components {
        reader.declare(c);
    }
    for (k, c) in components.iter().enumerate() {
        reader.attributes(VarId(k as u32), c);
    }
    for section in &parts.sections {
        match &section.kind {
            ast::SectionKind::Equations(equations) => {
                for eq in equations {
                    reader.equation(eq, section.initial);
                }
            }
            ast::SectionKind::Algorithm(statements) => {
                reader.algorithm(statements, section.initial, section.span)
            }
        }
    }
    reader.flat
}

struct Reader {
    flat: FlatModel,
    names: FxHashMap<String, VarId>,
}

fn origin(span: Span) -> Origin {
    Origin {
        span,
        component: Name::new(""),
    }
}

fn plain(name: &str) -> String {
    name.trim_matches('\'').to_owned()
}

impl Reader {
    fn declare(&mut self, c: &ast::ComponentDecl) {
        let base = match c.ty.parts[0].name.as_str() {
            "Real" => Base::Real,
            "Integer" => Base::Integer,
            "Boolean" => Base::Boolean,
            other => panic!("type {other}"),
        };
        let variability = match c.type_prefixes.variability {
            Some(ast::Variability::Constant) => Variability::Constant,
            Some(ast::Variability::Parameter) => Variability::Parameter,
            Some(ast::Variability::Discrete) => Variability::Discrete,
            _ if base != Base::Real => Variability::Discrete,
            _ => Variability::Continuous,
        };
        let name = plain(c.name.name.as_str());
        let id = self.flat.variables.push(Variable {
            causality: match c.type_prefixes.causality {
                Some(ast::Causality::Input) => Causality::Input,
                Some(ast::Causality::Output) => Causality::Output,
                None => Causality::Local,
            },
            flow: c.type_prefixes.connection == ast::ConnectionPrefix::Flow,
            ..Variable::new(Name::new(&name), base, variability, c.span)
        });
        self.names.insert(name, id);
    }

    fn attributes(&mut self, id: VarId, c: &ast::ComponentDecl) {
        let Some(modification) = &c.modification else {
            return;
        };
        for argument in &modification.args {
            let ast::ArgumentKind::Modify {
                path,
                modification: Some(m),
                ..
            } = &argument.kind
            else {
                panic!("modifier")
            };
            let value = m.value.as_ref().expect("a value");
            match path.parts[0].name.as_str() {
                "stateSelect" => {
                    let ast::ExprKind::Ref(r) = &value.kind else {
                        panic!("stateSelect")
                    };
                    self.flat.variables[id].state_select = match r.parts[1].name.name.as_str() {
                        "never" => StateSelect::Never,
                        "avoid" => StateSelect::Avoid,
                        "prefer" => StateSelect::Prefer,
                        "always" => StateSelect::Always,
                        _ => StateSelect::Default,
                    };
                }
                "unit" => {
                    let ast::ExprKind::String(s) = &value.kind else {
                        panic!("unit")
                    };
                    self.flat.variables[id].unit = Some(Name::new(s));
                }
                attribute => {
                    let value = self.expr(value);
                    let variable = &mut self.flat.variables[id];
                    match attribute {
                        "start" => {
                            variable.start = Some(value);
                            variable.start_confidence = saltus_ir::flat::Confidence::at(1);
                        }
                        "fixed" => variable.fixed = Some(value),
                        "min" => variable.min = Some(value),
                        "max" => variable.max = Some(value),
                        "nominal" => variable.nominal = Some(value),
                        other => panic!("attribute {other}"),
                    }
                }
            }
        }
        if let Some(value) = &modification.value {
            let value = self.expr(value);
            if self.flat.variables[id].variability <= Variability::Parameter {
                self.flat.variables[id].binding = Some(value);
            } else {
                let base = self.flat.variables[id].base;
                let lhs = self.flat.ir.var(id, base);
                self.flat.equations.push(Equation {
                    lhs,
                    rhs: value,
                    origin: origin(c.span),
                });
            }
        }
    }

    fn equation(&mut self, eq: &ast::Equation, initial: bool) {
        match &eq.kind {
            ast::EquationKind::Equal { lhs, rhs } => {
                let equation = Equation {
                    lhs: self.expr(lhs),
                    rhs: self.expr(rhs),
                    origin: origin(eq.span),
                };
                if initial {
                    self.flat.initial_equations.push(equation);
                } else {
                    self.flat.equations.push(equation);
                }
            }
            ast::EquationKind::When { branches } => {
                let branches = branches
                    .iter()
                    .map(|(condition, body)| WhenBranch {
                        conditions: match &condition.kind {
                            ast::ExprKind::Array(conditions) => {
                                conditions.iter().map(|c| self.expr(c)).collect()
                            }
                            _ => vec![self.expr(condition)],
                        },
                        body: body.iter().map(|eq| self.action(eq)).collect(),
                    })
                    .collect();
                self.flat.whens.push(When {
                    branches,
                    origin: origin(eq.span),
                });
            }
            ast::EquationKind::Call(call) => {
                let (name, args) = call_of(call);
                assert_eq!(name, "assert");
                let assert = Assert {
                    condition: self.expr(&args[0]),
                    message: self.expr(&args[1]),
                    level: AssertLevel::Error,
                    origin: origin(eq.span),
                };
                self.flat.asserts.push(assert);
            }
            other => panic!("equation {other:?}"),
        }
    }

    fn action(&mut self, eq: &ast::Equation) -> WhenAction {
        match &eq.kind {
            ast::EquationKind::Equal { lhs, rhs } => {
                let ast::ExprKind::Ref(r) = &lhs.kind else {
                    panic!("left side")
                };
                WhenAction::Assign {
                    var: self.var(r),
                    value: self.expr(rhs),
                    origin: origin(eq.span),
                }
            }
            ast::EquationKind::Call(call) => {
                let (name, args) = call_of(call);
                match name.as_str() {
                    "reinit" => {
                        let ast::ExprKind::Ref(r) = &args[0].kind else {
                            panic!("reinit")
                        };
                        WhenAction::Reinit {
                            var: self.var(r),
                            value: self.expr(&args[1]),
                            origin: origin(eq.span),
                        }
                    }
                    "terminate" => WhenAction::Terminate {
                        guard: None,
                        message: self.expr(&args[0]),
                        origin: origin(eq.span),
                    },
                    other => panic!("call {other}"),
                }
            }
            other => panic!("when {other:?}"),
        }
    }

    fn algorithm(&mut self, statements: &[ast::Statement], initial: bool, span: Span) {
        let mut outputs = Vec::new();
        let statements = statements
            .iter()
            .map(|s| self.statement(s, &mut outputs))
            .collect();
        outputs.sort_unstable();
        outputs.dedup();
        let algorithm = Algorithm {
            statements,
            outputs,
            origin: origin(span),
        };
        if initial {
            self.flat.initial_algorithms.push(algorithm);
        } else {
            self.flat.algorithms.push(algorithm);
        }
    }

    fn statement(&mut self, s: &ast::Statement, outputs: &mut Vec<VarId>) -> func::Statement {
        let kind = match &s.kind {
            ast::StatementKind::Assign { target, value } => {
                let first = self.var(target);
                outputs.push(first);
                let ty = self
                    .flat
                    .ir
                    .intern_type(Type::scalar(self.flat.variables[first].base));
                func::StatementKind::Assign {
                    target: Target {
                        place: Place::Var { first, ty },
                        access: Vec::new(),
                    },
                    value: self.expr(value),
                }
            }
            ast::StatementKind::If {
                branches,
                otherwise,
            } => func::StatementKind::If {
                branches: branches
                    .iter()
                    .map(|(c, body)| {
                        (
                            self.expr(c),
                            body.iter().map(|s| self.statement(s, outputs)).collect(),
                        )
                    })
                    .collect(),
                otherwise: otherwise
                    .iter()
                    .map(|s| self.statement(s, outputs))
                    .collect(),
            },
            ast::StatementKind::When { branches } => func::StatementKind::When {
                branches: branches
                    .iter()
                    .map(|(c, body)| {
                        let conditions = match &c.kind {
                            ast::ExprKind::Array(conditions) => {
                                conditions.iter().map(|c| self.expr(c)).collect()
                            }
                            _ => vec![self.expr(c)],
                        };
                        (
                            conditions,
                            body.iter().map(|s| self.statement(s, outputs)).collect(),
                        )
                    })
                    .collect(),
            },
            other => panic!("statement {other:?}"),
        };
        func::Statement { kind, span: s.span }
    }

    fn var(&self, r: &ast::ComponentRef) -> VarId {
        let name: Vec<&str> = r.parts.iter().map(|p| p.name.name.as_str()).collect();
        let name = plain(&name.join("."));
        *self
            .names
            .get(&name)
            .unwrap_or_else(|| panic!("unknown name {name}"))
    }

    fn expr(&mut self, e: &ast::Expr) -> ExprId {
        match &e.kind {
            ast::ExprKind::Integer(i) => self.flat.ir.integer(*i),
            ast::ExprKind::Real(x) => self.flat.ir.real(*x),
            ast::ExprKind::Boolean(b) => self.flat.ir.boolean(*b),
            ast::ExprKind::String(s) => self.flat.ir.string(s),
            ast::ExprKind::Ref(r)
                if r.parts.len() == 1 && r.parts[0].name.name.as_str() == "time" =>
            {
                self.flat.ir.time()
            }
            ast::ExprKind::Ref(r) => {
                let v = self.var(r);
                let base = self.flat.variables[v].base;
                self.flat.ir.var(v, base)
            }
            ast::ExprKind::Unary(op, a) => {
                let a = self.expr(a);
                match op {
                    ast::UnaryOp::Minus => self.flat.ir.neg(a),
                    ast::UnaryOp::Not => self.flat.ir.not(a),
                    other => panic!("{other:?}"),
                }
            }
            ast::ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let op = match op {
                    ast::BinaryOp::Add => BinaryOp::Add,
                    ast::BinaryOp::Sub => BinaryOp::Sub,
                    ast::BinaryOp::Mul => BinaryOp::Mul,
                    ast::BinaryOp::Div => BinaryOp::Div,
                    ast::BinaryOp::Pow => BinaryOp::Pow,
                    ast::BinaryOp::Lt => BinaryOp::Lt,
                    ast::BinaryOp::Le => BinaryOp::Le,
                    ast::BinaryOp::Gt => BinaryOp::Gt,
                    ast::BinaryOp::Ge => BinaryOp::Ge,
                    ast::BinaryOp::Eq => BinaryOp::Eq,
                    ast::BinaryOp::Ne => BinaryOp::Ne,
                    ast::BinaryOp::And => BinaryOp::And,
                    ast::BinaryOp::Or => BinaryOp::Or,
                    other => panic!("{other:?}"),
                };
                self.flat.ir.binary(op, a, b)
            }
            ast::ExprKind::If {
                branches,
                otherwise,
            } => {
                let mut value = self.expr(otherwise);
                for (c, t) in branches.iter().rev() {
                    let (c, t) = (self.expr(c), self.expr(t));
                    value = self.flat.ir.if_(c, t, value);
                }
                value
            }
            ast::ExprKind::Call { .. } => self.call(e),
            other => panic!("expression {other:?}"),
        }
    }

    fn call(&mut self, e: &ast::Expr) -> ExprId {
        let (name, args) = call_of(e);
        let args: Vec<ExprId> = args.iter().map(|a| self.expr(a)).collect();
        let op = match name.as_str() {
            "der" => Builtin::Der,
            "pre" => Builtin::Pre,
            "edge" => Builtin::Edge,
            "change" => Builtin::Change,
            "initial" => Builtin::Initial,
            "terminal" => Builtin::Terminal,
            "sample" => Builtin::Sample,
            "noEvent" => Builtin::NoEvent,
            "smooth" => Builtin::Smooth,
            "delay" => Builtin::Delay,
            "homotopy" => Builtin::Homotopy,
            "sin" => Builtin::Sin,
            "cos" => Builtin::Cos,
            "exp" => Builtin::Exp,
            "sqrt" => Builtin::Sqrt,
            "abs" => Builtin::Abs,
            "floor" => Builtin::Floor,
            "integer" => Builtin::Integer,
            "mod" => Builtin::Mod,
            other => panic!("function {other}"),
        };
        let base = match op {
            Builtin::Pre | Builtin::NoEvent | Builtin::Homotopy => self.flat.ir.base(args[0]),
            Builtin::Smooth => self.flat.ir.base(args[1]),
            Builtin::Edge
            | Builtin::Change
            | Builtin::Initial
            | Builtin::Terminal
            | Builtin::Sample => Base::Boolean,
            Builtin::Integer => Base::Integer,
            _ => Base::Real,
        };
        self.flat
            .ir
            .add_scalar(Expr::Builtin(op, args.into()), base)
    }
}

fn call_of(e: &ast::Expr) -> (String, &[ast::Expr]) {
    let ast::ExprKind::Call { function, args } = &e.kind else {
        panic!("a call")
    };
    (function.parts[0].name.name.to_string(), &args.positional)
}
