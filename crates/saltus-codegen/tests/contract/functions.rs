//! Functions: their code against the evaluator, and machine code against the interpreter, on random algorithms with loops,
//! branches, arrays and calls.

use crate::builder::{Builder, Run, origin, span};
use crate::native::{FUNCTIONS, Random, bits};
use saltus_codegen::Execution;
use saltus_ir::eval::{NoExternals, call_function};
use saltus_ir::func::{
    Access, AssertLevel, Function, FunctionBody, Inline, Local, Place, Statement, StatementKind,
    Target,
};
use saltus_ir::{
    Base, BinaryOp, Builtin, Expr, ExprId, FuncId, Ir, LocalId, Reduction, Sub, Type, UnaryOp,
    Value,
};
use saltus_model::{BlockId, Fault, Instance, ScheduleKind, Section, System, Values};
use saltus_structure::{Block, Coefficients, Role, Step};
use saltus_syntax::Name;

/// Random functions; `SALTUS_CASES` asks for more.
const CASES: u64 = 2000;
/// Points at which each is called.
const POINTS: usize = 5;
/// Elements of the array that every function has.
const N: i64 = 3;

/// What the statements of a function may use.
struct Scope {
    reals: Vec<LocalId>,
    outputs: Vec<LocalId>,
    /// An Integer input, and an Integer variable that counts.
    n: LocalId,
    count: LocalId,
    array: LocalId,
    iterators: Vec<LocalId>,
    callee: Option<FuncId>,
}

fn local(b: &mut Builder, name: &str, ty: Type, default: Option<ExprId>) -> LocalId {
    let ty = b.ir().intern_type(ty);
    b.ir().locals.push(Local {
        name: Name::new(name),
        ty,
        dims: Vec::new(),
        default,
        span: span(),
        unit: None,
    })
}

fn read(b: &mut Builder, l: LocalId) -> ExprId {
    let ty = b.ir().locals[l].ty;
    b.ir().add(Expr::Local(l), ty)
}

fn integer(b: &mut Builder, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
    b.ir().add_scalar(Expr::Binary(op, x, y), Base::Integer)
}

/// An Integer that is mostly in 1 .. N.
fn subscript(b: &mut Builder, r: &mut Random, s: &Scope) -> ExprId {
    match r.below(4) {
        0 if !s.iterators.is_empty() => read(b, s.iterators[r.below(s.iterators.len())]),
        1 => {
            let (k, n) = (read(b, s.count), b.ir().integer(N));
            let rest = b
                .ir()
                .add_scalar(Expr::Builtin(Builtin::Mod, Box::new([k, n])), Base::Integer);
            let one = b.ir().integer(1);
            integer(b, BinaryOp::Add, rest, one)
        }
        _ => {
            let k = 1 + r.below(N as usize) as i64;
            b.ir().integer(k)
        }
    }
}

/// Integer operations, as a Real.
fn whole(b: &mut Builder, r: &mut Random, s: &Scope) -> ExprId {
    let (n, k) = (read(b, s.n), read(b, s.count));
    let minus = b.ir().integer(-2);
    let product = integer(b, BinaryOp::Mul, n, minus);
    let e = match r.below(4) {
        0 => product,
        1 => integer(b, BinaryOp::Sub, product, k),
        2 => b
            .ir()
            .add_scalar(Expr::Unary(UnaryOp::Neg, n), Base::Integer),
        _ => {
            let three = b.ir().integer(3);
            let f = [Builtin::Div, Builtin::Mod, Builtin::Rem][r.below(3)];
            let args = Box::new([product, three]);
            b.ir().add_scalar(Expr::Builtin(f, args), Base::Integer)
        }
    };
    let one = b.number(1.0);
    b.binary(BinaryOp::Mul, e, one)
}

fn element(b: &mut Builder, r: &mut Random, s: &Scope) -> ExprId {
    let (base, at) = (read(b, s.array), subscript(b, r, s));
    let subs = Box::new([Sub::At(at)]);
    b.ir().add_scalar(Expr::Index { base, subs }, Base::Real)
}

