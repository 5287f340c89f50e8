//! The parts of the IR against each other: folding, scalar form, inlining and derivatives must agree with the evaluator.

use proptest::prelude::*;
use saltus_ir::diff::{DiffError, partial, total_derivative};
use saltus_ir::eval::{self, Env, EvalErrorKind, NoEnv, NoExternals};
use saltus_ir::flat::{
    Algorithm, Equation, Experiment, FlatModel, Origin, Variability, Variable, WhenAction,
};
use saltus_ir::func::*;
use saltus_ir::ids::IdVec;
use saltus_ir::print::{expression_with, print_flat};
use saltus_ir::scalar::{
    InlineMode, ScalarError, Section, algorithm_to_equations, inline_call, scalarize,
    scalarize_shaped,
};
use saltus_ir::types::{RecordField, RecordType};
use saltus_ir::value::Value;
use saltus_ir::verify::verify;
use saltus_ir::*;
use saltus_syntax::{FileId, Name, Span};

fn span() -> Span {
    Span::new(FileId(0), 0, 0)
}

/// Values of variables by number; `pre` is the negative, `der` the double.
struct Values<'a>(&'a [f64]);

impl Env for Values<'_> {
    fn var(&mut self, var: VarId) -> Option<Value> {
        self.0.get(var.0 as usize).copied().map(Value::Real)
    }
    fn time(&self) -> Option<f64> {
        Some(0.5)
    }
    fn pre(&mut self, var: VarId) -> Option<Value> {
        self.0.get(var.0 as usize).map(|x| Value::Real(-x))
    }
    fn der(&mut self, var: VarId) -> Option<Value> {
        self.0.get(var.0 as usize).map(|x| Value::Real(2.0 * x))
    }
}

fn value(ir: &Ir, e: ExprId, x: &[f64]) -> Value {
    eval::eval(ir, e, &mut Values(x), &mut NoExternals).expect("has a value")
}

fn number(ir: &Ir, e: ExprId, x: &[f64]) -> f64 {
    value(ir, e, x).as_f64().expect("a number")
}

fn text(ir: &Ir, e: ExprId) -> String {
    expression_with(
        ir,
        &|v| {
            ["x", "y", "z", "u", "v", "w"]
                .get(v.0 as usize)
                .map_or_else(|| format!("x{}", v.0), |s| s.to_string())
        },
        e,
    )
}

fn leaves_of(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Array(array) => array.elems.iter().for_each(|x| leaves_of(x, out)),
        Value::Record(fields) => fields.iter().for_each(|x| leaves_of(x, out)),
        scalar => out.push(scalar.as_f64().expect("a number")),
    }
}

fn vars(ir: &mut Ir) -> [ExprId; 3] {
    [0, 1, 2].map(|k| ir.var(VarId(k), Base::Real))
}

fn local(ir: &mut Ir, name: &str, ty: Type) -> (LocalId, ExprId) {
    let ty = ir.intern_type(ty);
    let id = ir.locals.push(Local {
        name: Name::new(name),
        ty,
        dims: vec![],
        default: None,
        span: span(),
        unit: None,
    });
    (id, ir.add(Expr::Local(id), ty))
}

fn stmt(kind: StatementKind) -> Statement {
    Statement { kind, span: span() }
}

fn assign(target: LocalId, value: ExprId) -> Statement {
    stmt(StatementKind::Assign {
        target: Target {
            place: Place::Local(target),
            access: vec![],
        },
        value,
    })
}

fn assign_at(target: LocalId, index: ExprId, value: ExprId) -> Statement {
    let access = vec![Access::Index(Box::new([Sub::At(index)]))];
    stmt(StatementKind::Assign {
        target: Target {
            place: Place::Local(target),
            access,
        },
        value,
    })
}

fn function(
    ir: &mut Ir,
    name: &str,
    inputs: &[LocalId],
    outputs: &[LocalId],
    protected: &[LocalId],
    body: Vec<Statement>,
) -> FuncId {
    ir.functions.push(Function {
        name: Name::new(name),
        span: span(),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        protected: protected.to_vec(),
        body: FunctionBody::Algorithm(body),
        inline: Inline::Unstated,
        impure: false,
        derivatives: vec![],
    })
}

fn real() -> Type {
    Type::scalar(Base::Real)
}

fn unknown_vector() -> Type {
    Type {
        base: Base::Real,
        dims: vec![Dim::Unknown],
    }
}

fn call(ir: &mut Ir, function: FuncId, args: &[ExprId], ty: Type) -> ExprId {
    ir.add_typed(
        Expr::Call {
            function,
            args: args.into(),
        },
        ty,
    )
}

/// `y = sum(c[i]*x^(i-1))` by a loop from the end; with a branch on `x`.
fn polynomial(ir: &mut Ir) -> FuncId {
    let (x, xe) = local(ir, "x", real());
    let (c, ce) = local(ir, "c", unknown_vector());
    let (y, ye) = local(ir, "y", real());
    let (i, ie) = local(ir, "i", Type::scalar(Base::Integer));
    let one = ir.integer(1);
    let minus_one = ir.integer(-1);
    let n = ir.add_scalar(
        Expr::Builtin(Builtin::Size, Box::new([ce, one])),
        Base::Integer,
    );
    let range = ir.add_typed(
        Expr::Range {
            start: n,
            step: Some(minus_one),
            stop: one,
        },
        Type {
            base: Base::Integer,
            dims: vec![Dim::Unknown],
        },
    );
    let ci = ir.add_scalar(
        Expr::Index {
            base: ce,
            subs: Box::new([Sub::At(ie)]),
        },
        Base::Real,
    );
    let product = ir.add_scalar(Expr::Binary(BinaryOp::Mul, ye, xe), Base::Real);
    let sum = ir.add_scalar(Expr::Binary(BinaryOp::Add, product, ci), Base::Real);
    let zero = ir.integer(0);
    let negative = ir.add_scalar(Expr::Binary(BinaryOp::Lt, xe, zero), Base::Boolean);
    let minus = ir.add_scalar(Expr::Unary(UnaryOp::Neg, ye), Base::Real);
    let body = vec![
        assign(y, zero),
        stmt(StatementKind::For {
            iter: i,
            range,
            body: vec![assign(y, sum)],
        }),
        stmt(StatementKind::If {
            branches: vec![(negative, vec![assign(y, minus)])],
            otherwise: vec![],
        }),
    ];
    function(ir, "polynomial", &[x, c], &[y], &[], body)
}

