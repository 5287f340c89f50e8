//! Text of expressions and of the flat model, in Modelica syntax as far as Modelica has it.
//!
//! Beyond Modelica: `f(x)#2` is the second output of a call, `f(x)[3]` and `f(x).a` are leaves of its value.

use crate::expr::{BinaryOp, Builtin, Expr, Ir, Reduction, Sub, UnaryOp};
use crate::flat::{
    Algorithm, Causality, ClockKind, Equation, FlatModel, StateSelect, Variability, Variable, When,
    WhenAction,
};
use crate::func::{Access, AssertLevel, Function, Place, Statement, StatementKind, Target};
use crate::ids::IdVec;
use crate::types::{Base, Dim, Type};
use crate::{ExprId, FuncId, TypeId, VarId};
use std::fmt::Write;

/// Expressions are graphs, so their text can be much larger than they are: it is cut off here.
const TEXT_MAX: usize = 20_000;
/// Nesting at which the text is cut off.
const DEPTH_MAX: usize = 200;
/// Written where text is cut off.
const CUT: &str = "…";

/// The text of an expression with the names of the variables.
pub fn expression(ir: &Ir, variables: &IdVec<VarId, Variable>, e: ExprId) -> String {
    expression_with(
        ir,
        &|v| {
            variables
                .get(v)
                .map_or_else(|| format!("v{}", v.0), |x| x.name.to_string())
        },
        e,
    )
}

/// The text of an expression with variables named by `name`.
pub fn expression_with(ir: &Ir, name: &dyn Fn(VarId) -> String, e: ExprId) -> String {
    let mut printer = Printer {
        ir,
        name,
        out: String::new(),
        depth: 0,
    };
    printer.expr(e, Level::Any);
    printer.out
}

impl FlatModel {
    /// The text of an expression of this model.
    pub fn text(&self, e: ExprId) -> String {
        expression(&self.ir, &self.variables, e)
    }

    /// The same for messages: added variables (`$…`) that have a description, such as relations, are written as that.
    pub fn message_text(&self, e: ExprId) -> String {
        let mut text = self.text(e);
        if text.contains('$') {
            for v in self.ir.variables_of(e) {
                let variable = &self.variables[v];
                let (name, meant) = (variable.name.as_str(), variable.description.as_str());
                if name.starts_with('$') && !meant.is_empty() {
                    text = text.replace(name, meant);
                }
            }
        }
        text
    }
}

/// Precedence, loosest first (specification 3.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Any,
    Or,
    And,
    Not,
    Relation,
    Sum,
    Product,
    Power,
    Primary,
}

