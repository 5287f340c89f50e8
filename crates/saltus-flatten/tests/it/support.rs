//! Flattens a text and prints what comes out, one equation a line.

use saltus_flatten::{ClassTree, FileArena, Files, FlattenOptions, flatten};
use saltus_ir::flat::{ClockKind, Equation, FlatModel};
use saltus_ir::{BinaryOp, Builtin, Expr, ExprId, UnaryOp};
use saltus_syntax::{Diagnostic, ParsedFile};
use std::sync::Arc;

struct NoFiles;

impl Files for NoFiles {
    fn parsed(&self, path: &str) -> Result<Arc<ParsedFile>, Box<Diagnostic>> {
        let message = format!("`{path}` is not read in tests");
        Err(Box::new(Diagnostic::placeless("file-not-found", message)))
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        Err(format!("`{path}` is not listed in tests"))
    }

    fn is_dir(&self, _: &str) -> bool {
        false
    }

    fn is_file(&self, _: &str) -> bool {
        false
    }
}

/// The flat model, or the codes of the errors.
pub(crate) fn model(text: &str, class: &str) -> Result<FlatModel, Vec<String>> {
    let arena = FileArena::new();
    let clock = || 0.0;
    let mut tree = ClassTree::new(&arena, &NoFiles, Vec::new(), &clock);
    tree.add_source("test.mo", text.to_string());
    let flattened = flatten(tree, class, FlattenOptions::default());
    flattened.model.ok_or_else(|| {
        let errors = flattened.diagnostics.iter().filter(|d| d.is_error());
        errors
            .map(|d| format!("{}: {}", d.code, d.message))
            .collect()
    })
}

fn flat(text: &str, class: &str) -> FlatModel {
    model(text, class).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// The equations of `M` are those of `expected`, in any order.
#[track_caller]
pub(crate) fn check(text: &str, expected: &str) {
    let model = flat(text, "M");
    let mut found: Vec<String> = model
        .equations
        .iter()
        .map(|e| print_equation(&model, e))
        .collect();
    found.extend(
        model
            .asserts
            .iter()
            .map(|a| format!("assert {}", print(&model, a.condition))),
    );
    for partition in &model.partitions {
        let clock = match &partition.clock {
            ClockKind::Periodic { period, shift } => {
                format!(
                    "{}/{} from {}/{}",
                    period.num, period.den, shift.num, shift.den
                )
            }
            ClockKind::PeriodicReal {
                interval,
                factor,
                shift,
            } => {
                let interval = print(&model, *interval);
                format!(
                    "{interval} * {}/{} from {}/{}",
                    factor.num, factor.den, shift.num, shift.den
                )
            }
            ClockKind::Event { condition } => format!("when {}", print(&model, *condition)),
        };
        found.extend(
            partition
                .equations
                .iter()
                .map(|e| format!("[{clock}] {}", print_equation(&model, e))),
        );
    }
    let mut expected: Vec<String> = expected
        .lines()
        .map(|line| line.trim().to_string())
        .filter(|line| !line.is_empty())
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "\nfound:\n{}\n", found.join("\n"));
}

/// Flattening `M` fails with this code.
#[track_caller]
pub(crate) fn check_error(text: &str, code: &str) {
    match model(text, "M") {
        Ok(model) => {
            let found: Vec<String> = model
                .equations
                .iter()
                .map(|e| print_equation(&model, e))
                .collect();
            panic!("no error, but:\n{}", found.join("\n"));
        }
        Err(errors) => assert!(errors.iter().any(|e| e.starts_with(code)), "{errors:#?}"),
    }
}

/// Names of the variables of `M`.
pub(crate) fn variables(text: &str) -> Vec<String> {
    flat(text, "M")
        .variables
        .iter()
        .map(|(_, v)| v.name.as_str().to_string())
        .collect()
}

fn print_equation(model: &FlatModel, equation: &Equation) -> String {
    format!(
        "{} = {}",
        print(model, equation.lhs),
        print(model, equation.rhs)
    )
}

fn print(model: &FlatModel, id: ExprId) -> String {
    let p = |id: &ExprId| print(model, *id);
    let list = |ids: &[ExprId]| ids.iter().map(p).collect::<Vec<_>>().join(", ");
    match model.ir.expr(id) {
        Expr::Real(bits) => format!("{:?}", f64::from_bits(*bits)),
        Expr::Integer(i) => i.to_string(),
        Expr::Boolean(b) => b.to_string(),
        Expr::String(s) => format!("{:?}", s.as_str()),
        Expr::Time => "time".into(),
        Expr::Var(var) | Expr::VarArray(var) => model.variables[*var].name.as_str().to_string(),
        Expr::Unary(UnaryOp::Neg, a) => format!("-{}", p(a)),
        Expr::Unary(UnaryOp::Not, a) => format!("not {}", p(a)),
        Expr::Binary(op, a, b) => {
            let sign = match op {
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Mul => "*",
                BinaryOp::Div => "/",
                BinaryOp::Lt => "<",
                BinaryOp::Le => "<=",
                BinaryOp::Gt => ">",
                BinaryOp::Ge => ">=",
                BinaryOp::Eq => "==",
                _ => return format!("{op:?}({}, {})", p(a), p(b)),
            };
            format!("({} {sign} {})", p(a), p(b))
        }
        Expr::If(c, t, e) => format!("if {} then {} else {}", p(c), p(t), p(e)),
        Expr::Builtin(Builtin::NoEvent, args) => format!("noEvent({})", list(args)),
        Expr::Builtin(builtin, args) => format!("{}({})", builtin.name(), list(args)),
        Expr::Call { function, args } => {
            format!("{}({})", model.ir.functions[*function].name, list(args))
        }
        Expr::Leaf { of, index } => format!("{}#{index}", p(of)),
        Expr::Record { fields, .. } => format!("record({})", list(fields)),
        other => format!("{other:?}"),
    }
}