/// `y[i] = x*i + (if i > 1 then y[i-1] else 0)`, an array output of size n, and the number of passes.
fn running(ir: &mut Ir) -> FuncId {
    let (x, xe) = local(ir, "x", real());
    let (n, ne) = local(ir, "n", Type::scalar(Base::Integer));
    let (y, ye) = local(ir, "y", unknown_vector());
    let (k, ke) = local(ir, "k", Type::scalar(Base::Integer));
    ir.locals[y].dims = vec![Some(ne)];
    let zero = ir.integer(0);
    let one = ir.integer(1);
    ir.locals[k].default = Some(zero);
    let next = ir.add_scalar(Expr::Binary(BinaryOp::Add, ke, one), Base::Integer);
    let product = ir.add_scalar(Expr::Binary(BinaryOp::Mul, xe, ke), Base::Real);
    let before = ir.add_scalar(Expr::Binary(BinaryOp::Sub, ke, one), Base::Integer);
    let previous = ir.add_scalar(
        Expr::Index {
            base: ye,
            subs: Box::new([Sub::At(before)]),
        },
        Base::Real,
    );
    let first = ir.add_scalar(Expr::Binary(BinaryOp::Gt, ke, one), Base::Boolean);
    let old = ir.add_scalar(Expr::If(first, previous, zero), Base::Real);
    let sum = ir.add_scalar(Expr::Binary(BinaryOp::Add, product, old), Base::Real);
    let condition = ir.add_scalar(Expr::Binary(BinaryOp::Lt, ke, ne), Base::Boolean);
    let body = vec![stmt(StatementKind::While {
        condition,
        body: vec![assign(k, next), assign_at(y, ke, sum)],
    })];
    function(ir, "running", &[x, n], &[y, k], &[], body)
}

// ---- folding ---------------------------------------------------------------------------------------------------

#[test]
fn identities_fold() {
    let mut ir = Ir::default();
    let [x, y, _] = vars(&mut ir);
    let zero = ir.real(0.0);
    let one = ir.real(1.0);
    let yes = ir.boolean(true);
    let checks = [
        (ir.add_(x, zero), "x"),
        (ir.mul(x, zero), "0.0"),
        (ir.mul(one, x), "x"),
        (ir.div(x, one), "x"),
        (ir.sub(x, x), "0.0"),
        (ir.if_(yes, x, y), "x"),
        (ir.pow(x, one), "x"),
        (ir.pow(x, zero), "1.0"),
    ];
    for (e, expected) in checks {
        assert_eq!(text(&ir, e), expected);
    }
    let minus = ir.neg(x);
    let twice = ir.neg(minus);
    assert_eq!(twice, x);
    let difference = ir.add_(y, minus);
    assert_eq!(text(&ir, difference), "y - x");
    let relation = ir.binary(BinaryOp::Lt, x, y);
    let not = ir.not(relation);
    let back = ir.not(not);
    assert_eq!(back, relation);
    let swapped = ir.if_(not, x, y);
    assert_eq!(text(&ir, swapped), "if x < y then y else x");
    let both = ir.and(relation, relation);
    assert_eq!(both, relation);
}

#[test]
fn what_is_outside_the_domain_is_not_folded() {
    let mut ir = Ir::default();
    let zero = ir.real(0.0);
    let one = ir.real(1.0);
    let quotient = ir.div(one, zero);
    assert_eq!(text(&ir, quotient), "1.0/0.0");
    let minus = ir.real(-1.0);
    let root = ir.call_builtin(Builtin::Sqrt, &[minus]);
    assert_eq!(text(&ir, root), "sqrt(-1.0)");
    let error = eval::eval(&ir, root, &mut NoEnv, &mut NoExternals).expect_err("no root");
    assert!(matches!(*error.kind, EvalErrorKind::Domain(_)));
}

#[test]
fn integers_stay_integers() {
    let mut ir = Ir::default();
    let (two, three) = (ir.integer(2), ir.integer(3));
    let sum = ir.add_(two, three);
    assert_eq!(*ir.expr(sum), Expr::Integer(5));
    let quotient = ir.div(three, two);
    assert_eq!(text(&ir, quotient), "1.5");
    let power = ir.pow(two, three);
    assert_eq!(ir.base(power), Base::Real);
    let huge = ir.integer(i64::MAX);
    let overflow = ir.add_(huge, huge);
    assert!(matches!(ir.expr(overflow), Expr::Binary(..)));
}

#[test]
fn substitution_reaches_arrays_of_variables() {
    let mut ir = Ir::default();
    let array = ir.add_typed(Expr::VarArray(VarId(0)), Type::array(Base::Real, &[3]));
    let sum = ir.add_scalar(Expr::Builtin(Builtin::Sum, Box::new([array])), Base::Real);
    let seven = ir.real(7.0);
    let new = ir.substitute(sum, &mut |v| (v == VarId(1)).then_some(seven));
    assert_eq!(text(&ir, new), "sum({x, 7.0, z})");
    assert_eq!(ir.variables_of(new), vec![VarId(0), VarId(2)]);
    assert!(ir.depends_on(sum, VarId(1)) && !ir.depends_on(new, VarId(1)));
}

#[test]
fn linear_equations_are_solved() {
    let mut ir = Ir::default();
    let [x, y, z] = vars(&mut ir);
    // 2*x + (if y < z then x else y) = z
    let two = ir.real(2.0);
    let product = ir.mul(two, x);
    let relation = ir.binary(BinaryOp::Lt, y, z);
    let choice = ir.if_(relation, x, y);
    let lhs = ir.add_(product, choice);
    let solution = ir.solve_for(lhs, z, VarId(0)).expect("linear");
    assert_eq!(
        text(&ir, solution.divisor),
        "2.0 + (if y < z then 1.0 else 0.0)"
    );
    let at = [0.0, 1.0, 4.0];
    let x_value = number(&ir, solution.value, &at);
    assert_eq!(x_value, 4.0 / 3.0);
    let square = ir.mul(x, x);
    assert_eq!(ir.solve_for(square, z, VarId(0)), None);
    assert_eq!(ir.solve_for(x, x, VarId(0)), None);
}

// ---- random scalar expressions ---------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Tree {
    Const(f64),
    Var(u32),
    Neg(Box<Tree>),
    Sin(Box<Tree>),
    /// `sqrt(1 + x²)`
    Root(Box<Tree>),
    /// `exp(sin(x))`
    Exp(Box<Tree>),
    Atan(Box<Tree>),
    Abs(Box<Tree>),
    Quiet(Box<Tree>),
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Mul(Box<Tree>, Box<Tree>),
    /// `a / (1 + b²)`
    Div(Box<Tree>, Box<Tree>),
    /// `(1 + a²) ^ b`, with b through sin
    Pow(Box<Tree>, Box<Tree>),
    Max(Box<Tree>, Box<Tree>),
    If(Box<Tree>, Box<Tree>, Box<Tree>),
}