struct Printer<'a> {
    ir: &'a Ir,
    name: &'a dyn Fn(VarId) -> String,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    /// Writes `e` where an operand of at least `level` is expected.
    fn expr(&mut self, e: ExprId, level: Level) {
        if self.out.len() > TEXT_MAX || self.depth > DEPTH_MAX {
            if !self.out.ends_with(CUT) {
                self.out.push_str(CUT);
            }
            return;
        }
        self.depth += 1;
        let own = self.level(e);
        if own < level {
            self.out.push('(');
            self.node(e);
            self.out.push(')');
        } else {
            self.node(e);
        }
        self.depth -= 1;
    }

    fn level(&self, e: ExprId) -> Level {
        match self.ir.expr(e) {
            Expr::Real(bits) if f64::from_bits(*bits).is_sign_negative() => Level::Sum,
            Expr::Integer(i) if *i < 0 => Level::Sum,
            Expr::Unary(UnaryOp::Neg, _) => Level::Sum,
            Expr::Unary(UnaryOp::Not, _) => Level::Not,
            Expr::Binary(op, ..) => operator_level(*op),
            Expr::If(..) | Expr::Range { .. } => Level::Any,
            _ => Level::Primary,
        }
    }

    fn node(&mut self, e: ExprId) {
        match self.ir.expr(e) {
            Expr::Real(bits) => {
                let _ = write!(self.out, "{:?}", f64::from_bits(*bits));
            }
            Expr::Integer(i) => {
                let _ = write!(self.out, "{i}");
            }
            Expr::Boolean(b) => {
                let _ = write!(self.out, "{b}");
            }
            Expr::String(s) => self.out.push_str(&quoted(s.as_str())),
            Expr::Enum(id, k) => {
                let ty = &self.ir.enums[*id];
                let literal = ty.literals.get((*k as usize).wrapping_sub(1));
                let _ = write!(
                    self.out,
                    "{}.{}",
                    ty.name,
                    literal.map_or("?", |name| name.as_str())
                );
            }
            Expr::Time => self.out.push_str("time"),
            Expr::Var(v) => {
                let name = (self.name)(*v);
                self.out.push_str(&name);
            }
            Expr::VarArray(first) => self.var_array(*first, self.ir.type_id(e)),
            Expr::Local(id) => {
                let _ = write!(self.out, "{}", self.ir.locals[*id].name);
            }
            Expr::Unary(UnaryOp::Neg, a) => {
                self.out.push('-');
                self.expr(*a, Level::Product);
            }
            Expr::Unary(UnaryOp::Not, a) => {
                self.out.push_str("not ");
                self.expr(*a, Level::Relation);
            }
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b),
            Expr::If(c, t, f) => {
                self.out.push_str("if ");
                self.expr(*c, Level::Or);
                self.out.push_str(" then ");
                self.expr(*t, Level::Or);
                self.out.push_str(" else ");
                self.expr(*f, Level::Any);
            }
            Expr::Builtin(op, args) => {
                let name = match op {
                    Builtin::EnumOf => match self.ir.base(e) {
                        Base::Enum(id) => self.ir.enums[id].name.as_str(),
                        _ => op.name(),
                    },
                    _ => op.name(),
                };
                self.out.push_str(name);
                self.list('(', args, ')');
            }
            Expr::Call { function, args } => {
                let _ = write!(self.out, "{}", self.ir.functions[*function].name);
                self.list('(', args, ')');
            }
            Expr::Output { call, index } => {
                self.expr(*call, Level::Primary);
                let _ = write!(self.out, "#{}", index + 1);
            }
            Expr::Leaf { of, index } => {
                self.expr(*of, Level::Primary);
                let path = leaf_path(self.ir, self.ir.type_id(*of), *index as usize);
                self.out.push_str(&path);
            }
            Expr::Array(elements) => self.list('{', elements, '}'),
            Expr::Range { start, step, stop } => {
                self.expr(*start, Level::Or);
                if let Some(step) = step {
                    self.out.push(':');
                    self.expr(*step, Level::Or);
                }
                self.out.push(':');
                self.expr(*stop, Level::Or);
            }
            Expr::Index { base, subs } => {
                self.expr(*base, Level::Primary);
                self.subscripts(subs);
            }
            Expr::Record { record, fields } => {
                let _ = write!(self.out, "{}", self.ir.records[*record].name);
                self.list('(', fields, ')');
            }
            Expr::Field { base, index } => {
                self.expr(*base, Level::Primary);
                let name = match self.ir.base(*base) {
                    Base::Record(id) => self.ir.records[id]
                        .fields
                        .get(*index as usize)
                        .map(|field| field.name.as_str()),
                    _ => None,
                };
                let _ = write!(self.out, ".{}", name.unwrap_or("?"));
            }
            Expr::Comprehension { body, iter, range } => {
                self.out.push('{');
                self.iteration(*body, *iter, *range);
                self.out.push('}');
            }
            Expr::Reduce {
                op,
                body,
                iter,
                range,
            } => {
                self.out.push_str(match op {
                    Reduction::Sum => "sum(",
                    Reduction::Product => "product(",
                    Reduction::Min => "min(",
                    Reduction::Max => "max(",
                });
                self.iteration(*body, *iter, *range);
                self.out.push(')');
            }
            Expr::Function { function, bound } => {
                let f = &self.ir.functions[*function];
                let _ = write!(self.out, "function {}(", f.name);
                for (k, (position, value)) in bound.iter().enumerate() {
                    self.separator(k);
                    let input = f
                        .inputs
                        .get(*position as usize)
                        .map_or("?", |&l| self.ir.locals[l].name.as_str());
                    let _ = write!(self.out, "{input} = ");
                    self.expr(*value, Level::Any);
                }
                self.out.push(')');
            }
        }
    }

    fn iteration(&mut self, body: ExprId, iter: crate::LocalId, range: ExprId) {
        self.expr(body, Level::Any);
        let _ = write!(self.out, " for {} in ", self.ir.locals[iter].name);
        self.expr(range, Level::Any);
    }

    fn separator(&mut self, k: usize) {
        if k > 0 {
            self.out.push_str(", ");
        }
    }

    fn list(&mut self, open: char, items: &[ExprId], close: char) {
        self.out.push(open);
        for (k, item) in items.iter().enumerate() {
            self.separator(k);
            self.expr(*item, Level::Any);
            if self.out.ends_with(CUT) {
                break;
            }
        }
        self.out.push(close);
    }

    fn subscripts(&mut self, subs: &[Sub]) {
        self.out.push('[');
        for (k, sub) in subs.iter().enumerate() {
            self.separator(k);
            match sub {
                Sub::All => self.out.push(':'),
                Sub::At(e) => self.expr(*e, Level::Any),
            }
        }
        self.out.push(']');
    }

    fn var_array(&mut self, first: VarId, ty: TypeId) {
        let n = self.ir.leaf_count(ty).unwrap_or(0);
        self.out.push('{');
        for k in 0..n {
            self.separator(k);
            if self.out.len() > TEXT_MAX {
                self.out.push_str(CUT);
                break;
            }
            let name = (self.name)(VarId(first.0 + k as u32));
            self.out.push_str(&name);
        }
        self.out.push('}');
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) {
        let level = operator_level(op);
        let tighter = match level {
            Level::Or => Level::And,
            Level::And => Level::Not,
            Level::Relation => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Power,
            _ => Level::Primary,
        };
        // Relations and powers do not associate; `-a * b` needs no parentheses on the left of a sum only.
        let left = match level {
            Level::Relation | Level::Power => tighter,
            other => other,
        };
        self.expr(a, left);
        let arrays = !self.ir.ty(a).is_scalar() && !self.ir.ty(b).is_scalar();
        let symbol = match op {
            BinaryOp::Add => " + ",
            BinaryOp::Sub => " - ",
            BinaryOp::Mul if arrays => " .* ",
            BinaryOp::Mul | BinaryOp::MatMul => "*",
            BinaryOp::Div if arrays => "./",
            BinaryOp::Div => "/",
            BinaryOp::Pow if !self.ir.ty(a).is_scalar() || !self.ir.ty(b).is_scalar() => ".^",
            BinaryOp::Pow | BinaryOp::MatPow => "^",
            BinaryOp::Lt => " < ",
            BinaryOp::Le => " <= ",
            BinaryOp::Gt => " > ",
            BinaryOp::Ge => " >= ",
            BinaryOp::Eq => " == ",
            BinaryOp::Ne => " <> ",
            BinaryOp::And => " and ",
            BinaryOp::Or => " or ",
        };
        self.out.push_str(symbol);
        self.expr(b, tighter);
    }
}