fn expression(b: &mut Builder, r: &mut Random, s: &Scope, depth: usize) -> ExprId {
    if depth == 0 || r.below(6) == 0 {
        return match r.below(6) {
            0 => {
                let x = r.number();
                b.number(x)
            }
            1 => element(b, r, s),
            2 => {
                // The builder makes Reals; an Integer alone would make Integer operations of them.
                let (n, one) = (read(b, s.n), b.number(1.0));
                b.binary(BinaryOp::Mul, n, one)
            }
            3 => whole(b, r, s),
            _ => read(b, s.reals[r.below(s.reals.len())]),
        };
    }
    match r.below(11) {
        0..=4 => {
            let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div][r.below(4)];
            let x = expression(b, r, s, depth - 1);
            let y = expression(b, r, s, depth - 1);
            b.binary(op, x, y)
        }
        5 => {
            let x = expression(b, r, s, depth - 1);
            b.minus(x)
        }
        6 => {
            let x = expression(b, r, s, depth - 1);
            // What gives an Integer is left out: the builder makes Reals.
            b.fun(FUNCTIONS[2 + r.below(FUNCTIONS.len() - 5)], &[x])
        }
        7 => {
            let c = condition(b, r, s, depth - 1);
            let x = expression(b, r, s, depth - 1);
            let y = expression(b, r, s, depth - 1);
            b.ir().add_scalar(Expr::If(c, x, y), Base::Real)
        }
        8 => {
            let array = read(b, s.array);
            let f = [Builtin::Sum, Builtin::Max, Builtin::Min][r.below(3)];
            b.fun(f, &[array])
        }
        9 => {
            let iter = local(b, "k", Type::scalar(Base::Integer), None);
            let (start, stop) = (b.ir().integer(1), b.ir().integer(1 + r.below(3) as i64));
            let range = b.ir().add_typed(
                Expr::Range {
                    start,
                    step: None,
                    stop,
                },
                Type::array(Base::Integer, &[3]),
            );
            let (base, at) = (read(b, s.array), read(b, iter));
            let subs = Box::new([Sub::At(at)]);
            let x = b.ir().add_scalar(Expr::Index { base, subs }, Base::Real);
            let y = expression(b, r, s, depth - 1);
            let body = b.binary(BinaryOp::Mul, x, y);
            b.ir().add_scalar(
                Expr::Reduce {
                    op: [Reduction::Sum, Reduction::Product][r.below(2)],
                    body,
                    iter,
                    range,
                },
                Base::Real,
            )
        }
        _ => match s.callee {
            Some(function) => {
                let x = expression(b, r, s, depth - 1);
                let y = expression(b, r, s, depth - 1);
                let n = match r.below(2) {
                    0 => read(b, s.n),
                    _ => b.ir().integer(r.below(4) as i64),
                };
                let args = Box::new([x, y, n]);
                let call = Expr::Call { function, args };
                let call = b.ir().add_scalar(call, Base::Real);
                match r.below(2) {
                    0 => call,
                    _ => b
                        .ir()
                        .add_scalar(Expr::Output { call, index: 1 }, Base::Real),
                }
            }
            None => element(b, r, s),
        },
    }
}

fn condition(b: &mut Builder, r: &mut Random, s: &Scope, depth: usize) -> ExprId {
    use BinaryOp::{And, Ge, Gt, Le, Lt, Or};
    if depth == 0 || r.below(3) > 0 {
        let x = expression(b, r, s, depth.saturating_sub(1));
        let y = expression(b, r, s, depth.saturating_sub(1));
        return b.binary([Lt, Le, Gt, Ge][r.below(4)], x, y);
    }
    let x = condition(b, r, s, depth - 1);
    if r.below(3) == 0 {
        return b.not(x);
    }
    let y = condition(b, r, s, depth - 1);
    b.binary([And, Or][r.below(2)], x, y)
}

fn set(place: LocalId, access: Vec<Access>, value: ExprId) -> Statement {
    let place = Place::Local(place);
    of(StatementKind::Assign {
        target: Target { place, access },
        value,
    })
}

fn of(kind: StatementKind) -> Statement {
    Statement { kind, span: span() }
}

fn statements(b: &mut Builder, r: &mut Random, s: &mut Scope, depth: usize) -> Vec<Statement> {
    let mut list = Vec::new();
    for _ in 0..1 + r.below(4) {
        list.extend(statement(b, r, s, depth));
    }
    list
}