fn tree(kinks: bool) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(2.0), -3.0..3.0].prop_map(Tree::Const),
        (0u32..3).prop_map(Tree::Var),
    ];
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let one = inner.clone().prop_map(Box::new);
        let two = (inner.clone().prop_map(Box::new), inner.prop_map(Box::new));
        let smooth = prop_oneof![
            one.clone().prop_map(Tree::Neg),
            one.clone().prop_map(Tree::Sin),
            one.clone().prop_map(Tree::Root),
            one.clone().prop_map(Tree::Exp),
            one.clone().prop_map(Tree::Atan),
            one.clone().prop_map(Tree::Quiet),
            two.clone().prop_map(|(a, b)| Tree::Add(a, b)),
            two.clone().prop_map(|(a, b)| Tree::Sub(a, b)),
            two.clone().prop_map(|(a, b)| Tree::Mul(a, b)),
            two.clone().prop_map(|(a, b)| Tree::Div(a, b)),
            two.clone().prop_map(|(a, b)| Tree::Pow(a, b)),
        ];
        if kinks {
            prop_oneof![
                4 => smooth,
                1 => one.clone().prop_map(Tree::Abs),
                1 => two.clone().prop_map(|(a, b)| Tree::Max(a, b)),
                1 => (one.clone(), two).prop_map(|(c, (a, b))| Tree::If(c, a, b)),
            ]
            .boxed()
        } else {
            smooth.boxed()
        }
    })
}

/// Without folding.
fn raw(ir: &mut Ir, t: &Tree) -> ExprId {
    let builtin = |ir: &mut Ir, op, args: &[ExprId]| {
        ir.add_scalar(Expr::Builtin(op, args.into()), Base::Real)
    };
    let binary = |ir: &mut Ir, op, a, b| ir.add_scalar(Expr::Binary(op, a, b), Base::Real);
    let one_plus_square = |ir: &mut Ir, x: ExprId| {
        let one = ir.real(1.0);
        let square = ir.add_scalar(Expr::Binary(BinaryOp::Mul, x, x), Base::Real);
        ir.add_scalar(Expr::Binary(BinaryOp::Add, one, square), Base::Real)
    };
    match t {
        Tree::Const(c) => ir.real(*c),
        Tree::Var(v) => ir.var(VarId(*v), Base::Real),
        Tree::Neg(a) => {
            let a = raw(ir, a);
            ir.add_scalar(Expr::Unary(UnaryOp::Neg, a), Base::Real)
        }
        Tree::Sin(a) => {
            let a = raw(ir, a);
            builtin(ir, Builtin::Sin, &[a])
        }
        Tree::Atan(a) => {
            let a = raw(ir, a);
            builtin(ir, Builtin::Atan, &[a])
        }
        Tree::Abs(a) => {
            let a = raw(ir, a);
            builtin(ir, Builtin::Abs, &[a])
        }
        Tree::Quiet(a) => {
            let a = raw(ir, a);
            builtin(ir, Builtin::NoEvent, &[a])
        }
        Tree::Root(a) => {
            let a = raw(ir, a);
            let inner = one_plus_square(ir, a);
            builtin(ir, Builtin::Sqrt, &[inner])
        }
        Tree::Exp(a) => {
            let a = raw(ir, a);
            let inner = builtin(ir, Builtin::Sin, &[a]);
            builtin(ir, Builtin::Exp, &[inner])
        }
        Tree::Add(a, b) | Tree::Sub(a, b) | Tree::Mul(a, b) => {
            let op = match t {
                Tree::Add(..) => BinaryOp::Add,
                Tree::Sub(..) => BinaryOp::Sub,
                _ => BinaryOp::Mul,
            };
            let (a, b) = (raw(ir, a), raw(ir, b));
            binary(ir, op, a, b)
        }
        Tree::Div(a, b) => {
            let (a, b) = (raw(ir, a), raw(ir, b));
            let denominator = one_plus_square(ir, b);
            binary(ir, BinaryOp::Div, a, denominator)
        }
        Tree::Pow(a, b) => {
            let (a, b) = (raw(ir, a), raw(ir, b));
            let base = one_plus_square(ir, a);
            let exponent = builtin(ir, Builtin::Sin, &[b]);
            binary(ir, BinaryOp::Pow, base, exponent)
        }
        Tree::Max(a, b) => {
            let (a, b) = (raw(ir, a), raw(ir, b));
            builtin(ir, Builtin::Max, &[a, b])
        }
        Tree::If(c, a, b) => {
            let (c, a, b) = (raw(ir, c), raw(ir, a), raw(ir, b));
            let zero = ir.real(0.0);
            let condition = ir.add_scalar(Expr::Binary(BinaryOp::Gt, c, zero), Base::Boolean);
            ir.add_scalar(Expr::If(condition, a, b), Base::Real)
        }
    }
}

/// Relative to the larger of 1 and the values.
fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0) || (a.is_nan() && b.is_nan())
}

