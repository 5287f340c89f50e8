//! Small hybrid programs as data, with their Modelica text.
//!
//! A program has variables in an order: what a variable is computed from are variables before it, `pre` of any, and time. So there is no
//! loop of equations, whatever the generator chooses. Start values are fixed.
//!
//! Each continuous variable has a slope that is piecewise constant, so that its motion and its crossings have closed forms.

use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Integer,
    Boolean,
    Real,
}

/// A value; all three types in one number. Integers stay far below 2^53.
pub type Number = f64;

#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A constant of the type.
    Constant(Type, Number),
    Var(usize),
    Pre(usize),
    Edge(usize),
    Change(usize),
    Time,
    Initial,
    /// The continuous variable's own value. Only in bodies of when-clauses.
    Continuous(usize),
    /// `x[k] > c`, or `<`: an event of the motion.
    Crossing {
        state: usize,
        above: bool,
        level: Number,
    },
    /// `time >= c`
    After(Number),
    /// `sample(start, interval)`; only as a condition of a when-clause.
    Sample(Number, Number),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A call of the function with this number.
    Call(usize, Vec<Expr>),
    /// An element of the array of constants `table` by a subscript that is brought into range.
    Table(Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Mod,
    Div,
    Min,
    Max,
    And,
    Or,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Type,
    pub start: Number,
}

/// A continuous variable: `der(x) = slope`, reset in when-clauses.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub name: String,
    pub start: Number,
    pub slope: Expr,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    Assign(usize, Expr),
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    /// `for i in 1:n loop v := v op (expr with i as Real/Integer); end for`
    Repeat(i64, Vec<Statement>),
    When(Vec<(Vec<Expr>, Vec<Statement>)>),
}

/// What happens in a branch of a when-equation.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    Assign(usize, Expr),
    Reinit(usize, Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    Equation(usize, Expr),
    /// Branches by priority; each has conditions of which any rising edge counts.
    When(Vec<(Vec<Expr>, Vec<Action>)>),
    Algorithm(Vec<Statement>),
}

/// `y := a; for i in 1:n loop if y odd … end for`: Integer functions of two Integers with a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    pub passes: i64,
    pub factor: i64,
    pub modulus: i64,
    pub leave_at: i64,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    pub variables: Vec<Variable>,
    pub states: Vec<State>,
    /// In the order of evaluation.
    pub parts: Vec<Part>,
    /// The order in which parts are written: no order of the text may matter.
    pub written: Vec<usize>,
    pub functions: Vec<Function>,
    pub table: Vec<i64>,
}

impl Program {
    /// The Modelica text, a class `P`.
    pub fn text(&self) -> String {
        let mut out = String::from("model P\n");
        self.declarations(&mut out);
        for &k in &self.written {
            match &self.parts[k] {
                Part::Equation(v, e) => {
                    let _ = writeln!(out, "equation\n  {} = {};", self.name(*v), self.expr(e));
                }
                Part::When(branches) => self.when_equation(&mut out, branches),
                Part::Algorithm(statements) => {
                    out.push_str("algorithm\n");
                    self.statements(&mut out, statements, 1);
                }
            }
        }
        out.push_str("equation\n");
        for state in &self.states {
            let _ = writeln!(out, "  der({}) = {};", state.name, self.expr(&state.slope));
        }
        out.push_str("end P;\n");
        out
    }

    fn declarations(&self, out: &mut String) {
        for (k, f) in self.functions.iter().enumerate() {
            let _ = writeln!(
                out,
                "  function f{k}\n    input Integer a;\n    input Integer b;\n    output Integer y;\n  algorithm\n    y := a;\n    for i in 1:{} loop\n      y := mod({}*y + b*i, {});\n      if y == {} then\n        return;\n      end if;\n    end for;\n  end f{k};",
                f.passes, f.factor, f.modulus, f.leave_at
            );
        }
        let items: Vec<String> = self.table.iter().map(i64::to_string).collect();
        if !items.is_empty() {
            let _ = writeln!(
                out,
                "  constant Integer table[{}] = {{{}}};",
                items.len(),
                items.join(", ")
            );
        }
        // Elements `a[1]`, `a[2]` … of arrays and members `r.m` of records are declared once, as a whole.
        let mut declared: Vec<&str> = Vec::new();
        for variable in &self.variables {
            let (ty, start) = (
                type_text(variable.ty),
                constant(variable.ty, variable.start),
            );
            if let Some((array, _)) = variable.name.split_once('[') {
                if declared.contains(&array) {
                    continue;
                }
                declared.push(array);
                let starts: Vec<String> = self
                    .variables
                    .iter()
                    .filter(|v| v.name.split_once('[').is_some_and(|(a, _)| a == array))
                    .map(|v| constant(v.ty, v.start))
                    .collect();
                let _ = writeln!(
                    out,
                    "  {ty} {array}[{}](start = {{{}}}, each fixed = true);",
                    starts.len(),
                    starts.join(", ")
                );
            } else if let Some((record, _)) = variable.name.split_once('.') {
                if declared.contains(&record) {
                    continue;
                }
                declared.push(record);
                let members: Vec<&Variable> = self
                    .variables
                    .iter()
                    .filter(|v| v.name.split_once('.').is_some_and(|(a, _)| a == record))
                    .collect();
                let fields: String = members
                    .iter()
                    .map(|v| format!(" {} {};", type_text(v.ty), member(v)))
                    .collect();
                let starts: Vec<String> = members
                    .iter()
                    .map(|v| {
                        format!(
                            "{}(start = {}, fixed = true)",
                            member(v),
                            constant(v.ty, v.start)
                        )
                    })
                    .collect();
                let _ = writeln!(
                    out,
                    "  record R_{record}{fields} end R_{record};\n  R_{record} {record}({});",
                    starts.join(", ")
                );
            } else {
                let _ = writeln!(
                    out,
                    "  {ty} {}(start = {start}, fixed = true);",
                    variable.name
                );
            }
        }
        for state in &self.states {
            let _ = writeln!(
                out,
                "  Real {}(start = {:?}, fixed = true);",
                state.name, state.start
            );
        }
    }