fn statement(b: &mut Builder, r: &mut Random, s: &mut Scope, depth: usize) -> Vec<Statement> {
    let kind = if depth == 0 { r.below(5) } else { r.below(12) };
    match kind {
        0..=2 => {
            let all: Vec<LocalId> = s.reals[2..].iter().chain(&s.outputs).copied().collect();
            let value = expression(b, r, s, 3);
            vec![set(all[r.below(all.len())], Vec::new(), value)]
        }
        3 | 4 => {
            let at = Sub::At(subscript(b, r, s));
            let value = expression(b, r, s, 2);
            vec![set(s.array, vec![Access::Index(Box::new([at]))], value)]
        }
        5..=7 => {
            let c = condition(b, r, s, 2);
            let body = statements(b, r, s, depth - 1);
            let mut branches = vec![(c, body)];
            if r.below(3) == 0 {
                let c = condition(b, r, s, 2);
                branches.push((c, statements(b, r, s, depth - 1)));
            }
            let otherwise = match r.below(3) {
                0 => Vec::new(),
                1 if r.below(3) == 0 => vec![of(StatementKind::Return)],
                _ => statements(b, r, s, depth - 1),
            };
            vec![of(StatementKind::If {
                branches,
                otherwise,
            })]
        }
        8 | 9 => {
            let iter = local(b, "i", Type::scalar(Base::Integer), None);
            let start = b.ir().integer(1);
            let stop = match r.below(2) {
                0 => read(b, s.n),
                _ => b.ir().integer(N),
            };
            let step = None;
            let range = b.ir().add_typed(
                Expr::Range { start, step, stop },
                Type {
                    base: Base::Integer,
                    dims: vec![saltus_ir::Dim::Unknown],
                },
            );
            s.iterators.push(iter);
            let mut body = statements(b, r, s, depth - 1);
            if r.below(3) == 0 {
                let c = condition(b, r, s, 2);
                let leave = [StatementKind::Break, StatementKind::Return][r.below(2)].clone();
                let at = r.below(body.len() + 1);
                body.insert(
                    at,
                    of(StatementKind::If {
                        branches: vec![(c, vec![of(leave)])],
                        otherwise: Vec::new(),
                    }),
                );
            }
            s.iterators.pop();
            vec![of(StatementKind::For { iter, range, body })]
        }
        10 => {
            // Ends after at most four passes.
            let (zero, one, four) = (b.ir().integer(0), b.ir().integer(1), b.ir().integer(4));
            let k = read(b, s.count);
            let few = b.binary(BinaryOp::Lt, k, four);
            let other = condition(b, r, s, 2);
            let condition = b.binary(BinaryOp::And, few, other);
            let next = integer(b, BinaryOp::Add, k, one);
            let mut body = vec![set(s.count, Vec::new(), next)];
            body.extend(statements(b, r, s, 0));
            vec![
                set(s.count, Vec::new(), zero),
                of(StatementKind::While { condition, body }),
            ]
        }
        _ => {
            let x = expression(b, r, s, 1);
            let most = b.number(100.0);
            let condition = match r.below(4) {
                0 => b.ir().boolean(false),
                _ => b.binary(BinaryOp::Lt, x, most),
            };
            let message = b.ir().string("too large");
            vec![of(StatementKind::Assert {
                condition,
                message,
                level: AssertLevel::Error,
            })]
        }
    }
}

/// `(p, q) = f(x, y, n)`
fn function(b: &mut Builder, r: &mut Random, callee: Option<FuncId>) -> FuncId {
    let real = Type::scalar(Base::Real);
    let [x, y] = ["x", "y"].map(|name| local(b, name, real.clone(), None));
    let n = local(b, "n", Type::scalar(Base::Integer), None);
    let start = read(b, x);
    let t = local(b, "t", real.clone(), Some(start));
    let u = local(b, "u", real.clone(), None);
    let half = b.number(0.5);
    let p = local(b, "p", real.clone(), Some(half));
    let q = local(b, "q", real, None);
    let one = b.ir().integer(1);
    let count = local(b, "count", Type::scalar(Base::Integer), Some(one));
    let array = local(b, "v", Type::array(Base::Real, &[N as usize]), None);
    let first = expression_of_inputs(b, r, x, y);
    let mut scope = Scope {
        reals: vec![x, y, t, p],
        outputs: vec![p, q],
        n,
        count,
        array,
        iterators: Vec::new(),
        callee,
    };
    let mut body = vec![set(u, Vec::new(), first)];
    if r.below(2) == 0 {
        let value = expression(b, r, &scope, 2);
        body.push(set(q, Vec::new(), value));
    }
    scope.reals.push(u);
    body.extend(statements(b, r, &mut scope, 2));
    b.ir().functions.push(Function {
        name: Name::new("f"),
        span: span(),
        inputs: vec![x, y, n],
        outputs: vec![p, q],
        protected: vec![t, u, count, array],
        body: FunctionBody::Algorithm(body),
        inline: Inline::Never,
        impure: false,
        derivatives: Vec::new(),
    })
}