/// Folding reorders nothing but signs, so values agree to rounding.
const FOLDED: f64 = 1e-12;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simplify_and_scalarize_keep_the_value(t in tree(true), x in prop::array::uniform3(-2.0..2.0)) {
        let mut ir = Ir::default();
        let e = raw(&mut ir, &t);
        let expected = number(&ir, e, &x);
        prop_assume!(expected.is_finite() && expected.abs() < 1e100);
        let simple = ir.simplify(e);
        let got = number(&ir, simple, &x);
        prop_assert!(close(expected, got, FOLDED), "{} -> {}: {expected} {got}", text(&ir, e), text(&ir, simple));
        prop_assert_eq!(ir.simplify(simple), simple);
        let leaves = scalarize(&mut ir, e).expect("scalar");
        prop_assert!(close(expected, number(&ir, leaves[0], &x), FOLDED));
    }

    #[test]
    fn partial_derivatives_match_differences(t in tree(false), x in prop::array::uniform3(-2.0..2.0)) {
        let mut ir = Ir::default();
        let e = raw(&mut ir, &t);
        let d = partial(&mut ir, e, VarId(0)).expect("differentiable");
        let got = number(&ir, d, &x);
        // Central difference: error h²·f''' / 6 and rounding ε·f / h, both small against 1e-5 for tame values.
        let h = 1e-5;
        let at = |dx: f64| number(&ir, e, &[x[0] + dx, x[1], x[2]]);
        let expected = (at(h) - at(-h)) / (2.0 * h);
        let coarse = (at(2.0 * h) - at(-2.0 * h)) / (4.0 * h);
        prop_assume!(expected.is_finite() && at(0.0).abs() < 1e3 && close(expected, coarse, 1e-6));
        prop_assert!(close(expected, got, 1e-4), "d {} = {}: {expected} {got}", text(&ir, e), text(&ir, d));
    }

    #[test]
    fn linear_coefficients_reproduce_the_expression(t in tree(true), x in prop::array::uniform3(-2.0..2.0)) {
        let mut ir = Ir::default();
        let e = raw(&mut ir, &t);
        let expected = number(&ir, e, &x);
        prop_assume!(expected.is_finite() && expected.abs() < 1e6);
        if let Some((a, b)) = ir.linear_coefficients(e, VarId(0)) {
            prop_assert!(!ir.depends_on(a, VarId(0)) && !ir.depends_on(b, VarId(0)));
            let scale = number(&ir, a, &x).abs().max(number(&ir, b, &x).abs()).max(1.0);
            let got = number(&ir, a, &x) * x[0] + number(&ir, b, &x);
            prop_assert!((expected - got).abs() <= 1e-9 * scale, "{}: {expected} {got}", text(&ir, e));
        }
    }

    #[test]
    fn inlined_functions_give_the_value_of_the_call(x in prop::array::uniform3(-2.0..2.0)) {
        let mut ir = Ir::default();
        let f = polynomial(&mut ir);
        let [a, b, c] = vars(&mut ir);
        let coefficients = ir.add_typed(Expr::Array(Box::new([a, b, c, a])), Type::array(Base::Real, &[4]));
        let node = call(&mut ir, f, &[c, coefficients], real());
        let expected = number(&ir, node, &x);
        let outputs = inline_call(&mut ir, f, &[c, coefficients], InlineMode::Policy).expect("inlines");
        prop_assert!(close(expected, number(&ir, outputs[0].leaves[0], &x), FOLDED));
        // The derivative of the call is that of the inlined body.
        let d = partial(&mut ir, node, VarId(2)).expect("differentiable");
        let h = 1e-5;
        let at = |dx: f64| number(&ir, node, &[x[0], x[1], x[2] + dx]);
        prop_assume!(x[2].abs() > 2.0 * h);
        prop_assert!(close((at(h) - at(-h)) / (2.0 * h), number(&ir, d, &x), 1e-5));
    }
}

// ---- arrays ----------------------------------------------------------------------------------------------------

/// Arrays of 3 and 3×3 over 12 variables, by number.
fn array_expr(ir: &mut Ir, pick: &[u8], at: &mut usize, matrix: bool, depth: usize) -> ExprId {
    let next = pick.get(*at).copied().unwrap_or(0);
    *at += 1;
    let (vector_ty, matrix_ty) = (
        Type::array(Base::Real, &[3]),
        Type::array(Base::Real, &[3, 3]),
    );
    let ty = if matrix {
        matrix_ty.clone()
    } else {
        vector_ty.clone()
    };
    if depth == 0 {
        return if matrix {
            ir.add_typed(Expr::VarArray(VarId(3)), ty)
        } else {
            ir.add_typed(Expr::VarArray(VarId(0)), ty)
        };
    }
    let vector = |ir: &mut Ir, at: &mut usize| array_expr(ir, pick, at, false, depth - 1);
    let square = |ir: &mut Ir, at: &mut usize| array_expr(ir, pick, at, true, depth - 1);
    let expr = match (matrix, next % 8) {
        (false, 0) => {
            let (m, v) = (square(ir, at), vector(ir, at));
            Expr::Binary(BinaryOp::MatMul, m, v)
        }
        (false, 1) => {
            let (a, b) = (vector(ir, at), vector(ir, at));
            Expr::Builtin(Builtin::Cross, Box::new([a, b]))
        }
        (false, 2) => {
            let m = square(ir, at);
            let two = ir.integer(2);
            Expr::Index {
                base: m,
                subs: Box::new([Sub::All, Sub::At(two)]),
            }
        }
        (false, 3) => {
            let (a, b) = (vector(ir, at), vector(ir, at));
            let dot = ir.add_scalar(Expr::Binary(BinaryOp::MatMul, a, b), Base::Real);
            Expr::Binary(BinaryOp::Mul, dot, a)
        }
        (false, 4) => {
            let v = vector(ir, at);
            let (three, one) = (ir.integer(3), ir.integer(1));
            let minus = ir.integer(-1);
            let reverse = ir.add_typed(
                Expr::Range {
                    start: three,
                    step: Some(minus),
                    stop: one,
                },
                Type::array(Base::Integer, &[3]),
            );
            Expr::Index {
                base: v,
                subs: Box::new([Sub::At(reverse)]),
            }
        }
        (false, 5) => {
            let v = vector(ir, at);
            Expr::Builtin(Builtin::Sin, Box::new([v]))
        }
        (false, _) => {
            let (a, b) = (vector(ir, at), vector(ir, at));
            Expr::Binary(BinaryOp::Sub, a, b)
        }
        (true, 0) => {
            let (a, b) = (square(ir, at), square(ir, at));
            Expr::Binary(BinaryOp::MatMul, a, b)
        }
        (true, 1) => {
            let m = square(ir, at);
            Expr::Builtin(Builtin::Transpose, Box::new([m]))
        }
        (true, 2) => {
            let v = vector(ir, at);
            Expr::Builtin(Builtin::Skew, Box::new([v]))
        }
        (true, 3) => {
            let (a, b) = (vector(ir, at), vector(ir, at));
            Expr::Builtin(Builtin::OuterProduct, Box::new([a, b]))
        }
        (true, 4) => {
            let three = ir.integer(3);
            let identity = ir.add_typed(
                Expr::Builtin(Builtin::Identity, Box::new([three])),
                Type::array(Base::Integer, &[3, 3]),
            );
            let m = square(ir, at);
            Expr::Binary(BinaryOp::Add, identity, m)
        }
        (true, 5) => {
            let (v, w, u) = (vector(ir, at), vector(ir, at), vector(ir, at));
            let two = ir.integer(2);
            let row_ty = Type::array(Base::Real, &[3, 1]);
            let columns: Vec<ExprId> = [v, w, u]
                .iter()
                .map(|&x| {
                    ir.add_typed(
                        Expr::Builtin(Builtin::Promote, Box::new([x, two])),
                        row_ty.clone(),
                    )
                })
                .collect();
            Expr::Builtin(
                Builtin::Cat,
                Box::new([two, columns[0], columns[1], columns[2]]),
            )
        }
        (true, 6) => {
            let m = square(ir, at);
            let two = ir.integer(2);
            Expr::Binary(BinaryOp::MatPow, m, two)
        }
        (true, _) => {
            let v = vector(ir, at);
            Expr::Builtin(Builtin::Diagonal, Box::new([v]))
        }
    };
    ir.add_typed(expr, ty)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scalar_leaves_are_the_elements_of_the_value(
        pick in prop::collection::vec(any::<u8>(), 20),
        x in prop::array::uniform12(-2.0..2.0),
        matrix in any::<bool>(),
    ) {
        let mut ir = Ir::default();
        let e = array_expr(&mut ir, &pick, &mut 0, matrix, 3);
        let mut expected = Vec::new();
        leaves_of(&value(&ir, e, &x), &mut expected);
        let leaves = scalarize(&mut ir, e).expect("known sizes");
        prop_assert_eq!(leaves.len(), expected.len());
        let scale = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        for (leaf, want) in leaves.iter().zip(&expected) {
            prop_assert!((number(&ir, *leaf, &x) - want).abs() <= 1e-9 * scale);
        }
    }
}