fn operator_level(op: BinaryOp) -> Level {
    match op {
        BinaryOp::Or => Level::Or,
        BinaryOp::And => Level::And,
        BinaryOp::Add | BinaryOp::Sub => Level::Sum,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::MatMul => Level::Product,
        BinaryOp::Pow | BinaryOp::MatPow => Level::Power,
        _ => Level::Relation,
    }
}

/// `[2,1].a` for a leaf of a value of type `ty`.
fn leaf_path(ir: &Ir, ty: TypeId, index: usize) -> String {
    let Type { base, dims } = ir.type_of_id(ty);
    let mut path = String::new();
    let Some(stride) = ir.element_leaf_count(*base).filter(|&n| n > 0) else {
        return format!("[{}]", index + 1);
    };
    if !dims.is_empty() {
        let mut rest = index / stride;
        let mut subs = Vec::new();
        for dim in dims.iter().rev() {
            let Dim::Known(n) = *dim else {
                return format!("[{}]", index + 1);
            };
            let n = (n as usize).max(1);
            subs.push((rest % n + 1).to_string());
            rest /= n;
        }
        subs.reverse();
        let _ = write!(path, "[{}]", subs.join(","));
    }
    if let Base::Record(id) = base {
        let mut rest = index % stride;
        for field in &ir.records[*id].fields {
            let n = ir.leaf_count(field.ty).unwrap_or(0);
            if rest < n {
                let _ = write!(path, ".{}{}", field.name, leaf_path(ir, field.ty, rest));
                break;
            }
            rest -= n;
        }
    }
    path
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The flat model as readable Modelica text.
pub fn print_flat(model: &FlatModel) -> String {
    let mut text = FlatText {
        model,
        out: String::new(),
    };
    text.model();
    text.out
}

struct FlatText<'a> {
    model: &'a FlatModel,
    out: String,
}