fn expression_of_inputs(b: &mut Builder, r: &mut Random, x: LocalId, y: LocalId) -> ExprId {
    let (x, y) = (read(b, x), read(b, y));
    b.binary([BinaryOp::Add, BinaryOp::Mul][r.below(2)], x, y)
}

/// y = x + x² + … + xⁿ, in a loop that runs at run time, through an array.
pub(crate) fn power_sum(b: &mut Builder) -> FuncId {
    let real = Type::scalar(Base::Real);
    let x = local(b, "x", real.clone(), None);
    let n = local(b, "n", Type::scalar(Base::Integer), None);
    let zero = b.number(0.0);
    let y = local(b, "y", real, Some(zero));
    let last = local(b, "last", Type::array(Base::Real, &[1]), None);
    let i = local(b, "i", Type::scalar(Base::Integer), None);
    let [xe, ye, ne, ve] = [x, y, n, last].map(|l| read(b, l));
    let one = b.ir().integer(1);
    let at = || vec![Access::Index(Box::new([Sub::At(one)]))];
    let subs = Box::new([Sub::At(one)]);
    let power = b
        .ir()
        .add_scalar(Expr::Index { base: ve, subs }, Base::Real);
    let next = b.binary(BinaryOp::Mul, power, xe);
    let sum = b.binary(BinaryOp::Add, ye, power);
    let range = Expr::Range {
        start: one,
        step: None,
        stop: ne,
    };
    let dims = vec![saltus_ir::Dim::Unknown];
    let base = Base::Integer;
    let range = b.ir().add_typed(range, Type { base, dims });
    let body = vec![set(y, Vec::new(), sum), set(last, at(), next)];
    let body = vec![
        set(last, at(), xe),
        of(StatementKind::For {
            iter: i,
            range,
            body,
        }),
    ];
    b.ir().functions.push(Function {
        name: Name::new("powerSum"),
        span: span(),
        inputs: vec![x, n],
        outputs: vec![y],
        protected: vec![last],
        body: FunctionBody::Algorithm(body),
        inline: Inline::Never,
        impure: false,
        derivatives: Vec::new(),
    })
}

/// A residual with `powerSum(x, n)`.
pub(crate) fn power_sum_of(b: &mut Builder, x: ExprId, n: ExprId) -> ExprId {
    let function = power_sum(b);
    let args = Box::new([x, n]);
    b.ir().add_scalar(Expr::Call { function, args }, Base::Real)
}

#[test]
fn loops_are_differentiated_exactly() {
    let mut b = Builder::new();
    let x = b.real("x", Role::Algebraic);
    let n = b.var("n", Base::Integer, Role::Discrete);
    let (xe, ne) = (b.get(x), b.get(n));
    let call = power_sum_of(&mut b, xe, ne);
    b.system.event.push(Step::Block(Block {
        unknowns: vec![x],
        inner: Vec::new(),
        residuals: vec![(call, origin())],
        discrete: Vec::new(),
        linear: false,
        coefficients: Coefficients::Varying,
        direct: None,
    }));
    let model = b.compile().model;
    assert_eq!(model.functions().coded, 1);
    for execution in [Execution::Interpreted, Execution::Native] {
        let run = Run::new(model.clone().with_execution(execution), &[]);
        let mut values = run.values.clone();
        values.set(run.slot("x"), 0.5);
        values.set(run.slot("n"), 4.0);
        let system = run.instance.system(&values);
        let (mut residual, mut jacobian) = ([0.0], [0.0]);
        system
            .residual(BlockId(0), &mut values, &mut residual)
            .expect("defined");
        assert_eq!(residual, [0.9375]);
        let exact = system.jacobian(BlockId(0), &mut values, &mut jacobian);
        assert_eq!((exact, jacobian), (Ok(true), [3.25]));
    }
}