#[test]
fn symbolic_subscripts_stay_one_node() {
    let mut ir = Ir::default();
    let i = ir.var(VarId(20), Base::Integer);
    let matrix = ir.add_typed(Expr::VarArray(VarId(0)), Type::array(Base::Real, &[2, 3]));
    let row = ir.add_typed(
        Expr::Index {
            base: matrix,
            subs: Box::new([Sub::At(i), Sub::All]),
        },
        Type::array(Base::Real, &[3]),
    );
    let leaves = scalarize(&mut ir, row).expect("known sizes");
    assert_eq!(
        leaves.iter().map(|&e| text(&ir, e)).collect::<Vec<_>>(),
        ["{x, u}[x20]", "{y, v}[x20]", "{z, w}[x20]"]
    );
    let four = ir.integer(4);
    let outside = ir.add_scalar(
        Expr::Index {
            base: row,
            subs: Box::new([Sub::At(four)]),
        },
        Base::Real,
    );
    assert_eq!(
        scalarize(&mut ir, outside),
        Err(ScalarError::IndexOutOfRange { index: 4, size: 3 })
    );
}

#[test]
fn records_and_their_fields_are_leaves() {
    let mut ir = Ir::default();
    let real_ty = ir.intern_type(real());
    let vector_ty = ir.intern_type(Type::array(Base::Real, &[2]));
    let field = |name: &str, ty| RecordField {
        name: Name::new(name),
        ty,
    };
    let record = ir.records.push(RecordType {
        name: Name::new("R"),
        fields: vec![field("a", real_ty), field("b", vector_ty)],
        span: span(),
    });
    let [x, y, z] = vars(&mut ir);
    let b = ir.add(Expr::Array(Box::new([y, z])), vector_ty);
    let r = ir.add_scalar(
        Expr::Record {
            record,
            fields: Box::new([x, b]),
        },
        Base::Record(record),
    );
    let array = ir.add_typed(
        Expr::Array(Box::new([r, r])),
        Type::array(Base::Record(record), &[2]),
    );
    let b_of_all = ir.add_typed(
        Expr::Field {
            base: array,
            index: 1,
        },
        Type::array(Base::Real, &[2, 2]),
    );
    let shaped = scalarize_shaped(&mut ir, b_of_all).expect("known sizes");
    assert_eq!(shaped.dims, [2, 2]);
    assert_eq!(shaped.leaves, [y, z, y, z]);
    let mut values = Vec::new();
    leaves_of(&value(&ir, b_of_all, &[1.0, 2.0, 3.0]), &mut values);
    assert_eq!(values, [2.0, 3.0, 2.0, 3.0]);
    let ty = ir.type_id(array);
    let leaves = scalarize(&mut ir, array).expect("known sizes");
    assert_eq!(
        ir.rebuild_from_leaves(ty, &leaves)
            .map(|e| text(&ir, e))
            .as_deref(),
        Some("{R(x, {y, z}), R(x, {y, z})}")
    );
}

#[test]
fn array_valued_calls_are_one_node_read_by_leaves() {
    let mut ir = Ir::default();
    let f = running(&mut ir);
    let [x, ..] = vars(&mut ir);
    let n = ir.var(VarId(1), Base::Integer);
    let three = ir.integer(3);
    // The loop ends by a constant: expanded when forced.
    let expanded =
        inline_call(&mut ir, f, &[x, three], InlineMode::Policy).expect("constant bound");
    assert_eq!(
        expanded[0]
            .leaves
            .iter()
            .map(|&e| text(&ir, e))
            .collect::<Vec<_>>(),
        ["x", "x*2 + x", "x*3 + (x*2 + x)"]
    );
    assert_eq!(text(&ir, expanded[1].leaves[0]), "3");
    // By policy it is kept, with the size that follows from the argument.
    let node = call(&mut ir, f, &[x, three], unknown_vector());
    let shaped = scalarize_shaped(&mut ir, node).expect("known size");
    assert_eq!(
        shaped
            .leaves
            .iter()
            .map(|&e| text(&ir, e))
            .collect::<Vec<_>>(),
        ["running(x, 3)[1]", "running(x, 3)[2]", "running(x, 3)[3]"]
    );
    assert_eq!(number(&ir, shaped.leaves[2], &[2.0]), 12.0);
    let passes = ir.add_scalar(
        Expr::Output {
            call: node,
            index: 1,
        },
        Base::Integer,
    );
    let leaf = scalarize(&mut ir, passes).expect("scalar")[0];
    assert_eq!(text(&ir, leaf), "running(x, 3)#2");
    assert_eq!(number(&ir, leaf, &[2.0]), 3.0);
    // An unknown size is an error, not a guess.
    let unknown = call(&mut ir, f, &[x, n], unknown_vector());
    assert!(matches!(
        scalarize(&mut ir, unknown),
        Err(ScalarError::UnknownSize(_))
    ));
    // Constant arguments are evaluated.
    let two = ir.real(2.0);
    let constant = call(&mut ir, f, &[two, three], unknown_vector());
    let leaves = scalarize(&mut ir, constant).expect("constant");
    assert_eq!(
        leaves.iter().map(|&e| text(&ir, e)).collect::<Vec<_>>(),
        ["2.0", "6.0", "12.0"]
    );
}