impl FlatText<'_> {
    fn model(&mut self) {
        let model = self.model;
        for f in self.used_functions() {
            let signature = signature(&model.ir, &model.ir.functions[f]);
            let _ = writeln!(self.out, "// function {signature}");
        }
        let _ = write!(self.out, "class {}", model.name);
        self.comment(&model.description);
        self.out.push('\n');
        for (_, variable) in model.variables.iter() {
            self.variable(variable);
        }
        self.section("initial equation", &model.initial_equations);
        for algorithm in &model.initial_algorithms {
            self.algorithm("initial algorithm", algorithm);
        }
        self.section("equation", &model.equations);
        if model.equations.is_empty() && (!model.whens.is_empty() || !model.asserts.is_empty()) {
            self.out.push_str("equation\n");
        }
        for when in &model.whens {
            self.when(when);
        }
        for assert in &model.asserts {
            self.assert(assert.condition, assert.message, assert.level, 1);
        }
        for partition in &model.partitions {
            let clock = match &partition.clock {
                ClockKind::Periodic { period, shift } => {
                    format!(
                        "every {}/{} s from {}/{} s",
                        period.num, period.den, shift.num, shift.den
                    )
                }
                ClockKind::PeriodicReal {
                    interval, factor, ..
                } => {
                    format!(
                        "every {}*{}/{} s",
                        model.text(*interval),
                        factor.num,
                        factor.den
                    )
                }
                ClockKind::Event { condition } => format!("when {}", model.text(*condition)),
            };
            let _ = writeln!(self.out, "// clocked, {clock}");
            self.section("equation", &partition.equations);
        }
        for algorithm in &model.algorithms {
            self.algorithm("algorithm", algorithm);
        }
        let _ = writeln!(self.out, "end {};", model.name);
    }

    /// Functions called from equations, in the order of their ids.
    fn used_functions(&self) -> Vec<FuncId> {
        let model = self.model;
        let mut roots: Vec<ExprId> = Vec::new();
        for (_, v) in model.variables.iter() {
            roots.extend(
                [v.binding, v.start, v.fixed, v.min, v.max, v.nominal]
                    .into_iter()
                    .flatten(),
            );
        }
        let partitions = model.partitions.iter().flat_map(|p| &p.equations);
        for equation in model
            .equations
            .iter()
            .chain(&model.initial_equations)
            .chain(partitions)
        {
            roots.extend([equation.lhs, equation.rhs]);
        }
        let mut functions: Vec<FuncId> = model
            .ir
            .reachable(&roots)
            .into_iter()
            .filter_map(|e| match model.ir.expr(e) {
                Expr::Call { function, .. } | Expr::Function { function, .. } => Some(*function),
                _ => None,
            })
            .collect();
        functions.sort_unstable();
        functions.dedup();
        functions
    }

    fn comment(&mut self, text: &str) {
        if !text.is_empty() {
            let _ = write!(self.out, " {}", quoted(text));
        }
    }

    fn variable(&mut self, variable: &Variable) {
        let model = self.model;
        self.out.push_str("  ");
        if variable.protected {
            self.out.push_str("protected ");
        }
        if variable.is_final {
            self.out.push_str("final ");
        }
        if variable.flow {
            self.out.push_str("flow ");
        }
        self.out.push_str(match variable.variability {
            Variability::Constant => "constant ",
            Variability::Parameter => "parameter ",
            Variability::Discrete if variable.base == Base::Real => "discrete ",
            Variability::Discrete | Variability::Continuous => "",
        });
        self.out.push_str(match variable.causality {
            Causality::Input => "input ",
            Causality::Output => "output ",
            Causality::Local => "",
        });
        let _ = write!(
            self.out,
            "{} {}",
            base_name(&model.ir, variable.base),
            variable.name
        );
        let mut attributes = Vec::new();
        let expressions = [
            ("start", variable.start),
            ("fixed", variable.fixed),
            ("min", variable.min),
            ("max", variable.max),
            ("nominal", variable.nominal),
        ];
        for (name, e) in expressions {
            if let Some(e) = e {
                attributes.push(format!("{name} = {}", model.text(e)));
            }
        }
        let state_select = match variable.state_select {
            StateSelect::Default => None,
            StateSelect::Never => Some("never"),
            StateSelect::Avoid => Some("avoid"),
            StateSelect::Prefer => Some("prefer"),
            StateSelect::Always => Some("always"),
        };
        if let Some(select) = state_select {
            attributes.push(format!("stateSelect = StateSelect.{select}"));
        }
        let texts = [
            ("unit", variable.unit),
            ("displayUnit", variable.display_unit),
            ("quantity", variable.quantity),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                attributes.push(format!("{name} = {}", quoted(text.as_str())));
            }
        }
        if !attributes.is_empty() {
            let _ = write!(self.out, "({})", attributes.join(", "));
        }
        if let Some(binding) = variable.binding {
            let _ = write!(self.out, " = {}", model.text(binding));
        }
        self.comment(variable.description.as_str());
        self.out.push_str(";\n");
    }

    fn section(&mut self, head: &str, equations: &[Equation]) {
        if equations.is_empty() {
            return;
        }
        let _ = writeln!(self.out, "{head}");
        for equation in equations {
            let (lhs, rhs) = (self.model.text(equation.lhs), self.model.text(equation.rhs));
            let _ = writeln!(self.out, "  {lhs} = {rhs};");
        }
    }

    fn when(&mut self, when: &When) {
        for (k, branch) in when.branches.iter().enumerate() {
            let conditions: Vec<String> = branch
                .conditions
                .iter()
                .map(|&c| self.model.text(c))
                .collect();
            let head = if k == 0 { "when" } else { "elsewhen" };
            match conditions.as_slice() {
                [one] => {
                    let _ = writeln!(self.out, "  {head} {one} then");
                }
                several => {
                    let _ = writeln!(self.out, "  {head} {{{}}} then", several.join(", "));
                }
            }
            branch.body.iter().for_each(|action| self.action(action));
        }
        self.out.push_str("  end when;\n");
    }

    /// A line of a when-clause, in an if-equation where there is a guard.
    fn guarded(&mut self, guard: Option<ExprId>, action: &str) {
        let _ = match guard {
            Some(guard) => writeln!(
                self.out,
                "    if {} then {action}; end if;",
                self.model.text(guard)
            ),
            None => writeln!(self.out, "    {action};"),
        };
    }

    fn action(&mut self, action: &WhenAction) {
        let model = self.model;
        match action {
            WhenAction::Assign { var, value, .. } => {
                let _ = writeln!(
                    self.out,
                    "    {} = {};",
                    self.name(*var),
                    model.text(*value)
                );
            }
            WhenAction::Reinit { var, value, .. } => {
                let _ = writeln!(
                    self.out,
                    "    reinit({}, {});",
                    self.name(*var),
                    model.text(*value)
                );
            }
            WhenAction::Assert(assert) => {
                self.assert(assert.condition, assert.message, assert.level, 2)
            }
            WhenAction::Terminate { guard, message, .. } => {
                let action = format!("terminate({})", model.text(*message));
                self.guarded(*guard, &action);
            }
            WhenAction::Call { guard, call, .. } => {
                self.guarded(*guard, &model.text(*call));
            }
        }
    }

    fn assert(&mut self, condition: ExprId, message: ExprId, level: AssertLevel, indent: usize) {
        let level = match level {
            AssertLevel::Error => "",
            AssertLevel::Warning => ", AssertionLevel.warning",
        };
        let (condition, message) = (self.model.text(condition), self.model.text(message));
        let _ = writeln!(
            self.out,
            "{:1$}assert({condition}, {message}{level});",
            "",
            2 * indent
        );
    }

    fn name(&self, v: VarId) -> String {
        self.model
            .variables
            .get(v)
            .map_or_else(|| format!("v{}", v.0), |x| x.name.to_string())
    }

    fn algorithm(&mut self, head: &str, algorithm: &Algorithm) {
        let _ = writeln!(self.out, "{head}");
        self.statements(&algorithm.statements, 1);
    }

    fn statements(&mut self, statements: &[Statement], indent: usize) {
        for statement in statements {
            self.statement(&statement.kind, indent);
        }
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", 2 * indent);
    }

    fn statement(&mut self, kind: &StatementKind, indent: usize) {
        let model = self.model;
        match kind {
            StatementKind::Assign { target, value } => {
                let text = format!("{} := {};", self.target(target), model.text(*value));
                self.line(indent, &text);
            }
            StatementKind::MultiAssign { targets, call } => {
                let targets: Vec<String> = targets
                    .iter()
                    .map(|t| t.as_ref().map_or_else(String::new, |t| self.target(t)))
                    .collect();
                let text = format!("({}) := {};", targets.join(", "), model.text(*call));
                self.line(indent, &text);
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                for (k, (condition, body)) in branches.iter().enumerate() {
                    let head = if k == 0 { "if" } else { "elseif" };
                    self.line(indent, &format!("{head} {} then", model.text(*condition)));
                    self.statements(body, indent + 1);
                }
                if !otherwise.is_empty() {
                    self.line(indent, "else");
                    self.statements(otherwise, indent + 1);
                }
                self.line(indent, "end if;");
            }
            StatementKind::For { iter, range, body } => {
                self.line(
                    indent,
                    &format!(
                        "for {} in {} loop",
                        model.ir.locals[*iter].name,
                        model.text(*range)
                    ),
                );
                self.statements(body, indent + 1);
                self.line(indent, "end for;");
            }
            StatementKind::While { condition, body } => {
                self.line(indent, &format!("while {} loop", model.text(*condition)));
                self.statements(body, indent + 1);
                self.line(indent, "end while;");
            }
            StatementKind::When { branches } => {
                for (k, (conditions, body)) in branches.iter().enumerate() {
                    let conditions: Vec<String> =
                        conditions.iter().map(|&c| model.text(c)).collect();
                    let head = if k == 0 { "when" } else { "elsewhen" };
                    self.line(
                        indent,
                        &format!("{head} {{{}}} then", conditions.join(", ")),
                    );
                    self.statements(body, indent + 1);
                }
                self.line(indent, "end when;");
            }
            StatementKind::Break => self.line(indent, "break;"),
            StatementKind::Return => self.line(indent, "return;"),
            StatementKind::Assert {
                condition,
                message,
                level,
            } => self.assert(*condition, *message, *level, indent),
            StatementKind::Terminate { message } => {
                self.line(indent, &format!("terminate({});", model.text(*message)))
            }
            StatementKind::Reinit { var, value } => {
                let text = format!("reinit({}, {});", self.name(*var), model.text(*value));
                self.line(indent, &text);
            }
            StatementKind::Call(call) => self.line(indent, &format!("{};", model.text(*call))),
        }
    }

    fn target(&self, target: &Target) -> String {
        let model = self.model;
        let mut text = match target.place {
            Place::Local(id) => model.ir.locals[id].name.to_string(),
            Place::Var { first, ty } if model.ir.type_of_id(ty).is_scalar() => self.name(first),
            // An array: its name without the subscripts of the first element.
            Place::Var { first, .. } => {
                let name = self.name(first);
                name.rsplit_once('[')
                    .map_or_else(|| name.clone(), |(array, _)| array.to_owned())
            }
        };
        for access in &target.access {
            match access {
                Access::Index(subs) => {
                    let subs: Vec<String> = subs
                        .iter()
                        .map(|sub| match sub {
                            Sub::All => ":".to_owned(),
                            Sub::At(e) => model.text(*e),
                        })
                        .collect();
                    let _ = write!(text, "[{}]", subs.join(", "));
                }
                Access::Field(index) => {
                    let _ = write!(text, ".field{}", index + 1);
                }
            }
        }
        text
    }
}