/// Outputs p and q of a call with an Integer that is constant or a variable, and a block with the call in its residuals.
fn system(r: &mut Random) -> (Run, Ir, FuncId) {
    let mut b = Builder::new();
    let inner = function(&mut b, r, None);
    let f = function(&mut b, r, Some(inner));
    let (x, y) = (b.real("x", Role::Algebraic), b.real("y", Role::Algebraic));
    let n = b.var("n", Base::Integer, Role::Discrete);
    let (xe, ye, ne) = (b.get(x), b.get(y), b.get(n));
    let args = Box::new([xe, ye, ne]);
    let call = b
        .ir()
        .add_scalar(Expr::Call { function: f, args }, Base::Real);
    let second = b
        .ir()
        .add_scalar(Expr::Output { call, index: 1 }, Base::Real);
    let (p, q) = (b.real("p", Role::Algebraic), b.real("q", Role::Algebraic));
    b.output(p, call);
    b.output(q, second);
    b.system.event.push(Step::Block(Block {
        unknowns: vec![x, y],
        inner: Vec::new(),
        residuals: vec![(call, origin()), (second, origin())],
        discrete: Vec::new(),
        linear: false,
        coefficients: Coefficients::Varying,
        direct: None,
    }));
    let ir = b.system.flat.ir.clone();
    (b.compile(), ir, f)
}

/// Outputs and Jacobian of one evaluation.
type Outcome = (Result<[u64; 2], Fault>, Result<(bool, Vec<u64>), Fault>);

fn evaluate(run: &Run, mut values: Values) -> Outcome {
    let system = run.instance.system(&values);
    let mut jacobian = vec![0.0; 4];
    let exact = system.jacobian(BlockId(0), &mut values, &mut jacobian);
    let mut outputs = Ok(());
    for section in system.schedule(ScheduleKind::Outputs) {
        if let Section::Explicit(code) = section {
            outputs = system.run(*code, &mut values);
        }
    }
    let found = ["p", "q"].map(|name| bits(&[values.get(run.slot(name))])[0]);
    (
        outputs.map(|()| found),
        exact.map(|exact| (exact, bits(&jacobian))),
    )
}

#[test]
fn code_of_functions_gives_the_bits_of_the_evaluator() {
    let cases = std::env::var("SALTUS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    let (mut defined, mut coded) = (0, 0);
    for seed in 0..cases {
        let mut r = Random(seed);
        let (run, ir, f) = system(&mut r);
        coded += u64::from(run.model.functions().evaluated.is_empty());
        let with = |execution| Run::new(run.model.clone().with_execution(execution), &[]);
        let (interpreted, native) = (with(Execution::Interpreted), with(Execution::Native));
        for point in 0..POINTS {
            let mut values = interpreted.values.clone();
            for name in ["x", "y"] {
                values.set(run.slot(name), r.number());
            }
            let n = r.below(4);
            values.set(run.slot("n"), n as f64);
            let args = vec![
                Value::Real(values.get(run.slot("x"))),
                Value::Real(values.get(run.slot("y"))),
                Value::Integer(n as i64),
            ];
            let expected = match call_function(&ir, f, args, &mut NoExternals) {
                Ok(outputs) => {
                    let number = |v: &Option<Value>| v.as_ref().and_then(Value::as_f64);
                    let numbers: Option<Vec<f64>> = outputs.iter().map(number).collect();
                    numbers.filter(|n| n.iter().all(|x| x.is_finite()))
                }
                Err(_) => None,
            };
            let by_interpreter = evaluate(&interpreted, values.clone());
            let by_machine = evaluate(&native, values);
            assert_eq!(by_machine, by_interpreter, "seed {seed}, point {point}");
            match (&expected, &by_interpreter.0) {
                (Some(numbers), Ok(found)) => {
                    defined += 1;
                    assert_eq!(&bits(numbers), found, "seed {seed}, point {point}");
                }
                (None, Err(_)) => {}
                other => panic!("seed {seed}, point {point}: {other:?}"),
            }
        }
    }
    assert!(defined > cases, "{defined} calls have results");
    // A function that fails on every way has none.
    assert!(coded > cases / 5 * 4, "{coded} functions have code");
}