#[test]
fn relations_of_inlined_functions_make_no_events() {
    let mut ir = Ir::default();
    let (u, ue) = local(&mut ir, "u", real());
    let (y, _) = local(&mut ir, "y", real());
    let zero = ir.real(0.0);
    let positive = ir.add_scalar(Expr::Binary(BinaryOp::Gt, ue, zero), Base::Boolean);
    let choice = ir.add_scalar(Expr::If(positive, ue, zero), Base::Real);
    let f = function(
        &mut ir,
        "positive",
        &[u],
        &[y],
        &[],
        vec![assign(y, choice)],
    );
    let [x, ..] = vars(&mut ir);
    let node = call(&mut ir, f, &[x], real());
    let leaf = scalarize(&mut ir, node).expect("scalar")[0];
    assert_eq!(text(&ir, leaf), "if noEvent(x > 0.0) then x else 0.0");
    assert!(!ir.makes_events(leaf));
    ir.functions[f].inline = Inline::Never;
    let leaf = scalarize(&mut ir, node).expect("scalar")[0];
    assert_eq!(text(&ir, leaf), "positive(x)");
}

#[test]
fn functions_with_asserts_are_kept_and_check_at_run_time() {
    let mut ir = Ir::default();
    let (u, ue) = local(&mut ir, "u", real());
    let (y, _) = local(&mut ir, "y", real());
    let zero = ir.real(0.0);
    let condition = ir.add_scalar(Expr::Binary(BinaryOp::Gt, ue, zero), Base::Boolean);
    let message = ir.string("u must be positive");
    let root = ir.add_scalar(Expr::Builtin(Builtin::Sqrt, Box::new([ue])), Base::Real);
    let check = stmt(StatementKind::Assert {
        condition,
        message,
        level: AssertLevel::Error,
    });
    let f = function(
        &mut ir,
        "root",
        &[u],
        &[y],
        &[],
        vec![check, assign(y, root)],
    );
    ir.functions[f].inline = Inline::Always;
    let [x, ..] = vars(&mut ir);
    let node = call(&mut ir, f, &[x], real());
    let leaf = scalarize(&mut ir, node).expect("scalar")[0];
    assert_eq!(text(&ir, leaf), "root(x)");
    assert_eq!(number(&ir, leaf, &[4.0]), 2.0);
    let error =
        eval::eval(&ir, leaf, &mut Values(&[-1.0]), &mut NoExternals).expect_err("assertion");
    assert_eq!(
        *error.kind,
        EvalErrorKind::AssertFailed {
            message: "u must be positive".into(),
            values: vec!["u = -1".into()],
        }
    );
    assert_eq!(error.span, Some(span()));
    assert_eq!(error.function, Some(f));
    let d = partial(&mut ir, leaf, VarId(0)).expect("by inlining");
    assert_eq!(text(&ir, d), "1.0/(2.0*sqrt(x))");
}

#[test]
fn functions_are_values() {
    let mut ir = Ir::default();
    let (u, ue) = local(&mut ir, "u", real());
    let (k, ke) = local(&mut ir, "k", real());
    let (y, _) = local(&mut ir, "y", real());
    let product = ir.add_scalar(Expr::Binary(BinaryOp::Mul, ue, ke), Base::Real);
    let gain = function(
        &mut ir,
        "gain",
        &[u, k],
        &[y],
        &[],
        vec![assign(y, product)],
    );
    // apply(f, x) = f(f(x))
    let (f, _) = local(&mut ir, "f", Type::scalar(Base::Function));
    let (x, xe) = local(&mut ir, "x", real());
    let (r, _) = local(&mut ir, "r", real());
    let (fu, _) = local(&mut ir, "u", real());
    let (fy, _) = local(&mut ir, "y", real());
    let argument = function(&mut ir, "f", &[fu], &[fy], &[], vec![]);
    ir.functions[argument].body = FunctionBody::Argument(f);
    let inner = call(&mut ir, argument, &[xe], real());
    let outer = call(&mut ir, argument, &[inner], real());
    let apply = function(&mut ir, "apply", &[f, x], &[r], &[], vec![assign(r, outer)]);
    let [a, b, _] = vars(&mut ir);
    let bound = ir.add_scalar(
        Expr::Function {
            function: gain,
            bound: Box::new([(1, b)]),
        },
        Base::Function,
    );
    let node = call(&mut ir, apply, &[bound, a], real());
    assert_eq!(number(&ir, node, &[5.0, 3.0]), 45.0);
    let leaf = scalarize(&mut ir, node).expect("inlined")[0];
    assert_eq!(text(&ir, leaf), "x*y*y");
}

#[test]
fn endless_recursion_and_loops_are_errors() {
    let mut ir = Ir::default();
    let (u, ue) = local(&mut ir, "u", real());
    let (y, _) = local(&mut ir, "y", real());
    let f = function(&mut ir, "f", &[u], &[y], &[], vec![]);
    let again = call(&mut ir, f, &[ue], real());
    ir.functions[f].body = FunctionBody::Algorithm(vec![assign(y, again)]);
    let [x, ..] = vars(&mut ir);
    let node = call(&mut ir, f, &[x], real());
    let error = eval::eval(&ir, node, &mut Values(&[1.0]), &mut NoExternals).expect_err("endless");
    assert_eq!(*error.kind, EvalErrorKind::TooDeep);
    assert_eq!(
        inline_call(&mut ir, f, &[x], InlineMode::Everything)
            .map(|o| text(&ir, o[0].leaves[0]))
            .as_deref(),
        Ok("f(x)")
    );
    assert!(matches!(
        partial(&mut ir, node, VarId(0)),
        Err(DiffError::TooDeep | DiffError::Function { .. })
    ));
}

#[test]
fn deep_sums_need_no_deep_stack() {
    let mut ir = Ir::default();
    let [x, ..] = vars(&mut ir);
    let mut sum = x;
    for k in 0..20_000 {
        let term = ir.real(f64::from(k) + 0.5);
        sum = ir.add_scalar(Expr::Binary(BinaryOp::Add, sum, term), Base::Real);
    }
    let expected = number(&ir, sum, &[1.0]);
    let leaf = scalarize(&mut ir, sum).expect("scalar")[0];
    assert_eq!(number(&ir, leaf, &[1.0]), expected);
    let d = partial(&mut ir, leaf, VarId(0)).expect("differentiable");
    assert_eq!(text(&ir, d), "1.0");
    // Deep to the right: an error, not an overflow.
    let mut deep = x;
    for _ in 0..20_000 {
        deep = ir.add_scalar(Expr::Builtin(Builtin::Sin, Box::new([deep])), Base::Real);
    }
    let error = eval::eval(&ir, deep, &mut Values(&[1.0]), &mut NoExternals).expect_err("too deep");
    assert_eq!(*error.kind, EvalErrorKind::TooDeep);
    assert_eq!(scalarize(&mut ir, deep), Err(ScalarError::TooDeep));
    assert!(text(&ir, deep).len() < 2000);
}