fn base_name(ir: &Ir, base: Base) -> String {
    match base {
        Base::Real => "Real".into(),
        Base::Integer => "Integer".into(),
        Base::Boolean => "Boolean".into(),
        Base::String => "String".into(),
        Base::Clock => "Clock".into(),
        Base::Enum(id) => ir.enums[id].name.to_string(),
        Base::Record(id) => ir.records[id].name.to_string(),
        Base::Object(id) => ir.objects[id].name.to_string(),
        Base::Function => "function".into(),
    }
}

/// A type as in a declaration: `Real[3, :]`.
pub fn type_text(ir: &Ir, ty: &Type) -> String {
    let mut text = base_name(ir, ty.base);
    if !ty.dims.is_empty() {
        let dims: Vec<String> = ty
            .dims
            .iter()
            .map(|d| match d {
                Dim::Known(n) => n.to_string(),
                Dim::Unknown => ":".into(),
            })
            .collect();
        let _ = write!(text, "[{}]", dims.join(", "));
    }
    text
}

/// `name(Real u, Real[:] v) -> (Real y)`
pub fn signature(ir: &Ir, function: &Function) -> String {
    let list = |locals: &[crate::LocalId]| {
        let items: Vec<String> = locals
            .iter()
            .map(|&l| {
                format!(
                    "{} {}",
                    type_text(ir, ir.type_of_id(ir.locals[l].ty)),
                    ir.locals[l].name
                )
            })
            .collect();
        items.join(", ")
    };
    format!(
        "{}({}) -> ({})",
        function.name,
        list(&function.inputs),
        list(&function.outputs)
    )
}