    fn when_equation(&self, out: &mut String, branches: &[(Vec<Expr>, Vec<Action>)]) {
        out.push_str("equation\n");
        for (k, (conditions, actions)) in branches.iter().enumerate() {
            let word = if k == 0 { "when" } else { "elsewhen" };
            let _ = writeln!(out, "  {word} {} then", self.conditions(conditions));
            for action in actions {
                let _ = match action {
                    Action::Assign(v, e) => {
                        writeln!(out, "    {} = {};", self.name(*v), self.expr(e))
                    }
                    Action::Reinit(x, e) => writeln!(
                        out,
                        "    reinit({}, {});",
                        self.states[*x].name,
                        self.expr(e)
                    ),
                };
            }
        }
        out.push_str("  end when;\n");
    }

    fn conditions(&self, conditions: &[Expr]) -> String {
        let texts: Vec<String> = conditions.iter().map(|c| self.expr(c)).collect();
        match texts.as_slice() {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(", ")),
        }
    }

    fn statements(&self, out: &mut String, list: &[Statement], depth: usize) {
        let indent = "  ".repeat(depth);
        for statement in list {
            match statement {
                Statement::Assign(v, e) => {
                    let _ = writeln!(out, "{indent}{} := {};", self.name(*v), self.expr(e));
                }
                Statement::If(branches, otherwise) => {
                    for (k, (condition, body)) in branches.iter().enumerate() {
                        let word = if k == 0 { "if" } else { "elseif" };
                        let _ = writeln!(out, "{indent}{word} {} then", self.expr(condition));
                        self.statements(out, body, depth + 1);
                    }
                    if !otherwise.is_empty() {
                        let _ = writeln!(out, "{indent}else");
                        self.statements(out, otherwise, depth + 1);
                    }
                    let _ = writeln!(out, "{indent}end if;");
                }
                Statement::Repeat(n, body) => {
                    let _ = writeln!(out, "{indent}for i in 1:{n} loop");
                    self.statements(out, body, depth + 1);
                    let _ = writeln!(out, "{indent}end for;");
                }
                Statement::When(branches) => {
                    for (k, (conditions, body)) in branches.iter().enumerate() {
                        let word = if k == 0 { "when" } else { "elsewhen" };
                        let _ =
                            writeln!(out, "{indent}{word} {} then", self.conditions(conditions));
                        self.statements(out, body, depth + 1);
                    }
                    let _ = writeln!(out, "{indent}end when;");
                }
            }
        }
    }

    fn name(&self, v: usize) -> &str {
        &self.variables[v].name
    }

    fn expr(&self, e: &Expr) -> String {
        match e {
            Expr::Constant(ty, value) => constant(*ty, *value),
            Expr::Var(v) => self.name(*v).to_owned(),
            Expr::Pre(v) => format!("pre({})", self.name(*v)),
            Expr::Edge(v) => format!("edge({})", self.name(*v)),
            Expr::Change(v) => format!("change({})", self.name(*v)),
            Expr::Time => "time".to_owned(),
            Expr::Initial => "initial()".to_owned(),
            Expr::Continuous(x) => self.states[*x].name.clone(),
            Expr::Crossing {
                state,
                above,
                level,
            } => {
                let op = if *above { ">" } else { "<" };
                format!("({} {op} {level:?})", self.states[*state].name)
            }
            Expr::After(c) => format!("(time >= {c:?})"),
            Expr::Sample(start, interval) => format!("sample({start:?}, {interval:?})"),
            Expr::Not(a) => format!("(not {})", self.expr(a)),
            Expr::Negative(a) => format!("(-{})", self.expr(a)),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                match op {
                    Op::Mod => format!("mod({a}, {b})"),
                    Op::Div => format!("div({a}, {b})"),
                    Op::Min => format!("min({a}, {b})"),
                    Op::Max => format!("max({a}, {b})"),
                    _ => format!("({a} {} {b})", op_text(*op)),
                }
            }
            Expr::If(c, a, b) => format!(
                "(if {} then {} else {})",
                self.expr(c),
                self.expr(a),
                self.expr(b)
            ),
            Expr::Call(f, args) => {
                let args: Vec<String> = args.iter().map(|a| self.expr(a)).collect();
                format!("f{f}({})", args.join(", "))
            }
            Expr::Table(index) => {
                format!("table[1 + mod({}, {})]", self.expr(index), self.table.len())
            }
        }
    }
}

fn member(v: &Variable) -> &str {
    v.name.split_once('.').map_or(&v.name, |(_, member)| member)
}

fn type_text(ty: Type) -> &'static str {
    match ty {
        Type::Integer => "Integer",
        Type::Boolean => "Boolean",
        Type::Real => "discrete Real",
    }
}

fn constant(ty: Type, value: Number) -> String {
    match ty {
        Type::Integer if value < 0.0 => format!("({})", value as i64),
        Type::Integer => format!("{}", value as i64),
        Type::Boolean => if value != 0.0 { "true" } else { "false" }.to_owned(),
        Type::Real if value < 0.0 => format!("({value:?})"),
        Type::Real => format!("{value:?}"),
    }
}

fn op_text(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::And => "and",
        Op::Or => "or",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::Eq => "==",
        Op::Ne => "<>",
        Op::Mod | Op::Div | Op::Min | Op::Max => "",
    }
}