#[test]
fn shared_nodes_are_evaluated_once() {
    let mut ir = Ir::default();
    let [x, ..] = vars(&mut ir);
    let mut e = x;
    let half = ir.real(0.5);
    for _ in 0..200 {
        let sum = ir.add_(e, e);
        e = ir.mul(half, sum);
        e = ir.call_builtin(Builtin::Sin, &[e]);
    }
    // A tree of 2^200 nodes.
    assert!(number(&ir, e, &[1.0]).is_finite());
    assert!(ir.linear_coefficients(e, VarId(0)).is_none());
    partial(&mut ir, e, VarId(0)).expect("differentiable");
}

// ---- derivatives -----------------------------------------------------------------------------------------------

#[test]
fn total_derivative_follows_the_chain_rule() {
    let mut ir = Ir::default();
    let [x, y, p] = vars(&mut ir);
    let sine = ir.call_builtin(Builtin::Sin, &[x]);
    let product = ir.mul(sine, y);
    let time = ir.time();
    let scaled = ir.mul(p, time);
    let e = ir.add_(product, scaled);
    let d = total_derivative(&mut ir, e, |ir, v| {
        Some(if v == VarId(2) {
            ir.real(0.0)
        } else {
            let node = ir.var(v, Base::Real);
            ir.call_builtin(Builtin::Der, &[node])
        })
    });
    assert_eq!(
        d.map(|d| text(&ir, d)).as_deref(),
        Ok("cos(x)*der(x)*y + sin(x)*der(y) + z")
    );
    let missing = total_derivative(&mut ir, e, |_, _| None);
    assert!(matches!(missing, Err(DiffError::Variable(_))));
}

#[test]
fn derivative_annotations_are_used() {
    let mut ir = Ir::default();
    let zero = ir.real(0.0);
    // f(u, k, n) with derivative f_der(u, k, n, der_u), valid for constant k; second derivative f_der2.
    let make = |ir: &mut Ir, name: &str, reals: &[&str]| {
        let mut inputs: Vec<LocalId> = Vec::new();
        for r in reals {
            let ty = if *r == "n" {
                Type::scalar(Base::Integer)
            } else {
                real()
            };
            inputs.push(local(ir, r, ty).0);
        }
        let (y, _) = local(ir, "y", real());
        let f = function(ir, name, &inputs, &[y], &[], vec![assign(y, zero)]);
        ir.functions[f].inline = Inline::Never;
        f
    };
    let f = make(&mut ir, "f", &["u", "k", "n"]);
    let f1 = make(&mut ir, "f_der", &["u", "k", "n", "der_u"]);
    let f2 = make(&mut ir, "f_der2", &["u", "k", "n", "der_u", "der2_u"]);
    let rule = |function, order| DerivativeRule {
        function,
        order,
        no_derivative: vec![],
        zero_derivative: vec![1],
    };
    ir.functions[f].derivatives = vec![rule(f1, 1), rule(f2, 2)];
    let [x, y, _] = vars(&mut ir);
    let three = ir.integer(3);
    let two = ir.real(2.0);
    let der = |ir: &mut Ir, v: VarId| {
        let node = ir.var(v, Base::Real);
        Some(ir.call_builtin(Builtin::Der, &[node]))
    };
    let node = call(&mut ir, f, &[x, two, three], real());
    let first = total_derivative(&mut ir, node, der).expect("rule");
    assert_eq!(text(&ir, first), "f_der(x, 2.0, 3, der(x))");
    let second = total_derivative(&mut ir, first, der).expect("rule of order 2");
    assert_eq!(text(&ir, second), "f_der2(x, 2.0, 3, der(x), der(der(x)))");
    // k varies: the rule does not apply, and the body is differentiated.
    let other = call(&mut ir, f, &[x, y, three], real());
    let d = total_derivative(&mut ir, other, der).expect("by inlining");
    assert_eq!(text(&ir, d), "0.0");
    ir.functions[f].body = FunctionBody::Missing;
    assert!(
        matches!(total_derivative(&mut ir, other, der), Err(DiffError::Function { function, .. }) if function == f)
    );
}

// ---- algorithms ------------------------------------------------------------------------------------------------

fn variable(name: &str, base: Base, variability: Variability) -> Variable {
    Variable::new(Name::new(name), base, variability, span())
}

fn model() -> FlatModel {
    let mut variables = IdVec::default();
    for name in ["x", "y", "z", "a[1]", "a[2]", "a[3]"] {
        variables.push(variable(name, Base::Real, Variability::Continuous));
    }
    variables.push(variable("n", Base::Integer, Variability::Discrete));
    FlatModel {
        name: Name::new("M"),
        description: "a test".into(),
        span: span(),
        ir: Ir::default(),
        variables,
        equations: vec![],
        initial_equations: vec![],
        whens: vec![],
        algorithms: vec![],
        initial_algorithms: vec![],
        asserts: vec![],
        partitions: vec![],
        experiment: Experiment::default(),
    }
}

fn origin() -> Origin {
    Origin {
        span: span(),
        component: Name::new("c"),
    }
}

fn assign_var(model: &mut FlatModel, v: u32, value: ExprId) -> Statement {
    let ty = model.ir.scalar_type(model.variables[VarId(v)].base);
    stmt(StatementKind::Assign {
        target: Target {
            place: Place::Var {
                first: VarId(v),
                ty,
            },
            access: vec![],
        },
        value,
    })
}

#[test]
fn when_statements_become_edges() {
    let mut m = model();
    let [x, y, _] = vars(&mut m.ir);
    let n = m.ir.var(VarId(6), Base::Integer);
    let zero = m.ir.real(0.0);
    let (one, five) = (m.ir.integer(1), m.ir.integer(5));
    let condition = m.ir.binary(BinaryOp::Gt, x, zero);
    let next = m.ir.add_(n, one);
    let full = m.ir.binary(BinaryOp::Ge, n, five);
    let message = m.ir.string("full");
    let double = m.ir.add_(y, y);
    let count = assign_var(&mut m, 6, next);
    let terminate = stmt(StatementKind::Terminate { message });
    let stop = stmt(StatementKind::If {
        branches: vec![(full, vec![terminate])],
        otherwise: vec![],
    });
    let when = stmt(StatementKind::When {
        branches: vec![(vec![condition], vec![count, stop])],
    });
    let last = assign_var(&mut m, 2, double);
    let algorithm = Algorithm {
        statements: vec![when, last],
        outputs: vec![VarId(6), VarId(2)],
        origin: origin(),
    };
    let result = algorithm_to_equations(&mut m.ir, &m.variables, &algorithm, Section::Normal)
        .expect("symbolic");
    let show = |e| m.text(e);
    assert_eq!(
        result
            .equations
            .iter()
            .map(|&(v, e)| (v.0, show(e)))
            .collect::<Vec<_>>(),
        [
            (
                6,
                "if not initial() and edge(x > 0.0) then pre(n) + 1 else pre(n)".to_owned()
            ),
            (2, "y + y".to_owned()),
        ]
    );
    assert_eq!(result.actions.len(), 1);
    assert_eq!(
        show(result.actions[0].guard),
        "not initial() and edge(x > 0.0) and pre(n) + 1 >= 5"
    );
    assert!(matches!(
        result.actions[0].action,
        WhenAction::Terminate { .. }
    ));
}

