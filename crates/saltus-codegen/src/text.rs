//! Expressions as text for messages: short ones in full, long ones by their outer structure.

use saltus_ir::flat::FlatModel;
use saltus_ir::{BinaryOp, Expr, ExprId, UnaryOp};

/// Expressions with at most this many nodes (as a tree) are written in full.
const NODES_MAX: usize = 48;
/// Levels of a longer expression that are written.
const LEVELS: u32 = 4;

/// The expression in model terms; `…` stands for what was left out.
pub(crate) fn expr(flat: &FlatModel, e: ExprId) -> String {
    short(flat, e, LEVELS)
}

fn short(flat: &FlatModel, e: ExprId, levels: u32) -> String {
    if is_small(flat, e) {
        return flat.message_text(e);
    }
    if levels == 0 {
        return "…".into();
    }
    let part = |e: ExprId| {
        let text = short(flat, e, levels - 1);
        if matches!(flat.ir.expr(e), Expr::Binary(..) | Expr::If(..)) {
            format!("({text})")
        } else {
            text
        }
    };
    match flat.ir.expr(e) {
        Expr::Unary(UnaryOp::Neg, a) => format!("-{}", part(*a)),
        Expr::Unary(UnaryOp::Not, a) => format!("not {}", part(*a)),
        Expr::Binary(op, a, b) => format!("{} {} {}", part(*a), symbol(*op), part(*b)),
        Expr::If(c, t, f) => format!("if {} then {} else {}", part(*c), part(*t), part(*f)),
        Expr::Builtin(f, args) => {
            let args: Vec<String> = args.iter().map(|a| short(flat, *a, levels - 1)).collect();
            format!("{}({})", f.name(), args.join(", "))
        }
        Expr::Call { function, args } => {
            let args: Vec<String> = args.iter().map(|a| short(flat, *a, levels - 1)).collect();
            format!(
                "{}({})",
                flat.ir.functions[*function].name.as_str(),
                args.join(", ")
            )
        }
        _ => "…".into(),
    }
}

fn is_small(flat: &FlatModel, e: ExprId) -> bool {
    let mut stack = vec![e];
    let mut n = 0;
    while let Some(e) = stack.pop() {
        n += 1;
        if n > NODES_MAX {
            return false;
        }
        flat.ir.for_each_child(e, |c| stack.push(c));
    }
    true
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul | BinaryOp::MatMul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Pow | BinaryOp::MatPow => "^",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "<>",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}