#[test]
fn algorithms_with_loops_over_variables_become_one_call() {
    let mut m = model();
    let [x, y, _] = vars(&mut m.ir);
    // y := 1; while y < x loop y := 2*y; a[n] := y; end while;
    let one = m.ir.real(1.0);
    let two = m.ir.real(2.0);
    let n = m.ir.var(VarId(6), Base::Integer);
    let condition = m.ir.binary(BinaryOp::Lt, y, x);
    let double = m.ir.mul(two, y);
    let array_ty = m.ir.intern_type(Type::array(Base::Real, &[3]));
    let access = vec![Access::Index(Box::new([Sub::At(n)]))];
    let element = stmt(StatementKind::Assign {
        target: Target {
            place: Place::Var {
                first: VarId(3),
                ty: array_ty,
            },
            access,
        },
        value: y,
    });
    let start = assign_var(&mut m, 1, one);
    let step = assign_var(&mut m, 1, double);
    let body = vec![
        start,
        stmt(StatementKind::While {
            condition,
            body: vec![step, element],
        }),
    ];
    let outputs = vec![VarId(1), VarId(3), VarId(4), VarId(5)];
    let algorithm = Algorithm {
        statements: body,
        outputs,
        origin: origin(),
    };
    let result = algorithm_to_equations(&mut m.ir, &m.variables, &algorithm, Section::Normal)
        .expect("a call");
    struct At;
    impl Env for At {
        fn var(&mut self, v: VarId) -> Option<Value> {
            match v.0 {
                0 => Some(Value::Real(10.0)),
                6 => Some(Value::Integer(2)),
                _ => None,
            }
        }
    }
    let values: Vec<f64> = result
        .equations
        .iter()
        .map(|&(_, e)| {
            eval::eval(&m.ir, e, &mut At, &mut NoExternals)
                .expect("a value")
                .as_f64()
                .expect("a number")
        })
        .collect();
    assert_eq!(values, [16.0, 0.0, 16.0, 0.0]);
}

// ---- text and invariants ---------------------------------------------------------------------------------------

#[test]
fn flat_models_are_printed_and_verified() {
    let mut m = model();
    let [x, y, _] = vars(&mut m.ir);
    let der = m.ir.call_builtin(Builtin::Der, &[x]);
    let two = m.ir.real(2.0);
    let start = m.ir.real(1.0);
    m.variables[VarId(0)].start = Some(start);
    m.variables[VarId(0)].unit = Some(Name::new("m"));
    m.variables[VarId(2)].variability = Variability::Parameter;
    m.variables[VarId(2)].binding = Some(two);
    let sum = m.ir.add_(x, y);
    let product = m.ir.mul(two, sum);
    let rhs = m.ir.neg(product);
    m.equations.push(Equation {
        lhs: der,
        rhs,
        origin: origin(),
    });
    assert_eq!(verify(&m), vec![]);
    let expected = "\
class M \"a test\"
  Real x(start = 1.0, unit = \"m\");
  Real y;
  parameter Real z = 2.0;
  Real a[1];
  Real a[2];
  Real a[3];
  Integer n;
equation
  der(x) = -2.0*(x + y);
end M;
";
    assert_eq!(print_flat(&m), expected);
    // Broken on purpose.
    let array =
        m.ir.add_typed(Expr::VarArray(VarId(3)), Type::array(Base::Real, &[9]));
    let (_, l) = local(&mut m.ir, "l", real());
    m.equations.push(Equation {
        lhs: array,
        rhs: l,
        origin: origin(),
    });
    m.variables[VarId(1)].name = Name::new("x");
    let messages: Vec<String> = verify(&m).into_iter().map(|v| v.message).collect();
    assert_eq!(messages.len(), 4, "{messages:?}");
}

#[test]
fn parentheses_are_minimal() {
    let mut ir = Ir::default();
    let [x, y, z] = vars(&mut ir);
    let sum = ir.add_(y, z);
    let difference = ir.sub(x, sum);
    let quotient = ir.div(difference, sum);
    let power = ir.pow(quotient, x);
    let minus = ir.neg(power);
    assert_eq!(text(&ir, minus), "-((x - (y + z))/(y + z))^x");
    let relation = ir.binary(BinaryOp::Lt, x, y);
    let not = ir.not(relation);
    let other = ir.binary(BinaryOp::Ge, y, z);
    let either = ir.or(relation, other);
    let both = ir.and(not, either);
    assert_eq!(text(&ir, both), "not x < y and (x < y or y >= z)");
    let choice = ir.if_(both, x, y);
    let scaled = ir.mul(choice, z);
    assert_eq!(
        text(&ir, scaled),
        "(if not x < y and (x < y or y >= z) then x else y)*z"
    );
}

#[test]
fn strings_are_formatted_compared_and_joined() {
    let mut ir = Ir::default();
    let x = ir.real(1234567.0);
    let shown = ir.add_scalar(
        Expr::Builtin(Builtin::ToString, Box::new([x])),
        Base::String,
    );
    let prefix = ir.string("x = ");
    let joined = ir.add_scalar(Expr::Binary(BinaryOp::Add, prefix, shown), Base::String);
    let leaf = scalarize(&mut ir, joined).expect("scalar")[0];
    assert_eq!(text(&ir, leaf), "\"x = 1.23457e+06\"");
    assert_eq!(
        eval::eval(&ir, joined, &mut NoEnv, &mut NoExternals)
            .map(|v| v.as_str().map(str::to_owned)),
        Ok(Some("x = 1.23457e+06".into()))
    );
    let other = ir.string("y");
    let relation = ir.add_scalar(Expr::Binary(BinaryOp::Lt, prefix, other), Base::Boolean);
    assert_eq!(
        eval::eval(&ir, relation, &mut NoEnv, &mut NoExternals),
        Ok(Value::Boolean(true))
    );
}
